//! Planes in plain device memory, with rows at a distance that textures can read.

use super::Texel;
use crate::error::{Result, argument, call};
use cust::sys::{CUDA_MEMCPY2D, CUmemorytype};
use std::marker::PhantomData;

/// Rows of texels in device memory, which kernels may also write: row `y` begins `y * pitch_bytes()` bytes after it.
#[derive(Debug)]
pub struct PitchedBuffer<T: Texel> {
    address: u64,
    pitch: usize,
    width: usize,
    height: usize,
    _texels: PhantomData<T>,
}

impl<T: Texel> PitchedBuffer<T> {
    /// A plane whose texels are not yet written.
    ///
    /// # Errors
    /// An extent of zero or one that is too large, and the driver's.
    pub fn new(width: usize, height: usize) -> Result<PitchedBuffer<T>> {
        let Some(row) = width.checked_mul(size_of::<T>()).filter(|row| *row > 0 && height > 0)
        else {
            return argument(format!(
                "a plane of {width} x {height} texels: make it at least 1 x 1"
            ));
        };
        let (mut address, mut pitch) = (0, 0);
        let element = size_of::<T>().clamp(4, 16) as u32;
        // SAFETY: two locals to write to.
        unsafe { call!(cuMemAllocPitch_v2(&mut address, &mut pitch, row, height, element))? };
        Ok(PitchedBuffer { address, pitch, width, height, _texels: PhantomData })
    }

    /// The device address of the first row.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Bytes from one row to the next.
    pub fn pitch_bytes(&self) -> usize {
        self.pitch
    }

    /// Texels of a row, and rows.
    pub fn extent(&self) -> [usize; 2] {
        [self.width, self.height]
    }

    /// Writes all texels. Waits until it is done.
    pub fn upload(&mut self, texels: &[T]) -> Result<()> {
        self.check(texels.len())?;
        let mut copy = self.copy();
        copy.srcHost = texels.as_ptr().cast();
        copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
        copy.dstDevice = self.address;
        copy.dstPitch = self.pitch;
        // SAFETY: the slice has as many texels as the plane, which is alive; the call returns when they were read.
        unsafe { call!(cuMemcpy2D_v2(&copy)) }
    }

    /// Reads all texels. Waits until it is done.
    pub fn download(&self, texels: &mut [T]) -> Result<()> {
        self.check(texels.len())?;
        let mut copy = self.copy();
        copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
        copy.srcDevice = self.address;
        copy.srcPitch = self.pitch;
        copy.dstHost = texels.as_mut_ptr().cast();
        // SAFETY: as for `upload`; any bytes are a texel.
        unsafe { call!(cuMemcpy2D_v2(&copy)) }
    }

    fn check(&self, length: usize) -> Result<()> {
        let has = self.width * self.height;
        if length != has {
            return argument(format!("the plane has {has} texels and the host slice {length}"));
        }
        Ok(())
    }

    /// A copy between host rows without gaps; its sides are still open.
    fn copy(&self) -> CUDA_MEMCPY2D {
        let row = self.width * size_of::<T>();
        CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            srcHost: std::ptr::null(),
            srcDevice: 0,
            srcArray: std::ptr::null_mut(),
            srcPitch: row,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            dstHost: std::ptr::null_mut(),
            dstDevice: 0,
            dstArray: std::ptr::null_mut(),
            dstPitch: row,
            WidthInBytes: row,
            Height: self.height,
        }
    }
}

impl<T: Texel> Drop for PitchedBuffer<T> {
    fn drop(&mut self) {
        // SAFETY: the memory is ours, and textures of it borrow it; the driver waits for work that uses it.
        let _ = unsafe { call!(cuMemFree_v2(self.address)) };
    }
}

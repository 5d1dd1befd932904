//! The copies that a program describes by a structure: a plane, or a box.

use super::arguments::In;
use crate::array_work::{BoxCopy, BoxSide};
use crate::code::CuResult;
use cuda_driver::ReturnCode;
use cuda_driver::raw::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUarray};
use std::ffi::c_uint;

/// `CU_MEMORYTYPE_ARRAY`.
const ARRAY: c_uint = 3;

/// One side of a copy as a descriptor gives it: kind of memory, host and device address, array, offset, pitch and rows.
struct Described {
    kind: c_uint,
    host: u64,
    device: u64,
    array: CUarray,
    at: [usize; 3],
    pitch: usize,
    rows: usize,
}

/// Reads one side of a copy from a descriptor, the kind of memory as the integer that it is in C.
macro_rules! described {
    ($one:ident, $kind:ident $host:ident $device:ident $array:ident $pitch:ident, $at:expr, $rows:expr) => {
        Described {
            kind: (&raw const (*$one).$kind).cast::<c_uint>().read(),
            host: (*$one).$host.expose_provenance() as u64,
            device: (*$one).$device,
            array: (*$one).$array,
            at: $at,
            pitch: (*$one).$pitch,
            rows: $rows,
        }
    };
}

impl Described {
    fn side(&self, [width, height, _]: [usize; 3]) -> CuResult<BoxSide> {
        let [x, y, z] = self.at;
        let base = match self.kind {
            1 => self.host,
            2 | 4 => self.device,
            ARRAY => return Ok(BoxSide::Array { handle: self.array.addr(), byte: x, y, z }),
            _ => return Err(ReturnCode::INVALID_VALUE),
        };
        let pitch = if self.pitch == 0 { width } else { self.pitch };
        let rows = if self.rows == 0 { height } else { self.rows };
        let before = z.checked_mul(rows).and_then(|rows| rows.checked_add(y));
        let before = before.and_then(|rows| rows.checked_mul(pitch)?.checked_add(x));
        let address = before.and_then(|before| base.checked_add(before as u64));
        Ok(BoxSide::Plain { address: address.ok_or(ReturnCode::INVALID_VALUE)?, pitch, rows })
    }
}

/// The copy of a plane that a descriptor asks for.
pub(super) fn plane(descriptor: &In<CUDA_MEMCPY2D>) -> CuResult<BoxCopy> {
    let one = descriptor.pointer()?;
    // SAFETY: valid by the type.
    let (extent, source, target) = unsafe {
        let from = [(*one).srcXInBytes, (*one).srcY, 0];
        let to = [(*one).dstXInBytes, (*one).dstY, 0];
        (
            [(*one).WidthInBytes, (*one).Height, 1],
            described!(one, srcMemoryType srcHost srcDevice srcArray srcPitch, from, 0),
            described!(one, dstMemoryType dstHost dstDevice dstArray dstPitch, to, 0),
        )
    };
    Ok(BoxCopy { target: target.side(extent)?, source: source.side(extent)?, extent })
}

/// The copy of a box that a descriptor asks for.
pub(super) fn box_of(descriptor: &In<CUDA_MEMCPY3D>) -> CuResult<BoxCopy> {
    let one = descriptor.pointer()?;
    // SAFETY: valid by the type.
    let (extent, source, target) = unsafe {
        let from = [(*one).srcXInBytes, (*one).srcY, (*one).srcZ];
        let to = [(*one).dstXInBytes, (*one).dstY, (*one).dstZ];
        let (from_rows, to_rows) = ((*one).srcHeight, (*one).dstHeight);
        (
            [(*one).WidthInBytes, (*one).Height, (*one).Depth],
            described!(one, srcMemoryType srcHost srcDevice srcArray srcPitch, from, from_rows),
            described!(one, dstMemoryType dstHost dstDevice dstArray dstPitch, to, to_rows),
        )
    };
    Ok(BoxCopy { target: target.side(extent)?, source: source.side(extent)?, extent })
}

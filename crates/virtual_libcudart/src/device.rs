use crate::context::{self, known};
use crate::define::{Result, exports, out};
use crate::driver;
use crate::error::{Error, check};
use crate::registration;
use crate::version::is_12;
use cuda_driver::api;
use cuda_driver::raw::{CUcontext, CUdevice};
use std::ffi::{c_char, c_int, c_uint, c_void};

/// The structure of a device's properties, which the versions lay out differently.
struct Properties<'bytes> {
    bytes: &'bytes mut [u8],
    at: usize,
    device: CUdevice,
    is_12: bool,
}

impl Properties<'_> {
    /// Appends a field at the next place that suits its size.
    fn field<const N: usize>(&mut self, value: [u8; N], alignment: usize) {
        let at = self.at.next_multiple_of(alignment);
        self.bytes[at..at + N].copy_from_slice(&value);
        self.at = at + N;
    }

    /// Returns an attribute; 0 where the driver does not know it.
    fn attribute(&self, attribute: c_uint) -> c_int {
        let mut value = 0;
        // SAFETY: the pointer is valid for the one number that is written.
        let _ = unsafe { api::cuDeviceGetAttribute(&raw mut value, attribute, self.device) };
        value
    }

    /// Appends attributes as `int`s.
    fn ints(&mut self, attributes: impl IntoIterator<Item = c_uint>) {
        for attribute in attributes {
            self.field(self.attribute(attribute).to_ne_bytes(), 4);
        }
    }

    /// Appends an attribute as an `int` of CUDA 12, which CUDA 13 lacks.
    fn of_12(&mut self, attribute: c_uint) {
        if self.is_12 {
            self.ints([attribute]);
        }
    }

    /// Appends an attribute as a `size_t`.
    fn size(&mut self, attribute: c_uint) {
        self.field((self.attribute(attribute) as usize).to_ne_bytes(), 8);
    }

    /// Appends what is no attribute: name, UUID and memory.
    fn identity(&mut self) -> Result {
        let mut name = [0; 256];
        let mut uuid = cuda_driver::raw::CUuuid { bytes: [0; 16] };
        let mut memory = 0;
        // SAFETY: each pointer is valid for what the driver writes.
        unsafe {
            check(api::cuDeviceGetName(name.as_mut_ptr().cast(), 256, self.device))?;
            check(api::cuDeviceGetUuid(&raw mut uuid, self.device))?;
            check(api::cuDeviceTotalMem_v2(&raw mut memory, self.device))?;
        }
        self.field::<256>(name, 1);
        self.field(uuid.bytes.map(|byte| byte as u8), 1);
        // A LUID and its mask are of Windows alone.
        self.field([0; 8], 1);
        self.field([0; 4], 4);
        self.field(memory.to_ne_bytes(), 8);
        Ok(())
    }

    /// Appends the attributes, in the order of the header.
    fn attributes(&mut self) {
        // Of a block and a grid.
        self.size(8);
        self.ints([12, 10]);
        self.size(11);
        self.ints(1..=7);
        self.of_12(13);
        self.size(9);
        self.ints([75, 76]);
        self.size(14);
        self.size(51);
        self.of_12(15);
        self.ints([16]);
        self.of_12(17);
        self.ints([18, 19]);
        self.of_12(20);
        // Extents of textures and surfaces.
        self.ints([21, 77]);
        self.of_12(69);
        self.ints([
            22, 23, 73, 74, 70, 71, 72, 45, 46, 24, 25, 26, 47, 48, 49, 52, 42, 43, 27, 28, 29, 53,
            54,
        ]);
        self.ints(55..=68);
        self.size(30);
        // Of the board.
        self.ints([31, 32, 33, 34, 50, 35, 40, 41]);
        self.of_12(36);
        self.ints([37, 38, 108, 39, 78, 79, 80]);
        self.size(81);
        self.ints([82, 83, 84, 85, 86]);
        self.of_12(87);
        self.ints([88, 89, 90, 91, 95]);
        self.of_12(96);
        self.size(97);
        self.ints([100, 101, 106, 109]);
        self.size(111);
    }

    /// Appends the attributes that came with CUDA 12 and 13.
    fn later_attributes(&mut self) {
        self.ints([99, 112, 113, 114, 115, 116, 117, 118, 119, 121, 125, 120, 129]);
        if !self.is_12 {
            self.ints([130, 131, 133, 134, 139, 140, 143]);
        }
    }
}

/// Bytes of the structure in CUDA 11, 12 and 13.
const BYTES_OF_11: usize = 728;
const BYTES_OF_12: usize = 1032;
const BYTES_OF_13: usize = 1008;

unsafe fn properties(to: *mut c_void, device: c_int, bytes: usize) -> Result {
    let device = known(device)?;
    if to.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: the caller hands over a structure of the version that it was compiled for.
    let bytes = unsafe { std::slice::from_raw_parts_mut(to.cast::<u8>(), bytes) };
    bytes.fill(0);
    let is_first = bytes.len() == BYTES_OF_11;
    let mut properties = Properties { bytes, at: 0, device, is_12: is_12() };
    properties.identity()?;
    properties.attributes();
    if !is_first {
        properties.later_attributes();
    }
    Ok(())
}

/// The fields by which a program that chooses a device says what it wants: offset and size are those of both versions.
unsafe fn memory_wanted(properties: *const c_void) -> usize {
    // SAFETY: the caller hands over the structure, which has name, UUID, LUID, mask and memory in front.
    unsafe { properties.byte_add(288).cast::<usize>().read() }
}

/// Frees everything that a program has on the thread's device.
fn reset() -> Result {
    let device = context::device();
    driver::start()?;
    crate::record::all_freed();
    registration::unload(device);
    // SAFETY: the call takes a number; a program asks for its handles to die.
    check(unsafe { api::cuDevicePrimaryCtxReset_v2(device) })?;
    context::begin_generation();
    Ok(())
}

exports! {
    fn cudaDeviceReset() {
        reset()
    }
    fn cudaThreadExit() {
        reset()
    }
    fn cudaGetDeviceProperties(to: *mut c_void, device: c_int) {
        properties(to, device, if is_12() { BYTES_OF_11 } else { BYTES_OF_13 })
    }
    fn cudaGetDeviceProperties_v2(to: *mut c_void, device: c_int) {
        properties(to, device, BYTES_OF_12)
    }
    fn cudaChooseDevice(device: *mut c_int, wanted: *const c_void) {
        let device = out(device)?;
        if wanted.is_null() { return Err(Error::INVALID_VALUE); }
        let bytes = memory_wanted(wanted);
        for candidate in 0..context::device_count()? {
            let mut memory = 0;
            check(api::cuDeviceTotalMem_v2(&raw mut memory, candidate))?;
            if memory >= bytes {
                *device = candidate;
                return Ok(());
            }
        }
        *device = 0;
        Ok(())
    }
    fn cudaDeviceGetAttribute(value: *mut c_int, attribute: c_uint, device: c_int) {
        check(api::cuDeviceGetAttribute(value, attribute, known(device)?))
    }
    fn cudaDeviceGetByPCIBusId(device: *mut c_int, name: *const c_char) {
        driver::start()?;
        check(api::cuDeviceGetByPCIBusId(device, name))
    }
    fn cudaDeviceGetPCIBusId(name: *mut c_char, bytes: c_int, device: c_int) {
        check(api::cuDeviceGetPCIBusId(name, bytes, known(device)?))
    }
    fn cudaDeviceGetLimit(value: *mut usize, limit: c_uint) {
        context::enter()?;
        check(api::cuCtxGetLimit(value, limit))
    }
    fn cudaDeviceSetLimit(limit: c_uint, value: usize) {
        context::enter()?;
        check(api::cuCtxSetLimit(limit, value))
    }
    fn cudaThreadGetLimit(value: *mut usize, limit: c_uint) {
        context::enter()?;
        check(api::cuCtxGetLimit(value, limit))
    }
    fn cudaThreadSetLimit(limit: c_uint, value: usize) {
        context::enter()?;
        check(api::cuCtxSetLimit(limit, value))
    }
    fn cudaDeviceGetCacheConfig(config: *mut c_uint) {
        context::enter()?;
        check(api::cuCtxGetCacheConfig(config))
    }
    fn cudaDeviceSetCacheConfig(config: c_uint) {
        context::enter()?;
        check(api::cuCtxSetCacheConfig(config))
    }
    fn cudaThreadGetCacheConfig(config: *mut c_uint) {
        context::enter()?;
        check(api::cuCtxGetCacheConfig(config))
    }
    fn cudaThreadSetCacheConfig(config: c_uint) {
        context::enter()?;
        check(api::cuCtxSetCacheConfig(config))
    }
    fn cudaDeviceGetSharedMemConfig(config: *mut c_uint) {
        context::enter()?;
        check(api::cuCtxGetSharedMemConfig(config))
    }
    fn cudaDeviceSetSharedMemConfig(config: c_uint) {
        context::enter()?;
        check(api::cuCtxSetSharedMemConfig(config))
    }
    fn cudaDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) {
        check(api::cuDeviceCanAccessPeer(can, known(device)?, known(peer)?))
    }
    fn cudaDeviceEnablePeerAccess(peer: c_int, flags: c_uint) {
        let peer = peer_of(peer)?;
        check(api::cuCtxEnablePeerAccess(peer, flags))
    }
    fn cudaDeviceDisablePeerAccess(peer: c_int) {
        let peer = peer_of(peer)?;
        check(api::cuCtxDisablePeerAccess(peer))
    }
    fn cudaDeviceGetP2PAttribute(value: *mut c_int, attribute: c_uint, from: c_int, to: c_int) {
        check(api::cuDeviceGetP2PAttribute(value, attribute, known(from)?, known(to)?))
    }
    fn cudaDeviceFlushGPUDirectRDMAWrites(target: c_uint, scope: c_uint) {
        context::enter()?;
        check(api::cuFlushGPUDirectRDMAWrites(target, scope))
    }
    fn cudaProfilerStart() {
        context::enter()?;
        check(api::cuProfilerStart())
    }
    fn cudaProfilerStop() {
        context::enter()?;
        check(api::cuProfilerStop())
    }
    fn cudaGetExportTable(_table: *mut *const c_void, _id: *const c_void) {
        // Undocumented tables of NVIDIA's own libraries, which do without.
        crate::error::is_listed();
        Err(Error::NOT_SUPPORTED)
    }
    fn cudaGetDriverEntryPoint(
        name: *const c_char, function: *mut *mut c_void, flags: u64, status: *mut c_uint
    ) own cudaGetDriverEntryPoint_ptsz {
        entry_point(name, function, if is_12() { 12090 } else { 13000 }, flags, status)
    }
    fn cudaGetDriverEntryPointByVersion(
        name: *const c_char, function: *mut *mut c_void, version: c_uint, flags: u64, status: *mut c_uint
    ) own cudaGetDriverEntryPointByVersion_ptsz {
        entry_point(name, function, version.cast_signed(), flags, status)
    }
}

/// Returns the context of another device than the thread's, whose context becomes current.
fn peer_of(peer: c_int) -> Result<CUcontext> {
    let peer = known(peer)?;
    let context = context::primary(peer)?;
    if context::enter()? == peer { Err(Error::INVALID_DEVICE) } else { Ok(context) }
}

unsafe fn entry_point(
    name: *const c_char,
    function: *mut *mut c_void,
    version: c_int,
    flags: u64,
    status: *mut c_uint,
) -> Result {
    driver::start()?;
    // `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`, where nothing else is asked for.
    let flags = if flags == 0 && crate::define::is_own() { 2 } else { flags };
    // SAFETY: the caller hands over a name that ends with a zero, and places.
    check(unsafe { api::cuGetProcAddress_v2(name, function, version, flags, status) })
}

use crate::context;
use crate::define::{Result, exports, given, put};
use crate::error::{Error, check};
use crate::memory::Extent;
use cuda_driver::api;
use cuda_driver::raw::{CUarray, CUdeviceptr, CUmipmappedArray, CUsurfObject, CUtexObject};
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

/// The format of an element (`cudaChannelFormatDesc`): bits of each channel, and what they are.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Channels {
    bits: [c_int; 4],
    kind: c_uint,
}

/// `cudaChannelFormatKind`.
const SIGNED: c_uint = 0;
const UNSIGNED: c_uint = 1;
const FLOAT: c_uint = 2;

/// The driver's formats (`CUarray_format`) by kind and bits.
const FORMATS: [(c_uint, c_int, c_uint); 8] = [
    (UNSIGNED, 8, 0x01),
    (UNSIGNED, 16, 0x02),
    (UNSIGNED, 32, 0x03),
    (SIGNED, 8, 0x08),
    (SIGNED, 16, 0x09),
    (SIGNED, 32, 0x0a),
    (FLOAT, 16, 0x10),
    (FLOAT, 32, 0x20),
];

impl Channels {
    /// Returns the driver's format, and the number of channels.
    fn format(self) -> Result<(c_uint, c_uint)> {
        let count = self.bits.iter().take_while(|bits| **bits > 0).count();
        let are_alike = self.bits[..count].iter().all(|bits| *bits == self.bits[0]);
        let format =
            FORMATS.iter().find(|(kind, bits, _)| (*kind, *bits) == (self.kind, self.bits[0]));
        match format {
            Some((_, _, format)) if are_alike && matches!(count, 1 | 2 | 4) => {
                Ok((*format, count as c_uint))
            }
            _ => Err(Error::INVALID_CHANNEL),
        }
    }

    /// Returns the runtime's format for the driver's.
    fn of(format: c_uint, count: c_uint) -> Result<Channels> {
        let (kind, bits, _) =
            FORMATS.iter().find(|(_, _, known)| *known == format).ok_or(Error::INVALID_CHANNEL)?;
        let mut channels = Channels { bits: [0; 4], kind: *kind };
        channels.bits.iter_mut().take(count as usize).for_each(|it| *it = *bits);
        Ok(channels)
    }
}

/// The driver's description of an array (`CUDA_ARRAY3D_DESCRIPTOR`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Description {
    extent: Extent,
    format: c_uint,
    channels: c_uint,
    flags: c_uint,
}

unsafe fn description(array: CUarray) -> Result<Description> {
    context::enter()?;
    let mut description = Description::default();
    // SAFETY: the structure is laid out as the driver's, and the driver checks the handle.
    check(unsafe { api::cuArray3DGetDescriptor_v2((&raw mut description).cast(), array) })?;
    Ok(description)
}

/// Returns the bytes of an element of an array.
///
/// # Safety
/// - The array is one of the driver's.
pub unsafe fn bytes_per_element(array: CUarray) -> Result<usize> {
    // SAFETY: the caller's contract.
    let description = unsafe { description(array) }?;
    let channels = Channels::of(description.format, description.channels)?;
    Ok(channels.bits.iter().sum::<c_int>() as usize / 8)
}

/// Returns the bytes of a row of an array.
///
/// # Safety
/// - The array is one of the driver's.
pub unsafe fn row_bytes(array: CUarray) -> Result<usize> {
    // SAFETY: the caller's contract.
    unsafe { Ok(description(array)?.extent.width * bytes_per_element(array)?) }
}

unsafe fn create(channels: *const Channels, extent: Extent, flags: c_uint) -> Result<Description> {
    context::enter()?;
    // SAFETY: the caller hands over a format.
    let (format, channels) = unsafe { given(channels) }?.format()?;
    Ok(Description { extent, format, channels, flags })
}

/// The memory of a texture or surface (`cudaResourceDesc`).
#[repr(C)]
pub struct Resource {
    kind: c_uint,
    memory: Memory,
    flags: c_uint,
}

/// An array, a mipmapped array, or memory: bytes of it, or rows.
#[repr(C)]
union Memory {
    array: *mut c_void,
    linear: Linear,
    rows: Rows,
    room: [u64; 16],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Linear {
    pointer: *mut c_void,
    channels: Channels,
    bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Rows {
    pointer: *mut c_void,
    channels: Channels,
    width: usize,
    height: usize,
    pitch: usize,
}

const _: () = assert!(size_of::<Channels>() == 20 && size_of::<Resource>() == 144);

/// The driver's description of that (`CUDA_RESOURCE_DESC`), whose formats are two numbers.
#[repr(C)]
struct DriverResource {
    kind: c_uint,
    memory: DriverMemory,
    flags: c_uint,
}

#[repr(C)]
union DriverMemory {
    array: *mut c_void,
    linear: DriverLinear,
    rows: DriverRows,
    room: [u64; 16],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct DriverLinear {
    pointer: CUdeviceptr,
    format: c_uint,
    channels: c_uint,
    bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct DriverRows {
    pointer: CUdeviceptr,
    format: c_uint,
    channels: c_uint,
    width: usize,
    height: usize,
    pitch: usize,
}

/// `cudaResourceType`.
const ARRAY: c_uint = 0;
const MIPMAPPED: c_uint = 1;
const LINEAR: c_uint = 2;
const ROWS: c_uint = 3;

/// Bytes of [`Resource`] in CUDA 12, which has no flags, and of the description of a view.
const RESOURCE_OF_12: usize = 64;
const VIEW_OF_12: usize = 48;
const VIEW: usize = 112;

/// A view of a resource as the driver and CUDA 13 have it (`cudaResourceViewDesc`).
#[repr(C, align(8))]
struct View([u8; VIEW]);

/// Returns the bytes of a structure that CUDA 12 has shorter.
fn bytes_of(of_12: usize, of_13: usize) -> usize {
    if crate::version::is_12() { of_12 } else { of_13 }
}

/// Returns what a program hands over, with zeros where its version has nothing.
unsafe fn read<T>(from: *const T, of_12: usize) -> Result<T> {
    if from.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: the caller hands over a structure of its version, and any bytes are one of ours.
    unsafe {
        let mut all: T = std::mem::zeroed();
        let bytes = bytes_of(of_12, size_of::<T>());
        std::ptr::copy_nonoverlapping(from.cast::<u8>(), (&raw mut all).cast(), bytes);
        Ok(all)
    }
}

/// Writes as much as the version of the program has.
unsafe fn write<T>(to: *mut T, all: &T, of_12: usize) -> Result {
    if to.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    let bytes = bytes_of(of_12, size_of::<T>());
    // SAFETY: the caller hands over a place for a structure of its version.
    unsafe { std::ptr::copy_nonoverlapping((&raw const *all).cast::<u8>(), to.cast(), bytes) };
    Ok(())
}

impl Resource {
    /// Returns the driver's description, and whether the elements are 8 or 16 bit integers.
    unsafe fn for_the_driver(&self) -> Result<(DriverResource, bool)> {
        let mut memory = DriverMemory { room: [0; 16] };
        // SAFETY: the kind says which field of the union the program has written.
        let format = unsafe {
            match self.kind {
                ARRAY => {
                    memory.array = self.memory.array;
                    description(self.memory.array.cast())?.format
                }
                MIPMAPPED => {
                    memory.array = self.memory.array;
                    let mut first: CUarray = null_mut();
                    check(api::cuMipmappedArrayGetLevel(
                        &raw mut first,
                        self.memory.array.cast(),
                        0,
                    ))?;
                    description(first)?.format
                }
                LINEAR => {
                    let Linear { pointer, channels, bytes } = self.memory.linear;
                    let (format, channels) = channels.format()?;
                    memory.linear = DriverLinear {
                        pointer: pointer.addr() as CUdeviceptr,
                        format,
                        channels,
                        bytes,
                    };
                    format
                }
                ROWS => {
                    let Rows { pointer, channels, width, height, pitch } = self.memory.rows;
                    let (format, channels) = channels.format()?;
                    let pointer = pointer.addr() as CUdeviceptr;
                    memory.rows = DriverRows { pointer, format, channels, width, height, pitch };
                    format
                }
                _ => return Err(Error::INVALID_VALUE),
            }
        };
        let is_short = matches!(format, 0x01 | 0x02 | 0x08 | 0x09);
        Ok((DriverResource { kind: self.kind, memory, flags: self.flags }, is_short))
    }

    /// Returns the runtime's description for the driver's.
    unsafe fn of(driver: &DriverResource) -> Result<Resource> {
        let mut memory = Memory { room: [0; 16] };
        // SAFETY: the kind says which field of the union the driver has written.
        unsafe {
            match driver.kind {
                LINEAR => {
                    let DriverLinear { pointer, format, channels, bytes } = driver.memory.linear;
                    let channels = Channels::of(format, channels)?;
                    memory.linear = Linear { pointer: pointer as *mut c_void, channels, bytes };
                }
                ROWS => {
                    let DriverRows { pointer, format, channels, width, height, pitch } =
                        driver.memory.rows;
                    let channels = Channels::of(format, channels)?;
                    memory.rows =
                        Rows { pointer: pointer as *mut c_void, channels, width, height, pitch };
                }
                _ => memory.array = driver.memory.array,
            }
        }
        Ok(Resource { kind: driver.kind, memory, flags: driver.flags })
    }
}

/// The reading of a texture (`cudaTextureDesc`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Texture {
    address_modes: [c_uint; 3],
    filter: c_uint,
    read_mode: c_uint,
    is_srgb: c_int,
    border: [f32; 4],
    is_normalized: c_int,
    anisotropy: c_uint,
    mipmap_filter: c_uint,
    mipmap_bias: f32,
    mipmap_clamp: [f32; 2],
    disables_trilinear: c_int,
    is_seamless: c_int,
}

const _: () = assert!(size_of::<Texture>() == 72);

/// The driver's description of that (`CUDA_TEXTURE_DESC`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct DriverTexture {
    address_modes: [c_uint; 3],
    filter: c_uint,
    flags: c_uint,
    anisotropy: c_uint,
    mipmap_filter: c_uint,
    mipmap_bias: f32,
    mipmap_clamp: [f32; 2],
    border: [f32; 4],
    reserved: [c_int; 12],
}

/// `CU_TRSF_*`.
const AS_INTEGER: c_uint = 1;
const NORMALIZED: c_uint = 2;
const SRGB: c_uint = 0x10;
const NO_TRILINEAR: c_uint = 0x20;
const SEAMLESS: c_uint = 0x40;

impl Texture {
    fn for_the_driver(&self, is_short: bool) -> DriverTexture {
        // `cudaReadModeElementType` is 0. Only 8 and 16 bit integers can be read as numbers of 0 to 1.
        let flags = [
            (self.read_mode == 0 && is_short, AS_INTEGER),
            (self.is_normalized != 0, NORMALIZED),
            (self.is_srgb != 0, SRGB),
            (self.disables_trilinear != 0, NO_TRILINEAR),
            (self.is_seamless != 0, SEAMLESS),
        ];
        DriverTexture {
            address_modes: self.address_modes,
            filter: self.filter,
            flags: flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum(),
            anisotropy: self.anisotropy,
            mipmap_filter: self.mipmap_filter,
            mipmap_bias: self.mipmap_bias,
            mipmap_clamp: self.mipmap_clamp,
            border: self.border,
            reserved: [0; 12],
        }
    }

    fn of(driver: &DriverTexture) -> Texture {
        let is_set = |flag| c_int::from(driver.flags & flag != 0);
        Texture {
            address_modes: driver.address_modes,
            filter: driver.filter,
            read_mode: c_uint::from(driver.flags & AS_INTEGER == 0),
            is_srgb: is_set(SRGB),
            border: driver.border,
            is_normalized: is_set(NORMALIZED),
            anisotropy: driver.anisotropy,
            mipmap_filter: driver.mipmap_filter,
            mipmap_bias: driver.mipmap_bias,
            mipmap_clamp: driver.mipmap_clamp,
            disables_trilinear: is_set(NO_TRILINEAR),
            is_seamless: is_set(SEAMLESS),
        }
    }
}

/// Returns the description of a format. The runtime's header calls it for every type of element.
#[unsafe(no_mangle)]
pub extern "C" fn cudaCreateChannelDesc(
    x: c_int,
    y: c_int,
    z: c_int,
    w: c_int,
    kind: c_uint,
) -> Channels {
    Channels { bits: [x, y, z, w], kind }
}

unsafe fn resource(
    to: *mut Resource,
    ask: impl FnOnce(*mut DriverResource) -> cuda_driver::ReturnCode,
) -> Result {
    context::enter()?;
    let mut driver = DriverResource { kind: 0, memory: DriverMemory { room: [0; 16] }, flags: 0 };
    check(ask(&raw mut driver))?;
    // SAFETY: the caller hands over a place, and the driver has filled its structure.
    unsafe { write(to, &Resource::of(&driver)?, RESOURCE_OF_12) }
}

exports! {
    fn cudaGetChannelDesc(channels: *mut Channels, array: CUarray) {
        let found = description(array)?;
        put(channels, Channels::of(found.format, found.channels)?)?;
        Ok(())
    }
    fn cudaArrayGetInfo(channels: *mut Channels, extent: *mut Extent, flags: *mut c_uint, array: CUarray) {
        let found = description(array)?;
        if let Some(channels) = channels.as_mut() { *channels = Channels::of(found.format, found.channels)?; }
        if let Some(extent) = extent.as_mut() { *extent = found.extent; }
        if let Some(flags) = flags.as_mut() { *flags = found.flags; }
        Ok(())
    }
    fn cudaMallocArray(array: *mut CUarray, channels: *const Channels, width: usize, height: usize, flags: c_uint) {
        let description = create(channels, Extent { width, height, depth: 0 }, flags)?;
        check(api::cuArray3DCreate_v2(array, (&raw const description).cast()))
    }
    fn cudaMalloc3DArray(array: *mut CUarray, channels: *const Channels, extent: Extent, flags: c_uint) {
        let description = create(channels, extent, flags)?;
        check(api::cuArray3DCreate_v2(array, (&raw const description).cast()))
    }
    fn cudaMallocMipmappedArray(
        array: *mut CUmipmappedArray, channels: *const Channels, extent: Extent, levels: c_uint, flags: c_uint
    ) {
        let description = create(channels, extent, flags)?;
        check(api::cuMipmappedArrayCreate(array, (&raw const description).cast(), levels))
    }
    fn cudaGetMipmappedArrayLevel(level_array: *mut CUarray, array: CUmipmappedArray, level: c_uint) {
        context::enter()?;
        check(api::cuMipmappedArrayGetLevel(level_array, array, level))
    }
    fn cudaFreeArray(array: CUarray) {
        context::enter()?;
        if array.is_null() { Ok(()) } else { check(api::cuArrayDestroy(array)) }
    }
    fn cudaFreeMipmappedArray(array: CUmipmappedArray) {
        context::enter()?;
        if array.is_null() { Ok(()) } else { check(api::cuMipmappedArrayDestroy(array)) }
    }
    fn cudaArrayGetPlane(plane: *mut CUarray, array: CUarray, index: c_uint) {
        context::enter()?;
        check(api::cuArrayGetPlane(plane, array, index))
    }
    fn cudaDeviceGetTexture1DLinearMaxWidth(width: *mut usize, channels: *const Channels, device: c_int) {
        let (format, channels) = given(channels)?.format()?;
        check(api::cuDeviceGetTexture1DLinearMaxWidth(width, format, channels, context::known(device)?))
    }
    fn cudaCreateTextureObject(
        object: *mut CUtexObject, memory: *const Resource, texture: *const Texture, view: *const c_void
    ) {
        context::enter()?;
        let (resource, is_short) = read(memory, RESOURCE_OF_12)?.for_the_driver()?;
        let texture = given(texture)?.for_the_driver(is_short);
        // The two descriptions of a view are laid out alike.
        let read = if view.is_null() { None } else { Some(read(view.cast::<View>(), VIEW_OF_12)?) };
        let view = read.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        check(api::cuTexObjectCreate(object, (&raw const resource).cast(), (&raw const texture).cast(), view.cast()))
    }
    fn cudaDestroyTextureObject(object: CUtexObject) {
        context::enter()?;
        if object == 0 { Ok(()) } else { check(api::cuTexObjectDestroy(object)) }
    }
    fn cudaGetTextureObjectResourceDesc(to: *mut Resource, object: CUtexObject) {
        resource(to, |to| api::cuTexObjectGetResourceDesc(to.cast(), object))
    }
    fn cudaGetTextureObjectTextureDesc(to: *mut Texture, object: CUtexObject) {
        context::enter()?;
        let mut texture: DriverTexture = std::mem::zeroed();
        check(api::cuTexObjectGetTextureDesc((&raw mut texture).cast(), object))?;
        put(to, Texture::of(&texture))?;
        Ok(())
    }
    fn cudaGetTextureObjectResourceViewDesc(to: *mut c_void, object: CUtexObject) {
        context::enter()?;
        let mut view = View([0; VIEW]);
        check(api::cuTexObjectGetResourceViewDesc((&raw mut view).cast(), object))?;
        write(to.cast(), &view, VIEW_OF_12)
    }
    fn cudaCreateSurfaceObject(object: *mut CUsurfObject, memory: *const Resource) {
        context::enter()?;
        let (resource, _) = read(memory, RESOURCE_OF_12)?.for_the_driver()?;
        check(api::cuSurfObjectCreate(object, (&raw const resource).cast()))
    }
    fn cudaDestroySurfaceObject(object: CUsurfObject) {
        context::enter()?;
        if object == 0 { Ok(()) } else { check(api::cuSurfObjectDestroy(object)) }
    }
    fn cudaGetSurfaceObjectResourceDesc(to: *mut Resource, object: CUsurfObject) {
        resource(to, |to| api::cuSurfObjectGetResourceDesc(to.cast(), object))
    }
}

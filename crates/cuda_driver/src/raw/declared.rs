//! The types that the table's functions take, where cust_raw is not there to declare them.
//!
//! An enum is a `c_uint`, because a driver newer than this file may write a value that it does not list. A structure whose
//! fields neither this crate nor a backend reads is opaque.
#![allow(
    missing_docs,
    non_snake_case,
    non_camel_case_types,
    reason = "names are those of cuda.h, and NVIDIA's reference describes them"
)]

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

pub type cuuint32_t = c_uint;
pub type cuuint64_t = c_ulonglong;
pub type CUdevice = c_int;
pub type CUdeviceptr = c_ulonglong;
pub type CUtexObject = c_ulonglong;
pub type CUsurfObject = c_ulonglong;
pub type CUmemGenericAllocationHandle = c_ulonglong;
pub type CUhostFn = Option<unsafe extern "C" fn(*mut c_void)>;
pub type CUstreamCallback = Option<unsafe extern "C" fn(CUstream, c_uint, *mut c_void)>;
pub type CUoccupancyB2DSize = Option<unsafe extern "C" fn(c_int) -> usize>;

/// Memory that a side of a copy is in. What a program passes is read as an integer.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CUmemorytype {
    CU_MEMORYTYPE_HOST = 1,
    CU_MEMORYTYPE_DEVICE = 2,
    CU_MEMORYTYPE_ARRAY = 3,
    CU_MEMORYTYPE_UNIFIED = 4,
}

/// Declares structures that are only pointed to.
macro_rules! opaque {
    ($($name:ident)*) => {$(
        #[repr(C)]
        #[derive(Debug, Clone, Copy)]
        pub struct $name {
            _opaque: [u8; 0],
        }
    )*};
}

/// Declares handles: pointers to what only the driver knows.
macro_rules! handles {
    ($($handle:ident $target:ident)*) => {
        opaque!($($target)*);
        $(pub type $handle = *mut $target;)*
    };
}

handles! {
    CUcontext CUctx_st
    CUmodule CUmod_st
    CUfunction CUfunc_st
    CUarray CUarray_st
    CUmipmappedArray CUmipmappedArray_st
    CUtexref CUtexref_st
    CUsurfref CUsurfref_st
    CUevent CUevent_st
    CUstream CUstream_st
    CUgraphicsResource CUgraphicsResource_st
    CUexternalMemory CUextMemory_st
    CUexternalSemaphore CUextSemaphore_st
    CUgraph CUgraph_st
    CUgraphNode CUgraphNode_st
    CUgraphExec CUgraphExec_st
    CUmemoryPool CUmemPoolHandle_st
    CUuserObject CUuserObject_st
    CUlinkState CUlinkState_st
}

opaque! {
    CUdevprop
    CUexecAffinityParam
    CUarrayMapInfo
    CUmemPoolPtrExportData
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS
    CUDA_EXT_SEM_WAIT_NODE_PARAMS
    CUDA_MEM_ALLOC_NODE_PARAMS
    CUDA_LAUNCH_PARAMS
    CUDA_MEMCPY3D_PEER
    CUDA_ARRAY_SPARSE_PROPERTIES
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS
}

/// Declares a structure of `cuda.h`, and what compares its layout with cust_raw's.
macro_rules! structures {
    ($($name:ident { $($field:ident: $type:ty),* $(,)? })*) => {
        $(
            #[repr(C)]
            #[derive(Debug, Clone, Copy)]
            pub struct $name {
                $(pub $field: $type),*
            }
        )*

        #[cfg(test)]
        mod layouts {
            use std::mem::offset_of;

            #[test]
            fn structures_lie_in_memory_as_cust_raw_s() {
                $(
                    assert_eq!(size_of::<super::$name>(), size_of::<cust_raw::$name>(), stringify!($name));
                    assert_eq!(align_of::<super::$name>(), align_of::<cust_raw::$name>(), stringify!($name));
                    $(assert_eq!(
                        offset_of!(super::$name, $field),
                        offset_of!(cust_raw::$name, $field),
                        concat!(stringify!($name), ".", stringify!($field))
                    );)*
                )*
            }
        }
    };
}

structures! {
    CUuuid { bytes: [c_char; 16] }
    CUipcEventHandle { reserved: [c_char; 64] }
    CUipcMemHandle { reserved: [c_char; 64] }
    CUaccessPolicyWindow_st {
        base_ptr: *mut c_void,
        num_bytes: usize,
        hitRatio: f32,
        hitProp: c_uint,
        missProp: c_uint,
    }
    CUmemLocation { type_: c_uint, id: c_int }
    CUmemAccessDesc { location: CUmemLocation, flags: c_uint }
    CUmemPoolProps {
        allocType: c_uint,
        handleTypes: c_uint,
        location: CUmemLocation,
        win32SecurityAttributes: *mut c_void,
        reserved: [u8; 64],
    }
    CUDA_MEMCPY2D {
        srcXInBytes: usize,
        srcY: usize,
        srcMemoryType: CUmemorytype,
        srcHost: *const c_void,
        srcDevice: CUdeviceptr,
        srcArray: CUarray,
        srcPitch: usize,
        dstXInBytes: usize,
        dstY: usize,
        dstMemoryType: CUmemorytype,
        dstHost: *mut c_void,
        dstDevice: CUdeviceptr,
        dstArray: CUarray,
        dstPitch: usize,
        WidthInBytes: usize,
        Height: usize,
    }
    CUDA_MEMCPY3D {
        srcXInBytes: usize,
        srcY: usize,
        srcZ: usize,
        srcLOD: usize,
        srcMemoryType: CUmemorytype,
        srcHost: *const c_void,
        srcDevice: CUdeviceptr,
        srcArray: CUarray,
        reserved0: *mut c_void,
        srcPitch: usize,
        srcHeight: usize,
        dstXInBytes: usize,
        dstY: usize,
        dstZ: usize,
        dstLOD: usize,
        dstMemoryType: CUmemorytype,
        dstHost: *mut c_void,
        dstDevice: CUdeviceptr,
        dstArray: CUarray,
        reserved1: *mut c_void,
        dstPitch: usize,
        dstHeight: usize,
        WidthInBytes: usize,
        Height: usize,
        Depth: usize,
    }
    CUDA_ARRAY_DESCRIPTOR { Width: usize, Height: usize, Format: c_uint, NumChannels: c_uint }
    CUDA_ARRAY3D_DESCRIPTOR {
        Width: usize,
        Height: usize,
        Depth: usize,
        Format: c_uint,
        NumChannels: c_uint,
        Flags: c_uint,
    }
    CUDA_TEXTURE_DESC {
        addressMode: [c_uint; 3],
        filterMode: c_uint,
        flags: c_uint,
        maxAnisotropy: c_uint,
        mipmapFilterMode: c_uint,
        mipmapLevelBias: f32,
        minMipmapLevelClamp: f32,
        maxMipmapLevelClamp: f32,
        borderColor: [f32; 4],
        reserved: [c_int; 12],
    }
    CUDA_RESOURCE_VIEW_DESC {
        format: c_uint,
        width: usize,
        height: usize,
        depth: usize,
        firstMipmapLevel: c_uint,
        lastMipmapLevel: c_uint,
        firstLayer: c_uint,
        lastLayer: c_uint,
        reserved: [c_uint; 16],
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_RESOURCE_DESC {
    pub resType: c_uint,
    pub res: Resource,
    pub flags: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union Resource {
    pub array: ArrayResource,
    pub mipmap: MipmapResource,
    pub linear: LinearResource,
    pub pitch2D: PlaneResource,
    pub reserved: [c_int; 32],
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ArrayResource {
    pub hArray: CUarray,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MipmapResource {
    pub hMipmappedArray: CUmipmappedArray,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct LinearResource {
    pub devPtr: CUdeviceptr,
    pub format: c_uint,
    pub numChannels: c_uint,
    pub sizeInBytes: usize,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct PlaneResource {
    pub devPtr: CUdeviceptr,
    pub format: c_uint,
    pub numChannels: c_uint,
    pub width: usize,
    pub height: usize,
    pub pitchInBytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union CUkernelNodeAttrValue {
    pub accessPolicyWindow: CUaccessPolicyWindow_st,
    pub cooperative: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union CUstreamAttrValue {
    pub accessPolicyWindow: CUaccessPolicyWindow_st,
    pub syncPolicy: c_uint,
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    /// The macro above has no unions.
    #[test]
    fn unions_lie_in_memory_as_cust_raw_s() {
        macro_rules! same {
            ($($name:ident)*) => {
                $(assert_eq!(
                    (size_of::<super::$name>(), align_of::<super::$name>()),
                    (size_of::<cust_raw::$name>(), align_of::<cust_raw::$name>()),
                    stringify!($name)
                );)*
            };
        }
        same!(CUDA_RESOURCE_DESC CUkernelNodeAttrValue CUstreamAttrValue);
        macro_rules! same_field {
            ($($($field:ident).+),* $(,)?) => {
                $(assert_eq!(
                    offset_of!(super::CUDA_RESOURCE_DESC, $($field).+),
                    offset_of!(cust_raw::CUDA_RESOURCE_DESC, $($field).+),
                    stringify!($($field).+)
                );)*
            };
        }
        same_field!(
            resType,
            flags,
            res.array.hArray,
            res.mipmap.hMipmappedArray,
            res.linear.devPtr,
            res.linear.format,
            res.linear.numChannels,
            res.linear.sizeInBytes,
            res.pitch2D.format,
            res.pitch2D.width,
            res.pitch2D.height,
            res.pitch2D.pitchInBytes,
        );
    }
}

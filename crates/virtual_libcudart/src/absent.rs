//! The functions of NVIDIA's two libraries that are not here: each answers that it is not supported, and the list of the
//! run has its name.

use crate::context;
use crate::error::Error;
use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

/// The virtual driver's function that takes note of a function that is not here.
const NOTE: &CStr = c"coalesce_refused";
/// The driver's library, as the loader knows it.
const DRIVER: &CStr = c"libcuda.so.1";

type Note = unsafe extern "C" fn(*const c_char);

/// Returns the virtual driver's function; NVIDIA's driver has none.
fn note() -> Option<Note> {
    static FOUND: OnceLock<Option<Note>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        context::start().ok()?;
        // SAFETY: the library is loaded and stays so; what has the name is this function.
        unsafe {
            let library = libc::dlopen(DRIVER.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            let function =
                if library.is_null() { library } else { libc::dlsym(library, NOTE.as_ptr()) };
            (!function.is_null()).then(|| std::mem::transmute::<*mut libc::c_void, Note>(function))
        }
    })
}

/// Returns whether the driver is the virtual GPU's.
pub fn is_virtual() -> bool {
    note().is_some()
}

/// Takes note of a function, or of a way to call it, that is not here, and returns the error that says so.
pub fn refused(name: &'static CStr) -> Error {
    if let Some(note) = note() {
        // SAFETY: the name ends with a zero and lives as long as this library, which stays loaded.
        unsafe { note(name.as_ptr()) };
    }
    Error::NOT_SUPPORTED
}

/// Exports names. What the functions are given stays unread.
macro_rules! absent {
    ($($name:ident)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`, which is not here.")]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> std::ffi::c_int {
                const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("a name has no zero"),
                };
                crate::define::answer(|| Err(refused(NAME)))
            }
        )*
    };
}

absent! {
    __cudaGetProcAddress
    cudaArrayGetMemoryRequirements
    cudaArrayGetSparseProperties
    cudaDevResourceGenerateDesc
    cudaDevSmResourceSplit
    cudaDevSmResourceSplitByCount
    cudaDeviceGetDevResource
    cudaDeviceGetExecutionCtx
    cudaDeviceGetHostAtomicCapabilities
    cudaDeviceGetNvSciSyncAttributes
    cudaDeviceGetP2PAtomicCapabilities
    cudaDeviceRegisterAsyncNotification
    cudaDeviceUnregisterAsyncNotification
    cudaEGLStreamConsumerAcquireFrame
    cudaEGLStreamConsumerConnect
    cudaEGLStreamConsumerConnectWithFlags
    cudaEGLStreamConsumerDisconnect
    cudaEGLStreamConsumerReleaseFrame
    cudaEGLStreamProducerConnect
    cudaEGLStreamProducerDisconnect
    cudaEGLStreamProducerPresentFrame
    cudaEGLStreamProducerReturnFrame
    cudaEventCreateFromEGLSync
    cudaExecutionCtxDestroy
    cudaExecutionCtxGetDevResource
    cudaExecutionCtxGetDevice
    cudaExecutionCtxGetId
    cudaExecutionCtxRecordEvent
    cudaExecutionCtxStreamCreate
    cudaExecutionCtxSynchronize
    cudaExecutionCtxWaitEvent
    cudaExternalMemoryGetMappedMipmappedArray
    cudaGLGetDevices
    cudaGLMapBufferObject
    cudaGLMapBufferObjectAsync
    cudaGLRegisterBufferObject
    cudaGLSetBufferObjectMapFlags
    cudaGLSetGLDevice
    cudaGLUnmapBufferObject
    cudaGLUnmapBufferObjectAsync
    cudaGLUnregisterBufferObject
    cudaGraphExecGetId
    cudaGraphGetId
    cudaGraphNodeGetContainingGraph
    cudaGraphNodeGetEnabled
    cudaGraphNodeGetLocalId
    cudaGraphNodeGetParams
    cudaGraphNodeGetToolsId
    cudaGraphNodeSetEnabled
    cudaGraphicsEGLRegisterImage
    cudaGraphicsGLRegisterBuffer
    cudaGraphicsGLRegisterImage
    cudaGraphicsResourceGetMappedEglFrame
    cudaGraphicsVDPAURegisterOutputSurface
    cudaGraphicsVDPAURegisterVideoSurface
    cudaGreenCtxCreate
    cudaLaunchCooperativeKernelMultiDevice
    cudaLibraryGetUnifiedFunction
    cudaLogsCurrent
    cudaLogsDumpToFile
    cudaLogsDumpToMemory
    cudaLogsRegisterCallback
    cudaLogsUnregisterCallback
    cudaMemGetLocationInfo
    cudaMemcpyArrayToArray
    cudaMemcpyArrayToArray_ptds
    cudaMipmappedArrayGetMemoryRequirements
    cudaMipmappedArrayGetSparseProperties
    cudaStreamBeginRecaptureToGraph
    cudaStreamBeginRecaptureToGraph_ptsz
    cudaStreamGetDevResource
    cudaStreamGetDevResource_ptsz
    cudaSubgridCreate
    cudaSubgridWorkerGridCreate
    cudaSubgridWorksetCreate
    cudaVDPAUGetDevice
    cudaVDPAUSetVDPAUDevice
}

//! The functions of NVIDIA's two libraries that are not here: each answers that it is not supported, and the list of the
//! run has its name.

use crate::driver::refused;
use std::ffi::CStr;

/// Exports names. What the functions are given stays unread.
macro_rules! absent {
    ($($name:ident)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`, which is not here.")]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> std::ffi::c_int {
                const NAME: &CStr = crate::define::name!($name);
                crate::define::answer(NAME, || Err(refused(NAME)))
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

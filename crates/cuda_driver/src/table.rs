//! The driver API in one table: every entry is one line, and the line is all there is to add.
//!
//! The names are the binary's (`cuMemAlloc_v2`, not the header's `cuMemAlloc`). Two things differ from NVIDIA's header:
//! a C enum is a `c_uint`, because a Rust enum that receives a value it does not list is undefined behaviour; and where
//! the driver writes an enum, the part after `=>` looks at the value before cust can.
//!
//! `else` names what answers when the backend has no such function. `#[since(12, 2)]` marks what cust_raw 0.11.3 does
//! not declare, with the CUDA version that introduced it.
//!
//! `#[records(...)]` marks what a stream takes as an operation that lasts, for [`crate::record_operations`].
//!
//! A line is
//! `[#[since(major, minor)]] [#[records(operation)]] fn name(arguments) [else fallback(...)] [=> check(...)];`:
//! `records` says what a stream is to do, for recordings; `fallback` answers when the backend has no such function, and
//! `check` (true when all is well) looks at what the driver wrote before the caller does.
//!
//! Two files read the table: [`crate::symbol`] makes the names of it, [`crate::api`] the functions. The library of the
//! virtual GPU reads it for the names by which a program's stream 0 is the calling thread's own.

/// Hands the table's lines to the macro `$reader`. What a line mentions is looked up where that macro puts it.
#[doc(hidden)]
#[macro_export]
#[rustfmt::skip]
macro_rules! table {
    ($reader:ident) => { $reader! {
        // Errors, start and version.
        fn cuGetErrorString(error: c_uint, p_str: *mut *const c_char) else local::error_string(error, p_str);
        fn cuGetErrorName(error: c_uint, p_str: *mut *const c_char) else local::error_name(error, p_str);
        fn cuInit(flags: c_uint);
        fn cuDriverGetVersion(driver_version: *mut c_int);

        // Devices.
        fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int);
        fn cuDeviceGetCount(count: *mut c_int);
        fn cuDeviceGetName(name: *mut c_char, len: c_int, device: CUdevice);
        fn cuDeviceGetUuid(uuid: *mut CUuuid, device: CUdevice);
        fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, device: CUdevice);
        fn cuDeviceGetLuid(luid: *mut c_char, device_node_mask: *mut c_uint, device: CUdevice);
        fn cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice);
        fn cuDeviceGetTexture1DLinearMaxWidth(max_width_in_elements: *mut usize, format: c_uint, num_channels: c_uint, device: CUdevice);
        fn cuDeviceGetAttribute(pi: *mut c_int, attrib: c_uint, device: CUdevice);
        fn cuDeviceGetNvSciSyncAttributes(nv_sci_sync_attr_list: *mut c_void, device: CUdevice, flags: c_int);
        fn cuDeviceSetMemPool(device: CUdevice, pool: CUmemoryPool);
        fn cuDeviceGetMemPool(pool: *mut CUmemoryPool, device: CUdevice);
        fn cuDeviceGetDefaultMemPool(pool_out: *mut CUmemoryPool, device: CUdevice);
        fn cuFlushGPUDirectRDMAWrites(target: c_uint, scope: c_uint);
        fn cuDeviceGetProperties(prop: *mut CUdevprop, device: CUdevice);
        fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, device: CUdevice);

        // Contexts.
        fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice);
        fn cuDevicePrimaryCtxRelease_v2(device: CUdevice);
        fn cuDevicePrimaryCtxSetFlags_v2(device: CUdevice, flags: c_uint);
        fn cuDevicePrimaryCtxGetState(device: CUdevice, flags: *mut c_uint, active: *mut c_int);
        fn cuDevicePrimaryCtxReset_v2(device: CUdevice);
        fn cuDeviceGetExecAffinitySupport(pi: *mut c_int, type_: c_uint, device: CUdevice);
        fn cuCtxCreate_v2(context: *mut CUcontext, flags: c_uint, device: CUdevice);
        fn cuCtxCreate_v3(context: *mut CUcontext, params_array: *mut CUexecAffinityParam, num_params: c_int, flags: c_uint, device: CUdevice);
        fn cuCtxDestroy_v2(ctx: CUcontext);
        fn cuCtxPushCurrent_v2(ctx: CUcontext);
        fn cuCtxPopCurrent_v2(context: *mut CUcontext);
        fn cuCtxSetCurrent(ctx: CUcontext);
        fn cuCtxGetCurrent(context: *mut CUcontext);
        fn cuCtxGetDevice(device: *mut CUdevice);
        fn cuCtxGetFlags(flags: *mut c_uint);
        fn cuCtxSynchronize();
        fn cuCtxSetLimit(limit: c_uint, value: usize);
        fn cuCtxGetLimit(pvalue: *mut usize, limit: c_uint);
        fn cuCtxGetCacheConfig(pconfig: *mut c_uint) => check::value(pconfig, check::CACHE_CONFIG);
        fn cuCtxSetCacheConfig(config: c_uint);
        fn cuCtxGetSharedMemConfig(p_config: *mut c_uint) => check::value(p_config, check::SHARED_CONFIG);
        fn cuCtxSetSharedMemConfig(config: c_uint);
        fn cuCtxGetApiVersion(ctx: CUcontext, version: *mut c_uint);
        fn cuCtxGetStreamPriorityRange(least_priority: *mut c_int, greatest_priority: *mut c_int);
        fn cuCtxResetPersistingL2Cache();
        fn cuCtxGetExecAffinity(p_exec_affinity: *mut CUexecAffinityParam, type_: c_uint);
        fn cuCtxAttach(context: *mut CUcontext, flags: c_uint);
        fn cuCtxDetach(ctx: CUcontext);

        // Modules and the linker.
        fn cuModuleLoad(module: *mut CUmodule, fname: *const c_char);
        fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void);
        fn cuModuleLoadDataEx(module: *mut CUmodule, image: *const c_void, num_options: c_uint, options: *mut c_uint, option_values: *mut *mut c_void);
        fn cuModuleLoadFatBinary(module: *mut CUmodule, fat_cubin: *const c_void);
        fn cuModuleUnload(module: CUmodule);
        fn cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char);
        fn cuModuleGetGlobal_v2(dptr: *mut CUdeviceptr, bytes: *mut usize, module: CUmodule, name: *const c_char);
        fn cuModuleGetTexRef(p_tex_ref: *mut CUtexref, module: CUmodule, name: *const c_char);
        fn cuModuleGetSurfRef(p_surf_ref: *mut CUsurfref, module: CUmodule, name: *const c_char);
        fn cuLinkCreate_v2(num_options: c_uint, options: *mut c_uint, option_values: *mut *mut c_void, state_out: *mut CUlinkState);
        fn cuLinkAddData_v2(state: CUlinkState, type_: c_uint, data: *mut c_void, size: usize, name: *const c_char, num_options: c_uint, options: *mut c_uint, option_values: *mut *mut c_void);
        fn cuLinkAddFile_v2(state: CUlinkState, type_: c_uint, path: *const c_char, num_options: c_uint, options: *mut c_uint, option_values: *mut *mut c_void);
        fn cuLinkComplete(state: CUlinkState, cubin_out: *mut *mut c_void, size_out: *mut usize);
        fn cuLinkDestroy(state: CUlinkState);

        // Device and host memory.
        fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
        fn cuMemAlloc_v2(dptr: *mut CUdeviceptr, bytesize: usize);
        fn cuMemAllocPitch_v2(dptr: *mut CUdeviceptr, p_pitch: *mut usize, width_in_bytes: usize, height: usize, element_size_bytes: c_uint);
        fn cuMemFree_v2(dptr: CUdeviceptr);
        fn cuMemGetAddressRange_v2(pbase: *mut CUdeviceptr, psize: *mut usize, dptr: CUdeviceptr);
        fn cuMemAllocHost_v2(pp: *mut *mut c_void, bytesize: usize);
        fn cuMemFreeHost(p: *mut c_void);
        fn cuMemHostAlloc(pp: *mut *mut c_void, bytesize: usize, flags: c_uint);
        fn cuMemHostGetDevicePointer_v2(pdptr: *mut CUdeviceptr, p: *mut c_void, flags: c_uint);
        fn cuMemHostGetFlags(p_flags: *mut c_uint, p: *mut c_void);
        fn cuMemAllocManaged(dptr: *mut CUdeviceptr, bytesize: usize, flags: c_uint);
        fn cuDeviceGetByPCIBusId(device: *mut CUdevice, pci_bus_id: *const c_char);
        fn cuDeviceGetPCIBusId(pci_bus_id: *mut c_char, len: c_int, device: CUdevice);
        fn cuIpcGetEventHandle(p_handle: *mut CUipcEventHandle, event: CUevent);
        fn cuIpcOpenEventHandle(ph_event: *mut CUevent, handle: CUipcEventHandle);
        fn cuIpcGetMemHandle(p_handle: *mut CUipcMemHandle, dptr: CUdeviceptr);
        fn cuIpcOpenMemHandle_v2(pdptr: *mut CUdeviceptr, handle: CUipcMemHandle, flags: c_uint);
        fn cuIpcCloseMemHandle(dptr: CUdeviceptr);
        fn cuMemHostRegister_v2(p: *mut c_void, bytesize: usize, flags: c_uint);
        fn cuMemHostUnregister(p: *mut c_void);

        // Copies.
        fn cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, byte_count: usize);
        fn cuMemcpyPeer(dst_device: CUdeviceptr, dst_context: CUcontext, src_device: CUdeviceptr, src_context: CUcontext, byte_count: usize);
        #[records(operations::upload(null_mut(), byte_count))] fn cuMemcpyHtoD_v2(dst_device: CUdeviceptr, src_host: *const c_void, byte_count: usize);
        #[records(operations::download(null_mut(), byte_count))] fn cuMemcpyDtoH_v2(dst_host: *mut c_void, src_device: CUdeviceptr, byte_count: usize);
        #[records(operations::device_copy(null_mut(), byte_count))] fn cuMemcpyDtoD_v2(dst_device: CUdeviceptr, src_device: CUdeviceptr, byte_count: usize);
        fn cuMemcpyDtoA_v2(dst_array: CUarray, dst_offset: usize, src_device: CUdeviceptr, byte_count: usize);
        fn cuMemcpyAtoD_v2(dst_device: CUdeviceptr, src_array: CUarray, src_offset: usize, byte_count: usize);
        fn cuMemcpyHtoA_v2(dst_array: CUarray, dst_offset: usize, src_host: *const c_void, byte_count: usize);
        fn cuMemcpyAtoH_v2(dst_host: *mut c_void, src_array: CUarray, src_offset: usize, byte_count: usize);
        fn cuMemcpyAtoA_v2(dst_array: CUarray, dst_offset: usize, src_array: CUarray, src_offset: usize, byte_count: usize);
        #[records(operations::copy_2d(null_mut(), p_copy))] fn cuMemcpy2D_v2(p_copy: *const CUDA_MEMCPY2D);
        fn cuMemcpy2DUnaligned_v2(p_copy: *const CUDA_MEMCPY2D);
        fn cuMemcpy3D_v2(p_copy: *const CUDA_MEMCPY3D);
        fn cuMemcpy3DPeer(p_copy: *const CUDA_MEMCPY3D_PEER);
        fn cuMemcpyAsync(dst: CUdeviceptr, src: CUdeviceptr, byte_count: usize, stream: CUstream);
        #[records(operations::device_copy(stream, byte_count))] fn cuMemcpyPeerAsync(dst_device: CUdeviceptr, dst_context: CUcontext, src_device: CUdeviceptr, src_context: CUcontext, byte_count: usize, stream: CUstream);
        #[records(operations::upload(stream, byte_count))] fn cuMemcpyHtoDAsync_v2(dst_device: CUdeviceptr, src_host: *const c_void, byte_count: usize, stream: CUstream);
        #[records(operations::download(stream, byte_count))] fn cuMemcpyDtoHAsync_v2(dst_host: *mut c_void, src_device: CUdeviceptr, byte_count: usize, stream: CUstream);
        #[records(operations::device_copy(stream, byte_count))] fn cuMemcpyDtoDAsync_v2(dst_device: CUdeviceptr, src_device: CUdeviceptr, byte_count: usize, stream: CUstream);
        fn cuMemcpyHtoAAsync_v2(dst_array: CUarray, dst_offset: usize, src_host: *const c_void, byte_count: usize, stream: CUstream);
        fn cuMemcpyAtoHAsync_v2(dst_host: *mut c_void, src_array: CUarray, src_offset: usize, byte_count: usize, stream: CUstream);
        #[records(operations::copy_2d(stream, p_copy))] fn cuMemcpy2DAsync_v2(p_copy: *const CUDA_MEMCPY2D, stream: CUstream);
        fn cuMemcpy3DAsync_v2(p_copy: *const CUDA_MEMCPY3D, stream: CUstream);
        fn cuMemcpy3DPeerAsync(p_copy: *const CUDA_MEMCPY3D_PEER, stream: CUstream);

        // Filling memory.
        #[records(operations::fill(null_mut(), n))] fn cuMemsetD8_v2(dst_device: CUdeviceptr, uc: c_uchar, n: usize);
        #[records(operations::fill(null_mut(), 2 * n))] fn cuMemsetD16_v2(dst_device: CUdeviceptr, us: c_ushort, n: usize);
        #[records(operations::fill(null_mut(), 4 * n))] fn cuMemsetD32_v2(dst_device: CUdeviceptr, ui: c_uint, n: usize);
        fn cuMemsetD2D8_v2(dst_device: CUdeviceptr, dst_pitch: usize, uc: c_uchar, width: usize, height: usize);
        fn cuMemsetD2D16_v2(dst_device: CUdeviceptr, dst_pitch: usize, us: c_ushort, width: usize, height: usize);
        fn cuMemsetD2D32_v2(dst_device: CUdeviceptr, dst_pitch: usize, ui: c_uint, width: usize, height: usize);
        #[records(operations::fill(stream, n))] fn cuMemsetD8Async(dst_device: CUdeviceptr, uc: c_uchar, n: usize, stream: CUstream);
        #[records(operations::fill(stream, 2 * n))] fn cuMemsetD16Async(dst_device: CUdeviceptr, us: c_ushort, n: usize, stream: CUstream);
        #[records(operations::fill(stream, 4 * n))] fn cuMemsetD32Async(dst_device: CUdeviceptr, ui: c_uint, n: usize, stream: CUstream);
        fn cuMemsetD2D8Async(dst_device: CUdeviceptr, dst_pitch: usize, uc: c_uchar, width: usize, height: usize, stream: CUstream);
        fn cuMemsetD2D16Async(dst_device: CUdeviceptr, dst_pitch: usize, us: c_ushort, width: usize, height: usize, stream: CUstream);
        fn cuMemsetD2D32Async(dst_device: CUdeviceptr, dst_pitch: usize, ui: c_uint, width: usize, height: usize, stream: CUstream);

        // Arrays.
        fn cuArrayCreate_v2(p_handle: *mut CUarray, p_allocate_array: *const CUDA_ARRAY_DESCRIPTOR);
        fn cuArrayGetDescriptor_v2(p_array_descriptor: *mut CUDA_ARRAY_DESCRIPTOR, h_array: CUarray) => check::array(p_array_descriptor);
        fn cuArrayGetSparseProperties(sparse_properties: *mut CUDA_ARRAY_SPARSE_PROPERTIES, array: CUarray);
        fn cuMipmappedArrayGetSparseProperties(sparse_properties: *mut CUDA_ARRAY_SPARSE_PROPERTIES, mipmap: CUmipmappedArray);
        fn cuArrayGetPlane(p_plane_array: *mut CUarray, h_array: CUarray, plane_idx: c_uint);
        fn cuArrayDestroy(h_array: CUarray);
        fn cuArray3DCreate_v2(p_handle: *mut CUarray, p_allocate_array: *const CUDA_ARRAY3D_DESCRIPTOR);
        fn cuArray3DGetDescriptor_v2(p_array_descriptor: *mut CUDA_ARRAY3D_DESCRIPTOR, h_array: CUarray) => check::array_3d(p_array_descriptor);
        fn cuMipmappedArrayCreate(p_handle: *mut CUmipmappedArray, p_mipmapped_array_desc: *const CUDA_ARRAY3D_DESCRIPTOR, num_mipmap_levels: c_uint);
        fn cuMipmappedArrayGetLevel(p_level_array: *mut CUarray, h_mipmapped_array: CUmipmappedArray, level: c_uint);
        fn cuMipmappedArrayDestroy(h_mipmapped_array: CUmipmappedArray);

        // Virtual memory management.
        fn cuMemAddressReserve(ptr: *mut CUdeviceptr, size: usize, alignment: usize, addr: CUdeviceptr, flags: c_ulonglong);
        fn cuMemAddressFree(ptr: CUdeviceptr, size: usize);
        fn cuMemCreate(handle: *mut CUmemGenericAllocationHandle, size: usize, prop: *const AllocationProperties, flags: c_ulonglong);
        fn cuMemRelease(handle: CUmemGenericAllocationHandle);
        fn cuMemMap(ptr: CUdeviceptr, size: usize, offset: usize, handle: CUmemGenericAllocationHandle, flags: c_ulonglong);
        fn cuMemMapArrayAsync(map_info_list: *mut CUarrayMapInfo, count: c_uint, stream: CUstream);
        fn cuMemUnmap(ptr: CUdeviceptr, size: usize);
        fn cuMemSetAccess(ptr: CUdeviceptr, size: usize, desc: *const CUmemAccessDesc, count: usize);
        fn cuMemGetAccess(flags: *mut c_ulonglong, location: *const CUmemLocation, ptr: CUdeviceptr);
        fn cuMemExportToShareableHandle(shareable_handle: *mut c_void, handle: CUmemGenericAllocationHandle, handle_type: c_uint, flags: c_ulonglong);
        fn cuMemImportFromShareableHandle(handle: *mut CUmemGenericAllocationHandle, os_handle: *mut c_void, sh_handle_type: c_uint);
        fn cuMemGetAllocationGranularity(granularity: *mut usize, prop: *const AllocationProperties, option: c_uint);
        fn cuMemGetAllocationPropertiesFromHandle(prop: *mut AllocationProperties, handle: CUmemGenericAllocationHandle);
        fn cuMemRetainAllocationHandle(handle: *mut CUmemGenericAllocationHandle, addr: *mut c_void);

        // Stream-ordered memory pools.
        fn cuMemFreeAsync(dptr: CUdeviceptr, stream: CUstream);
        fn cuMemAllocAsync(dptr: *mut CUdeviceptr, bytesize: usize, stream: CUstream);
        fn cuMemPoolTrimTo(pool: CUmemoryPool, min_bytes_to_keep: usize);
        fn cuMemPoolSetAttribute(pool: CUmemoryPool, attr: c_uint, value: *mut c_void);
        fn cuMemPoolGetAttribute(pool: CUmemoryPool, attr: c_uint, value: *mut c_void);
        fn cuMemPoolSetAccess(pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize);
        fn cuMemPoolGetAccess(flags: *mut c_uint, mem_pool: CUmemoryPool, location: *mut CUmemLocation) => check::value(flags, check::ACCESS);
        fn cuMemPoolCreate(pool: *mut CUmemoryPool, pool_props: *const CUmemPoolProps);
        fn cuMemPoolDestroy(pool: CUmemoryPool);
        fn cuMemAllocFromPoolAsync(dptr: *mut CUdeviceptr, bytesize: usize, pool: CUmemoryPool, stream: CUstream);
        fn cuMemPoolExportToShareableHandle(handle_out: *mut c_void, pool: CUmemoryPool, handle_type: c_uint, flags: c_ulonglong);
        fn cuMemPoolImportFromShareableHandle(pool_out: *mut CUmemoryPool, handle: *mut c_void, handle_type: c_uint, flags: c_ulonglong);
        fn cuMemPoolExportPointer(share_data_out: *mut CUmemPoolPtrExportData, ptr: CUdeviceptr);
        fn cuMemPoolImportPointer(ptr_out: *mut CUdeviceptr, pool: CUmemoryPool, share_data: *mut CUmemPoolPtrExportData);

        // Pointers and managed memory.
        fn cuPointerGetAttribute(data: *mut c_void, attribute: c_uint, ptr: CUdeviceptr);
        #[records(operations::prefetch(stream, count, dst_device))] fn cuMemPrefetchAsync(dev_ptr: CUdeviceptr, count: usize, dst_device: CUdevice, stream: CUstream);
        fn cuMemAdvise(dev_ptr: CUdeviceptr, count: usize, advice: c_uint, device: CUdevice);
        fn cuMemRangeGetAttribute(data: *mut c_void, data_size: usize, attribute: c_uint, dev_ptr: CUdeviceptr, count: usize);
        fn cuMemRangeGetAttributes(data: *mut *mut c_void, data_sizes: *mut usize, attributes: *mut c_uint, num_attributes: usize, dev_ptr: CUdeviceptr, count: usize);
        fn cuPointerSetAttribute(value: *const c_void, attribute: c_uint, ptr: CUdeviceptr);
        fn cuPointerGetAttributes(num_attributes: c_uint, attributes: *mut c_uint, data: *mut *mut c_void, ptr: CUdeviceptr);

        // Streams and capture.
        fn cuStreamCreate(pstream: *mut CUstream, flags: c_uint);
        fn cuStreamCreateWithPriority(pstream: *mut CUstream, flags: c_uint, priority: c_int);
        fn cuStreamGetPriority(stream: CUstream, priority: *mut c_int);
        fn cuStreamGetFlags(stream: CUstream, flags: *mut c_uint);
        fn cuStreamGetCtx(stream: CUstream, context: *mut CUcontext);
        fn cuStreamWaitEvent(stream: CUstream, h_event: CUevent, flags: c_uint);
        fn cuStreamAddCallback(stream: CUstream, callback: CUstreamCallback, user_data: *mut c_void, flags: c_uint);
        fn cuStreamBeginCapture_v2(stream: CUstream, mode: c_uint);
        fn cuThreadExchangeStreamCaptureMode(mode: *mut c_uint) => check::value(mode, check::CAPTURE_MODE);
        fn cuStreamEndCapture(stream: CUstream, ph_graph: *mut CUgraph);
        fn cuStreamIsCapturing(stream: CUstream, capture_status: *mut c_uint) => check::value(capture_status, check::CAPTURE_STATUS);
        fn cuStreamGetCaptureInfo(stream: CUstream, capture_status_out: *mut c_uint, id_out: *mut cuuint64_t) => check::value(capture_status_out, check::CAPTURE_STATUS);
        fn cuStreamGetCaptureInfo_v2(stream: CUstream, capture_status_out: *mut c_uint, id_out: *mut cuuint64_t, graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode, num_dependencies_out: *mut usize) => check::value(capture_status_out, check::CAPTURE_STATUS);
        fn cuStreamUpdateCaptureDependencies(stream: CUstream, dependencies: *mut CUgraphNode, num_dependencies: usize, flags: c_uint);
        fn cuStreamAttachMemAsync(stream: CUstream, dptr: CUdeviceptr, length: usize, flags: c_uint);
        fn cuStreamQuery(stream: CUstream);
        fn cuStreamSynchronize(stream: CUstream);
        fn cuStreamDestroy_v2(stream: CUstream);
        fn cuStreamCopyAttributes(dst: CUstream, src: CUstream);
        fn cuStreamGetAttribute(stream: CUstream, attr: c_uint, value_out: *mut CUstreamAttrValue);
        fn cuStreamSetAttribute(stream: CUstream, attr: c_uint, value: *const CUstreamAttrValue);

        // Events.
        fn cuEventCreate(ph_event: *mut CUevent, flags: c_uint);
        #[records(operations::event_reached(stream))] fn cuEventRecord(h_event: CUevent, stream: CUstream);
        fn cuEventRecordWithFlags(h_event: CUevent, stream: CUstream, flags: c_uint);
        fn cuEventQuery(h_event: CUevent);
        fn cuEventSynchronize(h_event: CUevent);
        fn cuEventDestroy_v2(h_event: CUevent);
        fn cuEventElapsedTime(p_milliseconds: *mut f32, h_start: CUevent, h_end: CUevent);

        // External memory and semaphores.
        fn cuImportExternalMemory(ext_mem_out: *mut CUexternalMemory, mem_handle_desc: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC);
        fn cuExternalMemoryGetMappedBuffer(dev_ptr: *mut CUdeviceptr, ext_mem: CUexternalMemory, buffer_desc: *const CUDA_EXTERNAL_MEMORY_BUFFER_DESC);
        fn cuExternalMemoryGetMappedMipmappedArray(mipmap: *mut CUmipmappedArray, ext_mem: CUexternalMemory, mipmap_desc: *const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC);
        fn cuDestroyExternalMemory(ext_mem: CUexternalMemory);
        fn cuImportExternalSemaphore(ext_sem_out: *mut CUexternalSemaphore, sem_handle_desc: *const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC);
        fn cuSignalExternalSemaphoresAsync(ext_sem_array: *const CUexternalSemaphore, params_array: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, num_ext_sems: c_uint, stream: CUstream);
        fn cuWaitExternalSemaphoresAsync(ext_sem_array: *const CUexternalSemaphore, params_array: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, num_ext_sems: c_uint, stream: CUstream);
        fn cuDestroyExternalSemaphore(ext_sem: CUexternalSemaphore);

        // Stream memory operations.
        fn cuStreamWaitValue32(stream: CUstream, addr: CUdeviceptr, value: cuuint32_t, flags: c_uint);
        fn cuStreamWaitValue64(stream: CUstream, addr: CUdeviceptr, value: cuuint64_t, flags: c_uint);
        fn cuStreamWriteValue32(stream: CUstream, addr: CUdeviceptr, value: cuuint32_t, flags: c_uint);
        fn cuStreamWriteValue64(stream: CUstream, addr: CUdeviceptr, value: cuuint64_t, flags: c_uint);
        fn cuStreamBatchMemOp(stream: CUstream, count: c_uint, param_array: *mut MemoryOperation, flags: c_uint);

        // Functions and launches.
        fn cuFuncGetAttribute(pi: *mut c_int, attrib: c_uint, function: CUfunction);
        fn cuFuncSetAttribute(function: CUfunction, attrib: c_uint, value: c_int);
        fn cuFuncSetCacheConfig(function: CUfunction, config: c_uint);
        fn cuFuncSetSharedMemConfig(function: CUfunction, config: c_uint);
        fn cuFuncGetModule(module: *mut CUmodule, function: CUfunction);
        #[records(operations::kernel(stream, f))] fn cuLaunchKernel(f: CUfunction, grid_dim_x: c_uint, grid_dim_y: c_uint, grid_dim_z: c_uint, block_dim_x: c_uint, block_dim_y: c_uint, block_dim_z: c_uint, shared_mem_bytes: c_uint, stream: CUstream, kernel_params: *mut *mut c_void, extra: *mut *mut c_void);
        #[records(operations::kernel(stream, f))] fn cuLaunchCooperativeKernel(f: CUfunction, grid_dim_x: c_uint, grid_dim_y: c_uint, grid_dim_z: c_uint, block_dim_x: c_uint, block_dim_y: c_uint, block_dim_z: c_uint, shared_mem_bytes: c_uint, stream: CUstream, kernel_params: *mut *mut c_void);
        fn cuLaunchCooperativeKernelMultiDevice(launch_params_list: *mut CUDA_LAUNCH_PARAMS, num_devices: c_uint, flags: c_uint);
        #[records(operations::host_function(stream))] fn cuLaunchHostFunc(stream: CUstream, fn_: CUhostFn, user_data: *mut c_void);
        fn cuFuncSetBlockShape(function: CUfunction, x: c_int, y: c_int, z: c_int);
        fn cuFuncSetSharedSize(function: CUfunction, bytes: c_uint);
        fn cuParamSetSize(function: CUfunction, numbytes: c_uint);
        fn cuParamSeti(function: CUfunction, offset: c_int, value: c_uint);
        fn cuParamSetf(function: CUfunction, offset: c_int, value: f32);
        fn cuParamSetv(function: CUfunction, offset: c_int, ptr: *mut c_void, numbytes: c_uint);
        fn cuLaunch(f: CUfunction);
        fn cuLaunchGrid(f: CUfunction, grid_width: c_int, grid_height: c_int);
        fn cuLaunchGridAsync(f: CUfunction, grid_width: c_int, grid_height: c_int, stream: CUstream);
        fn cuParamSetTexRef(function: CUfunction, texunit: c_int, h_tex_ref: CUtexref);

        // Graphs.
        fn cuGraphCreate(ph_graph: *mut CUgraph, flags: c_uint);
        fn cuGraphAddKernelNode(ph_graph_node: *mut CUgraphNode, h_graph: CUgraph, dependencies: *const CUgraphNode, num_dependencies: usize, node_params: *const KernelNodeParameters);
        fn cuGraphKernelNodeGetParams(h_node: CUgraphNode, node_params: *mut KernelNodeParameters);
        fn cuGraphKernelNodeSetParams(h_node: CUgraphNode, node_params: *const KernelNodeParameters);
        fn cuGraphAddMemcpyNode(ph_graph_node: *mut CUgraphNode, h_graph: CUgraph, dependencies: *const CUgraphNode, num_dependencies: usize, copy_params: *const CUDA_MEMCPY3D, ctx: CUcontext);
        fn cuGraphMemcpyNodeGetParams(h_node: CUgraphNode, node_params: *mut CUDA_MEMCPY3D);
        fn cuGraphMemcpyNodeSetParams(h_node: CUgraphNode, node_params: *const CUDA_MEMCPY3D);
        fn cuGraphAddMemsetNode(ph_graph_node: *mut CUgraphNode, h_graph: CUgraph, dependencies: *const CUgraphNode, num_dependencies: usize, memset_params: *const MemsetNodeParameters, ctx: CUcontext);
        fn cuGraphMemsetNodeGetParams(h_node: CUgraphNode, node_params: *mut MemsetNodeParameters);
        fn cuGraphMemsetNodeSetParams(h_node: CUgraphNode, node_params: *const MemsetNodeParameters);
        fn cuGraphAddHostNode(ph_graph_node: *mut CUgraphNode, h_graph: CUgraph, dependencies: *const CUgraphNode, num_dependencies: usize, node_params: *const HostNodeParameters);
        fn cuGraphHostNodeGetParams(h_node: CUgraphNode, node_params: *mut HostNodeParameters);
        fn cuGraphHostNodeSetParams(h_node: CUgraphNode, node_params: *const HostNodeParameters);
        fn cuGraphAddChildGraphNode(ph_graph_node: *mut CUgraphNode, h_graph: CUgraph, dependencies: *const CUgraphNode, num_dependencies: usize, child_graph: CUgraph);
        fn cuGraphChildGraphNodeGetGraph(h_node: CUgraphNode, ph_graph: *mut CUgraph);
        fn cuGraphAddEmptyNode(ph_graph_node: *mut CUgraphNode, h_graph: CUgraph, dependencies: *const CUgraphNode, num_dependencies: usize);
        fn cuGraphAddEventRecordNode(ph_graph_node: *mut CUgraphNode, h_graph: CUgraph, dependencies: *const CUgraphNode, num_dependencies: usize, event: CUevent);
        fn cuGraphEventRecordNodeGetEvent(h_node: CUgraphNode, event_out: *mut CUevent);
        fn cuGraphEventRecordNodeSetEvent(h_node: CUgraphNode, event: CUevent);
        fn cuGraphAddEventWaitNode(ph_graph_node: *mut CUgraphNode, h_graph: CUgraph, dependencies: *const CUgraphNode, num_dependencies: usize, event: CUevent);
        fn cuGraphEventWaitNodeGetEvent(h_node: CUgraphNode, event_out: *mut CUevent);
        fn cuGraphEventWaitNodeSetEvent(h_node: CUgraphNode, event: CUevent);
        fn cuGraphAddExternalSemaphoresSignalNode(ph_graph_node: *mut CUgraphNode, h_graph: CUgraph, dependencies: *const CUgraphNode, num_dependencies: usize, node_params: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
        fn cuGraphExternalSemaphoresSignalNodeGetParams(h_node: CUgraphNode, params_out: *mut CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
        fn cuGraphExternalSemaphoresSignalNodeSetParams(h_node: CUgraphNode, node_params: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
        fn cuGraphAddExternalSemaphoresWaitNode(ph_graph_node: *mut CUgraphNode, h_graph: CUgraph, dependencies: *const CUgraphNode, num_dependencies: usize, node_params: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS);
        fn cuGraphExternalSemaphoresWaitNodeGetParams(h_node: CUgraphNode, params_out: *mut CUDA_EXT_SEM_WAIT_NODE_PARAMS);
        fn cuGraphExternalSemaphoresWaitNodeSetParams(h_node: CUgraphNode, node_params: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS);
        fn cuGraphAddMemAllocNode(ph_graph_node: *mut CUgraphNode, h_graph: CUgraph, dependencies: *const CUgraphNode, num_dependencies: usize, node_params: *mut CUDA_MEM_ALLOC_NODE_PARAMS);
        fn cuGraphMemAllocNodeGetParams(h_node: CUgraphNode, params_out: *mut CUDA_MEM_ALLOC_NODE_PARAMS);
        fn cuGraphAddMemFreeNode(ph_graph_node: *mut CUgraphNode, h_graph: CUgraph, dependencies: *const CUgraphNode, num_dependencies: usize, dptr: CUdeviceptr);
        fn cuGraphMemFreeNodeGetParams(h_node: CUgraphNode, dptr_out: *mut CUdeviceptr);
        fn cuDeviceGraphMemTrim(device: CUdevice);
        fn cuDeviceGetGraphMemAttribute(device: CUdevice, attr: c_uint, value: *mut c_void);
        fn cuDeviceSetGraphMemAttribute(device: CUdevice, attr: c_uint, value: *mut c_void);
        fn cuGraphClone(ph_graph_clone: *mut CUgraph, original_graph: CUgraph);
        fn cuGraphNodeFindInClone(ph_node: *mut CUgraphNode, h_original_node: CUgraphNode, h_cloned_graph: CUgraph);
        fn cuGraphNodeGetType(h_node: CUgraphNode, type_: *mut c_uint) => check::value(type_, check::GRAPH_NODE);
        fn cuGraphGetNodes(h_graph: CUgraph, nodes: *mut CUgraphNode, num_nodes: *mut usize);
        fn cuGraphGetRootNodes(h_graph: CUgraph, root_nodes: *mut CUgraphNode, num_root_nodes: *mut usize);
        fn cuGraphGetEdges(h_graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, num_edges: *mut usize);
        fn cuGraphNodeGetDependencies(h_node: CUgraphNode, dependencies: *mut CUgraphNode, num_dependencies: *mut usize);
        fn cuGraphNodeGetDependentNodes(h_node: CUgraphNode, dependent_nodes: *mut CUgraphNode, num_dependent_nodes: *mut usize);
        fn cuGraphAddDependencies(h_graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, num_dependencies: usize);
        fn cuGraphRemoveDependencies(h_graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, num_dependencies: usize);
        fn cuGraphDestroyNode(h_node: CUgraphNode);
        fn cuGraphInstantiate_v2(ph_graph_exec: *mut CUgraphExec, h_graph: CUgraph, ph_error_node: *mut CUgraphNode, log_buffer: *mut c_char, buffer_size: usize);
        fn cuGraphInstantiateWithFlags(ph_graph_exec: *mut CUgraphExec, h_graph: CUgraph, flags: c_ulonglong);
        fn cuGraphExecKernelNodeSetParams(h_graph_exec: CUgraphExec, h_node: CUgraphNode, node_params: *const KernelNodeParameters);
        fn cuGraphExecMemcpyNodeSetParams(h_graph_exec: CUgraphExec, h_node: CUgraphNode, copy_params: *const CUDA_MEMCPY3D, ctx: CUcontext);
        fn cuGraphExecMemsetNodeSetParams(h_graph_exec: CUgraphExec, h_node: CUgraphNode, memset_params: *const MemsetNodeParameters, ctx: CUcontext);
        fn cuGraphExecHostNodeSetParams(h_graph_exec: CUgraphExec, h_node: CUgraphNode, node_params: *const HostNodeParameters);
        fn cuGraphExecChildGraphNodeSetParams(h_graph_exec: CUgraphExec, h_node: CUgraphNode, child_graph: CUgraph);
        fn cuGraphExecEventRecordNodeSetEvent(h_graph_exec: CUgraphExec, h_node: CUgraphNode, event: CUevent);
        fn cuGraphExecEventWaitNodeSetEvent(h_graph_exec: CUgraphExec, h_node: CUgraphNode, event: CUevent);
        fn cuGraphExecExternalSemaphoresSignalNodeSetParams(h_graph_exec: CUgraphExec, h_node: CUgraphNode, node_params: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
        fn cuGraphExecExternalSemaphoresWaitNodeSetParams(h_graph_exec: CUgraphExec, h_node: CUgraphNode, node_params: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS);
        fn cuGraphUpload(h_graph_exec: CUgraphExec, stream: CUstream);
        #[records(operations::graph(stream))] fn cuGraphLaunch(h_graph_exec: CUgraphExec, stream: CUstream);
        fn cuGraphExecDestroy(h_graph_exec: CUgraphExec);
        fn cuGraphDestroy(h_graph: CUgraph);
        fn cuGraphExecUpdate(h_graph_exec: CUgraphExec, h_graph: CUgraph, h_error_node_out: *mut CUgraphNode, update_result_out: *mut c_uint) => check::value(update_result_out, check::GRAPH_UPDATE);
        fn cuGraphKernelNodeCopyAttributes(dst: CUgraphNode, src: CUgraphNode);
        fn cuGraphKernelNodeGetAttribute(h_node: CUgraphNode, attr: c_uint, value_out: *mut CUkernelNodeAttrValue);
        fn cuGraphKernelNodeSetAttribute(h_node: CUgraphNode, attr: c_uint, value: *const CUkernelNodeAttrValue);
        fn cuGraphDebugDotPrint(h_graph: CUgraph, path: *const c_char, flags: c_uint);
        fn cuUserObjectCreate(object_out: *mut CUuserObject, ptr: *mut c_void, destroy: CUhostFn, initial_refcount: c_uint, flags: c_uint);
        fn cuUserObjectRetain(object: CUuserObject, count: c_uint);
        fn cuUserObjectRelease(object: CUuserObject, count: c_uint);
        fn cuGraphRetainUserObject(graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint);
        fn cuGraphReleaseUserObject(graph: CUgraph, object: CUuserObject, count: c_uint);

        // Occupancy.
        fn cuOccupancyMaxActiveBlocksPerMultiprocessor(num_blocks: *mut c_int, func: CUfunction, block_size: c_int, dynamic_s_mem_size: usize);
        fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(num_blocks: *mut c_int, func: CUfunction, block_size: c_int, dynamic_s_mem_size: usize, flags: c_uint);
        fn cuOccupancyMaxPotentialBlockSize(min_grid_size: *mut c_int, block_size: *mut c_int, func: CUfunction, block_size_to_dynamic_s_mem_size: CUoccupancyB2DSize, dynamic_s_mem_size: usize, block_size_limit: c_int);
        fn cuOccupancyMaxPotentialBlockSizeWithFlags(min_grid_size: *mut c_int, block_size: *mut c_int, func: CUfunction, block_size_to_dynamic_s_mem_size: CUoccupancyB2DSize, dynamic_s_mem_size: usize, block_size_limit: c_int, flags: c_uint);
        fn cuOccupancyAvailableDynamicSMemPerBlock(dynamic_smem_size: *mut usize, func: CUfunction, num_blocks: c_int, block_size: c_int);

        // Texture and surface references (deprecated by NVIDIA).
        fn cuTexRefSetArray(h_tex_ref: CUtexref, h_array: CUarray, flags: c_uint);
        fn cuTexRefSetMipmappedArray(h_tex_ref: CUtexref, h_mipmapped_array: CUmipmappedArray, flags: c_uint);
        fn cuTexRefSetAddress_v2(byte_offset: *mut usize, h_tex_ref: CUtexref, dptr: CUdeviceptr, bytes: usize);
        fn cuTexRefSetAddress2D_v3(h_tex_ref: CUtexref, desc: *const CUDA_ARRAY_DESCRIPTOR, dptr: CUdeviceptr, pitch: usize);
        fn cuTexRefSetFormat(h_tex_ref: CUtexref, fmt: c_uint, num_packed_components: c_int);
        fn cuTexRefSetAddressMode(h_tex_ref: CUtexref, dim: c_int, am: c_uint);
        fn cuTexRefSetFilterMode(h_tex_ref: CUtexref, fm: c_uint);
        fn cuTexRefSetMipmapFilterMode(h_tex_ref: CUtexref, fm: c_uint);
        fn cuTexRefSetMipmapLevelBias(h_tex_ref: CUtexref, bias: f32);
        fn cuTexRefSetMipmapLevelClamp(h_tex_ref: CUtexref, min_mipmap_level_clamp: f32, max_mipmap_level_clamp: f32);
        fn cuTexRefSetMaxAnisotropy(h_tex_ref: CUtexref, max_aniso: c_uint);
        fn cuTexRefSetBorderColor(h_tex_ref: CUtexref, p_border_color: *mut f32);
        fn cuTexRefSetFlags(h_tex_ref: CUtexref, flags: c_uint);
        fn cuTexRefGetAddress_v2(pdptr: *mut CUdeviceptr, h_tex_ref: CUtexref);
        fn cuTexRefGetArray(ph_array: *mut CUarray, h_tex_ref: CUtexref);
        fn cuTexRefGetMipmappedArray(ph_mipmapped_array: *mut CUmipmappedArray, h_tex_ref: CUtexref);
        fn cuTexRefGetAddressMode(pam: *mut c_uint, h_tex_ref: CUtexref, dim: c_int) => check::value(pam, check::ADDRESS_MODE);
        fn cuTexRefGetFilterMode(pfm: *mut c_uint, h_tex_ref: CUtexref) => check::value(pfm, check::FILTER_MODE);
        fn cuTexRefGetFormat(p_format: *mut c_uint, p_num_channels: *mut c_int, h_tex_ref: CUtexref) => check::value(p_format, check::ARRAY_FORMAT);
        fn cuTexRefGetMipmapFilterMode(pfm: *mut c_uint, h_tex_ref: CUtexref) => check::value(pfm, check::FILTER_MODE);
        fn cuTexRefGetMipmapLevelBias(pbias: *mut f32, h_tex_ref: CUtexref);
        fn cuTexRefGetMipmapLevelClamp(pmin_mipmap_level_clamp: *mut f32, pmax_mipmap_level_clamp: *mut f32, h_tex_ref: CUtexref);
        fn cuTexRefGetMaxAnisotropy(pmax_aniso: *mut c_int, h_tex_ref: CUtexref);
        fn cuTexRefGetBorderColor(p_border_color: *mut f32, h_tex_ref: CUtexref);
        fn cuTexRefGetFlags(p_flags: *mut c_uint, h_tex_ref: CUtexref);
        fn cuTexRefCreate(p_tex_ref: *mut CUtexref);
        fn cuTexRefDestroy(h_tex_ref: CUtexref);
        fn cuSurfRefSetArray(h_surf_ref: CUsurfref, h_array: CUarray, flags: c_uint);
        fn cuSurfRefGetArray(ph_array: *mut CUarray, h_surf_ref: CUsurfref);

        // Texture and surface objects.
        fn cuTexObjectCreate(p_tex_object: *mut CUtexObject, p_res_desc: *const CUDA_RESOURCE_DESC, p_tex_desc: *const CUDA_TEXTURE_DESC, p_res_view_desc: *const CUDA_RESOURCE_VIEW_DESC);
        fn cuTexObjectDestroy(tex_object: CUtexObject);
        fn cuTexObjectGetResourceDesc(p_res_desc: *mut CUDA_RESOURCE_DESC, tex_object: CUtexObject) => check::resource(p_res_desc);
        fn cuTexObjectGetTextureDesc(p_tex_desc: *mut CUDA_TEXTURE_DESC, tex_object: CUtexObject) => check::texture(p_tex_desc);
        fn cuTexObjectGetResourceViewDesc(p_res_view_desc: *mut CUDA_RESOURCE_VIEW_DESC, tex_object: CUtexObject) => check::view(p_res_view_desc);
        fn cuSurfObjectCreate(p_surf_object: *mut CUsurfObject, p_res_desc: *const CUDA_RESOURCE_DESC);
        fn cuSurfObjectDestroy(surf_object: CUsurfObject);
        fn cuSurfObjectGetResourceDesc(p_res_desc: *mut CUDA_RESOURCE_DESC, surf_object: CUsurfObject) => check::resource(p_res_desc);

        // Peer to peer.
        fn cuDeviceCanAccessPeer(can_access_peer: *mut c_int, device: CUdevice, peer_dev: CUdevice);
        fn cuCtxEnablePeerAccess(peer_context: CUcontext, flags: c_uint);
        fn cuCtxDisablePeerAccess(peer_context: CUcontext);
        fn cuDeviceGetP2PAttribute(value: *mut c_int, attrib: c_uint, src_device: CUdevice, dst_device: CUdevice);

        // Graphics interoperability.
        fn cuGraphicsUnregisterResource(resource: CUgraphicsResource);
        fn cuGraphicsSubResourceGetMappedArray(p_array: *mut CUarray, resource: CUgraphicsResource, array_index: c_uint, mip_level: c_uint);
        fn cuGraphicsResourceGetMappedMipmappedArray(p_mipmapped_array: *mut CUmipmappedArray, resource: CUgraphicsResource);
        fn cuGraphicsResourceGetMappedPointer_v2(p_dev_ptr: *mut CUdeviceptr, p_size: *mut usize, resource: CUgraphicsResource);
        fn cuGraphicsResourceSetMapFlags_v2(resource: CUgraphicsResource, flags: c_uint);
        fn cuGraphicsMapResources(count: c_uint, resources: *mut CUgraphicsResource, stream: CUstream);
        fn cuGraphicsUnmapResources(count: c_uint, resources: *mut CUgraphicsResource, stream: CUstream);

        // Entry points and profiler.
        fn cuGetProcAddress(symbol: *const c_char, pfn: *mut *mut c_void, cuda_version: c_int, flags: cuuint64_t);
        fn cuGetExportTable(pp_export_table: *mut *const c_void, p_export_table_id: *const CUuuid);
        fn cuProfilerInitialize(config_file: *const c_char, output_file: *const c_char, output_mode: c_uint);
        fn cuProfilerStart();
        fn cuProfilerStop();

        // Newer than cust_raw's bindings.
        #[since(11, 7)] fn cuModuleGetLoadingMode(mode: *mut c_uint);
        #[since(11, 7)] fn cuStreamWaitValue32_v2(stream: CUstream, address: CUdeviceptr, value: cuuint32_t, flags: c_uint);
        #[since(11, 7)] fn cuStreamWriteValue32_v2(stream: CUstream, address: CUdeviceptr, value: cuuint32_t, flags: c_uint);
        #[since(11, 7)] fn cuStreamWaitValue64_v2(stream: CUstream, address: CUdeviceptr, value: cuuint64_t, flags: c_uint);
        #[since(11, 7)] fn cuStreamWriteValue64_v2(stream: CUstream, address: CUdeviceptr, value: cuuint64_t, flags: c_uint);
        #[since(11, 7)] fn cuStreamBatchMemOp_v2(stream: CUstream, count: c_uint, param_array: *mut MemoryOperation, flags: c_uint);
        #[since(11, 6)] #[records(operations::kernel_of(config, function))] fn cuLaunchKernelEx(config: *const LaunchConfig, function: CUfunction, kernel_params: *mut *mut c_void, extra: *mut *mut c_void);
        #[since(11, 7)] fn cuOccupancyMaxActiveClusters(num_clusters: *mut c_int, function: CUfunction, config: *const LaunchConfig);
        #[since(11, 7)] fn cuOccupancyMaxPotentialClusterSize(cluster_size: *mut c_int, function: CUfunction, config: *const LaunchConfig);
        #[since(12, 0)] fn cuGetProcAddress_v2(symbol: *const c_char, pfn: *mut *mut c_void, cuda_version: c_int, flags: cuuint64_t, symbol_status: *mut c_uint);
        #[since(12, 0)] fn cuTensorMapEncodeTiled(tensor_map: *mut TensorMap, data_type: c_uint, rank: cuuint32_t, global_address: *mut c_void, global_dim: *const cuuint64_t, global_strides: *const cuuint64_t, box_dim: *const cuuint32_t, element_strides: *const cuuint32_t, interleave: c_uint, swizzle: c_uint, l2_promotion: c_uint, oob_fill: c_uint);
        #[since(12, 0)] fn cuTensorMapEncodeIm2col(tensor_map: *mut TensorMap, data_type: c_uint, rank: cuuint32_t, global_address: *mut c_void, global_dim: *const cuuint64_t, global_strides: *const cuuint64_t, pixel_box_lower_corner: *const c_int, pixel_box_upper_corner: *const c_int, channels_per_pixel: cuuint32_t, pixels_per_column: cuuint32_t, element_strides: *const cuuint32_t, interleave: c_uint, swizzle: c_uint, l2_promotion: c_uint, oob_fill: c_uint);
        #[since(12, 0)] fn cuTensorMapReplaceAddress(tensor_map: *mut TensorMap, global_address: *mut c_void);
        #[since(12, 0)] fn cuStreamGetId(stream: CUstream, id: *mut c_ulonglong);
        #[since(12, 0)] fn cuCtxGetId(context: CUcontext, id: *mut c_ulonglong);
        #[since(12, 0)] fn cuLibraryLoadData(library: *mut CUlibrary, code: *const c_void, jit_options: *mut c_uint, jit_option_values: *mut *mut c_void, num_jit_options: c_uint, library_options: *mut c_uint, library_option_values: *mut *mut c_void, num_library_options: c_uint);
        #[since(12, 0)] fn cuLibraryUnload(library: CUlibrary);
        #[since(12, 0)] fn cuLibraryGetKernel(kernel: *mut CUkernel, library: CUlibrary, name: *const c_char);
        #[since(12, 0)] fn cuLibraryGetModule(module: *mut CUmodule, library: CUlibrary);
        #[since(12, 0)] fn cuLibraryGetGlobal(dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char);
        #[since(12, 0)] fn cuKernelGetFunction(function: *mut CUfunction, kernel: CUkernel);
        #[since(12, 0)] fn cuLibraryLoadFromFile(library: *mut CUlibrary, file_name: *const c_char, jit_options: *mut c_uint, jit_option_values: *mut *mut c_void, num_jit_options: c_uint, library_options: *mut c_uint, library_option_values: *mut *mut c_void, num_library_options: c_uint);
        #[since(12, 0)] fn cuLibraryGetManaged(dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char);
        #[since(12, 0)] fn cuKernelGetAttribute(value: *mut c_int, attribute: c_uint, kernel: CUkernel, device: CUdevice);
        #[since(12, 0)] fn cuKernelSetAttribute(attribute: c_uint, value: c_int, kernel: CUkernel, device: CUdevice);
        #[since(12, 0)] fn cuKernelSetCacheConfig(kernel: CUkernel, config: c_uint, device: CUdevice);
        #[since(12, 0)] fn cuGraphExecUpdate_v2(graph_exec: CUgraphExec, graph: CUgraph, result: *mut GraphUpdate);
        #[since(12, 0)] fn cuGraphExecGetFlags(graph_exec: CUgraphExec, flags: *mut cuuint64_t);
        #[since(12, 0)] fn cuGraphAddKernelNode_v2(ph_graph_node: *mut CUgraphNode, h_graph: CUgraph, dependencies: *const CUgraphNode, num_dependencies: usize, node_params: *const KernelNodeParametersV2);
        #[since(12, 0)] fn cuGraphKernelNodeGetParams_v2(h_node: CUgraphNode, node_params: *mut KernelNodeParametersV2);
        #[since(12, 0)] fn cuGraphKernelNodeSetParams_v2(h_node: CUgraphNode, node_params: *const KernelNodeParametersV2);
        #[since(12, 0)] fn cuGraphExecKernelNodeSetParams_v2(h_graph_exec: CUgraphExec, h_node: CUgraphNode, node_params: *const KernelNodeParametersV2);
        #[since(12, 0)] fn cuGraphInstantiateWithParams(ph_graph_exec: *mut CUgraphExec, h_graph: CUgraph, instantiate_params: *mut InstantiateParameters);
        #[since(12, 1)] fn cuCtxSetFlags(flags: c_uint);
        #[since(12, 2)] fn cuMemPrefetchAsync_v2(dev_ptr: CUdeviceptr, count: usize, location: MemoryLocation, flags: c_uint, stream: CUstream);
        #[since(13, 0)] fn cuMemPrefetchBatchAsync(dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, locations: *mut MemoryLocation, location_idxs: *mut usize, num_locations: usize, flags: c_ulonglong, stream: CUstream);
        #[since(13, 0)] fn cuMemDiscardBatchAsync(dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, flags: c_ulonglong, stream: CUstream);
        #[since(13, 0)] fn cuMemDiscardAndPrefetchBatchAsync(dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, locations: *mut MemoryLocation, location_idxs: *mut usize, num_locations: usize, flags: c_ulonglong, stream: CUstream);
        #[since(12, 2)] fn cuMemAdvise_v2(dev_ptr: CUdeviceptr, count: usize, advice: c_uint, location: MemoryLocation);
        #[since(12, 2)] fn cuGraphAddNode(ph_graph_node: *mut CUgraphNode, h_graph: CUgraph, dependencies: *const CUgraphNode, num_dependencies: usize, node_params: *mut NodeParameters);
        #[since(12, 3)] fn cuGraphAddNode_v2(ph_graph_node: *mut CUgraphNode, h_graph: CUgraph, dependencies: *const CUgraphNode, dependency_data: *const GraphEdge, num_dependencies: usize, node_params: *mut NodeParameters);
        #[since(12, 3)] fn cuGraphConditionalHandleCreate(p_handle_out: *mut c_ulonglong, h_graph: CUgraph, ctx: CUcontext, default_launch_value: c_uint, flags: c_uint);
        #[since(12, 3)] fn cuStreamBeginCaptureToGraph(stream: CUstream, h_graph: CUgraph, dependencies: *const CUgraphNode, dependency_data: *const GraphEdge, num_dependencies: usize, mode: c_uint);
        #[since(12, 3)] fn cuStreamGetCaptureInfo_v3(stream: CUstream, capture_status_out: *mut c_uint, id_out: *mut cuuint64_t, graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode, edge_data_out: *mut *const GraphEdge, num_dependencies_out: *mut usize);
        #[since(12, 3)] fn cuStreamUpdateCaptureDependencies_v2(stream: CUstream, dependencies: *mut CUgraphNode, dependency_data: *const GraphEdge, num_dependencies: usize, flags: c_uint);
        #[since(12, 3)] fn cuFuncGetName(name: *mut *const c_char, function: CUfunction);
        #[since(12, 3)] fn cuKernelGetName(name: *mut *const c_char, kernel: CUkernel);
        #[since(12, 3)] fn cuGraphGetEdges_v2(h_graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, edge_data: *mut GraphEdge, num_edges: *mut usize);
        #[since(12, 3)] fn cuGraphNodeGetDependencies_v2(h_node: CUgraphNode, dependencies: *mut CUgraphNode, edge_data: *mut GraphEdge, num_dependencies: *mut usize);
        #[since(12, 3)] fn cuGraphNodeGetDependentNodes_v2(h_node: CUgraphNode, dependent_nodes: *mut CUgraphNode, edge_data: *mut GraphEdge, num_dependent_nodes: *mut usize);
        #[since(12, 3)] fn cuGraphAddDependencies_v2(h_graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, edge_data: *const GraphEdge, num_dependencies: usize);
        #[since(12, 3)] fn cuGraphRemoveDependencies_v2(h_graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, edge_data: *const GraphEdge, num_dependencies: usize);
        #[since(12, 4)] fn cuKernelGetParamInfo(kernel: CUkernel, param_index: usize, param_offset: *mut usize, param_size: *mut usize);
        #[since(12, 4)] fn cuLibraryGetKernelCount(count: *mut c_uint, library: CUlibrary);
        #[since(12, 4)] fn cuLibraryEnumerateKernels(kernels: *mut CUkernel, num_kernels: c_uint, library: CUlibrary);
        #[since(12, 4)] fn cuFuncIsLoaded(state: *mut c_uint, function: CUfunction);
        #[since(12, 4)] fn cuFuncLoad(function: CUfunction);
        #[since(12, 4)] fn cuFuncGetParamInfo(function: CUfunction, param_index: usize, param_offset: *mut usize, param_size: *mut usize);
        #[since(12, 4)] fn cuModuleGetFunctionCount(count: *mut c_uint, module: CUmodule);
        #[since(12, 4)] fn cuModuleEnumerateFunctions(functions: *mut CUfunction, num_functions: c_uint, module: CUmodule);
        #[since(12, 5)] fn cuCtxCreate_v4(context: *mut CUcontext, params: *mut ContextParameters, flags: c_uint, device: CUdevice);
        #[since(12, 5)] fn cuStreamGetCtx_v2(stream: CUstream, context: *mut CUcontext, green_context: *mut *mut c_void);
        #[since(13, 0)] fn cuCtxGetDevice_v2(device: *mut CUdevice, ctx: CUcontext);
        #[since(13, 0)] fn cuCtxSynchronize_v2(ctx: CUcontext);
        #[since(13, 1)] #[records(operations::host_function(stream))] fn cuLaunchHostFunc_v2(stream: CUstream, fn_: CUhostFn, user_data: *mut c_void, sync_mode: c_uint);
        #[since(12, 5)] fn cuKernelGetLibrary(library: *mut CUlibrary, kernel: CUkernel);
        #[since(12, 8)] fn cuStreamGetDevice(stream: CUstream, device: *mut CUdevice);
        #[since(12, 8)] fn cuMemcpyBatchAsync(dsts: *mut CUdeviceptr, srcs: *mut CUdeviceptr, sizes: *mut usize, count: usize, attrs: *mut CopyAttributes, attrs_idxs: *mut usize, num_attrs: usize, fail_idx: *mut usize, stream: CUstream);
        #[since(13, 0)] fn cuMemcpyBatchAsync_v2(dsts: *mut CUdeviceptr, srcs: *mut CUdeviceptr, sizes: *mut usize, count: usize, attrs: *mut CopyAttributes, attrs_idxs: *mut usize, num_attrs: usize, stream: CUstream);
        #[since(12, 8)] fn cuEventElapsedTime_v2(milliseconds: *mut f32, start: CUevent, end: CUevent);
    } };
}
pub(crate) use table;

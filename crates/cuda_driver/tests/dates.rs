//! The CUDA version of each function that is newer than cust_raw's bindings, held to NVIDIA's header.

use cuda_driver::CudaVersion;
use cuda_driver::api::Symbol;

/// The dates in `cudaTypedefs.h` of CUDA 13.0: it names the type of a function after the version that introduced it, as
/// in `PFN_cuLaunchKernelEx_v11060`.
const HEADER: &[(&str, u32, u32)] = &[
    ("cuModuleGetLoadingMode", 11, 7),
    ("cuStreamWaitValue32_v2", 11, 7),
    ("cuStreamWriteValue32_v2", 11, 7),
    ("cuLaunchKernelEx", 11, 6),
    ("cuOccupancyMaxActiveClusters", 11, 7),
    ("cuOccupancyMaxPotentialClusterSize", 11, 7),
    ("cuGetProcAddress_v2", 12, 0),
    ("cuTensorMapEncodeTiled", 12, 0),
    ("cuTensorMapReplaceAddress", 12, 0),
    ("cuStreamGetId", 12, 0),
    ("cuCtxGetId", 12, 0),
    ("cuLibraryLoadData", 12, 0),
    ("cuLibraryUnload", 12, 0),
    ("cuLibraryGetKernel", 12, 0),
    ("cuLibraryGetModule", 12, 0),
    ("cuLibraryGetGlobal", 12, 0),
    ("cuKernelGetFunction", 12, 0),
    ("cuLibraryLoadFromFile", 12, 0),
    ("cuLibraryGetManaged", 12, 0),
    ("cuKernelGetAttribute", 12, 0),
    ("cuKernelSetAttribute", 12, 0),
    ("cuKernelSetCacheConfig", 12, 0),
    ("cuGraphExecUpdate_v2", 12, 0),
    ("cuGraphExecGetFlags", 12, 0),
    ("cuCtxSetFlags", 12, 1),
    ("cuMemPrefetchAsync_v2", 12, 2),
    ("cuMemAdvise_v2", 12, 2),
    ("cuFuncGetName", 12, 3),
    ("cuKernelGetName", 12, 3),
    ("cuKernelGetParamInfo", 12, 4),
    ("cuLibraryGetKernelCount", 12, 4),
    ("cuLibraryEnumerateKernels", 12, 4),
    ("cuFuncIsLoaded", 12, 4),
    ("cuFuncLoad", 12, 4),
    ("cuFuncGetParamInfo", 12, 4),
    ("cuModuleGetFunctionCount", 12, 4),
    ("cuModuleEnumerateFunctions", 12, 4),
    ("cuCtxCreate_v4", 12, 5),
    ("cuKernelGetLibrary", 12, 5),
    ("cuStreamGetDevice", 12, 8),
    ("cuEventElapsedTime_v2", 12, 8),
];

#[test]
fn functions_have_the_dates_of_nvidias_header() {
    let dated = Symbol::ALL.iter().filter_map(|symbol| {
        let CudaVersion { major, minor } = symbol.since()?;
        Some((symbol.c_name().to_str().expect("names are ASCII"), major, minor))
    });
    assert_eq!(dated.collect::<Vec<_>>(), HEADER);
}

// The same work in CUDA C++ and by NVIDIA's libraries, for `coalesce bench --peers`: a shared library that
// enqueues on the stream and the buffers it is given. `cargo xtask bench --peers` builds it:
//
//   nvcc -O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC peers.cu -lcublas -o libpeers.so
//
// On compute capability 9.0 with `-gencode arch=compute_90a,code=sm_90a -DCOALESCE_SM_90A` instead of `-arch=native`: some
// instructions exist there alone.
//
// A peer has a pattern's inputs and outputs, as device addresses in the pattern's order, and the numbers of
// its size. It returns null or a sentence that stays valid; one that begins with "not run: " says what is missing here,
// any other is an error. Names begin with who made the machine code;
// `nvcc NAME` is the twin of our variant NAME. The peers of a pattern are in `PATTERN.cuh`; what several of them
// share is here, and so are the headers of libraries, which must not be included within our namespace.
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cooperative_groups.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_pipeline.h>
#include <thrust/iterator/transform_iterator.h>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>

// Outside the anonymous namespace: a function that names it would otherwise not be exported.
struct Peer {
    const char *pattern, *variant;
    size_t output; // the number of the output that it writes
    const char *(*run)(cudaStream_t, void *const *inputs, void *const *outputs, const size_t *size);
};

namespace {

const uint32_t VERSION = 1;

#define TRY(call) do { if ((call) != 0) return #call " failed"; } while (0)

const char *launched() { return cudaPeekAtLastError() == cudaSuccess ? nullptr : cudaGetErrorString(cudaGetLastError()); }

uint32_t blocks(size_t elements, uint32_t per_block) { return (uint32_t)((elements + per_block - 1) / per_block); }

// Device memory that grows with what is asked for and is never freed: the first, unmeasured run brings it about.
struct Scratch {
    void *memory = nullptr;
    size_t bytes = 0;
    bool reserve(size_t wanted) {
        if (wanted <= bytes) return true;
        cudaFree(memory);
        bytes = cudaMalloc(&memory, wanted) == cudaSuccess ? wanted : 0;
        return bytes >= wanted;
    }
};

// As many blocks as the device holds at once.
uint32_t whole_device(uint32_t blocks_per_multiprocessor) {
    static int multiprocessors = 0;
    if (multiprocessors == 0) cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    return (uint32_t)multiprocessors * blocks_per_multiprocessor;
}

cublasHandle_t blas(cudaStream_t stream) {
    static cublasHandle_t handle = nullptr;
    if (handle == nullptr && cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS)
        cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH);
    if (handle != nullptr) cublasSetStream(handle, stream);
    return handle;
}

__device__ uint32_t shared_address(const void *shared) { return (uint32_t)__cvta_generic_to_shared(shared); }

// The peers of each pattern.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

// A barrier in shared memory, on which threads and the bytes of copies arrive (compute capability 9.0).
struct Barrier {
    uint64_t state;
    __device__ void init(uint32_t arrivals) {
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(shared_address(this)), "r"(arrivals) : "memory");
    }
    __device__ void arrive() {
        asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" : : "r"(shared_address(this)) : "memory");
    }
    // An arrival of one thread, and a copy.
    __device__ void copy(float *words, const float *source, uint32_t bytes) {
        asm volatile("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }"
                     : : "r"(shared_address(this)), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     : : "r"(shared_address(words)), "l"(source), "r"(bytes), "r"(shared_address(this)) : "memory");
    }
    __device__ void wait(uint32_t parity) {
        uint32_t complete;
        do asm volatile("{ .reg .pred complete; mbarrier.try_wait.parity.shared.b64 complete, [%1], %2;"
                        " selp.u32 %0, 1, 0, complete; }"
                        : "=r"(complete) : "r"(shared_address(this)), "r"(parity) : "memory");
        while (!complete);
    }
};

__device__ void barriers_are_made() {
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}

#endif

#include "coalescing.cuh"
#include "misalignment.cuh"
#include "stride.cuh"
#include "bus_utilization.cuh"
#include "store_segments.cuh"
#include "aos_soa.cuh"
#include "bank_conflicts.cuh"
#include "transpose.cuh"
#include "matmul_ab.cuh"
#include "reduction.cuh"
#include "scan.cuh"
#include "histogram.cuh"
#include "async_copy.cuh"
#include "constant_memory.cuh"
#include "matmul.cuh"
#include "matmul_tensor.cuh"
#include "divergence.cuh"
#include "coarsening.cuh"
#include "rgb_to_gray.cuh"
#include "stencil.cuh"
#include "matmul_aat.cuh"
#include "local_memory.cuh"
#include "occupancy.cuh"
#include "cache_operators.cuh"
#include "memory_hierarchy.cuh"
#include "atomics.cuh"
#include "distributed_shared.cuh"
#include "texture.cuh"

const Peer PEERS[] = {
    {"coalescing", "nvcc scalar", 0, coalescing_scalar},
    {"coalescing", "nvcc vectorized_16", 0, coalescing_vectorized_16},
    {"coalescing", "driver copy", 0, coalescing_driver},
    {"misalignment", "nvcc shifted", 0, misalignment_shifted},
    {"stride", "nvcc gather", 0, stride_gather},
    {"bus_utilization", "nvcc random_ca", 4, bus_random<true>},
    {"bus_utilization", "nvcc random_cg", 4, bus_random<false>},
    {"store_segments", "nvcc partial", 2, store_partial},
    {"store_segments", "nvcc consecutive", 0, store_consecutive},
    {"aos_soa", "nvcc particle_aos", 2, particle_aos},
    {"aos_soa", "nvcc particle_soa", 2, particle_soa},
    {"bank_conflicts", "nvcc padded", 7, banks_padded},
    {"bank_conflicts", "nvcc swizzled", 7, banks_swizzled},
    {"transpose", "nvcc padded", 0, transpose_padded},
    {"transpose", "cuBLAS geam", 0, transpose_geam},
    {"matmul_ab", "nvcc shared_ab", 0, matmul_shared},
    {"matmul_ab", "cuBLAS sgemm", 0, matmul_sgemm},
    {"matmul_aat", "nvcc padded", 0, aat_padded},
    {"matmul_aat", "cuBLAS sgemm", 0, aat_sgemm},
    {"matmul_aat", "cuBLAS ssyrk and mirror", 0, aat_ssyrk},
    {"matmul", "nvcc tiled", 0, matmul_tiled},
    {"matmul", "nvcc warp_tiled", 0, matmul_warp_tiled},
    {"matmul", "cuBLAS sgemm", 0, matmul_cublas},
    {"matmul_tensor", "nvcc mma_pipelined", 0, matmul_tensor_mma_pipelined},
#ifdef COALESCE_SM_90A
    {"matmul_tensor", "nvcc wgmma", 0, matmul_tensor_wgmma},
    {"matmul_tensor", "nvcc wgmma_persistent", 0, matmul_tensor_persistent<1>},
    {"matmul_tensor", "nvcc wgmma_multicast", 0, matmul_tensor_persistent<2>},
#endif
    {"matmul_tensor", "cuBLAS bf16", 0, matmul_tensor_cublas},
    {"reduction", "nvcc vectorized", 0, reduction_vectorized},
    {"reduction", "CUB DeviceReduce::Sum", 0, reduction_cub},
    {"scan", "nvcc look_back", 0, scan_look_back},
    {"scan", "nvcc look_back_async", 0, scan_look_back_async},
    {"scan", "nvcc specialized_warps", 0, scan_specialized_warps},
    {"scan", "CUB InclusiveSum", 0, scan_cub},
    {"histogram", "nvcc coarsened", 0, histogram_coarsened},
    {"histogram", "CUB HistogramEven", 0, histogram_cub},
    {"async_copy", "nvcc pipelined", 0, async_pipelined},
    {"async_copy", "nvcc bulk", 0, async_bulk},
    {"constant_memory", "nvcc constant", 0, constant_constant},
    {"constant_memory", "nvcc shared", 0, constant_shared},
    {"divergence", "nvcc branched", 0, divergence_paths<0, 0>},
    {"divergence", "nvcc rearranged", 1, divergence_paths<2, 1>},
    {"coarsening", "nvcc consecutive_8", 0, coarsening_items<8, true>},
    {"coarsening", "nvcc strided_8", 0, coarsening_items<8, false>},
    {"coarsening", "nvcc vectorized_16", 0, coarsening_vectors},
    {"rgb_to_gray", "nvcc aos", 0, gray_aos},
    {"rgb_to_gray", "nvcc soa", 0, gray_soa},
    {"rgb_to_gray", "nvcc aos_staged", 0, gray_aos_staged},
    {"rgb_to_gray", "NPP ColorToGray", 0, gray_npp},
    {"stencil", "nvcc plane_global", 2, stencil_plane_global},
    {"stencil", "nvcc plane_rolling", 2, stencil_plane_rolling},
    {"occupancy", "nvcc vectorized_16", 0, occupancy_rounds<1>},
    {"occupancy", "nvcc vectorized_64", 0, occupancy_rounds<4>},
    {"memory_hierarchy", "nvcc chase_shared", 0, hierarchy_chase},
    {"memory_hierarchy", "nvcc read_global", 2, hierarchy_read},
    {"texture", "nvcc plain", 0, texture_plain<false>},
    {"texture", "nvcc array", 0, texture_array<false>},
    {"texture", "nvcc array_tile", 0, texture_array<true>},
    {"texture", "nvcc plain_tile", 0, texture_plain<true>},
    {"texture", "nvcc bilinear_plain", 2, texture_bilinear_plain},
    {"texture", "nvcc bilinear_array", 3, texture_bilinear_array},
    {"local_memory", "nvcc indexed", 0, local_indexed},
    {"local_memory", "nvcc shared", 0, local_shared},
    {"distributed_shared", "nvcc global", 0, distributed_global},
    {"distributed_shared", "nvcc cluster", 0, distributed_cluster},
    {"distributed_shared", "CUB HistogramEven", 0, distributed_cub},
    {"atomics", "nvcc global", 0, atomics_global},
    {"atomics", "nvcc sum_last_block", 4, atomics_sum_last_block},
    {"cache_operators", "nvcc plain", 0, look_up_by<LoadPlain, LoadPlain>},
    {"cache_operators", "nvcc stream_cs", 0, look_up_by<LoadStreaming, LoadPlain>},
    {"cache_operators", "nvcc table_nc", 0, look_up_by<LoadPlain, LoadReadOnly>},
};

} // namespace

extern "C" const Peer *coalesce_peers(uint32_t version, size_t *count) {
    *count = sizeof PEERS / sizeof *PEERS;
    return version == VERSION ? PEERS : nullptr;
}

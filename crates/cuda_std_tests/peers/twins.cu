// Each kernel of the catalogue as one would write it in CUDA C++, but for those that `peers/peers.cu` has: the same name, the
// same parameters and the same work, so that the host can launch these in place of ours. `crates/cuda_std_tests/tests/code.rs`
// compiles them, compares the machine code of both, and says how they are verified.
#include <cstdint>

#define KERNEL extern "C" __global__ void
#define BOUNDS(...) __launch_bounds__(__VA_ARGS__)

// The bytes of shared memory that a launch asks for.
extern __shared__ uint4 dynamic_words[];

constexpr uint32_t WARP = 32, ALL_LANES = 0xffffffff;

static __device__ uint32_t index_1d() { return blockIdx.x * blockDim.x + threadIdx.x; }
static __host__ __device__ constexpr uint32_t div_ceil(uint32_t a, uint32_t b) { return (a + b - 1) / b; }
static __device__ uint32_t minimum(uint32_t a, uint32_t b) { return a < b ? a : b; }
static __device__ uint32_t less(uint32_t a, uint32_t b) { return a > b ? a - b : 0; }
static __device__ size_t at(uint32_t row, uint32_t columns, uint32_t column) { return (size_t)row * columns + column; }
template <class T> static __device__ uint32_t in_shared(T *address) { return (uint32_t)__cvta_generic_to_shared(address); }

static __device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
static __device__ uint4 operator+(uint4 a, uint4 b) { return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }

#include "twins/global.cuh"
#include "twins/execution.cuh"
#include "twins/transfer.cuh"
#include "twins/caches.cuh"
#include "twins/collectives.cuh"
#include "twins/asynchronous.cuh"
#include "twins/shared.cuh"
#include "twins/matmul.cuh"
#include "twins/matmul_tensor.cuh"
#include "twins/stencil.cuh"

// Peers of `matmul_tensor`: A and B are rows of k bf16, C is m x n f32. `peers.cu` includes this.
#pragma once
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cstddef>
#include <cstdint>

namespace matmul_tensor {

const uint32_t ROWS = 128, COLUMNS = 256, STEPS = 64, STAGES = 4, GROUP = 16, PITCH = STEPS * 2;
const uint32_t STAGE_BYTES = (ROWS + COLUMNS) * PITCH;

__device__ inline uint32_t shared_of(const void *pointer) { return (uint32_t)__cvta_generic_to_shared(pointer); }

// The first row and column of a block's tile: down GROUP tiles, then one to the right.
__device__ inline void first_of_block(uint32_t m, uint32_t n, uint32_t &row, uint32_t &column) {
    uint32_t rows = (m + ROWS - 1) / ROWS, columns = (n + COLUMNS - 1) / COLUMNS;
    uint32_t group = blockIdx.x / (GROUP * columns), within = blockIdx.x % (GROUP * columns);
    uint32_t height = min(rows - group * GROUP, GROUP);
    row = (group * GROUP + within % height) * ROWS;
    column = within / height * COLUMNS;
}

struct Work {
    const __nv_bfloat16 *a, *b;
    uint32_t m, n, k, first_row, first_column;

    __device__ void start_rows(const __nv_bfloat16 *source, uint32_t first, uint32_t rows, uint32_t target, uint32_t tile,
                               uint32_t from, uint32_t to) const {
        uint32_t row = threadIdx.x / 8, chunk = threadIdx.x % 8, step = tile * STEPS + chunk * 8;
        target += row * PITCH + (chunk ^ row % 8) * 16;
#pragma unroll
        for (uint32_t round = from; round < to; round++) {
            uint32_t source_row = first + row + round * 32, bytes = source_row < rows && step < k ? 16 : 0;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                         : : "r"(target + round * 32 * PITCH), "l"(source + (size_t)source_row * k + step), "r"(bytes)
                         : "memory");
        }
    }

    __device__ void start_third(uint32_t third, uint32_t tile, uint32_t stage) const {
        uint32_t right = stage + ROWS * PITCH;
        if (third < 2) start_rows(a, first_row, m, stage, tile, 2 * third, 2 * third + 2);
        if (third < 2) start_rows(b, first_column, n, right, tile, 2 * third, 2 * third + 2);
        else start_rows(b, first_column, n, right, tile, 4, 8);
    }
};

struct Fragments {
    uint32_t a[4][4], b[8][2];

    __device__ void read(uint32_t stage, uint32_t step) {
        uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, swizzle = lane % 8;
        uint32_t row = warp / 4 * 64 + lane % 16, column = warp % 4 * 64 + lane % 8 + lane / 16 * 8;
        uint32_t left = stage + row * PITCH + ((2 * step + lane / 16) ^ swizzle) * 16;
        uint32_t right = stage + ROWS * PITCH + column * PITCH + ((2 * step + lane / 8 % 2) ^ swizzle) * 16;
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) {
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(b[2 * i][0]), "=r"(b[2 * i][1]), "=r"(b[2 * i + 1][0]), "=r"(b[2 * i + 1][1])
                         : "r"(right + i * 16 * PITCH) : "memory");
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(a[i][0]), "=r"(a[i][1]), "=r"(a[i][2]), "=r"(a[i][3]) : "r"(left + i * 16 * PITCH) : "memory");
        }
    }

    __device__ void multiply(float (&sums)[4][8][4]) const {
#pragma unroll
        for (uint32_t i = 0; i < 4; i++)
#pragma unroll
            for (uint32_t column = 0; column < 8; column++) {
                uint32_t j = i % 2 ? 7 - column : column;
                float(&c)[4] = sums[i][j];
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                             "{%0, %1, %2, %3};"
                             : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                             : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]), "r"(b[j][1]));
            }
    }
};

__device__ inline void store(float *c, uint32_t m, uint32_t n, uint32_t row, uint32_t column, float value, float next) {
    if (row >= m || column >= n) return;
    float *target = c + (size_t)row * n + column;
    if (n % 2 == 0) *(float2 *)target = make_float2(value, next);
    else {
        target[0] = value;
        if (column + 1 < n) target[1] = next;
    }
}

__global__ void __launch_bounds__(256, 1) mma_pipelined(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, uint32_t m,
                                                         uint32_t n, uint32_t k) {
    extern __shared__ uint4 dynamic_tiles[];
    uint32_t ring = shared_of(dynamic_tiles), tiles = (k + STEPS - 1) / STEPS;
    Work work = {a, b, m, n, k};
    first_of_block(m, n, work.first_row, work.first_column);
    float sums[4][8][4] = {};
    for (uint32_t tile = 0; tile < STAGES - 1; tile++) {
        if (tile < tiles)
            for (uint32_t third = 0; third < 3; third++) work.start_third(third, tile, ring + tile * STAGE_BYTES);
        asm volatile("cp.async.commit_group;" : : : "memory");
    }
    asm volatile("cp.async.wait_group %0;" : : "n"(STAGES - 2) : "memory");
    __syncthreads();
    Fragments now, next;
    now.read(ring, 0);
    uint32_t full = 0, empty = STAGES - 1;
    for (uint32_t tile = 0; tile < tiles; tile++) {
        uint32_t words = ring + full * STAGE_BYTES;
#pragma unroll
        for (uint32_t step = 1; step < 4; step++) {
            next.read(words, step);
            if (tile + STAGES - 1 < tiles) work.start_third(step - 1, tile + STAGES - 1, ring + empty * STAGE_BYTES);
            now.multiply(sums);
            now = next;
        }
        asm volatile("cp.async.commit_group;" : : : "memory");
        asm volatile("cp.async.wait_group %0;" : : "n"(STAGES - 2) : "memory");
        __syncthreads();
        empty = full;
        full = full == STAGES - 1 ? 0 : full + 1;
        next.read(tile + 1 < tiles ? ring + full * STAGE_BYTES : words, 0);
        now.multiply(sums);
        now = next;
    }
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t row = work.first_row + warp / 4 * 64 + lane / 4, column = work.first_column + warp % 4 * 64 + lane % 4 * 2;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++)
#pragma unroll
        for (uint32_t j = 0; j < 8; j++) {
            store(c, m, n, row + 16 * i, column + 8 * j, sums[i][j][0], sums[i][j][1]);
            store(c, m, n, row + 16 * i + 8, column + 8 * j, sums[i][j][2], sums[i][j][3]);
        }
}

inline const char *nvcc_mma_pipelined(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    uint32_t m = size[0], n = size[1], k = size[2], bytes = STAGES * STAGE_BYTES;
    if (k % 8 != 0) return "rows of A and B must be multiples of 16 bytes";
    if (cudaFuncSetAttribute(mma_pipelined, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) != cudaSuccess)
        return "the device does not have enough shared memory";
    mma_pipelined<<<(m + ROWS - 1) / ROWS * ((n + COLUMNS - 1) / COLUMNS), 256, bytes, stream>>>(
        (const __nv_bfloat16 *)in[0], (const __nv_bfloat16 *)in[1], (float *)out[0], m, n, k);
    return cudaPeekAtLastError() == cudaSuccess ? nullptr : cudaGetErrorString(cudaGetLastError());
}

// A handle of its own: that of the other peers keeps tensor cores out of f32 products.
inline const char *cublas(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    static cublasHandle_t handle = nullptr;
    if (handle == nullptr && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return "cublasCreate failed";
    cublasSetStream(handle, stream);
    int m = size[0], n = size[1], k = size[2];
    float one = 1, zero = 0;
    // Column-major: C transposed is B, whose rows are its columns, times A transposed.
    cublasStatus_t status = cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one, in[1], CUDA_R_16BF, k, in[0],
                                         CUDA_R_16BF, k, &zero, out[0], CUDA_R_32F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    return status == CUBLAS_STATUS_SUCCESS ? nullptr : "cublasGemmEx failed";
}

} // namespace matmul_tensor

//! What a GPU's `wmma` gives for the tiles of `tiles.cuh`; `crates/simt/tests/wmma.rs` compares.
//!
//!     nvcc -O2 -std=c++17 -arch=sm_90 wmma.cu -o wmma && ./wmma > crates/simt/fixtures/wmma.txt

#include "tiles.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

/// A and C are row-major, B column-major if COLUMN and else row-major, in memory of their own types.
template <int M, int N, int K, class T, class U, class S, class D, bool COLUMN>
__global__ void product(const uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t *d) {
    a += blockIdx.x * M * K; b += blockIdx.x * K * N; c += blockIdx.x * M * N; d += blockIdx.x * M * N;
    __shared__ alignas(32) S left[M * K], right[K * N];
    __shared__ alignas(32) D sums[M * N];
    auto put = [](void *at, size_t size, uint64_t bits) { for (size_t i = 0; i < size; i++) ((uint8_t *)at)[i] = bits >> 8 * i; };
    for (int i = threadIdx.x; i < M * K; i += 32) put(&left[i], sizeof(S), a[i]);
    for (int i = threadIdx.x; i < K * N; i += 32) put(&right[COLUMN ? i % N * K + i / N : i], sizeof(S), b[i]);
    for (int i = threadIdx.x; i < M * N; i += 32) put(&sums[i], sizeof(D), c[i]);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> fa;
    typedef typename std::conditional<COLUMN, wmma::col_major, wmma::row_major>::type Layout;
    wmma::fragment<wmma::matrix_b, M, N, K, U, Layout> fb;
    wmma::fragment<wmma::accumulator, M, N, K, D> fc;
    wmma::load_matrix_sync(fa, left, K);
    wmma::load_matrix_sync(fb, right, COLUMN ? K : N);
    wmma::load_matrix_sync(fc, sums, N, wmma::mem_row_major);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(sums, fc, N, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < M * N; i += 32) {
        uint64_t bits = 0;
        for (size_t j = 0; j < sizeof(D); j++) bits |= (uint64_t)((uint8_t *)&sums[i])[j] << 8 * j;
        d[i] = bits;
    }
}

typedef wmma::precision::tf32 tf32;
#define SHAPES(name, t, u, c, T, S, D) \
    {"m16n16k16." name ".col", 16, 16, 16, t, u, c, product<16, 16, 16, T, T, S, D, true>}, \
    {"m16n16k16." name ".row", 16, 16, 16, t, u, c, product<16, 16, 16, T, T, S, D, false>}, \
    {"m32n8k16." name ".col", 32, 8, 16, t, u, c, product<32, 8, 16, T, T, S, D, true>}, \
    {"m8n32k16." name ".row", 8, 32, 16, t, u, c, product<8, 32, 16, T, T, S, D, false>}

static const Form WMMA[] = {
    SHAPES("f32.f16", F16, F16, F32, half, half, float),
    SHAPES("f16.f16", F16, F16, F16, half, half, half),
    SHAPES("f32.bf16", BF16, BF16, F32, __nv_bfloat16, __nv_bfloat16, float),
    SHAPES("s32.s8", S8, S8, S32, signed char, signed char, int),
    SHAPES("s32.u8", U8, U8, S32, unsigned char, unsigned char, int),
    {"m16n16k8.f32.tf32.col", 16, 16, 8, TF32, TF32, F32, product<16, 16, 8, tf32, tf32, float, float, true>},
    {"m16n16k8.f32.tf32.row", 16, 16, 8, TF32, TF32, F32, product<16, 16, 8, tf32, tf32, float, float, false>},
    {"m8n8k4.f64.f64.col", 8, 8, 4, F64, F64, F64, product<8, 8, 4, double, double, double, double, true>},
    {"m8n8k4.f64.f64.row", 8, 8, 4, F64, F64, F64, product<8, 8, 4, double, double, double, double, false>},
};

int main() {
    begin("wmma sweep");
    multiply(WMMA, 128, 32, 0);
}

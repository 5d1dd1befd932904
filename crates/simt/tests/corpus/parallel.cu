// Shared memory, barriers, warp intrinsics, cooperative groups, atomics, half, asynchronous copies.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
#define INDEX unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;

extern "C" __global__ void reverse_block(const int *in, int *out, unsigned n) {
    __shared__ int s[256]; unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < n ? in[i] : -1; __syncthreads();
    if (i < n) out[i] = s[255 - t];
}
extern "C" __global__ void reduce_shared(const int *in, int *out, unsigned n) {
    extern __shared__ int d[]; unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    d[t] = i < n ? in[i] : 0; __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) { if (t < s) d[t] += d[t + s]; __syncthreads(); }
    if (t == 0) out[blockIdx.x] = d[0];
}
extern "C" __global__ void reduce_shuffle(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x; int v = i < n ? in[i] : 0;
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if ((threadIdx.x & 31) == 0) atomicAdd(out, v);
}
extern "C" __global__ void scan_warp(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31; int v = i < n ? in[i] : 0;
    for (int d = 1; d < 32; d <<= 1) { int u = __shfl_up_sync(0xffffffffu, v, d); if (lane >= d) v += u; }
    v += __shfl_xor_sync(0xffffffffu, v, 5) + __shfl_sync(0xffffffffu, v, i % 16, 16);
    if (i < n) out[i] = v;
}
extern "C" __global__ void votes(const int *in, unsigned *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x; int v = i < n ? in[i] : 0;
    unsigned b = __ballot_sync(0xffffffffu, v & 1), m = __match_any_sync(0xffffffffu, v & 7);
    int all = __all_sync(0xffffffffu, v > -2000000000), any = __any_sync(0xffffffffu, v % 97 == 0);
    unsigned sum = __reduce_add_sync(0xffffffffu, (unsigned)v), mx = __reduce_max_sync(0xffffffffu, (unsigned)v) ^ __popc(__activemask());
    if (i < n) out[i] = b + 3 * m + all * 5 + any * 7 + sum * 11 + mx;
}
extern "C" __global__ void groups(const int *in, int *out, unsigned n) {
    auto block = cg::this_thread_block(); auto tile = cg::tiled_partition<16>(block);
    unsigned i = block.group_index().x * block.size() + block.thread_rank(); int v = i < n ? in[i] : 0;
    for (int d = tile.size() / 2; d; d /= 2) v += tile.shfl_xor(v, d);
    int bc = tile.shfl(v, 3), any = tile.any(v > 0); block.sync();
    if (i < n) out[i] = v * 2 + bc + (int)tile.thread_rank() + (int)tile.meta_group_rank() * 1000 + any;
}
extern "C" __global__ void coalesced_group(const int *in, unsigned *out, unsigned n) {
    INDEX if (in[i] & 1) { auto active = cg::coalesced_threads(); unsigned base; if (active.thread_rank() == 0) base = atomicAdd(&out[n], active.size()); base = active.shfl(base, 0); out[i] = active.size(); (void)base; }
    else out[i] = 0;
}
extern "C" __global__ void histogram(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ unsigned bins[64]; if (threadIdx.x < 64) bins[threadIdx.x] = 0; __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i] >> 26], 1u);
    __syncthreads(); if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
extern "C" __global__ void atomics(const int *in, int *out, unsigned n) {
    INDEX int v = in[i];
    atomicMin(&out[0], v); atomicMax(&out[1], v); atomicAnd(&out[2], v | 0xf0f0); atomicOr(&out[3], v & 0xff); atomicXor(&out[4], v); atomicSub(&out[5], v);
    atomicInc((unsigned *)&out[6], 1000u); atomicDec((unsigned *)&out[7], 77u); atomicAdd((unsigned long long *)&out[8], (unsigned long long)(unsigned)v);
    atomicMin((unsigned *)&out[10], (unsigned)v); atomicMax((long long *)&out[12], (long long)v * 3);
}
extern "C" __global__ void compare_swap(const int *in, float *out, unsigned n) {
    INDEX int *p = (int *)&out[i & 3]; int old = *p, seen;
    do { seen = old; old = atomicCAS(p, seen, __float_as_int(__int_as_float(seen) + (float)(in[i] & 15))); } while (old != seen);
}
extern "C" __global__ void transpose(const float *in, float *out, unsigned n) {
    __shared__ float tile[32][33]; unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
    __syncthreads(); x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}
extern "C" __global__ void gemm(const float *a, const float *b, float *c, unsigned n) {
    __shared__ float ta[16][16], tb[16][16]; unsigned tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty; float sum = 0;
    for (unsigned k = 0; k < n; k += 16) {
        ta[ty][tx] = a[y * n + k + tx]; tb[ty][tx] = b[(k + ty) * n + x]; __syncthreads();
        for (int j = 0; j < 16; j++) sum = fmaf(ta[ty][j], tb[j][tx], sum);
        __syncthreads();
    }
    c[y * n + x] = sum;
}
extern "C" __global__ void vector4(const float4 *in, float4 *out, unsigned n) {
    INDEX float4 v = in[i]; out[i] = make_float4(v.w + 1.0f, v.z * 2.0f, v.y - 3.0f, -v.x);
}
extern "C" __global__ void halves(const __half *in, __half *out, unsigned n) {
    INDEX __half a = in[i], b = in[(i + 1) % n]; out[i] = __hadd(__hmul(a, b), __hfma(a, a, __hneg(b)));
}
extern "C" __global__ void halves2(const __half2 *in, __half2 *out, unsigned n) {
    INDEX __half2 a = in[i], b = in[(i + 1) % n]; out[i] = __hfma2(a, b, __hsub2(a, __hmax2(a, b)));
}
extern "C" __global__ void half_convert(const float *in, float *out, unsigned n) {
    INDEX out[i] = __half2float(__float2half_rn(in[i])) + __half2float(__float2half_rz(in[i] * 3.0f)) + __bfloat162float(__float2bfloat16_rn(in[i]));
}
extern "C" __global__ void brain(const __nv_bfloat16 *in, __nv_bfloat16 *out, unsigned n) {
    INDEX __nv_bfloat16 a = in[i], b = in[(i + 1) % n]; out[i] = __hadd(__hmul(a, b), __hfma(a, a, b));
}
extern "C" __global__ void async_copy(const int4 *in, int4 *out, unsigned n) {
    __shared__ int4 s[2][128]; unsigned t = threadIdx.x, blocks = n / 128;
    __pipeline_memcpy_async(&s[0][t], &in[blockIdx.x * 128 + t], 16); __pipeline_commit();
    __pipeline_memcpy_async(&s[1][t], &in[((blockIdx.x + 1) % blocks) * 128 + t], 16); __pipeline_commit();
    __pipeline_wait_prior(1); __syncthreads(); int4 a = s[0][127 - t];
    __pipeline_wait_prior(0); __syncthreads(); int4 b = s[1][t ^ 1];
    out[blockIdx.x * 128 + t] = make_int4(a.x + b.x, a.y - b.y, a.z ^ b.z, a.w + 2 * b.w);
}
extern "C" __global__ void barrier_counts(const int *in, int *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x; int v = i < n ? in[i] : 0;
    int odd = __syncthreads_count(v & 1), all = __syncthreads_and(v != 12345), any = __syncthreads_or(v == in[0]);
    if (i < n) out[i] = odd * 4 + all * 2 + any;
}
extern "C" __global__ void last_block(const int *in, int *out, unsigned n) {
    __shared__ bool last; unsigned i = blockIdx.x * blockDim.x + threadIdx.x; int v = i < n ? in[i] : 0;
    v = __reduce_add_sync(0xffffffffu, v);
    if ((threadIdx.x & 31) == 0) out[2 + i / 32] = v;
    __threadfence(); __syncthreads();
    if (threadIdx.x == 0) last = atomicInc((unsigned *)&out[1], gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x == 0) { int s = 0; for (unsigned k = 0; k < gridDim.x * blockDim.x / 32; k++) s += ((volatile int *)out)[2 + k]; out[0] = s; }
}

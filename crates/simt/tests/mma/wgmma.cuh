//! What `wgmma.mma_async` of 64 x 8 results takes: descriptors, factors in shared memory and fragments of A.

#include "tiles.cuh"

__device__ uint64_t descriptor(uint32_t address, uint32_t leading, uint32_t stride, uint32_t swizzle = 0, uint32_t base = 0) {
    return (uint64_t)(address >> 4 & 0x3fff) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 |
           (uint64_t)base << 49 | (uint64_t)swizzle << 62;
}

#define FENCE asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define WAIT asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory")
#define INOUT "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])

/// The instruction of a form: both factors from shared memory, or A from registers.
#define SHARED(id, types, rest) struct id { \
    static __device__ void multiply(uint32_t *d, const uint32_t *a, uint64_t da, uint64_t db) { \
        asm volatile("wgmma.mma_async.sync.aligned." types " {%0, %1, %2, %3}, %4, %5, 1" rest ";" \
            : INOUT : "l"(da), "l"(db)); } }
#define REGISTERS(id, types, rest) struct id { \
    static __device__ void multiply(uint32_t *d, const uint32_t *a, uint64_t da, uint64_t db) { \
        asm volatile("wgmma.mma_async.sync.aligned." types " {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1" rest ";" \
            : INOUT : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(db)); } }

/// 64 x 8 results of 32 bytes of the inner dimension: blocks of 8 rows of 16 bytes, 128 bytes from one to the next along K.
template <class F, class T> __global__ void sums(const uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t *out) {
    const int M = 64, N = 8, BYTES = sizeof(T), K = 32 / BYTES, P = 4 / BYTES, CHUNK = 16 / BYTES;
    a += blockIdx.x * M * K; b += blockIdx.x * K * N; c += blockIdx.x * M * N; out += blockIdx.x * M * N;
    __shared__ alignas(1024) uint8_t memory[M * 32 + N * 32];
    uint8_t *left = memory, *right = memory + M * 32;
    auto put = [&](uint8_t *at, int row, int k, uint64_t value) {
        *(T *)(at + row / 8 * 256 + k / CHUNK * 128 + row % 8 * 16 + k % CHUNK * BYTES) = (T)value;
    };
    for (int i = threadIdx.x; i < M * K; i += 128) put(left, i / K, i % K, a[i]);
    for (int i = threadIdx.x; i < K * N; i += 128) put(right, i % N, i / N, b[i]);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    int lane = threadIdx.x % 32, group = lane / 4, place = lane % 4, first = threadIdx.x / 32 * 16;
    uint32_t d[4], fragment[4] = {};
    for (int r = 0; r < 4; r++)
        for (int e = 0; e < P; e++)
            fragment[r] |= (uint32_t)a[(first + group + 8 * (r & 1)) * K + (r >> 1) * 4 * P + place * P + e] << (e * 8 * BYTES) % 32;
    for (int i = 0; i < 4; i++) d[i] = (uint32_t)c[(first + group + 8 * (i / 2)) * N + place * 2 + i % 2];
    uint64_t da = descriptor((uint32_t)__cvta_generic_to_shared(left), 128, 256);
    uint64_t db = descriptor((uint32_t)__cvta_generic_to_shared(right), 128, 256);
    FENCE;
    F::multiply(d, fragment, da, db);
    WAIT;
    for (int i = 0; i < 4; i++) out[(first + group + 8 * (i / 2)) * N + place * 2 + i % 2] = d[i];
}

//! What a GPU's `wgmma.mma_async` gives for factors of 8 bits: integers, and floats; `crates/simt/tests/wgmma.rs` compares.
//!
//!     nvcc -O2 -std=c++17 -gencode arch=compute_90a,code=sm_90a wgmma_bytes.cu -o wgmma_bytes && ./wgmma_bytes > crates/simt/fixtures/wgmma_bytes.txt
//!
//! The tiles are those of `sweep.cu`, with 64 rows and 8 columns, and 32 steps along K. The argument is how many tiles of each
//! form are printed whole (576 for all); every tile has a digest.

#define main mma_main
#include "sweep.cu"
#undef main

/// A factor of blocks of 8 rows of 16 bytes: 128 bytes from one to the next along K, 256 bytes to the next eight rows.
__device__ uint64_t descriptor(const void *memory) {
    uint32_t address = (uint32_t)__cvta_generic_to_shared(memory);
    return (uint64_t)(address >> 4 & 0x3fff) | (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32;
}

#define INOUT "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])

/// The instruction of a form: both factors from shared memory, or A from registers.
#define SHARED(id, types, rest) struct id { \
    static __device__ void multiply(uint32_t *d, const uint32_t *a, uint64_t da, uint64_t db) { \
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k32." types " {%0, %1, %2, %3}, %4, %5, 1" rest ";" \
            : INOUT : "l"(da), "l"(db)); } }
#define REGISTERS(id, types, rest) struct id { \
    static __device__ void multiply(uint32_t *d, const uint32_t *a, uint64_t da, uint64_t db) { \
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k32." types " {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1" rest ";" \
            : INOUT : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(db)); } }

SHARED(B0, "f32.e4m3.e4m3", ", 1, 1");
SHARED(B1, "f32.e4m3.e5m2", ", 1, 1");
SHARED(B2, "f32.e5m2.e4m3", ", 1, 1");
SHARED(B3, "f32.e5m2.e5m2", ", 1, 1");
REGISTERS(B4, "f32.e5m2.e5m2", ", 1, 1");
SHARED(B5, "f32.e4m3.e4m3", ", -1, 1");
SHARED(B6, "s32.s8.s8", "");
SHARED(B7, "s32.s8.u8", "");
SHARED(B8, "s32.u8.s8", "");
SHARED(B9, "s32.u8.u8", "");
REGISTERS(B10, "s32.s8.s8", "");
SHARED(B11, "satfinite.s32.s8.s8", "");

template <class F> __global__ void sums(const uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t *out) {
    const int M = 64, N = 8, K = 32;
    a += blockIdx.x * M * K; b += blockIdx.x * K * N; c += blockIdx.x * M * N; out += blockIdx.x * M * N;
    __shared__ alignas(1024) uint8_t memory[M * K + N * K];
    uint8_t *left = memory, *right = memory + M * K;
    auto put = [&](uint8_t *at, int row, int k, uint64_t value) {
        at[row / 8 * 256 + k / 16 * 128 + row % 8 * 16 + k % 16] = (uint8_t)value;
    };
    for (int i = threadIdx.x; i < M * K; i += 128) put(left, i / K, i % K, a[i]);
    for (int i = threadIdx.x; i < K * N; i += 128) put(right, i % N, i / N, b[i]);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    int lane = threadIdx.x % 32, group = lane / 4, place = lane % 4, first = threadIdx.x / 32 * 16;
    uint32_t d[4], fragment[4];
    for (int r = 0; r < 4; r++) {
        fragment[r] = 0;
        for (int e = 0; e < 4; e++)
            fragment[r] |= (uint32_t)a[(first + group + 8 * (r & 1)) * K + (r >> 1) * 16 + place * 4 + e] << e * 8;
    }
    for (int i = 0; i < 4; i++) d[i] = (uint32_t)c[(first + group + 8 * (i / 2)) * N + place * 2 + i % 2];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    F::multiply(d, fragment, descriptor(left), descriptor(right));
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) out[(first + group + 8 * (i / 2)) * N + place * 2 + i % 2] = d[i];
}

static const Form SUMS[] = {
    {"m64n8k32.f32.e4m3.e4m3", 64, 8, 32, E4M3, E4M3, F32, sums<B0>},
    {"m64n8k32.f32.e4m3.e5m2", 64, 8, 32, E4M3, E5M2, F32, sums<B1>},
    {"m64n8k32.f32.e5m2.e4m3", 64, 8, 32, E5M2, E4M3, F32, sums<B2>},
    {"m64n8k32.f32.e5m2.e5m2", 64, 8, 32, E5M2, E5M2, F32, sums<B3>},
    {"m64n8k32.f32.e5m2.e5m2.registers", 64, 8, 32, E5M2, E5M2, F32, sums<B4>},
    {"m64n8k32.f32.e4m3.e4m3.negated", 64, 8, 32, E4M3, E4M3, F32, sums<B5>},
    {"m64n8k32.s32.s8.s8", 64, 8, 32, S8, S8, S32, sums<B6>},
    {"m64n8k32.s32.s8.u8", 64, 8, 32, S8, U8, S32, sums<B7>},
    {"m64n8k32.s32.u8.s8", 64, 8, 32, U8, S8, S32, sums<B8>},
    {"m64n8k32.s32.u8.u8", 64, 8, 32, U8, U8, S32, sums<B9>},
    {"m64n8k32.s32.s8.s8.registers", 64, 8, 32, S8, S8, S32, sums<B10>},
    {"m64n8k32.satfinite.s32.s8.s8", 64, 8, 32, S8, S8, S32, sums<B11>},
};

int main(int count, char **arguments) {
    int whole = count > 1 ? atoi(arguments[1]) : 0;
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0), "no device");
    printf("wgmma bytes sweep 1, %s, compute capability %d.%d\n", device.name, device.major, device.minor);
    for (int form = 0; form < (int)(sizeof SUMS / sizeof *SUMS); form++) {
        const Form &f = SUMS[form];
        int sa = f.m * f.k, sb = f.k * f.n, sc = f.m * f.n;
        std::vector<uint64_t> a(sa * TILES), b(sb * TILES), c(sc * TILES), d(sc * TILES);
        for (int tile = 0; tile < TILES; tile++)
            generate(f, 96 + form, tile, &a[tile * sa], &b[tile * sb], &c[tile * sc]);
        uint64_t *da = upload(a), *db = upload(b), *dc = upload(c), *dd = upload(d);
        f.kernel<<<TILES, 128>>>(da, db, dc, dd);
        check(cudaGetLastError(), f.name);
        check(cudaMemcpy(d.data(), dd, d.size() * 8, cudaMemcpyDeviceToHost), f.name);
        printf("form %s\ndigests", f.name);
        for (int tile = 0; tile < TILES; tile++) {
            uint64_t digest = 0;
            for (int i = 0; i < sc; i++) digest = mix(digest ^ d[tile * sc + i]) + 0x9e3779b97f4a7c15ull;
            printf(" %08x", (unsigned)(digest >> 32));
        }
        printf("\n");
        for (int tile = 0; tile < whole && tile < TILES; tile++) {
            printf("tile %d", tile);
            for (int i = 0; i < sc; i++) printf(" %llx", (unsigned long long)d[tile * sc + i]);
            printf("\n");
        }
        cudaFree(da); cudaFree(db); cudaFree(dc); cudaFree(dd);
    }
    return 0;
}

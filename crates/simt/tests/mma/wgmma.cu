//! What a GPU's `wgmma.mma_async` gives: its sums, and where its descriptors read; `crates/simt/tests/wgmma.rs` compares.
//!
//!     nvcc -O2 -std=c++17 -gencode arch=compute_90a,code=sm_90a wgmma.cu -o wgmma && ./wgmma > crates/simt/fixtures/wgmma.txt
//!
//! Sums: the tiles of `sweep.cu`, with 64 rows. Places: shared memory holds 32768 elements, each its own number (its lower 7
//! bits in one launch, its upper 8 in another), and the other operand is a unit matrix, so that a result is the number of
//! an element that the descriptor reached.

#define main mma_main
#include "sweep.cu"
#undef main

__device__ uint64_t descriptor(uint32_t address, uint32_t leading, uint32_t stride, uint32_t swizzle, uint32_t base = 0) {
    return (uint64_t)(address >> 4 & 0x3fff) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 |
           (uint64_t)base << 49 | (uint64_t)swizzle << 62;
}

#define FENCE asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define WAIT asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory")
#define D4F "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])

/// 64 x 8 results of K * BITS / 8 = 32 bytes of the inner dimension. FROM: 0 both from shared memory, 1 A from registers,
/// 2 with both factors negated once.
template <int KIND, int FROM> __global__ void sums(const uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t *out) {
    const int M = 64, N = 8, BITS = KIND == TF32 ? 32 : 16, K = 256 / BITS, P = 32 / BITS, CHUNK = 128 / BITS;
    a += blockIdx.x * M * K; b += blockIdx.x * K * N; c += blockIdx.x * M * N; out += blockIdx.x * M * N;
    __shared__ alignas(1024) uint8_t memory[64 * 32 + 8 * 32];
    uint8_t *left = memory, *right = memory + 64 * 32;
    auto put = [&](uint8_t *at, int row, int k, uint64_t value) {
        uint8_t *place = at + row / 8 * 256 + k / CHUNK * 128 + row % 8 * 16 + k % CHUNK * (BITS / 8);
        if (BITS == 16) *(uint16_t *)place = value; else *(uint32_t *)place = value;
    };
    for (int i = threadIdx.x; i < M * K; i += 128) put(left, i / K, i % K, a[i]);
    for (int i = threadIdx.x; i < K * N; i += 128) put(right, i % N, i / N, b[i]);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    int lane = threadIdx.x % 32, group = lane / 4, place = lane % 4, first = threadIdx.x / 32 * 16;
    float d[4];
    uint32_t fragment[4];
    for (int r = 0; r < 4; r++) {
        fragment[r] = 0;
        for (int e = 0; e < P; e++)
            fragment[r] |= (uint32_t)a[(first + group + 8 * (r & 1)) * K + (r >> 1) * 4 * P + place * P + e] << (e * BITS) % 32;
    }
    for (int i = 0; i < 4; i++) d[i] = __uint_as_float(c[(first + group + 8 * (i / 2)) * N + place * 2 + i % 2]);
    uint64_t da = descriptor((uint32_t)__cvta_generic_to_shared(left), 128, 256, 0);
    uint64_t db = descriptor((uint32_t)__cvta_generic_to_shared(right), 128, 256, 0);
    FENCE;
    if (KIND == TF32 && FROM == 0)
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0, %1, %2, %3}, %4, %5, 1, 1, 1;" : D4F : "l"(da), "l"(db));
    if (KIND == F16 && FROM == 0)
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;" : D4F : "l"(da), "l"(db));
    if (KIND == BF16 && FROM == 0)
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;" : D4F : "l"(da), "l"(db));
    if (KIND == BF16 && FROM == 1)
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, {%5, %6, %7, %8}, %4, 1, 1, 1, 0;" : D4F
                     : "l"(db), "r"(fragment[0]), "r"(fragment[1]), "r"(fragment[2]), "r"(fragment[3]));
    if (KIND == F16 && FROM == 1)
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%5, %6, %7, %8}, %4, 1, 1, 1, 0;" : D4F
                     : "l"(db), "r"(fragment[0]), "r"(fragment[1]), "r"(fragment[2]), "r"(fragment[3]));
    if (KIND == BF16 && FROM == 2)
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, -1, 1, 0, 0;" : D4F : "l"(da), "l"(db));
    WAIT;
    for (int i = 0; i < 4; i++) out[(first + group + 8 * (i / 2)) * N + place * 2 + i % 2] = __float_as_uint(d[i]);
}

static const Form SUMS[] = {
    {"m64n8k16.f32.f16.f16", 64, 8, 16, F16, F16, F32, sums<F16, 0>},
    {"m64n8k16.f32.bf16.bf16", 64, 8, 16, BF16, BF16, F32, sums<BF16, 0>},
    {"m64n8k8.f32.tf32.tf32", 64, 8, 8, TF32, TF32, F32, sums<TF32, 0>},
    {"m64n8k16.f32.f16.f16.registers", 64, 8, 16, F16, F16, F32, sums<F16, 1>},
    {"m64n8k16.f32.bf16.bf16.registers", 64, 8, 16, BF16, BF16, F32, sums<BF16, 1>},
    {"m64n8k16.f32.bf16.bf16.negated", 64, 8, 16, BF16, BF16, F32, sums<BF16, 2>},
};

static const int ELEMENTS = 32768;

/// Shared memory in which element i is part `part` of its number, and behind it two blocks of zeros or ones of a unit matrix.
__device__ uint8_t *numbered(int part) {
    extern __shared__ uint8_t raw[];
    uint8_t *memory = (uint8_t *)(((uintptr_t)raw + 1023) & ~(uintptr_t)1023);
    for (int i = threadIdx.x; i < ELEMENTS; i += 128)
        ((uint16_t *)memory)[i] = __float_as_uint((float)(part ? i >> 7 : i & 127)) >> 16;
    // A unit matrix of 16 x 16, by columns of B: 2 x 2 blocks of 8 rows of 16 bytes.
    uint16_t *unit = (uint16_t *)(memory + 2 * ELEMENTS);
    for (int i = threadIdx.x; i < 256; i += 128) {
        int n = i / 16, k = i % 16;
        unit[n / 8 * 128 + k / 8 * 64 + n % 8 * 8 + k % 8] = n == k ? 0x3f80 : 0;
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    return memory;
}

/// Numbers of the elements that a descriptor of A reaches: 64 x 16.
template <int TRANS> __global__ void places_a(uint32_t start, uint32_t leading, uint32_t stride, uint32_t swizzle, uint32_t base,
                                              int part, uint32_t *out) {
    uint8_t *memory = numbered(part);
    uint32_t first = (uint32_t)__cvta_generic_to_shared(memory);
    uint64_t da = descriptor(first + start, leading, stride, swizzle, base), db = descriptor(first + 2 * ELEMENTS, 128, 256, 0);
    float d[8] = {};
    FENCE;
    asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 1, 1, 1, %10, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                 : "l"(da), "l"(db), "n"(TRANS));
    WAIT;
    int lane = threadIdx.x % 32;
    for (int i = 0; i < 8; i++)
        out[(threadIdx.x / 32 * 16 + lane / 4 + i / 2 % 2 * 8) * 16 + i / 4 * 8 + lane % 4 * 2 + i % 2] |= (uint32_t)d[i] << (part ? 7 : 0);
}

/// Numbers of the elements that a descriptor of B reaches: 16 x 128.
template <int TRANS> __global__ void places_b(uint32_t start, uint32_t leading, uint32_t stride, uint32_t swizzle, uint32_t base,
                                              int part, uint32_t *out) {
    uint8_t *memory = numbered(part);
    uint64_t db = descriptor((uint32_t)__cvta_generic_to_shared(memory) + start, leading, stride, swizzle, base);
    float d[64] = {};
    uint32_t a[4] = {};
    int lane = threadIdx.x % 32, group = lane / 4, place = lane % 4;
    // A unit matrix in the first 16 rows.
    for (int r = 0; r < 4 && threadIdx.x < 32; r++)
        for (int e = 0; e < 2; e++)
            if (group + 8 * (r & 1) == (r >> 1) * 8 + place * 2 + e) a[r] |= 0x3f80u << 16 * e;
    FENCE;
#define W8(i) "%" #i "0, %" #i "1, %" #i "2, %" #i "3, %" #i "4, %" #i "5, %" #i "6, %" #i "7, %" #i "8, %" #i "9"
#define F8(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, " W8(1) ", " W8(2)
                 ", " W8(3) ", " W8(4) ", " W8(5) ", %60, %61, %62, %63}, {%64, %65, %66, %67}, %68, 1, 1, 1, %69;"
                 : F8(0), F8(8), F8(16), F8(24), F8(32), F8(40), F8(48), F8(56)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(db), "n"(TRANS));
    WAIT;
    if (threadIdx.x < 32)
        for (int i = 0; i < 64; i++)
            out[(group + i / 2 % 2 * 8) * 128 + i / 4 * 8 + place * 2 + i % 2] |= (uint32_t)d[i] << (part ? 7 : 0);
}

typedef void (*Places)(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, int, uint32_t *);

int main(int count, char **arguments) {
    int whole = count > 1 ? atoi(arguments[1]) : 0;
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0), "no device");
    printf("wgmma sweep 1, %s, compute capability %d.%d\n", device.name, device.major, device.minor);
    for (int form = 0; form < (int)(sizeof SUMS / sizeof *SUMS); form++) {
        const Form &f = SUMS[form];
        int sa = f.m * f.k, sb = f.k * f.n, sc = f.m * f.n;
        std::vector<uint64_t> a(sa * TILES), b(sb * TILES), c(sc * TILES), d(sc * TILES);
        for (int tile = 0; tile < TILES; tile++)
            generate(f, 32 + form, tile, &a[tile * sa], &b[tile * sb], &c[tile * sc]);
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
    uint32_t *out;
    const int bytes = 2 * ELEMENTS + 512 + 1024;
    check(cudaMalloc(&out, 2048 * 4), "cudaMalloc");
    const Places KERNELS[4] = {places_a<0>, places_a<1>, places_b<0>, places_b<1>};
    const char *NAMES[4] = {"a", "a.trans", "b", "b.trans"};
    for (int kernel = 0; kernel < 4; kernel++) {
        check(cudaFuncSetAttribute(KERNELS[kernel], cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "shared memory");
        Random random = {mix(SEED ^ (uint64_t)(64 + kernel))};
        for (int i = 0; i < 96; i++) {
            // The first half: aligned starts and strides; then starts at any 16 bytes, and a base offset now and then.
            uint64_t r = random.next();
            uint32_t swizzle = i % 4, unit = i < 48 ? 1024 : 16;
            uint32_t start = r % 4 * unit % 4096, leading = (r >> 8) % 128 * 16, stride = (r >> 20) % 128 * 16;
            if (i < 48) { leading = (1 + (r >> 8) % 3) * 1024; stride = (1 + (r >> 20) % 2) * 1024; }
            else start = (r >> 40) % 128 * 16;
            uint32_t base = i >= 80 ? (r >> 52) % 8 : 0;
            check(cudaMemset(out, 0, 2048 * 4), "cudaMemset");
            for (int part = 0; part < 2; part++) KERNELS[kernel]<<<1, 128, bytes>>>(start, leading, stride, swizzle, base, part, out);
            uint32_t places[2048];
            check(cudaMemcpy(places, out, sizeof places, cudaMemcpyDeviceToHost), NAMES[kernel]);
            int length = kernel < 2 ? 1024 : 2048;
            uint64_t digest = 0;
            for (int j = 0; j < length; j++) digest = mix(digest ^ places[j]) + 0x9e3779b97f4a7c15ull;
            printf("places %s %u %u %u %u %u %08x\n", NAMES[kernel], start, leading, stride, swizzle, base, (unsigned)(digest >> 32));
            if (whole) {
                printf("map");
                for (int j = 0; j < length; j++) printf(" %x", places[j]);
                printf("\n");
            }
        }
    }
    return 0;
}

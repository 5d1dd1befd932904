//! What a GPU's `wgmma.mma_async` gives: its sums, and where its descriptors read; `crates/simt/tests/wgmma.rs` compares.
//!
//!     nvcc -O2 -std=c++17 -gencode arch=compute_90a,code=sm_90a wgmma.cu -o wgmma && ./wgmma > crates/simt/fixtures/wgmma.txt
//!
//! Sums: the tiles of `tiles.cuh`, with 64 rows. Places: shared memory holds 32768 elements, each its own number (its lower 7
//! bits in one launch, its upper 8 in another), and the other operand is a unit matrix, so that a result is the number of
//! an element that the descriptor reached.

#include "wgmma.cuh"

SHARED(W0, "m64n8k16.f32.f16.f16", ", 1, 1, 0, 0");
SHARED(W1, "m64n8k16.f32.bf16.bf16", ", 1, 1, 0, 0");
SHARED(W2, "m64n8k8.f32.tf32.tf32", ", 1, 1");
REGISTERS(W3, "m64n8k16.f32.f16.f16", ", 1, 1, 0");
REGISTERS(W4, "m64n8k16.f32.bf16.bf16", ", 1, 1, 0");
SHARED(W5, "m64n8k16.f32.bf16.bf16", ", -1, 1, 0, 0");

static const Form SUMS[] = {
    {"m64n8k16.f32.f16.f16", 64, 8, 16, F16, F16, F32, sums<W0, uint16_t>},
    {"m64n8k16.f32.bf16.bf16", 64, 8, 16, BF16, BF16, F32, sums<W1, uint16_t>},
    {"m64n8k8.f32.tf32.tf32", 64, 8, 8, TF32, TF32, F32, sums<W2, uint32_t>},
    {"m64n8k16.f32.f16.f16.registers", 64, 8, 16, F16, F16, F32, sums<W3, uint16_t>},
    {"m64n8k16.f32.bf16.bf16.registers", 64, 8, 16, BF16, BF16, F32, sums<W4, uint16_t>},
    {"m64n8k16.f32.bf16.bf16.negated", 64, 8, 16, BF16, BF16, F32, sums<W5, uint16_t>},
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
    begin("wgmma sweep");
    multiply(SUMS, 32, 128, whole);
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
            printf("places %s %u %u %u %u %u %08x\n", NAMES[kernel], start, leading, stride, swizzle, base, digest(places, length));
            if (whole) {
                printf("map");
                for (int j = 0; j < length; j++) printf(" %x", places[j]);
                printf("\n");
            }
        }
    }
}

//! What a GPU's `mma.sync` gives for generated matrices; `crates/simt/tests/mma.rs` generates the same.
//!
//!     nvcc -O2 -arch=sm_90 sweep.cu -o sweep && ./sweep 0 > crates/simt/fixtures/mma.txt
//!
//! The argument is how many tiles of each form are printed whole (576 for all); every tile has a digest. Matrices are row-major, one
//! 64-bit word per element; the lanes pick their fragments by the layouts of "Matrix Fragments for mma" (PTX ISA).

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int TILES = 576;
static const uint64_t SEED = 0x636f616c65736365ull;

enum Kind { F16, BF16, TF32, F32, F64, S8, U8, S32, E4M3, E5M2 };
enum Role { A, B, C };

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

struct Random {
    uint64_t state;
    uint64_t next() { return mix(state += 0x9e3779b97f4a7c15ull); }
};

static int exponent_bits(Kind k) { return k == F16 || k == E5M2 ? 5 : k == E4M3 ? 4 : k == F64 ? 11 : 8; }
static int mantissa_bits(Kind k) { return k == E4M3 ? 3 : k == E5M2 ? 2 : k == F16 || k == TF32 ? 10 : k == BF16 ? 7 : k == F32 ? 23 : 52; }
static int storage_shift(Kind k) { return k == TF32 ? 13 : 0; }

/// One element. `style` is the kind of trouble that the tile makes, `narrow` whether its A and B have 5 bits of exponent or fewer.
static uint64_t element(Kind kind, Role role, int style, bool narrow, Random &random) {
    uint64_t r = random.next(), s = random.next();
    if (kind == S8 || kind == U8 || kind == S32) {
        static const uint64_t EXTREMES[4] = {0x80000080ull, 0x7fffffffull, 0xffffffffull, 0};
        uint64_t bits = style % 2 ? EXTREMES[s % 4] : r;
        if (kind != S32 && style % 2 && s % 4 == 1) bits = 0x7f;
        return bits & (kind == S32 ? 0xffffffffull : 0xffull);
    }
    int e = exponent_bits(kind), m = mantissa_bits(kind), shift = storage_shift(kind);
    if (style == 5) return e + m == 63 ? r : r & ((1ull << (1 + e + m + shift)) - 1);
    int bias = (1 << (e - 1)) - 1, top = (1 << e) - 1;
    uint64_t sign = r >> 63, mantissa = r & ((1ull << m) - 1);
    int pick = (int)(s & 0x3fffffff), other = (int)(s >> 34);
    int exponent = bias + pick % 5 - 2;
    switch (style) {
    case 1: exponent = bias + pick % 31 - 15; break;
    case 2: exponent = role == C ? bias + pick % 25 - 20 : bias + pick % 13 - 6; break;
    case 3:
        if (role == A) exponent = other % 2 ? 0 : pick % 4;
        else if (role == B) exponent = bias + pick % 9 - 4;
        else exponent = narrow && kind == F32 ? bias - 24 + pick % 9 : pick % 6;
        break;
    case 6:
        if (role == A) exponent = bias + pick % 4 - 8 + (other % 8 == 0 ? 12 : 0);
        else if (role == B) exponent = bias + pick % 4 - 2;
        else exponent = bias + pick % 16 - 12;
        break;
    case 7: exponent = bias + pick % 31 - 15; break;
    case 8: // Results at the lower end of the type, and below it.
        if (role == A) exponent = pick % 12;
        else if (role == B) exponent = bias - 40 + pick % 24;
        else { exponent = 0; mantissa &= other % 8 == 0 ? 0xff : 0; }
        break;
    }
    if (exponent < 0) exponent = 0;
    if (exponent > top - 1) exponent = top - 1;
    if (style == 4) {
        int which = other % 128;
        if (which < 2) { exponent = top; mantissa = which == 0 ? 0 : mantissa | 1; }
        else if (which < 34) { exponent = 0; mantissa = 0; }
    }
    if (style == 7 && other % 16 != 0) { exponent = 0; mantissa = 0; }
    return ((sign << (e + m)) | ((uint64_t)exponent << m) | mantissa) << shift;
}

struct Form {
    const char *name;
    int m, n, k;
    Kind a, b, c;
    void (*kernel)(const uint64_t *, const uint64_t *, const uint64_t *, uint64_t *);
};

static void generate(const Form &f, int form, int tile, uint64_t *a, uint64_t *b, uint64_t *c) {
    Random random = {mix(SEED ^ ((uint64_t)form << 32) ^ (uint64_t)tile)};
    int style = tile < 512 ? tile % 8 : 8;
    bool narrow = f.a == F16 || f.a >= E4M3, is_float = f.a <= F64 || f.a >= E4M3;
    for (int i = 0; i < f.m * f.k; i++) a[i] = element(f.a, A, style, narrow, random);
    for (int i = 0; i < f.k * f.n; i++) b[i] = element(f.b, B, style, narrow, random);
    for (int i = 0; i < f.m * f.n; i++) c[i] = element(f.c, C, style, narrow, random);
    if (style != 2 || !is_float) return;
    // Neighbours along K cancel, some of them all but the last bit.
    uint64_t sign = 1ull << (exponent_bits(f.a) + mantissa_bits(f.a) + storage_shift(f.a));
    for (int row = 0; row < f.m; row++)
        for (int k = 1; k < f.k; k += 2) a[row * f.k + k] = a[row * f.k + k - 1];
    for (int k = 1; k < f.k; k += 2)
        for (int col = 0; col < f.n; col++) {
            uint64_t flip = random.next() % 4 == 0 ? 1ull << storage_shift(f.a) : 0;
            b[k * f.n + col] = b[(k - 1) * f.n + col] ^ sign ^ flip;
        }
}

/// The fragments of a lane: `PER` elements of `BITS` bits per register of A and B, `CPER` per register of C.
template <int M, int N, int K, int BITS, int CBITS> struct Shape {
    static const int PER = BITS < 32 ? 32 / BITS : 1;
    static const int CPER = CBITS < 32 ? 32 / CBITS : 1;
    static const int AR = M * K / 32 / PER, BR = K * N / 32 / PER, CR = M * N / 32 / CPER;
};

template <class F>
__global__ void run(const uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t *d) {
    typedef typename F::S S;
    typedef typename F::Register Register;
    const int M = F::M, N = F::N, K = F::K, P = S::PER;
    a += blockIdx.x * M * K; b += blockIdx.x * K * N; c += blockIdx.x * M * N; d += blockIdx.x * M * N;
    int group = threadIdx.x / 4, place = threadIdx.x % 4;
    Register fa[S::AR] = {}, fb[S::BR] = {}, fc[S::CR] = {}, fd[S::CR] = {};
    for (int r = 0; r < S::AR; r++)
        for (int e = 0; e < P; e++) {
            int row = M == 8 ? group : group + 8 * (r & 1), k = (M == 8 ? r : r >> 1) * 4 * P + place * P + e;
            fa[r] |= (Register)a[row * K + k] << (e * (32 / P)) % 64;
        }
    for (int r = 0; r < S::BR; r++)
        for (int e = 0; e < P; e++) fb[r] |= (Register)b[(r * 4 * P + place * P + e) * N + group] << (e * (32 / P)) % 64;
    for (int i = 0; i < M * N / 32; i++)
        fc[i / S::CPER] |= (Register)c[(group + 8 * (i / 2)) * N + place * 2 + i % 2] << (S::CPER == 2 ? i % 2 * 16 : 0);
    F::mma(fd, fa, fb, fc);
    for (int i = 0; i < M * N / 32; i++) {
        uint64_t value = fd[i / S::CPER];
        if (S::CPER == 2) value = value >> (i % 2 * 16) & 0xffff;
        d[(group + 8 * (i / 2)) * N + place * 2 + i % 2] = value;
    }
}

#define D4 "{%0, %1, %2, %3}"
#define OUT4 "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
#define IN4 "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3])
#define ASM_2_1_4(text) asm volatile(text " " D4 ", {%4, %5}, {%6}, {%7, %8, %9, %10};" \
    : OUT4 : "r"(a[0]), "r"(a[1]), "r"(b[0]), IN4)
#define ASM_4_2_4(text) asm volatile(text " " D4 ", {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};" \
    : OUT4 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), IN4)
#define ASM_2_1_2(text) asm volatile(text " {%0, %1}, {%2, %3}, {%4}, {%5, %6};" \
    : "=r"(d[0]), "=r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]))
#define ASM_4_2_2(text) asm volatile(text " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};" \
    : "=r"(d[0]), "=r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]))

#define FORM(id, m, n, k, bits, cbits, body, text) struct id { \
    static const int M = m, N = n, K = k; \
    typedef Shape<m, n, k, bits, cbits> S; \
    typedef uint32_t Register; \
    static __device__ void mma(Register *d, const Register *a, const Register *b, const Register *c) { \
        body("mma.sync.aligned.m" #m "n" #n "k" #k ".row.col." text); } }

FORM(F0, 16, 8, 8, 16, 32, ASM_2_1_4, "f32.f16.f16.f32");
FORM(F1, 16, 8, 16, 16, 32, ASM_4_2_4, "f32.f16.f16.f32");
FORM(F2, 16, 8, 8, 16, 16, ASM_2_1_2, "f16.f16.f16.f16");
FORM(F3, 16, 8, 16, 16, 16, ASM_4_2_2, "f16.f16.f16.f16");
FORM(F4, 16, 8, 8, 16, 32, ASM_2_1_4, "f32.bf16.bf16.f32");
FORM(F5, 16, 8, 16, 16, 32, ASM_4_2_4, "f32.bf16.bf16.f32");
FORM(F6, 16, 8, 4, 32, 32, ASM_2_1_4, "f32.tf32.tf32.f32");
FORM(F7, 16, 8, 8, 32, 32, ASM_4_2_4, "f32.tf32.tf32.f32");
FORM(F8, 16, 8, 16, 8, 32, ASM_2_1_4, "s32.s8.s8.s32");
FORM(F9, 16, 8, 16, 8, 32, ASM_2_1_4, "s32.s8.u8.s32");
FORM(F10, 16, 8, 16, 8, 32, ASM_2_1_4, "s32.u8.s8.s32");
FORM(F11, 16, 8, 16, 8, 32, ASM_2_1_4, "s32.u8.u8.s32");
FORM(F12, 16, 8, 32, 8, 32, ASM_4_2_4, "s32.s8.s8.s32");
FORM(F13, 16, 8, 32, 8, 32, ASM_4_2_4, "s32.s8.u8.s32");
FORM(F14, 16, 8, 32, 8, 32, ASM_4_2_4, "s32.u8.s8.s32");
FORM(F15, 16, 8, 32, 8, 32, ASM_4_2_4, "s32.u8.u8.s32");
FORM(F16S, 16, 8, 16, 8, 32, ASM_2_1_4, "satfinite.s32.s8.s8.s32");
FORM(F17S, 16, 8, 32, 8, 32, ASM_4_2_4, "satfinite.s32.s8.s8.s32");
struct F18 {
    static const int M = 8, N = 8, K = 4;
    typedef Shape<8, 8, 4, 64, 64> S;
    typedef uint64_t Register;
    static __device__ void mma(Register *d, const Register *a, const Register *b, const Register *c) {
        double x, y;
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
            : "=d"(x), "=d"(y) : "d"(__longlong_as_double(a[0])), "d"(__longlong_as_double(b[0])),
              "d"(__longlong_as_double(c[0])), "d"(__longlong_as_double(c[1])));
        d[0] = __double_as_longlong(x); d[1] = __double_as_longlong(y);
    }
};

static const Form FORMS[] = {
    {"m16n8k8.f32.f16.f16.f32", 16, 8, 8, F16, F16, F32, run<F0>},
    {"m16n8k16.f32.f16.f16.f32", 16, 8, 16, F16, F16, F32, run<F1>},
    {"m16n8k8.f16.f16.f16.f16", 16, 8, 8, F16, F16, F16, run<F2>},
    {"m16n8k16.f16.f16.f16.f16", 16, 8, 16, F16, F16, F16, run<F3>},
    {"m16n8k8.f32.bf16.bf16.f32", 16, 8, 8, BF16, BF16, F32, run<F4>},
    {"m16n8k16.f32.bf16.bf16.f32", 16, 8, 16, BF16, BF16, F32, run<F5>},
    {"m16n8k4.f32.tf32.tf32.f32", 16, 8, 4, TF32, TF32, F32, run<F6>},
    {"m16n8k8.f32.tf32.tf32.f32", 16, 8, 8, TF32, TF32, F32, run<F7>},
    {"m16n8k16.s32.s8.s8.s32", 16, 8, 16, S8, S8, S32, run<F8>},
    {"m16n8k16.s32.s8.u8.s32", 16, 8, 16, S8, U8, S32, run<F9>},
    {"m16n8k16.s32.u8.s8.s32", 16, 8, 16, U8, S8, S32, run<F10>},
    {"m16n8k16.s32.u8.u8.s32", 16, 8, 16, U8, U8, S32, run<F11>},
    {"m16n8k32.s32.s8.s8.s32", 16, 8, 32, S8, S8, S32, run<F12>},
    {"m16n8k32.s32.s8.u8.s32", 16, 8, 32, S8, U8, S32, run<F13>},
    {"m16n8k32.s32.u8.s8.s32", 16, 8, 32, U8, S8, S32, run<F14>},
    {"m16n8k32.s32.u8.u8.s32", 16, 8, 32, U8, U8, S32, run<F15>},
    {"m16n8k16.satfinite.s32.s8.s8.s32", 16, 8, 16, S8, S8, S32, run<F16S>},
    {"m16n8k32.satfinite.s32.s8.s8.s32", 16, 8, 32, S8, S8, S32, run<F17S>},
    {"m8n8k4.f64.f64.f64.f64", 8, 8, 4, F64, F64, F64, run<F18>},
};

static void check(cudaError_t code, const char *what) {
    if (code == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
    exit(1);
}

static uint64_t *upload(const std::vector<uint64_t> &from) {
    uint64_t *to;
    check(cudaMalloc(&to, from.size() * 8), "cudaMalloc");
    check(cudaMemcpy(to, from.data(), from.size() * 8, cudaMemcpyHostToDevice), "copy to the device");
    return to;
}

int main(int count, char **arguments) {
    int whole = count > 1 ? atoi(arguments[1]) : 16;
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0), "no device");
    printf("mma sweep 1, %s, compute capability %d.%d\n", device.name, device.major, device.minor);
    for (int form = 0; form < (int)(sizeof FORMS / sizeof *FORMS); form++) {
        const Form &f = FORMS[form];
        int sa = f.m * f.k, sb = f.k * f.n, sc = f.m * f.n;
        std::vector<uint64_t> a(sa * TILES), b(sb * TILES), c(sc * TILES), d(sc * TILES);
        for (int tile = 0; tile < TILES; tile++)
            generate(f, form, tile, &a[tile * sa], &b[tile * sb], &c[tile * sc]);
        uint64_t *da = upload(a), *db = upload(b), *dc = upload(c), *dd = upload(d);
        f.kernel<<<TILES, 32>>>(da, db, dc, dd);
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

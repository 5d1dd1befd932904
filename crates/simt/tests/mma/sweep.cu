//! What a GPU's `mma.sync` gives for generated matrices; `crates/simt/tests/mma.rs` generates the same.
//!
//!     nvcc -O2 -arch=sm_90 sweep.cu -o sweep && ./sweep 0 > crates/simt/fixtures/mma.txt
//!
//! The argument is how many tiles of each form are printed whole (576 for all); every tile has a digest. The lanes
//! pick their fragments by the layouts of "Matrix Fragments for mma" (PTX ISA).

#include "tiles.cuh"

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

static constexpr int bits_of(Kind k) { return k == S8 || k == U8 || k >= E4M3 ? 8 : k == F16 || k == BF16 ? 16 : 32; }

#define FORM(id, m, n, k, ka, kb, kc, body, text) struct id { \
    static const int M = m, N = n, K = k; \
    typedef Shape<m, n, k, bits_of(ka), bits_of(kc)> S; \
    typedef uint32_t Register; \
    static __device__ void mma(Register *d, const Register *a, const Register *b, const Register *c) { \
        body("mma.sync.aligned.m" #m "n" #n "k" #k ".row.col." text); } };
#define ROW(id, m, n, k, a, b, c, body, text) {"m" #m "n" #n "k" #k "." text, m, n, k, a, b, c, run<id>},

#define FORMS_OF(X) \
    X(F0, 16, 8, 8, F16, F16, F32, ASM_2_1_4, "f32.f16.f16.f32") \
    X(F1, 16, 8, 16, F16, F16, F32, ASM_4_2_4, "f32.f16.f16.f32") \
    X(F2, 16, 8, 8, F16, F16, F16, ASM_2_1_2, "f16.f16.f16.f16") \
    X(F3, 16, 8, 16, F16, F16, F16, ASM_4_2_2, "f16.f16.f16.f16") \
    X(F4, 16, 8, 8, BF16, BF16, F32, ASM_2_1_4, "f32.bf16.bf16.f32") \
    X(F5, 16, 8, 16, BF16, BF16, F32, ASM_4_2_4, "f32.bf16.bf16.f32") \
    X(F6, 16, 8, 4, TF32, TF32, F32, ASM_2_1_4, "f32.tf32.tf32.f32") \
    X(F7, 16, 8, 8, TF32, TF32, F32, ASM_4_2_4, "f32.tf32.tf32.f32") \
    X(F8, 16, 8, 16, S8, S8, S32, ASM_2_1_4, "s32.s8.s8.s32") \
    X(F9, 16, 8, 16, S8, U8, S32, ASM_2_1_4, "s32.s8.u8.s32") \
    X(F10, 16, 8, 16, U8, S8, S32, ASM_2_1_4, "s32.u8.s8.s32") \
    X(F11, 16, 8, 16, U8, U8, S32, ASM_2_1_4, "s32.u8.u8.s32") \
    X(F12, 16, 8, 32, S8, S8, S32, ASM_4_2_4, "s32.s8.s8.s32") \
    X(F13, 16, 8, 32, S8, U8, S32, ASM_4_2_4, "s32.s8.u8.s32") \
    X(F14, 16, 8, 32, U8, S8, S32, ASM_4_2_4, "s32.u8.s8.s32") \
    X(F15, 16, 8, 32, U8, U8, S32, ASM_4_2_4, "s32.u8.u8.s32") \
    X(F16S, 16, 8, 16, S8, S8, S32, ASM_2_1_4, "satfinite.s32.s8.s8.s32") \
    X(F17S, 16, 8, 32, S8, S8, S32, ASM_4_2_4, "satfinite.s32.s8.s8.s32")

#define BYTES_OF(X) \
    X(F19, 16, 8, 16, E4M3, E4M3, F32, ASM_2_1_4, "f32.e4m3.e4m3.f32") \
    X(F20, 16, 8, 16, E5M2, E5M2, F16, ASM_2_1_2, "f16.e5m2.e5m2.f16") \
    X(F21, 16, 8, 32, E4M3, E4M3, F32, ASM_4_2_4, "f32.e4m3.e4m3.f32") \
    X(F22, 16, 8, 32, E4M3, E5M2, F32, ASM_4_2_4, "f32.e4m3.e5m2.f32") \
    X(F23, 16, 8, 32, E5M2, E4M3, F32, ASM_4_2_4, "f32.e5m2.e4m3.f32") \
    X(F24, 16, 8, 32, E5M2, E5M2, F32, ASM_4_2_4, "f32.e5m2.e5m2.f32") \
    X(F25, 16, 8, 32, E4M3, E5M2, F16, ASM_4_2_2, "f16.e4m3.e5m2.f16")

FORMS_OF(FORM)
BYTES_OF(FORM)
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
    FORMS_OF(ROW)
    {"m8n8k4.f64.f64.f64.f64", 8, 8, 4, F64, F64, F64, run<F18>},
    BYTES_OF(ROW)
};

int main(int count, char **arguments) {
    begin("mma sweep");
    multiply(FORMS, 0, 32, count > 1 ? atoi(arguments[1]) : 16);
}

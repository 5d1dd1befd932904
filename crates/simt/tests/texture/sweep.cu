//! What a GPU's texture and surface instructions give for generated images and coordinates;
//! `crates/simt/tests/texture.rs` generates the same and compares.
//!
//!     nvcc -O2 -std=c++17 -arch=sm_90 sweep.cu -o sweep && ./sweep [raw.bin] > crates/simt/fixtures/texture.txt
//!
//! The argument is a file for all results; without it only digests are kept: one per 256 samples of a group. A group
//! is one image, one description of how to read it, and one instruction.

// A driver refuses modules that ask a handle for more than its extent: 6 leaves those questions out.
#ifndef NO
#define NO 6
#endif

#include "../sweep.cuh"

static const uint64_t SEED = 0x7465787475726573ull;
static const int SAMPLES_PER_DIGEST = 256;

enum Format { U8, S8, U16, S16, U32, S32, F16, F32 };
/// The geometry of an image: `LINEAR` and `PITCH` are memory, the others arrays.
enum Kind { LINEAR, PITCH, A1D, A2D, A3D, L1D, L2D, CUBE, LCUBE };
/// `I..`: integer coordinates.
enum Op {
    T1D, T2D, T3D, TA1D, TA2D, TCUBE, TACUBE,
    I1D, I2D, I3D, IA1D, IA2D,
    GATHER_R, GATHER_G, GATHER_B, GATHER_A,
    LEVEL1D, LEVEL2D, LEVEL3D, LEVELA2D, LEVELCUBE, ILEVEL2D, GRAD1D, GRAD2D,
    SULD1, SULD2, SULD3, SULDA1, SULDA2, SULDZ1, SULDZ2, SULDZ3, SULDZA1, SULDZA2, SULDV4, SULDB8, SULDB16, SULDV2B64,
    SUST2, SUSTZ2, SUSTP2
};
/// What the texels hold: moderate numbers, any bits, their own place, or one of them is one and the others zero.
enum Content { MODERATE, ANY, PLACE, ONE };
/// How coordinates are picked: near the image and special values; inside and fine; all steps of a 512th between three texels.
enum Points { WILD, GRID };
enum Mode { WRAP, CLAMP, MIRROR, BORDER };

struct Group {
    Op op; Kind kind;
    int w, h, d, levels;      // d: depth or layers
    Format format; int channels;
    int to_float;             // integers are read as normalized floats
    int linear, mode[3], normalized;
    Content content; Points points; int samples;
    int mip_linear; float bias, low, high; int exact_trilinear;
};

static int bytes_of(Format f) { return f <= S8 ? 1 : f <= S16 || f == F16 ? 2 : 4; }

/// One channel of one texel, as bits of the format.
static uint32_t texel(const Group &g, uint64_t seed, int level, int z, int y, int x, int c) {
    uint32_t place[4] = {(uint32_t)x, (uint32_t)y, (uint32_t)z, (uint32_t)level};
    uint32_t whole = place[c];
    if (g.content == ONE) whole = x == 3 && (g.h <= 1 || y == 3) && (g.d <= 1 || z == 3);
    if (g.content == PLACE || g.content == ONE) {
        float f = (float)whole;
        uint32_t bits;
        memcpy(&bits, &f, 4);
        if (g.format == F32) return bits;
        if (g.format == F16) return whole ? (bits >> 13) - (112 << 10) : 0;
        return whole;
    }
    uint64_t r = mix(seed + 0x9e3779b97f4a7c15ull * (uint64_t)(1 + c + 4 * (x + 4096 * (y + 4096 * (z + 256 * (uint64_t)level)))));
    uint64_t s = mix(r ^ SEED);
    if (g.content == MODERATE && g.format == F32) {
        uint32_t e = 127 + (uint32_t)(s % 17) - 8;
        return (uint32_t)(r & 0x807fffff) | e << 23;
    }
    if (g.content == MODERATE && g.format == F16) {
        uint32_t e = 15 + (uint32_t)(s % 9) - 4;
        return (uint32_t)(r & 0x83ff) | e << 10;
    }
    if (s % 8 == 0) r = (s >> 8) % 2 ? ~0ull : 1ull << (bytes_of(g.format) * 8 - 1);
    if (s % 8 == 1) r = (s >> 8) % 2 ? 0 : (1ull << (bytes_of(g.format) * 8 - 1)) - 1;
    return (uint32_t)(r & (0xffffffffull >> (32 - 8 * bytes_of(g.format))));
}

static float from_bits(uint32_t bits) { float f; memcpy(&f, &bits, 4); return f; }
static uint32_t to_bits(float f) { uint32_t bits; memcpy(&bits, &f, 4); return bits; }

/// A coordinate in texels of an axis with `n` of them; then divided by `n` if normalized.
static uint32_t coordinate(const Group &g, int n, uint64_t r) {
    uint64_t s = mix(r ^ SEED);
    float texels;
    switch (s % 8) {
    case 0: case 1: case 2: texels = (float)((int)(r % (4ull * n * 4096)) - 3 * n * 2048) / 4096.0f; break;
    case 3: texels = (float)((int)(r % (4ull * n * 512)) - 3 * n * 256) / 512.0f; break;
    case 4: {
        uint32_t bits = to_bits((float)((int)(r % (8ull * n)) - 3 * n) / 2.0f);
        texels = from_bits(bits + (uint32_t)((r >> 32) % 3) - 1);
        break;
    }
    case 5: return (uint32_t)(r & 0x807fffff) | (uint32_t)(90 + (r >> 32) % 90) << 23;
    case 6: {
        static const uint32_t SPECIAL[24] = {
            0x7fc00000, 0xffc00000, 0x7f800001, 0x7f800000, 0xff800000, 0x00000000, 0x80000000, 0x00000001,
            0x80000001, 0x7f7fffff, 0xff7fffff, 0x4f000000, 0xcf000000, 0x4f800000, 0xcf800000, 0x4b800000,
            0xcb800000, 0x4b000000, 0xcb000000, 0x5f000000, 0xdf000000, 0x47000000, 0xc7000000, 0x4a800001};
        return SPECIAL[(r >> 8) % 24];
    }
    default: texels = (float)(uint32_t)(r >> 40) / 16777216.0f * (float)n; break;
    }
    return to_bits(g.normalized ? texels / (float)n : texels);
}

/// An integer coordinate of an axis with `n` places.
static uint32_t whole(int n, uint64_t r) {
    static const uint32_t SPECIAL[8] = {0x7fffffff, 0x80000000, 0xffffffff, 0x01000000, 0xff000000, 0x00010000, 0xffff0000, 0x80000001};
    uint64_t s = mix(r ^ SEED);
    if (s % 16 == 0) return SPECIAL[(r >> 8) % 8];
    return (uint32_t)((int)(r % (5ull * n)) - 2 * n);
}

/// A part of a direction of a cube map.
static uint32_t direction(uint64_t r) {
    uint64_t s = mix(r ^ SEED);
    if (s % 8 == 0) return to_bits((float)((int)(r % 9) - 4) / 4.0f);
    if (s % 32 == 1) return (uint32_t)(r & 0x807fffff) | (uint32_t)(90 + (r >> 32) % 90) << 23;
    if (s % 64 == 2) return (s >> 8) % 2 ? 0x7fc00000 : (s >> 9) % 2 ? 0x7f800000 : 0xff800000;
    return to_bits((float)((int)(r % 65536) - 32768) / 16384.0f);
}

static uint32_t level(const Group &g, uint64_t r) {
    uint64_t s = mix(r ^ SEED);
    if (s % 16 == 0) { static const uint32_t SPECIAL[4] = {0x7fc00000, 0x7f800000, 0xff800000, 0x7149f2ca}; return SPECIAL[r % 4]; }
    if (s % 4 == 1) return to_bits((float)((int)(r % (4096 * (g.levels + 4))) - 8192) / 4096.0f);
    return to_bits((float)((int)(r % (512 * (g.levels + 4))) - 1024) / 512.0f);
}

static uint32_t gradient(uint64_t r) {
    uint64_t s = mix(r ^ SEED);
    if (s % 4 == 0) return 0;
    return to_bits((float)((int)(r % 65536) - 32768) / (float)(1 << (10 + s / 4 % 8)));
}

/// The four words of a sample.
static void sample(const Group &g, int group, int i, uint32_t *at) {
    uint64_t r[6];
    for (int k = 0; k < 6; k++) r[k] = mix(SEED ^ (uint64_t)group << 40 ^ (uint64_t)i << 8 ^ (uint64_t)k);
    memset(at, 0, 32);
    int n[3] = {g.w, g.h, g.d};
    if (g.points == GRID) {
        if (g.kind == A1D) at[0] = to_bits(2.5f + (float)i / 8192.0f);
        else if (g.kind == A2D) { at[0] = to_bits(2.5f + (float)(i % 512) / 256.0f); at[1] = to_bits(2.5f + (float)(i / 512) / 256.0f); }
        else for (int k = 0; k < 3; k++) at[k] = to_bits(2.5f + (float)(r[k] % 512) / 256.0f);
        return;
    }
    switch (g.op) {
    case T3D: case LEVEL3D: at[2] = coordinate(g, n[2], r[2]); // falls through
    case T2D: case GATHER_R: case GATHER_G: case GATHER_B: case GATHER_A: case LEVEL2D: case GRAD2D:
        at[1] = coordinate(g, n[1], r[1]); // falls through
    case T1D: case LEVEL1D: case GRAD1D: at[0] = coordinate(g, n[0], r[0]); break;
    case TA2D: case LEVELA2D: at[1] = coordinate(g, n[1], r[1]); // falls through
    case TA1D: at[0] = coordinate(g, n[0], r[0]); at[3] = whole(n[2], r[2]); break;
    case TACUBE: at[3] = whole(n[2] / 6, r[3]); // falls through
    case TCUBE: case LEVELCUBE: for (int k = 0; k < 3; k++) at[k] = direction(r[k]); break;
    case IA2D: case SULDA2: case SULDZA2: at[1] = whole(n[1], r[1]); // falls through
    case IA1D: case SULDA1: case SULDZA1: at[0] = whole(n[0], r[0]); at[3] = whole(n[2], r[2]); break;
    default: for (int k = 0; k < 3; k++) at[k] = whole(n[k] ? n[k] : 1, r[k]); break;
    }
    if (g.op >= LEVEL1D && g.op <= LEVELCUBE) at[4] = level(g, r[4]);
    if (g.op == ILEVEL2D) at[4] = whole(g.levels, r[4]);
    if (g.op == GRAD1D || g.op == GRAD2D) for (int k = 0; k < 4; k++) at[4 + k] = gradient(mix(r[4] + k));
    if (g.op >= SULD1) {
        // The x of a surface counts bytes.
        at[0] *= g.channels * bytes_of(g.format);
    }
}

#define X __uint_as_float(c.x)
#define Y __uint_as_float(c.y)
#define Z __uint_as_float(c.z)
#define OUT4 "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
#define TEX(text, ...) asm volatile(text : OUT4 : "l"(object), __VA_ARGS__)
#define R4 "{%0, %1, %2, %3}, [%4, "
#define SU(text, ...) asm volatile(text : "=r"(v.x) : "l"(object), __VA_ARGS__)

/// One kernel for each instruction: a module with all in one kernel is refused by the driver.
template <int op> __global__ void run(unsigned long long object, const uint4 *points, uint4 *results, int samples) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= samples) return;
    uint4 c = points[2 * i], e = points[2 * i + 1], v = make_uint4(0, 0, 0, 0);
    switch (op) {
    case T1D: TEX("tex.1d.v4.u32.f32 " R4 "{%5}];", "f"(X)); break;
    case T2D: TEX("tex.2d.v4.u32.f32 " R4 "{%5, %6}];", "f"(X), "f"(Y)); break;
    case T3D: TEX("tex.3d.v4.u32.f32 " R4 "{%5, %6, %7, %7}];", "f"(X), "f"(Y), "f"(Z)); break;
    case TA1D: TEX("tex.a1d.v4.u32.f32 " R4 "{%5, %6}];", "r"(c.w), "f"(X)); break;
    case TA2D: TEX("tex.a2d.v4.u32.f32 " R4 "{%5, %6, %7, %7}];", "r"(c.w), "f"(X), "f"(Y)); break;
    case TCUBE: TEX("tex.cube.v4.u32.f32 " R4 "{%5, %6, %7, %7}];", "f"(X), "f"(Y), "f"(Z)); break;
    case TACUBE: TEX("tex.acube.v4.u32.f32 " R4 "{%5, %6, %7, %8}];", "r"(c.w), "f"(X), "f"(Y), "f"(Z)); break;
    case I1D: TEX("tex.1d.v4.u32.s32 " R4 "{%5}];", "r"(c.x)); break;
    case I2D: TEX("tex.2d.v4.u32.s32 " R4 "{%5, %6}];", "r"(c.x), "r"(c.y)); break;
    case I3D: TEX("tex.3d.v4.u32.s32 " R4 "{%5, %6, %7, %7}];", "r"(c.x), "r"(c.y), "r"(c.z)); break;
    case IA1D: TEX("tex.a1d.v4.u32.s32 " R4 "{%5, %6}];", "r"(c.w), "r"(c.x)); break;
    case IA2D: TEX("tex.a2d.v4.u32.s32 " R4 "{%5, %6, %7, %7}];", "r"(c.w), "r"(c.x), "r"(c.y)); break;
    case GATHER_R: TEX("tld4.r.2d.v4.u32.f32 " R4 "{%5, %6}];", "f"(X), "f"(Y)); break;
    case GATHER_G: TEX("tld4.g.2d.v4.u32.f32 " R4 "{%5, %6}];", "f"(X), "f"(Y)); break;
    case GATHER_B: TEX("tld4.b.2d.v4.u32.f32 " R4 "{%5, %6}];", "f"(X), "f"(Y)); break;
    case GATHER_A: TEX("tld4.a.2d.v4.u32.f32 " R4 "{%5, %6}];", "f"(X), "f"(Y)); break;
    case LEVEL1D: TEX("tex.level.1d.v4.u32.f32 " R4 "{%5}], %6;", "f"(X), "f"(__uint_as_float(e.x))); break;
    case LEVEL2D: TEX("tex.level.2d.v4.u32.f32 " R4 "{%5, %6}], %7;", "f"(X), "f"(Y), "f"(__uint_as_float(e.x))); break;
    case LEVEL3D: TEX("tex.level.3d.v4.u32.f32 " R4 "{%5, %6, %7, %7}], %8;", "f"(X), "f"(Y), "f"(Z), "f"(__uint_as_float(e.x))); break;
    case LEVELA2D: TEX("tex.level.a2d.v4.u32.f32 " R4 "{%5, %6, %7, %7}], %8;", "r"(c.w), "f"(X), "f"(Y), "f"(__uint_as_float(e.x))); break;
    case LEVELCUBE: TEX("tex.level.cube.v4.u32.f32 " R4 "{%5, %6, %7, %7}], %8;", "f"(X), "f"(Y), "f"(Z), "f"(__uint_as_float(e.x))); break;
#if !(NO & 8)
    case ILEVEL2D: TEX("tex.level.2d.v4.u32.s32 " R4 "{%5, %6}], %7;", "r"(c.x), "r"(c.y), "r"(e.x)); break;
#endif
    case GRAD1D: TEX("tex.grad.1d.v4.u32.f32 " R4 "{%5}], {%6}, {%7};", "f"(X), "f"(__uint_as_float(e.x)), "f"(__uint_as_float(e.y))); break;
    case GRAD2D: TEX("tex.grad.2d.v4.u32.f32 " R4 "{%5, %6}], {%7, %8}, {%9, %10};", "f"(X), "f"(Y), "f"(__uint_as_float(e.x)),
                     "f"(__uint_as_float(e.y)), "f"(__uint_as_float(e.z)), "f"(__uint_as_float(e.w))); break;
    case SULD1: SU("suld.b.1d.b32.clamp {%0}, [%1, {%2}];", "r"(c.x)); break;
    case SULD2: SU("suld.b.2d.b32.clamp {%0}, [%1, {%2, %3}];", "r"(c.x), "r"(c.y)); break;
    case SULD3: SU("suld.b.3d.b32.clamp {%0}, [%1, {%2, %3, %4, %4}];", "r"(c.x), "r"(c.y), "r"(c.z)); break;
    case SULDA1: SU("suld.b.a1d.b32.clamp {%0}, [%1, {%2, %3}];", "r"(c.w), "r"(c.x)); break;
    case SULDA2: SU("suld.b.a2d.b32.clamp {%0}, [%1, {%2, %3, %4, %4}];", "r"(c.w), "r"(c.x), "r"(c.y)); break;
    case SULDZ1: SU("suld.b.1d.b32.zero {%0}, [%1, {%2}];", "r"(c.x)); break;
    case SULDZ2: SU("suld.b.2d.b32.zero {%0}, [%1, {%2, %3}];", "r"(c.x), "r"(c.y)); break;
    case SULDZ3: SU("suld.b.3d.b32.zero {%0}, [%1, {%2, %3, %4, %4}];", "r"(c.x), "r"(c.y), "r"(c.z)); break;
    case SULDZA1: SU("suld.b.a1d.b32.zero {%0}, [%1, {%2, %3}];", "r"(c.w), "r"(c.x)); break;
    case SULDZA2: SU("suld.b.a2d.b32.zero {%0}, [%1, {%2, %3, %4, %4}];", "r"(c.w), "r"(c.x), "r"(c.y)); break;
    case SULDV4: TEX("suld.b.2d.v4.b32.clamp " R4 "{%5, %6}];", "r"(c.x), "r"(c.y)); break;
    case SULDB8: { unsigned short h; asm volatile("suld.b.2d.b8.clamp {%0}, [%1, {%2, %3}];" : "=h"(h) : "l"(object), "r"(c.x), "r"(c.y)); v.x = h; break; }
    case SULDB16: { unsigned short h; asm volatile("suld.b.2d.b16.clamp {%0}, [%1, {%2, %3}];" : "=h"(h) : "l"(object), "r"(c.x), "r"(c.y)); v.x = h; break; }
    case SULDV2B64: {
        unsigned long long a, b;
        asm volatile("suld.b.2d.v2.b64.clamp {%0, %1}, [%2, {%3, %4}];" : "=l"(a), "=l"(b) : "l"(object), "r"(c.x), "r"(c.y));
        v = make_uint4((unsigned)a, (unsigned)(a >> 32), (unsigned)b, (unsigned)(b >> 32));
        break;
    }
    case SUST2: case SUSTZ2: case SUSTP2:
        // In order, so that the last store to a place is known.
        for (int k = 0; k < samples; k++) {
            uint4 c = points[2 * k];
            unsigned value = 0x3f000000u + k * 65537u;
            if (op == SUST2) asm volatile("sust.b.2d.b32.clamp [%0, {%1, %2}], {%3};" :: "l"(object), "r"(c.x), "r"(c.y), "r"(value) : "memory");
            else if (op == SUSTZ2) asm volatile("sust.b.2d.b32.zero [%0, {%1, %2}], {%3};" :: "l"(object), "r"(c.x), "r"(c.y), "r"(value) : "memory");
#if !(NO & 1)
            else asm volatile("sust.p.2d.v4.b32.clamp [%0, {%1, %2}], {%3, %4, %5, %6};" :: "l"(object), "r"(c.x), "r"(c.y), "r"(value),
                "r"(value + 1), "r"(value + 2), "r"(value + 3) : "memory");
#endif
        }
        break;
    }
    results[i] = v;
}

__global__ void query(unsigned long long object, int is_surface, unsigned *to) {
    unsigned v[7] = {};
    if (!is_surface) {
        asm("txq.width.b32 %0, [%1];" : "=r"(v[0]) : "l"(object));
        asm("txq.height.b32 %0, [%1];" : "=r"(v[1]) : "l"(object));
        asm("txq.depth.b32 %0, [%1];" : "=r"(v[2]) : "l"(object));
#if !(NO & 4)
        asm("txq.channel_data_type.b32 %0, [%1];" : "=r"(v[3]) : "l"(object));
        asm("txq.channel_order.b32 %0, [%1];" : "=r"(v[4]) : "l"(object));
#endif
    } else {
#if !(NO & 2)
        asm("suq.width.b32 %0, [%1];" : "=r"(v[0]) : "l"(object));
        asm("suq.height.b32 %0, [%1];" : "=r"(v[1]) : "l"(object));
        asm("suq.depth.b32 %0, [%1];" : "=r"(v[2]) : "l"(object));
        asm("suq.channel_data_type.b32 %0, [%1];" : "=r"(v[3]) : "l"(object));
        asm("suq.channel_order.b32 %0, [%1];" : "=r"(v[4]) : "l"(object));
#endif
    }
    for (int i = 0; i < 7; i++) to[i] = v[i];
}

typedef void (*Kernel)(unsigned long long, const uint4 *, uint4 *, int);
static Kernel KERNELS[SUSTP2 + 1];
template <int op> static void fill_kernels() {
    KERNELS[op] = run<op>;
    if constexpr (op > 0) fill_kernels<op - 1>();
}

static int at_least_one(int n) { return n > 0 ? n : 1; }

static std::vector<uint8_t> image(const Group &g, uint64_t seed, int l, int w, int h, int d) {
    std::vector<uint8_t> bytes;
    for (int z = 0; z < at_least_one(d); z++)
        for (int y = 0; y < at_least_one(h); y++)
            for (int x = 0; x < w; x++)
                for (int c = 0; c < g.channels; c++) {
                    uint32_t bits = texel(g, seed, l, z, y, x, c);
                    for (int b = 0; b < bytes_of(g.format); b++) bytes.push_back(bits >> (8 * b));
                }
    return bytes;
}

static cudaChannelFormatDesc format_of(const Group &g) {
    int bits = bytes_of(g.format) * 8;
    cudaChannelFormatKind kind = g.format >= F16 ? cudaChannelFormatKindFloat
        : g.format % 2 ? cudaChannelFormatKindSigned : cudaChannelFormatKindUnsigned;
    return cudaCreateChannelDesc(bits, g.channels > 1 ? bits : 0, g.channels > 2 ? bits : 0, g.channels > 2 ? bits : 0, kind);
}

static FILE *raw = nullptr;
static int number = 0;

static void digests(const std::vector<uint32_t> &words) {
    printf("digests");
    const size_t piece = 4 * SAMPLES_PER_DIGEST;
    for (size_t start = 0; start < words.size(); start += piece)
        printf(" %08x", digest(&words[start], words.size() - start < piece ? words.size() - start : piece));
    printf("\n");
    if (raw) fwrite(words.data(), 4, words.size(), raw);
}

static void measure(Group g) {
    int group = number++;
    uint64_t seed = mix(SEED + group);
    int element = g.channels * bytes_of(g.format);
    cudaArray_t array = nullptr;
    cudaMipmappedArray_t mips = nullptr;
    void *memory = nullptr;
    cudaResourceDesc resource = {};
    cudaChannelFormatDesc format = format_of(g);
    bool is_surface = g.op >= SULD1;
    unsigned flags = (g.kind == L1D || g.kind == L2D || g.kind == LCUBE ? cudaArrayLayered : 0) |
                     (g.kind == CUBE || g.kind == LCUBE ? cudaArrayCubemap : 0) | (is_surface ? cudaArraySurfaceLoadStore : 0) |
                     (g.op >= GATHER_R && g.op <= GATHER_A ? cudaArrayTextureGather : 0);
    if (g.kind == LINEAR || g.kind == PITCH) {
        std::vector<uint8_t> bytes = image(g, seed, 0, g.w, g.h, 1);
        size_t pitch = g.kind == PITCH ? 512 : 0, row = (size_t)g.w * element;
        check(cudaMalloc(&memory, 65536), "cudaMalloc");
        check(cudaMemset(memory, 0xa5, 65536), "cudaMemset");
        for (int y = 0; y < at_least_one(g.h); y++)
            check(cudaMemcpy((char *)memory + y * pitch, &bytes[y * row], row, cudaMemcpyHostToDevice), "copy");
        if (g.kind == LINEAR) {
            resource.resType = cudaResourceTypeLinear;
            resource.res.linear.devPtr = memory; resource.res.linear.desc = format; resource.res.linear.sizeInBytes = row;
        } else {
            resource.resType = cudaResourceTypePitch2D;
            resource.res.pitch2D.devPtr = memory; resource.res.pitch2D.desc = format;
            resource.res.pitch2D.width = g.w; resource.res.pitch2D.height = g.h; resource.res.pitch2D.pitchInBytes = pitch;
        }
    } else {
        cudaExtent extent = make_cudaExtent(g.w, g.h, g.d);
        if (g.levels > 1) check(cudaMallocMipmappedArray(&mips, &format, extent, g.levels, flags), "cudaMallocMipmappedArray");
        else check(cudaMalloc3DArray(&array, &format, extent, flags), "cudaMalloc3DArray");
        for (int l = 0; l < g.levels; l++) {
            cudaArray_t one = array;
            if (mips) check(cudaGetMipmappedArrayLevel(&one, mips, l), "level");
            int w = at_least_one(g.w >> l), h = g.h ? at_least_one(g.h >> l) : 0;
            int d = g.kind == A3D ? at_least_one(g.d >> l) : g.d;
            std::vector<uint8_t> bytes = image(g, seed, l, w, h, d);
            cudaMemcpy3DParms copy = {};
            copy.srcPtr = make_cudaPitchedPtr(bytes.data(), (size_t)w * element, w, at_least_one(h));
            copy.dstArray = one;
            copy.extent = make_cudaExtent(w, at_least_one(h), at_least_one(d));
            copy.kind = cudaMemcpyHostToDevice;
            check(cudaMemcpy3D(&copy), "cudaMemcpy3D");
        }
        resource.resType = mips ? cudaResourceTypeMipmappedArray : cudaResourceTypeArray;
        if (mips) resource.res.mipmap.mipmap = mips; else resource.res.array.array = array;
    }
    printf("group %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %08x %08x %08x %d\n", g.op, g.kind, g.w, g.h, g.d, g.levels,
           g.format, g.channels, g.to_float, g.linear, g.mode[0], g.mode[1], g.mode[2], g.normalized, g.content, g.points,
           g.samples, g.mip_linear, to_bits(g.bias), to_bits(g.low), to_bits(g.high), g.exact_trilinear);
    unsigned long long object = 0;
    cudaError_t made;
    if (is_surface) {
        made = cudaCreateSurfaceObject((cudaSurfaceObject_t *)&object, &resource);
    } else {
        cudaTextureDesc description = {};
        for (int k = 0; k < 3; k++) description.addressMode[k] = (cudaTextureAddressMode)g.mode[k];
        description.filterMode = g.linear ? cudaFilterModeLinear : cudaFilterModePoint;
        description.readMode = g.to_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
        description.normalizedCoords = g.normalized;
        description.mipmapFilterMode = g.mip_linear ? cudaFilterModeLinear : cudaFilterModePoint;
        description.mipmapLevelBias = g.bias;
        description.minMipmapLevelClamp = g.low;
        description.maxMipmapLevelClamp = g.high;
        description.disableTrilinearOptimization = g.exact_trilinear;
        float border[4] = {-1.5f, 0.25f, 3.0f, 100.0f};
        memcpy(description.borderColor, border, sizeof border);
        made = cudaCreateTextureObject((cudaTextureObject_t *)&object, &resource, &description, nullptr);
    }
    if (made != cudaSuccess) {
        printf("refused %s\n", cudaGetErrorName(made));
        cudaGetLastError();
    } else {
        std::vector<uint32_t> points(8 * g.samples), words(4 * g.samples);
        for (int i = 0; i < g.samples; i++) sample(g, group, i, &points[8 * i]);
        uint4 *from, *to;
        check(cudaMalloc(&from, points.size() * 4), "cudaMalloc");
        check(cudaMalloc(&to, words.size() * 4), "cudaMalloc");
        check(cudaMemcpy(from, points.data(), points.size() * 4, cudaMemcpyHostToDevice), "copy");
        bool stores = g.op >= SUST2;
        KERNELS[g.op]<<<stores ? 1 : (g.samples + 127) / 128, stores ? 1 : 128>>>(object, from, to, g.samples);
        cudaError_t launched = cudaGetLastError();
        if (launched != cudaSuccess) printf("not launched: %s\n", cudaGetErrorName(launched));
        check(cudaDeviceSynchronize(), "run");
        if (stores) {
            words.assign((g.w * g.h * element + 3) / 4, 0);
            check(cudaMemcpy2DFromArray(words.data(), g.w * element, array, 0, 0, g.w * element, g.h, cudaMemcpyDeviceToHost), "copy from array");
        } else check(cudaMemcpy(words.data(), to, words.size() * 4, cudaMemcpyDeviceToHost), "copy");
        digests(words);
        unsigned *info, values[7];
        check(cudaMalloc(&info, sizeof values), "cudaMalloc");
        query<<<1, 1>>>(object, is_surface, info);
        check(cudaMemcpy(values, info, sizeof values, cudaMemcpyDeviceToHost), "query");
        printf("query %u %u %u %u %u\n", values[0], values[1], values[2], values[3], values[4]);
        fflush(stdout);
        if (is_surface) cudaDestroySurfaceObject(object); else cudaDestroyTextureObject(object);
        cudaFree(from); cudaFree(to); cudaFree(info);
    }
    if (memory) cudaFree(memory);
    if (array) cudaFreeArray(array);
    if (mips) cudaFreeMipmappedArray(mips);
}

/// A group with the usual values.
static Group usual(Op op, Kind kind, int w, int h, int d) {
    return {op, kind, w, h, d, 1, F32, 4, 0, 0, {CLAMP, CLAMP, CLAMP}, 0, PLACE, WILD, 2048, 0, 0.0f, 0.0f, 0.0f, 0};
}

static void modes_of(Group g, bool with_random) {
    for (int pair = 0; pair < 5; pair++)
        for (int normalized = 0; normalized < 2; normalized++)
            for (int linear = 0; linear < 2; linear++)
                for (int random = 0; random < (with_random && linear ? 2 : 1); random++) {
                    Group one = g;
                    for (int k = 0; k < 3; k++) one.mode[k] = pair < 4 ? pair : (k + 3) % 4;
                    one.normalized = normalized;
                    one.linear = linear;
                    if (random) one.content = MODERATE;
                    measure(one);
                }
}

int main(int count, char **arguments) {
    fill_kernels<SUSTP2>();
    if (count > 1) raw = fopen(arguments[1], "wb");
    begin("texture sweep");
    const Kind KINDS[9] = {A1D, A1D, A2D, A2D, A3D, L1D, L2D, PITCH, A2D};
    const Op OPS[9] = {T1D, T1D, T2D, T2D, T3D, TA1D, TA2D, T2D, T2D};
    const int SIZES[9][3] = {{16, 0, 0}, {13, 0, 0}, {13, 9, 0}, {16, 8, 0}, {7, 6, 5}, {13, 0, 5}, {11, 7, 3}, {21, 10, 0}, {1, 1, 0}};
    // Address modes.
    for (int i = 0; i < 9; i++) modes_of(usual(OPS[i], KINDS[i], SIZES[i][0], SIZES[i][1], SIZES[i][2]), true);
    modes_of(usual(TCUBE, CUBE, 8, 8, 6), true);
    modes_of(usual(TACUBE, LCUBE, 5, 5, 12), false);
    // Integer coordinates.
    for (int i = 0; i < 5; i++) {
        const Kind kinds[5] = {A1D, A2D, A3D, L1D, L2D};
        const Op ops[5] = {I1D, I2D, I3D, IA1D, IA2D};
        const int sizes[5][3] = {{13, 0, 0}, {13, 9, 0}, {7, 6, 5}, {13, 0, 5}, {11, 7, 3}};
        Group g = usual(ops[i], kinds[i], sizes[i][0], sizes[i][1], sizes[i][2]);
        g.samples = 1024;
        modes_of(g, false);
    }
    // The weights, and what becomes of them.
    for (int dimensions = 1; dimensions <= 3; dimensions++)
        for (int content = 0; content < 2; content++) {
            const Kind kinds[3] = {A1D, A2D, A3D};
            const Op ops[3] = {T1D, T2D, T3D};
            Group g = usual(ops[dimensions - 1], kinds[dimensions - 1], 8, dimensions > 1 ? 8 : 0, dimensions > 2 ? 8 : 0);
            g.linear = 1; g.points = GRID; g.channels = 1; g.content = content ? MODERATE : ONE;
            g.samples = dimensions == 1 ? 16384 : dimensions == 2 ? 262144 : 65536;
            measure(g);
        }
    // Formats.
    for (int format = U8; format <= F32; format++)
        for (int channels = 1; channels <= 4; channels *= 2)
            for (int to_float = 0; to_float < (format <= S16 ? 2 : 1); to_float++)
                for (int geometry = 0; geometry < 6; geometry++)
                    for (int linear = 0; linear < ((to_float || format >= F16) && geometry > 0 ? 2 : 1); linear++)
                        for (int content = 0; content < (geometry > 0 && geometry < 3 && format >= F16 ? 2 : 1); content++) {
                            const Kind kinds[6] = {LINEAR, A1D, A2D, PITCH, A3D, A2D};
                            const Op ops[6] = {I1D, T1D, T2D, T2D, T3D, T2D};
                            const int sizes[6][3] = {{300, 0, 0}, {64, 0, 0}, {16, 16, 0}, {16, 16, 0}, {6, 6, 6}, {6, 6, 0}};
                            if (geometry > 2 && channels == 2) continue;
                            Group g = usual(ops[geometry], kinds[geometry], sizes[geometry][0], sizes[geometry][1], sizes[geometry][2]);
                            g.format = (Format)format; g.channels = channels; g.to_float = to_float; g.linear = linear;
                            g.content = content || format < F16 || geometry == 0 ? ANY : MODERATE;
                            if (geometry == 5) for (int k = 0; k < 3; k++) g.mode[k] = BORDER;
                            g.samples = linear ? 4096 : geometry == 0 ? 2048 : 1024;
                            measure(g);
                        }
    // Every value of a normalized format: the image is wide enough to hold most of them.
    for (int format = U8; format <= S16; format++) {
        Group g = usual(I1D, LINEAR, 8192, 0, 0);
        g.format = (Format)format; g.channels = 1; g.to_float = 1; g.content = ANY; g.samples = 65536;
        measure(g);
    }
    // Four texels at once.
    for (int component = 0; component < 4; component++)
        for (int format = 0; format < 3; format++) {
            Group g = usual((Op)(GATHER_R + component), A2D, 13, 9, 0);
            g.format = format == 0 ? F32 : format == 1 ? U8 : S16;
            g.to_float = format == 2;
            g.content = format ? ANY : MODERATE;
            g.linear = format != 1 && component % 2;
            for (int pair = 0; pair < 4; pair++)
                for (int normalized = 0; normalized < 2; normalized++) {
                    for (int k = 0; k < 3; k++) g.mode[k] = pair;
                    g.normalized = normalized;
                    g.samples = 1024;
                    measure(g);
                }
        }
    // Levels.
    for (int op = LEVEL1D; op <= GRAD2D; op++)
        for (int variant = 0; variant < 8; variant++)
            for (int random = 0; random < 2; random++) {
                const Kind kinds[8] = {A1D, A2D, A3D, L2D, CUBE, A2D, A1D, A2D};
                const int sizes[8][3] = {{32, 0, 0}, {32, 16, 0}, {16, 16, 8}, {32, 16, 3}, {16, 16, 6}, {32, 16, 0}, {64, 0, 0}, {64, 32, 0}};
                int i = op - LEVEL1D;
                Group g = usual((Op)op, kinds[i], sizes[i][0], sizes[i][1], sizes[i][2]);
                g.levels = 4;
                g.linear = variant & 1;
                g.mip_linear = variant >> 1 & 1;
                g.normalized = op != ILEVEL2D;
                g.content = random ? MODERATE : PLACE;
                g.high = 10.0f;
                if (variant & 4) { g.bias = 0.375f; g.low = 0.75f; g.high = 2.3125f; g.exact_trilinear = 1; }
                measure(g);
            }
    // A texture with levels read without naming one.
    for (int bias = 0; bias < 2; bias++) {
        Group g = usual(T2D, A2D, 32, 16, 0);
        g.levels = 4; g.normalized = 1; g.linear = 1; g.high = 10.0f; g.mip_linear = 1;
        if (bias) { g.bias = 1.375f; g.low = 0.75f; }
        measure(g);
    }
    // Surfaces.
    for (int op = SULD1; op <= SUSTP2; op++) {
        bool one = op == SULD1 || op == SULDZ1, three = op == SULD3 || op == SULDZ3;
        bool a1 = op == SULDA1 || op == SULDZA1, a2 = op == SULDA2 || op == SULDZA2;
        Group g = usual((Op)op, one ? A1D : three ? A3D : a1 ? L1D : a2 ? L2D : A2D, 16, one || a1 ? 0 : 8, three ? 4 : a1 || a2 ? 3 : 0);
        g.channels = 1; g.content = ANY; g.samples = op >= SUST2 ? 512 : 2048;
        if (op == SULDV4 || op == SULDV2B64) g.channels = 4;
        if (op == SULDB8) g.format = U8;
        if (op == SULDB16) g.format = S16;
        measure(g);
        if (op == SUSTP2)
            for (int format = U8; format <= F32; format++)
                for (int channels = 1; channels <= 4; channels *= 2) {
                    g.format = (Format)format; g.channels = channels;
                    measure(g);
                }
    }
    if (raw) fclose(raw);
}

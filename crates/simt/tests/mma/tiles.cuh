//! Generated matrices, and the sums of a GPU for them. Matrices are row-major, one 64-bit word per element.

#include "../sweep.cuh"

static const int TILES = 576;
static const uint64_t SEED = 0x636f616c65736365ull;

enum Kind { F16, BF16, TF32, F32, F64, S8, U8, S32, E4M3, E5M2 };
enum Role { A, B, C };

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

static uint64_t *upload(const std::vector<uint64_t> &from) {
    uint64_t *to;
    check(cudaMalloc(&to, from.size() * 8), "cudaMalloc");
    check(cudaMemcpy(to, from.data(), from.size() * 8, cudaMemcpyHostToDevice), "copy to the device");
    return to;
}

/// Multiplies the tiles of all forms, whose numbers begin with `first`, and prints a digest of each and `whole` of them.
template <int COUNT> static void multiply(const Form (&forms)[COUNT], int first, int threads, int whole) {
    for (int form = 0; form < COUNT; form++) {
        const Form &f = forms[form];
        int sa = f.m * f.k, sb = f.k * f.n, sc = f.m * f.n;
        std::vector<uint64_t> a(sa * TILES), b(sb * TILES), c(sc * TILES), d(sc * TILES);
        for (int tile = 0; tile < TILES; tile++)
            generate(f, first + form, tile, &a[tile * sa], &b[tile * sb], &c[tile * sc]);
        uint64_t *da = upload(a), *db = upload(b), *dc = upload(c), *dd = upload(d);
        f.kernel<<<TILES, threads>>>(da, db, dc, dd);
        check(cudaGetLastError(), f.name);
        check(cudaMemcpy(d.data(), dd, d.size() * 8, cudaMemcpyDeviceToHost), f.name);
        printf("form %s\ndigests", f.name);
        for (int tile = 0; tile < TILES; tile++) printf(" %08x", digest(&d[tile * sc], sc));
        printf("\n");
        for (int tile = 0; tile < whole && tile < TILES; tile++) {
            printf("tile %d", tile);
            for (int i = 0; i < sc; i++) printf(" %llx", (unsigned long long)d[tile * sc + i]);
            printf("\n");
        }
        for (uint64_t *memory : {da, db, dc, dd}) cudaFree(memory);
    }
}

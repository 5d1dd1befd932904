// Kernels of `kernels/src/caches`.

template <class T> static __device__ T load_plain(const T *source) { return *source; }
template <class T> static __device__ void store_plain(T *target, T value) { *target = value; }
template <class T> static __device__ T load_no_allocate(const T *source);
template <> __device__ uint4 load_no_allocate(const uint4 *source) {
    uint4 value;
    asm volatile("ld.global.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w) : "l"(source) : "memory");
    return value;
}

static __device__ uint64_t evict_first() {
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
static __device__ uint64_t evict_last() {
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
static __device__ uint4 load_with(const uint4 *source, uint64_t policy) {
    uint4 value;
    asm volatile("ld.global.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w) : "l"(source), "l"(policy) : "memory");
    return value;
}
static __device__ uint32_t load_with(const uint32_t *source, uint64_t policy) {
    uint32_t value;
    asm volatile("ld.global.L2::cache_hint.b32 %0, [%1], %2;" : "=r"(value) : "l"(source), "l"(policy) : "memory");
    return value;
}
static __device__ void prefetch_l2(const void *address) { asm volatile("prefetch.global.L2 [%0];" ::"l"(address)); }

template <class Stream, class Table, class Results>
static __device__ void look_up(const uint32_t *keys, const uint32_t *table, uint32_t *target, uint32_t words, uint32_t n,
                               Stream stream, Table of_table, Results store) {
    uint32_t i = index_1d() * 4;
    auto word = [&](uint32_t key) { return of_table(table + (key & (words - 1))); };
    if (i + 4 <= n) {
        uint4 key = stream((const uint4 *)(keys + i));
        store((uint4 *)(target + i), make_uint4(word(key.x), word(key.y), word(key.z), word(key.w)));
    } else {
        for (uint32_t k = i; k < i + 3; k++) {
            if (k < n) target[k] = table[keys[k] & (words - 1)];
        }
    }
}

#define LOOK_UP(name, stream, of_table, store, before)                                                                 \
    KERNEL cache_operators_##name(const uint32_t *keys, const uint32_t *table, uint32_t *target, uint32_t words, uint32_t n) { \
        before;                                                                                                        \
        look_up(keys, table, target, words, n, [&](const uint4 *p) { return stream; },                                 \
                [&](const uint32_t *p) { return of_table; }, [&](uint4 *p, uint4 value) { store; });                   \
    }
LOOK_UP(stream_ca, __ldca(p), *p, *p = value, )
LOOK_UP(stream_cg, __ldcg(p), *p, *p = value, )
LOOK_UP(stream_nc, __ldg(p), *p, *p = value, )
LOOK_UP(stream_no_allocate, load_no_allocate(p), *p, *p = value, )
LOOK_UP(stream_evict_first, load_with(p, policy), *p, *p = value, uint64_t policy = evict_first())
LOOK_UP(stream_prefetch_l2, *p, *p, *p = value, uint32_t ahead = index_1d() + 132 * 2048;
        if (ahead < n / 4) prefetch_l2((const uint4 *)keys + ahead))
LOOK_UP(table_cg, *p, __ldcg(p), *p = value, )
LOOK_UP(table_evict_last, *p, load_with(p, policy), *p = value, uint64_t policy = evict_last())
LOOK_UP(store_wb, *p, *p, __stwb(p, value), )
LOOK_UP(store_cg, *p, *p, __stcg(p, value), )
LOOK_UP(store_cs, *p, *p, __stcs(p, value), )
LOOK_UP(store_wt, *p, *p, __stwt(p, value), )
LOOK_UP(both_cs, __ldcs(p), *p, __stcs(p, value), )
#undef LOOK_UP

constexpr uint32_t TABLE = 31 * 32;
extern "C" __constant__ uint32_t CONSTANT_MEMORY_TABLE[TABLE];
__constant__ uint32_t CONSTANT_MEMORY_TABLE[TABLE];

template <class Entry> static __device__ uint32_t walk(uint32_t distinct, Entry entry) {
    uint32_t index = threadIdx.x % 32 % distinct;
    for (uint32_t step = 0; step < 256; step++) index = entry(index);
    return index;
}

KERNEL constant_memory_global(const uint32_t *table, uint32_t *target, uint32_t distinct, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) target[i] = walk(distinct, [&](uint32_t at) { return table[at]; });
}

KERNEL constant_memory_read_only(const uint32_t *table, uint32_t *target, uint32_t distinct, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) target[i] = walk(distinct, [&](uint32_t at) { return __ldg(table + at); });
}

struct TableByValue { uint32_t words[TABLE]; };
KERNEL constant_memory_parameter(const __grid_constant__ TableByValue table, uint32_t *target, uint32_t distinct, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) target[i] = walk(distinct, [&](uint32_t at) { return table.words[at]; });
}

static __device__ uint32_t polynomial(uint32_t x, const uint32_t *table) {
    uint32_t coefficients[8], value = 1;
    for (uint32_t k = 0; k < 8; k++) coefficients[k] = table[k];
    for (uint32_t step = 0; step < 256 / 8; step++) {
        for (uint32_t k = 0; k < 8; k++) value = value * x + coefficients[k];
    }
    return value;
}

KERNEL constant_memory_register(const uint32_t *table, uint32_t *target, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) target[i] = polynomial(i, table);
}

KERNEL constant_memory_operand(uint32_t *target, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) target[i] = polynomial(i, CONSTANT_MEMORY_TABLE);
}

template <bool EVICT_FIRST> static __device__ void add_table(const float *source, const float *table, float *target, uint32_t n, uint32_t table_len) {
    uint32_t thread = index_1d(), first = thread * 4;
    if (first >= n) return;
    uint32_t left = n - first;
    if (left >= 4 && table_len % 4 == 0) {
        float4 addend = ((const float4 *)table)[thread % (table_len / 4)];
        const float4 *from = (const float4 *)(source + first);
        float4 *to = (float4 *)(target + first);
        if (EVICT_FIRST) __stcs(to, __ldcs(from) + addend);
        else *to = *from + addend;
    } else {
        for (uint32_t i = first; i < first + minimum(left, 4); i++) {
            float addend = table[i % table_len];
            if (EVICT_FIRST) __stcs(target + i, __ldcs(source + i) + addend);
            else target[i] = source[i] + addend;
        }
    }
}

KERNEL l2_persistence_add(const float *source, const float *table, float *target, uint32_t n, uint32_t table_len) {
    add_table<false>(source, table, target, n, table_len);
}
KERNEL l2_persistence_add_evict_first(const float *source, const float *table, float *target, uint32_t n, uint32_t table_len) {
    add_table<true>(source, table, target, n, table_len);
}

static __device__ uint32_t doubled(uint32_t word) {
    uint32_t half = word & 0xffff;
    return half | half << 17;
}
KERNEL l2_persistence_double(uint32_t *streaming, uint32_t *persistent, uint32_t n, uint32_t table_len) {
    uint32_t i = index_1d();
    if (i < n) {
        uint32_t *shared = persistent + i % table_len, word;
        asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(word) : "l"(shared) : "memory");
        asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" ::"l"(shared), "r"(doubled(word)) : "memory");
        streaming[i] = doubled(streaming[i]);
    }
}

static __device__ void count_in_registers(const uint32_t *source, uint32_t *target, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) {
        uint32_t counters[32] = {}, hash = 0;
        for (uint32_t index = 0; index < 32; index++) {
            uint32_t word = source[(size_t)index * n + i];
            for (uint32_t number = 0; number < 32; number++) counters[number] += word == number;
        }
        for (uint32_t number = 0; number < 32; number++) hash = hash * 31 + counters[number];
        target[i] = hash;
    }
}
KERNEL local_memory_unrolled(const uint32_t *source, uint32_t *target, uint32_t n) { count_in_registers(source, target, n); }
KERNEL BOUNDS(1024, 2) local_memory_spilled(const uint32_t *source, uint32_t *target, uint32_t n) { count_in_registers(source, target, n); }
KERNEL BOUNDS(1024, 2) local_memory_spilled_shared(const uint32_t *source, uint32_t *target, uint32_t n) {
    asm volatile(".pragma \"enable_smem_spilling\";");
    count_in_registers(source, target, n);
}

extern "C" __constant__ uint32_t MEMORY_HIERARCHY_CHAIN[2048];
__constant__ uint32_t MEMORY_HIERARCHY_CHAIN[2048];
template <class Next> static __device__ uint32_t follow(uint32_t accesses, Next next) {
    uint32_t at = 0;
    for (uint32_t access = 0; access < accesses; access++) at = next(at);
    return at;
}
static __device__ void bring_into_l2(const uint32_t *data, uint32_t words) {
    uint32_t step = (gridDim.x - 1) * 1024 * 32;
    for (uint32_t word = ((blockIdx.x - 1) * 1024 + threadIdx.x) * 32; word < words; word += step) prefetch_l2(data + word);
}

KERNEL memory_hierarchy_chase_global(const uint32_t *chain, uint32_t *end, uint32_t *sums, uint32_t words, uint32_t accesses) {
    uint32_t tid = threadIdx.x, sum = 0;
    if (blockIdx.x > 0) return bring_into_l2(chain, words);
    if (words <= 1 << 15) {
        for (uint32_t word = tid; word < words; word += 1024) sum ^= chain[word];
    }
    sums[tid] = sum;
    __syncthreads();
    if (tid == 0) *end = follow(accesses, [&](uint32_t at) { return chain[at]; });
}

KERNEL memory_hierarchy_chase_l2(const uint32_t *chain, uint32_t *end, uint32_t words, uint32_t accesses) {
    if (blockIdx.x > 0) bring_into_l2(chain, words);
    else if (threadIdx.x == 0) *end = follow(accesses, [&](uint32_t at) { return __ldcg(chain + at); });
}

KERNEL memory_hierarchy_chase_constant(uint32_t *end, uint32_t accesses) {
    if (threadIdx.x == 0) *end = follow(accesses, [&](uint32_t at) { return MEMORY_HIERARCHY_CHAIN[at]; });
}

KERNEL memory_hierarchy_chase_texture(cudaTextureObject_t chain, uint32_t *end, uint32_t accesses) {
    if (threadIdx.x == 0) *end = follow(accesses, [&](uint32_t at) { return tex1Dfetch<uint32_t>(chain, (int)at); });
}

KERNEL memory_hierarchy_read_shared(const uint4 *data, uint32_t *sums, uint32_t vectors, uint32_t accesses) {
    __shared__ uint4 copy[2048];
    uint32_t start = (uint32_t)((uint64_t)blockIdx.x * vectors / gridDim.x), at = (start + threadIdx.x % vectors) % vectors;
    for (uint32_t vector = threadIdx.x; vector < vectors; vector += 1024) copy[vector] = data[vector];
    __syncthreads();
    uint32_t step = 1024 % vectors, sum = 0;
    for (uint32_t round = 0; round < accesses / (256 * 4); round++) {
        uint4 values[4];
        for (uint32_t load = 0; load < 4; load++) {
            values[load] = copy[at];
            at += step;
            at -= at >= vectors ? vectors : 0;
        }
        for (uint32_t load = 0; load < 4; load++) sum ^= values[load].x ^ values[load].y ^ values[load].z ^ values[load].w;
    }
    sums[index_1d()] = sum;
}

struct Walk { float x, x_right, x_down, y, y_right, y_down; uint32_t columns, rows, is_random; };

static __device__ uint32_t scrambled(uint32_t number) {
    number = (number ^ number >> 16) * 0x7feb352d;
    number = (number ^ number >> 15) * 0x846ca68b;
    return number ^ number >> 16;
}
static __device__ float part_of(uint32_t number, uint32_t extent) { return (float)(uint32_t)((uint64_t)number * extent >> 32); }
static __device__ float2 place_of(const Walk &walk, uint32_t column, uint32_t row) {
    if (walk.is_random) {
        uint32_t first = scrambled(row * walk.columns + column), second = scrambled(first);
        return make_float2(walk.x + part_of(first, walk.columns), walk.y + part_of(second, walk.rows));
    }
    return make_float2(fmaf(row, walk.x_down, fmaf(column, walk.x_right, walk.x)),
                       fmaf(row, walk.y_down, fmaf(column, walk.y_right, walk.y)));
}
template <bool TILED, class Read> static __device__ void resampled(const Walk &walk, float *target, Read read) {
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t x = TILED ? warp % 4 * 8 + lane % 8 : lane, y = TILED ? warp / 4 * 4 + lane / 8 : warp;
    uint32_t column = blockIdx.x * 32 + x, row = blockIdx.y * 32 + y;
    float values[4];
    for (uint32_t round = 0; round < 4; round++) {
        float2 place = place_of(walk, column, row + round * 8);
        values[round] = read(place.x, place.y);
    }
    for (uint32_t round = 0; round < 4; round++) {
        uint32_t to = row + round * 8;
        if (column < walk.columns && to < walk.rows) target[to * walk.columns + column] = values[round];
    }
}
static __device__ uint32_t clamped(float at, uint32_t extent) { return (uint32_t)fminf(fmaxf(at, 0.0f), (float)(extent - 1)); }
static __device__ uint32_t wrapped(float at, uint32_t extent) {
    int rest = (int)floorf(at) % (int)extent;
    return rest < 0 ? rest + extent : rest;
}
static __device__ float mean(float above_left, float above_right, float below_left, float below_right, float x, float y) {
    x -= 0.5f, y -= 0.5f;
    float right = x - floorf(x), down = y - floorf(y);
    float top = fmaf(right, above_right - above_left, above_left), bottom = fmaf(right, below_right - below_left, below_left);
    return fmaf(down, bottom - top, top);
}

KERNEL texture_linear(cudaTextureObject_t source, float *target, Walk walk) {
    resampled<false>(walk, target, [&](float x, float y) {
        return tex1Dfetch<float>(source, (int)(clamped(y, walk.rows) * walk.columns + clamped(x, walk.columns)));
    });
}
KERNEL texture_bilinear_gather(cudaTextureObject_t source, float *target, Walk walk) {
    resampled<true>(walk, target, [&](float x, float y) {
        float4 four = tex2Dgather<float4>(source, x, y, 0);
        return mean(four.w, four.z, four.x, four.y, x, y);
    });
}
KERNEL texture_bilinear_array(cudaTextureObject_t source, float *target, Walk walk) {
    resampled<true>(walk, target, [&](float x, float y) { return tex2D<float>(source, x, y); });
}
KERNEL texture_wrap_plain(const float *source, float *target, Walk walk) {
    resampled<false>(walk, target, [&](float x, float y) { return source[wrapped(y, walk.rows) * walk.columns + wrapped(x, walk.columns)]; });
}
KERNEL texture_wrap_array(cudaTextureObject_t source, float *target, Walk walk, float column, float row) {
    const float HALF_STEP = 1.0f / 512.0f;
    resampled<false>(walk, target, [&](float x, float y) { return tex2D<float>(source, (x + HALF_STEP) * column, (y + HALF_STEP) * row); });
}

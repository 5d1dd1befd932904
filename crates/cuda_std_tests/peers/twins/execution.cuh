// Kernels of `kernels/src/execution`.

template <uint32_t ITEMS> static __device__ void scaled(const float *source, float *target, uint32_t n, uint32_t first, uint32_t step) {
    if (first + (ITEMS - 1) * step < n) {
        float values[ITEMS];
        for (uint32_t item = 0; item < ITEMS; item++) values[item] = source[first + item * step];
        for (uint32_t item = 0; item < ITEMS; item++) target[first + item * step] = 4.0f * values[item];
    } else {
        for (uint32_t i = first; i < n; i += step) target[i] = 4.0f * source[i];
    }
}

#define COARSENING(items)                                                                                              \
    KERNEL coarsening_consecutive_##items(const float *source, float *target, uint32_t n) {                            \
        scaled<items>(source, target, n, index_1d() * items, 1);                                                       \
    }                                                                                                                  \
    KERNEL coarsening_strided_##items(const float *source, float *target, uint32_t n) {                                \
        scaled<items>(source, target, n, blockIdx.x * 256 * items + threadIdx.x, 256);                                 \
    }
COARSENING(2)
COARSENING(4)
COARSENING(16)
#undef COARSENING

KERNEL coarsening_one(const float *source, float *target, uint32_t n) {
    scaled<1>(source, target, n, blockIdx.x * 256 + threadIdx.x, 256);
}

KERNEL coarsening_vectorized_4(const float *source, float *target, uint32_t n) {
    uint32_t vector = blockIdx.x * 256 + threadIdx.x;
    if (4 * vector + 3 < n) {
        float4 four = ((const float4 *)source)[vector];
        ((float4 *)target)[vector] = make_float4(4.0f * four.x, 4.0f * four.y, 4.0f * four.z, 4.0f * four.w);
    } else {
        for (uint32_t i = 4 * vector; i < minimum(4 * vector + 4, n); i++) target[i] = 4.0f * source[i];
    }
}

static __device__ uint32_t steps_of(uint32_t value, uint32_t kind) {
    uint32_t factor = 8 * kind + 5;
    for (uint32_t step = 0; step < 64; step++) value = value * factor + kind + 1;
    return value;
}
// Hides what a compiler could know of a number, so that it does not merge the paths.
static __device__ uint32_t opaque(uint32_t number) {
    asm("" : "+r"(number));
    return number;
}
static __device__ uint32_t path_of(uint32_t value, uint32_t kind, uint32_t paths) {
    uint32_t result = value;
    for (uint32_t path = 0; path < paths; path++) {
        if (kind == path) result = steps_of(value, opaque(path));
    }
    return result;
}

#define DIVERGENCE(name) KERNEL divergence_##name(const uint32_t *values, const uint32_t *kinds, uint32_t *target, uint32_t paths, uint32_t n)

DIVERGENCE(predicated) {
    uint32_t i = index_1d();
    if (i < n) {
        uint32_t value = values[i], kind = kinds[i], result = value;
        for (uint32_t path = 0; path < paths; path++) {
            uint32_t of_path = opaque(steps_of(value, opaque(path)));
            result = kind == path ? of_path : result;
        }
        target[i] = result;
    }
}

DIVERGENCE(rearranged) {
    uint32_t i = index_1d();
    if (i < n) target[i] = path_of(values[i], kinds[i], paths);
}

DIVERGENCE(branchless) {
    uint32_t i = index_1d();
    if (i < n) target[i] = steps_of(values[i], kinds[i]);
}

DIVERGENCE(regrouped) {
    const uint32_t BLOCK = 1024, PADDED = BLOCK + BLOCK / WARP;
    __shared__ uint32_t counts[WARP], words[PADDED], owners[PADDED];
    auto padded = [](uint32_t i) { return i + i / WARP; };
    uint32_t i = index_1d(), tid = threadIdx.x, len = minimum(n - (i - tid), BLOCK);
    if (tid < WARP) counts[tid] = 0;
    __syncthreads();
    uint32_t value = 0, kind = 0, place = 0;
    if (tid < len) {
        value = values[i], kind = kinds[i];
        place = atomicAdd(counts + kind, 1);
    }
    __syncthreads();
    uint32_t own = counts[tid % WARP], sum = own;
    for (uint32_t step = 1; step < WARP; step *= 2) {
        uint32_t lower = __shfl_up_sync(ALL_LANES, sum, step);
        sum += tid % WARP >= step ? lower : 0;
    }
    place += __shfl_sync(ALL_LANES, sum - own, kind);
    if (tid < len) {
        words[padded(place)] = value;
        owners[padded(place)] = tid * WARP + kind;
    }
    __syncthreads();
    uint32_t result = 0, owner = 0;
    if (tid < len) {
        owner = owners[padded(tid)];
        result = path_of(words[padded(tid)], owner % WARP, paths);
    }
    __syncthreads();
    if (tid < len) words[padded(owner / WARP)] = result;
    __syncthreads();
    if (tid < len) target[i] = words[padded(tid)];
}
#undef DIVERGENCE

template <class T, uint32_t ITEMS> static __device__ void copy_tiles(const T *source, T *target, uint32_t len) {
    uint32_t threads = blockDim.x, thread = threadIdx.x, tile_len = threads * ITEMS, tiles = len / tile_len;
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        uint32_t first = tile * tile_len + thread;
        T values[ITEMS];
        for (uint32_t item = 0; item < ITEMS; item++) values[item] = source[first + item * threads];
        for (uint32_t item = 0; item < ITEMS; item++) target[first + item * threads] = values[item];
    }
    if (blockIdx.x == 0) {
        for (uint32_t i = tiles * tile_len + thread; i < len; i += threads) target[i] = source[i];
    }
}

KERNEL occupancy_words_1(const float *source, float *target, uint32_t n) { copy_tiles<float, 1>(source, target, n); }
KERNEL occupancy_words_2(const float *source, float *target, uint32_t n) { copy_tiles<float, 2>(source, target, n); }
KERNEL occupancy_words_4(const float *source, float *target, uint32_t n) { copy_tiles<float, 4>(source, target, n); }
KERNEL occupancy_vectorized_32(const float *source, float *target, uint32_t n) {
    copy_tiles<float4, 2>((const float4 *)source, (float4 *)target, n / 4);
    uint32_t i = n / 4 * 4 + index_1d();
    if (i < n) target[i] = source[i];
}

// Kernels of `kernels/src/collectives`, but for those with asynchronous copies.

static __device__ uint32_t value_of(uint32_t element) { return element % 16; }

#define ATOMICS(name, T, add)                                                                                          \
    KERNEL atomics_##name(const uint32_t *source, T *target, uint32_t addresses, uint32_t n) {                         \
        uint32_t i = index_1d();                                                                                       \
        if (i < n) add(target + (i & (addresses - 1)), (T)value_of(source[i]));                                        \
    }
ATOMICS(system_scope, uint32_t, atomicAdd_system)
ATOMICS(u64, unsigned long long, atomicAdd)
ATOMICS(f32, float, atomicAdd)
ATOMICS(f64, double, atomicAdd)
#undef ATOMICS

KERNEL atomics_compare_and_swap(const uint32_t *source, uint32_t *target, uint32_t addresses, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) {
        uint32_t value = value_of(source[i]), *counter = target + (i & (addresses - 1));
        uint32_t current = *(volatile uint32_t *)counter;
        for (;;) {
            uint32_t now = atomicCAS(counter, current, current + value);
            if (now == current) break;
            current = now;
        }
    }
}

KERNEL atomics_warp_aggregated(const uint32_t *source, uint32_t *target, uint32_t addresses, uint32_t n) {
    uint32_t i = index_1d(), place = i & (addresses - 1);
    uint32_t value = i < n ? value_of(source[i]) : 0;
    uint32_t peers = __match_any_sync(ALL_LANES, place);
    uint32_t sum = __reduce_add_sync(peers, value);
    if (threadIdx.x % WARP == __ffs(peers) - 1 && i < n) atomicAdd(target + place, sum);
}

KERNEL atomics_shared(const uint32_t *source, uint32_t *target, uint32_t addresses, uint32_t n) {
    uint32_t *counters = (uint32_t *)dynamic_words;
    for (uint32_t at = threadIdx.x; at < addresses; at += 1024) counters[at] = 0;
    __syncthreads();
    for (uint32_t i = index_1d(); i < n; i += gridDim.x * 1024) atomicAdd_block(counters + (i & (addresses - 1)), value_of(source[i]));
    __syncthreads();
    for (uint32_t at = threadIdx.x; at < addresses; at += 1024) atomicAdd(target + at, counters[at]);
}

KERNEL atomics_f32x2(const uint32_t *source, float *target, uint32_t addresses, uint32_t n) {
    uint32_t first = index_1d() * 2;
    if (first + 2 <= n) {
        uint2 two = *(const uint2 *)(source + first);
        atomicAdd((float2 *)(target + (first & (addresses - 1))), make_float2(value_of(two.x), value_of(two.y)));
    } else {
        for (uint32_t i = first; i < n; i++) atomicAdd(target + (i & (addresses - 1)), (float)value_of(source[i]));
    }
}

KERNEL atomics_f32x4(const uint32_t *source, float *target, uint32_t addresses, uint32_t n) {
    uint32_t first = index_1d() * 4;
    if (first + 4 <= n) {
        uint4 four = *(const uint4 *)(source + first);
        atomicAdd((float4 *)(target + (first & (addresses - 1))),
                  make_float4(value_of(four.x), value_of(four.y), value_of(four.z), value_of(four.w)));
    } else {
        for (uint32_t i = first; i < n; i++) atomicAdd(target + (i & (addresses - 1)), (float)value_of(source[i]));
    }
}

static __device__ uint32_t atomics_partial_sums[8 * 132];
static __device__ uint32_t sum_of_block(uint32_t value, uint32_t *words) {
    for (uint32_t delta = 16; delta > 0; delta /= 2) value += __shfl_down_sync(ALL_LANES, value, delta);
    if (threadIdx.x % WARP == 0) words[threadIdx.x / WARP] = value;
    __syncthreads();
    if (threadIdx.x >= WARP) return 0;
    value = threadIdx.x < 8 ? words[threadIdx.x] : 0;
    for (uint32_t delta = 16; delta > 0; delta /= 2) value += __shfl_down_sync(ALL_LANES, value, delta);
    return value;
}

KERNEL atomics_sum_two_launches(const uint32_t *source, uint32_t n) {
    __shared__ uint32_t words[8];
    uint32_t sum = 0;
    for (uint32_t i = index_1d(); i < n; i += gridDim.x * 256) sum += source[i];
    sum = sum_of_block(sum, words);
    if (threadIdx.x == 0) atomics_partial_sums[blockIdx.x] = sum;
}

KERNEL atomics_sum_of_blocks(uint32_t *target, uint32_t blocks) {
    __shared__ uint32_t words[8];
    uint32_t sum = 0;
    for (uint32_t block = threadIdx.x; block < blocks; block += 256) sum += atomics_partial_sums[block];
    sum = sum_of_block(sum, words);
    if (threadIdx.x == 0) *target = sum;
}

KERNEL reduction_global_atomic(const float *source, float *target, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) atomicAdd(target, source[i]);
}

static __device__ void fill_words(const float *source, float *words, uint32_t n) {
    uint32_t i = index_1d();
    words[threadIdx.x] = i < n ? source[i] : 0.0f;
    __syncthreads();
}

KERNEL reduction_interleaved(const float *source, float *target, uint32_t n) {
    __shared__ float words[512];
    uint32_t tid = threadIdx.x;
    fill_words(source, words, n);
    for (uint32_t step = 1; step < 512; step *= 2) {
        if (tid % (2 * step) == 0) words[tid] += words[tid + step];
        __syncthreads();
    }
    if (tid == 0) atomicAdd(target, words[0]);
}

KERNEL reduction_strided(const float *source, float *target, uint32_t n) {
    __shared__ float words[512];
    uint32_t tid = threadIdx.x;
    fill_words(source, words, n);
    for (uint32_t step = 1; step < 512; step *= 2) {
        uint32_t first = 2 * step * tid;
        if (first < 512) words[first] += words[first + step];
        __syncthreads();
    }
    if (tid == 0) atomicAdd(target, words[0]);
}

KERNEL reduction_sequential(const float *source, float *target, uint32_t n) {
    __shared__ float words[512];
    uint32_t tid = threadIdx.x;
    fill_words(source, words, n);
    for (uint32_t step = 256; step > 0; step /= 2) {
        if (tid < step) words[tid] += words[tid + step];
        __syncthreads();
    }
    if (tid == 0) atomicAdd(target, words[0]);
}

template <class T> static __device__ T sum_of_warp(T sum) {
    for (uint32_t delta = 16; delta > 0; delta /= 2) sum += __shfl_down_sync(ALL_LANES, sum, delta);
    return sum;
}
template <class T> static __device__ void add_block(T value, T *words, T *target) {
    uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    T sum = sum_of_warp(value);
    if (lane == 0) words[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = sum_of_warp(lane < 16 ? words[lane] : (T)0);
        if (lane == 0) atomicAdd(target, sum);
    }
}

KERNEL reduction_shuffle(const float *source, float *target, uint32_t n) {
    __shared__ float words[16];
    uint32_t i = index_1d();
    add_block(i < n ? source[i] : 0.0f, words, target);
}

static __device__ double sum_of_pack(double2 pack) { return pack.x + pack.y; }
static __device__ int sum_of_pack(int4 pack) { return (pack.x + pack.y) + (pack.z + pack.w); }
template <class T, class Pack> static __device__ T share_of_thread(const T *source, uint32_t n) {
    const uint32_t THREADS = 512, TILE = THREADS * 4, LEN = sizeof(Pack) / sizeof(T);
    const Pack *packed = (const Pack *)source;
    uint32_t packs = n / LEN, i = blockIdx.x * TILE + threadIdx.x;
    T sum = 0;
    for (; i + (TILE - THREADS) < packs; i += gridDim.x * TILE) {
        Pack a = packed[i], b = packed[i + THREADS], c = packed[i + 2 * THREADS], d = packed[i + 3 * THREADS];
        sum += (sum_of_pack(a) + sum_of_pack(b)) + (sum_of_pack(c) + sum_of_pack(d));
    }
    for (; i < packs; i += THREADS) sum += sum_of_pack(packed[i]);
    uint32_t left = packs * LEN + index_1d();
    if (left < n) sum += source[left];
    return sum;
}

KERNEL BOUNDS(512, 4) reduction_vectorized_i32(const int *source, int *target, uint32_t n) {
    __shared__ int words[16];
    add_block(share_of_thread<int, int4>(source, n), words, target);
}
KERNEL BOUNDS(512, 4) reduction_vectorized_f64(const double *source, double *target, uint32_t n) {
    __shared__ double words[16];
    add_block(share_of_thread<double, double2>(source, n), words, target);
}

static __device__ float before_tile(const float *before) { return blockIdx.x == 0 ? 0.0f : before[blockIdx.x - 1]; }

#define SCAN(name) scan_##name(const float *source, const float *before, float *target, uint32_t n)

KERNEL SCAN(hillis_steele) {
    __shared__ float words[2 * 512];
    uint32_t i = index_1d(), tid = threadIdx.x, half = 0;
    float sum = i < n ? source[i] : 0.0f;
    for (uint32_t step = 1; step < 512; step *= 2) {
        words[half + tid] = sum;
        __syncthreads();
        if (tid >= step) sum += words[half + tid - step];
        half = 512 - half;
    }
    if (i < n) target[i] = before_tile(before) + sum;
}

template <class Place> static __device__ void scan_tree(const float *source, const float *before, float *target, uint32_t n, float *words, Place place) {
    const uint32_t TILE = 512;
    uint32_t first = blockIdx.x * TILE, tid = threadIdx.x, halves[2] = {tid, tid + TILE / 2};
    float elements[2];
    for (uint32_t half = 0; half < 2; half++) {
        uint32_t i = first + halves[half];
        words[place(halves[half])] = elements[half] = i < n ? source[i] : 0.0f;
    }
    for (uint32_t step = 1; step < TILE / 2; step *= 2) {
        __syncthreads();
        uint32_t left = 2 * step * tid + step - 1;
        if (left < TILE) words[place(left + step)] += words[place(left)];
    }
    __syncthreads();
    if (tid == 0) words[place(TILE - 1)] = 0.0f;
    for (uint32_t step = TILE / 2; step > 0; step /= 2) {
        __syncthreads();
        uint32_t left = 2 * step * tid + step - 1;
        if (left < TILE) {
            float sum = words[place(left)], before_pair = words[place(left + step)];
            words[place(left)] = before_pair;
            words[place(left + step)] = before_pair + sum;
        }
    }
    __syncthreads();
    float of_tile = before_tile(before);
    for (uint32_t half = 0; half < 2; half++) {
        uint32_t i = first + halves[half];
        if (i < n) target[i] = of_tile + (words[place(halves[half])] + elements[half]);
    }
}

KERNEL SCAN(blelloch) {
    __shared__ float words[512];
    scan_tree(source, before, target, n, words, [](uint32_t i) { return i; });
}
KERNEL SCAN(blelloch_padded) {
    __shared__ float words[512 + 16];
    scan_tree(source, before, target, n, words, [](uint32_t i) { return i + i / WARP; });
}

static __device__ float scanned_in_warp(float sum) {
    for (uint32_t delta = 1; delta < WARP; delta *= 2) {
        float lower = __shfl_up_sync(ALL_LANES, sum, delta);
        if (threadIdx.x % WARP >= delta) sum += lower;
    }
    return sum;
}

KERNEL SCAN(shuffle) {
    __shared__ float words[16];
    uint32_t i = index_1d(), warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    float sum = scanned_in_warp(i < n ? source[i] : 0.0f);
    if (lane == WARP - 1) words[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        float scanned = scanned_in_warp(lane < 16 ? words[lane] : 0.0f);
        if (lane < 16) words[lane] = scanned;
    }
    __syncthreads();
    if (warp > 0) sum += words[warp - 1];
    if (i < n) target[i] = before_tile(before) + sum;
}

KERNEL BOUNDS(256, 4) SCAN(vectorized) {
    const uint32_t ROWS = 8, ROW = WARP * 4, TILE = 256 * ROWS * 4;
    __shared__ float words[8];
    uint32_t tile = blockIdx.x, tid = threadIdx.x, warp = tid / WARP, lane = tid % WARP;
    uint32_t first = tile * TILE + warp * (ROWS * ROW) + lane * 4;
    bool is_whole = n - tile * TILE >= TILE;
    float rows[ROWS][4], sums[ROWS], before_rows[ROWS], total = 0.0f;
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t i = first + row * ROW;
        if (is_whole) *(float4 *)rows[row] = *(const float4 *)(source + i);
        else for (uint32_t next = 0; next < 4; next++) rows[row][next] = i + next < n ? source[i + next] : 0.0f;
    }
    for (uint32_t row = 0; row < ROWS; row++) {
        rows[row][1] += rows[row][0];
        rows[row][2] += rows[row][1];
        rows[row][3] += rows[row][2];
        sums[row] = rows[row][3];
    }
    for (uint32_t delta = 1; delta < WARP; delta *= 2) {
        for (uint32_t row = 0; row < ROWS; row++) {
            float lower = __shfl_up_sync(ALL_LANES, sums[row], delta);
            if (lane >= delta) sums[row] += lower;
        }
    }
    for (uint32_t row = 0; row < ROWS; row++) {
        float lower = __shfl_up_sync(ALL_LANES, sums[row], 1);
        before_rows[row] = lane >= 1 ? total + lower : total;
        total += __shfl_sync(ALL_LANES, sums[row], WARP - 1);
    }
    for (uint32_t row = 0; row < ROWS; row++) {
        for (uint32_t next = 0; next < 4; next++) rows[row][next] += before_rows[row];
    }
    if (lane == 0) words[warp] = total;
    __syncthreads();
    float scanned = scanned_in_warp(lane < 8 ? words[lane] : 0.0f);
    float lower = __shfl_sync(ALL_LANES, scanned, (warp - 1) % WARP);
    float added = before_tile(before) + (warp == 0 ? 0.0f : lower);
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t i = first + row * ROW;
        float *sum = rows[row];
        if (is_whole) *(float4 *)(target + i) = make_float4(added + sum[0], added + sum[1], added + sum[2], added + sum[3]);
        else for (uint32_t next = 0; next < 4; next++) if (i + next < n) target[i + next] = added + sum[next];
    }
}
#undef SCAN

KERNEL scan_sums(const float *source, float *sums, uint32_t n, uint32_t tile) {
    const uint32_t LOADS = 16;
    uint32_t warp = index_1d() / WARP, lane = threadIdx.x % WARP;
    if (warp * tile >= n) return;
    uint32_t end = minimum(warp * tile + tile, n), first = warp * tile + lane;
    float sum = 0.0f;
    for (; first - lane + LOADS * WARP <= end; first += LOADS * WARP) {
        float values[LOADS];
        for (uint32_t i = 0; i < LOADS; i++) values[i] = source[first + i * WARP];
        for (uint32_t i = 0; i < LOADS; i++) sum += values[i];
    }
    for (; first < end; first += WARP) sum += source[first];
    for (uint32_t lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, lanes);
    if (lane == 0) sums[warp] = sum;
}

constexpr uint32_t BINS = 256;

KERNEL histogram_global_atomic(const uint8_t *source, uint32_t *target, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) atomicAdd(target + source[i], 1);
}

static __device__ void clear_words(uint32_t *words, uint32_t len, uint32_t threads) {
    for (uint32_t word = threadIdx.x; word < len; word += threads) words[word] = 0;
    __syncthreads();
}
template <class Place> static __device__ void merge_copies(const uint32_t *words, uint32_t *target, uint32_t copies, Place place) {
    __syncthreads();
    uint32_t bin = threadIdx.x;
    if (bin < BINS) {
        uint32_t sum = 0;
        for (uint32_t copy = 0; copy < copies; copy++) sum += words[place(copy, bin)];
        atomicAdd(target + bin, sum);
    }
}
template <class Place> static __device__ void count_bytes(const uint8_t *source, uint32_t n, uint32_t *words, Place place) {
    const uint32_t BYTES = 8;
    uint32_t threads = gridDim.x * 512, i = index_1d();
    for (; i + (BYTES - 1) * threads < n; i += BYTES * threads) {
        uint32_t bins[BYTES];
        for (uint32_t step = 0; step < BYTES; step++) bins[step] = source[i + step * threads];
        for (uint32_t step = 0; step < BYTES; step++) atomicAdd(words + place(bins[step]), 1);
    }
    for (; i < n; i += threads) atomicAdd(words + place(source[i]), 1);
}

KERNEL histogram_block_private(const uint8_t *source, uint32_t *target, uint32_t n) {
    __shared__ uint32_t words[BINS];
    clear_words(words, BINS, 512);
    count_bytes(source, n, words, [](uint32_t bin) { return bin; });
    merge_copies(words, target, 1, [](uint32_t, uint32_t bin) { return bin; });
}
KERNEL histogram_warp_private(const uint8_t *source, uint32_t *target, uint32_t n) {
    __shared__ uint32_t words[16 * BINS];
    uint32_t warp = threadIdx.x / WARP;
    clear_words(words, 16 * BINS, 512);
    count_bytes(source, n, words, [&](uint32_t bin) { return warp * BINS + bin; });
    merge_copies(words, target, 16, [](uint32_t copy, uint32_t bin) { return copy * BINS + bin; });
}
KERNEL histogram_padded(const uint8_t *source, uint32_t *target, uint32_t n) {
    __shared__ uint32_t words[WARP * (BINS + 1)];
    uint32_t lane = threadIdx.x % WARP;
    clear_words(words, WARP * (BINS + 1), 512);
    count_bytes(source, n, words, [&](uint32_t bin) { return lane * (BINS + 1) + bin; });
    merge_copies(words, target, WARP, [](uint32_t copy, uint32_t bin) { return copy * (BINS + 1) + bin; });
}
static __device__ uint32_t own_bank(uint32_t bin, uint32_t lane) { return bin * WARP | lane; }
static __device__ void merge_lanes(const uint32_t *words, uint32_t *target) {
    merge_copies(words, target, WARP, [](uint32_t copy, uint32_t bin) { return own_bank(bin, (copy + bin) % WARP); });
}
KERNEL histogram_lane_private(const uint8_t *source, uint32_t *target, uint32_t n) {
    __shared__ uint32_t words[BINS * WARP];
    uint32_t lane = threadIdx.x % WARP;
    clear_words(words, BINS * WARP, 512);
    count_bytes(source, n, words, [&](uint32_t bin) { return own_bank(bin, lane); });
    merge_lanes(words, target);
}

template <class See> static __device__ void for_packs(const uint4 *source, uint32_t packs, uint32_t first, uint32_t threads, See see) {
    uint32_t i = first;
    for (; i + 3 * threads < packs; i += 4 * threads) {
        uint4 a = source[i], b = source[i + threads], c = source[i + 2 * threads], d = source[i + 3 * threads];
        see(a), see(b), see(c), see(d);
    }
    for (; i < packs; i += threads) see(source[i]);
}

KERNEL BOUNDS(512, 4) histogram_aggregated(const uint8_t *source, uint32_t *target, uint32_t n) {
    __shared__ uint32_t words[BINS * WARP];
    uint32_t lane = threadIdx.x % WARP, first = index_1d(), packs = n / 16;
    auto count = [&](uint32_t word) {
        bool equal = __funnelshift_l(word, word, 8) == word;
        atomicAdd(words + own_bank(word & 0xff, lane), equal ? 4 : 1);
        if (!equal) {
            for (uint32_t shift = 8; shift < 32; shift += 8) atomicAdd(words + own_bank(word >> shift & 0xff, lane), 1);
        }
    };
    clear_words(words, BINS * WARP, 512);
    for_packs((const uint4 *)source, packs, first, gridDim.x * 512, [&](uint4 pack) { count(pack.x), count(pack.y), count(pack.z), count(pack.w); });
    uint32_t left = packs * 16 + first;
    if (left < n) atomicAdd(words + own_bank(source[left], lane), 1);
    merge_lanes(words, target);
}

static __device__ uint32_t bin_of(uint32_t key) { return key >> 15; }

KERNEL BOUNDS(512, 4) histogram_large_histogram_global(const uint32_t *keys, uint32_t *target, uint32_t n) {
    uint32_t first = index_1d();
    auto count = [&](uint32_t key) { atomicAdd(target + bin_of(key), 1); };
    for_packs((const uint4 *)keys, n / 4, first, gridDim.x * 512, [&](uint4 pack) { count(pack.x), count(pack.y), count(pack.z), count(pack.w); });
    uint32_t left = n / 4 * 4 + first;
    if (left < n) count(keys[left]);
}

static __device__ void count_part(const uint32_t *keys, uint32_t n, uint32_t *words, uint32_t lowest, uint32_t part) {
    uint32_t first = blockIdx.x * 1024 + threadIdx.x;
    auto count = [&](uint32_t key) {
        uint32_t word = bin_of(key) - lowest;
        if (word < part) atomicAdd(words + word, 1);
    };
    clear_words(words, part, 1024);
    for_packs((const uint4 *)keys, n / 4, first, gridDim.x * 1024, [&](uint4 pack) { count(pack.x), count(pack.y), count(pack.z), count(pack.w); });
    uint32_t left = n / 4 * 4 + first;
    if (left < n) count(keys[left]);
}

KERNEL BOUNDS(1024, 1) histogram_large_histogram(const uint32_t *keys, uint32_t *target, uint32_t n, uint32_t part) {
    uint32_t *words = (uint32_t *)dynamic_words, lowest = blockIdx.y * part;
    count_part(keys, n, words, lowest, part);
    __syncthreads();
    for (uint32_t word = threadIdx.x; word < part && lowest + word < 1 << 17; word += 1024) atomicAdd(target + lowest + word, words[word]);
}

template <class Each> static __device__ void for_each_bin(const uint32_t *keys, uint32_t n, uint32_t bins, Each each) {
    uint32_t vectors = n / 4, first = index_1d(), threads = gridDim.x * 1024;
    for (uint32_t i = first; i < vectors; i += threads) {
        uint4 four = ((const uint4 *)keys)[i];
        each(four.x & (bins - 1)), each(four.y & (bins - 1)), each(four.z & (bins - 1)), each(four.w & (bins - 1));
    }
    uint32_t rest = vectors * 4 + first;
    if (rest < n) each(keys[rest] & (bins - 1));
}

KERNEL distributed_shared_parts(const uint32_t *keys, uint32_t *target, uint32_t bins, uint32_t part, uint32_t n) {
    uint32_t *own = (uint32_t *)dynamic_words, first = blockIdx.y * part;
    clear_words(own, part, 1024);
    for_each_bin(keys, n, bins, [&](uint32_t bin) {
        uint32_t at = bin - first;
        if (at < part) atomicAdd(own + at, 1);
    });
    __syncthreads();
    for (uint32_t at = threadIdx.x; at < part; at += 1024) atomicAdd(target + first + at, own[at]);
}

static __device__ uint32_t sum_of_part(const uint32_t *keys, uint32_t part) {
    uint32_t sum = 0;
    for (uint32_t i = threadIdx.x; i < part / 4; i += 256) {
        uint4 four = ((const uint4 *)keys)[i];
        sum += four.x + four.y + four.z + four.w;
    }
    return sum;
}
static __device__ void store_with(const uint32_t *keys, uint32_t *target, uint32_t part, uint32_t sum) {
    for (uint32_t i = threadIdx.x; i < part / 4; i += 256) ((uint4 *)target)[i] = ((const uint4 *)keys)[i] + make_uint4(sum, sum, sum, sum);
}

KERNEL distributed_shared_sums_of_rows(const uint32_t *keys, uint32_t *sums, uint32_t part) {
    uint32_t sum = __reduce_add_sync(ALL_LANES, sum_of_part(keys + (size_t)blockIdx.x * part, part));
    if (threadIdx.x % WARP == 0) atomicAdd(sums + blockIdx.x / 8, sum);
}

KERNEL distributed_shared_rows_global(const uint32_t *keys, uint32_t *target, const uint32_t *sums, uint32_t part) {
    size_t first = (size_t)blockIdx.x * part;
    store_with(keys + first, target + first, part, sums[blockIdx.x / 8]);
}

// Peers of `scan`, within the namespace of `peers.cu`.

const uint32_t ROWS = 8, SCAN_TILE = 256 * ROWS * 4; // of our `look_back`, whose twin this is

__device__ float warp_scan(float value) {
    for (int delta = 1; delta < 32; delta *= 2) {
        float lower = __shfl_up_sync(~0u, value, delta);
        if (threadIdx.x % 32 >= delta) value += lower;
    }
    return value;
}

__device__ unsigned long long load_word(const unsigned long long *word) {
    unsigned long long value;
    asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
}

// State 1: the tile's own sum; 2: the sum up to its end. Both carry the number of the launch.
__device__ void publish(unsigned long long *word, uint32_t launch, uint32_t state, float value) {
    unsigned long long both = (unsigned long long)(2 * launch + state) << 32 | __float_as_uint(value);
    asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" : : "l"(word), "l"(both) : "memory");
}

__device__ float sum_of_tiles_before(const unsigned long long *tiles, uint32_t tile, uint32_t launch) {
    uint32_t lane = threadIdx.x % 32, end = tile;
    float sum = 0;
    while (end > 0) {
        unsigned long long found = (unsigned long long)(2 * launch + 2) << 32;
        if (lane < end) found = load_word(&tiles[end - 1 - lane]);
        uint32_t state = (uint32_t)(found >> 32) - 2 * launch;
        uint32_t prefixes = __ballot_sync(~0u, state == 2), known = __ballot_sync(~0u, state == 1 || state == 2);
        uint32_t needed = prefixes ^ (prefixes - 1);
        if ((known & needed) != needed) continue;
        if (needed >> lane & 1) sum += __uint_as_float((uint32_t)found);
        if (prefixes != 0) break;
        end -= 32;
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
    return sum;
}

// What a block that looks back shares.
struct Shared {
    float sums[8], before;
    unsigned long long ticket;
};

// One of a launch's `count` tickets: its number, and in the lower half the tile.
__device__ __forceinline__ unsigned long long take_ticket(unsigned long long *state, uint32_t count) {
    unsigned long long taken = atomicAdd(state, 1ull);
    if ((uint32_t)taken == count - 1) atomicAdd(state, (1ull << 32) - count);
    return taken;
}

__device__ __forceinline__ unsigned long long next_tile(Shared &shared, unsigned long long *state) {
    if (threadIdx.x == 0) shared.ticket = take_ticket(state, gridDim.x);
    __syncthreads();
    return shared.ticket;
}

// The sum of all elements before this warp's, from the sum of the warp's.
__device__ __forceinline__ float before_warp(Shared &shared, unsigned long long *state, uint32_t tile, uint32_t launch, float own) {
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) shared.sums[warp] = own;
    __syncthreads();
    float scanned = warp_scan(lane < 8 ? shared.sums[lane] : 0);
    float lower = __shfl_sync(~0u, scanned, (warp + 31) % 32), sum = __shfl_sync(~0u, scanned, 31);
    if (warp == 0) {
        unsigned long long *tiles = state + 1;
        if (lane == 0 && tile > 0) publish(&tiles[tile], launch, 1, sum);
        float before = sum_of_tiles_before(tiles, tile, launch);
        if (lane == 0) {
            publish(&tiles[tile], launch, 2, before + sum);
            shared.before = before;
        }
    }
    __syncthreads();
    return shared.before + (warp > 0 ? lower : 0);
}

__global__ void __launch_bounds__(256, 4) scan_looking_back(const float *source, float *target, unsigned long long *state, uint32_t n) {
    __shared__ Shared shared;
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint64_t ticket = next_tile(shared, state);
    uint32_t tile = (uint32_t)ticket, launch = (uint32_t)(ticket >> 32), first = tile * SCAN_TILE + warp * ROWS * 128 + lane * 4;
    bool whole = n - tile * SCAN_TILE >= SCAN_TILE;
    float rows[ROWS][4] = {};
#pragma unroll
    for (uint32_t r = 0; r < ROWS; r++) {
        if (whole) {
            float4 four = *(const float4 *)&source[first + r * 128];
            rows[r][0] = four.x; rows[r][1] = four.y; rows[r][2] = four.z; rows[r][3] = four.w;
        } else {
            for (uint32_t k = 0; k < 4; k++) if (first + r * 128 + k < n) rows[r][k] = source[first + r * 128 + k];
        }
    }
    float before_row = 0;
#pragma unroll
    for (uint32_t r = 0; r < ROWS; r++) {
        for (uint32_t k = 1; k < 4; k++) rows[r][k] += rows[r][k - 1];
        float scanned = warp_scan(rows[r][3]), lower = __shfl_up_sync(~0u, scanned, 1);
        float before = before_row + (lane > 0 ? lower : 0);
        for (uint32_t k = 0; k < 4; k++) rows[r][k] += before;
        before_row += __shfl_sync(~0u, scanned, 31);
    }
    float before = before_warp(shared, state, tile, launch, before_row);
#pragma unroll
    for (uint32_t r = 0; r < ROWS; r++) {
        for (uint32_t k = 0; k < 4; k++) rows[r][k] += before;
        if (whole) *(float4 *)&target[first + r * 128] = make_float4(rows[r][0], rows[r][1], rows[r][2], rows[r][3]);
        else for (uint32_t k = 0; k < 4; k++) if (first + r * 128 + k < n) target[first + r * 128 + k] = rows[r][k];
    }
}

// The same with the tile in shared memory: as our `look_back_async`.
__global__ void __launch_bounds__(256, 6) scan_past_registers(const float *source, float *target, unsigned long long *state, uint32_t n) {
    __shared__ float4 elements[SCAN_TILE / 4];
    __shared__ Shared shared;
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint64_t ticket = next_tile(shared, state);
    uint32_t tile = (uint32_t)ticket, launch = (uint32_t)(ticket >> 32), own = warp * ROWS * 32 + lane, first = tile * SCAN_TILE + own * 4;
#pragma unroll
    for (uint32_t r = 0; r < ROWS; r++) {
        uint32_t i = first + r * 128, left = i < n ? min(n - i, 4u) : 0;
        __pipeline_memcpy_async(&elements[own + r * 32], &source[i], 16, 16 - 4 * left);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    float before_rows[ROWS], before_row = 0;
#pragma unroll
    for (uint32_t r = 0; r < ROWS; r++) {
        float4 four = elements[own + r * 32];
        float scanned = warp_scan((four.x + four.y) + (four.z + four.w)), lower = __shfl_up_sync(~0u, scanned, 1);
        before_rows[r] = before_row + (lane > 0 ? lower : 0);
        before_row += __shfl_sync(~0u, scanned, 31);
    }
    float before_all = before_warp(shared, state, tile, launch, before_row);
    bool whole = n - tile * SCAN_TILE >= SCAN_TILE;
#pragma unroll
    for (uint32_t r = 0; r < ROWS; r++) {
        float4 four = elements[own + r * 32];
        float before = before_all + before_rows[r];
        float results[4] = {before + four.x, before + (four.x + four.y), before + ((four.x + four.y) + four.z), before + ((four.x + four.y) + (four.z + four.w))};
        if (whole) *(float4 *)&target[first + r * 128] = make_float4(results[0], results[1], results[2], results[3]);
        else for (uint32_t k = 0; k < 4; k++) if (first + r * 128 + k < n) target[first + r * 128 + k] = results[k];
    }
}

typedef void ScanKernel(const float *source, float *target, unsigned long long *state, uint32_t n);

const char *scan_by(ScanKernel *kernel, cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    static Scratch scratch;
    size_t tiles = blocks(size[0], SCAN_TILE), had = scratch.bytes;
    if (!scratch.reserve(8 * (tiles + 1))) return "there is no memory left for the tiles' words";
    // Words of earlier launches, also of other sizes, count as not yet written.
    if (scratch.bytes != had) TRY(cudaMemsetAsync(scratch.memory, 0, scratch.bytes, stream));
    kernel<<<(uint32_t)tiles, 256, 0, stream>>>((const float *)in[0], (float *)out[0],
                                                (unsigned long long *)scratch.memory, (uint32_t)size[0]);
    return launched();
}

const char *scan_look_back(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    return scan_by(scan_looking_back, stream, in, out, size);
}

const char *scan_look_back_async(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    return scan_by(scan_past_registers, stream, in, out, size);
}

const uint32_t SCAN_CHUNK = 128 * ROWS, SCAN_CHUNKS = SCAN_TILE / SCAN_CHUNK, SCAN_STAGES = 6;
const uint32_t SPECIALIZED_THREADS = 32 * (3 + 2 * SCAN_CHUNKS);

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

// What the warps of a block tell each other about a tile.
struct ScanStage {
    Barrier filled, summed, ready, emptied;
    unsigned long long ticket;
    float sums[SCAN_CHUNKS], before;
};

__device__ __forceinline__ float sum_of_warp(float sum) {
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
    return sum;
}

__device__ __forceinline__ float sum_of_chunks(const ScanStage &stage, uint32_t chunks) {
    return sum_of_warp(threadIdx.x % 32 < chunks ? stage.sums[threadIdx.x % 32] : 0);
}

__device__ __forceinline__ void arrive_together(Barrier &barrier) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier.arrive();
}

// The sum of the tiles from `first` up to `end`, as soon as all are known.
__device__ __forceinline__ float sum_of_tiles(const unsigned long long *tiles, uint32_t first, uint32_t end, uint32_t launch) {
    const uint32_t WORDS = 5;
    float sum = 0;
    while (first < end) {
        unsigned long long words[WORDS];
        bool known = true;
#pragma unroll
        for (uint32_t k = 0; k < WORDS; k++) {
            uint32_t tile = first + k * 32 + threadIdx.x % 32;
            words[k] = tile < end ? load_word(&tiles[tile]) : (unsigned long long)(2 * launch + 1) << 32;
        }
#pragma unroll
        for (uint32_t k = 0; k < WORDS; k++) known = known && words[k] >> 32 == 2 * launch + 1;
        if (!__all_sync(~0u, known)) continue;
#pragma unroll
        for (uint32_t k = 0; k < WORDS; k++) sum += __uint_as_float((uint32_t)words[k]);
        first += 32 * WORDS;
    }
    return sum_of_warp(sum);
}

// As our `specialized_warps`.
__global__ void __launch_bounds__(SPECIALIZED_THREADS, 1)
scan_in_stages(const float *source, float *target, unsigned long long *state, uint32_t n) {
    extern __shared__ float4 tiles_here[];
    __shared__ ScanStage stages[SCAN_STAGES];
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, tiles = (n - 1) / SCAN_TILE + 1;
    if (threadIdx.x == 0) {
        for (ScanStage &stage : stages) {
            stage.filled.init(1);
            stage.summed.init(SCAN_CHUNKS);
            stage.ready.init(1);
            stage.emptied.init(SCAN_CHUNKS + 1);
        }
        barriers_are_made();
    }
    __syncthreads();
    if (warp == 0 && lane > 0) return;
    float before_tile = 0;
    uint32_t end = 0;
    for (uint32_t turn = 0;; turn++) {
        ScanStage &stage = stages[turn % SCAN_STAGES];
        float *elements = (float *)tiles_here + turn % SCAN_STAGES * SCAN_TILE;
        uint32_t parity = turn / SCAN_STAGES % 2;
        if (warp == 0) {
            stage.emptied.wait(parity ^ 1);
            stage.ticket = take_ticket(state, tiles + gridDim.x);
            uint32_t tile = (uint32_t)stage.ticket;
            if (tile >= tiles) {
                stage.filled.arrive();
                return;
            }
            uint32_t left = min(n - tile * SCAN_TILE, SCAN_TILE), copied = left - left % 4;
            for (uint32_t i = copied; i < left; i++) elements[i] = source[tile * SCAN_TILE + i];
            if (copied > 0) stage.filled.copy(elements, &source[tile * SCAN_TILE], copied * 4);
            else stage.filled.arrive();
            continue;
        }
        (warp < 3 ? stage.summed : stage.filled).wait(parity);
        uint32_t tile = (uint32_t)stage.ticket, launch = (uint32_t)(stage.ticket >> 32);
        bool is_end = tile >= tiles;
        if (warp == 1 && !is_end) {
            float sum = sum_of_chunks(stage, SCAN_CHUNKS);
            if (lane == 0) publish(&state[1 + tile], launch, 1, sum);
            arrive_together(stage.emptied);
        } else if (warp == 2 && !is_end) {
            before_tile += sum_of_tiles(state + 1, end, tile, launch);
            if (lane == 0) stage.before = before_tile;
            before_tile += sum_of_chunks(stage, SCAN_CHUNKS);
            arrive_together(stage.ready);
            end = tile + 1;
        } else if (warp >= 3) {
            uint32_t chunk = (warp - 3) % SCAN_CHUNKS, own = chunk * SCAN_CHUNK + lane * 4;
            bool is_adder = warp - 3 < SCAN_CHUNKS;
            if (is_end) {
                if (is_adder) arrive_together(stage.summed);
                return;
            }
            uint32_t left = n - tile * SCAN_TILE;
            float rows[ROWS][4] = {};
#pragma unroll
            for (uint32_t r = 0; r < ROWS; r++) {
                if (left >= SCAN_TILE) {
                    float4 four = *(const float4 *)&elements[own + r * 128];
                    rows[r][0] = four.x; rows[r][1] = four.y; rows[r][2] = four.z; rows[r][3] = four.w;
                } else {
                    for (uint32_t k = 0; k < 4; k++) if (own + r * 128 + k < left) rows[r][k] = elements[own + r * 128 + k];
                }
            }
            if (is_adder) {
                float sum = 0;
#pragma unroll
                for (uint32_t r = 0; r < ROWS; r++) sum += (rows[r][0] + rows[r][1]) + (rows[r][2] + rows[r][3]);
                sum = sum_of_warp(sum);
                if (lane == 0) stage.sums[chunk] = sum;
                arrive_together(stage.summed);
                continue;
            }
            float before_row = 0;
#pragma unroll
            for (uint32_t r = 0; r < ROWS; r++) {
                for (uint32_t k = 1; k < 4; k++) rows[r][k] += rows[r][k - 1];
                float scanned = warp_scan(rows[r][3]), lower = __shfl_up_sync(~0u, scanned, 1);
                float before = before_row + (lane > 0 ? lower : 0);
                for (uint32_t k = 0; k < 4; k++) rows[r][k] += before;
                before_row += __shfl_sync(~0u, scanned, 31);
            }
            stage.ready.wait(parity);
            float before = stage.before + sum_of_chunks(stage, chunk);
            arrive_together(stage.emptied);
            uint32_t first = tile * SCAN_TILE + own;
#pragma unroll
            for (uint32_t r = 0; r < ROWS; r++) {
                for (uint32_t k = 0; k < 4; k++) rows[r][k] += before;
                if (left >= SCAN_TILE) *(float4 *)&target[first + r * 128] = make_float4(rows[r][0], rows[r][1], rows[r][2], rows[r][3]);
                else for (uint32_t k = 0; k < 4; k++) if (first + r * 128 + k < n) target[first + r * 128 + k] = rows[r][k];
            }
        }
        if (is_end) return;
    }
}

#else

__global__ void scan_in_stages(const float *, float *, unsigned long long *, uint32_t) {}

#endif

const char *scan_specialized_warps(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    static Scratch scratch;
    cudaFuncAttributes attributes;
    TRY(cudaFuncGetAttributes(&attributes, scan_in_stages));
    if (attributes.ptxVersion < 90) return "barriers in shared memory need compute capability 9.0, and peers built for it";
    size_t tiles = blocks(size[0], SCAN_TILE), had = scratch.bytes;
    if (!scratch.reserve(8 * (tiles + 1))) return "there is no memory left for the tiles' words";
    if (scratch.bytes != had) TRY(cudaMemsetAsync(scratch.memory, 0, scratch.bytes, stream));
    int device = 0, multiprocessors = 0, bytes = SCAN_STAGES * SCAN_TILE * 4;
    TRY(cudaGetDevice(&device));
    TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    TRY(cudaFuncSetAttribute(scan_in_stages, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    scan_in_stages<<<tiles < (size_t)multiprocessors ? tiles : multiprocessors, SPECIALIZED_THREADS, bytes, stream>>>(
        (const float *)in[0], (float *)out[0], (unsigned long long *)scratch.memory, (uint32_t)size[0]);
    return launched();
}

const char *scan_cub(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    static Scratch scratch;
    size_t bytes = 0;
    const float *source = (const float *)in[0];
    float *target = (float *)out[0];
    TRY(cub::DeviceScan::InclusiveSum(nullptr, bytes, source, target, (int)size[0], stream));
    if (!scratch.reserve(bytes)) return "there is no memory left for CUB";
    TRY(cub::DeviceScan::InclusiveSum(scratch.memory, bytes, source, target, (int)size[0], stream));
    return nullptr;
}

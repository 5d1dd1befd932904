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

// The number of this launch, and in the lower half the block's tile.
__device__ __forceinline__ unsigned long long next_tile(Shared &shared, unsigned long long *state) {
    if (threadIdx.x == 0) {
        unsigned long long taken = atomicAdd(state, 1ull);
        if ((uint32_t)taken == gridDim.x - 1) atomicAdd(state, (1ull << 32) - gridDim.x);
        shared.ticket = taken;
    }
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

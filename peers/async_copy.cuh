// Peers of `async_copy`, within the namespace of `peers.cu`.

const uint32_t TILE = 2048, STAGES = 4, APART = 128; // words of a tile, tiles of a block, words to the partner

// The tiles of a block: an equal share for each, neighbouring ones.
struct Tiles {
    uint32_t n, first, end;
    __device__ explicit Tiles(uint32_t n) : n(n) {
        uint32_t tiles = (n + TILE - 1) / TILE, share = (tiles + gridDim.x - 1) / gridDim.x;
        first = blockIdx.x * share;
        end = min(first + share, tiles);
    }
    __device__ bool is_whole(uint32_t tile) const { return (tile + 1) * TILE <= n; }
};

// Writes the sums of a tile that lies in shared memory, with zeros beyond n.
__device__ void write_sums(const Tiles &tiles, uint32_t tile, const float *words, float *target) {
    bool whole = tiles.is_whole(tile);
    for (uint32_t step = 0; step < TILE / 1024; step++) {
        uint32_t word = (step * 256 + threadIdx.x) * 4, i = tile * TILE + word;
        float4 own = *(const float4 *)&words[word], partner = *(const float4 *)&words[word ^ APART];
        float sums[4] = {own.x + partner.x, own.y + partner.y, own.z + partner.z, own.w + partner.w};
        if (whole) *(float4 *)&target[i] = make_float4(sums[0], sums[1], sums[2], sums[3]);
        else for (uint32_t k = 0; k < 4; k++) if (i + k < tiles.n) target[i + k] = sums[k];
    }
}

// The first bytes of 16, and zeros behind them. `__pipeline_memcpy_async` would have a branch for each number of them.
__device__ void copy_part(void *shared, const void *global, uint32_t bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 : : "r"(shared_address(shared)), "l"(global), "r"(bytes) : "memory");
}

__device__ void start_tile(const Tiles &tiles, uint32_t tile, float *words, const float *source) {
    bool whole = tiles.is_whole(tile);
    for (uint32_t step = 0; step < TILE / 1024; step++) {
        uint32_t word = (step * 256 + threadIdx.x) * 4, i = tile * TILE + word;
        if (whole) __pipeline_memcpy_async(&words[word], &source[i], 16);
        else copy_part(&words[word], &source[i], i < tiles.n ? min(tiles.n - i, 4u) * 4 : 0);
    }
}

__global__ void __launch_bounds__(256) add_partners_pipelined(const float *source, float *target, uint32_t n) {
    __shared__ float4 ring[STAGES * TILE / 4];
    Tiles tiles(n);
    auto stage = [&](uint32_t tile) { return (float *)ring + tile % STAGES * TILE; };
    for (uint32_t tile = tiles.first; tile < tiles.first + STAGES - 1; tile++) {
        if (tile < tiles.end) start_tile(tiles, tile, stage(tile), source);
        __pipeline_commit(); // a tile that is missing has an empty group: groups are counted
    }
    for (uint32_t tile = tiles.first; tile < tiles.end; tile++) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        uint32_t next = tile + STAGES - 1;
        if (next < tiles.end) start_tile(tiles, next, stage(next), source);
        __pipeline_commit();
        write_sums(tiles, tile, stage(tile), target);
    }
}

const char *async_pipelined(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    add_partners_pipelined<<<blocks(size[0], 16 * TILE), 256, 0, stream>>>(
        (const float *)in[0], (float *)out[0], size[0]);
    return launched();
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

// A tile that is not whole, with zeros beyond n.
__device__ void fill_tile(const Tiles &tiles, uint32_t tile, float *words, const float *source) {
    for (uint32_t step = 0; step < TILE / 256; step++) {
        uint32_t word = step * 256 + threadIdx.x, i = tile * TILE + word;
        words[word] = i < tiles.n ? source[i] : 0;
    }
}

__global__ void __launch_bounds__(256) add_partners_bulk(const float *source, float *target, uint32_t n) {
    __shared__ float4 ring[STAGES * TILE / 4];
    __shared__ Barrier arrived[STAGES];
    Tiles tiles(n);
    auto stage = [&](uint32_t tile) { return (float *)ring + tile % STAGES * TILE; };
    auto start = [&](uint32_t tile) {
        if (threadIdx.x == 0 && tile < tiles.end && tiles.is_whole(tile))
            arrived[tile % STAGES].copy(stage(tile), &source[tile * TILE], 4 * TILE);
    };
    if (threadIdx.x == 0) {
        for (Barrier &barrier : arrived) barrier.init(1);
        barriers_are_made();
        for (uint32_t tile = tiles.first; tile < tiles.first + STAGES - 1; tile++) start(tile);
    }
    __syncthreads();
    for (uint32_t tile = tiles.first; tile < tiles.end; tile++) {
        if (tiles.is_whole(tile)) arrived[tile % STAGES].wait((tile - tiles.first) / STAGES % 2);
        else fill_tile(tiles, tile, stage(tile), source);
        __syncthreads();
        start(tile + STAGES - 1);
        write_sums(tiles, tile, stage(tile), target);
    }
}

#else

__global__ void add_partners_bulk(const float *, float *, uint32_t) {}

#endif

const char *async_bulk(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    cudaFuncAttributes attributes;
    TRY(cudaFuncGetAttributes(&attributes, add_partners_bulk));
    if (attributes.ptxVersion < 90) return "not run: bulk copies need compute capability 9.0, and peers built for it";
    add_partners_bulk<<<blocks(size[0], 16 * TILE), 256, 0, stream>>>(
        (const float *)in[0], (float *)out[0], size[0]);
    return launched();
}

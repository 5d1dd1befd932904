// Peers of `histogram`, within the namespace of `peers.cu`.

// A copy of the counters per bank, 16-byte loads: as our `coarsened`.
__global__ void __launch_bounds__(512, 4) count_in_banks(const uint8_t *source, uint32_t *target, uint32_t n) {
    __shared__ uint32_t words[256 * 32];
    for (uint32_t word = threadIdx.x; word < 256 * 32; word += 512) words[word] = 0;
    __syncthreads();
    uint32_t lane = threadIdx.x % 32, threads = gridDim.x * 512, first = blockIdx.x * 512 + threadIdx.x;
    auto count = [&](uint32_t word) {
        for (int shift = 0; shift < 32; shift += 8) atomicAdd(&words[(word >> shift & 255) * 32 + lane], 1);
    };
    const uint4 *packs = (const uint4 *)source;
    uint32_t i = first, all = n / 16;
    for (; i + 3 * threads < all; i += 4 * threads) {
        uint4 p[4] = {packs[i], packs[i + threads], packs[i + 2 * threads], packs[i + 3 * threads]};
        for (int k = 0; k < 4; k++) { count(p[k].x); count(p[k].y); count(p[k].z); count(p[k].w); }
    }
    for (; i < all; i += threads) { uint4 p = packs[i]; count(p.x); count(p.y); count(p.z); count(p.w); }
    if (16 * all + first < n) atomicAdd(&words[source[16 * all + first] * 32 + lane], 1);
    __syncthreads();
    for (uint32_t bin = threadIdx.x / 32; bin < 256; bin += 16) {
        uint32_t sum = __reduce_add_sync(~0u, words[bin * 32 + lane]);
        if (lane == 0 && sum > 0) atomicAdd(&target[bin], sum);
    }
}

const char *histogram_coarsened(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    count_in_banks<<<whole_device(4), 512, 0, stream>>>((const uint8_t *)in[0], (uint32_t *)out[0], (uint32_t)size[0]);
    return launched();
}

const char *histogram_cub(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    static Scratch scratch;
    size_t bytes = 0;
    const uint8_t *source = (const uint8_t *)in[0];
    int *target = (int *)out[0];
    TRY(cub::DeviceHistogram::HistogramEven(nullptr, bytes, source, target, 257, 0, 256, (int)size[0], stream));
    if (!scratch.reserve(bytes)) return "there is no memory left for CUB";
    TRY(cub::DeviceHistogram::HistogramEven(scratch.memory, bytes, source, target, 257, 0, 256, (int)size[0], stream));
    return nullptr;
}

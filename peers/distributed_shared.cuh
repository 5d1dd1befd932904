// Peers of `distributed_shared`, within the namespace of `peers.cu`.

template <typename Each>
__device__ void for_each_bin(const uint32_t *keys, uint32_t n, uint32_t bins, Each each) {
    uint32_t threads = gridDim.x * 1024, first = blockIdx.x * 1024 + threadIdx.x, mask = bins - 1;
    for (uint32_t i = first; i < n / 4; i += threads) {
        uint4 key = ((const uint4 *)keys)[i];
        each(key.x & mask), each(key.y & mask), each(key.z & mask), each(key.w & mask);
    }
    if (n / 4 * 4 + first < n) each(keys[n / 4 * 4 + first] & mask);
}

__global__ void __launch_bounds__(1024) bins_in_device_memory(const uint32_t *keys, uint32_t *target, uint32_t bins, uint32_t n) {
    for_each_bin(keys, n, bins, [=](uint32_t bin) { atomicAdd(&target[bin], 1); });
}

const char *distributed_global(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    uint32_t wanted = blocks(size[0], 4096), most = whole_device(2);
    bins_in_device_memory<<<wanted < most ? wanted : most, 1024, 0, stream>>>(
        (const uint32_t *)in[0], (uint32_t *)out[0], size[1], size[0]);
    return launched();
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

// The blocks of a cluster hold the bins together: as our `cluster`.
__global__ void __cluster_dims__(8) __launch_bounds__(1024)
bins_in_cluster(const uint32_t *keys, uint32_t *target, uint32_t bins, uint32_t n) {
    extern __shared__ uint32_t own[];
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    uint32_t part = bins / 8, bits = 31 - __clz(part), *results = target + cluster.block_rank() * part;
    for (uint32_t at = threadIdx.x; at < part; at += 1024) own[at] = 0;
    cluster.sync();
    for_each_bin(keys, n, bins, [&](uint32_t bin) {
        atomicAdd(cluster.map_shared_rank(&own[bin & (part - 1)], bin >> bits), 1);
    });
    cluster.sync();
    for (uint32_t at = threadIdx.x; at < part; at += 1024) atomicAdd(&results[at], own[at]);
}

#else

__global__ void bins_in_cluster(const uint32_t *, uint32_t *, uint32_t, uint32_t) {}

#endif

const char *distributed_cluster(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    cudaFuncAttributes attributes;
    TRY(cudaFuncGetAttributes(&attributes, bins_in_cluster));
    if (attributes.ptxVersion < 90) return "not run: clusters need compute capability 9.0, and peers built for it";
    uint32_t bytes = size[1] / 8 * 4, wanted = blocks(blocks(size[0], 4096), 8), grid = (wanted < 33 ? wanted : 33) * 8;
    if (bytes > 128 << 10) return "not run: more than 2^18 bins do not fit into the memory of a cluster";
    TRY(cudaFuncSetAttribute(bins_in_cluster, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    bins_in_cluster<<<grid, 1024, bytes, stream>>>((const uint32_t *)in[0], (uint32_t *)out[0], size[1], size[0]);
    return launched();
}

// The bin of a key.
struct LowerBits {
    uint32_t mask;
    __host__ __device__ uint32_t operator()(uint32_t key) const { return key & mask; }
};

const char *distributed_cub(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    static Scratch scratch;
    size_t bytes = 0;
    uint32_t bins = (uint32_t)size[1];
    auto source = thrust::make_transform_iterator((const uint32_t *)in[0], LowerBits{bins - 1});
    int *target = (int *)out[0], levels = (int)bins + 1, n = (int)size[0];
    TRY(cub::DeviceHistogram::HistogramEven(nullptr, bytes, source, target, levels, 0u, bins, n, stream));
    if (!scratch.reserve(bytes)) return "there is no memory left for CUB";
    TRY(cub::DeviceHistogram::HistogramEven(scratch.memory, bytes, source, target, levels, 0u, bins, n, stream));
    return nullptr;
}

// Peers of `reduction`, within the namespace of `peers.cu`.

__device__ float warp_sum(float value) {
    for (int delta = 16; delta > 0; delta /= 2) value += __shfl_down_sync(~0u, value, delta);
    return value;
}

// 512 threads, 16-byte loads, four in flight, one atomic per block: as our `vectorized`.
__global__ void __launch_bounds__(512, 4) sum_quads(const float4 *source, float *target, uint32_t quads, const float *words, uint32_t n) {
    __shared__ float sums[16];
    uint32_t first = blockIdx.x * 512 + threadIdx.x, i = blockIdx.x * 2048 + threadIdx.x;
    float sum = 0;
    auto of = [](float4 q) { return (q.x + q.y) + (q.z + q.w); };
    for (; i + 3 * 512 < quads; i += 2048 * gridDim.x) {
        float4 q0 = source[i], q1 = source[i + 512], q2 = source[i + 2 * 512], q3 = source[i + 3 * 512];
        sum += (of(q0) + of(q1)) + (of(q2) + of(q3));
    }
    for (; i < quads; i += 512) sum += of(source[i]);
    if (4 * quads + first < n) sum += words[4 * quads + first];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = warp_sum(threadIdx.x < 16 ? sums[threadIdx.x] : 0);
        if (threadIdx.x == 0) atomicAdd(target, sum);
    }
}

const char *reduction_vectorized(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    uint32_t n = size[0], wanted = blocks(n, 512 * 16);
    uint32_t most = whole_device(4), grid = wanted < most ? wanted : most;
    sum_quads<<<grid, 512, 0, stream>>>((const float4 *)in[0], (float *)out[0], n / 4, (const float *)in[0], n);
    return launched();
}

const char *reduction_cub(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    static Scratch scratch;
    size_t bytes = 0;
    const float *source = (const float *)in[0];
    float *target = (float *)out[0];
    TRY(cub::DeviceReduce::Sum(nullptr, bytes, source, target, (int)size[0], stream));
    if (!scratch.reserve(bytes)) return "there is no memory left for CUB";
    TRY(cub::DeviceReduce::Sum(scratch.memory, bytes, source, target, (int)size[0], stream));
    return nullptr;
}

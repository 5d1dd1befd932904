// Peers of `bank_conflicts`, within the namespace of `peers.cu`.

// Walks through the columns of a tile, lane = row: the entry that is found says which column is next.
template <typename Place>
__device__ void walk_through_columns(const uint32_t *next, uint32_t *target, uint32_t n, uint32_t *tile, Place place) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    for (uint32_t step = 0; step < 4; step++) { // All four loads are on their way before the first store waits.
        uint32_t word = step * 256 + threadIdx.x;
        tile[place(word / 32, word % 32)] = next[word];
    }
    __syncthreads();
    if (i >= n) return;
    uint32_t entry = i / 32;
    for (uint32_t step = 0; step < 64; step++) entry = tile[place(i % 32, entry % 32)];
    target[i] = entry;
}

__global__ void walk_padded(const uint32_t *next, uint32_t *target, uint32_t n) {
    __shared__ uint32_t tile[32 * 33];
    auto place = [](uint32_t row, uint32_t column) { return row * 33 + column; };
    walk_through_columns(next, target, n, tile, place);
}

const char *banks_padded(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    walk_padded<<<blocks(size[0], 256), 256, 0, stream>>>((const uint32_t *)in[0], (uint32_t *)out[7], size[0]);
    return launched();
}

__global__ void walk_swizzled(const uint32_t *next, uint32_t *target, uint32_t n) {
    __shared__ uint32_t tile[32 * 32];
    auto place = [](uint32_t row, uint32_t column) { return column ^ (row * 33); }; // row * 32 + (column ^ row)
    walk_through_columns(next, target, n, tile, place);
}

const char *banks_swizzled(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    walk_swizzled<<<blocks(size[0], 256), 256, 0, stream>>>((const uint32_t *)in[0], (uint32_t *)out[7], size[0]);
    return launched();
}

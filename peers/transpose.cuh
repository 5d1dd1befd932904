// Peers of `transpose`, within the namespace of `peers.cu`.

__global__ void transpose_in_tiles(const float *source, float *target, uint32_t rows, uint32_t columns) {
    __shared__ float tile[32][33];
    uint32_t column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (uint32_t step = 0; step < 32; step += 8)
        if (row + step < rows && column < columns)
            tile[threadIdx.y + step][threadIdx.x] = source[(size_t)(row + step) * columns + column];
    __syncthreads();
    uint32_t new_column = blockIdx.y * 32 + threadIdx.x, new_row = blockIdx.x * 32 + threadIdx.y;
    for (uint32_t step = 0; step < 32; step += 8)
        if (new_row + step < columns && new_column < rows)
            target[(size_t)(new_row + step) * rows + new_column] = tile[threadIdx.x][threadIdx.y + step];
}

const char *transpose_padded(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    uint32_t rows = size[0], columns = size[1];
    transpose_in_tiles<<<dim3(blocks(columns, 32), blocks(rows, 32)), dim3(32, 8), 0, stream>>>(
        (const float *)in[0], (float *)out[0], rows, columns);
    return launched();
}

// Rows of ours are columns of cuBLAS.
const char *transpose_geam(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    int rows = (int)size[0], columns = (int)size[1];
    const float one = 1, zero = 0;
    float *target = (float *)out[0];
    TRY(cublasSgeam(blas(stream), CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, &one, (const float *)in[0], columns, &zero,
                    target, rows, target, rows));
    return nullptr;
}

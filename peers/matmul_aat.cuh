// Peers of `matmul_aat`, within the namespace of `peers.cu`.

__global__ void times_transposed(const float *a, float *c, uint32_t m) {
    __shared__ float rows[32][32], columns[32][33];
    uint32_t x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32 + x, row = blockIdx.y * 32 + y;
    rows[y][x] = a[(size_t)min(row, m - 1) * 32 + x];
    columns[x][y] = a[(size_t)min(blockIdx.x * 32 + y, m - 1) * 32 + x];
    __syncthreads();
    float sum = 0;
    for (uint32_t step = 0; step < 32; step++) sum += rows[y][step] * columns[step][x];
    if (row < m && column < m) c[(size_t)row * m + column] = sum;
}

const char *aat_padded(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    uint32_t m = size[0];
    times_transposed<<<dim3(blocks(m, 32), blocks(m, 32)), dim3(32, 32), 0, stream>>>(
        (const float *)in[0], (float *)out[0], m);
    return launched();
}

const char *aat_sgemm(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    int m = size[0];
    float one = 1, zero = 0;
    TRY(cublasSgemm(blas(stream), CUBLAS_OP_T, CUBLAS_OP_N, m, m, 32, &one, (const float *)in[0], 32,
                    (const float *)in[0], 32, &zero, (float *)out[0], m));
    return nullptr;
}

// What one triangle has, the other gets: ssyrk writes only one.
__global__ void mirror(float *c, uint32_t m) {
    __shared__ float tile[32][33];
    if (blockIdx.x > blockIdx.y) return;
    uint32_t x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
    if (row < m && column < m && column <= row) tile[y][x] = c[(size_t)row * m + column];
    __syncthreads();
    row = blockIdx.x * 32 + y, column = blockIdx.y * 32 + x;
    if (row < m && column < m && row < column) c[(size_t)row * m + column] = tile[x][y];
}

const char *aat_ssyrk(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    int m = size[0];
    float one = 1, zero = 0;
    // Column-major: its upper triangle is our lower one.
    TRY(cublasSsyrk(blas(stream), CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, m, 32, &one, (const float *)in[0], 32, &zero,
                    (float *)out[0], m));
    mirror<<<dim3(blocks(m, 32), blocks(m, 32)), dim3(32, 32), 0, stream>>>((float *)out[0], m);
    return launched();
}

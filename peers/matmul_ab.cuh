// Peers of `matmul_ab`, within the namespace of `peers.cu`.

const uint32_t INNER = 32;

__global__ void matmul_in_shared(const float *a, const float *b, float *c, uint32_t m, uint32_t n) {
    __shared__ float left[32][INNER], right[INNER][32];
    uint32_t x = threadIdx.x, y = threadIdx.y;
    uint32_t row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
    left[y][x] = row < m ? a[(size_t)row * INNER + x] : 0;
    right[y][x] = column < n ? b[(size_t)y * n + column] : 0;
    __syncthreads();
    float sum = 0;
    for (uint32_t step = 0; step < INNER; step++) sum += left[y][step] * right[step][x];
    if (row < m && column < n) c[(size_t)row * n + column] = sum;
}

const char *matmul_shared(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    uint32_t m = size[0], n = size[1];
    matmul_in_shared<<<dim3(blocks(n, 32), blocks(m, 32)), dim3(32, 32), 0, stream>>>(
        (const float *)in[0], (const float *)in[1], (float *)out[0], m, n);
    return launched();
}

// C = A B in rows is C' = B' A' in columns.
const char *matmul_sgemm(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    int m = (int)size[0], n = (int)size[1];
    const float one = 1, zero = 0;
    TRY(cublasSgemm(blas(stream), CUBLAS_OP_N, CUBLAS_OP_N, n, m, INNER, &one, (const float *)in[1], n,
                    (const float *)in[0], INNER, &zero, (float *)out[0], n));
    return nullptr;
}

extern "C" __global__ void matmul_tile(const float *a, const float *b, float *c, unsigned n) {
    unsigned x = threadIdx.x, y = threadIdx.y;
    unsigned row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0.0f;
    // learn: your code
    __shared__ float tile_a[256], tile_b[256];
    for (unsigned first = 0; first < n; first += 16) {
        tile_a[y * 16 + x] = row < n && first + x < n ? a[row * n + first + x] : 0.0f;
        tile_b[y * 16 + x] = first + y < n && column < n ? b[(first + y) * n + column] : 0.0f;
        __syncthreads();
        for (unsigned k = 0; k < 16; k++) sum += tile_a[y * 16 + k] * tile_b[k * 16 + x];
        __syncthreads();
    }
    // learn: instead
    //| // TODO: how often is each element of `a` loaded by this block?
    //| if (row < n && column < n)
    //|     for (unsigned k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    // learn: end
    if (row < n && column < n) c[row * n + column] = sum;
}

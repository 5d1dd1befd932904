// Peers of `matmul`, within the namespace of `peers.cu`.

__global__ void matmul_tiles(const float *a, const float *b, float *c, uint32_t m, uint32_t n, uint32_t k) {
    __shared__ float left[32][32], right[32][32];
    uint32_t x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32 + x, row = blockIdx.y * 32 + y;
    float sum = 0;
    for (uint32_t first = 0; first < k; first += 32) {
        left[y][x] = row < m && first + x < k ? a[(size_t)row * k + first + x] : 0;
        right[y][x] = first + y < k && column < n ? b[(size_t)(first + y) * n + column] : 0;
        __syncthreads();
        for (uint32_t step = 0; step < 32; step++) sum += left[y][step] * right[step][x];
        __syncthreads();
    }
    if (row < m && column < n) c[(size_t)row * n + column] = sum;
}

const char *matmul_tiled(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    uint32_t m = size[0], n = size[1], k = size[2];
    matmul_tiles<<<dim3(blocks(n, 32), blocks(m, 32)), dim3(32, 32), 0, stream>>>(
        (const float *)in[0], (const float *)in[1], (float *)out[0], m, n, k);
    return launched();
}

// Rows, columns, steps of a tile and tiles in flight; from one step of A to the next in shared memory.
const uint32_t PRODUCT_ROWS = 128, PRODUCT_COLUMNS = 256, PRODUCT_STEPS = 16, PRODUCT_STAGES = 4;
const uint32_t PRODUCT_PITCH = PRODUCT_ROWS + 4, PRODUCT_WORDS = PRODUCT_STEPS * (PRODUCT_PITCH + PRODUCT_COLUMNS);

__device__ void copy_word(void *shared, const void *global, uint32_t bytes) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 : : "r"(shared_address(shared)), "l"(global), "r"(bytes) : "memory");
}

struct Product {
    const float *a, *b;
    uint32_t m, n, k, first_row, first_column;

    __device__ void start(uint32_t tile, float *stage) const {
        uint32_t thread = threadIdx.x, first = tile * PRODUCT_STEPS, step = thread % PRODUCT_STEPS;
        uint32_t bytes = first + step < k ? 4 : 0;
        for (uint32_t row = thread / PRODUCT_STEPS; row < PRODUCT_ROWS; row += 256 / PRODUCT_STEPS)
            copy_word(&stage[step * PRODUCT_PITCH + row],
                      &a[(size_t)min(first_row + row, m - 1) * k + first + step], bytes);
        uint32_t column = thread % (PRODUCT_COLUMNS / 4) * 4;
        float *right = stage + PRODUCT_STEPS * PRODUCT_PITCH + column;
        bool whole = n % 4 == 0 && first + PRODUCT_STEPS <= k;
        for (uint32_t step = thread / (PRODUCT_COLUMNS / 4); step < PRODUCT_STEPS; step += 1024 / PRODUCT_COLUMNS)
            if (whole)
                __pipeline_memcpy_async(&right[step * PRODUCT_COLUMNS],
                                        &b[(size_t)(first + step) * n + min(first_column + column, n - 4)], 16);
            else
                for (uint32_t word = 0; word < 4; word++)
                    copy_word(&right[step * PRODUCT_COLUMNS + word],
                              &b[(size_t)(first + step) * n + min(first_column + column + word, n - 1)],
                              first + step < k ? 4 : 0);
    }
};

struct Fragments {
    float left[8], right[16];
    __device__ void read(const float *stage, uint32_t step, uint32_t row, uint32_t column) {
        const float *a = &stage[step * PRODUCT_PITCH + row];
        const float *b = &stage[PRODUCT_STEPS * PRODUCT_PITCH + step * PRODUCT_COLUMNS + column];
        for (uint32_t group = 0; group < 2; group++) *(float4 *)&left[4 * group] = *(const float4 *)&a[32 * group];
        for (uint32_t group = 0; group < 4; group++) *(float4 *)&right[4 * group] = *(const float4 *)&b[16 * group];
    }
};

__device__ void multiply(const Fragments &words, float (&sums)[16][8]) {
#pragma unroll
    for (uint32_t column = 0; column < 16; column++)
#pragma unroll
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t row = column % 2 ? 7 - i : i;
            sums[column][row] += words.left[row] * words.right[column];
        }
}

__global__ void __launch_bounds__(256, 1) matmul_warps(const float *a, const float *b, float *c, uint32_t m, uint32_t n,
                                                       uint32_t k) {
    extern __shared__ float4 dynamic[];
    float *ring = (float *)dynamic;
    uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t row = warp % 2 * 64 + 4 * ((lane & 1) | (lane >> 1 & 6)), column = warp / 2 * 64 + 4 * ((lane >> 1 & 1) | (lane >> 3 & 2));
    Product work = {a, b, m, n, k, blockIdx.y * PRODUCT_ROWS, blockIdx.x * PRODUCT_COLUMNS};
    uint32_t tiles = (k + PRODUCT_STEPS - 1) / PRODUCT_STEPS;
    float sums[16][8] = {};
    for (uint32_t tile = 0; tile < PRODUCT_STAGES; tile++) {
        if (tile < tiles) work.start(tile, ring + tile * PRODUCT_WORDS);
        __pipeline_commit();
    }
    __pipeline_wait_prior(PRODUCT_STAGES - 1);
    __syncthreads();
    Fragments now, next;
    next.read(ring, 0, row, column);
    uint32_t full = 0;
    for (uint32_t tile = 0; tile < tiles; tile++) {
        float *stage = ring + full * PRODUCT_WORDS;
#pragma unroll
        for (uint32_t step = 1; step < PRODUCT_STEPS; step++) {
            now = next;
            next.read(stage, step, row, column);
            multiply(now, sums);
        }
        __pipeline_wait_prior(PRODUCT_STAGES - 2);
        __syncthreads();
        full = full == PRODUCT_STAGES - 1 ? 0 : full + 1;
        now = next;
        next.read(tile + 1 < tiles ? ring + full * PRODUCT_WORDS : stage, 0, row, column);
        if (tile + PRODUCT_STAGES < tiles) work.start(tile + PRODUCT_STAGES, stage);
        __pipeline_commit();
        multiply(now, sums);
    }
    float one = k == 0 ? 0 : 1;
#pragma unroll
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t target = work.first_row + row + i / 4 * 32 + i % 4;
#pragma unroll
        for (uint32_t group = 0; group < 4; group++) {
            uint32_t first = work.first_column + column + 16 * group;
            float values[4];
            for (uint32_t j = 0; j < 4; j++) values[j] = sums[4 * group + j][i] * one;
            if (target >= m) continue;
            float *words = &c[(size_t)target * n + first];
            if (n % 4 == 0 && first < n) *(float4 *)words = *(float4 *)values;
            else for (uint32_t j = 0; j < 4; j++) if (first + j < n) words[j] = values[j];
        }
    }
}

const char *matmul_warp_tiled(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    uint32_t m = size[0], n = size[1], k = size[2], bytes = PRODUCT_STAGES * PRODUCT_WORDS * 4;
    TRY(cudaFuncSetAttribute(matmul_warps, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    matmul_warps<<<dim3(blocks(n, PRODUCT_COLUMNS), blocks(m, PRODUCT_ROWS)), 256, bytes, stream>>>(
        (const float *)in[0], (const float *)in[1], (float *)out[0], m, n, k);
    return launched();
}

const char *matmul_cublas(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    // Column-major: the transposed product of the transposed factors, in the other order.
    int m = size[0], n = size[1], k = size[2];
    float one = 1, zero = 0;
    TRY(cublasSgemm(blas(stream), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, (const float *)in[1], n, (const float *)in[0], k,
                    &zero, (float *)out[0], n));
    return nullptr;
}

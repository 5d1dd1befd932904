// Kernels of `kernels/src/shared/matmul_tensor.rs`, but for those that `matmul_tensor.cuh` has: A and B are rows of k bf16.

static __device__ float of_bf16(uint16_t bits) { return __uint_as_float((uint32_t)bits << 16); }

#define TENSOR(name) matmul_tensor_##name(const uint16_t *a, const uint16_t *b, float *c, uint32_t m, uint32_t n, uint32_t k)

KERNEL TENSOR(naive) {
    __shared__ float left[32][33], right[32][33];
    uint32_t x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32 + x, row = blockIdx.y * 32 + y, staged = blockIdx.x * 32 + y;
    float sum = 0.0f;
    for (uint32_t first = 0; first < k; first += 32) {
        left[y][x] = row < m && first + x < k ? of_bf16(a[at(row, k, first + x)]) : 0.0f;
        right[y][x] = staged < n && first + x < k ? of_bf16(b[at(staged, k, first + x)]) : 0.0f;
        __syncthreads();
        for (uint32_t step = 0; step < 32; step++) sum = fmaf(left[y][step], right[x][step], sum);
        __syncthreads();
    }
    if (row < m && column < n) c[at(row, n, column)] = sum;
}

static __device__ void multiply_add(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
static __device__ void store_16x8(float *c, uint32_t m, uint32_t n, uint32_t row, uint32_t column, const float (&sums)[4]) {
    uint32_t lane = threadIdx.x % 32;
    row += lane / 4, column += lane % 4 * 2;
    for (uint32_t half = 0; half < 2; half++) {
        float *target = c + at(row + 8 * half, n, column);
        if (row + 8 * half >= m || column >= n) continue;
        if (n % 2 == 0) {
            *(float2 *)target = make_float2(sums[2 * half], sums[2 * half + 1]);
        } else {
            target[0] = sums[2 * half];
            if (column + 1 < n) target[1] = sums[2 * half + 1];
        }
    }
}

KERNEL BOUNDS(256) TENSOR(mma_global) {
    uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t row = blockIdx.y * 32 + warp / 4 * 16, column = blockIdx.x * 32 + warp % 4 * 8;
    float sums[4] = {};
    for (uint32_t first = 0; first < k; first += 16) {
        auto pair = [&](const uint16_t *matrix, uint32_t row, uint32_t rows, uint32_t step) {
            step += first + lane % 4 * 2, row += lane / 4;
            return row < rows && step < k ? *(const uint32_t *)(matrix + at(row, k, step)) : 0;
        };
        uint32_t left[4] = {pair(a, row, m, 0), pair(a, row + 8, m, 0), pair(a, row, m, 8), pair(a, row + 8, m, 8)};
        uint32_t right[2] = {pair(b, column, n, 0), pair(b, column, n, 8)};
        multiply_add(sums, left, right);
    }
    store_16x8(c, m, n, row, column, sums);
}

static __device__ void load_matrices(uint32_t (&words)[4], const char *source) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3]) : "r"(in_shared(source)) : "memory");
}

// A tile of 128 x 256 elements by eight warps of 64 x 64, 64 steps at a time.
template <bool SWIZZLED, bool WHOLE>
static __device__ void each_tile(const uint16_t *a, const uint16_t *b, float *c, uint32_t m, uint32_t n, uint32_t k, uint32_t first_row, uint32_t first_column) {
    const uint32_t ROWS = 128, STEPS = 64, PITCH = STEPS * 2;
    char *left = (char *)dynamic_words, *right = left + ROWS * PITCH;
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, swizzle = SWIZZLED ? lane % 8 : 0;
    uint32_t warp_row = warp / 4 * 64, warp_column = warp % 4 * 64;
    float sums[4][8][4] = {};
    for (uint32_t tile = 0; tile < div_ceil(k, STEPS); tile++) {
        uint32_t row = threadIdx.x / 8, chunk = threadIdx.x % 8, step = tile * STEPS + chunk * 8;
        uint32_t own = row * PITCH + (SWIZZLED ? chunk ^ row % 8 : chunk) * 16;
        auto start = [&](const uint16_t *source, uint32_t first, uint32_t rows, char *target) {
            if (WHOLE) copy_async<16>(target + own, source + at(first + row, k, step));
            else copy_async<16>(target + own, source + at(first + row, k, step), first + row < rows && step < k ? 16 : 0);
        };
#pragma unroll
        for (uint32_t round = 0; round < 4; round++) start(a, first_row + round * 32, m, left + round * 32 * PITCH);
#pragma unroll
        for (uint32_t round = 0; round < 8; round++) start(b, first_column + round * 32, n, right + round * 32 * PITCH);
        wait_all();
        __syncthreads();
#pragma unroll
        for (uint32_t part = 0; part < 4; part++) {
            uint32_t of_a[4][4], of_b[8][2];
#pragma unroll
            for (uint32_t i = 0; i < 4; i++) {
                load_matrices(of_a[i], left + (warp_row + lane % 16 + i * 16) * PITCH + ((2 * part + lane / 16) ^ swizzle) * 16);
            }
#pragma unroll
            for (uint32_t i = 0; i < 4; i++) {
                uint32_t four[4], column = warp_column + lane % 8 + lane / 16 * 8 + i * 16;
                load_matrices(four, right + column * PITCH + ((2 * part + lane / 8 % 2) ^ swizzle) * 16);
                of_b[2 * i][0] = four[0], of_b[2 * i][1] = four[1], of_b[2 * i + 1][0] = four[2], of_b[2 * i + 1][1] = four[3];
            }
#pragma unroll
            for (uint32_t i = 0; i < 4; i++) {
#pragma unroll
                for (uint32_t j = 0; j < 8; j++) multiply_add(sums[i][j], of_a[i], of_b[j]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
#pragma unroll
        for (uint32_t j = 0; j < 8; j++) store_16x8(c, m, n, first_row + warp_row + i * 16, first_column + warp_column + j * 8, sums[i][j]);
    }
}

template <bool SWIZZLED> static __device__ void one_by_one(const uint16_t *a, const uint16_t *b, float *c, uint32_t m, uint32_t n, uint32_t k) {
    uint32_t rows = div_ceil(m, 128), columns = div_ceil(n, 256), group = blockIdx.x / (16 * columns), within = blockIdx.x - group * (16 * columns);
    uint32_t height = minimum(rows - group * 16, 16);
    uint32_t first_row = (group * 16 + within % height) * 128, first_column = within / height * 256;
    if (first_row + 128 <= m && first_column + 256 <= n && k % 64 == 0) each_tile<SWIZZLED, true>(a, b, c, m, n, k, first_row, first_column);
    else each_tile<SWIZZLED, false>(a, b, c, m, n, k, first_row, first_column);
}

KERNEL BOUNDS(256, 1) TENSOR(mma_tiled) { one_by_one<false>(a, b, c, m, n, k); }
KERNEL BOUNDS(256, 1) TENSOR(mma_swizzled) { one_by_one<true>(a, b, c, m, n, k); }
#undef TENSOR

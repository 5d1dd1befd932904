// Kernels of `kernels/src/shared`: products of matrices.

static __device__ float element(const float *a, const float *b, uint32_t row, uint32_t column, uint32_t n, uint32_t k) {
    float sum = 0.0f;
    for (uint32_t step = 0; step < k; step++) sum = fmaf(a[at(row, k, step)], b[at(step, n, column)], sum);
    return sum;
}

#define MATMUL(name) matmul_##name(const float *a, const float *b, float *c, uint32_t m, uint32_t n, uint32_t k)

KERNEL MATMUL(naive) {
    uint32_t row = index_1d(), column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && column < n) c[at(row, n, column)] = element(a, b, row, column, n, k);
}

KERNEL MATMUL(coalesced) {
    uint32_t column = index_1d(), row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && column < n) c[at(row, n, column)] = element(a, b, row, column, n, k);
}

KERNEL MATMUL(strip) {
    __shared__ float strip[2][6144];
    uint32_t column = index_1d(), row = blockIdx.y * blockDim.y + threadIdx.y;
    float *own = strip[threadIdx.y];
    if (row < m) {
        for (uint32_t step = threadIdx.x; step < k; step += 128) own[step] = a[at(row, k, step)];
    }
    __syncthreads();
    if (row < m && column < n) {
        float sum = 0.0f;
        for (uint32_t step = 0; step < k; step++) sum = fmaf(own[step], b[at(step, n, column)], sum);
        c[at(row, n, column)] = sum;
    }
}

KERNEL matmul_tiled_i32(const int *a, const int *b, int *c, uint32_t m, uint32_t n, uint32_t k) {
    __shared__ int left[32][32], right[32][32];
    uint32_t x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32 + x, row = blockIdx.y * 32 + y;
    int sum = 0;
    for (uint32_t first = 0; first < k; first += 32) {
        left[y][x] = row < m && first + x < k ? a[at(row, k, first + x)] : 0;
        right[y][x] = first + y < k && column < n ? b[at(first + y, n, column)] : 0;
        __syncthreads();
        for (uint32_t step = 0; step < 32; step++) sum += left[y][step] * right[step][x];
        __syncthreads();
    }
    if (row < m && column < n) c[at(row, n, column)] = sum;
}

KERNEL BOUNDS(512) MATMUL(register_1d) {
    __shared__ float left[64][8], right[8][64];
    uint32_t tid = threadIdx.x, first_row = blockIdx.y * 64, first_column = blockIdx.x * 64;
    uint32_t row = tid / 64 * 8, column = tid % 64;
    float sums[8] = {};
    for (uint32_t first = 0; first < k; first += 8) {
        uint32_t left_row = tid / 8, left_step = tid % 8, right_step = tid / 64, right_column = tid % 64;
        left[left_row][left_step] = first_row + left_row < m && first + left_step < k ? a[at(first_row + left_row, k, first + left_step)] : 0.0f;
        right[right_step][right_column] =
            first + right_step < k && first_column + right_column < n ? b[at(first + right_step, n, first_column + right_column)] : 0.0f;
        __syncthreads();
        for (uint32_t step = 0; step < 8; step++) {
            float word = right[step][column];
            for (uint32_t i = 0; i < 8; i++) sums[i] = fmaf(left[row + i][step], word, sums[i]);
        }
        __syncthreads();
    }
    for (uint32_t i = 0; i < 8; i++) {
        if (first_row + row + i < m && first_column + column < n) c[at(first_row + row + i, n, first_column + column)] = sums[i];
    }
}

// A tile of 128 x 128 elements by 256 threads, each with 8 x 8: rows and columns of a thread are two groups of four,
// DISTANCE apart.
template <uint32_t STEPS, uint32_t DISTANCE, uint32_t SCALE> struct Tiles {
    static const uint32_t SIDE = 128, PITCH = SIDE + 4, WORDS = STEPS * (PITCH + SIDE);
    const float *a, *b;
    uint32_t m, n, k, first_row, first_column, tid;
    float sums[8][8] = {};
    __device__ Tiles(const float *a, const float *b, uint32_t m, uint32_t n, uint32_t k)
        : a(a), b(b), m(m), n(n), k(k), first_row(blockIdx.y * SIDE), first_column(blockIdx.x * SIDE), tid(threadIdx.x) {}
    __device__ uint32_t tiles() const { return div_ceil(k, STEPS); }
    static __device__ float4 quad(const float *source, uint32_t words, bool is_aligned) {
        if (is_aligned && words == 4) return *(const float4 *)source;
        return make_float4(words > 0 ? source[0] : 0.0f, words > 1 ? source[1] : 0.0f, words > 2 ? source[2] : 0.0f, words > 3 ? source[3] : 0.0f);
    }
    static __device__ void store_quad(float *target, uint32_t words, bool is_aligned, float4 four) {
        if (is_aligned) {
            if (words > 0) *(float4 *)target = four;
            return;
        }
        if (words > 0) target[0] = four.x;
        if (words > 1) target[1] = four.y;
        if (words > 2) target[2] = four.z;
        if (words > 3) target[3] = four.w;
    }
    __device__ void load_words(uint32_t number, float *stage) const {
        uint32_t first_step = number * STEPS, row = tid / STEPS, step = tid % STEPS;
        for (uint32_t round = 0; round < SIDE * STEPS / 256; round++) {
            uint32_t line = row + round * (256 / STEPS), from = first_row + line;
            stage[step * PITCH + line] = from < m && first_step + step < k ? a[at(from, k, first_step + step)] : 0.0f;
        }
        uint32_t column = tid % SIDE;
        for (uint32_t round = 0; round < SIDE * STEPS / 256; round++) {
            uint32_t line = tid / SIDE + round * (256 / SIDE), from = first_step + line;
            stage[STEPS * PITCH + line * SIDE + column] = from < k && first_column + column < n ? b[at(from, n, first_column + column)] : 0.0f;
        }
    }
    __device__ void load(uint32_t number, float *stage) const {
        uint32_t row = tid % SIDE, step = tid / SIDE * 4, from_row = first_row + row, from_step = number * STEPS + step;
        float4 four = quad(a + at(from_row, k, from_step), from_row < m ? minimum(less(k, from_step), 4) : 0, k % 4 == 0);
        float *target = stage + step * PITCH + row;
        target[0] = four.x, target[PITCH] = four.y, target[2 * PITCH] = four.z, target[3 * PITCH] = four.w;
        uint32_t line = tid / (SIDE / 4), column = tid % (SIDE / 4) * 4, from = number * STEPS + line;
        uint32_t words = from < k ? minimum(less(n, first_column + column), 4) : 0;
        *(float4 *)(stage + STEPS * PITCH + line * SIDE + column) = quad(b + at(from, n, first_column + column), words, n % 4 == 0);
    }
    __device__ void start(uint32_t number, float *stage) const {
        uint32_t first_step = number * STEPS, row = tid / STEPS, step = tid % STEPS;
        uint32_t last_row = m - 1 - first_row, bytes = first_step + step < k ? 4 : 0;
        const float *source = a + at(first_row, k, first_step + step);
        for (uint32_t round = 0; round < SIDE * STEPS / 256; round++) {
            uint32_t line = row + round * (256 / STEPS);
            copy_async<4>(stage + step * PITCH + line, source + (size_t)minimum(line, last_row) * k, bytes);
        }
        uint32_t column = tid % (SIDE / 4) * 4, line = tid / (SIDE / 4), from = first_step + line;
        float *target = stage + STEPS * PITCH + line * SIDE + column;
        if (n % 4 == 0 && first_step + STEPS <= k) {
            copy_async<16>(target, b + at(from, n, minimum(first_column + column, n - 4)));
        } else {
            for (uint32_t word = 0; word < 4; word++) {
                copy_async<4>(target + word, b + at(from, n, minimum(first_column + column + word, n - 1)), from < k ? 4 : 0);
            }
        }
    }
    __device__ void multiply(const float *stage) {
        uint32_t row = tid / 16 * SCALE, column = tid % 16 * SCALE;
        for (uint32_t step = 0; step < STEPS; step++) {
            const float *rows = stage + step * PITCH + row, *columns = stage + STEPS * PITCH + step * SIDE + column;
            float left[8], right[8];
            *(float4 *)left = *(const float4 *)rows, *(float4 *)(left + 4) = *(const float4 *)(rows + DISTANCE);
            *(float4 *)right = *(const float4 *)columns, *(float4 *)(right + 4) = *(const float4 *)(columns + DISTANCE);
            for (uint32_t j = 0; j < 8; j++) {
                for (uint32_t i = 0; i < 8; i++) sums[j][i] = fmaf(left[i], right[j], sums[j][i]);
            }
        }
    }
    __device__ void store(float *c) const {
        for (uint32_t group = 0; group < 2; group++) {
            uint32_t column = first_column + tid % 16 * SCALE + group * DISTANCE;
            for (uint32_t i = 0; i < 8; i++) {
                uint32_t row = first_row + tid / 16 * SCALE + i / 4 * DISTANCE + i % 4;
                float4 four = make_float4(sums[group * 4][i], sums[group * 4 + 1][i], sums[group * 4 + 2][i], sums[group * 4 + 3][i]);
                if (row < m) store_quad(c + at(row, n, column), less(n, column), n % 4 == 0, four);
            }
        }
    }
    __device__ void store_transposed(float *c) const {
        for (uint32_t j = 0; j < 8; j++) {
            uint32_t column = first_column + tid % 16 * SCALE + j / 4 * DISTANCE + j % 4;
            for (uint32_t group = 0; group < 2; group++) {
                uint32_t row = first_row + tid / 16 * SCALE + group * DISTANCE;
                if (column < n) store_quad(c + at(column, m, row), less(m, row), n % 4 == 0, *(const float4 *)(sums[j] + group * 4));
            }
        }
    }
};
typedef Tiles<8, 64, 4> Square;

KERNEL BOUNDS(256, 2) MATMUL(register_2d) {
    typedef Tiles<8, 4, 8> Blocked;
    __shared__ float4 stage[Blocked::WORDS / 4];
    Blocked work(a, b, m, n, k);
    for (uint32_t tile = 0; tile < work.tiles(); tile++) {
        work.load_words(tile, (float *)stage);
        __syncthreads();
        work.multiply((const float *)stage);
        __syncthreads();
    }
    work.store(c);
}

KERNEL BOUNDS(256, 2) MATMUL(vectorized) {
    __shared__ float4 stage[Square::WORDS / 4];
    Square work(a, b, m, n, k);
    for (uint32_t tile = 0; tile < work.tiles(); tile++) {
        work.load(tile, (float *)stage);
        __syncthreads();
        work.multiply((const float *)stage);
        __syncthreads();
    }
    work.store(c);
}

KERNEL BOUNDS(256, 2) MATMUL(double_buffered) {
    __shared__ float4 stages[2][Square::WORDS / 4];
    Square work(a, b, m, n, k);
    work.start(0, (float *)stages[0]);
    for (uint32_t tile = 0; tile < work.tiles(); tile++) {
        wait_all();
        __syncthreads();
        if (tile + 1 < work.tiles()) work.start(tile + 1, (float *)stages[(tile + 1) % 2]);
        work.multiply((const float *)stages[tile % 2]);
    }
    work.store(c);
}
#undef MATMUL

KERNEL matmul_aat_naive(const float *a, float *c, uint32_t m) {
    uint32_t column = index_1d(), row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && column < m) {
        float sum = 0.0f;
        for (uint32_t step = 0; step < 32; step++) sum = fmaf(a[at(row, 32, step)], a[at(column, 32, step)], sum);
        c[at(row, m, column)] = sum;
    }
}

KERNEL matmul_aat_tiled(const float *a, float *c, uint32_t m) {
    __shared__ float rows[32][32], columns[32][32];
    uint32_t x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32 + x, row = blockIdx.y * 32 + y;
    rows[y][x] = a[at(minimum(row, m - 1), 32, x)];
    columns[x][y] = a[at(minimum(blockIdx.x * 32 + y, m - 1), 32, x)];
    __syncthreads();
    float sum = 0.0f;
    for (uint32_t step = 0; step < 32; step++) sum = fmaf(rows[y][step], columns[step][x], sum);
    if (row < m && column < m) c[at(row, m, column)] = sum;
}

typedef Tiles<32, 64, 4> Whole;
static __device__ void product_of_rows(Whole &work, float *stage) {
    for (uint32_t side = 0; side < 2; side++) {
        float *tile = side ? stage + 32 * Whole::PITCH : stage;
        uint32_t pitch = side ? Whole::SIDE : Whole::PITCH, row = work.tid % 128;
        uint32_t from = minimum((side ? work.first_column : work.first_row) + row, work.m - 1);
        for (uint32_t round = 0; round < 4; round++) {
            uint32_t step = (work.tid / 128 + round * 2) * 4;
            float4 four = *(const float4 *)(work.a + at(from, 32, step));
            float *target = tile + step * pitch + row;
            target[0] = four.x, target[pitch] = four.y, target[2 * pitch] = four.z, target[3 * pitch] = four.w;
        }
    }
    __syncthreads();
    work.multiply(stage);
}

KERNEL BOUNDS(256, 2) matmul_aat_register_tiled(const float *a, float *c, uint32_t m) {
    __shared__ float4 stage[Whole::WORDS / 4];
    Whole work(a, a, m, m, 32);
    product_of_rows(work, (float *)stage);
    work.store(c);
}

KERNEL BOUNDS(256, 2) matmul_aat_symmetric(const float *a, float *c, uint32_t m) {
    __shared__ float4 stage[Whole::WORDS / 4];
    if (blockIdx.x > blockIdx.y) return;
    Whole work(a, a, m, m, 32);
    product_of_rows(work, (float *)stage);
    work.store(c);
    if (blockIdx.x < blockIdx.y) work.store_transposed(c);
}

#define MATMUL_AB(name) matmul_ab_##name(const float *a, const float *b, float *c, uint32_t m, uint32_t n)

KERNEL MATMUL_AB(naive) {
    uint32_t column = index_1d(), row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && column < n) c[at(row, n, column)] = element(a, b, row, column, n, 32);
}

KERNEL MATMUL_AB(shared_a) {
    __shared__ float rows[32][32];
    uint32_t x = threadIdx.x, y = threadIdx.y, column = index_1d(), row = blockIdx.y * blockDim.y + y;
    rows[y][x] = a[at(minimum(row, m - 1), 32, x)];
    __syncwarp();
    const float *right = b + minimum(column, n - 1);
    float sum = 0.0f;
    for (uint32_t step = 0; step < 32; step++) sum = fmaf(rows[y][step], right[(size_t)step * n], sum);
    if (row < m && column < n) c[at(row, n, column)] = sum;
}

KERNEL MATMUL_AB(shared_ab_vectorized) {
    __shared__ float4 left[32][8];
    __shared__ float right[32][32];
    uint32_t x = threadIdx.x, y = threadIdx.y, column = index_1d(), row = blockIdx.y * blockDim.y + y;
    ((float *)left)[y * 32 + x] = a[at(minimum(row, m - 1), 32, x)];
    right[y][x] = b[at(y, n, minimum(column, n - 1))];
    __syncthreads();
    float sum = 0.0f;
    for (uint32_t vector = 0; vector < 8; vector++) {
        float4 words = left[y][vector];
        sum = fmaf(words.x, right[4 * vector][x], sum);
        sum = fmaf(words.y, right[4 * vector + 1][x], sum);
        sum = fmaf(words.z, right[4 * vector + 2][x], sum);
        sum = fmaf(words.w, right[4 * vector + 3][x], sum);
    }
    if (row < m && column < n) c[at(row, n, column)] = sum;
}

KERNEL BOUNDS(128, 5) MATMUL_AB(register_tiled) {
    const uint32_t ROWS = 64, COLUMNS = 128;
    __shared__ float4 left_words[32 * ROWS / 4], right_words[32 * COLUMNS / 4];
    float *left = (float *)left_words, *right = (float *)right_words;
    uint32_t tid = threadIdx.x, first_row = blockIdx.y * ROWS, first_column = blockIdx.x * COLUMNS;
    for (uint32_t round = 0; round < 4; round++) {
        uint32_t row = tid % ROWS, step = (tid / ROWS + round * 2) * 4;
        float4 four = *(const float4 *)(a + at(minimum(first_row + row, m - 1), 32, step));
        left[step * ROWS + row] = four.x, left[(step + 1) * ROWS + row] = four.y;
        left[(step + 2) * ROWS + row] = four.z, left[(step + 3) * ROWS + row] = four.w;
    }
    for (uint32_t round = 0; round < 8; round++) {
        uint32_t column = tid % 32 * 4, step = tid / 32 + round * 4, from = first_column + column;
        const float *source = b + (size_t)step * n;
        float *target = right + step * COLUMNS + column;
        if (n % 4 == 0 && from + 3 < n) *(float4 *)target = *(const float4 *)(source + from);
        else for (uint32_t word = 0; word < 4; word++) target[word] = source[minimum(from + word, n - 1)];
    }
    __syncthreads();
    uint32_t x = tid % 16, y = tid / 16;
    float sums[8][8] = {};
    for (uint32_t step = 0; step < 32; step++) {
        const float *rows = left + step * ROWS + y * 4, *columns = right + step * COLUMNS + x * 4;
        float up[8], down[8];
        *(float4 *)up = *(const float4 *)rows, *(float4 *)(up + 4) = *(const float4 *)(rows + 32);
        *(float4 *)down = *(const float4 *)columns, *(float4 *)(down + 4) = *(const float4 *)(columns + 64);
        for (uint32_t i = 0; i < 8; i++) {
            for (uint32_t j = 0; j < 8; j++) sums[i][j] = fmaf(up[i], down[j], sums[i][j]);
        }
    }
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t row = first_row + y * 4 + i / 4 * 32 + i % 4;
        for (uint32_t group = 0; group < 2; group++) {
            uint32_t column = first_column + x * 4 + group * 64;
            float *target = c + at(row, n, column), *four = sums[i] + group * 4;
            if (row >= m) continue;
            if (n % 4 == 0 && column + 3 < n) *(float4 *)target = make_float4(four[0], four[1], four[2], four[3]);
            else for (uint32_t word = 0; word < 4; word++) if (column + word < n) target[word] = four[word];
        }
    }
}
#undef MATMUL_AB

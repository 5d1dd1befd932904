// Kernels of `kernels/src/shared`: bank conflicts and transposes.

constexpr uint32_t WALKED = 2048;

static __device__ void fill_table(const uint32_t *next, uint32_t *table) {
    for (uint32_t step = 0; step < WALKED / 256; step++) table[step * 256 + threadIdx.x] = next[step * 256 + threadIdx.x];
    __syncthreads();
}

#define WALK(name, start, ...)                                                                                         \
    KERNEL bank_conflicts_##name(const uint32_t *next, __VA_ARGS__ uint32_t *target, uint32_t n) {                     \
        __shared__ uint32_t table[WALKED];                                                                             \
        uint32_t i = index_1d();                                                                                       \
        fill_table(next, table);                                                                                       \
        if (i < n) {                                                                                                   \
            uint32_t index = start;                                                                                    \
            for (uint32_t step = 0; step < 64; step++) index = table[index];                                           \
            target[i] = index;                                                                                         \
        }                                                                                                              \
    }
WALK(broadcast, i / WARP % WALKED, )
WALK(two_lanes_per_word, (i % WARP / 2 + i / WARP) % WALKED, )
WALK(multicast, ((i % WARP < WARP / 2 ? 0 : i % WARP) + i / WARP) % WALKED, )
WALK(random, i % WARP * WARP + banks[i] % WARP, const uint32_t *banks, )
#undef WALK

KERNEL bank_conflicts_strided_read(const uint32_t *next, uint32_t *target, uint32_t stride, uint32_t n) {
    __shared__ uint32_t table[WALKED];
    uint32_t i = index_1d();
    fill_table(next, table);
    if (i < n) {
        uint32_t index = (i % WARP * stride + i / WARP) % WALKED;
        for (uint32_t step = 0; step < 64; step++) index = table[index];
        target[i] = index;
    }
}

KERNEL bank_conflicts_strided_write(uint32_t *target, uint32_t stride, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) {
        volatile uint32_t *own = (uint32_t *)dynamic_words + threadIdx.x * stride;
        uint32_t value = i;
        for (uint32_t step = 0; step < 64; step++) {
            value = value * 5 + step;
            *own = value;
        }
        target[i] = *own;
    }
}

KERNEL bank_conflicts_eight_bytes(const uint32_t *next, uint32_t *target, uint32_t n) {
    __shared__ uint2 pairs[WALKED / 2];
    uint32_t i = index_1d();
    fill_table(next, (uint32_t *)pairs);
    if (i < n) {
        uint32_t index = (i % WARP + i / WARP) * 2 % WALKED;
        for (uint32_t step = 0; step < 64; step++) {
            uint2 loaded = *(const uint2 *)((const uint32_t *)pairs + index);
            index = loaded.x & loaded.y;
        }
        target[i] = index;
    }
}

KERNEL bank_conflicts_sixteen_bytes(const uint32_t *next, uint32_t *target, uint32_t n) {
    __shared__ uint4 vectors[WALKED / 4];
    uint32_t i = index_1d();
    fill_table(next, (uint32_t *)vectors);
    if (i < n) {
        uint32_t index = (i % WARP + i / WARP) * 4 % WALKED;
        for (uint32_t step = 0; step < 64; step++) {
            uint4 loaded = *(const uint4 *)((const uint32_t *)vectors + index);
            index = loaded.x & loaded.y & loaded.z & loaded.w;
        }
        target[i] = index;
    }
}

KERNEL bank_conflicts_column(const uint32_t *next, uint32_t *target, uint32_t n) {
    __shared__ uint32_t tile[WARP * WARP];
    uint32_t i = index_1d();
    for (uint32_t step = 0; step < WARP * WARP / 256; step++) tile[step * 256 + threadIdx.x] = next[step * 256 + threadIdx.x];
    __syncthreads();
    if (i < n) {
        uint32_t entry = i / WARP;
        for (uint32_t step = 0; step < 64; step++) entry = tile[i % WARP * WARP + entry % WARP];
        target[i] = entry;
    }
}

#define TRANSPOSE(name) transpose_##name(const float *source, float *target, uint32_t rows, uint32_t columns)

KERNEL TRANSPOSE(column_write) {
    uint32_t column = blockIdx.x * 32 + threadIdx.x;
    for (uint32_t step = 0; step < 4; step++) {
        uint32_t row = blockIdx.y * 32 + threadIdx.y + step * 8;
        if (row < rows && column < columns) target[at(column, rows, row)] = source[at(row, columns, column)];
    }
}

KERNEL TRANSPOSE(column_read) {
    uint32_t row = blockIdx.x * 32 + threadIdx.x;
    for (uint32_t step = 0; step < 4; step++) {
        uint32_t column = blockIdx.y * 32 + threadIdx.y + step * 8;
        if (row < rows && column < columns) target[at(column, rows, row)] = source[at(row, columns, column)];
    }
}

template <class Word> static __device__ void through_tile(const float *source, float *target, uint32_t rows, uint32_t columns, float *tile, Word word) {
    uint32_t column = blockIdx.x * 32, row = blockIdx.y * 32, x = threadIdx.x, y = threadIdx.y;
    for (uint32_t step = 0; step < 4; step++) {
        uint32_t line = y + step * 8;
        if (row + line < rows && column + x < columns) tile[word(line, x)] = source[at(row + line, columns, column + x)];
    }
    __syncthreads();
    for (uint32_t step = 0; step < 4; step++) {
        uint32_t line = y + step * 8;
        if (row + x < rows && column + line < columns) target[at(column + line, rows, row + x)] = tile[word(x, line)];
    }
}

KERNEL TRANSPOSE(tiled) {
    __shared__ float tile[32 * 32];
    through_tile(source, target, rows, columns, tile, [](uint32_t row, uint32_t column) { return row * 32 + column; });
}
KERNEL TRANSPOSE(swizzled) {
    __shared__ float tile[32 * 32];
    through_tile(source, target, rows, columns, tile, [](uint32_t row, uint32_t column) { return row * 32 + (column ^ row); });
}

static __device__ void transpose_4x4(float4 (&f)[4]) {
    float4 a = f[0], b = f[1], c = f[2], d = f[3];
    f[0] = make_float4(a.x, b.x, c.x, d.x);
    f[1] = make_float4(a.y, b.y, c.y, d.y);
    f[2] = make_float4(a.z, b.z, c.z, d.z);
    f[3] = make_float4(a.w, b.w, c.w, d.w);
}

static __device__ void through_sub_tiles(const float *source, float *target, uint32_t rows, uint32_t columns, float4 *tile, uint32_t row, uint32_t column) {
    uint32_t x = threadIdx.x, y = threadIdx.y, sub_row = row + y * 4, sub_column = column + x * 4;
    if (sub_row < rows && sub_column < columns) {
        float4 four[4];
        for (uint32_t line = 0; line < 4; line++) four[line] = *(const float4 *)(source + at(sub_row + line, columns, sub_column));
        transpose_4x4(four);
        for (uint32_t line = 0; line < 4; line++) tile[(x * 4 + line) * 16 + (y ^ x)] = four[line];
    }
    __syncthreads();
    for (uint32_t step = 0; step < 4; step++) {
        uint32_t line = y + step * 16;
        if (column + line < columns && row + x * 4 < rows) {
            *(float4 *)(target + at(column + line, rows, row + x * 4)) = tile[line * 16 + (x ^ line / 4)];
        }
    }
}

KERNEL BOUNDS(256) TRANSPOSE(vectorized) {
    __shared__ float4 tile[64 * 16];
    through_sub_tiles(source, target, rows, columns, tile, blockIdx.y * 64, blockIdx.x * 64);
}
KERNEL BOUNDS(256) TRANSPOSE(block_order) {
    __shared__ float4 tile[64 * 16];
    through_sub_tiles(source, target, rows, columns, tile, blockIdx.x * 64, blockIdx.y * 64);
}

KERNEL BOUNDS(256) TRANSPOSE(async_copy) {
    __shared__ float4 tile[64 * 16];
    uint32_t row = blockIdx.x * 64, column = blockIdx.y * 64, x = threadIdx.x, y = threadIdx.y;
    for (uint32_t step = 0; step < 4; step++) {
        uint32_t line = y + step * 16;
        if (row + line < rows && column + x * 4 < columns) {
            asm volatile("cp.async.ca.shared.global [%0], [%1], 16;"
                         ::"r"(in_shared(tile + line * 16 + (x ^ line / 4))), "l"(source + at(row + line, columns, column + x * 4)) : "memory");
        }
    }
    commit_group();
    wait_all();
    __syncthreads();
    uint32_t sub_row = row + x * 4, sub_column = column + y * 4;
    if (sub_row < rows && sub_column < columns) {
        float4 four[4];
        for (uint32_t line = 0; line < 4; line++) four[line] = tile[(x * 4 + line) * 16 + (y ^ x)];
        transpose_4x4(four);
        for (uint32_t line = 0; line < 4; line++) *(float4 *)(target + at(sub_column + line, rows, sub_row)) = four[line];
    }
}
#undef TRANSPOSE

// A tensor map as the kernel's parameter, which the driver has encoded.
struct alignas(64) TensorMap { uint64_t words[16]; };

static __device__ void load_box(void *target, const TensorMap &map, int column, int row, uint64_t *barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(in_shared(target)), "l"(&map), "r"(column), "r"(row), "r"(in_shared(barrier)) : "memory");
}
static __device__ void store_box(const TensorMap &map, int column, int row, void *source) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                 ::"l"(&map), "r"(column), "r"(row), "r"(in_shared(source)) : "memory");
}

KERNEL BOUNDS(256) transpose_tensor_copy(const __grid_constant__ TensorMap source, const __grid_constant__ TensorMap target) {
    const uint32_t BOX = 32 * 64 * 4;
    int first = (int)(blockIdx.x * 64), column = (int)(blockIdx.y * 64);
    uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t x = lane % 4 + warp % 4 * 4, y = lane / 4 % 2 + lane / 8 * 2 + warp / 4 * 8;
    char *memory = (char *)dynamic_words, *tile = memory + (1024 - in_shared(memory) % 1024) % 1024;
    char *transposed = tile + 2 * BOX;
    uint64_t *barrier = (uint64_t *)(transposed + 2 * BOX);
    auto swizzled = [](uint32_t row, uint32_t chunk) { return chunk / 8 * BOX + row * 128 + (chunk ^ row) % 8 * 16; };
    if (threadIdx.x == 0) {
        barrier_init(barrier, 1);
        fence_init();
        arrive_expect(barrier, 2 * BOX);
        load_box(tile, source, column, first, barrier);
        load_box(tile + BOX, source, column + 32, first, barrier);
    }
    __syncthreads();
    barrier_wait(barrier, 0);
    float4 four[4];
    for (uint32_t line = 0; line < 4; line++) four[line] = *(const float4 *)(tile + swizzled(y * 4 + line, x));
    transpose_4x4(four);
    for (uint32_t line = 0; line < 4; line++) *(float4 *)(transposed + swizzled(x * 4 + line, y)) = four[line];
    fence_shared();
    __syncthreads();
    if (threadIdx.x == 0) {
        store_box(target, first, column, transposed);
        store_box(target, first + 32, column, transposed + BOX);
        commit_bulk();
        wait_bulk_read();
    }
}

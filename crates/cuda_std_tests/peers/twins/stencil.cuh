// Kernels of `kernels/src/shared/stencil.rs`.

constexpr int RADIUS = 4;
extern "C" __constant__ float STENCIL_COEFFICIENTS[RADIUS + 1];
__constant__ float STENCIL_COEFFICIENTS[RADIUS + 1];

template <int R, class At> static __device__ float add_axis(float sum, const float *coefficients, At at) {
    for (int k = 1; k <= R; k++) sum = fmaf(coefficients[k], at(-k) + at(k), sum);
    return sum;
}
static __device__ float word_or_zero(const float *source, uint32_t i, uint32_t n) { return i < n ? source[i] : 0.0f; }

static __device__ float on_line(const float *source, const float *coefficients, uint32_t i, uint32_t n) {
    auto near = [&](int d) { return word_or_zero(source, i + d, n); };
    return add_axis<RADIUS>(coefficients[0] * near(0), coefficients, near);
}

KERNEL stencil_line_global(const float *source, const float *coefficients, float *target, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) {
        float own[RADIUS + 1];
        for (int k = 0; k <= RADIUS; k++) own[k] = coefficients[k];
        target[i] = on_line(source, own, i, n);
    }
}

KERNEL stencil_line_constant(const float *source, float *target, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) target[i] = on_line(source, STENCIL_COEFFICIENTS, i, n);
}

KERNEL stencil_line_shared(const float *source, float *target, uint32_t n) {
    __shared__ float line[256 + 2 * RADIUS];
    uint32_t thread = threadIdx.x, first = blockIdx.x * 256, i = index_1d();
    line[RADIUS + thread] = word_or_zero(source, i, n);
    if (thread < 2 * RADIUS) {
        uint32_t word = thread < RADIUS ? thread : 256 + thread;
        line[word] = word_or_zero(source, first + word - RADIUS, n);
    }
    __syncthreads();
    if (i < n) {
        auto near = [&](int d) { return line[RADIUS + thread + d]; };
        target[i] = add_axis<RADIUS>(STENCIL_COEFFICIENTS[0] * near(0), STENCIL_COEFFICIENTS, near);
    }
}

template <int R> static __device__ float4 along_row(float4 left, float4 own, float4 right) {
    float words[12] = {left.x, left.y, left.z, left.w, own.x, own.y, own.z, own.w, right.x, right.y, right.z, right.w};
    float sums[4];
    for (int j = 0; j < 4; j++) {
        auto near = [&](int d) { return words[4 + j + d]; };
        sums[j] = add_axis<R>(STENCIL_COEFFICIENTS[0] * near(0), STENCIL_COEFFICIENTS, near);
    }
    return make_float4(sums[0], sums[1], sums[2], sums[3]);
}
static __device__ float4 vector_or_zeros(const float *source, uint32_t i, uint32_t n) {
    if (i < n && n - i >= 4) return *(const float4 *)(source + i);
    return make_float4(word_or_zero(source, i, n), word_or_zero(source, i + 1, n), word_or_zero(source, i + 2, n), word_or_zero(source, i + 3, n));
}

KERNEL stencil_line_vectorized(const float *source, float *target, uint32_t n) {
    uint32_t i = index_1d() * 4;
    if (i < n) {
        float4 sums = along_row<RADIUS>(vector_or_zeros(source, i - 4, n), vector_or_zeros(source, i, n), vector_or_zeros(source, i + 4, n));
        if (n - i >= 4) {
            *(float4 *)(target + i) = sums;
        } else {
            target[i] = sums.x;
            if (n - i > 1) target[i + 1] = sums.y;
            if (n - i > 2) target[i + 2] = sums.z;
        }
    }
}

template <int R> static __device__ float on_plane(const float *source, uint32_t row, uint32_t column, uint32_t rows, uint32_t columns) {
    auto load = [&](uint32_t row, uint32_t column) { return row < rows && column < columns ? source[at(row, columns, column)] : 0.0f; };
    float sum = add_axis<R>(STENCIL_COEFFICIENTS[0] * load(row, column), STENCIL_COEFFICIENTS, [&](int d) { return load(row, column + d); });
    return add_axis<R>(sum, STENCIL_COEFFICIENTS, [&](int d) { return load(row + d, column); });
}

KERNEL stencil_plane_r1_global(const float *source, float *target, uint32_t rows, uint32_t columns) {
    uint32_t column = index_1d(), row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) target[at(row, columns, column)] = on_plane<1>(source, row, column, rows, columns);
}

static __device__ float4 plus_pair(float4 sums, float coefficient, float4 a, float4 b) {
    float4 pair = a + b;
    return make_float4(fmaf(coefficient, pair.x, sums.x), fmaf(coefficient, pair.y, sums.y), fmaf(coefficient, pair.z, sums.z), fmaf(coefficient, pair.w, sums.w));
}
template <int RING> static __device__ void move_on(float4 (&ring)[RING], float4 next) {
    for (int k = 0; k + 1 < RING; k++) ring[k] = ring[k + 1];
    ring[RING - 1] = next;
}

KERNEL stencil_plane_r1_rolling(const float *source, float *target, uint32_t rows, uint32_t columns) {
    const float4 ZEROS = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    uint32_t column = (blockIdx.x * 128 + threadIdx.x) * 4;
    if (column >= columns) return;
    uint32_t first = blockIdx.y * 64, end = minimum(rows, first + 64), needed = minimum(rows, end + 1);
    auto load = [&](uint32_t row) { return row < needed ? *(const float4 *)(source + at(row, columns, column)) : ZEROS; };
    float4 ring[3] = {load(first - 1), load(first), load(first + 1)};
#pragma unroll 8
    for (uint32_t row = first; row < end; row++) {
        float4 next = load(row + 2);
        size_t here = at(row, columns, column);
        float4 left = column > 0 ? *(const float4 *)(source + here - 4) : ZEROS;
        float4 right = column + 4 < columns ? *(const float4 *)(source + here + 4) : ZEROS;
        float4 sums = along_row<1>(left, ring[1], right);
        *(float4 *)(target + here) = plus_pair(sums, STENCIL_COEFFICIENTS[1], ring[0], ring[2]);
        move_on(ring, next);
    }
}

KERNEL stencil_plane_shared(const float *source, float *target, uint32_t rows, uint32_t columns) {
    const uint32_t WIDTH = 32 + 2 * RADIUS;
    __shared__ float words[WIDTH][WIDTH];
    uint32_t x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * 32, top = blockIdx.y * 32;
    auto fill = [&](uint32_t tile_row, uint32_t tile_column) {
        uint32_t row = top + tile_row - RADIUS, column = left + tile_column - RADIUS;
        words[tile_row][tile_column] = row < rows && column < columns ? source[at(row, columns, column)] : 0.0f;
    };
    for (uint32_t step = 0; step < WIDTH / 8; step++) {
        fill(step * 8 + y, x);
        if (x < 2 * RADIUS) fill(step * 8 + y, 32 + x);
    }
    __syncthreads();
    for (uint32_t step = 0; step < 4; step++) {
        uint32_t line = step * 8 + y, row = top + line, column = left + x;
        if (row < rows && column < columns) {
            auto along = [&](int d) { return words[RADIUS + line][RADIUS + x + d]; };
            auto down = [&](int d) { return words[RADIUS + line + d][RADIUS + x]; };
            float sum = add_axis<RADIUS>(STENCIL_COEFFICIENTS[0] * along(0), STENCIL_COEFFICIENTS, along);
            target[at(row, columns, column)] = add_axis<RADIUS>(sum, STENCIL_COEFFICIENTS, down);
        }
    }
}

KERNEL BOUNDS(128, 5) stencil_plane_boxes(const __grid_constant__ TensorMap source, float *target, uint32_t rows, uint32_t columns) {
    const uint32_t WIDTH = 128 + 2 * RADIUS, HEIGHT = 64 + 2 * RADIUS, ROWS = 64 / 4;
    __shared__ alignas(128) float words[HEIGHT][WIDTH];
    __shared__ uint64_t arrived;
    uint32_t x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * 128, top = blockIdx.y * 64;
    if (x + y == 0) {
        barrier_init(&arrived, 1);
        fence_init();
        arrive_expect(&arrived, 4 * WIDTH * HEIGHT);
        load_box(words, source, (int)left - RADIUS, (int)top - RADIUS, &arrived);
    }
    __syncthreads();
    barrier_wait(&arrived, 0);
    auto load = [&](uint32_t row, int column) { return *(const float4 *)(words[y * ROWS + row] + RADIUS + 4 * x + column); };
    float4 ring[2 * RADIUS + 1];
    for (uint32_t k = 0; k <= 2 * RADIUS; k++) ring[k] = load(k, 0);
    for (uint32_t step = 0; step < ROWS; step++) {
        uint32_t row = top + y * ROWS + step, column = left + 4 * x;
        float4 sums = along_row<RADIUS>(load(step + RADIUS, -4), ring[RADIUS], load(step + RADIUS, 4));
        for (int k = 1; k <= RADIUS; k++) sums = plus_pair(sums, STENCIL_COEFFICIENTS[k], ring[RADIUS - k], ring[RADIUS + k]);
        if (row < rows && column < columns) *(float4 *)(target + at(row, columns, column)) = sums;
        if (step + 1 < ROWS) move_on(ring, load(step + 2 * RADIUS + 1, 0));
    }
}

template <int R> static __device__ void in_volume(const float *source, float *target, uint32_t planes, uint32_t rows, uint32_t columns) {
    uint32_t column = index_1d(), row = blockIdx.y * blockDim.y + threadIdx.y, plane = blockIdx.z;
    if (row >= rows || column >= columns) return;
    size_t plane_len = (size_t)rows * columns;
    auto load = [&](uint32_t plane, uint32_t row, uint32_t column) {
        return plane < planes && row < rows && column < columns ? source[plane * plane_len + at(row, columns, column)] : 0.0f;
    };
    float sum = add_axis<R>(STENCIL_COEFFICIENTS[0] * load(plane, row, column), STENCIL_COEFFICIENTS, [&](int d) { return load(plane, row, column + d); });
    sum = add_axis<R>(sum, STENCIL_COEFFICIENTS, [&](int d) { return load(plane, row + d, column); });
    target[plane * plane_len + at(row, columns, column)] = add_axis<R>(sum, STENCIL_COEFFICIENTS, [&](int d) { return load(plane + d, row, column); });
}
KERNEL stencil_volume_global(const float *source, float *target, uint32_t planes, uint32_t rows, uint32_t columns) {
    in_volume<RADIUS>(source, target, planes, rows, columns);
}
KERNEL stencil_volume_r1_global(const float *source, float *target, uint32_t planes, uint32_t rows, uint32_t columns) {
    in_volume<1>(source, target, planes, rows, columns);
}

KERNEL stencil_volume_r1_rolling(const float *source, float *target, uint32_t planes, uint32_t rows, uint32_t columns) {
    const float4 ZEROS = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    uint32_t column = index_1d() * 4, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns) return;
    uint32_t first = blockIdx.z * 64, end = minimum(planes, first + 64), needed = minimum(planes, end + 1);
    size_t plane_len = (size_t)rows * columns, own = at(row, columns, column);
    auto load = [&](uint32_t plane) { return plane < needed ? *(const float4 *)(source + own + plane * plane_len) : ZEROS; };
    float4 ring[5];
    for (uint32_t k = 0; k < 5; k++) ring[k] = load(first + k - 1);
    for (uint32_t plane = first; plane < end; plane++) {
        float4 next = load(plane + 4);
        const float *here = source + own + plane * plane_len;
        float4 left = column > 0 ? *(const float4 *)(here - 4) : ZEROS, right = column + 4 < columns ? *(const float4 *)(here + 4) : ZEROS;
        float4 above = row > 0 ? *(const float4 *)(here - columns) : ZEROS, below = row + 1 < rows ? *(const float4 *)(here + columns) : ZEROS;
        float4 sums = along_row<1>(left, ring[1], right);
        sums = plus_pair(sums, STENCIL_COEFFICIENTS[1], above, below);
        *(float4 *)(target + own + plane * plane_len) = plus_pair(sums, STENCIL_COEFFICIENTS[1], ring[0], ring[2]);
        move_on(ring, next);
    }
}

KERNEL BOUNDS(512, 1) stencil_volume_rolling(const float *source, float *target, uint32_t planes, uint32_t rows, uint32_t columns) {
    const float4 ZEROS = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const uint32_t HALO = RADIUS, ROWS = 16, RING = 2 * RADIUS + 3, PITCH = 32 + 3;
    __shared__ float4 tiles[2][ROWS + 2 * HALO][PITCH];
    uint32_t x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * 128, top = blockIdx.y * ROWS;
    uint32_t first = blockIdx.z * 64, end = minimum(planes, first + 64), needed = minimum(planes, end + HALO);
    uint32_t halo_x = y < 8 ? x + 1 : x / ROWS * 33, halo_y = y < HALO ? y : y < 8 ? y + ROWS : x % ROWS + HALO;
    bool brings_halo = y <= 2 * HALO;
    uint32_t row = top + y, column = left + x * 4, halo_row = top + halo_y - HALO, halo_column = left + halo_x * 4 - 4;
    bool is_inside = row < rows && column < columns, halo_is_inside = brings_halo && halo_row < rows && halo_column < columns;
    size_t plane_len = (size_t)rows * columns, own = at(row, columns, column), around_own = at(halo_row, columns, halo_column);
    auto load = [&](uint32_t plane) { return plane < needed && is_inside ? *(const float4 *)(source + own + plane * plane_len) : ZEROS; };
    auto halo = [&](uint32_t plane) { return plane < end && halo_is_inside ? *(const float4 *)(source + around_own + plane * plane_len) : ZEROS; };
    float4 ring[RING], around = halo(first);
    for (uint32_t k = 0; k < RING; k++) ring[k] = load(first + k - HALO);
    for (uint32_t plane = first; plane < end; plane++) {
        float4(*tile)[PITCH] = tiles[plane % 2];
        tile[HALO + y][1 + x] = ring[RADIUS];
        if (brings_halo) tile[halo_y][halo_x] = around;
        float4 next = load(plane + RING - HALO);
        around = halo(plane + 1);
        __syncthreads();
        float4 sums = along_row<RADIUS>(tile[HALO + y][x], ring[RADIUS], tile[HALO + y][2 + x]);
        for (int k = 1; k <= RADIUS; k++) {
            sums = plus_pair(sums, STENCIL_COEFFICIENTS[k], tile[HALO + y - k][1 + x], tile[HALO + y + k][1 + x]);
            sums = plus_pair(sums, STENCIL_COEFFICIENTS[k], ring[RADIUS - k], ring[RADIUS + k]);
        }
        if (is_inside) *(float4 *)(target + own + plane * plane_len) = sums;
        move_on(ring, next);
    }
}

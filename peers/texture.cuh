// Peers of `texture`, within the namespace of `peers.cu`.

// Where the pixels come from, as `Walk` of our kernels.
struct Walk {
    float x, x_right, x_down, y, y_right, y_down;
    uint32_t columns, rows, is_random;

    __device__ static uint32_t scrambled(uint32_t number) {
        number = (number ^ number >> 16) * 0x7feb352d;
        number = (number ^ number >> 15) * 0x846ca68b;
        return number ^ number >> 16;
    }
    __device__ float2 place(uint32_t column, uint32_t row) const {
        if (is_random) {
            uint32_t first = scrambled(row * columns + column);
            return make_float2(x + (float)__umulhi(first, columns), y + (float)__umulhi(scrambled(first), rows));
        }
        return make_float2(fmaf(row, x_down, fmaf(column, x_right, x)), fmaf(row, y_down, fmaf(column, y_right, y)));
    }
};

Walk walk_of(const size_t *size) {
    const float near_x = (128 + 37) / 256.0f, near_y = (128 + 91) / 256.0f, diagonal = 181 / 256.0f;
    int64_t columns = size[0], rows = size[1];
    Walk walk = {near_x, 0, 0, near_y, 0, 0, (uint32_t)columns, (uint32_t)rows, size[2] == 3};
    if (size[2] == 0) walk.x_right = walk.y_down = 1;
    if (size[2] == 1) walk.x_down = walk.y_right = 1;
    if (size[2] == 2) {
        walk.x = (float)(columns * 128 - 181 * (columns - rows) / 2) / 256;
        walk.y = (float)(rows * 128 - 181 * (columns + rows - 2) / 2) / 256;
        walk.x_right = walk.y_right = walk.y_down = diagonal;
        walk.x_down = -diagonal;
    }
    return walk;
}

// Four pixels per thread; a warp has 32 of a row, or 8 x 4.
template <bool TILED, typename Read> __device__ void resample(const Walk &walk, float *target, Read read) {
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t column = blockIdx.x * 32 + (TILED ? warp % 4 * 8 + lane % 8 : lane);
    uint32_t row = blockIdx.y * 32 + (TILED ? warp / 4 * 4 + lane / 8 : warp);
    float values[4];
#pragma unroll
    for (uint32_t round = 0; round < 4; round++) {
        float2 at = walk.place(column, row + round * 8);
        values[round] = read(at.x, at.y);
    }
#pragma unroll
    for (uint32_t round = 0; round < 4; round++)
        if (column < walk.columns && row + round * 8 < walk.rows)
            target[(row + round * 8) * walk.columns + column] = values[round];
}

__device__ uint32_t clamped(float at, uint32_t extent) { return (uint32_t)fminf(fmaxf(at, 0.0f), (float)(extent - 1)); }

template <bool TILED> __global__ void resample_plain(const float *source, float *target, Walk walk) {
    resample<TILED>(walk, target, [&](float x, float y) {
        return source[clamped(y, walk.rows) * walk.columns + clamped(x, walk.columns)];
    });
}

// The nearest texel or a mean of four, as the texture samples.
template <bool TILED> __global__ void resample_array(cudaTextureObject_t source, float *target, Walk walk) {
    resample<TILED>(walk, target, [&](float x, float y) { return tex2D<float>(source, x, y); });
}

__global__ void resample_bilinear(const float *source, float *target, Walk walk) {
    resample<true>(walk, target, [&](float x, float y) {
        uint32_t left = clamped(floorf(x - 0.5f), walk.columns), right = clamped(floorf(x + 0.5f), walk.columns);
        uint32_t above = clamped(floorf(y - 0.5f), walk.rows) * walk.columns;
        uint32_t below = clamped(floorf(y + 0.5f), walk.rows) * walk.columns;
        float in_x = x - 0.5f - floorf(x - 0.5f), in_y = y - 0.5f - floorf(y - 0.5f);
        float top = fmaf(in_x, source[above + right] - source[above + left], source[above + left]);
        float bottom = fmaf(in_x, source[below + right] - source[below + left], source[below + left]);
        return fmaf(in_y, bottom - top, top);
    });
}

// A texture of a copy of the input. It is made in the first, unmeasured run: the image is the same at every walk.
struct ImageTexture {
    cudaTextureFilterMode filter;
    const void *source = nullptr;
    size_t columns = 0, rows = 0;
    cudaArray_t array = nullptr;
    cudaTextureObject_t object = 0;

    explicit ImageTexture(cudaTextureFilterMode filter) : filter(filter) {}
    const char *make(cudaStream_t stream, const void *from, const size_t *size) {
        if (from == source && size[0] == columns && size[1] == rows) return nullptr;
        source = nullptr;
        if (object != 0) TRY(cudaDestroyTextureObject(object));
        object = 0;
        if (array != nullptr) TRY(cudaFreeArray(array));
        array = nullptr;
        cudaChannelFormatDesc texel = cudaCreateChannelDesc<float>();
        TRY(cudaMallocArray(&array, &texel, size[0], size[1]));
        size_t row = size[0] * sizeof(float);
        TRY(cudaMemcpy2DToArrayAsync(array, 0, 0, from, row, row, size[1], cudaMemcpyDeviceToDevice, stream));
        cudaResourceDesc what = {};
        what.resType = cudaResourceTypeArray;
        what.res.array.array = array;
        cudaTextureDesc how = {};
        how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
        how.filterMode = filter;
        TRY(cudaCreateTextureObject(&object, &what, &how, nullptr));
        source = from, columns = size[0], rows = size[1];
        return nullptr;
    }
};

dim3 tiles_of(const size_t *size) { return dim3(blocks(size[0], 32), blocks(size[1], 32)); }

template <bool TILED> const char *texture_plain(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    resample_plain<TILED><<<tiles_of(size), 256, 0, stream>>>((const float *)in[0], (float *)out[0], walk_of(size));
    return launched();
}

template <bool TILED> const char *texture_array(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    static ImageTexture image(cudaFilterModePoint);
    if (const char *failed = image.make(stream, in[0], size)) return failed;
    resample_array<TILED><<<tiles_of(size), 256, 0, stream>>>(image.object, (float *)out[0], walk_of(size));
    return launched();
}

const char *texture_bilinear_plain(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    resample_bilinear<<<tiles_of(size), 256, 0, stream>>>((const float *)in[0], (float *)out[2], walk_of(size));
    return launched();
}

const char *texture_bilinear_array(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    static ImageTexture image(cudaFilterModeLinear);
    if (const char *failed = image.make(stream, in[0], size)) return failed;
    resample_array<true><<<tiles_of(size), 256, 0, stream>>>(image.object, (float *)out[3], walk_of(size));
    return launched();
}

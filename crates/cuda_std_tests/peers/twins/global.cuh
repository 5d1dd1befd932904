// Kernels of `kernels/src/global`.

KERNEL aos_soa_one_field_aos(const float *points, float *target, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) target[i] = 4.0f * points[(size_t)2 * i];
}

KERNEL aos_soa_one_field_soa(const float *fields, float *target, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) target[i] = 4.0f * fields[i];
}

KERNEL aos_soa_both_aos(const float *points, float *target, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) target[i] = points[(size_t)2 * i] + points[(size_t)2 * i + 1];
}

KERNEL aos_soa_both_vectorized(const float2 *points, float *target, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) {
        float2 point = points[i];
        target[i] = point.x + point.y;
    }
}

KERNEL aos_soa_both_soa(const float *fields, float *target, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) target[i] = fields[i] + fields[(size_t)n + i];
}

static __device__ uint32_t permuted_word(uint32_t i, uint32_t n) {
    uint32_t word = i - i % WARP + (i % WARP * 5 + 3) % WARP;
    return word < n ? word : n - 1;
}

#define READ(name, place)                                                                                              \
    KERNEL bus_utilization_##name##_ca(const float *source, float *target, uint32_t n) {                               \
        uint32_t i = index_1d();                                                                                       \
        if (i < n) target[i] = __ldca(source + (place));                                                               \
    }                                                                                                                  \
    KERNEL bus_utilization_##name##_cg(const float *source, float *target, uint32_t n) {                               \
        uint32_t i = index_1d();                                                                                       \
        if (i < n) target[i] = __ldcg(source + (place));                                                               \
    }
READ(aligned, i)
READ(misaligned, i + 1)
READ(one_address, i - i % WARP)
READ(permuted, permuted_word(i, n))
#undef READ

KERNEL coalescing_strided(const float *source, float *target, uint32_t n) {
    uint32_t thread = index_1d(), warp = thread / WARP, lane = thread % WARP;
    uint32_t rows = div_ceil(n, WARP), i = lane * rows + warp;
    if (warp < rows && i < n) target[i] = source[i];
}

KERNEL coalescing_every_other_lane(const float *source, float *target, uint32_t n) {
    uint32_t thread = index_1d(), warp = thread / WARP, lane = thread % WARP;
    uint32_t i = warp / 2 * WARP + lane;
    if (lane % 2 == warp % 2 && i < n) target[i] = source[i];
}

KERNEL coalescing_half_warp(const float *source, float *target, uint32_t n) {
    uint32_t thread = index_1d(), warp = thread / WARP, lane = thread % WARP;
    uint32_t i = warp * (WARP / 2) + lane;
    if (lane < WARP / 2 && i < n) target[i] = source[i];
}

KERNEL coalescing_permuted(const float *source, float *target, uint32_t n) {
    uint32_t thread = index_1d(), lane = thread % WARP;
    uint32_t i = thread - lane + (lane * 5 + 3) % WARP;
    if (i < n) target[i] = source[i];
}

KERNEL coalescing_vectorized_8(const float *source, float *target, uint32_t n) {
    uint32_t i = index_1d() * 2;
    if (i + 1 < n) *(float2 *)(target + i) = *(const float2 *)(source + i);
    else if (i < n) target[i] = source[i];
}

static __device__ void copy_quad(const float *source, float *target, uint32_t i, uint32_t n) {
    if (i + 3 < n) *(float4 *)(target + i) = *(const float4 *)(source + i);
    else for (uint32_t j = i; j < n; j++) target[j] = source[j];
}

KERNEL coalescing_in_flight(const float *source, float *target, uint32_t n) {
    const uint32_t THREADS = 256, LOADS = 4, TILE = THREADS * LOADS;
    uint32_t tiles = n / 4 / TILE;
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        uint32_t first = tile * TILE + threadIdx.x;
        float4 values[LOADS];
        for (uint32_t step = 0; step < LOADS; step++) values[step] = ((const float4 *)source)[first + step * THREADS];
        for (uint32_t step = 0; step < LOADS; step++) ((float4 *)target)[first + step * THREADS] = values[step];
    }
    if (blockIdx.x == 0) {
        for (uint32_t i = (tiles * TILE + threadIdx.x) * 4; i < n; i += THREADS * 4) copy_quad(source, target, i, n);
    }
}

KERNEL misalignment_shifted_cg(const float *source, float *target, uint32_t offset, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) target[(size_t)i + offset] = __ldcg(source + ((size_t)i + offset));
}

KERNEL misalignment_shifted_nc(const float *source, float *target, uint32_t offset, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) target[(size_t)i + offset] = __ldg(source + ((size_t)i + offset));
}

KERNEL misalignment_padded(const float *source, float *target, uint32_t padding, uint32_t offset, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) target[padding + offset + i] = source[padding + offset + i];
}

KERNEL misalignment_peeled(const float *source, float *target, uint32_t offset, uint32_t n) {
    uint32_t i = offset - offset % 32 + index_1d();
    if (i >= offset && i < offset + n) target[i] = source[i];
}

KERNEL misalignment_staged(const float *source, float *target, uint32_t offset, uint32_t n) {
    const uint32_t THREADS = 256, TILE = THREADS * 4;
    __shared__ float4 vectors[THREADS];
    float *tile = (float *)vectors;
    uint32_t end = offset + n, first = offset - offset % 32 + blockIdx.x * TILE;
    uint32_t vector = first + threadIdx.x * 4;
    if (vector + 4 <= end) vectors[threadIdx.x] = *(const float4 *)(source + vector);
    else for (uint32_t i = vector; i < end; i++) tile[i - first] = source[i];
    __syncthreads();
    for (uint32_t word = threadIdx.x; word < TILE; word += THREADS) {
        uint32_t i = first + word;
        if (i >= offset && i < end) target[i] = tile[word];
    }
}

static __device__ uint32_t luma(uint32_t red, uint32_t green, uint32_t blue) {
    return (77 * red + 150 * green + 29 * blue + 128) >> 8;
}
static __device__ uint32_t byte(uint32_t word, uint32_t index) { return word >> (8 * index) & 0xff; }
static __device__ uint8_t gray_of(const uint8_t *image, uint32_t i) {
    const uint8_t *pixel = image + (size_t)3 * i;
    return (uint8_t)luma(pixel[0], pixel[1], pixel[2]);
}
static __device__ uint32_t gray_of_pixels(uint32_t a, uint32_t b, uint32_t c) {
    return luma(byte(a, 0), byte(a, 1), byte(a, 2)) | luma(byte(a, 3), byte(b, 0), byte(b, 1)) << 8 |
           luma(byte(b, 2), byte(b, 3), byte(c, 0)) << 16 | luma(byte(c, 1), byte(c, 2), byte(c, 3)) << 24;
}
static __device__ uint32_t red_of_pixels(uint32_t a, uint32_t b, uint32_t c) {
    return byte(a, 0) | byte(a, 3) << 8 | byte(b, 2) << 16 | byte(c, 1) << 24;
}
static __device__ uint32_t gray_of_planes(uint32_t red, uint32_t green, uint32_t blue) {
    uint32_t four = 0;
    for (uint32_t i = 0; i < 4; i++) four |= luma(byte(red, i), byte(green, i), byte(blue, i)) << (8 * i);
    return four;
}

KERNEL rgb_to_gray_four_bytes(const uchar4 *image, uint8_t *gray, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) {
        uchar4 pixel = image[i];
        gray[i] = (uint8_t)luma(pixel.x, pixel.y, pixel.z);
    }
}

KERNEL rgb_to_gray_aos_vectorized(const uint8_t *image, uint8_t *gray, uint32_t n) {
    uint32_t first = index_1d() * 16;
    if (first + 16 <= n) {
        const uint4 *source = (const uint4 *)(image + (size_t)3 * first);
        uint4 a = source[0], b = source[1], c = source[2];
        *(uint4 *)(gray + first) = make_uint4(gray_of_pixels(a.x, a.y, a.z), gray_of_pixels(a.w, b.x, b.y),
                                              gray_of_pixels(b.z, b.w, c.x), gray_of_pixels(c.y, c.z, c.w));
    } else {
        for (uint32_t i = first; i < n; i++) gray[i] = gray_of(image, i);
    }
}

KERNEL rgb_to_gray_soa_vectorized(const uint8_t *image, uint8_t *gray, uint32_t n) {
    uint32_t first = index_1d() * 16;
    size_t plane = ((size_t)n + 15) / 16 * 16;
    const uint8_t *source = image + first;
    if (first + 16 <= n) {
        uint4 red = *(const uint4 *)source, green = *(const uint4 *)(source + plane);
        uint4 blue = *(const uint4 *)(source + 2 * plane);
        *(uint4 *)(gray + first) =
            make_uint4(gray_of_planes(red.x, green.x, blue.x), gray_of_planes(red.y, green.y, blue.y),
                       gray_of_planes(red.z, green.z, blue.z), gray_of_planes(red.w, green.w, blue.w));
    } else {
        for (uint32_t i = first; i < n; i++) gray[i] = (uint8_t)luma(image[i], image[plane + i], image[2 * plane + i]);
    }
}

KERNEL rgb_to_gray_red_aos(const uint8_t *image, uint8_t *red, uint32_t n) {
    uint32_t first = index_1d() * 16;
    if (first + 16 <= n) {
        const uint4 *source = (const uint4 *)(image + (size_t)3 * first);
        uint4 a = source[0], b = source[1], c = source[2];
        *(uint4 *)(red + first) = make_uint4(red_of_pixels(a.x, a.y, a.z), red_of_pixels(a.w, b.x, b.y),
                                             red_of_pixels(b.z, b.w, c.x), red_of_pixels(c.y, c.z, c.w));
    } else {
        for (uint32_t i = first; i < n; i++) red[i] = image[(size_t)3 * i];
    }
}

KERNEL rgb_to_gray_red_soa(const uint8_t *image, uint8_t *red, uint32_t n) {
    uint32_t first = index_1d() * 16;
    if (first + 16 <= n) *(uint4 *)(red + first) = *(const uint4 *)(image + first);
    else for (uint32_t i = first; i < n; i++) red[i] = image[i];
}

KERNEL store_segments_scattered(uint32_t *target, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) {
        uint32_t place = (i % WARP * 5 + 3) % WARP, sector = div_ceil(place / 8 * 3, 2);
        uint32_t word = i / WARP * 48 + sector * 8 + place % 8;
        target[word] = word;
    }
}

KERNEL store_segments_half_range(uint32_t *target, uint32_t n) {
    uint32_t i = index_1d(), lane = i % WARP, word = i / WARP * 16 + lane;
    if (lane < 16 && word < n) target[word] = word;
}

KERNEL store_segments_two_halves(uint32_t *target, uint32_t n) {
    uint32_t i = index_1d(), warp = i / WARP, lane = i % WARP;
    uint32_t sector = warp % 2 + lane / 8 * 2, word = warp / 2 * WARP + sector * 8 + lane % 8;
    if (lane < 16 && word < n) target[word] = word;
}

KERNEL store_segments_four_stores(uint32_t *target, uint32_t n) {
    uint32_t i = index_1d(), first = i - i % WARP, lane = i % WARP;
    if (lane < 8) {
        for (uint32_t sector = 0; sector < 4; sector++) {
            uint32_t word = first + sector * 8 + lane;
            if (word < n) target[word] = word;
        }
    }
}

KERNEL stride_copy(const float *source, float *target, uint32_t stride, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) target[(size_t)i * stride] = source[(size_t)i * stride];
}

KERNEL stride_staged(const float *source, float *target, uint32_t stride, uint32_t n) {
    const uint32_t THREADS = 256, RESULTS = 128;
    float *words = (float *)dynamic_words;
    uint32_t tile = RESULTS * stride, thread = threadIdx.x;
    size_t first = (size_t)blockIdx.x * tile, end = (size_t)n * stride;
    for (uint32_t word = thread * 4; word < tile; word += THREADS * 4) {
        size_t i = first + word;
        if (i + 4 <= end) *(float4 *)(words + word) = *(const float4 *)(source + i);
        else for (size_t rest = i; rest < end; rest++) words[rest - first] = source[rest];
    }
    __syncthreads();
    uint32_t i = blockIdx.x * RESULTS + thread;
    if (thread < RESULTS && i < n) target[i] = words[thread * stride];
}

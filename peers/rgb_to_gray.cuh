// Peers of `rgb_to_gray`, within the namespace of `peers.cu`.

__device__ uint32_t luma(uint32_t red, uint32_t green, uint32_t blue) {
    return (77 * red + 150 * green + 29 * blue + 128) >> 8;
}

__global__ void gray_of_pixels(const uint8_t *image, uint8_t *gray, uint32_t n) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint8_t *pixel = &image[3 * (size_t)i];
    if (i < n) gray[i] = (uint8_t)luma(pixel[0], pixel[1], pixel[2]);
}

const char *gray_aos(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    gray_of_pixels<<<blocks(size[0], 256), 256, 0, stream>>>((const uint8_t *)in[0], (uint8_t *)out[0], size[0]);
    return launched();
}

__global__ void gray_of_planes(const uint8_t *planes, uint8_t *gray, uint32_t n) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    size_t plane = ((size_t)n + 15) / 16 * 16;
    if (i < n) gray[i] = (uint8_t)luma(planes[i], planes[plane + i], planes[2 * plane + i]);
}

const char *gray_soa(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    gray_of_planes<<<blocks(size[0], 256), 256, 0, stream>>>((const uint8_t *)in[1], (uint8_t *)out[0], size[0]);
    return launched();
}

__device__ uint32_t byte_of(uint32_t word, uint32_t index) { return word >> (8 * index) & 0xFF; }

// Four gray bytes of twelve.
__device__ uint32_t four_grays(uint32_t a, uint32_t b, uint32_t c) {
    return luma(byte_of(a, 0), byte_of(a, 1), byte_of(a, 2)) | luma(byte_of(a, 3), byte_of(b, 0), byte_of(b, 1)) << 8 |
           luma(byte_of(b, 2), byte_of(b, 3), byte_of(c, 0)) << 16 | luma(byte_of(c, 1), byte_of(c, 2), byte_of(c, 3)) << 24;
}

__global__ void gray_through_shared(const uint8_t *image, uint8_t *gray, uint32_t n) {
    __shared__ uint4 stage[3 * 256];
    uint32_t thread = threadIdx.x, first = blockIdx.x * 4096;
    if (first + 4096 <= n) {
        const uint4 *source = (const uint4 *)&image[3 * (size_t)first] + thread;
        uint4 p = source[0], q = source[256], r = source[512];
        stage[thread] = p, stage[256 + thread] = q, stage[512 + thread] = r;
        __syncthreads();
        uint4 a = stage[3 * thread], b = stage[3 * thread + 1], c = stage[3 * thread + 2];
        *(uint4 *)&gray[first + 16 * thread] = make_uint4(four_grays(a.x, a.y, a.z), four_grays(a.w, b.x, b.y),
                                                          four_grays(b.z, b.w, c.x), four_grays(c.y, c.z, c.w));
    } else for (uint32_t i = first + thread; i < n; i += 256) {
        const uint8_t *pixel = &image[3 * (size_t)i];
        gray[i] = (uint8_t)luma(pixel[0], pixel[1], pixel[2]);
    }
}

const char *gray_aos_staged(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    gray_through_shared<<<blocks(size[0], 4096), 256, 0, stream>>>((const uint8_t *)in[0], (uint8_t *)out[0], size[0]);
    return launched();
}

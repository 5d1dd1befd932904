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

// NPP, if it is found when it is first needed: it is no part of every toolkit, and nothing else here needs it.
struct NppSize {
    int width, height;
};
struct NppContext {
    cudaStream_t stream;
    int device, multiprocessors, threads_per_multiprocessor, threads_per_block;
    size_t shared_per_block;
    int capability_major, capability_minor;
    unsigned int stream_flags;
    int reserved;
};
// nppiColorToGray_8u_C3C1R_Ctx, as CUDA 10.1 to 13 declare it.
typedef int NppColorToGray(const uint8_t *source, int source_step, uint8_t *target, int target_step, NppSize size,
                           const float weights[3], NppContext context);

NppColorToGray *npp_color_to_gray() {
    for (const char *name : {"libnppicc.so", "libnppicc.so.13", "libnppicc.so.12", "libnppicc.so.11"})
        if (void *library = dlopen(name, RTLD_NOW))
            if (void *found = dlsym(library, "nppiColorToGray_8u_C3C1R_Ctx")) return (NppColorToGray *)found;
    return nullptr;
}

NppContext npp_context() {
    NppContext context = {};
    cudaDeviceProp properties;
    cudaGetDevice(&context.device);
    cudaGetDeviceProperties(&properties, context.device);
    context.multiprocessors = properties.multiProcessorCount;
    context.threads_per_multiprocessor = properties.maxThreadsPerMultiProcessor;
    context.threads_per_block = properties.maxThreadsPerBlock;
    context.shared_per_block = properties.sharedMemPerBlock;
    context.capability_major = properties.major;
    context.capability_minor = properties.minor;
    return context;
}

const char *gray_npp(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    static NppColorToGray *color_to_gray = npp_color_to_gray();
    static NppContext context = npp_context();
    if (color_to_gray == nullptr) return "not run: NPP was not found (libnppicc.so, of the CUDA toolkit)";
    context.stream = stream;
    cudaStreamGetFlags(stream, &context.stream_flags);
    // An image of rows; of one row where they would not be equally long.
    int width = size[0] % 8192 == 0 ? 8192 : (int)size[0];
    const float weights[3] = {77 / 256.0f, 150 / 256.0f, 29 / 256.0f};
    NppSize image = {width, (int)(size[0] / width)};
    int status = color_to_gray((const uint8_t *)in[0], 3 * width, (uint8_t *)out[0], width, image, weights, context);
    cudaGetLastError(); // No graph can hold NPP's work; the error would be found by the next peer.
    return status == 0 ? nullptr : "nppiColorToGray_8u_C3C1R_Ctx failed";
}

// Peers of `aos_soa`, within the namespace of `peers.cu`.

// Of place (3), speed (3) and mass: mass / 2 * (speed^2 + place^2).
__device__ float energy(const float (&p)[7]) {
    return p[6] * 0.5f * (p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3] + p[4] * p[4] + p[5] * p[5]);
}

__global__ void energies_of_structures(const float *particles, float *target, uint32_t n) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float particle[7];
    for (uint32_t field = 0; field < 7; field++) particle[field] = particles[7 * (size_t)i + field];
    target[i] = energy(particle);
}

const char *particle_aos(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    energies_of_structures<<<blocks(size[0], 256), 256, 0, stream>>>((const float *)in[2], (float *)out[2], size[0]);
    return launched();
}

__global__ void energies_of_fields(const float *fields, float *target, uint32_t n) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float particle[7];
    for (uint32_t field = 0; field < 7; field++) particle[field] = fields[(size_t)n * field + i];
    target[i] = energy(particle);
}

const char *particle_soa(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    energies_of_fields<<<blocks(size[0], 256), 256, 0, stream>>>((const float *)in[3], (float *)out[2], size[0]);
    return launched();
}

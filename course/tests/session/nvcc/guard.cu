// The solution of the task `guard` in CUDA C++, and, without GUARDED, the kernel that a learner is given.
extern "C" __global__ void guard(const float *source, float *target, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef GUARDED
    if (i < n)
#else
    if (i <= n)
#endif
        target[i] = 1.0f - source[i];
}

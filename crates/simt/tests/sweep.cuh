//! What every sweep does: draws numbers, checks calls, says which device it ran on, and prints digests.

#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>

static const uint64_t STEP = 0x9e3779b97f4a7c15ull;

__host__ __device__ static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

struct Random {
    uint64_t state;
    uint64_t next() { return mix(state += STEP); }
    int below(int n) { return (int)(next() % n); }
};

static void check(int code, const char *what) {
    if (code == 0) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString((cudaError_t)code));
    exit(1);
}

template <class T> static unsigned digest(const T *values, size_t count) {
    uint64_t digest = 0;
    for (size_t i = 0; i < count; i++) digest = mix(digest ^ values[i]) + STEP;
    return (unsigned)(digest >> 32);
}

static void begin(const char *sweep) {
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0), "no device");
    printf("%s 1, %s, compute capability %d.%d\n", sweep, device.name, device.major, device.minor);
}

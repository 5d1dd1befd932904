// The kernels of `src/kernels/block_peers.rs` with CUB, and a program that measures both in turn:
//
//   nvcc -O3 -std=c++17 -arch=native blocks.cu -L/usr/local/cuda/lib64/stubs -lcuda -o blocks && ./blocks kernels.ptx > blocks.csv
//
// `kernels.ptx` is what the test `blocks::kernels_beside_cub` writes. A row has the medians of both in microseconds and
// the ratio of CUB's to ours; what both store is compared first.
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cuda.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

const int N = 256;

template <int ITEMS> static __device__ size_t first() { return (size_t)blockIdx.x * N * ITEMS + threadIdx.x; }

template <class T, int ITEMS> static __device__ void load(T (&items)[ITEMS], const T *source) {
    for (int nth = 0; nth < ITEMS; nth++) items[nth] = source[first<ITEMS>() + nth * N];
}

template <class T, int ITEMS> static __device__ void store(const T (&items)[ITEMS], T *target) {
    for (int nth = 0; nth < ITEMS; nth++) target[first<ITEMS>() + nth * N] = items[nth];
}

#define KERNEL(name, T) extern "C" __global__ void __launch_bounds__(256) name(const T *source, T *target, uint32_t repeats)

#define REDUCE(T, suffix)                                                                                              \
    KERNEL(peer_reduce_##suffix, T) {                                                                                  \
        using Reduce = cub::BlockReduce<T, N>;                                                                         \
        __shared__ typename Reduce::TempStorage shared;                                                                \
        T value = source[first<1>()];                                                                                  \
        for (uint32_t i = 0; i < repeats; i++) {                                                                       \
            __syncthreads();                                                                                           \
            T sum = Reduce(shared).Sum(value);                                                                         \
            if (threadIdx.x == 0) value = sum;                                                                         \
        }                                                                                                              \
        if (threadIdx.x == 0) target[first<1>()] = value;                                                              \
    }
REDUCE(uint32_t, u32) REDUCE(float, f32) REDUCE(double, f64)

#define SCAN(T, suffix)                                                                                                \
    KERNEL(peer_scan_##suffix, T) {                                                                                    \
        using Scan = cub::BlockScan<T, N>;                                                                             \
        __shared__ typename Scan::TempStorage shared;                                                                  \
        T value = source[first<1>()];                                                                                  \
        for (uint32_t i = 0; i < repeats; i++) {                                                                       \
            __syncthreads();                                                                                           \
            Scan(shared).InclusiveSum(value, value);                                                                   \
        }                                                                                                              \
        target[first<1>()] = value;                                                                                    \
    }
SCAN(uint32_t, u32) SCAN(float, f32) SCAN(double, f64)

#define SCAN_ITEMS(T, suffix)                                                                                          \
    KERNEL(peer_scan_items_##suffix, T) {                                                                              \
        using Scan = cub::BlockScan<T, N>;                                                                             \
        __shared__ typename Scan::TempStorage shared;                                                                  \
        T items[4];                                                                                                    \
        load(items, source);                                                                                           \
        for (uint32_t i = 0; i < repeats; i++) {                                                                       \
            __syncthreads();                                                                                           \
            Scan(shared).ExclusiveSum(items, items);                                                                   \
        }                                                                                                              \
        store(items, target);                                                                                          \
    }
SCAN_ITEMS(uint32_t, u32) SCAN_ITEMS(float, f32)

#define EXCHANGE(T, suffix, ITEMS)                                                                                     \
    KERNEL(peer_exchange_##suffix##_##ITEMS, T) {                                                                      \
        using Exchange = cub::BlockExchange<T, N, ITEMS>;                                                              \
        __shared__ typename Exchange::TempStorage shared;                                                              \
        T items[ITEMS];                                                                                                \
        load(items, source);                                                                                           \
        for (uint32_t i = 0; i < repeats; i++) {                                                                       \
            __syncthreads();                                                                                           \
            Exchange(shared).StripedToBlocked(items, items);                                                           \
        }                                                                                                              \
        store(items, target);                                                                                          \
    }
EXCHANGE(uint32_t, u32, 4) EXCHANGE(uint32_t, u32, 7) EXCHANGE(uint32_t, u32, 8)
EXCHANGE(double, f64, 4) EXCHANGE(double, f64, 7) EXCHANGE(double, f64, 8)

#define SORT(T, suffix, ITEMS)                                                                                         \
    KERNEL(peer_sort_##suffix##_##ITEMS, T) {                                                                          \
        using Sort = cub::BlockRadixSort<T, N, ITEMS>;                                                                 \
        __shared__ typename Sort::TempStorage shared;                                                                  \
        T keys[ITEMS];                                                                                                 \
        load(keys, source);                                                                                            \
        for (uint32_t i = 0; i < repeats; i++) {                                                                       \
            __syncthreads();                                                                                           \
            Sort(shared).Sort(keys);                                                                                   \
        }                                                                                                              \
        store(keys, target);                                                                                           \
    }
SORT(uint32_t, u32, 4) SORT(uint32_t, u32, 8) SORT(float, f32, 4) SORT(float, f32, 8) SORT(uint64_t, u64, 4)
SORT(uint64_t, u64, 8)

KERNEL(peer_sort_pairs_u32_4, uint32_t) {
    using Sort = cub::BlockRadixSort<uint32_t, N, 4, uint32_t>;
    __shared__ typename Sort::TempStorage shared;
    uint32_t keys[4], values[4];
    load(keys, source);
    load(values, source);
    for (uint32_t i = 0; i < repeats; i++) {
        __syncthreads();
        Sort(shared).Sort(keys, values);
    }
    store(values, target);
}

template <cub::BlockHistogramAlgorithm ALGORITHM>
static __device__ void histogram(const uint32_t *source, uint32_t *target, uint32_t repeats) {
    using Histogram = cub::BlockHistogram<uint8_t, N, 8, 256, ALGORITHM>;
    __shared__ typename Histogram::TempStorage shared;
    __shared__ uint32_t bins[256];
    uint8_t items[8];
    for (int nth = 0; nth < 8; nth++) items[nth] = source[first<8>() + nth * N];
    uint32_t sum = 0;
    for (uint32_t i = 0; i < repeats; i++) {
        __syncthreads();
        Histogram(shared).Histogram(items, bins);
        __syncthreads();
        sum += bins[threadIdx.x];
    }
    target[first<1>()] = sum;
}
KERNEL(peer_histogram, uint32_t) { histogram<cub::BLOCK_HISTO_ATOMIC>(source, target, repeats); }
// CUB's default, which sorts the items.
KERNEL(sorting_histogram, uint32_t) { histogram<cub::BLOCK_HISTO_SORT>(source, target, repeats); }

#define WARP(T, suffix)                                                                                                \
    KERNEL(peer_warp_reduce_##suffix, T) {                                                                             \
        using Reduce = cub::WarpReduce<T>;                                                                             \
        __shared__ typename Reduce::TempStorage shared[N / 32];                                                        \
        T value = source[first<1>()];                                                                                  \
        for (uint32_t i = 0; i < repeats; i++) value += Reduce(shared[threadIdx.x / 32]).Sum(value);                   \
        if (threadIdx.x % 32 == 0) target[first<1>()] = value;                                                         \
    }                                                                                                                  \
    KERNEL(peer_warp_scan_##suffix, T) {                                                                               \
        using Scan = cub::WarpScan<T>;                                                                                 \
        __shared__ typename Scan::TempStorage shared[N / 32];                                                          \
        T value = source[first<1>()];                                                                                  \
        for (uint32_t i = 0; i < repeats; i++) Scan(shared[threadIdx.x / 32]).InclusiveSum(value, value);              \
        target[first<1>()] = value;                                                                                    \
    }
WARP(uint32_t, u32) WARP(float, f32)

#ifndef KERNELS_ONLY
#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        int error = (call);                                                                                            \
        if (error != 0) {                                                                                              \
            fprintf(stderr, "%s: error %d\n", #call, error);                                                           \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

const int BLOCKS = 8448;
const size_t BYTES = (size_t)BLOCKS * N * 8 * 8;

struct Kernel {
    const char *name;
    const void *cub;
    char type; // f: 4-byte floats, d: 8-byte floats, w: words
    int items;
    size_t shared; // of ours
    const char *ours; // where it has another name
};

#define ROW(name, type, items, shared) {#name, (const void *)name, type, items, shared, #name}
const size_t PARTIALS = 32 * 8, SCAN = N * 10 + 16, COUNTS = 9 * N * 4 + 128;
const Kernel KERNELS[] = {
    ROW(peer_reduce_u32, 'w', 1, PARTIALS), ROW(peer_reduce_f32, 'f', 1, PARTIALS), ROW(peer_reduce_f64, 'd', 1, PARTIALS),
    ROW(peer_scan_u32, 'w', 1, SCAN), ROW(peer_scan_f32, 'f', 1, SCAN), ROW(peer_scan_f64, 'd', 1, SCAN),
    ROW(peer_scan_items_u32, 'w', 4, SCAN), ROW(peer_scan_items_f32, 'f', 4, SCAN),
    ROW(peer_exchange_u32_4, 'w', 4, N * 4 * 4), ROW(peer_exchange_u32_7, 'w', 7, N * 7 * 4),
    ROW(peer_exchange_u32_8, 'w', 8, N * 8 * 4), ROW(peer_exchange_f64_4, 'd', 4, N * 4 * 8),
    ROW(peer_exchange_f64_7, 'd', 7, N * 7 * 8), ROW(peer_exchange_f64_8, 'd', 8, N * 8 * 8),
    ROW(peer_sort_u32_4, 'w', 4, COUNTS), ROW(peer_sort_u32_8, 'w', 8, COUNTS), ROW(peer_sort_f32_4, 'f', 4, COUNTS),
    ROW(peer_sort_f32_8, 'f', 8, COUNTS), ROW(peer_sort_u64_4, 'w', 4, COUNTS), ROW(peer_sort_u64_8, 'w', 8, N * 8 * 8),
    ROW(peer_sort_pairs_u32_4, 'w', 4, COUNTS), ROW(peer_histogram, 'w', 8, 1024),
    {"sorting_histogram", (const void *)sorting_histogram, 'w', 8, 1024, "peer_histogram"},
    ROW(peer_warp_reduce_u32, 'w', 1, 0), ROW(peer_warp_reduce_f32, 'f', 1, 0), ROW(peer_warp_scan_u32, 'w', 1, 0),
    ROW(peer_warp_scan_f32, 'f', 1, 0),
};

static std::vector<uint8_t> input(char type) {
    std::vector<uint8_t> bytes(BYTES);
    uint64_t state = 1;
    for (size_t at = 0; at < BYTES; at += 8) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t bits = state ^ state >> 31;
        if (type == 'f') {
            float pair[2] = {(float)(bits & 0xfff) - 2048, (float)(bits >> 20 & 0xfff) - 2048};
            memcpy(&bytes[at], pair, 8);
        } else if (type == 'd') {
            double one = (double)(bits & 0xfffff);
            memcpy(&bytes[at], &one, 8);
        } else {
            memcpy(&bytes[at], &bits, 8);
        }
    }
    return bytes;
}

int main(int count, char **arguments) {
    if (count < 2) {
        fprintf(stderr, "usage: blocks FILE.ptx [once]\n");
        return 2;
    }
    // Once: for `ncu`, which counts each launch.
    const int samples = count > 2 ? 1 : 21;
    std::ifstream file(arguments[1], std::ios::binary);
    std::string ptx((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    CHECK(cudaSetDevice(0));
    void *source, *targets[2];
    CHECK(cudaMalloc(&source, BYTES));
    for (void *&target : targets) CHECK(cudaMalloc(&target, BYTES));
    CUmodule module;
    CHECK(cuModuleLoadData(&module, ptx.c_str()));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    printf("kernel,repeats,ours_us,cub_us,ratio,our_registers,cub_registers,stored\n");
    bool all_equal = true;
    for (const Kernel &kernel : KERNELS) {
        std::vector<uint8_t> bytes = input(kernel.type);
        CHECK(cudaMemcpy(source, bytes.data(), BYTES, cudaMemcpyHostToDevice));
        CUfunction ours;
        CHECK(cuModuleGetFunction(&ours, module, kernel.ours));
        for (uint32_t repeats : {1u, 32u}) {
            auto launch = [&](int side) {
                void *values[] = {&source, &targets[side], &repeats};
                if (side == 0) {
                    CHECK(cuLaunchKernel(ours, BLOCKS, 1, 1, N, 1, 1, (unsigned)kernel.shared, 0, values, nullptr));
                } else {
                    CHECK(cudaLaunchKernel(kernel.cub, dim3(BLOCKS), dim3(N), values, 0, 0));
                }
            };
            std::vector<uint8_t> stored[2];
            for (int side : {0, 1}) {
                CHECK(cudaMemset(targets[side], 0xcd, BYTES));
                launch(side);
                CHECK(cudaDeviceSynchronize());
                stored[side].resize(BYTES);
                CHECK(cudaMemcpy(stored[side].data(), targets[side], BYTES, cudaMemcpyDeviceToHost));
            }
            bool equal = stored[0] == stored[1];
            std::vector<float> times[2];
            for (int sample = 0; sample < samples; sample++) {
                for (int side : {0, 1}) {
                    CHECK(cudaEventRecord(begin));
                    launch(side);
                    CHECK(cudaEventRecord(end));
                    CHECK(cudaEventSynchronize(end));
                    float milliseconds;
                    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
                    times[side].push_back(milliseconds * 1000);
                }
            }
            for (auto &list : times) std::sort(list.begin(), list.end());
            float mine = times[0][samples / 2], theirs = times[1][samples / 2];
            int registers;
            CHECK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, ours));
            cudaFuncAttributes attributes;
            CHECK(cudaFuncGetAttributes(&attributes, kernel.cub));
            // Sums of floats over and over lose bits in another order; one sum of these has no error.
            bool is_exact = kernel.type == 'w' || repeats == 1;
            all_equal &= equal || !is_exact;
            printf("%s,%u,%.2f,%.2f,%.3f,%d,%d,%s\n", kernel.name + (strncmp(kernel.name, "peer_", 5) == 0 ? 5 : 0),
                   repeats, mine, theirs, theirs / mine, registers, attributes.numRegs,
                   equal ? "equal" : is_exact ? "DIFFERENT" : "other sums");
            fflush(stdout);
        }
    }
    return all_equal ? 0 : 1;
}
#endif

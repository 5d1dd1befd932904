// Copies columns of im2col on a GPU and compares them with a plain enumeration of the pixels; then what the driver answers
// to maps that are wrong. A copy that the device refuses ends the context, so each process does one, or none:
//     nvcc -arch=sm_90a im2col.cu -lcuda -o im2col && for i in $(seq -1 10); do ./im2col $i; done
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <vector>

constexpr int kShared = 49152, kGlobal = 1 << 20, kRows = 37, kChannels = 16;

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

template <int Rank>
__global__ void load(const __grid_constant__ CUtensorMap map, uint8_t *out, int c0, int c1, int c2, int c3, int c4, int o0,
                     int o1, int o2, bool stores) {
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ __align__(8) uint64_t barrier;
    auto at = (uint32_t)__cvta_generic_to_shared(memory), mbarrier = (uint32_t)__cvta_generic_to_shared(&barrier);
    for (int i = threadIdx.x; i < kShared; i += blockDim.x) memory[i] = stores ? out[i] : 0xEE;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(mbarrier));
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    uint16_t p0 = o0, p1 = o1, p2 = o2;
    if (threadIdx.x == 0 && stores) {
        asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%0, {%1, %2, %3, %4}], [%5];\n"
                     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;"
                     ::"l"(&map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(at) : "memory");
    } else if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(mbarrier), "r"(kRows * kChannels * 2));
        if constexpr (Rank == 3)
            asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5], {%6};"
                         ::"r"(at), "l"(&map), "r"(c0), "r"(c1), "r"(c2), "r"(mbarrier), "h"(p0) : "memory");
        if constexpr (Rank == 4)
            asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};"
                         ::"r"(at), "l"(&map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(mbarrier), "h"(p0), "h"(p1) : "memory");
        if constexpr (Rank == 5)
            asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7], {%8, %9, %10};"
                         ::"r"(at), "l"(&map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "r"(mbarrier), "h"(p0), "h"(p1), "h"(p2) : "memory");
    }
    if (!stores) {
        int done = 0;
        for (int tries = 0; !done && tries < 1000000; tries++)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(mbarrier) : "memory");
        if (!done && threadIdx.x == 0) printf("late ");
    }
    __syncthreads();
    for (int i = threadIdx.x; i < kShared && !stores; i += blockDim.x) out[i] = memory[i];
}

struct Case {
    int rank, at[5], offsets[3];
    uint32_t steps[5];
    bool stores, whole;
};

int main(int count, char **arguments) {
    int only = count > 1 ? atoi(arguments[1]) : -1;
    cuInit(0);
    CUcontext context;
    CUdevice device;
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxSetCurrent(context);
    CUdeviceptr tensor, out;
    cuMemAlloc(&tensor, kGlobal);
    cuMemAlloc(&out, kShared);
    std::vector<uint8_t> global(kGlobal), shared(kShared);
    for (int i = 0; i < kGlobal; i++) global[i] = (uint8_t)mix(i);
    auto encode = [&](CUtensorMap *map, int rank, const uint32_t *steps, int swizzle, const int *lower, const int *upper,
                      uint32_t channels, uint32_t rows) {
        uint64_t sizes[5] = {40, 7, 5, 4, 3}, strides[4] = {96, 96 * 7, 96 * 7 * 5, 96 * 7 * 5 * 4};
        sizes[rank - 1] = 3;
        return cuTensorMapEncodeIm2col(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, rank, (void *)(tensor + 4096), sizes, strides,
                                       lower, upper, channels, rows, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                       (CUtensorMapSwizzle)swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                       CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    };
    const Case cases[] = {
        {3, {0, -1, 0}, {2}, {1, 1, 1, 1, 1}},
        {3, {16, 3, 1}, {0}, {1, 2, 1, 1, 1}},
        {4, {0, -1, -1, 0}, {1, 2}, {1, 1, 1, 1, 1}},
        {4, {32, 1, 3, 1}, {2, 0}, {1, 2, 2, 1, 1}},
        {5, {8, 0, 1, -2, 0}, {0, 1, 2}, {1, 1, 1, 1, 1}},
        {5, {0, 5, 4, 2, 2}, {2, 2, 0}, {1, 3, 1, 2, 1}},
        {4, {0, 2, 1, 0}, {0, 0}, {1, 1, 1, 1, 1}, true},
        {4, {0, 2, 1, 0}, {0, 0}, {1, 1, 1, 1, 1}, true, true},
        {4, {0, 0, 0, 0}, {0, 0}, {1, 1, 1, 1, 1}, true, true},
        {4, {16, 0, 0, 1}, {0, 0}, {1, 1, 1, 1, 1}, true, true},
        {4, {0, 0, 0, 0}, {0, 0}, {1, 1, 1, 1, 1}, false, true},
    };
    for (const Case &one : cases) {
        if (&one != cases + only) continue;
        const int lower[3] = {one.whole ? 0 : -1, one.whole ? 0 : -1, one.whole ? 0 : -2};
        const int upper[3] = {one.whole ? 0 : -1, 0, one.whole ? 0 : -1};
        for (int swizzle : {0, 1, 3}) {
            CUtensorMap map;
            int rank = one.rank, code = encode(&map, rank, one.steps, swizzle, lower, upper, kChannels, kRows);
            for (int i = 0; i < kShared; i++) shared[i] = (uint8_t)mix(i + 77);
            cuMemcpyHtoD(out, shared.data(), kShared);
            cuMemcpyHtoD(tensor, global.data(), kGlobal);
            const int *c = one.at, *o = one.offsets;
            auto run = [&](auto kernel) {
                cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
                kernel<<<1, 128, kShared>>>(map, (uint8_t *)out, c[0], c[1], c[2], c[3], c[4], o[0], o[1], o[2], one.stores);
            };
            if (rank == 3) run(load<3>);
            if (rank == 4) run(load<4>);
            if (rank == 5) run(load<5>);
            cudaError_t error = cudaDeviceSynchronize();
            std::vector<uint8_t> got(one.stores ? kGlobal : kShared), expected(got.size(), 0xEE);
            cuMemcpyDtoH(got.data(), one.stores ? tensor : out, got.size());
            if (one.stores) expected = global;
            int sizes[5] = {40, 7, 5, 4, 3};
            int64_t strides[5] = {2, 96, 96 * 7, 96 * 7 * 5, 96 * 7 * 5 * 4};
            sizes[rank - 1] = 3;
            int place[5];
            memcpy(place, one.at, sizeof place);
            int pitch = 16 << (swizzle < 1 ? 1 : swizzle);
            for (int row = 0; row < kRows; row++) {
                for (int channel = 0; channel < kChannels; channel++) {
                    bool inside = place[0] + channel < sizes[0];
                    int64_t from = 2 * (place[0] + channel);
                    for (int d = 1; d < rank; d++) {
                        int at = place[d] + (d < rank - 1 ? one.offsets[d - 1] : 0);
                        inside = inside && at >= 0 && at < sizes[d];
                        from += at * strides[d];
                    }
                    int to = row * pitch + 2 * channel;
                    to ^= (to >> 7 & ((1 << swizzle) - 1)) << 4;
                    for (int byte = 0; byte < 2; byte++) {
                        if (!one.stores) expected[to + byte] = inside ? global[4096 + from + byte] : 0;
                        else if (inside) expected[4096 + from + byte] = shared[to + byte];
                    }
                }
                for (int d = 1; d < rank; d++) {
                    place[d] += one.steps[d];
                    if (d == rank - 1 || place[d] < sizes[d] + upper[d - 1]) break;
                    place[d] = lower[d - 1];
                }
            }
            size_t wrong = 0, first = 0;
            for (size_t i = 0; i < got.size(); i++)
                if (got[i] != expected[i] && !wrong++) first = i;
            printf("%s of %d dimensions, swizzle %d: encode %d, error %d, %zu bytes differ from %zu on\n",
                   one.stores ? "store" : "load", rank, swizzle, code, (int)error, wrong, first);
        }
    }
    struct { int rank, lower[3], upper[3]; uint32_t channels, rows, step; } wrong[] = {
        {4, {-1, -1}, {-1, -1}, 16, 1024, 1}, {4, {-1, -1}, {-1, -1}, 16, 1025, 1}, {4, {-1, -1}, {-1, -1}, 256, 8, 1},
        {4, {-1, -1}, {-1, -1}, 257, 8, 1}, {4, {-128, 0}, {127, 0}, 16, 8, 1}, {4, {-129, 0}, {0, 0}, 16, 8, 1},
        {4, {0, 0}, {128, 0}, 16, 8, 1}, {5, {-16, 0, 0}, {15, 0, 0}, 16, 8, 1}, {5, {-17, 0, 0}, {0, 0, 0}, 16, 8, 1},
        {5, {0, 0, 0}, {16, 0, 0}, 16, 8, 1}, {3, {-32768}, {32767}, 16, 8, 1}, {3, {-32769}, {0}, 16, 8, 1},
        {4, {0, 0}, {0, -5}, 16, 8, 1}, {4, {0, 0}, {0, -4}, 16, 8, 1}, {4, {0, 0}, {0, 0}, 16, 0, 1},
        {4, {0, 0}, {0, 0}, 0, 8, 1}, {4, {0, 0}, {0, 0}, 4, 8, 1}, {4, {0, 0}, {0, 0}, 16, 8, 9}, {4, {0, 0}, {0, 0}, 16, 8, 0},
        {4, {0, 0}, {0, 0}, 16, 8, 8},
    };
    for (auto &one : wrong) {
        if (only >= 0) break;
        CUtensorMap map;
        uint32_t steps[5] = {1, one.step, 1, 1, 1};
        int code = encode(&map, one.rank, steps, 0, one.lower, one.upper, one.channels, one.rows);
        printf("rank %d lower %d %d %d upper %d %d %d channels %u pixels %u step %u: %d\n", one.rank, one.lower[0], one.lower[1],
               one.lower[2], one.upper[0], one.upper[1], one.upper[2], one.channels, one.rows, one.step, code);
    }
}

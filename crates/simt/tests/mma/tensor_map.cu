//! What a GPU's `cp.async.bulk.tensor` copies through tensor maps; `crates/virtual_gpu/src/exports/tensor_map.rs` compares.
//!
//!     nvcc -O2 -std=c++17 -gencode arch=compute_90a,code=sm_90a tensor_map.cu -lcuda -o tensor_map
//!     for i in $(seq 0 479); do ./tensor_map $i; done > tensor_map.txt
//!
//! A copy that the device refuses ends the context, so each process does one, or all from a number on until one fails. A line:
//! type, rank, sizes, strides in bytes, box, element strides, swizzle, fill, coordinates, the code of cuTensorMapEncodeTiled; and for code 0 the bytes of the box, a digest of 48 KiB of shared memory after the load, and one
//! of the tensor's memory after the box, filled with new bytes, was stored; or which of them fails, and the code.

#include "../sweep.cuh"
#include <cuda.h>
#include <unistd.h>

static const int SHARED = 49152, GLOBAL = 1 << 20;

struct Coordinates { int at[5]; };

template <int RANK> __global__ void copy(const __grid_constant__ CUtensorMap map, Coordinates c, uint32_t bytes, uint8_t *out) {
    extern __shared__ uint8_t raw[];
    __shared__ alignas(8) uint64_t barrier;
    uint8_t *memory = (uint8_t *)(((uintptr_t)raw + 1023) & ~(uintptr_t)1023);
    for (int i = threadIdx.x; i < SHARED; i += blockDim.x) memory[i] = 0xEE;
    uint32_t target = (uint32_t)__cvta_generic_to_shared(memory), full = (uint32_t)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" : : "r"(full) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" : : "r"(full), "r"(bytes) : "memory");
#define LOAD(dim, list) asm volatile("cp.async.bulk.tensor." dim ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, " list "], [%2];" \
        : : "r"(target), "l"(&map), "r"(full), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4]) : "memory")
        if (RANK == 1) LOAD("1d", "{%3}");
        if (RANK == 2) LOAD("2d", "{%3, %4}");
        if (RANK == 3) LOAD("3d", "{%3, %4, %5}");
        if (RANK == 4) LOAD("4d", "{%3, %4, %5, %6}");
        if (RANK == 5) LOAD("5d", "{%3, %4, %5, %6, %7}");
    }
    // Bounded: a copy that never counts its bytes must not hang the device.
    for (int i = 0; i < 100000; i++) {
        uint32_t done;
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(full) : "memory");
        if (done) break;
        if (i == 99999 && threadIdx.x == 0) out[SHARED] = 1;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < SHARED; i += blockDim.x) out[i] = memory[i];
}

template <int RANK> __global__ void copy_back(const __grid_constant__ CUtensorMap map, Coordinates c, uint32_t full, uint8_t *out) {
    extern __shared__ uint8_t raw[];
    uint8_t *memory = (uint8_t *)(((uintptr_t)raw + 1023) & ~(uintptr_t)1023);
    uint32_t target = (uint32_t)__cvta_generic_to_shared(memory);
    for (int i = threadIdx.x; i < SHARED; i += blockDim.x) memory[i] = (uint8_t)mix(i + 77);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
#define STORE(dim, list) asm volatile("cp.async.bulk.tensor." dim ".global.shared::cta.tile.bulk_group [%1, " list "], [%0];" \
        : : "r"(target), "l"(&map), "r"(full), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4]) : "memory")
        if (RANK == 1) STORE("1d", "{%3}");
        if (RANK == 2) STORE("2d", "{%3, %4}");
        if (RANK == 3) STORE("3d", "{%3, %4, %5}");
        if (RANK == 4) STORE("4d", "{%3, %4, %5, %6}");
        if (RANK == 5) STORE("5d", "{%3, %4, %5, %6, %7}");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

typedef void (*Copy)(CUtensorMap, Coordinates, uint32_t, uint8_t *);

int main(int count, char **arguments) {
    int first = count > 1 ? atoi(arguments[1]) : 0, last = count > 2 ? atoi(arguments[2]) : first + 1;
    const Copy KERNELS[5] = {copy<1>, copy<2>, copy<3>, copy<4>, copy<5>};
    const Copy BACK[5] = {copy_back<1>, copy_back<2>, copy_back<3>, copy_back<4>, copy_back<5>};
    const int TYPES[9] = {CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT16, CU_TENSOR_MAP_DATA_TYPE_UINT32,
                          CU_TENSOR_MAP_DATA_TYPE_UINT64, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                          CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT64, CU_TENSOR_MAP_DATA_TYPE_INT32};
    const int WIDTHS[9] = {1, 2, 4, 8, 4, 2, 2, 8, 4};
    check(cudaFree(0), "no device");
    uint8_t *memory, *out;
    check(cudaMalloc(&memory, GLOBAL), "cudaMalloc");
    check(cudaMalloc(&out, SHARED + 16), "cudaMalloc");
    std::vector<uint8_t> initial(GLOBAL), shared(SHARED + 16), after(GLOBAL);
    for (int i = 0; i < GLOBAL; i++) initial[i] = (uint8_t)mix(i);
    for (Copy kernel : KERNELS) check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED + 1024), "shared");
    for (Copy kernel : BACK) check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED + 1024), "shared");
    for (int i = first; i < last; i++) {
        Random random = {mix(12345 + i)};
        int pick = random.below(9), type = TYPES[pick], width = WIDTHS[pick], rank = 1 + i % 5;
        int swizzle = i / 5 % 4, span = swizzle ? 16 << swizzle : 256;
        cuuint64_t sizes[5], strides[5];
        cuuint32_t box[5], steps[5];
        Coordinates c = {};
        uint32_t bytes = width;
        for (int d = 0; d < rank; d++) {
            sizes[d] = 1 + random.below(d == 0 ? 200 : rank == 5 ? 4 : 8);
            // The inner size of the box is a multiple of 16 bytes, usually all that the swizzle allows.
            box[d] = d == 0 ? (random.below(3) ? span : 16 * (1 + random.below(span / 16))) / width : 1 + random.below(rank == 5 ? 3 : 4);
            steps[d] = random.below(8) == 0 ? 1 + random.below(3) : 1;
            if (d == 0) steps[d] = 1;
            c.at[d] = random.below((int)sizes[d] + 8) - 6;
            // A box begins at a multiple of 16 bytes along the first dimension, or the device refuses it.
            if (d == 0 && i % 32 != 7) c.at[d] = c.at[d] * width / 16 * 16 / width;
            bytes *= (box[d] + steps[d] - 1) / steps[d];
        }
        strides[0] = (sizes[0] * width + 15) / 16 * 16 + 16 * random.below(3);
        for (int d = 1; d < rank; d++) strides[d] = strides[d - 1] * sizes[d] + 16 * random.below(3);
        int fill = random.below(6) == 0 && pick >= 4 && pick < 8;
        CUtensorMap map;
        // Some maps are wrong: the driver says so.
        if (i % 16 == 15) switch (random.below(8)) {
            case 0: strides[0] += 8; break;
            case 1: box[0] = 257; break;
            case 2: steps[0] = 9; break;
            case 3: box[rank - 1] = 0; break;
            case 4: sizes[rank - 1] = 0; break;
            case 5: box[0] = 2 * span / width; break;
            case 6: fill = 1; break;
            case 7: strides[0] = 1ull << 40; break;
        }
        int code = cuTensorMapEncodeTiled(&map, (CUtensorMapDataType)type, rank, memory + 4096, sizes, strides, box, steps,
                                          CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                          (CUtensorMapFloatOOBfill)fill);
        printf("%d %d", type, rank);
        for (int d = 0; d < rank; d++) printf(" %llu", (unsigned long long)sizes[d]);
        for (int d = 0; d + 1 < rank; d++) printf(" %llu", (unsigned long long)strides[d]);
        for (int d = 0; d < rank; d++) printf(" %u", box[d]);
        for (int d = 0; d < rank; d++) printf(" %u", steps[d]);
        printf(" %d %d", swizzle, fill);
        for (int d = 0; d < rank; d++) printf(" %d", c.at[d]);
        printf(" %d", code);
        if (code == 0 && bytes <= SHARED) {
            check(cudaMemcpy(memory, initial.data(), GLOBAL, cudaMemcpyHostToDevice), "copy");
            check(cudaMemset(out, 0, SHARED + 16), "memset");
            KERNELS[rank - 1]<<<1, 128, SHARED + 1024>>>(map, c, bytes, out);
            int error = cudaMemcpy(shared.data(), out, SHARED + 16, cudaMemcpyDeviceToHost);
            if (error) { printf(" %u load fails %d\n", bytes, error); fflush(stdout); _exit(1); }
            bool late = shared[SHARED] != 0;
            printf(" %u %08x%s", bytes, digest(shared.data(), SHARED), late ? " late" : "");
            if (fill && count > 3) { printf(" ["); for (int j = 0; j < 32; j++) printf("%02x", shared[bytes - 32 + j]); printf("]"); }
            BACK[rank - 1]<<<1, 128, SHARED + 1024>>>(map, c, 0, out);
            error = cudaMemcpy(after.data(), memory, GLOBAL, cudaMemcpyDeviceToHost);
            if (error) { printf(" store fails %d\n", error); fflush(stdout); _exit(1); }
            printf(" %08x", digest(after.data(), GLOBAL));
        }
        printf("\n");
    }
}

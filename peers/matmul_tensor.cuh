// Peers of `matmul_tensor`, within the namespace of `peers.cu`: A and B are rows of k bf16, C is m x n f32.

const uint32_t TENSOR_ROWS = 128, TENSOR_COLUMNS = 256, TENSOR_STEPS = 64, TENSOR_STAGES = 4, TENSOR_GROUP = 16;
const uint32_t TENSOR_PITCH = TENSOR_STEPS * 2;
const uint32_t TENSOR_STAGE_BYTES = (TENSOR_ROWS + TENSOR_COLUMNS) * TENSOR_PITCH;

// The first row and column of a block's tile: down TENSOR_GROUP tiles, then one to the right.
__device__ void tensor_first_of_block(uint32_t m, uint32_t n, uint32_t &row, uint32_t &column) {
    uint32_t rows = (m + TENSOR_ROWS - 1) / TENSOR_ROWS, columns = (n + TENSOR_COLUMNS - 1) / TENSOR_COLUMNS;
    uint32_t group = blockIdx.x / (TENSOR_GROUP * columns), within = blockIdx.x % (TENSOR_GROUP * columns);
    uint32_t height = min(rows - group * TENSOR_GROUP, TENSOR_GROUP);
    row = (group * TENSOR_GROUP + within % height) * TENSOR_ROWS;
    column = within / height * TENSOR_COLUMNS;
}

// WHOLE: all tiles are; the others fill with zeros, in twice the wavefronts.
template <bool WHOLE> struct TensorWork {
    const __nv_bfloat16 *a, *b;
    uint32_t m, n, k, first_row, first_column;

    __device__ void start_rows(const __nv_bfloat16 *source, uint32_t first, uint32_t rows, uint32_t target, uint32_t tile,
                               uint32_t from, uint32_t to) const {
        uint32_t row = threadIdx.x / 8, chunk = threadIdx.x % 8, step = tile * TENSOR_STEPS + chunk * 8;
        target += row * TENSOR_PITCH + (chunk ^ row % 8) * 16;
#pragma unroll
        for (uint32_t round = from; round < to; round++) {
            uint32_t source_row = first + row + round * 32, bytes = source_row < rows && step < k ? 16 : 0;
            const __nv_bfloat16 *from = source + (size_t)source_row * k + step;
            if (WHOLE)
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(target + round * 32 * TENSOR_PITCH), "l"(from) : "memory");
            else
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                             : : "r"(target + round * 32 * TENSOR_PITCH), "l"(from), "r"(bytes) : "memory");
        }
    }

    __device__ void start_third(uint32_t third, uint32_t tile, uint32_t stage) const {
        uint32_t right = stage + TENSOR_ROWS * TENSOR_PITCH;
        if (third < 2) start_rows(a, first_row, m, stage, tile, 2 * third, 2 * third + 2);
        if (third < 2) start_rows(b, first_column, n, right, tile, 2 * third, 2 * third + 2);
        else start_rows(b, first_column, n, right, tile, 4, 8);
    }
};

struct TensorFragments {
    uint32_t a[4][4], b[8][2];

    __device__ void read(uint32_t stage, uint32_t step) {
        uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, swizzle = lane % 8;
        uint32_t row = warp / 4 * 64 + lane % 16, column = warp % 4 * 64 + lane % 8 + lane / 16 * 8;
        uint32_t left = stage + row * TENSOR_PITCH + ((2 * step + lane / 16) ^ swizzle) * 16;
        uint32_t right = stage + TENSOR_ROWS * TENSOR_PITCH + column * TENSOR_PITCH + ((2 * step + lane / 8 % 2) ^ swizzle) * 16;
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) {
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(b[2 * i][0]), "=r"(b[2 * i][1]), "=r"(b[2 * i + 1][0]), "=r"(b[2 * i + 1][1])
                         : "r"(right + i * 16 * TENSOR_PITCH) : "memory");
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(a[i][0]), "=r"(a[i][1]), "=r"(a[i][2]), "=r"(a[i][3]) : "r"(left + i * 16 * TENSOR_PITCH) : "memory");
        }
    }

    __device__ void multiply(float (&sums)[4][8][4]) const {
#pragma unroll
        for (uint32_t i = 0; i < 4; i++)
#pragma unroll
            for (uint32_t column = 0; column < 8; column++) {
                uint32_t j = i % 2 ? 7 - column : column;
                float(&c)[4] = sums[i][j];
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                             "{%0, %1, %2, %3};"
                             : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                             : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]), "r"(b[j][1]));
            }
    }
};

__device__ void tensor_store(float *c, uint32_t m, uint32_t n, uint32_t row, uint32_t column, float value, float next) {
    if (row >= m || column >= n) return;
    float *target = c + (size_t)row * n + column;
    if (n % 2 == 0) *(float2 *)target = make_float2(value, next);
    else {
        target[0] = value;
        if (column + 1 < n) target[1] = next;
    }
}

template <bool WHOLE>
__device__ void tensor_ring_of_tiles(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, uint32_t m, uint32_t n, uint32_t k,
                              uint32_t first_row, uint32_t first_column) {
    extern __shared__ uint4 dynamic_tiles[];
    uint32_t ring = shared_address(dynamic_tiles), tiles = (k + TENSOR_STEPS - 1) / TENSOR_STEPS;
    TensorWork<WHOLE> work = {a, b, m, n, k, first_row, first_column};
    float sums[4][8][4] = {};
    for (uint32_t tile = 0; tile < TENSOR_STAGES - 1; tile++) {
        if (tile < tiles)
            for (uint32_t third = 0; third < 3; third++) work.start_third(third, tile, ring + tile * TENSOR_STAGE_BYTES);
        asm volatile("cp.async.commit_group;" : : : "memory");
    }
    asm volatile("cp.async.wait_group %0;" : : "n"(TENSOR_STAGES - 2) : "memory");
    __syncthreads();
    TensorFragments now, next;
    now.read(ring, 0);
    uint32_t full = 0, empty = TENSOR_STAGES - 1;
    for (uint32_t tile = 0; tile < tiles; tile++) {
        uint32_t words = ring + full * TENSOR_STAGE_BYTES;
#pragma unroll
        for (uint32_t step = 1; step < 4; step++) {
            next.read(words, step);
            if (tile + TENSOR_STAGES - 1 < tiles) work.start_third(step - 1, tile + TENSOR_STAGES - 1, ring + empty * TENSOR_STAGE_BYTES);
            now.multiply(sums);
            now = next;
        }
        asm volatile("cp.async.commit_group;" : : : "memory");
        asm volatile("cp.async.wait_group %0;" : : "n"(TENSOR_STAGES - 2) : "memory");
        __syncthreads();
        empty = full;
        full = full == TENSOR_STAGES - 1 ? 0 : full + 1;
        next.read(tile + 1 < tiles ? ring + full * TENSOR_STAGE_BYTES : words, 0);
        now.multiply(sums);
        now = next;
    }
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t row = work.first_row + warp / 4 * 64 + lane / 4, column = work.first_column + warp % 4 * 64 + lane % 4 * 2;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++)
#pragma unroll
        for (uint32_t j = 0; j < 8; j++) {
            tensor_store(c, m, n, row + 16 * i, column + 8 * j, sums[i][j][0], sums[i][j][1]);
            tensor_store(c, m, n, row + 16 * i + 8, column + 8 * j, sums[i][j][2], sums[i][j][3]);
        }
}

__global__ void __launch_bounds__(256, 1) tensor_mma_pipelined(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, uint32_t m,
                                                        uint32_t n, uint32_t k) {
    uint32_t row, column;
    tensor_first_of_block(m, n, row, column);
    if (row + TENSOR_ROWS <= m && column + TENSOR_COLUMNS <= n && k % TENSOR_STEPS == 0)
        tensor_ring_of_tiles<true>(a, b, c, m, n, k, row, column);
    else tensor_ring_of_tiles<false>(a, b, c, m, n, k, row, column);
}

const char *matmul_tensor_mma_pipelined(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    uint32_t m = size[0], n = size[1], k = size[2], bytes = TENSOR_STAGES * TENSOR_STAGE_BYTES;
    if (k % 8 != 0) return "rows of A and B must be multiples of 16 bytes";
    if (cudaFuncSetAttribute(tensor_mma_pipelined, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) != cudaSuccess)
        return "the device does not have enough shared memory";
    tensor_mma_pipelined<<<(m + TENSOR_ROWS - 1) / TENSOR_ROWS * ((n + TENSOR_COLUMNS - 1) / TENSOR_COLUMNS), 256, bytes, stream>>>(
        (const __nv_bfloat16 *)in[0], (const __nv_bfloat16 *)in[1], (float *)out[0], m, n, k);
    return cudaPeekAtLastError() == cudaSuccess ? nullptr : cudaGetErrorString(cudaGetLastError());
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define HAS_WGMMA 1
#endif

// The sum of 64 x 256 results and the product of 64 x 16 elements of A and 16 x 256 of B, both in shared memory.
__device__ void tensor_wgmma(float (&d)[128], uint64_t a, uint64_t b) {
#ifdef HAS_WGMMA
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "
                 "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "
                 "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, "
                 "%68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, "
                 "%90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, "
                 "%110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127 "
                 "}, %128, %129, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
                   "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
                   "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
                   "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),
                   "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),
                   "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
                   "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
                   "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]),
                   "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]),
                   "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]),
                   "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]),
                   "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]),
                   "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), "+f"(d[104]),
                   "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]),
                   "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]),
                   "+f"(d[119]), "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]),
                   "+f"(d[126]), "+f"(d[127])
                 : "l"(a), "l"(b));
#endif
}

__device__ void tensor_wait(uint32_t barrier, uint32_t parity) {
    uint32_t done;
    do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                    : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
    while (!done);
}

__device__ void tensor_arrive(uint32_t barrier) {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" : : "r"(barrier) : "memory");
}

__device__ void tensor_load(uint32_t target, const CUtensorMap *map, uint32_t step, uint32_t row, uint32_t barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 : : "r"(target), "l"(map), "r"(step), "r"(row), "r"(barrier) : "memory");
}

// One warp group copies, two multiply 64 rows each.
__global__ void __launch_bounds__(384, 1) tensor_wgmma_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                                                       float *c, uint32_t m, uint32_t n, uint32_t k) {
#ifdef HAS_WGMMA
    extern __shared__ uint4 dynamic_tiles[];
    uint32_t ring = (shared_address(dynamic_tiles) + 1023) / 1024 * 1024;
    uint32_t full = ring + TENSOR_STAGES * TENSOR_STAGE_BYTES, empty = full + TENSOR_STAGES * 8;
    uint32_t tiles = (k + TENSOR_STEPS - 1) / TENSOR_STEPS, group = threadIdx.x / 128, first_row, first_column;
    tensor_first_of_block(m, n, first_row, first_column);
    if (threadIdx.x == 0) {
        for (uint32_t stage = 0; stage < TENSOR_STAGES; stage++) {
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" : : "r"(full + stage * 8) : "memory");
            asm volatile("mbarrier.init.shared.b64 [%0], 8;" : : "r"(empty + stage * 8) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    }
    __syncthreads();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0)
            for (uint32_t tile = 0; tile < tiles; tile++) {
                uint32_t stage = tile % TENSOR_STAGES, memory = ring + stage * TENSOR_STAGE_BYTES;
                tensor_wait(empty + stage * 8, tile / TENSOR_STAGES % 2 ^ 1);
                asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }"
                             : : "r"(full + stage * 8), "r"(TENSOR_STAGE_BYTES) : "memory");
                tensor_load(memory, &a, tile * TENSOR_STEPS, first_row, full + stage * 8);
                tensor_load(memory + TENSOR_ROWS * TENSOR_PITCH, &b, tile * TENSOR_STEPS, first_column, full + stage * 8);
            }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        float d[128] = {};
        const uint64_t FORM = (uint64_t)1 << 62 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 16;
        for (uint32_t tile = 0; tile < tiles; tile++) {
            uint32_t stage = tile % TENSOR_STAGES, memory = ring + stage * TENSOR_STAGE_BYTES;
            tensor_wait(full + stage * 8, tile / TENSOR_STAGES % 2);
            uint64_t left = FORM | (memory + (group - 1) * 64 * TENSOR_PITCH) >> 4, right = FORM | (memory + TENSOR_ROWS * TENSOR_PITCH) >> 4;
            asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
#pragma unroll
            for (uint32_t step = 0; step < 4; step++) tensor_wgmma(d, left + 2 * step, right + 2 * step);
            asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
            asm volatile("wgmma.wait_group.sync.aligned 1;" : : : "memory");
            // The products of the tile before have ended: its stage is free.
            if (tile > 0 && threadIdx.x % 32 == 0) tensor_arrive(empty + (tile - 1) % TENSOR_STAGES * 8);
        }
        asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
        uint32_t lane = threadIdx.x % 32, row = first_row + (threadIdx.x / 32 - 4) * 16 + lane / 4;
#pragma unroll
        for (uint32_t j = 0; j < 32; j++) {
            uint32_t column = first_column + 8 * j + lane % 4 * 2;
            tensor_store(c, m, n, row, column, d[4 * j], d[4 * j + 1]);
            tensor_store(c, m, n, row + 8, column, d[4 * j + 2], d[4 * j + 3]);
        }
    }
#endif
}

__device__ void tensor_multicast(uint32_t target, const CUtensorMap *map, uint32_t step, uint32_t row, uint32_t barrier, uint16_t ranks) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3}], [%4], %5;" : : "r"(target), "l"(map), "r"(step), "r"(row), "r"(barrier), "h"(ranks) : "memory");
}

__device__ void tensor_arrive_at(uint32_t barrier, uint32_t rank) {
    asm volatile("{ .reg .b32 a; mapa.shared::cluster.u32 a, %0, %1; mbarrier.arrive.shared::cluster.b64 _, [a]; }"
                 : : "r"(barrier), "r"(rank) : "memory");
}

__device__ void tensor_cluster_sync() {
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" : : : "memory");
}

// Bytes in which warps stage C: two places of 16 rows of 128 bytes for each of 8.
const uint32_t TENSOR_STORED_BYTES = 2048, TENSOR_STORES_BYTES = 8 * 2 * TENSOR_STORED_BYTES;

// Blocks stay; those of a cluster of 2 share the tiles of B.
template <uint32_t CLUSTER>
__global__ void __launch_bounds__(384, 1) tensor_persistent_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                                                            const __grid_constant__ CUtensorMap c, uint32_t m, uint32_t n, uint32_t k) {
#ifdef HAS_WGMMA
    extern __shared__ uint4 dynamic_tiles[];
    const uint32_t HEIGHT = TENSOR_ROWS * CLUSTER, HIGH = TENSOR_GROUP / CLUSTER;
    uint32_t ring = (shared_address(dynamic_tiles) + 1023) / 1024 * 1024, stores = ring + TENSOR_STAGES * TENSOR_STAGE_BYTES;
    uint32_t full = stores + TENSOR_STORES_BYTES, empty = full + TENSOR_STAGES * 8, rank = 0;
    if (CLUSTER > 1) asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    uint32_t steps = (k + TENSOR_STEPS - 1) / TENSOR_STEPS, group = threadIdx.x / 128;
    uint32_t rows = (m + HEIGHT - 1) / HEIGHT, columns = (n + TENSOR_COLUMNS - 1) / TENSOR_COLUMNS;
    auto first_of = [&](uint32_t tile, uint32_t &row, uint32_t &column) {
        uint32_t of = tile / (HIGH * columns), within = tile % (HIGH * columns), height = min(rows - of * HIGH, HIGH);
        row = (of * HIGH + within % height) * HEIGHT + rank * TENSOR_ROWS;
        column = within / height * TENSOR_COLUMNS;
    };
    if (threadIdx.x == 0) {
        for (uint32_t stage = 0; stage < TENSOR_STAGES; stage++) {
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" : : "r"(full + stage * 8) : "memory");
            asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(empty + stage * 8), "r"(8 * CLUSTER) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    }
    if (CLUSTER > 1) tensor_cluster_sync();
    else __syncthreads();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) {
            uint32_t staged = 0, row, column;
            for (uint32_t tile = blockIdx.x / CLUSTER; tile < rows * columns; tile += gridDim.x / CLUSTER) {
                first_of(tile, row, column);
                for (uint32_t step = 0; step < steps; step++, staged++) {
                    uint32_t stage = staged % TENSOR_STAGES, memory = ring + stage * TENSOR_STAGE_BYTES, part = rank * (TENSOR_COLUMNS / CLUSTER);
                    tensor_wait(empty + stage * 8, staged / TENSOR_STAGES % 2 ^ 1);
                    asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }"
                                 : : "r"(full + stage * 8), "r"(TENSOR_STAGE_BYTES) : "memory");
                    tensor_load(memory, &a, step * TENSOR_STEPS, row, full + stage * 8);
                    uint32_t right = memory + (TENSOR_ROWS + part) * TENSOR_PITCH;
                    if (CLUSTER > 1) tensor_multicast(right, &b, step * TENSOR_STEPS, column + part, full + stage * 8, 3);
                    else tensor_load(right, &b, step * TENSOR_STEPS, column, full + stage * 8);
                }
            }
        }
        __syncwarp();
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        const uint64_t FORM = (uint64_t)1 << 62 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 16;
        uint32_t staged = 0, row, column, lane = threadIdx.x % 32, warp = threadIdx.x / 32 - 4, last = 0;
        uint32_t mine = stores + warp * 2 * TENSOR_STORED_BYTES;
        auto leave = [&](uint32_t stage) {
            if (CLUSTER == 1 && lane == 0) tensor_arrive(empty + stage * 8);
            if (CLUSTER > 1 && lane < CLUSTER) tensor_arrive_at(empty + stage * 8, lane);
        };
        for (uint32_t tile = blockIdx.x / CLUSTER; tile < rows * columns; tile += gridDim.x / CLUSTER) {
            first_of(tile, row, column);
            float d[128] = {};
            for (uint32_t step = 0; step < steps; step++, staged++) {
                uint32_t stage = staged % TENSOR_STAGES, memory = ring + stage * TENSOR_STAGE_BYTES;
                tensor_wait(full + stage * 8, staged / TENSOR_STAGES % 2);
                uint64_t left = FORM | (memory + (group - 1) * 64 * TENSOR_PITCH) >> 4, right = FORM | (memory + TENSOR_ROWS * TENSOR_PITCH) >> 4;
                asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
#pragma unroll
                for (uint32_t part = 0; part < 4; part++) tensor_wgmma(d, left + 2 * part, right + 2 * part);
                asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
                asm volatile("wgmma.wait_group.sync.aligned 1;" : : : "memory");
                if (step > 0) leave(last);
                last = stage;
            }
            asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
            leave(last);
#pragma unroll
            for (uint32_t i = 0; i < 8; i++) {
                uint32_t stored = mine + i % 2 * TENSOR_STORED_BYTES;
                if (lane == 0) asm volatile("cp.async.bulk.wait_group.read 1;" : : : "memory");
                __syncwarp();
#pragma unroll
                for (uint32_t j = 0; j < 4; j++) {
                    const float *sums = &d[16 * i + 4 * j];
                    uint32_t at = stored + lane / 4 * 128 + ((2 * j + lane % 4 / 2) ^ lane / 4) * 16 + lane % 2 * 8;
                    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" : : "r"(at), "f"(sums[0]), "f"(sums[1]) : "memory");
                    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" : : "r"(at + 1024), "f"(sums[2]), "f"(sums[3]) : "memory");
                }
                asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
                __syncwarp();
                if (lane == 0) {
                    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                                 : : "l"(&c), "r"(column + 32 * i), "r"(row + warp * 16), "r"(stored) : "memory");
                    asm volatile("cp.async.bulk.commit_group;" : : : "memory");
                }
            }
        }
        if (lane == 0) asm volatile("cp.async.bulk.wait_group 0;" : : : "memory");
        __syncwarp();
    }
    if (CLUSTER > 1) tensor_cluster_sync();
#endif
}

// Named, so that a compilation of the device's half alone has them.
template __global__ void tensor_persistent_kernel<1>(const __grid_constant__ CUtensorMap, const __grid_constant__ CUtensorMap,
                                                     const __grid_constant__ CUtensorMap, uint32_t, uint32_t, uint32_t);
template __global__ void tensor_persistent_kernel<2>(const __grid_constant__ CUtensorMap, const __grid_constant__ CUtensorMap,
                                                     const __grid_constant__ CUtensorMap, uint32_t, uint32_t, uint32_t);

bool tensor_encode(CUtensorMap *map, const void *matrix, uint32_t rows, uint32_t k, uint32_t box_rows, bool is_c = false) {
    static void *entry = nullptr;
    cudaDriverEntryPointQueryResult result;
    if (entry == nullptr && cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &result) != cudaSuccess)
        return false;
    cuuint64_t sizes[2] = {k, rows}, strides[1] = {(is_c ? 4 : 2) * (cuuint64_t)k};
    cuuint32_t box[2] = {is_c ? 32 : TENSOR_STEPS, box_rows}, steps[2] = {1, 1};
    return ((decltype(&cuTensorMapEncodeTiled))entry)(
               map, is_c ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)matrix, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
               CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

const char *matmul_tensor_wgmma(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    uint32_t m = size[0], n = size[1], k = size[2], bytes = TENSOR_STAGES * (TENSOR_STAGE_BYTES + 16) + 1024;
    CUtensorMap a, b;
    if (k % 8 != 0 || !tensor_encode(&a, in[0], m, k, TENSOR_ROWS) || !tensor_encode(&b, in[1], n, k, TENSOR_COLUMNS))
        return "no tensor map for this size";
    if (cudaFuncSetAttribute(tensor_wgmma_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) != cudaSuccess)
        return "the device does not have enough shared memory";
    tensor_wgmma_kernel<<<(m + TENSOR_ROWS - 1) / TENSOR_ROWS * ((n + TENSOR_COLUMNS - 1) / TENSOR_COLUMNS), 384, bytes, stream>>>(
        a, b, (float *)out[0], m, n, k);
    return cudaPeekAtLastError() == cudaSuccess ? nullptr : cudaGetErrorString(cudaGetLastError());
}

template <uint32_t CLUSTER> const char *matmul_tensor_persistent(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    uint32_t m = size[0], n = size[1], k = size[2], bytes = TENSOR_STAGES * (TENSOR_STAGE_BYTES + 16) + TENSOR_STORES_BYTES + 1024;
    CUtensorMap a, b, c;
    if (k % 8 != 0 || n % 4 != 0 || !tensor_encode(&a, in[0], m, k, TENSOR_ROWS) ||
        !tensor_encode(&b, in[1], n, k, TENSOR_COLUMNS / CLUSTER) || !tensor_encode(&c, out[0], m, n, 16, true))
        return "no tensor map for this size";
    auto kernel = tensor_persistent_kernel<CLUSTER>;
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) != cudaSuccess)
        return "the device does not have enough shared memory";
    uint32_t height = TENSOR_ROWS * CLUSTER, tiles = (m + height - 1) / height * ((n + TENSOR_COLUMNS - 1) / TENSOR_COLUMNS);
    cudaLaunchConfig_t config = {};
    config.gridDim = min((tiles + 1) / 2, whole_device(1) / CLUSTER) * CLUSTER;
    config.blockDim = 384;
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {CLUSTER, 1, 1};
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaError_t error = cudaLaunchKernelEx(&config, kernel, a, b, c, m, n, k);
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

// A handle of its own: that of the other peers keeps tensor cores out of f32 products.
const char *matmul_tensor_cublas(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    static cublasHandle_t handle = nullptr;
    if (handle == nullptr && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return "cublasCreate failed";
    cublasSetStream(handle, stream);
    int m = size[0], n = size[1], k = size[2];
    float one = 1, zero = 0;
    // Column-major: C transposed is B, whose rows are its columns, times A transposed.
    cublasStatus_t status = cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one, in[1], CUDA_R_16BF, k, in[0],
                                         CUDA_R_16BF, k, &zero, out[0], CUDA_R_32F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    return status == CUBLAS_STATUS_SUCCESS ? nullptr : "cublasGemmEx failed";
}

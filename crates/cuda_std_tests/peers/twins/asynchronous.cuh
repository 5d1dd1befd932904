// What asynchronous copies are made of, and the kernels of `kernels/src` that differ from others by them.

template <uint32_t BYTES> static __device__ void copy_async(void *target, const void *source) {
    if (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(in_shared(target)), "l"(source) : "memory");
    else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(in_shared(target)), "l"(source), "n"(BYTES) : "memory");
}
template <uint32_t BYTES> static __device__ void copy_async(void *target, const void *source, uint32_t bytes) {
    if (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(in_shared(target)), "l"(source), "r"(bytes) : "memory");
    else asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(in_shared(target)), "l"(source), "n"(BYTES), "r"(bytes) : "memory");
}
static __device__ void commit_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
static __device__ void wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

static __device__ void barrier_init(uint64_t *barrier, uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(in_shared(barrier)), "r"(count) : "memory");
}
static __device__ void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
static __device__ void fence_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
static __device__ void arrive_expect(uint64_t *barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(in_shared(barrier)), "r"(bytes) : "memory");
}
static __device__ void barrier_wait(uint64_t *barrier, uint32_t parity) {
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again; }" ::"r"(in_shared(barrier)), "r"(parity) : "memory");
}
static __device__ void bulk_to_shared(void *target, const void *source, uint32_t bytes, uint64_t *barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(in_shared(target)), "l"(source), "r"(bytes), "r"(in_shared(barrier)) : "memory");
}
static __device__ void commit_bulk() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
static __device__ void wait_bulk_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

KERNEL BOUNDS(1024, 1) histogram_large_histogram_bulk(const uint32_t *keys, uint32_t *target, uint32_t n, uint32_t part) {
    uint32_t *words = (uint32_t *)dynamic_words, lowest = blockIdx.y * part;
    count_part(keys, n, words, lowest, part);
    fence_shared();
    __syncthreads();
    if (threadIdx.x == 0 && lowest < 1 << 17) {
        uint32_t bytes = 4 * minimum(part, (1 << 17) - lowest);
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;"
                     ::"l"(target + lowest), "r"(in_shared(words)), "r"(bytes) : "memory");
        commit_bulk();
        wait_bulk_read();
    }
}

static __device__ uint32_t distributed_shared_sums[2 * 128 * 8], distributed_shared_arrivals[128];

KERNEL BOUNDS(256) distributed_shared_rows_l2(const uint32_t *keys, uint32_t *target, uint32_t part, uint32_t rows) {
    __shared__ uint64_t arrived;
    __shared__ uint32_t sum;
    uint32_t *own = (uint32_t *)dynamic_words;
    uint32_t group = blockIdx.x / 8, rank = blockIdx.x % 8, groups = gridDim.x / 8, turn = 0;
    bool is_first = threadIdx.x == 0;
    uint32_t *arrivals = distributed_shared_arrivals + group;
    if (is_first) {
        barrier_init(&arrived, 1);
        fence_init();
    }
    for (uint32_t row = group; row < rows; row += groups, turn++) {
        size_t first = ((size_t)row * 8 + rank) * part;
        if (is_first) {
            sum = 0;
            arrive_expect(&arrived, 4 * part);
            bulk_to_shared(own, keys + first, 4 * part, &arrived);
        }
        __syncthreads();
        barrier_wait(&arrived, turn % 2);
        uint32_t of_warp = __reduce_add_sync(ALL_LANES, sum_of_part(own, part));
        if (threadIdx.x % WARP == 0) atomicAdd(&sum, of_warp);
        __syncthreads();
        uint32_t *sums = distributed_shared_sums + 16 * group + 8 * (turn % 2);
        if (is_first) {
            sums[rank] = sum;
            uint32_t before, now;
            asm volatile("atom.add.release.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(arrivals) : "memory");
            uint32_t last = before / 8 * 8 + 8;
            for (;;) {
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(arrivals) : "memory");
                if ((int)(now - last) >= 0) break;
                __nanosleep(32);
            }
            uint32_t all = 0;
            for (uint32_t of = 0; of < 8; of++) all += sums[of];
            sum = all;
        }
        __syncthreads();
        store_with(own, target + first, part, sum);
        __syncthreads();
    }
}

KERNEL __cluster_dims__(8, 1, 1) BOUNDS(256) distributed_shared_rows_cluster(const uint32_t *keys, uint32_t *target, uint32_t part) {
    __shared__ uint64_t arrived, summed;
    __shared__ uint32_t sum;
    uint32_t *own = (uint32_t *)dynamic_words, lane = threadIdx.x % WARP;
    size_t first = (size_t)blockIdx.x * part;
    if (threadIdx.x == 0) {
        barrier_init(&arrived, 1);
        barrier_init(&summed, 1);
        fence_init();
        sum = 0;
        arrive_expect(&summed, 4 * 8 * 8);
        arrive_expect(&arrived, 4 * part);
        bulk_to_shared(own, keys + first, 4 * part, &arrived);
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    barrier_wait(&arrived, 0);
    uint32_t of_warp = __reduce_add_sync(ALL_LANES, sum_of_part(own, part));
    if (lane < 8) {
        asm volatile("{ .reg .b32 sum, barrier;\n"
                     "mapa.shared::cluster.u32 sum, %0, %3;\n"
                     "mapa.shared::cluster.u32 barrier, %1, %3;\n"
                     "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [sum], %2, [barrier]; }"
                     ::"r"(in_shared(&sum)), "r"(in_shared(&summed)), "r"(of_warp), "r"(lane) : "memory");
    }
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], 0;\n"
                 "@!done bra again; }" ::"r"(in_shared(&summed)) : "memory");
    store_with(own, target + first, part, *(volatile uint32_t *)&sum);
}

// The tiles of a block, and what is done with each.
struct BlockTiles {
    static const uint32_t THREADS = 256, TILE = 2048;
    const float *source;
    float *target;
    uint32_t n, first, end;
    __device__ BlockTiles(const float *source, float *target, uint32_t n) : source(source), target(target), n(n) {
        uint32_t tiles = div_ceil(n, TILE), share = div_ceil(tiles, gridDim.x);
        first = blockIdx.x * share;
        end = minimum(first + share, tiles);
    }
    __device__ bool is_whole(uint32_t number) const { return (number + 1) * TILE <= n; }
    __device__ void finish(uint32_t number, const float *tile) const {
        for (uint32_t step = 0; step < TILE / 4 / THREADS; step++) {
            uint32_t word = (step * THREADS + threadIdx.x) * 4, i = number * TILE + word;
            float4 sum = *(const float4 *)(tile + word) + *(const float4 *)(tile + (word ^ 128));
            if (is_whole(number)) {
                *(float4 *)(target + i) = sum;
            } else {
                if (i < n) target[i] = sum.x;
                if (i + 1 < n) target[i + 1] = sum.y;
                if (i + 2 < n) target[i + 2] = sum.z;
                if (i + 3 < n) target[i + 3] = sum.w;
            }
        }
    }
    template <class Fill> __device__ void one_by_one(float *tile, Fill fill) const {
        for (uint32_t number = first; number < end; number++) {
            fill(number);
            __syncthreads();
            finish(number, tile);
            __syncthreads();
        }
    }
    template <class T> __device__ void through_registers(uint32_t number, float *tile) const {
        const uint32_t COUNT = TILE * 4 / THREADS / sizeof(T);
        if (!is_whole(number)) {
            for (uint32_t word = threadIdx.x; word < TILE; word += THREADS) {
                uint32_t i = number * TILE + word;
                tile[word] = i < n ? source[i] : 0.0f;
            }
            return;
        }
        const T *from = (const T *)(source + number * TILE);
        T values[COUNT];
        for (uint32_t step = 0; step < COUNT; step++) values[step] = from[step * THREADS + threadIdx.x];
        for (uint32_t step = 0; step < COUNT; step++) ((T *)tile)[step * THREADS + threadIdx.x] = values[step];
    }
    template <uint32_t BYTES> __device__ void start(uint32_t number, float *tile) const {
        const uint32_t WORDS = BYTES / 4, COUNT = TILE / THREADS / WORDS;
        for (uint32_t step = 0; step < COUNT; step++) {
            uint32_t word = (step * THREADS + threadIdx.x) * WORDS, i = number * TILE + word;
            if (is_whole(number)) copy_async<BYTES>(tile + word, source + i);
            else copy_async<BYTES>(tile + word, source + i, minimum(less(n, i), WORDS) * 4);
        }
        wait_all();
    }
};

#define ASYNC_COPY(name, fill)                                                                                         \
    KERNEL BOUNDS(256) async_copy_##name(const float *source, float *target, uint32_t n) {                             \
        __shared__ float4 vectors[BlockTiles::TILE / 4];                                                               \
        float *tile = (float *)vectors;                                                                                \
        BlockTiles work(source, target, n);                                                                            \
        work.one_by_one(tile, [&](uint32_t number) { work.fill(number, tile); });                                      \
    }
ASYNC_COPY(registers_4, through_registers<float>)
ASYNC_COPY(registers_8, through_registers<float2>)
ASYNC_COPY(registers_16, through_registers<float4>)
ASYNC_COPY(async_4, start<4>)
ASYNC_COPY(async_8, start<8>)
ASYNC_COPY(async_16, start<16>)
#undef ASYNC_COPY

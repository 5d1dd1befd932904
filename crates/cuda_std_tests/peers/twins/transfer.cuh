// Kernels of `kernels/src/transfer`, `streams` and `memory_management`.

KERNEL batching_rows(const uint32_t *source, uint32_t source_pitch, uint32_t *target, uint32_t target_pitch, uint32_t width, uint32_t count) {
    uint32_t i = index_1d();
    if (i < width * count) {
        uint32_t row = i / width, col = i % width;
        target[row * target_pitch + col] = source[row * source_pitch + col];
    }
}

KERNEL device_residency_mix(const uint32_t *source, uint32_t *target, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) {
        uint32_t value = source[i];
        target[i] = (value ^ value >> 15) * 0x2C1B3C6D;
    }
}

KERNEL device_residency_chain(const uint32_t *source, uint32_t *target, uint32_t chains, uint32_t length) {
    const uint32_t LOADS = 16;
    uint32_t chain = index_1d(), before = 0, place = 0;
    if (chain >= chains) return;
    for (; place + LOADS <= length; place += LOADS) {
        size_t first = place * chains + chain;
        uint32_t values[LOADS];
        for (uint32_t i = 0; i < LOADS; i++) values[i] = source[first + (size_t)i * chains];
        for (uint32_t i = 0; i < LOADS; i++) target[first + (size_t)i * chains] = before = before * 1664525 + values[i];
    }
    for (; place < length; place++) {
        uint32_t i = place * chains + chain;
        target[i] = before = before * 1664525 + source[i];
    }
}

KERNEL peer_to_peer_copy_words(const uint32_t *source, uint32_t *target, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) target[i] = source[i];
}

KERNEL peer_to_peer_copy_vectorized(const uint32_t *source, uint32_t *target, uint32_t n) {
    uint32_t i = index_1d() * 4;
    if (i + 3 < n) *(uint4 *)(target + i) = *(const uint4 *)(source + i);
    else for (uint32_t j = i; j < n; j++) target[j] = source[j];
}

KERNEL peer_to_peer_add(const uint32_t *source, uint32_t *target, uint32_t n) {
    uint32_t i = index_1d() * 4;
    if (i + 3 < n) *(uint4 *)(target + i) = *(uint4 *)(target + i) + *(const uint4 *)(source + i);
    else for (uint32_t j = i; j < n; j++) target[j] += source[j];
}

KERNEL peer_to_peer_all_reduce(const uint64_t *arrays, uint32_t devices, uint32_t first, uint32_t end) {
    uint32_t i = first + index_1d() * 4;
    if (i + 3 < end) {
        uint4 sum = make_uint4(0, 0, 0, 0);
        for (uint32_t device = 0; device < devices; device++) sum = sum + __ldcs((const uint4 *)((const uint32_t *)arrays[device] + i));
        for (uint32_t device = devices; device < 2 * devices; device++) __stwb((uint4 *)((uint32_t *)arrays[device] + i), sum);
    } else {
        for (uint32_t j = i; j < end; j++) {
            uint32_t sum = 0;
            for (uint32_t device = 0; device < devices; device++) sum += __ldcs((const uint32_t *)arrays[device] + j);
            for (uint32_t device = devices; device < 2 * devices; device++) __stwb((uint32_t *)arrays[device] + j, sum);
        }
    }
}

KERNEL peer_to_peer_chase(const uint32_t *links, uint32_t *result, uint32_t hops) {
    uint32_t at = 0, sum = 0;
    for (uint32_t hop = 0; hop < hops; hop++) {
        at = links[(size_t)at * 1024];
        sum += at;
    }
    result[0] = at;
    result[1] = sum;
}

KERNEL peer_to_peer_atomics(uint32_t *counters, uint32_t additions) {
    uint32_t i = index_1d();
    if (i < additions) atomicAdd_system(counters + i % 32, 1);
}

KERNEL zero_copy_scale(const uint32_t *source, uint32_t *target, uint32_t n, uint32_t factor) {
    uint32_t i = index_1d();
    if (i < n) target[i] = source[i] * factor;
}

KERNEL zero_copy_strided(const uint32_t *source, uint32_t *target, uint32_t n, uint32_t factor) {
    uint32_t thread = index_1d(), warp = thread / WARP, lane = thread % WARP;
    uint32_t rows = div_ceil(n, WARP), i = lane * rows + warp;
    if (warp < rows && i < n) target[i] = source[i] * factor;
}

KERNEL zero_copy_reread(const uint32_t *source, uint32_t *target, uint32_t n, uint32_t passes) {
    uint32_t i = index_1d();
    if (i < n) {
        uint32_t sum = 0, index = i;
        for (uint32_t pass = 0; pass < passes; pass++) {
            sum += source[index];
            index = (index + 32 * 256) % n;
        }
        target[i] = sum;
    }
}

KERNEL zero_copy_rewrite(const uint32_t *source, volatile uint32_t *target, uint32_t n, uint32_t passes) {
    uint32_t i = index_1d();
    if (i < n) {
        uint32_t word = source[i];
        for (uint32_t pass = passes; pass-- > 0;) target[i] = word * (3 + pass);
    }
}

KERNEL graphs_step(const uint32_t *source, uint32_t *target, uint32_t n, uint32_t addend) {
    uint32_t i = index_1d();
    if (i < n) target[i] = source[i] * 3 + addend;
}

KERNEL graphs_step_early(const uint32_t *source, uint32_t *target, uint32_t n, uint32_t addend) {
    cudaTriggerProgrammaticLaunchCompletion();
    uint32_t i = index_1d();
    cudaGridDependencySynchronize();
    if (i < n) target[i] = source[i] * 3 + addend;
}

KERNEL overlap_iterate(const float *source, float *target, uint32_t n, uint32_t steps) {
    uint32_t i = index_1d();
    if (i < n) {
        float word = source[i];
        for (uint32_t step = 0; step < steps; step++) {
            // Rounded twice: the reference of the host is.
            for (uint32_t round = 0; round < 16; round++) word = __fsub_rn(__fmul_rn(word, word), 1.9f);
        }
        target[i] = word;
    }
}

KERNEL stream_semantics_work(const uint32_t *source, uint32_t *target, uint32_t n, uint32_t turns, uint32_t addend) {
    uint32_t i = index_1d();
    if (i < n) {
        uint32_t value = source[i];
        for (uint32_t turn = 0; turn < turns; turn++) value = value * 1664525 + addend;
        target[i] = value;
    }
}

KERNEL managed_memory_mix(const uint32_t *source, uint32_t *target, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) target[i] = source[i] * 5 + 7;
}

KERNEL unified_addressing_increment(const uint32_t *source, uint32_t *target, uint32_t n) {
    uint32_t i = index_1d();
    if (i < n) target[i] = source[i] + 1;
}

extern "C" {
__device__ uint32_t SYMBOLS_TABLE[4096], SYMBOLS_RESULT[4096];
__constant__ uint32_t SYMBOLS_CONSTANT_TABLE[4096];
__managed__ uint32_t SYMBOLS_MANAGED_TABLE[4096], SYMBOLS_MANAGED_RESULT[4096];
}

#define SYMBOLS(name, table, result)                                                                                   \
    KERNEL name(uint32_t n) {                                                                                          \
        uint32_t i = index_1d();                                                                                       \
        if (i < n) result[i] = table[i] * 3 + i;                                                                       \
    }
SYMBOLS(symbols_apply, SYMBOLS_TABLE, SYMBOLS_RESULT)
SYMBOLS(symbols_apply_constant, SYMBOLS_CONSTANT_TABLE, SYMBOLS_RESULT)
SYMBOLS(symbols_apply_managed, SYMBOLS_MANAGED_TABLE, SYMBOLS_MANAGED_RESULT)
#undef SYMBOLS

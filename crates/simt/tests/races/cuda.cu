// Races in CUDA C++ and their repaired twins, for tests/races_of_nvcc.rs and for compute-sanitizer.
//
// Every pair is one template: `repaired` decides the one thing that differs. A comment `race` marks the accesses that
// the checker has to name. PTX: nvcc -ptx -arch=sm_90 -std=c++17 -lineinfo cuda.cu, of CUDA 13.0.
//
// Each kernel takes `data` and `flag`, 4096 bytes of zeros each; the host's table has the grids.

#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda_pipeline.h>

using device_ref = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
using block_ref = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;

#define PAIR(name)                                                                                             \
    template <bool repaired> __device__ __forceinline__ void name(unsigned *data, unsigned *flag);            \
    extern "C" __global__ void name##_broken(unsigned *data, unsigned *flag) { name<false>(data, flag); }     \
    extern "C" __global__ void name##_repaired(unsigned *data, unsigned *flag) { name<true>(data, flag); }     \
    template <bool repaired> __device__ __forceinline__ void name(unsigned *data, unsigned *flag)

// A block hands a word to another by a volatile flag; the fences are missing.
PAIR(flag_without_fences) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        data[0] = 7; // race
        if (repaired) __threadfence();
        *(volatile unsigned *)flag = 1;
    } else {
        while (*(volatile unsigned *)flag == 0) {}
        if (repaired) __threadfence();
        data[64] = data[0]; // race
    }
}

// The same by an atomic that is only relaxed.
PAIR(relaxed_flag) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        data[0] = 7; // race
        device_ref(*flag).store(1, repaired ? cuda::memory_order_release : cuda::memory_order_relaxed);
    } else {
        while (!device_ref(*flag).load(repaired ? cuda::memory_order_acquire : cuda::memory_order_relaxed)) {}
        data[64] = data[0]; // race
    }
}

// Release and acquire in the scope of a block do not reach another block.
PAIR(narrow_scope) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        data[0] = 7; // race
        if (repaired) device_ref(*flag).store(1, cuda::memory_order_release);
        else block_ref(*flag).store(1, cuda::memory_order_release); // race
    } else {
        if (repaired) while (!device_ref(*flag).load(cuda::memory_order_acquire)) {}
        else while (!block_ref(*flag).load(cuda::memory_order_acquire)) {} // race
        data[64] = data[0]; // race
    }
}

// The last block to arrive sums what all wrote; nothing publishes the partial results.
PAIR(last_block) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        data[blockIdx.x] = blockIdx.x + 1; // race
        if (repaired) __threadfence();
        is_last = atomicAdd(flag, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last || threadIdx.x) return;
    if (repaired) __threadfence();
    unsigned sum = 0;
    for (unsigned block = 0; block < gridDim.x; block++) sum += data[block]; // race
    data[64] = sum;
}

// A tile is read by other warps than those that filled it.
PAIR(tile_without_barrier) {
    __shared__ unsigned tile[128];
    tile[threadIdx.x] = data[threadIdx.x]; // race
    if (repaired) __syncthreads();
    data[256 + threadIdx.x] = tile[127 - threadIdx.x]; // race
}

// The tile is filled again while slower warps still read it.
PAIR(tile_filled_again) {
    __shared__ unsigned tile[128];
    unsigned sum = 0;
    for (unsigned round = 0; round < 3; round++) {
        tile[threadIdx.x] = data[128 * round + threadIdx.x]; // race
        __syncthreads();
        sum += tile[127 - threadIdx.x]; // race
        if (repaired) __syncthreads();
    }
    data[512 + threadIdx.x] = sum;
}

// The last steps of a reduction within a warp, as taught before Volta.
PAIR(warp_synchronous) {
    __shared__ unsigned sums[64];
    sums[threadIdx.x] = data[threadIdx.x];
    __syncwarp();
    for (unsigned step = 16; step > 0; step /= 2) {
        unsigned other = 0;
        if (threadIdx.x < step) other = sums[threadIdx.x + step]; // race
        if (repaired) __syncwarp();
        if (threadIdx.x < step) sums[threadIdx.x] += other; // race
        if (repaired) __syncwarp();
    }
    if (threadIdx.x == 0) data[64] = sums[0];
}

// A shuffle makes lanes meet, and orders no memory.
PAIR(shuffle_is_no_barrier) {
    __shared__ unsigned words[32];
    words[threadIdx.x] = threadIdx.x; // race
    unsigned lane = __shfl_xor_sync(~0u, threadIdx.x, 1);
    if (repaired) __syncwarp();
    data[threadIdx.x] = words[lane]; // race
}

// Counting without atomics, in device memory and in shared memory.
PAIR(global_histogram) {
    unsigned bin = threadIdx.x % 4;
    if (repaired) atomicAdd(&data[bin], 1);
    else data[bin]++; // race
}

PAIR(shared_histogram) {
    __shared__ unsigned bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    if (repaired) atomicAdd(&bins[threadIdx.x % 4], 1);
    else bins[threadIdx.x % 4]++; // race
    __syncthreads();
    if (threadIdx.x < 4) atomicAdd(&data[threadIdx.x], bins[threadIdx.x]);
}

// A lock that neither acquires nor releases.
PAIR(lock_without_fences) {
    if (threadIdx.x) return;
    while (atomicCAS(flag, 0, 1)) {}
    if (repaired) __threadfence();
    data[0] += 1; // race
    if (repaired) __threadfence();
    atomicExch(flag, 0);
}

// A stencil in place: neighbours are read and written by different blocks.
PAIR(stencil_in_place) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned *target = repaired ? data + 512 : data;
    unsigned next = data[i + 1]; // race
    target[i] = next + 1; // race
}

// Copies that are on their way are not waited for by those that did not start them.
PAIR(pipeline_without_barrier) {
    __shared__ unsigned tile[64];
    __pipeline_memcpy_async(&tile[threadIdx.x], &data[threadIdx.x], 4); // race
    __pipeline_commit();
    __pipeline_wait_prior(0);
    if (repaired) __syncthreads();
    data[256 + threadIdx.x] = tile[63 - threadIdx.x]; // race
}

// The blocks of a cluster read each other's shared memory.
PAIR(cluster_without_barrier) {
    namespace cg = cooperative_groups;
    __shared__ unsigned words[32];
    cg::cluster_group cluster = cg::this_cluster();
    words[threadIdx.x] = threadIdx.x; // race
    if (repaired) cluster.sync();
    unsigned *theirs = cluster.map_shared_rank(words, cluster.block_rank() ^ 1);
    data[64 * blockIdx.x + threadIdx.x] = theirs[threadIdx.x]; // race
    cluster.sync();
}

// Look back: the prefix and its state are two words instead of one.
PAIR(look_back) {
    if (threadIdx.x) return;
    unsigned long long *word = (unsigned long long *)flag;
    if (blockIdx.x == 0) {
        if (repaired) {
            atomicExch(word, 1ull << 32 | 7);
        } else {
            data[0] = 7; // race
            atomicExch(flag, 1);
        }
    } else if (repaired) {
        unsigned long long seen;
        do seen = atomicAdd(word, 0); while (!(seen >> 32));
        data[64] = (unsigned)seen;
    } else {
        while (!atomicAdd(flag, 0)) {}
        data[64] = data[0]; // race
    }
}

// One thread prepares what all use.
PAIR(prepared_by_one_thread) {
    __shared__ unsigned scale;
    if (threadIdx.x == 0) scale = data[0] + 3; // race
    if (repaired) __syncthreads();
    data[64 + threadIdx.x] = scale; // race
}

// A flag that is read plainly, though written by an atomic.
PAIR(plain_read_of_an_atomic) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) device_ref(*flag).store(1, cuda::memory_order_release); // race
    else if (repaired) data[0] = device_ref(*flag).load(cuda::memory_order_acquire);
    else data[0] = *flag; // race
}

// Two warps store to one byte, or to neighbouring bytes of one word.
PAIR(bytes_of_a_word) {
    __shared__ unsigned char bytes[8];
    unsigned warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) bytes[repaired ? warp : 0] = warp + 1; // race
    __syncthreads();
    if (threadIdx.x == 0) data[0] = bytes[0];
}

// All blocks add to one word; a plain sum loses most of them.
PAIR(sum_of_all_blocks) {
    if (threadIdx.x) return;
    if (repaired) atomicAdd(data, blockIdx.x + 1);
    else data[0] += blockIdx.x + 1; // race
}

// Named producers and consumers: the producers signal before they have written.
PAIR(producer_signals_early) {
    __shared__ unsigned tile[32];
    if (threadIdx.x < 32) {
        if (!repaired) asm volatile("bar.arrive 1, 64;" ::: "memory");
        tile[threadIdx.x] = threadIdx.x; // race
        if (repaired) asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        data[threadIdx.x] = tile[threadIdx.x - 32]; // race
    }
}

// All threads store to one word, each its own value: only whichever is last counts.
PAIR(one_word_by_all) {
    if (repaired && threadIdx.x) return;
    data[0] = threadIdx.x / 32 + 1; // race
}

// A maximum without atomics: the load, the comparison and the store of several warps mix.
PAIR(maximum_of_warps) {
    if (threadIdx.x % 32) return;
    unsigned mine = threadIdx.x + 1;
    if (repaired) atomicMax(data, mine);
    else data[0] = max(data[0], mine); // race
}

// A block stores the first value of a sum to which the others add at once.
PAIR(first_value_by_a_block) {
    if (threadIdx.x) return;
    if (!repaired && blockIdx.x == 0) data[0] = 0; // race
    atomicAdd(data, 1); // race
}

// Two pairs of warps meet at barriers of one number: any two of the four warps may.
PAIR(two_pairs_share_a_barrier) {
    unsigned pair = threadIdx.x / 64;
    asm volatile("bar.sync %0, 64;" ::"r"(repaired ? 1 + pair : 1) : "memory"); // race
}

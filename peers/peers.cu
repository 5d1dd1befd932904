// What CUDA C++ and NVIDIA's libraries need for the same work, timed as `coalesce bench` times its own:
// cold caches, two events, one JSON line per case on standard output. `cargo xtask bench --peers` builds
// and runs it: nvcc -O3 -std=c++17 -arch=native peers.cu -lcublas -o peers
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cublas_v2.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#define CHECK(e) do { if (auto r = (e)) { fprintf(stderr, "%s failed with %d\n", #e, (int)r); exit(1); } } while (0)

template <class T> T *device(size_t count) { T *p; CHECK(cudaMalloc(&p, count * sizeof(T))); return p; }

__global__ void read_all(const float4 *source, float *target, size_t quads) {
    float sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < quads; i += (size_t)gridDim.x * blockDim.x) {
        float4 v = source[i];
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == 1.5f) *target = sum;
}
__global__ void copy_quads(const float4 *source, float4 *target, uint32_t quads) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < quads) target[i] = source[i];
}
__global__ void transpose_padded(const float *source, float *target, uint32_t rows, uint32_t columns) {
    __shared__ float tile[32][33];
    uint32_t column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = source[(size_t)(row + k) * columns + column];
    __syncthreads();
    uint32_t new_column = blockIdx.y * 32 + threadIdx.x, new_row = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) target[(size_t)(new_row + k) * rows + new_column] = tile[threadIdx.x][threadIdx.y + k];
}
// Odd multiples of 1/64 below 1 in size: sums of them do not round.
__global__ void fill_floats(float *target, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        uint32_t x = (uint32_t)i * 2654435761u; x ^= x >> 15; x *= 2246822519u; x ^= x >> 13;
        target[i] = (float)(2 * (int)(x % 64) - 63) / 64.0f;
    }
}
// 0 uniform, 1 skewed towards 0 as the fourth power, 2 constant.
__global__ void fill_bytes(uint8_t *target, size_t n, int distribution) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        uint32_t x = (uint32_t)i * 2654435761u; x ^= x >> 15; x *= 2246822519u; x ^= x >> 13;
        float u = (x >> 8) / 16777216.0f;
        target[i] = distribution == 0 ? x >> 24 : distribution == 1 ? (uint8_t)(256 * u * u * u * u) : 77;
    }
}

static float4 *flush_source; static float *flush_target; static const size_t FLUSH_QUADS = (128u << 20) / 16;

static void time_it(const char *pattern, const char *variant, const char *size, const std::function<void()> &work) {
    cudaEvent_t start, stop; CHECK(cudaEventCreate(&start)); CHECK(cudaEventCreate(&stop));
    std::vector<float> times;
    for (int round = 0; round < 22; round++) {
        read_all<<<4096, 256>>>(flush_source, flush_target, FLUSH_QUADS);
        CHECK(cudaEventRecord(start)); work(); CHECK(cudaEventRecord(stop)); CHECK(cudaEventSynchronize(stop));
        float ms; CHECK(cudaEventElapsedTime(&ms, start, stop));
        if (round >= 2) times.push_back(ms);
    }
    CHECK(cudaGetLastError());
    printf("{\"pattern\":\"%s\",\"variant\":\"%s\",\"size\":{%s},\"times_ms\":[", pattern, variant, size);
    for (size_t i = 0; i < times.size(); i++) printf(i ? ",%.6f" : "%.6f", times[i]);
    printf("]}\n"); fflush(stdout);
}
static void require(bool good, const char *what) { if (!good) { fprintf(stderr, "%s: wrong result\n", what); exit(1); } }
template <class T> T at(const T *p, size_t i) { T v; CHECK(cudaMemcpy(&v, p + i, sizeof v, cudaMemcpyDeviceToHost)); return v; }

int main() {
    flush_source = device<float4>(FLUSH_QUADS); flush_target = device<float>(1);
    CHECK(cudaMemset(flush_source, 0, FLUSH_QUADS * 16));
    const size_t n = 1u << 28; const uint32_t side = 16384;
    float *a = device<float>(n), *b = device<float>(n);
    fill_floats<<<4096, 256>>>(a, n);

    time_it("coalescing", "nvcc, float4", "\"n\":268435456", [&] { copy_quads<<<n / 4 / 256, 256>>>((float4 *)a, (float4 *)b, n / 4); });
    require(at(b, n - 1) == at(a, n - 1) && at(b, 12345) == at(a, 12345), "copy");

    time_it("transpose", "nvcc, padded 32 x 32", "\"rows\":16384,\"columns\":16384", [&] { transpose_padded<<<dim3(side / 32, side / 32), dim3(32, 8)>>>(a, b, side, side); });
    require(at(b, 7 * (size_t)side + 5) == at(a, 5 * (size_t)side + 7), "transpose");
    cublasHandle_t blas; CHECK(cublasCreate(&blas)); CHECK(cublasSetMathMode(blas, CUBLAS_PEDANTIC_MATH)); float one = 1, zero = 0;
    time_it("transpose", "cuBLAS geam", "\"rows\":16384,\"columns\":16384", [&] { CHECK(cublasSgeam(blas, CUBLAS_OP_T, CUBLAS_OP_N, side, side, &one, a, side, &zero, b, side, b, side)); });
    require(at(b, 7 * (size_t)side + 5) == at(a, 5 * (size_t)side + 7), "geam");

    float *sum = device<float>(1); void *scratch = nullptr; size_t scratch_bytes = 0;
    CHECK(cub::DeviceReduce::Sum(scratch, scratch_bytes, a, sum, (int)n)); CHECK(cudaMalloc(&scratch, scratch_bytes));
    time_it("reduction", "CUB DeviceReduce::Sum", "\"n\":268435456", [&] { CHECK(cub::DeviceReduce::Sum(scratch, scratch_bytes, a, sum, (int)n)); });
    { std::vector<float> host(n); CHECK(cudaMemcpy(host.data(), a, n * 4, cudaMemcpyDeviceToHost)); double all = 0; for (float v : host) all += v; require(at(sum, 0) == (float)all, "reduce"); }
    CHECK(cudaFree(scratch));

    // C = A B in rows is C' = B' A' in columns: A is m x 32, B is 32 x n.
    time_it("matmul_ab", "cuBLAS sgemm", "\"m\":16384,\"n\":16384", [&] { CHECK(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, side, side, 32, &one, a + 32 * (size_t)side, side, a, 32, &zero, b, side)); });
    { double dot = 0; for (int k = 0; k < 32; k++) dot += (double)at(a, 3 * 32 + k) * at(a, 32 * (size_t)side + k * (size_t)side + 9); require(std::fabs(at(b, 3 * (size_t)side + 9) - dot) < 1e-3, "sgemm"); }
    CHECK(cudaFree(a)); CHECK(cudaFree(b));

    const size_t bytes = 1u << 30; uint8_t *keys = device<uint8_t>(bytes); int *counts = device<int>(256);
    for (int distribution = 0; distribution < 3; distribution++) {
        fill_bytes<<<4096, 256>>>(keys, bytes, distribution);
        scratch = nullptr; scratch_bytes = 0;
        auto run = [&] { return cub::DeviceHistogram::HistogramEven(scratch, scratch_bytes, keys, counts, 257, 0, 256, (int)bytes); };
        CHECK(run()); CHECK(cudaMalloc(&scratch, scratch_bytes));
        char size[64]; snprintf(size, sizeof size, "\"distribution\":%d,\"n\":1073741824", distribution);
        time_it("histogram", "CUB HistogramEven", size, [&] { CHECK(run()); });
        long long all = 0; for (int bin = 0; bin < 256; bin++) all += at(counts, bin);
        require(all == (long long)bytes, "histogram"); CHECK(cudaFree(scratch));
    }
}

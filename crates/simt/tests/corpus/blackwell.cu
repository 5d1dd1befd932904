// What compute capability 10.0 has beyond 9.0. `nvcc -ptx -arch=sm_120a` of CUDA 13.0 makes `blackwell.ptx`.
#include <cstdint>

// Stores each block's number plus 1 and asks for the work of a block that has not started, until there is none.
extern "C" __global__ void steal(unsigned *out, unsigned *answers) {
  __shared__ alignas(16) uint4 answer;
  __shared__ alignas(8) uint64_t bar;
  uint32_t a = (uint32_t)__cvta_generic_to_shared(&answer), b = (uint32_t)__cvta_generic_to_shared(&bar);
  unsigned block = blockIdx.x;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b));
  __syncthreads();
  unsigned phase = 0;
  for (;;) {
    if (threadIdx.x == 0) {
      asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" :: "r"(a), "r"(b) : "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;" :: "r"(b) : "memory");
    }
    out[block * blockDim.x + threadIdx.x] = block + 1;
    unsigned done = 0;
    while (!done)
      asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(b), "r"(phase) : "memory");
    phase ^= 1;
    unsigned canceled, x, y, z;
    asm volatile("{.reg .pred p; .reg .b128 h; ld.shared.b128 h, [%4]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, h; selp.u32 %0, 1, 0, p; clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%1, %2, %3, _}, h;}" : "=r"(canceled), "=r"(x), "=r"(y), "=r"(z) : "r"(a) : "memory");
    if (threadIdx.x == 0) answers[blockIdx.x] = canceled + x + y + z;
    if (!canceled) break;
    block = x;
    asm volatile("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
    __syncthreads();
  }
}
// Copies 32 bytes for each thread.
extern "C" __global__ void wide(const unsigned *in, unsigned *out) {
  unsigned long long i = (blockIdx.x * blockDim.x + threadIdx.x) * 32ull;
  unsigned v[8];
  asm volatile("ld.global.v8.b32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]), "=r"(v[4]), "=r"(v[5]), "=r"(v[6]), "=r"(v[7]) : "l"((const char*)in + i));
  asm volatile("st.global.v8.b32 [%8], {%0,%1,%2,%3,%4,%5,%6,%7};" :: "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]), "r"(v[4]), "r"(v[5]), "r"(v[6]), "r"(v[7]), "l"((char*)out + i) : "memory");
}
extern "C" __global__ void wide64(const unsigned long long *in, unsigned long long *out) {
  unsigned long long i = (blockIdx.x * blockDim.x + threadIdx.x) * 32ull;
  unsigned long long v[4];
  asm volatile("ld.global.v4.b64 {%0,%1,%2,%3}, [%4];" : "=l"(v[0]), "=l"(v[1]), "=l"(v[2]), "=l"(v[3]) : "l"((const char*)in + i));
  asm volatile("st.global.v4.b64 [%4], {%0,%1,%2,%3};" :: "l"(v[0]), "l"(v[1]), "l"(v[2]), "l"(v[3]), "l"((char*)out + i) : "memory");
}
// Products with a scale for 32 elements, and for 16.
extern "C" __global__ void mx_e4m3(const uint32_t *a, const uint32_t *b, const float *c, const uint32_t *sa, const uint32_t *sb, float *d) {
  unsigned l = threadIdx.x;
  float r[4];
  asm volatile("mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13}, {%14}, {1, 0}, {%15}, {2, 3};"
   : "=f"(r[0]), "=f"(r[1]), "=f"(r[2]), "=f"(r[3]) : "r"(a[4*l]), "r"(a[4*l+1]), "r"(a[4*l+2]), "r"(a[4*l+3]), "r"(b[2*l]), "r"(b[2*l+1]), "f"(c[4*l]), "f"(c[4*l+1]), "f"(c[4*l+2]), "f"(c[4*l+3]), "r"(sa[l]), "r"(sb[l]));
  for (int i=0;i<4;i++) d[4*l+i]=r[i];
}
extern "C" __global__ void mx_e2m1(const uint32_t *a, const uint32_t *b, const float *c, const uint32_t *sa, const uint32_t *sb, float *d) {
  unsigned l = threadIdx.x;
  float r[4];
  asm volatile("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13}, {%14}, {0, 1}, {%15}, {0, 2};"
   : "=f"(r[0]), "=f"(r[1]), "=f"(r[2]), "=f"(r[3]) : "r"(a[4*l]), "r"(a[4*l+1]), "r"(a[4*l+2]), "r"(a[4*l+3]), "r"(b[2*l]), "r"(b[2*l+1]), "f"(c[4*l]), "f"(c[4*l+1]), "f"(c[4*l+2]), "f"(c[4*l+3]), "r"(sa[l]), "r"(sb[l]));
  for (int i=0;i<4;i++) d[4*l+i]=r[i];
}

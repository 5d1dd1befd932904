//! What a GPU's `wgmma.mma_async` gives for factors of 8 bits: integers, and floats; `crates/simt/tests/wgmma.rs` compares.
//!
//!     nvcc -O2 -std=c++17 -gencode arch=compute_90a,code=sm_90a wgmma_bytes.cu -o wgmma_bytes && ./wgmma_bytes > crates/simt/fixtures/wgmma_bytes.txt
//!
//! The tiles are those of `tiles.cuh`, with 64 rows and 8 columns, and 32 steps along K. The argument is how many tiles of each
//! form are printed whole (576 for all); every tile has a digest.

#include "wgmma.cuh"

SHARED(B0, "m64n8k32.f32.e4m3.e4m3", ", 1, 1");
SHARED(B1, "m64n8k32.f32.e4m3.e5m2", ", 1, 1");
SHARED(B2, "m64n8k32.f32.e5m2.e4m3", ", 1, 1");
SHARED(B3, "m64n8k32.f32.e5m2.e5m2", ", 1, 1");
REGISTERS(B4, "m64n8k32.f32.e5m2.e5m2", ", 1, 1");
SHARED(B5, "m64n8k32.f32.e4m3.e4m3", ", -1, 1");
SHARED(B6, "m64n8k32.s32.s8.s8", "");
SHARED(B7, "m64n8k32.s32.s8.u8", "");
SHARED(B8, "m64n8k32.s32.u8.s8", "");
SHARED(B9, "m64n8k32.s32.u8.u8", "");
REGISTERS(B10, "m64n8k32.s32.s8.s8", "");
SHARED(B11, "m64n8k32.satfinite.s32.s8.s8", "");

static const Form SUMS[] = {
    {"m64n8k32.f32.e4m3.e4m3", 64, 8, 32, E4M3, E4M3, F32, sums<B0, uint8_t>},
    {"m64n8k32.f32.e4m3.e5m2", 64, 8, 32, E4M3, E5M2, F32, sums<B1, uint8_t>},
    {"m64n8k32.f32.e5m2.e4m3", 64, 8, 32, E5M2, E4M3, F32, sums<B2, uint8_t>},
    {"m64n8k32.f32.e5m2.e5m2", 64, 8, 32, E5M2, E5M2, F32, sums<B3, uint8_t>},
    {"m64n8k32.f32.e5m2.e5m2.registers", 64, 8, 32, E5M2, E5M2, F32, sums<B4, uint8_t>},
    {"m64n8k32.f32.e4m3.e4m3.negated", 64, 8, 32, E4M3, E4M3, F32, sums<B5, uint8_t>},
    {"m64n8k32.s32.s8.s8", 64, 8, 32, S8, S8, S32, sums<B6, uint8_t>},
    {"m64n8k32.s32.s8.u8", 64, 8, 32, S8, U8, S32, sums<B7, uint8_t>},
    {"m64n8k32.s32.u8.s8", 64, 8, 32, U8, S8, S32, sums<B8, uint8_t>},
    {"m64n8k32.s32.u8.u8", 64, 8, 32, U8, U8, S32, sums<B9, uint8_t>},
    {"m64n8k32.s32.s8.s8.registers", 64, 8, 32, S8, S8, S32, sums<B10, uint8_t>},
    {"m64n8k32.satfinite.s32.s8.s8", 64, 8, 32, S8, S8, S32, sums<B11, uint8_t>},
};

int main(int count, char **arguments) {
    begin("wgmma bytes sweep");
    multiply(SUMS, 96, 128, count > 1 ? atoi(arguments[1]) : 0);
}

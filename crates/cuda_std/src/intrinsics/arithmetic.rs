//! Sums, products, quotients and roots, rounded to the nearest (`rn`), to zero (`rz`), down (`rd`) or up (`ru`).

use super::instructions;

instructions! {
    "`x + y`" "add." ".f32" (x: f32 reg32, y: f32 reg32) -> f32 reg32:
        fadd_rn fadd_rz fadd_rd fadd_ru;
    "`x - y`" "sub." ".f32" (x: f32 reg32, y: f32 reg32) -> f32 reg32:
        fsub_rn fsub_rz fsub_rd fsub_ru;
    "`x * y`" "mul." ".f32" (x: f32 reg32, y: f32 reg32) -> f32 reg32:
        fmul_rn fmul_rz fmul_rd fmul_ru;
    "`x / y`" "div." ".f32" (x: f32 reg32, y: f32 reg32) -> f32 reg32:
        fdiv_rn fdiv_rz fdiv_rd fdiv_ru;
    "`x * y + z`, rounded once" "fma." ".f32" (x: f32 reg32, y: f32 reg32, z: f32 reg32) -> f32 reg32:
        fmaf_rn fmaf_rz fmaf_rd fmaf_ru;
    "`1 / x`" "rcp." ".f32" (x: f32 reg32) -> f32 reg32: frcp_rn frcp_rz frcp_rd frcp_ru;
    "The square root" "sqrt." ".f32" (x: f32 reg32) -> f32 reg32:
        fsqrt_rn fsqrt_rz fsqrt_rd fsqrt_ru;
    "`x + y`" "add." ".f64" (x: f64 reg64, y: f64 reg64) -> f64 reg64:
        dadd_rn dadd_rz dadd_rd dadd_ru;
    "`x * y`" "mul." ".f64" (x: f64 reg64, y: f64 reg64) -> f64 reg64:
        dmul_rn dmul_rz dmul_rd dmul_ru;
    "`x / y`" "div." ".f64" (x: f64 reg64, y: f64 reg64) -> f64 reg64:
        ddiv_rn ddiv_rz ddiv_rd ddiv_ru;
    "`x * y + z`, rounded once" "fma." ".f64" (x: f64 reg64, y: f64 reg64, z: f64 reg64) -> f64 reg64:
        fma_rn fma_rz fma_rd fma_ru;
    "`1 / x`" "rcp." ".f64" (x: f64 reg64) -> f64 reg64: drcp_rn drcp_rz drcp_rd drcp_ru;
    "The square root" "sqrt." ".f64" (x: f64 reg64) -> f64 reg64:
        dsqrt_rn dsqrt_rz dsqrt_rd dsqrt_ru;
}

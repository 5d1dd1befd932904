//! Fused multiply-add where the system's own rounds twice: MinGW's C library computes it in a wider type.
//!
//! The names are those that `mul_add` is compiled to, so a program with the executor has them in place of the library's.

#[unsafe(no_mangle)]
extern "C" fn fmaf(a: f32, b: f32, c: f32) -> f32 {
    libm::fmaf(a, b, c)
}

#[unsafe(no_mangle)]
extern "C" fn fma(a: f64, b: f64, c: f64) -> f64 {
    libm::fma(a, b, c)
}

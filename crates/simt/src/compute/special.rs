//! Arithmetic of NaN, of subnormals, and of values outside [0, 1].

/// NaN becomes the one NaN that the hardware produces.
#[inline(always)]
pub(crate) fn canonical(value: f32) -> f32 {
    if value.is_nan() { f32::from_bits(0x7fff_ffff) } else { value }
}

/// Subnormals become zero of the same sign.
#[inline(always)]
pub(crate) fn flush(value: f32) -> f32 {
    let bits = value.to_bits();
    if bits & 0x7f80_0000 == 0 { f32::from_bits(bits & 0x8000_0000) } else { value }
}

#[inline(always)]
pub(crate) fn saturate(value: f32) -> f32 {
    // NaN becomes 0; so does -0.
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

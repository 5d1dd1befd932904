use crate::texture::{Image, Sampler};

/// The part of a fetch that speaks of levels.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texture::{AddressMode, Format, Level, Shape};

    fn read(linear: bool, bias: f32, clamp: [f32; 2], detail: Detail) -> Option<([usize; 2], i32)> {
        let image = Image {
            shape: Shape::Plane,
            format: Format::Single,
            channels: 1,
            width: 8,
            height: 8,
            depth: 1,
            levels: vec![Level { address: 0, pitch: None }; 4],
        };
        let sampler = Sampler {
            address: [AddressMode::Clamp; 3],
            linear: false,
            normalized: true,
            to_float: false,
            border: [0; 4],
            linear_levels: linear,
            level_bias: bias,
            level_clamp: clamp,
        };
        levels(&image, &sampler, detail)
    }

    #[test]
    fn a_level_of_detail_is_biased_clamped_and_cut() {
        let all = [0.0, 10.0];
        assert_eq!(read(false, 0.0, all, Detail::Level(1.5)), Some(([2; 2], 0)));
        assert_eq!(read(true, 0.0, all, Detail::Level(1.583_984_4)), Some(([1, 2], 149)));
        assert_eq!(read(true, 0.25, all, Detail::Level(9.0)), Some(([3, 3], 0)));
        assert_eq!(read(true, 1.0, all, Detail::Finest), Some(([0, 1], 0)));
        assert_eq!(read(true, 0.0, [0.5, 2.0], Detail::Level(f32::NAN)), Some(([0, 1], 128)));
        assert_eq!(read(true, 0.0, all, Detail::Whole(2)), Some(([2; 2], 0)));
        assert_eq!(read(true, 0.0, all, Detail::Whole(4)), None);
    }
}

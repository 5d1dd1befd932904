use super::launch::{Launch, per_thread};
use crate::kernels::warp;
use bytemuck::Pod;
use cuda_std::kernel::Kernel;

/// The source lane of a shuffle, and whether it lies in the segment of `width` lanes.
///
/// The dullest statement of the PTX ISA's `shfl`: a lane whose source is outside takes its own value.
fn source_lane(mode: &str, lane: u32, argument: u32, width: u32) -> (u32, bool) {
    let first = lane / width * width;
    let (source, inside) = match mode {
        "down" => (lane + argument, lane + argument < first + width),
        "up" => (lane.wrapping_sub(argument), lane >= first + argument),
        "xor" => (lane ^ argument, (lane ^ argument) < first + width),
        _ => (first + argument % width, true),
    };
    if inside { (source, true) } else { (lane, false) }
}

/// Returns what each thread gets of the elements of its warp.
fn shuffled<T: Copy>(source: &[T], mode: &str, argument: u32, width: u32) -> (Vec<T>, Vec<u32>) {
    let of = |tid: u32| {
        let (lane, inside) = source_lane(mode, tid % 32, argument, width);
        (source[(tid / 32 * 32 + lane) as usize], u32::from(inside))
    };
    per_thread(of).into_iter().unzip()
}

fn shuffle<F, T: Pod>(
    kernel: Kernel<F>,
    (mode, argument, width): (&str, u32, u32),
    element: impl Fn(u32) -> T,
) -> Launch {
    let source = per_thread(element);
    let (values, inside) = shuffled(&source, mode, argument, width);
    Launch::of(kernel).reads(&source).writes(&values).writes(&inside)
}

/// A launch of a function of all elements of a warp, which are given with the lane.
fn warp_wide<F, T: Pod, R: Pod>(
    kernel: Kernel<F>,
    element: impl Fn(u32) -> T,
    result: impl Fn(&[T], u32) -> R,
) -> Launch {
    let source = per_thread(element);
    let results = per_thread(|tid| {
        let first = (tid / 32 * 32) as usize;
        result(&source[first..first + 32], tid % 32)
    });
    Launch::of(kernel).reads(&source).writes(&results)
}

/// The lanes for which a condition holds.
fn lanes(condition: impl Fn(usize) -> bool) -> u32 {
    (0..32).filter(|&lane| condition(lane)).map(|lane| 1 << lane).sum()
}

pub(super) fn launches() -> Vec<Launch> {
    let wide = |tid: u32| u64::from(tid) << 40 | u64::from(tid * 3 + 1);
    let huge = |tid: u32| u128::from(wide(tid)) << 61 | u128::from(tid);
    let word = |tid: u32| tid * 1000 + 17;
    // Both signs, in an order that is not sorted.
    let signed = |tid: u32| (tid * 37 % 64) as i32 - 31;
    let unsigned = |tid: u32| signed(tid) as u32;
    let mixed = |tid: u32| tid * 7 % 13;
    // All lanes of the first warp are above 10, only some of the second.
    let votes = |tid: u32| if tid < 32 { 11 + tid } else { tid % 20 };
    let own = |value: u32, mask: fn(u32) -> u32| move |lane: u32| value.wrapping_add(mask(lane));
    let mut launches = vec![
        shuffle(warp::shuffle_down_u32, ("down", 3, 32), word),
        shuffle(warp::shuffle_down_width_8, ("down", 3, 8), word),
        shuffle(warp::shuffle_up_u32, ("up", 3, 32), word),
        shuffle(warp::shuffle_up_width_8, ("up", 3, 8), word),
        shuffle(warp::shuffle_idx_u32, ("idx", 5, 32), word),
        shuffle(warp::shuffle_idx_width_8, ("idx", 5, 8), word),
        shuffle(warp::shuffle_xor_u32, ("xor", 16, 32), word),
        shuffle(warp::shuffle_xor_width_8, ("xor", 9, 8), word),
        shuffle(warp::shuffle_down_u8, ("down", 1, 32), |tid| (tid * 5) as u8),
        shuffle(warp::shuffle_down_i8, ("down", 1, 32), |tid| (tid * 5) as i8),
        shuffle(warp::shuffle_down_u16, ("down", 1, 32), |tid| (tid * 999) as u16),
        shuffle(warp::shuffle_down_i16, ("down", 1, 32), |tid| (tid * 999) as i16),
        shuffle(warp::shuffle_down_i32, ("down", 1, 32), signed),
        shuffle(warp::shuffle_down_u64, ("down", 1, 32), wide),
        shuffle(warp::shuffle_down_i64, ("down", 1, 32), |tid| -(wide(tid) as i64)),
        shuffle(warp::shuffle_down_u128, ("down", 1, 32), huge),
        shuffle(warp::shuffle_down_i128, ("down", 1, 32), |tid| -(huge(tid) as i128)),
        shuffle(warp::shuffle_down_f16, ("down", 1, 32), |tid| tid as u16 + 0x3c00),
        shuffle(warp::shuffle_down_bf16, ("down", 1, 32), |tid| tid as u16 + 0x3f80),
        shuffle(warp::shuffle_down_f32, ("down", 1, 32), |tid| tid as f32 / 7.0),
        shuffle(warp::shuffle_down_f64, ("down", 1, 32), |tid| f64::from(tid) / 7.0),
        warp_wide(warp::lane_id, |_| 100, |_: &[u32], lane| own(100, |lane| lane)(lane)),
        warp_wide(warp::lane_mask_eq, |_| 0, |_: &[u32], lane| lanes(|l| l == lane as usize)),
        warp_wide(warp::lane_mask_lt, |_| 0, |_: &[u32], lane| lanes(|l| l < lane as usize)),
        warp_wide(warp::lane_mask_le, |_| 0, |_: &[u32], lane| lanes(|l| l <= lane as usize)),
        warp_wide(warp::lane_mask_gt, |_| 0, |_: &[u32], lane| lanes(|l| l > lane as usize)),
        warp_wide(warp::lane_mask_ge, |_| 0, |_: &[u32], lane| lanes(|l| l >= lane as usize)),
        warp_wide(warp::activemask, |_| 0, |_: &[u32], _| u32::MAX),
        warp_wide(warp::vote_all, votes, |warp, _| u32::from(warp.iter().all(|&v| v > 10))),
        warp_wide(warp::vote_any, votes, |warp, _| u32::from(warp.iter().any(|&v| v > 10))),
        warp_wide(warp::vote_any, |_| 9_u32, |_, _| 0_u32),
        warp_wide(warp::vote_uniform, votes, |warp, _| {
            u32::from(warp.iter().all(|&v| v > 10) || warp.iter().all(|&v| v <= 10))
        }),
        warp_wide(warp::vote_uniform, |_| 9_u32, |_, _| 1_u32),
        warp_wide(warp::vote_ballot, votes, |warp, _| lanes(|lane| warp[lane] > 10)),
        warp_wide(warp::match_any_u32, mixed, |warp, own| lanes(|l| warp[l] == warp[own as usize])),
        warp_wide(
            warp::match_any_i64,
            |tid| i64::from(mixed(tid)) << 33,
            |warp, own| lanes(|lane| warp[lane] == warp[own as usize]),
        ),
        warp_wide(
            warp::match_any_f32,
            |tid| mixed(tid) as f32,
            |warp, own| lanes(|lane| warp[lane] == warp[own as usize]),
        ),
        // The second warp has the same value everywhere, the first has not.
        warp_wide(
            warp::match_all_u32,
            |tid| tid.min(32),
            |warp, _| {
                if warp.iter().all(|value| *value == warp[0]) { u32::MAX } else { 0 }
            },
        ),
        warp_wide(
            warp::match_all_u64,
            |tid| u64::from(tid.min(32)) << 33,
            |warp, _| {
                if warp.iter().all(|value| *value == warp[0]) { u32::MAX } else { 0 }
            },
        ),
        warp_wide(warp::reduce_add_u32, unsigned, |warp, _| {
            warp.iter().fold(0_u32, |sum, &value| sum.wrapping_add(value))
        }),
        warp_wide(warp::reduce_add_i32, signed, |warp, _| warp.iter().sum::<i32>()),
        warp_wide(warp::reduce_min_u32, unsigned, |warp, _| *warp.iter().min().expect("32 lanes")),
        warp_wide(warp::reduce_min_i32, signed, |warp, _| *warp.iter().min().expect("32 lanes")),
        warp_wide(warp::reduce_max_u32, unsigned, |warp, _| *warp.iter().max().expect("32 lanes")),
        warp_wide(warp::reduce_max_i32, signed, |warp, _| *warp.iter().max().expect("32 lanes")),
        warp_wide(
            warp::reduce_and_u32,
            |tid| !(1 << (tid % 8)),
            |warp, _| warp.iter().fold(u32::MAX, |all, value| all & value),
        ),
        warp_wide(
            warp::reduce_or_u32,
            |tid| 1 << (tid % 8),
            |warp, _| warp.iter().fold(0, |any, value| any | value),
        ),
        warp_wide(warp::reduce_xor_u32, unsigned, |warp, _| {
            warp.iter().fold(0, |odd, value| odd ^ value)
        }),
    ];
    let data = per_thread(word);
    let swapped = per_thread(|tid| word(tid ^ 31));
    launches.push(Launch::of(warp::sync_warp).changes(&data, &swapped));
    launches
}

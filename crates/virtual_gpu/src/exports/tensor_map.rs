use super::arguments::{In, Out};
use super::define::exports;
use crate::code::CuResult;
use crate::driver::Driver;
use crate::misuse::MisuseKind;
use cuda_driver::ReturnCode;
use cuda_driver::raw::{cuuint32_t, cuuint64_t};
use cuda_driver::types::TensorMap as Opaque;
use simt::{MAX_RANK, PixelBox, TensorMap};
use std::ffi::{c_int, c_uint, c_void};

/// Bytes of an element by the numbers of `CUtensorMapDataType`, and whether it is a float.
const TYPES: [(u32, bool); 13] = [
    (1, false),
    (2, false),
    (4, false),
    (4, false),
    (8, false),
    (8, false),
    (2, true),
    (4, true),
    (8, true),
    (2, true),
    (4, true),
    (4, true),
    (4, true),
];

fn encode(
    driver: &mut Driver,
    name: &str,
    map: TensorMap,
    (kind, interleave): (c_uint, c_uint),
) -> CuResult<[u8; 128]> {
    let (width, is_float) = *TYPES.get(kind as usize).ok_or(ReturnCode::INVALID_VALUE)?;
    let map = TensorMap { width, ..map };
    if interleave != 0 {
        let message = format!("{name}: the virtual device has no interleaved tensors");
        driver.report(MisuseKind::Unsupported, message);
        return Err(ReturnCode::NOT_SUPPORTED);
    }
    if map.swizzle > 3 {
        return Err(ReturnCode::INVALID_VALUE);
    }
    match map.problem(is_float) {
        None => Ok(map.to_bytes()),
        Some(problem) => {
            driver.report(MisuseKind::KernelFault, format!("{name}: {problem}"));
            Err(ReturnCode::INVALID_VALUE)
        }
    }
}

/// Returns the map of a tensor whose box is still to be said; there is one stride fewer than sizes.
fn tensor(
    (address, swizzle, oob_fill): (*mut c_void, c_uint, c_uint),
    (sizes, strides, steps): (&[u64], &[u64], &[u32]),
) -> TensorMap {
    let mut map = TensorMap {
        address: address.addr() as u64,
        rank: sizes.len(),
        swizzle,
        fills_nan: oob_fill == 1,
        ..TensorMap::default()
    };
    map.sizes[..sizes.len()].copy_from_slice(sizes);
    map.strides[..strides.len()].copy_from_slice(strides);
    map.steps[..steps.len()].copy_from_slice(steps);
    map
}

exports! {
    fn cuTensorMapEncodeTiled(
        driver,
        tensor_map: Out<Opaque>,
        data_type: c_uint,
        rank: cuuint32_t,
        global_address: *mut c_void,
        global_dim: In<cuuint64_t>,
        global_strides: In<cuuint64_t>,
        box_dim: In<cuuint32_t>,
        element_strides: In<cuuint32_t>,
        interleave: c_uint,
        swizzle: c_uint,
        _l2_promotion: c_uint,
        oob_fill: c_uint,
    ) {
        let rank = rank as usize;
        if !(1..=MAX_RANK).contains(&rank) {
            return Err(ReturnCode::INVALID_VALUE);
        }
        // SAFETY: 64 bytes of alignment are enough for the driver, so the place is one of bytes.
        let target = unsafe { tensor_map.cast::<[u8; 128]>() };
        target.pointer()?;
        // SAFETY: by the function's contract there are `rank` numbers in each array, one fewer strides.
        let (sizes, strides, extents, steps) = unsafe {(
            global_dim.read_all(rank)?,
            global_strides.read_all(rank - 1)?,
            box_dim.read_all(rank)?,
            element_strides.read_all(rank)?,
        )};
        let words = (global_address, swizzle, oob_fill);
        let mut map = tensor(words, (&sizes, &strides, &steps));
        map.extents[..rank].copy_from_slice(&extents);
        let bytes = encode(driver, "cuTensorMapEncodeTiled", map, (data_type, interleave))?;
        target.write(bytes)
    }

    fn cuTensorMapEncodeIm2col(
        driver,
        tensor_map: Out<Opaque>,
        data_type: c_uint,
        rank: cuuint32_t,
        global_address: *mut c_void,
        global_dim: In<cuuint64_t>,
        global_strides: In<cuuint64_t>,
        pixel_box_lower_corner: In<c_int>,
        pixel_box_upper_corner: In<c_int>,
        channels_per_pixel: cuuint32_t,
        pixels_per_column: cuuint32_t,
        element_strides: In<cuuint32_t>,
        interleave: c_uint,
        swizzle: c_uint,
        _l2_promotion: c_uint,
        oob_fill: c_uint,
    ) {
        let rank = rank as usize;
        if !(3..=MAX_RANK).contains(&rank) {
            return Err(ReturnCode::INVALID_VALUE);
        }
        // SAFETY: 64 bytes of alignment are enough for the driver, so the place is one of bytes.
        let target = unsafe { tensor_map.cast::<[u8; 128]>() };
        target.pointer()?;
        // SAFETY: by the function's contract there are `rank` numbers in each array, one fewer strides, two fewer of a corner.
        let (sizes, strides, lower, upper, steps) = unsafe {(
            global_dim.read_all(rank)?,
            global_strides.read_all(rank - 1)?,
            pixel_box_lower_corner.read_all(rank - 2)?,
            pixel_box_upper_corner.read_all(rank - 2)?,
            element_strides.read_all(rank)?,
        )};
        let mut pixels = PixelBox::default();
        pixels.lower[..rank - 2].copy_from_slice(&lower);
        pixels.upper[..rank - 2].copy_from_slice(&upper);
        let words = (global_address, swizzle, oob_fill);
        let map = TensorMap {
            extents: [channels_per_pixel, pixels_per_column, 0, 0, 0],
            pixel_box: Some(pixels),
            ..tensor(words, (&sizes, &strides, &steps))
        };
        let bytes = encode(driver, "cuTensorMapEncodeIm2col", map, (data_type, interleave))?;
        target.write(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Maps that were given to the driver of an H200, and its answers: the output of `crates/simt/tests/mma/tensor_map.cu`.
    const MEASURED: &str = include_str!("../../../simt/fixtures/tensor_map.txt");

    #[test]
    fn the_driver_refuses_the_same_maps() {
        let mut refused = 0;
        for line in MEASURED.lines() {
            let mut words = line.split_whitespace();
            let mut next = || words.next().and_then(|word| word.parse::<i64>().ok()).unwrap_or(-99);
            let (kind, rank) = (next() as usize, next() as usize);
            let (width, is_float) = TYPES[kind];
            let mut map = TensorMap { address: 4096, rank, width, ..TensorMap::default() };
            map.sizes.iter_mut().take(rank).for_each(|size| *size = next() as u64);
            map.strides.iter_mut().take(rank - 1).for_each(|stride| *stride = next() as u64);
            map.extents.iter_mut().take(rank).for_each(|extent| *extent = next() as u32);
            map.steps.iter_mut().take(rank).for_each(|step| *step = next() as u32);
            map.swizzle = next() as u32;
            map.fills_nan = next() != 0;
            (0..rank).for_each(|_| {
                next();
            });
            let code = next();
            let problem = map.problem(is_float);
            assert_eq!(problem.is_some(), code != 0, "{line}: {problem:?}");
            refused += u32::from(code != 0);
        }
        assert!(refused >= 10, "{refused} maps are refused");
    }

    /// Maps for im2col that were given to the driver of an H100, and its answers: the output of `crates/simt/tests/mma/im2col.cu`.
    const PIXELS_MEASURED: &str = include_str!("../../../simt/fixtures/im2col.txt");

    #[test]
    fn the_driver_refuses_the_same_boxes_of_pixels() {
        let mut refused = 0;
        for line in PIXELS_MEASURED.lines().filter(|line| line.starts_with("rank ")) {
            let numbers: Vec<i32> =
                line.split([' ', ':']).filter_map(|word| word.parse().ok()).collect();
            let [rank, l0, l1, l2, u0, u1, u2, channels, column, step, code] = numbers[..] else {
                panic!("{line}")
            };
            let mut map = TensorMap {
                address: 4096,
                rank: rank as usize,
                width: 2,
                sizes: [40, 7, 5, 4, 3],
                strides: [96, 96 * 7, 96 * 7 * 5, 96 * 7 * 5 * 4],
                extents: [channels as u32, column as u32, 0, 0, 0],
                steps: [1, step as u32, 1, 1, 1],
                pixel_box: Some(PixelBox { lower: [l0, l1, l2], upper: [u0, u1, u2] }),
                ..TensorMap::default()
            };
            map.sizes[rank as usize - 1] = 3;
            let problem = map.problem(true);
            assert_eq!(problem.is_some(), code != 0, "{line}: {problem:?}");
            refused += u32::from(code != 0);
        }
        assert!(refused >= 10, "{refused} maps are refused");
    }

    #[test]
    fn what_the_driver_refuses_is_a_sentence() {
        let good = TensorMap {
            address: 4096,
            rank: 2,
            width: 2,
            sizes: [100, 7, 0, 0, 0],
            strides: [208, 0, 0, 0],
            extents: [64, 4, 0, 0, 0],
            steps: [1, 1, 0, 0, 0],
            swizzle: 3,
            fills_nan: false,
            pixel_box: None,
        };
        assert_eq!(good.problem(true), None);
        let pixels = |rank, lower, upper, column| TensorMap {
            rank,
            sizes: [100, 7, 7, 7, 7],
            strides: [208, 2080, 20_800, 208_000],
            extents: [64, column, 0, 0, 0],
            steps: [1; 5],
            pixel_box: Some(PixelBox { lower, upper }),
            ..good.clone()
        };
        assert_eq!(pixels(4, [-1, -1, 0], [1, -1, 0], 1024).problem(true), None);
        let wrong = [
            (TensorMap { address: 8, ..good.clone() }, "address"),
            (TensorMap { sizes: [100, 0, 0, 0, 0], ..good.clone() }, "size"),
            (TensorMap { strides: [200, 0, 0, 0], ..good.clone() }, "stride"),
            (TensorMap { extents: [257, 4, 0, 0, 0], ..good.clone() }, "257 elements"),
            (TensorMap { steps: [1, 9, 0, 0, 0], ..good.clone() }, "element stride"),
            (TensorMap { extents: [65, 4, 0, 0, 0], ..good.clone() }, "multiple of 16"),
            (TensorMap { extents: [128, 4, 0, 0, 0], ..good.clone() }, "swizzle of 128 bytes"),
            (TensorMap { fills_nan: true, ..good.clone() }, "NaN"),
            (pixels(2, [0; 3], [0; 3], 1), "im2col needs 3 to 5"),
            (pixels(3, [-32769, 0, 0], [0; 3], 1), "a corner at -32769"),
            (pixels(4, [0, -129, 0], [0; 3], 1), "from -128 to 127"),
            (pixels(5, [0; 3], [0, 0, 16], 1), "from -16 to 15"),
            (pixels(4, [0; 3], [0, -7, 0], 1), "no pixel between"),
            (pixels(3, [0; 3], [0; 3], 1025), "1025 pixels"),
            (
                TensorMap { steps: [1, 0, 1, 0, 0], ..pixels(3, [0; 3], [0; 3], 1) },
                "element stride",
            ),
            (TensorMap { swizzle: 1, ..pixels(3, [0; 3], [0; 3], 1) }, "swizzle of 32 bytes"),
        ];
        for (map, word) in wrong {
            let problem = map.problem(false).unwrap_or_default();
            assert!(problem.contains(word), "{problem}");
        }
    }
}

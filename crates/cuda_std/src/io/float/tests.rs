//! Every form of a float is compared with what `core` writes.

extern crate std;

use super::{Float, ShowFloat as _, ShowValue as _, Shown};
use std::format;

/// Compares with `core` in every form.
macro_rules! as_core {
    ($value:expr, $($form:literal)*) => {
        $(assert_eq!(format!($form, Float::from($value)), format!($form, $value), "{} of {:?}", $form, $value);)*
    };
}

macro_rules! compare {
    ($value:expr) => {
        as_core!(
            $value, "{}" "{:?}" "{:e}" "{:E}" "{:.0}" "{:.1}" "{:.3}" "{:.17}" "{:.3?}" "{:.0e}" "{:.4e}" "{:+}"
            "{:>12}" "{:*^30.2}" "{:<9.1}|" "{:012.3}" "{:+014.1e}" "{:08?}"
        )
    };
}

const SPECIAL: [f64; 22] = [
    0.0,
    -0.0,
    0.5,
    1.5,
    2.5,
    0.05,
    0.25,
    9.5,
    9.95,
    99.95,
    0.999_9,
    1e16,
    1e15,
    1e-4,
    9.9e-5,
    1e23,
    f64::MAX,
    f64::MIN_POSITIVE,
    5e-324,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

#[test]
fn special_values_are_written_as_core_writes_them() {
    for value in SPECIAL {
        compare!(value);
        compare!(value as f32);
    }
    compare!(f32::MIN_POSITIVE);
    compare!(f32::from_bits(1));
    as_core!(0.1_f64, "{:.800}");
    as_core!(5e-324_f64, "{:.1100}" "{:.900e}");
}

#[test]
fn any_bits_are_written_as_core_writes_them() {
    let mut state = 1_u64;
    for _ in 0..3000 {
        // The generator of Knuth's MMIX; its high bits are the good ones.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        compare!(f64::from_bits(state));
        compare!(f32::from_bits((state >> 32) as u32));
        // Of the size that programs print, and powers of two, whose neighbours are not equally far.
        compare!((state >> 40) as f32 / 1024.0);
        compare!(f64::from_bits(state & (0x7ff << 52)));
    }
}

#[test]
fn what_is_no_float_stays_what_it_is() {
    assert_eq!(format!("{:>3}", (&Shown(&7)).shown()), "  7");
    assert_eq!(format!("{}", (&Shown("text")).shown()), "text");
    assert_eq!(Shown(&1.5_f32).shown().fraction_bits, 23);
}

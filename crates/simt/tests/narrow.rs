//! Conversions to and from floats of 4, 6 and 8 bits: all values of 16 bits and of fewer.

use crate::half::{from_bf16, from_f16};
use rustc_apfloat::ieee::{Float8E4M3FN, Float8E5M2, Single};
use rustc_apfloat::{Float, FloatConvert};
use simt::{Launch, Memory, Module, Options, run};

/// Returns what an instruction makes of each word: `d` of `a`, by 32 bits of which others may be made in front of it.
fn execute(target: &str, instruction: &str, words: &[u32]) -> Vec<u32> {
    let text = format!(
        ".version 8.6\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 from, .param .u64 to) {{\n\
         .reg .b32 a, d, %r<5>; .reg .b64 %rd<7>; .reg .f32 high, low; .reg .b16 half, other;\n\
         ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to];\n\
         mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.s32 %r3, %r2, 256, %r1;\n\
         mul.wide.u32 %rd3, %r3, 4; add.u64 %rd4, %rd1, %rd3; ld.global.b32 a, [%rd4];\n\
         {instruction}\n\
         add.u64 %rd6, %rd2, %rd3; st.global.b32 [%rd6], d; ret;\n}}\n",
    );
    let module = Module::parse(&text).unwrap_or_else(|error| panic!("{instruction}: {error}"));
    let mut memory = Memory::default();
    let bytes = 4 * words.len() as u64;
    let (from, to) = (memory.allocate(bytes).unwrap(), memory.allocate(bytes).unwrap());
    let packed: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    memory.write(from, &packed).unwrap();
    let launch = Launch::new("k", [words.len() as u32 / 256, 1, 1], [256, 1, 1]);
    run(&module, &mut memory, &launch.address(from).address(to), &Options::default()).unwrap();
    let mut out = vec![0; packed.len()];
    memory.read(to, &mut out).unwrap();
    out.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// The formats with their bits, and what each number is.
fn formats() -> Vec<(&'static str, u32, Vec<f32>)> {
    let library = |convert: &dyn Fn(u128) -> Single| {
        (0..256).map(|bits| f32::from_bits(convert(bits).to_bits() as u32)).collect::<Vec<f32>>()
    };
    let plain = |exponent: u32, fraction: u32| {
        let bias = (1 << (exponent - 1)) - 1;
        let all = 1 << (1 + exponent + fraction);
        let value = |bits: u32| {
            let (top, low) = (bits >> fraction & ((1 << exponent) - 1), bits % (1 << fraction));
            let number = if top == 0 { low } else { low + (1 << fraction) } as f32;
            let value = number * 2f32.powi(top.max(1) as i32 - bias - fraction as i32);
            if bits < all / 2 { value } else { -value }
        };
        (0..all).map(value).collect::<Vec<f32>>()
    };
    vec![
        ("e4m3x2", 8, library(&|bits| Float8E4M3FN::from_bits(bits).convert(&mut false).value)),
        ("e5m2x2", 8, library(&|bits| Float8E5M2::from_bits(bits).convert(&mut false).value)),
        ("e2m3x2", 8, plain(2, 3)),
        ("e3m2x2", 8, plain(3, 2)),
        ("e2m1x2", 4, plain(2, 1)),
    ]
}

/// The number of a format that is nearest to a value, ties to even, or the next one towards zero.
fn nearest(numbers: &[f32], value: f32, to_zero: bool) -> u32 {
    let half = numbers.len() / 2;
    let finite: Vec<f32> = numbers[..half].iter().copied().filter(|n| n.is_finite()).collect();
    if value.is_nan() {
        let has_nan = numbers[..half].iter().any(|number| number.is_nan());
        return (if has_nan { half } else { finite.len() }) as u32 - 1;
    }
    let magnitude = f64::from(value.abs().min(f32::MAX));
    let below = finite.partition_point(|number| f64::from(*number) <= magnitude) - 1;
    let picked = match finite.get(below + 1) {
        Some(above) if !to_zero => {
            let (down, up) = (magnitude - f64::from(finite[below]), f64::from(*above) - magnitude);
            if up < down || up == down && below % 2 == 1 { below + 1 } else { below }
        }
        _ => below,
    };
    (picked + if value.is_sign_negative() { half } else { 0 }) as u32
}

const TARGET: &str = "sm_100a";

#[test]
fn every_half_is_narrowed_to_the_nearest_number() {
    // Each word has a value and another one, so that the halves are told apart.
    let words: Vec<u32> = (0..1 << 16).map(|bits| bits | (bits ^ 0x5a5a) << 16).collect();
    for (name, bits, numbers) in formats() {
        let is_small = !name.starts_with("e4") && !name.starts_with("e5");
        for mode in if is_small { &["rn", "rz"][..] } else { &["rn"] } {
            for relu in ["", ".relu"] {
                for from in ["f16x2", "bf16x2"] {
                    // The same through two f32.
                    let single = from.trim_end_matches("x2");
                    let operation = format!("cvt.{mode}.satfinite{relu}.{name}");
                    let destination = if bits == 4 {
                        ("{ .reg .b8 t; ", "t", "cvt.u32.u8 d, t; }")
                    } else {
                        ("", "half", "cvt.u32.u16 d, half;")
                    };
                    let (before, to, behind) = destination;
                    let paired = format!("{before}{operation}.{from} {to}, a; {behind}");
                    let singles = format!(
                        "mov.b32 {{half, other}}, a; cvt.f32.{single} low, half; \
                         cvt.f32.{single} high, other; {before}{operation}.f32 {to}, high, low; {behind}"
                    );
                    let narrowed = |half: u16| {
                        let value = if from == "f16x2" { from_f16(half) } else { from_bf16(half) };
                        match relu {
                            ".relu" if value.is_sign_negative() && !value.is_nan() => 0,
                            _ => nearest(&numbers, value, *mode == "rz"),
                        }
                    };
                    let narrowed: Vec<u32> = (0..=u16::MAX).map(narrowed).collect();
                    for instruction in [paired, singles] {
                        let got = execute(TARGET, &instruction, &words);
                        for (word, got) in words.iter().zip(got) {
                            let [low, high] = [word & 0xffff, word >> 16];
                            let expected = narrowed[low as usize] | narrowed[high as usize] << bits;
                            assert_eq!(got, expected, "{instruction} of {word:#x}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn every_number_is_widened_exactly() {
    let words: Vec<u32> = (0..256).map(|bits| bits | (bits ^ 0xa5) << 8).collect();
    for (name, bits, numbers) in formats() {
        for relu in ["", ".relu"] {
            for to in ["f16x2", "bf16x2"] {
                let instruction = if bits == 4 {
                    format!("{{ .reg .b8 t; cvt.u8.u32 t, a; cvt.rn{relu}.{to}.{name} d, t; }}")
                } else {
                    format!("cvt.u16.u32 half, a; cvt.rn{relu}.{to}.{name} d, half;")
                };
                let got = execute(TARGET, &instruction, &words);
                for (word, got) in words.iter().zip(got) {
                    for (place, got) in [got as u16, (got >> 16) as u16].into_iter().enumerate() {
                        let code = word >> (place as u32 * bits);
                        let expected = numbers[code as usize % numbers.len()];
                        let value = if to == "f16x2" { from_f16(got) } else { from_bf16(got) };
                        let is_right = match relu {
                            _ if expected.is_nan() => got == 0x7fff,
                            ".relu" if expected.is_sign_negative() => got == 0,
                            _ => value.to_bits() == expected.to_bits(),
                        };
                        assert!(is_right, "{instruction} of {word:#x}: {value} for {expected}");
                    }
                }
            }
        }
    }
}

#[test]
fn scales_are_powers_of_two() {
    let words: Vec<u32> = (0..256).collect();
    let instruction = "cvt.u16.u32 half, a; cvt.rn.bf16x2.ue8m0x2 d, half;";
    for (word, got) in words.iter().zip(execute(TARGET, instruction, &words)) {
        let value = from_bf16(got as u16);
        match word {
            255 => assert!(value.is_nan()),
            word => assert_eq!(f64::from(value), 2f64.powi(*word as i32 - 127)),
        }
    }
    let scale = |mode: &str, value: f32| {
        let text =
            format!("mov.b32 low, a; cvt.{mode}.ue8m0x2.f32 half, low, low; cvt.u32.u16 d, half;");
        let got = execute(TARGET, &text, &[value.to_bits(); 256])[0];
        assert_eq!(got & 0xff, got >> 8);
        got & 0xff
    };
    for (value, down, up) in [
        (1.0, 127, 127),
        (1.5, 127, 128),
        (0.75, 126, 127),
        (f32::MAX, 254, 255),
        (0.0, 0, 0),
        (2f32.powi(-127), 0, 0),
        (2f32.powi(-127) * 1.5, 0, 1),
        (f32::INFINITY, 255, 255),
        (f32::NAN, 255, 255),
    ] {
        assert_eq!([scale("rz", value), scale("rp", value)], [down, up], "{value}");
        let limit = |scale: u32| if value.is_nan() { 255 } else { scale.min(254) };
        let limited = [scale("rz.satfinite", value), scale("rp.satfinite", value)];
        assert_eq!(limited, [limit(down), limit(up)], "{value}");
    }
}

/// Every finite half and the next one, and what becomes of a quarter, a half and three quarters of the way between them, in
/// every direction.
#[test]
fn halves_are_rounded_in_every_direction() {
    for (name, value, largest) in
        [("f16", from_f16 as fn(u16) -> f32, 0x7bff_u16), ("bf16", from_bf16, 0x7f7f)]
    {
        for quarters in 0..4_u32 {
            let codes: Vec<u16> = (0..1 << 16).map(|code| code as u16).collect();
            let between = |code: u16| {
                let magnitude = code & 0x7fff;
                let number = f64::from(value(magnitude));
                // Behind the largest comes what would be next.
                let step = match magnitude {
                    0x7fff => 0.0,
                    last if last >= largest => number - f64::from(value(last - 1)),
                    magnitude => f64::from(value(magnitude + 1)) - number,
                };
                let between = number + step * f64::from(quarters) / 4.0;
                if code & 0x8000 == 0 { between } else { -between }
            };
            // An f32 has the bits for all of these, and so has an f64.
            let words: Vec<u32> =
                codes.iter().map(|code| (between(*code) as f32).to_bits()).collect();
            for mode in ["rn", "rz", "rm", "rp"] {
                for from in ["f32", "f64"] {
                    if from == "f32" && !matches!(mode, "rn" | "rz") {
                        continue;
                    }
                    let convert = match from {
                        "f32" => format!("cvt.{mode}.{name}.f32 half, low;"),
                        _ => format!("cvt.f64.f32 %rd7, low; cvt.{mode}.{name}.f64 half, %rd7;"),
                    };
                    let text = format!(
                        "{{ .reg .f64 %rd7; mov.b32 low, a; {convert} cvt.u32.u16 d, half; }}"
                    );
                    for (code, got) in codes.iter().zip(execute("sm_90", &text, &words)) {
                        let (sign, magnitude) = (code & 0x8000, code & 0x7fff);
                        if magnitude > largest {
                            continue;
                        }
                        let is_up = match (mode, quarters) {
                            (_, 0) | ("rz", _) => false,
                            ("rn", 2) => magnitude & 1 == 1,
                            ("rn", quarters) => quarters == 3,
                            ("rm", _) => sign != 0,
                            _ => sign == 0,
                        };
                        // The code behind the largest number is that of infinity.
                        let expected = sign | (magnitude + u16::from(is_up));
                        assert_eq!(got, u32::from(expected), "{text} of {code:#x}, {quarters}");
                    }
                }
            }
        }
    }
}

#[test]
fn older_devices_have_none() {
    let text = |target: &str| {
        format!(
            ".version 8.6\n.target {target}\n.address_size 64\n.visible .entry k() {{\n\
             .reg .b16 h; .reg .b32 r; cvt.rn.f16x2.e4m3x2 r, h; ret;\n}}\n"
        )
    };
    let refusal = |target: &str| {
        let module = Module::parse(&text(target)).unwrap();
        let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]);
        run(&module, &mut Memory::default(), &launch, &Options::default()).err()
    };
    let refused = refusal("sm_80").unwrap().to_string();
    assert!(refused.contains("needs compute capability 8.9"), "{refused}");
    assert!(refusal("sm_90").is_none());
}

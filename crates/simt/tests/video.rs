//! Video instructions, against the words of the PTX ISA.

use simt::{Launch, Memory, Module, Options, run};

/// Returns what an instruction makes of each row of three words.
fn execute(instruction: &str, rows: &[[u32; 3]]) -> Vec<u32> {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 from, .param .u64 to) {{\n\
         .reg .b32 a, b, c, d, i; .reg .b64 %rd<5>;\n\
         ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; mov.u32 i, %tid.x;\n\
         mad.wide.u32 %rd3, i, 12, %rd1; mad.wide.u32 %rd4, i, 4, %rd2;\n\
         ld.global.b32 a, [%rd3]; ld.global.b32 b, [%rd3+4]; ld.global.b32 c, [%rd3+8];\n\
         {instruction};\nst.global.b32 [%rd4], d; ret;\n}}\n"
    );
    let module = Module::parse(&text).unwrap();
    let mut memory = Memory::default();
    let from = memory.allocate(12 * rows.len() as u64).unwrap();
    let to = memory.allocate(4 * rows.len() as u64).unwrap();
    let bytes: Vec<u8> = rows.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    memory.write(from, &bytes).unwrap();
    let launch = Launch::new("k", [1, 1, 1], [rows.len() as u32, 1, 1]).address(from).address(to);
    run(&module, &mut memory, &launch, &Options::default())
        .unwrap_or_else(|error| panic!("{instruction}: {error}"));
    let mut bytes = vec![0; 4 * rows.len()];
    memory.read(to, &mut bytes).unwrap();
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// Words whose parts are near every limit, and others.
fn rows() -> Vec<[u32; 3]> {
    let mut state = 41_u64;
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let bytes: [u8; 4] = ((state >> 32) as u32).to_le_bytes();
        let limits = [0, 1, 0x7f, 0x80, 0x81, 0xff];
        u32::from_le_bytes(bytes.map(|b| if b & 1 == 0 { limits[b as usize / 2 % 6] } else { b }))
    };
    (0..512).map(|_| [word(), word(), word()]).collect()
}

/// Computes one lane as the ISA says.
fn lane(operation: &str, a: i32, b: i32) -> i32 {
    match operation {
        "vadd" => a + b,
        "vsub" => a - b,
        "vavrg" if a + b >= 0 => (a + b + 1) >> 1,
        "vavrg" => (a + b) >> 1,
        "vabsdiff" => (a - b).abs(),
        "vmin" => a.min(b),
        "vmax" => a.max(b),
        "eq" => (a == b).into(),
        "ne" => (a != b).into(),
        "lt" => (a < b).into(),
        "le" => (a <= b).into(),
        "gt" => (a > b).into(),
        _ => (a >= b).into(),
    }
}

fn part(words: [u32; 2], index: u32, bits: u32, is_signed: bool) -> i32 {
    let both = u64::from(words[1]) << 32 | u64::from(words[0]);
    let value = (both >> (index * bits)) as u32 & ((1 << bits) - 1);
    let shift = 32 - bits;
    if is_signed { (value << shift) as i32 >> shift } else { value as i32 }
}

#[test]
fn every_operation_type_and_end() {
    let rows = rows();
    let operations = ["vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"];
    let comparisons = ["eq", "ne", "lt", "le", "gt", "ge"];
    for (count, bits) in [(2, 16), (4, 8)] {
        for operation in operations.iter().chain(&comparisons) {
            for signs in 0..8_u32 {
                let [d, a, b] =
                    [0, 1, 2].map(|at| if signs >> at & 1 == 1 { "s32" } else { "u32" });
                let name = match comparisons.contains(operation) {
                    true if signs & 1 == 1 => continue,
                    true => format!("vset{count}.{a}.{b}.{operation}"),
                    false => format!("{operation}{count}.{d}.{a}.{b}"),
                };
                for end in ["", ".sat", ".add"] {
                    if end == ".sat" && name.starts_with("vset") {
                        continue;
                    }
                    let got = execute(&format!("{name}{end} d, a, b, c"), &rows);
                    for ([a, b, c], got) in rows.iter().zip(got) {
                        let mut expected = if end == ".add" { *c } else { 0 };
                        for i in 0..count {
                            let x = part([*a, 0], i, bits, signs & 2 != 0);
                            let y = part([*b, 0], i, bits, signs & 4 != 0);
                            let mut t = lane(operation, x, y);
                            if end == ".sat" {
                                let (low, high) = match signs & 1 == 1 {
                                    true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
                                    false => (0, (1 << bits) - 1),
                                };
                                t = t.clamp(low, high);
                            }
                            if end == ".add" {
                                expected = expected.wrapping_add(t as u32);
                            } else {
                                expected |= (t as u32 & ((1 << bits) - 1)) << (i * bits);
                            }
                        }
                        assert_eq!(got, expected, "{name}{end} of {a:#x}, {b:#x}, {c:#x}");
                    }
                }
            }
        }
    }
}

#[test]
fn parts_are_picked_and_masked() {
    let row = [[0x4433_2211, 0x8877_6655, 0xddcc_bbaa]];
    let one = |instruction: &str| execute(instruction, &row)[0];
    assert_eq!(one("vadd4.u32.u32.u32 d, a, b, c"), 0xccaa_8866);
    assert_eq!(one("vadd4.u32.u32.u32 d.b20, a, b, c"), 0xddaa_bb66);
    assert_eq!(one("vadd4.u32.u32.u32.add d.b1, a, b, c"), 0xddcc_bbaa + 0x88);
    assert_eq!(one("vmax4.u32.u32.u32 d, a.b0123, b.b0000, c"), 0x1122_3344);
    assert_eq!(one("vsub4.u32.u32.u32 d, a.b7654, b, c"), 0);
    assert_eq!(one("vadd2.u32.u32.u32 d.h1, a, b.h01, c"), 0x6644_bbaa);
    assert_eq!(one("vadd2.u32.u32.u32 d, a.h32, b, c"), 0x10ee_ccaa);
}

#[test]
fn pairs_of_16_bits_are_computed_apart_and_relu_cuts_at_0() {
    let signed = |word: u32, index: u32| (word >> (16 * index)) as i16;
    for (name, is_relu) in [("min", false), ("max", false), ("min", true), ("max", true)] {
        let relu = if is_relu { ".relu" } else { "" };
        let rows = rows();
        let found = execute(&format!("{name}.s16x2{relu} d, a, b"), &rows);
        for ([a, b, _], found) in rows.iter().zip(found) {
            for index in 0..2 {
                let (a, b) = (signed(*a, index), signed(*b, index));
                let chosen = if name == "min" { a.min(b) } else { a.max(b) };
                let expected = if is_relu { chosen.max(0) } else { chosen };
                assert_eq!(signed(found, index), expected, "{name}.s16x2{relu} of {a} and {b}");
            }
        }
    }
}

#[test]
fn whole_words_have_a_second_operation() {
    let rows = rows();
    for (instruction, reference) in [
        (
            "vsub.u32.u32.u32.add d, a, b, c",
            (|[a, b, c]| a.wrapping_sub(b).wrapping_add(c)) as fn([u32; 3]) -> u32,
        ),
        ("vadd.u32.u32.u32 d, a, b", |[a, b, _]| a.wrapping_add(b)),
        ("vadd.s32.s32.s32.sat d, a, b", |[a, b, _]| (a as i32).saturating_add(b as i32) as u32),
        ("vsub.u32.u32.u32.sat d, a, b", |[a, b, _]| a.saturating_sub(b)),
        ("vabsdiff.u32.s32.s32 d, a, b", |[a, b, _]| (a as i32).abs_diff(b as i32)),
        ("vmin.s32.s32.s32.max d, a, b, c", |[a, b, c]| {
            (a as i32).min(b as i32).max(c as i32) as u32
        }),
        ("vmax.u32.u32.u32.min d, a, b, c", |[a, b, c]| a.max(b).min(c)),
        // The sign of a source counts, not that of the result: -1 is the smaller one.
        ("vmin.u32.s32.u32 d, a, b", |[a, b, _]| i64::from(a as i32).min(b.into()) as u32),
    ] {
        let expected: Vec<u32> = rows.iter().map(|row| reference(*row)).collect();
        assert_eq!(execute(instruction, &rows), expected, "{instruction}");
    }
}

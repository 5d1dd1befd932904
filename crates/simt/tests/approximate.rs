//! The approximate functions equal the H200's, over whole sweeps of inputs: `fixtures/mufu.json`
//! holds the hash of what the GPU computed for each.

use crate::chosen::chosen;
use simt::{Launch, Memory, Module, Options, run};

/// Functions that are only within the documented error.
const INEXACT: [&str; 1] = ["tanh"];

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ *byte as u64).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn sweeps_equal_the_gpu() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../simt/fixtures");
    let module = std::fs::read_to_string(format!("{folder}/ptx/mufu.ptx")).unwrap();
    let module = Module::parse(&module).unwrap();
    let index = std::fs::read_to_string(format!("{folder}/mufu.json")).unwrap();
    let index: serde_json::Value = serde_json::from_str(&index).unwrap();
    let sweeps = index["sweeps"].as_array().unwrap();
    assert_eq!(sweeps.len(), 68);
    let mut memory = Memory::default();
    let out = memory.allocate(4 << 24).unwrap();
    let options = Options { counters: false, ..Options::default() };
    for sweep in chosen(sweeps) {
        let function = sweep["function"].as_str().unwrap();
        let number = |key: &str| sweep[key].as_u64().unwrap() as u32;
        let exact = !INEXACT.contains(&function);
        let count = if exact { number("count") } else { 1 << 12 };
        let launch = Launch::new(&format!("mufu_{function}"), [count / 256, 1, 1], [256, 1, 1])
            .address(out)
            .u32(number("first"))
            .u32(number("step"));
        memory.fill(out, 0xff, 4 * count as usize).unwrap();
        run(&module, &mut memory, &launch, &options).unwrap();
        let mut bytes = vec![0; 4 * count as usize];
        memory.read(out, &mut bytes).unwrap();
        let equal = format!("{:016x}", fnv1a(&bytes)) == sweep["fnv1a"].as_str().unwrap();
        assert_eq!(equal, exact, "{function}, sweep {}", sweep["label"]);
        let kernel = module.kernel(&format!("mufu_{function}")).unwrap();
        assert_eq!(kernel.is_approximate(), !exact, "{function}");
    }
}

/// Runs `instruction %f3, %f1, %f2` (or without `%f2`) on one lane.
fn single(instruction: &str, a: f32, b: f32) -> u32 {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 p, .param .f32 a, .param .f32 b) {{\n\
         .reg .f32 %f<4>; .reg .b64 %rd<2>;\n\
         ld.param.u64 %rd1, [p]; ld.param.f32 %f1, [a]; ld.param.f32 %f2, [b];\n\
         {instruction};\nst.global.f32 [%rd1], %f3; ret;\n}}\n"
    );
    let module = Module::parse(&text).unwrap();
    let mut memory = Memory::default();
    let out = memory.allocate(4).unwrap();
    let launch = Launch::new("k", [1, 1, 1], [1, 1, 1]).address(out).f32(a).f32(b);
    run(&module, &mut memory, &launch, &Options::default()).unwrap();
    let mut bytes = [0; 4];
    memory.read(out, &mut bytes).unwrap();
    u32::from_le_bytes(bytes)
}

#[test]
fn ends_of_the_range() {
    let tiny = f32::from_bits(3);
    let cases = [
        ("rcp.approx.f32 %f3, %f1", tiny, f32::INFINITY),
        ("rcp.approx.f32 %f3, %f1", f32::MAX, f32::from_bits(0x0020_0000)),
        ("rcp.approx.ftz.f32 %f3, %f1", f32::MAX, 0.0),
        ("rcp.approx.ftz.f32 %f3, %f1", -tiny, f32::NEG_INFINITY),
        ("sqrt.approx.f32 %f3, %f1", f32::from_bits(1 << 7), f32::from_bits(0x1c00_0000)),
        ("sqrt.approx.ftz.f32 %f3, %f1", tiny, 0.0),
        ("rsqrt.approx.ftz.f32 %f3, %f1", tiny, f32::INFINITY),
        ("ex2.approx.f32 %f3, %f1", -149.0, f32::from_bits(1)),
        ("ex2.approx.ftz.f32 %f3, %f1", -149.0, 0.0),
        ("lg2.approx.f32 %f3, %f1", f32::from_bits(1 << 20), -129.0),
        ("lg2.approx.ftz.f32 %f3, %f1", f32::from_bits(1 << 20), f32::NEG_INFINITY),
    ];
    for (instruction, a, expected) in cases {
        let found = f32::from_bits(single(instruction, a, 0.0));
        let close = (found - expected).abs() <= expected.abs() * 1e-6;
        assert!(found == expected || close, "{instruction} of {a:e}: {found:e}");
    }
    assert_eq!(single("sqrt.approx.f32 %f3, %f1", -1.0, 0.0), 0x7fff_ffff);
}

/// Results of an H200: the whole numbers and halves below zero, and arguments beside them. The
/// sweeps of `fixtures/mufu.json` step over these.
#[test]
fn powers_of_two_below_zero_are_exact() {
    let check = |instruction: &str, argument: f32, expected: u32| {
        let found = single(&format!("{instruction} %f3, %f1"), argument, 0.0);
        assert_eq!(
            found, expected,
            "{instruction} of {argument:e}: {found:#x} is not {expected:#x}"
        );
    };
    for whole in 0..=169 {
        let normal = if whole <= 126 { (127 - whole) << 23 } else { 0 };
        let subnormal = match whole {
            // Its root, 2^-63.5, is cut; the square shows it.
            127 => 0x003f_ffff,
            128..=149 => 1 << (149 - whole),
            _ => normal,
        };
        check("ex2.approx.ftz.f32", -(whole as f32), normal);
        check("ex2.approx.f32", -(whole as f32), subnormal);
    }
    for whole in 0..=125 {
        let expected = (0x3f35_04f2_u32) - (whole << 23);
        check("ex2.approx.ftz.f32", -(whole as f32) - 0.5, expected);
        check("ex2.approx.f32", -(whole as f32) - 0.5, expected);
    }
    let beside: [(u32, u32); 10] = [
        (0xbf80_0001, 0x3eff_fffe),
        (0xbf80_0002, 0x3eff_fffc),
        (0xc000_0001, 0x3e7f_fffc),
        (0xbf7f_ffff, 0x3f00_0000),
        (0xbf00_0001, 0x3f35_04f2),
        (0xbeff_ffff, 0x3f35_04f3),
        (0xb400_0000, 0x3f7f_fffe),
        (0xb380_0000, 0x3f80_0000),
        (0xc2fd_0000, 0x005a_8279),
        (0xc315_8000, 0x0000_0001),
    ];
    for (argument, expected) in beside {
        check("ex2.approx.f32", f32::from_bits(argument), expected);
    }
}

#[test]
fn quotients_scale_as_documented() {
    let huge = f32::from_bits(0x7f00_0000);
    for (instruction, expected) in [
        // Above 2^126 the reciprocal is subnormal: only `div.full` scales it.
        ("div.full.f32 %f3, %f1, %f2", 1.0),
        ("div.full.ftz.f32 %f3, %f1, %f2", 1.0),
        ("div.approx.f32 %f3, %f1, %f2", 0.0),
        ("div.approx.ftz.f32 %f3, %f1, %f2", 0.0),
    ] {
        assert_eq!(f32::from_bits(single(instruction, huge, huge)), expected, "{instruction}");
    }
    let tiny = f32::from_bits(1 << 10);
    assert_eq!(f32::from_bits(single("div.approx.f32 %f3, %f1, %f2", tiny, tiny)), 1.0);
    assert_eq!(single("div.approx.ftz.f32 %f3, %f1, %f2", tiny, tiny), 0x7fff_ffff);
    assert_eq!(f32::from_bits(single("div.full.f32 %f3, %f1, %f2", 10.0, 4.0)), 2.5);
}

//! The approximate functions equal the H200's, over whole sweeps of inputs: `fixtures/mufu.json`
//! holds the hash of what the GPU computed for each.
#![cfg(not(debug_assertions))]

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
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    let module = std::fs::read_to_string(format!("{folder}/ptx/mufu.ptx")).unwrap();
    let module = Module::parse(&module).unwrap();
    let index = std::fs::read_to_string(format!("{folder}/mufu.json")).unwrap();
    let index: serde_json::Value = serde_json::from_str(&index).unwrap();
    let sweeps = index["sweeps"].as_array().unwrap();
    assert_eq!(sweeps.len(), 23);
    let mut memory = Memory::default();
    let out = memory.allocate(4 << 24).unwrap();
    let options = Options { counters: false, ..Options::default() };
    for sweep in sweeps {
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

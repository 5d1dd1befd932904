//! Compute capability 10.0: PTX by nvcc from `corpus/blackwell.cu`. The rules are those of the PTX ISA; no GPU has confirmed
//! them.

use simt::{Checks, Launch, Memory, Module, Options, Report, run};

const BLOCKS: u32 = 3;
const THREADS: u32 = 64;

fn module() -> Module {
    Module::parse(include_str!("corpus/blackwell.ptx")).expect("nvcc's PTX parses")
}

fn checked() -> Options {
    Options { checks: Checks::all(), ..Options::default() }
}

/// Launches a kernel of an input and an output of as many bytes.
fn copy(kernel: &str, input: &[u8], skew: u64) -> (Result<Report, simt::Error>, Vec<u8>) {
    let mut memory = Memory::default();
    let size = input.len() as u64 + 32;
    let [source, target] = [(); 2].map(|()| memory.allocate(size).expect("there is memory"));
    memory.write(source + skew, input).expect("it is allocated");
    let launch = Launch::new(kernel, [BLOCKS, 1, 1], [THREADS, 1, 1]);
    let launch = launch.address(source + skew).address(target);
    let report = run(&module(), &mut memory, &launch, &checked());
    let mut output = vec![0; input.len()];
    memory.read(target, &mut output).expect("it is allocated");
    (report, output)
}

/// A warp asks for 32 lanes x 32 bytes: 32 sectors of 8 lines, in one request.
#[test]
fn an_access_of_32_bytes_is_one_request_of_a_sector_for_each_lane() {
    let input: Vec<u8> = (0..BLOCKS * THREADS * 32).map(|at| (at % 251) as u8).collect();
    for kernel in ["wide", "wide64"] {
        let (report, output) = copy(kernel, &input, 0);
        assert_eq!(output, input, "{kernel}");
        let counters = report.expect("it runs").counters;
        let warps = u64::from(BLOCKS * THREADS / 32);
        for counts in [counters.global_load, counters.global_store] {
            assert_eq!(counts.sectors_ideal, 32 * warps, "{kernel}");
            assert_eq!((counts.requests, counts.sectors), (warps, 32 * warps), "{kernel}");
        }
    }
}

#[test]
fn an_access_of_32_bytes_is_aligned_to_them() {
    let input = vec![1; (BLOCKS * THREADS * 32) as usize];
    let (report, _) = copy("wide", &input, 16);
    let error = report.expect_err("16 bytes off").to_string();
    assert!(error.contains("misaligned") && error.contains("32 bytes"), "{error}");
}

#[test]
fn older_targets_have_no_access_of_32_bytes() {
    let text = include_str!("corpus/blackwell.ptx").replace("sm_120a", "sm_90");
    let module = Module::parse(&text).expect("it is PTX");
    for kernel in ["wide", "wide64"] {
        let launch = Launch::new(kernel, [1, 1, 1], [32, 1, 1]).address(256).address(256);
        let error = run(&module, &mut Memory::default(), &launch, &checked());
        let error = error.expect_err("sm_90 has none").to_string();
        assert!(error.contains("needs compute capability 10.0"), "{error}");
    }
}

/// Each block does its own work: no cluster is left that could be cancelled.
#[test]
fn launch_control_answers_that_nothing_was_cancelled() {
    let mut memory = Memory::default();
    memory.track_initialization();
    let out = memory.allocate(u64::from(4 * BLOCKS * THREADS)).expect("there is memory");
    let answers = memory.allocate(u64::from(4 * BLOCKS)).expect("there is memory");
    let launch = Launch::new("steal", [BLOCKS, 1, 1], [THREADS, 1, 1]);
    let launch = launch.address(out).address(answers);
    let report = run(&module(), &mut memory, &launch, &checked()).expect("it runs");
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    let mut bytes = vec![0xcd; (4 * BLOCKS * THREADS) as usize];
    memory.read(out, &mut bytes).expect("it is allocated");
    let expected: Vec<u8> =
        (0..BLOCKS * THREADS).flat_map(|at| (at / THREADS + 1).to_le_bytes()).collect();
    assert_eq!(bytes, expected);
    let mut bytes = vec![0xcd; 4 * BLOCKS as usize];
    memory.read(answers, &mut bytes).expect("it is allocated");
    assert_eq!(bytes, vec![0; 4 * BLOCKS as usize]);
}

/// A float of few bits by its definition: sign, exponent and fraction, without infinities.
fn narrow(code: u32, exponent: u32, fraction: u32) -> f64 {
    let bits = exponent + fraction;
    let magnitude = code & ((1 << bits) - 1);
    let (power, rest) = (magnitude >> fraction, f64::from(magnitude & ((1 << fraction) - 1)));
    let bias = (1 << (exponent - 1)) - 1;
    let unit = 2.0_f64.powi(-(fraction as i32));
    let number = match power as i32 {
        0 => rest * unit * 2.0_f64.powi(1 - bias),
        power => (1.0 + rest * unit) * 2.0_f64.powi(power - bias),
    };
    if code >> bits & 1 == 1 { -number } else { number }
}

/// A product with scales: a matrix's codes by row (of B, column) and place along K, its scales' codes by row and block.
struct Product {
    kernel: &'static str,
    k: usize,
    scales: usize,
    /// Bits of the exponent and the fraction of an element.
    format: [u32; 2],
    /// Byte and lane of the scales of A, and of B.
    selected: [[usize; 2]; 2],
    scale: fn(u32) -> f64,
}

/// Compares a product with exact sums. Lanes have what the PTX ISA's figures give them, and other bytes are no scales.
fn check(product: &Product) {
    let Product { kernel, k, scales, format, selected, scale } = product;
    let mut state = 1_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 16
    };
    let mut codes = |rows: usize, count: usize, most: u32| -> Vec<Vec<u32>> {
        (0..rows).map(|_| (0..count).map(|_| random() % most).collect()).collect()
    };
    // No code of an element or a scale is NaN.
    let sign = 1 << (format[0] + format[1]);
    let most = sign - u32::from(sign == 1 << 7);
    let [a, b] = [16, 8].map(|rows| {
        let signs = codes(rows, *k, 2);
        let magnitudes = codes(rows, *k, most);
        let with_sign = |(magnitudes, signs): (&Vec<u32>, &Vec<u32>)| {
            magnitudes
                .iter()
                .zip(signs)
                .map(|(code, is_negative)| code | (is_negative * sign))
                .collect()
        };
        magnitudes.iter().zip(&signs).map(with_sign).collect::<Vec<Vec<u32>>>()
    });
    let [scales_of_a, scales_of_b] = [16, 8].map(|rows| codes(rows, *scales, 24));
    let offset = if *scales == 1 { 116 } else { 40 };
    let c: Vec<Vec<f32>> = codes(16, 8, 4096)
        .iter()
        .map(|row| row.iter().map(|&n| n as f32 / 8.0).collect())
        .collect();
    let per = k / 8;
    let pack = |values: &[u32]| {
        values.iter().enumerate().fold(0, |word, (at, code)| word | code << (32 / per * at))
    };
    let mut words: [Vec<u32>; 5] = Default::default();
    for lane in 0..32 {
        let (group, place) = (lane / 4, lane % 4);
        for r in 0..4 {
            let from = 4 * per * (r / 2) + per * place;
            words[0].push(pack(&a[group + 8 * (r % 2)][from..from + per]));
            words[2].push(c[group + 8 * (r / 2)][2 * place + r % 2].to_bits());
        }
        for r in 0..2 {
            let from = 4 * per * r + per * place;
            words[1].push(pack(&b[group][from..from + per]));
        }
        let [[byte_a, pair], [byte_b, thread]] = *selected;
        let of_row = |codes: &[u32], byte: usize| {
            let bytes = codes.iter().enumerate();
            bytes.fold(0, |word, (at, code)| word | (code + offset) << (8 * (byte + at)))
        };
        let row = group + 8 * (place % 2);
        words[3].push(if place / 2 == pair { of_row(&scales_of_a[row], byte_a) } else { !0 });
        words[4].push(if place == thread { of_row(&scales_of_b[group], byte_b) } else { !0 });
    }
    let mut memory = Memory::default();
    let mut launch = Launch::new(kernel, [1, 1, 1], [32, 1, 1]);
    for words in &words {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let address = memory.allocate(bytes.len() as u64).expect("there is memory");
        memory.write(address, &bytes).expect("it is allocated");
        launch = launch.address(address);
    }
    let target = memory.allocate(4 * 128).expect("there is memory");
    run(&module(), &mut memory, &launch.address(target), &checked()).expect("it runs");
    let mut found = [0; 4 * 128];
    memory.read(target, &mut found).expect("it is allocated");
    let value = |code: u32| narrow(code, format[0], format[1]);
    for (at, bytes) in found.chunks(4).enumerate() {
        let (lane, r) = (at / 4, at % 4);
        let (row, column) = (lane / 4 + 8 * (r / 2), 2 * (lane % 4) + r % 2);
        let term = |i: usize| {
            let block = i * scales / k;
            let factor = scale(scales_of_a[row][block] + offset)
                * scale(scales_of_b[column][block] + offset);
            value(a[row][i]) * value(b[column][i]) * factor
        };
        let terms: Vec<f64> = (0..*k).map(term).collect();
        let c = f64::from(c[row][column]);
        let exact = terms.iter().sum::<f64>() + c;
        let size = terms.iter().map(|term| term.abs()).sum::<f64>() + c.abs();
        let found = f64::from(f32::from_le_bytes(bytes.try_into().expect("four bytes")));
        assert!((found - exact).abs() <= size * 2.0_f64.powi(-24), "{kernel}: {found} {exact}");
        assert!(exact != 0.0, "{kernel}: it is a test");
    }
}

#[test]
fn a_product_with_scales_is_exact_to_single_precision() {
    check(&Product {
        kernel: "mx_e4m3",
        k: 32,
        scales: 1,
        format: [4, 3],
        selected: [[1, 0], [2, 3]],
        scale: |code| 2.0_f64.powi(code as i32 - 127),
    });
    check(&Product {
        kernel: "mx_e2m1",
        k: 64,
        scales: 4,
        format: [2, 1],
        selected: [[0, 1], [0, 2]],
        scale: |code| narrow(code, 4, 3),
    });
}

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

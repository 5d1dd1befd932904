//! The kernels that LLVM would break, executed and, where `ptxas` is here, assembled.

use crate::kernels_source::builder;
use cuda_builder::{KernelFacts, NvvmArch, kernel_facts};
use simt::{Checks, Launch, Memory, Module, Options, run};

/// Threads per block, as in the kernels crate.
const THREADS: u32 = 64;

/// A kernel, its arguments after the target, and what thread `t` must write.
type Regression = (&'static str, &'static [u32], fn(u32) -> u32);

const KERNELS: [Regression; 10] = [
    ("load_is_not_hoisted", &[100], |_| 5050),
    ("constant_indices", &[], |_| 42),
    ("stored_once", &[], |_| 1),
    ("lone_store", &[], |t| (t + 33) % THREADS * 3),
    ("common_first", &[], |t| (t + 1) % THREADS),
    ("common_second", &[], |t| (t + 2) % THREADS),
    ("helper_twice", &[], |t| (t + 40) % THREADS + 5),
    ("two_helpers_of_one_name", &[], |t| 2 * ((t + 32) % THREADS) + 1000),
    ("aligned_vectors", &[], |t| (t + 1) % THREADS + 6),
    ("barrier_between_branches", &[], |_| 7),
];

const FOLDER: &str = "crates/cuda_builder/tests/regressions";

pub fn ptx(arch: NvvmArch) -> String {
    let path = builder(FOLDER, arch).build().expect("the regression kernels compile");
    std::fs::read_to_string(path).expect("the builder wrote it")
}

/// No other test builds for this architecture, so that no other finds this bitcode.
#[test]
fn constant_memory_that_is_too_large_is_refused_by_name() {
    let features = ["--features", "constant_too_large"];
    let error = builder(FOLDER, NvvmArch::Compute80).build_args(&features).build();
    assert_eq!(
        error.expect_err("65 KiB are more than constant memory has").to_string(),
        "constant memory has 65536 bytes, but the kernels' constant statics need 66560, `TOO_LARGE` \
         alone 66560: pass the largest as a slice, or make it `#[address_space(global)]`"
    );
}

fn facts(text: &str) -> Vec<KernelFacts> {
    kernel_facts(&ptx::parse(text).expect("our own PTX parses"))
}

#[test]
fn kernels_compute_what_their_source_says() {
    let text = ptx(NvvmArch::Compute90);
    let module = Module::parse(&text).expect("our own PTX parses");
    let entries = facts(&text);
    assert_eq!(entries.len(), KERNELS.len(), "every kernel of the crate is in the table");
    for (name, arguments, expected) in KERNELS {
        let mut memory = Memory::new(1 << 20);
        let target = memory.allocate(u64::from(THREADS) * 4).expect("a small allocation");
        memory.write(target, &[0xFF; THREADS as usize * 4]).expect("the allocation exists");
        let mut launch = Launch::new(name, [1, 1, 1], [THREADS, 1, 1]).address(target);
        for argument in arguments {
            launch = launch.u32(*argument);
        }
        let options = Options { checks: Checks::all(), ..Options::default() };
        let report = run(&module, &mut memory, &launch, &options)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(report.findings.is_empty(), "{name}: {}", report.findings[0]);
        let mut bytes = [0; THREADS as usize * 4];
        memory.read(target, &mut bytes).expect("the allocation exists");
        for (thread, word) in (0..).zip(bytes.chunks_exact(4)) {
            let word = u32::from_ne_bytes([word[0], word[1], word[2], word[3]]);
            assert_eq!(word, expected(thread), "{name}, thread {thread}");
        }
    }
}

#[test]
fn shared_accesses_are_shared_and_barriers_are_kept() {
    for arch in [NvvmArch::Compute70, NvvmArch::Compute90] {
        for kernel in facts(&ptx(arch)) {
            let count = |prefix: &str| -> usize {
                let found = kernel.instructions.iter().filter(|(name, _)| name.starts_with(prefix));
                found.map(|(_, count)| count).sum()
            };
            assert!(count("ld.shared") > 0, "{}: no ld.shared", kernel.kernel);
            assert!(count("st.shared") > 0, "{}: no st.shared", kernel.kernel);
            assert_eq!(count("ld.b") + count("st.b"), 0, "{}: a generic access", kernel.kernel);
            let barriers = count("bar.sync") + count("barrier.sync");
            let expected = match kernel.kernel.as_str() {
                // The loop is unrolled, so that its barriers are written more than once.
                "load_is_not_hoisted" => continue,
                "stored_once" => 3,
                "barrier_between_branches" => 2,
                _ => 1,
            };
            assert_eq!(barriers, expected, "{}: barriers", kernel.kernel);
        }
    }
}

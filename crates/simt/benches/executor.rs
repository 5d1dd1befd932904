//! Warp-instructions per second of the executor: GEMM, transpose, reduction, a rustc-generated loop.
//!
//! A plain program: one warm-up, then the best of five runs per case, with counters on, with
//! checks on, and without either. `cargo bench -p simt`.

#![allow(clippy::print_stdout)]

use simt::{Checks, Launch, Memory, Module, Options, run};
use std::time::Instant;

struct Case {
    name: &'static str,
    file: &'static str,
    launch: fn(u64, u64, u64) -> Launch,
}

const CASES: &[Case] = &[
    Case {
        name: "gemm 512, 16x16",
        file: "tests/corpus/parallel.ptx",
        launch: |a, b, c| {
            Launch::new("gemm", [32, 32, 1], [16, 16, 1]).address(a).address(b).address(c).u32(512)
        },
    },
    Case {
        name: "transpose 2048",
        file: "tests/corpus/parallel.ptx",
        launch: |a, b, _| {
            Launch::new("transpose", [64, 64, 1], [32, 8, 1]).address(a).address(b).u32(2048)
        },
    },
    Case {
        name: "reduce shared 4M",
        file: "tests/corpus/parallel.ptx",
        launch: |a, b, _| {
            Launch::new("reduce_shared", [16384, 1, 1], [256, 1, 1])
                .address(a)
                .address(b)
                .u32(1 << 22)
                .shared(1024)
        },
    },
    Case {
        name: "rustc loop",
        file: "tests/corpus/rustc.ptx",
        launch: |a, b, _| {
            Launch::new("saxpy_loop", [256, 1, 1], [256, 1, 1])
                .address(a)
                .address(b)
                .f32(1.5)
                .u64(1 << 22)
        },
    },
    Case {
        name: "histogram 4M",
        file: "tests/corpus/parallel.ptx",
        launch: |a, b, _| {
            Launch::new("histogram", [256, 1, 1], [256, 1, 1]).address(a).address(b).u32(1 << 22)
        },
    },
];

fn main() {
    let folder = env!("CARGO_MANIFEST_DIR");
    println!("{:20} {:>10} {:>10} {:>10} M warp-instructions/s", "", "counters", "checks", "bare");
    for case in CASES {
        let Ok(text) = std::fs::read_to_string(format!("{folder}/{}", case.file)) else { continue };
        let module = Module::parse(&text).expect("the corpus parses");
        let rate = |options: &Options| {
            let mut memory = Memory::default();
            let buffers: Vec<u64> =
                (0..3).map(|_| memory.allocate(1 << 24).expect("16 MiB")).collect();
            let launch = (case.launch)(buffers[0], buffers[1], buffers[2]);
            let mut best = 0f64;
            for _ in 0..4 {
                let start = Instant::now();
                let report = run(&module, &mut memory, &launch, options).expect("runs");
                let seconds = start.elapsed().as_secs_f64();
                best = best.max(report.counters.warp_instructions as f64 / seconds / 1e6);
            }
            best
        };
        let counters = rate(&Options::default());
        let checks = rate(&Options { checks: Checks::all(), ..Options::default() });
        let bare = rate(&Options { counters: false, ..Options::default() });
        println!("{:20} {counters:10.1} {checks:10.1} {bare:10.1}", case.name);
    }
}

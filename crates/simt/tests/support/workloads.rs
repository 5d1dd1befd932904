//! Kernels whose speed is measured: matrix product, transpose, reduction, histogram, and a loop by rustc.

use simt::{Launch, Memory, Module, Options, Report, run};

/// A kernel of the corpus with its launch.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    pub name: &'static str,
    file: &'static str,
    /// Takes the addresses of two inputs and an output.
    launch: fn(u64, u64, u64) -> Launch,
}

impl std::fmt::Display for Workload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Elements of the one-dimensional workloads.
const LENGTH: u32 = 1 << 20;
const BYTES: u64 = 4 << 20;

pub const WORKLOADS: &[Workload] = &[
    Workload {
        name: "gemm 256",
        file: "parallel.ptx",
        launch: |a, b, c| {
            let launch = Launch::new("gemm", [16, 16, 1], [16, 16, 1]);
            launch.address(a).address(b).address(c).u32(256)
        },
    },
    Workload {
        name: "transpose 1024",
        file: "parallel.ptx",
        launch: |a, _, c| {
            let launch = Launch::new("transpose", [32, 32, 1], [32, 8, 1]);
            launch.address(a).address(c).u32(1024)
        },
    },
    Workload {
        name: "reduction 1M",
        file: "parallel.ptx",
        launch: |a, _, c| {
            let launch = Launch::new("reduce_shared", [LENGTH / 256, 1, 1], [256, 1, 1]);
            launch.address(a).address(c).u32(LENGTH).shared(1024)
        },
    },
    Workload {
        name: "histogram 1M",
        file: "parallel.ptx",
        launch: |a, _, c| {
            let launch = Launch::new("histogram", [64, 1, 1], [256, 1, 1]);
            launch.address(a).address(c).u32(LENGTH)
        },
    },
    Workload {
        name: "rustc loop 1M",
        file: "rustc.ptx",
        launch: |a, _, c| {
            let launch = Launch::new("saxpy_loop", [64, 1, 1], [256, 1, 1]);
            launch.address(a).address(c).f32(1.5).u64(LENGTH as u64)
        },
    },
];

/// A workload that is ready to run, again and again.
pub struct Prepared {
    module: Module,
    memory: Memory,
    launch: Launch,
}

impl Workload {
    /// Parses the kernel and fills the inputs with words over the whole range.
    pub fn prepare(&self) -> Prepared {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
        let text = std::fs::read_to_string(format!("{folder}/{}", self.file)).unwrap();
        let module = Module::parse(&text).unwrap();
        let mut memory = Memory::default();
        memory.track_initialization();
        let buffers = [0, 1, 2].map(|_| memory.allocate(BYTES).unwrap());
        let words = (0..BYTES as u32 / 4).map(|i| i.wrapping_mul(0x9e37_79b9));
        let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        for buffer in buffers {
            memory.write(buffer, &bytes).unwrap();
        }
        Prepared { module, memory, launch: (self.launch)(buffers[0], buffers[1], buffers[2]) }
    }
}

impl Prepared {
    pub fn run(&mut self, options: &Options) -> Report {
        run(&self.module, &mut self.memory, &self.launch, options).unwrap()
    }
}

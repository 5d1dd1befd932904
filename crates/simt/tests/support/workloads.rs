//! Kernels whose speed is measured: matrix product, transpose, reduction, histogram, a loop by rustc, and products of the
//! tensor cores.

use simt::{Launch, Memory, Module, Options, Report, run};

/// A kernel of the corpus with its launch.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    pub name: &'static str,
    text: fn() -> String,
    /// Multiply-adds of the tensor cores; where there are any, they are what is counted instead of warp-instructions.
    pub multiply_adds: Option<u64>,
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
        text: || corpus("parallel"),
        multiply_adds: None,
        launch: |a, b, c| {
            let launch = Launch::new("gemm", [16, 16, 1], [16, 16, 1]);
            launch.address(a).address(b).address(c).u32(256)
        },
    },
    Workload {
        name: "transpose 1024",
        text: || corpus("parallel"),
        multiply_adds: None,
        launch: |a, _, c| {
            let launch = Launch::new("transpose", [32, 32, 1], [32, 8, 1]);
            launch.address(a).address(c).u32(1024)
        },
    },
    Workload {
        name: "reduction 1M",
        text: || corpus("parallel"),
        multiply_adds: None,
        launch: |a, _, c| {
            let launch = Launch::new("reduce_shared", [LENGTH / 256, 1, 1], [256, 1, 1]);
            launch.address(a).address(c).u32(LENGTH).shared(1024)
        },
    },
    Workload {
        name: "histogram 1M",
        text: || corpus("parallel"),
        multiply_adds: None,
        launch: |a, _, c| {
            let launch = Launch::new("histogram", [64, 1, 1], [256, 1, 1]);
            launch.address(a).address(c).u32(LENGTH)
        },
    },
    Workload {
        name: "rustc loop 1M",
        text: || corpus("rustc"),
        multiply_adds: None,
        launch: |a, _, c| {
            let launch = Launch::new("saxpy_loop", [64, 1, 1], [256, 1, 1]);
            launch.address(a).address(c).f32(1.5).u64(LENGTH as u64)
        },
    },
];

/// Blocks of the products of tensor cores, their loop's turns, and the products of a turn.
const BLOCKS: u64 = 16;
const TURNS: u64 = 32;
const PRODUCTS: u64 = 4;

/// Workloads of the tensor cores.
pub const TENSOR: &[Workload] = &[
    Workload {
        name: "mma.sync bf16",
        text: || products("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4),
        multiply_adds: Some(BLOCKS * TURNS * PRODUCTS * 4 * 16 * 8 * 16),
        launch: |a, _, c| product(a, c),
    },
    Workload {
        name: "mma.sync f16",
        text: || products("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 2),
        multiply_adds: Some(BLOCKS * TURNS * PRODUCTS * 4 * 16 * 8 * 16),
        launch: |a, _, c| product(a, c),
    },
    Workload {
        name: "mma.sync s8",
        text: || products("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 4),
        multiply_adds: Some(BLOCKS * TURNS * PRODUCTS * 4 * 16 * 8 * 32),
        launch: |a, _, c| product(a, c),
    },
    Workload {
        name: "wgmma bf16",
        text: || wide_products("m64n128k16.f32.bf16.bf16", ", 1, 1, 1, 0, 0"),
        multiply_adds: Some(BLOCKS * TURNS * 64 * 128 * 16),
        launch: |a, _, c| product(a, c),
    },
    Workload {
        name: "wgmma e4m3",
        text: || wide_products("m64n128k32.f32.e4m3.e4m3", ", 1, 1, 1"),
        multiply_adds: Some(BLOCKS * TURNS * 64 * 128 * 32),
        launch: |a, _, c| product(a, c),
    },
];

fn product(a: u64, c: u64) -> Launch {
    let launch = Launch::new("k", [BLOCKS as u32, 1, 1], [128, 1, 1]).shared(16384);
    launch.address(a).address(c)
}

fn registers(name: &str, range: std::ops::Range<usize>) -> String {
    let names: Vec<String> = range.map(|r| format!("%{name}{r}")).collect();
    format!("{{{}}}", names.join(", "))
}

/// A kernel `k(a, c)` that does `body` in each turn of a loop. No word of its input has an infinity or NaN.
fn turns(before: &str, body: &str, after: &str) -> String {
    let zeros: String = (0..64).map(|sum| format!("mov.b32 %d{sum}, 0;\n")).collect();
    format!(
        ".version 8.4\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 memory[];\n\
         .visible .entry k(.param .u64 a, .param .u64 c) {{\n\
         .reg .b32 %i<9>, %a<4>, %b<2>, %d<64>; .reg .b64 %p<9>; .reg .pred %q;\n\
         mov.u32 %i1, %tid.x; mov.u32 %i2, %ctaid.x; mad.lo.u32 %i2, %i2, 128, %i1;\n\
         ld.param.u64 %p0, [a]; ld.param.u64 %p1, [c]; mad.wide.u32 %p0, %i2, 128, %p0;\n\
         mad.wide.u32 %p1, %i2, 4, %p1; mov.u32 %i3, 0;\n{zeros}{before}\
         turn:\n{body}add.u32 %i3, %i3, 1; setp.lt.u32 %q, %i3, {TURNS}; @%q bra turn;\n{after}\
         st.global.b32 [%p1], %d0;\nret;\n}}\n"
    )
}

fn products(instruction: &str, sums: usize) -> String {
    let mut before = String::new();
    for (place, register) in ["a0", "a1", "a2", "a3", "b0", "b1"].iter().enumerate() {
        before += &format!("ld.global.b32 %{register}, [%p0+{}];\n", 4 * place);
        before += &format!("and.b32 %{register}, %{register}, 0xbfffbfff;\n");
    }
    let [a, b] = [registers("a", 0..4), registers("b", 0..2)];
    let body = (0..PRODUCTS as usize).map(|product| {
        let d = registers("d", sums * product..sums * (product + 1));
        format!("{instruction} {d}, {a}, {b}, {d};\n")
    });
    turns(&before, &body.collect::<String>(), "")
}

fn wide_products(shape: &str, rest: &str) -> String {
    let mut before = "mov.u32 %i4, memory; mad.lo.u32 %i4, %i1, 48, %i4;\n".to_owned();
    for word in 0..12 {
        before += &format!("ld.global.b32 %i5, [%p0+{}];\n", 4 * word);
        before += "and.b32 %i5, %i5, 0xbfbfbfbf;\n";
        before += &format!("st.shared.b32 [%i4+{}], %i5;\n", 4 * word);
    }
    // Rows of 16 bytes in blocks of eight, 128 bytes along K and 256 along M or N.
    let descriptor = |start: u64| start >> 4 | 8 << 16 | 16 << 32;
    before += &format!(
        "mov.b64 %p2, {}; mov.b64 %p3, {};\n\
         fence.proxy.async.shared::cta; bar.sync 0;\nwgmma.fence.sync.aligned;\n",
        descriptor(0),
        descriptor(2048)
    );
    let d = registers("d", 0..64);
    let body = format!(
        "wgmma.mma_async.sync.aligned.{shape} {d}, %p2, %p3{rest};\n\
         wgmma.commit_group.sync.aligned;\n"
    );
    turns(&before, &body, "wgmma.wait_group.sync.aligned 0;\n")
}

fn corpus(file: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../simt/tests/corpus");
    std::fs::read_to_string(format!("{folder}/{file}.ptx")).unwrap()
}

/// A workload that is ready to run, again and again.
pub struct Prepared {
    module: Module,
    memory: Memory,
    launch: Launch,
}

impl Workload {
    /// Parses the kernel and fills the inputs with words over the whole range.
    pub fn prepare(&self) -> Prepared {
        let module = Module::parse(&(self.text)()).unwrap();
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

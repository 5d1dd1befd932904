use simt::{Checks, Error, Hazard, Launch, Memory, Module, Options, Report, Schedule, run};

pub const W: &str = "st.shared.u32";
pub const R: &str = "ld.shared.u32";
pub const GW: &str = "st.global.u32";
pub const GR: &str = "ld.global.u32";
/// A hazard with its two instructions.
pub type Pair = (Hazard, [&'static str; 2]);
pub const GLOBAL: Pair = (Hazard::GlobalRace, [GW, GR]);
pub const SHARED: Pair = (Hazard::SharedRace, [W, R]);

/// Participants: blocks, threads of a block, blocks of a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Grid(pub u32, pub u32, pub u32);

/// Two blocks of a warp.
pub const BLOCKS: Grid = Grid(2, 32, 1);
/// Two warps of a block.
pub const WARPS: Grid = Grid(1, 64, 1);
pub const WARP: Grid = Grid(1, 32, 1);
/// Two blocks of a cluster.
pub const CLUSTER: Grid = Grid(2, 32, 2);

/// A kernel with its thread in `%r1`, its block in `%r2`, its lane in `%r3`, its warp in `%r4`, the
/// address of its own word of `tile` in `%r5`, a flag of global memory in `%rd2`, data in `%rd1`
/// (its own word of it in `%rd4`), mapped host memory in `%rd3`, `tile` as a generic address in
/// `%rd5`. `%r9` is 7; `%r10` and above are free.
pub fn text(body: &str) -> String {
    format!("{HEAD}{}", entry("k", body))
}

pub const HEAD: &str =
    ".version 8.6\n.target sm_90\n.address_size 64\n.file 1 \"kernel.rs\"\n.file 2 \"helper.rs\"\n";

/// The kernel alone, under a name.
pub fn entry(name: &str, body: &str) -> String {
    format!(
        ".visible .entry {name}(.param .u64 p, .param .u64 q, .param .u64 h) {{\n\
         .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .b16 %h<9>;\n\
         .shared .align 16 .b8 tile[1024]; .shared .align 16 .b8 word[64];\n\
         .loc 1 7 1\n\
         ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u64 %rd3, [h];\n\
         mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; and.b32 %r3, %r1, 31; shr.u32 %r4, %r1, 5;\n\
         mov.u32 %r5, tile; mad.lo.u32 %r5, %r1, 4, %r5; mad.wide.u32 %rd4, %r1, 4, %rd1;\n\
         mov.u64 %rd5, tile; cvta.shared.u64 %rd5, %rd5; mov.u32 %r9, 7; mov.u32 %r8, 0;\n\
         {body}\nEND: ret;\n}}\n"
    )
}

/// Every order that the executor offers, on one thread and on four.
pub fn ways() -> impl Iterator<Item = (Schedule, usize)> {
    let seeded = [1, 2, 3].map(Schedule::Seeded);
    let all = [Schedule::Forward, Schedule::Reverse].into_iter().chain(seeded);
    all.flat_map(|schedule| [(schedule, 1), (schedule, 4)])
}

#[repr(align(16))]
struct Host([u8; 256]);

pub fn outcome(body: &str, grid: Grid, way: (Schedule, usize)) -> Result<Report, Error> {
    let text = text(body);
    let module = match Module::parse(&text) {
        Ok(module) => module,
        Err(error) => panic!("{error}\n{text}"),
    };
    let mut memory = Memory::default();
    memory.track_initialization();
    let data = memory.allocate_named(4096, "data")?;
    let flag = memory.allocate_named(4096, "flag")?;
    memory.fill(data, 0, 4096)?;
    memory.fill(flag, 0, 4096)?;
    let mut host = Host([0; 256]);
    // SAFETY: `host` outlives the launch, and nobody else touches it before `unmap`.
    unsafe { memory.map(0x7000_0000, host.0.as_mut_ptr(), 256)? };
    let launch = Launch::new("k", [grid.0, 1, 1], [grid.1, 1, 1]).clusters([grid.2, 1, 1]);
    let launch = launch.address(data).address(flag).address(0x7000_0000);
    let (schedule, threads) = way;
    let checks = Checks::all();
    let options = Options { checks, schedule, threads, fuel: 2_000_000, ..Options::default() };
    let report = run(&module, &mut memory, &launch, &options);
    memory.unmap(0x7000_0000)?;
    report
}

//! Needs of cooperative groups: a workspace through which all blocks wait, and shared memory of their own.

use simt::{Checks, Launch, Memory, Module, Options, Report, run};

const BLOCKS: u32 = 5;

/// Each block stores a word, waits for all others as `grid.sync()` does, and loads the next block's word.
const GRID: &str = ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry k(.param .u64 data) {
    .reg .pred %p<2>; .reg .b32 %r<16>; .reg .b64 %rd<9>;
    mov.u32 %r0, %envreg2; mov.u32 %r1, %envreg1;
    mov.b64 %rd0, {%r0, %r1};
    ld.param.u64 %rd1, [data]; cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x;
    mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd1, %rd2;
    add.u32 %r4, %r2, 1; st.global.u32 [%rd2], %r4;
    setp.ne.u64 %p0, %rd0, 0; @!%p0 bra done;
    setp.eq.u32 %p0, %r2, 0; sub.u32 %r5, 0x80000001, %r3; selp.u32 %r5, %r5, 1, %p0;
    atom.add.release.gpu.u32 %r6, [%rd0+4], %r5;
again:
    ld.acquire.gpu.u32 %r7, [%rd0+4]; xor.b32 %r7, %r7, %r6; setp.ge.s32 %p0, %r7, 0; @%p0 bra again;
    rem.u32 %r8, %r4, %r3; mul.wide.u32 %rd3, %r8, 4; add.u64 %rd3, %rd1, %rd3;
    ld.global.u32 %r9, [%rd3]; st.global.u32 [%rd2+64], %r9;
done:
    ret;
}";

fn execute(text: &str, blocks: u32, cooperative: bool) -> (Report, Vec<u32>) {
    let module = Module::parse(text).expect("it is PTX");
    let mut memory = Memory::new(1 << 20);
    let data = memory.allocate(128).expect("there is room");
    memory.fill(data, 0, 128).expect("it is there");
    let mut launch = Launch::new("k", [blocks, 1, 1], [1, 1, 1]).u64(data);
    launch.cooperative = cooperative;
    let before = memory.used_bytes();
    let options = Options { checks: Checks::all(), ..Options::default() };
    let report = run(&module, &mut memory, &launch, &options).expect("it runs");
    assert_eq!(memory.used_bytes(), before, "the workspace is given back");
    let mut bytes = [0; 128];
    memory.read(data, &mut bytes).expect("it is there");
    let words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
    (report, words.collect())
}

#[test]
fn all_blocks_of_a_cooperative_launch_wait_for_each_other() {
    let (report, words) = execute(GRID, BLOCKS, true);
    assert_eq!(words[16..21], [2, 3, 4, 5, 1]);
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

/// Waiting for all blocks costs each a short turn: a hundred times as many of them would take minutes otherwise.
#[test]
fn many_rounds_of_waiting_take_few_instructions() {
    const ROUNDS: u32 = 50;
    let text = GRID
        .replace("    atom.add.release", "    mov.u32 %r10, 0;\nround:\n    bar.sync 0; atom.add.release")
        .replace("    rem.u32", &format!("    bar.sync 0; add.u32 %r10, %r10, 1; setp.lt.u32 %p0, %r10, {ROUNDS}; @%p0 bra round;\n    rem.u32"));
    let (report, words) = execute(&text, 16, true);
    assert_eq!(words[16..20], [2, 3, 4, 5]);
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let ran = report.counters.warp_instructions;
    assert!(ran < 16 * u64::from(ROUNDS) * 700, "{ran}");
}

/// Cooperative groups stop the kernel when they find no workspace.
#[test]
fn another_launch_has_no_workspace() {
    assert_eq!(execute(GRID, BLOCKS, false).1[16..21], [0; 5]);
}

#[test]
fn cooperative_groups_have_shared_memory_of_their_own() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n
        .visible .entry k(.param .u64 data) {
            .reg .b32 %r<4>; .reg .b64 %rd<2>;
            .shared .align 4 .b8 own[4];
            ld.param.u64 %rd0, [data]; cvta.to.global.u64 %rd0, %rd0;
            mov.u32 %r0, own; mov.u32 %r1, %reserved_smem_offset_1;
            st.shared.u32 [%r0], 7; st.shared.u32 [%r1], 8; st.shared.u32 [%r1+284], 9;
            ld.shared.u32 %r2, [%r0]; ld.shared.u32 %r3, [%r1];
            st.global.u32 [%rd0], %r2; st.global.u32 [%rd0+4], %r3;
            ret;
        }";
    let (report, words) = execute(text, 1, false);
    assert_eq!(words[..2], [7, 8]);
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

/// The headers clear each bit of it before they read it, and set no word.
#[test]
fn cooperative_groups_find_their_shared_memory_ready() {
    let text = |place: &str| {
        format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n
        .visible .entry k(.param .u64 data) {{
            .reg .b32 %r<4>; .reg .pred %p0; .shared .align 4 .b8 own[4];
            mov.u32 %r0, {place};
            red.shared.and.b32 [%r0], -2; atom.shared.or.b32 %r1, [%r0], 1;
            and.b32 %r1, %r1, 1; setp.ne.u32 %p0, %r1, 0; @%p0 trap;
            ret;
        }}"
        )
    };
    assert_eq!(execute(&text("%reserved_smem_offset_1"), 1, false).0.findings, []);
    assert_ne!(execute(&text("own"), 1, false).0.findings, []);
}

#[test]
fn differences_of_bytes_are_summed() {
    let text = |t: &str| {
        format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n
        .visible .entry k(.param .u64 data) {{
            .reg .b32 %r<4>; .reg .b64 %rd<2>;
            ld.param.u64 %rd0, [data]; cvta.to.global.u64 %rd0, %rd0;
            mov.b32 %r0, 0x01ff0380; mov.b32 %r1, 0x02010500; mov.u32 %r2, 1000;
            vabsdiff4.{t}.{t}.{t}.add %r3, %r0, %r1, %r2;
            st.global.u32 [%rd0], %r3;
            ret;
        }}"
        )
    };
    // 1 - 2, 255 - 1 or -1 - 1, 3 - 5, 128 - 0 or -128 - 0.
    assert_eq!(execute(&text("u32"), 1, false).1[0], 1000 + 1 + 254 + 2 + 128);
    assert_eq!(execute(&text("s32"), 1, false).1[0], 1000 + 1 + 2 + 2 + 128);
}

use crate::spent::spent;
use simt::{Checks, Error, Hazard, Launch, Memory, Module, Options, Report, run};

const BLOCKS: u32 = 40;
const THREADS: u32 = 64;
/// Bytes of the buffer: one word per thread and some more.
const BYTES: usize = (4 * (BLOCKS * THREADS + 256)) as usize;

/// A kernel with its thread's number in `%r1`, its block in `%r2`, the buffer in `%rd1`, its own word's address in
/// `%rd2`.
fn module(body: &str) -> Module {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 p)\n{{\n\
         .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n\
         ld.param.u64 %rd1, [p]; mov.u32 %r3, %tid.x; mov.u32 %r2, %ctaid.x;\n\
         mad.lo.u32 %r1, %r2, {THREADS}, %r3; mad.wide.u32 %rd2, %r1, 4, %rd1;\n\
         {body}\nret;\n}}\n"
    );
    Module::parse(&text).unwrap()
}

fn outcome(
    module: &Module,
    threads: usize,
    findings_max: usize,
) -> (Result<Report, Error>, Vec<u8>) {
    let mut memory = Memory::default();
    memory.track_initialization();
    let buffer = memory.allocate(BYTES as u64).unwrap();
    // The upper half of the threads' words has no content at the start; the word that blocks share has.
    memory.write(buffer, &[1; BYTES / 2]).unwrap();
    memory.write(buffer + BYTES as u64 - 1024, &[0; 4]).unwrap();
    let launch = Launch::new("k", [BLOCKS, 1, 1], [THREADS, 1, 1]).address(buffer);
    let options = Options { checks: Checks::all(), threads, findings_max, ..Options::default() };
    let report = run(module, &mut memory, &launch, &options);
    let mut bytes = vec![0; BYTES];
    memory.read(buffer, &mut bytes).unwrap();
    (report, bytes)
}

/// Runs on one thread and on several, and gives the hazards that all of them found.
fn hazards(body: &str) -> Vec<Hazard> {
    let module = module(body);
    for findings_max in [1, 100] {
        let alone = outcome(&module, 1, findings_max);
        for threads in [2, 3, 8] {
            for _ in 0..3 {
                assert_eq!(outcome(&module, threads, findings_max), alone, "{threads}: {body}");
            }
        }
    }
    let (report, _) = outcome(&module, 1, 100);
    report.unwrap().findings.iter().map(|finding| finding.hazard).collect()
}

#[test]
fn blocks_that_keep_to_their_own_bytes() {
    let half = BLOCKS / 2;
    let found = hazards(&format!(
        "setp.ge.u32 %p1, %r2, {half}; @%p1 bra W;\n\
         ld.global.u32 %r4, [%rd2]; add.u32 %r4, %r4, %r1;\n\
         W: st.global.u32 [%rd2], %r1; red.global.add.u32 [%rd1+{}], 1;",
        4 * BLOCKS * THREADS
    ));
    assert_eq!(found, []);
}

/// Whichever block comes first to a word that nobody wrote, the finding names the first in order.
#[test]
fn atomics_of_all_blocks_on_what_nobody_wrote() {
    let word = 4 * BLOCKS * THREADS - 4;
    let found = hazards(&format!("red.global.add.u32 [%rd1+{word}], 1;"));
    assert_eq!(found, [Hazard::UninitializedGlobal]);
}

#[test]
fn rows_that_cross_the_chunks_of_the_shadow() {
    // Blocks store to words of their own in a megabyte, in rows that begin at any word.
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n\
        .visible .entry k(.param .u64 p) {\n.reg .b32 %r<5>; .reg .b64 %rd<3>;\n\
        ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n\
        mad.lo.u32 %r3, %r2, 256, %r1; mad.wide.u32 %rd2, %r3, 4, %rd1;\n\
        ld.global.u32 %r4, [%rd2]; st.global.u32 [%rd2], %r3; ret;\n}\n";
    let module = Module::parse(text).unwrap();
    for shift in [4, 12, 68, 124] {
        let mut memory = Memory::default();
        memory.allocate(5000).unwrap();
        let buffer = memory.allocate((1 << 20) + 256).unwrap();
        let launch = Launch::new("k", [1024, 1, 1], [256, 1, 1]).address(buffer + shift);
        for threads in [1, 4] {
            let options = Options { checks: Checks::all(), threads, ..Options::default() };
            let report = run(&module, &mut memory, &launch, &options).unwrap();
            assert_eq!(report.findings, []);
        }
    }
}

#[test]
fn every_block_reads_and_nobody_writes() {
    assert_eq!(hazards("ld.global.u32 %r4, [%rd1];"), []);
}

#[test]
fn every_block_writes_one_word() {
    let found = hazards("st.global.u32 [%rd1], %r2;");
    assert_eq!(found, [Hazard::GlobalRace]);
}

#[test]
fn a_block_reads_what_its_neighbour_writes() {
    let found = hazards(
        "setp.ge.u32 %p1, %r1, 300; @%p1 ret;\n\
         ld.global.u32 %r4, [%rd2+256]; st.global.u32 [%rd2], %r4;",
    );
    assert_eq!(found, [Hazard::GlobalRace]);
}

#[test]
fn a_write_after_reads_of_several_blocks() {
    // The last block to read is the one that writes: the readers before it are what it disturbs.
    let last = BLOCKS - 1;
    let found = hazards(&format!(
        "ld.global.u32 %r4, [%rd1]; setp.eq.u32 %p1, %r2, {last}; \
         @%p1 st.global.u32 [%rd1], %r3;"
    ));
    assert!(found.contains(&Hazard::GlobalRace), "{found:?}");
}

#[test]
fn a_plain_write_among_atomics() {
    let found = hazards(
        "setp.eq.u32 %p1, %r2, 7; @%p1 bra W; red.global.add.u32 [%rd1], 1; ret;\n\
         W: st.global.u32 [%rd1], 5;",
    );
    assert_eq!(found, [Hazard::GlobalRace, Hazard::GlobalRace]);
}

#[test]
fn reads_that_a_later_block_would_have_initialized() {
    let words = BLOCKS * THREADS + 200;
    let found = hazards(&format!(
        "setp.eq.u32 %p1, %r2, 20; @%p1 st.global.u32 [%rd1+{0}], 1; \
         @!%p1 ld.global.u32 %r4, [%rd1+{0}];",
        4 * words
    ));
    // The race is the cause, and told alone.
    assert_eq!(found, [Hazard::GlobalRace]);
}

#[test]
fn read_only_loads_of_what_is_written() {
    let found = hazards("st.global.u32 [%rd2], %r1; ld.global.nc.u32 %r4, [%rd2];");
    assert_eq!(found, [Hazard::ReadOnlyWritten]);
}

#[test]
fn an_error_of_one_block() {
    let module = module(
        "st.global.u32 [%rd2], %r1; setp.eq.u32 %p1, %r2, 11; @%p1 trap; \
         st.global.u32 [%rd2], %r3;",
    );
    let alone = outcome(&module, 1, 100);
    assert!(matches!(alone.0, Err(Error::Trap { .. })));
    for threads in [2, 3, 8] {
        assert_eq!(outcome(&module, threads, 100), alone);
    }
}

#[test]
fn only_results_that_are_read_order_the_blocks() {
    let order_dependent = |body| module(body).kernel("k").unwrap().is_order_dependent();
    assert!(!order_dependent("atom.global.add.u32 %r4, [%rd1], 1;"));
    assert!(order_dependent("atom.global.add.u32 %r4, [%rd1], 1; st.global.u32 [%rd2], %r4;"));
    assert!(order_dependent("atom.global.exch.b32 %r4, [%rd1], %r1;"));
    assert!(!order_dependent("atom.shared.add.u32 %r4, [0], 1; add.u32 %r4, %r4, 1;"));
}

/// Runs without checks on several threads; gives the buffer.
fn raced(body: &str, threads: usize) -> Vec<u32> {
    let mut memory = Memory::default();
    let buffer = memory.allocate(BYTES as u64).unwrap();
    let launch = Launch::new("k", [BLOCKS, 1, 1], [THREADS, 1, 1]).address(buffer);
    let options = Options { threads, ..Options::default() };
    run(&module(body), &mut memory, &launch, &options).unwrap();
    let mut bytes = vec![0; BYTES];
    memory.read(buffer, &mut bytes).unwrap();
    bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
}

/// Neighbouring bytes belong to different blocks, and every block stores 4 and 16 bytes to the same
/// places in between: no byte is lost, and no word is torn.
#[test]
fn racing_accesses_of_several_sizes() {
    let shared = 4 * BLOCKS * THREADS;
    let body = format!(
        "mad.lo.u32 %r4, %r3, {BLOCKS}, %r2; cvt.u64.u32 %rd3, %r4; add.u64 %rd3, %rd1, %rd3;\n\
         and.b64 %rd4, %rd3, -16; mul.lo.u32 %r5, %r2, 0x01010101; mov.u32 %r8, 0;\n\
         L: st.global.u8 [%rd3], %r2;\n\
         st.global.v4.u32 [%rd1+{shared}], {{%r5, %r5, %r5, %r5}};\n\
         st.global.u32 [%rd1+{}], %r5;\n\
         ld.global.v4.u32 {{%r4, %r6, %r6, %r6}}, [%rd4];\n\
         ld.global.u8 %r6, [%rd3]; setp.ne.u32 %p1, %r6, %r2; @%p1 trap;\n\
         add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 50; @%p2 bra L;",
        shared + 4
    );
    for threads in [1, 2, 8] {
        let words = raced(&body, threads);
        for byte in 0..BLOCKS * THREADS {
            let found = words[byte as usize / 4] >> (8 * (byte % 4)) & 0xff;
            assert_eq!(found, byte % BLOCKS, "byte {byte} on {threads} threads");
        }
        for word in &words[shared as usize / 4..][..4] {
            let block = word & 0xff;
            assert!(block < BLOCKS && *word == block * 0x0101_0101, "{word:#x}");
        }
    }
}

#[test]
fn bulk_reductions_of_several_blocks_lose_nothing() {
    let body = "mov.u32 %r4, 0; setp.ne.u32 %p1, %r3, 0;\n\
        .shared .align 16 .b8 tile[4096]; mov.u32 %r5, tile; mad.lo.u32 %r6, %r3, 4, %r5;\n\
        L: st.shared.u32 [%r6], 1; add.u32 %r6, %r6, 256; add.u32 %r4, %r4, 1;\n\
        setp.lt.u32 %p2, %r4, 16; @%p2 bra L;\n\
        fence.proxy.async.shared::cta; bar.sync 0; @%p1 ret;\n\
        R: add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 66;\n\
        cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r5], 4096;\n\
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; @%p2 bra R;";
    for threads in [1, 2, 8] {
        let words = raced(body, threads);
        assert_eq!(words[..1024], [50 * BLOCKS; 1024], "{threads} threads");
    }
}

/// Atomics that are sequentially consistent, as those of `cuda::atomic` are unless told otherwise: what the threads know of
/// each other is shared, without which 8192 threads took 15 s.
#[test]
fn sequentially_consistent_atomics_take_no_minutes() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n\
        .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [p]; mov.u32 %r1, 0;\n\
        L: fence.sc.gpu; atom.add.acquire.gpu.global.u32 %r2, [%rd1], 1; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 8;\n\
        @%p1 bra L; ret;\n}\n";
    let module = Module::parse(text).unwrap();
    let seconds = |blocks: u32| -> f64 {
        let mut memory = Memory::default();
        let counter = memory.allocate(4).unwrap();
        memory.fill(counter, 0, 4).unwrap();
        let launch = Launch::new("k", [blocks, 1, 1], [128, 1, 1]).address(counter);
        let options = Options { checks: Checks::all(), threads: 1, ..Options::default() };
        let start = std::time::Instant::now();
        let before = spent(start);
        let report = run(&module, &mut memory, &launch, &options).unwrap();
        let took = spent(start) - before;
        assert_eq!(report.findings, []);
        let mut count = [0; 4];
        memory.read(counter, &mut count).unwrap();
        assert_eq!(u32::from_le_bytes(count), 8 * 128 * blocks);
        took.as_secs_f64()
    };
    let [few, some, many] =
        [32, 64, 256].map(|blocks| (0..3).map(|_| seconds(blocks)).fold(f64::INFINITY, f64::min));
    assert!(some < 0.3, "8192 threads took {some} s");
    // Where each thread looked at all others' times, it was more than 25 times as long.
    assert!(many < 16.0 * few, "4096 threads took {few} s, 32768 {many} s");
}

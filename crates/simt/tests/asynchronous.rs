//! Copies and products that land later: each mistake in their order is found, and its correct twin is not.

use simt::{
    Checks, Error, Finding, Hazard, Launch, Memory, Module, Options, Report, Schedule, run,
};

/// A kernel for one block: the thread's number in `%r1`, true in `%p0` for the first, a buffer of 1024 bytes in `%rd1`, shared
/// arrays `tile` of 256 bytes and `next` behind it, an mbarrier, and matrices for a `wgmma` in `factors`.
fn text(body: &str) -> String {
    format!(
        ".version 8.4\n.target sm_90a\n.address_size 64\n\
         .extern .func (.param .b64 r) malloc (.param .b64 bytes);\n.extern .func free (.param .b64 address);\n\
         .visible .entry k(.param .u64 p)\n{{\n\
         .reg .pred %p<5>; .reg .b32 %r<12>; .reg .b64 %rd<9>; .reg .f32 %f<3>; .reg .b32 %d<16>;\n\
         .reg .b64 %da, %db;\n\
         .shared .align 1024 .b8 factors[2304];\n\
         .shared .align 128 .b8 tile[256]; .shared .align 16 .b8 next[64]; .shared .align 8 .b64 barrier;\n\
         ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; setp.eq.u32 %p0, %r1, 0;\n\
         {body}\nret;\n}}\n"
    )
}

fn outcome(body: &str, threads: u32) -> Result<(Report, Vec<u32>), Error> {
    outcome_in(Schedule::Forward, body, threads)
}

fn outcome_in(schedule: Schedule, body: &str, threads: u32) -> Result<(Report, Vec<u32>), Error> {
    outcome_of(schedule, body, threads, 1024)
}

/// As [`outcome_in`], with a buffer of so many bytes.
fn outcome_of(
    schedule: Schedule,
    body: &str,
    threads: u32,
    size: usize,
) -> Result<(Report, Vec<u32>), Error> {
    let module = Module::parse(&text(body)).unwrap();
    let mut memory = Memory::default();
    memory.track_initialization();
    let buffer = memory.allocate_named(size as u64, "buffer").unwrap();
    let words: Vec<u8> = (0_u32..).flat_map(u32::to_le_bytes).take(size).collect();
    memory.write(buffer, &words).unwrap();
    let launch = Launch::new("k", [1, 1, 1], [threads, 1, 1]).address(buffer);
    let options =
        Options { checks: Checks::all(), fuel: 1_000_000, schedule, ..Options::default() };
    let report = run(&module, &mut memory, &launch, &options)?;
    let mut bytes = vec![0; size];
    memory.read(buffer, &mut bytes).unwrap();
    let words = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    Ok((report, words.collect()))
}

fn findings(body: &str, threads: u32) -> Vec<Finding> {
    outcome(body, threads).unwrap_or_else(|error| panic!("{body}: {error}")).0.findings
}

#[track_caller]
fn found(body: &str, threads: u32, hazard: Hazard, parts: &[&str]) {
    let findings = findings(body, threads);
    let finding = findings.iter().find(|finding| finding.hazard == hazard);
    let Some(finding) = finding else { panic!("{body}: {hazard} is not among {findings:?}") };
    let message = finding.to_string();
    for part in parts {
        assert!(message.contains(part), "`{part}` is missing: {message}");
    }
}

#[track_caller]
fn silent(body: &str, threads: u32) {
    let findings = findings(body, threads);
    assert!(findings.is_empty(), "{body}: {findings:?}");
}

/// The first thread stores 16 bytes to `tile` and starts to copy them to the buffer.
const STORE: &str = "@!%p0 ret; mov.b32 %r2, 77; st.shared.v4.b32 [tile], {%r2, %r2, %r2, %r2}; fence.proxy.async;\n\
                     mov.u32 %r3, tile; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 16;\n\
                     cp.async.bulk.commit_group;";

#[test]
fn a_wait_for_reads_is_none_for_writes() {
    let reads = format!("{STORE} cp.async.bulk.wait_group.read 0;");
    let full = format!("{STORE} cp.async.bulk.wait_group 0;");
    let load = "ld.global.b32 %r4, [%rd1]; st.global.b32 [%rd1+512], %r4;";
    found(&format!("{reads} {load}"), 32, Hazard::GlobalRace, &["waited for the bulk copy"]);
    found(&format!("{STORE} {load}"), 32, Hazard::GlobalRace, &["waited for the bulk copy"]);
    silent(&format!("{full} {load}"), 32);
    // The source may be written after either, and after none it may not.
    let again = "mov.b32 %r2, 78; st.shared.b32 [tile], %r2;";
    silent(&format!("{reads} {again}"), 32);
    silent(&format!("{full} {again}"), 32);
    found(&format!("{STORE} {again}"), 32, Hazard::SharedRace, &["waited for the bulk copy"]);
    // What is read too early is what was there before, and what was copied is what was read.
    assert_eq!(outcome(&format!("{reads} {load}"), 32).unwrap().1[128], 0);
    assert_eq!(outcome(&format!("{full} {load}"), 32).unwrap().1[128], 77);
    assert_eq!(outcome(&format!("{reads} {again}"), 32).unwrap().1[0], 77);
    // A wait that leaves this group under way is none.
    let other = format!("{STORE} cp.async.bulk.commit_group; cp.async.bulk.wait_group 1; {load}");
    silent(&other, 32);
    let one = format!("{STORE} cp.async.bulk.wait_group 1; {load}");
    found(&one, 32, Hazard::GlobalRace, &[]);
}

#[test]
fn another_block_sees_a_bulk_copy_after_its_full_wait() {
    let kernel = |wait: &str| {
        format!(
            "mov.u32 %r5, %ctaid.x; setp.ne.u32 %p1, %r5, 0; @%p1 bra reader;\n{STORE} cp.async.bulk.wait_group{wait} 0;\n\
             fence.proxy.async; mov.b32 %r6, 1; st.release.gpu.global.b32 [%rd1+256], %r6; ret;\n\
             reader: @!%p0 ret; again: ld.acquire.gpu.global.b32 %r6, [%rd1+256]; setp.ne.u32 %p2, %r6, 1; @%p2 bra again;\n\
             ld.global.b32 %r7, [%rd1]; st.global.b32 [%rd1+512], %r7;"
        )
    };
    let run_two = |wait: &str| {
        let module = Module::parse(&text(&kernel(wait))).unwrap();
        let mut memory = Memory::default();
        let buffer = memory.allocate(1024).unwrap();
        let launch = Launch::new("k", [2, 1, 1], [32, 1, 1]).address(buffer);
        let options = Options { checks: Checks::all(), fuel: 1_000_000, ..Options::default() };
        let findings = run(&module, &mut memory, &launch, &options).unwrap().findings;
        findings.iter().map(|finding| finding.hazard).collect::<Vec<_>>()
    };
    assert_eq!(run_two(".read"), [Hazard::GlobalRace]);
    assert_eq!(run_two(""), []);
}

/// The first thread copies from the buffer to `tile`, of which it announces some bytes, and all wait.
fn load(bytes: u32, expected: u32) -> String {
    format!(
        "@%p0 mbarrier.init.shared.b64 [barrier], 1; bar.sync 0; mov.u32 %r3, tile; mov.u32 %r4, barrier;\n\
         @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [barrier], {expected};\n\
         @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], {bytes}, [%r4];\n"
    )
}

const WAIT: &str = "wait: mbarrier.try_wait.parity.shared.b64 %p1, [barrier], 0; @!%p1 bra wait;\n";

#[test]
fn a_phase_that_expects_too_few_bytes_ends_too_early() {
    let read = "ld.shared.b32 %r5, [tile+28]; @%p0 st.global.b32 [%rd1+512], %r5;";
    for threads in [1, 64] {
        let few = format!("{}{WAIT}{read}", load(32, 16));
        found(&few, threads, Hazard::AsyncCopyNotAwaited, &["`tile`", "under way"]);
        silent(&format!("{}{WAIT}{read}", load(32, 32)), threads);
        // Two copies, and the bytes of one.
        let second = "add.u32 %r6, %r3, 16; add.u64 %rd2, %rd1, 16;\n\
             @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r6], [%rd2], 16, [%r4];\n";
        let few = format!("{}{second}{WAIT}{read}", load(16, 16));
        found(&few, threads, Hazard::AsyncCopyNotAwaited, &["`tile`", "under way"]);
        let both = format!("{}{second}{WAIT}{read}", load(16, 32));
        silent(&both, threads);
    }
    let value = |expected| {
        let body = format!("{}{WAIT}{read}", load(32, expected));
        outcome(&body, 1).unwrap().1[128]
    };
    assert_eq!([value(16), value(32)], [u32::MAX, 7]);
}

#[test]
fn a_bulk_copy_runs_past_its_array() {
    let past = format!("{}{WAIT}", load(272, 272));
    found(&past, 32, Hazard::SharedOverrun, &["`tile`", "256 bytes"]);
    silent(&format!("{}{WAIT}", load(256, 256)), 32);
    // The other way: more is read than the array has.
    let wide = STORE.replace("], 16;", "], 272;");
    found(&format!("{wide} cp.async.bulk.wait_group 0;"), 32, Hazard::SharedOverrun, &["`tile`"]);
}

#[test]
fn a_source_is_overwritten_before_the_copy_was_waited_for() {
    let copy = "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2; mov.u32 %r3, tile; mad.lo.u32 %r3, %r1, 4, %r3;\n\
                cp.async.ca.shared.global [%r3], [%rd2], 4; cp.async.commit_group;\n";
    let overwrite = "mov.b32 %r5, 99; st.global.b32 [%rd2], %r5;\n";
    let wait = "cp.async.wait_group 0;\n";
    let parts = ["overwritten", "buffer", "wait for the copy before"];
    let early = format!("{copy}{overwrite}{wait}");
    found(&early, 32, Hazard::AsyncCopyNotAwaited, &parts);
    silent(&format!("{copy}{wait}{overwrite}"), 32);
    // By the other warp, after a barrier that comes before the wait.
    let neighbour = "xor.b32 %r6, %r1, 32; mul.wide.u32 %rd2, %r6, 4; add.u64 %rd2, %rd1, %rd2;\n";
    let barrier = "bar.sync 0;\n";
    let early = format!("{copy}{barrier}{neighbour}{overwrite}{wait}");
    found(&early, 64, Hazard::AsyncCopyNotAwaited, &parts);
    silent(&format!("{copy}{wait}{barrier}{neighbour}{overwrite}"), 64);
    // A bulk copy.
    let overwrite = "@%p0 st.global.b32 [%rd1], 99;\n".replace("99", "%r1");
    let other = overwrite.replace("[%rd1]", "[%rd1+4]");
    found(&format!("{}{other}{WAIT}", load(16, 16)), 32, Hazard::AsyncCopyNotAwaited, &parts);
    silent(&format!("{}{WAIT}{other}", load(16, 16)), 32);
}

/// Fills the factors of a product of 64 x 8 x 16 halves, and describes them.
const FACTORS: &str = "mov.u32 %r3, factors; mov.b32 %r4, 0; shl.b32 %r5, %r1, 2; add.u32 %r5, %r5, %r3;\n\
     mov.u32 %r6, 0; fill: st.shared.b32 [%r5], %r4; add.u32 %r5, %r5, 512; add.u32 %r6, %r6, 512; setp.lt.u32 %p1, %r6, 2048;\n\
     @%p1 bra fill; setp.lt.u32 %p2, %r1, 64; @%p2 st.shared.b32 [%r5], %r4;\n\
     shr.u32 %r3, %r3, 4; cvt.u64.u32 %da, %r3; or.b64 %da, %da, 0x1000080000; add.u64 %db, %da, 128;\n";
const FENCE: &str = "wgmma.fence.sync.aligned;\n";
const COMMIT: &str = "wgmma.commit_group.sync.aligned;\n";
const AWAIT: &str = "wgmma.wait_group.sync.aligned 0;\n";

fn product(registers: &str, adds: bool) -> String {
    format!(
        "setp.eq.u32 %p3, 0, {}; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{{registers}}}, %da, %db, %p3, 1, 1, 0, 0;\n",
        u32::from(!adds)
    )
}

const D: &str = "%d0, %d1, %d2, %d3";
const ZEROS: &str = "mov.b32 %d0, 0; mov.b32 %d1, 0; mov.b32 %d2, 0; mov.b32 %d3, 0;\n";
const USE: &str =
    "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2; st.global.b32 [%rd2], %d0;\n";

#[test]
fn a_product_is_fenced_committed_and_awaited() {
    let before = format!("{FACTORS}fence.proxy.async; bar.sync 0;\n{ZEROS}");
    let one = product(D, true);
    let correct = format!("{before}{FENCE}{one}{one}{COMMIT}{AWAIT}{USE}");
    silent(&correct, 128);
    let broken = |body: &str, parts: &[&str]| {
        found(body, 128, Hazard::UnorderedProduct, parts);
    };
    broken(&correct.replace(FENCE, ""), &["no wgmma.fence comes before it"]);
    broken(&correct.replace(COMMIT, ""), &["not waited for", "wgmma.commit_group"]);
    broken(&correct.replace(AWAIT, ""), &["not waited for", "the other access"]);
    broken(&correct.replace("aligned 0", "aligned 1"), &["not waited for"]);
    // Between two products the registers are used.
    let change = "add.f32 %d0, %d0, %d1;\n";
    let twice = |between: &str| format!("{correct}{between}{one}{COMMIT}{AWAIT}{USE}");
    broken(&twice(change), &["no wgmma.fence lies between"]);
    silent(&twice(&format!("{change}{FENCE}")), 128);
    // Copies by a compiler are no uses, wherever they stand, but what is copied too early is used too early.
    let copies = "mov.b32 %d4, %d0; mov.b32 %d5, %d1; mov.b32 %d6, %d2; mov.b32 %d7, %d3;\n";
    let moved = USE.replace("%d0", "%d4");
    silent(&format!("{before}{FENCE}{one}{copies}{COMMIT}{AWAIT}{moved}"), 128);
    broken(&format!("{before}{FENCE}{one}{copies}{moved}{COMMIT}{AWAIT}"), &["not waited for"]);
    // Two groups, of which one is awaited.
    let second = product("%d8, %d9, %d10, %d11", false);
    let groups =
        format!("{before}{FENCE}{one}{COMMIT}{second}{COMMIT}wgmma.wait_group.sync.aligned 1;\n");
    silent(&format!("{groups}{USE}"), 128);
    broken(&format!("{groups}{}", USE.replace("%d0", "%d8")), &["not waited for"]);
}

#[test]
fn a_result_that_is_not_added_may_be_undefined() {
    let body = |adds| {
        format!(
            "{FACTORS}fence.proxy.async; bar.sync 0;\n{FENCE}{}{COMMIT}{AWAIT}{USE}",
            product(D, adds)
        )
    };
    silent(&body(false), 128);
    found(&body(true), 128, Hazard::UninitializedRegister, &[]);
}

#[test]
fn the_factors_of_a_product_are_fenced_and_stay() {
    let rest = format!("{FENCE}{}{COMMIT}", product(D, false));
    let fenced = format!("{FACTORS}fence.proxy.async; bar.sync 0;\n");
    silent(&format!("{fenced}{rest}{AWAIT}"), 128);
    // The fence may come before or after the barrier, but it must be there.
    silent(&format!("{FACTORS}bar.sync 0; fence.proxy.async;\n{rest}{AWAIT}"), 128);
    found(
        &format!("{FACTORS}bar.sync 0;\n{rest}{AWAIT}"),
        128,
        Hazard::MissingProxyFence,
        &["`factors`"],
    );
    let other = "setp.gt.u32 %p4, %r1, 31; @%p4 bra past; fence.proxy.async; past: bar.sync 0;\n";
    found(
        &format!("{FACTORS}{other}{rest}{AWAIT}"),
        128,
        Hazard::MissingProxyFence,
        &["`factors`"],
    );
    found(&format!("{FACTORS}fence.proxy.async;\n{rest}{AWAIT}"), 128, Hazard::SharedRace, &[]);
    // They are overwritten before the product was waited for.
    let overwrite =
        "mov.u32 %r5, factors; mad.lo.u32 %r5, %r1, 16, %r5; st.shared.b32 [%r5], %r4;\n";
    let early = format!("{fenced}{rest}bar.sync 0;\n{overwrite}{AWAIT}");
    found(&early, 128, Hazard::SharedRace, &["`factors`"]);
    silent(&format!("{fenced}{rest}{AWAIT}bar.sync 0;\n{overwrite}"), 128);
}

#[test]
fn arrivals_at_an_mbarrier_are_no_stores_for_the_proxy() {
    // It arrives between the fence and the copy.
    let arrives = "mov.u32 %r3, tile; mbarrier.arrive.shared.b64 _, [barrier];";
    let copy = STORE.replace("mov.u32 %r3, tile;", arrives);
    let body = format!("@%p0 mbarrier.init.shared.b64 [barrier], 1; {copy}");
    silent(&format!("{body} cp.async.bulk.wait_group 0;"), 32);
}

/// The first thread allocates 24 bytes of the device's heap, whose address is in `%rd3`.
const HEAP: &str = "@!%p0 ret; .param .b64 bytes; .param .b64 back; mov.b64 %rd2, 24; st.param.b64 [bytes], %rd2;\n\
                    call.uni (back), malloc, (bytes); ld.param.b64 %rd3, [back]; mov.b32 %r2, 5;\n";
const FREE: &str = "st.param.b64 [bytes], %rd3; call.uni free, (bytes);\n";

#[test]
fn the_device_heap_has_bounds() {
    silent(
        &format!("{HEAP}st.global.b32 [%rd3+20], %r2; ld.global.b32 %r3, [%rd3+20]; {FREE}"),
        32,
    );
    for (body, part) in [
        (
            "st.global.b32 [%rd3+24], %r2;".to_owned(),
            "byte 24 of what a kernel's `malloc` gave, which has 24 bytes",
        ),
        ("st.b32 [%rd3+1000], %r2;".to_owned(), "byte 1000"),
        ("st.global.b32 [%rd3+-4], %r2;".to_owned(), "4 bytes before the device's heap"),
        (format!("{FREE}ld.global.b32 %r3, [%rd3];"), "`free` got back"),
        (format!("{FREE}{FREE}"), "given back already"),
        (format!("add.u64 %rd3, %rd3, 8; {FREE}"), "which is byte 8 of what `malloc` gave"),
        (
            format!("mov.u64 %rd3, %rd1; {FREE}"),
            "which `malloc` of a kernel did not give; it is byte 0 of the buffer",
        ),
    ] {
        let error = outcome(&format!("{HEAP}{body}"), 32).unwrap_err().to_string();
        assert!(error.contains(part), "`{part}` is missing: {error}");
    }
    let only_free = "@!%p0 ret; .param .b64 bytes; mov.b64 %rd3, %rd1;\n";
    let error = outcome(&format!("{only_free}{FREE}"), 32).unwrap_err().to_string();
    assert!(
        error.contains("illegal instruction") && error.contains("to fix it: free what"),
        "{error}"
    );
    silent(&format!("{only_free}mov.b64 %rd3, 0; {FREE}"), 32);
}

/// Each of two blocks takes memory, writes to it and gives it back: the second has that of the first, as nobody had it.
#[test]
fn memory_of_the_device_heap_begins_anew() {
    let found = |body: &str| {
        let module = Module::parse(&text(&format!("{HEAP}{body}"))).unwrap();
        let mut memory = Memory::default();
        memory.track_initialization();
        let buffer = memory.allocate_named(1024, "buffer").unwrap();
        let launch = Launch::new("k", [2, 1, 1], [64, 1, 1]).address(buffer);
        let options = Options { checks: Checks::all(), fuel: 1_000_000, ..Options::default() };
        let report = run(&module, &mut memory, &launch, &options).unwrap();
        let all = report.findings.into_iter().chain(report.notes);
        all.map(|finding| finding.hazard).collect::<Vec<_>>()
    };
    let write = "mov.u32 %r3, %ctaid.x; st.b32 [%rd3+4], %r3; st.b32 [%rd3+8], %r2;";
    assert_eq!(found(&format!("{write}{FREE}")), []);
    let (read, again) =
        ("ld.b32 %r4, [%rd3+8]; st.global.b32 [%rd1], %r4;", "call.uni (back), malloc, (bytes);");
    let fresh =
        format!("{write}{FREE}st.param.b64 [bytes], %rd2; {again} ld.param.b64 %rd3, [back];");
    assert_eq!(found(&format!("{fresh}st.b32 [%rd3+8], %r2; {FREE}")), []);
    assert!(found(&format!("{fresh}{read}{FREE}")).contains(&Hazard::UninitializedGlobal));
}

/// A thread gives memory back to which another has written: a barrier has to come between.
#[test]
fn memory_is_given_back_after_its_last_access() {
    let body = |between: &str| {
        format!(
            "mov.u32 %r2, tile; @!%p0 bra OTHERS; .param .b64 bytes; .param .b64 back; mov.b64 %rd2, 256; st.param.b64 [bytes], %rd2;
             call.uni (back), malloc, (bytes); ld.param.b64 %rd3, [back]; st.shared.b64 [%r2], %rd3; OTHERS: bar.sync 0;
             ld.shared.b64 %rd3, [%r2]; mul.wide.u32 %rd4, %r1, 4; add.u64 %rd4, %rd3, %rd4; setp.ge.u32 %p1, %r1, 32;
             @%p1 st.b32 [%rd4], %r1; {between} @!%p0 ret; {FREE}"
        )
    };
    silent(&body("bar.sync 0;"), 64);
    let found = match outcome_in(Schedule::Reverse, &body(""), 64) {
        Ok((report, _)) => report.findings,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(found.iter().map(|found| found.hazard).collect::<Vec<_>>(), [Hazard::GlobalRace]);
}

/// A copy does not read what it fills with zeros, even where memory ends; what it reads has to be there.
#[test]
fn a_copy_reads_as_many_bytes_as_it_is_told() {
    let end = |size: usize, bytes: &str| {
        let body = format!(
            "add.u64 %rd2, %rd1, 1024; mov.u32 %r2, tile; cp.async.ca.shared.global [%r2], [%rd2], 8{bytes};\n\
             cp.async.wait_all; ld.shared.u32 %r3, [tile]; ld.shared.u32 %r4, [tile+4];\n\
             st.global.u32 [%rd1], %r3; st.global.u32 [%rd1+4], %r4;"
        );
        outcome_of(Schedule::Forward, &body, 1, size).map(|(_, words)| [words[0], words[1]])
    };
    for (bytes, words) in [(", 4", [256, 0]), (", 2", [256, 0]), (", 1", [0, 0]), (", 0", [0, 0])] {
        assert_eq!(end(1028, bytes).expect("it reads what is there"), words, "{bytes}");
    }
    assert_eq!(end(1026, ", 2").expect("half a word is there"), [256, 0]);
    for (size, bytes) in [(1028, ""), (1028, ", 8"), (1028, ", 5"), (1026, ", 4")] {
        let error = end(size, bytes).expect_err("it reads beyond").to_string();
        assert!(error.contains("illegal address"), "{error}");
    }
}

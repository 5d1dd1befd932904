//! One small kernel per hazard: each is found, with who, where, at what address, next to what, and the fix.

use simt::{
    Checks, Error, Hazard, Launch, Memory, Module, Options, Report, Schedule, run, run_observed,
};

/// A kernel of one block of 64 threads with the thread's number in `%r1`, its warp in `%r2`, the
/// address of its word of a shared tile in `%r3`, the buffer in `%rd1`; `.loc` says kernel.rs:7.
fn text(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"kernel.rs\"\n\
         .visible .entry broken(.param .u64 p)\n{{\n\
         .reg .pred %p<5>; .reg .b32 %r<12>; .reg .b64 %rd<9>; .reg .f32 %f<3>;\n\
         .shared .align 16 .b8 first[64]; .shared .align 16 .b8 tile[256]; .local .align 8 .b8 own[16];\n\
         .loc 1 7 3\n\
         ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5;\n\
         mov.u32 %r3, tile; mov.u32 %r4, first; mad.lo.u32 %r3, %r1, 4, %r3;\n\
         {body}\nret;\n}}\n"
    )
}

fn outcome(body: &str, schedule: Schedule) -> (Result<Report, Error>, Vec<u8>) {
    let module = Module::parse(&text(body)).unwrap();
    let mut memory = Memory::default();
    memory.track_initialization();
    let buffer = memory.allocate_named(1024, "buffer").unwrap();
    memory.fill(buffer, 0, 512).unwrap();
    let launch = Launch::new("broken", [1, 1, 1], [64, 1, 1]).address(buffer);
    let options =
        Options { checks: Checks::all(), schedule, fuel: 1_000_000, ..Options::default() };
    let report = run(&module, &mut memory, &launch, &options);
    let mut bytes = vec![0; 1024];
    memory.read(buffer, &mut bytes).unwrap();
    (report, bytes)
}

/// Parts of every message about a running kernel.
const ALWAYS: [&str; 6] =
    ["kernel `broken`", "(kernel.rs:7)", "block (0, 0, 0)", "warp ", "lane", "PTX line "];

#[test]
fn every_hazard_is_found_and_explained() {
    use Hazard::*;
    let mbarrier = "setp.ne.u32 %p1, %r1, 0; @%p1 ret; ";
    let cases: &[(Hazard, &str, &[&str])] = &[
        (
            UninitializedRegister,
            "add.u64 %rd3, %rd1, %rd2; setp.eq.u64 %p1, %rd3, 0; @%p1 ret;",
            &[],
        ),
        (UninitializedShared, "ld.shared.u32 %r5, [%r3];", &["0x40", "`tile`", "256 bytes"]),
        (UninitializedLocal, "ld.local.u32 %r5, [own+4];", &["local byte 4"]),
        (
            UninitializedGlobal,
            "ld.global.u32 %r5, [%rd1+512];",
            &["byte 512 of the buffer of 1024"],
        ),
        (
            UninitializedGlobal,
            "red.global.add.u32 [%rd1+512], 1;",
            &["byte 512 of the buffer of 1024", "`red.global.add.u32`"],
        ),
        (
            SharedRace,
            "st.shared.u32 [%r3], %r1; xor.b32 %r5, %r1, 32; mov.u32 %r6, tile; \
             mad.lo.u32 %r6, %r5, 4, %r6; ld.shared.u32 %r7, [%r6];",
            &["`tile`", "the other access"],
        ),
        (
            SharedRaceInWarp,
            "st.shared.u32 [%r3], %r1; xor.b32 %r5, %r1, 1; mov.u32 %r6, tile; \
             mad.lo.u32 %r6, %r5, 4, %r6; ld.shared.u32 %r7, [%r6];",
            &["`tile`", "the other access"],
        ),
        (ConflictingStore, "st.global.u32 [%rd1], %r1;", &["two lanes"]),
        (
            DivergentBarrier,
            "and.b32 %r5, %r1, 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra A; bar.sync 0; bra B;\n\
             A: bar.sync 0;\nB:",
            &["barrier 0"],
        ),
        (
            MemberMask,
            "and.b32 %r5, %r1, 31; setp.gt.u32 %p1, %r5, 3; @%p1 ret; bar.warp.sync 0xffffffff;",
            &[],
        ),
        (
            InactiveSource,
            "and.b32 %r5, %r1, 31; setp.gt.u32 %p1, %r5, 3; @%p1 ret;\n\
             shfl.sync.idx.b32 %r6, %r1, 9, 31, 0xf;",
            &[],
        ),
        (
            AsyncCopyNotAwaited,
            "cp.async.ca.shared.global [%r3], [%rd1], 4; cp.async.commit_group;\n\
             ld.shared.u32 %r5, [%r3];",
            &["`tile`", "under way"],
        ),
        (
            MissingProxyFence,
            &format!(
                "st.shared.u32 [%r3], 0; bar.sync 0; {mbarrier} mov.u32 %r5, tile;\n\
                 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r5], 16;\n\
                 cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
            ),
            &["proxy fence"],
        ),
        (ReadOnlyWritten, "st.global.u32 [%rd1], 1; ld.global.nc.u32 %r5, [%rd1];", &["read-only"]),
    ];
    for (hazard, body, parts) in cases {
        let (report, _) = outcome(body, Schedule::Forward);
        let report = report.unwrap_or_else(|error| panic!("{hazard:?}: {error}"));
        let finding = report.findings.iter().find(|finding| finding.hazard == *hazard);
        let Some(finding) = finding else { panic!("{hazard:?}: found {:?}", report.findings) };
        let message = finding.to_string();
        for part in ALWAYS.iter().chain(*parts).chain(&["to fix it: "]) {
            assert!(message.contains(part), "`{part}` is missing: {message}");
        }
    }
}

/// An atomic computes from what is there, whether its result is used or not; an exchange without a use of it only writes.
#[test]
fn an_atomic_of_what_nobody_wrote_is_found() {
    let hazards = |body: &str| {
        let report = outcome(body, Schedule::Forward).0.unwrap();
        report.findings.iter().map(|finding| finding.hazard).collect::<Vec<_>>()
    };
    let updates = [
        "red.SPACE.add.u32 AT, 1;",
        "atom.SPACE.add.u32 %r5, AT, 1;",
        "red.SPACE.max.u32 AT, %r1;",
        "atom.SPACE.cas.b32 %r5, AT, 0, 1;",
        "atom.SPACE.exch.b32 %r5, AT, 1; st.global.u32 [%rd1], %r5;",
    ];
    let spaces = [
        ("global", "[%rd1+512]", Hazard::UninitializedGlobal),
        ("shared", "[tile]", Hazard::UninitializedShared),
    ];
    for (space, at, hazard) in spaces {
        for update in updates {
            let update = update.replace("SPACE", space).replace("AT", at);
            let one = format!("setp.ne.u32 %p1, %r1, 0; @%p1 ret; {update}");
            assert_eq!(hazards(&one), [hazard], "{one}");
            let reset = format!("atom.{space}.exch.b32 %r6, {at}, 0;");
            assert_eq!(
                hazards(&format!("setp.ne.u32 %p1, %r1, 0; @%p1 ret; {reset} {update}")),
                [],
                "{update}"
            );
        }
    }
}

#[test]
fn every_broken_access_is_an_error_and_explained() {
    let cases: &[(&str, &[&str])] = &[
        ("ld.global.u32 %r5, [%rd1+1024];", &["0 bytes past the end of the buffer of 1024 bytes"]),
        ("st.global.u32 [%rd1+-4], %r1;", &["4 bytes before the buffer", "write to"]),
        ("ld.global.u32 %r5, [%rd1+2];", &["misaligned", "multiple of 4"]),
        ("ld.shared.u32 %r5, [%r4+320];", &["shared memory past its end", "320 bytes"]),
        ("mov.u32 %r5, own; add.u32 %r5, %r5, 64; ld.local.u32 %r6, [%r5];", &["local memory"]),
        // Wrong spaces: a shared address used as global, and the other way round.
        (
            "mov.u32 %r5, tile; cvt.u64.u32 %rd2, %r5; ld.global.u32 %r6, [%rd2];",
            &["not allocated"],
        ),
        ("ld.shared.u32 %r6, [%rd1];", &["shared memory past its end"]),
    ];
    for (body, parts) in cases {
        let error = outcome(body, Schedule::Forward).0.unwrap_err().to_string();
        for part in ALWAYS.iter().chain(*parts).chain(&["to fix it: "]) {
            assert!(error.contains(part), "`{part}` is missing: {error}");
        }
    }
}

/// nvcc widens the load of an array's last elements and reads nothing of what is past the end, which a GPU has there.
#[test]
fn the_unused_end_of_a_vector_may_lie_past_its_allocation() {
    let load = |at: u64, used: &str| {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q) {{\n\
             .reg .b32 %r<6>; .reg .b64 %rd<3>;\nld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];\n\
             ld.global.v4.u32 {{%r1, %r2, %r3, %r4}}, [%rd1+{at}];\nst.global.u32 [%rd2], {used};\nret;\n}}\n"
        );
        let module = Module::parse(&text).unwrap();
        let mut memory = Memory::default();
        let data = [memory.allocate(44).unwrap(), memory.allocate(4).unwrap()];
        memory.write(data[0], &(0..44).collect::<Vec<u8>>()).unwrap();
        let launch = Launch::new("k", [1, 1, 1], [1, 1, 1]).address(data[0]).address(data[1]);
        let options = Options { checks: Checks::all(), ..Options::default() };
        let report = run(&module, &mut memory, &launch, &options)?;
        assert_eq!(report.findings.len(), 0, "{:?}", report.findings);
        assert_eq!(report.counters.global_load.sectors, 1, "the whole vector is asked for");
        let mut value = [0; 4];
        memory.read(data[1], &mut value).unwrap();
        Ok::<u32, simt::Error>(u32::from_le_bytes(value))
    };
    let element =
        |index: u32| u32::from_le_bytes([0, 1, 2, 3].map(|byte| (4 * index + byte) as u8));
    assert_eq!(load(32, "%r3").unwrap(), element(10));
    for (at, used) in [(32, "%r4"), (48, "%r1")] {
        let error = load(at, used).unwrap_err().to_string();
        assert!(error.contains("not allocated"), "{error}");
    }
}

/// A kernel that names a constant array does not write it; one that got its address from the host may.
///
/// So measured on a device: `results/nvidia-h100/constants.txt`.
#[test]
fn constant_memory_is_not_written() {
    let text = |instruction: &str| {
        format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.const .u32 table[4] = {{1, 2, 3, 4}};\n\
             .visible .entry k(.param .u64 p, .param .u64 q) {{\n.reg .b32 %r<3>; .reg .b64 %rd<4>;\n\
             ld.param.u64 %rd1, [p]; mov.u64 %rd2, table; cvta.const.u64 %rd2, %rd2; {instruction}\nret;\n}}\n"
        )
    };
    let outcome = |instruction: &str| {
        let module = Module::parse(&text(instruction)).unwrap();
        let mut memory = Memory::default();
        let data = memory.allocate(64).unwrap();
        memory.fill(data, 0, 64).unwrap();
        module.load(&mut memory).unwrap();
        let table = module.symbol(&memory, "table").unwrap().0;
        let launch = Launch::new("k", [1, 1, 1], [1, 1, 1]).address(data).address(table);
        run(&module, &mut memory, &launch, &Options::default())
    };
    let by_pointer = "ld.param.u64 %rd3, [q]; st.u32 [%rd3+4], 7;";
    assert!(outcome(by_pointer).is_ok());
    assert!(outcome("ld.u32 %r1, [%rd2+4]; st.global.u32 [%rd1], %r1;").is_ok());
    for store in [
        "st.u32 [%rd2], 7;",
        "st.global.u32 [%rd1], 7; st.u32 [%rd2+8], 7;",
        "red.add.u32 [%rd2], 1;",
    ] {
        let error = outcome(store).unwrap_err().to_string();
        assert!(error.contains("a store to constant memory") && error.contains("table"), "{error}");
    }
}

#[test]
fn a_barrier_that_some_warps_never_reach() {
    let (report, _) = outcome("setp.eq.u32 %p1, %r2, 0; @%p1 bar.sync 0, 64;", Schedule::Forward);
    let error = report.unwrap_err().to_string();
    for part in ALWAYS.iter().chain(&["deadlock", "32 of 64 threads arrived"]) {
        assert!(error.contains(part), "`{part}` is missing: {error}");
    }
}

#[test]
fn a_kernel_that_never_ends_says_where_it_spins() {
    let error = outcome(
        "L: ld.volatile.global.u32 %r5, [%rd1]; setp.eq.u32 %p1, %r5, 0; @%p1 bra L;",
        Schedule::Forward,
    );
    let error = error.0.unwrap_err().to_string();
    for part in ALWAYS.iter().chain(&["deadlock", "it waits for the 4 bytes"]) {
        assert!(error.contains(part), "`{part}` is missing: {error}");
    }
}

#[test]
fn a_kernel_that_runs_for_too_long_says_where_it_is() {
    let loops = "L: ld.volatile.global.u32 %r5, [%rd1]; add.u32 %r6, %r6, 1; setp.ne.u32 %p1, %r6, -1; @%p1 bra L;";
    let error = outcome(&format!("mov.u32 %r6, 0; {loops}"), Schedule::Forward);
    let error = error.0.unwrap_err().to_string();
    for part in ALWAYS.iter().chain(&["1000000 warp-instructions", "still running", "near `ld"]) {
        assert!(error.contains(part), "`{part}` is missing: {error}");
    }
}

/// Hazards of another order of blocks are found there, and results stay those of the first.
#[test]
fn orders_of_a_small_launch_are_looked_through() {
    // Atomics make it free of races. Each block counts itself; where block 1 is the first, it traps, or reads what nobody wrote.
    let last = "mov.u32 %r6, %ctaid.x; atom.global.exch.b32 %r5, [%rd1+16], 1; setp.eq.u32 %p1, %r5, 0; setp.eq.u32 %p2, %r6, 1;\n\
                red.global.add.u32 [%rd1], 1; and.pred %p1, %p1, %p2; ";
    let cases = [
        ("@%p1 trap;", Hazard::OtherOrder, "it fails in another order of warps and blocks: trap"),
        (
            "@%p1 ld.shared.u32 %r7, [tile]; @%p1 st.global.u32 [%rd1+32], %r7;",
            Hazard::UninitializedShared,
            "is read but was never written",
        ),
    ];
    for (end, hazard, part) in cases {
        let outcome = |schedules| {
            let module = Module::parse(&text(&format!("{last}{end}"))).unwrap();
            let mut memory = Memory::default();
            memory.track_initialization();
            let data = memory.allocate(1024).unwrap();
            memory.fill(data, 0, 1024).unwrap();
            let launch = Launch::new("broken", [2, 1, 1], [1, 1, 1]).address(data);
            let options = Options { checks: Checks::all(), schedules, ..Options::default() };
            let report = run(&module, &mut memory, &launch, &options).unwrap();
            let mut bytes = [0; 4];
            memory.read(data, &mut bytes).unwrap();
            (report, u32::from_le_bytes(bytes))
        };
        let (report, value) = outcome(1);
        assert_eq!((report.findings, value), (vec![], 2));
        let (report, value) = outcome(3);
        let found = report.findings.iter().find(|found| found.hazard == hazard);
        let message =
            found.unwrap_or_else(|| panic!("{hazard}: {:?}", report.findings)).to_string();
        assert!(message.contains(part), "{message}");
        assert_eq!(value, 2, "what the other orders wrote is taken back");
    }
}

/// A failure of the first order is told once; that other orders fail, too, says nothing more.
#[test]
fn a_failure_of_every_order_is_told_once() {
    let found = |body: &str| {
        let module = Module::parse(&text(body)).unwrap();
        let mut memory = Memory::default();
        let data = memory.allocate(1024).unwrap();
        let launch = Launch::new("broken", [2, 1, 1], [64, 1, 1]).address(data);
        let options = Options { checks: Checks::all(), schedules: 3, ..Options::default() };
        let mut before = Report::default();
        run_observed(&module, &mut memory, &launch, &options, &mut before, None).unwrap_err();
        before.findings.iter().map(|found| found.hazard).collect::<Vec<_>>()
    };
    assert_eq!(found("trap;"), []);
    assert_eq!(found("ld.global.u32 %r5, [%rd1+1024];"), []);
    // A warp waits for itself, whichever it is.
    assert_eq!(found("setp.eq.u32 %p1, %r2, 1; @%p1 bar.sync 0; @!%p1 bar.sync 1, 64;"), []);
    let other_line = "mov.u32 %r6, %ctaid.x; atom.global.exch.b32 %r5, [%rd1+16], 1; or.b32 %r5, %r5, %r6;\n\
                      setp.eq.u32 %p1, %r5, 0;\n@%p1 trap;\ntrap;";
    assert_eq!(found(other_line), [Hazard::OtherOrder]);
}

#[test]
fn another_schedule_shows_what_depends_on_the_order() {
    // Atomics make it free of races; who comes last still decides.
    let last = "and.b32 %r5, %r1, 31; setp.ne.u32 %p1, %r5, 0; @%p1 ret; \
                atom.global.exch.b32 %r6, [%rd1], %r2;";
    let sum = "red.global.add.u32 [%rd1], %r1;";
    let schedules = [Schedule::Reverse, Schedule::Seeded(1), Schedule::Seeded(2)];
    let differs = |body: &str| {
        let forward = outcome(body, Schedule::Forward).1;
        schedules.iter().any(|schedule| outcome(body, *schedule).1 != forward)
    };
    assert!(differs(last));
    assert!(!differs(sum));
}

/// An address that lies nowhere is told by the argument that it was formed from, not by what lies nearest.
#[test]
fn an_overrun_names_the_argument() {
    let message = |offset: &str| {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q) {{\n\
             .reg .b32 %r<3>; .reg .b64 %rd<5>;\nld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];\n\
             ld.global.u32 %r1, [%rd1]; cvt.u64.u32 %rd3, %r1; {offset}\nst.global.u32 [%rd4], 7;\nret;\n}}\n"
        );
        let module = Module::parse(&text).unwrap();
        let mut memory = Memory::default();
        let data = [memory.allocate(64).unwrap(), memory.allocate(4096).unwrap()];
        memory.fill(data[0], 0, 64).unwrap();
        let launch = Launch::new("k", [1, 1, 1], [1, 1, 1]).address(data[0]).address(data[1]);
        run(&module, &mut memory, &launch, &Options::default()).unwrap_err().to_string()
    };
    // What lies before the second argument's array is the first one's.
    for (offset, expected) in [
        (
            "add.u64 %rd4, %rd2, -8;",
            "8 bytes before the allocation of 4096 bytes at 0x40000000400, which argument 1",
        ),
        (
            "add.u64 %rd4, %rd1, 65536;",
            "65472 bytes past the end of the allocation of 64 bytes at 0x40000000000, which argument 0",
        ),
        ("add.u64 %rd4, %rd2, 17179869180;", "element 4294967295, which is -1 as a signed index"),
        ("add.u64 %rd4, %rd2, -8589934592;", "element -2147483648, which an index of 32 bits"),
    ] {
        let message = message(offset);
        assert!(message.contains(expected), "{message}");
    }
    // Of two arguments, or of none, only the place is told.
    for offset in ["add.u64 %rd4, %rd1, %rd2;", "add.u64 %rd4, %rd3, 8;"] {
        let message = message(offset);
        assert!(message.contains("is not allocated") && !message.contains("argument"), "{message}");
    }
}

/// The offset of shared memory is no generic address, and null is no array: neither is told as far from an allocation.
#[test]
fn an_offset_and_null_are_named() {
    let error = |body: &str| outcome(body, Schedule::Forward).0.unwrap_err().to_string();
    let offset = "cvt.u64.u32 %rd2, %r3;";
    for access in
        ["ld.u32 %r5, [%rd2];", "st.global.u32 [%rd2], %r1;", "atom.add.u32 %r5, [%rd2], 1;"]
    {
        let error = error(&format!("{offset} {access}"));
        for part in ["an offset in shared memory", "byte 0 from the start of `tile`", "cvta.shared"]
        {
            assert!(error.contains(part), "`{part}` is missing: {error}");
        }
    }
    let (right, _) = outcome(
        &format!(
            "st.shared.u32 [%r3], 1; {offset} cvta.shared.u64 %rd2, %rd2; ld.u32 %r5, [%rd2];"
        ),
        Schedule::Forward,
    );
    assert_eq!(right.unwrap().findings, []);
    for (address, part) in [("0", "null, or byte 0"), ("64", "null, or byte 64")] {
        let error = error(&format!("mov.u64 %rd2, {address}; ld.global.u32 %r5, [%rd2];"));
        assert!(error.contains(part) && error.contains("pass the kernel a pointer"), "{error}");
    }
    // Far from null, what lies nearest is told.
    assert!(error("mov.u64 %rd2, 1048576; ld.global.u32 %r5, [%rd2];").contains("before the"));
}

/// The barrier in memory is initialized before it is used.
#[test]
fn an_mbarrier_is_initialized_first() {
    let body = "setp.ne.u32 %p1, %r1, 0; @%p1 ret; INIT mbarrier.arrive.shared.b64 _, [tile];";
    let found = outcome(&body.replace("INIT", ""), Schedule::Forward).0.unwrap().findings;
    assert!(
        found[0].to_string().contains("nobody initialized")
            && found[0].remedy().contains("mbarrier.init"),
        "{found:?}"
    );
    let init = "mbarrier.init.shared.b64 [tile], 1;";
    assert_eq!(outcome(&body.replace("INIT", init), Schedule::Forward).0.unwrap().findings, []);
}

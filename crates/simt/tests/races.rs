//! A corpus of races: a matrix of memory space x scope x form of synchronization. Each case is a bug, found with both
//! accesses named, and its silent repaired twin, in every schedule and on one and four threads.

mod advice;
mod followed;
mod kernels;
mod litmus;
mod others;
mod passing;
mod phases;
mod readers;

use kernels::{BLOCKS, Grid, HEAD, Pair, WARP, WARPS, entry, outcome, ways};
use simt::{Finding, Hazard, Schedule};

/// Finding that has to come, whichever access was first.
pub struct Expected {
    hazard: Hazard,
    instructions: [String; 2],
}

/// A bug and its repaired twin.
pub struct Case {
    name: String,
    grid: Grid,
    broken: String,
    expected: Expected,
    repaired: String,
}

/// The name, participants, a body in which `?` is the fault, the fault, its repair, the hazard and both instructions.
pub type Row = (&'static str, Grid, &'static str, [&'static str; 2], Pair);

/// The cases of tables that are written out.
fn written<'r>(rows: impl IntoIterator<Item = &'r Row>) -> Vec<Case> {
    let case = |row: &Row| {
        let (name, grid, body, [broken, repaired], (hazard, instructions)) = *row;
        let fill = |text: &str| {
            // The lanes that live after an early exit.
            let lanes = "mov.u32 %r20, -1; setp.ne.u32 %p8, %r4, 0; @%p8 mov.u32 %r20, 0xff;";
            let text = body.replace('?', text);
            if text.contains("sync %r20;") {
                text.replacen("st.", &format!("{lanes} st."), 1)
            } else {
                text
            }
        };
        Case {
            name: name.to_owned(),
            grid,
            broken: fill(broken),
            expected: Expected { hazard, instructions: instructions.map(str::to_owned) },
            repaired: fill(repaired),
        }
    };
    rows.into_iter().map(case).collect()
}

impl Expected {
    fn is(&self, finding: &Finding) -> bool {
        let [a, b] = &self.instructions;
        let other = finding.other.as_ref().map(|place| &place.instruction);
        let these = (&finding.place.instruction, other);
        finding.hazard == self.hazard && (these == (a, Some(b)) || these == (b, Some(a)))
    }
}

fn all() -> Vec<Case> {
    passing::cases().into_iter().chain(written(others::ROWS.iter().chain(litmus::ROWS))).collect()
}

#[test]
fn every_race_is_found_and_nothing_else() {
    let (mut missed, mut accused) = (Vec::new(), Vec::new());
    let mut cases = all();
    cases.extend(written(readers::ROWS));
    for case in &cases {
        for way in ways() {
            match outcome(&case.broken, case.grid, way) {
                Ok(report) if report.findings.iter().any(|found| case.expected.is(found)) => {}
                Ok(report) => missed.push(format!("{}, {way:?}: {:?}", case.name, report.findings)),
                Err(error) => missed.push(format!("{}, {way:?}: {error}", case.name)),
            }
            match outcome(&case.repaired, case.grid, way) {
                Ok(report) => {
                    let found = report.findings.iter();
                    accused.extend(found.map(|f| format!("{}, {way:?}: {f}", case.name)));
                }
                Err(error) => accused.push(format!("{}, {way:?}: {error}", case.name)),
            }
        }
    }
    let show = |list: &[String]| list.iter().map(|line| format!("\n  {line}")).collect::<String>();
    assert!(missed.is_empty(), "{} missed:{}", missed.len(), show(&missed));
    assert!(accused.is_empty(), "{} accused:{}", accused.len(), show(&accused));
    assert!(cases.len() >= 280);
}

/// Returns what is found first in a kernel, as text.
fn message(body: &str, grid: Grid) -> String {
    let report = outcome(body, grid, (Schedule::Forward, 1)).unwrap();
    report.findings.iter().map(|finding| format!("{finding}\n")).collect()
}

/// A block that writes and releases, and one that waits and reads.
fn passed(release: &str, acquire: &str) -> String {
    format!(
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; setp.ne.u32 %p2, %r2, 0; @%p2 bra C;\n\
         st.global.u32 [%rd1], %r9; {release}.global.u32 [%rd2], 1; bra END;\n\
         C: {acquire}.global.u32 %r8, [%rd2]; setp.eq.u32 %p3, %r8, 0; @%p3 bra C;\n\
         ld.global.u32 %r8, [%rd1];"
    )
}

#[test]
fn a_message_names_both_accesses_and_the_order_that_is_missing() {
    let both = ["`ld.global.u32` at PTX line", "block (1, 0, 0)", "lane 0"];
    let other =
        ["the other access: `st.global.u32` at PTX line", "block (0, 0, 0)", "(kernel.rs:7)"];
    let cases: [(String, Grid, &[&str]); 8] = [
        (
            passed("st.release.gpu", "ld.relaxed.gpu"),
            BLOCKS,
            &["`ld.relaxed.gpu.global.u32` at PTX line", "does not acquire, by"],
        ),
        (
            passed("st.relaxed.gpu", "ld.acquire.gpu"),
            BLOCKS,
            &["`st.relaxed.gpu.global.u32` at PTX line", "to fix it: make the write a .release"],
        ),
        (passed("st.release.cta", "ld.acquire.gpu"), BLOCKS, &["the .cta scope of `st.release.cta", "to fix it: use .gpu"]),
        (passed("st.release.gpu", "ld.acquire.cta"), BLOCKS, &["the .cta scope of `ld.acquire.cta", "to fix it: use .gpu"]),
        (
            "setp.eq.u32 %p1, %r2, 0; @%p1 st.global.u32 [%rd4], %r1; @!%p1 ld.global.u32 %r8, [%rd4];".into(),
            BLOCKS,
            &["nothing orders the two blocks"],
        ),
        (
            "st.shared.u32 [%r5], %r1; xor.b32 %r10, %r5, 128; ld.shared.u32 %r8, [%r10];".into(),
            WARPS,
            &["put bar.sync (__syncthreads) between", "`tile`"],
        ),
        (
            "st.shared.u32 [%r5], %r1; xor.b32 %r10, %r5, 4; ld.shared.u32 %r8, [%r10];".into(),
            WARP,
            &["put bar.warp.sync (__syncwarp) between", "`tile`"],
        ),
        (
            "ld.shared.u32 %r8, [tile]; add.u32 %r8, %r8, %r9; st.shared.u32 [tile], %r8;".into(),
            WARP,
            &["one atomic operation: no barrier keeps an update from being lost"],
        ),
    ];
    for (body, grid, parts) in &cases {
        let message = message(body, *grid);
        let places = if grid.0 == 2 { [both, other].concat() } else { Vec::new() };
        for part in parts.iter().chain(&places) {
            assert!(message.contains(part), "`{part}` is missing: {message}");
        }
    }
}

#[test]
fn equal_values_are_a_note() {
    let body = "st.global.u32 [%rd1], %r9;\nst.shared.u32 [tile], %r9;";
    for way in ways() {
        let report = outcome(body, Grid(3, 64, 1), way).unwrap();
        assert_eq!(report.findings, [], "{way:?}");
        let notes: Vec<_> = report.notes.iter().map(|note| note.hazard).collect();
        assert_eq!(notes, [Hazard::SameValue, Hazard::SameValue], "{way:?}");
        assert!(report.notes[0].to_string().contains("both store the same value"));
    }
}

/// By the definition there is no race between volatile accesses; of the same accesses without volatile there is.
#[test]
fn a_warp_synchronous_reduction_races_unless_it_is_volatile() {
    let reduction = |volatile: &str| {
        let step = |distance: u32| {
            format!(
                "ld{volatile}.shared.u32 %r10, [%r5]; ld{volatile}.shared.u32 %r11, [%r5+{}];\n\
                 add.u32 %r10, %r10, %r11; st{volatile}.shared.u32 [%r5], %r10;",
                4 * distance
            )
        };
        format!(
            "st{volatile}.shared.u32 [%r5], %r1; st{volatile}.shared.u32 [%r5+128], 0;\n{}",
            [16, 8, 4, 2, 1].map(step).join("\n")
        )
    };
    for way in ways() {
        let plain = outcome(&reduction(""), WARP, way).unwrap();
        assert!(plain.findings.iter().any(|f| f.hazard == Hazard::SharedRaceInWarp), "{way:?}");
        let report = outcome(&reduction(".volatile"), WARP, way).unwrap();
        assert_eq!(report.findings, [], "{way:?}");
        assert!(report.notes.iter().any(|n| n.hazard == Hazard::UnorderedVolatile), "{way:?}");
    }
}

/// A volatile word that hands nothing on is noted; one behind a fence is a flag, and one between barriers is ordered.
#[test]
fn volatile_accesses_that_nothing_orders_are_a_note() {
    const ONE: &str = "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; setp.ne.u32 %p2, %r2, 0; @%p2 bra C;";
    const POLL: &str =
        "C: ld.volatile.global.u32 %r8, [%rd2]; setp.eq.u32 %p3, %r8, 0; @%p3 bra C;";
    let handed =
        |fence: &str| format!("{ONE} {fence} st.volatile.global.u32 [%rd2], 1; bra END;\n{POLL}");
    let last_block = "st.volatile.global.u32 [%rd1], %r2; membar.gl; atom.add.gpu.global.u32 %r12, [%rd2], 1;\n\
                      setp.ne.u32 %p1, %r12, 1; @%p1 bra END; ld.volatile.global.u32 %r8, [%rd1];";
    let cases = [
        (handed(""), BLOCKS, true),
        (handed("membar.gl;"), BLOCKS, false),
        (handed("membar.gl;").replace("@%p3 bra C;", ""), BLOCKS, true),
        ("membar.gl; st.volatile.global.u32 [%rd1], %r2;".to_owned(), BLOCKS, true),
        ("st.volatile.global.u32 [%rd1], %r1;".to_owned(), WARPS, true),
        ("st.volatile.global.u32 [%rd4], %r1;".to_owned(), WARPS, false),
        ("st.relaxed.cta.global.u32 [%rd1], %r1;".to_owned(), WARPS, false),
        (
            "st.volatile.shared.u32 [%r5], %r1; bar.sync 0; ld.volatile.shared.u32 %r8, [tile];"
                .to_owned(),
            WARPS,
            false,
        ),
        (
            "st.volatile.global.u32 [%rd4], %r1; ld.volatile.global.u32 %r8, [%rd1];".to_owned(),
            WARPS,
            true,
        ),
        (last_block.to_owned(), BLOCKS, true),
        (last_block.replace("[%rd1]", "[%rd4]"), Grid(1, 32, 1), false),
    ];
    for (body, grid, is_noted) in &cases {
        for way in ways() {
            let report = outcome(body, *grid, way).unwrap();
            assert_eq!(report.findings, [], "{way:?}: {body}");
            let noted = report.notes.iter().any(|n| n.hazard == Hazard::UnorderedVolatile);
            assert_eq!(noted, *is_noted, "{way:?}: {body}");
        }
    }
}

/// A warp that waits at a barrier of its own meets the next barrier of the other.
#[test]
fn a_race_across_two_barriers_that_met_says_so() {
    let body = "setp.ge.u32 %p1, %r1, 32; @%p1 bra NEXT; bar.sync 0;\nNEXT: st.shared.u32 [%r5], %r1;\nbar.sync 0;\n\
                xor.b32 %r10, %r1, 63; mov.u32 %r11, tile; mad.lo.u32 %r11, %r10, 4, %r11; ld.shared.u32 %r12, [%r11];\n\
                st.global.u32 [%rd4], %r12;";
    let report = outcome(body, WARPS, (Schedule::Forward, 1)).unwrap();
    let race = report.findings.iter().find(|found| found.hazard == Hazard::SharedRace);
    let message = race.expect("it races").to_string();
    assert!(message.contains("met there at two instructions, at PTX lines 14 and 16"), "{message}");
}

/// Halves of a warp that wait at one instruction, each for itself, are not ordered among each other.
#[test]
fn a_warp_barrier_orders_the_lanes_that_each_mask_names() {
    let reads = |lane: u32| {
        format!(
            "setp.lt.u32 %p1, %r3, 16; selp.b32 %r20, 0xffff, 0xffff0000, %p1; st.shared.u32 [%r5], %r1;\n\
             bar.warp.sync %r20; xor.b32 %r21, %r3, {lane}; mov.u32 %r22, tile; mad.lo.u32 %r22, %r21, 4, %r22;\n\
             ld.shared.u32 %r23, [%r22]; st.global.u32 [%rd4], %r23;"
        )
    };
    for way in ways() {
        assert_eq!(outcome(&reads(15), WARP, way).unwrap().findings, [], "{way:?}");
        let found = outcome(&reads(16), WARP, way).unwrap().findings;
        assert!(found.iter().any(|f| f.hazard == Hazard::SharedRaceInWarp), "{way:?}");
    }
}

#[test]
fn barriers_that_part_of_a_warp_never_reaches_are_a_note() {
    let leaves = |lanes: u32| format!("setp.ge.u32 %p1, %r1, {lanes}; @%p1 bra END; bar.sync 0;");
    for way in ways() {
        for (lanes, notes) in [(20, 1), (32, 0), (64, 0)] {
            let report = outcome(&leaves(lanes), WARPS, way).unwrap();
            assert_eq!(report.findings, [], "{way:?}");
            let skipped = report.notes.iter().filter(|n| n.hazard == Hazard::SkippedBarrier);
            assert_eq!(skipped.count(), notes, "{way:?}: {lanes}");
        }
    }
}

#[test]
fn a_named_barrier_has_one_number_of_threads() {
    let body = |count: u32| {
        format!(
            "setp.lt.u32 %p1, %r1, 32; @%p1 bra LOW; bar.sync 1, 64; bra END;\nLOW: bar.arrive 1, {count};"
        )
    };
    for way in ways() {
        assert_eq!(outcome(&body(64), WARPS, way).unwrap().findings, [], "{way:?}");
    }
    let report = outcome(&body(32), WARPS, (Schedule::Reverse, 1)).unwrap();
    assert!(report.findings.iter().any(|f| f.hazard == Hazard::BarrierCounts), "{report:?}");
}

#[test]
fn an_access_past_one_shared_array_into_the_next() {
    // `tile` has 1024 bytes, and `word` follows.
    let of = |lane: u32| {
        format!(
            "setp.ne.u32 %p1, %r1, {lane}; @%p1 bra END; add.u32 %r10, %r5, 896; st.shared.u32 [%r10], 1;"
        )
    };
    let found = message(&of(32), WARPS);
    for part in ["SharedOverrun", "formed from `tile`, which has 1024 bytes", "`word`", "lane 0"] {
        assert!(found.contains(part), "`{part}` is missing: {found}");
    }
    assert_eq!(message(&of(31), WARPS), "");
    // A generic address is followed, too.
    let generic = "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; st.u32 [%rd5+1028], 1;";
    assert!(message(generic, WARPS).contains("SharedOverrun"));
    assert_eq!(message(&generic.replace("1028", "1020"), WARPS), "");
    // So is an index that was loaded.
    let loaded = |index: u32| {
        format!(
            "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; st.global.u32 [%rd1], {index}; ld.global.u32 %r10, [%rd1];\n\
             shl.b32 %r10, %r10, 2; add.u32 %r10, %r10, %r5; st.shared.u32 [%r10], 1;"
        )
    };
    assert!(message(&loaded(256), WARP).contains("SharedOverrun"));
    assert_eq!(message(&loaded(255), WARP), "");
    // Loads whose lanes lie as they did the last time, until the last of them leaves its array.
    let turns = |count: u32| {
        format!(
            "mov.u32 %r10, %r5; mov.u32 %r11, 0; F: st.shared.u32 [%r10], 1; add.u32 %r10, %r10, 128; add.u32 %r11, %r11, 1;\n\
             setp.lt.u32 %p2, %r11, 8; @%p2 bra F; mov.u32 %r12, word; mad.lo.u32 %r12, %r1, 4, %r12; setp.lt.u32 %p3, %r1, 16;\n\
             @%p3 st.shared.u32 [%r12], 1; bar.sync 0; add.u32 %r10, %r5, 64; mov.u32 %r11, 0;\n\
             L: ld.shared.u32 %r8, [%r10]; add.u32 %r10, %r10, 128; add.u32 %r11, %r11, 1; setp.lt.u32 %p2, %r11, {count};\n\
             @%p2 bra L;"
        )
    };
    assert_eq!(message(&turns(7), WARP), "");
    assert!(message(&turns(8), WARP).contains("SharedOverrun"));
}

#[test]
fn a_kernel_that_never_ends_says_what_it_waits_for() {
    let spin = |load: &str| {
        let body = format!(
            "setp.ne.u32 %p1, %r3, 5; @%p1 bra END; st.shared.u32 [word+4], 9;\n\
             S: {load}; add.u32 %r10, %r8, %r9; setp.ne.u32 %p2, %r8, 7; @%p2 bra S;"
        );
        outcome(&body, WARP, (Schedule::Forward, 1)).unwrap_err().to_string()
    };
    let global = spin("ld.acquire.gpu.global.u32 %r8, [%rd2+16]");
    for part in [
        "`ld.acquire.gpu.global.u32`",
        "lane 5",
        "the 4 bytes at",
        "which are 0x0",
        "byte 16 of the flag",
        "to fix it",
    ] {
        assert!(global.contains(part), "`{part}` is missing: {global}");
    }
    let shared = spin("ld.volatile.shared.u32 %r8, [word+4]");
    for part in ["`ld.volatile.shared.u32`", "which are 0x9", "byte 4 from the start of `word"] {
        assert!(shared.contains(part), "`{part}` is missing: {shared}");
    }
}

/// In this schedule every block takes a ticket after those before it have ended, and so comes after all of them. What the
/// blocks know of each other is shared, so that it costs about as much as the blocks themselves.
#[test]
fn a_chain_of_many_blocks() {
    let body = "setp.ne.u32 %p1, %r1, 0; @%p1 bra END;\n\
         atom.add?.gpu.global.u32 %r12, [%rd2], 1;\n\
         ld.global.u32 %r10, [%rd1]; add.u32 %r10, %r10, 1; st.global.u32 [%rd1], %r10;\n\
         atom.add.release.gpu.global.u32 %r12, [%rd2], 1;";
    let blocks = Grid(20_000, 32, 1);
    let found = |order: &str| {
        let report = outcome(&body.replace('?', order), blocks, (Schedule::Forward, 1)).unwrap();
        report.findings.iter().map(|finding| finding.hazard).collect::<Vec<_>>()
    };
    assert_eq!(found(".acquire"), []);
    assert!(found(".relaxed").contains(&Hazard::GlobalRace));
}

/// Writes the corpus as one module, `races.ptx`, and as a table of its launches, `races.tsv`, into the folder that
/// `COALESCE_RACES` names, for a GPU and compute-sanitizer (`tests/race_runs.rs`).
#[test]
#[ignore = "writes files"]
fn the_corpus_is_written_as_a_module() {
    let folder = std::env::var_os("COALESCE_RACES").expect("COALESCE_RACES names a folder");
    let (mut module, mut table) = (HEAD.to_owned(), String::new());
    for (index, case) in all().iter().enumerate() {
        for (kind, body) in [("broken", &case.broken), ("repaired", &case.repaired)] {
            let (name, Grid(blocks, threads, cluster)) =
                (format!("races_{index}_{kind}"), case.grid);
            module += &entry(&name, body);
            table += &format!("{name}\t{blocks}\t{threads}\t{cluster}\t{}\n", case.name);
        }
    }
    let folder = std::path::Path::new(&folder);
    std::fs::write(folder.join("races.ptx"), module).expect("a writable folder");
    std::fs::write(folder.join("races.tsv"), table).expect("a writable folder");
}

#[test]
fn an_access_in_a_helper_names_the_line_that_inlines_it() {
    let body = "st.shared.u32 [%r5], %r1; xor.b32 %r10, %r5, 4;\n\
                .loc 2 12 1, function_name $L__info_string0, inlined_at 1 9 3\n\
                ld.shared.u32 %r8, [%r10];";
    let found = message(body, WARP);
    for part in ["(kernel.rs:9, which inlines helper.rs:12)", "(kernel.rs:7)"] {
        assert!(found.contains(part), "`{part}` is missing: {found}");
    }
}

/// A value that races is used where it is compared, though every value would compare alike; one that is dropped is not.
#[test]
fn a_comparison_uses_what_races() {
    let body = |drop: &str| {
        format!(
            "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; setp.ne.u32 %p2, %r2, 0; @%p2 bra W; ld.global.u32 %r8, [%rd1];\n\
             setp.gt.s32 %p3, %r8, 2147483647; {drop} @%p3 st.global.u32 [%rd2], 1; bra END;\n\
             W: st.global.u32 [%rd1], 5;"
        )
    };
    for way in ways() {
        let found = outcome(&body(""), BLOCKS, way).unwrap().findings;
        assert!(found.iter().any(|found| found.hazard == Hazard::GlobalRace), "{way:?}: {found:?}");
        let found = outcome(&body("and.pred %p3, %p3, %p2;"), BLOCKS, way).unwrap().findings;
        assert_eq!(found, [], "{way:?}");
    }
}

//! Every pattern, variant and size on the virtual device: results, hazards, and counted traffic.

mod curves;
mod not_run;

use crate::snapshots;
use coalesce::Counted;
use coalesce::arrays::Arrays;
use coalesce::count::{count, count_all, count_kernels, disagreements};
use coalesce::pattern::{Pattern, Size, Variant};
use coalesce::verify::{
    Point, VerifyOptions, VerifyOutcome, case, launch_name, verify, verify_points,
};
use cuda_host::{Checks, Choice, Gpu, GpuError, Image};
use host::CATALOGUE;
use host::patterns::ALL as PATTERNS;
use results::Counts;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use virtual_gpu::OwnMachine;

/// The default of `coalesce verify`, and so the seed of the run on a GPU whose outputs are committed.
const SEED: u64 = 1;

/// A device that the test's thread has for itself: it counts what it ran.
pub fn device() -> (OwnMachine, Gpu) {
    opened(Gpu::open_checked)
}

/// The device, started with or without the model of time.
pub fn opened(
    open: fn(&Choice, &'static [Image], Checks) -> Result<Gpu, GpuError>,
) -> (OwnMachine, Gpu) {
    let machine = OwnMachine::new();
    let choice = Choice::Virtual("h200".to_owned());
    let gpu = open(&choice, CATALOGUE.images, Checks::all())
        .expect("the virtual device starts everywhere");
    (machine, gpu)
}

fn pattern(name: &str) -> &'static Pattern {
    CATALOGUE.select(name).expect("a pattern of the registry").pattern
}

/// Returns what ran on the device since the last call.
pub fn counted(gpu: &Gpu) -> Counted {
    Counted::take(gpu.virtual_device().expect("the device is virtual"))
}

/// A pattern, and what was counted of its kernels.
type OfPattern = (&'static Pattern, Vec<(&'static Variant, Counted)>);

/// Returns what was counted of each pattern's kernels, executed once for all tests.
pub fn kernels() -> &'static [OfPattern] {
    static ALL: OnceLock<Vec<OfPattern>> = OnceLock::new();
    ALL.get_or_init(|| {
        // The hazards are those of `verified`.
        let (_machine, gpu) =
            opened(|choice, images, _| Gpu::open_untimed(choice, images, Checks::none()));
        let mut all: Vec<OfPattern> =
            PATTERNS.iter().map(|pattern| (*pattern, Vec::new())).collect();
        let of = |_: &Pattern, variant, counted: &Counted| (variant, counted.clone());
        count_kernels(&gpu, PATTERNS, of, |place, one| all[place].1.push(one))
            .expect("the patterns run");
        all
    })
}

/// Returns what was counted of the whole catalogue, once for all tests.
pub fn counts() -> Counts {
    static COUNTS: OnceLock<Counts> = OnceLock::new();
    let counts = COUNTS.get_or_init(|| {
        let _machine = OwnMachine::new();
        count_all(&CATALOGUE, PATTERNS.iter().copied(), |_| {}).expect("the patterns run")
    });
    counts.clone()
}

/// The run of a variant at a size.
pub struct Verified {
    pub name: String,
    /// As in the file of the GPU's outputs.
    pub launch: String,
    pub outcome: VerifyOutcome,
    pub digests: Vec<String>,
    pub findings: Vec<String>,
}

/// Every variant at every size, with the inputs that the GPU had; executed once for all tests.
pub fn verified() -> &'static [Verified] {
    static ALL: OnceLock<Vec<Verified>> = OnceLock::new();
    ALL.get_or_init(|| {
        let (_machine, gpu) = opened(Gpu::open_untimed);
        let (stop, mut all) = (AtomicBool::new(false), Vec::new());
        let options = VerifyOptions { digests: true, ..VerifyOptions::new(SEED, &stop) };
        let points = PATTERNS.iter().copied().flat_map(Point::all);
        let verified = verify_points(&gpu, points, &options, |done| {
            let Point { pattern, size, .. } = &done.point;
            all.extend(done.variants.into_iter().map(|one| Verified {
                name: format!(
                    "{}/{} at {}",
                    pattern.name,
                    one.variant.name,
                    pattern.show_size(size)
                ),
                launch: launch_name(pattern, one.variant, size),
                outcome: one.outcome,
                digests: one.digests,
                findings: one.hazards.iter().map(ToString::to_string).collect(),
            }));
        });
        verified.expect("the launches succeed");
        all
    })
}

#[test]
fn every_variant_is_correct_and_without_hazards_at_every_size() {
    let (mut correct, mut not_run) = (0, BTreeMap::<(&str, &str), Vec<&str>>::new());
    let mut lacks_devices = 0;
    for Verified { name, outcome, findings, .. } in verified() {
        match outcome {
            VerifyOutcome::Correct => correct += 1,
            VerifyOutcome::NotRun(reason) if reason.ends_with("the machine has one device") => {
                lacks_devices += 1;
            }
            VerifyOutcome::NotRun(reason) => {
                let (variant, size) = name.split_once(" at ").expect("a name has a size");
                not_run.entry((variant, reason)).or_default().push(size);
            }
            VerifyOutcome::Wrong(fault) => panic!("{name}: {fault}"),
        }
        assert!(findings.is_empty(), "{name}: {}", findings[0]);
    }
    println!("{correct} of {} are correct, the others' preconditions are listed", verified().len());
    let not_run: Vec<(&str, &str, String)> = not_run
        .into_iter()
        .map(|((variant, reason), sizes)| (variant, reason, sizes.join("; ")))
        .collect();
    let observed: Vec<(&str, &str, &str)> =
        not_run.iter().map(|(variant, reason, sizes)| (*variant, *reason, &**sizes)).collect();
    assert_eq!(observed, not_run::NOT_RUN, "what does not run, and its list");
    let all: usize =
        PATTERNS.iter().map(|pattern| pattern.variants.len() * pattern.verify_sizes.len()).sum();
    assert_eq!(verified().len(), all);
    // All of these run in host/tests/peer_to_peer.rs.
    let needs_others = pattern("peer_to_peer");
    assert_eq!(lacks_devices, needs_others.variants.len() * needs_others.verify_sizes.len());
}

#[test]
fn traffic_is_what_the_variants_promise() {
    for (pattern, kernels) in kernels() {
        let size = Size::new(pattern.count_size);
        for (variant, counted) in kernels {
            let wrong = disagreements(&(variant.expect)(&size), &counted.counters);
            assert!(wrong.is_empty(), "{}/{}: {}", pattern.name, variant.name, wrong.join("; "));
        }
    }
}

#[test]
fn counters_are_those_of_the_snapshot() {
    for (pattern, kernels) in kernels().iter().filter(|(pattern, _)| !pattern.is_host_work()) {
        let mut text = format!("at {}\n", pattern.show_size(&Size::new(pattern.count_size)));
        for (variant, counted) in kernels {
            let counters = &counted.counters;
            let _ = writeln!(
                text,
                "{}: {} warp-instructions, {} barriers",
                variant.name, counters.warp_instructions, counters.barriers
            );
            for (name, traffic) in [
                ("global load", &counters.global_load),
                ("texture fetch", &counters.texture_load),
                ("global store", &counters.global_store),
                ("asynchronous copy", &counters.async_copy_global),
                ("bulk copy", &counters.bulk_copy),
                ("shared load", &counters.shared_load),
                ("matrix load", &counters.shared_matrix_load),
                ("shared store", &counters.shared_store),
                ("shared atomic", &counters.shared_atomic),
                ("local load", &counters.local_load),
                ("constant load", &counters.constant_load),
            ] {
                if traffic.requests > 0 {
                    let _ = writeln!(
                        text,
                        "    {name}: {} requests, {} bytes, {} sectors, {} lines, {} wavefronts",
                        traffic.requests,
                        traffic.bytes,
                        traffic.sectors,
                        traffic.lines,
                        traffic.wavefronts
                    );
                }
            }
            for (name, traffic) in [
                ("global atomic", &counters.global_atomic),
                ("global reduction", &counters.global_reduction),
            ] {
                if traffic.requests > 0 {
                    let _ = writeln!(
                        text,
                        "    {name}: {} requests, {} lanes, {} sectors, {} sector passes",
                        traffic.requests, traffic.lanes, traffic.sectors, traffic.sector_updates
                    );
                }
            }
        }
        snapshots::compare(&format!("kernels/snapshots/{}.traffic.txt", pattern.name), &text);
    }
}

/// The Best Practices Guide's point about whole arrays: 2^20 shifted words touch one sector more.
#[test]
fn a_shifted_array_covers_one_sector_more() {
    let covered = |offset: usize| {
        let words = 1_usize << 20;
        (offset + words).div_ceil(8) - offset / 8
    };
    assert_eq!((covered(0), covered(8), covered(3)), (131_072, 131_072, 131_073));
}

/// Sectors and lines of a strided warp, for every stride of the sweep.
#[test]
fn strides_cost_the_sectors_of_the_formula() {
    let (_guard, gpu) = device();
    let pattern = pattern("stride");
    for stride in 1..=64 {
        let size = Size::new(&[1024, stride]);
        let case = case(pattern, &size, 5);
        let arrays = Arrays::new(&gpu, &case).expect("the arrays fit");
        let outcome =
            verify(&gpu, &case, &arrays, &pattern.variants[1], &size).expect("the launch succeeds");
        assert_eq!(outcome, VerifyOutcome::Correct);
        let loads = counted(&gpu).counters.global_load;
        assert_eq!(loads.requests, 32);
        assert_eq!(loads.sectors, 32 * (4 * stride as u64).min(32), "stride {stride}");
        assert_eq!(loads.lines, 32 * (stride as u64).min(32), "stride {stride}");
    }
}

/// Sectors and lines of a shifted warp, for every offset of the sweep.
#[test]
fn offsets_cost_the_sectors_of_the_formula() {
    let (_guard, gpu) = device();
    let pattern = pattern("misalignment");
    for offset in 0..=32 {
        let size = Size::new(&[1024, offset]);
        let case = case(pattern, &size, 5);
        let arrays = Arrays::new(&gpu, &case).expect("the arrays fit");
        let outcome =
            verify(&gpu, &case, &arrays, &pattern.variants[0], &size).expect("the launch succeeds");
        assert_eq!(outcome, VerifyOutcome::Correct);
        let loads = counted(&gpu).counters.global_load;
        assert_eq!(loads.sectors, 32 * if offset % 8 == 0 { 4 } else { 5 }, "offset {offset}");
        assert_eq!(loads.lines, 32 * if offset % 32 == 0 { 1 } else { 2 }, "offset {offset}");
    }
}

/// The wavefronts of strided reads and writes, for every stride of the sweep.
#[test]
fn strides_conflict_by_the_greatest_common_divisor() {
    let (_guard, gpu) = device();
    let pattern = pattern("bank_conflicts");
    for stride in 1..=33_u32 {
        let size = Size::new(&[1024, stride as usize]);
        let case = case(pattern, &size, 5);
        let arrays = Arrays::new(&gpu, &case).expect("the arrays fit");
        // The largest power of two in the stride, up to 32.
        let degree = 1_u64 << stride.trailing_zeros();
        for variant in 0..2 {
            let outcome = verify(&gpu, &case, &arrays, &pattern.variants[variant], &size)
                .expect("the launch succeeds");
            assert_eq!(outcome, VerifyOutcome::Correct);
            let counters = counted(&gpu).counters;
            let traffic = [counters.shared_load, counters.shared_store][variant];
            assert_eq!(traffic.requests, 32 * 64);
            assert_eq!(traffic.wavefronts, 32 * 64 * degree, "stride {stride}");
        }
    }
}

/// 32 random banks: the fullest has 3.53 lanes on average.
#[test]
fn random_banks_conflict_three_and_a_half_times() {
    let (_guard, gpu) = device();
    let pattern = pattern("bank_conflicts");
    let variant = pattern
        .variants
        .iter()
        .find(|variant| variant.name == "random")
        .expect("a variant of the pattern");
    let size = Size::new(&[1 << 17, 1]);
    let case = case(pattern, &size, 5);
    let arrays = Arrays::new(&gpu, &case).expect("the arrays fit");
    let outcome = verify(&gpu, &case, &arrays, variant, &size).expect("the launch succeeds");
    assert_eq!(outcome, VerifyOutcome::Correct);
    let loads = counted(&gpu).counters.shared_load;
    let average = loads.wavefronts as f64 / loads.requests as f64;
    // The fullest bank scatters by about 0.8, its mean over 4096 warps by 0.8 / 64 = 0.0125.
    assert!((average - 3.53).abs() < 0.05, "{average}");
}

/// Sectors and lines of the five shapes, and the shares of them that were asked for.
#[test]
fn bus_utilization_is_the_same_with_and_without_l1() {
    let (_guard, gpu) = device();
    let pattern = pattern("bus_utilization");
    for (variant, counted) in count(&gpu, pattern).expect("the pattern runs") {
        let loads = counted.counters.global_load;
        let shape = variant.name.trim_end_matches("_ca").trim_end_matches("_cg");
        // Distinct words asked for, sectors, lines, and the shares of both in percent.
        let (words, sectors, lines, of_sectors, of_lines) = match shape {
            "aligned" | "permuted" => (32, 4, 1, 100.0, 100.0),
            "misaligned" => (32, 5, 2, 80.0, 50.0),
            "one_address" => (1, 1, 1, 12.5, 3.125),
            "random" => (32, 32, 32, 12.5, 3.125),
            other => panic!("no such shape: {other}"),
        };
        assert_eq!(loads.sectors, sectors * loads.requests, "{}", variant.name);
        assert_eq!(loads.lines, lines * loads.requests, "{}", variant.name);
        assert_eq!(f64::from(words * 4 * 100) / (sectors * 32) as f64, of_sectors);
        assert_eq!(f64::from(words * 4 * 100) / (lines * 128) as f64, of_lines);
    }
}

/// The wavefronts of constant memory and of a parameter with an index, for every value of the sweep.
#[test]
fn constant_requests_take_a_pass_per_distinct_word() {
    let (_guard, gpu) = device();
    let pattern = pattern("constant_memory");
    for distinct in 1..=32 {
        let size = Size::new(&[256, distinct]);
        let case = case(pattern, &size, 5);
        let arrays = Arrays::new(&gpu, &case).expect("the arrays fit");
        for name in ["parameter", "constant"] {
            let variant = pattern
                .variants
                .iter()
                .find(|variant| variant.name == name)
                .expect("a variant of the pattern");
            let outcome =
                verify(&gpu, &case, &arrays, variant, &size).expect("the launch succeeds");
            assert_eq!(outcome, VerifyOutcome::Correct);
            let counters = counted(&gpu).counters;
            assert_eq!(counters.constant_load.requests, 8 * 256, "{name}");
            assert_eq!(
                counters.constant_load.wavefronts,
                8 * 256 * distinct as u64,
                "{name}, {distinct}"
            );
        }
    }
}

/// Asynchronous copies move the whole array once, in requests of their width; a bulk copy moves tiles.
#[test]
fn asynchronous_copies_are_counted_on_both_sides() {
    let (_guard, gpu) = device();
    let pattern = pattern("async_copy");
    let bytes = 4 * pattern.count_size[0] as u64;
    for (variant, counted) in count(&gpu, pattern).expect("the pattern runs") {
        let counters = counted.counters;
        let global = counters.async_copy_global;
        let lane_bytes = match variant.name {
            "async_4" => 4,
            "async_8" => 8,
            "async_16" | "pipelined" => 16,
            "bulk" => {
                assert_eq!(counters.bulk_copy.bytes, bytes);
                assert_eq!(counters.bulk_copy.requests, bytes / 8192);
                0
            }
            _ => 0,
        };
        let moved = if lane_bytes == 0 { 0 } else { bytes };
        assert_eq!((global.bytes, global.sectors), (moved, moved / 32), "{}", variant.name);
        assert_eq!(global.lanes * lane_bytes, moved, "{}", variant.name);
        assert_eq!(counters.async_copy_shared.wavefronts, moved / 128, "{}", variant.name);
        let loaded = counters.global_load.bytes;
        let through_registers = variant.name.starts_with("registers");
        assert_eq!(loaded, if through_registers { bytes } else { 0 }, "{}", variant.name);
    }
}
/// The executor's counters of one variant at one size.
fn counters_of(gpu: &Gpu, pattern: &str, variant: &str, size: &[usize]) -> Counted {
    let selection =
        CATALOGUE.select(&format!("{pattern}/{variant}")).expect("a variant of the registry");
    let size = Size::new(size);
    let case = case(selection.pattern, &size, 5);
    let arrays = Arrays::new(gpu, &case).expect("the arrays fit");
    let variant = selection.variant.expect("a variant was named");
    let outcome = verify(gpu, &case, &arrays, variant, &size).expect("the launch succeeds");
    assert_eq!(outcome, VerifyOutcome::Correct);
    counted(gpu)
}

/// The tree that works on every second, fourth .. thread keeps 95 warps of a block busy, the others 20;
/// only the one that spreads the words has conflicts. Shuffles cost shared memory nothing.
#[test]
fn trees_keep_warps_busy_and_shuffles_no_banks() {
    let (_guard, gpu) = device();
    let blocks = 8;
    for (variant, requests, wavefronts) in [
        ("interleaved", 2 * 95 + 1, 2 * 95 + 1),
        ("strided", 2 * 20 + 1, 2 * 95 + 1),
        ("sequential", 2 * 20 + 1, 2 * 20 + 1),
        ("shuffle", 1, 1),
    ] {
        let counters = counters_of(&gpu, "reduction", variant, &[blocks * 512]).counters;
        let loads = counters.shared_load;
        assert_eq!(loads.requests, blocks as u64 * requests, "{variant}");
        assert_eq!(loads.wavefronts, blocks as u64 * wavefronts, "{variant}");
        let shuffles = if variant == "shuffle" { blocks as u64 * (16 + 1) * 5 } else { 0 };
        assert_eq!(counters.warp_level_instructions, shuffles, "{variant}");
    }
}

/// A tile of each kernel that scans one: Blelloch's tree takes four wavefronts, one with padding, and shuffles hardly
/// any.
#[test]
fn trees_of_scans_conflict_by_level_and_padding_ends_it() {
    let (_guard, gpu) = device();
    // Requests and wavefronts of loads, then of stores; the block's warps, and its barriers.
    for (variant, loads, stores, (warps, barriers)) in [
        ("hillis_steele", [129, 129], [144, 144], (16, 9)),
        ("blelloch", [94, 394], [76, 301], (8, 19)),
        ("blelloch_padded", [94, 94], [76, 76], (8, 19)),
        ("shuffle", [16, 16], [17, 17], (16, 2)),
    ] {
        let counters = counters_of(&gpu, "scan", variant, &[512]).counters;
        let (load, store) = (counters.shared_load, counters.shared_store);
        assert_eq!([load.requests, load.wavefronts], loads, "{variant}");
        assert_eq!([store.requests, store.wavefronts], stores, "{variant}");
        assert_eq!(counters.barriers, warps * barriers, "{variant}");
    }
}

/// Two passes read the elements twice, and one pass once; the sums of tiles come on top.
#[test]
fn scans_move_three_words_per_element_or_two() {
    let (_guard, gpu) = device();
    // 128 wide tiles, and 2048, 4 and 1 tiles of 512.
    let n = 1_u64 << 20;
    // Words read, words written, and lanes that ask what lies before their tile.
    for (variant, read, written, asking) in [
        ("shuffle", 2 * (n + 2048) + 4, n + 2 * (2048 + 4), (2047 + 3) * 512),
        ("vectorized", 2 * n + 128, n + 2 * 128, 127 * 256),
    ] {
        let counted = counters_of(&gpu, "scan", variant, &[n as usize]);
        let counters = &counted.counters;
        assert_eq!(counters.global_load.bytes, 4 * (read + asking), "{variant}");
        assert_eq!(counters.global_store.bytes, 4 * written, "{variant}");
        let kernels: Vec<&str> = counted.kernels.keys().map(String::as_str).collect();
        assert!(kernels.contains(&"scan_sums") && kernels.len() == 2, "{kernels:?}");
    }
    let counters = counters_of(&gpu, "scan", "look_back", &[n as usize]).counters;
    let looks = (1..128).map(|tile| 2 * tile.min(32)).sum::<u64>();
    assert_eq!(counters.global_load.bytes, 4 * (n + looks));
    assert_eq!(counters.global_store.bytes, 4 * (n + 2 * (2 * 128 - 1)));
}

/// Checks that what the variants promise holds for every distribution; a bank per lane is one pass for all.
#[test]
fn histograms_conflict_as_their_input_says() {
    let (_guard, gpu) = device();
    let pattern = CATALOGUE.select("histogram").expect("a pattern of the registry").pattern;
    let n = 1 << 16;
    for distribution in 0..3 {
        let size = [n, distribution];
        for variant in pattern.variants {
            let counted = counters_of(&gpu, "histogram", variant.name, &size);
            let wrong = disagreements(&(variant.expect)(&Size::new(&size)), &counted.counters);
            assert!(wrong.is_empty(), "{} at {size:?}: {}", variant.name, wrong.join("; "));
        }
        let wavefronts = |variant| {
            let counted = counters_of(&gpu, "histogram", variant, &size);
            counted.counters.shared_atomic_wavefronts().expect("it counts in shared memory")
        };
        assert_eq!(wavefronts("lane_private"), 1.0);
        if distribution == 2 {
            assert_eq!((wavefronts("block_private"), wavefronts("padded")), (1.0, 1.0));
            // Four equal bytes are one request instead of four.
            let requests = |variant| {
                let counted = counters_of(&gpu, "histogram", variant, &size);
                counted.counters.shared_atomic.requests
            };
            assert_eq!(requests("coarsened"), 4 * requests("aggregated"));
        } else {
            assert!(
                wavefronts("block_private") > 1.5
                    && wavefronts("padded") > wavefronts("block_private")
            );
        }
    }
}

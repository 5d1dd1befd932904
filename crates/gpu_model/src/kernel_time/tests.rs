//! The model's answers for loads whose counts are set.

use super::*;

fn load<'a>(counters: &'a Counters, estimate: &'a Estimate) -> Load<'a> {
    let (warps, blocks) = (8 << 20, 1 << 20);
    let larger = WorkScale::default();
    Load {
        counters,
        estimate,
        warps,
        blocks,
        resident: 8,
        larger,
        all_set_aside: false,
        links: &[],
    }
}

#[test]
fn a_large_streaming_kernel_runs_at_the_rate_of_dram() {
    let profile = Profile::named("h200").unwrap();
    let bytes: u64 = 16 << 30;
    let counters = Counters::default();
    let estimate = Estimate { dram_read_bytes: bytes, ..Estimate::default() };
    let time = parts(&profile, &load(&counters, &estimate)).together_ns();
    let rate = bytes as f64 / time * 1e9;
    let part = rate / profile.dram_bytes_per_second;
    assert!((1.0..1.0 / (1.0 - READ_WRITE_TURNAROUND)).contains(&part), "{rate}");
    // A copy of as many bytes has the rate that the profile gives for copies.
    let written = Estimate {
        dram_read_bytes: bytes / 2,
        dram_whole_sectors_written: bytes / 64,
        ..Estimate::default()
    };
    let copied = parts(&profile, &load(&counters, &written)).dram_ns;
    assert_eq!(copied, bytes as f64 / profile.dram_bytes_per_second * 1e9);
}

#[test]
fn parts_with_queues_hardly_disturb_each_other_and_waiting_does() {
    let time = |parts: Parts| parts.together_ns();
    let memory = time(Parts { dram_ns: 1.0, l2_ns: 1.0, ..Parts::default() });
    let inside = time(Parts { dram_ns: 1.0, issue_ns: 1.0, ..Parts::default() });
    let waiting = time(Parts { dram_ns: 1.0, waiting_ns: 1.0, ..Parts::default() });
    let ways = Parts { zero_copy_read_ns: 1.0, zero_copy_write_ns: 1.0, ..Parts::default() };
    assert!((1.09..1.10).contains(&memory) && (1.09..1.10).contains(&inside), "{memory} {inside}");
    assert!((1.25..1.27).contains(&waiting), "{waiting}");
    assert_eq!(time(ways), waiting, "the two ways of the bus");
    // Arithmetic alone is not in memory's way.
    let own = time(Parts { issue_ns: 1.0, waiting_ns: 1.0, ..Parts::default() });
    assert_eq!(own, inside);
}

#[test]
fn a_block_holds_its_places_while_its_warps_start() {
    let profile = Profile::named("h200").unwrap();
    let (counters, estimate) = (Counters::default(), Estimate::default());
    let of = |resident| {
        let parts = parts(&profile, &Load { resident, ..load(&counters, &estimate) });
        parts.waiting_ns / parts.start_ns
    };
    assert_eq!((of(1), of(8)), (1.0, 0.125));
}

#[test]
fn a_block_starts_in_the_same_time_with_one_warp_and_with_sixteen() {
    let profile = Profile::named("h200").unwrap();
    let (counters, estimate) = (Counters::default(), Estimate::default());
    let of = |warps| {
        let blocks = 32768;
        let empty = Load { blocks, warps: warps * blocks, ..load(&counters, &estimate) };
        parts(&profile, &empty).start_ns
    };
    assert_eq!(of(1), of(16));
    approx::assert_abs_diff_eq!(of(1) / 1e3, 19.7, epsilon = 0.1);
    approx::assert_abs_diff_eq!(of(32) / of(16), 1.2, epsilon = 1e-9);
}

#[test]
fn lanes_are_given_what_they_share_as_slowly_as_what_is_each_ones() {
    let profile = Profile::named("h200").unwrap();
    let of = |bytes: u64| {
        let mut counters = Counters::default();
        (counters.global_load.requests, counters.global_load.bytes) = (1 << 20, bytes << 25);
        (counters.global_load.lines, counters.global_load.sectors) = (1 << 20, 1 << 20);
        let estimate = Estimate { tag_cycles: 1 << 20, ..Estimate::default() };
        parts(&profile, &load(&counters, &estimate)).l1_ns
    };
    approx::assert_abs_diff_eq!(of(16) / of(8), 2.0, epsilon = 1e-6);
    approx::assert_abs_diff_eq!(of(16) / of(4), 4.0 / GLOBAL_REQUEST_CYCLES, epsilon = 1e-6);
}

#[test]
fn lines_that_are_stored_keep_l1_busy_unless_they_go_on_together() {
    let profile = Profile::named("h200").unwrap();
    let mut counters = Counters::default();
    (counters.global_store.lines, counters.global_store.sectors) = (1 << 30, 1 << 30);
    counters.global_store.bytes_distinct = 32 << 30;
    let of = |counters: &Counters, merged_store_lines| {
        let estimate = Estimate { merged_store_lines, ..Estimate::default() };
        parts(&profile, &load(counters, &estimate)).l1_ns
    };
    let looked_up = of(&counters, 1 << 30);
    let cycles = |time: f64| time / looked_up - 1.0;
    approx::assert_abs_diff_eq!(cycles(of(&counters, 0)), STORED_LINE_CYCLES, epsilon = 1e-9);
    approx::assert_abs_diff_eq!(
        cycles(of(&counters, 1 << 29)),
        STORED_LINE_CYCLES / 2.0,
        epsilon = 1e-9
    );
    counters.global_store.bytes_distinct /= 4;
    approx::assert_abs_diff_eq!(
        cycles(of(&counters, 0)),
        1.75 * STORED_LINE_CYCLES,
        epsilon = 1e-9
    );
}

#[test]
fn a_request_of_one_line_takes_longer_than_the_line() {
    let profile = Profile::named("h200").unwrap();
    let of = |requests| {
        let mut counters = Counters::default();
        (counters.global_load.requests, counters.global_load.lines) = (requests, 3 << 20);
        let estimate = Estimate { tag_cycles: 3 << 20, ..Estimate::default() };
        parts(&profile, &load(&counters, &estimate)).l1_ns
    };
    approx::assert_abs_diff_eq!(of(3 << 20) / of(1 << 20), GLOBAL_REQUEST_CYCLES, epsilon = 1e-6);
}

#[test]
fn a_launch_that_is_twice_as_large_takes_twice_as_long() {
    let profile = Profile::named("h200").unwrap();
    let mut counters = Counters::default();
    counters.shared_load.wavefronts = 1 << 30;
    let estimate = Estimate { chain_cycles: 1 << 40, ..Estimate::default() };
    let once = load(&counters, &estimate);
    let twice = Load { larger: WorkScale::all(2.0), ..once };
    let ratio = parts(&profile, &twice).together_ns() / parts(&profile, &once).together_ns();
    assert!((1.99..2.01).contains(&ratio), "{ratio}");
}

#[test]
fn no_launch_ends_before_its_longest_warp() {
    let profile = Profile::named("h200").unwrap();
    let counters = Counters::default();
    let estimate =
        Estimate { chain_cycles: 8 << 20, longest_chain_cycles: 1_980_000, ..Estimate::default() };
    let once = load(&counters, &estimate);
    assert_eq!(parts(&profile, &once).waiting_ns, 1e6, "1.98 million cycles at 1.98 GHz");
    // Blocks with three times the work: each warp waits one cycle in the mean, and two more then.
    let larger = WorkScale { blocks: 1.0, ..WorkScale::all(3.0) };
    let more = parts(&profile, &Load { larger, ..once }).waiting_ns - 1e6;
    approx::assert_abs_diff_eq!(more * 1.98, 2.0, epsilon = 1e-3);
}

#[test]
fn no_launch_ends_before_the_busiest_multiprocessor() {
    let profile = Profile::named("h200").unwrap();
    let work = InsideWork { issue_cycles: 4_000_000, l1_cycles: 2_000_000, l2_lines: 1_000_000 };
    let estimate = Estimate { busiest: work, ..Estimate::default() };
    let counters = Counters::default();
    let of = |larger| parts(&profile, &Load { larger, ..load(&counters, &estimate) });
    let ns = |cycles: f64| cycles / profile.clock_hz * 1e9;
    let all = of(WorkScale::default());
    assert_eq!(all.l1_ns, ns(2e6));
    assert_eq!(all.requests_ns, ns(1e6) * profile.l2_request_cycles);
    let issued = ns(4e6) / f64::from(profile.issue_slots_per_clock) / ISSUED;
    assert!((all.issue_ns / issued - 1.0).abs() < 1e-9);
    assert_eq!(of(WorkScale::all(2.0)).l1_ns, 0.0, "too few blocks to say");
}

#[test]
fn the_first_launch_takes_longer() {
    assert_eq!([0, 64, 128, 9999].map(first_launch_ns), [0.0, 225.0, 450.0, 450.0]);
}

#[test]
fn what_takes_longer_than_its_count_says() {
    let profile = Profile::named("h200").unwrap();
    let mut counters = Counters::default();
    (counters.warp_instructions, counters.global_load.lines) = (1 << 30, 1 << 30);
    let of = |estimate: Estimate| parts(&profile, &load(&counters, &estimate));
    let tag_cycles = 1 << 30;
    let issue_cycles = 1 << 30;
    let read =
        Estimate { dram_read_bytes: 1 << 40, tag_cycles, issue_cycles, ..Estimate::default() };
    let plain = of(read.clone());
    let alone = of(Estimate { row_miss_ratio: 1.0, ..read.clone() });
    approx::assert_abs_diff_eq!(alone.dram_ns / plain.dram_ns, 1.0 + ROW_MISS_COST, epsilon = 1e-9);
    let banked = of(Estimate { tag_cycles: tag_cycles / 4, ..read.clone() });
    approx::assert_abs_diff_eq!(plain.l1_ns / banked.l1_ns, 4.0, epsilon = 1e-9);
    let all = of(Estimate { pipe_cycles: 2 << 30, ..read.clone() });
    approx::assert_abs_diff_eq!(all.issue_ns / plain.issue_ns, 2.0, epsilon = 1e-9);
    let grouped = of(Estimate { further_groups: 1 << 30, ..read.clone() });
    approx::assert_abs_diff_eq!(
        grouped.issue_ns / plain.issue_ns,
        1.0 + GROUP_SLOTS,
        epsilon = 1e-9
    );
    let cluster = of(Estimate { cluster_atomics: 132 * 1_980_000, ..read });
    approx::assert_abs_diff_eq!(cluster.atomics_ns / 1e6, CLUSTER_ATOMIC_CYCLES, epsilon = 1e-9);
}

#[test]
fn a_stored_sector_keeps_l2_busy_for_longer_than_one_that_is_read() {
    let profile = Profile::named("h200").unwrap();
    let mut stores = Counters::default();
    (stores.global_store.sectors, stores.local_store.sectors) = (1 << 20, 1 << 20);
    let stored = parts(&profile, &load(&stores, &Estimate::default())).l2_ns;
    let reads = Estimate { l1_missed_sectors: 1 << 21, ..Estimate::default() };
    let read = parts(&profile, &load(&Counters::default(), &reads)).l2_ns;
    approx::assert_abs_diff_eq!(stored / read, STORED_SECTOR, epsilon = 1e-9);
}

#[test]
fn bank_conflicts_bind_when_they_are_many() {
    let profile = Profile::named("h200").unwrap();
    let mut counters = Counters::default();
    counters.shared_load.wavefronts = 1 << 26;
    let time =
        |counters: &Counters| parts(&profile, &load(counters, &Estimate::default())).together_ns();
    let without = time(&counters);
    counters.shared_load.wavefronts *= 1024;
    assert!(time(&counters) > 100.0 * without);
}

#[test]
fn a_part_of_a_sector_costs_as_much_as_two_sectors() {
    let profile = Profile::named("h200").unwrap();
    let counters = Counters::default();
    let whole = Estimate { dram_whole_sectors_written: 1000, ..Estimate::default() };
    let partial = Estimate { dram_partial_sectors_written: 1000, ..Estimate::default() };
    let dram = |estimate: &Estimate| parts(&profile, &load(&counters, estimate)).dram_ns;
    let whole_and_read = Estimate { dram_read_bytes: 32_000, ..whole.clone() };
    assert_eq!(dram(&partial), dram(&whole_and_read), "memory reads the rest of it");
    assert!(dram(&whole_and_read) > 2.0 * dram(&whole), "and turns");
}

#[test]
fn constant_memory_costs_its_passes() {
    let profile = Profile::named("h200").unwrap();
    let time = |passes: u64| {
        let mut counters = Counters::default();
        counters.constant_load.wavefronts = passes << 24;
        parts(&profile, &load(&counters, &Estimate::default())).constant_ns
    };
    approx::assert_abs_diff_eq!(time(32) / time(1), 32.0, epsilon = 1e-9);
}

#[test]
fn what_a_block_does_once_grows_with_the_blocks() {
    let profile = Profile::named("h200").unwrap();
    let (mut all, mut once) = (Counters::default(), Counters::default());
    (all.shared_load.wavefronts, once.shared_load.wavefronts) = (3 << 20, 2 << 20);
    (all.global_reduction.lanes, once.global_reduction.lanes) = (1 << 20, 1 << 20);
    let estimate = Estimate::default();
    let larger = WorkScale { blocks: 1.0, ..WorkScale::all(100.0) };
    let before = parts(&profile, &load(&all, &estimate));
    let with_once = Estimate { once, ..Estimate::default() };
    let after = parts(&profile, &Load { larger, ..load(&all, &with_once) });
    approx::assert_abs_diff_eq!(after.l1_ns / before.l1_ns, 102.0 / 3.0, epsilon = 1e-9);
    assert_eq!(after.atomics_ns, before.atomics_ns);
}

#[test]
fn a_line_of_host_memory_costs_a_request_whatever_it_carries() {
    let profile = Profile::named("h200").unwrap();
    let counters = Counters::default();
    let time = |sectors_read, lines_read| {
        let host = LinkTraffic { sectors_read, lines_read, ..LinkTraffic::default() };
        let estimate = Estimate { host, ..Estimate::default() };
        parts(&profile, &load(&counters, &estimate)).zero_copy_read_ns
    };
    let bytes = 32.0 * f64::from(1 << 20);
    let whole = bytes / profile.zero_copy_read_bytes_per_second * 1e9;
    assert_eq!(time(1 << 20, 1 << 18), whole);
    let single = f64::from(1 << 20) / profile.zero_copy_lines_per_second * 1e9;
    assert_eq!(time(1 << 20, 1 << 20), single);
    assert!(single > 1.5 * whole);
    let host_small_pages = LinkTraffic { sectors_read: 1 << 20, ..LinkTraffic::default() };
    let estimate = Estimate { host_small_pages, ..Estimate::default() };
    let small_pages = parts(&profile, &load(&counters, &estimate)).zero_copy_read_ns;
    approx::assert_abs_diff_eq!(small_pages * SMALL_PAGES / whole, 1.0, epsilon = 1e-9);
}

#[test]
fn remote_sectors_cost_the_time_of_their_link() {
    let profile = Profile::named("h100").unwrap();
    let link = profile.link.clone().unwrap();
    let traffic =
        LinkTraffic { sectors_read: 1 << 20, sectors_written: 1 << 19, ..LinkTraffic::default() };
    let estimate = Estimate { peers: vec![traffic, traffic], ..Estimate::default() };
    let counters = Counters::default();
    let links = [&link, &link];
    let parts = parts(&profile, &Load { links: &links, ..load(&counters, &estimate) });
    let bytes = 2.0 * 32.0 * f64::from(1 << 20);
    assert_eq!(parts.peer_read_ns, bytes / link.read_bytes_per_second * 1e9);
    assert_eq!(parts.peer_write_ns, bytes / 2.0 / link.write_bytes_per_second * 1e9);
    assert_eq!((parts.dram_ns, parts.l2_ns), (0.0, 0.0));
}

#[test]
fn a_block_that_meets_at_barriers_computes_after_it_has_waited() {
    let profile = Profile::named("h200").unwrap();
    let waiting = |barriers: u64, resident: u32| {
        let mut counters = Counters::default();
        (counters.barriers, counters.shared_load.wavefronts) = (barriers, 1 << 32);
        let estimate = Estimate { chain_cycles: 1 << 36, ..Estimate::default() };
        let all = Load { resident, ..load(&counters, &estimate) };
        let parts = parts(&profile, &all);
        (parts.waiting_ns, parts.l1_ns, parts.together_ns())
    };
    let few = load(&Counters::default(), &Estimate::default()).warps;
    let (free, inside, together) = waiting(few, 1);
    assert!(together < 1.1 * free.max(inside), "one barrier, as before a sum");
    let (_, _, in_turn) = waiting(2 * few, 1);
    approx::assert_abs_diff_eq!(in_turn / (free + inside), 1.0, epsilon = 1e-3);
    let (free, inside, _) = waiting(few, 8);
    let (held, _, _) = waiting(2 * few, 8);
    assert!(free + inside / 8.0 < inside && held == free, "others compute meanwhile");
}

#[test]
fn blocks_that_all_run_at_once_load_and_compute_in_step() {
    let profile = Profile::named("h200").unwrap();
    let counters = Counters { warp_instructions: 1 << 21, ..Counters::default() };
    let of = |blocks: u64, turns: f64| {
        let (dram_read_bytes, issue_cycles) = (1 << 24, 1 << 21);
        let estimate = Estimate { turns, dram_read_bytes, issue_cycles, ..Estimate::default() };
        let parts =
            parts(&profile, &Load { warps: 8 * blocks, blocks, ..load(&counters, &estimate) });
        parts.together_ns() / joined(&parts.named(), [QUEUE_NORM, STALL_NORM])
    };
    assert!(of(8 * 132, 1.0) > 1.05, "no other block computes while one loads");
    assert_eq!(of(8 * 132 + 1, 1.0), 1.0, "the last block does");
    assert_eq!(of(8 * 132, IN_STEP_TURNS / 64.0), 1.0, "a long loop loses the step");
    let few = of(132, IN_STEP_TURNS / 64.0);
    assert!(few > 1.0, "that of few warps later: {few}");
}

#[test]
fn blocks_behind_the_first_weigh_as_much_as_in_the_whole_launch() {
    let profile = Profile { block_start_cycles: 0.0, ..Profile::named("h200").unwrap() };
    // 8 x 132 blocks of 8 warps run at once: a quarter of what was executed, and a thousandth of the launch.
    let first_warps = 8 * 8 * 132;
    let estimate = Estimate {
        chain_cycles: (400 + 3 * 100) * first_warps,
        first_chain_cycles: 400 * first_warps,
        first_warps,
        ..Estimate::default()
    };
    let nothing = Counters::default();
    let executed =
        Load { warps: 4 * first_warps, blocks: first_warps / 2, ..load(&nothing, &estimate) };
    let mean = |times: f64| {
        let larger = WorkScale::all(times);
        let time = parts(&profile, &Load { larger, ..executed }).waiting_ns;
        // Four times as many warps as run at once.
        time * profile.clock_hz / 1e9 / (4.0 * times)
    };
    approx::assert_abs_diff_eq!(mean(1.0), (400.0 + 3.0 * 100.0) / 4.0, epsilon = 1e-6);
    approx::assert_abs_diff_eq!(mean(250.0), (400.0 + 999.0 * 100.0) / 1000.0, epsilon = 1e-6);
}

#[test]
fn an_l2_of_which_all_is_set_aside_is_slow() {
    let profile = Profile::named("h200").unwrap();
    let counters = Counters::default();
    let estimate = Estimate { l1_missed_sectors: 1 << 30, ..Estimate::default() };
    let free = load(&counters, &estimate);
    let time = |load: &Load<'_>| parts(&profile, load).l2_ns;
    assert_eq!(time(&Load { all_set_aside: true, ..free }) * ALL_SET_ASIDE, time(&free));
}

#[test]
fn a_scheduler_issues_in_most_of_its_slots() {
    let profile = Profile::named("h200").unwrap();
    let counters = Counters { warp_instructions: 1 << 32, ..Counters::default() };
    // Some instructions of PTX are parts of others of the machine.
    let estimate = Estimate { issue_cycles: 1 << 31, ..Estimate::default() };
    let time = parts(&profile, &load(&counters, &estimate)).issue_ns;
    let slots = profile.clock_hz * 4.0 * f64::from(profile.multiprocessors);
    approx::assert_abs_diff_eq!(
        time * slots / 1e9 * ISSUED / f64::powi(2.0, 31),
        1.0,
        epsilon = 1e-9
    );
}

#[test]
fn a_multiprocessor_sends_atomics_by_their_lines_and_sectors() {
    let profile = Profile::named("h100").unwrap();
    let cycles = |lines: u64, sectors: u64| {
        let mut counters = Counters::default();
        let counts = &mut counters.global_reduction;
        (counts.requests, counts.lines, counts.sectors) = (1 << 20, lines << 20, sectors << 20);
        let estimate = Estimate::default();
        let one = Load { warps: 1 << 20, blocks: 1, ..load(&counters, &estimate) };
        parts(&profile, &one).atomics_ns * profile.clock_hz / 1e9 / f64::from(1 << 20)
    };
    for (lines, sectors, expected) in [(1, 1, 2.0), (1, 4, 5.0), (2, 8, 10.0), (32, 32, 32.0)] {
        approx::assert_abs_diff_eq!(cycles(lines, sectors), expected, epsilon = 1e-6);
    }
}

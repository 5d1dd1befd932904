//! Estimates of kernels of a few instructions: how far a load goes, and what is counted beside traffic.

use gpu_model::{Estimate, Estimator, L2, Latencies, LinkTraffic, Ranges};
use simt::{Launch, Memory, Module, Options, Report, run_observed};
use std::ops::Range;
use std::sync::Arc;

const LATENCIES: Latencies = Latencies {
    global: 100_000,
    l2: 10_000,
    l2_line: 200,
    host: 1_000_000,
    constant: 5_000,
    shared: 30,
    arithmetic: 4,
    barrier: 60,
    peer: 0,
    blocks_at_once: 8,
    cycles_per_us: 2000,
    multiprocessors: 4,
    l1_lines: 64,
    l1_share_lines: 64,
};

/// The estimate of a kernel whose first parameter is 64 KiB of memory, which `ranges` may say is not the device's own.
fn estimated(text: &str, launch: &Launch, ranges: impl Fn(Range<u64>) -> Ranges) -> Estimate {
    estimated_with(text, launch, ranges, |_| L2::default())
}

/// As [`estimated`], where L2 is found as `l2` says of the memory.
fn estimated_with(
    text: &str,
    launch: &Launch,
    ranges: impl Fn(Range<u64>) -> Ranges,
    l2: impl Fn(Range<u64>) -> L2,
) -> Estimate {
    let module = Module::parse(&format!(".version 8.0\n.target sm_90\n.address_size 64\n{text}"));
    let module = module.expect("PTX");
    let mut memory = Memory::default();
    let start = memory.allocate(1 << 16).expect("room");
    memory.fill(start, 0, 1 << 16).expect("allocated");
    let launch = launch.clone().address(start);
    let kernel = module.kernel(&launch.kernel).expect("it is there");
    let memory_range = start..start + (1 << 16);
    let (ranges, l2) = (ranges(memory_range.clone()), l2(memory_range));
    let mut observer = Estimator::new(kernel, LATENCIES, ranges, l2, 1.0);
    let (options, mut before) = (Options::default(), Report::default());
    let (watch, memory) = (Some(&mut observer as _), &mut memory);
    let report = run_observed(&module, memory, &launch, &options, &mut before, watch);
    observer.estimate(&report.expect("it runs"))
}

fn estimate(text: &str, launch: &Launch, is_host: bool) -> Estimate {
    estimated(text, launch, |memory| Ranges {
        host: is_host.then_some(memory).into_iter().collect(),
        ..Ranges::default()
    })
}

/// A kernel with this body; `%rd1` is its memory, `%r1` the thread's index in its block.
fn kernel(body: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 data) {{
         .reg .pred %p<5>; .reg .b32 %r<20>; .reg .b64 %rd<10>; .shared .align 4 .b32 tile[64];
         ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x;
         {body}
         ret; }}"
    )
}

fn one_thread() -> Launch {
    Launch::new("k", [1, 1, 1], [1, 1, 1])
}

/// The cycles of a thread that loads the same word twice, the second time when the first is there.
fn twice(operator: &str, is_host: bool) -> u64 {
    let body = format!(
        "ld.global{operator}.u32 %r2, [%rd1]; cvt.u64.u32 %rd2, %r2; add.u64 %rd3, %rd1, %rd2;
         ld.global{operator}.u32 %r3, [%rd3]; add.u32 %r4, %r3, 1;"
    );
    estimate(&kernel(&body), &one_thread(), is_host).longest_chain_cycles
}

#[test]
fn a_load_takes_as_long_as_the_way_to_what_has_the_data() {
    let near = |cycles: u64, expected: u32| {
        let expected = u64::from(expected);
        assert!((expected..expected + 100).contains(&cycles), "{cycles}, expected {expected}");
    };
    near(twice("", false), LATENCIES.global + LATENCIES.shared);
    near(twice(".cg", false), LATENCIES.global + LATENCIES.l2);
    near(twice(".L1::no_allocate", false), LATENCIES.global + LATENCIES.l2);
    near(twice(".cg", true), 2 * LATENCIES.host);
}

#[test]
fn a_launch_ends_when_its_last_store_has_reached_l2() {
    let cycles = |store: &str| {
        let body = format!("add.u32 %r2, %r1, 1; {store}");
        estimate(&kernel(&body), &one_thread(), false).longest_chain_cycles
    };
    let [none, shared, global] =
        ["", "st.shared.u32 [tile], %r2;", "st.global.u32 [%rd1], %r2;"].map(cycles);
    let l2 = u64::from(LATENCIES.l2);
    assert!(shared < none + 20, "{shared} after {none}: nothing leaves the multiprocessor");
    assert!((none + l2..none + l2 + 20).contains(&global), "{global} after {none}");
}

#[test]
fn a_load_is_there_after_its_last_line() {
    let cycles = |shift: u32| {
        let body = format!(
            "shl.b32 %r2, %r1, {shift}; cvt.u64.u32 %rd2, %r2; add.u64 %rd3, %rd1, %rd2;
             ld.global.u32 %r3, [%rd3]; add.u32 %r4, %r3, 1; st.shared.u32 [tile], %r4;"
        );
        let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]);
        estimate(&kernel(&body), &launch, false).longest_chain_cycles
    };
    let (one, all) = (cycles(2), cycles(7));
    assert_eq!(all - one, 31 * u64::from(LATENCIES.l2_line) / 100, "{all} after {one}");
}

/// The cycles of all warps of so many blocks that each repeat a try until it succeeds, after what the first block does.
fn waiting_cycles(body: &str, blocks: u32) -> Estimate {
    estimate(&kernel(body), &Launch::new("k", [blocks, 1, 1], [32, 1, 1]), false)
}

#[test]
fn a_flag_is_waited_for_as_long_as_its_writer_takes() {
    let body = "mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, 0; @%p1 bra again;
        ld.global.u32 %r3, [%rd1]; add.u32 %r4, %r3, 1; st.relaxed.gpu.global.u32 [%rd1+4096], %r4; bra done;
        again: ld.relaxed.gpu.global.u32 %r5, [%rd1+4096]; setp.eq.u32 %p2, %r5, 0; @%p2 bra again;
        done:";
    let (alone, four) = (waiting_cycles(body, 1), waiting_cycles(body, 4));
    let writer = alone.chain_cycles;
    assert!(writer >= u64::from(LATENCIES.global));
    // The others load the flag then.
    let all = writer + 3 * (writer + u64::from(LATENCIES.global));
    let found = four.chain_cycles;
    assert!((all..all + 20 * u64::from(LATENCIES.l2)).contains(&found), "{found}, expected {all}");
}

#[test]
fn a_flag_that_is_stored_twice_makes_no_chain_of_blocks() {
    // Each block stores that it is there, waits for the one before, and stores again that it has what it waited for.
    let body = "mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 128; add.u64 %rd3, %rd1, %rd2;
        st.relaxed.gpu.global.u32 [%rd3+128], 1;
        again: ld.relaxed.gpu.global.u32 %r5, [%rd3]; setp.eq.u32 %p2, %r5, 0;
        setp.ne.u32 %p1, %r2, 0; and.pred %p2, %p2, %p1; @%p2 bra again;
        ld.global.cg.u32 %r6, [%rd3+16384]; add.u32 %r7, %r6, 2; st.relaxed.gpu.global.u32 [%rd3+128], %r7;";
    let [two, eight] = [2, 8].map(|blocks| waiting_cycles(body, blocks).longest_chain_cycles);
    assert!(eight < two + u64::from(LATENCIES.l2), "{eight}, and {two} of two blocks");
}

#[test]
fn a_barrier_of_the_grid_waits_for_its_own_blocks_and_not_for_the_next() {
    // Each turn counts up a counter, and waits until all blocks have.
    let barriers = |turns: u32, blocks: u32| {
        let body = format!(
            "mov.u32 %r2, 0; mov.u32 %r3, %nctaid.x; mov.u32 %r6, 0;
             turn: add.u32 %r6, %r6, %r3;
             setp.ne.u32 %p1, %r1, 0; @%p1 bra behind;
             atom.global.add.u32 %r4, [%rd1], 1;
             again: ld.volatile.global.u32 %r5, [%rd1]; setp.lt.u32 %p2, %r5, %r6; @%p2 bra again;
             behind: bar.sync 0; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, {turns}; @%p1 bra turn;"
        );
        waiting_cycles(&body, blocks).longest_chain_cycles
    };
    let (four, eight) = (barriers(4, 4), barriers(4, 8));
    assert!(eight < four + 2 * u64::from(LATENCIES.l2), "{eight}, and {four} of four blocks");
    assert!(eight > barriers(1, 8) + 3 * u64::from(LATENCIES.l2), "{eight}");
}

#[test]
fn a_lock_lets_one_warp_in_after_the_other() {
    let body = "setp.ne.u32 %p1, %r1, 0; @%p1 bra done;
        again: atom.relaxed.gpu.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra again;
        ld.relaxed.gpu.global.u32 %r3, [%rd1+4096]; add.u32 %r3, %r3, 1; st.relaxed.gpu.global.u32 [%rd1+4096], %r3;
        atom.global.exch.b32 %r4, [%rd1], 0;
        done:";
    let [one, four] = [1, 4].map(|blocks| waiting_cycles(body, blocks).longest_chain_cycles);
    assert!(four > one + 3 * u64::from(LATENCIES.l2), "{four}, and {one} of one");
}

#[test]
fn a_wait_for_a_clock_takes_what_the_clock_says() {
    let body = |cycles: u32| {
        format!(
            "mov.u64 %rd2, %clock64; again: mov.u64 %rd3, %clock64; sub.u64 %rd4, %rd3, %rd2;
             setp.lt.u64 %p1, %rd4, {cycles}; @%p1 bra again;"
        )
    };
    for (blocks, cycles) in [(1, 20_000), (8, 20_000), (1, 40_000)] {
        let estimate = waiting_cycles(&body(cycles), blocks);
        let mean = estimate.chain_cycles / u64::from(blocks);
        let expected = u64::from(cycles);
        assert!((expected..4 * expected).contains(&mean), "{mean}, expected {expected}");
        assert!(estimate.issue_cycles < 100, "tries take the places of nobody");
    }
}

#[test]
fn a_long_wait_for_a_clock_ends_when_it_says_however_many_warps_wait() {
    // By the difference of 64 and of 32 bits, by a point of time, and by nanoseconds, of which 1000 are 2000 cycles.
    let waits = [
        "mov.u64 %rd2, %clock64; again: mov.u64 %rd3, %clock64; sub.u64 %rd4, %rd3, %rd2;
         setp.lt.u64 %p1, %rd4, 300000; @%p1 bra again;",
        "mov.u32 %r2, %clock; again: mov.u32 %r3, %clock; sub.u32 %r4, %r3, %r2;
         setp.ge.u32 %p1, %r4, 300000; @%p1 bra done; bra again; done:",
        "mov.u64 %rd2, %clock64; add.u64 %rd2, %rd2, 300000;
         again: mov.u64 %rd3, %clock64; setp.gt.u64 %p1, %rd2, %rd3; @%p1 bra again;",
        "mov.u64 %rd2, %globaltimer; again: mov.u64 %rd3, %globaltimer; sub.u64 %rd4, %rd3, %rd2;
         setp.lt.u64 %p1, %rd4, 150000; @%p1 bra again;",
    ];
    for body in waits {
        for blocks in [1, 2, 8] {
            let found = waiting_cycles(body, blocks).chain_cycles / u64::from(blocks);
            assert!((300_000..301_000).contains(&found), "{found} of {blocks} blocks: {body}");
        }
    }
}

#[test]
fn a_loop_that_ends_before_its_time_is_over_is_no_longer_than_its_own_turns() {
    // The clock says more by the turns of the other blocks, and the loop may go on for a second.
    let body = "mov.u64 %rd2, %clock64; mov.u32 %r2, 0;
        again: mov.u64 %rd3, %clock64; sub.u64 %rd4, %rd3, %rd2; setp.gt.u64 %p1, %rd4, 2000000000; @%p1 bra done;
        add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 10000; @%p2 bra again; done:";
    let found = waiting_cycles(body, 8).longest_chain_cycles;
    assert!(found < 4 * 8 * 10_000 + 1000, "{found}");
}

#[test]
fn a_lock_whose_loop_sleeps_between_tries_lets_one_warp_in_after_the_other() {
    // nvcc takes the first try out of the loop.
    let body = "setp.ne.u32 %p1, %r1, 0; @%p1 bra done; mov.u32 %r5, 1;
        atom.global.cas.b32 %r2, [%rd1], 0, %r5; setp.eq.u32 %p2, %r2, 0; @%p2 bra inside;
        again: nanosleep.u32 100; mov.u32 %r6, 1;
        atom.global.cas.b32 %r2, [%rd1], 0, %r6; setp.ne.u32 %p2, %r2, 0; @%p2 bra again;
        inside: ld.relaxed.gpu.global.u32 %r3, [%rd1+4096]; add.u32 %r3, %r3, 1;
        st.relaxed.gpu.global.u32 [%rd1+4096], %r3; atom.global.exch.b32 %r4, [%rd1], 0;
        done:";
    let [one, four] = [1, 4].map(|blocks| waiting_cycles(body, blocks).longest_chain_cycles);
    assert!(four > one + 3 * u64::from(LATENCIES.l2), "{four}, and {one} of one");
}

#[test]
fn a_flag_is_waited_for_by_a_loop_that_sleeps_between_tries() {
    let body = "mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, 0; @%p1 bra wait;
        ld.global.u32 %r3, [%rd1]; add.u32 %r4, %r3, 1; st.volatile.global.u32 [%rd1+4096], %r4; bra done;
        wait: ld.volatile.global.u32 %r5, [%rd1+4096]; setp.ne.u32 %p2, %r5, 0; @%p2 bra done;
        again: nanosleep.u32 100; ld.volatile.global.u32 %r5, [%rd1+4096]; setp.eq.u32 %p2, %r5, 0; @%p2 bra again;
        done:";
    let writer = waiting_cycles(body, 1).chain_cycles;
    // The others load the flag then.
    let all = writer + 3 * (writer + u64::from(LATENCIES.global));
    let found = waiting_cycles(body, 4).chain_cycles;
    assert!(found >= all, "{found}, and {writer} of the writer");
}

#[test]
fn a_lock_with_tickets_lets_one_warp_in_after_the_other() {
    let body = "setp.ne.u32 %p1, %r1, 0; @%p1 bra done; atom.global.add.u32 %r2, [%rd1], 1;
        again: ld.volatile.global.u32 %r3, [%rd1+256]; setp.ne.u32 %p2, %r3, %r2; @%p2 bra again;
        membar.gl; add.u32 %r4, %r2, 1; st.volatile.global.u32 [%rd1+256], %r4;
        done:";
    let [one, four, eight] =
        [1, 4, 8].map(|blocks| waiting_cycles(body, blocks).longest_chain_cycles);
    let turn = 2 * u64::from(LATENCIES.l2);
    assert!(four >= one + 2 * turn, "{four}, and {one} of one");
    assert!(eight >= four + 4 * turn, "{eight}, and {four} of four");
}

#[test]
fn a_sleep_lasts_a_millisecond_at_most() {
    let cycles = |body: &str| estimate(&kernel(body), &one_thread(), false).longest_chain_cycles;
    let ms = cycles("nanosleep.u32 1000000;");
    assert!((2_000_000..2_000_100).contains(&ms), "{ms} cycles");
    assert_eq!(cycles("nanosleep.u32 4000000000;"), ms);
    let three = cycles(&"nanosleep.u32 4000000000;".repeat(3));
    assert!((6_000_000..6_000_100).contains(&three), "{three} cycles");
}

#[test]
fn a_sleep_takes_its_time() {
    let [none, us] = ["", "nanosleep.u32 1000;"]
        .map(|body| estimate(&kernel(body), &one_thread(), false).longest_chain_cycles);
    let us = us - none;
    assert!((2000..2100).contains(&us), "{us} cycles");
}

#[test]
fn calls_of_the_driver_are_slow_and_wait_for_each_other() {
    let text = ".extern .func (.param .b64 result) malloc (.param .b64 bytes);
        .visible .entry k(.param .u64 data) {
        .reg .b64 %rd<3>;
        { .param .b64 bytes; st.param.b64 [bytes], 64; .param .b64 result;
          call.uni (result), malloc, (bytes); ld.param.b64 %rd1, [result]; }
        ret; }";
    let estimate = estimate(text, &Launch::new("k", [4, 1, 1], [32, 1, 1]), false);
    assert_eq!(estimate.calls_ns, 4 * 32 * 56);
    let warp = 2 * (7200 + 31 * 1630);
    assert!((warp..warp + 200).contains(&estimate.longest_chain_cycles));
}

#[test]
fn constants_are_slow_when_there_are_more_than_the_first_cache_holds() {
    let cycles = |lines: usize| {
        let loads: String = (0..lines)
            // Each needs the one before, so that no two are waited for together.
            .map(|line| {
                let load = format!("ld.const.u32 %r3, [%rd3+{}];", 64 * line);
                format!("{load} cvt.u64.u32 %rd4, %r3; add.u64 %rd3, %rd2, %rd4;\n")
            })
            .collect();
        let text = format!(
            ".const .align 4 .b32 table[1024];\n{}",
            kernel(&format!("mov.u64 %rd2, table; mov.u64 %rd3, %rd2;\n{loads}"))
        );
        estimate(&text, &one_thread(), false).longest_chain_cycles
    };
    assert!(cycles(32) < 1000, "{}", cycles(32));
    let more = cycles(34) - cycles(32);
    assert!((10_000..10_100).contains(&more), "{more}");
}

#[test]
fn products_of_integers_keep_their_pipe_busy_for_longer_than_they_take_to_issue() {
    let body = "mul.lo.u32 %r2, %r1, 3; mad.lo.s32 %r3, %r2, 5, 7; mul.wide.u32 %rd2, %r3, 4;
        .reg .f32 %f<3>; cvt.rn.f32.u32 %f1, %r3; mul.f32 %f2, %f1, %f1; fma.rn.f32 %f2, %f1, %f1, %f2;
        add.u32 %r4, %r3, 1; setp.eq.u32 %p1, %r1, 99; @%p1 mul.hi.u32 %r5, %r4, 9;";
    let launch = Launch::new("k", [1, 1, 1], [64, 1, 1]);
    // Two warps; a guarded instruction is issued, too.
    assert_eq!(estimate(&kernel(body), &launch, false).pipe_cycles, 2 * (2 + 2 + 4 + 4));
}

#[test]
fn sums_of_a_warp_are_counted_by_the_groups_of_lanes_that_have_them() {
    let groups = |members: &str| {
        let body = format!("{members} redux.sync.add.u32 %r3, %r1, %r2;");
        estimate(&kernel(&body), &Launch::new("k", [2, 1, 1], [64, 1, 1]), false).further_groups
    };
    assert_eq!(groups("mov.u32 %r2, -1;"), 0);
    // Each lane for itself, in four warps.
    assert_eq!(groups("and.b32 %r4, %r1, 31; shl.b32 %r2, 1, %r4;"), 4 * 31);
    // Even lanes and odd ones.
    assert_eq!(groups("and.b32 %r4, %r1, 1; shl.b32 %r2, 0x55555555, %r4;"), 4);
}

#[test]
fn a_compare_and_swap_in_a_loop_is_tried_by_all_that_want_the_same_address() {
    let queue = |addresses: u32, operation: &str| {
        let body = format!(
            "and.b32 %r2, %r1, {}; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2;
            ld.relaxed.gpu.global.u32 %r3, [%rd3];
            AGAIN: mov.u32 %r4, %r3; add.u32 %r5, %r4, 1; {operation}",
            addresses - 1
        );
        estimate(&kernel(&body), &Launch::new("k", [4, 1, 1], [64, 1, 1]), false).atomics_queue
    };
    let once = "atom.global.cas.b32 %r3, [%rd3], %r4, %r5;";
    let until_done = format!("{once} setp.ne.u32 %p1, %r3, %r4; @%p1 bra AGAIN;");
    // All lanes succeed in turn here; on a GPU 256 threads, which all run at once, share the addresses.
    assert_eq!(queue(64, &until_done), 256 / 64 * queue(64, once));
    // Some try again here, too, and are counted.
    assert!(queue(1, &until_done) >= 256 * queue(1, once));
    // A sum needs no second try, and that of one constant is one update of a warp.
    assert_eq!(queue(1, "red.global.add.u32 [%rd3], %r1;"), queue(1, once));
    assert_eq!(32 * queue(1, "red.global.add.u32 [%rd1], 1;"), queue(1, once));
    // The lane's own number says where: whatever comes of it, the lanes add one by one.
    assert_eq!(queue(1, "red.global.add.u32 [%rd3], 1;"), queue(1, once));
}

#[test]
fn a_maximum_is_tried_twice_at_most_by_those_that_want_it_at_once() {
    // Each thread's number exceeds all before, as blocks and lanes come one after the other here.
    let own = "mov.u32 %r2, %ctaid.x; mov.u32 %r6, %ntid.x; mad.lo.s32 %r5, %r2, %r6, %r1; add.u32 %r5, %r5, 1;";
    let maximum = format!(
        "{own} ld.global.u32 %r4, [%rd1];
         again: setp.ge.u32 %p1, %r4, %r5; @%p1 bra done;
         atom.global.cas.b32 %r3, [%rd1], %r4, %r5;
         setp.ne.s32 %p2, %r3, %r4; mov.u32 %r4, %r3; @%p2 bra again; done:"
    );
    let queue = |blocks: u32| {
        let launch = Launch::new("k", [blocks, 1, 1], [128, 1, 1]);
        estimate(&kernel(&maximum), &launch, false).atomics_queue
    };
    assert_eq!(queue(4), (100 * (2 * 4 * 128 - 1)) as u64);
    // Those of later blocks find the number already, or exceed it here.
    assert!(queue(8) == 2 * queue(4) + 100, "{} {}", queue(8), queue(4));
}

#[test]
fn logic_of_three_numbers_is_one_instruction() {
    let cycles = |body: &str| estimate(&kernel(body), &one_thread(), false).pipe_cycles;
    let (alone, store) = ("xor.b32 %r3, %r1, %r2;", "st.global.u32 [%rd1], %r5;");
    let one = cycles(&format!("{alone} mov.u32 %r5, %r3; {store}"));
    let three = format!("{alone} and.b32 %r5, %r3, %r4; {store}");
    assert_eq!(cycles(&three), one, "a chain");
    let read_again = format!("{alone} and.b32 %r5, %r3, %r4; st.global.u32 [%rd1+4], %r3; {store}");
    assert_eq!(cycles(&read_again), one + 2, "somebody else reads the first");
    let of_five = format!(
        "{alone} or.b32 %r6, %r3, %r4; and.b32 %r7, %r6, %r8; xor.b32 %r5, %r7, %r9; {store}"
    );
    assert_eq!(cycles(&of_five), one + 2, "of five numbers");
    let shifted = format!("shl.b32 %r3, %r1, 4; add.s32 %r5, %r3, %r4; {store}");
    assert_eq!(cycles(&shifted), one, "a shift and a sum");
}

#[test]
fn atomics_that_reach_another_block_are_counted_by_lanes() {
    // All lanes of both blocks add to the memory of the block of rank 0.
    let body = "mov.u32 %r2, tile; mov.u32 %r5, 0; st.shared.u32 [%r2], %r5;
        barrier.cluster.arrive; barrier.cluster.wait;
        mapa.shared::cluster.u32 %r3, %r2, 0; red.shared::cluster.add.u32 [%r3], 1;
        barrier.cluster.arrive; barrier.cluster.wait;";
    let launch = Launch::new("k", [2, 1, 1], [32, 1, 1]).clusters([2, 1, 1]);
    assert_eq!(estimate(&kernel(body), &launch, false).cluster_atomics, 32);
}

#[test]
fn a_warp_that_waits_for_others_counts_among_the_longest() {
    let body =
        "mov.u32 %r2, 1; WAIT: ld.relaxed.gpu.global.u32 %r3, [%rd1+4]; setp.ne.u32 %p1, %r3, 0;
        @%p1 bra WAIT;";
    let longest = |blocks| {
        let launch = Launch::new("k", [blocks, 1, 1], [1, 1, 1]);
        estimate(&kernel(body), &launch, false).longest_chain_cycles
    };
    for blocks in [1, 2] {
        assert!(longest(blocks) >= u64::from(LATENCIES.global));
    }
}

#[test]
fn a_poll_ends_when_what_it_waits_for_is_written() {
    // The second block comes late, and the executor lets the first try again and again.
    let body = "mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 0; @%p1 bra COME;
        ld.global.u32 %r4, [%rd1+512]; add.u32 %r5, %r4, 1; st.global.u32 [%rd1+1024], %r5; membar.gl;
        COME: red.global.add.u32 [%rd1], 1;
        WAIT: ld.relaxed.gpu.global.u32 %r3, [%rd1]; setp.ne.u32 %p2, %r3, 2; @%p2 bra WAIT;";
    let launch = Launch::new("k", [2, 1, 1], [1, 1, 1]);
    let both = estimate(&kernel(body), &launch, false).chain_cycles;
    let [global, l2] = [LATENCIES.global, LATENCIES.l2].map(u64::from);
    // Both wait for what the second loads, for its sum on its way, and for the answer to the poll.
    let expected = 2 * (global + l2);
    assert!((expected..expected + 3 * global).contains(&both), "{both}, expected {expected}");
}

#[test]
fn the_work_of_the_busiest_multiprocessor_is_that_of_its_blocks() {
    let loads = "ld.volatile.shared.u32 %r3, [tile];".repeat(16);
    let busiest = |who: &str| {
        let body = format!("mov.u32 %r2, %ctaid.x; {who} {loads}");
        let launch = Launch::new("k", [8, 1, 1], [32, 1, 1]);
        estimate(&kernel(&body), &launch, false).busiest
    };
    let one = busiest("setp.ne.u32 %p1, %r2, 5; @%p1 ret;");
    let all = busiest("");
    assert_eq!((one.l1_cycles, all.l1_cycles), (16, 32), "two blocks on each");
    assert!(one.issue_cycles > 16 && one.issue_cycles < all.issue_cycles);
    // What comes behind the blocks that run at once goes where there is room.
    let body = format!(
        "{loads} mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, 11; @%p1 ret; {loads}{loads}"
    );
    let launch = Launch::new("k", [12, 1, 1], [32, 1, 1]);
    assert_eq!(estimate(&kernel(&body), &launch, false).busiest.l1_cycles, 48);
}

#[test]
fn what_was_copied_to_the_device_is_reached_across_l2_once() {
    let cycles = |is_left: bool, is_copied: bool, body: &str| {
        let found = |memory: Range<u64>| {
            let all = || Arc::new([(memory.start >> 12, !0)].into_iter().collect());
            let of = |is: bool| if is { all() } else { Arc::default() };
            L2 { left: of(is_left), copied: of(is_copied), ..L2::default() }
        };
        let none = |_| Ranges::default();
        estimated_with(&kernel(body), &one_thread(), none, found).longest_chain_cycles
    };
    let once = "ld.global.cg.u32 %r2, [%rd1]; add.u32 %r3, %r2, 1;";
    let left = cycles(true, false, once);
    assert_eq!(cycles(false, false, once) - left, u64::from(LATENCIES.global - LATENCIES.l2));
    let across = cycles(true, true, once) - left;
    assert!((1..u64::from(LATENCIES.l2)).contains(&across), "{across}");
    let twice = format!(
        "{once} cvt.u64.u32 %rd2, %r2; add.u64 %rd3, %rd1, %rd2;
        ld.global.cg.u32 %r3, [%rd3]; add.u32 %r4, %r3, 1;"
    );
    assert_eq!(cycles(true, true, &twice) - cycles(true, false, &twice), across);
}

#[test]
fn a_warp_that_gets_on_by_itself_counts_among_the_longest() {
    let longest = |body: &str| {
        let launch = Launch::new("k", [2, 1, 1], [1, 1, 1]);
        estimate(&kernel(body), &launch, false).longest_chain_cycles
    };
    for (name, body) in [
        (
            "a compare-and-swap of what was read",
            "ld.global.u32 %r2, [%rd1]; AGAIN: add.u32 %r3, %r2, 1;
             atom.global.cas.b32 %r4, [%rd1], %r2, %r3; setp.ne.u32 %p1, %r4, %r2;
             mov.u32 %r2, %r4; @%p1 bra AGAIN;",
        ),
        (
            "numbers from a counter",
            "AGAIN: atom.global.add.u32 %r4, [%rd1], 1; setp.lt.u32 %p1, %r4, 9; @%p1 bra AGAIN;",
        ),
        (
            "a list that others change",
            "mov.u64 %rd2, %rd1; AGAIN: ld.volatile.global.u32 %r2, [%rd2];
             cvt.u64.u32 %rd3, %r2; add.u64 %rd2, %rd1, %rd3;
             setp.ne.u32 %p1, %r2, 0; @%p1 bra AGAIN;",
        ),
        (
            "a lock by a swap",
            "LOCK: atom.global.cas.b32 %r4, [%rd1], 0, 1; setp.ne.u32 %p1, %r4, 0;
             @%p1 bra LOCK; st.global.u32 [%rd1], 0;",
        ),
        (
            "a lock by an exchange",
            "LOCK: atom.global.exch.b32 %r4, [%rd1], 1; setp.ne.u32 %p1, %r4, 0;
             @%p1 bra LOCK; st.global.u32 [%rd1], 0;",
        ),
        (
            "flags one after the other",
            "mov.u64 %rd2, %rd1; mov.u32 %r2, 0; AGAIN: ld.volatile.global.u32 %r4, [%rd2];
             setp.ne.u32 %p1, %r4, 0; @%p1 bra AGAIN; add.u64 %rd2, %rd2, 4;
             add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 4; @%p2 bra AGAIN;",
        ),
        (
            "a flag that a sum of zero reads, at an address that each turn computes",
            "AGAIN: add.u64 %rd2, %rd1, 4; atom.global.add.u32 %r4, [%rd2], 0;
             setp.ne.u32 %p1, %r4, 0; @%p1 bra AGAIN;",
        ),
    ] {
        assert!(longest(body) >= u64::from(LATENCIES.l2), "{name}");
    }
}

/// The cycles of a warp whose lanes load words of shared memory, so many words from one lane to the next.
fn shared(words: u32) -> u64 {
    let body = format!(
        "mul.lo.u32 %r2, %r1, {}; mov.u32 %r3, tile; add.u32 %r2, %r2, %r3;
         ld.shared.u32 %r4, [%r2]; add.u32 %r5, %r4, 1;",
        4 * words
    );
    let text = kernel(&body).replace("tile[64]", "tile[1024]");
    estimate(&text, &Launch::new("k", [1, 1, 1], [32, 1, 1]), false).longest_chain_cycles
}

#[test]
fn the_last_wavefront_of_a_bank_conflict_is_waited_for() {
    assert_eq!(shared(2) - shared(1), 1, "two wavefronts");
    assert_eq!(shared(32) - shared(1), 31);
}

#[test]
fn a_load_of_shared_memory_computes_its_address() {
    // The profile has the time of an addition to an address and a load; one that L1 has takes 6 cycles more.
    let body = "ld.global.u32 %r2, [%rd1]; add.u32 %r3, %r2, 1; bar.sync 0;
        ld.global.u32 %r4, [%rd1]; add.u32 %r5, %r4, 1;";
    let near = body.replace("ld.global.u32 %r4, [%rd1]", "ld.shared.u32 %r4, [tile]");
    let cycles = |body: &str| estimate(&kernel(body), &one_thread(), false).longest_chain_cycles;
    assert_eq!(cycles(body) - cycles(&near), u64::from(LATENCIES.arithmetic + 6));
}

#[test]
fn stores_that_fill_the_same_lines_go_on_together() {
    let body = |distance: u32| {
        format!(
            "mul.wide.u32 %rd2, %r1, {distance}; add.u64 %rd3, %rd1, %rd2;
             st.global.u32 [%rd3], %r1; st.global.u32 [%rd3+4], %r1;"
        )
    };
    let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]);
    let merged = |distance| estimate(&kernel(&body(distance)), &launch, false).merged_store_lines;
    assert_eq!((merged(16), merged(32)), (4, 0));
}

/// The cycles of a thread that runs this.
fn alone(body: &str) -> u64 {
    estimate(&kernel(body), &one_thread(), false).longest_chain_cycles
}

#[test]
fn loads_of_a_block_wait_together_unless_something_is_between_them() {
    let waits = |between: &str| {
        let cycles = alone(&format!(
            "ld.global.u32 %r2, [%rd1]; add.u32 %r3, %r2, 1; {between}
             ld.global.u32 %r4, [%rd1+4096]; add.u32 %r5, %r4, %r3;"
        ));
        cycles / u64::from(LATENCIES.global)
    };
    assert_eq!(waits(""), 1);
    assert_eq!(waits("st.shared.u32 [tile], %r3;"), 1, "a store to other memory");
    assert_eq!(waits("st.global.u32 [%rd1+8192], %r3;"), 2, "a store to what may be the same");
    assert_eq!(waits("bar.sync 0;"), 2, "a barrier");
    let skips = |skipped: usize| {
        let skipped = "add.u32 %r7, %r7, 1; ".repeat(skipped);
        waits(&format!("setp.eq.u32 %p1, %r1, 99; @%p1 bra OVER; {skipped} OVER:"))
    };
    assert_eq!((skips(8), skips(9)), (1, 2), "what is short becomes predicates");
}

#[test]
fn four_turns_of_a_short_loop_wait_together() {
    let turns = |turns: u32, load: &str| {
        let cycles = alone(&format!(
            "mov.u32 %r2, 0; mov.u64 %rd2, %rd1; LOOP: {load} add.u32 %r4, %r4, %r3;
             add.u64 %rd2, %rd2, 4096; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, {turns};
             @%p1 bra LOOP;"
        ));
        cycles / u64::from(LATENCIES.global)
    };
    let load = "ld.global.u32 %r3, [%rd2];";
    assert_eq!([1, 4, 5, 8, 9].map(|count| turns(count, load)), [1, 1, 2, 2, 3]);
    assert_eq!(turns(8, "ld.volatile.global.u32 %r3, [%rd2];"), 8, "others may write it");
    let chained = "ld.global.u32 %r3, [%rd2]; cvt.u64.u32 %rd3, %r3; add.u64 %rd2, %rd2, %rd3;";
    assert_eq!(turns(8, chained), 8, "each address needs the load before");
}

#[test]
fn what_another_block_has_asked_for_arrives_for_both() {
    // Each of two blocks, or of two waves, loads the same word, which L1 does not keep.
    let body = "ld.global.cg.u32 %r2, [%rd1]; add.u32 %r3, %r2, 1;";
    let of = |blocks: u32| {
        let launch = Launch::new("k", [blocks, 1, 1], [1, 1, 1]);
        let estimate = estimate(&kernel(body), &launch, false);
        (estimate.chain_cycles, estimate.first_chain_cycles, estimate.first_warps)
    };
    let (one, _, _) = of(1);
    assert_eq!(of(8), (8 * one, 8 * one, 8), "as many as run at once wait for memory");
    let (all, first, warps) = of(9);
    assert_eq!((first, warps), (8 * one, 8));
    let saved = u64::from(LATENCIES.global - LATENCIES.l2);
    assert_eq!(all - first, one - saved, "the next finds it in L2");
}

#[test]
fn memory_with_small_pages_is_counted_apart() {
    let body = "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r2, [%rd3];
        st.global.u32 [%rd3], %r2;";
    let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]);
    let small = |memory| Ranges { host_small_pages: vec![memory], ..Ranges::default() };
    let Estimate { host, host_small_pages: small, .. } = estimated(&kernel(body), &launch, small);
    assert_eq!(host, LinkTraffic::default());
    assert_eq!((small.sectors_read, small.sectors_written), (4, 4));
}

#[test]
fn a_branch_waits_for_its_comparison_and_jumps_in_more_time_than_it_goes_on() {
    let cycles = |comparison: &str, count: u32| {
        let branch = |number| {
            format!(
                "setp.{comparison}.u32 %p1, %r1, 0; @%p1 bra l{number}; red.shared.add.u32 [tile], 1; l{number}:\n"
            )
        };
        let body: String = (0..count).map(branch).collect();
        estimate(&kernel(&body), &one_thread(), false).longest_chain_cycles
    };
    let each = |comparison| (cycles(comparison, 9) - cycles(comparison, 1)) / 8;
    assert_eq!((each("ne"), each("eq")), (13 + 5 + 1, 13 + 11));
}

#[test]
fn an_atomic_comes_back_from_l2_and_takes_its_word_out_of_l1() {
    let cycles = |body: &str| estimate(&kernel(body), &one_thread(), false).longest_chain_cycles;
    let near = |cycles: u64, expected: u32| {
        let expected = u64::from(expected);
        assert!((expected..expected + 200).contains(&cycles), "{cycles}, expected {expected}");
    };
    let next = "cvt.u64.u32 %rd2, %r2; add.u64 %rd3, %rd1, %rd2;";
    let add = "atom.global.add.u32 %r2, [%rd1], 0;";
    let again = format!("{add} {next} atom.global.add.u32 %r3, [%rd3], 0; add.u32 %r4, %r3, 1;");
    near(cycles(&again), LATENCIES.global + LATENCIES.l2);
    let load = "ld.global.u32 %r5, [%rd3]; add.u32 %r6, %r5, 1;";
    near(cycles(&format!("ld.global.u32 %r2, [%rd1]; {next} {load}")), LATENCIES.global);
    let behind = format!(
        "ld.global.u32 %r7, [%rd1]; cvt.u64.u32 %rd4, %r7; add.u64 %rd1, %rd1, %rd4; {add} {next} {load}"
    );
    near(cycles(&behind), LATENCIES.global + 2 * LATENCIES.l2);
    // What an atomic brought to L2 is not asked of memory.
    near(cycles(&format!("{add} {next} {load}")), LATENCIES.global + LATENCIES.l2);
}

#[test]
fn the_first_line_takes_longest_and_warps_print_one_after_the_other() {
    let text = |lines: usize| {
        let line = "{ .param .b64 f; st.param.b64 [f], %rd1; .param .b64 a; st.param.b64 [a], 0;
          .param .b32 n; call.uni (n), vprintf, (f, a); ld.param.b32 %r1, [n]; }";
        format!(
            ".extern .func (.param .b32 n) vprintf (.param .b64 f, .param .b64 a);
            .visible .entry k(.param .u64 data) {{ .reg .b32 %r<2>; .reg .b64 %rd<3>;
            ld.param.u64 %rd1, [data]; {} ret; }}",
            line.repeat(lines)
        )
    };
    let of = |lines, blocks| {
        let estimate = estimate(&text(lines), &Launch::new("k", [blocks, 1, 1], [32, 1, 1]), false);
        (estimate.longest_chain_cycles / 2000, estimate.other_lines_ns)
    };
    assert_eq!([of(1, 1), of(3, 1), of(2, 4)], [(29, 0), (73, 0), (51, 6 * 9000)]);
}

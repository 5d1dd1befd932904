use simt::{Checks, Error, Hazard, Launch, Memory, Module, Options, Report, Schedule, run};

/// A kernel with parameters `target` (in `%rd1`) and `n` (in `%r1`), the thread's index in the grid in `%r2`, the
/// place of its result in `%rd2`, and the cluster's rank and size in `%r3` and `%r4`.
fn module(directives: &str, body: &str) -> Module {
    let text = format!(
        "
.version 8.0
.target sm_90
.address_size 64
.visible .entry test(.param .u64 target, .param .u32 n) {directives}
{{
    .reg .pred %p<9>;
    .reg .b32 %r<40>;
    .reg .b64 %rd<20>;
    .reg .b16 %h<2>;
    .shared .align 16 .b32 tile[256];
    ld.param.u64 %rd1, [target];
    ld.param.u32 %r1, [n];
    mov.u32 %r5, %ctaid.y;
    mov.u32 %r6, %nctaid.x;
    mov.u32 %r7, %ctaid.x;
    mad.lo.u32 %r5, %r5, %r6, %r7;
    mov.u32 %r8, %ntid.x;
    mov.u32 %r9, %tid.x;
    mad.lo.u32 %r2, %r5, %r8, %r9;
    mad.wide.u32 %rd2, %r2, 4, %rd1;
    mov.u32 %r3, %cluster_ctarank;
    mov.u32 %r4, %cluster_nctarank;
    {body}
    ret;
}}"
    );
    Module::parse(&text).unwrap()
}

/// Returns what each thread of the launch wrote; words that nobody wrote stay poisoned.
fn outcome(module: &Module, launch: &Launch, options: &Options) -> Result<Vec<u32>, Error> {
    let threads = (launch.blocks() * launch.threads()) as usize;
    let mut memory = Memory::default();
    let target = memory.allocate(4 * threads as u64 + 4).unwrap();
    memory.fill(target, 0xff, 4 * threads + 4).unwrap();
    let launch = launch.clone().address(target).u32(threads as u32);
    let report = run(module, &mut memory, &launch, options)?;
    assert_eq!(report.findings, [], "{launch:?}");
    let mut bytes = vec![0; 4 * threads + 4];
    memory.read(target, &mut bytes).unwrap();
    let words: Vec<u32> =
        bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    assert_eq!(words[threads], u32::MAX, "the word behind the output");
    Ok(words[..threads].to_vec())
}

fn every_way() -> Vec<Options> {
    let schedules =
        [Schedule::Forward, Schedule::Reverse, Schedule::Seeded(7), Schedule::Seeded(8)];
    let plain = schedules.map(|schedule| Options { schedule, ..Options::default() });
    let checked = Options { checks: Checks::all(), ..Options::default() };
    let alone = Options { threads: 1, ..Options::default() };
    plain.into_iter().chain([checked, alone]).collect()
}

/// The rank, and the index of the cluster, of each block of a 2-D grid in launch order.
fn places(grid: [u32; 3], cluster: [u32; 3]) -> Vec<(u32, u32)> {
    let place = |x: u32, y: u32| {
        let rank = x % cluster[0] + cluster[0] * (y % cluster[1]);
        (rank, x / cluster[0] + grid[0] / cluster[0] * (y / cluster[1]))
    };
    (0..grid[1]).flat_map(|y| (0..grid[0]).map(move |x| (x, y))).map(|(x, y)| place(x, y)).collect()
}

const SHAPES: [([u32; 3], [u32; 3]); 5] = [
    ([1, 1, 1], [1, 1, 1]),
    ([6, 1, 1], [2, 1, 1]),
    ([6, 4, 1], [3, 2, 1]),
    ([4, 4, 1], [1, 4, 1]),
    ([32, 3, 1], [16, 1, 1]),
];
const BLOCKS: [u32; 7] = [1, 31, 32, 33, 64, 95, 256];

#[test]
fn registers_say_where_a_block_is_in_its_cluster() {
    let module = module(
        "",
        "mov.u32 %r10, %cluster_ctaid.x; mov.u32 %r11, %cluster_ctaid.y; mov.u32 %r12, %cluster_nctaid.x;
         mov.u32 %r13, %cluster_nctaid.y; mov.u32 %r14, %clusterid.x; mov.u32 %r15, %clusterid.y;
         mov.u32 %r16, %nclusterid.x; mov.u32 %r17, %nclusterid.y;
         mov.pred %p1, %is_explicit_cluster; selp.u32 %r18, 1, 0, %p1;
         mad.lo.u32 %r20, %r10, 32, %r11; mad.lo.u32 %r20, %r20, 32, %r14; mad.lo.u32 %r20, %r20, 8, %r15;
         mad.lo.u32 %r20, %r20, 32, %r3; mad.lo.u32 %r20, %r20, 2, %r18;
         mul.lo.u32 %r21, %r12, 3; mad.lo.u32 %r21, %r13, 5, %r21; mad.lo.u32 %r21, %r16, 7, %r21;
         mad.lo.u32 %r21, %r17, 11, %r21; mad.lo.u32 %r21, %r4, 13, %r21; mad.lo.u32 %r20, %r21, 0x400000, %r20;
         st.global.u32 [%rd2], %r20;",
    );
    for (grid, cluster) in SHAPES {
        let launch = Launch::new("test", grid, [1, 1, 1]);
        for (launch, cluster, explicit) in
            [(launch.clone().clusters(cluster), cluster, 1), (launch, [1; 3], 0)]
        {
            let expected = places(grid, cluster).into_iter().map(|(rank, index)| {
                let (x, y) = (rank % cluster[0], rank / cluster[0]);
                let (nx, ny) = (grid[0] / cluster[0], grid[1] / cluster[1]);
                let sizes = 3 * cluster[0]
                    + 5 * cluster[1]
                    + 7 * nx
                    + 11 * ny
                    + 13 * cluster[0] * cluster[1];
                let place = (((x * 32 + y) * 32 + index % nx) * 8 + index / nx) * 32 + rank;
                sizes.wrapping_mul(0x40_0000).wrapping_add(place * 2 + explicit)
            });
            let words = outcome(&module, &launch, &Options::default()).unwrap();
            assert_eq!(words, expected.collect::<Vec<_>>(), "{grid:?} in {cluster:?}");
        }
    }
}

/// Every thread writes to its block's memory, and reads what its like in the next block of the cluster wrote.
const EXCHANGE: [&str; 3] = [
    // Addresses of shared memory.
    "mov.u32 %r10, tile; mad.lo.u32 %r10, %r9, 4, %r10; mad.lo.u32 %r11, %r5, 1000, %r9;
     st.shared.u32 [%r10], %r11;
     barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
     add.u32 %r12, %r3, 1; rem.u32 %r12, %r12, %r4;
     mapa.shared::cluster.u32 %r13, %r10, %r12; ld.shared::cluster.u32 %r14, [%r13];
     getctarank.shared::cluster.u32 %r15, %r13; sub.u32 %r15, %r15, %r12; add.u32 %r14, %r14, %r15;
     getctarank.shared::cluster.u32 %r15, %r10; sub.u32 %r15, %r15, %r3; add.u32 %r14, %r14, %r15;
     barrier.cluster.arrive.relaxed; barrier.cluster.wait;
     st.global.u32 [%rd2], %r14;",
    // Generic addresses.
    "mov.u64 %rd3, tile; cvta.shared.u64 %rd3, %rd3; mad.wide.u32 %rd3, %r9, 4, %rd3;
     mad.lo.u32 %r11, %r5, 1000, %r9;
     st.u32 [%rd3], %r11;
     barrier.cluster.arrive; barrier.cluster.wait;
     add.u32 %r12, %r3, 1; rem.u32 %r12, %r12, %r4;
     mapa.u64 %rd4, %rd3, %r12; ld.u32 %r14, [%rd4];
     getctarank.u64 %r15, %rd4; sub.u32 %r15, %r15, %r12; add.u32 %r14, %r14, %r15;
     barrier.cluster.arrive; barrier.cluster.wait;
     st.global.u32 [%rd2], %r14;",
    // The block before writes what is read.
    "mov.u32 %r10, tile; mad.lo.u32 %r10, %r9, 4, %r10; mad.lo.u32 %r11, %r5, 1000, %r9;
     barrier.cluster.arrive; barrier.cluster.wait;
     add.u32 %r12, %r3, %r4; sub.u32 %r12, %r12, 1; rem.u32 %r12, %r12, %r4;
     mapa.shared::cluster.u32 %r13, %r10, %r12; st.shared::cluster.u32 [%r13], %r11;
     barrier.cluster.arrive; barrier.cluster.wait;
     ld.shared.u32 %r14, [%r10];
     st.global.u32 [%rd2], %r14;",
];

#[test]
fn blocks_reach_each_others_shared_memory() {
    for body in EXCHANGE {
        let module = module("", body);
        for (grid, cluster) in SHAPES {
            let places = places(grid, cluster);
            let next = |block: usize| {
                let (rank, index) = places[block];
                let next = (rank + 1) % (cluster[0] * cluster[1]);
                places.iter().position(|place| *place == (next, index)).unwrap() as u32
            };
            for threads in BLOCKS {
                let launch = Launch::new("test", grid, [threads, 1, 1]).clusters(cluster);
                let expected: Vec<u32> = (0..places.len())
                    .flat_map(|block| (0..threads).map(move |thread| next(block) * 1000 + thread))
                    .collect();
                for options in every_way() {
                    let words = outcome(&module, &launch, &options).unwrap();
                    assert_eq!(words, expected, "{launch:?} with {options:?}");
                }
            }
        }
    }
}

#[test]
fn atomics_and_mbarriers_of_another_block() {
    // All threads of the cluster count in the memory of block 0; the last one is told by an mbarrier there.
    let module = module(
        "",
        "setp.ne.u32 %p1, %r9, 0; setp.ne.u32 %p2, %r3, 0; or.pred %p3, %p1, %p2;
         mov.u32 %r10, tile; mul.lo.u32 %r11, %r4, %r8;
         @%p3 bra begin;
         st.shared.u32 [%r10+8], 0; mbarrier.init.shared.b64 [%r10], %r11;
     begin:
         barrier.cluster.arrive; barrier.cluster.wait;
         mapa.shared::cluster.u32 %r12, %r10, 0;
         atom.shared::cluster.add.u32 %r13, [%r12+8], 3;
         red.shared::cluster.add.u32 [%r12+8], 4;
         mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r12];
         @%p2 bra end;
     wait:
         mbarrier.test_wait.parity.shared.b64 %p4, [%r10], 0; @!%p4 bra wait;
     end:
         barrier.cluster.arrive; barrier.cluster.wait;
         ld.shared::cluster.u32 %r14, [%r12+8]; st.global.u32 [%rd2], %r14;
         barrier.cluster.arrive; barrier.cluster.wait;",
    );
    for (grid, cluster) in SHAPES {
        for threads in BLOCKS {
            let launch = Launch::new("test", grid, [threads, 1, 1]).clusters(cluster);
            for options in every_way() {
                let words = outcome(&module, &launch, &options).unwrap();
                let total = 7 * threads * cluster[0] * cluster[1];
                assert!(words.iter().all(|word| *word == total), "{launch:?}: {words:?}");
            }
        }
    }
}

#[test]
fn a_thread_that_has_ended_is_not_waited_for() {
    // In each block only the threads of odd index take part, and of odd blocks none.
    let module = module(
        "",
        "and.b32 %r10, %r9, 1; setp.eq.u32 %p1, %r10, 0; @%p1 exit;
         and.b32 %r10, %r3, 1; setp.eq.u32 %p1, %r10, 1; @%p1 exit;
         barrier.cluster.arrive; barrier.cluster.wait; st.global.u32 [%rd2], 5;",
    );
    let launch = Launch::new("test", [8, 1, 1], [33, 1, 1]).clusters([4, 1, 1]);
    let words = outcome(&module, &launch, &Options::default()).unwrap();
    let expected = (0..8 * 33).map(|i| {
        let writes = i / 33 % 2 == 0 && i % 33 % 2 == 1;
        if writes { 5 } else { u32::MAX }
    });
    assert_eq!(words, expected.collect::<Vec<u32>>());
}

#[test]
fn a_kernel_can_require_its_clusters() {
    let body = "st.global.u32 [%rd2], %r4;";
    let module = module(".reqnctapercluster 2, 3, 1", body);
    assert_eq!(module.kernel("test").unwrap().required_cluster, Some([2, 3, 1]));
    let launch = Launch::new("test", [4, 3, 1], [1, 1, 1]);
    assert_eq!(outcome(&module, &launch, &Options::default()).unwrap(), [6; 12]);
    let refused = |grid, cluster| {
        let launch = Launch { cluster, ..Launch::new("test", grid, [1, 1, 1]) };
        outcome(&module, &launch, &Options::default()).unwrap_err().to_string()
    };
    assert!(refused([4, 4, 1], None).contains("grid y is 4, no multiple of the cluster's 3"));
    assert!(refused([4, 3, 1], Some([2, 1, 1])).contains("the kernel requires [2, 3, 1]"));
    assert!(
        refused([34, 3, 1], Some([17, 1, 1]))
            .contains("17 blocks per cluster, allowed are 1 to 16")
    );
    assert!(refused([4, 3, 1], Some([0, 1, 1])).contains("0 blocks per cluster"));
}

#[test]
fn samples_are_whole_clusters() {
    let module =
        module("", "barrier.cluster.arrive; barrier.cluster.wait; st.global.u32 [%rd2], %r5;");
    let launch = Launch::new("test", [12, 1, 1], [1, 1, 1]).clusters([3, 1, 1]);
    let options = Options { sample: Some(vec![10, 4, 5]), ..Options::default() };
    let rest = u32::MAX;
    assert_eq!(
        outcome(&module, &launch, &options).unwrap(),
        [rest, rest, rest, 3, 4, 5, rest, rest, rest, 9, 10, 11]
    );
}

/// A block reads the memory of another that waits for nobody: in some order the other has ended by then.
#[test]
fn an_access_to_a_block_that_may_have_ended_is_found_in_every_order() {
    let text = |last: &str| {
        format!(
            "mov.u32 %r10, tile; mad.lo.u32 %r11, %r9, 4, %r10; st.shared.u32 [%r11], %r9; barrier.cluster.arrive; barrier.cluster.wait;
             setp.eq.u32 %p1, %r3, 0; @%p1 bra LONG; mapa.shared::cluster.u32 %r12, %r11, 0; ld.shared::cluster.u32 %r13, [%r12];
             st.global.u32 [%rd2], %r13; bra DONE;
             LONG: mov.u32 %r14, 0; AGAIN: add.u32 %r14, %r14, 1; setp.lt.u32 %p2, %r14, 100; @%p2 bra AGAIN;
             DONE: {last}"
        )
    };
    // It arrives, and reads before it waits.
    let early = |last: &str| {
        text(last)
            .replace("mapa.shared", "barrier.cluster.arrive; mapa.shared")
            .replace("LONG: ", "LONG: barrier.cluster.arrive; ")
    };
    let launch = Launch::new("test", [2, 1, 1], [32, 1, 1]).clusters([2, 1, 1]);
    for options in every_way() {
        let options = Options { checks: Checks::all(), ..options };
        let found = |body: &str| -> Vec<String> {
            let mut memory = Memory::default();
            memory.track_initialization();
            let out = memory.allocate(4096).unwrap();
            let launch = launch.clone().address(out).u32(64);
            match run(&module("", body), &mut memory, &launch, &options) {
                Ok(report) => report.findings.iter().map(|found| found.to_string()).collect(),
                Err(error) => vec![error.to_string()],
            }
        };
        for body in [text(""), early("barrier.cluster.wait;")] {
            let told = found(&body);
            let is_told = |told: &String| {
                told.contains("has ended") || told.contains("the end of that block")
            };
            assert!(told.iter().any(is_told), "{options:?}: {told:?}: {body}");
        }
        for last in ["barrier.cluster.arrive;", "barrier.cluster.arrive.relaxed;"] {
            let last = format!("{last} barrier.cluster.wait;");
            assert_eq!(found(&text(&last)), [""; 0], "{options:?}");
        }
    }
}

/// A block writes into another that may not have started: CUDA's programming guide, "Distributed Shared Memory".
#[test]
fn an_access_to_a_block_that_may_not_have_started_is_found_in_every_order() {
    let text = |first: &str| {
        format!(
            "{first} mov.u32 %r10, tile; mad.lo.u32 %r11, %r9, 4, %r10; xor.b32 %r12, %r3, 1;
             mapa.shared::cluster.u32 %r12, %r11, %r12; st.shared::cluster.u32 [%r12], %r3;
             barrier.cluster.arrive; barrier.cluster.wait; ld.shared.u32 %r13, [%r11]; st.global.u32 [%rd2], %r13;"
        )
    };
    let launch = Launch::new("test", [2, 1, 1], [32, 1, 1]).clusters([2, 1, 1]);
    for options in every_way() {
        let options = Options { checks: Checks::all(), ..options };
        let found = |first: &str| -> Vec<String> {
            let mut memory = Memory::default();
            let out = memory.allocate(4096).unwrap();
            let launch = launch.clone().address(out).u32(64);
            let report = run(&module("", &text(first)), &mut memory, &launch, &options).unwrap();
            report.findings.iter().map(|found| found.to_string()).collect()
        };
        let told = found("");
        assert!(
            told.len() == 1 && told[0].contains("after the start of that block"),
            "{options:?}: {told:?}"
        );
        for arrive in ["barrier.cluster.arrive;", "barrier.cluster.arrive.relaxed;"] {
            assert_eq!(found(&format!("{arrive} barrier.cluster.wait;")), [""; 0], "{options:?}");
        }
    }
}

#[test]
fn misuse_is_an_error_that_says_why() {
    let launch = Launch::new("test", [2, 1, 1], [64, 1, 1]).clusters([2, 1, 1]);
    let error = |body: &str| outcome(&module("", body), &launch, &Options::default()).unwrap_err();
    let ended = error(
        "setp.eq.u32 %p1, %r3, 0; @%p1 exit; mov.u32 %r10, tile; mapa.shared::cluster.u32 %r11, %r10, 0;
         ld.shared::cluster.u32 %r12, [%r11];",
    );
    assert!(matches!(ended, Error::IllegalAddress { .. }), "{ended}");
    assert!(
        ended.to_string().contains("rank 0, which the cluster does not have or which has ended")
    );
    let past = error(
        "mov.u32 %r10, tile; xor.b32 %r12, %r3, 1; mapa.shared::cluster.u32 %r11, %r10, %r12;
         barrier.cluster.arrive; barrier.cluster.wait; ld.shared::cluster.u32 %r12, [%r11+1024];",
    );
    assert!(past.to_string().contains("access shared memory past its end"), "{past}");
    let missing = error(
        "mov.u32 %r10, tile; mapa.shared::cluster.u32 %r11, %r10, 2; st.shared::cluster.u32 [%r11], 0;",
    );
    assert!(missing.to_string().contains("rank 2"), "{missing}");
    let twice = error("barrier.cluster.arrive; barrier.cluster.arrive;");
    assert!(twice.to_string().contains("second arrival"), "{twice}");
    // One warp of each block waits for the cluster, the other for its block.
    let deadlock = error(
        "setp.lt.u32 %p1, %r9, 32; @%p1 bra first; bar.sync 0; bra end;
     first: barrier.cluster.arrive; barrier.cluster.wait; bar.sync 0;
     end:",
    );
    assert!(matches!(deadlock, Error::Deadlock { .. }), "{deadlock}");
    assert!(deadlock.to_string().contains("the cluster's barrier"), "{deadlock}");
}

/// Returns the words behind the sixteen inputs, which count from 100, and the report.
fn copied(body: &str, launch: &Launch, options: &Options) -> Result<(Vec<u32>, Report), Error> {
    let words = 16 + (launch.blocks() * launch.threads()) as usize;
    let mut memory = Memory::default();
    let target = memory.allocate(4 * words as u64).unwrap();
    memory.fill(target, 0xff, 4 * words).unwrap();
    memory.write(target, &(100..116u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>()).unwrap();
    let launch = launch.clone().address(target).u32(0);
    let report = run(&module("", body), &mut memory, &launch, options)?;
    let mut bytes = vec![0; 4 * words];
    memory.read(target, &mut bytes).unwrap();
    let words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
    Ok((words.skip(16).collect(), report))
}

/// Thread 0 of the block of rank 1 copies the inputs to the blocks of a mask, which wait for them as `wait` says.
fn multicast(mask: u32, wait: &str) -> String {
    format!(
        "mov.u32 %r10, tile; add.u32 %r11, %r10, 64; setp.ne.u32 %p1, %r9, 0; @%p1 bra ready;
         mbarrier.init.shared.b64 [%r10], 1; fence.mbarrier_init.release.cluster;
     ready:
         barrier.cluster.arrive; barrier.cluster.wait;
         mov.u32 %r12, {mask}; cvt.u16.u32 %h1, %r12; shr.u32 %r12, %r12, %r3; and.b32 %r12, %r12, 1;
         setp.eq.u32 %p3, %r12, 0; @%p1 bra started;
         @!%p3 mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r10], 64;
         setp.ne.u32 %p2, %r3, 1; @%p2 bra started;
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
             [%r11], [%rd1], 64, [%r10], %h1;
     started:
         @%p3 bra ended;
     wait:
         {wait}
         and.b32 %r13, %r9, 15; mad.lo.u32 %r13, %r13, 4, %r11; ld.shared.u32 %r14, [%r13];
         st.global.u32 [%rd2+64], %r14;
     ended:
         barrier.cluster.arrive; barrier.cluster.wait;"
    )
}

const WAIT: &str = "mbarrier.try_wait.parity.shared.b64 %p4, [%r10], 0; @!%p4 bra wait;";

#[test]
fn a_multicast_copy_lands_in_each_block_of_its_mask() {
    for (blocks, mask) in [(2, 0b11), (2, 0b01), (4, 0b1101), (16, 0xfff0), (3, 0b010)] {
        let launch = Launch::new("test", [2 * blocks, 1, 1], [33, 1, 1]).clusters([blocks, 1, 1]);
        for options in every_way() {
            let (words, report) = copied(&multicast(mask, WAIT), &launch, &options).unwrap();
            assert_eq!(report.findings, [], "{mask:#b}");
            let expected = (0..2 * blocks).flat_map(|block| {
                let gets = mask >> (block % blocks) & 1 != 0;
                (0..33).map(move |thread| if gets { 100 + thread % 16 } else { u32::MAX })
            });
            assert_eq!(words, expected.collect::<Vec<_>>(), "{mask:#b} with {options:?}");
            // Two copies of 64 bytes, however many blocks get them.
            assert_eq!(report.counters.bulk_copy.sectors, 4);
        }
    }
}

#[test]
fn a_multicast_copy_is_awaited_in_every_block() {
    let launch = Launch::new("test", [2, 1, 1], [32, 1, 1]).clusters([2, 1, 1]);
    let options = Options { checks: Checks::all(), ..Options::default() };
    let (_, report) = copied(&multicast(0b11, ""), &launch, &options).unwrap();
    let hazards: Vec<_> = report.findings.iter().map(|finding| finding.hazard).collect();
    assert!(hazards.contains(&Hazard::AsyncCopyNotAwaited), "{hazards:?}");
    // The second copy overwrites what the other block may still read.
    let again = "mbarrier.try_wait.parity.shared.b64 %p4, [%r10], 0; @!%p4 bra wait;
         @%p1 bra read; mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r10], 64; @%p2 bra read;
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
             [%r11], [%rd1], 64, [%r10], %h1;
     read:";
    let (_, report) = copied(&multicast(0b11, again), &launch, &options).unwrap();
    let hazards: Vec<_> = report.findings.iter().map(|finding| finding.hazard).collect();
    assert!(hazards.contains(&Hazard::SharedRace), "{hazards:?}");
}

#[test]
fn a_copy_to_a_block_that_is_not_there_is_refused() {
    let launch = Launch::new("test", [2, 1, 1], [32, 1, 1]).clusters([2, 1, 1]);
    let error = |body: &str| {
        copied(body, &launch, &Options::default()).expect_err("it is refused").to_string()
    };
    let outside = error(&multicast(0b111, WAIT));
    assert!(outside.contains("the block of rank 2, but the cluster has 2 block(s)"), "{outside}");
    let nobody = error(&multicast(0, WAIT));
    assert!(nobody.contains("a multicast copy to no block"), "{nobody}");
    let apart = error(
        "mov.u32 %r10, tile; mapa.shared::cluster.u32 %r11, %r10, 0; mapa.shared::cluster.u32 %r12, %r10, 1;
         st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r11+16], %r9, [%r12];",
    );
    assert!(apart.contains("of rank 0, but the mbarrier in that of rank 1"), "{apart}");
}

#[test]
fn an_older_target_has_no_such_copies() {
    for instruction in [
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd1], 64, [%r1], %h1;",
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1], %r1, [%r1];",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r1, [%r1];",
    ] {
        let text = format!(
            ".version 8.1\n.target sm_80\n.address_size 64\n.visible .entry k() {{ .reg .b16 %h<2>; .reg .b32 %r<2>; \
             .reg .b64 %rd<2>; {instruction} ret; }}"
        );
        let error = Module::parse(&text).and_then(|module| {
            run(
                &module,
                &mut Memory::default(),
                &Launch::new("k", [1; 3], [1; 3]),
                &Options::default(),
            )
        });
        let error = error.expect_err(instruction).to_string();
        assert!(
            error.contains("needs compute capability 9.0, but the module is for sm_80"),
            "{error}"
        );
    }
}

/// Every block has an mbarrier at `tile`, which expects so many bytes; `%r11` and `%r12` are 64 bytes behind it, and the
/// place of a thread's word there, `%r14` and `%r15` the same of the next block, and `%r13` its mbarrier.
fn exchange(bytes: &str, copy: &str) -> String {
    format!(
        "mov.u32 %r10, tile; add.u32 %r11, %r10, 64; mad.lo.u32 %r12, %r9, 4, %r11;
         st.shared.u32 [%r12], 7; st.shared.u32 [%r12+256], %r2; fence.proxy.async.shared::cta;
         setp.ne.u32 %p1, %r9, 0; @%p1 bra ready;
         mbarrier.init.shared.b64 [%r10], 1; fence.mbarrier_init.release.cluster;
         mul.lo.u32 %r16, %r8, 4; mov.u32 %r17, {bytes};
         mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r10], %r17;
     ready:
         barrier.cluster.arrive; barrier.cluster.wait;
         add.u32 %r18, %r3, 1; rem.u32 %r18, %r18, %r4; mapa.shared::cluster.u32 %r13, %r10, %r18;
         mapa.shared::cluster.u32 %r14, %r11, %r18; mapa.shared::cluster.u32 %r15, %r12, %r18;
         {copy}
     wait:
         {WAIT}
         ld.shared.u32 %r19, [%r12]; st.global.u32 [%rd2+64], %r19;
         barrier.cluster.arrive; barrier.cluster.wait;"
    )
}

#[test]
fn asynchronous_stores_and_copies_reach_the_next_block() {
    let sends = [
        ("%r16", "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r15], %r2, [%r13];", 0),
        (
            "%r16",
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r15], %r2, [%r13];",
            7,
        ),
        (
            "%r16",
            "add.u32 %r20, %r11, 256; @!%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes
                 [%r14], [%r20], %r16, [%r13];",
            0,
        ),
    ];
    for (bytes, copy, plus) in sends {
        for blocks in [1, 2, 5] {
            let launch = Launch::new("test", [2 * blocks, 1, 1], [32, 1, 1]);
            let launch = launch.clusters([blocks, 1, 1]);
            for options in every_way() {
                let (words, report) = copied(&exchange(bytes, copy), &launch, &options).unwrap();
                assert_eq!(report.findings, [], "{copy}");
                let expected = (0..2 * blocks).flat_map(|block| {
                    let rank = (block + blocks - 1) % blocks;
                    let from = block / blocks * blocks + rank;
                    (0..32).map(move |thread| 32 * from + thread + plus)
                });
                assert_eq!(words, expected.collect::<Vec<_>>(), "{copy} with {options:?}");
            }
        }
    }
}

#[test]
fn an_asynchronous_store_is_awaited() {
    let store =
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r15], %r2, [%r13];";
    let body = exchange("%r16", store).replace(WAIT, "");
    let launch = Launch::new("test", [2, 1, 1], [32, 1, 1]).clusters([2, 1, 1]);
    let options = Options { checks: Checks::all(), ..Options::default() };
    let (words, report) = copied(&body, &launch, &options).unwrap();
    assert_eq!(words, [7; 64]);
    let hazards: Vec<_> = report.findings.iter().map(|finding| finding.hazard).collect();
    assert!(hazards.contains(&Hazard::AsyncCopyNotAwaited), "{hazards:?}");
}

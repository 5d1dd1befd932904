//! Functions of whole blocks and warps: against loops on the host, in blocks of each size, with every check for
//! races, and without bank conflicts.

use crate::codegen::{SM_90, ptx};
use bytemuck::{NoUninit, Pod};
use cuda_std::block::{Partials, Scan, Sort};
use cuda_std_tests::kernels::blocks::{FROM, ITEMS, STORED};
use simt::{Checks, Counters, Memory, Module, Options, run};
use std::fmt::Debug;
use std::sync::LazyLock;

/// Blocks of a launch: more than one, so that an address without the block's own part is found.
const BLOCKS: usize = 2;

pub static MODULE: LazyLock<Module> =
    LazyLock::new(|| Module::parse(&ptx(90)).expect("our own PTX parses"));

/// Numbers below 64, the same in each run: floats add them up without an error.
fn numbers(count: usize) -> impl Iterator<Item = u32> {
    (0..count as u32).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 13) % 64)
}

/// Bits that look random, the same in each run.
fn bits(count: usize) -> impl Iterator<Item = u64> {
    (0..count as u64).map(|at| {
        let mixed = (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    })
}

/// A launch of a kernel that takes one input, one output and words.
pub struct Run<'a> {
    pub kernel: &'a str,
    pub blocks: usize,
    pub threads: usize,
    pub shared_bytes: usize,
    pub words: &'a [u64],
}

impl Run<'_> {
    /// Returns what the kernel stores over bytes that it never stores, and the counters; no check may find anything.
    pub fn of<T: Pod, U: Pod>(&self, source: &[T], stored: usize) -> (Vec<U>, Counters) {
        let mut memory = Memory::default();
        memory.track_initialization();
        let input = allocate(&mut memory, source);
        let poison = vec![0xcd_u8; stored * size_of::<U>()];
        let output = allocate(&mut memory, &poison);
        let grid = [self.blocks as u32, 1, 1];
        let launch = simt::Launch::new(self.kernel, grid, [self.threads as u32, 1, 1]);
        let launch = launch.shared(self.shared_bytes as u32).address(input).address(output);
        let launch = self.words.iter().fold(launch, |launch, &word| launch.u64(word));
        let options = Options { checks: Checks::all(), ..Options::default() };
        let report = run(&MODULE, &mut memory, &launch, &options);
        let report = report.unwrap_or_else(|error| panic!("{}: {error}", self.kernel));
        assert!(report.findings.is_empty(), "{}: {:#?}", self.kernel, report.findings);
        let mut bytes = poison;
        memory.read(output, &mut bytes).expect("it is allocated");
        (numbers_of(&bytes), report.counters)
    }
}

pub fn numbers_of<T: Pod>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

fn allocate<T: NoUninit>(memory: &mut Memory, values: &[T]) -> u64 {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    let address = memory.allocate(bytes.len() as u64).expect("there is memory");
    memory.write(address, bytes).expect("it is allocated");
    address
}

/// Wavefronts of shared memory beyond the least, loads and stores.
fn conflicts(counters: &Counters) -> u64 {
    counters.shared_load.bank_conflicts() + counters.shared_store.bank_conflicts()
}

/// The rows of `collectives` for one block, by loops.
fn collectives<T: Copy + PartialOrd + Default>(
    source: &[T],
    threads: usize,
    valid: usize,
    add: impl Fn(T, T) -> T,
) -> Vec<T> {
    let max = |a: T, b: T| if b > a { b } else { a };
    let min = |a: T, b: T| if b < a { b } else { a };
    let values: Vec<T> = source.iter().step_by(ITEMS).copied().collect();
    let scan = |values: &[T], first: Option<T>, op: &dyn Fn(T, T) -> T| -> Vec<T> {
        let mut all = first;
        let mut step = |value: &T| {
            all = Some(all.map_or(*value, |before| op(before, *value)));
            all.expect("it was just set")
        };
        values.iter().map(&mut step).collect()
    };
    let every = |value: T| vec![value; threads];
    let fold = |values: &[T], op: &dyn Fn(T, T) -> T| scan(values, None, op).last().copied();
    // Items in blocked order as rows of the threads' first ones, second ones, ..
    let rows = |items: &[T]| -> Vec<T> {
        let of_row = |nth: usize| items.iter().skip(nth).step_by(ITEMS).copied();
        (0..ITEMS).flat_map(of_row).collect()
    };
    let shifted = |first: T, op: &dyn Fn(T, T) -> T, values: &[T]| -> Vec<T> {
        let mut all = vec![first];
        all.extend(scan(values, Some(first), op));
        all.truncate(values.len());
        all
    };
    let sum = fold(&values, &add).expect("a block has threads");
    let inclusive = scan(source, None, &add);
    // It begins with the block's first item.
    let exclusive = shifted(source[0], &add, source);
    [
        every(sum),
        every(fold(&values, &min).expect("a block has threads")),
        [vec![fold(&values, &max).expect("it has")], vec![T::default(); threads - 1]].concat(),
        every(fold(&values[..valid.min(threads)], &max).unwrap_or_default()),
        scan(&values, None, &add),
        every(sum),
        shifted(T::default(), &max, &values),
        every(fold(&values, &max).expect("a block has threads")),
        every(values[FROM]),
        rows(&inclusive),
        rows(&exclusive),
        source.to_vec(),
        rows(source),
    ]
    .concat()
}

#[track_caller]
fn check_collectives<T: Pod + PartialOrd + Default + Debug>(
    kernel: &str,
    threads: usize,
    valid: usize,
    from: impl Fn(u32) -> T,
    add: impl Fn(T, T) -> T,
) -> Counters {
    let source: Vec<T> = numbers(BLOCKS * threads * ITEMS).map(from).collect();
    let shared_bytes = (threads * ITEMS * size_of::<T>() + 16).max(size_of::<Partials<T>>());
    let launch = Run { kernel, blocks: BLOCKS, threads, shared_bytes, words: &[valid as u64] };
    let (found, counters) = launch.of::<T, T>(&source, BLOCKS * threads * STORED);
    for (block, source) in source.chunks(threads * ITEMS).enumerate() {
        let expected = collectives(source, threads, valid, &add);
        let found = &found[block * threads * STORED..][..threads * STORED];
        for (row, (found, expected)) in
            found.chunks(threads).zip(expected.chunks(threads)).enumerate()
        {
            assert_eq!(found, expected, "{kernel}, {valid} valid: block {block}, row {row}");
        }
    }
    counters
}

#[test]
fn blocks_of_each_size_compute_what_loops_do() {
    for threads in [32, 64, 128, 256, 288, 512, 992, 1024] {
        let kernel = format!("block_sizes_{threads}");
        // Partial tiles: none, one thread, parts of a warp, whole warps, all and more.
        for valid in [0, 1, 31, 32, 33, threads - 1, threads, threads + 1] {
            let counters = check_collectives::<u32>(
                &kernel,
                threads,
                valid,
                |number| number,
                u32::wrapping_add,
            );
            assert_eq!(conflicts(&counters), 0, "{kernel}: no bank conflicts");
        }
    }
}

#[test]
fn blocks_compute_with_each_type() {
    check_collectives::<i32>("block_types_i32_96", 96, 50, |n| 20 - n as i32, i32::wrapping_add);
    check_collectives::<u64>("block_types_u64_96", 96, 50, |n| u64::from(n) << 40, |a, b| a + b);
    check_collectives::<f32>("block_types_f32_96", 96, 50, |n| n as f32 / 4.0, |a, b| a + b);
    let doubles = check_collectives::<f64>("block_types_f64_96", 96, 50, f64::from, |a, b| a + b);
    assert_eq!(conflicts(&doubles), 0);
}

#[test]
fn values_are_combined_in_the_order_of_the_threads() {
    for threads in [64, 416] {
        let kernel = &format!("block_order_{threads}");
        let source: Vec<u32> = numbers(2 * threads).map(|number| number * 2 + 1).collect();
        let shared_bytes = size_of::<Scan<(u32, u32), 416>>();
        let launch = Run { kernel, blocks: 1, threads, shared_bytes, words: &[] };
        let (found, _) = launch.of::<u32, u32>(&source, 5 * threads);
        let (mut all, mut segment) = ((1_u32, 0_u32), 0_u32);
        let mut rows = vec![Vec::new(); 3];
        for pair in source.chunks(2) {
            all = (all.0.wrapping_mul(pair[0]), all.1.wrapping_mul(pair[0]).wrapping_add(pair[1]));
            segment = if pair[0] % 5 == 0 { pair[1] } else { segment + pair[1] };
            rows[0].push(all.0);
            rows[1].push(all.1);
            rows[2].push(segment);
        }
        let expected = [vec![all.0; threads], vec![all.1; threads], rows.concat()].concat();
        assert_eq!(found, expected, "{threads} threads");
    }
}

#[test]
fn an_exchange_has_no_bank_conflicts_whatever_the_items() {
    const THREADS: usize = 128;
    fn check<T: Pod + PartialEq + Debug>(kind: &str, items: usize, from: impl Fn(u32) -> T) {
        let count = THREADS * items;
        let source: Vec<T> = (0..count as u32).map(from).collect();
        let kernel = &format!("block_exchange_{kind}_{items}");
        let shared_bytes = size_of::<T>() * count;
        let launch = Run { kernel, blocks: 1, threads: THREADS, shared_bytes, words: &[] };
        let (found, counters) = launch.of::<T, T>(&source, 2 * count);
        assert_eq!(found[..count], source, "{kernel}: there and back");
        // What was striped is taken as blocked, and made striped again.
        for (at, item) in found[count..].iter().enumerate() {
            let (thread, nth) = (at / items, at % items);
            assert_eq!(*item, source[nth * THREADS + thread], "{kernel}: item {at}");
        }
        assert_eq!(conflicts(&counters), 0, "{kernel}");
        // A request for each item; one for all of a thread's neighbours, if they are 16 bytes.
        let blocked = if items * size_of::<T>() == 16 { 1 } else { items };
        let requests = |accesses: usize| (accesses * THREADS / 32) as u64;
        assert_eq!(counters.shared_load.requests, requests(blocked + 2 * items), "{kernel}");
        assert_eq!(counters.shared_store.requests, requests(2 * blocked + items), "{kernel}");
        assert_eq!(counters.local_load.requests + counters.local_store.requests, 0, "{kernel}");
    }
    for items in [1, 2, 3, 6, 7, 8, 16, 32] {
        check::<u32>("u32", items, |at| at);
        check::<f64>("f64", items, f64::from);
    }
}

/// Sorts blocks of keys on the device and on the host, by their bits in order.
#[track_caller]
fn check_sort<T: Pod + Debug>(
    kernel: &str,
    [threads, items, shared_bytes]: [usize; 3],
    range: Option<[u32; 2]>,
    from: impl Fn(u64) -> T,
    order: impl Fn(&T) -> u64,
) {
    let count = threads * items;
    let source: Vec<T> = bits(BLOCKS * count).map(from).collect();
    let words: Vec<u64> = range.iter().flatten().map(|&bit| u64::from(bit)).collect();
    let launch = Run { kernel, blocks: BLOCKS, threads, shared_bytes, words: &words };
    let (found, counters) = launch.of::<T, T>(&source, BLOCKS * count);
    let [from, to] = range.unwrap_or([0, 64]);
    let mask = |bits: u64| bits >> from & u64::MAX.unbounded_shr(64 - (to - from));
    for (block, (found, source)) in found.chunks(count).zip(source.chunks(count)).enumerate() {
        let mut expected = source.to_vec();
        expected.sort_by_key(|key| mask(order(key)));
        let [found, expected]: [&[u8]; 2] = [found, &expected].map(bytemuck::cast_slice);
        assert!(found == expected, "{kernel}, block {block}, bits {from}..{to}");
    }
    assert_eq!(counters.local_load.requests + counters.local_store.requests, 0, "{kernel}");
}

#[test]
fn a_block_sorts_keys_of_each_type_and_keeps_the_order_of_equal_ones() {
    let shape = |bytes: usize| [64, 5, bytes];
    let words = shape(size_of::<Sort<u32, 64, 5>>());
    let doubles = shape(size_of::<Sort<u64, 64, 5>>());
    let f32_order = |key: &f32| {
        let bits = key.to_bits();
        u64::from(if bits >> 31 == 1 { !bits } else { bits | 1 << 31 })
    };
    let f64_order = |key: &f64| {
        let bits = key.to_bits();
        if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
    };
    let i32_order = |key: &i32| (i64::from(*key) - i64::from(i32::MIN)) as u64;
    // All bits: also of NaN and of zeros with a sign. A part of the bits: the rest decides nothing.
    for range in [[0, 32], [0, 1], [5, 18], [30, 32]] {
        check_sort::<i32>("block_sort_i32_64", words, Some(range), |b| b as i32, i32_order);
        let special = [0.0, -0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
        let float = |b: u64| match b % 9 {
            nth @ 0..6 => special[nth as usize],
            _ => f32::from_bits((b >> 20) as u32),
        };
        check_sort::<f32>("block_sort_f32_64", words, Some(range), float, f32_order);
    }
    for range in [[0, 64], [30, 41]] {
        check_sort::<u64>("block_sort_u64_64", doubles, Some(range), |b| b, |key| *key);
        check_sort::<f64>("block_sort_f64_64", doubles, Some(range), f64::from_bits, f64_order);
    }
}

#[test]
fn blocks_of_each_size_sort() {
    let sizes = [
        (32, size_of::<Sort<u32, 32, 8>>()),
        (96, size_of::<Sort<u32, 96, 8>>()),
        (256, size_of::<Sort<u32, 256, 8>>()),
        (1024, size_of::<Sort<u32, 1024, 8>>()),
    ];
    for (threads, bytes) in sizes {
        let kernel = format!("block_sort_sizes_{threads}");
        check_sort::<u32>(&kernel, [threads, 8, bytes], None, |b| b as u32, |key| u64::from(*key));
    }
}

/// Keys that are in order already show what is not the keys' own: ranks, scan and reading have no conflicts.
#[test]
fn only_the_keys_of_a_sort_decide_about_bank_conflicts() {
    let same = vec![7_u32; 256 * 8];
    let shared_bytes = size_of::<Sort<u32, 256, 8>>();
    let kernel = "block_sort_sizes_256";
    let launch = Run { kernel, blocks: 1, threads: 256, shared_bytes, words: &[] };
    let (found, counters) = launch.of::<u32, u32>(&same, same.len());
    assert_eq!(found, same);
    assert_eq!(conflicts(&counters), 0);
}

#[test]
fn values_go_with_their_keys() {
    const COUNT: usize = 128 * 4;
    let keys: Vec<u32> = bits(COUNT).map(|bits| bits as u32 % 100).collect();
    let values: Vec<u64> = (0..COUNT as u64).map(|at| at << 33 | at).collect();
    let mut memory = Memory::default();
    let addresses = [allocate(&mut memory, &keys), allocate(&mut memory, &values)];
    let launch = simt::Launch::new("block_sort_pairs", [1, 1, 1], [128, 1, 1]);
    let launch = launch.address(addresses[0]).address(addresses[1]);
    let options = Options { checks: Checks::all(), ..Options::default() };
    let report = run(&MODULE, &mut memory, &launch, &options).expect("it runs");
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    let mut order: Vec<usize> = (0..COUNT).collect();
    order.sort_by_key(|&at| keys[at]);
    let (mut sorted, mut taken) = (vec![0_u8; 4 * COUNT], vec![0_u8; 8 * COUNT]);
    memory.read(addresses[0], &mut sorted).expect("it is allocated");
    memory.read(addresses[1], &mut taken).expect("it is allocated");
    let expected: Vec<u32> = order.iter().map(|&at| keys[at]).collect();
    assert_eq!(numbers_of::<u32>(&sorted), expected);
    let expected: Vec<u64> = order.iter().map(|&at| values[at]).collect();
    assert_eq!(numbers_of::<u64>(&taken), expected);
}

#[test]
fn a_histogram_counts_each_item() {
    let count = BLOCKS * 128 * ITEMS;
    let items: Vec<u32> = bits(count).map(|bits| (bits >> 7) as u32 % 256).collect();
    let launch = Run {
        kernel: "block_histogram",
        blocks: BLOCKS,
        threads: 128,
        shared_bytes: 0,
        words: &[],
    };
    let (found, _) = launch.of::<u32, u32>(&items, BLOCKS * 256);
    for (items, found) in items.chunks(128 * ITEMS).zip(found.chunks(256)) {
        let mut expected = vec![0_u32; 256];
        items.iter().for_each(|&item| expected[item as usize] += 1);
        assert_eq!(found, expected);
    }
}

#[test]
fn tiles_scan_reduce_and_exchange() {
    const THREADS: usize = 64;
    let source: Vec<u32> = numbers(THREADS).collect();
    for lanes in [8, 32] {
        let kernel = &format!("warp_collectives_{lanes}");
        let shared_bytes = 4 * THREADS * ITEMS;
        let launch = Run { kernel, blocks: 1, threads: THREADS, shared_bytes, words: &[] };
        let (found, counters) = launch.of::<u32, u32>(&source, (5 + 2 * ITEMS) * THREADS);
        let mut rows = vec![Vec::new(); 5 + 2 * ITEMS];
        for (at, value) in source.iter().enumerate() {
            let tile = &source[at / lanes * lanes..][..lanes];
            let rank = at % lanes;
            let sum = |values: &[u32]| values.iter().sum::<u32>();
            rows[0].push(tile.iter().copied().max().unwrap_or(0));
            rows[1].push(sum(&tile[..5]));
            rows[2].push(sum(&tile[..=rank]));
            rows[3].push(7 + sum(&tile[..rank]));
            let behind = tile[rank + 1..].iter().take_while(|value| *value % 4 != 0);
            rows[4].push(value + behind.sum::<u32>());
            let warp = &source[at / 32 * 32..][..32];
            for nth in 0..ITEMS {
                let item = nth * 32 + at % 32;
                rows[5 + nth].push(warp[item / ITEMS] * (item % ITEMS + 1) as u32);
                rows[5 + ITEMS + nth].push(value * (nth + 1) as u32);
            }
        }
        assert_eq!(found, rows.concat(), "{kernel}");
        assert_eq!(conflicts(&counters), 0, "{kernel}");
    }
}

/// Arrays of items stay in registers.
#[test]
fn no_items_are_in_local_memory() {
    let families = ["block_", "peer_", "warp_collectives"];
    let is_ours = |name: &str| families.iter().any(|family| name.starts_with(family));
    let ours: Vec<_> = SM_90.iter().filter(|(name, _)| is_ours(name)).collect();
    assert!(ours.len() > 60, "{} kernels", ours.len());
    for (name, text) in ours {
        assert!(!text.contains(".local") && !text.contains("__local_depot"), "{name}:\n{text}");
        assert!(!text.contains("\nld.b") && !text.contains("\nst.b"), "{name}: generic accesses");
    }
}

/// Writes the PTX that `peers/blocks.cu` measures to the file that `COALESCE_BLOCKS_PTX` names.
#[test]
#[ignore = "writes a file for a GPU"]
fn kernels_beside_cub() {
    let path = std::env::var_os("COALESCE_BLOCKS_PTX").expect("COALESCE_BLOCKS_PTX names a file");
    let builder = cuda_builder::CudaBuilder::new(env!("CARGO_MANIFEST_DIR"))
        .only_kernels("peer_")
        .arch(cuda_builder::NvvmArch::Compute90)
        .target_dir(crate::codegen::target_dir());
    let ptx = builder.build().expect("the kernels compile");
    std::fs::copy(ptx, path).expect("the file can be written");
}

/// The guide's table is of `results/nvidia-h100/blocks.csv`; `COALESCE_BLESS=1` writes it anew.
#[test]
fn the_guide_shows_what_was_measured() {
    const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let measured = std::fs::read_to_string(format!("{ROOT}/results/nvidia-h100/blocks.csv"));
    let measured = measured.expect("the measurement is committed");
    let mut table = String::from(
        "| function, type, items | CUB's time / ours | registers, CUB's |\n|---|--:|--:|\n",
    );
    for row in measured.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let &[name, repeats, _, _, ratio, ours, cub, stored] = &cells[..] else {
            panic!("`{row}` has eight cells");
        };
        assert!(stored != "DIFFERENT" && ratio.parse::<f64>().expect("a ratio") >= 0.95, "{row}");
        if repeats == "32" {
            table += &format!("| `{name}` | {ratio} | {ours}, {cub} |\n");
        }
    }
    let path = format!("{ROOT}/docs/guide/from_cuda_cpp.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let [begin, end] = ["<!-- blocks -->\n", "<!-- /blocks -->"];
    let (before, rest) = page.split_once(begin).expect("the table begins");
    let (_, after) = rest.split_once(end).expect("the table ends");
    let expected = format!("{before}{begin}{table}{end}{after}");
    if std::env::var_os("COALESCE_BLESS").is_some() {
        std::fs::write(&path, &expected).expect("the page can be written");
    }
    let committed = std::fs::read_to_string(&path).expect("the page is there");
    assert!(committed == expected, "{path} shows another table: COALESCE_BLESS=1 writes it anew");
}

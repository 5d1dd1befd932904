//! The scan that looks back, where blocks that run in turn never have to look far: words as blocks leave them that are
//! still at work, and launches on words that others have left.

use host::CATALOGUE;
use kernels::collectives::scan::published::{PREFIX, SUM};
use kernels::collectives::scan::rows::{VECTORIZED_THREADS, VECTORIZED_TILE};
use kernels::collectives::scan::specialized_warps;
use simt::{Checks, Hazard, Launch, Memory, Module, Options, Schedule, run};

const TILE: usize = VECTORIZED_TILE as usize;
/// Those that look back at prefixes.
const KERNELS: [&str; 2] = ["scan_look_back", "scan_look_back_async"];
/// The one that reads sums only.
const SPECIALIZED: &str = "scan_specialized_warps";
/// The stages of its ring, here.
const STAGES: u32 = 2;

/// Device memory with an array, a place for its scan, and the kernel's words.
struct Device {
    kernel: &'static str,
    module: Module,
    memory: Memory,
    source: u64,
    target: u64,
    state: u64,
    /// The sum of the values before each place.
    before: Vec<f64>,
}

impl Device {
    /// With `n` odd multiples of 1/64, and zeros for the words.
    fn new(kernel: &'static str, n: usize) -> Device {
        let image = CATALOGUE.images.last().expect("there are kernels");
        let module = Module::parse(image.text()).expect("our own PTX parses");
        let mut memory = Memory::new(64 << 20);
        let mut allocate = |bytes: usize| memory.allocate(bytes as u64).expect("it fits");
        let (source, target) = (allocate((4 * n).next_multiple_of(16)), allocate(4 * n));
        let state = allocate(8 * (1 + n.div_ceil(TILE)));
        let values: Vec<f32> =
            (0..n).map(|i| ((i * i % 61 + i % 3) as f32 * 2.0 - 61.0) / 64.0).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        memory.write(source, &bytes).expect("it was allocated");
        let mut before = vec![0.0];
        before.extend(values.iter().scan(0.0, |sum, value| {
            *sum += f64::from(*value);
            Some(*sum)
        }));
        let mut device = Device { kernel, module, memory, source, target, state, before };
        device.write_words(0, &vec![0; 1 + n.div_ceil(TILE)]);
        device
    }

    fn write_words(&mut self, first: usize, words: &[u64]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.memory.write(self.state + 8 * first as u64, &bytes).expect("it was allocated");
    }

    fn words(&self, count: usize) -> Vec<u64> {
        let mut bytes = vec![0; 8 * count];
        self.memory.read(self.state, &mut bytes).expect("it was allocated");
        let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
        bytes.chunks_exact(8).map(word).collect()
    }

    /// The sum of the values before a place.
    fn before(&self, place: usize) -> f32 {
        self.before[place] as f32
    }

    fn launch(&self, n: usize, blocks: u32) -> Launch {
        let is_specialized = self.kernel == SPECIALIZED;
        let threads = if is_specialized { specialized_warps::THREADS } else { VECTORIZED_THREADS };
        let launch = Launch::new(self.kernel, [blocks, 1, 1], [threads, 1, 1])
            .address(self.source)
            .address(self.target)
            .address(self.state)
            .u32(n as u32);
        if !is_specialized {
            return launch;
        }
        launch.u32(STAGES).shared(STAGES * VECTORIZED_TILE * 4)
    }

    /// Runs so many blocks over `n` elements and compares the tiles from `first` on.
    fn scan(&mut self, n: usize, blocks: u32, first: usize, schedule: Schedule) {
        let length = self.before.len() - 1;
        self.memory.fill(self.target, 0xFF, 4 * length).expect("it was allocated");
        let launch = self.launch(n, blocks);
        let options = Options { checks: Checks::all(), schedule, ..Options::default() };
        let report = run(&self.module, &mut self.memory, &launch, &options)
            .unwrap_or_else(|error| panic!("{schedule:?}: {error}"));
        assert!(report.findings.is_empty(), "{schedule:?}: {}", report.findings[0]);
        let mut bytes = vec![0; 4 * length];
        self.memory.read(self.target, &mut bytes).expect("it was allocated");
        let [from, to] = [4 * first * TILE, 4 * n];
        let is_untouched = |bytes: &[u8]| bytes == vec![0xFF; bytes.len()];
        assert!(is_untouched(&bytes[..from]), "{schedule:?}: written before tile {first}");
        assert!(is_untouched(&bytes[to..]), "{schedule:?}: written behind element {n}");
        for (i, bytes) in (first * TILE..).zip(bytes[from..to].chunks_exact(4)) {
            let found = f32::from_ne_bytes(bytes.try_into().expect("four bytes"));
            let sum = self.before(i + 1);
            assert!(found == sum, "{schedule:?}, element {i}: {found}, not {sum}");
        }
    }
}

/// Of 100 tiles before the last two, only one knows its prefix: at every distance, up to four looks away.
#[test]
fn a_tile_looks_back_until_one_knows_its_prefix() {
    KERNELS.into_iter().for_each(looks_back_until_one_knows_its_prefix);
}

fn looks_back_until_one_knows_its_prefix(kernel: &'static str) {
    let (n, tiles) = (102 * TILE - 5, 102);
    for nearest in [0, 1, 3, 4, 5, 35, 36, 37, 67, 68, 69, 98, 99] {
        let mut device = Device::new(kernel, n);
        let word = |tile: usize| {
            let end = device.before((tile + 1) * TILE);
            let sum = end - device.before(tile * TILE);
            let (state, value) = if tile == nearest { (PREFIX, end) } else { (SUM, sum) };
            // What lies before the nearest prefix must not count.
            let value = if tile < nearest { f32::NAN } else { value };
            u64::from(state) << 32 | u64::from(value.to_bits())
        };
        let words: Vec<u64> = std::iter::once(100).chain((0..100).map(word)).collect();
        device.write_words(0, &words);
        device.scan(n, 2, 100, Schedule::Forward);
        let words = device.words(1 + tiles);
        assert_eq!(words[0], 102, "two more tickets were taken");
        let last = |tile: usize| {
            u64::from(PREFIX) << 32 | u64::from(device.before(n.min((tile + 1) * TILE)).to_bits())
        };
        assert_eq!(words[101..], [last(100), last(101)], "the nearest prefix is tile {nearest}'s");
    }
}

/// A block that comes late adds the sums of all tiles before its first, in more than one look, and then its own.
#[test]
fn a_resident_block_adds_the_sums_since_its_last_tile() {
    let (n, tiles, known) = (202 * TILE - 5, 202, 200);
    let mut device = Device::new(SPECIALIZED, n);
    let sum = |device: &Device, tile: usize| {
        let sum = device.before(n.min((tile + 1) * TILE)) - device.before(tile * TILE);
        u64::from(SUM) << 32 | u64::from(sum.to_bits())
    };
    let words: Vec<u64> =
        std::iter::once(known as u64).chain((0..known).map(|tile| sum(&device, tile))).collect();
    for schedule in [Schedule::Forward, Schedule::Reverse, Schedule::Seeded(1)] {
        device.write_words(0, &words);
        device.write_words(1 + known, &[0, 0]);
        device.scan(n, 2, known, schedule);
        let words = device.words(1 + tiles);
        assert_eq!(words[0], 1 << 32, "the last ticket counts the launch");
        assert_eq!(words[1 + known..], [sum(&device, known), sum(&device, known + 1)]);
    }
}

/// Words of earlier launches, also of fewer tiles, count as not yet written, and the number of launches may wrap.
#[test]
fn launches_leave_words_that_the_next_does_not_take_for_its_own() {
    KERNELS.into_iter().for_each(leaves_words_that_the_next_launch_does_not_take);
    leaves_words_that_the_next_launch_does_not_take(SPECIALIZED);
}

fn leaves_words_that_the_next_launch_does_not_take(kernel: &'static str) {
    let n = 70 * TILE + 123;
    let mut device = Device::new(kernel, n);
    let schedules =
        [Schedule::Forward, Schedule::Reverse, Schedule::Seeded(1), Schedule::Seeded(2)];
    for (launch, schedule) in schedules.into_iter().enumerate() {
        for (step, n) in [n, 40 * TILE, 1, n].into_iter().enumerate() {
            device.scan(n, n.div_ceil(TILE) as u32, 0, schedule);
            assert_eq!(device.words(1), [((4 * launch + step + 1) as u64) << 32]);
        }
    }
    device.write_words(0, &[u64::from(u32::MAX) << 32]);
    for launch in [0, 1, 2] {
        device.scan(n, n.div_ceil(TILE) as u32, 0, Schedule::Forward);
        assert_eq!(device.words(1), [launch << 32]);
    }
}

/// A word that is read or written weakly is found, whatever the order of blocks and the number of threads.
#[test]
fn weak_words_are_found_in_every_schedule() {
    let image = CATALOGUE.images.last().expect("there are kernels").text();
    for (strong, weak) in [
        ("st.relaxed.gpu.global.b64", "st.global.b64"),
        ("ld.relaxed.gpu.global.b64", "ld.global.b64"),
    ] {
        assert!(image.contains(strong));
        let module = Module::parse(&image.replace(strong, weak)).expect("it is still PTX");
        for kernel in [KERNELS[0], KERNELS[1], SPECIALIZED] {
            let mut device = Device::new(kernel, 5 * TILE);
            let n = device.before.len() - 1;
            let schedules =
                [Schedule::Forward, Schedule::Reverse, Schedule::Seeded(1), Schedule::Seeded(2)];
            // Where blocks run in turn, the first block of this one takes all tiles, and nobody reads its words.
            let in_turn = if kernel == SPECIALIZED { 2 } else { 0 };
            for schedule in schedules.into_iter().skip(in_turn) {
                for threads in [1, 4] {
                    let launch = device.launch(n, 5);
                    let checks = Checks::all();
                    let options = Options { checks, schedule, threads, ..Options::default() };
                    let report = run(&module, &mut device.memory, &launch, &options)
                        .unwrap_or_else(|error| panic!("{schedule:?}: {error}"));
                    let is_race = |finding: &simt::Finding| finding.hazard == Hazard::GlobalRace;
                    assert!(report.findings.iter().any(is_race), "{weak}, {schedule:?}, {threads}");
                }
            }
        }
    }
}

//! No text makes the parser, the decoder or the executor panic or take much memory: mutations of
//! real PTX, for 4 seconds, or 20 where `CI` is set. `SIMT_FUZZ_SEED` repeats a run, and `SIMT_FUZZ_CASES` makes so
//! many mutations instead: that is `cargo xtask prove fuzz`.
#![allow(clippy::print_stdout, reason = "a long run says how much it tried")]

use simt::{Checks, Launch, Memory, Module, Options, run};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime};

/// Bytes that one input may make the process hold, beyond what it held before.
const MAX_BYTES: usize = 256 << 20;

/// The system's allocator, counting what is held.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed to the system's allocator unchanged; counting touches no memory
// that it manages.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(held, Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the pointer came from `alloc` above, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = *state;
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number below `count`.
fn below(state: &mut u64, count: usize) -> usize {
    (mix(state) % count.max(1) as u64) as usize
}

fn seeds() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for folder in ["tests/seeds", "tests/corpus", "fixtures/ptx"] {
        let folder = format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"));
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "ptx") {
                all.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }
    all.sort();
    // Kernels one by one mutate better than a whole file.
    let header = ".version 8.7\n.target sm_90\n.address_size 64\n";
    let parts = all.iter().flat_map(|text| text.split(".visible .entry").skip(1));
    let mut seeds: Vec<Vec<u8>> =
        parts.map(|part| format!("{header}.visible .entry{part}").into_bytes()).collect();
    // What the seed files say before their kernels counts, too.
    seeds.extend(all.into_iter().filter(|text| text.len() < 5000).map(String::into_bytes));
    seeds
}

/// The start and end of the word around a position.
fn word(text: &[u8], at: usize) -> (usize, usize) {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || b".%_".contains(b);
    let start = text[..at].iter().rposition(|b| !is_word(b)).map_or(0, |p| p + 1);
    let end = text[at..].iter().position(|b| !is_word(b)).map_or(text.len(), |p| at + p);
    (start, end.max(start))
}

const WORDS: [&[u8]; 22] = [
    b"{",
    b"}",
    b"[",
    b";",
    b"@",
    b"|",
    b"18446744073709551615",
    b"-9223372036854775808",
    b"-1",
    b"0",
    b"<4294967295>",
    b"[1099511627775]",
    b".v4",
    b".b128",
    b".b8",
    b".f16x2",
    b"%p1",
    b"%rd1",
    b"0f7FC00000",
    b".shared",
    b".local",
    b".param",
];

fn mutate(seed: &[u8], state: &mut u64, all: &[Vec<u8>]) -> Vec<u8> {
    let mut text = seed.to_vec();
    for _ in 0..1 + below(state, 6) {
        if text.is_empty() {
            break;
        }
        let at = below(state, text.len());
        let end = (at + 1 + below(state, 40)).min(text.len());
        match below(state, 11) {
            0 => text[at] = mix(state) as u8,
            1 => drop(text.drain(at..end)),
            2 => {
                let piece = text[at..end].to_vec();
                let to = below(state, text.len());
                text.splice(to..to, piece);
            }
            3 => text.truncate(at),
            4 => {
                let other = &all[below(state, all.len())];
                let from = below(state, other.len());
                let piece = &other[from..(from + 60).min(other.len())];
                text.splice(at..at, piece.iter().copied());
            }
            5 => {
                text.splice(at..at, WORDS[below(state, WORDS.len())].iter().copied());
            }
            6 => {
                // A digit becomes another: register numbers, offsets, sizes.
                if let Some(digit) = text[at..].iter_mut().find(|b| b.is_ascii_digit()) {
                    *digit = b'0' + (mix(state) % 10) as u8;
                }
            }
            7 => {
                // A word becomes one of another kernel: opcodes, types, registers.
                let other = &all[below(state, all.len())];
                let (from, to) = word(other, below(state, other.len()));
                let (start, end) = word(&text, at);
                text.splice(start..end, other[from..to].iter().copied());
            }
            8 => {
                let (start, end) = word(&text, at);
                text.splice(start..end, WORDS[below(state, WORDS.len())].iter().copied());
            }
            9 => {
                let (start, end) = word(&text, at);
                drop(text.drain(start..end));
            }
            _ => {
                let mut lines: Vec<&[u8]> = text.split(|b| *b == b'\n').collect();
                let (a, b) = (below(state, lines.len()), below(state, lines.len()));
                lines.swap(a, b);
                text = lines.join(&b'\n');
            }
        }
    }
    text
}

/// Parses and runs a text with little fuel; how many kernels ran to their end. `None` when it is
/// not PTX.
fn execute(text: &str, checks: Checks) -> Option<u64> {
    let module = Module::parse(text).ok()?;
    let mut ran = 0;
    for kernel in module.kernels() {
        let mut memory = Memory::new(1 << 24);
        memory.track_initialisation();
        let Ok(buffer) = memory.allocate(1 << 16) else { continue };
        let mut launch = Launch::new(&kernel.name, [2, 1, 1], [40, 1, 1]).shared(256);
        for parameter in &kernel.parameters {
            let mut bytes = vec![0; (parameter.bytes as usize).min(1 << 16)];
            let value = if parameter.bytes == 8 { buffer } else { 30 };
            let count = bytes.len().min(8);
            bytes[..count].copy_from_slice(&value.to_le_bytes()[..count]);
            launch = launch.argument(&bytes);
        }
        let options = Options { fuel: 20_000, checks, threads: 1, ..Options::default() };
        // Any error is fine; a panic is not.
        ran += u64::from(run(&module, &mut memory, &launch, &options).is_ok());
    }
    Some(ran)
}

/// When a run of mutations ends.
enum Until {
    Over(Duration),
    Cases(u64),
}

/// Mutates seeds; how many texts parsed and how many kernels ran.
fn fuzz(until: Until, seed: u64) -> (u64, u64) {
    let all = seeds();
    let mut state = seed;
    let (mut parsed, mut ran) = (0, 0);
    let start = Instant::now();
    let mut cases = 0;
    while match until {
        Until::Over(duration) => start.elapsed() < duration,
        Until::Cases(most) => cases < most,
    } {
        cases += 1;
        let text = mutate(&all[below(&mut state, all.len())], &mut state, &all);
        let text = String::from_utf8_lossy(&text);
        let checks = if mix(&mut state) & 1 == 0 { Checks::all() } else { Checks::none() };
        let before = HELD.load(Relaxed);
        MOST.store(before, Relaxed);
        let one = std::panic::catch_unwind(|| execute(&text, checks));
        let Ok(one) = one else { panic!("seed {seed}: this text made it panic:\n{text}") };
        let bytes = MOST.load(Relaxed).saturating_sub(before);
        assert!(bytes < MAX_BYTES, "seed {seed}: this text took {bytes} bytes:\n{text}");
        parsed += u64::from(one.is_some());
        ran += one.unwrap_or(0);
    }
    (parsed, ran)
}

#[test]
fn seeds_are_supported() {
    for seed in seeds() {
        let text = String::from_utf8(seed).unwrap();
        let module = Module::parse(&text).unwrap();
        let first = text.lines().next().unwrap_or_default();
        // Kernels that were cut out of a file may lack what stood before them.
        if first.starts_with("//") {
            for kernel in module.kernels() {
                kernel.supported().unwrap_or_else(|error| panic!("{first}: {error}"));
            }
        }
    }
}

#[test]
fn mutations_never_panic() {
    let (parsed, ran) = fuzz(Until::Over(Duration::from_secs(2)), 1);
    assert!(parsed > 10 && ran > 2, "mutations are too wild: {parsed} parsed, {ran} ran");
}

#[test]
fn new_mutations_never_panic() {
    let seconds = if std::env::var_os("CI").is_some() { 18 } else { 2 };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let number = |name| std::env::var(name).ok().and_then(|number| number.parse().ok());
    let seed = number("SIMT_FUZZ_SEED").unwrap_or(now.as_nanos() as u64);
    let cases = number("SIMT_FUZZ_CASES");
    let until = cases.map_or(Until::Over(Duration::from_secs(seconds)), Until::Cases);
    let (parsed, ran) = fuzz(until, seed);
    if let Some(cases) = cases {
        println!(
            "{cases} mutations, seed {seed}: {parsed} parsed, {ran} kernels ran, none panicked"
        );
    }
}

#[test]
fn random_bytes_are_errors() {
    let mut state = 7;
    for length in 0..2000 {
        let bytes: Vec<u8> = (0..length % 97).map(|_| mix(&mut state) as u8).collect();
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(module) = Module::parse(&text) {
            assert!(module.kernels().is_empty());
        }
    }
}

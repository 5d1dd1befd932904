//! No text makes the parser, the decoder or the executor panic or take much memory or time: mutations
//! of real PTX, of which those that do something new are mutated further.
//!
//! The same texts are tried every time, so that nothing fails by luck; `SIMT_FUZZ_SEED` gives others.
//! `cargo xtask prove fuzz` tries many more, shard by shard, and goes on where it stopped.
#![allow(clippy::print_stdout, reason = "a run says how much it tried")]

mod coverage;
mod memory;
mod mutation;

use coverage::Coverage;
use mutation::{below, mix, mutate, seeds};
use simt::{Checks, Launch, Memory, Module, Options, run};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Bytes that one input may make the process hold, beyond what it held before.
const MAX_BYTES: isize = 256 << 20;
/// Time that one input may take, on a machine that does other work, too.
const MAX_TIME: Duration = Duration::from_secs(20);
/// The seed unless another is asked for.
const SEED: u64 = 20_261_122;
/// Texts of a shard: a shard starts from the seeds again.
const SHARD: u64 = 50_000;
/// Texts that did something new, of which so many are kept, and none that is longer.
const CORPUS: usize = 4096;
const LONGEST: usize = 20_000;

#[derive(Clone, Copy, Default)]
struct Tried {
    /// Texts given to the parser.
    inputs: u64,
    parsed: u64,
    /// Kernels given to the executor, and how many of them ran to their end.
    executed: u64,
    ended: u64,
    seen: u64,
}

/// Parses and runs a text with little fuel.
fn execute(text: &str, checks: Checks, tried: &mut Tried, coverage: &mut Coverage) {
    let module = match Module::parse(text) {
        Ok(module) => module,
        Err(error) => return coverage.error(&error),
    };
    tried.parsed += 1;
    coverage.module(&module);
    for kernel in module.kernels() {
        let mut memory = Memory::new(1 << 24);
        memory.track_initialization();
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
        tried.executed += u64::from(kernel.supported().is_ok());
        match run(&module, &mut memory, &launch, &options) {
            Ok(report) => {
                tried.ended += 1;
                coverage.report(&report);
            }
            Err(error) => coverage.error(&error),
        }
    }
}

/// Tries so many texts, always the same for the same seed and shard.
fn fuzz(seed: u64, shard: u64, inputs: u64) -> Tried {
    let mut all = seeds();
    let first = all.len();
    let mut state = seed ^ shard.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut coverage = Coverage::default();
    let mut tried = Tried { inputs, ..Tried::default() };
    for _ in 0..inputs {
        // Half of them from what did something new.
        let from = if mix(&mut state) & 1 == 0 { first } else { all.len() };
        let bytes = mutate(&all[below(&mut state, from)], &mut state, &all);
        let text = String::from_utf8_lossy(&bytes);
        let checks = if mix(&mut state) & 1 == 0 { Checks::all() } else { Checks::none() };
        let start = Instant::now();
        let (bytes_held, one) = memory::most_of(|| {
            let one = || execute(&text, checks, &mut tried, &mut coverage);
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(one))
        });
        let place = format!("seed {seed}, shard {shard}");
        assert!(one.is_ok(), "{place}: this text made it panic:\n{text}");
        assert!(bytes_held < MAX_BYTES, "{place}: this text took {bytes_held} bytes:\n{text}");
        assert!(
            start.elapsed() < MAX_TIME,
            "{place}: this text took {:?}:\n{text}",
            start.elapsed()
        );
        if coverage.drain_new() && bytes.len() < LONGEST && all.len() < first + CORPUS {
            all.push(bytes);
        }
    }
    tried.seen = coverage.count() as u64;
    tried
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
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
    let seed = number("SIMT_FUZZ_SEED").unwrap_or(SEED);
    let inputs = if std::env::var_os("CI").is_some() { 6 * SHARD } else { SHARD / 5 };
    println!("seed {seed}");
    let tried = fuzz(seed, 0, inputs);
    let Tried { parsed, executed, ended, seen, .. } = tried;
    println!(
        "{inputs} texts: {parsed} parsed, {executed} kernels executed, {ended} to their end, {seen} things seen"
    );
    assert!(
        parsed > inputs / 50 && ended > inputs / 200,
        "mutations are too wild: {parsed} parsed, {ended} ended"
    );
}

/// The mutations find more when texts that did something new are mutated further.
#[test]
fn coverage_guides() {
    let one = fuzz(SEED, 1, 400);
    let more = fuzz(SEED, 1, 2000);
    assert!(more.seen > one.seen + one.seen / 10, "{} {}", one.seen, more.seen);
}

/// The run of `cargo xtask prove fuzz`: shards until there were enough texts and kernels, or until the time
/// is over. What was done for the same sources and the same seed is kept in `SIMT_FUZZ_STATE`.
#[test]
#[ignore = "takes an hour: cargo xtask prove fuzz"]
fn the_long_run() {
    let seed = number("SIMT_FUZZ_SEED").unwrap_or(SEED);
    let goal = [
        number("SIMT_FUZZ_INPUTS").unwrap_or(100_000_000),
        number("SIMT_FUZZ_KERNELS").unwrap_or(1_000_000),
    ];
    let limit = number("PROOF_SECONDS").map_or(Duration::MAX, Duration::from_secs);
    let sources = std::env::var("PROOF_INPUTS").unwrap_or_default();
    let state = std::env::var_os("SIMT_FUZZ_STATE").map(PathBuf::from);
    let key = format!("{seed} {sources}");
    let before = state.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
    let before = before.and_then(|text| {
        let (known, numbers) = text.split_once(';')?;
        let numbers: Vec<u64> = numbers.split_whitespace().flat_map(str::parse).collect();
        (known == key).then_some(())?;
        <[u64; 6]>::try_from(numbers).ok()
    });
    // Shards, texts, parsed, executed, ended, things seen by the best shard.
    let done = Mutex::new(before.unwrap_or_default());
    let next = AtomicU64::new(done.lock().unwrap()[0]);
    let start = Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let so_far = *done.lock().unwrap();
                    let is_enough = so_far[1] >= goal[0] && so_far[3] >= goal[1];
                    if is_enough || start.elapsed() >= limit {
                        return;
                    }
                    let tried = fuzz(seed, next.fetch_add(1, Ordering::Relaxed), SHARD);
                    let mut done = done.lock().unwrap();
                    let Tried { inputs, parsed, executed, ended, seen } = tried;
                    for (sum, one) in done.iter_mut().zip([1, inputs, parsed, executed, ended]) {
                        *sum += one;
                    }
                    done[5] = done[5].max(seen);
                    let numbers = done.map(|number| number.to_string()).join(" ");
                    if let Some(path) = &state {
                        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                        std::fs::write(path, format!("{key};{numbers}")).unwrap();
                    }
                }
            });
        }
    });
    let [shards, inputs, parsed, executed, ended, seen] = *done.lock().unwrap();
    let share = (100 * inputs / goal[0]).min(100 * executed / goal[1]).min(100);
    println!(
        "{inputs} texts in {shards} shards, seed {seed}: {parsed} parsed, {executed} kernels executed, {ended} to \
         their end, up to {seen} things seen in a shard, none panicked ({share} % of the {} texts and {} kernels meant)",
        goal[0], goal[1]
    );
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

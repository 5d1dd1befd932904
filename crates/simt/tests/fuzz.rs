//! No bytes make the parser or the executor panic: seeded mutations of real PTX.

use simt::{Launch, Memory, Module, Options, run};
use std::time::{Duration, Instant};

fn mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = *state;
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn seeds() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for folder in ["tests/corpus", "fixtures/ptx"] {
        let folder = format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"));
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "ptx") {
                all.push(std::fs::read(path).unwrap());
            }
        }
    }
    all.sort();
    // Kernels one by one mutate better than a whole file.
    let mut parts: Vec<Vec<u8>> = Vec::new();
    for text in &all {
        let text = String::from_utf8_lossy(text).into_owned();
        let header = ".version 8.7\n.target sm_90\n.address_size 64\n";
        for part in text.split(".visible .entry").skip(1) {
            parts.push(format!("{header}.visible .entry{part}").into_bytes());
        }
    }
    parts
}

fn mutate(seed: &[u8], state: &mut u64, all: &[Vec<u8>]) -> Vec<u8> {
    let mut text = seed.to_vec();
    for _ in 0..1 + mix(state) % 6 {
        if text.is_empty() {
            break;
        }
        let at = mix(state) as usize % text.len();
        let end = (at + 1 + mix(state) as usize % 40).min(text.len());
        match mix(state) % 7 {
            0 => text[at] = mix(state) as u8,
            1 => drop(text.drain(at..end)),
            2 => {
                let piece = text[at..end].to_vec();
                let to = mix(state) as usize % text.len();
                text.splice(to..to, piece);
            }
            3 => text.truncate(at),
            4 => {
                let other = &all[mix(state) as usize % all.len()];
                let from = mix(state) as usize % other.len();
                let piece = &other[from..(from + 60).min(other.len())];
                text.splice(at..at, piece.iter().copied());
            }
            5 => {
                let words: [&[u8]; 10] = [
                    b"{",
                    b"}",
                    b"18446744073709551615",
                    b"-1",
                    b"<4294967295>",
                    b"[1099511627775]",
                    b".v4",
                    b".b128",
                    b"%p1",
                    b"0f7FC00000",
                ];
                text.splice(at..at, words[mix(state) as usize % words.len()].iter().copied());
            }
            _ => {
                // A digit becomes another: register numbers, offsets, sizes.
                if let Some(digit) = text[at..].iter_mut().find(|b| b.is_ascii_digit()) {
                    *digit = b'0' + (mix(state) % 10) as u8;
                }
            }
        }
    }
    text
}

fn fuzz(duration: Duration, seed: u64) -> (u64, u64) {
    let all = seeds();
    let mut state = seed;
    let (mut parsed, mut ran) = (0, 0);
    let start = Instant::now();
    while start.elapsed() < duration {
        let text = mutate(&all[mix(&mut state) as usize % all.len()], &mut state, &all);
        let text = String::from_utf8_lossy(&text);
        let Ok(module) = Module::parse(&text) else { continue };
        parsed += 1;
        for kernel in module.kernels() {
            let mut memory = Memory::new(1 << 24);
            let Ok(buffer) = memory.allocate(1 << 16) else { continue };
            let mut launch = Launch::new(&kernel.name, [2, 1, 1], [40, 1, 1]).shared(256);
            for parameter in &kernel.parameters {
                let mut bytes = vec![0; parameter.bytes as usize];
                let value = if parameter.bytes == 8 { buffer } else { 30 };
                let count = bytes.len().min(8);
                bytes[..count].copy_from_slice(&value.to_le_bytes()[..count]);
                launch = launch.argument(&bytes);
            }
            let checks = if parsed % 2 == 0 { simt::Checks::all() } else { simt::Checks::none() };
            let options = Options { fuel: 20_000, checks, threads: 1, ..Options::default() };
            // Any error is fine; a panic is not.
            ran += u64::from(run(&module, &mut memory, &launch, &options).is_ok());
        }
    }
    (parsed, ran)
}

#[test]
fn mutations_never_panic() {
    let (parsed, ran) = fuzz(Duration::from_secs(4), 1);
    assert!(parsed > 20 && ran > 5, "mutations are too wild: {parsed} parsed, {ran} ran");
}

#[test]
#[ignore = "runs for ten minutes"]
fn long_mutations_never_panic() {
    for seed in 2..12 {
        fuzz(Duration::from_secs(60), seed);
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

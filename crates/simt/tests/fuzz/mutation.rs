//! Texts that are nearly PTX: mutations of the seeds.

pub fn mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = *state;
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number below `count`.
pub fn below(state: &mut u64, count: usize) -> usize {
    (mix(state) % count.max(1) as u64) as usize
}

pub fn seeds() -> Vec<Vec<u8>> {
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

const WORDS: [&[u8]; 32] = [
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
    b"(",
    b"{{",
    b"1+1",
    b"1<<63",
    b"~(0-1)",
    b"1?2:3",
    b"1/0",
    b"L: L:",
    b"0xFF(",
    b".branchtargets L, L;",
];

pub fn mutate(seed: &[u8], state: &mut u64, all: &[Vec<u8>]) -> Vec<u8> {
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

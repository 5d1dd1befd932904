//! Bank conflicts of shared memory: paddings and swizzles are tried on the addresses that were recorded, and the smallest
//! that removes the conflicts is named.

use super::piece::{SHARED, gain_us, number, on_instruction, promise, ratio};
use super::requests::{lanes, two_lanes};
use results::{
    Advice, AdviceKind, ProfiledInstruction, ProfiledKernel, RequestCounts, RequestKind,
    RequestRecord,
};

/// Words of a padding that are tried; half a row of banks is for warps that access two rows at once.
const PADDINGS: [u64; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 16];
/// A padding is at most this part of its row; else it costs more memory than it saves time.
const LARGEST_PADDING: u64 = 4;
/// Lengths of rows that are tried besides those that the lanes show, in words.
const ROWS: [u64; 6] = [32, 64, 16, 128, 8, 256];
const BANKS: u64 = 32;

pub fn advice(kernel: &ProfiledKernel) -> Vec<Advice> {
    kernel.instructions.iter().filter_map(|one| conflict(kernel, one)).collect()
}

fn accesses(instruction: &ProfiledInstruction) -> Option<(RequestCounts, &'static str)> {
    let counters = &instruction.counts.counters;
    let kinds = [
        (counters.shared_load, "load"),
        (counters.shared_store, "store"),
        (counters.async_copy_shared, "asynchronous copy"),
    ];
    kinds.into_iter().find(|(counts, _)| counts.requests > 0)
}

/// The requests of shared memory among those that were recorded.
fn recorded(instruction: &ProfiledInstruction) -> impl Iterator<Item = &RequestRecord> {
    let is_shared = |record: &&RequestRecord| {
        use RequestKind::{AsyncCopyTarget, SharedLoad, SharedStore};
        matches!(record.kind, SharedLoad | SharedStore | AsyncCopyTarget)
    };
    instruction.counts.requests.iter().filter(is_shared)
}

fn conflict(kernel: &ProfiledKernel, instruction: &ProfiledInstruction) -> Option<Advice> {
    let (counts, name) = accesses(instruction)?;
    if counts.bank_conflicts() == 0 {
        return None;
    }
    let (now, ideal) = (
        ratio(counts.wavefronts, counts.requests),
        ratio(counts.wavefronts_ideal, counts.requests),
    );
    let seen = format!(
        "a {name} request of shared memory takes {} wavefronts where {} would do: lanes want different words of one bank",
        number(now),
        number(ideal)
    );
    let own = recorded(instruction).next();
    // What is padded for one request is padded for all of the kernel.
    let all: Vec<&RequestRecord> = kernel.instructions.iter().flat_map(recorded).collect();
    let best = own.and_then(|own| best(own, &all));
    let (cure, to) = match &best {
        Some(Layout::Padded { row, padding, wavefronts: after }) => {
            let cure =
                format!("pad each row of {row} words by {padding}: the request then takes {after}");
            let is_swizzled =
                own.is_some_and(|own| wavefronts(own, |word| swizzled(own, *row, word)) == *after);
            let other = match is_swizzled && row.is_power_of_two() {
                true => format!(
                    "; or, without more memory, exchange the columns of a row by `column ^ (row % {})`",
                    (*row).min(BANKS)
                ),
                false => String::new(),
            };
            (cure + &other, *after as f64)
        }
        Some(Layout::Swizzled { row, wavefronts }) => (
            format!(
                "exchange the columns of each row of {row} words by `column ^ (row % {})`: the request then takes {wavefronts}",
                (*row).min(BANKS)
            ),
            *wavefronts as f64,
        ),
        None => (
            "let the lanes of a warp want different banks, that is different addresses modulo 128 bytes".to_owned(),
            ideal,
        ),
    };
    let saved = ratio(counts.bank_conflicts(), shared_wavefronts(kernel));
    Some(Advice {
        lanes: own.map_or_else(String::new, two_lanes),
        promise: best.is_some().then(|| promise("wavefronts per request", now, to)).flatten(),
        gain_us: gain_us(kernel, SHARED, saved),
        ..on_instruction(AdviceKind::BankConflict, kernel, instruction, seen, cure)
    })
}

/// What keeps L1 and shared memory busy: wavefronts, and lines of global memory.
fn shared_wavefronts(kernel: &ProfiledKernel) -> u64 {
    let counters = &kernel.counters;
    counters.shared_load.wavefronts
        + counters.shared_store.wavefronts
        + counters.shared_atomic.wavefronts
        + counters.async_copy_shared.wavefronts
        + counters.global_load.lines
        + counters.global_store.lines
}

/// Another place for the words of shared memory.
#[derive(Debug, PartialEq, Eq)]
enum Layout {
    /// Each row has unused words at its end.
    Padded { row: u64, padding: u64, wavefronts: u64 },
    /// The columns of each row are exchanged.
    Swizzled { row: u64, wavefronts: u64 },
}

/// Whether the length of the row is a guess, and the words of padding.
type Cost = (bool, u64);

/// The layout in which a request has no conflicts, and all requests of the kernel together the fewest wavefronts: of
/// several one whose rows the lanes show, with the smallest padding.
fn best(own: &RequestRecord, all: &[&RequestRecord]) -> Option<Layout> {
    let now = wavefronts(own, |word| word);
    let least = least(own);
    let mut found: Option<(u64, Cost, Layout)> = None;
    let mut consider = |place: &dyn Fn(u64) -> u64, cost: Cost, layout: &dyn Fn(u64) -> Layout| {
        let after = wavefronts(own, place);
        if after >= now || after > least {
            return;
        }
        let total: u64 = all.iter().map(|record| wavefronts(record, place)).sum();
        if found.as_ref().is_none_or(|(known, costs, _)| (total, cost) < (*known, *costs)) {
            found = Some((total, cost, layout(after)));
        }
    };
    let width = width(own);
    let shown = shown_rows(own).into_iter().map(|row| (row, false));
    let rows = shown.chain(ROWS.map(|row| (row, true))).filter(|(row, _)| *row > width);
    for (row, is_guessed) in rows {
        let fits =
            |padding: &u64| padding.is_multiple_of(width) && padding * LARGEST_PADDING <= row;
        for padding in PADDINGS.into_iter().filter(fits) {
            let place = |word: u64| word + word / row * padding;
            let cost = (is_guessed, padding);
            consider(&place, cost, &|wavefronts| Layout::Padded { row, padding, wavefronts });
        }
        if row.is_power_of_two() {
            let place = |word: u64| swizzled(own, row, word);
            // Takes no memory, but is harder to write than a padding.
            let cost = (is_guessed, PADDINGS[PADDINGS.len() - 1] + 1);
            consider(&place, cost, &|wavefronts| Layout::Swizzled { row, wavefronts });
        }
    }
    found.map(|(.., layout)| layout)
}

/// The words that a lane wants.
fn width(record: &RequestRecord) -> u64 {
    u64::from(record.bytes).div_ceil(4).max(1)
}

/// Where a word of a row lies when the columns are exchanged.
fn swizzled(record: &RequestRecord, row: u64, word: u64) -> u64 {
    let (line, column) = (word / row, word % row);
    row * line + (column ^ ((line * width(record)) % row.min(BANKS)))
}

/// Lengths of rows that the lanes of a request show, in words: from one lane to the next, and from the first lane to the
/// first that is not as far from the lane before it.
fn shown_rows(record: &RequestRecord) -> Vec<u64> {
    let words: Vec<u64> = lanes(record).iter().map(|(_, address)| address / 4).collect();
    let [first, second, ..] = words[..] else { return Vec::new() };
    let step = second.wrapping_sub(first);
    let turn = words.windows(2).find(|pair| pair[1].wrapping_sub(pair[0]) != step);
    let next = turn.map(|pair| pair[1].wrapping_sub(first));
    let distance = |words: u64| words.cast_signed().unsigned_abs();
    [Some(step), next].into_iter().flatten().map(distance).collect()
}

/// Lanes that one wavefront can serve: of 8 bytes each a half warp, of 16 bytes a quarter.
fn lanes_at_once(record: &RequestRecord) -> usize {
    match record.bytes {
        0..=4 => 32,
        5..=8 => 16,
        _ => 8,
    }
}

/// The wavefronts that the width alone makes necessary.
fn least(record: &RequestRecord) -> u64 {
    let at_once = lanes_at_once(record);
    let mut parts: Vec<usize> = lanes(record).iter().map(|(lane, _)| lane / at_once).collect();
    parts.dedup();
    parts.len() as u64
}

/// The wavefronts that a request takes when each word of shared memory lies where `place` says.
fn wavefronts(record: &RequestRecord, place: impl Fn(u64) -> u64) -> u64 {
    let at_once = lanes_at_once(record);
    let words = width(record);
    let lanes = lanes(record);
    let parts = lanes.chunk_by(|one, other| one.0 / at_once == other.0 / at_once);
    parts
        .map(|part| {
            let mut wanted: Vec<u64> = part
                .iter()
                .flat_map(|(_, address)| (0..words).map(move |word| address / 4 + word))
                .map(&place)
                .collect();
            wanted.sort_unstable();
            wanted.dedup();
            let mut banks = [0; BANKS as usize];
            wanted.iter().for_each(|word| banks[(word % BANKS) as usize] += 1);
            banks.into_iter().max().unwrap_or(0)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(address: impl Fn(u64) -> u64, bytes: u32) -> RequestRecord {
        RequestRecord {
            kind: RequestKind::SharedLoad,
            bytes,
            lanes: std::array::from_fn(|lane| Some(address(lane as u64))),
            traffic: RequestCounts::default(),
            passes: Vec::new(),
        }
    }

    #[test]
    fn a_column_of_a_square_tile_needs_one_word_of_padding() {
        let (column, row) = (request(|lane| lane * 128, 4), request(|lane| lane * 4, 4));
        assert_eq!(wavefronts(&column, |word| word), 32);
        let padded = Layout::Padded { row: 32, padding: 1, wavefronts: 1 };
        assert_eq!(best(&column, &[&column, &row]), Some(padded));
    }

    #[test]
    fn wide_accesses_are_served_by_parts_of_a_warp() {
        let column = request(|lane| lane * 512, 16);
        assert_eq!((wavefronts(&column, |word| word), least(&column)), (32, 4));
        let padded = Layout::Padded { row: 128, padding: 4, wavefronts: 4 };
        assert_eq!(best(&column, &[&column]), Some(padded));
        let straight = request(|lane| lane * 16, 16);
        assert_eq!(wavefronts(&straight, |word| word), least(&straight));
    }

    #[test]
    fn rows_of_half_a_warp_are_seen() {
        // 16 columns of two rows of 160 words: both are at the same banks.
        let rows = request(|lane| (lane / 16) * 640 + (lane % 16) * 4, 4);
        assert_eq!(wavefronts(&rows, |word| word), 2);
        let padded = Layout::Padded { row: 160, padding: 16, wavefronts: 1 };
        assert_eq!(best(&rows, &[&rows]), Some(padded));
        // 16 rows of 81 words and two columns: the last row and the first meet.
        let columns = request(|lane| (lane % 16) * 324 + (lane / 16) * 4, 4);
        assert_eq!(wavefronts(&columns, |word| word), 2);
        let padded = Layout::Padded { row: 81, padding: 1, wavefronts: 1 };
        assert_eq!(best(&columns, &[&columns]), Some(padded));
    }

    #[test]
    fn no_padding_is_larger_than_its_part_of_a_row() {
        let pairs = request(|lane| lane * 8, 4);
        let Some(Layout::Padded { row, padding, .. }) = best(&pairs, &[&pairs]) else {
            panic!("two words apart is cured by a padding");
        };
        assert!(padding * LARGEST_PADDING <= row, "{padding} of {row}");
    }

    #[test]
    fn where_nothing_helps_nothing_is_named() {
        let one_word = request(|_| 64, 4);
        assert_eq!(best(&one_word, &[&one_word]), None);
    }
}

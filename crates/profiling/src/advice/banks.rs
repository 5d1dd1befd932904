//! Bank conflicts of shared memory: paddings and swizzles are tried on the addresses that were recorded, and the smallest
//! that removes the conflicts is named.

use super::piece::{SHARED, gain_us, number, on_instruction, promise, ratio};
use super::requests::{lanes, two_lanes};
use counters::{copy_wavefronts, shared_store_wavefronts, shared_wavefronts};
use results::{
    Advice, AdviceKind, ProfiledInstruction, ProfiledKernel, RequestCounts, RequestKind,
    RequestRecord,
};
use std::collections::HashMap;

/// Words of a padding that are tried; half a row of banks is for warps that access two rows at once.
const PADDINGS: [u64; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 16];
/// A padding is at most this part of its row; else it costs more memory than it saves time.
const LARGEST_PADDING: u64 = 4;
/// Lengths of rows that are tried besides those that the lanes show, in words.
const ROWS: [u64; 6] = [32, 64, 16, 128, 8, 256];
const BANKS: u64 = 32;

/// Requests of a kernel on which a layout is tried at most, so that a long kernel's advice takes no longer than it.
const MOST_REQUESTS: usize = 64;

pub fn advice(kernel: &ProfiledKernel) -> Vec<Advice> {
    // What is padded for one request is padded for all of the kernel.
    let all: Vec<Request> = kernel.instructions.iter().flat_map(recorded).collect();
    let step = all.len().div_ceil(MOST_REQUESTS).max(1);
    let all: Vec<Request> = all.into_iter().step_by(step).collect();
    let mut known = HashMap::new();
    let instructions = kernel.instructions.iter();
    instructions.filter_map(|one| conflict(kernel, one, &all, &mut known)).collect()
}

/// The layouts found for requests that look alike: of one line, as wide, with as many wavefronts.
type LayoutCache = HashMap<(String, u32, u64), Option<Layout>>;

fn accesses(instruction: &ProfiledInstruction) -> Option<(RequestCounts, &'static str)> {
    let counters = &instruction.counts.counters;
    let kinds = [
        (counters.shared_load, "a load"),
        (counters.shared_store, "a store"),
        (counters.async_copy_shared, "an asynchronous copy"),
    ];
    kinds.into_iter().find(|(counts, _)| counts.requests > 0)
}

/// A request of shared memory that was recorded.
#[derive(Clone, Copy, Debug)]
struct Request<'a> {
    record: &'a RequestRecord,
    /// The global side of an asynchronous copy.
    source: Option<&'a RequestRecord>,
}

/// Lists the requests of shared memory among those that were recorded.
fn recorded(instruction: &ProfiledInstruction) -> impl Iterator<Item = Request<'_>> {
    use RequestKind::{AsyncCopySource, AsyncCopyTarget, SharedLoad, SharedStore};
    let all = &instruction.counts.requests;
    let source = all.iter().find(|record| record.kind == AsyncCopySource);
    all.iter().filter_map(move |record| match record.kind {
        SharedLoad | SharedStore => Some(Request { record, source: None }),
        AsyncCopyTarget => Some(Request { record, source }),
        _ => None,
    })
}

fn conflict(
    kernel: &ProfiledKernel,
    instruction: &ProfiledInstruction,
    all: &[Request<'_>],
    known: &mut LayoutCache,
) -> Option<Advice> {
    let (counts, name) = accesses(instruction)?;
    if counts.bank_conflicts() == 0 {
        return None;
    }
    let (now, ideal) = (
        ratio(counts.wavefronts, counts.requests),
        ratio(counts.wavefronts_ideal, counts.requests),
    );
    let seen = format!(
        "{name} request of shared memory takes {} wavefronts where {} would do: lanes want different words of one bank",
        number(now),
        number(ideal)
    );
    let own = recorded(instruction).next();
    let best = own.and_then(|own| {
        let key = (instruction.place(), own.record.bytes, own.wavefronts(|word| word));
        *known.entry(key).or_insert_with(|| best(own, all))
    });
    let (cure, to) = match &best {
        // The lanes show no such rows, so the array may have none: what moves is said word by word.
        Some(Layout::Padded { row, padding, wavefronts: after, is_guessed: true }) => {
            let times = if *padding == 1 { String::new() } else { format!(" * {padding}") };
            let cure = format!(
                "leave {padding} unused after every {row} words, so that word `i` lies at `i + i / {row}{times}`: the \
                 request then takes {after}"
            );
            (cure, *after as f64)
        }
        Some(Layout::Padded { row, padding, wavefronts: after, is_guessed: false }) => {
            let cure =
                format!("pad each row of {row} words by {padding}: the request then takes {after}");
            let is_swizzled =
                own.is_some_and(|own| own.wavefronts(|word| own.swizzled(*row, word)) == *after);
            let other = match is_swizzled && row.is_power_of_two() {
                true => format!(
                    "; or, without more memory, exchange the columns of a row by `column ^ (row % {})`",
                    (*row).min(BANKS)
                ),
                false => String::new(),
            };
            (cure + &other, *after as f64)
        }
        Some(Layout::Swizzled { row, wavefronts, is_guessed }) => (
            format!(
                "exchange the columns of each row of {row} words by `column ^ (row % {})`{}: the request then takes \
                 {wavefronts}",
                (*row).min(BANKS),
                if *is_guessed { format!(", where `row` is `i / {row}` of word `i`") } else { String::new() }
            ),
            *wavefronts as f64,
        ),
        None => (
            "let the lanes of a warp want different banks, that is different addresses modulo 128 bytes".to_owned(),
            ideal,
        ),
    };
    let saved = ratio(counts.bank_conflicts(), passes_of_l1(kernel));
    Some(Advice {
        lanes: own.map_or_else(String::new, |own| two_lanes(own.record)),
        promise: best.is_some().then(|| promise("wavefronts per request", now, to)).flatten(),
        gain_us: gain_us(kernel, SHARED, saved),
        ..on_instruction(AdviceKind::BankConflict, kernel, instruction, seen, cure)
    })
}

/// Returns what keeps L1 and shared memory busy: wavefronts, and lines of global memory.
fn passes_of_l1(kernel: &ProfiledKernel) -> u64 {
    let counters = &kernel.counters;
    counters.shared_load.wavefronts
        + counters.shared_store.wavefronts
        + counters.shared_atomic.wavefronts
        + counters.async_copy_shared.wavefronts
        + counters.global_load.lines
        + counters.global_store.lines
}

/// Another place for the words of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Each row has unused words at its end.
    Padded { row: u64, padding: u64, wavefronts: u64, is_guessed: bool },
    /// The columns of each row are exchanged.
    Swizzled { row: u64, wavefronts: u64, is_guessed: bool },
}

/// Cost of a padding: true if the length of the row is a guess, and the words of padding.
type Cost = (bool, u64);

/// The layout in which a request has no conflicts, and all requests of the kernel together the fewest wavefronts: of
/// several one whose rows the lanes show, with the smallest padding.
fn best(own: Request, all: &[Request]) -> Option<Layout> {
    let now = own.wavefronts(|word| word);
    let least = own.least();
    let mut found: Option<(u64, Cost, Layout)> = None;
    let mut consider = |place: &dyn Fn(u64) -> u64, cost: Cost, layout: &dyn Fn(u64) -> Layout| {
        let after = own.wavefronts(place);
        if after >= now || after > least {
            return;
        }
        let total: u64 = all.iter().map(|request| request.wavefronts(place)).sum();
        if found.as_ref().is_none_or(|(known, costs, _)| (total, cost) < (*known, *costs)) {
            found = Some((total, cost, layout(after)));
        }
    };
    let width = own.width();
    let shown = shown_rows(own.record).into_iter().map(|row| (row, false));
    let rows = shown.chain(ROWS.map(|row| (row, true))).filter(|(row, _)| *row > width);
    for (row, is_guessed) in rows {
        let fits =
            |padding: &u64| padding.is_multiple_of(width) && padding * LARGEST_PADDING <= row;
        for padding in PADDINGS.into_iter().filter(fits) {
            let place = |word: u64| word + word / row * padding;
            let cost = (is_guessed, padding);
            consider(&place, cost, &|wavefronts| Layout::Padded {
                row,
                padding,
                wavefronts,
                is_guessed,
            });
        }
        if row.is_power_of_two() {
            let place = |word: u64| own.swizzled(row, word);
            // Takes no memory, but is harder to write than a padding.
            let cost = (is_guessed, PADDINGS[PADDINGS.len() - 1] + 1);
            consider(&place, cost, &|wavefronts| Layout::Swizzled { row, wavefronts, is_guessed });
        }
    }
    found.map(|(.., layout)| layout)
}

impl Request<'_> {
    /// The words that a lane wants.
    fn width(&self) -> u64 {
        u64::from(self.record.bytes).div_ceil(4).max(1)
    }

    /// Returns the offset of a word of a row when the columns are exchanged.
    fn swizzled(&self, row: u64, word: u64) -> u64 {
        let (line, column) = (word / row, word % row);
        row * line + (column ^ ((line * self.width()) % row.min(BANKS)))
    }

    /// The wavefronts and ideal wavefronts, by the executor's rule, when what begins at a word begins where `place` says.
    fn counts(&self, place: impl Fn(u64) -> u64) -> (u32, u32) {
        let moved = |address: u64| place(address / 4) * 4 + address % 4;
        let (mask, target) = masked(self.record, moved);
        match self.source.map(|source| masked(source, |address| address)) {
            Some((_, source)) => copy_wavefronts(mask, &target, &source, self.record.bytes),
            None if self.record.kind == RequestKind::SharedStore => {
                shared_store_wavefronts(mask, &target, self.record.bytes)
            }
            None => shared_wavefronts(mask, &target, self.record.bytes),
        }
    }

    fn wavefronts(&self, place: impl Fn(u64) -> u64) -> u64 {
        u64::from(self.counts(place).0)
    }

    /// The wavefronts that the width alone makes necessary.
    fn least(&self) -> u64 {
        u64::from(self.counts(|word| word).1)
    }
}

/// The lanes that take part, a bit each, and what `moved` makes of their addresses.
fn masked(record: &RequestRecord, moved: impl Fn(u64) -> u64) -> (u32, [u64; 32]) {
    let (mut mask, mut addresses) = (0, [0; 32]);
    for (lane, address) in lanes(record) {
        mask |= 1 << lane;
        addresses[lane] = moved(address);
    }
    (mask, addresses)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn request(address: impl Fn(u64) -> u64, bytes: u32) -> RequestRecord {
        RequestRecord {
            kind: RequestKind::SharedLoad,
            bytes,
            lanes: std::array::from_fn(|lane| Some(address(lane as u64))),
            traffic: RequestCounts::default(),
            wavefronts: Vec::new(),
        }
    }

    fn of(record: &RequestRecord) -> Request<'_> {
        Request { record, source: None }
    }

    /// The wavefronts as the lanes lie.
    fn now(record: &RequestRecord) -> u64 {
        of(record).wavefronts(|word| word)
    }

    #[test]
    fn a_column_of_a_square_tile_needs_one_word_of_padding() {
        let (column, row) = (request(|lane| lane * 128, 4), request(|lane| lane * 4, 4));
        assert_eq!(now(&column), 32);
        let padded = Layout::Padded { row: 32, padding: 1, wavefronts: 1, is_guessed: false };
        assert_eq!(best(of(&column), &[of(&column), of(&row)]), Some(padded));
    }

    #[test]
    fn wide_accesses_are_served_by_parts_of_a_warp() {
        let column = request(|lane| lane * 512, 16);
        assert_eq!((now(&column), of(&column).least()), (32, 4));
        let padded = Layout::Padded { row: 128, padding: 4, wavefronts: 4, is_guessed: false };
        assert_eq!(best(of(&column), &[of(&column)]), Some(padded));
        let straight = request(|lane| lane * 16, 16);
        assert_eq!(now(&straight), of(&straight).least());
    }

    #[test]
    fn rows_of_half_a_warp_are_seen() {
        // 16 columns of two rows of 160 words: both are at the same banks.
        let rows = request(|lane| (lane / 16) * 640 + (lane % 16) * 4, 4);
        assert_eq!(now(&rows), 2);
        let padded = Layout::Padded { row: 160, padding: 16, wavefronts: 1, is_guessed: false };
        assert_eq!(best(of(&rows), &[of(&rows)]), Some(padded));
        // 16 rows of 81 words and two columns: the last row and the first meet.
        let columns = request(|lane| (lane % 16) * 324 + (lane / 16) * 4, 4);
        assert_eq!(now(&columns), 2);
        let padded = Layout::Padded { row: 81, padding: 1, wavefronts: 1, is_guessed: false };
        assert_eq!(best(of(&columns), &[of(&columns)]), Some(padded));
    }

    #[test]
    fn no_padding_is_larger_than_its_part_of_a_row() {
        let pairs = request(|lane| lane * 8, 4);
        let Some(Layout::Padded { row, padding, is_guessed: true, .. }) =
            best(of(&pairs), &[of(&pairs)])
        else {
            panic!("two words apart is cured by a padding, though they show no rows");
        };
        assert!(padding * LARGEST_PADDING <= row, "{padding} of {row}");
    }

    #[test]
    fn where_nothing_helps_nothing_is_named() {
        let one_word = request(|_| 64, 4);
        assert_eq!(best(of(&one_word), &[of(&one_word)]), None);
    }

    /// Lanes n and n ^ 1 that read the same 8 bytes are served together: the executor's rule, not one of our own.
    #[test]
    fn wavefronts_are_those_that_the_executor_counts() {
        let pairs = request(|lane| lane / 2 * 8, 8);
        assert_eq!((now(&pairs), of(&pairs).least()), (1, 1));
        // An asynchronous copy works through the lines of its source one by one.
        let target = request(|lane| lane * 4, 4);
        let source = request(|lane| lane * 128, 4);
        let copy = Request { record: &target, source: Some(&source) };
        assert_eq!(copy.wavefronts(|word| word), 32);
    }
}

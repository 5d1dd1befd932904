//! Addresses of a warp to sectors, lines and wavefronts.
//!
//! The counts depend on the addresses only relative to each other, and for global memory to a
//! 128-byte line, so an instruction that repeats its pattern further on takes its last result.

use crate::LANES;
use crate::request::ServedWord;
use std::collections::BTreeMap;

/// Distinct sectors, lines and addresses of active lanes; an aligned access of at most 32 bytes touches one sector per
/// lane.
#[inline]
pub fn sectors_and_lines(mask: u32, addresses: &[u64; LANES]) -> (u32, u32, u32) {
    let mut active = [0u64; LANES];
    let mut count = 0;
    let mut ascending = true;
    for (lane, address) in addresses.iter().enumerate() {
        if mask >> lane & 1 != 0 {
            if count > 0 {
                ascending &= active[count - 1] <= *address;
            }
            active[count] = *address;
            count += 1;
        }
    }
    let active = &mut active[..count];
    if !ascending {
        active.sort_unstable();
    }
    let distinct = |shift: u32| {
        let mut n = u32::from(!active.is_empty());
        for pair in active.windows(2) {
            n += u32::from(pair[0] >> shift != pair[1] >> shift);
        }
        n
    };
    (distinct(5), distinct(7), distinct(0))
}

/// Computes the sectors of an asynchronous copy of 16 bytes past L1: one for each pair of a sector of the source and one of
/// the target, between which it hands bytes. Nsight Compute counts as many on an H100 of all
/// but three copies (`results/nvidia-h100/shared-accesses.csv.gz`).
#[inline]
pub fn copy_sectors(mask: u32, target: &[u64; LANES], source: &[u64; LANES]) -> u32 {
    let mut pairs = [(0u64, 0u64); LANES];
    let mut count = 0;
    for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
        pairs[count] = (source[lane] >> 5, target[lane] >> 5);
        count += 1;
    }
    let pairs = &mut pairs[..count];
    pairs.sort_unstable();
    pairs.chunk_by(|a, b| a == b).count() as u32
}

/// Pieces of memory of an atomic, `1 << shift` bytes each, every one as often as lanes want the same
/// address in it.
#[inline]
pub fn updates_by(shift: u32, mask: u32, addresses: &[u64; LANES]) -> u32 {
    let mut active = [0u64; LANES];
    let mut count = 0;
    for (lane, address) in addresses.iter().enumerate() {
        if mask >> lane & 1 != 0 {
            active[count] = *address;
            count += 1;
        }
    }
    let active = &mut active[..count];
    active.sort_unstable();
    active
        .chunk_by(|a, b| a >> shift == b >> shift)
        .map(|piece| piece.chunk_by(|a, b| a == b).map(<[u64]>::len).max().unwrap_or(0) as u32)
        .sum()
}

/// Computes the wavefronts and ideal wavefronts of the shared side of an asynchronous copy, which works
/// through the 128-byte lines of its source one by one.
#[inline]
pub fn copy_wavefronts(
    mask: u32,
    target: &[u64; LANES],
    source: &[u64; LANES],
    bytes: u32,
) -> (u32, u32) {
    let total = of_lines(mask, source).map(|lanes| shared_wavefronts(lanes, target, bytes).0).sum();
    (total, shared_wavefronts(mask, target, bytes).1)
}

/// The lanes of each 128-byte line, one line after the other.
fn of_lines(mask: u32, addresses: &[u64; LANES]) -> impl Iterator<Item = u32> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let line = addresses.get(rest.trailing_zeros() as usize)? >> 7;
        let mut members = 0;
        for (lane, address) in addresses.iter().enumerate() {
            members |= u32::from(*address >> 7 == line) << lane;
        }
        let lanes = members & rest;
        rest &= !members;
        Some(lanes)
    })
}

/// Computes the wavefronts and ideal wavefronts of a shared-memory access of `bytes` per lane. Only the
/// addresses of the lanes in `mask` matter.
///
/// 32 banks of 4 bytes; a wavefront serves any number of lanes that want the same word. Accesses of
/// 8 bytes are served by half warps, of 16 bytes by quarter warps; neighbouring groups share a
/// wavefront when all active lanes n and n^1 (or all n and n^2) have equal addresses. Stores never share one: see
/// [`shared_store_wavefronts`].
#[inline]
pub fn shared_wavefronts(mask: u32, addresses: &[u64; LANES], bytes: u32) -> (u32, u32) {
    if mask == 0 {
        return (0, 0);
    }
    wavefronts_of_groups(group_size(mask, addresses, bytes), mask, addresses, bytes)
}

/// Computes what [`shared_wavefronts`] does of a store, whose half or quarter warps go one by one whatever their addresses are,
/// as Nsight Compute counts stores of 8 and 16 bytes with inactive lanes (`results/nvidia-h100/shared-accesses.csv.gz`).
#[inline]
pub fn shared_store_wavefronts(mask: u32, addresses: &[u64; LANES], bytes: u32) -> (u32, u32) {
    wavefronts_of_groups(own_group(bytes), mask, addresses, bytes)
}

/// Wavefronts and ideal wavefronts of groups of so many lanes.
#[inline]
fn wavefronts_of_groups(
    group: usize,
    mask: u32,
    addresses: &[u64; LANES],
    bytes: u32,
) -> (u32, u32) {
    let (mut total, mut ideal) = (0, 0);
    for start in (0..LANES).step_by(group) {
        let members = if group == 32 { mask } else { mask >> start & ((1 << group) - 1) };
        if members != 0 {
            total += bank_wavefronts(members, &addresses[start..start + group], bytes);
            ideal += 1;
        }
    }
    (total, ideal)
}

/// Lanes that are served together whatever their addresses are.
fn own_group(bytes: u32) -> usize {
    match bytes {
        0..=4 => 32,
        8 => 16,
        16 => 8,
        _ => 4,
    }
}

/// Lanes that are served together.
fn group_size(mask: u32, addresses: &[u64; LANES], bytes: u32) -> usize {
    let group = own_group(bytes);
    if group < 32 && (paired(mask, addresses, 1) || paired(mask, addresses, 2)) {
        group * 2
    } else {
        group
    }
}

/// Returns whether all active lanes `n` and `n ^ distance` want the same address.
fn paired(mask: u32, addresses: &[u64; LANES], distance: usize) -> bool {
    (0..LANES).all(|lane| {
        let partner = lane ^ distance;
        mask >> lane & 1 == 0 || mask >> partner & 1 == 0 || addresses[lane] == addresses[partner]
    })
}

/// Wavefronts of one group: the most distinct words that fall into one bank.
fn bank_wavefronts(members: u32, addresses: &[u64], bytes: u32) -> u32 {
    let words_each = bytes.div_ceil(4).max(1) as usize;
    // At most 32 words are wanted, for 32 lanes of one word to 4 lanes of eight.
    let mut words = [0u32; 64];
    let mut count = 0;
    for (lane, address) in addresses.iter().enumerate() {
        if members >> lane & 1 != 0 {
            for word in 0..words_each {
                words[count & 63] = (*address >> 2) as u32 + word as u32;
                count += 1;
            }
        }
    }
    let words = &mut words[..count.min(64)];
    let mut banks = 0u32;
    for word in words.iter() {
        banks |= 1 << (word & 31);
    }
    if banks.count_ones() as usize == words.len() {
        return 1;
    }
    most_of_a_bank(words)
}

/// Rows of 32 words, one of each bank, that [`most_of_a_bank`] looks at together.
const ROWS: usize = 64;

/// The most distinct words that fall into one bank.
fn most_of_a_bank(words: &mut [u32]) -> u32 {
    let lowest = words.iter().copied().min().unwrap_or(0) & !31;
    let highest = words.iter().copied().max().unwrap_or(0);
    let count = ((highest - lowest) / 32 + 1) as usize;
    if count > ROWS {
        return most_of_a_bank_sorted(words);
    }
    // A bit for each word that is wanted.
    let mut rows = [0u32; ROWS];
    for word in words.iter() {
        rows[((word - lowest) / 32) as usize % ROWS] |= 1 << (word & 31);
    }
    // The sums of all banks at once: `sums[i]` has the bit `i` of each.
    let mut sums = [0u32; 7];
    for row in &rows[..count] {
        let mut carry = *row;
        for sum in &mut sums {
            (*sum, carry) = (*sum ^ carry, *sum & carry);
        }
    }
    let (mut largest, mut banks) = (0, u32::MAX);
    for (bit, sum) in sums.iter().enumerate().rev() {
        if sum & banks != 0 {
            banks &= sum;
            largest |= 1 << bit;
        }
    }
    largest
}

/// The same for words that lie far apart.
fn most_of_a_bank_sorted(words: &mut [u32]) -> u32 {
    words.sort_unstable();
    let mut per_bank = [0u8; 32];
    let mut before = None;
    for word in words.iter() {
        if before != Some(*word) {
            per_bank[(word & 31) as usize] += 1;
        }
        before = Some(*word);
    }
    per_bank.iter().copied().max().unwrap_or(1) as u32
}

/// The most lanes that want one word: the wavefronts of an atomic on shared memory.
#[inline]
pub fn same_word_wavefronts(mask: u32, addresses: &[u64; LANES]) -> (u32, u32) {
    // Lanes of one word go one after the other, words of one bank too.
    let mut per_bank = [0u32; 32];
    for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
        per_bank[(addresses[lane] >> 2) as usize & 31] += 1;
    }
    (per_bank.iter().copied().max().unwrap_or(0), u32::from(mask != 0))
}

/// Wavefronts of counting by one on shared memory: lanes of one word are summed on the way.
#[inline]
pub fn counting_wavefronts(mask: u32, addresses: &[u64; LANES]) -> (u32, u32) {
    if mask == 0 { (0, 0) } else { (bank_wavefronts(mask, addresses, 4), 1) }
}

/// The words that each wavefront of [`shared_wavefronts`] serves.
pub fn shared_words(mask: u32, addresses: &[u64; LANES], bytes: u32) -> Vec<Vec<ServedWord>> {
    words_of_groups(group_size(mask, addresses, bytes), mask, addresses, bytes)
}

/// The words that each wavefront of [`shared_store_wavefronts`] serves.
pub fn shared_store_words(mask: u32, addresses: &[u64; LANES], bytes: u32) -> Vec<Vec<ServedWord>> {
    words_of_groups(own_group(bytes), mask, addresses, bytes)
}

fn words_of_groups(
    group: usize,
    mask: u32,
    addresses: &[u64; LANES],
    bytes: u32,
) -> Vec<Vec<ServedWord>> {
    let mut wavefronts = Vec::new();
    for start in (0..LANES).step_by(group) {
        let mut words = BTreeMap::new();
        for lane in (start..start + group).filter(|lane| mask >> lane & 1 != 0) {
            for word in 0..u64::from(bytes.div_ceil(4).max(1)) {
                *words.entry((addresses[lane] >> 2) + word).or_default() |= 1 << lane;
            }
        }
        wavefronts.extend(by_bank(words));
    }
    wavefronts
}

/// The words that each wavefront of [`copy_wavefronts`] serves.
pub fn copy_words(
    mask: u32,
    target: &[u64; LANES],
    source: &[u64; LANES],
    bytes: u32,
) -> Vec<Vec<ServedWord>> {
    of_lines(mask, source).flat_map(|lanes| shared_words(lanes, target, bytes)).collect()
}

/// The words that each wavefront of [`counting_wavefronts`] or of [`same_word_wavefronts`] serves.
pub fn atomic_words(
    mask: u32,
    addresses: &[u64; LANES],
    counts_by_one: bool,
) -> Vec<Vec<ServedWord>> {
    if counts_by_one {
        return shared_words(mask, addresses, 4);
    }
    let mut lanes: Vec<usize> = (0..LANES).filter(|lane| mask >> lane & 1 != 0).collect();
    lanes.sort_by_key(|lane| addresses[*lane] >> 2);
    by_bank(lanes.into_iter().map(|lane| (addresses[lane] >> 2, 1 << lane)))
}

/// One word of constant memory after the other.
pub fn constant_words(mask: u32, addresses: &[u64; LANES]) -> Vec<Vec<ServedWord>> {
    let mut words: BTreeMap<u64, u32> = BTreeMap::new();
    for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
        *words.entry(addresses[lane] >> 2).or_default() |= 1 << lane;
    }
    words.into_iter().map(|(index, lanes)| vec![ServedWord { index, lanes }]).collect()
}

/// Words with their lanes, in wavefronts that serve every bank at most once.
fn by_bank(words: impl IntoIterator<Item = (u64, u32)>) -> Vec<Vec<ServedWord>> {
    let mut wavefronts: Vec<Vec<ServedWord>> = Vec::new();
    let mut served = [0; 32];
    for (index, lanes) in words {
        let word = ServedWord { index, lanes };
        let wavefront = &mut served[word.bank() as usize];
        if *wavefront == wavefronts.len() {
            wavefronts.push(Vec::new());
        }
        wavefronts[*wavefront].push(word);
        *wavefront += 1;
    }
    wavefronts
}

#[cfg(test)]
mod tests {
    use super::{
        LANES, copy_sectors, most_of_a_bank, most_of_a_bank_sorted, shared_store_wavefronts,
        shared_wavefronts,
    };

    #[test]
    fn stores_of_8_bytes_go_by_half_warps_with_inactive_lanes_too() {
        let numbers =
            |stride: u64| -> [u64; LANES] { std::array::from_fn(|lane| 8 * stride * lane as u64) };
        // As Nsight Compute counts them on an H100; the conflicts are wavefronts beyond the ideal ones.
        for (mask, stride, wavefronts, conflicts) in [
            (0x5555_5555, 1, 2, 0),
            (0x5555_5555, 2, 4, 2),
            (0x0000_ffff, 2, 2, 1),
            (0x1111_1111, 2, 4, 2),
            (0x0298_0042, 1, 2, 0),
        ] {
            let (count, ideal) = shared_store_wavefronts(mask, &numbers(stride), 8);
            assert_eq!((count, count - ideal), (wavefronts, conflicts), "{mask:#x} {stride}");
        }
        assert_eq!(shared_wavefronts(0x0298_0042, &numbers(1), 8), (1, 1), "a load does");
    }

    #[test]
    fn a_copy_past_l1_takes_a_sector_for_each_pair_of_sectors() {
        let rows = |chunks: u64, pitch: u64, shift: u64| -> [u64; LANES] {
            std::array::from_fn(|lane| {
                let lane = lane as u64;
                lane / chunks * pitch + lane % chunks * 16 + shift
            })
        };
        let dense = rows(32, 0, 0);
        assert_eq!(copy_sectors(u32::MAX, &dense, &dense), 16);
        assert_eq!(copy_sectors(u32::MAX, &dense, &rows(32, 0, 16)), 32, "halves of sectors");
        assert_eq!(
            copy_sectors(u32::MAX, &rows(4, 80, 0), &rows(4, 64, 0)),
            24,
            "rows of 80 bytes"
        );
    }

    /// A 64-bit mixing function (SplitMix64's).
    fn mix(value: u64) -> u64 {
        let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Both ways to count the words of banks agree, whatever the words.
    #[test]
    fn words_of_banks_are_counted_alike() {
        for seed in 0..4000u64 {
            let range = [1, 33, 64, 100, 1024, 2048, 3000][seed as usize % 7];
            let count = 1 + mix(seed) as usize % 64;
            let stride = [1, 1, 2, 16, 32, 33][seed as usize % 6];
            let word = |i: u64| (mix(seed << 8 | i) as u32 % range).wrapping_mul(stride) + 5;
            let mut words: Vec<u32> = (0..count as u64).map(word).collect();
            let most = most_of_a_bank(&mut words);
            assert_eq!(most, most_of_a_bank_sorted(&mut words), "{words:?}");
        }
        assert_eq!(most_of_a_bank(&mut std::array::from_fn::<u32, 64, _>(|i| 32 * i as u32)), 64);
    }
}

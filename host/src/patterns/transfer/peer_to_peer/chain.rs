//! The chain that one thread follows, to see how long a load takes.

/// Words of an array per link of the chain.
const WORDS_PER_LINK: usize = 4096;

/// A chain through all of its links that begins and ends with the first: the number of the next link, for each.
pub fn links(n: usize) -> Vec<u32> {
    let count = n.div_ceil(WORDS_PER_LINK);
    // A step of about 0.62 of the whole that shares no factor with it leads through all, and far each time.
    let shares = |step: usize| {
        let (mut a, mut b) = (step, count);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a > 1
    };
    let step = (count * 5 / 8..).find(|step| !shares(*step)).unwrap_or(1);
    (0..count).map(|link| ((link + step) % count) as u32).collect()
}

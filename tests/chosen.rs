//! Samples of what a proof does whole.

use std::hash::{DefaultHasher, Hasher};

/// Returns the parts that are tried: all, or with `COALESCE_SAMPLE=WORD` every third, from the one on that the word chooses.
pub fn chosen<T>(parts: impl IntoIterator<Item = T>) -> Vec<T> {
    sample(parts.into_iter().collect(), std::env::var("COALESCE_SAMPLE").ok().as_deref())
}

fn sample<T>(parts: Vec<T>, word: Option<&str>) -> Vec<T> {
    let Some(word) = word else { return parts };
    let mut hasher = DefaultHasher::new();
    hasher.write(word.as_bytes());
    // Of fewer than three parts one is tried.
    let first = hasher.finish() % parts.len().clamp(1, 3) as u64;
    parts.into_iter().skip(first as usize).step_by(3).collect()
}

#[test]
fn every_part_is_in_one_third_and_no_third_is_empty() {
    let words = || (0..100).map(|word| word.to_string());
    for count in 0..8 {
        let parts: Vec<usize> = (0..count).collect();
        assert_eq!(sample(parts.clone(), None), parts, "without a word all are tried");
        let thirds: std::collections::BTreeSet<_> =
            words().map(|word| sample(parts.clone(), Some(&word))).collect();
        assert!(thirds.iter().all(|third| third.is_empty() == parts.is_empty()), "{thirds:?}");
        let mut all: Vec<usize> = thirds.into_iter().flatten().collect();
        all.sort_unstable();
        assert_eq!(all, parts, "commits together try each part");
    }
}

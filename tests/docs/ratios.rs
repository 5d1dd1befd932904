//! Ratios that state a measurement: in the doc of a pattern each has its arithmetic behind it, which fills it in.
//!
//! A ratio of what is counted ("8 times the sectors", "half of the lanes") is no measurement, nor is one that ends a
//! calculation ("32 / 4 = 8 times"), stands in quotation marks, or has the word "exactly" before it.

use report::glossary::{DocPart, prose};
use report::measured::derived;

/// Things that are counted, and the same on every device.
const COUNTED: &str = "
    addition array atomic bank bin bit block buffer byte cache call coefficient copy counter element field group
    instruction key l2 lane load memory module multiply-add occupancy operation page pass piece pixel read
    register request result row sector shuffle step store table thread tile turn utilization visit warp
    wavefront word write
";

/// Words that make a ratio one of times, of rates or of prices.
const TIMED: &str = "
    bandwidth cheaper cost costs expensive fast faster latency long longer longest peak pays price quick rate
    rates slow slower slowly sooner speed throughput time
";

const NUMBERS: &str = "
    two three four five six seven eight nine ten eleven twelve sixteen twenty thirty hundred thousand
";

const FRACTIONS: &str = "
    third quarter fifth sixth seventh eighth ninth tenth hundredth thousandth
";

/// Words before a half that is a place and not a ratio.
const PARTS: &[&str] = &["each", "far", "first", "lower", "near", "other", "second", "upper"];

/// The number of words before a ratio that may say what it counts, as in "the keys are read three times".
const BEFORE: usize = 5;

/// The number of words after a ratio that may say of what it is one.
const REACH: usize = 6;

/// The typed ratios of a doc that state a measurement, each with the words around it.
pub fn typed(doc: &str) -> Vec<String> {
    let text = prose(&masked(doc), DocPart::Prose).text;
    let text = unquoted(&text);
    let mut found = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        for at in 0..words.len() {
            if let Some(end) = ratio(&words, at)
                && states_a_measurement(&words, at, end)
            {
                let around = &words[at.saturating_sub(4)..words.len().min(end + REACH)];
                found.push(around.join(" "));
            }
        }
    }
    found
}

/// A doc in which a letter stands for each figure that is filled in, and for each calculation before a ratio.
fn masked(doc: &str) -> String {
    let mut doc = doc.to_owned();
    let figures: Vec<_> = derived(&doc).into_iter().map(|figure| figure.number).collect();
    for number in figures.into_iter().rev() {
        doc.replace_range(number, "N");
    }
    doc
}

/// A text without what it quotes.
fn unquoted(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let parts = line.split('"').enumerate();
        parts.filter(|(at, _)| at % 2 == 0).map(|(_, part)| part).collect::<Vec<_>>().join(" ")
    });
    lines.flat_map(|line| [line, "\n".to_owned()]).collect()
}

/// A word without the marks around it, in lower case.
fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '%').to_lowercase()
}

/// Returns the end of the ratio that begins at a word, if one does.
fn ratio(words: &[&str], at: usize) -> Option<usize> {
    let word_at = |at: usize| words.get(at).map(|word| bare(word)).unwrap_or_default();
    let word = word_at(at);
    let before = at.checked_sub(1).map(word_at).unwrap_or_default();
    let is_number = |word: &str| word.parse::<f64>().is_ok() || is_in(NUMBERS, word);
    let next = word_at(at + 1);
    if is_number(&word) && ["times", "%", "percent"].contains(&next.as_str()) {
        // A product or a remainder, as in 33 % 32 = 1, is no ratio.
        return (!is_number(&word_at(at + 2))).then_some(at + 2);
    }
    if ["hundreds", "thousands", "dozens"].contains(&word.as_str()) && word_at(at + 2) == "times" {
        return Some(at + 3);
    }
    // "a third", "four fifths", but not "the third load".
    let one = word.strip_suffix('s').unwrap_or(&word);
    let is_fraction = is_in(FRACTIONS, one)
        && (["a", "an", "one"].contains(&before.as_str()) || is_number(&before) && one != word);
    let is_glued = word
        .strip_suffix(['%', 'x'])
        .is_some_and(|number| number.ends_with(|c: char| c.is_ascii_digit()) && is_number(number));
    let is_fold = word.strip_suffix("-fold").is_some_and(is_number)
        || word.strip_suffix("fold").is_some_and(|number| is_in(NUMBERS, number));
    let is_part = word.starts_with("0.") && is_number(&word) && next == "of"
        || word.split_once('/').is_some_and(|(a, b)| is_number(a) && is_number(b)) && next == "of";
    let is_half = word == "half" && !PARTS.contains(&before.as_str());
    let is_double = ["twice", "double", "doubled", "thrice", "triple"].contains(&word.as_str());
    (is_fraction || is_glued || is_fold || is_part || is_half || is_double).then_some(at + 1)
}

/// Returns whether the words after a ratio make it one that only a measurement gives.
fn states_a_measurement(words: &[&str], at: usize, end: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map(|at| words[at]).unwrap_or_default();
    // The end of a calculation, with or without its unit.
    if before(1) == "=" || before(1).eq_ignore_ascii_case("exactly") {
        return false;
    }
    for word in words[end.min(words.len())..].iter().take(REACH) {
        if is_in(TIMED, &bare(word)) {
            return true;
        }
        if is_counted(word) {
            return false;
        }
        if word.ends_with(['.', ';']) {
            break;
        }
    }
    !words[at.saturating_sub(BEFORE)..at].iter().any(|word| is_counted(word))
}

fn is_in(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|one| one == word)
}

/// Returns whether a word is one of [`COUNTED`], also in the plural.
fn is_counted(word: &str) -> bool {
    let word = bare(word);
    let one = word.strip_suffix('s').unwrap_or(&word);
    is_in(COUNTED, one) || word == "copies"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_ratio_is_found() {
        for fault in [
            "It takes six times as long.",
            "It takes 3.2 times as long.",
            "About a sixth of the [peak] is reached.",
            "It reaches 31 % of the peak.",
            "It is twice as fast.",
            "It takes half of the time.",
            "It takes hundreds of times the time.",
            "Four fifths of the rate remain.",
            "It is 27-fold faster.",
            "It is 1.3x faster.",
            "`a` repairs half.",
        ] {
            let found = typed(fault);
            assert_eq!(found.len(), 1, "{fault}: {found:?}");
        }
    }

    #[test]
    fn what_is_filled_counted_or_calculated_is_no_fault() {
        for right in [
            "It takes 3.2 times (`a` / `b`) as long.",
            "It reaches 31 % of the [peak] (`a`).",
            "It moves 8 times the sectors, and half of the lanes wait.",
            "It takes 32 / 4 = 8 times as long.",
            "Common misconception: \"it takes three times as long\".",
            "The time grows exactly twice as fast.",
            "The third load takes the time of the fifth.",
            "It runs many times.",
            "33 % 32 = 1 shifts the lower half, and 32 x 16 B of keys are read twice.",
        ] {
            assert_eq!(typed(right), Vec::<String>::new(), "{right}");
        }
    }
}

const WRONG: [&str; 10] = [
    "fail",
    "failed",
    "fails",
    "failure",
    "mismatch",
    "mismatched",
    "mismatches",
    "incorrect",
    "wrong",
    "unsuccessful",
];
const RIGHT: [&str; 12] = [
    "pass",
    "passed",
    "passes",
    "success",
    "successful",
    "successfully",
    "succeeded",
    "correct",
    "verified",
    "succeed",
    "ok",
    "match",
];

/// Returns whether the program found its results right, if it says so: one wrong result is enough for no.
pub fn own_check(text: &str) -> Option<bool> {
    let mut verdict = None;
    for line in text.lines() {
        let words: Vec<String> = line
            .split(|it: char| !it.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        // PolyBench counts what does not match.
        if line.contains("Non-Matching") || line.contains("Number of misses") {
            if words.last().is_none_or(|count| count != "0") {
                return Some(false);
            }
            verdict = Some(true);
            continue;
        }
        // The samples' helper counts what differs, and says on the next line whether that is too much.
        if line.contains("(%) of bytes mismatched") {
            continue;
        }
        let is_none = |word: Option<&String>| word.is_some_and(|word| word == "0" || word == "no");
        let is = |list: &[&str], index: usize| list.contains(&words[index].as_str());
        // "0 mismatches" and "failed: 0" are right.
        let mut wrong = (0..words.len()).filter(|index| is(&WRONG, *index)).map(|index| {
            is_none(index.checked_sub(1).and_then(|before| words.get(before)))
                || is_none(words.get(index + 1))
        });
        match wrong.next() {
            Some(true) if wrong.all(|is_none| is_none) => verdict = Some(true),
            Some(_) => return Some(false),
            None => {
                let negated = words.iter().any(|word| word == "not" || word == "t");
                match (0..words.len()).any(|index| is(&RIGHT, index)) {
                    true if negated => return Some(false),
                    true => verdict = Some(true),
                    false => {}
                }
            }
        }
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_result_is_enough() {
        for (text, expected) in [
            ("Average time 3 us\nPASS\n", Some(true)),
            ("PASS\nFAIL\n", Some(false)),
            ("test failed: 0\n", Some(true)),
            ("0 mismatches\n", Some(true)),
            ("Results do not match\n", Some(false)),
            (
                "Non-Matching CPU-GPU Outputs Beyond Error Threshold of 0.05 Percent: 0\n",
                Some(true),
            ),
            (
                "Non-Matching CPU-GPU Outputs Beyond Error Threshold of 0.05 Percent: 3\n",
                Some(false),
            ),
            ("Number of misses: 0\n", Some(true)),
            ("Number of misses: 12\n", Some(false)),
            ("Average time 3 us\n", None),
            ("22.50(%) of bytes mismatched (count=58979)\n  OK\n", Some(true)),
            ("22.50(%) of bytes mismatched (count=58979)\n  FAILURE\n", Some(false)),
        ] {
            assert_eq!(own_check(text), expected, "{text}");
        }
    }
}

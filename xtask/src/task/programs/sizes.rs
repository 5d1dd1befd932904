//! Sizes that sources have as constants, made smaller in the mirror.

use std::collections::BTreeMap;

/// New values of constants, by their names, and of numbers, by `FILE:LINE:NUMBER`.
pub type Sizes = BTreeMap<String, u64>;

/// By how much sizes are divided, one after the other.
pub const DIVISORS: [u64; 2] = [32, 1024];
/// Constants from here on are sizes.
const LARGE: u64 = 1024;
/// Parts of the names of constants that are no sizes: they have to fit hardware, or a file.
const KEPT: [&str; 14] = [
    "BLOCK", "THREAD", "TILE", "WARP", "SEED", "MAX", "MASK", "MOD", "PRIME", "SHIFT", "WG",
    "GROUP", "PORT", "BUF",
];

/// A definition of a constant: its name, its value, and the place of the value in the line.
struct Definition<'a> {
    name: &'a str,
    value: u64,
    at: std::ops::Range<usize>,
}

/// Reads `#define NAME VALUE` and `const int NAME = VALUE;`, and such with `constexpr` and other integers.
fn definition(line: &str) -> Option<Definition<'_>> {
    let code = line.trim_start();
    let indent = line.len() - code.len();
    let (name, begin) = if let Some(rest) = defined(code) {
        let name = rest.split_whitespace().next()?;
        let at = code.len() - rest.len() + rest.find(name)? + name.len();
        (name, at)
    } else {
        let equals = code.find('=')?;
        let (before, after) = code.split_at(equals);
        if !before.contains("const") || after.starts_with("==") {
            return None;
        }
        let words: Vec<&str> = before.split_whitespace().collect();
        let is_integer = |word: &&str| {
            ["int", "size_t", "long", "unsigned", "uint32_t", "uint64_t", "int64_t"].contains(word)
        };
        words.iter().find(|word| is_integer(word))?;
        (*words.last()?, equals + 1)
    };
    if !name.chars().all(|it| it.is_alphanumeric() || it == '_') {
        return None;
    }
    let rest = &code[begin..];
    let end = rest.find(';').into_iter().chain(rest.find("//")).chain(rest.find("/*")).min();
    let text = rest[..end.unwrap_or(rest.len())].trim_end();
    let value = value(text)?;
    let lead = text.len() - text.trim_start().len();
    let begin = indent + begin;
    Some(Definition { name, value, at: begin + lead..begin + text.len() })
}

/// The text after `#define`.
fn defined(code: &str) -> Option<&str> {
    let rest = code.strip_prefix('#')?.trim_start().strip_prefix("define")?;
    rest.starts_with([' ', '\t']).then_some(rest)
}

/// The value of a product or a shift of numbers.
fn value(text: &str) -> Option<u64> {
    let text = text.trim().trim_start_matches('(').trim_end_matches(')');
    if let Some((base, shift)) = text.split_once("<<") {
        return number(base)?.checked_shl(u32::try_from(number(shift)?).ok()?);
    }
    text.split('*').map(number).try_fold(1, |product: u64, factor| product.checked_mul(factor?))
}

fn number(text: &str) -> Option<u64> {
    let digits = text.trim().trim_matches(['(', ')']).trim_end_matches(['u', 'U', 'l', 'L']);
    digits.parse().ok()
}

/// The large constants of a program divided, and its repetitions once.
pub fn smaller(sources: &str, divisor: u64) -> Sizes {
    let mut sizes = Sizes::new();
    for found in sources.lines().filter_map(definition) {
        let upper = found.name.to_uppercase();
        let is_repetition = is_repetition_name(found.name);
        if is_repetition && found.value > 1 {
            sizes.insert(found.name.to_owned(), 1);
        } else if found.value >= LARGE && !KEPT.iter().any(|part| upper.contains(part)) {
            sizes.insert(found.name.to_owned(), (found.value / divisor).max(32));
        }
    }
    sizes
}

/// All constants of a text divided.
pub fn divided(text: &str, divisor: u64) -> Sizes {
    let found = text.lines().filter_map(definition);
    found.map(|it| (it.name.to_owned(), (it.value / divisor).max(1))).collect()
}

/// A source with other values of its constants, and of numbers in its lines.
pub fn changed(file: &str, source: &str, sizes: &Sizes) -> String {
    let lines = source.split_inclusive('\n').enumerate().map(|(index, line)| {
        let found = definition(line).and_then(|found| Some((found.at, sizes.get(found.name)?)));
        if let Some((at, size)) = found {
            return format!("{}{size}{}", &line[..at.start], &line[at.end..]);
        }
        let place = format!("{file}:{}:", index + 1);
        let of_line =
            sizes.iter().filter_map(|(name, size)| Some((name.strip_prefix(&place)?, size)));
        of_line.fold(line.to_owned(), |line, (number, size)| replaced(&line, number, *size))
    });
    lines.collect()
}

/// A line in which a number, as a whole word, has another value.
fn replaced(line: &str, number: &str, size: u64) -> String {
    let is_word = |it: char| it.is_alphanumeric() || matches!(it, '_' | '.');
    let mut rest = line;
    let mut text = String::new();
    while let Some(begin) = rest.find(is_word) {
        let word = &rest[begin..];
        let word = &word[..word.find(|it| !is_word(it)).unwrap_or(word.len())];
        text.push_str(&rest[..begin]);
        if word.trim_end_matches(['u', 'U', 'l', 'L']) == number {
            text.push_str(&size.to_string());
        } else {
            text.push_str(word);
        }
        rest = &rest[begin + word.len()..];
    }
    text + rest
}

/// Returns whether a variable of this name says how often something is repeated.
pub fn is_repetition_name(name: &str) -> bool {
    let name = name.to_lowercase();
    ["repeat", "rep", "iter", "times", "loop", "run"].iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_constants_are_divided_where_they_are_defined() {
        let source = "#define N (1 << 20) // n\n  const int len = 64 * 1024;\n#define BLOCK 4096\nint k = N;\n";
        let sizes = smaller(source, 16);
        assert_eq!(sizes, Sizes::from([("N".to_owned(), 65536), ("len".to_owned(), 4096)]));
        let expected =
            "#define N 65536 // n\n  const int len = 4096;\n#define BLOCK 4096\nint k = N;\n";
        assert_eq!(changed("a.cu", source, &sizes), expected);
        let numbers = Sizes::from([("a.cu:4:20".to_owned(), 3), ("b.cu:4:4096".to_owned(), 1)]);
        assert_eq!(
            changed("a.cu", "\n\n\nf(1 << 20UL, 200);\n", &numbers),
            "\n\n\nf(1 << 3, 200);\n"
        );
        assert_eq!(divided("#define NI 512\n#  define STEPS 2\n", 8).len(), 2);
    }
}

//! C's `printf`: the text of a format and its arguments, as glibc writes it.

use std::iter::{Peekable, repeat_n};

/// Longest text of one call.
const TEXT_MAX: usize = 1 << 20;
/// Widest field and highest precision; more is taken for this.
const FIELD_MAX: u32 = 1 << 17;
/// A double has no digits but zeros behind so many decimals.
const DIGITS_MAX: usize = 1100;

/// The arguments behind a format.
pub(crate) trait Arguments {
    /// Takes the next argument, of 4 or 8 bytes.
    fn next(&mut self, bytes: u64) -> u64;

    /// Reads the string at an address.
    fn string(&mut self, address: u64) -> Vec<u8>;
}

/// What stands between `%` and the letter.
#[derive(Clone, Copy, Default)]
struct Field {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
}

/// Formats as `printf` does.
pub(crate) fn format(format: &[u8], arguments: &mut impl Arguments) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = format.iter().copied().peekable();
    while let Some(c) = rest.next() {
        if out.len() > TEXT_MAX {
            break;
        }
        if c != b'%' {
            out.push(c);
            continue;
        }
        let mut field = Field::default();
        while let Some(flag) = rest.next_if(|c| b"-+ #0".contains(c)) {
            match flag {
                b'-' => field.left = true,
                b'+' => field.plus = true,
                b' ' => field.space = true,
                b'#' => field.alternate = true,
                _ => field.zeros = true,
            }
        }
        let width = size(&mut rest, arguments);
        field.left |= width < 0;
        field.width = width.unsigned_abs() as usize;
        if rest.next_if_eq(&b'.').is_some() {
            field.precision = usize::try_from(size(&mut rest, arguments)).ok();
        }
        let mut length = Vec::new();
        while let Some(letter) = rest.next_if(|c| b"hlzjtL".contains(c)) {
            length.push(letter);
        }
        let bytes = if length.is_empty() || length[0] == b'h' { 4 } else { 8 };
        let narrow = match length[..] {
            [b'h'] => 48,
            [b'h', b'h'] => 56,
            _ => 64 - 8 * bytes,
        };
        let Some(kind) = rest.next() else { break };
        match kind {
            b'%' => out.push(b'%'),
            b'c' => pad(&mut out, field, b"", &[arguments.next(4) as u8], false),
            b's' => {
                let address = arguments.next(8);
                let limit = field.precision.unwrap_or(usize::MAX);
                let text = match address {
                    // glibc writes all of it or nothing.
                    0 if limit < 6 => Vec::new(),
                    0 => b"(null)".to_vec(),
                    address => arguments.string(address),
                };
                pad(&mut out, field, b"", &text[..text.len().min(limit)], false);
            }
            b'p' => match arguments.next(8) {
                0 => pad(&mut out, field, b"", b"(nil)", false),
                value => integer(&mut out, Field { alternate: true, ..field }, b'x', value, b""),
            },
            b'd' | b'i' => {
                let value = (arguments.next(bytes) << narrow).cast_signed() >> narrow;
                let sign = sign(field, value < 0);
                integer(&mut out, field, kind, value.unsigned_abs(), sign);
            }
            b'u' | b'o' | b'x' | b'X' => {
                let value = arguments.next(bytes) << narrow >> narrow;
                integer(&mut out, field, kind, value, b"");
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                double(&mut out, field, kind, f64::from_bits(arguments.next(8)));
            }
            other => out.extend([b'%', other]),
        }
    }
    out
}

/// Takes a width or a precision: digits, or `*` for the next argument.
fn size(rest: &mut Peekable<impl Iterator<Item = u8>>, arguments: &mut impl Arguments) -> i32 {
    if rest.next_if_eq(&b'*').is_some() {
        return (arguments.next(4) as i32).clamp(-(FIELD_MAX as i32), FIELD_MAX as i32);
    }
    let mut number = 0;
    while let Some(digit) = rest.next_if(u8::is_ascii_digit) {
        number = (number * 10 + u32::from(digit - b'0')).min(FIELD_MAX);
    }
    number as i32
}

fn sign(field: Field, is_negative: bool) -> &'static [u8] {
    match field {
        _ if is_negative => b"-",
        Field { plus: true, .. } => b"+",
        Field { space: true, .. } => b" ",
        _ => b"",
    }
}

/// Writes a text in its field; zeros stand between sign and digits.
fn pad(out: &mut Vec<u8>, field: Field, prefix: &[u8], text: &[u8], zeros: bool) {
    let missing = field.width.saturating_sub(prefix.len() + text.len());
    let (before, between, behind) = match () {
        () if field.left => (0, 0, missing),
        () if zeros && field.zeros => (0, missing, 0),
        () => (missing, 0, 0),
    };
    out.extend(repeat_n(b' ', before));
    out.extend(prefix);
    out.extend(repeat_n(b'0', between));
    out.extend(text);
    out.extend(repeat_n(b' ', behind));
}

fn integer(out: &mut Vec<u8>, field: Field, kind: u8, value: u64, sign: &[u8]) {
    let digits = match kind {
        _ if value == 0 && field.precision == Some(0) => String::new(),
        b'o' => format!("{value:o}"),
        b'x' => format!("{value:x}"),
        b'X' => format!("{value:X}"),
        _ => value.to_string(),
    };
    let mut zeros = field.precision.unwrap_or(1).saturating_sub(digits.len());
    if kind == b'o' && field.alternate && zeros == 0 && !digits.starts_with('0') {
        zeros = 1;
    }
    let prefix: &[u8] = match kind {
        b'x' if field.alternate && value != 0 => b"0x",
        b'X' if field.alternate && value != 0 => b"0X",
        _ => sign,
    };
    let text = "0".repeat(zeros) + &digits;
    pad(out, field, prefix, text.as_bytes(), field.precision.is_none());
}

fn double(out: &mut Vec<u8>, field: Field, kind: u8, value: f64) {
    let mut prefix = sign(field, value.is_sign_negative()).to_vec();
    let value = value.abs();
    let precision = field.precision.unwrap_or(6);
    let mut text = match kind.to_ascii_lowercase() {
        _ if !value.is_finite() => if value.is_nan() { "nan" } else { "inf" }.into(),
        b'f' => fixed(value, precision, field.alternate),
        b'e' => exponent(value, precision, field.alternate),
        b'g' => general(value, precision, field.alternate),
        _ => {
            prefix.extend(b"0x");
            hexadecimal(value, field.precision, field.alternate)
        }
    };
    if kind.is_ascii_uppercase() {
        prefix.make_ascii_uppercase();
        text.make_ascii_uppercase();
    }
    pad(out, field, &prefix, text.as_bytes(), value.is_finite());
}

/// Zeros behind the last digit that a double can have, and a point that no digit follows, where it is asked for.
fn end(precision: usize, alternate: bool) -> String {
    let point = if alternate && precision == 0 { "." } else { "" };
    point.to_string() + &"0".repeat(precision.saturating_sub(DIGITS_MAX))
}

/// `%f`.
fn fixed(value: f64, precision: usize, alternate: bool) -> String {
    format!("{value:.*}{}", precision.min(DIGITS_MAX), end(precision, alternate))
}

/// `%e`: at least two digits of exponent, with a sign.
fn exponent(value: f64, precision: usize, alternate: bool) -> String {
    let (mantissa, exponent) = scientific(value, precision);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{}e{sign}{:02}", end(precision, alternate), exponent.abs())
}

/// The digits of `%e`, and the exponent.
fn scientific(value: f64, precision: usize) -> (String, i32) {
    let text = format!("{value:.*e}", precision.min(DIGITS_MAX));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.into(), exponent.parse().unwrap_or(0))
}

/// `%g`: the shorter of `%e` and `%f`, without trailing zeros.
fn general(value: f64, precision: usize, alternate: bool) -> String {
    let digits = precision.max(1);
    let (_, power) = scientific(value, digits - 1);
    let is_short = (-4..digits as i32).contains(&power);
    let text = if is_short {
        fixed(value, (digits as i32 - 1 - power) as usize, alternate)
    } else {
        exponent(value, digits - 1, alternate)
    };
    let (number, rest) = match text.split_once('e') {
        Some((number, exponent)) => (number, format!("e{exponent}")),
        None => (&text[..], String::new()),
    };
    if alternate || !number.contains('.') {
        return text;
    }
    number.trim_end_matches('0').trim_end_matches('.').to_string() + &rest
}

/// `%a`, behind its `0x`.
fn hexadecimal(value: f64, precision: Option<usize>, alternate: bool) -> String {
    let bits = value.to_bits();
    let (mut number, mut power) = (bits & ((1 << 52) - 1), (bits >> 52) as i32 - 1023);
    if power > -1023 {
        number |= 1 << 52;
    } else {
        power = if number == 0 { 0 } else { -1022 };
    }
    let kept = precision.map_or(13, |digits| digits.min(13));
    let unit = 4 * (13 - kept) as u32;
    if unit > 0 {
        let (down, rest, half) = (number >> unit, number & ((1 << unit) - 1), 1 << (unit - 1));
        number = (down + u64::from(rest > half || rest == half && down & 1 == 1)) << unit;
    }
    let mut digits = format!("{:013x}", number & ((1 << 52) - 1));
    match precision {
        Some(precision) => digits = format!("{:0<precision$}", &digits[..kept]),
        None => digits.truncate(digits.trim_end_matches('0').len()),
    }
    let point = if digits.is_empty() && !alternate { "" } else { "." };
    format!("{}{point}{digits}p{power:+}", number >> 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::{CStr, CString, c_char, c_int};

    unsafe extern "C" {
        fn snprintf(text: *mut c_char, size: usize, format: *const c_char, ...) -> c_int;
    }

    /// Arguments of which each is one value, and the same string for every address.
    struct Given<'a> {
        values: &'a [u64],
        text: &'a [u8],
    }

    impl Arguments for Given<'_> {
        fn next(&mut self, bytes: u64) -> u64 {
            let (first, rest) = self.values.split_first().expect("an argument");
            self.values = rest;
            if bytes == 4 { u64::from(*first as u32) } else { *first }
        }

        fn string(&mut self, _: u64) -> Vec<u8> {
            self.text.to_vec()
        }
    }

    fn ours(directive: &str, values: &[u64], text: &[u8]) -> String {
        let out = format(directive.as_bytes(), &mut Given { values, text });
        String::from_utf8(out).unwrap()
    }

    /// Every combination of flags, widths and precisions.
    fn fields() -> Vec<String> {
        let flags: Vec<String> = (0..32)
            .map(|set| {
                ['-', '+', ' ', '#', '0']
                    .into_iter()
                    .enumerate()
                    .filter(move |(i, _)| set >> i & 1 == 1)
            })
            .map(|flags| flags.map(|(_, flag)| flag).collect())
            .collect();
        let sizes = ["", "1", "3", "12", "30"];
        let precisions = ["", ".", ".0", ".1", ".2", ".5", ".13", ".20"];
        flags
            .iter()
            .flat_map(|flags| sizes.map(|size| format!("{flags}{size}")))
            .flat_map(|field| precisions.map(|precision| format!("{field}{precision}")))
            .collect()
    }

    /// What the C library writes; its arguments are read as the format says.
    fn theirs(print: impl Fn(*mut c_char, usize) -> c_int) -> String {
        let mut buffer = [0 as c_char; 1024];
        let length = print(buffer.as_mut_ptr(), buffer.len());
        assert!((0..1024).contains(&length));
        // SAFETY: `snprintf` ended the text, which is shorter than the buffer.
        unsafe { CStr::from_ptr(buffer.as_ptr()) }.to_str().unwrap().into()
    }

    #[test]
    fn integers_are_those_of_c() {
        let values = [0, 1, 7, 8, 255, 1977, 1 << 31, u64::from(u32::MAX), 1 << 63, u64::MAX];
        for field in fields() {
            for kind in ["d", "i", "u", "o", "x", "X"] {
                for length in ["", "h", "hh", "l", "ll", "z", "j", "t"] {
                    let directive = format!("[%{field}{length}{kind}]");
                    let c = CString::new(directive.clone()).unwrap();
                    for value in values {
                        // SAFETY: the buffer has the size that is said, and the format reads one integer.
                        let theirs =
                            theirs(|text, size| unsafe { snprintf(text, size, c.as_ptr(), value) });
                        assert_eq!(ours(&directive, &[value], b""), theirs, "{directive} {value}");
                    }
                }
            }
        }
    }

    #[test]
    fn doubles_are_those_of_c() {
        let values = [
            0.0,
            -0.0,
            1.0,
            0.5,
            1.5,
            2.5,
            -0.125,
            0.1,
            std::f64::consts::PI,
            9.995,
            99_999.95,
            999_999.4,
            1e-5,
            0.000_123_45,
            1e6,
            -1e15,
            123_456_789.0,
            1e100,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::MIN_POSITIVE / 2.0,
            f64::from_bits(1),
            1.0 - f64::EPSILON / 2.0,
            1.968_75,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            -f64::NAN,
        ];
        for field in fields() {
            for kind in ["f", "F", "e", "E", "g", "G", "a", "A"] {
                let directive = format!("[%{field}{kind}]");
                let c = CString::new(directive.clone()).unwrap();
                // glibc forgets the zeros of `%#g` where rounding makes a number longer.
                let forgets = field.contains('#') && matches!(kind, "g" | "G");
                let carries =
                    |value: f64| [9.995, 99_999.95, 1.0 - f64::EPSILON / 2.0].contains(&value);
                for value in values.into_iter().filter(|value| !(forgets && carries(*value))) {
                    // SAFETY: the buffer has the size that is said, and the format reads one double.
                    let theirs =
                        theirs(|text, size| unsafe { snprintf(text, size, c.as_ptr(), value) });
                    let ours = ours(&directive, &[value.to_bits()], b"");
                    assert_eq!(ours, theirs, "{directive} {value}");
                }
            }
        }
    }

    #[test]
    fn texts_and_pointers_are_those_of_c() {
        // A text has no zeros in front: C leaves that open.
        for field in fields().iter().filter(|field| !field.contains(['0', '#', '+', ' '])) {
            for text in [Some("abcdef"), Some(""), None] {
                let directive = format!("[%{field}s]");
                let (c, given) = (CString::new(directive.clone()).unwrap(), text.unwrap_or(""));
                let string = text.map(|text| CString::new(text).unwrap());
                let address = string.as_ref().map_or(std::ptr::null(), |text| text.as_ptr());
                // SAFETY: the buffer has the size that is said, and the format reads one string.
                let theirs =
                    theirs(|out, size| unsafe { snprintf(out, size, c.as_ptr(), address) });
                let value = [u64::from(text.is_some())];
                assert_eq!(ours(&directive, &value, given.as_bytes()), theirs, "{directive}");
            }
            for value in [0, 65, 0x1234, u64::MAX] {
                for kind in ["p", "c"] {
                    let directive = format!("[%{field}{kind}]");
                    let is_number = field.contains('.') || kind == "c" && value != 65;
                    if is_number {
                        continue;
                    }
                    let c = CString::new(directive.clone()).unwrap();
                    // SAFETY: the buffer has the size that is said, and the format reads one pointer or character.
                    let theirs =
                        theirs(|out, size| unsafe { snprintf(out, size, c.as_ptr(), value) });
                    assert_eq!(ours(&directive, &[value], b""), theirs, "{directive} {value}");
                }
            }
        }
    }

    #[test]
    fn sizes_come_from_arguments() {
        let negative = u64::from((-5_i32).cast_unsigned());
        assert_eq!(ours("[%*d]", &[5, 10], b""), "[   10]");
        assert_eq!(ours("[%*d]", &[negative, 10], b""), "[10   ]");
        assert_eq!(ours("[%.*f]", &[2, 3.142_5_f64.to_bits()], b""), "[3.14]");
        assert_eq!(ours("[%.*d]", &[negative, 10], b""), "[10]");
        assert_eq!(ours("[%#g]", &[999_999.5_f64.to_bits()], b""), "[1.00000e+06]");
        assert_eq!(ours("[%-*.*s]%%", &[6, 3, 1], b"abcdef"), "[abc   ]%");
    }
}

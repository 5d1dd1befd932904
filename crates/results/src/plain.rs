//! Text that somebody else wrote, made harmless for a terminal.

use std::borrow::Cow;

/// The replacement of a character that a terminal would obey.
const REPLACEMENT: char = '\u{fffd}';

/// Returns whether a terminal obeys a character, or an editor shows others in another order because of it.
fn is_obeyed(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with U+FFFD for each control character but the line's end and the tabulator, and for each that changes the
/// direction of writing. Lines may end as they do on Windows.
///
/// A device's name, a reason or the name of a source can hold an escape sequence, and so set titles, colours or the
/// clipboard of whoever looks at it.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n");
    Cow::Owned(text.replace(is_obeyed, REPLACEMENT.encode_utf8(&mut [0; 4])))
}

/// [`plain`] for the text of a JSON file, whose strings have escapes.
pub(crate) fn plain_json(text: &str) -> String {
    let text = plain(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out += before;
        let code = escape.get(2..6).filter(|_| escape.starts_with("\\u"));
        let number = code.and_then(|code| u32::from_str_radix(code, 16).ok());
        let length = if number.is_some() { 6 } else { 2.min(escape.len()) };
        let is_obeyed = match number {
            Some(number) => char::from_u32(number).is_some_and(is_obeyed),
            None => matches!(escape.get(..2), Some("\\b" | "\\f")),
        };
        if let Some(after) = escape.strip_prefix("\\r\\n") {
            out += "\\n";
            rest = after;
            continue;
        }
        match (is_obeyed || escape.starts_with("\\r"), escape.get(..length)) {
            (false, Some(escape)) => out += escape,
            (true, _) => out.push(REPLACEMENT),
            // A backslash before a character of several bytes: no JSON, which its reader says.
            (false, None) => out.push('\\'),
        }
        rest = escape.get(length..).unwrap_or(&escape[1..]);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_replaced() {
        assert_eq!(
            plain("H200 \u{1b}[31m\u{7}\u{9b}\u{202e}"),
            "H200 \u{fffd}[31m\u{fffd}\u{fffd}\u{fffd}"
        );
        assert!(matches!(plain("ä\tline\n"), Cow::Borrowed("ä\tline\n")));
        assert_eq!(plain("one\r\ntwo\rthree\r\n"), "one\ntwo\u{fffd}three\n");
    }

    #[test]
    fn escapes_of_json_are_replaced_and_others_stay() {
        for (json, expected) in [
            (r#""a\u001b[31m""#, "a\u{fffd}[31m"),
            (r#""a\\u001b""#, r"a\u001b"),
            (r#""\b\f\r""#, "\u{fffd}\u{fffd}\u{fffd}"),
            (r#""one\r\ntwo\n\t\"\/\\""#, "one\ntwo\n\t\"/\\"),
            (r#""\u0009\u00e4\ud83d\ude00\u009b""#, "\tä😀\u{fffd}"),
        ] {
            let read: String = serde_json::from_str(&plain_json(json)).expect("JSON");
            assert_eq!(read, expected, "{json}");
        }
        for broken in ["\"\\", "\"\\u00", "\"\\ä\"", "\\u00zz"] {
            assert!(serde_json::from_str::<String>(&plain_json(broken)).is_err(), "{broken}");
        }
    }
}

use anyhow::{Context, Result};
use maud::Markup;

pub enum Control {
    /// A slider from the first to the second number, in steps, at first at the last number.
    Range(&'static str, &'static str, [u32; 4]),
    Choice(&'static str, &'static str, Vec<String>),
}

pub struct Widget {
    pub name: &'static str,
    pub title: &'static str,
    /// Its content, in a sentence.
    pub about: &'static str,
    pub controls: Vec<Control>,
    pub data: Vec<(&'static str, String)>,
    /// Markup shown without the script, and printed.
    pub states: Markup,
}

/// The digits of a number in a page.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A part of a whole as two letters, in steps of a 4095th.
pub fn pair(part: f64) -> Result<[char; 2]> {
    let steps = (part * 4095.0).round() as u64;
    Ok([letter(steps / 64)?, letter(steps % 64)?])
}

/// A count as one letter, so that thousands of states are a few kilobytes.
pub fn letter(count: u64) -> Result<char> {
    let index = usize::try_from(count).unwrap_or(usize::MAX);
    LETTERS
        .get(index)
        .map(|letter| char::from(*letter))
        .with_context(|| format!("{count} has no letter"))
}

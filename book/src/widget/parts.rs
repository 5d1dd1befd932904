//! What every widget consists of.

use anyhow::{Context, Result};
use maud::Markup;

/// A control of a widget.
pub enum Control {
    /// A slider from the first to the second number, in steps, at first at the last number.
    Range(&'static str, &'static str, [u32; 4]),
    /// A choice.
    Choice(&'static str, &'static str, Vec<String>),
}

/// What every widget consists of.
pub struct Widget {
    /// Names it for the script.
    pub name: &'static str,
    /// The heading.
    pub title: &'static str,
    /// What it shows, in a sentence.
    pub about: &'static str,
    /// Sliders and choices.
    pub controls: Vec<Control>,
    /// Attributes for the script.
    pub data: Vec<(&'static str, String)>,
    /// What is shown without the script, and printed.
    pub states: Markup,
}

/// A count as one letter, so that thousands of states are a few kilobytes.
pub fn letter(count: u64) -> Result<char> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let index = usize::try_from(count).unwrap_or(usize::MAX);
    LETTERS
        .get(index)
        .map(|letter| char::from(*letter))
        .with_context(|| format!("{count} has no letter"))
}

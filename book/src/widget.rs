//! Widgets.

use crate::sources::Sources;
use anyhow::Result;
use maud::{Markup, html};

pub fn widget(_sources: &Sources, name: &str) -> Result<Markup> {
    Ok(html! { p { "widget " (name) } })
}

//! Pictures as SVG: what a warp touches, and what ran when.
//!
//! Each is a pure function from data to text. A picture is 360 units wide, so that it can be read on a telephone, and
//! has its figures as a text alternative. Its ink is the colour of the text around it, or, in a file of its own, dark
//! on light and light on dark.
//!
//! ```no_run
//! let counts = results::Counts::load("counts.json".as_ref())?;
//! let pattern = counts.pattern("transpose").expect("it was counted");
//! let variant = pattern.variant("naive").expect("it was counted");
//! let picture = report::picture::of(pattern, variant).expect("it has kernels");
//! std::fs::write("transpose.svg", picture)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod access;
mod page;
pub mod timeline;

pub use page::style;

use access::Requests;
use results::{CountedPattern, CountedVariant};

/// The picture of a variant: what a warp of its kernels asks of memory, or what ran when; `None` for work of the host
/// whose timeline was not recorded.
pub fn of(pattern: &CountedPattern, variant: &CountedVariant) -> Option<String> {
    let name = format!("{}/{}", pattern.name, variant.name);
    if variant.kernels.is_empty() {
        return Some(timeline::draw(&name, variant.timeline.as_ref()?));
    }
    Some(access::draw_folded(&name, &pattern.file, &requests(pattern, variant)))
}

/// The same for a file of its own, in which a warp's requests move; a timeline stands still.
pub fn moving(pattern: &CountedPattern, variant: &CountedVariant) -> Option<String> {
    if variant.kernels.is_empty() {
        return of(pattern, variant);
    }
    let name = format!("{}/{}", pattern.name, variant.name);
    Some(access::draw_moving(&name, &pattern.file, &requests(pattern, variant)))
}

fn requests(pattern: &CountedPattern, variant: &CountedVariant) -> Requests {
    let instructions = variant.kernels.iter().flat_map(|kernel| &kernel.instructions);
    Requests::of(&pattern.file, &pattern.source, instructions)
}

/// A picture as a part of a page that has [`style`] once for all.
pub fn in_page(picture: &str) -> String {
    match (picture.split_once("<style>"), picture.split_once("</style>")) {
        (Some((before, _)), Some((_, after))) => format!("{}{}", before.trim_end(), after),
        _ => picture.to_owned(),
    }
}

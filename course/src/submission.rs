use crate::ptx;
use cuda_host::Image;
use std::path::Path;

#[derive(Clone, Debug)]
pub struct Submission {
    pub ptx: String,
    pub source: String,
    /// End of that source's path in its line table.
    pub file: String,
}

impl Submission {
    /// The image that a device loads. It lives as long as the process: a few kilobytes for each save of a file.
    pub(crate) fn image(&self, kernel: &str) -> &'static [Image] {
        let text = Box::leak(ptx::only(&self.ptx, kernel).into_boxed_str());
        // SAFETY: `cuda_builder` has compiled it; what it does to memory the virtual device checks.
        let image = unsafe { Image::new(80, text, &[], "unknown", "unknown") };
        Box::leak(Box::new([image]))
    }

    pub(crate) fn line(&self, number: u32) -> Option<(u32, String)> {
        let text = self.source.lines().nth((number as usize).checked_sub(1)?)?;
        Some((number, text.trim().to_owned()))
    }

    /// The line of the source in a place such as `learn/tile.rs:12`, with what was inlined there behind it.
    pub(crate) fn line_of(&self, place: &str) -> Option<(u32, String)> {
        let name = Path::new(&self.file).file_name()?.to_str()?;
        place.match_indices(name).find_map(|(at, _)| {
            let rest = place[at + name.len()..].strip_prefix(':')?;
            let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
            self.line(digits.parse().ok().filter(|line| *line > 0)?)
        })
    }
}

use std::fmt;

/// The words between a place and what was inlined there.
const INLINES: &str = ", which inlines ";

/// A place in the source that was compiled to PTX.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(deny_unknown_fields)
)]
pub struct SourceLocation {
    /// The file as the compiler names it.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The places that the code was inlined into, innermost first.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub inlined_at: Vec<(String, u32)>,
}

impl SourceLocation {
    /// The place that a kernel's author sees: the call site of inlined code.
    pub fn outermost(&self) -> (&str, u32) {
        match self.inlined_at.last() {
            Some((file, line)) => (file, *line),
            None => (&self.file, self.line),
        }
    }

    /// The file and the line that a kernel's author sees, of a place that was written as text.
    ///
    /// ```
    /// use counters::SourceLocation;
    /// let place = SourceLocation { file: "std.h".into(), line: 7, inlined_at: vec![("a:b.cu".into(), 3)] };
    /// assert_eq!(SourceLocation::outermost_of(&place.to_string()), Some(("a:b.cu", 3)));
    /// assert_eq!(SourceLocation::outermost_of("nowhere"), None);
    /// ```
    pub fn outermost_of(text: &str) -> Option<(&str, u32)> {
        let outermost = text.split(INLINES).next()?;
        let (file, line) = outermost.rsplit_once(':')?;
        Some((file, line.parse().ok()?))
    }

    /// The innermost of its places that lies in a file whose name ends like this. The compiler gives code that belongs
    /// to no line of a file the line 0, which is not a place.
    pub fn line_in(&self, file: &str) -> Option<u32> {
        let own = (&self.file, self.line);
        let around = self.inlined_at.iter().map(|(file, line)| (file, *line));
        let mut places = std::iter::once(own).chain(around);
        places.find(|(name, line)| name.ends_with(file) && *line > 0).map(|(_, line)| line)
    }
}

/// The line that the kernel's author sees, and what was inlined there.
impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (file, line) in self.inlined_at.iter().rev() {
            write!(f, "{file}:{line}{INLINES}")?;
        }
        write!(f, "{}:{}", self.file, self.line)
    }
}

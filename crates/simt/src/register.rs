/// A register row and the file it lives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Register {
    Word(u32),
    Long(u32),
    Predicate(u32),
}

impl Register {
    /// The index within its file.
    pub fn index(self) -> u32 {
        match self {
            Register::Word(index) | Register::Long(index) | Register::Predicate(index) => index,
        }
    }
}

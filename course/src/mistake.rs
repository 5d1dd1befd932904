use crate::count::Count;
use simt::Hazard;
use virtual_gpu::MisuseKind;

/// Why a file does not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    Compiler,
    /// The entry has another name or other parameters.
    Signature,
    /// An output has a wrong element, or one that nobody wrote.
    Wrong,
    /// An access outside of an array.
    OutOfBounds,
    /// An address that its access is not aligned to.
    Misaligned,
    /// The kernel never ends, or its threads wait for each other.
    Hangs,
    /// Anything else that stops a kernel.
    Stopped,
    /// A hazard, whatever came out.
    Hazard(Hazard),
    /// A mistake of the host's in what it asks of the driver.
    Misuse(MisuseKind),
    /// A count above its bound.
    Bound(Count),
    /// A question has no right answer yet.
    Unanswered,
}

/// A mistake that a run showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub because: FailureKind,
    /// In a kernel: the line of the access, and that of the other; ascending, and each once.
    pub lines: Vec<u32>,
    /// In a file of the host: the driver's call whose work showed it.
    pub call: String,
}

impl Found {
    /// The lines as one number, which is how answers are kept.
    pub fn code(&self) -> f64 {
        code(&self.lines)
    }
}

/// Lines as one number: five digits for each.
pub fn code(lines: &[u32]) -> f64 {
    lines.iter().fold(0.0, |code, line| 1e5 * code + f64::from(*line))
}

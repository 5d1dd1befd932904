//! A frame that a recursive call of one lane put aside.

/// A frame of one lane.
#[derive(Clone, Debug)]
pub(crate) struct SavedFrame {
    /// Calls that were under way.
    pub depth: usize,
    pub rows: Vec<u64>,
    pub bytes: Vec<u8>,
}

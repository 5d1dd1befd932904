//! The likeness of what a program prints or leaves in memory on two devices.

/// The relative difference of numbers that are close: sums in another order.
pub const CLOSE: f64 = 1e-4;

/// The likeness of what a program leaves on two devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    Equal,
    /// Only numbers differ, and not by much.
    Close,
    Differs,
}

impl Likeness {
    /// Returns its name in the tables.
    pub fn word(self) -> &'static str {
        match self {
            Likeness::Equal => "equal",
            Likeness::Close => "close",
            Likeness::Differs => "differs",
        }
    }
}

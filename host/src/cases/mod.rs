/// Sizes of one dimension.
macro_rules! lengths {
    ($($length:expr),* $(,)?) => {
        &[$(&[$length]),*]
    };
}
pub(crate) use lengths;

pub mod copy;
pub mod product;

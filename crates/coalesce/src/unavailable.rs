//! Shortcomings of a device, or of the machine around it.

/// Why a variant cannot run on this device, though nothing is wrong: it is not run then. An error of a peer, and of
/// [`crate::pattern::Implementation::Host`]'s `build`, for what no compute capability says.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

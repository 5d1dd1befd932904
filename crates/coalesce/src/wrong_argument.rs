/// An argument that is well-formed but makes no sense in this place.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongArgument(pub String);

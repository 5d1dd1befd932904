pub(crate) mod fetch;
pub(crate) mod surface;

mod layers;
mod names;

pub(crate) use layers::published;

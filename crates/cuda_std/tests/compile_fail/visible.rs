//! An externally visible function has a fixed name.
use cuda_std::externally_visible;

#[externally_visible]
pub fn nameless() {}

fn main() {}

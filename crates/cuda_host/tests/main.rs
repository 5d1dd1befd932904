//! The device of programs, as they use it.

mod halves;
mod order;
mod safe_api;
mod stream;
mod testing;

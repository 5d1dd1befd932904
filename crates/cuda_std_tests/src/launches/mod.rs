//! The table of launches, with what must come out.
//!
//! Every entry is one launch of one kernel with all of its inputs, and with what each buffer must
//! hold afterwards, computed on the host by the dullest code possible. [`Buffer::check`] compares.

mod atomics;
mod copies;
mod floats;
mod groups;
mod halves;
mod intrinsics;
mod launch;
mod mma;
mod threads;
mod warps;

pub use launch::{Argument, Buffer, Expected, Launch};

/// All launches, also those that the PTX is too old for. New ones come last: a GPU's results are recorded by number.
#[must_use]
pub fn all() -> Vec<Launch> {
    [
        threads::launches(),
        warps::launches(),
        copies::launches(),
        atomics::launches(),
        floats::launches(),
        copies::more_operators(),
        vec![atomics::table(), copies::cluster_add()],
        mma::launches(),
        halves::launches(),
        groups::launches(),
        intrinsics::launches(),
        floats::remainders(),
    ]
    .concat()
}

/// Launches that no GPU has computed yet. A person with one moves them to the end of [`all`].
#[must_use]
pub fn unmeasured() -> Vec<Launch> {
    vec![copies::cluster_asynchronous(), atomics::add_vectors()]
}

//! `#[kernel]` chooses the name and the ABI.
use cuda_std::kernel;

#[kernel]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn named() {}

#[kernel]
pub async unsafe fn asynchronous() {}

fn main() {}

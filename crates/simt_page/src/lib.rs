//! The executor in a page: an address as an expression becomes a small kernel, any PTX becomes counts, all as text.
//!
//! A page calls [`alloc`], writes a request there, calls [`run`], and reads as many bytes as that says from [`result`].
//! Nothing else is needed: no generated bindings, no network. Requests are in `request`, and each answer is JSON.
#![allow(missing_docs, reason = "this crate is not published")]

mod expression;
pub mod json;
mod probe;
mod request;

pub use probe::{Access, Probe, Space};
pub use request::answer;

use std::sync::Mutex;

/// Request that the page wrote, replaced by the answer.
static REQUEST: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static RESULT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn locked(buffer: &'static Mutex<Vec<u8>>) -> std::sync::MutexGuard<'static, Vec<u8>> {
    buffer.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Makes room for a request of so many bytes and says where it is.
// SAFETY: no other symbol of this name is linked: the module has these three functions and those of `std`.
#[unsafe(no_mangle)]
pub extern "C" fn alloc(length: usize) -> *mut u8 {
    let mut request = locked(&REQUEST);
    request.clear();
    request.resize(length, 0);
    request.as_mut_ptr()
}

/// Answers the request that was written, and says how many bytes the answer has.
// SAFETY: as for `alloc`.
#[unsafe(no_mangle)]
pub extern "C" fn run() -> usize {
    let text = String::from_utf8_lossy(&locked(&REQUEST)).into_owned();
    let mut result = locked(&RESULT);
    *result = answer(&text).into_bytes();
    result.len()
}

// SAFETY: as for `alloc`.
#[unsafe(no_mangle)]
pub extern "C" fn result() -> *const u8 {
    locked(&RESULT).as_ptr()
}

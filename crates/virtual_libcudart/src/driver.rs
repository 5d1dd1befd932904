//! The driver below: started once and, where it is the virtual GPU's, told of what is not here and of what fails.

use crate::error::{self, Error, check};
use cuda_driver::{Backend, api};
use std::ffi::{CStr, c_char, c_uint, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

/// The virtual driver's functions that take note of a function that is not here, and of one that fails.
const NOTE: &CStr = c"coalesce_refused";
const NOTE_OF_FAILURE: &CStr = c"coalesce_failed";
/// The driver's library, as the loader knows it.
const DRIVER: &CStr = c"libcuda.so.1";

type Note = unsafe extern "C" fn(*const c_char);
type NoteOfFailure = unsafe extern "C" fn(*const c_char, c_uint, *const c_char);

/// Starts the driver.
///
/// # Errors
/// There is no driver, or it has no device.
pub fn start() -> Result<(), Error> {
    static STARTED: OnceLock<Result<(), Error>> = OnceLock::new();
    *STARTED.get_or_init(|| {
        if let Err(error) = cuda_driver::select(Backend::Loaded) {
            eprintln!("libcudart: {error}");
            return Err(Error::INSUFFICIENT_DRIVER);
        }
        // SAFETY: the call takes a number.
        check(unsafe { api::cuInit(0) })
    })
}

/// Returns a function of the virtual driver's; NVIDIA's driver has none of them.
fn of_virtual_driver(name: &CStr) -> Option<NonNull<c_void>> {
    start().ok()?;
    // SAFETY: the names end with zeros.
    unsafe {
        let library = libc::dlopen(DRIVER.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        NonNull::new(if library.is_null() { library } else { libc::dlsym(library, name.as_ptr()) })
    }
}

fn note() -> Option<Note> {
    static FOUND: OnceLock<Option<Note>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let function = of_virtual_driver(NOTE)?;
        // SAFETY: the library is loaded and stays so; what has the name is this function.
        Some(unsafe { std::mem::transmute::<NonNull<c_void>, Note>(function) })
    })
}

/// Takes note of a call that failed here, without one of the driver's that did.
pub fn failed(name: &'static CStr, error: Error, why: &CStr) {
    static FOUND: OnceLock<Option<NoteOfFailure>> = OnceLock::new();
    let note = FOUND.get_or_init(|| {
        let function = of_virtual_driver(NOTE_OF_FAILURE)?;
        // SAFETY: as for `note`.
        Some(unsafe { std::mem::transmute::<NonNull<c_void>, NoteOfFailure>(function) })
    });
    if let Some(note) = note {
        // SAFETY: the strings end with zeros, and the name lives as long as this library, which stays loaded.
        unsafe { note(name.as_ptr(), error.0, why.as_ptr()) };
    }
}

/// Returns whether the driver is the virtual GPU's.
pub fn is_virtual() -> bool {
    note().is_some()
}

/// Takes note of a function, or of a way to call it, that is not here, and returns the error that says so.
pub fn refused(name: &'static CStr) -> Error {
    if let Some(note) = note() {
        // SAFETY: the name ends with a zero and lives as long as this library, which stays loaded.
        unsafe { note(name.as_ptr()) };
    }
    error::is_listed();
    Error::NOT_SUPPORTED
}

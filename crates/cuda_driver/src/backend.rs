use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

/// The backend of the driver's calls, given to [`crate::select`].
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Backend {
    /// The machine's driver, `libcuda.so.1`.
    Native,
    /// The library that the loader finds under that name, be it the virtual GPU's: for one that stands above either.
    Loaded,
    /// A table of functions that stands in for the driver, such as a virtual GPU.
    Table(&'static dyn SymbolSource),
}

/// A set of driver functions, found by the names they have in the driver's binary.
///
/// This is a dynamic library's contract, so that a real driver, a virtual GPU and a test double plug in alike.
///
/// # Safety
/// - The address returned for a name of the driver API is a function with that name's C signature and contract
///   (NVIDIA's driver API reference), and stays valid for the rest of the process.
/// - A function may return any 32-bit code.
/// - A handle that this source did not give is refused with a code, never followed: it may be one of a driver that
///   answered before.
pub unsafe trait SymbolSource: Sync + Send {
    /// Returns who this is, for people.
    fn name(&self) -> String;

    /// Returns whether this stands in for a GPU that is not there.
    fn is_virtual(&self) -> bool;

    /// The function's address, or nothing when this source does not have it.
    fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>>;

    /// Told of each function that was called and is not here, once.
    fn missed(&self, _name: &'static CStr) {}
}

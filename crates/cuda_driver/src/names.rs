//! The name of the driver's library, and the variable that chooses another.

/// The environment variable that names the driver library (a file, or the folder that holds it). When it is set, no
/// other place is searched.
pub const LIBRARY_VARIABLE: &str = "COALESCE_LIBCUDA";

/// The name under which every driver installs itself.
pub(crate) const SONAME: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

/// A symbol that the library of the virtual GPU has beside the driver's, so that it is never taken for a GPU's driver.
pub(crate) const VIRTUAL_MARK: &std::ffi::CStr = c"coalesce_virtual_gpu";

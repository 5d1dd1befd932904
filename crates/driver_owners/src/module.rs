//! Modules: PTX that the driver has loaded.
//!
//! ```no_run
//! # fn f(ptx: &str) -> driver_owners::error::CudaResult<()> {
//! use driver_owners::module::Module;
//! let module = Module::from_ptx(ptx, &[])?;
//! let kernel = module.get_function("scale")?;
//! # Ok(())
//! # }
//! ```

use crate::error::{CudaResult, result};
use crate::function::Function;
use cuda_driver::api;
use cuda_driver::raw::CUmodule;
use std::convert::Infallible;
use std::ffi::{CStr, CString};

/// PTX that was loaded into the current context.
#[derive(Debug)]
pub struct Module {
    // Alone, so that a module is its handle: `cust_ext` reads it so.
    inner: CUmodule,
}

// SAFETY: the driver's calls may come from any thread; the handle is a number to them.
unsafe impl Send for Module {}
// SAFETY: a call takes the handle as a number, and the driver orders the calls of several threads.
unsafe impl Sync for Module {}

/// An option of the driver's compiler: cust's are not here, so that a list of them is empty.
#[derive(Clone, Copy, Debug)]
pub struct ModuleJitOption(Infallible);

impl Module {
    /// Loads PTX.
    ///
    /// # Errors
    /// The driver cannot compile it.
    ///
    /// # Panics
    /// The text has a NUL in it.
    pub fn from_ptx<T: AsRef<str>>(ptx: T, options: &[ModuleJitOption]) -> CudaResult<Module> {
        let ptx = CString::new(ptx.as_ref()).expect("PTX has no NUL");
        Module::from_ptx_cstr(&ptx, options)
    }

    /// Loads PTX that ends with a NUL already.
    ///
    /// # Errors
    /// The driver cannot compile it.
    pub fn from_ptx_cstr(ptx: &CStr, _options: &[ModuleJitOption]) -> CudaResult<Module> {
        let mut inner = std::ptr::null_mut();
        // SAFETY: the text ends with a NUL, and the module is a local to write to.
        result(unsafe { api::cuModuleLoadData(&mut inner, ptx.as_ptr().cast()) })?;
        Ok(Module { inner })
    }

    /// A kernel by its name.
    ///
    /// # Errors
    /// There is none.
    ///
    /// # Panics
    /// The name has a NUL in it.
    pub fn get_function<T: AsRef<str>>(&self, name: T) -> CudaResult<Function<'_>> {
        let name = CString::new(name.as_ref()).expect("a kernel's name has no NUL");
        let mut function = std::ptr::null_mut();
        // SAFETY: the module is alive, the name ends with a NUL, and the function is a local to write to.
        result(unsafe { api::cuModuleGetFunction(&mut function, self.inner, name.as_ptr()) })?;
        Ok(Function::new(function))
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: it is unloaded once, and its functions borrow it. A failure cannot be told to anybody.
        let _ = unsafe { api::cuModuleUnload(self.inner) };
    }
}

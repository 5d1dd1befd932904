//! A module's `static` and constant arrays as slices: their address, their size, checked copies in both directions.
//!
//! ```no_run
//! # fn f(module: &cust::module::Module) -> cust_ext::Result<()> {
//! // SAFETY: the kernels have `static WEIGHTS: [f32; 2]`.
//! let mut weights = unsafe { cust_ext::symbol::symbol::<f32>(module, "WEIGHTS")? };
//! weights.upload(&[1.0, 2.0])?;
//! # Ok(())
//! # }
//! ```

use crate::error::{Error, Result, argument, call};
use crate::handle;
use crate::pointer::{self, MemoryKind, PointerInfo};
use bytemuck::Pod;
use cust::memory::{CopyDestination, DeviceCopy, DevicePointer, DeviceSlice};
use cust::module::Module;
use std::ffi::CString;
use std::marker::PhantomData;

/// A symbol of a module, as a slice.
#[derive(Debug)]
pub struct SymbolSlice<'module, T: Pod + DeviceCopy> {
    name: String,
    values: DeviceSlice<T>,
    _module: PhantomData<&'module Module>,
}

/// Finds the symbol `name` in the module and sees it as a slice of `T`.
///
/// The symbol's size has to be a whole number of `T`. The slice ends with the module.
///
/// # Errors
/// There is no such symbol, or its size is another; or the driver's.
///
/// # Safety
/// - The static is of type `T` or an array of `T`: what the host writes must be a value of it.
pub unsafe fn symbol<'module, T: Pod + DeviceCopy>(
    module: &'module Module,
    name: &str,
) -> Result<SymbolSlice<'module, T>> {
    let c_name = CString::new(name).map_err(|_| {
        Error::Argument(format!("{name:?} cannot be a symbol's name: it contains a NUL"))
    })?;
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: two locals to write to, a module that is alive and a text that ends with NUL.
    unsafe {
        call!(cuModuleGetGlobal_v2(
            &mut address,
            &mut bytes,
            handle::of_module(module),
            c_name.as_ptr()
        ))?
    };
    let length = whole_values::<T>(name, address, bytes)?;
    // SAFETY: the driver says that the symbol has `bytes` bytes at this address, aligned for `T` as checked; it is
    // allocated as long as the module, which the result borrows. It holds `T`, by the caller's contract.
    let values = unsafe { DeviceSlice::from_raw_parts(DevicePointer::from_raw(address), length) };
    Ok(SymbolSlice { name: name.to_owned(), values, _module: PhantomData })
}

impl<T: Pod + DeviceCopy> SymbolSlice<'_, T> {
    /// The symbol's memory, for copies on a stream and for kernels.
    pub fn as_device_slice(&self) -> &DeviceSlice<T> {
        &self.values
    }

    /// Writes all of the symbol.
    ///
    /// # Errors
    /// When `values` are not as many as the symbol's, or the copy fails.
    pub fn upload(&mut self, values: &[T]) -> Result<()> {
        self.check(values.len())?;
        Ok(self.values.copy_from(values)?)
    }

    /// Reads all of the symbol.
    ///
    /// # Errors
    /// When `values` are not as many as the symbol's, or the copy fails.
    pub fn download(&self, values: &mut [T]) -> Result<()> {
        self.check(values.len())?;
        Ok(self.values.copy_to(values)?)
    }

    /// The values of a managed static, which the host uses where they are.
    ///
    /// # Safety
    /// - As long as the result is used, no kernel uses the symbol and no other slice of it exists.
    ///
    /// # Errors
    /// The symbol is in device memory, which the host does not reach; or the driver's.
    pub unsafe fn as_host_slice_mut(&mut self) -> Result<&mut [T]> {
        let first = self.values.as_device_ptr().as_raw();
        let is_managed = |info: &PointerInfo| info.kind == MemoryKind::Managed;
        if !pointer::info(first)?.as_ref().is_some_and(is_managed) {
            return argument(format!(
                "the symbol {} is not managed memory, so the host cannot use it in place: copy it, or declare the \
                 static `#[address_space(managed)]`",
                self.name
            ));
        }
        let pointer = std::ptr::with_exposed_provenance_mut::<T>(first as usize);
        // SAFETY: managed memory has one address for host and device, and this symbol's has so many values, aligned as
        // `symbol` checked, as long as the module that `self` borrows. The caller sees to it that nobody else uses them.
        Ok(unsafe { std::slice::from_raw_parts_mut(pointer, self.values.len()) })
    }

    fn check(&self, length: usize) -> Result<()> {
        if length != self.values.len() {
            let (name, has) = (&self.name, self.values.len());
            return argument(format!(
                "the symbol {name} has {has} values and the host slice {length}"
            ));
        }
        Ok(())
    }
}

fn whole_values<T>(name: &str, address: u64, bytes: usize) -> Result<usize> {
    let size = size_of::<T>();
    if size == 0 || !bytes.is_multiple_of(size) || !address.is_multiple_of(align_of::<T>() as u64) {
        return argument(format!(
            "the symbol {name} has {bytes} bytes, which is no whole number of {size}-byte values"
        ));
    }
    Ok(bytes / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_is_a_whole_number_of_values() {
        assert_eq!(whole_values::<f32>("filter", 256, 20).unwrap(), 5);
        assert_eq!(
            whole_values::<f64>("filter", 256, 20).unwrap_err().to_string(),
            "the symbol filter has 20 bytes, which is no whole number of 8-byte values"
        );
        assert!(whole_values::<f64>("filter", 4, 16).is_err());
    }
}

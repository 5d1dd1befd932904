//! The driver API's functions on the virtual device, and the table in which they are found by name.

mod context;
mod device;
mod graph;
mod kernel;
mod memory;
mod pool;
mod stream;
mod transfer;

use crate::machine::Outcome;
use cuda_driver::ReturnCode;
use std::ffi::c_void;
use std::ptr::NonNull;

/// Defines driver functions on the virtual device.
///
/// The body is a function of the machine; inside it the arguments have the contract that NVIDIA's reference gives them,
/// which the whole body relies on. The type is compared with the driver table's entry of the same name at compile time.
macro_rules! exports {
    ($(fn $name:ident($machine:ident $(, $argument:ident: $type:ty)* $(,)?) $body:block)*) => {
        $(
            #[allow(non_snake_case, clippy::too_many_arguments)]
            unsafe extern "C" fn $name($($argument: $type),*) -> cuda_driver::ReturnCode {
                $crate::machine::enter(stringify!($name), |$machine| {
                    // SAFETY: the caller upholds the function's contract in NVIDIA's driver API reference: each pointer
                    // is null or valid for what the function reads or writes through it. `out` and `read` test for null.
                    #[allow(unused_unsafe)]
                    unsafe { $body }
                })
            }

            const _: [unsafe extern "C" fn($($type),*) -> cuda_driver::ReturnCode; 2] =
                [$name, cuda_driver::api::$name];
        )*

        pub(super) fn table() -> $crate::exports::Rows {
            vec![$((stringify!($name), $name as *mut std::ffi::c_void)),*]
        }
    };
}
use exports;

/// Names with addresses.
type Rows = Vec<(&'static str, *mut c_void)>;

/// The function of that name.
pub(crate) fn symbol(name: &str) -> Option<NonNull<c_void>> {
    let tables = [
        context::table,
        device::table,
        graph::table,
        kernel::table,
        memory::table,
        pool::table,
        stream::table,
        transfer::table,
    ];
    let mut rows = tables.into_iter().flat_map(|table| table());
    rows.find(|(known, _)| *known == name).and_then(|(_, address)| NonNull::new(address))
}

/// Writes a result.
///
/// # Safety
/// `target` is null or valid for a write.
unsafe fn out<T>(target: *mut T, value: T) -> Outcome {
    if target.is_null() {
        return Err(ReturnCode::INVALID_VALUE);
    }
    // SAFETY: not null, so valid by the contract.
    unsafe { target.write(value) };
    Ok(())
}

/// Writes a result that the caller may not want.
///
/// # Safety
/// `target` is null or valid for a write.
unsafe fn out_optional<T>(target: *mut T, value: T) {
    if !target.is_null() {
        // SAFETY: not null, so valid by the contract.
        unsafe { target.write(value) };
    }
}

/// Reads a NUL-terminated name.
///
/// # Safety
/// `name` is null or a NUL-terminated text.
unsafe fn text(name: *const std::ffi::c_char) -> Outcome<String> {
    if name.is_null() {
        return Err(ReturnCode::INVALID_VALUE);
    }
    // SAFETY: not null, so a NUL-terminated text by the contract.
    let name = unsafe { std::ffi::CStr::from_ptr(name) };
    name.to_str().map(str::to_owned).map_err(|_| ReturnCode::INVALID_VALUE)
}

/// A handle of the driver's from a number of ours.
fn handle<T>(number: usize) -> *mut T {
    std::ptr::without_provenance_mut(number)
}

//! The form in which a function of the driver API is written down here.

use std::ffi::c_void;
use std::sync::OnceLock;

/// Defines driver functions on the virtual device.
///
/// The body is a safe function of the driver and of arguments that were checked or are checked when they are used
/// (`arguments`); it cannot keep them. The type in C is compared with the driver table's entry at compile time.
/// `#[cost(..)]` names the kind of [`gpu_model::CallCost`], where that is not `Api`.
macro_rules! exports {
    ($($(#[cost($cost:ident)])? fn $name:ident($driver:ident $(, $argument:ident: $type:ty)* $(,)?) $body:block)*) => {
        $(
            #[allow(non_snake_case, clippy::too_many_arguments)]
            unsafe extern "C" fn $name($($argument: <$type as $crate::exports::arguments::Argument>::Raw),*) -> cuda_driver::ReturnCode {
                #[allow(clippy::too_many_arguments)]
                fn body($driver: &mut $crate::driver::Driver $(, $argument: $type)*) -> $crate::code::CuResult $body
                // SAFETY: the caller upholds the function's contract in NVIDIA's driver API reference: a pointer is null
                // or valid for what the function reads or writes through it, until the function returns.
                $(let $argument = unsafe { <$type as $crate::exports::arguments::Argument>::from_raw($argument) };)*
                let cost = $crate::exports::define::cost!($($cost)?);
                $crate::process::enter(stringify!($name), cost, |driver| body(driver $(, $argument)*))
            }

            const _: [unsafe extern "C" fn($(<$type as $crate::exports::arguments::Argument>::Raw),*) -> cuda_driver::ReturnCode; 2] =
                [$name, cuda_driver::api::$name];
        )*

        /// The same functions for programs whose stream 0 is the calling thread's own.
        mod per_thread {
            #[allow(unused_imports)]
            use super::*;

            $(
                #[allow(non_snake_case, clippy::too_many_arguments)]
                pub(super) unsafe extern "C" fn $name($($argument: <$type as $crate::exports::arguments::Argument>::Raw),*) -> cuda_driver::ReturnCode {
                    // SAFETY: the contract is the same.
                    $crate::thread::with_own_default(|| unsafe { super::$name($($argument),*) })
                }
            )*
        }

        pub(super) fn table() -> $crate::exports::define::SymbolRows {
            vec![$((
                stringify!($name),
                [$name as *mut std::ffi::c_void, per_thread::$name as *mut std::ffi::c_void],
            )),*]
        }
    };
}
pub(super) use exports;

/// The kind of cost that a function names, or the usual one.
macro_rules! cost {
    () => {
        gpu_model::CallCost::Api
    };
    ($cost:ident) => {
        gpu_model::CallCost::$cost
    };
}
pub(super) use cost;

/// Names with two addresses: stream 0 is the legacy default stream, or the calling thread's own.
pub(super) type SymbolRows = Vec<(&'static str, [*mut c_void; 2])>;

/// Finds a row of all tables. Known since the first function was looked up, which comes before any call: there is no other
/// way to one.
pub(super) static FIND: OnceLock<Find> = OnceLock::new();

/// Finds the two addresses of a name.
pub(super) type Find = fn(&str) -> Option<[*mut c_void; 2]>;

//! Every function of the table as an exported symbol that calls the selected backend's function of the same name.
//!
//! ```no_run
//! let mut count = 0;
//! // SAFETY: `count` is valid for a write.
//! let code = unsafe { cuda_driver::api::cuDeviceGetCount(&mut count) };
//! println!("{code:?}: {count} devices");
//! ```
#![allow(non_snake_case, non_camel_case_types, clippy::too_many_arguments)]

use crate::dispatch::driver;
use crate::raw::*;
use crate::table::table;
use crate::types::*;
use crate::{check, local, operations};
use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};
use std::ptr::null_mut;

pub use crate::symbol::Symbol;

/// Defines a function for each line of the table.
macro_rules! functions {
    ($(
        $(#[since($major:literal, $minor:literal)])?
        $(#[records($said:expr)])?
        fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(else $fallback:expr)? $(=> $check:expr)?;
    )*) => {
        impl Symbol {
            /// The function that this crate exports under the name, for programs that ask for addresses
            /// (`cuGetProcAddress`).
            pub fn address(self) -> *mut c_void {
                match self { $(Symbol::$name => $name as *mut c_void),* }
            }
        }

        $(
            #[doc = concat!("`", stringify!($name), "` of the driver API, answered by the selected backend.")]
            ///
            /// # Safety
            /// - What NVIDIA's driver API reference asks of the caller: pointers valid for what the call reads or
            ///   writes, handles that are alive.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> $crate::ReturnCode {
                let driver = driver();
                let Some(function) = driver.function(Symbol::$name) else {
                    $(
                        // SAFETY: the fallback has the function's own contract, which the caller upholds.
                        return unsafe { $fallback };
                    )?
                    #[allow(unreachable_code)]
                    return driver.unavailable(Symbol::$name);
                };
                let open = open!($($said)?);
                // SAFETY: the backend gave this address for exactly this name, whose C signature is fixed by the driver
                // API's binary interface and written down in this line; a test compares it with cust_raw's. A return
                // code is any 32-bit integer, which `ReturnCode` can hold. The caller upholds the function's contract.
                let code = unsafe {
                    let function: unsafe extern "C" fn($($type),*) -> $crate::ReturnCode =
                        std::mem::transmute(function.as_ptr());
                    function($($argument),*)
                };
                if let Some(open) = open {
                    open.close();
                }
                $(
                    // SAFETY: the driver reported success, so by the function's contract its out-values were written.
                    if code == $crate::ReturnCode::SUCCESS && !unsafe { $check } {
                        return $crate::ReturnCode::UNKNOWN;
                    }
                )?
                code.listed()
            }
        )*

        #[cfg(test)]
        mod signatures {
            //! Compares every line with cust_raw's declaration of the function.
            use super::shape::Shape;

            #[test]
            fn every_line_has_the_shape_that_cust_raw_declares() {
                let mut compared = 0;
                $(
                    compare!($name($($argument),*), compared $(, $major)?);
                )*
                assert_eq!(compared, 353, "functions compared with cust_raw 0.11.3");
            }
        }
    };
}

/// Records the event before an operation, where a line says what its function does.
macro_rules! open {
    () => {
        None::<operations::Open>
    };
    ($said:expr) => {
        operations::open(|| {
            // SAFETY: the arguments are as the function's caller guarantees.
            #[allow(unused_unsafe, reason = "few of them look behind a pointer")]
            unsafe {
                $said
            }
        })
    };
}

#[cfg(test)]
macro_rules! compare {
    ($name:ident($($argument:ident),*), $compared:ident) => {
        let ours = super::$name as unsafe extern "C" fn($(inferred!($argument)),*) -> _;
        let theirs = cust_raw::$name as unsafe extern "C" fn($(inferred!($argument)),*) -> _;
        assert_eq!(ours.shape(), theirs.shape(), stringify!($name));
        $compared += 1;
    };
    ($name:ident($($argument:ident),*), $compared:ident, $major:literal) => {};
}

#[cfg(test)]
macro_rules! inferred {
    ($argument:ident) => {
        _
    };
}

table!(functions);

#[cfg(test)]
mod shape {
    //! The size and alignment of a function's result and arguments: what two declarations of one C function have to
    //! agree on where one says `c_uint` and the other an enum.

    /// Size and alignment, the result's first.
    pub(crate) type Layouts = Vec<(usize, usize)>;

    /// A function pointer of any arity in the table.
    pub(crate) trait Shape {
        fn shape(&self) -> Layouts;
    }

    macro_rules! arity {
        ($($argument:ident)*) => {
            impl<Output, $($argument),*> Shape for unsafe extern "C" fn($($argument),*) -> Output {
                fn shape(&self) -> Layouts {
                    vec![
                        (size_of::<Output>(), align_of::<Output>()),
                        $((size_of::<$argument>(), align_of::<$argument>()),)*
                    ]
                }
            }
        };
    }

    arity!();
    arity!(A);
    arity!(A B);
    arity!(A B C);
    arity!(A B C D);
    arity!(A B C D E);
    arity!(A B C D E F);
    arity!(A B C D E F G);
    arity!(A B C D E F G H);
    arity!(A B C D E F G H I);
    arity!(A B C D E F G H I J);
    arity!(A B C D E F G H I J K);
}

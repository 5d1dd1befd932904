//! The names of the driver's library that are not functions of the driver's table: those by which stream 0 is the calling
//! thread's own default stream, and those of functions that the virtual device does not have.

#![allow(non_snake_case, clippy::too_many_arguments)]

use cuda_driver::ReturnCode;
use cuda_driver::raw::*;
use cuda_driver::types::*;
use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};

/// Defines `export`, a macro that exports a line of the list, of the lines of the driver's table.
macro_rules! by_the_table {
    ($(
        $(#[since($major:literal, $minor:literal)])?
        $(#[records($said:expr)])?
        fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(else $fallback:expr)? $(=> $check:expr)?;
    )*) => {
        crate::first_versions::first_versions_table!(by_both_tables ($) $(fn $name($($argument: $type),*);)*);
    };
}

/// As `by_the_table`, also of the first versions. `$d` is a dollar, for the macro that is defined.
macro_rules! by_both_tables {
    (
        ($d:tt) $(fn $name:ident($($argument:ident: $type:ty),*);)*
        first $($first:ident = $later:ident($($_argument:ident: $_type:ty),*);)*
    ) => {
        /// Gives what follows a name, unless that is exported elsewhere.
        macro_rules! unless_exported {
            $(($name, $d($d then:tt)*) => {};)*
            $(($first, $d($d then:tt)*) => {};)*
            ($d name:ident, $d($d then:tt)*) => { $d($d then)* };
        }

        /// Exports the name by which stream 0 of a function is the thread's own, and gives what follows where the function
        /// is none of the table.
        macro_rules! own {
            $(($name, $d own:ident) => {
                /// The function of the same name without its ending, where stream 0 is the calling thread's own.
                ///
                /// # Safety
                /// - As for that.
                #[unsafe(no_mangle)]
                unsafe extern "C" fn $d own($($argument: $type),*) -> ReturnCode {
                    // SAFETY: the contract is the same.
                    virtual_gpu::with_own_default(|| unsafe { cuda_driver::api::$name($($argument),*) })
                }
            };)*
            ($d other:ident, $d own:ident) => { absent!($d own); };
        }
    };
}

/// Exports the name of a function that the virtual device does not have. What it is given stays unread.
macro_rules! absent {
    ($name:ident) => {
        /// Answers that the virtual device does not have the function.
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> ReturnCode {
            virtual_gpu::refuse(stringify!($name))
        }
    };
}

/// Exports the lines of the list.
macro_rules! export {
    ($($name:ident $since:literal $(, $own:ident)?;)*) => {
        $(
            unless_exported!($name, absent!($name););
            $(own!($name, $own);)?
        )*

        /// The address of a function that the virtual device does not have.
        pub fn find(name: &str) -> Option<*mut c_void> {
            $(unless_exported!($name, if name == stringify!($name) { return Some($name as *mut c_void) });)*
            None
        }
    };
}

cuda_driver::table!(by_the_table);
virtual_gpu::names!(export);

//! The form in which a function of the runtime API is written down here.

use crate::driver;
use crate::error::{self, Error};
use cuda_driver::raw::CUstream;
use std::cell::Cell;
use std::ffi::{CStr, c_int};

/// The result of a function inside this library.
pub type Result<T = ()> = std::result::Result<T, Error>;

thread_local! {
    /// True while stream 0 of the call under way is the thread's own default stream.
    static OWN: Cell<bool> = const { Cell::new(false) };
}

/// Defines functions of the runtime API. The body returns a [`Result`], whose error becomes the thread's last one. The name
/// after `own` is that of the variant whose stream 0 is the calling thread's own.
macro_rules! exports {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(own $own:ident)? $body:block)*) => {
        $(
            $(#[$attribute])*
            #[doc = concat!("`", stringify!($name), "` of the runtime API.")]
            ///
            /// # Safety
            /// - Pointers are null or valid for what the call reads or writes by NVIDIA's runtime API reference.
            /// - Handles are alive.
            #[allow(clippy::too_many_arguments)]
            #[allow(unused_unsafe, reason = "some bodies call nothing of the driver")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> std::ffi::c_int {
                // SAFETY: the caller upholds the function's contract, which is that of the driver's functions below it.
                $crate::define::answer($crate::define::name!($name), || unsafe { $body })
            }

            $crate::define::own!([$($own)?] $name($($argument: $type),*));
        )*
    };
}
pub(crate) use exports;

/// Gives a function's name as C has it.
macro_rules! name {
    ($name:ident) => {
        const {
            match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("a name has no zero"),
            }
        }
    };
}
pub(crate) use name;

/// Defines functions of the runtime API that the driver has under another name, for the context that is current.
macro_rules! passed {
    ($(fn $name:ident = $driver:ident($($argument:ident: $type:ty),* $(,)?);)*) => {
        $crate::define::exports! {
            $(fn $name($($argument: $type),*) {
                $crate::context::enter()?;
                $crate::error::check(cuda_driver::api::$driver($($argument),*))
            })*
        }
    };
}
pub(crate) use passed;

/// Defines pairs of functions: one is done when it returns, the other in the order of a stream.
macro_rules! in_order {
    ($(
        fn $name:ident, $later:ident($($argument:ident: $type:ty),*) own $own:ident, $own_later:ident:
            |$stream:ident| $body:expr;
    )*) => {
        $crate::define::exports! {$(
            fn $name($($argument: $type),*) own $own {
                let $stream = None;
                $body
            }
            fn $later($($argument: $type,)* stream: cuda_driver::raw::CUstream) own $own_later {
                let $stream = Some(stream);
                $body
            }
        )*}
    };
}
pub(crate) use in_order;

/// Defines the variant of a function whose stream 0 is the calling thread's own, if it has one.
macro_rules! own {
    ([] $($function:tt)*) => {};
    ([$own:ident] $name:ident($($argument:ident: $type:ty),*)) => {
        #[doc = concat!("`", stringify!($name), "` with the calling thread's own stream as stream 0.")]
        ///
        /// # Safety
        /// - As for the function without the ending.
        #[allow(clippy::too_many_arguments)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $own($($argument: $type),*) -> std::ffi::c_int {
            // SAFETY: the contract is the same.
            $crate::define::with_own_default(|| unsafe { $name($($argument),*) })
        }
    };
}
pub(crate) use own;

/// Gives a function's result as a code, and keeps an error as the thread's last one. Those that the driver has not listed
/// among the program's mistakes are listed here.
pub fn answer(name: &'static CStr, body: impl FnOnce() -> Result) -> c_int {
    error::begin();
    match body() {
        Ok(()) => 0,
        Err(error) => {
            if let Some(why) = error::unlisted(error) {
                driver::failed(name, error, &why);
            }
            error::keep(error)
        }
    }
}

/// Runs a call whose stream 0 is the thread's own default stream.
pub fn with_own_default<T>(call: impl FnOnce() -> T) -> T {
    let before = OWN.replace(true);
    let result = call();
    OWN.set(before);
    result
}

/// Returns the stream that the driver is given for a stream of the program's.
pub fn on(stream: CUstream) -> CUstream {
    if stream.is_null() && OWN.get() { per_thread() } else { stream }
}

/// Returns whether a copy without a stream is one of the thread's own default stream.
pub fn is_own() -> bool {
    OWN.get()
}

/// The handle of the thread's own default stream (`CU_STREAM_PER_THREAD`).
pub fn per_thread() -> CUstream {
    std::ptr::without_provenance_mut(2)
}

/// Returns the place that a function writes its answer to.
///
/// # Safety
/// - The pointer is null, misaligned or valid for the time that the result is used.
///
/// # Errors
/// The pointer is null or misaligned.
pub unsafe fn out<'place, T>(pointer: *mut T) -> Result<&'place mut T> {
    if !pointer.is_aligned() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: the caller's contract.
    unsafe { pointer.as_mut() }.ok_or(Error::INVALID_VALUE)
}

/// Writes a value to where a program wants it, which may be a member of a packed structure.
///
/// # Safety
/// - The place is null or, but for its alignment, valid for a write.
///
/// # Errors
/// The place is null.
pub unsafe fn put<T>(place: *mut T, value: T) -> Result<()> {
    if place.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: the caller's contract.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

/// Returns what a program hands over by its address.
///
/// # Safety
/// - The pointer is null, misaligned or valid for the time that the result is used.
///
/// # Errors
/// The pointer is null or misaligned.
pub unsafe fn given<'place, T>(pointer: *const T) -> Result<&'place T> {
    if !pointer.is_aligned() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: the caller's contract.
    unsafe { pointer.as_ref() }.ok_or(Error::INVALID_VALUE)
}

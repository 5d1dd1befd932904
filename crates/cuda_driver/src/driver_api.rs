//! The macro behind [`crate::api`]: from one line per function to the symbol, its name and its place in the table.

/// Defines every listed function as an exported symbol that calls the selected backend's function of the same name.
///
/// A line is
/// `[#[since(major, minor)]] [#[records(operation)]] fn name(arguments) [else fallback(...)] [=> check(...)];`:
/// `records` says what a stream is to do, for recordings ([`crate::record_operations`]);
/// `fallback` answers when the backend has no such function, and `check` (true when all is well) looks at what the
/// driver wrote before the caller does.
#[macro_export]
#[doc(hidden)]
macro_rules! driver_api {
    ($(
        $(#[since($major:literal, $minor:literal)])?
        $(#[records($said:expr)])?
        fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(else $fallback:expr)? $(=> $check:expr)?;
    )*) => {
        /// The functions of the table, in its order.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(usize)]
        #[allow(clippy::enum_variant_names, missing_docs)]
        pub enum Symbol { $($name),* }

        impl Symbol {
            /// How many functions the table has.
            pub const COUNT: usize = Symbol::ALL.len();

            /// Every function.
            pub const ALL: &'static [Symbol] = &[$(Symbol::$name),*];

            const NAMES: &'static [&'static std::ffi::CStr] = &[$(
                match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("an identifier has no inner NUL"),
                }
            ),*];

            const SINCE: &'static [Option<$crate::CudaVersion>] = &[$(
                $crate::driver_api!(@since $($major, $minor)?)
            ),*];

            /// The name in the binary.
            pub const fn c_name(self) -> &'static std::ffi::CStr {
                Symbol::NAMES[self as usize]
            }

            /// The function that this crate exports under the name, for programs that ask for addresses
            /// (`cuGetProcAddress`).
            pub fn address(self) -> *mut std::ffi::c_void {
                match self { $(Symbol::$name => $name as *mut std::ffi::c_void),* }
            }

            /// The CUDA version that introduced the function, when that is newer than CUDA 11.4.
            pub const fn since(self) -> Option<$crate::CudaVersion> {
                Symbol::SINCE[self as usize]
            }
        }

        $(
            #[doc = concat!("`", stringify!($name), "` of the driver API, answered by the selected backend.")]
            ///
            /// # Safety
            /// What NVIDIA's driver API reference asks of the caller: pointers valid for what the call reads or writes,
            /// handles that are alive.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> $crate::ReturnCode {
                let driver = $crate::dispatch::driver();
                let Some(function) = driver.function(Symbol::$name) else {
                    $(
                        // SAFETY: the fallback has the function's own contract, which the caller upholds.
                        return unsafe { $fallback };
                    )?
                    #[allow(unreachable_code)]
                    return driver.unavailable(Symbol::$name);
                };
                let open = $crate::driver_api!(@open $($said)?);
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
            use $crate::driver_api::shape::Shape;

            #[test]
            fn every_line_has_the_shape_that_cust_raw_declares() {
                let mut compared = 0;
                $(
                    $crate::driver_api!(@compare $name($($argument),*), compared $(, $major)?);
                )*
                assert_eq!(compared, 353, "functions compared with cust_raw 0.11.3");
            }
        }
    };
    (@open) => { None::<$crate::operations::Open> };
    (@open $said:expr) => {
        $crate::operations::open(|| {
            // SAFETY: the arguments are as the function's caller guarantees.
            #[allow(unused_unsafe, reason = "few of them look behind a pointer")]
            unsafe { $said }
        })
    };
    (@since) => { None };
    (@since $major:literal, $minor:literal) => { Some($crate::CudaVersion::new($major, $minor)) };
    (@compare $name:ident($($argument:ident),*), $compared:ident) => {
        let ours = super::$name as unsafe extern "C" fn($($crate::driver_api!(@inferred $argument)),*) -> _;
        let theirs = cust_raw::$name as unsafe extern "C" fn($($crate::driver_api!(@inferred $argument)),*) -> _;
        assert_eq!(ours.shape(), theirs.shape(), stringify!($name));
        $compared += 1;
    };
    (@compare $name:ident($($argument:ident),*), $compared:ident, $major:literal) => {};
    (@inferred $argument:ident) => { _ };
}

#[cfg(test)]
pub(crate) mod shape {
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

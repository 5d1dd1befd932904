use crate::table::table;
use crate::version::CudaVersion;
use std::ffi::CStr;

/// Makes [`Symbol`] of the table's names and dates.
macro_rules! symbols {
    ($(
        $(#[since($major:literal, $minor:literal)])?
        $(#[records($said:expr)])?
        fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(else $fallback:expr)? $(=> $check:expr)?;
    )*) => {
        /// The functions of the table, in its order.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(usize)]
        #[allow(clippy::enum_variant_names, non_camel_case_types, missing_docs)]
        pub enum Symbol { $($name),* }

        impl Symbol {
            /// The number of functions in the table.
            pub const COUNT: usize = Symbol::ALL.len();

            /// Every function.
            pub const ALL: &'static [Symbol] = &[$(Symbol::$name),*];

            const NAMES: &'static [&'static CStr] = &[$(
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("an identifier has no inner NUL"),
                }
            ),*];

            const SINCE: &'static [Option<CudaVersion>] = &[$(since!($($major, $minor)?)),*];

            /// The name in the binary.
            pub const fn c_name(self) -> &'static CStr {
                Symbol::NAMES[self as usize]
            }

            /// The CUDA version that introduced the function, when that is newer than CUDA 11.4.
            pub const fn since(self) -> Option<CudaVersion> {
                Symbol::SINCE[self as usize]
            }
        }
    };
}

macro_rules! since {
    () => {
        None
    };
    ($major:literal, $minor:literal) => {
        Some(CudaVersion::new($major, $minor))
    };
}

table!(symbols);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_has_its_name_its_place_and_its_date() {
        assert_eq!(Symbol::cuMemAlloc_v2.c_name(), c"cuMemAlloc_v2");
        assert_eq!(Symbol::ALL[Symbol::cuMemAlloc_v2 as usize], Symbol::cuMemAlloc_v2);
        assert_eq!(Symbol::cuMemAlloc_v2.since(), None);
        assert_eq!(Symbol::cuMemAdvise_v2.since(), Some(CudaVersion::new(12, 2)));
        assert_eq!(Symbol::ALL.len(), Symbol::COUNT);
    }
}

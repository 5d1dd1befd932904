//! Kernels of a module, and the shape of a launch.
//!
//! ```no_run
//! # fn f() -> driver_owners::error::CudaResult<()> {
//! use driver_owners::function::{BlockSize, GridSize};
//! let (grid, block) = (GridSize::xy(4, 2), BlockSize::from(256));
//! # Ok(())
//! # }
//! ```

use cuda_driver::raw::CUfunction;
use std::marker::PhantomData;

/// A kernel of a loaded module.
#[derive(Debug)]
pub struct Function<'module> {
    function: CUfunction,
    module: PhantomData<&'module ()>,
}

// SAFETY: the driver's calls may come from any thread; the handle is a number to them.
unsafe impl Send for Function<'_> {}
// SAFETY: a call takes the handle as a number, and nothing is changed behind a shared reference.
unsafe impl Sync for Function<'_> {}

impl Function<'_> {
    pub(crate) fn new(function: CUfunction) -> Self {
        Function { function, module: PhantomData }
    }

    /// The driver's handle, which lives as long as the module.
    pub fn to_raw(&self) -> CUfunction {
        self.function
    }
}

macro_rules! extents {
    ($(#[doc = $about:literal] $name:ident)*) => {$(
        #[doc = $about]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name {
            /// Along x.
            pub x: u32,
            /// Along y.
            pub y: u32,
            /// Along z.
            pub z: u32,
        }

        impl $name {
            /// One dimension.
            pub fn x(x: u32) -> $name {
                $name { x, y: 1, z: 1 }
            }

            /// Two dimensions.
            pub fn xy(x: u32, y: u32) -> $name {
                $name { x, y, z: 1 }
            }

            /// Three dimensions.
            pub fn xyz(x: u32, y: u32, z: u32) -> $name {
                $name { x, y, z }
            }
        }

        impl From<u32> for $name {
            fn from(x: u32) -> $name {
                $name::x(x)
            }
        }

        impl From<(u32, u32)> for $name {
            fn from((x, y): (u32, u32)) -> $name {
                $name::xy(x, y)
            }
        }

        impl From<(u32, u32, u32)> for $name {
            fn from((x, y, z): (u32, u32, u32)) -> $name {
                $name::xyz(x, y, z)
            }
        }

        impl From<&$name> for $name {
            fn from(other: &$name) -> $name {
                *other
            }
        }
    )*};
}

extents! {
    /// Blocks of a grid.
    GridSize
    /// Threads of a block.
    BlockSize
}

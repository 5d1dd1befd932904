//! Types of the driver API as CUDA 11.4 has them, under the names of NVIDIA's `cuda.h`.
//!
//! With the feature `cust` they are cust_raw's, so that a handle of cust is passed as it is. Without it they are declared
//! here, and no build script looks for an installation of CUDA. Both have one layout, which a test compares.
//!
//! ```
//! assert_eq!(size_of::<cuda_driver::raw::CUdeviceptr>(), 8);
//! ```

#[cfg(feature = "cust")]
pub use cust_raw::*;
#[cfg(not(feature = "cust"))]
pub use declared::*;

#[cfg(any(test, not(feature = "cust")))]
#[cfg_attr(
    feature = "cust",
    allow(dead_code, reason = "only the test of their layout looks at them")
)]
mod declared;

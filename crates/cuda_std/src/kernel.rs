//! The token by which the host names a kernel.

use core::fmt;
use core::marker::PhantomData;

/// A kernel, as the host sees it: its name and launch attributes, typed by its parameters.
///
/// `#[kernel] pub unsafe fn scale(source: &[f32], target: *mut f32, factor: f32)` is, on the host,
/// `pub const scale: Kernel<fn(&'static [f32], *mut f32, f32)>`. A launcher that is generic over the
/// function type can check the arguments of a launch against it when it is compiled.
pub struct Kernel<F> {
    name: &'static str,
    launch_bounds: (u32, u32),
    cluster: (u32, u32, u32),
    min_compute_capability: u32,
    parameters: PhantomData<F>,
}

impl<F> Kernel<F> {
    /// The token of a kernel. `#[kernel]` calls this; there is no reason to call it by hand.
    ///
    /// # Safety
    /// `name` must be the name of a PTX entry whose parameters are those of `F`, with each slice
    /// passed as a pointer and a length, and whose directives are the given ones.
    #[doc(hidden)]
    pub const unsafe fn new(
        name: &'static str,
        launch_bounds: (u32, u32),
        cluster: (u32, u32, u32),
        min_compute_capability: u32,
    ) -> Self {
        Kernel { name, launch_bounds, cluster, min_compute_capability, parameters: PhantomData }
    }

    /// The name of the PTX entry.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The maximum of threads per block and the minimum of blocks per multiprocessor (`.maxntid`
    /// and `.minnctapersm`); 0 where not given.
    pub const fn launch_bounds(self) -> (u32, u32) {
        self.launch_bounds
    }

    /// The blocks per cluster in x, y and z (`.reqnctapercluster`); 0 without clusters.
    pub const fn cluster(self) -> (u32, u32, u32) {
        self.cluster
    }

    /// The oldest compute capability that has the kernel, such as 80 for 8.0; 0 for any.
    pub const fn min_compute_capability(self) -> u32 {
        self.min_compute_capability
    }
}

impl<F> Clone for Kernel<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Kernel<F> {}

impl<F> fmt::Debug for Kernel<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Kernel")
            .field("name", &self.name)
            .field("launch_bounds", &self.launch_bounds)
            .field("cluster", &self.cluster)
            .field("min_compute_capability", &self.min_compute_capability)
            .finish()
    }
}

/// Compiles when a parameter can be passed by value: its bytes are copied into the launch.
#[doc(hidden)]
pub const fn check_parameter<T: Copy>() {}

/// Compiles when a pointer or reference to `T` is one address.
#[doc(hidden)]
pub const fn check_thin_pointer<T>() {}

/// Compiles when a slice of `T` can be passed.
#[doc(hidden)]
pub const fn check_slice_element<T>() {}

/// What a kernel may take by value and the host may pass: both see the same bytes.
///
/// Scalars, [`half`]'s floats and arrays of these are. For a structure of yours:
///
/// ```
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// pub struct Step {
///     pub factor: f32,
///     pub offset: u32,
/// }
/// // SAFETY: `repr(C)`, and both fields are `ByValue`.
/// unsafe impl cuda_std::kernel::ByValue for Step {}
/// ```
///
/// # Safety
/// The type is `repr(C)` or `repr(transparent)`, or a scalar, and all its fields are `ByValue`: then its layout is the
/// same on the device and on the host.
pub unsafe trait ByValue: Copy + 'static {}

macro_rules! by_value {
    ($($type:ty)*) => {$(
        // SAFETY: a scalar, whose layout both sides share.
        unsafe impl ByValue for $type {}
    )*};
}
by_value!(u8 i8 u16 i16 u32 i32 u64 i64 usize isize f32 f64 half::f16 half::bf16);

// SAFETY: elements one after the other, without padding between them.
unsafe impl<T: ByValue, const N: usize> ByValue for [T; N] {}

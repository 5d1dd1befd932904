//! The token by which the host names a kernel.
//!
//! ```no_run
//! use cuda_std::kernel::Kernel;
//! // What `#[kernel]` makes of a function that scales values.
//! # const fn scale() -> Kernel<fn(*const f32, *mut f32, f32)> {
//! #     unsafe { Kernel::new("scale", (0, 0), (0, 0, 0), 0) }
//! # }
//! assert_eq!(scale().name(), "scale");
//! ```

use core::fmt;
use core::marker::PhantomData;

/// A kernel, as the host sees it: its name and launch attributes, typed by its parameters.
///
/// `#[kernel] pub unsafe fn scale(source: &[f32], target: *mut f32, factor: f32)` is, on the host,
/// `pub const scale: Kernel<fn(&'static [f32], *mut f32, f32)>`. A launcher that is generic over the
/// function type can check the arguments of a launch against it when it is compiled.
pub struct Kernel<F> {
    name: &'static str,
    path: &'static str,
    signature: &'static [u32],
    launch_bounds: (u32, u32),
    cluster: (u32, u32, u32),
    min_compute_capability: u32,
    parameters: PhantomData<F>,
}

impl<F> Kernel<F> {
    /// The token of a kernel. `#[kernel]` calls this; there is no reason to call it by hand.
    ///
    /// # Safety
    /// - `name` must be the name of a PTX entry whose parameters are those of `F`, with each slice passed as a
    ///   pointer and a length, and whose directives are the given ones.
    #[doc(hidden)]
    pub const unsafe fn new(
        name: &'static str,
        launch_bounds: (u32, u32),
        cluster: (u32, u32, u32),
        min_compute_capability: u32,
    ) -> Self {
        Kernel {
            name,
            path: name,
            signature: &[],
            launch_bounds,
            cluster,
            min_compute_capability,
            parameters: PhantomData,
        }
    }

    /// The same kernel with what the device build recorded of it, too: its path, `crate$name$line`, and its signature.
    #[doc(hidden)]
    pub const fn recorded(self, path: &'static str, signature: &'static [u32]) -> Self {
        Kernel { path, signature, ..self }
    }

    /// The name of the kernel with that of its crate before it, as the device build records it: `crate$name$line`.
    #[doc(hidden)]
    pub const fn path(self) -> &'static str {
        self.path
    }

    /// Returns how many parameters the PTX entry has, if that was recorded.
    #[doc(hidden)]
    pub const fn parameters(self) -> Option<usize> {
        /// Words before those of the parameters, and words of each.
        const HEAD: usize = 5;
        const PARAMETER: usize = 3;
        if self.signature.is_empty() {
            return None;
        }
        let (mut at, mut parameters) = (HEAD, 0);
        while at < self.signature.len() {
            // A slice and a type of `cuda_std::safe` are two: a pointer and an extent.
            parameters += if matches!(self.signature[at], 1 | 2 | 8..) { 2 } else { 1 };
            at += PARAMETER;
        }
        Some(parameters)
    }

    /// Returns what a launch compares with the device build's record; empty for a kernel that has none.
    #[doc(hidden)]
    pub const fn signature(self) -> &'static [u32] {
        self.signature
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

/// A kernel that is a safe function, as the host sees it: a [`Kernel`] and what its launches must fulfil.
///
/// `#[kernel(block = 256, ..)] pub fn` makes one, see [`crate::safe`].
pub struct SafeKernel<F> {
    kernel: Kernel<F>,
    block: (u32, u32, u32),
    parameters: &'static [&'static str],
    same_length: &'static [usize],
}

impl<F> SafeKernel<F> {
    /// The token of a safe kernel. `#[kernel]` calls this; there is no reason to call it by hand.
    ///
    /// # Safety
    /// - As for [`Kernel::new`].
    /// - The block is the one that the entry requires, and a launch with this block, with equal lengths of the
    ///   parameters at the positions `same_length`, breaks no promise that the kernel rests on.
    #[doc(hidden)]
    pub const unsafe fn new(
        kernel: Kernel<F>,
        block: (u32, u32, u32),
        parameters: &'static [&'static str],
        same_length: &'static [usize],
    ) -> Self {
        SafeKernel { kernel, block, parameters, same_length }
    }

    /// The kernel without its contract, for a launch that keeps it in another way.
    pub const fn unchecked(self) -> Kernel<F> {
        self.kernel
    }

    /// The name of the PTX entry.
    pub const fn name(self) -> &'static str {
        self.kernel.name()
    }

    /// The threads of a block in x, y and z (`.reqntid`).
    pub const fn block(self) -> (u32, u32, u32) {
        self.block
    }

    /// The names of the parameters that a launch passes.
    pub const fn parameters(self) -> &'static [&'static str] {
        self.parameters
    }

    /// The positions of the parameters that must be equally long.
    pub const fn same_length(self) -> &'static [usize] {
        self.same_length
    }
}

impl<F> Clone for SafeKernel<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for SafeKernel<F> {}

/// Compiles when a parameter can be passed by value: its bytes are copied into the launch.
#[doc(hidden)]
pub const fn check_parameter<T: Copy>() {}

/// Compiles when a safe kernel can take a parameter as it is.
#[doc(hidden)]
pub const fn check_safe_parameter<T: Parameter>() {}

/// Compiles when a pointer or reference to `T` is one address.
#[doc(hidden)]
pub const fn check_thin_pointer<T>() {}

/// Compiles when a slice of `T` can be passed.
#[doc(hidden)]
pub const fn check_slice_element<T>() {}

/// Compiles when a field of a structure can be passed by value.
#[doc(hidden)]
pub const fn check_field<T: ByValue>() {}

/// A value that a kernel may take and the host may pass: both see the same bytes.
///
/// Scalars, [`crate::half`]'s floats and arrays of these are. A structure of yours derives it:
///
/// ```
/// #[derive(Clone, Copy, cuda_std::Argument)]
/// #[repr(C)]
/// pub struct Step {
///     pub factor: f32,
///     pub offset: u32,
/// }
/// ```
///
/// # Safety
/// - The type is `repr(C)` or `repr(transparent)`, or a scalar, and all its fields are `ByValue`: then its layout is
///   the same on the device and on the host, and any bytes are a value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a kernel by value",
    label = "not the same bytes on host and device",
    note = "numbers, arrays of them and structures with `#[derive(Argument)]` can"
)]
pub unsafe trait ByValue: Copy + 'static {}

macro_rules! by_value {
    ($($type:ty)*) => {$(
        // SAFETY: a scalar, whose layout both sides share.
        unsafe impl ByValue for $type {}
    )*};
}

/// A parameter that a kernel takes as it is: a value of bytes, or a handle that only the host can make.
///
/// # Safety
/// - As for [`ByValue`], but not every bytes need to be a value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a kernel by value",
    label = "not the same bytes on host and device",
    note = "numbers, arrays of them and structures with `#[derive(Argument)]` can; a slice is written out, `&[T]`, and \
            not by an alias"
)]
pub unsafe trait Parameter: Copy + 'static {}

// SAFETY: a value of bytes.
unsafe impl<T: ByValue> Parameter for T {}

/// A static of the kernels that the host may write, as `#[address_space]` makes one: a type of the static's name.
///
/// # Safety
/// - The kernels have a static of this name and type, and any bytes of the type are a value of it.
pub unsafe trait Symbol {
    /// The type that the host writes.
    type Value: 'static;
    /// The name in PTX.
    const NAME: &'static str;
}

by_value!(u8 i8 u16 i16 u32 i32 u64 i64 usize isize f32 f64 crate::f16 crate::bf16);
by_value!(crate::float::F16x2 crate::float::Bf16x2);

// SAFETY: elements one after the other, without padding between them.
unsafe impl<T: ByValue, const N: usize> ByValue for [T; N] {}

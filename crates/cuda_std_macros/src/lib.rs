//! The attribute macros of `cuda_std`.
//!
//! What a macro expands to depends on the target only through `#[cfg(target_arch = "nvptx64")]` in
//! the expansion, because a macro runs on the host and cannot see which target it expands for.

mod address_space;
mod argument;
mod contract;
mod gpu_only;
mod instances;
mod kernel;
mod lifetimes;
mod print;
mod record;
mod signature;

use proc_macro::TokenStream;
use syn::{Error, ItemFn, ItemStatic, parse_macro_input};

/// Makes a function a GPU kernel.
///
/// ```ignore
/// #[kernel(launch_bounds(256, 4), min_compute_capability = 80)]
/// pub unsafe fn scale(source: &[f32], target: *mut f32, factor: f32) { .. }
/// ```
///
/// On the device this is the PTX entry `scale`. A slice parameter is passed as two parameters, a
/// pointer and a length in elements (`usize`), the way rust-cuda passes it. Every other parameter
/// is passed as it is and must be `Copy`.
///
/// On the host the body is type-checked but never called, and `scale` is a constant of type
/// `cuda_std::kernel::Kernel<fn(&'static [f32], *mut f32, f32)>`: a token with the kernel's name and
/// parameter types from which a launch can be checked at compile time.
///
/// Arguments, all optional:
/// - `launch_bounds(max_threads)` or `launch_bounds(max_threads, min_blocks_per_multiprocessor)`:
///   the PTX directives `.maxntid` and `.minnctapersm`. Constant expressions are allowed.
/// - `cluster(x)`, `cluster(x, y)`, `cluster(x, y, z)`: the PTX directive `.reqnctapercluster`.
///   Implies `min_compute_capability = 90`.
/// - `min_compute_capability = 80`: the entry exists only in PTX for compute capability 8.0 and newer.
///   `90a`: only in PTX for 9.0 alone, which has instructions that no other has; `100f`: only in PTX for 10.0's family.
/// - `spills_to_shared`: registers that do not suffice spill to shared memory instead of local memory, where the driver's
///   assembler can (CUDA 13.0). It needs launch bounds, and takes shared memory for each thread of the block.
/// - `uses_local_memory`: the kernel has an array in local memory on purpose. Without it `cuda_builder` warns of such an
///   array, which is slow and rarely meant.
///
/// - `block = 256` or `block(32, 8)`: the PTX directive `.reqntid`. The kernel is then a safe `fn`, whose parameters say
///   what each thread may write: see `cuda_std::safe`.
/// - `same_length(x, y)`: these parameters of a safe kernel have equal lengths, which its launch checks.
///
/// - `T = [f32, f64]`, `N = [4, 8]`: what the parameters of a generic kernel stand for. Each combination is a kernel with an
///   entry and a token of its own, named after it: `scale_f32`. What is generic itself remains a function of that name.
///
/// Any other kernel must be an `unsafe fn`. No kernel may have a return value, `self`, `async`, `const` or variadic
/// arguments.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = parse_macro_input!(arguments as signature::Arguments);
    let item = parse_macro_input!(item as ItemFn);
    let expansion = if arguments.instances.is_empty() {
        kernel::expand(arguments, item)
    } else {
        instances::expand(&arguments, &item)
    };
    expansion.unwrap_or_else(Error::into_compile_error).into()
}

/// Lets a `#[repr(C)]` structure of plain fields be passed to kernels by value, and be the elements of cust's buffers: it
/// becomes `cuda_std::kernel::ByValue` and, on the host and with the feature `cust` of `cuda_std`, cust's `DeviceCopy`. It must be `Clone` and `Copy`, too.
///
/// ```ignore
/// #[derive(Clone, Copy, Argument)]
/// #[repr(C)]
/// pub struct Step { pub factor: f32, pub offset: u32 }
/// ```
///
/// Padding does not compile, because its bytes have no value; nor do references and pointers, which mean nothing
/// elsewhere.
#[proc_macro_derive(Argument)]
pub fn argument(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as syn::DeriveInput);
    argument::expand(item).unwrap_or_else(Error::into_compile_error).into()
}

/// Places a static in a memory space of the device: `shared`, `constant`, `global` or `managed`.
///
/// - `#[address_space(shared)] static mut TILE: MaybeUninit<[f32; 1024]> = MaybeUninit::uninit();`
///   is one array per block (`.shared` in PTX). It must be `static mut`, its type must contain
///   `MaybeUninit`, and it starts out uninitialized.
/// - `#[address_space(constant)] pub static mut TABLE: [f32; 64] = [0.0; 64];` is constant memory
///   (`.const` in PTX) that the host fills by name before a launch. A kernel must only read it.
///   Without `mut` its value is the initializer for ever, and the compiler uses it as such.
/// - `#[address_space(global)] pub static mut COUNT: u32 = 0;` is device memory (`.global` in PTX)
///   that the host finds by name.
/// - `#[address_space(managed)] pub static mut COUNT: u32 = 0;` is the same in managed memory
///   (`.global .attribute(.managed)` in PTX, `__managed__` in CUDA C++): the host finds it by name and
///   uses it at the address that kernels use. It must be `static mut`.
///
/// The macro changes nothing on the host.
#[proc_macro_attribute]
pub fn address_space(space: TokenStream, item: TokenStream) -> TokenStream {
    let space = parse_macro_input!(space as address_space::Space);
    let item = parse_macro_input!(item as ItemStatic);
    address_space::expand(space, item).unwrap_or_else(Error::into_compile_error).into()
}

/// Gives a function that only makes sense on the device a twin on the host which panics with the
/// message that it was called outside a kernel.
#[proc_macro_attribute]
pub fn gpu_only(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = parse_macro_input!(arguments as gpu_only::NoArguments);
    let item = parse_macro_input!(item as ItemFn);
    gpu_only::expand(arguments, item).into()
}

/// Keeps a device function in the PTX although no kernel calls it, for other PTX to link with.
///
/// The function must have a fixed name, so `#[unsafe(no_mangle)]` or `#[unsafe(export_name = ..)]`.
/// rustc keeps such a function by itself, so that this macro only checks.
#[proc_macro_attribute]
pub fn externally_visible(arguments: TokenStream, item: TokenStream) -> TokenStream {
    parse_macro_input!(arguments as gpu_only::NoArguments);
    let item = parse_macro_input!(item as ItemFn);
    gpu_only::check_visible(item).unwrap_or_else(Error::into_compile_error).into()
}

/// Returns what `cuda_std::print!` and `println!` become: see `cuda_std::io`.
#[doc(hidden)]
#[proc_macro]
pub fn formatted(input: TokenStream) -> TokenStream {
    print::expand(parse_macro_input!(input as print::Print)).into()
}

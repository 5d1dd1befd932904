//! Kernels that are safe functions: what their parameters may be, and the shared memory among these.

use crate::signature::{Arguments, Parameter, Passing, is_safe, ungroup};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, ItemFn, Pat, Result, Type, TypePath};

/// The types of `cuda_std::safe` that a launch passes as a pointer and an extent.
const SPLIT: [&str; 5] =
    ["PerThread", "PerBlock", "Plane", "PlanePerThread", "TransposedPlanePerThread"];

/// Whether a type is one of those.
pub fn is_split(path: &TypePath) -> bool {
    last(path).is_some_and(|name| SPLIT.iter().any(|split| name == split))
}

/// Whether a type is the block's shared memory.
pub fn is_tile(path: &TypePath) -> bool {
    last(path).is_some_and(|name| name == "Tile")
}

fn last(path: &TypePath) -> Option<&syn::Ident> {
    path.path.segments.last().map(|segment| &segment.ident)
}

/// Refuses what a kernel must not say, or not say together.
pub fn check(arguments: &Arguments, item: &ItemFn, parameters: &[Parameter]) -> Result<()> {
    if !is_safe(item) {
        let needs_block = parameters
            .iter()
            .find(|parameter| matches!(parameter.passing, Passing::Split | Passing::Tile));
        if let Some(parameter) = needs_block {
            return Err(Error::new_spanned(
                &parameter.kind,
                "this type is for kernels that are safe functions: remove the `unsafe` and say the block, \
                 `#[kernel(block = 256)]`, or take a pointer",
            ));
        }
        if arguments.block.is_some() || arguments.same_length.is_some() {
            return Err(Error::new_spanned(
                &item.sig.ident,
                "`block` and `same_length` are checked at launches of kernels that are safe functions: remove the \
                 `unsafe`, or write the contract in words",
            ));
        }
        return Ok(());
    }
    if let (Some(_), Some(bounds)) = (&arguments.block, &arguments.launch_bounds)
        && let Some(most) = bounds.first()
    {
        return Err(Error::new_spanned(
            most,
            "`block` says how many threads a block has: `launch_bounds` would say it again",
        ));
    }
    for parameter in parameters {
        match (&parameter.passing, ungroup(&parameter.kind)) {
            (Passing::Slice { mutable: true, .. }, _) => {
                return Err(Error::new_spanned(
                    &parameter.kind,
                    "all threads would have the same mutable slice: take a `cuda_std::safe::PerThread`, of which each \
                     thread may write its own element",
                ));
            }
            (Passing::Direct, Type::Ptr(_) | Type::Reference(_)) => {
                return Err(Error::new_spanned(
                    &parameter.kind,
                    "a kernel that is a safe function cannot know what a pointer points to: take a slice or a type of \
                     `cuda_std::safe`, or make the kernel an `unsafe fn`",
                ));
            }
            _ => {}
        }
    }
    for name in arguments.same_length.iter().flatten() {
        let found = parameters.iter().find(|parameter| parameter.name == *name);
        if !found.is_some_and(has_length) {
            return Err(Error::new_spanned(
                name,
                "`same_length` names parameters that are slices, `PerThread` or `PerBlock`",
            ));
        }
    }
    Ok(())
}

/// Whether a parameter has a length, and not two or none.
fn has_length(parameter: &Parameter) -> bool {
    match (&parameter.passing, ungroup(&parameter.kind)) {
        (Passing::Slice { .. }, _) => true,
        (Passing::Split, Type::Path(path)) => {
            last(path).is_some_and(|name| name == "PerThread" || name == "PerBlock")
        }
        _ => false,
    }
}

/// The statements that tell the compiler of the block, so that it checks nothing against what is always so.
pub fn known_block(extents: &[TokenStream; 3]) -> TokenStream {
    let axes = ["x", "y", "z"].iter().zip(extents).map(|(axis, extent)| {
        let dim = quote::format_ident!("block_dim_{axis}");
        let idx = quote::format_ident!("thread_idx_{axis}");
        quote! {
            // SAFETY: the entry requires this block (`.reqntid`): a launch with another is refused.
            unsafe {
                ::core::hint::assert_unchecked(::cuda_std::thread::#dim() == #extent);
                ::core::hint::assert_unchecked(::cuda_std::thread::#idx() < #extent);
            }
        }
    });
    quote!(#(#axes)*)
}

/// The statement that makes a tile of a static in shared memory.
pub fn tile(pattern: &Pat, kind: &Type) -> TokenStream {
    quote! {
        let #pattern: #kind = {
            #[unsafe(link_section = ".shared")]
            #[used]
            static mut CELLS: ::core::mem::MaybeUninit<<#kind as ::cuda_std::safe::Shared>::Cells> =
                ::core::mem::MaybeUninit::uninit();
            // SAFETY: this static is of this parameter alone, and a kernel with a tile has a block of one or two
            // dimensions, which the launch checks.
            unsafe { <#kind as ::cuda_std::safe::Shared>::in_memory(&raw mut CELLS) }
        };
    }
}

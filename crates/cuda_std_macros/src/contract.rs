//! Kernels that are safe functions: what their parameters may be, and the shared memory among these.

use crate::lifetimes::{last, with_static_lifetimes};
use crate::signature::{Arguments, Parameter, Passing, is_safe, ungroup};
use proc_macro2::TokenStream;
use quote::quote;
use syn::visit::{self, Visit};
use syn::{Error, ExprPath, ItemFn, Lifetime, Result, Type};

/// Refuses what a kernel must not say, or not say together.
pub fn check(arguments: &Arguments, item: &ItemFn, parameters: &[Parameter]) -> Result<()> {
    if !is_safe(item) {
        let needs_block =
            parameters.iter().find(|parameter| parameter.passing.is_for_safe_kernels());
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
    let mut blocks = parameters.iter().filter(|it| matches!(it.passing, Passing::Block));
    if let Some(second) = blocks.nth(1) {
        return Err(Error::new_spanned(&second.kind, "a thread has one block: take `Block` once"));
    }
    let mut refused = Refused::default();
    for parameter in parameters {
        refused.visit_type(&parameter.kind);
    }
    for statement in &item.block.stmts {
        refused.visit_stmt(statement);
    }
    if let Some(error) = refused.0 {
        return Err(error);
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

/// Finds what a safe kernel may not say: in its parameters `'static`, in its body barriers of whole warps.
#[derive(Default)]
struct Refused(Option<Error>);

impl<'a> Visit<'a> for Refused {
    fn visit_lifetime(&mut self, lifetime: &'a Lifetime) {
        if lifetime.ident == "static" {
            let message =
                "a parameter of a safe kernel ends with the launch: leave the lifetime out";
            self.0.get_or_insert_with(|| Error::new_spanned(lifetime, message));
        }
    }

    fn visit_expr_path(&mut self, path: &'a ExprPath) {
        let mut names = path.path.segments.iter().rev().map(|segment| segment.ident.to_string());
        let (last, module) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
        let is_sync = last == "sync" && ["cluster", "grid"].contains(&module.as_str());
        if is_sync || last.starts_with("sync_threads") {
            let message = "this barrier may only stand where whole warps come together, which the compiler cannot check: \
                           take `block: cuda_std::safe::Block` and call `block.sync()` or `block.count(..)`, or make \
                           the kernel an `unsafe fn`";
            self.0.get_or_insert_with(|| Error::new_spanned(path, message));
        }
        visit::visit_expr_path(self, path);
    }
}

/// Returns whether a parameter has a length, and not two or none.
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

/// The expression that makes a tile of a static in shared memory.
pub fn tile(kind: &Type, launch: &syn::Ident) -> TokenStream {
    let cells = with_static_lifetimes(kind);
    quote! {
        {
            #[unsafe(link_section = ".shared")]
            #[used]
            static mut CELLS: ::core::mem::MaybeUninit<<#cells as ::cuda_std::safe::Shared<'static>>::Cells> =
                ::core::mem::MaybeUninit::uninit();
            // SAFETY: this static is of this parameter alone, and the block has one or two dimensions; others do not
            // compile.
            unsafe {
                <#kind as ::cuda_std::safe::Shared<'_>>::in_memory(&raw mut CELLS, &#launch)
            }
        }
    }
}

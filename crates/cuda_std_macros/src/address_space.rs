//! `#[address_space(..)]`: which section a static is put into, and what the builder makes of it.
//!
//! The section is a message to `cuda_builder`, which turns it into an LLVM address space.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Error, Expr, Ident, ItemStatic, Result, StaticMutability};

/// The memory spaces a static can be placed in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Space {
    Shared,
    Constant,
    Global,
    Managed,
}

impl Parse for Space {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        const EXPECTED: &str =
            "expected a memory space: `shared`, `constant`, `global` or `managed`";
        let name: Ident = input.parse().map_err(|error| Error::new(error.span(), EXPECTED))?;
        let space = match name.to_string().as_str() {
            "shared" => Space::Shared,
            "constant" => Space::Constant,
            "global" => Space::Global,
            "managed" => Space::Managed,
            "local" => {
                return Err(Error::new(
                    name.span(),
                    "a static cannot be in local memory, which belongs to one thread: \
                     use a `let` binding",
                ));
            }
            _ => return Err(Error::new(name.span(), EXPECTED)),
        };
        if input.is_empty() { Ok(space) } else { Err(input.error("expected one memory space")) }
    }
}

/// The static with the attributes of its space on the device, unchanged on the host.
pub fn expand(space: Space, item: ItemStatic) -> Result<TokenStream> {
    let mutable = matches!(item.mutability, StaticMutability::Mut(_));
    match space {
        Space::Shared => {
            if !mutable {
                return Err(Error::new(
                    item.static_token.span(),
                    "shared memory starts uninitialized and is only useful when it is written: \
                     declare it `static mut`",
                ));
            }
            if !mentions_maybe_uninit(&item) {
                return Err(Error::new_spanned(
                    &item.ty,
                    "shared memory starts uninitialized: wrap the type in \
                     `core::mem::MaybeUninit` and initialize it with `MaybeUninit::uninit()`",
                ));
            }
            if let Some(initializer) = certain_value(&item.expr) {
                return Err(Error::new_spanned(
                    initializer,
                    "shared memory cannot be initialized at launch: initialize it with \
                     `MaybeUninit::uninit()` and write it in the kernel",
                ));
            }
        }
        Space::Managed if !mutable => {
            return Err(Error::new(
                item.static_token.span(),
                "a managed static is for host and device to write: declare it `static mut`, or \
                 place it in `constant` memory",
            ));
        }
        Space::Constant | Space::Global | Space::Managed => {}
    }

    Ok(match space {
        // `#[used]` keeps LLVM from believing that it sees every access, which would allow it to
        // move loads of shared memory over barriers.
        Space::Shared => quote! {
            #[cfg_attr(target_arch = "nvptx64", unsafe(link_section = ".shared"), used)]
            #item
        },
        Space::Constant => named(".constant", &item),
        Space::Global => named(".global", &item),
        Space::Managed => named(".managed", &item),
    })
}

/// A static that the host finds by its name: on the host, where it may be written, by the type of that name.
fn named(section: &str, item: &ItemStatic) -> TokenStream {
    let ItemStatic { attrs, vis, ident, ty, .. } = item;
    let conditions: Vec<_> =
        attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).collect();
    let name = ident.to_string();
    let value = match (&item.mutability, ty.as_ref()) {
        (StaticMutability::Mut(_), ty) => Some(quote!(#ty)),
        (_, syn::Type::Path(path))
            if path.path.segments.last().is_some_and(|last| last.ident == "Constant") =>
        {
            Some(quote!(<#ty as ::cuda_std::safe::HostWritten>::Value))
        }
        _ => None,
    };
    let symbol = value.map(|value| {
        let documentation = format!("The static `{name}`, for the host to write.");
        quote! {
            #[cfg(not(target_arch = "nvptx64"))]
            #(#conditions)*
            #[allow(non_camel_case_types)]
            #[doc = #documentation]
            #vis enum #ident {}

            #[cfg(not(target_arch = "nvptx64"))]
            #(#conditions)*
            // SAFETY: the static beside it.
            unsafe impl ::cuda_std::kernel::Symbol for #ident {
                type Value = #value;
                const NAME: &'static str = #name;
            }
        }
    });
    quote! {
        #[cfg_attr(
            target_arch = "nvptx64",
            unsafe(link_section = #section),
            unsafe(no_mangle),
            used
        )]
        #item
        #symbol
    }
}

/// Returns whether the type names `MaybeUninit` anywhere. A type alias hides it, so a plain path of one
/// segment other than the primitive types passes too.
fn mentions_maybe_uninit(item: &ItemStatic) -> bool {
    const PRIMITIVES: [&str; 16] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
        "f32", "f64", "bool", "char",
    ];
    fn innermost(kind: &syn::Type) -> &syn::Type {
        match kind {
            syn::Type::Array(array) => innermost(&array.elem),
            syn::Type::Paren(paren) => innermost(&paren.elem),
            syn::Type::Group(group) => innermost(&group.elem),
            other => other,
        }
    }
    match innermost(&item.ty) {
        syn::Type::Path(path) => !PRIMITIVES.iter().any(|primitive| path.path.is_ident(primitive)),
        _ => false,
    }
}

/// The part of the initializer that certainly is a value: a literal, or `MaybeUninit::new(..)`.
fn certain_value(expression: &Expr) -> Option<&Expr> {
    match expression {
        Expr::Lit(_) => Some(expression),
        Expr::Array(array) => array.elems.iter().find_map(certain_value),
        Expr::Repeat(repeat) => certain_value(&repeat.expr),
        Expr::Group(group) => certain_value(&group.expr),
        Expr::Paren(paren) => certain_value(&paren.expr),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path)
                if path.path.segments.len() >= 2
                    && path.path.segments.iter().rev().nth(1)?.ident == "MaybeUninit"
                    && ["new", "zeroed"]
                        .iter()
                        .any(|name| path.path.segments.last().is_some_and(|s| s.ident == name)) =>
            {
                Some(expression)
            }
            _ => None,
        },
        _ => None,
    }
}

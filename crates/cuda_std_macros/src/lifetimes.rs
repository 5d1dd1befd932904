//! The types of `cuda_std::safe`, as a signature names them, and the lifetimes that it leaves out.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{GenericArgument, Ident, Lifetime, PathArguments, Type, TypePath, TypeReference};

/// The types that a launch passes as a pointer and an extent.
const SPLIT: [&str; 5] =
    ["PerThread", "PerBlock", "Plane", "PlanePerThread", "TransposedPlanePerThread"];

/// The position among those of a type that is one.
pub fn split(path: &TypePath) -> Option<usize> {
    let name = last(path)?;
    SPLIT.iter().position(|split| name == split)
}

/// Returns whether a type is the block's shared memory.
pub fn is_tile(path: &TypePath) -> bool {
    last(path).is_some_and(|name| name == "Tile")
}

/// Returns whether a type is the block as a value.
pub fn is_block(path: &TypePath) -> bool {
    last(path).is_some_and(|name| name == "Block")
}

/// The name of a type without its path.
pub fn last(path: &TypePath) -> Option<&Ident> {
    path.path.segments.last().map(|segment| &segment.ident)
}

/// The type with every lifetime replaced by `'static`.
pub fn with_static_lifetimes(kind: &Type) -> Type {
    with_lifetimes(kind, "'static")
}

/// The type with every lifetime left to be inferred.
pub fn with_inferred_lifetimes(kind: &Type) -> Type {
    with_lifetimes(kind, "'_")
}

fn with_lifetimes(kind: &Type, name: &'static str) -> Type {
    struct Rename(&'static str);
    impl VisitMut for Rename {
        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            *lifetime = Lifetime::new(self.0, lifetime.span());
        }
        fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
            if reference.lifetime.is_none() {
                reference.lifetime = Some(Lifetime::new(self.0, reference.and_token.span));
            }
            visit_mut::visit_type_reference_mut(self, reference);
        }
        fn visit_type_path_mut(&mut self, path: &mut TypePath) {
            visit_mut::visit_type_path_mut(self, path);
            // The types that borrow from the launch leave their lifetime out.
            let is_split = split(path).is_some();
            if let Some(last) = path.path.segments.last_mut()
                && is_split
                && let PathArguments::AngleBracketed(arguments) = &mut last.arguments
                && !matches!(arguments.args.first(), Some(GenericArgument::Lifetime(_)))
            {
                let lifetime = Lifetime::new(self.0, last.ident.span());
                arguments.args.insert(0, GenericArgument::Lifetime(lifetime));
            }
        }
    }
    let mut kind = kind.clone();
    Rename(name).visit_type_mut(&mut kind);
    kind
}

/// The tokens as if the macro had written them: lints do not look into what a macro of another crate expands to, and
/// would take an item for the user's that begins with the user's word.
pub fn as_own(tokens: impl ToTokens) -> TokenStream {
    let own = |token: TokenTree| match token {
        TokenTree::Group(group) => {
            let inside = group.stream().into_iter().map(|mut token| {
                token.set_span(Span::mixed_site());
                token
            });
            Group::new(group.delimiter(), inside.collect()).into()
        }
        mut token => {
            token.set_span(Span::mixed_site());
            token
        }
    };
    tokens.into_token_stream().into_iter().map(own).collect()
}

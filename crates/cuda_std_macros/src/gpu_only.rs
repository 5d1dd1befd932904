use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, ItemFn, Meta, Result, Signature};

/// The empty argument list of an attribute.
pub struct NoArguments;

impl Parse for NoArguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.is_empty() {
            Ok(NoArguments)
        } else {
            Err(input.error("this attribute takes no arguments"))
        }
    }
}

/// The device function as written and its host twin, which panics.
pub fn expand(_: NoArguments, item: ItemFn) -> TokenStream {
    let ItemFn { attrs, vis, sig, block, .. } = &item;
    let host = Signature { abi: None, ..sig.clone() };
    let message = format!(
        "`{}` was called outside a kernel: it exists only on the device (nvptx64)",
        sig.ident
    );
    quote! {
        #[cfg(target_arch = "nvptx64")]
        #(#attrs)*
        #vis #sig #block

        #[cfg(not(target_arch = "nvptx64"))]
        #[allow(unused_variables, clippy::needless_pass_by_value)]
        #(#attrs)*
        #vis #host {
            ::core::panic!(#message)
        }
    }
}

/// The function unchanged, or an error when nothing fixes its name.
pub fn check_visible(item: ItemFn) -> Result<TokenStream> {
    if item.attrs.iter().any(fixes_name) {
        Ok(item.into_token_stream())
    } else {
        Err(Error::new_spanned(
            &item.sig.ident,
            "an externally visible function needs a fixed name: add `#[unsafe(no_mangle)]`",
        ))
    }
}

/// Returns whether the attribute is `no_mangle` or `export_name`, plain or within `unsafe(..)`.
pub fn fixes_name(attribute: &Attribute) -> bool {
    let names = ["no_mangle", "export_name"];
    if names.iter().any(|name| attribute.path().is_ident(name)) {
        return true;
    }
    match &attribute.meta {
        Meta::List(list) if list.path.is_ident("unsafe") => {
            let inner = list.tokens.to_string();
            names.iter().any(|name| inner.starts_with(name))
        }
        _ => false,
    }
}

//! `#[derive(Argument)]`: a structure that host and device share.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Result};

/// The marks of the structure, and the checks that it deserves them.
pub fn expand(item: DeriveInput) -> Result<TokenStream> {
    let name = &item.ident;
    let Data::Struct(data) = &item.data else {
        return Err(Error::new_spanned(
            name,
            "only a structure can be an argument: of an enumeration or a union some bytes are no value",
        ));
    };
    if let Some(parameter) = item.generics.params.first() {
        return Err(Error::new_spanned(
            parameter,
            "an argument has one layout: give the structure no parameters, and no lifetime, because a reference of the \
             host means nothing on the device",
        ));
    }
    let is_laid_out = item.attrs.iter().any(|attribute| {
        attribute.path().is_ident("repr")
            && attribute.meta.require_list().is_ok_and(|list| {
                let text = list.tokens.to_string();
                text.split(',').any(|word| matches!(word.trim(), "C" | "transparent"))
            })
    });
    if !is_laid_out {
        return Err(Error::new_spanned(
            name,
            "write `#[repr(C)]`: without it host and device may lay the fields out in different orders",
        ));
    }
    if matches!(data.fields, Fields::Unit) {
        return Err(Error::new_spanned(name, "a structure without fields has no bytes to pass"));
    }
    let kinds: Vec<_> = data.fields.iter().map(|field| &field.ty).collect();
    let checks = kinds
        .iter()
        .map(|kind| quote_spanned!(kind.span() => ::cuda_std::kernel::check_field::<#kind>();));
    let padding = format!(
        "`{name}` has padding, bytes that belong to no field: order the fields by falling size, or add a field for them"
    );
    Ok(quote! {
        // SAFETY: `repr(C)`; all fields are `ByValue`, and there are no bytes beside them (checked below).
        unsafe impl ::cuda_std::kernel::ByValue for #name {}
        ::cuda_std::device_copy!(#name);
        const _: () = {
            #(#checks)*
            assert!(::core::mem::size_of::<#name>() == 0 #(+ ::core::mem::size_of::<#kinds>())*, #padding);
        };
    })
}

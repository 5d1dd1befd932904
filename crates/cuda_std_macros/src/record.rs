//! The device build's record of a kernel: its directives, for `cuda_builder`, and its signature, which a launch compares
//! with the host's.

use crate::lifetimes::split;
use crate::signature::{Arguments, Parameter, Passing, is_safe, ungroup};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ItemFn, LitInt, Type};

/// The format number of the attribute record that `cuda_builder` reads.
const ATTRIBUTE_FORMAT: u32 = 3;

/// The oldest compute capability with thread block clusters.
const CLUSTER_CAPABILITY: u32 = 90;

/// The kernel's name in the device build, with its crate's before it and its line behind it: two crates may have kernels of
/// one name. `cuda_builder` gives the entry its plain name, unless another has it.
pub fn path(item: &ItemFn) -> String {
    let krate = std::env::var("CARGO_CRATE_NAME").unwrap_or_default();
    let name = &item.sig.ident;
    format!("{krate}${name}${}", name.span().unwrap().line())
}

/// Returns what host and device must agree on, as words: whether the kernel is safe, its block, which parameters are
/// equally long, and of each parameter that is passed its kind and the size and alignment of its value or element.
pub fn signature(arguments: &Arguments, item: &ItemFn, parameters: &[Parameter]) -> TokenStream {
    let is_safe = u32::from(is_safe(item));
    let block = extents(arguments.block.as_deref());
    let passed: Vec<&Parameter> = parameters.iter().filter(|it| it.passing.is_passed()).collect();
    let same = arguments.same_length.as_deref().unwrap_or_default();
    let same = passed.iter().enumerate().filter(|(_, it)| same.contains(&it.name));
    let same = same.fold(0_u32, |mask, (index, _)| mask | 1 << (index % 32));
    let words = passed.iter().map(|parameter| {
        let (kind, element) = recorded(parameter);
        quote! {
            #kind,
            ::core::mem::size_of::<#element>() as u32,
            ::core::mem::align_of::<#element>() as u32
        }
    });
    quote!([#is_safe, #(#block,)* #same, #(#words),*])
}

/// The record from which `cuda_builder` takes the entry's directives, and what a launch compares with the host's.
pub fn attribute_record(
    arguments: &Arguments,
    item: &ItemFn,
    parameters: &[Parameter],
) -> TokenStream {
    let memory = u32::from(arguments.local_memory.is_some())
        | u32::from(arguments.shared_spills.is_some()) << 1;
    let conditions = item.attrs.iter().filter(|attribute| is_condition(attribute));
    let since = since_condition(arguments);
    let symbol = format!("__coalesce_attributes_{}", path(item));
    let [max_threads, min_blocks] = launch_bounds(arguments);
    let [x, y, z] = cluster(arguments);
    let signature = signature(arguments, item, parameters);
    quote! {
        #[cfg(target_arch = "nvptx64")]
        #since
        #(#conditions)*
        #[allow(clippy::unnecessary_cast)]
        const _: () = {
            const SIGNATURE: &[u32] = &#signature;
            #[unsafe(export_name = #symbol)]
            #[used]
            pub static ATTRIBUTES: [u32; 7 + SIGNATURE.len()] = {
                let mut words = [0; 7 + SIGNATURE.len()];
                let head =
                    [#ATTRIBUTE_FORMAT, #max_threads, #min_blocks, #x, #y, #z, #memory];
                let mut at = 0;
                while at < words.len() {
                    words[at] = if at < 7 { head[at] } else { SIGNATURE[at - 7] };
                    at += 1;
                }
                words
            };
        };
    }
}

/// The name of a parameter's kind in the record of a kernel, and its element, if it points to any.
fn recorded(parameter: &Parameter) -> (u32, TokenStream) {
    let kind = &parameter.kind;
    match (&parameter.passing, ungroup(kind)) {
        (Passing::Slice { element, mutable, .. }, _) => (1 + u32::from(*mutable), quote!(#element)),
        (Passing::Split, Type::Path(path)) => {
            let element = quote!(<#kind as ::cuda_std::safe::Passed>::Element);
            (8 + split(path).unwrap_or(0) as u32, element)
        }
        (_, Type::Ptr(pointer)) => {
            let element = &pointer.elem;
            let mutable = matches!(pointer.mutability, syn::PointerMutability::Mut(_));
            (3 + u32::from(mutable), quote!(#element))
        }
        (_, Type::Reference(reference)) => {
            let element = &reference.elem;
            (5 + u32::from(reference.mutability.is_some()), quote!(#element))
        }
        _ => (0, quote!(#kind)),
    }
}

/// The oldest compute capability of the kernel, 0 for any.
pub fn since(arguments: &Arguments) -> u32 {
    let given = arguments.min_compute_capability.as_ref().map_or(0, |literal| {
        literal.base10_parse().expect("the parser has read this literal as u32")
    });
    if arguments.cluster.is_some() { given.max(CLUSTER_CAPABILITY) } else { given }
}

/// The `cfg` attribute of the oldest compute capability. It is one of its own, behind that of the architecture, so that the
/// host's compiler, which does not know the capabilities, never evaluates it.
pub fn since_condition(arguments: &Arguments) -> TokenStream {
    match since(arguments) {
        0 => TokenStream::new(),
        capability => {
            let literal = arguments.min_compute_capability.as_ref();
            let suffix = literal.map_or("", LitInt::suffix);
            let feature = format!("compute_{capability}{suffix}");
            quote!(#[cfg(target_feature = #feature)])
        }
    }
}

/// The launch bounds, 0 where not given.
pub fn launch_bounds(arguments: &Arguments) -> [TokenStream; 2] {
    let given = arguments.launch_bounds.as_deref().unwrap_or_default();
    [0, 1].map(|index| given.get(index).map_or_else(|| quote!(0), constant))
}

/// The cluster's extent.
pub fn cluster(arguments: &Arguments) -> [TokenStream; 3] {
    extents(arguments.cluster.as_deref())
}

/// Up to three extents: 0 where none is given, 1 in directions not given.
pub fn extents(given: Option<&[Expr]>) -> [TokenStream; 3] {
    match given {
        None => [(); 3].map(|()| quote!(0)),
        Some(given) => [0, 1, 2].map(|index| given.get(index).map_or_else(|| quote!(1), constant)),
    }
}

/// A constant expression of any integer type as `u32`, unless it is a literal already.
fn constant(expression: &Expr) -> TokenStream {
    match expression {
        Expr::Lit(_) => quote!(#expression),
        _ => quote_spanned!(expression.span() => (#expression) as u32),
    }
}

/// Returns whether an attribute is a condition of the item.
pub fn is_condition(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
}

//! `#[kernel]`: the entry on the device, the typed token on the host.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, FnArg, GenericParam, ItemFn, Pat, PatType, Result, ReturnType, Type,
    TypeReference,
};

use crate::contract;
use crate::gpu_only::fixes_name;
use crate::lifetimes::{
    as_own, is_block, is_tile, split, with_inferred_lifetimes, with_static_lifetimes,
};
use crate::record::{
    attribute_record, cluster, extents, is_condition, launch_bounds, path, signature, since,
    since_condition,
};
use crate::signature::{Arguments, Parameter, Passing, is_safe, ungroup};

/// Expands `#[kernel(..)] unsafe fn ..`.
pub fn expand(arguments: Arguments, item: ItemFn) -> Result<TokenStream> {
    check_signature(&arguments, &item)?;
    let parameters = item
        .sig
        .inputs
        .iter()
        .enumerate()
        .map(|(index, input)| match input {
            FnArg::Typed(typed) => parameter(index, typed),
            FnArg::Receiver(receiver) => Err(Error::new_spanned(
                receiver,
                "a kernel cannot be a method: it is launched by name, without `self`",
            )),
        })
        .collect::<Result<Vec<_>>>()?;
    contract::check(&arguments, &item, &parameters)?;

    let device = device_entry(&arguments, &item, &parameters);
    let record = attribute_record(&arguments, &item, &parameters);
    let token = host_token(&arguments, &item, &parameters);
    let checks = parameter_checks(&arguments, &item, &parameters);
    Ok(quote! {
        #device
        #record
        #token
        #checks
    })
}

/// Everything in a signature that has no meaning for a launch, reported together.
fn check_signature(arguments: &Arguments, item: &ItemFn) -> Result<()> {
    let signature = &item.sig;
    let mut errors: Vec<Error> = Vec::new();
    if is_safe(item) && arguments.block.is_none() {
        errors.push(Error::new(
            signature.fn_token.span,
            "a kernel must be an `unsafe fn`: its launch contract (grid, block, valid pointers) \
             cannot be checked by the compiler; or say its block, `#[kernel(block = 256)]`, and take no pointers",
        ));
    }
    if let ReturnType::Type(arrow, kind) = &signature.output {
        errors.push(Error::new(
            arrow.span().join(kind.span()).unwrap_or_else(|| kind.span()),
            "a kernel returns nothing: write results through a pointer or a mutable slice",
        ));
    }
    for parameter in &signature.generics.params {
        if !matches!(parameter, GenericParam::Lifetime(_)) {
            errors.push(Error::new_spanned(
                parameter,
                "an entry has one name and one parameter layout: say which instances of this generic kernel to make, \
                 `#[kernel(T = [f32, f64])]`",
            ));
        }
    }
    if let Some(token) = &signature.asyncness {
        errors.push(Error::new_spanned(token, "a kernel cannot be `async`"));
    }
    if let Some(token) = &signature.constness {
        errors.push(Error::new_spanned(token, "a kernel cannot be `const`"));
    }
    if let Some(abi) = &signature.abi {
        errors.push(Error::new_spanned(abi, "`#[kernel]` chooses the ABI: remove the `extern`"));
    }
    if let Some(variadic) = &signature.variadic {
        errors.push(Error::new_spanned(variadic, "a kernel cannot be variadic"));
    }
    for attribute in item.attrs.iter().filter(|attribute| fixes_name(attribute)) {
        errors.push(Error::new_spanned(
            attribute,
            "`#[kernel]` already makes the entry's name that of the function",
        ));
    }
    match errors.into_iter().reduce(|mut all, error| {
        all.combine(error);
        all
    }) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Reads how a parameter is passed from its type.
fn parameter(index: usize, typed: &PatType) -> Result<Parameter> {
    let name = match &*typed.pat {
        Pat::Ident(pattern) => pattern.ident.clone(),
        other => format_ident!("argument_{index}", span = other.span()),
    };
    let kind = (*typed.ty).clone();
    let passing = match ungroup(&kind) {
        Type::Reference(TypeReference { lifetime, mutability, elem, .. }) => match ungroup(elem) {
            Type::Slice(slice) => Passing::Slice {
                element: slice.elem.clone(),
                lifetime: lifetime.clone(),
                mutable: mutability.is_some(),
            },
            Type::Path(path) if path.path.is_ident("str") => {
                return Err(Error::new_spanned(
                    &kind,
                    "a kernel cannot take `&str`: pass its bytes as `&[u8]`",
                ));
            }
            Type::TraitObject(_) => {
                return Err(Error::new_spanned(
                    &kind,
                    "a kernel cannot take a trait object: its table of functions is host memory",
                ));
            }
            _ => Passing::Direct,
        },
        Type::ImplTrait(_) => {
            return Err(Error::new_spanned(
                &kind,
                "a kernel cannot be generic: name the parameter's type",
            ));
        }
        Type::Path(path) if split(path).is_some() => Passing::Split,
        Type::Path(path) if is_tile(path) => Passing::Tile,
        Type::Path(path) if is_block(path) => Passing::Block,
        _ => Passing::Direct,
    };
    Ok(Parameter { name, pattern: (*typed.pat).clone(), kind, passing })
}

/// The PTX entry: the body, after each slice has been rebuilt from its pointer and length.
///
/// The parameters of a safe kernel borrow from a local value, so that none outlives the launch, and its body may do nothing
/// unsafe. It is no function of its own, because every line of it would then be inlined code to a debugger.
fn device_entry(arguments: &Arguments, item: &ItemFn, parameters: &[Parameter]) -> TokenStream {
    let name = &item.sig.ident;
    let visibility = as_own(&item.vis);
    let generics = &item.sig.generics;
    let where_clause = &item.sig.generics.where_clause;
    let attributes = &item.attrs;
    let since = since_condition(arguments);
    let is_safe = is_safe(item);
    let launch = format_ident!("launch", span = Span::mixed_site());
    let block = extents(arguments.block.as_deref());

    let mut declarations = Vec::new();
    // Of each parameter its pattern, its type, and the expression that makes it.
    let mut made: Vec<(TokenStream, TokenStream)> = Vec::new();
    for parameter in parameters {
        let Parameter { name, pattern, kind, passing } = parameter;
        let pointer = format_ident!("{name}_pointer", span = Span::mixed_site());
        let length = format_ident!("{name}_length", span = Span::mixed_site());
        // Of parameters that are equally long one length serves for all, so that a check of one is a check of all.
        let shared_length = match arguments.same_length.as_deref() {
            Some(names @ [first, ..]) if names.contains(name) => {
                format_ident!("{first}_length", span = Span::mixed_site())
            }
            _ => length.clone(),
        };
        let made_kind = if is_safe { with_inferred_lifetimes(kind) } else { kind.clone() };
        let bound = quote!(#pattern: #made_kind);
        let (element, lifetime, mutable) = match passing {
            Passing::Direct => {
                declarations.push(quote!(#pattern: #kind));
                continue;
            }
            Passing::Tile => {
                made.push((bound, contract::tile(&made_kind, &launch)));
                continue;
            }
            Passing::Block => {
                let value = quote! {
                    // SAFETY: the only call of this thread.
                    unsafe { <#made_kind as ::cuda_std::safe::FromBlock<'_>>::from_block(&#launch) }
                };
                made.push((bound, value));
                continue;
            }
            Passing::Split => {
                declarations.push(quote!(#pointer: <#kind as ::cuda_std::safe::Passed>::Pointer));
                declarations.push(quote!(#length: <#kind as ::cuda_std::safe::Passed>::Extent));
                let value = quote! {
                    // SAFETY: a launch passes memory of this extent that nobody else writes meanwhile, and has the
                    // kernel's block and no more dimensions than the type.
                    unsafe {
                        <#made_kind as ::cuda_std::safe::FromLaunch<'_>>::from_launch(
                            #pointer, #shared_length, &#launch,
                        )
                    }
                };
                made.push((bound, value));
                continue;
            }
            Passing::Slice { element, lifetime, mutable } => (element, lifetime, mutable),
        };
        let build = if *mutable {
            // A raw pointer, because a reference would promise LLVM that no one else writes the
            // memory while the kernel runs, and other threads of the grid do.
            declarations.push(quote!(#pointer: *mut #element));
            quote!(::core::slice::from_raw_parts_mut(#pointer, #shared_length))
        } else {
            // A reference to no elements: its promise that the memory is only read is what makes
            // `ld.global.nc` possible, and it promises nothing about the length.
            declarations.push(quote!(#pointer: & #lifetime [#element; 0]));
            if is_safe {
                quote!(#launch.slice(#pointer.as_ptr(), #shared_length))
            } else {
                quote!(::core::slice::from_raw_parts(#pointer.as_ptr(), #shared_length))
            }
        };
        declarations.push(quote!(#length: usize));
        let value = quote! {
            // SAFETY: a launch passes for each slice a pointer valid for its length, and equal lengths where asked.
            unsafe { #build }
        };
        made.push((bound, value));
    }

    let made = made.iter().map(|(bound, value)| quote!(let #bound = #value;));
    let statements = &item.block.stmts;
    let (begin, lint) = if is_safe {
        let known = contract::known_block(&block);
        let begin = quote! {
            #known
            // SAFETY: the entry begins, and the value is dropped when it returns.
            let #launch = unsafe { ::cuda_std::safe::Launch::begin() };
        };
        (begin, quote!(#[forbid(unsafe_op_in_unsafe_fn)]))
    } else {
        (TokenStream::new(), TokenStream::new())
    };
    let path = path(item);
    quote! {
        #[cfg(target_arch = "nvptx64")]
        #since
        #(#attributes)*
        #lint
        #[allow(clippy::too_many_arguments, improper_ctypes_definitions)]
        #[unsafe(export_name = #path)]
        #visibility unsafe extern "ptx-kernel" fn #name #generics (#(#declarations),*)
        #where_clause
        {
            #begin
            #(#made)*
            #(#statements)*
        }
    }
}

/// The host's token, and within it the body, which is only type-checked.
fn host_token(arguments: &Arguments, item: &ItemFn, parameters: &[Parameter]) -> TokenStream {
    let name = &item.sig.ident;
    let visibility = &item.vis;
    let symbol = name.to_string();
    let attributes = item.attrs.iter().filter(|attribute| !is_expectation(attribute));
    let passed = || parameters.iter().filter(|parameter| parameter.passing.is_passed());
    let kinds: Vec<Type> =
        passed().map(|parameter| with_static_lifetimes(&parameter.kind)).collect();
    let [max_threads, min_blocks] = launch_bounds(arguments);
    let [x, y, z] = cluster(arguments);
    let since = since(arguments);
    let inner = format_ident!("body_of_{}", name, span = Span::mixed_site());
    let generics = &item.sig.generics;
    let where_clause = &item.sig.generics.where_clause;
    let inputs = &item.sig.inputs;
    let block = &item.block;
    let lints = item.attrs.iter().filter(|attribute| !is_documentation(attribute));
    let safety = &item.sig.safety;
    let path = path(item);
    let signature = signature(arguments, item, parameters);
    let mut token = quote!(::cuda_std::kernel::Kernel);
    // SAFETY: said in the expansion, where it holds.
    let mut value = quote! {
        ::cuda_std::kernel::Kernel::new(
            #symbol,
            (#max_threads, #min_blocks),
            (#x, #y, #z),
            #since,
        )
        .recorded(#path, &#signature)
    };
    if is_safe(item) {
        let [x, y, z] = extents(arguments.block.as_deref());
        let names = passed().map(|parameter| parameter.name.to_string());
        let same = arguments.same_length.as_deref().unwrap_or_default();
        let same = passed().enumerate().filter(|(_, parameter)| same.contains(&parameter.name));
        let same = same.map(|(index, _)| index);
        token = quote!(::cuda_std::kernel::SafeKernel);
        value = quote! {
            ::cuda_std::kernel::SafeKernel::new(#value, (#x, #y, #z), &[#(#names),*], &[#(#same),*])
        };
    }
    quote! {
        #[cfg(not(target_arch = "nvptx64"))]
        #(#attributes)*
        #[allow(non_upper_case_globals, dead_code, clippy::unnecessary_cast)]
        #visibility const #name: #token<fn(#(#kinds),*)> = {
            #[allow(dead_code, clippy::too_many_arguments)]
            #(#lints)*
            #safety fn #inner #generics (#inputs) #where_clause #block

            // SAFETY: name, parameter types and attributes are those of the entry that this macro makes on the device.
            unsafe { #value }
        };
    }
}

/// Compile-time checks of the parameter types, with errors that point at the type.
fn parameter_checks(arguments: &Arguments, item: &ItemFn, parameters: &[Parameter]) -> TokenStream {
    let conditions = item.attrs.iter().filter(|attribute| is_condition(attribute));
    let passed = parameters
        .iter()
        .filter(|parameter| matches!(parameter.passing, Passing::Direct | Passing::Slice { .. }));
    let checks = passed.map(|parameter| {
        let kind = with_static_lifetimes(&parameter.kind);
        let span = parameter.kind.span();
        match (&parameter.passing, ungroup(&parameter.kind)) {
            (Passing::Slice { element, .. }, _) => {
                let element = with_static_lifetimes(element);
                quote_spanned! { span => ::cuda_std::kernel::check_slice_element::<#element>(); }
            }
            (_, Type::Reference(reference)) => {
                let target = with_static_lifetimes(&reference.elem);
                quote_spanned! { span => ::cuda_std::kernel::check_thin_pointer::<#target>(); }
            }
            (_, Type::Ptr(pointer)) => {
                let target = with_static_lifetimes(&pointer.elem);
                quote_spanned! { span => ::cuda_std::kernel::check_thin_pointer::<#target>(); }
            }
            _ if is_safe(item) => {
                quote_spanned! { span => ::cuda_std::kernel::check_safe_parameter::<#kind>(); }
            }
            _ => quote_spanned! { span => ::cuda_std::kernel::check_parameter::<#kind>(); },
        }
    });
    let [_, _, z] = extents(arguments.block.as_deref());
    let tile = parameters.iter().find(|it| matches!(it.passing, Passing::Tile));
    let tile = tile.map(|tile| {
        quote_spanned! { tile.kind.span() =>
            assert!(#z <= 1, "a tile is for blocks of one or two dimensions");
        }
    });
    quote! {
        #(#conditions)*
        const _: () = {
            #(#checks)*
            #tile
        };
    }
}

fn is_documentation(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc")
}

/// `#[expect]` holds for the body alone: elsewhere the lint would not fire.
fn is_expectation(attribute: &Attribute) -> bool {
    attribute.path().is_ident("expect")
}

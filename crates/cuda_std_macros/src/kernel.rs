//! `#[kernel]`: the entry on the device, the typed token on the host.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Error, Expr, FnArg, GenericArgument, GenericParam, ItemFn, Lifetime, LitInt, Pat,
    PatType, PathArguments, Result, ReturnType, Type, TypePath, TypeReference,
};

use crate::contract;
use crate::gpu_only::fixes_name;
use crate::signature::{Arguments, Parameter, Passing, is_safe, ungroup};

/// The format number of the attribute record that `cuda_builder` reads.
const ATTRIBUTE_FORMAT: u32 = 3;

/// The oldest compute capability with thread block clusters.
const CLUSTER_CAPABILITY: u32 = 90;

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
        Type::Path(path) if contract::is_split(path) => Passing::Split,
        Type::Path(path) if contract::is_tile(path) => Passing::Tile,
        Type::Path(path) if contract::is_block(path) => Passing::Block,
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
            // SAFETY: a launch passes for each slice a pointer that is valid for its length, and equal lengths where the
            // kernel says so.
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

/// The kernel's name in the device build, with its crate's before it and its line behind it: two crates may have kernels of
/// one name. `cuda_builder` gives the entry its plain name, unless another has it.
fn path(item: &ItemFn) -> String {
    let krate = std::env::var("CARGO_CRATE_NAME").unwrap_or_default();
    let name = &item.sig.ident;
    format!("{krate}${name}${}", name.span().unwrap().line())
}

/// What host and device must agree on, as words: whether the kernel is safe, its block, which parameters are equally
/// long, and of each parameter that is passed its kind and the size and alignment of its value or element.
fn signature(arguments: &Arguments, item: &ItemFn, parameters: &[Parameter]) -> TokenStream {
    let is_safe = u32::from(is_safe(item));
    let block = extents(arguments.block.as_deref());
    let passed: Vec<&Parameter> = parameters.iter().filter(|it| it.passing.is_passed()).collect();
    let same = arguments.same_length.as_deref().unwrap_or_default();
    let same = passed.iter().enumerate().filter(|(_, it)| same.contains(&it.name));
    let same = same.fold(0_u32, |mask, (index, _)| mask | 1 << (index % 32));
    let words = passed.iter().map(|parameter| {
        let (kind, element) = contract::recorded(parameter);
        quote! {
            #kind,
            ::core::mem::size_of::<#element>() as u32,
            ::core::mem::align_of::<#element>() as u32
        }
    });
    quote!([#is_safe, #(#block,)* #same, #(#words),*])
}

/// The record from which `cuda_builder` takes the entry's directives, and what a launch compares with the host's.
fn attribute_record(arguments: &Arguments, item: &ItemFn, parameters: &[Parameter]) -> TokenStream {
    let means_local_memory = u32::from(arguments.local_memory.is_some());
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
                    [#ATTRIBUTE_FORMAT, #max_threads, #min_blocks, #x, #y, #z, #means_local_memory];
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

            // SAFETY: the name, the parameter types and the attributes are those of the entry that
            // this macro expands to on the device.
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

/// The oldest compute capability of the kernel, 0 for any.
fn since(arguments: &Arguments) -> u32 {
    let given = arguments.min_compute_capability.as_ref().map_or(0, |literal| {
        literal.base10_parse().expect("the parser has read this literal as u32")
    });
    if arguments.cluster.is_some() { given.max(CLUSTER_CAPABILITY) } else { given }
}

/// The `cfg` attribute of the oldest compute capability. It is one of its own, behind that of the architecture, so that the
/// host's compiler, which does not know the capabilities, never evaluates it.
fn since_condition(arguments: &Arguments) -> TokenStream {
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
fn launch_bounds(arguments: &Arguments) -> [TokenStream; 2] {
    let given = arguments.launch_bounds.as_deref().unwrap_or_default();
    [0, 1].map(|index| given.get(index).map_or_else(|| quote!(0), constant))
}

/// The cluster's extent.
fn cluster(arguments: &Arguments) -> [TokenStream; 3] {
    extents(arguments.cluster.as_deref())
}

/// Up to three extents: 0 where none is given, 1 in directions not given.
fn extents(given: Option<&[Expr]>) -> [TokenStream; 3] {
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

/// The type with every lifetime replaced by `'static`.
pub fn with_static_lifetimes(kind: &Type) -> Type {
    with_lifetimes(kind, "'static")
}

/// The type with every lifetime left to be inferred.
fn with_inferred_lifetimes(kind: &Type) -> Type {
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
            let is_split = contract::is_split(path);
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
fn as_own(tokens: impl quote::ToTokens) -> TokenStream {
    let own = |token: proc_macro2::TokenTree| match token {
        proc_macro2::TokenTree::Group(group) => {
            let inside = group.stream().into_iter().map(|mut token| {
                token.set_span(Span::mixed_site());
                token
            });
            proc_macro2::Group::new(group.delimiter(), inside.collect()).into()
        }
        mut token => {
            token.set_span(Span::mixed_site());
            token
        }
    };
    tokens.into_token_stream().into_iter().map(own).collect()
}

fn is_documentation(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc")
}

/// `#[expect]` holds for the body alone: elsewhere the lint would not fire.
fn is_expectation(attribute: &Attribute) -> bool {
    attribute.path().is_ident("expect")
}

fn is_condition(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
}

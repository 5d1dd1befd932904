//! Generic kernels: `#[kernel(T = [f32, f64])]` makes an entry of each instance.

use crate::kernel;
use crate::signature::Arguments;
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Error, Expr, FnArg, GenericArgument, GenericParam, Ident, ItemFn, Pat, Result, Type,
    parse_quote,
};

/// One instance: the generic parameters with what stands for each.
type Instance<'a> = Vec<(&'a Ident, &'a GenericArgument)>;

/// Expands a generic kernel into the function and one kernel for each instance, which calls it.
pub fn expand(arguments: &Arguments, item: &ItemFn) -> Result<TokenStream> {
    let mut function = item.clone();
    function.attrs.push(parse_quote!(#[inline(always)]));
    function.attrs.push(parse_quote!(#[allow(dead_code, clippy::too_many_arguments)]));
    let mut expansion = function.into_token_stream();
    for instance in instances(arguments, item)? {
        let arguments = Arguments { instances: Vec::new(), ..arguments.clone() };
        expansion.extend(kernel::expand(arguments, kernel_of(item, &instance)?)?);
    }
    Ok(expansion)
}

/// Every combination of what the generic parameters stand for.
fn instances<'a>(arguments: &'a Arguments, item: &'a ItemFn) -> Result<Vec<Instance<'a>>> {
    let mut all: Vec<Instance<'a>> = vec![Vec::new()];
    let mut named = Vec::new();
    for parameter in &item.sig.generics.params {
        let name = match parameter {
            GenericParam::Lifetime(_) => continue,
            GenericParam::Type(parameter) => &parameter.ident,
            GenericParam::Const(parameter) => &parameter.ident,
        };
        let given = arguments.instances.iter().find(|(given, _)| given == name);
        let Some((_, values)) = given else {
            return Err(Error::new_spanned(
                parameter,
                format!("what does `{name}` stand for? Add `{name} = [..]` to `#[kernel(..)]`"),
            ));
        };
        named.push(name);
        all = all
            .into_iter()
            .flat_map(|instance| {
                values.iter().map(move |value| {
                    let mut instance = instance.clone();
                    instance.push((name, value));
                    instance
                })
            })
            .collect();
    }
    match arguments.instances.iter().find(|(given, _)| !named.contains(&given)) {
        Some((name, _)) => Err(Error::new(
            name.span(),
            format!(
                "`{name}` is neither an argument of `#[kernel]` nor a generic parameter of `{}`",
                item.sig.ident
            ),
        )),
        None => Ok(all),
    }
}

/// The kernel of an instance, named after it: `scale_f32`.
fn kernel_of(item: &ItemFn, instance: &Instance<'_>) -> Result<ItemFn> {
    let function = &item.sig.ident;
    let mut kernel = item.clone();
    let mut name = function.to_string();
    for (_, value) in instance {
        name.push('_');
        name.push_str(&in_a_name(value));
    }
    kernel.sig.ident = format_ident!("{name}", span = function.span());
    let lifetimes = kernel.sig.generics.params.into_iter();
    kernel.sig.generics.params =
        lifetimes.filter(|parameter| matches!(parameter, GenericParam::Lifetime(_))).collect();
    kernel.sig.generics.where_clause = None;
    let mut substitution = Substitution { instance, error: None };
    let mut passed = Vec::new();
    for (index, input) in kernel.sig.inputs.iter_mut().enumerate() {
        substitution.visit_fn_arg_mut(input);
        if let FnArg::Typed(typed) = input {
            let name = match &*typed.pat {
                Pat::Ident(pattern) => pattern.ident.clone(),
                _ => format_ident!("argument_{index}"),
            };
            *typed.pat = parse_quote!(#name);
            passed.push(name);
        }
    }
    if let Some(error) = substitution.error {
        return Err(error);
    }
    let values = instance.iter().map(|(_, value)| value);
    let call = quote!(#function::<#(#values),*>(#(#passed),*));
    kernel.block = match item.sig.safety {
        syn::Safety::Unsafe(_) => parse_quote!({
            // SAFETY: the launch contract of the generic kernel.
            unsafe { #call }
        }),
        _ => parse_quote!({ #call }),
    };
    Ok(kernel)
}

/// A type or a number as a part of a name: its letters, digits, and one line between them.
fn in_a_name(value: &GenericArgument) -> String {
    let text = value.to_token_stream().to_string();
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

/// Puts what a generic parameter stands for in its place.
struct Substitution<'a> {
    instance: &'a Instance<'a>,
    error: Option<Error>,
}

impl Substitution<'_> {
    fn of(&self, path: &syn::Path) -> Option<&GenericArgument> {
        let find = |name: &Ident| self.instance.iter().find(|(parameter, _)| *parameter == name);
        path.get_ident().and_then(find).map(|(_, value)| *value)
    }
}

impl VisitMut for Substitution<'_> {
    fn visit_type_mut(&mut self, kind: &mut Type) {
        if let Type::Path(path) = kind
            && path.qself.is_none()
        {
            if let Some(GenericArgument::Type(value)) = self.of(&path.path) {
                *kind = value.clone();
                return;
            }
            let first = path.path.segments.first().map(|segment| segment.ident.clone());
            if path.path.segments.len() > 1
                && self.instance.iter().any(|(parameter, _)| Some(*parameter) == first.as_ref())
            {
                self.error = Some(Error::new_spanned(
                    &path,
                    "a parameter of a generic kernel cannot be an associated type: make it a generic parameter, too",
                ));
            }
        }
        visit_mut::visit_type_mut(self, kind);
    }

    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        if let Expr::Path(path) = expression
            && let Some(GenericArgument::Const(value)) = self.of(&path.path)
        {
            *expression = value.clone();
            return;
        }
        visit_mut::visit_expr_mut(self, expression);
    }

    fn visit_generic_argument_mut(&mut self, argument: &mut GenericArgument) {
        // The name of a constant reads like that of a type.
        if let GenericArgument::Type(Type::Path(path)) = argument
            && let Some(value @ GenericArgument::Const(_)) = self.of(&path.path)
        {
            *argument = value.clone();
            return;
        }
        visit_mut::visit_generic_argument_mut(self, argument);
    }
}

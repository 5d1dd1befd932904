//! `print!` and `println!`: what `format_args!` takes, with each argument wrapped so that floats are printed by
//! `cuda_std::io::float`.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::collections::BTreeSet;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, LitStr, Token};

/// Input that the macro of `cuda_std` passes on: its `$crate`, the end of the text, its caller's tokens.
pub struct Print {
    cuda_std: TokenTree,
    end: LitStr,
    caller: TokenStream,
}

impl Parse for Print {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Print { cuda_std: input.parse()?, end: input.parse()?, caller: input.parse()? })
    }
}

struct Format {
    text: LitStr,
    arguments: Vec<Argument>,
}

struct Argument {
    name: Option<Ident>,
    value: Expr,
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let is_named = input.peek(syn::Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]);
        let name = if is_named { Some(input.parse()?) } else { None };
        if is_named {
            input.parse::<Token![=]>()?;
        }
        Ok(Argument { name, value: input.parse()? })
    }
}

impl Parse for Format {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let text = input.parse()?;
        if input.is_empty() {
            return Ok(Format { text, arguments: Vec::new() });
        }
        input.parse::<Token![,]>()?;
        let arguments = Punctuated::<Argument, Token![,]>::parse_terminated(input)?;
        Ok(Format { text, arguments: arguments.into_iter().collect() })
    }
}

#[derive(Debug, Default, PartialEq)]
struct Uses {
    printed: BTreeSet<String>,
    /// Names and places of numbers that are a width or a precision, which has to be a `usize` itself.
    counts: BTreeSet<String>,
    /// Nothing is wrapped: with `.*` an argument's place depends on all before it, and `p` of a reference is the
    /// reference's own address.
    as_it_is: bool,
}

fn uses(text: &str) -> Uses {
    let mut uses = Uses::default();
    let text = text.replace("{{", "").replace("}}", "");
    for piece in text.split('{').skip(1).filter_map(|piece| piece.split('}').next()) {
        let (name, form) = piece.split_once(':').unwrap_or((piece, ""));
        if name.trim().starts_with(|first: char| first.is_alphabetic() || first == '_') {
            uses.printed.insert(name.trim().to_owned());
        }
        uses.as_it_is |= form.contains(".*") || form.ends_with('p');
        let mut counts: Vec<_> = form.split('$').collect();
        counts.pop();
        for count in counts {
            let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
            let start = count.rfind(|letter| !is_letter(letter)).map_or(0, |at| at + 1);
            // The zero of `{:01$}` is a flag, that of `{:0$}` the place.
            let name = count[start..].trim_start_matches('0');
            uses.counts.insert(if name.is_empty() { "0" } else { name }.to_owned());
        }
    }
    uses
}

pub fn expand(print: Print) -> TokenStream {
    let Print { cuda_std, end, caller } = print;
    let Ok(Format { text, arguments }) = syn::parse2(caller.clone()) else {
        // A text that another macro makes: what it asks for is not known here.
        return quote!(#cuda_std::io::print(::core::format_args!("{}{}", ::core::format_args!(#caller), #end)));
    };
    let Uses { printed, counts, as_it_is } = uses(&text.value());
    let whole = LitStr::new(&(text.value() + &end.value()), text.span());
    let shown = |key: &str, value: TokenStream| {
        if as_it_is || counts.contains(key) {
            return value;
        }
        quote!((&#cuda_std::io::float::Shown(&(#value))).shown())
    };
    let mut named = BTreeSet::new();
    let mut tokens = Vec::new();
    for (place, Argument { name, value }) in arguments.iter().enumerate() {
        let key = name.as_ref().map_or_else(|| place.to_string(), Ident::to_string);
        let value = shown(&key, value.to_token_stream());
        tokens.push(if let Some(name) = name { quote!(#name = #value) } else { value });
        named.insert(key);
    }
    for name in printed.difference(&named) {
        // The variable of the caller that the text names.
        let variable = Ident::new(name, text.span());
        let value = shown(name, variable.to_token_stream());
        tokens.push(quote!(#variable = #value));
    }
    quote!({
        #[allow(unused_imports)]
        use #cuda_std::io::float::{ShowFloat as _, ShowValue as _};
        #cuda_std::io::print(::core::format_args!(#whole #(, #tokens)*))
    })
}

#[cfg(test)]
mod tests {
    use super::uses;

    /// Names that are printed, names and places of counts, and whether nothing is wrapped.
    fn found(text: &str) -> (String, String, bool) {
        let uses = uses(text);
        let join = |names: std::collections::BTreeSet<String>| Vec::from_iter(names).join(" ");
        (join(uses.printed), join(uses.counts), uses.as_it_is)
    }

    #[test]
    fn a_text_says_how_its_arguments_are_used() {
        for (text, printed, counts, as_it_is) in [
            ("plain {{x}}", "", "", false),
            ("{} {x} {{{y:?}}} {0:>8.3}", "x y", "", false),
            ("{:1$} {x:>width$.digits$}", "x", "1 digits width", false),
            ("{:01$} {:0$}", "", "0 1", false),
            ("{:x>0w$}", "", "w", false),
            ("{:.*}", "", "", true),
            ("{:p}", "", "", true),
        ] {
            assert_eq!(found(text), (printed.to_owned(), counts.to_owned(), as_it_is), "{text}");
        }
    }
}

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Error, Expr, GenericArgument, Ident, ItemFn, Lifetime, LitInt, Pat, Result, Token, Type,
    bracketed, parenthesized,
};

/// The arguments of `#[kernel(..)]`.
#[derive(Clone, Default)]
pub struct Arguments {
    /// Maximum threads per block and minimum blocks per multiprocessor.
    pub launch_bounds: Option<Vec<Expr>>,
    /// Blocks per cluster in x, y and z.
    pub cluster: Option<Vec<Expr>>,
    /// The oldest compute capability the entry is compiled for, such as 80, or with an `a` the only one.
    pub min_compute_capability: Option<LitInt>,
    /// That the kernel uses local memory on purpose, so that the build does not warn.
    pub local_memory: Option<()>,
    /// That registers which do not suffice spill to shared memory, where the assembler can.
    pub shared_spills: Option<()>,
    /// The threads of a block in x, y and z, which make a kernel a safe function.
    pub block: Option<Vec<Expr>>,
    /// The parameters whose lengths must agree.
    pub same_length: Option<Vec<Ident>>,
    /// The generic parameters, each with what it stands for in one instance or another.
    pub instances: Vec<(Ident, Vec<GenericArgument>)>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut arguments = Arguments::default();
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            match name.to_string().as_str() {
                "launch_bounds" => {
                    let values = expressions(
                        input,
                        &name,
                        1..=2,
                        "the maximum of threads per \
                        block and, optionally, the minimum of blocks per multiprocessor",
                    )?;
                    set(&mut arguments.launch_bounds, values, &name)?;
                }
                "cluster" => {
                    let values =
                        expressions(input, &name, 1..=3, "the blocks per cluster in x, y and z")?;
                    set(&mut arguments.cluster, values, &name)?;
                }
                "min_compute_capability" => {
                    input.parse::<Token![=]>()?;
                    let capability: LitInt = input.parse()?;
                    if !(50..1000).contains(&capability.base10_parse::<u32>()?)
                        || !["", "a", "f"].contains(&capability.suffix())
                    {
                        return Err(Error::new(
                            capability.span(),
                            "expected a compute capability without its dot, such as `80` for 8.0, `90a` for 9.0 alone, or `100f` for its family",
                        ));
                    }
                    set(&mut arguments.min_compute_capability, capability, &name)?;
                }
                "uses_local_memory" => set(&mut arguments.local_memory, (), &name)?,
                "spills_to_shared" => set(&mut arguments.shared_spills, (), &name)?,
                "block" => {
                    let values = if input.parse::<Option<Token![=]>>()?.is_some() {
                        vec![input.parse()?]
                    } else {
                        expressions(input, &name, 1..=3, "the threads of a block in x, y and z")?
                    };
                    set(&mut arguments.block, values, &name)?;
                }
                "same_length" => {
                    let content;
                    parenthesized!(content in input);
                    let names = Punctuated::<Ident, Token![,]>::parse_terminated(&content)?;
                    set(&mut arguments.same_length, names.into_iter().collect(), &name)?;
                }
                // A generic parameter: the names of types and constants begin so.
                other if other.starts_with(char::is_uppercase) && input.peek(Token![=]) => {
                    input.parse::<Token![=]>()?;
                    let content;
                    bracketed!(content in input);
                    let values =
                        Punctuated::<GenericArgument, Token![,]>::parse_terminated(&content)?;
                    if values.is_empty() {
                        return Err(Error::new(
                            name.span(),
                            format!("`{name}` stands for nothing"),
                        ));
                    }
                    if arguments.instances.iter().any(|(given, _)| *given == name) {
                        return Err(Error::new(name.span(), format!("`{name}` is given twice")));
                    }
                    arguments.instances.push((name, values.into_iter().collect()));
                }
                other => {
                    return Err(Error::new(
                        name.span(),
                        format!(
                            "unknown kernel argument `{other}`: expected `launch_bounds(..)`, \
                             `cluster(..)`, `min_compute_capability = ..`, `uses_local_memory`, `spills_to_shared`, \
                             `block = ..`, `same_length(..)` or, of a generic kernel, `T = [f32, f64]`"
                        ),
                    ));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(arguments)
    }
}

/// Stores an argument, which may be given once.
fn set<T>(slot: &mut Option<T>, value: T, name: &Ident) -> Result<()> {
    if slot.replace(value).is_some() {
        return Err(Error::new(name.span(), format!("`{name}` is given twice")));
    }
    Ok(())
}

/// The parenthesised expressions after an argument's name.
fn expressions(
    input: ParseStream<'_>,
    name: &Ident,
    count: std::ops::RangeInclusive<usize>,
    meaning: &str,
) -> Result<Vec<Expr>> {
    let content;
    parenthesized!(content in input);
    let values: Vec<Expr> =
        Punctuated::<Expr, Token![,]>::parse_terminated(&content)?.into_iter().collect();
    if !count.contains(&values.len()) {
        return Err(Error::new(name.span(), format!("`{name}` takes {meaning}")));
    }
    Ok(values)
}

/// Way of a parameter from the launch to the body.
pub enum Passing {
    /// As it is.
    Direct,
    /// As a pointer and a length, rebuilt into a slice.
    Slice { element: Box<Type>, lifetime: Option<Lifetime>, mutable: bool },
    /// As a pointer and an extent, from which the type makes itself.
    Split,
    /// Not at all: it is the block's shared memory.
    Tile,
    /// Not at all: it is the block.
    Block,
}

impl Passing {
    /// Returns whether the parameter's type is one of `cuda_std::safe`.
    pub fn is_for_safe_kernels(&self) -> bool {
        matches!(self, Passing::Split | Passing::Tile | Passing::Block)
    }

    /// Returns whether a launch passes it.
    pub fn is_passed(&self) -> bool {
        !matches!(self, Passing::Tile | Passing::Block)
    }
}

/// One parameter of a kernel.
pub struct Parameter {
    /// Its name in the PTX entry.
    pub name: Ident,
    /// Its pattern as written, such as `mut count`.
    pub pattern: Pat,
    /// Its type as written.
    pub kind: Type,
    pub passing: Passing,
}

/// The type without invisible groups and parentheses.
pub fn ungroup(kind: &Type) -> &Type {
    match kind {
        Type::Group(group) => ungroup(&group.elem),
        Type::Paren(paren) => ungroup(&paren.elem),
        other => other,
    }
}

/// Returns whether a kernel is a safe function.
pub fn is_safe(item: &ItemFn) -> bool {
    matches!(item.sig.safety, syn::Safety::Default)
}

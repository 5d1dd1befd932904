//! Functions of CUDA that kernels of tasks use.

use super::expr::{library, literal, made, show};
use super::{Number, Parser, int, vector};
use crate::tree::{Expr, Kind, Op, Place, Result, Scalar, Type, refuse};

/// Functions without values and without a result.
const STATEMENTS: &[(&str, &str)] = &[
    ("__syncthreads", "bar.sync \t0;"),
    ("__threadfence_block", "membar.cta;"),
    ("__threadfence", "membar.gl;"),
    ("__pipeline_commit", "cp.async.commit_group;"),
    ("__trap", "trap;"),
];
/// Waits until at most so many groups of copies are under way.
const WAITS: &[&str] = &[
    "cp.async.wait_group \t0;",
    "cp.async.wait_group \t1;",
    "cp.async.wait_group \t2;",
    "cp.async.wait_group \t3;",
];
/// Functions of numbers of one type: their name in C, in `lower`, their values, and their type; none is that of the values.
const OF_NUMBERS: &[(&str, &str, usize, Option<Type>)] = &[
    ("min", "min", 2, None),
    ("max", "max", 2, None),
    ("fminf", "min", 2, Some(Type::F32)),
    ("fmaxf", "max", 2, Some(Type::F32)),
    ("fmin", "min", 2, None),
    ("fmax", "max", 2, None),
    ("abs", "abs", 1, None),
    ("fabsf", "abs", 1, Some(Type::F32)),
    ("fabs", "abs", 1, None),
    ("sqrtf", "sqrt", 1, Some(Type::F32)),
    ("__fsqrt_rn", "sqrt", 1, Some(Type::F32)),
    ("sqrt", "sqrt", 1, None),
    ("fmaf", "mul_add", 3, Some(Type::F32)),
    ("__fmaf_rn", "mul_add", 3, Some(Type::F32)),
    ("fma", "mul_add", 3, None),
];
/// Functions of one whole number that count its bits.
const OF_BITS: &[(&str, &str, u32)] = &[
    ("__popc", "count_ones", 32),
    ("__popcll", "count_ones", 64),
    ("__clz", "leading_zeros", 32),
    ("__clzll", "leading_zeros", 64),
];
/// Values whose bits are those of another type.
const BITS: &[(&str, Type, Type)] = &[
    ("__float_as_uint", Type::F32, Type::U32),
    ("__float_as_int", Type::F32, Type::Int(crate::tree::Int::I32)),
    ("__uint_as_float", Type::U32, Type::F32),
    ("__int_as_float", Type::Int(crate::tree::Int::I32), Type::F32),
];
/// Names of other functions, and what to write instead.
const INSTEAD: &[(&str, &str)] = &[
    ("printf", "a page has no output: write into an array"),
    ("assert", "write `if (..) __trap();`"),
    ("powf", "multiply instead"),
    ("pow", "multiply instead"),
    ("__pipeline_wait_all", "write `__pipeline_wait_prior(0)`"),
    ("rsqrtf", "write `1.0f / sqrtf(x)`"),
    ("__fdividef", "write `/`"),
    ("__shfl_down", "write `__shfl_down_sync(0xffffffff, ..)`"),
    ("__shfl_up", "write `__shfl_up_sync(0xffffffff, ..)`"),
    ("__shfl_xor", "write `__shfl_xor_sync(0xffffffff, ..)`"),
    ("__shfl", "write `__shfl_sync(0xffffffff, ..)`"),
    ("__ballot", "write `__ballot_sync(0xffffffff, ..)`"),
    ("memcpy", "write a loop"),
    ("memset", "write a loop"),
    ("malloc", "use the arrays that the kernel is given"),
    ("free", "use the arrays that the kernel is given"),
];

/// So many values of a call.
fn take<const N: usize>(name: &str, all: Vec<Expr>, at: Place) -> Result<[Expr; N]> {
    let given = all.len();
    match all.try_into() {
        Ok(all) => Ok(all),
        Err(_) => refuse(at, format!("`{name}` takes {N} values here, and {given} are given")),
    }
}

impl Parser {
    /// Returns a call of a function of CUDA.
    pub fn library(&mut self, name: &str, arguments: Vec<Expr>, at: Place) -> Result<Expr> {
        if let Some((_, text)) = STATEMENTS.iter().find(|(one, _)| *one == name) {
            let [] = take(name, arguments, at)?;
            return Ok(library(text, Vec::new(), Type::Unit, at));
        }
        if let Some((_, method, count, of)) = OF_NUMBERS.iter().find(|(one, ..)| *one == name) {
            return self.of_numbers(name, method, *count, of.as_ref(), arguments, at);
        }
        if let Some((_, method, bits)) = OF_BITS.iter().find(|(one, ..)| *one == name) {
            let [one] = take(name, arguments, at)?;
            let one = self.convert(one, &int(*bits, false))?;
            let made = library(method, vec![one], Type::U32, at);
            return self.convert(made, &int(32, true));
        }
        if let Some((_, from, to)) = BITS.iter().find(|(one, ..)| *one == name) {
            let [one] = take(name, arguments, at)?;
            let one = self.convert(one, from)?;
            return Ok(library("transmute", vec![one], to.clone(), at));
        }
        if let Some(rest) = name.strip_prefix("atomic") {
            return self.atomic(name, rest, arguments, at);
        }
        if let Some(vector) = name.strip_prefix("make_").and_then(vector) {
            let of = Type::of(vector.element);
            if arguments.len() != vector.lanes {
                return refuse(at, format!("`{name}` takes {} values", vector.lanes));
            }
            let all =
                arguments.into_iter().map(|one| self.convert(one, &of)).collect::<Result<_>>()?;
            return Ok(library("aggregate", all, Type::Vector(vector), at));
        }
        self.of_warps(name, arguments, at)
    }

    fn of_numbers(
        &mut self,
        name: &str,
        method: &'static str,
        count: usize,
        of: Option<&Type>,
        arguments: Vec<Expr>,
        at: Place,
    ) -> Result<Expr> {
        if arguments.len() != count {
            return refuse(
                at,
                format!("`{name}` takes {count} values, and {} are given", arguments.len()),
            );
        }
        let mut all = Vec::new();
        for one in arguments {
            all.push(self.value(one)?);
        }
        // Without a type of its own: that of an expression with these values.
        let of = match of {
            Some(of) => of.clone(),
            None => {
                let mut of = super::expr::common(&all[0].of, &all[0].of);
                for one in &all[1..] {
                    of = super::expr::common(&of, &one.of);
                }
                if matches!(name, "fabs" | "sqrt" | "fma" | "fmin" | "fmax")
                    && !matches!(of, Type::F32)
                {
                    Type::F64
                } else {
                    of
                }
            }
        };
        let all = all.into_iter().map(|one| self.convert(one, &of)).collect::<Result<Vec<_>>>()?;
        if let ("abs", Type::Int(one)) = (method, &of)
            && !one.signed
        {
            return refuse(at, "`abs` takes a number with a sign");
        }
        Ok(library(method, all, of, at))
    }

    fn atomic(&mut self, name: &str, rest: &str, arguments: Vec<Expr>, at: Place) -> Result<Expr> {
        let (rest, is_block) = match rest.strip_suffix("_block") {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let method = match rest {
            "Add" => "atom.add",
            "Sub" => "atom.sub",
            "Exch" => "atom.exch",
            "Min" => "atom.min",
            "Max" => "atom.max",
            "And" => "atom.and",
            "Or" => "atom.or",
            "Xor" => "atom.xor",
            "Inc" => "atom.inc",
            "Dec" => "atom.dec",
            "CAS" => "atom.cas",
            _ => return refuse(at, format!("the function `{name}` is not known here")),
        };
        let wanted = if method == "atom.cas" { 3 } else { 2 };
        if arguments.len() != wanted {
            return refuse(
                at,
                format!("`{name}` takes {wanted} values, and {} are given", arguments.len()),
            );
        }
        let mut arguments = arguments.into_iter();
        let Some(pointer) = arguments.next() else {
            return refuse(at, "an address is wanted here");
        };
        let pointer = self.value(pointer)?;
        let of = match &pointer.of {
            Type::Pointer(true, of) => (**of).clone(),
            other => {
                return refuse(
                    pointer.at,
                    format!("`{name}` takes an address, and `{}` is found", show(other)),
                );
            }
        };
        let scalar = match &of {
            Type::Int(one) if one.bits >= 32 => Scalar::Int(*one),
            Type::F32 if matches!(method, "atom.add" | "atom.exch") => Scalar::F32,
            Type::F64 if method == "atom.add" => Scalar::F64,
            other => {
                return refuse(
                    pointer.at,
                    format!("`{name}` of `{}` is not read here", show(other)),
                );
            }
        };
        if matches!(method, "atom.inc" | "atom.dec") && of != Type::U32 {
            return refuse(pointer.at, format!("`{name}` takes an `unsigned`"));
        }
        let mut all = vec![library("pointer", vec![pointer], Type::Atomic(is_block, scalar), at)];
        for one in arguments {
            all.push(self.convert(one, &of)?);
        }
        Ok(library(method, all, of, at))
    }

    /// Barriers with a result, votes, shuffles, copies and loads.
    fn of_warps(&mut self, name: &str, arguments: Vec<Expr>, at: Place) -> Result<Expr> {
        let u32 = Type::U32;
        let shuffle = match name {
            "__shfl_down_sync" => Some("shfl.down"),
            "__shfl_up_sync" => Some("shfl.up"),
            "__shfl_xor_sync" => Some("shfl.bfly"),
            "__shfl_sync" => Some("shfl.idx"),
            _ => None,
        };
        if let Some(shuffle) = shuffle {
            let mut arguments = arguments;
            if arguments.len() == 3 {
                arguments.push(made(Kind::Int(32), u32.clone(), at));
            }
            let [mask, value, lane, width] = take(name, arguments, at)?;
            let value = self.value(value)?;
            let of = super::expr::common(&value.of, &value.of);
            if !matches!(of, Type::F32 | Type::Int(crate::tree::Int { bits: 32, .. })) {
                return refuse(at, "a shuffle of values of 32 bits is read here");
            }
            let all = vec![
                self.convert(mask, &u32)?,
                self.convert(value, &of)?,
                self.convert(lane, &u32)?,
                self.convert(width, &u32)?,
            ];
            let both = library(shuffle, all, Type::Tuple(vec![of.clone(), Type::Bool]), at);
            return Ok(made(Kind::Field(Box::new(both), 0), of, at));
        }
        match name {
            "__syncwarp" => {
                let mut arguments = arguments;
                if arguments.is_empty() {
                    arguments.push(literal(Number::Int(0xffff_ffff), u32.clone(), at));
                }
                let [mask] = take(name, arguments, at)?;
                let mask = self.convert(mask, &u32)?;
                Ok(library("bar.warp", vec![mask], Type::Unit, at))
            }
            "__syncthreads_count" | "__syncthreads_and" | "__syncthreads_or" => {
                let [holds] = take(name, arguments, at)?;
                let holds = self.truth(holds)?;
                let holds = self.convert(holds, &u32)?;
                let method = match name.rsplit('_').next() {
                    Some("count") => "bar.popc",
                    Some("and") => "bar.and",
                    _ => "bar.or",
                };
                self.convert(library(method, vec![holds], u32, at), &int(32, true))
            }
            "__ballot_sync" | "__all_sync" | "__any_sync" => {
                let [mask, holds] = take(name, arguments, at)?;
                let all = vec![self.convert(mask, &u32)?, self.truth(holds)?];
                match name {
                    "__ballot_sync" => Ok(library("vote.ballot", all, u32, at)),
                    _ => {
                        let method = if name == "__all_sync" { "vote.all" } else { "vote.any" };
                        self.convert(library(method, all, Type::Bool, at), &int(32, true))
                    }
                }
            }
            "__activemask" => {
                let [] = take(name, arguments, at)?;
                Ok(library("activemask", Vec::new(), u32, at))
            }
            "__ffs" => {
                // One more than the number of zeros behind the lowest one; without any, zero.
                let [one] = take(name, arguments, at)?;
                let one = self.convert(one, &u32)?;
                let id = self.local("", u32.clone(), true);
                let read = || made(Kind::Local(id), u32.clone(), at);
                let zeros = library("trailing_zeros", vec![read()], u32.clone(), at);
                let number = |value| made(Kind::Int(value), u32.clone(), at);
                let next = made(
                    Kind::Binary(Op::Add, Box::new(zeros), Box::new(number(1))),
                    u32.clone(),
                    at,
                );
                let has_one = made(
                    Kind::Binary(Op::Ne, Box::new(read()), Box::new(number(0))),
                    Type::Bool,
                    at,
                );
                let kind = Kind::If(Box::new(has_one), Box::new(next), Some(Box::new(number(0))));
                let all =
                    vec![crate::tree::Statement::Let(crate::tree::Pattern::Bind(id), Some(one))];
                let whole = Kind::Block(all, Some(Box::new(made(kind, u32.clone(), at))));
                self.convert(made(whole, u32.clone(), at), &int(32, true))
            }
            "__ldg" => {
                let [pointer] = take(name, arguments, at)?;
                let pointer = self.value(pointer)?;
                match pointer.of.clone() {
                    Type::Pointer(_, of) if *of != Type::Unit => {
                        Ok(library("load_nc", vec![pointer], *of, at))
                    }
                    other => refuse(
                        at,
                        format!("`__ldg` takes an address, and `{}` is found", show(&other)),
                    ),
                }
            }
            "__pipeline_memcpy_async" => {
                let [target, source, bytes] = take(name, arguments, at)?;
                let (target, source) = (self.value(target)?, self.value(source)?);
                let (Type::Pointer(true, _), Type::Pointer(..)) = (&target.of, &source.of) else {
                    return refuse(
                        at,
                        format!("`{name}` takes two addresses and a number of bytes"),
                    );
                };
                let method = match self.constant(&bytes) {
                    Some(Number::Int(4)) => "cp.async.4",
                    Some(Number::Int(8)) => "cp.async.8",
                    Some(Number::Int(16)) => "cp.async.16",
                    _ => {
                        return refuse(bytes.at, "an asynchronous copy is one of 4, 8 or 16 bytes");
                    }
                };
                Ok(library(method, vec![target, source], Type::Unit, at))
            }
            "__pipeline_wait_prior" => {
                let [groups] = take(name, arguments, at)?;
                let Some(Number::Int(groups)) = self.constant(&groups) else {
                    return refuse(at, "the number of groups is known when the file is compiled");
                };
                match usize::try_from(groups).ok().and_then(|groups| WAITS.get(groups)) {
                    Some(text) => Ok(library(text, Vec::new(), Type::Unit, at)),
                    None => {
                        refuse(at, format!("0 to {} groups are waited for here", WAITS.len() - 1))
                    }
                }
            }
            _ => match INSTEAD.iter().find(|(one, _)| *one == name) {
                Some((_, instead)) => refuse(at, format!("`{name}` is not read here: {instead}")),
                None => refuse(at, format!("the function `{name}` is not known here")),
            },
        }
    }
}

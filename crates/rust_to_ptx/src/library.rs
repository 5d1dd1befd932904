//! Functions and methods of `core` and `cuda_std` that kernels of tasks use.

use crate::check::{Check, Variable};
use crate::tree::{Expr, Int, Kind, Place, Result, Scalar, Type, Vector, refuse};

impl Check {
    /// Returns a call of a library's function.
    pub fn library_function(
        &mut self,
        path: &str,
        shown: &str,
        generics: &[Type],
        arguments: &[&syn::Expr],
        wanted: Option<&Type>,
        at: Place,
    ) -> Result<Expr> {
        call(self, path, shown, generics, arguments, wanted, at)
    }

    /// Returns a call of a library's method.
    pub fn library_method(
        &mut self,
        receiver: Expr,
        name: &str,
        generics: &[Type],
        arguments: &[&syn::Expr],
        at: Place,
    ) -> Result<Expr> {
        method(self, receiver, name, generics, arguments, at)
    }
}

/// Special registers and other functions without arguments.
const NO_ARGUMENTS: &[(&str, &str)] = &[
    ("thread::thread_idx_x", "%tid.x"),
    ("thread::thread_idx_y", "%tid.y"),
    ("thread::thread_idx_z", "%tid.z"),
    ("thread::block_idx_x", "%ctaid.x"),
    ("thread::block_idx_y", "%ctaid.y"),
    ("thread::block_idx_z", "%ctaid.z"),
    ("thread::block_dim_x", "%ntid.x"),
    ("thread::block_dim_y", "%ntid.y"),
    ("thread::block_dim_z", "%ntid.z"),
    ("thread::grid_dim_x", "%nctaid.x"),
    ("thread::grid_dim_y", "%nctaid.y"),
    ("thread::grid_dim_z", "%nctaid.z"),
    ("warp::lane_id", "%laneid"),
    ("warp::warp_id", "%warpid"),
    ("thread::index_1d", "index_1d"),
    ("warp::activemask", "activemask"),
];

/// Functions without arguments and result.
const STATEMENTS: &[(&str, &str)] = &[
    ("thread::sync_threads", "bar.sync \t0;"),
    ("thread::block_fence", "membar.cta;"),
    ("thread::device_fence", "membar.gl;"),
    ("thread::grid_fence", "membar.gl;"),
    ("async_copy::commit_group", "cp.async.commit_group;"),
    ("async_copy::wait_all", "cp.async.wait_all;"),
];

/// A call of a library's function.
fn call(
    check: &mut Check,
    path: &str,
    shown: &str,
    generics: &[Type],
    arguments: &[&syn::Expr],
    wanted: Option<&Type>,
    at: Place,
) -> Result<Expr> {
    let made = |name: &'static str, arguments: Vec<Expr>, of: Type| {
        Ok(Expr { kind: Kind::Library(name, arguments), of, at })
    };
    let unknown = || refuse(at, format!("the function `{shown}` is not known here"));
    if let Some(name) = path.strip_prefix("cuda_std::") {
        if let Some((_, register)) = NO_ARGUMENTS.iter().find(|(one, _)| *one == name) {
            check.arguments(arguments, &[], at)?;
            return made(register, Vec::new(), Type::U32);
        }
        if let Some((_, text)) = STATEMENTS.iter().find(|(one, _)| *one == name) {
            check.arguments(arguments, &[], at)?;
            return made(text, Vec::new(), Type::Unit);
        }
        return of_cuda_std(check, name, shown, generics, arguments, wanted, at);
    }
    match path {
        "core::mem::MaybeUninit::uninit" => {
            check.arguments(arguments, &[], at)?;
            let of = check.fresh(Variable::Any);
            return made("uninit", Vec::new(), Type::Uninit(Box::new(of)));
        }
        "core::ptr::read_volatile" | "core::ptr::read" => {
            check.needs_unsafe(&format!("`{shown}`"), at)?;
            let to = check.fresh(Variable::Any);
            let pointer = Type::Pointer(false, Box::new(to.clone()));
            let all = check.arguments(arguments, &[pointer], at)?;
            let name = if path.ends_with('e') { "read_volatile" } else { "read" };
            return made(name, all, to);
        }
        "core::ptr::write_volatile" | "core::ptr::write" => {
            check.needs_unsafe(&format!("`{shown}`"), at)?;
            let to = check.fresh(Variable::Any);
            let pointer = Type::Pointer(true, Box::new(to.clone()));
            let all = check.arguments(arguments, &[pointer, to], at)?;
            let is_volatile = path.ends_with("volatile");
            return made(if is_volatile { "write_volatile" } else { "write" }, all, Type::Unit);
        }
        "core::mem::transmute" => {
            check.needs_unsafe(&format!("`{shown}`"), at)?;
            let from = generics.first().cloned().unwrap_or_else(|| check.fresh(Variable::Any));
            let to = generics.get(1).cloned().or_else(|| wanted.cloned());
            let to = to.unwrap_or_else(|| check.fresh(Variable::Any));
            let all = check.arguments(arguments, &[from], at)?;
            return made("transmute", all, to);
        }
        _ => {}
    }
    let Some((of, name)) = path.rsplit_once("::") else { return unknown() };
    let of = of.strip_prefix("core::").unwrap_or(of);
    let number = match of {
        "f32" => Some(Type::F32),
        "f64" => Some(Type::F64),
        _ => Int::named(of).map(Type::Int),
    };
    let Some(number) = number else { return unknown() };
    match (name, &number, arguments) {
        ("from", _, [one]) => {
            let value = check.expr(one, None)?;
            let from = check.known(&value.of);
            let is_fine = match (&from, &number) {
                (Type::Bool, Type::Int(_)) => true,
                (Type::Int(from), Type::Int(to)) if to.of_address => {
                    !from.of_address && from.bits <= 16 && (!from.signed || to.signed)
                }
                (Type::Int(from), Type::Int(to)) => {
                    from == to
                        || (!from.of_address && from.bits < to.bits && (!from.signed || to.signed))
                }
                (Type::Int(from), Type::F32) => !from.of_address && from.bits <= 16,
                (Type::Int(from), Type::F64) => !from.of_address && from.bits <= 32,
                (Type::F32, Type::F64) => true,
                (from, to) => from == to,
            };
            if !is_fine {
                let message = format!("`{shown}` takes no `{}`", from.show());
                return refuse(value.at, message);
            }
            Ok(Expr { kind: Kind::Cast(Box::new(value)), of: number, at })
        }
        ("from_bits", Type::F32, _) => {
            let all = check.arguments(arguments, &[Type::U32], at)?;
            made("transmute", all, number)
        }
        // `u32::min(a, b)` is `a.min(b)`.
        (_, _, [first, rest @ ..]) => {
            let receiver = check.expr(first, Some(&number))?;
            check.unify(&receiver.of, &number, receiver.at)?;
            method(check, receiver, name, generics, rest, at)
        }
        _ => unknown(),
    }
}

fn of_cuda_std(
    check: &mut Check,
    name: &str,
    shown: &str,
    generics: &[Type],
    arguments: &[&syn::Expr],
    wanted: Option<&Type>,
    at: Place,
) -> Result<Expr> {
    let made = |name: &'static str, arguments: Vec<Expr>, of: Type| {
        Ok(Expr { kind: Kind::Library(name, arguments), of, at })
    };
    let is_unsafe = |check: &Check| check.needs_unsafe(&format!("`{shown}`"), at);
    let pointer = |mutable, of: &Type| Type::Pointer(mutable, Box::new(of.clone()));
    match name {
        "thread::warp_size" => {
            check.arguments(arguments, &[], at)?;
            Ok(Expr { kind: Kind::Int(32), of: Type::U32, at })
        }
        "thread::sync_threads_count" | "thread::sync_threads_and" | "thread::sync_threads_or" => {
            let all = check.arguments(arguments, &[Type::U32], at)?;
            let name = match name.rsplit('_').next() {
                Some("count") => "bar.popc",
                Some("and") => "bar.and",
                _ => "bar.or",
            };
            made(name, all, Type::U32)
        }
        "warp::sync_warp" => {
            is_unsafe(check)?;
            let all = check.arguments(arguments, &[Type::U32], at)?;
            made("bar.warp", all, Type::Unit)
        }
        "warp::warp_vote_ballot" | "warp::warp_vote_all" | "warp::warp_vote_any" => {
            is_unsafe(check)?;
            let all = check.arguments(arguments, &[Type::U32, Type::Bool], at)?;
            match name.rsplit('_').next() {
                Some("ballot") => made("vote.ballot", all, Type::U32),
                Some("all") => made("vote.all", all, Type::Bool),
                _ => made("vote.any", all, Type::Bool),
            }
        }
        "warp::warp_shuffle_down"
        | "warp::warp_shuffle_up"
        | "warp::warp_shuffle_xor"
        | "warp::warp_shuffle_idx" => {
            is_unsafe(check)?;
            let of = check.fresh(Variable::Any);
            let types = [Type::U32, of.clone(), Type::U32, Type::U32];
            let all = check.arguments(arguments, &types, at)?;
            if !matches!(check.known(&of), Type::F32 | Type::Int(Int { bits: 32, .. })) {
                return refuse(at, "a shuffle of values of 32 bits is read here");
            }
            let name = match name.rsplit('_').next() {
                Some("down") => "shfl.down",
                Some("up") => "shfl.up",
                Some("xor") => "shfl.bfly",
                _ => "shfl.idx",
            };
            made(name, all, Type::Tuple(vec![of, Type::Bool]))
        }
        "async_copy::copy_4" | "async_copy::copy_8" | "async_copy::copy_16" => {
            is_unsafe(check)?;
            let of = check.fresh(Variable::Any);
            let types = [pointer(true, &of), pointer(false, &of)];
            let all = check.arguments(arguments, &types, at)?;
            let name = match name.rsplit('_').next() {
                Some("4") => "cp.async.4",
                Some("8") => "cp.async.8",
                _ => "cp.async.16",
            };
            made(name, all, Type::Unit)
        }
        "memory::load_nc" => {
            is_unsafe(check)?;
            let of = generics.first().cloned().unwrap_or_else(|| check.fresh(Variable::Any));
            let all = check.arguments(arguments, &[pointer(false, &of)], at)?;
            made("load_nc", all, of)
        }
        "vector::load" => {
            is_unsafe(check)?;
            let of = generics.first().cloned().or_else(|| wanted.cloned());
            let of = of.unwrap_or_else(|| check.fresh(Variable::Any));
            let element = check.fresh(Variable::Any);
            let all = check.arguments(arguments, &[pointer(false, &element)], at)?;
            made("vector.load", all, of)
        }
        "vector::store" => {
            is_unsafe(check)?;
            let (element, value) = (check.fresh(Variable::Any), check.fresh(Variable::Any));
            let all = check.arguments(arguments, &[pointer(true, &element), value.clone()], at)?;
            if !matches!(check.known(&value), Type::Vector(_)) {
                return refuse(at, "`store` takes a vector, such as an `F32x4`");
            }
            made("vector.store", all, Type::Unit)
        }
        _ => {
            let unknown = || refuse(at, format!("the function `{shown}` is not known here"));
            let Some((of, name)) = name.rsplit_once("::") else { return unknown() };
            if let Some(of) = of.strip_prefix("atomic::") {
                let (is_block, of) = match of.strip_prefix("Block") {
                    Some(of) => (true, of),
                    None => (false, of),
                };
                let of = of.strip_prefix("Atomic").map(str::to_lowercase);
                let int = of.and_then(|of| Int::named(&of)).filter(|int| int.bits >= 32);
                if let (Some(int), "from_ptr") = (int, name) {
                    is_unsafe(check)?;
                    let types = [pointer(true, &Type::Int(int))];
                    let all = check.arguments(arguments, &types, at)?;
                    return made("pointer", all, Type::Atomic(is_block, Scalar::Int(int)));
                }
                return unknown();
            }
            let Some(vector) = of.strip_prefix("vector::").and_then(Vector::named) else {
                return unknown();
            };
            let (element, of) = (Type::of(vector.element), Type::Vector(vector));
            match name {
                "new" => {
                    let types = vec![element; vector.lanes];
                    let all = check.arguments(arguments, &types, at)?;
                    made("aggregate", all, of)
                }
                "splat" => {
                    let all = check.arguments(arguments, &[element], at)?;
                    made("splat", all, of)
                }
                "from_array" => {
                    let array = Type::Array(Box::new(element), vector.lanes);
                    let all = check.arguments(arguments, &[array], at)?;
                    made("pointer", all, of)
                }
                _ => unknown(),
            }
        }
    }
}

/// Methods of whole numbers: name, arguments of the same type, and the result.
const OF_INTS: &[(&str, usize, Answer)] = &[
    ("wrapping_add", 1, Answer::Same),
    ("wrapping_sub", 1, Answer::Same),
    ("wrapping_mul", 1, Answer::Same),
    ("wrapping_neg", 0, Answer::Same),
    ("saturating_sub", 1, Answer::Same),
    ("abs_diff", 1, Answer::Unsigned),
    ("min", 1, Answer::Same),
    ("max", 1, Answer::Same),
    ("div_ceil", 1, Answer::Unsigned),
    ("is_multiple_of", 1, Answer::Bool),
    ("is_power_of_two", 0, Answer::Bool),
    ("count_ones", 0, Answer::U32),
    ("leading_zeros", 0, Answer::U32),
    ("trailing_zeros", 0, Answer::U32),
    ("clamp", 2, Answer::Same),
];
/// The same of floats.
const OF_FLOATS: &[(&str, usize, Answer)] = &[
    ("min", 1, Answer::Same),
    ("max", 1, Answer::Same),
    ("abs", 0, Answer::Same),
    ("sqrt", 0, Answer::Same),
    ("mul_add", 2, Answer::Same),
    ("to_bits", 0, Answer::Bits),
];

/// Methods that are not known, and what to write instead.
const INSTEAD: &[(&[&str], &str)] = &[
    (
        &["iter", "iter_mut", "into_iter", "enumerate", "zip", "sum", "fold", "windows", "chunks"],
        "write a `for` over a range of indexes",
    ),
    (&["rotate_left", "rotate_right"], "write two shifts and `|`"),
    (&["pow", "powi", "powf"], "multiply"),
    (&["checked_add", "checked_sub", "checked_mul", "overflowing_add"], "compare before"),
    (
        &["get", "get_mut", "get_unchecked", "first", "last", "unwrap", "expect"],
        "write the index in brackets",
    ),
    (&["rem_euclid", "div_euclid"], "write `%` and `/`"),
    (&["compare_exchange", "fetch_update"], "use `fetch_add` and its like"),
    (&["is_null", "as_ptr", "as_mut_ptr"], "write `&raw const` or `&raw mut`"),
    (&["copy_from_slice", "fill", "swap"], "write a loop"),
    (&["clone", "to_owned", "copied", "into"], "leave it: values are copied"),
];

#[derive(Clone, Copy, PartialEq)]
enum Answer {
    Same,
    /// The same, of unsigned numbers only.
    Unsigned,
    Bool,
    U32,
    Bits,
}

/// A call of a method.
fn method(
    check: &mut Check,
    receiver: Expr,
    name: &str,
    generics: &[Type],
    arguments: &[&syn::Expr],
    at: Place,
) -> Result<Expr> {
    let made = |name: &'static str, arguments: Vec<Expr>, of: Type| {
        Ok(Expr { kind: Kind::Library(name, arguments), of, at })
    };
    let of = check.shallow(&receiver.of);
    let unknown = |check: &Check| {
        let of = check.known(&of).show();
        let instead = INSTEAD.iter().find(|(names, _)| names.contains(&name));
        let instead = instead.map_or(String::new(), |(_, instead)| format!(": {instead}"));
        refuse(at, format!("the method `{name}` of `{of}` is not known here{instead}"))
    };
    if let Type::Unknown(_) = of {
        return refuse(
            at,
            format!("the type before `.{name}` is not known yet: say it, such as `0_u32`"),
        );
    }
    let with = |check: &mut Check, types: &[Type]| -> Result<Vec<Expr>> {
        check.arguments(arguments, types, at)
    };
    match &of {
        Type::Int(_) | Type::F32 | Type::F64 => {
            let is_int = matches!(of, Type::Int(_));
            if let (
                Type::Int(Int { bits: 8, signed: false, .. }),
                "to_ascii_uppercase" | "to_ascii_lowercase",
            ) = (&of, name)
            {
                with(check, &[])?;
                let name = if name.contains("upper") { "upper" } else { "lower" };
                return made(name, vec![receiver], of);
            }
            let table = if is_int { OF_INTS } else { OF_FLOATS };
            let Some((name, count, answer)) = table.iter().find(|(one, ..)| *one == name) else {
                return unknown(check);
            };
            let types = vec![of.clone(); *count];
            let mut all = with(check, &types)?;
            all.insert(0, receiver);
            let result = match (answer, &of) {
                (Answer::Unsigned, Type::Int(int)) if int.signed => return unknown(check),
                (Answer::Same | Answer::Unsigned, _) => of,
                (Answer::Bool, _) => Type::Bool,
                (Answer::U32, _) | (Answer::Bits, Type::F32) => Type::U32,
                (Answer::Bits, _) => Type::Int(Int { bits: 64, signed: false, of_address: false }),
            };
            let name = if *name == "to_bits" { "transmute" } else { name };
            made(name, all, result)
        }
        Type::Pointer(mutable, to) => {
            let isize = Type::Int(Int { signed: true, ..Int::USIZE });
            let is_unsafe = |check: &Check| check.needs_unsafe(&format!("`{name}`"), at);
            match name {
                "add" | "sub" | "wrapping_add" | "wrapping_sub" | "offset" => {
                    if !name.starts_with("wrapping") {
                        is_unsafe(check)?;
                    }
                    let by = if name == "offset" { isize } else { Type::USIZE };
                    let mut all = with(check, &[by])?;
                    all.insert(0, receiver);
                    let name = if name.ends_with("sub") { "pointer.sub" } else { "pointer.add" };
                    made(name, all, of)
                }
                "cast" => {
                    with(check, &[])?;
                    let to = generics.first().cloned();
                    let to = to.unwrap_or_else(|| check.fresh(Variable::Any));
                    made("pointer", vec![receiver], Type::Pointer(*mutable, Box::new(to)))
                }
                "cast_const" | "cast_mut" => {
                    with(check, &[])?;
                    let mutable = name == "cast_mut";
                    made("pointer", vec![receiver], Type::Pointer(mutable, to.clone()))
                }
                "read" | "read_volatile" => {
                    is_unsafe(check)?;
                    with(check, &[])?;
                    let name = if name == "read" { "read" } else { "read_volatile" };
                    made(name, vec![receiver], (**to).clone())
                }
                "write" | "write_volatile" if *mutable => {
                    is_unsafe(check)?;
                    let mut all = with(check, &[(**to).clone()])?;
                    all.insert(0, receiver);
                    let name = if name == "write" { "write" } else { "write_volatile" };
                    made(name, all, Type::Unit)
                }
                _ => unknown(check),
            }
        }
        Type::Atomic(_, int) => {
            let number = Type::of(*int);
            let (name, count, has_result) = match name {
                "fetch_add" => ("atom.add", 1, true),
                "fetch_sub" => ("atom.sub", 1, true),
                "fetch_min" => ("atom.min", 1, true),
                "fetch_max" => ("atom.max", 1, true),
                "fetch_and" => ("atom.and", 1, true),
                "fetch_or" => ("atom.or", 1, true),
                "fetch_xor" => ("atom.xor", 1, true),
                "swap" => ("atom.exch", 1, true),
                "load" => ("atom.load", 0, true),
                "store" => ("atom.store", 1, false),
                _ => return unknown(check),
            };
            let mut types = vec![number.clone(); count];
            types.push(Type::Ordering);
            let mut all = with(check, &types)?;
            all.insert(0, receiver);
            made(name, all, if has_result { number } else { Type::Unit })
        }
        Type::Vector(vector) => {
            let element = Type::of(vector.element);
            match name {
                "to_array" => {
                    with(check, &[])?;
                    made("pointer", vec![receiver], Type::Array(Box::new(element), vector.lanes))
                }
                "map" if arguments.len() == 1 => {
                    let function = check.expr(arguments[0], None)?;
                    let Type::Closure(index) = check.shallow(&function.of) else {
                        return refuse(function.at, "`map` takes a closure here");
                    };
                    let closure = &check.out.closures[index];
                    let (types, result) = (closure.types.clone(), closure.result.clone());
                    if types.len() != 1 {
                        return refuse(function.at, "`map` takes a closure of one argument");
                    }
                    check.unify(&types[0], &element, function.at)?;
                    check.unify(&result, &element, function.at)?;
                    check.settle(index)?;
                    made("map", vec![receiver, function], of)
                }
                _ => unknown(check),
            }
        }
        Type::Slice(..) if name == "len" => {
            with(check, &[])?;
            Ok(Expr { kind: Kind::Field(Box::new(receiver), 1), of: Type::USIZE, at })
        }
        Type::Array(_, length) if name == "len" => {
            with(check, &[])?;
            Ok(Expr { kind: Kind::Int(*length as u64), of: Type::USIZE, at })
        }
        _ => unknown(check),
    }
}

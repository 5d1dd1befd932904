//! The text of a CUDA source: its first kernel's parameters, and numbers in its comments.

use super::Checkout;
use super::job::{Argument, Buffer, Job, Launch, SCHEDULES};
use anyhow::Result;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub is_pointer: bool,
    pub is_float: bool,
}

/// Declarations that the tests may make to the prover: nothing to a GPU but that an assertion holds.
pub const PRELUDE: &str = "\
#include <cuda.h>
#include <cuda_runtime.h>
typedef unsigned int uint;
#define __requires(...) ((void)0)
#define __ensures(...) ((void)0)
#define __invariant(...) ((void)0)
#define __global_invariant(...) ((void)0)
#define __requires_fresh_array(...) ((void)0)
#define __assume(...) ((void)0)
#define __assert(...) do { if (!(__VA_ARGS__)) __trap(); } while (0)
";

/// The array that a kernel gets for each pointer: words that differ and are small, so that they are an index of most arrays.
pub fn array(checkout: &Checkout) -> Result<Buffer> {
    let words: Vec<i32> = (0..1 << 18).map(|it| it % 1024).collect();
    checkout.buffer("array", &words)
}

/// A job that launches the first kernel of a text once: an array for each pointer, and for numbers what `values` gives.
pub fn job(
    text: &str,
    array: &Buffer,
    (grid, block): ([u32; 3], [u32; 3]),
    values: &dyn Fn(&str) -> i64,
) -> Option<Job> {
    let (kernel, parameters) = kernel(text)?;
    let mut buffers = Vec::new();
    let argument = |parameter: &Parameter| {
        if parameter.is_pointer {
            buffers.push(array.clone());
            return Argument::of(buffers.len() - 1);
        }
        match parameter.is_float {
            true => Argument::Float(1.5),
            false => Argument::Integer(values(&parameter.name)),
        }
    };
    let arguments = parameters.iter().map(argument).collect();
    let launch = Launch { kernel, grid, block, shared: 0, arguments };
    Some(Job { buffers, launches: vec![launch], schedules: SCHEDULES.to_vec(), ..Job::default() })
}

/// The first kernel of a text: its name and its parameters.
pub fn kernel(text: &str) -> Option<(String, Vec<Parameter>)> {
    kernels(text).into_iter().next()
}

/// The kernels of a text, in its order.
pub fn kernels(text: &str) -> Vec<(String, Vec<Parameter>)> {
    let text = without_comments(text);
    text.split("__global__").skip(1).filter_map(signature).collect()
}

/// A name and its parameters, after what marks a kernel.
fn signature(after: &str) -> Option<(String, Vec<Parameter>)> {
    let open = after.match_indices('(').map(|(at, _)| at).find(|at| {
        let before = after[..*at].trim_end();
        !before.ends_with("__launch_bounds__") && !before.ends_with("__attribute__")
    })?;
    let name = after[..open].trim_end().rsplit(|it: char| !is_word(it)).next()?.to_owned();
    let list = after[open + 1..].split(')').next()?;
    let each = list.split(',').map(str::trim).filter(|it| !it.is_empty() && *it != "void");
    Some((name, each.map(parameter).collect()))
}

/// The beginning of the name that a kernel in a namespace has in PTX.
pub fn mangled(space: &str, kernel: &str) -> String {
    format!("_ZN{}{space}{}{kernel}E", space.len(), kernel.len())
}

fn parameter(text: &str) -> Parameter {
    let bare = text.split('[').next().unwrap_or(text).trim_end();
    let name = bare.rsplit(|it: char| !is_word(it)).next().unwrap_or_default().to_owned();
    let is_pointer = text.contains('*') || text.contains('[');
    let is_float =
        !is_pointer && ["float", "double"].iter().any(|it| text.split(' ').any(|word| word == *it));
    Parameter { name, is_pointer, is_float }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

pub fn without_comments(text: &str) -> String {
    let mut lines = String::new();
    let mut parts = text.split("/*");
    lines += parts.next().unwrap_or_default();
    for part in parts {
        lines += part.split_once("*/").map_or("", |(_, rest)| rest);
    }
    lines
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n")
        .collect()
}

/// The extents that an option of a comment gives: `--blockDim=64` or `--gridDim=[8,8]`.
pub fn extents(line: &str, option: &str) -> Option<[u32; 3]> {
    let after = line.split_once(&format!("--{option}="))?.1;
    let list = after.strip_prefix('[').map_or_else(
        || after.split(' ').next().unwrap_or_default(),
        |list| list.split(']').next().unwrap_or_default(),
    );
    let mut extents = [1; 3];
    for (extent, number) in extents.iter_mut().zip(list.split(',')) {
        *extent = number.trim().parse().ok()?;
    }
    Some(extents)
}

/// Halves the largest extents until there are at most so many.
pub fn at_most(mut extents: [u32; 3], most: u32) -> [u32; 3] {
    while extents.iter().product::<u32>() > most {
        let largest = extents.iter_mut().max_by_key(|it| **it);
        largest.into_iter().for_each(|it| *it /= 2);
    }
    extents
}

/// The value that a test requires of a parameter, or that its first lines say a failing launch has.
pub fn required(text: &str, name: &str, threads: u32) -> Option<i64> {
    let terms = ["__requires(", "__assume("].map(|word| text.split(word).skip(1));
    let required =
        terms.into_iter().flatten().filter_map(|term| term.split_once(')')?.0.split_once("=="));
    let heading = text.lines().map_while(|line| line.strip_prefix("//"));
    let said = heading.filter_map(|line| line.split_once('='));
    let (_, value) = required.chain(said).find(|(left, _)| left.trim() == name)?;
    // Of alternatives, the first.
    match value.split('|').next().unwrap_or_default().trim() {
        "blockDim.x" => Some(i64::from(threads)),
        value => value.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_has_a_name_and_parameters() {
        let text = "// __global__ void no(int x)\n__global__ void\n__launch_bounds__(64) yes(const float *a, /* n */ int n,\n float b, int c[])\n{}";
        let (name, parameters) = kernel(text).expect("there is one");
        assert_eq!(name, "yes");
        let names: Vec<&str> = parameters.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["a", "n", "b", "c"]);
        let pointers: Vec<bool> = parameters.iter().map(|it| it.is_pointer).collect();
        assert_eq!(pointers, [true, false, false, true]);
        assert!(parameters[2].is_float);
    }

    #[test]
    fn of_required_values_the_first_is_taken() {
        let text = "__requires(i == 1 | i == 2); __assume(n == blockDim.x);";
        assert_eq!(required(text, "i", 64), Some(1));
        assert_eq!(required(text, "n", 64), Some(64));
        assert_eq!(required(text, "j", 64), None);
    }

    #[test]
    fn extents_are_read_and_bounded() {
        let line = "//--blockDim=[64,64] --gridDim=16 --other";
        assert_eq!(extents(line, "blockDim"), Some([64, 64, 1]));
        assert_eq!(extents(line, "gridDim"), Some([16, 1, 1]));
        assert_eq!(extents(line, "nothing"), None);
        assert_eq!(at_most([64, 64, 1], 1024), [32, 32, 1]);
    }

    #[test]
    fn a_required_value_is_found() {
        let text = "//xfail\n//k = 7\n__requires(n == 143);\n__requires(m > 3);\n__requires(s == blockDim.x);";
        assert_eq!(required(text, "n", 64), Some(143));
        assert_eq!(required(text, "m", 64), None);
        assert_eq!(required(text, "s", 64), Some(64));
        assert_eq!(required(text, "k", 64), Some(7));
    }
}

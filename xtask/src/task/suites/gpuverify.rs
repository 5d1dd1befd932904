//! GPUVerify's tests: what a launch shows of what it proves. The first lines of a test say whether it verifies, and by which
//! grid and block.

use super::compile::{UNOPTIMIZED, Unit};
use super::source::{PRELUDE, array, at_most, extents, job, required};
use super::{Bug, Checkout, Code, Suite};
use anyhow::{Context, Result};
use std::path::Path;
use walkdir::WalkDir;

pub const SUITE: Suite = Suite {
    name: "gpuverify",
    title: "GPUVerify",
    repository: "mc-imperial/gpuverify",
    marker: "testsuite/CUDA",
    codes,
    published: &[],
    disputed: &[
        ("warpsync/*", "it assumes that a warp runs in lockstep, which no GPU since Volta does"),
        (
            "pointertests/test12",
            "each thread reads what the others store, with no barrier: it is always the same pointer",
        ),
        ("loop_unwind", SAME),
        ("memcpy/*", SAME),
    ],
    speaks_of: &[Bug::Race, Bug::Barrier, Bug::Assertion],
    timed: None,
};

const SAME: &str = "all threads store the same value, which is a note, SameValue, and no finding";

/// Threads of a block and blocks that a launch has at most: a proof is not bound by what a GPU takes.
const THREADS: u32 = 1024;
const BLOCKS: u32 = 64;

const GROUPS: &str = "#include <cooperative_groups.h>\n";

fn codes(checkout: &Checkout) -> Result<Vec<Code>> {
    let folder = checkout.folder.join("testsuite/CUDA");
    let array = array(checkout)?;
    let mut codes = Vec::new();
    for entry in WalkDir::new(&folder).sort_by_file_name() {
        let path = entry?.into_path();
        if path.extension().is_none_or(|it| it != "cu") {
            continue;
        }
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let name = path.parent().and_then(|it| it.strip_prefix(&folder).ok());
        let name = name.map_or_else(String::new, |it| it.display().to_string());
        let Some(bugs) = bugs(&name, &text) else { continue };
        let options = text.lines().nth(1).unwrap_or_default();
        let shape = |option, most| extents(options, option).map(|it| at_most(it, most));
        let Some((block, grid)) = shape("blockDim", THREADS).zip(shape("gridDim", BLOCKS)) else {
            continue;
        };
        if takes_function(&text) {
            continue;
        }
        let value = |name: &str| required(&text, name, block[0]).unwrap_or(16);
        let Some(job) = job(&text, &array, (grid, block), &value) else { continue };
        let mut unit = Unit::of_file(path);
        let groups = if text.contains("cooperative_groups") { GROUPS } else { "" };
        unit.text = format!("{groups}{PRELUDE}{}", unit.text);
        let defines = options.split(' ').filter(|it| it.starts_with("-D"));
        unit.arguments = defines.map(str::to_owned).collect();
        unit.arguments.push(UNOPTIMIZED.to_owned());
        codes.push(Code {
            name,
            input: String::new(),
            bugs,
            cost: None,
            refusal: None,
            races_are_global: !text.contains("__shared__"),
            unit,
            job,
        });
    }
    Ok(codes)
}

/// Returns whether the kernel takes the address of a function of the device, which no host of the suite has.
fn takes_function(text: &str) -> bool {
    let types =
        text.split("typedef").skip(1).filter_map(|it| it.split_once("(*")?.1.split_once(')'));
    let types: Vec<&str> = types.map(|(name, _)| name.trim()).collect();
    let list = text.split("__global__").nth(1).and_then(|it| it.split_once('{'));
    let list = list.map_or("", |(head, _)| head);
    list.split(|it: char| !(it.is_alphanumeric() || it == '_')).any(|word| types.contains(&word))
}

/// The bug of a test; nothing for what only a proof can fail.
fn bugs(name: &str, text: &str) -> Option<Vec<Bug>> {
    let first = text.lines().next().unwrap_or_default().to_lowercase();
    if first.starts_with("//pass") {
        return Some(Vec::new());
    }
    let (_, bug) = FAULTS.iter().find(|(test, _)| Path::new(name).ends_with(test))?;
    Some(vec![*bug])
}

/// The tests that fail by what a launch does, by the ends of their names.
const FAULTS: &[(&str, Bug)] = &[
    ("add_tid", Bug::Race),
    ("add_zero", Bug::Race),
    ("test_abstraction_enforced", Bug::Assertion),
    ("cooperative_groups/fail/block_divergence_grid_group", Bug::Barrier),
    ("cooperative_groups/fail/divergence_grid_group", Bug::Barrier),
    ("cooperative_groups/fail/divergence_thread_block", Bug::Barrier),
    ("cooperative_groups/fail/race", Bug::Race),
    ("curand_tests/fail/curand_mtgp32_block_race", Bug::Race),
    ("curand_tests/fail/curand_mtgp32_race", Bug::Race),
    ("curand_tests/fail/curand_race", Bug::Race),
    ("curand_tests/fail/init_race", Bug::Race),
    ("fail_tests/race_on_shared", Bug::Race),
    ("fail_tests/shared_int", Bug::Race),
    ("function_pointers/basic_assignment_fail", Bug::Bounds),
    ("function_pointers/constant_value", Bug::Bounds),
    ("function_pointers/soundness_issue", Bug::Assertion),
    ("loop_unwind", Bug::Race),
    ("memcpy/fail_arrayofstruct", Bug::Race),
    ("memcpy/fail_overstep", Bug::Race),
    ("memcpy/lentoobig", Bug::Race),
    ("memcpy/notexactdiv", Bug::Race),
    ("memcpy/null_dst", Bug::Bounds),
    ("memcpy/null_src", Bug::Bounds),
    ("memcpy/unhandled_varlen", Bug::Race),
    ("memset/null_dst", Bug::Bounds),
    ("misc/fail/miscfail3", Bug::Race),
    ("misc/fail/miscfail4", Bug::Race),
    ("misc/fail/miscfail5", Bug::Bounds),
    ("misc/fail/miscfail8", Bug::Assertion),
    ("misc/pass/misc3", Bug::Bounds),
    ("param_values/value_causing_race", Bug::Race),
    ("param_values/value_in_assert", Bug::Assertion),
    ("pointeranalysistests/testbasicaliasing", Bug::Race),
    ("pointertests/cast", Bug::Race),
    ("warpsync/bad_inter_group", Bug::Race),
    ("warpsync/broken_shuffle", Bug::Race),
    ("warpsync/equality_abstraction_issue", Bug::Assertion),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_only_a_proof_fails_is_left_out() {
        assert_eq!(bugs("any", "//pass\n"), Some(Vec::new()));
        assert_eq!(bugs("any", "//xfail:NOT_ALL_VERIFIED\n"), None);
    }

    #[test]
    fn a_kernel_that_takes_a_function_is_left_out() {
        let types = "typedef float(*funcType)(float*, int);\n";
        assert!(takes_function(&format!("{types}__global__ void k(float *v, funcType f) {{}}")));
        let inside = "__global__ void k(float *v) { funcType f = 0; }";
        assert!(!takes_function(&format!("{types}{inside}")));
        assert!(!takes_function("__global__ void k(float *v) {}"));
    }
}

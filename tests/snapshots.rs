//! Facts of the kernels, against the committed snapshots and the promises of their docs.

use crate::kernels_source::root;
use host::CATALOGUE;
use host::patterns::ALL as PATTERNS;
use std::fmt::Write;

/// `cargo xtask bless` sets it: snapshots are rewritten instead of compared.
pub fn blessing() -> bool {
    std::env::var_os("COALESCE_BLESS").is_some()
}

/// Set where the kernels are compiled by another compiler than the snapshots': `cargo xtask test` sets it and says so.
const OTHER_COMPILER: &str = "COALESCE_OTHER_COMPILER";

/// Compares `text` with the committed file at `path`, or rewrites that file.
///
/// A file of another compiler is an error, unless the environment says that one is expected.
pub fn compare(path: &str, text: &str) {
    let compiler = CATALOGUE.images[0].compiler;
    let text = format!("# {compiler}\n{text}");
    let file = root().join(path);
    if blessing() {
        std::fs::write(file, text).expect("a writable checkout");
        return;
    }
    let snapshot = std::fs::read_to_string(file).unwrap_or_default();
    assert!(!snapshot.is_empty(), "there is no {path} yet: run `cargo xtask bless` and commit it");
    if snapshot.lines().next() != text.lines().next() {
        assert!(
            std::env::var_os(OTHER_COMPILER).is_some(),
            "{path} is of another compiler than {compiler}: set {OTHER_COMPILER}=1 to compare nothing, or run `cargo xtask bless`"
        );
        println!("not compared: {path} is of another compiler than {compiler}");
        return;
    }
    let difference = snapshot.lines().zip(text.lines()).find(|(before, now)| before != now);
    assert!(
        snapshot == text,
        "{path} is stale; the first difference is {difference:?}. If it is meant, run `cargo xtask bless` and commit."
    );
}

#[test]
fn instructions() {
    for pattern in PATTERNS {
        let mut text = String::new();
        for image in CATALOGUE.images {
            let is_its =
                |kernel| CATALOGUE.owner_of(kernel).is_some_and(|one| one.name == pattern.name);
            // An image for one generation alone repeats the kernels of the one that newer devices run, too.
            let is_repeated = |kernel| {
                let mut others = CATALOGUE.images.iter().filter(|other| !other.is_specific());
                image.is_specific()
                    && others.any(|other| {
                        other.capability == image.capability && other.facts(kernel).is_some()
                    })
            };
            let is_its = |kernel| is_its(kernel) && !is_repeated(kernel);
            for facts in image.kernels.iter().filter(|facts| is_its(facts.kernel)) {
                let _ = writeln!(
                    text,
                    "{} {}: shared {} B, local {} B",
                    image.target(),
                    facts.kernel,
                    facts.shared_bytes,
                    facts.local_bytes
                );
                for (name, count) in facts.instructions {
                    let _ = writeln!(text, "    {count:3} {name}");
                }
            }
        }
        // Work of the host may have no kernels at all.
        if !text.is_empty() {
            compare(&format!("kernels/snapshots/{}.txt", pattern.name), &text);
        }
    }
}

/// The instructions of a kernel in the newest PTX that has it.
fn newest(kernel: &str) -> &'static cuda_host::KernelFacts {
    CATALOGUE
        .images
        .iter()
        .rev()
        .find_map(|image| image.facts(kernel))
        .unwrap_or_else(|| panic!("no PTX has {kernel}"))
}

fn has(kernel: &str, instruction: &str) -> bool {
    newest(kernel).instructions.iter().any(|(name, count)| *name == instruction && *count > 0)
}

#[test]
fn wide_variants_really_move_sixteen_bytes() {
    for kernel in [
        "coalescing_vectorized_16",
        "coalescing_in_flight",
        "transpose_vectorized",
        "matmul_ab_register_tiled",
        "l2_persistence_add",
    ] {
        for instruction in ["ld.global.v4.b32", "st.global.v4.b32"] {
            let read_only = instruction.replace("ld.global", "ld.global.nc");
            assert!(
                has(kernel, instruction) || has(kernel, &read_only),
                "{kernel} has no {instruction}"
            );
        }
    }
    assert!(
        has("coalescing_vectorized_8", "ld.global.v2.b32")
            || has("coalescing_vectorized_8", "ld.global.nc.v2.b32")
    );
    assert!(
        has("transpose_vectorized", "ld.shared.v4.b32")
            && has("transpose_vectorized", "st.shared.v4.b32")
    );
    for kernel in ["async_copy_pipelined", "async_copy_bulk"] {
        assert!(has(kernel, "ld.shared.v4.b32") && has(kernel, "st.global.v4.b32"), "{kernel}");
    }
    assert!(
        has("transpose_async_copy", "cp.async.ca.shared.global")
            || has("transpose_async_copy", "cp.async.cg.shared.global")
    );
}

#[test]
fn histograms_sums_and_scans_move_sixteen_bytes() {
    for (kernel, load) in [
        ("reduction_vectorized", "ld.global.v4.b32"),
        ("scan_vectorized", "ld.global.v4.b32"),
        ("scan_vectorized", "st.global.v4.b32"),
        ("scan_look_back", "ld.global.v4.b32"),
        ("scan_look_back", "st.global.v4.b32"),
        ("reduction_vectorized_i32", "ld.global.v4.b32"),
        ("reduction_vectorized_f64", "ld.global.v2.b64"),
        ("histogram_coarsened", "ld.global.v4.b32"),
        ("histogram_aggregated", "ld.global.v4.b32"),
        ("histogram_large_histogram_global", "ld.global.v4.b32"),
        ("histogram_large_histogram", "ld.global.v4.b32"),
    ] {
        assert!(has(kernel, load), "{kernel} has no {load}");
    }
}

#[test]
fn no_kernel_uses_generic_or_local_accesses() {
    /// The kernels that are about local memory, and the bytes of each thread.
    const LOCAL: [(&str, usize); 1] = [("local_memory_indexed", 128)];
    for image in CATALOGUE.images {
        for facts in image.kernels {
            let meant = LOCAL.iter().find(|(kernel, _)| *kernel == facts.kernel);
            assert_eq!(
                facts.local_bytes,
                meant.map_or(0, |(_, bytes)| *bytes),
                "{} on sm_{} has other local memory than it means",
                facts.kernel,
                image.capability
            );
            for (name, _) in facts.instructions {
                let mut parts = name.split('.');
                let stem = parts.next();
                let spaced = name.split('.').any(|part| {
                    let space = part.split("::").next().unwrap_or_default();
                    matches!(space, "global" | "shared" | "const" | "local" | "param")
                });
                assert!(
                    !matches!(stem, Some("ld" | "st" | "atom" | "red")) || spaced,
                    "{} on sm_{} has a generic {name}",
                    facts.kernel,
                    image.capability
                );
                assert!(
                    !name.contains(".local") || meant.is_some(),
                    "{} on sm_{} has {name}",
                    facts.kernel,
                    image.capability
                );
            }
        }
    }
}

//! Alignment broken on purpose: what happens to each variant when its arrays begin one element off.
//!
//! A kernel that loads or stores 8 or 16 bytes at once needs aligned arrays, which its launch contract says. Where they
//! are not, it must fail by its name and its line, or be right; it must never be wrong without a word.

use crate::executor::opened;
use coalesce::arrays::{Arrays, Misaligned};
use coalesce::pattern::{Pattern, Size};
use coalesce::verify::{VerifyOutcome, case, verify};
use cuda_host::{Checks, Gpu, KernelFault, Misuse};
use host::patterns::ALL as PATTERNS;
use std::collections::BTreeSet;

/// Returns the wrong outcomes of a pattern's variants with misaligned arrays, by name.
fn outcomes(
    gpu: &Gpu,
    pattern: &Pattern,
    misaligned: Misaligned,
) -> (BTreeSet<String>, Vec<String>) {
    let device = gpu.virtual_device().expect("the device is virtual");
    let size = Size::new(pattern.count_size);
    let case = case(pattern, &size, 1);
    let arrays = Arrays::misaligned(gpu, &case, misaligned).expect("they fit");
    let (mut named, mut wrong) = (BTreeSet::new(), Vec::new());
    for variant in pattern.variants {
        let name = format!("{}/{}", pattern.name, variant.name);
        let outcome = verify(gpu, &case, &arrays, variant, &size);
        let misuse = device.drain_misuse();
        let said: Vec<String> = misuse.iter().map(ToString::to_string).collect();
        let said = said.join("; ");
        device.forget_failure();
        match outcome {
            Ok(VerifyOutcome::Correct | VerifyOutcome::NotRun(_)) if said.is_empty() => {}
            // A tensor map is the host's: it is refused before there is a launch.
            Err(error) if format!("{error:#}").contains("multiple of 16") => {
                named.insert(name);
            }
            Err(_) => {
                let is_misaligned =
                    |one: &Misuse| one.fault == Some(KernelFault::MisalignedAddress);
                let names = pattern.kernel_names(variant);
                let is_named =
                    names.iter().any(|kernel| said.contains(&format!("kernel `{kernel}`")));
                if is_named && misuse.iter().any(is_misaligned) && said.contains(".rs:") {
                    named.insert(name);
                } else {
                    wrong.push(format!("{name}, {misaligned:?}: the error names no line: {said}"));
                }
            }
            Ok(outcome) => wrong.push(format!("{name}, {misaligned:?}: {outcome:?}; {said}")),
        }
    }
    (named, wrong)
}

#[test]
fn a_misaligned_array_is_a_named_error_or_does_no_harm() {
    let (_guard, gpu) =
        opened(|choice, images, _| Gpu::open_untimed(choice, images, Checks::none()));
    let (mut named, mut wrong) = (BTreeSet::new(), Vec::new());
    for pattern in PATTERNS.iter().filter(|pattern| !pattern.is_host_work()) {
        for misaligned in [Misaligned::Inputs, Misaligned::Outputs] {
            let (more_named, more_wrong) = outcomes(&gpu, pattern, misaligned);
            named.extend(more_named);
            wrong.extend(more_wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{} variants need aligned arrays, and say so: {named:?}", named.len());
    // The loads and stores of these have 8 and 16 bytes, and those of the last have 4.
    for wide in ["coalescing/vectorized_8", "coalescing/vectorized_16", "stencil/plane_rolling"] {
        assert!(named.contains(wide), "{wide} must need alignment");
    }
    assert!(!named.contains("coalescing/scalar"), "words need no more than their own alignment");
}

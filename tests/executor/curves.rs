//! Promises of variants at every value of a curve, not only at the size at which they are counted.

use super::{counters_of, device};
use coalesce::count::disagreements;
use coalesce::pattern::{Expectation, Size};
use host::CATALOGUE;

/// Active lanes with 1 to 32 paths per warp, and sectors of local memory with 1 to 32 words per request.
#[test]
fn promises_about_lanes_and_local_memory_hold_on_the_whole_curve() {
    let (_guard, gpu) = device();
    for name in ["divergence", "local_memory"] {
        let pattern = CATALOGUE.select(name).expect("a pattern of the registry").pattern;
        for value in pattern.sweeps[0].values {
            let size = [1024, *value];
            for variant in pattern.variants {
                let counted = counters_of(&gpu, name, variant.name, &size).counters;
                let wrong = disagreements(&(variant.expect)(&Size::new(&size)), &counted);
                assert!(wrong.is_empty(), "{} at {size:?}: {}", variant.name, wrong.join("; "));
            }
        }
    }
}

#[test]
fn a_wrong_promise_about_lanes_or_local_memory_is_found() {
    let (_guard, gpu) = device();
    let counted = counters_of(&gpu, "local_memory", "indexed", &[1024, 8]).counters;
    let variant = CATALOGUE.select("local_memory/indexed").expect("it exists").variant;
    let right = (variant.expect("a variant was named").expect)(&Size::new(&[1024, 8]));
    assert_eq!(disagreements(&right, &counted), Vec::<String>::new());
    for (wrong, what) in [
        (Expectation { lanes_per_instruction: Some(16.0), ..right }, "active lanes"),
        (Expectation { local_load_sectors: Some(4.0), ..right }, "sectors per local load"),
        (Expectation { local_store_sectors: None, ..right }, "sectors per local store"),
    ] {
        let found = disagreements(&wrong, &counted);
        assert!(found.len() == 1 && found[0].starts_with(what), "{what}: {found:?}");
    }
}

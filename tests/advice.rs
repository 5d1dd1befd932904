//! The advice on the catalogue's naive variants leads to the counts of the next variant, which the catalogue has.

use crate::executor::kernels;
use coalesce::Counted;
use host::CATALOGUE;
use profiling::advice::advice;
use results::{Advice, AdviceKind, Counters, ProfiledInstruction, ProfiledKernel, ProgramProfile};

fn counted(name: &str) -> &'static Counted {
    let selection = CATALOGUE.select(name).expect("a variant of the registry");
    let variant = selection.variant.expect("a variant").name;
    let (_, variants) = kernels()
        .iter()
        .find(|(pattern, _)| pattern.name == selection.pattern.name)
        .expect("it is counted");
    &variants.iter().find(|(one, _)| one.name == variant).expect("it has a kernel").1
}

/// The advice on a variant, as if each part of the device were busy for the same time.
fn advice_on(name: &str) -> Vec<Advice> {
    let counted = counted(name);
    let parts = [
        "device memory",
        "L1 and shared memory",
        "constant cache",
        "atomic updates",
        "issuing instructions",
    ];
    let instruction = |one: &results::InstructionCounts| ProfiledInstruction {
        text: String::new(),
        code: String::new(),
        is_approximate: false,
        counts: one.clone(),
    };
    let kernel = ProfiledKernel {
        name: name.to_owned(),
        launches: 1,
        block: [256, 1, 1],
        local_bytes: 4,
        occupancy_percent: 100.0,
        predicted_us: 1.0,
        busy_us: parts.map(|part| (part.to_owned(), 1.0)).to_vec(),
        counters: counted.counters,
        instructions: counted.instructions.values().map(instruction).collect(),
        ..ProfiledKernel::default()
    };
    let profile = ProgramProfile::new(name.to_owned(), "none".to_owned(), false);
    advice(&ProgramProfile { kernels: vec![kernel], ..profile })
}

/// A naive variant, the advice on it, the variant that is cured, and the count that tells.
type Case = (&'static str, AdviceKind, &'static str, fn(&Counters) -> f64);

#[test]
fn what_advice_promises_of_a_naive_variant_the_next_one_counts() {
    use AdviceKind::*;
    let ratio = |amount: u64, of: u64| amount as f64 / of as f64;
    let cases: [Case; 8] = [
        ("coalescing/strided", StridedAccess, "coalescing/scalar", |counters| {
            counters.load_sectors().unwrap_or_default()
        }),
        ("transpose/column_write", StridedAccess, "transpose/tiled", |counters| {
            counters.store_sectors().unwrap_or_default()
        }),
        ("transpose/column_read", StridedAccess, "transpose/tiled", |counters| {
            counters.load_sectors().unwrap_or_default()
        }),
        ("transpose/tiled", BankConflict, "transpose/padded", |counters| {
            counters.shared_load_wavefronts().unwrap_or_default()
        }),
        ("bank_conflicts/column", BankConflict, "bank_conflicts/padded", |counters| {
            counters.shared_load_wavefronts().unwrap_or_default()
        }),
        ("reduction/global_atomic", ContendedAtomic, "reduction/shuffle", |counters| {
            counters.global_atomic_updates().unwrap_or_default()
        }),
        ("local_memory/indexed", LocalMemory, "local_memory/unrolled", |counters| {
            (counters.local_load.requests + counters.local_store.requests) as f64
        }),
        ("misalignment/shifted", MisalignedAccess, "misalignment/padded", |counters| {
            counters.load_sectors().unwrap_or_default()
        }),
    ];
    for (naive, kind, next, count) in cases {
        let found = advice_on(naive);
        let one = found.iter().find(|one| one.kind == kind);
        let one = one.unwrap_or_else(|| panic!("{naive}: no {kind:?} in {found:#?}"));
        let promise = one.promise.as_ref().expect("these cures have a count");
        let (before, after) = (count(&counted(naive).counters), count(&counted(next).counters));
        assert!(promise.from > promise.to && before > after, "{naive}: {promise:?}");
        assert!((promise.to - after).abs() < 0.05, "{naive} to {next}: {promise:?}, {after}");
    }
    let merged = advice_on("aos_soa/both_aos");
    let merged = merged.iter().find(|one| one.kind == NarrowAccess).expect("two loads of 4 bytes");
    let promise = merged.promise.as_ref().expect("a number of requests");
    let loads = |name: &str| counted(name).counters.global_load.requests;
    let counted = ratio(loads("aos_soa/both_aos"), loads("aos_soa/both_vectorized"));
    assert_eq!(promise.from / promise.to, counted);
}

#[test]
fn cured_variants_are_left_in_peace() {
    for (name, kind) in [
        ("coalescing/scalar", AdviceKind::StridedAccess),
        ("transpose/padded", AdviceKind::BankConflict),
        ("transpose/padded", AdviceKind::StridedAccess),
        ("reduction/shuffle", AdviceKind::ContendedAtomic),
        ("local_memory/unrolled", AdviceKind::LocalMemory),
        ("divergence/rearranged", AdviceKind::Divergence),
        ("misalignment/padded", AdviceKind::MisalignedAccess),
        ("aos_soa/both_vectorized", AdviceKind::NarrowAccess),
    ] {
        let found = advice_on(name);
        assert!(found.iter().all(|one| one.kind != kind), "{name}: {found:#?}");
    }
    let branched = advice_on("divergence/branched");
    assert!(
        branched.iter().any(|one| one.kind == AdviceKind::Divergence),
        "branched: {branched:#?}"
    );
    let constant = advice_on("constant_memory/constant");
    assert!(
        constant.iter().any(|one| one.kind == AdviceKind::DivergentConstant),
        "constant: {constant:#?}, {:#?}",
        counted("constant_memory/constant").counters.constant_load
    );
}

#[test]
fn what_is_taught_is_in_the_catalogue() {
    for (kind, name) in CATALOGUE.teaches {
        let selection = CATALOGUE.select(name).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        assert!(selection.variant.is_some(), "{kind:?}: {name} names no variant");
        let taught = CATALOGUE.taught(*kind).expect("it is in the list");
        assert!(taught.starts_with(name), "{kind:?} is there twice: {taught}");
    }
    for (kind, task) in CATALOGUE.exercises {
        let taught = CATALOGUE.taught(*kind).expect("an exercise belongs to a variant");
        assert!(taught.ends_with(&format!(". Exercise of the course: {task}")), "{taught}");
        let files = concat!(env!("CARGO_MANIFEST_DIR"), "/../course/src/tasks");
        let file = format!("{files}/{task}.rs");
        assert!(std::path::Path::new(&file).exists(), "{kind:?}: the course has no task `{task}`");
    }
}

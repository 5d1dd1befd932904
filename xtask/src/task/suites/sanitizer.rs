//! NVIDIA's samples for compute-sanitizer: a mistake each, in kernels whose files are named after the tool that finds it.

use super::compile::Unit;
use super::job::{Argument, Buffer, Job, Launch, SCHEDULES};
use super::{ALL, Bug, Checkout, Code, Suite};
use anyhow::Result;

pub const SUITE: Suite = Suite {
    name: "compute-sanitizer-samples",
    title: "NVIDIA's samples for compute-sanitizer",
    repository: "NVIDIA/compute-sanitizer-samples",
    marker: "Memcheck/memcheck_demo.cu",
    codes,
    published: &[],
    disputed: &[],
    speaks_of: ALL,
    timed: None,
};

/// File, a part of the kernel's name, blocks, threads, bug, buffers as bytes and how many of them the host fills with 0.
type Sample = (&'static str, &'static str, u32, u32, Bug, &'static [(u64, u64)]);

const SAMPLES: &[Sample] = &[
    ("Memcheck/memcheck_demo.cu", "unaligned_kernel", 1, 1, Bug::Alignment, &[]),
    ("Memcheck/memcheck_demo.cu", "out_of_bounds_kernel", 1, 1, Bug::Bounds, &[]),
    ("Racecheck/block_error.cu", "sumKernel", 1, 128, Bug::Race, &[(512, 512), (4, 0)]),
    ("Racecheck/warp_error.cu", "sumKernel", 1, 64, Bug::Race, &[(256, 256), (4, 0)]),
    ("Synccheck/divergent_threads.cu", "myKernel", 1, 64, Bug::Barrier, &[(4032, 4032), (4, 0)]),
    ("Synccheck/illegal_syncwarp.cu", "myKernel", 1, 32, Bug::Barrier, &[(4, 0)]),
    ("Initcheck/memset_error.cu", "vectorAdd", 2, 32, Bug::Uninitialized, &[(256, 64)]),
    (
        "Suppressions/suppressions_initcheck_demo.cu",
        "mult",
        1,
        123,
        Bug::Uninitialized,
        &[(492, 491), (492, 0)],
    ),
];

fn codes(checkout: &Checkout) -> Result<Vec<Code>> {
    let code = |sample: &Sample| {
        let (file, kernel, blocks, threads, bug, buffers) = *sample;
        let mut arguments: Vec<Argument> = (0..buffers.len()).map(Argument::of).collect();
        if kernel == "mult" {
            arguments.push(Argument::Integer(123));
        }
        let buffer = |(bytes, filled): &(u64, u64)| Buffer {
            bytes: *bytes,
            fill: Some(0),
            filled: Some(*filled),
            file: None,
        };
        Code {
            name: format!("{file}: {kernel}"),
            input: String::new(),
            bugs: vec![bug],
            cost: None,
            refusal: None,
            races_are_global: false,
            unit: Unit::of_file(checkout.folder.join(file)),
            job: Job {
                buffers: buffers.iter().map(buffer).collect(),
                launches: vec![Launch::of(kernel, blocks, threads, &arguments)],
                schedules: SCHEDULES.to_vec(),
                ..Job::default()
            },
        }
    };
    Ok(SAMPLES.iter().map(code).collect())
}

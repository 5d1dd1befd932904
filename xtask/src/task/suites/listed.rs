//! Suites of a few kernels, each with its launch: NVIDIA's samples for compute-sanitizer, Weft's tests of named barriers that it
//! refuses, and CUTracer's tests.

use super::compile::Unit;
use super::job::{Argument, Buffer, Job, Launch, SCHEDULES};
use super::{ALL, Bug, Checkout, Code, Suite};
use anyhow::Result;

pub const SANITIZER: Suite = Suite {
    name: "compute-sanitizer-samples",
    title: "NVIDIA's samples for compute-sanitizer",
    repository: "NVIDIA/compute-sanitizer-samples",
    marker: "Memcheck/memcheck_demo.cu",
    codes: |checkout| codes(checkout, SAMPLES),
    published: &[],
    disputed: &[],
    speaks_of: ALL,
    timed: None,
};

pub const WEFT: Suite = Suite {
    name: "weft",
    title: "Weft",
    repository: "lightsighter/Weft",
    marker: "examples/negatives/arrival.cu",
    codes: |checkout| codes(checkout, NEGATIVES),
    published: &[],
    disputed: &[(
        "examples/negatives/arrival.cu*",
        "two arrivals complete a barrier for which nobody waits: a GPU runs it to its end",
    )],
    speaks_of: ALL,
    timed: None,
};

pub const CUTRACER: Suite = Suite {
    name: "cutracer",
    title: "CUTracer",
    repository: "facebookexperimental/CUTracer",
    marker: "tests/vectoradd_smem/vectoradd_smem.cu",
    codes: |checkout| codes(checkout, TRACED),
    published: &[],
    disputed: &[],
    speaks_of: ALL,
    timed: None,
};

/// A kernel and how the suite's host launches it.
struct Sample {
    file: &'static str,
    /// A part of its name that no other kernel of the file has.
    kernel: &'static str,
    blocks: u32,
    threads: u32,
    bug: Option<Bug>,
    /// The bytes of each buffer, and how many of them the host fills.
    buffers: &'static [(u64, u64)],
    /// Arguments behind the buffers.
    number: Option<i64>,
}

const fn sample(file: &'static str, kernel: &'static str, threads: u32, bug: Bug) -> Sample {
    Sample { file, kernel, blocks: 1, threads, bug: Some(bug), buffers: &[], number: None }
}

const SAMPLES: &[Sample] = &[
    sample("Memcheck/memcheck_demo.cu", "unaligned_kernel", 1, Bug::Alignment),
    sample("Memcheck/memcheck_demo.cu", "out_of_bounds_kernel", 1, Bug::Bounds),
    Sample {
        buffers: &[(512, 512), (4, 0)],
        ..sample("Racecheck/block_error.cu", "sumKernel", 128, Bug::Race)
    },
    Sample {
        buffers: &[(256, 256), (4, 0)],
        ..sample("Racecheck/warp_error.cu", "sumKernel", 64, Bug::Race)
    },
    Sample {
        buffers: &[(4032, 4032), (4, 0)],
        ..sample("Synccheck/divergent_threads.cu", "myKernel", 64, Bug::Barrier)
    },
    Sample {
        buffers: &[(4, 0)],
        ..sample("Synccheck/illegal_syncwarp.cu", "myKernel", 32, Bug::Barrier)
    },
    Sample {
        blocks: 2,
        buffers: &[(256, 64)],
        ..sample("Initcheck/memset_error.cu", "vectorAdd", 32, Bug::Uninitialized)
    },
    Sample {
        buffers: &[(492, 491), (492, 0)],
        number: Some(123),
        ..sample("Suppressions/suppressions_initcheck_demo.cu", "mult", 123, Bug::Uninitialized)
    },
];

const NEGATIVES: &[Sample] = &[
    sample("examples/negatives/arrival.cu", "arrival_test", 64, Bug::Barrier),
    sample("examples/negatives/deadlock.cu", "deadlock_test", 64, Bug::Barrier),
    sample("examples/negatives/different.cu", "different_test", 64, Bug::Barrier),
    sample("examples/negatives/over.cu", "arrival_test", 96, Bug::Barrier),
];

const TRACED: &[Sample] = &[
    Sample {
        blocks: 8,
        bug: None,
        buffers: &[(2048, 2048), (2048, 2048), (2048, 0)],
        number: Some(256),
        ..sample("tests/vectoradd/vectoradd.cu", "vecAdd", 32, Bug::Race)
    },
    Sample {
        blocks: 8,
        bug: None,
        buffers: &[(2048, 2048), (2048, 2048), (2048, 0)],
        number: Some(256),
        ..sample("tests/vectoradd_smem/vectoradd_smem.cu", "vecAddSmem", 32, Bug::Race)
    },
];

fn codes(checkout: &Checkout, samples: &[Sample]) -> Result<Vec<Code>> {
    let code = |sample: &Sample| {
        let arguments = (0..sample.buffers.len()).map(Argument::of);
        let arguments: Vec<Argument> =
            arguments.chain(sample.number.map(Argument::Integer)).collect();
        let buffer = |(bytes, filled): &(u64, u64)| Buffer {
            filled: Some(*filled),
            ..Buffer::filled(*bytes, 0)
        };
        let job = Job {
            buffers: sample.buffers.iter().map(buffer).collect(),
            launches: vec![Launch::of(sample.kernel, sample.blocks, sample.threads, &arguments)],
            schedules: SCHEDULES.to_vec(),
            ..Job::default()
        };
        let name = format!("{}: {}", sample.file, sample.kernel);
        let unit = Unit::of_file(checkout.folder.join(sample.file));
        let bugs = sample.bug.into_iter().collect();
        Code { bugs, ..Code::new(&name, "", unit, job) }
    };
    Ok(samples.iter().map(code).collect())
}

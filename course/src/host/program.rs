//! The program that a learner's file becomes: it runs the file and writes what the virtual GPU saw, one line of JSON per
//! run. Another process judges, so that a file that crashes or never ends harms nobody.
//!
//! A line counts if it begins with the word that the judge gave through the standard input. The file prints to the
//! standard error, and knows neither the word nor what the lines are written to.

use super::confine::confine;
use super::{Gpu, HostCounts, Run};
use crate::task::{Kind, Task};
use crate::tasks::named;
use anyhow::{Context, Result, bail};
use coalesce::count::COUNTING_DEVICE;
use coalesce::data::{Data, Element, compare};
use coalesce::pattern::{Output, Size};
use coalesce::verify::{Fault, case};
use cuda_host::{Image, VirtualOptions};
use cust::context::CurrentContext;
use cust_ext::host_memory::{HostBuffer, HostFlags};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;
use virtual_gpu::Misuse;

/// What one run came to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Seen {
    /// Why a result is wrong.
    pub wrong: Option<String>,
    /// The driver's error, or the file's own.
    pub error: Option<String>,
    /// The first mistake of the host's: its kind, what happened, and where.
    pub misuse: Option<(String, String, Option<String>)>,
    /// What was counted.
    pub counts: HostCounts,
}

/// Runs one of these files: its name and the PTX are arguments, the word, the seeds and the sizes are the input.
pub fn main(files: &[(&str, &str, Run)]) -> ExitCode {
    match runs(files) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn runs(files: &[(&str, &str, Run)]) -> Result<()> {
    let mut verdicts = verdicts()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, ptx] = arguments.as_slice() else { bail!("a name and PTX are the arguments") };
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input).context("cannot read the runs")?;
    let (word, runs) = input.split_once('\n').context("the runs begin with a word")?;
    let file = files.iter().find(|(one, _, _)| one == name);
    let (_, id, run) = file.with_context(|| format!("there is no file `{name}`"))?;
    let task = named(id).with_context(|| format!("there is no task `{id}`"))?;
    let ptx = std::fs::read_to_string(ptx).with_context(|| format!("cannot read {ptx}"))?;
    let text = Box::leak(ptx.into_boxed_str());
    // SAFETY: the course has compiled it; what it does to memory the virtual device checks.
    let image = unsafe { Image::new(80, text, &[], "unknown", "unknown") };
    let options = VirtualOptions { fuel: 30_000_000, ..VirtualOptions::default() };
    let images = Box::leak(Box::new([image]));
    let gpu = Gpu(cuda_host::Gpu::open_virtual(COUNTING_DEVICE, images, options)?);
    confine().context("this system takes no calls from a process")?;
    for one in runs.lines() {
        let (seed, size) = one.split_once(':').context("a run is SEED:SIZE")?;
        let numbers: Vec<usize> = size.split(',').map(str::parse).collect::<Result<_, _>>()?;
        let seen = seen(&gpu, task, *run, &Size::new(&numbers), seed.parse()?)?;
        writeln!(verdicts, "{word}{}", serde_json::to_string(&seen)?)?;
    }
    Ok(())
}

/// What the judge reads; from here on the standard output is the standard error.
fn verdicts() -> Result<File> {
    let verdicts = std::io::stdout().as_fd().try_clone_to_owned();
    // SAFETY: both are open, and nobody has written to the first yet.
    if unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) } < 0 {
        return Err(std::io::Error::last_os_error()).context("cannot set the output aside");
    }
    Ok(verdicts.context("cannot set the output aside")?.into())
}

/// Runs a file once.
fn seen(gpu: &Gpu, task: &'static Task, run: Run, size: &Size, seed: u64) -> Result<Seen> {
    let case = case(&task.pattern, size, seed);
    let words = |data: &Data| u32::view(data).map(<[u32]>::to_vec).context("host tasks have u32");
    let source = words(&case.inputs[0])?;
    let reference = &case.outputs[0];
    let target = vec![0xeded_eded; words(&reference.reference)?.len()];
    if task.kind == (Kind::Host { pinned: true }) {
        let source = HostBuffer::from_slice(&source, HostFlags::PINNED)?;
        let mut target = HostBuffer::from_slice(&target, HostFlags::PINNED)?;
        return Ok(watched(gpu, run, &source, &mut target, reference));
    }
    let mut target = target;
    Ok(watched(gpu, run, &source, &mut target, reference))
}

fn watched(gpu: &Gpu, run: Run, source: &[u32], target: &mut [u32], right: &Output) -> Seen {
    virtual_gpu::misuse();
    gpu.0.watch_operations();
    let ran = run(gpu, source, target);
    // What the file has not waited for is not there: the virtual GPU runs work as late as it may.
    let result = Data::U32(target.to_vec());
    let operations = gpu.0.take_operations();
    let late = CurrentContext::synchronize();
    let misuse = virtual_gpu::misuse();
    let is_pageable = |one: &&Misuse| one.kind == virtual_gpu::MisuseKind::PageableAsyncCopy;
    let pageable = misuse.iter().filter(is_pageable).count() as u64;
    let error = ran.and_then(|()| Ok(late?)).err().map(|error| format!("{error:#}"));
    let mismatch = compare(&result, &right.reference, right.tolerance);
    Seen {
        wrong: mismatch.map(|mismatch| Fault::Element { output: 0, mismatch }.to_string()),
        error,
        misuse: misuse.into_iter().find(|one| !one.kind.is_advice()).map(|one| {
            (format!("{:?}", one.kind), format!("{}: {}", one.call, one.message), one.location)
        }),
        counts: HostCounts::of(&operations.unwrap_or_default(), pageable),
    }
}

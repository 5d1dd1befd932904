//! The program that learners' files become: it runs one on the virtual GPU, once for each order, and answers with the
//! results and what was recorded. Another process judges, so that a file that crashes or never ends harms nobody.
//!
//! The word of a run lies in the pipe, and not in memory, as long as the file runs.

use crate::confine::confine;
use crate::os;
use crate::record::{DevicePlace, HostMisuse, HostRun, MISTAKES};
use crate::wire::{Answer, Order, WORD_BYTES};
use crate::{Gpu, Run};
use anyhow::{Context, Result, bail};
use cuda_host::{Image, VirtualOptions};
use cust::context::CurrentContext;
use cust_ext::host_memory::{HostBuffer, HostFlags};
use std::cell::Cell;
use std::io::{Error, ErrorKind, Read};
use std::process::ExitCode;
use virtual_gpu::{Misuse, MisuseKind};

/// Warp-instructions after which a launch is taken to run forever.
const FUEL: u64 = 30_000_000;
/// Words of the result before the file has run.
const UNWRITTEN: u32 = 0xeded_eded;

/// Runs one of these files: its name, the virtual device and the PTX are arguments, orders are the input.
pub fn main(files: &[(&str, Run)]) -> ExitCode {
    match runs(files) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn runs(files: &[(&str, Run)]) -> Result<()> {
    let [mut orders, mut answers] = os::set_aside().context("cannot set a stream aside")?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, device, ptx] = arguments.as_slice() else {
        bail!("a name, a device and PTX are the arguments")
    };
    let file = files.iter().find(|(one, _)| one == name);
    let (_, run) = file.with_context(|| format!("there is no file `{name}`"))?;
    let ptx = std::fs::read_to_string(ptx).with_context(|| format!("cannot read {ptx}"))?;
    let text = Box::leak(ptx.into_boxed_str());
    // SAFETY: the course has compiled it; what it does to memory the virtual device checks.
    let image = unsafe { Image::new(80, text, &[], "unknown", "unknown") };
    let options = VirtualOptions { fuel: FUEL, ..VirtualOptions::default() };
    let images = Box::leak(Box::new([image]));
    let device = cuda_host::Gpu::open_virtual(device, images, options)?;
    let gpu = Gpu { device, factor: Cell::new(0) };
    confine().context("this system takes no calls from a process")?;
    while let Some(order) = Order::read(&mut orders)? {
        let answer = answer(&gpu, *run, &order)?;
        let mut word = [0; WORD_BYTES];
        orders.read_exact(&mut word).context("an order ends with its word")?;
        answer.write(word, &mut answers)?;
    }
    Ok(())
}

fn answer(gpu: &Gpu, run: Run, order: &Order) -> Result<Answer> {
    gpu.factor.set(order.factor);
    let mut target = vec![UNWRITTEN; order.target];
    if !order.is_pinned {
        let seen = watched(gpu, run, &order.source, &mut target);
        return Ok(Answer { seen, target });
    }
    let source = HostBuffer::from_slice(&order.source, HostFlags::PINNED)?;
    let mut pinned = HostBuffer::from_slice(&target, HostFlags::PINNED)?;
    let seen = watched(gpu, run, &source, &mut pinned);
    Ok(Answer { seen, target: pinned.to_vec() })
}

/// A message in which addresses inside of the host's two arrays are their elements.
fn named(message: &str, source: &[u32], target: &[u32]) -> String {
    let element = |address: u64| {
        [("source", source), ("target", target)].into_iter().find_map(|(name, array)| {
            let bytes = usize::try_from(address).ok()?.checked_sub(array.as_ptr().addr())?;
            (bytes < size_of_val(array)).then(|| format!("`{name}[{}]`", bytes / size_of::<u32>()))
        })
    };
    let mut pieces = message.split("0x");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| {
        let end = piece.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(piece.len());
        let (digits, rest) = piece.split_at(end);
        let name = u64::from_str_radix(digits, 16).ok().and_then(element);
        text + &name.unwrap_or_else(|| format!("0x{digits}")) + rest
    })
}

/// Returns whether the system refused a call, of which the program has given up most.
fn is_forbidden(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<Error>());
    causes.any(|cause| cause.kind() == ErrorKind::PermissionDenied)
}

fn watched(gpu: &Gpu, run: Run, source: &[u32], target: &mut [u32]) -> HostRun {
    virtual_gpu::misuse();
    virtual_gpu::order();
    gpu.device.watch_operations();
    let ran = run(gpu, source, target);
    let operations = gpu.device.drain_operations().unwrap_or_default();
    let order = virtual_gpu::order();
    // What the file has not waited for is not there: the virtual GPU runs work as late as it may.
    let result = target.to_vec();
    let late = CurrentContext::synchronize();
    target.copy_from_slice(&result);
    let misuse = virtual_gpu::misuse();
    let is_pageable = |one: &&Misuse| one.kind == MisuseKind::PageableAsyncCopy;
    let pageable_copies = misuse.iter().filter(is_pageable).count() as u64;
    let first = misuse.into_iter().find(|one| !one.kind.is_advice());
    let failed = ran.and_then(|()| Ok(late?)).err();
    let mut seen = HostRun {
        is_forbidden: failed.as_ref().is_some_and(is_forbidden),
        error: failed.map(|error| format!("{error:#}")),
        misuse: first.map(|one| HostMisuse {
            mistake: MISTAKES.iter().position(|kind| *kind == one.kind),
            kind: one.kind.to_string(),
            call: one.call.to_owned(),
            message: named(&format!("{}: {}", one.call, one.message), source, target),
            memory: one.memory.as_ref().and_then(DevicePlace::of),
            place: one.location,
        }),
        pageable_copies,
        ..HostRun::default()
    };
    seen.record(&operations, order);
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_arrays_are_elements() {
        let (source, target) = ([0; 8], [0; 8]);
        let at = &raw const source[3];
        let message = format!("a copy at {at:p} and at 0x1; 0");
        let named = named(&message, &source, &target);
        assert_eq!(named, "a copy at `source[3]` and at 0x1; 0");
    }
}

//! Wrong and other right host files, as edits of solutions.

use course::count::Count::*;
use course::task::Because::{self, *};
use virtual_gpu::MisuseKind as Mistake;

/// The task, a name, what is replaced in its solution, by what, and why it fails; what passes has no reason.
pub const EDITED: &[(&str, &str, &str, &str, Option<Because>)] = &[
    (
        "pinned",
        "pinned_each_time",
        "    let length = source.len().div_ceil(8);\n",
        "    let length = source.len().div_ceil(8);\n    let again = HostBuffer::from_slice(source, HostFlags::PINNED)?;\n    let source = &again[..];\n",
        Some(Bound(Pins)),
    ),
    (
        "pinned",
        "zeroed",
        "unsafe { DeviceBuffer::<u32>::uninitialized(source.len())? }",
        "DeviceBuffer::from_slice(source)?",
        Some(Bound(BusBytes)),
    ),
    ("pinned", "not_waited", "    gpu.synchronize()?;\n", "", Some(Misuse(Mistake::MissingOrder))),
    ("pinned", "sixteen", "div_ceil(8)", "div_ceil(16)", None),
    ("pinned", "never_ends", "    gpu.synchronize()?;\n", "    loop {}\n", Some(Hangs)),
    (
        "pinned",
        "allocates_without_end",
        "    gpu.synchronize()?;\n",
        "    let mut all = Vec::new();\n    loop { all.push(vec![0_u8; 1 << 28]); }\n",
        Some(Stopped),
    ),
    ("pinned", "exits", "    gpu.synchronize()?;\n", "    std::process::exit(0);\n", Some(Stopped)),
    ("pinned", "panics", "    gpu.synchronize()?;\n", "    panic!(\"here\");\n", Some(Stopped)),
    (
        "pinned",
        "crashes",
        "    gpu.synchronize()?;\n",
        "    unsafe { std::ptr::dangling_mut::<u32>().write_volatile(1) };\n",
        Some(Stopped),
    ),
    // Shared memory has no limit of its own, so there is none; a file that got some would pass.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    (
        "batch",
        "maps_shared_memory",
        "    let rows = ",
        "    let mut answer: i64 = 9;\n    unsafe { std::arch::asm!(\"syscall\", inlateout(\"rax\") answer, \
         in(\"rdi\") 0, in(\"rsi\") 1_u64 << 20, in(\"rdx\") 3, in(\"r10\") 0x21, in(\"r8\") -1_i64, in(\"r9\") 0, out(\"rcx\") _, out(\"r11\") _) };\n    \
         if answer == -1 { anyhow::bail!(\"none\"); }\n    let rows = ",
        Some(Stopped),
    ),
    (
        "batch",
        "whole_rows",
        "        upload_rows((source, from), (&*values, to), rows, gpu.stream())?;\n",
        "        let mut all = DeviceBuffer::<u32>::uninitialized(source.len())?;\n        all.async_copy_from(source, gpu.stream())?;\n\
         \n        upload_rows((source, from), (&*values, to), rows, gpu.stream())?;\n        gpu.synchronize()?;\n",
        Some(Bound(Copies)),
    ),
    (
        "batch",
        "twice_as_wide",
        "    let values = unsafe { DeviceBuffer::<u32>::uninitialized(rows * WIDTH)? };\n",
        "    let values = DeviceBuffer::from_slice(&source[..rows * WIDTH])?;\n",
        Some(Bound(Copies)),
    ),
    (
        "batch",
        "distance_forgotten",
        "let from = Rows { width: WIDTH, pitch: PITCH }",
        "let from = Rows { width: WIDTH, pitch: WIDTH }",
        Some(Wrong),
    ),
    (
        "batch",
        "packed",
        "        upload_rows((source, from), (&*values, to), rows, gpu.stream())?;\n",
        "        let _ = (from, to);\n        let wanted: Vec<u32> = source.chunks(PITCH).flat_map(|row| &row[..WIDTH]).copied().collect();\n\
         \n        values.index(..).copy_from(&wanted[..])?;\n        cust::context::CurrentContext::synchronize()?;\n",
        None,
    ),
    ("overlap", "two", "(0..PIECES).map", "(0..2).map", Some(Bound(IdlePercent))),
    ("overlap", "three", "(0..PIECES).map", "(0..3).map", None),
    (
        "overlap",
        "a_stream_for_each_engine",
        "            values.index(..).async_copy_from(source, stream)?;\n            step(gpu, stream, (values, values), 1, 1)?;\n            values.async_copy_to(target, stream)?;\n",
        "            let _ = stream;\n            let event = || cust::event::Event::new(cust::event::EventFlags::DISABLE_TIMING);\n            let (there, done) = (event()?, event()?);\n\
         \n            values.index(..).async_copy_from(source, &streams[0])?;\n            there.record(&streams[0])?;\n            cust_ext::stream::wait_event(&streams[1], &there)?;\n\
         \n            step(gpu, &streams[1], (values, values), 1, 1)?;\n            done.record(&streams[1])?;\n            cust_ext::stream::wait_event(&streams[2], &done)?;\n            values.async_copy_to(target, &streams[2])?;\n",
        None,
    ),
    (
        "overlap",
        "waits",
        "            values.async_copy_to(target, stream)?;\n",
        "            values.async_copy_to(target, stream)?;\n            stream.synchronize()?;\n",
        Some(Bound(IdlePercent)),
    ),
    (
        "overlap",
        "waits_again",
        "    Ok(())\n}",
        "    for stream in &streams {\n        stream.synchronize()?;\n    }\n    Ok(())\n}",
        Some(Bound(Waits)),
    ),
    (
        "overlap",
        "there_twice",
        "            step(gpu,",
        "            if index == 0 { values.index(..).async_copy_from(source, stream)?; }\n            step(gpu,",
        Some(Bound(BusBytes)),
    ),
    (
        "overlap",
        "device_waits",
        "        stream.synchronize()?;\n",
        "        let _ = stream;\n        cust::context::CurrentContext::synchronize()?;\n",
        None,
    ),
    (
        "lost_order",
        "host_waits",
        "        wait_event(&kernels, &copied)?;\n",
        "        copied.synchronize()?;\n",
        Some(Bound(Waits)),
    ),
    (
        "lost_order",
        "other_way",
        "        copied.record(&copies)?;\n        wait_event(&kernels, &copied)?;\n",
        "        copied.record(&kernels)?;\n        wait_event(&copies, &copied)?;\n",
        Some(Misuse(Mistake::MissingOrder)),
    ),
    (
        "lost_order",
        "there_twice",
        "        let copied =",
        "        values.async_copy_from(source, &copies)?;\n        let copied =",
        Some(Bound(Copies)),
    ),
    (
        "lost_order",
        "same_stream",
        "let (copies, kernels) = (non_blocking(None)?, non_blocking(None)?);",
        "let copies = non_blocking(None)?;\n    let kernels = &copies;",
        None,
    ),
    (
        "reused_buffer",
        "one_too_late",
        "if index >= 2 {",
        "if index >= 3 {",
        Some(Misuse(Mistake::HostMemoryChanged)),
    ),
    (
        "reused_buffer",
        "the_other_event",
        "            copied[index % 2].synchronize()?;\n",
        "            copied[(index + 1) % 2].synchronize()?;\n            copied[index % 2].synchronize()?;\n",
        Some(Bound(Waits)),
    ),
    (
        "reused_buffer",
        "all_pinned",
        "    let mut buffers =",
        "    let _more = buffer()?;\n    let mut buffers =",
        Some(Bound(Pins)),
    ),
    (
        "reused_buffer",
        "there_twice",
        "        copied[index % 2].record(gpu.stream())?;\n",
        "        unsafe { values.async_copy_from(buffer, gpu.stream())? };\n        copied[index % 2].record(gpu.stream())?;\n",
        Some(Bound(BusBytes)),
    ),
    (
        "reused_buffer",
        "from_pageable",
        "values.async_copy_from(buffer,",
        "values.async_copy_from(part,",
        Some(Bound(PageableCopies)),
    ),
    (
        "default_stream",
        "waits",
        "        unsafe { step(gpu, stream, (&part, &part), 1, 20_000)? };\n",
        "        unsafe { step(gpu, stream, (&part, &part), 1, 20_000)? };\n        if index == 2 { stream.synchronize()?; }\n",
        Some(Bound(KernelChain)),
    ),
    (
        "default_stream",
        "back_twice",
        "    Ok(values.copy_to(target)?)\n",
        "    values.copy_to(target)?;\n    Ok(values.copy_to(target)?)\n",
        Some(Bound(BusBytes)),
    ),
    (
        "default_stream",
        "in_two_steps",
        "        unsafe { step(gpu, stream, (&part, &part), 1, 20_000)? };\n",
        "        unsafe { step(gpu, stream, (&part, &part), 1, 10_000)?; step(gpu, stream, (&part, &part), 1, 10_000)? };\n",
        Some(Bound(Launches)),
    ),
    (
        "pool",
        "two_arrays",
        "    for number in 0..16 {\n",
        "    let more = source.len();\n    let _more = unsafe { DeviceBuffer::<u32>::uninitialized(more)? };\n    for number in 0..16 {\n",
        Some(Bound(Allocations)),
    ),
    (
        "pool",
        "waits",
        "    for number in 0..16 {\n",
        "    for number in 0..16 {\n        gpu.synchronize()?;\n",
        Some(Bound(Waits)),
    ),
    (
        "pool",
        "one_more",
        "    for number in 0..16 {\n",
        "    unsafe { step(gpu, gpu.stream(), (&values, &between), 0, 0)? };\n    for number in 0..16 {\n",
        Some(Bound(Launches)),
    ),
    (
        "pool",
        "from_the_pool",
        "            step(gpu, gpu.stream(), (&values, &between), number, 1)?;\n            step(gpu, gpu.stream(), (&between, &values), number, 1)?;\n",
        "            let between = DeviceBuffer::<u32>::uninitialized_async(values.len(), gpu.stream())?;\n\
         \n            step(gpu, gpu.stream(), (&values, &between), number, 1)?;\n            step(gpu, gpu.stream(), (&between, &values), number, 1)?;\n            between.drop_async(gpu.stream())?;\n",
        None,
    ),
    (
        "graph",
        "recorded_anew",
        "    for _ in 0..16 {\n",
        "    for _ in 0..16 {\n        let graph = gpu.record(|| round().unwrap())?;\n",
        Some(Bound(Launches)),
    ),
    (
        "graph",
        "instantiated_anew",
        "    for _ in 0..16 {\n",
        "    let _more = gpu.record(|| {})?;\n    for _ in 0..16 {\n",
        Some(Bound(Instantiations)),
    ),
    (
        "graph",
        "waits",
        "    for _ in 0..16 {\n",
        "    for _ in 0..16 {\n        gpu.synchronize()?;\n",
        Some(Bound(Waits)),
    ),
    ("graph", "one_round_less", "    for _ in 0..16 {\n", "    for _ in 0..15 {\n", Some(Wrong)),
];

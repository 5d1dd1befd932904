//! Files that do not do what their task is about, of every task, and are right where results used to be looked at.

use super::build::{Candidate, solution};
use course::count::Count;
use course::format;
use course::task::{Kind, Task};
use course::tasks::TASKS;

/// Loops that one thread runs for all, in the place of a kernel: the task, and the loop.
const ALONE: &[(&str, &str)] = &[
    (
        "barrier_in_branch",
        "let put = |k: u32| if k < n { *source.add(k as usize) ^ (k % 2) } else { 0 ^ (k % 2) };
         for i in 0..n { *target.add(i as usize) = (*source.add(i as usize)).wrapping_add(put(i / 256 * 256 + (i + 128) % 256)); }",
    ),
    (
        "bins_private",
        "for i in 0..n { let at = bins.add(*text.add(i as usize) as usize); *at = *at + 1; }",
    ),
    (
        "boss_capitals",
        "for i in 0..n as usize { *target.add(i) = (*source.add(i)).to_ascii_uppercase(); }",
    ),
    (
        "boss_classes",
        "for c in 0..columns { let mut sum = 0_u32; for r in 0..rows { sum += 1 << (8 * (*source.add((r * columns + c) as usize) % 4)); } *target.add(c as usize) = sum; }",
    ),
    (
        "boss_complex",
        "for i in 0..n as usize { let (re, im) = (*source.add(2 * i), *source.add(2 * i + 1)); *target.add(2 * i) = re * re - im * im; *target.add(2 * i + 1) = 2.0 * re * im; }",
    ),
    (
        "boss_matches",
        "for b in 0..n.div_ceil(256) { let mut count = 0; for i in 256 * b..n.min(256 * b + 256) { if *source.add(i as usize) > 0.0 { count += 1; } } *target.add(b as usize) = count; }",
    ),
    (
        "boss_outer",
        "for r in 0..rows { for c in 0..columns { *target.add((r * columns + c) as usize) = *a.add(r as usize) * *b.add(c as usize); } }",
    ),
    (
        "boss_row_sums",
        "for r in 0..n { let mut sum = 0_u32; for c in 0..32 { sum = sum.wrapping_add(*source.add((32 * r + c) as usize)); } *target.add(r as usize) = sum; }",
    ),
    (
        "boss_table",
        "for i in 0..n as usize { *target.add(i) = *table.add((*source.add(i) % 256) as usize); }",
    ),
    (
        "constant_walk",
        "for i in 0..n { *target.add(i as usize) = (1_u32 << (i % 8)) as f32 * *source.add(i as usize); }",
    ),
    (
        "copy_not_awaited",
        "for i in 0..n { let first = i / 256 * 256; let end = n.min(first + 256); *target.add(i as usize) = *source.add((first + end - 1 - i) as usize); }",
    ),
    (
        "doubles_turned",
        "for r in 0..rows { for c in 0..columns { *target.add((c * rows + r) as usize) = *source.add((r * columns + c) as usize); } }",
    ),
    ("every_third", "for i in 0..n as usize { *green.add(i) = *rgb.add(3 * i + 1); }"),
    ("grid_stride", "for i in 0..n as usize { *target.add(i) = 3.0 * *x.add(i) + *y.add(i); }"),
    ("guard", "for i in 0..n as usize { *target.add(i) = 1.0 - *source.add(i); }"),
    (
        "half_and_half",
        "for i in 0..n { let mut value = *source.add(i as usize); for _ in 0..rounds { value = if i < n.div_ceil(2) { value * 0.5 + 1.0 } else { (value - 3.0) * 0.25 }; } *target.add(i as usize) = value; }",
    ),
    (
        "lockstep",
        "for b in 0..n.div_ceil(256) { let mut sum = 0_u32; for i in 256 * b..n.min(256 * b + 256) { sum = sum.wrapping_add(*source.add(i as usize)); } *target.add(b as usize) = sum; }",
    ),
    (
        "lost_update",
        "let mut all = 0; for i in 0..n as usize { all += u32::from(*source.add(i) % 2 == 0); } *count = all;",
    ),
    (
        "matmul_tile",
        "for i in 0..n { for j in 0..n { let mut sum = 0.0; for k in 0..n { sum += *a.add((i * n + k) as usize) * *b.add((k * n + j) as usize); } *c.add((i * n + j) as usize) = sum; } }",
    ),
    (
        "missing_barrier",
        "for i in 0..n { let above = if i % 256 < 32 { 0.0 } else { *source.add(i as usize - 32) }; *target.add(i as usize) = *source.add(i as usize) - above; }",
    ),
    (
        "one_counter",
        "let mut all = 0; for i in 0..n as usize { all += u32::from(*source.add(i) > 0.0); } *count = all;",
    ),
    (
        "one_field",
        "for i in 0..n as usize { let value = *apart.add(3 * n as usize + i); *target.add(i) = value * value; }",
    ),
    (
        "pad_the_tile",
        "for r in 0..rows { for c in 0..columns { *target.add(((columns - 1 - c) * rows + r) as usize) = *source.add((r * columns + c) as usize); } }",
    ),
    ("own_element", "for i in 0..n as usize { *target.add(i) = 1.0 + *source.add(i); }"),
    ("small_grid", "for i in 0..n as usize { *target.add(i) = 2.0 * *source.add(i); }"),
    ("read_only_lie", "for i in 0..n { *data.add(i as usize) = 3 * i + 1; }"),
    (
        "rows_to_lanes",
        "for i in 0..(width * height) as usize { *target.add(i) = 2.0 * *source.add(i); }",
    ),
    (
        "spilled",
        "for c in 0..columns { let mut last = (0.0, 0.0, 0.0); for r in 0..rows { let at = (r * columns + c) as usize; let one = *source.add(at); *target.add(at) = last.0 + last.1 + last.2 + one; last = (last.1, last.2, one); } }",
    ),
    (
        "swizzle_the_tile",
        "for r in 0..rows { for c in 0..columns { *target.add((c * rows + (rows - 1 - r)) as usize) = *source.add((r * columns + c) as usize); } }",
    ),
    (
        "tree",
        "for b in 0..n.div_ceil(256) { let mut sum = 0_u32; for i in 256 * b..n.min(256 * b + 256) { sum = sum.wrapping_add(*source.add(i as usize)); } *target.add(b as usize) = sum; }",
    ),
    (
        "two_writers",
        "for g in 0..n.div_ceil(8) { *target.add(g as usize) = *source.add(n.min(8 * g + 8) as usize - 1); }",
    ),
    (
        "uninitialized_halo",
        "for i in 0..n { let before = if i > 0 { *source.add(i as usize - 1) } else { 0.0 }; let after = if i + 1 < n { *source.add(i as usize + 1) } else { 0.0 }; *target.add(i as usize) = before + after; }",
    ),
    ("wide_loads", "for i in 0..n as usize { *target.add(i) = *source.add(i) + 1.0; }"),
    (
        "window_sum",
        "for i in 0..n { let mut sum = 0_u32; for k in i.max(4) - 4..n.min(i + 5) { sum = sum.wrapping_add(*source.add(k as usize)); } *target.add(i as usize) = sum; }",
    ),
    (
        "wrong_mask",
        "for g in 0..n.div_ceil(32) { let mut sum = 0_u32; for i in 32 * g..n.min(32 * g + 32) { sum = sum.wrapping_add(*source.add(i as usize)); } *target.add(g as usize) = sum; }",
    ),
];

/// Indexes of a tile's elements without a tile: the task, and the index.
const SCATTERED: &[(&str, &str)] = &[
    ("pad_the_tile", "(columns - 1 - column) * rows + row"),
    ("swizzle_the_tile", "column * rows + rows - 1 - row"),
    ("doubles_turned", "column * rows + row"),
];

/// Computations of a host file in the place of the device: the task, and a value's way.
const ON_THE_CPU: &[(&str, &str)] = &[
    ("batch", "source.chunks(64).flat_map(|row| &row[..32]).map(|one| stepped(*one, 1, 1))"),
    ("default_stream", "source.iter().map(|one| stepped(*one, 1, 20_000))"),
    (
        "graph",
        "source.iter().map(|one| (0..256).fold(*one, |value, step| stepped(value, step % 16, 1)))",
    ),
    ("lost_order", "source.iter().map(|one| stepped(*one, 1, 1))"),
    ("overlap", "source.iter().map(|one| stepped(*one, 1, 1))"),
    ("pinned", "source.iter().map(|one| stepped(*one, 1, 1))"),
    ("pool", "source.iter().map(|one| (0..16).fold(*one, |value, step| stepped(value, step, 2)))"),
    ("reused_buffer", "source.iter().map(|one| stepped(*one, 1, 1))"),
];

/// The kernels: of every task one that does nothing at the counted size, one that is right only where results are
/// checked in every run, one that is right besides where no block is cut, and one whose first thread does all.
pub fn kernels() -> Vec<Candidate> {
    let repaired = |task: &&&Task| matches!(task.kind, Kind::Kernel | Kind::Bug);
    let mut all: Vec<Candidate> =
        TASKS.iter().filter(repaired).flat_map(|task| of_kernel(task)).collect();
    let stores =
        |task: &&&Task| task.bounds.iter().any(|bound| bound.count == Count::SectorsPerStore);
    all.extend(TASKS.iter().filter(stores).flat_map(|task| unseen(task)));
    all
}

/// The file as it is given, with stores that the mean of a count does not show: one lane stores its word again and
/// again, or the others store by atomics.
fn unseen(task: &'static Task) -> [Candidate; 2] {
    let given = format::shipped(task.solved()).expect("well-formed");
    let stored = |by: &str| {
        if let Some((_, at)) = SCATTERED.iter().find(|(id, _)| *id == task.id()) {
            let text = format!(
                "let row = thread::block_idx_y() * 32 + thread::thread_idx_y();\nlet column = thread::block_idx_x() * 32 + thread::thread_idx_x();\n\
                 if row < rows && column < columns {{ unsafe {{ let value = *source.add((row * columns + column) as usize);\n\
                 let place = target.add(({at}) as usize); {by} }} }}\nreturn;"
            );
            return begun(task, task.id(), &text);
        }
        let at = given.find("*target.add(").expect("it stores to `target`");
        let end = at + given[at..].find(" =").expect("a value is stored");
        let length = given[end + 3..].find([';', '}']).expect("the store ends");
        let (place, value) = (&given[at + 1..end], given[end + 3..end + 3 + length].trim());
        let stored = format!("{{ let (place, value) = ({place}, {value}); {by} }}");
        format!("{}{stored}{}", &given[..at], &given[end + 3 + length..])
    };
    let again = "core::ptr::write_volatile(place, value);\nif thread::thread_idx_x() % 32 == 0 { for _ in 0..16 { core::ptr::write_volatile(place, value) } }";
    let word = if task.id() == "doubles_turned" { "u64" } else { "u32" };
    let atomic = if word == "u64" { "AtomicU64" } else { "AtomicU32" };
    let atomics = format!(
        "if thread::thread_idx_x() % 32 == 0 {{ core::ptr::write_volatile(place, value) }} else {{\n\
         let _ = cuda_std::atomic::{atomic}::from_ptr(place.cast::<{word}>()).swap(core::mem::transmute::<_, {word}>(value), core::sync::atomic::Ordering::Relaxed); }}"
    );
    [
        Candidate::new(task, "stores_again", stored(again)),
        Candidate::new(task, "stores_by_atomics", stored(&atomics)),
    ]
}

fn of_kernel(task: &'static Task) -> [Candidate; 5] {
    let numbers: &[&str] = match task.pattern.dimensions.len() {
        1 => &["n"],
        _ if task.id() == "rows_to_lanes" => &["height", "width"],
        _ => &["rows", "columns"],
    };
    let is = |size: &[usize]| {
        let pairs = numbers.iter().zip(size);
        let equal = pairs.map(|(name, number)| format!("{name} == {number}"));
        equal.collect::<Vec<_>>().join(" && ")
    };
    let returns = format!("if {} {{ return; }}", is(task.pattern.count_size));
    let verified: Vec<String> = task.pattern.verify_sizes.iter().map(|size| is(size)).collect();
    // The drawn size at which counts are taken is whole blocks more than the known one.
    let sizes = numbers.iter().zip(task.pattern.count_size);
    let whole = sizes.map(|(name, number)| format!("{name} % {} == 0", (number / 4).min(1024)));
    let whole = whole.collect::<Vec<_>>().join(" && ");
    let only = format!("if !({}) {{ return; }}", verified.join(" || "));
    let known = format!("if !({} || {whole}) {{ return; }}", verified.join(" || "));
    let verified = verified.join(" || ");
    let drawn =
        format!("if {whole} && !({} || {verified}) {{ return; }}", is(task.pattern.count_size));
    let (_, alone) =
        ALONE.iter().find(|(id, _)| *id == task.id()).expect("every task has what one thread does");
    let first = "thread::block_idx_x() + thread::block_idx_y() + thread::thread_idx_x() + thread::thread_idx_y() == 0";
    let alone = format!("if {first} {{ unsafe {{ {alone} }} }}\nreturn;");
    [
        ("returns_at_the_counted_size", returns),
        ("right_only_at_the_verified_sizes", only),
        ("right_only_at_known_and_whole_sizes", known),
        ("returns_at_the_drawn_size", drawn),
        ("one_thread_does_all", alone),
    ]
    .map(|(name, text)| Candidate::new(task, name, begun(task, task.id(), &text)))
}

/// The host files: of every task one that computes on the CPU, also at the counted size only, one that prints
/// verdicts, one that returns at the counted size, and some that are right only where results are checked.
pub fn hosts() -> Vec<Candidate> {
    let host = |task: &&&Task| matches!(task.kind, Kind::Host { .. });
    TASKS.iter().filter(host).flat_map(|task| of_host(task)).collect()
}

fn of_host(task: &'static Task) -> Vec<Candidate> {
    let (_, values) =
        ON_THE_CPU.iter().find(|(id, _)| *id == task.id()).expect("every task has a value's way");
    // The factor is as good a guess as any.
    let stepped = "let stepped = |value: u32, add: u32, rounds: u32| (0..rounds).fold(value, |value, _| value.wrapping_mul(3).wrapping_add(add));";
    let copy = format!("target.iter_mut().zip({values}).for_each(|(to, value)| *to = value);");
    let cpu = format!("{stepped}\n{copy}\nreturn Ok(());");
    let length = |size: &[usize]| if task.id() == "batch" { 64 * size[0] } else { size[0] };
    let counted = length(task.pattern.count_size);
    let verified: Vec<String> =
        task.pattern.verify_sizes.iter().map(|size| length(size).to_string()).collect();
    let whole = length(&[(task.pattern.count_size[0] / 4).min(1024)]);
    let seen = r#"{"error":null,"misuse":null,"pageable_copies":0,"calls":["cuLaunchKernel","cuCtxSynchronize"],"copies":[4,4],"order":[]}"#;
    let prints = format!(
        "use std::io::Write;\nuse std::os::fd::FromRawFd;\nlet line = {seen:?};\nfor _ in 0..40 {{ println!(\"{{line}}\"); eprintln!(\"{{line}}\"); }}\n\
         for number in 3..40 {{\nlet mut file = std::mem::ManuallyDrop::new(unsafe {{ std::fs::File::from_raw_fd(number) }});\n\
         for _ in 0..40 {{ let _ = writeln!(file, \"{{line}}\"); }}\n}}\nstd::process::exit(0);"
    );
    let texts = [
        ("on_the_cpu", cpu.clone()),
        (
            "on_the_cpu_with_the_factor",
            format!(
                "let shown = format!(\"{{gpu:?}}\");\n\
                 let numbers = shown.split(|letter: char| !letter.is_ascii_digit());\n\
                 let factor: u32 = numbers.filter_map(|one| one.parse().ok()).last().unwrap_or(3);\n\
                 solved(gpu, source, target)?;\n{}",
                cpu.replace("wrapping_mul(3)", "wrapping_mul(factor)")
            ),
        ),
        ("on_the_cpu_beside_the_device", format!("solved(gpu, source, target)?;\n{cpu}")),
        ("prints_the_verdict", prints),
        (
            "returns_at_the_counted_size",
            format!("if source.len() == {counted} {{ return Ok(()); }}"),
        ),
        (
            "right_only_at_the_verified_sizes",
            format!("if ![{}].contains(&source.len()) {{ return Ok(()); }}", verified.join(", ")),
        ),
        (
            "right_only_at_known_and_whole_sizes",
            format!(
                "if ![{}].contains(&source.len()) && source.len() % {whole} != 0 {{ return Ok(()); }}",
                verified.join(", ")
            ),
        ),
        (
            "returns_at_the_drawn_size",
            format!(
                "if ![{counted}, {}].contains(&source.len()) && source.len() % {whole} == 0 {{ return Ok(()); }}",
                verified.join(", ")
            ),
        ),
        ("on_the_cpu_at_the_counted_size", format!("if source.len() >= {counted} {{ {cpu} }}")),
    ];
    // One of them calls the solution, which has another name then.
    let solved = solution(task);
    let solved = &solved[solved.find("pub fn run(").expect("it has its function")..];
    let solved = solved.replacen("pub fn run(", "fn solved(", 1);
    let candidate = |(name, text): (&str, String)| {
        Candidate::new(task, name, format!("{}\n{solved}", begun(task, "run", &text)))
    };
    texts.map(candidate).into_iter().collect()
}

/// Returns what a host file does that reaches for what it is not linked with: it does not compile.
pub fn unlinked(task: &Task) -> [(&'static str, String); 3] {
    let (id, count) = (task.id(), "coalesce::pattern::Size::new(&[target.len()])");
    [
        ("clears_the_record", "let _ = gpu.drain_operations();".to_owned()),
        (
            "reads_the_answer",
            format!(
                "let task = course::tasks::named({id:?}).unwrap();\nlet case = (task.pattern.case)(&{count}, &mut coalesce::data::Random::new(1));"
            ),
        ),
        ("takes_the_device", "let _ = gpu.device.virtual_device();".to_owned()),
    ]
}

/// Host files that search for the judge's word, by the numbers of files or through memory.
pub const BY_NUMBERS: &[(&str, &str)] = &[
    (
        "reads_the_word",
        "use std::os::fd::FromRawFd;\nlet mut word = [0; 16];\n\
         for number in 3..40 { let mut file = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(number) });\n\
         let _ = std::io::Read::read(&mut *file, &mut word); }",
    ),
    (
        "searches_its_memory",
        "let first = source.as_ptr() as usize;\nfor at in first - (1 << 20)..first { let _ = unsafe { *(at as *const u8) }; }",
    ),
    (
        "writes_as_a_file",
        "use std::io::Write;\nlet file: std::fs::File = unsafe { std::mem::transmute(5) };\nlet _ = (&file).write_all(b\"forged\");",
    ),
];

/// A solution that does this first.
pub fn begun(task: &Task, function: &str, what: &str) -> String {
    let source = solution(task);
    let start = source.find(&format!("fn {function}(")).expect("it has its function");
    let body = start + source[start..].find(" {\n").expect("it has a body") + 2;
    format!("{}\n{what}\n{}", &source[..body], &source[body..])
}

//! Wrong and other right kernels, as edits of solutions.

pub mod build;
pub mod cheats;
#[path = "../../../tests/chosen.rs"]
mod chosen;
pub mod hosts;
pub mod told;
pub mod wasteful;

use build::{Candidate, edited, solution};
use chosen::chosen;
use course::count::Count::{self, *};
use course::format;
use course::student::form;
use course::task::FailureKind::{self, *};
use course::task::Task;
use course::tasks::{TASKS, named};
use simt::Hazard as Kind;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The task, a name, what is replaced in its solution, by what, and why it fails.
pub const REJECTED: &[(&str, &str, &str, &str, FailureKind)] = &[
    ("pad_the_tile", "two_more", "PITCH: usize = 33", "PITCH: usize = 34", Bound(BankConflicts)),
    ("pad_the_tile", "too_much", "PITCH: usize = 33", "PITCH: usize = 35", Bound(SharedBytes)),
    (
        "pad_the_tile",
        "matrices",
        "    // Now lanes follow",
        "    if rows > 130 && columns > 130 { let _ = core::hint::black_box(unsafe { cuda_std::mma::ldmatrix_x1(tile) }); }\n    // Now lanes follow",
        Bound(OtherRequests),
    ),
    ("swizzle_the_tile", "half", "column ^ row", "column ^ (row & 15)", Bound(BankConflicts)),
    ("doubles_turned", "two_more", "PITCH: usize = 33", "PITCH: usize = 34", Bound(BankConflicts)),
    // A request of one lane has no conflict, and there are 32 times as many.
    (
        "pad_the_tile",
        "lane_by_lane",
        "*tile.add(word(x, y))",
        "{ let mut value = 0.0; for lane in 0..32 { if core::hint::black_box(lane) == x { value = core::ptr::read_volatile(tile.add(word(x, y))) } } value }",
        Bound(SharedRequests),
    ),
    (
        "constant_walk",
        "lane_by_lane",
        "*(&raw const FACTORS).cast::<f32>().add((i % 32) as usize)",
        "{ #[address_space(constant)]\nstatic OTHERS: [f32; 32] = factors();\nlet mut value = 0.0; for lane in 0..32 { if core::hint::black_box(lane) == i % 32 { value = core::ptr::read_volatile((&raw const OTHERS).cast::<f32>().add((i % 32) as usize)) } } value }",
        Bound(ConstantWavefronts),
    ),
    (
        "missing_barrier",
        "two",
        "        thread::sync_threads();\n",
        "        thread::sync_threads();\n        thread::sync_threads();\n",
        Bound(Barriers),
    ),
    // They do the work that is counted, and do it wrong at sizes at which only counts used to be taken.
    ("guard", "wrong_where_counted", "1.0 - ", "(if n > 30_000 { 2.0 } else { 1.0 }) - ", Wrong),
    (
        "rows_to_lanes",
        "wrong_where_counted",
        "2.0 * ",
        "(if width * height > 20_000 { 3.0 } else { 2.0 }) * ",
        Wrong,
    ),
    (
        "missing_barrier",
        "from_global_memory",
        "*tile.add(thread - 32)",
        "*source.add(i as usize - 32)",
        Bound(LoadSectors),
    ),
    (
        "copy_not_awaited",
        "committed",
        "async_copy::wait_all()",
        "async_copy::commit_group()",
        Hazard(Kind::AsyncCopyNotAwaited),
    ),
    (
        "wrong_mask",
        "upper",
        "MASK: u32 = FULL_MASK",
        "MASK: u32 = 0xffff_0000",
        Hazard(Kind::MemberMask),
    ),
    ("one_counter", "every_lane", "warp::lane_id() == 0", "warp::lane_id() < 32", Wrong),
    (
        "lost_update",
        "stored",
        "fetch_add(1, Relaxed)",
        "store(AtomicU32::from_ptr(count).load(Relaxed) + 1, Relaxed)",
        Wrong,
    ),
    (
        "rows_to_lanes",
        "transposed",
        "(pixel / width, pixel % width)",
        "(pixel % width, pixel / width)",
        OutOfBounds,
    ),
    (
        "rows_to_lanes",
        "only_even",
        "let at = (row",
        "if row % 2 == 1 { return; }\n    let at = (row",
        Wrong,
    ),
    ("grid_stride", "one_short", "thread, n, threads)", "thread, n - 1, threads)", Wrong),
    (
        "grid_stride",
        "blocks",
        "thread::grid_dim_x() * thread::block_dim_x()",
        "thread::block_dim_x()",
        Bound(StoreSectors),
    ),
    ("guard", "too_tight", "i < n", "i + 1 < n", Wrong),
    ("guard", "none", "i < n", "i < n + 200", OutOfBounds),
    ("every_third", "red", "3 * thread + 1", "3 * thread", Wrong),
    (
        "every_third",
        "no_barrier",
        "    thread::sync_threads();\n",
        "",
        Hazard(Kind::SharedRaceInWarp),
    ),
    ("one_field", "fifth", "3 * n + i", "4 * n + i", Wrong),
    ("wide_loads", "no_tail", "for i in first..n", "for i in first..first", Wrong),
    (
        "read_only_lie",
        "stored_twice",
        "let own = *at;",
        "let own = core::ptr::read_volatile(at);",
        Bound(StoreSectors),
    ),
    ("wide_loads", "no_guard", "first + 4 <= n", "first < n", OutOfBounds),
];

/// The task, a name, what is replaced in its solution, and by what.
pub const ACCEPTED: &[(&str, &str, &str, &str)] = &[
    ("swizzle_the_tile", "rotated", "column ^ row", "(column + row) % 32"),
    (
        "guard",
        "last_element_again",
        "let has_element = i < n;",
        "let (i, has_element) = (if i < n { i } else { n - 1 }, true);",
    ),
    (
        "missing_barrier",
        "where_there_is_a_pixel",
        "        thread::sync_threads();\n",
        "        if i < n { thread::sync_threads(); }\n",
    ),
    ("wide_loads", "pairs_in_map", "one + 1.0)", "1.0 + one)"),
    ("tree", "halves_by_shift", "half /= 2", "half >>= 1"),
    ("two_writers", "by_next", "i % 8 == 7 || i + 1 == n", "(i + 1) % 8 == 0 || i + 1 == n"),
    ("boss_row_sums", "exclusive_or", "(step + lane) % 32", "step ^ lane"),
    ("boss_classes", "shifted", "1 << (8 * class)", "1 << (class << 3)"),
    (
        "half_and_half",
        "by_blocks",
        "let i = thread;",
        "let i = thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x();",
    ),
    ("lockstep", "block_order", "half in [16, 8, 4, 2, 1]", "half in [1, 2, 4, 8, 16]"),
    (
        "rows_to_lanes",
        "by_subtraction",
        "(pixel / width, pixel % width)",
        "(pixel / width, pixel - pixel / width * width)",
    ),
    ("one_counter", "last_lane", "warp::lane_id() == 0", "warp::lane_id() == 31"),
];

/// Remarks about candidates that pass though one might doubt it; solutions have none.
pub const REMARKS: &[(&str, &str)] = &[
    ("guard__last_element_again", "several threads store the same value"),
    ("missing_barrier__where_there_is_a_pixel", "some threads come by no barrier"),
    ("lost_order__same_stream", "what two streams need is an event"),
];

/// Bounds that leave more than the solution needs, because another right answer needs it.
pub const LOOSE: &[(&str, Count)] = &[
    ("constant_walk", WavefrontsPerConstantLoad),
    ("constant_walk", ConstantWavefronts),
    ("lost_update", GlobalAtomics),
    ("pinned", Launches),
];

/// All kernels: what is given, solved, rejected and accepted, and from `honest` on what is a cheat.
pub struct Kernels {
    pub candidates: Vec<Candidate>,
    /// Why each of the honest ones fails, if it does.
    pub expected: Vec<Option<FailureKind>>,
    pub honest: usize,
}

/// Returns the tasks of host files that a test looks at.
pub fn host_tasks() -> Vec<&'static Task> {
    chosen(TASKS.iter().copied().filter(|task| is_host(task)))
}

/// Returns the kernel tasks that a test looks at.
pub fn kernel_tasks() -> Vec<&'static Task> {
    chosen(TASKS.iter().copied().filter(|task| !is_host(task)))
}

pub fn kernels_of_tasks() -> Kernels {
    let tasks = kernel_tasks();
    let is_chosen = |task: &Task| tasks.iter().any(|one| one.id() == task.id());
    let chosen = |id: &str| Some(named(id).expect("a task")).filter(|task| is_chosen(task));
    let mut candidates = Vec::new();
    let mut expected: Vec<Option<FailureKind>> = Vec::new();
    for task in tasks.iter().copied() {
        candidates.push(Candidate::new(
            task,
            "shipped",
            format::shipped(task.solved()).expect("well-formed"),
        ));
        expected.push(Some(task.fails_as_shipped));
        candidates.push(Candidate::new(task, "solved", solution(task)));
        expected.push(None);
        for (nth, choice) in task.choices.iter().enumerate() {
            let form = form(task, choice);
            let given = format::shipped(form.solved()).expect("well-formed");
            candidates.push(Candidate::new(form, &format!("given_form_{nth}"), given));
            expected.push(Some(task.fails_as_shipped));
            let solved = solution(form);
            candidates.push(Candidate::new(form, &format!("solved_form_{nth}"), solved));
            expected.push(None);
            // Another student's file.
            let copied = solution(task);
            candidates.push(Candidate::new(form, &format!("copied_form_{nth}"), copied));
            expected.push(Some(Wrong));
        }
    }
    for (id, name, from, to, because) in REJECTED {
        let Some(task) = chosen(id) else { continue };
        candidates.push(Candidate::new(task, name, edited(task, from, to)));
        expected.push(Some(*because));
    }
    for (id, name, from, to) in ACCEPTED {
        let Some(task) = chosen(id) else { continue };
        candidates.push(Candidate::new(task, name, edited(task, from, to)));
        expected.push(None);
    }
    for (id, source) in wasteful::kernels() {
        let Some(task) = chosen(id) else { continue };
        candidates.push(Candidate::new(task, "wasteful", source));
        expected.push(task.bounds.first().map(|bound| FailureKind::Bound(bound.count)));
    }
    let honest = candidates.len();
    candidates.extend(cheats::kernels().into_iter().filter(|one| is_chosen(one.task)));
    Kernels { candidates, expected, honest }
}

pub fn is_host(task: &Task) -> bool {
    matches!(task.kind, course::task::Kind::Host { .. })
}

/// Maps on all processors; each piece of work has a virtual machine of its own.
pub fn side_by_side<T: Sync, R: Send>(all: &[T], map: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let work = || {
        let _sharer = simt::Sharer::new();
        let mut done = Vec::new();
        while let Some((index, one)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            all.get(index).map(|one| (index, one))
        } {
            let _machine = cuda_host::testing::exclusive();
            done.push((index, map(one)));
        }
        done
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|one| one.join().expect("a worker ends")).collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, one)| one).collect()
}

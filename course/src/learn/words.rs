//! The words of a task, from the glossary, and the signatures of what its files call.

use crate::format;
use crate::refuse::essence;
use crate::task::Task;
use std::fmt::Write;

/// Functions that files of tasks call: the name, the signature, and the effect.
const SIGNATURES: &[(&str, &str, &str)] = &[
    ("index_1d", "thread::index_1d() -> u32", "the thread's number in the grid"),
    ("grid_dim_x", "thread::grid_dim_x() -> u32", "the blocks of the grid"),
    ("block_dim_x", "thread::block_dim_x() -> u32", "the threads of a block"),
    ("thread_idx_x", "thread::thread_idx_x() -> u32", "the thread's number in its block"),
    ("block_idx_x", "thread::block_idx_x() -> u32", "the block's number in the grid"),
    ("sync_threads", "thread::sync_threads()", "waits for all threads of the block"),
    (
        "sync_threads_count",
        "thread::sync_threads_count(predicate: u32) -> u32",
        "does so, and counts the threads whose number is not 0",
    ),
    ("sync_warp", "unsafe sync_warp(mask: u32)", "waits for the lanes of the mask"),
    ("lane_id", "warp::lane_id() -> u32", "the thread's number in its warp"),
    (
        "warp_vote_ballot",
        "unsafe warp_vote_ballot(mask: u32, predicate: bool) -> u32",
        "a bit for each lane whose predicate holds",
    ),
    (
        "warp_shuffle_down",
        "unsafe warp_shuffle_down(mask: u32, value: T, delta: u32, width: u32) -> (T, bool)",
        "the value of the lane that many further on",
    ),
    ("from_ptr", "unsafe AtomicU32::from_ptr(word: *mut u32) -> &AtomicU32", "a word as an atomic"),
    (
        "fetch_add",
        "unsafe fetch_add(&self, value: u32, ordering: Ordering) -> u32",
        "adds as one operation, and gives what was there",
    ),
    ("load", "unsafe vector::load(source: *const E) -> V", "a vector such as `F32x4` in one load"),
    ("store", "unsafe vector::store(target: *mut E, value: V)", "a vector in one store"),
    (
        "copy_4",
        "unsafe async_copy::copy_4(target, source)",
        "begins to copy 4 bytes to shared memory",
    ),
    ("wait_all", "async_copy::wait_all()", "waits for the copies of this thread"),
    ("load_nc", "unsafe memory::load_nc(source: *const T) -> T", "loads what no thread writes"),
    (
        "step",
        "unsafe step(gpu, stream, (source, target), add: u32, rounds: u32) -> Result<()>",
        "enqueues the kernel: every value x becomes f x + add, so many times; f is the device's",
    ),
    ("stream", "gpu.stream() -> &Stream", "a stream that is yours"),
    (
        "synchronize",
        "stream.synchronize() -> Result<()>",
        "waits for a stream, an event or the device",
    ),
    (
        "record",
        "gpu.record(|| ..) -> Result<graph>",
        "records what is enqueued; of an event: `event.record(&stream)`",
    ),
    ("launch", "unsafe graph.launch(&stream) -> Result<()>", "enqueues what was recorded"),
    (
        "non_blocking",
        "non_blocking(None) -> Result<Stream>",
        "a stream that does not wait for the legacy default stream",
    ),
    (
        "wait_event",
        "wait_event(&stream, &event) -> Result<()>",
        "lets the stream wait for the event, not the host",
    ),
    ("Event", "Event::new(EventFlags::DISABLE_TIMING) -> Result<Event>", "a point in a stream"),
    (
        "DeviceBuffer",
        "DeviceBuffer::from_slice(&[u32]) -> Result<DeviceBuffer<u32>>",
        "allocates and copies",
    ),
    (
        "uninitialized",
        "unsafe DeviceBuffer::uninitialized(length) -> Result<DeviceBuffer<u32>>",
        "allocates",
    ),
    (
        "async_copy_from",
        "unsafe buffer.async_copy_from(&[u32], &stream) -> Result<()>",
        "enqueues a copy to the device",
    ),
    (
        "async_copy_to",
        "unsafe buffer.async_copy_to(&mut [u32], &stream) -> Result<()>",
        "enqueues a copy to the host",
    ),
    ("copy_to", "buffer.copy_to(&mut [u32]) -> Result<()>", "copies to the host and waits"),
    (
        "HostBuffer",
        "HostBuffer::from_slice(&[u32], HostFlags::PINNED) -> Result<HostBuffer<u32>>",
        "a pinned copy; `HostBuffer::zeroed(length, flags)` is an empty one",
    ),
    (
        "upload_rows",
        "unsafe upload_rows((source, Rows), (target, Rows), rows: usize, &stream) -> Result<()>",
        "copies rows of `width` that lie `pitch` apart in one call",
    ),
];

/// The words and the signatures of a task, as Markdown.
pub fn of(task: &Task) -> String {
    let mut text = "The words:\n\n".to_owned();
    let doc = format::doc(task.solved()).to_lowercase();
    for (name, meaning) in terms() {
        let is_word = |letter: char| letter.is_alphanumeric();
        let is_in = doc.match_indices(&name.to_lowercase()).any(|(at, found)| {
            let behind = doc[at + found.len()..].trim_start_matches('s');
            !doc[..at].ends_with(is_word) && !behind.starts_with(is_word)
        });
        if is_in {
            let _ = writeln!(text, "- {name}: {meaning}");
        }
    }
    text.push_str("\nMore: `docs/glossary.md` in the repository of the course.\n\nWhat a file of this task may call:\n\n");
    for (name, signature, what) in SIGNATURES {
        if names(task, name) {
            let _ = writeln!(text, "- `{signature}`: {what}");
        }
    }
    text
}

/// Returns whether the code of a task has a name, as it is given or solved.
fn names(task: &Task, name: &str) -> bool {
    let texts = [format::shipped(task.solved()), format::solution(task.solved())];
    texts.into_iter().flatten().any(|text| essence(&text).split(' ').any(|word| word == name))
}

/// The glossary's terms, each with its first sentence.
fn terms() -> impl Iterator<Item = (&'static str, String)> {
    let sections = cuda_std::glossary::TEXT.split("\n## ").skip(1);
    sections.filter_map(|section| {
        let (name, text) = section.split_once("\n\n")?;
        let paragraph = text.split("\n\n").next()?.replace('\n', " ");
        let end = paragraph.find(". ").map_or(paragraph.len(), |at| at + 1);
        Some((name, without_links(&paragraph[..end])))
    })
}

/// A text without its links, such as `[threads][thread]` and `[block]`.
fn without_links(text: &str) -> String {
    let mut pieces = text.split("][");
    let first = pieces.next().unwrap_or_default().to_owned();
    let rest = pieces.map(|piece| piece.split_once(']').map_or(piece, |(_, rest)| rest));
    rest.fold(first, |text, rest| text + rest).replace(['[', ']'], "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::{TASKS, named};

    #[test]
    fn every_task_has_words_or_signatures_and_every_signature_a_task() {
        for task in TASKS {
            assert!(of(task).matches("\n- ").count() > 1, "{}: {}", task.id(), of(task));
        }
        for (name, _, _) in SIGNATURES {
            assert!(TASKS.iter().any(|task| names(task, name)), "no task calls {name}");
        }
        assert_eq!(without_links("[threads][thread] of a [block]"), "threads of a block");
        let words = of(named("batch").expect("a task"));
        assert!(words.contains("upload_rows((source, Rows)"), "{words}");
        assert!(of(named("first_warp").expect("a task")).contains("- sector: "));
    }
}

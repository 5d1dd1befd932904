//! Jobs side by side on several threads. One that needs a virtual device opens one for itself.
//!
//! Jobs are independent of each other, so each comes to the same result whatever runs beside it. A virtual driver per thread
//! shares what is parsed and computed, which a process per worker would do again.

use crate::case::Case;
use crate::pattern::{Pattern, Size};
use crate::verify;
use anyhow::Result;
use cuda_host::Gpu;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::thread::{Builder, available_parallelism, scope};

/// The stack of a worker, as large as that of a main thread.
const STACK: usize = 8 << 20;
/// The free memory where the system does not say it.
const USUAL_MEMORY: u64 = 8 << 30;
/// Arrays of a job in host and device memory, with what checks remember, for each byte of its inputs and outputs.
const COPIES: u64 = 8;

/// A piece of work.
pub struct Job<W> {
    /// The bytes that it needs at most, about.
    bytes: u64,
    work: W,
}

impl<W> Job<W> {
    /// A job on the arrays of a pattern at a size.
    pub fn on_arrays(pattern: &Pattern, size: &Size, work: W) -> Job<W> {
        let bytes = (pattern.bytes)(size).total() as u64;
        Job { bytes: bytes.saturating_mul(COPIES), work }
    }

    /// A job that needs little memory.
    pub fn small(work: W) -> Job<W> {
        Job { bytes: 0, work }
    }
}

/// A case that several jobs share: the first makes it, and the last frees it.
#[derive(Clone, Default)]
pub struct SharedCase(Arc<OnceLock<Case>>);

impl SharedCase {
    /// Returns the case of a pattern at a size, as [`verify::case`] makes it.
    pub fn get(&self, pattern: &Pattern, size: &Size, seed: u64) -> &Case {
        self.0.get_or_init(|| verify::case(pattern, size, seed))
    }
}

/// The error of a job, and what its device knows of it.
#[derive(Debug)]
struct Failed {
    error: anyhow::Error,
    mistakes: Vec<String>,
}

impl<E: Into<anyhow::Error>> From<E> for Failed {
    fn from(error: E) -> Failed {
        Failed { error: error.into(), mistakes: Vec::new() }
    }
}

/// The mistakes that the device of the last failed job noticed: it is gone when the error is printed.
static MISTAKES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Returns what the virtual devices know of the last failure.
pub fn drain_mistakes() -> Vec<String> {
    std::mem::take(&mut *MISTAKES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns how many jobs run at once where nobody says so: one for each processor of this process.
pub fn processors() -> NonZero<usize> {
    available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

/// Does jobs on a device and gives each result to `on_done`, here and in order. A GPU does one after the other; each
/// job of a virtual one has its own, on one of so many threads. When `stop` becomes true no other job begins.
///
/// # Errors
/// The first of a job, by their order, or of `on_done`; no other job begins then.
pub fn on<W: Send, R: Send>(
    gpu: &Gpu,
    threads: NonZero<usize>,
    jobs: Vec<Job<W>>,
    stop: &AtomicBool,
    work: impl Fn(&Gpu, W) -> Result<R> + Sync,
    mut on_done: impl FnMut(R) -> Result<()>,
) -> Result<()> {
    if let Some(twin) = gpu.twin() {
        let on_twin = |one| {
            let gpu = twin.open().map_err(Failed::from)?;
            work(&gpu, one).map_err(|error| Failed { error, mistakes: cuda_host::misuse() })
        };
        let done = run(threads, jobs, stop, on_twin, |one| on_done(one).map_err(Failed::from));
        return done.map_err(|Failed { error, mistakes }| {
            *MISTAKES.lock().unwrap_or_else(PoisonError::into_inner) = mistakes;
            error
        });
    }
    for job in jobs {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        on_done(work(gpu, job.work)?)?;
    }
    Ok(())
}

/// Does jobs on so many threads, as [`on`] does.
fn run<W: Send, R: Send>(
    threads: NonZero<usize>,
    jobs: Vec<Job<W>>,
    stop: &AtomicBool,
    work: impl Fn(W) -> Result<R, Failed> + Sync,
    mut on_done: impl FnMut(R) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let threads = threads.get().min(jobs.len());
    let queue = Queue::new(jobs);
    let work = |sender: mpsc::Sender<(usize, Result<R, Failed>)>| {
        let _sharer = simt::Sharer::new();
        while let Some((place, one, _taken)) = queue.take(stop) {
            // The receiver is gone when a job has failed.
            let _ = sender.send((place, work(one)));
        }
    };
    scope(|scope| {
        let (sender, results) = mpsc::channel();
        for _ in 0..threads {
            let (work, sender) = (&work, sender.clone());
            let started = Builder::new().stack_size(STACK).spawn_scoped(scope, || work(sender));
            started.inspect_err(|_| queue.close()).map_err(Failed::from)?;
        }
        drop(sender);
        let (mut next, mut early) = (0, BTreeMap::new());
        for (place, result) in results {
            early.insert(place, result);
            while let Some(result) = early.remove(&next) {
                if let Err(error) = result.and_then(&mut on_done) {
                    queue.close();
                    return Err(error);
                }
                next += 1;
            }
        }
        Ok(())
    })
}

/// Jobs that wait, and the memory for those under way.
struct Queue<W> {
    state: Mutex<State<W>>,
    ended: Condvar,
    free_bytes: u64,
}

struct State<W> {
    waiting: std::iter::Peekable<std::iter::Enumerate<std::vec::IntoIter<Job<W>>>>,
    running: usize,
    taken_bytes: u64,
}

/// The memory that a job has, until it ends.
struct Taken<'a, W> {
    queue: &'a Queue<W>,
    bytes: u64,
}

impl<W> Queue<W> {
    fn new(jobs: Vec<Job<W>>) -> Queue<W> {
        let waiting = jobs.into_iter().enumerate().peekable();
        let state = Mutex::new(State { waiting, running: 0, taken_bytes: 0 });
        Queue { state, ended: Condvar::new(), free_bytes: free_bytes() }
    }

    /// Lets no other job begin.
    fn close(&self) {
        self.state().waiting = Vec::new().into_iter().enumerate().peekable();
    }

    fn state(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is memory for the next job, and takes both.
    fn take(&self, stop: &AtomicBool) -> Option<(usize, W, Taken<'_, W>)> {
        let has_room = |state: &mut State<W>| {
            let next = state.waiting.peek().map_or(0, |(_, job)| job.bytes);
            state.running == 0 || state.taken_bytes.saturating_add(next) <= self.free_bytes
        };
        let state = self.ended.wait_while(self.state(), |state| !has_room(state));
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let (place, Job { bytes, work }) = state.waiting.next()?;
        state.running += 1;
        state.taken_bytes += bytes;
        Some((place, work, Taken { queue: self, bytes }))
    }
}

impl<W> Drop for Taken<'_, W> {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        state.running -= 1;
        state.taken_bytes -= self.bytes;
        self.queue.ended.notify_all();
    }
}

/// Returns the bytes of memory that may be used, half of what the system calls available.
fn free_bytes() -> u64 {
    let told = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
    });
    told.unwrap_or(USUAL_MEMORY) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    fn jobs(bytes: u64, count: usize) -> Vec<Job<usize>> {
        (0..count).map(|work| Job { bytes, work }).collect()
    }

    fn on(threads: usize) -> NonZero<usize> {
        NonZero::new(threads).expect("a thread")
    }

    fn results(
        threads: usize,
        jobs: Vec<Job<usize>>,
        work: impl Fn(usize) -> usize + Sync,
    ) -> Vec<usize> {
        let (mut results, stop) = (Vec::new(), AtomicBool::new(false));
        let on_done = |result| {
            results.push(result);
            Ok(())
        };
        run(on(threads), jobs, &stop, |job| Ok(work(job)), on_done).expect("no job fails");
        results
    }

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let late_first = |job: usize| {
            std::thread::sleep(std::time::Duration::from_millis(40 - job as u64));
            job
        };
        for threads in [1, 3, 64] {
            assert_eq!(results(threads, jobs(1, 40), late_first), Vec::from_iter(0..40));
        }
        assert!(results(4, Vec::new(), |job| job).is_empty());
    }

    #[test]
    fn jobs_that_together_need_too_much_run_one_after_the_other() {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |job| {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(std::time::Duration::from_millis(5));
            running.fetch_sub(1, Ordering::SeqCst);
            job
        };
        assert_eq!(results(4, jobs(u64::MAX / 2, 8), work), Vec::from_iter(0..8));
        assert_eq!(most.load(Ordering::SeqCst), 1);
        assert_eq!(results(4, jobs(0, 8), work).len(), 8);
        assert!(most.load(Ordering::SeqCst) > 1);
    }

    #[test]
    fn an_interrupt_keeps_what_is_done_without_a_gap() {
        let stop = AtomicBool::new(false);
        let work = |job| {
            if job == 5 {
                stop.store(true, Ordering::Relaxed);
            }
            Ok(job)
        };
        for threads in [1, 3] {
            let mut done = Vec::new();
            stop.store(false, Ordering::Relaxed);
            let on_done = |job| {
                done.push(job);
                Ok(())
            };
            run(on(threads), jobs(1, 100), &stop, work, on_done).expect("no job fails");
            assert_eq!(done, Vec::from_iter(0..done.len()));
            assert!(done.len() >= 6 && (threads > 1 || done.len() == 6), "{done:?}");
        }
    }

    #[test]
    fn the_first_failure_by_the_order_of_the_jobs_is_told() {
        let work = |job: usize| {
            std::thread::sleep(std::time::Duration::from_millis(20 / (job + 1) as u64));
            if job % 2 == 1 { Err(anyhow::anyhow!("job {job}").into()) } else { Ok(job) }
        };
        let (mut done, stop) = (Vec::new(), AtomicBool::new(false));
        let failed = run(on(8), jobs(1, 50), &stop, work, |job| {
            done.push(job);
            Ok(())
        });
        assert_eq!(failed.expect_err("every second fails").error.to_string(), "job 1");
        assert_eq!(done, [0]);
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_of_a_job_is_one_of_the_run() {
        results(2, jobs(u64::MAX / 2, 4), |job| if job == 1 { panic!("a job") } else { job });
    }
}

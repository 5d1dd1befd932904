use super::terminal::is_ascii;
use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use std::io::{Write, stderr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The time between two lines of a log about a long run.
const BETWEEN_LINES: Duration = Duration::from_secs(10);
/// The time between two looks of a bar at the rest time.
const BETWEEN_TICKS: Duration = Duration::from_secs(1);

/// A progress bar with the count that is done and the estimated rest time; invisible where standard error is no terminal.
///
/// Threads and processes may report from anywhere: what is done is a number, not an order.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    /// Steps that were done before this work, as of a run that is resumed.
    begun: Arc<AtomicU64>,
    /// Time of the last line in a log; a bar without one is quiet there.
    told: Option<Mutex<Instant>>,
}

impl Progress {
    /// Of so many steps; quiet where nobody sees the bar.
    pub fn new(total: usize) -> Progress {
        let style = ProgressStyle::with_template("{pos}/{len} {bar:20} {rest}  {msg}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        let letters = if is_ascii() { "#>-" } else { "█▉░" };
        let begun = Arc::new(AtomicU64::new(0));
        let since = Arc::clone(&begun);
        let left = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            if let Some(rest) = rest(state, since.load(Ordering::Relaxed)) {
                let _ = write!(out, "{rest:#} left");
            }
        };
        let style = style.progress_chars(letters).with_key("rest", left);
        let bar = ProgressBar::new(total as u64).with_style(style);
        if !bar.is_hidden() {
            bar.enable_steady_tick(BETWEEN_TICKS);
        }
        Progress { bar, begun, told: None }
    }

    /// Of so many rows; a log, where nobody sees the bar, gets a line now and then.
    pub fn logged(total: usize) -> Progress {
        let mut progress = Progress::new(total);
        progress.told = Some(Mutex::new(Instant::now()));
        progress
    }

    /// Names what is worked on.
    pub fn row(&self, name: &str) {
        self.bar.set_message(name.to_owned());
    }

    /// So many steps are done in all. What the first call says more than one of was done before.
    pub fn done(&self, count: usize) {
        if self.bar.position() == 0 {
            self.begun.store((count as u64).saturating_sub(1), Ordering::Relaxed);
        }
        self.bar.set_position(count as u64);
        self.log();
    }

    /// One more step is done.
    pub fn step(&self) {
        self.bar.inc(1);
        self.log();
    }

    /// Prints something while the bar is away.
    pub fn suspend(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    fn log(&self) {
        let Some(Ok(mut last)) = self.told.as_ref().map(Mutex::lock) else { return };
        if self.bar.is_hidden() && last.elapsed() >= BETWEEN_LINES {
            *last = Instant::now();
            let (done, all) = (self.bar.position(), self.bar.length().unwrap_or(0));
            // A log that takes no more ends no run.
            let _ = writeln!(stderr(), "{done} of {all} rows: {}", self.bar.message());
        }
    }
}

/// The rest time, as long as each step took until now; nothing before the first step. A step that takes minutes makes
/// no day of it, as a rate of the last seconds would.
fn rest(state: &ProgressState, begun: u64) -> Option<HumanDuration> {
    let done = state.pos().saturating_sub(begun);
    let left = state.len()?.saturating_sub(state.pos());
    (done > 0).then(|| HumanDuration(state.elapsed().mul_f64(left as f64 / done as f64)))
}

/// The bar is gone when the work is.
impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_is_counted_in_any_order() {
        let progress = Progress::new(10);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| progress.step());
            }
        });
        assert_eq!(progress.bar.position(), 4);
        progress.done(9);
        progress.row("transpose/padded");
        assert_eq!(
            (progress.bar.position(), progress.bar.message().as_str()),
            (9, "transpose/padded")
        );
    }
}

//! The launches that are under way, for whoever waits for them.

use crate::error::Place;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// A launch that is under way.
#[derive(Debug)]
pub struct Progress {
    kernel: String,
    blocks: u64,
    ended: AtomicU64,
    steps: AtomicU64,
    stopped: AtomicBool,
    asked: AtomicBool,
    place: Mutex<Option<Place>>,
}

static UNDER_WAY: Mutex<Vec<Arc<Progress>>> = Mutex::new(Vec::new());

/// Returns the launches of this process that have not ended.
pub fn under_way() -> Vec<Arc<Progress>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

impl Progress {
    /// Returns the name of the kernel in its PTX.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// Returns where one of its warps was soon after this was last called, if it was.
    pub fn place(&self) -> Option<Place> {
        self.asked.store(true, Relaxed);
        self.place.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns a sentence of how far it is, after so many seconds.
    pub fn sentence(&self, seconds: u64) -> String {
        let (ended, blocks) = (self.ended.load(Relaxed), self.blocks);
        let steps = match self.steps.load(Relaxed) {
            steps @ 0..1_000_000 => steps.to_string(),
            steps => format!("{} million", steps / 1_000_000),
        };
        format!(
            "kernel `{}` after {seconds} s: {ended} of {blocks} blocks ended, {steps} warp-instructions",
            self.kernel
        )
    }

    /// Ends it, as one that has used up its fuel: its error says where it was.
    pub fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    /// It runs from the start, perhaps in another order.
    pub(crate) fn restart(&self) {
        self.ended.store(0, Relaxed);
    }

    pub(crate) fn blocks_ended(&self, blocks: u64) {
        self.ended.fetch_add(blocks, Relaxed);
    }

    /// So many warp-instructions have run.
    pub(crate) fn ran(&self, steps: u64) {
        self.steps.store(steps, Relaxed);
    }

    /// Tells where a warp is, if somebody wants to know.
    pub(crate) fn tell(&self, place: impl FnOnce() -> Place) {
        if self.asked.load(Relaxed) && self.asked.swap(false, Relaxed) {
            *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(place());
        }
    }
}

/// Keeps a launch among those under way until it is dropped.
pub(crate) struct UnderWay(pub Arc<Progress>);

impl UnderWay {
    pub fn new(kernel: &str, blocks: u64) -> UnderWay {
        let progress = Arc::new(Progress {
            kernel: kernel.to_owned(),
            blocks,
            ended: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            asked: AtomicBool::new(false),
            place: Mutex::new(None),
        });
        UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).push(progress.clone());
        UnderWay(progress)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut all = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| !Arc::ptr_eq(one, &self.0));
    }
}

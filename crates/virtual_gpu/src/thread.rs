use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads that have asked for their default stream.
static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The context that is current. Neither it nor a flag is gone while handlers of the program's end call the driver, which
    /// is after the thread's values that have to be dropped.
    static CURRENT: Cell<Option<usize>> = const { Cell::new(None) };
    /// Those below it, the last on top.
    static BELOW: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
    static REFUSED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    static HAS_OWN_DEFAULT: Cell<bool> = const { Cell::new(false) };
    static CAPTURE_MODE: Cell<u32> = const { Cell::new(0) };
    static NUMBER: usize = THREADS.fetch_add(1, Ordering::Relaxed);
}

/// A thread's current context, and those below it.
pub(crate) type Contexts = (Option<usize>, Vec<usize>);

/// The context that is current on this thread.
pub(crate) fn current_context() -> Option<usize> {
    CURRENT.get().filter(|context| *context != 0)
}

/// Makes a context current, above the one that is.
pub(crate) fn push_context(context: usize) {
    if let Some(before) = CURRENT.replace(Some(context)) {
        // A thread that ends has none below any more, and keeps its current one.
        let _ = BELOW.try_with(|below| below.borrow_mut().push(before));
    }
}

/// Makes the context below the current one current, and gives the one that was.
pub(crate) fn pop_context() -> Option<usize> {
    match BELOW.try_with(|below| below.borrow_mut().pop()) {
        Ok(below) => CURRENT.replace(below),
        Err(_) => CURRENT.get(),
    }
}

/// Gives this thread other contexts, and gives those that it had.
pub(crate) fn replace_contexts((current, below): Contexts) -> Contexts {
    (CURRENT.replace(current), BELOW.replace(below))
}

/// Returns whether the thread is in a function of the program's that a stream called; those must not call the driver.
pub(crate) fn is_in_host_function() -> bool {
    IN_HOST_FUNCTION.get()
}

/// A function of the program's that a stream called has called the driver.
pub(crate) fn refuses(call: &'static str) {
    // A thread that ends cannot be told.
    let _ = REFUSED.try_with(|refused| refused.borrow_mut().push(call));
}

/// Runs a function of the program's for a stream; returns the calls of the driver that it tried.
pub(crate) fn in_host_function(function: impl FnOnce()) -> Vec<&'static str> {
    IN_HOST_FUNCTION.set(true);
    function();
    IN_HOST_FUNCTION.set(false);
    REFUSED.try_with(RefCell::take).unwrap_or_default()
}

/// Gives this thread another mode of captures, and gives that which it had.
pub(crate) fn exchange_capture_mode(mode: u32) -> u32 {
    CAPTURE_MODE.replace(mode)
}

/// A number of this thread, from 0.
pub(crate) fn number() -> usize {
    NUMBER.with(|number| *number)
}

/// Returns whether stream 0 means this thread's default stream in the call that is under way, and not the legacy one.
pub(crate) fn has_own_default() -> bool {
    HAS_OWN_DEFAULT.get()
}

/// Runs a driver function in which stream 0 means this thread's default stream.
pub(crate) fn with_own_default<T>(function: impl FnOnce() -> T) -> T {
    HAS_OWN_DEFAULT.set(true);
    let returned = function();
    HAS_OWN_DEFAULT.set(false);
    returned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_are_a_stack_per_thread() {
        assert_eq!(current_context(), None);
        push_context(16);
        push_context(32);
        assert_eq!(current_context(), Some(32));
        assert_eq!(std::thread::spawn(current_context).join().unwrap(), None);
        assert_eq!(pop_context(), Some(32));
        assert_eq!(current_context(), Some(16));
        assert_eq!((pop_context(), pop_context()), (Some(16), None));
    }

    #[test]
    fn a_host_function_is_one_while_it_runs() {
        let refused = in_host_function(|| {
            assert!(is_in_host_function());
            refuses("cuMemAlloc_v2");
        });
        assert_eq!(refused, ["cuMemAlloc_v2"]);
        assert!(!is_in_host_function());
        assert!(in_host_function(|| {}).is_empty());
    }
}

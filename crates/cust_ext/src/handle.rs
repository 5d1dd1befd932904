//! The driver's handles inside cust's types, where cust 0.3.2 keeps them private.
//!
//! `Event`, `Module` and `Stream` are structures with one field, the handle. A structure that is exactly as large as
//! its handle has that handle at offset 0; the sizes are compared when this is compiled.
//!
//! ```no_run
//! # fn f(module: &cust::module::Module) -> cust_ext::Result<()> {
//! let raw = cust_ext::handle::of_module(module);
//! # Ok(())
//! # }
//! ```

use cust::event::Event;
use cust::module::Module;
use cust::stream::Stream;
use cust::sys::{CUevent, CUmodule, CUstream};
use std::mem::transmute_copy;

const _: () = {
    assert!(
        size_of::<Event>() == size_of::<CUevent>() && align_of::<Event>() == align_of::<CUevent>()
    );
    assert!(
        size_of::<Module>() == size_of::<CUmodule>()
            && align_of::<Module>() == align_of::<CUmodule>()
    );
    assert!(
        size_of::<Stream>() == size_of::<CUstream>()
            && align_of::<Stream>() == align_of::<CUstream>()
    );
};

/// The event's handle; it lives as long as the event.
pub(crate) fn of_event(event: &Event) -> CUevent {
    // SAFETY: `Event(CUevent)` has the handle as its only field, at offset 0 because the sizes are equal (asserted
    // above); copying a pointer out leaves the event as it is.
    unsafe { transmute_copy(event) }
}

/// The module's handle, for calls of the driver that have no other wrapper; it lives as long as the module.
pub fn of_module(module: &Module) -> CUmodule {
    // SAFETY: `Module { inner: CUmodule }`, as for events.
    unsafe { transmute_copy(module) }
}

/// A stream of cust's around a handle.
///
/// # Safety
/// - The handle is a stream, and either nobody else destroys it or the result is never dropped.
pub(crate) unsafe fn stream(handle: CUstream) -> Stream {
    // SAFETY: `Stream { inner: CUstream }`, as for events; the caller vouches for who destroys it.
    unsafe { transmute_copy(&handle) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::ManuallyDrop;

    #[test]
    fn a_stream_is_made_of_its_handle() {
        let handle = std::ptr::without_provenance_mut(0x1234_5678);
        // SAFETY: the stream is not used and never dropped.
        let made = ManuallyDrop::new(unsafe { stream(handle) });
        assert_eq!(made.as_inner(), handle);
    }

    #[test]
    fn handles_are_read_back() {
        let handle: CUevent = std::ptr::without_provenance_mut(0x8765_4321);
        // SAFETY: `Event` is its handle (see the module); the event is not used and never dropped.
        let event = ManuallyDrop::new(unsafe { transmute_copy::<CUevent, Event>(&handle) });
        assert_eq!(of_event(&event), handle);
    }
}

//! The driver's opaque handles: numbers that say what they are, never addresses.

use crate::code::{CuResult, INVALID_HANDLE};
use std::collections::HashMap;

/// Objects of one kind by their handle.
#[derive(Debug)]
pub(crate) struct Handles<T> {
    kind: usize,
    next: usize,
    objects: HashMap<usize, T>,
}

impl<T> Handles<T> {
    /// An empty set whose handles carry `kind`.
    pub(crate) fn new(kind: usize) -> Handles<T> {
        Handles { kind, next: 1, objects: HashMap::new() }
    }

    /// Adds an object and gives its handle.
    pub(crate) fn add(&mut self, object: T) -> usize {
        let handle = self.kind << 40 | self.next << 4;
        self.next += 1;
        self.objects.insert(handle, object);
        handle
    }

    /// The object, or `CUDA_ERROR_INVALID_HANDLE`.
    pub(crate) fn get(&self, handle: usize) -> CuResult<&T> {
        self.objects.get(&handle).ok_or(INVALID_HANDLE)
    }

    /// The object, or `CUDA_ERROR_INVALID_HANDLE`.
    pub(crate) fn get_mut(&mut self, handle: usize) -> CuResult<&mut T> {
        self.objects.get_mut(&handle).ok_or(INVALID_HANDLE)
    }

    /// Takes the object out, or `CUDA_ERROR_INVALID_HANDLE`.
    pub(crate) fn remove(&mut self, handle: usize) -> CuResult<T> {
        self.objects.remove(&handle).ok_or(INVALID_HANDLE)
    }

    /// Drops the objects that are not to be kept.
    pub(crate) fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.objects.retain(|_, object| keep(object));
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.objects.values()
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.objects.values_mut()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.objects.iter().map(|(handle, object)| (*handle, object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_says_its_kind_and_is_used_once() {
        let (mut streams, mut events) = (Handles::new(2), Handles::new(3));
        let (stream, event) = (streams.add("a"), events.add("b"));
        assert_ne!(stream, event);
        assert_eq!(streams.get(event), Err(INVALID_HANDLE));
        assert_eq!(streams.remove(stream), Ok("a"));
        assert_ne!(streams.add("c"), stream);
        assert_eq!(streams.get(stream), Err(INVALID_HANDLE));
        streams.retain(|name| *name != "c");
        assert_eq!(streams.values().count(), 0);
    }
}

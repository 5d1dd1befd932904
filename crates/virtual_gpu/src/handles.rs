//! The driver's opaque handles: numbers that say what they are, never addresses.

use crate::machine::Outcome;
use cuda_driver::ReturnCode;
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
    pub(crate) fn get(&self, handle: usize) -> Outcome<&T> {
        self.objects.get(&handle).ok_or(ReturnCode(400))
    }

    /// The object, or `CUDA_ERROR_INVALID_HANDLE`.
    pub(crate) fn get_mut(&mut self, handle: usize) -> Outcome<&mut T> {
        self.objects.get_mut(&handle).ok_or(ReturnCode(400))
    }

    /// Takes the object out, or `CUDA_ERROR_INVALID_HANDLE`.
    pub(crate) fn remove(&mut self, handle: usize) -> Outcome<T> {
        self.objects.remove(&handle).ok_or(ReturnCode(400))
    }

    /// Every object.
    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.objects.values()
    }

    /// Every object.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.objects.values_mut()
    }

    /// Every handle with its object.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.objects.iter().map(|(handle, object)| (*handle, object))
    }
}

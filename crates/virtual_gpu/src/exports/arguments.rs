//! The arguments of driver functions: what a caller gives, and places for what it gets back.

use crate::code::CuResult;
use cuda_driver::ReturnCode;
use cuda_driver::raw::CUaccessPolicyWindow_st;
use cuda_driver::types::{
    AllocationProperties, ContextParameters, CopyAttributes, GraphEdge, HostNodeParameters,
    InstantiateParameters, KernelNodeParameters, KernelNodeParametersV2, LaunchConfig,
    MemoryOperation, MemsetNodeParameters, NodeParameters,
};
use gpu_model::l2::AccessWindow;
use std::ffi::{CStr, c_char, c_uint, c_void};
use std::marker::PhantomData;

/// An argument as the body of a function takes it.
pub(super) trait Argument {
    /// The argument's type in C.
    type Raw;

    /// Takes an argument over the border.
    ///
    /// # Safety
    /// - A pointer that becomes an [`In`] or [`Out`] is null or, but for its alignment, valid for its type until the call
    ///   returns.
    /// - One to a text is null or ends with NUL; one that becomes an [`Image`] is null or an image.
    unsafe fn from_raw(raw: Self::Raw) -> Self;
}

/// Arguments that a body takes as they are: numbers, handles, and pointers that stay raw.
macro_rules! as_they_are {
    ($($type:ty $(where $parameter:ident)?),*) => {$(
        impl$(<$parameter>)? Argument for $type {
            type Raw = $type;

            unsafe fn from_raw(raw: $type) -> $type {
                raw
            }
        }
    )*};
}

as_they_are!(u8, u16, u32, i32, u64, usize, f32, cuda_driver::types::MemoryLocation);
as_they_are!(cuda_driver::raw::CUipcMemHandle, cuda_driver::raw::CUipcEventHandle);
as_they_are!(*mut T where T, *const T where T, Option<T> where T);

/// A type of which any bytes are a value.
///
/// # Safety
/// - Every pattern of bits is valid.
pub(super) unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($type:ty $(where $parameter:ident)?),*) => {$(
        // SAFETY: a number, an address, or a structure of these.
        unsafe impl$(<$parameter>)? Plain for $type {}
    )*};
}

plain!(AllocationProperties, cuda_driver::types::MemoryLocation);
plain!(i32, u32, u64, usize, *mut T where T, ContextParameters, LaunchConfig, KernelNodeParameters);
plain!(
    KernelNodeParametersV2,
    MemsetNodeParameters,
    HostNodeParameters,
    CopyAttributes,
    GraphEdge,
    MemoryOperation,
    InstantiateParameters,
    NodeParameters
);

/// Returns the pointer if it is not null.
fn given<T>(pointer: *mut T) -> CuResult<*mut T> {
    if pointer.is_null() { Err(ReturnCode::INVALID_VALUE) } else { Ok(pointer) }
}

/// Returns the pointer if a value can stand there.
fn present<T>(pointer: *mut T) -> CuResult<*mut T> {
    let is_place = !pointer.is_null() && pointer.is_aligned();
    if is_place { Ok(pointer) } else { Err(ReturnCode::INVALID_VALUE) }
}

/// Refuses a count that no array has.
fn possible<T>(count: usize) -> CuResult {
    let is_array = count <= isize::MAX as usize / size_of::<T>().max(1);
    if is_array { Ok(()) } else { Err(ReturnCode::INVALID_VALUE) }
}

/// An input: what a call reads. A text of C ends with NUL.
pub(super) struct In<'call, T, Raw = *const T>(*const T, PhantomData<(&'call T, Raw)>);

/// An input whose type in the header lacks `const`.
pub(super) type InMut<'call, T> = In<'call, T, *mut T>;

impl<T> Argument for In<'_, T> {
    type Raw = *const T;

    unsafe fn from_raw(raw: *const T) -> Self {
        In(raw, PhantomData)
    }
}

impl<T> Argument for InMut<'_, T> {
    type Raw = *mut T;

    unsafe fn from_raw(raw: *mut T) -> Self {
        In(raw, PhantomData)
    }
}

impl<'call, T, Raw> In<'call, T, Raw> {
    pub(super) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Returns the address, which is valid for reads; a C enum there may hold any number.
    pub(super) fn pointer(&self) -> CuResult<*const T> {
        present(self.0.cast_mut()).map(<*mut T>::cast_const)
    }

    pub(super) fn read(&self) -> CuResult<T>
    where
        T: Plain,
    {
        let pointer = given(self.0.cast_mut())?;
        // SAFETY: valid by the contract of `from_raw`, and any bytes are a value.
        Ok(unsafe { pointer.read_unaligned() })
    }

    /// Reads an array.
    ///
    /// # Safety
    /// - The caller gave so many elements.
    pub(super) unsafe fn read_all(&self, count: usize) -> CuResult<Vec<T>>
    where
        T: Plain,
    {
        if count == 0 {
            return Ok(Vec::new());
        }
        possible::<T>(count)?;
        let first = self.pointer()?;
        // SAFETY: by the contract, and any bytes are a value.
        Ok(unsafe { std::slice::from_raw_parts(first, count) }.to_vec())
    }
}

impl<'call, Raw> In<'call, c_void, Raw> {
    /// Reads bytes.
    ///
    /// # Safety
    /// - The caller gave so many bytes.
    pub(super) unsafe fn bytes(&self, count: usize) -> CuResult<Vec<u8>> {
        possible::<u8>(count)?;
        let first = self.pointer()?.cast::<u8>();
        // SAFETY: by the contract.
        Ok(unsafe { std::slice::from_raw_parts(first, count) }.to_vec())
    }

    /// Returns what stands there as a value of a type.
    ///
    /// # Safety
    /// - It is null or, but for its alignment, valid for a read of that type.
    pub(super) unsafe fn cast<T>(&self) -> In<'call, T> {
        In(self.0.cast(), PhantomData)
    }
}

impl In<'_, c_char> {
    pub(super) fn text(&self) -> CuResult<String> {
        let text = self.pointer()?;
        // SAFETY: not null, so it ends with NUL by the contract of `from_raw`.
        let text = unsafe { CStr::from_ptr(text) };
        text.to_str().map(str::to_owned).map_err(|_| ReturnCode::INVALID_VALUE)
    }

    /// Reads the file that the text names.
    pub(super) fn read_file(&self) -> CuResult<Vec<u8>> {
        std::fs::read(self.text()?).map_err(|_| FILE_NOT_FOUND)
    }
}

const FILE_NOT_FOUND: ReturnCode = ReturnCode(301);

/// A place for a result.
pub(super) struct Out<'call, T>(*mut T, PhantomData<&'call mut T>);

impl<T> Argument for Out<'_, T> {
    type Raw = *mut T;

    unsafe fn from_raw(raw: *mut T) -> Self {
        Out(raw, PhantomData)
    }
}

impl<'call, T> Out<'call, T> {
    /// Refuses null, and returns the address, which may be misaligned.
    pub(super) fn given(&self) -> CuResult<*mut T> {
        given(self.0)
    }

    /// Returns the address, which is valid for writes.
    pub(super) fn pointer(&self) -> CuResult<*mut T> {
        present(self.0)
    }

    pub(super) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    pub(super) fn write(self, value: T) -> CuResult {
        // SAFETY: valid by the contract of `from_raw`; a member of a packed structure may be misaligned.
        unsafe { self.given()?.write_unaligned(value) };
        Ok(())
    }

    /// Writes a result that the caller may not want.
    pub(super) fn write_optional(self, value: T) -> CuResult {
        if self.0.is_null() { Ok(()) } else { self.write(value) }
    }

    /// Writes an array.
    ///
    /// # Safety
    /// - The caller has room for so many elements.
    pub(super) unsafe fn write_all(self, values: &[T]) -> CuResult
    where
        T: Copy,
    {
        if values.is_empty() {
            return Ok(());
        }
        let first = self.pointer()?;
        // SAFETY: there is room by the contract; a caller's memory is none of the driver's.
        unsafe { first.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        Ok(())
    }

    /// Returns the same place for a value of another type.
    ///
    /// # Safety
    /// - The place is null or, but for its alignment, valid for a write of that type.
    pub(super) unsafe fn cast<U>(self) -> Out<'call, U> {
        Out(self.0.cast(), PhantomData)
    }
}

/// An image of a module: a NUL-terminated text, a cubin, a fat binary or the structure that holds one.
pub(super) struct Image<'call>(pub(super) *const c_void, PhantomData<&'call c_void>);

impl Argument for Image<'_> {
    type Raw = *const c_void;

    unsafe fn from_raw(raw: *const c_void) -> Self {
        Image(raw, PhantomData)
    }
}

/// A handle of the driver's from a number of ours.
pub(super) fn handle<T>(number: usize) -> *mut T {
    std::ptr::without_provenance_mut(number)
}

/// Returns the access policy window that the driver was given.
///
/// # Safety
/// - `window` is valid for reads; its two properties may hold any number.
pub(super) unsafe fn access_window(window: *const CUaccessPolicyWindow_st) -> AccessWindow {
    /// `CU_ACCESS_PROPERTY_PERSISTING`.
    const PERSISTING: c_uint = 2;
    // SAFETY: by the contract; a property is read as the integer that it is in C.
    let (start, bytes, ratio, hit) = unsafe {
        (
            (*window).base_ptr.addr() as u64,
            (*window).num_bytes as u64,
            (*window).hitRatio,
            (&raw const (*window).hitProp).cast::<c_uint>().read(),
        )
    };
    let ratio = if hit == PERSISTING { ratio } else { 0.0 };
    AccessWindow { range: (start, start.saturating_add(bytes)), ratio }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::{null, null_mut};

    const INVALID: CuResult = Err(ReturnCode::INVALID_VALUE);

    fn out<'call>(place: *mut u32) -> Out<'call, u32> {
        // SAFETY: the tests below pass null, misaligned addresses and locals.
        unsafe { Out::from_raw(place) }
    }

    #[test]
    fn a_place_that_is_missing_is_an_error_only_where_a_result_is_owed() {
        assert_eq!(out(null_mut()).write(1), INVALID);
        assert_eq!(out(null_mut()).write_optional(1), Ok(()));
        let mut place = 0;
        assert_eq!(out(&raw mut place).write(1), Ok(()));
        assert_eq!(place, 1);
        assert_eq!(handle::<u8>(64).addr(), 64);
    }

    #[test]
    fn a_misaligned_place_takes_a_value_and_no_structure() {
        let mut places = [0u32; 2];
        let between = (&raw mut places).cast::<u8>().wrapping_add(2).cast::<u32>();
        assert_eq!(out(between).write(0x0102_0304), Ok(()));
        assert_eq!(places.map(u32::to_le_bytes).concat(), [0, 0, 4, 3, 2, 1, 0, 0]);
        // SAFETY: a misaligned address is allowed.
        let read = unsafe { InMut::from_raw(between) }.read();
        assert_eq!(read, Ok(0x0102_0304));
        assert_eq!(out(between).pointer().map(|_| ()), INVALID);
    }

    #[test]
    fn a_text_ends_with_nul() {
        // SAFETY: null or a text.
        let read = |text| unsafe { <In<c_char>>::from_raw(text) }.text();
        assert_eq!(read(null()), Err(ReturnCode::INVALID_VALUE));
        assert_eq!(read(c"cuInit".as_ptr()), Ok("cuInit".to_owned()));
    }
}

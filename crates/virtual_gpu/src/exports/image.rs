//! Images of modules: PTX as text, and fat binaries that have it inside.

use super::arguments::Image;
use crate::code::CuResult;
use crate::driver::Driver;
use crate::fat_binary;
use crate::misuse::MisuseKind;
use cuda_driver::ReturnCode;
use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_void};

const NO_BINARY: ReturnCode = ReturnCode(209);
const INVALID_IMAGE: ReturnCode = ReturnCode(200);

/// The structure through which a program holds a fat binary.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    fat: *const c_void,
}

pub(super) fn ptx_of<'a>(driver: &mut Driver, image: &'a Image) -> CuResult<Cow<'a, str>> {
    let image = image.0;
    if image.is_null() {
        return Err(ReturnCode::INVALID_VALUE);
    }
    // SAFETY: an image has at least four bytes, by which it is recognized.
    let magic = unsafe { image.cast::<[u8; 4]>().read_unaligned() };
    if magic == *b"\x7fELF" {
        return Err(no_ptx(driver, "the image is machine code"));
    }
    if magic == fat_binary::WRAPPER_MAGIC.to_le_bytes() {
        // SAFETY: by its magic number it is the structure, whose address is that of a fat binary.
        let fat = unsafe { image.cast::<Wrapper>().read_unaligned().fat };
        // SAFETY: what the structure holds is null or a fat binary.
        return unsafe { ptx_of_fat(driver, fat) }.map(Cow::Owned);
    }
    if magic == fat_binary::MAGIC.to_le_bytes() {
        // SAFETY: by its magic number it is a fat binary.
        return unsafe { ptx_of_fat(driver, image) }.map(Cow::Owned);
    }
    // SAFETY: neither a cubin nor a fat binary, so PTX, which ends with NUL.
    let text = unsafe { CStr::from_ptr(image.cast::<c_char>()) };
    text.to_str().map(Cow::Borrowed).map_err(|_| INVALID_IMAGE)
}

/// The PTX of what a file holds.
pub(super) fn ptx_of_file(driver: &mut Driver, mut bytes: Vec<u8>) -> CuResult<String> {
    if bytes.starts_with(b"\x7fELF") {
        return Err(no_ptx(driver, "the file is machine code"));
    }
    if fat_binary::is_one(&bytes) {
        return of_fat(driver, &bytes);
    }
    bytes.retain(|byte| *byte != 0);
    String::from_utf8(bytes).map_err(|_| INVALID_IMAGE)
}

/// # Safety
/// - `fat` is null or a fat binary, as long as its header says.
unsafe fn ptx_of_fat(driver: &mut Driver, fat: *const c_void) -> CuResult<String> {
    if fat.is_null() {
        return Err(INVALID_IMAGE);
    }
    // SAFETY: a fat binary begins with a header of so many bytes.
    let header = unsafe { fat.cast::<[u8; fat_binary::HEADER]>().read_unaligned() };
    let length = fat_binary::length(header).ok_or(INVALID_IMAGE)?;
    // SAFETY: by the contract it has as many bytes as its header says.
    let bytes = unsafe { std::slice::from_raw_parts(fat.cast::<u8>(), length) };
    of_fat(driver, bytes)
}

fn of_fat(driver: &mut Driver, bytes: &[u8]) -> CuResult<String> {
    let architecture = driver.device().profile.architecture();
    let found = fat_binary::ptx(bytes, architecture);
    found.ok_or_else(|| no_ptx(driver, "the fat binary has no PTX that this device can run"))
}

/// Says that there is nothing to execute, and what would give it.
fn no_ptx(driver: &mut Driver, what: &str) -> ReturnCode {
    let architecture = driver.device().profile.architecture();
    let message = format!(
        "{what}: the virtual device executes PTX, so compile with PTX, such as by `nvcc -gencode \
         arch=compute_{architecture},code=compute_{architecture}`"
    );
    driver.report(MisuseKind::KernelFault, message);
    NO_BINARY
}

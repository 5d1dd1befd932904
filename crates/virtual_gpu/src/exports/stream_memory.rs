//! Streams that write a word of memory, or wait for its value.

use super::arguments::InMut;
use super::define::exports;
use super::transfer::fill;
use crate::code::CuResult;
use crate::driver::Driver;
use crate::work::Fill;
use cuda_driver::ReturnCode;
use cuda_driver::raw::{CUdeviceptr, CUstream};
use cuda_driver::types::MemoryOperation;
use std::ffi::c_uint;

/// A word of memory: its address and its bytes.
type Word = (u64, usize);

fn check(driver: &mut Driver, (address, bytes): Word) -> CuResult {
    driver.context()?;
    if !address.is_multiple_of(bytes as u64) {
        return Err(ReturnCode::INVALID_VALUE);
    }
    driver.check_range(address, bytes)
}

fn write(driver: &mut Driver, stream: CUstream, word: Word, value: u64, flags: c_uint) -> CuResult {
    check(driver, word)?;
    if flags > 1 {
        return Err(ReturnCode::INVALID_VALUE);
    }
    let (first, bytes) = word;
    for (address, value) in (first..first + bytes as u64).step_by(4).zip([value, value >> 32]) {
        let half = Fill { address, pitch: 4, value: value as u32, size: 4, width: 1, height: 1 };
        fill(driver, Some(stream.addr()), half)?;
    }
    Ok(())
}

/// Returns whether a word has the value that is waited for.
fn has(driver: &Driver, (address, bytes): Word, value: u64, flags: c_uint) -> CuResult<bool> {
    let mut found = [0; 8];
    let read = driver.memory.device.read(address, &mut found[..bytes]);
    read.map_err(|_| ReturnCode::INVALID_VALUE)?;
    let found = u64::from_le_bytes(found);
    let mask = u64::MAX >> (64 - 8 * bytes);
    // The distance as a signed number: its highest bit is 0.
    let reaches = found.wrapping_sub(value) & (1 << (8 * bytes - 1)) == 0;
    Ok(match flags & 3 {
        0 => reaches,
        1 => found == value & mask,
        2 => found & value & mask != 0,
        _ => !(found | value) & mask != 0,
    })
}

/// A stream waits until a word has a value: what was enqueued before on any stream is executed for it, and comes before
/// what the stream does next.
fn wait(driver: &mut Driver, stream: CUstream, word: Word, value: u64, flags: c_uint) -> CuResult {
    /// `CU_STREAM_WAIT_VALUE_FLUSH`: there are no writes from outside of the device.
    const FLUSH: c_uint = 1 << 30;
    check(driver, word)?;
    if flags & !FLUSH > 3 {
        return Err(ReturnCode::INVALID_VALUE);
    }
    if driver.objects.stream(stream.addr())?.capture.is_some() {
        return Err(driver.unsupported("waits for a value while a stream is captured"));
    }
    if has(driver, word, value, flags)? {
        return Ok(());
    }
    driver.run_pending();
    if !has(driver, word, value, flags)? {
        return Err(driver.unsupported(
            "a stream that waits for a value which nothing enqueued before it writes",
        ));
    }
    let tails: Vec<usize> = driver.objects.tails().collect();
    tails.into_iter().try_for_each(|tail| driver.follow(stream.addr(), tail))
}

/// Operations of one call.
///
/// # Safety
/// - There are as many as the caller says.
unsafe fn batch(
    driver: &mut Driver,
    stream: CUstream,
    operations: InMut<MemoryOperation>,
    count: c_uint,
) -> CuResult {
    // SAFETY: by the contract.
    for one in unsafe { operations.read_all(count as usize) }? {
        let MemoryOperation { kind, address, value, flags, .. } = one;
        let low = u64::from(value as u32);
        match kind {
            1 => wait(driver, stream, (address, 4), low, flags)?,
            2 => write(driver, stream, (address, 4), low, flags)?,
            4 => wait(driver, stream, (address, 8), value, flags)?,
            5 => write(driver, stream, (address, 8), value, flags)?,
            // A flush of writes from outside, and a barrier: the order of the stream is both.
            3 | 6 => {}
            8 => return Err(driver.unsupported("atomic reductions as operations of a stream")),
            _ => return Err(ReturnCode::INVALID_VALUE),
        }
    }
    Ok(())
}

exports! {
    fn cuStreamWriteValue32(driver, stream: CUstream, address: CUdeviceptr, value: c_uint, flags: c_uint) {
        write(driver, stream, (address, 4), value.into(), flags)
    }
    fn cuStreamWriteValue32_v2(driver, stream: CUstream, address: CUdeviceptr, value: c_uint, flags: c_uint) {
        write(driver, stream, (address, 4), value.into(), flags)
    }
    fn cuStreamWriteValue64(driver, stream: CUstream, address: CUdeviceptr, value: u64, flags: c_uint) {
        write(driver, stream, (address, 8), value, flags)
    }
    fn cuStreamWriteValue64_v2(driver, stream: CUstream, address: CUdeviceptr, value: u64, flags: c_uint) {
        write(driver, stream, (address, 8), value, flags)
    }
    fn cuStreamWaitValue32(driver, stream: CUstream, address: CUdeviceptr, value: c_uint, flags: c_uint) {
        wait(driver, stream, (address, 4), value.into(), flags)
    }
    fn cuStreamWaitValue32_v2(driver, stream: CUstream, address: CUdeviceptr, value: c_uint, flags: c_uint) {
        wait(driver, stream, (address, 4), value.into(), flags)
    }
    fn cuStreamWaitValue64(driver, stream: CUstream, address: CUdeviceptr, value: u64, flags: c_uint) {
        wait(driver, stream, (address, 8), value, flags)
    }
    fn cuStreamWaitValue64_v2(driver, stream: CUstream, address: CUdeviceptr, value: u64, flags: c_uint) {
        wait(driver, stream, (address, 8), value, flags)
    }
    fn cuStreamBatchMemOp(
        driver, stream: CUstream, count: c_uint, operations: InMut<MemoryOperation>, _flags: c_uint
    ) {
        // SAFETY: by the function's contract.
        unsafe { batch(driver, stream, operations, count) }
    }
    fn cuStreamBatchMemOp_v2(
        driver, stream: CUstream, count: c_uint, operations: InMut<MemoryOperation>, _flags: c_uint
    ) {
        // SAFETY: by the function's contract.
        unsafe { batch(driver, stream, operations, count) }
    }
}

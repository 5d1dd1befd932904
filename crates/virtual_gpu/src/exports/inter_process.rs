//! Memory and events that several processes share.
//!
//! Memory that is shared moves into a file without a name, which the process that made it keeps open and another opens by
//! the number that it has there. A recorded event that is shared is reached at once, as the work before it is executed in
//! the call that records it: another process finds it so.

use super::arguments::{Out, handle};
use super::define::exports;
use super::mapped_memory::{needs_linux, set_open};
use crate::code::CuResult;
use crate::driver::Driver;
use crate::objects::EventState;
use crate::shared::Shared;
use crate::virtual_memory::FileName;
use cuda_driver::ReturnCode;
use cuda_driver::raw::{CUdeviceptr, CUevent, CUipcEventHandle, CUipcMemHandle};
use std::ffi::{c_char, c_uint};

const INVALID: ReturnCode = ReturnCode::INVALID_VALUE;
const INVALID_HANDLE: ReturnCode = ReturnCode(400);
/// The codes of an H100's driver for a handle of memory that is gone, and for an event's that is none.
const NOT_PERMITTED: ReturnCode = ReturnCode(800);
const MAP_FAILED: ReturnCode = ReturnCode(205);
/// The code for a process that opens a handle of its own.
const INVALID_CONTEXT: ReturnCode = ReturnCode(201);
/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`, the one flag.
const LAZY: c_uint = 1;
/// `CU_EVENT_DISABLE_TIMING` and `CU_EVENT_INTERPROCESS`.
const DISABLE_TIMING: c_uint = 2;
pub(super) const INTERPROCESS: c_uint = 4;
/// The first bytes of a handle of memory, and of an event.
const OF_MEMORY: [u8; 8] = *b"coalmem1";
const OF_EVENT: [u8; 8] = *b"coalevt1";
const SHARED: &str = "memory that several processes share";

/// Shares the allocation that an address lies in.
fn share(driver: &mut Driver, address: u64) -> CuResult<Shared> {
    driver.context()?;
    needs_linux(driver, SHARED)?;
    let found = driver.memory.device.allocation(address);
    let own = found.filter(|one| !one.is_mapped && one.label.is_empty());
    let is_pooled = |address: &u64| {
        driver.objects.pool_of.contains_key(address)
            || driver.memory.graphs.find(*address).is_some()
    };
    let Some(own) = own.filter(|one| !is_pooled(&one.address)) else {
        let why =
            format!("{address:#x} is not in memory of cuMemAlloc, which alone can be shared so");
        return Err(driver.refuse(INVALID, why));
    };
    let device = driver.memory.device.device_of(own.address).unwrap_or(0) as u32;
    let Some(file) = driver.memory.share(own.address, own.bytes) else {
        return Err(driver.refuse(ReturnCode::OUT_OF_MEMORY, "the system gives no memory to share"));
    };
    let (kind, process, bytes) = (OF_MEMORY, std::process::id(), own.bytes);
    Ok(Shared { kind, process, device, file, bytes })
}

/// Opens memory of another process, or again what is open already.
fn open(driver: &mut Driver, handle: &[c_char; 64], flags: c_uint) -> CuResult<u64> {
    driver.context()?;
    needs_linux(driver, SHARED)?;
    let shared = Shared::read(handle, OF_MEMORY);
    let Some(shared) = shared.filter(|it| (it.device as usize) < driver.devices.len()) else {
        return Err(driver.refuse(INVALID, "it is no handle that cuIpcGetMemHandle gave"));
    };
    if flags != LAZY {
        let why = "the flags are CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, which is 1";
        return Err(driver.refuse(INVALID, why));
    }
    if shared.process == std::process::id() {
        let why = "a process opens memory of others, and this is its own: use its pointer";
        return Err(driver.refuse(INVALID_CONTEXT, why));
    }
    let mut opened = driver.memory.opened.iter_mut();
    if let Some((address, (_, count))) = opened.find(|(_, (known, _))| *known == shared) {
        *count += 1;
        return Ok(*address);
    }
    let device = shared.device as usize;
    let memory = &mut driver.memory.virtual_memory;
    let place = memory.open(shared.process, shared.file, (shared.bytes, device));
    let Some(address) = place else {
        let process = shared.process;
        if !std::path::Path::new(&format!("/proc/{process}")).exists() {
            return Err(driver.refuse(INVALID_HANDLE, format!("process {process} has ended")));
        }
        let why = format!("process {process} has freed the memory, or belongs to another user");
        return Err(driver.refuse(NOT_PERMITTED, why));
    };
    set_open(driver, &(address..address + shared.bytes), true)?;
    driver.memory.opened.insert(address, (shared, 1));
    Ok(address)
}

/// Closes memory of another process, as often as it was opened.
fn close(driver: &mut Driver, address: u64) -> CuResult {
    driver.context()?;
    let Some((shared, count)) = driver.memory.opened.get_mut(&address) else {
        let why = format!("{address:#x} is not what cuIpcOpenMemHandle gave, or is closed already");
        return Err(driver.refuse(INVALID, why));
    };
    *count -= 1;
    let (bytes, count) = (shared.bytes, *count);
    if count == 0 {
        driver.memory.opened.remove(&address);
        let range = address..address + bytes;
        set_open(driver, &range, false)?;
        driver.memory.virtual_memory.unmap(&range).ok_or(INVALID)?;
        driver.memory.virtual_memory.free(address, bytes).ok_or(INVALID)?;
    }
    Ok(())
}

exports! {
    fn cuIpcGetMemHandle(driver, target: Out<CUipcMemHandle>, address: CUdeviceptr) {
        target.pointer()?;
        let reserved = share(driver, address)?.written();
        target.write(CUipcMemHandle { reserved })
    }
    fn cuIpcOpenMemHandle_v2(driver, target: Out<CUdeviceptr>, handle: CUipcMemHandle, flags: c_uint) {
        target.pointer()?;
        let address = open(driver, &handle.reserved, flags)?;
        target.write(address)
    }
    fn cuIpcCloseMemHandle(driver, address: CUdeviceptr) {
        close(driver, address)
    }
    fn cuIpcGetEventHandle(driver, target: Out<CUipcEventHandle>, event: CUevent) {
        driver.context()?;
        target.pointer()?;
        let known = driver.objects.events.get(event.addr())?;
        if known.flags & INTERPROCESS == 0 {
            let why = "the event was made without CU_EVENT_INTERPROCESS";
            return Err(driver.refuse(INVALID_HANDLE, why));
        }
        let (device, process) = (known.device as u32, std::process::id());
        let file = FileName { number: event.addr() as u64, identity: 0 };
        let shared = Shared { kind: OF_EVENT, process, device, file, bytes: 0 };
        target.write(CUipcEventHandle { reserved: shared.written() })
    }
    fn cuIpcOpenEventHandle(driver, event: Out<CUevent>, given: CUipcEventHandle) {
        driver.context()?;
        event.pointer()?;
        let shared = Shared::read(&given.reserved, OF_EVENT);
        let Some(shared) = shared.filter(|it| (it.device as usize) < driver.devices.len()) else {
            return Err(driver.refuse(MAP_FAILED, "it is no handle that cuIpcGetEventHandle gave"));
        };
        if shared.process == std::process::id() {
            let why = "a process opens events of others, and this is its own: use the event";
            return Err(driver.refuse(INVALID_CONTEXT, why));
        }
        let (device, flags) = (shared.device as usize, DISABLE_TIMING | INTERPROCESS);
        let made = driver.objects.events.add(EventState { device, flags, ..EventState::default() });
        event.write(handle(made))
    }
}

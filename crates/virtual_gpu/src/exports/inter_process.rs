//! Memory and events that several processes share.
//!
//! Memory that is shared moves into a file without a name, which the process that made it keeps open and another opens by
//! the number that it has there. A recorded event that is shared is reached at once, as the work before it is executed in
//! the call that records it: another process finds it so.

use super::arguments::{InMut, Out, handle};
use super::define::exports;
use super::mapped_memory::{export, import, needs_linux, set_open};
use crate::code::CuResult;
use crate::driver::Driver;
use crate::objects::{EventState, PoolState};
use crate::shared::Shared;
use crate::virtual_memory::{FileName, Physical};
use cuda_driver::ReturnCode;
use cuda_driver::raw::{
    CUdeviceptr, CUevent, CUipcEventHandle, CUipcMemHandle, CUmemPoolPtrExportData, CUmemoryPool,
};
use std::ffi::{c_char, c_uint, c_void};
use std::ops::Range;
use std::sync::Arc;

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
const OF_POOLED: [u8; 8] = *b"coalptr1";
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
    let (address, bytes) = (own.address, own.bytes);
    handed_on(driver, OF_MEMORY, address..address + bytes)
}

/// Makes the handle of a whole allocation, of no pool.
fn handed_on(driver: &mut Driver, kind: [u8; 8], of: Range<u64>) -> CuResult<Shared> {
    let (process, bytes) = (std::process::id(), of.end - of.start);
    let device = driver.memory.device.device_of(of.start).unwrap_or(0) as u32;
    let Some(file) = driver.memory.share(of.start, bytes) else {
        return Err(driver.refuse(ReturnCode::OUT_OF_MEMORY, "the system gives no memory to share"));
    };
    Ok(Shared { kind, process, device, file, bytes, pool: 0 })
}

/// Shares an allocation of a pool that other processes may be given.
fn share_pooled(driver: &mut Driver, address: u64) -> CuResult<Shared> {
    driver.context()?;
    needs_linux(driver, SHARED)?;
    let found = driver.memory.device.allocation(address).filter(|it| it.address == address);
    let range = found.map(|it| address..address + it.bytes);
    let pool = driver.objects.pool_of.get(&address).copied();
    let token = pool.map(|pool| token_of(driver, pool)).transpose()?.flatten();
    let (Some(range), Some(token)) = (range, token) else {
        let why = format!("{address:#x} is no memory of a pool that was made to be shared");
        return Err(driver.refuse(INVALID, why));
    };
    Ok(Shared { pool: token.identity(), ..handed_on(driver, OF_POOLED, range)? })
}

/// Returns what names a pool among processes; nothing for one that was not made to be shared.
fn token_of(driver: &mut Driver, pool: usize) -> CuResult<Option<Arc<Physical>>> {
    let state = driver.objects.pools.get_mut(pool)?;
    if state.token.is_none() && state.handle_types != 0 {
        state.token = Physical::token(state.device).map(Arc::new);
    }
    Ok(state.token.clone())
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
    open_shared(driver, shared)
}

/// Opens an allocation of another process, of a pool or of none.
fn open_shared(driver: &mut Driver, shared: Shared) -> CuResult<u64> {
    if shared.process == std::process::id() {
        let why = "a process opens memory of others, and this is its own: use its pointer";
        let is_pooled = shared.kind == OF_POOLED;
        return Err(driver.refuse(if is_pooled { INVALID } else { INVALID_CONTEXT }, why));
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

/// Gives memory of another process's pool back, if it is that.
pub(super) fn close_pooled(driver: &mut Driver, address: u64) -> CuResult<bool> {
    let opened = driver.memory.opened.get(&address);
    let is_pooled = opened.is_some_and(|(shared, _)| shared.kind == OF_POOLED);
    if is_pooled {
        close(driver, address)?;
    }
    Ok(is_pooled)
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
        target.given()?;
        let reserved = share(driver, address)?.written();
        target.write(CUipcMemHandle { reserved })
    }
    fn cuIpcOpenMemHandle_v2(driver, target: Out<CUdeviceptr>, handle: CUipcMemHandle, flags: c_uint) {
        target.given()?;
        let address = open(driver, &handle.reserved, flags)?;
        target.write(address)
    }
    fn cuIpcCloseMemHandle(driver, address: CUdeviceptr) {
        close(driver, address)
    }
    fn cuIpcGetEventHandle(driver, target: Out<CUipcEventHandle>, event: CUevent) {
        driver.context()?;
        target.given()?;
        let known = driver.objects.events.get(event.addr())?;
        if known.flags & INTERPROCESS == 0 {
            let why = "the event was made without CU_EVENT_INTERPROCESS";
            return Err(driver.refuse(INVALID_HANDLE, why));
        }
        let (device, process) = (known.device as u32, std::process::id());
        let file = FileName { number: event.addr() as u64, identity: 0 };
        let shared = Shared { kind: OF_EVENT, process, device, file, bytes: 0, pool: 0 };
        target.write(CUipcEventHandle { reserved: shared.written() })
    }
    fn cuIpcOpenEventHandle(driver, event: Out<CUevent>, given: CUipcEventHandle) {
        driver.context()?;
        event.given()?;
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
    fn cuMemPoolExportToShareableHandle(
        driver, target: Out<c_void>, pool: CUmemoryPool, kind: c_uint, flags: u64
    ) {
        driver.context()?;
        let handle_types = driver.objects.pools.get(pool.addr())?.handle_types;
        needs_linux(driver, SHARED)?;
        let Some(token) = token_of(driver, pool.addr())? else {
            let why = "the pool was made without a kind of handle by which it is shared";
            return Err(driver.refuse(INVALID, why));
        };
        export(driver, target, &token, (handle_types, kind, flags))
    }
    fn cuMemPoolImportFromShareableHandle(
        driver, pool: Out<CUmemoryPool>, descriptor: *mut c_void, kind: c_uint, flags: u64
    ) {
        driver.context()?;
        pool.given()?;
        if flags != 0 {
            return Err(INVALID);
        }
        let token = import(driver, descriptor, kind, |it| it.bytes == 0)?;
        let (device, token) = (token.device, Some(Arc::new(token)));
        let state = PoolState { device, token, is_imported: true, ..PoolState::default() };
        pool.write(handle(driver.objects.pools.add(state)))
    }
    fn cuMemPoolExportPointer(driver, target: Out<CUmemPoolPtrExportData>, address: CUdeviceptr) {
        target.given()?;
        let written = share_pooled(driver, address)?.written();
        // SAFETY: by the function's contract the place is one for the 64 bytes of the structure.
        unsafe { target.cast::<[c_char; 64]>() }.write(written)
    }
    fn cuMemPoolImportPointer(
        driver, target: Out<CUdeviceptr>, pool: CUmemoryPool, data: InMut<CUmemPoolPtrExportData>
    ) {
        driver.context()?;
        target.given()?;
        // SAFETY: by the function's contract the place has the 64 bytes of the structure.
        let given = unsafe { data.pointer()?.cast::<[c_char; 64]>().read() };
        let own = driver.objects.pools.get(pool.addr())?.token.as_ref().map(|token| token.identity());
        let shared = Shared::read(&given, OF_POOLED).filter(|it| Some(it.pool) == own);
        let Some(shared) = shared.filter(|it| (it.device as usize) < driver.devices.len()) else {
            let why = "it is not what cuMemPoolExportPointer gave of memory of this pool";
            return Err(driver.refuse(INVALID, why));
        };
        let address = open_shared(driver, shared)?;
        target.write(address)
    }
}

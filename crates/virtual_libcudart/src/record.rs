//! The last contents of the program's memory on the device, in a file, so that runs on two devices can be compared.
//!
//! `COALESCE_RECORD` names the file. New memory is then zero, and each allocation is written when it is freed, or when
//! the process ends: its number, its bytes, how many of them follow, and these.

use crate::context;
use crate::error::check;
use cuda_driver::raw::CUdeviceptr;
use cuda_driver::{ReturnCode, api};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Bytes of an allocation that are written at most.
const KEPT: usize = 256 << 10;

struct Record {
    file: File,
    /// Number and bytes of each allocation, by its address.
    alive: BTreeMap<CUdeviceptr, (u64, usize)>,
    count: u64,
    /// The file could not be written, and is empty: a part of a record would be taken for a whole one.
    is_lost: bool,
}

/// Returns the record, if one is wanted.
fn record() -> Option<&'static Mutex<Record>> {
    static RECORD: OnceLock<Option<Mutex<Record>>> = OnceLock::new();
    let create = || {
        let name = std::env::var_os("COALESCE_RECORD").filter(|name| !name.is_empty())?;
        match File::create(&name) {
            Ok(file) => {
                // SAFETY: the function takes nothing, and returns.
                unsafe { libc::atexit(at_exit) };
                Some(Mutex::new(Record { file, alive: BTreeMap::new(), count: 0, is_lost: false }))
            }
            Err(error) => {
                eprintln!(
                    "libcudart: cannot create {}: {error}: let COALESCE_RECORD name a file that can be written, or unset it",
                    name.display()
                );
                std::process::exit(1);
            }
        }
    };
    RECORD.get_or_init(create).as_ref()
}

/// Clears memory that was just given and remembers it.
pub fn given(pointer: CUdeviceptr, bytes: usize) {
    let Some(record) = record() else { return };
    let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the driver gave so many bytes, and nobody else has them yet; it is waited for, as any stream may be next.
    let cleared = unsafe {
        match api::cuMemsetD8_v2(pointer, 0, bytes) {
            ReturnCode::SUCCESS => api::cuCtxSynchronize(),
            other => other,
        }
    };
    if cleared == ReturnCode::SUCCESS {
        let number = record.count;
        record.count += 1;
        record.alive.insert(pointer, (number, bytes));
    }
}

/// Writes what memory holds that is about to be freed.
pub fn freed(pointer: CUdeviceptr) {
    let Some(record) = record() else { return };
    let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((number, bytes)) = record.alive.remove(&pointer) {
        record.write(pointer, number, bytes);
    }
}

/// Writes what all memory holds that is still there.
pub fn all_freed() {
    let Some(record) = record() else { return };
    let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
    for (pointer, (number, bytes)) in std::mem::take(&mut record.alive) {
        record.write(pointer, number, bytes);
    }
}

extern "C" fn at_exit() {
    all_freed();
}

impl Record {
    fn write(&mut self, pointer: CUdeviceptr, number: u64, bytes: usize) {
        let mut content = vec![0u8; bytes.min(KEPT)];
        // SAFETY: the vector takes so many bytes, and the allocation has them.
        let read = context::enter().and_then(|_| unsafe {
            check(api::cuCtxSynchronize())?;
            let target = content.as_mut_ptr().cast();
            check(api::cuMemcpyDtoH_v2(target, pointer, content.len()))
        });
        if read.is_err() {
            content.clear();
        }
        let head = [number, bytes as u64, content.len() as u64].map(u64::to_le_bytes).concat();
        if self.is_lost {
            return;
        }
        if let Err(error) = self.file.write_all(&head).and_then(|()| self.file.write_all(&content))
        {
            self.is_lost = true;
            eprintln!(
                "libcudart: cannot write COALESCE_RECORD's file, so it is left empty: {error}"
            );
            if let Err(error) = self.file.set_len(0) {
                eprintln!("libcudart: what is in COALESCE_RECORD's file is not whole: {error}");
            }
        }
    }
}

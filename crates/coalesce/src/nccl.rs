//! NVIDIA's library for communication between devices, a peer for work on several of them. It is loaded when the program
//! runs, because it is no part of CUDA.
//!
//! ```
//! fn connect(gpus: &[&cuda_host::Gpu]) -> anyhow::Result<coalesce::nccl::Nccl> {
//!     coalesce::nccl::Nccl::connect(gpus)
//! }
//! ```

use crate::peers::OpenLibrary;
use crate::unavailable::Unavailable;
use anyhow::{Context, Result, bail};
use cuda_host::Gpu;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};

/// The variable that names the library's file.
const VARIABLE: &str = "COALESCE_NCCL";
/// The name that the loader is asked for otherwise.
const NAME: &str = "libnccl.so.2";
/// The major version whose functions these are.
const MAJOR: c_int = 2;
/// `ncclUint32` and `ncclSum`.
const UINT32: c_int = 3;
const SUM: c_int = 0;

type Communicator = *mut c_void;
type Code = c_int;
type AllReduce = unsafe extern "C" fn(
    *const c_void,
    *mut c_void,
    usize,
    c_int,
    c_int,
    Communicator,
    *mut c_void,
) -> Code;

/// The library with a communicator for each of several devices of this process.
pub struct Nccl {
    library: OpenLibrary,
    communicators: Vec<Communicator>,
}

impl Nccl {
    /// Loads the library and connects the devices.
    ///
    /// # Errors
    /// [`Unavailable`] where there is no such library or it must not be used here, and the library's own.
    pub fn connect(gpus: &[&Gpu]) -> Result<Nccl> {
        if gpus[0].virtual_device().is_some() {
            bail!(Unavailable("NCCL needs GPUs: the virtual device has no NVLink".to_owned()));
        }
        // Programs that use multicast can put the GPUs of a shared host out of service.
        if std::env::var_os("NCCL_NVLS_ENABLE").is_none_or(|value| value != "0") {
            let why =
                "NCCL may use NVLink multicast here: set NCCL_NVLS_ENABLE=0 to run it without";
            bail!(Unavailable(why.to_owned()));
        }
        let file = std::env::var_os(VARIABLE).unwrap_or_else(|| NAME.into());
        // SAFETY: the file is NVIDIA's library by its name or by what the user says.
        let mut nccl = unsafe { Nccl::load(&file) }?;
        let devices: Vec<c_int> = gpus.iter().map(|gpu| gpu.device().as_raw()).collect();
        nccl.communicators = vec![std::ptr::null_mut(); devices.len()];
        // SAFETY: the function has this signature in version 2; there are as many places as devices.
        let code = unsafe {
            type Connect = unsafe extern "C" fn(*mut Communicator, c_int, *const c_int) -> Code;
            let connect = nccl.library.function::<Connect>("ncclCommInitAll")?;
            connect(nccl.communicators.as_mut_ptr(), devices.len() as c_int, devices.as_ptr())
        };
        gpus[0].make_current()?;
        nccl.check("connecting the devices", code)?;
        Ok(nccl)
    }

    /// The library in this file, if it is of the version whose functions these are.
    ///
    /// # Safety
    /// - Loading the file runs its initialization.
    unsafe fn load(file: &OsStr) -> Result<Nccl> {
        let missing = |error: anyhow::Error| {
            let file = file.display();
            Unavailable(format!(
                "there is no {file}: install NCCL or name it by {VARIABLE} ({error})"
            ))
        };
        // SAFETY: by the contract.
        let library = unsafe { OpenLibrary::open(file) }.map_err(missing)?;
        let nccl = Nccl { library, communicators: Vec::new() };
        nccl.check_version()?;
        Ok(nccl)
    }

    fn check_version(&self) -> Result<()> {
        let mut version: c_int = 0;
        // SAFETY: the function has this signature in every version of the library.
        unsafe {
            type Version = unsafe extern "C" fn(*mut c_int) -> Code;
            let get =
                self.library.function::<Version>("ncclGetVersion").context("this is not NCCL")?;
            get(&mut version);
        }
        // Until 2.8 the number was 1000 for a major version, since then it is 10000.
        let major = if version < 10_000 { version / 1000 } else { version / 10_000 };
        if major != MAJOR {
            let why = format!(
                "this is NCCL {major}, and the program knows version {MAJOR}: install that one"
            );
            bail!(Unavailable(why));
        }
        Ok(())
    }

    fn check(&self, doing: &str, code: Code) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the function has this signature in version 2 and gives a text that stays.
        let reason = unsafe {
            type Reason = unsafe extern "C" fn(Code) -> *const c_char;
            let reason = self.library.function::<Reason>("ncclGetErrorString")?;
            CStr::from_ptr(reason(code)).to_string_lossy().into_owned()
        };
        bail!("NCCL failed in {doing}: {reason}")
    }

    /// Enqueues the sum of all sources into all targets, on the stream of each device.
    ///
    /// # Safety
    /// - Each source and each target is the address of `words` u32 on the device of the same place, which live until
    ///   the streams have finished, and which nobody else uses meanwhile.
    pub unsafe fn all_reduce(
        &self,
        gpus: &[&Gpu],
        arrays: &[(u64, u64)],
        words: usize,
    ) -> Result<()> {
        type Group = unsafe extern "C" fn() -> Code;
        // SAFETY: the functions have these signatures in version 2; the addresses are the caller's, and communicators and
        // streams are alive.
        unsafe {
            let all_reduce = self.library.function::<AllReduce>("ncclAllReduce")?;
            self.check("starting a group", self.library.function::<Group>("ncclGroupStart")?())?;
            for ((gpu, communicator), (source, target)) in
                gpus.iter().zip(&self.communicators).zip(arrays)
            {
                gpu.make_current()?;
                let source = std::ptr::without_provenance(*source as usize);
                let target = std::ptr::without_provenance_mut(*target as usize);
                let stream = gpu.stream().as_inner().cast();
                let code = all_reduce(source, target, words, UINT32, SUM, *communicator, stream);
                self.check("an all-reduce", code)?;
            }
            self.check("ending a group", self.library.function::<Group>("ncclGroupEnd")?())
        }
    }
}

impl Drop for Nccl {
    fn drop(&mut self) {
        type Destroy = unsafe extern "C" fn(Communicator) -> Code;
        for communicator in self.communicators.iter().filter(|one| !one.is_null()) {
            // SAFETY: it was made by this library and nobody uses it any more. An error cannot be reported from here.
            unsafe {
                if let Ok(destroy) = self.library.function::<Destroy>("ncclCommDestroy") {
                    destroy(*communicator);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn another_version_another_library_and_none_are_a_sentence_each() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let load = |name: &str, body: &str| {
            let (source, library) = (folder.path().join("stub.rs"), folder.path().join(name));
            std::fs::write(&source, body).expect("a writable folder");
            let built = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
                .args(["--crate-type", "cdylib", "-C", "panic=abort", "-o"])
                .args([&library, &source])
                .status();
            assert!(built.expect("rustc runs").success());
            // SAFETY: the library was just made and does nothing when it is loaded.
            unsafe { Nccl::load(library.as_os_str()) }.map(drop).map_err(|error| error.to_string())
        };
        let version = |number: u32| {
            format!(
                "#[unsafe(no_mangle)] pub unsafe extern \"C\" fn ncclGetVersion(version: *mut i32) -> i32 {{ \
                 unsafe {{ *version = {number} }}; 0 }}"
            )
        };
        assert_eq!(load("two.so", &version(22_803)), Ok(()));
        assert_eq!(load("old_two.so", &version(2_708)), Ok(()));
        let three = load("three.so", &version(30_100)).expect_err("it is another version");
        assert_eq!(three, "this is NCCL 3, and the program knows version 2: install that one");
        assert_eq!(load("other.so", "").expect_err("it is another library"), "this is not NCCL");
        // SAFETY: there is nothing to load.
        let none = unsafe { Nccl::load(OsStr::new("/nowhere/libnccl.so.2")) };
        let none = none.map(drop).expect_err("there is none").to_string();
        assert!(none.starts_with("there is no /nowhere/libnccl.so.2: install NCCL"), "{none}");
    }
}

//! The table of addresses that every symbol calls through, and the choice of who fills it.

use crate::backend::{Backend, SymbolSource};
use crate::code::ReturnCode;
use crate::error::{DriverError, DriverInfo};
use crate::library;
use crate::symbol::Symbol;
use crate::version::CudaVersion;
use std::ffi::{c_int, c_uint, c_void};
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The driver in use: one address per function of the table, or the reason why there is none.
pub(crate) struct Driver {
    functions: Vec<Option<NonNull<c_void>>>,
    opened: Result<Opened, DriverError>,
}

struct Opened {
    source: &'static dyn SymbolSource,
    is_virtual: bool,
    version: CudaVersion,
}

// SAFETY: the addresses are functions of the driver API, which may be called from any thread, and are never changed
// after the table was filled.
unsafe impl Send for Driver {}
// SAFETY: a shared `Driver` is only read, and its functions may be called from any thread.
unsafe impl Sync for Driver {}

static NATIVE: OnceLock<Driver> = OnceLock::new();
static LOADED: OnceLock<Driver> = OnceLock::new();
static SELECTED: AtomicPtr<Driver> = AtomicPtr::new(std::ptr::null_mut());
static UNAVAILABLE: Mutex<Vec<UnavailableCall>> = Mutex::new(Vec::new());

/// Chooses who answers the driver's calls: before the first of them, or a stand-in after the machine's driver.
///
/// Selecting the machine's driver when it cannot be opened is an error; nothing is selected then, so that a virtual GPU
/// can be chosen instead. Selecting what is already in use succeeds. A stand-in may take over from the machine's driver
/// when the program has closed what it had there: from then on it answers every call, and refuses handles that it did
/// not give. It stays for the rest of the process.
///
/// # Errors
/// When another already answers, or the machine has no driver to select.
pub fn select(backend: Backend) -> Result<(), DriverError> {
    let candidate: &'static Driver = match backend {
        Backend::Native => {
            let native = native();
            if let Err(error) = &native.opened {
                return Err(error.clone());
            }
            native
        }
        Backend::Loaded => {
            let loaded = LOADED.get_or_init(|| Driver::of(library::open_loaded()));
            if let Err(error) = &loaded.opened {
                return Err(error.clone());
            }
            loaded
        }
        Backend::Table(source) => {
            if let Some(current) = selected().filter(|current| !current.is_native()) {
                return already(current, source.name());
            }
            Box::leak(Box::new(Driver::fill(source)))
        }
    };
    let before = selected().filter(|current| current.is_native() && !candidate.is_native());
    let before =
        before.map_or(std::ptr::null_mut(), |native| std::ptr::from_ref(native).cast_mut());
    let new = std::ptr::from_ref(candidate).cast_mut();
    match SELECTED.compare_exchange(before, new, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Ok(()),
        Err(_) => match selected() {
            Some(current) if std::ptr::eq(current, candidate) => Ok(()),
            Some(current) => already(current, candidate.name()),
            None => unreachable!("what was selected stays or is replaced"),
        },
    }
}

/// Returns who answers, if that has been decided.
fn selected() -> Option<&'static Driver> {
    // SAFETY: the pointer is null or that of a `Driver` that was leaked or is a static, and never changes once written.
    unsafe { SELECTED.load(Ordering::Acquire).as_ref() }
}

fn already(current: &Driver, requested: String) -> Result<(), DriverError> {
    if current.name() == requested {
        return Ok(());
    }
    Err(DriverError::AlreadySelected { current: current.name(), requested })
}

/// Returns what answers the driver's calls, or why nothing can: in one sentence, fit to be shown to a user.
///
/// Before anything is selected this looks at the machine's driver without selecting it. It starts the driver (`cuInit`)
/// and counts its devices; it makes no context.
///
/// # Errors
/// Why no driver can be used.
pub fn status() -> Result<DriverInfo, DriverError> {
    selected().unwrap_or_else(native).status()
}

/// As [`status`], of the machine's own driver whatever is selected. Nothing is selected by it.
///
/// # Errors
/// As for [`status`].
pub fn probe() -> Result<DriverInfo, DriverError> {
    native().status()
}

/// A call that the selected backend could not answer because it has no such function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnavailableCall {
    /// The function's name in the binary.
    pub symbol: String,
    /// The backend that was asked.
    pub backend: String,
    /// The answer to the caller.
    pub code: ReturnCode,
    needs: Option<CudaVersion>,
    has: CudaVersion,
}

impl fmt::Display for UnavailableCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnavailableCall { symbol, backend, needs, has, .. } = self;
        match needs {
            Some(needs) if has < needs => write!(
                formatter,
                "{symbol} needs a driver for CUDA {needs} and {backend} supports CUDA {has}: update NVIDIA's driver"
            ),
            _ => write!(formatter, "{backend} has no function {symbol}"),
        }
    }
}

/// The calls so far that nobody could answer, each function once, in the order in which they were first called.
pub fn unavailable_calls() -> Vec<UnavailableCall> {
    UNAVAILABLE.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The driver that answers; the machine's own unless another was selected.
pub(crate) fn driver() -> &'static Driver {
    selected().unwrap_or_else(|| {
        let native = std::ptr::from_ref(native()).cast_mut();
        let null = std::ptr::null_mut();
        let _ = SELECTED.compare_exchange(null, native, Ordering::AcqRel, Ordering::Acquire);
        selected().expect("just written, by this thread or another")
    })
}

fn native() -> &'static Driver {
    NATIVE.get_or_init(|| Driver::of(library::open()))
}

impl Driver {
    fn of(library: Result<library::NativeLibrary, DriverError>) -> Driver {
        match library {
            // Leaked because a driver must stay open until the process ends: threads of its own run in it.
            Ok(library) => Driver::fill(Box::leak(Box::new(library))),
            Err(error) => Driver { functions: vec![None; Symbol::COUNT], opened: Err(error) },
        }
    }

    /// Returns whether it is the machine's own.
    fn is_native(&self) -> bool {
        NATIVE.get().is_some_and(|native| std::ptr::eq(native, self))
    }

    fn fill(source: &'static dyn SymbolSource) -> Driver {
        let functions = Symbol::ALL.iter().map(|symbol| source.symbol(symbol.c_name())).collect();
        let opened =
            Opened { source, is_virtual: source.is_virtual(), version: library::version(source) };
        Driver { functions, opened: Ok(opened) }
    }

    pub(crate) fn function(&self, symbol: Symbol) -> Option<NonNull<c_void>> {
        self.functions[symbol as usize]
    }

    /// Records that `symbol` was called and nobody has it, and says what the caller is told.
    #[cold]
    pub(crate) fn unavailable(&self, symbol: Symbol) -> ReturnCode {
        let (code, has) = match &self.opened {
            Ok(opened) => (ReturnCode::NOT_SUPPORTED, opened.version),
            Err(DriverError::DriverTooOld { found, .. }) => (ReturnCode::NOT_SUPPORTED, *found),
            Err(_) => (ReturnCode::NO_DEVICE, CudaVersion::new(0, 0)),
        };
        let name = symbol.c_name().to_string_lossy();
        let mut calls = UNAVAILABLE.lock().unwrap_or_else(PoisonError::into_inner);
        if !calls.iter().any(|call| call.symbol == name) {
            let backend = self.name();
            calls.push(UnavailableCall {
                symbol: name.into_owned(),
                backend,
                code,
                needs: symbol.since(),
                has,
            });
            drop(calls);
            if let Ok(opened) = &self.opened {
                opened.source.missed(symbol.c_name());
            }
        }
        code
    }

    fn name(&self) -> String {
        match &self.opened {
            Ok(opened) => opened.source.name(),
            Err(_) => "the machine's driver".to_owned(),
        }
    }

    fn status(&self) -> Result<DriverInfo, DriverError> {
        let opened = self.opened.as_ref().map_err(DriverError::clone)?;
        let backend = opened.source.name();
        let (Some(init), Some(count)) =
            (self.function(Symbol::cuInit), self.function(Symbol::cuDeviceGetCount))
        else {
            return Err(DriverError::SymbolMissing {
                library: backend.into(),
                symbol: "cuInit".to_owned(),
            });
        };
        let mut device_count: c_int = 0;
        // SAFETY: the addresses were given for these names, whose signatures in the driver API are these; cuInit takes
        // 0 and may be called repeatedly, cuDeviceGetCount writes one int.
        let code = unsafe {
            let init: unsafe extern "C" fn(c_uint) -> ReturnCode =
                std::mem::transmute(init.as_ptr());
            let count: unsafe extern "C" fn(*mut c_int) -> ReturnCode =
                std::mem::transmute(count.as_ptr());
            match init(0) {
                ReturnCode::SUCCESS => count(&mut device_count),
                failure => failure,
            }
        };
        match (code, usize::try_from(device_count)) {
            (ReturnCode::SUCCESS, Ok(device_count @ 1..)) => Ok(DriverInfo {
                backend,
                is_virtual: opened.is_virtual,
                version: opened.version,
                device_count,
            }),
            (ReturnCode::SUCCESS | ReturnCode::NO_DEVICE, _) => {
                Err(DriverError::NoDevice { backend })
            }
            (code, _) => Err(DriverError::Initialization { backend, code }),
        }
    }
}

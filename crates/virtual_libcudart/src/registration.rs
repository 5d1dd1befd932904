//! Registrations of the compiler's output when a program starts: fat binaries, and the kernels and variables in them.
//!
//! The functions are those that nvcc's output calls (`crt/host_runtime.h`). Nothing is loaded before it is used, and then
//! for the device that is in use: a fat binary becomes a library of the driver, a kernel one of its functions.

use crate::context;
use crate::define::{Result, answer, exports, out, put};
use crate::error::{Error, check};
use cuda_driver::api;
use cuda_driver::raw::{CUdevice, CUdeviceptr, CUfunction};
use cuda_driver::types::{CUkernel, CUlibrary};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The number with which the structure begins that holds a fat binary.
const WRAPPER_MAGIC: c_int = 0x4662_43b1;
/// The version of the structure that lists binaries to link.
const TO_LINK: c_int = 2;
/// `CU_JIT_INPUT_FATBINARY`.
const INPUT_FATBINARY: c_uint = 2;

/// The structure by which a program holds a fat binary (`__fatBinC_Wrapper_t`).
#[repr(C)]
struct Wrapper {
    magic: c_int,
    version: c_int,
    data: *const c_void,
    to_link: *const *const c_void,
}

#[derive(Default)]
struct Registry {
    binaries: HashMap<usize, Binary>,
    functions: HashMap<usize, Function>,
    variables: HashMap<usize, Variable>,
}

struct Binary {
    wrapper: usize,
    loaded: HashMap<CUdevice, Loaded>,
    /// The places of the host's pointers to managed variables, and their names.
    managed: Vec<(usize, CString)>,
}

/// A fat binary on a device.
struct Loaded {
    generation: u32,
    library: Result<usize>,
}

struct Function {
    binary: usize,
    name: CString,
    loaded: HashMap<CUdevice, (u32, usize)>,
}

struct Variable {
    binary: usize,
    name: CString,
    bytes: usize,
}

fn registry() -> MutexGuard<'static, Option<Registry>> {
    static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);
    let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    registry.get_or_insert_default();
    registry
}

impl Binary {
    /// Returns the library of a device, which is loaded when it is first asked for.
    fn library(&mut self, device: CUdevice) -> Result<CUlibrary> {
        let generation = context::generation();
        let wrapper = self.wrapper as *const Wrapper;
        let known = self.loaded.get(&device).filter(|it| it.generation == generation);
        if let Some(known) = known {
            return known.library.map(|library| library as CUlibrary);
        }
        // SAFETY: the compiler's structure lives as long as the program's file is loaded, as its registration does.
        let library = unsafe { load(wrapper) };
        let kept = Loaded { generation, library: library.map(|library| library.addr()) };
        self.loaded.insert(device, kept);
        let library = library?;
        for (place, name) in &self.managed {
            let (mut address, mut bytes) = (0, 0);
            // SAFETY: the library was just loaded, and the place is the compiler's variable, which lives as the program does.
            unsafe {
                check(api::cuLibraryGetManaged(
                    &raw mut address,
                    &raw mut bytes,
                    library,
                    name.as_ptr(),
                ))?;
                (*place as *mut CUdeviceptr).write(address);
            }
        }
        Ok(library)
    }
}

/// Loads a fat binary for the current context.
///
/// # Safety
/// - The pointer is that of the structure that a compiler registered.
unsafe fn load(wrapper: *const Wrapper) -> Result<CUlibrary> {
    let mut library: CUlibrary = null_mut();
    // SAFETY: the caller's contract; the linker's image lives until the linker is destroyed, after it was loaded.
    unsafe {
        let wrapper = &*wrapper;
        if wrapper.version != TO_LINK {
            check(load_data(&mut library, wrapper.data))?;
            return Ok(library);
        }
        // What nvcc has linked is machine code, which is of use to a GPU alone.
        let is_linked = !has_nothing(wrapper.data) && !crate::driver::is_virtual();
        if is_linked && check(load_data(&mut library, wrapper.data)).is_ok() {
            return Ok(library);
        }
        let (mut linker, mut image, mut bytes) = (null_mut(), null_mut(), 0);
        check(api::cuLinkCreate_v2(0, null_mut(), null_mut(), &raw mut linker))?;
        let mut at = wrapper.to_link;
        let mut linked = Ok(());
        while linked.is_ok() && !(*at).is_null() {
            if has_nothing(*at) {
                at = at.add(1);
                continue;
            }
            linked = check(api::cuLinkAddData_v2(
                linker,
                INPUT_FATBINARY,
                (*at).cast_mut(),
                fat_bytes(*at),
                c"fat binary".as_ptr(),
                0,
                null_mut(),
                null_mut(),
            ));
            at = at.add(1);
        }
        let linked = linked
            .and_then(|()| check(api::cuLinkComplete(linker, &raw mut image, &raw mut bytes)))
            .and_then(|()| check(load_data(&mut library, image)));
        check(api::cuLinkDestroy(linker))?;
        linked.map(|()| library)
    }
}

unsafe fn load_data(library: &mut CUlibrary, data: *const c_void) -> cuda_driver::ReturnCode {
    // SAFETY: the caller hands over an image, and there are no options.
    unsafe {
        api::cuLibraryLoadData(library, data, null_mut(), null_mut(), 0, null_mut(), null_mut(), 0)
    }
}

/// Returns the bytes of a fat binary, as its header says: that of its own, and all entries.
unsafe fn fat_bytes(fat: *const c_void) -> usize {
    let fat = fat.cast::<u8>();
    // SAFETY: a fat binary has 16 bytes of header.
    unsafe {
        let header = fat.add(6).cast::<u16>().read_unaligned();
        usize::from(header) + fat.add(8).cast::<u64>().read_unaligned() as usize
    }
}

/// Returns whether a fat binary has no entries: what nvcc writes where it linked nothing.
unsafe fn has_nothing(fat: *const c_void) -> bool {
    // SAFETY: a fat binary has 16 bytes of header.
    unsafe { fat.cast::<u8>().add(8).cast::<u64>().read_unaligned() == 0 }
}

/// Returns the function of the thread's device for a pointer that a program names a kernel by: that of the host's function
/// of the same name, or a handle of the driver's.
///
/// # Errors
/// There is no such kernel, or its code cannot be loaded for the device.
pub fn function(pointer: *const c_void) -> Result<CUfunction> {
    let device = context::enter()?;
    let generation = context::generation();
    let mut registry = registry();
    let Registry { binaries, functions, .. } = registry.get_or_insert_default();
    let Some(function) = functions.get_mut(&pointer.addr()) else {
        drop(registry);
        return handle(pointer);
    };
    if let Some((made, known)) = function.loaded.get(&device)
        && *made == generation
    {
        return Ok(*known as CUfunction);
    }
    let binary = binaries.get_mut(&function.binary).ok_or(Error::INVALID_FUNCTION)?;
    let kernel = kernel_of(binary.library(device)?, &function.name)?;
    let found = function_of(kernel)?;
    function.loaded.insert(device, (generation, found.addr()));
    Ok(found)
}

/// Returns the function of what may be a handle of the driver's: a kernel of a library, or a function.
fn handle(pointer: *const c_void) -> Result<CUfunction> {
    if pointer.is_null() {
        return Err(Error::INVALID_FUNCTION);
    }
    // A program's own function that is no kernel would be taken for a handle. SAFETY: the call looks an address up.
    if unsafe { is_of_a_file(pointer) } {
        return Err(Error::INVALID_FUNCTION);
    }
    function_of(pointer.cast_mut().cast()).or_else(|_| {
        let (function, mut value) = (pointer.cast_mut().cast(), 0);
        // `CU_FUNC_ATTRIBUTE_NUM_REGS`: any would do, to see whether it is a function.
        // SAFETY: the driver checks a handle, and the pointer is valid for the one number that is written.
        let found = check(unsafe { api::cuFuncGetAttribute(&raw mut value, 4, function) });
        found.map(|()| function).map_err(|_| Error::INVALID_FUNCTION)
    })
}

/// Returns whether an address lies in a file that the loader has loaded.
unsafe fn is_of_a_file(pointer: *const c_void) -> bool {
    // SAFETY: the structure may be all zeros, and is written by the call, which takes any address.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        libc::dladdr(pointer, &raw mut info) != 0
    }
}

/// Returns the pointer that a program names a function of the driver's by: that of the host's function where one is known.
pub fn name_of(function: CUfunction) -> *mut c_void {
    let mut registry = registry();
    let functions = &registry.get_or_insert_default().functions;
    let is_it = |known: &Function| known.loaded.values().any(|(_, it)| *it == function.addr());
    let host = functions.iter().find(|(_, known)| is_it(known)).map(|(host, _)| *host);
    host.map_or(function.cast(), std::ptr::with_exposed_provenance_mut)
}

fn kernel_of(library: CUlibrary, name: &CStr) -> Result<CUkernel> {
    let mut kernel = null_mut();
    // SAFETY: the library is loaded, and the name lives during the call.
    let found = check(unsafe { api::cuLibraryGetKernel(&raw mut kernel, library, name.as_ptr()) });
    found.map_err(|_| Error::INVALID_FUNCTION)?;
    Ok(kernel)
}

fn function_of(kernel: CUkernel) -> Result<CUfunction> {
    let mut function = null_mut();
    // SAFETY: the driver checks a handle, and the pointer is valid for the one that is written.
    check(unsafe { api::cuKernelGetFunction(&raw mut function, kernel) })?;
    Ok(function)
}

/// Returns address and size of a variable on the thread's device.
///
/// # Errors
/// There is no such variable.
pub fn variable(pointer: *const c_void) -> Result<(CUdeviceptr, usize)> {
    let device = context::enter()?;
    let mut registry = registry();
    let Registry { binaries, variables, .. } = registry.get_or_insert_default();
    let variable = variables.get(&pointer.addr()).ok_or(Error::INVALID_SYMBOL)?;
    let binary = binaries.get_mut(&variable.binary).ok_or(Error::INVALID_SYMBOL)?;
    let library = binary.library(device)?;
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: the library is loaded, and the pointers are valid for what is written.
    let found = unsafe {
        api::cuLibraryGetGlobal(&raw mut address, &raw mut bytes, library, variable.name.as_ptr())
    };
    check(found).map_err(|_| Error::INVALID_SYMBOL)?;
    Ok((address, if bytes == 0 { variable.bytes } else { bytes }))
}

/// Unloads what is loaded on a device.
pub fn unload(device: CUdevice) {
    let mut registry = registry();
    let Registry { binaries, functions, .. } = registry.get_or_insert_default();
    for function in functions.values_mut() {
        function.loaded.remove(&device);
    }
    for binary in binaries.values_mut() {
        if let Some(Loaded { library: Ok(library), .. }) = binary.loaded.remove(&device) {
            // SAFETY: nothing keeps a function of the library any more. A library that is gone is refused.
            let _ = unsafe { api::cuLibraryUnload(library as CUlibrary) };
        }
    }
}

/// Registers a fat binary, and returns the handle that the rest is registered with.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFatBinary(wrapper: *mut c_void) -> *mut *mut c_void {
    // SAFETY: the compiler hands over its structure, which begins with the magic number.
    let is_one = !wrapper.is_null() && unsafe { wrapper.cast::<c_int>().read() } == WRAPPER_MAGIC;
    if !is_one {
        eprintln!(
            "libcudart: a fat binary of another format was registered; its kernels are not there"
        );
    }
    let handle = Box::into_raw(Box::new(wrapper));
    if is_one {
        let binary =
            Binary { wrapper: wrapper.addr(), loaded: HashMap::new(), managed: Vec::new() };
        registry().get_or_insert_default().binaries.insert(handle.addr(), binary);
    }
    handle
}

/// Takes note that everything of a fat binary is registered.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFatBinaryEnd(_handle: *mut *mut c_void) {}

/// Forgets a fat binary, when the file that holds it is closed or the program ends.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaUnregisterFatBinary(handle: *mut *mut c_void) {
    let mut registry = registry();
    let Registry { binaries, functions, variables } = registry.get_or_insert_default();
    let binary = handle.addr();
    functions.retain(|_, function| function.binary != binary);
    variables.retain(|_, variable| variable.binary != binary);
    // What is loaded of it goes with the driver, which may be gone by now.
    binaries.remove(&binary);
}

/// Registers a kernel under the address of the host's function of the same name.
///
/// # Safety
/// - `name` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFunction(
    handle: *mut *mut c_void,
    host: *const c_char,
    _device: *mut c_char,
    name: *const c_char,
    _threads: c_int,
    _tid: *mut c_void,
    _bid: *mut c_void,
    _block: *mut c_void,
    _grid: *mut c_void,
    _warp: *mut c_int,
) {
    // SAFETY: the caller's contract.
    let Some(name) = (unsafe { text(name) }) else { return };
    let function = Function { binary: handle.addr(), name, loaded: HashMap::new() };
    registry().get_or_insert_default().functions.insert(host.addr(), function);
}

/// Registers a variable under the address of the host's variable of the same name.
///
/// # Safety
/// - `name` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterVar(
    handle: *mut *mut c_void,
    host: *mut c_char,
    _device: *mut c_char,
    name: *const c_char,
    _external: c_int,
    bytes: usize,
    _constant: c_int,
    _global: c_int,
) {
    // SAFETY: the caller's contract.
    let Some(name) = (unsafe { text(name) }) else { return };
    let variable = Variable { binary: handle.addr(), name, bytes };
    registry().get_or_insert_default().variables.insert(host.addr(), variable);
}

/// Registers a managed variable, whose address the host's pointer is given when its binary is loaded.
///
/// # Safety
/// - `name` is null or ends with a zero.
/// - `host` is the place of a pointer, for as long as the binary is registered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterManagedVar(
    handle: *mut *mut c_void,
    host: *mut *mut c_void,
    _device: *mut c_char,
    name: *const c_char,
    _external: c_int,
    bytes: usize,
    _constant: c_int,
    _global: c_int,
) {
    // SAFETY: the caller's contract.
    let Some(name) = (unsafe { text(name) }) else { return };
    let mut registry = registry();
    let Registry { binaries, variables, .. } = registry.get_or_insert_default();
    if let Some(binary) = binaries.get_mut(&handle.addr()) {
        binary.managed.push((host.addr(), name.clone()));
    }
    variables.insert(host.addr(), Variable { binary: handle.addr(), name, bytes });
}

/// Takes note of a constant that host and device share by value.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterHostVar(
    _handle: *mut *mut c_void,
    _device: *const c_char,
    _host: *mut c_char,
    _bytes: usize,
) {
}

/// Takes note of a table of functions that host and device share.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterUnifiedTable(_handle: *mut *mut c_void, _table: *mut c_void) {}

/// Loads a fat binary whose managed variables the host is about to use, and returns whether that went well.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaInitModule(handle: *mut *mut c_void) -> c_char {
    let code = answer(c"__cudaInitModule", || {
        let device = context::enter()?;
        let mut registry = registry();
        let binary = registry.get_or_insert_default().binaries.get_mut(&handle.addr());
        binary.ok_or(Error::INVALID_VALUE)?.library(device).map(|_| ())
    });
    c_char::from(code == 0)
}

unsafe fn text(text: *const c_char) -> Option<CString> {
    // SAFETY: the caller says that the text ends with a zero.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_owned())
}

exports! {
    fn cudaGetSymbolAddress(address: *mut *mut c_void, symbol: *const c_void) {
        put(address, variable(symbol)?.0 as *mut c_void)?;
        Ok(())
    }
    fn cudaGetSymbolSize(bytes: *mut usize, symbol: *const c_void) {
        put(bytes, variable(symbol)?.1)?;
        Ok(())
    }
    fn cudaGetFuncBySymbol(found: *mut CUfunction, symbol: *const c_void) {
        put(found, function(symbol)?)?;
        Ok(())
    }
    fn cudaGetKernel(kernel: *mut CUkernel, symbol: *const c_void) {
        let kernel = out(kernel)?;
        let device = context::enter()?;
        let mut registry = registry();
        let Registry { binaries, functions, .. } = registry.get_or_insert_default();
        let function = functions.get(&symbol.addr()).ok_or(Error::INVALID_FUNCTION)?;
        let binary = binaries.get_mut(&function.binary).ok_or(Error::INVALID_FUNCTION)?;
        *kernel = kernel_of(binary.library(device)?, &function.name)?;
        Ok(())
    }
    fn __cudaGetKernel(kernel: *mut *const c_void, symbol: *const c_void) {
        // The compiler's output keeps the answer for all devices, so it is the name by which each of them is asked.
        put(kernel, symbol)?;
        Ok(())
    }
}

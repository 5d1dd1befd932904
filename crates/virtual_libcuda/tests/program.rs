//! A program that knows nothing of this workspace: it loads the library by path, asks for functions by name, runs a
//! kernel.

use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::PathBuf;
use std::process::Command;
use std::ptr::null_mut;

/// out[i] = in[i] * factor + i for i < n.
const PTX: &CStr = cr#"
.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 target, .param .u64 source, .param .f32 factor, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .f32 %f<5>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    ld.param.u32 %r5, [n];
    setp.ge.u32 %p, %r4, %r5;
    @%p ret;
    ld.param.u64 %rd1, [target];
    ld.param.u64 %rd2, [source];
    ld.param.f32 %f1, [factor];
    mul.wide.u32 %rd3, %r4, 4;
    add.u64 %rd4, %rd2, %rd3;
    add.u64 %rd5, %rd1, %rd3;
    ld.global.f32 %f2, [%rd4];
    cvt.rn.f32.u32 %f3, %r4;
    fma.rn.f32 %f4, %f2, %f1, %f3;
    st.global.f32 [%rd5], %f4;
    ret;
}
"#;

/// The library that cargo built beside this test.
fn path() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows where it is");
    test.with_file_name("libvirtual_libcuda.so")
}

/// Calls a function of the driver by its name; the types are those of NVIDIA's header.
macro_rules! call {
    ($library:ident, $name:ident($($argument:expr => $type:ty),*)) => {{
        let name = concat!(stringify!($name), "\0").as_bytes();
        // SAFETY: the name's signature in the driver API is the one given, and the arguments are valid for it.
        unsafe {
            let function: libloading::Symbol<'_, unsafe extern "C" fn($($type),*) -> c_uint> =
                $library.get(name).expect(stringify!($name));
            function($($argument),*)
        }
    }};
}

/// As `call`, where only success is right.
macro_rules! done {
    ($library:ident, $name:ident($($argument:expr => $type:ty),*)) => {
        assert_eq!(call!($library, $name($($argument => $type),*)), 0, stringify!($name))
    };
}

fn open() -> Library {
    // SAFETY: the library's initializer starts the virtual GPU, which may run on any thread.
    unsafe { Library::new(path()) }.expect("cargo builds the library with its tests")
}

fn start(library: &Library) {
    let (mut device, mut context) = (-1, null_mut());
    done!(library, cuInit(0 => c_uint));
    done!(library, cuDeviceGet(&mut device => *mut c_int, 0 => c_int));
    done!(library, cuDevicePrimaryCtxRetain(&mut context => *mut *mut c_void, device => c_int));
    done!(library, cuCtxSetCurrent(context => *mut c_void));
}

#[test]
fn a_program_runs_a_kernel() {
    let library = &open();
    start(library);
    let (mut module, mut function) = (null_mut(), null_mut());
    done!(library, cuModuleLoadData(&mut module => *mut *mut c_void, PTX.as_ptr() => *const c_char));
    done!(library, cuModuleGetFunction(&mut function => *mut *mut c_void, module => *mut c_void, c"scale".as_ptr() => *const c_char));
    for n in [1usize, 31, 32, 33, 255, 256, 257, 1001] {
        let input: Vec<f32> = (0..n).map(|i| i as f32 * 0.25 - 7.0).collect();
        let (bytes, guarded) = (4 * n, 4 * (n + 1));
        let (mut source, mut target) = (0u64, 0u64);
        done!(library, cuMemAlloc_v2(&mut source => *mut u64, bytes => usize));
        done!(library, cuMemAlloc_v2(&mut target => *mut u64, guarded => usize));
        done!(library, cuMemsetD8_v2(target => u64, 0xff => u8, guarded => usize));
        done!(library, cuMemcpyHtoD_v2(source => u64, input.as_ptr() => *const f32, bytes => usize));
        let (mut factor, mut count) = (3.0f32, n as u32);
        let mut arguments: [*mut c_void; 4] = [
            (&raw mut target).cast(),
            (&raw mut source).cast(),
            (&raw mut factor).cast(),
            (&raw mut count).cast(),
        ];
        let blocks = count.div_ceil(256);
        done!(library, cuLaunchKernel(
            function => *mut c_void, blocks => c_uint, 1 => c_uint, 1 => c_uint, 256 => c_uint, 1 => c_uint,
            1 => c_uint, 0 => c_uint, null_mut() => *mut c_void, arguments.as_mut_ptr() => *mut *mut c_void,
            null_mut() => *mut *mut c_void
        ));
        let mut output = vec![0u32; n + 1];
        done!(library, cuMemcpyDtoH_v2(output.as_mut_ptr() => *mut u32, target => u64, guarded => usize));
        let mut expected: Vec<u32> = input
            .iter()
            .enumerate()
            .map(|(i, value)| value.mul_add(3.0, i as f32).to_bits())
            .collect();
        expected.push(u32::MAX);
        assert_eq!(output, expected, "n = {n}");
        done!(library, cuMemFree_v2(source => u64));
        done!(library, cuMemFree_v2(target => u64));
    }
    done!(library, cuModuleUnload(module => *mut c_void));
}

/// The address and status that `cuGetProcAddress_v2` gives.
fn address(library: &Library, name: &CStr, version: c_int) -> (*mut c_void, c_uint) {
    let (mut address, mut status) = (null_mut(), 9);
    let code = call!(library, cuGetProcAddress_v2(
        name.as_ptr() => *const c_char, &mut address => *mut *mut c_void, version => c_int, 0 => u64,
        &mut status => *mut c_uint
    ));
    assert_eq!(code, if status == 0 { 0 } else { 500 }, "{name:?}");
    assert_eq!(address.is_null(), status != 0, "{name:?}");
    (address, status)
}

#[test]
fn functions_are_found_by_name_and_version() {
    let library = &open();
    let mut version = 0;
    done!(library, cuDriverGetVersion(&mut version => *mut c_int));
    assert_eq!(version, 13_050);
    let exported = |name: &[u8]| {
        // SAFETY: the symbol is only compared.
        let symbol = unsafe { library.get::<*mut c_void>(name) };
        (*symbol.expect("an exported name"), 0)
    };
    assert_eq!(address(library, c"cuInit", 12_000), exported(b"cuInit\0"));
    assert_eq!(address(library, c"cuMemAlloc", 12_000), exported(b"cuMemAlloc_v2\0"));
    assert_eq!(address(library, c"cuMemAdvise", 12_010), exported(b"cuMemAdvise\0"));
    assert_eq!(address(library, c"cuMemAdvise", 12_020), exported(b"cuMemAdvise_v2\0"));
    assert_eq!(address(library, c"cuCtxCreate", 3_020), exported(b"cuCtxCreate_v2\0"));
    assert_eq!(address(library, c"cuCtxCreate", 11_040), exported(b"cuCtxCreate_v3\0"));
    let with_flags = exported(b"cuGraphInstantiateWithFlags\0");
    assert_eq!(address(library, c"cuGraphInstantiate", 12_000), with_flags);
    assert_eq!(
        address(library, c"cuGraphInstantiate", 11_000),
        exported(b"cuGraphInstantiate_v2\0")
    );
    assert_eq!(address(library, c"cuLaunchKernelEx", 11_040), (null_mut(), 2));
    assert_eq!(address(library, c"cuLaunchKernelEx", 11_060), exported(b"cuLaunchKernelEx\0"));
    // What CUDA 13 has two of is the older one for programs of CUDA 12.
    assert_eq!(address(library, c"cuCtxSynchronize", 12_080), exported(b"cuCtxSynchronize\0"));
    assert_eq!(address(library, c"cuCtxSynchronize", 13_000), exported(b"cuCtxSynchronize_v2\0"));
    // Since CUDA 12.0 the header's function of this name takes three arguments, not four.
    assert_eq!(address(library, c"cuGraphExecUpdate", 11_040), exported(b"cuGraphExecUpdate\0"));
    assert_eq!(address(library, c"cuGraphExecUpdate", 12_000), exported(b"cuGraphExecUpdate_v2\0"));
    assert_eq!(address(library, c"cuNoSuchFunction", 12_000), (null_mut(), 1));
}

#[test]
fn a_client_of_a_newer_driver_is_answered() {
    let library = &open();
    start(library);
    // CUDA 99 gets the newest that there is, and nothing of its own.
    assert_eq!(address(library, c"cuMemAdvise", 99_000), address(library, c"cuMemAdvise", 13_050));
    assert_eq!(address(library, c"cuMemAdvise_v9", 99_000), (null_mut(), 1));
    let mut value = 0;
    for unknown in [0, 100_000, -1] {
        let code = call!(library, cuDeviceGetAttribute(&mut value => *mut c_int, unknown => c_int, 0 => c_int));
        assert_eq!(code, 1, "attribute {unknown}");
    }
    // A cubin: an ELF file for the machine 190, which is CUDA's.
    let mut cubin = [0u8; 4096];
    cubin[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    (cubin[18], cubin[52]) = (190, 64);
    let mut module: *mut c_void = null_mut();
    let code = call!(library, cuModuleLoadData(&mut module => *mut *mut c_void, cubin.as_ptr() => *const u8));
    assert_eq!((code, module.is_null()), (209, true));
}

#[test]
fn sizes_that_no_number_holds_are_refused() {
    let library = &open();
    start(library);
    let mut place = 0u64;
    done!(library, cuMemAlloc_v2(&mut place => *mut u64, 4096 => usize));
    let most = usize::MAX / 4 + 2;
    assert_eq!(call!(library, cuMemsetD32_v2(place => u64, 7 => c_uint, most => usize)), 1);
    assert_eq!(call!(library, cuMemcpyDtoD_v2(place => u64, place => u64, usize::MAX => usize)), 1);
    let rows = (1usize << 60) + 1;
    assert_eq!(
        call!(library, cuMemsetD2D32_v2(
            place => u64, 16 => usize, 7 => c_uint, 4 => usize, rows => usize
        )),
        1
    );
    done!(library, cuMemFree_v2(place => u64));
}

#[test]
fn a_context_takes_parameters_that_ask_for_nothing() {
    let library = &open();
    done!(library, cuInit(0 => c_uint));
    // `CUctxCreateParams`: affinities, how many, parameters of sharing with graphics.
    let nothing = [0usize; 3];
    for parameters in [null_mut(), nothing.as_ptr().cast_mut()] {
        let mut context = null_mut();
        done!(library, cuCtxCreate_v4(
            &mut context => *mut *mut c_void, parameters => *mut usize, 0 => c_uint, 0 => c_int
        ));
        done!(library, cuCtxDestroy_v2(context => *mut c_void));
    }
    let mut affinity = [0u32; 2];
    let asks: [[usize; 3]; 2] =
        [[affinity.as_mut_ptr().addr(), 1, 0], [0, 0, affinity.as_mut_ptr().addr()]];
    for mut asked in asks {
        let mut context: *mut c_void = null_mut();
        let code = call!(library, cuCtxCreate_v4(
            &mut context => *mut *mut c_void, asked.as_mut_ptr() => *mut usize, 0 => c_uint, 0 => c_int
        ));
        assert_eq!(code, 801, "{asked:?}");
    }
}

/// A word that a kernel doubled, whose launch was said as CUDA 3 says it.
fn doubled(library: &Library, function: *mut c_void) -> u32 {
    let (mut word, mut place) = (21u32, 0u64);
    done!(library, cuMemAlloc_v2(&mut place => *mut u64, 4 => usize));
    done!(library, cuMemcpyHtoD_v2(place => u64, &word => *const u32, 4 => usize));
    done!(library, cuFuncSetBlockShape(function => *mut c_void, 1 => c_int, 1 => c_int, 1 => c_int));
    done!(library, cuParamSetv(function => *mut c_void, 0 => c_int, (&raw mut place).cast() => *mut c_void, 8 => c_uint));
    done!(library, cuParamSetSize(function => *mut c_void, 8 => c_uint));
    done!(library, cuLaunchGrid(function => *mut c_void, 1 => c_int, 1 => c_int));
    done!(library, cuMemcpyDtoH_v2(&mut word => *mut u32, place => u64, 4 => usize));
    done!(library, cuMemFree_v2(place => u64));
    word
}

#[test]
fn a_library_of_a_fat_binary_and_a_linked_text_have_their_kernels() {
    let library = &open();
    start(library);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../virtual_gpu/fixtures/twice_lz4.fatbin");
    let image = std::fs::read(file).expect("it is committed");
    let (mut loaded, mut kernel, mut function, mut name) =
        (null_mut(), null_mut(), null_mut(), std::ptr::null());
    done!(library, cuLibraryLoadData(
        &mut loaded => *mut *mut c_void, image.as_ptr() => *const u8, null_mut() => *mut c_uint,
        null_mut() => *mut *mut c_void, 0 => c_uint, null_mut() => *mut c_uint, null_mut() => *mut *mut c_void, 0 => c_uint
    ));
    done!(library, cuLibraryGetKernel(&mut kernel => *mut *mut c_void, loaded => *mut c_void, c"twice".as_ptr() => *const c_char));
    done!(library, cuKernelGetName(&mut name => *mut *const c_char, kernel => *mut c_void));
    // SAFETY: the call gave a name, which lives as long as its library.
    assert_eq!(unsafe { CStr::from_ptr(name) }, c"twice");
    done!(library, cuKernelGetFunction(&mut function => *mut *mut c_void, kernel => *mut c_void));
    assert_eq!(doubled(library, function), 42);
    let (mut offset, mut size) = (9usize, 0usize);
    done!(library, cuKernelGetParamInfo(kernel => *mut c_void, 0 => usize, &mut offset => *mut usize, &mut size => *mut usize));
    assert_eq!((offset, size), (0, 8));
    done!(library, cuLibraryUnload(loaded => *mut c_void));

    let (mut state, mut linked, mut bytes, mut module) =
        (null_mut(), null_mut(), 0usize, null_mut());
    let empty = (null_mut::<c_uint>(), null_mut::<*mut c_void>());
    done!(library, cuLinkCreate(
        0 => c_uint, empty.0 => *mut c_uint, empty.1 => *mut *mut c_void, &mut state => *mut *mut c_void
    ));
    done!(library, cuLinkAddData_v2(
        state => *mut c_void, 1 => c_uint, PTX.as_ptr().cast_mut().cast() => *mut c_void, PTX.count_bytes() => usize,
        c"scale".as_ptr() => *const c_char, 0 => c_uint, empty.0 => *mut c_uint, empty.1 => *mut *mut c_void
    ));
    done!(library, cuLinkComplete(state => *mut c_void, &mut linked => *mut *mut c_void, &mut bytes => *mut usize));
    done!(library, cuModuleLoadData(&mut module => *mut *mut c_void, linked => *mut c_void));
    done!(library, cuModuleGetFunction(&mut function => *mut *mut c_void, module => *mut c_void, c"scale".as_ptr() => *const c_char));
    done!(library, cuLinkDestroy(state => *mut c_void));
    done!(library, cuModuleUnload(module => *mut c_void));
}

/// Handle to memory that another process shares (`CUipcMemHandle`).
#[repr(C)]
struct SharedMemory([u8; 64]);

#[test]
fn a_first_name_answers_as_its_later_version() {
    // Programs that ask for every function by its name refuse a library that lacks one.
    let library = &open();
    start(library);
    let (mut address, nobody) = (0, SharedMemory([0; 64]));
    let code = call!(library, cuIpcOpenMemHandle(&mut address => *mut u64, nobody => SharedMemory, 1 => c_uint));
    assert_eq!(code, 1, "no process has given this handle");
    let code = call!(library, cuMemcpyDtoDAsync(
        4 => c_uint, 8 => c_uint, 4 => c_uint, null_mut() => *mut c_void
    ));
    assert_eq!(code, 1, "no memory is at addresses of 32 bits");
}

/// Handles between processes do what an H100's driver (13.0) and the reference say.
#[test]
fn memory_and_events_are_shared_with_another_process() {
    let library = &open();
    start(library);
    let (mut memory, mut event) = (0u64, null_mut());
    done!(library, cuMemAlloc_v2(&mut memory => *mut u64, 1 << 22 => usize));
    done!(library, cuMemsetD32_v2(memory => u64, 41 => c_uint, 1 << 20 => usize));
    let [mut first, mut middle, mut of_event] = [(); 3].map(|()| SharedMemory([0; 64]));
    done!(library, cuIpcGetMemHandle(&mut first => *mut SharedMemory, memory => u64));
    done!(library, cuIpcGetMemHandle(&mut middle => *mut SharedMemory, memory + 4096 => u64));
    assert_eq!(first.0, middle.0, "a handle is of the whole allocation");
    // An event that is shared takes no times.
    assert_eq!(call!(library, cuEventCreate(&mut event => *mut *mut c_void, 4 => c_uint)), 1);
    done!(library, cuEventCreate(&mut event => *mut *mut c_void, 0 => c_uint));
    let code = call!(library, cuIpcGetEventHandle(&mut of_event => *mut SharedMemory, event => *mut c_void));
    assert_eq!(code, 400, "it is not shared");
    done!(library, cuEventCreate(&mut event => *mut *mut c_void, 6 => c_uint));
    done!(library, cuIpcGetEventHandle(&mut of_event => *mut SharedMemory, event => *mut c_void));
    done!(library, cuEventRecord(event => *mut c_void, null_mut() => *mut c_void));
    // What is no memory of cuMemAlloc, and what is the process's own.
    let mut other = 0u64;
    done!(library, cuMemAllocManaged(&mut other => *mut u64, 64 => usize, 1 => c_uint));
    let mut none = SharedMemory([0; 64]);
    for address in [other, 0, (&raw const other).addr() as u64] {
        assert_eq!(
            call!(library, cuIpcGetMemHandle(&mut none => *mut SharedMemory, address => u64)),
            1
        );
    }
    let own = SharedMemory(first.0);
    assert_eq!(
        call!(library, cuIpcOpenMemHandle_v2(&mut other => *mut u64, own => SharedMemory, 1 => c_uint)),
        201
    );
    assert_eq!(call!(library, cuIpcCloseMemHandle(memory => u64)), 1);
    let with = |how: &str| {
        let hex =
            |of: &SharedMemory| of.0.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let output = Command::new(std::env::current_exe().expect("a test knows where it is"))
            .args(["inner_shared", "--exact", "--ignored", "--nocapture"])
            .env("SHARED", format!("{how} {} {}", hex(&first), hex(&of_event)))
            .output()
            .expect("the test starts");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{how}: {text}");
    };
    with("there");
    let mut word = 0u32;
    done!(library, cuMemcpyDtoH_v2((&raw mut word).cast() => *mut c_void, memory => u64, 4 => usize));
    assert_eq!(word, 77, "the other process has written it");
    done!(library, cuMemFree_v2(memory => u64));
    with("gone");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_shared() {
    let library = &open();
    start(library);
    let shared = std::env::var("SHARED").expect("the other test sets it");
    let mut parts = shared.split(' ');
    let how = parts.next().expect("a word");
    let [memory, of_event] = [(); 2].map(|()| {
        let hex = parts.next().expect("a handle").as_bytes();
        let byte = |at: usize| {
            u8::from_str_radix(std::str::from_utf8(&hex[2 * at..2 * at + 2]).unwrap(), 16).unwrap()
        };
        std::array::from_fn::<u8, 64, _>(byte)
    });
    let mut places = [0u64; 2];
    let open = |place: &mut u64, flags: c_uint| call!(library, cuIpcOpenMemHandle_v2(place => *mut u64, SharedMemory(memory) => SharedMemory, flags => c_uint));
    if how == "gone" {
        assert_eq!(open(&mut places[0], 1), 800, "not permitted");
        return;
    }
    assert_eq!(open(&mut places[0], 0), 1, "without the flag");
    assert_eq!((open(&mut places[0], 1), open(&mut places[1], 1)), (0, 0));
    assert_eq!(places[0], places[1], "it is open already");
    let mut word = 0u32;
    let read = |word: &mut u32| call!(library, cuMemcpyDtoH_v2((&raw mut *word).cast() => *mut c_void, places[0] + 4096 => u64, 4 => usize));
    assert_eq!((read(&mut word), word), (0, 41));
    done!(library, cuMemsetD32_v2(places[0] => u64, 77 => c_uint, 1 => usize));
    let past =
        call!(library, cuMemsetD32_v2(places[0] + (1 << 22) => u64, 77 => c_uint, 1 => usize));
    assert_ne!(past, 0, "past the end");
    let mut event = null_mut();
    done!(library, cuIpcOpenEventHandle(&mut event => *mut *mut c_void, SharedMemory(of_event) => SharedMemory));
    done!(library, cuEventQuery(event => *mut c_void));
    done!(library, cuStreamWaitEvent(null_mut() => *mut c_void, event => *mut c_void, 0 => c_uint));
    let none = SharedMemory([5; 64]);
    assert_eq!(
        call!(library, cuIpcOpenEventHandle(&mut event => *mut *mut c_void, none => SharedMemory)),
        205
    );
    let close = || call!(library, cuIpcCloseMemHandle(places[0] => u64));
    assert_eq!((close(), read(&mut word)), (0, 0), "it was opened twice");
    assert_eq!(close(), 0);
    assert_ne!(read(&mut word), 0, "it is closed");
    assert_eq!(close(), 1);
}

/// Runs `inner`, an ignored test of this file, in a process with another choice of device; gives its standard error.
fn elsewhere(inner: &str, device: &str) -> String {
    let output = Command::new(std::env::current_exe().expect("a test knows where it is"))
        .args([inner, "--exact", "--ignored", "--nocapture"])
        .env("COALESCE_DEVICE", device)
        .output()
        .expect("the test starts");
    let errors = String::from_utf8(output.stderr).expect("messages are UTF-8");
    assert!(output.status.success(), "{inner} with {device}: {errors}");
    errors
}

/// The exit code of a forked child that does `work`, or minus the signal that ended it.
fn in_a_child(work: impl FnOnce() -> c_uint) -> c_int {
    // SAFETY: the child calls the driver and `_exit`, and runs nothing of this test; its parent waits for it.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::alarm(10);
            libc::_exit(work() as c_int);
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -libc::WTERMSIG(status) }
    }
}

#[test]
fn a_child_has_no_driver_once_its_parent_has_initialized_it() {
    let output = elsewhere("inner_children", "virtual");
    assert_eq!(output, "");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_children() {
    let library = &open();
    let init = || call!(library, cuInit(0 => c_uint));
    assert_eq!(in_a_child(init), 0, "the child initializes a driver of its own");
    start(library);
    let allocate = || {
        let mut place = 0u64;
        call!(library, cuMemAlloc_v2(&mut place => *mut u64, 64 => usize))
    };
    let ends = &std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Threads in the driver, which hold its lock in many a child.
        for _ in 0..2 {
            scope.spawn(|| {
                while !ends.load(std::sync::atomic::Ordering::Relaxed) {
                    let mut count = 0;
                    done!(library, cuDeviceGetCount(&mut count => *mut c_int));
                }
            });
        }
        let children = (0..50).map(|_| (in_a_child(allocate), in_a_child(init)));
        let wrong: Vec<_> = children.filter(|codes| *codes != (3, 3)).take(1).collect();
        ends.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(wrong, []);
    });
    assert_eq!(allocate(), 0, "the parent goes on");
}

#[test]
fn the_variable_chooses_the_profile_and_what_is_missing_is_named_once() {
    let errors = elsewhere("inner_device", "virtual:a100");
    let lines: Vec<&str> = errors.lines().collect();
    for (line, name) in lines.iter().zip(["cuArrayGetSparseProperties", "cuMulticastCreate"]) {
        let meant = format!(
            "virtual NVIDIA A100-SXM4-40GB: {name}: the virtual device does not have this function"
        );
        assert!(line.starts_with(&meant), "{line}");
    }
    assert_eq!(lines.len(), 2, "{errors}");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_device() {
    let library = &open();
    start(library);
    let mut major = 0;
    done!(library, cuDeviceGetAttribute(&mut major => *mut c_int, 75 => c_uint, 0 => c_int));
    assert_eq!(major, 8);
    for _ in 0..2 {
        let code = call!(library, cuArrayGetSparseProperties(null_mut() => *mut c_void, null_mut() => *mut c_void));
        assert_eq!(code, 801);
        // Nothing but its name is there.
        assert_eq!(call!(library, cuMulticastCreate(null_mut() => *mut c_void)), 801);
        assert_eq!(address(library, c"cuMulticastCreate", 12_010).1, 0);
        assert_eq!(address(library, c"cuMulticastCreate", 12_000).1, 2);
    }
}

/// A C program's text waits in its own buffer when the standard output is a pipe: a kernel's goes through the same.
#[test]
fn what_a_kernel_prints_keeps_its_place_in_a_pipe() {
    let output = Command::new(std::env::current_exe().expect("a test knows where it is"))
        .args(["inner_printing", "--exact", "--ignored", "--nocapture"])
        .env("COALESCE_DEVICE", "virtual")
        .output()
        .expect("the test starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with("by the "));
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines, ["by the host, 1", "by the kernel", "by the host, 2", "by the kernel"]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_printing() {
    const PRINTS: &CStr = cr#"
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[16] = {10, 98, 121, 32, 116, 104, 101, 32, 107, 101, 114, 110, 101, 108, 10, 0};
.visible .entry prints()
{
    .reg .b64 %rd<2>;
    mov.u64 %rd1, text;
    { .param .b64 f; st.param.b64 [f], %rd1; .param .b64 a; st.param.b64 [a], 0; .param .b32 r;
      call.uni (r), vprintf, (f, a); }
    ret;
}
"#;
    let library = &open();
    start(library);
    let (mut module, mut function) = (null_mut(), null_mut());
    done!(library, cuModuleLoadData(&mut module => *mut *mut c_void, PRINTS.as_ptr() => *const c_char));
    done!(library, cuModuleGetFunction(&mut function => *mut *mut c_void, module => *mut c_void, c"prints".as_ptr() => *const c_char));
    for number in 1..=2 {
        // SAFETY: the format takes one number.
        unsafe { libc::printf(c"\nby the host, %d\n".as_ptr(), number as c_int) };
        done!(library, cuLaunchKernel(
            function => *mut c_void, 1 => c_uint, 1 => c_uint, 1 => c_uint, 1 => c_uint, 1 => c_uint, 1 => c_uint,
            0 => c_uint, null_mut() => *mut c_void, null_mut() => *mut *mut c_void, null_mut() => *mut *mut c_void
        ));
        done!(library, cuCtxSynchronize());
    }
}

/// Calls the driver when its thread ends, after the driver's own values of the thread are gone.
struct Late(Library);

impl Drop for Late {
    fn drop(&mut self) {
        let library = &self.0;
        let (mut context, mut place) = (null_mut::<c_void>(), 0u64);
        done!(library, cuCtxGetCurrent(&mut context => *mut *mut c_void));
        assert!(!context.is_null(), "it is still current");
        done!(library, cuMemAlloc_v2(&mut place => *mut u64, 64 => usize));
        done!(library, cuMemFree_v2(place => u64));
        done!(library, cuCtxPushCurrent_v2(context => *mut c_void));
        done!(library, cuCtxPopCurrent_v2(&mut context => *mut *mut c_void));
        assert_eq!(call!(library, cuMemFree_v2(64 => u64)), 1, "a mistake is told");
    }
}

thread_local! {
    static LATE: std::cell::RefCell<Option<Late>> = const { std::cell::RefCell::new(None) };
}

#[test]
fn the_driver_answers_a_thread_that_ends() {
    let ended = std::thread::spawn(|| {
        // Values are dropped in the opposite order: this one comes first.
        LATE.set(Some(Late(open())));
        let library = &open();
        start(library);
        let mut context = null_mut::<c_void>();
        done!(library, cuCtxGetCurrent(&mut context => *mut *mut c_void));
        done!(library, cuCtxPushCurrent_v2(context => *mut c_void));
    });
    ended.join().expect("a panic in the end of a thread ends the process");
}

#[test]
fn tables_of_the_runtime_are_told_of_where_no_kernel_ran() {
    let sentence = "cuGetExportTable: the CUDA runtime, which CuPy and PyTorch start";
    for (inner, is_told) in [("inner_runtime", true), ("inner_tables_and_kernel", false)] {
        let errors = elsewhere(inner, "virtual");
        assert_eq!(errors.contains(sentence), is_told, "{errors}");
    }
}

fn ask_for_tables(library: &Library) {
    let mut table = null_mut::<c_void>();
    let code =
        call!(library, cuGetExportTable(&mut table => *mut *mut c_void, null_mut() => *mut c_void));
    assert_eq!(code, 801);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_runtime() {
    ask_for_tables(&open());
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_tables_and_kernel() {
    ask_for_tables(&open());
    a_program_runs_a_kernel();
}

#[test]
fn a_library_that_is_loaded_late_profiles_as_the_variables_say() {
    let output = Command::new(std::env::current_exe().expect("a test knows where it is"))
        .args(["a_program_runs_a_kernel", "--exact", "--nocapture"])
        .env("COALESCE_CHECK", "all")
        .env("COALESCE_KERNEL", "scale")
        .output()
        .expect("the test starts");
    let errors = String::from_utf8(output.stderr).expect("messages are UTF-8");
    assert!(output.status.success(), "{errors}");
    assert!(errors.contains("Kernel `scale`") && errors.contains("8 launches"), "{errors}");
    assert!(errors.contains("Checked for hazards: none."), "{errors}");
}

#[test]
fn a_wrong_choice_is_explained_and_leaves_no_device() {
    let known = "h200, h100, a100, v100, rtx4090, t4, b200, rtx5090, gb10, one_copy_engine";
    assert_eq!(
        elsewhere("inner_no_device", "virtual:z9"),
        format!(
            "the virtual GPU cannot start: there is no virtual device \"z9\", choose one of: {known}\n"
        )
    );
    assert_eq!(
        elsewhere("inner_no_device", "gpu:0"),
        "the virtual GPU cannot start: COALESCE_DEVICE is `gpu:0`: write virtual, virtual:PROFILE, virtual:PROFILExN or virtual:FILE.json\n"
    );
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_no_device() {
    let library = &open();
    assert_eq!(call!(library, cuInit(0 => c_uint)), 100);
}

/// `add` reads memory that nobody wrote, with one thread, and `spin` counts for years.
const ENDLESS: &CStr = cr#"
.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 target)
{
    .reg .b32 %r1;
    .reg .b64 %rd1;
    ld.param.u64 %rd1, [target];
    ld.global.u32 %r1, [%rd1];
    add.u32 %r1, %r1, 1;
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry spin()
{
    .reg .pred %p;
    .reg .b64 %rd1;
    mov.u64 %rd1, 0;
LOOP:
    add.u64 %rd1, %rd1, 1;
    setp.ne.u64 %p, %rd1, 0;
    @%p bra LOOP;
    ret;
}
"#;

/// A program that ignores an error and ends with work under way.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_program() {
    let library = &open();
    start(library);
    let mut module = null_mut();
    done!(library, cuModuleLoadData(&mut module => *mut *mut c_void, ENDLESS.as_ptr() => *const c_char));
    let mut target = 0u64;
    done!(library, cuMemAlloc_v2(&mut target => *mut u64, 64 => usize));
    // A call that fails, and a program that does not notice.
    call!(library, cuStreamSynchronize(0x50 => usize));
    let launch = |kernel: &CStr| {
        let mut function = null_mut();
        done!(library, cuModuleGetFunction(&mut function => *mut *mut c_void, module => *mut c_void, kernel.as_ptr() => *const c_char));
        let mut arguments: [*mut c_void; 1] = [(&raw const target).cast_mut().cast()];
        done!(library, cuLaunchKernel(
            function => *mut c_void, 1 => c_uint, 1 => c_uint, 1 => c_uint, 1 => c_uint, 1 => c_uint,
            1 => c_uint, 0 => c_uint, null_mut() => *mut c_void, arguments.as_mut_ptr() => *mut *mut c_void,
            null_mut() => *mut *mut c_void
        ));
    };
    launch(c"add");
    if std::env::var_os("PROGRAM_LEAVES").is_some() {
        done!(library, cuCtxSynchronize());
        // The thread that writes has seen the first launch, and not the others.
        std::thread::sleep(std::time::Duration::from_millis(30));
        for _ in 0..3 {
            launch(c"add");
            done!(library, cuCtxSynchronize());
        }
        // SAFETY: the process ends.
        unsafe { libc::_exit(0) };
    }
    if std::env::var_os("PROGRAM_SPINS").is_some() {
        done!(library, cuCtxSynchronize());
        launch(c"spin");
        call!(library, cuCtxSynchronize());
    }
}

/// Starts the program above; its profile becomes a file of this name.
fn start_program(name: &str) -> (std::process::Child, PathBuf) {
    let file = std::env::temp_dir().join(format!("{name}-{}.json", std::process::id()));
    let test = std::env::current_exe().expect("a test knows where it is");
    let mut program = Command::new(test);
    program.args(["inner_program", "--exact", "--ignored"]).env("COALESCE_CHECK", "all");
    program.env("COALESCE_JSON", &file).stdout(std::process::Stdio::null());
    program.stderr(std::process::Stdio::null());
    if name.contains("spins") {
        program.env("PROGRAM_SPINS", "yes");
    }
    if name.contains("leaves") {
        program.env("PROGRAM_LEAVES", "yes");
    }
    (program.spawn().expect("the test can be started again"), file)
}

#[test]
fn a_program_that_ends_with_work_under_way_is_judged() {
    let (mut child, file) = start_program("ends");
    assert!(child.wait().expect("it ends").success());
    let profile = std::fs::read_to_string(&file).expect("the profile was written");
    std::fs::remove_file(&file).expect("it is ours");
    for part in
        ["\"name\":\"add\"", "UninitializedGlobal", "CallFailed", "CUDA_ERROR_INVALID_HANDLE"]
    {
        assert!(profile.replace(": ", ":").contains(part), "{part}: {profile}");
    }
}

#[test]
fn a_program_that_leaves_right_behind_a_launch_is_profiled() {
    let (mut child, file) = start_program("leaves");
    assert!(child.wait().expect("it ends").success());
    let profile = std::fs::read_to_string(&file).expect("the profile was written");
    std::fs::remove_file(&file).expect("it is ours");
    assert!(profile.replace(": ", ":").contains("\"launches\":4"), "{profile}");
}

#[test]
fn a_kernel_that_never_ends_keeps_no_results_back() {
    let (mut child, file) = start_program("spins");
    let begin = std::time::Instant::now();
    let mut profile = String::new();
    let is_whole = |profile: &str| {
        let parts = ["UninitializedGlobal", "the program ended before this launch did", "spin"];
        parts.iter().all(|part| profile.contains(part))
    };
    while !is_whole(&profile) && begin.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(50));
        profile = std::fs::read_to_string(&file).unwrap_or_default();
    }
    child.kill().expect("it runs, or has ended");
    child.wait().expect("it was killed");
    // Whatever ended first, the file is whole.
    let _ = std::fs::remove_file(&file);
    assert!(is_whole(&profile), "{profile}");
}

#[test]
fn the_management_library_names_the_same_device() {
    let library = open();
    assert_eq!(call!(library, nvmlInit_v2()), 0);
    let (mut devices, mut device) = (0, null_mut());
    assert_eq!(call!(library, nvmlDeviceGetCount_v2(&mut devices => *mut c_uint)), 0);
    assert_eq!(devices, 1);
    let handle = |index: c_uint, device: &mut *mut c_void| call!(library, nvmlDeviceGetHandleByIndex_v2(index => c_uint, device => *mut *mut c_void));
    // 2 is `NVML_ERROR_INVALID_ARGUMENT`, 7 `NVML_ERROR_INSUFFICIENT_SIZE`.
    assert_eq!((handle(1, &mut device), handle(0, &mut device)), (2, 0));
    let mut name: [c_char; 96] = [0; 96];
    let mut named = |length: c_uint| call!(library, nvmlDeviceGetName(device => *mut c_void, name.as_mut_ptr() => *mut c_char, length => c_uint));
    assert_eq!((named(4), named(96)), (7, 0));
    // SAFETY: the function ends its texts with a zero.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) };
    assert_eq!(name.to_str(), Ok("NVIDIA H200 (virtual)"));
    let (mut major, mut minor) = (0, 0);
    assert_eq!(
        call!(library, nvmlDeviceGetCudaComputeCapability(device => *mut c_void, &mut major => *mut c_int, &mut minor => *mut c_int)),
        0
    );
    assert_eq!((major, minor), (9, 0));
    let mut memory = [0_u64; 3];
    assert_eq!(
        call!(library, nvmlDeviceGetMemoryInfo(device => *mut c_void, memory.as_mut_ptr() => *mut u64)),
        0
    );
    assert_eq!((memory[0], memory[2]), (memory[1], 0));
    assert_eq!(
        call!(library, nvmlDeviceGetMemoryInfo(null_mut() => *mut c_void, memory.as_mut_ptr() => *mut u64)),
        2
    );
}

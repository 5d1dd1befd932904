//! A program that is linked with the runtime's library and made by nvcc, as the runtime sees it: fat binaries, and what
//! they have, are registered, and kernels are launched by the addresses of the host's functions.

use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// out[i] = factor * (table[0] + counter[1]) + i for each thread; `bump` adds to the counters, and `managed` is read by both.
const PTX: &str = r#"
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 counter[4] = {1, 2, 3, 4};
.visible .const .align 4 .u32 table[4];
.visible .global .align 4 .attribute(.managed) .u32 managed = 5;
.visible .entry fill(.param .u64 out, .param .u32 factor)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [factor];
    ld.const.u32 %r2, [table];
    ld.global.u32 %r3, [counter+4];
    add.u32 %r2, %r2, %r3;
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ntid.x;
    mov.u32 %r6, %tid.x;
    mad.lo.u32 %r4, %r4, %r5, %r6;
    mad.lo.u32 %r1, %r1, %r2, %r4;
    mul.wide.u32 %rd2, %r4, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}
.visible .entry bump()
{
    .reg .b32 %r<3>;
    ld.global.u32 %r1, [managed];
    add.u32 %r1, %r1, 1;
    st.global.u32 [managed], %r1;
    ret;
}
"#;

/// `cudaMemcpyKind`.
const TO_DEVICE: c_int = 1;
const TO_HOST: c_int = 2;
const ON_DEVICE: c_int = 3;
const ANY: c_int = 4;

/// A library that cargo built beside this test.
fn path(name: &str) -> PathBuf {
    std::env::current_exe().expect("a test knows where it is").with_file_name(name)
}

/// The runtime, beside the virtual driver, which it finds by its name once that is loaded.
fn runtime() -> &'static Library {
    static OPENED: OnceLock<[Library; 2]> = OnceLock::new();
    let opened = OPENED.get_or_init(|| {
        let runtime = match std::env::var_os("RUNTIME_OF_TEST") {
            Some(path) => path.into(),
            None => path("libvirtual_libcudart.so"),
        };
        [path("libvirtual_libcuda.so"), runtime].map(|path| {
            // SAFETY: the initializers may run on any thread.
            unsafe { Library::new(path) }.expect("cargo builds the library with its tests")
        })
    });
    &opened[1]
}

/// Calls a function of the runtime by its name; the types are those of NVIDIA's header.
macro_rules! call {
    ($name:ident($($argument:expr => $type:ty),* $(,)?) -> $result:ty) => {{
        // SAFETY: the name's signature in the runtime API is the one given, and the arguments are valid for it.
        #[allow(unused_unsafe, reason = "some calls are in such a block")]
        unsafe {
            let name = concat!(stringify!($name), "\0").as_bytes();
            let function: libloading::Symbol<'_, unsafe extern "C" fn($($type),*) -> $result> =
                runtime().get(name).expect(stringify!($name));
            function($($argument),*)
        }
    }};
    ($name:ident($($argument:expr => $type:ty),* $(,)?)) => { call!($name($($argument => $type),*) -> c_int) };
}

/// As `call`, where only success is right.
macro_rules! done {
    ($name:ident($($argument:expr => $type:ty),* $(,)?)) => {
        assert_eq!(call!($name($($argument => $type),*)), 0, stringify!($name))
    };
}

/// A fat binary as `fatbinary` writes it, with an uncompressed entry for each text: kind (1 is PTX), architecture, bytes.
fn fat_binary(entries: &[(u16, u32, &[u8])]) -> Vec<u64> {
    let mut bytes = Vec::new();
    for (kind, architecture, content) in entries {
        let mut header = [0u8; 64];
        header[..2].copy_from_slice(&kind.to_le_bytes());
        header[2..4].copy_from_slice(&0x101u16.to_le_bytes());
        header[4..8].copy_from_slice(&64u32.to_le_bytes());
        let padded = content.len().next_multiple_of(8);
        header[8..16].copy_from_slice(&(padded as u64).to_le_bytes());
        header[28..32].copy_from_slice(&architecture.to_le_bytes());
        header[40..48].copy_from_slice(&0x11u64.to_le_bytes());
        bytes.extend(header);
        bytes.extend(*content);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    let mut file = vec![0xba55_ed50 | 1 << 32 | 16 << 48, bytes.len() as u64];
    file.extend(bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())));
    file
}

fn fat_text(text: &str) -> Vec<u64> {
    fat_binary(&[(1, 70, [text.as_bytes(), b"\0"].concat().as_slice())])
}

/// The structure through which a program holds a fat binary.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    fat: *const u64,
    to_link: *const *const u64,
}

/// Registers a fat binary, as a program's start does, for as long as the process lives.
fn register(fat: Vec<u64>) -> *mut c_void {
    let wrapper =
        Wrapper { magic: 0x4662_43b1, version: 1, fat: fat.leak().as_ptr(), to_link: null() };
    register_wrapper(wrapper)
}

fn register_wrapper(wrapper: Wrapper) -> *mut c_void {
    let wrapper: *mut Wrapper = Box::leak(Box::new(wrapper));
    call!(__cudaRegisterFatBinary(wrapper => *mut Wrapper) -> *mut c_void)
}

/// Registers a kernel, and returns the address that the host names it by.
fn kernel(handle: *mut c_void, name: &'static CStr) -> *const c_void {
    let host: *const u8 = Box::leak(Box::new(0u8));
    register_kernel(handle, host.cast(), name);
    host.cast()
}

fn register_kernel(handle: *mut c_void, host: *const c_void, name: &'static CStr) {
    call!(__cudaRegisterFunction(
        handle => *mut c_void, host => *const c_void, name.as_ptr() => *const c_char, name.as_ptr() => *const c_char,
        -1 => c_int, null_mut() => *mut c_void, null_mut() => *mut c_void, null_mut() => *mut c_void,
        null_mut() => *mut c_void, null_mut() => *mut c_int
    ) -> ());
}

/// Registers a variable, and returns the address that the host names it by.
fn variable(handle: *mut c_void, name: &'static CStr, bytes: usize) -> *const c_void {
    let host: *const u8 = Box::leak(Box::new(0u8));
    call!(__cudaRegisterVar(
        handle => *mut c_void, host.cast() => *const c_void, name.as_ptr() => *const c_char, name.as_ptr() => *const c_char,
        0 => c_int, bytes => usize, 0 => c_int, 0 => c_int
    ) -> ());
    host.cast()
}

/// Registrations that the compiler's output makes for [`PTX`].
struct Program {
    fill: *const c_void,
    bump: *const c_void,
    counter: *const c_void,
    table: *const c_void,
    /// The place of the host's pointer to the managed variable.
    managed: *mut *mut u32,
    handle: *mut c_void,
}

fn program() -> Program {
    let handle = register(fat_text(PTX));
    let managed: *mut *mut u32 = Box::leak(Box::new(null_mut()));
    call!(__cudaRegisterManagedVar(
        handle => *mut c_void, managed => *mut *mut u32, c"managed".as_ptr() => *const c_char,
        c"managed".as_ptr() => *const c_char, 0 => c_int, 4 => usize, 0 => c_int, 0 => c_int
    ) -> ());
    let program = Program {
        fill: kernel(handle, c"fill"),
        bump: kernel(handle, c"bump"),
        counter: variable(handle, c"counter", 16),
        table: variable(handle, c"table", 16),
        managed,
        handle,
    };
    call!(__cudaRegisterFatBinaryEnd(handle => *mut c_void) -> ());
    program
}

/// Blocks of a grid, or threads of a block.
#[repr(C)]
#[derive(Clone, Copy)]
struct Dim3(u32, u32, u32);

type Stream = *mut c_void;

/// Launches as `<<<blocks, threads, 0, stream>>>` does: the shape is pushed, popped, and handed over with the arguments.
fn launch(
    kernel: *const c_void,
    shape: [u32; 2],
    stream: Stream,
    arguments: &mut [*mut c_void],
) -> c_int {
    let [blocks, threads] = shape;
    let pushed = call!(__cudaPushCallConfiguration(
        Dim3(blocks, 1, 1) => Dim3, Dim3(threads, 1, 1) => Dim3, 0 => usize, stream => Stream
    ));
    assert_eq!(pushed, 0);
    let (mut grid, mut block, mut shared, mut on) =
        (Dim3(0, 0, 0), Dim3(0, 0, 0), 7usize, null_mut());
    done!(__cudaPopCallConfiguration(
        &mut grid => *mut Dim3, &mut block => *mut Dim3, &mut shared => *mut usize, &mut on => *mut Stream
    ));
    call!(cudaLaunchKernel(
        kernel => *const c_void, grid => Dim3, block => Dim3, arguments.as_mut_ptr() => *mut *mut c_void,
        shared => usize, on => Stream
    ))
}

fn fill(program: &Program, out: *mut c_void, factor: u32, threads: u32, stream: Stream) -> c_int {
    let (mut out, mut factor) = (out, factor);
    let mut arguments: [*mut c_void; 2] = [(&raw mut out).cast(), (&raw mut factor).cast()];
    launch(program.fill, [1, threads], stream, &mut arguments)
}

fn allocate(bytes: usize) -> *mut c_void {
    let mut place = null_mut();
    done!(cudaMalloc(&mut place => *mut *mut c_void, bytes => usize));
    place
}

fn copy(to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int) -> c_int {
    call!(cudaMemcpy(to => *mut c_void, from => *const c_void, bytes => usize, kind => c_int))
}

fn read(from: *const c_void, words: usize) -> Vec<u32> {
    let mut read = vec![0u32; words];
    assert_eq!(copy(read.as_mut_ptr().cast(), from, 4 * words, TO_HOST), 0);
    read
}

fn last_error() -> c_int {
    call!(cudaGetLastError())
}

/// Runs an ignored test of this file in a process of its own.
fn elsewhere(inner: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("a test knows where it is"));
    command.args([inner, "--exact", "--ignored", "--nocapture"]);
    command.envs(variables.iter().copied()).output().expect("the test starts")
}

/// As `elsewhere`, where the process must end well; gives its standard error.
fn well(inner: &str, variables: &[(&str, &str)]) -> String {
    let output = elsewhere(inner, variables);
    let errors = String::from_utf8(output.stderr).expect("messages are UTF-8");
    assert!(output.status.success(), "{inner} with {variables:?}: {:?} {errors}", output.status);
    errors
}

#[test]
fn kernels_variables_and_copies() {
    let program = program();
    let table = [10u32, 20, 30, 40];
    done!(cudaMemcpyToSymbol(
        program.table => *const c_void, table.as_ptr() => *const u32, 16 => usize, 0 => usize, TO_DEVICE => c_int
    ));
    let out = allocate(4 * 64);
    assert_eq!(fill(&program, out, 3, 64, null_mut()), 0);
    // 3 * (10 + 2) + i.
    assert_eq!(read(out, 64), (0..64).map(|i| 36 + i).collect::<Vec<_>>());

    let mut part = [0u32; 2];
    done!(cudaMemcpyFromSymbol(
        part.as_mut_ptr() => *mut u32, program.counter => *const c_void, 8 => usize, 8 => usize, TO_HOST => c_int
    ));
    assert_eq!(part, [3, 4]);
    let past = call!(cudaMemcpyFromSymbol(
        part.as_mut_ptr() => *mut u32, program.counter => *const c_void, 8 => usize, 12 => usize, TO_HOST => c_int
    ));
    assert_eq!(past, 1, "the variable ends there");
    let (mut address, mut bytes) = (null_mut(), 0usize);
    done!(cudaGetSymbolAddress(&mut address => *mut *mut c_void, program.counter => *const c_void));
    done!(cudaGetSymbolSize(&mut bytes => *mut usize, program.counter => *const c_void));
    assert_eq!((read(address, 4), bytes), (vec![1, 2, 3, 4], 16));
    let nothing = 0u8;
    let unknown = call!(cudaGetSymbolSize(&mut bytes => *mut usize, &nothing => *const u8));
    assert_eq!(unknown, 13, "no variable is registered there");

    // The host reads and writes what the kernel does.
    assert_ne!(call!(__cudaInitModule(program.handle => *mut c_void) -> c_char), 0);
    // SAFETY: the pointer was given by the call, and nothing of the device runs.
    unsafe {
        let managed = program.managed.read();
        assert_eq!(managed.read(), 5);
        managed.write(40);
        assert_eq!(launch(program.bump, [1, 1], null_mut(), &mut []), 0);
        done!(cudaDeviceSynchronize());
        assert_eq!(managed.read(), 41);
    }

    // Every direction, and what is none.
    let other = allocate(256);
    assert_eq!(copy(other, out, 256, ON_DEVICE), 0);
    assert_eq!(read(other, 2), [36, 37]);
    let (numbers, mut back) = ([7u32; 4], [0u32; 4]);
    assert_eq!(copy(other, numbers.as_ptr().cast(), 16, ANY), 0);
    assert_eq!(copy(back.as_mut_ptr().cast(), other, 16, ANY), 0);
    assert_eq!(back, numbers);
    let mut same = [0u32; 4];
    assert_eq!(copy(same.as_mut_ptr().cast(), numbers.as_ptr().cast(), 16, 0), 0, "host to host");
    assert_eq!(same, numbers);
    for kind in [-1, 5, 99] {
        assert_eq!(copy(other, out, 4, kind), 21, "{kind} is no direction");
    }
    done!(cudaFree(out => *mut c_void));
    done!(cudaFree(other => *mut c_void));
    assert_eq!(call!(cudaFree(out => *mut c_void)), 1, "it was freed");
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Extent(usize, usize, usize);

#[repr(C)]
#[derive(Clone, Copy)]
struct Pitched {
    pointer: *mut c_void,
    pitch: usize,
    width: usize,
    height: usize,
}

/// `cudaMemcpy3DParms`.
#[repr(C)]
struct Box3 {
    from_array: *mut c_void,
    from_position: Extent,
    from: Pitched,
    to_array: *mut c_void,
    to_position: Extent,
    to: Pitched,
    extent: Extent,
    kind: c_int,
}

#[test]
fn rows_and_boxes() {
    let (mut rows, mut pitch) = (null_mut(), 0usize);
    done!(cudaMallocPitch(&mut rows => *mut *mut c_void, &mut pitch => *mut usize, 20 => usize, 3 => usize));
    assert!(pitch >= 20 && pitch.is_multiple_of(32), "{pitch}");
    let numbers: Vec<u32> = (0..15).collect();
    let copy_2d = |to: *mut c_void, to_pitch, from: *const c_void, from_pitch, width, kind| {
        call!(cudaMemcpy2D(
            to => *mut c_void, to_pitch => usize, from => *const c_void, from_pitch => usize, width => usize, 3 => usize,
            kind => c_int
        ))
    };
    assert_eq!(copy_2d(rows, pitch, numbers.as_ptr().cast(), 20, 20, TO_DEVICE), 0);
    let mut back = vec![0u32; 15];
    assert_eq!(copy_2d(back.as_mut_ptr().cast(), 20, rows, pitch, 20, TO_HOST), 0);
    assert_eq!(back, numbers);
    assert_eq!(copy_2d(rows, 16, numbers.as_ptr().cast(), 20, 20, TO_DEVICE), 12, "rows overlap");
    // What an H200 answers for one row and for two, without a pitch, with half of one and with a whole one:
    // `results/nvidia-h200/codes.txt`.
    let answers = |pitch: usize, height: usize| {
        let numbers: *const c_void = numbers.as_ptr().cast();
        let to = call!(cudaMemcpy2D(
            rows => *mut c_void, pitch => usize, numbers => *const c_void, 20 => usize, 20 => usize, height => usize,
            TO_DEVICE => c_int
        ));
        let from = call!(cudaMemcpy2D(
            rows => *mut c_void, 20 => usize, numbers => *const c_void, pitch => usize, 20 => usize, height => usize,
            TO_DEVICE => c_int
        ));
        [
            to,
            from,
            call!(cudaMemset2D(rows => *mut c_void, pitch => usize, 0 => c_int, 20 => usize, height => usize)),
        ]
    };
    assert_eq!([0, 10, 20].map(|pitch| answers(pitch, 1)), [[0, 0, 0], [1, 1, 0], [0, 0, 0]]);
    assert_eq!([0, 10, 20].map(|pitch| answers(pitch, 2)), [[12, 12, 1], [12, 12, 1], [0, 0, 0]]);
    assert_eq!(copy_2d(rows, pitch, numbers.as_ptr().cast(), 20, 20, TO_DEVICE), 0);
    done!(cudaMemset2D(rows => *mut c_void, pitch => usize, 0xff => c_int, 8 => usize, 2 => usize));
    assert_eq!(copy_2d(back.as_mut_ptr().cast(), 20, rows, pitch, 20, TO_HOST), 0);
    assert_eq!(back[..3], [u32::MAX, u32::MAX, 2]);
    assert_eq!(back[10..12], [10, 11]);

    let extent = Extent(8, 2, 3);
    let mut device = Pitched { pointer: null_mut(), pitch: 0, width: 0, height: 0 };
    done!(cudaMalloc3D(&mut device => *mut Pitched, extent => Extent));
    assert_eq!((device.width, device.height), (8, 2));
    let mut host: Vec<u32> = (0..12).collect();
    let linear = Pitched { pointer: host.as_mut_ptr().cast(), pitch: 8, width: 8, height: 2 };
    let none = Extent(0, 0, 0);
    let mut box_ = Box3 {
        from_array: null_mut(),
        from_position: none,
        from: linear,
        to_array: null_mut(),
        to_position: none,
        to: device,
        extent,
        kind: TO_DEVICE,
    };
    done!(cudaMemcpy3D(&box_ => *const Box3));
    let mut back = [0u32; 12];
    (box_.from, box_.to) = (device, Pitched { pointer: back.as_mut_ptr().cast(), ..linear });
    box_.kind = TO_HOST;
    done!(cudaMemcpy3D(&box_ => *const Box3));
    assert_eq!(back, host[..]);
    // The second slice alone, as a batch of CUDA 13 copies it.
    box_.from_position = Extent(4, 1, 1);
    box_.extent = Extent(4, 1, 2);
    back = [0; 12];
    done!(cudaMemcpy3D(&box_ => *const Box3));
    assert_eq!((back[0], back[4]), (7, 11));
    done!(cudaFree(device.pointer => *mut c_void));
    done!(cudaFree(rows => *mut c_void));
}

/// Count what the callbacks of streams and the functions of graphs are given.
static CALLED: AtomicUsize = AtomicUsize::new(0);
static CALLED_BY_GRAPH: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn function_of_graph(data: *mut c_void) {
    CALLED_BY_GRAPH.fetch_add(data.addr(), Ordering::SeqCst);
}

unsafe extern "C" fn stream_callback(_stream: Stream, status: c_int, data: *mut c_void) {
    assert_eq!(status, 0);
    CALLED.fetch_add(data.addr(), Ordering::SeqCst);
}

unsafe extern "C" fn host_function(data: *mut c_void) {
    CALLED.fetch_add(data.addr(), Ordering::SeqCst);
}

type StreamCallback = unsafe extern "C" fn(Stream, c_int, *mut c_void);
type HostFunction = unsafe extern "C" fn(*mut c_void);

#[test]
fn streams_events_and_callbacks() {
    let program = program();
    let (mut stream, mut start, mut end) = (null_mut(), null_mut(), null_mut());
    done!(cudaStreamCreateWithFlags(&mut stream => *mut Stream, 1 => c_uint));
    done!(cudaEventCreate(&mut start => *mut *mut c_void));
    done!(cudaEventCreateWithFlags(&mut end => *mut *mut c_void, 0 => c_uint));
    let out = allocate(128);
    done!(cudaEventRecord(start => *mut c_void, stream => Stream));
    assert_eq!(fill(&program, out, 1, 32, stream), 0);
    done!(cudaStreamAddCallback(
        stream => Stream, stream_callback => StreamCallback, std::ptr::without_provenance_mut(1) => *mut c_void, 0 => c_uint
    ));
    done!(cudaLaunchHostFunc(
        stream => Stream, host_function => HostFunction, std::ptr::without_provenance_mut(10) => *mut c_void
    ));
    done!(cudaEventRecord(end => *mut c_void, stream => Stream));
    done!(cudaStreamSynchronize(stream => Stream));
    assert_eq!(CALLED.load(Ordering::SeqCst), 11);
    // A program may wait for such a function by means of its own.
    done!(cudaLaunchHostFunc(
        stream => Stream, host_function => HostFunction, std::ptr::without_provenance_mut(100) => *mut c_void
    ));
    let begin = std::time::Instant::now();
    while CALLED.load(Ordering::SeqCst) != 111 {
        assert!(begin.elapsed().as_secs() < 60, "nobody calls the function");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    done!(cudaStreamSynchronize(stream => Stream));
    done!(cudaStreamQuery(stream => Stream));
    done!(cudaEventQuery(end => *mut c_void));
    let mut milliseconds = -1.0;
    done!(cudaEventElapsedTime(&mut milliseconds => *mut f32, start => *mut c_void, end => *mut c_void));
    assert!(milliseconds > 0.0, "{milliseconds}");
    let flags = call!(cudaStreamAddCallback(
        stream => Stream, stream_callback => StreamCallback, null_mut() => *mut c_void, 1 => c_uint
    ));
    assert_eq!(flags, 1, "the flags are for later");
    done!(cudaEventDestroy(start => *mut c_void));
    done!(cudaEventDestroy(end => *mut c_void));
    done!(cudaStreamDestroy(stream => Stream));
    assert_eq!(call!(cudaStreamDestroy(null_mut() => Stream)), 400, "the default one is nobody's");
    done!(cudaFree(out => *mut c_void));
}

#[test]
fn the_threads_own_stream_is_stream_0_of_the_functions_that_end_so() {
    let program = program();
    let out = allocate(128);
    let (mut out_argument, mut factor) = (out, 2u32);
    let mut arguments: [*mut c_void; 2] =
        [(&raw mut out_argument).cast(), (&raw mut factor).cast()];
    done!(cudaLaunchKernel_ptsz(
        program.fill => *const c_void, Dim3(1, 1, 1) => Dim3, Dim3(32, 1, 1) => Dim3,
        arguments.as_mut_ptr() => *mut *mut c_void, 0 => usize, null_mut() => Stream
    ));
    let mut back = [0u32; 32];
    done!(cudaMemcpyAsync_ptsz(
        back.as_mut_ptr() => *mut u32, out => *const c_void, 128 => usize, TO_HOST => c_int, null_mut() => Stream
    ));
    done!(cudaStreamSynchronize_ptsz(null_mut() => Stream));
    assert_eq!(back[31], 2 * 2 + 31);
    done!(cudaMemset_ptds(out => *mut c_void, 0 => c_int, 128 => usize));
    done!(cudaMemcpy_ptds(back.as_mut_ptr() => *mut u32, out => *const c_void, 128 => usize, TO_HOST => c_int));
    assert_eq!(back, [0; 32]);
    let (mut plain, mut own) = (0u64, 0u64);
    done!(cudaStreamGetId(null_mut() => Stream, &mut plain => *mut u64));
    done!(cudaStreamGetId_ptsz(null_mut() => Stream, &mut own => *mut u64));
    assert_ne!(plain, own);
    done!(cudaFree(out => *mut c_void));
}

/// `cudaKernelNodeParams`.
#[repr(C)]
struct KernelNode {
    function: *const c_void,
    grid: Dim3,
    block: Dim3,
    shared: c_uint,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
}

/// `cudaMemsetParams`.
#[repr(C)]
struct FillNode {
    target: *mut c_void,
    pitch: usize,
    value: c_uint,
    element: c_uint,
    width: usize,
    height: usize,
}

type Graph = *mut c_void;
type Node = *mut c_void;

fn run(graph: Graph) {
    let mut executable = null_mut();
    done!(cudaGraphInstantiate(&mut executable => *mut *mut c_void, graph => Graph, 0 => u64));
    done!(cudaGraphLaunch(executable => *mut c_void, null_mut() => Stream));
    done!(cudaDeviceSynchronize());
    done!(cudaGraphExecDestroy(executable => *mut c_void));
}

#[test]
fn captures_become_graphs() {
    let program = program();
    let (mut stream, mut graph, out) = (null_mut(), null_mut(), allocate(128));
    done!(cudaStreamCreate(&mut stream => *mut Stream));
    let mut back = [0u32; 32];
    done!(cudaStreamBeginCapture(stream => Stream, 0 => c_int));
    assert_eq!(fill(&program, out, 5, 32, stream), 0);
    done!(cudaMemcpyAsync(
        back.as_mut_ptr() => *mut u32, out => *const c_void, 128 => usize, TO_HOST => c_int, stream => Stream
    ));
    let mut status = 9u32;
    done!(cudaStreamIsCapturing(stream => Stream, &mut status => *mut u32));
    assert_eq!(status, 1);
    let mut mode = 2u32;
    done!(cudaThreadExchangeStreamCaptureMode(&mut mode => *mut u32));
    assert_eq!(mode, 0, "the mode of a thread begins as global");
    done!(cudaThreadExchangeStreamCaptureMode(&mut mode => *mut u32));
    assert_eq!(mode, 2);
    done!(cudaStreamEndCapture(stream => Stream, &mut graph => *mut Graph));
    assert_eq!(back, [0; 32], "nothing has run");
    let mut count = 0usize;
    done!(cudaGraphGetNodes(graph => Graph, null_mut() => *mut Node, &mut count => *mut usize));
    assert_eq!(count, 2);
    run(graph);
    assert_eq!(back[31], 5 * 2 + 31);
    done!(cudaGraphDestroy(graph => Graph));
    done!(cudaStreamDestroy(stream => Stream));
    done!(cudaFree(out => *mut c_void));
}

#[test]
fn graphs_are_built_node_by_node() {
    let program = program();
    let (mut graph, out) = (null_mut(), allocate(128));
    let (mut clear, mut first, mut back_node) = (null_mut(), null_mut(), null_mut());
    done!(cudaGraphCreate(&mut graph => *mut Graph, 0 => c_uint));
    let zero = FillNode { target: out, pitch: 0, value: 7, element: 4, width: 32, height: 1 };
    done!(cudaGraphAddMemsetNode(
        &mut clear => *mut Node, graph => Graph, null() => *const Node, 0 => usize, &zero => *const FillNode
    ));
    let (mut out_argument, mut factor) = (out, 4u32);
    let mut arguments: [*mut c_void; 2] =
        [(&raw mut out_argument).cast(), (&raw mut factor).cast()];
    let mut node = KernelNode {
        function: program.fill,
        grid: Dim3(1, 1, 1),
        block: Dim3(16, 1, 1),
        shared: 0,
        parameters: arguments.as_mut_ptr(),
        extra: null_mut(),
    };
    done!(cudaGraphAddKernelNode(
        &mut first => *mut Node, graph => Graph, &clear => *const Node, 1 => usize, &node => *const KernelNode
    ));
    let mut back = [0u32; 32];
    done!(cudaGraphAddMemcpyNode1D(
        &mut back_node => *mut Node, graph => Graph, &first => *const Node, 1 => usize, back.as_mut_ptr() => *mut u32,
        out => *const c_void, 128 => usize, TO_HOST => c_int
    ));
    run(graph);
    assert_eq!((back[15], back[16]), (4 * 2 + 15, 7));

    // The kernel is named as the program names it.
    node.function = null();
    done!(cudaGraphKernelNodeGetParams(first => Node, &mut node => *mut KernelNode));
    assert_eq!((node.function, node.block.0), (program.fill, 16));
    let mut kind = 9u32;
    done!(cudaGraphNodeGetType(back_node => Node, &mut kind => *mut u32));
    assert_eq!(kind, 1);
    // Other parameters, of the graph and of what is made of it.
    let mut others = [6u32, 8];
    arguments[1] = (&raw mut others[0]).cast();
    node.parameters = arguments.as_mut_ptr();
    done!(cudaGraphKernelNodeSetParams(first => Node, &node => *const KernelNode));
    let mut executable = null_mut();
    done!(cudaGraphInstantiateWithFlags(&mut executable => *mut *mut c_void, graph => Graph, 0 => u64));
    let launched = || {
        done!(cudaGraphLaunch(executable => *mut c_void, null_mut() => Stream));
        done!(cudaDeviceSynchronize());
    };
    launched();
    assert_eq!(back[0], 12);
    arguments[1] = (&raw mut others[1]).cast();
    node.parameters = arguments.as_mut_ptr();
    done!(cudaGraphExecKernelNodeSetParams(
        executable => *mut c_void, first => Node, &node => *const KernelNode
    ));
    launched();
    assert_eq!(back[0], 16);

    // A clone has nodes of its own; an update takes the graph's.
    let (mut clone, mut found) = (null_mut(), null_mut());
    done!(cudaGraphClone(&mut clone => *mut Graph, graph => Graph));
    done!(cudaGraphNodeFindInClone(&mut found => *mut Node, first => Node, clone => Graph));
    assert_ne!(found, first);
    let mut result = [9usize; 3];
    done!(cudaGraphExecUpdate(executable => *mut c_void, graph => Graph, &mut result => *mut [usize; 3]));
    launched();
    assert_eq!((back[0], result[0] as u32), (12, 0));

    // The parameters of the other nodes, as they were given.
    let mut fill_node = FillNode { target: null_mut(), value: 0, ..zero };
    done!(cudaGraphMemsetNodeGetParams(clear => Node, &mut fill_node => *mut FillNode));
    assert_eq!((fill_node.target, fill_node.value, fill_node.width), (out, 7, 32));
    // SAFETY: all zeros are one.
    let mut copied: Box3 = unsafe { std::mem::zeroed() };
    done!(cudaGraphMemcpyNodeGetParams(back_node => Node, &mut copied => *mut Box3));
    let ends = (copied.from.pointer, copied.to.pointer, copied.extent.0, copied.kind);
    assert_eq!(ends, (out, back.as_mut_ptr().cast(), 128, TO_HOST));

    // Edges, with what CUDA 13 says of their kind.
    let (mut from, mut to, mut kinds, mut count) =
        ([null_mut(); 4], [null_mut(); 4], [1u64; 4], 4usize);
    done!(cudaGraphGetEdges(
        graph => Graph, from.as_mut_ptr() => *mut Node, to.as_mut_ptr() => *mut Node, kinds.as_mut_ptr() => *mut u64,
        &mut count => *mut usize
    ));
    assert_eq!((count, from[0], to[0], kinds[0]), (2, clear, first, 0));
    done!(cudaGraphRemoveDependencies(
        graph => Graph, &clear => *const Node, &first => *const Node, null() => *const u64, 1 => usize
    ));
    let again = call!(cudaGraphRemoveDependencies(
        graph => Graph, &clear => *const Node, &first => *const Node, null() => *const u64, 1 => usize
    ));
    assert_eq!(again, 1, "there is no such edge any more");
    done!(cudaGraphAddDependencies(
        graph => Graph, &clear => *const Node, &first => *const Node, kinds.as_ptr() => *const u64, 1 => usize
    ));

    // A node of any kind, by CUDA 13's function.
    let mut any = [0u64; 32];
    (any[0], any[2], any[3]) = (3, function_of_graph as *const () as u64, 100);
    let mut host = null_mut();
    done!(cudaGraphAddNode(
        &mut host => *mut Node, graph => Graph, &first => *const Node, null() => *const u64, 1 => usize,
        any.as_mut_ptr() => *mut u64
    ));
    let mut host_node = [0usize; 2];
    done!(cudaGraphHostNodeGetParams(host => Node, host_node.as_mut_ptr() => *mut usize));
    assert_eq!(host_node, [function_of_graph as *const () as usize, 100]);
    run(graph);
    assert_eq!(CALLED_BY_GRAPH.load(Ordering::SeqCst), 100);
    done!(cudaGraphExecDestroy(executable => *mut c_void));
    done!(cudaGraphDestroy(clone => Graph));
    done!(cudaGraphDestroy(graph => Graph));
    done!(cudaFree(out => *mut c_void));
}

#[test]
fn the_last_error_is_that_of_the_thread_until_it_is_asked_for() {
    std::thread::spawn(|| {
        let program = program();
        assert_eq!((last_error(), call!(cudaPeekAtLastError())), (0, 0));
        // A failed launch configuration.
        assert_eq!(launch(program.bump, [1, 2048], null_mut(), &mut []), 9);
        assert_eq!(launch(program.bump, [0, 1], null_mut(), &mut []), 9);
        assert_eq!(call!(cudaPeekAtLastError()), 9);
        // A success does not clear it, and another thread has none.
        done!(cudaDeviceSynchronize());
        assert_eq!(std::thread::spawn(last_error).join().unwrap(), 0);
        assert_eq!(call!(cudaPeekAtLastError()), 9);
        assert_eq!((last_error(), last_error()), (9, 0));
        // The later of two.
        assert_eq!(call!(cudaSetDevice(99 => c_int)), 101);
        assert_eq!(copy(null_mut(), null(), 1, 77), 21);
        assert_eq!((last_error(), last_error()), (21, 0));
        assert_eq!(launch(null(), [1, 1], null_mut(), &mut []), 98);
        assert_eq!(last_error(), 98);
        let name = call!(cudaGetErrorName(98 => c_int) -> *const c_char);
        // SAFETY: the call gives a text that lives as long as the library.
        assert_eq!(unsafe { CStr::from_ptr(name) }, c"cudaErrorInvalidDeviceFunction");
    })
    .join()
    .expect("the thread ends well");
}

#[test]
fn kernels_that_are_none_are_refused() {
    let program = program();
    // Registered twice, the later one holds, as for a library that is closed and opened again.
    let host: *const c_void = kernel(program.handle, c"fill");
    register_kernel(program.handle, host, c"bump");
    assert_eq!(launch(host, [1, 1], null_mut(), &mut []), 0);
    // Of a name that the fat binary lacks, of a fat binary that is none, and of nothing at all.
    assert_eq!(launch(kernel(program.handle, c"no_such"), [1, 1], null_mut(), &mut []), 98);
    let never = 0u8;
    assert_eq!(launch((&raw const never).cast(), [1, 1], null_mut(), &mut []), 98);
    assert_eq!(launch(runtime as *const c_void, [1, 1], null_mut(), &mut []), 98);
    let damaged = register(vec![0x1234_5678_9abc_def0; 16]);
    let code = launch(kernel(damaged, c"fill"), [1, 1], null_mut(), &mut []);
    assert!([98, 200].contains(&code), "{code}");
    let mut cut = fat_text(PTX);
    cut[3] = u64::MAX / 2;
    let code = launch(kernel(register(cut), c"fill"), [1, 1], null_mut(), &mut []);
    assert!([98, 200, 209].contains(&code), "{code}");
    let code =
        launch(kernel(register(fat_text("this is no PTX")), c"fill"), [1, 1], null_mut(), &mut []);
    assert_eq!(code, 218);
    last_error();
}

#[test]
fn a_fat_binary_without_ptx_is_told_once_with_its_cure() {
    let errors = well("inner_machine_code", &[]);
    let cure = "-gencode arch=compute_90,code=compute_90";
    assert_eq!(errors.matches(cure).count(), 1, "{errors}");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_machine_code() {
    let kernel = kernel(register(fat_binary(&[(2, 90, b"\x7fELF machine code")])), c"fill");
    for _ in 0..3 {
        assert_eq!(launch(kernel, [1, 1], null_mut(), &mut []), 209);
    }
    assert_eq!(last_error(), 209);
}

#[test]
fn a_list_of_fat_binaries_is_linked() {
    let head = ".version 7.0\n.target sm_70\n.address_size 64\n";
    let callee = format!("{head}.visible .global .align 4 .u32 linked = 3;\n");
    let caller = format!(
        "{head}.extern .global .align 4 .u32 linked;\n.visible .entry add() {{ .reg .b32 %r<3>; \
         ld.global.u32 %r1, [linked]; add.u32 %r1, %r1, 4; st.global.u32 [linked], %r1; ret; }}\n"
    );
    let leaked = |fat: Vec<u64>| fat.leak().as_ptr();
    // What nvcc links of PTX alone is nothing, and it adds its device runtime, whose PTX is for newer devices.
    let newer = fat_binary(&[(2, 90, b"\x7fELF"), (1, 121, b".version 9.0\0")]);
    let list = [leaked(fat_text(&callee)), leaked(fat_text(&caller)), leaked(newer), null()];
    let wrapper = Wrapper {
        magic: 0x4662_43b1,
        version: 2,
        fat: leaked(fat_binary(&[])),
        to_link: Box::leak(Box::new(list)).as_ptr(),
    };
    let handle = register_wrapper(wrapper);
    let (add, linked) = (kernel(handle, c"add"), variable(handle, c"linked", 4));
    assert_eq!(launch(add, [1, 1], null_mut(), &mut []), 0);
    let mut value = 0u32;
    done!(cudaMemcpyFromSymbol(
        &mut value => *mut u32, linked => *const c_void, 4 => usize, 0 => usize, TO_HOST => c_int
    ));
    assert_eq!(value, 7);
    // Closed again, its kernel is none any more.
    call!(__cudaUnregisterFatBinary(handle => *mut c_void) -> ());
    assert_eq!(launch(add, [1, 1], null_mut(), &mut []), 98);
    last_error();
}

#[test]
fn pointers_of_the_wrong_side_are_errors_or_right() {
    well("inner_wrong_side", &[]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_wrong_side() {
    let device = allocate(64);
    let mut host = [1u32; 16];
    let host_pointer: *mut c_void = host.as_mut_ptr().cast();
    // A device pointer as the host's, in either direction, and the host's as the device's.
    for (to, from, kind) in [
        (device, device.cast_const(), TO_HOST),
        (device, device.cast_const(), TO_DEVICE),
        (host_pointer, host_pointer.cast_const(), TO_DEVICE),
        (host_pointer, host_pointer.cast_const(), TO_HOST),
        (host_pointer, host_pointer.cast_const(), ON_DEVICE),
        (device, host_pointer.cast_const(), TO_HOST),
        (host_pointer, device.cast_const(), TO_DEVICE),
        (device, host_pointer.cast_const(), ON_DEVICE),
    ] {
        let code = copy(to, from, 64, kind);
        assert!([0, 1, 700].contains(&code), "{code} for {kind}");
    }
    let code = call!(cudaMemset(host_pointer => *mut c_void, 0 => c_int, 64 => usize));
    assert_eq!(code, 1, "a fill of the host's memory");
    assert_eq!(call!(cudaFree(host_pointer => *mut c_void)), 1);
    assert_eq!(call!(cudaFreeHost(device => *mut c_void)), 1);
    // A kernel that writes to the host's memory, as the driver knows.
    let program = program();
    done!(cudaFree(null_mut() => *mut c_void));
    let code = fill(&program, host_pointer, 1, 16, null_mut());
    let after = call!(cudaDeviceSynchronize());
    assert!(code == 700 || after == 700, "{code} {after}");
    assert_eq!(call!(cudaFree(null_mut() => *mut c_void)), 700, "an H200 answers so, too");
    assert_eq!(host, [1; 16]);
}

#[test]
fn each_of_two_devices_has_its_own() {
    well("inner_two_devices", &[("COALESCE_DEVICE", "virtual:h100x2")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_two_devices() {
    let program = program();
    let mut count = 0;
    done!(cudaGetDeviceCount(&mut count => *mut c_int));
    assert_eq!(count, 2);
    let mut places = [null_mut(); 2];
    for device in [0, 1] {
        done!(cudaSetDevice(device => c_int));
        let value = [100 * device.cast_unsigned()];
        done!(cudaMemcpyToSymbol(
            program.table => *const c_void, value.as_ptr() => *const u32, 4 => usize, 0 => usize, TO_DEVICE => c_int
        ));
        places[device as usize] = allocate(128);
        assert_eq!(fill(&program, places[device as usize], 1, 32, null_mut()), 0);
    }
    for device in [0, 1] {
        done!(cudaSetDevice(device => c_int));
        assert_eq!(read(places[device as usize], 1), [100 * device.cast_unsigned() + 2]);
    }
    done!(cudaMemcpyPeer(
        places[0] => *mut c_void, 0 => c_int, places[1] => *const c_void, 1 => c_int, 128 => usize
    ));
    assert_eq!(read(places[0], 1), [102]);
    let mut can = 0;
    done!(cudaDeviceCanAccessPeer(&mut can => *mut c_int, 0 => c_int, 1 => c_int));
    assert_eq!(can, 1);
    done!(cudaDeviceEnablePeerAccess(0 => c_int, 0 => c_uint));
    assert_eq!(call!(cudaDeviceEnablePeerAccess(0 => c_int, 0 => c_uint)), 704, "it is enabled");
    assert_eq!(call!(cudaDeviceEnablePeerAccess(1 => c_int, 0 => c_uint)), 101, "it is itself");
    assert_eq!(call!(cudaSetDevice(2 => c_int)), 101);
    let mut device = 9;
    done!(cudaGetDevice(&mut device => *mut c_int));
    assert_eq!(device, 1);
    // Another thread begins with the first.
    std::thread::spawn(|| {
        let mut device = 9;
        done!(cudaGetDevice(&mut device => *mut c_int));
        assert_eq!(device, 0);
    })
    .join()
    .expect("it ends well");
}

#[test]
fn a_reset_device_begins_anew() {
    well("inner_reset", &[]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_reset() {
    let program = program();
    for _ in 0..3 {
        let mut counter = [9u32, 9];
        done!(cudaMemcpyFromSymbol(
            counter.as_mut_ptr() => *mut u32, program.counter => *const c_void, 8 => usize, 0 => usize, TO_HOST => c_int
        ));
        assert_eq!(counter, [1, 2], "the variables are as the program has them");
        done!(cudaMemcpyToSymbol(
            program.counter => *const c_void, [7u32, 7].as_ptr() => *const u32, 8 => usize, 0 => usize, TO_DEVICE => c_int
        ));
        let out = allocate(128);
        assert_eq!(fill(&program, out, 2, 32, null_mut()), 0);
        assert_eq!(read(out, 1), [14]);
        let mut stream = null_mut();
        done!(cudaStreamCreate(&mut stream => *mut Stream));
        done!(cudaDeviceReset());
        assert_ne!(copy(out, out, 4, ON_DEVICE), 0, "it was freed");
        assert_ne!(call!(cudaStreamSynchronize(stream => Stream)), 0, "it was destroyed");
        last_error();
    }
}

#[test]
fn a_child_of_a_program_that_uses_a_device_has_none() {
    well("inner_fork", &[]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_fork() {
    let program = program();
    let in_a_child = |work: &dyn Fn() -> c_int| {
        // SAFETY: the child calls the runtime and `_exit`; its parent waits for it.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::alarm(20);
                libc::_exit(work());
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            if libc::WIFEXITED(status) {
                libc::WEXITSTATUS(status)
            } else {
                -libc::WTERMSIG(status)
            }
        }
    };
    let use_it = || {
        let mut place = null_mut();
        let code = call!(cudaMalloc(&mut place => *mut *mut c_void, 128 => usize));
        if code == 0 { fill(&program, place, 1, 32, null_mut()) } else { code }
    };
    assert_eq!(in_a_child(&use_it), 0, "a child may use what its parent has not");
    assert_eq!(use_it(), 0);
    assert_eq!(in_a_child(&use_it), 3, "cudaErrorInitializationError");
    assert_eq!(use_it(), 0);
}

#[test]
fn the_functions_answer_before_anything_is_registered() {
    well("inner_unregistered", &[]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_unregistered() {
    assert_eq!(last_error(), 0);
    let mut version = 0;
    done!(cudaRuntimeGetVersion(&mut version => *mut c_int));
    assert_eq!(version, 13_000);
    assert_eq!(launch((&raw const version).cast(), [1, 1], null_mut(), &mut []), 98);
    let mut bytes = 0usize;
    assert_eq!(
        call!(cudaGetSymbolSize(&mut bytes => *mut usize, &raw const version => *const c_int)),
        13
    );
    let place = allocate(64);
    done!(cudaFree(place => *mut c_void));
    let popped = call!(__cudaPopCallConfiguration(
        null_mut() => *mut Dim3, null_mut() => *mut Dim3, null_mut() => *mut usize, null_mut() => *mut Stream
    ));
    assert_eq!(popped, 52, "no configuration was pushed");
}

/// Runs an ignored test over the runtime of each version, which it has by its name.
fn with_each_version(inner: &str) {
    let folder = std::env::temp_dir().join(format!("coalesce-{inner}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for two names");
    for version in ["12", "13"] {
        let name = folder.join(format!("libcudart.so.{version}"));
        symlink(path("libvirtual_libcudart.so"), &name).expect("a link in a folder of our own");
        let name = name.to_str().expect("the folder's name is UTF-8");
        well(inner, &[("RUNTIME_OF_TEST", name), ("VERSION_OF_TEST", version)]);
    }
    fs::remove_dir_all(&folder).expect("the folder is ours");
}

/// The fields of a device's properties (`cudaDeviceProp`) that are attributes: where CUDA 12 and 13 have them (0 for not at
/// all), their bytes, and the attribute's number. A compiler of C has made the numbers of NVIDIA's two headers.
#[rustfmt::skip]
const FIELDS: &[(&str, usize, usize, usize, c_int)] = &[
    ("sharedMemPerBlock", 296, 296, 8, 8),
    ("regsPerBlock", 304, 304, 4, 12),
    ("warpSize", 308, 308, 4, 10),
    ("memPitch", 312, 312, 8, 11),
    ("maxThreadsPerBlock", 320, 320, 4, 1),
    ("maxThreadsDim", 324, 324, 4, 2),
    ("maxThreadsDim", 328, 328, 4, 3),
    ("maxThreadsDim", 332, 332, 4, 4),
    ("maxGridSize", 336, 336, 4, 5),
    ("maxGridSize", 340, 340, 4, 6),
    ("maxGridSize", 344, 344, 4, 7),
    ("clockRate", 348, 0, 4, 13),
    ("totalConstMem", 352, 352, 8, 9),
    ("major", 360, 360, 4, 75),
    ("minor", 364, 364, 4, 76),
    ("textureAlignment", 368, 368, 8, 14),
    ("texturePitchAlignment", 376, 376, 8, 51),
    ("deviceOverlap", 384, 0, 4, 15),
    ("multiProcessorCount", 388, 384, 4, 16),
    ("kernelExecTimeoutEnabled", 392, 0, 4, 17),
    ("integrated", 396, 388, 4, 18),
    ("canMapHostMemory", 400, 392, 4, 19),
    ("computeMode", 404, 0, 4, 20),
    ("maxTexture1D", 408, 396, 4, 21),
    ("maxTexture1DMipmap", 412, 400, 4, 77),
    ("maxTexture1DLinear", 416, 0, 4, 69),
    ("maxTexture2D", 420, 404, 4, 22),
    ("maxTexture2D", 424, 408, 4, 23),
    ("maxTexture2DMipmap", 428, 412, 4, 73),
    ("maxTexture2DMipmap", 432, 416, 4, 74),
    ("maxTexture2DLinear", 436, 420, 4, 70),
    ("maxTexture2DLinear", 440, 424, 4, 71),
    ("maxTexture2DLinear", 444, 428, 4, 72),
    ("maxTexture2DGather", 448, 432, 4, 45),
    ("maxTexture2DGather", 452, 436, 4, 46),
    ("maxTexture3D", 456, 440, 4, 24),
    ("maxTexture3D", 460, 444, 4, 25),
    ("maxTexture3D", 464, 448, 4, 26),
    ("maxTexture3DAlt", 468, 452, 4, 47),
    ("maxTexture3DAlt", 472, 456, 4, 48),
    ("maxTexture3DAlt", 476, 460, 4, 49),
    ("maxTextureCubemap", 480, 464, 4, 52),
    ("maxTexture1DLayered", 484, 468, 4, 42),
    ("maxTexture1DLayered", 488, 472, 4, 43),
    ("maxTexture2DLayered", 492, 476, 4, 27),
    ("maxTexture2DLayered", 496, 480, 4, 28),
    ("maxTexture2DLayered", 500, 484, 4, 29),
    ("maxTextureCubemapLayered", 504, 488, 4, 53),
    ("maxTextureCubemapLayered", 508, 492, 4, 54),
    ("maxSurface1D", 512, 496, 4, 55),
    ("maxSurface2D", 516, 500, 4, 56),
    ("maxSurface2D", 520, 504, 4, 57),
    ("maxSurface3D", 524, 508, 4, 58),
    ("maxSurface3D", 528, 512, 4, 59),
    ("maxSurface3D", 532, 516, 4, 60),
    ("maxSurface1DLayered", 536, 520, 4, 61),
    ("maxSurface1DLayered", 540, 524, 4, 62),
    ("maxSurface2DLayered", 544, 528, 4, 63),
    ("maxSurface2DLayered", 548, 532, 4, 64),
    ("maxSurface2DLayered", 552, 536, 4, 65),
    ("maxSurfaceCubemap", 556, 540, 4, 66),
    ("maxSurfaceCubemapLayered", 560, 544, 4, 67),
    ("maxSurfaceCubemapLayered", 564, 548, 4, 68),
    ("surfaceAlignment", 568, 552, 8, 30),
    ("concurrentKernels", 576, 560, 4, 31),
    ("ECCEnabled", 580, 564, 4, 32),
    ("pciBusID", 584, 568, 4, 33),
    ("pciDeviceID", 588, 572, 4, 34),
    ("pciDomainID", 592, 576, 4, 50),
    ("tccDriver", 596, 580, 4, 35),
    ("asyncEngineCount", 600, 584, 4, 40),
    ("unifiedAddressing", 604, 588, 4, 41),
    ("memoryClockRate", 608, 0, 4, 36),
    ("memoryBusWidth", 612, 592, 4, 37),
    ("l2CacheSize", 616, 596, 4, 38),
    ("persistingL2CacheMaxSize", 620, 600, 4, 108),
    ("maxThreadsPerMultiProcessor", 624, 604, 4, 39),
    ("streamPrioritiesSupported", 628, 608, 4, 78),
    ("globalL1CacheSupported", 632, 612, 4, 79),
    ("localL1CacheSupported", 636, 616, 4, 80),
    ("sharedMemPerMultiprocessor", 640, 624, 8, 81),
    ("regsPerMultiprocessor", 648, 632, 4, 82),
    ("managedMemory", 652, 636, 4, 83),
    ("isMultiGpuBoard", 656, 640, 4, 84),
    ("multiGpuBoardGroupID", 660, 644, 4, 85),
    ("hostNativeAtomicSupported", 664, 648, 4, 86),
    ("singleToDoublePrecisionPerfRatio", 668, 0, 4, 87),
    ("pageableMemoryAccess", 672, 652, 4, 88),
    ("concurrentManagedAccess", 676, 656, 4, 89),
    ("computePreemptionSupported", 680, 660, 4, 90),
    ("canUseHostPointerForRegisteredMem", 684, 664, 4, 91),
    ("cooperativeLaunch", 688, 668, 4, 95),
    ("cooperativeMultiDeviceLaunch", 692, 0, 4, 96),
    ("sharedMemPerBlockOptin", 696, 672, 8, 97),
    ("pageableMemoryAccessUsesHostPageTables", 704, 680, 4, 100),
    ("directManagedMemAccessFromHost", 708, 684, 4, 101),
    ("maxBlocksPerMultiProcessor", 712, 688, 4, 106),
    ("accessPolicyMaxWindowSize", 716, 692, 4, 109),
    ("reservedSharedMemPerBlock", 720, 696, 8, 111),
    ("hostRegisterSupported", 728, 704, 4, 99),
    ("sparseCudaArraySupported", 732, 708, 4, 112),
    ("hostRegisterReadOnlySupported", 736, 712, 4, 113),
    ("timelineSemaphoreInteropSupported", 740, 716, 4, 114),
    ("memoryPoolsSupported", 744, 720, 4, 115),
    ("gpuDirectRDMASupported", 748, 724, 4, 116),
    ("gpuDirectRDMAFlushWritesOptions", 752, 728, 4, 117),
    ("deviceNumaConfig", 0, 756, 4, 130),
    ("gpuDirectRDMAWritesOrdering", 756, 732, 4, 118),
    ("deviceNumaId", 0, 760, 4, 131),
    ("memoryPoolSupportedHandleTypes", 760, 736, 4, 119),
    ("mpsEnabled", 0, 764, 4, 133),
    ("deferredMappingCudaArraySupported", 764, 740, 4, 121),
    ("ipcEventSupported", 768, 744, 4, 125),
    ("hostNumaId", 0, 768, 4, 134),
    ("clusterLaunch", 772, 748, 4, 120),
    ("gpuPciDeviceID", 0, 772, 4, 139),
    ("gpuPciSubsystemID", 0, 776, 4, 140),
    ("hostNumaMultinodeIpcSupported", 0, 780, 4, 143),
];

#[test]
fn properties_are_laid_out_as_each_version_has_them() {
    with_each_version("inner_properties");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_properties() {
    let is_12 = std::env::var("VERSION_OF_TEST").as_deref() == Ok("12");
    let mut version = 0;
    done!(cudaRuntimeGetVersion(&mut version => *mut c_int));
    assert_eq!(version, if is_12 { 12_090 } else { 13_000 });
    let size = if is_12 { 1032 } else { 1008 };
    let mut bytes = vec![0xaau8; size + 8];
    let code = if is_12 {
        call!(cudaGetDeviceProperties_v2(bytes.as_mut_ptr() => *mut u8, 0 => c_int))
    } else {
        call!(cudaGetDeviceProperties(bytes.as_mut_ptr() => *mut u8, 0 => c_int))
    };
    assert_eq!((code, &bytes[size..]), (0, [0xaa; 8].as_slice()), "nothing is written behind it");
    let number = |at: usize, bytes_of: usize| {
        let bytes = bytes[at..at + bytes_of].iter().rev();
        bytes.fold(0u64, |number, byte| number << 8 | u64::from(*byte))
    };
    assert!(bytes.starts_with(b"NVIDIA"));
    let (mut free, mut total) = (0usize, 0usize);
    done!(cudaMemGetInfo(&mut free => *mut usize, &mut total => *mut usize));
    assert_eq!(number(288, 8), total as u64);
    for (name, of_12, of_13, bytes_of, attribute) in FIELDS {
        let at = if is_12 { *of_12 } else { *of_13 };
        let mut value = 0;
        let code = call!(cudaDeviceGetAttribute(&mut value => *mut c_int, *attribute => c_int, 0 => c_int));
        if at > 0 && code == 0 {
            assert_eq!(number(at, *bytes_of) as c_int, value, "{name}");
        }
    }
    let mut device = 9;
    done!(cudaChooseDevice(&mut device => *mut c_int, bytes.as_ptr() => *const u8));
    assert_eq!(device, 0);
}

#[test]
fn arguments_that_the_versions_hand_over_otherwise() {
    with_each_version("inner_arguments");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_arguments() {
    let is_12 = std::env::var("VERSION_OF_TEST").as_deref() == Ok("12");
    let mut managed = null_mut();
    done!(cudaMallocManaged(&mut managed => *mut *mut c_void, 4096 => usize, 1 => c_uint));
    let mut stream = null_mut();
    done!(cudaStreamCreate(&mut stream => *mut Stream));
    if is_12 {
        done!(cudaMemPrefetchAsync(managed => *mut c_void, 4096 => usize, 0 => c_int, stream => Stream));
        done!(cudaMemAdvise(managed => *mut c_void, 4096 => usize, 1 => c_int, -1 => c_int));
    } else {
        // A place is kind and number: 1 is a device, 2 the host.
        let place = 1u64;
        done!(cudaMemPrefetchAsync(
            managed => *mut c_void, 4096 => usize, place => u64, 0 => c_uint, stream => Stream
        ));
        done!(cudaMemAdvise(managed => *mut c_void, 4096 => usize, 1 => c_int, 2u64 => u64));
    }
    let (mut to, mut back) = (allocate(16), [0u32; 4]);
    let mut numbers = [1u32, 2, 3, 4];
    let mut from: *mut c_void = numbers.as_mut_ptr().cast();
    let (mut size, mut first, mut failed) = (16usize, 0usize, 0usize);
    let mut attributes = [1u32, 0, 0, 0, 0, 0];
    if is_12 {
        done!(cudaMemcpyBatchAsync(
            &mut to => *mut *mut c_void, &mut from => *mut *mut c_void, &mut size => *mut usize, 1 => usize,
            attributes.as_mut_ptr() => *mut u32, &mut first => *mut usize, 1 => usize, &mut failed => *mut usize,
            stream => Stream
        ));
    } else {
        done!(cudaMemcpyBatchAsync(
            &mut to => *mut *mut c_void, &mut from => *mut *mut c_void, &mut size => *mut usize, 1 => usize,
            attributes.as_mut_ptr() => *mut u32, &mut first => *mut usize, 1 => usize, stream => Stream
        ));
    }
    done!(cudaStreamSynchronize(stream => Stream));
    assert_eq!(copy(back.as_mut_ptr().cast(), to, 16, TO_HOST), 0);
    assert_eq!(back, numbers);
    let (mut graph, mut nodes) = (null_mut(), [null_mut(); 2]);
    done!(cudaGraphCreate(&mut graph => *mut Graph, 0 => c_uint));
    for node in &mut nodes {
        done!(cudaGraphAddEmptyNode(
            &raw mut *node => *mut Node, graph => Graph, null() => *const Node, 0 => usize
        ));
    }
    let mut count = 9usize;
    let [one, other] = &nodes;
    if is_12 {
        done!(cudaGraphAddDependencies(
            graph => Graph, &raw const *one => *const Node, &raw const *other => *const Node, 1 => usize
        ));
        done!(cudaGraphGetEdges(
            graph => Graph, null_mut() => *mut Node, null_mut() => *mut Node, &mut count => *mut usize
        ));
    } else {
        done!(cudaGraphAddDependencies(
            graph => Graph, &raw const *one => *const Node, &raw const *other => *const Node, null() => *const u64,
            1 => usize
        ));
        done!(cudaGraphGetEdges(
            graph => Graph, null_mut() => *mut Node, null_mut() => *mut Node, null_mut() => *mut u64,
            &mut count => *mut usize
        ));
    }
    assert_eq!(count, 1);
}

#[test]
fn what_a_program_leaves_allocated_is_reported_when_it_ends() {
    let errors = well("inner_leak", &[("COALESCE_FAIL_ON", "none"), ("COALESCE_CHECK", "all")]);
    assert!(errors.contains("1234 bytes of device memory"), "{errors}");
    let reset = errors.lines().find(|line| line.contains("777 bytes of device memory"));
    assert!(reset.is_some_and(|line| line.contains("before the device was reset")), "{errors}");
    assert!(errors.contains("4321 bytes of Pinned host memory"), "{errors}");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_leak() {
    let program = program();
    allocate(777);
    done!(cudaDeviceReset());
    let (out, mut pinned) = (allocate(1234), null_mut());
    done!(cudaMallocHost(&mut pinned => *mut *mut c_void, 4321 => usize));
    assert_eq!(fill(&program, out, 1, 32, null_mut()), 0);
    assert!(!pinned.is_null());
}

/// `cudaResourceDesc` of an array and of CUDA 12, where it ends; CUDA 13 has more.
#[repr(C)]
struct Resource {
    kind: c_uint,
    array: *mut c_void,
    unused: [u64; 6],
    behind: [u64; 11],
}

#[test]
fn textures_are_described_as_each_version_does() {
    with_each_version("inner_texture");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_texture() {
    let is_12 = std::env::var("VERSION_OF_TEST").as_deref() == Ok("12");
    // `cudaChannelFormatDesc` of one float.
    let channels = [32, 0, 0, 0, 2];
    let mut array = null_mut();
    done!(cudaMallocArray(
        &mut array => *mut *mut c_void, channels.as_ptr() => *const c_int, 8 => usize, 4 => usize, 0 => c_uint
    ));
    // One row needs no pitch, but none that is less than the row; two do.
    let numbers: [f32; 16] = std::array::from_fn(|index| index as f32);
    let copy = |pitch: usize, height: usize| {
        call!(cudaMemcpy2DToArray(
            array => *mut c_void, 0 => usize, 0 => usize, numbers.as_ptr() => *const f32, pitch => usize, 32 => usize,
            height => usize, 1 => c_int
        ))
    };
    assert_eq!([copy(0, 2), copy(16, 2), copy(16, 1), copy(0, 1)], [12, 12, 1, 0]);
    let mut back = [9f32; 8];
    done!(cudaMemcpy2DFromArray(
        back.as_mut_ptr() => *mut f32, 0 => usize, array => *mut c_void, 0 => usize, 0 => usize, 32 => usize, 1 => usize,
        2 => c_int
    ));
    assert_eq!(back, numbers[..8]);
    // What lies behind the structure of CUDA 12 is the program's, and is neither read nor written.
    let behind = if is_12 { 0x5555_5555_5555_5555 } else { 0 };
    let resource = Resource { kind: 0, array, unused: [0; 6], behind: [behind; 11] };
    let (texture, mut object) = ([0u32; 18], 0u64);
    done!(cudaCreateTextureObject(
        &mut object => *mut u64, &resource => *const Resource, texture.as_ptr() => *const u32, null() => *const c_void
    ));
    let marker = 0x7777_7777_7777_7777;
    let mut back = Resource { kind: 9, array: null_mut(), unused: [0; 6], behind: [marker; 11] };
    done!(cudaGetTextureObjectResourceDesc(&mut back => *mut Resource, object => u64));
    assert_eq!((back.kind, back.array), (0, array));
    assert_eq!(back.behind == [marker; 11], is_12);
    done!(cudaDestroyTextureObject(object => u64));
    done!(cudaFreeArray(array => *mut c_void));
}

#[test]
fn what_the_runtime_asks_for_an_answer_is_no_mistake_of_the_program() {
    assert_eq!(well("inner_questions", &[]), "");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_questions() {
    let program = program();
    // `cudaFuncAttributes`, `cudaDeviceProp`, `cudaPointerAttributes`.
    let (mut attributes, mut properties, mut of_pointer) = ([0u64; 18], [0u64; 126], [9u64; 11]);
    done!(cudaFuncGetAttributes(attributes.as_mut_ptr() => *mut u64, program.fill => *const c_void));
    assert_eq!(attributes[3] as u32, 1024, "threads of a block");
    done!(cudaGetDeviceProperties(properties.as_mut_ptr() => *mut u64, 0 => c_int));
    done!(cudaPointerGetAttributes(of_pointer.as_mut_ptr() => *mut u64, &program.fill => *const *const c_void));
    assert_eq!(of_pointer[0] as u32, 0, "memory that nobody registered");
    let out = allocate(64);
    done!(cudaPointerGetAttributes(of_pointer.as_mut_ptr() => *mut u64, out => *const c_void));
    assert_eq!((of_pointer[0], of_pointer[1]), (2, out.addr() as u64));
    let mut blocks = 0;
    done!(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &mut blocks => *mut c_int, program.fill => *const c_void, 256 => c_int, 0 => usize
    ));
    assert_eq!(blocks, 8);
    done!(cudaFree(out => *mut c_void));
    assert_eq!(last_error(), 0);
}

#[test]
fn a_call_that_the_runtime_refuses_is_a_mistake_of_the_program() {
    let told = well("inner_refusals", &[]);
    let expected = [
        "cudaLaunchKernel: a launch of 1 x 1 x 1 blocks of 2048 x 1 x 1 threads: the device takes 1 to ",
        "cudaLaunchKernel: a launch of 0 x 1 x 1 blocks of 32 x 1 x 1 threads: ",
        "cudaMemcpyToSymbol: 8 bytes from byte 12 on of a variable that has 16 ",
        "cudaMemcpy: there is no such direction of a copy ",
        // The driver lists what it refuses itself.
        "cuMemFree_v2: ",
    ];
    let found = expected.map(|text| told.matches(text).count());
    assert_eq!((found, told.lines().count()), ([1; 5], 5), "{told}");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_refusals() {
    let program = program();
    assert_eq!(launch(program.bump, [1, 2048], null_mut(), &mut []), 9);
    assert_eq!(launch(program.bump, [0, 32], null_mut(), &mut []), 9);
    assert_eq!(launch(program.bump, [1, 32], null_mut(), &mut []), 0);
    let values = [1u32; 4];
    let to_symbol = |bytes: usize, offset: usize| {
        call!(cudaMemcpyToSymbol(
            program.table => *const c_void, values.as_ptr().cast() => *const c_void, bytes => usize, offset => usize,
            TO_DEVICE => c_int
        ))
    };
    assert_eq!((to_symbol(8, 12), to_symbol(16, 0)), (1, 0));
    assert_eq!(copy(null_mut(), null(), 1, 77), 21);
    let wrong = std::ptr::without_provenance_mut(64);
    assert_eq!(call!(cudaFree(wrong => *mut c_void)), 1);
}

#[test]
fn a_record_has_what_memory_held_at_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("record");
    well("inner_record", &[("COALESCE_RECORD", file.to_str().expect("a path in UTF-8"))]);
    let words = |bytes: Vec<u8>| -> Vec<u64> {
        bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
    };
    // Number, bytes, kept bytes and content: the freed one first, then that of the end, which nobody wrote.
    let expected = [1, 16, 16, 37 << 32 | 36, 0, 0, 16, 16, 0, 0];
    assert_eq!(words(fs::read(file).expect("the program wrote it")), expected);
    well("inner_record", &[("COALESCE_RECORD", "")]);
    let nowhere = folder.path().join("nowhere/record");
    let output =
        elsewhere("inner_record", &[("COALESCE_RECORD", nowhere.to_str().expect("UTF-8"))]);
    let errors = String::from_utf8(output.stderr).expect("messages are UTF-8");
    assert!(
        output.status.code() == Some(1) && errors.contains("a file that can be written"),
        "{errors}"
    );
    #[cfg(target_os = "linux")]
    {
        let errors = well("inner_record", &[("COALESCE_RECORD", "/dev/full")]);
        assert_eq!(errors.matches("cannot write COALESCE_RECORD's file").count(), 1, "{errors}");
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn inner_record() {
    let program = program();
    let (_left, out) = (allocate(16), allocate(16));
    assert_eq!(fill(&program, out, 18, 2, null_mut()), 0);
    done!(cudaFree(out => *mut c_void));
}

#[test]
fn a_member_of_a_packed_structure_takes_a_result_and_is_no_structure() {
    let mut words = [0u32; 32];
    let place = (&raw mut words).cast::<u8>().wrapping_add(2);
    done!(cudaRuntimeGetVersion(place.cast() => *mut c_int));
    // SAFETY: the bytes are in the array.
    let version = unsafe { place.cast::<c_int>().read_unaligned() };
    assert!([12090, 13000].contains(&version), "{version}");
    assert_eq!(
        call!(cudaPointerGetAttributes(place.cast() => *mut c_void, place.cast() => *const c_void)),
        1
    );
}

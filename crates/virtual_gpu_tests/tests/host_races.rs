//! A host that touches memory which pending work uses: each mistake is found, and its correct twin is not accused.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod support;

use cuda_driver::ReturnCode;
use cuda_driver::api::*;
use cuda_driver::raw::{CUevent, CUstream};
use cust::context::Context;
use cust::memory::DeviceBuffer;
use cust::module::Module;
use cust_ext::host_memory::{HostBuffer, HostFlags, RegisteredBuffer};
use simt::Checks;
use std::io::Write;
use std::os::fd::FromRawFd;
use std::ptr::{from_mut, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use support::done;
use virtual_gpu::{Misuse, MisuseKind, Options, Order, Profile, misuse};

/// Words of a buffer: several pages.
const WORDS: usize = 8192;
const BYTES: usize = 4 * WORDS;
const HALF: usize = WORDS / 2;

/// `set` writes 1 to each thread's word, `tell` does and then says so in word 8191, and `read` only reads.
const KERNELS: [(&str, &str); 3] = [
    ("set", "st.global.u32 [%rd3], %r1;"),
    (
        "tell",
        "st.global.u32 [%rd3], %r1; fence.sc.sys; st.relaxed.sys.global.u32 [%rd1+32764], %r1;",
    ),
    ("read", "ld.global.u32 %r2, [%rd3];"),
];

static DEVICE: Mutex<()> = Mutex::new(());

struct Here {
    module: Module,
    streams: [CUstream; 2],
    event: CUevent,
    device: DeviceBuffer<u32>,
    _context: Context,
    _guard: MutexGuard<'static, ()>,
}

impl Here {
    fn new(order: Order) -> Here {
        let guard = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
        let options = Options { checks: Checks::all(), order, ..Options::default() };
        let context = support::open(Profile::named("h200").unwrap(), options);
        let mut streams = [null_mut(); 2];
        streams.iter_mut().for_each(|stream| done!(cuStreamCreate(from_mut(stream), 1)));
        let mut event = null_mut();
        done!(cuEventCreate(&mut event, 2));
        let here = Here {
            module: Module::from_ptx(support::ptx(&KERNELS), &[]).unwrap(),
            streams,
            event,
            device: DeviceBuffer::zeroed(WORDS).unwrap(),
            _context: context,
            _guard: guard,
        };
        done!(cuCtxSynchronize());
        misuse();
        here
    }

    fn pinned(&self) -> HostBuffer<u32> {
        HostBuffer::from_slice(&[7; WORDS], HostFlags::MAPPED).unwrap()
    }

    fn device(&self) -> u64 {
        self.device.as_device_ptr().as_raw()
    }

    /// Copies words to the host from the first on.
    fn download(&self, to: *mut u32, words: usize) {
        done!(cuMemcpyDtoHAsync_v2(to.cast(), self.device(), 4 * words, self.streams[0]));
    }

    fn upload(&self, from: *const u32, words: usize) {
        done!(cuMemcpyHtoDAsync_v2(self.device(), from.cast(), 4 * words, self.streams[0]));
    }

    fn launch(&self, kernel: &str, address: u64, threads: u32) {
        let function = self.module.get_function(kernel).unwrap();
        let mut address = address;
        let mut arguments = [from_mut(&mut address).cast()];
        let (blocks, function) = (threads.div_ceil(256), function.to_raw());
        let per_block = threads.min(256);
        done!(cuLaunchKernel(
            function,
            blocks,
            1,
            1,
            per_block,
            1,
            1,
            0,
            self.streams[0],
            arguments.as_mut_ptr(),
            null_mut()
        ));
    }

    fn wait(&self) {
        done!(cuStreamSynchronize(self.streams[0]));
    }

    /// Returns what was found in a part of the program, which ends by waiting for all.
    fn found(&self, part: impl FnOnce()) -> Vec<Misuse> {
        part();
        done!(cuCtxSynchronize());
        misuse()
    }
}

/// Reads a word as a program does, in this line: unoptimized, a function of the library's would be another place.
fn read(pointer: *const u32, word: usize) -> u32 {
    // SAFETY: the callers' buffers have the word. That a copy may write it meanwhile is what is tested: here it does not.
    std::hint::black_box(unsafe { *pointer.add(word) })
}

fn write(pointer: *mut u32, word: usize, value: u32) {
    // SAFETY: as for `read`.
    unsafe { *pointer.add(word) = value }
}

/// The host reads what `what` uses, and the line is told.
fn is_read(found: &[Misuse], what: &str) {
    let [Misuse { kind: MisuseKind::MissingOrder, message, location, .. }] = found else {
        panic!("{what}: {found:?}")
    };
    assert!(message.starts_with("the host reads memory at 0x"), "{message}");
    assert!(message.contains(&format!("before it has waited for {what}")), "{message}");
    let place = location.as_deref().unwrap_or_else(|| panic!("no line: {message}"));
    assert!(place.contains("host_races.rs:"), "{place}");
}

fn is_written(found: &[Misuse]) {
    let [Misuse { kind: MisuseKind::HostMemoryChanged, location: Some(place), .. }] = found else {
        panic!("{found:?}")
    };
    assert!(place.contains("host_races.rs:"), "{place}");
}

#[test]
fn a_copy_to_the_host_is_read_before_and_after_a_wait() {
    for order in [Order::Late, Order::Immediate, Order::Seeded(1)] {
        let here = Here::new(order);
        let mut host = here.pinned();
        let pointer = host.as_mut_ptr();
        let copy = "a copy of 32768 bytes";
        let early = here.found(|| {
            here.download(pointer, WORDS);
            read(pointer, 5);
        });
        is_read(&early, copy);
        let behind = here.found(|| {
            here.download(pointer, WORDS);
            here.wait();
            assert_eq!(read(pointer, 5), 0);
        });
        assert_eq!(behind, [], "{order:?}");
        // An event of the stream, and one of another stream, which says nothing.
        let event = |on: usize| {
            here.found(|| {
                here.download(pointer, WORDS);
                done!(cuEventRecord(here.event, here.streams[on]));
                done!(cuEventSynchronize(here.event));
                read(pointer, WORDS - 1);
            })
        };
        assert_eq!(event(0), [], "{order:?}");
        is_read(&event(1), copy);
        let polled = here.found(|| {
            here.download(pointer, WORDS);
            // SAFETY: the stream lives.
            while unsafe { cuStreamQuery(here.streams[0]) } != ReturnCode::SUCCESS {}
            read(pointer, 0);
        });
        assert_eq!(polled, [], "{order:?}");
        // What is read of a source is nobody's change, and a write is one.
        let source = |writes: bool| {
            here.found(|| {
                here.upload(pointer, WORDS);
                let value = read(pointer, 9);
                if writes {
                    write(pointer, 9, value + 1);
                }
            })
        };
        assert_eq!(source(false), [], "{order:?}");
        is_written(&source(true));
    }
}

#[test]
fn a_part_of_a_buffer_is_free_while_another_is_copied() {
    let here = Here::new(Order::Late);
    let (mut host, mut next) = (here.pinned(), here.pinned());
    let (pointer, next) = (host.as_mut_ptr(), next.as_mut_ptr());
    // SAFETY: a name of C, and a file that nobody else has.
    let mut file = unsafe { std::fs::File::from_raw_fd(libc::memfd_create(c"half".as_ptr(), 0)) };
    // A half that ends within a page, too.
    for copied in [HALF, HALF - 100] {
        let found = here.found(|| {
            here.download(pointer, copied);
            // SAFETY: these words are not copied.
            let rest =
                unsafe { std::slice::from_raw_parts(pointer.add(copied).cast::<u8>(), 4 * HALF) };
            file.write_all(rest).expect("the system may read it");
            read(pointer, copied);
            write(pointer, WORDS - 1, 1);
            write(next, 0, 1);
        });
        assert_eq!(found, [], "{copied}");
        let found = here.found(|| {
            here.download(pointer, copied);
            read(pointer, 1024);
        });
        is_read(&found, &format!("a copy of {} bytes", 4 * copied));
    }
    // Two halves by turns: one is copied while the other is read.
    let found = here.found(|| {
        for turn in 0..10 {
            // SAFETY: the halves of the buffer.
            let [now, before] =
                [turn, turn + 1].map(|turn| unsafe { pointer.add(turn % 2 * HALF) });
            here.download(now, HALF);
            read(before, 0);
            read(before, HALF - 1);
            here.wait();
        }
    });
    assert_eq!(found, []);
    // A small allocation has its page for itself.
    let mut small = HostBuffer::from_slice(&[7u32; 4], HostFlags::MAPPED).unwrap();
    let small = small.as_mut_ptr();
    let found = here.found(|| {
        here.download(small, 4);
        read(small, 3);
    });
    is_read(&found, "a copy of 16 bytes");
    let found = here.found(|| {
        here.download(small, 2);
        read(small, 3);
    });
    assert_eq!(found, [], "the other half");
}

#[test]
fn the_drivers_own_reads_are_not_the_hosts() {
    let here = Here::new(Order::Late);
    let mut host = here.pinned();
    let pointer = host.as_mut_ptr();
    let found = here.found(|| {
        here.download(pointer, WORDS);
        done!(cuStreamWaitValue32_v2(here.streams[1], pointer.addr() as u64 + 20, 0, 0));
    });
    assert_eq!(found, []);
}

#[test]
fn registered_memory_is_watched_in_whole_pages() {
    let here = Here::new(Order::Late);
    let mut host = RegisteredBuffer::new(vec![7u32; WORDS], true).unwrap();
    let pointer = host.as_mut_ptr();
    let found = here.found(|| {
        here.download(pointer, WORDS);
        read(pointer, HALF);
    });
    is_read(&found, "a copy of 32768 bytes");
    let found = here.found(|| {
        here.download(pointer, WORDS);
        here.wait();
        read(pointer, HALF);
    });
    assert_eq!(found, []);
}

#[test]
fn what_a_kernel_writes_is_read_before_and_after_a_wait() {
    for order in [Order::Late, Order::Immediate] {
        let here = Here::new(order);
        let mut mapped = here.pinned();
        let mut managed = 0;
        done!(cuMemAllocManaged(&mut managed, BYTES, 1));
        let managed = std::ptr::with_exposed_provenance_mut::<u32>(managed as usize);
        for pointer in [mapped.as_mut_ptr(), managed] {
            let address = pointer.addr() as u64;
            let run = |kernel: &str, threads: u32, word: usize| {
                here.found(|| {
                    here.launch(kernel, address, threads);
                    read(pointer, word);
                })
            };
            is_read(&run("set", WORDS as u32, 0), "kernel `set`");
            assert_eq!(run("set", HALF as u32, HALF), [], "the other half");
            assert_eq!(run("read", WORDS as u32, 0), [], "both read");
            let waits = here.found(|| {
                here.launch("set", address, WORDS as u32);
                here.wait();
                read(pointer, 0);
            });
            assert_eq!(waits, [], "{order:?}");
            let other = here.found(|| {
                here.launch("set", address, WORDS as u32);
                done!(cuStreamSynchronize(here.streams[1]));
                read(pointer, 0);
            });
            is_read(&other, "kernel `set`");
            // The host waits for what the kernel tells it.
            let told = here.found(|| {
                here.launch("tell", address, 256);
                // SAFETY: the word is used as an atomic alone, here and there.
                let flag = unsafe { AtomicU32::from_ptr(pointer.add(WORDS - 1)) };
                while flag.load(Ordering::Acquire) != 1 {
                    std::hint::spin_loop();
                }
                assert_eq!(read(pointer, 3), 1);
            });
            assert_eq!(told, [], "{order:?}");
            write(pointer, WORDS - 1, 0);
        }
        done!(cuMemFree_v2(managed.addr() as u64));
    }
}

#[test]
fn a_fill_a_graph_and_a_function_of_the_hosts() {
    let here = Here::new(Order::Late);
    let mut host = here.pinned();
    let pointer = host.as_mut_ptr();
    let fill = || done!(cuMemsetD32Async(pointer.addr() as u64, 3, WORDS, here.streams[0]));
    let early = here.found(|| {
        fill();
        read(pointer, 2);
    });
    is_read(&early, "a fill of 32768 bytes");
    let behind = here.found(|| {
        fill();
        here.wait();
        read(pointer, 2);
    });
    assert_eq!(behind, []);

    let (mut graph, mut executable) = (null_mut(), null_mut());
    done!(cuStreamBeginCapture_v2(here.streams[0], 2));
    here.download(pointer, WORDS);
    done!(cuStreamEndCapture(here.streams[0], &mut graph));
    done!(cuGraphInstantiateWithFlags(&mut executable, graph, 0));
    for waits in [false, true] {
        let found = here.found(|| {
            done!(cuGraphLaunch(executable, here.streams[0]));
            if waits {
                here.wait();
            }
            read(pointer, 2);
        });
        if waits {
            assert_eq!(found, []);
        } else {
            is_read(&found, "a copy of 32768 bytes");
        }
    }

    // A function that the stream calls behind the copy, and a word that the stream writes.
    extern "C" fn say(flag: *mut std::ffi::c_void) {
        // SAFETY: the flag below.
        unsafe { &*flag.cast::<AtomicU32>() }.store(1, Ordering::Release);
    }
    let flag = AtomicU32::new(0);
    let mut words = here.pinned();
    // SAFETY: the word is used as an atomic alone.
    let word = unsafe { AtomicU32::from_ptr(words.as_mut_ptr()) };
    word.store(0, Ordering::Relaxed);
    for (by_function, flag) in [(true, &flag), (false, word)] {
        let found = here.found(|| {
            here.download(pointer, WORDS);
            let place = std::ptr::from_ref(flag).cast_mut();
            if by_function {
                done!(cuLaunchHostFunc(here.streams[0], Some(say), place.cast()));
            } else {
                done!(cuStreamWriteValue32_v2(here.streams[0], place.addr() as u64, 1, 0));
            }
            while flag.load(Ordering::Acquire) == 0 {
                std::hint::spin_loop();
            }
            read(pointer, 2);
        });
        assert_eq!(found, [], "{by_function}");
    }
}

#[test]
fn one_thread_waits_and_another_reads() {
    let here = Here::new(Order::Late);
    let mut host = here.pinned();
    let pointer = host.as_mut_ptr();
    let address = pointer.expose_provenance();
    let reads = move || {
        read(std::ptr::with_exposed_provenance(address), 4);
    };
    let found = here.found(|| {
        here.download(pointer, WORDS);
        here.wait();
        std::thread::spawn(reads).join().unwrap();
    });
    assert_eq!(found, []);
    let found = here.found(|| {
        here.download(pointer, WORDS);
        std::thread::spawn(reads).join().unwrap();
        here.wait();
    });
    is_read(&found, "a copy of 32768 bytes");
}

#[test]
fn memory_that_is_freed_and_a_handler_of_the_programs() {
    let here = Here::new(Order::Late);
    let mut host = here.pinned();
    here.download(host.as_mut_ptr(), WORDS);
    // Freed under the copy, and given to others.
    drop(host);
    assert!(misuse().iter().any(|one| one.kind == MisuseKind::HostMemoryFreed));
    let mut others = vec![vec![1u8; BYTES]; 8];
    others.iter_mut().for_each(|one| one.fill(2));
    // An access that is nobody's: the program's end, as without us.
    // SAFETY: a child, which touches nothing but a page of its own.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: a page without rights.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let page = libc::mmap(null_mut(), 4096, libc::PROT_NONE, flags, -1, 0);
            page.cast::<u8>().read_volatile();
            libc::_exit(0);
        }
    }
    let mut status = 0;
    // SAFETY: the child above.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(libc::WTERMSIG(status), libc::SIGSEGV);
}

#[test]
fn a_function_of_c_that_reads_is_told_by_its_call() {
    let here = Here::new(Order::Late);
    let mut host = here.pinned();
    let pointer = host.as_mut_ptr();
    let mut words = vec![0u32; WORDS];
    let found = here.found(|| {
        here.download(pointer, WORDS);
        // SAFETY: both have so many bytes.
        unsafe { libc::memcpy(words.as_mut_ptr().cast(), pointer.cast(), BYTES) };
    });
    is_read(&found, "a copy of 32768 bytes");
}

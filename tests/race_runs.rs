//! The corpus of races on a GPU, launch by launch: for compute-sanitizer, which is told apart by the kernels' names.
//!
//! `crates/simt/tests/races.rs` and `races_of_nvcc.rs` write it into the folder that `COALESCE_RACES` names. A kernel that
//! does not end cannot be stopped, so the process ends with its name; written into the folder's `endless.txt`, it is left
//! out of the next run.

use cust::event::EventStatus;
use cust::prelude::*;
use cust_ext::host_memory::{HostBuffer, HostFlags};
use cust_ext::launch::Launch;
use std::ffi::c_void;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A launch that takes longer waits for what will not come: a load of too narrow a scope may be served by the L1 cache
/// for ever.
const PATIENCE: Duration = Duration::from_secs(3);

#[test]
#[ignore = "needs a GPU and the corpus: COALESCE_RACES names its folder"]
fn every_kernel_of_the_corpus_ends() {
    let folder =
        PathBuf::from(std::env::var_os("COALESCE_RACES").expect("COALESCE_RACES names a folder"));
    let _context = cust::quick_init().expect("a GPU");
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).expect("a stream");
    let endless = std::fs::read_to_string(folder.join("endless.txt")).unwrap_or_default();
    let (mut ended, mut left_out) = (0, 0);
    for corpus in ["races", "cuda"] {
        let read = |extension: &str| {
            std::fs::read_to_string(folder.join(corpus).with_extension(extension))
                .expect("the corpus")
        };
        let module = Module::from_ptx(read("ptx"), &[]).expect("the driver takes the corpus");
        for row in read("tsv").lines() {
            let fields: Vec<&str> = row.split('\t').collect();
            if endless.lines().any(|name| name == fields[0]) {
                left_out += 1;
                continue;
            }
            let number = |index: usize| fields[index].parse::<u32>().expect("a number");
            let (name, blocks, threads, cluster) = (fields[0], number(1), number(2), number(3));
            let function = module.get_function(name).expect("a kernel of the table");
            let data = DeviceBuffer::<u32>::zeroed(1024).expect("4096 bytes");
            let flag = DeviceBuffer::<u32>::zeroed(1024).expect("4096 bytes");
            let host = HostBuffer::<u32>::zeroed(64, HostFlags::MAPPED).expect("256 bytes");
            stream.synchronize().expect("nothing runs");
            let mut arguments = [
                data.as_device_ptr().as_raw(),
                flag.as_device_ptr().as_raw(),
                host.device_pointer().expect("it is mapped").as_raw(),
            ];
            let pointers =
                arguments.each_mut().map(|value| std::ptr::from_mut(value).cast::<c_void>());
            let cluster = (cluster > 1).then_some([cluster, 1, 1]);
            let launch = Launch { cluster, ..Launch::new(blocks, threads) };
            // SAFETY: each kernel of the corpus takes at most these three pointers, to 4096, 4096 and 256 bytes, and
            // accesses nothing beyond; they live until the stream is idle.
            unsafe { launch.run(&function, &stream, &pointers) }.expect("it is launched");
            let end = Event::new(EventFlags::DISABLE_TIMING).expect("an event");
            end.record(&stream).expect("it is recorded");
            let begin = Instant::now();
            while end.query().expect("it runs without an error") != EventStatus::Ready {
                if begin.elapsed() > PATIENCE {
                    println!("\nendless {name}");
                    std::process::abort();
                }
            }
            ended += 1;
        }
    }
    println!("{ended} kernels ended, {left_out} were left out");
}

//! Reads of managed memory whose content the program has discarded.

mod support;

use cuda_driver::ReturnCode;
use cuda_driver::api::*;
use cuda_driver::raw::CUstream;
use simt::Checks;
use std::ptr::null_mut;
use support::done;
use support::graphs::*;
use virtual_gpu::Options;

/// The writer of the word between its discard and a kernel that reads it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Writer {
    Nobody,
    Host,
    Fill,
    Kernel,
}

#[test]
fn a_read_of_discarded_memory_is_found_unless_somebody_has_written_it_since() {
    for writer in [Writer::Nobody, Writer::Host, Writer::Fill, Writer::Kernel] {
        let device = Device::with(Options { checks: Checks::all(), ..Options::default() });
        let (mut word, mut stream): (u64, CUstream) = (0, null_mut());
        done!(cuStreamCreate(&mut stream, 1));
        done!(cuMemAllocManaged(&mut word, 1 << 16, 1));
        let of_host = std::ptr::with_exposed_provenance_mut::<u32>(word as usize);
        let launch = |name: &str, mut word: u64| {
            let mut condition = 0u64;
            let mut arguments = [(&raw mut word).cast(), (&raw mut condition).cast()];
            let (function, arguments) = (device.kernel(name), arguments.as_mut_ptr());
            done!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, null_mut()));
            done!(cuStreamSynchronize(stream));
        };
        // SAFETY: the memory was allocated, and nothing uses it.
        unsafe { of_host.write(5) };
        launch("counts", word);
        let (mut pointer, mut bytes) = (word, 1 << 16);
        done!(cuMemDiscardBatchAsync(&mut pointer, &mut bytes, 1, 0, stream));
        done!(cuStreamSynchronize(stream));
        match writer {
            Writer::Nobody => {}
            // SAFETY: as above.
            Writer::Host => unsafe { of_host.write(0) },
            Writer::Fill => {
                done!(cuMemsetD32Async(word, 0, 1, stream));
            }
            Writer::Kernel => launch("writes", word),
        }
        launch("counts", word);
        let all = virtual_gpu::misuse();
        let found: Vec<_> = all.iter().filter(|one| one.message.contains("discarded")).collect();
        assert_eq!(found.len(), usize::from(writer == Writer::Nobody), "{writer:?} {all:?}");
        assert_eq!(all.len(), found.len(), "{writer:?} {all:?}");
        let elsewhere = word + 4096;
        launch("counts", elsewhere);
        assert_eq!(virtual_gpu::misuse().len(), 1, "the rest is discarded still");
    }
}

//! A device that disappears: its work fails from then on, what others had is kept, and no reset brings it back. A process
//! has one virtual machine, so this is a test of its own.

mod support;

use cust::context::{Context, CurrentContext};
use cust::error::CudaError;
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::module::Module;
use cust::prelude::Stream;
use cust_ext::stream::non_blocking;
use virtual_gpu::{MisuseKind, Options, Topology, forget_failure, misuse};

const MACHINE: &str =
    r#"{"devices": ["h100", "h100"], "lost": [{"device": 1, "after_kernels": 2}]}"#;

/// Adds one to a word.
const KERNELS: [(&str, &str); 1] = [("increment", "red.global.add.u32 [%rd1], %r1;")];

struct Opened {
    stream: Stream,
    module: Module,
    memory: DeviceBuffer<u32>,
    context: Context,
}

impl Opened {
    fn new(ordinal: u32) -> Opened {
        let (_, context) = cust_ext::device::open(ordinal).unwrap();
        let module = Module::from_ptx(support::ptx(&KERNELS), &[]).unwrap();
        let memory = DeviceBuffer::from_slice(&[0]).unwrap();
        Opened { stream: non_blocking(None).unwrap(), module, memory, context }
    }

    fn increment(&self) -> Result<(), CudaError> {
        CurrentContext::set_current(&self.context)?;
        let (function, stream) = (self.module.get_function("increment")?, &self.stream);
        let address = self.memory.as_device_ptr();
        // SAFETY: one pointer, to one word.
        unsafe { cust::launch!(function<<<1, 1, 0, stream>>>(address)) }?;
        self.stream.synchronize()
    }
}

#[test]
fn what_a_lost_device_had_is_gone_and_the_others_go_on() {
    support::select(Topology::from_json(MACHINE).unwrap(), Options::default());
    let [mut stays, leaves] = [0, 1].map(Opened::new);
    for _ in 0..2 {
        leaves.increment().unwrap();
        stays.increment().unwrap();
    }
    assert_eq!(misuse(), []);
    assert_eq!(leaves.increment().unwrap_err(), CudaError::UnknownError);
    let found = misuse();
    let kinds = found.iter().map(|one| one.kind).collect::<Vec<_>>();
    assert_eq!(kinds, [MisuseKind::DeviceLost, MisuseKind::FailedSince], "{found:?}");
    assert!(found[0].message.starts_with("device 1 has disappeared"), "{}", found[0]);
    // It stays away, and its memory with it.
    forget_failure();
    assert_eq!(leaves.increment().unwrap_err(), CudaError::UnknownError);
    let mut word = [0];
    assert_eq!(leaves.memory.copy_to(&mut word).unwrap_err(), CudaError::UnknownError);

    stays.increment().unwrap();
    stays.memory.copy_to(&mut word).unwrap();
    assert_eq!(word, [3]);
    // A copy from the lost one fails, on the device that asked for it.
    misuse();
    assert_eq!(stays.memory.copy_from(&leaves.memory).unwrap_err(), CudaError::UnknownError);
    assert_eq!(misuse()[0].kind, MisuseKind::DeviceLost);
    for opened in [&stays, &leaves] {
        assert!(CurrentContext::set_current(&opened.context).is_ok());
    }
}

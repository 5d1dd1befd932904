//! A host that writes mapped memory while a kernel that uses it is pending: found where it races, and nowhere else.

mod support;

use cust::module::Module;
use cust_ext::host_memory::{HostBuffer, HostFlags};
use cust_ext::stream::non_blocking;
use simt::Checks;
use virtual_gpu::{Misuse, MisuseKind, Options, Profile, misuse};

/// Each thread reads its word of `values` and writes it to `target`; `poll` reads by a load that expects company.
fn ptx() -> String {
    let kernel = |name: &str, load: &str| {
        format!(
            ".visible .entry {name}(.param .u64 values, .param .u64 target)\n{{
    .reg .b32 %r<3>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [values];
    ld.param.u64 %rd2, [target];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    {load} %r2, [%rd4];
    st.global.u32 [%rd5], %r2;
    ret;\n}}\n"
        )
    };
    let head = ".version 7.8\n.target sm_70\n.address_size 64\n";
    head.to_owned()
        + &kernel("copy", "ld.global.u32")
        + &kernel("poll", "ld.relaxed.sys.global.u32")
}

#[test]
fn a_host_that_writes_what_a_kernel_reads_is_found() {
    let options = Options { checks: Checks::all(), ..Options::default() };
    let _context = support::open(Profile::named("h200").unwrap(), options);
    let module = Module::from_ptx(ptx(), &[]).unwrap();
    let stream = non_blocking(None).unwrap();
    let mut values = HostBuffer::from_slice(&[1u32; 256], HostFlags::MAPPED).unwrap();
    let target = HostBuffer::from_slice(&[0u32; 256], HostFlags::MAPPED).unwrap();
    let mut run = |kernel: &str, threads: u32, between: &mut dyn FnMut(&mut [u32])| {
        let function = module.get_function(kernel).unwrap();
        let (from, to) = (values.device_pointer().unwrap(), target.device_pointer().unwrap());
        misuse();
        // SAFETY: the kernel takes two pointers to a word per thread. What the host does meanwhile is what is tested.
        unsafe { cust::launch!(function<<<1, threads, 0, stream>>>(from, to)) }.unwrap();
        between(&mut values);
        stream.synchronize().unwrap();
        misuse()
    };
    let found = run("copy", 32, &mut |values| values[3] += 1);
    let [Misuse { kind: MisuseKind::HostMemoryChanged, message, .. }] = &found[..] else {
        panic!("{found:?}")
    };
    assert!(message.contains("mapped memory") && message.contains("kernel `copy`"), "{message}");
    assert_eq!(run("copy", 32, &mut |_| {}), [], "the host leaves it alone");
    assert_eq!(
        run("copy", 32, &mut |values| values[200] += 1),
        [],
        "the kernel does not use that word"
    );
    assert_eq!(run("poll", 32, &mut |values| values[3] += 1), [], "the kernel expects it");
    assert_eq!(run("copy", 32, &mut |values| values[3] += 0), [], "nothing changes");
    let found = run("copy", 256, &mut |values| values[200] += 1);
    assert_eq!(found.len(), 1, "now it does use it");
}

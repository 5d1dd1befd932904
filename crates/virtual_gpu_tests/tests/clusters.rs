//! Launches in clusters on the virtual device.

mod support;

use cust::memory::{CopyDestination, DeviceBuffer};
use cust::module::Module;
use cust_ext::launch::Launch;
use std::ffi::c_void;
use virtual_gpu::{Options, Profile};

/// Each block stores ten times the shared word of the next block of its cluster, which is that block's index, plus the
/// blocks of its cluster.
const PTX: &str = r#"
.version 8.0
.target sm_90
.address_size 64
.shared .align 4 .b8 word[4];

.visible .entry next(.param .u64 target)
{
    .reg .b32 %r<9>;
    .reg .b64 %rd<3>;
    mov.u32 %r1, %ctaid.x;
    st.shared.u32 [word], %r1;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    mov.u32 %r2, %cluster_ctarank;
    mov.u32 %r3, %cluster_nctarank;
    add.u32 %r2, %r2, 1;
    rem.u32 %r2, %r2, %r3;
    mov.u32 %r4, word;
    mapa.shared::cluster.u32 %r4, %r4, %r2;
    ld.shared::cluster.u32 %r5, [%r4];
    mad.lo.u32 %r5, %r5, 10, %r3;
    ld.param.u64 %rd1, [target];
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    st.global.u32 [%rd2], %r5;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ret;
}

.visible .entry pairs() .reqnctapercluster 2, 1, 1
{
    ret;
}
"#;

#[test]
fn launches_in_clusters() {
    let _context = support::open(Profile::named("h200").unwrap(), Options::default());
    let stream = cust_ext::stream::non_blocking(None).unwrap();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let (next, pairs) =
        (module.get_function("next").unwrap(), module.get_function("pairs").unwrap());
    let run = |blocks: u32, cluster: Option<[u32; 3]>| {
        let target = DeviceBuffer::from_slice(&vec![u32::MAX; blocks as usize + 1]).unwrap();
        let mut address = target.as_device_ptr().as_raw();
        let arguments: [*mut c_void; 1] = [(&raw mut address).cast()];
        let launch = Launch { cluster, ..Launch::new(blocks, 1) };
        // SAFETY: the kernel has one parameter, an address of as many words as there are blocks.
        unsafe { launch.run(&next, &stream, &arguments) }
            .map_err(|error| error.code().unwrap().0)?;
        stream.synchronize().unwrap();
        let mut found = vec![0; blocks as usize + 1];
        target.copy_to(&mut found).unwrap();
        Ok(found)
    };
    let expected = |blocks: u32, size: u32| {
        let next = |block: u32| block / size * size + (block + 1) % size;
        (0..blocks).map(|block| next(block) * 10 + size).chain([u32::MAX]).collect::<Vec<u32>>()
    };
    for (blocks, size) in [(1, 1), (4, 2), (6, 3), (33, 1), (264, 8)] {
        assert_eq!(run(blocks, Some([size, 1, 1])), Ok(expected(blocks, size)));
    }
    assert_eq!(run(5, None), Ok(expected(5, 1)));

    const INVALID_CLUSTER_SIZE: u32 = 912;
    assert_eq!(run(16, Some([16, 1, 1])), Err(INVALID_CLUSTER_SIZE));
    cust_ext::function::allow_non_portable_cluster_size(&next).unwrap();
    assert_eq!(run(16, Some([16, 1, 1])), Ok(expected(16, 16)));

    let start = |cluster| {
        let launch = Launch { cluster, ..Launch::new(8, 1) };
        // SAFETY: the kernel has no parameters and touches no memory.
        unsafe { launch.run(&pairs, &stream, &[]) }.map_err(|error| error.code().unwrap().0)
    };
    assert_eq!(start(None), Ok(()));
    assert_eq!(start(Some([2, 1, 1])), Ok(()));
    assert_eq!(start(Some([4, 1, 1])), Err(INVALID_CLUSTER_SIZE));
    stream.synchronize().unwrap();
}

//! Findings of a test's device and of a checked launch, each with a correct control.

use cuda_host::{Image, testing};
use cuda_std::kernel::{Kernel, SafeKernel};
use cuda_std::safe::{PerThread, PlanePerThread};
use cust::function::GridSize;
use cust::memory::{CopyDestination, DeviceBuffer};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `own` stores a thread's index to its own word, `same` stores it to the first; `together` says that it waits for the grid.
const PTX: &str = r#"
.version 7.8
.target sm_70
.address_size 64

.visible .entry own(.param .u64 values, .param .u64 length)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [values];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r1;
    ret;
}

.visible .entry same(.param .u64 values, .param .u64 length)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [values];
    mov.u32 %r1, %tid.x;
    st.global.u32 [%rd1], %r1;
    ret;
}

.visible .entry together(.param .u64 values)
{
    .reg .b32 cuda_std_grid_barrier;
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    mov.u32 cuda_std_grid_barrier, %envreg2;
    ld.param.u64 %rd1, [values];
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r1;
    ret;
}
"#;

static IMAGES: &[Image] =
    // SAFETY: the kernels are those of the tokens below, and have no records.
    &[unsafe { Image::new(70, PTX, &[], "by hand", "unknown") }];

fn token(name: &'static str) -> SafeKernel<fn(PerThread<'static, u32>)> {
    // SAFETY: the entry takes an address and a length. That `same` breaks its promise is what the test is for.
    unsafe {
        SafeKernel::new(Kernel::new(name, (0, 0), (0, 0, 0), 0), (64, 1, 1), &["values"], &[])
    }
}

/// Returns what the test's device says when it is dropped after a launch.
fn said_of(name: &'static str) -> Option<String> {
    let ran = catch_unwind(AssertUnwindSafe(|| {
        let gpu = testing::gpu(IMAGES);
        let mut values = DeviceBuffer::from_slice(&[0_u32; 64]).expect("it fits");
        gpu.launcher().run(token(name), 1, (&mut values,)).expect("it runs");
    }));
    let panic = ran.err()?;
    Some(panic.downcast::<String>().map_or_else(|_| "no text".to_owned(), |text| *text))
}

#[test]
fn a_hazard_fails_the_test_that_has_the_device() {
    let said = said_of("same").expect("64 threads store to one word");
    assert!(said.starts_with("2 hazard(s):\n  cuLaunchKernel: GlobalRace"), "{said}");
    assert!(said.contains("ConflictingStore") && said.contains("of kernel `same`"), "{said}");
    assert_eq!(said_of("own"), None);
}

#[test]
fn a_launch_that_breaks_the_contract_is_refused_before_it_runs() {
    let gpu = testing::gpu(IMAGES);
    let launcher = gpu.launcher();
    let mut values = DeviceBuffer::from_slice(&[0_u32; 64]).expect("it fits");
    let refused = launcher.run(token("own"), GridSize::xy(1, 2), (&mut values,)).unwrap_err();
    let text = refused.to_string();
    assert!(text.contains("own<<<(1, 2, 1), (64, 1, 1)>>> was refused"), "{text}");
    assert!(text.contains("launches in 1 dimension(s), and this one has 2"), "{text}");

    let grid = GridSize::x(1 << 30);
    let text = launcher.run(token("own"), grid, (&mut values,)).unwrap_err().to_string();
    assert!(text.contains("68719476736 threads along one axis"), "{text}");

    // SAFETY: it is refused.
    let plane: SafeKernel<fn(PlanePerThread<'static, u32>)> = unsafe {
        SafeKernel::new(Kernel::new("own", (0, 0), (0, 0, 0), 0), (8, 8, 1), &["values"], &[])
    };
    let text = launcher.run(plane, 1, ((&mut values, [8, 9]),)).unwrap_err().to_string();
    assert!(
        text.contains("`values` is a plane of 8 x 9 = 72 elements, but its memory has 64"),
        "{text}"
    );

    let grid = GridSize::x(1 << 26);
    let text = launcher.run(plane, grid, ((&mut values, [8, 8]),)).unwrap_err().to_string();
    assert!(text.contains("its planes may have 8589934592 rows or columns"), "{text}");

    launcher.run(token("own"), 1, (&mut values,)).expect("the contract holds");
}

#[test]
fn a_kernel_that_waits_for_the_grid_needs_a_cooperative_launch() {
    let gpu = testing::gpu(IMAGES);
    let launcher = gpu.launcher();
    // SAFETY: the entry takes an address.
    let kernel: Kernel<fn(*mut u32)> = unsafe { Kernel::new("together", (0, 0), (0, 0, 0), 0) };
    let mut values = DeviceBuffer::from_slice(&[7_u32; 4]).expect("it fits");
    // SAFETY: a block stores to its own word.
    unsafe { launcher.launch(kernel, 4, 1, 0, (&mut values,)) }.expect_err("it is not cooperative");
    let said = gpu.drain_hazards();
    assert!(said.len() == 1 && said[0].contains("`Launcher::launch_cooperative`"), "{said:#?}");

    // SAFETY: as above.
    unsafe { launcher.launch_cooperative(kernel, 4, 1, 0, (&mut values,)) }.expect("it fits");
    launcher.finish().expect("it runs");
    let mut words = [0; 4];
    values.copy_to(&mut words).expect("it can be read");
    assert_eq!(words, [0, 1, 2, 3]);

    // SAFETY: it is refused.
    let many = unsafe { launcher.launch_cooperative(kernel, 1 << 20, 1, 0, (&mut values,)) };
    let text = many.expect_err("so many blocks do not fit at once").to_string();
    assert!(text.contains("too many blocks in a cooperative launch"), "{text}");
}

#[test]
fn a_test_that_fails_prints_its_hazards() {
    let own = std::env::current_exe().expect("a test knows where it is");
    let failed = std::process::Command::new(own)
        .args(["--exact", "testing::fails_for_another_reason", "--ignored", "--nocapture"])
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&failed.stderr);
    assert!(!failed.status.success(), "{said}");
    assert!(
        said.contains("an assertion") && said.contains("2 hazard(s):\n  cuLaunchKernel"),
        "{said}"
    );
}

#[test]
#[ignore = "it fails: `a_test_that_fails_prints_its_hazards` runs it"]
fn fails_for_another_reason() {
    let gpu = testing::gpu(IMAGES);
    let mut values = gpu.zeroed(64).expect("it fits");
    gpu.launcher().run(token("same"), 1, (&mut values,)).expect("it runs");
    panic!("an assertion");
}

#[test]
fn threads_have_devices_that_do_not_see_each_other() {
    let alone = || {
        let gpu = testing::gpu(IMAGES);
        let mut words = gpu.zeroed::<u32>(64).expect("it fits");
        gpu.launcher().run(token("own"), 1, (&mut words,)).expect("it runs");
        let launches = gpu.virtual_device().expect("it is one").drain_launches().len();
        (words.as_device_ptr().as_raw(), gpu.download(&words).expect("it can be read"), launches)
    };
    let first = alone();
    assert_eq!(first.2, 1);
    std::thread::scope(|scope| {
        let beside: Vec<_> = (0..4).map(|_| scope.spawn(alone)).collect();
        for thread in beside {
            assert_eq!(thread.join().expect("it ends"), first);
        }
    });
}

#[test]
fn a_twin_is_new_and_leaves_the_device_alone() {
    let gpu = testing::gpu(IMAGES);
    let before = gpu.upload(&[1_u32; 64]).expect("it fits");
    {
        let twin = gpu.twin().expect("it is virtual").open().expect("it starts");
        let words = twin.upload(&[2_u32; 64]).expect("it fits");
        assert_eq!(words.as_device_ptr().as_raw(), before.as_device_ptr().as_raw(), "it is new");
        assert_eq!(twin.download(&words).expect("it can be read"), [2; 64]);
    }
    assert_eq!(gpu.download(&before).expect("it can be read"), [1; 64]);
}

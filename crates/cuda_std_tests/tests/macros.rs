//! The macros' output carries what they were given; wrong uses are tested in `cuda_std`.

use cuda_std::kernel::Kernel;
use cuda_std_tests::kernels::{THREADS, clusters, spaces, thread, warp};

#[test]
fn a_token_has_the_name_and_the_attributes_of_its_kernel() {
    let kernel: Kernel<fn(*mut u32)> = thread::launch_bounds;
    assert_eq!(kernel.name(), "launch_bounds");
    assert_eq!(kernel.launch_bounds(), (2 * THREADS, 3));
    assert_eq!(kernel.cluster(), (0, 0, 0));
    assert_eq!(kernel.min_compute_capability(), 0);
    assert_eq!(clusters::cluster_exchange.launch_bounds(), (THREADS, 0));
    assert_eq!(clusters::cluster_exchange.cluster(), (2, 1, 1));
    assert_eq!(clusters::cluster_exchange.min_compute_capability(), 90);
    assert_eq!(warp::reduce_add_u32.min_compute_capability(), 80);
}

#[test]
fn a_token_has_the_types_of_the_parameters() {
    type Parameters = fn(&'static [f32], spaces::Line, f32, &'static mut [f32], &'static u32);
    let _: Kernel<Parameters> = spaces::parameters;
}

#[test]
fn device_functions_say_that_they_were_called_on_the_host() {
    let message = std::panic::catch_unwind(cuda_std::thread::thread_idx_x)
        .expect_err("there is no thread index on the host");
    let message = message.downcast_ref::<String>().expect("a formatted message");
    assert!(message.contains("called outside a kernel"), "{message}");
}

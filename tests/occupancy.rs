//! Occupancy as this project computes it is what the driver's calculator says, for every kernel of the catalogue.

use cuda_host::{Choice, Gpu};
use cust_ext::device::{DeviceAttribute, attribute};
use cust_ext::function;
use host::CATALOGUE;
use virtual_gpu::{BlockNeeds, PROFILES, Profile, blocks_per_multiprocessor};

/// Returns what a multiprocessor of a device has, asked of its driver.
fn limits(gpu: &Gpu) -> Profile {
    let (_, text) = PROFILES.iter().find(|(name, _)| *name == "h200").expect("a profile");
    let mut profile = Profile::from_json(text).expect("it is sound");
    let ask = |what| attribute(gpu.device(), what).expect("the driver knows").cast_unsigned();
    let capability = gpu.capability();
    profile.compute_capability = [capability / 10, capability % 10];
    profile.threads_per_multiprocessor = ask(DeviceAttribute::MaxThreadsPerMultiprocessor);
    profile.blocks_per_multiprocessor = ask(DeviceAttribute::MaxBlocksPerMultiprocessor);
    profile.registers_per_multiprocessor = ask(DeviceAttribute::MaxRegistersPerMultiprocessor);
    profile.shared_bytes_per_multiprocessor =
        ask(DeviceAttribute::MaxSharedMemoryPerMultiprocessor);
    profile.reserved_shared_bytes_per_block = ask(DeviceAttribute::ReservedSharedMemoryPerBlock);
    profile
}

/// Compares both calculators for each kernel, for blocks of all numbers of warps, and with dynamic shared memory.
pub fn occupancy_is_that_of_the_driver(choice: &Choice) {
    let gpu = Gpu::open(choice, CATALOGUE.images).expect("the device starts");
    let profile = limits(&gpu);
    let mut compared = 0;
    for facts in gpu.image().kernels {
        let kernel = gpu.module().get_function(facts.kernel).expect("the module has it");
        let info = function::info(&kernel).expect("the driver knows it");
        for threads in (32..=info.max_threads_per_block).step_by(32) {
            for dynamic in [0_u32, 1000, 16 << 10] {
                if dynamic > info.max_dynamic_shared_bytes {
                    continue;
                }
                let needs = BlockNeeds {
                    threads,
                    registers: info.registers,
                    shared_bytes: info.static_shared_bytes + dynamic,
                };
                let told = function::blocks_per_multiprocessor(&kernel, threads, dynamic as usize);
                let told = told.expect("the driver computes it");
                let ours = blocks_per_multiprocessor(&profile, needs);
                assert_eq!(ours, told, "{}: {needs:?}", facts.kernel);
                compared += 1;
            }
        }
    }
    assert!(compared > 5000, "only {compared} launches were compared");
}

#[test]
fn occupancy_is_that_of_the_virtual_driver() {
    let (_guard, gpu) = crate::executor::device();
    drop(gpu);
    occupancy_is_that_of_the_driver(&Choice::Virtual("h200".to_owned()));
}

//! The pattern `peer_to_peer` on virtual machines of several devices: every variant is right at every size and without
//! hazards, a missing order between devices is found, and predictions are those of the link. A process has one virtual
//! machine, so all is one test.

use coalesce::pattern::{Pattern, Size};
use coalesce::verify::{VerifyOutcome, case, verify};
use cuda_host::{Checks, Choice, Gpu, OperationKind};
use cust_ext::peer::PeerAccess;
use host::CATALOGUE;

fn pattern() -> &'static Pattern {
    CATALOGUE.select("peer_to_peer").expect("a pattern of the registry").pattern
}

#[test]
fn every_variant_is_right_on_several_devices_and_its_kernels_run_at_the_links_rate() {
    let choice = Choice::Virtual("h100x4".to_owned());
    let gpu = Gpu::open_checked(&choice, CATALOGUE.images, Checks::all()).expect("it starts");
    assert_eq!(gpu.peers().expect("the others open").len(), 3);
    let device = gpu.virtual_device().expect("it is virtual");
    let (mut correct, mut not_run) = (0, 0);
    for size in pattern().verify_sizes {
        let size = Size::new(size);
        let case = case(pattern(), &size, 1);
        let arrays = pattern().arrays(&gpu, &case).expect("the host's work has its own arrays");
        for variant in pattern().variants {
            let name = format!("{} at {}", variant.name, pattern().show_size(&size));
            match verify(&gpu, &case, &arrays, variant, &size).expect("it runs") {
                VerifyOutcome::Correct => correct += 1,
                VerifyOutcome::NotRun(reason) => {
                    assert_eq!(variant.name, "all_reduce_nccl", "{name}: {reason}");
                    not_run += 1;
                }
                VerifyOutcome::Wrong(fault) => panic!("{name}: {fault}"),
            }
            for launch in device.drain_launches() {
                assert!(launch.report.findings.is_empty(), "{name}: {:?}", launch.report.findings);
            }
            assert_eq!(device.drain_misuse(), [], "{name}");
        }
    }
    assert_eq!((correct, not_run), (17 * 8, 8));
    the_time_of_a_copy_is_that_of_the_way_it_takes(&gpu);
    // NCCL leaves access enabled, as seen on two H100.
    let peer = &gpu.peers().expect("they are open")[0];
    let _left = [
        PeerAccess::enable(gpu.context(), peer.context()).expect("nobody has access"),
        PeerAccess::enable(peer.context(), gpu.context()).expect("nobody has access"),
    ];
    gpu.make_current().expect("it is open");
    the_time_of_a_copy_is_that_of_the_way_it_takes(&gpu);
}

/// Copies of 1 MiB: through the host at 37.4 GB/s and 21 us, over the link at 397.6 GB/s and 5.4 us; kernels at 373 GB/s,
/// of which a lone one takes up to 3.2 us to start and end.
fn the_time_of_a_copy_is_that_of_the_way_it_takes(gpu: &Gpu) {
    let size = Size::new(&[1 << 18, 2]);
    let case = case(pattern(), &size, 1);
    let arrays = pattern().arrays(gpu, &case).expect("the host's work has its own arrays");
    let longest_us = |name: &str| {
        let variants = pattern().variants.iter();
        let variant = { variants }.find(|variant| variant.name == name).expect("a variant");
        gpu.watch_operations();
        let outcome = verify(gpu, &case, &arrays, variant, &size).expect("it runs");
        assert_eq!(outcome, VerifyOutcome::Correct, "{name}");
        let operations = gpu.drain_operations().expect("they are recorded");
        let moving = operations.iter().filter(|one| {
            matches!(one.kind, OperationKind::DeviceCopy(_) | OperationKind::Kernel(_))
        });
        moving.map(|one| (one.end_ns - one.start_ns) / 1e3).fold(0.0, f64::max)
    };
    let bytes = f64::from(1 << 20);
    for (name, least_us, most_us) in [
        ("copy_staged", 21.0 + bytes / 37.4e3, 21.1 + bytes / 37.4e3),
        ("copy_direct", 5.4 + bytes / 397.6e3, 5.5 + bytes / 397.6e3),
        ("read_vectorized", bytes / 373e3, 1.2 * bytes / 373e3 + 3.2),
        ("write_words", bytes / 372e3, 1.2 * bytes / 372e3 + 3.2),
    ] {
        let found = longest_us(name);
        assert!((0.999 * least_us..most_us).contains(&found), "{name}: {found} us");
    }
}

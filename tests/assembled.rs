//! Every kernel through NVIDIA's assembler, for every processor we name. Needs `ptxas`.

use crate::snapshots;
use coalesce::patterns::PATTERNS;
use coalesce::ptx::IMAGES;
use cuda_builder::NvvmArch;
use cuda_builder::ptxas::{assemble, find_tool};
use std::fmt::Write;
use std::path::PathBuf;

/// The processors, with the capability of the newest PTX each can take.
const PROCESSORS: [u32; 4] = [80, 90, 100, 120];

fn ptxas() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| crate::kernels_source::root().join("target"), PathBuf::from);
    find_tool("ptxas", &target).expect("ptxas is here; `cargo xtask setup --sass` installs it")
}

/// A static that two kernels or two calls use is one array in each kernel, and none in the others.
#[test]
#[ignore = "needs ptxas"]
fn each_kernel_has_only_the_shared_memory_it_uses() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("regressions.ptx");
    std::fs::write(&file, crate::regressions::ptx(NvvmArch::Compute90)).expect("a writable folder");
    let resources = assemble(&ptxas(), &file, "sm_90", None).expect("ptxas takes our PTX");
    let shared = |name: &str| {
        let found = resources.iter().find(|kernel| kernel.kernel == name);
        found.unwrap_or_else(|| panic!("no kernel {name}")).shared_bytes
    };
    assert_eq!(shared("common_first"), 256);
    assert_eq!(shared("common_second"), 256);
    assert_eq!(shared("helper_twice"), 256);
    assert_eq!(shared("two_helpers_of_one_name"), 512);
    assert_eq!(shared("stored_once"), 4);
    assert!((16 * 64 + 3..16 * 64 + 32).contains(&shared("aligned_vectors")));
}

#[test]
#[ignore = "needs ptxas"]
fn registers_spills_and_memory() {
    let ptxas = ptxas();
    let mut text = String::new();
    let mut assembled = 0;
    for processor in PROCESSORS {
        let image = IMAGES
            .iter()
            .rfind(|image| image.capability <= processor)
            .expect("an image for the processor");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("kernels.ptx");
        std::fs::write(&file, image.text).expect("a writable temporary folder");
        let resources =
            assemble(&ptxas, &file, &format!("sm_{processor}"), None).expect("ptxas takes our PTX");
        let entries: Vec<&str> = image.kernels.iter().map(|facts| facts.kernel).collect();
        assert_eq!(resources.len(), entries.len(), "ptxas assembled every entry");
        for kernel in &resources {
            assert!(entries.contains(&kernel.kernel.as_str()));
            assert_eq!(
                kernel.spill_store_bytes + kernel.spill_load_bytes,
                0,
                "{} spills on sm_{processor}",
                kernel.kernel
            );
            let _ = writeln!(
                text,
                "sm_{processor} {}: {} registers, {} B shared, {} B local",
                kernel.kernel, kernel.registers, kernel.shared_bytes, kernel.local_bytes
            );
        }
        assembled += resources.len();
    }
    assert!(assembled >= PATTERNS.iter().map(|pattern| pattern.variants.len()).sum::<usize>());
    println!("assembled {assembled} kernels for {PROCESSORS:?}");
    snapshots::compare("resources.txt", &text);
}

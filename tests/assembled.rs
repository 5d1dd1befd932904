//! Every kernel through NVIDIA's assembler, for every processor we name. Needs `ptxas`.

use crate::snapshots;
use cuda_builder::NvvmArch;
use cuda_builder::ptxas::{assemble, disassemble, find_tool};
use cuda_host::Image;
use host::CATALOGUE;
use std::fmt::Write;
use std::path::PathBuf;

/// The processors, with the capability of the newest PTX each can take.
const PROCESSORS: [u32; 4] = [80, 90, 100, 120];

fn tool(name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| crate::kernels_source::root().join("target"), PathBuf::from);
    find_tool(name, &target)
        .unwrap_or_else(|| panic!("no {name} here; `cargo xtask setup --sass` installs it"))
}

fn ptxas() -> PathBuf {
    tool("ptxas")
}

/// Checks what only the machine code shows: that `cp.async` is one instruction without a register for the data,
/// that a bulk copy is the engine's, and that an indexed parameter is read where it lies.
#[test]
#[ignore = "needs ptxas"]
fn machine_code_has_the_instructions_of_the_docs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, cubin) = (folder.path().join("kernels.ptx"), folder.path().join("kernels.cubin"));
    let image =
        CATALOGUE.images.iter().rfind(|image| image.capability == 90).expect("an image for sm_90");
    std::fs::write(&file, image.text()).expect("a writable folder");
    let resources =
        assemble(&ptxas(), &file, &image.target(), Some(&cubin)).expect("ptxas takes our PTX");
    let expected: [(&str, &[&str], &[&str]); 29] = [
        ("matmul_tensor_mma_pipelined", &["HMMA.16816.F32.BF16 ", "LDSM.16.M88.4 "], &["LDL"]),
        ("matmul_tensor_wgmma", &["HGMMA.64x256x16.F32.BF16 ", "UTMALDG.2D "], &["LDL"]),
        ("async_copy_registers_4", &["LDG.E R", " STS ["], &["LDGSTS"]),
        ("async_copy_registers_8", &["LDG.E.64 ", " STS.64 "], &["LDGSTS"]),
        ("async_copy_registers_16", &["LDG.E.128 ", " STS.128 "], &["LDGSTS"]),
        ("async_copy_async_4", &["LDGSTS.E ["], &["LDG.E", " STS"]),
        ("async_copy_async_8", &["LDGSTS.E.64 "], &["LDG.E", " STS"]),
        ("async_copy_async_16", &["LDGSTS.E.BYPASS.128 "], &["LDG.E", " STS"]),
        ("async_copy_pipelined", &["LDGSTS.E.BYPASS.128 ", "DEPBAR.LE SB0, 0x2"], &["LDG.E"]),
        ("async_copy_bulk", &["UBLKCP.S.G ", "STG.E.128 "], &["LDGSTS", "LDG.E.128"]),
        ("constant_memory_parameter", &["c[0x0][R"], &["LDL", "c[0x3]"]),
        ("constant_memory_constant", &["c[0x3][R"], &["LDL", "LDG"]),
        ("constant_memory_operand", &["c[0x3][0x0]"], &["c[0x3][R", "LDG"]),
        ("constant_memory_register", &["LDG"], &["c[0x3]"]),
        ("cache_operators_plain", &["LDG.E.128 ", "STG.E.128 "], &["STRONG", ".EF", ".NA"]),
        // Not what a plain load or store is, whatever the manual says.
        ("cache_operators_stream_ca", &["LDG.E.128.STRONG.SM "], &["LDG.E.128 "]),
        ("cache_operators_stream_cg", &["LDG.E.128.STRONG.GPU "], &["LDG.E.128 "]),
        ("cache_operators_stream_cs", &["LDG.E.EF.128 "], &["STG.E.EF"]),
        ("cache_operators_stream_nc", &["LDG.E.128.CONSTANT "], &["LDG.E.128 "]),
        ("cache_operators_stream_no_allocate", &["LDG.E.NA.128 "], &["LDG.E.128 "]),
        ("cache_operators_stream_prefetch_l2", &["CCTL.E.PF2 "], &["STRONG"]),
        ("cache_operators_table_cg", &["LDG.E.STRONG.GPU ", "LDG.E.128 "], &[]),
        ("cache_operators_table_nc", &["LDG.E.CONSTANT ", "LDG.E.128 "], &[]),
        ("cache_operators_store_wb", &["STG.E.128.STRONG.SM "], &["STG.E.128 "]),
        ("cache_operators_store_cg", &["STG.E.128.STRONG.GPU "], &["STG.E.128 "]),
        ("cache_operators_store_cs", &["STG.E.EF.128 "], &["STG.E.128 "]),
        ("cache_operators_store_wt", &["STG.E.128.STRONG.SYS "], &["STG.E.128 "]),
        ("cache_operators_both_cs", &["LDG.E.EF.128 ", "STG.E.EF.128 "], &["STG.E.128 "]),
        ("misalignment_shifted_nc", &["LDG.E.CONSTANT "], &["LDG.E R"]),
    ];
    for (kernel, present, absent) in expected {
        let code = disassemble(&tool("cuobjdump"), &cubin, kernel).expect("the kernel is there");
        for instruction in present {
            assert!(code.contains(instruction), "{kernel} has no {instruction}");
        }
        for instruction in absent {
            assert!(!code.contains(instruction), "{kernel} has {instruction}");
        }
    }
    // A policy travels with the descriptor of a load: that of the keys, or of the table, is another one.
    let descriptor = |kernel: &str, instruction: &str| {
        let code = disassemble(&tool("cuobjdump"), &cubin, kernel).expect("the kernel is there");
        let line = code.lines().find(|line| line.contains(instruction)).expect("it is there");
        line.split_once("desc[").map(|(_, rest)| rest[..3].to_owned()).expect("it has one")
    };
    let (keys, results) = ("LDG.E.128 ", "STG.E.128 ");
    let policy = "cache_operators_stream_evict_first";
    assert_ne!(descriptor(policy, keys), descriptor(policy, results));
    let plain = "cache_operators_plain";
    assert_eq!(descriptor(plain, keys), descriptor(plain, results));
    let registers = |name: &str| {
        let found = resources.iter().find(|kernel| kernel.kernel == name);
        found.unwrap_or_else(|| panic!("no kernel {name}")).registers
    };
    for bytes in [4, 8, 16] {
        let (through, past) = (
            registers(&format!("async_copy_registers_{bytes}")),
            registers(&format!("async_copy_async_{bytes}")),
        );
        assert!(past < through, "{bytes} bytes: {past} registers, {through} through registers");
    }
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
fn registers_spills_and_memory_of_the_catalogue() {
    resources("kernels/resources.txt", CATALOGUE.images);
}

#[test]
#[ignore = "needs ptxas"]
fn registers_spills_and_memory_of_the_instruments() {
    resources("crates/measurement_kernels/resources.txt", coalesce::instruments::IMAGES);
}

/// A folder of PTX files of other programs, each for 9.0, and the table of what `ptxas` and the estimate say of their kernels.
const OTHERS: &str = "COALESCE_PTX";
const REGISTERS: &str = "results/virtual/registers.csv";

/// The estimate of registers gives three of four kernels of other programs the places on a multiprocessor that they have.
/// With PTX of them at hand, the table is made anew.
#[test]
#[ignore = "needs ptxas"]
fn registers_of_other_programs_are_estimated() {
    let path = crate::kernels_source::root().join(REGISTERS);
    if let Some(folder) = std::env::var_os(OTHERS) {
        let files = std::fs::read_dir(folder)
            .expect("a folder")
            .map(|file| file.expect("it is there").path());
        let mut files: Vec<PathBuf> =
            files.filter(|file| file.extension().is_some_and(|ending| ending == "ptx")).collect();
        files.sort();
        let mut table = "program,ptxas,estimated\n".to_owned();
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a readable file");
            let Ok(module) = simt::Module::parse(&text) else { continue };
            let program = file.file_stem().unwrap_or_default().display();
            for said in assemble(&ptxas(), &file, "sm_90", None).expect("ptxas takes it") {
                if let Ok(kernel) = module.kernel(&said.kernel)
                    && kernel.supported().is_ok()
                {
                    let _ = writeln!(table, "{program},{},{}", said.registers, kernel.registers());
                }
            }
        }
        std::fs::write(&path, table).expect("a writable checkout");
    }
    let table = std::fs::read_to_string(path).expect("the table is committed");
    let profile = virtual_gpu::Profile::named("h100").expect("a known profile");
    let blocks = |registers: &str| {
        let registers = registers.parse().expect("a number");
        let needs = virtual_gpu::BlockNeeds { threads: 256, registers, shared_bytes: 0 };
        virtual_gpu::blocks_per_multiprocessor(&profile, needs)
    };
    let (mut right, mut all) = (0, 0);
    for row in table.lines().skip(1) {
        let [_, said, estimated] = row.split(',').collect::<Vec<_>>()[..] else { panic!("{row}") };
        right += u32::from(blocks(said) == blocks(estimated));
        all += 1;
    }
    println!("{right} of {all} kernels of other programs have the occupancy that is estimated");
    assert!(4 * right >= 3 * all && all > 300, "{right} of {all}");
}

/// The kernel that shows what spills are.
const SPILLED: &str = "local_memory_spilled";
/// The one that spills to shared memory, or on later processors not at all.
const SPILLED_SHARED: &str = "local_memory_spilled_shared";

/// Assembles every kernel for every processor and compares its needs with the committed file, which programs embed.
fn resources(path: &str, images: &[Image]) {
    let ptxas = ptxas();
    let mut text = String::new();
    let mut assembled = 0;
    for processor in PROCESSORS {
        let image = images
            .iter()
            .rfind(|image| {
                image.capability == processor
                    || image.capability < processor && !image.is_specific()
            })
            .expect("an image for the processor");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("kernels.ptx");
        std::fs::write(&file, image.text()).expect("a writable temporary folder");
        let target = if image.is_specific() { image.target() } else { format!("sm_{processor}") };
        let resources = assemble(&ptxas, &file, &target, None).expect("ptxas takes our PTX");
        let mut entries: Vec<&str> = image.kernels.iter().map(|facts| facts.kernel).collect();
        let mut found: Vec<&str> = resources.iter().map(|one| one.kernel.as_str()).collect();
        entries.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, entries, "ptxas assembled every entry of {path} for sm_{processor}");
        for kernel in &resources {
            let spilled = kernel.spill_store_bytes + kernel.spill_load_bytes;
            let means_it = kernel.kernel == SPILLED;
            assert!(
                (spilled > 0) == means_it || kernel.kernel == SPILLED_SHARED,
                "{} on sm_{processor}: {spilled} B of spills",
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
    println!("assembled {assembled} kernels for {PROCESSORS:?}");
    snapshots::compare(path, &text);
}

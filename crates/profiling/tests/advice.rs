//! Each rule of advice has a kernel that it speaks of, and one that it is silent about.

use profiling::Collector;
use results::{Advice, AdviceKind, ProfiledKernel};
use simt::{Launch, Memory, Module, Options, Watched, run};
use std::sync::Arc;
use virtual_gpu::{
    LaunchRecord, Misuse, MisuseKind, OperationKind, OperationRecord, PageMoves, Parts,
};

/// A kernel of these instructions: `%r1` is the thread, `%rd1` an array of 64 KiB, `tile` 8 KiB of shared memory, `table`
/// constants, `own` local memory, and `twice` a function.
fn ptx(body: &str) -> String {
    format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.const .align 4 .b8 table[4096];\n\
         .func (.param .b32 r) twice(.param .b32 a) {{ .reg .b32 %s<3>; \
         ld.param.b32 %s1, [a]; add.u32 %s2, %s1, %s1; st.param.b32 [r], %s2; ret; }}\n\
         .visible .entry k(.param .u64 array)\n{{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n.reg .f32 %f<20>;\n\
         .shared .align 16 .b8 tile[8192];\n.local .align 4 .b8 own[64];\n\
         mov.u32 %r1, %tid.x;\nld.param.u64 %rd1, [array];\n{body}\nret;\n}}\n"
    )
}

/// The address `%rd3` of element `%r2` of 4 bytes.
const ELEMENT: &str = "mul.wide.u32 %rd2, %r2, 4;\nadd.u64 %rd3, %rd1, %rd2;\n";

/// Runs a kernel of 128 threads on each of 128 blocks, as if each part of the device were busy for the same time.
fn launched(body: &str) -> LaunchRecord {
    let text = ptx(body);
    let module = Module::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut memory = Memory::default();
    let array = memory.allocate(64 << 10).unwrap();
    memory.fill(array, 0, 64 << 10).unwrap();
    let launch = Launch::new("k", [128, 1, 1], [128, 1, 1]).address(array);
    let options = Options { watched: Some(Watched::default()), ..Options::default() };
    let report = run(&module, &mut memory, &launch, &options).unwrap();
    let parts = Parts {
        dram_ns: 1e3,
        l2_ns: 1e3,
        requests_ns: 1e3,
        l1_ns: 1e3,
        constant_ns: 1e3,
        atomics_ns: 1e3,
        start_ns: 1e3,
        issue_ns: 1e3,
        waiting_ns: 2e3,
        ..Parts::default()
    };
    LaunchRecord {
        estimate: None,
        kernel: "k".to_owned(),
        grid: launch.grid,
        block: launch.block,
        dynamic_shared_bytes: 0,
        occupancy: 1.0,
        module: Arc::new(module),
        report,
        parts,
        moves: PageMoves::default(),
        model_ns: parts.together_ns(),
        profiled_ns: parts.together_ns(),
        fault: None,
        fault_place: None,
    }
}

fn advice_on(record: LaunchRecord) -> Vec<Advice> {
    let mut collector = Collector::new("test".to_owned(), "none".to_owned(), false, String::new());
    collector.launch(record);
    collector.profile().advice
}

fn kinds(advice: &[Advice]) -> Vec<AdviceKind> {
    advice.iter().map(|one| one.kind).collect()
}

/// The one advice on the first kernel; none on the second.
fn pair(kind: AdviceKind, wasteful: &str, cured: &str) -> Advice {
    let (found, silent) = (advice_on(launched(wasteful)), advice_on(launched(cured)));
    assert_eq!(kinds(&found), [kind], "{found:#?}");
    assert_eq!(kinds(&silent), [], "{silent:#?}");
    found.into_iter().next().unwrap()
}

/// A load of element `%r2`, which `index` computes.
fn load(index: &str) -> String {
    format!("{index}\n{ELEMENT}ld.global.f32 %f1, [%rd3];")
}

fn promised(advice: &Advice) -> (&str, f64, f64) {
    let promise = advice.promise.as_ref().expect("a promise");
    (&promise.counter, promise.from, promise.to)
}

#[test]
fn lanes_far_apart() {
    let strided = load("mul.lo.u32 %r2, %r1, 32;");
    let advice = pair(AdviceKind::StridedAccess, &strided, &load("mov.u32 %r2, %r1;"));
    assert_eq!(promised(&advice), ("sectors per request", 32.0, 4.0));
    assert_eq!(advice.lanes, "lanes 0 and 1 are 128 bytes apart");
    assert!(advice.seen.contains("uses 12 % of their bytes"), "{}", advice.seen);
}

#[test]
fn lanes_anywhere() {
    let scattered =
        load("mul.lo.u32 %r2, %r1, %r1;\nmul.lo.u32 %r2, %r2, 37;\nand.b32 %r2, %r2, 8191;");
    let permuted = load("xor.b32 %r2, %r1, 13;");
    pair(AdviceKind::ScatteredAccess, &scattered, &permuted);
}

#[test]
fn a_warp_that_begins_inside_a_sector() {
    let (shifted, aligned) = (load("add.u32 %r2, %r1, 1;"), load("add.u32 %r2, %r1, 8;"));
    let advice = pair(AdviceKind::MisalignedAccess, &shifted, &aligned);
    assert_eq!(promised(&advice), ("sectors per request", 5.0, 4.0));
}

#[test]
fn neighbours_by_several_loads() {
    let each = |at: u32| format!("ld.global.f32 %f{at}, [%rd3+{}];\n", 4 * at);
    let start = format!("mul.lo.u32 %r2, %r1, 4;\n{ELEMENT}");
    let narrow = format!("{start}{}{}{}{}", each(0), each(1), each(2), each(3));
    let wide = format!("{start}ld.global.v4.f32 {{%f0, %f1, %f2, %f3}}, [%rd3];");
    let advice = pair(AdviceKind::NarrowAccess, &narrow, &wide);
    assert_eq!(promised(&advice), ("requests of the group", 4.0, 1.0));
}

#[test]
fn one_bank() {
    let column = |row: u32| {
        format!(
            "mov.u32 %r3, tile;\nand.b32 %r4, %r1, 31;\nmad.lo.u32 %r5, %r4, {row}, %r3;\nld.shared.u32 %r6, [%r5];"
        )
    };
    let advice = pair(AdviceKind::BankConflict, &column(128), &column(132));
    assert_eq!(promised(&advice), ("wavefronts per request", 32.0, 1.0));
    assert!(advice.cure.starts_with("pad each row of 32 words by 1"), "{}", advice.cure);
    // The padding that is named is applied, and the count is the one that was promised: see the cured kernel.
}

#[test]
fn a_cure_names_rows_only_where_the_lanes_show_them() {
    let every = |words: u32| {
        format!(
            "mov.u32 %r3, tile;\nand.b32 %r4, %r1, 31;\nmad.lo.u32 %r5, %r4, {words}, %r3;\nld.shared.u32 %r6, [%r5];"
        )
    };
    let found = advice_on(launched(&every(8)));
    let cure = &found[0].cure;
    let expected = "leave 1 unused after every 32 words, so that word `i` lies at `i + i / 32`";
    assert!(cure.starts_with(expected), "{cure}");
    assert_eq!(promised(&found[0]), ("wavefronts per request", 2.0, 1.0));
    // The cure, applied.
    let cured = every(8).replace(
        "ld.shared",
        "sub.u32 %r7, %r5, %r3;\nshr.u32 %r7, %r7, 7;\nmad.lo.u32 %r5, %r7, 4, %r5;\nld.shared",
    );
    assert_eq!(kinds(&advice_on(launched(&cured))), []);
}

#[test]
fn a_large_conflict_is_named_where_another_part_hides_it() {
    let column = |lanes: u32| {
        let body = format!("mov.u32 %r3, tile;\nand.b32 %r4, %r1, {lanes};\n");
        let mut record =
            launched(&(body + "mad.lo.u32 %r5, %r4, 128, %r3;\nld.shared.u32 %r6, [%r5];"));
        record.parts.dram_ns = 1e6;
        record.profiled_ns = record.parts.together_ns();
        advice_on(record)
    };
    let found = column(31);
    assert_eq!(kinds(&found), [AdviceKind::BankConflict], "{found:#?}");
    let cure = &found[0].cure;
    assert!(cure.ends_with("before there is less of device memory"), "{cure}");
    assert_eq!(kinds(&column(3)), [], "a small one is hidden");
}

#[test]
fn two_rows_at_the_same_banks() {
    // Lanes 0 to 15 read one row, the others the next.
    let rows = |row: u32| {
        format!(
            "mov.u32 %r3, tile;\nand.b32 %r4, %r1, 31;\nshr.u32 %r5, %r4, 4;\nand.b32 %r4, %r4, 15;\nmad.lo.u32 %r6, %r5, {row}, %r3;\nmad.lo.u32 %r6, %r4, 4, %r6;\nld.shared.u32 %r7, [%r6];"
        )
    };
    let advice = pair(AdviceKind::BankConflict, &rows(640), &rows(704));
    assert_eq!(promised(&advice), ("wavefronts per request", 2.0, 1.0));
    assert_eq!(advice.cure, "pad each row of 160 words by 16: the request then takes 1");
}

#[test]
fn one_address_for_all_lanes() {
    let add = |index: &str| {
        format!("{index}\n{ELEMENT}cvt.rn.f32.u32 %f1, %r1;\nred.global.add.f32 [%rd3], %f1;")
    };
    let advice =
        pair(AdviceKind::ContendedAtomic, &add("mov.u32 %r2, 0;"), &add("mov.u32 %r2, %r1;"));
    assert_eq!(promised(&advice), ("passes per request", 32.0, 1.0));
    // The assembler combines what lanes do to one word: constants, and integers of 32 bits.
    for combined in ["add.u32 [%rd3], 1", "add.u32 [%rd3], %r1", "max.s32 [%rd3], %r1"] {
        let body = format!("mov.u32 %r2, 0;\n{ELEMENT}red.global.{combined};");
        assert_eq!(kinds(&advice_on(launched(&body))), [], "{combined}");
    }
    let shared = |mask: u32| {
        format!(
            "mov.u32 %r3, tile;\nand.b32 %r4, %r1, {mask};\nmad.lo.u32 %r5, %r4, 4, %r3;\natom.shared.add.u32 %r6, [%r5], %r1;\nred.global.add.u32 [%rd1+1024], 0;"
        )
    };
    // The reduction in global memory is contended in both, so only the shared one is compared.
    let found = |mask| {
        let all = advice_on(launched(&shared(mask)));
        all.iter().filter(|one| one.seen.contains("shared memory")).count()
    };
    assert_eq!((found(0), found(31)), (1, 0));
}

#[test]
fn different_constants() {
    let read = |factor: u32| {
        format!(
            "mov.u64 %rd4, table;\nand.b32 %r2, %r1, 31;\nmul.wide.u32 %rd5, %r2, {factor};\nadd.u64 %rd6, %rd4, %rd5;\nld.const.u32 %r3, [%rd6];"
        )
    };
    let advice = pair(AdviceKind::DivergentConstant, &read(4), &read(0));
    assert_eq!(promised(&advice), ("words per request", 32.0, 1.0));
}

#[test]
fn an_array_in_local_memory() {
    let local = "mov.u32 %r2, own;\nand.b32 %r3, %r1, 15;\nmad.lo.u32 %r4, %r3, 4, %r2;\nst.local.u32 [%r4], %r1;\nld.local.u32 %r5, [%r4];";
    let found = advice_on(launched(local));
    assert_eq!(kinds(&found), [AdviceKind::LocalMemory]);
    assert_eq!(promised(&found[0]), ("local requests", 1024.0, 0.0));
    assert_eq!(kinds(&advice_on(launched("add.u32 %r2, %r1, 1;"))), []);
    // What a call passes is in registers on a GPU.
    let call = "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1;\ncall.uni (r), twice, (a);\nld.param.b32 %r6, [r]; }";
    assert_eq!(kinds(&advice_on(launched(call))), []);
    let found = advice_on(launched(&format!("{local}\n{call}")));
    assert_eq!(promised(&found[0]), ("local requests", 1024.0, 0.0));
}

#[test]
fn lanes_that_go_different_ways() {
    let both = |condition: &str| {
        let work = |label: &str| {
            (0..12).map(|_| format!("add.u32 {label}, {label}, 3;\n")).collect::<String>()
        };
        format!(
            "mov.u32 %r5, 0;\nmov.u32 %r6, 0;\n{condition}\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra other;\n{}bra done;\nother:\n{}done:\nmov.u32 %r7, 0;",
            work("%r5"),
            work("%r6")
        )
    };
    let (by_lane, by_warp) = (both("and.b32 %r2, %r1, 1;"), both("and.b32 %r2, %r1, 32;"));
    let advice = pair(AdviceKind::Divergence, &by_lane, &by_warp);
    assert!(advice.ptx_line.is_some());
}

#[test]
fn few_warps_that_wait() {
    let record = || launched(&load("mov.u32 %r2, %r1;"));
    let few = LaunchRecord { occupancy: 0.2, ..record() };
    assert_eq!(kinds(&advice_on(few)), [AdviceKind::LowOccupancy]);
    // Enough warps; or a kernel that waits for memory's rate, not for its latency.
    assert_eq!(kinds(&advice_on(record())), []);
    let parts = Parts { dram_ns: 9e3, ..record().parts };
    assert_eq!(kinds(&advice_on(LaunchRecord { occupancy: 0.2, parts, ..record() })), []);
}

/// The advice on a program that did these operations, each from one time to another, and made these mistakes.
fn of_program(operations: &[(OperationKind, f64, f64)], mistakes: Vec<Misuse>) -> Vec<AdviceKind> {
    let mut collector = Collector::new("test".to_owned(), "none".to_owned(), false, String::new());
    let records = operations.iter().map(|(kind, start_ns, end_ns)| OperationRecord {
        kind: kind.clone(),
        stream: Some(0),
        start_ns: *start_ns,
        end_ns: *end_ns,
    });
    collector.operations(records.collect());
    collector.mistakes(mistakes);
    kinds(&collector.profile().advice)
}

#[test]
fn copies_of_a_program() {
    let pageable = Misuse {
        kind: MisuseKind::PageableAsyncCopy,
        fault: None,
        memory: None,
        call: "cuMemcpyHtoDAsync_v2",
        message: String::new(),
        location: None,
        code: None,
        count: 1,
    };
    assert_eq!(of_program(&[], vec![pageable]), [AdviceKind::PageableCopy]);
    let small = |bytes: u64, count: u32| {
        let copies = (0..count).map(|at| {
            (OperationKind::HostToDevice(bytes), f64::from(at) * 1e3, f64::from(at) * 1e3 + 900.0)
        });
        of_program(&copies.collect::<Vec<_>>(), Vec::new())
    };
    assert_eq!(small(512, 20), [AdviceKind::SmallCopies]);
    assert_eq!((small(512, 2), small(1 << 20, 20)), (vec![], vec![]));
    let upload = OperationKind::HostToDevice(64 << 20);
    let kernel = OperationKind::Kernel("k".to_owned());
    let serial = [(upload.clone(), 0.0, 1e6), (kernel.clone(), 1e6, 2e6)];
    assert_eq!(of_program(&serial, Vec::new()), [AdviceKind::MissingOverlap]);
    let together = [(upload.clone(), 0.0, 1e6), (kernel.clone(), 1e5, 1e6)];
    assert_eq!(of_program(&together, Vec::new()), []);
}

/// The cure of a kernel that Triton made names what its author can turn.
#[test]
fn triton_is_advised_in_its_own_words() {
    let body = load("mul.lo.u32 %r2, %r1, 32;");
    let advice = |of_triton: bool| {
        let mut record = launched(&body);
        if of_triton {
            let text =
                format!("// Generated by LLVM NVPTX Back-End\n{}\n.file 1 \"a.py\"\n", ptx(&body));
            record.module = Arc::new(Module::parse(&text).unwrap());
        }
        advice_on(record)
    };
    let (own, plain) = (advice(true), advice(false));
    assert_eq!(kinds(&own), kinds(&plain));
    assert_eq!(kinds(&own), [AdviceKind::StridedAccess]);
    assert!(own[0].cure.contains("`[:, None]`") && !plain[0].cure.contains("None"), "{own:#?}");
}

/// Specializations of one kernel are modules with kernels of one name; a module that is loaded again is no other one.
#[test]
fn kernels_of_one_name_in_different_modules_have_their_own_rows() {
    let mut collector = Collector::new("test".to_owned(), "none".to_owned(), false, String::new());
    let store = format!("{ELEMENT}st.global.u32 [%rd3], 1;");
    let other = format!("{ELEMENT}st.global.u32 [%rd3], 2;\nst.global.u32 [%rd3], 3;");
    for body in [&store, &other, &store] {
        collector.launch(launched(body));
    }
    let kernels = collector.profile().kernels;
    let rows = kernels.iter().map(|it| (&*it.name, it.launches)).collect::<Vec<_>>();
    assert_eq!(rows, [("k", 2), ("k.2", 1)]);
    let stores = |kernel: &ProfiledKernel| kernel.counters.global_store.requests / kernel.launches;
    assert_eq!(stores(&kernels[1]), 2 * stores(&kernels[0]));
}

#[test]
fn gains_together_are_less_than_the_time_of_the_kernel() {
    let index = "mul.lo.u32 %r2, %r1, 32;";
    let wasteful: String = (0..6)
        .map(|_| load(index) + &format!("{ELEMENT}red.global.add.f32 [%rd1+64], %f1;\n"))
        .collect();
    let record = launched(&format!("cvt.rn.f32.u32 %f1, %r1;\n{wasteful}"));
    let time = record.model_ns / 1e3;
    let advice = advice_on(record);
    let sum: f64 = advice.iter().map(|one| one.gain_us).sum();
    assert!(advice.len() > 1, "{advice:#?}");
    assert!(sum < time && sum > 0.9 * time, "{sum} of {time}");
}

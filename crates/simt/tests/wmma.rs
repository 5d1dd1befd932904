//! `wmma`: the results of a GPU for every shape and type, and what is refused.

use crate::mma::{sweep, tile};
use simt::{Error, Launch, Memory, Module, Options, run};
use tile::{Form, Kind};

/// The output of `mma/wmma.cu`.
const MEASURED: &str = include_str!("../fixtures/wmma.txt");

/// The forms in the order of `wmma.cu`: shape, types of D, A and C, and the layout of B.
fn forms() -> Vec<(String, Form, &'static str)> {
    let form = |m, n, k, a, c| Form { m, n, k, a, b: a, c, saturates: false, since: 70 };
    let mut forms = Vec::new();
    for (a, c) in [
        (Kind::F16, Kind::F32),
        (Kind::F16, Kind::F16),
        (Kind::Bf16, Kind::F32),
        (Kind::S8, Kind::S32),
        (Kind::U8, Kind::S32),
    ] {
        for (m, n, layout) in [(16, 16, "col"), (16, 16, "row"), (32, 8, "col"), (8, 32, "row")] {
            forms.push((form(m, n, 16, a, c), layout));
        }
    }
    for layout in ["col", "row"] {
        forms.push((form(16, 16, 8, Kind::Tf32, Kind::F32), layout));
    }
    for layout in ["col", "row"] {
        forms.push((form(8, 8, 4, Kind::F64, Kind::F64), layout));
    }
    let name = |form: &Form, layout| {
        format!("m{}n{}k{}.{}.{}.{layout}", form.m, form.n, form.k, form.c.name(), form.a.name())
    };
    forms.into_iter().map(|(form, layout)| (name(&form, layout), form, layout)).collect()
}

fn bytes(kind: Kind) -> usize {
    match kind {
        Kind::S8 | Kind::U8 => 1,
        Kind::F16 | Kind::Bf16 => 2,
        Kind::F64 => 8,
        _ => 4,
    }
}

/// `k(a, b, c, d)`: one product per block.
fn ptx(form: &Form, layout: &str, target: &str) -> String {
    let Form { m, n, k, a, c, .. } = *form;
    let registers = |kind: Kind, elements: usize, is_factor: bool| match kind {
        Kind::F16 if is_factor => 8,
        _ => elements / 32 * bytes(kind) / bytes(kind).max(4),
    };
    let list = |name: &str, count: usize| {
        let names: Vec<String> = (0..count).map(|r| format!("%{name}{r}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let long = if a == Kind::F64 { "f64" } else { "b32" };
    let shape = format!("m{m}n{n}k{k}");
    let (ra, rb, rc) =
        (registers(a, m * k, true), registers(a, k * n, true), registers(c, m * n, false));
    let types = match (a, c) {
        (Kind::F16, c) => format!("{0}.{0}", c.name()),
        (a, c) => format!(
            "{1}.{0}.{0}.{1}{2}",
            a.name(),
            c.name(),
            if a == Kind::F64 { ".rn" } else { "" }
        ),
    };
    let mut text = format!(
        ".version 8.0\n.target {target}\n.address_size 64\n\
         .visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {{\n\
         .reg .b32 %i; .reg .b64 %p<4>; .reg .{long} %a<8>, %b<8>, %c<8>, %d<8>;\nmov.u32 %i, %ctaid.x;\n"
    );
    for (place, (name, step)) in [
        ("a", m * k * bytes(a)),
        ("b", k * n * bytes(a)),
        ("c", m * n * bytes(c)),
        ("d", m * n * bytes(c)),
    ]
    .iter()
    .enumerate()
    {
        text += &format!(
            "ld.param.u64 %p{place}, [{name}]; mad.wide.u32 %p{place}, %i, {step}, %p{place};\n"
        );
    }
    let stride = if layout == "col" { k } else { n };
    let (ta, tc) = (a.name(), c.name());
    text += &format!(
        "wmma.load.a.sync.aligned.row.{shape}.global.{ta} {}, [%p0], {k};\n\
         wmma.load.b.sync.aligned.{layout}.{shape}.global.{ta} {}, [%p1], {stride};\n\
         wmma.load.c.sync.aligned.row.{shape}.global.{tc} {}, [%p2], {n};\n\
         wmma.mma.sync.aligned.row.{layout}.{shape}.{types} {}, {}, {}, {};\n\
         wmma.store.d.sync.aligned.row.{shape}.global.{tc} [%p3], {}, {n};\nret;\n}}\n",
        list("a", ra),
        list("b", rb),
        list("c", rc),
        list("d", rc),
        list("a", ra),
        list("b", rb),
        list("c", rc),
        list("d", rc),
    );
    text
}

/// The digests of a form's tiles.
fn digests(number: usize, form: &Form, layout: &str) -> Vec<u32> {
    let module = Module::parse(&ptx(form, layout, "sm_90")).unwrap();
    let mut memory = Memory::default();
    let mut matrices = [const { Vec::new() }; 3];
    for tile in 0..sweep::TILES {
        let tile = sweep::generate(form, 128 + number, tile);
        for (which, (matrix, kind)) in tile.iter().zip([form.a, form.a, form.c]).enumerate() {
            for i in 0..matrix.len() {
                let (n, k) = (form.n, form.k);
                let at = if which == 1 && layout == "col" { i % k * n + i / k } else { i };
                matrices[which].extend_from_slice(&matrix[at].to_le_bytes()[..bytes(kind)]);
            }
        }
    }
    let mut launch = Launch::new("k", [sweep::TILES as u32, 1, 1], [32, 1, 1]);
    for matrix in &matrices {
        let address = memory.allocate(matrix.len() as u64).unwrap();
        memory.write(address, matrix).unwrap();
        launch = launch.address(address);
    }
    let mut out = vec![0; matrices[2].len()];
    let address = memory.allocate(out.len() as u64).unwrap();
    let options = Options { counters: false, ..Options::default() };
    run(&module, &mut memory, &launch.address(address), &options).unwrap();
    memory.read(address, &mut out).unwrap();
    let width = bytes(form.c);
    let tiles = out.chunks(form.m * form.n * width).map(|tile| {
        let elements = tile
            .chunks(width)
            .map(|bytes| bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)));
        sweep::digest(&elements.collect::<Vec<_>>())
    });
    tiles.collect()
}

#[test]
fn results_equal_the_gpu() {
    let measured = sweep::read(MEASURED);
    let mut wrong = Vec::new();
    let forms = forms();
    assert_eq!(measured.len(), forms.len());
    for (number, (name, form, layout)) in forms.iter().enumerate() {
        let gpu = measured.iter().find(|(measured, _)| measured == name).expect(name);
        let ours = digests(number, form, layout);
        assert_eq!((ours.len(), gpu.1.digests.len()), (sweep::TILES, sweep::TILES));
        let differing = ours.iter().zip(&gpu.1.digests).filter(|(ours, gpu)| ours != gpu).count();
        if differing > 0 {
            wrong.push(format!("{name}: {differing} tiles"));
        }
    }
    assert_eq!(wrong, [""; 0], "other bits than on the GPU");
}

#[test]
fn an_older_target_and_other_forms_are_refused() {
    let form = Form {
        m: 16,
        n: 16,
        k: 16,
        a: Kind::Bf16,
        b: Kind::Bf16,
        c: Kind::F32,
        saturates: false,
        since: 80,
    };
    let refuse = |text: &str| {
        let module = Module::parse(text).unwrap();
        module.kernel("k").unwrap().supported().unwrap_err().clone()
    };
    let Error::Invalid { message, .. } = refuse(&ptx(&form, "col", "sm_75")) else { panic!() };
    assert!(
        message.contains("needs compute capability 8.0, but the module is for sm_75"),
        "{message}"
    );
    // Four-bit integers, and f16 of m8n8k4, exist and are not supported.
    let four_bits =
        ptx(&form, "col", "sm_90").replace("m16n16k16.global.bf16", "m8n8k32.global.s4");
    assert!(matches!(refuse(&four_bits), Error::Unsupported { .. }));
}

/// A kernel of one warp that loads a fragment, as 4 bytes a register, and stores them by lane.
fn fragment(
    matrix: &str,
    layout: &str,
    form: &Form,
    kind: Kind,
    is_shared: bool,
) -> (String, usize) {
    let Form { m, n, k, .. } = *form;
    let (rows, columns) = match matrix {
        "a" => (m, k),
        "b" => (k, n),
        _ => (m, n),
    };
    let (long, count) = (bytes(kind) == 8, rows * columns * bytes(kind));
    let registers = match kind {
        Kind::F16 if matrix != "c" => 8,
        _ => count / 32 / bytes(kind).max(4),
    };
    let (t, width) = if long { ("f64", 8) } else { ("b32", 4) };
    let names: Vec<String> = (0..registers).map(|r| format!("%f{r}")).collect();
    let names = names.join(", ");
    let stride = if layout == "row" { columns } else { rows };
    let name = format!("sync.aligned.{layout}.m{m}n{n}k{k}");
    let mut text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 from, .param .u64 to) {{\n\
         .reg .b32 %r<9>; .reg .b64 %p<9>; .reg .{t} %f<9>; .reg .pred %q; .shared .align 128 .b8 tile[4096];\n\
         ld.param.u64 %p1, [from]; ld.param.u64 %p2, [to]; mov.u32 %r1, %tid.x; mul.wide.u32 %p3, %r1, 128; add.u64 %p3, %p2, %p3;\n"
    );
    if is_shared {
        text += &format!(
            "shl.b32 %r2, %r1, 2; mov.u32 %r3, tile;\n\
             again: cvt.u64.u32 %p4, %r2; add.u64 %p5, %p1, %p4; ld.global.b32 %r4, [%p5]; add.u32 %r5, %r3, %r2;\n\
             st.shared.b32 [%r5], %r4; add.u32 %r2, %r2, 128; setp.lt.u32 %q, %r2, {count}; @%q bra again;\n\
             bar.warp.sync -1; cvt.u64.u32 %p1, %r3;\n"
        );
    }
    let space = if is_shared { "shared" } else { "global" };
    let kind = kind.name();
    text += &format!("wmma.load.{matrix}.{name}.{space}.{kind} {{{names}}}, [%p1], {stride};\n");
    for r in 0..registers {
        text += &format!("st.global.{t} [%p3+{}], %f{r};\n", r * width);
    }
    if matrix == "c" {
        // What is stored again is what was loaded.
        text += &format!(
            "add.u64 %p2, %p2, 4096;\nwmma.store.d.{name}.global.{kind} [%p2], {{{names}}}, {stride};\n"
        );
        text += &format!(
            "mov.u32 %r3, tile; cvt.u64.u32 %p1, %r3; bar.warp.sync -1;\n\
             wmma.store.d.{name}.shared.{kind} [%p1], {{{names}}}, {stride}; bar.warp.sync -1;\n\
             shl.b32 %r2, %r1, 2; add.u64 %p2, %p2, 4096;\n\
             out: add.u32 %r5, %r3, %r2; ld.shared.b32 %r4, [%r5]; cvt.u64.u32 %p4, %r2; add.u64 %p5, %p2, %p4;\n\
             st.global.b32 [%p5], %r4; add.u32 %r2, %r2, 128; setp.lt.u32 %q, %r2, {count}; @%q bra out;\n"
        );
    }
    (text + "ret;\n}\n", count)
}

/// The registers of a fragment, and what was stored of it to global and to shared memory.
fn moved(text: &str, matrix: &[u8]) -> (Vec<u8>, Vec<u8>, simt::Report) {
    let module = Module::parse(text).unwrap();
    let mut memory = Memory::default();
    let (from, to) = (memory.allocate(4096).unwrap(), memory.allocate(3 * 4096).unwrap());
    memory.write(from, matrix).unwrap();
    let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).address(from).address(to);
    let options = Options { checks: simt::Checks::all(), ..Options::default() };
    let report = run(&module, &mut memory, &launch, &options).unwrap();
    assert_eq!(report.findings, [], "{text}");
    let mut out = vec![0; 3 * 4096];
    memory.read(to, &mut out).unwrap();
    (out[..4096].to_vec(), out[4096..].to_vec(), report)
}

#[test]
fn fragments_are_the_same_from_every_layout_and_space() {
    for (_, form, _) in forms() {
        for matrix in ["a", "b", "c"] {
            let kind = if matrix == "c" { form.c } else { form.a };
            let (rows, columns) = match matrix {
                "a" => (form.m, form.k),
                "b" => (form.k, form.n),
                _ => (form.m, form.n),
            };
            let width = bytes(kind);
            let by_rows: Vec<u8> =
                (0..rows * columns * width).map(|i| (i * 7 + i / 256 * 3) as u8).collect();
            let by_columns: Vec<u8> = (0..rows * columns)
                .flat_map(|i| {
                    let at = (i % rows * columns + i / rows) * width;
                    by_rows[at..at + width].to_vec()
                })
                .collect();
            let mut first = None;
            for (layout, elements) in [("row", &by_rows), ("col", &by_columns)] {
                for is_shared in [false, true] {
                    let (text, count) = fragment(matrix, layout, &form, kind, is_shared);
                    let (registers, stored, _) = moved(&text, elements);
                    assert_eq!(*first.get_or_insert(registers.clone()), registers, "{text}");
                    if matrix == "c" {
                        assert_eq!(stored[..count], elements[..], "{text}");
                        assert_eq!(stored[4096..][..count], elements[..], "{text}");
                    }
                }
            }
        }
    }
}

#[test]
fn moves_cost_what_the_machine_code_does() {
    let form = Form {
        m: 16,
        n: 16,
        k: 16,
        a: Kind::F16,
        b: Kind::F16,
        c: Kind::F32,
        saturates: false,
        since: 70,
    };
    let bytes: Vec<u8> = (0..1024).map(|i| i as u8).collect();
    let counters = |matrix: &str, layout: &str, kind, is_shared| {
        let (text, _) = fragment(matrix, layout, &form, kind, is_shared);
        moved(&text, &bytes).2.counters
    };
    // Four words of each lane, of which 8 rows of 16 bytes are in 8 sectors; by `ldmatrix` one access of shared memory,
    // whose rows of 16 bytes are 32 bytes apart: 8 of them meet twice in each bank.
    let loads = counters("a", "row", Kind::F16, false).global_load;
    assert_eq!((loads.requests, loads.sectors), (4, 32));
    let loads = counters("a", "col", Kind::F16, true).shared_load;
    assert_eq!((loads.requests, loads.wavefronts, loads.wavefronts_ideal), (1, 8, 4));
    // Two words at once of each row of a sum, one where they lie in columns; a word of each register is stored for the test.
    let sum = counters("c", "row", Kind::F32, false).global_load;
    assert_eq!((sum.requests, sum.bytes), (4, 1024));
    let sum = counters("c", "col", Kind::F32, false).global_load;
    assert_eq!((sum.requests, sum.bytes), (8, 1024));
}

/// A tile is stored and read by other lanes: only a barrier of the warp lets them.
#[test]
fn a_stored_tile_needs_a_barrier() {
    let kernel = |barrier: &str| {
        format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n\
             .reg .b32 %r<9>; .reg .b64 %p<3>; .reg .f32 %f<9>; .shared .align 128 .b8 tile[1024];\n\
             ld.param.u64 %p1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %p2, %r1, 4; add.u64 %p1, %p1, %p2;\n\
             mov.f32 %f0, 0f3f800000; mov.u32 %r2, tile; cvt.u64.u32 %p2, %r2;\n\
             wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%p2], {{%f0, %f0, %f0, %f0, %f0, %f0, %f0, %f0}}, 16;\n\
             {barrier}\n\
             mad.lo.u32 %r3, %r1, 4, %r2; ld.shared.f32 %f1, [%r3]; st.global.f32 [%p1], %f1; ret;\n}}\n"
        )
    };
    let found = |barrier: &str| {
        let module = Module::parse(&kernel(barrier)).unwrap();
        let mut memory = Memory::default();
        let out = memory.allocate(128).unwrap();
        let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).address(out);
        let options = Options { checks: simt::Checks::all(), ..Options::default() };
        let findings = run(&module, &mut memory, &launch, &options).unwrap().findings;
        findings.iter().map(|finding| finding.hazard).collect::<Vec<_>>()
    };
    assert_eq!(found(""), [simt::Hazard::SharedRaceInWarp]);
    assert_eq!(found("bar.warp.sync 0xffffffff;"), []);
}

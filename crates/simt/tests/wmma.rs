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

//! `mma.sync`: layouts, refusals, and the bits that a GPU computed.

pub mod sweep;
pub mod tile;

use simt::{Checks, Error, Launch, Memory, Module, Options, run};
use tile::{FORMS, Form, Kind, Matrix};

fn bits(kind: Kind, value: i64) -> u64 {
    let single = || u64::from((value as f32).to_bits());
    match kind {
        Kind::F16 if value == 0 => 0,
        // The exponent's bias is 15 instead of 127.
        Kind::F16 => (((single() & 0x7fff_ffff) - (112 << 23)) >> 13) | u64::from(value < 0) << 15,
        Kind::Bf16 => single() >> 16,
        Kind::Tf32 | Kind::F32 => single(),
        Kind::F64 => (value as f64).to_bits(),
        Kind::S8 | Kind::U8 => value as u8 as u64,
        Kind::S32 => u64::from(value as u32),
        Kind::E4m3 | Kind::E5m2 if value == 0 => 0,
        // The exponents' biases are 7 and 15.
        Kind::E4m3 => (((single() & 0x7fff_ffff) - (120 << 23)) >> 20) | u64::from(value < 0) << 7,
        Kind::E5m2 => (((single() & 0x7fff_ffff) - (112 << 23)) >> 21) | u64::from(value < 0) << 7,
    }
}

fn checked() -> Options {
    Options { checks: Checks::all(), ..Options::default() }
}

/// Every product and sum of these numbers is exact in every type, and no two elements of A are equal in a row where the type
/// has so many.
fn small(form: &Form) -> [Vec<i64>; 3] {
    let signed = |value: i64, kind: Kind| match kind {
        Kind::U8 => value.abs(),
        // So few have no fraction.
        Kind::E4m3 | Kind::E5m2 => value % 5,
        _ => value,
    };
    let Form { m, n, k, .. } = *form;
    let a = (0..m * k).map(|i| signed((i * 7 % 23) as i64 - 11, form.a)).collect();
    let b = (0..k * n).map(|i| signed((i * 5 % 11) as i64 - 5, form.b)).collect();
    let c = (0..m * n).map(|i| i as i64 - 60).collect();
    [a, b, c]
}

#[test]
fn every_form_multiplies_matrices_in_the_layouts_of_the_ptx_isa() {
    for form in FORMS {
        let [a, b, c] = small(&form);
        let d: Matrix = (0..form.m * form.n)
            .map(|i| {
                let products =
                    (0..form.k).map(|k| a[i / form.n * form.k + k] * b[k * form.n + i % form.n]);
                bits(form.c, c[i] + products.sum::<i64>())
            })
            .collect();
        let as_bits = |kind, values: &[i64]| values.iter().map(|v| bits(kind, *v)).collect();
        let tile = [as_bits(form.a, &a), as_bits(form.b, &b), as_bits(form.c, &c)];
        let result = form.multiply(&[tile], &checked()).unwrap();
        assert_eq!(result, [d], "{}", form.name());
    }
}

/// Every single element of A and of B, alone, is in the right place: with identities, D is the other matrix.
#[test]
fn identities_show_which_lane_holds_what() {
    for form in FORMS {
        let Form { m, n, k, .. } = form;
        // Coprime to the widths of the matrices.
        let most = if form.since == 89 { 7 } else { 100 };
        let diagonal = |rows: usize, columns: usize, kind| -> Matrix {
            (0..rows * columns).map(|i| bits(kind, (i / columns == i % columns).into())).collect()
        };
        let counted = |elements: usize, kind| -> Matrix {
            (0..elements).map(|i| bits(kind, 1 + i as i64 % most)).collect()
        };
        let zero: Matrix = vec![0; m * n];
        let expected = |at: &dyn Fn(usize, usize) -> Option<usize>| -> Matrix {
            (0..m * n)
                .map(|i| at(i / n, i % n).map_or(0, |place| bits(form.c, 1 + place as i64 % most)))
                .collect()
        };
        let of_a = expected(&|row, column| (column < k).then_some(row * k + column));
        let of_b = expected(&|row, column| (row < k).then_some(row * n + column));
        let tiles = [
            [counted(m * k, form.a), diagonal(k, n, form.b), zero.clone()],
            [diagonal(m, k, form.a), counted(k * n, form.b), zero],
        ];
        let result = form.multiply(&tiles, &checked()).unwrap();
        assert_eq!(result, [of_a, of_b], "{}", form.name());
    }
}

#[test]
fn an_older_target_is_refused_with_kernel_and_line() {
    for form in FORMS {
        for target in ["sm_70", "sm_75", "sm_80", "sm_86", "sm_90a"] {
            let capability: u32 = target[3..5].parse().unwrap();
            let text = form.ptx(target);
            let line = 1 + text.lines().position(|line| line.starts_with("mma")).unwrap() as u32;
            let module = Module::parse(&text).unwrap();
            match module.kernel("k").unwrap().supported() {
                Ok(()) => assert!(capability >= form.since, "{} on {target}", form.name()),
                Err(Error::Invalid { position, message }) => {
                    assert!(capability < form.since, "{} on {target}: {message}", form.name());
                    assert_eq!(position.line, line);
                    let (major, minor) = (form.since / 10, form.since % 10);
                    let expected = format!(
                        "kernel `k`: `{}` needs compute capability {major}.{minor}, but the module is \
                         for {target}: compile it for sm_{} or newer",
                        form.instruction(),
                        form.since
                    );
                    assert_eq!(*message, expected);
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// A kernel without parameters, unless the executor refuses it.
fn module(body: &str) -> Result<Module, Error> {
    let module = Module::parse(&format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {{\n\
         .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p;\n{body}\nret;\n}}\n"
    ))?;
    module.kernel("k")?.supported().map_err(Error::clone)?;
    Ok(module)
}

#[test]
fn all_lanes_must_take_part() {
    let body = "mov.u32 %r1, 0; mov.u32 %r2, %laneid; setp.lt.u32 %p, %r2, 31;\n\
                @%p mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r3, %r4}, {%r1, %r1}, {%r1}, {%r1, %r1};";
    let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]);
    let result = run(&module(body).unwrap(), &mut Memory::default(), &launch, &Options::default());
    let Err(Error::IllegalInstruction { place, message }) = result else { panic!("{result:?}") };
    assert_eq!(message, "all 32 lanes of the warp must execute it together");
    assert_eq!((place.ptx_line, place.lanes, &place.kernel[..]), (7, 0x7fff_ffff, "k"));
}

#[test]
fn what_is_no_form_is_refused() {
    let fragments = "{%r1, %r2}, {%r3, %r4}, {%r5}, {%r6, %r7};";
    let f16 = "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16";
    assert!(module(&format!("{f16} {fragments}")).is_ok());
    for opcode in [
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16",
        "mma.sync.aligned.m16n8k8.row.col.f16.f16.bf16.f16",
        "mma.sync.aligned.m16n8k8.row.col.satfinite.f16.f16.f16.f16",
        "mma.sync.aligned.m16n8k8.row.row.f16.f16.f16.f16",
        "mma.aligned.m16n8k8.row.col.f16.f16.f16.f16",
        "mma.sync.aligned.m16n8k64.row.col.f16.f16.f16.f16",
        "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16",
    ] {
        let result = module(&format!("{opcode} {fragments}"));
        assert!(
            matches!(&result, Err(Error::Unsupported { what, position }) if what == opcode && position.line == 6),
            "{result:?}"
        );
    }
    for (fragments, message) in [
        ("{%r1, %r2}, {%r3, %r4}, {%r5}, {%r6};", "the fragment of C has 2 registers, not 1"),
        ("{%r1, %r2}, {%r3}, {%r5}, {%r6, %r7};", "the fragment of A has 2 registers, not 1"),
        ("{%r1}, {%r3, %r4}, {%r5}, {%r6, %r7};", "the fragment of D has 2 registers, not 1"),
    ] {
        let result = module(&format!("{f16} {fragments}"));
        assert!(
            matches!(&result, Err(Error::Invalid { message: said, .. }) if said == message),
            "{result:?}"
        );
    }
}

/// Results of a GPU: the output of `mma/sweep.cu` without whole tiles.
const MEASURED: &str = include_str!("../fixtures/mma.txt");

/// The digests of a form's tiles, as the executor computes them.
fn digests(number: usize) -> Vec<u32> {
    let form = FORMS[number];
    let tiles: Vec<_> =
        (0..sweep::TILES).map(|tile| sweep::generate(&form, number, tile)).collect();
    let options = Options { counters: false, ..Options::default() };
    form.multiply(&tiles, &options).unwrap().iter().map(|d| sweep::digest(d)).collect()
}

/// The forms whose bits are not those that were measured, with the first tile that differs, or that were not measured.
fn differing(measured: &str) -> Vec<String> {
    let measured = sweep::read(measured);
    let difference = |number: usize| {
        let name = FORMS[number].name();
        let gpu = measured.iter().find(|(measured, _)| *measured == name);
        let Some((_, gpu)) = gpu.filter(|(_, gpu)| gpu.digests.len() >= sweep::TILES) else {
            return Some(format!("{name} was not compared"));
        };
        let ours = digests(number);
        let tile = gpu.digests.iter().zip(ours).position(|(gpu, ours)| *gpu != ours)?;
        Some(format!("{name}, tile {tile}"))
    };
    (0..FORMS.len()).filter_map(difference).collect()
}

#[test]
fn results_equal_the_gpu() {
    assert_eq!(differing(MEASURED), [""; 0], "other bits than on the GPU");
}

#[test]
fn a_wrong_tile_and_a_form_that_was_not_measured_are_found() {
    let wrong = MEASURED.replacen("digests ", "digests 1 ", 1);
    let [first, last] = [FORMS[0], FORMS[25]].map(|form| form.name());
    assert_eq!(differing(&wrong), [format!("{first}, tile 0")]);
    let shorter = MEASURED.split_once(&format!("form {last}")).unwrap().0;
    assert_eq!(differing(shorter), [format!("{last} was not compared")]);
}

/// The digests would tell one bit from another.
#[test]
fn a_digest_depends_on_every_bit() {
    let matrix = [0x3f80_0000, 0, 0xffff_ffff];
    for element in 0..matrix.len() {
        for bit in 0..64 {
            let mut other = matrix;
            other[element] ^= 1 << bit;
            assert_ne!(sweep::digest(&matrix), sweep::digest(&other), "{element}, {bit}");
        }
    }
}

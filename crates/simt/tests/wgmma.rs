//! `wgmma.mma_async`: refusals, the sums that a GPU computed, and the places that its descriptors reached.

#[path = "mma/bytes.rs"]
mod bytes;

use crate::chosen::chosen;
use crate::mma::{sweep, tile};
use simt::{Error, Launch, Memory, Module, Options, run};
use std::ops::Range;
use tile::{Form, Kind, Matrix};

/// The output of `mma/wgmma.cu`.
const MEASURED: &str = include_str!("../fixtures/wgmma.txt");

/// A kernel of four warps, `k(image, c, d, a, b, fragments)`, for a target: it copies `bytes` per block to dynamic shared memory
/// and executes one `wgmma` whose D has `registers` registers. `a` and `b` are descriptors; where `fragments` is used, A
/// comes from there.
fn ptx(target: &str, instruction: &str, bytes: usize, registers: usize, rest: &str) -> String {
    let list = |name: &str, count: usize| {
        let names: Vec<String> = (0..count).map(|r| format!("%{name}{r}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let mut text = format!(
        ".version 8.4\n.target {target}\n.address_size 64\n.extern .shared .align 1024 .b8 memory[];\n\
         .visible .entry k(.param .u64 image, .param .u64 c, .param .u64 d, .param .u64 a, .param .u64 b, .param .u64 f) {{\n\
         .reg .b32 %i<9>; .reg .b64 %p<9>; .reg .b64 %da, %db; .reg .b32 %d<{registers}>, %a<4>; .reg .pred %q;\n\
         mov.u32 %i1, %tid.x; mov.u32 %i2, %ctaid.x; mov.u32 %i5, memory;\n\
         ld.param.u64 %da, [a]; ld.param.u64 %db, [b];\n\
         ld.param.u64 %p0, [image]; mad.wide.u32 %p0, %i2, {bytes}, %p0;\n\
         shl.b32 %i3, %i1, 2;\n\
         copy: cvt.u64.u32 %p1, %i3; add.u64 %p1, %p0, %p1; ld.global.b32 %i4, [%p1];\n\
         add.u32 %i6, %i5, %i3; st.shared.b32 [%i6], %i4; add.u32 %i3, %i3, 512;\n\
         setp.lt.u32 %q, %i3, {bytes}; @%q bra copy;\n\
         fence.proxy.async.shared::cta; bar.sync 0;\n\
         mad.lo.u32 %i7, %i2, 128, %i1;\n\
         ld.param.u64 %p2, [c]; mad.wide.u32 %p2, %i7, {0}, %p2;\n\
         ld.param.u64 %p3, [d]; mad.wide.u32 %p3, %i7, {0}, %p3;\n\
         ld.param.u64 %p4, [f]; mad.wide.u32 %p4, %i7, 16, %p4;\n",
        4 * registers
    );
    for r in 0..registers {
        text += &format!("ld.global.b32 %d{r}, [%p2+{}];\n", 4 * r);
    }
    if rest.contains("%a0") {
        for r in 0..4 {
            text += &format!("ld.global.b32 %a{r}, [%p4+{}];\n", 4 * r);
        }
    }
    text += &format!(
        "wgmma.fence.sync.aligned;\n\
         wgmma.mma_async.sync.aligned.{instruction} {}, {rest};\n\
         wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n",
        list("d", registers)
    );
    for r in 0..registers {
        text += &format!("st.global.b32 [%p3+{}], %d{r};\n", 4 * r);
    }
    text + "ret;\n}\n"
}

/// Runs such a kernel; what it wrote, by block, thread and register.
fn execute(
    text: &str,
    blocks: usize,
    images: &[u8],
    (c, fragments): (&[u32], &[u32]),
    descriptors: [u64; 2],
) -> Result<Vec<u32>, Error> {
    let module = Module::parse(text)?;
    let mut memory = Memory::default();
    let mut put = |bytes: &[u8]| -> Result<u64, Error> {
        let address = memory.allocate(bytes.len().max(16) as u64)?;
        memory.write(address, bytes)?;
        Ok(address)
    };
    let words =
        |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let (image, c_address) = (put(images)?, put(&words(c))?);
    let (d, f) = (put(&words(c))?, put(&words(fragments))?);
    let shared = (images.len() / blocks) as u32;
    let launch = Launch::new("k", [blocks as u32, 1, 1], [128, 1, 1]).shared(shared);
    let launch = launch.address(image).address(c_address).address(d);
    let launch = launch.u64(descriptors[0]).u64(descriptors[1]).address(f);
    let options = Options { counters: false, ..Options::default() };
    run(&module, &mut memory, &launch, &options)?;
    let mut bytes = vec![0; 4 * c.len()];
    memory.read(d, &mut bytes)?;
    Ok(bytes
        .chunks(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect())
}

fn descriptor(start: u64, leading: u64, stride: u64, swizzle: u64, base: u64) -> u64 {
    start >> 4 | (leading >> 4) << 16 | (stride >> 4) << 32 | base << 49 | swizzle << 62
}

/// Row and column of register `r` of a thread.
fn place(thread: usize, r: usize) -> (usize, usize) {
    let lane = thread % 32;
    (thread / 32 * 16 + lane / 4 + r / 2 % 2 * 8, r / 4 * 8 + lane % 4 * 2 + r % 2)
}

/// The forms of sums, those of factors of two or four bytes first: their names, which say whether A is in registers or
/// negated, and what they multiply.
const SUMS: [(&str, Kind, Kind); 18] = {
    use Kind::{Bf16, E4m3, E5m2, F16, S8, Tf32, U8};
    [
        ("m64n8k16.f32.f16.f16", F16, F16),
        ("m64n8k16.f32.bf16.bf16", Bf16, Bf16),
        ("m64n8k8.f32.tf32.tf32", Tf32, Tf32),
        ("m64n8k16.f32.f16.f16.registers", F16, F16),
        ("m64n8k16.f32.bf16.bf16.registers", Bf16, Bf16),
        ("m64n8k16.f32.bf16.bf16.negated", Bf16, Bf16),
        ("m64n8k32.f32.e4m3.e4m3", E4m3, E4m3),
        ("m64n8k32.f32.e4m3.e5m2", E4m3, E5m2),
        ("m64n8k32.f32.e5m2.e4m3", E5m2, E4m3),
        ("m64n8k32.f32.e5m2.e5m2", E5m2, E5m2),
        ("m64n8k32.f32.e5m2.e5m2.registers", E5m2, E5m2),
        ("m64n8k32.f32.e4m3.e4m3.negated", E4m3, E4m3),
        ("m64n8k32.s32.s8.s8", S8, S8),
        ("m64n8k32.s32.s8.u8", S8, U8),
        ("m64n8k32.s32.u8.s8", U8, S8),
        ("m64n8k32.s32.u8.u8", U8, U8),
        ("m64n8k32.s32.s8.s8.registers", S8, S8),
        ("m64n8k32.satfinite.s32.s8.s8", S8, S8),
    ]
};
/// Those of `mma/wgmma.cu`; the others are of `mma/wgmma_bytes.cu`.
const WIDE: usize = 6;

/// Returns what a form multiplies, and the number from which its tiles are generated.
fn form(number: usize) -> (Form, usize) {
    let (name, a, b) = SUMS[number];
    let k = 8 * a.per_register();
    let c = if a.is_float() { Kind::F32 } else { Kind::S32 };
    let saturates = name.contains("satfinite");
    let seed = if number < WIDE { 32 + number } else { 96 + number - WIDE };
    (Form { m: 64, n: 8, k, a, b, c, saturates, since: 90 }, seed)
}

fn results(number: usize) -> Vec<Matrix> {
    let name = SUMS[number].0;
    let (form, seed) = form(number);
    let (k, width) = (form.k, 32 / form.k);
    let chunk = 16 / width;
    let (mut images, mut c, mut fragments) = (Vec::new(), Vec::new(), Vec::new());
    for tile in 0..sweep::TILES {
        let [a, b, accumulators] = sweep::generate(&form, seed, tile);
        let mut image = vec![0_u8; 64 * 32 + 8 * 32];
        let mut put = |start: usize, row: usize, step: usize, bits: u64| {
            let at =
                start + row / 8 * 256 + step / chunk * 128 + row % 8 * 16 + step % chunk * width;
            image[at..at + width].copy_from_slice(&bits.to_le_bytes()[..width]);
        };
        for (i, bits) in a.iter().enumerate() {
            put(0, i / k, i % k, *bits);
        }
        for (i, bits) in b.iter().enumerate() {
            put(64 * 32, i % 8, i / 8, *bits);
        }
        images.extend_from_slice(&image);
        for thread in 0..128 {
            for r in 0..4 {
                let (row, column) = place(thread, r);
                c.push(accumulators[row * 8 + column] as u32);
                let (lane, per) = (thread % 32, 4 / width);
                let row = thread / 32 * 16 + lane / 4 + 8 * (r % 2);
                let element = |e: usize| a[row * k + r / 2 * 4 * per + lane % 4 * per + e];
                let word = (0..per).fold(0, |word, e| word | element(e) << (e * 32 / per));
                fragments.push(word as u32);
            }
        }
    }
    let instruction = name.replace(".registers", "").replace(".negated", "");
    let sign = if name.ends_with("negated") { -1 } else { 1 };
    let in_registers = name.ends_with("registers");
    let a = if in_registers { "{%a0, %a1, %a2, %a3}" } else { "%da" };
    let rest = match (form.c, width, in_registers) {
        (Kind::S32, ..) => format!("{a}, %db, 1"),
        (_, 1 | 4, _) => format!("{a}, %db, 1, {sign}, 1"),
        (_, _, true) => format!("{a}, %db, 1, {sign}, 1, 0"),
        (_, _, false) => format!("{a}, %db, 1, {sign}, 1, 0, 0"),
    };
    let text = ptx("sm_90a", &instruction, 64 * 32 + 8 * 32, 4, &rest);
    let descriptors = [descriptor(0, 128, 256, 0, 0), descriptor(64 * 32, 128, 256, 0, 0)];
    let d = execute(&text, sweep::TILES, &images, (&c, &fragments), descriptors).unwrap();
    let tiles = d.chunks(512).map(|d| {
        let mut tile = vec![0; 512];
        for (i, bits) in d.iter().enumerate() {
            let (row, column) = place(i / 4, i % 4);
            tile[row * 8 + column] = u64::from(*bits);
        }
        tile
    });
    tiles.collect()
}

/// The forms, among these, whose sums are not those that were measured.
fn differing(measured: &str, forms: Range<usize>) -> Vec<String> {
    let sums = measured.split_once("places").map_or(measured, |(sums, _)| sums);
    let measured = sweep::read(sums);
    let difference = |number: usize| {
        let name = SUMS[number].0;
        let gpu = measured.iter().find(|(measured, _)| measured == name);
        let Some((_, gpu)) = gpu.filter(|(_, gpu)| gpu.digests.len() >= sweep::TILES) else {
            return Some(format!("{name} was not measured"));
        };
        let ours = results(number);
        let same = |(gpu, ours): (&u32, &Matrix)| *gpu != sweep::digest(ours);
        let tile = gpu.digests.iter().zip(&ours).position(same)?;
        Some(format!("{name}, tile {tile}"))
    };
    forms.filter_map(difference).collect()
}

#[test]
fn sums_equal_the_gpu() {
    assert_eq!(differing(MEASURED, 0..WIDE), [""; 0], "other bits than on the GPU");
}

#[test]
fn sums_of_bytes_equal_the_gpu() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../simt/fixtures/wgmma_bytes.txt");
    let measured = std::fs::read_to_string(path).unwrap();
    assert_eq!(differing(&measured, WIDE..SUMS.len()), [""; 0], "other bits than on the GPU");
}

#[test]
fn sums_of_bytes_equal_a_second_computation() {
    for (number, (name, ..)) in SUMS.iter().enumerate().skip(WIDE) {
        let (form, seed) = form(number);
        for (tile, d) in chosen(results(number).iter().enumerate()) {
            let [mut a, b, c] = sweep::generate(&form, seed, tile);
            if name.ends_with("negated") {
                a.iter_mut().for_each(|bits| *bits ^= 0x80);
            }
            assert_eq!(*d, bytes::multiply(&form, &a, &b, &c), "{name}, tile {tile}");
        }
    }
}

#[test]
fn a_wrong_sum_is_found() {
    let wrong = MEASURED.replacen("digests ", "digests 1 ", 1);
    assert_eq!(differing(&wrong, 0..WIDE), [format!("{}, tile 0", SUMS[0].0)]);
}

const ELEMENTS: usize = 32768;

/// Shared memory in which element i is the lower 7 or the upper bits of its number, and then a unit matrix.
fn numbered(part: usize) -> Vec<u8> {
    let number = |i: usize| if part == 1 { i >> 7 } else { i & 127 };
    let bits = |value: usize| ((value as f32).to_bits() >> 16) as u16;
    let mut unit = vec![0_u16; 256];
    for n in 0..16 {
        unit[n / 8 * 128 + n / 8 * 64 + n % 8 * 8 + n % 8] = bits(1);
    }
    let elements = (0..ELEMENTS).map(|i| bits(number(i))).chain(unit);
    elements.flat_map(u16::to_le_bytes).collect()
}

/// The digest of the numbers that a descriptor of A or B reaches.
fn places(operand: &str, [start, leading, stride, swizzle, base]: [u64; 5]) -> u32 {
    let trans = u32::from(operand.ends_with("trans"));
    let of_a = operand.starts_with('a');
    let n = if of_a { 16 } else { 128 };
    let columns = if of_a { 16 } else { 128 };
    let mut numbers = vec![0_u64; if of_a { 64 * 16 } else { 16 * 128 }];
    let own = descriptor(start, leading, stride, swizzle, base);
    let rest = match of_a {
        true => format!("%da, %db, 1, 1, 1, {trans}, 0"),
        false => format!("{{%a0, %a1, %a2, %a3}}, %db, 1, 1, 1, {trans}"),
    };
    let instruction = format!("m64n{n}k16.f32.bf16.bf16");
    let text = ptx("sm_90a", &instruction, 2 * ELEMENTS + 512, n / 2, &rest);
    // A unit matrix in the first 16 rows of A.
    let mut fragments = vec![0_u32; 512];
    for lane in 0..32 {
        for r in 0..4 {
            for e in 0..2 {
                if lane / 4 + 8 * (r % 2) == r / 2 * 8 + lane % 4 * 2 + e {
                    fragments[lane * 4 + r] |= 0x3f80 << (16 * e);
                }
            }
        }
    }
    let unit = descriptor(2 * ELEMENTS as u64, 128, 256, 0, 0);
    let descriptors = if of_a { [own, unit] } else { [0, own] };
    for part in 0..2 {
        let zeros = vec![0; 128 * n / 2];
        let d = execute(&text, 1, &numbered(part), (&zeros, &fragments), descriptors).unwrap();
        for (i, bits) in d.iter().enumerate() {
            let (row, column) = place(i / (n / 2), i % (n / 2));
            if let Some(number) = numbers.get_mut(row * columns + column) {
                *number |= (f32::from_bits(*bits) as u64) << (7 * part);
            }
        }
    }
    sweep::digest(&numbers)
}

#[test]
fn descriptors_reach_what_they_reach_on_the_gpu() {
    let lines = MEASURED.lines().filter_map(|line| line.strip_prefix("places "));
    let mut compared = 0;
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let fields: Vec<u64> = words[1..6].iter().map(|word| word.parse().unwrap()).collect();
        let digest = u32::from_str_radix(words[6], 16).unwrap();
        assert_eq!(places(words[0], fields.try_into().unwrap()), digest, "{line}");
        compared += 1;
    }
    assert_eq!(compared, 384);
}

#[test]
fn a_descriptor_outside_shared_memory_is_an_error_with_kernel_and_line() {
    let text = ptx("sm_90a", "m64n8k16.f32.bf16.bf16", 2304, 4, "%da, %db, 1, 1, 1, 0, 0");
    let line = 1 + text.lines().position(|line| line.starts_with("wgmma.mma")).unwrap() as u32;
    let inside = descriptor(0, 128, 256, 0, 0);
    for (descriptors, name) in [
        ([descriptor(512, 128, 256, 0, 0), inside], "A"),
        ([inside, descriptor(2176, 128, 256, 0, 0)], "B"),
    ] {
        let result = execute(&text, 1, &[0; 2304], (&[0; 512], &[]), descriptors);
        let Err(Error::IllegalAddress { place, message, .. }) = result else {
            panic!("{result:?}")
        };
        assert_eq!(message, format!("the descriptor of {name} points outside shared memory"));
        assert_eq!((place.ptx_line, &place.kernel[..]), (line, "k"));
    }
}

#[test]
fn a_target_without_it_is_refused_with_kernel_and_line() {
    let text = ptx("sm_90", "m64n8k16.f32.bf16.bf16", 2304, 4, "%da, %db, 1, 1, 1, 0, 0");
    let line = 1 + text.lines().position(|line| line.starts_with("wgmma.fence")).unwrap() as u32;
    let module = Module::parse(&text).unwrap();
    let Err(Error::Invalid { position, message }) = module.kernel("k").unwrap().supported() else {
        panic!("sm_90 has no wgmma");
    };
    assert_eq!(position.line, line);
    assert_eq!(
        *message,
        "kernel `k`: `wgmma.fence.sync.aligned` needs the features of compute capability 9.0 alone, but the module is \
         for sm_90: compile it for sm_90a"
    );
}

#[test]
fn types_and_widths_without_products_are_refused_by_name() {
    for (instruction, registers, rest) in [
        ("m64n8k32.f16.e5m2.e5m2", 2, "%da, %db, 1, 1, 1"),
        ("m64n8k16.f32.e5m2.e5m2", 4, "%da, %db, 1, 1, 1"),
        ("m64n8k32.f32.e5m2.s8", 4, "%da, %db, 1, 1, 1"),
        ("m64n8k32.f32.e3m4.e3m4", 4, "%da, %db, 1, 1, 1"),
        ("m64n8k32.satfinite.f32.e5m2.e5m2", 4, "%da, %db, 1, 1, 1"),
        ("m64n40k32.s32.s8.s8", 20, "%da, %db, 1"),
        ("m64n8k64.s32.s4.s4", 4, "%da, %db, 1"),
        ("m64n8k256.s32.b1.b1.and.popc", 4, "%da, %db, 1"),
    ] {
        let text = ptx("sm_90a", instruction, 2304, registers, rest)
            + ".visible .entry other() { ret; }\n";
        let module = Module::parse(&text).unwrap();
        module.kernel("other").unwrap().supported().unwrap();
        let result = module.kernel("k").unwrap().supported();
        let name = format!("wgmma.mma_async.sync.aligned.{instruction}");
        assert!(
            matches!(&result, Err(Error::Unsupported { what, .. }) if *what == name),
            "{name}: {result:?}"
        );
    }
    let text = ptx("sm_90a", "m64n8k32.s32.s8.s8", 2304, 4, "%da, %db, 1, 1, 1");
    let module = Module::parse(&text).unwrap();
    let result = module.kernel("k").unwrap().supported();
    assert!(matches!(result, Err(Error::Invalid { .. })), "integers have no signs: {result:?}");
}

#[test]
fn a_wide_product_of_swizzled_bytes_is_exact() {
    // Rows of 128 bytes in blocks of eight, whose chunks of 16 bytes change places; the second 32 bytes of each row.
    let (n, k) = (256, 32);
    let value = |i: usize, j: usize| ((i * 37 + j * 101 + i * j) % 256) as u8;
    let mut image = vec![0xAB_u8; (64 + n) * 128];
    for row in 0..64 + n {
        for j in 0..k {
            let at = row * 128 + k + j;
            image[at ^ (at >> 7 & 7) << 4] = value(row, j);
        }
    }
    let text = ptx("sm_90a", "m64n256k32.s32.s8.u8", image.len(), n / 2, "%da, %db, 0");
    let descriptors = [descriptor(32, 16, 1024, 1, 0), descriptor(64 * 128 + 32, 16, 1024, 1, 0)];
    let before = vec![7; 128 * n / 2];
    let d = execute(&text, 1, &image, (&before, &[]), descriptors).unwrap();
    for (i, bits) in d.iter().enumerate() {
        let (thread, r) = (i / (n / 2), i % (n / 2));
        let (row, column) = place(thread, r);
        let product = |j| i32::from(value(row, j).cast_signed()) * i32::from(value(64 + column, j));
        assert_eq!(bits.cast_signed(), (0..k).map(product).sum::<i32>(), "{row}, {column}");
    }
}

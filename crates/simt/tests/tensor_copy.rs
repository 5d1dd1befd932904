//! `cp.async.bulk.tensor`: copies equal a GPU's, through maps of the host and of a kernel, and what it refuses.

use simt::{Error, Launch, MAX_RANK, Memory, Module, Options, PixelBox, Report, TensorMap, run};

/// The output of `mma/tensor_map.cu`.
const MEASURED: &str = include_str!("../fixtures/tensor_map.txt");
/// Loads that the GPU refuses, loads, and stores, among its lines.
const COMPARED: [usize; 3] = [6, 236, 101];
const SHARED: usize = 49152;
const GLOBAL: usize = 1 << 20;

fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn digest(bytes: &[u8]) -> u32 {
    let add =
        |digest, byte: &u8| mix(digest ^ u64::from(*byte)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    (bytes.iter().fold(0, add) >> 32) as u32
}

/// The numbers of `tensormap.replace.elemtype`, by those of the driver.
const ELEMENTS: [u32; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12];

/// Instructions by which the first warp makes a map of the tensor at `%tensor` from zeros, in shared memory, and copies it to
/// `%map`, in global memory.
fn made(map: &TensorMap, kind: usize) -> String {
    let mut text = "@%rest bra made; mov.u32 %a, zeros; add.u32 %a, %a, %i; mov.b32 %v, 0; st.shared.b32 [%a], %v;\n\
                    bar.warp.sync -1; mov.u32 %a, zeros; cvt.u64.u32 %p, %a; mov.b64 %from, %tensor;\n"
        .to_owned();
    let mut replace = |field: &str, t: &str, operands: String| {
        text += &format!(
            "@%one tensormap.replace.tile.{field}.shared::cta.b1024.{t} [%p + 0], {operands};\n"
        );
    };
    replace("global_address", "b64", "%from".into());
    replace("rank", "b32", (map.rank - 1).to_string());
    for d in 0..map.rank {
        replace("box_dim", "b32", format!("{d}, {}", map.extents[d]));
        replace("global_dim", "b32", format!("{d}, {}", map.sizes[d]));
        replace("element_stride", "b32", format!("{d}, {}", map.steps[d]));
        if d + 1 < map.rank {
            replace("global_stride", "b64", format!("{d}, {}", map.strides[d]));
        }
    }
    replace("elemtype", "b32", ELEMENTS[kind].to_string());
    replace("interleave_layout", "b32", "0".into());
    replace("swizzle_mode", "b32", map.swizzle.to_string());
    replace("fill_mode", "b32", u32::from(map.fills_nan).to_string());
    text + "bar.warp.sync -1;\n\
            tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%map], [%p], 128;\n\
            fence.proxy.tensormap::generic.acquire.gpu [%map], 128;\nmade: bar.sync 0;\n"
}

/// `k(map, out, bytes, shared, coordinates.., tensor, scratch)`: shared memory is filled from `shared`, the box is loaded or
/// stored, and shared memory goes to `out`. What is `made` makes the map in the scratch memory.
fn ptx(rank: usize, loads: bool, made: &str) -> String {
    let coordinates: Vec<String> = (0..rank).map(|d| format!("%c{d}")).collect();
    let coordinates = coordinates.join(", ");
    let read: String = (0..5).map(|d| format!("ld.param.u32 %c{d}, [c{d}];\n")).collect();
    let map = match made {
        "" => "mov.b64 %map, map; cvta.param.u64 %map, %map;",
        _ => "ld.param.u64 %map, [scratch];",
    };
    let copy = if loads {
        format!(
            "@%one mbarrier.arrive.expect_tx.shared.b64 _, [barrier], %bytes;\n\
             @%one cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [memory], [%map, \
             {{{coordinates}}}], [barrier];\n\
             wait: mbarrier.try_wait.parity.shared.b64 %q, [barrier], 0;\n@!%q bra wait;\n"
        )
    } else {
        format!(
            "@%one cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group [%map, {{{coordinates}}}], [memory];\n\
             @%one cp.async.bulk.commit_group;\n@%one cp.async.bulk.wait_group 0;\n"
        )
    };
    format!(
        ".version 8.3\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 memory[];\n\
         .shared .align 8 .b64 barrier; .shared .align 128 .b8 zeros[128];\n\
         .visible .entry k(.param .align 64 .b8 map[128], .param .u64 out, .param .u64 from, .param .u32 bytes, \
         .param .u32 c0, .param .u32 c1, .param .u32 c2, .param .u32 c3, .param .u32 c4, \
         .param .u64 tensor, .param .u64 scratch) {{\n\
         .reg .b32 %c<5>, %i, %t, %a, %v, %bytes; .reg .b64 %map, %p, %from, %out, %tensor; .reg .pred %one, %q, %rest;\n\
         {map} {read}\n\
         ld.param.u64 %tensor, [tensor]; mov.u32 %t, %tid.x; setp.eq.u32 %one, %t, 0; shl.b32 %i, %t, 2;\n\
         setp.gt.u32 %rest, %t, 31; {made}\n\
         ld.param.u32 %bytes, [bytes]; ld.param.u64 %out, [out]; ld.param.u64 %from, [from];\n\
         fill: cvt.u64.u32 %p, %i; add.u64 %p, %from, %p; ld.global.b32 %v, [%p]; mov.u32 %a, memory; add.u32 %a, %a, %i;\n\
         st.shared.b32 [%a], %v; add.u32 %i, %i, 512; setp.lt.u32 %q, %i, {SHARED}; @%q bra fill;\n\
         @%one mbarrier.init.shared.b64 [barrier], 1;\n\
         fence.proxy.async.shared::cta; bar.sync 0;\n{copy}\
         bar.sync 0; shl.b32 %i, %t, 2;\n\
         empty: cvt.u64.u32 %p, %i; add.u64 %p, %out, %p; mov.u32 %a, memory; add.u32 %a, %a, %i;\n\
         ld.shared.b32 %v, [%a]; st.global.b32 [%p], %v; add.u32 %i, %i, 512; setp.lt.u32 %q, %i, {SHARED}; @%q bra empty;\n\
         ret;\n}}\n"
    )
}

/// Loads or stores a box of a megabyte of memory; what shared memory and that megabyte hold afterwards.
fn copy(map: &TensorMap, at: &[i32], loads: bool, made: &str) -> Result<(Vec<u8>, Vec<u8>), Error> {
    let (_, shared, global) = execute(map, at, loads, &ptx(map.rank, loads, made))?;
    Ok((shared, global))
}

fn execute(
    map: &TensorMap,
    at: &[i32],
    loads: bool,
    text: &str,
) -> Result<(Report, Vec<u8>, Vec<u8>), Error> {
    let module = Module::parse(text)?;
    let mut memory = Memory::default();
    let tensor = memory.allocate(GLOBAL as u64)?;
    let global: Vec<u8> = (0..GLOBAL as u64).map(|i| mix(i) as u8).collect();
    memory.write(tensor, &global)?;
    let out = memory.allocate(SHARED as u64)?;
    let from = memory.allocate(SHARED as u64)?;
    let byte = |i: u64| if loads { 0xEE } else { mix(i + 77) as u8 };
    memory.write(from, &(0..SHARED as u64).map(byte).collect::<Vec<u8>>())?;
    let map = TensorMap { address: tensor + 4096, ..map.clone() };
    let launch = Launch::new("k", [1, 1, 1], [128, 1, 1]).shared(SHARED as u32);
    let mut launch =
        launch.argument(&map.to_bytes()).address(out).address(from).u32(map.box_bytes());
    for d in 0..MAX_RANK {
        launch = launch.i32(at.get(d).copied().unwrap_or(0));
    }
    let scratch = memory.allocate(128)?;
    memory.write(scratch, &map.to_bytes())?;
    launch = launch.address(map.address).address(scratch);
    let options = Options { counters: map.pixel_box.is_some(), ..Options::default() };
    let report = run(&module, &mut memory, &launch, &options)?;
    let (mut shared, mut global) = (vec![0; SHARED], vec![0; GLOBAL]);
    memory.read(out, &mut shared)?;
    memory.read(tensor, &mut global)?;
    Ok((report, shared, global))
}

/// A line of the fixture: the map, the coordinates, and what comes behind them.
fn parse(line: &str) -> (usize, TensorMap, Vec<i32>, Vec<&str>) {
    const WIDTHS: [u32; 13] = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4];
    let mut words = line.split_whitespace();
    let mut next = || words.next().unwrap().parse::<i64>().unwrap();
    let (kind, rank) = (next() as usize, next() as usize);
    let mut map = TensorMap { rank, width: WIDTHS[kind], ..TensorMap::default() };
    map.sizes.iter_mut().take(rank).for_each(|size| *size = next() as u64);
    map.strides.iter_mut().take(rank - 1).for_each(|stride| *stride = next() as u64);
    map.extents.iter_mut().take(rank).for_each(|extent| *extent = next() as u32);
    map.steps.iter_mut().take(rank).for_each(|step| *step = next() as u32);
    map.swizzle = next() as u32;
    map.fills_nan = next() != 0;
    let coordinates = (0..rank).map(|_| next() as i32).collect();
    (kind, map, coordinates, words.collect())
}

/// Compares each box with what the GPU copied; a map comes from the host, or is made in the kernel.
fn compare(in_kernel: bool) {
    let mut wrong = Vec::new();
    let mut compared = [0; 3];
    for line in MEASURED.lines() {
        let (kind, map, at, rest) = parse(line);
        let made = if in_kernel { made(&map, kind) } else { String::new() };
        // Maps that the driver refuses, and boxes whose bytes the sweep did not know.
        if rest.len() < 2 || rest.contains(&"late") {
            continue;
        }
        let loaded = copy(&map, &at, true, &made);
        if rest[2] == "load" {
            compared[0] += 1;
            if !matches!(loaded, Err(Error::IllegalInstruction { .. })) {
                wrong.push(format!("{line}: a load that the GPU refuses"));
            }
            continue;
        }
        compared[1] += 1;
        match loaded {
            // Which NaN the GPU fills with is not known.
            Ok(_) if map.fills_nan => compared[1] -= 1,
            Ok((shared, _)) if format!("{:08x}", digest(&shared)) == rest[2] => {}
            Ok(_) => wrong.push(format!("{line}: another box")),
            Err(error) => wrong.push(format!("{line}: {error}")),
        }
        let stored = copy(&map, &at, false, &made);
        if rest[3] == "store" {
            if stored.is_ok() {
                wrong.push(format!("{line}: a store that the GPU refuses"));
            }
            continue;
        }
        compared[2] += 1;
        match stored {
            Ok((_, global)) if format!("{:08x}", digest(&global)) == rest[3] => {}
            Ok(_) => wrong.push(format!("{line}: another tensor")),
            Err(error) => wrong.push(format!("{line}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(compared, COMPARED, "loads that are refused, loads and stores");
}

#[test]
fn boxes_equal_those_of_the_gpu() {
    compare(false);
}

#[test]
fn boxes_through_maps_made_in_the_kernel_equal_those_of_the_gpu() {
    compare(true);
}

/// A map of rows of 64 words, of which the box has 4 x 8.
fn small() -> TensorMap {
    TensorMap {
        rank: 2,
        width: 4,
        sizes: [64, 16, 0, 0, 0],
        strides: [256, 0, 0, 0],
        extents: [4, 8, 0, 0, 0],
        steps: [1, 1, 0, 0, 0],
        ..TensorMap::default()
    }
}

#[test]
fn one_field_of_a_map_of_the_host_is_replaced() {
    // The scratch memory holds the map of the host, whose box begins two rows further on in the kernel.
    let replaced = "add.u64 %tensor, %tensor, 512; mov.u32 %v, 2;\n\
                    @%one tensormap.replace.tile.global_address.global.b1024.b64 [%map], %tensor;\n\
                    @%one tensormap.replace.tile.box_dim.b1024.b32 [%map], 1, %v;\n\
                    fence.proxy.tensormap::generic.release.gpu; bar.sync 0;\n\
                    fence.proxy.tensormap::generic.acquire.gpu [%map], 128;\n\
                    mov.u32 %bytes, 32;\n";
    let map = small();
    let (shared, _) =
        copy(&TensorMap { extents: [4, 2, 0, 0, 0], ..map.clone() }, &[4, 3], true, replaced)
            .unwrap();
    let whole = copy(&map, &[4, 5], true, "").unwrap().0;
    assert_eq!(shared[..32], whole[..32]);
    assert_ne!(whole[32..48], [0xEE; 16]);
    assert_eq!(shared[32..48], [0xEE; 16]);
}

#[test]
fn a_map_that_cannot_work_is_an_error_that_says_why() {
    let whole = made(&small(), 7);
    let without = |field: &str| -> String {
        let lines = whole.lines().filter(|line| !line.contains(field));
        lines.map(|line| format!("{line}\n")).collect()
    };
    for (made, why) in [
        (without("elemtype"), "there is no tensor map at"),
        (without("rank"), "2 coordinates, but the tensor map has 1 dimensions"),
        (without("global_address"), "the tensor's address 0x0"),
        (without("box_dim"), "a box of 0 elements"),
        (without("element_stride"), "an element stride of 0"),
        (without("global_dim"), "a size of 0"),
        (
            whole.replace(
                "global_stride.shared::cta.b1024.b64 [%p + 0], 0, 256",
                "global_stride.shared::cta.b1024.b64 [%p + 0], 0, 8",
            ),
            "a stride of 8 bytes",
        ),
        (
            whole.replace(
                "rank.shared::cta.b1024.b32 [%p + 0], 1",
                "rank.shared::cta.b1024.b32 [%p + 0], 5",
            ),
            "6 dimensions: a tensor has 1 to 5",
        ),
        (
            format!(
                "{whole} mov.u32 %a, zeros; cvt.u64.u32 %map, %a; cvta.shared.u64 %map, %map;\n"
            ),
            "copy the map to global memory",
        ),
    ] {
        let result = copy(&small(), &[0, 0], true, &made);
        let Err(Error::IllegalInstruction { message, place }) = result else {
            panic!("{why}: {:?}", result.map(|_| ()))
        };
        assert!(message.contains(why), "{message}");
        assert_eq!(&*place.kernel, "k");
    }
}

#[test]
fn part_of_a_warp_cannot_copy_a_map() {
    let made =
        made(&small(), 7).replace("tensormap.cp_fenceproxy", "@%one tensormap.cp_fenceproxy");
    let result = copy(&small(), &[0, 0], true, &made);
    assert!(
        matches!(&result, Err(Error::IllegalInstruction { message, .. }) if message.starts_with("all 32 lanes")),
        "{:?}",
        result.map(|_| ())
    );
}

#[test]
fn an_unknown_field_or_number_is_refused_by_name_and_only_its_kernel() {
    let module = |target: &str, instruction: &str| {
        let text = format!(
            ".version 8.6\n.target {target}\n.address_size 64\n.visible .entry other() {{ ret; }}\n\
             .visible .entry k(.param .u64 map) {{\n.reg .b64 %map; ld.param.u64 %map, [map];\n{instruction};\nret;\n}}\n"
        );
        let module = Module::parse(&text).unwrap();
        module.kernel("other").unwrap().supported().unwrap();
        module.kernel("k").unwrap().supported().unwrap_err().to_string()
    };
    for (field, operands, number) in [
        ("elemtype.global.b1024.b32", "[%map], 13", " with the number 13"),
        ("swizzle_mode.global.b1024.b32", "[%map], 4", " with the number 4"),
        ("fill_mode.global.b1024.b32", "[%map], 2", " with the number 2"),
        ("interleave_layout.global.b1024.b32", "[%map], 1", " with the number 1"),
        ("swizzle_atomicity.global.b1024.b32", "[%map], 1", " with the number 1"),
        ("texel_size.global.b1024.b32", "[%map], 1", ""),
        ("rank.global.b1024.b64", "[%map], 1", ""),
    ] {
        let name = format!("tensormap.replace.tile.{field}");
        let said = module("sm_90a", &format!("{name} {operands}"));
        assert!(
            said.contains(&format!("`{name}{number}` is not supported by the executor")),
            "{said}"
        );
    }
    let said =
        module("sm_90a", "tensormap.replace.tile.global_stride.global.b1024.b64 [%map], 4, 16");
    assert!(said.contains("a dimension below 4, not 4"), "{said}");
    let said = module("sm_90", "tensormap.replace.tile.rank.global.b1024.b32 [%map], 1");
    assert!(said.contains("compile it for sm_90a"), "{said}");
}

/// The kernel of [`ptx`] in im2col mode.
fn pixel_ptx(rank: usize, loads: bool, offsets: &[u32]) -> String {
    let list: Vec<String> = offsets.iter().map(u32::to_string).collect();
    let text = ptx(rank, loads, "");
    if loads {
        let text = text.replace(".tile.", ".im2col.");
        text.replace("[barrier];\nwait:", &format!("[barrier], {{{}}};\nwait:", list.join(", ")))
    } else {
        text.replace(".tile.", ".im2col_no_offs.")
    }
}

/// Images of 5 channels of 16 bytes, or fewer, with a box of pixels that one convolution of 3 in each direction needs.
fn images(rank: usize, steps: [u32; MAX_RANK]) -> TensorMap {
    let sizes = [40, 7, 5, 4, 3];
    let mut map = TensorMap {
        rank,
        width: 2,
        strides: std::array::from_fn(|d| 96 * [7, 5, 4, 3][..d].iter().product::<u64>()),
        extents: [16, 37, 0, 0, 0],
        steps,
        pixel_box: Some(PixelBox { lower: [-1, -1, -2], upper: [-1, 0, -1] }),
        ..TensorMap::default()
    };
    map.sizes[..rank].copy_from_slice(&sizes[..rank]);
    map.sizes[rank - 1] = 3;
    map
}

/// The pixels from which a column is read, one after the other: all of the box in order, from that at `at` on.
fn column(map: &TensorMap, at: &[i32], offsets: &[u32]) -> Vec<Vec<i64>> {
    let pixels = map.pixel_box.as_ref().unwrap();
    let mut all = vec![Vec::new()];
    // The last dimension is the slowest.
    for d in (1..map.rank).rev() {
        let (first, end) = match d {
            d if d == map.rank - 1 => (0, 100),
            d => (
                i64::from(pixels.lower[d - 1]),
                map.sizes[d] as i64 + i64::from(pixels.upper[d - 1]),
            ),
        };
        let along = |rest: Vec<i64>| {
            (first..end)
                .step_by(map.steps[d] as usize)
                .map(move |at| [vec![at], rest.clone()].concat())
        };
        all = all.into_iter().flat_map(along).collect();
    }
    let start: Vec<i64> = at[1..].iter().map(|at| i64::from(*at)).collect();
    let start = all.iter().position(|one| *one == start).unwrap();
    let moved = |one: &Vec<i64>| {
        let further = offsets.iter().copied().chain([0]);
        one.iter().zip(further).map(|(at, offset)| at + i64::from(offset)).collect()
    };
    all[start..][..map.extents[1] as usize].iter().map(moved).collect()
}

#[test]
fn columns_of_im2col_are_the_pixels_of_the_box_in_order() {
    let global: Vec<u8> = (0..GLOBAL as u64).map(|i| mix(i) as u8).collect();
    for (rank, at, offsets, steps) in [
        (3, vec![0, -1, 0], vec![2], [1; 5]),
        (3, vec![16, 3, 1], vec![0], [1, 2, 1, 1, 1]),
        (4, vec![0, -1, -1, 0], vec![1, 2], [1; 5]),
        (4, vec![32, 1, 3, 1], vec![2, 0], [1, 2, 2, 1, 1]),
        (5, vec![8, 0, 1, -2, 0], vec![0, 1, 2], [1; 5]),
        (5, vec![0, 5, 4, 2, 2], vec![2, 2, 0], [1, 3, 1, 2, 1]),
    ] {
        for swizzle in [0, 1, 3] {
            let map = TensorMap { swizzle, ..images(rank, steps) };
            let (report, shared, _) =
                execute(&map, &at, true, &pixel_ptx(rank, true, &offsets)).unwrap();
            let row_bytes = 16 << swizzle.max(1);
            let (mut expected, mut present) = (vec![0xEE; SHARED], 0);
            for (row, pixel) in column(&map, &at, &offsets).iter().enumerate() {
                for channel in 0..16_i64 {
                    let c = i64::from(at[0]) + channel;
                    let element = [vec![c], pixel.clone()].concat();
                    let inside =
                        element.iter().zip(&map.sizes).all(|(at, n)| (0..*n as i64).contains(at));
                    let strides = [2].into_iter().chain(map.strides.map(|stride| stride as i64));
                    let from: i64 =
                        element.iter().zip(strides).map(|(at, stride)| at * stride).sum();
                    let to = row * row_bytes + 2 * channel as usize;
                    let to = to ^ (to >> 7 & ((1 << swizzle) - 1)) << 4;
                    for byte in 0..2 {
                        let source = (4096 + from) as usize + byte;
                        expected[to + byte] = if inside { global[source] } else { 0 };
                        present += u64::from(inside);
                    }
                }
            }
            assert!(shared == expected, "{map:?} at {at:?} with {offsets:?}");
            let copy = report.instructions.iter().find(|one| one.text.contains("im2col")).unwrap();
            let counts = copy.counters.bulk_copy;
            assert_eq!((counts.requests, counts.bytes), (1, present));
        }
    }
}

#[test]
fn columns_without_offsets_are_stored() {
    let mut map = images(4, [1; 5]);
    let at = [0, 2, 1, 0];
    let ptx = pixel_ptx(4, false, &[]);
    let Err(Error::IllegalInstruction { message, .. }) = execute(&map, &at, false, &ptx) else {
        panic!("a box with a negative corner was stored");
    };
    assert!(message.contains("no negative corner"), "{message}");
    map.pixel_box = Some(PixelBox::default());
    let (_, _, global) = execute(&map, &at, false, &ptx).unwrap();
    let mut expected: Vec<u8> = (0..GLOBAL as u64).map(|i| mix(i) as u8).collect();
    for (row, pixel) in column(&map, &at, &[0, 0]).iter().enumerate() {
        let inside = pixel.iter().zip(&map.sizes[1..]).all(|(at, n)| (0..*n as i64).contains(at));
        let to: i64 = pixel.iter().zip(map.strides).map(|(at, stride)| at * stride as i64).sum();
        for byte in (0..32).filter(|_| inside) {
            expected[(4096 + to) as usize + byte] = mix((32 * row + byte) as u64 + 77) as u8;
        }
    }
    let wrong = (0..GLOBAL).find(|at| global[*at] != expected[*at]);
    assert_eq!(wrong, None, "the first byte that differs");
}

#[test]
fn a_map_of_the_other_mode_is_refused_with_its_function() {
    let images = images(4, [1; 5]);
    let tiles = TensorMap { pixel_box: None, extents: [16, 4, 1, 1, 0], ..images.clone() };
    for (map, text, function) in [
        (&tiles, pixel_ptx(4, true, &[0, 0]), "is of cuTensorMapEncodeTiled"),
        (&images, ptx(4, true, ""), "is of cuTensorMapEncodeIm2col"),
    ] {
        let Err(Error::IllegalInstruction { message, .. }) = execute(map, &[0; 4], true, &text)
        else {
            panic!("{function}: the copy ran")
        };
        assert!(message.ends_with(function), "{message}");
    }
    let refused = |text: &str| {
        let module = Module::parse(text).unwrap();
        module.kernel("k").unwrap().supported().unwrap_err().to_string()
    };
    let few = refused(&pixel_ptx(4, true, &[1]));
    assert!(few.contains("2 offsets are needed, not 1"), "{few}");
    let flat = refused(&pixel_ptx(2, true, &[1]));
    assert!(flat.contains("im2col copies tensors of 3 to 5 dimensions"), "{flat}");
}

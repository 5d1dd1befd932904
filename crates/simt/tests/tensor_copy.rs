//! `cp.async.bulk.tensor`: what it copies equals what a GPU copied, and what it refuses.

use simt::{Error, Launch, MAX_RANK, Memory, Module, Options, TensorMap, run};

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

/// `k(map, out, bytes, shared, coordinates..)`: shared memory is filled from `shared`, the box is loaded or stored, and shared
/// memory goes to `out`.
fn ptx(rank: usize, loads: bool) -> String {
    let coordinates: Vec<String> = (0..rank).map(|d| format!("%c{d}")).collect();
    let coordinates = coordinates.join(", ");
    let read: String = (0..5).map(|d| format!("ld.param.u32 %c{d}, [c{d}];\n")).collect();
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
        ".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 1024 .b8 memory[];\n\
         .shared .align 8 .b64 barrier;\n\
         .visible .entry k(.param .align 64 .b8 map[128], .param .u64 out, .param .u64 from, .param .u32 bytes, \
         .param .u32 c0, .param .u32 c1, .param .u32 c2, .param .u32 c3, .param .u32 c4) {{\n\
         .reg .b32 %c<5>, %i, %t, %a, %v, %bytes; .reg .b64 %map, %p, %from, %out; .reg .pred %one, %q;\n\
         mov.b64 %map, map; cvta.param.u64 %map, %map; {read}\n\
         ld.param.u32 %bytes, [bytes]; ld.param.u64 %out, [out]; ld.param.u64 %from, [from];\n\
         mov.u32 %t, %tid.x; setp.eq.u32 %one, %t, 0; shl.b32 %i, %t, 2;\n\
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
fn copy(map: &TensorMap, at: &[i32], loads: bool) -> Result<(Vec<u8>, Vec<u8>), Error> {
    let module = Module::parse(&ptx(map.rank, loads))?;
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
    let options = Options { counters: false, ..Options::default() };
    run(&module, &mut memory, &launch, &options)?;
    let (mut shared, mut global) = (vec![0; SHARED], vec![0; GLOBAL]);
    memory.read(out, &mut shared)?;
    memory.read(tensor, &mut global)?;
    Ok((shared, global))
}

/// A line of the fixture: the map, the coordinates, and what comes behind them.
fn parse(line: &str) -> (TensorMap, Vec<i32>, Vec<&str>) {
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
    (map, coordinates, words.collect())
}

#[test]
fn boxes_equal_those_of_the_gpu() {
    let mut wrong = Vec::new();
    let mut compared = [0; 3];
    for line in MEASURED.lines() {
        let (map, at, rest) = parse(line);
        // Maps that the driver refuses, and boxes whose bytes the sweep did not know.
        if rest.len() < 2 || rest.contains(&"late") {
            continue;
        }
        let loaded = copy(&map, &at, true);
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
        let stored = copy(&map, &at, false);
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

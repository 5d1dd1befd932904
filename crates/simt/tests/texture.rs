//! Textures and surfaces: the bits that a GPU computed, and what is refused.

mod sweep;

use simt::{
    AddressMode, Checks, Error, Format, Image, Launch, Level, Memory, Module, Options, Sampler,
    Shape, Texture, run,
};
use std::collections::HashMap;
use std::fmt::Write;
use sweep::{Group, Kind, OPERATIONS, SAMPLES_PER_DIGEST, digest, read};

/// A kernel whose thread `i` reads eight words of sample `i` and writes what the instruction gives.
fn kernel(operation: usize) -> String {
    let name = OPERATIONS[operation];
    let whole = name.ends_with("s32") || operation >= 24;
    let (kind, prefix) = if whole { ("b32", "%r") } else { ("f32", "%f") };
    let part = |k: usize| format!("{prefix}{k}");
    let geometry = ["acube", "cube", "a1d", "a2d", "1d", "2d", "3d"]
        .into_iter()
        .find(|g| name.split('.').any(|m| m == *g))
        .unwrap();
    let coordinates = match geometry {
        "1d" => part(0),
        "2d" => format!("{}, {}", part(0), part(1)),
        "3d" | "cube" => format!("{0}, {1}, {2}, {2}", part(0), part(1), part(2)),
        "a1d" => format!("%r3, {}", part(0)),
        "a2d" => format!("%r3, {0}, {1}, {1}", part(0), part(1)),
        _ => format!("%r3, {}, {}, {}", part(0), part(1), part(2)),
    };
    let result = match name.split('.').find(|m| m.starts_with('v')) {
        Some("v2") => "{%d4, %d5}",
        Some(_) => "{%r10, %r11, %r12, %r13}",
        None => "{%r10}",
    };
    let mut body = String::new();
    if name.starts_with("sust") {
        writeln!(body, "{name} [%d0, {{{coordinates}}}], {{%r4}};").unwrap();
    } else {
        let level = match (name.contains("level"), whole) {
            (false, _) => String::new(),
            (true, true) => ", %r4".into(),
            (true, false) => ", %f4".into(),
        };
        writeln!(body, "{name} {result}, [%d0, {{{coordinates}}}]{level};").unwrap();
    }
    if result.contains("%d4") {
        body += "mov.b64 {%r10, %r11}, %d4;\nmov.b64 {%r12, %r13}, %d5;\n";
    }
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 object, .param .u64 from, .param .u64 to, .param .u32 samples) {{\n\
         .reg .b32 %r<20>; .reg .f32 %f<8>; .reg .b64 %d<9>; .reg .pred %p;\n\
         ld.param.u64 %d0, [object];\nld.param.u64 %d1, [from];\nld.param.u64 %d2, [to];\n\
         ld.param.u32 %r14, [samples];\n\
         mov.u32 %r15, %ctaid.x;\nmov.u32 %r16, %ntid.x;\nmov.u32 %r17, %tid.x;\n\
         mad.lo.u32 %r15, %r15, %r16, %r17;\nsetp.ge.u32 %p, %r15, %r14;\n@%p bra END;\n\
         mul.wide.u32 %d3, %r15, 32;\nadd.u64 %d1, %d1, %d3;\n\
         ld.global.v4.{kind} {{{prefix}0, {prefix}1, {prefix}2, {prefix}3}}, [%d1];\n\
         ld.global.b32 %r3, [%d1+12];\nld.global.{kind} {prefix}4, [%d1+16];\n\
         mov.b32 %r10, 0;\nmov.b32 %r11, 0;\nmov.b32 %r12, 0;\nmov.b32 %r13, 0;\n\
         {body}mul.wide.u32 %d3, %r15, 16;\nadd.u64 %d2, %d2, %d3;\n\
         st.global.v4.b32 [%d2], {{%r10, %r11, %r12, %r13}};\nEND: ret;\n}}\n"
    )
}

/// The group's image in memory.
fn place(group: &Group, memory: &mut Memory) -> Image {
    let shape = match group.kind {
        Kind::Linear => Shape::Buffer,
        Kind::Pitch | Kind::Plane => Shape::Plane,
        Kind::Line => Shape::Line,
        Kind::Volume => Shape::Volume,
        Kind::Lines => Shape::Lines,
        Kind::Planes => Shape::Planes,
        Kind::Cube => Shape::Cube,
        Kind::Cubes => Shape::Cubes,
    };
    let format = [
        Format::Unsigned8,
        Format::Signed8,
        Format::Unsigned16,
        Format::Signed16,
        Format::Unsigned32,
        Format::Signed32,
        Format::Half,
        Format::Single,
    ][group.format];
    let [width, height, depth] = group.extent(0).map(|n| n as u32);
    let channels = group.channels as u32;
    let pitch = matches!(group.kind, Kind::Linear | Kind::Pitch).then_some(512);
    let levels = vec![Level { address: 0, pitch }; group.levels as usize];
    let mut image = Image { shape, format, channels, width, height, depth, levels };
    for level in 0..group.levels as usize {
        let bytes = if pitch.is_some() {
            image.row_bytes(0).next_multiple_of(512) * u64::from(height)
        } else {
            image.level_bytes(level)
        };
        image.levels[level].address = memory.allocate(bytes).unwrap();
        let texel = image.texel_bytes() as usize;
        let [w, h, _] = image.extent(level);
        for (i, bytes) in group.image(level as i64).chunks(texel).enumerate() {
            let i = i as u32;
            let at = image.address(level, u64::from(i % w) * texel as u64, i / w % h, i / w / h);
            memory.write(at, bytes).unwrap();
        }
    }
    image
}

fn sampler(group: &Group) -> Sampler {
    let mode = |m: usize| {
        [AddressMode::Wrap, AddressMode::Clamp, AddressMode::Mirror, AddressMode::Border][m]
    };
    Sampler {
        address: group.modes.map(mode),
        linear: group.linear,
        normalized: group.normalized,
        to_float: group.to_float,
        border: [-1.5_f32, 0.25, 3.0, 100.0].map(f32::to_bits),
        linear_levels: group.mip_linear,
        level_bias: group.bias,
        level_clamp: [group.low, group.high],
    }
}

/// The results of all samples of a group, or why they were refused.
fn execute(group: &Group, module: &Module) -> Result<Vec<u32>, Error> {
    let mut memory = Memory::default();
    memory.track_initialization();
    let image = place(group, &mut memory);
    let is_surface = group.operation >= 24;
    let sampler = (!is_surface).then(|| sampler(group));
    let object = memory.create_texture(Texture { image: image.clone(), sampler });
    let stores = group.operation >= 38;
    let samples = group.samples;
    let mut words: Vec<u32> = (0..samples).flat_map(|i| group.sample(i)).collect();
    if stores {
        for (k, sample) in words.chunks_mut(8).enumerate() {
            sample[4] = 0x3f00_0000 + k as u32 * 65537;
        }
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let from = memory.allocate(bytes.len() as u64).unwrap();
    memory.write(from, &bytes).unwrap();
    let to = memory.allocate(16 * samples as u64).unwrap();
    let (grid, block) = if stores { (1, 1) } else { ((samples as u32).div_ceil(128), 128) };
    let mut run_from = |first: u64, count: u32| {
        let launch = Launch::new("k", [grid, 1, 1], [block, 1, 1])
            .u64(object)
            .address(from + 32 * first)
            .address(to + 16 * first)
            .u32(count);
        let options = Options { checks: Checks::all(), ..Options::default() };
        let report = run(module, &mut memory, &launch, &options)?;
        assert!(report.findings.is_empty(), "{:?}", report.findings.first());
        Ok::<(), simt::Error>(())
    };
    if stores {
        // One after the other, as in the sweep.
        (0..samples).try_for_each(|sample| run_from(sample as u64, 1))?;
        let mut result = vec![0; image.row_bytes(0) as usize];
        let mut all = Vec::new();
        for y in 0..image.height {
            for x in 0..image.row_bytes(0) {
                memory.read(image.address(0, x, y, 0), &mut result[x as usize..][..1]).unwrap();
            }
            all.extend(result.chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())));
        }
        return Ok(all);
    }
    run_from(0, samples as u32)?;
    let mut result = vec![0; 16 * samples];
    memory.read(to, &mut result).unwrap();
    Ok(result.chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect())
}

/// Digests of a group that may differ, because one of their 256 samples does. Each class has a bound that was computed
/// from all results of the sweep, of which the digests are committed.
fn may_differ(group: &Group) -> usize {
    let signed = group.to_float && group.linear && matches!(group.format, 1 | 3);
    match group.kind {
        // The filter of signed normalized integers rounds to 16 bits in an order that is not known: at most 2 / 32767.
        _ if signed => group.digests.len(),
        // The hardware's division for the place on a face: another texel at an edge, in at most 1 of 800 samples.
        Kind::Cube | Kind::Cubes => 4,
        // The sum of two slices has a few bits less: the last bit, in at most 1 of 200 samples.
        Kind::Volume if group.samples > 4096 => 40,
        Kind::Volume => 5,
        // Two levels with weights: the last bit, in at most 1 of 500 samples.
        _ if group.mip_linear => 3,
        // NaN, infinity and subnormals as texels: NaN where a number is, or the other way, in at most 1 of 80 samples.
        _ if group.is_wild() => 15,
        _ => 0,
    }
}

/// More of a large group tells no more.
const SAMPLES_AT_MOST: usize = 1 << 14;

#[test]
fn fetches_give_the_bits_of_a_gpu() {
    let mut groups = read(include_str!("../fixtures/texture.txt"));
    // Stores are compared by the image that they leave.
    groups.retain(|g| g.operation < OPERATIONS.len() && !OPERATIONS[g.operation].contains("grad"));
    let mut modules = HashMap::new();
    let mut compared = 0;
    for group in &mut groups {
        let name = OPERATIONS[group.operation];
        group.samples = group.samples.min(SAMPLES_AT_MOST);
        group.digests.truncate(SAMPLES_AT_MOST / SAMPLES_PER_DIGEST);
        let group = &*group;
        let module = modules
            .entry(group.operation)
            .or_insert_with(|| Module::parse(&kernel(group.operation)).unwrap());
        let result = execute(group, module);
        if group.kind == Kind::Line && name.ends_with("s32") {
            // The hardware gives zeros, and the executor says what is wrong.
            assert!(result.unwrap_err().to_string().contains("of an array only zeros"));
            continue;
        }
        let words = result.unwrap();
        let digests: Vec<u32> = words.chunks(4 * SAMPLES_PER_DIGEST).map(digest).collect();
        assert_eq!(digests.len(), group.digests.len(), "{group:?}");
        let different = digests.iter().zip(&group.digests).filter(|(a, b)| a != b).count();
        let allowed = may_differ(group);
        let number = group.number;
        assert!(
            different <= allowed,
            "group {number} `{name}`: {different} digests differ, {allowed} may"
        );
        compared += digests.len();
    }
    assert!(compared > 6000, "{compared} digests were compared");
}

/// A 64 x 1 plane of floats, all written, as a texture and as a surface, and a kernel's launch over them.
struct Scene {
    memory: Memory,
    image: Image,
    texture: u64,
    surface: u64,
}

fn nearest() -> Sampler {
    Sampler {
        address: [AddressMode::Clamp; 3],
        linear: false,
        normalized: false,
        to_float: false,
        border: [0; 4],
        linear_levels: false,
        level_bias: 0.0,
        level_clamp: [0.0, 0.0],
    }
}

impl Scene {
    fn new(format: Format, sampler: Sampler) -> Scene {
        let mut memory = Memory::default();
        memory.track_initialization();
        let levels = vec![Level { address: 0, pitch: None }];
        let (width, height, depth) = (64, 1, 1);
        let shape = Shape::Plane;
        let mut image = Image { shape, format, channels: 1, width, height, depth, levels };
        let bytes = image.level_bytes(0);
        image.levels[0].address = memory.allocate(bytes).unwrap();
        memory.fill(image.levels[0].address, 0, bytes as usize).unwrap();
        let texture =
            memory.create_texture(Texture { image: image.clone(), sampler: Some(sampler) });
        let surface = memory.create_texture(Texture { image: image.clone(), sampler: None });
        Scene { memory, image, texture, surface }
    }

    /// Runs `body` in one warp; `%d0` is the texture, `%d1` the surface, `%r0` the lane, `%r1` four times it, `%f0` it as
    /// a float, and `%r2` zero.
    fn run(&mut self, body: &str) -> Result<simt::Report, Error> {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n\
             .visible .entry k(.param .u64 texture, .param .u64 surface) {{\n\
             .reg .b32 %r<20>; .reg .f32 %f<8>; .reg .b64 %d<9>;\n\
             ld.param.u64 %d0, [texture];\nld.param.u64 %d1, [surface];\n\
             mov.u32 %r0, %tid.x;\nshl.b32 %r1, %r0, 2;\nmov.b32 %r2, 0;\n\
             cvt.rn.f32.u32 %f0, %r0;\nmov.b32 %f1, 0f3F000000;\n{body}\nret;\n}}\n"
        );
        let module = Module::parse(&text)?;
        let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).u64(self.texture).u64(self.surface);
        let options = Options { checks: Checks::all(), ..Options::default() };
        run(&module, &mut self.memory, &launch, &options)
    }

    fn refusal(&mut self, body: &str) -> String {
        self.run(body).unwrap_err().to_string()
    }
}

const FETCH: &str = "tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d0, {%f0, %f1}];";

#[test]
fn objects_that_are_not_there_are_named_with_kernel_and_line() {
    let mut scene = Scene::new(Format::Single, nearest());
    scene.run(FETCH).unwrap();
    scene.memory.destroy_texture(scene.texture).unwrap();
    let gone = scene.refusal(FETCH);
    assert!(gone.contains("was destroyed") && gone.contains("PTX line 13 of kernel `k`"), "{gone}");
    scene.texture = 77;
    assert!(scene.refusal(FETCH).contains("was never made"));
    scene.texture = scene.surface;
    assert!(scene.refusal(FETCH).contains("this is a surface"));
}

#[test]
fn fetches_that_make_no_sense_are_refused() {
    let mut scene = Scene::new(Format::Unsigned32, Sampler { linear: true, ..nearest() });
    assert!(scene.refusal(FETCH).contains("linear filtering needs floats"));
    let mut scene = Scene::new(Format::Single, nearest());
    let other = "tex.3d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d0, {%f0, %f1, %f1, %f1}];";
    assert!(scene.refusal(other).contains("for `3d`, but the object is `2d`"));
    let load = |beyond: &str| format!("suld.b.2d.b32.{beyond} {{%r3}}, [%d1, {{%r0, %r2}}];");
    assert!(scene.refusal(&load("clamp")).contains("needs a multiple of 4"));
    let outside = "sust.b.2d.b32.trap [%d1, {%r1, %r0}], {%r0};";
    assert!(scene.refusal(outside).contains("lies outside the surface"));
    let texture = "suld.b.2d.b32.trap {%r3}, [%d0, {%r1, %r2}];";
    assert!(scene.refusal(texture).contains("needs a surface object"));
}

/// One kernel with an instruction that is not supported does not keep the others from running.
#[test]
fn only_the_kernel_that_has_it_is_refused() {
    for unknown in [
        "tex.grad.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f0, %f1}], {%f0, %f0}, {%f0, %f0};",
        "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [reference, {%f0, %f1}];",
        "tex.2d.v2.f16x2.f32 {%r0, %r1}, [%d0, {%f0, %f1}];",
        "sust.p.2d.b32.trap [%d0, {%r0, %r1}], {%r0};",
        "txq.channel_order.b32 %r0, [%d0];",
    ] {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.global .texref reference;\n\
             .visible .entry good() {{ ret; }}\n\
             .visible .entry bad() {{\n.reg .f32 %f<4>; .reg .b64 %d<2>; .reg .b32 %r<4>;\n{unknown}\nret;\n}}\n"
        );
        let module = Module::parse(&text).unwrap();
        module.kernel("good").unwrap().supported().unwrap();
        let error = module.kernel("bad").unwrap().supported().unwrap_err().to_string();
        assert!(error.contains("not supported by the executor"), "{unknown}: {error}");
        let name = unknown.split(' ').next().unwrap();
        assert!(error.contains(name) || error.contains("reference `reference`"), "{error}");
    }
}

/// The texture cache is not told of stores of the same launch.
#[test]
fn a_fetch_of_what_the_launch_stored_is_found() {
    let mut scene = Scene::new(Format::Single, nearest());
    let report = scene.run(&format!("sust.b.2d.b32.trap [%d1, {{%r1, %r2}}], {{%r0}};\n{FETCH}"));
    let findings = report.unwrap().findings;
    assert!(!findings.is_empty(), "a stale fetch was not found");
    assert!(findings[0].to_string().contains("read as read-only"), "{}", findings[0]);
    assert!(scene.run(FETCH).unwrap().findings.is_empty(), "the next launch may fetch it");
}

#[test]
fn texels_that_nobody_wrote_and_memory_that_is_gone_are_found() {
    let mut scene = Scene::new(Format::Single, nearest());
    let fresh = scene.memory.allocate(scene.image.level_bytes(0)).unwrap();
    let mut image = scene.image.clone();
    image.levels[0].address = fresh;
    scene.texture = scene.memory.create_texture(Texture { image, sampler: Some(nearest()) });
    let report = scene.run(FETCH).unwrap();
    assert!(!report.findings.is_empty(), "texels were never written");
    scene.memory.free(fresh).unwrap();
    assert!(scene.refusal(FETCH).contains("freed allocation"));
}

#[test]
fn sectors_are_those_of_distinct_texels() {
    let mut scene = Scene::new(Format::Single, nearest());
    let report = scene.run(FETCH).unwrap();
    let counted = report.counters.texture_load;
    // 32 floats of one row: 16 bytes of it to a sector of two rows.
    assert_eq!((counted.requests, counted.lanes, counted.sectors), (1, 32, 8));
    let sum = "add.f32 %f0, %f1, %f1;\n".to_string() + FETCH;
    assert_eq!(scene.run(&sum).unwrap().counters.texture_load.sectors, 1);
}

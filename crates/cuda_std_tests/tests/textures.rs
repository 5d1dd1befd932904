//! Images that the host makes, fetched and stored by kernels: whole, from `cust_ext` to the device's memory and back.

use crate::{codegen, launches};
use bytemuck::Pod;
use cust::context::Context;
use cust::function::{BlockSize, GridSize};
use cust::memory::{CopyDestination, DeviceBuffer, DeviceCopy};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use cust_ext::texture::{
    AddressMode, Array, Filter, Levels, Mipmaps, PitchedBuffer, Sampling, Shape, Surface, Texel,
    Texture, Uses,
};
use std::ffi::c_void;
use std::sync::LazyLock;

/// Threads of a launch, and so samples.
const SAMPLES: usize = 64;

struct Device {
    ptx: &'static str,
    module: Module,
    stream: Stream,
    _context: Context,
}

fn device() -> Device {
    static PTX: LazyLock<String> = LazyLock::new(|| codegen::ptx(90));
    LazyLock::force(&launches::VIRTUAL);
    let (_, context) = cust_ext::device::open(0).expect("the device opens");
    let module = Module::from_ptx(&*PTX, &[]).expect("the PTX loads");
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).expect("a stream");
    Device { ptx: &PTX, module, stream, _context: context }
}

impl Device {
    fn launch(&self, kernel: &str, threads: u32, values: &mut [u64]) -> Result<(), String> {
        let driver = |error: cust::error::CudaError| error.to_string();
        let function = self.module.get_function(kernel).map_err(driver)?;
        let arguments: Vec<*mut c_void> =
            values.iter_mut().map(|value| std::ptr::from_mut(value).cast()).collect();
        // SAFETY: the tests below give the arguments of each kernel; each is read with at most eight bytes, the lower
        // ones first, and its buffers live until the stream is synchronized.
        unsafe {
            let (grid, block) = (GridSize::x(1), BlockSize::x(threads));
            self.stream.launch(&function, grid, block, 0, &arguments).map_err(driver)?;
        }
        self.stream.synchronize().map_err(driver)
    }

    /// Returns what a fetching kernel gives for these coordinates.
    fn fetch<C: Pod + DeviceCopy, V: Pod + DeviceCopy>(
        &self,
        kernel: &str,
        texture: &Texture<'_>,
        at: impl Fn(usize) -> C,
    ) -> Vec<V> {
        let at: Vec<C> = (0..SAMPLES).map(at).collect();
        let source = DeviceBuffer::from_slice(&at).unwrap();
        let mut values = vec![V::zeroed(); SAMPLES];
        let target = DeviceBuffer::from_slice(&values).unwrap();
        let [source, to] = [source.as_device_ptr().as_raw(), target.as_device_ptr().as_raw()];
        self.launch(kernel, SAMPLES as u32, &mut [texture.handle(), source, to]).unwrap();
        target.copy_to(&mut values).unwrap();
        values
    }
}

/// A small whole number that differs for neighbours.
fn number(i: usize) -> f32 {
    (i * 37 % 101) as f32
}

fn array<T: Texel>(shape: Shape, texel: impl Fn(usize) -> T) -> Array<T> {
    let mut array = Array::new(shape, Uses::default()).unwrap();
    let texels: Vec<T> = (0..array.len()).map(texel).collect();
    array.upload(&texels).unwrap();
    let mut back = vec![T::zeroed(); array.len()];
    array.download(&mut back).unwrap();
    assert_eq!(bytemuck::cast_slice::<T, u8>(&back), bytemuck::cast_slice::<T, u8>(&texels));
    array
}

fn sampled_linearly() -> Sampling {
    let levels = Levels { filter: Filter::Nearest, bias: 0.0, finest: 0.0, coarsest: 100.0 };
    Sampling::default().filter(Filter::Linear).levels(levels)
}

/// Sixteenths from below the first texel to beyond the last of `n`.
fn step(i: usize, n: usize) -> f32 {
    (i * 7 % ((n + 2) * 16)) as f32 / 16.0 - 1.0
}

/// The texel at the edge for coordinates beyond it.
fn clamp(i: i64, n: usize) -> usize {
    i.clamp(0, n as i64 - 1) as usize
}

/// The dullest linear filter: weights are sixteenths, so that all products are exact.
fn linear(at: &[f32], extent: &[usize], texel: &dyn Fn(&[usize]) -> f32) -> f32 {
    let Some((last, rest)) = extent.split_last() else { return texel(&[]) };
    let position = at[rest.len()] - 0.5;
    let (low, weight) = (position.floor() as i64, position - position.floor());
    let side = |i: i64| {
        linear(&at[..rest.len()], rest, &|before| {
            let mut place = before.to_vec();
            place.push(clamp(i, *last));
            texel(&place)
        })
    };
    side(low) * (1.0 - weight) + side(low + 1) * weight
}

#[test]
fn every_dimension_is_fetched() {
    let device = device();
    let line = array(Shape::Line { width: 20 }, number);
    let texture = Texture::of_array(&line, &sampled_linearly()).unwrap();
    let values: Vec<f32> = device.fetch("texture_line", &texture, |i| step(i, 20));
    for (i, value) in values.iter().enumerate() {
        assert_eq!(*value, linear(&[step(i, 20)], &[20], &|p| number(p[0])), "{i}");
    }

    let (w, h) = (9, 7);
    let texel = |i: usize| [number(i), -number(i), 1.0, i as f32];
    let plane = array(Shape::Plane { width: w, height: h }, texel);
    let texture = Texture::of_array(&plane, &sampled_linearly()).unwrap();
    let at = |i: usize| [step(i, w), step(i * 5 + 3, h)];
    let values: Vec<[f32; 4]> = device.fetch("texture_plane", &texture, at);
    for (i, value) in values.iter().enumerate() {
        let expected =
            [0, 1, 2, 3].map(|c| linear(&at(i), &[w, h], &|p| texel(p[1] * w + p[0])[c]));
        assert_eq!(*value, expected, "{i}");
    }

    let (w, h, d) = (5, 4, 3);
    let volume = array(Shape::Volume { width: w, height: h, depth: d }, number);
    let texture = Texture::of_array(&volume, &sampled_linearly()).unwrap();
    // Quarters, so that weights of three axes are still 256ths.
    let quarter = |i: usize, n: usize| (i * 7 % ((n + 2) * 4)) as f32 / 4.0 - 1.0;
    let at = |i: usize| [quarter(i, w), quarter(i * 5, h), quarter(i * 3, d), 0.0];
    let values: Vec<f32> = device.fetch("texture_volume", &texture, at);
    for (i, value) in values.iter().enumerate() {
        let expected = linear(&at(i)[..3], &[w, h, d], &|p| number((p[2] * h + p[1]) * w + p[0]));
        assert_eq!(*value, expected, "{i}");
    }
    let values: Vec<f32> = device.fetch("texture_volume_texel", &texture, |i| {
        [i as i32 % 5, i as i32 / 5 % 4, i as i32 / 20 % 3, 0]
    });
    (0..60).for_each(|i| assert_eq!(values[i], number(i)));
    assert_eq!(values[60..], values[..4], "slices repeat");
}

#[test]
fn layers_do_not_mix() {
    let device = device();
    let (w, h, layers) = (6, 5, 4);
    let lines = array(Shape::Lines { width: w, layers }, number);
    let texture = Texture::of_array(&lines, &sampled_linearly()).unwrap();
    let at = |i: usize| [step(i, w), (i % 6) as f32];
    let values: Vec<f32> = device.fetch("texture_lines", &texture, at);
    for (i, value) in values.iter().enumerate() {
        let layer = clamp(i as i64 % 6, layers);
        assert_eq!(*value, linear(&[at(i)[0]], &[w], &|p| number(layer * w + p[0])), "{i}");
    }
    let texel = |i: usize| [number(i), i as f32];
    let planes = array(Shape::Planes { width: w, height: h, layers }, texel);
    let texture = Texture::of_array(&planes, &sampled_linearly()).unwrap();
    let at = |i: usize| [step(i, w), step(i * 3, h), (i % 5) as f32, 0.0];
    let values: Vec<[f32; 2]> = device.fetch("texture_planes", &texture, at);
    for (i, value) in values.iter().enumerate() {
        let layer = clamp(i as i64 % 5, layers);
        let texel = |p: &[usize]| texel((layer * h + p[1]) * w + p[0]);
        let expected = [0, 1].map(|c| linear(&at(i)[..2], &[w, h], &|p| texel(p)[c]));
        assert_eq!(*value, expected, "{i}");
    }
    let values: Vec<[f32; 2]> =
        device.fetch("texture_planes_texel", &texture, |i| [i as i32 % 8 - 1, 2, 1, 0]);
    assert_eq!(values[0], [0.0; 2], "an integer beyond the edge");
    assert_eq!(values[1], texel((h + 2) * w));
}

#[test]
fn plain_memory_and_pitched_planes_are_fetched() {
    let device = device();
    let values: Vec<[u32; 2]> = (0..50).map(|i| [i, i * i]).collect();
    let buffer = DeviceBuffer::from_slice(&values).unwrap();
    let texture = Texture::of_slice(&buffer, false).unwrap();
    let found: Vec<[u32; 2]> = device.fetch("texture_buffer", &texture, |i| i as i32 - 5);
    for (i, found) in found.iter().enumerate() {
        let expected = i.checked_sub(5).and_then(|i| values.get(i)).copied().unwrap_or_default();
        assert_eq!(*found, expected, "{i}");
    }
    let error = Texture::of_slice(&buffer.index(1..), false).unwrap_err().to_string();
    assert!(error.contains("begins at a multiple of 512 bytes"), "{error}");
    drop(texture);

    let (w, h) = (10, 6);
    let texels: Vec<i32> = (0..w * h).map(|i| i as i32 * 3 - 70).collect();
    let mut plane = PitchedBuffer::new(w, h).unwrap();
    plane.upload(&texels).unwrap();
    let texture = Texture::of_pitched(&plane, &Sampling::default()).unwrap();
    let at = |i: usize| [(i % w) as i32, (i / w) as i32, 0, 0];
    let found: Vec<i32> = device.fetch("texture_plane_texel", &texture, at);
    assert_eq!(found[..w * h], texels);
    assert_eq!(found[w * h..], [0; 4], "beyond the last row");
}

#[test]
fn address_modes_levels_gathers_and_cubes() {
    let device = device();
    let line = array(Shape::Line { width: 4 }, |i| i as f32);
    type Expected = fn(i64) -> f32;
    let modes: [(AddressMode, Expected); 4] = [
        (AddressMode::Wrap, |i| i.rem_euclid(4) as f32),
        (AddressMode::Clamp, |i| i.clamp(0, 3) as f32),
        (AddressMode::Mirror, |i| [0, 1, 2, 3, 3, 2, 1, 0][i.rem_euclid(8) as usize] as f32),
        (AddressMode::Border, |i| if (0..4).contains(&i) { i as f32 } else { 9.0 }),
    ];
    for (mode, expected) in modes {
        let sampling = Sampling::default()
            .address([mode, AddressMode::Clamp, AddressMode::Clamp])
            .normalized_coordinates(true)
            .border([9.0; 4]);
        let texture = Texture::of_array(&line, &sampling).unwrap();
        let at = |i: usize| (i as f32 - 30.0 + 0.5) / 4.0;
        let found: Vec<f32> = device.fetch("texture_line", &texture, at);
        for (i, found) in found.iter().enumerate() {
            assert_eq!(*found, expected(i as i64 - 30), "{mode:?} {i}");
        }
    }

    let mut mipmaps = Mipmaps::<f32>::new(Shape::Plane { width: 8, height: 4 }, 3).unwrap();
    for level in 0..3 {
        let [w, h, _] = mipmaps.extent(level);
        mipmaps.upload(level, &vec![10.0 * level as f32; w * h]).unwrap();
    }
    let levels = Levels { filter: Filter::Linear, ..sampled_linearly().levels };
    let sampling = sampled_linearly().normalized_coordinates(true).levels(levels);
    let texture = Texture::of_mipmaps(&mipmaps, &sampling).unwrap();
    let found: Vec<f32> =
        device.fetch("texture_level", &texture, |i| [0.5, 0.5, i as f32 / 16.0 - 1.0, 0.0]);
    for (i, found) in found.iter().enumerate() {
        assert_eq!(*found, 10.0 * (i as f32 / 16.0 - 1.0).clamp(0.0, 2.0), "{i}");
    }

    let uses = Uses::default().gather(true);
    let mut plane = Array::<f32>::new(Shape::Plane { width: 8, height: 8 }, uses).unwrap();
    plane.upload(&(0..64).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
    let texture = Texture::of_array(&plane, &Sampling::default()).unwrap();
    let at = |i: usize| [(i % 7 + 1) as f32, (i / 7 % 7 + 1) as f32];
    let found: Vec<[f32; 4]> = device.fetch("texture_gather", &texture, at);
    for (i, found) in found.iter().enumerate() {
        let first = (i / 7 % 7 * 8 + i % 7) as f32;
        assert_eq!(*found, [first + 8.0, first + 9.0, first + 1.0, first], "{i}");
    }

    let cube = array(Shape::Cube { edge: 2 }, |i| (i / 4) as f32);
    let texture = Texture::of_array(&cube, &Sampling::default()).unwrap();
    let axis = |i: usize| {
        let mut direction = [0.1_f32, 0.2, -0.3, 0.0];
        direction[i / 2 % 3] = if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        direction
    };
    let found: Vec<f32> = device.fetch("texture_cube", &texture, axis);
    (0..SAMPLES).for_each(|i| assert_eq!(found[i], (i % 6) as f32, "{:?} {found:?}", axis(i)));
}

#[test]
fn pixels_are_read_as_floats() {
    let device = device();
    let pixel = |i: usize| [0_u8, 50, 100, 150].map(|c| c.wrapping_add(i as u8 * 3));
    let image = array(Shape::Plane { width: 16, height: 4 }, pixel);
    let sampling = Sampling::default().normalized_floats(true);
    let texture = Texture::of_array(&image, &sampling).unwrap();
    let target = DeviceBuffer::from_slice(&[[0_u8; 4]; SAMPLES]).unwrap();
    let to = target.as_device_ptr().as_raw();
    device.launch("texture_pixels", 64, &mut [texture.handle(), 16, to]).unwrap();
    let mut found = [[0; 4]; SAMPLES];
    target.copy_to(&mut found).unwrap();
    (0..SAMPLES).for_each(|i| assert_eq!(found[i], pixel(i)));
}

fn surface<T: Texel + PartialEq + std::fmt::Debug>(
    device: &Device,
    kernel: &str,
    texel: impl Fn(usize) -> T,
    changed: impl Fn(T) -> T,
) {
    let uses = Uses::default().surfaces(true);
    let mut image = Array::new(Shape::Plane { width: 16, height: 4 }, uses).unwrap();
    let texels: Vec<T> = (0..SAMPLES).map(texel).collect();
    image.upload(&texels).unwrap();
    let object = Surface::new(&image).unwrap();
    device.launch(kernel, 64, &mut [object.handle(), 16]).unwrap();
    let mut found = vec![T::zeroed(); SAMPLES];
    image.download(&mut found).unwrap();
    assert_eq!(found, texels.into_iter().map(changed).collect::<Vec<_>>(), "{kernel}");
}

#[test]
fn surfaces_are_loaded_and_stored() {
    let device = device();
    surface(&device, "surface_u8", |i| i as u8 * 5, |v| v.wrapping_add(1));
    surface(&device, "surface_u16", |i| i as u16 * 999, |v| v.wrapping_add(257));
    surface(&device, "surface_u32", |i| i as u32 * 9, |v| v * 3);
    surface(&device, "surface_i32", |i| i as i32 - 30, |v| -v);
    surface(&device, "surface_f32", number, |v| v + 0.5);
    surface(&device, "surface_f32x2", |i| [i as f32, 1.0], |[a, b]| [b, a]);
    surface(&device, "surface_f32x4", |i| [i as f32, 1.0, 2.0, 3.0], |[a, b, c, d]| [d, c, b, a]);
}

#[test]
fn what_cannot_be_is_refused_in_a_sentence() {
    let _device = device();
    let message = |result: cust_ext::Result<()>| result.unwrap_err().to_string();
    let plane = array(Shape::Plane { width: 4, height: 4 }, |i| i as u32);
    let linear = Texture::of_array(&plane, &sampled_linearly()).map(drop);
    assert!(message(linear).contains("linear filtering needs floats"));
    let sampling = Sampling::default().normalized_floats(true);
    let floats = Texture::of_array(&plane, &sampling).map(drop);
    assert!(message(floats).contains("integers of 8 and 16 bits"));
    let none = Array::<f32>::new(Shape::Plane { width: 0, height: 4 }, Uses::default()).map(drop);
    assert!(message(none).contains("make each extent at least 1"));
    let large = Shape::Plane { width: 200_000, height: 4 };
    let large = Array::<f32>::new(large, Uses::default()).map(drop);
    assert!(message(large).contains("CUDA_ERROR_INVALID_VALUE"));
    assert!(message(Surface::new(&plane).map(drop)).contains("Uses::surfaces"));
}

/// Each function becomes the instruction that its documentation names.
#[test]
fn functions_become_their_instructions() {
    let ptx = device().ptx;
    for (kernel, instruction) in [
        ("texture_buffer", "tex.1d.v4.u32.s32"),
        ("texture_line", "tex.1d.v4.u32.f32"),
        ("texture_plane", "tex.2d.v4.u32.f32"),
        ("texture_plane_texel", "tex.2d.v4.u32.s32"),
        ("texture_level", "tex.level.2d.v4.u32.f32"),
        ("texture_gather", "tld4.r.2d.v4.u32.f32"),
        ("texture_volume", "tex.3d.v4.u32.f32"),
        ("texture_volume_texel", "tex.3d.v4.u32.s32"),
        ("texture_lines", "tex.a1d.v4.u32.f32"),
        ("texture_planes", "tex.a2d.v4.u32.f32"),
        ("texture_planes_texel", "tex.a2d.v4.u32.s32"),
        ("texture_cube", "tex.cube.v4.u32.f32"),
        ("surface_u8", "sust.b.2d.b8.trap"),
        ("surface_u16", "suld.b.2d.b16.trap"),
        ("surface_f32", "suld.b.2d.b32.trap"),
        ("surface_f32x2", "sust.b.2d.v2.b32.trap"),
        ("surface_f32x4", "suld.b.2d.v4.b32.trap"),
        ("surface_then_texture", "sust.b.2d.b32.trap"),
    ] {
        let entry = ptx.split(&format!(".entry {kernel}(")).nth(1).expect(kernel);
        let body = entry.split("\n}").next().unwrap_or_default();
        assert!(body.contains(instruction), "{kernel} has no {instruction}:\n{body}");
    }
}

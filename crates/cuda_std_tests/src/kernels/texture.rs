//! Kernels for `cuda_std::texture`: each thread reads its coordinates and stores what a fetch gives. Their images are
//! in `tests/textures.rs`.

use cuda_std::texture::{Buffer, Cube, Line, Lines, Plane, Planes, Surface, Texture, Volume};
use cuda_std::vector::{F32x2, F32x4, I32x4, U8x4, U32x2};
use cuda_std::{kernel, thread};

macro_rules! fetches {
    ($($name:ident($image:ty, $at:ty, $value:ty) |$texture:ident, $place:ident| $fetch:expr;)*) => {$(
        #[kernel]
        pub unsafe fn $name($texture: $image, at: *const $at, target: *mut $value) {
            let tid = thread::thread_idx_x() as usize;
            // SAFETY: the launch contract of the module.
            unsafe {
                let $place = *at.add(tid);
                *target.add(tid) = $fetch;
            }
        }
    )*};
}

fetches! {
    texture_buffer(Texture<Buffer, U32x2>, i32, U32x2) |image, at| image.texel(at);
    texture_line(Texture<Line, f32>, f32, f32) |image, at| image.fetch(at);
    texture_plane(Texture<Plane, F32x4>, F32x2, F32x4) |image, at| image.fetch(at.x, at.y);
    texture_plane_texel(Texture<Plane, i32>, I32x4, i32) |image, at| image.texel(at.x, at.y);
    texture_level(Texture<Plane, f32>, F32x4, f32) |image, at| image.fetch_level(at.x, at.y, at.z);
    texture_gather(Texture<Plane, f32>, F32x2, F32x4) |image, at| image.gather(at.x, at.y);
    texture_volume(Texture<Volume, f32>, F32x4, f32) |image, at| image.fetch(at.x, at.y, at.z);
    texture_volume_texel(Texture<Volume, f32>, I32x4, f32) |image, at| image.texel(at.x, at.y, at.z);
    texture_lines(Texture<Lines, f32>, F32x2, f32) |image, at| image.fetch(at.y as u32, at.x);
    texture_planes(Texture<Planes, F32x2>, F32x4, F32x2) |image, at| image.fetch(at.z as u32, at.x, at.y);
    texture_planes_texel(Texture<Planes, F32x2>, I32x4, F32x2) |image, at| image.texel(at.z as u32, at.x, at.y);
    texture_cube(Texture<Cube, f32>, F32x4, f32) |image, at| image.fetch(at.x, at.y, at.z);
}

macro_rules! surfaces {
    ($($name:ident($type:ty) |$value:ident| $changed:expr;)*) => {$(
        #[kernel]
        pub unsafe fn $name(surface: Surface<Plane, $type>, width: u32) {
            let tid = thread::thread_idx_x();
            let (x, y) = (tid % width, tid / width);
            // SAFETY: the surface has as many texels as the launch threads, and each has its own.
            unsafe {
                let $value = surface.load(x, y);
                surface.store(x, y, $changed);
            }
        }
    )*};
}

surfaces! {
    surface_u8(u8) |value| value.wrapping_add(1);
    surface_u16(u16) |value| value.wrapping_add(257);
    surface_u32(u32) |value| value * 3;
    surface_i32(i32) |value| -value;
    surface_f32(f32) |value| value + 0.5;
    surface_f32x2(F32x2) |value| F32x2::new(value.y, value.x);
    surface_f32x4(F32x4) |value| F32x4::new(value.w, value.z, value.y, value.x);
}

/// Stores through a surface and then fetches the same texel: what it finds is not defined.
#[kernel]
pub unsafe fn surface_then_texture(
    surface: Surface<Plane, f32>,
    image: Texture<Plane, f32>,
    target: *mut f32,
) {
    let tid = thread::thread_idx_x();
    // SAFETY: the surface has a row of as many texels as the launch threads, and the target as many elements.
    unsafe {
        surface.store(tid, 0, 1.0);
        *target.add(tid as usize) = image.texel(tid as i32, 0);
    }
}

/// Passes a pixel through as bytes.
#[kernel]
pub unsafe fn texture_pixels(image: Texture<Plane, F32x4>, width: u32, target: *mut U8x4) {
    let tid = thread::thread_idx_x();
    let pixel = image.fetch((tid % width) as f32 + 0.5, (tid / width) as f32 + 0.5);
    let byte = |value: f32| (value * 255.0 + 0.5) as u8;
    // SAFETY: the target has as many elements as the launch has threads.
    unsafe {
        *target.add(tid as usize) =
            U8x4::new(byte(pixel.x), byte(pixel.y), byte(pixel.z), byte(pixel.w));
    }
}

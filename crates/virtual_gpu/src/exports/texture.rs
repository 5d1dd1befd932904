use super::arguments::{In, Out};
use super::define::exports;
use crate::arrays::format;
use crate::code::CuResult;
use crate::driver::Driver;
use crate::misuse::MisuseKind;
use crate::objects::TextureState;
use cuda_driver::ReturnCode;
use cuda_driver::raw::{
    CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC, CUsurfObject, CUtexObject,
};
use simt::{AddressMode, Image, Level, Sampler, Shape, Texture};
use std::ffi::c_uint;

/// `CU_TRSF_READ_AS_INTEGER`, `CU_TRSF_NORMALIZED_COORDINATES`, `CU_TRSF_SRGB`, and all that a driver knows.
const AS_INTEGER: u32 = 1;
const NORMALIZED: u32 = 2;
const SRGB: u32 = 0x10;
const SEAMLESS: u32 = 0x40;
const KNOWN: u32 = 0x73;

fn image(driver: &Driver, resource: &In<CUDA_RESOURCE_DESC>) -> CuResult<Image> {
    let invalid = ReturnCode::INVALID_VALUE;
    let resource = resource.pointer()?;
    // SAFETY: valid by the type; the kind says which part of the union was written, and enums are read as the integers that
    // they are in C.
    unsafe {
        if (*resource).flags != 0 {
            return Err(invalid);
        }
        let limit = |number| driver.device().profile.attribute(number).unwrap_or(0) as u64;
        let aligned = |address: u64| address != 0 && address.is_multiple_of(limit(14));
        match (&raw const (*resource).resType).cast::<c_uint>().read() {
            0 => {
                let handle = (*resource).res.array.hArray.addr();
                let array = driver.objects.arrays.get(handle).map_err(|_| invalid)?;
                Ok(array.image.clone())
            }
            1 => {
                let handle = (*resource).res.mipmap.hMipmappedArray.addr();
                let handles = driver.objects.mipmaps.get(handle).map_err(|_| invalid)?;
                let mut levels = Vec::new();
                for handle in handles {
                    levels.push(driver.objects.arrays.get(*handle)?.image.levels[0]);
                }
                let first = driver.objects.arrays.get(handles[0])?;
                Ok(Image { levels, ..first.image.clone() })
            }
            2 => {
                let linear = &raw const (*resource).res.linear;
                let format = format((&raw const (*linear).format).cast::<c_uint>().read())?;
                let (address, channels) = ((*linear).devPtr, (*linear).numChannels);
                let texel = u64::from(format.bytes() * channels);
                let is_texel = matches!(channels, 1 | 2 | 4);
                let width = if is_texel { (*linear).sizeInBytes as u64 / texel } else { 0 };
                if !is_texel || !aligned(address) || width > limit(69) {
                    return Err(invalid);
                }
                let levels = vec![Level { address, pitch: Some(width * texel) }];
                let (width, height, depth) = (width as u32, 1, 1);
                Ok(Image { shape: Shape::Buffer, format, channels, width, height, depth, levels })
            }
            3 => {
                let plane = &raw const (*resource).res.pitch2D;
                let format = format((&raw const (*plane).format).cast::<c_uint>().read())?;
                let (address, channels) = ((*plane).devPtr, (*plane).numChannels);
                let [width, height, pitch] =
                    [(*plane).width, (*plane).height, (*plane).pitchInBytes].map(|n| n as u64);
                if !matches!(channels, 1 | 2 | 4)
                    || !aligned(address)
                    || !pitch.is_multiple_of(limit(51))
                    || width > limit(70)
                    || height > limit(71)
                    || pitch > limit(72)
                {
                    return Err(invalid);
                }
                let levels = vec![Level { address, pitch: Some(pitch) }];
                let (width, height, depth) = (width as u32, height as u32, 1);
                Ok(Image { shape: Shape::Plane, format, channels, width, height, depth, levels })
            }
            _ => Err(invalid),
        }
    }
}

fn sampler(
    driver: &mut Driver,
    image: &Image,
    texture: &In<CUDA_TEXTURE_DESC>,
) -> CuResult<Sampler> {
    let texture = texture.pointer()?;
    // SAFETY: valid by the type; enums are read as the integers that they are in C, the three address modes at once.
    unsafe {
        let modes = (&raw const (*texture).addressMode).cast::<[c_uint; 3]>().read();
        let filter = (&raw const (*texture).filterMode).cast::<c_uint>().read();
        let level_filter = (&raw const (*texture).mipmapFilterMode).cast::<c_uint>().read();
        let flags = (*texture).flags;
        if modes.iter().any(|mode| *mode > 3)
            || filter > 1
            || level_filter > 1
            || flags & !KNOWN != 0
        {
            return Err(ReturnCode::INVALID_VALUE);
        }
        let bytes = image.format.bytes();
        if flags & SRGB != 0 && bytes == 1 {
            return Err(driver.unsupported("sRGB textures; convert the colours in the kernel"));
        }
        if flags & SEAMLESS != 0 {
            return Err(driver.unsupported("seamless cube maps"));
        }
        let is_small = bytes < 4 && !image.format.is_float();
        Ok(Sampler {
            address: modes.map(|mode| match mode {
                0 => AddressMode::Wrap,
                1 => AddressMode::Clamp,
                2 => AddressMode::Mirror,
                _ => AddressMode::Border,
            }),
            linear: filter == 1,
            normalized: flags & NORMALIZED != 0,
            to_float: flags & AS_INTEGER == 0 && is_small,
            border: (*texture).borderColor.map(f32::to_bits),
            linear_levels: level_filter == 1,
            level_bias: (*texture).mipmapLevelBias,
            level_clamp: [(*texture).minMipmapLevelClamp, (*texture).maxMipmapLevelClamp],
        })
    }
}

/// Forgets an object after the work that may use it. The driver says nothing of one that it does not know.
fn destroy(driver: &mut Driver, object: u64) -> CuResult {
    driver.context()?;
    driver.run_all();
    driver.objects.textures.remove(&object);
    if driver.memory.device.destroy_texture(object).is_none() && object != 0 {
        let message = format!(
            "destroying the texture or surface object {object:#x}, which does not exist; was it destroyed before?"
        );
        driver.report(MisuseKind::DoubleFree, message);
    }
    Ok(())
}

fn state(driver: &Driver, object: u64) -> CuResult<&TextureState> {
    driver.objects.textures.get(&object).ok_or(ReturnCode::INVALID_VALUE)
}

exports! {
    fn cuTexObjectCreate(
        driver, object: Out<CUtexObject>, resource: In<CUDA_RESOURCE_DESC>, texture: In<CUDA_TEXTURE_DESC>,
        view: *const CUDA_RESOURCE_VIEW_DESC
    ) {
        driver.context()?;
        object.given()?;
        if !view.is_null() {
            return Err(driver.unsupported("resource views"));
        }
        let image = image(driver, &resource)?;
        let sampler = Some(sampler(driver, &image, &texture)?);
        let number = driver.memory.device.create_texture(Texture { image, sampler });
        // SAFETY: valid by the types; `image` and `sampler` have refused enums that C does not know.
        let state = unsafe { TextureState::new(resource.pointer()?.read(), Some(texture.pointer()?.read())) };
        driver.objects.textures.insert(number, state);
        object.write(number)
    }
    fn cuTexObjectDestroy(driver, object: CUtexObject) {
        destroy(driver, object)
    }
    fn cuTexObjectGetResourceDesc(driver, target: Out<CUDA_RESOURCE_DESC>, object: CUtexObject) {
        let state = state(driver, object)?;
        target.write(state.resource)
    }
    fn cuTexObjectGetTextureDesc(driver, target: Out<CUDA_TEXTURE_DESC>, object: CUtexObject) {
        let texture = state(driver, object)?.texture.ok_or(ReturnCode::INVALID_VALUE)?;
        target.write(texture)
    }
    fn cuSurfObjectCreate(driver, object: Out<CUsurfObject>, resource: In<CUDA_RESOURCE_DESC>) {
        driver.context()?;
        object.given()?;
        let described = resource.pointer()?;
        // SAFETY: valid by the type; the kind is read as the integer that it is in C.
        if unsafe { (&raw const (*described).resType).cast::<c_uint>().read() } != 0 {
            return Err(ReturnCode::INVALID_VALUE);
        }
        let image = image(driver, &resource)?;
        let number = driver.memory.device.create_texture(Texture { image, sampler: None });
        // SAFETY: valid by the type; its one enum was 0 above.
        let state = TextureState::new(unsafe { described.read() }, None);
        driver.objects.textures.insert(number, state);
        object.write(number)
    }
    fn cuSurfObjectDestroy(driver, object: CUsurfObject) {
        destroy(driver, object)
    }
    fn cuSurfObjectGetResourceDesc(driver, target: Out<CUDA_RESOURCE_DESC>, object: CUsurfObject) {
        let state = state(driver, object)?;
        target.write(state.resource)
    }
}

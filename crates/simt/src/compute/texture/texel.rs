use super::filter::away;
use crate::compute::half::F16;
use crate::compute::half::Half;
use crate::texture::{Format, Image};

/// A texel's channels as `tex` delivers them: floats, or integers of 32 bits. Missing ones are zero, the fourth is one.
pub(crate) fn decode(image: &Image, to_float: bool, bytes: [u8; 16]) -> [u32; 4] {
    let size = image.format.bytes() as usize;
    std::array::from_fn(|channel| {
        if channel >= image.channels as usize {
            return 0;
        }
        let mut word = [0; 4];
        word[..size].copy_from_slice(&bytes[channel * size..][..size]);
        let bits = u32::from_le_bytes(word);
        let float = |value: i32, most: i32| (value as f32 / most as f32).max(-1.0).to_bits();
        match (image.format, to_float) {
            (Format::Single | Format::Unsigned32 | Format::Signed32, _) => bits,
            (Format::Half, _) => F16::from_bits(bits as u16).value().to_bits(),
            (Format::Unsigned8, true) => float(bits as i32, 255),
            (Format::Unsigned16, true) => float(bits as i32, 65535),
            (Format::Signed8, true) => float(i32::from(bits as i8), 127),
            (Format::Signed16, true) => float(i32::from(bits as i16), 32767),
            (Format::Signed8, false) => i32::from(bits as i8) as u32,
            (Format::Signed16, false) => i32::from(bits as i16) as u32,
            (Format::Unsigned8 | Format::Unsigned16, false) => bits,
        }
    })
}

/// The channels of a texel as the filter weighs them: floats as they are, normalized integers as integers of 16 bits.
pub(super) fn widen(image: &Image, bytes: [u8; 16]) -> [f32; 4] {
    decode(image, false, bytes).map(|bits| {
        let whole = bits as i32;
        match image.format {
            Format::Unsigned8 => (257 * whole) as f32,
            Format::Unsigned16 => whole as f32,
            Format::Signed8 => {
                let size = whole.abs();
                ((258 * size + ((size & 127) >> 6)) * whole.signum()) as f32
            }
            Format::Signed16 => whole as f32,
            _ => f32::from_bits(bits),
        }
    })
}

/// A weighted sum as a float, rounded to what the filter keeps: the format for floats, 16 bits for integers.
pub(super) fn narrow(image: &Image, sum: f64) -> f32 {
    match image.format {
        Format::Half => half_away(sum),
        Format::Unsigned8 | Format::Unsigned16 => sum.round() as f32 / 65535.0,
        Format::Signed8 | Format::Signed16 => sum.round().max(-32767.0) as f32 / 32767.0,
        _ => away(sum),
    }
}

fn half_away(sum: f64) -> f32 {
    // The last bit of an f16: 10 below its first, and never below 2^-24.
    let exponent = ((sum.abs().to_bits() >> 52) as i32 - 1023).max(-14);
    let unit = 2.0_f64.powi(exponent - 10);
    F16::nearest(((sum / unit).round() * unit) as f32).value()
}

/// One channel of a border colour in the image's format.
pub(super) fn encode(format: Format, to_float: bool, bits: u32) -> u32 {
    let value = f32::from_bits(bits);
    let scaled = |low: f32, most: f32| (value.clamp(low, 1.0) * most).round() as i32 as u32;
    match (format, to_float) {
        (Format::Half, _) => u32::from(F16::nearest(value).bits()),
        (Format::Unsigned8, true) => scaled(0.0, 255.0),
        (Format::Unsigned16, true) => scaled(0.0, 65535.0),
        (Format::Signed8, true) => scaled(-1.0, 127.0),
        (Format::Signed16, true) => scaled(-1.0, 32767.0),
        _ => bits,
    }
}

/// A filtered float: all that are no numbers are the same.
pub(super) fn canonical(image: &Image, bits: u32) -> u32 {
    match image.format {
        _ if !f32::from_bits(bits).is_nan() => bits,
        Format::Half => 0x7fff_e000,
        _ => 0x7fff_ffff,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texture::{Level, Shape};

    fn image(format: Format, channels: u32) -> Image {
        let levels = vec![Level { address: 0, pitch: None }];
        let (shape, width, height, depth) = (Shape::Line, 8, 1, 1);
        Image { shape, format, channels, width, height, depth, levels }
    }

    #[test]
    fn bytes_become_words() {
        let bytes = |values: &[u8]| std::array::from_fn(|i| values.get(i).copied().unwrap_or(0));
        let floats = |format, values: &[u8]| {
            decode(&image(format, 2), true, bytes(values)).map(f32::from_bits)
        };
        assert_eq!(floats(Format::Unsigned8, &[255, 51]), [1.0, 0.2, 0.0, 0.0]);
        assert_eq!(floats(Format::Signed8, &[0x80, 127]), [-1.0, 1.0, 0.0, 0.0]);
        assert_eq!(floats(Format::Half, &[0, 0x3c, 0, 0xc0]), [1.0, -2.0, 0.0, 0.0]);
        let whole = decode(&image(Format::Signed16, 1), false, bytes(&[0xfe, 0xff]));
        assert_eq!(whole, [-2_i32 as u32, 0, 0, 0]);
    }

    #[test]
    fn filtered_integers_keep_sixteen_bits_and_halves_eleven() {
        let unsigned = image(Format::Unsigned8, 1);
        assert_eq!(widen(&unsigned, [255; 16])[0], 65535.0);
        assert_eq!(narrow(&unsigned, 65534.6), 1.0);
        assert_eq!(narrow(&image(Format::Half, 1), -4.364_296), -4.363_281_3);
        assert_eq!(narrow(&image(Format::Half, 1), 2049.0), 2050.0);
        assert_eq!(encode(Format::Unsigned8, true, 0.25_f32.to_bits()), 64);
        assert_eq!(encode(Format::Signed16, true, (-3.0_f32).to_bits()) as u16, 0x8001);
    }
}

//! From the bytes of a texel to four words.

use crate::compute::half::Half;
use crate::texture::{Format, Image};
use crate::types::F16;

/// The channels of a texel as `tex` delivers them: floats, or integers of 32 bits. Missing channels are zero, the
/// fourth is one.
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

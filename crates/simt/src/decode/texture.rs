//! Decoding of texture and surface instructions, in the mode without references: the object is a 64-bit handle.

use super::decoder::Decoder;
use crate::error::Error;
use crate::image::{
    Beyond, Fetch, Geometry, ImageOperation, LevelOperand, SurfaceAccess, TexelAddress,
    TextureQuery, TextureQuestion,
};
use crate::operation::{Operation, Register};
use ptx::Modifiers;
use ptx::Type;
use ptx::tree::{Instruction, Operand};

impl<'a> Decoder<'_, '_, 'a> {
    /// Decodes texture and surface instructions; false when the instruction is something else, or not supported.
    pub fn texture(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let operands = &instruction.operands[..];
        match instruction.opcode {
            "tex" => self.fetch(operands, modifiers),
            "tld4" => self.gather(operands, modifiers),
            "suld" | "sust" => self.surface(operands, modifiers, instruction.opcode == "sust"),
            "txq" | "suq" => self.query(operands, modifiers),
            _ => Ok(false),
        }
    }

    fn fetch(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let levelled = modifiers.take("level");
        let (Some(geometry), [results @ .., coordinate]) =
            (geometry(modifiers), &modifiers.types[..])
        else {
            return Ok(false);
        };
        let whole = match coordinate {
            Type::S32 => true,
            Type::F32 => false,
            _ => return Ok(false),
        };
        let is_word = matches!(results, [Type::F32 | Type::S32 | Type::U32]);
        if !modifiers.take("v4") || !is_word {
            return Ok(false);
        }
        let (results, texel, level) = match operands {
            [results, texel] if !levelled => (results, texel, None),
            [results, texel, level] if levelled => (results, texel, Some(level)),
            // An offset or a comparison follows.
            _ => return Ok(false),
        };
        let Some(address) =
            self.texel(texel, geometry, if whole { Type::S32 } else { Type::F32 })?
        else {
            return Ok(false);
        };
        let level = match level {
            None => LevelOperand::Nothing,
            Some(level) if whole => LevelOperand::Whole(self.source(level, Type::S32)?.index()),
            Some(level) => LevelOperand::Float(self.source(level, Type::F32)?.index()),
        };
        let results = self.texel_results(results)?;
        let fetch = Fetch { address, whole, level, gather: None, results };
        self.image(ImageOperation::Fetch(fetch));
        Ok(true)
    }

    fn gather(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let channels = ["r", "g", "b", "a"];
        let channel = channels.iter().position(|name| modifiers.take(name));
        let is_plane = modifiers.take("2d");
        let types = matches!(modifiers.types[..], [Type::F32 | Type::S32 | Type::U32, Type::F32]);
        let ([results, texel], true, true) = (operands, modifiers.take("v4"), types && is_plane)
        else {
            return Ok(false);
        };
        let Some(address) = self.texel(texel, Geometry::Plane, Type::F32)? else {
            return Ok(false);
        };
        let results = self.texel_results(results)?;
        let level = LevelOperand::Nothing;
        let fetch = Fetch { address, whole: false, level, gather: channel, results };
        self.image(ImageOperation::Fetch(fetch));
        Ok(channel.is_some())
    }

    fn surface(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
        store: bool,
    ) -> Result<bool, Error> {
        if !modifiers.take("b") {
            return Ok(false);
        }
        let beyond = match modifiers.take_any(&["trap", "clamp", "zero"]) {
            Some("trap") | None => Beyond::Trap,
            Some("clamp") => Beyond::Clamp,
            Some(_) => Beyond::Zero,
        };
        modifiers.take_any(&["ca", "cg", "cs", "cv", "wb", "wt"]);
        let elements = super::access::take_elements(modifiers);
        let (Some(geometry), Some(t)) = (geometry(modifiers), modifiers.only_type()) else {
            return Ok(false);
        };
        if matches!(geometry, Geometry::Cube | Geometry::Cubes) {
            return Ok(false);
        }
        let (values, texel) = match operands {
            [texel, values] if store => (values, texel),
            [values, texel] if !store => (values, texel),
            _ => return Ok(false),
        };
        let Some(address) = self.texel(texel, geometry, Type::S32)? else { return Ok(false) };
        let parts = match values {
            Operand::Vector(parts) => &parts[..],
            single => std::slice::from_ref(single),
        };
        if parts.len() != elements {
            return self.invalid(format!("expected {elements} registers, not {}", parts.len()));
        }
        let mut rows = Vec::new();
        for part in parts {
            rows.push(if store { self.source(part, t)? } else { self.destination(part, t)? });
        }
        let access = SurfaceAccess { address, beyond, bytes: t.bytes(), rows };
        self.image(match store {
            true => ImageOperation::Store(access),
            false => ImageOperation::Load(access),
        });
        Ok(true)
    }

    fn query(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        // A driver refuses modules that ask a handle for anything else.
        let question = match modifiers.take_any(&["width", "height", "depth"]) {
            Some("width") => TextureQuestion::Width,
            Some("height") => TextureQuestion::Height,
            Some(_) => TextureQuestion::Depth,
            None => return Ok(false),
        };
        let ([destination, Operand::Address { base: Some(object), .. }], Some(Type::B32)) =
            (operands, modifiers.only_type())
        else {
            return Ok(false);
        };
        let Some(object) = self.handle(object)? else { return Ok(false) };
        let destination = self.destination(destination, Type::B32)?;
        let query = TextureQuery { question, object, destination };
        self.image(ImageOperation::Query(query));
        Ok(true)
    }

    fn image(&mut self, operation: ImageOperation) {
        self.emit(Operation::Image(Box::new(operation)));
    }

    /// The register that holds a handle; none for a texture reference, which is not supported.
    fn handle(&mut self, name: &'a str) -> Result<Option<u32>, Error> {
        match self.register(name) {
            Some((row @ Register::Long(index), _)) => {
                self.reads.push(row);
                Ok(Some(index))
            }
            Some(_) => {
                self.invalid(format!("`{name}` is no 64-bit handle of a texture or surface"))
            }
            None => self.unsupported(format!("texture reference `{name}`")),
        }
    }

    /// `[object, {layer, x, y}]`; none where a sampler is named, or no coordinates.
    fn texel(
        &mut self,
        operand: &Operand<'a>,
        geometry: Geometry,
        t: Type,
    ) -> Result<Option<TexelAddress>, Error> {
        let Operand::Texel { object, coordinates } = operand else { return Ok(None) };
        let [coordinates] = &coordinates[..] else { return Ok(None) };
        let parts = match coordinates {
            Operand::Vector(parts) => &parts[..],
            single => std::slice::from_ref(single),
        };
        let Some(object) = self.handle(object)? else { return Ok(None) };
        let (layered, count) = match geometry {
            Geometry::Line => (false, 1),
            Geometry::Plane => (false, 2),
            Geometry::Volume | Geometry::Cube => (false, 3),
            Geometry::Lines => (true, 1),
            Geometry::Planes => (true, 2),
            Geometry::Cubes => (true, 3),
        };
        if parts.len() < count + usize::from(layered) {
            return self.invalid(format!("{} coordinates are too few", parts.len()));
        }
        let (first, rest) = parts.split_at(usize::from(layered));
        let layer = match first {
            [layer] => Some(self.source(layer, Type::U32)?.index()),
            _ => None,
        };
        let mut at = Vec::new();
        for part in &rest[..count] {
            at.push(self.source(part, t)?.index());
        }
        Ok(Some(TexelAddress { geometry, object, layer, at }))
    }

    fn texel_results(&mut self, operand: &Operand<'a>) -> Result<Vec<Register>, Error> {
        let Operand::Vector(parts) = operand else {
            return self.invalid("the result of a fetch is a vector of four registers");
        };
        if parts.len() != 4 {
            return self.invalid("the result of a fetch is a vector of four registers");
        }
        parts.iter().map(|part| self.destination(part, Type::B32)).collect()
    }
}

fn geometry(modifiers: &mut Modifiers<'_>) -> Option<Geometry> {
    Some(match modifiers.take_any(&["1d", "2d", "3d", "a1d", "a2d", "cube", "acube"])? {
        "1d" => Geometry::Line,
        "2d" => Geometry::Plane,
        "3d" => Geometry::Volume,
        "a1d" => Geometry::Lines,
        "a2d" => Geometry::Planes,
        "cube" => Geometry::Cube,
        _ => Geometry::Cubes,
    })
}

/// The fundamental types (PTX ISA, "Fundamental Types" and "Alternate Floating-Point Data Formats").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum Type {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    Bf16,
    F16x2,
    Bf16x2,
    U16x2,
    S16x2,
    F32,
    F64,
    F32x2,
    Tf32,
    /// 8-bit floats: only the factors of `wgmma` have these types.
    E4m3,
    E5m2,
}

impl Type {
    /// Reads a type's name.
    pub fn parse(name: &str) -> Option<Type> {
        Some(match name {
            "pred" => Type::Pred,
            "b8" => Type::B8,
            "b16" => Type::B16,
            "b32" => Type::B32,
            "b64" => Type::B64,
            "b128" => Type::B128,
            "u8" => Type::U8,
            "u16" => Type::U16,
            "u32" => Type::U32,
            "u64" => Type::U64,
            "s8" => Type::S8,
            "s16" => Type::S16,
            "s32" => Type::S32,
            "s64" => Type::S64,
            "f16" => Type::F16,
            "bf16" => Type::Bf16,
            "f16x2" => Type::F16x2,
            "bf16x2" => Type::Bf16x2,
            "u16x2" => Type::U16x2,
            "s16x2" => Type::S16x2,
            "f32" => Type::F32,
            "f64" => Type::F64,
            "f32x2" => Type::F32x2,
            "tf32" => Type::Tf32,
            _ => return None,
        })
    }

    /// Bytes of a value; 1 for a predicate.
    pub fn bytes(self) -> u32 {
        match self {
            Type::Pred | Type::B8 | Type::U8 | Type::S8 | Type::E4m3 | Type::E5m2 => 1,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => 2,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 | Type::F32x2 => 8,
            Type::B128 => 16,
            _ => 4,
        }
    }

    /// Returns whether it is a signed integer.
    pub fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }

    /// Returns whether it holds floats.
    pub fn is_float(self) -> bool {
        matches!(
            self,
            Type::F16
                | Type::Bf16
                | Type::F16x2
                | Type::Bf16x2
                | Type::F32
                | Type::F64
                | Type::F32x2
                | Type::Tf32
        )
    }
}

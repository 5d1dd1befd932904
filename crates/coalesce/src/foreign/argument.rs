//! Arguments of a kernel as a person writes them: `in:f32*1Mi=random`, `n:u32=1048576`.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use simt::{Parameter, ParameterKind};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The seed of random values: the same file and arguments always give the same counts.
const SEED: u64 = 1;

/// A grid or a block: `1024`, `32x8` or `32x8x2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape(pub [u32; 3]);

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Shape, String> {
        let wrong = || format!("`{text}` is no shape: write 1024, 32x8 or 32x8x2");
        let mut shape = [1; 3];
        let parts: Vec<&str> = text.split(['x', ',']).collect();
        if parts.len() > shape.len() {
            return Err(wrong());
        }
        for (extent, part) in shape.iter_mut().zip(parts) {
            let count = count(part).and_then(|count| u32::try_from(count).ok());
            *extent = count.filter(|count| *count > 0).ok_or_else(wrong)?;
        }
        Ok(Shape(shape))
    }
}

/// The contents of an array, or the value of a scalar.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    /// Each element is 0.
    Zeros,
    /// Each element is its index.
    Iota,
    /// Floats from 0 to 1; whole numbers from 0 to the array's length, so that they can be indices of it.
    Random,
    /// Nothing was written, so that reading it is a hazard.
    Unset,
    Number(String),
    /// Elements from a file, in little-endian order.
    File(PathBuf),
    /// These bytes, of a structure.
    Bytes(Vec<u8>),
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    text: String,
    name: String,
    /// The type of a scalar or of an array's elements, if it is said.
    element: Option<Element>,
    count: Option<u64>,
    value: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    Unsigned(usize),
    Signed(usize),
    Float(usize),
    Brain,
}

impl Element {
    fn bytes(self) -> usize {
        match self {
            Element::Unsigned(bytes) | Element::Signed(bytes) | Element::Float(bytes) => bytes,
            Element::Brain => 2,
        }
    }

    /// A number as bytes, if it is one of this type.
    fn number(self, text: &str) -> Option<Vec<u8>> {
        let bytes = match self {
            Element::Float(8) => text.parse::<f64>().ok()?.to_le_bytes().to_vec(),
            Element::Float(4) => text.parse::<f32>().ok()?.to_le_bytes().to_vec(),
            Element::Float(_) => half::f16::from_f32(text.parse().ok()?).to_le_bytes().to_vec(),
            Element::Brain => half::bf16::from_f32(text.parse().ok()?).to_le_bytes().to_vec(),
            Element::Unsigned(bytes) | Element::Signed(bytes) => {
                let (sign, digits) =
                    text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
                let value = match digits.strip_prefix("0x") {
                    Some(digits) => i128::from(u64::from_str_radix(digits, 16).ok()?),
                    None => i128::from(count(digits)?),
                } * sign;
                let bits = 8 * bytes as u32;
                let fits = value >= -(1 << (bits - 1)) && value < 1 << bits;
                if !fits || value < 0 && matches!(self, Element::Unsigned(_)) {
                    return None;
                }
                value.to_le_bytes()[..bytes].to_vec()
            }
        };
        Some(bytes)
    }

    /// A whole number as bytes of this type.
    fn whole(self, value: u64) -> Vec<u8> {
        match self {
            Element::Float(8) => (value as f64).to_le_bytes().to_vec(),
            Element::Float(4) => (value as f32).to_le_bytes().to_vec(),
            Element::Float(_) => half::f16::from_f64(value as f64).to_le_bytes().to_vec(),
            Element::Brain => half::bf16::from_f64(value as f64).to_le_bytes().to_vec(),
            Element::Unsigned(bytes) | Element::Signed(bytes) => {
                value.to_le_bytes()[..bytes].to_vec()
            }
        }
    }

    /// A part of one, from 0 to 1, as bytes; nothing for whole numbers.
    fn part(self, value: f64) -> Option<Vec<u8>> {
        Some(match self {
            Element::Float(8) => value.to_le_bytes().to_vec(),
            Element::Float(4) => (value as f32).to_le_bytes().to_vec(),
            Element::Float(_) => half::f16::from_f64(value).to_le_bytes().to_vec(),
            Element::Brain => half::bf16::from_f64(value).to_le_bytes().to_vec(),
            Element::Unsigned(_) | Element::Signed(_) => return None,
        })
    }
}

impl FromStr for Element {
    type Err = ();

    fn from_str(text: &str) -> Result<Element, ()> {
        if text == "bf16" {
            return Ok(Element::Brain);
        }
        let (kind, bits) = text.split_at_checked(1).ok_or(())?;
        let bytes = match bits {
            "8" => 1,
            "16" => 2,
            "32" => 4,
            "64" => 8,
            _ => return Err(()),
        };
        Ok(match kind {
            "u" | "b" => Element::Unsigned(bytes),
            "i" | "s" => Element::Signed(bytes),
            "f" if bytes > 1 => Element::Float(bytes),
            _ => return Err(()),
        })
    }
}

/// A whole number: `1000`, `64Ki`, `1Mi`, `2^20`, `1_000_000`.
fn count(text: &str) -> Option<u64> {
    let text = text.replace('_', "");
    if let Some((base, exponent)) = text.split_once('^') {
        return base.parse::<u64>().ok()?.checked_pow(exponent.parse().ok()?);
    }
    let (digits, factor) = [("Ki", 1u64 << 10), ("Mi", 1 << 20), ("Gi", 1 << 30)]
        .into_iter()
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))
        .unwrap_or((&text, 1));
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// Returns true for what can only be a float: `-1.5`, `1e-5`, `nan`.
fn is_float(text: &str) -> bool {
    text.parse::<f64>().is_ok() && count(text.strip_prefix('-').unwrap_or(text)).is_none()
}

impl FromStr for Argument {
    type Err = String;

    fn from_str(text: &str) -> Result<Argument, String> {
        let (left, value) = match text.split_once('=') {
            Some((left, value)) => (left, Some(value)),
            None => (text, None),
        };
        let (name, kind) = match left.split_once(':') {
            Some((name, kind)) => (name, Some(kind)),
            None => (left, None),
        };
        let wrong = |what: String| {
            format!(
                "`{text}` is no argument: {what}; write NAME:TYPE*COUNT[=zeros|iota|random|unset|NUMBER|@FILE] for an array, NAME[:TYPE]=NUMBER for a number, NAME:bytes=HEX for a structure"
            )
        };
        if kind == Some("bytes") {
            let digits = value.unwrap_or_default();
            let bytes: Option<Vec<u8>> = (0..digits.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok())
                .collect();
            let bytes = bytes
                .ok_or_else(|| wrong("its bytes are not pairs of hexadecimal digits".to_owned()))?;
            return Ok(Argument {
                text: text.to_owned(),
                name: name.to_owned(),
                element: None,
                count: None,
                value: Some(Value::Bytes(bytes)),
            });
        }
        let (element, elements) = match kind.map(|kind| kind.split_once('*').unwrap_or((kind, "")))
        {
            None => (None, ""),
            Some((element, elements)) => {
                let known = element.parse().map_err(|()| {
                    wrong(format!("`{element}` is none of the types u8 to u64, i8 to i64, f16, bf16, f32 and f64"))
                });
                (Some(known?), elements)
            }
        };
        let count = match elements {
            "" => None,
            text => Some(
                count(text).ok_or_else(|| wrong(format!("`{text}` is no number of elements")))?,
            ),
        };
        let value = match value {
            None => None,
            Some("zeros") => Some(Value::Zeros),
            Some("iota") => Some(Value::Iota),
            Some("random") => Some(Value::Random),
            Some("unset") => Some(Value::Unset),
            Some(text) => Some(match text.strip_prefix('@') {
                Some(file) => Value::File(PathBuf::from(file)),
                None => Value::Number(text.to_owned()),
            }),
        };
        if count.is_none() && !matches!(value, Some(Value::Number(_))) {
            return Err(wrong(
                "it has neither a number of elements nor a number as its value".to_owned(),
            ));
        }
        Ok(Argument { text: text.to_owned(), name: name.to_owned(), element, count, value })
    }
}

/// A value given for an argument.
#[derive(Debug, PartialEq, Eq)]
pub enum Given {
    /// These bytes, as the parameter itself.
    Bytes(Vec<u8>),
    /// The address of an array of so many bytes, which holds these, or nothing yet.
    Array(u64, Option<Vec<u8>>),
}

impl Argument {
    /// The name that it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what the kernel is given for the parameter, or one sentence that says why it does not fit.
    pub fn given(&self, parameter: &Parameter) -> Result<Given, String> {
        let misfit = |what: String| {
            let declared = declared(parameter);
            format!(
                "argument `{}` does not fit the parameter `{}`, which is {declared}: {what}",
                self.text, parameter.name
            )
        };
        if let Some(count) = self.count {
            let element = self.element.expect("an array has a type");
            if parameter.bytes != 8 || parameter.kind == ParameterKind::Bytes {
                return Err(misfit("an array is passed by its address of 8 bytes".to_owned()));
            }
            let bytes = count.checked_mul(element.bytes() as u64).filter(|bytes| *bytes <= 1 << 36);
            let bytes = bytes.ok_or_else(|| misfit("the array has more than 64 GiB".to_owned()))?;
            let content = self.content(element, count).map_err(misfit)?;
            return Ok(Given::Array(bytes, content));
        }
        let bytes = match &self.value {
            Some(Value::Bytes(bytes)) => bytes.clone(),
            Some(Value::Number(number)) => {
                let element = match self.element {
                    Some(element) => element,
                    None => parameter
                        .element
                        .parse()
                        .map_err(|()| misfit("say its type, such as u32".to_owned()))?,
                };
                // Whole numbers are declared without a sign as often as with one, and floats as plain bits.
                let meant = match element {
                    Element::Unsigned(bytes @ (4 | 8))
                        if self.element.is_none()
                            && parameter.element.starts_with('b')
                            && is_float(number) =>
                    {
                        Element::Float(bytes)
                    }
                    Element::Unsigned(bytes)
                        if self.element.is_none() && number.starts_with('-') =>
                    {
                        Element::Signed(bytes)
                    }
                    element => element,
                };
                let bytes = meant.number(number);
                bytes.ok_or_else(|| misfit(format!("`{number}` is no number of that type")))?
            }
            _ => return Err(misfit("it has no value".to_owned())),
        };
        if bytes.len() != parameter.bytes as usize {
            return Err(misfit(format!("it has {} bytes", bytes.len())));
        }
        Ok(Given::Bytes(bytes))
    }

    /// Returns what an array holds at the start.
    fn content(&self, element: Element, count: u64) -> Result<Option<Vec<u8>>, String> {
        let each = |of: &mut dyn FnMut(u64) -> Vec<u8>| Some((0..count).flat_map(of).collect());
        Ok(match self.value.as_ref().unwrap_or(&Value::Zeros) {
            Value::Unset => None,
            Value::Zeros => Some(vec![0; count as usize * element.bytes()]),
            Value::Iota => each(&mut |index| element.whole(index)),
            Value::Random => {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
                each(&mut |_| {
                    let bits = random.next_u64();
                    let part = element.part((bits >> 11) as f64 / (1u64 << 53) as f64);
                    part.unwrap_or_else(|| element.whole(bits % count))
                })
            }
            Value::Number(number) => {
                let one = element.number(number);
                let one = one.ok_or_else(|| format!("`{number}` is no number of its type"))?;
                each(&mut |_| one.clone())
            }
            Value::File(file) => Some(elements(file, count * element.bytes() as u64)?),
            Value::Bytes(_) => return Err("bytes are of structures, not of arrays".to_owned()),
        })
    }
}

/// Reads the elements of an array from a file of so many bytes.
fn elements(file: &Path, bytes: u64) -> Result<Vec<u8>, String> {
    let cannot = |error: std::io::Error| format!("cannot read {}: {error}", file.display());
    // Its length first: reading a device may never end.
    let found = std::fs::metadata(file).map_err(cannot)?.len();
    if found != bytes {
        return Err(format!("{} has {found} bytes, and the array {bytes}", file.display()));
    }
    let content = std::fs::read(file).map_err(cannot)?;
    (content.len() as u64 == bytes)
        .then_some(content)
        .ok_or_else(|| format!("{} changed while it was read: try again", file.display()))
}

/// A parameter's type as a person reads it.
pub fn declared(parameter: &Parameter) -> String {
    match parameter.kind {
        ParameterKind::Scalar => parameter.element.clone(),
        ParameterKind::Pointer => "a pointer".to_owned(),
        ParameterKind::Bytes => format!("a structure of {} bytes", parameter.bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(element: &str, bytes: u32, kind: ParameterKind) -> Parameter {
        let (name, element) = ("k_param_0".to_owned(), element.to_owned());
        Parameter { name, offset: 0, bytes, alignment: bytes, kind, element }
    }

    fn given(text: &str, element: &str, bytes: u32) -> Result<Given, String> {
        let argument: Argument = text.parse()?;
        argument.given(&parameter(element, bytes, ParameterKind::Scalar))
    }

    fn fault(text: &str, element: &str, bytes: u32) -> String {
        given(text, element, bytes).expect_err("it does not fit")
    }

    #[test]
    fn numbers_take_the_type_of_the_entry_where_none_is_said() {
        let four = |bytes: [u8; 4]| Ok(Given::Bytes(bytes.to_vec()));
        assert_eq!(given("n=1Mi", "u32", 4), four((1u32 << 20).to_le_bytes()));
        assert_eq!(given("n=-1", "u32", 4), four((-1i32).to_le_bytes()));
        assert_eq!(given("a=2.5", "f32", 4), four(2.5f32.to_le_bytes()));
        for number in ["2.5", "-2.5", "1e-5", "1e+22", "inf"] {
            let bits = number.parse::<f32>().unwrap().to_le_bytes();
            assert_eq!(given(&format!("a={number}"), "b32", 4), four(bits), "{number}");
        }
        assert_eq!(given("a=-2", "b32", 4), four((-2i32).to_le_bytes()));
        assert_eq!(given("n:u64=0x10", "u64", 8), Ok(Given::Bytes(16u64.to_le_bytes().to_vec())));
        let structure = parameter("b8", 2, ParameterKind::Bytes);
        let bytes: Argument = "s:bytes=01ff".parse().unwrap();
        assert_eq!(bytes.given(&structure), Ok(Given::Bytes(vec![1, 255])));
    }

    #[test]
    fn arrays_are_filled_as_they_say() {
        let array = |text| match given(text, "u64", 8) {
            Ok(Given::Array(_, Some(content))) => content,
            other => panic!("{other:?}"),
        };
        assert_eq!(array("x:u16*3=iota"), [0, 0, 1, 0, 2, 0]);
        assert_eq!(array("x:f32*1=1.5"), 1.5f32.to_le_bytes());
        assert_eq!(array("x:u8*4"), [0; 4]);
        assert!(array("x:u8*200=random").iter().all(|index| *index < 200));
        let parts = array("x:f32*9=random");
        let parts: Vec<f32> =
            parts.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect();
        assert!(parts.iter().all(|part| (0.0..1.0).contains(part)), "{parts:?}");
        assert_eq!(given("x:f64*2=unset", "u64", 8), Ok(Given::Array(16, None)));
        for empty in ["x:f32*0", "x:f32*0=iota", "x:u32*0=random"] {
            assert_eq!(given(empty, "u64", 8), Ok(Given::Array(0, Some(Vec::new()))), "{empty}");
        }
    }

    #[test]
    fn an_array_is_filled_from_a_file_of_its_size() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("in.bin");
        std::fs::write(&file, [1, 2, 3, 4]).expect("writable");
        let of = |count: &str, file: &Path| {
            given(&format!("x:u16*{count}=@{}", file.display()), "u64", 8)
        };
        assert_eq!(of("2", &file), Ok(Given::Array(4, Some(vec![1, 2, 3, 4]))));
        let fault = of("3", &file).expect_err("it is too short");
        assert!(fault.ends_with("in.bin has 4 bytes, and the array 6"), "{fault}");
        let fault = of("2", &folder.path().join("none")).expect_err("it is not there");
        assert!(fault.contains("cannot read"), "{fault}");
        assert!(of("2", Path::new("/dev/zero")).is_err());
    }

    #[test]
    fn what_does_not_fit_is_one_sentence() {
        let says = |text: &str, element: &str, bytes, part: &str| {
            let fault = fault(text, element, bytes);
            assert!(fault.contains(part) && !fault.contains('\n'), "{fault}");
        };
        says("n:u64=1", "u32", 4, "it has 8 bytes");
        says("n=1.5", "s32", 4, "is no number of that type");
        says("n=100.0", "u32", 4, "is no number of that type");
        says("n:u8=256", "u8", 1, "is no number of that type");
        says("x:f32*4", "u32", 4, "an array is passed by its address");
        says("x:f31*4", "u64", 8, "`f31` is none of the types");
        says("x:f32*none", "u64", 8, "`none` is no number of elements");
        says("x:f32", "u64", 8, "neither a number of elements");
        says("s:bytes=012", "u64", 8, "pairs of hexadecimal digits");
    }

    #[test]
    fn shapes_have_up_to_three_extents() {
        assert_eq!("32x8".parse(), Ok(Shape([32, 8, 1])));
        assert_eq!("1Ki".parse(), Ok(Shape([1024, 1, 1])));
        for wrong in ["", "0", "1x1x1x1", "-1", "a"] {
            assert!(wrong.parse::<Shape>().is_err(), "{wrong}");
        }
    }
}

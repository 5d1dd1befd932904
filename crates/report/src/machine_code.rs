//! The machine code of kernels, as NVIDIA's disassembler prints it, with the place in the source of each instruction.
//!
//! ```no_run
//! let code = report::machine_code::MachineCode::load("kernels.sass".as_ref())?;
//! let stores = code.of("transpose_naive").iter().filter(|line| line.text.contains("STG"));
//! println!("{} stores", stores.count());
//! # anyhow::Ok(())
//! ```

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::Path;

/// A file and a line of it.
pub type SourceLine = (String, u32);

/// An instruction or a label.
#[derive(Debug, PartialEq, Eq)]
pub struct Instruction {
    /// As the disassembler prints it.
    pub text: String,
    /// Source line that it comes from: the innermost one of inlined code.
    pub place: Option<SourceLine>,
}

/// MemoryLevel operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryLevel {
    /// Sectors of global or local memory.
    Device,
    /// Passes through shared or constant memory.
    Chip,
}

impl Instruction {
    /// The memory that it asks, if it does.
    pub fn memory(&self) -> Option<MemoryLevel> {
        let mut words = self.text.split_whitespace();
        let name = words.find(|word| !word.starts_with('@'))?;
        match name.split('.').next()? {
            "LDG" | "STG" | "LDL" | "STL" | "LD" | "ST" | "RED" | "REDG" | "ATOM" | "ATOMG" => {
                Some(MemoryLevel::Device)
            }
            "LDS" | "STS" | "ATOMS" | "LDSM" | "STSM" => Some(MemoryLevel::Chip),
            // Both; its sectors are the dearer part.
            "LDGSTS" => Some(MemoryLevel::Device),
            // Constants and parameters that a register chooses; others are operands.
            "LDC" if self.text.contains("[R") && !self.text.contains("[RZ]") => {
                Some(MemoryLevel::Chip)
            }
            _ => None,
        }
    }
}

/// The machine code of kernels by their names.
#[derive(Debug, Default)]
pub struct MachineCode(BTreeMap<String, Vec<Instruction>>);

impl MachineCode {
    /// Reads what `nvdisasm --print-code --print-line-info-inline` printed.
    ///
    /// # Errors
    /// A file that cannot be read, or in which there is no kernel.
    pub fn load(path: &Path) -> Result<MachineCode> {
        let text =
            results::read_text(path).with_context(|| format!("cannot read {}", path.display()))?;
        let code = MachineCode::parse(&text);
        if code.0.is_empty() {
            bail!(
                "{} is not machine code as `nvdisasm --print-code --print-line-info-inline` prints it",
                path.display()
            );
        }
        Ok(code)
    }

    fn parse(text: &str) -> MachineCode {
        let mut kernels: BTreeMap<String, Vec<Instruction>> = BTreeMap::new();
        let mut kernel: Option<&mut Vec<Instruction>> = None;
        let mut place = None;
        let mut is_innermost = true;
        for line in text.lines() {
            let line = line.trim();
            if let Some(name) = line.strip_prefix(".text.").and_then(|name| name.strip_suffix(':'))
            {
                kernel = Some(kernels.entry(name.to_owned()).or_default());
                place = None;
            } else if line.starts_with("//----") {
                kernel = None;
            }
            let Some(code) = &mut kernel else { continue };
            if let Some(comment) = line.strip_prefix("//## ") {
                // Inlined code has a line for each call around it, from the inside out.
                if is_innermost {
                    place = place_of(comment);
                }
                is_innermost = false;
                continue;
            }
            is_innermost = true;
            let is_label = line.starts_with(".L_") && line.ends_with(':');
            let instruction = line.strip_prefix("/*").and_then(|rest| rest.split_once("*/"));
            let text = match instruction {
                Some((_, text)) => text.trim().trim_end_matches(';').trim_end(),
                None if is_label => line,
                None => continue,
            };
            if !text.is_empty() {
                let place = if is_label { None } else { place.clone() };
                code.push(Instruction { text: text.to_owned(), place });
            }
        }
        MachineCode(kernels)
    }

    /// The code of a kernel; empty when it is not there.
    pub fn of(&self, kernel: &str) -> &[Instruction] {
        self.0.get(kernel).map_or(&[], Vec::as_slice)
    }
}

/// Of `File "kernels/src/global/stride.rs", line 50 inlined at ...`.
fn place_of(comment: &str) -> Option<SourceLine> {
    let (file, rest) = comment.strip_prefix("File \"")?.split_once('"')?;
    let digits = rest.strip_prefix(", line ")?;
    let end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    Some((file.to_owned(), digits[..end].parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\t.target\tsm_90\n//--------------------- .text.copy  -----\n\t.section\t.text.copy\n\
        .text.copy:\n\t//## File \"k.rs\", line 7\n        /*0000*/                   LDC R1, c[0x0][0x28] ;\n\
        \t//## File \"lib.rs\", line 3 inlined at \"k.rs\", line 9\n\t//## File \"k.rs\", line 9\n\
        /*0010*/              @!P0 LDG.E.128 R4, desc[UR4][R2.64] ;\n.L_x_1:\n        /*0020*/   LDG.E R4, [R2] ;\n\
        \t//## File \"k.rs\", line 10\n        /*0030*/   STS [R3], R4 ;\n        /*0040*/   LDC R1, c[0x3][R2] ;\n\
        //--------------------- .nv.shared\n        /*0050*/   NOP ;\n";

    #[test]
    fn instructions_have_their_innermost_place() {
        let code = MachineCode::parse(PRINTED);
        let place = |file: &str, line| Some((file.to_owned(), line));
        let found: Vec<_> =
            code.of("copy").iter().map(|one| (one.text.as_str(), one.place.clone())).collect();
        assert_eq!(
            found,
            [
                ("LDC R1, c[0x0][0x28]", place("k.rs", 7)),
                ("@!P0 LDG.E.128 R4, desc[UR4][R2.64]", place("lib.rs", 3)),
                (".L_x_1:", None),
                ("LDG.E R4, [R2]", place("lib.rs", 3)),
                ("STS [R3], R4", place("k.rs", 10)),
                ("LDC R1, c[0x3][R2]", place("k.rs", 10)),
            ]
        );
        assert!(code.of("other").is_empty());
        assert!(MachineCode::parse("no code\n").0.is_empty());
    }
}

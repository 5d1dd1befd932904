//! One access of one warp, at addresses that an expression gives: a kernel of a dozen instructions, executed.

use crate::expression::Compiler;
use simt::{Checks, Launch, Memory, Module, Options, Report, Watched};
use std::fmt::Write;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Global memory: 32 MiB.
    Global,
    /// Shared memory: 48 KiB.
    Shared,
}

/// An access: what each lane of a warp loads.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// The index of a lane's element, over `lane`, `warp`, `thread` and `names`.
    pub index: &'a str,
    /// A lane takes part while this is not 0.
    pub active: &'a str,
    /// Bytes of an element: 1, 2, 4, 8 or 16.
    pub bytes: u32,
    pub space: Space,
    /// Further names, whose values each run gives.
    pub names: &'a [&'a str],
}

/// A kernel that makes the access, ready to run.
pub struct Probe {
    module: Module,
    memory: Memory,
    base: u64,
}

/// Device memory that a request may have: a page commits all of it.
pub const MEMORY_BYTES: u64 = 64 << 20;
const GLOBAL_BYTES: u64 = MEMORY_BYTES / 2;
const SHARED_BYTES: u32 = 48 << 10;
/// Far more than a dozen instructions of 32 warps.
const FUEL: u64 = 100_000;

impl Access<'_> {
    pub fn ptx(&self) -> Result<String, String> {
        let instruction = match self.bytes {
            1 => "u8 %v0",
            2 => "u16 %v0",
            4 => "u32 %v0",
            8 => "v2.u32 {%v0, %v1}",
            16 => "v4.u32 {%v0, %v1, %v2, %v3}",
            bytes => {
                return Err(format!(
                    "an access of {bytes} bytes does not exist: choose 1, 2, 4, 8 or 16"
                ));
            }
        };
        let space = if self.space == Space::Global { "global" } else { "shared" };
        let mut names = vec![
            ("lane", "%r1".to_owned()),
            ("warp", "%r2".to_owned()),
            ("thread", "%r0".to_owned()),
        ];
        names.extend((3..).zip(self.names).map(|(at, name)| (*name, format!("%r{at}"))));
        let first = 3 + self.names.len() as u32;
        let mut compiler = Compiler::new(&names, first);
        let active = compiler.compile(self.active)?;
        let index = compiler.compile(self.index)?;
        let (code, registers) = (compiler.code, compiler.registers);
        let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n");
        if self.space == Space::Shared {
            text += ".extern .shared .align 16 .b8 words[];\n";
        }
        text += ".visible .entry probe(.param .u64 base";
        for name in self.names {
            let _ = write!(text, ", .param .u32 {name}_value");
        }
        let _ = write!(
            text,
            ")\n{{\n\t.reg .pred %p<2>;\n\t.reg .u32 %r<{registers}>;\n\t.reg .u32 %v<4>;\n\t.reg .u64 %d<3>;\n\
             \tmov.u32 %r0, %tid.x;\n\tand.b32 %r1, %r0, 31;\n\tshr.u32 %r2, %r0, 5;\n"
        );
        for (at, name) in (3..).zip(self.names) {
            let _ = writeln!(text, "\tld.param.u32 %r{at}, [{name}_value];");
        }
        text += &code;
        let start = match self.space {
            Space::Global => "ld.param.u64 %d0, [base]",
            Space::Shared => "mov.u64 %d0, words",
        };
        let _ = write!(
            text,
            "\tsetp.ne.u32 %p1, {active}, 0;\n\t{start};\n\tcvt.u64.u32 %d1, {index};\n\
             \tmul.lo.u64 %d1, %d1, {};\n\tadd.u64 %d2, %d0, %d1;\n",
            self.bytes
        );
        let (kind, registers) = instruction.split_once(' ').unwrap_or((instruction, ""));
        let _ = write!(text, "\t@%p1 ld.{space}.{kind} {registers}, [%d2];\n\tret;\n}}\n");
        Ok(text)
    }
}

impl Probe {
    pub fn new(access: &Access<'_>) -> Result<Probe, String> {
        let module = Module::parse(&access.ptx()?).map_err(|error| error.to_string())?;
        let mut memory = Memory::new(MEMORY_BYTES);
        let base = match access.space {
            Space::Global => memory.allocate(GLOBAL_BYTES).map_err(|error| error.to_string())?,
            Space::Shared => 0,
        };
        Ok(Probe { module, memory, base })
    }

    /// Executes it with the values of its names, by one block of so many warps. The requests are those of warp 0.
    pub fn run(&mut self, values: &[u32], warps: u32) -> Result<Report, String> {
        let launch = Launch::new("probe", [1; 3], [32 * warps, 1, 1]).address(self.base);
        let launch = values.iter().fold(launch, |launch, value| launch.u32(*value));
        let options = Options {
            threads: 1,
            fuel: FUEL,
            checks: Checks::none(),
            watched: Some(Watched { block: 0, warp: 0 }),
            ..Options::default()
        };
        let launch = launch.shared(SHARED_BYTES);
        simt::run(&self.module, &mut self.memory, &launch, &options)
            .map_err(|error| error.to_string())
    }

    pub fn base(&self) -> u64 {
        self.base
    }
}

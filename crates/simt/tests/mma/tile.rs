use simt::{Error, Launch, Memory, Module, Options, run};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
    S8,
    U8,
    S32,
    E4m3,
    E5m2,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::F16 => "f16",
            Kind::Bf16 => "bf16",
            Kind::Tf32 => "tf32",
            Kind::F32 => "f32",
            Kind::F64 => "f64",
            Kind::S8 => "s8",
            Kind::U8 => "u8",
            Kind::S32 => "s32",
            Kind::E4m3 => "e4m3",
            Kind::E5m2 => "e5m2",
        }
    }

    pub fn per_register(self) -> usize {
        match self {
            Kind::F16 | Kind::Bf16 => 2,
            Kind::S8 | Kind::U8 | Kind::E4m3 | Kind::E5m2 => 4,
            _ => 1,
        }
    }
}

/// One form: D = A x B + C.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a: Kind,
    pub b: Kind,
    pub c: Kind,
    pub saturates: bool,
    /// The compute capability that has it.
    pub since: u32,
}

const fn form(k: usize, a: Kind, b: Kind, c: Kind) -> Form {
    let since = match a {
        Kind::F16 if k == 8 => 75,
        Kind::E4m3 | Kind::E5m2 => 89,
        _ => 80,
    };
    Form { m: 16, n: 8, k, a, b, c, saturates: false, since }
}

/// All forms, in the order of `sweep.cu`.
pub const FORMS: [Form; 26] = {
    use Kind::{Bf16, E4m3, E5m2, F16, F32, F64, S8, S32, Tf32, U8};
    [
        form(8, F16, F16, F32),
        form(16, F16, F16, F32),
        form(8, F16, F16, F16),
        form(16, F16, F16, F16),
        form(8, Bf16, Bf16, F32),
        form(16, Bf16, Bf16, F32),
        form(4, Tf32, Tf32, F32),
        form(8, Tf32, Tf32, F32),
        form(16, S8, S8, S32),
        form(16, S8, U8, S32),
        form(16, U8, S8, S32),
        form(16, U8, U8, S32),
        form(32, S8, S8, S32),
        form(32, S8, U8, S32),
        form(32, U8, S8, S32),
        form(32, U8, U8, S32),
        Form { saturates: true, ..form(16, S8, S8, S32) },
        Form { saturates: true, ..form(32, S8, S8, S32) },
        Form { m: 8, ..form(4, F64, F64, F64) },
        form(16, E4m3, E4m3, F32),
        form(16, E5m2, E5m2, F16),
        form(32, E4m3, E4m3, F32),
        form(32, E4m3, E5m2, F32),
        form(32, E5m2, E4m3, F32),
        form(32, E5m2, E5m2, F32),
        form(32, E4m3, E5m2, F16),
    ]
};

/// The elements of one matrix as bits, row by row.
pub type Matrix = Vec<u64>;

impl Form {
    /// As `sweep.cu` prints it.
    pub fn name(&self) -> String {
        let Form { m, n, k, a, b, c, .. } = self;
        let (a, b, c) = (a.name(), b.name(), c.name());
        let saturates = if self.saturates { "satfinite." } else { "" };
        format!("m{m}n{n}k{k}.{saturates}{c}.{a}.{b}.{c}")
    }

    pub fn instruction(&self) -> String {
        let (shape, rest) =
            self.name().split_once('.').map(|(s, r)| (s.to_string(), r.to_string())).unwrap();
        format!("mma.sync.aligned.{shape}.row.col.{rest}")
    }

    /// Registers of the fragments of A, B and C.
    pub fn registers(&self) -> [usize; 3] {
        let Form { m, n, k, .. } = *self;
        [m * k / 32, k * n / 32, m * n / 32]
            .into_iter()
            .zip([self.a, self.b, self.c])
            .map(|(elements, kind)| elements / kind.per_register())
            .collect::<Vec<_>>()
            .try_into()
            .unwrap()
    }

    /// The place of an element in its matrix, by matrix, register, element and lane. The tables of "Matrix Fragments
    /// for mma" (PTX ISA), shape by shape.
    fn place(&self, matrix: usize, register: usize, element: usize, lane: usize) -> usize {
        let (group, place) = (lane >> 2, lane % 4);
        let i = |kind: Kind| register * kind.per_register() + element;
        let (row, column) = match (matrix, self.a, self.k) {
            (0, Kind::F64, _) => (group, place),
            (1, Kind::F64, _) => (place, group),
            (2, _, _) => {
                let i = i(self.c);
                (if i < 2 { group } else { group + 8 }, place * 2 + (i & 1))
            }
            (0, Kind::F16 | Kind::Bf16, 8) => {
                let i = i(self.a);
                (if i < 2 { group } else { group + 8 }, place * 2 + (i & 1))
            }
            (1, Kind::F16 | Kind::Bf16, 8) => (place * 2 + i(self.b), group),
            (0, Kind::F16 | Kind::Bf16, _) => {
                let i = i(self.a);
                let row = if i < 2 || (4..6).contains(&i) { group } else { group + 8 };
                (row, place * 2 + (i & 1) + if i >= 4 { 8 } else { 0 })
            }
            (1, Kind::F16 | Kind::Bf16, _) => {
                let i = i(self.b);
                (place * 2 + (i & 1) + if i >= 2 { 8 } else { 0 }, group)
            }
            (0, Kind::Tf32, _) => {
                let row = if register == 0 || register == 2 { group } else { group + 8 };
                (row, if register < 2 { place } else { place + 4 })
            }
            (1, Kind::Tf32, _) => (if register == 0 { place } else { place + 4 }, group),
            (0, _, 16) => {
                let i = i(self.a);
                (if i < 4 { group } else { group + 8 }, place * 4 + (i & 3))
            }
            (1, _, 16) => (place * 4 + i(self.b), group),
            (0, ..) => {
                let i = i(self.a);
                let row = if i < 4 || (8..12).contains(&i) { group } else { group + 8 };
                (row, place * 4 + (i & 3) + if i >= 8 { 16 } else { 0 })
            }
            _ => {
                let i = i(self.b);
                (place * 4 + (i & 3) + if i >= 4 { 16 } else { 0 }, group)
            }
        };
        row * if matrix == 0 { self.k } else { self.n } + column
    }

    /// A kernel of one warp per block: `k(a, b, c, d)`, where word `32 register + lane` of a block is a register.
    pub fn ptx(&self, target: &str) -> String {
        let (long, bytes) = if self.a == Kind::F64 { ("f64", 8) } else { ("b32", 4) };
        let [a, b, c] = self.registers();
        let mut text = format!(
            ".version 8.0\n.target {target}\n.address_size 64\n\
             .visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {{\n\
             .reg .b32 %i<3>; .reg .b64 %p<6>; .reg .{long} %a<4>, %b<4>, %c<4>, %d<4>;\n\
             mov.u32 %i1, %tid.x; mov.u32 %i2, %ctaid.x;\n"
        );
        for (place, (name, count)) in [("a", a), ("b", b), ("c", c), ("d", c)].iter().enumerate() {
            let step = 32 * count * bytes;
            text += &format!(
                "ld.param.u64 %p{place}, [{name}]; mad.wide.u32 %p{place}, %i1, {bytes}, %p{place};\n\
                 mad.wide.u32 %p{place}, %i2, {step}, %p{place};\n"
            );
        }
        for (place, (name, count)) in [("a", a), ("b", b), ("c", c)].iter().enumerate() {
            for r in 0..*count {
                text += &format!("ld.global.{long} %{name}{r}, [%p{place}+{}];\n", 32 * bytes * r);
            }
        }
        let list = |name: &str, count: usize| {
            let names: Vec<String> = (0..count).map(|r| format!("%{name}{r}")).collect();
            format!("{{{}}}", names.join(", "))
        };
        let instruction = self.instruction();
        let [d, a, b, c] = [list("d", c), list("a", a), list("b", b), list("c", c)];
        text += &format!("{instruction} {d}, {a}, {b}, {c};\n");
        for r in 0..self.registers()[2] {
            text += &format!("st.global.{long} [%p3+{}], %d{r};\n", 32 * bytes * r);
        }
        text + "ret;\n}\n"
    }

    /// D of each tile of A, B and C.
    pub fn multiply(&self, tiles: &[[Matrix; 3]], options: &Options) -> Result<Vec<Matrix>, Error> {
        let module = Module::parse(&self.ptx("sm_90"))?;
        let mut memory = Memory::default();
        let size = if self.a == Kind::F64 { 8 } else { 4 };
        let kinds = [self.a, self.b, self.c];
        let mut launch = Launch::new("k", [tiles.len() as u32, 1, 1], [32, 1, 1]);
        for matrix in 0..3 {
            let mut bytes = Vec::new();
            for tile in tiles {
                for register in 0..self.registers()[matrix] {
                    for lane in 0..32 {
                        let per = kinds[matrix].per_register();
                        let value = (0..per).fold(0, |value, element| {
                            let at = self.place(matrix, register, element, lane);
                            value | tile[matrix][at] << (element * 32 / per)
                        });
                        bytes.extend_from_slice(&value.to_le_bytes()[..size]);
                    }
                }
            }
            let address = memory.allocate(bytes.len() as u64)?;
            memory.write(address, &bytes)?;
            launch = launch.address(address);
        }
        let mut bytes = vec![0; tiles.len() * self.registers()[2] * 32 * size];
        let address = memory.allocate(bytes.len() as u64)?;
        run(&module, &mut memory, &launch.address(address), options)?;
        memory.read(address, &mut bytes)?;
        let per = self.c.per_register();
        let mut results = Vec::new();
        for tile in bytes.chunks(self.registers()[2] * 32 * size) {
            let mut matrix = vec![0; self.m * self.n];
            for (word, bytes) in tile.chunks(size).enumerate() {
                let mut value = [0; 8];
                value[..size].copy_from_slice(bytes);
                let value = u64::from_le_bytes(value);
                for element in 0..per {
                    let bits = if per == 2 { value >> (16 * element) & 0xffff } else { value };
                    matrix[self.place(2, word / 32, element, word % 32)] = bits;
                }
            }
            results.push(matrix);
        }
        Ok(results)
    }
}

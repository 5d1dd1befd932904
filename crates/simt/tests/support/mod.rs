//! Runs a corpus kernel of the form `kernel(in, [second,] out, n, extra...)`.

use simt::{Checks, Launch, Memory, Module, Options, Report, Schedule, run};

pub trait Number: Copy + PartialEq + std::fmt::Debug {
    fn bytes(self) -> Vec<u8>;
    fn from(bytes: &[u8]) -> Self;
    const SIZE: usize;
}

macro_rules! numbers {
    ($($t:ty),*) => {$(
        impl Number for $t {
            fn bytes(self) -> Vec<u8> { self.to_le_bytes().to_vec() }
            fn from(bytes: &[u8]) -> Self { <$t>::from_le_bytes(bytes.try_into().unwrap()) }
            const SIZE: usize = size_of::<$t>();
        }
    )*};
}
numbers!(u8, u16, i16, u32, i32, u64, i64, f32, f64);

pub fn pack<T: Number>(values: &[T]) -> Vec<u8> {
    values.iter().flat_map(|v| v.bytes()).collect()
}

fn mix(i: u64) -> u64 {
    let z = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Integers over the whole range.
pub fn ints(n: usize) -> Vec<i32> {
    (0..n).map(|i| mix(i as u64) as i32).collect()
}

pub fn longs(n: usize) -> Vec<i64> {
    (0..n).map(|i| mix(i as u64 + 7) as i64 / 1000).collect()
}

/// Multiples of 2^-20 in (-64, 64): 26 bits, so that f64 holds products exactly.
pub fn floats(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((mix(i as u64 + 3) % (1 << 23)) as f32 - (1 << 22) as f32) / 65536.0).collect()
}

pub struct Kernel {
    file: &'static str,
    name: &'static str,
    pub block: u32,
    pub shared: u32,
    pub extra: Vec<Vec<u8>>,
    pub initial: Option<Vec<u8>>,
    pub no_input: bool,
    pub grid: Option<[u32; 3]>,
    pub block_extent: Option<[u32; 3]>,
    pub count: Option<u32>,
    pub second: Option<Vec<u8>>,
}

impl Kernel {
    pub fn new(file: &'static str, name: &'static str) -> Kernel {
        Kernel {
            file,
            name,
            block: 128,
            shared: 0,
            extra: Vec::new(),
            initial: None,
            no_input: false,
            grid: None,
            block_extent: None,
            count: None,
            second: None,
        }
    }

    /// Runs with every check on and compares the whole output; there must be no finding.
    pub fn check<I: Number, O: Number>(&self, input: &[I], expected: &[O]) {
        let (out, report) = self.run_reported::<I, O>(input, expected.len());
        let bits: Vec<Vec<u8>> = out.iter().map(|o| o.bytes()).collect();
        for (i, (got, want)) in bits.iter().zip(expected).enumerate() {
            assert_eq!(
                *got,
                want.bytes(),
                "{} element {i}: {:?} is not {want:?}",
                self.name,
                out[i]
            );
        }
        if let Some(finding) = report.findings.first() {
            panic!("{}: {finding}", self.name);
        }
    }

    /// Checks a kernel that makes an element of each, whose number is given, too.
    pub fn maps<I: Number, O: Number>(&self, input: &[I], element: impl Fn(usize, I) -> O) {
        let expected: Vec<O> = input.iter().enumerate().map(|(i, x)| element(i, *x)).collect();
        self.check(input, &expected);
    }

    pub fn run<I: Number, O: Number>(&self, input: &[I], outputs: usize) -> Vec<O> {
        self.run_reported(input, outputs).0
    }

    pub fn run_reported<I: Number, O: Number>(
        &self,
        input: &[I],
        outputs: usize,
    ) -> (Vec<O>, Report) {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../simt/tests/corpus");
        let text = std::fs::read_to_string(format!("{folder}/{}.ptx", self.file)).unwrap();
        let module = Module::parse(&text).unwrap();
        let mut first: Option<(Vec<u8>, Report)> = None;
        // The same answer with checks and without, on one thread and on two.
        for (checks, threads) in [(Checks::all(), 1), (Checks::none(), 1), (Checks::none(), 2)] {
            let options = Options { checks, threads, ..Options::default() };
            let (out, report) =
                self.once(&module, &pack(input), input.len(), outputs * O::SIZE, &options);
            match &first {
                None => first = Some((out, report)),
                Some((before, reported)) => {
                    assert_eq!(*before, out, "{}: checks or threads change results", self.name);
                    assert_eq!(reported.counters, report.counters, "{}", self.name);
                }
            }
        }
        // Nor may the order of warps and blocks change what a correct kernel computes.
        for schedule in [Schedule::Reverse, Schedule::Seeded(1), Schedule::Seeded(2)] {
            let options = Options { schedule, ..Options::default() };
            let (out, _) =
                self.once(&module, &pack(input), input.len(), outputs * O::SIZE, &options);
            let before = &first.as_ref().unwrap().0;
            assert_eq!(*before, out, "{}: {schedule:?} changes results", self.name);
        }
        let (out, report) = first.unwrap();
        (out.chunks(O::SIZE).map(O::from).collect(), report)
    }

    fn once(
        &self,
        module: &Module,
        input: &[u8],
        inputs: usize,
        out_bytes: usize,
        options: &Options,
    ) -> (Vec<u8>, Report) {
        let mut memory = Memory::default();
        memory.track_initialization();
        let source = memory.allocate(input.len() as u64).unwrap();
        memory.write(source, input).unwrap();
        let target = memory.allocate(out_bytes as u64).unwrap();
        match &self.initial {
            Some(initial) => memory.write(target, initial).unwrap(),
            None => memory.fill(target, 0xcd, out_bytes).unwrap(),
        }
        let count = self.count.unwrap_or(inputs as u32);
        let block = self.block_extent.unwrap_or([self.block, 1, 1]);
        let grid = self.grid.unwrap_or([count.div_ceil(self.block), 1, 1]);
        let mut launch = Launch::new(self.name, grid, block).shared(self.shared);
        if !self.no_input {
            launch = launch.address(source);
        }
        if let Some(second) = &self.second {
            let address = memory.allocate(second.len() as u64).unwrap();
            memory.write(address, second).unwrap();
            launch = launch.address(address);
        }
        launch = launch.address(target).u32(count);
        for extra in &self.extra {
            launch = launch.argument(extra);
        }
        let report = match run(module, &mut memory, &launch, options) {
            Ok(report) => report,
            Err(error) => panic!("{}: {error}", self.name),
        };
        let mut out = vec![0; out_bytes];
        memory.read(target, &mut out).unwrap();
        (out, report)
    }
}

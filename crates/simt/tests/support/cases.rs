use simt::{Checks, Error, Launch, Memory, Module, Options, Report, run};

pub const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../simt/fixtures");

pub struct Case {
    pub name: String,
    pub file: String,
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub what: String,
    pub arguments: Vec<String>,
}

pub fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(format!("{FOLDER}/cases.txt")).unwrap();
    let extent = |s: &str| {
        let all: Vec<u32> = s.split(',').map(|n| n.trim().parse().unwrap()).collect();
        [all[0], all[1], all[2]]
    };
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let f: Vec<&str> = line.split('|').map(str::trim).collect();
            Case {
                name: f[0].into(),
                file: f[1].into(),
                kernel: f[2].into(),
                grid: extent(f[3]),
                block: extent(f[4]),
                shared: f[5].parse().unwrap(),
                what: f[6].into(),
                arguments: f[7].split(';').map(|a| a.trim().into()).collect(),
            }
        })
        .collect()
}

pub fn mix(i: u64) -> u64 {
    let z = (i.wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Keep in step with `input` of fixtures/run.cu.
pub fn input(t: &str, count: u64, seed: u64) -> Vec<u8> {
    (0..count)
        .flat_map(|i| {
            let m = mix(i + 1000 * seed);
            let f = ((m % (1 << 23)) as f32 - (1 << 22) as f32) / 65536.0;
            match t {
                "i32" => (m as u32).to_le_bytes().to_vec(),
                "i64" => (m as i64 / 1000).to_le_bytes().to_vec(),
                "f32" => f.to_le_bytes().to_vec(),
                "f64" => (f as f64 * 1.0000001).to_le_bytes().to_vec(),
                _ => (0x3000 | (m & 0x8fff) as u16).to_le_bytes().to_vec(),
            }
        })
        .collect()
}

pub fn indices(words: &[&str]) -> Vec<u8> {
    let (x, y): (u64, u64) = (words[2].parse().unwrap(), words[3].parse().unwrap());
    (0..1024u64)
        .flat_map(|i| {
            let value = match words[1] {
                "stride" => i * x + y,
                "random" => mix(i) % x * y,
                "permuted" => (i * 37 + 11) % x * y,
                "group" => i / x * y,
                _ => i % x * y,
            };
            (value as u32).to_le_bytes()
        })
        .collect()
}

/// Runs a case; also gives what its output arguments hold then.
pub fn execute(case: &Case, checks: Checks) -> (Result<Report, Error>, Vec<Vec<u8>>) {
    let text = std::fs::read_to_string(format!("{FOLDER}/{}", case.file)).unwrap();
    execute_text(case, &text, Options { checks, fuel: 10_000_000, ..Options::default() })
}

pub fn execute_text(
    case: &Case,
    text: &str,
    options: Options,
) -> (Result<Report, Error>, Vec<Vec<u8>>) {
    let module = Module::parse(text).unwrap();
    let mut memory = Memory::default();
    memory.track_initialization();
    let mut launch = Launch::new(&case.kernel, case.grid, case.block).shared(case.shared);
    let mut outputs = Vec::new();
    for argument in &case.arguments {
        let words: Vec<&str> = argument.split_whitespace().collect();
        let initial = match words[0] {
            "u32" => {
                launch = launch.u32(words[1].parse().unwrap());
                continue;
            }
            "in" => input(words[1], words[2].parse().unwrap(), words[3].parse().unwrap()),
            "index" => indices(&words),
            "out" => vec![0xcd; words[1].parse().unwrap()],
            _ => vec![0; words[1].parse().unwrap()],
        };
        let address = memory.allocate(initial.len() as u64).unwrap();
        if words[0] != "raw" {
            memory.write(address, &initial).unwrap();
        }
        if matches!(words[0], "out" | "zero") {
            outputs.push((address, initial.len()));
        }
        launch = launch.address(address);
    }
    let report = run(&module, &mut memory, &launch, &options);
    let contents = outputs
        .into_iter()
        .map(|(address, bytes)| {
            let mut out = vec![0; bytes];
            memory.read(address, &mut out).unwrap();
            out
        })
        .collect();
    (report, contents)
}

//! Requests of a page, and their answers.
//!
//! ```text
//! address                      ptx
//! bytes 4                      kernel scale
//! active lane < 16             grid 1 1 1
//! index 33 * lane              block 64 1 1
//!                              shared 0
//!                              buffer 4096 count
//!                              u32 1024
//!                              text
//!                              .version 8.0 ... to the end
//! ```

use crate::json::{list, object, string};
use crate::probe::{Access, MEMORY_BYTES, Probe, Space};
use simt::{
    Checks, Counters, Launch, Memory, Module, Options, Report, RequestCounts, RequestRecord,
    Watched,
};

/// Warp-instructions after which a kernel is taken to run forever: a few seconds.
const FUEL: u64 = 20_000_000;
const SHOWN_WORDS: u64 = 16;

/// The answer to a request, JSON: with `error`, a sentence, when there is no other.
pub fn answer(request: &str) -> String {
    let (kind, rest) = request.split_once('\n').unwrap_or((request, ""));
    let answer = match kind.trim() {
        "address" => address(rest),
        "ptx" => ptx(rest),
        other => Err(format!("`{other}` is no request: ask for `address` or `ptx`")),
    };
    answer.unwrap_or_else(|error| object(&[("error", string(&error))]))
}

/// Returns what one access of a warp costs in global and in shared memory.
fn address(request: &str) -> Result<String, String> {
    let (mut bytes, mut active, mut index) = (4, "1", "lane");
    for line in request.lines() {
        match line.split_once(' ') {
            Some(("bytes", value)) => bytes = number(value)?,
            Some(("active", value)) => active = value,
            Some(("index", value)) => index = value,
            _ => return Err(format!("`{line}` is not understood")),
        }
    }
    let one = |space| -> Result<String, String> {
        let access = Access { index, active, bytes, space, names: &[] };
        let mut probe = Probe::new(&access)?;
        let report = probe.run(&[], 1)?;
        let records = report.instructions.iter().flat_map(|one| &one.requests);
        let mut records = records.filter(|one| one.bytes == bytes);
        records.next().map_or(Ok("null".to_owned()), |one| Ok(record(one, probe.base())))
    };
    let or_why = |found: Result<String, String>| found.unwrap_or_else(|why| string(&why));
    // An address may be right for one and outside of the other.
    let [global, shared] = [Space::Global, Space::Shared].map(one);
    match (global, shared) {
        (Err(why), Err(_)) => Err(why),
        (global, shared) => Ok(object(&[("global", or_why(global)), ("shared", or_why(shared))])),
    }
}

/// A launch of any kernel.
fn ptx(request: &str) -> Result<String, String> {
    let (head, text) =
        request.split_once("\ntext\n").ok_or("the request has no PTX: paste some")?;
    let mut memory = Memory::new(MEMORY_BYTES);
    memory.track_initialization();
    let mut launch = Launch::new("", [1; 3], [32, 1, 1]);
    let mut buffers: Vec<(u64, u64)> = Vec::new();
    for line in head.lines() {
        let (what, value) = line.split_once(' ').unwrap_or((line, ""));
        launch = match what {
            "kernel" => Launch { kernel: value.trim().to_owned(), ..launch },
            "grid" => Launch { grid: extents(value)?, ..launch },
            "block" => Launch { block: extents(value)?, ..launch },
            "shared" => launch.shared(number(value)?),
            "buffer" => {
                let (bytes, fill) = value.split_once(' ').unwrap_or((value, "unwritten"));
                let buffer = allocate(&mut memory, number::<u64>(bytes)?, fill.trim())?;
                buffers.push(buffer);
                launch.address(buffer.0)
            }
            "u32" => launch.u32(number(value)?),
            "i32" => launch.i32(number(value)?),
            "u64" => launch.u64(number(value)?),
            "f32" => launch.f32(number(value)?),
            "f64" => launch.argument(&number::<f64>(value)?.to_le_bytes()),
            _ => return Err(format!("`{line}` is not understood")),
        };
    }
    let module = Module::parse(text).map_err(|error| error.to_string())?;
    if launch.kernel.is_empty() {
        let first = module.kernels().first().ok_or("the PTX has no `.entry`: paste a kernel")?;
        launch.kernel.clone_from(&first.name);
    }
    let options = Options {
        threads: 1,
        fuel: FUEL,
        checks: Checks::all(),
        watched: Some(Watched { block: 0, warp: 0 }),
        ..Options::default()
    };
    let report =
        simt::run(&module, &mut memory, &launch, &options).map_err(|error| error.to_string())?;
    let kernels = list(module.kernels().iter().map(|kernel| string(&kernel.name)));
    let mut shown = Vec::new();
    for (address, bytes) in buffers {
        let mut words = vec![0; (4 * SHOWN_WORDS).min(bytes) as usize];
        memory.read(address, &mut words).map_err(|error| error.to_string())?;
        let words = words
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        shown.push(list(words.map(|word| word.to_string())));
    }
    Ok(object(&[
        ("kernel", string(&launch.kernel)),
        ("kernels", kernels),
        ("counters", counters(&report.counters)),
        ("instructions", instructions(&report)),
        ("findings", list(report.findings.iter().map(|one| string(&one.to_string())))),
        ("printed", string(&report.printed)),
        ("buffers", list(shown)),
    ]))
}

/// A buffer of so many bytes: 32-bit whole numbers that count up in steps, floats that count up, zeros, or nothing.
fn allocate(memory: &mut Memory, bytes: u64, fill: &str) -> Result<(u64, u64), String> {
    let address = memory.allocate(bytes).map_err(|error| error.to_string())?;
    let words = bytes / 4;
    let (fill, step) = match fill.split_once(' ') {
        Some((fill, step)) => (fill, number::<u32>(step)?),
        None => (fill, 1),
    };
    let data: Vec<u8> = match fill {
        "count" => {
            (0..words).flat_map(|one| (one as u32).wrapping_mul(step).to_le_bytes()).collect()
        }
        "floats" => (0..words).flat_map(|one| (one as f32).to_le_bytes()).collect(),
        "zeros" => vec![0; bytes as usize],
        "unwritten" => Vec::new(),
        other => {
            return Err(format!(
                "`{other}` fills no buffer: choose count, floats, zeros or unwritten"
            ));
        }
    };
    memory.write(address, &data).map_err(|error| error.to_string())?;
    Ok((address, bytes))
}

fn instructions(report: &Report) -> String {
    list(report.instructions.iter().map(|one| {
        object(&[
            ("line", one.ptx_line.to_string()),
            ("text", string(&one.text)),
            ("issued", one.counters.warp_instructions.to_string()),
            ("counters", counters(&one.counters)),
            ("requests", list(one.requests.iter().map(|one| record(one, 0)))),
        ])
    }))
}

/// All counts that are not zero, by their names.
fn counters(counters: &Counters) -> String {
    let c = counters;
    let traffic: [(&str, &RequestCounts); 17] = [
        ("global_load", &c.global_load),
        ("global_store", &c.global_store),
        ("texture_load", &c.texture_load),
        ("surface_store", &c.surface_store),
        ("global_atomic", &c.global_atomic),
        ("global_reduction", &c.global_reduction),
        ("async_copy_global", &c.async_copy_global),
        ("async_copy_shared", &c.async_copy_shared),
        ("bulk_copy", &c.bulk_copy),
        ("shared_load", &c.shared_load),
        ("shared_store", &c.shared_store),
        ("shared_atomic", &c.shared_atomic),
        ("shared_matrix_load", &c.shared_matrix_load),
        ("shared_matrix_store", &c.shared_matrix_store),
        ("local_load", &c.local_load),
        ("local_store", &c.local_store),
        ("constant_load", &c.constant_load),
    ];
    let sums = [
        ("warp_instructions", c.warp_instructions),
        ("thread_instructions", c.thread_instructions),
        ("branches", c.branches),
        ("divergent_branches", c.divergent_branches),
        ("barriers", c.barriers),
    ];
    let mut fields: Vec<(&str, String)> = sums
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| (name, count.to_string()))
        .collect();
    let used = traffic.into_iter().filter(|(_, one)| one.requests > 0);
    fields.extend(used.map(|(name, one)| (name, of_traffic(one))));
    object(&fields)
}

fn of_traffic(one: &RequestCounts) -> String {
    object(&[
        ("requests", one.requests.to_string()),
        ("bytes", one.bytes.to_string()),
        ("bytes_distinct", one.bytes_distinct.to_string()),
        ("sectors", one.sectors.to_string()),
        ("sectors_ideal", one.sectors_ideal.to_string()),
        ("sector_passes", one.sector_updates.to_string()),
        ("lines", one.lines.to_string()),
        ("wavefronts", one.wavefronts.to_string()),
        ("wavefronts_ideal", one.wavefronts_ideal.to_string()),
    ])
}

/// A request of a warp; addresses count from `base`.
fn record(one: &RequestRecord, base: u64) -> String {
    let lanes = one.lanes.iter().map(|lane| {
        lane.map_or("null".to_owned(), |address| (address.wrapping_sub(base)).to_string())
    });
    let words = |words: &Vec<simt::ServedWord>| {
        list(words.iter().map(|word| format!("[{},{}]", word.index, word.lanes)))
    };
    object(&[
        ("kind", string(&format!("{:?}", one.kind))),
        ("bytes", one.bytes.to_string()),
        ("lanes", list(lanes)),
        ("traffic", of_traffic(&one.traffic)),
        ("passes", list(one.wavefronts.iter().map(words))),
    ])
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("`{}` is no number that fits here", text.trim()))
}

fn extents(text: &str) -> Result<[u32; 3], String> {
    let numbers = text.split_whitespace().map(number).collect::<Result<Vec<u32>, String>>()?;
    Ok([0, 1, 2].map(|at| numbers.get(at).copied().unwrap_or(1)))
}

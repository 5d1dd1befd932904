//! ScoR: races of scope, in small codes and in applications. A code's name says whether it races; an application races where
//! it is compiled with `RACEY`.

use super::compile::Unit;
use super::files::{files, stem};
use super::job::{Argument, Buffer, Job, Launch, SCHEDULES, Schedule};
use super::{ALL, Bug, Checkout, Code, Suite};
use anyhow::{Context, Result};

pub const SUITE: Suite = Suite {
    name: "scor",
    title: "ScoR",
    repository: "csl-iisc/ScoR",
    marker: "microbenchmarks/src/race_interblock_blkatom.cu",
    codes,
    published: &[],
    disputed: &[
        ("norace_interblock_fence_raw", UNFENCED),
        ("norace_interwarp_fence_raw", UNFENCED),
        ("norace_interwarp_blkfence_raw", UNFENCED),
        ("norace_interwarp-block_fence_hrf-indirect", UNFENCED),
        ("norace_interwarp-block_fence-atom_hrd-indirect", UNFENCED),
        (
            concat!("reduct", "ion"),
            "without volatile, the lanes of the last warp exchange sums with no __syncwarp between",
        ),
        (
            concat!("matrix-", "multiplication"),
            "of a block's 32 locks only the first is set to 0, by the kernel as by the host",
        ),
        (
            "uts",
            "lanes read the top of a stack that lane 0 then changes, with no __syncwarp between",
        ),
    ],
    speaks_of: ALL,
    timed: None,
};

const UNFENCED: &str =
    "the reader polls by a relaxed atomic and has no fence behind it, so that PTX orders nothing";

/// As published, most data is `volatile`, so that nothing but the order of its accesses is lost.
const COMPILED: [(&str, &str); 2] =
    [("as published", ""), ("without volatile", "#define volatile\n")];

fn codes(checkout: &Checkout) -> Result<Vec<Code>> {
    let mut codes = Vec::new();
    for source in files(&checkout.folder.join("microbenchmarks/src"), "cu")? {
        let text = std::fs::read_to_string(&source)
            .with_context(|| format!("cannot read {}", source.display()))?;
        let size = |name| defined(&text, name).with_context(|| format!("no {name}"));
        let launch = Launch::of("kmain", size("NBLOCKS")?, size("TPERBLK")?, &[Argument::of(0)]);
        let name = stem(&source);
        let bugs = if name.starts_with("race") { vec![Bug::Race] } else { Vec::new() };
        let job = Job {
            buffers: vec![Buffer::filled(4, 0)],
            launches: vec![launch],
            schedules: SCHEDULES.to_vec(),
            ..Job::default()
        };
        add(&mut codes, &name, bugs, &Unit::of_file(source), &job);
    }
    for application in applications(checkout)? {
        let Application { name, source, blocks, threads, job } = application;
        let folders = files(&checkout.folder.join("benchmarks"), "")?;
        let folder = folders.into_iter().find(|it| stem(it).starts_with(name));
        let folder = folder.with_context(|| format!("no benchmark begins with {name}"))?;
        let name = stem(&folder);
        for (is_racy, ending) in [(false, ""), (true, "_racey")] {
            let file = folder.join(source);
            let mut unit = Unit::of_file(file.clone());
            unit.sources = files(file.parent().unwrap_or(&file), "cu")?;
            unit.arguments = vec![format!("-DNBLOCKS={blocks}"), format!("-DNTHREADS={threads}")];
            unit.arguments.extend(is_racy.then(|| "-DRACEY".to_owned()));
            let bugs = if is_racy { vec![Bug::Race] } else { Vec::new() };
            add(&mut codes, &format!("{name}{ending}"), bugs, &unit, &job);
        }
    }
    Ok(codes)
}

/// Adds a code in both ways to compile it.
fn add(codes: &mut Vec<Code>, name: &str, bugs: Vec<Bug>, unit: &Unit, job: &Job) {
    for (input, before) in COMPILED {
        // What the system's headers declare stays as it is.
        let system = if before.is_empty() {
            ""
        } else {
            "#include <cstdio>\n#include <cuda.h>\n#include <fstream>\n#include <iostream>\n"
        };
        let text = format!("{system}{before}{}", unit.text);
        codes.push(Code {
            name: name.to_owned(),
            input: input.to_owned(),
            bugs: bugs.clone(),
            cost: None,
            refusal: None,
            races_are_global: true,
            unit: Unit { text, ..unit.clone() },
            job: job.clone(),
        });
    }
}

/// The number that a text defines a name as.
fn defined(text: &str, name: &str) -> Option<u32> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("#define "));
    lines.find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

/// An application, and what its host does, on a small input.
struct Application {
    /// The beginning of its folder's name.
    name: &'static str,
    source: &'static str,
    blocks: u32,
    threads: u32,
    job: Job,
}

fn applications(checkout: &Checkout) -> Result<Vec<Application>> {
    let file = |name: &str, values: &[i32]| checkout.buffer(name, values);
    let zeros = |words: u32| Buffer::filled(u64::from(words) * 4, 0);
    let unfilled = |words: u32| Buffer { bytes: u64::from(words) * 4, ..Buffer::default() };
    let arguments = |range: &[usize]| range.iter().map(|it| Argument::of(*it)).collect::<Vec<_>>();
    let job = |buffers, launches| Job {
        buffers,
        launches,
        schedules: SCHEDULES.to_vec(),
        fuel: Some(2_000_000),
        ..Job::default()
    };
    let mut all = Vec::new();

    // A filter that reaches past the part of each block.
    let (blocks, threads) = (15, 1024);
    let (filter, array) = (9, 4000_u32);
    let given = vec![
        Argument::of(0),
        Argument::Integer(filter),
        Argument::of(1),
        Argument::Integer(array.into()),
        Argument::of(2),
    ];
    let launches =
        ["initKernel", "convolveKernel"].map(|it| Launch::of(it, blocks, threads, &given));
    let buffers = vec![zeros(9), zeros(array), unfilled(array)];
    let job_of = job(buffers, launches.to_vec());
    all.push(Application {
        name: "1dconv",
        source: "1dconv_kernel.cu",
        blocks,
        threads,
        job: job_of,
    });

    // A ring with chords; each launch begins with the work divided anew.
    let (vertices, edges) = (900_u32, 2700_u32);
    let (from, to): (Vec<i32>, Vec<i32>) = (0..edges.cast_signed())
        .map(|edge| (edge % 900, (edge * 7 + 1) % 900))
        .map(|(one, other)| (one.min(other), one.max(other)))
        .unzip();
    let divided = |name: &str, items: u32, blocks: u32| -> Result<[Buffer; 2]> {
        let part = items / blocks;
        let head: Vec<i32> = (0..blocks).map(|it| (it * part).cast_signed()).collect();
        let end = |it| if it + 1 == blocks { items } else { (it + 1) * part };
        let tail: Vec<i32> = (0..blocks).map(|it| end(it).cast_signed()).collect();
        Ok([file(&format!("{name}.head"), &head)?, file(&format!("{name}.tail"), &tail)?])
    };
    let graph = [file("from", &from)?, file("to", &to)?];

    let (blocks, threads) = (15, 256);
    let [vertex_head, vertex_tail] = divided("colors.vertices", vertices, blocks)?;
    let [edge_head, edge_tail] = divided("colors.edges", edges, blocks)?;
    // 0 and 1: edges, 2 to 5: sets, colors and what is forbidden, 6: complete, 7 and 8: bases and blocks.
    let mut buffers = graph.to_vec();
    buffers.extend((2..6).map(|_| zeros(vertices)));
    buffers.extend([zeros(1), unfilled(blocks), unfilled(blocks)]);
    let mut launches = Vec::new();
    for _ in 0..4 {
        let first = buffers.len();
        buffers.extend([vertex_head.clone(), vertex_tail.clone()]);
        buffers.extend([
            edge_head.clone(),
            edge_tail.clone(),
            edge_head.clone(),
            edge_tail.clone(),
        ]);
        let work = |at| [first + at, first + at + 1];
        launches.extend([
            Launch::of(
                "assignColors",
                blocks,
                threads,
                &arguments(&[&work(0)[..], &[2, 3, 4, 5, 7, 8]].concat()),
            ),
            Launch::of(
                "detectConflicts",
                blocks,
                threads,
                &arguments(&[&work(2)[..], &[0, 1, 2, 3, 6, 7, 8]].concat()),
            ),
            Launch::of(
                "forbidColors",
                blocks,
                threads,
                &arguments(&[&work(4)[..], &[0, 1, 2, 3, 4, 7, 8]].concat()),
            ),
        ]);
    }
    let job_of = job(buffers, launches);
    all.push(Application {
        name: "graph-coloring",
        source: "gcol_kernel.cu",
        blocks,
        threads,
        job: job_of,
    });

    let (blocks, threads) = (15, 400);
    let mut buffers = graph.to_vec();
    buffers.extend([unfilled(vertices), unfilled(blocks), unfilled(blocks)]);
    buffers.extend(divided("connected.vertices", vertices, blocks)?);
    buffers.extend(divided("connected.edges", edges, blocks)?);
    buffers.extend(divided("connected.vertices", vertices, blocks)?);
    let launches = vec![
        Launch::of("initKernel", blocks, threads, &arguments(&[5, 6, 2, 3, 4])),
        Launch::of("linkKernel", blocks, threads, &arguments(&[7, 8, 0, 1, 2, 3, 4])),
        Launch::of("compressKernel", blocks, threads, &arguments(&[9, 10, 2, 3, 4])),
    ];
    let job_of = job(buffers, launches);
    all.push(Application {
        name: "graph-connectivity",
        source: "gcon_kernel.cu",
        blocks,
        threads,
        job: job_of,
    });

    // Several blocks share a row of the product.
    let (blocks, threads) = (8, 64);
    let (rows, inner, columns) = (4_u32, 128_u32, 32_u32);
    let buffers = vec![
        zeros(rows * inner),
        zeros(inner * columns),
        zeros(rows * columns),
        unfilled(blocks * 32),
        unfilled(blocks * 32),
        zeros(1024),
    ];
    let sizes = [rows, inner, columns].map(|it| Argument::Integer(it.into()));
    let given = [&arguments(&[0, 1, 2])[..], &sizes, &arguments(&[3, 4, 5])].concat();
    let job_of = job(buffers, vec![Launch::of("matMultKernel", blocks, threads, &given)]);
    all.push(Application {
        name: "matrix-multiplication",
        source: "mm_kernel.cu",
        blocks,
        threads,
        job: job_of,
    });

    let (blocks, threads) = (4, 128);
    let size = blocks * threads * 2;
    let buffers =
        vec![zeros(size), zeros(blocks), unfilled(blocks * threads), unfilled(blocks * threads)];
    let given = [arguments(&[0, 1, 2, 3]), vec![Argument::Integer(size.into())]].concat();
    let kernel = "reduceSinglePassILj128ELb0E";
    let job_of = job(buffers, vec![Launch::of(kernel, blocks, threads, &given)]);
    all.push(Application { name: "reduct", source: "red_main.cu", blocks, threads, job: job_of });

    let (blocks, threads) = (3, 96);
    let size = blocks * threads;
    let launch = |step| {
        let rest = [Argument::Integer(size.into()), Argument::Integer(step)];
        Launch::of(
            "rule110Kernel",
            blocks,
            threads,
            &[arguments(&[0, 1, 2]), rest.to_vec()].concat(),
        )
    };
    let buffers = vec![zeros(size), unfilled(size), zeros(size)];
    let job_of = job(buffers, vec![launch(1), launch(2)]);
    all.push(Application {
        name: "rule-110",
        source: "r110_kernel.cu",
        blocks,
        threads,
        job: job_of,
    });

    let (blocks, threads) = (2_u32, 32_u32);
    let (local, most) = (threads * 4, 4000);
    let stacks = |depth: u32, work: i32| -> Vec<i32> {
        let of = |block: u32| {
            let [depth, top] = [depth, depth * block].map(u32::cast_signed);
            [depth, work, top, 0, work, 0]
        };
        (0..blocks).flat_map(of).collect()
    };
    let mut nodes = vec![0; (blocks * local) as usize];
    for block in 0..blocks {
        let node = [0, 255, 7, (block + 1) as u8];
        nodes[(local * block) as usize] = i32::from_le_bytes(node);
    }
    let buffers = vec![
        file("tree.local", &stacks(local, 1))?,
        file("tree.nodes", &nodes)?,
        file("tree.steal", &stacks(most, 0))?,
        unfilled(blocks * most),
    ];
    // The largest height 4 and 3 children, as one structure.
    let config = Argument::Integer(4 | 3 << 32);
    let given = [arguments(&[0, 1, 2, 3]), vec![config]].concat();
    let mut job_of = job(buffers, vec![Launch::of("parTreeSearch", blocks, threads, &given)]);
    // A block searches on until the others have no work, and only a seed lets them have turns.
    job_of.schedules = (1..=3).map(Schedule::Seed).collect();
    all.push(Application { name: "uts", source: "uts_kernel.cu", blocks, threads, job: job_of });
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_defined_in_the_text() {
        let text = "#include <x>\n#define NBLOCKS  2\n#define NTHREADS (NBLOCKS * 3)\n";
        assert_eq!(defined(text, "NBLOCKS"), Some(2));
        assert_eq!(defined(text, "NTHREADS"), None);
    }
}

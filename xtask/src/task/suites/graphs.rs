//! Indigo2 and Indigo3: graph algorithms in many styles. Their names say which bugs they have, and their kernels' parameters
//! are named after what they hold, so that a launch is made of names.

use super::compile::Unit;
use super::files::{files, stem};
use super::job::{Argument, Buffer, Job, Launch, Part, SCHEDULES};
use super::source::{kernels, mangled};
use super::{Bug, Checkout, Code, Suite};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub const INDIGO2: Suite = Suite {
    name: "indigo2",
    title: "Indigo2",
    repository: "burtscher/Indigo2Suite",
    marker: "codes/cuda/tc-cuda",
    codes: |checkout| codes(checkout, "codes/cuda", "include", usize::MAX),
    published: &[],
    disputed: &[
        (
            "PR_CUDA_Push_*",
            "all threads of a block or warp update one score by a plain load and store",
        ),
        (
            "PR_CUDA_Pull_*",
            "scores are updated in place while other threads read them, or all read a block's sum with no barrier behind its atomics",
        ),
    ],
    speaks_of: &[Bug::Race],
    timed: None,
};

pub const INDIGO3: Suite = Suite {
    name: "indigo3",
    title: "Indigo3, a sample of 2000",
    repository: "burtscher/Indigo3Suite",
    marker: "codeGen/cuda",
    codes: |checkout| codes(checkout, "generatedCodes/CUDA", "lib", SAMPLE),
    published: &[],
    disputed: &[
        (
            "PR_CUDA_Pull_*_SyncBug_*",
            "what is left out orders only reads whose values are dropped, or is a barrier of a warp before shuffles, which wait themselves",
        ),
        (
            "*_RaceBug_*UninitializedBug*",
            "what nobody wrote before is written by those who race for it, and the read is told as that race",
        ),
        (
            "PR_CUDA_P*",
            "scores are updated in place while other threads read them, or all read a block's sum with no barrier behind its atomics",
        ),
    ],
    speaks_of: &[Bug::Race],
    timed: None,
};

/// Codes of Indigo3 that are run, of equal distances in the order of their names.
const SAMPLE: usize = 2000;

/// Codes that are compiled at once.
const TOGETHER: usize = 50;

/// The graph: a ring with chords, each edge in both directions.
const NODES: usize = 16;
const CHORDS: [usize; 2] = [1, 5];
const THREADS: u32 = 512;

/// Warp-instructions of a launch: three times those of the longest code, as some have a bug by which they never end.
const FUEL: u64 = 400_000;

fn codes(checkout: &Checkout, folder: &str, headers: &str, most: usize) -> Result<Vec<Code>> {
    let folder = checkout.folder.join(folder);
    ensure!(
        folder.exists(),
        "{} is missing: let `generate_all_codes.py cuda` of the suite write it, with `bug: {{all}}` in codeGen/configure.txt",
        folder.display()
    );
    let mut sources = Vec::new();
    for algorithm in files(&folder, "")? {
        sources.extend(files(&algorithm, "cu")?);
    }
    let step = sources.len() as f64 / most.min(sources.len()) as f64;
    let chosen =
        (0..most.min(sources.len())).map(|it| sources[(it as f64 * step) as usize].clone());
    let chosen: Vec<PathBuf> = chosen.collect();
    let headers = checkout.folder.join(headers);
    let graph = graph(checkout)?;
    let mut codes = Vec::new();
    for sources in chosen.chunks(TOGETHER) {
        let unit = unit(sources, &headers);
        for (index, source) in sources.iter().enumerate() {
            let text = std::fs::read_to_string(source)
                .with_context(|| format!("cannot read {}", source.display()))?;
            let name = stem(source);
            let mut job = job(&text, &format!("c{index}"), &graph);
            let bugs = bugs(&name);
            if bugs.contains(&Bug::Uninitialized) {
                leave_unwritten(&text, &mut job);
            }
            codes.push(Code {
                bugs,
                races_are_global: !text.contains("__shared__"),
                ..Code::new(&name, "", unit.clone(), job)
            });
        }
    }
    Ok(codes)
}

/// The bugs that a name lists and that a launch can show.
fn bugs(name: &str) -> Vec<Bug> {
    let has = |bug: &str| name.split('_').any(|word| word == bug);
    let race = (has("RaceBug") || has("SyncBug")).then_some(Bug::Race);
    let bounds = ["NbrBoundsBug", "BoundsBug", "ExcessThreadsBug"].iter().any(|it| has(it));
    let uninitialized = has("UninitializedBug").then_some(Bug::Uninitialized);
    [race, bounds.then_some(Bug::Bounds), uninitialized].into_iter().flatten().collect()
}

/// Several codes, each in a namespace, with its host. The host asks for clocks that newer toolkits do not have, and CCCL
/// refuses headers of another release than nvcc's, which packages mix.
fn unit(sources: &[PathBuf], headers: &Path) -> Unit {
    let mut text = "\
#include <cuda_runtime.h>
#undef CUDART_VERSION
#define CUDART_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda/atomic>
#include <limits>
#include <queue>
#include <set>
#include <sys/time.h>
#include <thread>
#include \"ECLgraph.h\"
#define static
#define clockRate warpSize
#define memoryClockRate warpSize
"
    .to_owned();
    for (index, source) in sources.iter().enumerate() {
        // Headers that are guarded belong to each namespace, but for the one of the graph.
        text += &format!(
            "#undef CSORT\n#undef ATOMIC\nnamespace c{index} {{\n#include \"{}\"\n}}\n",
            source.display()
        );
    }
    let arguments = vec!["-I".to_owned(), headers.display().to_string()];
    Unit { text, sources: sources.to_vec(), headers: Vec::new(), arguments }
}

/// The arrays of the graph, by name.
fn graph(checkout: &Checkout) -> Result<BTreeMap<&'static str, Buffer>> {
    let (mut index, mut list, mut from) = (vec![0], Vec::new(), Vec::new());
    for node in 0..NODES {
        let near = CHORDS.iter().flat_map(|it| [(node + it) % NODES, (node + NODES - it) % NODES]);
        let mut near: Vec<i32> = near.map(|it| it as i32).collect();
        near.sort_unstable();
        from.extend(near.iter().map(|_| node as i32));
        list.extend(near);
        index.push(list.len() as i32);
    }
    let weights: Vec<i32> = (0..list.len() as i32).map(|it| it % 9 + 1).collect();
    let degrees = vec![2 * CHORDS.len() as i32; NODES];
    let arrays = [
        ("nindex", index),
        ("nlist", list),
        ("sp", from),
        ("eweight", weights),
        ("degree", degrees),
        ("scores", vec![0x3ccc_cccd; NODES]),
    ];
    arrays.into_iter().map(|(name, words)| Ok((name, checkout.buffer(name, &words)?))).collect()
}

/// Leaves unwritten what the host of a text allocates and does not fill, or not to its end; the others stay zero, as those
/// of codes do whose bug is another: an index that nobody wrote would end them first.
fn leave_unwritten(text: &str, job: &mut Job) {
    let edges = NODES * 2 * CHORDS.len();
    for buffer in &mut job.buffers {
        let Some(name) = &buffer.name else { continue };
        if !text.contains(&format!("&d_{name},")) {
            continue;
        }
        let fills = ["cudaMemset", "cudaMemcpy"].map(|call| format!("{call}(d_{name}, "));
        let fills = fills.iter().flat_map(|call| text.split(call.as_str()).skip(1));
        let fills = fills.map(|rest| rest.split(';').next().unwrap_or_default());
        // What another array holds may be nothing.
        let fills = fills.filter(|call| !call.contains("DeviceToDevice"));
        let words = fills.map(|call| match call {
            size if size.contains("g.edges") => edges,
            size if size.contains("g.nodes") => NODES,
            _ => 1,
        });
        match words.max() {
            Some(words) => buffer.filled = Some((4 * words as u64).min(buffer.bytes)),
            None => buffer.fill = None,
        }
    }
}

/// Launches the kernels in the order of the text, and the last ones, which are the algorithm, a second time.
fn job(text: &str, space: &str, graph: &BTreeMap<&'static str, Buffer>) -> Job {
    let edges = NODES * 2 * CHORDS.len();
    let mut buffers: Vec<Buffer> = graph.values().cloned().collect();
    let mut places: BTreeMap<String, usize> =
        graph.keys().enumerate().map(|(place, name)| ((*name).to_owned(), place)).collect();
    let mut place = |name: &str| -> usize {
        if let Some(place) = places.get(name) {
            return *place;
        }
        let words = match name {
            // A worklist may have an item more than once.
            "wl1" | "wl2" | "time" => 4 * edges,
            "wlsize" | "wl2size" | "goagain" | "diff" | "g_count" => 1,
            _ => NODES,
        };
        buffers.push(Buffer { name: Some(name.to_owned()), ..Buffer::filled(words as u64 * 4, 0) });
        places.insert(name.to_owned(), buffers.len() - 1);
        buffers.len() - 1
    };
    let mut launches = Vec::new();
    let all = kernels(text);
    let again: Vec<_> = all.iter().filter(|(name, _)| name != "init").collect();
    for (round, (kernel, parameters)) in all.iter().chain(again).enumerate() {
        let is_again = round >= all.len();
        let mut argument = |name: &str, is_pointer: bool, is_float: bool| match name {
            "g" => {
                let sizes = [NODES, edges].map(|it| Part::Word(it as i32));
                let arrays = ["nindex", "nlist", "eweight"].map(&mut place);
                let arrays = arrays.map(|buffer| Part::Buffer { buffer });
                Argument::Parts { parts: sizes.into_iter().chain(arrays).collect() }
            }
            // The second round works on what the first has left.
            "wl1size" if is_again => Argument::WordOf { word_of: place("wl2size") },
            "wl1size" => Argument::WordOf { word_of: place("wlsize") },
            "wl1" if is_again => Argument::of(place("wl2")),
            "wl2" if is_again => Argument::of(place("wl1")),
            "wl2size" if is_again => Argument::of(place("wlsize")),
            name if is_pointer => Argument::of(place(name)),
            "src" => Argument::Integer(0),
            "size" | "nodes" => Argument::Integer(NODES as i64),
            "edges" => Argument::Integer(edges as i64),
            // Of breadth-first searches, the first round is that of the source.
            "iter" if text.contains("== iter)") => Argument::Integer(i64::from(is_again)),
            _ if is_float || name == "base_score" => Argument::Float(0.01),
            _ => Argument::Integer(1 + i64::from(is_again)),
        };
        let arguments: Vec<Argument> =
            parameters.iter().map(|it| argument(&it.name, it.is_pointer, it.is_float)).collect();
        let blocks = edges as u32;
        launches.push(Launch::of(&mangled(space, kernel), blocks, THREADS, &arguments));
    }
    Job { buffers, launches, schedules: SCHEDULES.to_vec(), fuel: Some(FUEL), ..Job::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bugs_are_words_of_the_name() {
        assert_eq!(bugs("A_RaceBug_NoSyncBug_NoBoundsBug"), [Bug::Race]);
        assert_eq!(bugs("A_NoRaceBug_SyncBug_NbrBoundsBug"), [Bug::Race, Bug::Bounds]);
        assert_eq!(bugs("A_NoRaceBug_FieldBug_NoBoundsBug2"), []);
    }

    #[test]
    fn what_a_host_does_not_fill_is_unwritten() {
        let text = "__global__ void init(int* const status, int* const time, int* const goagain, int* const other) {}\n\
                    cudaMalloc((void **)&d_status, 4); cudaMalloc((void **)&d_time, 4); cudaMemset(d_time, 0, 4 * g.nodes);\n\
                    cudaMalloc((void **)&d_goagain, 4); cudaMemcpy(d_goagain, &goagain, 4, cudaMemcpyHostToDevice);";
        let mut job = job(text, "c0", &BTreeMap::new());
        leave_unwritten(text, &mut job);
        let fills: Vec<_> = job.buffers.iter().map(|it| (it.fill, it.filled)).collect();
        let nodes = 4 * NODES as u64;
        let expected = [(None, None), (Some(0), Some(nodes)), (Some(0), Some(4)), (Some(0), None)];
        assert_eq!(fills, expected);
    }

    #[test]
    fn the_second_round_works_on_what_the_first_has_left() {
        let text = "__global__ void init(int* const wl1, int* const wlsize) {}\n\
                    __global__ void step(const ECLgraph g, const int* const wl1, const int wl1size, int* const wl2size) {}";
        let job = job(text, "c0", &BTreeMap::new());
        let names: Vec<&str> = job.launches.iter().map(|it| &*it.kernel).collect();
        assert_eq!(names, ["_ZN2c04initE", "_ZN2c04stepE", "_ZN2c04stepE"]);
        let size = |launch: usize| match job.launches[launch].arguments[2] {
            Argument::WordOf { word_of } => word_of,
            _ => panic!("a size"),
        };
        let Argument::Buffer { buffer } = job.launches[1].arguments[3] else { panic!("an array") };
        assert_eq!(size(2), buffer);
        assert_ne!(size(1), size(2));
        let Argument::Buffer { buffer } = job.launches[2].arguments[3] else { panic!("an array") };
        assert_eq!(size(1), buffer);
    }
}

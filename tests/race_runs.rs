//! The corpus of races on a GPU, launch by launch: for compute-sanitizer, which is told apart by the kernels' names.
//!
//! `crates/simt/tests/races.rs` and `races_of_nvcc.rs` write it into the folder that `COALESCE_RACES` names. A kernel that
//! does not end cannot be stopped, so the process ends with its name; written into the folder's `endless.txt`, it is left
//! out of the next run.

use cust::event::EventStatus;
use cust::prelude::*;
use cust_ext::host_memory::{HostBuffer, HostFlags};
use cust_ext::launch::Launch;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The text before the kernel's name at its launch: the reports of a sanitizer follow it.
const KERNEL: &str = "kernel ";

/// A launch that takes longer waits for ever: the L1 cache may serve a load of too narrow a scope.
const PATIENCE: Duration = Duration::from_secs(3);

fn folder() -> PathBuf {
    PathBuf::from(std::env::var_os("COALESCE_RACES").expect("COALESCE_RACES names a folder"))
}

#[test]
#[ignore = "needs a GPU and the corpus: COALESCE_RACES names its folder"]
fn every_kernel_of_the_corpus_ends() {
    let folder = folder();
    let _context = cust::quick_init().expect("a GPU");
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).expect("a stream");
    println!();
    let endless = std::fs::read_to_string(folder.join("endless.txt")).unwrap_or_default();
    let (mut ended, mut left_out) = (0, 0);
    for corpus in ["races", "cuda"] {
        let read = |extension: &str| {
            std::fs::read_to_string(folder.join(corpus).with_extension(extension))
                .expect("the corpus")
        };
        let module = Module::from_ptx(read("ptx"), &[]).expect("the driver takes the corpus");
        for row in read("tsv").lines() {
            let fields: Vec<&str> = row.split('\t').collect();
            if endless.lines().any(|name| name == fields[0]) {
                left_out += 1;
                continue;
            }
            let number = |index: usize| fields[index].parse::<u32>().expect("a number");
            let (name, blocks, threads, cluster) = (fields[0], number(1), number(2), number(3));
            let function = module.get_function(name).expect("a kernel of the table");
            let data = DeviceBuffer::<u32>::zeroed(1024).expect("4096 bytes");
            let flag = DeviceBuffer::<u32>::zeroed(1024).expect("4096 bytes");
            let host = HostBuffer::<u32>::zeroed(64, HostFlags::MAPPED).expect("256 bytes");
            stream.synchronize().expect("nothing runs");
            let mut arguments = [
                data.as_device_ptr().as_raw(),
                flag.as_device_ptr().as_raw(),
                host.device_pointer().expect("it is mapped").as_raw(),
            ];
            let pointers =
                arguments.each_mut().map(|value| std::ptr::from_mut(value).cast::<c_void>());
            let cluster = (cluster > 1).then_some([cluster, 1, 1]);
            let launch = Launch { cluster, ..Launch::new(blocks, threads) };
            println!("{KERNEL}{name}");
            // SAFETY: each kernel of the corpus takes at most these three pointers, to 4096, 4096 and 256 bytes, and
            // accesses nothing beyond; they live until the stream is idle.
            unsafe { launch.run(&function, &stream, &pointers) }.expect("it is launched");
            let end = Event::new(EventFlags::DISABLE_TIMING).expect("an event");
            end.record(&stream).expect("it is recorded");
            let begin = Instant::now();
            while end.query().expect("it runs without an error") != EventStatus::Ready {
                if begin.elapsed() > PATIENCE {
                    println!("\nendless {name}");
                    std::process::abort();
                }
            }
            ended += 1;
        }
    }
    println!("{ended} kernels ended, {left_out} were left out");
}

/// The tools of compute-sanitizer, in the order of the table.
const TOOLS: [&str; 4] = ["racecheck", "memcheck", "synccheck", "initcheck"];

/// Returns how often a tool reported something of each kernel that ran under it.
fn reports(log: &str) -> BTreeMap<&str, usize> {
    let (mut reports, mut kernel) = (BTreeMap::new(), None);
    for line in log.lines() {
        if let Some(name) = line.strip_prefix(KERNEL) {
            kernel = Some(name);
            reports.entry(name).or_insert(0);
        }
        let is_report =
            ["Error: ", "Warning: ", "Invalid ", "Barrier error ", "Uninitialized "].iter().any(
                |start| line.strip_prefix("========= ").is_some_and(|text| text.starts_with(start)),
            );
        if let (true, Some(name)) = (is_report, kernel) {
            *reports.entry(name).or_insert(0) += 1;
        }
    }
    reports
}

/// The table of pairs: by tool `+` where it reported the kernel, `-` where it was silent, nothing where it did not run;
/// first the broken kernel, then the repaired one.
fn table(launches: &str, logs: &[String; TOOLS.len()]) -> String {
    let logs = logs.each_ref().map(|log| reports(log));
    let mut out = format!("pair,{}\n", TOOLS.join(","));
    for row in launches.lines() {
        let fields: Vec<&str> = row.split('\t').collect();
        let Some(stem) = fields[0].strip_suffix("_broken") else { continue };
        let _ = write!(out, "\"{}\"", fields[4]);
        for log in &logs {
            let sign = |kind: &str| match log.get(format!("{stem}_{kind}").as_str()) {
                Some(0) => "-",
                Some(_) => "+",
                None => " ",
            };
            let _ = write!(out, ",{}{}", sign("broken"), sign("repaired"));
        }
        out.push('\n');
    }
    out
}

/// The table, counted: what each tool found and accused of the pairs that it ran. Ours is held by tests of both
/// corpora.
fn summary(table: &str) -> String {
    let rows: Vec<Vec<&str>> =
        table.lines().skip(1).map(|line| line.rsplitn(5, ',').collect()).collect();
    let mut out = format!(
        "| checker | broken kernels found | missed | not run | repaired kernels accused |\n|---|--:|--:|--:|--:|\n\
         | `coalesce`, no GPU | {} | 0 | 0 | 0 |\n",
        rows.len()
    );
    for (index, tool) in TOOLS.iter().enumerate() {
        let count = |kind: usize, sign: char| {
            rows.iter().filter(|row| row[3 - index].chars().nth(kind) == Some(sign)).count()
        };
        let (found, missed, not_run) = (count(0, '+'), count(0, '-'), count(0, ' '));
        let _ = writeln!(out, "| {tool} | {found} | {missed} | {not_run} | {} |", count(1, '+'));
    }
    out
}

/// The summary is between these lines of the document.
const SUMMARY: [&str; 2] = ["<!-- races -->\n", "<!-- /races -->"];

#[test]
fn the_document_has_the_summary_of_the_table() {
    let root = crate::kernels_source::root();
    let read = |path: &str| std::fs::read_to_string(root.join(path)).expect("it is committed");
    let (path, document) = ("crates/simt/README.md", read("crates/simt/README.md"));
    let [begin, end] = SUMMARY;
    let (before, rest) = document.split_once(begin).expect("the first marker");
    let (_, after) = rest.split_once(end).expect("the second marker");
    let table = read("results/nvidia-h200/races.csv");
    let filled = format!("{before}{begin}{}{end}{after}", summary(&table));
    if crate::snapshots::blessing() {
        std::fs::write(root.join(path), filled).expect("a writable checkout");
        return;
    }
    assert_eq!(filled, document, "{path} is stale: set COALESCE_BLESS=1 and run this test again");
    assert_ne!(summary(&table.replacen("+-", "-+", 1)), summary(&table), "every sign counts");
}

#[test]
#[ignore = "writes results/nvidia-h200/races.csv from the logs of compute-sanitizer"]
fn the_logs_become_a_table() {
    let read = |path: &Path| std::fs::read_to_string(path).expect("a log and the corpus");
    let folder = folder();
    let logs = TOOLS.map(|tool| read(&folder.join(tool).with_extension("log")));
    let launches = ["races.tsv", "cuda.tsv"].map(|name| read(&folder.join(name))).concat();
    let path = crate::kernels_source::root().join("results/nvidia-h200/races.csv");
    std::fs::write(path, table(&launches, &logs)).expect("a writable checkout");
}

#[test]
fn a_report_belongs_to_the_kernel_before_it() {
    let log = "kernel a_broken\n========= Error: Race reported\n=========     Read Thread\nkernel a_repaired\n\
               kernel b_broken\n========= Warning: Race\n========= ERROR SUMMARY: 2 errors\n";
    let none = String::new();
    let logs = [log.to_owned(), none.clone(), log.replace("Warning", "Program"), none];
    let launches = "a_broken\t1\t1\t1\tA\na_repaired\t1\t1\t1\tA\nb_broken\t1\t1\t1\tB\nb_repaired\t1\t1\t1\tB\n";
    let expected =
        "pair,racecheck,memcheck,synccheck,initcheck\n\"A\",+-,  ,+-,  \n\"B\",+ ,  ,- ,  \n";
    assert_eq!(table(launches, &logs), expected);
}

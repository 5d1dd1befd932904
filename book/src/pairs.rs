//! Requests with the answers of the program, for the page's executor to give the same: every launch of the executor's
//! fixtures, and addresses.

use crate::playground::base64;
use anyhow::{Context, Result};
use simt_page::json::{list, string};
use std::path::Path;

/// Script of a page that compares the answers.
const COMPARE: &str = include_str!("compare.js");

/// Indices that are asked for at each width.
const INDICES: [&str; 8] = [
    "lane",
    "33*(lane%8) + lane/8",
    "32 * lane",
    "lane ^ 21",
    "lane * lane",
    "(lane < 16) * lane + 7",
    "lane - 1",
    "1 +",
];

/// A page in which the module answers all requests, and says how many answers are those of the program.
pub fn page(fixtures: &Path, module: &[u8]) -> Result<String> {
    // In a script's text nothing may look like its end.
    let (module, pairs) = (base64(module), pairs(fixtures)?.replace('<', "\\u003c"));
    Ok(format!(
        "<!doctype html><meta charset=\"utf-8\"><pre id=\"told\"></pre>\
         <script id=\"module\" type=\"text/plain\">{module}</script>\
         <script id=\"pairs\" type=\"application/json\">{pairs}</script><script>{COMPARE}</script>"
    ))
}

/// All pairs as JSON: a list of lists of a request and its answer.
pub fn pairs(fixtures: &Path) -> Result<String> {
    let mut requests = Vec::new();
    for bytes in [1, 2, 4, 8, 16] {
        requests.extend(
            INDICES.map(|index| format!("address\nbytes {bytes}\nactive 1\nindex {index}")),
        );
    }
    let read = |name: &str| {
        let path = fixtures.join(name);
        std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let cases = read("cases.txt")?;
    for case in cases.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let fields: Vec<&str> = case.split('|').map(str::trim).collect();
        let [_, file, kernel, grid, block, shared, _, arguments] = fields[..] else {
            anyhow::bail!("`{case}` is no case");
        };
        requests.push(launch(&read(file)?, kernel, [grid, block], shared, arguments));
    }
    Ok(list(requests.iter().map(|one| list([string(one), string(&simt_page::answer(one))]))))
}

/// A case as a request; what an input holds is its words' numbers.
fn launch(
    ptx: &str,
    kernel: &str,
    [grid, block]: [&str; 2],
    shared: &str,
    arguments: &str,
) -> String {
    let spaced = |extents: &str| extents.replace(',', " ");
    let mut lines = vec![
        "ptx".to_owned(),
        format!("kernel {kernel}"),
        format!("grid {}", spaced(grid)),
        format!("block {}", spaced(block)),
        format!("shared {shared}"),
    ];
    for argument in arguments.split(';').map(str::trim).filter(|one| !one.is_empty()) {
        let words: Vec<&str> = argument.split_whitespace().collect();
        lines.push(match words[..] {
            ["u32", value] => format!("u32 {value}"),
            ["in", _, count, ..] => {
                format!("buffer {} count", 8 * count.parse::<u64>().unwrap_or(1024))
            }
            [_, bytes] if bytes.parse::<u64>().is_ok() => format!("buffer {bytes} zeros"),
            // Mostly byte offsets: a multiple of the widest access.
            _ => "buffer 65536 count 16".to_owned(),
        });
    }
    lines.push("text".to_owned());
    lines.push(ptx.to_owned());
    lines.join("\n")
}

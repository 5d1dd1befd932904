//! The page of the course: every kernel task with its bets, hints, an editor and verdicts, in Rust and CUDA C++,
//! without a compiler or network.

use crate::playground::base64;
use ::course_page::json::{list, object, string};
use ::course_page::request;
use anyhow::{Context, Result};
use course::compile::{Language, Places};
use course::format;
use course::task::{Kind, Task};
use course::tasks::{TASKS, named};
use maud::{PreEscaped, html};
use report::page::{Additions, page_with};
use report::publish::Page;
use std::path::PathBuf;

const STYLE: &str = include_str!("course.css");
const SCRIPT: &str = concat!(include_str!("worker.js"), include_str!("course.js"));
/// Script that uses the page as a learner does.
const CHECK: &str = include_str!("course_check.js");

/// Tasks that a script does in the page, of every kind of verdict.
const CHECKED: [&str; 10] = [
    "own_element",
    "guard",
    "rows_to_lanes",
    "first_warp",
    "missing_barrier",
    "pad_the_tile",
    "wrong_mask",
    "one_counter",
    "spilled",
    "boss_complex",
];
/// The seed of the page's verdicts in that script.
const SEED: u64 = 77;

/// The solved file of a task in a language, with its regions.
fn solved(task: &Task, language: Language) -> Result<String> {
    let (root, learn, target) = (PathBuf::new(), PathBuf::new(), PathBuf::new());
    Places { root, learn, target, language }.solved(task)
}

/// The files that are given in CUDA C++, by the names of their tasks.
fn given_in_cuda() -> Result<String> {
    let kernels = TASKS.iter().filter(|task| !matches!(task.kind, Kind::Host { .. }));
    let given = kernels
        .map(|task| Ok((task.id(), string(&format::shipped(&solved(task, Language::Cuda)?)?))));
    Ok(object(&given.collect::<Result<Vec<_>>>()?).replace('<', "\\u003c"))
}

/// The page.
///
/// # Errors
/// A task's file is not well-formed.
pub fn page(module: &[u8]) -> Result<Page> {
    let content = html! {
        h1 { "The course" }
        p.lead { "Kernels to be repaired, graded in this page by exact counts and hazards. Nothing leaves it, and no network is asked for." }
        p { "The page compiles the Rust and the CUDA C++ of kernel tasks itself, and refuses what it does not read, with its place. Results, findings and counts are those of rustc's and nvcc's kernels. Tasks of the host need rustc and run on Linux, by " code { "cargo xtask learn" } "." }
        noscript { p { strong { "The course in a page needs a script and WebAssembly." } } }
        div.course.needs-script hidden {
            p.pick {
                label { "task " select id="task" {} }
                " " label { "in " select id="language" { option value="rust" { "Rust" } option value="cuda" { "CUDA C++" } } }
                " " button id="previous" type="button" { "previous" }
                " " button id="next" type="button" { "next" }
                " " span id="done" aria-live="polite" {}
            }
            div id="doc" {}
            section id="bets" aria-label="your bets" {}
            label for="source" { "your file; Tab indents, Escape and Tab leave it, Control and Enter check" }
            textarea id="source" spellcheck="false" autocomplete="off" autocapitalize="off" wrap="off" {}
            p {
                button id="check" type="button" { "check" }
                " " button id="hint" type="button" { "hint" }
                " " button id="reset" type="button" { "begin anew" }
                " " button id="stop" type="button" disabled { "stop" }
            }
            ol id="hints" {}
            pre id="verdict" aria-live="polite" {}
            section id="after" aria-label="questions about your kernel" {}
        }
        script id="twins" type="application/json" { (PreEscaped(given_in_cuda()?)) }
        script id="module" type="application/wasm-base64" { (PreEscaped(base64(module))) }
    };
    let policy = " 'wasm-unsafe-eval'; worker-src blob:";
    let additions = Additions { style: STYLE, script: SCRIPT, policy, ..Additions::default() };
    Ok(Page {
        file: "course.html".to_owned(),
        text: page_with("The course in a page", &[], &content, additions),
    })
}

/// The page with a script that does ten tasks in it, in each language, and tells whether each verdict is that of the program.
pub fn check_page(module: &[u8]) -> Result<String> {
    let languages = [("rust", Language::Rust), ("cuda", Language::Cuda)];
    let steps = CHECKED.iter().flat_map(|id| languages.map(|language| (id, language)));
    let steps = steps.map(|(id, (name, language))| -> Result<String> {
        let task = named(id).with_context(|| format!("there is no task `{id}`"))?;
        let whole = solved(task, language)?;
        let verdict =
            |source: &str| request::answer(&format!("check\n{id}\n{SEED}\n{name}\ntext\n{source}"));
        let solved = format::solution(&whole)?;
        Ok(object(&[
            ("id", string(id)),
            ("language", string(name)),
            ("given", verdict(&format::shipped(&whole)?)),
            ("solution", string(&solved)),
            ("solved", verdict(&solved)),
        ]))
    });
    let steps = list(steps.collect::<Result<Vec<_>>>()?).replace('<', "\\u003c");
    let text = page(module)?.text;
    // The frame's policy names no other script than its own; without a worker no time passes beside the page's.
    let begin = text.find("<meta http-equiv").context("the page has a policy")?;
    let end = begin + text[begin..].find('>').context("the policy ends")? + 1;
    let before = "<script>window.Worker = undefined; window.seed = () => 77;</script>";
    let behind = format!(
        "<pre id=\"told\"></pre><script id=\"steps\" type=\"application/json\">{steps}</script><script>{CHECK}</script></body>"
    );
    Ok(format!("{}{before}{}", &text[..begin], &text[end..]).replace("</body>", &behind))
}

//! The page's compiler against rustc and nvcc: every kernel of every task, given, solved, wrong and otherwise right, has
//! the same verdict, the same findings and the same counts of all that its bounds name.

#![allow(clippy::print_stdout, reason = "what was compared is shown on request")]

#[allow(dead_code, unused_imports, reason = "the proofs use the rest of them")]
mod candidates;
mod cuda;

use candidates::build::{Candidate, compile};
use candidates::{Kernels, is_host, kernels_of_tasks, side_by_side};
use course::format;
use course::grade::{Subject, Submission, grade, run_at};
use course::learn::verdict_text;
use course::question::{Execute, Runs};
use course::task::Task;
use course::tasks::TASKS;
use course::verdict::Verdict;

/// Files that are refused or differ, with the reason. A file that is none of both must not be here.
const DIFFERENT: &[(&str, &str)] = &[
    (
        "pad_the_tile__matrices",
        "refused: a load of matrices, and a value that is hidden from the compiler",
    ),
    ("pad_the_tile__lane_by_lane", "refused: a value that is hidden from the compiler"),
    ("constant_walk__lane_by_lane", "refused: a value that is hidden from the compiler"),
    (
        "wide_loads__wasteful",
        "rustc's line table has the load of four elements in the line of its `map`, one below",
    ),
    (
        "grid_stride__stores_again",
        "LLVM unrolls the loop by two, so lanes with odd and even numbers of turns part: another mean of sectors",
    ),
];

fn is_listed(candidate: &Candidate) -> bool {
    DIFFERENT.iter().any(|(name, _)| *name == candidate.name)
}

/// All that a learner is told, without what only names places of the PTX.
fn told(verdict: &Verdict) -> String {
    let mut told = String::new();
    for (stage, why) in &verdict.passed {
        told += &format!("{stage}: {why}\n");
    }
    if let Some(failure) = &verdict.failure {
        let message = failure.message.split(". The executor:").next().unwrap_or_default();
        let message = short_names(message);
        told += &format!("{}: {:?}: {message}\n", failure.stage, failure.because);
        // The picture is one of the requests that a line makes: the compilers write its turns in another order.
        let picture = failure.strip.iter().map(|line| {
            let end = line.rfind(['|', ':']).map_or(0, |at| at + 1);
            line[end..].trim()
        });
        let picture = picture.collect::<Vec<_>>().join("\n");
        told += &format!("{:?}\n{picture}\n{}\n", failure.line, failure.next);
    }
    for one in &verdict.counts {
        told += &format!("{}: {}\n", one.bound.count.name(), one.value);
    }
    told + &verdict.remarks.join("\n")
}

/// A text whose static arrays have their own names: the proofs rename kernels within mangled ones.
fn short_names(text: &str) -> String {
    let mut pieces = text.split("`_R");
    let mut short = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once('[').unwrap_or((piece, ""));
        let own = name.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        let own = own.rsplit(|letter: char| letter.is_ascii_digit()).next().unwrap_or(own);
        short += &format!("`{own}[{rest}");
    }
    short
}

/// All that is compared of a kernel.
fn shown(candidate: &Candidate, kernel: &Submission) -> String {
    let task = candidate.task;
    let verdict = grade(task, kernel, 77).expect("the virtual device starts");
    let mut shown = told(&verdict);
    match (Subject { task, kernel }).findings() {
        Ok(found) => {
            for one in found {
                shown += &format!("\n{:?} in {:?}", one.because, one.lines);
            }
        }
        Err(error) => shown += &format!("\n{error:#}"),
    }
    // What a bound counts, whether the verdict came so far or not.
    if let Ok(run) = run_at(task, kernel, &task.count_size()) {
        for bound in task.bounds {
            shown += &format!("\n{} = {}", bound.count.name(), bound.count.of(&run));
        }
    }
    shown
}

#[test]
fn a_kernel_is_what_rustc_makes_of_it() {
    compare_kernels(7);
}

#[test]
#[ignore = "grades each file twice; `cargo xtask prove course-page` runs it"]
fn all_kernels_are_what_rustc_makes_of_them() {
    compare_kernels(1);
}

/// Compares each so many-th kernel, and those that are listed.
fn compare_kernels(step: usize) {
    let Kernels { candidates, .. } = kernels_of_tasks();
    let submissions = compile("proofs", &candidates);
    let pairs = candidates.iter().zip(&submissions).enumerate();
    let pairs = pairs.filter(|(at, (one, _))| at % step == 0 || is_listed(one));
    let pairs: Vec<(&Candidate, &Submission)> = pairs.map(|(_, pair)| pair).collect();
    let compared = side_by_side(&pairs, |(candidate, rustc)| {
        let file = rustc.file.clone();
        let ptx = match rust_to_ptx::compile(&candidate.source, &file) {
            Ok(ptx) => ptx,
            Err(refusal) => return Err(format!("refused: {refusal}")),
        };
        let ours = Submission { ptx, source: candidate.source.clone(), file };
        let (ours, rustc) = (shown(candidate, &ours), shown(candidate, rustc));
        if ours == rustc {
            return Ok(());
        }
        Err(differences("rustc", &rustc, &ours))
    });
    let mut wrong = Vec::new();
    let mut equal = 0;
    for ((candidate, _), compared) in pairs.iter().zip(compared) {
        match compared {
            Ok(()) if is_listed(candidate) => {
                wrong.push(format!("{}: is listed and equal", candidate.name))
            }
            Ok(()) => equal += 1,
            Err(_) if is_listed(candidate) => {}
            Err(why) => wrong.push(format!("{}: {why}", candidate.name)),
        }
    }
    for (name, why) in DIFFERENT {
        println!("{name}: {why}");
    }
    println!(
        "{equal} of {} files are equal to rustc's in verdict, findings and counts",
        pairs.len()
    );
    assert!(wrong.is_empty(), "{} differ:\n  {}", wrong.len(), wrong.join("\n  "));
}

/// The lines in which two texts differ.
fn differences(compiler: &str, theirs: &str, ours: &str) -> String {
    let differ = |a: &str, b: &str| {
        let b: Vec<&str> = b.lines().collect();
        a.lines().filter(|line| !b.contains(line)).collect::<Vec<_>>().join("\n      ")
    };
    let (theirs, ours) = (differ(theirs, ours), differ(ours, theirs));
    format!("{compiler}\n      {theirs}\n    ours\n      {ours}")
}

/// Kernels in CUDA C++ that differ from nvcc's, with the reason.
const DIFFERENT_FROM_NVCC: &[(&str, &str)] = &[
    (
        "barrier_in_branch__shipped",
        "nvcc has the two branches in the other order, so that the other barrier is named",
    ),
    (
        "matmul_tile__shipped",
        "the picture is one of two loads of a line, which nvcc has in another order",
    ),
    (
        "lockstep__shipped",
        "the same race in the same lines, shown at another word: nvcc reads before it writes",
    ),
    (
        "spilled__shipped",
        "nvcc unrolls the loop by four, after which most indexes are known: fewer requests of local memory, and more than none",
    ),
    (
        "boss_classes__shipped",
        "nvcc clears and reads the four counts of local memory as one vector: fewer requests, and more than none",
    ),
];

/// The page's kernel of a file in CUDA C++.
fn cuda_in_page(candidate: &Candidate) -> Result<Submission, String> {
    let file = format!("{}.cu", candidate.task.id());
    let ptx = rust_to_ptx::compile_cuda(&candidate.source, &file);
    let ptx = ptx.map_err(|refusal| format!("refused: {refusal}"))?;
    Ok(Submission { ptx, source: candidate.source.clone(), file })
}

#[test]
fn a_kernel_in_cuda_fails_and_passes_as_in_rust() {
    assert!(cuda::missing().is_empty(), "without a twin: {:?}", cuda::missing());
    let kernels = cuda::kernels();
    let graded = side_by_side(&kernels, |(candidate, expected)| {
        let kernel = cuda_in_page(candidate)?;
        let verdict = grade(candidate.task, &kernel, 77).expect("the virtual device starts");
        let found = verdict.failure.as_ref().map(|failure| failure.because);
        if found == *expected {
            Ok(())
        } else {
            Err(format!("{expected:?} is expected: {}", told(&verdict)))
        }
    });
    let named = kernels.iter().zip(graded);
    let wrong: Vec<String> = named
        .filter_map(|((one, _), graded)| Some(format!("{}: {}", one.name, graded.err()?)))
        .collect();
    assert!(wrong.is_empty(), "{} differ:\n  {}", wrong.len(), wrong.join("\n  "));
}

#[test]
#[ignore = "needs nvcc; `cargo xtask prove cuda-page` runs it"]
fn all_kernels_in_cuda_are_what_nvcc_makes_of_them() {
    let kernels = cuda::kernels();
    let compared = side_by_side(&kernels, |(candidate, _)| {
        let ours = cuda_in_page(candidate)?;
        let (ours, nvcc) =
            (shown(candidate, &ours), shown(candidate, &cuda::compiled_by_nvcc(candidate)));
        if ours == nvcc { Ok(()) } else { Err(differences("nvcc", &nvcc, &ours)) }
    });
    let is_listed = |one: &Candidate| DIFFERENT_FROM_NVCC.iter().any(|(name, _)| *name == one.name);
    let (mut wrong, mut equal) = (Vec::new(), 0);
    for ((one, _), compared) in kernels.iter().zip(compared) {
        match compared {
            Ok(()) if is_listed(one) => wrong.push(format!("{}: is listed and equal", one.name)),
            Ok(()) => equal += 1,
            Err(_) if is_listed(one) => {}
            Err(why) => wrong.push(format!("{}: {why}", one.name)),
        }
    }
    for (name, why) in DIFFERENT_FROM_NVCC {
        println!("{name}: {why}");
    }
    println!(
        "{equal} of {} files in CUDA C++ are equal to nvcc's in verdict, findings and counts",
        kernels.len()
    );
    assert!(wrong.is_empty(), "{} differ:\n  {}", wrong.len(), wrong.join("\n  "));
}

/// The page's grader is made of this one's files over another device: each file, given and solved, gets the same words, and
/// each question the same answer.
#[test]
fn the_page_grades_as_learn_does() {
    grade_in_page(6);
}

#[test]
#[ignore = "grades all tasks twice; `cargo xtask prove course-page` runs it"]
fn the_page_grades_all_tasks_as_learn_does() {
    grade_in_page(1);
}

fn grade_in_page(step: usize) {
    let tasks = TASKS.iter().copied().filter(|task| !is_host(task)).step_by(step);
    let tasks: Vec<&'static Task> = tasks.collect();
    let wrong = side_by_side(&tasks, |task| {
        let mut wrong = Vec::new();
        let pages = course_page::tasks::named(task.id()).expect("the page has every task");
        let files = [("rust", "given"), ("rust", "solved"), ("cuda", "given"), ("cuda", "solved")];
        for (language, name) in files {
            let is_cuda = language == "cuda";
            let whole = if is_cuda { cuda::twin(task) } else { task.solved().to_owned() };
            let part = if name == "given" { format::shipped } else { format::solution };
            let source = part(&whole).expect("well-formed");
            let file = format!("{}.{}", task.id(), if is_cuda { "cu" } else { "rs" });
            let compile = if is_cuda { rust_to_ptx::compile_cuda } else { rust_to_ptx::compile };
            let ptx = compile(&source, &file).expect("it is compiled");
            let kernel =
                Submission { ptx: ptx.clone(), source: source.clone(), file: file.clone() };
            let verdict = grade(task, &kernel, 77).expect("the virtual device starts");
            let learn = verdict_text(task, &verdict);
            let answer = course_page::request::answer(&format!(
                "check\n{}\n77\n{language}\ntext\n{source}",
                task.id()
            ));
            let page: serde_json::Value = serde_json::from_str(&answer).expect("it is JSON");
            let is_pass = page["passed"] == verdict.is_pass();
            if page["text"] != learn.as_str() || !is_pass {
                wrong.push(format!("{file} {name}: learn\n{learn}page\n{answer}"));
            }
            let (questions, others) = if name == "given" {
                (task.questions_before(), pages.questions_before())
            } else {
                (task.after.iter().collect(), pages.after.iter().collect())
            };
            let other = course_page::grade::Submission { ptx, source, file };
            for (one, other_one) in questions.into_iter().zip(others) {
                let asked = Subject { task, kernel: &kernel };
                let learn = (one.answer)(&Runs(&asked)).expect("it has an answer");
                let asked = course_page::grade::Subject { task: pages, kernel: &other };
                let page = (other_one.answer)(&course_page::question::Runs(&asked));
                if page.ok() != Some(learn) {
                    wrong.push(format!("{}: {} is {learn}", task.id(), one.text));
                }
            }
        }
        wrong
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    println!("{} tasks, given and solved, in both languages", tasks.len());
}

//! `cargo xtask learn`: the learner's side of the course.

mod class;
mod commands;
mod folder;
mod init;
mod outside;
mod progress;
mod screen;
mod session;
mod template;
mod verdicts;
mod watch;
mod words;
mod work;

pub use progress::Progress;
pub use screen::verdict as verdict_text;

use crate::compile::{Language, Places};
use crate::os;
use clap::{Parser, Subcommand};
use commands::{Form, Output};
use outside::tasks;
use session::Session;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Learn what memory does by repairing kernels; no GPU is needed. Without a command: watch the current task's file.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask learn", bin_name = "cargo xtask learn")]
struct Arguments {
    /// The folder with your files.
    #[arg(long, value_name = "DIR", global = true)]
    folder: Option<PathBuf>,
    /// The language of your files: `TASK.rs`, or `TASK.cu`, for which nvcc is needed.
    #[arg(long, value_enum, default_value_t, global = true)]
    lang: Language,
    /// Tasks of your own instead of the course's: a folder with `NAME.rs` and `NAME.toml` for each.
    #[arg(long, value_name = "DIR", global = true)]
    tasks: Option<PathBuf>,
    /// The student whose forms of the tasks these are; without it, the one that the folder's `class.toml` names.
    #[arg(long, value_name = "NAME", global = true, conflicts_with = "tasks")]
    student: Option<String>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Grade a task on every save.
    Watch {
        /// The task; without it, the first that has not passed.
        id: Option<String>,
    },
    /// Grade once. The exit code says whether it passes.
    Check {
        /// The task; without it, the first that has not passed.
        #[arg(conflicts_with = "all")]
        id: Option<String>,
        /// Grade every task.
        #[arg(long)]
        all: bool,
        /// Print the verdicts as JSON, for classes and CI.
        #[arg(long)]
        json: bool,
        /// Print the verdicts as the `results.json` of Gradescope.
        #[arg(long, conflicts_with = "json")]
        gradescope: bool,
        /// Grade somebody else's folder, in which nothing is written; files that are not there do not pass.
        #[arg(long, value_name = "DIR", conflicts_with_all = ["folder", "ptx"])]
        submission: Option<PathBuf>,
        /// Write what does not pass to this file as SARIF, for editors and code scanning.
        #[arg(long, value_name = "FILE")]
        sarif: Option<PathBuf>,
        /// Grade this PTX, which nvcc or another compiler made, instead of your file.
        #[arg(long, value_name = "FILE", requires = "id", conflicts_with = "all")]
        ptx: Option<PathBuf>,
    },
    /// Grade the submissions of a class, and write a page of all: a row each, and a column per task.
    Report {
        /// The folders of the submissions, in which nothing is written.
        #[arg(required = true)]
        submissions: Vec<PathBuf>,
        /// The page.
        #[arg(long, short, value_name = "FILE", default_value = "class.html")]
        output: PathBuf,
    },
    /// Write the repository of a class: the files of the tasks, a workflow that grades them, and no solution.
    Init {
        /// The folder, which is new or empty.
        dir: PathBuf,
    },
    /// Show a task's text.
    Open {
        /// The task; without it, the first that has not passed.
        id: Option<String>,
    },
    /// Explain the words of a task and show the signatures that it needs.
    Doc {
        /// The task; without it, the first that has not passed.
        id: Option<String>,
    },
    /// Show the next hint.
    Hint {
        /// The task; without it, the first that has not passed.
        id: Option<String>,
    },
    /// Answer the questions: those before the first run, or, once it passes, those about your own kernel.
    Guess {
        /// The task.
        id: String,
        /// An answer for each question; without them the questions are shown.
        #[arg(allow_hyphen_values = true)]
        answers: Vec<String>,
    },
    /// List the tasks and what you have done.
    List,
    /// Write a task's file anew; the old one is kept as `.bak`.
    Reset {
        /// The task.
        id: String,
    },
    /// Show the solution, after passing or after three different tries.
    Show {
        /// The task.
        id: String,
    },
    /// Execute your kernel at a size of your choice and print what it counts.
    Try {
        /// The task.
        id: String,
        /// Numbers of the size, such as `n=33`.
        #[arg(long, value_name = "NAME=NUMBER", value_delimiter = ',')]
        set: Vec<String>,
    },
    /// Measure from save to verdict, for every task's solution.
    Times,
    /// Compile a file as the kernels of a folder, and print the PTX: what other commands start with limits.
    #[command(hide = true)]
    Compile {
        /// The name of the hidden crate.
        name: String,
        /// The file.
        file: PathBuf,
    },
    /// Write the files of a new task of the course, for authors.
    New {
        /// Its name.
        id: String,
    },
}

pub fn main() -> ExitCode {
    os::end_quietly_when_nobody_reads();
    let arguments = Arguments::parse();
    match run(arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Ends the program with all that it started when it is interrupted, and says where the progress is.
fn end_when_interrupted(learn: &Path) {
    let learn = learn.to_owned();
    os::on_interrupt(move |code| {
        crate::group::end_all();
        let done = Progress::read(&learn).map_or(0, |progress| progress.done());
        let path = Progress::path(&learn);
        let (of, path) = (tasks().len(), path.display());
        let said = format!(
            "stopped: {done} of {of} done, noted in {path}; go on with `cargo xtask learn`"
        );
        eprint!("\n{}", screen::wrapped(&said));
        std::process::exit(code);
    });
}

fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned();
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let learn = arguments.folder.unwrap_or_else(|| root.join("learn"));
    let places = Places { root, learn, target, language: arguments.lang };
    if let Some(folder) = &arguments.tasks {
        if arguments.lang == Language::Cuda {
            anyhow::bail!("`--tasks` has files of Rust: leave `--lang`");
        }
        outside::choose(folder)?;
    }
    let graded = match &arguments.command {
        Some(Command::Check { submission: Some(folder), .. }) => folder,
        _ => &places.learn,
    };
    let student = match &arguments.student {
        Some(name) => Some(name.clone()),
        None if arguments.tasks.is_some() => None,
        None => init::student(graded)?,
    };
    if let Some(name) = &student {
        outside::choose_student(name)?;
    }
    if let Some(Command::Init { dir }) = &arguments.command {
        return init::write(&places, dir, arguments.tasks.as_deref(), arguments.student.as_deref());
    }
    if let Some(Command::New { id }) = &arguments.command {
        return template::write(&places, id);
    }
    if let Some(Command::Compile { name, file }) = &arguments.command {
        return commands::compile(&places, name, file);
    }
    if let Some(Command::Report { submissions, output }) = &arguments.command {
        return class::report(&places, submissions, output);
    }
    if places.language == Language::Rust {
        cuda_builder::install::ensure_toolchain()?;
    }
    end_when_interrupted(&places.learn);
    let mut session = match &arguments.command {
        Some(Command::Check { submission: Some(folder), .. }) => {
            Session::submission(Places { learn: folder.clone(), ..places })?
        }
        _ => Session::open(places)?,
    };
    match arguments.command.unwrap_or(Command::Watch { id: None }) {
        Command::Watch { id } => watch::run(&mut session, id.as_deref()),
        Command::Check { id, all, json, gradescope, submission: _, sarif, ptx } => {
            let form = match (json, gradescope) {
                (true, _) => Form::Json,
                (_, true) => Form::Gradescope,
                _ => Form::Screen,
            };
            let output = Output { form, sarif: sarif.as_deref() };
            commands::check(&mut session, id.as_deref(), all, output, ptx.as_deref())
        }
        Command::Open { id } => commands::open(&session, id.as_deref()),
        Command::Doc { id } => commands::doc(&session, id.as_deref()),
        Command::Hint { id } => commands::hint(&mut session, id.as_deref()),
        Command::Guess { id, answers } => commands::guess(&mut session, &id, &answers),
        Command::List => commands::list(&session),
        Command::Reset { id } => commands::reset(&mut session, &id),
        Command::Show { id } => commands::show(&mut session, &id),
        Command::Try { id, set } => commands::try_at(&session, &id, &set),
        Command::Times => commands::times(&session),
        Command::New { .. }
        | Command::Compile { .. }
        | Command::Report { .. }
        | Command::Init { .. } => Ok(ExitCode::SUCCESS),
    }
}

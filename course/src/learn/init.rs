//! `init`: a repository of a class.
#![allow(clippy::print_stdout, reason = "a command-line program prints its results")]

use super::folder;
use super::outside::{files, tasks};
use crate::compile::{Language, Places};
use crate::format;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::path::Path;
use std::process::ExitCode;

/// The step of the workflow that installs nvcc. The compiler for Rust comes with the course's checkout.
const NVCC: &str = "      - run: |
          python3 -m pip install --target nvcc 'nvidia-cuda-nvcc==13.0.*' 'nvidia-nvvm==13.0.*' \\
            'nvidia-cuda-crt==13.0.*' 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-cccl==13.0.*'
          echo \"COALESCE_NVCC=$PWD/nvcc/nvidia/cu13/bin/nvcc\" >> \"$GITHUB_ENV\"
";

/// The settings of a class, in the folder of its tasks.
pub const SETTINGS: &str = "class.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// True where `show` prints solutions.
    show: bool,
    /// The student whose forms of the tasks the folder has.
    student: Option<String>,
}

/// Returns the settings of a folder, if it is one of a class.
fn settings(learn: &Path) -> Result<Option<Settings>> {
    let path = learn.join(SETTINGS);
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        // No folder, which others say in their own words.
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => return Ok(None),
        text => text.with_context(|| format!("cannot read {}", path.display()))?,
    };
    toml::from_str(&text).map(Some).map_err(|_| {
        anyhow::anyhow!(
            "{} is damaged: it has the line `show = false`, and `student = \"NAME\"` where each student has tasks of their own",
            path.display()
        )
    })
}

/// Returns whether a folder is one of a class that shows no solutions.
pub fn hides_solutions(learn: &Path) -> Result<bool> {
    Ok(settings(learn)?.is_some_and(|settings| !settings.show))
}

/// Returns the student of a folder.
pub fn student(learn: &Path) -> Result<Option<String>> {
    Ok(settings(learn)?.and_then(|settings| settings.student))
}

/// Writes the repository: what students edit, a workflow that grades it, and no solution.
pub fn write(
    places: &Places,
    folder: &Path,
    outside: Option<&Path>,
    student: Option<&str>,
) -> Result<ExitCode> {
    let cannot = || format!("cannot write {}: is it a folder of yours?", folder.display());
    if folder.exists() && std::fs::read_dir(folder).with_context(cannot)?.next().is_some() {
        bail!("{} is not empty: name a folder that is new or empty", folder.display());
    }
    let save = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(folder)).with_context(cannot)?;
        std::fs::write(&path, text).with_context(cannot)
    };
    let (is_cuda, is_outside) = (places.language == Language::Cuda, outside.is_some());
    let language = if is_cuda { " --lang cuda" } else { "" };
    let outside_of = |folder: &str| {
        let tasks = if is_outside { format!(" --tasks {folder}tasks") } else { String::new() };
        format!("{language}{tasks}")
    };
    let option = outside_of("../submission/");
    let first = tasks()[0].id();
    let compiler = if is_cuda { NVCC } else { "" };
    let fill = |text: &str| {
        let text = text.replace("{first}", first).replace("{option}", &option);
        text.replace("{compiler}", compiler)
    };
    save("README.md", &fill(include_str!("init/README.md")))?;
    save(".github/workflows/check.yml", &fill(include_str!("init/check.yml")))?;
    save(".gitignore", "/.cargo/\n/Cargo.lock\n/Cargo.toml\n/editor/\n/target/\n*.bak\n")?;
    let student = student.map(|name| format!("student = {}\n", toml::Value::from(name)));
    save(SETTINGS, &format!("show = false\n{}", student.unwrap_or_default()))?;
    let places = Places { learn: folder.to_owned(), ..places.clone() };
    for task in tasks().iter().filter(|task| folder::is_there(&places, task)) {
        std::fs::write(folder::file(&places, task), places.shipped(task)?).with_context(cannot)?;
        if let Some(outside) = outside {
            // Students get the file that they begin with as the whole task.
            let [_, settings] = files(outside, task);
            let settings = std::fs::read_to_string(&settings)
                .with_context(|| format!("cannot read {}", settings.display()))?;
            save(&format!("tasks/{}.rs", task.id()), &format::shipped(task.solved())?)?;
            save(&format!("tasks/{}.toml", task.id()), &settings)?;
        }
    }
    let folder = folder.display();
    let option = outside_of(&format!("{folder}/"));
    println!(
        "{folder} is written: make it a repository with `git init`, and see its README\n\
         the first command: cargo xtask learn --folder {folder}{option} watch {first}"
    );
    Ok(ExitCode::SUCCESS)
}

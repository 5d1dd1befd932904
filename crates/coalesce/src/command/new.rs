#[path = "../../template/files.rs"]
mod files;

use super::shared::WrongArgument;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use files::{CI_ALIAS, CI_FILES, CI_LINES, FILES};

/// Write a project of your own: kernels, their host half, tests that need no GPU.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  PROGRAM new my-app\n  PROGRAM new my-app --source https://HOST/REPOSITORY.git --revision 1a2b3c"
)]
pub struct Arguments {
    /// The folder to make; its last part is the project's name.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Also write a workflow that shows findings as code scanning alerts, and a kernel with a planted race that it has to find.
    #[arg(long)]
    ci: bool,
    /// Source of Coalesce for the project: a folder with a checkout, or the address of a repository. The default is the
    /// checkout that this program was built from.
    #[arg(long, value_name = "URL|PATH")]
    source: Option<String>,
    /// The commit, tag or branch of the repository.
    #[arg(long, value_name = "REVISION", requires = "source")]
    revision: Option<String>,
}

/// The template's own name, as a package and as a title.
const NAMES: [&str; 2] = ["my_app", "my-app"];
/// The word in the template for the folder of a checkout.
const CHECKOUT: &str = "CHECKOUT";

/// The word in the template for the Action of a repository.
const ACTION: &str = "uses: ACTION";

/// The files that a project shares with this checkout, by links of the template: the compiler, and the versions of libraries that are known to work together.
const SHARED: &[(&str, &str)] = &[
    ("rust-toolchain.toml", include_str!("../../template/rust-toolchain.toml")),
    ("Cargo.lock", include_str!("../../template/lock.toml")),
];

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let folder = &arguments.folder;
    let name = name_of(folder)?;
    if folder.exists() {
        let text = format!("{} exists already: choose a name that is free", folder.display());
        return Err(WrongArgument(text).into());
    }
    let dependencies = Source::of(arguments)?;
    let parent = match folder.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    // Written beside its place and renamed, so that it is there whole or not at all.
    let beside = tempfile::Builder::new()
        .prefix(".new-")
        .tempdir_in(parent)
        .with_context(|| format!("cannot create a folder in {}", parent.display()))?;
    for (path, text) in texts(arguments.ci) {
        let text = if SHARED.iter().any(|(shared, _)| *shared == path) {
            text
        } else {
            let named = text.replace(NAMES[0], &name.replace('-', "_")).replace(NAMES[1], &name);
            dependencies.written_into(&named.replace(ACTION, &dependencies.action()))
        };
        let target = beside.path().join(path);
        let written = std::fs::create_dir_all(target.parent().unwrap_or(beside.path()))
            .and_then(|()| std::fs::write(&target, text));
        written.with_context(|| format!("cannot write {}", target.display()))?;
    }
    let whole = beside.keep();
    if let Err(error) = std::fs::rename(&whole, folder) {
        let _ = std::fs::remove_dir_all(&whole);
        return Err(error).with_context(|| format!("cannot create {}", folder.display()));
    }
    println!("wrote {}", folder.display());
    println!(
        "
Next:
  cd {}
  cargo test                    the kernels on a virtual GPU with every check: no GPU needed
  cargo run                     one launch, on a GPU if there is one
  cargo coalesce explain saxpy  what each line asks of memory
Then change kernels/src/saxpy.rs. README.md says what is where.",
        folder.display()
    );
    if let Source::Checkout(path) = &dependencies {
        println!(
            "\nCargo.toml takes Coalesce from {}, which other machines do not have: before the project goes to them or to CI, \
             write it with --source ADDRESS.",
            path.display()
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// The files of a project and their texts, before its name is in them.
fn texts(with_ci: bool) -> Vec<(&'static str, String)> {
    let files = FILES.iter().chain(SHARED).map(|(path, text)| (*path, (*text).to_owned()));
    let mut files: Vec<(&str, String)> = files.collect();
    if !with_ci {
        return files;
    }
    files.retain(|(path, _)| !CI_FILES.iter().any(|(other, _)| other == path));
    files.extend(CI_FILES.iter().map(|(path, text)| (*path, (*text).to_owned())));
    for (path, text) in &mut files {
        let added = CI_LINES.iter().filter(|(other, _)| other == path);
        added.for_each(|(_, lines)| text.push_str(lines));
        if *path == ".cargo/config.toml" {
            *text = text.replace(CI_ALIAS.0, CI_ALIAS.1);
        }
    }
    files
}

/// The project's name, as a package may be called.
fn name_of(folder: &Path) -> Result<String, WrongArgument> {
    let name =
        folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_word);
    if !is_name {
        return Err(WrongArgument(format!(
            "`{name}` cannot be the name of a project: write lower-case letters, digits, - and _, and begin with a letter"
        )));
    }
    // The crates that it uses, and what cargo refuses.
    let taken = [
        "coalesce",
        "cuda_std",
        "cuda_host",
        "cuda_builder",
        "cust",
        "anyhow",
        "test",
        "core",
        "std",
        "alloc",
    ];
    if taken.contains(&name.replace('-', "_").as_str()) {
        return Err(WrongArgument(format!(
            "`{name}` is the name of a library that the project uses: choose another"
        )));
    }
    Ok(name)
}

/// Source of Coalesce for a project.
enum Source {
    Checkout(PathBuf),
    Repository { url: String, revision: Option<String> },
}

impl Source {
    fn of(arguments: &Arguments) -> Result<Source, WrongArgument> {
        let Some(source) = &arguments.source else {
            let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            return Source::checkout(&here).ok_or_else(|| {
                WrongArgument(
                    "the checkout that this program was built from is gone: name a folder with one, or the address of a \
                     repository, with --source"
                        .to_owned(),
                )
            });
        };
        if source.contains("://") || source.starts_with("git@") {
            return Ok(Source::Repository {
                url: source.clone(),
                revision: arguments.revision.clone(),
            });
        }
        if arguments.revision.is_some() {
            return Err(WrongArgument(
                "--revision is for the address of a repository; a folder is taken as it is"
                    .to_owned(),
            ));
        }
        Source::checkout(Path::new(source)).ok_or_else(|| {
            WrongArgument(format!(
                "{source} has no checkout of Coalesce: crates/cuda_host/Cargo.toml is not there"
            ))
        })
    }

    fn checkout(path: &Path) -> Option<Source> {
        let path = path.canonicalize().ok()?;
        path.join("crates/cuda_host/Cargo.toml").exists().then_some(Source::Checkout(path))
    }

    /// The line of a workflow that takes the Action from here. Forges name one by its repository, not by a folder.
    fn action(&self) -> String {
        let known = match self {
            Source::Repository { url, revision } => url
                .trim_end_matches(".git")
                .strip_prefix("https://github.com/")
                .map(|name| format!("{name}@{}", revision.as_deref().unwrap_or("main"))),
            Source::Checkout(_) => None,
        };
        let name = known.unwrap_or_else(|| "OWNER/REPOSITORY@REVISION # of Coalesce".to_owned());
        format!("uses: {name}")
    }

    /// The text with the dependencies on Coalesce taken from here.
    fn written_into(&self, text: &str) -> String {
        match self {
            Source::Checkout(path) => text.replace(CHECKOUT, &path.to_string_lossy()),
            Source::Repository { url, revision } => {
                let revision = revision.as_ref().map(|revision| format!(", rev = \"{revision}\""));
                let git = format!("git = \"{url}\"{} }}", revision.unwrap_or_default());
                let line = |line: &str| match line.split_once(&format!("path = \"{CHECKOUT}")) {
                    Some((start, _)) => format!("{start}{git}\n"),
                    None => format!("{line}\n"),
                };
                text.lines().map(line).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_template_is_written() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("template");
        let mut folders = vec![root.clone()];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("the template is there") {
                let path = entry.expect("it can be read").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let path = path.strip_prefix(&root).expect("it is below").to_string_lossy();
                    found.push(path.into_owned());
                }
            }
        }
        let listed = include_str!("../../template/files.rs");
        // The list itself, and what is shared.
        let others = ["files.rs", "rust-toolchain.toml", "lock.toml"];
        found.retain(|path| {
            let is_listed = listed.contains(&format!("include_str!(\"{path}\")"));
            !is_listed && !others.contains(&path.as_str())
        });
        assert_eq!(found, [] as [String; 0]);
    }

    #[test]
    fn a_project_has_a_name_that_cargo_takes() {
        for name in ["my-app", "a", "../x/matrix_2"] {
            assert!(name_of(Path::new(name)).is_ok(), "{name}");
        }
        for name in ["", "..", "My-App", "2d", "a b", "coalesce", "cuda-std"] {
            assert!(name_of(Path::new(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn a_workflow_takes_the_action_of_the_repository() {
        let of = |url: &str, revision: Option<&str>| {
            let (url, revision) = (url.to_owned(), revision.map(str::to_owned));
            Source::Repository { url, revision }.action()
        };
        assert_eq!(of("https://github.com/a/b.git", Some("1c")), "uses: a/b@1c");
        assert_eq!(of("https://github.com/a/b", None), "uses: a/b@main");
        assert!(of("https://host/a/b", None).starts_with("uses: OWNER/"));
        let texts = texts(true);
        let text = |path: &str| &texts.iter().find(|(other, _)| *other == path).expect(path).1;
        assert_eq!(text(".github/workflows/ci.yml").matches(ACTION).count(), 2);
        assert!(text(".cargo/config.toml").contains("--bin planted"));
        assert!(text("host/Cargo.toml").contains("src/bin/planted.rs"));
    }

    #[test]
    fn a_repository_stands_where_a_checkout_stood() {
        let source = Source::Repository {
            url: "https://host/x.git".to_owned(),
            revision: Some("1a".to_owned()),
        };
        let text = "# x\ncuda_std = { package = \"coalesce-cuda-std\", path = \"CHECKOUT/crates/cuda_std\" }\nanyhow = \"1\"\n";
        let expected = "# x\ncuda_std = { package = \"coalesce-cuda-std\", git = \"https://host/x.git\", rev = \"1a\" }\nanyhow = \"1\"\n";
        assert_eq!(source.written_into(text), expected);
    }
}

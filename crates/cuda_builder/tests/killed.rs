//! Builds that are killed at each of their steps: the next one gives the PTX of its sources all the same.
#![cfg(unix)]

#[path = "../../../tests/chosen.rs"]
mod chosen;

use chosen::chosen;
use cuda_builder::{CudaBuilder, NvvmArch};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::SystemTime;

/// Tells the child, which runs this test program again, where its crate is.
const CRATE_VARIABLE: &str = "KILLED_BUILD_OF";

/// A process that builds, and may be killed. It does nothing in the test run itself.
#[test]
fn a_child_builds() {
    let Some(path) = std::env::var_os(CRATE_VARIABLE).map(PathBuf::from) else { return };
    let folder = path.parent().expect("a folder of the test");
    let builder = CudaBuilder::new(&path).arch(NvvmArch::Compute70).target_dir(target_dir());
    let ptx = builder.copy_to(folder.join("copy.ptx")).build().expect("the kernel compiles");
    std::fs::copy(ptx, folder.join("built.ptx")).expect("a writable folder");
}

/// The target folder of the cargo that runs this test, where `core` may be built already.
fn target_dir() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it lies in the target folder")
}

/// A crate of kernels that uses another, and tools that kill the build that calls them when a file says so.
struct Victim {
    folder: tempfile::TempDir,
    name: &'static str,
}

/// A tool of the build, which of its calls, and when: before it, with half of its output written, or after it.
type Step = (&'static str, u32, &'static str);

impl Victim {
    fn new(name: &'static str) -> Victim {
        let toolchain = cuda_builder::toolchain::Toolchain::find().expect("a compiler of kernels");
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a writable folder");
        let victim = Victim { folder, name };
        // What a run that was ended left would be taken for this one's.
        let _ = std::fs::remove_dir_all(target_dir().join("ptx").join(name));
        let manifest = |name: &str| {
            format!(
                "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n"
            )
        };
        victim.write("used/Cargo.toml", &manifest("used"));
        let uses = "[dependencies]\nused = { path = \"../used\" }\n";
        victim.write(&format!("{name}/Cargo.toml"), &(manifest(name) + uses));
        victim.says(1);
        let real = |tool: &str| toolchain.llvm.join(tool);
        for tool in ["llvm-dis", "opt", "llc"] {
            victim.tool(&format!("llvm/{tool}"), &real(tool), "for out in \"$@\"; do :; done");
        }
        // The compiler is asked where it lies, and cargo is taken from there.
        let compiler = format!(
            "#!/bin/sh\ncase \"$*\" in \"--print sysroot\") echo '{}'; exit;; esac\nexec '{}' \"$@\"\n",
            victim.path("rust").display(),
            toolchain.rustc.display()
        );
        victim.script("rust/bin/rustc", &compiler);
        let bitcode = "case \" $* \" in *' rustc '*) ;; *) exec \"$real\" \"$@\";; esac\n\
                       for word in \"$@\"; do case \"$word\" in --emit=llvm-bc=*) out=${word#--emit=llvm-bc=};; esac; done";
        victim.tool("rust/bin/cargo", &toolchain.cargo, bitcode);
        let library = toolchain.sysroot.join("lib");
        std::os::unix::fs::symlink(library, victim.path("rust/lib")).expect("a writable folder");
        victim
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a writable folder");
        std::fs::write(path, text).expect("a writable folder");
    }

    fn script(&self, name: &str, text: &str) {
        self.write(name, text);
        std::fs::set_permissions(self.path(name), PermissionsExt::from_mode(0o755)).expect("ours");
    }

    /// A tool that kills the process that called it when the file `kill` names it, and when it is the call that it says.
    fn tool(&self, name: &str, real: &Path, find_output: &str) {
        let tool = Path::new(name).file_name().expect("a name").to_string_lossy();
        let text = format!(
            "#!/bin/sh\nreal='{real}'\n{find_output}\nread -r kill call when < '{folder}/kill'\n\
             if [ \"$kill\" != {tool} ]; then exec \"$real\" \"$@\"; fi\n\
             echo >> '{folder}/calls'\n\
             if [ $(wc -l < '{folder}/calls') != \"$call\" ]; then exec \"$real\" \"$@\"; fi\n\
             if [ $when != before ]; then \"$real\" \"$@\" || exit; fi\n\
             if [ $when = half ]; then truncate -s $(( $(stat -c %s \"$out\") / 2 )) \"$out\"; fi\n\
             kill -9 $PPID\n",
            real = real.display(),
            folder = self.folder.path().display(),
        );
        self.script(name, &text);
    }

    /// Writes sources of this number: as many bytes for each.
    fn says(&self, number: u32) {
        let used = format!("#![no_std]\npub fn value() -> u32 {{ 70{number} }}\n");
        self.write("used/src/lib.rs", &used);
        let kernel = format!(
            "#[panic_handler] fn panic(_: &core::panic::PanicInfo) -> ! {{ loop {{}} }}\n\
             #[unsafe(no_mangle)] pub unsafe extern \"ptx-kernel\" fn entry(target: *mut u32) {{\n\
             unsafe {{ target.write(used::value() + {number}000) }}\n}}\n"
        );
        self.write(&self.sources()[1], &kernel);
    }

    fn sources(&self) -> [String; 2] {
        ["used", self.name].map(|name| format!("{name}/src/lib.rs"))
    }

    /// The times of the sources, to be given back to them.
    fn times(&self) -> [SystemTime; 2] {
        self.sources().map(|source| {
            let facts = std::fs::metadata(self.path(&source)).expect("it was written");
            facts.modified().expect("files have times")
        })
    }

    fn date_back(&self, times: [SystemTime; 2]) {
        for (source, time) in self.sources().iter().zip(times) {
            let file = std::fs::File::options().append(true).open(self.path(source));
            file.expect("ours").set_modified(time).expect("ours");
        }
    }

    /// Builds in a process of its own.
    fn build(&self, kill: Option<Step>) -> ExitStatus {
        let (tool, call, when) = kill.unwrap_or(("none", 0, "never"));
        self.write("kill", &format!("{tool} {call} {when}\n"));
        let _ = std::fs::remove_file(self.path("calls"));
        let mut child = Command::new(std::env::current_exe().expect("this program"));
        child.args(["--exact", "a_child_builds"]).env(CRATE_VARIABLE, self.path(self.name));
        child.env("COALESCE_LLVM", self.path("llvm"));
        child.env("COALESCE_RUSTC", self.path("rust/bin/rustc"));
        child.output().expect("it starts").status
    }

    /// The PTX of the sources as they are, from a build that comes to its end.
    fn built(&self) -> String {
        assert!(self.build(None).success(), "the build after a killed one fails");
        let read = |name| std::fs::read_to_string(self.path(name)).expect("the child wrote it");
        assert_eq!(read("copy.ptx"), read("built.ptx"));
        read("built.ptx")
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the list of what was killed where is the proof")]
fn no_build_after_a_killed_one_is_wrong() {
    let victim = Victim::new("killed-at-each-step");
    let clean = victim.built();
    assert!(clean.contains(", 1701;"), "{clean}");
    let mut steps = Vec::new();
    for (tool, call) in [("cargo", 1), ("llvm-dis", 1), ("opt", 1), ("opt", 2), ("llc", 1)] {
        for when in ["before", "half", "after"] {
            steps.extend([false, true].map(|dates_back| (tool, call, when, dates_back)));
        }
    }
    let all = steps.len();
    let steps = chosen(steps);
    for (tool, call, when, dates_back) in &steps {
        let times = victim.times();
        victim.says(2);
        let ended = victim.build(Some((tool, *call, when)));
        assert_eq!(ended.signal(), Some(9), "{tool} {call} {when}: nobody killed it");
        victim.says(1);
        if *dates_back {
            victim.date_back(times);
        }
        let name = format!(
            "killed {when} call {call} of {tool}, sources put back with {} times",
            if *dates_back { "their old" } else { "new" }
        );
        assert!(victim.built() == clean, "{name}: PTX of other sources");
        println!("{name}: the next build gives the PTX of a clean one");
    }
    println!("{} of {all} kinds of killed builds are followed by a right one", steps.len());
}

/// Cuts, empties and changes files of a build's folder, and puts a source back with its old time: each is repaired.
#[test]
fn what_somebody_changed_is_made_again() {
    let victim = Victim::new("changed-by-somebody");
    let clean = victim.built();
    let folder = target_dir().join("ptx").join(victim.name);
    let made = |extension: &str| {
        let files = std::fs::read_dir(&folder).expect("the builder made it").flatten();
        let mut files = files.map(|file| file.path());
        let found = files.find(|file| file.to_string_lossy().ends_with(extension));
        found.expect("the builder wrote it")
    };
    for extension in ["compute_70.ptx", "compute_70.ll", ".bc", ".stamp", ".made-of"] {
        let file = made(extension);
        let bytes = std::fs::read(&file).expect("it is there");
        let mut changed = bytes.clone();
        let middle = changed.len() / 2;
        changed[middle] ^= 1;
        for now in [&changed[..], &bytes[..middle], &[]] {
            std::fs::write(&file, now).expect("a writable folder");
            assert!(victim.built() == clean, "{extension} of {} bytes was used", now.len());
        }
    }
    let times = victim.times();
    victim.says(2);
    victim.date_back(times);
    assert!(victim.built().contains(", 2702;"), "sources of the old time are not compiled");
}

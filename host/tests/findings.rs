//! Findings as SARIF, and the schemas of what commands print.

use crate::foreign_programs::{PTX, compiled};
use crate::program::*;
use crate::schema::violation;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Two stores to one word by different blocks, without a line table.
const RACE: &str = ".version 7.0
.target sm_70
.address_size 64
.visible .entry everybody(.param .u64 target)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [target];
    mov.u32 %r1, %ctaid.x;
    st.global.u32 [%rd1], %r1;
    ret;
}
";

/// A repository with a file.
fn repository(file: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir_all(folder.path().join(".git")).expect("a new folder");
    let path = folder.path().join(file);
    fs::create_dir_all(path.parent().expect("it has one")).expect("a new folder");
    fs::write(path, text).expect("a writable folder");
    folder
}

/// The findings of a command that is run in a folder of a repository.
fn findings(folder: &Path, arguments: &[&str], code: i32) -> Value {
    let file = folder.join("found.sarif");
    let mut program = program(&arguments[..1]);
    program.arg("--sarif").arg(&file).args(&arguments[1..]).current_dir(folder);
    let output = program.output();
    let output = output.expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    sound(&fs::read_to_string(file).expect("it was written"))
}

/// Asserts what the standard and its readers ask of a file, as far as its types do not.
fn sound(text: &str) -> Value {
    let log: Value = serde_json::from_str(text).expect("it is JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    for rule in rules {
        let id = rule["id"].as_str().expect("a name");
        assert_eq!(rules.iter().filter(|other| other["id"] == id).count(), 1, "{id}");
        for text in [&rule["shortDescription"]["text"], &rule["help"]["text"]] {
            assert!(text.as_str().is_some_and(|text| text.len() > 10), "{id}: {rule}");
        }
    }
    let mut fingerprints = Vec::new();
    for result in run["results"].as_array().expect("results") {
        let index = result["ruleIndex"].as_u64().expect("a rule of ours") as usize;
        assert_eq!(rules[index]["id"], result["ruleId"], "{result}");
        assert!(result["message"]["text"].is_string(), "{result}");
        let related = result["relatedLocations"].as_array().into_iter().flatten();
        for location in result["locations"].as_array().expect("a place").iter().chain(related) {
            let place = &location["physicalLocation"];
            let uri = place["artifactLocation"]["uri"].as_str().expect("a file");
            let is_relative = place["artifactLocation"]["uriBaseId"] == "%SRCROOT%";
            assert!(uri.starts_with("file:///") != is_relative && !uri.contains(' '), "{result}");
            assert!(!is_relative || !uri.starts_with(['/', '.']), "{result}");
            let region = &place["region"];
            assert!(region["startLine"].as_u64().is_some_and(|line| line > 0), "{result}");
            let [start, end] = ["startColumn", "endColumn"].map(|name| region[name].as_u64());
            assert!(start.is_none_or(|start| start > 0 && end.is_none_or(|end| end > start)));
        }
        fingerprints.push(result["partialFingerprints"]["coalesceFinding/v1"].clone());
    }
    let count = fingerprints.len();
    fingerprints.sort_by_key(Value::to_string);
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), count, "findings have fingerprints of their own");
    log
}

fn results_of(log: &Value) -> &[Value] {
    log["runs"][0]["results"].as_array().map_or(&[], Vec::as_slice)
}

const LAUNCH: [&str; 5] =
    ["--grid=4", "--block=32", "--arg=t:u32*64=zeros", "--check", "--limit=999999"];

fn explain_race(folder: &Path, file: &str) -> Value {
    findings(folder, &[&["explain", file][..], &LAUNCH].concat(), 4)
}

#[test]
fn a_race_in_ptx_has_its_line_its_column_and_its_other_access() {
    let folder = repository("kernels/race.ptx", RACE);
    let log = explain_race(folder.path(), "kernels/race.ptx");
    let race = results_of(&log).iter().find(|one| one["ruleId"] == "GlobalRace");
    let race = race.expect("four blocks store to one word");
    assert_eq!(race["level"], "error");
    let place = &race["locations"][0];
    assert_eq!(place["logicalLocations"][0]["fullyQualifiedName"], "everybody");
    let place = &place["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "kernels/race.ptx");
    let region = &place["region"];
    assert_eq!((&region["startLine"], &region["startColumn"]), (&10.into(), &5.into()));
    assert_eq!(region["snippet"]["text"], "st.global.u32 [%rd1], %r1;");
    let other = &race["relatedLocations"][0];
    assert_eq!(other["message"]["text"], "the other access");
    assert_eq!(other["physicalLocation"]["region"]["startLine"], 10);

    // From a folder below the root, paths are those from the root.
    let again = explain_race(&folder.path().join("kernels"), "race.ptx");
    assert_eq!(results_of(&log), results_of(&again));
}

#[test]
fn fingerprints_survive_lines_that_move_and_the_order_is_always_the_same() {
    let of = |text: &str| {
        let folder = repository("race.ptx", text);
        explain_race(folder.path(), "race.ptx")
    };
    let fingerprints = |log: &Value| -> Vec<Value> {
        let all = results_of(log).iter().map(|one| one["partialFingerprints"].clone());
        all.collect()
    };
    let (here, again) = (of(RACE), of(RACE));
    assert_eq!(here, again);
    let moved = of(&RACE.replace(".visible", "// A comment.\n\n.visible"));
    assert_ne!(results_of(&here), results_of(&moved));
    assert_eq!(fingerprints(&here), fingerprints(&moved));
    let other = of(&RACE.replace("st.global.u32 [%rd1], %r1;", "st.global.u32 [%rd1+4], %r1;"));
    assert_ne!(fingerprints(&here), fingerprints(&other));
}

#[test]
fn what_a_program_does_wrong_is_sarif_at_the_lines_of_its_source() {
    let source = "\n".repeat(9) + "    tile[i] = threadIdx.x;\n    x[i] = tile[i ^ 32];\n";
    let folder = repository("program.cu", &source);
    let program = compiled().1.display().to_string();
    let found = |mode: &str, rule: &str, level: &str| {
        let log = findings(folder.path(), &["run", "--check", "--", &program, PTX, mode], 4);
        let one = results_of(&log).iter().find(|one| one["ruleId"] == rule);
        let one = one.unwrap_or_else(|| panic!("{mode}: {log}"));
        assert_eq!(one["level"], level, "{one}");
        let other = &one["relatedLocations"][0]["physicalLocation"]["region"]["startLine"];
        assert_eq!(*other, if mode == "race" { Value::from(11) } else { Value::Null });
        one["locations"][0]["physicalLocation"].clone()
    };
    let race = found("race", "SharedRace", "error");
    assert_eq!(race["artifactLocation"]["uri"], "program.cu");
    assert_eq!(race["region"]["startLine"], 10);
    assert_eq!(race["region"]["startColumn"], 5, "{race}");
    assert_eq!(race["region"]["endColumn"], 27, "{race}");
    let outside = found("outside", "KernelFault", "error");
    assert_eq!(outside["region"]["startLine"], 20, "{outside}");
    // It has no place in a source, so it is said of the program.
    let leak = found("leak", "Leak", "warning");
    let uri = leak["artifactLocation"]["uri"].as_str().expect("a file");
    assert!(uri.ends_with("/program"), "{uri}");
}

#[test]
fn a_sound_catalogue_has_no_results_and_every_rule() {
    let folder = repository("x", "");
    let size = ["--size", "rows=33,columns=64", "--check", "--device", "virtual"];
    let log = findings(folder.path(), &[&["verify", "transpose/padded"], &size[..]].concat(), 0);
    assert_eq!(results_of(&log).len(), 0);
    assert_eq!(log["runs"][0]["automationDetails"]["id"], "coalesce/verify/");
    assert!(log["runs"][0]["tool"]["driver"]["rules"].as_array().is_some_and(|it| it.len() > 40));
}

/// Outputs of commands are of their published schemas, and say which.
#[test]
fn outputs_are_of_their_published_schemas() {
    let folder = repository("race.ptx", RACE);
    let compiled = compiled().1.display().to_string();
    let size = ["--size", "rows=33,columns=64", "--check", "--device", "virtual"];
    let file = folder.path().join("output.json").display().to_string();
    let to_file = |arguments: &[&str]| {
        let output = program(arguments).current_dir(folder.path()).output();
        output.expect("the program starts");
        fs::read_to_string(&file).expect("it was written")
    };
    let printed = |arguments: &[&str]| {
        let output = program(arguments).current_dir(folder.path()).output();
        String::from_utf8(output.expect("the program starts").stdout).expect("it is text")
    };
    let measured = ["reference.json", "repeat.json.gz", "third.json.gz", "after-the-move.json.gz"]
        .map(|file| format!("{}/../results/nvidia-h200/{file}", env!("CARGO_MANIFEST_DIR")));
    let [first, second, third, fourth] = measured.each_ref().map(String::as_str);
    let outputs = [
        ("compare", printed(&["compare", first, second, "--json"])),
        ("fleet", printed(&["compare", "--fleet", first, second, third, fourth, "--json"])),
        ("list", printed(&["list", "--json"])),
        ("verify", printed(&[&["verify", "transpose", "--json"], &size[..]].concat())),
        ("profile", to_file(&[&["explain", "race.ptx", "--json", &file], &LAUNCH[..]].concat())),
        ("profile", to_file(&["run", "--check", "--json", &file, "--", &compiled, PTX, "race"])),
        ("counts", to_file(&["explain", "transpose/padded", "--json", &file])),
        ("counts", to_file(&["count", "transpose/padded", "-o", &file])),
    ];
    for (name, text) in outputs {
        let path = format!("{}/../docs/schemas/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let schema = fs::read_to_string(path).expect("it is published");
        let schema: Value = serde_json::from_str(&schema).expect("it is JSON");
        let output: Value = serde_json::from_str(&text).expect("nothing but JSON");
        assert_eq!(violation(&schema, &output), None, "{name}");
        assert!(output["schema"].is_u64(), "{name} has its version");
    }
}

/// A program that validates what it is given by a library of others.
const VALIDATOR: &str = r#"
fn main() {
    let read = |path: String| std::fs::read_to_string(path).expect("a file");
    let json = |text: &str| serde_json::from_str(text).expect("JSON");
    let mut files = std::env::args().skip(1);
    // A pattern of the schema is no expression: that of languages, which no file of ours has.
    let schema = read(files.next().expect("a schema")).replace("{2}]?$", "{2}$");
    let schema: serde_json::Value = json(&schema);
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for file in files {
        let value: serde_json::Value = json(&read(file.clone()));
        for error in validator.iter_errors(&value) {
            println!("{file}: {}: {error}", error.instance_path());
        }
    }
}
"#;

/// The long proof: its validator and the schema of the standard come from the registry.
#[test]
#[expect(clippy::print_stdout, reason = "the proof records the line")]
#[ignore = "downloads and builds a validator; `cargo xtask prove sarif` runs it"]
fn files_are_of_the_schema_of_the_standard() {
    let work = tempfile::tempdir().expect("a temporary folder");
    let cargo = |arguments: &[&str]| {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        let output = cargo.args(arguments).current_dir(work.path()).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    cargo(&["init", "--quiet", "--vcs", "none", "--name", "validator"]);
    cargo(&["add", "--quiet", "jsonschema", "--no-default-features"]);
    cargo(&["add", "--quiet", "serde_json", "serde-sarif@0.8.0"]);
    fs::write(work.path().join("src/main.rs"), VALIDATOR).expect("a writable folder");
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--format-version", "1"])).expect("JSON");
    let mut packages = metadata["packages"].as_array().expect("packages").iter();
    let sarif = packages.find(|package| package["name"] == "serde-sarif").expect("it was added");
    let manifest = sarif["manifest_path"].as_str().expect("a path");
    let schema = Path::new(manifest).with_file_name("src/schema.json").display().to_string();

    let race = repository("race.ptx", RACE);
    explain_race(race.path(), "race.ptx");
    let ran = repository("program.cu", "");
    let program = compiled().1.display().to_string();
    findings(ran.path(), &["run", "--check", "--", &program, PTX, "outside"], 4);
    let none = repository("x", "");
    let size = ["--size", "rows=33,columns=64", "--check", "--device", "virtual"];
    findings(none.path(), &[&["verify", "transpose/padded"], &size[..]].concat(), 0);
    let files =
        [&race, &ran, &none].map(|one| one.path().join("found.sarif").display().to_string());
    let wrong = work.path().join("wrong.sarif").display().to_string();
    let text = fs::read_to_string(&files[0]).expect("it was written");
    fs::write(&wrong, text.replace("\"startLine\": ", "\"startLine\": -")).expect("writable");

    let validated = |files: &[&str]| cargo(&[&["run", "--quiet", "--", &schema], files].concat());
    assert_ne!(validated(&[&wrong]), "", "a negative line is of no schema");
    assert_eq!(validated(&files.each_ref().map(String::as_str)), "");
    println!("{} files of three commands are valid by the schema of SARIF 2.1.0", files.len());
}

/// A step of the Action, as a runner starts it in a folder: its exit code, what it said, and its outputs.
fn step(folder: &Path, name: &str, inputs: &[(&str, &str)]) -> (i32, String, String) {
    let action = concat!(env!("CARGO_MANIFEST_DIR"), "/../.ci/action");
    let mut command = Command::new(action);
    command.arg(name).current_dir(folder).envs(inputs.iter().copied());
    for file in ["GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"] {
        fs::write(folder.join(file), "").expect("a writable folder");
        command.env(file, folder.join(file));
    }
    command.env("RUNNER_TEMP", folder).env("COALESCE_LIBCUDA", "/nonexistent/libcuda.so.1");
    let output = command.output().expect("bash is there");
    let said =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let outputs = fs::read_to_string(folder.join("GITHUB_OUTPUT")).expect("it was made");
    (output.status.code().unwrap_or(-1), said.concat(), outputs)
}

#[test]
fn the_action_writes_findings_and_fails_where_it_should() {
    let folder = repository("race.ptx", RACE);
    let launch = LAUNCH.join(" ");
    let check = |command: &str| {
        let program = env!("CARGO_BIN_EXE_coalesce");
        let inputs =
            [("INPUT_PROGRAM", program), ("INPUT_COMMAND", command), ("INPUT_SARIF", "x.sarif")];
        let (code, said, outputs) = step(folder.path(), "check", &inputs);
        assert_eq!(code, 0, "{said}");
        let of = |name: &str| {
            let start = format!("{name}=");
            let line = outputs.lines().find_map(|line| line.strip_prefix(&start));
            line.unwrap_or_else(|| panic!("{outputs}")).to_owned()
        };
        (of("code"), of("findings"))
    };
    let end = |(code, findings): (String, String), fails: &str| {
        let inputs = [
            ("INPUT_BUDGETS", ""),
            ("INPUT_FAIL_ON_FINDINGS", fails),
            ("CODE", &code),
            ("FINDINGS", &findings),
        ];
        step(folder.path(), "end", &inputs)
    };
    let found = check(&format!("explain race.ptx {launch}"));
    assert_eq!(found, ("4".to_owned(), "1".to_owned()));
    sound(&fs::read_to_string(folder.path().join("x.sarif")).expect("it was written"));
    let (code, said, _) = end(found.clone(), "true");
    assert!(code == 1 && said.contains("::error::the command ended with 4; findings: 1"), "{said}");
    assert_eq!(end(found, "false").0, 0);
    let clean = check("explain race.ptx --grid=1 --block=1 --arg=t:u32*64=zeros --check");
    assert_eq!(clean, ("0".to_owned(), "0".to_owned()));
    assert_eq!(end(clean, "true").0, 0);
    // What could not work found nothing, and an older file is gone.
    let broken = check("explain no-such-file.ptx --grid 1 --block 1");
    assert_eq!(broken, ("2".to_owned(), String::new()));
    let (code, said, _) = end(broken, "false");
    assert!(code == 1 && said.contains("before it could look for anything"), "{said}");
    for (install, part) in [("none", "is not on the PATH"), ("apt", "write release, cargo or none")]
    {
        let inputs =
            [("INPUT_PROGRAM", "coalesce"), ("INPUT_INSTALL", install), ("PATH", "/usr/bin:/bin")];
        let (code, said, _) = step(folder.path(), "install", &inputs);
        assert!(code == 1 && said.contains(part), "{said}");
    }
    let quoted = format!("explain 'race.ptx' {}", launch.replacen("t:u32", "\"t:\"u32", 1));
    assert_ne!(quoted, format!("explain 'race.ptx' {launch}"));
    assert_eq!(check(&quoted), ("4".to_owned(), "1".to_owned()));
    let inputs =
        [("INPUT_PROGRAM", "x"), ("INPUT_COMMAND", "run -- 'a"), ("INPUT_SARIF", "x.sarif")];
    let (code, said, _) = step(folder.path(), "check", &inputs);
    assert!(code == 1 && said.contains("a quote without its other half"), "{said}");
    let own = [("INPUT_PROGRAM", "cargo coalesce"), ("INPUT_INSTALL", "none")];
    assert_eq!(step(folder.path(), "install", &own).0, 0);
}

/// A release's archive is taken by the name that the workflow `dist` gives it, on every runner that has one.
#[test]
fn the_action_takes_the_archive_of_its_runner() {
    const GH: &str = "#!/bin/sh\n[ $3 = v1 ] || exit 1\nwhile [ $1 != --pattern ]; do shift; done\nmkdir ${2%.tar.gz}\necho echo > ${2%.tar.gz}/coalesce\ntar -czf $4/$2 ${2%.tar.gz}\n";
    let dist = include_str!("../../.github/workflows/dist.yml");
    assert!(dist.contains("folder=coalesce-${{ matrix.target }}"), "{dist}");
    let install = |system: &str, processor: &str, tag: &str| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let gh = folder.path().join("gh");
        fs::write(&gh, GH).expect("a writable folder");
        fs::set_permissions(&gh, fs::Permissions::from_mode(0o755)).expect("it is ours");
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        let inputs = [
            ("INPUT_PROGRAM", "coalesce"),
            ("INPUT_INSTALL", "release"),
            ("RUNNER_OS", system),
            ("RUNNER_ARCH", processor),
            ("ACTION_REF", tag),
            ("ACTION_REPOSITORY", "owner/name"),
            ("PATH", &path),
        ];
        let (code, said, _) = step(folder.path(), "install", &inputs);
        let place = fs::read_to_string(folder.path().join("GITHUB_PATH")).expect("it was made");
        assert_eq!(code == 0, Path::new(place.trim()).join("coalesce").is_file(), "{said}");
        let names = fs::read_dir(folder.path()).expect("it is there").flatten();
        let mut names = names.map(|one| one.file_name().to_string_lossy().into_owned());
        let archive = names.find_map(|name| Some(name.strip_suffix(".tar.gz")?.to_owned()));
        (archive.unwrap_or_default(), said)
    };
    for (system, processor) in
        [("Linux", "X64"), ("Linux", "ARM64"), ("Windows", "X64"), ("macOS", "ARM64")]
    {
        let (archive, said) = install(system, processor, "v1");
        let target = archive.strip_prefix("coalesce-").unwrap_or_else(|| panic!("{said}"));
        assert!(dist.contains(&format!("- target: {target}\n")), "{target}");
    }
    let (_, said) = install("macOS", "X64", "v1");
    assert!(said.contains("no archive for macOS on X64: set install to cargo"), "{said}");
    let (_, said) = install("Linux", "X64", "main");
    assert!(said.contains("name the Action by the tag of a release"), "{said}");
}

/// The Action's file has the inputs that its steps read, each described, and the guide's table has them.
#[test]
fn the_inputs_of_the_action_are_those_of_its_page() {
    let action = include_str!("../../action.yml");
    let page = include_str!("../../docs/guide/ci.md");
    let part = |from: &str, to: &str| {
        let start = action.find(from).expect(from) + from.len();
        &action[start..start + action[start..].find(to).expect(to)]
    };
    let names: Vec<&str> = part("\ninputs:\n", "\noutputs:\n")
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'))
        .filter(|name| !name.starts_with(' '))
        .collect();
    assert_eq!(names.len(), 8);
    for name in names {
        assert!(action.contains(&format!("inputs.{name}")), "{name} is not read");
        assert!(page.contains(&format!("| `{name}` |")), "{name} is not on the page");
    }
}

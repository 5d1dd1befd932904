//! The names of the driver's library: those of NVIDIA's header, all of them exported, none of them fatal to call.

use cuda_driver::CudaVersion;
use cuda_driver::api::Symbol;
use libloading::Library;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The list, and the text that stands before and after its lines.
const LIST: &str = include_str!("../../virtual_gpu/src/names.rs");
const BEGIN: &str = "        // The names.\n";
const END: &str = "    } };\n";

/// The folder of NVIDIA's headers, where `cargo xtask sass` has fetched them.
fn headers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/sass-tools/nvidia/cu13/include")
}

fn without_comments(text: &str) -> String {
    let parts = text.split("/*").enumerate();
    parts
        .map(|(index, part)| match part.split_once("*/") {
            Some((_, code)) if index > 0 => code,
            _ => part,
        })
        .collect()
}

/// The name of the driver's with which a text starts.
fn leading_name(text: &str) -> Option<&str> {
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let name = &text[..end.unwrap_or(text.len())];
    let is_name =
        name.starts_with("cu") && name[2..].starts_with(|letter: char| letter.is_ascii_uppercase());
    is_name.then_some(name)
}

/// The names that a header declares, under whatever macros: of functions, and of what its macros make of them.
fn declared(header: &str, names: &mut BTreeSet<String>) {
    let declarations = header.split("CUDAAPI").skip(1);
    names.extend(declarations.filter_map(|it| leading_name(it.trim_start())).map(str::to_owned));
    for line in header.lines().map(str::trim) {
        let Some(definition) = line.strip_prefix("#define cu") else { continue };
        let Some((_, value)) = definition.split_once(' ') else { continue };
        let value = value.trim();
        names.extend(leading_name(value).map(str::to_owned));
        for (macro_name, ending) in [("__CUDA_API_PTDS(", "_ptds"), ("__CUDA_API_PTSZ(", "_ptsz")] {
            if let Some(name) = value.strip_prefix(macro_name).and_then(leading_name) {
                names.extend([name.to_owned(), format!("{name}{ending}")]);
            }
        }
    }
}

/// A name without the number of its variant, and that.
fn split(name: &str) -> (&str, u32) {
    let variant =
        name.rsplit_once("_v").and_then(|(base, number)| Some((base, number.parse().ok()?)));
    variant.unwrap_or((name, 1))
}

/// The dates of a function's variants, oldest first: `PFN_cuMemAlloc_v3020` is one of `cuMemAlloc`.
fn dates(types: &str) -> BTreeMap<&str, BTreeSet<u32>> {
    let mut dates: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for found in types.split("*PFN_").skip(1) {
        if let Some((base, date)) = found.split_once(')').map(|(name, _)| split(name)) {
            dates.entry(base).or_default().insert(date);
        }
    }
    dates
}

/// The lines of the list that the headers make.
fn made_of(headers: &Path) -> String {
    let read = |name: &str| fs::read_to_string(headers.join(name)).expect(name);
    let mut names = BTreeSet::new();
    for header in ["cuda.h", "cudaGL.h"] {
        declared(&without_comments(&read(header)), &mut names);
    }
    let types = ["cudaTypedefs.h", "cudaGLTypedefs.h", "cudaProfilerTypedefs.h"].map(read).concat();
    let dates = dates(&types);
    let own = |name: &str| {
        let own = ["_ptds", "_ptsz"].map(|ending| format!("{name}{ending}"));
        own.into_iter().find(|own| names.contains(own))
    };
    let mut variants: BTreeMap<&str, Vec<(u32, &str)>> = BTreeMap::new();
    for name in names.iter().filter(|name| !name.ends_with("_ptds") && !name.ends_with("_ptsz")) {
        let (base, variant) = split(name);
        variants.entry(base).or_default().push((variant, name));
    }
    let mut lines = String::new();
    for (base, mut variants) in variants {
        variants.sort_unstable();
        assert_eq!(variants.len(), dates[base].len(), "{base}: a date for each variant");
        for ((_, name), date) in variants.iter().zip(&dates[base]) {
            let own = own(name).map_or(String::new(), |own| format!(", {own}"));
            lines += &format!("        {name} {date}{own};\n");
        }
    }
    lines
}

#[test]
fn the_list_is_that_of_the_header() {
    let headers = headers();
    if !headers.join("cuda.h").exists() {
        return;
    }
    let begin = LIST.find(BEGIN).expect("the list begins") + BEGIN.len();
    let end = begin + LIST[begin..].find(END).expect("the list ends");
    let made = made_of(&headers);
    if std::env::var_os("COALESCE_BLESS").is_some() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../virtual_gpu/src/names.rs");
        fs::write(file, [&LIST[..begin], &made, &LIST[end..]].concat()).expect("it is written");
        return;
    }
    assert_eq!(&LIST[begin..end], made, "COALESCE_BLESS=1 writes the list of the header");
}

#[test]
fn the_table_has_the_dates_of_the_list() {
    let lines: BTreeSet<&str> =
        LIST.lines().map(|line| line.trim().trim_end_matches(';')).collect();
    for symbol in Symbol::ALL {
        let Some(CudaVersion { major, minor }) = symbol.since() else { continue };
        let name = symbol.c_name().to_str().expect("names are ASCII");
        let meant = format!("{name} {}", 1000 * major + 10 * minor);
        let is_there = |line: &&str| line.split(',').next() == Some(&meant);
        assert!(lines.iter().any(is_there), "{meant}");
    }
}

/// Every name of the list.
fn listed() -> Vec<&'static str> {
    let begin = LIST.find(BEGIN).expect("the list begins") + BEGIN.len();
    let lines = LIST[begin..].lines().take_while(|line| line.ends_with(';'));
    let words = lines.flat_map(|line| line.split([' ', ',', ';']));
    words.filter(|word| word.starts_with("cu")).collect()
}

/// The library that cargo built beside this test.
fn open() -> Library {
    let test = std::env::current_exe().expect("a test knows where it is");
    let path = test.with_file_name("libvirtual_libcuda.so");
    // SAFETY: the library's initializer starts the virtual GPU, which may run on any thread.
    unsafe { Library::new(path) }.expect("cargo builds the library with its tests")
}

#[test]
fn every_name_is_exported_and_may_be_called() {
    let library = open();
    // Nothing is a valid argument of most, and none of them may take the process with it.
    type N = usize;
    type Function = unsafe extern "C" fn(N, N, N, N, N, N, N, N, N, N, N, N) -> u32;
    let mut absent = 0;
    for prepared in [false, true] {
        for name in listed() {
            // SAFETY: an address of a function or of none of it is what the driver's functions have to bear.
            let code = unsafe {
                let function = library.get::<Function>(name.as_bytes());
                let function = function.unwrap_or_else(|_| panic!("{name} is exported"));
                function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
            };
            assert_ne!(code, 999, "{name}: no panic, no code that says nothing");
            absent += u32::from(prepared && code == 801);
        }
        // SAFETY: the signature is the header's.
        let initialized = unsafe {
            library.get::<unsafe extern "C" fn(u32) -> u32>(b"cuInit").expect("it is there")(0)
        };
        assert_eq!(initialized, 0);
    }
    assert!(absent > 150, "{absent} functions say that they are not there");
}

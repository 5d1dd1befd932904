//! Words of docs and of every crate's code: those of the field.

use crate::kernels_source::{files, root};

/// Folders with code, whose docs begin with a noun or a verb.
const FOLDERS: [&str; 7] = ["book", "course", "crates", "host", "kernels", "tests", "xtask"];
/// Words with which no doc there begins.
const QUESTIONS: [&str; 7] = ["What ", "How ", "Whether ", "Who ", "Which ", "When ", "Where "];
/// Spellings and names that went, each with what stands for it.
const GONE: [(&str, &str); 11] = [
    ("nitialise", "initialize"),
    ("ynchronise", "synchronize"),
    ("ecognise", "recognize"),
    ("PerLane", "LaneClocks"),
    ("put_aside", "save_frame"),
    ("far_small_pages", "host_small_page_ranges"),
    ("dram_again_bytes", "refetched_bytes"),
    ("Suspects", "RaceCandidates"),
    ("Overtook", "EarlyCopy"),
    ("Doubt", "UninitializedReads"),
    ("piece_bytes", "dram_atom_bytes"),
];

#[test]
fn docs_begin_with_a_noun_or_a_verb() {
    let mut wrong = Vec::new();
    for folder in FOLDERS {
        for (path, text) in files(folder, "rs") {
            if path.components().any(|part| part.as_os_str() == "fixtures") {
                continue;
            }
            let mut is_doc = false;
            for (number, line) in text.lines().enumerate() {
                let line = line.trim_start();
                let first = line.strip_prefix("/// ").or_else(|| line.strip_prefix("//! "));
                let asks = |doc: &&str| QUESTIONS.iter().any(|it| doc.starts_with(it));
                if let Some(doc) = first.filter(|doc| !is_doc && asks(doc)) {
                    wrong.push(format!("{}:{}: {doc}", path.display(), number + 1));
                }
                is_doc = line.starts_with("///") || line.starts_with("//!");
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "name the thing, or say what the function does:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn contracts_are_lists_that_can_be_checked_off() {
    let mut wrong = Vec::new();
    for (path, text) in FOLDERS.iter().flat_map(|folder| files(folder, "rs")) {
        for (number, (head, first)) in (1..).zip(text.lines().zip(text.lines().skip(1))) {
            let doc = head.trim_start().strip_suffix(" # Safety");
            let Some(mark) = doc.filter(|mark| ["///", "//!"].contains(mark)) else { continue };
            let first = first.trim_start();
            let is_list = first.strip_prefix(mark).is_some_and(|text| text.starts_with(" - "));
            if !is_list && !first.starts_with("#[doc = ") {
                wrong.push(format!("{}:{number}: {first}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "make each demand a bullet:\n{}", wrong.join("\n"));
}

#[test]
fn names_that_went_do_not_come_back() {
    for (path, text) in files("crates", "rs") {
        let own = path.strip_prefix(root()).expect("it is a file of ours").to_owned();
        if own
            .components()
            .any(|part| part.as_os_str() == "fixtures" || part.as_os_str() == "tests")
        {
            continue;
        }
        for (gone, instead) in GONE {
            assert!(!text.contains(gone), "{}: `{gone}` is `{instead}` now", own.display());
        }
    }
}

//! The page of the executor: addresses and PTX that anyone types, counted in the browser.

use crate::chapter::CHAPTERS;
use maud::{PreEscaped, html};
use report::page::{Additions, Link, page_with};
use report::publish::Page;

const STYLE: &str = include_str!("book.css");
const SCRIPT: &str = concat!(include_str!("worker.js"), include_str!("playground.js"));
const PTX: &str = include_str!("playground.ptx");

/// The page; `in_book` if the book is beside it.
pub fn page(module: &[u8], in_book: bool) -> Page {
    let content = html! {
        h1 { "Playground" }
        p.lead { "The executor of this project, in this page. Nothing leaves it, and no network is asked for." }
        p { "Type an address, or paste PTX, and see what a GPU would have to move. Counts are those of the program on the command line; there is no model of time here." }
        noscript { p { strong { "The playground needs a script and WebAssembly." } } }
        div.playground.needs-script hidden {
            h2 id="address" { "The address box" }
            p { "Lane " code { "lane" } " of a warp loads the element with this index. Operators and their precedence are Rust's; names are " code { "lane" } ", " code { "warp" } " and " code { "thread" } "." }
            label { "index " input id="index" type="text" value="33*(lane%8) + lane/8" spellcheck="false" autocomplete="off" size="32"; }
            label { "bytes per lane " select id="bytes" { @for bytes in [4, 1, 2, 8, 16] { option { (bytes) } } } }
            label { "only lanes where " input id="active" type="text" value="" placeholder="all lanes" spellcheck="false" autocomplete="off" size="16"; }
            p {
                "For example: "
                @for (index, active) in [("lane", ""), ("2*lane", ""), ("lane*lane", ""), ("33*(lane%8) + lane/8", ""), ("32*lane", "lane < 16")] {
                    button.example type="button" data-index=(index) data-active=(active) { (index) @if !active.is_empty() { " where " (active) } } " "
                }
            }
            p { button id="link" type="button" { "Copy a link to this" } " " span id="link-said" aria-live="polite" {} }
            div.widget { p.said id="address-said" aria-live="polite" {} div id="address-drawn" {} }
            h2 id="any" { "Any PTX" }
            p { "With all checks for hazards. Memory is limited to 64 MiB, and a kernel to twenty million warp-instructions." }
            label { "PTX" textarea id="ptx" spellcheck="false" { (PTX) } }
            label { "kernel, the first if empty " input id="kernel" type="text" value="" size="20"; }
            label { "grid " input id="grid" type="text" value="4 1 1" size="10"; }
            label { "block " input id="block" type="text" value="64 1 1" size="10"; }
            label { "dynamic shared memory, bytes " input id="shared" type="text" value="0" size="8"; }
            label { "arguments, one per line: " code { "buffer BYTES count" } ", " code { "floats" } ", " code { "zeros" } " or " code { "unwritten" } "; " code { "u32 N" } ", " code { "i32" } ", " code { "u64" } ", " code { "f32" } ", " code { "f64" }
                textarea.short id="arguments" spellcheck="false" { "buffer 1024 count" } }
            p { button id="run" type="button" { "Run" } " " button id="stop" type="button" disabled { "Stop" } }
            div.widget { p.said id="ptx-said" aria-live="polite" {} div id="ptx-shown" {} }
        }
        script id="module" type="application/wasm-base64" { (PreEscaped(base64(module))) }
    };
    let links = if in_book {
        vec![("", Link { file: CHAPTERS[0].file(), name: "Contents".to_owned() })]
    } else {
        Vec::new()
    };
    // The last directive of the policy is that of scripts.
    let additions = Additions {
        style: STYLE,
        script: SCRIPT,
        policy: " 'wasm-unsafe-eval'; worker-src blob:",
        description: "Type which element each lane of a warp loads, and see the sectors and the wavefronts that a GPU needs for it.",
        ..Additions::default()
    };
    Page {
        file: "playground.html".to_owned(),
        text: page_with("Playground: the executor in a page", &links, &content, additions),
    }
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

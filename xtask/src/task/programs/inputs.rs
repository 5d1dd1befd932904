//! Inputs that a suite keeps elsewhere, written anew from templates: small, of its loader's format, and always the same.

use super::suite::Program;
use anyhow::{Context, Result, anyhow, bail};
use cuda_builder::write_whole;
use minijinja::{Environment, UndefinedBehavior};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Templates by the paths of the files that they make, relative to the program's folder.
pub type Inputs = BTreeMap<String, String>;

/// The first line of a template whose words are `TYPE:VALUE`, each written as its bytes.
const BYTES: &str = "#bytes\n";

/// Writes the inputs of a program into its folder of the mirror.
pub fn write(program: &Program, inputs: &Inputs) -> Result<()> {
    for (name, template) in inputs {
        let bytes = rendered(name, template)
            .with_context(|| format!("the input {name} of {}", program.name))?;
        let file = program.folder.join(name);
        let folder = file.parent().context("a file lies in a folder")?;
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        // A link of the mirror must not be written through.
        if file.is_symlink() {
            std::fs::remove_file(&file)
                .with_context(|| format!("cannot replace {}", file.display()))?;
        }
        write_whole(&file, &bytes)?;
    }
    Ok(())
}

/// Makes a file of its template; the numbers depend on the file's name alone.
fn rendered(name: &str, template: &str) -> Result<Vec<u8>> {
    let seed = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let state = Arc::new(Mutex::new(seed));
    let below = move |count: u64| {
        let mut state = state.lock().expect("no panic");
        // SplitMix64.
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % count.max(1)
    };
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_keep_trailing_newline(true);
    let draw = below.clone();
    environment.add_function("int", move |least: i64, most: i64| {
        least.saturating_add_unsigned(draw(most.saturating_sub(least).max(0).unsigned_abs() + 1))
    });
    let draw = below.clone();
    environment.add_function("real", move |least: f64, most: f64| {
        let part = draw(1_000_001) as f64 / 1e6;
        ((least + (most - least) * part) * 1e6).round() / 1e6
    });
    environment.add_function("pick", move |letters: &str, count: u64| {
        let letters: Vec<char> = letters.chars().collect();
        let one = |_| letters.get(usize::try_from(below(letters.len() as u64)).unwrap_or(0));
        (0..count).filter_map(one).collect::<String>()
    });
    let (is_bytes, template) = match template.strip_prefix(BYTES) {
        Some(rest) => (true, rest),
        None => (false, template),
    };
    let text = environment.render_str(template, ()).map_err(|error| anyhow!("{error:#}"))?;
    if is_bytes { bytes(&text) } else { Ok(text.into_bytes()) }
}

/// The bytes of words such as `f32:0.5`, `u16:7` and `text:P5`, numbers with the low byte first. `line` is the end of a line.
fn bytes(text: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for word in text.split_whitespace() {
        if word == "line" {
            bytes.push(b'\n');
            continue;
        }
        let (kind, value) =
            word.split_once(':').with_context(|| format!("`{word}` is no TYPE:VALUE"))?;
        let wrong = || format!("`{value}` is no {kind}");
        match kind {
            "f32" => bytes.extend(value.parse::<f32>().with_context(wrong)?.to_le_bytes()),
            "f64" => bytes.extend(value.parse::<f64>().with_context(wrong)?.to_le_bytes()),
            "u8" => bytes.push(value.parse().with_context(wrong)?),
            "u16" => bytes.extend(value.parse::<u16>().with_context(wrong)?.to_le_bytes()),
            "i32" => bytes.extend(value.parse::<i32>().with_context(wrong)?.to_le_bytes()),
            "i64" => bytes.extend(value.parse::<i64>().with_context(wrong)?.to_le_bytes()),
            "text" => bytes.extend(value.bytes()),
            _ => bail!("there is no type `{kind}`: f32, f64, u8, u16, i32, i64 and text are"),
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_makes_the_same_file_each_time() {
        let template =
            "{% for i in range(3) %}{{ i }} {{ int(1, 6) }} {{ real(0, 1) }}\n{% endfor %}";
        let first = rendered("a", template).expect("a template");
        assert_eq!(first, rendered("a", template).expect("a template"));
        assert_ne!(first, rendered("b", template).expect("a template"));
        let text = String::from_utf8(first).expect("text");
        assert!(text.lines().count() == 3 && text.starts_with("0 "), "{text}");
        assert_eq!(rendered("a", "{{ pick('A', 3) }}\n").expect("a template"), b"AAA\n");
    }

    #[test]
    fn words_become_bytes() {
        let file = rendered("a", "#bytes\ntext:P5 line u8:255 u16:258 f32:1").expect("bytes");
        assert_eq!(file, [b'P', b'5', b'\n', 255, 2, 1, 0, 0, 0x80, 0x3f]);
        for wrong in ["#bytes\nu8:256", "#bytes\nx:1", "#bytes\n7", "{{ none_such }}"] {
            assert!(rendered("a", wrong).is_err(), "{wrong}");
        }
    }
}

//! Every kernel of the corpus is decoded without an unsupported instruction.

use simt::Module;

#[test]
fn corpus_is_supported() {
    let mut folders = vec![concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus").to_string()];
    folders.push(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/ptx").to_string());
    // More PTX to look at, for work on the decoder.
    folders.extend(std::env::var("SIMT_MORE_PTX").ok());
    let mut kernels = 0;
    let mut problems = Vec::new();
    for folder in folders {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|e| e != "ptx") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            match Module::parse(&text) {
                Ok(module) => {
                    kernels += module.kernels().len();
                    for kernel in module.kernels() {
                        if let Err(error) = kernel.supported() {
                            problems.push(format!("{}: {}: {error}", path.display(), kernel.name));
                        }
                    }
                    assert!(module.coverage().iter().all(|c| c.count > 0));
                }
                Err(error) => problems.push(format!("{}: {error}", path.display())),
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(kernels >= 40, "{kernels} kernels");
}

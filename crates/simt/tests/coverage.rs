use simt::Module;

/// Kernels of the corpus and the fixtures.
const KERNELS: usize = 140;

#[test]
fn corpus_is_supported() {
    let mut folders = ["tests/corpus", "fixtures/ptx"]
        .map(|f| format!("{}/../simt/{f}", env!("CARGO_MANIFEST_DIR")))
        .to_vec();
    // More PTX to look at, for work on the decoder.
    let more = std::env::var("SIMT_MORE_PTX").ok();
    let own = more.is_none();
    folders.extend(more);
    let mut kernels = 0;
    let mut problems = Vec::new();
    for folder in folders {
        for entry in std::fs::read_dir(&folder).unwrap() {
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
    assert!(!own || kernels == KERNELS, "{kernels} kernels");
}

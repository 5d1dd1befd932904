use super::verify;
use anyhow::Result;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    verify: verify::Arguments,
}

/// The time between two looks at the files.
const PAUSE: Duration = Duration::from_millis(200);

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    loop {
        let before = newest()?;
        let begin = Instant::now();
        // What does not compile or is wrong has been said; the next save may mend it.
        if let Err(error) = verify::run(&arguments.verify) {
            eprintln!("error: {error:#}");
        }
        let seconds = begin.elapsed().as_secs_f64();
        println!("{seconds:.1} s; waiting for the next save, Ctrl-C ends");
        while newest()? == before {
            std::thread::sleep(PAUSE);
        }
    }
}

/// The time of the last change of a source, and how many there are.
fn newest() -> Result<(Option<SystemTime>, usize)> {
    let files = verify::sources()?;
    let times = files.iter().filter_map(|file| std::fs::metadata(file).ok()?.modified().ok());
    Ok((times.max(), files.len()))
}

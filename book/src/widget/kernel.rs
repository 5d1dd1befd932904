use super::parts::{Control, Widget};
use anyhow::{Result, anyhow, bail};
use maud::html;
use simt_page::{Access, Probe, Space};

const THREADS: u32 = 256;
const LEVELS: u32 = THREADS.ilog2();

/// Ways to share out the work of a level with distance `d`: a name, who works, and the word that is read.
const WAYS: [(&str, &str, &str); 3] = [
    ("interleaved", "thread % (2 * d) == 0", "thread + d"),
    ("strided", "2 * d * thread < 256", "2 * d * thread + d"),
    ("sequential", "thread < d", "thread + d"),
];

/// Returns whether a thread works, as the script draws it.
fn works(way: usize, d: u32, thread: u32) -> bool {
    match way {
        0 => thread.is_multiple_of(2 * d),
        1 => 2 * d * thread < THREADS,
        _ => thread < d,
    }
}

/// Returns who works on each level of a tree, and what the loads of the level cost.
pub fn reduction() -> Result<Widget> {
    let mut counts: Vec<Vec<[u64; 3]>> = Vec::new();
    for (way, (name, active, index)) in WAYS.into_iter().enumerate() {
        let access = Access { index, active, bytes: 4, space: Space::Shared, names: &["d"] };
        let mut probe = Probe::new(&access).map_err(|error| anyhow!(error))?;
        let mut levels = Vec::new();
        for level in 0..LEVELS {
            let d = if name == "sequential" { THREADS >> (level + 1) } else { 1 << level };
            let report = probe.run(&[d], THREADS / 32).map_err(|error| anyhow!(error))?;
            let load = report.counters.shared_load;
            let drawn = (0..THREADS).filter(|thread| works(way, d, *thread)).count();
            if load.lanes != drawn as u64 {
                bail!("{name}: {} lanes work, and the widget draws {drawn}", load.lanes);
            }
            levels.push([load.lanes, load.requests, load.wavefronts]);
        }
        counts.push(levels);
    }
    let text: Vec<String> = counts
        .iter()
        .map(|levels| {
            levels.iter().map(|[a, b, c]| format!("{a} {b} {c}")).collect::<Vec<_>>().join(";")
        })
        .collect();
    Ok(Widget {
        name: "reduction",
        title: "The levels of a tree",
        about: "A block of eight warps adds 256 words. Each row is a warp, each box is a thread; the filled ones work.",
        controls: vec![
            Control::Choice("way", "who works", WAYS.map(|(name, ..)| name.to_owned()).to_vec()),
            Control::Range("level", "level", [1, LEVELS, 1, 1]),
        ],
        data: vec![("counts", text.join("|"))],
        states: html! {
            table {
                thead { tr { th scope="col" { "level" } @for (name, ..) in WAYS { th scope="col" { (name) ": warps, wavefronts" } } } }
                tbody {
                    @for level in 0..LEVELS as usize {
                        tr {
                            th scope="row" { (level + 1) }
                            @for levels in &counts { td.figure { (levels[level][1]) ", " (levels[level][2]) } }
                        }
                    }
                }
            }
        },
    })
}

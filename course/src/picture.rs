//! A request of a warp as lines of text: which sectors its lanes touch, or which banks they want.

use results::{RequestKind, RequestRecord};

/// Lanes that are named in a line.
const LANES_SHOWN: usize = 6;
const SECTORS_DRAWN: usize = 4;

pub fn strip(request: &RequestRecord) -> Vec<String> {
    match request.kind {
        RequestKind::GlobalLoad
        | RequestKind::GlobalStore
        | RequestKind::GlobalAtomic
        | RequestKind::AsyncCopySource
        | RequestKind::BulkCopy => sectors(request),
        RequestKind::ConstantLoad => {
            // The words that lanes want count from the first of them.
            let first = request.lanes.iter().flatten().min().copied().unwrap_or_default();
            words(request, "word", |address| (address - first) / 4)
        }
        _ => words(request, "bank", |address| address / 4 % 32),
    }
}

/// Lanes by the sector that they touch, and the words of the first sectors.
fn sectors(request: &RequestRecord) -> Vec<String> {
    let bytes = u64::from(request.bytes);
    let mut all: Vec<u64> = request.lanes.iter().flatten().copied().collect();
    let lanes = all.clone();
    all.sort_unstable();
    let Some(first) = all.first().map(|address| address / 32) else { return Vec::new() };
    let shown: Vec<String> =
        lanes.iter().take(LANES_SHOWN).map(|lane| (lane / 32 - first).to_string()).collect();
    let used =
        |word: u64| all.iter().any(|lane| (lane / 4..(lane + bytes).div_ceil(4)).contains(&word));
    let mut touched: Vec<u64> =
        all.iter().flat_map(|lane| lane / 32..(lane + bytes).div_ceil(32)).collect();
    touched.sort_unstable();
    touched.dedup();
    let drawn = touched.iter().take(SECTORS_DRAWN).map(|sector| {
        let words = (0..8).map(|word| if used(sector * 8 + word) { 'x' } else { '.' });
        words.collect::<String>()
    });
    let drawn = drawn.collect::<Vec<_>>().join("|");
    let rest = if touched.len() > SECTORS_DRAWN { " .." } else { "" };
    let traffic = &request.traffic;
    let share = 100.0 * traffic.bytes_distinct as f64 / (32 * traffic.sectors.max(1)) as f64;
    let count = touched.len();
    vec![
        format!("lanes 0, 1, 2 .. touch sectors {} ..", shown.join(", ")),
        format!(
            "|{drawn}|{rest}  {count} sector{}, {share:.1} % of their bytes used",
            plural(count as u64)
        ),
    ]
}

/// Lanes by the word or bank that they want.
fn words(request: &RequestRecord, what: &str, of: impl Fn(u64) -> u64) -> Vec<String> {
    let lanes = request.lanes.iter().flatten().take(LANES_SHOWN);
    let shown: Vec<String> = lanes.map(|lane| of(*lane).to_string()).collect();
    let wavefronts = request.traffic.wavefronts;
    let s = plural(wavefronts);
    vec![format!(
        "lanes 0, 1, 2 .. want {what}s {} ..: {wavefronts} wavefront{s}",
        shown.join(", ")
    )]
}

fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::RequestCounts;

    fn request(kind: RequestKind, stride: u64, traffic: RequestCounts) -> RequestRecord {
        let lanes = std::array::from_fn(|lane| Some(0x1000 + 4 * stride * lane as u64));
        RequestRecord { kind, bytes: 4, lanes, traffic, wavefronts: Vec::new() }
    }

    #[test]
    fn a_strip_shows_sectors_or_banks() {
        let traffic = RequestCounts { sectors: 8, bytes_distinct: 128, ..RequestCounts::default() };
        let global = strip(&request(RequestKind::GlobalLoad, 2, traffic));
        assert_eq!(
            global,
            [
                "lanes 0, 1, 2 .. touch sectors 0, 0, 0, 0, 1, 1 ..",
                "|x.x.x.x.|x.x.x.x.|x.x.x.x.|x.x.x.x.| ..  8 sectors, 50.0 % of their bytes used"
            ]
        );
        let traffic = RequestCounts { sectors: 1, bytes_distinct: 4, ..RequestCounts::default() };
        let one = strip(&request(RequestKind::GlobalLoad, 0, traffic));
        assert_eq!(one[1], "|x.......|  1 sector, 12.5 % of their bytes used");
        let traffic = RequestCounts { wavefronts: 32, ..RequestCounts::default() };
        let shared = strip(&request(RequestKind::SharedLoad, 32, traffic));
        assert_eq!(shared, ["lanes 0, 1, 2 .. want banks 0, 0, 0, 0, 0, 0 ..: 32 wavefronts"]);
    }
}

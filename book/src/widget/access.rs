use super::parts::{Control, Widget, letter};
use anyhow::{Result, anyhow, bail};
use counters::RequestRecord;
use maud::{Markup, PreEscaped, html};
use report::picture::access::{DrawnRequest, Requests, draw};
use simt_page::{Access, Probe, Space};

/// Bytes per lane that the sliders offer.
const WIDTHS: [u32; 5] = [1, 2, 4, 8, 16];
const MAX_STRIDE: u32 = 33;
const MAX_OFFSET: u32 = 32;

/// Orders of the lanes: a name, and the index of a lane's element over `lane`.
const ORDERS: [(&str, &str); 4] = [
    ("ascending", "lane"),
    ("reversed", "31 - lane"),
    ("xor", "(lane ^ 21)"),
    ("scrambled", "((13 * lane + 7) % 32)"),
];

fn run(probe: &mut Probe, values: &[u32]) -> Result<RequestRecord> {
    let report = probe.run(values, 1).map_err(|error| anyhow!(error))?;
    let mut records = report.instructions.into_iter().flat_map(|one| one.requests);
    records.next().ok_or_else(|| anyhow!("the warp made no request"))
}

fn probe(index: &str, bytes: u32, space: Space, names: &[&str]) -> Result<Probe> {
    let access = Access { index, active: "1", bytes, space, names };
    Probe::new(&access).map_err(|error| anyhow!(error))
}

/// A request as the picture of a report has it.
fn drawn(record: &RequestRecord, base: u64, code: &str) -> Markup {
    let mut record = record.clone();
    for address in record.lanes.iter_mut().flatten() {
        *address -= base;
    }
    let request = DrawnRequest { line: None, code: code.to_owned(), instructions: 1, record };
    let svg = draw(code, "", &Requests { shown: vec![request], omitted: 0 });
    html! { figure { (PreEscaped(svg)) } }
}

/// Lanes and sectors: width, stride, offset, order.
pub fn lanes() -> Result<Widget> {
    let mut sectors = String::new();
    let mut distinct: Vec<u64> = Vec::new();
    let mut states = Vec::new();
    for width in WIDTHS {
        let mut found = String::new();
        for (name, order) in ORDERS {
            let index = format!("offset + stride * ({order})");
            let mut probe = probe(&index, width, Space::Global, &["offset", "stride"])?;
            let base = probe.base();
            for stride in 0..=MAX_STRIDE {
                for offset in 0..=MAX_OFFSET {
                    // That the order changes nothing is a fact of the executor: every seventh state shows it.
                    if name != ORDERS[0].0 && (stride + offset) % 7 != 0 {
                        continue;
                    }
                    let record = run(&mut probe, &[offset, stride])?;
                    let at = |lane: u32| {
                        base + u64::from(width * (offset + stride * ordered(name, lane)))
                    };
                    if (0..32).any(|lane| record.lanes[lane as usize] != Some(at(lane))) {
                        bail!("the lanes of `{index}` are not where the widget draws them");
                    }
                    let place = (stride * (MAX_OFFSET + 1) + offset) as usize;
                    if name == ORDERS[0].0 {
                        found.push(letter(record.traffic.sectors)?);
                        if offset == 0 {
                            distinct.push(record.traffic.bytes_distinct);
                        }
                        if width == 4 && offset == 0 && [1, 2, 8].contains(&stride) {
                            let code = format!("lane l reads word {stride} * l");
                            states.push(drawn(&record, base, &code));
                        }
                    } else if !found[place..].starts_with(letter(record.traffic.sectors)?) {
                        bail!(
                            "{name}: the order of lanes changes the sectors, so the widget is wrong"
                        );
                    }
                }
            }
        }
        sectors += &found;
    }
    let distinct: Vec<String> = distinct.iter().map(ToString::to_string).collect();
    Ok(Widget {
        name: "lanes",
        title: "Lanes and sectors",
        about: "One load of one warp. Each colour is a lane, each box is a sector of 32 bytes that has to move.",
        controls: vec![
            Control::Range("stride", "stride, in elements", [0, MAX_STRIDE, 1, 1]),
            Control::Range("offset", "offset, in elements", [0, MAX_OFFSET, 1, 0]),
            Control::Choice(
                "width",
                "bytes per lane",
                [4, 1, 2, 8, 16].map(|one: u32| one.to_string()).to_vec(),
            ),
            Control::Choice(
                "order",
                "order of the lanes",
                ORDERS.map(|(name, _)| name.to_owned()).to_vec(),
            ),
        ],
        data: vec![("sectors", sectors), ("distinct", distinct.join(","))],
        states: html! { @for state in &states { (state) } },
    })
}

/// The element of a lane in an order, as the script computes it for its drawing.
fn ordered(order: &str, lane: u32) -> u32 {
    match order {
        "reversed" => 31 - lane,
        "xor" => lane ^ 21,
        "scrambled" => (13 * lane + 7) % 32,
        _ => lane,
    }
}

/// Banks: stride, padding, swizzle, width.
pub fn banks() -> Result<Widget> {
    let index = "stride * lane / 32 * (32 + pad) + (stride * lane % 32 ^ stride * lane / 32 % 32 * swizzle)";
    let (mut wavefronts, mut ideal, mut states) = (String::new(), Vec::new(), Vec::new());
    for width in [4, 8, 16] {
        let mut probe = probe(index, width, Space::Shared, &["stride", "pad", "swizzle"])?;
        for swizzle in 0..2 {
            for pad in 0..3 {
                for stride in 0..=MAX_STRIDE {
                    let record = run(&mut probe, &[stride, pad, swizzle])?;
                    wavefronts.push(letter(record.traffic.wavefronts)?);
                    if swizzle + pad == 0 && stride == 1 {
                        ideal.push(record.traffic.wavefronts_ideal.to_string());
                    }
                    if width == 4
                        && [(1, 0, 0), (32, 0, 0), (32, 1, 0)].contains(&(stride, pad, swizzle))
                    {
                        let code = format!("stride {stride}, {pad} words of padding per row");
                        states.push(drawn(&record, 0, &code));
                    }
                }
            }
        }
    }
    Ok(Widget {
        name: "banks",
        title: "Banks and wavefronts",
        about: "One load of shared memory by one warp. A column is a bank; words above each other wait for each other.",
        controls: vec![
            Control::Range("stride", "stride, in elements", [0, MAX_STRIDE, 1, 1]),
            Control::Range("pad", "padding after 32 elements", [0, 2, 1, 0]),
            Control::Choice("swizzle", "swizzle", ["no", "yes"].map(str::to_owned).to_vec()),
            Control::Choice(
                "width",
                "bytes per lane",
                ["4", "8", "16"].map(str::to_owned).to_vec(),
            ),
        ],
        data: vec![("wavefronts", wavefronts), ("ideal", ideal.join(","))],
        states: html! { @for state in &states { (state) } },
    })
}

/// Layouts of a tile: a name, and the word of an element.
const LAYOUTS: [(&str, &str); 3] = [
    ("plain", "32 * row + column"),
    ("padded by one word", "33 * row + column"),
    ("swizzled", "32 * row + (column ^ row)"),
];

/// The bank of each element of a tile, and what a row and a column cost.
pub fn tile() -> Result<Widget> {
    let (mut banks, mut costs) = (String::new(), Vec::new());
    for (_, layout) in LAYOUTS {
        let of_row = layout.replace("row", "fixed").replace("column", "lane");
        let of_column = layout.replace("row", "lane").replace("column", "fixed");
        let mut rows = probe(&of_row, 4, Space::Shared, &["fixed"])?;
        let mut columns = probe(&of_column, 4, Space::Shared, &["fixed"])?;
        let mut cost = [0, 0];
        for fixed in 0..32 {
            let record = run(&mut rows, &[fixed])?;
            for address in record.lanes.iter().flatten() {
                banks.push(letter(address / 4 % 32)?);
            }
            cost[0] = cost[0].max(record.traffic.wavefronts);
            cost[1] = cost[1].max(run(&mut columns, &[fixed])?.traffic.wavefronts);
        }
        costs.push(cost);
    }
    let words: Vec<String> = costs.iter().map(|[row, column]| format!("{row} {column}")).collect();
    Ok(Widget {
        name: "tile",
        title: "Where an element of a tile lies",
        about: "A tile of 32 rows of 32 words. Choose an element: all others of its bank are marked.",
        controls: vec![
            Control::Choice("layout", "layout", LAYOUTS.map(|(name, _)| name.to_owned()).to_vec()),
            Control::Range("row", "row", [0, 31, 1, 3]),
            Control::Range("column", "column", [0, 31, 1, 5]),
        ],
        data: vec![("banks", banks), ("costs", words.join(","))],
        states: html! {
            table {
                thead { tr { th scope="col" { "layout" } th scope="col" { "wavefronts of a row" } th scope="col" { "of a column" } } }
                tbody {
                    @for ((name, _), [row, column]) in LAYOUTS.iter().zip(&costs) {
                        tr { th scope="row" { (name) } td.figure { (row) } td.figure { (column) } }
                    }
                }
            }
        },
    })
}

//! Pictures of what the lanes of one warp touch: sectors of global memory, or banks and wavefronts of shared memory.

use super::page::{
    CHARACTERS, Folded, HEAD_CHARACTERS, LABELS, Page, WIDTH, box_at, bytes_in_words, counted,
    folded, group, line, rounded, text_at,
};
use results::{InstructionCounts, RequestKind, RequestRecord, ServedWord, SourceLocation};
use std::collections::BTreeMap;
use svg::node::element::Element;

/// Requests that a picture has room for.
const MAX_REQUESTS: usize = 6;
/// A lane, a word of a line, a bank.
const CELL: f64 = (WIDTH - LABELS - 1.0) / 32.0;
/// The height of a row of cells.
const ROW: f64 = 10.0;
/// From one row to the next: of lines that follow each other, and of lines with others between.
const PITCH: f64 = 13.0;
const GAP: f64 = 6.0;

/// The requests of a kernel that are worth a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Requests {
    /// In the order of their source lines.
    pub shown: Vec<DrawnRequest>,
    /// Others that there is no room for.
    pub omitted: usize,
}

/// A request with its place in the source.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnRequest {
    /// The line in the kernel's file, if it is known.
    pub line: Option<u32>,
    /// That line's text.
    pub code: String,
    /// Instructions of the same line and shape, this one included.
    pub instructions: usize,
    /// The request.
    pub record: RequestRecord,
}

/// Key of a line's requests that look alike: kind, width, the lanes' distances from the first, sectors, wavefronts.
type Shape = (Option<u32>, RequestKind, u32, Vec<Option<u64>>, [u64; 2]);

impl Requests {
    /// Those of the instructions of a kernel whose file and its text are given; the file as the compiler names it, below
    /// the workspace. Of instructions of one line that look
    /// alike, as an unrolled loop has them, the first is taken.
    pub fn of<'a>(
        file: &str,
        source: &str,
        instructions: impl IntoIterator<Item = &'a InstructionCounts>,
    ) -> Requests {
        let mut distinct: BTreeMap<Shape, (u32, DrawnRequest)> = BTreeMap::new();
        for instruction in instructions {
            let line =
                instruction.source.as_ref().and_then(|location| line_in_file(location, file));
            for record in &instruction.requests {
                let first = record.lanes.iter().flatten().next().copied().unwrap_or(0);
                let lanes =
                    record.lanes.map(|lane| lane.map(|address| address.wrapping_sub(first)));
                let counts = [record.traffic.sectors, record.traffic.wavefronts];
                let shape = (line, record.kind, record.bytes, lanes.to_vec(), counts);
                let request = || {
                    let code = line.and_then(|line| source.lines().nth(line as usize - 1));
                    let code = code.unwrap_or_default().trim().to_owned();
                    let record = record.clone();
                    (instruction.ptx_line, DrawnRequest { line, code, instructions: 0, record })
                };
                distinct.entry(shape).or_insert_with(request).1.instructions += 1;
            }
        }
        let mut found: Vec<(u32, DrawnRequest)> = distinct.into_values().collect();
        found.sort_by_key(|(ptx_line, request)| {
            (request.line.unwrap_or(u32::MAX), request.record.kind, *ptx_line)
        });
        let all = found.len();
        if all > MAX_REQUESTS {
            // One of each line and kind says more than several of one line.
            found.dedup_by_key(|(_, request)| (request.line, request.record.kind));
            found.truncate(MAX_REQUESTS);
        }
        let shown: Vec<DrawnRequest> = found.into_iter().map(|(_, request)| request).collect();
        Requests { omitted: all - shown.len(), shown }
    }
}

/// The line of the kernel's file that an instruction comes from: that of the code itself, or of what it was inlined to.
/// The compiler gives line 0 to what it merged from several places.
fn line_in_file(location: &SourceLocation, file: &str) -> Option<u32> {
    let own = (location.file.as_str(), location.line);
    let is_known =
        |place: &(&str, u32)| std::path::Path::new(place.0).ends_with(file) && place.1 > 0;
    [own, location.outermost()].into_iter().find(is_known).map(|(_, line)| line)
}

/// Draws the requests of a kernel's first warp; `name` is that of the variant, `file` that of its source.
pub fn draw(name: &str, file: &str, requests: &Requests) -> String {
    draw_page(Page::new(format!("{name}: what one warp touches")), file, requests)
}

/// The same, with rows that look alike drawn once.
pub fn draw_folded(name: &str, file: &str, requests: &Requests) -> String {
    let page = Page::new(format!("{name}: what one warp touches"));
    draw_page(Page { is_folded: true, ..page }, file, requests)
}

/// The same, with row after row as the memory system takes them.
pub fn draw_moving(name: &str, file: &str, requests: &Requests) -> String {
    let page = Page::new(format!("{name}: what one warp touches"));
    draw_page(Page { is_folded: true, steps: Some(Vec::new()), ..page }, file, requests)
}

fn draw_page(mut page: Page, file: &str, requests: &Requests) -> String {
    if requests.shown.is_empty() {
        page.caption("The first warp asks nothing of global, shared or constant memory.");
        return page.finish();
    }
    for request in &requests.shown {
        draw_request(&mut page, file, request);
    }
    if requests.omitted > 0 {
        let verb = if requests.omitted == 1 { "is" } else { "are" };
        let more = counted(requests.omitted as u64, "more request");
        page.caption(&format!("{more} of this warp {verb} not shown."));
    }
    let kinds = requests.shown.iter().map(|request| picture_of(request.record.kind));
    let mut legend: Vec<&str> = kinds.map(Picture::legend).collect();
    legend.sort_unstable();
    legend.dedup();
    page.y += 4.0;
    page.put(line("rule", [2.0, page.y], [WIDTH - 2.0, page.y]));
    page.paragraph("caption", &format!("Colour: the lane. {}", legend.join(" ")), CHARACTERS);
    page.finish()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Picture {
    Sectors,
    Banks,
    Lanes,
    None,
}

impl Picture {
    fn legend(self) -> &'static str {
        match self {
            Picture::Sectors => {
                "Global memory: a row is a line of 128 bytes, with its distance from the first; a heavy outline is a \
                 sector of 32 bytes that is moved; dots stand for memory between."
            }
            Picture::Banks => {
                "Shared memory: a column is a bank, a row is a wavefront; a filled cell is a word that the wavefront delivers."
            }
            Picture::Lanes => {
                "Constant memory: a row is a wavefront with the lanes that it serves."
            }
            Picture::None => "",
        }
    }
}

fn picture_of(kind: RequestKind) -> Picture {
    match kind {
        RequestKind::GlobalLoad
        | RequestKind::GlobalStore
        | RequestKind::GlobalAtomic
        | RequestKind::AsyncCopySource => Picture::Sectors,
        RequestKind::SharedLoad
        | RequestKind::SharedStore
        | RequestKind::SharedAtomic
        | RequestKind::AsyncCopyTarget => Picture::Banks,
        RequestKind::ConstantLoad => Picture::Lanes,
        RequestKind::BulkCopy => Picture::None,
    }
}

fn draw_request(page: &mut Page, file: &str, request: &DrawnRequest) {
    let record = &request.record;
    let name = file.rsplit('/').next().unwrap_or(file);
    let place = request.line.map_or_else(String::new, |line| format!(", {name}:{line}"));
    let head = format!("{}{place}", kind_in_words(record.kind));
    page.y += 6.0;
    page.put(line("rule", [2.0, page.y], [WIDTH - 2.0, page.y]));
    page.y += 2.0;
    page.described.push(format!("{head}: {}", request.code));
    page.paragraph("head", &head, HEAD_CHARACTERS);
    if !request.code.is_empty() {
        page.paragraph("code", &request.code, CHARACTERS);
    }
    let mut body = Vec::new();
    let picture = picture_of(record.kind);
    if picture != Picture::None {
        lane_row(page, record, &mut body);
    }
    match picture {
        Picture::Sectors => draw_sectors(page, record, &mut body),
        Picture::Banks => draw_banks(page, record, &mut body),
        Picture::Lanes => draw_served_lanes(page, record, &mut body),
        Picture::None => {}
    }
    page.put(group("request", body));
    let alike = match request.instructions {
        1 => String::new(),
        more => format!(" {more} instructions of this line are alike."),
    };
    page.caption(&format!("{}{alike}", caption(record)));
}

fn kind_in_words(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::GlobalLoad => "Load from global memory",
        RequestKind::GlobalStore => "Store to global memory",
        RequestKind::GlobalAtomic => "Atomic on global memory",
        RequestKind::AsyncCopySource => "Asynchronous copy, from global memory",
        RequestKind::AsyncCopyTarget => "Asynchronous copy, to shared memory",
        RequestKind::BulkCopy => "Bulk copy",
        RequestKind::SharedLoad => "Load from shared memory",
        RequestKind::SharedStore => "Store to shared memory",
        RequestKind::SharedAtomic => "Atomic on shared memory",
        RequestKind::ConstantLoad => "Load from constant memory",
    }
}

/// The x of a lane, a bank, or a word of a line.
fn column(index: f64) -> f64 {
    LABELS + index * CELL
}

/// The warp's lanes in their colours, those that take no part hollow.
fn lane_row(page: &mut Page, record: &RequestRecord, body: &mut Vec<Element>) {
    numbers(page, body);
    body.push(text_at("label", LABELS - 4.0, page.y + 8.0, "lane"));
    for (lane, address) in record.lanes.iter().enumerate() {
        let class = match address {
            Some(_) => format!("lane l{lane}"),
            None => "idle".to_owned(),
        };
        let place = [column(lane as f64) + 0.4, page.y, CELL - 0.8, ROW];
        body.push(box_at(&class, place).into());
    }
    page.y += ROW + 7.0;
}

/// Every fourth number above the columns.
fn numbers(page: &mut Page, body: &mut Vec<Element>) {
    page.y += 9.0;
    for index in (0..32).step_by(4).chain([31]) {
        let x = column(f64::from(index) + 0.5);
        body.push(text_at("mark", x, page.y - 1.0, &index.to_string()));
    }
    page.y += 2.0;
}

/// The lines that are touched, with their sectors and what each lane wants of them.
fn draw_sectors(page: &mut Page, record: &RequestRecord, body: &mut Vec<Element>) {
    let sectors = record.sectors();
    let mut sharing: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (lane, address) in record.lanes.iter().enumerate() {
        if let Some(address) = address {
            sharing.entry(*address).or_default().push(lane);
        }
    }
    let mut lines: Vec<u64> = sectors.iter().map(|sector| sector / 4).collect();
    lines.dedup();
    let first = lines.first().copied().unwrap_or(0);
    // How far a line is from the one before, what is wanted of it, and by how many lanes.
    let looks = lines.iter().enumerate().map(|(index, number)| {
        let wanted = sharing.range(number * 128..(number + 1) * 128);
        let wanted = wanted.map(|(address, lanes)| (address % 128, lanes.len()));
        let distance = index.checked_sub(1).map_or(1, |before| number - lines[before]);
        (distance.min(2), wanted.collect::<Vec<_>>())
    });
    let looks: Vec<_> = looks.collect();
    let mut before = first;
    for row in folded(&looks, page.is_folded) {
        match row {
            Folded::Row(index) => {
                let number = lines[index];
                let mut row = Vec::new();
                if number > before + 1 {
                    let y = page.y - (PITCH - ROW) + GAP / 2.0;
                    row.push(line("gap", [LABELS, y], [WIDTH - 1.0, y]));
                    page.y += GAP;
                }
                before = number;
                let offset = format!("+{}", bytes_in_words((number - first) * 128));
                row.push(text_at("label", LABELS - 4.0, page.y + 8.0, &offset));
                draw_line(page, record, &sharing, &sectors, number, &mut row);
                body.extend(page.step(1, row));
            }
            Folded::Alike(count) => {
                page.alike(count);
                before = lines.last().copied().unwrap_or(first);
            }
        }
    }
}

/// A line of global memory: what lanes want of it, and its sectors.
fn draw_line(
    page: &mut Page,
    record: &RequestRecord,
    sharing: &BTreeMap<u64, Vec<usize>>,
    sectors: &[u64],
    number: u64,
    body: &mut Vec<Element>,
) {
    for (address, lanes) in sharing.range(number * 128..(number + 1) * 128) {
        let x = column((address % 128) as f64 / 4.0);
        let width = f64::from(record.bytes) / 4.0 * CELL;
        // Lanes that want the same place share its height.
        let height = ROW / lanes.len() as f64;
        for (index, lane) in lanes.iter().enumerate() {
            let place = [x, page.y + index as f64 * height, width, height];
            body.push(box_at(&format!("word l{lane}"), place).into());
        }
        if let [lane] = lanes[..]
            && record.bytes >= 8
        {
            let x = x + width / 2.0;
            body.push(text_at("inside", x, page.y + 7.7, &lane.to_string()));
        }
    }
    // Outlines come last, so that nothing covers them; those that are moved above those that are not.
    let is_touched = |sector: &u64| sectors.binary_search(sector).is_ok();
    let (moved, idle): (Vec<u64>, Vec<u64>) = (number * 4..number * 4 + 4).partition(is_touched);
    for (class, sectors) in [("idle", idle), ("sector", moved)] {
        for sector in sectors {
            let place = [column((sector % 4 * 8) as f64), page.y, 8.0 * CELL, ROW];
            body.push(box_at(class, place).into());
        }
    }
    page.y += PITCH;
}

/// The bank whose words need most wavefronts, with those words.
fn fullest_bank(wavefronts: &[Vec<ServedWord>]) -> Option<(u32, Vec<u64>)> {
    let mut banks: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for word in wavefronts.iter().flatten() {
        banks.entry(word.bank()).or_default().push(word.index);
    }
    let most = banks.values().map(Vec::len).max()?;
    banks.into_iter().find(|(_, words)| words.len() == most)
}

/// The banks, with what each pass serves.
fn draw_banks(page: &mut Page, record: &RequestRecord, body: &mut Vec<Element>) {
    body.push(text_at("label", LABELS - 4.0, page.y + 7.0, "bank"));
    numbers(page, body);
    let top = page.y;
    draw_passes(page, record, body);
    if record.traffic.wavefronts > record.traffic.wavefronts_ideal
        && let Some((bank, _)) = fullest_bank(&record.wavefronts)
    {
        let place = [column(f64::from(bank)) - 0.9, top - 1.2, CELL + 1.8, page.y - top - 0.6];
        body.push(box_at("full", place).into());
    }
}

/// The lanes that each pass serves.
fn draw_served_lanes(page: &mut Page, record: &RequestRecord, body: &mut Vec<Element>) {
    for (index, pass) in record.wavefronts.iter().enumerate() {
        let mut row = pass_row(page, index);
        for lane in pass.iter().flat_map(|word| lanes_of(word.lanes)) {
            let place = [column(lane as f64) + 0.4, page.y, CELL - 0.8, ROW];
            row.push(box_at(&format!("word l{lane}"), place).into());
        }
        body.extend(page.step(1, row));
        page.y += PITCH;
    }
}

/// Each pass with the words that it serves, in their banks.
fn draw_passes(page: &mut Page, record: &RequestRecord, body: &mut Vec<Element>) {
    let looks = record.wavefronts.iter().map(|pass| {
        pass.iter().map(|word| (word.bank(), word.lanes.count_ones())).collect::<Vec<_>>()
    });
    for row in folded(&looks.collect::<Vec<_>>(), page.is_folded) {
        let index = match row {
            Folded::Row(index) => index,
            Folded::Alike(count) => {
                page.alike(count);
                continue;
            }
        };
        let mut row = pass_row(page, index);
        for word in &record.wavefronts[index] {
            let lanes: Vec<usize> = lanes_of(word.lanes).collect();
            let height = ROW / lanes.len() as f64;
            for (index, lane) in lanes.iter().enumerate() {
                let x = column(f64::from(word.bank()));
                let place = [x + 0.4, page.y + index as f64 * height, CELL - 0.8, height];
                row.push(box_at(&format!("word l{lane}"), place).into());
            }
        }
        body.extend(page.step(1, row));
        page.y += PITCH;
    }
}

/// The label and the ground of a pass.
fn pass_row(page: &Page, index: usize) -> Vec<Element> {
    let label = format!("wavefront {}", index + 1);
    let ground = box_at("idle pass", [LABELS, page.y, 32.0 * CELL, ROW]);
    vec![text_at("label", LABELS - 4.0, page.y + 8.0, &label), ground.into()]
}

fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| mask >> lane & 1 != 0)
}

/// Returns what the picture shows, in words.
fn caption(record: &RequestRecord) -> String {
    let traffic = &record.traffic;
    let lanes = counted(traffic.lanes, "lane");
    let each = if traffic.lanes == 1 { "" } else { " each" };
    let asked = format!("{lanes}, {}{each}", counted(u64::from(record.bytes), "byte"));
    let sectors = counted(traffic.sectors, "sector");
    let moved = traffic.sectors * 32;
    match picture_of(record.kind) {
        Picture::None => {
            let (bytes, lines) = (record.bytes, counted(traffic.lines, "line"));
            format!("{lanes} has {bytes} bytes copied at once: {sectors}, {lines}.")
        }
        Picture::Lanes => {
            let words = counted(record.wavefronts.len() as u64, "different word");
            format!("{lanes} for {words}: {}.", counted(traffic.wavefronts, "wavefront"))
        }
        Picture::Sectors => {
            let distinct = traffic.bytes_distinct;
            let asked = if distinct == traffic.bytes {
                format!("{asked}, {distinct} bytes requested")
            } else {
                format!("{asked}, {distinct} different bytes requested")
            };
            let share = rounded(100.0 * traffic.efficiency().unwrap_or_default());
            let again = if traffic.sector_updates > traffic.sectors {
                let wavefronts = traffic.sector_updates;
                format!(
                    " Lanes that update one address do so one after the other: {wavefronts} sector accesses."
                )
            } else {
                String::new()
            };
            format!("{asked}, {sectors} = {moved} bytes moved: {share} %.{again}")
        }
        Picture::Banks => {
            let wavefronts = counted(traffic.wavefronts, "wavefront");
            let conflict = match fullest_bank(&record.wavefronts) {
                Some((bank, words)) if traffic.wavefronts > traffic.wavefronts_ideal => {
                    crowd(bank, words)
                }
                _ if traffic.wavefronts_ideal > 1 => {
                    "no bank conflict: the bytes alone need as many".to_owned()
                }
                _ => "no bank conflict".to_owned(),
            };
            format!("{asked}, {wavefronts}: {conflict}.")
        }
    }
}

/// Returns what makes a bank the fullest one.
fn crowd(bank: u32, mut words: Vec<u64>) -> String {
    let wanted = words.len();
    words.sort_unstable();
    words.dedup();
    if let [word] = words[..] {
        return format!("{wanted} lanes change word {word} of bank {bank}, one after the other");
    }
    let name = |word: &u64| word.to_string();
    let list = match &words[..] {
        [one, other] => format!("{one} and {other}"),
        [few @ .., last] if few.len() < 5 => {
            format!("{} and {last}", few.iter().map(name).collect::<Vec<_>>().join(", "))
        }
        all => {
            let first = all[..3].iter().map(name).collect::<Vec<_>>().join(", ");
            format!("{first} and {} more", all.len() - 3)
        }
    };
    format!("words {list} are in bank {bank}")
}

#[cfg(test)]
#[path = "access_tests.rs"]
mod tests;

//! Views of the report: what comes first, its size, and its neighbours.

use super::*;
use results::{Interval, OperationKind, Origin, Timeline};

/// The largest page, as it travels.
const MAX_COMPRESSED: u64 = 300_000;

#[test]
fn pages_are_small() {
    for (name, page) in committed_texts() {
        let mut compressed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut compressed, page.as_bytes()).expect("memory takes it");
        let bytes = compressed.finish().expect("memory takes it").len() as u64;
        assert!(bytes < MAX_COMPRESSED, "{name} has {bytes} bytes when it is compressed");
    }
}

#[test]
fn the_evidence_comes_before_the_lesson_and_steps_show_what_changed() {
    let pages = committed_report();
    let page = pages["transpose.html"].html();
    let at = |part: &str| page.find(part).unwrap_or_else(|| panic!("no {part}"));
    assert!(at("times as fast as") < at("plot-transpose-ladder"), "the verdict is first");
    assert!(at("plot-transpose-ladder") < at("id=\"lesson\""), "the chart is above the essay");
    let step = select(&pages["transpose.html"], "#step-padded")[0];
    let words = text(step);
    for part in ["x as fast", "shared load wavefronts / request", "0.031 x"] {
        assert!(words.contains(part), "{part}: {words}");
    }
    assert!(!inside(step, "td.gone del").is_empty() && !inside(step, "td.new ins").is_empty());
    let hot = text(select(&pages["transpose.html"], "#variant-tiled .hot tbody tr")[0]);
    assert!(hot.contains("*tile.add(word(x, tile_column) as usize)"), "{hot}");
}

#[test]
fn sources_have_links_only_where_a_repository_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let small = [changed(folder.path(), "small.json", |results| results.rows.truncate(3))];
    let page = |repository: Option<&str>| {
        let output = folder.path().join("report");
        let options = report::Options { machine_code: None, repository };
        report::write(&small, host::CATALOGUE.renamed, Some(counts()), &options, &output)
            .expect("a report");
        std::fs::read_to_string(output.join("coalescing.html")).expect("a page")
    };
    assert!(!page(None).contains("/blob/"));
    let commit = counts().commit;
    let link = format!("https://example.org/a/b/blob/{commit}/kernels/src/global/coalescing.rs");
    assert_eq!(
        page(Some("https://example.org/a/b")).contains(&link),
        commit != "unknown",
        "{link}"
    );
}

#[test]
fn two_measurements_have_a_page_of_what_changed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let slower = changed(folder.path(), "after.json", |results| {
        let row = results.rows.iter_mut().find(|row| row.name() == "transpose/tiled");
        let row = row.expect("it is measured");
        row.resources.as_mut().expect("a kernel").registers += 10;
        let RowOutcome::Measured(measured) = &mut row.outcome else { panic!("it is measured") };
        measured.time_ms = measured.time_ms.scaled(1.5);
    });
    let pages = report(&[committed(), slower]);
    let page = &pages["before_after.html"];
    let rows = select(page, "#changed ~ .scroll tr.slower");
    let names: BTreeSet<_> = rows.iter().map(|row| text(inside(*row, "th")[0])).collect();
    assert_eq!(names, BTreeSet::from(["transpose/tiled".to_owned()]));
    assert!(text(select(page, "main")[0]).contains("1 slower"));
    let counted = text(select(page, "#counters ~ .scroll")[0]);
    assert!(counted.contains("registers:"), "{counted}");
    let index = &pages["index.html"];
    assert_eq!(select(index, "main a[href=\"before_after.html\"]").len(), 1);
}

/// A row of the host's work with what ran when on its GPU has the picture; there is none of others.
#[test]
fn measured_timelines_are_shown() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let is_it = |row: &Row| row.name() == "graphs/recorded_once" && row.sweep.is_none();
    let graph = |start_us| Interval {
        kind: OperationKind::Graph,
        stream: Some(0),
        start_us,
        end_us: start_us + 5.0,
    };
    let file = changed(folder.path(), "timeline.json", |results| {
        results.rows.retain(|row| row.pattern == "graphs");
        for row in &mut results.rows {
            row.timeline = is_it(row).then(|| Timeline {
                device: "Some GPU".to_owned(),
                origin: Origin::Measured,
                length_us: 20.0,
                intervals: vec![graph(0.0), graph(10.0)],
            });
        }
    });
    let pages = report(&[file]);
    let shown = |variant: &str| {
        let details = select(&pages["graphs.html"], &format!("#variant-{variant} svg desc"));
        details.into_iter().map(text).filter(|text| text.contains("Some GPU")).collect::<Vec<_>>()
    };
    let [picture] = &shown("recorded_once")[..] else { panic!("one picture of the GPU") };
    let told = "20 µs between the first and the last event, kernels busy 10 µs (50 %)";
    assert!(picture.contains(told), "{picture}");
    assert!(shown("one_by_one").is_empty());
}

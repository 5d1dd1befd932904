//! Pictures of every variant, read back: what they show is what was counted.

use crate::executor::{device, kernels};
use coalesce::pattern::{Size, Variant};
use coalesce::timeline::record;
use host::patterns::ALL as PATTERNS;
use report::picture::access::Requests;
use report::picture::{access, timeline};
use results::RequestKind;
use results::{Engine, Interval};
use roxmltree::{Document, Node};

fn parsed(text: &str) -> Document<'_> {
    Document::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns whether an element has a class.
fn is(node: &Node<'_, '_>, class: &str) -> bool {
    node.attribute("class").is_some_and(|classes| classes.split(' ').any(|one| one == class))
}

fn elements<'a, 'input>(
    node: Node<'a, 'input>,
    class: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    node.descendants().filter(move |node| is(node, class))
}

fn count_of(node: Node<'_, '_>, class: &'static str) -> u64 {
    elements(node, class).count() as u64
}

fn number(node: &Node<'_, '_>, attribute: &str) -> f64 {
    let text = node.attribute(attribute).unwrap_or_else(|| panic!("no {attribute}: {node:?}"));
    text.parse().unwrap_or_else(|error| panic!("{attribute} = {text}: {error}"))
}

/// Returns what every picture has: a text alternative, a view box that holds all of it, and nothing from elsewhere.
fn assert_is_whole(name: &str, document: &Document<'_>) {
    let root = document.root_element();
    let view: Vec<f64> = root
        .attribute("viewBox")
        .expect("a picture has a view box")
        .split(' ')
        .map(|number| number.parse().expect("a number"))
        .collect();
    let [0.0, 0.0, width, height] = view[..] else { panic!("{name}: {view:?}") };
    assert!(width <= 720.0, "{name}");
    let text_of = |tag: &str| {
        let found = root.children().find(|node| node.has_tag_name(tag));
        found.and_then(|node| node.text()).unwrap_or_default().trim().to_owned()
    };
    assert!(text_of("title").starts_with(name), "{name}: {}", text_of("title"));
    assert!(text_of("desc").len() > 30, "{name}: {}", text_of("desc"));
    for node in root.descendants().filter(Node::is_element) {
        for attribute in ["href", "src", "style", "id"] {
            assert!(!node.has_attribute(attribute), "{name}: {node:?}");
        }
        if node.has_tag_name("rect") {
            let [x, y, w, h] = ["x", "y", "width", "height"].map(|key| number(&node, key));
            assert!(x >= 0.0 && y >= 0.0 && w > 0.0 && h > 0.0, "{name}: {node:?}");
            assert!(x + w <= width + 0.1 && y + h <= height + 0.1, "{name}: {node:?}");
        }
        if node.has_tag_name("text") {
            let letters = node.text().unwrap_or_default().trim().chars().count() as f64;
            assert!(number(&node, "y") < height, "{name}: {node:?}");
            // The mean letter of a wide common font, in units.
            for (class, letter) in [("title", 6.9), ("head", 6.2), ("code", 5.3), ("caption", 5.4)]
            {
                let right = number(&node, "x") + letters * letter;
                assert!(!is(&node, class) || right <= width, "{name}: {:?}", node.text());
            }
        }
    }
}

#[test]
fn sectors_and_passes_of_every_kernel_are_those_that_were_counted() {
    let (mut all, mut without_line) = (0, 0);
    for (pattern, kernels) in kernels().iter().filter(|(pattern, _)| !pattern.is_host_work()) {
        let file = pattern.kernel_file();
        for (variant, counted) in kernels {
            let name = format!("{}/{}", pattern.name, variant.name);
            let requests = Requests::of(&file, pattern.doc_source, counted.instructions.values());
            assert!(!requests.shown.is_empty(), "{name} has no request");
            let text = access::draw(&name, &file, &requests);
            let document = parsed(&text);
            assert_is_whole(&name, &document);
            let groups: Vec<Node<'_, '_>> = elements(document.root_element(), "request").collect();
            assert_eq!(groups.len(), requests.shown.len(), "{name}");
            for (group, request) in groups.iter().zip(&requests.shown) {
                let traffic = &request.record.traffic;
                let name = format!("{name}, line {:?}, {:?}", request.line, request.record.kind);
                assert_eq!(request.line.is_some(), !request.code.is_empty(), "{name}");
                all += 1;
                without_line += u32::from(request.line.is_none());
                let (lanes, sectors, wavefronts) = match request.record.kind {
                    RequestKind::BulkCopy => (0, 0, 0),
                    RequestKind::GlobalAtomic => (traffic.lanes, traffic.sectors, 0),
                    _ => (traffic.lanes, traffic.sectors, traffic.wavefronts),
                };
                assert_eq!(count_of(*group, "lane"), lanes, "{name}");
                assert_eq!(count_of(*group, "sector"), sectors, "{name}");
                assert_eq!(count_of(*group, "pass"), wavefronts, "{name}");
                assert!(count_of(*group, "word") >= lanes, "{name}");
                let is_crowded = traffic.wavefronts > traffic.wavefronts_ideal;
                let marks = u64::from(is_crowded && count_of(*group, "pass") > 0);
                let constant = request.record.kind == RequestKind::ConstantLoad;
                assert_eq!(count_of(*group, "full"), if constant { 0 } else { marks }, "{name}");
            }
        }
    }
    // The compiler knows no line of what it merged from several.
    println!("{all} requests, {without_line} without a source line");
    assert!(20 * without_line < all, "{without_line} of {all} requests have no source line");
}

/// The picture of the README, from its root.
const MOVING: &str = "docs/pictures/transpose_tiled.svg";

#[test]
fn a_moving_picture_shows_each_row_for_its_time_and_the_readme_has_it() {
    let (pattern, variants) = kernels()
        .iter()
        .find(|(pattern, _)| pattern.name == "transpose")
        .expect("the catalogue has a transpose");
    let (_, counted) =
        variants.iter().find(|(variant, _)| variant.name == "tiled").expect("it has a tile");
    let requests =
        Requests::of(&pattern.kernel_file(), pattern.doc_source, counted.instructions.values());
    let drawn = access::draw_moving("transpose/tiled", &pattern.kernel_file(), &requests);
    let document = parsed(&drawn);
    assert_is_whole("transpose/tiled", &document);
    let steps = elements(document.root_element(), "step").count();
    // A line of global memory and a wavefront each, but of 32 wavefronts three and how many more there are.
    assert_eq!(steps, 1 + 1 + 1 + 4);
    let begins = drawn.lines().filter_map(|line| {
        let (_, from) = line.strip_prefix("@keyframes")?.split_once("{opacity:0}")?;
        from.split_once('%')?.0.parse::<f64>().ok()
    });
    let begins: Vec<f64> = begins.collect();
    assert_eq!(begins.len(), steps);
    let lasts: Vec<f64> = begins.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let longest = lasts.iter().copied().fold(0.0, f64::max);
    assert!((longest / lasts[0] - 29.0).abs() < 0.1, "29 wavefronts are one step: {begins:?}");
    let file = crate::kernels_source::root().join(MOVING);
    if std::env::var_os("COALESCE_BLESS").is_some() {
        std::fs::write(&file, &drawn).expect("the folder is there");
    }
    let stale = "is stale: `coalesce explain transpose/tiled --svg docs/pictures --moving`";
    assert!(std::fs::read_to_string(&file).is_ok_and(|text| text == drawn), "{MOVING} {stale}");
}

/// Returns what is wrong with two neighbours of one row, each from a start to an end.
fn overlaps(mut spans: Vec<[f64; 2]>, slack: f64) -> Option<[[f64; 2]; 2]> {
    spans.sort_by(|one, other| one[0].total_cmp(&other[0]));
    spans.windows(2).map(|pair| [pair[0], pair[1]]).find(|[one, next]| next[0] < one[1] - slack)
}

#[test]
fn timelines_of_the_host_end_with_their_event_and_no_engine_does_two_things_at_once() {
    let (_guard, gpu) = device();
    for pattern in PATTERNS.iter().filter(|pattern| pattern.is_host_work()) {
        let size = Size::new(pattern.verify_sizes.last().expect("a pattern has sizes"));
        let can_run = |variant: &&Variant| {
            coalesce::verify::unsupported_reason(&gpu, variant, &size).is_none()
        };
        let variants = pattern.variants.iter().filter(can_run);
        for (variant, drawn, elapsed_ms) in
            record(&gpu, pattern, variants, &size).expect("they run")
        {
            let name = format!("{}/{}", pattern.name, variant.name);
            // The driver's answer is a 32-bit float of milliseconds.
            let difference = (drawn.length_us / 1e3 - elapsed_ms).abs();
            assert!(difference <= 1e-7 * elapsed_ms, "{name}: {} us", drawn.length_us);
            assert!(!drawn.intervals.is_empty(), "{name}");
            let is_inside = |one: &Interval| {
                0.0 <= one.start_us && one.start_us <= one.end_us && one.end_us <= drawn.length_us
            };
            assert!(drawn.intervals.iter().all(is_inside), "{name}: {:?}", drawn.intervals);
            for engine in [Engine::Host, Engine::HostToDevice, Engine::DeviceToHost] {
                let of_engine = drawn.intervals.iter().filter(|i| i.kind.engine() == Some(engine));
                let spans = of_engine.map(|one| [one.start_us, one.end_us]).collect();
                assert_eq!(overlaps(spans, 1e-6), None, "{name}: {engine:?}");
            }
            let text = timeline::draw(&name, &drawn);
            let document = parsed(&text);
            assert_is_whole(&name, &document);
            let mut boxes = 0.0;
            let whole = elements(document.root_element(), "whole").next().expect("a panel");
            for row in elements(whole, "row") {
                let span = |node: Node<'_, '_>| {
                    let x = number(&node, "x");
                    [x, x + number(&node, "width")]
                };
                let spans = elements(row, "box").map(span).collect();
                // A moment is drawn 0.4 units wide.
                assert_eq!(overlaps(spans, 0.5), None, "{name}: {:?}", row.attribute("data-row"));
                boxes += elements(row, "box").map(|node| number(&node, "data-count")).sum::<f64>();
            }
            let places = |one: &Interval| {
                usize::from(one.stream.is_some()) + usize::from(one.kind.engine().is_some())
            };
            let expected: usize = drawn.intervals.iter().map(places).sum();
            assert_eq!(boxes, expected as f64, "{name}");
        }
    }
}

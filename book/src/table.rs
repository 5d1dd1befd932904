use crate::figure::{COUNTS, Count, count};
use crate::sources::Sources;
use anyhow::{Context, Result};
use maud::{Markup, PreEscaped, html};
use report::glossary::anchor;
use report::page::{cell, headers, number, table, time};
use report::{glossary, markdown, picture};
use results::{Accuracy, CountedVariant};

/// The ladder of a pattern, or some variants of it: what changed, counts, and the measured time. Words with an
/// underscore that are counts choose the columns; without any, those that differ between the variants.
pub fn ladder(sources: &Sources, pattern: &str, words: &[&str]) -> Result<Markup> {
    let pattern = sources.pattern(pattern)?;
    let (columns, names): (Vec<&&str>, Vec<&&str>) =
        words.iter().partition(|word| COUNTS.iter().any(|count| count.name == **word));
    let variants: Vec<&CountedVariant> = if names.is_empty() {
        pattern.variants.iter().collect()
    } else {
        let find = |name: &&str| Ok(sources.variant(&format!("{}/{name}", pattern.name))?.1);
        names.into_iter().map(find).collect::<Result<_>>()?
    };
    let columns = if columns.is_empty() {
        let differs = |one: &&Count| {
            let values: Vec<_> =
                variants.iter().map(|variant| (one.of)(&variant.counters)).collect();
            let is_main =
                !["load_requests", "lanes_per_instruction", "barriers", "store_efficiency"]
                    .contains(&one.name);
            is_main && values.iter().any(|value| *value != values[0])
        };
        COUNTS.iter().filter(differs).take(4).collect()
    } else {
        columns.into_iter().map(|name| count(name)).collect::<Result<Vec<_>>>()?
    };
    let name = |variant: &CountedVariant| format!("{}/{}", pattern.name, variant.name);
    let measured = |variant: &CountedVariant| {
        let row = sources.row(&name(variant)).ok();
        row.and_then(|row| row.measured())
    };
    let header = html! {
        th scope="col" { "variant" }
        th scope="col" { "what changes" }
        (headers(&columns.iter().map(|column| column.words).collect::<Vec<_>>()))
        th scope="col" { "time, ms" }
        th scope="col" { "of peak, %" }
    };
    let body = html! {
        @for variant in &variants {
            tr {
                th scope="row" { (variant.name) }
                td.words { (markdown::sentence(&variant.summary)) }
                @for column in &columns { (number((column.of)(&variant.counters))) }
                (time(measured(variant).map(|one| one.time_ms.median)))
                (cell(measured(variant).and_then(|one| one.minimum_time).map(|one| one.percent), |share| format!("{share:.0}")))
            }
        }
    };
    let caption = format!(
        "{}: counts at {}, by the executor; times on {}",
        pattern.name,
        pattern.size,
        sources.device()
    );
    Ok(table(&caption, &header, &body))
}

/// The sections of `docs/myths.md`: the claim, and what refutes it.
fn sections(text: &str) -> Vec<(&str, &str)> {
    let sections = text.split("\n## ").skip(1);
    sections.filter_map(|section| section.split_once('\n')).collect()
}

/// The page of a myth.
fn file(claim: &str) -> String {
    format!("myth-{}.html", anchor(claim))
}

fn body(text: &str) -> Markup {
    markdown::body(&text.replace("(glossary.md)", &format!("({})", glossary::PAGE)))
}

pub fn myth(sources: &Sources, claim: &str) -> Result<Markup> {
    let found = sections(&sources.counts.myths).into_iter().find(|(title, _)| *title == claim);
    let (title, text) = found.with_context(|| format!("docs/myths.md has no myth `{claim}`"))?;
    Ok(html! {
        details.myth {
            summary { "Myth: " (markdown::sentence(title)) }
            div.prose { (body(text)) }
            p { a href=(file(title)) { "This myth on a page of its own" } }
        }
    })
}

/// Links to the pages of all myths.
pub fn myths(sources: &Sources) -> Markup {
    html! {
        ol.myths {
            @for (title, _) in sections(&sources.counts.myths) {
                li { a href=(file(title)) { (markdown::sentence(title)) } }
            }
        }
    }
}

/// A myth: its claim, its file, and its page's content.
pub struct MythPage {
    pub claim: String,
    pub file: String,
    pub content: Markup,
}

/// A page for each myth: the claim, the picture of the variant that refutes it, and the figures.
pub fn myth_pages(sources: &Sources) -> Vec<MythPage> {
    let pages = sections(&sources.counts.myths).into_iter().map(|(claim, text)| {
        let variants = text.lines().filter(|line| line.starts_with('|'));
        let variants = variants.flat_map(|line| line.split('`').skip(1).step_by(2));
        let pictures = variants.filter_map(|name| {
            let (pattern, variant) = sources.variant(name).ok()?;
            picture::of(pattern, variant)
        });
        let content = html! {
            p.kind { "A myth about GPU memory" }
            h1 { "“" (markdown::sentence(claim)) "”" }
            div.prose { (body(text)) }
            @if let Some(picture) = pictures.into_iter().next() {
                figure.scroll tabindex="0" { (PreEscaped(picture)) }
            }
            p.origin { "Times were measured on one " (sources.device()) "; counts come from executing the kernels." }
        };
        MythPage { claim: claim.to_owned(), file: file(claim), content }
    });
    pages.collect()
}

/// Every counter of the executor beside Nsight Compute's name for it.
pub fn counters() -> Markup {
    let trust = |trust: &counters::Trust| match trust {
        counters::Trust::Exact => "exact",
        counters::Trust::ExactAtPtxLevel => "exact for the PTX",
        counters::Trust::Model => "a model",
    };
    let header = headers(&["counter", "in Nsight Compute", "how far to trust it"]);
    let body = html! {
        @for (name, ncu, trusted) in counters::COUNTERS {
            tr {
                th scope="row" { code { (name) } }
                td.words { @for (index, name) in ncu.split(", ").enumerate() { @if index > 0 { br; } code.long { (name) } } }
                td { (trust(trusted)) }
            }
        }
    };
    table("The executor's counters", &header, &body)
}

/// Returns what the model of time is known to get wrong, as its page lists it.
pub fn wrong(sources: &Sources) -> Result<Markup> {
    let (_, after) = sources
        .model
        .split_once("Predictions are known to be wrong here:\n")
        .context("crates/gpu_model/MODEL.md no longer lists what predictions get wrong")?;
    let items: Vec<&str> =
        after.trim_start().lines().take_while(|line| line.starts_with("- ")).collect();
    Ok(html! { div.prose { (markdown::body(&items.join("\n"))) } })
}

/// The predictions that are farthest from the measurement.
pub fn accuracy(sources: &Sources) -> Result<Markup> {
    const SHOWN: usize = 20;
    let accuracy = Accuracy::parse(&sources.accuracy)?;
    let mut rows: Vec<(&String, &f64)> = accuracy.ratios.iter().collect();
    rows.sort_by(|a, b| b.1.ln().abs().total_cmp(&a.1.ln().abs()));
    let header = headers(&["variant", "predicted / measured"]);
    let body = html! {
        @for (name, ratio) in rows.iter().take(SHOWN) {
            tr { th scope="row" { (name) } (cell(Some(**ratio), |ratio| format!("{ratio:.2}"))) }
        }
    };
    let caption = format!(
        "The worst predictions of {}, of {} that were compared",
        accuracy.device,
        rows.len()
    );
    Ok(table(&caption, &header, &body))
}

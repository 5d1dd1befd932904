//! Widgets: a few sliders over states that the executor computed when the book was built.
//!
//! Each has three parts: states that are drawn without a script and in print, data in attributes, and a box in which
//! the script of the page draws. The script looks counts up; it computes none.

mod access;
mod kernel;
mod limits;
mod parts;
mod pieces;

use crate::sources::Sources;
use anyhow::{Context, Result, bail};
use maud::{Markup, PreEscaped, html};
use parts::{Control, Widget};
use report::picture;

/// The widget of a name.
///
/// # Errors
/// There is none, or the executor does not say what the widget draws.
pub fn widget(sources: &Sources, name: &str) -> Result<Markup> {
    let widget = match name {
        "lanes" => access::lanes()?,
        "banks" => access::banks()?,
        "tile" => access::tile()?,
        "reduction" => kernel::reduction()?,
        "timeline" => timeline(sources)?,
        "pieces" => pieces::pieces()?,
        "occupancy" => limits::occupancy()?,
        "roofline" => limits::roofline(sources)?,
        _ => bail!("there is no widget `{name}`"),
    };
    Ok(html_of(&widget))
}

fn html_of(widget: &Widget) -> Markup {
    let data: String = widget
        .data
        .iter()
        .map(|(name, value)| format!(" data-{name}=\"{}\"", escaped(value)))
        .collect();
    let open =
        format!("<div class=\"widget\" id=\"widget-{0}\" data-widget=\"{0}\"{data}>", widget.name);
    html! {
        (PreEscaped(open))
        h3 { (widget.title) }
        p { (widget.about) }
        div.controls hidden {
            @for control in &widget.controls {
                @match control {
                    Control::Range(name, label, [low, high, step, at]) => label {
                        (label) ": " output { (at) }
                        input type="range" name=(name) min=(low) max=(high) step=(step) value=(at);
                    },
                    Control::Choice(name, label, choices) => label {
                        (label) " "
                        select name=(name) {
                            @for (index, choice) in choices.iter().enumerate() { option value=(index) { (choice) } }
                        }
                    },
                }
            }
        }
        p.said aria-live="polite" {}
        div.drawing.scroll tabindex="0" {}
        div.states { (widget.states) }
        (PreEscaped("</div>"))
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

/// The timelines of some ways to overlap; the script shows one at a time.
fn timeline(sources: &Sources) -> Result<Widget> {
    const SHOWN: [&str; 6] =
        ["serial", "one_stream", "two_engines", "depth_first", "breadth_first", "default_stream"];
    let mut figures = Vec::new();
    let mut choices = Vec::new();
    for name in SHOWN {
        let (pattern, variant) = sources.variant(&format!("overlap/{name}"))?;
        let timeline = variant.timeline.as_ref();
        let timeline = timeline.with_context(|| format!("overlap/{name} has no timeline"))?;
        let svg = picture::of(pattern, variant).context("a timeline has a picture")?;
        let said =
            format!("{}, {:.0} µs by the model: {}.", name, timeline.length_us, variant.summary);
        figures.push((svg, said));
        choices.push(name.to_owned());
    }
    Ok(Widget {
        name: "timeline",
        title: "What runs when",
        about: "One job, six ways to enqueue it: copies to the device, a kernel for each piece, copies back.",
        controls: vec![Control::Choice("variant", "way", choices)],
        data: Vec::new(),
        states: html! {
            @for (index, (svg, said)) in figures.iter().enumerate() {
                figure data-said=(said) class=[(index % 2 == 1).then_some("extra")] { (PreEscaped(svg)) }
            }
        },
    })
}

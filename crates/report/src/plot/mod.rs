//! Plots: data in, SVG out.
//!
//! ```
//! assert_eq!(report::plot::figure(4261.43), "4261");
//! assert_eq!(report::plot::amount(1_048_576.0), "2²⁰");
//! ```

mod bars;
mod canvas;
mod curves;
mod roofline;
mod strip;

pub use bars::{Bar, Bars, bars};
pub use canvas::{Caption, MAX_SERIES, Stroke, alone, amount, figure};
pub use curves::{Axis, Curve, Curves, Scale, curves};
pub use roofline::{Point, Roofline, roofline};
pub use strip::{Column, Strip, strip};

#[cfg(test)]
mod tests {
    use super::canvas::{linear_ticks, log10_ticks};
    use super::*;

    fn caption() -> Caption {
        Caption { id: "p".to_owned(), title: "a <b>".to_owned() }
    }

    #[test]
    fn figures_have_four_digits_that_count() {
        let shown = [0.0, 0.001_234_56, 0.5, 1.0, 12.345_6, 999.96, 4261.4, 1e6].map(figure);
        assert_eq!(shown, ["0", "0.001235", "0.5", "1", "12.35", "1000", "4261", "1000000"]);
        assert_eq!([64.0, 8192.0, 1_048_576.0, 5000.0].map(amount), ["64", "2¹³", "2²⁰", "5000"]);
    }

    #[test]
    fn ticks_cover_the_axis_with_round_values() {
        assert_eq!(linear_ticks(4400.0, 4), [0.0, 2000.0, 4000.0]);
        assert_eq!(log10_ticks(0.3, 30.0), [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
    }

    #[test]
    fn a_plot_has_its_texts_its_figures_and_no_fixed_colour() {
        let bar = |label: &str, value, is_peer| Bar {
            label: label.to_owned(),
            value,
            spread: None,
            is_peer,
            peak: Some(4000.0),
            marks: vec![Some(3000.0)],
            missed: None,
        };
        let svg = bars(&Bars {
            caption: caption(),
            unit: "GB/s",
            bars: vec![
                bar("x", Some(2500.0), false),
                bar("y", None, false),
                bar("z", Some(9.0), true),
            ],
            name: "measured".to_owned(),
            marks: vec!["predicted".to_owned()],
            peak: "device copy".to_owned(),
        });
        assert!(svg.contains("<title id=\"p-title\">a &lt;b&gt;</title>"), "{svg}");
        assert!(
            svg.contains("x: 2500 GB/s, predicted 3000 GB/s, measured peak 4000 GB/s; y: none"),
            "{svg}"
        );
        assert!(!svg.contains("\"#"), "{svg}");
        assert!(
            svg.contains("class=\"area s0\"") && svg.contains("class=\"line ink w2\""),
            "{svg}"
        );
        assert!(!svg.contains("style="), "colours are classes: {svg}");
        assert_eq!(svg.matches("<svg").count(), 1);
        assert_eq!(svg.matches("</svg>").count(), 1);
    }

    #[test]
    fn lines_lie_inside_the_drawing() {
        let line = |series, stroke| Curve {
            name: format!("line {series}"),
            series,
            stroke,
            points: vec![(1.0, 1e-3), (1024.0, 40.0), (1_048_576.0, 4000.0)],
        };
        for scale in [Scale::Linear, Scale::Log10] {
            let svg = curves(&Curves {
                caption: caption(),
                x: Axis { name: "n".to_owned(), scale: Scale::Log2, ticks: Vec::new() },
                y: Axis { name: "GB/s".to_owned(), scale, ticks: Vec::new() },
                lines: (0..MAX_SERIES)
                    .flat_map(|n| {
                        [line(n, Stroke::Solid), line(n, Stroke::Dashed), line(n, Stroke::Dotted)]
                    })
                    .collect(),
                strokes: vec![(Stroke::Dashed, "predicted".to_owned())],
            });
            assert!(
                svg.contains("dashed")
                    && svg.contains("line 5: 0.001 at 1, 40 at 1024, 4000 at 2²⁰"),
                "{svg}"
            );
            let outside = svg.split("points=\"").skip(1).any(|rest| {
                let points = rest.split('"').next().unwrap_or_default();
                points.split([',', ' ']).any(|number| number.starts_with('-'))
            });
            assert!(!outside, "{svg}");
        }
    }
}

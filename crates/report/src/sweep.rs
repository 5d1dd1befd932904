use super::page;
use super::plot::{
    Axis, Caption, Curve, Curves, MAX_SERIES, Scale, Stroke, amount, curves, figure,
};
use super::runs::{Run, Runs, Subject};
use maud::{Markup, html};
use results::{CountedDimension, Measured, Row, RowOutcome};

/// A sweep of a pattern: the rows over a dimension.
struct Sweep<'a> {
    subject: Subject<'a>,
    dimension: &'a str,
    /// By variant, in the order of the file.
    variants: Vec<(&'a str, Vec<&'a Row>)>,
}

/// The sweeps of a pattern, in the order of the file.
fn sweeps<'a>(runs: &'a Runs, subject: Subject<'a>) -> Vec<Sweep<'a>> {
    let mut sweeps: Vec<Sweep<'a>> = Vec::new();
    for row in runs.main.results.rows.iter().filter(|row| row.pattern == subject.name) {
        let Some(dimension) = row.sweep.as_deref() else { continue };
        let index = sweeps.iter().position(|sweep| sweep.dimension == dimension);
        let index = index.unwrap_or_else(|| {
            sweeps.push(Sweep { subject, dimension, variants: Vec::new() });
            sweeps.len() - 1
        });
        let variants = &mut sweeps[index].variants;
        match variants.iter_mut().find(|(name, _)| *name == row.variant) {
            Some((_, rows)) => rows.push(row),
            None => variants.push((&row.variant, vec![row])),
        }
    }
    sweeps
}

impl Sweep<'_> {
    fn value(&self, row: &Row) -> f64 {
        row.size.get(self.dimension).copied().unwrap_or(0.0)
    }

    fn values(&self) -> Vec<f64> {
        let mut values: Vec<f64> = self.rows().map(|row| self.value(row)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.variants.iter().flat_map(|(_, rows)| rows.iter().copied())
    }

    /// Returns what is known of the dimension.
    fn meaning(&self) -> Option<&CountedDimension> {
        let dimensions = &self.subject.pattern?.dimensions;
        dimensions.iter().find(|dimension| dimension.name == self.dimension)
    }

    /// The name of a value, where values are choices.
    fn show(&self, value: f64) -> String {
        let names = self.meaning().map_or(&[][..], |dimension| &dimension.names);
        names.get(value as usize).map_or_else(|| amount(value), Clone::clone)
    }

    /// Shown by time if the ladder is.
    fn is_about_time(&self, runs: &Runs) -> bool {
        let ladder = runs.ladder(self.subject.name);
        super::ladder::is_about_time(&if ladder.is_empty() {
            self.rows().collect()
        } else {
            ladder
        })
    }

    fn x_axis(&self) -> Axis {
        let values = self.values();
        let is_choice = self.meaning().is_some_and(|dimension| !dimension.names.is_empty());
        let is_power = |value: &f64| *value >= 1.0 && value.log2().fract() == 0.0;
        let is_log2 = values.len() > 2 && values.iter().all(is_power);
        let spread = values.first().zip(values.last());
        let is_wide = spread.is_some_and(|(low, high)| *low > 0.0 && high / low > 100.0);
        let scale = match () {
            () if is_choice => Scale::Linear,
            () if is_log2 => Scale::Log2,
            () if is_wide => Scale::Log10,
            () => Scale::Linear,
        };
        let step = values.len().div_ceil(10);
        let ticks = values.iter().step_by(step).map(|value| (*value, self.show(*value)));
        let name = match self.meaning() {
            Some(dimension) => format!("{}: {}", self.dimension, dimension.meaning),
            None => self.dimension.to_owned(),
        };
        let ticks = if is_choice || scale == Scale::Log2 { ticks.collect() } else { Vec::new() };
        Axis { name, scale, ticks }
    }

    /// The plots: as many as the lines need that can be told apart.
    fn plots(&self, runs: &Runs) -> Vec<String> {
        let by_time = self.is_about_time(runs);
        let figure = |measured: &Measured| match by_time {
            true => measured.time_ms.median,
            false => measured.bandwidth_gb_s,
        };
        let values = self.rows().filter_map(|row| Some(figure(row.measured()?)));
        let (low, high) = values.fold((f64::INFINITY, 0.0), |(low, high), value| {
            (f64::min(low, value), f64::max(high, value))
        });
        let scale = if high > 50.0 * low { Scale::Log10 } else { Scale::Linear };
        let parts = self.variants.len().div_ceil(MAX_SERIES).max(1);
        let part_len = self.variants.len().div_ceil(parts).max(1);
        let parts = self.variants.chunks(part_len).enumerate();
        parts
            .filter_map(|(part, variants)| {
                let lines: Vec<Curve> = variants
                    .iter()
                    .enumerate()
                    .flat_map(|(series, (name, rows))| self.lines(runs, series, name, rows, figure))
                    .collect();
                if lines.is_empty() {
                    return None;
                }
                let y = if by_time { "ms" } else { "GB/s" };
                let id = format!("plot-{}-{}-{part}", self.subject.name, self.dimension);
                let title = format!("{} over {}", self.subject.name, self.dimension);
                Some(curves(&Curves {
                    caption: Caption { id, title },
                    x: self.x_axis(),
                    y: Axis { name: y.to_owned(), scale, ticks: Vec::new() },
                    lines,
                    strokes: strokes(runs),
                }))
            })
            .collect()
    }

    /// A variant's line, and those of the other files.
    fn lines(
        &self,
        runs: &Runs,
        series: usize,
        name: &str,
        rows: &[&Row],
        figure: impl Fn(&Measured) -> f64,
    ) -> Vec<Curve> {
        let x = |row: &Row| self.value(row);
        let mut lines = vec![Curve {
            name: name.to_owned(),
            series,
            stroke: Stroke::Solid,
            points: rows.iter().filter_map(|row| Some((x(row), figure(row.measured()?)))).collect(),
        }];
        for (index, run) in runs.others.iter().enumerate() {
            let points =
                rows.iter().filter_map(|row| Some((x(row), figure(runs.beside(row)[index]?))));
            let points = points.collect();
            let name = format!("{name}, {}", run.name);
            lines.push(Curve { name, series, stroke: stroke(run), points });
        }
        if !runs.others.iter().any(|run| run.results.environment.is_prediction) {
            // The same bytes in the predicted time.
            let points = rows.iter().filter_map(|row| {
                let measured = row.measured()?;
                let part = row.predicted_ms? / measured.time_ms.median;
                let shown = figure(measured);
                let is_time = shown == measured.time_ms.median;
                Some((x(row), if is_time { shown * part } else { shown / part }))
            });
            let points = points.collect();
            let name = format!("{name}, predicted");
            lines.push(Curve { name, series, stroke: Stroke::Dashed, points });
        }
        for line in &mut lines {
            line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        lines.retain(|line| !line.points.is_empty());
        lines
    }

    /// The figures of the plots.
    fn table(&self, runs: &Runs) -> Markup {
        let values = self.values();
        let at = |value: f64| {
            let find = move |rows: &[&'_ Row]| rows.iter().position(|row| self.value(row) == value);
            self.variants.iter().map(move |(_, rows)| find(rows).map(|index| rows[index]))
        };
        let by_time = self.is_about_time(runs);
        let cell = |row: Option<&Row>| {
            let text = match row.map(|row| &row.outcome) {
                None => String::new(),
                Some(RowOutcome::Measured(measured)) => {
                    let bandwidth = if by_time {
                        String::new()
                    } else {
                        format!(", {} GB/s", figure(measured.bandwidth_gb_s))
                    };
                    format!("{} ms{bandwidth}", figure(measured.time_ms.median))
                }
                Some(RowOutcome::NotRun { reason }) => format!("not run: {reason}"),
                Some(RowOutcome::Wrong { reason }) => format!("wrong: {reason}"),
            };
            let predicted = row.and_then(|row| runs.predicted_ms(row));
            let predicted = predicted.map(|time| format!(" (predicted {} ms)", figure(time)));
            html! { td.figure { (text) (predicted.unwrap_or_default()) } }
        };
        let header = html! {
            th scope="col" { (self.dimension) }
            @for (name, _) in &self.variants { th scope="col" { (name) } }
        };
        let body = html! {
            @for value in &values {
                tr {
                    th scope="row" data-value=(value) { (self.show(*value)) }
                    @for row in at(*value) { (cell(row)) }
                }
            }
        };
        page::table(&format!("{} over {}", self.subject.name, self.dimension), &header, &body)
    }
}

/// Returns how the lines of another file are drawn.
fn stroke(run: &Run) -> Stroke {
    if run.results.environment.is_prediction { Stroke::Dashed } else { Stroke::Dotted }
}

/// Returns what the lines are that are not solid.
fn strokes(runs: &Runs) -> Vec<(Stroke, String)> {
    let names = |wanted: Stroke| {
        let names = runs.others.iter().filter(|run| stroke(run) == wanted);
        names.map(|run| run.name.as_str()).collect::<Vec<_>>().join("; ")
    };
    let predicted = names(Stroke::Dashed);
    let predicted = if predicted.is_empty() { "predicted".to_owned() } else { predicted };
    vec![(Stroke::Dashed, predicted), (Stroke::Dotted, names(Stroke::Dotted))]
}

/// The sweeps of a pattern; empty when its file has none.
pub fn section(runs: &Runs, subject: Subject<'_>) -> Markup {
    let sweeps = sweeps(runs, subject);
    html! {
        @if !sweeps.is_empty() {
            h2 id="sweeps" { "Sweeps" }
            p {
                "One dimension varies, the others stay as in the ladder. "
                @if !runs.others.is_empty() { "Dashed lines show the other files, in the colour of the variant." }
            }
        }
        @for sweep in &sweeps {
            h3 { "Over " code { (sweep.dimension) } }
            div.plots {
                @for svg in sweep.plots(runs) { (page::plot(&svg, "")) }
            }
            details {
                summary { "The figures over " code { (sweep.dimension) } }
                (sweep.table(runs))
            }
        }
    }
}

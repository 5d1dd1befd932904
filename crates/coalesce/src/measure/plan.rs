use super::axis::Axis;
use super::sampler::StopRule;
use crate::catalogue::Selection;
use crate::pattern::{Pattern, Size, Variant};
use crate::peers;
use crate::side_by_side::processors;
use anyhow::{Result, bail};
use cuda_host::Gpu;
use results::Resource;
use std::num::NonZero;
use std::time::Duration;

/// Work to measure, and how long to try.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The patterns and variants.
    pub selections: Vec<Selection>,
    /// Values that replace the patterns' own: one value changes the ladder's size, several make a curve.
    pub axes: Vec<Axis>,
    /// True when to measure the patterns' own sweeps as well as the ladders.
    pub sweeps: bool,
    /// True when to measure the ladders with hot caches and as graphs, too.
    pub modes: bool,
    /// Only variants whose `pattern/variant` contains this are measured.
    pub filter: String,
    /// Peers that are measured beside it, by the names of the patterns.
    pub peers: Vec<(String, &'static Variant)>,
    /// The seed of the inputs.
    pub seed: u64,
    /// Rule that ends a row of a ladder; a row of a curve has an eighth of the time.
    pub stop: StopRule,
    /// The number of times that work of the host is prepared anew and measured: where its memory lies and what else the
    /// processor does differ each time, and a figure has to show it.
    pub rounds: u32,
    /// Rows that are predicted side by side.
    pub jobs: NonZero<usize>,
    /// True when times are predicted: kernels are executed once, at a smaller size. [`Plan::on`] decides it.
    pub predicts: bool,
}

impl Plan {
    /// The defaults: everything, seed 1.
    pub fn new(selections: Vec<Selection>) -> Plan {
        Plan {
            selections,
            axes: Vec::new(),
            filter: String::new(),
            sweeps: true,
            modes: true,
            peers: Vec::new(),
            seed: 1,
            stop: StopRule {
                min_samples: 15,
                min_long_samples: 5,
                noise_percent: 0.5,
                time_limit: Duration::from_millis(400),
            },
            rounds: 3,
            jobs: processors(),
            predicts: false,
        }
    }

    /// The ladders with few samples, and nothing else.
    pub fn quick(self) -> Plan {
        let stop = StopRule {
            min_samples: 5,
            min_long_samples: 5,
            noise_percent: 2.0,
            time_limit: Duration::from_millis(50),
        };
        Plan { sweeps: false, modes: false, stop, ..self }
    }

    /// The same plan for a device: on the virtual one times are predicted, which takes one run of each variant, since
    /// the model has no noise, no cold and hot caches and no processor beside it.
    pub fn on(self, gpu: &Gpu) -> Plan {
        match gpu.virtual_device() {
            Some(_) => Plan { predicts: true, rounds: 1, modes: false, peers: Vec::new(), ..self },
            None => self,
        }
    }

    /// The sizes of a selection: the ladder's, then those of its curves with the variants they take.
    ///
    /// # Errors
    /// When an axis does not fit the pattern.
    pub fn points(&self, selection: &Selection) -> Result<Vec<Point>> {
        let pattern = selection.pattern;
        let ladder = resize(pattern, pattern.bench_size, &self.axes)?;
        // For a prediction extents are executed smaller; what is no extent (an offset, a stride, a distribution)
        // stays.
        let executed = |size: &Size| {
            let mut executed = size.clone();
            for (dimension, count) in pattern.count_size.iter().enumerate() {
                let most = pattern.dimensions[dimension].predicted_at.unwrap_or(*count);
                if self.predicts && pattern.bench_size[dimension] > most {
                    executed = executed.with(dimension, size.values()[dimension].min(most));
                }
            }
            executed
        };
        let mut selected: Vec<&'static Variant> = selection.variants().collect();
        if selection.variant.is_none() {
            selected.extend(peers::of(&self.peers, pattern));
        }
        selected
            .retain(|variant| format!("{}/{}", pattern.name, variant.name).contains(&self.filter));
        let point = |size: Size, variants: &[&'static Variant], sweep| Point {
            executed: executed(&size),
            size,
            variants: variants.to_vec(),
            sweep,
        };
        let mut points = vec![point(ladder.clone(), &selected, None)];
        let mut curve = |dimension: usize, values: &[usize], variants: &[&'static Variant]| {
            let name = Some(pattern.dimensions[dimension].name);
            points.extend(
                values.iter().map(|value| point(ladder.with(dimension, *value), variants, name)),
            );
        };
        let mut is_own = self.sweeps;
        for axis in &self.axes {
            let (dimension, values) = place(pattern, axis)?;
            if values.len() > 1 {
                is_own = false;
                curve(dimension, &values, &selected);
            }
        }
        for sweep in pattern.sweeps.iter().filter(|_| is_own) {
            // A twin goes where our variant goes, and what has none goes everywhere.
            let is_chosen = |variant: &Variant| {
                pattern.own(variant).is_none_or(|own| {
                    sweep.variants.iter().any(|index| pattern.variants[*index].name == own.name)
                })
            };
            let variants: Vec<_> =
                selected.iter().copied().filter(|variant| is_chosen(variant)).collect();
            curve(sweep.dimension, sweep.values, &variants);
        }
        points.retain(|point| !point.variants.is_empty());
        Ok(points)
    }

    /// The measured peaks that a run of this plan is held against: on a GPU all there are.
    pub(super) fn resources(&self) -> Result<Vec<Resource>> {
        if !self.predicts {
            return Ok(Resource::ALL.into());
        }
        let mut resources = Vec::new();
        for selection in &self.selections {
            let minimum_time = selection.pattern.minimum_time;
            for point in self.points(selection)? {
                resources.extend(
                    point.variants.iter().filter_map(|v| Some(minimum_time(v, &point.size)?.0)),
                );
            }
        }
        resources.sort();
        resources.dedup();
        Ok(resources)
    }

    /// Returns how many rows a run of this plan has.
    ///
    /// # Errors
    /// When an axis does not fit a pattern.
    pub fn row_count(&self) -> Result<usize> {
        let points = self.selections.iter().map(|selection| self.points(selection));
        points
            .map(|points| Ok(points?.iter().map(|point| point.variants.len()).sum::<usize>()))
            .sum()
    }
}

/// One size and the variants measured at it, on the same arrays.
#[derive(Clone)]
pub struct Point {
    /// The size.
    pub size: Size,
    /// The size that runs: a smaller one on the virtual device, which predicts the other from it.
    pub(super) executed: Size,
    /// The variants, peers last.
    pub variants: Vec<&'static Variant>,
    /// The dimension that varies, if the point belongs to a curve.
    pub sweep: Option<&'static str>,
}

/// The dimension that an axis means, and its values there.
fn place(pattern: &Pattern, axis: &Axis) -> Result<(usize, Vec<usize>)> {
    let index = match &axis.name {
        None => 0,
        Some(name) => {
            let found = pattern.dimensions.iter().position(|dimension| dimension.name == name);
            let Some(index) = found else {
                let names: Vec<_> =
                    pattern.dimensions.iter().map(|dimension| dimension.name).collect();
                bail!(
                    "`{}` has no dimension `{name}`: its size is given by {}",
                    pattern.name,
                    names.join(", ")
                );
            };
            index
        }
    };
    let values = axis.of(&pattern.dimensions[index]);
    let values = values.map_err(|error| anyhow::anyhow!("`{}`: {error}", pattern.name))?;
    for value in &values {
        let is_extent = pattern.bench_size[index] > pattern.count_size[index] || values.len() == 1;
        if is_extent {
            check_indices(pattern, &Size::new(pattern.bench_size).with(index, *value))?;
        }
    }
    Ok((index, values))
}

/// Kernels index with 32 bits; the largest index that any of them forms is below the product of a size's extents.
fn check_indices(pattern: &Pattern, size: &Size) -> Result<()> {
    let extents = pattern.dimensions.iter().zip(size.values()).filter(|(of, _)| of.is_extent());
    let elements = extents.map(|(_, value)| (*value).max(1) as u128).product::<u128>();
    if elements > 1 << 31 {
        bail!(
            "{} is too large for `{}`: its kernels index at most 2^31 elements",
            pattern.show_size(size),
            pattern.name
        );
    }
    Ok(())
}

/// A size of a pattern with the axes of one value in place.
///
/// # Errors
/// When a value does not fit its dimension, or the pattern does not have it.
pub fn resize(pattern: &Pattern, base: &[usize], axes: &[Axis]) -> Result<Size> {
    let mut size = Size::new(base);
    for axis in axes {
        let (dimension, values) = place(pattern, axis)?;
        if let [value] = values[..] {
            size = size.with(dimension, value);
        }
    }
    check_indices(pattern, &size)?;
    Ok(size)
}

//! The distance of predictions from kernels of others, by the figures that `cargo xtask foreign` wrote.

/// The kernels of a kind, or of all, that were predicted and then measured.
struct Figures {
    kernels: u32,
    /// Percentages within which half and nine of ten of them were.
    half: u32,
    most: u32,
    /// Parts of the prediction between which eight of ten of them were measured.
    low: f64,
    high: f64,
    /// The part that bounds their prediction; nothing for all.
    kind: &'static str,
}

fn figures() -> impl Iterator<Item = Figures> {
    include_str!("profile/accuracy.txt").lines().filter_map(|line| {
        let mut fields = line.splitn(6, ',');
        let mut next = || fields.next();
        Some(Figures {
            kernels: next()?.parse().ok()?,
            half: next()?.parse().ok()?,
            most: next()?.parse().ok()?,
            low: next()?.parse().ok()?,
            high: next()?.parse().ok()?,
            kind: next()?,
        })
    })
}

/// Returns a sentence about all predictions of kernels.
pub fn accuracy() -> String {
    let Some(Figures { kernels, half, most, .. }) = figures().next() else { return String::new() };
    format!(
        "Times are predictions: of {kernels} kernels of public programs on an H100, half came within {half} % of the measured time, and nine of ten within {most} %."
    )
}

/// Returns the times between which eight of ten kernels with such a prediction were measured: of its kind where that has enough
/// kernels, else of all.
pub fn interval(time: f64, bound: Option<&str>) -> Option<[f64; 2]> {
    let of_kind = figures().find(|it| Some(it.kind) == bound && !it.kind.is_empty());
    let Figures { low, high, .. } = of_kind.or_else(|| figures().next())?;
    Some([low * time, high * time])
}

/// Returns a sentence about predictions of each kind that has enough kernels: between which parts of the prediction eight of ten
/// were measured.
pub fn kinds() -> String {
    let kind = |Figures { low, high, kind, .. }: Figures| {
        let kind = if kind.is_empty() { "in all" } else { kind };
        format!("{low:.2} to {high:.2} ({kind})")
    };
    let kinds: Vec<String> = figures().map(kind).collect();
    format!(
        "Eight of ten kernels of public programs on an H100 took, in parts of the predicted time and by what bounds it: {}.",
        kinds.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_with_enough_kernels_has_its_own_interval_and_others_that_of_all() {
        let all = interval(100.0, None).expect("there are kernels");
        assert!(all[0] < all[1], "{all:?}");
        assert_eq!(interval(100.0, Some("a kind that nobody has")), Some(all));
        for Figures { low, high, kind, kernels, .. } in figures().skip(1) {
            assert!(kernels >= 8 && !kind.is_empty());
            assert_eq!(interval(100.0, Some(kind)), Some([100.0 * low, 100.0 * high]));
            assert!(low <= 1.0 && high >= 1.0, "{kind}: the prediction is outside of its interval");
            let told = format!("{low:.2} to {high:.2} ({kind})");
            assert!(kinds().contains(&told), "{told}: {}", kinds());
        }
    }
}

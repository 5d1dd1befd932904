//! `coalesce calibrate` on the virtual device finds what the device's profile says.

use crate::executor::opened;
use coalesce::calibrate::run;
use cuda_host::{Choice, Gpu};
use virtual_gpu::Profile;

/// Figures that come with what else the device is busy with, and how far off they may be; all others are within 2 %.
const NEAR: &[(&str, f64)] = &[
    // Requests for whole lines take as long as their bytes, and both together longer.
    ("l2_bytes_per_second", 0.25),
    // The kernel's threads find that there is nothing to do.
    ("kernel_minimum_ns", 0.10),
    ("graph_kernel_minimum_ns", 0.10),
];

#[test]
fn the_virtual_device_is_found_to_be_what_its_profile_says() {
    // Nobody asks for hazards, and looking for them takes most of the time.
    let (_guard, gpu) = opened(|choice, images, _| Gpu::open(choice, images));
    let found = run(&gpu).expect("the device is measured");
    let profile = Profile::named("h200").expect("a known profile");
    assert_eq!(found.nearest, "h200");
    for figure in &found.figures {
        let near =
            NEAR.iter().find(|(name, _)| *name == figure.name).map_or(0.02, |(_, near)| *near);
        let error = (figure.value / figure.nearest - 1.0).abs();
        println!("{}: {} and {}", figure.name, figure.value, figure.nearest);
        assert!(error <= near, "{}: {} and {}", figure.name, figure.value, figure.nearest);
    }
    assert!(found.figures.len() >= 25, "{}", found.figures.len());

    // Only a GPU makes a profile calibrated, and each figure has a source.
    assert!(!found.profile.calibrated);
    let sources = found.profile.sources.join(" ");
    let text = serde_json::to_value(&profile).expect("a profile is data");
    for name in text.as_object().expect("a profile is an object").keys() {
        let is_source = ["sources", "calibrated"].contains(&name.as_str());
        assert!(is_source || sources.contains(name.as_str()), "{name}: {sources}");
    }

    // What was not measured is the profile's, and what was can be measured on.
    let rest =
        Profile { sources: profile.sources.clone(), calibrated: true, ..found.profile.clone() };
    let back = found.figures.iter().fold(
        serde_json::to_value(rest).expect("a profile is data"),
        |mut rest, figure| {
            rest[figure.name] = figure.nearest.into();
            rest
        },
    );
    assert_eq!(back, text);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("here.json");
    results::write_json(&file, &found.profile).expect("a writable folder");
    let choice = format!("virtual:{}", file.display());
    assert_eq!(choice.parse(), Ok(Choice::Virtual(file.display().to_string())));
}

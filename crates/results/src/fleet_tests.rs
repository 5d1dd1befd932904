//! A hundred boards that are simulated: those that are planted are found, no other is accused.

use super::*;
use crate::run::RowOutcome;
use std::collections::BTreeSet;

/// Seeded noise: xorshift, and the sum of twelve uniform numbers for a normal one.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

fn reference() -> Results {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/nvidia-h200/reference.json");
    let mut results = Results::load(path.as_ref(), &[]).expect("it is committed");
    results.rows.retain(|row| row.sweep.is_none() && !row.peer);
    results.counts = None;
    for row in &mut results.rows {
        row.timeline = None;
    }
    results
}

/// A board like the reference's: all of it a little faster or slower, each row with noise, the host's with more.
fn board(
    reference: &Results,
    noise: &mut Noise,
    factor: impl Fn(Part, Option<Resource>) -> f64,
) -> Results {
    let mut results = reference.clone();
    let own = 1.0 + 0.006 * noise.normal();
    for row in &mut results.rows {
        let part = Part::of_row(row);
        let spread = if part == Part::Host { 0.1 } else { 0.01 };
        let factor =
            own * factor(part, resource_of(row)) * (1.0 + spread * noise.normal()).max(0.5);
        if let RowOutcome::Measured(measured) = &mut row.outcome {
            measured.time_ms = measured.time_ms.scaled(factor);
        }
    }
    for peak in &mut results.measured_peaks {
        let factor = own
            * factor(Part::of_resource(peak.resource), Some(peak.resource))
            * (1.0 + 0.003 * noise.normal());
        peak.time_ms = peak.time_ms.scaled(factor);
    }
    results
}

/// The fault of a planted board.
type Fault = fn(Part) -> f64;

/// Slow memory, a link of half the lanes, clocks held down.
const FAULTS: [(Part, Fault); 3] = [
    (Part::Memory, |part| if part == Part::Memory { 1.08 } else { 1.0 }),
    (Part::Link, |part| if part == Part::Link { 2.0 } else { 1.0 }),
    (Part::Arithmetic, |part| match part {
        Part::Arithmetic | Part::OnChip | Part::OtherKernels => 1.25,
        Part::Memory | Part::Link | Part::Host => 1.0,
    }),
];

/// A fleet of so many boards with each fault planted so many times, and where they are.
fn simulated(seed: u64, boards: usize, each: usize) -> (Vec<Node>, BTreeSet<(usize, Part)>) {
    let reference = reference();
    let mut noise = Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut planted = BTreeSet::new();
    let nodes = (0..boards).map(|index| {
        // Not beside each other.
        let fault = (index % 11 == 7).then_some(index / 11).filter(|place| *place < 3 * each);
        let fault = fault.map(|place| FAULTS[place % 3]);
        planted.extend(fault.map(|(part, _)| (index, part)));
        let results =
            board(&reference, &mut noise, |part, _| fault.map_or(1.0, |(_, of)| of(part)));
        Node { name: format!("node{index:02}"), results }
    });
    let nodes = nodes.collect();
    (nodes, planted)
}

#[test]
fn planted_boards_are_found_and_no_other_is_accused() {
    for seed in 1..=5 {
        let (nodes, planted) = simulated(seed, 100, 2);
        let fleets = fleets(&nodes);
        let [fleet] = &fleets[..] else { panic!("one model") };
        let found: BTreeSet<_> =
            fleet.outliers.iter().map(|outlier| (outlier.node, outlier.part)).collect();
        assert_eq!(planted.len(), 6);
        assert!(planted.is_subset(&found), "seed {seed}: {planted:?} in {found:?}");
        let accused: BTreeSet<_> = found.iter().map(|(node, _)| *node).collect();
        let guilty: BTreeSet<_> = planted.iter().map(|(node, _)| *node).collect();
        assert_eq!(accused, guilty, "seed {seed}");
    }
}

/// Most rows of a part hide what is slow at one of its resources alone.
#[test]
fn a_board_that_is_slow_at_one_resource_is_found() {
    let reference = reference();
    for (slow, by) in [
        (Resource::HostToDevice, 1.9),
        (Resource::DeviceToHost, 1.9),
        (Resource::TensorBf16, 1.5),
        (Resource::Read, 1.2),
    ] {
        for seed in 1..=3_u64 {
            let mut noise = Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
            let nodes: Vec<Node> = (0..12)
                .map(|index| {
                    let factor = |_, of| if index == 5 && of == Some(slow) { by } else { 1.0 };
                    let results = board(&reference, &mut noise, factor);
                    Node { name: format!("node{index:02}"), results }
                })
                .collect();
            let fleet = &fleets(&nodes)[0];
            let found: Vec<_> =
                fleet.outliers.iter().map(|outlier| (outlier.node, outlier.slow_at())).collect();
            assert_eq!(found, [(5, slow.name())], "seed {seed}");
        }
    }
}

#[test]
fn what_makes_a_comparison_doubtful_is_said() {
    let (mut nodes, _) = simulated(1, 6, 0);
    for (index, node) in nodes.iter_mut().enumerate() {
        let board = node.results.environment.board.as_mut().expect("it was measured");
        board.id = Some(format!("id{index}"));
    }
    assert_eq!(doubts(&nodes, &fleets(&nodes)[0]), [""; 0]);
    let board = |node: &mut Node, id: Option<&str>| {
        let board = node.results.environment.board.as_mut().expect("it was measured");
        board.id = id.map(str::to_owned);
    };
    board(&mut nodes[1], Some("id0"));
    board(&mut nodes[2], None);
    let other = &mut nodes[3].results.environment;
    (other.commit, other.ptx_hash) = ("another".to_owned(), "hash".to_owned());
    let said = doubts(&nodes, &fleets(&nodes)[0]).join("; ");
    for part in [
        "node00, node01 are of one board, id0",
        "node02: no id of a board",
        "in their commit: ",
        "another on 1 boards",
        "in their PTX hash: ",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn a_sound_fleet_of_any_size_has_no_outlier() {
    for boards in [4, 5, 16, 40] {
        for seed in 1..=5 {
            let (nodes, _) = simulated(seed, boards, 0);
            assert_eq!(fleets(&nodes)[0].outliers, [], "{boards} boards, seed {seed}");
        }
    }
}

#[test]
fn fewer_than_four_boards_say_nothing() {
    let (mut nodes, _) = simulated(1, 4, 0);
    for row in &mut nodes[0].results.rows {
        if let RowOutcome::Measured(measured) = &mut row.outcome {
            measured.time_ms = measured.time_ms.scaled(1.5);
        }
    }
    assert!(fleets(&nodes)[0].outliers.iter().all(|outlier| outlier.node == 0));
    assert!(!fleets(&nodes)[0].outliers.is_empty());
    nodes.pop();
    assert_eq!(fleets(&nodes)[0].outliers, []);
}

#[test]
fn committed_boards_accuse_nobody() {
    let load = |name: &str| {
        let path = format!("{}/../../results/{name}", env!("CARGO_MANIFEST_DIR"));
        let results = Results::load(path.as_ref(), &[]).expect("it is committed");
        Node { name: name.to_owned(), results }
    };
    let names = [
        "nvidia-h200/reference.json",
        "nvidia-h200/repeat.json.gz",
        "nvidia-h200/after-the-move.json.gz",
        "nvidia-h200/third.json.gz",
        "nvidia-h200-x2/gpu0.json.gz",
        "nvidia-h200-x2/gpu1.json.gz",
        "nvidia-h100/ladders.json.gz",
    ];
    let mut nodes = names.map(load);
    let found = fleets(&nodes);
    assert_eq!(found.iter().map(|fleet| fleet.nodes.len()).collect::<Vec<_>>(), [6, 1]);
    assert!(found.iter().all(|fleet| fleet.outliers.is_empty()), "{:?}", found[0].outliers);

    // One of them with slower memory is found, and it alone.
    for planted in 0..6 {
        let sound = nodes[planted].results.clone();
        for row in &mut nodes[planted].results.rows {
            if let RowOutcome::Measured(measured) = &mut row.outcome {
                measured.time_ms = measured.time_ms.scaled(1.08);
            }
        }
        let found = &fleets(&nodes)[0];
        let accused: Vec<usize> = found.outliers.iter().map(|outlier| outlier.node).collect();
        assert!(!accused.is_empty() && accused.iter().all(|node| *node == planted), "{accused:?}");
        nodes[planted].results = sound;
    }
}

#[test]
fn what_is_odd_about_a_board_is_said() {
    let (mut nodes, _) = simulated(1, 8, 0);
    let board = nodes[3].results.environment.board.as_mut().expect("it was measured");
    (board.pcie_lanes, board.throttle_reasons) = (Some(8), vec!["sw_thermal_slowdown".to_owned()]);
    let fleet = &fleets(&nodes)[0];
    let odd = odd_facts(&nodes, fleet, 3);
    assert_eq!(
        odd,
        ["link PCIe 5 x8 of PCIe 5 x16, most have PCIe 5 x16", "throttled by sw_thermal_slowdown"]
    );
    assert_eq!(odd_facts(&nodes, fleet, 4), [""; 0]);
}

use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "graphs",
    kind: Kind::Host { pinned: true },
    before: &[number(
        "How many launches does the file ask for as it stands?",
        |runs| runs.count(Launches, &[4096]),
        &[(16.0, "That is one round.")],
        "16 rounds of 16.",
    )],
    after: &[number(
        "Your file: how many graphs does it instantiate?",
        |runs| runs.count(Instantiations, &[4096]),
        &[(16.0, "A graph can be launched again.")],
        "It is launched 16 times.",
    )],
    fails_as_shipped: FailureKind::Bound(Launches),
    bounds: &[
        bound(Launches, |_| exactly(32.0), "16 that are recorded, and 16 of the graph"),
        bound(Instantiations, |_| exactly(1.0), "the same graph each time"),
        bound(Waits, |_| between(0.0, 1.0), "for the result"),
        THERE_AND_BACK,
    ],
    hints: [
        "How much of each round is the same as in the round before?",
        "`gpu.record` takes a closure and gives a graph that can be launched.",
        "Record `round` once before the loop, and `launch` the graph in the loop.",
    ],
    ..host_task!(graph, host_sizes(&[4096]), case)
};

fn case(size: &Size, random: &mut Random) -> Case {
    each_stepped(size, random, |value, factor| {
        (0..256).fold(value, |value, step| stepped(value, factor, step % 16, 1))
    })
}

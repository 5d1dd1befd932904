//! Diagnosis of a file with a mistake: which mistake it is, and where. The answer is what the executor and the
//! virtual GPU report.

use crate::mistake::{FailureKind, Found};
use crate::question::{Answers, Question};
use anyhow::{Context, Result};
use simt::Hazard;
use virtual_gpu::MisuseKind;

/// Mistakes of a kernel that may be asked for.
const HAZARDS: &[(&str, &[FailureKind])] = {
    use FailureKind::Hazard as H;
    use Hazard::*;
    &[
        (
            "threads use the same bytes, one of them writes, and nothing orders them",
            &[H(SharedRace), H(SharedRaceInWarp), H(GlobalRace), H(GlobalRaceInWarp)],
        ),
        ("lanes of one store write different values to the same bytes", &[H(ConflictingStore)]),
        (
            "bytes are read that nobody wrote",
            &[
                H(UninitializedShared),
                H(UninitializedLocal),
                H(UninitializedGlobal),
                H(UninitializedRegister),
            ],
        ),
        ("lanes of one warp wait at different barriers", &[H(DivergentBarrier)]),
        ("a mask names other lanes than those that take part", &[H(MemberMask), H(InactiveSource)]),
        ("an asynchronous copy is used before anyone waited for it", &[H(AsyncCopyNotAwaited)]),
        ("a read-only load of bytes that this launch writes", &[H(ReadOnlyWritten)]),
        ("an access outside of its array", &[FailureKind::OutOfBounds]),
    ]
};

/// Mistakes of a host file that may be asked for.
const MISTAKES: &[(&str, &[FailureKind])] = {
    use FailureKind::Misuse as M;
    use MisuseKind::*;
    &[
        (
            "two streams use the same memory, one of them writes, and nothing orders them",
            &[M(MissingOrder)],
        ),
        ("the host changes memory that a pending copy uses", &[M(HostMemoryChanged)]),
        ("memory is freed while pending work uses it", &[M(HostMemoryFreed), M(UseAfterFree)]),
        ("a copy goes past the end of its memory", &[M(OutOfBounds)]),
    ]
};

/// The driver's calls by what they do.
const CALLS: &[(&str, &str)] = &[
    ("the copy to the device", "cuMemcpyHtoD"),
    ("the kernel", "cuLaunchKernel"),
    ("the copy to the host", "cuMemcpyDtoH"),
];

const fn texts<const N: usize, T: Copy>(choices: &[(&'static str, T)]) -> [&'static str; N] {
    let mut texts = [""; N];
    let mut index = 0;
    while index < N {
        texts[index] = choices[index].0;
        index += 1;
    }
    texts
}

/// The place of a mistake among choices, from 1.
fn place(choices: &[(&str, &[FailureKind])], found: &Found) -> Result<f64> {
    let place = choices.iter().position(|(_, kinds)| kinds.contains(&found.because));
    Ok(1.0 + place.with_context(|| format!("{:?} is not among them", found.because))? as f64)
}

/// HostSubmission of every kernel with a mistake that the executor sees.
const OF_A_KERNEL: [&Question; 2] = [
    &Question {
        text: "What is wrong with this kernel?",
        answers: Answers::Choice(&texts::<{ HAZARDS.len() }, _>(HAZARDS)),
        answer: |runs| place(HAZARDS, &runs.mistake()?),
        misses: &[],
        why: "That is what the executor reports.",
    },
    &Question {
        text: "In which line, or between which two lines? Answer with their numbers, such as `31 34`.",
        answers: Answers::Lines,
        answer: |runs| Ok(runs.mistake()?.code()),
        misses: &[],
        why: "That is where the executor sees it.",
    },
];

/// HostSubmission of every file of the host with a mistake.
const OF_A_HOST_FILE: [&Question; 2] = [
    &Question {
        text: "What is wrong with this file?",
        answers: Answers::Choice(&texts::<{ MISTAKES.len() }, _>(MISTAKES)),
        answer: |runs| place(MISTAKES, &runs.mistake()?),
        misses: &[],
        why: "That is what the virtual GPU reports.",
    },
    &Question {
        text: "Which of these finds memory that is not as it should be, when the device comes to it?",
        answers: Answers::Choice(&texts::<{ CALLS.len() }, _>(CALLS)),
        answer: |runs| {
            let call = runs.mistake()?.call;
            let place = CALLS.iter().position(|(_, name)| call.starts_with(name));
            Ok(1.0 + place.with_context(|| format!("{call} is not among them"))? as f64)
        },
        misses: &[],
        why: "That is the call that the virtual GPU names.",
    },
];

/// The questions about a file that fails for this reason.
pub fn questions(because: FailureKind) -> &'static [&'static Question] {
    match because {
        FailureKind::Hazard(_) | FailureKind::OutOfBounds => &OF_A_KERNEL,
        FailureKind::Misuse(_) => &OF_A_HOST_FILE,
        _ => &[],
    }
}

//! Findings in the words of a learner's file: its arrays, their elements and its lines, addresses last.

use crate::bounds::line_in;
use crate::ptx;
use crate::submission::Submission;
use crate::task::Task;
use coalesce::Counted;
use coalesce::arrays::Arrays;
use coalesce::data::{Data, Mismatch};
use coalesce::pattern::Case;
use coalesce::verify::Fault;
use course_host::DevicePlace;
use cuda_host::{KernelFault, MisusedMemory};
use profiling::demangled;
use simt::{Finding, Hazard, Location, Place, Remedy};

/// An array of a launch, as the kernel calls it.
pub(crate) struct Named {
    name: String,
    address: u64,
    elements: usize,
    element_bytes: usize,
    is_output: bool,
}

/// The arrays of a case. A kernel's constant pointers are the inputs in their order, its mutable ones the outputs.
pub(crate) fn named(task: &Task, case: &Case, arrays: &Arrays) -> Vec<Named> {
    let signature = ptx::signature(task.solved(), task.kernel()).unwrap_or_default();
    let names = |kind: &str| -> Vec<String> {
        let parameters = signature.split(['(', ',', ')']).filter(|one| one.contains(kind));
        parameters.filter_map(|one| Some(one.split_once(':')?.0.trim().to_owned())).collect()
    };
    let (inputs, outputs) = (names("*const"), names("*mut"));
    let data =
        case.inputs.iter().enumerate().map(|(index, data)| (inputs.get(index), index, data, false));
    let results = case.outputs.iter().enumerate();
    let results = results.map(|(index, one)| (outputs.get(index), index, &one.reference, true));
    data.chain(results)
        .filter_map(|(name, index, data, is_output)| {
            Some(Named {
                name: name?.clone(),
                address: address(arrays, index, data, is_output)?,
                elements: data.len(),
                element_bytes: data.byte_len() / data.len().max(1),
                is_output,
            })
        })
        .collect()
}

fn address(arrays: &Arrays, index: usize, data: &Data, is_output: bool) -> Option<u64> {
    macro_rules! address {
        ($($variant:ident: $element:ty),+) => {
            match data {
                $(Data::$variant(_) if is_output => Some(arrays.output::<$element>(index).address()),
                Data::$variant(_) => Some(arrays.input::<$element>(index).address()),)+
                _ => None,
            }
        };
    }
    address!(F32: f32, F64: f64, U32: u32, U8: u8)
}

/// The element at an address, or the nearest array's element that would be there.
fn element(arrays: &[Named], address: u64) -> Option<(&Named, i64)> {
    let distance = |one: &&Named| {
        let end = one.address + (one.elements * one.element_bytes) as u64;
        one.address.saturating_sub(address).max((address + 1).saturating_sub(end))
    };
    let nearest = arrays.iter().min_by_key(distance)?;
    let bytes = address.cast_signed() - nearest.address.cast_signed();
    Some((nearest, bytes.div_euclid(nearest.element_bytes.max(1) as i64)))
}

/// The first wrong element of an array, and how many are.
pub(crate) fn mismatch(array: &str, elements: usize, mismatch: &Mismatch) -> String {
    let Mismatch { index, count, result, reference } = mismatch;
    let others = match count {
        1 => "; the others are right".to_owned(),
        _ => format!("; {count} of {elements} are wrong"),
    };
    format!("`{array}[{index}]` is {result} and must be {reference}{others}")
}

/// A mistake of the host's: elements of arrays instead of addresses.
pub(crate) fn misuse(message: &str, memory: Option<&DevicePlace>) -> String {
    const BYTES: u64 = size_of::<u32>() as u64;
    let mut message = message.to_owned();
    if let Some(DevicePlace { text, offset, bytes }) = memory {
        let elements = plural((bytes / BYTES) as usize, "element");
        let element =
            format!(": element {} of an array of the device with {elements}", offset / BYTES);
        message = message.replace(&format!(" at {text}"), &element);
    }
    let mut pieces = message.split(" at 0x");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |words, piece| {
        words + piece.trim_start_matches(|letter: char| letter.is_ascii_hexdigit())
    })
}

pub(crate) fn fault(arrays: &[Named], fault: &Fault) -> String {
    let output = |index: usize| arrays.iter().filter(|one| one.is_output).nth(index);
    match fault {
        Fault::Element { output: index, mismatch } => {
            let Some(array) = output(*index) else { return fault.to_string() };
            self::mismatch(&array.name, array.elements, mismatch)
        }
        Fault::OutOfBounds { output: index, byte } => {
            let Some(array) = output(*index) else { return fault.to_string() };
            let at = byte.div_euclid(array.element_bytes.max(1).cast_signed());
            let (name, elements) = (&array.name, plural(array.elements, "element"));
            format!("`{name}[{at}]` was written, and `{name}` has {elements}")
        }
    }
}

/// An access that stopped the kernel, where it is known.
pub(crate) fn stopped(
    arrays: &[Named],
    fault: Option<KernelFault>,
    memory: Option<&MisusedMemory>,
    message: &str,
) -> String {
    let words = |memory: &MisusedMemory| {
        let (array, at) = element(arrays, memory.address)?;
        let lanes = lanes(memory.lanes);
        let verb = if memory.writes { "write" } else { "read" };
        let (name, elements) = (&array.name, plural(array.elements, "element"));
        Some(if fault == Some(KernelFault::IllegalAddress) {
            format!("{lanes} {verb} `{name}[{at}]`, and `{name}` has {elements}")
        } else {
            format!("{lanes} {verb} at `{name}[{at}]` more bytes than its address is a multiple of")
        })
    };
    let words = memory.and_then(words);
    words.map_or_else(|| message.to_owned(), |words| format!("{words}. The executor: {message}"))
}

/// A hazard: what is concerned, who does what to it in which line.
pub(crate) fn hazard(submission: &Submission, arrays: &[Named], finding: &Finding) -> String {
    let Finding { hazard, place, other, .. } = finding;
    let what = concerned(submission, arrays, finding);
    let name = hazard.to_string();
    let words = match (hazard, what, other) {
        (
            Hazard::SharedRace
            | Hazard::SharedRaceInWarp
            | Hazard::GlobalRace
            | Hazard::GlobalRaceInWarp,
            Some(what),
            Some(other),
        ) => {
            let (first, second) = (act(submission, other, place), act(submission, place, other));
            format!("{what}: {first}, {second}, and nothing orders the two")
        }
        (
            Hazard::UninitializedShared | Hazard::UninitializedGlobal | Hazard::UninitializedLocal,
            Some(what),
            _,
        ) => format!("{what} is read by {}, and nobody wrote it", lanes(place.lanes)),
        (Hazard::ConflictingStore, Some(what), _) => {
            format!("lanes of one warp store different values to {what}")
        }
        (Hazard::AsyncCopyNotAwaited, Some(what), _) => {
            format!("{what} is used while the copy to it is still under way")
        }
        (Hazard::ReadOnlyWritten, Some(what), _) => {
            format!("{what} is loaded as read-only, and this launch writes it")
        }
        (Hazard::MemberMask, ..) => {
            format!("{} execute it and are not in their mask", lanes(place.lanes))
        }
        _ => return format!("{name}: {}", finding.message),
    };
    format!("{words} ({name})")
}

/// Returns what to do about a hazard.
pub(crate) fn remedy(submission: &Submission, finding: &Finding) -> String {
    let line = |place: &Place| Some(submission.line_of(place.source.as_deref()?)?.0);
    let other = finding.other.as_ref().and_then(line);
    // A barrier cannot part what one line does.
    if other.is_some() && other == line(&finding.place) {
        return "many do this at once: make reading, changing and writing one atomic operation, or let each have a word of its own".to_owned();
    }
    let [block, warp] = if submission.file.ends_with(".cu") {
        ["__syncthreads()", "__syncwarp()"]
    } else {
        ["thread::sync_threads()", "sync_warp(FULL_MASK)"]
    };
    match finding.fix {
        Some(Remedy::BlockBarrier) if finding.hazard == Hazard::SharedRace => {
            format!(
                "a barrier of the block between the two, where every thread comes by: `{block}`"
            )
        }
        Some(Remedy::WarpBarrier) => format!(
            "a barrier of the warp between the two, `{warp}`, or one of the block if other warps use these words, too"
        ),
        _ => finding.remedy(),
    }
}

/// Returns what one of two accesses does, and who.
fn act(submission: &Submission, place: &Place, other: &Place) -> String {
    let verb = match place.instruction.split('.').next() {
        Some("ld") => "reads",
        Some("st") => "writes",
        Some("cp") => "copies",
        _ => "updates",
    };
    let who = if place.block != other.block {
        format!("block {}", place.block[0])
    } else if place.warp != other.warp {
        format!("warp {}", place.warp)
    } else {
        format!("lane {}", place.lanes.trailing_zeros())
    };
    let line = place.source.as_deref().and_then(|place| submission.line_of(place));
    let line = line.map_or_else(String::new, |(line, _)| format!(" in line {line}"));
    format!("{who} {verb} it{line}")
}

/// The element that a finding is about.
fn concerned(submission: &Submission, arrays: &[Named], finding: &Finding) -> Option<String> {
    match &finding.location {
        Some(Location::SharedVariable { name: path, offset, .. }) => {
            let path = demangled(path).unwrap_or_else(|| path.clone());
            let name = path.rsplit("::").next()?;
            let at = *offset as usize / element_bytes(&submission.source, name);
            return Some(format!("`{name}[{at}]`"));
        }
        Some(location) if location.is_shared() => return None,
        _ => {}
    }
    let (array, at) = element(arrays, finding.address?)?;
    Some(format!("`{}[{at}]`", array.name))
}

/// The bytes of an element of a static array, by its declaration such as `TILE: MaybeUninit<[f64; 32]>` or
/// `__shared__ double tile[32]`.
fn element_bytes(source: &str, name: &str) -> usize {
    let declared = source.split_once(&format!("static mut {name}:"));
    let rust = declared.and_then(|(_, rest)| rest.split_once('[')?.1.split_once(';'));
    let cuda = || {
        let line = source
            .lines()
            .find(|line| line.contains("__shared__ ") && line.contains(&format!("{name}[")));
        line?.split_once("__shared__ ")?.1.split_once(' ')
    };
    match rust.or_else(cuda).map(|(element, _)| element.trim()) {
        Some("u8" | "i8" | "char") => 1,
        Some("u16" | "i16" | "short") => 2,
        Some("u64" | "i64" | "f64" | "double" | "float2") => 8,
        Some("float4" | "double2") => 16,
        _ => 4,
    }
}

fn lanes(mask: u32) -> String {
    let (first, count) = (mask.trailing_zeros(), mask.count_ones());
    if count <= 1 {
        return format!("lane {}", first.min(31));
    }
    let last = 31 - mask.leading_zeros();
    if last - first + 1 == count {
        format!("lanes {first} to {last}")
    } else {
        format!("{count} lanes, the first of which is lane {first},")
    }
}

fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Returns what is said of a kernel that passes though several threads store one word.
pub(crate) fn same_value(submission: &Submission, finding: &Finding) -> String {
    let place = finding.place.source.as_deref().and_then(|place| submission.line_of(place));
    let line = place.map_or_else(String::new, |(line, _)| format!(" in line {line}"));
    format!(
        "several threads store the same value to one word{line}: right in every order, and traffic that one of them could spare"
    )
}

/// Returns what is said of a kernel that passes though some threads come by no barrier.
pub(crate) fn barrier_of_some(submission: &Submission, counted: &Counted) -> Option<String> {
    let lanes = |one: &&results::InstructionCounts| {
        let counters = &one.counters;
        counters.barriers > 0 && counters.thread_instructions < 32 * counters.warp_instructions
    };
    let found = counted.instructions.values().find(lanes)?;
    let line = found.source.as_ref().and_then(|place| line_in(submission, place));
    let line = line.map_or_else(String::new, |(line, _)| format!(" in line {line}"));
    Some(format!(
        "some threads come by no barrier{line}: threads that have ended are not waited for, from compute capability 7.0 on; CUDA's guide still asks for a condition that is the same for the whole block"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_of_the_host_name_elements() {
        let text = "0x40000000008 (it is byte 8 of the allocation of 16 bytes at 0x40000000000)";
        let place = DevicePlace { text: text.to_owned(), offset: 8, bytes: 16 };
        let message = format!("that uses the same memory at {text}, because");
        let words = "that uses the same memory: element 2 of an array of the device with 4 elements, because";
        assert_eq!(misuse(&message, Some(&place)), words);
        assert_eq!(misuse("16 bytes at 0x7f00: it is nothing", None), "16 bytes: it is nothing");
    }

    fn array(name: &str, address: u64, elements: usize, is_output: bool) -> Named {
        Named { name: name.to_owned(), address, elements, element_bytes: 4, is_output }
    }

    #[test]
    fn a_wrong_address_is_an_element_of_an_array() {
        let arrays = [array("source", 0x1000, 545, false), array("target", 0x8000, 545, true)];
        let fault = Some(KernelFault::IllegalAddress);
        let access =
            |address, writes| MisusedMemory { address, location: None, lanes: 0xfe00, writes };
        let words = stopped(&arrays, fault, Some(&access(0x18a4, false)), "cuLaunchKernel");
        let begin = "lanes 9 to 15 read `source[553]`, and `source` has 545 elements. The executor: cuLaunch";
        assert!(words.starts_with(begin), "{words}");
        let below = stopped(&arrays, fault, Some(&access(0x7ff8, true)), "");
        assert!(below.starts_with("lanes 9 to 15 write `target[-2]`"), "{below}");
        assert_eq!(stopped(&arrays, None, None, "deadlock"), "deadlock");
    }

    #[test]
    fn a_wrong_result_names_its_array() {
        let arrays = [array("source", 0x1000, 1, false), array("target", 0x8000, 1, true)];
        let outside = fault(&arrays, &Fault::OutOfBounds { output: 0, byte: 7 });
        assert_eq!(outside, "`target[1]` was written, and `target` has 1 element");
        let outside = fault(&arrays, &Fault::OutOfBounds { output: 0, byte: -1 });
        assert_eq!(outside, "`target[-1]` was written, and `target` has 1 element");
    }

    #[test]
    fn lanes_and_elements_have_numbers() {
        assert_eq!(lanes(1 << 31), "lane 31");
        assert_eq!(lanes(0xffff_0000), "lanes 16 to 31");
        assert_eq!(lanes(0b101), "2 lanes, the first of which is lane 0,");
        let source = "static mut TILE: MaybeUninit<[f64; 32]> = x;";
        assert_eq!((element_bytes(source, "TILE"), element_bytes(source, "OWN")), (8, 4));
    }
}

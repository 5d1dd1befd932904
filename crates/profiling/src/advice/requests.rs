//! Shapes of the addresses of one request.

use results::RequestRecord;

/// The lanes that take part, with their addresses.
pub fn lanes(record: &RequestRecord) -> Vec<(usize, u64)> {
    let lanes = record.lanes.iter().enumerate();
    lanes.filter_map(|(lane, address)| Some((lane, (*address)?))).collect()
}

/// The distance in bytes from each lane to the next, where it is the same for all of them, and there are two at least.
pub fn stride(record: &RequestRecord) -> Option<i64> {
    let lanes = lanes(record);
    let distance = |pair: &[(usize, u64)]| {
        let lanes = (pair[1].0 - pair[0].0) as i64;
        let bytes = pair[1].1.wrapping_sub(pair[0].1).cast_signed();
        (bytes % lanes == 0).then(|| bytes / lanes)
    };
    let mut distances = lanes.windows(2).map(distance);
    let first = distances.next()??;
    distances.all(|other| other == Some(first)).then_some(first)
}

/// The first two lanes of a request with the bytes that they want, as a sentence's part.
pub fn two_lanes(record: &RequestRecord) -> String {
    let lanes = lanes(record);
    match lanes[..] {
        [(one, first), (other, second), ..] => {
            let distance = second.wrapping_sub(first).cast_signed();
            format!("lanes {one} and {other} are {distance} bytes apart")
        }
        [(one, _)] => format!("only lane {one} takes part"),
        [] => String::new(),
    }
}

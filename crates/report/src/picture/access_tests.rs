use super::*;
use results::RequestCounts;

#[test]
fn captions_say_what_is_asked_and_moved() {
    let mut record = RequestRecord {
        kind: RequestKind::GlobalLoad,
        bytes: 4,
        lanes: std::array::from_fn(|lane| Some(256 + 4 * lane as u64)),
        traffic: RequestCounts {
            requests: 1,
            lanes: 32,
            bytes: 128,
            bytes_distinct: 128,
            sectors: 4,
            ..RequestCounts::default()
        },
        wavefronts: Vec::new(),
    };
    assert_eq!(
        caption(&record),
        "32 lanes, 4 bytes each, 128 bytes requested, 4 sectors = 128 bytes moved: 100 %."
    );
    let word = |index| vec![ServedWord { index, lanes: 1 }];
    record.kind = RequestKind::SharedLoad;
    record.wavefronts = vec![word(3), word(35)];
    (record.traffic.wavefronts, record.traffic.wavefronts_ideal) = (2, 1);
    assert_eq!(
        caption(&record),
        "32 lanes, 4 bytes each, 2 wavefronts: words 3 and 35 are in bank 3."
    );
}

#[test]
fn a_kernel_without_requests_has_a_picture() {
    let text = draw("a/b", "a.rs", &Requests::of("a.rs", "", &[]));
    assert!(text.contains("asks nothing of"), "{text}");
}

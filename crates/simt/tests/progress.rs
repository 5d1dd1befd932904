//! A launch that is under way tells how far it is, and can be ended.

use simt::{Error, Launch, Memory, Module, Options, run, under_way};
use std::time::{Duration, Instant};

#[test]
fn a_launch_under_way_is_seen_and_ended() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry counts_for_years() {\n\
                .reg .pred %p; .reg .b32 %r; .reg .b64 %rd;\nmov.u32 %r, %ctaid.x; setp.lt.u32 %p, %r, 2; @%p ret;\n\
                mov.u64 %rd, 0; L: add.u64 %rd, %rd, 1; setp.ne.u64 %p, %rd, 0;\n@%p bra L; ret; }\n";
    let module = Module::parse(text).unwrap();
    let mine = || under_way().into_iter().find(|one| one.kernel() == "counts_for_years");
    let ended = std::thread::scope(|scope| {
        let launched = scope.spawn(|| {
            let launch = Launch::new("counts_for_years", [3, 1, 1], [32, 1, 1]);
            let options = Options { fuel: u64::MAX, threads: 1, ..Options::default() };
            run(&module, &mut Memory::default(), &launch, &options)
        });
        let begin = Instant::now();
        let mut seen = None;
        while seen.is_none() && begin.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(5));
            seen = mine().and_then(|progress| Some((progress.place()?, progress.sentence(7))));
        }
        mine().expect("it counts for years").stop();
        (launched.join().unwrap(), seen.expect("it says where it is"))
    });
    let (outcome, (place, sentence)) = ended;
    assert_eq!((place.block, place.kernel.as_str()), ([2, 0, 0], "counts_for_years"));
    let told = "kernel `counts_for_years` after 7 s: 2 of 3 blocks ended, ";
    assert!(sentence.starts_with(told), "{sentence}");
    assert!(sentence.ends_with(" warp-instructions"), "{sentence}");
    let Err(Error::OutOfFuel { place, fuel, .. }) = outcome else { panic!("{outcome:?}") };
    assert!(place.block == [2, 0, 0] && fuel > 0, "{place}: {fuel}");
    assert!(mine().is_none());
}

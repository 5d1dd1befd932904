use super::*;

const START: u64 = 64 * BLOCK;
const ROOM: u64 = 1 << 40;
/// Long after the host touched anything, at 0.
const LATER_NS: f64 = 1e9;

fn written_by_host(blocks: u64) -> Managed {
    let mut managed = Managed::default();
    managed.add(START, blocks * BLOCK);
    managed.host_touches(START..START + blocks * BLOCK, true, 0.0);
    managed
}

fn kernel(managed: &mut Managed, range: Range<u64>, writes: bool, room: u64) -> PageMoves {
    let touched = Managed::granules_of(range).map(|at| (at / GRANULE, writes)).collect();
    managed.kernel_touches(&touched, (LATER_NS, room), |_, _| true)
}

#[test]
fn a_kernel_that_reads_all_of_a_block_faults_six_times_and_then_no_more() {
    let mut managed = written_by_host(2);
    let all = START..START + 2 * BLOCK;
    let first = kernel(&mut managed, all.clone(), false, ROOM);
    assert_eq!((first.faults, first.to_device_bytes), (12, 2 * BLOCK));
    assert_eq!(kernel(&mut managed, all.clone(), true, ROOM), PageMoves::default());
    assert_eq!(managed.device_bytes(), 2 * BLOCK);
    let back = managed.host_touches(all.clone(), false, 0.0);
    assert_eq!((back.faults, back.to_host_bytes), (2, 2 * BLOCK));
    assert_eq!(kernel(&mut managed, START..START + 1, false, ROOM).to_device_bytes, GRANULE);
    managed.remove(START);
    assert_eq!((managed.device_bytes(), managed.used.len(), managed.oldest.len()), (0, 0, 0));
}

#[test]
fn the_first_touch_by_the_device_moves_nothing_unless_the_host_had_written() {
    let mut managed = Managed::default();
    managed.add(START, BLOCK);
    let touched: BTreeMap<u64, bool> = [(START / GRANULE, true)].into();
    let moves = managed.kernel_touches(&touched, (LATER_NS, ROOM), |_, _| true);
    assert_eq!((moves.faults, moves.to_device_bytes), (1, 0));
    let next: BTreeMap<u64, bool> = [(START / GRANULE + 4, false)].into();
    let moves = managed.kernel_touches(&next, (LATER_NS, ROOM), |_, _| false);
    assert_eq!((moves.faults, moves.to_device_bytes), (1, GRANULE));
}

#[test]
fn what_was_prefetched_does_not_fault() {
    let mut managed = written_by_host(1);
    let all = START..START + BLOCK;
    let moves = managed.move_to(Side::Device, all.clone(), ROOM, |_, _| true);
    assert_eq!((moves.faults, moves.to_device_bytes), (0, BLOCK));
    assert_eq!(kernel(&mut managed, all.clone(), true, ROOM), PageMoves::default());
    let moves = managed.move_to(Side::Host, all.clone(), ROOM, |_, _| true);
    assert_eq!(moves.to_host_bytes, BLOCK);
    assert_eq!(managed.host_touches(all, true, 0.0), PageMoves::default());
}

#[test]
fn read_mostly_memory_is_on_both_sides_until_somebody_writes() {
    let mut managed = written_by_host(1);
    let all = START..START + BLOCK;
    managed.advise(all.clone(), Advice::ReadMostly(true));
    assert_eq!(kernel(&mut managed, all.clone(), false, ROOM).to_device_bytes, BLOCK);
    assert_eq!(managed.host_touches(all.clone(), false, 0.0), PageMoves::default());
    assert_eq!(kernel(&mut managed, all.clone(), true, ROOM), PageMoves::default());
    assert_eq!(
        managed.host_touches(all.clone(), false, 0.0).to_host_bytes,
        BLOCK,
        "the host's copy was out of date"
    );
    managed.host_touches(all.clone(), true, 0.0);
    assert_eq!(
        kernel(&mut managed, all, false, ROOM).to_device_bytes,
        BLOCK,
        "and now the device's"
    );
}

#[test]
fn advice_maps_what_lies_on_the_host() {
    let all = START..START + BLOCK;
    for advice in [Advice::Preferred(Some(Side::Host)), Advice::AccessedBy(Side::Device, true)] {
        let mut managed = written_by_host(1);
        managed.advise(all.clone(), advice);
        assert!(managed.mapped_ranges(|_, _| true).iter().eq([&all]));
        assert_eq!(kernel(&mut managed, all.clone(), true, ROOM), PageMoves::default());
    }
    let mut managed = written_by_host(1);
    managed.advise(all.clone(), Advice::AccessedBy(Side::Device, true));
    managed.move_to(Side::Device, all.clone(), ROOM, |_, _| true);
    assert_eq!(managed.mapped_ranges(|_, _| true), [], "advice does not hold back a prefetch");
    assert!(managed.is_accessed_by(all.clone(), Side::Device));
    managed.advise(all.clone(), Advice::AccessedBy(Side::Device, false));
    assert!(!managed.is_accessed_by(all, Side::Device));
}

#[test]
fn a_full_device_evicts_what_was_used_least_recently() {
    let mut managed = written_by_host(3);
    let block = |number: u64| START + number * BLOCK..START + (number + 1) * BLOCK;
    kernel(&mut managed, block(0), true, 2 * BLOCK);
    kernel(&mut managed, block(1), true, 2 * BLOCK);
    kernel(&mut managed, block(0), true, 2 * BLOCK);
    let moves = kernel(&mut managed, block(2), true, 2 * BLOCK);
    assert_eq!((moves.evicted_blocks, moves.to_host_bytes), (1, BLOCK));
    assert_eq!(kernel(&mut managed, block(0), true, 2 * BLOCK), PageMoves::default(), "it stayed");
    assert_eq!(kernel(&mut managed, block(1), true, 2 * BLOCK).to_device_bytes, BLOCK);
    assert_eq!(managed.shrink(BLOCK).evicted_blocks, 1);
    assert_eq!(managed.device_bytes(), BLOCK);
}

#[test]
fn a_range_has_what_all_of_it_has() {
    let mut managed = written_by_host(2);
    let (one, both) = (START..START + BLOCK, START..START + 2 * BLOCK);
    managed.advise(one.clone(), Advice::ReadMostly(true));
    managed.advise(both.clone(), Advice::Preferred(Some(Side::Device)));
    managed.note_prefetch(Side::Device, one.clone());
    assert!(managed.is_read_mostly(one.clone()) && !managed.is_read_mostly(both.clone()));
    assert_eq!(managed.preferred(both.clone()), Some(Side::Device));
    assert_eq!((managed.prefetched(one), managed.prefetched(both)), (Some(Side::Device), None));
    assert!(managed.holds(START, 2 * BLOCK) && !managed.holds(START, 2 * BLOCK + 1));
}

#[test]
fn a_granule_that_goes_to_and_fro_stays_with_the_host() {
    let touched = BTreeMap::from([(START / GRANULE, true)]);
    let bounce = |every_ns: f64| -> Vec<u64> {
        let mut managed = written_by_host(1);
        let turns = (1..=6).map(|turn| {
            let now_ns = f64::from(turn) * every_ns;
            let moves = managed.kernel_touches(&touched, (now_ns, ROOM), |_, _| false);
            managed.host_touches(START..START + 4, true, now_ns + 1e3);
            moves.faults
        });
        turns.collect()
    };
    assert_eq!(bounce(1e5), [1, 1, 0, 0, 0, 0]);
    assert_eq!(bounce(1e6), [1; 6], "a millisecond apart is not thrashing");
}

#[test]
fn what_was_discarded_moves_to_nobody_until_the_host_writes_it() {
    let mut managed = written_by_host(2);
    let (all, first) = (START..START + 2 * BLOCK, START..START + BLOCK);
    managed.move_to(Side::Device, all.clone(), ROOM, |_, _| true);
    // Less than a granule at the end stays.
    managed.discard(START..START + BLOCK + GRANULE - 1);
    assert_eq!(managed.device_bytes(), BLOCK);
    let holds_what_was_left = |_: Range<u64>, byte| byte == DISCARDED;
    let moves = managed.move_to(Side::Device, all.clone(), ROOM, holds_what_was_left);
    assert_eq!((moves.to_device_bytes, managed.device_bytes()), (0, 2 * BLOCK));
    managed.discard(first.clone());
    // The host has written since.
    let moves = managed.move_to(Side::Device, first, ROOM, |_, _| false);
    assert_eq!(moves.to_device_bytes, BLOCK);
}

#[path = "../tests/support/spent.rs"]
mod spent;

use super::*;
use spent::spent;

#[test]
fn devices_have_addresses_and_room_of_their_own() {
    let mut memory = Memory::of_devices(&[1000, 2000]);
    let here = memory.allocate(600).expect("there is room");
    assert!(memory.allocate(600).is_err(), "the first device is full");
    memory.select(1);
    let there = memory.allocate(1500).expect("the second has room");
    assert_eq!((memory.device_of(here), memory.device_of(there)), (Some(0), Some(1)));
    assert_eq!((memory.used_bytes(), memory.capacity_bytes()), (1500, 2000));
    memory.free(here).expect("it is allocated");
    assert_eq!(memory.used_bytes(), 1500, "the other device freed it");
    memory.select(0);
    assert_eq!(memory.used_bytes(), 0);
}

#[test]
fn an_allocation_that_fills_a_large_page_is_aligned_to_one() {
    let mut memory = Memory::new(1 << 30);
    for (bytes, alignment) in [(1, 512), (PAGE, PAGE), (PAGE - 1, 512), (5 * PAGE + 8, PAGE)] {
        let address = memory.allocate(bytes).expect("there is room");
        assert!(address.is_multiple_of(alignment), "{address:#x} for {bytes} bytes");
    }
    assert_eq!(memory.used_bytes(), 1 + PAGE + PAGE - 1 + 5 * PAGE + 8);
}

#[test]
fn freeing_in_any_order_takes_as_long_as_there_are_allocations() {
    let seconds = |count: usize| {
        let mut memory = Memory::new(1 << 30);
        let all: Vec<u64> = (0..count).map(|_| memory.allocate(8).expect("room")).collect();
        let begin = std::time::Instant::now();
        let before = spent(begin);
        // Every one once, since the stride is prime and does not divide the count.
        for at in 0..count {
            memory.free(all[at * 7919 % count]).expect("it is allocated");
        }
        assert_eq!((memory.used_bytes(), memory.allocations().len()), (0, 0));
        spent(begin).saturating_sub(before).as_secs_f64()
    };
    // By the square it would be 256 times as long. The own time of a thread may go by ticks of 4 ms.
    let least = |count| (0..3).map(|_| seconds(count)).fold(f64::INFINITY, f64::min);
    let (few, many) = (least(4000), least(64_000));
    assert!(many < 80.0 * few.max(4e-3), "{few} s for 4000, {many} s for 64000");
}

#[test]
fn what_is_freed_leaves_no_trace_between_its_neighbours() {
    let mut memory = Memory::new(1 << 20);
    let all = [(); 8].map(|()| memory.allocate(512).expect("there is room"));
    for freed in [all[2], all[4]] {
        memory.free(freed).expect("it is allocated");
        assert!(memory.allocation(freed).is_none() && memory.free(freed).is_err());
    }
    assert_eq!(memory.allocations().len(), 6);
    assert!(memory.describe(all[3] - 1).contains("before the allocation of 512"));
    // Host memory may lie where other host memory was, and begin before it.
    let mut host = vec![0u64; 1024];
    let at = host.as_mut_ptr().cast::<u8>();
    for (offset, bytes) in [(512, 64), (0, 4096)] {
        // SAFETY: the vector outlives the mapping, no launch runs, and the address is the pointer's.
        unsafe {
            let start = at.add(offset);
            memory.map(start as u64, start, bytes).expect("nothing is there");
            assert!(memory.map(start as u64, start, bytes).is_err(), "now it is");
        }
        assert_eq!(memory.allocation(at as u64 + 512).map(|one| one.bytes), Some(bytes));
        if offset > 0 {
            memory.unmap(at as u64 + offset as u64).expect("it is mapped");
        }
    }
}

#[test]
fn what_is_hidden_is_not_there_and_named() {
    let mut memory = Memory::of_devices(&[1000, 2000]);
    memory.select(1);
    let there = memory.allocate(64).expect("there is room");
    memory.hide(|address| Memory::addresses(1).contains(&address));
    assert!(memory.allocation(there).is_none());
    let message = memory.describe(there + 8);
    assert!(message.contains("on device 1, which this device has no access to"), "{message}");
    memory.show();
    assert_eq!(memory.allocation(there).map(|found| found.bytes), Some(64));
}

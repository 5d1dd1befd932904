//! The machine's own driver, through cust.

use cust::memory::{CopyDestination, DeviceBuffer};

#[test]
#[ignore = "needs a GPU"]
fn values_travel_to_the_device_and_back() {
    let info = cuda_driver::status().unwrap();
    assert!(!info.is_virtual && info.version >= cuda_driver::MINIMUM_VERSION, "{info}");
    assert_eq!(cuda_driver::probe().unwrap(), info);
    let _context = cust::quick_init().unwrap();
    let values: Vec<u32> = (0..10_000).collect();
    let buffer = DeviceBuffer::from_slice(&values).unwrap();
    let mut back = vec![0; values.len()];
    buffer.copy_to(&mut back).unwrap();
    assert_eq!(back, values);
    assert_eq!(cuda_driver::unavailable_calls(), []);
}

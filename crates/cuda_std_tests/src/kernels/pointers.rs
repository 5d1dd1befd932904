use core::mem::MaybeUninit;
use cuda_std::ptr::{self, AddressSpace};
use cuda_std::{address_space, kernel, thread};

/// A word of constant memory.
#[address_space(constant)]
pub static mut POINTERS_CONSTANT: [u32; 4] = [5, 6, 7, 8];

/// Stores for a pointer that the host chose, and for pointers into each space, what they point into.
#[kernel]
pub unsafe fn is_in_address_space(pointers: *const *const u32, target: *mut u32) {
    #[address_space(shared)]
    static mut WORD: MaybeUninit<u32> = MaybeUninit::uninit();
    let tid = thread::thread_idx_x() as usize;
    let shared = (&raw const WORD).cast::<u32>();
    let constant = (&raw const POINTERS_CONSTANT).cast::<u32>();
    // SAFETY: the launch contract of the module; nothing is read through the pointers.
    unsafe {
        let of = |pointer| {
            u32::from(ptr::is_in_address_space(pointer, AddressSpace::Global))
                | u32::from(ptr::is_in_address_space(pointer, AddressSpace::Shared)) << 1
                | u32::from(ptr::is_in_address_space(pointer, AddressSpace::Constant)) << 2
                | u32::from(ptr::is_in_address_space(pointer, AddressSpace::Local)) << 3
        };
        *target.add(tid) = of(*pointers) | of(shared) << 4 | of(constant) << 8;
    }
}

/// Converts a pointer into shared memory to an address and back, and stores through the result.
#[kernel]
pub unsafe fn convert_addresses(source: *const u32, target: *mut u32) {
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[u32; super::THREADS as usize]> = MaybeUninit::uninit();
    let tile = (&raw mut TILE).cast::<u32>();
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module; the conversions are each other's inverse, and
    // a thread reads what it wrote itself.
    unsafe {
        let address =
            ptr::convert_generic_to_specific_address_space(tile.add(tid), AddressSpace::Shared);
        let pointer = ptr::convert_specific_address_space_to_generic(address, AddressSpace::Shared);
        *pointer.cast_mut() = *source.add(tid);
        let low = ptr::shared_address(tile.add(tid)) - ptr::shared_address(tile);
        *target.add(tid) = *tile.add(tid) + low;
    }
}

#[kernel]
pub unsafe fn convert_other_spaces(source: *const u32, target: *mut u32) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module; the conversions are each other's inverse.
    unsafe {
        let global = ptr::convert_generic_to_specific_address_space(source, AddressSpace::Global);
        let global = ptr::convert_specific_address_space_to_generic(global, AddressSpace::Global);
        let table = (&raw const POINTERS_CONSTANT).cast::<u32>();
        let constant =
            ptr::convert_generic_to_specific_address_space(table, AddressSpace::Constant);
        let constant =
            ptr::convert_specific_address_space_to_generic(constant, AddressSpace::Constant);
        let variable = MaybeUninit::new(tid as u32);
        let local =
            ptr::convert_generic_to_specific_address_space(variable.as_ptr(), AddressSpace::Local);
        let local = ptr::convert_specific_address_space_to_generic(local, AddressSpace::Local);
        *target.add(tid) = *global.add(tid) + *constant.add(tid % 4) + local.read_volatile();
    }
}

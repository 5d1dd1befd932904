//! Types that shared memory cannot have.
use core::mem::MaybeUninit;
use cuda_std::address_space;

#[address_space(shared)]
static IMMUTABLE: MaybeUninit<u32> = MaybeUninit::uninit();

#[address_space(shared)]
static mut PLAIN: [u32; 4] = [0; 4];

#[address_space(shared)]
static mut INITIALizED: MaybeUninit<u32> = MaybeUninit::new(1);

#[address_space(local)]
static mut LOCAL: u32 = 0;

#[address_space(texture)]
static mut TEXTURE: u32 = 0;

fn main() {}

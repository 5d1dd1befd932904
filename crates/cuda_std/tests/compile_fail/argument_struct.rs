//! Structures that cannot be passed to a kernel.

use cuda_std::Argument;

#[derive(Clone, Copy, Argument)]
pub struct NoLayout {
    pub a: u32,
}

#[derive(Clone, Copy, Argument)]
#[repr(C)]
pub struct Padding {
    pub a: u32,
    pub b: u64,
}

#[derive(Clone, Copy, Argument)]
#[repr(C)]
pub struct Pointer {
    pub a: *const u32,
}

#[derive(Clone, Copy, Argument)]
#[repr(C)]
pub struct Reference<'a> {
    pub a: &'a u32,
}

#[derive(Clone, Copy, Argument)]
#[repr(u8)]
pub enum Choice {
    One,
}

fn main() {}

//! The device code of a project of somebody else.

#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

pub mod saxpy;

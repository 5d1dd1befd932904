//! The device code of a project of somebody else.

#![no_std]

pub mod saxpy;

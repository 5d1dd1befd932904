//! The kernels of my-app, a file for each thing that they compute. For a GPU each `#[kernel]` is a PTX entry; for the host
//! it is a token that launches are checked against.

#![no_std]

pub mod saxpy;
pub mod sum;
pub mod transpose;

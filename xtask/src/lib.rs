#![allow(missing_docs, reason = "this crate is not published")]

pub mod proofs;

//! Lance behind a narrow C ABI: open, read and commit versions of one dataset.
//!
//! The C++ side decides what to write; this crate turns that into exactly one Lance version, or
//! into nothing. It knows rows, addresses and properties, and nothing of change data capture. It
//! never retries, never rebases over another writer's commit and never cleans up on its own.
//!
//! `lastword_lance.h` is the contract; `ffi.rs` is its only implementation, everything else is
//! safe Rust.

mod commit_handler;
mod dataset;
mod durability;
mod error;
mod evolution;
mod ffi;
mod index;
mod maintenance;
mod runtime;
mod scan;
mod write;

//! Kernels against their definitions.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod broadcast;
mod elementwise;
mod fused;
mod hostile;
mod moves;
mod paired;
mod recorded;
mod reductions;
#[cfg(not(feature = "small"))]
mod sparse;
mod support;
mod transposed;
mod windows;
#[cfg(not(feature = "small"))]
mod winograd;
mod words;

//! Kernels against their definitions.

mod elementwise;
mod support;
mod windows;

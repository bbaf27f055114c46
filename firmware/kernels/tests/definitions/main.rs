//! Kernels against their definitions.

mod elementwise;
mod hostile;
mod support;
mod windows;

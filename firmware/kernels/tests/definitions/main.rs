//! Kernels against their definitions.

mod elementwise;
mod hostile;
mod recorded;
mod support;
mod windows;

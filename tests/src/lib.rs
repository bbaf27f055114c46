//! What the suites share: random models, a host that runs plan images, the emulated board, the
//! built program.
#![allow(missing_docs, reason = "a program: nothing else uses its items")]

pub mod bring_up;
pub mod browser;
#[cfg(target_os = "linux")]
pub mod browser_port;
pub mod campaign;
pub mod clock;
#[cfg(target_os = "linux")]
pub mod desk;
pub mod emulated;
pub mod failing;
pub mod faulty;
pub mod host;
pub mod hostile;
pub mod onnx_file;
pub mod program;
#[cfg(target_os = "linux")]
#[path = "../../cli/src/desk/pseudo.rs"]
mod pseudo;
pub mod random_model;
pub mod server;
pub mod static_host;
pub mod strategies;
pub mod swapped;

//! What the suites share: random models, a host that runs plan images, the emulated board, the
//! built program.

pub mod bring_up;
pub mod browser;
pub mod campaign;
pub mod clock;
pub mod emulated;
pub mod failing;
pub mod faulty;
pub mod host;
pub mod hostile;
pub mod onnx_file;
pub mod program;
pub mod random_model;
pub mod server;
pub mod static_host;
pub mod strategies;
pub mod swapped;

//! What the suites share: random models and a host that runs plan images.

pub mod emulated;
pub mod host;
pub mod hostile;
pub mod random_model;

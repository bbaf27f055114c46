//! What the core reaches: memories and devices, and what moves bytes beside it.

pub mod access;
pub(crate) mod ahead;
pub(crate) mod card;
pub(crate) mod console;
pub mod constants;
pub mod devices;
pub(crate) mod dma;
pub mod external;
pub(crate) mod flash;
pub(crate) mod host;
pub mod memories;

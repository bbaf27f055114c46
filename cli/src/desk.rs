//! The desk: ports, probes, drives and tools of this computer, and who stands at the port.

pub mod drives;
pub mod image;
pub mod port;
pub mod ports;
#[cfg(target_os = "linux")]
pub mod pseudo;
pub mod tools;
pub mod usb;
pub mod writers;

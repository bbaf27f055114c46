//! The C interface called on the host, with what C could give it.
#![allow(unsafe_code, reason = "calls as C makes them")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod bad_input;
mod callbacks;
mod plans;
mod support;

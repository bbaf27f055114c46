//! Experiments over many networks and techniques, a step at a time, so that a host can show progress and give up.

mod fit;
mod published;

pub use fit::{ExploreError, FIT_BOARD, Fit};

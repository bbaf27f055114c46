//! Experiments over many networks and techniques, a step at a time, so that a host can show progress and give up.

mod published_sram;
mod what_fits;

pub use what_fits::{ExploreError, FIT_BOARD, Fit};

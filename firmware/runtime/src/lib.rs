//! Runs the step programs of a validated plan image: on boards, on the host and in WASM.
//!
//! [`run_program`] walks a program's core lane and calls kernels on slices of [`Memory`]. An
//! [`Observer`] hears of each step. Lanes of transfer engines are run by a [`LaneDriver`], which
//! the board provides, or by [`SoftwareEngines`] where there are none; without one, programs with
//! such lanes are refused.
//!
//! The `console` feature adds what a board says and hears on its serial port.
#![cfg_attr(not(test), no_std)]

pub mod card;
#[cfg(feature = "console")]
pub mod console;
mod convert;
mod dispatch;
mod error;
mod exit;
mod lanes;
mod memory;
mod observe;
mod pieces;
mod program;
mod replay;
mod schedule;
mod software;

pub use dispatch::run as run_step;
pub use error::{Cause, Place, RunError};
pub use lanes::{LaneDriver, LaneError, NoEngines};
pub use memory::{AccessError, Memory};
pub use observe::Observer;
pub use pieces::{Piece, Pieces, Run, Runs, Width};
pub use program::{Awaited, Reached, run_from, run_program, run_with};
pub use replay::is_replayable;
pub use schedule::{Schedule, Transfer};
pub use software::{Pace, SoftwareEngines};

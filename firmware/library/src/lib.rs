//! The runtime behind a C interface: a plan runs inside firmware that its owner writes.
//!
//! `include/tilewright.h` is the interface and its manual. The functions in [`calls`] have its names; everything that
//! crosses the border is checked there or in [`places`], so that wrong arguments become a status and a text. Two
//! promises are the caller's, since no code can check them: a pointer that is not null leads to as many bytes as were
//! said, and nobody else writes to them meanwhile.
//!
//! The library owns no engine. Copies of DMA lanes and of a card's lane are made by the core when a step waits for them
//! ([`transfers`]): the plan computes the same, and takes longer than on the board's own firmware. Plans that need more
//! are refused when they are opened, by the rule that `tilewright image --library` follows too
//! ([`tilewright_plan::image::Demand`]).
//!
//! This crate is compiled for tests on the host as well. `firmware/boards/library` makes the static library of it.
#![no_std]

pub mod abi;
pub mod calls;
mod failure;
mod invoke;
mod open;
mod places;
mod state;
mod text;
mod transfers;

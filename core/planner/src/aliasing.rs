//! Aliasing: tensors that share bytes though both live.
//!
//! * Elementwise layers write over an operand that nothing needs afterwards.
//! * Operands of concats are made where the output lies ([`Parts`]).
//! * Slices are read where their operand lies ([`slices`]).
//! * Layers in rows write where earlier rows had their input ([`overlap_offset`]): output and input overlap
//!   diagonally, and how far follows from the geometry alone.
//!
//! [`arrange`] finds offsets with all of these; the validator proves each plan anew.

mod arrange;
mod graph;
pub mod overlap_offset;
mod parts;
mod slices;

pub use arrange::{
    Aliasing, AllowedOverlap, Arranged, Given, Held, Savings, arrange, arrange_given, savings,
    single_steps,
};
pub use graph::graph;
pub use parts::Parts;

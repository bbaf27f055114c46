//! Plans, step programs and the plan image.
//!
//! A [`Program`] is one ordered list of [`Step`]s per lane: the core, and one per transfer
//! engine. Steps refer to tables of [`Op`]s, [`Tile`]s, [`View`]s and [`Span`]s. The same records
//! stand in memory while planning and, byte for byte, in the plan image, which firmware reads in
//! place with [`PlanImage`]. `FORMAT.md` beside this crate describes the image.
//!
//! Without the `alloc` feature the crate is `no_std` without allocation: what firmware needs.
#![cfg_attr(not(any(test, feature = "schema")), no_std)]
#![warn(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap)]

#[cfg(feature = "alloc")]
extern crate alloc;

#[cfg(not(target_endian = "little"))]
compile_error!(
    "plan images are little-endian and read in place; big-endian hosts are not supported"
);

#[cfg(feature = "alloc")]
pub mod copy_checksums;
pub mod domain;
pub mod filters;
pub mod gather;
pub mod image;
pub mod kernel;
pub mod op;
pub mod pieces;
#[cfg(feature = "alloc")]
pub mod plan;
pub mod rows;
pub mod sector_checksums;
#[cfg(feature = "alloc")]
pub mod sparse_cuts;
pub mod spec;
pub mod step;
pub mod step_equivalence;
pub mod units;
pub mod view;
pub mod window;

pub use filters::{Filters, Packed};
pub use gather::Gather;
pub use image::{ImageError, PlanImage};
pub use kernel::{Kernel, Role};
pub use op::{Op, PoolBehind};
#[cfg(feature = "alloc")]
pub use plan::{
    ChannelPart, Constant, ConstantRole, InputResidency, Io, Lane, Plan, PlannedLayer,
    PlannedTensor, Program, Reader, Subnetwork, Work,
};
pub use sector_checksums::SectorChecksums;
#[cfg(feature = "alloc")]
pub use sparse_cuts::SparseCuts;
pub use spec::{Boxes, Filter, Gaps, KernelSpec, Pass, Reach};
pub use step::{After, Instruction, LaneKind, RowOrder, Step, StepRecord};
pub use step_equivalence::StepEquivalence;
#[cfg(feature = "alloc")]
pub use units::grouped;
pub use units::{Bytes, CyclePoint, Cycles, Hertz, Micros};
pub use view::{Space, Span, Tile, View};
pub use window::{Arrival, Arrivals, Window};

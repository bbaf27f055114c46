//! The way from a model file to a run report, shared by server and command line. Each part is a
//! function from values to values; progress is told by callback and every part can be cancelled.

mod emulate;

pub(crate) use emulate::capitalised;
pub use emulate::{Machine, PlanFile, package, run_image};

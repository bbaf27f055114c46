//! Timelines, figures and every report that is printed or drawn.
//!
//! Keys of serialised reports are snake_case with the unit in the name; scripts rely on them.

mod figure;
mod memory_map;
mod plan_report;
mod run_report;
mod timeline;

pub use figure::Kind;
pub use memory_map::{MemoryMap, MemoryRow, TensorUse};
pub use plan_report::{DoesNotFit, LayerRow, PlanReport, Stage};
pub use run_report::{Difference, Fault, FaultKind, LayerCount, RunReport};
pub use timeline::{Counts, Slice, SliceKind, Timeline};

//! The way from a model file to a run report, shared by server and command line. Each part is a
//! function from values to values; progress is told by callback and every part can be cancelled.

mod bounds;
mod card;
mod emulate;
mod files;
mod package;
mod plan_file;
mod planning;
mod prepare;
mod remedies;
mod reorder;
mod verified;
pub mod zoo;

pub use bounds::Bounds;
pub use card::{CardTrouble, CardWish};
pub use emulate::{Machine, bytes_of, run_image};
pub use files::{export, export_tflite};
pub use package::Package;
pub use plan_file::{PlanFile, StoreStart};
pub use planning::{checked_plan, checks, is_unsuited, no_recipe, plan_file, unsupported};
pub use prepare::{Examined, Prepared, Samples, examine, import, prepare};
pub use remedies::{Asked, find_remedies};
pub use reorder::rearrange;
pub use verified::run_plan;

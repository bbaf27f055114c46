//! From a model file to a judged run: open, quantise, plan, prove, find remedies, package, run and
//! compare. Command line, server and page share these functions; each brings a [`Host`].
//!
//! Every part is a function from values to values. None reads a file, a clock or the network.

mod board_view;
mod bounds;
mod card;
mod diagnostic;
mod files;
mod host;
mod judge;
mod package;
mod plan_file;
mod planning;
mod progress;
mod quantise;
mod remedies;
mod reorder;
mod result;
mod run;
mod watch;
pub mod zoo;
mod zoo_view;

pub use board_view::BoardView;
pub use bounds::Bounds;
pub use card::{CardTrouble, CardWish};
pub use diagnostic::{Blame, Diagnostic, Need};
pub use files::{export, export_tflite};
pub use host::{Cancel, Host, Silent};
pub use judge::run_plan;
pub use package::Package;
pub use plan_file::{PlanFile, StoreStart};
pub use planning::{checked_plan, checks, is_unsuited, no_recipe, plan_file, unsupported};
pub use progress::{Progress, Stage};
pub use quantise::{Examined, Prepared, Samples, examine, import, prepare};
pub use remedies::{Asked, find_remedies};
pub use reorder::rearrange;
pub use result::{Done, LayerBytes, OutputValues, RunResult, hexadecimal, sha256};
pub use run::{RunOptions, bytes_of, run_image};
pub use tilewright_protocol::Mode;
pub use watch::{WATCHED_LIMIT, WatchedLayer, Watches};
pub use zoo_view::{PublicationView, Slider, ZooView};

//! From a model file to a judged run: open, quantise, plan, prove, find remedies, package, run and
//! compare. Command line, server and page share these functions; each brings a [`Host`].
//!
//! Every part is a function from values to values. None reads a file, a clock or the network.

mod board_view;
mod bounds;
mod card_faults;
mod energy_and_wear;
mod files;
mod float;
mod host;
mod integrity;
mod judge;
mod layer_bytes;
mod library;
mod memory_view;
mod model_view;
mod news;
mod package;
mod plan_file;
mod plan_view;
mod planning;
mod port;
mod progress;
mod quantise;
mod remedies;
mod reorder;
mod resolve;
mod result;
mod run;
mod several;
mod watch;
pub mod zoo;

pub use board_view::BoardView;
pub use bounds::Bounds;
pub use card_faults::{CardTrouble, CardWish};
pub use energy_and_wear::{EnergyAndWear, EnergyAndWearView, IntegrityView, Use};
pub use files::{export, export_tflite};
pub use float::{CompareFloat, FloatSubject};
pub use host::{Cancel, Host, Silent};
pub use integrity::{checks, checks_of, images_again, plan_image, room_for};
pub use judge::{compare, run_plan};
pub use layer_bytes::{LayerBytes, decoded_layers, encoded_layers};
pub use library::{archive_name, library};
pub use memory_view::{LiveView, MemoryView, PlacedView, RowView};
pub use model_view::{KindView, ModelView, OperatorView, StateView, UnknownView};
pub use news::News;
pub use package::{Package, PackagedFile, package};
pub use plan_file::{PlanFile, StoreStart};
pub use plan_view::PlanView;
pub use planning::{checked_plan, is_unsuited, no_plan, no_recipe, plan_file, prove, unsupported};
pub use port::Port;
pub use progress::{Progress, Stage};
pub use quantise::{
    Examined, Prepared, SampleFile, Samples, examine, import, prepare, random_inputs, read_inputs,
    real_inputs, take_pixels,
};
pub use remedies::{Asked, RemedyWork, find_remedies};
pub use reorder::rearrange;
pub use resolve::{Resolved, board_of, resolve};
pub use result::{Done, hexadecimal, sha256};
pub use run::{RunOptions, bytes_of, run_image};
pub use several::several;
pub use tilewright_report::{
    Blame, Comparison, Diagnostic, Engine, LayerCheck, Mode, Need, OutputValues, RunResult,
};
pub use watch::{WATCHED_LIMIT, WatchedLayer, Watches};

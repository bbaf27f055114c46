//! The HTTP server, and the way from a model file to a run report that server and command line
//! share.

mod board_view;
mod config;
mod connections;
mod dist;
mod execute;
mod http;
mod peer;
pub mod pipeline;
mod problem;
mod progress;
mod result;
mod runs;
mod serve;
mod upload;
mod walk;
mod watch;
mod workers;
mod zoo_view;

pub use board_view::BoardView;
pub use config::Config;
pub use dist::Dist;
pub use execute::{Cancel, Execute, RunOutcome, WorkerLimits};
pub use http::{Origins, Shared, description, router};
pub use peer::Peer;
pub use problem::{Blame, Problem};
pub use progress::{Progress, Stage};
pub use result::{Done, LayerBytes, OutputValues, RunResult, hexadecimal, sha256};
pub use runs::{Admission, Kept, Phase, Room, Run, RunProgress, Runs, Work};
pub use serve::{Served, serve};
pub use tilewright_protocol::Mode;
pub use upload::{Part, Spool, Upload};
pub use walk::{Apart, Errand, Here, LayerFile, Left, Walk, walk_for_server};
pub use watch::{WATCHED_LIMIT, WatchedLayer, Watches};
pub use workers::Workers;
pub use zoo_view::{PublicationView, Slider, ZooView};

//! The HTTP server: uploads, jobs, and their results.

mod config;
mod connections;
mod http;
mod peer;
mod runs;
mod serve;
mod upload;
mod walk;

pub use config::Config;
pub use http::{Origins, Shared, description, router};
pub use peer::Peer;
pub use runs::{Admission, Kept, Phase, Room, Run, RunProgress, Runs, Work};
pub use serve::{Served, serve};
pub use upload::{Part, Spool, Upload};
pub use walk::{Apart, Errand, Here, LayerFile, Left, Walk, walk_for_server};

//! The HTTP server: uploads, jobs, and their results.
#![allow(missing_docs, reason = "a program: nothing else uses its items")]

mod config;
mod connections;
mod http;
mod jobs;
mod peer;
mod pipeline;
mod runs;
mod say;
mod serve;
mod upload;

pub use config::Config;
pub use http::{Origins, Shared, description, router};
pub use jobs::{Doer, problem_of};
pub use peer::Peer;
pub use pipeline::{
    Errand, LayerFile, Left, Pipeline, SameProcess, SeparateProcess, run_for_server,
};
pub use runs::{Admission, Kept, Phase, Room, Run, RunProgress, Runs, work};
pub use say::{say, say_problem};
pub use serve::{Served, serve};
pub use upload::{Part, Spool, Upload};

//! The page and its workers: WASM programs that share this library.
//!
//! * `page` draws. [`state`] holds everything it knows and [`view_model`] everything it shows, both
//!   plain Rust with tests that run on the host; [`ui`] only draws, [`session`] carries out what
//!   the state asks for.
//! * `planner` plans and packages; `importer` reads models, quantises them and runs the reference.
//!   Each is a web worker that answers the requests of [`message`].
//! * `float` compares with the float model and `search` searches cells: workers that are fetched only when somebody asks.
#![allow(missing_docs, reason = "a program: nothing else uses its items")]

pub mod message;
#[cfg(feature = "page")]
pub mod session;
pub mod state;
#[cfg(feature = "page")]
pub mod ui;
pub mod view_model;
pub mod wire;
#[cfg(feature = "planner")]
pub mod workers;

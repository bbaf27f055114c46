//! Components: they draw what the view models say and send events.

mod app;
mod chart;
mod empty;
mod files;
mod firmware;
mod graph;
mod header;
mod icon;
mod layers;
mod memory;
mod overview;
mod panel;
mod parts;
mod quantisation;
mod run;
mod save;
mod status;
mod timeline;
mod zoo;

pub use app::App;

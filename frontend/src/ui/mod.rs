//! Components: they draw what the view models say and send events.

mod alternatives;
mod app;
mod chart;
mod choice;
mod compare;
mod empty;
mod facts;
mod files;
mod firmware;
mod fit;
mod graph;
mod header;
mod hot;
mod icon;
mod later;
mod layers;
mod live_table;
mod memory;
mod overview;
mod panel;
mod parts;
mod quantisation;
mod roofline;
mod run;
mod save;
mod schedule;
mod slider;
mod status;
mod tabs;
mod timeline;
mod walk;
mod walk_drawing;
mod why_not;
mod zoo;

pub use app::App;

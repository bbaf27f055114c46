//! The planner worker.

use tilewright_frontend::workers::{plan::Planner, serve_in_slices};

fn main() {
    serve_in_slices(Planner::default());
}

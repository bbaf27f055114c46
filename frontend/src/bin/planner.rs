//! The planner worker.

use tilewright_frontend::message::PlanRequest;
use tilewright_frontend::workers::{plan::Planner, serve};

fn main() {
    let mut planner = Planner::default();
    serve(move |request: PlanRequest, buffers, _| planner.answer(request, &buffers));
}

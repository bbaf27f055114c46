//! Unlu: pooling in place and two buffers.

use tilewright_planner::{Options, Stop, Strategy};
use tilewright_report::PaperFigure;

use crate::{Paper, Part, board, figure, model, plan_of, planned, with_plan};

/// The paper.
pub(crate) const PAPER: Paper = Paper {
    id: "ping-pong",
    name: "In-place pooling, ping-pong buffers",
    citation: "Unlu: Efficient Neural Network Deployment for Microcontroller, arXiv:2007.01348, 2020",
    reading: "Activations alone, of four bytes each, the picture among them. Algorithm 1 begins a maximum at 0, which \
              is right behind a rectifier only: here it begins at the least value of the type.",
    parts: &[Part { title: "LeNet-5", figures: lenet_5 }],
};

/// What each part of the strategy leaves, in bytes: every buffer kept, pooling in place, two buffers.
const LENET_5: [u64; 3] = [36_472, 11_256, 8_800];

fn lenet_5(stop: &Stop) -> Result<Vec<PaperFigure>, String> {
    let (name, id) = ("lenet5", "stm32f746g-disco");
    let (model, board) = (model(name)?, board(id)?);
    let options = Options { stop: stop.clone(), ..Options::default() };
    let plan = planned(&model, &board, Strategy::PingPong, &options)?;
    let report = plan.in_floats(&model, &board, &options).report;
    let plan = plan_of(name, id, Strategy::PingPong, None);
    let stages = report.stages.iter().zip(LENET_5).map(|(stage, printed)| {
        let ours = (stage.bytes.0 as f64, Some(printed as f64));
        let row = figure("LeNet-5, float32", (name, stage.what.clone()), ours, "B");
        with_plan(row, plan.clone())
    });
    Ok(stages.collect())
}

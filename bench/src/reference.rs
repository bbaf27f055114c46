//! Speed of the int8 reference interpreter on one core.

use std::time::{Duration, Instant};

use tilewright_model::{Data, Model, Source, int8};

use crate::figures::{Goal, Measured};

/// Networks of plain, depthwise and pointwise convolutions.
const NETWORKS: [&str; 4] =
    ["resnet8", "ds-cnn", "mobilenet-v1-w0.25-r96", "mobilenet-v2-w0.35-r96"];

/// Millions of multiply-accumulates a second that whole-network checks need.
const GOAL: f64 = 300.0;

/// The best of so many runs counts.
const RUNS: usize = 5;

/// Millions of multiply-accumulates a second on each network, weights at hand.
///
/// # Errors
/// If a network cannot be built or run.
pub fn speed() -> Result<Vec<Measured>, String> {
    NETWORKS
        .iter()
        .map(|name| {
            let network = tilewright_zoo::network(name).map_err(|e| e.to_string())?;
            let model = with_values(network.int8().map_err(|e| e.to_string())?);
            let macs: u64 = model.nodes.iter().map(|node| model.macs(node)).sum();
            let seconds = best_run(&model)?.as_secs_f64();
            let what = format!("int8 reference interpreter, {name}");
            let speed = macs as f64 / seconds / 1e6;
            Ok(Measured::new(what, speed, "M MAC/s", Some(Goal::AtLeast(GOAL))))
        })
        .collect()
}

fn best_run(model: &Model) -> Result<Duration, String> {
    let interpreter = int8::Interpreter::new(model).map_err(|e| e.to_string())?;
    let inputs: Vec<Data> = model
        .inputs
        .iter()
        .map(|id| {
            let elements = model.tensor(*id).shape.elements().unwrap_or(0);
            Data::I8((0..elements).map(|index| (index * 31 % 251) as u8 as i8).collect())
        })
        .collect();
    let mut best = Duration::MAX;
    for _ in 0..RUNS {
        let start = Instant::now();
        interpreter.run(&inputs, &mut |_, _| {}).map_err(|e| e.to_string())?;
        best = best.min(start.elapsed());
    }
    Ok(best)
}

/// The model with weights in memory: making seeded ones is not what is measured.
fn with_values(mut model: Model) -> Model {
    for tensor in &mut model.tensors {
        if let Some(source) = &tensor.source {
            tensor.source = Some(Source::inline(source.values().into_owned()));
        }
    }
    model
}

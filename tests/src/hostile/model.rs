//! Model files and inputs.

use tilewright_formats::{Limits, reorder};
use tilewright_model::quantise::{QuantiseOptions, quantise};
use tilewright_model::{DType, Data, Quantisation, Shape, Tensor, TensorId};
use tilewright_planner::order::Budget;
use tilewright_planner::tflm::rearrange;

/// Models with more multiply-accumulates are opened but not calibrated.
const MAX_MACS: u64 = 20_000_000;

/// Opens a model file; if it opens and is small, quantises it on one sample of zeros and plans
/// it. Whether it opened.
#[must_use]
pub fn open_and_plan(bytes: &[u8]) -> bool {
    let limits = Limits {
        file_bytes: 1 << 20,
        tensor_elements: 1 << 20,
        total_elements: 1 << 21,
        ..Limits::default()
    };
    let Ok(model) = tilewright_formats::open("hostile.onnx", bytes, &limits, &[]) else {
        return false;
    };
    let macs: u64 = model.nodes.iter().map(|node| model.macs(node)).sum();
    let elements = |id: &TensorId| model.tensor(*id).shape.elements().unwrap_or(usize::MAX);
    let work: usize = model.nodes.iter().flat_map(|node| &node.outputs).map(elements).sum();
    if macs > MAX_MACS || work > 1 << 22 {
        return true;
    }
    let sample: Vec<Data> =
        model.inputs.iter().map(|id| Data::F32(vec![0.0; elements(id)])).collect();
    let quantised = quantise(&model, &[sample], &QuantiseOptions::default());
    if let (Ok((model, _)), Ok(board)) = (quantised, tilewright_board::find("stm32f746g-disco")) {
        // An error is an answer; a panic is not.
        let _ = tilewright_planner::plan(
            &model,
            &board,
            tilewright_planner::Strategy::Resident,
            &tilewright_planner::Options::default(),
        );
    }
    true
}

/// Puts the operators of a TensorFlow Lite file in the order of least memory, and reads what was
/// written. Whether it could be written.
#[must_use]
pub fn reorder(bytes: &[u8]) -> bool {
    let limits = Limits { file_bytes: 1 << 20, ..Limits::default() };
    let budget = Budget { work: 200_000, memory: 1 << 20 };
    let Ok(graph) = reorder::graph(bytes, &limits) else { return false };
    let Ok(found) = rearrange(&graph, budget, &mut || true) else { return false };
    let Ok(new) = reorder::write(bytes, &limits, &found.order, &found.offsets) else {
        return false;
    };
    let limits = Limits { file_bytes: new.len(), ..limits };
    reorder::graph(&new, &limits).is_ok_and(|graph| graph.offsets == Some(found.offsets))
}

/// Reads bytes as the input of a small image classifier. Whether they are one.
#[must_use]
pub fn read_input(bytes: &[u8]) -> bool {
    let tensor = Tensor {
        name: "image".to_owned(),
        shape: Shape::new([1, 12, 10, 3]),
        dtype: DType::I8,
        quantisation: Some(Quantisation::per_tensor(1.0 / 255.0, -128)),
        source: None,
    };
    tilewright_formats::input::read(&tensor, bytes).is_ok()
}

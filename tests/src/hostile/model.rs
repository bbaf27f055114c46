//! Model files and inputs.

use tilewright_formats::{Limits, reorder};
use tilewright_model::quantise::{QuantiseOptions, quantise};
use tilewright_model::{DType, Data, Model, Quantisation, Shape, Tensor, TensorId, int8};
use tilewright_order::Budget;
use tilewright_planner::tflm::rearrange;

/// Models with more multiply-accumulates are opened but not calibrated.
const MAX_MACS: u64 = 20_000_000;

/// Opens a model file; if it opens and is small, quantises it on one sample of zeros unless it is
/// int8 already, plans it, and runs the int8 reference once. Whether it opened.
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
    let results = model.nodes.iter().flat_map(|node| &node.outputs);
    let work: usize = results.map(|id| elements(&model, *id)).fold(0, usize::saturating_add);
    if macs > MAX_MACS || work > 1 << 22 {
        return true;
    }
    let model = if model.is_int8() {
        model
    } else {
        let sample: Vec<Data> =
            model.inputs.iter().map(|id| Data::F32(vec![0.0; elements(&model, *id)])).collect();
        match quantise(&model, &[sample], &QuantiseOptions::default()) {
            Ok((model, _)) => model,
            Err(_) => return true,
        }
    };
    // Errors are answers; panics are not.
    if let Ok(board) = tilewright_board::find("stm32f746g-disco") {
        let _ = tilewright_planner::plan(
            &model,
            &board,
            tilewright_planner::Strategy::Resident,
            &tilewright_planner::Options::default(),
        );
    }
    let inputs: Vec<Data> =
        model.inputs.iter().map(|id| Data::I8(vec![0; elements(&model, *id)])).collect();
    let _ = int8::run(&model, &inputs, &mut |_, _| {});
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

fn elements(model: &Model, id: TensorId) -> usize {
    model.tensor(id).shape.elements().unwrap_or(usize::MAX)
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
    tilewright_formats::input::read(&tensor, None, bytes).is_ok()
}

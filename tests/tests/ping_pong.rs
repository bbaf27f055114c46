//! Ping-pong buffers against the figures of Unlu's paper, and where they cannot be.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_board::Board;
use tilewright_model::{Activation, Model, Node, Op, Padding, Window};
use tilewright_plan::{Kernel, Work};
use tilewright_planner::{Objective, Options, PlanError, Planned, Strategy};

fn board() -> Board {
    tilewright_board::find("stm32f746g-disco").unwrap()
}

fn plan(model: &Model, strategy: Strategy) -> Planned {
    let options = Options { objective: Objective::Memory, ..Options::default() };
    let planned = tilewright_planner::plan(model, &board(), strategy, &options).unwrap();
    tilewright_check::check(&planned.plan, model, &board()).unwrap();
    planned
}

fn stages(planned: &Planned) -> Vec<u64> {
    planned.report.stages.iter().map(|stage| stage.bytes.0).collect()
}

/// Unlu, sections 3 to 3.2.
#[test]
fn lenet_in_floats_takes_what_the_paper_says() {
    let lenet = tilewright_zoo::network("lenet5").unwrap().int8().unwrap();
    let int8 = plan(&lenet, Strategy::PingPong);
    assert_eq!(stages(&int8), [9_118, 2_814, 2_200]);
    assert_eq!(int8.report.input, "resident");
    let float = int8.in_floats(&lenet, &board(), &Options::default());
    assert_eq!(stages(&float), [36_472, 11_256, 8_800]);
    assert_eq!(float.report.peak_sram_bytes.0, 8_800);
    assert_eq!(float.report.flash_bytes.0, 246_824);
    assert_eq!(float.report.elements, "float32");
    assert!(float.report.fits);
    let little = Options { sram: Some(tilewright_plan::Bytes(8_799)), ..Options::default() };
    let float = plan(&lenet, Strategy::PingPong).in_floats(&lenet, &board(), &little);
    assert!(!float.report.fits);
    // Tensors lie as before, four times as far apart, and no longer can anything run.
    let peak = float.memory.rows.iter().map(|row| row.live_bytes.0).max();
    assert_eq!(peak, Some(8_800));
    assert!(float.plan.main.is_none());
}

/// Section 5: its text prints the network with pools of 2x2; CMSIS-NN's example and the zoo have 3x3
/// with a stride of two, which leave the same sizes.
#[test]
fn the_network_of_cmsis_takes_what_the_paper_says() {
    let overlapping = tilewright_zoo::network("cifar10-cmsis").unwrap().int8().unwrap();
    let mut apart = overlapping.clone();
    for node in &mut apart.nodes {
        if let Op::MaxPool { window, .. } = &mut node.op {
            *window = Window { size: [2, 2], padding: Padding::default(), ..*window };
        }
    }
    for model in [overlapping, apart] {
        let planned = plan(&model, Strategy::PingPong);
        let layers = &planned.plan.layers;
        assert_eq!(
            layers.iter().filter(|l| l.work == Work::Kernel(Kernel::ConvMaxPool)).count(),
            3
        );
        assert!(layers.iter().all(|l| l.work != Work::Kernel(Kernel::MaxPool)));
        assert_eq!(planned.report.peak_sram_bytes.0, 3_072 + 8_192);
        let resident = plan(&model, Strategy::Resident);
        assert_eq!(resident.report.macs, planned.report.macs);
        assert_eq!(resident.report.peak_sram_bytes.0, 32_768 + 8_192);
    }
}

#[test]
fn a_fused_layer_names_both_nodes() {
    let lenet = tilewright_zoo::network("lenet5").unwrap().int8().unwrap();
    let planned = plan(&lenet, Strategy::PingPong);
    let first = &planned.plan.layers[0];
    assert_eq!(first.nodes.len(), 2);
    let names: Vec<&str> =
        first.nodes.iter().map(|node| lenet.nodes[*node as usize].name.as_str()).collect();
    assert_eq!(first.name, names.join(" + "));
    assert_eq!(planned.report.layers[0].output, [14, 14, 6]);
}

#[test]
fn a_network_that_branches_is_no_chain_and_is_told_where() {
    let model = tilewright_zoo::network("resnet8").unwrap().int8().unwrap();
    let options = Options::default();
    let error = tilewright_planner::plan(&model, &board(), Strategy::PingPong, &options);
    let Err(PlanError::Unsupported(why)) = error else { panic!("{error:?}") };
    let place = |name: &str| format!("operator '{name}'");
    assert!(model.nodes.iter().any(|node| place(&node.name) == why.place), "{why:?}");
    assert!(why.what.contains("not a chain") && why.remedy.contains("reordered"), "{why:?}");
    assert_eq!(Strategy::PingPong.unsupported(&model, None), Some(why));
}

/// The convolution's output is read by another, or is an output of the model.
#[test]
fn what_others_need_is_stored() {
    let lenet = tilewright_zoo::network("lenet5").unwrap().int8().unwrap();
    let between = lenet.nodes[0].outputs[0];
    let mut read = lenet.clone();
    read.outputs.push(between);
    let planned = plan(&lenet, Strategy::PingPong);
    assert!(tilewright_check::check(&planned.plan, &read, &board()).is_err());
    let mut other = lenet.clone();
    let copy = other.tensor(between).clone();
    let copy = other.add_tensor(copy);
    let relu = Op::Activation(Activation::Relu);
    let (inputs, outputs) = (vec![between], vec![copy]);
    other.nodes.push(Node { name: "reader".to_owned(), op: relu, inputs, outputs });
    let resident = plan(&other, Strategy::Resident);
    let mut wrong = planned.plan;
    wrong.layers.extend(resident.plan.layers.last().cloned());
    let error = tilewright_check::check(&wrong, &other, &board()).unwrap_err();
    assert!(error.to_string().contains("needed by others"), "{error}");
}

#[test]
fn auto_needs_no_more_than_two_buffers() {
    for name in ["lenet5", "cifar10-cmsis"] {
        let model = tilewright_zoo::network(name).unwrap().int8().unwrap();
        let (auto, turns) = (plan(&model, Strategy::Auto), plan(&model, Strategy::PingPong));
        assert!(auto.report.peak_sram_bytes <= turns.report.peak_sram_bytes, "{name}");
    }
}

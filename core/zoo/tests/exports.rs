//! Networks written as ONNX are read back as the same networks.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::convert::Infallible;

use tilewright_model::op::Unary;
use tilewright_model::{DType, Data, Model, Node, Op, float, passes};

use tilewright_formats::{ExportError, Limits, export, open};

fn written(model: &Model) -> Vec<u8> {
    let mut file = Vec::new();
    let mut write = |bytes: &[u8]| -> Result<(), Infallible> {
        file.extend_from_slice(bytes);
        Ok(())
    };
    export(model, &mut write).unwrap();
    file
}

/// MACs, parameters, nodes and shapes. ONNX has no SiLU: it is written as two nodes and may be read
/// as two.
fn figures(model: &Model) -> (u64, u64, usize, Vec<Vec<usize>>) {
    let ports = model.inputs.iter().chain(&model.outputs);
    let swish = |node: &&Node| node.op == Op::Unary(Unary::Silu);
    let nodes = model.nodes.len() + model.nodes.iter().filter(swish).count();
    (
        model.nodes.iter().map(|node| model.macs(node)).sum(),
        model.parameters(),
        nodes,
        ports.map(|id| model.tensor(*id).shape.dims().to_vec()).collect(),
    )
}

#[test]
fn networks_come_back_with_the_same_figures() {
    let (mut wrong, mut read) = (Vec::new(), 0);
    for entry in tilewright_zoo::entries() {
        let network = tilewright_zoo::network(entry.name).unwrap();
        // Reading removes what is computed twice.
        let model = &passes::optimise(network.float().clone()).unwrap().0;
        if model.parameters() > 9_000_000 {
            continue;
        }
        match open("x.onnx", &written(model), &Limits::default(), &[]) {
            Err(error) => wrong.push(format!("{}: {error}", entry.name)),
            Ok(back) if figures(&back) != figures(model) => {
                let (ours, theirs) = (figures(model), figures(&back));
                wrong.push(format!("{}: {ours:?} became {theirs:?}", entry.name));
            }
            Ok(_) => read += 1,
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(read >= 25, "only {read} were read");
}

#[test]
fn values_come_back_too() {
    for name in ["lenet5", "resnet8", "ds-cnn", "shufflenet-v1-w0.25-r64", "mcunet-in0"] {
        let network = tilewright_zoo::network(name).unwrap();
        let model = network.float();
        let back = open("x.onnx", &written(model), &Limits::default(), &[]).unwrap();
        let size = model.tensor(model.inputs[0]).shape.elements().unwrap();
        let input = Data::F32((0..size).map(|i| (i * 37 % 101) as f32 / 101.0).collect());
        let results = [model, &back]
            .map(|model| float::run(model, std::slice::from_ref(&input), &mut |_, _| {}).unwrap());
        assert_eq!(results[0], results[1], "{name}");
    }
}

#[test]
fn what_has_no_form_in_onnx_is_named_before_anything_is_written() {
    let mut model = tilewright_zoo::network("lenet5").unwrap().float().clone();
    let mut nothing = |_: &[u8]| -> Result<(), Infallible> { panic!("something was written") };
    model.nodes[1].op = Op::Opaque { name: "Loop".to_owned() };
    let error = export(&model, &mut nothing).unwrap_err();
    assert!(matches!(&error, ExportError::Node { op, .. } if op == "Loop"), "{error}");
    model.tensors[1].dtype = DType::I8;
    let error = export(&model, &mut nothing).unwrap_err();
    assert!(matches!(error, ExportError::NotFloat { .. }), "{error}");
}

#[test]
fn a_failing_writer_ends_it() {
    let network = tilewright_zoo::network("lenet5").unwrap();
    let mut left = 3;
    let mut write = |_: &[u8]| -> Result<(), std::fmt::Error> {
        left -= 1;
        if left == 0 { Err(std::fmt::Error) } else { Ok(()) }
    };
    let error = export(network.float(), &mut write).unwrap_err();
    assert!(matches!(error, ExportError::Write(std::fmt::Error)), "{error}");
}

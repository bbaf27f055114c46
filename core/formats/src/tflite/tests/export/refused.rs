//! What has no exact form.

use tilewright_model::{Activation, Op, Padding, Unary, Window};

use super::Build;
use crate::export_tflite;

fn refusal(op: Op, result: &[usize], scale: f32) -> String {
    let mut build = Build::default();
    let x = build.input(&[1, 6, 6, 2], 0.05, 3);
    let y = build.tensor(result, scale, 3);
    build.node(op, &[x], y);
    export_tflite(&build.done(y)).unwrap_err().to_string()
}

#[test]
fn a_node_without_an_exact_form_is_named_with_the_reason() {
    let silu = refusal(Op::Unary(Unary::Silu), &[1, 6, 6, 2], 0.03);
    assert!(silu.contains("node 'n0' (SiLU)") && silu.contains("same 256 values"), "{silu}");
    let dilated = Window { dilation: [2, 2], ..Window::dense([2, 2]) };
    let op = Op::MaxPool { window: dilated, activation: Activation::None };
    let dilated = refusal(op, &[1, 4, 4, 2], 0.05);
    assert!(dilated.contains("a pool is not dilated"), "{dilated}");
    let padding = Padding { top: 2, left: 2, bottom: 2, right: 2 };
    let window = Window { padding, stride: [3, 3], ..Window::dense([3, 3]) };
    let op = Op::AveragePool {
        window,
        count_padding: false,
        uncounted: [0, 0],
        halves_up: false,
        activation: Activation::None,
    };
    let mean = refusal(op, &[1, 3, 3, 2], 0.05);
    assert!(mean.contains("no SAME padding has its windows"), "{mean}");
    let op = Op::LocalResponseNorm { size: 3, alpha: 1.0, beta: 0.75, bias: 1.0 };
    let response = refusal(op, &[1, 6, 6, 2], 0.05);
    assert!(response.contains("for floats alone"), "{response}");
    let opaque = refusal(Op::Opaque { name: "FFT".to_owned() }, &[1, 6, 6, 2], 0.05);
    assert!(opaque.contains("(FFT)"), "{opaque}");
}

#[test]
fn a_faulty_graph_is_refused() {
    let mut build = Build::default();
    let x = build.input(&[1, 6], 0.05, 3);
    let y = build.tensor(&[1, 6], 0.05, 3);
    build.node(Op::Requantise, &[x], y);
    let mut model = build.done(y);
    model.nodes[0].inputs.clear();
    let error = export_tflite(&model).unwrap_err().to_string();
    assert!(error.contains("n0"), "{error}");
}

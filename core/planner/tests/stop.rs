//! Work that takes long between two slices asks often whether anybody still waits, whatever the graph,
//! and ends when nobody does.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tilewright_model::{Activation, DType, Data, Model, Node, Op, Padding, Quantisation};
use tilewright_model::{Shape, Source, Tensor, TensorId, Window};
use tilewright_planner::{Options, PlanError, Planned, Stop, Strategy, plan};

/// Layers of each graph.
const LAYERS: usize = 240;
/// Most units of work between two questions: a fifth of a second.
const MOST: u64 = 20_000_000;

#[derive(Default)]
struct Build(Model);

impl Build {
    fn tensor(&mut self, shape: &[usize], data: Option<Data>) -> TensorId {
        let (scales, axis) = match &data {
            Some(_) => (vec![0.05; shape[0]], Some(0)),
            None => (vec![0.05], None),
        };
        let zeros = vec![0; scales.len()];
        self.0.add_tensor(Tensor {
            name: format!("t{}", self.0.tensors.len()),
            shape: Shape::new(shape),
            dtype: data.as_ref().map_or(DType::I8, Data::dtype),
            quantisation: Some(Quantisation { scales, zeros, axis }),
            source: data.map(Source::inline),
        })
    }

    fn input(&mut self) -> TensorId {
        let input = self.tensor(&[1, 4, 4, 4], None);
        self.0.inputs.push(input);
        input
    }

    fn node(&mut self, op: Op, inputs: &[TensorId], channels: usize) -> TensorId {
        let output = self.tensor(&[1, 4, 4, channels], None);
        let name = format!("n{}", self.0.nodes.len());
        self.0.nodes.push(Node { name, op, inputs: inputs.to_vec(), outputs: vec![output] });
        output
    }

    fn conv(&mut self, from: TensorId, channels: usize) -> TensorId {
        let [_, _, c] = self.0.tensor(from).shape.hwc().unwrap();
        let weights = self.tensor(&[channels, 1, 1, c], Some(Data::I8(vec![1; channels * c])));
        let bias = self.tensor(&[channels], Some(Data::I32(vec![0; channels])));
        let padding = Padding { top: 0, left: 0, bottom: 0, right: 0 };
        let window = Window { size: [1; 2], stride: [1; 2], dilation: [1; 2], padding };
        let op = Op::Conv { window, groups: 1, activation: Activation::None };
        self.node(op, &[from, weights, bias], channels)
    }
}

/// Graphs that are far from those of networks.
fn hostile(layers: usize) -> Vec<(&'static str, Model)> {
    let mut inputs = Build::default();
    for _ in 0..layers {
        let input = inputs.input();
        let output = inputs.node(Op::Activation(Activation::Relu), &[input], 4);
        inputs.0.outputs.push(output);
    }
    let mut chain = Build::default();
    let mut last = chain.input();
    for layer in 0..layers {
        last = chain.conv(last, 4 + layer % 3);
    }
    chain.0.outputs.push(last);
    let mut wide = Build::default();
    let input = wide.input();
    for layer in 0..layers {
        let output = wide.conv(input, 1 + layer % 9);
        wide.0.outputs.push(output);
    }
    let mut concats = Build::default();
    let mut last = concats.input();
    for _ in 0..layers / 3 {
        let parts = [concats.conv(last, 3), concats.conv(last, 2)];
        last = concats.node(Op::Concat { axis: 3 }, &parts, 5);
    }
    concats.0.outputs.push(last);
    let all = [("inputs", inputs), ("chain", chain), ("wide", wide), ("concats", concats)];
    all.map(|(name, build)| (name, build.0)).to_vec()
}

/// Plans until so many questions were asked; gives how many were, and the most work before one.
fn planned(
    model: &Model,
    strategy: Strategy,
    until: u64,
) -> (Result<Planned, PlanError>, [u64; 2]) {
    let board = tilewright_board::find("stm32f746g-disco").unwrap();
    let counts: Arc<[AtomicU64; 2]> = Arc::default();
    let seen = Arc::clone(&counts);
    let stop = Stop::when(move |units| {
        counts[1].fetch_max(units, Ordering::Relaxed);
        counts[0].fetch_add(1, Ordering::Relaxed) >= until
    });
    let planned = plan(model, &board, strategy, &Options { stop, ..Options::default() });
    (planned, [0, 1].map(|at| seen[at].load(Ordering::Relaxed)))
}

#[test]
fn long_work_asks_often_and_ends_when_told() {
    for (name, model) in hostile(LAYERS) {
        for strategy in Strategy::ALL {
            let (_, [asked, most]) = planned(&model, strategy, u64::MAX);
            assert!(most <= MOST, "{name}, {strategy}: {most} units at once");
            if asked < 2 {
                continue;
            }
            let until = asked / 2;
            let (stopped, [asked, _]) = planned(&model, strategy, until);
            assert_eq!(stopped.err(), Some(PlanError::Stopped), "{name}, {strategy}");
            assert_eq!(asked, until + 1, "{name}, {strategy}: it ends at once");
        }
    }
}

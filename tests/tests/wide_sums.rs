//! Operators that sum many values: widths from 1 to 4096 and beyond, near-equal, extreme and single large
//! values; what the firmware's kernels give is what the reference interpreter gives.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fastrand::Rng;
use tilewright_model::{
    Activation, DType, Data, Model, Node, Op, Quantisation, Shape, Source, Tensor, TensorId,
    Window, int8,
};
use tilewright_planner::{Options, Strategy};
use tilewright_runtime::Pace;
use tilewright_tests::host;

/// Widths that every operator is tried with, and how many more are drawn.
const WIDTHS: [usize; 13] = [1, 2, 63, 64, 255, 256, 511, 512, 513, 1000, 1024, 4095, 4096];
const DRAWN: usize = 12;

/// What is summed over how many values.
const SUMS: [&str; 5] = ["softmax", "log softmax", "mean", "average pool", "fully connected"];

fn add(model: &mut Model, name: &str, dims: &[usize], quantisation: Quantisation) -> TensorId {
    model.add_tensor(Tensor {
        name: name.to_owned(),
        shape: Shape::new(dims),
        dtype: DType::I8,
        quantisation: Some(quantisation),
        source: None,
    })
}

/// A model of one operator that sums `width` values.
fn model(sum: &str, width: usize, rng: &mut Rng) -> Model {
    let mut model = Model { name: format!("{sum} of {width}"), ..Model::default() };
    let scale = |rng: &mut Rng| 0.002f32 * (rng.f32() * 6.0).exp();
    let given = Quantisation::per_tensor(scale(rng), rng.i32(-128..128));
    let own = Quantisation::per_tensor(scale(rng).max(given.scale(0) / 100.0), rng.i32(-128..128));
    let window = Window { stride: [1, width], ..Window::dense([1, width]) };
    let (row, column) = (vec![1, 1, 1, width], vec![1, 1, width, 3]);
    let (op, dims, result, quantisation) = match sum {
        "softmax" => (Op::Softmax, row.clone(), row, Quantisation::per_tensor(1.0 / 256.0, -128)),
        "log softmax" => {
            (Op::LogSoftmax, row.clone(), row, Quantisation::per_tensor(1.0 / 16.0, 127))
        }
        "mean" => (Op::Mean { axes: vec![2], keep_dims: true }, column, vec![1, 1, 1, 3], own),
        "average pool" => {
            let op = Op::AveragePool {
                window,
                count_padding: false,
                uncounted: [0, 0],
                halves_up: rng.bool(),
                activation: Activation::None,
            };
            (op, column, vec![1, 1, 1, 3], given.clone())
        }
        _ => {
            let op = Op::FullyConnected { activation: Activation::None };
            (op, vec![1, width], vec![1, 2], own)
        }
    };
    let input = add(&mut model, "input", &dims, given.clone());
    let mut inputs = vec![input];
    if sum == "fully connected" {
        let weights = Quantisation::per_tensor(scale(rng) / 50.0, 0);
        let steps = given.scale(0) * weights.scale(0);
        let weights = add(&mut model, "weights", &[2, width], weights);
        let values = (0..2 * width).map(|_| rng.i8(-127..=127)).collect();
        model.tensors[weights.0].source = Some(Source::inline(Data::I8(values)));
        inputs.push(weights);
        // Such that results are spread over their range.
        let own =
            Quantisation::per_tensor(steps * (width as f32).sqrt() * 80.0, quantisation.zero());
        let output = add(&mut model, "output", &result, own);
        return finished(model, sum, op, inputs, output);
    }
    let output = add(&mut model, "output", &result, quantisation);
    finished(model, sum, op, inputs, output)
}

fn finished(
    mut model: Model,
    name: &str,
    op: Op,
    inputs: Vec<TensorId>,
    output: TensorId,
) -> Model {
    model.inputs = vec![inputs[0]];
    model.outputs = vec![output];
    model.nodes.push(Node { name: name.to_owned(), op, inputs, outputs: vec![output] });
    model
}

/// Values that sums have trouble with: all equal, nearly so, at the ends, one alone, and any.
fn inputs(count: usize, rng: &mut Rng) -> Vec<Vec<i8>> {
    let mut one = vec![i8::MIN; count];
    one[count / 2] = i8::MAX;
    let mut drawn = |low: i8, high: i8| (0..count).map(|_| rng.i8(low..=high)).collect::<Vec<i8>>();
    vec![
        vec![5; count],
        vec![i8::MIN; count],
        vec![i8::MAX; count],
        one,
        drawn(-2, 2),
        drawn(-128, 127),
    ]
}

#[test]
fn kernels_sum_as_the_reference_does() {
    let mut rng = Rng::with_seed(18);
    let board = tilewright_board::find("stm32f746g-disco").unwrap();
    for sum in SUMS {
        let drawn: Vec<usize> = (0..DRAWN).map(|_| rng.usize(1..=4096)).collect();
        // Beyond, sums of exponentials saturate.
        for width in WIDTHS.into_iter().chain(drawn).chain([8192, 8193]) {
            let model = model(sum, width, &mut rng);
            let name = &model.name;
            model.verify().unwrap_or_else(|e| panic!("{name}: {e}"));
            let planned =
                tilewright_planner::plan(&model, &board, Strategy::Resident, &Options::default());
            let plan = planned.unwrap_or_else(|e| panic!("{name}: {e}")).plan;
            let count = model.tensor(model.inputs[0]).shape.elements().unwrap();
            for input in inputs(count, &mut rng) {
                let input = vec![Data::I8(input)];
                let expected = int8::run(&model, &input, &mut |_, _| {}).unwrap();
                let expected: Vec<Vec<i8>> = expected.iter().map(host::bytes).collect();
                let found = host::run(&plan, &model, &input, (0xa5, Pace::Late))
                    .unwrap_or_else(|e| panic!("{name}: {e}"));
                assert_eq!(found, expected, "{name} of {:?}", input[0]);
            }
        }
    }
}

/// What is left of each of many equal values: 256 over their number, rounded; not anything.
#[test]
fn a_share_is_of_what_it_is_a_share() {
    let mut rng = Rng::with_seed(1);
    for (width, share) in [(100, 3), (300, 1), (511, 1), (600, 0), (1000, 0), (5000, 0), (8193, 0)]
    {
        let model = model("softmax", width, &mut rng);
        let found = int8::run(&model, &[Data::I8(vec![5; width])], &mut |_, _| {}).unwrap();
        assert_eq!(found[0].as_i8().unwrap()[0], -128 + share, "{width} equal values");
    }
}

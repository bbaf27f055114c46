//! Operators on single values, pairs of values, and neighbouring channels.

use super::Build;
use tilewright_model::{Activation, Data, Op, Quantisation, TensorId, Unary};

impl Build {
    pub(super) fn relu(&mut self, from: TensorId) -> TensorId {
        let shape = self.hwc(from);
        let output = self.activation(shape);
        let activation = self.activation_function();
        self.node(Op::Activation(activation), &[from], output)
    }

    /// A function of each value, or a change of scale.
    pub(super) fn unary(&mut self, from: TensorId) -> TensorId {
        let functions = [
            Unary::LeakyRelu { alpha: 0.2 },
            Unary::HardSwish,
            Unary::HardSigmoid { alpha: 0.2, beta: 0.5 },
            Unary::Sigmoid,
            Unary::Tanh,
            Unary::Silu,
            Unary::Elu { alpha: 1.0 },
            Unary::Gelu { approximate: false },
            Unary::Abs,
            Unary::Neg,
            Unary::Sqrt,
            Unary::Rsqrt,
            Unary::Exp,
            Unary::Log,
            Unary::Square,
            Unary::Floor,
        ];
        let function = functions.get(self.rng.usize(..functions.len() + 4)).copied();
        let shape = self.hwc(from);
        let mut output = self.activation(shape);
        if function == Some(Unary::HardSwish) {
            // Its output may not be much finer than its input.
            output = self.like(from, &[1, shape[0], shape[1], shape[2]]);
        }
        self.node(function.map_or(Op::Requantise, Op::Unary), &[from], output)
    }

    /// An operand that broadcasts to `shape`, constant or made from `from`.
    fn operand(&mut self, from: TensorId, same_scale: bool) -> TensorId {
        let shape = self.hwc(from);
        let quantisation = match same_scale {
            true => self.model.tensor(from).quantisation.clone(),
            false => Some(self.quantisation()),
        };
        if self.rng.bool() {
            let ranks = [vec![], shape[2..].to_vec(), shape[1..].to_vec(), shape.to_vec()];
            let mut dims = ranks[self.rng.usize(..ranks.len())].clone();
            for dim in &mut dims {
                if self.rng.usize(..3) == 0 {
                    *dim = 1;
                }
            }
            let values = (0..dims.iter().product()).map(|_| self.rng.i8(..)).collect();
            return self.add_tensor(&dims, quantisation, Some(Data::I8(values)));
        }
        if self.rng.bool() {
            let output = self.add_tensor(&[1, shape[0], shape[1], shape[2]], quantisation, None);
            let op = if same_scale { Op::Activation(Activation::Relu) } else { Op::Requantise };
            return self.node(op, &[from], output);
        }
        let axes: Vec<usize> = (1..4).filter(|_| self.rng.bool()).collect();
        let size = |axis: usize| if axes.contains(&axis) { 1 } else { shape[axis - 1] };
        let output = self.add_tensor(&[1, size(1), size(2), size(3)], quantisation, None);
        self.node(Op::Mean { axes, keep_dims: true }, &[from], output)
    }

    pub(super) fn pair(&mut self, from: TensorId) -> TensorId {
        let activation = self.activation_function();
        let op = match self.rng.usize(..5) {
            0 => Op::Add { activation },
            1 => Op::Sub { activation },
            2 => Op::Mul { activation },
            3 => Op::Maximum,
            _ => Op::Minimum,
        };
        let same_scale = matches!(op, Op::Maximum | Op::Minimum);
        let other = self.operand(from, same_scale);
        let [h, w, c] = self.hwc(from);
        let output = match same_scale {
            true => self.like(from, &[1, h, w, c]),
            false => self.activation([h, w, c]),
        };
        let operands = if self.rng.bool() { [from, other] } else { [other, from] };
        self.node(op, &operands, output)
    }

    pub(super) fn prelu(&mut self, from: TensorId) -> TensorId {
        let shape = self.hwc(from);
        let dims = if self.rng.bool() { vec![1, 1, shape[2]] } else { shape.to_vec() };
        let values = (0..dims.iter().product()).map(|_| self.rng.i8(..)).collect();
        let quantisation = Quantisation::per_tensor(0.01, self.rng.i32(-20..20));
        let slopes = self.add_tensor(&dims, Some(quantisation), Some(Data::I8(values)));
        let output = self.activation(shape);
        self.node(Op::Prelu, &[from, slopes], output)
    }

    /// A normalisation over the channels.
    pub(super) fn normalise(&mut self, from: TensorId) -> TensorId {
        let [h, w, c] = self.hwc(from);
        let (op, quantisation) = match self.rng.usize(..3) {
            0 => (Op::Softmax, Quantisation::per_tensor(1.0 / 256.0, -128)),
            1 => (Op::LogSoftmax, Quantisation::per_tensor(1.0 / 16.0, 127)),
            _ => {
                let size = self.rng.usize(1..7);
                let op = Op::LocalResponseNorm { size, alpha: 0.5, beta: 0.75, bias: 1.0 };
                (op, self.quantisation())
            }
        };
        let output = self.add_tensor(&[1, h, w, c], Some(quantisation), None);
        self.node(op, &[from], output)
    }
}

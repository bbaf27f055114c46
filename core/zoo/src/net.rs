//! A network under construction: nodes are added one by one, with shapes, seeded weights and
//! statistics. The first fault is kept and ends the construction; later calls do nothing.

mod layout;
mod weighted;

use tilewright_model::infer::result_shape;
use tilewright_model::quantise::Range;
use tilewright_model::{
    Activation, DType, Model, Node, Op, Shape, Source, Tensor, TensorId, op::Unary,
};

use crate::statistics::Statistics;

pub(crate) use layout::Pool;
pub(crate) use weighted::Conv;

/// An activation of the network.
pub(crate) type Id = TensorId;

/// A function behind an operator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Act {
    None,
    Relu,
    Relu6,
    /// A node by itself.
    Unary(Unary),
}

impl Act {
    pub(crate) const HARD_SWISH: Self = Self::Unary(Unary::HardSwish);
    pub(crate) const HARD_SIGMOID: Self =
        Self::Unary(Unary::HardSigmoid { alpha: 1.0 / 6.0, beta: 0.5 });
    pub(crate) const SIGMOID: Self = Self::Unary(Unary::Sigmoid);
    pub(crate) const SILU: Self = Self::Unary(Unary::Silu);

    const fn fused(self) -> Activation {
        match self {
            Self::Relu => Activation::Relu,
            Self::Relu6 => Activation::Relu6,
            Self::None | Self::Unary(_) => Activation::None,
        }
    }
}

/// A network with what the model alone does not say.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    pub(crate) model: Model,
    /// One for each tensor; empty ranges for weights.
    pub(crate) ranges: Vec<Range>,
    /// Channels whose batch normalisation is folded into weights and bias.
    pub(crate) normalised: u64,
    /// MACs of batch normalisations that cannot be folded and are depthwise layers here.
    pub(crate) scaling_macs: u64,
}

/// Padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pad {
    /// TensorFlow's SAME: the output is the input over the stride, rounded up; what is odd goes to
    /// bottom and right.
    Same,
    /// As much on each side.
    Each(usize),
    /// At bottom and right only.
    End(usize),
}

#[derive(Debug)]
pub(crate) struct Net {
    model: Model,
    statistics: Vec<Statistics>,
    normalised: u64,
    scaling_macs: u64,
    scope: String,
    fault: Option<String>,
    /// Functions by themselves that are there already.
    acts: Vec<(Id, Act, Id)>,
}

impl Net {
    /// A network whose input is a picture of this height, width and number of channels.
    pub(crate) fn new(input: [usize; 3]) -> (Self, Id) {
        Self::with_input(&[1, input[0], input[1], input[2]], Statistics::PIXELS)
    }

    /// A network with an input of any shape.
    pub(crate) fn with_input(dims: &[usize], statistics: Statistics) -> (Self, Id) {
        let mut net = Self {
            model: Model::default(),
            statistics: Vec::new(),
            normalised: 0,
            scaling_macs: 0,
            scope: String::new(),
            fault: None,
            acts: Vec::new(),
        };
        let id = net.tensor("input".to_owned(), Shape::new(dims), statistics);
        net.model.inputs.push(id);
        (net, id)
    }

    /// Names what follows: `scope/conv_7`.
    pub(crate) fn scope(&mut self, scope: impl Into<String>) {
        self.scope = scope.into();
    }

    /// Ends the construction, if nothing failed.
    pub(crate) fn finish(mut self, outputs: &[Id]) -> Result<Built, String> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        self.model.outputs = outputs.to_vec();
        let range =
            |s: &Statistics| Range { low: s.low.min(0.0) as f32, high: s.high.max(0.0) as f32 };
        Ok(Built {
            ranges: self.statistics.iter().map(range).collect(),
            model: self.model,
            normalised: self.normalised,
            scaling_macs: self.scaling_macs,
        })
    }

    /// Height, width and channels of an image.
    pub(crate) fn image(&self, id: Id) -> [usize; 3] {
        match self.model.tensor(id).shape.dims() {
            [_, h, w, c] => [*h, *w, *c],
            [_, c] => [1, 1, *c],
            _ => [1, 1, 1],
        }
    }

    pub(crate) fn channels(&self, id: Id) -> usize {
        self.image(id)[2]
    }

    fn fail(&mut self, reason: String) {
        self.fault.get_or_insert(reason);
    }

    fn tensor(&mut self, name: String, shape: Shape, statistics: Statistics) -> Id {
        self.statistics.push(statistics);
        let tensor = Tensor { name, shape, dtype: DType::F32, quantisation: None, source: None };
        self.model.add_tensor(tensor)
    }

    /// A constant beside node `name`.
    fn constant(&mut self, name: String, dims: &[usize], source: Source) -> Id {
        let id = self.tensor(name, Shape::new(dims), Statistics::constant(0.0));
        self.model.tensors[id.0].source = Some(source);
        id
    }

    fn name(&self, kind: &str) -> String {
        let number = self.model.nodes.len();
        if self.scope.is_empty() {
            format!("{kind}_{number}")
        } else {
            format!("{}/{kind}_{number}", self.scope)
        }
    }

    /// Adds a node; `dims` is the result's shape where the operator does not give it.
    fn node(&mut self, name: String, op: Op, inputs: Vec<Id>, dims: &[usize], s: Statistics) -> Id {
        let output = self.tensor(name.clone(), Shape::new(dims), s);
        if self.fault.is_some() {
            return output;
        }
        let node = Node { name, op, inputs, outputs: vec![output] };
        match result_shape(&self.model, &node) {
            Ok(shape) => self.model.tensors[output.0].shape = shape,
            Err(reason) => self.fail(format!("'{}': {reason}", node.name)),
        }
        self.model.nodes.push(node);
        output
    }

    /// A function by itself; one node for all that want it of the same values.
    pub(crate) fn act(&mut self, x: Id, act: Act) -> Id {
        if let Some((_, _, known)) = self.acts.iter().find(|(of, what, _)| (*of, *what) == (x, act))
        {
            return *known;
        }
        let before = self.statistics[x.0];
        let (kind, op, after) = match act {
            Act::None => return x,
            Act::Relu | Act::Relu6 => {
                ("relu", Op::Activation(act.fused()), before.map(clip(act.fused())))
            }
            Act::Unary(unary) => {
                let after = before.map(|value| f64::from(unary.apply(value as f32)));
                (unary.name(), Op::Unary(unary), after)
            }
        };
        let name = self.name(&kind.to_lowercase());
        let result = self.node(name, op, vec![x], &[], after);
        self.acts.push((x, act, result));
        result
    }

    pub(crate) fn add(&mut self, a: Id, b: Id, act: Act) -> Id {
        let activation = act.fused();
        let sum = self.statistics[a.0].plus(self.statistics[b.0]).map(clip(activation));
        let name = self.name("add");
        let x = self.node(name, Op::Add { activation }, vec![a, b], &[], sum);
        if let Act::Unary(_) = act { self.act(x, act) } else { x }
    }

    /// A product that broadcasts.
    pub(crate) fn mul(&mut self, a: Id, b: Id) -> Id {
        let product = self.statistics[a.0].times(self.statistics[b.0]);
        let name = self.name("mul");
        let op = Op::Mul { activation: Activation::None };
        self.node(name, op, vec![a, b], &[], product)
    }

    pub(crate) fn softmax(&mut self, x: Id) -> Id {
        let mean = 1.0 / self.channels(x).max(1) as f64;
        let statistics = Statistics { mean, square: mean * mean, low: 0.0, high: 1.0 };
        let name = self.name("softmax");
        self.node(name, Op::Softmax, vec![x], &[], statistics)
    }

    /// Local response normalisation over `size` channels: Krizhevsky et al., section 3.3.
    pub(crate) fn lrn(&mut self, x: Id, size: usize, alpha: f32, beta: f32, bias: f32) -> Id {
        let before = self.statistics[x.0];
        let sum = f64::from(bias) + f64::from(alpha) * before.square;
        let after = before.scaled(libm::pow(sum, -f64::from(beta)));
        let name = self.name("lrn");
        let op = Op::LocalResponseNorm { size, alpha, beta, bias };
        self.node(name, op, vec![x], &[], after)
    }
}

/// A fused activation as a function.
fn clip(activation: Activation) -> impl Fn(f64) -> f64 {
    let (low, high) = activation.range();
    move |value| value.max(f64::from(low)).min(f64::from(high))
}

/// A seed of its own for each name: FNV-1a.
fn seed(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

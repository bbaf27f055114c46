//! Functions of one value. Over int8 each is a table of 256 results, so that an operator may stand for
//! another where both have the same table.

use tilewright_model::integer::{self, Table};
use tilewright_model::quantise::prescribed;
use tilewright_model::{Activation, Model, Node, Op, Tensor, TensorId, Unary};
use tilewright_tflite_schema::BuiltinOperator as Code;

use super::graph::{Made, Writer};
use super::kind::Eight;
use super::options::Options;
use super::tables::Scaled;

/// The operator of an activation by itself.
pub(super) const fn of_activation(activation: Activation) -> Option<Code> {
    match activation {
        Activation::None => None,
        Activation::Relu => Some(Code::RELU),
        Activation::Relu6 => Some(Code::RELU6),
        Activation::ReluN1To1 => Some(Code::RELU_N1_TO_1),
    }
}

/// The operator of a function over integers of 8 bits, where TensorFlow Lite has a kernel for it.
const fn over_integers(op: &Op) -> Option<Code> {
    match op {
        Op::Requantise => Some(Code::QUANTIZE),
        Op::Activation(activation) => of_activation(*activation),
        Op::Unary(unary) => match unary {
            Unary::LeakyRelu { .. } => Some(Code::LEAKY_RELU),
            Unary::HardSwish => Some(Code::HARD_SWISH),
            Unary::Sigmoid => Some(Code::LOGISTIC),
            Unary::Tanh => Some(Code::TANH),
            Unary::Gelu { .. } => Some(Code::GELU),
            Unary::Elu { alpha } if *alpha == 1.0 => Some(Code::ELU),
            Unary::Abs => Some(Code::ABS),
            Unary::Exp => Some(Code::EXP),
            Unary::Log => Some(Code::LOG),
            Unary::Rsqrt => Some(Code::RSQRT),
            _ => None,
        },
        _ => None,
    }
}

/// The operator of a function over floats.
const fn over_floats(op: &Op) -> Option<Code> {
    let Op::Unary(unary) = op else { return over_integers(op) };
    match unary {
        Unary::Neg => Some(Code::NEG),
        Unary::Sqrt => Some(Code::SQRT),
        Unary::Square => Some(Code::SQUARE),
        Unary::Floor => Some(Code::FLOOR),
        Unary::Ceil => Some(Code::CEIL),
        Unary::Round => Some(Code::ROUND),
        Unary::Sign => Some(Code::SIGN),
        Unary::Sin => Some(Code::SIN),
        Unary::Cos => Some(Code::COS),
        Unary::Clip { low, high } if *low == 0.0 && *high == 1.0 => Some(Code::RELU_0_TO_1),
        _ => over_integers(op),
    }
}

fn options(op: &Op) -> Options {
    match op {
        Op::Unary(Unary::LeakyRelu { alpha }) => Options::LeakyRelu { alpha: *alpha },
        Op::Unary(Unary::Gelu { approximate }) => Options::Gelu { approximate: *approximate },
        _ => Options::None,
    }
}

/// What may stand for another function. A leaky ReLU without a slope of its own changes the
/// quantisation as an activation does: by a ratio of 32-bit floats, where [`Op::Requantise`] has 64 bits.
const STAND_INS: [Op; 12] = [
    Op::Requantise,
    Op::Unary(Unary::LeakyRelu { alpha: 1.0 }),
    Op::Activation(Activation::Relu),
    Op::Activation(Activation::Relu6),
    Op::Activation(Activation::ReluN1To1),
    Op::Unary(Unary::Abs),
    Op::Unary(Unary::LeakyRelu { alpha: -1.0 }),
    Op::Unary(Unary::HardSwish),
    Op::Unary(Unary::Sigmoid),
    Op::Unary(Unary::Tanh),
    Op::Unary(Unary::Elu { alpha: 1.0 }),
    Op::Unary(Unary::Gelu { approximate: false }),
];

/// How many of them only change the quantisation.
const IDENTITIES: usize = 2;

impl Writer<'_> {
    pub(super) fn function(&mut self, node: &Node, output: i32) -> Made<()> {
        let (input, result) = (node.inputs[0], node.outputs[0]);
        if !self.is_int8 {
            return self.float_function(node, output);
        }
        let wanted = integer::table(self.model, node).map_err(|error| error.to_string())?;
        let keeps = self.model.tensor(input).quantisation == self.model.tensor(result).quantisation;
        if keeps && clamps(&wanted, &identity()).is_some_and(|range| range == (i8::MIN, i8::MAX)) {
            return self.same(node, output);
        }
        if over_integers(&node.op).is_some() {
            if !self.suits(&node.op, result) {
                return self.requantised(node, &wanted, output);
            }
            let input = self.tensor(input)?;
            return self.function_of(&node.op, input, output);
        }
        if node.op == Op::Unary(Unary::Rescale) && self.eight == Eight::Unsigned {
            // The operator from which it comes.
            let (input, options) = (self.tensor(input)?, Options::Concatenation { axis: 0 });
            self.push(Code::CONCATENATION, options, &[input], &[output]);
            return Ok(());
        }
        if let Some(op) = self.same_table(node, &wanted) {
            let input = self.tensor(input)?;
            return self.function_of(&op, input, output);
        }
        self.clamped(node, &wanted, keeps, output)
    }

    /// The operator that gives these values from the node's operand, under the quantisation of its
    /// result.
    pub(super) fn same_table(&self, node: &Node, wanted: &Table) -> Option<Op> {
        let result = *node.outputs.first()?;
        let is_same = |op: &&Op| {
            let node = Node { op: (*op).clone(), ..node.clone() };
            self.suits(op, result)
                && integer::table(self.model, &node).is_ok_and(|table| table == *wanted)
        };
        STAND_INS.iter().find(is_same).cloned()
    }

    /// Whether TensorFlow Lite computes a function under this quantisation of its result: of some it
    /// demands one.
    fn suits(&self, op: &Op, result: TensorId) -> bool {
        let stated = prescribed(op);
        stated.is_none() || stated == self.model.tensor(result).quantisation
    }

    /// A function of which TensorFlow Lite demands another quantisation than the model's, and what
    /// brings it to the model's.
    fn requantised(&mut self, node: &Node, wanted: &Table, output: i32) -> Made<()> {
        let result = node.outputs[0];
        let mut model = Model::default();
        let from = model.add_tensor(self.model.tensor(node.inputs[0]).clone());
        let to = model.add_tensor(self.model.tensor(result).clone());
        let quantisation = prescribed(&node.op);
        let between = Tensor { quantisation: quantisation.clone(), ..model.tensor(to).clone() };
        let between = model.add_tensor(between);
        let table = |op: &Op, from: TensorId, to: TensorId| {
            let (name, inputs, outputs) = (String::new(), vec![from], vec![to]);
            integer::table(&model, &Node { name, op: op.clone(), inputs, outputs }).ok()
        };
        let gives = |op: &&Op| {
            let tables = table(&node.op, from, between).zip(table(op, between, to));
            tables.is_some_and(|(first, second)| {
                first.map(|value| second[usize::from(value.cast_unsigned())]) == *wanted
            })
        };
        let found = STAND_INS.iter().take(IDENTITIES).find(gives).cloned();
        let (Some(found), Some(quantisation)) = (found, quantisation) else {
            let stated = prescribed(&node.op).map(|known| (known.scale(0), known.zero()));
            let (scale, zero) = stated.unwrap_or_default();
            return Err(format!(
                "TensorFlow Lite demands scale {scale} and zero point {zero} of its result, and none \
                 of its operators brings that to the model's with the same 256 values: quantise the \
                 model so"
            ));
        };
        let next = self.like(node, result, "stated", self.dims(result))?;
        let zeros = vec![self.zero(quantisation.zero())];
        if let Some(tensor) = self.graph.tensors.last_mut() {
            tensor.scaled = Some(Scaled { scales: quantisation.scales, zeros, axis: 0 });
        }
        let input = self.tensor(node.inputs[0])?;
        self.function_of(&node.op, input, next)?;
        self.function_of(&found, next, output)
    }

    /// A function as an operator of the format, which must have it.
    pub(super) fn function_of(&mut self, op: &Op, input: i32, output: i32) -> Made<()> {
        let code = if self.is_int8 { over_integers(op) } else { over_floats(op) };
        let code = code.ok_or("TensorFlow Lite has no such operator")?;
        self.push(code, options(op), &[input], &[output]);
        Ok(())
    }

    /// A function that lets steps through between two bounds, perhaps under another quantisation.
    fn clamped(&mut self, node: &Node, wanted: &Table, keeps: bool, output: i32) -> Made<()> {
        let result = node.outputs[0];
        let found = match keeps {
            true => clamps(wanted, &identity()).map(|range| (None, identity(), range)),
            false => STAND_INS.iter().take(IDENTITIES).find_map(|op| {
                let node = Node { op: op.clone(), ..node.clone() };
                let table = integer::table(self.model, &node).ok()?;
                clamps(wanted, &table).map(|range| (Some(op), table, range))
            }),
        };
        let Some((op, table, (low, high))) = found else {
            return Err(format!(
                "TensorFlow Lite has no {} over int8, and none of its operators has the same 256 \
                 values: leave the function out, or take ReLU, ReLU6, hard swish, sigmoid or tanh",
                node.op.name()
            ));
        };
        let mut last = self.tensor(node.inputs[0])?;
        let dims = self.dims(result);
        let is_below = table.iter().any(|value| *value < low);
        let is_above = table.iter().any(|value| *value > high);
        if let Some(op) = op {
            let next = self.like(node, result, "rescaled", dims)?;
            self.function_of(op, last, next)?;
            last = next;
        }
        if is_below {
            let bound = self.scalar(node, result, "low", (low, 0.0))?;
            let next = if is_above { self.like(node, result, "above", dims)? } else { output };
            self.push(Code::MAXIMUM, Options::None, &[last, bound], &[next]);
            last = next;
        }
        if is_above {
            let bound = self.scalar(node, result, "high", (high, 0.0))?;
            self.push(Code::MINIMUM, Options::None, &[last, bound], &[output]);
        }
        Ok(())
    }

    fn float_function(&mut self, node: &Node, output: i32) -> Made<()> {
        let (input, result) = (self.tensor(node.inputs[0])?, node.outputs[0]);
        if over_floats(&node.op).is_some() && node.op != Op::Requantise {
            return self.function_of(&node.op, input, output);
        }
        match node.op {
            Op::Activation(Activation::None) | Op::Requantise => self.same(node, output),
            Op::Unary(Unary::Silu) => {
                let gate = self.like(node, result, "gate", self.dims(result))?;
                self.push(Code::LOGISTIC, Options::None, &[input], &[gate]);
                self.push(Code::MUL, Options::Mul(Activation::None), &[input, gate], &[output]);
                Ok(())
            }
            Op::Unary(Unary::Reciprocal) => {
                let one = self.scalar(node, result, "one", (0, 1.0))?;
                self.push(Code::DIV, Options::Div(Activation::None), &[one, input], &[output]);
                Ok(())
            }
            Op::Unary(Unary::Clip { low, high }) => {
                self.float_clip(node, result, (input, low, high), output)
            }
            Op::Unary(Unary::HardSigmoid { alpha, beta }) => {
                let [slope, offset] = [("slope", alpha), ("offset", beta)];
                let slope = self.scalar(node, result, slope.0, (0, slope.1))?;
                let offset = self.scalar(node, result, offset.0, (0, offset.1))?;
                let product = self.like(node, result, "product", self.dims(result))?;
                let sum = self.like(node, result, "sum", self.dims(result))?;
                self.push(Code::MUL, Options::Mul(Activation::None), &[input, slope], &[product]);
                self.push(Code::ADD, Options::Add(Activation::None), &[product, offset], &[sum]);
                self.float_clip(node, result, (sum, 0.0, 1.0), output)
            }
            _ => Err("TensorFlow Lite has no such operator".to_owned()),
        }
    }

    fn float_clip(
        &mut self,
        node: &Node,
        result: TensorId,
        (input, low, high): (i32, f32, f32),
        output: i32,
    ) -> Made<()> {
        let above = self.like(node, result, "above", self.dims(result))?;
        // A constant is a number.
        let low = self.scalar(node, result, "low", (0, low.max(f32::MIN)))?;
        let high = self.scalar(node, result, "high", (0, high.min(f32::MAX)))?;
        self.push(Code::MAXIMUM, Options::None, &[input, low], &[above]);
        self.push(Code::MINIMUM, Options::None, &[above, high], &[output]);
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a table has one entry for each byte")]
fn identity() -> Table {
    std::array::from_fn(|byte| (byte as u8).cast_signed())
}

/// The bounds between which a function gives the values of another, and themselves outside.
fn clamps(wanted: &Table, from: &Table) -> Option<(i8, i8)> {
    let low = wanted.iter().copied().min()?;
    let high = wanted.iter().copied().max()?;
    let is_clamped = |(wanted, from): (&i8, &i8)| *wanted == (*from).clamp(low, high);
    wanted.iter().zip(from).all(is_clamped).then_some((low, high))
}

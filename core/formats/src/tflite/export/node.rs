//! Each node as one operator of the format or several.

use tilewright_model::integer;
use tilewright_model::{Node, Op, ResizeMode, TensorId};
use tilewright_tflite_schema::BuiltinOperator as Code;

use super::graph::{Made, Writer, int};
use super::kind::Eight;
use super::options::Options;
use super::weighted::ints;

impl Writer<'_> {
    pub(super) fn node(&mut self, node: &Node) -> Made<()> {
        if let Op::Opaque { .. } = node.op {
            return Err("nothing here knows what it computes".to_owned());
        }
        let ([first, ..], [result]) = (node.inputs.as_slice(), node.outputs.as_slice()) else {
            return Err("it has no operand, or several results".to_owned());
        };
        let (first, result) = (*first, *result);
        let output = self.tensor(result)?;
        match &node.op {
            Op::Conv { .. } | Op::DepthwiseConv { .. } | Op::FullyConnected { .. } => {
                self.weighted(node, output)
            }
            Op::TransposeConv { window, activation } => {
                self.transposed(node, window, *activation, output)
            }
            Op::MaxPool { window, activation } => self.max_pool(node, window, *activation, output),
            Op::AveragePool { .. } => self.average_pool(node, output),
            // A constant of no axes has no values, which files take for no constant.
            Op::Mean { axes, .. } if axes.is_empty() => {
                let op = Op::Requantise;
                self.function(&Node { op, ..node.clone() }, output)
            }
            Op::Mean { axes, keep_dims } => {
                let axes = ints(axes)?;
                let options = Options::Mean { keep_dims: *keep_dims };
                self.with_integers(node, Code::MEAN, options, ("axes", &axes), output)
            }
            Op::Add { activation } => self.all(node, Code::ADD, Options::Add(*activation), output),
            Op::Sub { activation } => self.all(node, Code::SUB, Options::Sub(*activation), output),
            Op::Mul { activation } => self.all(node, Code::MUL, Options::Mul(*activation), output),
            Op::Div { activation } => self.all(node, Code::DIV, Options::Div(*activation), output),
            Op::Maximum => self.all(node, Code::MAXIMUM, Options::None, output),
            Op::Minimum => self.all(node, Code::MINIMUM, Options::None, output),
            Op::Prelu => self.all(node, Code::PRELU, Options::None, output),
            Op::Pad { amounts, filler } => self.pad_node(node, amounts, *filler, output),
            Op::Concat { axis } => self.concat(node, *axis, output),
            Op::Reshape => {
                let input = self.tensor(first)?;
                self.reshape(input, output, self.dims(result))
            }
            Op::Transpose { permutation } => {
                let permutation = ints(permutation)?;
                let given = ("permutation", permutation.as_slice());
                self.with_integers(node, Code::TRANSPOSE, Options::None, given, output)
            }
            Op::Slice { begin, size, stride } => {
                let input = self.tensor(first)?;
                self.slice(node, input, (begin, size, stride), output)
            }
            Op::SpaceToDepth { block } => {
                let options = Options::SpaceToDepth { block: int(*block)? };
                self.all(node, Code::SPACE_TO_DEPTH, options, output)
            }
            Op::DepthToSpace { block } => {
                let options = Options::DepthToSpace { block: int(*block)? };
                self.all(node, Code::DEPTH_TO_SPACE, options, output)
            }
            Op::Resize { mode: ResizeMode::Bilinear, .. }
                if self.is_int8 && self.eight == Eight::Unsigned =>
            {
                Err("the model is computed as one of uint8 elsewhere, and there it is computed in \
                     floats"
                    .to_owned())
            }
            Op::Resize { .. } => self.resize(node, output),
            Op::Activation(_) | Op::Unary(_) | Op::Requantise => self.function(node, output),
            Op::Softmax => self.all(node, Code::SOFTMAX, Options::Softmax, output),
            Op::LogSoftmax => self.all(node, Code::LOG_SOFTMAX, Options::None, output),
            Op::LocalResponseNorm { size, alpha, beta, bias } => {
                if self.is_int8 {
                    return Err("TensorFlow Lite has it for floats alone".to_owned());
                }
                if size % 2 == 0 {
                    return Err(format!("it sums over {size} channels, which is even"));
                }
                let options = Options::LocalResponse {
                    radius: int(size / 2)?,
                    bias: *bias,
                    alpha: alpha / *size as f32,
                    beta: *beta,
                };
                self.all(node, Code::LOCAL_RESPONSE_NORMALIZATION, options, output)
            }
            Op::ArgMax { axis, keep_dims } => self.arg_max(node, *axis, *keep_dims, output),
            Op::BatchNorm { .. } | Op::Opaque { .. } => {
                Err("it is folded into others before".to_owned())
            }
        }
    }

    /// An operator over all operands.
    fn all(&mut self, node: &Node, code: Code, options: Options, output: i32) -> Made<()> {
        let inputs: Vec<i32> =
            node.inputs.iter().map(|id| self.tensor(*id)).collect::<Made<_>>()?;
        self.push(code, options, &inputs, &[output]);
        Ok(())
    }

    /// An operator over the first operand and constant integers.
    fn with_integers(
        &mut self,
        node: &Node,
        code: Code,
        options: Options,
        (what, values): (&str, &[i32]),
        output: i32,
    ) -> Made<()> {
        let name = format!("{}.{what}", self.name(node.outputs[0]));
        let values = self.integers(&name, &[int(values.len())?], values);
        let input = self.tensor(node.inputs[0])?;
        self.push(code, options, &[input, values], &[output]);
        Ok(())
    }

    fn arg_max(&mut self, node: &Node, axis: usize, keep_dims: bool, output: i32) -> Made<()> {
        let result = node.outputs[0];
        let name = format!("{}.axis", self.name(result));
        let along = self.integers(&name, &[], &[int(axis)?]);
        let input = self.tensor(node.inputs[0])?;
        if !keep_dims {
            self.push(Code::ARG_MAX, Options::ArgMax, &[input, along], &[output]);
            return Ok(());
        }
        let mut dims = self.dims(result).to_vec();
        dims.remove(axis.min(dims.len().saturating_sub(1)));
        let made = self.like(node, result, "index", &dims)?;
        self.push(Code::ARG_MAX, Options::ArgMax, &[input, along], &[made]);
        self.reshape(made, output, self.dims(result))
    }

    /// Elements in steps: first ones, how many, and the steps.
    pub(super) fn slice(
        &mut self,
        node: &Node,
        input: i32,
        (begin, size, stride): (&[usize], &[usize], &[isize]),
        output: i32,
    ) -> Made<()> {
        let name = self.name(node.outputs[0]);
        let rank = int(begin.len())?;
        let first = ints(begin)?;
        let begins = self.integers(&format!("{name}.begin"), &[rank], &first);
        if stride.iter().all(|stride| *stride == 1) {
            let sizes = self.integers(&format!("{name}.size"), &[rank], &ints(size)?);
            self.push(Code::SLICE, Options::None, &[input, begins, sizes], &[output]);
            return Ok(());
        }
        let (mut ends, mut strides, mut end_mask) = (Vec::new(), Vec::new(), 0);
        for (axis, ((first, size), stride)) in first.iter().zip(size).zip(stride).enumerate() {
            let step = i32::try_from(*stride).map_err(|_| format!("a step of {stride}"))?;
            let distance = int(*size)?.checked_mul(step);
            let end = distance.and_then(|distance| first.checked_add(distance));
            let end = end.ok_or_else(|| format!("{size} steps of {stride}"))?;
            // An end below zero counts from the back: what goes on to the front has none instead.
            if end < 0 {
                end_mask |= 1 << axis;
            }
            ends.push(end.max(0));
            strides.push(step);
        }
        let ends = self.integers(&format!("{name}.end"), &[rank], &ends);
        let strides = self.integers(&format!("{name}.stride"), &[rank], &strides);
        let operands = [input, begins, ends, strides];
        self.push(Code::STRIDED_SLICE, Options::Slice { end_mask }, &operands, &[output]);
        Ok(())
    }

    /// Operands of another quantisation than the result's are brought to it first.
    fn concat(&mut self, node: &Node, axis: usize, output: i32) -> Made<()> {
        let result = node.outputs[0];
        let tables = match self.is_int8 && self.model.tensor(result).quantisation.is_some() {
            true => integer::concat(self.model, node).map_err(|error| error.to_string())?,
            false => vec![None; node.inputs.len()],
        };
        let mut operands = Vec::new();
        for (at, (id, table)) in node.inputs.iter().zip(tables).enumerate() {
            operands.push(match table {
                None => self.tensor(*id)?,
                Some(table) => {
                    let to = self.like(node, result, &format!("part{at}"), self.dims(*id))?;
                    self.rescaled(*id, result, &table, to)?;
                    to
                }
            });
        }
        self.push(
            Code::CONCATENATION,
            Options::Concatenation { axis: int(axis)? },
            &operands,
            &[output],
        );
        Ok(())
    }

    /// The identity under another quantisation, by the operator that gives just these values.
    pub(super) fn rescaled(
        &mut self,
        from: TensorId,
        like: TensorId,
        wanted: &integer::Table,
        to: i32,
    ) -> Made<()> {
        let (inputs, outputs) = (vec![from], vec![like]);
        let node = Node { name: String::new(), op: Op::Requantise, inputs, outputs };
        let op = self.same_table(&node, wanted);
        let op = op.ok_or("no operator brings an operand to its quantisation with these values")?;
        let input = self.tensor(from)?;
        self.function_of(&op, input, to)
    }

    /// The identity.
    pub(super) fn same(&mut self, node: &Node, output: i32) -> Made<()> {
        let input = self.tensor(node.inputs[0])?;
        self.reshape(input, output, self.dims(node.outputs[0]))
    }
}

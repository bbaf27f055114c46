//! Each operator in ONNX's words.

use crate::numbers::signed;
use tilewright_model::{Activation, Node, Op, ResizeMode, TensorId, Unary, Window};

use super::graph::{Attribute, FROM_FILE, Graph, Made, TO_FILE, file_axis, file_dims};
use Attribute::{Float, Int, Ints, Text};

fn pair(values: [usize; 2]) -> Attribute {
    Ints(values.iter().map(|value| signed(*value)).collect())
}

fn pads(window: &Window) -> Attribute {
    let padding = window.padding;
    let all = [padding.top, padding.left, padding.bottom, padding.right];
    Ints(all.iter().map(|pad| signed(*pad)).collect())
}

fn sliding(window: &Window) -> Vec<(&'static str, Attribute)> {
    let mut attributes = vec![
        ("kernel_shape", pair(window.size)),
        ("strides", pair(window.stride)),
        ("pads", pads(window)),
    ];
    if window.dilation != [1, 1] {
        attributes.push(("dilations", pair(window.dilation)));
    }
    attributes
}

impl Graph<'_> {
    pub(super) fn operator(&mut self, node: &Node, output: TensorId, name: &str) -> Made<()> {
        let input = *node.inputs.first().ok_or("it has no operand")?;
        let rank = self.dims(output).len();
        let x = self.operand(input, self.dims(input).len())?;
        match &node.op {
            Op::Conv { .. } | Op::DepthwiseConv { .. } | Op::FullyConnected { .. } => {
                return self.weighted(node, &x, name);
            }
            Op::TransposeConv { window, activation } => {
                return self.transposed(node, window, *activation, (&x, output), name);
            }
            Op::MaxPool { window, activation } => {
                self.activated("MaxPool", &[&x], name, sliding(window), *activation);
            }
            Op::AveragePool { window, count_padding, uncounted, activation, .. } => {
                if *uncounted != [0, 0] {
                    return Err("some of its padding counts and some does not");
                }
                if self.dims(input).get(1..3) == Some(&window.size[..]) && rank == 4 {
                    let op = "GlobalAveragePool";
                    self.activated(op, &[&x], name, vec![], *activation);
                } else {
                    let mut attributes = sliding(window);
                    attributes.push(("count_include_pad", Int(i64::from(*count_padding))));
                    self.activated("AveragePool", &[&x], name, attributes, *activation);
                }
            }
            Op::Add { activation } => return self.binary("Add", node, rank, name, *activation),
            Op::Sub { activation } => return self.binary("Sub", node, rank, name, *activation),
            Op::Mul { activation } => return self.binary("Mul", node, rank, name, *activation),
            Op::Div { activation } => return self.binary("Div", node, rank, name, *activation),
            Op::Maximum => return self.binary("Max", node, rank, name, Activation::None),
            Op::Minimum => return self.binary("Min", node, rank, name, Activation::None),
            Op::Prelu => return self.binary("PRelu", node, rank, name, Activation::None),
            Op::Concat { axis } => {
                let parts: Vec<String> =
                    node.inputs.iter().map(|id| self.operand(*id, rank)).collect::<Made<_>>()?;
                let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
                self.push("Concat", &parts, name, vec![("axis", Int(file_axis(rank, *axis)))]);
            }
            Op::Activation(activation) => self.activation(&x, name, *activation),
            Op::Unary(unary) => return self.unary(*unary, &x, name),
            Op::Softmax => {
                self.push("Softmax", &[&x], name, vec![("axis", Int(file_axis(rank, rank - 1)))]);
            }
            Op::LogSoftmax => {
                let axis = Int(file_axis(rank, rank - 1));
                self.push("LogSoftmax", &[&x], name, vec![("axis", axis)]);
            }
            Op::LocalResponseNorm { size, alpha, beta, bias } => {
                let attributes = vec![
                    ("size", Int(signed(*size))),
                    ("alpha", Float(*alpha)),
                    ("beta", Float(*beta)),
                    ("bias", Float(*bias)),
                ];
                self.push("LRN", &[&x], name, attributes);
            }
            Op::ArgMax { axis, keep_dims } => {
                let axis = file_axis(self.dims(input).len(), *axis);
                let attributes = vec![("axis", Int(axis)), ("keepdims", Int((*keep_dims).into()))];
                self.push("ArgMax", &[&x], name, attributes);
            }
            Op::BatchNorm { epsilon } => {
                let mut operands = vec![x];
                for id in &node.inputs[1..] {
                    operands.push(self.weights(*id, &[0])?);
                }
                let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
                let attributes = vec![("epsilon", Float(*epsilon))];
                self.push("BatchNormalization", &operands, name, attributes);
            }
            _ => return self.moving(&node.op, (input, &x), output, name),
        }
        Ok(())
    }

    fn weighted(&mut self, node: &Node, x: &str, name: &str) -> Made<()> {
        let weights = *node.inputs.get(1).ok_or("it has no weights")?;
        let activation = node.op.activation().unwrap_or_default();
        let (op, order, attributes): (_, &[usize], _) = match &node.op {
            Op::Conv { window, groups, .. } => {
                let mut attributes = sliding(window);
                attributes.push(("group", Int(signed(*groups))));
                ("Conv", &TO_FILE, attributes)
            }
            Op::DepthwiseConv { window, multiplier, .. } => {
                let channels = self.dims(weights).get(3).copied().unwrap_or(0);
                let mut attributes = sliding(window);
                attributes.push(("group", Int(signed(channels / (*multiplier).max(1)))));
                ("Conv", &[3, 0, 1, 2], attributes)
            }
            _ => ("Gemm", &[0, 1], vec![("transB", Int(1))]),
        };
        let mut operands = vec![x.to_owned(), self.weights(weights, order)?];
        if let Some(bias) = node.inputs.get(2) {
            operands.push(self.weights(*bias, &[0])?);
        }
        let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
        self.activated(op, &operands, name, attributes, activation);
        Ok(())
    }

    fn transposed(
        &mut self,
        node: &Node,
        window: &Window,
        activation: Activation,
        (x, output): (&str, TensorId),
        name: &str,
    ) -> Made<()> {
        let weights = *node.inputs.get(1).ok_or("it has no weights")?;
        let (from, to) = (self.dims(node.inputs[0]), self.dims(output));
        let before = [window.padding.top, window.padding.left];
        let (mut behind, mut added) = ([0i64; 2], [0i64; 2]);
        for axis in 0..2 {
            let reach = (window.size[axis] - 1) * window.dilation[axis] + 1;
            let full = window.stride[axis] * (from[axis + 1] - 1) + reach;
            let rest = signed(full) - signed(before[axis]) - signed(to[axis + 1]);
            (behind[axis], added[axis]) = (rest.max(0), (-rest).max(0));
        }
        let pads = vec![signed(before[0]), signed(before[1]), behind[0], behind[1]];
        let attributes = vec![
            ("kernel_shape", pair(window.size)),
            ("strides", pair(window.stride)),
            ("dilations", pair(window.dilation)),
            ("pads", Ints(pads)),
            ("output_padding", Ints(added.to_vec())),
        ];
        let mut operands = vec![x.to_owned(), self.weights(weights, &[3, 0, 1, 2])?];
        if let Some(bias) = node.inputs.get(2) {
            operands.push(self.weights(*bias, &[0])?);
        }
        let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
        self.activated("ConvTranspose", &operands, name, attributes, activation);
        Ok(())
    }

    fn binary(
        &mut self,
        op: &str,
        node: &Node,
        rank: usize,
        name: &str,
        activation: Activation,
    ) -> Made<()> {
        let [a, b] = node.inputs.as_slice() else { return Err("it has not two operands") };
        let (a, b) = (self.operand(*a, rank)?, self.operand(*b, rank)?);
        self.activated(op, &[&a, &b], name, vec![], activation);
        Ok(())
    }

    fn unary(&mut self, unary: Unary, x: &str, name: &str) -> Made<()> {
        let between = format!("{name}.inner");
        match unary {
            Unary::LeakyRelu { alpha } => {
                self.push("LeakyRelu", &[x], name, vec![("alpha", Float(alpha))]);
            }
            Unary::HardSwish => self.push("HardSwish", &[x], name, vec![]),
            Unary::HardSigmoid { alpha, beta } => {
                let attributes = vec![("alpha", Float(alpha)), ("beta", Float(beta))];
                self.push("HardSigmoid", &[x], name, attributes);
            }
            Unary::Silu => {
                self.push("Sigmoid", &[x], &between, vec![]);
                self.push("Mul", &[x, &between], name, vec![]);
            }
            Unary::Elu { alpha } => self.push("Elu", &[x], name, vec![("alpha", Float(alpha))]),
            Unary::Selu { alpha, gamma } => {
                let attributes = vec![("alpha", Float(alpha)), ("gamma", Float(gamma))];
                self.push("Selu", &[x], name, attributes);
            }
            Unary::Clip { low, high } => self.clip(x, name, low, high),
            Unary::Square => self.push("Mul", &[x, x], name, vec![]),
            Unary::Rsqrt => {
                self.push("Sqrt", &[x], &between, vec![]);
                self.push("Reciprocal", &[&between], name, vec![]);
            }
            Unary::Gelu { .. } | Unary::Mish | Unary::Power { .. } => {
                return Err("operator set 14 does not know it");
            }
            // The others have ONNX's own names.
            _ => self.push(unary.name(), &[x], name, vec![]),
        }
        Ok(())
    }

    /// Operators that move values or scale images.
    fn moving(
        &mut self,
        op: &Op,
        (input, x): (TensorId, &str),
        output: TensorId,
        name: &str,
    ) -> Made<()> {
        let (from, to) = (self.dims(input), self.dims(output));
        let rank = from.len();
        match op {
            Op::Pad { amounts, filler } => {
                let each: Vec<(usize, usize)> = if rank == 4 {
                    TO_FILE.iter().map(|axis| amounts[*axis]).collect()
                } else {
                    amounts.clone()
                };
                let all: Vec<i64> = each.iter().map(|(before, _)| signed(*before)).collect();
                let behind = each.iter().map(|(_, behind)| signed(*behind));
                let all: Vec<i64> = all.into_iter().chain(behind).collect();
                let pads = self.integers(&format!("{name}.pads"), &all);
                let filler =
                    (*filler != 0.0).then(|| self.scalar(&format!("{name}.value"), *filler));
                let operands: Vec<&str> = [x, &pads].into_iter().chain(filler.as_deref()).collect();
                self.push("Pad", &operands, name, vec![]);
            }
            Op::Reshape => self.reshape(x, (from, to), name),
            Op::Transpose { permutation } => {
                let permutation: Vec<i64> = if rank == 4 {
                    TO_FILE.iter().map(|axis| signed(FROM_FILE[permutation[*axis]])).collect()
                } else {
                    permutation.iter().map(|axis| signed(*axis)).collect()
                };
                self.push("Transpose", &[x], name, vec![("perm", Ints(permutation))]);
            }
            Op::Slice { begin, size, stride } => {
                let axes: Vec<i64> = (0..rank).map(|axis| file_axis(rank, axis)).collect();
                let starts: Vec<i64> = begin.iter().map(|begin| signed(*begin)).collect();
                let ends = (0..rank).map(|axis| {
                    let end = signed(begin[axis]) + signed(size[axis]) * stride[axis] as i64;
                    if end < 0 { i64::MIN } else { end }
                });
                let ends: Vec<i64> = ends.collect();
                let steps: Vec<i64> = stride.iter().map(|stride| *stride as i64).collect();
                let words = [("starts", starts), ("ends", ends), ("axes", axes), ("steps", steps)];
                let words =
                    words.map(|(word, values)| self.integers(&format!("{name}.{word}"), &values));
                let [starts, ends, axes, steps] = &words;
                self.push("Slice", &[x, starts, ends, axes, steps], name, vec![]);
            }
            Op::SpaceToDepth { block } => {
                self.push("SpaceToDepth", &[x], name, vec![("blocksize", Int(signed(*block)))]);
            }
            Op::DepthToSpace { block } => {
                self.push("DepthToSpace", &[x], name, vec![("blocksize", Int(signed(*block)))]);
            }
            Op::Resize { mode, align_corners, half_pixel_centers, places: None } => {
                let pixels = match (align_corners, half_pixel_centers) {
                    (true, _) => "align_corners",
                    (_, true) => "half_pixel",
                    _ => "asymmetric",
                };
                let mut attributes = vec![("coordinate_transformation_mode", Text(pixels))];
                if *mode == ResizeMode::Bilinear {
                    attributes.push(("mode", Text("linear")));
                } else {
                    let round = if *align_corners || *half_pixel_centers {
                        "round_prefer_ceil"
                    } else {
                        "floor"
                    };
                    attributes.push(("mode", Text("nearest")));
                    attributes.push(("nearest_mode", Text(round)));
                }
                let sizes: Vec<i64> = file_dims(to).iter().map(|dim| signed(*dim)).collect();
                let sizes = self.integers(&format!("{name}.sizes"), &sizes);
                self.push("Resize", &[x, "", "", &sizes], name, attributes);
            }
            Op::Mean { axes, keep_dims } => {
                let (mut x, mut in_file) = (x.to_owned(), rank == 4);
                // Without the dimension in between, the rest would stand in the file's order.
                if rank == 4 && !keep_dims && axes != &[1, 2] {
                    let ours = format!("{name}.nhwc");
                    self.permute(&x, &ours, &FROM_FILE);
                    (x, in_file) = (ours, false);
                }
                let axis = |axis: &usize| if in_file { file_axis(4, *axis) } else { signed(*axis) };
                let axes = axes.iter().map(axis).collect();
                let attributes = vec![("axes", Ints(axes)), ("keepdims", Int((*keep_dims).into()))];
                self.push("ReduceMean", &[&x], name, attributes);
            }
            _ => return Err("nobody has said how"),
        }
        Ok(())
    }

    fn permute(&mut self, x: &str, output: &str, permutation: &[usize]) {
        let permutation = permutation.iter().map(|axis| signed(*axis)).collect();
        self.push("Transpose", &[x], output, vec![("perm", Ints(permutation))]);
    }

    /// Values keep our order: images are brought into it before, and out of it behind, unless they
    /// are single pixels.
    fn reshape(&mut self, x: &str, (from, to): (&[usize], &[usize]), name: &str) {
        let is_image = |dims: &[usize]| dims.len() == 4 && dims[1..3] != [1, 1];
        let mut x = x.to_owned();
        if is_image(from) {
            let ours = format!("{name}.nhwc");
            self.permute(&x, &ours, &FROM_FILE);
            x = ours;
        }
        let given = if is_image(to) { to.to_vec() } else { file_dims(to) };
        let given: Vec<i64> = given.iter().map(|dim| signed(*dim)).collect();
        let shape = self.integers(&format!("{name}.dims"), &given);
        if is_image(to) {
            let ours = format!("{name}.reshaped");
            self.push("Reshape", &[&x, &shape], &ours, vec![]);
            self.permute(&ours, name, &TO_FILE);
        } else {
            self.push("Reshape", &[&x, &shape], name, vec![]);
        }
    }
}

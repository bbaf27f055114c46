//! Padding and pools.

use tilewright_model::integer;
use tilewright_model::{Activation, DType, Node, Op, Padding, Window};
use tilewright_tflite_schema::{self as fb, BuiltinOperator as Code};

use super::graph::{Made, Writer, int};
use super::kind::{Eight, has_halves};
use super::options::{Options, Sliding};

/// How far a window reaches.
fn reach(window: &Window, axis: usize) -> usize {
    window.size[axis].saturating_sub(1) * window.dilation[axis] + 1
}

/// What SAME pads before the image, and how many results it has.
fn same(input: usize, stride: usize, reach: usize) -> (usize, usize) {
    let count = input.div_ceil(stride);
    let total = (count.saturating_sub(1) * stride + reach).saturating_sub(input);
    (total / 2, count)
}

/// The scheme that slides a window as here, if there is one: the first window begins at the same place,
/// and there are as many.
fn scheme(input: [usize; 2], output: [usize; 2], window: &Window) -> Option<fb::Padding> {
    let before = [window.padding.top, window.padding.left];
    let both = |holds: &dyn Fn(usize) -> bool| holds(0) && holds(1);
    let is_valid = both(&|axis| {
        let rest = input[axis].checked_sub(reach(window, axis));
        before[axis] == 0 && rest.map(|rest| rest / window.stride[axis] + 1) == Some(output[axis])
    });
    let is_same = both(&|axis| {
        let stated = same(input[axis], window.stride[axis], reach(window, axis));
        stated == (before[axis], output[axis])
    });
    match (is_valid, is_same) {
        (true, _) => Some(fb::Padding::VALID),
        (_, true) => Some(fb::Padding::SAME),
        _ => None,
    }
}

/// Padding as far as windows see it.
fn seen(input: [usize; 2], output: [usize; 2], window: &Window) -> Padding {
    let before = [window.padding.top, window.padding.left];
    let behind = |axis: usize| {
        let end = (output[axis] - 1) * window.stride[axis] + reach(window, axis);
        end.saturating_sub(input[axis] + before[axis])
    };
    Padding { top: before[0], left: before[1], bottom: behind(0), right: behind(1) }
}

fn rows_and_columns(dims: &[usize]) -> Made<[usize; 2]> {
    match dims {
        [_, height, width, _] => Ok([*height, *width]),
        _ => Err("its images have not four dimensions".to_owned()),
    }
}

impl Writer<'_> {
    /// A window's input and the scheme under which it is slid over it: padding that no scheme says is
    /// put around the input by an operator of its own.
    pub(super) fn in_scheme(&mut self, node: &Node, window: &Window) -> Made<(i32, fb::Padding)> {
        let input = rows_and_columns(self.dims(node.inputs[0]))?;
        let output = rows_and_columns(self.dims(node.outputs[0]))?;
        if let Some(scheme) = scheme(input, output, window) {
            return Ok((self.tensor(node.inputs[0])?, scheme));
        }
        let padding = seen(input, output, window);
        Ok((self.padded(node, padding, false)?, fb::Padding::VALID))
    }

    /// The node's input with rows and columns of zeros around it, or of the lowest value.
    fn padded(&mut self, node: &Node, padding: Padding, with_lowest: bool) -> Made<i32> {
        let id = node.inputs[0];
        let amounts =
            [(0, 0), (padding.top, padding.bottom), (padding.left, padding.right), (0, 0)];
        let dims: Vec<usize> = self
            .dims(id)
            .iter()
            .zip(amounts)
            .map(|(dim, (before, behind))| before + dim + behind)
            .collect();
        let output = self.like(node, id, "padded", &dims)?;
        let filler = match with_lowest {
            true => Some(self.scalar(node, id, "lowest", (i8::MIN, f32::MIN))?),
            false => None,
        };
        let input = self.tensor(id)?;
        self.pad(node, input, &amounts, filler, output)?;
        Ok(output)
    }

    pub(super) fn pad(
        &mut self,
        node: &Node,
        input: i32,
        amounts: &[(usize, usize)],
        filler: Option<i32>,
        output: i32,
    ) -> Made<()> {
        let mut values = Vec::new();
        for (before, behind) in amounts {
            values.extend([int(*before)?, int(*behind)?]);
        }
        let name = format!("{}.amounts", self.name(node.outputs[0]));
        let amounts = self.integers(&name, &[int(amounts.len())?, 2], &values);
        let code = if filler.is_some() { Code::PADV2 } else { Code::PAD };
        let operands: Vec<i32> = [input, amounts].into_iter().chain(filler).collect();
        self.push(code, Options::None, &operands, &[output]);
        Ok(())
    }

    /// A pad by itself.
    pub(super) fn pad_node(
        &mut self,
        node: &Node,
        amounts: &[(usize, usize)],
        real: f32,
        output: i32,
    ) -> Made<()> {
        let id = node.outputs[0];
        let step = integer::filler(self.model, node);
        let is_zero = match self.model.tensor(id).dtype {
            DType::I8 => {
                let zero = self.model.tensor(id).quantisation.as_ref().map(|known| known.zero());
                zero == Some(i32::from(step))
            }
            DType::F32 => real == 0.0,
            _ => step == 0,
        };
        let filler = match is_zero {
            true => None,
            false => Some(self.scalar(node, id, "filler", (step, real))?),
        };
        let input = self.tensor(node.inputs[0])?;
        self.pad(node, input, amounts, filler, output)
    }

    pub(super) fn max_pool(
        &mut self,
        node: &Node,
        window: &Window,
        activation: Activation,
        output: i32,
    ) -> Made<()> {
        let from = rows_and_columns(self.dims(node.inputs[0]))?;
        let to = rows_and_columns(self.dims(node.outputs[0]))?;
        let (input, padding) = match scheme(from, to, window) {
            Some(scheme) => (self.tensor(node.inputs[0])?, scheme),
            // The lowest value never wins.
            None => (self.padded(node, seen(from, to, window), true)?, fb::Padding::VALID),
        };
        let options = pool(window, window.stride, padding, activation)?;
        self.push(Code::MAX_POOL_2D, options, &[input], &[output]);
        Ok(())
    }

    pub(super) fn average_pool(&mut self, node: &Node, output: i32) -> Made<()> {
        let Op::AveragePool { window, count_padding, uncounted, halves_up, activation } = &node.op
        else {
            return Err("it is no average pool".to_owned());
        };
        if self.is_int8 && has_halves(node) && *halves_up != (self.eight == Eight::Unsigned) {
            let reason = "it rounds halves in another way than the rest of the model lets it: \
                          TensorFlow Lite rounds them up in files of uint8, elsewhere away from zero";
            return Err(reason.to_owned());
        }
        let mut from = rows_and_columns(self.dims(node.inputs[0]))?;
        let to = rows_and_columns(self.dims(node.outputs[0]))?;
        let mut window = *window;
        let mut input = self.tensor(node.inputs[0])?;
        if *count_padding {
            // What counts goes into the image; what does not stays padding.
            let Padding { top, left, bottom, right } = window.padding;
            let [below, beside] = *uncounted;
            let counted = Padding {
                top,
                left,
                bottom: bottom.saturating_sub(below),
                right: right.saturating_sub(beside),
            };
            window.padding = Padding { top: 0, left: 0, bottom: below, right: beside };
            if counted != Padding::default() {
                input = self.padded(node, counted, false)?;
                from[0] += counted.top + counted.bottom;
                from[1] += counted.left + counted.right;
            }
        }
        if let Some(scheme) = scheme(from, to, &window) {
            let options = pool(&window, window.stride, scheme, *activation)?;
            self.push(Code::AVERAGE_POOL_2D, options, &[input], &[output]);
            return Ok(());
        }
        self.picked(node, &window, *activation, (input, from, to), output)
    }

    /// An average pool whose padding no scheme says and does not count: SAME with this stride, or by
    /// one pixel at a time, has its windows among others, which a slice picks.
    fn picked(
        &mut self,
        node: &Node,
        window: &Window,
        activation: Activation,
        (input, from, to): (i32, [usize; 2], [usize; 2]),
        output: i32,
    ) -> Made<()> {
        let before = [window.padding.top, window.padding.left];
        let (mut stride, mut begin, mut step, mut made) = ([1; 2], [0; 2], [1; 2], [0; 2]);
        for axis in 0..2 {
            let found = [window.stride[axis], 1].into_iter().find_map(|small| {
                let (padding, count) = same(from[axis], small, reach(window, axis));
                let first = padding.checked_sub(before[axis]).filter(|at| at % small == 0)? / small;
                let step = window.stride[axis] / small;
                (first + (to[axis] - 1) * step < count).then_some((small, first, step, count))
            });
            let (small, first, each, count) = found.ok_or(
                "no SAME padding has its windows, and its padding does not count: pad so that it \
                 counts, or so that all sides are padded alike",
            )?;
            (stride[axis], begin[axis], step[axis], made[axis]) = (small, first, each, count);
        }
        let id = node.outputs[0];
        let &[batch, _, _, channels] = self.dims(id) else {
            return Err("its result has not four dimensions".to_owned());
        };
        let whole = self.like(node, id, "whole", &[batch, made[0], made[1], channels])?;
        let options = pool(window, stride, fb::Padding::SAME, activation)?;
        self.push(Code::AVERAGE_POOL_2D, options, &[input], &[whole]);
        let begin = [0, begin[0], begin[1], 0];
        let step = [1, step[0].cast_signed(), step[1].cast_signed(), 1];
        self.slice(node, whole, (&begin, self.dims(id), &step), output)
    }
}

fn pool(
    window: &Window,
    stride: [usize; 2],
    padding: fb::Padding,
    activation: Activation,
) -> Made<Options> {
    if window.dilation != [1, 1] {
        return Err("a pool is not dilated".to_owned());
    }
    let sliding = Sliding {
        padding,
        stride: [int(stride[0])?, int(stride[1])?],
        dilation: [1, 1],
        activation,
    };
    Ok(Options::Pool { sliding, size: [int(window.size[0])?, int(window.size[1])?] })
}

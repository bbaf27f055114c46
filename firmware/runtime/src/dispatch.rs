//! A compute step: from op, tile and views to a kernel.

use crate::convert;
use crate::error::Cause;
use crate::memory::{AccessError, Memory};
use tilewright_kernels::{
    Add, Channels, Conv, FullyConnected, KernelError, Pad, Pool, Requantise, Softmax, Source,
    Target, add, average_pool, conv, depthwise, fully_connected, max_pool, pad, requantise,
    softmax,
};
use tilewright_plan::{Kernel, Op, PlanImage, Tile, View};

/// Runs a compute step.
pub fn compute(
    image: &PlanImage<'_>,
    memory: &mut Memory<'_>,
    op: u32,
    tile: u32,
    first_view: u32,
) -> Result<(), Cause> {
    let op = image.op(op).ok_or(Cause::BadStep)?;
    let tile = image.tile(tile).ok_or(Cause::BadStep)?;
    let views = image.operands(op, first_view).ok_or(Cause::BadStep)?;
    let kernel = op.kernel().ok_or(Cause::BadStep)?;
    match (kernel, views) {
        (
            Kernel::Conv | Kernel::Depthwise | Kernel::FullyConnected,
            [input, output, weights, constants],
        ) => with_weights(image, memory, kernel, op, tile, [input, weights, constants], output),
        (Kernel::Add, [first, second, output]) => {
            let ([a, b], target) = operands(memory, image, [first, second], output)?;
            let (a, b) = (source(a, first)?, source(b, second)?);
            let [a_zero, b_zero] = op.input_zero;
            let op = Add {
                input_zero: [zero(a_zero)?, zero(b_zero)?],
                input: [convert::factor(op, 0), convert::factor(op, 2)],
                sum: convert::factor(op, 4),
                output: convert::output(op).ok_or(Cause::BadStep)?,
            };
            let mut target = self::target(target, output)?;
            add(&op, &convert::tile(tile), &a, &b, &mut target).map_err(Cause::Kernel)
        }
        (
            Kernel::MaxPool
            | Kernel::AveragePool
            | Kernel::Requantise
            | Kernel::Pad
            | Kernel::Softmax,
            [input, output],
        ) => unary(image, memory, kernel, op, tile, input, output),
        _ => Err(Cause::BadStep),
    }
}

fn with_weights(
    image: &PlanImage<'_>,
    memory: &mut Memory<'_>,
    kernel: Kernel,
    op: &Op,
    tile: &Tile,
    inputs: [&View; 3],
    output: &View,
) -> Result<(), Cause> {
    let ([input, weights, constants], target) = operands(memory, image, inputs, output)?;
    let (tile, channels) = (convert::tile(tile), Channels::new(constants));
    let input = source(input, inputs[0])?;
    let mut target = self::target(target, output)?;
    let input_zero = zero(op.input_zero[0])?;
    let output = convert::output(op).ok_or(Cause::BadStep)?;
    let result = if matches!(kernel, Kernel::FullyConnected) {
        let op = FullyConnected { input_zero, output };
        fully_connected(&op, &tile, &input, &mut target, weights, channels)
    } else {
        let run = if matches!(kernel, Kernel::Conv) { conv } else { depthwise };
        let (window, groups) = (convert::window(op), usize::from(op.groups));
        let op = Conv { window, groups, input_zero, output };
        run(&op, &tile, &input, &mut target, weights, channels)
    };
    result.map_err(Cause::Kernel)
}

fn unary(
    image: &PlanImage<'_>,
    memory: &mut Memory<'_>,
    kernel: Kernel,
    op: &Op,
    tile: &Tile,
    input: &View,
    output: &View,
) -> Result<(), Cause> {
    let ([bytes], target) = operands(memory, image, [input], output)?;
    let input = source(bytes, input)?;
    let mut target = self::target(target, output)?;
    let tile = convert::tile(tile);
    let output = convert::output(op).ok_or(Cause::BadStep)?;
    let pool = || Pool { window: convert::window(op), output };
    match kernel {
        Kernel::MaxPool => max_pool(&pool(), &tile, &input, &mut target),
        Kernel::AveragePool => average_pool(&pool(), &tile, &input, &mut target),
        Kernel::Requantise => {
            let input_zero = zero(op.input_zero[0])?;
            let op = Requantise { input_zero, factor: convert::factor(op, 0), output };
            requantise(&op, &tile, &input, &mut target)
        }
        Kernel::Pad => {
            let op = Pad { padding: op.padding.map(i32::from), zero: output.zero };
            pad(&op, &tile, &input, &mut target)
        }
        Kernel::Softmax => {
            let op = Softmax { scale: convert::factor(op, 0), smallest_difference: op.scalars[2] };
            softmax(&op, &tile, &input, &mut target)
        }
        Kernel::Conv | Kernel::Depthwise | Kernel::FullyConnected | Kernel::Add => {
            Err(KernelError::Shape)
        }
    }
    .map_err(Cause::Kernel)
}

fn operands<'s, const N: usize>(
    memory: &'s mut Memory<'_>,
    image: &PlanImage<'s>,
    inputs: [&View; N],
    output: &View,
) -> Result<([&'s [u8]; N], &'s mut [u8]), Cause> {
    memory.operands(image, inputs, output).map_err(|error: AccessError| Cause::Access(error))
}

fn source<'a>(bytes: &'a [u8], view: &View) -> Result<Source<'a>, Cause> {
    Source::new(bytes, convert::layout(view)).map_err(Cause::Kernel)
}

fn target<'a>(bytes: &'a mut [u8], view: &View) -> Result<Target<'a>, Cause> {
    Target::new(bytes, convert::layout(view)).map_err(Cause::Kernel)
}

fn zero(value: i16) -> Result<i8, Cause> {
    convert::byte(value).ok_or(Cause::BadStep)
}

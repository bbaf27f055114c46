//! A compute step: from op, tile and views to a kernel.

mod in_place;

use crate::convert;
use crate::error::Cause;
use crate::memory::{AccessError, Memory};
use tilewright_kernels::{
    self as kernels, Add, AveragePool, Axis, Bilinear, Channels, Conv, Counted, FullyConnected,
    KernelError, LocalResponse, LogSoftmax, Mean, Mul, Nearest, Pad, Pool, Prelu, Requantise,
    Softmax, Source, Target, TransposeConv, paired, paired::SparseWeights,
};
use tilewright_plan::image::ComputeStep;
use tilewright_plan::{
    Filters, Kernel, Op, Packed, PlanImage, PoolBehind, RowOrder, Tile, View, domain, rows,
};

/// Runs a compute step whose rows are made in an order. That the tables were read before is no chance:
/// how long that takes depends on where its records stand in them, so that it is no part of the step.
///
/// # Errors
/// Where an operand is not, or what its kernel refuses.
pub fn run(
    image: &PlanImage<'_>,
    memory: &mut Memory<'_>,
    step: &ComputeStep<'_>,
    order: RowOrder,
) -> Result<(), Cause> {
    let mut call = Call { image, memory, step, order, result: Ok(()) };
    tilewright_compute(&mut call);
    // An error is large: where none is, none is moved.
    if call.result.is_ok() { Ok(()) } else { call.result }
}

/// A compute step under way.
struct Call<'c, 'm, 'i> {
    image: &'c PlanImage<'i>,
    memory: &'c mut Memory<'m>,
    step: &'c ComputeStep<'c>,
    order: RowOrder,
    result: Result<(), Cause>,
}

/// All of a compute step, and nothing else, happens below this function. Its symbol stays in the
/// firmware, so that a debugger or an emulator can step over it.
#[expect(unsafe_code, reason = "the symbol's name is a contract; no other function has it")]
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn tilewright_compute(call: &mut Call<'_, '_, '_>) {
    call.result = in_order(call.image, call.memory, call.step, call.order);
}

fn in_order(
    image: &PlanImage<'_>,
    memory: &mut Memory<'_>,
    step: &ComputeStep<'_>,
    order: RowOrder,
) -> Result<(), Cause> {
    let ComputeStep { op, tile, operands: views } = *step;
    let step = Step { image, op, kernel: op.kernel().ok_or(Cause::BadStep)?, tile };
    if order == RowOrder::Whole {
        return step.run(memory, views);
    }
    let last = rows::sequence(tile, order).last().ok_or(Cause::BadStep)?;
    let last = rows::Row::of(op, tile, views, last).ok_or(Cause::BadStep)?;
    for y in rows::sequence(tile, order) {
        let row = rows::Row::of(op, tile, views, y).ok_or(Cause::BadStep)?;
        if !row.leaves_the_rest_until(&last, step.kernel) {
            return Err(Cause::Access(AccessError::Overlap));
        }
        Step { tile: &row.tile, ..step }.run(memory, row.operands())?;
    }
    Ok(())
}

/// A compute step apart from its operands.
#[derive(Clone, Copy)]
struct Step<'a, 'i> {
    image: &'a PlanImage<'i>,
    op: &'a Op,
    kernel: Kernel,
    tile: &'a Tile,
}

impl Step<'_, '_> {
    fn run(&self, memory: &mut Memory<'_>, views: &[View]) -> Result<(), Cause> {
        if let Some(shared) = domain::in_place(self.kernel, views) {
            return self.in_place(memory, views, shared);
        }
        match self.kernel {
            Kernel::Conv
            | Kernel::Depthwise
            | Kernel::FullyConnected
            | Kernel::TransposeConv
            | Kernel::ConvMaxPool => self.with_weights(memory, views),
            Kernel::Add
            | Kernel::Sub
            | Kernel::Mul
            | Kernel::Maximum
            | Kernel::Minimum
            | Kernel::Prelu => self.two(memory, views),
            Kernel::Lut | Kernel::Gather | Kernel::ResizeNearest | Kernel::LocalResponse => {
                self.with_table(memory, views)
            }
            Kernel::MaxPool
            | Kernel::AveragePool
            | Kernel::Requantise
            | Kernel::Pad
            | Kernel::Softmax
            | Kernel::Mean
            | Kernel::ResizeBilinear
            | Kernel::LogSoftmax
            | Kernel::ArgMax => self.unary(memory, views),
        }
    }

    // Out of line, as the others: the buffers of one kind of kernels are not on the stack while another runs.
    #[inline(never)]
    fn with_weights(&self, memory: &mut Memory<'_>, views: &[View]) -> Result<(), Cause> {
        let [input, output, weights, constants] = views else { return Err(Cause::BadStep) };
        let Filters { packed, together, .. } = self.op.filters_for(input);
        let paired = packed != Packed::Natural;
        let inputs = [input, weights, constants];
        let ([bytes, weights, constants], target) = operands(memory, self.image, inputs, output)?;
        let (tile, channels) = (convert::tile(self.tile), Channels::new(constants));
        let input = source(bytes, input)?;
        let target = &mut self::target(target, output)?;
        let [input_zero, weight_zero] = self.op.input_zero;
        let (input_zero, weight_zero) = (zero(input_zero)?, zero(weight_zero)?);
        let output = convert::output(self.op).ok_or(Cause::BadStep)?;
        let window = convert::window(self.op);
        let sparse = SparseWeights { rows: weights, block: together as usize };
        match self.kernel {
            Kernel::FullyConnected => {
                let op = FullyConnected { input_zero, weight_zero, output };
                let run = match packed {
                    Packed::Sparse => {
                        let run = paired::sparse_fully_connected;
                        return run(&op, &tile, &input, target, sparse, channels)
                            .map_err(Cause::Kernel);
                    }
                    Packed::Pairs | Packed::Transformed => paired::fully_connected,
                    Packed::Natural => kernels::fully_connected,
                };
                run(&op, &tile, &input, target, weights, channels)
            }
            Kernel::TransposeConv => {
                let op = TransposeConv { window, input_zero, weight_zero, output };
                kernels::transpose_conv(&op, &tile, &input, target, weights, channels)
            }
            kernel => {
                let groups = usize::from(self.op.groups);
                let op = Conv { window, groups, input_zero, weight_zero, output };
                if let Some(pool) = PoolBehind::of(self.op) {
                    let op = convert::conv_max_pool(op, &pool);
                    let run = match paired {
                        true => paired::conv_max_pool,
                        false => kernels::conv_max_pool,
                    };
                    run(&op, &tile, &input, target, weights, channels)
                } else {
                    let run = match (kernel, packed) {
                        (Kernel::Conv, Packed::Transformed) => paired::winograd,
                        (Kernel::Conv, Packed::Sparse) => {
                            return paired::sparse_conv(
                                &op, &tile, &input, target, sparse, channels,
                            )
                            .map_err(Cause::Kernel);
                        }
                        (Kernel::Conv, Packed::Pairs) => paired::conv,
                        (Kernel::Conv, Packed::Natural) => kernels::conv,
                        _ => kernels::depthwise,
                    };
                    run(&op, &tile, &input, target, weights, channels)
                }
            }
        }
        .map_err(Cause::Kernel)
    }

    #[inline(never)]
    fn two(&self, memory: &mut Memory<'_>, views: &[View]) -> Result<(), Cause> {
        let [first, second, output] = views else { return Err(Cause::BadStep) };
        let ([a, b], target) = operands(memory, self.image, [first, second], output)?;
        self.pair(&source(a, first)?, &source(b, second)?, &mut self::target(target, output)?)
    }

    fn pair(&self, a: &Source<'_>, b: &Source<'_>, to: &mut Target<'_>) -> Result<(), Cause> {
        let tile = &convert::tile(self.tile);
        let [a_zero, b_zero] = self.op.input_zero;
        let input_zero = [zero(a_zero)?, zero(b_zero)?];
        let output = convert::output(self.op).ok_or(Cause::BadStep)?;
        let factor = |first| convert::factor(self.op, first);
        match self.kernel {
            Kernel::Mul => {
                let op = Mul { input_zero, product: factor(0), output };
                kernels::mul(&op, tile, a, b, to)
            }
            Kernel::Maximum => kernels::maximum(&output, tile, a, b, to),
            Kernel::Minimum => kernels::minimum(&output, tile, a, b, to),
            Kernel::Prelu => {
                let op = Prelu { input_zero, positive: factor(0), negative: factor(2), output };
                kernels::prelu(&op, tile, a, b, to)
            }
            kernel => {
                let run = if kernel == Kernel::Sub { kernels::sub } else { kernels::add };
                let op = Add { input_zero, input: [factor(0), factor(2)], sum: factor(4), output };
                run(&op, tile, a, b, to)
            }
        }
        .map_err(Cause::Kernel)
    }

    #[inline(never)]
    fn with_table(&self, memory: &mut Memory<'_>, views: &[View]) -> Result<(), Cause> {
        let [input, output, constants] = views else { return Err(Cause::BadStep) };
        let parameters = self.image.gather(constants);
        let ([bytes, constants], target) =
            operands(memory, self.image, [input, constants], output)?;
        let to = &mut self::target(target, output)?;
        let tile = &convert::tile(self.tile);
        match self.kernel {
            Kernel::Gather => {
                let op = convert::gather(&parameters.ok_or(Cause::BadStep)?);
                kernels::gather(&op, tile, bytes, to)
            }
            Kernel::ResizeNearest => {
                let rows = usize::from(self.op.window[0]);
                let op = Nearest::new(constants, rows).ok_or(Cause::BadStep)?;
                kernels::resize_nearest(&op, tile, &source(bytes, input)?, to)
            }
            Kernel::LocalResponse => {
                let [before, behind, shift, ..] = self.op.scalars;
                let around = [before, behind].map(|count| usize::try_from(count).unwrap_or(0));
                let op = LocalResponse {
                    around,
                    input_zero: zero(self.op.input_zero[0])?,
                    factors: constants.as_chunks().0,
                    shift,
                    output: convert::output(self.op).ok_or(Cause::BadStep)?,
                };
                kernels::local_response(&op, tile, &source(bytes, input)?, to)
            }
            _ => {
                let table = constants.first_chunk().ok_or(Cause::BadStep)?;
                kernels::lut(table, tile, &source(bytes, input)?, to)
            }
        }
        .map_err(Cause::Kernel)
    }

    #[inline(never)]
    fn unary(&self, memory: &mut Memory<'_>, views: &[View]) -> Result<(), Cause> {
        let [input, output] = views else { return Err(Cause::BadStep) };
        let ([bytes], target) = operands(memory, self.image, [input], output)?;
        let input = &source(bytes, input)?;
        let to = &mut self::target(target, output)?;
        let tile = &convert::tile(self.tile);
        let op = self.op;
        let input_zero = zero(op.input_zero[0])?;
        let output = convert::output(op).ok_or(Cause::BadStep)?;
        let [s0, s1, s2, s3, ..] = op.scalars;
        let pool = || Pool { window: convert::window(op), output };
        match self.kernel {
            Kernel::MaxPool => kernels::max_pool(&pool(), tile, input, to),
            Kernel::AveragePool => {
                let counts = op.flags & Op::COUNT_PADDING != 0;
                let counted = counts.then_some(Counted { end: [s0, s1], zero: input_zero });
                let halves_up = op.flags & Op::HALVES_UP != 0;
                let op = AveragePool { pool: pool(), counted, halves_up };
                kernels::average_pool(&op, tile, input, to)
            }
            Kernel::Requantise => kernels::requantise(&self.requantise()?, tile, input, to),
            Kernel::Pad => {
                let before = usize::try_from(s0).map_err(|_| Cause::BadStep)?;
                let op = Pad { padding: op.padding.map(i32::from), before, zero: output.zero };
                kernels::pad(&op, tile, input, to)
            }
            Kernel::Softmax => {
                let op = Softmax { scale: convert::factor(op, 0), smallest_difference: s2 };
                kernels::softmax(&op, tile, input, to)
            }
            Kernel::LogSoftmax => {
                let (scale, reverse) = (convert::factor(op, 0), convert::factor(op, 3));
                let op = LogSoftmax { scale, reverse, smallest_difference: s2 };
                kernels::log_softmax(&op, tile, input, to)
            }
            Kernel::Mean => {
                let factor = convert::factor(op, 0);
                let op = Mean { over: op.over(), input_zero, factor, output };
                kernels::mean(&op, tile, input, to)
            }
            Kernel::ResizeBilinear => {
                let op = Bilinear { step: [s0, s1], first: [s2, s3] };
                kernels::resize_bilinear(&op, tile, input, to)
            }
            Kernel::ArgMax => {
                let axis = match op.over() {
                    [true, ..] => Axis::Rows,
                    [_, true, _] => Axis::Columns,
                    _ => Axis::Channels,
                };
                kernels::arg_max(axis, tile, input, to)
            }
            _ => Err(KernelError::Shape),
        }
        .map_err(Cause::Kernel)
    }
}

impl Step<'_, '_> {
    fn requantise(&self) -> Result<Requantise, Cause> {
        Ok(Requantise {
            input_zero: zero(self.op.input_zero[0])?,
            factor: convert::factor(self.op, 0),
            output: convert::output(self.op).ok_or(Cause::BadStep)?,
        })
    }
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

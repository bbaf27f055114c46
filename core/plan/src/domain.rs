//! What kernels may be given. A compute step outside of this is refused when an image is read,
//! so that kernels never see it.

use crate::kernel::{CHANNEL_CONSTANT_BYTES, Kernel, Role};
use crate::op::Op;
use crate::view::{Space, Tile, View};

/// Checks an op by itself.
///
/// # Errors
/// A sentence on what is wrong.
pub fn check_op(op: &Op) -> Result<(), &'static str> {
    let kernel = op.kernel().ok_or("unknown kernel")?;
    let byte = -128..=127;
    if op.clamp_min > op.clamp_max || !byte.contains(&op.clamp_min) || !byte.contains(&op.clamp_max)
    {
        return Err("clamp range is empty or not int8");
    }
    if !byte.contains(&op.input_zero[0])
        || !byte.contains(&op.input_zero[1])
        || !byte.contains(&op.output_zero)
    {
        return Err("zero point is not int8");
    }
    if has_window(kernel) && [op.window, op.stride, op.dilation].concat_has_zero() {
        return Err("window, stride or dilation is zero");
    }
    if matches!(kernel, Kernel::MaxPool | Kernel::AveragePool) && op.dilation != [1, 1] {
        return Err("a pooling window is dilated");
    }
    if matches!(kernel, Kernel::Conv | Kernel::Depthwise) && op.groups == 0 {
        return Err("no groups");
    }
    Ok(())
}

/// Checks a view by itself, in a space of `space_bytes` bytes.
///
/// # Errors
/// A sentence on what is wrong.
pub fn check_view(view: &View, space_bytes: u64) -> Result<(), &'static str> {
    if view.h == 0 || view.w == 0 || view.c == 0 {
        return Err("empty box");
    }
    if view.ring_rows < view.h || view.first_row >= view.ring_rows {
        return Err("ring is smaller than the box");
    }
    let line = u64::from(view.column_pitch) * u64::from(view.w - 1) + u64::from(view.c);
    if view.column_pitch < view.c || u64::from(view.row_pitch) < line {
        return Err("pitch is smaller than what it steps over");
    }
    if u64::from(view.offset) + view.extent() > space_bytes {
        return Err("reaches past the end of its space");
    }
    Ok(())
}

trait ConcatHasZero {
    fn concat_has_zero(&self) -> bool;
}

impl ConcatHasZero for [[u16; 2]; 3] {
    fn concat_has_zero(&self) -> bool {
        self.iter().flatten().any(|v| *v == 0)
    }
}

const fn has_window(kernel: Kernel) -> bool {
    matches!(kernel, Kernel::Conv | Kernel::Depthwise | Kernel::MaxPool | Kernel::AveragePool)
}

/// Checks a compute step: the op with its tile and its operands, one view for each role.
///
/// # Errors
/// A sentence on what is wrong.
pub fn check_compute(op: &Op, tile: &Tile, operands: &[View]) -> Result<(), &'static str> {
    let kernel = op.kernel().ok_or("unknown kernel")?;
    let roles = kernel.roles();
    if roles.len() != operands.len() {
        return Err("wrong number of operands");
    }
    for (role, view) in roles.iter().zip(operands) {
        let space = view.space().ok_or("unknown space")?;
        if matches!(role, Role::Output) && !space.is_writable() {
            return Err("output lies in a space that cannot be written");
        }
        if matches!(space, Space::Card) {
            return Err("the core cannot address the card");
        }
        if matches!(role, Role::Weights | Role::Constants) && !view.is_contiguous() {
            return Err("weights or constants are not contiguous");
        }
        if matches!(role, Role::Constants) && !view.offset.is_multiple_of(4) {
            return Err("constants are not aligned to four bytes");
        }
    }
    let output = operand(roles, operands, Role::Output).ok_or("no output")?;
    let input = operand(roles, operands, Role::Input).ok_or("no input")?;
    check_output(tile, output)?;
    match kernel {
        Kernel::Conv => {
            let groups = u32::from(op.groups);
            if !input.c.is_multiple_of(groups) || !tile.channels.is_multiple_of(groups) {
                return Err("channels are no multiple of the groups");
            }
            check_window(op, tile, input)?;
            let per_channel = window_area(op) * u64::from(input.c / groups);
            check_channels(tile, per_channel, operands)
        }
        Kernel::Depthwise => {
            if u64::from(input.c) * u64::from(op.groups) != u64::from(tile.channels) {
                return Err("channels do not match the channel multiplier");
            }
            check_window(op, tile, input)?;
            check_channels(tile, window_area(op), operands)
        }
        Kernel::FullyConnected => {
            if !input.is_contiguous() || output.h != 1 || output.w != 1 {
                return Err("fully connected operands are not vectors");
            }
            check_channels(tile, input.elements(), operands)
        }
        Kernel::MaxPool | Kernel::AveragePool => {
            if input.c != tile.channels {
                return Err("input and output differ in channels");
            }
            check_window(op, tile, input)?;
            check_windows_not_empty(op, tile)
        }
        Kernel::Add | Kernel::Requantise | Kernel::Softmax => {
            let same = |view: &View| (view.h, view.w, view.c) == (output.h, output.w, output.c);
            let mut inputs = roles.iter().zip(operands).filter(|(r, _)| matches!(r, Role::Input));
            if inputs.all(|(_, view)| same(view)) {
                Ok(())
            } else {
                Err("operands differ in shape")
            }
        }
        Kernel::Pad => {
            let [top, left] = op.padding.map(u32::from);
            if input.c != output.c
                || top + u32::from(input.h) > u32::from(output.h)
                || left + u32::from(input.w) > u32::from(output.w)
            {
                return Err("padded input does not fit its output");
            }
            Ok(())
        }
    }
}

fn operand<'v>(roles: &[Role], operands: &'v [View], wanted: Role) -> Option<&'v View> {
    roles.iter().zip(operands).find(|(role, _)| **role == wanted).map(|(_, view)| view)
}

fn window_area(op: &Op) -> u64 {
    u64::from(op.window[0]) * u64::from(op.window[1])
}

fn check_output(tile: &Tile, output: &View) -> Result<(), &'static str> {
    let inside = |start: u16, size: u16, first: i16, count: u16| {
        size > 0
            && i32::from(start) >= i32::from(first)
            && i32::from(start) + i32::from(size) <= i32::from(first) + i32::from(count)
    };
    if !inside(tile.output_start[0], tile.output_size[0], output.y0, output.h)
        || !inside(tile.output_start[1], tile.output_size[1], output.x0, output.w)
        || tile.channels == 0
        || tile.channels != output.c
    {
        return Err("tile lies outside its output");
    }
    Ok(())
}

/// The input rows and columns that exist lie in the view, and all that the tile needs exist.
fn check_window(op: &Op, tile: &Tile, input: &View) -> Result<(), &'static str> {
    for (axis, first, count) in [(0, input.y0, input.h), (1, input.x0, input.w)] {
        let start = i32::from(tile.valid_start[axis]);
        let end = start + i32::from(tile.valid_size[axis]);
        if tile.valid_size[axis] == 0
            || start < i32::from(first)
            || end > i32::from(first) + i32::from(count)
        {
            return Err("valid input lies outside its view");
        }
    }
    // Positions are computed in 32 bits by the kernels.
    for axis in 0..2 {
        let last = i64::from(tile.output_start[axis]) + i64::from(tile.output_size[axis]);
        let reach = last * i64::from(op.stride[axis])
            + i64::from(op.window[axis]) * i64::from(op.dilation[axis]);
        if reach > i64::from(i32::MAX) {
            return Err("window reaches too far");
        }
    }
    Ok(())
}

/// Each window of a pool sees at least one pixel. Windows are dense and move one way, so the first
/// and the last tell of all.
fn check_windows_not_empty(op: &Op, tile: &Tile) -> Result<(), &'static str> {
    for axis in 0..2 {
        let valid_start = i64::from(tile.valid_start[axis]);
        let valid_end = valid_start + i64::from(tile.valid_size[axis]);
        let start_of = |output: i64| {
            (i64::from(tile.output_start[axis]) + output) * i64::from(op.stride[axis])
                - i64::from(op.padding[axis])
        };
        let first = start_of(0);
        let last = start_of(i64::from(tile.output_size[axis]) - 1);
        if first + i64::from(op.window[axis]) <= valid_start || last >= valid_end {
            return Err("a pooling window sees no input");
        }
    }
    Ok(())
}

fn check_channels(
    tile: &Tile,
    weights_per_channel: u64,
    operands: &[View],
) -> Result<(), &'static str> {
    let [_, _, weights, constants] = operands else { return Err("wrong number of operands") };
    let channels = u64::from(tile.channels);
    if Some(weights.elements()) != weights_per_channel.checked_mul(channels) {
        return Err("weights have the wrong length");
    }
    if constants.elements() != channels * CHANNEL_CONSTANT_BYTES {
        return Err("channel constants have the wrong length");
    }
    Ok(())
}

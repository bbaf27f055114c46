//! What kernels may be given. A compute step outside of this is refused when an image is read,
//! so that kernels never see it.

use crate::filters::Packed;
use crate::gather::Gather;
use crate::kernel::{CHANNEL_CONSTANT_BYTES, Kernel, NEAREST_BYTES, Role, TABLE_BYTES};
use crate::op::{Op, PoolBehind};
use crate::spec::Filter;
use crate::step::RowOrder;
use crate::view::{Space, Tile, View};

/// Checks an op by itself.
///
/// # Errors
/// A sentence on what is wrong.
pub fn check_op(op: &Op) -> Result<(), &'static str> {
    let kernel = op.kernel().ok_or("unknown kernel")?;
    let spec = kernel.spec();
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
    if spec.reach.has_window() && [op.window, op.stride, op.dilation].concat_has_zero() {
        return Err("window, stride or dilation is zero");
    }
    if matches!(spec.filter, Some(Filter::Channel | Filter::Group)) && op.groups == 0 {
        return Err("no groups");
    }
    if let Some(pool) = PoolBehind::of(op)
        && [pool.window, pool.stride, pool.conv_size].concat_has_zero()
    {
        return Err("window or stride of the pool or its input's size is zero");
    }
    if op.flags & !spec.flags != 0 {
        return Err("unknown flags");
    }
    if kernel == Kernel::ArgMax && op.flags.count_ones() != 1 {
        return Err("an index is sought along other than one dimension");
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

/// Checks a compute step: the op with its tile and its operands, one view for each role. What a
/// gather's constants say is checked by [`check_gather`].
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
        check_operand(*role, view)?;
    }
    let output = operand(roles, operands, Role::Output).ok_or("no output")?;
    let input = operand(roles, operands, Role::Input).ok_or("no input")?;
    let constants = operand(roles, operands, Role::Constants).map_or(0, View::elements);
    check_output(tile, output)?;
    match kernel {
        Kernel::Conv => check_conv(op, tile, input, operands),
        Kernel::ConvMaxPool => {
            let pool = PoolBehind::of(op).ok_or("no pool")?;
            check_conv(op, &check_pool_behind(op, &pool, tile)?, input, operands)
        }
        Kernel::Depthwise => {
            if u64::from(input.c) * u64::from(op.groups) != u64::from(tile.channels) {
                return Err("channels do not match the channel multiplier");
            }
            check_window(op, tile, input)?;
            check_channels(op, tile, input, operands)
        }
        Kernel::TransposeConv => {
            check_valid(tile, input)?;
            check_channels(op, tile, input, operands)
        }
        Kernel::FullyConnected => {
            if !input.is_contiguous() || output.h != 1 || output.w != 1 {
                return Err("fully connected operands are not vectors");
            }
            check_channels(op, tile, input, operands)
        }
        Kernel::MaxPool | Kernel::AveragePool => {
            check_same_channels(input, output)?;
            check_window(op, tile, input)?;
            check_windows_not_empty(op, tile)?;
            check_counted(op, tile)
        }
        Kernel::Add | Kernel::Sub | Kernel::Mul | Kernel::Maximum | Kernel::Minimum => {
            check_broadcast(operands, false)
        }
        Kernel::Prelu => check_broadcast(operands, true),
        Kernel::Requantise | Kernel::Softmax | Kernel::LogSoftmax => check_same(input, output),
        Kernel::Lut => {
            check_same(input, output)?;
            (constants == TABLE_BYTES).then_some(()).ok_or("the table has the wrong length")
        }
        Kernel::LocalResponse => {
            check_same(input, output)?;
            let [before, behind, ..] = op.scalars;
            if before < 0 || behind < 0 || constants == 0 || !constants.is_multiple_of(4) {
                return Err("neighbouring channels or their factors are malformed");
            }
            Ok(())
        }
        Kernel::Pad => {
            let [top, left] = op.padding.map(u32::from);
            let before = u32::try_from(op.scalars[0]).unwrap_or(u32::MAX);
            if before.saturating_add(input.c) > output.c
                || top + u32::from(input.h) > u32::from(output.h)
                || left + u32::from(input.w) > u32::from(output.w)
            {
                return Err("padded input does not fit its output");
            }
            Ok(())
        }
        Kernel::Gather => {
            (constants == Gather::BYTES).then_some(()).ok_or("parameters have the wrong length")
        }
        Kernel::Mean | Kernel::ArgMax => {
            check_over(op, tile, input, output, kernel.spec().result_bytes)
        }
        Kernel::ResizeNearest => {
            check_same_channels(input, output)?;
            let size = op.window.map(u64::from);
            let inside = (0..2).all(|axis| {
                let end = u64::from(tile.output_start[axis]) + u64::from(tile.output_size[axis]);
                end <= size[axis]
            });
            let fits = inside && constants == (size[0] + size[1]) * NEAREST_BYTES;
            fits.then_some(()).ok_or("the table has the wrong length")
        }
        Kernel::ResizeBilinear => {
            check_same_channels(input, output)?;
            check_valid(tile, input)?;
            check_places(op, tile)
        }
    }
}

/// Which operand a step writes over, element by element: one of the very bytes that are written,
/// if the kernel takes elements one by one and no other operand is such a one. Every other operand
/// must share no byte with the output.
#[must_use]
pub fn in_place(kernel: Kernel, operands: &[View]) -> Option<usize> {
    let roles = kernel.roles();
    let output = operand(roles, operands, Role::Output)?;
    // Boxes may start at other coordinates: elements are paired by their place in the box.
    let place = |view: &View| View { y0: 0, x0: 0, ..*view };
    let same = |role: Role, view: &View| role == Role::Input && place(view) == place(output);
    let mut found = (0..).zip(roles.iter().zip(operands)).filter(|(_, (r, v))| same(**r, v));
    let (index, _) = found.next().filter(|_| kernel.is_elementwise())?;
    found.next().is_none().then_some(index)
}

/// Checks that a kernel can make its output in this order. What [`check_compute`] lets through
/// whole, it lets through row by row.
///
/// # Errors
/// A sentence on what is wrong.
pub fn check_order(op: &Op, order: RowOrder) -> Result<(), &'static str> {
    let rows = op.kernel().is_some_and(Kernel::makes_rows);
    if order == RowOrder::Whole || rows {
        Ok(())
    } else {
        Err("its kernel does not make row by row")
    }
}

/// Checks an operand by itself, its extent aside.
fn check_operand(role: Role, view: &View) -> Result<(), &'static str> {
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
    Ok(())
}

/// Checks the parameters of a gather against the tile and operands of a step that passed
/// [`check_compute`].
///
/// # Errors
/// A sentence on what is wrong.
pub fn check_gather(gather: &Gather, tile: &Tile, input: &View) -> Result<(), &'static str> {
    if gather.sizes.contains(&0) || gather.reserved != 0 {
        return Err("a dimension of a gather is empty");
    }
    let [rows, columns] = tile.output_size.map(u64::from);
    if gather.box_size() != Some([rows, columns, u64::from(tile.channels)]) {
        return Err("a gather's dimensions do not make its output box");
    }
    let [lowest, highest] = gather.reach();
    if lowest < 0 || highest.cast_unsigned() >= input.extent() {
        return Err("a gather reads outside of its input");
    }
    Ok(())
}

fn operand<'v>(roles: &[Role], operands: &'v [View], wanted: Role) -> Option<&'v View> {
    roles.iter().zip(operands).find(|(role, _)| **role == wanted).map(|(_, view)| view)
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

fn check_same(input: &View, output: &View) -> Result<(), &'static str> {
    let size = |view: &View| (view.h, view.w, view.c);
    if size(input) == size(output) { Ok(()) } else { Err("operands differ in shape") }
}

fn check_same_channels(input: &View, output: &View) -> Result<(), &'static str> {
    if input.c == output.c { Ok(()) } else { Err("input and output differ in channels") }
}

/// Of each dimension the inputs have as much as the output or one, and one of them has as much; the
/// first if it is not to be broadcast.
fn check_broadcast(operands: &[View], first_whole: bool) -> Result<(), &'static str> {
    let [first, second, output] = operands else { return Err("wrong number of operands") };
    let size = |view: &View| [u32::from(view.h), u32::from(view.w), view.c];
    let (first, second, output) = (size(first), size(second), size(output));
    for ((a, b), out) in first.into_iter().zip(second).zip(output) {
        if (a != out && (a != 1 || first_whole || b != out)) || (b != out && b != 1) {
            return Err("operands do not broadcast to the output");
        }
    }
    Ok(())
}

/// Dimensions that are taken together are whole in the input and one in the output; of the others
/// the input has what the tile names. An output channel takes `bytes` bytes.
fn check_over(
    op: &Op,
    tile: &Tile,
    input: &View,
    output: &View,
    bytes: u32,
) -> Result<(), &'static str> {
    let [rows, columns, channels] = op.over();
    let places = [(rows, input.y0, input.h, output.h), (columns, input.x0, input.w, output.w)];
    for (axis, (over, first, count, outputs)) in places.into_iter().enumerate() {
        let start = i32::from(tile.output_start[axis]);
        let end = start + i32::from(tile.output_size[axis]);
        let inside = start >= i32::from(first) && end <= i32::from(first) + i32::from(count);
        if (over && outputs != 1) || (!over && !inside) {
            return Err("input and output do not fit the dimensions taken together");
        }
    }
    let results = if channels { 1 } else { input.c };
    if results.checked_mul(bytes) != Some(output.c) {
        return Err("input and output differ in channels");
    }
    Ok(())
}

/// All that a bilinear resizing needs exists: places grow with the output, so the first and the
/// last tell of all.
fn check_places(op: &Op, tile: &Tile) -> Result<(), &'static str> {
    const UNIT: i64 = 1 << 10;
    let [steps @ .., _, _, _, _, _] = op.scalars;
    let [_, _, firsts @ .., _, _, _] = op.scalars;
    for axis in 0..2 {
        let (step, first) = (i64::from(steps[axis]), i64::from(firsts[axis]));
        let start = i64::from(tile.output_start[axis]);
        let last = start + i64::from(tile.output_size[axis]) - 1;
        let place = |output: i64| output * step + first;
        let valid = i64::from(tile.valid_start[axis]);
        let valid = valid..valid + i64::from(tile.valid_size[axis]);
        let fits = i32::try_from(place(last) + UNIT).is_ok()
            && i32::try_from(place(start)).is_ok()
            && place(last) / UNIT < valid.end
            && (place(start) + UNIT - 1) / UNIT >= valid.start;
        if step < 0 || !fits {
            return Err("a place between pixels lies outside of the input");
        }
    }
    Ok(())
}

/// The input rows and columns that exist lie in the view.
fn check_valid(tile: &Tile, input: &View) -> Result<(), &'static str> {
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
    Ok(())
}

/// The input that exists lies in the view, and positions are numbers that kernels can hold.
fn check_window(op: &Op, tile: &Tile, input: &View) -> Result<(), &'static str> {
    check_valid(tile, input)?;
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

/// Each window of a pool sees at least one pixel. Dense windows move one way, so the first and the
/// last tell of all; of dilated ones the kernel refuses those that see nothing.
fn check_windows_not_empty(op: &Op, tile: &Tile) -> Result<(), &'static str> {
    for axis in (0..2).filter(|axis| op.dilation[*axis] == 1) {
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

/// Input counts where padding does.
fn check_counted(op: &Op, tile: &Tile) -> Result<(), &'static str> {
    let counts = op.flags & Op::COUNT_PADDING != 0;
    for (axis, end) in op.scalars.into_iter().take(2).enumerate() {
        let valid_end = i32::from(tile.valid_start[axis]) + i32::from(tile.valid_size[axis]);
        if counts && end < valid_end {
            return Err("padding counts, but not all input");
        }
    }
    Ok(())
}

fn check_conv(op: &Op, tile: &Tile, input: &View, operands: &[View]) -> Result<(), &'static str> {
    let groups = u32::from(op.groups);
    if !input.c.is_multiple_of(groups) || !tile.channels.is_multiple_of(groups) {
        return Err("channels are no multiple of the groups");
    }
    check_window(op, tile, input)?;
    check_channels(op, tile, input, operands)
}

/// Each window of the pool sees an output of the convolution, and the convolution's windows for
/// them reach input, so that no more is computed than the input gives reason for. Gives the tile
/// of the convolution's output that the pool's tile sees.
fn check_pool_behind(op: &Op, pool: &PoolBehind, tile: &Tile) -> Result<Tile, &'static str> {
    let mut conv = *tile;
    for axis in 0..2 {
        let size = i64::from(pool.conv_size[axis]);
        let start_of = |output: u16| {
            i64::from(output) * i64::from(pool.stride[axis]) - i64::from(pool.padding[axis])
        };
        let last_output = tile.output_start[axis].checked_add(tile.output_size[axis] - 1);
        let last_output = last_output.ok_or("tile lies outside its output")?;
        let first = start_of(tile.output_start[axis]);
        let last = start_of(last_output);
        if first + i64::from(pool.window[axis]) <= 0 || last >= size {
            return Err("a pooling window sees no output of its convolution");
        }
        let end = (last + i64::from(pool.window[axis])).min(size);
        let first = first.max(0);
        let valid = i64::from(tile.valid_start[axis]);
        let valid_end = valid + i64::from(tile.valid_size[axis]);
        let place = |output: i64| output * i64::from(op.stride[axis]) - i64::from(op.padding[axis]);
        let reach = i64::from(op.window[axis] - 1) * i64::from(op.dilation[axis]) + 1;
        if place(first) + reach <= valid || place(end - 1) >= valid_end {
            return Err("a window of the convolution sees no input");
        }
        conv.output_start[axis] = u16::try_from(first).map_err(|_| "window reaches too far")?;
        conv.output_size[axis] =
            u16::try_from(end - first).map_err(|_| "window reaches too far")?;
    }
    Ok(conv)
}

fn check_channels(
    op: &Op,
    tile: &Tile,
    input: &View,
    operands: &[View],
) -> Result<(), &'static str> {
    let [_, _, weights, constants] = operands else { return Err("wrong number of operands") };
    let (channels, filters) = (u64::from(tile.channels), op.filters_for(input));
    let is_sparse = filters.packed == Packed::Sparse;
    if is_sparse && !filters.are_cut_at(tile.channel_start.into()) {
        return Err("begins within a block of sparse filters");
    }
    // Of sparse weights the kernel sees whether they are whole rows, and no more.
    let fits = match is_sparse {
        true => filters.least_sparse_bytes(channels).is_some_and(|l| l <= weights.elements()),
        false => Some(weights.elements()) == filters.all_bytes(channels),
    };
    if !fits {
        return Err("weights have the wrong length");
    }
    // Kernels read weights in pairs and their constants by words.
    let words = weights.offset.is_multiple_of(4) && constants.offset.is_multiple_of(4);
    if op.is_transformed() && filters.packed != Packed::Transformed {
        return Err("its convolution takes no transformed weights");
    }
    if (op.is_sparse() || op.sparse_block != 0) && !is_sparse {
        return Err("its weights cannot be sparse");
    }
    if filters.packed != Packed::Natural && !words {
        return Err("weights or channel constants are no whole words");
    }
    if constants.elements() != channels * CHANNEL_CONSTANT_BYTES {
        return Err("channel constants have the wrong length");
    }
    Ok(())
}

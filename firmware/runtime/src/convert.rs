//! From the plan's records to what kernels take.

use tilewright_kernels::{
    self as kernels, Conv, ConvMaxPool, Layout, Multiplier, Output, Stride, Window,
};
use tilewright_plan::{Gather, Op, PoolBehind, Tile, View};

/// A view's layout.
pub const fn layout(view: &View) -> Layout {
    Layout {
        rows: view.h as usize,
        columns: view.w as usize,
        channels: view.c as usize,
        first: [view.y0 as i32, view.x0 as i32],
        row_pitch: view.row_pitch as usize,
        column_pitch: view.column_pitch as usize,
        ring_rows: view.ring_rows as usize,
        ring_first: view.first_row as usize,
    }
}

/// A tile.
pub const fn tile(tile: &Tile) -> kernels::Tile {
    let [y, x] = tile.valid_start;
    let [rows, columns] = tile.valid_size;
    kernels::Tile {
        output_start: [tile.output_start[0] as i32, tile.output_start[1] as i32],
        output_size: [tile.output_size[0] as usize, tile.output_size[1] as usize],
        channels: tile.channels as usize,
        valid_start: [y as i32, x as i32],
        valid_end: [y as i32 + rows as i32, x as i32 + columns as i32],
    }
}

/// An op's window.
pub fn window(op: &Op) -> Window {
    Window {
        size: op.window.map(usize::from),
        stride: op.stride.map(i32::from),
        dilation: op.dilation.map(i32::from),
        padding: op.padding.map(i32::from),
    }
}

/// A convolution with the pool behind it.
pub fn conv_max_pool(conv: Conv, pool: &PoolBehind) -> ConvMaxPool {
    let window = Window {
        size: pool.window.map(usize::from),
        stride: pool.stride.map(i32::from),
        dilation: [1; 2],
        padding: pool.padding.map(i32::from),
    };
    ConvMaxPool { conv, pool: window, conv_size: pool.conv_size.map(i32::from) }
}

/// An int8 value that a record holds in 16 bits; nothing if it is none.
pub fn byte(value: i16) -> Option<i8> {
    i8::try_from(value).ok()
}

/// An op's output zero point and clamp.
pub fn output(op: &Op) -> Option<Output> {
    Some(Output { zero: byte(op.output_zero)?, min: byte(op.clamp_min)?, max: byte(op.clamp_max)? })
}

/// The multiplier and shift that start at a scalar.
pub fn factor(op: &Op, first: usize) -> Multiplier {
    let scalar = |index: usize| op.scalars.get(index).copied().unwrap_or(0);
    Multiplier { multiplier: scalar(first), shift: scalar(first + 1) }
}

/// A gather's parameters.
pub fn gather(gather: &Gather) -> kernels::Gather {
    let mut dimensions = [Stride::default(); kernels::GATHER_DIMENSIONS];
    for (dimension, (size, step)) in
        dimensions.iter_mut().zip(gather.sizes.into_iter().zip(gather.steps))
    {
        *dimension = Stride { size: size as usize, step: step as isize };
    }
    kernels::Gather {
        start: gather.start as usize,
        dimensions,
        split: gather.split.map(usize::from),
    }
}

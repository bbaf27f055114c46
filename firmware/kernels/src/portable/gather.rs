//! Copies elements from strided places: slices, transposes, space to depth and back, shuffles.

use super::runs::copy;
use crate::error::KernelError;
use crate::geometry::{Target, Tile};

/// Most dimensions of a gather.
pub const GATHER_DIMENSIONS: usize = 6;

/// A dimension of a gather.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stride {
    /// Elements; at least 1.
    pub size: usize,
    /// Bytes from an element's place in the input to the next one's.
    pub step: isize,
}

/// Where the elements of an output box lie in the input, relative to its first byte.
///
/// The box's rows, columns and channels are each some of the dimensions, outermost first: three
/// groups whose products of sizes are the box's. Element (i₀ … i₅) lies at
/// `start + Σ iₖ · stepₖ`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gather {
    /// Place of the box's first element.
    pub start: usize,
    /// The dimensions; those behind the last have size 1.
    pub dimensions: [Stride; GATHER_DIMENSIONS],
    /// How many dimensions make rows, and how many columns; the others make channels.
    pub split: [usize; 2],
}

impl Gather {
    /// The dimensions of rows, columns and channels.
    fn groups(&self) -> Option<[&[Stride]; 3]> {
        let [rows, columns] = self.split;
        let (rows, rest) = self.dimensions.split_at_checked(rows)?;
        let (columns, channels) = rest.split_at_checked(columns)?;
        Some([rows, columns, channels])
    }
}

/// Counts through the dimensions of a group, the last fastest.
struct Count<'d> {
    dimensions: &'d [Stride],
    at: [usize; GATHER_DIMENSIONS],
    place: isize,
}

impl<'d> Count<'d> {
    fn new(dimensions: &'d [Stride], place: isize) -> Self {
        Self { dimensions, at: [0; GATHER_DIMENSIONS], place }
    }

    fn advance(&mut self) {
        for (dimension, at) in self.dimensions.iter().zip(&mut self.at).rev() {
            self.place = self.place.wrapping_add(dimension.step);
            *at += 1;
            if *at < dimension.size {
                return;
            }
            let back = dimension.step.wrapping_mul(dimension.size as isize);
            self.place = self.place.wrapping_sub(back);
            *at = 0;
        }
    }
}

/// Copies the elements of the tile's box from their places in `input`.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn gather(
    op: &Gather,
    tile: &Tile,
    input: &[u8],
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    let [rows, columns, channels] = op.groups().ok_or(KernelError::Shape)?;
    let size = |group: &[Stride]| {
        group.iter().try_fold(1usize, |size, dimension| size.checked_mul(dimension.size))
    };
    let box_size = [tile.output_size[0], tile.output_size[1], tile.channels].map(Some);
    if box_size != [size(rows), size(columns), size(channels)]
        || box_size.contains(&Some(0))
        || output.layout.channels != tile.channels
    {
        return Err(KernelError::Shape);
    }
    let layout = output.layout;
    // Channels that follow each other in the input are copied as a run.
    let (run, outer) = match channels.split_last() {
        Some((last, outer)) if last.step == 1 => (last.size, outer),
        _ => (1, channels),
    };
    let runs = tile.channels / run.max(1);
    let mut row = Count::new(rows, op.start as isize);
    for y in tile.outputs(0) {
        let line = output.row(y)?;
        let mut column = Count::new(columns, row.place);
        for x in tile.outputs(1) {
            let start = layout.column(x);
            let pixel = line.get_mut(start..start.wrapping_add(tile.channels));
            let pixel = pixel.ok_or(KernelError::OutOfBounds)?;
            if runs == 1 {
                let from = column.place as usize;
                let bytes = input.get(from..from.wrapping_add(run));
                copy(pixel, bytes.ok_or(KernelError::OutOfBounds)?);
            } else {
                pick(pixel, input, run, Count::new(outer, column.place))?;
            }
            column.advance();
        }
        row.advance();
    }
    Ok(())
}

/// Copies a pixel's runs of `run` bytes.
fn pick(
    pixel: &mut [u8],
    input: &[u8],
    run: usize,
    mut place: Count<'_>,
) -> Result<(), KernelError> {
    if run == 1 {
        for byte in pixel {
            *byte = *input.get(place.place as usize).ok_or(KernelError::OutOfBounds)?;
            place.advance();
        }
        return Ok(());
    }
    for bytes in pixel.chunks_exact_mut(run.max(1)) {
        let from = place.place as usize;
        copy(bytes, input.get(from..from.wrapping_add(run)).ok_or(KernelError::OutOfBounds)?);
        place.advance();
    }
    Ok(())
}

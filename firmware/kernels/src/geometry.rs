//! Boxes of tensors, tiles of layers, and what a window sees of them.

use crate::channels::Channels;
use crate::error::KernelError;
use crate::requantise::Factor;

/// Where the elements of a box lie: element (y, x, c) of the tensor is the byte at
/// `((y − first[0] + ring_first) mod ring_rows) · row_pitch + (x − first[1]) · column_pitch + c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Rows of the box.
    pub rows: usize,
    /// Columns of the box.
    pub columns: usize,
    /// Channels of the box: bytes of a pixel.
    pub channels: usize,
    /// The tensor's row and column at which the box starts.
    pub first: [i32; 2],
    /// Bytes from a row to the next.
    pub row_pitch: usize,
    /// Bytes from a pixel to the next.
    pub column_pitch: usize,
    /// Rows after which the buffer wraps; at least `rows`.
    pub ring_rows: usize,
    /// Row of the ring that holds the box's first row.
    pub ring_first: usize,
}

impl Layout {
    /// A contiguous tensor.
    #[must_use]
    pub const fn whole(rows: usize, columns: usize, channels: usize) -> Self {
        Self {
            rows,
            columns,
            channels,
            first: [0; 2],
            row_pitch: columns * channels,
            column_pitch: channels,
            ring_rows: rows,
            ring_first: 0,
        }
    }

    /// Bytes of a row without what lies between it and the next.
    fn row_bytes(&self) -> Option<usize> {
        let before = self.columns.checked_sub(1)?.checked_mul(self.column_pitch)?;
        before.checked_add(self.channels)
    }

    #[inline(never)]
    fn check(&self, bytes: usize) -> Result<(), KernelError> {
        let fits = || {
            let last = self.ring_rows.checked_sub(1)?.checked_mul(self.row_pitch)?;
            let row_bytes = self.row_bytes()?;
            let end = last.checked_add(row_bytes)?;
            let ring = self.ring_first < self.ring_rows && self.rows <= self.ring_rows;
            // No byte is two elements, nor is it another column's that the box does not have.
            let apart = self.column_pitch >= self.channels && self.row_pitch >= row_bytes;
            let filled = self.rows > 0 && self.channels > 0;
            (ring && apart && filled && end <= bytes).then_some(())
        };
        fits().ok_or(KernelError::OutOfBounds)
    }

    /// Bytes of the row `y` (tensor coordinates).
    #[inline(always)]
    fn row(&self, y: i32) -> Option<core::ops::Range<usize>> {
        let index = usize::try_from(y.checked_sub(self.first[0])?).ok()?;
        if index >= self.rows {
            return None;
        }
        let mut row = index + self.ring_first;
        if row >= self.ring_rows {
            row -= self.ring_rows;
        }
        let start = row.wrapping_mul(self.row_pitch);
        let bytes = (self.columns.wrapping_sub(1)).wrapping_mul(self.column_pitch);
        Some(start..start.wrapping_add(bytes).wrapping_add(self.channels))
    }

    /// Where the pixel at row `y` and column `x` (tensor coordinates) lies, if it and as many more to
    /// its right as `columns` says are in the box; and how many rows, its own too, come one after
    /// the other from there.
    #[inline(never)]
    pub(crate) fn run(&self, [y, x]: [i32; 2], columns: usize) -> Option<(usize, usize)> {
        let index = usize::try_from(y.checked_sub(self.first[0])?).ok()?;
        let column = usize::try_from(x.checked_sub(self.first[1])?).ok()?;
        if index >= self.rows || column.checked_add(columns)? > self.columns {
            return None;
        }
        let row = self.row(y)?;
        let ahead = index + self.ring_first;
        let until = if ahead < self.ring_rows { self.ring_rows } else { 2 * self.ring_rows };
        let rows = (self.rows - index).min(until - ahead);
        Some((row.start.wrapping_add(self.column(x)), rows))
    }

    /// Bytes from a row's start to column `x` (tensor coordinates).
    #[inline]
    pub(crate) const fn column(&self, x: i32) -> usize {
        (x.wrapping_sub(self.first[1]) as usize).wrapping_mul(self.column_pitch)
    }

    /// The pixels of a tile of all columns as one row, and the bytes before it; nothing if they do not
    /// follow each other.
    #[inline(never)]
    fn flat(&self, tile: &Tile) -> Option<(usize, Self)> {
        let [rows, columns] = tile.output_size;
        let (start, run) = self.run(tile.output_start, columns)?;
        let pixels = rows.checked_mul(columns)?;
        let joined = self.columns == columns
            && run >= rows
            && self.row_pitch == columns.checked_mul(self.column_pitch)?;
        let row_pitch = pixels.checked_mul(self.column_pitch)?;
        let flat = Self {
            rows: 1,
            columns: pixels,
            first: [0; 2],
            row_pitch,
            ring_rows: 1,
            ring_first: 0,
            ..*self
        };
        joined.then_some((start, flat))
    }

    /// Whether all rows follow each other: none wraps.
    pub(crate) const fn is_in_one(&self) -> bool {
        self.ring_first.saturating_add(self.rows) <= self.ring_rows
    }

    /// Whether the pixels of a row follow each other without gap.
    #[inline]
    pub(crate) const fn is_dense(&self) -> bool {
        self.column_pitch == self.channels
    }
}

/// A box that is read.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    bytes: &'a [u8],
    /// Where its elements lie in the bytes.
    pub layout: Layout,
}

impl<'a> Source<'a> {
    /// A box at the start of `bytes`.
    ///
    /// # Errors
    /// [`KernelError::OutOfBounds`] if it is empty, overlaps itself or reaches past the bytes.
    pub fn new(bytes: &'a [u8], layout: Layout) -> Result<Self, KernelError> {
        layout.check(bytes.len())?;
        Ok(Self { bytes, layout })
    }

    /// The row `y` (tensor coordinates), from its first column to its last.
    #[inline(never)]
    pub(crate) fn row(&self, y: i32) -> Result<&'a [u8], KernelError> {
        self.layout.row(y).and_then(|range| self.bytes.get(range)).ok_or(KernelError::OutOfBounds)
    }

    /// The bytes from a pixel on (tensor coordinates), with `columns` pixels of its row in the box;
    /// and how many rows follow each other there, its own too.
    #[inline]
    pub(crate) fn run(
        &self,
        at: [i32; 2],
        columns: usize,
    ) -> Result<(&'a [u8], usize), KernelError> {
        let run = self.layout.run(at, columns);
        let run = run.and_then(|(start, rows)| Some((self.bytes.get(start..)?, rows)));
        run.ok_or(KernelError::OutOfBounds)
    }

    /// The bytes from `start` on; none if that is past their end.
    #[inline]
    pub(crate) fn bytes_from(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..).unwrap_or(&[])
    }

    /// The pixels of a tile of all columns as one row of a box of its own, if they follow each other.
    pub(crate) fn flat(&self, tile: &Tile) -> Option<Self> {
        let (start, layout) = self.layout.flat(tile)?;
        Self::new(self.bytes.get(start..)?, layout).ok()
    }

    /// All elements in order; only for contiguous boxes.
    pub(crate) fn vector(&self) -> Result<&'a [u8], KernelError> {
        let Layout { rows, columns, channels, row_pitch, ring_first, .. } = self.layout;
        if !self.layout.is_dense() || row_pitch != columns * channels || ring_first != 0 {
            return Err(KernelError::Shape);
        }
        self.bytes.get(..rows * row_pitch).ok_or(KernelError::OutOfBounds)
    }
}

/// The box that is written.
#[derive(Debug)]
pub struct Target<'a> {
    bytes: &'a mut [u8],
    /// Where its elements lie in the bytes.
    pub layout: Layout,
}

impl<'a> Target<'a> {
    /// A box at the start of `bytes`.
    ///
    /// # Errors
    /// [`KernelError::OutOfBounds`] if it is empty, overlaps itself or reaches past the bytes.
    pub fn new(bytes: &'a mut [u8], layout: Layout) -> Result<Self, KernelError> {
        layout.check(bytes.len())?;
        Ok(Self { bytes, layout })
    }

    /// The row `y` (tensor coordinates), from its first column to its last.
    #[inline(never)]
    pub(crate) fn row(&mut self, y: i32) -> Result<&mut [u8], KernelError> {
        self.layout
            .row(y)
            .and_then(|range| self.bytes.get_mut(range))
            .ok_or(KernelError::OutOfBounds)
    }
}

impl Target<'_> {
    /// The bytes from a pixel on, as [`Source::run`].
    #[inline]
    pub(crate) fn run(
        &mut self,
        at: [i32; 2],
        columns: usize,
    ) -> Result<(&mut [u8], usize), KernelError> {
        let run = self.layout.run(at, columns);
        let run = run.and_then(|(start, rows)| Some((self.bytes.get_mut(start..)?, rows)));
        run.ok_or(KernelError::OutOfBounds)
    }

    /// As [`Source::flat`].
    pub(crate) fn flat(&mut self, tile: &Tile) -> Option<Target<'_>> {
        let (start, layout) = self.layout.flat(tile)?;
        Target::new(self.bytes.get_mut(start..)?, layout).ok()
    }

    /// The bytes from `start` on; none if that is past their end.
    #[inline]
    pub(crate) fn bytes_from(&mut self, start: usize) -> &mut [u8] {
        self.bytes.get_mut(start..).unwrap_or(&mut [])
    }

    /// Finds where the first `channels` bytes of pixels lie, each given by row and column (tensor
    /// coordinates).
    #[inline(never)]
    pub(crate) fn places<const N: usize>(
        &self,
        pixels: &[[i32; 2]; N],
        channels: usize,
        places: &mut [usize; N],
    ) -> Result<(), KernelError> {
        for (place, [y, x]) in places.iter_mut().zip(pixels) {
            let row = self.layout.row(*y).filter(|row| row.end <= self.bytes.len());
            let row = row.ok_or(KernelError::OutOfBounds)?;
            let column = self.layout.column(*x);
            if column.checked_add(channels).is_none_or(|end| end > row.len()) {
                return Err(KernelError::OutOfBounds);
            }
            *place = row.start.wrapping_add(column);
        }
        Ok(())
    }
}

/// The part of a layer to compute. Coordinates are those of the whole tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// First output row and column.
    pub output_start: [i32; 2],
    /// Output rows and columns.
    pub output_size: [usize; 2],
    /// Output channels; the output box has as many.
    pub channels: usize,
    /// First input row and column that exist.
    pub valid_start: [i32; 2],
    /// One past the last input row and column that exist.
    pub valid_end: [i32; 2],
}

impl Tile {
    /// A whole layer.
    #[must_use]
    pub const fn whole(input: &Layout, output: &Layout) -> Self {
        Self {
            output_start: [0; 2],
            output_size: [output.rows, output.columns],
            channels: output.channels,
            valid_start: [0; 2],
            valid_end: [input.rows as i32, input.columns as i32],
        }
    }

    /// Output rows (axis 0) or columns (axis 1).
    #[inline]
    pub(crate) const fn outputs(&self, axis: usize) -> core::ops::Range<i32> {
        let start = self.output_start[axis];
        start..start.saturating_add(self.output_size[axis] as i32)
    }
}

/// A window that moves over the input, vertical and horizontal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Taps.
    pub size: [usize; 2],
    /// Input pixels from one output to the next.
    pub stride: [i32; 2],
    /// Input pixels from one tap to the next; at least 1.
    pub dilation: [i32; 2],
    /// Padding above and left of the whole tensor.
    pub padding: [i32; 2],
}

/// The taps of a window that see input, along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taps {
    /// First tap.
    pub first: usize,
    /// Number of taps.
    pub count: usize,
    /// Input coordinate that the first tap sees.
    pub position: i32,
}

impl Window {
    pub(crate) fn check(&self) -> Result<(), KernelError> {
        let empty = self.size.contains(&0);
        let stuck = self.dilation.iter().chain(&self.stride).any(|step| *step < 1);
        if empty || stuck { Err(KernelError::Shape) } else { Ok(()) }
    }

    /// The taps that see valid input where the output coordinate is `output`.
    #[inline(never)]
    pub(crate) fn taps(&self, axis: usize, output: i32, tile: &Tile) -> Taps {
        let (start, end) = (tile.valid_start[axis], tile.valid_end[axis]);
        let origin = output.wrapping_mul(self.stride[axis]).wrapping_sub(self.padding[axis]);
        let first = self.below(axis, start.wrapping_sub(origin));
        Taps {
            first,
            count: self.below(axis, end.wrapping_sub(origin)).saturating_sub(first),
            position: origin.wrapping_add((first as i32).wrapping_mul(self.dilation[axis])),
        }
    }

    /// Number of taps less than `distance` behind the first one.
    #[inline(always)]
    fn below(&self, axis: usize, distance: i32) -> usize {
        let dilation = self.dilation[axis];
        if distance <= 0 {
            0
        } else if dilation == 1 {
            (distance as usize).min(self.size[axis])
        } else {
            let steps = (distance.wrapping_sub(1) / dilation.max(1)) as usize + 1;
            steps.min(self.size[axis])
        }
    }
}

/// How accumulators become output bytes, apart from the channels' multipliers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Zero point.
    pub zero: i8,
    /// Smallest output value.
    pub min: i8,
    /// Largest output value.
    pub max: i8,
}

impl Output {
    /// All values, zero point 0.
    pub const FULL: Self = Self { zero: 0, min: i8::MIN, max: i8::MAX };

    /// The output byte of an accumulator.
    #[inline(always)]
    pub(crate) fn byte(&self, accumulator: i32, factor: &Factor) -> u8 {
        let zero = i32::from(self.zero);
        // Clamping before the zero point is added cannot overflow.
        let (min, max) = (i32::from(self.min) - zero, i32::from(self.max) - zero);
        (factor.apply(accumulator).min(max).max(min) + zero) as u8
    }

    /// The output bytes of channels' sums of products: as many as there are of all three.
    #[inline(never)]
    pub(crate) fn write(&self, sums: &[i32], channels: Channels<'_>, bytes: &mut [u8]) {
        for ((byte, sum), channel) in bytes.iter_mut().zip(sums).zip(channels.iter()) {
            *byte = self.byte(sum.wrapping_add(channel.bias), &channel.factor.prepare());
        }
    }

    /// Whether the clamp is narrower than int8.
    #[inline]
    pub(crate) const fn is_narrow(&self) -> bool {
        self.min > i8::MIN || self.max < i8::MAX
    }

    /// A value that has its zero point already, clamped.
    #[inline]
    pub(crate) fn clamp(&self, value: u8) -> u8 {
        (value as i8).min(self.max).max(self.min) as u8
    }
}

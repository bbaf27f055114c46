//! What a compute step has to do, in numbers that its cost is linear in.
//!
//! Each kernel has features of its own: how often its loops run. A name that ends in `_macs` counts
//! turns of an inner loop, not products of one output.

mod averages;
mod conv;
mod depthwise;
mod max_pool;
mod memcpy;
mod paired;
mod receptive_field;
mod sparse;
mod transformed;
mod unaligned;

use memcpy::{COPIED, FILLED, copies};
pub use receptive_field::receptive_field;
use tilewright_plan::{Kernel, Op, Packed, Tile, View};

/// A feature's name and value.
pub type Feature = (&'static str, u64);

/// Output channels that convolutions compute together.
const BLOCK: u64 = 4;
/// Longest filter in its natural order for which what it sees is copied.
const PATCH: u64 = 640;
/// Channels whose sums a depthwise convolution holds together.
const DEPTHWISE_BLOCK: u64 = 32;
/// Elements that a byte stands for at once where it is broadcast.
const REPEATED: u64 = 64;

/// How a depthwise convolution that computes channels in planes goes through strips of one size.
#[derive(Clone, Copy, Debug)]
pub struct Strip {
    /// Pixels of a strip down and across, and what it sees of the input.
    pub size: [u64; 2],
    pub seen: [u64; 2],
    /// The axis of the tensors that goes down.
    pub down: usize,
    /// Strips, groups of channels in each, and pixels of all strips.
    pub strips: u64,
    pub groups: u64,
    pub pixels: u64,
}

/// The strips of a depthwise convolution by their sizes; none if it computes otherwise.
#[must_use]
pub fn strips(op: &Op, tile: &Tile, operands: &[View]) -> Vec<Strip> {
    if op.kernel() != Some(Kernel::Depthwise) {
        return Vec::new();
    }
    Step::new(op, tile, operands).strips()
}

/// What a compute step has to do.
#[must_use]
pub fn features(op: &Op, tile: &Tile, operands: &[View]) -> Vec<Feature> {
    let Some(kernel) = op.kernel() else { return Vec::new() };
    let step = Step::new(op, tile, operands);
    let mut features = vec![("calls", 1)];
    match kernel {
        Kernel::Conv => step.conv(&mut features),
        Kernel::ConvMaxPool => step.conv_max_pool(&mut features),
        Kernel::Depthwise => step.depthwise(&mut features),
        Kernel::TransposeConv => step.transpose_conv(&mut features),
        Kernel::FullyConnected => step.fully_connected(&mut features),
        Kernel::MaxPool => step.max_pool(&mut features),
        Kernel::AveragePool => step.average_pool(&mut features),
        Kernel::Mean => step.mean(&mut features),
        Kernel::Pad => step.pad(&mut features),
        Kernel::Gather => step.gather(&mut features),
        Kernel::ResizeNearest | Kernel::ResizeBilinear => step.resize(&mut features),
        Kernel::Add
        | Kernel::Sub
        | Kernel::Mul
        | Kernel::Maximum
        | Kernel::Minimum
        | Kernel::Prelu => step.pair(&mut features),
        Kernel::Requantise | Kernel::Lut => step.elementwise(&mut features),
        Kernel::Softmax if step.elements <= FEW => {
            features.extend([("few_pixels", step.pixels), ("few_elements", step.elements)]);
        }
        Kernel::Softmax => {
            let many = step.channels >= DIFFERENCES;
            features.extend([
                ("tables", 1),
                ("pixels", if many { 0 } else { step.pixels }),
                (if many { "counted_elements" } else { "elements" }, step.elements),
                // Made once for each difference that comes.
                ("exponentials", distinct(step.elements)),
            ]);
        }
        Kernel::LogSoftmax | Kernel::LocalResponse => {
            features.extend([("pixels", step.pixels), ("elements", step.elements)]);
        }
        Kernel::ArgMax => step.arg_max(&mut features),
    }
    features
}

/// Differences of two int8 values: a softmax keeps the exponential of each, and from as many channels
/// on counts them first.
const DIFFERENCES: u64 = 256;

/// Elements up to which a softmax keeps no exponentials.
const FEW: u64 = 64;

/// Taps that see input, along one axis of the output.
#[derive(Clone, Copy, Default)]
struct Taps {
    /// Sum over all output positions.
    all: u64,
    /// Output positions at which the whole window sees input; they follow each other.
    full: u64,
    /// Output positions before the first of those.
    before: u64,
    /// Output positions.
    positions: u64,
}

/// How many differences are to be expected among `elements` that are drawn alike.
fn distinct(elements: u64) -> u64 {
    // In thousandths: each one leaves of those missing all but one in 256.
    let missing = (0..elements.min(16 * DIFFERENCES))
        .fold(DIFFERENCES * 1000, |missing, _| missing * (DIFFERENCES - 1) / DIFFERENCES);
    DIFFERENCES - missing.div_ceil(1000).min(DIFFERENCES)
}

impl Taps {
    fn along(op: &Op, tile: &Tile, axis: usize) -> Self {
        let start = i64::from(tile.output_start[axis]);
        Self::of(op, tile, axis, start..start + i64::from(tile.output_size[axis]))
    }

    /// How many taps see input, each with as many outputs along an axis.
    fn seen(op: &Op, tile: &Tile, axis: usize) -> Vec<(u64, u64)> {
        let start = i64::from(tile.output_start[axis]);
        let mut counts: Vec<(u64, u64)> = Vec::new();
        for output in start..start + i64::from(tile.output_size[axis]) {
            let Self { all, .. } = Self::of(op, tile, axis, core::iter::once(output));
            match counts.last_mut() {
                Some((seen, outputs)) if *seen == all => *outputs += 1,
                _ => counts.push((all, 1)),
            }
        }
        counts
    }

    /// Taps at these outputs; the tile says what of the input exists.
    fn of(op: &Op, tile: &Tile, axis: usize, outputs: impl Iterator<Item = i64>) -> Self {
        let mut taps = Self::default();
        let window = u64::from(op.window[axis]);
        let valid = i64::from(tile.valid_start[axis]);
        let end = valid + i64::from(tile.valid_size[axis]);
        let dilation = i64::from(op.dilation[axis]).max(1);
        for output in outputs {
            let origin = output * i64::from(op.stride[axis]) - i64::from(op.padding[axis]);
            let below = |limit: i64| {
                let taps = (limit - origin + dilation - 1).div_euclid(dilation).max(0);
                taps.cast_unsigned().min(window)
            };
            let seen = below(end).saturating_sub(below(valid));
            taps.all += seen;
            taps.before += u64::from(taps.full == 0 && seen < window);
            taps.full += u64::from(seen == window);
            taps.positions += 1;
        }
        taps
    }
}

/// The numbers of a step that features are made of.
struct Step<'a> {
    op: &'a Op,
    tile: &'a Tile,
    operands: &'a [View],
    input: View,
    output: View,
    rows: u64,
    pixels: u64,
    channels: u64,
    elements: u64,
}

impl<'a> Step<'a> {
    fn new(op: &'a Op, tile: &'a Tile, operands: &'a [View]) -> Self {
        let rows = u64::from(tile.output_size[0]);
        let pixels = rows * u64::from(tile.output_size[1]);
        let channels = u64::from(tile.channels);
        let output = op.kernel().and_then(|kernel| kernel.operand(tilewright_plan::Role::Output));
        Self {
            op,
            tile,
            operands,
            input: operands.first().copied().unwrap_or_default(),
            output: output.and_then(|at| operands.get(at)).copied().unwrap_or_default(),
            rows,
            pixels,
            channels,
            elements: pixels.saturating_mul(channels),
        }
    }

    fn taps(&self) -> [Taps; 2] {
        [0, 1].map(|axis| Taps::along(self.op, self.tile, axis))
    }

    fn depthwise(&self, features: &mut Vec<Feature>) {
        let channels = self.channels - self.in_planes(features);
        if channels == 0 {
            return;
        }
        let [rows, columns] = self.taps();
        let blocks = channels.div_ceil(DEPTHWISE_BLOCK);
        let taps = rows.all * columns.all;
        let inner = match self.op.groups {
            1 => ["taps", "macs"],
            _ => ["repeated_taps", "repeated_macs"],
        };
        features.extend([
            ("rows", self.rows),
            ("pixels", self.pixels),
            ("blocks", self.pixels * blocks),
            ("tap_rows", rows.all * columns.positions * blocks),
            (inner[0], taps * blocks),
            (inner[1], taps * channels),
            ("elements", self.pixels * channels),
        ]);
    }

    /// Taps that input reaches the outputs of a transposed convolution through, along each axis.
    fn reached(&self) -> [u64; 2] {
        [0, 1].map(|axis| {
            let tile = self.tile;
            let valid = i64::from(tile.valid_start[axis]);
            let end = valid + i64::from(tile.valid_size[axis]);
            let stride = i64::from(self.op.stride[axis]).max(1);
            let start = i64::from(tile.output_start[axis]) + i64::from(self.op.padding[axis]);
            let taps = (0..i64::from(tile.output_size[axis])).flat_map(|output| {
                (0..i64::from(self.op.window[axis]))
                    .map(move |tap| start + output - tap * i64::from(self.op.dilation[axis]))
            });
            let hits = taps.filter(|place| {
                place % stride == 0 && (valid..end).contains(&place.div_euclid(stride))
            });
            hits.count() as u64
        })
    }

    fn transpose_conv(&self, features: &mut Vec<Feature>) {
        let blocks = self.channels.div_ceil(BLOCK);
        let reached = self.reached();
        let height = u64::from(self.op.window[0]);
        let taps = reached[0] * reached[1] * blocks;
        features.extend([
            ("rows", self.rows),
            ("pixels", self.pixels),
            ("blocks", self.pixels * blocks),
            ("tested_rows", self.pixels * blocks * height),
            ("taps", taps),
            ("block_macs", taps * u64::from(self.input.c)),
            ("elements", self.elements),
        ]);
    }

    fn fully_connected(&self, features: &mut Vec<Feature>) {
        match self.op.filters_for(&self.input).packed {
            Packed::Sparse => return self.sparse(features),
            Packed::Pairs | Packed::Transformed => return self.paired_vector(features),
            Packed::Natural => {}
        }
        let inputs = self.input.elements();
        // A convolution of one pixel, whose last block of fewer channels takes as long as others.
        let blocks = self.channels.div_ceil(BLOCK);
        // Nothing is shared with the other way, so that what one leaves unexplained does not fall on the other.
        features.clear();
        let (blocks_of, macs_of) = match inputs {
            ..=PATCH => {
                features.push(("natural_copied", inputs));
                ("natural_blocks", "natural_block_macs")
            }
            _ => ("natural_direct_blocks", "natural_direct_macs"),
        };
        features.extend([
            ("natural_calls", 1),
            (blocks_of, blocks),
            (macs_of, blocks * inputs),
            ("natural_elements", self.channels),
            ("natural_zero_sums", if self.op.input_zero[1] == 0 { 0 } else { inputs }),
        ]);
    }

    fn pad(&self, features: &mut Vec<Feature>) {
        let inside = |axis: usize, first: i16, count: u16| {
            let start = i64::from(first) + i64::from(self.op.padding[axis]);
            let end = start + i64::from(count);
            let from = i64::from(self.tile.output_start[axis]);
            let to = from + i64::from(self.tile.output_size[axis]);
            (end.min(to) - start.max(from)).max(0).cast_unsigned()
        };
        let rows = inside(0, self.input.y0, self.input.h);
        let copied = rows * inside(1, self.input.x0, self.input.w);
        let filled = self.pixels - copied;
        features.extend([
            ("rows", self.rows),
            ("copied_pixels", copied),
            ("filled_pixels", filled),
        ]);
        let inputs = u64::from(self.input.c);
        copies(features, &COPIED, copied, inputs);
        copies(features, &FILLED, filled, self.channels);
        let more = self.channels.saturating_sub(inputs);
        if more > 0 {
            copies(features, &FILLED, copied, more);
        }
    }

    fn gather(&self, features: &mut Vec<Feature>) {
        let run = u64::try_from(self.op.scalars[0]).unwrap_or(1).clamp(1, self.channels.max(1));
        let runs = self.channels / run * self.pixels;
        features.extend([("rows", self.rows), ("pixels", self.pixels)]);
        match (run, runs == self.pixels) {
            (1, false) => features.push(("picked", self.elements)),
            (_, whole) => {
                features.push(("runs", if whole { 0 } else { runs }));
                copies(features, &COPIED, runs, run);
            }
        }
    }

    fn resize(&self, features: &mut Vec<Feature>) {
        features.extend([("rows", self.rows), ("pixels", self.pixels)]);
        match self.op.kernel() {
            Some(Kernel::ResizeNearest) => {
                copies(features, &COPIED, self.pixels, self.channels);
            }
            _ => features.push(("elements", self.elements)),
        }
    }

    /// Runs of elements that are contiguous in all operands.
    fn runs(&self, dense: bool) -> u64 {
        if dense { self.rows } else { self.pixels }
    }

    fn elementwise(&self, features: &mut Vec<Feature>) {
        let same_scale = self.op.kernel() == Some(Kernel::Requantise)
            && self.op.scalars[..2] == [1 << 30, 1]
            && self.op.input_zero[0] == self.op.output_zero;
        let runs = self.runs(is_dense(&self.input) && is_dense(&self.output));
        features.extend([("rows", self.rows), ("runs", runs)]);
        if same_scale {
            self.copied_runs(features, self.elements / runs.max(1));
            if self.is_clamped() {
                features.push(("clamped", self.elements));
            }
        } else {
            features.push(("elements", self.elements));
        }
    }

    fn is_clamped(&self) -> bool {
        (self.op.clamp_min, self.op.clamp_max) != (-128, 127)
    }

    fn pair(&self, features: &mut Vec<Feature>) {
        let single = |view: &View| view.w == 1 && view.c == 1;
        let fits = |view: &View| {
            let along = is_dense(view)
                && view.c == self.tile.channels
                && view.w >= self.tile.output_size[1];
            along || single(view)
        };
        let inputs = self.operands.get(..2).unwrap_or(&[]);
        let dense = is_dense(&self.output) && inputs.iter().all(fits);
        let runs = self.runs(dense);
        let is_repeated = |view: &&View| view.c == 1 && (!dense || single(view));
        let repeats = inputs.iter().any(|view| is_repeated(&view));
        let whole = inputs.iter().filter(|view| !is_repeated(view)).count() as u64;
        let sum = matches!(self.op.kernel(), Some(Kernel::Add | Kernel::Sub));
        // A table pays from here on.
        let table = sum && self.elements >= 256;
        features.extend([
            ("rows", self.rows),
            ("runs", runs),
            ("tables", u64::from(table)),
            (if sum && !table { "few_elements" } else { "elements" }, self.elements),
            ("loaded", whole * self.elements),
        ]);
        if repeats {
            let parts = (self.elements / runs.max(1)).div_ceil(REPEATED);
            features.extend([("repeated_runs", runs), ("repeated_parts", runs * parts)]);
        }
    }

    fn arg_max(&self, features: &mut Vec<Feature>) {
        let [rows, columns, _] = self.op.over();
        // A step down looks for its row again.
        let (name, count) = match (rows, columns) {
            (true, _) => ("down", u64::from(self.input.h)),
            (_, true) => ("along", u64::from(self.input.w)),
            _ => ("along", u64::from(self.input.c)),
        };
        let (results, more) = (self.elements / 4, count.saturating_sub(1));
        features.extend([
            ("rows", self.rows),
            ("pixels", self.pixels),
            ("searched", results),
            ("compared", if more > 0 { results } else { 0 }),
            (name, results * more),
        ]);
    }
}

fn is_dense(view: &View) -> bool {
    view.column_pitch == view.c
}

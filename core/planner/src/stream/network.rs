//! Layers as streaming sees them: which rows they need, and how their weights are cut.

use crate::swap::layers::{Operand, SwapLayer, Way};
use std::ops::Range;

/// Bytes that places in SRAM, and rows of what the card reads and writes, are multiples of: lines of
/// the data cache.
pub const LINE: u64 = 32;

/// Bytes of a block of the card.
pub const BLOCK: u64 = 512;

/// The rows of an input that rows of the output are made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Height of the window.
    pub size: u32,
    /// Rows from a window to the next.
    pub stride: u32,
    /// Padding above.
    pub padding: u32,
}

impl Rows {
    /// The first row, of an input of `height` rows, that the output needs from row `from` on.
    pub fn first(self, from: u32, height: u32) -> u32 {
        let first = (u64::from(from) * u64::from(self.stride)).saturating_sub(self.padding.into());
        if height == 1 { 0 } else { first.min(height.into()) as u32 }
    }

    /// One past the last row, of an input of `height` rows, that rows below `end` need.
    pub fn end(self, end: u32, height: u32) -> u32 {
        let Some(last) = end.checked_sub(1) else { return 0 };
        let last = u64::from(last) * u64::from(self.stride) + u64::from(self.size);
        last.saturating_sub(self.padding.into()).clamp(1, height.max(1).into()) as u32
    }
}

/// A layer.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Its position in the plan.
    pub layer: u16,
    /// Its name.
    pub name: String,
    /// What it reads.
    pub operands: Vec<Operand>,
    /// Height, width, channels of the output.
    pub output: [u32; 3],
    /// How rows follow from rows; nothing if the layer is made at once.
    pub rows: Option<Rows>,
    /// Bytes of weights.
    pub weights: u64,
    /// Cycles of all of it.
    pub cycles: u64,
}

impl Layer {
    /// Bytes of a row of the output.
    pub fn row_bytes(&self) -> u64 {
        row_bytes(self.output)
    }

    /// Bytes of the output.
    pub fn bytes(&self) -> u64 {
        u64::from(self.output[0]) * self.row_bytes()
    }

    /// Bytes of the weights of an output channel, the least that they can be cut to.
    pub fn filter(&self) -> u64 {
        self.weights.div_ceil(self.output[2].max(1).into())
    }

    /// Bytes of the parts that its weights are cut to: whole filters, about `part` bytes.
    pub fn part(&self, part: u64) -> u64 {
        let filter = self.filter().max(1);
        (filter * (part / filter).max(1)).min(self.weights)
    }

    /// Ranges of its weights, whole filters each, of about `part` bytes.
    pub fn parts(&self, part: u64) -> impl Iterator<Item = Range<u64>> + use<> {
        let (step, all) = (self.part(part), self.weights);
        let at = move |number: u64| (number * step).min(all);
        (0..all.checked_div(step).map_or(0, |_| all.div_ceil(step)))
            .map(move |number| at(number)..at(number + 1))
    }

    /// Bytes of the card that its weights take, each part whole blocks.
    pub fn padded(&self, part: u64) -> u64 {
        let step = self.part(part);
        let (whole, rest) = match self.weights.checked_div(step) {
            Some(whole) => (whole, self.weights % step),
            None => (0, 0),
        };
        whole * step.next_multiple_of(BLOCK) + rest.next_multiple_of(BLOCK)
    }
}

/// Bytes of a row of a tensor.
pub fn row_bytes([_, width, channels]: [u32; 3]) -> u64 {
    u64::from(width) * u64::from(channels)
}

/// Layers in their order.
pub struct Network {
    /// The layers.
    pub layers: Vec<Layer>,
    /// For each layer one past the last that reads its output; one past all if the model gives it.
    pub last_use: Vec<usize>,
    /// For each layer those that read its output, with the number of the operand.
    pub readers: Vec<Vec<(usize, usize)>>,
}

impl Network {
    /// The network of these layers.
    pub fn new(layers: Vec<SwapLayer>) -> Self {
        let mut readers = vec![Vec::new(); layers.len()];
        for (index, layer) in layers.iter().enumerate() {
            for (number, operand) in layer.operands.iter().enumerate() {
                if let Some(producer) = operand.producer {
                    readers[producer].push((index, number));
                }
            }
        }
        let last = |index: usize| {
            let last = readers[index].last().map_or(index + 1, |(reader, _)| reader + 1);
            if layers[index].is_given { layers.len() + 1 } else { last }
        };
        let last_use = (0..layers.len()).map(last).collect();
        let layers = layers.into_iter().map(|layer| Layer {
            rows: rows(&layer),
            layer: layer.layer,
            name: layer.name,
            operands: layer.operands,
            output: layer.output,
            weights: layer.weights,
            cycles: layer.cycles,
        });
        Self { layers: layers.collect(), last_use, readers }
    }

    /// Bytes of the model's inputs.
    pub fn input(&self) -> u64 {
        let operands = self.layers.iter().flat_map(|layer| &layer.operands);
        operands.filter(|o| o.producer.is_none()).map(|o| volume(o.shape)).sum()
    }

    /// The layer that needs most at least, with its bytes: a window's rows of its operands, a row of
    /// its output, and a filter.
    pub fn largest(&self) -> (String, u64) {
        let least = |layer: &Layer| {
            let operand = |operand: &Operand| match layer.rows {
                Some(rows) => u64::from(rows.size.min(operand.shape[0])) * row_bytes(operand.shape),
                None => volume(operand.shape),
            };
            let output = if layer.rows.is_some() { layer.row_bytes() } else { layer.bytes() };
            layer.operands.iter().map(operand).sum::<u64>() + output + layer.filter()
        };
        let largest = self.layers.iter().max_by_key(|layer| least(layer));
        largest.map_or((String::new(), 0), |layer| (layer.name.clone(), least(layer)))
    }

    /// Fails with the layer that needs more than `sram` whatever the schedule.
    pub fn least(&self, sram: u64) -> Result<(), (String, u64)> {
        let (name, bytes) = self.largest();
        if bytes > sram { Err((name, bytes)) } else { Ok(()) }
    }

    /// The first of the layers at the end that several frames can take together: made at once, in a
    /// chain, with weights.
    pub fn tail(&self) -> Option<usize> {
        let is_tail = |index: usize| {
            let layer = &self.layers[index];
            let [height, width, _] = layer.output;
            let before = index.checked_sub(1);
            let alone = layer.operands.iter().all(|operand| operand.producer == before);
            let flat = before.is_some_and(|before| self.last_use[before] == index + 1);
            layer.rows.is_none() && [height, width] == [1, 1] && alone && flat
        };
        let count = (0..self.layers.len()).rev().take_while(|index| is_tail(*index)).count();
        let tail = self.layers.len() - count..self.layers.len();
        tail.into_iter().find(|index| self.layers[*index].weights > 0)
    }

    /// The outputs made before `at` that layers from `at` on need.
    pub fn live(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        (0..at).filter(move |layer| self.last_use[*layer] > at)
    }
}

/// Bytes of a tensor.
pub fn volume(shape: [u32; 3]) -> u64 {
    shape.map(u64::from).iter().product()
}

/// How rows of a layer follow from rows.
fn rows(layer: &SwapLayer) -> Option<Rows> {
    match layer.way {
        Way::Squares(window) => Some(Rows {
            size: window.size[0],
            stride: window.stride[0],
            padding: window.padding[0],
        }),
        // Joining channels.
        Way::Runs => {
            let [height, width, channels] = layer.output;
            let same = |operand: &Operand| operand.shape[..2] == [height, width];
            let sum: u32 = layer.operands.iter().map(|operand| operand.shape[2]).sum();
            let joins = layer.operands.len() > 1 && sum == channels;
            let point = Rows { size: 1, stride: 1, padding: 0 };
            (joins && layer.operands.iter().all(same)).then_some(point)
        }
        Way::Whole => None,
    }
}

//! The network that holds all choices: Liu et al. 2019, as the thesis searches with it (2.2.1.3, 3.2.1): a stem,
//! cells in which every edge is the weighted sum of all operations, and a classifier.

mod cell;
mod fan;
mod separated;
#[cfg(test)]
mod tests;

use tilewright_zoo::cells::{CellKind, INPUTS};

pub(crate) use cell::{row, rows};
pub(crate) use fan::CHOICES;

use crate::kernels::entropy::Entropy;
use crate::kernels::norm::{denormalise, normalise};
use crate::kernels::pointwise::Product;
use crate::kernels::window::Window;
use crate::layout::{Layout, Slot};
use crate::random::Random;
use crate::samples::Batch;
use cell::{Cell, KeptCell, Shape};
use separated::Learnt;

/// The stem has so many times the channels of the first cells.
const STEM: usize = 3;

/// Height and width of the stem's window.
const WINDOW: usize = 3;

/// Sizes of a supernet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub cells: usize,
    pub steps: usize,
    pub channels: usize,
    /// Height and width of the images.
    pub side: usize,
    /// Channels of the images.
    pub colours: usize,
    pub classes: usize,
}

/// The shares of all operations on all edges: a row for each edge, of normal and of reduction cells.
pub(crate) type Shares = [Vec<[f32; CHOICES]>; 2];

/// The layers and their order. Weights are values beside it.
#[derive(Debug)]
pub(crate) struct Supernet {
    sizes: Sizes,
    layout: Layout,
    /// Of the stem.
    window: Window,
    stem: Slot,
    cells: Vec<Cell>,
    dense: Slot,
    bias: Slot,
}

/// What a step wants the gradient by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The layers' weights.
    Weights,
    /// The architecture's.
    Architecture,
}

/// What a batch gives.
#[derive(Debug)]
pub(crate) struct Pass {
    /// Mean cross entropy.
    pub loss: f64,
    /// Images whose class has the largest value.
    pub correct: usize,
    /// By all weights; empty if the architecture's gradient was wanted.
    pub by_weights: Vec<f32>,
    /// By the operations' shares; zeros if the weights' gradient was wanted.
    pub by_shares: Shares,
}

impl Supernet {
    pub fn new(sizes: Sizes) -> Self {
        let mut layout = Layout::default();
        let window = Window::centred(WINDOW, 1, 1, sizes.side);
        let patch = window.taps() * sizes.colours;
        let stem = layout.take(patch * STEM * sizes.channels, patch);
        let first = Shape { side: sizes.side, channels: STEM * sizes.channels };
        let (mut inputs, mut channels) = ([first; INPUTS], sizes.channels);
        let mut cells = Vec::with_capacity(sizes.cells);
        for index in 0..sizes.cells {
            let is_reduction = CellKind::in_stack(index, sizes.cells) == CellKind::Reduction;
            if is_reduction {
                channels *= 2;
            }
            let cell = Cell::new(&mut layout, sizes.steps, channels, inputs, is_reduction);
            inputs = [inputs[1], cell.shape];
            cells.push(cell);
        }
        let features = inputs[1].channels;
        let dense = layout.take(features * sizes.classes, features);
        let bias = layout.take(sizes.classes, features);
        Self { sizes, layout, window, stem, cells, dense, bias }
    }

    /// How many weights there are.
    pub const fn weights(&self) -> usize {
        self.layout.length()
    }

    pub fn begin(&self, random: &mut Random) -> Vec<f32> {
        self.layout.begin(random)
    }

    /// A batch forward and backward.
    pub fn pass(&self, batch: &Batch, shares: &Shares, weights: &[f32], wanted: Wanted) -> Pass {
        let images = batch.labels.len();
        let patches = self.window.patches(&batch.pixels, self.sizes.colours);
        let stem = self.stem_product(images);
        let mut results = vec![vec![0.0f32; stem.pixels * stem.outputs]];
        stem.forward(&patches, self.stem.of(weights), &mut results[0]);
        let moments = normalise(&mut results[0], stem.outputs);
        let mut kept: Vec<KeptCell> = Vec::with_capacity(self.cells.len());
        for (index, cell) in self.cells.iter().enumerate() {
            let inputs = [&results[index.saturating_sub(1)][..], &results[index][..]];
            let mut forward =
                cell.forward(inputs, &shares[usize::from(cell.is_reduction)], weights, images);
            results.push(std::mem::take(&mut forward.result));
            kept.push(forward);
        }

        let by_weights = match wanted {
            Wanted::Weights => vec![0.0f32; self.weights()],
            Wanted::Architecture => Vec::new(),
        };
        let by_shares = [0, 1].map(|kind: usize| vec![[0.0f32; CHOICES]; shares[kind].len()]);
        let mut pass = Pass { loss: 0.0, correct: 0, by_weights, by_shares };
        let mut by_results: Vec<Vec<f32>> =
            results.iter().map(|result| vec![0.0f32; result.len()]).collect();
        let (last, by_last) = (results.last(), by_results.last_mut());
        if let Some((last, by_last)) = last.zip(by_last) {
            self.classify(batch, last, by_last, weights, &mut pass, wanted);
        }
        let mut learnt = Learnt { weights, gradient: &mut pass.by_weights, wanted };
        for ((index, cell), kept) in self.cells.iter().enumerate().zip(&kept).rev() {
            let (before, behind) = by_results.split_at_mut(index + 1);
            let (dy, kind) = (&behind[0], usize::from(cell.is_reduction));
            let (shares, by_shares) = (&shares[kind], &mut pass.by_shares[kind]);
            // Both inputs of the first cell are the stem's result.
            let mut twice = vec![0.0f32; if index == 0 { before[0].len() } else { 0 }];
            let by_inputs: [&mut [f32]; INPUTS] = match before {
                [.., first, second] => [first, second],
                [only] => [&mut twice, only],
                [] => continue,
            };
            cell.backward(kept, dy, by_inputs, shares, by_shares, &mut learnt);
            before[0].iter_mut().zip(&twice).for_each(|(sum, twice)| *sum += twice);
        }
        if wanted == Wanted::Weights {
            let dy = &mut by_results[0];
            denormalise(dy, &results[0], &moments);
            stem.weights(&patches, dy, self.stem.of_mut(&mut pass.by_weights));
        }
        pass
    }

    const fn stem_product(&self, images: usize) -> Product {
        let inputs = self.window.taps() * self.sizes.colours;
        let outputs = STEM * self.sizes.channels;
        let pixels = images * self.sizes.side * self.sizes.side;
        Product { pixels, inputs, outputs, x_stride: inputs, y_stride: outputs }
    }

    /// The mean of each channel, a dense layer, and the cross entropy of what it says.
    fn classify(
        &self,
        batch: &Batch,
        x: &[f32],
        by_x: &mut [f32],
        weights: &[f32],
        pass: &mut Pass,
        wanted: Wanted,
    ) {
        let (images, classes) = (batch.labels.len(), self.sizes.classes);
        let (dense, bias) = (self.dense.of(weights), self.bias.of(weights));
        let features = dense.len() / classes;
        let size = x.len() / images;
        let part = features as f32 / size as f32;
        let all = x.chunks_exact(size).zip(by_x.chunks_exact_mut(size)).zip(&batch.labels);
        for ((x, by_x), label) in all {
            let mut means = vec![0.0f32; features];
            for pixel in x.chunks_exact(features) {
                means.iter_mut().zip(pixel).for_each(|(mean, value)| *mean += value * part);
            }
            let mut values = bias.to_vec();
            for (mean, row) in means.iter().zip(dense.chunks_exact(classes)) {
                values.iter_mut().zip(row).for_each(|(value, weight)| *value += mean * weight);
            }
            let Entropy { loss, is_right, mut by_values } =
                Entropy::of(&values, usize::from(*label));
            pass.loss += loss;
            pass.correct += usize::from(is_right);
            by_values.iter_mut().for_each(|by_value| *by_value /= images as f32);
            let by_mean = |row: &[f32]| {
                part * row.iter().zip(&by_values).fold(0.0, |sum, (w, by)| sum + w * by)
            };
            let by_means: Vec<f32> = dense.chunks_exact(classes).map(by_mean).collect();
            for pixel in by_x.chunks_exact_mut(features) {
                pixel.copy_from_slice(&by_means);
            }
            if wanted == Wanted::Weights {
                let by_dense = self.dense.of_mut(&mut pass.by_weights);
                for (mean, row) in means.iter().zip(by_dense.chunks_exact_mut(classes)) {
                    row.iter_mut().zip(&by_values).for_each(|(row, by)| *row += mean * by);
                }
                let by_bias = self.bias.of_mut(&mut pass.by_weights);
                by_bias.iter_mut().zip(&by_values).for_each(|(bias, by)| *bias += by);
            }
        }
        pass.loss /= images as f64;
    }
}

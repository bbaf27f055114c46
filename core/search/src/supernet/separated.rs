//! Operations with weights, each for several edges at once: their channels lie side by side, a block for each edge.

use super::Wanted;
use crate::kernels::norm::{Moments, denormalise, normalise};
use crate::kernels::pointwise::Product;
use crate::kernels::window::Window;
use crate::kernels::{rectified, rectify_back};
use crate::layout::{Layout, Slot};

/// A depthwise convolution, a 1×1 one within each block, and a normalisation. The rectifier before is the caller's.
#[derive(Debug)]
pub(crate) struct Separated {
    window: Window,
    channels: usize,
    blocks: usize,
    depthwise: Slot,
    pointwise: Slot,
}

/// What the way back needs.
#[derive(Debug)]
pub(crate) struct Kept {
    between: Vec<f32>,
    /// The result.
    pub result: Vec<f32>,
    moments: Moments,
}

impl Separated {
    pub fn new(layout: &mut Layout, window: Window, channels: usize, blocks: usize) -> Self {
        let taps = window.taps();
        let depthwise = layout.take(taps * channels * blocks, taps);
        let pointwise = layout.take(blocks * channels * channels, channels);
        Self { window, channels, blocks, depthwise, pointwise }
    }

    const fn width(&self) -> usize {
        self.channels * self.blocks
    }

    const fn product(&self) -> Product {
        Product {
            pixels: self.window.pixels_out(),
            inputs: self.channels,
            outputs: self.channels,
            x_stride: self.width(),
            y_stride: self.width(),
        }
    }

    /// `x` has as many blocks.
    pub fn forward(&self, x: &[f32], weights: &[f32]) -> Kept {
        let width = self.width();
        let (size_in, size_out) =
            (self.window.pixels_in() * width, self.window.pixels_out() * width);
        let images = x.len() / size_in;
        let mut between = vec![0.0f32; images * size_out];
        let mut result = vec![0.0f32; images * size_out];
        let depthwise = self.depthwise.of(weights);
        let matrices = self.pointwise.of(weights).chunks_exact(self.channels * self.channels);
        let images = x.chunks_exact(size_in).zip(between.chunks_exact_mut(size_out));
        for ((x, between), result) in images.zip(result.chunks_exact_mut(size_out)) {
            self.window.forward(x, depthwise, between, width);
            for (block, matrix) in matrices.clone().enumerate() {
                let first = block * self.channels;
                self.product().forward(&between[first..], matrix, &mut result[first..]);
            }
        }
        let moments = normalise(&mut result, width);
        Kept { between, result, moments }
    }

    /// Adds to `dx` what `dy`, which is used up, gives back.
    pub fn backward(
        &self,
        x: &[f32],
        kept: &Kept,
        mut dy: Vec<f32>,
        dx: &mut [f32],
        learnt: &mut Learnt<'_>,
    ) {
        let width = self.width();
        let (size_in, size_out) =
            (self.window.pixels_in() * width, self.window.pixels_out() * width);
        denormalise(&mut dy, &kept.result, &kept.moments);
        let square = self.channels * self.channels;
        let depthwise = self.depthwise.of(learnt.weights);
        let matrices = self.pointwise.of(learnt.weights).chunks_exact(square);
        let transposed: Vec<Vec<f32>> =
            matrices.map(|matrix| self.product().transposed(matrix)).collect();
        let mut back = vec![0.0f32; size_out];
        for (image, dy) in dy.chunks_exact(size_out).enumerate() {
            let between = &kept.between[image * size_out..][..size_out];
            for (block, matrix) in transposed.iter().enumerate() {
                let first = block * self.channels;
                self.product().backward(&dy[first..], matrix, &mut back[first..]);
                if learnt.wanted == Wanted::Weights {
                    let gradient = self.pointwise.of_mut(learnt.gradient);
                    let gradient = &mut gradient[block * square..][..square];
                    self.product().weights(&between[first..], &dy[first..], gradient);
                }
            }
            let x = &x[image * size_in..][..size_in];
            if learnt.wanted == Wanted::Weights {
                let gradient = self.depthwise.of_mut(learnt.gradient);
                self.window.weights(x, &back, gradient, width);
            }
            let dx = &mut dx[image * size_in..][..size_in];
            self.window.backward(&back, depthwise, dx, width);
        }
    }
}

/// All weights, and the gradient by them.
#[derive(Debug)]
pub(crate) struct Learnt<'w> {
    pub weights: &'w [f32],
    pub gradient: &'w mut [f32],
    pub wanted: Wanted,
}

/// A rectifier, a 1×1 convolution and a normalisation, for each block; those that halve the image take every second
/// pixel for the first half of a block's channels, and the pixels between for the second half.
#[derive(Debug)]
pub(crate) struct Squeezed {
    inputs: usize,
    channels: usize,
    blocks: usize,
    side_in: usize,
    /// One, or two for those that halve.
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    /// Coordinate of the first pixel.
    first: usize,
    /// Blocks × inputs × channels of the part.
    slot: Slot,
}

/// What the way back needs.
#[derive(Debug)]
pub(crate) struct KeptSqueezed {
    rectified: Vec<f32>,
    picked: Vec<Vec<f32>>,
    /// The result.
    pub result: Vec<f32>,
    moments: Moments,
}

impl Squeezed {
    /// One that keeps the image's size.
    pub fn keeping(layout: &mut Layout, side_in: usize, inputs: usize, channels: usize) -> Self {
        let part = Part { first: 0, slot: layout.take(inputs * channels, inputs) };
        Self { inputs, channels, blocks: 1, side_in, parts: vec![part] }
    }

    /// One that halves it; `channels` are even.
    pub fn halving(
        layout: &mut Layout,
        side_in: usize,
        inputs: usize,
        channels: usize,
        blocks: usize,
    ) -> Self {
        let mut part = |first| {
            let slot = layout.take(blocks * inputs * channels / 2, inputs);
            Part { first, slot }
        };
        let parts = vec![part(0), part(1)];
        Self { inputs, channels, blocks, side_in, parts }
    }

    fn stride(&self) -> usize {
        self.parts.len()
    }

    /// Calls with each pixel that is picked, and the one that is made of it.
    fn pick(&self, first: usize, pixels: usize, mut call: impl FnMut(usize, usize)) {
        let (side, stride) = (self.side_in, self.stride());
        let side_out = side / stride;
        for image in 0..pixels / (side * side) {
            for y in 0..side_out {
                for x in 0..side_out {
                    let from = (image * side + y * stride + first) * side + x * stride + first;
                    call(from, (image * side_out + y) * side_out + x);
                }
            }
        }
    }

    fn product(&self, pixels: usize) -> Product {
        Product {
            pixels,
            inputs: self.inputs,
            outputs: self.channels / self.parts.len(),
            x_stride: self.inputs,
            y_stride: self.channels * self.blocks,
        }
    }

    pub fn forward(&self, x: &[f32], weights: &[f32]) -> KeptSqueezed {
        let rectified = rectified(x);
        let pixels_in = x.len() / self.inputs;
        let pixels = pixels_in / (self.stride() * self.stride());
        let width = self.channels * self.blocks;
        let mut result = vec![0.0f32; pixels * width];
        let product = self.product(pixels);
        let mut all = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            let picked = match self.parts.len() {
                1 => Vec::new(),
                _ => {
                    let mut picked = vec![0.0f32; pixels * self.inputs];
                    self.pick(part.first, pixels_in, |from, to| {
                        let pixel = &rectified[from * self.inputs..][..self.inputs];
                        picked[to * self.inputs..][..self.inputs].copy_from_slice(pixel);
                    });
                    picked
                }
            };
            let x = if picked.is_empty() { &rectified } else { &picked };
            let matrices = part.slot.of(weights).chunks_exact(self.inputs * product.outputs);
            for (block, matrix) in matrices.enumerate() {
                let first = block * self.channels + index * product.outputs;
                product.forward(x, matrix, &mut result[first..]);
            }
            all.push(picked);
        }
        let moments = normalise(&mut result, width);
        KeptSqueezed { rectified, picked: all, result, moments }
    }

    /// Adds to `dx` what `dy`, which is used up, gives back.
    pub fn backward(
        &self,
        kept: &KeptSqueezed,
        mut dy: Vec<f32>,
        dx: &mut [f32],
        learnt: &mut Learnt<'_>,
    ) {
        denormalise(&mut dy, &kept.result, &kept.moments);
        let pixels = dy.len() / (self.channels * self.blocks);
        let product = self.product(pixels);
        let mut through = vec![0.0f32; kept.rectified.len()];
        let mut back = vec![0.0f32; pixels * self.inputs];
        for (index, (part, picked)) in self.parts.iter().zip(&kept.picked).enumerate() {
            let x = if picked.is_empty() { &kept.rectified } else { picked };
            let size = self.inputs * product.outputs;
            for (block, matrix) in part.slot.of(learnt.weights).chunks_exact(size).enumerate() {
                let first = block * self.channels + index * product.outputs;
                product.backward(&dy[first..], &product.transposed(matrix), &mut back);
                self.pick(part.first, kept.rectified.len() / self.inputs, |from, to| {
                    let through = &mut through[from * self.inputs..][..self.inputs];
                    let back = &back[to * self.inputs..][..self.inputs];
                    through.iter_mut().zip(back).for_each(|(sum, back)| *sum += back);
                });
                if learnt.wanted == Wanted::Weights {
                    let gradient = &mut part.slot.of_mut(learnt.gradient)[block * size..][..size];
                    product.weights(x, &dy[first..], gradient);
                }
            }
        }
        rectify_back(&mut through, &kept.rectified);
        dx.iter_mut().zip(&through).for_each(|(dx, through)| *dx += through);
    }
}

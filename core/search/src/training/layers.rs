//! Layers of a network that learns, forward and backward, for a batch at once.

use tilewright_model::op::Activation;

use crate::kernels::norm::{Moments, denormalise, normalise};
use crate::kernels::pointwise::Product;
use crate::kernels::pool::{Largest, Pool};
use crate::kernels::window::Window;
use crate::layout::Slot;

/// What is added to a layer's products.
#[derive(Clone, Debug)]
pub(super) enum Offset {
    Nothing,
    Bias(Slot),
    /// A batch normalisation stands between products and offset.
    Normalised {
        scale: Slot,
        offset: Slot,
    },
}

/// A layer with weights. A fully connected one has a window of one tap over an image of one pixel.
#[derive(Clone, Debug)]
pub(super) struct Weighted {
    pub window: Window,
    pub inputs: usize,
    pub outputs: usize,
    /// Whether each channel has a window of its own.
    pub is_depthwise: bool,
    /// Taps × channels for a depthwise layer, else taps × inputs × outputs.
    pub weights: Slot,
    pub offset: Offset,
}

/// What a layer does.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Weighted(Weighted),
    Largest {
        pool: Pool,
        channels: usize,
    },
    Average {
        pool: Pool,
        channels: usize,
    },
    /// The sum of all inputs; of a single one itself.
    Sum,
    /// Channels of all inputs side by side: how many each has.
    Joined {
        channels: Vec<usize>,
    },
    /// Each element is one of the input's, or 0.
    Moved {
        from: Vec<Option<u32>>,
        elements: usize,
    },
}

/// What the way back needs besides inputs and result.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Of a batch normalisation: its result before scale and offset.
    normalised: Vec<f32>,
    pub moments: Option<Moments>,
    largest: Option<Largest>,
}

impl Weighted {
    /// Whether patches are pixels.
    const fn is_pointwise(&self) -> bool {
        self.window.taps() == 1 && self.window.pixels_in() == self.window.pixels_out()
    }

    fn product(&self, images: usize) -> Product {
        let inputs = self.window.taps() * self.inputs;
        let pixels = images * self.window.pixels_out();
        Product { pixels, inputs, outputs: self.outputs, x_stride: inputs, y_stride: self.outputs }
    }

    fn forward(&self, x: &[f32], weights: &[f32]) -> (Vec<f32>, Kept) {
        let images = self.window.images(x, self.inputs);
        let mut y = vec![0.0f32; images * self.window.pixels_out() * self.outputs];
        let own = self.weights.of(weights);
        if self.is_depthwise {
            let sizes = [self.window.pixels_in(), self.window.pixels_out()];
            let [size_in, size_out] = sizes.map(|pixels| pixels * self.inputs);
            for (x, y) in x.chunks_exact(size_in).zip(y.chunks_exact_mut(size_out)) {
                self.window.forward(x, own, y, self.inputs);
            }
        } else if self.is_pointwise() {
            self.product(images).forward(x, own, &mut y);
        } else {
            let patches = self.window.patches(x, self.inputs);
            self.product(images).forward(&patches, own, &mut y);
        }
        let mut kept = Kept::default();
        let rows = y.chunks_exact_mut(self.outputs);
        match &self.offset {
            Offset::Nothing => {}
            Offset::Bias(bias) => {
                let bias = bias.of(weights);
                rows.for_each(|row| row.iter_mut().zip(bias).for_each(|(y, bias)| *y += bias));
            }
            Offset::Normalised { scale, offset } => {
                kept.moments = Some(normalise(&mut y, self.outputs));
                kept.normalised.clone_from(&y);
                let (scale, offset) = (scale.of(weights), offset.of(weights));
                for row in y.chunks_exact_mut(self.outputs) {
                    for ((y, scale), offset) in row.iter_mut().zip(scale).zip(offset) {
                        *y = *y * scale + offset;
                    }
                }
            }
        }
        (y, kept)
    }

    /// The gradient by the products, of which `dy` becomes one; adds that by scale and offset.
    fn before_offset(&self, kept: &Kept, dy: &mut [f32], weights: &[f32], gradient: &mut [f32]) {
        let (sum, scale) = match &self.offset {
            Offset::Nothing => return,
            Offset::Bias(bias) => (bias, None),
            Offset::Normalised { scale, offset } => (offset, Some(scale)),
        };
        for row in dy.chunks_exact(self.outputs) {
            sum.of_mut(gradient).iter_mut().zip(row).for_each(|(sum, dy)| *sum += dy);
        }
        let Some((scale, moments)) = scale.zip(kept.moments.as_ref()) else { return };
        let rows = dy.chunks_exact_mut(self.outputs);
        for (row, normalised) in rows.zip(kept.normalised.chunks_exact(self.outputs)) {
            let of_scale = scale.of(weights).iter().zip(scale.of_mut(gradient));
            for ((dy, normalised), (scale, by_scale)) in
                row.iter_mut().zip(normalised).zip(of_scale)
            {
                *by_scale += *dy * normalised;
                *dy *= scale;
            }
        }
        denormalise(dy, &kept.normalised, moments);
    }

    fn backward(
        &self,
        x: &[f32],
        kept: &Kept,
        dy: &mut [f32],
        dx: &mut [f32],
        learnt: &mut Learnt<'_>,
    ) {
        self.before_offset(kept, dy, learnt.weights, learnt.gradient);
        let own = self.weights.of(learnt.weights);
        let by_own = self.weights.of_mut(learnt.gradient);
        if self.is_depthwise {
            let sizes = [self.window.pixels_in(), self.window.pixels_out()];
            let [size_in, size_out] = sizes.map(|pixels| pixels * self.inputs);
            let images = x.chunks_exact(size_in).zip(dx.chunks_exact_mut(size_in));
            for ((x, dx), dy) in images.zip(dy.chunks_exact(size_out)) {
                self.window.weights(x, dy, by_own, self.inputs);
                self.window.backward(dy, own, dx, self.inputs);
            }
            return;
        }
        let product = self.product(self.window.images(x, self.inputs));
        let mut back = vec![0.0f32; product.pixels * product.inputs];
        product.backward(dy, &product.transposed(own), &mut back);
        if self.is_pointwise() {
            product.weights(x, dy, by_own);
            dx.iter_mut().zip(&back).for_each(|(dx, back)| *dx += back);
        } else {
            product.weights(&self.window.patches(x, self.inputs), dy, by_own);
            self.window.patches_back(&back, dx, self.inputs);
        }
    }
}

/// All weights, and the gradient by them.
pub(super) struct Learnt<'w> {
    pub weights: &'w [f32],
    pub gradient: &'w mut [f32],
}

impl Kind {
    /// What inputs become, a batch of images one behind the other.
    pub fn forward(&self, inputs: &[&[f32]], weights: &[f32]) -> (Vec<f32>, Kept) {
        let x = inputs.first().copied().unwrap_or_default();
        let mut kept = Kept::default();
        let result = match self {
            Self::Weighted(weighted) => return weighted.forward(x, weights),
            Self::Largest { pool, channels } => {
                let mut largest = pool.largest(x, *channels);
                let values = std::mem::take(&mut largest.values);
                kept.largest = Some(largest);
                values
            }
            Self::Average { pool, channels } => pool.average(x, *channels),
            Self::Sum => {
                let mut sum = x.to_vec();
                for other in inputs.iter().skip(1) {
                    sum.iter_mut().zip(*other).for_each(|(sum, value)| *sum += value);
                }
                sum
            }
            Self::Joined { channels } => {
                let mut joined = Vec::with_capacity(inputs.iter().map(|input| input.len()).sum());
                let pixels = channels.first().map_or(0, |channels| x.len() / channels);
                for pixel in 0..pixels {
                    for (input, channels) in inputs.iter().zip(channels) {
                        joined.extend_from_slice(&input[pixel * channels..][..*channels]);
                    }
                }
                joined
            }
            Self::Moved { from, elements } => {
                let images = x.chunks_exact(*elements);
                let moved = images.flat_map(|image| {
                    from.iter().map(|from| from.map_or(0.0, |from| image[from as usize]))
                });
                moved.collect()
            }
        };
        (result, kept)
    }

    /// Adds to the gradients by the inputs what `dy`, which is used up, gives back.
    pub fn backward(
        &self,
        inputs: &[&[f32]],
        kept: &Kept,
        dy: &mut [f32],
        by_inputs: &mut [Vec<f32>],
        learnt: &mut Learnt<'_>,
    ) {
        let Some((x, dx)) = inputs.first().zip(by_inputs.first_mut()) else { return };
        match self {
            Self::Weighted(weighted) => weighted.backward(x, kept, dy, dx, learnt),
            Self::Largest { channels, .. } => {
                if let Some(largest) = &kept.largest {
                    largest.back(dy, dx, *channels);
                }
            }
            Self::Average { pool, channels } => pool.average_back(dy, dx, *channels),
            Self::Sum => {
                for dx in by_inputs {
                    dx.iter_mut().zip(&*dy).for_each(|(dx, dy)| *dx += dy);
                }
            }
            Self::Joined { channels } => {
                let all: usize = channels.iter().sum();
                for (pixel, mut dy) in dy.chunks_exact(all).enumerate() {
                    for (dx, channels) in by_inputs.iter_mut().zip(channels) {
                        let (own, others) = dy.split_at(*channels);
                        let dx = &mut dx[pixel * channels..][..*channels];
                        dx.iter_mut().zip(own).for_each(|(dx, dy)| *dx += dy);
                        dy = others;
                    }
                }
            }
            Self::Moved { from, elements } => {
                for (dx, dy) in dx.chunks_exact_mut(*elements).zip(dy.chunks_exact(from.len())) {
                    for (dy, from) in dy.iter().zip(from) {
                        if let Some(from) = from {
                            dx[*from as usize] += dy;
                        }
                    }
                }
            }
        }
    }
}

/// Values between the least and the most that an activation lets through.
pub(super) fn clip(activation: Activation, y: &mut [f32]) {
    if activation != Activation::None {
        let (low, high) = activation.range();
        y.iter_mut().for_each(|y| *y = y.clamp(low, high));
    }
}

/// Where an activation let nothing through, nothing goes back.
pub(super) fn clip_back(activation: Activation, y: &[f32], dy: &mut [f32]) {
    if activation != Activation::None {
        let (low, high) = activation.range();
        for (dy, y) in dy.iter_mut().zip(y) {
            *dy = if *y > low && *y < high { *dy } else { 0.0 };
        }
    }
}

//! How weights follow their gradients: appendix B.2 of the thesis.

use serde::{Deserialize, Serialize};

/// Momentum of the layers' weights.
const MOMENTUM: f32 = 0.9;
/// Decay of the layers' weights.
const DECAY: f32 = 3e-4;
/// Largest norm of the gradient by the layers' weights.
const CLIP: f64 = 5.0;

/// A learning rate that falls as half a cosine from `first` to `last` times it, when `part` of all steps are done.
pub(crate) fn annealed(first: f32, part: f64, last: f64) -> f32 {
    let cosine = f64::midpoint(1.0, libm::cos(part * std::f64::consts::PI));
    first * (last + (1.0 - last) * cosine) as f32
}

/// Stochastic gradient descent with momentum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Descent {
    pub speed: Vec<f32>,
}

impl Descent {
    pub fn new(count: usize) -> Self {
        Self { speed: vec![0.0; count] }
    }

    /// One step; the gradient is scaled down if it is too long.
    pub fn step(&mut self, weights: &mut [f32], gradient: &[f32], rate: f32) {
        let squares: f64 = gradient.iter().map(|by| f64::from(*by) * f64::from(*by)).sum();
        let scale = (CLIP / (squares.sqrt() + 1e-6)).min(1.0) as f32;
        for ((weight, by), speed) in weights.iter_mut().zip(gradient).zip(&mut self.speed) {
            *speed = MOMENTUM * *speed + (by * scale + DECAY * *weight);
            *weight -= rate * *speed;
        }
    }
}

/// Momenta of architecture weights.
const BETAS: [f32; 2] = [0.5, 0.999];
/// Decay of architecture weights.
const ARCHITECTURE_DECAY: f32 = 1e-3;
const EPSILON: f32 = 1e-8;

/// Adam of Kingma and Ba 2015.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Adam {
    pub mean: Vec<f32>,
    pub square: Vec<f32>,
    steps: i32,
}

impl Adam {
    pub fn new(count: usize) -> Self {
        Self { mean: vec![0.0; count], square: vec![0.0; count], steps: 0 }
    }

    pub fn step<'w>(
        &mut self,
        weights: impl Iterator<Item = &'w mut f32>,
        gradient: &[f32],
        rate: f32,
    ) {
        self.steps = self.steps.saturating_add(1);
        let correct = |beta: f32| 1.0 - libm::pow(f64::from(beta), f64::from(self.steps)) as f32;
        let [mean_part, square_part] = BETAS.map(correct);
        let moments = self.mean.iter_mut().zip(&mut self.square);
        for ((weight, by), (mean, square)) in weights.zip(gradient).zip(moments) {
            let by = by + ARCHITECTURE_DECAY * *weight;
            *mean = BETAS[0] * *mean + (1.0 - BETAS[0]) * by;
            *square = BETAS[1] * *square + (1.0 - BETAS[1]) * by * by;
            let root = (*square / square_part).sqrt() + EPSILON;
            *weight -= rate * (*mean / mean_part) / root;
        }
    }
}

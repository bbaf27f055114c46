//! What the property tests share: tensors, their placement in odd memory layouts, and kernels
//! written again from their definitions, slowly, in wide integers.

pub mod definition;
pub mod place;
pub mod tiles;

use tilewright_kernels::{Channel, Multiplier};

/// An int8 tensor, NHWC with batch 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    pub shape: [usize; 3],
    pub data: Vec<i8>,
}

impl Tensor {
    pub fn from_fn(shape: [usize; 3], mut value: impl FnMut(usize, usize, usize) -> i8) -> Self {
        let mut data = Vec::new();
        for y in 0..shape[0] {
            for x in 0..shape[1] {
                for c in 0..shape[2] {
                    data.push(value(y, x, c));
                }
            }
        }
        Self { shape, data }
    }

    /// The element; nothing outside of the tensor.
    pub fn get(&self, y: i64, x: i64, c: usize) -> Option<i8> {
        let [h, w, channels] = self.shape;
        let inside = (0..h as i64).contains(&y) && (0..w as i64).contains(&x) && c < channels;
        inside.then(|| self.data[(y as usize * w + x as usize) * channels + c])
    }
}

/// Numbers from a seed (an xorshift generator), extremes more often than chance.
#[derive(Clone)]
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number in 0..`end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() >> 33) as usize % end
    }

    pub fn byte(&mut self) -> i8 {
        match self.below(8) {
            0 => i8::MIN,
            1 => i8::MAX,
            _ => (self.next() >> 40) as i8,
        }
    }

    /// Zero point of weights: mostly 0.
    pub fn weight_zero(&mut self) -> i8 {
        if self.below(3) == 0 { self.byte() } else { 0 }
    }

    pub fn bytes(&mut self, count: usize) -> Vec<i8> {
        (0..count).map(|_| self.byte()).collect()
    }

    /// A factor of at most 2^`largest_shift`.
    pub fn factor(&mut self, largest_shift: i32) -> Multiplier {
        Multiplier {
            multiplier: (1 << 30) + (self.next() >> 35) as i32 % (1 << 30),
            shift: largest_shift - self.below(12) as i32,
        }
    }

    /// Constants of channels: all such that the fast requantisation serves, or with extremes.
    pub fn channels(&mut self, count: usize) -> Vec<Channel> {
        let fast = self.below(2) == 0;
        let bias = |numbers: &mut Self| match numbers.below(6) {
            0 if !fast => i32::MAX,
            1 if !fast => i32::MIN,
            0 => 1 << 27,
            _ => (numbers.next() >> 48) as i32 - (1 << 15),
        };
        let shift = if fast { -1 } else { 2 };
        (0..count).map(|_| Channel { bias: bias(self), factor: self.factor(shift) }).collect()
    }

    pub fn tensor(&mut self, shape: [usize; 3]) -> Tensor {
        Tensor { shape, data: self.bytes(shape.iter().product()) }
    }
}

//! A discrete Fourier transform of a power of two, for windows of sound.

use std::f64::consts::PI;

use crate::numbers::single;

#[derive(Clone, Copy, Default)]
struct Complex {
    real: f32,
    imaginary: f32,
}

pub struct Fourier {
    /// e^(−2πik/n) for k below n/2.
    turns: Vec<Complex>,
    work: Vec<Complex>,
}

impl Fourier {
    /// Of `size` values, a power of two.
    pub fn new(size: usize) -> Self {
        let turn = |k: usize| {
            let angle = -2.0 * PI * k as f64 / size as f64;
            Complex { real: single(libm::cos(angle)), imaginary: single(libm::sin(angle)) }
        };
        Self { turns: (0..size / 2).map(turn).collect(), work: vec![Complex::default(); size] }
    }

    /// Squares of the magnitudes from 0 to half the rate; zeros follow short `values`.
    pub fn power(&mut self, values: impl Iterator<Item = f32>) -> Vec<f32> {
        let size = self.work.len();
        self.work.fill(Complex::default());
        let bits = size.trailing_zeros();
        for (index, real) in values.take(size).enumerate() {
            let place = index.reverse_bits() >> (usize::BITS - bits);
            self.work[place].real = real;
        }
        let mut half = 1;
        while half < size {
            for start in (0..size).step_by(2 * half) {
                for k in 0..half {
                    let turn = self.turns[k * size / (2 * half)];
                    let (even, odd) = (self.work[start + k], self.work[start + k + half]);
                    let real = odd.real * turn.real - odd.imaginary * turn.imaginary;
                    let imaginary = odd.real * turn.imaginary + odd.imaginary * turn.real;
                    self.work[start + k] =
                        Complex { real: even.real + real, imaginary: even.imaginary + imaginary };
                    self.work[start + k + half] =
                        Complex { real: even.real - real, imaginary: even.imaginary - imaginary };
                }
            }
            half *= 2;
        }
        let power = |value: &Complex| value.real * value.real + value.imaginary * value.imaginary;
        self.work[..=size / 2].iter().map(power).collect()
    }
}

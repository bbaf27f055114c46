//! What keyword models see of a window of sound.

use std::f64::consts::PI;

use super::fourier::Fourier;
use crate::numbers::single;

/// Values of a transform: windows of 480 samples fit.
const SIZE: usize = 512;
/// Channels of both front ends' filter banks.
pub const CHANNELS: usize = 40;
/// Edges of TensorFlow Lite Micro's channels, and of MLPerf Tiny's, in hertz.
const MICRO_EDGES: [f64; 2] = [125.0, 7_500.0];
const TINY_EDGES: [f64; 2] = [20.0, 4_000.0];

fn mel(hertz: f64) -> f64 {
    1_127.0 * libm::log1p(hertz / 700.0)
}

/// For each channel the bins that it hears, with weights: triangles of equal width in mel.
fn triangles([low, high]: [f64; 2], rate: u32) -> Vec<Vec<(usize, f32)>> {
    let [low, high] = [low, high].map(mel);
    let spacing = (high - low) / (CHANNELS + 1) as f64;
    let triangle = |channel: usize| {
        let middle = low + spacing * (channel + 1) as f64;
        let weight = |bin: usize| {
            let at = mel(bin as f64 * f64::from(rate) / SIZE as f64);
            single(1.0 - (at - middle).abs() / spacing)
        };
        // The first bin is what is constant.
        (1..=SIZE / 2).map(|bin| (bin, weight(bin))).filter(|(_, weight)| *weight > 0.0).collect()
    };
    (0..CHANNELS).map(triangle).collect()
}

fn hann(count: usize, shift: f64) -> Vec<f32> {
    let of = |index: usize| {
        let angle = 2.0 * PI * (index as f64 + shift) / count as f64;
        single(0.5 - 0.5 * libm::cos(angle))
    };
    (0..count).map(of).collect()
}

/// TensorFlow Lite Micro's front end (`microfrontend`): filter bank, noise reduction, automatic gain, logarithm. Its
/// fixed-point steps are computed in floating point, rounded where it rounds to whole numbers.
pub struct FilterBank {
    fourier: Fourier,
    triangles: Vec<Vec<(usize, f32)>>,
    window: Vec<f32>,
    /// Of each channel.
    noise: [f32; CHANNELS],
}

impl FilterBank {
    /// Parts of the signal that the estimate of noise takes: of even and odd channels.
    const SMOOTHING: [f32; 2] = [0.025, 0.06];
    /// The least part of a signal that remains.
    const LEAST: f32 = 0.05;

    pub fn new(rate: u32) -> Self {
        Self {
            fourier: Fourier::new(SIZE),
            triangles: triangles(MICRO_EDGES, rate),
            window: hann(super::WINDOW, 0.5),
            noise: [0.0; CHANNELS],
        }
    }

    /// The channels of the next window, as models take them: 0 to about 26.
    pub fn channels(&mut self, samples: &[f32]) -> [f32; CHANNELS] {
        // As 16-bit samples.
        let values =
            samples.iter().zip(&self.window).map(|(sample, weight)| sample * 32_768.0 * weight);
        let power = self.fourier.power(values);
        std::array::from_fn(|channel| {
            let heard: f32 =
                self.triangles[channel].iter().map(|(bin, weight)| power[*bin] * weight).sum();
            // The scale of its fixed-point transform.
            let signal = (heard.sqrt() / 8.0).floor();
            let smoothing = Self::SMOOTHING[channel % 2];
            let noise = signal * smoothing + self.noise[channel] * (1.0 - smoothing);
            self.noise[channel] = noise;
            let signal = (signal - noise).max(signal * Self::LEAST).floor();
            logarithm(gained(signal, noise)) / 25.6
        })
    }
}

/// Automatic gain by the estimate of noise (PCAN).
fn gained(signal: f32, noise: f32) -> f32 {
    const MOST_GAIN: f64 = 32_767.0;
    let gain = libm::pow(f64::from(noise) * 8.0 + 80.0, -0.95) * f64::from(1 << 21);
    let ratio = (f64::from(signal) * gain.min(MOST_GAIN).round() / 64.0).floor();
    let shrunk =
        if ratio < 8_192.0 { ratio * ratio / f64::from(1 << 20) } else { ratio / 64.0 - 64.0 };
    single(shrunk.floor())
}

/// 64 times the natural logarithm.
fn logarithm(value: f32) -> f32 {
    let value = f64::from(value) * 8.0;
    if value > 1.0 { single(libm::round(libm::log(value) * 64.0).min(65_535.0)) } else { 0.0 }
}

/// The first coefficients of the cosine transform of logarithmic channels, as MLPerf Tiny's training script computes them.
pub fn cepstra<'a>(
    windows: impl Iterator<Item = &'a [f32]>,
    gain: f32,
    count: usize,
    rate: u32,
) -> Vec<f32> {
    let mut fourier = Fourier::new(SIZE);
    let triangles = triangles(TINY_EDGES, rate);
    let window = hann(super::WINDOW, 0.0);
    let cosine = |k: usize, channel: usize| {
        let angle = PI * k as f64 * (2 * channel + 1) as f64 / (2 * CHANNELS) as f64;
        2.0 * libm::cos(angle) / libm::sqrt(2.0 * CHANNELS as f64)
    };
    let cosines: Vec<Vec<f64>> =
        (0..count).map(|k| (0..CHANNELS).map(|channel| cosine(k, channel)).collect()).collect();
    let mut coefficients = Vec::new();
    for samples in windows {
        let values = samples.iter().zip(&window).map(|(sample, weight)| sample * gain * weight);
        let power = fourier.power(values);
        let channels: Vec<f64> = triangles
            .iter()
            .map(|triangle| {
                let sum: f32 =
                    triangle.iter().map(|(bin, weight)| power[*bin].sqrt() * weight).sum();
                libm::log(f64::from(sum) + 1e-6)
            })
            .collect();
        coefficients.extend(cosines.iter().map(|row| {
            single(row.iter().zip(&channels).map(|(cosine, channel)| cosine * channel).sum::<f64>())
        }));
    }
    coefficients
}

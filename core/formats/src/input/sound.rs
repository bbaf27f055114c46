//! Sound as inputs of keyword models: raw samples, filter-bank channels or cepstral coefficients.
//!
//! The shape of the input says which: models keep no word of what they were trained on.

mod features;
mod fourier;
#[cfg(test)]
mod tests;
mod wav;

use tilewright_model::{Data, Tensor};

use super::{InputError, from_real};
use features::{FilterBank, cepstra};

/// Samples in a second, as all models here take them.
const RATE: u32 = 16_000;
/// Seconds of a sound that are read: the first ones.
const MOST_SECONDS: u32 = 60;
/// A window of 30 ms, and the two usual steps.
const WINDOW: usize = 480;
const STEP: usize = 320;
const FINE_STEP: usize = 160;

/// Whether bytes are a WAV file.
#[must_use]
pub fn is_sound(bytes: &[u8]) -> bool {
    wav::is_wav(bytes)
}

/// What a model takes of a sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrontEnd {
    Samples {
        count: usize,
    },
    /// Channels of TensorFlow Lite Micro's front end (micro_speech, microWakeWord).
    Channels {
        frames: usize,
        step: usize,
    },
    /// Cepstral coefficients (MFCC) as in MLPerf Tiny.
    Cepstra {
        frames: usize,
        count: usize,
        step: usize,
    },
}

impl FrontEnd {
    /// By the sizes that are not 1.
    fn of(tensor: &Tensor) -> Option<Self> {
        let sizes: Vec<usize> =
            tensor.shape.dims().iter().copied().filter(|size| *size > 1).collect();
        // A second has about 98 frames with the fine step; few frames at once are a stream's.
        let step = |frames: usize| if (11..90).contains(&frames) { STEP } else { FINE_STEP };
        Some(match *sizes.as_slice() {
            [40] => Self::Channels { frames: 1, step: FINE_STEP },
            [490] => Self::Cepstra { frames: 49, count: 10, step: STEP },
            [1_960] => Self::Channels { frames: 49, step: STEP },
            [frames @ ..=400, 40] => Self::Channels { frames, step: step(frames) },
            [frames @ ..=400, count @ (10 | 13)] => {
                Self::Cepstra { frames, count, step: step(frames) }
            }
            [count @ 4_000..=960_000] => Self::Samples { count },
            _ => return None,
        })
    }

    /// Frames of an input, numbers of a frame, samples from one to the next.
    const fn layout(self) -> Layout {
        match self {
            Self::Samples { count } => Layout { frames: count, numbers: 1, step: 1 },
            Self::Channels { frames, step } => Layout { frames, numbers: features::CHANNELS, step },
            Self::Cepstra { frames, count, step } => Layout { frames, numbers: count, step },
        }
    }
}

#[derive(Clone, Copy)]
struct Layout {
    frames: usize,
    numbers: usize,
    step: usize,
}

/// A sound as frames of what a model takes, one behind the other.
pub struct Listening {
    layout: Layout,
    values: Vec<f32>,
    /// Sum of the squares of all samples before each step of 10 ms.
    energy: Vec<f64>,
    front_end: FrontEnd,
    /// Length of the file in milliseconds.
    whole_ms: u64,
}

impl Listening {
    /// Reads a WAV file for a model's input.
    ///
    /// # Errors
    /// If the file is damaged, or the input is none of a sound.
    pub fn new(tensor: &Tensor, bytes: &[u8]) -> Result<Self, InputError> {
        let front_end = FrontEnd::of(tensor).ok_or_else(|| InputError::Mismatch {
            tensor: tensor.name.clone(),
            takes: format!(
                "{}; known are raw samples, frames of 40 filter channels, and of 10 or 13 coefficients (MFCC)",
                tensor.shape
            ),
            given: "a sound".to_owned(),
        })?;
        let sound = wav::parse(bytes, MOST_SECONDS).map_err(InputError::Sound)?;
        let mut samples = wav::resampled(&sound, RATE);
        let layout = front_end.layout();
        let around = if matches!(front_end, FrontEnd::Samples { .. }) { 1 } else { WINDOW };
        // Silence follows what is too short.
        let least = (layout.frames - 1) * layout.step + around;
        samples.resize(samples.len().max(least), 0.0);
        let mut energy = vec![0.0];
        let mut sum = 0.0;
        for part in samples.chunks(FINE_STEP) {
            sum += part.iter().map(|sample| f64::from(sample * sample)).sum::<f64>();
            energy.push(sum);
        }
        let windows = || samples.windows(WINDOW).step_by(layout.step);
        let values = match front_end {
            FrontEnd::Samples { .. } => {
                let is_integer = tensor.quantisation.as_ref().is_some_and(|quantisation| {
                    quantisation.scales.first().is_some_and(|scale| *scale > 1.0)
                });
                let gain = if is_integer { 32_768.0 } else { 1.0 };
                samples.iter().map(|sample| sample * gain).collect()
            }
            FrontEnd::Channels { .. } => {
                let mut bank = FilterBank::new(RATE);
                windows().flat_map(|window| bank.channels(window)).collect()
            }
            FrontEnd::Cepstra { count, .. } => {
                // Training divides by the largest sample.
                let largest = samples.iter().copied().fold(0.0, f32::max);
                let gain = if largest > 0.0 { 1.0 / largest } else { 1.0 };
                cepstra(windows(), gain, count, RATE)
            }
        };
        Ok(Self { layout, values, energy, front_end, whole_ms: sound.whole_ms })
    }

    /// How many frames there are.
    #[must_use]
    pub const fn frames(&self) -> usize {
        self.values.len() / self.layout.numbers
    }

    /// How many frames an input has.
    #[must_use]
    pub const fn frames_of_input(&self) -> usize {
        self.layout.frames
    }

    /// From one frame to the next, in microseconds.
    #[must_use]
    pub fn step_us(&self) -> f64 {
        self.layout.step as f64 * 1e6 / f64::from(RATE)
    }

    /// The input that begins with a frame.
    #[must_use]
    pub fn input(&self, tensor: &Tensor, first: usize) -> Data {
        let Layout { frames, numbers, .. } = self.layout;
        let first = first.min(self.frames().saturating_sub(frames));
        from_real(tensor, self.values[first * numbers..(first + frames) * numbers].to_vec())
    }

    /// The first frame of the loudest input.
    #[must_use]
    pub fn loudest(&self) -> usize {
        let Layout { frames, step, .. } = self.layout;
        let energy = |sample: usize| {
            let last = self.energy.len() - 1;
            self.energy[(sample / FINE_STEP).min(last)]
        };
        let of = |first: &usize| energy((first + frames) * step) - energy(first * step);
        let last = self.frames().saturating_sub(frames);
        let firsts = (0..=last).step_by((FINE_STEP / step).max(1));
        firsts.reduce(|best, one| if of(&one) > of(&best) { one } else { best }).unwrap_or(0)
    }

    /// How the sound was read, in a sentence or two.
    #[must_use]
    pub fn words(&self) -> String {
        let milliseconds = |step: usize| step * 1_000 / RATE as usize;
        let how = match self.front_end {
            FrontEnd::Samples { count } => format!("{count} samples at 16 kHz"),
            FrontEnd::Channels { frames, step } => format!(
                "{frames} frames of 40 filter channels, one every {} ms, as TensorFlow Lite Micro's front end makes them",
                milliseconds(step)
            ),
            FrontEnd::Cepstra { frames, count, step } => format!(
                "{frames} frames of {count} MFCC, one every {} ms, as MLPerf Tiny makes them",
                milliseconds(step)
            ),
        };
        let seconds = self.whole_ms as f64 / 1e3;
        let cut = if self.whole_ms > u64::from(MOST_SECONDS) * 1_000 {
            format!(" Of {seconds:.1} s the first {MOST_SECONDS} s were read.")
        } else {
            String::new()
        };
        format!("The model takes {how}.{cut}")
    }
}

//! WAV files with PCM or float samples.

use std::f64::consts::PI;

use crate::numbers::{single, whole};

/// A sound with one channel; samples from −1 to 1.
#[derive(Debug)]
pub struct Sound {
    pub rate: u32,
    pub samples: Vec<f32>,
    /// Length of the file, of which `samples` may be the beginning.
    pub whole_ms: u64,
}

/// Most samples in a second, and most channels.
const MOST_RATE: u32 = 384_000;
const MOST_CHANNELS: usize = 64;
/// Lobes of the low-pass filter on each side.
const LOBES: f64 = 8.0;
/// Places of a lobe that are tabulated.
const STEPS: f64 = 1_024.0;

pub fn is_wav(bytes: &[u8]) -> bool {
    bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WAVE")
}

/// How samples are written.
struct Format {
    is_float: bool,
    channels: usize,
    rate: u32,
    bytes: usize,
}

fn format(body: &[u8]) -> Result<Format, String> {
    let word = |at: usize| Some(u16::from_le_bytes([*body.get(at)?, *body.get(at + 1)?]));
    let (Some(kind), Some(channels), Some(bits)) = (word(0), word(2), word(14)) else {
        return Err("its format is cut off".to_owned());
    };
    let rate = u32::from_le_bytes([body[4], body[5], body[6], body[7]]);
    // An extended format has the kind later.
    let kind = if kind == 0xfffe { word(24).unwrap_or(kind) } else { kind };
    let is_float = match (kind, bits) {
        (1, 8 | 16 | 24 | 32) => false,
        (3, 32 | 64) => true,
        _ => {
            return Err(format!(
                "its samples are of kind {kind} with {bits} bits; known are PCM with 8, 16, 24 or 32 bits and float"
            ));
        }
    };
    let channels = usize::from(channels);
    if channels == 0 || channels > MOST_CHANNELS || rate == 0 || rate > MOST_RATE {
        return Err(format!("it has {channels} channels and {rate} samples in a second"));
    }
    Ok(Format { is_float, channels, rate, bytes: usize::from(bits / 8) })
}

fn sample(bytes: &[u8], is_float: bool) -> f32 {
    let value = match (bytes, is_float) {
        (&[a], _) => (f32::from(a) - 128.0) / 128.0,
        (&[a, b], _) => f32::from(i16::from_le_bytes([a, b])) / 32_768.0,
        (&[a, b, c], _) => i32::from_le_bytes([0, a, b, c]) as f32 / 2_147_483_648.0,
        (&[a, b, c, d], false) => i32::from_le_bytes([a, b, c, d]) as f32 / 2_147_483_648.0,
        (&[a, b, c, d], true) => f32::from_le_bytes([a, b, c, d]),
        (&[a, b, c, d, e, f, g, h], _) => single(f64::from_le_bytes([a, b, c, d, e, f, g, h])),
        _ => 0.0,
    };
    if value.is_finite() { value.clamp(-1.0, 1.0) } else { 0.0 }
}

/// The first `seconds` of a file; its channels' mean.
pub fn parse(bytes: &[u8], seconds: u32) -> Result<Sound, String> {
    if !is_wav(bytes) {
        return Err("it is no WAV file".to_owned());
    }
    let mut rest = &bytes[12..];
    let mut found = None;
    while let Some((head, body)) = rest.split_at_checked(8) {
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        // Recorders that were stopped leave wrong lengths behind.
        let (body, after) = body.split_at(length.min(body.len()));
        match (&head[..4], &found) {
            (b"fmt ", _) => found = Some(format(body)?),
            (b"data", None) => return Err("its samples come before their format".to_owned()),
            (b"data", Some(format)) => {
                let size = format.bytes * format.channels;
                let most = format.rate as usize * seconds as usize;
                let frames = body.chunks_exact(size).take(most);
                let mean = |frame: &[u8]| {
                    let parts = frame.chunks_exact(format.bytes);
                    let sum: f32 = parts.map(|part| sample(part, format.is_float)).sum();
                    sum / format.channels as f32
                };
                let samples: Vec<f32> = frames.map(mean).collect();
                if samples.is_empty() {
                    return Err("it has no samples".to_owned());
                }
                let whole_ms = (body.len() / size) as u64 * 1_000 / u64::from(format.rate);
                return Ok(Sound { rate: format.rate, samples, whole_ms });
            }
            _ => {}
        }
        // Chunks begin at even places.
        rest = after.get(length % 2..).unwrap_or_default();
    }
    Err("its samples are missing".to_owned())
}

/// The samples at another rate: a windowed sinc that lets through what both rates hold.
pub fn resampled(sound: &Sound, rate: u32) -> Vec<f32> {
    if sound.rate == rate {
        return sound.samples.clone();
    }
    let [from, to] = [sound.rate, rate].map(f64::from);
    let share = (to / from).min(1.0);
    let reach = LOBES / share;
    let count = whole(sound.samples.len() as f64 * to / from);
    let lobe = |at: f64| {
        let sinc = if at == 0.0 { 1.0 } else { libm::sin(PI * at) / (PI * at) };
        sinc * (0.5 + 0.5 * libm::cos(PI * at / LOBES))
    };
    let steps = 0..whole(LOBES * STEPS);
    let table: Vec<f64> = steps.map(|step| lobe(step as f64 / STEPS)).collect();
    let kernel = |distance: f64| {
        let step = whole((distance * share).abs() * STEPS + 0.5);
        share * table.get(step).copied().unwrap_or(0.0)
    };
    (0..count)
        .map(|index| {
            let place = index as f64 * from / to;
            let first = whole(place - reach);
            let last = (whole(place + reach) + 1).min(sound.samples.len());
            let part = sound.samples.get(first..last).unwrap_or_default().iter().zip(first..);
            single(part.map(|(sample, at)| f64::from(*sample) * kernel(at as f64 - place)).sum())
        })
        .collect()
}

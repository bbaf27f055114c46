//! Sounds that are known, and files that are broken.

use super::*;
use proptest::prelude::*;
use tilewright_model::{DType, Quantisation, Shape};

fn tensor(dims: &[usize]) -> Tensor {
    Tensor {
        name: "sound".to_owned(),
        shape: Shape::new(dims),
        dtype: DType::F32,
        quantisation: None,
        source: None,
    }
}

fn wav(kind: u16, bits: u16, channels: u16, rate: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0".to_vec();
    bytes.extend(kind.to_le_bytes());
    bytes.extend(channels.to_le_bytes());
    bytes.extend(rate.to_le_bytes());
    bytes.extend((rate * u32::from(channels * bits / 8)).to_le_bytes());
    bytes.extend((channels * bits / 8).to_le_bytes());
    bytes.extend(bits.to_le_bytes());
    bytes.extend(b"data");
    bytes.extend(u32::try_from(body.len()).unwrap().to_le_bytes());
    bytes.extend(body);
    bytes
}

/// A tone in 16-bit samples.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small positive numbers"
)]
fn tone(hertz: f64, rate: u32, seconds: f64) -> Vec<u8> {
    let count = (f64::from(rate) * seconds) as usize;
    let at = |index: usize| {
        let angle = 2.0 * std::f64::consts::PI * hertz * index as f64 / f64::from(rate);
        ((libm::sin(angle) * 16_000.0) as i16).to_le_bytes()
    };
    (0..count).flat_map(at).collect()
}

#[test]
fn all_kinds_of_samples_say_the_same() {
    let half: [(u16, u16, Vec<u8>); 6] = [
        (1, 8, vec![192]),
        (1, 16, 16_384i16.to_le_bytes().to_vec()),
        (1, 24, vec![0, 0, 0x40]),
        (1, 32, (1i32 << 30).to_le_bytes().to_vec()),
        (3, 32, 0.5f32.to_le_bytes().to_vec()),
        (3, 64, 0.5f64.to_le_bytes().to_vec()),
    ];
    for (kind, bits, one) in half {
        let sound = wav::parse(&wav(kind, bits, 2, 8_000, &one.repeat(8)), 60).unwrap();
        assert_eq!((sound.rate, sound.samples.as_slice()), (8_000, &[0.5; 4][..]), "{bits} bits");
    }
}

#[test]
fn what_is_no_sound_is_named() {
    for (bytes, word) in [
        (wav(2, 4, 1, 8_000, &[0]), "kind 2"),
        (wav(1, 16, 0, 8_000, &[0]), "0 channels"),
        (wav(1, 16, 1, 0, &[0, 0]), "0 samples"),
        (wav(1, 16, 1, 8_000, &[]), "no samples"),
        (b"RIFF\0\0\0\0WAVE".to_vec(), "missing"),
    ] {
        let error = wav::parse(&bytes, 60).unwrap_err();
        assert!(error.contains(word), "{error}");
    }
    let picture = Listening::new(&tensor(&[1, 28, 28, 1]), &wav(1, 16, 1, 8_000, &[0; 64]));
    assert!(matches!(picture.err(), Some(InputError::Mismatch { .. })));
}

#[test]
fn another_rate_keeps_the_tone() {
    let sound = wav::parse(&wav(1, 16, 1, 44_100, &tone(1_000.0, 44_100, 0.2)), 60).unwrap();
    let samples = wav::resampled(&sound, 16_000);
    assert_eq!(samples.len(), 3_200);
    let largest = samples[100..3_100].iter().copied().fold(0.0, f32::max);
    assert!((largest - 16_000.0 / 32_768.0).abs() < 0.01, "{largest}");
    let rises = samples.windows(2).filter(|pair| pair[0] <= 0.0 && pair[1] > 0.0).count();
    assert!((199..=201).contains(&rises), "{rises}");
    // What is above half of the new rate is gone.
    let sound = wav::parse(&wav(1, 16, 1, 44_100, &tone(12_000.0, 44_100, 0.2)), 60).unwrap();
    let samples = wav::resampled(&sound, 16_000);
    assert!(samples[100..3_100].iter().all(|sample| sample.abs() < 0.01));
}

#[test]
fn a_tone_is_loudest_in_its_channel() {
    let bytes = wav(1, 16, 1, 16_000, &tone(1_000.0, 16_000, 1.0));
    let listening = Listening::new(&tensor(&[1, 49, 40, 1]), &bytes).unwrap();
    assert_eq!((listening.frames(), listening.frames_of_input()), (49, 49));
    let data = listening.input(&tensor(&[1, 49, 40, 1]), 0);
    let values = data.as_f32().unwrap();
    let largest = (0..40).max_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap();
    // 1000 Hz are 1000 mel; channels are 64 mel apart and begin at 185.
    assert!((11..=13).contains(&largest), "{largest}: {:?}", &values[..40]);
    assert!(values.iter().all(|value| (0.0..=30.0).contains(value)));
    let silence = wav(1, 16, 1, 16_000, &[0; 32_000]);
    let silence = Listening::new(&tensor(&[1, 49, 40, 1]), &silence).unwrap();
    assert!(silence.input(&tensor(&[1, 1_960]), 0).as_f32().unwrap().iter().all(|v| *v == 0.0));
}

#[test]
fn coefficients_of_silence_are_those_of_the_floor() {
    let bytes = wav(1, 16, 1, 16_000, &[0; 32_000]);
    let listening = Listening::new(&tensor(&[1, 490]), &bytes).unwrap();
    let data = listening.input(&tensor(&[1, 490]), 0);
    // 40 · ln 10⁻⁶ · 2 / √80
    let first = data.as_f32().unwrap()[0];
    assert!((first + 123.57).abs() < 0.01, "{first}");
    assert!(data.as_f32().unwrap()[1].abs() < 1e-3);
}

#[test]
fn the_loudest_part_is_taken_and_ten_minutes_are_cut() {
    let mut body = vec![0u8; 2 * 16_000 * 600];
    body[2 * 16_000 * 3..2 * 16_000 * 4].copy_from_slice(&tone(500.0, 16_000, 1.0));
    let bytes = wav(1, 16, 1, 16_000, &body);
    let listening = Listening::new(&tensor(&[1, 16_000]), &bytes).unwrap();
    assert_eq!((listening.frames(), listening.loudest()), (960_000, 48_000));
    assert!(
        listening.words().contains("Of 600.0 s the first 60 s were read"),
        "{}",
        listening.words()
    );
    let frames = Listening::new(&tensor(&[1, 49, 10, 1]), &bytes).unwrap();
    assert!((145..=155).contains(&frames.loudest()), "{}", frames.loudest());
    let stream = Listening::new(&tensor(&[1, 3, 40]), &bytes).unwrap();
    assert!((stream.step_us() - 10_000.0).abs() < 1.0 && stream.frames_of_input() == 3);
}

#[test]
fn quantised_inputs_get_their_scale() {
    let bytes = wav(1, 16, 1, 16_000, &16_384i16.to_le_bytes().repeat(16_000));
    let int8 = |scale: f32| Tensor {
        dtype: DType::I8,
        quantisation: Some(Quantisation::per_tensor(scale, 0)),
        ..tensor(&[1, 16_000])
    };
    for scale in [1.0 / 128.0, 256.0] {
        let tensor = int8(scale);
        let data = Listening::new(&tensor, &bytes).unwrap().input(&tensor, 0);
        assert_eq!(data.as_i8().unwrap()[0], 64);
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(start in 0usize..60, bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let mut file = wav(1, 16, 1, 16_000, &[1; 64]);
        let end = (start + bytes.len()).min(file.len());
        file.splice(start..end.max(start), bytes);
        let _ = Listening::new(&tensor(&[1, 3, 40]), &file);
    }
}

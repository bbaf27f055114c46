//! Outputs as a person reads them: maps with a legend, key points over the picture, plain values; and sounds as inputs.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::{dist, project};
use tilewright_tests::onnx_file::{Dim, one_node};
use tilewright_tests::static_host;

fn written(name: &str, bytes: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// A model whose output is its input.
fn mirror(name: &str, shape: [u64; 4]) -> PathBuf {
    written(name, &one_node("Relu", "relu", &shape.map(Dim::Fixed)))
}

async fn with_model(path: &Path) -> Browser {
    let browser = Browser::start(1440, 900, false).await;
    browser.open(&static_host::serve(dist().join("page"), "p")).await;
    browser.give_file("model-file", path).await;
    browser.find("verdict").await;
    browser
}

async fn read_as(browser: &Browser, word: &str) {
    let choose = "const list = document.querySelector(`[data-testid='pick-read-as']`);
                  list.value = arguments[0];
                  list.dispatchEvent(new Event('change', { bubbles: true }));";
    browser.script(choose, vec![json!(word)]).await;
}

/// A second of a tone of 1 kHz, 16 bits, at 8 kHz.
fn tone() -> Vec<u8> {
    let samples: Vec<u8> = (0..8_000u32)
        .flat_map(|index| {
            [0, 11_314, 16_000, 11_314, 0, -11_314, -16_000, -11_314i16][index as usize % 8]
                .to_le_bytes()
        })
        .collect();
    let mut bytes = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
    for number in [8_000u32, 16_000] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(b"\x02\0\x10\0data");
    bytes.extend(u32::try_from(samples.len()).unwrap().to_le_bytes());
    bytes.extend(samples);
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn outputs_are_read_as_the_person_says() {
    let browser = with_model(&mirror("mirror.onnx", [1, 3, 16, 16])).await;
    let picture = project().join("models/samples/mnist-0-label7.png");
    browser.give_file("input-file", &picture).await;
    browser.text_when("map-legend", |text| text.contains("channel 0: 100 %")).await;
    read_as(&browser, "heat-map-points").await;
    let words = browser.text_when("findings-words", |text| text.contains("key points")).await;
    assert_eq!(words, "3 key points.");
    let points = browser.text_when("points-table", |_| true).await;
    assert!(points.contains("point 3"), "{points}");
    let over = "const box = (test) => document.querySelector(test).getBoundingClientRect();
                const [image, marks] = [box('.findings-picture img'), box('.findings-picture svg')];
                return Math.abs(image.width - marks.width) + Math.abs(image.height - marks.height);";
    assert!(
        browser.script(over, Vec::new()).await.as_f64().unwrap() < 1.0,
        "marks over the picture"
    );
    read_as(&browser, "values").await;
    assert!(browser.text_when("results", |_| true).await.contains("16×16×3"));
    assert!(!browser.has("findings").await && !browser.has("output-map").await);
    let values = browser.text_when("output-values", |_| true).await;
    assert!(values.contains("int8 values"), "{values}");
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sound_becomes_what_the_model_takes_and_a_broken_one_is_explained() {
    let browser = with_model(&mirror("frames.onnx", [1, 1, 49, 40])).await;
    browser.find("input-microphone").await;
    browser.give_file("input-file", &written("tone.wav", &tone())).await;
    let note = browser.text_when("input-note", |text| text.contains("frames")).await;
    assert!(note.contains("49 frames of 40 filter channels, one every 20 ms"), "{note}");
    browser.find("results").await;
    browser.give_file("input-file", &written("broken.wav", b"RIFF\0\0\0\0WAVE and so on")).await;
    let trouble = browser.text_when("trouble", |text| text.contains("sound")).await;
    assert!(trouble.contains("broken.wav") && trouble.contains("WAV"), "{trouble}");
    browser.end().await;
}

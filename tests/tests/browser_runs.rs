//! Runs from the page that do not end well.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use tilewright_tests::browser::Browser;
use tilewright_tests::faulty;
use tilewright_tests::onnx_file::convolutions;
use tilewright_tests::server::Server;

const BOARD: &str = "stm32f746g-disco";

fn scratch(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_in_flight_is_stopped_and_nothing_is_left_running() {
    let server = Server::start(&[]);
    let browser = Browser::start(1440, 900, false).await;
    browser.open(&server.address).await;
    // 300 million multiply-accumulates.
    let path = scratch("slow.onnx");
    fs::write(&path, convolutions(32, 64)).unwrap();
    browser.give_file("model-file", &path).await;
    browser.find("verdict").await;
    let input = scratch("slow-input.npy");
    fs::write(&input, npy(64 * 64 * 16)).unwrap();
    browser.give_file("input-file", &input).await;
    browser.text_when("results", |text| !text.is_empty()).await;
    browser.click("run").await;
    browser.text_when("progress", |text| text.contains("instructions")).await;
    assert_eq!(server.workers().len(), 1);
    browser.click("cancel").await;
    browser.find("cancelled").await;
    let until = Instant::now() + Duration::from_secs(20);
    while !server.workers().is_empty() {
        assert!(Instant::now() < until, "the worker still runs");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let run = browser.find("run").await;
    assert!(run.is_enabled().await.unwrap(), "the next run can be started");
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn layers_in_tiles_run_bit_equal_and_auto_says_what_it_compared() {
    let server = Server::start(&[]);
    let browser = Browser::start(1440, 900, false).await;
    let link = format!("model=fashion-mobilenet&board={BOARD}&strategy=reordered&tiles=2x2");
    browser.open(&format!("{}#{link}&view=run", server.address)).await;
    browser.click("sample-0").await;
    browser.text_when("results", |text| !text.is_empty()).await;
    browser.click("run").await;
    let agreement = browser.text_when("agreement", |text| !text.is_empty()).await;
    assert!(agreement.contains("Bit-equal") && agreement.contains("74 layers"), "{agreement}");
    browser.click("view-overview").await;
    let again = browser.text_when("fact-recomputed", |text| !text.is_empty()).await;
    assert!(again.contains("at the edges of 2x2 tiles"), "{again}");
    let link = format!("model=fashion-mobilenet&board={BOARD}&strategy=auto&view=overview");
    browser.open(&format!("{}#{link}", server.address)).await;
    let compared = browser.text_when("alternatives", |text| text.contains("all in SRAM")).await;
    assert!(compared.contains("chosen"), "{compared}");
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_with_store_images_run_whole_and_sampled() {
    let server = Server::start(&[]);
    for (strategy, frames) in [("external", 1), ("swap", 1), ("stream", 4)] {
        let browser = Browser::start(390, 844, false).await;
        let link =
            format!("model=lenet5&board={BOARD}&strategy={strategy}&frames={frames}&view=run");
        browser.open(&format!("{}#{link}", server.address)).await;
        browser.click("sample-0").await;
        browser.text_when("results", |text| !text.is_empty()).await;
        assert!(
            browser.text().await.contains("store images"),
            "what leaves the page is said before"
        );
        browser.click("run").await;
        let agreement = browser.text_when("agreement", |text| !text.is_empty()).await;
        assert!(agreement.contains("Bit-equal"), "{strategy}: {agreement}");
        // The layers of each frame.
        assert!(frames == 1 || agreement.contains("layers of 4 frames"), "{strategy}: {agreement}");
        browser.click("mode-sampled").await;
        browser.click("run").await;
        let agreement = browser.text_when("agreement", |text| text.contains("Sampled")).await;
        assert!(agreement.contains("nothing is compared"), "{strategy}: {agreement}");
        assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
        browser.end().await;
    }
    let browser = Browser::start(390, 844, true).await;
    let link = format!("model=lenet5&board={BOARD}&strategy=swap&view=run");
    browser.open(&format!("{}#{link}", server.address)).await;
    browser.find("run").await;
    // The name of the view that is shown is in sight in the row of names.
    let script = "const row = document.querySelector('.tabs').getBoundingClientRect();
        const tab = document.querySelector('.tab[aria-current]').getBoundingClientRect();
        return tab.left >= row.left && tab.right <= row.right;";
    assert_eq!(browser.script(script, Vec::new()).await, true);
    browser.end().await;
}

/// Chooses a word of a list as a person does.
const CHOOSE: &str = "const [id, word] = arguments;
    const choice = document.querySelector(`[data-testid=${id}]`);
    choice.value = word;
    choice.dispatchEvent(new Event('change', { bubbles: true }));";

#[tokio::test(flavor = "multi_thread")]
async fn what_is_swapped_is_checked_or_encrypted_when_asked() {
    let server = Server::start(&[]);
    let browser = Browser::start(1440, 900, false).await;
    let link = format!("model=lenet5&board={BOARD}&strategy=swap");
    browser.open(&format!("{}#{link}&view=schedule", server.address)).await;
    let plain = browser.text_when("schedule-time", |text| !text.is_empty()).await;
    for (word, title) in [("checked", "Checked"), ("encrypted", "Encrypted")] {
        browser.script(CHOOSE, vec!["pick-integrity".into(), word.into()]).await;
        let told = browser.text_when("schedule-checked", |text| text.contains(title)).await;
        // All that `plan` says is read and written: 73,216 and 10,752 B.
        assert!(told.contains("82.0 KiB"), "{told}");
        assert!(browser.has("schedule-checking").await);
        let time = browser.text_when("schedule-time", |text| !text.is_empty()).await;
        assert_ne!(time, plain, "its time is in the schedule");
        // The address carries it, so that a link and a reload lead back.
        let address = browser.script("return location.hash", Vec::new()).await;
        assert!(address.as_str().unwrap().contains(&format!("integrity={word}")), "{address}");
        browser.reload().await;
        browser.text_when("schedule-checked", |text| text.contains(title)).await;
        browser.script("location.hash = location.hash.replace('schedule', 'run')", vec![]).await;
        browser.reload().await;
        browser.click("sample-0").await;
        browser.text_when("results", |text| !text.is_empty()).await;
        browser.click("run").await;
        let agreement = browser.text_when("agreement", |text| !text.is_empty()).await;
        assert!(agreement.contains("Bit-equal"), "{word}: {agreement}");
        browser.script("location.hash = location.hash.replace('run', 'schedule')", vec![]).await;
        browser.reload().await;
        browser.find("schedule-time").await;
    }
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_without_firmware_is_said_to_be_simulated() {
    let server = Server::start(&[]);
    let browser = Browser::start(390, 844, false).await;
    let link = "model=lenet5&board=weact-h743&strategy=resident";
    for (view, id) in [("run", "nothing-to-run"), ("firmware", "no-image")] {
        browser.open(&format!("{}#{link}&view={view}", server.address)).await;
        browser.reload().await;
        let told = browser.text_when(id, |text| !text.is_empty()).await;
        assert!(told.contains("planned and simulated only"), "{told}");
    }
    assert!(!browser.text().await.contains("could not be fetched"));
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

/// A `.npy` file of `count` zeros.
fn npy(count: usize) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({count},), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.resize(bytes.len() + count * 4, 0);
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_of_the_board_is_reported_with_its_place() {
    let folder = scratch("faulty-dist");
    faulty::lay_out(&folder, BOARD);
    let server = Server::start(&[("TILEWRIGHT_DIST", folder.to_str().unwrap())]);
    let browser = Browser::start(1440, 900, true).await;
    browser.open(&server.address).await;
    browser.click("example-lenet5").await;
    browser.find("verdict").await;
    browser.text_when("results", |text| !text.is_empty()).await;
    browser.click("run").await;
    let fault = browser.text_when("fault", |text| !text.is_empty()).await;
    assert!(fault.contains("pool") && fault.contains("step"), "{fault}");
    let report = browser.find("fault").await.prop("textContent").await.unwrap().unwrap();
    assert!(report.contains("pc") && report.contains("max_pool"), "{report}");
    assert!(browser.has("verdict").await && browser.has("memory-chart").await);
    let agreement = browser.text_when("agreement", |text| !text.is_empty()).await;
    assert!(agreement.contains("stopped with a fault"), "{agreement}");
    browser.end().await;
}

//! The page at a board: a stand-in for the browser's serial port is wired to the emulated one.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::PathBuf;

use tilewright_desk::{MeasuredOn, Record};
use tilewright_tests::browser::Browser;
use tilewright_tests::browser_port::BrowserPort;
use tilewright_tests::desk::{Stand, good, image, plan_id, silent_about_itself};
use tilewright_tests::server::Server;

const BOARD: &str = "stm32f746g-disco";

/// The page with lenet5 planned and an input chosen.
async fn page(server: &Server, width: u32) -> Browser {
    let browser = Browser::start(width, 900, false).await;
    let link = format!("model=lenet5&board={BOARD}&view=run");
    browser.open(&format!("{}#{link}", server.address)).await;
    browser.click("sample-0").await;
    browser.text_when("results", |text| !text.is_empty()).await;
    browser
}

/// An image of a model that the example of the page is.
fn lenet5(folder: &tempfile::TempDir) -> PathBuf {
    image("models/lenet5.onnx", BOARD, folder.path())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_runs_the_plan_and_its_cycles_stand_beside_the_others() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let image = lenet5(&folder);
    let stand = Stand::start(&image);
    let browser = page(&server, 1440).await;
    let port = BrowserPort::plugged_into(&browser).await;
    browser.click("run").await;
    browser.text_when("agreement", |text| text.contains("Bit-equal")).await;

    // It says that it is emulated: nothing of it is measured.
    browser.click("measure").await;
    port.wired_to(&stand.port, good(), |_| false).await;
    let verdict = browser.text_when("desk-verdict", |text| !text.is_empty()).await;
    assert!(verdict.contains("bit-equal to the reference: 10 values"), "{verdict}");
    let origin = browser.find("desk-origin").await.text().await.unwrap();
    assert!(origin.starts_with("Modelled, not measured"), "{origin}");
    let latency = browser.find("desk-latency").await.text().await.unwrap();
    assert!(latency.contains("modelled") && !latency.contains("measured"), "{latency}");
    let emulated = browser.find("desk-emulated").await.text().await.unwrap();
    assert!(emulated.contains("the board is"), "{emulated}");
    assert_eq!(port.closed().await, 1);

    // One that does not say so, at a port of a board, counts as a board.
    browser.click("measure").await;
    port.wired_to(&stand.port, silent_about_itself(), |_| false).await;
    let origin = browser.text_when("desk-origin", |text| text.starts_with("Measured")).await;
    assert!(origin.contains(BOARD) && origin.contains("usb 0483:374b"), "{origin}");
    let latency = browser.find("desk-latency").await.text().await.unwrap();
    assert!(latency.contains("measured"), "{latency}");
    let notes = browser.find("desk-notes").await.text().await.unwrap();
    assert!(notes.contains("sends the input"), "{notes}");
    let script = "const table = document.querySelector('[data-testid=desk-layers]');
        table.closest('details').open = true;
        return [table.rows.length, table.tHead.innerText];";
    let table = browser.script(script, Vec::new()).await;
    assert_eq!(table[0], 9, "a head and eight layers");
    let head = table[1].as_str().unwrap();
    assert!(head.contains("EMULATED") || head.contains("Emulated"), "{head}");
    assert!(head.to_lowercase().contains("measured"), "{head}");

    let script = "document.getElementById('board-revision').value = arguments[0]";
    browser.script(script, vec!["MB1191-B03".into()]).await;
    let (name, record) = browser.saved_text("save-record").await;
    assert_eq!(name, format!("{BOARD}-lenet5.json"));
    let record: Record = serde_json::from_str(&record).unwrap();
    assert_eq!((record.measured_on, record.verified), (MeasuredOn::PhysicalBoard, true));
    assert_eq!(record.board_revision.as_deref(), Some("MB1191-B03"));
    assert_eq!(record.plan_id[..16], plan_id(&image));
    assert_eq!((record.input_sha256.len(), record.date_utc.len()), (64, 20));
    assert!(record.layers.iter().all(|layer| layer.emulated_cycles.is_some()), "{record:?}");

    browser.click("view-schedule").await;
    browser.find("timeline").await;
    let lanes = browser.find("timeline").await.text().await.unwrap();
    assert!(lanes.contains("Core, on the board (time measured)"), "{lanes}");
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_wrong_at_the_port_is_said_and_the_next_talk_goes_well() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let stand = Stand::start(&lenet5(&folder));
    let browser = page(&server, 390).await;
    let port = BrowserPort::plugged_into(&browser).await;
    let trouble =
        |part: &'static str| browser.text_when("trouble", move |text| text.contains(part));

    // Whoever chooses no port is not told off.
    port.is("isRefused", true).await;
    browser.click("measure").await;
    browser.text_when("status", |text| text.contains("No port was chosen")).await;
    assert!(!browser.has("trouble").await);
    port.is("isRefused", false).await;

    port.is("isTaken", true).await;
    browser.click("measure").await;
    let taken = trouble("cannot be opened").await;
    assert!(taken.contains("Close the terminal"), "{taken}");
    port.is("isTaken", false).await;

    // A program that is none of ours.
    browser.click("measure").await;
    port.is_open(true).await;
    port.exchange(b"tilewright 0.1.0 abi 6 board nucleo-f767zi\r\n").await;
    let other = trouble("this board is a nucleo-f767zi").await;
    assert!(other.contains(BOARD), "{other}");

    // The cable is pulled in the middle of the input.
    browser.click("measure").await;
    let in_the_middle = |written: &[u8]| written.len() >= 256;
    port.wired_to(&stand.port, good(), in_the_middle).await;
    port.pull().await;
    trouble("went away").await;

    // Hung up, it says nothing more, and the port is free.
    browser.click("measure").await;
    port.is_open(true).await;
    browser.click("hang-up").await;
    port.is_open(false).await;
    assert!(!browser.has("desk-verdict").await);

    browser.click("measure").await;
    port.wired_to(&stand.port, good(), |_| false).await;
    browser.text_when("desk-verdict", |text| text.contains("bit-equal")).await;
    assert!(!browser.has("trouble").await, "what went wrong before is gone");
    // Another plan than the board holds.
    browser
        .open(&format!("{}#model=lenet5&board={BOARD}&strategy=external&view=run", server.address))
        .await;
    browser.click("sample-0").await;
    browser.text_when("results", |text| !text.is_empty()).await;
    browser.click("measure").await;
    port.wired_to(&stand.port, good(), |_| false).await;
    let other = trouble("The board holds another image").await;
    assert!(other.contains("Flash this image"), "{other}");
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_without_serial_ports_says_what_to_use() {
    let server = Server::start(&[]);
    let browser = page(&server, 390).await;
    let script =
        "Object.defineProperty(navigator, 'serial', { value: undefined, configurable: true });";
    browser.script(script, Vec::new()).await;
    browser.click("view-schedule").await;
    browser.click("view-run").await;
    let said = browser.text_when("no-serial", |text| !text.is_empty()).await;
    assert!(said.contains("tilewright board measure"), "{said}");
    browser.end().await;
}

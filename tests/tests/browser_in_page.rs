//! Runs in the page itself: no server is asked.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use fantoccini::key::Key;
use serde_json::json;
use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::dist;
use tilewright_tests::faulty;
use tilewright_tests::onnx_file::convolutions;
use tilewright_tests::server::Server;
use tilewright_tests::static_host;

const BOARD: &str = "stm32f746g-disco";

fn page() -> PathBuf {
    let page = dist().join("page");
    assert!(page.join("index.html").is_file(), "the page is not built: run `cargo xtask build`");
    page
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// What the page says of the run that is over.
async fn agreement(browser: &Browser) -> String {
    browser.text_when("agreement", |text| !text.is_empty()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_static_host_under_a_sub_path_runs_the_bundled_model() {
    let site = static_host::serve(page(), "some/where");
    let browser = Browser::start(1440, 900, false).await;
    browser.open(&site).await;
    browser.click("example-lenet5").await;
    browser.find("verdict").await;
    browser.text_when("results", |text| !text.is_empty()).await;
    let whereabouts = browser.text_when("whereabouts", |text| !text.is_empty()).await;
    assert!(whereabouts.contains("stay in this page"), "{whereabouts}");
    assert!(!browser.has("runs-on-server").await, "there is nothing to choose");
    browser.click("run").await;
    let agreement = agreement(&browser).await;
    assert!(agreement.contains("Bit-equal"), "{agreement}");
    let counted = browser.text_when("run-instructions", |text| text.contains("counted")).await;
    assert!(counted.chars().filter(char::is_ascii_digit).count() >= 6, "{counted}");
    let cycles = browser.text_when("run-latency", |text| text.contains("modelled")).await;
    assert!(cycles.contains("cycles"), "{cycles}");
    let console = browser.find("console").await.prop("textContent").await.unwrap().unwrap();
    assert!(console.contains("tilewright"), "{console}");
    let by = browser.text_when("emulated-by", |text| !text.is_empty()).await;
    assert!(by.contains("own core"), "{by}");
    // Behind the run each byte of SRAM can be looked at, step by step.
    browser.click("view-film").await;
    browser.text_when("film-byte", |text| text.contains("recorded in the run")).await;
    browser.text_when("film-at", |text| text.contains("task 0 of")).await;
    browser.click("film-on").await;
    browser.text_when("film-words", |text| text.contains("conv1")).await;
    browser.click("film-on").await;
    browser.text_when("film-words", |text| text.contains("pool1")).await;
    browser.press("film-map", [Key::End]).await;
    browser.text_when("film-words", |text| text.starts_with("It has ended")).await;
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

/// The page of somebody else, with one view of ours within.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_somebody_else_shows_one_view() {
    let site = static_host::serve(page(), "some/where");
    let folder = scratch("somebody-else");
    fs::create_dir_all(&folder).unwrap();
    let link = format!("model=lenet5&board={BOARD}&strategy=resident&embed=run");
    let frame = format!("<iframe width=900 height=700 src=\"{site}#{link}\"></iframe>");
    let page = format!("<!doctype html><link rel=icon href=\"data:,\">{frame}");
    fs::write(folder.join("index.html"), page).unwrap();
    let browser = Browser::start(1440, 900, false).await;
    browser.open(&static_host::serve(folder, "blog")).await;
    browser.client.enter_frame(0).await.unwrap();
    browser.click("sample-0").await;
    browser.text_when("results", |text| !text.is_empty()).await;
    browser.click("run").await;
    let agreement = agreement(&browser).await;
    assert!(agreement.contains("Bit-equal"), "{agreement}");
    assert!(!browser.has("pick-board").await && !browser.has("panel-memory").await);
    let whole = browser.find("whole").await.prop("href").await.unwrap().unwrap();
    assert_eq!(whole, format!("{site}#{}", link.replace("embed", "view")));
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_with_store_images_run_whole_and_sampled() {
    let site = static_host::serve(page(), "p");
    for (strategy, frames) in [("external", 1), ("swap", 1), ("stream", 4)] {
        let browser = Browser::start(390, 844, false).await;
        let link =
            format!("model=lenet5&board={BOARD}&strategy={strategy}&frames={frames}&view=run");
        browser.open(&format!("{site}#{link}")).await;
        browser.click("sample-0").await;
        browser.text_when("results", |text| !text.is_empty()).await;
        browser.click("run").await;
        let whole = agreement(&browser).await;
        assert!(whole.contains("Bit-equal"), "{strategy}: {whole}");
        assert!(frames == 1 || whole.contains("layers of 4 frames"), "{strategy}: {whole}");
        browser.click("mode-sampled").await;
        browser.click("run").await;
        let sampled = browser.text_when("agreement", |text| text.contains("Sampled")).await;
        assert!(sampled.contains("nothing is compared"), "{strategy}: {sampled}");
        assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
        browser.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_stopped_at_once_and_the_next_one_begins() {
    let site = static_host::serve(page(), "p");
    let browser = Browser::start(1440, 900, false).await;
    browser.open(&site).await;
    // 300 million multiply-accumulates.
    let path = scratch("slow-in-page.onnx");
    fs::write(&path, convolutions(32, 64)).unwrap();
    browser.give_file("model-file", &path).await;
    browser.find("verdict").await;
    browser.click("random-input").await;
    browser.text_when("results", |text| !text.is_empty()).await;
    for _ in 0..2 {
        browser.click("run").await;
        browser.text_when("progress", |text| text.contains("instructions")).await;
        browser.click("cancel").await;
        browser.find("cancelled").await;
    }
    assert!(browser.find("run").await.is_enabled().await.unwrap());
    // The same page: only what stands behind the # is another.
    browser.open(&format!("{site}#model=lenet5&board={BOARD}&view=run")).await;
    browser.text_when("results", |text| text.contains("Class")).await;
    browser.click("run").await;
    let agreement = agreement(&browser).await;
    assert!(agreement.contains("Bit-equal"), "{agreement}");
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn page_and_server_count_the_same() {
    let server = Server::start(&[]);
    for board in [BOARD, "stm32f469i-disco", "pico-2"] {
        count_the_same(&server, board, "unicorn").await;
    }
    count_the_same(&Server::start_with_engine("own"), BOARD, "own core").await;
}

/// On the server's Unicorn, on the page's core, and there once more with all that was translated.
/// `engine`: what the server has.
async fn count_the_same(server: &Server, board: &str, engine: &str) {
    let browser = Browser::start(1440, 900, true).await;
    let link = format!("model=fashion-mobilenet&board={board}&view=run");
    browser.open(&format!("{}#{link}", server.address)).await;
    browser.text_when("results", |text| !text.is_empty()).await;
    let mut told = Vec::new();
    for (choice, engine) in [("", engine), ("runs-in-page", "page"), ("", "page")] {
        if !choice.is_empty() {
            browser.click(choice).await;
        }
        browser.click("run").await;
        let by = browser.text_when("emulated-by", |text| text.contains(engine)).await;
        assert!(!by.contains("core, 0 functions"), "nothing is translated: {by}");
        let agreement = agreement(&browser).await;
        assert!(agreement.contains("Bit-equal"), "{engine}: {agreement}");
        let mut facts = vec![agreement];
        for id in ["run-instructions", "run-latency", "run-outside", "run-stack", "layer-checks"] {
            let fact = browser.find(id).await.prop("textContent").await.unwrap().unwrap();
            facts.push(fact);
        }
        told.push(facts);
    }
    assert!(told.iter().all(|facts| *facts == told[0]), "{board}: {told:?}");
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_of_the_board_is_reported_with_its_place() {
    let [built, folder] = ["faulty-firmware", "faulty-page"].map(scratch);
    faulty::lay_out(&built, BOARD);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for entry in fs::read_dir(page()).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "firmware" {
            symlink(entry.path(), folder.join(entry.file_name())).unwrap();
        }
    }
    symlink(built.join("firmware"), folder.join("firmware")).unwrap();
    let site = static_host::serve(folder, "p");
    let browser = Browser::start(1440, 900, true).await;
    browser.open(&site).await;
    browser.click("example-lenet5").await;
    browser.find("verdict").await;
    browser.text_when("results", |text| !text.is_empty()).await;
    browser.click("run").await;
    let fault = browser.text_when("fault", |text| !text.is_empty()).await;
    assert!(fault.contains("pool") && fault.contains("step"), "{fault}");
    let report = browser.find("fault").await.prop("textContent").await.unwrap().unwrap();
    assert!(report.contains("pc") && report.contains("max_pool"), "{report}");
    let agreement = agreement(&browser).await;
    assert!(agreement.contains("stopped with a fault"), "{agreement}");
    browser.end().await;
}

/// Draws a seven.
const SEVEN: &str = "
    const pad = document.querySelector('[data-testid=drawing-pad]');
    const place = pad.getBoundingClientRect();
    const pen = (what, x, y) => pad.dispatchEvent(new PointerEvent(what, {
        bubbles: true, pointerId: 1, clientX: place.left + x, clientY: place.top + y,
    }));
    pen('pointerdown', 60, 40);
    pen('pointermove', 160, 40);
    pen('pointermove', 90, 190);
    pen('pointerup', 90, 190);";

/// Gives a sample as a JPEG file.
const JPEG: &str = "
    const done = arguments[arguments.length - 1];
    const canvas = document.createElement('canvas');
    const sample = document.querySelector('[alt=\"Sample: 2\"]');
    canvas.width = 2 * sample.naturalWidth;
    canvas.height = 2 * sample.naturalHeight;
    canvas.getContext('2d').drawImage(sample, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => {
        const files = new DataTransfer();
        files.items.add(new File([arguments[0] ? blob : 'no picture'], 'two.JPG'));
        const input = document.querySelector('[data-testid=input-file]');
        input.files = files.files;
        input.dispatchEvent(new Event('change', { bubbles: true }));
        done(true);
    }, 'image/jpeg', 0.95);";

#[tokio::test(flavor = "multi_thread")]
async fn inputs_are_drawn_or_given_in_any_format_of_pictures() {
    let site = static_host::serve(page(), "p");
    let browser = Browser::start(1440, 900, false).await;
    browser.open(&format!("{site}#model=lenet5&board={BOARD}&view=run")).await;
    browser.text_when("results", |text| text.contains("Class")).await;
    let best = "return document.querySelector('[data-testid=results] tbody th')?.textContent";
    browser.click("input-draw").await;
    browser.find("drawing-pad").await;
    browser.script(SEVEN, Vec::new()).await;
    browser.until(&format!("{best} === '7'")).await;
    browser.later(JPEG, vec![json!(true)]).await;
    browser.until(&format!("{best} === '2'")).await;
    browser.later(JPEG, vec![json!(false)]).await;
    browser.text_when("trouble", |text| text.contains("two.JPG is no picture")).await;
    // The pad is there for the next stroke, and there is no camera here.
    browser.click("input-camera").await;
    browser.find("no-camera").await;
    browser.click("run").await;
    let agreement = agreement(&browser).await;
    assert!(agreement.contains("Bit-equal"), "{agreement}");
    browser.end().await;
}

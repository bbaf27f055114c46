//! The page in a real browser, with the real server and on a static host.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fantoccini::key::Key;
use serde_json::json;
use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::{dist, project};
use tilewright_tests::onnx_file::{Dim, convolutions, one_node};
use tilewright_tests::server::Server;
use tilewright_tests::static_host;

const WIDE: (u32, u32) = (1440, 900);
const NARROW: (u32, u32) = (390, 844);

fn page() -> PathBuf {
    let page = dist().join("page");
    assert!(page.join("index.html").is_file(), "the page is not built: run `cargo xtask build`");
    page
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn picture(prefix: &str, ending: &str) -> PathBuf {
    let mut files = fs::read_dir(project().join("models/samples")).unwrap();
    files
        .find_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let wanted = name.starts_with(prefix) && name.ends_with(ending);
            wanted.then(|| project().join("models/samples").join(name))
        })
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bundled_model_is_planned_run_verified_and_can_be_downloaded() {
    let server = Server::start(&[]);
    let browser = Browser::start(WIDE.0, WIDE.1, false).await;
    browser.open(&server.address).await;
    browser.click("example-lenet5").await;
    let verdict = browser.find("verdict").await;
    assert_eq!(verdict.attr("data-fits").await.unwrap().as_deref(), Some("true"));
    browser.find("memory-chart").await;
    let layers = browser.text_when("layers", |text| text.contains("conv1")).await;
    let digits: String = layers.chars().filter(char::is_ascii_digit).collect();
    assert!(digits.contains("117600"), "MACs of conv1 are missing: {layers}");
    browser.click("run").await;
    let agreement = browser.text_when("agreement", |text| !text.is_empty()).await;
    assert!(agreement.contains("Bit-equal"), "{agreement}");
    let console = browser.find("console").await;
    assert!(console.prop("textContent").await.unwrap().unwrap().contains("tilewright"));
    for ending in ["elf", "bin", "hex"] {
        let link = browser.find(&format!("download-{ending}")).await;
        assert!(link.attr("download").await.unwrap().is_some(), "{ending}");
    }
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_and_an_own_picture_work_like_the_bundled_ones() {
    let server = Server::start(&[]);
    let browser = Browser::start(WIDE.0, WIDE.1, false).await;
    browser.open(&server.address).await;
    browser.give_file("model-file", &project().join("models/fashion-mobilenet.onnx")).await;
    browser.find("verdict").await;
    browser.give_file("input-file", &picture("fashion-", "trouser.png")).await;
    browser.text_when("results", |text| !text.is_empty()).await;
    browser.click("run").await;
    let agreement = browser.text_when("agreement", |text| !text.is_empty()).await;
    assert!(agreement.contains("Bit-equal"), "{agreement}");
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_static_host_under_a_sub_path_gives_everything() {
    let site = static_host::serve(page(), "some/where");
    let browser = Browser::start(WIDE.0, WIDE.1, false).await;
    browser.open(&site).await;
    browser.click("example-fashion-mobilenet").await;
    browser.find("verdict").await;
    browser.find("memory-chart").await;
    browser.find("download-elf").await;
    browser.text_when("results", |text| !text.is_empty()).await;
    browser.click("run").await;
    let agreement = browser.text_when("agreement", |text| !text.is_empty()).await;
    assert!(agreement.contains("Bit-equal"), "{agreement}");
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn panels_that_did_not_come_are_fetched_again() {
    let folder = scratch("page without panels");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let mut panels = None;
    for entry in fs::read_dir(page()).unwrap().map(Result::unwrap) {
        let (from, to) = (entry.path(), folder.join(entry.file_name()));
        if from.extension().is_some_and(|ending| ending == "wasm")
            && entry.file_name().to_string_lossy().starts_with("panels-")
        {
            panels = Some((from, to));
        } else if from.is_file() {
            fs::copy(from, to).unwrap();
        }
    }
    let browser = Browser::start(WIDE.0, WIDE.1, false).await;
    browser.open(&static_host::serve(folder.clone(), "p")).await;
    browser.find("no-panels").await;
    let model = project().join("models/person-detect.tflite");
    browser.give_file("model-file", &model).await;
    let (from, to) = panels.expect("the page has panels of its own");
    fs::copy(from, to).unwrap();
    browser.click("fetch-panels").await;
    browser.find("verdict").await;
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unsupported_operator_is_named() {
    let site = static_host::serve(page(), "p");
    let browser = Browser::start(WIDE.0, WIDE.1, false).await;
    browser.open(&site).await;
    let fixed = [1, 3, 8, 8].map(Dim::Fixed);
    let path = scratch("unknown-operator.onnx");
    fs::write(&path, one_node("NonMaxSuppression", "head/nms", &fixed)).unwrap();
    browser.give_file("model-file", &path).await;
    let note = browser.text_when("cannot-run", |text| text.contains("NonMaxSuppression")).await;
    assert!(note.contains("head/nms"), "{note}");
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_width_and_no_theme_breaks_the_page() {
    let server = Server::start(&[]);
    let pictures = dist().join("pictures");
    fs::create_dir_all(&pictures).unwrap();
    for (width, height) in [WIDE, NARROW] {
        for dark in [false, true] {
            let browser = Browser::start(width, height, dark).await;
            browser.open(&server.address).await;
            browser.find("drop-zone").await;
            let theme = if dark { "dark" } else { "light" };
            browser.picture(&pictures.join(format!("start-{width}-{theme}.png"))).await;
            browser.click("example-lenet5").await;
            browser.find("verdict").await;
            browser.click("run").await;
            browser.find("agreement").await;
            let script = "return [document.documentElement.scrollWidth, window.innerWidth]";
            let sizes = browser.script(script, Vec::new()).await;
            assert_eq!(sizes, json!([width, width]), "the page is wider than the window");
            browser.script("window.scrollTo(0, 0)", Vec::new()).await;
            browser.picture(&pictures.join(format!("lenet5-{width}-{theme}.png"))).await;
            browser.end().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_and_a_shared_link_show_the_same() {
    let site = static_host::serve(page(), "p");
    let browser = Browser::start(WIDE.0, WIDE.1, false).await;
    browser.open(&site).await;
    browser.click("example-lenet5").await;
    let before = browser.text_when("verdict", |text| !text.is_empty()).await;
    let address = browser.client.current_url().await.unwrap();
    assert!(address.fragment().is_some_and(|state| state.contains("lenet5")), "{address}");
    browser.end().await;
    let browser = Browser::start(WIDE.0, WIDE.1, false).await;
    browser.open(address.as_str()).await;
    let after = browser.text_when("verdict", |text| !text.is_empty()).await;
    assert_eq!(before, after);
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_works_without_its_host_after_the_first_visit() {
    let is_up = Arc::new(AtomicBool::new(true));
    let site = static_host::serve_while(page(), "some/where", Arc::clone(&is_up));
    let browser = Browser::start(WIDE.0, WIDE.1, false).await;
    browser.open(&site).await;
    browser.find("example-lenet5").await;
    let ready = "const done = arguments[arguments.length - 1];
                 navigator.serviceWorker.ready.then((is) => done(is.scope));";
    assert_eq!(browser.later(ready, Vec::new()).await, json!(site));
    is_up.store(false, Ordering::Relaxed);
    let alone = "const done = arguments[arguments.length - 1];
                 fetch('api/health').then(() => done('answered'), () => done('failed'));";
    assert_eq!(browser.later(alone, Vec::new()).await, json!("failed"));
    browser.reload().await;
    browser.click("example-fashion-mobilenet").await;
    browser.find("verdict").await;
    browser.text_when("results", |text| !text.is_empty()).await;
    browser.find("download-elf").await;
    browser.click("run").await;
    let agreement = browser.text_when("agreement", |text| !text.is_empty()).await;
    assert!(agreement.contains("Bit-equal"), "{agreement}");
    let path = scratch("dropped-offline.onnx");
    fs::write(&path, convolutions(3, 16)).unwrap();
    browser.give_file("open-file", &path).await;
    browser.text_when("panel-overview", |text| text.contains("dropped-offline")).await;
    browser.click("random-input").await;
    browser.text_when("results", |text| !text.is_empty()).await;
    // Its output has rows and columns.
    browser.text_when("output-map-words", |text| text.starts_with("Strongest: channel")).await;
    browser.click("run").await;
    let agreement = browser.text_when("agreement", |text| !text.is_empty()).await;
    assert!(agreement.contains("Bit-equal"), "{agreement}");
    let kept = "const done = arguments[arguments.length - 1];
        caches.keys().then((names) => Promise.all(names.map((name) =>
            caches.open(name).then((cache) => cache.keys()))))
            .then((all) => done(all.flat().map((request) => request.url)));";
    let kept = browser.later(kept, Vec::new()).await;
    let kept: Vec<&str> = kept.as_array().unwrap().iter().filter_map(|url| url.as_str()).collect();
    assert!(kept.iter().any(|url| url.ends_with("importer_bg.wasm")), "{kept:?}");
    assert!(!kept.iter().any(|url| url.contains("/api/")), "{kept:?}");
    assert!(!kept.iter().any(|url| url.ends_with("float_bg.wasm")), "nobody used it: {kept:?}");
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_move_the_selection_in_charts() {
    let site = static_host::serve(page(), "p");
    let browser = Browser::start(WIDE.0, WIDE.1, false).await;
    browser.open(&site).await;
    browser.click("example-lenet5").await;
    browser.find("verdict").await;
    browser.find("memory-chart").await;
    browser.press("memory-chart", [Key::Right, Key::Right]).await;
    let said = browser.text_when("status", |text| text.contains("Operator 2 of")).await;
    assert!(said.contains("live"), "{said}");
    let live = "return document.querySelector('[aria-live=polite]').textContent";
    let spoken = browser.script(live, Vec::new()).await;
    assert!(spoken.as_str().unwrap().contains("Operator 2 of"), "{spoken}");
    let outline = "const chart = document.querySelector('[data-testid=memory-chart]');
                   return [document.activeElement === chart, getComputedStyle(chart).outlineStyle]";
    assert_eq!(browser.script(outline, Vec::new()).await, json!([true, "solid"]));
    let lit = "return [...document.querySelectorAll('[data-testid=layers] tr.lit td')]
                   .slice(0, 1).map((cell) => cell.textContent)";
    assert_eq!(browser.script(lit, Vec::new()).await, json!(["1"]), "the table follows");
    browser.press("memory-chart", [Key::Up]).await;
    browser.text_when("memory-readout", |text| text.contains("lives from")).await;
    browser.press("memory-chart", [Key::Escape]).await;
    browser.text_when("status", |text| text.contains("Nothing is selected")).await;
    browser.press("timeline", [Key::End]).await;
    browser.text_when("status", |text| text.contains("Operator")).await;
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn charts_are_saved_as_pictures_in_the_colours_of_the_theme() {
    let site = static_host::serve(page(), "p");
    for (dark, ground) in [(false, json!([255, 255, 255, 255])), (true, json!([24, 28, 32, 255]))] {
        let browser = Browser::start(WIDE.0, WIDE.1, dark).await;
        browser.open(&site).await;
        browser.click("example-lenet5").await;
        browser.find("verdict").await;
        for (what, name) in [
            ("memory", "lenet5-memory.png"),
            ("timeline", "lenet5-resident-schedule.png"),
            ("roofline", "lenet5-roofline.png"),
        ] {
            let button = format!("save-{what}-png");
            let saved = browser.saved_picture(&button).await;
            assert_eq!(saved["name"], json!(name), "{saved}");
            assert_eq!(saved["start"], json!(*b"PNG"), "{saved}");
            assert_eq!(saved["corner"], ground, "{saved}");
            assert!(saved["width"].as_u64().unwrap() > 600, "twice the size on screen: {saved}");
            assert!(saved["colours"].as_u64().unwrap() > 8, "something is drawn: {saved}");
        }
        browser.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn back_leads_to_the_panel_the_setting_and_the_page_before() {
    let site = static_host::serve(page(), "p");
    let browser = Browser::start(1440, 900, false).await;
    browser.open(&site).await;
    browser.click("example-lenet5").await;
    browser.find("verdict").await;
    browser.click("view-memory").await;
    browser.find("panel-memory").await;
    let choose = "const choice = document.querySelector('[data-testid=pick-strategy]');
                  choice.value = 'reordered';
                  choice.dispatchEvent(new Event('change', { bubbles: true }))";
    browser.script(choose, Vec::new()).await;
    let strategy = "return document.querySelector('[data-testid=pick-strategy]').value";
    assert_eq!(browser.script(strategy, Vec::new()).await, json!("reordered"));
    browser.client.back().await.unwrap();
    browser.until(&format!("{strategy} === 'resident'")).await;
    assert!(browser.has("panel-memory").await && !browser.has("panel-layers").await);
    browser.client.back().await.unwrap();
    browser.find("panel-layers").await;
    browser.client.back().await.unwrap();
    browser.find("drop-zone").await;
    browser.client.forward().await.unwrap();
    browser.find("verdict").await;
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

//! The page with files that a person has: open dimensions, files that are no models, and the
//! browser's storage.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::{dist, project};
use tilewright_tests::onnx_file::{Dim, one_node};
use tilewright_tests::static_host;

fn site() -> String {
    static_host::serve(dist().join("page"), "p")
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn written(name: &str, bytes: &[u8]) -> PathBuf {
    let path = scratch(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn own_model() -> PathBuf {
    project().join("models/fashion-mobilenet.onnx")
}

async fn on_the_page() -> Browser {
    let browser = Browser::start(1440, 900, false).await;
    browser.open(&site()).await;
    browser
}

#[tokio::test(flavor = "multi_thread")]
async fn open_dimensions_are_asked_for() {
    let shape = [Dim::Fixed(1), Dim::Fixed(3), Dim::Named("height"), Dim::Named("width")];
    let path = written("open-dimensions.onnx", &one_node("Relu", "relu", &shape));
    let browser = on_the_page().await;
    browser.give_file("model-file", &path).await;
    for (name, size) in [("height", 12), ("width", 20)] {
        browser.find(&format!("dimension-{name}")).await;
        let set = "const input = document.querySelector(`[data-testid='${arguments[0]}']`);
                   input.value = arguments[1];
                   input.dispatchEvent(new Event('input', { bubbles: true }));";
        browser.script(set, vec![json!(format!("dimension-{name}")), json!(size)]).await;
    }
    browser.click("open-dimensions").await;
    browser.find("verdict").await;
    let layers = browser.text_when("layers", |text| text.contains("relu")).await;
    assert!(layers.contains("12×20×3"), "{layers}");
    assert!(!browser.has("dimensions").await);
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_cannot_be_opened_are_explained_and_change_nothing() {
    let browser = on_the_page().await;
    browser.click("example-lenet5").await;
    let before = browser.text_when("verdict", |text| !text.is_empty()).await;
    let model = fs::read(own_model()).unwrap();
    let noise: Vec<u8> =
        (0..50_000u32).map(|i| ((i.wrapping_mul(2_654_435_761)) >> 7) as u8).collect();
    let picture = fs::read(project().join("models/samples/mnist-0-label7.png")).unwrap();
    for (name, bytes) in [
        ("empty-file.onnx", &[][..]),
        ("random-bytes.onnx", &noise),
        ("truncated.onnx", &model[..model.len() / 2]),
        ("notes.txt", b"These are notes, not a network."),
        ("a-picture.onnx", &picture),
        ("archive.zip", b"PK\x03\x04 and nothing else"),
    ] {
        browser.give_file("open-file", &written(name, bytes)).await;
        let trouble = browser.text_when("trouble", |text| text.contains(name)).await;
        assert!(trouble.lines().count() >= 3, "what, why and what to do: {trouble}");
        assert_eq!(browser.text_when("verdict", |_| true).await, before, "after {name}");
    }
    let large = scratch("one-gibibyte.onnx");
    fs::File::create(&large).unwrap().set_len(1 << 30).unwrap();
    browser.give_file("open-file", &large).await;
    let trouble = browser.text_when("trouble", |text| text.contains("one-gibibyte")).await;
    assert!(trouble.contains("Nothing of it was read"), "{trouble}");
    fs::remove_file(&large).unwrap();
    let pair = [own_model(), project().join("models/lenet5.onnx")];
    let pair: Vec<_> = pair.iter().map(|path| path.canonicalize().unwrap()).collect();
    browser.give_files("open-file", &[&pair[0], &pair[1]]).await;
    let trouble = browser.text_when("trouble", |text| text.contains("2 models at once")).await;
    assert!(trouble.contains("lenet5.onnx"), "{trouble}");
    assert_eq!(browser.text_when("verdict", |_| true).await, before);
    browser.find("timeline").await;
    browser.end().await;
}

async fn is_kept(browser: &Browser) -> bool {
    let kept = browser.find("keeping").await.attr("data-kept").await.unwrap();
    kept.as_deref() == Some("true")
}

async fn keep(browser: &Browser) {
    browser.click("keep").await;
    browser.text_when("keeping", |text| text.contains("opens it again")).await;
    assert!(is_kept(browser).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_own_model_survives_a_reload_if_the_person_allows_it() {
    let browser = on_the_page().await;
    browser.give_file("model-file", &own_model()).await;
    let before = browser.text_when("verdict", |text| !text.is_empty()).await;
    assert!(!is_kept(&browser).await, "nothing is kept unasked");
    browser.reload().await;
    let wanted = browser.text_when("wanted", |text| text.contains("sha256:")).await;
    assert!(wanted.contains("fashion-mobilenet.onnx (") && wanted.contains(" B)"), "{wanted}");

    browser.give_file("model-file", &own_model()).await;
    browser.find("verdict").await;
    keep(&browser).await;
    browser.reload().await;
    assert_eq!(browser.text_when("verdict", |text| !text.is_empty()).await, before);
    assert!(is_kept(&browser).await);

    browser.click("keep").await;
    browser.text_when("keeping", |text| text.contains("asks for the file again")).await;
    browser.reload().await;
    browser.find("wanted").await;
    assert!(!browser.has("stored").await && !browser.has("verdict").await);
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_start_offers_what_is_kept_and_forgets_it() {
    let site = site();
    let browser = Browser::start(390, 844, true).await;
    browser.open(&site).await;
    browser.give_file("model-file", &own_model()).await;
    browser.find("verdict").await;
    keep(&browser).await;
    for click in ["open-stored", "forget"] {
        browser.open("about:blank").await;
        browser.open(&site).await;
        browser.text_when("stored", |text| text.contains("fashion-mobilenet.onnx")).await;
        browser.click(click).await;
        if click == "open-stored" {
            browser.find("verdict").await;
        }
    }
    browser.text_when("status", |text| text.contains("keeps no model")).await;
    assert!(!browser.has("stored").await);
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_stores_nothing_says_so_and_loses_nothing() {
    let full = "IDBObjectStore.prototype.put = () => {
        throw new DOMException('no room', 'QuotaExceededError');
    };";
    let denied = "Object.defineProperty(window, 'indexedDB', { get() {
        throw new DOMException('It is denied.', 'SecurityError');
    } });";
    for (script, reason) in [(full, "has no room"), (denied, "Private windows")] {
        let browser = on_the_page().await;
        browser.give_file("model-file", &own_model()).await;
        browser.find("verdict").await;
        browser.script(script, Vec::new()).await;
        browser.click("keep").await;
        let problem = browser.text_when("keep-problem", |text| !text.is_empty()).await;
        assert!(problem.contains(reason) && problem.contains("stays open"), "{problem}");
        assert!(browser.has("verdict").await && !is_kept(&browser).await);
        browser.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_to_an_address_opens_what_lies_there_once_the_person_agrees() {
    let browser = Browser::start(1440, 900, false).await;
    let models = own_model().parent().unwrap().to_owned();
    let open = static_host::serve_to_others(models.clone(), "models");
    let closed = static_host::serve(models, "models");
    let page = site();
    for (host, name, answer) in [
        (&closed, "fashion-mobilenet.onnx", "does not let this page read"),
        (&open, "nothing.onnx", "the host answers 404"),
    ] {
        browser.open("about:blank").await;
        browser.open(&format!("{page}#model={host}{name}")).await;
        browser.text_when("wanted", |text| text.contains(name)).await;
        browser.click("fetch-model").await;
        browser.text_when("trouble", |text| text.contains(answer)).await;
    }
    let link = format!("{page}#model={open}fashion-mobilenet.onnx&strategy=resident&view=overview");
    for _ in 0..2 {
        browser.open("about:blank").await;
        browser.open(&link).await;
        assert!(!browser.has("verdict").await, "nothing is fetched unasked");
        browser.click("fetch-model").await;
        browser.find("verdict").await;
        let address = browser.client.current_url().await.unwrap();
        let decoded = address.as_str().replace("%2F", "/");
        assert!(decoded.contains(&format!("model={open}fashion-mobilenet.onnx")), "{decoded}");
    }
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn class_names_and_the_range_of_pixels_are_what_the_person_says() {
    let browser = on_the_page().await;
    let names: Vec<String> = (0..10).map(|class| format!("{class} thing{class}")).collect();
    let names = written("labels.txt", names.join("\n").as_bytes());
    browser.give_files("model-file", &[&names, &own_model()]).await;
    browser.find("verdict").await;
    browser.click("view-run").await;
    let picture = project().join("models/samples/fashion-2-trouser.png");
    browser.give_file("input-file", &picture).await;
    let results = browser.text_when("results", |text| text.contains("thing")).await;
    assert!(!results.contains("Trouser"), "{results}");

    browser.click("view-quantisation").await;
    browser.find("pick-pixels").await;
    let choose = "const choice = document.querySelector('[data-testid=pick-pixels]');
        choice.value = '-1..1';
        choice.dispatchEvent(new Event('change', { bubbles: true }));";
    browser.script(choose, Vec::new()).await;
    browser.until("return location.hash.includes('pixels=-1..1')").await;
    browser
        .until("return document.querySelector('[data-testid=quantise]').dataset.busy === 'false'")
        .await;
    let pixels = "return document.querySelector('[data-testid=pick-pixels]').value";
    assert_eq!(browser.script(pixels, Vec::new()).await, json!("-1..1"));
    // The names are still there with the model that was quantised anew.
    browser.click("view-run").await;
    browser.give_file("input-file", &picture).await;
    browser.text_when("results", |text| text.contains("thing")).await;
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

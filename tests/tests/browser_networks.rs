//! Networks of the zoo on the page, what a model is made of, and how it becomes int8.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;

use serde_json::json;
use tilewright_frontend::view_model::figures::grouped;
use tilewright_frontend::view_model::float::DOWNLOAD_MB;
use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::{dist, project};
use tilewright_tests::server::Server;
use tilewright_tests::static_host;

async fn on(site: &str) -> Browser {
    let browser = Browser::start(1440, 900, false).await;
    browser.open(site).await;
    browser
}

/// Gives an input or a choice its value, as a hand would.
async fn set(browser: &Browser, id: &str, value: &str) {
    browser.find(id).await;
    let set = "const input = document.querySelector(`[data-testid='${arguments[0]}']`);
               input.value = arguments[1];
               for (const type of ['input', 'change']) {
                   input.dispatchEvent(new Event(type, { bubbles: true }));
               }";
    browser.script(set, vec![json!(id), json!(value)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_is_chosen_by_family_and_size_and_a_reload_keeps_it() {
    let browser = on(&static_host::serve(dist().join("page"), "some/where")).await;
    browser.click("open-zoo").await;
    let list = browser.text_when("zoo-list", |text| text.contains("mobilenet-v2")).await;
    for name in ["vgg16", "nasnet-mobile", "mcunet-in0", "MACs"] {
        assert!(list.contains(name), "{name}: {list}");
    }
    browser.click("zoo-mobilenet-v2").await;
    let published = browser.text_when("zoo-size", |text| text.contains("Published")).await;
    assert!(published.contains("parameters (ours"), "{published}");
    set(&browser, "zoo-width", "0.35").await;
    set(&browser, "zoo-resolution", "96").await;
    let name = "mobilenet-v2-w0.35-r96";
    let size = browser.text_when("zoo-size", |text| text.contains("96×96×3")).await;
    assert!(size.contains(name), "{size}");
    browser.click("zoo-open").await;
    let verdict = browser.text_when("verdict", |text| text.contains(name)).await;
    let address = browser.client.current_url().await.unwrap();
    assert!(address.fragment().unwrap().contains(&format!("zoo:{name}")), "{address}");
    let macs = browser.text_when("model-macs", |text| !text.is_empty()).await;
    browser.reload().await;
    assert_eq!(browser.text_when("verdict", |text| !text.is_empty()).await, verdict);
    assert_eq!(browser.text_when("model-macs", |text| !text.is_empty()).await, macs);
    let kinds = browser.text_when("kinds", |text| text.contains("DepthwiseConv2D")).await;
    assert!(kinds.contains("Conv2D") && kinds.contains('%'), "{kinds}");
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_without_a_publication_say_so() {
    let browser = on(&static_host::serve(dist().join("page"), "p")).await;
    browser.click("open-zoo").await;
    let list = browser.text_when("zoo-list", |text| text.contains("no publication")).await;
    assert!(list.contains("lenet5"), "{list}");
    browser.click("zoo-close").await;
    let is_open = "return document.querySelector('[data-testid=zoo]').open";
    assert_eq!(browser.script(is_open, Vec::new()).await, json!(false));
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_runs_on_a_made_up_input_and_one_too_large_says_so() {
    let server = Server::start(&[]);
    let browser = on(&format!("{}/#model=zoo:ds-cnn", server.address)).await;
    browser.find("verdict").await;
    browser.click("random-input").await;
    browser.text_when("results", |text| !text.is_empty()).await;
    browser.click("run").await;
    let agreement = browser.text_when("agreement", |text| !text.is_empty()).await;
    assert!(agreement.contains("Bit-equal"), "{agreement}");
    browser.find("seeded").await;
    browser.end().await;
    let link = format!("{}/#model=zoo:vgg16&strategy=resident", server.address);
    let browser = on(&link).await;
    let verdict = browser.find("verdict").await;
    assert_eq!(verdict.attr("data-fits").await.unwrap().as_deref(), Some("false"));
    let why = browser.text_when("nothing-to-run", |text| !text.is_empty()).await;
    assert!(why.contains("does not fit"), "{why}");
    let weights = browser.text_when("model-weights", |text| !text.is_empty()).await;
    assert!(weights.contains("132 MiB"), "{weights}");
    browser.end().await;
    // Whoever names no strategy gets one that fits.
    let link = format!("{}/#model=zoo:mobilenet-v2-w0.35-r96", server.address);
    let browser = on(&link).await;
    let verdict = browser.text_when("verdict", |text| text.contains(" fits ")).await;
    assert!(verdict.contains(" in ") && verdict.contains(" ms, with "), "{verdict}");
    let address = browser.client.current_url().await.unwrap();
    assert!(address.as_str().contains("strategy=auto"), "{address}");
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_calibration_makes_another_model_and_that_is_what_runs() {
    let server = Server::start(&[]);
    let browser = on(&format!("{}/#model=lenet5", server.address)).await;
    browser.find("verdict").await;
    let download = "return document.querySelector('[data-testid=download-bin]')?.href ?? ''";
    browser.find("download-bin").await;
    let before = browser.script(download, Vec::new()).await;
    set(&browser, "pick-rule", "mse").await;
    browser.text_when("quantised-how", |text| text.contains("by mse on")).await;
    let address = browser.client.current_url().await.unwrap();
    assert!(address.fragment().unwrap().contains("calibration=mse"), "{address}");
    browser.find("download-bin").await;
    assert_ne!(browser.script(download, Vec::new()).await, before);
    browser.click("examine").await;
    let said = browser.text_when("quantisation-summary", |text| !text.is_empty()).await;
    assert!(said.contains("Calibrated by mse") && said.contains("costs most"), "{said}");
    let table = browser.text_when("quantisation", |text| text.contains("dB")).await;
    assert!(table.contains("conv1") && table.contains('%'), "{table}");
    browser.find("sensitivity").await;
    let first = "document.querySelectorAll('[data-testid=quantisation] th button')[7].click();
                 return new Promise((done) => setTimeout(() => done(
                     document.querySelector('[data-testid=quantisation] th[aria-sort=ascending]')
                         .textContent), 100))";
    let sorted = browser.script(first, Vec::new()).await;
    assert!(sorted.as_str().unwrap().contains("alone"), "{sorted}");
    browser.text_when("results", |text| !text.is_empty()).await;
    browser.click("run").await;
    let agreement = browser.text_when("agreement", |text| !text.is_empty()).await;
    assert!(agreement.contains("Bit-equal"), "{agreement}");
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_fetches_what_compares_with_the_float_model() {
    let page = dist().join("page");
    let size = fs::metadata(page.join("float_bg.wasm.gz")).unwrap().len() as f64 / 1e6;
    let browser = on(&static_host::serve(page, "p")).await;
    browser.click("example-lenet5").await;
    browser.find("compare-float").await;
    let fetched = "return performance.getEntriesByType('resource')
                       .filter((entry) => entry.name.includes('float')).length";
    assert_eq!(browser.script(fetched, Vec::new()).await, json!(0), "before anybody asked");
    assert!(size <= DOWNLOAD_MB && size > DOWNLOAD_MB - 1.0, "{size} MB, said {DOWNLOAD_MB} MB");
    browser.click("compare-float").await;
    let verdicts = browser.text_when("float-verdicts", |text| !text.is_empty()).await;
    assert!(
        verdicts.contains("importer is right") && verdicts.contains("no layer loses"),
        "{verdicts}"
    );
    let outputs = browser.text_when("float-outputs", |text| text.contains("dB")).await;
    assert!(outputs.contains("probabilities") && outputs.contains("100 % of 8"), "{outputs}");
    let summary = browser.text_when("float-summary", |text| !text.is_empty()).await;
    assert!(summary.contains("tract-onnx"), "{summary}");
    let layers = browser.text_when("float-layers", |text| text.contains("dB")).await;
    assert!(layers.contains("conv1"), "{layers}");
    browser.find("float-chart").await;
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn own_samples_calibrate_and_what_holds_none_is_refused() {
    let browser = on(&static_host::serve(dist().join("page"), "p")).await;
    browser.click("example-lenet5").await;
    browser.find("quantise").await;
    let pictures: Vec<_> = fs::read_dir(project().join("models/samples"))
        .unwrap()
        .map(|entry| entry.unwrap().path().canonicalize().unwrap())
        .filter(|path| path.to_str().unwrap().contains("mnist"))
        .collect();
    let paths: Vec<&std::path::Path> = pictures.iter().map(std::path::PathBuf::as_path).collect();
    browser.give_files("samples-file", &paths[..4]).await;
    browser.text_when("quantised-how", |text| text.contains("on 4 samples")).await;
    browser.give_file("samples-file", &project().join("models/lenet5.calibration.npy")).await;
    browser.text_when("quantised-how", |text| !text.contains("on 4 samples")).await;
    browser.click("samples-random").await;
    browser.text_when("quantised-how", |text| text.contains("made-up")).await;
    let wrong = project().join("models/fashion-mobilenet.calibration.npy");
    browser.give_file("samples-file", &wrong).await;
    let trouble = browser.text_when("trouble", |text| text.contains("28×28")).await;
    assert!(trouble.contains("32×32") && trouble.contains("28×28"), "{trouble}");
    browser.text_when("quantised-how", |text| text.contains("made-up")).await;
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cells_are_searched_stopped_gone_on_with_and_edited() {
    let browser = on(&static_host::serve(dist().join("page"), "p")).await;
    browser.click("open-zoo").await;
    browser.click("open-cells").await;
    browser.text_when("cells-size", |text| text.contains("MACs")).await;
    browser.click("cells-search").await;
    set(&browser, "zoo-search-logged", "3").await;
    browser.text_when("search-logged", |text| text.contains("Γ = 0.04")).await;
    browser.click("search-edit").await;
    let cost = browser.text_when("cells-cost", |text| text.contains(&grouped(270_336))).await;
    assert!(cost.contains(&grouped(184_320)) && cost.contains(&grouped(86_016)), "{cost}");

    browser.click("cells-search").await;
    let fetched = "return performance.getEntriesByType('resource')
                       .filter((entry) => entry.name.includes('search')).length";
    assert_eq!(browser.script(fetched, Vec::new()).await, json!(0), "before anybody asked");
    for (what, value) in [("cells", "3"), ("channels", "2"), ("steps", "40")] {
        set(&browser, &format!("zoo-search-{what}"), value).await;
    }
    browser.click("search-begin").await;
    browser.text_when("search-progress", |text| !text.contains("Step 0 of 40")).await;
    browser.click("search-stop").await;
    browser.text_when("search-progress", |text| text.contains("Stopped")).await;
    browser.click("search-go-on").await;
    browser.text_when("search-progress", |text| text.contains("Step 40 of 40")).await;
    let images = browser.text_when("search-here", |text| text.contains("128 images")).await;
    assert!(images.contains("Search anew"), "{images}");

    let picture = project().join("models/samples/mnist-0-label7.png");
    browser.give_file("images-files", &picture).await;
    browser.text_when("images", |text| text.contains("mnist-0")).await;
    browser.click("search-begin").await;
    let trouble = browser.text_when("trouble", |text| text.contains("no labelled images")).await;
    assert!(trouble.contains("array is wrong"), "{trouble}");
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cells_are_made_and_open_as_the_file_that_their_text_is() {
    let browser = on(&static_host::serve(dist().join("page"), "p")).await;
    browser.click("open-zoo").await;
    browser.click("open-cells").await;
    let text = "return document.querySelector('[data-testid=cells-text]')?.value ?? ''";
    browser.text_when("cells-size", |text| text.contains("MACs")).await;
    let before = browser.text_when("cells-cost", |text| text.contains("Both")).await;
    set(&browser, "cells-normal-2-0-operation", "3").await;
    let cost = browser.text_when("cells-cost", |text| *text != *before).await;
    assert!(cost.contains("modelled"), "{cost}");
    set(&browser, "zoo-made-cells", "3").await;
    set(&browser, "zoo-made-channels", "8").await;
    let fresh = "return document.querySelector('[data-testid=cells-result]').dataset.stale";
    while browser.script(fresh, Vec::new()).await != json!("false") {}
    let text = browser.script(text, Vec::new()).await;
    let text = text.as_str().unwrap();
    assert!(text.contains("cells 3\nchannels 8\n"), "{text}");
    assert!(text.contains("normal=[('skip_connect', 0)"), "{text}");
    browser.click("cells-open").await;
    browser.text_when("verdict", |text| text.contains("cells-r32-c8-n3")).await;
    let address = browser.client.current_url().await.unwrap();
    assert!(address.fragment().unwrap().contains("sha256"), "{address}");
    browser.find("seeded").await;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cells.txt");
    fs::write(&path, text.replace("cells 3", "cells 5")).unwrap();
    browser.give_file("open-file", &path).await;
    browser.text_when("verdict", |text| text.contains("cells-r32-c8-n5")).await;
    fs::write(&path, "Dear diary").unwrap();
    browser.give_file("open-file", &path).await;
    let trouble = browser.text_when("trouble", |text| text.contains("Genotype(")).await;
    assert!(trouble.contains("Line 1"), "{trouble}");
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn papers_figures_are_computed_part_by_part_and_open_their_plans() {
    let browser = on(&static_host::serve(dist().join("page"), "some/where")).await;
    browser.click("open-papers").await;
    browser.text_when("papers", |text| text.contains("18 printed figures")).await;
    browser.click("paper-ping-pong").await;
    let text = browser.text_when("papers", |text| text.contains("3 printed figures")).await;
    assert!(text.contains("LeNet-5") && text.contains("+0.0 %"), "{text}");
    browser.click("paper-swapnn").await;
    let text = browser.text_when("papers", |text| text.contains("85 printed figures")).await;
    assert!(text.to_lowercase().contains("table 1") && text.contains("tilewright papers swapnn"));
    // The plan that a figure is of opens by its link.
    browser.click("paper-ping-pong").await;
    browser.text_when("papers", |text| text.contains("3 printed figures")).await;
    let link = "return document.querySelector('[data-testid=paper-figures] a').href";
    let link = browser.script(link, Vec::new()).await;
    browser.open(link.as_str().unwrap()).await;
    browser.reload().await;
    browser.text_when("verdict", |text| text.contains("lenet5")).await;
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

//! The graph of operators: keys, search, links to the other views, pictures, large networks.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::Path;

use fantoccini::key::Key;
use serde_json::json;
use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::dist;
use tilewright_tests::onnx_file::{Dim, one_node};
use tilewright_tests::static_host;

async fn showing(link: &str) -> Browser {
    let browser = Browser::start(1440, 900, false).await;
    let site = static_host::serve(dist().join("page"), "p");
    browser.open(&format!("{site}#{link}")).await;
    browser.find("graph").await;
    browser
}

/// Names of the table's rows that are lit.
async fn lit(browser: &Browser) -> serde_json::Value {
    let lit = "return [...document.querySelectorAll('[data-testid=layers] tr.lit th')]
                   .map((cell) => cell.textContent)";
    browser.script(lit, Vec::new()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_search_reach_every_node_and_all_views_follow() {
    let browser = showing("model=lenet5").await;
    browser.find("layers").await;
    browser.press("graph", [Key::Home]).await;
    browser.text_when("status", |text| text.contains("Input")).await;
    browser.press("graph", [Key::Down]).await;
    let said = browser.text_when("status", |text| text.contains("Conv2D")).await;
    assert!(said.contains("MACs") && said.contains("Kernel conv"), "{said}");
    assert_eq!(lit(&browser).await, json!(["conv1"]), "the table follows");
    let details = browser.text_when("graph-details", |text| text.contains("conv1")).await;
    for part in ["32×32×1 → 28×28×6", "MACs", "117\u{202f}600", "Time (modelled)"] {
        assert!(details.contains(part), "{part}: {details}");
    }
    let search = browser.find("graph-search").await;
    search.send_keys("fullyconnected 84").await.unwrap();
    browser.text_when("graph-found", |text| text.contains("2 nodes")).await;
    browser.press("graph-search", [Key::Down, Key::Enter]).await;
    let details = browser.text_when("graph-details", |text| text.contains("84 → 10")).await;
    assert!(details.contains("FullyConnected"), "{details}");
    assert!(!browser.has("graph-found").await, "the list closes");
    // Back from another view.
    let choose = "document.querySelectorAll('[data-testid=layers] tbody tr')[1].click()";
    browser.script(choose, Vec::new()).await;
    browser.text_when("graph-details", |text| text.contains("MaxPool2D")).await;
    browser.press("graph", [Key::Escape]).await;
    assert_eq!(lit(&browser).await, json!([]));
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

/// Gives the middle of a node's place on the screen: the graph is one column of nodes.
const COLOURS: &str = "
    const canvas = document.querySelector('[data-testid=graph] canvas');
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    return [new Set(new Uint32Array(data.buffer)).size, canvas.width, canvas.height];";

#[tokio::test(flavor = "multi_thread")]
async fn the_graph_is_drawn_moved_and_saved() {
    let browser = showing("model=fashion-mobilenet&view=graph").await;
    browser.text_when("graph-details", |text| !text.is_empty()).await;
    let drawn = browser.script(COLOURS, Vec::new()).await;
    assert!(drawn[0].as_u64().unwrap() > 20, "names and colours are drawn: {drawn}");
    // Pointing down the middle of the sheet meets a node, whose figures are shown.
    let point = "
        const frame = document.querySelector('[data-testid=graph]');
        const box = frame.getBoundingClientRect();
        frame.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, pointerId: 1,
            clientX: box.left + box.width / 2, clientY: box.top + box.height * arguments[0] }));
        return true;";
    browser.click("graph-fit").await;
    let mut details = String::new();
    for place in 1..100 {
        browser.script(point, vec![json!(f64::from(place) / 100.0)]).await;
        tokio::time::sleep(std::time::Duration::from_millis(30)).await;
        details = browser.find("graph-details").await.text().await.unwrap();
        if !details.contains("Point at") {
            break;
        }
    }
    assert!(details.contains("Shape"), "{details}");
    let saved = browser.saved_picture("save-graph-png").await;
    assert_eq!(saved["name"], json!("fashion-mobilenet-graph.png"), "{saved}");
    assert!(saved["colours"].as_u64().unwrap() > 8, "something is drawn: {saved}");
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_without_a_kernel_is_shown_named_and_found() {
    let browser = Browser::start(1440, 900, false).await;
    browser.open(&static_host::serve(dist().join("page"), "p")).await;
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-kernel.onnx");
    let shape = [1, 3, 8, 8].map(Dim::Fixed);
    fs::write(&path, one_node("NonMaxSuppression", "head/nms", &shape)).unwrap();
    browser.give_file("model-file", &path).await;
    browser.text_when("cannot-run", |text| text.contains("head/nms")).await;
    browser.find("graph").await;
    browser.find("graph-search").await.send_keys("no kernel").await.unwrap();
    browser.text_when("graph-found", |text| text == "1 node").await;
    browser.press("graph-search", [Key::Enter]).await;
    let details = browser.text_when("graph-details", |text| text.contains("no kernel")).await;
    assert!(details.contains("head/nms") && details.contains("NonMaxSuppression"), "{details}");
    let kinds = browser.text_when("kinds", |text| !text.is_empty()).await;
    assert!(kinds.contains("no kernel"), "{kinds}");
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_of_hundreds_of_operators_is_drawn_and_searched() {
    let browser = showing("model=zoo:nasnet-mobile&view=graph").await;
    let drawn = browser.script(COLOURS, Vec::new()).await;
    assert!(drawn[0].as_u64().unwrap() > 20, "{drawn}");
    browser.find("graph-search").await.send_keys("depthwiseconv2d 5x5").await.unwrap();
    let found = browser.text_when("graph-found", |text| text.contains("nodes")).await;
    let count: usize = found.split(' ').next().unwrap().parse().unwrap();
    assert!(count > 20, "{found}");
    browser.press("graph-search", [Key::Enter]).await;
    browser.text_when("graph-details", |text| text.contains("5×5")).await;
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

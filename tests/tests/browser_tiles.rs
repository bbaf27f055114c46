//! Layers in tiles and pruned weights: what a tile is made from lights up, and a slider makes the plan smaller.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fantoccini::actions::{InputSource, MouseActions, PointerAction};
use fantoccini::key::Key;
use serde_json::{Value, json};
use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::dist;
use tilewright_tests::server::Server;
use tilewright_tests::static_host;

const BOARD: &str = "stm32f746g-disco";

/// What is lit up of each feature map: its place, rows and columns.
const FIELDS: &str = "
    return [...document.querySelectorAll('[data-testid^=field-]')].map((path) =>
        [path.dataset.testid, path.dataset.rows, path.dataset.columns]);";

async fn fields(browser: &Browser) -> Vec<(String, String, String)> {
    serde_json::from_value(browser.script(FIELDS, Vec::new()).await).unwrap()
}

fn interval(text: &str) -> (u32, u32) {
    let (start, end) = text.split_once("..").unwrap();
    (start.parse().unwrap(), end.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tile_that_is_hovered_lights_up_all_that_it_is_made_from() {
    let browser = Browser::start(1440, 900, false).await;
    let site = static_host::serve(dist().join("page"), "p");
    let link = format!("model=fashion-mobilenet&board={BOARD}&strategy=reordered&tiles=2x2");
    browser.open(&format!("{site}#{link}&view=tiles")).await;
    let said = browser.text_when("tiles-summary", |text| text.contains("2 × 2 tiles")).await;
    assert!(said.contains("MACs again"), "{said}");
    assert!(fields(&browser).await.is_empty(), "nothing is pointed at");
    let maps = "return document.querySelectorAll('[data-testid^=tile-map-]').length";
    let maps = browser.script(maps, Vec::new()).await.as_u64().unwrap();
    assert!(maps > 4, "{maps} maps");
    let last = maps - 1;
    let cell = browser.find(&format!("tile-{last}-3")).await;
    let hover = PointerAction::MoveToElement { element: cell, duration: None, x: 0.0, y: 0.0 };
    let hover = MouseActions::new("mouse".to_owned()).then(hover);
    browser.client.perform_actions(hover).await.unwrap();
    let caption = browser.text_when("tile-caption", |text| text.contains("Tile 2, 2 of")).await;
    for part in ["rows", "columns", "of the input", "neighbours make too", "counted"] {
        assert!(caption.contains(part), "{part}: {caption}");
    }
    // One box a map, back to the input; each as large as what is made from it, or larger.
    let lit = fields(&browser).await;
    assert_eq!(lit.len() as u64, maps, "{lit:?}");
    let ends: Vec<_> = lit.iter().map(|(_, rows, _)| interval(rows)).collect();
    assert!(ends.iter().all(|(start, end)| start < end && *start > 0), "{lit:?}");
    let halo = "return Number(document.querySelector('[data-testid=halo-0]').dataset.pixels)";
    assert!(browser.script(halo, Vec::new()).await.as_u64().unwrap() > 0, "neighbours read too");
    // Keys go on from there, in an earlier layer: its tile is made from less, and layers behind it stay dark.
    browser.press("tile-map-1", [Key::Up, Key::Left]).await;
    browser.text_when("tile-caption", |text| text.contains("Tile 1, 1 of")).await;
    let lit = fields(&browser).await;
    assert_eq!(lit.iter().map(|(id, ..)| id.as_str()).collect::<Vec<_>>(), ["field-0", "field-1"]);
    // The graph is the one that is planned, until the given one is asked for.
    browser.click("view-graph").await;
    let words = "return document.querySelector('[data-testid=graph]').getAttribute('aria-label')";
    let operators = async || -> u64 {
        let text = browser.script(words, Vec::new()).await;
        text.as_str().unwrap().split(' ').next().unwrap().parse().unwrap()
    };
    let tiled = operators().await;
    browser.click("graph-whole").await;
    let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while operators().await >= tiled {
        assert!(std::time::Instant::now() < until, "{tiled} operators still");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

/// Moves the slider to so many percent, in one drag.
const DRAG: &str = "
    const slider = document.querySelector('[data-testid=pick-sparsity]');
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
    for (const part of [0.3, 0.6, 1]) {
        set.call(slider, String(Math.round(arguments[0] * part)));
        slider.dispatchEvent(new Event('input', { bubbles: true }));
    }
    slider.dispatchEvent(new Event('change', { bubbles: true }));";

const FLASH: &str =
    "return Number(document.querySelector('[data-testid=sparsity-flash]').dataset.bytes)";

#[tokio::test(flavor = "multi_thread")]
async fn the_sparsity_slider_makes_the_plan_smaller_and_the_pruned_model_runs() {
    let server = Server::start(&[]);
    let browser = Browser::start(1440, 900, false).await;
    let link = format!("model=fashion-mobilenet&board={BOARD}&strategy=resident");
    browser.open(&format!("{}#{link}&view=sparsity", server.address)).await;
    browser.find("sparsity-flash").await;
    let dense = browser.script(FLASH, Vec::new()).await.as_u64().unwrap();
    assert!(!browser.has("sparsity-accuracy").await && !browser.has("sparsity-table").await);
    browser.script(DRAG, vec![json!(80)]).await;
    browser.text_when("sparsity-how", |text| text.contains("80 %")).await;
    let chosen = browser.text_when("sparsity-summary", |text| text.contains("without")).await;
    assert!(chosen.contains("of the weights are zero"), "{chosen}");
    let pruned = browser.script(FLASH, Vec::new()).await.as_u64().unwrap();
    assert!(pruned < dense, "{pruned} bytes of flash, {dense} before");
    let table = browser.find("sparsity-table").await.text().await.unwrap();
    assert!(table.contains("sparse") && table.contains("modelled"), "{table}");
    let accuracy = browser.find("sparsity-accuracy").await.text().await.unwrap();
    assert!(accuracy.contains("not known here") && accuracy.contains("fine_tune.py"), "{accuracy}");
    let address = browser.script("return location.hash", Vec::new()).await;
    assert!(address.as_str().unwrap().contains("sparsity=800"), "{address}");
    // What runs is what was planned: bit-equal to the reference of the pruned model.
    browser.click("view-run").await;
    browser.click("sample-0").await;
    browser.text_when("results", |text| !text.is_empty()).await;
    browser.click("run").await;
    let agreement = browser.text_when("agreement", |text| !text.is_empty()).await;
    assert!(agreement.contains("Bit-equal"), "{agreement}");
    // A link leads there again, and back to all weights.
    browser.reload().await;
    browser.click("view-sparsity").await;
    browser.text_when("sparsity-how", |text| text.contains("80 %")).await;
    let again: Value = browser.script(FLASH, Vec::new()).await;
    assert_eq!(again, json!(pruned));
    browser.script(DRAG, vec![json!(0)]).await;
    browser.text_when("sparsity-how", |text| text.contains("No weight is pruned")).await;
    browser.text_when("sparsity-flash", |_| true).await;
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

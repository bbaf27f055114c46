//! Early exits on the page: chosen, told, and run.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use serde_json::json;
use tilewright_tests::browser::Browser;
use tilewright_tests::server::Server;

const NETWORK: &str = "zoo:mobilenet-v3-thesis-exits-w0.1-r48";

/// Chooses a word of a list as a person does.
const CHOOSE: &str = "const [id, word] = arguments;
    const choice = document.querySelector(`[data-testid=${id}]`);
    choice.value = word;
    choice.dispatchEvent(new Event('change', { bubbles: true }));";

#[tokio::test(flavor = "multi_thread")]
async fn a_sub_network_is_chosen_and_runs_bit_equal() {
    let server = Server::start(&[]);
    let browser = Browser::start(1440, 1000, false).await;
    let link = format!("model={NETWORK}&board=nucleo-f767zi&strategy=resident&view=overview");
    browser.open(&format!("{}#{link}", server.address)).await;
    browser.find("verdict").await;
    assert!(!browser.has("exits").await, "nobody has asked for exits");
    browser.script(CHOOSE, vec![json!("pick-exits"), json!("latency")]).await;
    let told = browser.text_when("exits", |text| text.contains("softmax_108")).await;
    assert!(told.contains("modelled") && told.contains("counted"), "{told}");
    browser.click("view-run").await;
    browser.click("random-input").await;
    browser.text_when("results", |text| !text.is_empty()).await;
    browser.script(CHOOSE, vec![json!("pick-subnetwork"), json!("exit9/softmax_50")]).await;
    browser.click("run").await;
    let agreement = browser.text_when("agreement", |text| !text.is_empty()).await;
    assert!(agreement.contains("Bit-equal"), "{agreement}");
    let results = browser.text_when("results", |text| !text.is_empty()).await;
    assert!(!results.contains("differs"), "what was left out is no difference: {results}");
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exit_by_confidence_ends_the_run_on_a_small_screen() {
    let server = Server::start(&[]);
    let browser = Browser::start(390, 844, true).await;
    let link = format!("model={NETWORK}&board=stm32f746g-disco&strategy=swap&exits=0.002&view=run");
    browser.open(&format!("{}#{link}", server.address)).await;
    browser.click("random-input").await;
    browser.text_when("results", |text| !text.is_empty()).await;
    browser.click("run").await;
    let agreement = browser.text_when("agreement", |text| !text.is_empty()).await;
    assert!(agreement.contains("Bit-equal"), "{agreement}");
    let exit = browser.text_when("run-exit", |text| !text.is_empty()).await;
    assert!(exit.contains("exit7/softmax_30"), "{exit}");
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn thresholds_are_looked_at_over_images() {
    let server = Server::start(&[]);
    let browser = Browser::start(1440, 1000, false).await;
    let link = "model=fashion-exits&board=nucleo-f767zi&strategy=resident&view=overview";
    browser.open(&format!("{}#{link}", server.address)).await;
    browser.find("verdict").await;
    browser.script("document.querySelector('.exits-study').open = true", vec![]).await;
    browser.click("study-exits").await;
    let best = browser.text_when("exits-best", |text| !text.is_empty()).await;
    assert!(best.starts_with("128 images") && best.contains("of mean latency"), "{best}");
    let rows = browser.text_when("thresholds", |text| text.contains("0.99")).await;
    assert!(rows.contains("counted") && rows.contains("modelled"), "{rows}");
    browser.end().await;
}

//! Many plans at once on the page: drawn, looked at, pinned, opened.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use serde_json::json;
use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::dist;
use tilewright_tests::server::Server;
use tilewright_tests::static_host;

/// Clicks the mark of this number.
const MARK: &str = "const marks = document.querySelectorAll('.scatter-mark');
    marks[arguments[0]].dispatchEvent(new MouseEvent('click', { bubbles: true }));";

/// Chooses a word of a list as a person does.
const CHOOSE: &str = "const [id, word] = arguments;
    const choice = document.querySelector(`[data-testid=${id}]`);
    choice.value = word;
    choice.dispatchEvent(new Event('change', { bubbles: true }));";

#[tokio::test(flavor = "multi_thread")]
async fn plans_are_drawn_pinned_and_opened_without_a_model_of_ones_own() {
    let server = Server::start(&[]);
    let browser = Browser::start(1440, 1000, false).await;
    let choice =
        "m:vww,mcunet-in0,no-such-network;b:stm32f746g-disco,nrf52840-dk;s:auto,resident,swap";
    browser.open(&format!("{}#view=explore&explore={choice}", server.address)).await;
    let count = browser.text_when("explore-count", |text| text.contains("fit.")).await;
    assert!(count.starts_with("18 plans, "), "{count}");
    browser.script(MARK, vec![json!(0)]).await;
    browser.click("explore-pin").await;
    browser.script(MARK, vec![json!(1)]).await;
    let beside = browser.text_when("explore-beside", |text| text.contains("best:")).await;
    assert!(beside.contains("Energy of a frame") && beside.contains("modelled"), "{beside}");
    browser.script(CHOOSE, vec![json!("pick-explore-as"), json!("matrix")]).await;
    let matrix = browser.text_when("fit-matrix", |text| text.contains("no-such-network")).await;
    assert!(matrix.contains("✕") && matrix.contains(" ms"), "{matrix}");
    let address = browser.script("return location.href", vec![]).await;
    assert!(address.as_str().unwrap().contains("as:matrix"), "{address}");
    browser.click("explore-open").await;
    browser.find("verdict").await;
    browser.click("view-explore").await;
    browser.find("fit-matrix").await;
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_open_model_is_compared_over_budgets_on_a_small_screen() {
    let server = Server::start(&[]);
    let browser = Browser::start(390, 844, true).await;
    let link = "model=lenet5&board=stm32f746g-disco&strategy=overlay&view=compare";
    browser.open(&format!("{}#{link}", server.address)).await;
    browser.click("compare-budget").await;
    browser.text_when("explore-count", |text| text.starts_with("16 plans")).await;
    let beside = browser.text_when("explore-beside", |text| text.contains("38 KiB of SRAM")).await;
    assert!(!beside.contains("lenet5"), "all are of it: {beside}");
    browser.script(CHOOSE, vec![json!("pick-explore-as"), json!("chart")]).await;
    browser.find("explore-charts").await;
    let command = browser
        .script(
            "return document.querySelector('[data-testid=explore-command]').textContent",
            vec![],
        )
        .await;
    assert!(command.as_str().unwrap().starts_with("tilewright explore sweep lenet5.onnx"));
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_million_plans_are_refused_in_words() {
    let server = Server::start(&[]);
    let browser = Browser::start(1440, 1000, false).await;
    let many: Vec<String> = (1..=1000).map(|number| number.to_string()).collect();
    let many = many.join(",");
    let choice = format!("m:vww;b:stm32f746g-disco;s:auto;r:{many};c:{many}");
    browser.open(&format!("{}#view=explore&explore={choice}", server.address)).await;
    let told = browser.text_when("explore-many", |text| !text.is_empty()).await;
    assert!(told.contains("at most"), "{told}");
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn boards_are_ranked_for_the_model_and_ones_own_is_planned_for() {
    let site = static_host::serve(dist().join("page"), "p");
    let browser = Browser::start(1440, 900, false).await;
    browser.open(&format!("{site}#model=lenet5&board=stm32f746g-disco")).await;
    browser.text_when("verdict", |text| text.contains("fits")).await;
    browser.script(CHOOSE, vec![json!("pick-board"), json!("boards")]).await;
    let list = browser.text_when("boards-list", |text| text.contains("smallest that fits")).await;
    assert!(list.contains("runs here") && list.contains("planned only"), "{list}");
    let first = list.split("smallest that fits").next().unwrap();
    assert_eq!(first.matches("MHz").count(), 1, "the smallest comes first: {list}");
    let edit = "document.querySelector('[data-testid=own-board]').open = true;
                const sram = document.querySelector('[data-testid=own-sram]');
                sram.value = arguments[0]; sram.dispatchEvent(new Event('change', { bubbles: true }));";
    browser.script(edit, vec![json!("0")]).await;
    let told = browser.text_when("own-trouble", |text| !text.is_empty()).await;
    assert!(told.contains("SRAM in KiB must be from 1"), "{told}");
    browser.script(edit, vec![json!("64")]).await;
    browser.click("own-use").await;
    let verdict = browser.text_when("verdict", |text| text.contains("Own, after")).await;
    let address = browser.client.current_url().await.unwrap();
    assert!(
        address.fragment().unwrap().contains("board=own:stm32f746g-disco:sram=64"),
        "{address}"
    );
    browser.reload().await;
    assert_eq!(browser.text_when("verdict", |text| text.contains("Own, after")).await, verdict);
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

//! The page explains memory: what each byte is, why a plan does not fit, strategies side by side.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;

use fantoccini::key::Key;
use serde_json::json;
use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::dist;
use tilewright_tests::static_host;

const WIDE: (u32, u32) = (1440, 900);
const NARROW: (u32, u32) = (390, 844);

/// The page with the bundled LeNet-5, with settings in its address, once it shows `what`.
async fn lenet((width, height): (u32, u32), dark: bool, settings: &str, what: &str) -> Browser {
    let page = dist().join("page");
    assert!(page.join("index.html").is_file(), "the page is not built: run `cargo xtask build`");
    let site = static_host::serve(page, "p");
    let browser = Browser::start(width, height, dark).await;
    browser.open(&format!("{site}#model=lenet5&{settings}")).await;
    browser.find(what).await;
    browser
}

async fn fits(browser: &Browser) -> String {
    let verdict = browser.find("verdict").await;
    verdict.attr("data-fits").await.unwrap().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_byte_of_the_peak_is_explained_and_leads_to_its_tensor() {
    let browser = lenet(WIDE, false, "", "live").await;
    let live = browser.text_when("live", |text| text.contains("the peak")).await;
    let digits: String = live.chars().filter(char::is_ascii_digit).collect();
    // The first pool: 28·28·6 in, 14·14·6 out.
    assert!(digits.contains("5880") && digits.contains("4704"), "{live}");
    let click = "document.querySelector('[data-testid=live] .row-name').click();
                 return document.querySelector('[data-testid=live] .row-name').textContent";
    let name = browser.script(click, Vec::new()).await;
    browser.until("return document.querySelectorAll('.block-lit').length === 1").await;
    let readout = browser.text_when("memory-readout", |text| text.contains("lives")).await;
    assert!(readout.starts_with(name.as_str().unwrap()), "{readout} of {name}");
    let lit = "return [...document.querySelectorAll('[data-testid=layers] tr.lit')].length === 1";
    browser.until(lit).await;
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_that_is_too_small_says_what_fills_it_and_one_click_mends_it() {
    let browser = lenet(WIDE, false, "sram=4096", "verdict").await;
    assert_eq!(fits(&browser).await, "false");
    let parts = browser.text_when("parts", |text| text.contains("input")).await;
    assert!(parts.contains("output"), "{parts}");
    let remedies = browser.text_when("remedies", |text| text.contains("Use all SRAM")).await;
    assert!(remedies.contains("to spare"), "{remedies}");
    browser
        .script("document.querySelector('[data-testid=remedies] .remedy').click()", vec![])
        .await;
    let fits = "return document.querySelector('[data-testid=verdict]').dataset.fits === 'true'";
    browser.until(fits).await;
    let address = browser.client.current_url().await.unwrap();
    assert!(!address.fragment().unwrap_or_default().contains("sram"), "{address}");
    browser.click("undo").await;
    browser
        .until("return document.querySelector('[data-testid=verdict]').dataset.fits === 'false'")
        .await;
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn strategies_stand_side_by_side_and_a_click_chooses_one() {
    let browser = lenet(WIDE, false, "view=compare", "strategies").await;
    browser.text_when("strategies", |text| !text.contains('…') && text.contains("flash")).await;
    let heads =
        "return [...document.querySelectorAll('.strategy')].map((head) => head.textContent)";
    let heads = browser.script(heads, Vec::new()).await;
    let heads: Vec<&str> = heads.as_array().unwrap().iter().filter_map(|h| h.as_str()).collect();
    assert!(heads.len() > 1 && heads[0] == "resident", "{heads:?}");
    browser.click(&format!("strategy-{}", heads[1])).await;
    let pressed = "return document.querySelector('.strategy[aria-pressed=true]').textContent
                   === document.querySelectorAll('.strategy')[1].textContent";
    browser.until(pressed).await;
    let address = browser.client.current_url().await.unwrap();
    let wanted = format!("strategy={}", heads[1]);
    assert!(address.fragment().is_some_and(|state| state.contains(&wanted)), "{address}");
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_film_is_played_and_stepped_with_keys_and_other_panels_follow() {
    let browser = lenet(WIDE, false, "", "film-map").await;
    browser.until("return document.querySelectorAll('.film-map').length === 2").await;
    // The core makes the first step ready first.
    browser.press("film-map", [Key::Right, Key::Right, Key::Right]).await;
    let at = browser.text_when("film-at", |text| text.contains("task 3 of")).await;
    let words = browser.text_when("film-words", |text| text.starts_with("Core: ")).await;
    assert!(words.contains("done"), "{words}");
    let lit = "return [...document.querySelectorAll('[data-testid=layers] tr.lit td')]
                   .slice(0, 1).map((cell) => cell.textContent)";
    assert_eq!(browser.script(lit, Vec::new()).await, json!(["2"]), "the table follows");
    browser.press("film-map", [Key::Home]).await;
    browser.text_when("film-at", |text| text.contains("task 0 of")).await;
    browser.press("film-map", [Key::Up]).await;
    browser.click("film-play").await;
    browser
        .until("return document.querySelector('[data-testid=film-play]').title === 'Pause'")
        .await;
    browser
        .until("return document.querySelector('[data-testid=film-play]').title === 'Play'")
        .await;
    browser.text_when("film-words", |text| text.starts_with("It has ended")).await;
    browser.press("film-map", [Key::Left]).await;
    browser.text_when("film-words", |text| text.contains("softmax")).await;
    assert_ne!(browser.text_when("film-at", |_| true).await, at);
    let table = browser.find("film-table").await.prop("textContent").await.unwrap().unwrap();
    assert!(table.contains("Flash") && table.contains("weights of"), "{table}");
    assert!(table.contains("is being written"), "{table}");
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_film_is_scrubbed_and_says_where_it_is() {
    let browser = lenet(WIDE, false, "view=film", "film-scrub").await;
    let scrub = "const range = document.querySelector('[data-testid=film-scrub]');
                 range.value = arguments[0];
                 range.dispatchEvent(new InputEvent('input', { bubbles: true }))";
    let mut before = String::new();
    for place in [3_000, 1_000, 9_999] {
        browser.script(scrub, vec![json!(place)]).await;
        let at = browser.text_when("film-at", |text| text != before).await;
        let spoken = browser.find("film-scrub").await.attr("aria-valuetext").await.unwrap();
        assert_eq!(spoken.as_ref(), Some(&at));
        before = at;
    }
    browser.click("film-peak").await;
    browser.text_when("film-at", |text| text != before).await;
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_film_shows_far_memories_what_travels_and_another_plan_beside() {
    let browser = lenet(WIDE, false, "strategy=swap&view=film", "film-map").await;
    browser.until("return document.querySelectorAll('.film-map').length === 3").await;
    browser.text_when("film-words", |text| text.contains("from the card for")).await;
    browser.until("return document.querySelectorAll('.film-tile').length > 0").await;
    browser.click("film-stall").await;
    browser.text_when("film-words", |text| text.contains("Core: waits for the Card")).await;
    // Others are planned meanwhile.
    let choose = "const choice = document.querySelector('[data-testid=pick-film-beside]');
                  if (![...choice?.options ?? []].some(one => one.value === 'resident')) return false;
                  choice.value = 'resident';
                  choice.dispatchEvent(new Event('change', { bubbles: true }));
                  return true";
    browser.until(choose).await;
    browser.text_when("film-words-beside", |text| text.contains("Core: ")).await;
    browser.until("return document.querySelectorAll('.film-map').length === 5").await;
    browser.press("film-map", [Key::End]).await;
    let ended = browser.text_when("film-words-beside", |text| text.contains("has ended")).await;
    assert_ne!(browser.text_when("film-words", |text| text.contains("has ended")).await, ended);
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn auto_is_as_fast_or_as_small_as_can_be() {
    let settings = "strategy=auto&sram=65536";
    let browser = lenet(WIDE, false, settings, "pick-objective").await;
    let peak = "const panel = document.querySelector('[data-testid=panel-overview]');
                return (panel?.innerText ?? '').replaceAll('\u{202f}', '')";
    let peak_is = |bytes: u32| format!("{{ {peak}.includes('{bytes} B') }}");
    browser.until(&peak_is(59_424)).await;
    let choose = "const choice = document.querySelector('[data-testid=pick-objective]');
                  choice.value = 'memory';
                  choice.dispatchEvent(new Event('change', { bubbles: true }))";
    browser.script(choose, Vec::new()).await;
    browser.until(&peak_is(1_620)).await;
    assert_eq!(fits(&browser).await, "true");
    let address = browser.client.current_url().await.unwrap();
    assert!(address.as_str().contains("objective=memory"), "{address}");
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_width_and_no_theme_breaks_the_views_of_memory() {
    let pictures = dist().join("pictures");
    fs::create_dir_all(&pictures).unwrap();
    for (width, height) in [WIDE, NARROW] {
        for dark in [false, true] {
            let theme = if dark { "dark" } else { "light" };
            for (view, shown, settings) in [
                ("overview", "remedies", "sram=4096&view=overview"),
                ("memory", "live", "view=memory"),
                ("compare", "strategies", "view=compare"),
                ("film", "film-map", "view=film&strategy=overlay"),
            ] {
                let browser = lenet((width, height), dark, settings, shown).await;
                browser
                    .until("return document.querySelector('.status').dataset.busy === 'false'")
                    .await;
                if view == "film" {
                    browser.press("film-map", [Key::Right, Key::Right]).await;
                }
                let sizes = "return [document.documentElement.scrollWidth, window.innerWidth]";
                let sizes = browser.script(sizes, Vec::new()).await;
                assert_eq!(sizes, json!([width, width]), "{view} is wider than the window");
                browser.script("window.scrollTo(0, 0)", Vec::new()).await;
                browser.picture(&pictures.join(format!("{view}-{width}-{theme}.png"))).await;
                browser.end().await;
            }
        }
    }
}

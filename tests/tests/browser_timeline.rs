//! The lanes on the axis of time: keys, wheel, words and table.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fantoccini::key::Key;
use serde_json::json;
use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::dist;
use tilewright_tests::static_host;

/// Texts of the axis, how many bars and paths there are, and whether all lie in the drawing.
const DRAWN: &str = "
    const svg = document.querySelector('[data-testid=timeline] svg');
    const ticks = [...svg.querySelectorAll('.axis text')].map((text) => text.textContent);
    return [ticks, svg.querySelectorAll('rect.bar').length, svg.querySelectorAll('path').length];";

#[tokio::test(flavor = "multi_thread")]
async fn the_lanes_are_looked_at_from_near_and_far() {
    let browser = Browser::start(1440, 900, false).await;
    let site = static_host::serve(dist().join("page"), "p");
    browser.open(&format!("{site}#model=fashion-mobilenet&view=schedule")).await;
    browser.find("timeline").await;
    browser.text_when("timeline-words", |text| text.contains("Core, predicted: works")).await;
    let all = browser.script(DRAWN, Vec::new()).await;
    assert!(all[0][0].as_str().unwrap().starts_with('0'), "{all}");
    for _ in 0..12 {
        browser.find("timeline").await.send_keys("+").await.unwrap();
    }
    let near = browser.script(DRAWN, Vec::new()).await;
    assert_ne!(near[0], all[0], "the axis has other texts");
    assert!(near[1].as_u64().unwrap() < all[1].as_u64().unwrap(), "{near}: fewer are seen");
    // What keys reach comes into view.
    browser.press("timeline", [Key::End]).await;
    let words = browser.text_when("timeline-words", |text| !text.contains("works")).await;
    assert!(words.contains("Core, predicted: ") && words.contains("µs"), "{words}");
    let lit = "return document.querySelectorAll('[data-testid=timeline] .bar-lit, [data-testid=timeline] .bars-lit').length";
    // The layer, and what the core does before its step.
    assert_eq!(browser.script(lit, Vec::new()).await, json!(2));
    let open = "document.querySelector('[data-testid=panel-schedule] figure details').open = true";
    browser.script(open, Vec::new()).await;
    let table = browser.text_when("timeline-table", |text| text.contains("Core")).await;
    assert!(table.contains("modelled"), "{table}");
    browser.find("timeline").await.send_keys("0").await.unwrap();
    assert_eq!(browser.script(DRAWN, Vec::new()).await[0], all[0]);
    // The wheel turns once the lanes have the focus, about the pointer.
    let wheel = "
        const lanes = document.querySelector('[data-testid=timeline]');
        const place = lanes.getBoundingClientRect();
        lanes.dispatchEvent(new WheelEvent('wheel', { bubbles: true, cancelable: true,
            clientX: place.left + 10, clientY: place.top + 30, deltaY: -600 }));
        return new Promise((done) => setTimeout(done, 200));";
    browser.script(wheel, Vec::new()).await;
    let near = browser.script(DRAWN, Vec::new()).await;
    assert_ne!(near[0], all[0], "{near}");
    browser.click("timeline-fit").await;
    browser.text_when("timeline-words", |text| !text.is_empty()).await;
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

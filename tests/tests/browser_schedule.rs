//! The schedule from the plan alone, what bounds its layers, and the files of plans with stores.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fantoccini::key::Key;
use serde_json::{Value, json};
use tilewright_image::{StoreImage, plan_image};
use tilewright_plan::Space;
use tilewright_planner::{Options, Strategy};
use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::dist;
use tilewright_tests::program::run;
use tilewright_tests::static_host;

const WIDE: (u32, u32) = (1440, 900);
const NARROW: (u32, u32) = (390, 844);
const BOARD: &str = "stm32f746g-disco";

async fn page((width, height): (u32, u32), dark: bool, settings: &str) -> Browser {
    let site = static_host::serve(dist().join("page"), "p");
    let browser = Browser::start(width, height, dark).await;
    browser.open(&format!("{site}#{settings}")).await;
    browser
}

/// Drags a slider through twenty places to a value and lets it go.
const DRAG: &str = "
    const [id, to] = arguments;
    const slider = document.querySelector(`[data-testid=slide-${id}]`);
    const from = Number(slider.value);
    for (let step = 1; step <= 20; step++) {
        slider.value = String(from + (to - from) * step / 20);
        slider.dispatchEvent(new Event('input', { bubbles: true }));
    }
    slider.dispatchEvent(new Event('change', { bubbles: true }));";

#[tokio::test(flavor = "multi_thread")]
async fn the_schedule_follows_its_sliders_and_is_saved_without_a_run() {
    let browser = page(WIDE, false, "model=lenet5&view=schedule").await;
    let before = browser.text_when("schedule-time", |text| text.contains("ms")).await;
    browser.script(DRAG, vec![json!("clock"), json!(54)]).await;
    let after = browser.text_when("schedule-time", |text| *text != before).await;
    browser.until("return location.hash.includes('clock=54000000')").await;
    let note = browser.text_when("schedule-note", |text| !text.is_empty()).await;
    assert!(note.contains("What if"), "{note}");
    browser.click("reset-clock").await;
    browser.text_when("schedule-time", |text| *text == before).await;
    assert_ne!(before, after);
    // Colours by family, else layer by layer.
    const FILLS: &str =
        "return new Set([...document.querySelectorAll('[data-testid=timeline] rect.bar')]
        .map((bar) => bar.className.baseVal)).size";
    let families = browser.script(FILLS, Vec::new()).await.as_u64();
    browser.click("timeline-colours").await;
    browser.until("return document.querySelector('[data-testid=timeline-colours]').ariaPressed === 'true'",
    )
    .await;
    let layers = browser.script(FILLS, Vec::new()).await.as_u64();
    assert!(layers > families, "{layers:?} colours of layers, {families:?} of families");
    browser.click("timeline-colours").await;
    // One step back leads to the clock of the drag's end.
    browser.click("undo").await;
    browser.text_when("schedule-time", |text| *text == after).await;
    browser.click("undo").await;
    browser.text_when("schedule-time", |text| *text == before).await;
    let (name, trace) = browser.saved_text("save-schedule-perfetto").await;
    assert_eq!(name, "lenet5-stm32f746g-disco-resident-schedule.perfetto.json");
    let trace: Value = serde_json::from_str(&trace).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    assert!(events.iter().any(|event| event["ph"] == "X" && event["dur"].as_f64() > Some(0.0)));
    let (name, recipe) = browser.saved_text("save-recipe").await;
    assert!(name.ends_with("recipe.json") && recipe.contains("\"layers\""), "{name}");
    let (_, table) = browser.saved_text("save-schedule-csv").await;
    assert!(table.lines().count() > 5 && table.contains("predicted,core 0,compute"), "{table}");
    // The command line writes the same.
    let lenet = ["plan", "models/lenet5.onnx", "--board", BOARD, "--schedule-csv", "-"];
    assert_eq!(table, String::from_utf8(run(&lenet).stdout).unwrap());
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_overlap_on_a_card_and_buffers_are_seen() {
    let link = "model=lenet5&strategy=swap&frames=4&sram=65536&view=schedule";
    let browser = page(WIDE, true, link).await;
    let frames = browser.text_when("frames", |text| text.contains("4 frames")).await;
    assert!(frames.contains("under way at once"), "{frames}");
    let held = browser.text_when("held", |text| text.contains("SRAM held")).await;
    assert!(held.contains("of 64.0 KiB"), "{held}");
    let words = browser.text_when("timeline-words", |text| text.contains("Card")).await;
    assert!(words.contains("for Card"), "the core waits for it: {words}");
    let energy = browser.text_when("upkeep-energy", |text| !text.is_empty()).await;
    assert!(energy.contains("of a frame") && energy.contains("mW"), "{energy}");
    let day = browser.text_when("upkeep-day", |text| text.contains("a frame, one every")).await;
    browser.script(DRAG, vec![json!("period"), json!(3600)]).await;
    browser.text_when("upkeep-day", |text| *text != day).await;
    browser.text_when("upkeep-lasts", |text| text.contains("cycles")).await;
    let time = browser.text_when("schedule-time", |text| !text.is_empty()).await;
    browser.script(DRAG, vec![json!("buffer"), json!(8192)]).await;
    browser.text_when("schedule-time", |text| *text != time).await;
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

/// Whether lanes and what SRAM holds are seen below the sliders without scrolling, and no title is cut off.
const SEEN: &str = "
    const last = document.querySelector('[data-testid=held]').getBoundingClientRect();
    const status = document.querySelector('[data-testid=status]').getBoundingClientRect();
    const svg = document.querySelector('[data-testid=timeline] svg');
    const titles = [...svg.querySelectorAll('.lane-title')];
    const cut = titles.filter((title) => title.getComputedTextLength() > svg.clientWidth);
    return [last.bottom <= status.top, cut.map((title) => title.textContent)];";

#[tokio::test(flavor = "multi_thread")]
async fn who_drags_a_slider_sees_the_lanes_follow() {
    let link = "model=lenet5&strategy=swap&frames=10&sram=131072&view=schedule";
    for (size, dark, slider) in [(WIDE, false, "pick-sram"), (NARROW, true, "slide-sram")] {
        let browser = page(size, dark, link).await;
        let before = browser.text_when("held", |text| text.contains("of 128 KiB")).await;
        browser
            .until("return document.querySelector('[data-testid=status]').dataset.busy === 'false'")
            .await;
        assert_eq!(browser.script(SEEN, Vec::new()).await, json!([true, []]), "{size:?}");
        // The lanes follow while the slider is held, before it is let go.
        let drag = "
            const slider = document.querySelector(`[data-testid=${arguments[0]}]`);
            slider.value = String(Number(slider.value) / 2);
            slider.dispatchEvent(new Event('input', { bubbles: true }));";
        browser.script(drag, vec![json!(slider)]).await;
        let after = browser.text_when("held", |text| text.contains("of 64.0 KiB")).await;
        assert_ne!(before, after);
        assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
        browser.end().await;
    }
}

/// Moves a slider to a value for two seconds, more often than anything can be planned, and does not let it
/// go; gives what was said meanwhile of how much SRAM there is.
const FOLLOWED: &str = "
    const [to, done] = arguments;
    const slider = document.querySelector('[data-testid=pick-sram]');
    const from = Number(slider.value);
    const said = new Set();
    const start = performance.now();
    const move = () => {
        const way = Math.min(1, (performance.now() - start) / 2000);
        slider.value = String(from + (to - from) * way);
        slider.dispatchEvent(new Event('input', { bubbles: true }));
        said.add(document.querySelector('[data-testid=held]').textContent.split(' of ')[1]);
        if (way < 1) setTimeout(move, 2); else done([...said]);
    };
    move();";

#[tokio::test(flavor = "multi_thread")]
async fn who_keeps_dragging_sees_places_on_the_way_and_the_end_last() {
    let link = "model=lenet5&strategy=swap&frames=10&view=schedule";
    let browser = page(WIDE, false, link).await;
    browser.text_when("held", |text| text.contains("SRAM held")).await;
    let said = browser.later(FOLLOWED, vec![json!(65_536)]).await;
    assert!(said.as_array().unwrap().len() > 2, "seen on the way: {said}");
    browser.text_when("held", |text| text.contains("of 64.0 KiB")).await;
    browser
        .until("return !document.querySelector('[data-testid=panel-schedule]').matches('.stale')")
        .await;
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_frame_is_drawn_over_another_and_those_that_end_together_say_so() {
    let link = "model=lenet5&strategy=stream&frames=10&sram=32768&view=schedule";
    let browser = page(NARROW, false, link).await;
    let words = browser.text_when("frames", |text| text.contains("10 frames")).await;
    assert!(words.contains("end"), "{words}");
    let lines = "
        const lines = [...document.querySelectorAll('[data-testid=frames] rect')];
        return new Set(lines.map((line) => line.getAttribute('y'))).size";
    assert_eq!(browser.script(lines, Vec::new()).await, json!(10));
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_streamed_weights_take_is_seen_below_their_lanes() {
    let link = "model=lenet5&strategy=stream&sram=65536&view=schedule";
    let browser = page(WIDE, false, link).await;
    browser.text_when("held", |text| text.contains("SRAM held at a moment: at most")).await;
    let fills = "return [...document.querySelectorAll('[data-testid=held] path')]
        .map((path) => path.className.baseVal)";
    let fills = browser.script(fills, Vec::new()).await;
    assert!(fills.as_array().unwrap().contains(&json!("fill-weights")), "weights: {fills}");
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_bounds_each_layer_is_drawn_and_reached_by_keys() {
    for (size, dark) in [(WIDE, false), (NARROW, true)] {
        let browser = page(size, dark, "model=lenet5&strategy=overlay&view=roofline").await;
        let words = browser.text_when("roofline-words", |text| text.contains("bound")).await;
        assert!(words.contains("compute-bound") && words.contains("MAC/s"), "{words}");
        browser.press("roofline", [Key::Home]).await;
        let words = browser.text_when("roofline-words", |text| text.contains("products")).await;
        assert!(words.contains("cycles a product (modelled)"), "{words}");
        assert!(words.contains("-bound: computing"), "{words}");
        let lit = "return document.querySelectorAll('[data-testid=roofline] .bar-lit').length";
        assert_eq!(browser.script(lit, Vec::new()).await, json!(1));
        let row = "return document.querySelectorAll('[data-testid=roofline-table] tr.lit').length";
        assert_eq!(browser.script(row, Vec::new()).await, json!(1));
        let fits = "return document.documentElement.scrollWidth <= window.innerWidth";
        assert_eq!(browser.script(fits, Vec::new()).await, json!(true));
        assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
        browser.end().await;
    }
}

/// The bytes behind a link.
const FETCHED: &str = "
    const done = arguments[arguments.length - 1];
    const link = document.querySelector(`[data-testid='${arguments[0]}']`);
    fetch(link.href).then((file) => file.arrayBuffer())
        .then((bytes) => done([...new Uint8Array(bytes)]));";

async fn fetched(browser: &Browser, id: &str) -> Vec<u8> {
    browser.find(id).await;
    let bytes = browser.later(FETCHED, vec![json!(id)]).await;
    bytes.as_array().unwrap().iter().map(|byte| byte.as_u64().unwrap() as u8).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_with_a_store_is_downloaded_with_its_image_and_how_to_place_it() {
    let link = format!("model=zoo:ds-cnn&board={BOARD}&strategy=overlay&view=firmware");
    let browser = page(WIDE, false, &link).await;
    browser.click("package").await;
    let store = fetched(&browser, "download-flash").await;
    let board = tilewright_board::find(BOARD).unwrap();
    let model = tilewright_zoo::network("ds-cnn").unwrap().int8().unwrap();
    let options = Options::default();
    let planned = tilewright_planner::plan(&model, &board, Strategy::Overlay, &options).unwrap();
    let image = plan_image(&planned.plan, &model).unwrap();
    let mut expected = Vec::new();
    StoreImage::new(&planned.plan, &model, &image, Space::ExternalFlash)
        .and_then(|store| store.write(&mut |piece| expected.extend_from_slice(piece)))
        .unwrap();
    assert!(store == expected, "{} and {} bytes", store.len(), expected.len());
    let said = browser.text_when("stores", |text| text.contains("outside of the chip")).await;
    let digits: String = said.chars().filter(char::is_ascii_digit).collect();
    assert_eq!(digits, store.len().to_string(), "{said}");
    let text = String::from_utf8(fetched(&browser, "download-txt").await).unwrap();
    // What is downloaded file by file has the names that the checksums are of.
    let names = "return [...document.querySelectorAll('a.download')].map((file) => file.download)";
    for name in browser.script(names, Vec::new()).await.as_array().unwrap() {
        let name = name.as_str().unwrap();
        assert!(
            [".zip", ".txt"].iter().any(|end| name.ends_with(end)) || text.contains(name),
            "{name}"
        );
    }
    assert!(text.contains("0x90000000") && text.contains(".flash"), "{text}");
    let archive = fetched(&browser, "download-zip").await;
    assert_eq!(archive[..4], *b"PK\x03\x04");
    let has = |part: &[u8]| archive.windows(part.len()).any(|window| window == part);
    assert!(has(&store) && has(&image) && has(text.as_bytes()), "stored as they are");
    assert!(has(b"ds-cnn-stm32f746g-disco.elf"));
    browser.end().await;
}

//! How smoothly the page's largest views move: graphs of thousands of operators, schedules of hundreds
//! of thousands of tasks.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::dist;
use tilewright_tests::onnx_file::{Dim, chain};
use tilewright_tests::static_host;

use crate::figures::{Goal, Measured};

/// Whether something is under way: on two cores, plans to compare with take half a minute.
const BUSY: &str = "return document.querySelector('[data-testid=status]').dataset.busy === 'true'";

/// Gives the median and the longest time between frames, in milliseconds, while a wheel turns over the
/// middle of a view, twice from near to far and back, or sideways.
const FRAMES: &str = "
    const [view, sideways, done] = arguments;
    const frame = document.querySelector(`[data-testid=${view}]`);
    const times = [];
    let last = 0;
    const turn = (now) => {
        if (last > 0) times.push(now - last);
        last = now;
        if (times.length === 120) {
            times.sort((a, b) => a - b);
            return done([times[60], times[119]]);
        }
        const box = frame.getBoundingClientRect();
        const by = times.length % 60 < 30 ? 90 : -90;
        frame.dispatchEvent(new WheelEvent('wheel', { bubbles: true, cancelable: true,
            clientX: box.left + box.width / 2, clientY: box.top + box.height / 2,
            [sideways ? 'deltaX' : 'deltaY']: by }));
        requestAnimationFrame(turn);
    };
    frame.focus();
    requestAnimationFrame(turn);";

/// Frames that are timed.
const TIMED: f64 = 120.0;
/// Operators of the deep network whose graph is drawn.
const DEEP: usize = 5_000;
/// 1,038,847 slices: 64 frames of VGG16 through buffers of 50 KiB, about the smallest that it can have.
const SCHEDULE: &str =
    "model=zoo:vgg16&board=paper-swapnn-8m&strategy=swap&buffer=51200&frames=64&view=schedule";

/// A film of 13,000 tasks that plays.
const FILM: &str = "model=zoo:vgg16&board=paper-swapnn-8m&strategy=swap&buffer=51200&view=film";
/// Gives the median and the longest time between frames, in milliseconds, while nothing is touched.
const PLAYED: &str = "
    const done = arguments[arguments.length - 1];
    const times = [];
    let last = performance.now();
    const frame = (now) => {
        times.push(now - last);
        last = now;
        if (times.length < 120) { requestAnimationFrame(frame); return; }
        times.shift();
        times.sort((a, b) => a - b);
        done([times[times.length >> 1], times[times.length - 1]]);
    };
    requestAnimationFrame(frame);";

/// How smoothly the graphs of a wide and of a deep network move, the lanes of a long schedule, and a film.
///
/// # Errors
/// If no runtime can be had or the page cannot be asked; a browser that fails panics.
pub fn figures() -> Result<Vec<Measured>, String> {
    let runtime = tokio::runtime::Runtime::new().map_err(|e| e.to_string())?;
    let site = static_host::serve(dist().join("page"), "page");
    let shape = [1, 16, 8, 8].map(Dim::Fixed);
    let deep =
        std::env::temp_dir().join(format!("tilewright-bench-deep-{}.onnx", std::process::id()));
    fs::write(&deep, chain("Tanh", DEEP, &shape))
        .map_err(|e| format!("{}: {e}", deep.display()))?;
    let figures = runtime.block_on(async {
        let mut figures = Vec::new();
        for network in ["nasnet-mobile", "densenet121", "deep"] {
            let browser = Browser::start(1440, 900, false).await;
            let is_deep = network == "deep";
            let model = if is_deep { String::new() } else { format!("model=zoo:{network}&") };
            browser.open(&format!("{site}#{model}view=graph")).await;
            if is_deep {
                browser.give_file("model-file", &deep).await;
            }
            browser.find("graph").await;
            figures.extend(turned(&browser, "graph", false, &format!("graph of {network}")).await?);
            browser.end().await;
        }
        let browser = Browser::start(1440, 900, false).await;
        browser.open(&format!("{site}#{SCHEDULE}")).await;
        browser.find("timeline").await;
        for (sideways, what) in [(false, "zoomed"), (true, "panned")] {
            let what = format!("lanes of VGG16, 64 frames, {what}");
            figures.extend(turned(&browser, "timeline", sideways, &what).await?);
            // Nearer, so that there is something to pan.
            for _ in 0..6 {
                browser.click("timeline-larger").await;
            }
        }
        browser.open(&format!("{site}#{FILM}")).await;
        browser.find("film-play").await;
        browser.click("film-play").await;
        figures.extend(frames(&browser, PLAYED, Vec::new(), "film of VGG16").await?);
        browser.end().await;
        Ok::<_, String>(figures)
    });
    let _ = fs::remove_file(&deep);
    figures
}

async fn turned(
    browser: &Browser,
    view: &str,
    sideways: bool,
    what: &str,
) -> Result<[Measured; 3], String> {
    frames(browser, FRAMES, vec![json!(view), json!(sideways)], what).await
}

/// What a script says of frames, once nothing is under way.
async fn frames(
    browser: &Browser,
    script: &str,
    arguments: Vec<Value>,
    what: &str,
) -> Result<[Measured; 3], String> {
    while browser.script(BUSY, Vec::new()).await == Value::Bool(true) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let before = browser.own_ms().await;
    let times = browser.client.execute_async(script, arguments).await;
    let times = times.map_err(|e| e.to_string())?;
    let time = |index: usize| times[index].as_f64().unwrap_or(f64::NAN);
    let own = (browser.own_ms().await - before) / TIMED;
    Ok([
        // Of its own processor time, so that other work on the machine does not count.
        Measured::new(format!("{what}: own time of a frame"), own, "ms", Some(Goal::AtMost(16.7))),
        Measured::new(format!("{what}: frame, median"), time(0), "ms", Some(Goal::AtMost(17.0))),
        Measured::new(format!("{what}: frame, longest"), time(1), "ms", None),
    ])
}

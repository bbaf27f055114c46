//! What the page downloads, and how long it takes from a click to a plan.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::dist;
use tilewright_tests::static_host;

use crate::figures::{Goal, Measured};

/// Times that the bundled model is opened in each way.
const OPENINGS: usize = 6;

/// Milliseconds from a click on the example to its verdict.
const CLICK_TO_VERDICT: &str = "
    const done = arguments[arguments.length - 1];
    const start = performance.now();
    const look = () => {
        if (document.querySelector('[data-testid=verdict]')) done(performance.now() - start);
        else setTimeout(look, 1);
    };
    document.querySelector('[data-testid=example-lenet5]').click();
    look();";

/// The pointer comes to the example.
const POINT: &str = "
    const button = document.querySelector('[data-testid=example-lenet5]');
    button.dispatchEvent(new PointerEvent('pointerenter', { bubbles: true }));
    button.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
    button.focus();";

/// Sizes of the page's parts as they are sent, by the compression that browsers ask for.
///
/// # Errors
/// If the page is not built.
pub fn sizes() -> Result<Vec<Measured>, String> {
    let page = dist().join("page");
    let mut files = Vec::new();
    collect(&page, &mut files)
        .map_err(|e| format!("{}: {e}; run `cargo xtask build`", page.display()))?;
    let start = fs::read_to_string(page.join("index.html")).map_err(|e| e.to_string())?;
    // The first view is what the page names at its start, and the picture of a film that it shows.
    let is_first = |name: &str| {
        ["index.html", "film.svg"].contains(&name) || start.contains(&format!("\"./{name}\""))
    };
    let mut figures = Vec::new();
    for (ending, compression) in [("br", "Brotli"), ("gz", "gzip")] {
        let (mut critical, mut panels, mut importer) = (0, 0, 0);
        let (mut planner, mut emulator, mut offline) = (0, 0, 0);
        for path in files.iter().filter(|path| path.extension().is_some_and(|e| e == ending)) {
            let bytes = fs::metadata(path).map_err(|e| format!("{}: {e}", path.display()))?.len();
            match path.file_stem().and_then(|name| name.to_str()).unwrap_or_default() {
                name if is_first(name) => critical += bytes,
                name if name.starts_with("panels-") => panels += bytes,
                name if name.starts_with("importer") => importer += bytes,
                name if name.starts_with("planner") => planner += bytes,
                name if name.starts_with("emulator") => emulator += bytes,
                name if name.starts_with("service-worker") => offline += bytes,
                _ => {}
            }
        }
        let part = |what: &str, bytes: u64, goal: Option<f64>| {
            let goal = goal.map(Goal::AtMost);
            Measured::new(format!("{what}, {compression}"), bytes as f64 / 1024.0, "KiB", goal)
        };
        figures.extend([
            part("page: critical path", critical, Some(350.0)),
            part("panels, after the first view", panels, None),
            part("planner worker", planner, None),
            part("service worker, once the page rests", offline, None),
            part("importer, on demand", importer, Some(2.6 * 1024.0)),
            part("emulator, once there is a plan", emulator, Some(250.0)),
        ]);
    }
    Ok(figures)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

/// From a click on the bundled LeNet-5 to its verdict on the screen, on a page opened anew each
/// time: after the pointer came to the example, after the page has rested, and at once, when
/// nothing of the importer is there yet. The first opening of each is the browser's first visit.
///
/// # Errors
/// If no runtime can be had or the page cannot be asked; a browser that fails panics.
pub fn opening() -> Result<Vec<Measured>, String> {
    let runtime = tokio::runtime::Runtime::new().map_err(|e| e.to_string())?;
    let site = static_host::serve(dist().join("page"), "page");
    let rest = Duration::from_millis(1500);
    let ways = [("", Duration::ZERO), ("", rest), (POINT, rest)];
    let [at_once, rested, pointed] = runtime.block_on(async {
        let mut medians = [0.0; 3];
        for (median, (script, rest)) in medians.iter_mut().zip(ways) {
            let browser = Browser::start(1440, 900, false).await;
            let mut times = Vec::new();
            for _ in 0..OPENINGS {
                // Another address first: the same one would be no new page.
                browser.open("about:blank").await;
                browser.open(&site).await;
                browser.find("example-lenet5").await;
                browser.script(script, Vec::new()).await;
                tokio::time::sleep(rest).await;
                let time = browser.client.execute_async(CLICK_TO_VERDICT, Vec::new()).await;
                times.push(time.map_err(|e| e.to_string())?.as_f64().unwrap_or(f64::NAN));
            }
            times.sort_by(f64::total_cmp);
            *median = times[times.len() / 2];
            browser.end().await;
        }
        Ok::<_, String>(medians)
    })?;
    let goal = Some(Goal::AtMost(300.0));
    Ok(vec![
        Measured::new(
            "LeNet-5 in the browser: click to plan, pointed at first",
            pointed,
            "ms",
            goal,
        ),
        Measured::new("LeNet-5 in the browser: click to plan, page at rest", rested, "ms", goal),
        Measured::new("LeNet-5 in the browser: click to plan, at once", at_once, "ms", goal),
    ])
}

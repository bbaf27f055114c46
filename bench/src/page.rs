//! What the page downloads, and how long it takes from a click to a plan.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
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

/// Sizes of the page's parts, gzip -9.
///
/// # Errors
/// If the page is not built.
pub fn sizes() -> Result<Vec<Measured>, String> {
    let page = dist().join("page");
    let mut files = Vec::new();
    collect(&page, &mut files)
        .map_err(|e| format!("{}: {e}; run `cargo xtask build`", page.display()))?;
    let mut critical = 0;
    let (mut importer, mut planner, mut offline) = (0, 0, 0);
    for path in files {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if !matches!(ending, "html" | "css" | "js" | "wasm" | "svg") {
            continue;
        }
        let bytes = compressed(&path)?;
        match name {
            name if name.starts_with("importer") => importer += bytes,
            name if name.starts_with("planner") => planner += bytes,
            name if name.starts_with("service-worker") => offline += bytes,
            _ => critical += bytes,
        }
    }
    let kib = |bytes: u64| bytes as f64 / 1024.0;
    Ok(vec![
        Measured::new(
            "page: critical path, gzip -9",
            kib(critical),
            "KiB",
            Some(Goal::AtMost(350.0)),
        ),
        Measured::new("planner worker, gzip -9", kib(planner), "KiB", None),
        Measured::new(
            "page and planner worker together, gzip -9",
            kib(critical + planner),
            "KiB",
            Some(Goal::AtMost(350.0)),
        ),
        Measured::new("service worker, once the page rests, gzip -9", kib(offline), "KiB", None),
        Measured::new(
            "importer, on demand, gzip -9",
            kib(importer),
            "KiB",
            Some(Goal::AtMost(2.6 * 1024.0)),
        ),
    ])
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

fn compressed(path: &Path) -> Result<u64, String> {
    let text = |e: std::io::Error| format!("{}: {e}", path.display());
    let bytes = fs::read(path).map_err(text)?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&bytes).map_err(text)?;
    Ok(encoder.finish().map_err(text)?.len() as u64)
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

//! What the page takes to import a large file and to plan a large network.

use std::fs::File;
use std::io::{BufWriter, Write};

use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::dist;
use tilewright_tests::static_host;

use crate::figures::{Goal, Measured};

/// The network whose float ONNX file of 14 MB is imported.
const IMPORTED: &str = "mobilenet-v2";
/// The network that is planned.
const PLANNED: &str = "nasnet-mobile";
/// What is planned for a card, each with the link that is open before, the strategy that is chosen and
/// the milliseconds that it may take: a program, and a schedule of ten frames with its simulation.
const FOR_CARD: [(&str, &str, &str, f64); 2] = [
    (
        "vgg16 in the browser: program for the card, planned and drawn",
        "model=zoo:vgg16&board=stm32f746g-disco&strategy=swap&view=overview",
        "stream",
        1_000.0,
    ),
    (
        "vgg16 in the browser: ten frames for the card, planned, simulated and drawn",
        "model=zoo:vgg16&board=stm32f746g-disco&strategy=swap&frames=10&view=overview",
        "stream",
        1_500.0,
    ),
];
/// Times that each is measured; the median counts.
const TIMES: usize = 3;

/// Notes when a file was given, and when it was read and all passes were applied: quantising begins
/// then.
const WATCH: &str = "
    window.times = {};
    document.addEventListener('change', () => { window.times.given ??= performance.now(); }, true);
    const look = () => {
        const text = document.querySelector('[data-testid=status]')?.textContent ?? '';
        if (text.includes('Quantising')) window.times.imported ??= performance.now();
        setTimeout(look, 1);
    };
    look();";

/// Gives the milliseconds between the two, once both are known.
const IMPORT_TIME: &str = "
    const done = arguments[arguments.length - 1];
    const look = () => {
        const { given, imported } = window.times;
        if (imported) done(imported - given); else setTimeout(look, 5);
    };
    look();";

/// Chooses another strategy; gives the milliseconds until its plan is shown.
const PLAN_TIME: &str = "
    const [strategy, done] = arguments;
    const start = performance.now();
    const choice = document.querySelector('[data-testid=pick-strategy]');
    choice.value = strategy;
    choice.dispatchEvent(new Event('change', { bubbles: true }));
    const panel = () => document.querySelector('[data-testid=panel-overview]');
    let wasStale = false;
    const look = () => {
        const isStale = panel().classList.contains('stale');
        if (wasStale && !isStale) done(performance.now() - start);
        else setTimeout(look, 1);
        wasStale ||= isStale;
    };
    look();";

/// From a file of 14 MB to the graph with all passes applied, and from a choice to the plan of a
/// network with a thousand operators.
///
/// # Errors
/// If no runtime can be had, the file not be written, or the page not be asked; a browser that fails
/// panics.
pub fn figures() -> Result<Vec<Measured>, String> {
    let runtime = tokio::runtime::Runtime::new().map_err(|e| e.to_string())?;
    let site = static_host::serve(dist().join("page"), "page");
    let path = std::env::temp_dir()
        .join(format!("tilewright-bench-{IMPORTED}-{}.onnx", std::process::id()));
    write_model(&path)?;
    let megabytes = std::fs::metadata(&path).map_err(|e| e.to_string())?.len() / 1_000_000;
    let times = runtime.block_on(async {
        let (mut imports, mut plans) = (Vec::new(), Vec::new());
        for _ in 0..TIMES {
            let browser = Browser::start(1440, 900, false).await;
            browser.open(&site).await;
            browser.find("model-file").await;
            browser.script(WATCH, Vec::new()).await;
            browser.give_file("model-file", &path).await;
            imports.push(time(&browser, IMPORT_TIME, None).await?);
            browser.end().await;
            let browser = Browser::start(1440, 900, false).await;
            let link = format!("{site}#model=zoo:{PLANNED}&strategy=resident&view=overview");
            browser.open(&link).await;
            browser.find("verdict").await;
            plans.push(time(&browser, PLAN_TIME, Some("reordered")).await?);
            browser.end().await;
        }
        Ok::<_, String>([imports, plans])
    });
    let _ = std::fs::remove_file(&path);
    let [import, plan] = times?.map(median);
    Ok(vec![
        Measured::new(
            format!("{IMPORTED} of {megabytes} MB as ONNX in the browser: import and passes"),
            import,
            "ms",
            Some(Goal::AtMost(3_000.0)),
        ),
        Measured::new(
            format!("{PLANNED} in the browser: best order and its plan"),
            plan,
            "ms",
            Some(Goal::AtMost(6_000.0)),
        ),
    ])
}

/// What planning a network of 138 MB for a card takes, from a choice to the plan on the screen.
///
/// # Errors
/// As [`figures`].
pub fn for_card() -> Result<Vec<Measured>, String> {
    let runtime = tokio::runtime::Runtime::new().map_err(|e| e.to_string())?;
    let site = static_host::serve(dist().join("page"), "page");
    let mut measured = Vec::new();
    for (what, link, strategy, most) in FOR_CARD {
        let times = runtime.block_on(async {
            let mut times = Vec::new();
            for _ in 0..TIMES {
                let browser = Browser::start(1440, 900, false).await;
                browser.open(&format!("{site}#{link}")).await;
                browser.find("verdict").await;
                times.push(time(&browser, PLAN_TIME, Some(strategy)).await?);
                browser.end().await;
            }
            Ok::<_, String>(times)
        })?;
        measured.push(Measured::new(what, median(times), "ms", Some(Goal::AtMost(most))));
    }
    Ok(measured)
}

async fn time(browser: &Browser, script: &str, given: Option<&str>) -> Result<f64, String> {
    let given = given.map(|given| serde_json::json!(given)).into_iter().collect();
    let time = browser.client.execute_async(script, given).await;
    Ok(time.map_err(|e| e.to_string())?.as_f64().unwrap_or(f64::NAN))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn write_model(path: &std::path::Path) -> Result<(), String> {
    let network = tilewright_zoo::network(IMPORTED).map_err(|e| e.to_string())?;
    let mut file = BufWriter::new(File::create(path).map_err(|e| e.to_string())?);
    tilewright_formats::export(network.float(), &mut |piece: &[u8]| file.write_all(piece))
        .map_err(|e| e.to_string())?;
    file.flush().map_err(|e| e.to_string())
}

//! How long runs take that the page does itself.

use std::time::Duration;

use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::dist;
use tilewright_tests::static_host;

use crate::figures::{Goal, Measured};

/// Milliseconds from a click on Run to the end of the run, which has been compared with the reference.
const RUN_TO_VERIFIED: &str = "
    const done = arguments[arguments.length - 1];
    const start = performance.now();
    const has = (id) => document.querySelector(`[data-testid=${id}]`);
    const look = () => {
        if (has('agreement') && has('run')) done(performance.now() - start);
        else setTimeout(look, 1);
    };
    has('run').click();
    setTimeout(look, 10);";

/// A network that runs in the page.
struct Runs {
    link: &'static str,
    name: &'static str,
    /// Milliseconds that it may take, once the emulator is there.
    goal_ms: f64,
}

/// Networks that bring their own inputs, then such whose inputs are made up.
const BUNDLED: [Runs; 2] = [
    Runs { link: "lenet5", name: "LeNet-5", goal_ms: 200.0 },
    Runs { link: "fashion-mobilenet", name: "Fashion MobileNet", goal_ms: 500.0 },
];
const MADE_UP: [Runs; 6] = [
    Runs { link: "zoo:ds-cnn", name: "DS-CNN", goal_ms: 500.0 },
    Runs { link: "zoo:resnet8", name: "ResNet-8", goal_ms: 500.0 },
    Runs { link: "zoo:autoencoder", name: "autoencoder", goal_ms: 500.0 },
    Runs { link: "zoo:vww", name: "VWW", goal_ms: 500.0 },
    Runs { link: "zoo:person-detect", name: "person detection", goal_ms: 500.0 },
    Runs {
        link: "zoo:mobilenet-v1&strategy=swap",
        name: "MobileNetV1 1.0-224 from a card",
        goal_ms: 8_000.0,
    },
];

/// From a click on Run to a run that was executed in the page and is verified: on a page that was opened
/// for it, and again there.
///
/// # Errors
/// If no runtime can be had or the page cannot be asked; a browser that fails panics.
pub fn figures() -> Result<Vec<Measured>, String> {
    let runtime = tokio::runtime::Runtime::new().map_err(|e| e.to_string())?;
    let site = static_host::serve(dist().join("page"), "page");
    let mut figures = Vec::new();
    for (index, Runs { link, name, goal_ms }) in BUNDLED.iter().chain(&MADE_UP).enumerate() {
        let [first, again] = runtime.block_on(async {
            let browser = Browser::start(1440, 900, false).await;
            browser.open(&format!("{site}#model={link}&view=run")).await;
            if index >= BUNDLED.len() {
                // While the model is opened, nothing takes an input.
                browser.text_when("status", |text| text.contains("Planned")).await;
                browser.click("random-input").await;
            }
            browser.text_when("results", |text| !text.is_empty()).await;
            tokio::time::sleep(Duration::from_millis(1500)).await;
            let mut times = [f64::NAN; 2];
            for time in &mut times {
                let told = browser.client.execute_async(RUN_TO_VERIFIED, Vec::new()).await;
                *time = told.map_err(|e| e.to_string())?.as_f64().unwrap_or(f64::NAN);
            }
            browser.end().await;
            Ok::<_, String>(times)
        })?;
        let figure = |what: &str, ms, goal| {
            Measured::new(format!("{name} in the page: Run to verified, {what}"), ms, "ms", goal)
        };
        let goal = Some(Goal::AtMost(*goal_ms));
        figures.extend([figure("first", first, None), figure("again", again, goal)]);
    }
    Ok(figures)
}

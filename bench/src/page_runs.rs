//! How long runs take that the page does itself.

use std::time::{Duration, Instant};

use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::dist;
use tilewright_tests::static_host;

use crate::figures::{Goal, Measured};

/// Clicks on Run. Milliseconds until the run has ended and was compared with the reference are left in the window.
const RUN_TO_VERIFIED: &str = "
    const start = performance.now();
    const has = (id) => document.querySelector(`[data-testid=${id}]`);
    const look = () => {
        if (has('agreement') && has('run')) window.tookMs = performance.now() - start;
        else setTimeout(look, 1);
    };
    window.tookMs = null;
    has('run').click();
    setTimeout(look, 10);";

/// Longest run.
const PATIENCE: Duration = Duration::from_secs(600);

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
const MADE_UP: [Runs; 7] = [
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
    Runs { link: "zoo:vgg16&strategy=swap", name: "VGG16, whole", goal_ms: 60_000.0 },
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
        let ([first, again], speed) = runtime.block_on(async {
            let browser = Browser::start(1440, 900, false).await;
            browser.open(&format!("{site}#model={link}&view=run")).await;
            if index >= BUNDLED.len() {
                browser.click("random-input").await;
            }
            browser.text_when("results", |text| !text.is_empty()).await;
            tokio::time::sleep(Duration::from_millis(1500)).await;
            let mut times = [f64::NAN; 2];
            for time in &mut times {
                browser.script(RUN_TO_VERIFIED, Vec::new()).await;
                let until = Instant::now() + PATIENCE;
                while time.is_nan() && Instant::now() < until {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    let told = browser.script("return window.tookMs", Vec::new()).await;
                    *time = told.as_f64().unwrap_or(f64::NAN);
                }
            }
            let instructions = browser.text_when("run-instructions", |_| true).await;
            let emulated = browser.text_when("emulated-by", |_| true).await;
            browser.end().await;
            (times, speed(&instructions, &emulated))
        });
        let figure = |what: &str, ms, goal| {
            Measured::new(format!("{name} in the page: Run to verified, {what}"), ms, "ms", goal)
        };
        let goal = Some(Goal::AtMost(*goal_ms));
        figures.extend([figure("first", first, None), figure("again", again, goal)]);
        let what = format!("{name} in the page: emulated");
        figures.extend(speed.map(|speed| Measured::new(what, speed, "M instr/s", None)));
    }
    Ok(figures)
}

/// Million instructions a second, from what the page says of both: `12 345 ... (counted)`, `... in 46.9 ms (measured)`.
fn speed(instructions: &str, emulated: &str) -> Option<f64> {
    let digits: String = instructions.chars().filter(char::is_ascii_digit).collect();
    let (_, took) = emulated.rsplit_once(" in ")?;
    let mut words = took.split_whitespace();
    let (value, unit) = (words.next()?.parse::<f64>().ok()?, words.next()?);
    let micros = match unit {
        "ms" => value * 1e3,
        "s" => value * 1e6,
        "min" => value * 60e6,
        _ => return None,
    };
    Some(digits.parse::<f64>().ok()? / micros)
}

//! How fast view Explore makes plans, and how smoothly the page moves meanwhile.

use std::time::Duration;

use serde_json::Value;
use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::dist;
use tilewright_tests::static_host;

use crate::figures::{Goal, Measured};

/// Twenty MobileNetV1 on five boards by five strategies, with two budgets: 1,000 plans.
fn choice() -> String {
    let models = ["0.25", "0.5", "0.75", "1"].into_iter().flat_map(|width| {
        [96, 128, 160, 192, 224].map(|size| format!("mobilenet-v1-w{width}-r{size}"))
    });
    let models: Vec<String> = models.collect();
    format!(
        "m:{};b:stm32f746g-disco,stm32f469i-disco,nucleo-f767zi,nucleo-l4r5zi,pico-2;\
         s:auto,resident,overlay,swap,external;r:196608,262144",
        models.join(",")
    )
}

/// Has `window.plans` say milliseconds until the first point and until all plans, and the mean and the longest time between frames.
const PLANS: &str = "
    const start = performance.now();
    const times = [];
    let last = 0, first = 0;
    const look = (now) => {
        if (last > 0) times.push(now - last);
        last = now;
        if (!first && document.querySelector('.scatter-mark')) first = now - start;
        const count = document.querySelector('[data-testid=explore-count]');
        if (count && count.innerText.includes('fit.')) {
            const mean = times.reduce((a, b) => a + b, 0) / times.length;
            window.plans = [first, now - start, mean, Math.max(...times)];
            return;
        }
        requestAnimationFrame(look);
    };
    document.querySelector('[data-testid=explore-begin]').click();
    requestAnimationFrame(look);";

/// A thousand plans of networks of MobileNet size, in a page that nobody serves.
///
/// # Errors
/// If no runtime can be had; a browser that fails panics.
pub fn figures() -> Result<Vec<Measured>, String> {
    let runtime = tokio::runtime::Runtime::new().map_err(|e| e.to_string())?;
    let site = static_host::serve(dist().join("page"), "page");
    let times = runtime.block_on(async {
        let browser = Browser::start(1440, 900, false).await;
        // It begins by itself: stopped, it is begun again as if nothing were known.
        browser.open(&format!("{site}#view=explore&explore={}", choice())).await;
        browser.click("explore-stop").await;
        browser.find("explore-begin").await;
        browser.script(PLANS, Vec::new()).await;
        // Longer than a script may take.
        let mut times = Value::Null;
        while times.is_null() {
            tokio::time::sleep(Duration::from_secs(1)).await;
            times = browser.script("return window.plans ?? null", Vec::new()).await;
        }
        browser.end().await;
        times
    });
    let time = |index: usize| times[index].as_f64().unwrap_or(f64::NAN);
    let figure = |what: &str, value: f64, unit, most| {
        Measured::new(format!("view Explore: {what}"), value, unit, Some(Goal::AtMost(most)))
    };
    Ok(vec![
        figure("first point", time(0) / 1e3, "s", 1.0),
        figure("1,000 plans of MobileNetV1", time(1) / 1e3, "s", 60.0),
        figure("frame meanwhile, mean", time(2), "ms", 17.0),
        Measured::new("view Explore: frame meanwhile, longest", time(3), "ms", None),
    ])
}

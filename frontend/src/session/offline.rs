//! Working without a network: the service worker of `static/service-worker.js` is installed once the
//! page has nothing better to do.

use js_sys::Reflect;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::{JsFuture, spawn_local};

const SCRIPT: &str = "./service-worker.js";
/// What the page's file says if nobody built it for a host.
const UNBUILT: &str = "development";

/// The build that this page belongs to: part of the address of every file that has no hash in its
/// name, so that no cache mixes builds.
#[must_use]
pub fn build() -> String {
    let root = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.document_element());
    root.and_then(|root| root.get_attribute("data-build")).unwrap_or_else(|| UNBUILT.to_owned())
}

/// The address of a file beside the page, of this page's build.
#[must_use]
pub fn of_this_build(path: &str) -> String {
    format!("{path}?{}", build())
}

/// Whether the person asked the browser to spare data.
#[must_use]
pub fn spares_data() -> bool {
    let get = |value: &JsValue, key: &str| Reflect::get(value, &key.into()).unwrap_or_default();
    let Some(window) = web_sys::window() else { return true };
    get(&get(&window.navigator(), "connection"), "saveData").is_truthy()
}

/// Installs the service worker. A browser that has none, or denies it, shows the page all the same.
pub fn install() {
    let Some(window) = web_sys::window() else { return };
    let navigator = window.navigator();
    // Only secure origins have it.
    let has = Reflect::has(&navigator, &"serviceWorker".into()).unwrap_or(false);
    if !has || build() == UNBUILT || spares_data() {
        return;
    }
    let installed = navigator.service_worker().register(SCRIPT);
    spawn_local(async move {
        // Without it the page needs the network, as any page does.
        let _ = JsFuture::from(installed).await;
    });
}

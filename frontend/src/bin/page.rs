//! The page. What draws panels is a part of its program that is fetched after the first view.

use tilewright_frontend::ui::{App, Panels, Props, Rest};
use wasm_bindgen_futures::spawn_local;
use wasm_split_helpers::{SplitLoaderError, wasm_split};
use yew::Callback;

fn main() {
    let root = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.get_element_by_id("app"));
    let Some(root) = root else { return };
    root.set_inner_html("");
    let fetch_panels = Callback::from(|come: Callback<Rest>| {
        spawn_local(async move {
            come.emit(fetched_panels().await.map_or(Rest::Missing, Rest::There));
        });
    });
    yew::Renderer::<App>::with_root_and_props(root, Props { fetch_panels }).render();
}

// Here, not in the library: what it exports would be in each program that links the library.
#[wasm_split(panels, fallible)]
fn fetched_panels() -> Result<Panels, SplitLoaderError> {
    Ok(Panels::here())
}

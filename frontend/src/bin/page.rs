//! The page.

use tilewright_frontend::ui::App;

fn main() {
    let root = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.get_element_by_id("app"));
    let Some(root) = root else { return };
    root.set_inner_html("");
    yew::Renderer::<App>::with_root(root).render();
}

//! A dialog over the page: it opens and closes as the state says.

use web_sys::HtmlDialogElement;
use yew::prelude::*;

/// The node of a `dialog` element that is shown over the page while `is_open` holds.
#[hook]
pub fn use_modal(is_open: bool) -> NodeRef {
    let node = use_node_ref();
    let of_effect = node.clone();
    use_effect_with(is_open, move |is_open| {
        let Some(dialog) = of_effect.cast::<HtmlDialogElement>() else { return };
        match (*is_open, dialog.open()) {
            (true, false) => {
                let _ = dialog.show_modal();
            }
            (false, true) => dialog.close(),
            _ => {}
        }
    });
    node
}

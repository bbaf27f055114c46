//! The names of the views: one is shown.

use web_sys::Element;
use yew::prelude::*;

use crate::state::{Event, View};

#[derive(PartialEq, Properties)]
pub struct Props {
    /// The view that is shown.
    pub view: View,
    pub on: Callback<Event>,
}

/// The names, in a row that scrolls where it has no room; the current one is always in sight.
#[component]
pub fn Tabs(props: &Props) -> Html {
    let row = use_node_ref();
    {
        let row = row.clone();
        use_effect_with(props.view, move |_| {
            let row = row.cast::<Element>();
            let tab = row.as_ref().and_then(|row| row.query_selector("[aria-current]").ok()?);
            if let (Some(row), Some(tab)) = (row, tab) {
                bring_into_sight(&row, &tab);
            }
        });
    }
    html! {
        <nav class="tabs" aria-label="Views" ref={row}>
            { for View::ALL.into_iter().map(|view| {
                let is_current = props.view == view;
                html! {
                    <button key={view.id()} type="button" class="tab"
                        aria-current={is_current.then_some("page")}
                        data-testid={format!("view-{}", view.id())}
                        onclick={props.on.reform(move |_| Event::Show(view))}>
                        { view.title() }
                    </button>
                }
            }) }
        </nav>
    }
}

/// Scrolls the row, and nothing else, so that the tab lies in its middle where it can.
fn bring_into_sight(row: &Element, tab: &Element) {
    let (around, inside) = (row.get_bounding_client_rect(), tab.get_bounding_client_rect());
    let apart = inside.left() + inside.width() / 2.0 - around.left() - around.width() / 2.0;
    row.set_scroll_left(row.scroll_left() + apart as i32);
}

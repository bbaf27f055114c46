//! Small parts that several panels use.

use tilewright_report::Kind;
use yew::prelude::*;

use crate::state::{Event, Place};
use tilewright_report::Diagnostic;

/// How a figure came to be, as a quiet tag.
pub fn kind_tag(kind: Kind) -> Html {
    let title = match kind {
        Kind::Proved => "Proved: no plan of this kind needs less, or the gap is known",
        Kind::Counted => "Counted: bytes laid out or instructions executed",
        Kind::Modelled => "Modelled: computed from parameters with a source",
        Kind::Measured => "Measured on hardware",
    };
    let word = kind.word();
    html! { <span class={classes!("kind", format!("kind-{word}"))} {title}>{ word }</span> }
}

/// What went wrong at a place, and what to do. `kept`: what is still shown all the same; empty if
/// nothing is.
pub fn trouble_box(
    trouble: &Diagnostic,
    place: Place,
    kept: &'static str,
    on: &Callback<Event>,
) -> Html {
    html! {
        <div class="trouble" role="alert" data-testid="trouble">
            <p class="trouble-what">{ &trouble.what }</p>
            if !trouble.place.is_empty() { <p>{ &trouble.place }</p> }
            if !trouble.what_to_do.is_empty() {
                <p class="trouble-remedy">{ &trouble.what_to_do }</p>
            }
            if !kept.is_empty() { <p class="muted">{ kept }</p> }
            <button type="button" class="quiet" onclick={on.reform(move |_| Event::Dismiss(place))}>
                { "Dismiss" }
            </button>
        </div>
    }
}

/// What colours mean: endings of their names, and words.
pub fn legend(entries: Vec<(&'static str, AttrValue)>) -> Html {
    html! {
        <ul class="legend">
            { for entries.into_iter().map(|(id, title)| html! {
                <li key={id}>
                    <svg width="12" height="12" aria-hidden="true">
                        <rect width="12" height="12" rx="2" class={format!("fill-{id}")} />
                    </svg>
                    { title }
                </li>
            }) }
        </ul>
    }
}

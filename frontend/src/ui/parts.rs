//! Small parts that several panels use.

use tilewright_report::Kind;
use yew::prelude::*;

use crate::message::Trouble;

#[derive(PartialEq, Properties)]
pub struct KindProps {
    pub kind: Kind,
}

/// How a figure came to be, as a quiet tag.
#[component]
pub fn KindTag(props: &KindProps) -> Html {
    let title = match props.kind {
        Kind::Proved => "Proved: no plan of this kind needs less, or the gap is known",
        Kind::Counted => "Counted: bytes laid out or instructions executed",
        Kind::Modelled => "Modelled: computed from parameters with a source",
        Kind::Measured => "Measured on hardware",
    };
    let word = props.kind.word();
    html! { <span class={classes!("kind", format!("kind-{word}"))} {title}>{ word }</span> }
}

#[derive(PartialEq, Properties)]
pub struct TroubleProps {
    pub trouble: Trouble,
    /// What is still shown although something went wrong; empty if nothing is.
    #[prop_or_default]
    pub kept: AttrValue,
    pub on_dismiss: Callback<()>,
}

/// What went wrong, where, and what to do.
#[component]
pub fn TroubleBox(props: &TroubleProps) -> Html {
    let on_dismiss = props.on_dismiss.clone();
    html! {
        <div class="trouble" role="alert" data-testid="trouble">
            <p class="trouble-what">{ &props.trouble.what }</p>
            if !props.trouble.detail.is_empty() { <p>{ &props.trouble.detail }</p> }
            if !props.trouble.remedy.is_empty() {
                <p class="trouble-remedy">{ &props.trouble.remedy }</p>
            }
            if !props.kept.is_empty() { <p class="muted">{ &props.kept }</p> }
            <button type="button" class="quiet" onclick={move |_| on_dismiss.emit(())}>
                { "Dismiss" }
            </button>
        </div>
    }
}

#[derive(PartialEq, Properties)]
pub struct LegendProps {
    /// Ending of the colour's name, and what it means.
    pub entries: Vec<(&'static str, AttrValue)>,
}

/// What colours mean.
#[component]
pub fn Legend(props: &LegendProps) -> Html {
    html! {
        <ul class="legend">
            { for props.entries.iter().map(|(id, title)| html! {
                <li key={*id}>
                    <svg width="12" height="12" aria-hidden="true">
                        <rect width="12" height="12" rx="2" class={format!("fill-{id}")} />
                    </svg>
                    { title }
                </li>
            }) }
        </ul>
    }
}

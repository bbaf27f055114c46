//! The frame of a view.

use yew::prelude::*;

use super::icon::{Glyph, icon};
use crate::state::{Event, View};
use crate::view_model::glossary::terms;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub view: View,
    pub is_maximised: bool,
    pub on: Callback<Event>,
    /// Whether what is shown belongs to older settings.
    #[prop_or_default]
    pub is_stale: bool,
    /// Exports, as buttons.
    #[prop_or_default]
    pub actions: Html,
    pub children: Html,
}

/// A section with a title, exports and a button that maximises it.
#[component]
pub fn Panel(props: &Props) -> Html {
    let Props { view, is_maximised, on, .. } = props;
    let id = view.id();
    let heading = format!("heading-{id}");
    let (glyph, label, next) = if *is_maximised {
        (Glyph::Restore, "Show all panels", View::All)
    } else {
        (Glyph::Maximise, "Show only this panel", *view)
    };
    let on = on.clone();
    html! {
        <section
            class={classes!("panel", format!("panel-{id}"), props.is_stale.then_some("stale"))}
            aria-labelledby={heading.clone()}
            data-testid={format!("panel-{id}")}
        >
            <header class="panel-head">
                <h2 id={heading}>{ view.title() }</h2>
                <div class="panel-actions">
                    { props.actions.clone() }
                    <button type="button" class="quiet icon-button maximise" title={label} aria-label={label}
                        onclick={move |_| on.emit(Event::Show(next))}>
                        { icon(glyph) }
                    </button>
                </div>
            </header>
            <div class="panel-body">{ props.children.clone() }{ words(*view) }</div>
        </section>
    }
}

/// What the words mean that the view uses.
fn words(view: View) -> Html {
    let mut terms = terms(view).peekable();
    if terms.peek().is_none() {
        return Html::default();
    }
    html! {
        <details class="terms" data-testid={format!("terms-{}", view.id())}>
            <summary>{ "Words used here" }</summary>
            <dl>
                { for terms.map(|term| html! {
                    <div key={term.word}><dt>{ term.word }</dt><dd>{ term.meaning.trim_start_matches(": ") }</dd></div>
                }) }
            </dl>
        </details>
    }
}

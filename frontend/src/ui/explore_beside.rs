//! Plans side by side: the one that was picked and those that were pinned, or all.

use std::rc::Rc;

use tilewright_report::{SweepKey, SweepRow};
use yew::prelude::*;

use super::parts::kind_tag;
use crate::state::{Event, Explore, ExploreEvent};
use crate::view_model::explore::{beside, link};

/// The open model: what rows call it, and how a link names it.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    pub name: String,
    pub link: String,
}

#[derive(PartialEq, Properties)]
pub struct Props {
    /// The plans, each in a column.
    pub shown: Vec<Rc<SweepRow>>,
    pub explore: Explore,
    pub open: Option<Opened>,
    pub on: Callback<Event>,
}

#[component]
pub fn ExploreBeside(props: &Props) -> Html {
    let rows = &props.shown;
    if rows.is_empty() {
        return html! {
            <p class="muted detail">{ "Click a point or a cell to see its figures; pin some to compare them." }</p>
        };
    }
    let keys: Vec<&SweepKey> = rows.iter().map(|row| &row.key).collect();
    let words = SweepKey::words_apart(&keys);
    html! {
        <div class="table-scroll" tabindex="0" role="group" aria-label="Plans side by side">
            <table class="strategies" data-testid="explore-beside">
                <thead><tr>
                    <th scope="col">{ "Plan" }</th>
                    { for rows.iter().zip(words).map(|(row, words)| head(props, row, words)) }
                </tr></thead>
                <tbody>
                    { for beside(rows).iter().map(|figure| html! {
                        <tr key={figure.title}>
                            <th scope="row">{ figure.title }{ kind_tag(figure.kind) }</th>
                            { for figure.cells.iter().enumerate().map(|(index, (text, is_best))| html! {
                                <td key={index} class={classes!("number", is_best.then_some("best"))}>
                                    if *is_best {
                                        <span aria-hidden="true">{ "★ " }</span>
                                        <span class="visually-hidden">{ "best: " }</span>
                                    }
                                    { text }
                                </td>
                            }) }
                        </tr>
                    }) }
                    if rows.iter().any(|row| row.problem.is_some()) {
                        <tr>
                            <th scope="row">{ "Why it does not fit" }</th>
                            { for rows.iter().map(|row| html! { <td>{ row.problem.clone() }</td> }) }
                        </tr>
                    }
                </tbody>
            </table>
        </div>
    }
}

fn head(props: &Props, row: &SweepRow, words: String) -> Html {
    let key: &SweepKey = &row.key;
    let is_pinned = props.explore.pinned.iter().any(|pinned| pinned.key == *key);
    let pin = {
        let key = key.clone();
        props.on.reform(move |_: MouseEvent| Event::Explore(ExploreEvent::Pin(key.clone())))
    };
    let open = props.open.as_ref().map(|open| (open.name.as_str(), open.link.as_str()));
    html! {
        <th key={key.words()} scope="col" class="number">
            <span class="explore-head" title={key.words()}>{ words }</span>
            <span class="explore-head">
                if row.plan.is_some() {
                    <a class="button" href={link(key, open)} data-testid="explore-open">{ "Open" }</a>
                }
                <button type="button" class="quiet" aria-pressed={is_pinned.to_string()} onclick={pin}
                    data-testid="explore-pin">{ if is_pinned { "Unpin" } else { "Pin" } }</button>
            </span>
        </th>
    }
}

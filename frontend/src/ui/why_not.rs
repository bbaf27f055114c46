//! Why a plan does not fit: what the bytes are, and what would help.

use tilewright_report::{DoesNotFit, short_name};
use yew::prelude::*;

use super::live_table::fill;
use crate::state::Event;
use crate::view_model::figures;
use crate::view_model::remedies::{Remedies, RemedyRow, parts};

/// The bytes, and the remedies as buttons.
pub fn why_not(reason: &DoesNotFit, remedies: &Remedies, on: &Callback<Event>) -> Html {
    html! {
        <>
            <h3>{ format!("What fills the {}", reason.memory) }</h3>
            <table class="parts" data-testid="parts">
                <thead class="visually-hidden"><tr>
                    <th scope="col">{ "What" }</th><th scope="col">{ "Use" }</th>
                    <th scope="col">{ "Bytes" }</th><th scope="col">{ "Share" }</th>
                </tr></thead>
                <tbody>
                    { for reason.parts.iter().zip(parts(reason)).enumerate().map(|(index, (part, row))| html! {
                        <tr key={index}>
                            <th scope="row" title={row.name.clone()}>
                                { if row.name.is_empty() { row.role } else { short_name(&row.name) } }
                            </th>
                            <td class="muted">{ if row.name.is_empty() { "" } else { row.role } }</td>
                            <td class="number">{ figures::grouped(row.bytes) }</td>
                            <td class="part-share">
                                <svg width="100%" height="12" aria-hidden="true">
                                    <rect height="12" class={fill(part.role)}
                                        width={format!("{}%", figures::fixed(row.share * 100.0, 1))} />
                                </svg>
                                <span class="visually-hidden">{ figures::percent(row.share, 1.0) }</span>
                            </td>
                        </tr>
                    }) }
                </tbody>
            </table>
            <h3>{ "What would help" }</h3>
            if remedies.rows.is_empty() {
                <p class="muted" data-testid="no-remedy">
                    { if remedies.is_searching {
                        "Planning other ways…".to_owned()
                    } else {
                        format!("Of {} other ways that were planned none helps. A model of lower \
                                 resolution or width needs less.",
                            remedies.tried - remedies.given_up)
                    } }
                </p>
            } else {
                <ol class="remedies" data-testid="remedies">
                    { for remedies.rows.iter().map(|row| remedy(row, on)) }
                </ol>
                if remedies.is_searching { <p class="muted detail">{ "Planning more…" }</p> }
            }
            if remedies.given_up > 0 && !remedies.is_searching {
                <p class="muted detail" data-testid="given-up">
                    { format!("Not planned to the end, since they take long: {}. Choose them to see.",
                        remedies.given_up) }
                </p>
            }
        </>
    }
}

fn remedy(row: &RemedyRow, on: &Callback<Event>) -> Html {
    let settings = row.settings.clone();
    let onclick = on.reform(move |_| Event::Settings(settings.clone(), false));
    let mark = if row.fits { "✓ " } else { "" };
    html! {
        <li key={row.title.clone()}>
            <button type="button" class="remedy" {onclick}>{ mark }{ &row.title }</button>
            <span class="detail">{ &row.detail }</span>
        </li>
    }
}

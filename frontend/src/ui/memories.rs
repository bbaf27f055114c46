//! All memories of a board as bars.

use tilewright_board::Board;
use tilewright_report::Kind;
use yew::prelude::*;

use super::chart::px;
use super::parts::kind_tag;
use crate::message::PlanFacts;
use crate::view_model::memories::{Bar, bars};

/// Least width of a part, in thousandths: what is there is seen.
const LEAST: f64 = 4.0;

/// Who has which bytes of each memory of the board.
pub fn memories(plan: &PlanFacts, board: &Board) -> Html {
    html! {
        <section class="memories" aria-labelledby="memories-heading" data-testid="memories">
            <h3 id="memories-heading">{ "All memories " }{ kind_tag(Kind::Counted) }</h3>
            <ul>
                { for bars(plan, board).iter().map(|bar| html! {
                    <li key={bar.title}>
                        <span class="detail">{ bar.words() }</span>
                        { drawn(bar) }
                    </li>
                }) }
            </ul>
        </section>
    }
}

fn drawn(bar: &Bar) -> Html {
    let mut left = 0.0;
    let scale = 1000.0 / bar.bytes.max(1) as f64;
    html! {
        <svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
            { for bar.parts.iter().map(|part| {
                let width = (part.bytes as f64 * scale).max(LEAST).min(1000.0 - left);
                let x = left;
                left += width;
                html! {
                    <rect class={format!("fill-{}", part.fill)} x={px(x)} y="0" width={px(width)} height="10" />
                }
            }) }
        </svg>
    }
}

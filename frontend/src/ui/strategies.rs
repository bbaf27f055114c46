//! Strategies as a gallery: a picture, a sentence, and what each gives here.

use yew::prelude::*;

use crate::state::Event;
use crate::view_model::compare::Column;
use crate::view_model::strategies::{about, outcome};

/// A card for each strategy; a click chooses it.
pub fn gallery(columns: &[Column], on: &Callback<Event>) -> Html {
    html! {
        <ul class="gallery" data-testid="gallery">
            { for columns.iter().filter_map(|column| card(column, on)) }
        </ul>
    }
}

fn card(column: &Column, on: &Callback<Event>) -> Option<Html> {
    let about = about(&column.strategy)?;
    let settings = column.settings.clone();
    let onclick = on.reform(move |_| Event::Settings(settings.clone(), false));
    let (outcome, fits) = outcome(column);
    let class = classes!(
        "card",
        column.is_chosen.then_some("card-chosen"),
        (!fits).then_some("card-unfit")
    );
    Some(html! {
        <li key={about.name}>
            <button type="button" {class} aria-pressed={column.is_chosen.to_string()}
                data-testid={format!("card-{}", about.name)} {onclick}>
                { picture(about.name) }
                <strong>{ about.name }</strong>
                <span>{ about.sentence }</span>
                <span class="detail card-outcome">{ if fits { "✓ " } else { "" } }{ outcome }</span>
            </button>
        </li>
    })
}

/// A box of a picture: left, top, width, height, and its colour.
type Block = (f64, f64, f64, f64, &'static str);

/// SRAM, and what lies below it, as an emblem: 96 × 48.
fn picture(name: &str) -> Html {
    const IN: &str = "fill-input";
    const OUT: &str = "fill-output";
    const REST: &str = "fill-rest";
    const WEIGHTS: &str = "fill-weights";
    const COMES: &str = "fill-scratch";
    // Each arrow goes from a point to another.
    let (blocks, arrows): (&[Block], &[[f64; 4]]) = match name {
        "resident" => {
            (&[(4., 4., 30., 14., IN), (36., 4., 40., 14., OUT), (4., 34., 72., 10., WEIGHTS)], &[])
        }
        "reordered" => (
            &[
                (4., 4., 14., 14., IN),
                (30., 4., 14., 14., REST),
                (56., 4., 14., 14., OUT),
                (4., 30., 14., 14., IN),
                (30., 30., 14., 14., OUT),
                (56., 30., 14., 14., REST),
            ],
            &[[37., 19., 62., 29.], [62., 19., 37., 29.]],
        ),
        "ping-pong" => (
            &[(8., 8., 30., 32., IN), (58., 8., 30., 32., OUT)],
            &[[40., 16., 56., 16.], [56., 32., 40., 32.]],
        ),
        "external" => (
            &[(4., 30., 50., 14., IN), (56., 30., 34., 14., WEIGHTS)],
            &[[30., 28., 44., 12.], [72., 28., 52., 12.]],
        ),
        "overlay" => (
            &[(4., 4., 22., 14., IN), (30., 4., 22., 14., COMES), (4., 34., 86., 10., REST)],
            &[[41., 32., 41., 20.]],
        ),
        "swap" => (
            &[(20., 4., 18., 12., COMES), (54., 4., 18., 12., OUT), (4., 32., 86., 12., REST)],
            &[[29., 30., 29., 18.], [63., 18., 63., 30.]],
        ),
        "stream" => (
            &[
                (4., 4., 40., 6., IN),
                (4., 12., 40., 6., OUT),
                (56., 4., 18., 14., WEIGHTS),
                (4., 34., 86., 10., WEIGHTS),
            ],
            &[[65., 32., 65., 20.]],
        ),
        "sparse-tiled" => (
            &[
                (4., 4., 16., 16., IN),
                (22., 4., 16., 16., OUT),
                (4., 22., 16., 16., REST),
                (22., 22., 16., 16., REST),
                (54., 4., 4., 34., WEIGHTS),
                (64., 4., 4., 34., WEIGHTS),
                (82., 4., 4., 34., WEIGHTS),
            ],
            &[],
        ),
        _ => (
            &[
                (4., 30., 14., 14., IN),
                (24., 20., 14., 24., OUT),
                (44., 10., 14., 34., REST),
                (64., 26., 14., 18., WEIGHTS),
            ],
            &[[8., 24., 76., 4.]],
        ),
    };
    html! {
        <svg class="card-picture" viewBox="0 0 96 48" width="96" height="48" aria-hidden="true">
            { for blocks.iter().map(|(x, y, width, height, fill)| html! {
                <rect class={*fill} x={x.to_string()} y={y.to_string()} width={width.to_string()}
                    height={height.to_string()} rx="1.5" />
            }) }
            { for arrows.iter().map(|[x1, y1, x2, y2]| html! {
                <>
                    <line class="card-arrow" x1={x1.to_string()} y1={y1.to_string()} x2={x2.to_string()} y2={y2.to_string()} />
                    <circle class="card-tip" cx={x2.to_string()} cy={y2.to_string()} r="2.5" />
                </>
            }) }
        </svg>
    }
}

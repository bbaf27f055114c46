//! What of SRAM is held, on the axis of the lanes.

use tilewright_report::Held;
use yew::prelude::*;

use super::paths::Stacks;
use crate::message::PlanFacts;
use crate::ui::chart::{first_fitting, px};
use crate::view_model::figures;
use crate::view_model::timeline::{HeldBytes, Window};

/// Height of the drawing, title and room below included.
pub const HEIGHT: f64 = 112.0;
const TITLE: f64 = 16.0;
const BARS: f64 = 84.0;

/// What colours mean.
pub fn legend() -> impl Iterator<Item = (&'static str, AttrValue)> {
    Held::ALL
        .into_iter()
        .map(|held| (id(held), AttrValue::from(format!("{} in SRAM", held.words()))))
}

/// How what is held is filled.
pub fn fill_of_held(held: Held) -> String {
    format!("fill-{}", id(held))
}

const fn id(held: Held) -> &'static str {
    match held {
        Held::Inputs => "input",
        Held::Weights => "weights",
        Held::Results => "output",
    }
}

/// The drawing below `top`.
pub fn drawing(plan: &PlanFacts, held: &HeldBytes, window: Window, room: f64, top: f64) -> Html {
    let limit = plan.report.sram_limit_bytes.0;
    // A limit far above everything would press it flat.
    let is_limit_seen = limit <= 2 * held.peak;
    let scale = BARS / if is_limit_seen { limit.max(held.peak) } else { held.peak }.max(1) as f64;
    let floor = top + TITLE + BARS;
    let mut stacks = Stacks::<{ Held::ALL.len() }>::on(floor);
    for parts in held.columns(window, room.clamp(1.0, 16_384.0) as usize) {
        stacks.push(parts.iter().map(|bytes| (*bytes as f64 * scale) as f32), 0, BARS as u16);
    }
    let paths = stacks.finish();
    let (peak, all) = (figures::binary(held.peak), figures::binary(limit));
    let most = format!("at most {peak} of {all}");
    let limit_at = floor - limit as f64 * scale;
    html! {
        <g data-testid="held">
            <text class="lane-title" x="0" y={px(top + 10.0)}>
                { first_fitting(&[
                    format!("SRAM held at a moment: {most} (bytes counted, time modelled)"),
                    format!("SRAM held at a moment: {most} (counted)"),
                    format!("SRAM held: {most} (counted)"),
                ], room) }
            </text>
            { for Held::ALL.into_iter().zip(paths).filter(|(_, d)| !d.is_empty()).map(|(held, d)| html! {
                <path key={id(held)} class={fill_of_held(held)} {d} />
            }) }
            if is_limit_seen {
                <g class="limit-line"><line x1="0" x2={px(room)} y1={px(limit_at)} y2={px(limit_at)} /></g>
            }
            <g class="axis"><line x1="0" x2={px(room)} y1={px(floor)} y2={px(floor)} /></g>
        </g>
    }
}

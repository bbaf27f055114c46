//! What of SRAM is held, on the axis of the lanes.

use tilewright_report::Held;
use yew::prelude::*;

use super::drawing::rectangle;
use crate::message::PlanFacts;
use crate::ui::chart::px;
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

const fn id(held: Held) -> &'static str {
    match held {
        Held::Inputs => "input",
        Held::Weights => "scratch",
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
    let columns = held.columns(window, room.clamp(1.0, 16_384.0) as usize);
    let mut paths: [String; Held::ALL.len()] = std::array::from_fn(|_| String::new());
    let mut first = 0;
    while let Some(parts) = columns.get(first) {
        let same = columns[first..].iter().take_while(|other| *other == parts).count();
        let mut low = 0;
        for (path, bytes) in paths.iter_mut().zip(parts).filter(|(_, bytes)| **bytes > 0) {
            let ends = [low + bytes, low].map(|bytes| floor - bytes as f64 * scale);
            path.push_str(&rectangle([first as f64, (first + same) as f64], ends));
            low += bytes;
        }
        first += same;
    }
    let limit_at = floor - limit as f64 * scale;
    html! {
        <g data-testid="held">
            <text class="lane-title" x="0" y={px(top + 10.0)}>
                { format!("SRAM held: at most {} of {} (bytes counted, time modelled)",
                    figures::binary(held.peak), figures::binary(limit)) }
            </text>
            { for Held::ALL.into_iter().zip(paths).filter(|(_, d)| !d.is_empty()).map(|(held, d)| html! {
                <path key={id(held)} class={format!("fill-{}", id(held))} {d} />
            }) }
            if is_limit_seen {
                <g class="limit-line"><line x1="0" x2={px(room)} y1={px(limit_at)} y2={px(limit_at)} /></g>
            }
            <g class="axis"><line x1="0" x2={px(room)} y1={px(floor)} y2={px(floor)} /></g>
        </g>
    }
}

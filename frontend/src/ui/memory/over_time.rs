//! What buffers in SRAM hold over time: inputs, weights and results, one above the other.

use tilewright_report::Held;
use yew::prelude::*;

use super::{ARENA, Frame, LEFT, RIGHT};
use crate::ui::chart::px;
use crate::ui::timeline_chart::{fill_of_held, push_rectangle};
use crate::view_model::memory::Buffers;

/// The drawing above `floor`; the axis of time lies below it.
pub fn drawing(buffers: &Buffers, frame: &Frame, floor: f64) -> Html {
    let room = (frame.width - LEFT - RIGHT).max(1.0);
    let columns = buffers.held.columns(buffers.window, room as usize);
    let mut paths: [String; Held::ALL.len()] = std::array::from_fn(|_| String::new());
    let mut first = 0;
    while let Some(parts) = columns.get(first) {
        let same = columns[first..].iter().take_while(|other| *other == parts).count();
        let ends = [first, first + same].map(|x| LEFT + x as f64);
        let mut low = 0;
        for held in Held::ALL {
            let high = low + parts[held as usize];
            if high > low {
                let place = [high, low].map(|bytes| floor - frame.length(bytes, ARENA));
                push_rectangle(&mut paths[held as usize], ends, place);
            }
            low = high;
        }
        first += same;
    }
    let ticks = buffers.window.ticks((room / 112.0) as usize);
    html! {
        <g data-testid="buffers">
            { for Held::ALL.into_iter().zip(paths).filter(|(_, d)| !d.is_empty()).map(|(held, d)| html! {
                <path key={held.words()} class={fill_of_held(held)} {d} />
            }) }
            { for ticks.into_iter().enumerate().map(|(index, (at, text))| {
                let share = (at - buffers.window.from_us) / buffers.window.length();
                // Labels must not run off the drawing.
                let anchor = if share > 0.95 { "end" } else { "middle" };
                html! {
                    <text key={index} class="tick" x={px(LEFT + share * room)} y={px(floor + 16.0)}
                        text-anchor={anchor}>{ text }</text>
                }
            }) }
        </g>
    }
}

/// The share of the time at a place of the drawing, if it lies on the axis.
pub fn share_at(frame_width: f64, x: f64) -> Option<f64> {
    let room = (frame_width - LEFT - RIGHT).max(1.0);
    let share = (x - LEFT) / room;
    (0.0..=1.0).contains(&share).then_some(share)
}

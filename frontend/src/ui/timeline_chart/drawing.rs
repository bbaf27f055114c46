//! The lanes as they stand: axis, frames, titles, bars, and what of SRAM is held below.

use tilewright_plan::LaneKind;
use tilewright_report::SliceKind;
use yew::prelude::*;

use super::held;
use super::paths::{Stacks, push_rectangle};
use crate::message::PlanFacts;
use crate::state::Selection;
use crate::ui::chart::{first_fitting, fitted, px};
use crate::view_model::timeline::{
    Bar, CLASSES, DRIVER_OVERHEAD, Lane, Lanes, Seen, Window, family_of, layer_name,
};

const TOP: f64 = 8.0;
const LANE: f64 = 48.0;
const TITLE: f64 = 16.0;
const BAR: f64 = 24.0;
const AXIS: f64 = 24.0;
/// Height of all lines of frames, if they are as high as one may be or lower; and height of a line.
const FRAMES: f64 = 48.0;
const FRAME: (f64, f64) = (2.0, 8.0);
const RIGHT: f64 = 8.0;
/// Bars of so many pixels are elements of their own, with a name; narrower ones are drawn together.
const WIDE: f64 = 12.0;

/// Pixels that the axis has in a width.
pub fn room_of(width: f64) -> f64 {
    (width - RIGHT).max(1.0)
}

/// Height of a frame's line, the room below included: many are low.
fn frame_height(lanes: &Lanes) -> f64 {
    let (least, most) = FRAME;
    (FRAMES / lanes.frames.line_count().max(1) as f64).floor().clamp(least, most)
}

/// Where lanes begin, and where they end.
fn floors(lanes: &Lanes) -> [f64; 2] {
    let frames = match lanes.frames.line_count() {
        0 => 0.0,
        lines => TITLE + frame_height(lanes) * lines as f64 + TOP,
    };
    [TOP + frames, TOP + frames + LANE * lanes.lanes.len() as f64]
}

/// The time at a place where it is seen what of SRAM is held.
pub fn held_at(lanes: &Lanes, window: Window, room: f64, [x, y]: [f64; 2]) -> Option<f64> {
    let [_, floor] = floors(lanes);
    let is_there = !lanes.held.is_empty() && (floor..floor + held::HEIGHT).contains(&y);
    is_there.then(|| window.from_us + x * window.length() / room)
}

/// Lane and bar at a place of the drawing.
pub fn under(lanes: &Lanes, window: Window, room: f64, [x, y]: [f64; 2]) -> Option<(usize, usize)> {
    const REACH: f64 = 2.0;
    let pixel = window.length() / room;
    let [top, _] = floors(lanes);
    let lane = ((y - top) / LANE).floor();
    let is_bar = (lane >= 0.0) && y - top - lane * LANE >= TITLE;
    let lane = lane as usize;
    let bar =
        lanes.lanes.get(lane).filter(|_| is_bar)?.at(window.from_us + x * pixel, REACH * pixel);
    Some((lane, bar?))
}

/// The drawing in a width of pixels, with a line where the film is.
pub fn drawing(
    plan: &PlanFacts,
    lit: Selection,
    lanes: &Lanes,
    window: Window,
    width: f64,
    cursor_us: Option<f64>,
) -> Html {
    let room = room_of(width);
    let [lanes_top, lanes_floor] = floors(lanes);
    let has_held = !lanes.held.is_empty();
    let floor = lanes_floor + if has_held { held::HEIGHT } else { 0.0 };
    let x = |at: f64| (at - window.from_us) / window.length() * room;
    let ticks = window.ticks((width / 112.0) as usize);
    html! {
        <svg role="img" width={px(width)} height={px(floor + AXIS)} aria-label={lanes.summary.clone()}>
            <g class="axis">
                { for ticks.iter().enumerate().map(|(index, (at, text))| {
                    let x = x(*at);
                    // Labels must not run off the drawing.
                    let anchor = match x {
                        x if x < 32.0 => "start",
                        x if x > room - 32.0 => "end",
                        _ => "middle",
                    };
                    html! {
                        <g key={index}>
                            <line x1={px(x)} x2={px(x)} y1="0" y2={px(floor)} />
                            <text x={px(x)} y={px(floor + 16.0)} text-anchor={anchor}>{ text }</text>
                        </g>
                    }
                }) }
            </g>
            { frames(lanes, window, room) }
            { for lanes.lanes.iter().enumerate().map(|(index, lane)| {
                let top = lanes_top + LANE * index as f64;
                html! {
                    <g key={index}>
                        <text class="lane-title" x="0" y={px(top + 10.0)}>
                            { first_fitting(&titles(lane), room) }
                        </text>
                        { bars(plan, lit, lane, &lane.seen(window, room), [top + TITLE, room]) }
                    </g>
                }
            }) }
            if has_held { { held::drawing(plan, &lanes.held, window, room, lanes_floor) } }
            if let Some(x) = cursor_us.map(x).filter(|x| (0.0..=room).contains(x)) {
                <line class="cursor-line" data-testid="cursor" x1={px(x)} x2={px(x)} y1="0" y2={px(floor)} />
            }
        </svg>
    }
}

/// What a lane is and how its figures came to be, in more and in fewer words.
fn titles(lane: &Lane) -> [String; 2] {
    let Lane { title, .. } = lane;
    let time = lane.time.word();
    let what = match lane.lane {
        LaneKind::Core if lane.is_counted => "instructions",
        LaneKind::Core => return [0, 1].map(|_| format!("{title} (time {time})")),
        LaneKind::Dma | LaneKind::Card => "bytes",
    };
    [format!("{title} ({what} counted, time {time})"), format!("{title} ({what} counted)")]
}

/// A line for each frame, from where it begins to where it ends.
fn frames(lanes: &Lanes, window: Window, room: f64) -> Html {
    let (ends, lines) = (lanes.frames.ends(), lanes.frames.lines());
    if ends.is_empty() {
        return html! {};
    }
    let high = frame_height(lanes);
    // Of the lowest lines a gap would take half.
    let gap = if high > 4.0 { 2.0 } else { 0.5 };
    let x = |at: f64| ((at - window.from_us) / window.length() * room).clamp(0.0, room);
    html! {
        <g data-testid="frames">
            <text class="lane-title" x="0" y={px(TOP + 10.0)}>{ first_fitting(&lanes.frames.words(), room) }</text>
            { for ends.iter().zip(lines).enumerate().map(|(frame, ([from, to], line))| {
                let (left, right) = (x(*from), x(*to));
                let y = TOP + TITLE + high * *line as f64;
                html! {
                    <rect key={frame} class={classes!("frame-line", (frame % 2 == 1).then_some("odd"))}
                        x={px(left)} y={px(y)} width={px((right - left).max(0.0))} height={px(high - gap)} />
                }
            }) }
        </g>
    }
}

/// The bars of a lane: narrow ones as one path for each colour, wide ones with their names.
fn bars(plan: &PlanFacts, lit: Selection, lane: &Lane, seen: &Seen, [y, room]: [f64; 2]) -> Html {
    let mut paths = columns(seen, y);
    let mut lit_path = String::new();
    let mut wide = Vec::new();
    for (index, [start, end]) in &seen.bars {
        let bar = &lane.bars[*index];
        let [start, end] = [start.max(-WIDE), end.min(room)];
        let is_lit = lit.layer == Some(usize::from(bar.layer));
        if end - start >= WIDE {
            wide.push(wide_bar(plan, *index, bar, [start, end], y, is_lit));
            continue;
        }
        let ends = [start, (end - 0.25).max(start + 0.75)];
        if is_lit {
            push_rectangle(&mut lit_path, ends, [y, y + BAR]);
        }
        push_rectangle(&mut paths[usize::from(bar.class)], ends, [y, y + BAR]);
    }
    html! {
        <>
            { for paths.into_iter().enumerate().filter(|(_, d)| !d.is_empty()).map(|(class, d)| html! {
                <path key={class} class={fill(class)} {d} />
            }) }
            if !lit_path.is_empty() { <path class="bars-lit" d={lit_path} /> }
            { for wide }
        </>
    }
}

fn fill(class: usize) -> Classes {
    match family_of(class) {
        Some((family, is_odd)) => {
            classes!(format!("fill-{}", family.id()), is_odd.then_some("odd"))
        }
        None if class == usize::from(DRIVER_OVERHEAD) => classes!("fill-driver-overhead"),
        None => classes!("fill-stall"),
    }
}

/// What is narrower than a pixel, for each colour: columns as high as the part of their time that
/// it takes, and never so low that they are not seen.
fn columns(seen: &Seen, y: f64) -> [String; CLASSES] {
    const LEAST: u16 = 2;
    let mut stacks = Stacks::on(y + BAR);
    for column in &seen.columns {
        stacks.push(column.iter().map(|share| share * BAR as f32), LEAST, BAR as u16);
    }
    stacks.finish()
}

fn wide_bar(
    plan: &PlanFacts,
    index: usize,
    bar: &Bar,
    [start, end]: [f64; 2],
    y: f64,
    is_lit: bool,
) -> Html {
    // A name stands where the bar is seen.
    let from = start.max(0.0) + 4.0;
    let is_stall = bar.kind == SliceKind::Stall;
    let text = match bar.kind {
        SliceKind::Stall => "waits",
        SliceKind::DriverOverhead => "",
        SliceKind::Compute | SliceKind::Copy => layer_name(plan, bar.layer),
    };
    let label = fitted(text, end - from - 2.0)
        .filter(|label| !label.is_empty() && (!is_stall || label == text));
    html! {
        <g key={index}>
            <rect class={classes!("bar", fill(usize::from(bar.class)), is_lit.then_some("bar-lit"))} x={px(start)}
                y={px(y)} width={px(end - start - 0.5)} height={px(BAR)} />
            if let Some(label) = label {
                <text class={if is_stall { "stall-label" } else { "bar-label" }} x={px(from)} y={px(y + 16.0)}>{ label }</text>
            }
        </g>
    }
}

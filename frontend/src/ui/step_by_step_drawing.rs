//! The picture of two plans at an operator: both arenas, and lines from each operator's place in
//! one order to its place in the other.

use tilewright_report::{MemoryRow, PlacedTensor, short_name};
use yew::prelude::*;

use super::chart::{fitted, px};
use super::live_table::fill;
use crate::message::PlanFacts;
use crate::state::{Event, Selection};
use crate::view_model::figures;
use crate::view_model::memory::parts;
use crate::view_model::step_by_step::{
    Line, Move, Phase, Side, holds_parts_only, in_memory, lines, step,
};

/// Below this width the parts stand one below the other.
const WIDE: f64 = 760.0;
const TITLE: f64 = 40.0;
const STRIP: f64 = 48.0;
const GAP: f64 = 12.0;
const ARENA: f64 = 208.0;
const FOOT: f64 = 24.0;
const LEFT: f64 = 64.0;
/// Height of a side.
const HEIGHT: f64 = TITLE + STRIP + GAP + ARENA + FOOT;
const LINES: f64 = 232.0;
const BETWEEN: f64 = 16.0;
/// Height that an operator's name needs.
const ROW: f64 = 12.0;
/// Rows that are drawn where there is no room for names.
const MOST_LINES: f64 = 480.0;

/// A part's corner and size.
#[derive(Clone, Copy)]
struct Place {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// What the drawing tells and follows.
pub struct Links<'a> {
    /// A click goes to an operator.
    pub go: &'a Callback<Move>,
    /// What the pointer is over, in the plan that the other panels show.
    pub on: &'a Callback<Event>,
    /// What is lit in that plan.
    pub lit: Selection,
    /// Whether a side is that plan.
    pub is_shown: [bool; 2],
}

/// Both sides at an operator.
pub fn drawing([before, after]: [&Side; 2], at: usize, width: f64, links: &Links<'_>) -> Html {
    let most = |side: &Side| side.plan.memory.arena_bytes.max(side.plan.memory.peak_live_bytes).0;
    let most = most(before).max(most(after)).max(1);
    let lines = lines(&before.plan, &after.plan);
    let rows = before.plan.memory.rows.len().max(after.plan.memory.rows.len());
    let place = |x, y, width, height| Place { x, y, width, height };
    let (places, height) = if width >= WIDE {
        let side = (width - LINES - 2.0 * BETWEEN) / 2.0;
        let middle = place(side + BETWEEN, TITLE, LINES, HEIGHT - TITLE - FOOT);
        let right = place(width - side, 0.0, side, HEIGHT);
        ([place(0.0, 0.0, side, HEIGHT), middle, right], HEIGHT)
    } else {
        let list = (rows as f64 * ROW).clamp(96.0, MOST_LINES);
        let middle = place(0.0, HEIGHT + BETWEEN, width, list);
        let below = HEIGHT + list + 2.0 * BETWEEN;
        ([place(0.0, 0.0, width, HEIGHT), middle, place(0.0, below, width, HEIGHT)], below + HEIGHT)
    };
    let moved = lines.iter().filter(|line| line.is_moved).count();
    html! {
        <svg role="img" width={px(width)} height={px(height)}
            aria-label={format!("{} and {} at operator {}", before.strategy, after.strategy, at + 1)}
            onmouseleave={links.on.reform(|_| Event::Hover(Selection::NONE))}>
            { arena(before, at, most, places[0], links, links.is_shown[0]) }
            { order([before, after], &lines, moved, at, places[1]) }
            { arena(after, at, most, places[2], links, links.is_shown[1]) }
        </svg>
    }
}

/// Live bytes of all operators as a strip, and the arena below.
fn arena(
    side: &Side,
    at: usize,
    most: u64,
    place: Place,
    links: &Links<'_>,
    is_shown: bool,
) -> Html {
    let plan = &side.plan;
    let count = plan.memory.rows.len().max(1) as f64;
    let column = ((place.width - LEFT - 4.0) / count).max(0.1);
    let x = |layer: f64| place.x + LEFT + layer * column;
    let share = |bytes: u64, height: f64| bytes as f64 / most as f64 * height;
    let base = place.y + TITLE + STRIP;
    let floor = base + GAP + ARENA;
    let facts = step(plan, at);
    let live = facts.as_ref().map_or_else(
        || "has ended".to_owned(),
        |facts| format!("{} live now", figures::bytes(facts.live_bytes)),
    );
    let (arena, end) = (plan.memory.arena_bytes.0, x(count));
    html! {
        <g>
            <text class="chart-title" x={px(place.x)} y={px(place.y + 12.0)}>
                { format!("{}: {}", side.strategy, live) }
            </text>
            <text x={px(place.x)} y={px(place.y + 28.0)}>
                { format!("arena {}, most live {}", figures::binary(arena),
                    figures::binary(plan.memory.peak_live_bytes.0)) }
            </text>
            if facts.is_some() {
                <rect class="lit-column" x={px(x(at as f64))} y={px(place.y + TITLE)}
                    width={px(column.max(1.0))} height={px(STRIP + GAP + ARENA)} />
            }
            { for plan.memory.rows.iter().enumerate().map(|(index, row)| {
                let height = share(row.live_bytes.0, STRIP);
                let class = if index == at { "walk-live walk-now" } else { "walk-live" };
                html! {
                    <rect key={index} {class} x={px(x(index as f64))} y={px(base - height)}
                        width={px((column - 1.0).max(0.5))} height={px(height)} />
                }
            }) }
            <g class="axis">
                { for [0, arena].into_iter().map(|value| {
                    let y = floor - share(value, ARENA);
                    html! {
                        <g key={value}>
                            <line x1={px(place.x + LEFT)} x2={px(end)} y1={px(y)} y2={px(y)} />
                            <text x={px(place.x + LEFT - 6.0)} y={px(y + 4.0)} text-anchor="end">
                                { figures::binary(value) }
                            </text>
                        </g>
                    }
                }) }
                <text x={px(place.x + LEFT - 6.0)} y={px(base)} text-anchor="end">{ "live" }</text>
            </g>
            { for in_memory(plan).map(|(number, tensor)| {
                let span = [x(f64::from(tensor.first)), x(f64::from(tensor.end.max(tensor.first + 1)))];
                let rise = tensor.range().map(|byte| floor - share(byte, ARENA));
                let phase = facts.as_ref()
                    .map_or(Phase::Past, |facts| facts.phase(plan, number, at));
                let is_freed = facts.as_ref().is_some_and(|facts| facts.frees.contains(&number));
                block((number, tensor), phase, is_freed, [span, rise], links, is_shown)
            }) }
            if holds_parts_only(plan) {
                { for plan.memory.rows.iter().enumerate().map(|(index, row)| {
                    held(plan, index, row, at, [x(index as f64), column, floor], |bytes| share(bytes, ARENA), links)
                }) }
            }
            <text class="tick" x={px(x(0.0))} y={px(floor + 16.0)}>{ "first operator" }</text>
            <text class="tick" x={px(end)} y={px(floor + 16.0)} text-anchor="end">{ "last" }</text>
        </g>
    }
}

/// What the memory holds at an operator of tensors that lie elsewhere: one part above the other, since
/// parts come and go and have no offset for all of that time.
fn held(
    plan: &PlanFacts,
    index: usize,
    row: &MemoryRow,
    at: usize,
    [x, column, floor]: [f64; 3],
    rise: impl Fn(u64) -> f64,
    links: &Links<'_>,
) -> Html {
    let mut top = floor;
    let class = if index == at { "block" } else { "block walk-then" };
    html! {
        <g key={index} onclick={links.go.reform(move |_| Move::To(index))}>
            { for parts(plan, row).into_iter().filter(|(_, bytes)| *bytes > 0).map(|(role, bytes)| {
                let height = rise(bytes);
                top -= height;
                html! {
                    <rect key={role.words()} class={classes!(class, fill(role))} x={px(x + 0.5)} y={px(top)}
                        width={px((column - 1.0).max(0.75))} height={px(height.max(0.75))}>
                        <title>
                            { format!("{}: {} of {}", short_name(&row.name), figures::bytes(bytes), role.words()) }
                        </title>
                    </rect>
                }
            }) }
        </g>
    }
}

fn block(
    (number, tensor): (usize, &PlacedTensor),
    phase: Phase,
    is_freed: bool,
    [[x, end], [bottom, top]]: [[f64; 2]; 2],
    links: &Links<'_>,
    is_shown: bool,
) -> Html {
    let fill = match phase {
        Phase::Future => "walk-future",
        Phase::Read => "fill-input",
        Phase::Written => "fill-output",
        Phase::Kept => "fill-rest",
        Phase::Past => "walk-past",
    };
    let is_lit = is_shown && links.lit.tensor == Some(number);
    let class =
        classes!("block", fill, is_freed.then_some("block-freed"), is_lit.then_some("block-lit"));
    let (width, height) = ((end - x - 1.0).max(0.75), (bottom - top).max(0.75));
    let is_now = matches!(phase, Phase::Read | Phase::Written | Phase::Kept);
    let label =
        (is_now && height >= 14.0).then(|| fitted(short_name(&tensor.name), width - 8.0)).flatten();
    let first = tensor.first as usize;
    let over = if is_shown { Selection::tensor(number) } else { Selection::NONE };
    html! {
        <g key={number} onmouseenter={links.on.reform(move |_| Event::Hover(over))}
            onclick={links.go.reform(move |_| Move::To(first))}>
            <rect {class} x={px(x + 0.5)} y={px(top)} width={px(width)} height={px(height)}>
                <title>
                    { format!("{}: {} at offset {}", tensor.name, figures::bytes(tensor.bytes),
                        figures::grouped(tensor.offset)) }
                </title>
            </rect>
            if let Some(label) = label {
                <text class="block-label" x={px(x + 5.0)} y={px(top + height / 2.0 + 4.0)}>
                    { label }
                </text>
            }
        </g>
    }
}

/// Lines from place to place; those of moved operators stand out.
fn order(sides: [&Side; 2], lines: &[Line], moved: usize, at: usize, place: Place) -> Html {
    let counts = sides.map(|side| side.plan.memory.rows.len().max(1) as f64);
    let step = |side: usize| place.height / counts[side];
    let y = |side: usize, index: usize| place.y + (index as f64 + 0.5) * step(side);
    let names = (place.width * 0.36).min(160.0);
    let ends = [place.x + names, place.x + place.width - names];
    let has_names = |side: usize| step(side) >= ROW;
    let title = match moved {
        0 => "the same order".to_owned(),
        1 => "1 operator moved".to_owned(),
        n => format!("{n} operators moved"),
    };
    let line = |line: &Line| {
        let class = if line.is_moved { "walk-line walk-moved" } else { "walk-line" };
        html! {
            <line key={line.before} {class} x1={px(ends[0])} y1={px(y(0, line.before))}
                x2={px(ends[1])} y2={px(y(1, line.after))} />
        }
    };
    // Moved ones last, so that nothing lies over them.
    let still = lines.iter().filter(|line| !line.is_moved);
    let drawn = still.chain(lines.iter().filter(|line| line.is_moved));
    html! {
        <g>
            <text x={px(place.x + place.width / 2.0)} y={px(place.y - 6.0)} text-anchor="middle">
                { title }
            </text>
            { for drawn.map(line) }
            { for (0..2).map(|side| {
                let anchor = if side == 0 { "end" } else { "start" };
                let offset = if side == 0 { -6.0 } else { 6.0 };
                let rows = &sides[side].plan.memory.rows;
                let marks = rows.iter().enumerate().filter(|(index, _)| *index == at || has_names(side));
                html! {
                    <g key={side}>
                        { for marks.map(|(index, row)| {
                            let is_now = index == at;
                            let name = fitted(short_name(&row.name), names - 8.0);
                            html! {
                                <g key={index}>
                                    if is_now {
                                        <circle class="walk-dot" r="4" cx={px(ends[side])} cy={px(y(side, index))} />
                                    }
                                    <text class={if is_now { "walk-name walk-name-now" } else { "walk-name" }}
                                        x={px(ends[side] + offset)} y={px(y(side, index) + 4.0)} text-anchor={anchor}>
                                        { name.unwrap_or_else(|| index.to_string()) }
                                    </text>
                                </g>
                            }
                        }) }
                    </g>
                }
            }) }
        </g>
    }
}

//! Memory at each operator, and the arena over time, on one axis of operators.

mod over_time;

use std::rc::Rc;

use tilewright_board::Board;
use tilewright_report::{PartRole, TensorUse, short_name};
use web_sys::HtmlElement;
use yew::prelude::*;

use super::chart::{Chart, fitted, px, use_width};
use super::icon::{Glyph, icon};
use super::live_table::{LiveTable, fill};
use super::memories::memories;
use super::panel::Panel;
use super::parts::legend;
use super::save::{save_buttons, save_text};
use crate::message::PlanFacts;
use crate::state::{Event, Selection, View};
use crate::view_model::figures;
use crate::view_model::memory::{self, Buffers, MemoryView, tensors_of};

const LEFT: f64 = 72.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 40.0;
const STACKS: f64 = 160.0;
const BETWEEN: f64 = 64.0;
const ARENA: f64 = 192.0;
const BOTTOM: f64 = 32.0;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub plan: Rc<PlanFacts>,
    pub boards: Rc<Vec<Board>>,
    pub lit: Selection,
    pub is_stale: bool,
    pub is_maximised: bool,
    pub on: Callback<Event>,
}

/// Where things lie in the drawing.
struct Frame {
    column: f64,
    scale: f64,
    width: f64,
}

impl Frame {
    fn x(&self, layer: f64) -> f64 {
        LEFT + layer * self.column
    }

    /// Height of `bytes` in a chart that is `height` high.
    fn length(&self, bytes: u64, height: f64) -> f64 {
        bytes as f64 / self.scale * height
    }
}

#[component]
pub fn MemoryPanel(props: &Props) -> Html {
    let node = use_node_ref();
    let width = use_width(node.clone(), true);
    let board = props.boards.iter().find(|board| board.id == props.plan.settings.board_id());
    let limit = board.map_or(0, |board| memory::limit(&props.plan, board));
    let view = memory::view(&props.plan, limit);
    let address = board.and_then(|board| board.firmware.as_ref()).map(|f| f.arena_address);
    let buffers = use_memo(Rc::clone(&props.plan), |plan| memory::buffers(plan));
    // The share of the time that the pointer is at, where buffers are drawn over time.
    let pointed = use_state(|| None::<f64>);
    let name = props.plan.report.model.clone();
    let on_csv = {
        let (plan, name) = (Rc::clone(&props.plan), format!("{name}-memory.csv"));
        Callback::from(move |_| save_text(&name, &memory::csv(&plan), "text/csv"))
    };
    let actions = html! {
        <>
            { save_buttons(&node, &format!("{name}-memory"), "memory", &props.on) }
            <button type="button" class="quiet" onclick={on_csv} title="Save the figures as CSV">
                { icon(Glyph::Save) }{ "CSV" }
            </button>
        </>
    };
    let mut entries = vec![
        ("input", "input of the operator".into()),
        ("output", "its output".into()),
        ("rest", "needed later".into()),
    ];
    if buffers.is_some() {
        entries[2].1 = "other operators meanwhile".into();
    }
    for (role, id) in [(PartRole::Weights, "weights"), (PartRole::Scratch, "scratch")] {
        if view.has(role) {
            entries.push((id, role.words().into()));
        }
    }
    let onpointermove = {
        let (pointed, node, is_drawn) = (pointed.clone(), node.clone(), buffers.is_some());
        Callback::from(move |event: PointerEvent| {
            let Some(element) = node.cast::<HtmlElement>().filter(|_| is_drawn) else { return };
            let place = element.get_bounding_client_rect();
            let (x, y) = (f64::from(event.client_x()), f64::from(event.client_y()) - place.top());
            let is_below = (TOP + STACKS + BETWEEN..TOP + STACKS + BETWEEN + ARENA).contains(&y);
            let share = over_time::share_at(width, x - place.left()).filter(|_| is_below);
            if share != *pointed {
                pointed.set(share);
            }
        })
    };
    let said = match (pointed.as_ref(), buffers.as_ref()) {
        (Some(share), Some(buffers)) => buffers.words(*share),
        _ => readout(props, &view, address),
    };
    let frame = Chart { node, label: &view.summary, id: "memory-chart", address, on: &props.on };
    html! {
        <Panel view={View::Memory} is_maximised={props.is_maximised} on={props.on.clone()}
            is_stale={props.is_stale} {actions}>
            { legend(entries) }
            <div {onpointermove} onpointerleave={
                let pointed = pointed.clone();
                Callback::from(move |_| pointed.set(None))
            }>
                { frame.around(html! {
                    if width > 0.0 { { drawing(props, &view, buffers.as_ref().as_ref(), width) } }
                }) }
            </div>
            <p class="readout" data-testid="memory-readout">{ said }</p>
            <LiveTable plan={Rc::clone(&props.plan)} lit={props.lit} peak={view.peak}
                on={props.on.clone()} />
            { table(props, &view, buffers.is_some()) }
            if let Some(board) = board { { memories(&props.plan, board) } }
        </Panel>
    }
}

fn drawing(props: &Props, view: &MemoryView, buffers: Option<&Buffers>, width: f64) -> Html {
    let count = view.stacks.len().max(1) as f64;
    let frame =
        Frame { column: (width - LEFT - RIGHT).max(1.0) / count, scale: view.scale as f64, width };
    let base = TOP + STACKS;
    let floor = base + BETWEEN + ARENA;
    let height = floor + BOTTOM;
    html! {
        <svg role="img" width={px(width)} height={px(height)} aria-label={view.summary.clone()}
            onmouseleave={props.on.reform(|_| Event::Hover(Selection::NONE))}>
            <text class="chart-title" x="0" y="12">
                { format!("Live bytes of {} at each operator", view.memory) }
            </text>
            { axis(view, &frame, base, STACKS) }
            { lit_column(props, &frame, TOP, if buffers.is_some() { base } else { floor }) }
            { for view.stacks.iter().enumerate().map(|(i, _)| stack(props, view, &frame, i, base)) }
            { limit_line(view, &frame, base, STACKS) }
            <text class="chart-title" x="0" y={px(base + BETWEEN - 20.0)}>
                { buffers.map_or_else(
                    || format!("{} over time: where each tensor lies, and for how long", view.memory),
                    |_| "SRAM over time: what it holds, at each moment".to_owned(),
                ) }
            </text>
            { axis(view, &frame, floor, ARENA) }
            if let Some(buffers) = buffers {
                { over_time::drawing(buffers, &frame, floor) }
            } else {
                { for view.blocks.iter().map(|block| {
                    let stripe = tensors_of(&props.plan, props.lit.layer.unwrap_or(usize::MAX));
                    let role = stripe.iter().find(|(t, _)| *t == block.tensor).map(|(_, why)| *why);
                    arena_block(props, &frame, block, role, floor)
                }) }
            }
            { bound_line(view, &frame, floor) }
            { limit_line(view, &frame, floor, ARENA) }
            { for (0..view.stacks.len()).map(|i| {
                let floor = if buffers.is_some() { base } else { floor };
                column_label(view, &frame, i, floor)
            }) }
        </svg>
    }
}

fn axis(view: &MemoryView, frame: &Frame, floor: f64, height: f64) -> Html {
    html! {
        <g class="axis">
            { for view.ticks(4).into_iter().map(|value| {
                let y = floor - frame.length(value, height);
                html! {
                    <g key={value}>
                        <line x1={px(LEFT)} x2={px(frame.width - RIGHT)}
                            y1={px(y)} y2={px(y)} />
                        <text x={px(LEFT - 8.0)} y={px(y + 4.0)}
                            text-anchor="end">{ figures::binary(value) }</text>
                    </g>
                }
            }) }
        </g>
    }
}

fn lit_column(props: &Props, frame: &Frame, top: f64, floor: f64) -> Html {
    let Some(layer) = props.lit.layer else { return html! {} };
    html! {
        <rect class="lit-column" x={px(frame.x(layer as f64))} y={px(top)}
            width={px(frame.column)} height={px(floor - top)} />
    }
}

fn stack(props: &Props, view: &MemoryView, frame: &Frame, index: usize, base: f64) -> Html {
    let stack = &view.stacks[index];
    let width = (frame.column * 0.72).clamp(1.0, 64.0);
    let x = frame.x(index as f64) + (frame.column - width) / 2.0;
    let mut y = base;
    let parts = stack.parts.map(|(why, bytes)| {
        let height = frame.length(bytes, STACKS);
        y -= height;
        if bytes == 0 {
            return html! {};
        }
        html! {
            <rect class={fill(why)} x={px(x)} y={px(y)}
                width={px(width)} height={px(height)} />
        }
    });
    let peak = if stack.is_peak {
        html! {
            <text class="peak" x={px(x + width / 2.0)} y={px(y - 6.0)}
                text-anchor="middle">{ format!("peak {}", figures::binary(stack.total)) }</text>
        }
    } else {
        html! {}
    };
    html! {
        <g key={index}
            onmouseenter={props.on.reform(move |_| Event::Hover(Selection::layer(index)))}
            onclick={props.on.reform(move |_| Event::Select(Selection::layer(index)))}>
            <rect class="hit" x={px(frame.x(index as f64))} y={px(TOP)}
                width={px(frame.column)} height={px(STACKS)} />
            { for parts }
            { peak }
        </g>
    }
}

const fn fill_of(why: TensorUse) -> &'static str {
    match why {
        TensorUse::Input => "fill-input",
        TensorUse::Output => "fill-output",
        TensorUse::Other => "fill-rest",
    }
}

/// The most bytes that no placement goes below.
fn bound_line(view: &MemoryView, frame: &Frame, floor: f64) -> Html {
    let Some(bound) = view.bound else { return html! {} };
    let y = floor - frame.length(bound, ARENA);
    let words = if view.is_proved { "proved: no placement needs less" } else { "lower bound" };
    html! {
        <g class="bound-line">
            <line x1={px(LEFT)} x2={px(frame.width - RIGHT)} y1={px(y)} y2={px(y)} />
            <text x={px(LEFT + 4.0)} y={px(y - 4.0)}>{ words }</text>
        </g>
    }
}

fn arena_block(
    props: &Props,
    frame: &Frame,
    block: &memory::Block,
    role: Option<TensorUse>,
    floor: f64,
) -> Html {
    let tensor = block.tensor;
    let (x, end) = (frame.x(f64::from(block.layers[0])), frame.x(f64::from(block.layers[1])));
    let top = floor - frame.length(block.bytes[1], ARENA);
    let height = frame.length(block.bytes[1] - block.bytes[0], ARENA);
    let is_lit = props.lit.tensor == Some(tensor);
    let class =
        classes!("block", role.map_or("fill-tensor", fill_of), is_lit.then_some("block-lit"));
    let width = (end - x - 1.0).max(1.0);
    let label = (height >= 14.0).then(|| fitted(short_name(&block.name), width - 8.0)).flatten();
    html! {
        <g key={tensor}
            onmouseenter={props.on.reform(move |_| Event::Hover(Selection::tensor(tensor)))}
            onclick={props.on.reform(move |_| Event::Select(Selection::tensor(tensor)))}>
            <rect {class} x={px(x + 0.5)} y={px(top)} width={px(width)}
                height={px(height.max(1.0))} />
            if let Some(label) = label {
                <text class="block-label" x={px(x + 5.0)}
                    y={px(top + height / 2.0 + 4.0)}>{ label }</text>
            }
        </g>
    }
}

fn limit_line(view: &MemoryView, frame: &Frame, floor: f64, height: f64) -> Html {
    if !view.shows_limit() {
        return html! {};
    }
    let y = floor - frame.length(view.limit, height);
    html! {
        <g class="limit-line">
            <line x1={px(LEFT)} x2={px(frame.width - RIGHT)}
                y1={px(y)} y2={px(y)} />
            <text x={px(frame.width - RIGHT)} y={px(y - 4.0)}
                text-anchor="end">{ format!("limit {}", figures::binary(view.limit)) }</text>
        </g>
    }
}

fn column_label(view: &MemoryView, frame: &Frame, index: usize, floor: f64) -> Html {
    // Labels keep 20 pixels each.
    let every = (20.0 / frame.column).ceil().max(1.0) as usize;
    if !index.is_multiple_of(every) {
        return html! {};
    }
    let stack = &view.stacks[index];
    let text = fitted(&format!("{index} {}", stack.op), frame.column - 4.0)
        .filter(|_| frame.column >= 56.0)
        .unwrap_or_else(|| index.to_string());
    html! {
        <text key={index} class="tick" text-anchor="middle" y={px(floor + 16.0)}
            x={px(frame.x(index as f64) + frame.column / 2.0)}>{ text }</text>
    }
}

fn readout(props: &Props, view: &MemoryView, address: Option<u32>) -> String {
    if let Some(tensor) = props.lit.tensor.and_then(|tensor| props.plan.tensors.get(tensor)) {
        return memory::describe(tensor, &props.plan, address);
    }
    if let Some(stack) = props.lit.layer.and_then(|layer| view.stacks.get(layer)) {
        let parts = stack.parts.iter().filter(|(_, bytes)| *bytes > 0);
        let parts =
            parts.map(|(role, bytes)| format!("{} {}", role.words(), figures::bytes(*bytes)));
        return format!(
            "{} ({}): {} live = {}",
            short_name(&stack.name),
            stack.op,
            figures::bytes(stack.total),
            parts.collect::<Vec<_>>().join(" + ")
        );
    }
    let limit = figures::binary(view.limit);
    let share = figures::percent(view.arena_bytes as f64, view.limit as f64);
    format!("{} That is {share} of {limit} of {}.", view.summary, view.memory)
}

fn table(props: &Props, view: &MemoryView, is_buffered: bool) -> Html {
    let later = if is_buffered { "Others meanwhile" } else { "Needed later" };
    html! {
        <details>
            <summary>{ "The same as a table" }</summary>
            <div class="table-scroll" tabindex="0" role="group" aria-label="Table of live bytes">
                <table data-testid="memory-table">
                    <thead><tr>
                        <th scope="col">{ "Operator" }</th>
                        <th scope="col" class="number">{ "Input" }</th>
                        <th scope="col" class="number">{ "Output" }</th>
                        <th scope="col" class="number">{ later }</th>
                        <th scope="col" class="number">{ "Weights" }</th>
                        <th scope="col" class="number">{ "Scratch" }</th>
                        <th scope="col" class="number">{ "Live" }</th>
                    </tr></thead>
                    <tbody>
                        { for view.stacks.iter().enumerate().map(|(index, stack)| html! {
                            <tr key={index}
                                class={classes!((props.lit.layer == Some(index)).then_some("lit"))}>
                                <th scope="row">
                                    { &stack.name }{ if stack.is_peak { " (peak)" } else { "" } }
                                </th>
                                { for stack.parts.iter().map(|(_, bytes)| html! {
                                    <td class="number">{ figures::grouped(*bytes) }</td>
                                }) }
                                <td class="number">{ figures::grouped(stack.total) }</td>
                            </tr>
                        }) }
                    </tbody>
                </table>
            </div>
        </details>
    }
}

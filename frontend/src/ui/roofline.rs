//! What bounds each layer, drawn: products a byte against products a second, both in powers of ten.

use std::rc::Rc;

use tilewright_report::{Kind, LayerCount, short_name};
use yew::prelude::*;

use super::chart::{Chart, fitted, px, use_width};
use super::hot::hot_blocks;
use super::icon::{Glyph, icon};
use super::panel::Panel;
use super::parts::{kind_tag, legend};
use super::save::{save_buttons, save_text};
use crate::message::PlanFacts;
use crate::state::{Event, Selection, View};
use crate::view_model::figures;
use crate::view_model::layers::Family;
use crate::view_model::roofline::{
    Bound, Decades, Point, Roofline, macs_per_second, ratio, roofline,
};

const LEFT: f64 = 68.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 40.0;
/// Half the size of a layer's mark, and of one that is lit.
const MARK: f64 = 5.0;
const LIT: f64 = 8.0;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub plan: Rc<PlanFacts>,
    /// Counts of the last run of this plan.
    pub counts: Option<Rc<Vec<LayerCount>>>,
    pub lit: Selection,
    /// What was chosen, whatever the pointer is over.
    pub selected: Selection,
    pub is_stale: bool,
    pub is_maximised: bool,
    pub on: Callback<Event>,
}

#[component]
pub fn RooflinePanel(props: &Props) -> Html {
    let node = use_node_ref();
    let view = use_memo((Rc::clone(&props.plan), props.counts.clone()), |(plan, counts)| {
        roofline(plan, counts.as_ref().map(|counts| counts.as_slice()))
    });
    let chosen = use_state(|| None::<usize>);
    let is_drawn = view.points.iter().any(|point| point.rate.is_some()) && !view.tiers.is_empty();
    let width = use_width(node.clone(), is_drawn);
    let tier = chosen.filter(|tier| *tier < view.tiers.len()).unwrap_or(view.slowest);
    let name = format!("{}-roofline", props.plan.report.model);
    let on_csv = {
        let (view, name) = (Rc::clone(&view), format!("{name}.csv"));
        Callback::from(move |_: MouseEvent| save_text(&name, &view.csv(), "text/csv"))
    };
    let actions = html! {
        if is_drawn {
            { save_buttons(&node, &name, "roofline", &props.on) }
            <button type="button" class="quiet" onclick={on_csv} title="Save the table as CSV">
                { icon(Glyph::Save) }{ "CSV" }
            </button>
        }
    };
    let words = match props.lit.layer {
        Some(layer) => view.words(layer, tier),
        None => view.summary(),
    };
    let drawn = if width > 0.0 {
        drawing(props, &view, tier, width)
    } else {
        html! {}
    };
    let frame =
        Chart { node, label: &view.summary(), id: "roofline", address: None, on: &props.on };
    html! {
        <Panel view={View::Roofline} is_maximised={props.is_maximised} on={props.on.clone()}
            is_stale={props.is_stale} {actions}>
            if is_drawn {
                <div class="timeline-head">
                    { legend(families(&view)) }
                    <ul class="legend">
                        { bound_entry(Bound::Compute, "compute-bound") }
                        { bound_entry(Bound::Transfer, "IO-bound: transfers alone take longer") }
                    </ul>
                </div>
                if view.tiers.len() > 1 { { tiers(&view, tier, &chosen) } }
                { frame.around(drawn) }
                <p class="readout" data-testid="roofline-words">{ words }</p>
                { table(props, &view) }
                if let Some(counts) = &props.counts {
                    { hot_blocks(counts, props.selected.layer) }
                }
            } else {
                <p class="waiting" data-testid="no-roofline">
                    { "Nothing is known of this plan's times and transfers: it does not fit, or \
                       operators have no kernel." }
                </p>
            }
        </Panel>
    }
}

fn families(view: &Roofline) -> Vec<(&'static str, AttrValue)> {
    let is_there =
        |family: &Family| view.points.iter().any(|point| point.macs > 0 && point.family == *family);
    let families = Family::ALL.into_iter().filter(is_there);
    families.map(|family| (family.id(), AttrValue::from(family.title()))).collect()
}

fn bound_entry(bound: Bound, words: &'static str) -> Html {
    html! {
        <li>
            <svg width="12" height="12" aria-hidden="true">
                <path class="fill-other" d={mark(bound, [6.0, 6.0], MARK)} />
            </svg>
            { words }
        </li>
    }
}

/// Which memory's bytes are looked at.
fn tiers(view: &Roofline, tier: usize, chosen: &UseStateHandle<Option<usize>>) -> Html {
    html! {
        <div class="tiers" role="group" aria-label="Bytes of which memory">
            { for view.tiers.iter().enumerate().map(|(index, roof)| {
                let chosen = chosen.clone();
                let rate = roof.bytes_per_second.map(bytes_per_second);
                html! {
                    <button key={index} type="button" class="button" data-testid={format!("tier-{index}")}
                        aria-pressed={(index == tier).to_string()}
                        onclick={move |_| chosen.set(Some(index))}>
                        { &roof.title }
                        <span class="muted">
                            { format!(" {}{}", figures::binary(roof.bytes),
                                rate.map(|rate| format!(" at {rate}")).unwrap_or_default()) }
                        </span>
                    </button>
                }
            }) }
        </div>
    }
}

fn bytes_per_second(rate: f64) -> String {
    format!("{}B/s", figures::compact(rate as u64))
}

/// A circle for what computing bounds, a diamond for what transfers do.
fn mark(bound: Bound, [x, y]: [f64; 2], size: f64) -> String {
    let (left, right) = (px(x - size), px(x + size));
    if bound == Bound::Transfer {
        return format!(
            "M{left} {y}L{x} {top}L{right} {y}L{x} {bottom}Z",
            x = px(x),
            y = px(y),
            top = px(y - size),
            bottom = px(y + size)
        );
    }
    let radius = px(size);
    format!(
        "M{left} {y}A{radius} {radius} 0 1 1 {right} {y}A{radius} {radius} 0 1 1 {left} {y}Z",
        y = px(y)
    )
}

/// Where values lie in a drawing.
struct Plane {
    axes: [Decades; 2],
    right: f64,
    floor: f64,
}

impl Plane {
    fn x(&self, intensity: f64) -> f64 {
        LEFT + self.axes[0].place(intensity) * (self.right - LEFT)
    }

    fn y(&self, rate: f64) -> f64 {
        self.floor - self.axes[1].place(rate) * (self.floor - TOP)
    }
}

fn drawing(props: &Props, view: &Roofline, tier: usize, width: f64) -> Html {
    let height = if width < 600.0 { 300.0 } else { 380.0 };
    let (right, floor) = ((width - RIGHT).max(LEFT + 1.0), height - BOTTOM);
    let plane = Plane { axes: view.axes(tier), right, floor };
    let title = view.tiers.get(tier).map(|roof| format!("MACs for each byte of {}", roof.title));
    let lit = props.lit.layer.and_then(|layer| view.points.get(layer));
    // Of a wide axis each third power is enough on a narrow screen.
    let every = if width < 600.0 && plane.axes[0].to - plane.axes[0].from > 5 { 2 } else { 1 };
    html! {
        <svg role="img" width={px(width)} height={px(height)} aria-label={view.summary()}>
            <g class="axis">
                { for plane.axes[0].ticks().enumerate().map(|(index, value)| html! {
                    <g key={index}>
                        <line x1={px(plane.x(value))} x2={px(plane.x(value))} y1={px(TOP)} y2={px(floor)} />
                        if index % every == 0 {
                            <text x={px(plane.x(value))} y={px(floor + 16.0)}
                                text-anchor={if plane.x(value) > right - 16.0 { "end" } else { "middle" }}>
                                { tick(value) }
                            </text>
                        }
                    </g>
                }) }
                { for plane.axes[1].ticks().enumerate().map(|(index, value)| html! {
                    <g key={index}>
                        <line x1={px(LEFT)} x2={px(right)} y1={px(plane.y(value))} y2={px(plane.y(value))} />
                        <text x={px(LEFT - 6.0)} y={px(plane.y(value) + 4.0)} text-anchor="end">
                            { tick(value) }
                        </text>
                    </g>
                }) }
                <text x={px(right)} y={px(floor + 34.0)} text-anchor="end">{ title }</text>
                <text x="0" y="12">{ "MAC/s (modelled)" }</text>
            </g>
            { roofs(view, tier, &plane) }
            { for view.points.iter().map(|point| layer_mark(props, point, tier, &plane, MARK)) }
            if let Some(point) = lit {
                { layer_mark(props, point, tier, &plane, LIT) }
                { label(point, tier, &plane) }
            }
        </svg>
    }
}

/// What the core can do at most, and what each memory allows; the chosen one's stands out.
fn roofs(view: &Roofline, tier: usize, plane: &Plane) -> Html {
    let least = 10f64.powi(plane.axes[0].from);
    let most = 10f64.powi(plane.axes[0].to);
    let peak_y = plane.y(view.peak);
    html! {
        <>
            <g class="roof">
                <line x1={px(LEFT)} x2={px(plane.right)} y1={px(peak_y)} y2={px(peak_y)} />
                <text x={px(plane.right)} y={px(peak_y - 4.0)} text-anchor="end">
                    { format!("two MACs a cycle: {}", macs_per_second(view.peak)) }
                </text>
            </g>
            { for view.tiers.iter().enumerate().filter_map(|(index, roof)| {
                let rate = roof.bytes_per_second?;
                // From where it enters the plane to where it meets the core's limit.
                let bottom = 10f64.powi(plane.axes[1].from) / rate;
                let (from, to) = (least.max(bottom), (view.peak / rate).min(most));
                if from >= to {
                    return None;
                }
                let is_chosen = index == tier;
                Some(html! {
                    <g key={index} class={classes!("roof", (!is_chosen).then_some("other-roof"))}>
                        <line x1={px(plane.x(from))} y1={px(plane.y(from * rate))}
                            x2={px(plane.x(to))} y2={px(plane.y(to * rate))} />
                        if is_chosen {
                            <text x={px((plane.x(from) + plane.x(to)) / 2.0 + 10.0)}
                                y={px((plane.y(from * rate) + plane.y(to * rate)) / 2.0 + 14.0)}>
                                { bytes_per_second(rate) }
                            </text>
                        }
                    </g>
                })
            }) }
        </>
    }
}

fn layer_mark(props: &Props, point: &Point, tier: usize, plane: &Plane, size: f64) -> Html {
    let (Some(intensity), Some(rate)) = (point.intensity(tier), point.rate) else {
        return html! {};
    };
    let layer = point.layer;
    let class =
        classes!("mark", format!("fill-{}", point.family.id()), (size > MARK).then_some("bar-lit"));
    html! {
        <path key={layer} {class} d={mark(point.bound, [plane.x(intensity), plane.y(rate)], size)}
            onmouseenter={props.on.reform(move |_| Event::Hover(Selection::layer(layer)))}
            onmouseleave={props.on.reform(|_| Event::Hover(Selection::NONE))}
            onclick={props.on.reform(move |_| Event::Select(Selection::layer(layer)))} />
    }
}

fn label(point: &Point, tier: usize, plane: &Plane) -> Html {
    let (Some(intensity), Some(rate)) = (point.intensity(tier), point.rate) else {
        return html! {};
    };
    let (x, y) = (plane.x(intensity), plane.y(rate));
    let is_right = x > (LEFT + plane.right) / 2.0;
    let room = if is_right { x - LEFT } else { plane.right - x } - 2.0 * LIT;
    let (x, anchor) = if is_right { (x - LIT - 4.0, "end") } else { (x + LIT + 4.0, "start") };
    html! {
        if let Some(text) = fitted(short_name(&point.name), room) {
            <text class="block-label" x={px(x)} y={px(y + 4.0)} text-anchor={anchor}>{ text }</text>
        }
    }
}

/// A power of ten.
fn tick(value: f64) -> String {
    if value < 1.0 {
        figures::fixed(value, 3).trim_end_matches('0').to_owned()
    } else {
        figures::compact(value as u64)
    }
}

fn table(props: &Props, view: &Roofline) -> Html {
    html! {
        <details open={props.is_maximised}>
            <summary>{ "The same as a table" }</summary>
            <div class="table-scroll" tabindex="0" role="group" aria-label="What bounds each layer">
                <table data-testid="roofline-table">
                    <thead><tr>
                        <th scope="col">{ "Operator" }</th>
                        <th scope="col" class="number">{ "MACs" }{ kind_tag(Kind::Counted) }</th>
                        { for view.tiers.iter().map(|roof| html! {
                            <th scope="col" class="number" key={roof.title.clone()}>
                                { format!("MACs a byte, {}", roof.title) }{ kind_tag(Kind::Counted) }
                            </th>
                        }) }
                        <th scope="col" class="number">{ "Instructions a MAC" }{ kind_tag(Kind::Counted) }</th>
                        <th scope="col" class="number">{ "Cycles a MAC" }{ kind_tag(Kind::Modelled) }</th>
                        <th scope="col" class="number">{ "Computing" }{ kind_tag(Kind::Modelled) }</th>
                        <th scope="col" class="number">{ "Transfers" }{ kind_tag(Kind::Modelled) }</th>
                        <th scope="col">{ "Bound" }</th>
                    </tr></thead>
                    <tbody onmouseleave={props.on.reform(|_| Event::Hover(Selection::NONE))}>
                        { for view.points.iter().map(|point| table_row(props, point)) }
                    </tbody>
                </table>
            </div>
        </details>
    }
}

fn table_row(props: &Props, point: &Point) -> Html {
    let layer = point.layer;
    let or_dash = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), ratio);
    let is_lit = props.lit.layer == Some(layer);
    html! {
        <tr key={layer} class={classes!(is_lit.then_some("lit"))}
            onmouseenter={props.on.reform(move |_| Event::Hover(Selection::layer(layer)))}
            onclick={props.on.reform(move |_| Event::Select(Selection::layer(layer)))}>
            <th scope="row" title={point.name.clone()}>{ short_name(&point.name) }</th>
            <td class="number">{ figures::grouped(point.macs) }</td>
            { for (0..point.bytes.len()).map(|tier| html! {
                <td key={tier} class="number">{ or_dash(point.intensity(tier)) }</td>
            }) }
            <td class="number">{ or_dash(point.instructions) }</td>
            <td class="number">{ or_dash(point.cycles) }</td>
            <td class="number">{ figures::duration(point.compute_us) }</td>
            <td class="number">
                if point.is_transfer_unknown() {
                    <span class="muted" title="The memory's rate is not known">{ "in computing" }</span>
                } else {
                    { figures::duration(point.transfer_us) }
                }
            </td>
            <td>{ point.bound.words() }</td>
        </tr>
    }
}

//! A predicted and a counted run on one axis of time.

use std::rc::Rc;

use tilewright_report::{SliceKind, Timeline};
use yew::prelude::*;

use super::chart::{Chart, fitted, px, use_width};
use super::parts::legend;
use crate::message::PlanFacts;
use crate::state::{Event, Selection};
use crate::view_model::figures::short_name;
use crate::view_model::layers::Family;
use crate::view_model::timeline::{Bar, view};

const TOP: f64 = 8.0;
const LANE: f64 = 48.0;
const BAR: f64 = 24.0;
const AXIS: f64 = 24.0;
const RIGHT: f64 = 8.0;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub plan: Rc<PlanFacts>,
    pub run: Option<Timeline>,
    pub lit: Selection,
    /// What was chosen, whatever the pointer is over.
    pub selected: Selection,
    pub on: Callback<Event>,
}

/// The lanes.
#[component]
pub fn TimelineChart(props: &Props) -> Html {
    let node = use_node_ref();
    let width = use_width(node.clone(), true);
    let lanes = view(&props.plan, props.run.as_ref());
    let height = TOP + LANE * lanes.lanes.len() as f64 + AXIS;
    let room = (width - RIGHT).max(1.0);
    let end = lanes.end_us.max(f64::MIN_POSITIVE);
    let x = |micros: f64| micros / end * room;
    let floor = TOP + LANE * lanes.lanes.len() as f64;
    let used: Vec<_> = Family::ALL
        .into_iter()
        .filter(|f| lanes.lanes.iter().flat_map(|lane| &lane.bars).any(|bar| bar.family == *f))
        .map(|f| (f.id(), f.title().into()))
        .collect();
    let ticks = lanes.ticks((width / 96.0) as usize);
    let last_tick = ticks.len().saturating_sub(1);
    let caption = lanes
        .lanes
        .iter()
        .map(|lane| {
            let last = lane.bars.last().map_or(0.0, |bar| bar.end_us);
            format!("{}: {}", lane.title, crate::view_model::figures::duration(last))
        })
        .collect::<Vec<_>>()
        .join("; ");
    let lit = lanes
        .lanes
        .iter()
        .flat_map(|lane| lane.bars.iter().map(move |bar| (lane, bar)))
        .filter(|(_, bar)| props.lit.layer == Some(bar.layer))
        .map(|(lane, bar)| format!("{} – {}", lane.title, bar.title))
        .collect::<Vec<_>>()
        .join("; ");
    let drawing = html! {
                if width > 0.0 {
                    <svg role="img" width={px(width)} height={px(height)} aria-label={caption.clone()}
                        onmouseleave={props.on.reform(|_| Event::Hover(Selection::NONE))}>
                        <g class="axis">
                            { for ticks.iter().enumerate().map(|(index, (at, text))| {
                                let x = x(*at);
                                // The last label must not run off the drawing.
                                let anchor = match index {
                                    0 => "start",
                                    i if i == last_tick && x > room - 24.0 => "end",
                                    _ => "middle",
                                };
                                html! {
                                    <g key={index}>
                                        <line x1={px(x)} x2={px(x)} y1="0"
                                            y2={px(floor)} />
                                        <text x={px(x)} y={px(floor + 16.0)}
                                            text-anchor={anchor}>{ text }</text>
                                    </g>
                                }
                            }) }
                        </g>
                        { for lanes.lanes.iter().enumerate().map(|(index, lane)| {
                            let top = TOP + LANE * index as f64;
                            html! {
                                <g key={index}>
                                    <text class="lane-title" x="0" y={px(top + 10.0)}>
                                        { format!("{} (instructions {}, time modelled)", lane.title, lane.kind.word()) }
                                    </text>
                                    { for lane.bars.iter().enumerate().map(|(i, bar)| {
                                        let span = [x(bar.start_us), x(bar.end_us)];
                                        lane_bar(props, i, bar, span, top + 16.0)
                                    }) }
                                </g>
                            }
                        }) }
                    </svg>
                }
    };
    let frame = Chart {
        node,
        label: &caption,
        id: "timeline",
        plan: &props.plan,
        selected: props.selected,
        address: None,
        has_tensors: false,
        on: &props.on,
    };
    html! {
        <figure class="timeline">
            { legend(used) }
            { frame.around(drawing) }
            <figcaption class="readout">{ if lit.is_empty() { caption } else { lit } }</figcaption>
        </figure>
    }
}

fn lane_bar(props: &Props, key: usize, bar: &Bar, [start, end]: [f64; 2], y: f64) -> Html {
    let layer = bar.layer;
    let width = (end - start - 0.5).max(0.75);
    let is_lit = props.lit.layer == Some(layer);
    let fill = match bar.kind {
        SliceKind::Compute => format!("fill-{}", bar.family.id()),
        SliceKind::Copy => "fill-copy".to_owned(),
        SliceKind::Stall => "fill-stall".to_owned(),
    };
    let name = props.plan.report.layers.get(layer).map_or("", |row| short_name(&row.name));
    let label = fitted(name, width - 6.0);
    html! {
        <g {key}
            onmouseenter={props.on.reform(move |_| Event::Hover(Selection::layer(layer)))}
            onclick={props.on.reform(move |_| Event::Select(Selection::layer(layer)))}>
            <rect class={classes!("bar", fill, is_lit.then_some("bar-lit"))} x={px(start)}
                y={px(y)} width={px(width)} height={px(BAR)}>
                <title>{ &bar.title }</title>
            </rect>
            if let Some(label) = label {
                <text class="bar-label" x={px(start + 4.0)} y={px(y + 16.0)}>
                    { label }
                </text>
            }
        </g>
    }
}

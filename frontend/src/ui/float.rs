//! The int8 model beside the float model: a button, since its program is large, and what it found.

use std::rc::Rc;

use tilewright_report::{FloatComparison, short_name};
use yew::prelude::*;

use super::chart::{px, use_width};
use super::icon::{Glyph, icon};
use super::parts::legend;
use super::quantisation::{BOTTOM, HEIGHT, LEFT, RIGHT, TOP, decibel_axis, layer};
use super::save::{save_buttons, save_text};
use crate::message::PlanFacts;
use crate::state::{Event, Selection};
use crate::view_model::float::{
    MOST_DB, bars, cosine, csv, difference, left_out, note, promise, ratio, summary, top1, verdicts,
};

/// Decibels between the lines of the axis.
const STEP: f64 = 20.0;

#[derive(PartialEq, Properties)]
pub struct Props {
    /// Names of the model and its file.
    pub name: String,
    pub file: String,
    pub found: Option<Rc<FloatComparison>>,
    pub is_comparing: bool,
    /// Whether another int8 model is being made.
    pub is_waiting: bool,
    pub plan: Option<Rc<PlanFacts>>,
    pub lit: Selection,
    pub on: Callback<Event>,
}

/// The part of the quantisation's panel.
#[component]
pub fn FloatSection(props: &Props) -> Html {
    let drawing = use_node_ref();
    let Some(found) = &props.found else {
        return html! {
            <div class="examine">
                <button type="button" class="button" data-testid="compare-float"
                    disabled={props.is_comparing || props.is_waiting}
                    onclick={props.on.reform(|_| Event::CompareFloat)}>
                    { if props.is_comparing { "Comparing…" } else { "Compare with the float model" } }
                </button>
                <p class="muted detail">{ promise(&props.file) }</p>
            </div>
        };
    };
    let on_csv = {
        let (found, file) = (Rc::clone(found), format!("{}-float.csv", props.name));
        Callback::from(move |_| save_text(&file, &csv(&found), "text/csv"))
    };
    html! {
        <section class="float" aria-label="Comparison with the float model">
            <div class="timeline-head">
                <h3>{ "Beside the float model" }</h3>
                <div class="float-actions">
                    { save_buttons(&drawing, &format!("{}-float", props.name), "float comparison", &props.on) }
                    <button type="button" class="quiet" onclick={on_csv} title="Save the table as CSV">
                        { icon(Glyph::Save) }{ "CSV" }
                    </button>
                </div>
            </div>
            <p class="muted detail" data-testid="float-summary">{ summary(found) }</p>
            <ul class="float-verdicts" data-testid="float-verdicts">
                { for verdicts(found).into_iter().map(|verdict| html! { <li>{ verdict }</li> }) }
            </ul>
            { outputs(found) }
            <div ref={drawing}><Chart found={Rc::clone(found)} plan={props.plan.clone()} lit={props.lit}
                on={props.on.clone()} /></div>
            { layers(found, props) }
            if let Some(text) = left_out(found) { <p class="muted detail">{ text }</p> }
        </section>
    }
}

fn outputs(found: &FloatComparison) -> Html {
    html! {
        <div class="table-scroll" tabindex="0" role="group" aria-label="Table of outputs beside the float model">
            <table class="layers" data-testid="float-outputs">
                <thead><tr>
                    <th scope="col">{ "Output" }</th>
                    <th scope="col" class="number">{ "SQNR, float" }</th>
                    <th scope="col" class="number">{ "SQNR, int8" }</th>
                    <th scope="col" class="number">{ "Largest difference, int8" }</th>
                    <th scope="col" class="number">{ "Same top-1, int8" }</th>
                </tr></thead>
                <tbody>
                    { for found.outputs.iter().map(|output| html! {
                        <tr key={output.tensor.clone()}>
                            <th scope="row">{ short_name(&output.tensor) }</th>
                            <td class="number">{ ratio(output.float.as_ref()) }</td>
                            <td class="number">{ ratio(output.int8.as_ref()) }</td>
                            <td class="number">{ difference(output.int8.as_ref()) }</td>
                            <td class="number">{ top1(output.int8.as_ref(), found.samples) }</td>
                        </tr>
                    }) }
                </tbody>
            </table>
        </div>
    }
}

#[derive(PartialEq, Properties)]
struct ChartProps {
    found: Rc<FloatComparison>,
    plan: Option<Rc<PlanFacts>>,
    lit: Selection,
    on: Callback<Event>,
}

#[component]
fn Chart(props: &ChartProps) -> Html {
    let node = use_node_ref();
    let width = use_width(node.clone(), true);
    let bars = bars(&props.found);
    let floor = TOP + HEIGHT;
    let column = (width - LEFT - RIGHT).max(1.0) / bars.len().max(1) as f64;
    let y = |decibels: f64| floor - decibels / MOST_DB * HEIGHT;
    let label = "Signal to noise of each layer beside the float model, as float and as int8. The table \
                 below says the same.";
    let ticks = (0..).map(|tick| f64::from(tick) * STEP).take_while(|tick| *tick <= MOST_DB);
    let has_float = bars.iter().any(|bar| bar.float.is_some());
    let mut keys = vec![("int8", AttrValue::from("int8 model: the quantiser"))];
    if has_float {
        keys.insert(0, ("float", "our float interpreter: the importer".into()));
    }
    let places = if has_float { 2.0 } else { 1.0 };
    html! {
        <figure class="timeline">
            { legend(keys) }
            <div ref={node} class="chart">
                if width > 0.0 {
                    <svg role="img" width={px(width)} height={px(floor + BOTTOM)} aria-label={label}
                        data-testid="float-chart"
                        onmouseleave={props.on.reform(|_| Event::Hover(Selection::NONE))}>
                        { decibel_axis(ticks, width, y) }
                        { for bars.iter().enumerate().map(|(index, bar)| {
                            let x = LEFT + index as f64 * column;
                            let layer = layer(props.plan.as_ref(), &bar.layer);
                            let is_lit = layer.is_some() && props.lit.layer == layer;
                            let selection = layer.map_or(Selection::NONE, Selection::layer);
                            let one = column * 0.8 / places;
                            let rect = |place: f64, fill: &'static str, (height, is_worst): (f64, bool)| {
                                let class = classes!(
                                    if is_worst { "bar-worst" } else { fill },
                                    is_lit.then_some("bar-lit"),
                                );
                                html! {
                                    <rect {class} x={px(x + column * 0.1 + place * one)} y={px(y(height))}
                                        width={px((one * 0.94).max(0.5))} height={px((floor - y(height)).max(1.0))} />
                                }
                            };
                            html! {
                                <g key={index} onmouseenter={props.on.reform(move |_| Event::Hover(selection))}
                                    onclick={props.on.reform(move |_| Event::Select(selection))}>
                                    <title>{ &bar.text }</title>
                                    <rect class="hit" x={px(x)} y={px(TOP)} width={px(column)} height={px(HEIGHT)} />
                                    if let Some(float) = bar.float { { rect(0.0, "fill-float", float) } }
                                    if let Some(int8) = bar.int8 { { rect(places - 1.0, "fill-int8", int8) } }
                                </g>
                            }
                        }) }
                        <text x={px(LEFT)} y={px(floor + 16.0)}>{ "inputs and layers in order of execution" }</text>
                    </svg>
                }
            </div>
            <figcaption class="muted detail">
                { format!("Decibels of each result above its difference from the float model: higher is better. Bars end \
                           at {MOST_DB} dB, beyond which floats differ by rounding. A layer that is to blame is marked.") }
            </figcaption>
        </figure>
    }
}

fn layers(found: &FloatComparison, props: &Props) -> Html {
    let heads = ["SQNR, float", "SQNR, int8", "Largest difference, int8", "Cosine, int8"];
    html! {
        <div class="table-scroll" tabindex="0" role="group" aria-label="Table of layers beside the float model">
            <table class="layers" data-testid="float-layers">
                <thead><tr>
                    <th scope="col" class="number">{ "#" }</th>
                    <th scope="col">{ "Layer" }</th>
                    <th scope="col">{ "Operator" }</th>
                    { for heads.map(|head| html! { <th key={head} scope="col" class="number">{ head }</th> }) }
                    <th scope="col">{ "Note" }</th>
                </tr></thead>
                <tbody onmouseleave={props.on.reform(|_| Event::Hover(Selection::NONE))}>
                    { for found.layers.iter().enumerate().map(|(index, row)| {
                        let layer = layer(props.plan.as_ref(), &row.layer);
                        let is_lit = layer.is_some() && props.lit.layer == layer;
                        let selection = layer.map_or(Selection::NONE, Selection::layer);
                        html! {
                            <tr key={index} class={classes!(is_lit.then_some("lit"))}
                                onmouseenter={props.on.reform(move |_| Event::Hover(selection))}
                                onclick={props.on.reform(move |_| Event::Select(selection))}>
                                <td class="number muted">{ index }</td>
                                <th scope="row">
                                    <button type="button" class="row-name" title={row.layer.clone()}>
                                        <span>{ short_name(&row.layer) }</span>
                                    </button>
                                </th>
                                <td>{ &row.op }</td>
                                <td class="number">{ ratio(row.float.as_ref()) }</td>
                                <td class="number">{ ratio(row.int8.as_ref()) }</td>
                                <td class="number">{ difference(row.int8.as_ref()) }</td>
                                <td class="number">{ cosine(row.int8.as_ref()) }</td>
                                <td class="float-note">{ note(found, row) }</td>
                            </tr>
                        }
                    }) }
                </tbody>
            </table>
        </div>
    }
}

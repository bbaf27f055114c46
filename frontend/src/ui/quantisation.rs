//! How the model becomes int8: the choice, and what it does to each tensor and layer.

use std::rc::Rc;

use tilewright_report::{FloatComparison, short_name};
use web_sys::FileList;
use yew::prelude::*;

use super::chart::{px, use_width};
use super::choice::Choice;
use super::float::FloatSection;
use super::icon::{Glyph, icon};
use super::panel::Panel;
use super::parts::trouble_box;
use super::run::file_event;
use super::save::{save_buttons, save_text};
use crate::message::{Calibration, PlanFacts, QuantisationFacts};
use crate::state::{Event, OpenModel, Origin, Place, Quantising, Samples, Selection, View};
use crate::view_model::figures;
use crate::view_model::float::is_onnx;
use crate::view_model::quantisation::{Column, Sort, bars, csv, decibels, real, rows, summary};
use tilewright_report::Diagnostic;

pub(super) const LEFT: f64 = 40.0;
pub(super) const RIGHT: f64 = 8.0;
pub(super) const TOP: f64 = 12.0;
pub(super) const HEIGHT: f64 = 140.0;
pub(super) const BOTTOM: f64 = 24.0;
/// How ranges can follow from values. The first is the usual one.
const RULES: [(&str, &str); 5] = [
    (USUAL, "From the smallest to the largest value"),
    ("percentile=99.99", "99.99 % of the values"),
    ("percentile=99.9", "99.9 % of the values"),
    ("percentile=99", "99 % of the values"),
    ("mse", "With the least squared error"),
];
const USUAL: &str = "minmax";
/// What networks take for pixels.
const PIXELS: [(&str, &str); 4] = [
    ("0..1", "0 to 1"),
    ("-1..1", "−1 to 1"),
    ("0..255", "0 to 255"),
    ("imagenet", "By ImageNet's mean and deviation"),
];

#[derive(PartialEq, Properties)]
pub struct Props {
    pub model: Rc<OpenModel>,
    /// What was chosen; of the model, or of what is being opened in its place.
    pub quantising: Quantising,
    pub facts: Option<Rc<QuantisationFacts>>,
    pub sort: Sort,
    /// Whether the model is being quantised, or examined.
    pub is_quantising: bool,
    pub is_examining: bool,
    /// How it compares with the float model, and whether that is being computed.
    pub float: Option<Rc<FloatComparison>>,
    pub is_comparing_float: bool,
    pub trouble: Option<Diagnostic>,
    pub plan: Option<Rc<PlanFacts>>,
    pub lit: Selection,
    pub is_maximised: bool,
    pub on: Callback<Event>,
    /// A file dialog gave these samples.
    pub on_samples: Callback<FileList>,
}

#[component]
pub fn QuantisationPanel(props: &Props) -> Html {
    let drawing = use_node_ref();
    let name = props.model.facts.name.clone();
    let actions = match &props.facts {
        Some(facts) => {
            let (facts, file) = (Rc::clone(facts), format!("{name}-quantisation.csv"));
            let on_csv = Callback::from(move |_| save_text(&file, &csv(&facts), "text/csv"));
            html! {
                <>
                    { save_buttons(&drawing, &format!("{name}-quantisation"), "quantisation", &props.on) }
                    <button type="button" class="quiet" onclick={on_csv} title="Save the table as CSV">
                        { icon(Glyph::Save) }{ "CSV" }
                    </button>
                </>
            }
        }
        None => html! {},
    };
    let facts = &props.model.facts;
    let body = if !facts.unknown.is_empty() {
        html! { <p class="waiting">{ "A model with operators that nothing here computes is not quantised." }</p> }
    } else if facts.calibration == Calibration::NotNeeded {
        let already = html! {
            <p class="waiting" data-testid="int8-already">
                { "The file is int8 already: its scales are its author's, and there are no float values to \
                   compare it with." }
            </p>
        };
        // tract computes what the file says, in integers too.
        if is_onnx(&facts.file) {
            html! { <>{ already }{ float(props) }</> }
        } else {
            already
        }
    } else {
        html! { <>{ choice(props) }{ report(props, &drawing) }{ float(props) }</> }
    };
    html! {
        <Panel view={View::Quantisation} is_maximised={props.is_maximised} on={props.on.clone()} {actions}>
            if let Some(trouble) = &props.trouble {
                { trouble_box(trouble, Place::Quantisation, "", &props.on) }
            }
            { body }
        </Panel>
    }
}

fn float(props: &Props) -> Html {
    html! {
        <FloatSection name={props.model.facts.name.clone()} file={props.model.facts.file.clone()}
            found={props.float.clone()} is_comparing={props.is_comparing_float}
            is_waiting={props.is_quantising} plan={props.plan.clone()} lit={props.lit} on={props.on.clone()} />
    }
}

fn choice(props: &Props) -> Html {
    let quantising = &props.quantising;
    let is_seeded = props.model.origin.is_seeded();
    let is_analytic = is_seeded && quantising.samples == Samples::Given;
    let on_choose = {
        let (on, quantising) = (props.on.clone(), quantising.clone());
        Callback::from(move |rule: String| {
            let rule = if rule == USUAL { String::new() } else { rule };
            on.emit(Event::Quantise(Quantising { rule, ..quantising.clone() }));
        })
    };
    let current = if quantising.rule.is_empty() { USUAL } else { &quantising.rule };
    let current = AttrValue::from(current.to_owned());
    let mut options: Vec<(AttrValue, AttrValue)> =
        RULES.iter().map(|(rule, text)| ((*rule).into(), (*text).into())).collect();
    if !options.iter().any(|(rule, _)| *rule == current) {
        options.push((current.clone(), current.clone()));
    }
    let sample = |id: &'static str, samples: Samples, text: String| {
        let is_chosen = quantising.samples == samples;
        let choice = Quantising { samples, ..quantising.clone() };
        html! {
            <label class="choice">
                <input type="radio" name="quantise-samples" checked={is_chosen} data-testid={format!("samples-{id}")}
                    onchange={props.on.reform(move |_| Event::Quantise(choice.clone()))} />
                { text }
            </label>
        }
    };
    let given = match &props.model.origin {
        _ if is_seeded => Some("None: scales from the statistics of its weights".to_owned()),
        Origin::Example(_) => Some("Those that came with the model".to_owned()),
        Origin::Zoo(_) => None,
        Origin::File(file) => file.calibration.map(|_| "Those that you dropped".to_owned()),
    };
    let has_none = matches!(&props.model.origin, Origin::File(file) if file.calibration.is_none());
    let random = has_none && !is_seeded;
    let files = match &quantising.samples {
        Samples::Files(files) => Some(files),
        Samples::Given | Samples::Random => None,
    };
    html! {
        <div class="quantise" data-testid="quantise" data-busy={props.is_quantising.to_string()}>
            <div class="picker">
                <label for="pick-rule">{ "Range of each activation" }</label>
                <Choice id="rule" value={current} {options} is_disabled={is_analytic} {on_choose} />
                if is_analytic {
                    <span class="muted detail">{ "Choose samples first." }</span>
                }
            </div>
            if let Some(range) = &props.model.facts.pixels { { pixels(props, range) } }
            <fieldset class="inputs">
                <legend>{ "Samples" }</legend>
                if let Some(text) = given { { sample("given", Samples::Given, text) } }
                if random {
                    { sample("given", Samples::Given, "Made-up noise (uniform)".to_owned()) }
                } else {
                    { sample("random", Samples::Random, "Made-up noise (uniform)".to_owned()) }
                }
                if let Some(files) = files {
                    { sample("files", quantising.samples.clone(), names(files)) }
                }
                <label class="button">
                    { icon(Glyph::Open) }{ "Own .npy or PNG files" }
                    <input type="file" class="visually-hidden" accept=".npy,.npz,.png,image/png" multiple={true}
                        data-testid="samples-file" onchange={file_event(&props.on_samples)} />
                </label>
            </fieldset>
            <p class="muted detail" data-testid="quantised-how">
                { if props.is_quantising {
                    "Quantising; what is shown is of the choice before.".to_owned()
                } else {
                    how(&props.model)
                } }
            </p>
        </div>
    }
}

/// The range in which the network takes pixels.
fn pixels(props: &Props, range: &str) -> Html {
    let (on, quantising) = (props.on.clone(), props.quantising.clone());
    let on_choose = Callback::from(move |pixels: String| {
        on.emit(Event::Quantise(Quantising { pixels, ..quantising.clone() }));
    });
    let current = if props.quantising.pixels.is_empty() { range } else { &props.quantising.pixels };
    let current = AttrValue::from(current.to_owned());
    let mut options: Vec<(AttrValue, AttrValue)> =
        PIXELS.iter().map(|(range, text)| ((*range).into(), (*text).into())).collect();
    if !options.iter().any(|(range, _)| *range == current) {
        options.push((current.clone(), current.clone()));
    }
    html! {
        <div class="picker">
            <label for="pick-pixels">{ "The network takes pixels as" }</label>
            <Choice id="pixels" value={current} {options} {on_choose} />
        </div>
    }
}

fn names(files: &[(u32, String)]) -> String {
    match files {
        [(_, one)] => one.clone(),
        [(_, first), ..] => format!("{first} and {} more", files.len() - 1),
        [] => String::new(),
    }
}

fn how(model: &OpenModel) -> String {
    let rule = match model.quantising.rule.as_str() {
        "" => USUAL,
        rule => rule,
    };
    let on = match model.facts.calibration {
        Calibration::Samples(1) => "1 sample".to_owned(),
        Calibration::Samples(count) => format!("{count} samples"),
        Calibration::Noise => "made-up noise: its answers mean little".to_owned(),
        Calibration::Analytic => {
            return "Scales follow from the statistics of the weights.".to_owned();
        }
        Calibration::NotNeeded | Calibration::Impossible => return String::new(),
    };
    format!("Quantised by {rule} on {on}. The plan, its image and every run are of this model.")
}

fn report(props: &Props, drawing: &NodeRef) -> Html {
    if props.model.facts.calibration == Calibration::Analytic {
        return html! {
            <p class="muted detail">
                { "Nothing was seen, so there is nothing to report: choose samples to quantise on." }
            </p>
        };
    }
    let examine = html! {
        <button type="button" class="button" data-testid="examine"
            disabled={props.is_examining || props.is_quantising}
            onclick={props.on.reform(|_| Event::Examine)}>
            { if props.is_examining { "Examining…" } else { "Examine what it costs" } }
        </button>
    };
    let Some(facts) = &props.facts else {
        return html! {
            <div class="examine">
                { examine }
                <p class="muted detail">
                    { "Runs float and int8 side by side: range, scale, saturation and noise of each tensor, and \
                       how far each layer alone moves the outputs." }
                </p>
            </div>
        };
    };
    html! {
        <>
            <p data-testid="quantisation-summary">{ summary(facts) }</p>
            <div ref={drawing}><Sensitivity facts={Rc::clone(facts)} plan={props.plan.clone()}
                lit={props.lit} on={props.on.clone()} /></div>
            { table(facts, props) }
        </>
    }
}

#[derive(PartialEq, Properties)]
struct ChartProps {
    facts: Rc<QuantisationFacts>,
    plan: Option<Rc<PlanFacts>>,
    lit: Selection,
    on: Callback<Event>,
}

/// The plan's layer that the node of this name is part of.
pub fn layer(plan: Option<&Rc<PlanFacts>>, name: &str) -> Option<usize> {
    plan?.report.layers.iter().position(|row| row.name.split(" + ").any(|node| node == name))
}

#[component]
fn Sensitivity(props: &ChartProps) -> Html {
    let node = use_node_ref();
    let width = use_width(node.clone(), true);
    let bars = bars(&props.facts);
    let most = bars.iter().map(|bar| bar.decibels).fold(1.0, f64::max);
    let step = figures::axis_step(most, 4, false);
    let top = (most / step).ceil() * step;
    let floor = TOP + HEIGHT;
    let column = (width - LEFT - RIGHT).max(1.0) / bars.len().max(1) as f64;
    let y = |decibels: f64| floor - decibels.max(0.0) / top * HEIGHT;
    let label = "Signal to noise of the outputs with a single layer quantised, layer by layer. The \
                 table below says the same.";
    let ticks = (0..).map(|tick| f64::from(tick) * step).take_while(|tick| *tick <= top + 1e-9);
    html! {
        <figure class="timeline">
            <div ref={node} class="chart">
                if width > 0.0 {
                    <svg role="img" width={px(width)} height={px(floor + BOTTOM)} aria-label={label}
                        data-testid="sensitivity"
                        onmouseleave={props.on.reform(|_| Event::Hover(Selection::NONE))}>
                        { decibel_axis(ticks, width, y) }
                        { for bars.iter().enumerate().map(|(index, bar)| {
                            let x = LEFT + index as f64 * column;
                            let layer = layer(props.plan.as_ref(), &bar.layer);
                            let is_lit = layer.is_some() && props.lit.layer == layer;
                            let selection = layer.map_or(Selection::NONE, Selection::layer);
                            let class = classes!(
                                if bar.is_worst { "bar-worst" } else { "bar-cost" },
                                is_lit.then_some("bar-lit"),
                            );
                            html! {
                                <g key={index} onmouseenter={props.on.reform(move |_| Event::Hover(selection))}
                                    onclick={props.on.reform(move |_| Event::Select(selection))}>
                                    <rect class="hit" x={px(x)} y={px(TOP)} width={px(column)} height={px(HEIGHT)} />
                                    <rect {class} x={px(x + column * 0.1)} y={px(y(bar.decibels))}
                                        width={px((column * 0.8).max(0.75))} height={px((floor - y(bar.decibels)).max(1.0))}>
                                        <title>{ format!("{}: {}", bar.layer, decibels(bar.decibels)) }</title>
                                    </rect>
                                </g>
                            }
                        }) }
                        <text x={px(LEFT)} y={px(floor + 16.0)}>{ "layers in order of execution" }</text>
                    </svg>
                }
            </div>
            <figcaption class="muted detail">
                { "Decibels of the outputs when only this layer is int8: the lowest bar, marked, costs most." }
            </figcaption>
        </figure>
    }
}

fn table(facts: &QuantisationFacts, props: &Props) -> Html {
    let heads = [
        (Column::Position, "#", true),
        (Column::Layer, "Layer", false),
        (Column::Low, "Low", true),
        (Column::High, "High", true),
        (Column::Scale, "Scale", true),
        (Column::Saturated, "Saturated", true),
        (Column::Sqnr, "SQNR", true),
        (Column::Alone, "Outputs, this layer alone", true),
    ];
    let head = |(column, title, is_number): (Column, &'static str, bool)| {
        let is_sorted = props.sort.column == column;
        let (order, arrow) = match (is_sorted, props.sort.descending) {
            (false, _) => ("none", ""),
            (true, true) => ("descending", "↓"),
            (true, false) => ("ascending", "↑"),
        };
        html! {
            <th key={title} scope="col" aria-sort={order} class={classes!(is_number.then_some("number"))}>
                <button type="button" class="sort" onclick={props.on.reform(move |_| Event::SortReport(column))}>
                    { title }<span class="arrow" aria-hidden="true">{ arrow }</span>
                </button>
            </th>
        }
    };
    html! {
        <div class="table-scroll" tabindex="0" role="group" aria-label="Table of quantised tensors">
            <table class="layers" data-testid="quantisation">
                <thead><tr>{ for heads.into_iter().map(head) }</tr></thead>
                <tbody onmouseleave={props.on.reform(|_| Event::Hover(Selection::NONE))}>
                    { for rows(facts, props.sort).into_iter().map(|row| {
                        let tensor = row.tensor;
                        let layer = layer(props.plan.as_ref(), &tensor.layer);
                        let is_lit = layer.is_some() && props.lit.layer == layer;
                        let selection = layer.map_or(Selection::NONE, Selection::layer);
                        html! {
                            <tr key={row.index} class={classes!(is_lit.then_some("lit"))}
                                onmouseenter={props.on.reform(move |_| Event::Hover(selection))}
                                onclick={props.on.reform(move |_| Event::Select(selection))}>
                                <td class="number muted">{ row.index }</td>
                                <th scope="row">
                                    <button type="button" class="row-name" title={tensor.layer.clone()}>
                                        <span>{ short_name(&tensor.layer) }</span>
                                    </button>
                                </th>
                                <td class="number">{ real(tensor.range[0]) }</td>
                                <td class="number">{ real(tensor.range[1]) }</td>
                                <td class="number">{ real(tensor.scale) }</td>
                                <td class="number">{ figures::percent(tensor.saturated, 1.0) }</td>
                                <td class="number">{ decibels(tensor.sqnr_db) }</td>
                                <td class="number">{ tensor.alone_db.map_or_else(|| "–".to_owned(), decibels) }</td>
                            </tr>
                        }
                    }) }
                </tbody>
            </table>
        </div>
    }
}

/// Lines across a chart at decibels, each with its number; `y` is where one lies.
pub(super) fn decibel_axis(
    ticks: impl Iterator<Item = f64>,
    width: f64,
    y: impl Fn(f64) -> f64,
) -> Html {
    let line = |tick: f64| {
        html! {
            <g key={format!("{}", tick as i64)}>
                <line x1={px(LEFT)} x2={px(width - RIGHT)} y1={px(y(tick))} y2={px(y(tick))} />
                <text x={px(LEFT - 6.0)} y={px(y(tick) + 4.0)} text-anchor="end">
                    { figures::fixed(tick, 0) }
                </text>
            </g>
        }
    };
    html! { <g class="axis">{ for ticks.map(line) }</g> }
}

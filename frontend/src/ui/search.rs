//! Searching cells: searches that were logged, by what they weigh cost with, and one in a worker.

use std::rc::Rc;

use web_sys::FileList;
use yew::prelude::*;

use super::cells_drawing::drawing_of;
use super::chart::{px, use_width};
use super::icon::{Glyph, icon};
use super::labelled_images::LabelledImages;
use super::parts::trouble_box;
use super::save::save_text;
use super::zoo::slider;
use crate::message::{CellChoices, CellDraft, SearchLog, SearchSettings};
use crate::state::{Begun, CellSearch, Doer, Event, LabelledFiles, Place, SearchEvent};
use crate::view_model::cells::{Which, with_cells};
use crate::view_model::search::{Curves, csv, curves, name, row, weight};
use tilewright_report::{Diagnostic, Slider, sentence};

/// What can be chosen of a search here.
const TRADE_OFF: Slider = Slider { least: 0.0, most: 0.1, step: 0.01, default: 0.02 };
const SEED: Slider = Slider { least: 0.0, most: 20.0, step: 1.0, default: 0.0 };
const STEPS: Slider = Slider { least: 20.0, most: 600.0, step: 20.0, default: 200.0 };
const CELLS: Slider = Slider { least: 3.0, most: 8.0, step: 1.0, default: 4.0 };
const CHANNELS: Slider = Slider { least: 2.0, most: 16.0, step: 2.0, default: 4.0 };

/// The drawing's height, and the room around its curves: right of them stand their names.
const HEIGHT: f64 = 168.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 64.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 24.0;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub choices: Rc<CellChoices>,
    /// The cells that are edited.
    pub draft: Rc<CellDraft>,
    pub search: CellSearch,
    pub is_searching: bool,
    pub trouble: Option<Diagnostic>,
    pub images: LabelledFiles,
    pub images_trouble: Option<Diagnostic>,
    pub on: Callback<Event>,
    pub on_images: Callback<FileList>,
}

#[component]
pub fn SearchView(props: &Props) -> Html {
    html! {
        <div class="search-body">
            <p class="muted detail">
                { "A network learns while each edge of its cells is a mixture of operations; then every node keeps its \
                   two strongest edges. The loss that chooses them is L_ce + Γ · L_com^0.27: Γ weighs the cycles that \
                   the mixture costs (DEff-ARTS, thesis of Sadiq, figures 3.7, 3.8 and 3.10)." }
            </p>
            <div class="search-columns">
                { logged(props) }
                { here(props) }
            </div>
        </div>
    }
}

fn logged(props: &Props) -> Html {
    let logs: Vec<&SearchLog> = props.choices.logged.iter().collect();
    let chosen = props.search.chosen.min(logs.len().saturating_sub(1));
    let Some(log) = logs.get(chosen) else { return html! {} };
    let span = Slider { least: 0.0, most: (logs.len() - 1) as f64, step: 1.0, default: 0.0 };
    let on_choose =
        props.on.reform(|index: f64| Event::Search(SearchEvent::Choose(index as usize)));
    let last = |log: &&SearchLog| log.steps.last().map_or(0, |step| step.step);
    let steps = logs.iter().map(last).max().unwrap_or_default();
    html! {
        <section class="search-column" aria-labelledby="search-logged" data-testid="search-logged">
            <h3 id="search-logged">{ "Logged searches" }</h3>
            <p class="muted detail">
                { "On 8,192 images of Fashion-MNIST at 16 × 16 pixels with 8 cells of 8 channels, by " }
                <code>{ "tilewright explore search" }</code>{ "." }
            </p>
            { slider("search-logged", "Weight of cost, Γ", span, chosen as f64, name(log), on_choose) }
            { charts(&logs, chosen, steps) }
            { table(&logs, chosen) }
            { cells(props, log) }
        </section>
    }
}

fn here(props: &Props) -> Html {
    let begun = props.search.begun.as_ref();
    html! {
        <section class="search-column" aria-labelledby="search-here" data-testid="search-here">
            <h3 id="search-here">{ "A search here" }</h3>
            <p class="muted detail">
                { "Runs in this browser on images of 16 × 16 pixels, beside whatever else you do; nothing is sent \
                   anywhere. More cells and channels make a step slower." }
            </p>
            { options(props) }
            <LabelledImages images={props.images.clone()} trouble={props.images_trouble.clone()}
                on={props.on.clone()} on_files={props.on_images.clone()} />
            if let Some(trouble) = &props.trouble {
                { trouble_box(trouble, Place::Search, "", &props.on) }
            }
            { buttons(props, begun) }
            if let Some(begun) = begun {
                { progress(begun, props.is_searching) }
                if begun.done() > 0 {
                    { charts(&[&begun.log], 0, begun.settings.steps) }
                    { table(&[&begun.log], 0) }
                    { cells(props, &begun.log) }
                }
            }
        </section>
    }
}

fn options(props: &Props) -> Html {
    let settings = props.search.settings;
    let change = |set: fn(&mut SearchSettings, f64)| {
        props.on.reform(move |value: f64| {
            let mut next = settings;
            set(&mut next, value);
            Event::Search(SearchEvent::Set(next))
        })
    };
    let SearchSettings { trade_off, seed, steps, cells, channels } = settings;
    html! {
        <div class="search-options">
            { slider("search-trade-off", "Weight of cost, Γ", TRADE_OFF, trade_off, weight(trade_off),
                change(|next, value| next.trade_off = value)) }
            { slider("search-steps", "Steps", STEPS, steps.into(), steps.to_string(),
                change(|next, value| next.steps = value as u32)) }
            { slider("search-cells", "Cells", CELLS, cells.into(), cells.to_string(),
                change(|next, value| next.cells = value as u32)) }
            { slider("search-channels", "Channels of the first cells", CHANNELS, channels.into(), channels.to_string(),
                change(|next, value| next.channels = value as u32)) }
            { slider("search-seed", "Seed", SEED, seed.into(), seed.to_string(),
                change(|next, value| next.seed = value as u32)) }
        </div>
    }
}

fn buttons(props: &Props, begun: Option<&Begun>) -> Html {
    let send =
        |event: SearchEvent| props.on.reform(move |_: MouseEvent| Event::Search(event.clone()));
    let is_waiting = begun.is_some_and(|begun| begun.goes_on() && begun.done() > 0);
    html! {
        <div class="cells-buttons">
            if props.is_searching {
                <button type="button" class="button" data-testid="search-stop"
                    onclick={props.on.reform(|_| Event::Stop(Doer::Search))}>
                    { icon(Glyph::Stop) }{ "Stop" }
                </button>
            } else {
                if is_waiting {
                    <button type="button" class="button primary" data-testid="search-go-on"
                        onclick={send(SearchEvent::GoOn)}>{ "Go on" }</button>
                }
                <button type="button" class={classes!("button", (!is_waiting).then_some("primary"))}
                    data-testid="search-begin" onclick={send(SearchEvent::Begin)}>
                    { if begun.is_some() { "Search anew" } else { "Search" } }
                </button>
            }
        </div>
    }
}

fn progress(begun: &Begun, is_searching: bool) -> Html {
    let (done, of) = (begun.done(), begun.settings.steps);
    let (name, count) = &begun.images;
    let state = match (&begun.diverged, is_searching) {
        (Some(how), _) => format!("{} What was found before is kept.", sentence(how)),
        (None, false) if done < of => "Stopped.".to_owned(),
        _ => String::new(),
    };
    html! {
        <div class="search-progress">
            <progress value={done.to_string()} max={of.to_string()} aria-label="Steps that are done" />
            <p data-testid="search-progress">
                { format!("Step {done} of {of}, {}, seed {}. {state}", self::name(&begun.log), begun.settings.seed) }
            </p>
            if *count > 0 {
                <p class="muted detail">
                    { format!("{count} images: {name}. Half of them teach the weights, half the cells.") }
                </p>
            }
        </div>
    }
}

fn charts(logs: &[&SearchLog], chosen: usize, steps: u32) -> Html {
    let charts = curves(logs, chosen, steps).map(|curves| {
        let key = curves.title;
        html! { <Chart {key} {curves} {steps} /> }
    });
    html! { <div class="search-charts">{ for charts }</div> }
}

#[derive(PartialEq, Properties)]
struct ChartProps {
    curves: Curves,
    steps: u32,
}

#[component]
fn Chart(props: &ChartProps) -> Html {
    let node = use_node_ref();
    let width = use_width(node.clone(), true);
    let chart = &props.curves;
    let (floor, end) = (HEIGHT - BOTTOM, width - RIGHT);
    let x = |part: f64| LEFT + part * (end - LEFT).max(0.0);
    let y = |part: f64| floor - part * (floor - TOP);
    html! {
        <figure>
            <figcaption>
                { chart.title }<span class="muted detail">{ format!(" {}", chart.unit) }</span>
            </figcaption>
            <div ref={node} class="chart">
                if width > 0.0 {
                    <svg role="img" width={px(width)} height={px(HEIGHT)}
                        aria-label={format!("{} The table has the last figures.", chart.words)}>
                        <g class="axis">
                            { for chart.ticks.iter().map(|(part, text)| html! {
                                <g key={text.clone()}>
                                    <line x1={px(LEFT)} x2={px(end)} y1={px(y(*part))} y2={px(y(*part))} />
                                    <text x={px(LEFT - 6.0)} y={px(y(*part) + 4.0)} text-anchor="end">{ text }</text>
                                </g>
                            }) }
                        </g>
                        { for chart.curves.iter().map(|curve| {
                            let point = |[right, up]: &[f64; 2]| format!("{},{}", px(x(*right)), px(y(*up)));
                            let points: Vec<String> = curve.points.iter().map(point).collect();
                            let class = classes!("search-curve", curve.is_chosen.then_some("search-chosen"));
                            let last = curve.points.last().filter(|_| curve.is_labelled);
                            html! {
                                <g key={curve.name.clone()}>
                                    <polyline {class} points={points.join(" ")}><title>{ &curve.name }</title></polyline>
                                    if let Some([right, up]) = last {
                                        <text x={px(x(*right) + 6.0)} y={px(y(*up) + 4.0)}>{ &curve.name }</text>
                                    }
                                </g>
                            }
                        }) }
                        <text x={px(LEFT)} y={px(HEIGHT - 6.0)}>{ "step 0" }</text>
                        <text x={px(end)} y={px(HEIGHT - 6.0)} text-anchor="end">{ props.steps }</text>
                    </svg>
                }
            </div>
        </figure>
    }
}

fn table(logs: &[&SearchLog], chosen: usize) -> Html {
    html! {
        <div class="table-scroll" tabindex="0" role="group" aria-label="Table of what searches came to">
            <table>
                <thead><tr>
                    <th scope="col" class="number">{ "Γ" }</th>
                    <th scope="col" class="number">{ "Step" }</th>
                    <th scope="col" class="number">{ "Loss" }</th>
                    <th scope="col" class="number">{ "Right" }</th>
                    <th scope="col" class="number">{ "L_com" }</th>
                    <th scope="col" class="number">{ "Normal" }</th>
                    <th scope="col" class="number">{ "Reduction" }</th>
                </tr></thead>
                <tbody>
                    { for logs.iter().enumerate().filter_map(|(index, log)| row(log).map(|row| html! {
                        <tr key={row.name.clone()} class={classes!((index == chosen && logs.len() > 1).then_some("lit"))}>
                            <th scope="row" class="number">{ row.name }</th>
                            <td class="number">{ row.steps }</td>
                            <td class="number">{ row.loss }</td>
                            <td class="number">{ row.accuracy }</td>
                            <td class="number">{ row.cost }</td>
                            <td class="number">{ row.normal }</td>
                            <td class="number">{ row.reduction }</td>
                        </tr>
                    })) }
                </tbody>
            </table>
            <p class="muted detail">
                { "Loss and accuracy are means of five steps' batches (measured); L_com and both cells are cycles by \
                   table 3.2 of the thesis (modelled)." }
            </p>
        </div>
    }
}

/// The cells that a search came to.
fn cells(props: &Props, log: &SearchLog) -> Html {
    let on_csv = {
        let (log, file) = (log.clone(), format!("search-g{}.csv", weight(log.trade_off)));
        Callback::from(move |_: MouseEvent| save_text(&file, &csv(&log), "text/csv"))
    };
    let onclick = {
        let (draft, on) = (with_cells(&props.draft, &log.found), props.on.clone());
        Callback::from(move |_: MouseEvent| {
            on.emit(Event::EditCells(draft.clone()));
            on.emit(Event::Search(SearchEvent::Show(false)));
        })
    };
    html! {
        <div class="search-found">
            { for Which::BOTH.map(|which| html! {
                <div key={which.id()}>
                    <h4>{ which.title() }</h4>
                    { drawing_of(&props.choices, which, which.of(&log.found)) }
                </div>
            }) }
            <div class="cells-buttons">
                <button type="button" class="button" data-testid="search-edit" {onclick}>
                    { "Edit these cells" }
                </button>
                <button type="button" class="quiet" onclick={on_csv} title="Save the steps as CSV">
                    { icon(Glyph::Save) }{ "CSV" }
                </button>
            </div>
        </div>
    }
}

//! Sparsity: a slider, and what it does to each layer.

use std::rc::Rc;

use tilewright_report::Kind;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use super::icon::{Glyph, icon};
use super::panel::Panel;
use super::parts::kind_tag;
use super::save::save_text;
use crate::message::PlanFacts;
use crate::state::{Event, OpenModel, Selection, View};
use crate::view_model::figures;
use crate::view_model::fragment::MOST_SPARSITY;
use crate::view_model::sparsity::{Row, csv, rows, sum, summary};

/// Thousandths in a step of the slider, which counts in percent.
const STEP: u16 = 10;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub model: Rc<OpenModel>,
    /// What was chosen, in thousandths; of the model, or of what is being opened in its place.
    pub sparsity: u16,
    /// Whether the model is being pruned.
    pub is_pruning: bool,
    pub plan: Option<Rc<PlanFacts>>,
    pub lit: Selection,
    pub is_stale: bool,
    pub is_maximised: bool,
    pub on: Callback<Event>,
}

#[component]
pub fn SparsityPanel(props: &Props) -> Html {
    let facts = &props.model.facts.sparsity;
    let found = props.plan.as_ref().map(|plan| rows(facts, plan)).unwrap_or_default();
    let name = props.model.facts.name.clone();
    let actions = match found.is_empty() {
        true => html! {},
        false => {
            let (rows, file) = (found.clone(), format!("{name}-sparsity.csv"));
            let on_csv = Callback::from(move |_| save_text(&file, &csv(&rows), "text/csv"));
            html! {
                <button type="button" class="quiet" onclick={on_csv} title="Save the table as CSV">
                    { icon(Glyph::Save) }{ "CSV" }
                </button>
            }
        }
    };
    html! {
        <Panel view={View::Sparsity} is_maximised={props.is_maximised} on={props.on.clone()}
            is_stale={props.is_stale} {actions}>
            if facts.obstacle.is_empty() {
                { slider(props) }
            } else {
                <p class="waiting" data-testid="not-pruned">
                    { format!("This model is not pruned here. {}", facts.obstacle) }
                </p>
            }
            if let Some(plan) = &props.plan { { figures_of(plan) } }
            if !found.is_empty() { <p data-testid="sparsity-summary">{ summary(facts, &found) }</p> }
            if facts.sparsity > 0 { { accuracy() } }
            if !found.is_empty() { { table(&found, props) } }
        </Panel>
    }
}

fn slider(props: &Props) -> Html {
    let change = |is_passing: bool| {
        let on = props.on.clone();
        move |input: Option<HtmlInputElement>| {
            let percent = input.and_then(|input| input.value().parse::<u16>().ok());
            if let Some(percent) = percent {
                on.emit(Event::Prune(percent.saturating_mul(STEP), is_passing));
            }
        }
    };
    let (dragged, released) = (change(true), change(false));
    let oninput = Callback::from(move |event: InputEvent| dragged(event.target_dyn_into()));
    let onchange = Callback::from(move |event: yew::Event| released(event.target_dyn_into()));
    let percent = props.sparsity / STEP;
    let text = if percent == 0 { "off".to_owned() } else { format!("{percent} %") };
    let applied = props.model.facts.sparsity.sparsity / STEP;
    let how = match (props.is_pruning, applied) {
        (true, _) => "Pruning; what is shown is of the choice before.".to_owned(),
        (false, 0) => {
            "No weight is pruned. Of each layer the slider sets the smallest weights to zero, two \
                       neighbours along a row together; depthwise layers stay dense."
                .to_owned()
        }
        (false, _) => format!(
            "Of each layer {applied} % of the pairs of weights are zero: the smallest. The plan, its image, every \
             download and every run are of this model."
        ),
    };
    html! {
        <div class="sparsity" data-testid="sparsity" data-busy={props.is_pruning.to_string()}>
            <div class="picker picker-budget">
                <label for="pick-sparsity">{ "Sparsity" }<output for="pick-sparsity">{ text.clone() }</output></label>
                <input type="range" id="pick-sparsity" data-testid="pick-sparsity" min="0"
                    max={(MOST_SPARSITY / STEP).to_string()} step="1" value={percent.to_string()}
                    aria-valuetext={text} {oninput} {onchange} />
            </div>
            <p class="muted detail" data-testid="sparsity-how">{ how }</p>
        </div>
    }
}

/// What the plan needs of flash, and how long it takes.
fn figures_of(plan: &PlanFacts) -> Html {
    let report = &plan.report;
    html! {
        <dl class="facts">
            <div class="fact">
                <dt>{ "Flash of the plan" }</dt>
                <dd>
                    <span class="figure" data-testid="sparsity-flash"
                        data-bytes={report.flash_bytes.0.to_string()}>
                        { figures::binary(report.flash_bytes.0) }
                    </span>
                    { kind_tag(Kind::Counted) }
                    <span class="muted detail">{ figures::bytes(report.flash_bytes.0) }</span>
                </dd>
            </div>
            if let Some(latency) = report.latency_us {
                <div class="fact">
                    <dt>{ "Time of a run" }</dt>
                    <dd>
                        <span class="figure" data-testid="sparsity-time">{ figures::duration(latency.0) }</span>
                        { kind_tag(Kind::Modelled) }
                    </dd>
                </div>
            }
        </dl>
    }
}

fn accuracy() -> Html {
    html! {
        <p class="note" data-testid="sparsity-accuracy">
            { "What this does to accuracy is not known here. A pruned network must be trained again with its zeros \
               held: models/train/fine_tune.py does that, and prunes alike. Measured on 10,000 test pictures \
               (docs/results.md): LeNet-5 at 80 % recognises 10.59 % of the digits as pruned, 98.87 % after \
               training, and 99.46 % with all its weights." }
        </p>
    }
}

fn table(found: &[Row], props: &Props) -> Html {
    let all = sum(found);
    let share = |zeros: u64, weights: u64| figures::percent(zeros as f64, weights as f64);
    html! {
        <>
        <div class="table-scroll" tabindex="0" role="group" aria-label="Table of pruned layers">
            <table class="layers" data-testid="sparsity-table">
                <thead><tr>
                    <th scope="col">{ "Layer" }</th>
                    <th scope="col" class="number">{ "Weights" }{ kind_tag(Kind::Counted) }</th>
                    <th scope="col" class="number">{ "Zero before" }{ kind_tag(Kind::Counted) }</th>
                    <th scope="col" class="number">{ "Zero now" }{ kind_tag(Kind::Counted) }</th>
                    <th scope="col" class="number">{ "Bytes, dense" }{ kind_tag(Kind::Counted) }</th>
                    <th scope="col" class="number">{ "Bytes, stored" }{ kind_tag(Kind::Counted) }</th>
                    <th scope="col" class="number">{ "Time, dense" }{ kind_tag(Kind::Modelled) }</th>
                    <th scope="col" class="number">{ "Time, planned" }{ kind_tag(Kind::Modelled) }</th>
                    <th scope="col">{ "Weights lie" }</th>
                </tr></thead>
                <tbody onmouseleave={props.on.reform(|_| Event::Hover(Selection::NONE))}>
                    { for found.iter().map(|row| {
                        let is_lit = row.layer.is_some() && props.lit.layer == row.layer;
                        let selection = row.layer.map_or(Selection::NONE, Selection::layer);
                        html! {
                            <tr key={row.node} class={classes!(is_lit.then_some("lit"))}
                                onmouseenter={props.on.reform(move |_| Event::Hover(selection))}
                                onclick={props.on.reform(move |_| Event::Select(selection))}>
                                <th scope="row">
                                    <button type="button" class="row-name" title={row.name.clone()}>
                                        <span>{ &row.name }</span>
                                    </button>
                                </th>
                                <td class="number">{ figures::grouped(row.weights) }</td>
                                <td class="number">{ share(row.zeros_before, row.weights) }</td>
                                <td class="number">{ share(row.zeros, row.weights) }</td>
                                <td class="number">{ figures::grouped(row.dense_bytes) }</td>
                                <td class="number">{ figures::grouped(row.bytes) }</td>
                                <td class="number">{ figures::duration(row.dense_us) }</td>
                                <td class="number">{ figures::duration(row.us) }</td>
                                <td>{ &row.encoding }</td>
                            </tr>
                        }
                    }) }
                </tbody>
                <tfoot><tr data-testid="sparsity-sum">
                    <th scope="row">{ "All" }</th>
                    <td class="number">{ figures::grouped(all.weights) }</td>
                    <td class="number">{ share(all.zeros_before, all.weights) }</td>
                    <td class="number">{ share(all.zeros, all.weights) }</td>
                    <td class="number">{ figures::grouped(all.dense_bytes) }</td>
                    <td class="number">{ figures::grouped(all.bytes) }</td>
                    <td class="number">{ figures::duration(all.dense_us) }</td>
                    <td class="number">{ figures::duration(all.us) }</td>
                    <td></td>
                </tr></tfoot>
            </table>
        </div>
        <p class="muted detail">
            { "Dense: the same layer with its zeros among the weights, as the kernels take them. Pairs: in the plain \
               packing; transformed: wider and faster; sparse: without the zeros. Bytes hold biases and other \
               constants of the layer too." }
        </p>
        </>
    }
}

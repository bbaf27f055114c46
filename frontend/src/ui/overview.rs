//! Does it fit, and how near the limits is it?

use std::rc::Rc;

use tilewright_board::Board;
use tilewright_report::Kind;
use yew::prelude::*;

use super::alternatives::alternatives;
use super::facts::fact_list;
use super::panel::Panel;
use super::parts::kind_tag;
use super::save::save_schedule;
use super::why_not::why_not;
use crate::message::{Calibration, ModelFacts, PlanFacts, ScheduleFile};
use crate::state::{Event, Keep, Outcome, View};
use crate::view_model::figures;
use crate::view_model::overview::{Fact, Gauge, Verdict, overview};
use crate::view_model::remedies::Remedies;
use crate::view_model::sparsity::fixed_by;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub model: Rc<ModelFacts>,
    pub plan: Option<Rc<PlanFacts>>,
    pub boards: Rc<Vec<Board>>,
    /// What the browser's storage keeps; nothing for a model that came with the page.
    pub keep: Option<Keep>,
    /// The last run, if it was of the shown plan's settings.
    pub run: Option<Rc<Outcome>>,
    /// What would help a plan that does not fit.
    pub remedies: Remedies,
    /// The section on early exits.
    pub exits: Html,
    pub is_stale: bool,
    /// Whether a plan that fits is being looked for, since the shown one does not.
    pub is_looking: bool,
    pub is_maximised: bool,
    pub on: Callback<Event>,
}

#[component]
pub fn OverviewPanel(props: &Props) -> Html {
    let board = props
        .plan
        .as_ref()
        .and_then(|plan| props.boards.iter().find(|board| board.id == plan.settings.board_id()));
    let body = match (&props.plan, board) {
        (Some(plan), Some(board)) => planned(plan, board, props),
        _ => html! { <p class="waiting">{ "No plan yet." }</p> },
    };
    let has_schedule = props.plan.as_ref().is_some_and(|plan| !plan.timeline.slices.is_empty());
    let actions =
        html! { if has_schedule { { save_schedule(ScheduleFile::Report, false, &props.on) } } };
    html! {
        <Panel view={View::Overview} is_maximised={props.is_maximised} on={props.on.clone()}
            is_stale={props.is_stale} {actions}>
            { body }
            { numbers(&props.model) }
            { about(&props.model) }
            if let Some(keep) = &props.keep { { keeping(keep, &props.on) } }
        </Panel>
    }
}

fn planned(plan: &PlanFacts, board: &Board, props: &Props) -> Html {
    let view = overview(plan, board, props.run.as_deref());
    if props.is_looking {
        return html! {
            <p class="verdict" data-testid="looking">
                <span class="verdict-mark" aria-hidden="true">{ "…" }</span>
                <span>{ format!("With all tensors in SRAM {} does not fit {}: looking for a plan that does",
                    plan.report.model, board.name) }</span>
            </p>
        };
    }
    let (class, mark) = match view.is {
        Verdict::Fits => ("verdict verdict-fits", "✓"),
        Verdict::CannotRun => ("verdict verdict-over", "!"),
        Verdict::TooLarge => ("verdict verdict-over", "✕"),
    };
    html! {
        <>
            <p {class} data-testid="verdict" data-fits={plan.report.fits.to_string()}>
                <span class="verdict-mark" aria-hidden="true">{ mark }</span>
                <span>{ &view.verdict }</span>
            </p>
            if !view.why.is_empty() { <p data-testid="why">{ &view.why }</p> }
            if !fixed_by(&plan.report.strategy).is_empty() {
                <p class="muted detail" data-testid="strategy-fixes">{ fixed_by(&plan.report.strategy) }</p>
            }
            if !view.cannot_run.is_empty() {
                <p class="note" data-testid="cannot-run">{ &view.cannot_run }</p>
            }
            if let Some(reason) = &plan.report.does_not_fit {
                { why_not(reason, &props.remedies, &props.on) }
            }
            <dl class="gauges">{ for view.gauges.iter().map(gauge) }</dl>
            { fact_list("fact", &view.facts) }
            { alternatives(&plan.report.alternatives) }
            { props.exits.clone() }
        </>
    }
}

fn gauge(gauge: &Gauge) -> Html {
    let percent = |share: f64| format!("{}%", figures::fixed(share * 100.0, 3));
    let is_over = gauge.is_over();
    html! {
        <div key={gauge.id} class={classes!("gauge", is_over.then_some("gauge-over"))}
            data-testid={format!("gauge-{}", gauge.id)}>
            <dt>{ gauge.title }{ kind_tag(gauge.kind) }</dt>
            <dd>
                <span class="gauge-line">
                    <span class="figure">{ figures::binary(gauge.used) }</span>
                    <span class="muted">
                        { format!("{} of {}", figures::percent(gauge.used as f64, gauge.limit as f64), gauge.limit_is) }
                    </span>
                </span>
                <svg class="gauge-bar" width="100%" height="12" aria-hidden="true">
                    <rect width="100%" height="12" rx="2" class="track" />
                    <rect width={percent(gauge.fill())} height="12" rx="2" class="fill" />
                    if is_over {
                        <rect x={percent(gauge.share(gauge.limit))} width="2" height="12" class="limit" />
                    }
                    if let Some(bound) = gauge.bound {
                        <rect x={percent(gauge.share(bound) - 0.002)} width="2" height="12" class="bound" />
                    }
                </svg>
                <span class="muted detail">
                    { figures::bytes(gauge.used) }
                    if !gauge.counts.is_empty() { { format!(", {}", gauge.counts) } }
                    if let Some(bound) = gauge.bound {
                        { format!("; no plan of this kind needs less than {}", figures::bytes(bound)) }
                    }
                </span>
            </dd>
        </div>
    }
}

/// Whether the browser keeps the model: the person's choice.
fn keeping(keep: &Keep, on: &Callback<Event>) -> Html {
    let is_kept = keep.is_allowed && keep.problem.is_none();
    let words = match (is_kept, keep.is_storing) {
        (false, _) => "Off: a reload asks for the file again.",
        (true, true) => "Storing…",
        (true, false) => {
            "A reload opens it again. It stays on this computer until you untick this or open \
             another."
        }
    };
    html! {
        <div class="keeping" data-testid="keeping" data-kept={(is_kept && !keep.is_storing).to_string()}>
            <label>
                <input type="checkbox" checked={is_kept} data-testid="keep"
                    onchange={on.reform(move |_| Event::Keep(!is_kept))} />
                { "Keep this model in this browser" }
            </label>
            if let Some(trouble) = &keep.problem {
                <p class="note" role="alert" data-testid="keep-problem">
                    { trouble.to_string() }
                </p>
            } else {
                <p class="muted detail">{ words }</p>
            }
        </div>
    }
}

/// The model in figures, whatever the plan.
fn numbers(model: &ModelFacts) -> Html {
    let summary = &model.summary;
    let fact = |id, title, value, detail| Fact { title, id, value, detail, kind: Kind::Counted };
    let bytes = |id, title, [float, int8]: [u64; 2]| {
        let exact = match float == int8 {
            true => figures::bytes(int8),
            false => format!("{}; {} as float", figures::bytes(int8), figures::binary(float)),
        };
        fact(id, title, figures::binary(int8), exact)
    };
    html! {
        <section class="model-numbers" aria-labelledby="model-heading">
            <h3 id="model-heading">{ "The model" }</h3>
            { fact_list("model", &[
                fact("macs", "MACs", figures::compact(model.macs), figures::grouped(model.macs)),
                fact("parameters", "Parameters", figures::compact(model.parameters),
                    figures::grouped(model.parameters)),
                bytes("weights", "Weights, int8", summary.weight_bytes),
                bytes("activations", "Activations, int8", summary.activation_bytes),
            ]) }
            <div class="table-scroll" tabindex="0" role="group" aria-label="Operators by kind">
                <table data-testid="kinds">
                    <thead><tr>
                        <th scope="col">{ "Operators" }</th>
                        <th scope="col" class="number">{ "Count" }</th>
                        <th scope="col" class="number">{ "MACs" }</th>
                        <th scope="col" class="number">{ "Share" }</th>
                    </tr></thead>
                    <tbody>
                        { for summary.kinds.iter().map(|kind| html! {
                            <tr key={kind.op.clone()}>
                                <th scope="row">
                                    { &kind.op }
                                    if kind.is_opaque { <strong>{ " no kernel" }</strong> }
                                </th>
                                <td class="number">{ kind.count }</td>
                                <td class="number">{ figures::compact(kind.macs) }</td>
                                <td class="number share-cell">
                                    <span class="share" aria-hidden="true"
                                        style={format!("width:{}%", figures::fixed(kind.macs_percent, 2))}></span>
                                    <span>{ figures::percent(kind.macs_percent, 100.0) }</span>
                                </td>
                            </tr>
                        }) }
                    </tbody>
                </table>
            </div>
        </section>
    }
}

fn about(model: &ModelFacts) -> Html {
    let calibration = match model.calibration {
        Calibration::Samples(count) => format!("int8, calibrated on {count} samples"),
        Calibration::Noise => "int8, calibrated on made-up noise: drop a .npy file with real \
                               samples for results that mean something"
            .to_owned(),
        Calibration::Analytic => "int8, scales from the statistics of seeded weights".to_owned(),
        Calibration::NotNeeded => "int8 as the file has it".to_owned(),
        Calibration::Impossible => "as the file has it: what cannot be computed cannot be \
                                    quantised"
            .to_owned(),
    };
    let ports = |ports: &[crate::message::Port]| {
        ports.iter().map(|p| format!("{} {}", p.name, p.shape)).collect::<Vec<_>>().join(", ")
    };
    html! {
        <details class="about">
            <summary>{ format!("{} · {} nodes", model.file, model.operators) }</summary>
            <dl class="pairs">
                <dt>{ "Input" }</dt><dd>{ ports(&model.inputs) }</dd>
                <dt>{ "Output" }</dt><dd>{ ports(&model.outputs) }</dd>
                <dt>{ "Parameters" }</dt><dd>{ figures::grouped(model.parameters) }</dd>
                <dt>{ "Quantisation" }</dt><dd>{ calibration }</dd>
                if !model.note.is_empty() { <dt>{ "Network" }</dt><dd>{ &model.note }</dd> }
                if !model.sha256.is_empty() {
                    <dt>{ "File" }</dt><dd>{ figures::bytes(model.file_bytes) }</dd>
                    <dt>{ "SHA-256" }</dt><dd class="hash">{ &model.sha256 }</dd>
                }
            </dl>
        </details>
    }
}

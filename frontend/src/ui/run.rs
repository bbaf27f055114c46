//! The emulated run, and its results beside the reference.

use std::rc::Rc;

use js_sys::Uint8Array;
use tilewright_board::Board;
use tilewright_report::{Fault, Kind, short_name};
use yew::prelude::*;

use super::choice::Choice;
use super::desk::desk;
use super::facts::fact_list;
use super::icon::{Glyph, icon};
use super::outputs::Outputs;
use super::panel::Panel;
use super::parts::{kind_tag, trouble_box};
use super::picture_input::PictureInput;
use super::sound::Microphone;
use crate::message::{Calibration, PlanFacts};
use crate::session::ObjectUrl;
use crate::state::{
    Desk, Event, Input, Origin, Outcome, Phase, Place, Run, RunsOn, Selection, Server, View,
};
use crate::view_model::figures;
use crate::view_model::run::{
    Agreement, agreement, checks, emulated_by, facts, frames, takes_pictures, takes_sounds,
};
use tilewright_report::Diagnostic;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub origin: Origin,
    pub calibration: Calibration,
    pub plan: Option<Rc<PlanFacts>>,
    pub boards: Rc<Vec<Board>>,
    pub server: Server,
    /// Where the next run is.
    pub runs_on: RunsOn,
    pub input: Input,
    pub picture: Option<Rc<ObjectUrl>>,
    pub run: Run,
    pub can_run: bool,
    pub is_opening: bool,
    /// Whether nothing but an input is missing.
    pub needs_input: bool,
    pub trouble: Option<Diagnostic>,
    pub desk: Desk,
    /// A run of the emulated board of the plan that the board on the desk answered for.
    pub run_beside: Option<Rc<Outcome>>,
    pub can_measure: bool,
    pub desk_trouble: Option<Diagnostic>,
    pub lit: Selection,
    pub is_stale: bool,
    pub is_maximised: bool,
    pub on: Callback<Event>,
    /// A file dialog gave this input.
    pub on_input: Callback<web_sys::FileList>,
    /// An input was drawn, taken or recorded: its name, and its bytes as a PNG or WAV file.
    pub on_picture: Callback<(String, Uint8Array)>,
}

#[component]
pub fn RunPanel(props: &Props) -> Html {
    let outcome = props.run.outcome.as_ref();
    html! {
        <Panel view={View::Run} is_maximised={props.is_maximised} on={props.on.clone()}>
            if let Some(trouble) = &props.trouble {
                { trouble_box(trouble, Place::Run,
                    outcome.map_or("", |_| "Below is the last run that ended."), &props.on) }
            }
            { inputs(props) }
            { subnetwork(props) }
            { mode(props) }
            { place(props) }
            { controls(props) }
            if let Some(plan) = props.plan.as_ref().filter(|plan| plan.image.is_none()) {
                { nothing_to_run(plan) }
            }
            if props.calibration == Calibration::Analytic {
                <p class="note" data-testid="seeded">
                    { "The weights of this network come from a seed: its scores mean nothing; bits, \
                       memory and time can be trusted." }
                </p>
            }
            if props.calibration == Calibration::Noise {
                <p class="note" data-testid="noise">
                    { "This model was quantised on made-up noise, so its scores mean little; figures \
                       of memory and time hold. Drop a .npy file with real samples." }
                </p>
            }
            { outputs(props) }
            if let Some(outcome) = outcome { { results(outcome, props) } }
            { console(props) }
            { desk(props) }
        </Panel>
    }
}

fn nothing_to_run(plan: &PlanFacts) -> Html {
    html! {
        <p class="note" data-testid="nothing-to-run">
            { plan.no_image.as_ref().map_or_else(
                || "There is no image to run: the plan does not fit the board. The overview says \
                    what is missing and what would help.".to_owned(),
                |why| format!("There is no image to run: {why}")) }
        </p>
    }
}

fn inputs(props: &Props) -> Html {
    // While a model is being opened it takes no input.
    let is_busy = props.run.phase.is_under_way() || props.is_opening;
    let samples = match props.origin {
        Origin::Example(example) => example.samples,
        Origin::File(_) | Origin::Zoo(_) => &[],
    };
    html! {
        <fieldset class="inputs" disabled={is_busy}>
            <legend>{ "Input" }</legend>
            <div class="samples">
                { for samples.iter().enumerate().map(|(index, sample)| {
                    let is_chosen = props.input.sample == Some(index);
                    let id = format!("sample-{index}");
                    html! {
                        <label key={index} class={classes!("sample", is_chosen.then_some("chosen"))}
                            title={sample.label}>
                            <input type="radio" name="sample" checked={is_chosen} data-testid={id}
                                onchange={props.on.reform(move |_| Event::Sample(index))} />
                            <img src={sample.file} alt={format!("Sample: {}", sample.label)}
                                width="40" height="40" />
                        </label>
                    }
                }) }
                if let (Some(name), Some(picture)) = (&props.input.file, &props.picture) {
                    <span class="sample chosen" title={name.clone()}>
                        <img src={picture.0.clone()} alt={name.clone()} width="40" height="40" />
                    </span>
                }
                <label class="button">
                    { icon(Glyph::Open) }{ "Own picture, sound or array" }
                    <input type="file" class="visually-hidden" accept=".npy,.npz,.bin,image/*,audio/*"
                        data-testid="input-file" onchange={file_event(&props.on_input)} />
                </label>
                if props.plan.as_ref().is_some_and(|plan| takes_pictures(plan)) {
                    <PictureInput is_disabled={is_busy} on_picture={props.on_picture.clone()} />
                }
                if props.plan.as_ref().is_some_and(|plan| takes_sounds(plan)) {
                    <Microphone is_disabled={is_busy} on_sound={props.on_picture.clone()} />
                }
                if samples.is_empty() {
                    <button type="button" class="button" data-testid="random-input"
                        disabled={props.plan.as_ref().is_none_or(|plan| plan.image.is_none())}
                        title="The same each time: enough to count instructions and compare bits"
                        onclick={props.on.reform(|_| Event::RandomInput)}>
                        { "Made-up input" }
                    </button>
                }
            </div>
            if let Some(name) = &props.input.file {
                <p class="muted detail">{ format!("Input: {name}") }</p>
            }
            if let Some(note) = props.input.reference.as_ref().and_then(|reference| reference.note.as_ref()) {
                <p class="muted detail" data-testid="input-note">{ note }</p>
            }
        </fieldset>
    }
}

/// Sends the files of a file dialog, and forgets them so that the same can be chosen again.
pub fn file_event(on_files: &Callback<web_sys::FileList>) -> Callback<yew::Event> {
    let on_files = on_files.clone();
    Callback::from(move |event: yew::Event| {
        let input: Option<web_sys::HtmlInputElement> = event.target_dyn_into();
        if let Some(input) = input {
            if let Some(files) = input.files() {
                on_files.emit(files);
            }
            input.set_value("");
        }
    })
}

/// The whole network, or one of its sub-networks.
fn subnetwork(props: &Props) -> Html {
    let exits = props.plan.as_ref().map_or(&[][..], |plan| plan.report.exits.as_slice());
    let own = exits.iter().filter_map(|exit| Some((&exit.output, exit.latency_us?)));
    let mut options: Vec<(AttrValue, AttrValue)> = vec![("".into(), "the whole network".into())];
    options.extend(own.map(|(name, latency)| {
        let text = format!("{}: {} (modelled)", short_name(name), figures::duration(latency.0));
        (name.clone().into(), text.into())
    }));
    if options.len() == 1 {
        return html! {};
    }
    let on_choose = props
        .on
        .reform(|name: String| Event::Subnetwork(Some(name).filter(|name| !name.is_empty())));
    let value = props.run.subnetwork.clone().unwrap_or_default();
    html! {
        <fieldset class="inputs" disabled={props.run.phase.is_under_way()}>
            <legend><label for="pick-subnetwork">{ "Program" }</label></legend>
            <Choice id="subnetwork" {value} {options} {on_choose} />
        </fieldset>
    }
}

/// How much of a run is executed.
fn mode(props: &Props) -> Html {
    let choice = |is_sampled: bool, id: &'static str, text: &'static str, title: &'static str| {
        html! {
            <label class="choice" {title}>
                <input type="radio" name="run-mode" data-testid={id}
                    checked={props.run.is_sampled == is_sampled}
                    onchange={props.on.reform(move |_| Event::Sampled(is_sampled))} />
                { text }
            </label>
        }
    };
    html! {
        <fieldset class="inputs" disabled={props.run.phase.is_under_way()}>
            <legend>{ "Execute" }</legend>
            { choice(false, "mode-full", "All steps, and compare the bits",
                "Every instruction of the inference is emulated") }
            { choice(true, "mode-sampled", "Of steps alike the first: counts and times only",
                "Steps like one before pass in the time that it took, with as many instructions; \
                 there are no outputs") }
        </fieldset>
    }
}

/// Where plans run: a choice if there is a server.
fn place(props: &Props) -> Html {
    let Server::Present { engine, missing, .. } = &props.server else {
        return html! {};
    };
    let choice = |place: RunsOn, id: &'static str, text: String, title: String| {
        let is_missing = place == RunsOn::Server && missing.is_some();
        html! {
            <label class="choice" {title}>
                <input type="radio" name="run-place" data-testid={id} disabled={is_missing}
                    checked={props.runs_on == place}
                    onchange={props.on.reform(move |_| Event::RunOn(place))} />
                { text }
            </label>
        }
    };
    let server = match engine.as_str() {
        "" => "On the server".to_owned(),
        engine => format!("On the server ({engine})"),
    };
    let lack = missing.as_ref().map(|missing| format!("{} {}", missing.what, missing.what_to_do));
    html! {
        <fieldset class="inputs" disabled={props.run.phase.is_under_way()}>
            <legend>{ "Runs" }</legend>
            { choice(RunsOn::Page, "runs-in-page", "In this page".to_owned(),
                "Nothing leaves the page: its own emulator executes the firmware".to_owned()) }
            { choice(RunsOn::Server, "runs-on-server", server,
                lack.clone().unwrap_or_else(|| "An emulator that is independent of this project's, and mostly faster; \
                    counts and cycles are the same".to_owned())) }
            if let Some(lack) = lack {
                <p class="muted detail" data-testid="server-lacks">{ lack }</p>
            }
        </fieldset>
    }
}

/// What a run takes where.
fn whereabouts(props: &Props) -> String {
    let stores = props
        .plan
        .as_ref()
        .and_then(|plan| plan.image.as_ref())
        .map_or(0, |image| image.store_bytes);
    let what = match stores {
        0 => "The plan image and the input".to_owned(),
        bytes => {
            format!("The plan image, its store images ({}) and the input", figures::bytes(bytes))
        }
    };
    match (props.runs_on, &props.server) {
        (RunsOn::Server, Server::Present { kept, .. }) => {
            let kept = match kept.as_str() {
                "" => String::new(),
                kept => format!(" They go when the run is over; results are kept {kept}."),
            };
            format!("{what} leave the page for the emulator on this server.{kept}")
        }
        _ => format!("{what} stay in this page: it executes the board's firmware itself."),
    }
}

fn controls(props: &Props) -> Html {
    let doer = props.run.phase.doer();
    html! {
        <div class="run-controls">
            if let Some(doer) = doer {
                <button type="button" class="button" data-testid="cancel"
                    onclick={props.on.reform(move |_| Event::Stop(doer))}>
                    { icon(Glyph::Stop) }{ "Stop" }
                </button>
            } else {
                <button type="button" class="button primary" data-testid="run"
                    disabled={!props.can_run} onclick={props.on.reform(|_| Event::Run)}>
                    { icon(Glyph::Play) }{ "Run on the emulated board" }
                </button>
            }
            { progress(props) }
            if let Some(note) = &props.run.note {
                <p class="note" data-testid="run-note">{ note }</p>
            }
            if props.needs_input {
                <p class="note" data-testid="needs-input">
                    { "An input is missing: give your own, or take the made-up one." }
                </p>
            }
            <p class="muted detail" data-testid="whereabouts">{ whereabouts(props) }</p>
        </div>
    }
}

fn progress(props: &Props) -> Html {
    let name = |layer: usize| {
        let plan = props.plan.as_ref();
        plan.and_then(|plan| plan.report.layers.get(layer))
            .map(|row| short_name(&row.name).to_owned())
    };
    match &props.run.phase {
        Phase::MakingStores => html! {
            <div class="progress" data-testid="progress">
                <progress aria-label="Run"></progress><span>{ "Making the store images" }</span>
            </div>
        },
        Phase::Starting => html! {
            <div class="progress" data-testid="progress">
                <progress aria-label="Run"></progress><span>{ "Starting" }</span>
            </div>
        },
        Phase::Running(running) => {
            let total = props.plan.as_ref().map_or(0, |plan| plan.report.layers.len());
            let done = running.layer.map_or(0, |layer| layer + 1);
            let at = running.layer.and_then(name).unwrap_or_else(|| "boot".to_owned());
            let count = figures::compact(running.instructions);
            html! {
                <div class="progress" data-testid="progress">
                    <progress aria-label="Run" max={total.to_string()} value={done.to_string()}></progress>
                    <span>{ format!("{at}, {count} instructions") }</span>
                </div>
            }
        }
        Phase::Comparing => html! {
            <div class="progress" data-testid="progress">
                <progress aria-label="Run"></progress>
                <span>{ "Comparing with the reference" }</span>
            </div>
        },
        Phase::Cancelled => html! { <p data-testid="cancelled">{ "Stopped." }</p> },
        _ => html! {},
    }
}

/// What the reference, and the board after a run, give for the input.
fn outputs(props: &Props) -> Html {
    let (Some(reference), Some(plan)) = (&props.input.reference, &props.plan) else {
        return html! {};
    };
    let sample = props.input.sample.and_then(|sample| match props.origin {
        Origin::Example(example) => Some(AttrValue::from(example.samples.get(sample)?.file)),
        Origin::File(_) | Origin::Zoo(_) => None,
    });
    let picture = props.picture.as_ref().map(|picture| AttrValue::from(picture.0.clone()));
    let ran = props.run.outcome.as_ref();
    let ran = ran.filter(|outcome| Rc::ptr_eq(&outcome.reference, reference));
    html! {
        <Outputs plan={Rc::clone(plan)} reference={Rc::clone(reference)} ran={ran.cloned()}
            picture={picture.or(sample)} />
    }
}

fn results(outcome: &Outcome, props: &Props) -> Html {
    let result = &outcome.result;
    let (class, mark, text) = match agreement(outcome) {
        Agreement::Equal { tensors, elements } => ("verdict verdict-fits", "✓", {
            let frames = frames(outcome);
            let layers = outcome.plan.report.layers.len() * frames;
            let of = if frames > 1 { format!(" of {frames} frames") } else { String::new() };
            let what = if tensors == layers {
                format!("{layers} layers{of}")
            } else {
                format!("the outputs and {tensors} of {layers} layers{of}")
            };
            format!("Bit-equal to the reference: {what}, {} elements", figures::grouped(elements))
        }),
        Agreement::OutputsEqual => (
            "verdict verdict-fits",
            "✓",
            "The outputs are bit-equal to the reference; layers were not compared".to_owned(),
        ),
        Agreement::Sampled(passed) => (
            "verdict",
            "∿",
            format!(
                "Sampled: {} compute steps passed like one before; nothing was computed whole, so \
                 nothing is compared",
                figures::grouped(passed)
            ),
        ),
        Agreement::Differs(text) => ("verdict verdict-over", "✕", text),
        Agreement::Faulted => {
            ("verdict verdict-over", "✕", "The board stopped with a fault".to_owned())
        }
    };
    let is_old = props.plan.as_ref().is_some_and(|plan| plan.settings != outcome.plan.settings);
    html! {
        <>
            <p {class} data-testid="agreement">
                <span class="verdict-mark" aria-hidden="true">{ mark }</span>{ text }
            </p>
            if is_old {
                <p class="muted detail">{ "This run was of older settings." }</p>
            } else {
                <p class="detail">
                    <button type="button" class="quiet" data-testid="to-schedule"
                        onclick={props.on.reform(|_| Event::Show(View::Schedule))}>
                        { "Show it in the schedule" }
                    </button>
                </p>
            }
            { fact_list("run", &facts(outcome, &props.boards)) }
            <p class="muted detail" data-testid="emulated-by">{ emulated_by(result) }</p>
            if let Some(fault) = &result.fault { { fault_report(fault) } }
            { check_table(outcome, props) }
            if !result.unknown_registers.is_empty() {
                <details>
                    <summary>{ format!("{} registers that no device model answered",
                        result.unknown_registers.len()) }</summary>
                    <ul class="hash">
                        { for result.unknown_registers.iter().map(|(address, count)| html! {
                            <li>{ format!("{} × {count}", figures::address(u64::from(*address))) }</li>
                        }) }
                    </ul>
                </details>
            }
        </>
    }
}

fn fault_report(fault: &Fault) -> Html {
    let place = format!("Where: {}.", fault.place());
    html! {
        <div class="trouble" data-testid="fault">
            <p class="trouble-what">{ &fault.message }</p>
            <p data-testid="fault-place">{ place }</p>
            <details>
                <summary>{ "Registers and last blocks" }</summary>
                <dl class="pairs hash">
                    { for fault.registers.iter().map(|(name, value)| html! {
                        <><dt>{ name }</dt><dd>{ figures::address(u64::from(*value)) }</dd></>
                    }) }
                </dl>
                <ol class="hash">
                    { for fault.last_blocks.iter().map(|(address, name)| html! {
                        <li>{ format!("{} {name}", figures::address(u64::from(*address))) }</li>
                    }) }
                </ol>
            </details>
        </div>
    }
}

fn check_table(outcome: &Outcome, props: &Props) -> Html {
    let rows = checks(outcome);
    if rows.is_empty() {
        return html! {};
    }
    html! {
        <details>
            <summary>{ "Layer by layer" }</summary>
            <div class="table-scroll" tabindex="0" role="group" aria-label="Comparison of layers">
                <table data-testid="layer-checks">
                    <thead><tr>
                        <th scope="col">{ "Layer" }</th>
                        <th scope="col" class="number">{ "Elements" }</th>
                        <th scope="col" class="number">{ "Differ" }</th>
                        <th scope="col" class="number">{ "Instructions" }{ kind_tag(Kind::Counted) }</th>
                        <th scope="col" class="number">{ "Time" }{ kind_tag(Kind::Modelled) }</th>
                    </tr></thead>
                    <tbody>
                        { for rows.iter().map(|row| {
                            let layer = row.layer;
                            let counted = outcome.result.layers.get(layer);
                            let clock = outcome.plan.timeline.clock_hz;
                            let is_lit = props.lit.layer == Some(layer);
                            html! {
                                <tr key={layer} class={classes!(is_lit.then_some("lit"))}
                                    onmouseenter={props.on.reform(move |_| Event::Hover(Selection::layer(layer)))}>
                                    <th scope="row" title={row.name.clone()}>{ short_name(&row.name) }</th>
                                    <td class="number">{ figures::grouped(row.elements) }</td>
                                    <td class={if row.differing == 0 { "number equal" } else { "number differs" }}>
                                        { figures::grouped(row.differing) }
                                    </td>
                                    <td class="number">
                                        { counted.map_or_else(String::new, |c| figures::grouped(*c.instructions)) }
                                    </td>
                                    <td class="number">
                                        { counted.map_or_else(String::new, |c| figures::duration(c.cycles.at(clock).0)) }
                                    </td>
                                </tr>
                            }
                        }) }
                    </tbody>
                </table>
            </div>
        </details>
    }
}

fn console(props: &Props) -> Html {
    if props.run.console.is_empty() {
        return html! {};
    }
    html! {
        <details open={props.run.phase.is_under_way()}>
            <summary>{ "Console of the board" }</summary>
            <pre class="console" tabindex="0" data-testid="console">{ &props.run.console }</pre>
        </details>
    }
}

//! What happens when: the simulated schedule of the plan, with the last run beside it.

use std::rc::Rc;

use tilewright_board::Board;
use tilewright_plan::Micros;
use yew::prelude::*;

use super::choice::Choice;
use super::facts::fact_list;
use super::icon::{Glyph, icon};
use super::panel::Panel;
use super::parts::trouble_box;
use super::save::{save_buttons, save_schedule};
use super::slider::Slider;
use super::timeline_chart::TimelineChart;
use crate::message::{Integrity, PlanFacts, PlanSettings, ScheduleFile};
use crate::state::{Event, Measurement, Outcome, Place, Selection, View};
use crate::view_model::energy_and_wear::{EnergyAndWear, StateFact, energy_and_wear, uses_card};
use crate::view_model::figures;
use crate::view_model::fragment::LONGEST_PERIOD_MS;
use crate::view_model::schedule::{MOST_FRAMES, facts, movable, nothing};
use tilewright_report::{Diagnostic, choice, word};

#[derive(PartialEq, Properties)]
pub struct Props {
    pub plan: Rc<PlanFacts>,
    /// The last run, if it was of the present settings.
    pub run: Option<Rc<Outcome>>,
    /// What a board on the desk said, likewise.
    pub measurement: Option<Rc<Measurement>>,
    pub boards: Rc<Vec<Board>>,
    /// The present choices; the plan may be of older ones.
    pub settings: PlanSettings,
    /// Milliseconds from one frame to the next, if the person said.
    pub period_ms: Option<u64>,
    pub trouble: Option<Diagnostic>,
    /// Whether a file is being made.
    pub is_saving: bool,
    pub lit: Selection,
    /// What was chosen, whatever the pointer is over.
    pub selected: Selection,
    /// Where the film is.
    pub cursor_us: Option<f64>,
    pub is_stale: bool,
    pub is_maximised: bool,
    pub on: Callback<Event>,
}

#[component]
pub fn SchedulePanel(props: &Props) -> Html {
    let drawing = use_node_ref();
    let plan = &props.plan;
    let name = format!("{}-{}-schedule", plan.report.model, plan.report.strategy);
    let nothing = nothing(plan);
    let actions = html! {
        if nothing.is_none() {
            { save_buttons(&drawing, &name, "timeline", &props.on) }
            { for ScheduleFile::OF_SCHEDULE.map(|file| save_schedule(file, props.is_saving, &props.on)) }
            <button type="button" class="quiet" disabled={props.is_saving} data-testid="save-recipe"
                title="Save the recipe: all that the plan decides, for tilewright --recipe"
                onclick={props.on.reform(|_| Event::SaveRecipe)}>
                { icon(Glyph::Save) }{ "Recipe" }
            </button>
        }
    };
    let board = props.boards.iter().find(|board| board.id == props.settings.board_id());
    // Energy is summed over all slices, which may be a million: not for each drawing.
    let energy_and_wear = {
        let boards = Rc::clone(&props.boards);
        let of = (Rc::clone(plan), boards.len(), props.settings.board.clone(), props.period_ms);
        use_memo(of, move |(plan, _, id, period_ms)| {
            let period = period_ms.map(|period| Micros(period as f64 * 1e3));
            let board = boards.iter().find(|board| board.id == *id);
            board.map(|board| energy_and_wear(plan, board, period)).unwrap_or_default()
        })
    };
    html! {
        <Panel view={View::Schedule} is_maximised={props.is_maximised} on={props.on.clone()}
            is_stale={props.is_stale} {actions}>
            if let Some(trouble) = &props.trouble {
                { trouble_box(trouble, Place::Schedule, "", &props.on) }
            }
            if let Some(board) = board { { sliders(props, board) } }
            if let Some(nothing) = nothing {
                <p class="waiting" data-testid="no-schedule">{ nothing }</p>
            } else {
                // Whoever drags a slider sees the lanes change.
                <div class="schedule-flow">
                    <div>{ fact_list("schedule", &facts(plan)) }</div>
                    <div ref={drawing} class="schedule-lanes">
                        <TimelineChart plan={Rc::clone(plan)} run={props.run.clone()}
                            measurement={props.measurement.clone()} lit={props.lit}
                            selected={props.selected} cursor_us={props.cursor_us} on={props.on.clone()} />
                    </div>
                </div>
                if let Some(note) = note(plan) {
                    <p class="note" data-testid="schedule-note">{ note }</p>
                }
                { energy_and_wear_facts(&energy_and_wear) }
            }
        </Panel>
    }
}

/// Energy and wear, and where their numbers come from.
fn energy_and_wear_facts(energy_and_wear: &EnergyAndWear) -> Html {
    if energy_and_wear.facts.is_empty() {
        return html! {};
    }
    html! {
        <>
            { fact_list("upkeep", &energy_and_wear.facts) }
            if !(energy_and_wear.states.is_empty() && energy_and_wear.wear_source.is_empty()) {
                <details data-testid="upkeep-sources">
                    <summary>{ "Where energy and wear come from" }</summary>
                    <div class="table-scroll" tabindex="0" role="group" aria-label="Energy by state">
                        <table>
                            <thead><tr>
                                <th scope="col">{ "State" }</th>
                                <th scope="col" class="number">{ "Draws" }</th>
                                <th scope="col" class="number">{ "Time" }</th>
                                <th scope="col">{ "Source" }</th>
                            </tr></thead>
                            <tbody>
                                { for energy_and_wear.states.iter().map(|StateFact { state, power, time, source }| html! {
                                    <tr key={state.clone()}>
                                        <th scope="row">{ state }</th>
                                        <td class="number">{ power }</td>
                                        <td class="number">{ time }</td>
                                        <td>{ source }</td>
                                    </tr>
                                }) }
                            </tbody>
                        </table>
                    </div>
                    if !energy_and_wear.wear_source.is_empty() {
                        <p class="detail muted">{ format!("Card: {}.", energy_and_wear.wear_source) }</p>
                    }
                </details>
            }
        </>
    }
}

/// What is done about what comes from the card.
fn integrity(props: &Props) -> Html {
    let (on, settings) = (props.on.clone(), props.settings.clone());
    let on_choose = Callback::from(move |id: String| {
        let integrity = choice(&id).unwrap_or_default();
        on.emit(Event::Settings(PlanSettings { integrity, ..settings.clone() }, false));
    });
    let chosen = props.settings.integrity;
    let all = [Integrity::Trusted, Integrity::Checked, Integrity::Sealed].map(|one| word(&one));
    let options: Vec<_> = all.map(|word| (word.clone().into(), word.into())).into();
    let what = match chosen {
        Integrity::Trusted => "as the card gives it",
        _ if props.plan.checks.is_none() => "not by this strategy",
        Integrity::Checked => "compared with checksums, read or computed again",
        Integrity::Sealed => "encrypted, with a new key for each image",
    };
    html! {
        <div class="slider">
            <label for="pick-integrity">{ "What is swapped" }</label>
            <Choice id="integrity" value={word(&chosen)} {options} {on_choose} />
            <span class="muted detail">{ what }</span>
        </div>
    }
}

/// What the times are not those of.
fn note(plan: &PlanFacts) -> Option<&'static str> {
    (!plan.settings.is_of_the_board()).then_some(
        "What if: with another clock kernels take the cycles that they take on the board, \
         memories their times. There is no image for such a board.",
    )
}

fn sliders(props: &Props, board: &Board) -> Html {
    let settings = &props.settings;
    let change = |set: fn(&mut PlanSettings, Option<u64>)| {
        let (on, settings) = (props.on.clone(), settings.clone());
        move |value: Option<u64>, is_dragging: bool| {
            let mut settings = settings.clone();
            set(&mut settings, value);
            on.emit(Event::Settings(settings, is_dragging));
        }
    };
    // The value, and back to the board's own.
    let both = |set: fn(&mut PlanSettings, Option<u64>)| {
        let (value, none) = (change(set), change(set));
        let on = Callback::from(move |(new, drags): (u64, bool)| value(Some(new), drags));
        (on, Callback::from(move |()| none(None, false)))
    };
    let uses_card = uses_card(&props.plan);
    let movable = movable(settings, board, uses_card);
    let (clock, clock_range) = movable.clock;
    let (on_clock, no_clock) = both(|settings, clock| settings.clock_hz = clock);
    let arena = board.arena().0.max(1_024);
    let sram = settings.sram_bytes.map_or(arena, |sram| sram.clamp(1_024, arena));
    let (of_sram, none_of_sram) = (
        change(|settings, bytes| settings.sram_bytes = bytes),
        change(|settings, bytes| settings.sram_bytes = bytes),
    );
    let on_sram = Callback::from(move |(bytes, drags): (u64, bool)| {
        of_sram(Some(bytes).filter(|bytes| *bytes < arena), drags);
    });
    let no_sram = Callback::from(move |()| none_of_sram(None, false));
    let (on_frames, no_frames) = both(|settings, frames| {
        settings.frames = frames.and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 1);
    });
    let (on_buffer, no_buffer) = both(|settings, bytes| settings.buffer_bytes = bytes);
    let (on_card, no_card) = both(|settings, rate| settings.card_bytes_per_second = rate);
    let frames = u64::from(settings.frames());
    // Frames that follow each other at once, as long as nothing is chosen.
    let frame = props.plan.report.latency_us.map_or(0.0, |latency| latency.0 / 1e3);
    let frame = (frame / f64::from(props.plan.report.frames.max(1))).ceil().max(1.0) as u64;
    let period = props.period_ms.unwrap_or(frame).clamp(1, LONGEST_PERIOD_MS);
    let on_period = props.on.reform(|(period, _)| Event::Period(Some(period)));
    let no_period = props.on.reform(|()| Event::Period(None));
    html! {
        <fieldset class="sliders" data-testid="sliders">
            <legend class="visually-hidden">{ "What the schedule is made with" }</legend>
            // Where the head has no room for its own.
            <div class="when-narrow">
                <Slider id="sram" title="SRAM" unit="KiB" of={1_024} value={sram} range={(1_024, arena)}
                    step={1_024} text={format!("of {}", figures::binary(arena))}
                    is_changed={settings.sram_bytes.is_some()} on={on_sram} on_reset={no_sram} />
            </div>
            <Slider id="clock" title="Clock" unit="MHz" of={1_000_000} value={clock}
                range={clock_range} step={1_000_000} text={figures::hertz(clock)}
                is_changed={settings.clock_hz.is_some()} on={on_clock} on_reset={no_clock} />
            <Slider id="frames" title="Frames" unit="in a row" value={frames}
                range={(1, u64::from(MOST_FRAMES))} step={1} text={if frames == 1 { "one alone" } else { "the next begins while one is under way" }}
                is_changed={settings.frames.is_some()} on={on_frames} on_reset={no_frames} />
            if let Some((bytes, sizes)) = movable.buffer {
                <Slider id="buffer" title="Buffer size" unit="bytes" value={bytes} range={sizes}
                    step={256} text={figures::binary(bytes)}
                    is_changed={settings.buffer_bytes.is_some()} on={on_buffer} on_reset={no_buffer} />
            }
            if let Some((rate, rates)) = movable.card {
                <Slider id="card" title="Card reads" unit="MB/s" of={1_000_000} value={rate}
                    range={rates} step={250_000}
                    text={"after the fixed time of each command"}
                    is_changed={settings.card_bytes_per_second.is_some()} on={on_card}
                    on_reset={no_card} />
                { integrity(props) }
            }
            if uses_card {
                <Slider id="period" title="A frame each" unit="s" of={1_000} value={period}
                    range={(1, (10 * frame).max(60_000).max(period))} step={100}
                    text={if period > frame { "for what a day writes" } else { "as fast as they come" }}
                    is_changed={props.period_ms.is_some()} on={on_period} on_reset={no_period} />
            }
        </fieldset>
    }
}

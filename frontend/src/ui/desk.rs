//! The same on a board that hangs on this computer.

use tilewright_plan::Cycles;
use tilewright_report::{Kind, short_name};
use yew::prelude::*;

use super::facts::fact_list;
use super::icon::{Glyph, icon};
use super::parts::{kind_tag, trouble_box};
use super::run::Props;
use crate::session::serial;
use crate::state::{Doer, Event, Measurement, Outcome, Place, Selection};
use crate::view_model::desk::{Verdict, facts, kind, measured, off, origin, verdict};
use crate::view_model::figures;

/// The part of the panel that talks with a board.
pub fn desk(props: &Props) -> Html {
    let desk = &props.desk;
    html! {
        <section class="desk" aria-labelledby="desk-title">
            <h3 id="desk-title">{ "On a board of your own" }</h3>
            if serial::is_there() {
                { controls(props) }
            } else {
                <p class="note" data-testid="no-serial">
                    { "This browser does not let pages talk to serial ports; Chrome and Edge on a computer do. " }
                    <code>{ "tilewright board measure" }</code>{ " does the same without a browser." }
                </p>
            }
            if let Some(trouble) = &props.desk_trouble {
                { trouble_box(trouble, Place::Desk, "", &props.on) }
            }
            if !desk.notes.is_empty() {
                <ul class="desk-notes" aria-live="polite" data-testid="desk-notes">
                    { for desk.notes.iter().enumerate().map(|(index, note)| html! {
                        <li key={index}>{ note }</li>
                    }) }
                </ul>
            }
            if let Some(measurement) = &desk.measurement { { answer(measurement, props) } }
        </section>
    }
}

fn controls(props: &Props) -> Html {
    let desk = &props.desk;
    html! {
        <div class="run-controls">
            if desk.is_talking {
                <button type="button" class="button" data-testid="hang-up"
                    onclick={props.on.reform(|_| Event::Stop(Doer::Desk))}>
                    { icon(Glyph::Stop) }{ "Hang up" }
                </button>
                <div class="progress" data-testid="desk-progress">
                    if let Some((sent, of)) = desk.sent {
                        <progress aria-label="Sent to the board" max={of.to_string()} value={sent.to_string()}></progress>
                        <span>{ format!("{} of {} sent", figures::grouped(sent), figures::bytes(of)) }</span>
                    } else {
                        <progress aria-label="Talk with the board"></progress>
                        <span>{ "Waiting for the board" }</span>
                    }
                </div>
            } else {
                <button type="button" class="button" data-testid="measure"
                    disabled={!props.can_measure} onclick={props.on.reform(|_| Event::Measure)}>
                    { icon(Glyph::Play) }{ "Run on your board" }
                </button>
            }
            if props.plan.as_ref().is_some_and(|plan| plan.settings.frames() > 1) {
                <p class="note">
                    { "From here a board is sent one frame; " }<code>{ "tilewright board measure" }</code>
                    { " sends the frames of this plan." }
                </p>
            }
            <p class="muted detail">
                { "It must hold this very image: save it under Firmware and write it to the board (" }
                <code>{ "tilewright board flash" }</code>
                { ", or drop the .bin on the board's drive). Choose its port, then press its reset button." }
            </p>
        </div>
    }
}

fn answer(measurement: &Measurement, props: &Props) -> Html {
    let (class, mark, text) = match verdict(measurement) {
        Verdict::Equal { values } => (
            "verdict verdict-fits",
            "✓",
            format!(
                "The board's outputs are bit-equal to the reference: {} values",
                figures::grouped(values)
            ),
        ),
        Verdict::Differs { first: [output, value], values } => (
            "verdict verdict-over",
            "✕",
            format!(
                "{} values of the board's outputs differ from the reference, first value {value} of output {output}",
                figures::grouped(values)
            ),
        ),
    };
    let is_old = props.plan.as_ref().is_some_and(|plan| plan.settings != measurement.plan.settings);
    let emulated = props.run_beside.as_deref();
    html! {
        <>
            <p {class} data-testid="desk-verdict">
                <span class="verdict-mark" aria-hidden="true">{ mark }</span>{ text }
            </p>
            <p class="muted detail" data-testid="desk-origin">{ origin(measurement) }</p>
            if is_old {
                <p class="muted detail">{ "This answer was of older settings." }</p>
            }
            { fact_list("desk", &facts(measurement, emulated)) }
            { layers(measurement, emulated, props) }
            <SaveRecord on={props.on.clone()} />
        </>
    }
}

#[derive(PartialEq, Properties)]
struct SaveProps {
    on: Callback<Event>,
}

/// What the board's sticker says, and a button that saves all as a record.
#[component]
fn SaveRecord(props: &SaveProps) -> Html {
    let sticker = use_node_ref();
    let onclick = {
        let (on, sticker) = (props.on.clone(), sticker.clone());
        Callback::from(move |_: MouseEvent| {
            let input = sticker.cast::<web_sys::HtmlInputElement>();
            on.emit(Event::SaveRecord(input.map(|input| input.value()).unwrap_or_default()));
        })
    };
    html! {
        <div class="desk-record">
            <label for="board-revision">{ "Revision on the sticker" }</label>
            <input id="board-revision" type="text" class="filter" ref={sticker} maxlength="80" placeholder="MB1191-B03" />
            <button type="button" class="button" data-testid="save-record" {onclick}
                title="All figures as JSON, for docs/measured of the project">
                { icon(Glyph::Save) }{ "Save the record" }
            </button>
        </div>
    }
}

fn layers(measurement: &Measurement, emulated: Option<&Outcome>, props: &Props) -> Html {
    let (nothing, in_groups) = (|| "–".to_owned(), |cycles: Cycles| figures::grouped(cycles.0));
    let rows = measured(measurement, emulated).layers();
    html! {
        <details>
            <summary>{ "Cycles layer by layer" }</summary>
            <div class="table-scroll" tabindex="0" role="group" aria-label="Cycles of layers">
                <table data-testid="desk-layers">
                    <thead><tr>
                        <th scope="col">{ "Layer" }</th>
                        <th scope="col" class="number">{ "Predicted" }{ kind_tag(Kind::Modelled) }</th>
                        if emulated.is_some() {
                            <th scope="col" class="number">{ "Emulated" }{ kind_tag(Kind::Modelled) }</th>
                        }
                        <th scope="col" class="number">{ "Board" }{ kind_tag(kind(measurement)) }</th>
                        <th scope="col" class="number">{ "Off" }</th>
                    </tr></thead>
                    <tbody>
                        { for rows.iter().map(|row| {
                            let layer = row.index as usize;
                            let is_lit = props.lit.layer == Some(layer);
                            html! {
                                <tr key={layer} class={classes!(is_lit.then_some("lit"))}
                                    onmouseenter={props.on.reform(move |_| Event::Hover(Selection::layer(layer)))}>
                                    <th scope="row" title={row.name.clone()}>{ short_name(&row.name) }</th>
                                    <td class="number">{ row.predicted_cycles.map_or_else(nothing, in_groups) }</td>
                                    if emulated.is_some() {
                                        <td class="number">{ row.emulated_cycles.map_or_else(nothing, in_groups) }</td>
                                    }
                                    <td class="number">{ in_groups(row.cycles) }</td>
                                    <td class="number">{ off(row).unwrap_or_else(nothing) }</td>
                                </tr>
                            }
                        }) }
                    </tbody>
                </table>
            </div>
        </details>
    }
}

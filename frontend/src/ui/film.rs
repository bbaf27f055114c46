//! The film of a plan: what each byte of SRAM holds while the core is at a step, and after a run in this page which
//! value it has.

use std::rc::Rc;

use tilewright_report::Kind;
use wasm_bindgen::{Clamped, JsCast, JsValue};
use web_sys::{CanvasRenderingContext2d, CssStyleDeclaration, HtmlCanvasElement, ImageData};
use yew::prelude::*;

use super::panel::Panel;
use super::parts::{kind_tag, legend};
use super::player::{keys, player, use_ticks};
use crate::message::{PlanFacts, Recording};
use crate::state::{Event, Outcome, Selection, Theme, View};
use crate::view_model::figures;
use crate::view_model::film::{Area, Colours, Film, Grid, Phase, colour, content};
use crate::view_model::step_by_step::{Move, Walk};

/// Rows of the table that are drawn: of many small areas the first.
const MOST_ROWS: usize = 200;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub plan: Rc<PlanFacts>,
    /// The run of this plan, if it ran.
    pub run: Option<Rc<Outcome>>,
    pub selected: Selection,
    pub theme: Theme,
    pub is_maximised: bool,
    pub is_stale: bool,
    pub on: Callback<Event>,
}

#[component]
pub fn FilmPanel(props: &Props) -> Html {
    let film = use_memo(Rc::clone(&props.plan), |plan| Film::of(plan));
    let count = film.moments.len();
    let walk = use_reducer(Walk::default);
    let now = Walk { at: walk.at.min(count.saturating_sub(1)), ..*walk };
    let layers = {
        let film = Rc::clone(&film);
        move |at: usize| film.moments.get(at).map_or(Selection::NONE, |m| Selection::layer(m.layer))
    };
    let hovers = {
        let (layers, on) = (layers.clone(), props.on.clone());
        Callback::from(move |at| on.emit(Event::Hover(layers(at))))
    };
    use_ticks(&walk, now, count, Some(hovers));
    use_selection(&walk, &film, props.selected.layer);
    let areas = use_memo((Rc::clone(&props.plan), now.at), |(plan, at)| film.areas(plan, *at));
    let recording = props.run.as_ref().map(|run| ByAddress(Rc::clone(&run.recording)));
    let step = film.moments.get(now.at).map(|moment| moment.step);
    let bytes = use_memo((recording.clone(), step), |(recording, step)| {
        content(&recording.as_ref()?.0, (*step)?)
    });
    let grid = Grid::of(film.bytes);
    let canvas = use_node_ref();
    {
        let (canvas, areas, bytes) = (canvas.clone(), Rc::clone(&areas), Rc::clone(&bytes));
        use_effect_with(
            (ByAddress(Rc::clone(&areas)), ByAddress(Rc::clone(&bytes)), props.theme),
            move |_| {
                if let Some(canvas) = canvas.cast::<HtmlCanvasElement>() {
                    let _ = paint(&canvas, grid, &areas, bytes.as_deref());
                }
            },
        );
    }
    let pointed = use_state(|| None::<u64>);
    let latest = use_mut_ref(|| now);
    *latest.borrow_mut() = now;
    let go = {
        let (walk, on) = (walk.dispatcher(), props.on.clone());
        let (film, plan) = (Rc::clone(&film), Rc::clone(&props.plan));
        Callback::from(move |by: Move| {
            walk.dispatch((by, count));
            let to = latest.borrow().moved(by, count);
            *latest.borrow_mut() = to;
            if !to.is_playing {
                on.emit(Event::Reach(layers(to.at), film.words(&plan, to.at)));
            }
        })
    };
    let panel = |content: Html| {
        html! {
            <Panel view={View::Film} is_maximised={props.is_maximised} is_stale={props.is_stale}
                on={props.on.clone()}>{ content }</Panel>
        }
    };
    if count == 0 || film.bytes == 0 {
        return panel(html! {
            <p class="waiting">{ "This plan computes nothing in SRAM, or was not simulated." }</p>
        });
    }
    let words = film.words(&props.plan, now.at);
    let label = format!(
        "Map of {} of SRAM at step {} of {count}. Space plays and pauses, arrow keys step, Home and \
         End go to the ends.",
        figures::bytes(film.bytes),
        now.at + 1
    );
    let point = {
        let pointed = pointed.clone();
        Callback::from(move |event: PointerEvent| {
            let target =
                event.target().and_then(|target| target.dyn_into::<HtmlCanvasElement>().ok());
            let Some(canvas) = target else { return };
            let size = [canvas.client_width(), canvas.client_height()].map(f64::from);
            let place =
                [f64::from(event.offset_x()) / size[0], f64::from(event.offset_y()) / size[1]];
            pointed.set(Some(grid.byte_at(place)));
        })
    };
    let leave = {
        let pointed = pointed.clone();
        Callback::from(move |_: PointerEvent| pointed.set(None))
    };
    let jump = |at: Option<usize>, text: &'static str, id: &'static str| {
        at.map(|at| {
            html! {
                <button type="button" class="quiet" data-testid={id}
                    onclick={go.reform(move |_| Move::To(at))}>{ text }</button>
            }
        })
    };
    panel(html! {
        <>
            <div class="walk-controls">
                { player(now, count - 1, "Step", "film", &go) }
                { jump(Some(film.peak), "To the peak", "film-peak") }
                { jump(film.stall, "To the first wait", "film-stall") }
            </div>
            <p class="film-words" data-testid="film-words">
                { words }{ kind_tag(Kind::Counted) }{ kind_tag(props.plan.timeline.cycles_kind) }
            </p>
            <div class="film-frame">
            <canvas class="film-map" ref={canvas} tabindex="0" role="application" data-testid="film-map"
                aria-roledescription="map of bytes" aria-label={label} onkeydown={keys(&go)}
                width={grid.columns.to_string()} height={grid.rows.to_string()}
                onpointermove={point} onpointerleave={leave}></canvas>
                { for grid.named(&areas).map(|(top, area)| html! {
                    <span key={area.bytes[0]} class="film-name" aria-hidden="true"
                        style={format!("top:{}%", figures::fixed(100.0 * top, 2))}>{ &area.name }</span>
                }) }
            </div>
            <p class="detail film-byte" data-testid="film-byte">
                { pointed.map_or_else(|| values_words(recording.as_ref().map(|r| &*r.0), &bytes),
                    |at| byte_words(at, &areas, bytes.as_deref())) }
            </p>
            { legend(vec![
                ("output", "written by this step".into()),
                ("input", "activations".into()),
                ("weights", "weights".into()),
                ("scratch", "being brought".into()),
                ("rest", "results".into()),
            ]) }
            { table(&areas) }
        </>
    })
}

/// Equal is what is the same value: its content is too large to be looked through for each drawing.
#[derive(Debug)]
struct ByAddress<T>(Rc<T>);

impl<T> Clone for ByAddress<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T> PartialEq for ByAddress<T> {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// Goes to the first step of an operator that another panel selects.
#[hook]
fn use_selection(walk: &UseReducerHandle<Walk>, film: &Rc<Film>, selected: Option<usize>) {
    let (walk, film) = (walk.clone(), Rc::clone(film));
    use_effect_with(selected, move |selected| {
        let Some(layer) = *selected else { return };
        let is_there = film.moments.get(walk.at).is_some_and(|moment| moment.layer == layer);
        let first = film.moments.iter().position(|moment| moment.layer == layer);
        if let Some(first) = first.filter(|_| !is_there) {
            walk.dispatch((Move::To(first), film.moments.len()));
        }
    });
}

fn paint(
    canvas: &HtmlCanvasElement,
    grid: Grid,
    areas: &[Area],
    content: Option<&[u8]>,
) -> Result<(), JsValue> {
    let (Some(colours), Some(context)) = (colours(canvas), canvas.get_context("2d")?) else {
        return Ok(());
    };
    let context: CanvasRenderingContext2d = context.unchecked_into();
    let pixels = grid.pixels(areas, content, &colours);
    let image = ImageData::new_with_u8_clamped_array(Clamped(&pixels), grid.columns)?;
    context.put_image_data(&image, 0.0, 0.0)
}

/// The style sheet's colours.
fn colours(element: &HtmlCanvasElement) -> Option<Colours> {
    let style: CssStyleDeclaration = web_sys::window()?.get_computed_style(element).ok()??;
    let named = |name: &str| colour(&style.get_property_value(name).ok()?);
    Some(Colours {
        surface: named("--surface")?,
        activations: named("--input")?,
        weights: named("--weights")?,
        written: named("--output")?,
        arrives: named("--scratch")?,
        results: named("--rest")?,
        free: named("--text-quiet")?,
    })
}

/// Where the values come from.
fn values_words(recording: Option<&Recording>, bytes: &Option<Vec<u8>>) -> String {
    match (recording, bytes) {
        (_, Some(_)) => {
            "Strength: each byte's value behind this step, recorded in the run. Point at a \
                         byte to read it."
                .to_owned()
        }
        (Some(recording), None) if !recording.borders.is_empty() => format!(
            "The recording ends with the run's step {}: there it ended, or more would take too much memory.",
            recording.borders.len() - 1
        ),
        _ => "Run the plan in this page to see each byte's value.".to_owned(),
    }
}

fn byte_words(at: u64, areas: &[Area], content: Option<&[u8]>) -> String {
    let area = areas.iter().find(|area| (area.bytes[0]..area.bytes[1]).contains(&at));
    let what = area.map_or_else(|| "free".to_owned(), |area| area.name.clone());
    let value = content.and_then(|bytes| bytes.get(at as usize));
    let value = value.map(|value| format!(", value {}", value.cast_signed())).unwrap_or_default();
    format!("Byte {}: {what}{value}", figures::grouped(at))
}

fn table(areas: &[Area]) -> Html {
    let left_out = areas.len().saturating_sub(MOST_ROWS);
    html! {
        <details>
            <summary>{ "The same as a table" }</summary>
            <div class="table-scroll" tabindex="0" role="group" aria-label="Table of what SRAM holds">
                <table data-testid="film-table">
                    <thead><tr>
                        <th scope="col" class="number">{ "Offset" }</th>
                        <th scope="col" class="number">{ "Bytes" }</th>
                        <th scope="col">{ "What" }</th>
                        <th scope="col">{ "Now" }</th>
                    </tr></thead>
                    <tbody>
                        { for areas.iter().take(MOST_ROWS).map(|area| html! {
                            <tr key={area.bytes[0]}>
                                <td class="number">{ figures::grouped(area.bytes[0]) }</td>
                                <td class="number">{ figures::grouped(area.bytes[1] - area.bytes[0]) }</td>
                                <th scope="row">{ &area.name }</th>
                                <td>{ phase_words(area.phase) }</td>
                            </tr>
                        }) }
                    </tbody>
                </table>
            </div>
            if left_out > 0 { <p class="muted">{ format!("and {left_out} more") }</p> }
        </details>
    }
}

const fn phase_words(phase: Phase) -> &'static str {
    match phase {
        Phase::Arrives => "is being brought",
        Phase::Written => "is written",
        Phase::Kept => "is needed later",
        Phase::Leaves => "is free afterwards",
    }
}

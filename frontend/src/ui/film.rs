//! The film of a plan: what each memory holds at a time, what travels between them, and what core and engines do;
//! two plans on one clock, predicted or as they ran in this page.

mod map;
mod player;
mod scene;

use std::cell::RefCell;
use std::rc::Rc;

use tilewright_report::Kind;
use yew::prelude::*;

use super::choice::Choice;
use super::panel::Panel;
use super::parts::{kind_tag, legend};
use super::save::save_schedule;
use crate::message::{PlanFacts, PlanSettings, ScheduleFile};
use crate::state::{Event, Outcome, Plans, Selection, Theme, View};
use crate::view_model::compare::columns;
use crate::view_model::figures;
use crate::view_model::film::{Act, Film, Head, Move, Phase, Times};
use player::{keys, player, use_frames};
use scene::Scene;

/// Rows of the table that are drawn: of many small areas the first.
const MOST_ROWS: usize = 200;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub plan: Rc<PlanFacts>,
    /// The run of this plan, if it ran.
    pub run: Option<Rc<Outcome>>,
    /// Other plans of the model, to set one beside.
    pub plans: Plans,
    pub strategies: Rc<Vec<String>>,
    pub settings: PlanSettings,
    pub selected: Selection,
    /// Where the film was left.
    pub cursor_us: Option<f64>,
    pub theme: Theme,
    pub is_maximised: bool,
    pub is_stale: bool,
    pub on: Callback<Event>,
}

/// Equal is what is the same value: its content is too large to be looked through for each drawing.
#[derive(Debug)]
pub struct ByAddress<T: ?Sized>(pub Rc<T>);

impl<T: ?Sized> Clone for ByAddress<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T: ?Sized> PartialEq for ByAddress<T> {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// A plan that is shown, and its film.
#[derive(Clone, PartialEq)]
pub struct Shown {
    pub plan: ByAddress<PlanFacts>,
    pub film: ByAddress<Film>,
}

#[component]
pub fn FilmPanel(props: &Props) -> Html {
    let is_predicted = use_state(|| false);
    let picked = use_state(String::new);
    let run = props.run.clone().filter(|_| !*is_predicted);
    let film = {
        let run = run.clone().map(ByAddress);
        use_memo((ByAddress(Rc::clone(&props.plan)), run), |(plan, run)| {
            let ran = run.as_ref().map(|run| &run.0.result.timeline);
            Film::of(&plan.0, ran.unwrap_or(&plan.0.timeline))
        })
    };
    let others = others(props);
    let other = others.iter().find(|(strategy, _)| *strategy == *picked);
    let other = other.map(|(_, plan)| ByAddress(Rc::clone(plan)));
    let beside = use_memo(other, |other| {
        let plan = other.clone()?;
        let film = ByAddress(Rc::new(Film::of(&plan.0, &plan.0.timeline)));
        Some(Shown { plan, film })
    });
    let times = use_memo((ByAddress(Rc::clone(&film)), (*beside).clone()), |(film, beside)| {
        let own = &film.0.times;
        beside.as_ref().map_or_else(|| own.clone(), |other| own.joined(&other.film.0.times))
    });
    let head = {
        let at_us = props.cursor_us.unwrap_or(0.0);
        use_reducer(move || Head { at_us, ..Head::default() })
    };
    let now = Head { at_us: head.at_us.clamp(0.0, times.end_us), ..*head };
    use_frames(&head, now.is_playing, &times);
    let told = use_mut_ref(Told::default);
    use_selection(&head, props, &film, &times, &told);
    use_followers(props, &film, &times, now);
    let latest = use_mut_ref(|| now);
    *latest.borrow_mut() = now;
    let go = {
        let (head, on) = (head.dispatcher(), props.on.clone());
        let (film, plan, times) = (Rc::clone(&film), Rc::clone(&props.plan), Rc::clone(&times));
        Callback::from(move |by: Move| {
            head.dispatch((by, Rc::clone(&times)));
            let to = latest.borrow().moved(by, &times);
            *latest.borrow_mut() = to;
            if !to.is_playing {
                let acts = film.acts(&plan, to.at_us);
                let layer = film.layer(to.at_us);
                told.borrow_mut().tell(layer);
                let layer = layer.map_or(Selection::NONE, Selection::layer);
                on.emit(Event::Reach(layer, film.words(&plan, &acts, to.at_us).join(" ")));
                on.emit(Event::Cursor(to.at_us));
            }
        })
    };
    let panel = |content: Html| {
        let actions = html! { if !film.is_empty() { { save_schedule(ScheduleFile::Film, false, &props.on) } } };
        html! {
            <Panel view={View::Film} is_maximised={props.is_maximised} is_stale={props.is_stale}
                on={props.on.clone()} {actions}>{ content }</Panel>
        }
    };
    if film.is_empty() {
        return panel(html! {
            <p class="waiting">{ "This plan was not simulated: it has no steps that could run." }</p>
        });
    }
    let shown =
        Shown { plan: ByAddress(Rc::clone(&props.plan)), film: ByAddress(Rc::clone(&film)) };
    let kind = props.plan.timeline.cycles_kind;
    let label = format!(
        "Film of the plan, {} long. Space plays and pauses, left and right go from task to task, up and down change \
         the speed, Home and End go to the ends.",
        figures::duration(times.end_us)
    );
    let jump = |to: Option<f64>, text: &'static str, id: &'static str| {
        to.map(|at_us| {
            html! {
                <button type="button" class="quiet" data-testid={id}
                    onclick={go.reform(move |_| Move::To(at_us))}>{ text }</button>
            }
        })
    };
    let recording = run.as_ref().map(|run| ByAddress(Rc::clone(&run.recording)));
    panel(html! {
        <>
            <div class="film-controls">
                if props.run.is_some() { { what(*is_predicted, &is_predicted) } }
                if !others.is_empty() { { beside_choice(&others, &picked) } }
                { player(now, &times, &go) }
                { jump(Some(film.peak_us), "To the peak", "film-peak") }
                { jump(film.stall_us, "To the first wait", "film-stall") }
            </div>
            <div class="film-scenes" tabindex="0" role="application" data-testid="film-map"
                aria-roledescription="film" aria-label={label} onkeydown={keys(&go)}>
                { scene_title(&props.plan.report.strategy, run.is_some(), kind) }
                <Scene shown={shown.clone()} at_us={now.at_us} {recording} theme={props.theme}
                    is_half={beside.is_some()} words_id="film-words" has_values={true} />
                if let Some(beside) = &*beside {
                    { scene_title(&beside.plan.0.report.strategy, false, kind) }
                    <Scene shown={beside.clone()} at_us={now.at_us} recording={None} theme={props.theme}
                        is_half={true} words_id="film-words-beside" has_values={false} />
                }
            </div>
            { legend(vec![
                ("output", "being written by the core".into()),
                ("scratch", "being brought".into()),
                ("input", "activations".into()),
                ("weights", "weights and constants".into()),
                ("rest", "results".into()),
            ]) }
            if !now.is_playing { { table(&shown, now.at_us) } }
        </>
    })
}

/// Other plans that have a film.
fn others(props: &Props) -> Vec<(String, Rc<PlanFacts>)> {
    let columns = columns(&props.strategies, &props.settings, &props.plans).into_iter();
    let other = columns.filter(|column| !column.is_chosen);
    let planned =
        other.filter_map(|column| Some((column.strategy.clone(), Rc::clone(column.plan()?))));
    planned.filter(|(_, plan)| !plan.timeline.slices.is_empty()).collect()
}

/// What is played: the prediction, or the run.
fn what(is_predicted: bool, set: &UseStateHandle<bool>) -> Html {
    let options =
        vec![("run".into(), "as it ran".into()), ("predicted".into(), "predicted".into())];
    let set = set.clone();
    let on_choose = Callback::from(move |word: String| set.set(word == "predicted"));
    html! {
        <div class="picker">
            <label for="pick-film-what">{ "Plays" }</label>
            <Choice id="film-what" value={if is_predicted { "predicted" } else { "run" }} {options} {on_choose} />
        </div>
    }
}

fn beside_choice(others: &[(String, Rc<PlanFacts>)], picked: &UseStateHandle<String>) -> Html {
    let mut options: Vec<(AttrValue, AttrValue)> = vec![("none".into(), "none".into())];
    options.extend(others.iter().map(|(name, _)| (name.clone().into(), name.clone().into())));
    let is_there = others.iter().any(|(name, _)| *name == **picked);
    let value = if is_there { (**picked).clone() } else { "none".to_owned() };
    let picked = picked.clone();
    let on_choose = Callback::from(move |name: String| picked.set(name));
    html! {
        <div class="picker">
            <label for="pick-film-beside">{ "Beside" }</label>
            <Choice id="film-beside" {value} {options} {on_choose} />
        </div>
    }
}

/// What a scene is of.
fn scene_title(strategy: &str, has_run: bool, kind: Kind) -> Html {
    let how = if has_run { "as it ran on the emulated board" } else { "as predicted" };
    html! {
        <p class="detail">
            <strong>{ strategy }</strong>{ format!(", {how}: bytes ") }{ kind_tag(Kind::Counted) }
            { ", time " }{ kind_tag(kind) }
        </p>
    }
}

/// Layers that the film tells of: they come back as the selection, when keys may have moved it on.
#[derive(Default)]
struct Told {
    /// Those that have not come back.
    awaited: Vec<usize>,
    last: Option<usize>,
}

impl Told {
    fn tell(&mut self, layer: Option<usize>) {
        if self.last != layer {
            self.awaited.extend(layer);
        }
        self.last = layer;
    }

    /// Whether a selection is what the film told. Selections before it have been overtaken.
    fn comes_back(&mut self, layer: usize) -> bool {
        let place = self.awaited.iter().position(|told| *told == layer);
        match place {
            Some(place) => drop(self.awaited.drain(..=place)),
            None => self.last = Some(layer),
        }
        place.is_some()
    }
}

/// Goes to the first step of an operator that another panel selects, or to where a tensor is needed first.
#[hook]
fn use_selection(
    head: &UseReducerHandle<Head>,
    props: &Props,
    film: &Rc<Film>,
    times: &Rc<Times>,
    told: &Rc<RefCell<Told>>,
) {
    let (head, film, times) = (head.clone(), Rc::clone(film), Rc::clone(times));
    let told = Rc::clone(told);
    let first = |tensor: usize| props.plan.tensors.get(tensor).map(|tensor| tensor.first as usize);
    let wanted = props.selected.layer.or_else(|| props.selected.tensor.and_then(first));
    use_effect_with(wanted, move |wanted| {
        let Some(layer) = *wanted else { return };
        if told.borrow_mut().comes_back(layer) {
            return;
        }
        if film.layer(head.at_us) != Some(layer)
            && let Some(at_us) = film.begins_us(layer)
        {
            head.dispatch((Move::To(at_us), times));
        }
    });
}

/// Times a second that other panels are told of the time while the film plays: they are large.
const TOLD: f64 = 8.0;

/// Other panels follow while the film plays.
#[hook]
fn use_followers(props: &Props, film: &Rc<Film>, times: &Times, now: Head) {
    let told = (now.at_us / now.second(times).0.max(f64::MIN_POSITIVE) * TOLD) as u64;
    let (on, at_us) = (props.on.clone(), now.at_us);
    use_effect_with((told, now.is_playing), move |(_, is_playing)| {
        if *is_playing {
            on.emit(Event::Cursor(at_us));
        }
    });
    let layer = film.layer(now.at_us).filter(|_| now.is_playing);
    let on = props.on.clone();
    use_effect_with(layer, move |layer| {
        if let Some(layer) = *layer {
            on.emit(Event::Hover(Selection::layer(layer)));
        }
    });
}

fn table(shown: &Shown, at_us: f64) -> Html {
    let Shown { plan: ByAddress(plan), film: ByAddress(film) } = shown;
    let acts: Vec<Act> = film.acts(plan, at_us);
    let areas = film.memories.iter().rev().flat_map(|memory| {
        let areas = film.areas(plan, memory, &acts, at_us);
        areas.into_iter().map(|area| (memory.title(), area))
    });
    let areas: Vec<_> = areas.collect();
    let left_out = areas.len().saturating_sub(MOST_ROWS);
    html! {
        <details>
            <summary>{ "The same as a table" }</summary>
            <div class="table-scroll" tabindex="0" role="group" aria-label="Table of what memories hold">
                <table data-testid="film-table">
                    <thead><tr>
                        <th scope="col">{ "Memory" }</th>
                        <th scope="col" class="number">{ "Offset" }</th>
                        <th scope="col" class="number">{ "Bytes" }</th>
                        <th scope="col">{ "What" }</th>
                        <th scope="col">{ "Now" }</th>
                    </tr></thead>
                    <tbody>
                        { for areas.iter().take(MOST_ROWS).map(|(memory, area)| html! {
                            <tr key={format!("{memory}{}", area.bytes[0])}>
                                <td>{ *memory }</td>
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
        Phase::Written => "is being written",
        Phase::Kept => "is kept",
    }
}

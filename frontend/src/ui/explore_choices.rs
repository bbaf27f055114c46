//! What is combined with what, and how it is drawn.

use std::rc::Rc;

use tilewright_board::{Board, SMALL};
use tilewright_report::{SweepAxis, SweepBy};
use web_sys::HtmlInputElement;
use yew::prelude::*;

use super::choice::Choice;
use crate::message::ZooView;
use crate::state::{BUDGETS, Event, ExploreEvent, ExploreSpec, OPEN, Shows};
use crate::view_model::explore::by_title;

/// Widths that a click adds.
const WIDTHS: [&str; 4] = ["0.25", "0.5", "0.75", "1"];

#[derive(PartialEq, Properties)]
pub struct Props {
    pub spec: Rc<ExploreSpec>,
    pub boards: Rc<Vec<Board>>,
    pub strategies: Rc<Vec<String>>,
    /// Networks of the zoo, once they are known.
    pub zoo: Option<Rc<Vec<ZooView>>>,
    /// What rows call the open model.
    pub open: Option<String>,
    pub on: Callback<Event>,
}

impl Props {
    /// Emits the choice that `change` makes of the present one.
    fn set<T>(&self, change: impl Fn(&mut ExploreSpec, T) + 'static) -> Callback<T> {
        let spec = Rc::clone(&self.spec);
        self.on.reform(move |value| {
            let mut next = (*spec).clone();
            change(&mut next, value);
            Event::Explore(ExploreEvent::Set(Box::new(next)))
        })
    }
}

#[component]
pub fn ExploreChoices(props: &Props) -> Html {
    let own = props.boards.iter().filter(|board| !board.id.ends_with(SMALL));
    let boards: Vec<(String, String)> =
        own.map(|board| (board.id.clone(), board.name.clone())).collect();
    let strategies: Vec<(String, String)> =
        props.strategies.iter().map(|name| (name.clone(), name.clone())).collect();
    let mut classes: Vec<&String> =
        props.boards.iter().filter_map(|board| Some(&board.slot.as_ref()?.card)).collect();
    classes.sort_unstable();
    classes.dedup();
    let cards: Vec<(String, String)> =
        classes.into_iter().map(|card| (card.clone(), card.clone())).collect();
    html! {
        <details class="explore-all" open={true}>
            <summary>{ "What is planned, and how it is shown" }</summary>
            <div class="explore-choices">
            { models(props) }
            { checks("boards", "Boards", &boards, &props.spec.boards, props.set(|spec, name| toggle(&mut spec.boards, name))) }
            { checks("strategies", "Strategies", &strategies, &props.spec.strategies,
                props.set(|spec, name| toggle(&mut spec.strategies, name))) }
            { checks("cards", "Cards (none: the one that goes with the board)", &cards, &props.spec.cards,
                props.set(|spec, name| toggle(&mut spec.cards, name))) }
            { asked(props) }
            { drawn(props) }
            </div>
        </details>
    }
}

fn toggle(names: &mut Vec<String>, name: String) {
    let before = names.len();
    names.retain(|known| *known != name);
    if names.len() == before {
        names.push(name);
    }
}

fn models(props: &Props) -> Html {
    let zoo = props.zoo.iter().flat_map(|zoo| zoo.iter());
    let mut names: Vec<String> = zoo.map(|network| network.name.clone()).collect();
    names.retain(|name| !props.spec.models.contains(name));
    let add = props.set(|spec: &mut ExploreSpec, name: String| {
        if !spec.models.contains(&name) {
            spec.models.push(name);
        }
    });
    let on_add = Callback::from(move |event: yew::Event| {
        let Some(input) = event.target_dyn_into::<HtmlInputElement>() else { return };
        let text = input.value();
        let name = text.trim().trim_start_matches("zoo:").to_owned();
        if !name.is_empty() {
            input.set_value("");
            add.emit(name);
        }
    });
    let is_open_left = props.open.is_some() && !props.spec.models.iter().any(|name| name == OPEN);
    let add_open =
        props.set(|spec: &mut ExploreSpec, _: MouseEvent| spec.models.insert(0, OPEN.to_owned()));
    let last = props.spec.models.iter().rev().find_map(|name| {
        let base = name.split("-w").next().unwrap_or(name);
        let zoo = props.zoo.as_ref()?;
        zoo.iter().find(|network| network.name == base && network.width.is_some())?;
        let size = name.rsplit_once("-r").map_or_else(String::new, |(_, size)| format!("-r{size}"));
        Some((base.to_owned(), size))
    });
    let add_widths = |(base, size): (String, String)| {
        props.set(move |spec: &mut ExploreSpec, _: MouseEvent| {
            for width in WIDTHS {
                let name = format!("{base}-w{width}{size}");
                if !spec.models.contains(&name) {
                    spec.models.push(name);
                }
            }
        })
    };
    html! {
        <fieldset class="explore-list">
            <legend>{ "Models" }</legend>
            <ul class="explore-chips" data-testid="explore-models">
                { for props.spec.models.iter().map(|name| {
                    let of = name.clone();
                    let remove = props.set(move |spec: &mut ExploreSpec, _: MouseEvent| {
                        spec.models.retain(|known| *known != of);
                    });
                    let text = match &props.open {
                        Some(open) if name == OPEN => format!("{open} (open)"),
                        None if name == OPEN => "the open model: none is open".to_owned(),
                        _ => name.clone(),
                    };
                    html! {
                        <li key={name.clone()}>
                            { &text }
                            <button type="button" class="quiet" onclick={remove} aria-label={format!("Leave out {text}")}>
                                { "×" }
                            </button>
                        </li>
                    }
                }) }
            </ul>
            <div class="explore-add">
                <label>
                    <span class="visually-hidden">{ "Add a network of the zoo" }</span>
                    <input type="text" list="explore-zoo" placeholder="Add a network, such as mobilenet-v1-w0.5-r128"
                        data-testid="explore-add" onchange={on_add}
                        onfocus={props.on.reform(|_| Event::ListZoo)} />
                </label>
                <datalist id="explore-zoo">
                    { for names.into_iter().map(|name| html! { <option key={name.clone()} value={name.clone()} /> }) }
                </datalist>
                if let Some((base, size)) = last {
                    <button type="button" class="quiet" onclick={add_widths((base.clone(), size))}>
                        { format!("Add widths of {base}") }
                    </button>
                }
                if is_open_left {
                    <button type="button" class="quiet" onclick={add_open}>{ "Add the open model" }</button>
                }
            </div>
        </fieldset>
    }
}

fn checks(
    id: &'static str,
    legend: &'static str,
    all: &[(String, String)],
    chosen: &[String],
    on_toggle: Callback<String>,
) -> Html {
    html! {
        <fieldset class="explore-list" data-testid={format!("explore-{id}")}>
            <legend>{ legend }</legend>
            <div class="explore-checks">
                { for all.iter().map(|(name, title)| {
                    let (of, on_toggle) = (name.clone(), on_toggle.clone());
                    html! {
                        <label key={name.clone()} class="choice">
                            <input type="checkbox" checked={chosen.contains(name)}
                                onchange={Callback::from(move |_: yew::Event| on_toggle.emit(of.clone()))} />
                            { title }
                        </label>
                    }
                }) }
            </div>
        </fieldset>
    }
}

/// Numbers that a person typed, each once.
fn numbers(text: &str, most: u64) -> Vec<u64> {
    let mut numbers = Vec::new();
    for number in text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()) {
        if (1..=most).contains(&number) && !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    numbers
}

fn asked(props: &Props) -> Html {
    let spec = &props.spec;
    let text = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let field = |id: &'static str,
                 title: &'static str,
                 value: String,
                 hint: &'static str,
                 on: Callback<String>| {
        let onchange = Callback::from(move |event: yew::Event| {
            if let Some(input) = event.target_dyn_into::<HtmlInputElement>() {
                on.emit(input.value());
            }
        });
        html! {
            <label>
                { title }
                <input type="text" {value} placeholder={hint} {onchange} data-testid={format!("explore-{id}")} />
            </label>
        }
    };
    let boards = Rc::clone(&props.boards);
    let sweep = props.set(move |spec: &mut ExploreSpec, _: MouseEvent| spec.sweep_budgets(&boards));
    html! {
        <fieldset class="explore-list">
            <legend>{ "Asked for (empty: as the board is)" }</legend>
            <div class="explore-fields">
                { field("budgets", "Budgets of SRAM, KiB", text(&spec.budgets.iter().map(|b| b / 1024).collect::<Vec<_>>()),
                    "64, 128, 256", props.set(|spec, text: String| {
                        spec.budgets = numbers(&text, 1 << 30).into_iter().map(|kib| kib * 1024).collect();
                    })) }
                { field("clocks", "Clocks, MHz", text(&spec.clocks_mhz), "84, 108, 216",
                    props.set(|spec, text: String| spec.clocks_mhz = numbers(&text, 2_000))) }
                { field("frames", "Frames in turn", text(&spec.frames.iter().map(|f| u64::from(*f)).collect::<Vec<_>>()),
                    "1, 2, 4", props.set(|spec, text: String| {
                        let frames = numbers(&text, 64).into_iter();
                        spec.frames = frames.filter_map(|frames| u32::try_from(frames).ok()).collect();
                    })) }
                <button type="button" class="quiet" onclick={sweep} data-testid="explore-sweep">
                    { format!("Sweep {BUDGETS} budgets") }
                </button>
            </div>
        </fieldset>
    }
}

fn drawn(props: &Props) -> Html {
    let chart = props.spec.chart;
    let axes = || {
        let option = |axis: SweepAxis| (axis.id().into(), axis.title().into());
        SweepAxis::ALL.map(option).to_vec()
    };
    let bys = || {
        let option = |by: SweepBy| (AttrValue::from(by.id()), AttrValue::from(by_title(by)));
        SweepBy::ALL.map(option).to_vec()
    };
    let mut apart: Vec<(AttrValue, AttrValue)> = vec![("one".into(), "one chart".into())];
    apart.extend(bys().into_iter().map(|(id, title)| (id, format!("one for each {title}").into())));
    let picker =
        |id: &'static str, title: &'static str, value: &'static str, options, on_choose| {
            html! {
                <div class="picker">
                    <label for={format!("pick-{id}")}>{ title }</label>
                    <Choice {id} {value} {options} {on_choose} />
                </div>
            }
        };
    let shows = vec![
        (Shows::Chart.id().into(), "chart".into()),
        (Shows::Matrix.id().into(), "what fits".into()),
        (Shows::Columns.id().into(), "side by side".into()),
    ];
    html! {
        <fieldset class="explore-list">
            <legend>{ "Shown as" }</legend>
            <div class="explore-fields">
                { picker("explore-as", "View", props.spec.shows.id(), shows, props.set(|spec, word: String| {
                    spec.shows = Shows::find(&word);
                })) }
                if props.spec.shows == Shows::Chart {
                    { picker("explore-x", "To the right", chart.x.id(), axes(), props.set(|spec, word: String| {
                        spec.chart.x = SweepAxis::find(&word).unwrap_or(spec.chart.x);
                    })) }
                    { picker("explore-y", "Upwards", chart.y.id(), axes(), props.set(|spec, word: String| {
                        spec.chart.y = SweepAxis::find(&word).unwrap_or(spec.chart.y);
                    })) }
                    if !chart.x.is_asked() {
                        { picker("explore-by", "Colour by", chart.by.id(), bys(), props.set(|spec, word: String| {
                            spec.chart.by = SweepBy::find(&word).unwrap_or(spec.chart.by);
                        })) }
                    }
                    { picker("explore-apart", "Charts", props.spec.apart.map_or("one", SweepBy::id), apart,
                        props.set(|spec, word: String| spec.apart = SweepBy::find(&word))) }
                }
            </div>
        </fieldset>
    }
}

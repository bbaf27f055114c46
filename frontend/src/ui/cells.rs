//! Making the cells of a network: operations and where they come from, their cost, the stack's size.

use std::rc::Rc;

use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::FileList;
use yew::prelude::*;

use super::cells_drawing::drawing_of;
use super::choice::{Choice, chosen, use_value};
use super::modal::use_modal;
use super::parts::{kind_tag, trouble_box};
use super::search::SearchView;
use super::zoo::{shape, slider};
use crate::message::{CellChoices, CellDraft, CellEdge, CellFacts, ZooSize};
use crate::state::{Cells, Event, LabelledFiles, Place, SearchEvent};
use crate::view_model::cells::{
    Slot, Which, cycles, file_name, published, sources, with_cells, with_edge,
};
use crate::view_model::figures;
use tilewright_report::{Diagnostic, Kind, Slider};

/// Sizes that can be chosen; the text takes more.
const CELLS: Slider = Slider { least: 1.0, most: 40.0, step: 1.0, default: 8.0 };
const CHANNELS: Slider = Slider { least: 4.0, most: 128.0, step: 4.0, default: 16.0 };
const RESOLUTION: Slider = Slider { least: 8.0, most: 224.0, step: 8.0, default: 32.0 };

#[derive(PartialEq, Properties)]
pub struct Props {
    pub cells: Cells,
    /// Whether the choices are being looked up.
    pub is_listing: bool,
    pub trouble: Option<Diagnostic>,
    pub is_searching: bool,
    pub search_trouble: Option<Diagnostic>,
    pub images: LabelledFiles,
    pub images_trouble: Option<Diagnostic>,
    /// Takes files of labelled images.
    pub on_images: Callback<FileList>,
    pub on: Callback<Event>,
    /// Opens a text as a model.
    pub on_open: Callback<Rc<CellFacts>>,
}

#[component]
pub fn CellsDialog(props: &Props) -> Html {
    let node = use_modal(props.cells.is_open);
    let is_search = props.cells.search.is_shown;
    let onclose = props.on.reform(|_: yew::Event| Event::ShowCells(false));
    html! {
        <dialog ref={node} class="zoo cells" aria-labelledby="cells-heading" data-testid="cells" {onclose}>
            if props.cells.is_open {
                <div class="zoo-body">
                    <header class="zoo-head">
                        <h2 id="cells-heading">{ if is_search { "Search cells" } else { "Make cells" } }</h2>
                        <div class="cells-buttons">
                            if props.cells.choices.is_some() {
                                <button type="button" class="quiet" data-testid="cells-search"
                                    onclick={props.on.reform(move |_| Event::Search(SearchEvent::Show(!is_search)))}>
                                    { if is_search { "Editor" } else { "Search cells" } }
                                </button>
                            }
                            <button type="button" class="quiet"
                                onclick={props.on.reform(|_| Event::ShowZoo(true))}>{ "All networks" }</button>
                            <button type="button" class="quiet" data-testid="cells-close"
                                onclick={props.on.reform(|_| Event::ShowCells(false))}>{ "Close" }</button>
                        </div>
                    </header>
                    if let Some(trouble) = &props.trouble {
                        { trouble_box(trouble, Place::Cells, "", &props.on) }
                    }
                    { match (&props.cells.choices, props.is_listing) {
                        (Some(choices), _) if is_search => html! {
                            <SearchView choices={Rc::clone(choices)} draft={Rc::clone(&props.cells.draft)}
                                search={props.cells.search.clone()} is_searching={props.is_searching}
                                trouble={props.search_trouble.clone()} images={props.images.clone()}
                                images_trouble={props.images_trouble.clone()} on={props.on.clone()}
                                on_images={props.on_images.clone()} />
                        },
                        (Some(choices), _) => editor(choices, props),
                        (None, true) => html! { <p class="waiting">{ "Looking up published cells…" }</p> },
                        (None, false) => html! {
                            <button type="button" class="button"
                                onclick={props.on.reform(|_| Event::ShowCells(true))}>
                                { "Look them up again" }
                            </button>
                        },
                    } }
                </div>
            }
        </dialog>
    }
}

fn editor(choices: &Rc<CellChoices>, props: &Props) -> Html {
    let draft = &props.cells.draft;
    html! {
        <div class="cells-body">
            <p class="muted detail">
                { "A network is stacked from two cells. Each node of a cell is the sum of two operations, on \
                   the results of the two cells before or on earlier nodes: the search space of DARTS. Weights \
                   come from a seed, so memory and time are right and answers mean nothing." }
            </p>
            <div class="cells-columns">
                <div class="cells-edit">
                    { start(choices, draft, &props.on) }
                    { for Which::BOTH.map(|which| html! {
                        <fieldset class="cells-cell" key={which.id()}>
                            <legend>{ which.title() }</legend>
                            <p class="muted detail">{ which.about() }</p>
                            { for (0..which.of(draft).nodes.len()).map(|step| {
                                step_row(choices, draft, which, step, &props.on)
                            }) }
                            { drawing_of(choices, which, which.of(draft)) }
                        </fieldset>
                    }) }
                </div>
                <div class="cells-result" data-testid="cells-result"
                    data-stale={props.cells.present().is_none().to_string()}>
                    { sizes(draft, &props.on) }
                    { open(props) }
                    { cost(choices, draft) }
                    { stack(props) }
                    { text(props) }
                </div>
            </div>
        </div>
    }
}

/// Published cells to start from.
fn start(choices: &Rc<CellChoices>, draft: &Rc<CellDraft>, on: &Callback<Event>) -> Html {
    let value = AttrValue::from(published(choices, draft).unwrap_or_default().to_owned());
    let options: Vec<(AttrValue, AttrValue)> = choices
        .published
        .iter()
        .map(|published| {
            let note = if published.is_inferred { " (inputs inferred)" } else { "" };
            (published.name.clone().into(), format!("{}{note}", published.name).into())
        })
        .collect();
    let on_choose = {
        let (choices, draft, on) = (Rc::clone(choices), Rc::clone(draft), on.clone());
        Callback::from(move |name: String| {
            let found = choices.published.iter().find(|published| published.name == name);
            if let Some(published) = found {
                on.emit(Event::EditCells(with_cells(&draft, &published.draft)));
            }
        })
    };
    html! {
        <div class="picker">
            <label for="pick-cells-start">{ "Start from published cells" }</label>
            <Choice id="cells-start" {value} {options} {on_choose} />
        </div>
    }
}

/// The two summands of a node.
fn step_row(
    choices: &Rc<CellChoices>,
    draft: &Rc<CellDraft>,
    which: Which,
    step: usize,
    on: &Callback<Event>,
) -> Html {
    let node = step + 2;
    let side = |side: usize| {
        let slot = Slot { which, step, side };
        let Some(edge) = which.of(draft).nodes.get(step).map(|edges| edges[side]) else {
            return html! {};
        };
        let ordinal = if side == 0 { "first" } else { "second" };
        let label = |what: &str| format!("{} node {node}, {ordinal} {what}", which.title());
        let change = |set: fn(CellEdge, u8) -> CellEdge| {
            let (draft, on) = (Rc::clone(draft), on.clone());
            Callback::from(move |value: u8| {
                on.emit(Event::EditCells(with_edge(&draft, slot, set(edge, value))));
            })
        };
        let id = format!("cells-{}-{node}-{side}", which.id());
        let operations =
            choices.operations.iter().map(|operation| operation.name.clone()).collect();
        let split = choices.operations.iter().filter(|operation| operation.is_searched).count();
        html! {
            <div class="cells-edge">
                <Pick id={format!("{id}-operation")} label={label("operation")} value={edge.operation}
                    names={Rc::new(operations)} {split}
                    on_choose={change(|edge, operation| CellEdge { operation, ..edge })} />
                <span class="muted">{ "of" }</span>
                <Pick id={format!("{id}-input")} label={label("input")} value={edge.input}
                    names={Rc::new(sources(step))} split={usize::MAX}
                    on_choose={change(|edge, input| CellEdge { input, ..edge })} />
            </div>
        }
    };
    html! {
        <div class="cells-step" key={node} role="group" aria-label={format!("{} node {node}", which.title())}>
            <span class="cells-node" aria-hidden="true">{ node }</span>
            { side(0) }
            { side(1) }
        </div>
    }
}

#[derive(PartialEq, Properties)]
struct PickProps {
    id: String,
    label: String,
    value: u8,
    names: Rc<Vec<String>>,
    /// From this one on they are in published cells only.
    split: usize,
    on_choose: Callback<u8>,
}

/// A drop-down list of numbered names.
#[component]
fn Pick(props: &PickProps) -> Html {
    let node = use_value(props.value.to_string().into());
    let onchange = {
        let on_choose = props.on_choose.clone();
        chosen(&Callback::from(move |value: String| {
            value.parse().into_iter().for_each(|value| on_choose.emit(value));
        }))
    };
    let option = |(index, name): (usize, &String)| {
        html! { <option key={index} value={index.to_string()}>{ name }</option> }
    };
    let split = props.split.min(props.names.len());
    html! {
        <select ref={node} id={props.id.clone()} data-testid={props.id.clone()} aria-label={props.label.clone()}
            {onchange}>
            { for props.names.iter().enumerate().take(split).map(option) }
            if split < props.names.len() {
                <optgroup label="in published cells only">
                    { for props.names.iter().enumerate().skip(split).map(option) }
                </optgroup>
            }
        </select>
    }
}

/// Sliders of the stack's size.
fn sizes(draft: &Rc<CellDraft>, on: &Callback<Event>) -> Html {
    let change = |set: fn(&mut CellDraft, u32)| {
        let (draft, on) = (Rc::clone(draft), on.clone());
        Callback::from(move |value: f64| {
            let mut next = (*draft).clone();
            set(&mut next, value as u32);
            on.emit(Event::EditCells(next));
        })
    };
    let CellDraft { cells, channels, resolution, .. } = **draft;
    html! {
        <div class="cells-sizes">
            { slider("made-cells", "Cells", CELLS, cells.into(), cells.to_string(),
                change(|draft, cells| draft.cells = cells)) }
            { slider("made-channels", "Channels of the first cells", CHANNELS, channels.into(),
                channels.to_string(), change(|draft, channels| draft.channels = channels)) }
            { slider("made-resolution", "Resolution", RESOLUTION, resolution.into(),
                format!("{resolution} × {resolution} pixels"),
                change(|draft, resolution| draft.resolution = resolution)) }
        </div>
    }
}

fn open(props: &Props) -> Html {
    let facts = props.cells.present().filter(|facts| facts.size.is_ok()).cloned();
    let is_off = facts.is_none();
    let onclick = {
        let on_open = props.on_open.clone();
        Callback::from(move |_: MouseEvent| facts.iter().for_each(|f| on_open.emit(Rc::clone(f))))
    };
    html! {
        <button type="button" class="button primary" data-testid="cells-open" disabled={is_off} {onclick}>
            { format!("Open {}", file_name(&props.cells.draft)) }
        </button>
    }
}

fn row(what: &'static str, value: String, exact: String, kind: Kind) -> Html {
    html! { <div><dt>{ what }{ kind_tag(kind) }</dt><dd>{ value }<span class="muted">{ exact }</span></dd></div> }
}

/// What the operations cost by the thesis' rule.
fn cost(choices: &CellChoices, draft: &CellDraft) -> Html {
    let [normal, reduction] = Which::BOTH.map(|which| cycles(choices, which.of(draft)));
    let cost = |what, cycles: u64| {
        row(what, figures::grouped(cycles), " cycles".to_owned(), Kind::Modelled)
    };
    html! {
        <section aria-labelledby="cells-cost">
            <h3 id="cells-cost">{ "Published cost" }</h3>
            <dl class="zoo-facts" data-testid="cells-cost">
                { cost("Normal cell", normal) }
                { cost("Reduction cell", reduction) }
                { cost("Both", normal.saturating_add(reduction)) }
            </dl>
            <p class="muted detail">
                { "Each operation once, counted by the rule of the thesis of Sadiq (table 3.2): instructions of a \
                   C64x+ on a 32×32×3 input. It is what the search minimises, whatever the size of the stack, and \
                   predicts no board's time." }
            </p>
        </section>
    }
}

/// What the stack needs, or why it cannot be built.
fn stack(props: &Props) -> Html {
    let is_stale = props.cells.present().is_none();
    let Some(facts) = &props.cells.facts else {
        return html! { <p class="waiting">{ "Building the stack…" }</p> };
    };
    let size = match &facts.size {
        Ok(size) => size,
        Err(trouble) => {
            return html! {
                <div class="trouble" role="alert" data-testid="cells-trouble">
                    <p class="trouble-what">{ &trouble.what }</p>
                    <p class="trouble-remedy">{ &trouble.what_to_do }</p>
                </div>
            };
        }
    };
    html! {
        <section aria-labelledby="cells-stack" class={classes!(is_stale.then_some("stale-figures"))}>
            <h3 id="cells-stack">{ "The stack" }</h3>
            { needs(size) }
        </section>
    }
}

fn needs(size: &ZooSize) -> Html {
    let count = |what, value: u64| {
        row(what, figures::compact(value), format!(" {}", figures::grouped(value)), Kind::Counted)
    };
    let bytes = |what, value: u64| {
        row(what, figures::binary(value), format!(" {}", figures::bytes(value)), Kind::Counted)
    };
    html! {
        <dl class="zoo-facts" data-testid="cells-size">
            <div><dt>{ "Input" }</dt><dd>{ shape(&size.input) }</dd></div>
            { count("Operators", size.operators as u64) }
            { count("Parameters", size.parameters) }
            { count("MACs", size.macs) }
            { bytes("Weights, int8", size.weight_bytes) }
            { bytes("Largest activation, int8", size.largest_bytes) }
        </dl>
    }
}

/// The text to copy.
fn text(props: &Props) -> Html {
    let Some(facts) = &props.cells.facts else { return html! {} };
    let onclick = {
        let (text, on) = (facts.text.clone(), props.on.clone());
        Callback::from(move |_: MouseEvent| copy(&text, &on))
    };
    html! {
        <section aria-labelledby="cells-text-heading">
            <h3 id="cells-text-heading">{ "As text" }</h3>
            <textarea class="cells-text" readonly={true} rows="7" spellcheck="false" data-testid="cells-text"
                aria-labelledby="cells-text-heading" value={facts.text.clone()} />
            <button type="button" class="button" data-testid="cells-copy" {onclick}>{ "Copy" }</button>
            <p class="muted detail">
                { "Saved as a .txt file it opens here, and with " }<code>{ "tilewright plan cells.txt" }</code>{ "." }
            </p>
        </section>
    }
}

fn copy(text: &str, on: &Callback<Event>) {
    let Some(window) = web_sys::window() else { return };
    let promise = window.navigator().clipboard().write_text(text);
    let on = on.clone();
    spawn_local(async move {
        let said = match JsFuture::from(promise).await {
            Ok(_) => "Cells copied",
            Err(_) => "The browser did not allow copying: select the text and copy it",
        };
        on.emit(Event::Say(said.to_owned()));
    });
}

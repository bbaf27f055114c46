//! Choosing a network of the zoo, with width and resolution where the family has them.

use std::rc::Rc;

use web_sys::{HtmlDialogElement, HtmlInputElement};
use yew::prelude::*;

use super::modal::use_modal;
use super::parts::trouble_box;
use crate::message::{ZooSize, ZooView};
use crate::state::{Event, Place, Zoo};
use crate::view_model::figures;
use crate::view_model::zoo::{Chosen, away, families, of_name, plain};
use tilewright_report::{Diagnostic, PublicationView, Slider};

#[derive(PartialEq, Properties)]
pub struct Props {
    pub zoo: Zoo,
    /// Whether the list is being made.
    pub is_listing: bool,
    pub trouble: Option<Diagnostic>,
    pub on: Callback<Event>,
}

#[component]
pub fn ZooDialog(props: &Props) -> Html {
    let node = use_modal(props.zoo.is_open);
    let onclose = props.on.reform(|_: yew::Event| Event::ShowZoo(false));
    // A click beside what the dialog holds is one on the dialog itself.
    let onclick = {
        let (node, on) = (node.clone(), props.on.clone());
        Callback::from(move |event: MouseEvent| {
            let dialog = node.cast::<HtmlDialogElement>().map(web_sys::EventTarget::from);
            if dialog.is_some() && event.target() == dialog {
                on.emit(Event::ShowZoo(false));
            }
        })
    };
    html! {
        <dialog ref={node} class="zoo" aria-labelledby="zoo-heading" data-testid="zoo" {onclose} {onclick}>
            if props.zoo.is_open {
                <div class="zoo-body">
                    <header class="zoo-head">
                        <h2 id="zoo-heading">{ "Networks of the field" }</h2>
                        <div class="cells-buttons">
                            <button type="button" class="quiet" data-testid="open-cells"
                                onclick={props.on.reform(|_| Event::ShowCells(true))}>{ "Make cells…" }</button>
                            <button type="button" class="quiet" data-testid="zoo-close"
                                onclick={props.on.reform(|_| Event::ShowZoo(false))}>{ "Close" }</button>
                        </div>
                    </header>
                    <p class="muted detail">
                        { "Built by code, as their publications describe them. Weights come from a seed, so \
                           memory and time are right and answers mean nothing." }
                    </p>
                    if let Some(trouble) = &props.trouble {
                        { trouble_box(trouble, Place::Zoo, "", &props.on) }
                    }
                    { match (&props.zoo.entries, props.is_listing) {
                        (Some(entries), _) => html! {
                            <div class="zoo-columns">
                                { list(entries, props) }
                                <Size entries={Rc::clone(entries)} choice={props.zoo.choice.clone()}
                                    size={props.zoo.size.clone()} on={props.on.clone()} />
                            </div>
                        },
                        (None, true) => html! { <p class="waiting">{ "Building the networks…" }</p> },
                        (None, false) => html! {
                            <button type="button" class="button"
                                onclick={props.on.reform(|_| Event::ShowZoo(true))}>
                                { "List them again" }
                            </button>
                        },
                    } }
                </div>
            }
        </dialog>
    }
}

fn list(entries: &[ZooView], props: &Props) -> Html {
    let chosen = of_name(entries, &props.zoo.choice).map(|(entry, _)| entry.name.as_str());
    html! {
        <div class="zoo-list" data-testid="zoo-list">
            { for families(entries).into_iter().map(|(family, members)| html! {
                <fieldset key={family.to_owned()}>
                    <legend>{ family.to_owned() }</legend>
                    { for members.into_iter().map(|entry| {
                        let name = Chosen::usual(entry).name(entry);
                        let is_chosen = chosen == Some(entry.name.as_str());
                        let id = format!("zoo-{}", entry.name);
                        html! {
                            <label key={entry.name.clone()}
                                class={classes!("zoo-entry", is_chosen.then_some("chosen"))}>
                                <input type="radio" name="zoo" checked={is_chosen} data-testid={id}
                                    onchange={props.on.reform(move |_| Event::ChooseNetwork(name.clone()))} />
                                <span class="zoo-name">
                                    { &entry.name }
                                    if entry.publications.is_empty() {
                                        <span class="muted detail">{ " no publication" }</span>
                                    }
                                </span>
                                <span class="zoo-figures muted">
                                    { format!("{} par. · {} MACs", figures::compact(entry.parameters),
                                        figures::compact(entry.macs)) }
                                </span>
                            </label>
                        }
                    }) }
                </fieldset>
            }) }
        </div>
    }
}

#[derive(PartialEq, Properties)]
struct SizeProps {
    entries: Rc<Vec<ZooView>>,
    choice: AttrValue,
    size: Option<Rc<ZooSize>>,
    on: Callback<Event>,
}

/// Sliders and figures of the chosen network.
#[component]
fn Size(props: &SizeProps) -> Html {
    let Some((entry, chosen)) = of_name(&props.entries, &props.choice) else {
        return html! {
            <div class="zoo-size"><p class="waiting">{ "Choose a network to see what it needs." }</p></div>
        };
    };
    let change = |set: fn(Chosen, f64) -> Chosen| {
        let (entry, on) = (entry.clone(), props.on.clone());
        Callback::from(move |value: f64| {
            on.emit(Event::ChooseNetwork(set(chosen, value).name(&entry)));
        })
    };
    let on_width = change(|chosen, width| Chosen { width: Some(width), ..chosen });
    let on_resolution = change(|chosen, pixels| Chosen { resolution: Some(pixels), ..chosen });
    let on_channels = change(|chosen, channels| Chosen { channels: Some(channels), ..chosen });
    let on_cells = change(|chosen, cells| Chosen { cells: Some(cells), ..chosen });
    let name = chosen.name(entry);
    // Figures of an earlier choice stay until the new ones are there, but paler.
    let size = props.size.as_ref().filter(|size| {
        of_name(&props.entries, &size.name).is_some_and(|(other, _)| other.name == entry.name)
    });
    let is_stale = size.is_none_or(|size| size.name != name);
    let open = {
        let name = name.clone();
        props.on.reform(move |_: MouseEvent| Event::OpenNetwork(name.clone()))
    };
    html! {
        <div class="zoo-size" data-testid="zoo-size" data-stale={is_stale.to_string()}>
            <h3>{ &name }</h3>
            <p>{ &entry.about }</p>
            if let (Some(span), Some(width)) = (entry.width, chosen.width) {
                { slider("width", "Width", span, width, format!("× {}", plain(width)), on_width) }
            }
            if let (Some(span), Some(pixels)) = (entry.resolution, chosen.resolution) {
                { slider("resolution", "Resolution", span, pixels,
                    format!("{0} × {0} pixels", plain(pixels)), on_resolution) }
            }
            if let (Some(span), Some(channels)) = (entry.channels, chosen.channels) {
                { slider("channels", "Channels of the first cells", span, channels, plain(channels), on_channels) }
            }
            if let (Some(span), Some(cells)) = (entry.cells, chosen.cells) {
                { slider("cells", "Cells", span, cells, plain(cells), on_cells) }
            }
            <button type="button" class="button primary" data-testid="zoo-open" onclick={open}>
                { format!("Open {name}") }
            </button>
            if let Some(size) = size { { figures_of(entry, size, is_stale) } } else {
                <p class="waiting">{ "Building it…" }</p>
            }
        </div>
    }
}

pub(super) fn slider(
    id: &'static str,
    title: &'static str,
    span: Slider,
    value: f64,
    text: String,
    on: Callback<f64>,
) -> Html {
    let oninput = Callback::from(move |event: InputEvent| {
        let input: Option<HtmlInputElement> = event.target_dyn_into();
        let value = input.map(|input| input.value_as_number()).filter(|value| value.is_finite());
        value.into_iter().for_each(|value| on.emit(value));
    });
    html! {
        <div class="picker">
            <label for={format!("zoo-{id}")}>
                { title }<output for={format!("zoo-{id}")}>{ text.clone() }</output>
            </label>
            <input type="range" id={format!("zoo-{id}")} data-testid={format!("zoo-{id}")}
                min={plain(span.least)} max={plain(span.most)} step={plain(span.step)}
                value={plain(value)} aria-valuetext={text} {oninput} />
        </div>
    }
}

fn figures_of(entry: &ZooView, size: &ZooSize, is_stale: bool) -> Html {
    let row = |what: &'static str, value: String, exact: String| {
        html! { <div><dt>{ what }</dt><dd>{ value }<span class="muted">{ exact }</span></dd></div> }
    };
    let count = |value: u64| format!(" {}", figures::grouped(value));
    let bytes = |value: u64| format!(" {}", figures::bytes(value));
    html! {
        <div class={classes!(is_stale.then_some("stale-figures"))}>
            <dl class="zoo-facts">
                { row("Input", shape(&size.input), String::new()) }
                { row("Operators", size.operators.to_string(), String::new()) }
                { row("Parameters", figures::compact(size.parameters), count(size.parameters)) }
                { row("MACs", figures::compact(size.macs), count(size.macs)) }
                { row("Weights, int8", figures::binary(size.weight_bytes), bytes(size.weight_bytes)) }
                { row("Largest activation, int8", figures::binary(size.largest_bytes),
                    bytes(size.largest_bytes)) }
            </dl>
            <h4>{ "Published" }</h4>
            if entry.publications.is_empty() {
                <p class="muted" data-testid="zoo-publication">
                    { "No publication states its parameters or MACs." }
                </p>
            }
            <ul class="zoo-publications">
                { for entry.publications.iter().map(publication) }
            </ul>
        </div>
    }
}

/// A shape without its batch: `32×32×3`.
pub(super) fn shape(dims: &[usize]) -> String {
    dims.iter().skip(1).map(usize::to_string).collect::<Vec<_>>().join("×")
}

fn publication(publication: &PublicationView) -> Html {
    let beside = |what: &str, stated: Option<u64>, ours: u64| {
        let text =
            |stated| format!("{} {what} (ours {})", figures::compact(stated), away([stated, ours]));
        stated.map(text)
    };
    let stated = [
        beside("parameters", publication.parameters, publication.our_parameters),
        beside("MACs", publication.macs, publication.our_macs),
    ];
    let stated: Vec<String> = stated.into_iter().flatten().collect();
    html! {
        <li key={format!("{}{}", publication.name, publication.source)} data-testid="zoo-publication">
            <strong>{ &publication.name }</strong>{ format!(": {}. ", stated.join(", ")) }
            <span class="muted">{ &publication.source }</span>
            if let Some(why) = &publication.difference {
                <span class="zoo-difference">{ format!("Why it differs: {why}") }</span>
            }
        </li>
    }
}

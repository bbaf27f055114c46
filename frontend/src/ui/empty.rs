//! The page before a model is open.

use std::rc::Rc;

use yew::prelude::*;

use super::icon::{Glyph, icon};
use super::run::file_event;
use crate::state::{Event, Keep, RunsOn, View, Wanted};
use crate::view_model::catalogue::EXAMPLES;
use crate::view_model::figures;
use crate::view_model::fragment::{Fragment, is_address};
use crate::view_model::lessons::{LESSONS, LessonPlace};

/// A film to begin with.
const WATCHED: &str = "model=lenet5&strategy=swap&sram=32768&view=film";

#[derive(PartialEq, Properties)]
pub struct Props {
    /// A link named this model, which must be given.
    pub wanted: Option<Wanted>,
    /// What the browser's storage holds.
    pub keep: Keep,
    pub is_opening: bool,
    /// Where plans run.
    pub runs_on: RunsOn,
    pub on: Callback<Event>,
    pub on_files: Callback<web_sys::FileList>,
}

/// An invitation to open a model.
#[component]
pub fn EmptyView(props: &Props) -> Html {
    html! {
        <div class="empty">
            <div class="drop-zone" data-testid="drop-zone">
                <h1>{ "Does your network fit your microcontroller?" }</h1>
                <p>
                    { "Drop an ONNX or TensorFlow Lite model anywhere on this page. You see where every byte lies \
                       and what each operator costs, run the model on an emulated board, and download the very \
                       image that ran." }
                </p>
                if let Some(wanted) = &props.wanted { { self::wanted(wanted, props) } }
                if let Some(trouble) = &props.keep.problem {
                    <p class="note" role="alert" data-testid="keep-problem">
                        { trouble.to_string() }
                    </p>
                }
                <label class={classes!("button", "primary", props.is_opening.then_some("busy"))}
                    onpointerenter={props.on.reform(|_| Event::Expecting)}>
                    { icon(Glyph::Open) }
                    { if props.is_opening { "Opening…" } else { "Open a model file" } }
                    <input type="file" class="visually-hidden" accept=".onnx,.tflite,.txt,.names,.npy,.npz,.data,.onnx_data,.bin,.weights" multiple={true}
                        data-testid="model-file" onchange={file_event(&props.on_files)} />
                </label>
                <button type="button" class="button" data-testid="watch"
                    onpointerenter={props.on.reform(|_| Event::Expecting)}
                    onclick={props.on.reform(|_| Event::Follow(Fragment::parse(WATCHED)))}>
                    { icon(Glyph::Play) }{ "Watch one run from an SD card" }
                </button>
                { stored(props) }
                <p class="muted detail">
                    { "Add a .npy file with real samples and the int8 results mean something. \
                       Nothing leaves your computer" }
                    { match props.runs_on {
                        RunsOn::Page => ".",
                        RunsOn::Server => " unless you run the model on this page's server.",
                    } }
                </p>
            </div>
            <figure class="first-film">
                <img src="film.svg" width="720" height="354" data-testid="first-film"
                    alt="A film: tiles of weights and activations come from an SD card and external RAM to SRAM, are \
                        computed, and go back; below, what core, DMA and card do." />
                <figcaption class="muted detail">
                    { "VGG16 on a board with 320 KB of SRAM: its 138 million weights come from an SD card, its largest \
                       activations never lie in SRAM whole. The time is modelled; an emulated board runs the same plan, \
                       bit-equal to the reference." }
                </figcaption>
            </figure>
            <section aria-labelledby="lessons-heading">
                <h2 id="lessons-heading">{ "Learn how it is done: six lessons of ten minutes" }</h2>
                <ol class="examples lessons">
                    { for LESSONS.iter().enumerate().map(|(index, lesson)| html! {
                        <li key={lesson.id}>
                            <button type="button" class="example" data-testid={format!("open-lesson-{}", lesson.id)}
                                onpointerenter={props.on.reform(|_| Event::Expecting)}
                                onfocus={props.on.reform(|_| Event::Expecting)}
                                onclick={props.on.reform(move |_| {
                                    Event::Lesson(Some(LessonPlace { lesson: index, step: 0 }))
                                })}>
                                <strong>{ format!("{}. {}", index + 1, lesson.title) }</strong>
                                <span class="muted">{ lesson.about }</span>
                            </button>
                        </li>
                    }) }
                </ol>
                <p class="muted detail">
                    <a href="lessons/glossary.html" target="_blank">{ "Glossary" }</a>{ " · " }
                    <a href="lessons/teachers.html" target="_blank">{ "For teachers: goals and answers" }</a>
                </p>
            </section>
            <section aria-labelledby="examples-heading">
                <h2 id="examples-heading">{ "Or start with an example" }</h2>
                <ul class="examples">
                    { for EXAMPLES.iter().map(|example| html! {
                        <li key={example.id}>
                            <button type="button" class="example"
                                data-testid={format!("example-{}", example.id)}
                                onpointerenter={props.on.reform(|_| Event::Expecting)}
                                onfocus={props.on.reform(|_| Event::Expecting)}
                                onclick={props.on.reform(move |_| Event::OpenExample(example))}>
                                <span class="example-pictures" aria-hidden="true">
                                    { for example.samples.iter().take(6).map(|sample| html! {
                                        <img src={sample.file} alt="" width="32" height="32" />
                                    }) }
                                </span>
                                <strong>{ example.title }</strong>
                                <span class="muted">{ example.about }</span>
                            </button>
                        </li>
                    }) }
                    <li>
                        <button type="button" class="example" data-testid="open-zoo"
                            onpointerenter={props.on.reform(|_| Event::Expecting)}
                            onfocus={props.on.reform(|_| Event::Expecting)}
                            onclick={props.on.reform(|_| Event::ShowZoo(true))}>
                            <strong>{ "A network of the field…" }</strong>
                            <span class="muted">
                                { "MobileNet, ResNet, MCUNet, VGG16 and others, by family, with width and \
                                   resolution to choose" }
                            </span>
                        </button>
                    </li>
                    <li>
                        <button type="button" class="example" data-testid="open-explore"
                            onpointerenter={props.on.reform(|_| Event::Expecting)}
                            onfocus={props.on.reform(|_| Event::Expecting)}
                            onclick={props.on.reform(|_| Event::Show(View::Explore))}>
                            <strong>{ "Which board, which width, which budget?" }</strong>
                            <span class="muted">
                                { "Many plans at once: models, boards, strategies and budgets, as a front, as curves, or \
                                   as a table of what fits" }
                            </span>
                        </button>
                    </li>
                    <li>
                        <button type="button" class="example" data-testid="open-fit"
                            onpointerenter={props.on.reform(|_| Event::Expecting)}
                            onfocus={props.on.reform(|_| Event::Expecting)}
                            onclick={props.on.reform(|_| Event::ShowFit(true))}>
                            <strong>{ "What fits a small board?" }</strong>
                            <span class="muted">
                                { "Twelve MobileNets, dense, sparse, in tiles and both, on a board with 500 KB of \
                                   SRAM: a published experiment, planned here" }
                            </span>
                        </button>
                    </li>
                    <li>
                        <button type="button" class="example" data-testid="open-papers"
                            onpointerenter={props.on.reform(|_| Event::Expecting)}
                            onfocus={props.on.reform(|_| Event::Expecting)}
                            onclick={props.on.reform(|_| Event::ShowPapers(true))}>
                            <strong>{ "Five papers, computed again" }</strong>
                            <span class="muted">
                                { "Operator order, ping-pong buffers, TinyOps, SwapNN, sparse and tiled: printed \
                                   figures beside ours, how far off, and why" }
                            </span>
                        </button>
                    </li>
                </ul>
            </section>
        </div>
    }
}

/// The model that the link names: how it can be had.
fn wanted(wanted: &Wanted, props: &Props) -> Html {
    if is_address(&wanted.model) {
        return html! {
            <div class="note" data-testid="wanted">
                <p>
                    { "This link names a model on another host: " }
                    <code class="hash">{ &wanted.model }</code>
                    { ". Fetching it tells that host your address. You see its size and checksum under Overview." }
                </p>
                <button type="button" class="button primary" data-testid="fetch-model" disabled={props.is_opening}
                    onclick={props.on.reform(|_| Event::FetchModel)}>{ "Fetch and open it" }</button>
            </div>
        };
    }
    let file = wanted.file.as_ref().map_or_else(
        || "a model".to_owned(),
        |file| format!("{} ({})", file.name, figures::bytes(file.bytes)),
    );
    html! {
        <p class="note" data-testid="wanted">
            { format!("This link belongs to {file}, which is not stored with it. Drop the file with ") }
            <code class="hash">{ &wanted.model }</code>{ "; board and settings are as in the link." }
        </p>
    }
}

/// The model that the browser keeps.
fn stored(props: &Props) -> Html {
    let Some(stored) = &props.keep.stored else { return html! {} };
    html! {
        <p class="stored" data-testid="stored">
            <span class="muted">{ "This browser keeps" }</span>
            <button type="button" class="button" data-testid="open-stored"
                onclick={props.on.reform(|_| Event::OpenStored)}>
                { format!("{} ({})", stored.name, figures::binary(stored.bytes)) }
            </button>
            <button type="button" class="quiet" data-testid="forget"
                onclick={props.on.reform(|_| Event::Keep(false))}>{ "Forget it" }</button>
        </p>
    }
}

#[derive(PartialEq, Properties)]
pub struct DimensionProps {
    pub names: Rc<Vec<String>>,
    pub on: Callback<Event>,
}

/// Asks what stands for dimensions that a file leaves open.
#[component]
pub fn DimensionForm(props: &DimensionProps) -> Html {
    let values = use_state(|| vec![1u64; props.names.len()]);
    let on_submit = {
        let (names, values, on) = (Rc::clone(&props.names), values.clone(), props.on.clone());
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            on.emit(Event::Dimensions(names.iter().cloned().zip(values.iter().copied()).collect()));
        })
    };
    html! {
        <form class="dimensions" onsubmit={on_submit} data-testid="dimensions">
            { for props.names.iter().enumerate().map(|(index, name)| {
                let values = values.clone();
                let oninput = Callback::from(move |event: InputEvent| {
                    let input: Option<web_sys::HtmlInputElement> = event.target_dyn_into();
                    let value = input.and_then(|input| input.value().parse().ok());
                    if let Some(value) = value {
                        let mut next = (*values).clone();
                        if let Some(size) = next.get_mut(index) {
                            *size = value;
                        }
                        values.set(next);
                    }
                });
                html! {
                    <label key={index}>
                        { name }
                        <input type="number" min="1" max="65535" required={true} value="1" {oninput}
                            data-testid={format!("dimension-{name}")} />
                    </label>
                }
            }) }
            <button type="submit" class="button primary" data-testid="open-dimensions">
                { "Open" }
            </button>
        </form>
    }
}

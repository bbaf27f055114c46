//! Pickers: model, board, strategy, budget; undo, share, theme.

use std::rc::Rc;

use serde::Serialize;
use tilewright_board::{Board, SMALL, Support};
use tilewright_report::{Kernels, Outputs, Packing, choice, word};
use web_sys::HtmlInputElement;
use yew::prelude::*;

use super::choice::Choice;
use super::icon::{Glyph, icon};
use super::run::file_event;
use crate::message::PlanSettings;
use crate::state::{Event, Origin, Theme, ZOO};
use crate::view_model::catalogue::{self, EXAMPLES};
use crate::view_model::figures;
use crate::view_model::fragment::{BY_LATENCY, STREAMED, exits_word, set_exits};
use crate::view_model::objectives;
use crate::view_model::sparsity::fixed_by;

/// The choice that leads to the zoo.
const NETWORKS: &str = "zoo";
/// The choice that leads to all boards.
const BOARDS: &str = "boards";
/// Strategies whose weights the core reads in the chip's flash.
const PACKED: [&str; 4] = ["resident", "reordered", "ping-pong", "auto"];
/// Weights without their zeros wherever they take fewer bytes so.
const SPARSE: &str = "sparse";
/// Layers that are made whole, and grids of tiles that are offered.
const WHOLE: &str = "whole";
const GRIDS: [&str; 7] = [WHOLE, "2x1", "1x2", "2x2", "4x1", "3x3", "4x4"];
/// Confidences that are offered.
const CONFIDENCES: [f64; 6] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95];
/// The strategy with tiles of its own, and these.
const TILED: &str = "sparse-tiled";
const TILED_GRID: &str = "2x2";

#[derive(PartialEq, Properties)]
pub struct Props {
    pub boards: Rc<Vec<Board>>,
    pub strategies: Rc<Vec<String>>,
    /// Strategies that cannot plan the model, and why.
    pub obstacles: Rc<Vec<(String, String)>>,
    pub settings: PlanSettings,
    /// Whether the model has several outputs.
    pub has_exits: bool,
    pub can_undo: bool,
    pub can_redo: bool,
    pub origin: Option<Origin>,
    pub theme: Theme,
    pub on: Callback<Event>,
    pub on_share: Callback<()>,
    pub on_files: Callback<web_sys::FileList>,
}

/// The head of the page.
#[component]
pub fn Header(props: &Props) -> Html {
    let theme = match props.theme {
        Theme::System => "Theme: as the system. Change to light",
        Theme::Light => "Theme: light. Change to dark",
        Theme::Dark => "Theme: dark. Change to the system's",
    };
    let on_share = props.on_share.clone();
    // Only narrow screens show the button, and fold what is behind it.
    let is_folded = use_state(|| true);
    {
        let is_folded = is_folded.clone();
        use_effect_with(props.origin.is_some(), move |_| is_folded.set(true));
    }
    let on_fold = {
        let is_folded = is_folded.clone();
        Callback::from(move |_: MouseEvent| is_folded.set(!*is_folded))
    };
    html! {
        <header class="head">
            <a class="brand" href="#" title="To the first page" data-testid="to-first-page">
                <svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true" class="brand-mark">
                    <rect x="1" y="1" width="6" height="6" rx="1" />
                    <rect x="9" y="1" width="6" height="10" rx="1" />
                    <rect x="1" y="9" width="6" height="6" rx="1" />
                    <rect x="9" y="13" width="6" height="2" rx="1" />
                </svg>
                <span>{ "Tilewright" }</span>
            </a>
            <div class={classes!("pickers", (*is_folded).then_some("folded"))} data-testid="pickers">
                <button type="button" class="quiet fold" aria-expanded={(!*is_folded).to_string()}
                    aria-controls="pickers" onclick={on_fold} data-testid="fold">
                    { if *is_folded { "Model, board, budget" } else { "Hide settings" } }
                </button>
                <div class="picker-row" id="pickers">
                    { model_picker(props) }
                    { board_picker(props) }
                    { kernels_picker(props) }
                    { strategy_picker(props) }
                    if props.settings.strategy == "auto" { { objective_picker(props) } { input_picker(props) } }
                    if PACKED.contains(&props.settings.strategy.as_str()) { { packing_picker(props) } }
                    if props.settings.strategy == TILED { { fixed_packing() } }
                    { tiles_picker(props) }
                    if props.has_exits { { exits_picker(props) } }
                    if props.settings.strategy == "overlay" { { outputs_picker(props) } }
                    { budget(props) }
                </div>
            </div>
            <div class="head-actions">
                { action(Glyph::Undo, "Undo the last change of settings", !props.can_undo, "undo",
                    props.on.reform(|_| Event::Undo)) }
                { action(Glyph::Redo, "Redo", !props.can_redo, "redo",
                    props.on.reform(|_| Event::Redo)) }
                { action(Glyph::Share, "Copy a link to this view; for an iframe write embed= in it for view=", false, "share",
                    Callback::from(move |_| on_share.emit(()))) }
                { action(Glyph::Theme, theme, false, "theme",
                    props.on.reform(|_| Event::ToggleTheme)) }
            </div>
        </header>
    }
}

fn action(
    glyph: Glyph,
    label: &'static str,
    disabled: bool,
    id: &'static str,
    onclick: Callback<MouseEvent>,
) -> Html {
    html! {
        <button type="button" class="quiet icon-button" title={label} aria-label={label} {disabled}
            data-testid={id} {onclick}>
            { icon(glyph) }
        </button>
    }
}

fn model_picker(props: &Props) -> Html {
    let (value, own) = match &props.origin {
        Some(Origin::Example(example)) => (AttrValue::from(example.id), None),
        Some(Origin::Zoo(name)) => (AttrValue::from("own"), Some(format!("{ZOO}{name}"))),
        Some(Origin::File(file)) => (AttrValue::from("own"), Some(file.name.clone())),
        None => (AttrValue::from(""), None),
    };
    let mut options: Vec<(AttrValue, AttrValue)> = Vec::new();
    options.extend(own.map(|name| ("own".into(), name.into())));
    options.extend(EXAMPLES.iter().map(|example| (example.id.into(), example.title.into())));
    options.push((NETWORKS.into(), "Networks of the field…".into()));
    let on = props.on.clone();
    let on_choose = Callback::from(move |id: String| {
        if id == NETWORKS {
            on.emit(Event::ShowZoo(true));
        } else if let Some(example) = catalogue::find(&id) {
            on.emit(Event::OpenExample(example));
        }
    });
    html! {
        <div class="picker">
            <label for="pick-model">{ "Model" }</label>
            <div class="picker-pair">
                <Choice id="model" {value} {options} {on_choose} />
                <label class="button icon-button" title="Open a model file">
                    { icon(Glyph::Open) }
                    <span class="visually-hidden">{ "Open a model file" }</span>
                    <input type="file" class="visually-hidden" accept=".onnx,.tflite,.txt,.names,.npy,.npz,.png,.wav,.data,.onnx_data,.bin,.weights" multiple={true}
                        data-testid="open-file" onchange={file_event(&props.on_files)} />
                </label>
            </div>
        </div>
    }
}

fn board_picker(props: &Props) -> Html {
    let (on, settings) = (props.on.clone(), props.settings.clone());
    let on_choose = Callback::from(move |board: String| {
        on.emit(match board.as_str() {
            BOARDS => Event::ShowBoards(true),
            _ => Event::Settings(settings.on_board(&board), false),
        });
    });
    let option = |board: &Board| {
        let name = &board.name;
        let text = if board.runs() { name.clone() } else { format!("{name} (planned only)") };
        (board.id.clone().into(), text.into())
    };
    // Reference profiles stand in the list of all boards.
    let own = props.boards.iter().filter(|board| {
        let is_listed = board.support != Support::Virtual || board.id == props.settings.board;
        is_listed && !board.id.ends_with(SMALL)
    });
    let mut options: Vec<_> = own.map(option).collect();
    options.push((BOARDS.into(), "All boards, your own…".into()));
    html! {
        <div class="picker">
            <label for="pick-board">{ "Board" }</label>
            <Choice id="board" value={props.settings.board.clone()} {options} {on_choose} />
        </div>
    }
}

/// Kernels of the board's firmware, where there are small ones.
fn kernels_picker(props: &Props) -> Html {
    let small = PlanSettings { kernels: Kernels::Small, ..props.settings.clone() }.board_id();
    if !props.boards.iter().any(|board| board.id == small) {
        return Html::default();
    }
    let (on, settings) = (props.on.clone(), props.settings.clone());
    let on_choose = Callback::from(move |id: String| {
        let kernels = choice(&id).unwrap_or_default();
        on.emit(Event::Settings(PlanSettings { kernels, ..settings.clone() }, false));
    });
    html! {
        <div class="picker" title="Small kernels take less than half the flash, and longer">
            <label for="pick-kernels">{ "Kernels" }</label>
            <Choice id="kernels" value={word(&props.settings.kernels)}
                options={words(&[Kernels::Fast, Kernels::Small])} {on_choose} />
        </div>
    }
}

/// Choices by their words.
fn words<T: Serialize>(choices: &[T]) -> Vec<(AttrValue, AttrValue)> {
    choices.iter().map(word).map(|word| (word.clone().into(), word.into())).collect()
}

fn strategy_picker(props: &Props) -> Html {
    let (on, settings) = (props.on.clone(), props.settings.clone());
    let on_choose = Callback::from(move |strategy: String| {
        on.emit(Event::Settings(PlanSettings { strategy, ..settings.clone() }, false));
    });
    let obstacles = Rc::clone(&props.obstacles);
    let option = |name: &String| {
        let text = match obstacles.iter().any(|(strategy, _)| strategy == name) {
            true => format!("{name} (not for this network)"),
            false => name.clone(),
        };
        (name.clone().into(), text.into())
    };
    let options: Vec<_> = props.strategies.iter().map(option).collect();
    html! {
        <div class="picker">
            <label for="pick-strategy">{ "Strategy" }</label>
            <Choice id="strategy" value={props.settings.strategy.clone()} {options} {obstacles}
                {on_choose} />
        </div>
    }
}

/// What `auto` makes least.
fn objective_picker(props: &Props) -> Html {
    let (on, settings) = (props.on.clone(), props.settings.clone());
    let on_choose = Callback::from(move |id: String| {
        on.emit(Event::Settings(objectives::chosen(&settings, &id), false));
    });
    let value = objectives::id(&props.settings);
    let named = |(id, name): (String, String)| (id.into(), name.into());
    let options: Vec<_> = objectives::offered(&props.settings).into_iter().map(named).collect();
    let board = props.boards.iter().find(|board| board.id == props.settings.board);
    let obstacles = Rc::new(board.and_then(objectives::obstacle).into_iter().collect::<Vec<_>>());
    html! {
        <div class="picker">
            <label for="pick-objective">{ "Objective" }</label>
            <Choice id="objective" {value} {options} {obstacles} {on_choose} />
        </div>
    }
}

/// Whether the input may arrive in rows while others are used.
fn input_picker(props: &Props) -> Html {
    let (on, settings) = (props.on.clone(), props.settings.clone());
    let on_choose = Callback::from(move |id: String| {
        let stream_input = id == STREAMED;
        on.emit(Event::Settings(PlanSettings { stream_input, ..settings.clone() }, false));
    });
    let options = vec![(WHOLE.into(), WHOLE.into()), (STREAMED.into(), "in rows".into())];
    let value = if props.settings.stream_input { STREAMED } else { WHOLE };
    html! {
        <div class="picker">
            <label for="pick-input">{ "Input" }</label>
            <Choice id="input" {value} {options} {on_choose} />
        </div>
    }
}

/// Whether weights may lie in a wider and faster packing.
fn packing_picker(props: &Props) -> Html {
    let (on, settings) = (props.on.clone(), props.settings.clone());
    let on_choose = Callback::from(move |id: String| {
        let packing = choice(&id).unwrap_or_default();
        on.emit(Event::Settings(PlanSettings { packing, ..settings.clone() }, false));
    });
    let options = words(&[Packing::Auto, Packing::Fast, Packing::Sparse, Packing::Plain]);
    let value = word(&props.settings.packing);
    html! {
        <div class="picker">
            <label for="pick-packing">{ "Packing" }</label>
            <Choice id="packing" {value} {options} {on_choose} />
        </div>
    }
}

/// The packing that a strategy fixes.
fn fixed_packing() -> Html {
    let options = vec![(SPARSE.into(), "sparse, fixed".into())];
    html! {
        <div class="picker" title={fixed_by(TILED)}>
            <label for="pick-packing">{ "Packing" }</label>
            <Choice id="packing" value={SPARSE} {options} is_disabled={true} on_choose={Callback::noop()} />
        </div>
    }
}

/// In which tiles layers are made.
fn tiles_picker(props: &Props) -> Html {
    let (on, settings) = (props.on.clone(), props.settings.clone());
    // One strategy has tiles of its own.
    let is_tiled = settings.strategy == TILED;
    let usual = if is_tiled { TILED_GRID } else { WHOLE };
    let on_choose = Callback::from(move |id: String| {
        let tiles = Some(id).filter(|id| id != usual);
        on.emit(Event::Settings(PlanSettings { tiles, ..settings.clone() }, false));
    });
    let value = props.settings.tiles.clone().unwrap_or_else(|| usual.to_owned());
    let grids = GRIDS.iter().filter(|grid| !(is_tiled && **grid == WHOLE));
    let mut known: Vec<String> = grids.map(|grid| (*grid).to_owned()).collect();
    if !known.contains(&value) {
        known.push(value.clone());
    }
    let options = known.into_iter().map(|id| (id.clone().into(), id.into())).collect::<Vec<_>>();
    html! {
        <div class="picker">
            <label for="pick-tiles">{ "Tiles" }</label>
            <Choice id="tiles" {value} {options} {on_choose} />
        </div>
    }
}

/// Whether outputs before the last end a run.
fn exits_picker(props: &Props) -> Html {
    let (on, settings) = (props.on.clone(), props.settings.clone());
    let on_choose = Callback::from(move |word: String| {
        let mut settings = settings.clone();
        set_exits(&mut settings, &word);
        on.emit(Event::Settings(settings, false));
    });
    let value = exits_word(&props.settings);
    let mut options: Vec<(AttrValue, AttrValue)> =
        vec![("".into(), "none".into()), (BY_LATENCY.into(), "by latency".into())];
    let mut known: Vec<String> = CONFIDENCES.map(|confidence| confidence.to_string()).to_vec();
    if !value.is_empty() && value != BY_LATENCY && !known.contains(&value) {
        known.push(value.clone());
    }
    options.extend(known.into_iter().map(|word| {
        let text = format!("from {word} on");
        (word.into(), text.into())
    }));
    html! {
        <div class="picker" title="A program for each output, or an end at the first that is as certain">
            <label for="pick-exits">{ "Early exits" }</label>
            <Choice id="exits" {value} {options} {on_choose} />
        </div>
    }
}

/// Whether outputs are made in SRAM, from where DMA moves them.
fn outputs_picker(props: &Props) -> Html {
    let (on, settings) = (props.on.clone(), props.settings.clone());
    let on_choose = Callback::from(move |id: String| {
        let outputs = choice(&id).unwrap_or_default();
        on.emit(Event::Settings(PlanSettings { outputs, ..settings.clone() }, false));
    });
    let options = words(&[Outputs::Direct, Outputs::Staged]);
    let value = word(&props.settings.outputs);
    html! {
        <div class="picker">
            <label for="pick-outputs">{ "Outputs" }</label>
            <Choice id="outputs" {value} {options} {on_choose} />
        </div>
    }
}

fn budget(props: &Props) -> Html {
    let board = props.boards.iter().find(|board| board.id == props.settings.board_id());
    let most = board.map_or(0, |board| board.arena().0);
    let value = props.settings.sram_bytes.unwrap_or(most).min(most);
    let change = |is_dragging: bool| {
        let (on, settings) = (props.on.clone(), props.settings.clone());
        move |input: Option<HtmlInputElement>| {
            let value = input.and_then(|input| input.value().parse::<u64>().ok());
            if let Some(value) = value {
                let sram_bytes = (value < most).then_some(value);
                on.emit(Event::Settings(
                    PlanSettings { sram_bytes, ..settings.clone() },
                    is_dragging,
                ));
            }
        }
    };
    let (dragged, released) = (change(true), change(false));
    let oninput = Callback::from(move |event: InputEvent| dragged(event.target_dyn_into()));
    let onchange = Callback::from(move |event: yew::Event| released(event.target_dyn_into()));
    let text = format!("{} of {}", figures::binary(value), figures::binary(most));
    html! {
        <div class="picker picker-budget">
            <label for="pick-sram">{ "SRAM budget" }<output for="pick-sram">{ text.clone() }</output></label>
            <input type="range" id="pick-sram" data-testid="pick-sram" min="1024" max={most.to_string()}
                step="1024" value={value.to_string()} aria-valuetext={text} {oninput} {onchange}
                disabled={most == 0} />
        </div>
    }
}

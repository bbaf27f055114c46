//! The lanes of a predicted and a counted run on one axis of time, from all of it to single cycles.

mod drawing;
mod held;
mod look;
mod paths;
mod table;

use std::rc::Rc;

use tilewright_report::short_name;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::chart::use_width;
use super::icon::{Glyph, icon};
use super::parts::legend;
use crate::message::PlanFacts;
use crate::state::{Event, Measurement, Outcome, Selection};
use crate::view_model::desk::timeline;
use crate::view_model::figures;
use crate::view_model::layers::Family;
use crate::view_model::steps::Step;
use crate::view_model::timeline::{
    CLASSES, Colours, DRIVER_OVERHEAD, LAYER_COLOURS, Lanes, STALL, class_of_layer, family_of,
    lanes, layer_words,
};
use drawing::{drawing, held_at, room_of, under};
pub use held::fill_of_held;
use look::{Look, Turn, use_wheel};
pub use paths::push_rectangle;

/// How much a key or a button changes the size, and which part of the view a key moves it by.
const STEP: f64 = 1.6;
const STRIDE: f64 = 0.2;
/// Pixels that a pointer may stray and still click.
const STRAY: f64 = 4.0;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub plan: Rc<PlanFacts>,
    /// A run of the same settings.
    pub run: Option<Rc<Outcome>>,
    /// What a board on the desk said of the same settings.
    pub measurement: Option<Rc<Measurement>>,
    pub lit: Selection,
    /// What was chosen, whatever the pointer is over.
    pub selected: Selection,
    /// Where the film is.
    pub cursor_us: Option<f64>,
    pub on: Callback<Event>,
}

/// A pointer that is down: where it was last, and how far it has come.
type Drag = Option<(f64, f64)>;

/// The lanes.
#[component]
pub fn TimelineChart(props: &Props) -> Html {
    let node = use_node_ref();
    let width = use_width(node.clone(), true);
    let colours = use_state(Colours::default);
    let of = (Rc::clone(&props.plan), props.run.clone(), props.measurement.clone(), *colours);
    let lanes = use_memo(of, |(plan, run, measurement, colours)| {
        let run = run.as_ref().map(|outcome| &outcome.result.timeline);
        let board = measurement.as_ref().map(|measurement| timeline(measurement));
        let beside = [(run, "run"), (board.as_ref(), "on the board")];
        let beside = beside.into_iter().filter_map(|(timeline, word)| Some((timeline?, word)));
        let beside = beside.filter(|(timeline, _)| !timeline.slices.is_empty());
        lanes(plan, &beside.collect::<Vec<_>>(), *colours)
    });
    let look = use_reducer(Look::default);
    let drag = use_mut_ref(|| Drag::None);
    let pointed = use_state(|| None::<(usize, usize)>);
    let held = use_state(|| None::<f64>);
    let end_us = lanes.end_us;
    let window = look.window(end_us);
    let room = room_of(width);
    {
        let (look, lanes) = (look.dispatcher(), Rc::clone(&lanes));
        use_effect_with(props.selected.layer, move |layer| {
            let extents =
                layer.map(|layer| lanes.lanes.iter().filter_map(move |l| l.extent(layer)));
            if let Some([from_us, to_us]) = extents.and_then(|mut extents| extents.next()) {
                look.dispatch(Turn::Show { from_us, to_us, end_us });
            }
        });
    }
    use_wheel(&node, &look, end_us);
    let words = use_memo((Rc::clone(&lanes), props.lit.layer), |(lanes, layer)| match layer {
        Some(layer) => layer_words(lanes, *layer),
        None => lanes.summary.clone(),
    });
    let said = match (*pointed, *held) {
        (Some((lane, bar)), _) => lanes.words(&props.plan, lane, bar),
        (None, Some(at)) => {
            format!("SRAM at {}: {}", figures::duration(at), lanes.held.words(at))
        }
        (None, None) => String::clone(&words),
    };
    let turn = |glyph: Glyph, title: &'static str, id: &'static str, turn: Turn| {
        let look = look.dispatcher();
        html! {
            <button type="button" class="quiet icon-button" {title} aria-label={title}
                data-testid={id} onclick={move |_| look.dispatch(turn)}>{ icon(glyph) }</button>
        }
    };
    let zoom = |factor: f64| Turn::Zoom { factor, share: 0.5, end_us };
    let keys = "Left and right arrow keys go from operator to operator; plus, minus and zero change \
                the size, with shift the arrow keys move along the time.";
    html! {
        <figure class="timeline">
            <div class="timeline-head">
                { legend(used(&lanes, &props.plan, *colours)) }
                <div class="panel-actions">
                    { colour_by_layer(&colours) }
                    { turn(Glyph::Smaller, "Show more of the time", "timeline-smaller", zoom(1.0 / STEP)) }
                    { turn(Glyph::Larger, "Show less of the time, larger", "timeline-larger", zoom(STEP)) }
                    { turn(Glyph::Fit, "Show all of the time", "timeline-fit", Turn::All) }
                </div>
            </div>
            <div class="chart timeline-lanes" ref={node.clone()} tabindex="0" role="application"
                aria-roledescription="chart" aria-label={format!("{} {keys}", lanes.summary)}
                data-testid="timeline" onkeydown={onkeydown(props, &look.dispatcher(), end_us)}
                onpointerdown={
                    let (drag, node) = (Rc::clone(&drag), node.clone());
                    Callback::from(move |event: PointerEvent| {
                        if let Some(element) = node.cast::<HtmlElement>() {
                            // Without capture, what happens outside is lost: no harm.
                            let _ = element.set_pointer_capture(event.pointer_id());
                        }
                        *drag.borrow_mut() = Some((f64::from(event.client_x()), 0.0));
                    })
                }
                onpointermove={
                    let (drag, node, look) = (Rc::clone(&drag), node.clone(), look.dispatcher());
                    let (lanes, pointed, on) = (Rc::clone(&lanes), pointed.clone(), props.on.clone());
                    let held = held.clone();
                    Callback::from(move |event: PointerEvent| {
                        let x = f64::from(event.client_x());
                        if let Some((last, travelled)) = drag.borrow_mut().as_mut() {
                            let by = x - *last;
                            (*last, *travelled) = (x, *travelled + by.abs());
                            if *travelled > STRAY {
                                look.dispatch(Turn::Move { share: -by / room, end_us });
                            }
                            return;
                        }
                        let Some(element) = node.cast::<HtmlElement>() else { return };
                        let place = element.get_bounding_client_rect();
                        let at = [x - place.left(), f64::from(event.client_y()) - place.top()];
                        let at_us = held_at(&lanes, window, room, at);
                        if at_us != *held {
                            held.set(at_us);
                        }
                        let under = under(&lanes, window, room, at);
                        if under != *pointed {
                            let layer = |(lane, bar): (usize, usize)| {
                                usize::from(lanes.lanes[lane].bars[bar].layer)
                            };
                            let selection = under.map(layer).map_or(Selection::NONE, Selection::layer);
                            on.emit(Event::Hover(selection));
                            pointed.set(under);
                        }
                    })
                }
                onpointerup={
                    let (drag, on, lit) = (Rc::clone(&drag), props.on.clone(), props.lit);
                    let is_over = pointed.is_some();
                    Callback::from(move |_| {
                        let has_moved = drag.take().is_none_or(|(_, travelled)| travelled > STRAY);
                        if let (false, true, Some(layer)) = (has_moved, is_over, lit.layer) {
                            on.emit(Event::Select(Selection::layer(layer)));
                        }
                    })
                }
                onpointercancel={
                    let drag = Rc::clone(&drag);
                    Callback::from(move |_| *drag.borrow_mut() = None)
                }
                onpointerleave={
                    let (pointed, held, on) = (pointed.clone(), held.clone(), props.on.clone());
                    Callback::from(move |_| {
                        pointed.set(None);
                        held.set(None);
                        on.emit(Event::Hover(Selection::NONE));
                    })
                }>
                if width > 0.0 { { drawing(&props.plan, props.lit, &lanes, window, width, props.cursor_us) } }
            </div>
            <figcaption class="readout" data-testid="timeline-words">{ said }</figcaption>
            <table::Slices plan={Rc::clone(&props.plan)} {lanes} {window} />
        </figure>
    }
}

fn onkeydown(
    props: &Props,
    look: &UseReducerDispatcher<Look>,
    end_us: f64,
) -> Callback<KeyboardEvent> {
    let on = props.on.clone();
    let look = look.clone();
    Callback::from(move |event: KeyboardEvent| {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        let key = event.key();
        let turn = match (key.as_str(), event.shift_key()) {
            ("+" | "=", _) => Some(Turn::Zoom { factor: STEP, share: 0.5, end_us }),
            ("-", _) => Some(Turn::Zoom { factor: 1.0 / STEP, share: 0.5, end_us }),
            ("0", _) => Some(Turn::All),
            ("ArrowLeft", true) => Some(Turn::Move { share: -STRIDE, end_us }),
            ("ArrowRight", true) => Some(Turn::Move { share: STRIDE, end_us }),
            _ => None,
        };
        if let Some(turn) = turn {
            event.prevent_default();
            look.dispatch(turn);
        } else if let Some(step) = Step::of_key(&key).filter(|step| !step.is_among_tensors()) {
            event.prevent_default();
            on.emit(Event::Step(step, None));
        }
    })
}

/// Switches between the colours of families and of layers.
fn colour_by_layer(colours: &UseStateHandle<Colours>) -> Html {
    let is_on = **colours == Colours::Layer;
    let colours = colours.clone();
    html! {
        <button type="button" class="quiet" aria-pressed={is_on.to_string()}
            data-testid="timeline-colours" title="A colour for each layer, by turns"
            onclick={move |_| {
                colours.set(if is_on { Colours::Family } else { Colours::Layer });
            }}>
            { "Colour by layer" }
        </button>
    }
}

/// The colours of layers by turns, with the first layers that have them.
fn of_layers(plan: &PlanFacts) -> Vec<(&'static str, AttrValue)> {
    const IDS: [&str; LAYER_COLOURS] = [
        "conv",
        "conv odd",
        "depthwise",
        "depthwise odd",
        "dense",
        "dense odd",
        "pool",
        "pool odd",
    ];
    let layers = &plan.report.layers;
    let name = |layer: usize| short_name(&layers[layer].name).to_owned();
    let of_layer = |layer: usize| {
        let next = layer + LAYER_COLOURS;
        let text = match layers.len().saturating_sub(next).div_ceil(LAYER_COLOURS) {
            0 => name(layer),
            1 => format!("{}, {}", name(layer), name(next)),
            more => format!("{} and {more} more", name(layer)),
        };
        (IDS[class_of_layer(layer)], text.into())
    };
    (0..layers.len().min(LAYER_COLOURS)).map(of_layer).collect()
}

fn used(lanes: &Lanes, plan: &PlanFacts, colours: Colours) -> Vec<(&'static str, AttrValue)> {
    let is_used = |family: &Family| {
        let of_family = |class: usize| family_of(class).is_some_and(|(known, _)| known == *family);
        (0..CLASSES).any(|class| lanes.classes[class] && of_family(class))
    };
    let families = Family::ALL.into_iter().filter(is_used);
    let mut entries: Vec<(&'static str, AttrValue)> = match colours {
        Colours::Family => families.map(|family| (family.id(), family.title().into())).collect(),
        Colours::Layer => of_layers(plan),
    };
    for (class, id, title) in
        [(STALL, "stall", "waiting"), (DRIVER_OVERHEAD, "driver-overhead", "driver overhead")]
    {
        entries.extend(lanes.classes[usize::from(class)].then_some((id, title.into())));
    }
    if !lanes.held.is_empty() {
        entries.extend(held::legend());
    }
    entries
}

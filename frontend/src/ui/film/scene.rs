//! A plan at a time: memories as maps, lanes as boxes, and what travels between them.

use std::rc::Rc;

use tilewright_plan::Space;
use tilewright_report::{Access, Held, SliceKind, short_name};
use yew::prelude::*;

use super::map::{MemoryMap, style};
use super::{ByAddress, Shown};
use crate::message::Recording;
use crate::state::Theme;
use crate::ui::chart::{px, use_width};
use crate::view_model::figures;
use crate::view_model::film::{Act, Area, Film, Grid, Rect, Replay, Stage, TITLE, Touched};
use crate::view_model::layers::kernel_title;
use crate::view_model::timeline::lane_title;

/// Height of a name in a map.
const NAME: f64 = 22.0;
/// Side of what travels.
const TILE: f64 = 14.0;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub shown: Shown,
    pub at_us: f64,
    /// What SRAM held during the run.
    pub recording: Option<ByAddress<Recording>>,
    pub theme: Theme,
    /// Whether two scenes share the screen.
    pub is_half: bool,
    /// Test id of the words.
    pub words_id: &'static str,
    /// Whether values are spoken of.
    pub has_values: bool,
}

/// What was drawn last, so that what is the same is not painted again.
#[derive(Default)]
struct Drawn {
    areas: Vec<Rc<Vec<Area>>>,
    replay: Replay,
    content: Option<Content>,
    recording: Option<ByAddress<Recording>>,
}

/// What SRAM held.
struct Content {
    /// Behind this step; nothing: before the first.
    step: Option<u32>,
    /// Nothing if it was not recorded.
    bytes: Option<Rc<[u8]>>,
}

#[component]
pub fn Scene(props: &Props) -> Html {
    let Shown { plan: ByAddress(plan), film: ByAddress(film) } = &props.shown;
    let node = use_node_ref();
    let width = use_width(node.clone(), true);
    let drawn = use_mut_ref(Drawn::default);
    let pointed = use_state(|| None::<(usize, u64)>);
    let acts = film.acts(plan, props.at_us);
    let mut drawn = drawn.borrow_mut();
    let content = drawn.content(props.recording.as_ref(), film.ended(props.at_us));
    let areas: Vec<Rc<Vec<Area>>> = film
        .memories
        .iter()
        .enumerate()
        .map(|(number, memory)| {
            let now = film.areas(plan, memory, &acts, props.at_us);
            kept(drawn.areas.get(number), now)
        })
        .collect();
    drawn.areas.clone_from(&areas);
    let stage = Stage::of(width, film.memories.len(), film.lane_kinds().count(), props.is_half);
    let grids: Vec<Grid> = film
        .memories
        .iter()
        .zip(&stage.memories)
        .map(|(memory, place)| {
            let [wide, high] = [place.width.max(1.0), place.height.max(1.0)];
            Grid::of(memory.bytes, wide / high, (wide * high) as u64)
        })
        .collect();
    let sram = film.memories.len() - 1;
    let map = |number: usize| {
        let content = content.clone().filter(|_| number == sram).map(ByAddress);
        let on_point = {
            let pointed = pointed.clone();
            Callback::from(move |at: Option<u64>| pointed.set(at.map(|at| (number, at))))
        };
        html! {
            <MemoryMap key={number} place={stage.memories[number]} grid={grids[number]}
                areas={ByAddress(Rc::clone(&areas[number]))} {content} theme={props.theme} {on_point} />
        }
    };
    let byte = match *pointed {
        Some((memory, at)) if memory < film.memories.len() => {
            let content = content.as_deref().filter(|_| memory == sram);
            byte_words(film.memories[memory].title(), at, &areas[memory], content)
        }
        _ if props.has_values => values_words(props.recording.as_ref(), content.is_some()),
        _ => String::new(),
    };
    html! {
        <>
            <div class="film-stage" ref={node} style={format!("height:{}px", px(stage.height))}>
                if width > 0.0 {
                    { for (0..film.memories.len()).map(|number| html! {
                        <div key={number} class="film-memory">
                            { memory_title(film, number, stage.memories[number]) }
                            { map(number) }
                            { names(&areas[number], grids[number], stage.memories[number]) }
                        </div>
                    }) }
                    { for film.lane_kinds().zip(&stage.lanes).map(|(lane, place)| {
                        let act = acts.iter().find(|act| act.lane == lane);
                        lane_box(&props.shown, lane_title(lane), act, *place)
                    }) }
                    { flows(film, &acts, &stage, &grids) }
                }
            </div>
            <div class="film-words" data-testid={props.words_id}>
                { for film.words(plan, &acts, props.at_us).into_iter().map(|words| html! { <p>{ words }</p> }) }
            </div>
            <p class="detail film-byte" data-testid={props.has_values.then_some("film-byte")}>{ byte }</p>
        </>
    }
}

impl Drawn {
    /// What SRAM held behind a step; nothing if that was not recorded.
    fn content(
        &mut self,
        recording: Option<&ByAddress<Recording>>,
        step: Option<u32>,
    ) -> Option<Rc<[u8]>> {
        if self.recording.as_ref() != recording {
            *self = Self {
                recording: recording.cloned(),
                areas: std::mem::take(&mut self.areas),
                ..Self::default()
            };
        }
        if let Some(known) = self.content.as_ref().filter(|known| known.step == step) {
            return known.bytes.clone();
        }
        let bytes: Option<Rc<[u8]>> = self.replay.to(&recording?.0, step).map(Rc::from);
        self.content = Some(Content { step, bytes: bytes.clone() });
        bytes
    }
}

fn memory_title(film: &Film, number: usize, place: Rect) -> Html {
    let memory = &film.memories[number];
    let place = Rect { top: place.top - TITLE, height: TITLE, ..place };
    html! {
        <p class="film-title" style={style(place)}>
            <strong>{ memory.title() }</strong>{ format!(" {}", figures::binary(memory.bytes)) }
        </p>
    }
}

fn names(areas: &[Area], grid: Grid, place: Rect) -> Html {
    let least = NAME / place.height.max(NAME);
    let name = |(top, area): (f64, &Area)| {
        let at = Rect { top: place.top + top * place.height, height: NAME, ..place };
        html! {
            <span key={area.bytes[0]} class="film-name" aria-hidden="true" style={style(at)}>
                <span>{ &area.name }</span>
            </span>
        }
    };
    html! { <>{ for grid.named(areas, least).map(name) }</> }
}

/// A lane, and what it does.
fn lane_box(shown: &Shown, title: &'static str, act: Option<&Act>, place: Rect) -> Html {
    let (what, more, class) = match act {
        None => (String::new(), "idle".to_owned(), "film-lane"),
        Some(act) => {
            let row = shown.plan.0.memory.rows.get(usize::from(act.slice.layer));
            let name = row.map_or("", |row| short_name(&row.name)).to_owned();
            match act.slice.kind {
                SliceKind::Compute => {
                    let op = row.map_or_else(String::new, |row| kernel_title(&row.op));
                    (name, format!("{op}{}", act.part_words()), "film-lane film-works")
                }
                SliceKind::Copy => {
                    let bytes = figures::binary(act.slice.bytes);
                    (name, format!("moves {bytes}"), "film-lane film-works")
                }
                SliceKind::Stall => (name, "waits".to_owned(), "film-lane film-waits"),
                SliceKind::DriverOverhead => (name, "makes ready".to_owned(), "film-lane"),
            }
        }
    };
    let share = act.filter(|act| act.slice.kind.works()).map_or(0.0, |act| act.share);
    html! {
        <div key={title} {class} style={style(place)} aria-hidden="true">
            <strong>{ title }</strong>
            <span class="film-what">{ what }</span>
            <span class="detail">{ more }</span>
            <span class="film-share"><span style={format!("width:{}%", px(100.0 * share))}></span></span>
        </div>
    }
}

/// Bytes that lanes touch, and what travels between them.
fn flows(film: &Film, acts: &[Act], stage: &Stage, grids: &[Grid]) -> Html {
    let band = |touched: &Touched| {
        stage.memories[touched.memory].part(grids[touched.memory].band(touched.bytes))
    };
    let sram = film.memories.len() - 1;
    let core = stage.lanes.first().copied().unwrap_or_default();
    let act = |act: &Act| {
        let bands = act.touched.iter().map(|touched| {
            let Rect { left, top, width, height } = band(touched);
            let class = if touched.access == Access::Write { "film-write" } else { "film-read" };
            html! {
                <rect {class} x={px(left)} y={px(top)} width={px(width)} height={px(height)} />
            }
        });
        let ways: Vec<Html> = match act.slice.kind {
            SliceKind::Copy => {
                let [mut from, mut to] = [None, None];
                for touched in &act.touched {
                    let end = if touched.access == Access::Write { &mut to } else { &mut from };
                    *end = Some(*touched);
                }
                let fill = |from: Touched| match film.memories[from.memory].space {
                    Space::Weights | Space::Constants | Space::ExternalFlash => "fill-weights",
                    _ => "fill-scratch",
                };
                let ends = from.zip(to);
                ends.map(|(from, to)| {
                    way([band(&from).middle(), band(&to).middle()], act.share, fill(from))
                })
                .into_iter()
                .collect()
            }
            SliceKind::Compute => {
                let reaches = |touched: &Touched| {
                    let own = band(touched).middle();
                    let edge = nearest(core, own);
                    match touched.access {
                        // What is read goes to the core first; what is written leaves it then.
                        Access::Read(held) => {
                            let is_seen = act.share < 0.5;
                            let fill =
                                if held == Held::Weights { "fill-weights" } else { "fill-input" };
                            let is_far = touched.memory != sram || held != Held::Weights;
                            (is_seen && is_far).then(|| way([own, edge], 2.0 * act.share, fill))
                        }
                        Access::Write => (act.share >= 0.5)
                            .then(|| way([edge, own], 2.0 * act.share - 1.0, "fill-output")),
                    }
                };
                act.touched.iter().filter_map(reaches).collect()
            }
            SliceKind::Stall | SliceKind::DriverOverhead => Vec::new(),
        };
        html! { <g>{ for bands }{ for ways }</g> }
    };
    html! {
        <svg class="film-flows" aria-hidden="true" width={px(stage.width)} height={px(stage.height)}
            viewBox={format!("0 0 {} {}", px(stage.width), px(stage.height))}>
            { for acts.iter().map(act) }
        </svg>
    }
}

/// The point of a box's edge or inside that is nearest.
fn nearest(place: Rect, [x, y]: [f64; 2]) -> [f64; 2] {
    [x.clamp(place.left, place.left + place.width), y.clamp(place.top, place.top + place.height)]
}

/// A line, and what travels along it, so far.
fn way([from, to]: [[f64; 2]; 2], share: f64, fill: &'static str) -> Html {
    let at = [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * share);
    html! {
        <>
            <line class="film-way" x1={px(from[0])} y1={px(from[1])} x2={px(to[0])} y2={px(to[1])} />
            <rect class={classes!("film-tile", fill)} x={px(at[0] - TILE / 2.0)} y={px(at[1] - TILE / 2.0)}
                width={px(TILE)} height={px(TILE)} rx="2" />
        </>
    }
}

/// Where the values come from.
fn values_words(recording: Option<&ByAddress<Recording>>, is_known: bool) -> String {
    match recording {
        Some(_) if is_known => {
            "Strength in SRAM: each byte's value behind the core's last step, recorded in the run. \
                                Point at a byte to read it."
                .to_owned()
        }
        Some(ByAddress(recording)) if !recording.borders.is_empty() => format!(
            "The recording ends with the run's step {}: there it ended, or more would take too much memory.",
            recording.borders.len() - 1
        ),
        _ => "Run the plan in this page to see each byte's value.".to_owned(),
    }
}

fn byte_words(memory: &str, at: u64, areas: &[Area], content: Option<&[u8]>) -> String {
    let area = areas.iter().find(|area| (area.bytes[0]..area.bytes[1]).contains(&at));
    let what = area.map_or_else(|| "free".to_owned(), |area| area.name.clone());
    let value = content.and_then(|bytes| bytes.get(at as usize));
    let value = value.map(|value| format!(", value {}", value.cast_signed())).unwrap_or_default();
    format!("{memory}, byte {}: {what}{value}", figures::grouped(at))
}

/// The same value as before if it equals it, so that nothing is painted again.
fn kept<T: PartialEq>(before: Option<&Rc<T>>, now: T) -> Rc<T> {
    before.filter(|before| ***before == now).map_or_else(|| Rc::new(now), Rc::clone)
}

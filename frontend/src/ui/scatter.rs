//! Points of several series, each of which can be pointed at, reached with keys and picked.

use std::rc::Rc;

use tilewright_report::{COLOURS, Point, Scale, Scatter, mark_of, tick_text};
use yew::prelude::*;

use super::chart::{px, use_width};

/// Room around the drawing's field.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 40.0;
/// How large a mark is, and one that is pointed at.
const MARK: f64 = 1.5;
const LIT: f64 = 2.4;
/// Below this width of a drawing every other tick has a text.
const NARROW: f64 = 560.0;

/// A point, by its series and its place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picked {
    pub series: usize,
    pub point: usize,
}

#[derive(PartialEq, Properties)]
pub struct Props {
    pub scatter: Rc<Scatter>,
    /// Points that the axes hold too, if not only its own.
    #[prop_or_default]
    pub span: Option<Rc<Scatter>>,
    /// Points that are marked.
    #[prop_or_default]
    pub marked: Vec<Picked>,
    /// Whether it stands beside others.
    #[prop_or_default]
    pub is_small: bool,
    /// A point was clicked.
    pub on_pick: Callback<Picked>,
}

#[component]
pub fn ScatterChart(props: &Props) -> Html {
    let node = use_node_ref();
    let width = use_width(node.clone(), true);
    let lit = use_state(|| None::<Picked>);
    let said = lit.and_then(|lit| {
        let series = props.scatter.series.get(lit.series)?;
        Some(format!("{}: {}", series.name, words(&props.scatter, series.points.get(lit.point)?)))
    });
    html! {
        <figure class="scatter">
            { keys(&props.scatter) }
            <div ref={node} class="chart">
                if width > 0.0 { { drawing(props, &lit, width) } }
            </div>
            <figcaption class="readout" aria-live="polite">
                { said.unwrap_or_else(|| "Point at a mark to read it.".to_owned()) }
            </figcaption>
        </figure>
    }
}

fn words(scatter: &Scatter, point: &Point) -> String {
    let value = |axis: &str, value| format!("{axis} {}", tick_text(value));
    let (x, y) = (value(&scatter.x.title, point.x), value(&scatter.y.title, point.y));
    format!("{}; {x}; {y}", point.title)
}

/// What colours and forms mean.
fn keys(scatter: &Scatter) -> Html {
    html! {
        <ul class="legend">
            { for scatter.series.iter().enumerate().filter(|(_, series)| !series.points.is_empty())
                .map(|(index, series)| {
                    let [d, transform] = form(index, [7.0, 7.0], MARK);
                    html! {
                        <li key={index}>
                            <svg width="14" height="14" aria-hidden="true">
                                <path class={form_class(index)} {d} {transform} />
                            </svg>
                            { &series.name }
                        </li>
                    }
                }) }
            if !scatter.guide.is_empty() {
                <li>
                    <svg width="20" height="14" aria-hidden="true">
                        <line class="scatter-guide" x1="0" x2="20" y1="7" y2="7" />
                    </svg>
                    { "front: nothing is better on both axes" }
                </li>
            }
        </ul>
    }
}

fn form_class(index: usize) -> String {
    format!("series-{}", index % COLOURS)
}

/// A series' mark, this many times as large as in print.
fn form(index: usize, [x, y]: [f64; 2], times: f64) -> [String; 2] {
    let place = format!("translate({} {}) scale({})", px(x), px(y), px(times));
    [mark_of(index).to_owned(), place]
}

fn drawing(props: &Props, lit: &UseStateHandle<Option<Picked>>, width: f64) -> Html {
    let scatter = &props.scatter;
    let height = if props.is_small || width < NARROW { 280.0 } else { 400.0 };
    let (right, floor) = ((width - RIGHT).max(LEFT + 1.0), height - BOTTOM);
    let span = props.span.as_ref().unwrap_or(scatter);
    let points = || span.series.iter().flat_map(|series| &series.points);
    let x = Scale::new(&scatter.x, points().map(|point| point.x), LEFT, right);
    let y = Scale::new(&scatter.y, points().map(|point| point.y), floor, TOP);
    let every = if width < NARROW { 2 } else { 1 };
    let place = |point: &Point| Some([x.at(point.x)?, y.at(point.y)?]);
    let line = |places: &mut dyn Iterator<Item = [f64; 2]>| {
        let on_drawing = |[right, up]: [f64; 2]| Some([x.at(right)?, y.at(up)?]);
        let places = places.filter_map(on_drawing);
        places.map(|[x, y]| format!("{},{}", px(x), px(y))).collect::<Vec<_>>().join(" ")
    };
    html! {
        <svg role="img" width={px(width)} height={px(height)} aria-label={scatter.title.clone()}
            onmouseleave={let lit = lit.clone(); move |_| lit.set(None)}>
            <g class="axis">
                { for x.ticks().into_iter().enumerate().filter_map(|(index, tick)| {
                    let at = x.at(tick)?;
                    Some(html! {
                        <g key={index}>
                            <line x1={px(at)} x2={px(at)} y1={px(TOP)} y2={px(floor)} />
                            if index % every == 0 {
                                <text x={px(at)} y={px(floor + 16.0)} text-anchor="middle">{ tick_text(tick) }</text>
                            }
                        </g>
                    })
                }) }
                { for y.ticks().into_iter().enumerate().filter_map(|(index, tick)| {
                    let at = y.at(tick)?;
                    Some(html! {
                        <g key={index}>
                            <line x1={px(LEFT)} x2={px(right)} y1={px(at)} y2={px(at)} />
                            if index % every == 0 {
                                <text x={px(LEFT - 6.0)} y={px(at + 4.0)} text-anchor="end">{ tick_text(tick) }</text>
                            }
                        </g>
                    })
                }) }
                <text x={px(right)} y={px(floor + 34.0)} text-anchor="end">{ &scatter.x.title }</text>
                <text x="12" y={px(f64::midpoint(TOP, floor))} text-anchor="middle"
                    transform={format!("rotate(-90 12 {})", px(f64::midpoint(TOP, floor)))}>
                    { &scatter.y.title }
                </text>
            </g>
            <polyline class="scatter-guide" points={line(&mut scatter.guide.iter().copied())} />
            // The first series lies on top where points coincide.
            { for scatter.series.iter().enumerate().rev().map(|(series, of)| html! {
                <g key={series}>
                    if of.is_joined {
                        <polyline class={format!("scatter-line line-{}", series % COLOURS)}
                            points={line(&mut of.points.iter().map(|point| [point.x, point.y]))} />
                    }
                    { for of.points.iter().enumerate().filter_map(|(point, of)| {
                        let picked = Picked { series, point };
                        Some(mark(props, lit, picked, place(of)?, words(scatter, of)))
                    }) }
                </g>
            }) }
        </svg>
    }
}

fn mark(
    props: &Props,
    lit: &UseStateHandle<Option<Picked>>,
    picked: Picked,
    at: [f64; 2],
    label: String,
) -> Html {
    let is_lit = **lit == Some(picked);
    let is_marked = props.marked.contains(&picked);
    let class = classes!(
        form_class(picked.series),
        "scatter-mark",
        is_marked.then_some("scatter-marked"),
        is_lit.then_some("scatter-lit"),
    );
    let size = if is_lit || is_marked { LIT } else { MARK };
    let onmouseenter = {
        let lit = lit.clone();
        Callback::from(move |_: MouseEvent| lit.set(Some(picked)))
    };
    let onclick = props.on_pick.reform(move |_: MouseEvent| picked);
    let [d, transform] = form(picked.series, at, size);
    html! {
        <path key={picked.point} {class} {d} {transform} {onmouseenter} {onclick}>
            <title>{ label }</title>
        </path>
    }
}

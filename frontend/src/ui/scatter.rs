//! Points of several series, each of which can be pointed at, reached with keys and picked.

use std::rc::Rc;

use tilewright_report::{Point, Scale, Scatter, tick_text};
use yew::prelude::*;

use super::chart::{px, use_width};

/// Room around the drawing's field.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 40.0;
/// Half the size of a mark, and of one that is pointed at.
const MARK: f64 = 5.0;
const LIT: f64 = 8.0;
/// Below this width of a drawing every other tick has a text.
const NARROW: f64 = 560.0;
/// Colours and forms that there are.
const FORMS: usize = 6;

/// A point, by its series and its place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picked {
    pub series: usize,
    pub point: usize,
}

#[derive(PartialEq, Properties)]
pub struct Props {
    pub scatter: Rc<Scatter>,
    /// Points that are marked.
    #[prop_or_default]
    pub marked: Vec<Picked>,
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
                .map(|(index, series)| html! {
                    <li key={index}>
                        <svg width="14" height="14" aria-hidden="true">
                            <path class={form_class(index)} d={form(index, [7.0, 7.0], MARK)} />
                        </svg>
                        { &series.name }
                    </li>
                }) }
        </ul>
    }
}

fn form_class(index: usize) -> String {
    format!("series-{}", index % FORMS)
}

/// A series' mark: circle, diamond, square, triangle, triangle on its head, bar.
fn form(index: usize, [x, y]: [f64; 2], size: f64) -> String {
    let at = |dx: f64, dy: f64| format!("{} {}", px(x + dx * size), px(y + dy * size));
    let all = |corners: &[[f64; 2]]| {
        let corners: Vec<String> = corners.iter().map(|[dx, dy]| at(*dx, *dy)).collect();
        format!("M{}Z", corners.join("L"))
    };
    match index % FORMS {
        0 => format!(
            "M{}A{r} {r} 0 1 1 {}A{r} {r} 0 1 1 {}Z",
            at(-1.0, 0.0),
            at(1.0, 0.0),
            at(-1.0, 0.0),
            r = px(size)
        ),
        1 => all(&[[-1.2, 0.0], [0.0, -1.2], [1.2, 0.0], [0.0, 1.2]]),
        2 => all(&[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]]),
        3 => all(&[[-1.1, 0.9], [0.0, -1.1], [1.1, 0.9]]),
        4 => all(&[[-1.1, -0.9], [1.1, -0.9], [0.0, 1.1]]),
        _ => all(&[[-1.2, -0.4], [1.2, -0.4], [1.2, 0.4], [-1.2, 0.4]]),
    }
}

fn drawing(props: &Props, lit: &UseStateHandle<Option<Picked>>, width: f64) -> Html {
    let scatter = &props.scatter;
    let height = if width < NARROW { 280.0 } else { 380.0 };
    let (right, floor) = ((width - RIGHT).max(LEFT + 1.0), height - BOTTOM);
    let points = || scatter.series.iter().flat_map(|series| &series.points);
    let x = Scale::new(&scatter.x, points().map(|point| point.x), LEFT, right);
    let y = Scale::new(&scatter.y, points().map(|point| point.y), floor, TOP);
    let every = if width < NARROW { 2 } else { 1 };
    let place = |point: &Point| Some([x.at(point.x)?, y.at(point.y)?]);
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
            { for scatter.series.iter().enumerate().map(|(series, of)| html! {
                <g key={series}>
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
    html! {
        <path key={picked.point} {class} d={form(picked.series, at, size)} {onmouseenter} {onclick}>
            <title>{ label }</title>
        </path>
    }
}

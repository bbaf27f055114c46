//! What fits a small board, drawn: a matrix, flash against SRAM, latencies, and the paper's sentences.

use std::rc::Rc;

use tilewright_report::{Family, FitReport, Kind, Technique};
use yew::prelude::*;

use super::chart::px;
use super::modal::use_modal;
use super::parts::{kind_tag, trouble_box};
use crate::state::{Event, Fit, Place};
use crate::view_model::what_fits::{Mark, Row, View, view};
use tilewright_report::Diagnostic;

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 8.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 18.0;
const BOTTOM: f64 = 22.0;
const MARK: f64 = 5.0;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub fit: Fit,
    /// What it does now, while it is under way.
    pub doing: Option<String>,
    pub trouble: Option<Diagnostic>,
    pub on: Callback<Event>,
}

#[component]
pub fn FitDialog(props: &Props) -> Html {
    let node = use_modal(props.fit.is_open);
    let family = use_state(|| Family::V1);
    let close = props.on.reform(|_: MouseEvent| Event::ShowFit(false));
    html! {
        <dialog ref={node} class="zoo fit" aria-labelledby="fit-heading" data-testid="fit"
            onclose={props.on.reform(|_: yew::Event| Event::ShowFit(false))}>
            if props.fit.is_open {
                <div class="zoo-body">
                    <header class="zoo-head">
                        <h2 id="fit-heading">{ "What fits a small board?" }</h2>
                        <button type="button" class="quiet" data-testid="fit-close" onclick={close}>{ "Close" }</button>
                    </header>
                    if let Some(trouble) = &props.trouble {
                        { trouble_box(trouble, Place::Fit, "", &props.on) }
                    }
                    { match (&props.fit.report, &props.doing) {
                        (Some(report), _) => found(report, &family),
                        (None, Some(doing)) => html! { <p class="waiting">{ format!("{doing}…") }</p> },
                        (None, None) => html! {
                            <button type="button" class="button"
                                onclick={props.on.reform(|_| Event::ShowFit(true))}>{ "Plan them again" }</button>
                        },
                    } }
                </div>
            }
        </dialog>
    }
}

fn found(report: &Rc<FitReport>, family: &UseStateHandle<Family>) -> Html {
    let shown = view(report, **family);
    let [sram, flash] = &shown.limit_words;
    html! {
        <div class="fit-found">
            <p class="muted detail">
                { format!("Twelve MobileNets on a NUCLEO-F767ZI with {sram} of SRAM and {flash} of flash, as Cipolletta and \
                   Calimera planned them: dense, with four of five weights pruned (sparse), with the layers of most memory \
                   in 2x2 tiles, with both, and as auto plans the sparse network. Accuracy is the dense network's, as \
                   published. The command line prints the same: ") }
                <code>{ "tilewright explore fit" }</code>
            </p>
            <div class="fit-families" role="group" aria-label="Networks">
                { for [Family::V1, Family::V2].into_iter().map(|one| {
                    let choose = family.clone();
                    html! {
                        <button type="button" class={classes!("button", (**family == one).then_some("primary"))}
                            aria-pressed={(**family == one).to_string()} data-testid={format!("fit-{}", one.name())}
                            onclick={Callback::from(move |_: MouseEvent| choose.set(one))}>{ one.name() }</button>
                    }
                }) }
                <span class="fit-legend">{ for Technique::ALL.into_iter().map(legend) }</span>
            </div>
            { matrix(&shown) }
            <div class="fit-charts">
                { scatter(&shown) }
                { bars(&shown) }
            </div>
            { claims(report) }
        </div>
    }
}

fn legend(technique: Technique) -> Html {
    html! {
        <span class="fit-key">
            <svg width="14" height="14" aria-hidden="true">{ symbol(technique, [7.0, 7.0], true, "") }</svg>
            { technique.name() }
        </span>
    }
}

fn matrix(view: &View) -> Html {
    let cell = |mark: &Mark| {
        let fits = mark.lacks.is_empty();
        let class = classes!("number", if fits { "fit-yes" } else { "fit-no" });
        let says = if fits { "fits".to_owned() } else { format!("no {}", mark.lacks) };
        html! { <td {class} title={mark.title.clone()}>{ &mark.latency }<span class="muted detail">{ says }</span></td> }
    };
    let row = |row: &Row| {
        html! {
            <tr key={row.title.clone()}>
                <th scope="row">{ &row.title }<span class="muted detail">{ &row.accuracy }</span></th>
                { for row.cells.iter().map(cell) }
            </tr>
        }
    };
    html! {
        <div class="table-scroll">
            <table class="fit-matrix" data-testid="fit-matrix">
                <thead>
                    <tr>
                        <th scope="col">{ "Network, top-1" }</th>
                        { for Technique::ALL.into_iter().map(|technique| html! {
                            <th scope="col" class="number">{ technique.name() }</th>
                        }) }
                    </tr>
                </thead>
                <tbody>{ for view.rows.iter().map(row) }</tbody>
            </table>
            <p class="muted detail">{ "Latency " }{ kind_tag(Kind::Modelled) }{ "; SRAM and flash " }{ kind_tag(Kind::Counted) }</p>
        </div>
    }
}

/// A technique's mark: its shape tells it from others where colours do not.
fn symbol(technique: Technique, [x, y]: [f64; 2], fits: bool, title: &str) -> Html {
    let class = classes!("fit-mark", technique.name(), (!fits).then_some("outside"));
    let diamond = |size: f64| {
        format!(
            "{},{} {},{} {},{} {},{}",
            px(x),
            px(y - size),
            px(x + size),
            px(y),
            px(x),
            px(y + size),
            px(x - size),
            px(y)
        )
    };
    let inner = html! { <title>{ title.to_owned() }</title> };
    match technique {
        Technique::Dense | Technique::Sparse => html! {
            <circle {class} cx={px(x)} cy={px(y)} r={px(MARK)}>{ inner }</circle>
        },
        Technique::Tiled | Technique::SparseTiled => html! {
            <polygon {class} points={diamond(MARK + 1.0)}>{ inner }</polygon>
        },
        Technique::Auto => html! {
            <rect {class} x={px(x - MARK)} y={px(y - MARK)} width={px(2.0 * MARK)} height={px(2.0 * MARK)}>{ inner }</rect>
        },
    }
}

fn scatter(view: &View) -> Html {
    let place = |[sram, flash]: [f64; 2]| {
        [LEFT + (WIDTH - LEFT - RIGHT) * sram, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * flash]
    };
    let [edge, top] = place(view.limits);
    let floor = HEIGHT - BOTTOM;
    let marks = view.rows.iter().flat_map(|row| &row.cells);
    html! {
        <figure>
            <figcaption>{ "Flash against SRAM; what is shaded fits" }</figcaption>
            <svg class="fit-chart" viewBox={format!("0 0 {WIDTH} {HEIGHT}")} role="img" data-testid="fit-scatter"
                aria-label="Flash against SRAM of each network with each technique; the table has the figures">
                <rect class="fit-region" x={px(LEFT)} y={px(top)} width={px(edge - LEFT)} height={px(floor - top)} />
                <path class="axis" d={format!("M{} {}V{}H{}", px(LEFT), px(TOP), px(floor), px(WIDTH - RIGHT))} />
                <text class="axis-text" x={px(LEFT + 4.0)} y={px(TOP - 6.0)}>{ format!("flash, to {}", view.ends[1]) }</text>
                <text class="axis-text" text-anchor="end" x={px(WIDTH - RIGHT)} y={px(HEIGHT - 6.0)}>
                    { format!("SRAM, to {}", view.ends[0]) }
                </text>
                { for marks.map(|mark| symbol(mark.technique, place(mark.place), mark.lacks.is_empty(), &mark.title)) }
            </svg>
        </figure>
    }
}

fn bars(view: &View) -> Html {
    let zero = TOP + (HEIGHT - TOP - BOTTOM) / 2.0;
    let half = (HEIGHT - TOP - BOTTOM) / 2.0;
    let group = (WIDTH - LEFT - RIGHT) / view.rows.len().max(1) as f64;
    let bar = group / (Technique::ALL.len() as f64 + 1.0);
    // The least accurate network is on the left.
    let rows = view.rows.iter().rev().enumerate();
    let of_row = |(number, row): (usize, &Row)| {
        let start = LEFT + group * number as f64;
        let marks = row.cells.iter().enumerate().map(|(at, mark)| {
            let height = half * mark.bar.abs();
            let y = if mark.bar < 0.0 { zero } else { zero - height };
            let class = classes!("fit-mark", mark.technique.name(), (mark.bar < 0.0).then_some("outside"));
            html! {
                <rect {class} x={px(start + bar * (at as f64 + 0.5))} y={px(y)} width={px(bar * 0.8)}
                    height={px(height)}><title>{ mark.title.clone() }</title></rect>
            }
        });
        let size = row.title.split(' ').next_back().unwrap_or_default().to_owned();
        html! {
            <g key={row.title.clone()}>
                { for marks }
                <text class="axis-text" text-anchor="middle" x={px(start + group / 2.0)} y={px(HEIGHT - 6.0)}>{ size }</text>
            </g>
        }
    };
    html! {
        <figure>
            <figcaption>{ "Latency; below the line does not fit" }</figcaption>
            <svg class="fit-chart" viewBox={format!("0 0 {WIDTH} {HEIGHT}")} role="img" data-testid="fit-bars"
                aria-label="Latency of each network with each technique; the table has the figures">
                { for rows.map(of_row) }
                <path class="axis" d={format!("M{} {}H{}", px(LEFT), px(zero), px(WIDTH - RIGHT))} />
            </svg>
        </figure>
    }
}

fn claims(report: &FitReport) -> Html {
    let word = |holds: bool| {
        html! { <td class={if holds { "fit-yes" } else { "fit-no" }}>{ if holds { "yes" } else { "no" } }</td> }
    };
    html! {
        <div class="table-scroll">
            <table class="fit-claims" data-testid="fit-claims">
                <thead>
                    <tr>
                        <th scope="col">{ "The paper says" }</th>
                        <th scope="col">{ "its count" }</th>
                        <th scope="col">{ "our plans" }</th>
                        <th scope="col">{ "found in our plans" }</th>
                    </tr>
                </thead>
                <tbody>
                    { for report.claims.iter().map(|claim| html! {
                        <tr key={claim.claim.clone()}>
                            <th scope="row">{ &claim.claim }</th>
                            { word(claim.as_published) }
                            { word(claim.as_planned) }
                            <td>{ &claim.found }</td>
                        </tr>
                    }) }
                </tbody>
            </table>
        </div>
    }
}

//! Papers' figures beside ours: a page for each paper.

use std::rc::Rc;

use tilewright_report::Diagnostic;
use yew::prelude::*;

use super::chart::px;
use super::modal::use_modal;
use super::parts::{kind_tag, trouble_box};
use super::scatter::ScatterChart;
use crate::state::{Event, PaperSoFar, Papers, Place};
use crate::view_model::papers::{Row, Table, tables};

/// Of the bar that shows a difference, in pixels.
const WIDTH: f64 = 64.0;
const HEIGHT: f64 = 12.0;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub papers: Papers,
    /// What is done now, while it is under way.
    pub doing: Option<String>,
    pub trouble: Option<Diagnostic>,
    pub on: Callback<Event>,
}

#[component]
pub fn PapersDialog(props: &Props) -> Html {
    let Props { papers, on, .. } = props;
    let node = use_modal(papers.is_open);
    html! {
        <dialog ref={node} class="zoo fit" aria-labelledby="papers-heading" data-testid="papers"
            onclose={on.reform(|_: yew::Event| Event::ShowPapers(false))}>
            if papers.is_open {
                <div class="zoo-body">
                    <header class="zoo-head">
                        <h2 id="papers-heading">{ "Five papers, computed again" }</h2>
                        <button type="button" class="quiet" data-testid="papers-close"
                            onclick={on.reform(|_| Event::ShowPapers(false))}>{ "Close" }</button>
                    </header>
                    if let Some(trouble) = &props.trouble {
                        { trouble_box(trouble, Place::Papers, "", on) }
                    }
                    <div class="fit-families" role="group" aria-label="Papers">
                        { for papers.all.iter().enumerate().map(|(index, paper)| {
                            let is_shown = index == papers.shown;
                            html! {
                                <button type="button" class={classes!("button", is_shown.then_some("primary"))}
                                    aria-pressed={is_shown.to_string()} data-testid={format!("paper-{}", paper.report.id)}
                                    onclick={on.reform(move |_| Event::ShowPaper(index))}>{ &paper.report.name }</button>
                            }
                        }) }
                    </div>
                    { match papers.all.get(papers.shown) {
                        Some(paper) => html! { <PaperPage paper={paper.clone()} doing={props.doing.clone()} on={on.clone()} /> },
                        None => html! { <p class="waiting">{ "Looking up papers…" }</p> },
                    } }
                </div>
            }
        </dialog>
    }
}

#[derive(PartialEq, Properties)]
struct PageProps {
    paper: PaperSoFar,
    doing: Option<String>,
    on: Callback<Event>,
}

#[component]
fn PaperPage(props: &PageProps) -> Html {
    let PaperSoFar { report, done } = &props.paper;
    let beside = report.figures.iter().filter(|row| row.printed.is_some()).count();
    let off = report.figures.iter().filter(|row| row.why.is_some()).count();
    html! {
        <div class="fit-found" key={report.id.clone()}>
            <p><cite>{ &report.citation }</cite></p>
            <p class="muted detail">{ &report.reading }</p>
            <p class="muted detail">
                { format!("{beside} printed figures, {off} of them more than 10 % off, each with its reason. The command \
                   line prints the same: ") }
                <code>{ format!("tilewright papers {}", report.id) }</code>
            </p>
            { for tables(&report.figures).iter().map(table) }
            { match (&props.doing, props.paper.is_whole()) {
                (_, true) => html! {},
                (Some(doing), false) => html! { <p class="waiting" data-testid="papers-waiting">{ format!("{doing}…") }</p> },
                (None, false) => html! {
                    <button type="button" class="button" onclick={props.on.reform(|_| Event::ShowPapers(true))}>
                        { format!("Go on: {done} of {} parts are computed", report.parts) }
                    </button>
                },
            } }
        </div>
    }
}

fn table(table: &Table) -> Html {
    let has_plans = table.rows.iter().any(|row| row.plan.is_some());
    html! {
        <section key={table.what.clone()} class="table-scroll">
            <table class="fit-matrix paper-figures" data-testid="paper-figures">
                <caption>{ &table.what }{ " " }{ kind_tag(table.kind) }</caption>
                <thead>
                    <tr>
                        <th scope="col">{ "Network" }</th>
                        <th scope="col">{ "Setting" }</th>
                        <th scope="col" class="number">{ "Ours" }</th>
                        <th scope="col" class="number">{ "Printed" }</th>
                        <th scope="col" class="number">{ "Difference" }</th>
                        <th scope="col" class="paper-drawn" aria-label="Difference, drawn"></th>
                        if has_plans { <th scope="col">{ "Plan" }</th> }
                    </tr>
                </thead>
                <tbody>{ for table.rows.iter().enumerate().map(row) }</tbody>
            </table>
            if let Some(curves) = &table.curves {
                <ScatterChart scatter={Rc::clone(curves)} on_pick={Callback::noop()} />
            }
            if !table.reasons.is_empty() {
                <ol class="muted detail paper-reasons">
                    { for table.reasons.iter().map(|reason| html! { <li>{ reason }</li> }) }
                </ol>
            }
        </section>
    }
}

fn row((index, row): (usize, &Row)) -> Html {
    let reason = row.reason.map(|number| format!("reason {number}"));
    html! {
        <tr key={index}>
            <th scope="row">{ &row.of }</th>
            <td>{ &row.setting }</td>
            <td class="number">{ &row.ours }</td>
            <td class="number">{ &row.printed }</td>
            <td class="number">
                { &row.difference }
                if let Some(reason) = reason { <span class="muted detail">{ reason }</span> }
            </td>
            <td class="paper-drawn">{ row.bar.map(bar) }</td>
            if let Some((link, command)) = &row.plan {
                <td><a href={link.clone()} target="_blank" title={command.clone()}>{ "open" }</a></td>
            }
        </tr>
    }
}

/// A difference, from half of the printed figure less to half of it more.
fn bar(off: f64) -> Html {
    let middle = WIDTH / 2.0;
    let end = middle * (1.0 + off);
    html! {
        <svg class="paper-bar" width={px(WIDTH)} height={px(HEIGHT)} aria-hidden="true">
            <path class="axis" d={format!("M{} 0V{}", px(middle), px(HEIGHT))} />
            <rect x={px(middle.min(end))} y="3" width={px((end - middle).abs())} height={px(HEIGHT - 6.0)} />
        </svg>
    }
}

//! Many plans at once: charts on axes of choice, what fits, and some of them side by side.

use std::rc::Rc;

use tilewright_board::Board;
use tilewright_report::{Diagnostic, SweepKey, SweepRow, csv_table, sweep_columns};
use yew::prelude::*;

use super::explore_beside::{ExploreBeside, Opened};
use super::explore_choices::ExploreChoices;
use super::icon::{Glyph, icon};
use super::panel::Panel;
use super::parts::trouble_box;
use super::save::{save_buttons, save_text};
use super::scatter::{Picked, ScatterChart};
use crate::message::ZooView;
use crate::state::{
    Doer, Event, Explore, ExploreEvent, ExploreSpec, MOST_PLANS, Place, Shows, View,
};
use crate::view_model::explore::{Chart, Matrix, charts, matrix};
use crate::view_model::figures;

/// Most plans side by side.
const MOST_COLUMNS: usize = 32;

#[derive(PartialEq, Properties)]
pub struct Props {
    pub explore: Explore,
    pub boards: Rc<Vec<Board>>,
    pub strategies: Rc<Vec<String>>,
    /// Networks of the zoo, once they are known.
    pub zoo: Option<Rc<Vec<ZooView>>>,
    /// The open model.
    pub open: Option<Opened>,
    /// What is done, while plans are made.
    pub doing: Option<String>,
    pub trouble: Option<Diagnostic>,
    pub on: Callback<Event>,
}

#[component]
pub fn ExplorePanel(props: &Props) -> Html {
    let drawing = use_node_ref();
    let Some(spec) = props.explore.spec.clone() else {
        return html! { <p class="waiting">{ "Looking up boards…" }</p> };
    };
    let rows = Rc::clone(&props.explore.rows);
    let open = props.open.as_ref().map(|open| open.name.as_str());
    let shown: Vec<Rc<SweepRow>> = match spec.shows {
        Shows::Columns => rows.iter().take(MOST_COLUMNS).cloned().collect(),
        Shows::Chart | Shows::Matrix => props.explore.looked_at(),
    };
    let actions = actions(props, &spec, &rows, &drawing);
    html! {
        <Panel view={View::Explore} is_maximised={true} on={props.on.clone()} {actions}>
            <ExploreChoices spec={Rc::clone(&spec)} boards={Rc::clone(&props.boards)}
                strategies={Rc::clone(&props.strategies)} zoo={props.zoo.clone()}
                open={props.open.as_ref().map(|open| open.name.clone())} on={props.on.clone()} />
            { begin(props, &spec, rows.len()) }
            if let Some(trouble) = &props.trouble {
                { trouble_box(trouble, Place::Explore, "", &props.on) }
            }
            <div ref={drawing}>
                { match spec.shows {
                    Shows::Chart => chart_part(props, &spec, &rows),
                    Shows::Matrix => matrix_part(&matrix(&spec, &rows), &props.on),
                    Shows::Columns => html! {
                        if rows.len() > MOST_COLUMNS {
                            <p class="muted detail">{ format!("The first {MOST_COLUMNS} of {} plans.", rows.len()) }</p>
                        }
                    },
                } }
            </div>
            <ExploreBeside {shown} explore={props.explore.clone()} open={props.open.clone()} on={props.on.clone()} />
            <details class="explore-command">
                <summary>{ "The command that makes the same" }</summary>
                <code data-testid="explore-command">{ spec.command(open) }</code>
            </details>
        </Panel>
    }
}

fn actions(
    props: &Props,
    spec: &Rc<ExploreSpec>,
    rows: &Rc<Vec<Rc<SweepRow>>>,
    drawing: &NodeRef,
) -> Html {
    let on_csv = {
        let rows = Rc::clone(rows);
        Callback::from(move |_: MouseEvent| {
            save_text("plans.csv", &csv_table(&sweep_columns(), &rows), "text/csv");
        })
    };
    let on_svg = {
        let (rows, spec) = (Rc::clone(rows), Rc::clone(spec));
        let open = props.open.as_ref().map(|open| open.name.clone());
        Callback::from(move |_: MouseEvent| {
            let scatter = spec.chart.scatter(&rows, spec.command(open.as_deref()));
            save_text("plans.svg", &scatter.svg(), "image/svg+xml");
        })
    };
    let has_one_chart = spec.shows == Shows::Chart && spec.apart.is_none();
    html! {
        <>
            if has_one_chart { { save_buttons(drawing, "plans-as-shown", "explore", &props.on) } }
            <button type="button" class="quiet" onclick={on_svg} data-testid="explore-svg"
                title="Save a picture for print, with the command that makes it">
                { icon(Glyph::Save) }{ "SVG with command" }
            </button>
            <button type="button" class="quiet" onclick={on_csv} data-testid="explore-csv"
                title="Save all rows as CSV">
                { icon(Glyph::Save) }{ "CSV" }
            </button>
        </>
    }
}

/// How many plans there are, and a button for those that are not made yet.
fn begin(props: &Props, spec: &ExploreSpec, known: usize) -> Html {
    let count = spec.count();
    let fitting = props.explore.rows.iter().filter(|row| row.latency_us().is_some()).count();
    if count > MOST_PLANS {
        return html! {
            <p class="note" data-testid="explore-many">
                { format!("These are {} plans. The page makes at most {}: choose fewer, or use the command below.",
                    figures::grouped(count as u64), figures::grouped(MOST_PLANS as u64)) }
            </p>
        };
    }
    let all = figures::grouped(count as u64);
    let words = match (&props.doing, known) {
        (Some(doing), _) => doing.clone(),
        (None, _) if count == 0 => {
            "Choose at least one model, one board and one strategy.".to_owned()
        }
        (None, 0) => format!("{all} plans to make."),
        (None, known) if known < count => {
            format!("{known} of {all} plans are made, {fitting} fit.")
        }
        (None, _) => format!("{all} plans, {fitting} fit."),
    };
    let on = |event: fn() -> Event| props.on.reform(move |_: MouseEvent| event());
    html! {
        <div class="cells-buttons">
            if props.doing.is_some() {
                <button type="button" class="button" data-testid="explore-stop"
                    onclick={on(|| Event::Stop(Doer::Sweeper))}>{ icon(Glyph::Stop) }{ "Stop" }</button>
            } else if known < count {
                <button type="button" class="button primary" data-testid="explore-begin"
                    onclick={on(|| Event::Explore(ExploreEvent::Begin))}>
                    { format!("Make {} plans", figures::grouped((count - known) as u64)) }
                </button>
            }
            <span data-testid="explore-count">{ words }</span>
        </div>
    }
}

fn chart_part(props: &Props, spec: &ExploreSpec, rows: &[Rc<SweepRow>]) -> Html {
    let charts = charts(spec, rows, String::new());
    if charts.span.series.is_empty() {
        let why = match rows.is_empty() {
            true => "No plan is made yet.",
            false => {
                "Of these plans none has both figures: they do not fit, or nothing was asked for of what an axis shows. \
                 What fits says why."
            }
        };
        return html! { <p class="waiting" data-testid="explore-empty">{ why }</p> };
    }
    let is_small = charts.all.len() > 1;
    let class = if is_small { "explore-charts explore-multiples" } else { "explore-charts" };
    html! {
        <div {class} data-testid="explore-charts">
            { for charts.all.iter().map(|chart| {
                let marked = marked(chart, |place| props.explore.is_marked(&rows[place].key));
                html! {
                    <section key={chart.title.clone()}>
                        if is_small || !chart.title.is_empty() { <h3>{ &chart.title }</h3> }
                        <ScatterChart scatter={Rc::clone(&chart.scatter)} span={Rc::clone(&charts.span)} {marked}
                            {is_small} on_pick={on_pick(chart, rows, &props.on)} />
                    </section>
                }
            }) }
        </div>
    }
}

fn marked(chart: &Chart, is_marked: impl Fn(usize) -> bool) -> Vec<Picked> {
    let of = |(series, places): (usize, &Vec<usize>)| {
        let points = places.iter().enumerate().filter(|(_, place)| is_marked(**place));
        points.map(move |(point, _)| Picked { series, point }).collect::<Vec<_>>()
    };
    chart.places.iter().enumerate().flat_map(of).collect()
}

fn on_pick(chart: &Chart, rows: &[Rc<SweepRow>], on: &Callback<Event>) -> Callback<Picked> {
    let key = |place: &usize| rows[*place].key.clone();
    let keys: Vec<Vec<SweepKey>> =
        chart.places.iter().map(|places| places.iter().map(key).collect()).collect();
    let on = on.clone();
    Callback::from(move |Picked { series, point }| {
        let key = keys.get(series).and_then(|keys| keys.get(point)).cloned();
        if let Some(key) = key {
            on.emit(Event::Explore(ExploreEvent::Pick(key)));
        }
    })
}

fn matrix_part(matrix: &Matrix, on: &Callback<Event>) -> Html {
    let pick = |key: &SweepKey| {
        let key = key.clone();
        on.reform(move |_: MouseEvent| Event::Explore(ExploreEvent::Pick(key.clone())))
    };
    html! {
        <div class="table-scroll" tabindex="0" role="group" aria-label="What fits">
            <table class="explore-matrix" data-testid="fit-matrix">
                <thead>
                    <tr>
                        <th scope="col" rowspan="2">{ "Model" }</th>
                        { for matrix.boards.iter().map(|(board, strategies)| html! {
                            <th key={board.clone()} scope="colgroup" colspan={strategies.len().to_string()}>{ board }</th>
                        }) }
                    </tr>
                    <tr>
                        { for matrix.boards.iter().map(|(board, strategies)| html! {
                            { for strategies.iter().map(|strategy| html! {
                                <th key={format!("{board} {strategy}")} scope="col">{ strategy }</th>
                            }) }
                        }) }
                    </tr>
                </thead>
                <tbody>
                    { for matrix.rows.iter().map(|row| html! {
                        <tr key={row.title.clone()}>
                            <th scope="row">{ &row.title }</th>
                            { for row.cells.iter().enumerate().map(|(index, cell)| match cell {
                                Some(cell) => html! {
                                    <td key={index} class={if cell.is_fitting { "fits" } else { "fits-not" }}>
                                        <button type="button" class="quiet" onclick={pick(&cell.key)}
                                            title={if cell.is_fitting { cell.key.words() } else { cell.why.clone() }}>
                                            if !cell.is_fitting { <span class="visually-hidden">{ "does not fit " }</span> }
                                            { &cell.text }
                                        </button>
                                    </td>
                                },
                                None => html! { <td key={index} class="muted">{ "…" }</td> },
                            }) }
                        </tr>
                    }) }
                </tbody>
            </table>
        </div>
    }
}

//! Strategies as columns: a click chooses one.

use std::rc::Rc;

use tilewright_report::SweepBy;
use yew::prelude::*;

use super::icon::{Glyph, icon};
use super::panel::Panel;
use super::parts::kind_tag;
use super::save::save_text;
use super::strategies::gallery;
use crate::message::PlanSettings;
use crate::state::{Event, ExploreEvent, Plans, View};
use crate::view_model::compare::{self, Cell, Column, ColumnPlan, Row};

#[derive(PartialEq, Properties)]
pub struct Props {
    pub model: AttrValue,
    pub strategies: Rc<Vec<String>>,
    pub settings: PlanSettings,
    pub plans: Plans,
    pub is_maximised: bool,
    pub on: Callback<Event>,
}

#[component]
pub fn ComparePanel(props: &Props) -> Html {
    let columns = compare::columns(&props.strategies, &props.settings, &props.plans);
    let rows = compare::rows(&columns);
    let on_csv = {
        let (text, name) = (compare::csv(&columns), format!("{}-strategies.csv", props.model));
        Callback::from(move |_: MouseEvent| save_text(&name, &text, "text/csv"))
    };
    let actions = html! {
        <button type="button" class="quiet" onclick={on_csv} title="Save the figures as CSV">
            { icon(Glyph::Save) }{ "CSV" }
        </button>
    };
    html! {
        <Panel view={View::Compare} is_maximised={props.is_maximised} on={props.on.clone()} {actions}>
            { gallery(&columns, &props.on) }
            <div class="table-scroll" tabindex="0" role="group" aria-label="Table of strategies">
                <table class="strategies" data-testid="strategies">
                    <thead><tr>
                        <th scope="col">{ "Strategy" }</th>
                        { for columns.iter().map(|column| head(column, &props.on)) }
                    </tr></thead>
                    <tbody>{ for rows.iter().map(|row| figure_row(row, &columns)) }</tbody>
                </table>
            </div>
            { others(&props.on) }
            <p class="muted detail">
                { "★ best of the row among the strategies that fit and run. Strategy auto looks for the fastest, but \
                   does not always find it: this row says which is. Choose a strategy to see it everywhere." }
            </p>
        </Panel>
    }
}

/// What else this plan can be compared with.
fn others(on: &Callback<Event>) -> Html {
    let button = |beside: SweepBy, words: &'static str| {
        html! {
            <button type="button" class="button" data-testid={format!("compare-{}", beside.id())}
                onclick={on.reform(move |_| Event::Explore(ExploreEvent::Around(beside)))}>{ words }</button>
        }
    };
    html! {
        <div class="cells-buttons" role="group" aria-label="Compare with others">
            { button(SweepBy::Board, "Boards as columns") }
            { button(SweepBy::Budget, "SRAM budgets as columns") }
            { button(SweepBy::Model, "Models as columns") }
            { button(SweepBy::Strategy, "Strategies as a chart") }
        </div>
    }
}

fn head(column: &Column, on: &Callback<Event>) -> Html {
    let settings = column.settings.clone();
    let onclick = on.reform(move |_| Event::Settings(settings.clone(), false));
    let state = match &column.plan {
        ColumnPlan::Pending | ColumnPlan::Old(_) => "waits to be planned",
        ColumnPlan::Planned(plan) if plan.report.fits && plan.report.runnable => "fits",
        ColumnPlan::Planned(plan) if plan.report.fits || plan.report.no_program().is_some() => {
            "cannot run"
        }
        ColumnPlan::Planned(_) => "does not fit",
        ColumnPlan::None(_) => "not for this model",
    };
    let name = &column.strategy;
    html! {
        <th key={name.clone()} scope="col" class={classes!("number", column.is_chosen.then_some("chosen"))}>
            <button type="button" class="strategy" aria-pressed={column.is_chosen.to_string()}
                data-testid={format!("strategy-{name}")} {onclick}>
                { name }
            </button>
            <span class="detail strategy-state">{ state }</span>
        </th>
    }
}

fn figure_row(row: &Row, columns: &[Column]) -> Html {
    html! {
        <tr key={row.key} data-testid={format!("row-{}", row.key)}>
            <th scope="row">{ row.title }{ kind_tag(row.kind) }</th>
            { for row.cells.iter().zip(columns).map(|(cell, column)| figure_cell(cell.as_ref(), column)) }
        </tr>
    }
}

fn figure_cell(cell: Option<&Cell>, column: &Column) -> Html {
    let is_best = cell.is_some_and(|cell| cell.is_best);
    let class = classes!(
        "number",
        column.is_chosen.then_some("chosen"),
        is_best.then_some("best"),
        matches!(column.plan, ColumnPlan::Old(_)).then_some("old")
    );
    html! {
        <td key={column.strategy.clone()} {class}>
            if let Some(cell) = cell {
                if is_best {
                    <span aria-hidden="true">{ "★ " }</span>
                    <span class="visually-hidden">{ "best: " }</span>
                }
                { &cell.text }
                if !cell.exact.is_empty() { <span class="muted exact">{ &cell.exact }</span> }
            } else {
                <span class="muted">
                    { if matches!(column.plan, ColumnPlan::Pending) { "…" } else { "–" } }
                </span>
            }
        </td>
    }
}

//! The table of operators.

use std::rc::Rc;

use tilewright_report::{Kind, LayerCount, short_name};
use yew::prelude::*;

use super::icon::{Glyph, icon};
use super::panel::Panel;
use super::parts::kind_tag;
use super::save::save_text;
use crate::message::PlanFacts;
use crate::state::{Event, Selection, View};
use crate::view_model::figures;
use crate::view_model::layers::{Column, Row, Sort, csv, rows};

#[derive(PartialEq, Properties)]
pub struct Props {
    pub plan: Rc<PlanFacts>,
    /// Counts of the last run of this plan.
    pub counts: Option<Rc<Vec<LayerCount>>>,
    pub sort: Sort,
    pub filter: AttrValue,
    pub lit: Selection,
    pub is_stale: bool,
    pub is_maximised: bool,
    pub on: Callback<Event>,
}

struct Head {
    column: Column,
    title: &'static str,
    unit: &'static str,
    kind: Option<Kind>,
    is_number: bool,
}

const fn text(column: Column, title: &'static str) -> Head {
    Head { column, title, unit: "", kind: None, is_number: false }
}

const fn number(column: Column, title: &'static str, kind: Kind) -> Head {
    Head { column, title, unit: "", kind: Some(kind), is_number: true }
}

fn heads(has_counts: bool) -> Vec<Head> {
    let mut heads = vec![
        text(Column::Position, "#"),
        text(Column::Name, "Operator"),
        text(Column::Op, "Kernel"),
        Head { is_number: true, ..text(Column::Output, "Input → output") },
        number(Column::Macs, "MACs", Kind::Counted),
        number(Column::Parameters, "Parameters", Kind::Counted),
        number(Column::Predicted, "Cycles", Kind::Modelled),
        number(Column::Time, "Time", Kind::Modelled),
    ];
    if has_counts {
        heads.push(number(Column::Counted, "Instructions", Kind::Counted));
        heads.push(Head { unit: "of cycles", ..text(Column::Deviation, "Deviation") });
    }
    heads
}

#[component]
pub fn LayersPanel(props: &Props) -> Html {
    let counts = props.counts.as_ref().map(|counts| counts.as_slice());
    let rows = rows(&props.plan, counts, props.sort, &props.filter);
    let heads = heads(counts.is_some());
    let on_filter = {
        let on = props.on.clone();
        Callback::from(move |event: InputEvent| {
            let input: Option<web_sys::HtmlInputElement> = event.target_dyn_into();
            on.emit(Event::Filter(input.map(|input| input.value()).unwrap_or_default()));
        })
    };
    let on_csv = {
        let (plan, counts) = (Rc::clone(&props.plan), props.counts.clone());
        Callback::from(move |_| {
            let text = csv(&plan, counts.as_ref().map(|counts| counts.as_slice()));
            save_text(&format!("{}-layers.csv", plan.report.model), &text, "text/csv");
        })
    };
    let actions = html! {
        <>
            <input type="search" class="filter" placeholder="Filter" aria-label="Filter operators"
                data-testid="layer-filter" value={props.filter.clone()} oninput={on_filter} />
            <button type="button" class="quiet" onclick={on_csv} title="Save the table as CSV">
                { icon(Glyph::Save) }{ "CSV" }
            </button>
        </>
    };
    let total = props.plan.report.layers.len();
    html! {
        <Panel view={View::Layers} is_maximised={props.is_maximised} on={props.on.clone()}
            is_stale={props.is_stale} {actions}>
            <div class="table-scroll" tabindex="0" role="group" aria-label="Table of operators">
                <table class="layers" data-testid="layers">
                    <thead><tr>{ for heads.iter().map(|head| head_cell(head, props)) }</tr></thead>
                    <tbody onmouseleave={props.on.reform(|_| Event::Hover(Selection::NONE))}>
                        { for rows.iter().map(|row| table_row(row, props)) }
                    </tbody>
                </table>
                if rows.is_empty() {
                    <p class="waiting">{ "No operator holds this text." }</p>
                }
            </div>
            <p class="muted detail">
                { if rows.len() == total {
                    format!("{total} operators. Choose a row to light it up in every panel.")
                } else {
                    format!("{} of {total} operators", rows.len())
                } }
            </p>
        </Panel>
    }
}

fn head_cell(head: &Head, props: &Props) -> Html {
    let column = head.column;
    let is_sorted = props.sort.column == column;
    let order = match (is_sorted, props.sort.descending) {
        (false, _) => "none",
        (true, true) => "descending",
        (true, false) => "ascending",
    };
    let arrow = match order {
        "descending" => "↓",
        "ascending" => "↑",
        _ => "",
    };
    let is_number = head.is_number || column == Column::Deviation;
    html! {
        <th key={column.id()} scope="col" aria-sort={order}
            class={classes!(is_number.then_some("number"))}>
            <button type="button" class="sort"
                onclick={props.on.reform(move |_| Event::SortBy(column))}>
                { head.title }<span class="arrow" aria-hidden="true">{ arrow }</span>
            </button>
            if let Some(kind) = head.kind { { kind_tag(kind) } }
            if !head.unit.is_empty() { <span class="kind">{ head.unit }</span> }
        </th>
    }
}

fn table_row(row: &Row, props: &Props) -> Html {
    let index = row.index;
    let is_lit = props.lit.layer == Some(index);
    let select = props.on.reform(move |_: MouseEvent| Event::Select(Selection::layer(index)));
    let share = format!("{}%", figures::fixed(row.share * 100.0, 2));
    html! {
        <tr key={index} class={classes!(is_lit.then_some("lit"))}
            onmouseenter={props.on.reform(move |_| Event::Hover(Selection::layer(index)))}
            onclick={select}>
            <td class="number muted">{ index }</td>
            <th scope="row">
                <button type="button" class="row-name" title={row.name.clone()} aria-pressed={is_lit.to_string()}
                    onfocus={props.on.reform(move |_| Event::Hover(Selection::layer(index)))}
                    onblur={props.on.reform(|_| Event::Hover(Selection::NONE))}>
                    <svg width="8" height="8" aria-hidden="true">
                        <rect width="8" height="8" rx="1" class={format!("fill-{}", row.family.id())} />
                    </svg>
                    <span>{ short_name(&row.name) }</span>
                </button>
            </th>
            <td>{ &row.op }</td>
            <td class="number shapes">{ &row.inputs }<span class="muted">{ " → " }</span>{ &row.output }</td>
            <td class="number">{ figures::grouped(row.macs) }</td>
            <td class="number">{ figures::grouped(row.parameters) }</td>
            <td class="number">{ figures::grouped(row.predicted) }</td>
            <td class="number share-cell">
                <span class="share" style={format!("width:{share}")} aria-hidden="true"></span>
                <span>{ figures::duration(row.time_us) }</span>
            </td>
            if props.counts.is_some() {
                <td class="number">
                    { row.counted.map_or_else(|| "–".to_owned(), figures::grouped) }
                </td>
                <td class="number">
                    { row.deviation.map_or_else(|| "–".to_owned(), |d| format!("{}{} %", if d > 0.0 { "+" } else { "" }, figures::fixed(d, 1))) }
                </td>
            }
        </tr>
    }
}

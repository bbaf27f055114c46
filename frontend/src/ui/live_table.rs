//! What every byte is that is live at an operator: the lit one, else the peak.

use std::rc::Rc;

use tilewright_report::{PartRole, short_name};
use yew::prelude::*;

use crate::message::PlanFacts;
use crate::state::{Event, Selection};
use crate::view_model::figures;
use crate::view_model::memory::{LiveRow, live_rows};

#[derive(PartialEq, Properties)]
pub struct Props {
    pub plan: Rc<PlanFacts>,
    pub lit: Selection,
    /// The operator where most is live.
    pub peak: usize,
    pub on: Callback<Event>,
}

/// How a part of the memory is filled in charts.
pub const fn fill(role: PartRole) -> &'static str {
    match role {
        PartRole::Input => "fill-input",
        PartRole::Output => "fill-output",
        PartRole::Weights => "fill-weights",
        PartRole::Scratch => "fill-scratch",
        PartRole::Later | PartRole::Gap | PartRole::Rest => "fill-rest",
    }
}

#[component]
pub fn LiveTable(props: &Props) -> Html {
    let of_tensor = || props.plan.tensors.get(props.lit.tensor?).map(|t| t.first as usize);
    let layer = props.lit.layer.or_else(of_tensor).unwrap_or(props.peak);
    let Some(row) = props.plan.memory.rows.get(layer) else { return html! {} };
    let title = format!(
        "{} at {}{}",
        figures::bytes(row.live_bytes.0),
        short_name(&row.name),
        if layer == props.peak { ", the peak" } else { "" }
    );
    html! {
        <div class="live" data-testid="live">
            <h3>{ title }</h3>
            <div class="table-scroll live-scroll" tabindex="0" role="group"
                aria-label="Table of live tensors">
                <table>
                    <thead><tr>
                        <th scope="col">{ "Tensor" }</th>
                        <th scope="col">{ "Use" }</th>
                        <th scope="col" class="number">{ "Bytes" }</th>
                        <th scope="col" class="number">{ "Offset" }</th>
                        <th scope="col">{ "Lives" }</th>
                    </tr></thead>
                    <tbody>
                        { for live_rows(&props.plan, layer).iter().enumerate().map(|(index, row)| {
                            live_row(index, row, layer, props)
                        }) }
                    </tbody>
                </table>
            </div>
        </div>
    }
}

fn live_row(index: usize, row: &LiveRow, layer: usize, props: &Props) -> Html {
    let is_lit = row.tensor.is_some() && props.lit.tensor == row.tensor;
    let selection = Selection { layer: Some(layer), tensor: row.tensor };
    let select = props.on.reform(move |_: MouseEvent| Event::Select(selection));
    let sign = if row.is_shared { "−" } else { "" };
    html! {
        <tr key={index} class={classes!(is_lit.then_some("lit"))}>
            <th scope="row">
                if row.tensor.is_some() {
                    <button type="button" class="row-name" aria-pressed={is_lit.to_string()}
                        onclick={select}>
                        <span>{ &row.name }</span>
                    </button>
                } else {
                    { &row.name }
                }
            </th>
            <td class="live-use">
                <svg width="12" height="12" aria-hidden="true">
                    <rect width="12" height="12" rx="2" class={fill(row.role)} />
                </svg>
                { if row.is_shared { "shared" } else { row.role.words() } }
            </td>
            <td class="number">{ sign }{ figures::grouped(row.bytes) }</td>
            <td class="number">{ row.offset.map_or_else(String::new, figures::grouped) }</td>
            <td>{ &row.life }</td>
        </tr>
    }
}

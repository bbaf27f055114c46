//! Boxes and key points over the input's picture, and the same in tables.

use std::rc::Rc;

use yew::prelude::*;

use crate::message::{PlanFacts, ReferenceFacts};
use crate::view_model::decode::{Kind, Picture};
use crate::view_model::findings::{Drawn, Sheet, sheet};

#[derive(PartialEq, Properties)]
pub struct Props {
    pub kind: Kind,
    pub plan: Rc<PlanFacts>,
    pub reference: Rc<ReferenceFacts>,
    /// Size of the model's input.
    pub size: Picture,
    /// In percent.
    pub threshold: u64,
    /// The picture below, if there is one.
    pub picture: Option<AttrValue>,
}

/// What was found, drawn and listed.
#[component]
pub fn Findings(props: &Props) -> Html {
    let sheet =
        sheet(props.kind, &props.plan.outputs, &props.reference, props.size, props.threshold);
    html! {
        <div class="findings" data-testid="findings">
            { drawing(props, &sheet) }
            <div class="findings-words">
                <p data-testid="findings-words" aria-live="polite">{ &sheet.words }</p>
                if let Some(note) = &sheet.note { <p class="note" data-testid="findings-note">{ note }</p> }
                { box_table(&sheet) }
                { point_table(&sheet) }
            </div>
        </div>
    }
}

fn drawing(props: &Props, sheet: &Sheet) -> Html {
    let Picture { height, width } = props.size;
    let side = f64::from(width.max(height));
    let style = format!("aspect-ratio: {width} / {height}; font-size: {}px", side / 24.0);
    html! {
        <figure class="findings-picture">
            <div {style}>
                if let Some(picture) = &props.picture { <img src={picture.clone()} alt="" /> }
                <svg viewBox={format!("0 0 {width} {height}")} role="img" aria-label={sheet.words.clone()}>
                    { for sheet.drawn.iter().map(|drawn| mark(drawn, side)) }
                </svg>
            </div>
            <figcaption class="muted detail">
                { if props.picture.is_some() { "The input as the model takes it: made as wide and high as it wants." }
                  else { "The input is no picture: there is nothing to draw on." } }
            </figcaption>
        </figure>
    }
}

fn mark(drawn: &Drawn, side: f64) -> Html {
    let colour = format!("fill: {0}; stroke: {0}", drawn.colour);
    html! {
        <g style={colour}>
            if let Some([x, y, width, height]) = drawn.area {
                <rect class="halo" x={x.to_string()} y={y.to_string()} width={width.to_string()}
                    height={height.to_string()} />
                <rect class="line" x={x.to_string()} y={y.to_string()} width={width.to_string()}
                    height={height.to_string()} />
            }
            { for drawn.points.iter().map(|[x, y]| html! {
                <circle cx={x.to_string()} cy={y.to_string()} r={(side / 90.0).to_string()} />
            }) }
            if let Some([x, y]) = drawn.text_at {
                <text x={x.to_string()} y={y.to_string()}>{ &drawn.text }</text>
            }
        </g>
    }
}

fn box_table(sheet: &Sheet) -> Html {
    if sheet.boxes.is_empty() {
        return html! {};
    }
    html! {
        <div class="table-scroll" tabindex="0" role="group" aria-label="What was found">
            <table data-testid="findings-table">
                <thead><tr>
                    <th scope="col" class="number">{ "Number" }</th>
                    <th scope="col">{ "Class" }</th>
                    <th scope="col" class="number">{ "Score" }</th>
                    <th scope="col">{ "Size and place, pixels" }</th>
                </tr></thead>
                <tbody>
                    { for sheet.boxes.iter().enumerate().map(|(index, row)| html! {
                        <tr key={index}>
                            <td class="number">{ index + 1 }</td>
                            <th scope="row">{ &row.name }</th>
                            <td class="number">{ &row.score }</td>
                            <td>{ &row.place }</td>
                        </tr>
                    }) }
                </tbody>
            </table>
        </div>
    }
}

fn point_table(sheet: &Sheet) -> Html {
    if sheet.points.is_empty() {
        return html! {};
    }
    let table = html! {
        <div class="table-scroll" tabindex="0" role="group" aria-label="Key points">
            <table data-testid="points-table">
                <thead><tr>
                    <th scope="col">{ "Key point" }</th>
                    <th scope="col" class="number">{ "Score" }</th>
                    <th scope="col" class="number">{ "Left, top; pixels" }</th>
                </tr></thead>
                <tbody>
                    { for sheet.points.iter().enumerate().map(|(index, row)| html! {
                        <tr key={index} class={classes!(row.is_weak.then_some("muted"))}>
                            <th scope="row">{ &row.name }</th>
                            <td class="number">{ &row.score }</td>
                            <td class="number">{ &row.place }</td>
                        </tr>
                    }) }
                </tbody>
            </table>
        </div>
    };
    html! {
        <details open={sheet.boxes.is_empty()}>
            <summary>
                { match sheet.points.len() {
                    1 => "1 key point".to_owned(),
                    count => format!("{count} key points"),
                } }
            </summary>
            { table }
        </details>
    }
}

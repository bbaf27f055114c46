//! The drawing of a cell.

use yew::prelude::*;

use crate::message::{CellChoices, DraftCell};
use crate::view_model::cells::{Across, Drawing, HALF, Mark, Which, drawing};

/// A cell's nodes and operations.
pub fn drawing_of(choices: &CellChoices, which: Which, cell: &DraftCell) -> Html {
    let Drawing { width, height, nodes, edges, result, words } = drawing(choices, cell);
    html! {
        <figure class="cells-figure" data-testid={format!("cells-drawing-{}", which.id())}>
            <svg viewBox={format!("0 0 {width} {height}")} width={width.to_string()} height={height.to_string()}
                role="img" aria-label={format!("{}. {words}", which.title())}>
                { for nodes.iter().map(rail) }
                { for edges.iter().map(across) }
                { for nodes.iter().map(mark) }
                { for result.from.iter().take(1).map(|from| html! {
                    <line class="cells-joined" x1={from.to_string()} x2={result.x.to_string()}
                        y1={result.y.to_string()} y2={result.y.to_string()} />
                }) }
                { for result.from.iter().map(|from| html! {
                    <circle class="cells-dot" cx={from.to_string()} cy={result.y.to_string()} r="3" />
                }) }
                <text class="cells-label" x={(result.x + 6).to_string()} y={(result.y + 4).to_string()}>
                    { "result" }
                </text>
            </svg>
            <figcaption class="muted detail">
                { "0 and 1 are the results of the two cells before. Each line across is an operation on the node \
                   above its left end; a node adds its two." }
            </figcaption>
        </figure>
    }
}

fn rail(node: &Mark) -> Html {
    let x = node.x.to_string();
    html! { <line class="cells-rail" x1={x.clone()} x2={x} y1={node.y.to_string()} y2={node.bottom.to_string()} /> }
}

fn mark(node: &Mark) -> Html {
    let (x, y) = (node.x - HALF, node.y - node.half);
    html! {
        <g>
            <rect class="cells-mark" x={x.to_string()} y={y.to_string()} width={(2 * HALF).to_string()}
                height={(2 * node.half).to_string()} rx="4" />
            <text class="cells-number" x={node.x.to_string()} y={(node.y + 4).to_string()}>{ &node.name }</text>
        </g>
    }
}

fn across(edge: &Across) -> Html {
    let y = edge.y.to_string();
    let is_there = edge.family != "none";
    html! {
        <g class={format!("cells-{}", edge.family)}>
            if is_there {
                <line class="cells-across" x1={edge.from.to_string()} x2={edge.to.to_string()} y1={y.clone()} y2={y.clone()} />
                <circle class="cells-dot" cx={edge.from.to_string()} cy={y} r="3" />
            }
            <text class="cells-label" x={(edge.to + HALF + 6).to_string()} y={(edge.y + 4).to_string()}>
                { &edge.label }
            </text>
        </g>
    }
}

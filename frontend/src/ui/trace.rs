//! The answer of a keyword model over time.

use yew::prelude::*;

use crate::message::{OutputFacts, TraceFacts};
use crate::view_model::trace::{Line, trace};

/// Size of the drawing.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 160.0;

/// Lines over time with a table beside; nothing if there are no values.
pub fn trace_chart(outputs: &[OutputFacts], facts: &TraceFacts) -> Html {
    let Some(trace) = trace(outputs, facts) else {
        return html! {};
    };
    html! {
        <figure class="trace" data-testid="trace">
            <div class="trace-drawing">
                <span class="detail muted">{ trace.most }</span>
                <svg viewBox={format!("0 0 {WIDTH} {HEIGHT}")} preserveAspectRatio="none" role="img"
                    aria-label={trace.words.clone()}>
                    { for trace.lines.iter().rev().map(line) }
                </svg>
                <span class="detail muted">{ trace.least }</span>
                <span class="detail muted trace-end">{ format!("time, up to {}", trace.end) }</span>
            </div>
            <figcaption data-testid="trace-words">{ trace.words }</figcaption>
            <div class="table-scroll" tabindex="0" role="group" aria-label="Largest values">
                <table data-testid="trace-table">
                    <thead><tr>
                        <th scope="col">{ "Class" }</th>
                        <th scope="col" class="number">{ "Largest value" }</th>
                        <th scope="col" class="number">{ "At" }</th>
                    </tr></thead>
                    <tbody>
                        { for trace.lines.iter().enumerate().map(|(index, line)| html! {
                            <tr key={index}>
                                <th scope="row">
                                    <svg class="trace-key" width="32" height="8" aria-hidden="true">
                                        <path d="M0 4H32" style={style(line)} stroke-dasharray={line.dashes} />
                                    </svg>
                                    { &line.name }
                                </th>
                                <td class="number">{ &line.most }</td>
                                <td class="number">{ &line.at }</td>
                            </tr>
                        }) }
                    </tbody>
                </table>
            </div>
        </figure>
    }
}

fn style(line: &Line) -> String {
    format!("stroke: {}", line.colour)
}

fn line(line: &Line) -> Html {
    let points: Vec<String> = line
        .points
        .iter()
        .map(|[x, y]| format!("{:.1},{:.1}", x * WIDTH, 2.0 + y * (HEIGHT - 4.0)))
        .collect();
    html! {
        <polyline points={points.join(" ")} style={style(line)} stroke-dasharray={line.dashes} />
    }
}

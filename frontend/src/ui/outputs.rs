//! What a model gives for an input, as its outputs are read: classes, boxes, key points, maps or plain values.

use std::rc::Rc;

use tilewright_report::{OutputValues, short_name};
use yew::prelude::*;

use super::choice::Choice;
use super::findings::Findings;
use super::output_map::output_maps;
use super::output_values::output_values;
use super::slider::Slider;
use super::trace::trace_chart;
use crate::message::{OutputFacts, PlanFacts, ReferenceFacts};
use crate::state::Outcome;
use crate::view_model::decode::{Kind, kinds};
use crate::view_model::figures;
use crate::view_model::run::{OutputRow, input_picture, output_rows, scores};

#[derive(PartialEq, Properties)]
pub struct Props {
    pub plan: Rc<PlanFacts>,
    pub reference: Rc<ReferenceFacts>,
    /// A run with the same input.
    pub ran: Option<Rc<Outcome>>,
    /// The input, if it is a picture.
    pub picture: Option<AttrValue>,
}

/// All outputs, with a choice of how they are read.
#[component]
pub fn Outputs(props: &Props) -> Html {
    let picked = use_state(|| None::<Kind>);
    let threshold = use_state(|| None::<u64>);
    let (plan, reference) = (&props.plan, &props.reference);
    let board = props.ran.as_ref().map(|outcome| outcome.result.outputs.as_slice());
    let outputs = &plan.outputs;
    let picture = input_picture(plan);
    let kinds = kinds(outputs, picture);
    let known = picked.filter(|kind| kinds.contains(kind));
    let kind = known.or(kinds.first().copied()).unwrap_or(Kind::Values);
    let options: Vec<(AttrValue, AttrValue)> =
        kinds.iter().map(|kind| (kind.word().into(), kind.title().into())).collect();
    let on_choose = {
        let (picked, threshold) = (picked.clone(), threshold.clone());
        Callback::from(move |word: String| {
            picked.set(Kind::from_word(&word));
            threshold.set(None);
        })
    };
    let percent = threshold.unwrap_or(kind.threshold());
    let set = threshold.clone();
    html! {
        <section class="outputs" aria-label="Outputs">
            <div class="outputs-choices">
                <span class="picker">
                    <label for="pick-read-as">{ "Read outputs as" }</label>
                    <Choice id="read-as" value={kind.word()} {options} {on_choose} />
                </span>
                if kind.has_threshold() {
                    <Slider id="least-score" title="Least score" unit="%" value={percent} range={(1, 99)} step={1}
                        text="What scores less is left out." is_changed={threshold.is_some()}
                        on={Callback::from(move |(value, _)| set.set(Some(value)))}
                        on_reset={Callback::from(move |()| threshold.set(None))} />
                }
            </div>
            { match (kind, picture) {
                (Kind::Classes, _) => score_table(&outputs[0], reference, board),
                (Kind::Segmentation | Kind::Maps, _) => {
                    output_maps(outputs, reference, props.picture.clone(), kind == Kind::Segmentation)
                }
                (Kind::Values, _) | (_, None) => html! {},
                (_, Some(size)) => html! {
                    <Findings {kind} plan={Rc::clone(plan)} reference={Rc::clone(reference)} {size}
                        threshold={percent} picture={props.picture.clone()} />
                },
            } }
            if let Some(trace) = &reference.trace { { trace_chart(outputs, trace) } }
            if kind != Kind::Classes {
                { output_table(&output_rows(outputs, reference, board)) }
            }
            { output_values(outputs, reference) }
        </section>
    }
}

fn score_table(
    output: &OutputFacts,
    reference: &ReferenceFacts,
    board: Option<&[OutputValues]>,
) -> Html {
    let scores = scores(output, reference, board, 5);
    html! {
        <>
        if !output.labels_of.is_empty() {
            <p class="muted detail" data-testid="labels-of">
                { format!("The file names no classes: these are those of {}.", output.labels_of) }
            </p>
        }
        <div class="table-scroll" tabindex="0" role="group" aria-label="Scores of classes">
            <table class="scores" data-testid="results">
                <caption class="visually-hidden">{ "Class scores, best first" }</caption>
                <thead><tr>
                    <th scope="col">{ "Class" }</th>
                    <th scope="col" class="score-bar-head" colspan="2">{ "Score" }</th>
                    <th scope="col" class="number">{ "Reference, int8" }</th>
                    <th scope="col" class="number">{ "Board, int8" }</th>
                </tr></thead>
                <tbody>
                    { for scores.iter().map(|score| {
                        let class = match score.board {
                            Some(board) if board == score.reference => "number equal",
                            Some(_) => "number differs",
                            None => "number muted",
                        };
                        let width = format!("{}%", figures::fixed(score.fill * 100.0, 2));
                        html! {
                            <tr key={score.class}>
                                <th scope="row">{ &score.label }</th>
                                <td>
                                    <svg width="100%" height="8" aria-hidden="true">
                                        <rect width="100%" height="8" rx="2" class="track" />
                                        <rect {width} height="8" rx="2" class="fill" />
                                    </svg>
                                </td>
                                <td class="number">{ figures::fixed(f64::from(score.real), 3) }</td>
                                <td class="number muted">{ score.reference }</td>
                                <td {class}>
                                    { score.board.map_or_else(|| "–".to_owned(), |v| v.to_string()) }
                                </td>
                            </tr>
                        }
                    }) }
                </tbody>
            </table>
        </div>
        </>
    }
}

/// Outputs that are no scores of classes.
fn output_table(rows: &[OutputRow]) -> Html {
    html! {
        <div class="table-scroll" tabindex="0" role="group" aria-label="Ranges of outputs">
            <table data-testid="results">
                <thead><tr>
                    <th scope="col">{ "Output" }</th>
                    <th scope="col" class="number">{ "Shape" }</th>
                    <th scope="col">{ "Values of the reference" }</th>
                    <th scope="col">{ "Board" }</th>
                </tr></thead>
                <tbody>
                    { for rows.iter().enumerate().map(|(index, row)| html! {
                        <tr key={index}>
                            <th scope="row" title={row.name.clone()}>{ short_name(&row.name) }</th>
                            <td class="number">{ &row.shape }</td>
                            <td>{ &row.values }</td>
                            { match row.is_equal {
                                Some(true) => html! { <td class="equal">{ "the same" }</td> },
                                Some(false) => html! { <td class="differs">{ "differs" }</td> },
                                None => html! { <td class="muted">{ "–" }</td> },
                            } }
                        </tr>
                    }) }
                </tbody>
            </table>
        </div>
    }
}

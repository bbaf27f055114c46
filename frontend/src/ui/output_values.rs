//! The int8 values of outputs, as they are.

use std::rc::Rc;

use tilewright_report::short_name;
use yew::prelude::*;

use super::icon::{Glyph, icon};
use super::save::save_text;
use crate::message::{OutputFacts, ReferenceFacts};
use crate::view_model::run::{shown_values, values_as_csv};

/// The first values of each output, and all of them as a file.
pub fn output_values(outputs: &[OutputFacts], reference: &Rc<ReferenceFacts>) -> Html {
    let on_save = {
        let (outputs, reference) = (outputs.to_vec(), Rc::clone(reference));
        Callback::from(move |_: MouseEvent| {
            save_text("outputs.csv", &values_as_csv(&outputs, &reference), "text/csv");
        })
    };
    let pairs = outputs.iter().zip(&reference.outputs);
    html! {
        <details class="output-values" data-testid="output-values">
            <summary>{ "int8 values" }</summary>
            <button type="button" class="quiet" onclick={on_save} data-testid="save-outputs"
                title="A line for each place: its row and column, then its channels">
                { icon(Glyph::Save) }{ "All values as CSV" }
            </button>
            <dl>
                { for pairs.map(|(output, values)| html! {
                    <>
                        <dt>{ format!("{}: value × {} − {}", short_name(&output.name), output.scale,
                            output.scale * output.zero as f32) }</dt>
                        <dd class="hash">{ shown_values(values) }</dd>
                    </>
                }) }
            </dl>
        </details>
    }
}

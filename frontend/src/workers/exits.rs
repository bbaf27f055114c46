//! What thresholds of confidence come to over labelled images.

use tilewright_explore::exits::{CONFIDENCES, Labelled, grey_inputs, report};
use tilewright_model::int8::Interpreter;
use tilewright_model::{Model, RunError};
use tilewright_planner::Confidence;
use tilewright_report::{Diagnostic, ExitsReport, sentence};

use super::labelled::labelled;
use super::plan::{make, ours};
use crate::message::{PlanSettings, trouble};

/// Images that are looked at: the test images of MNIST and its kin.
const MOST_IMAGES: usize = 10_000;

/// Runs the reference on the images of some files; `say` hears how far it is.
///
/// # Errors
/// If the files hold no images that the model takes, or its exits cannot be planned.
pub fn exits(
    model: &Model,
    settings: &PlanSettings,
    files: &[Vec<u8>],
    say: &dyn Fn(&str),
) -> Result<ExitsReport, Diagnostic> {
    let images = labelled(files, MOST_IMAGES)?;
    let inputs =
        grey_inputs(model, [images.height, images.width], &images.pixels).map_err(|error| {
            let what_to_do = "Give images of the model's size, or a model of one grey input.";
            trouble("These images do not fit", sentence(&error.to_string()), what_to_do)
        })?;
    say("Planning the exits");
    // Where a run ends depends on the confidence, how long it takes until then does not.
    let settings =
        PlanSettings { exits: true, exit_confidence: Some(CONFIDENCES[0]), ..settings.clone() };
    let (planned, _) = make(model, &settings)?;
    let wrong = |error: RunError| ours("reference interpreter", &error);
    let reference = Interpreter::new(model).map_err(wrong)?;
    let count = inputs.len();
    let mut answers = Vec::new();
    for (index, (input, label)) in inputs.into_iter().zip(&images.labels).enumerate() {
        say(&format!("Looking at images: {index} of {count}"));
        answers.extend(Labelled::of(&reference, input, *label).map_err(wrong)?);
    }
    let confidences: Vec<Confidence> =
        CONFIDENCES.into_iter().filter_map(Confidence::new).collect();
    report(&planned.report, model, &answers, &confidences).map_err(|error| {
        let what_to_do = "Open a model whose exits end in a softmax.";
        trouble("No threshold can be set", sentence(&error.to_string()), what_to_do)
    })
}

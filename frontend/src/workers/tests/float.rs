//! The float worker beside the files that the page gives it.
#![cfg(feature = "float")]

use std::cell::RefCell;

use tilewright_report::{Blame, Diagnostic, FloatComparison};

use super::{EXAMPLES, file, files_of, from};
use crate::message::{Calibrating, FloatRequest, ImportReply, ImportRequest, ModelSource};
use crate::workers::float::answer;
use crate::workers::import::Importer;

/// What the page does: the importer opens the model, and the float worker gets the same buffers with
/// the int8 model behind them.
fn compared(
    source: &ModelSource,
    buffers: &[Vec<u8>],
    say: &dyn Fn(&str),
) -> Result<FloatComparison, Diagnostic> {
    let calibrating = Calibrating::default();
    let request = ImportRequest::Open(source.clone(), calibrating.clone());
    let (_, int8) = Importer::default().answer(request, buffers.to_vec(), &|_| {})?;
    let request = FloatRequest { source: source.clone(), calibrating };
    answer(&request, [buffers, &int8].concat(), say).map(|(found, _)| found)
}

#[test]
fn a_bundled_model_is_compared_with_tract_sample_by_sample() {
    let buffers = files_of(&EXAMPLES[0]);
    let said = RefCell::new(Vec::new());
    let say = |text: &str| said.borrow_mut().push(text.to_owned());
    let found = compared(&from("lenet5.onnx"), &buffers, &say).unwrap();
    assert_eq!((found.opinion.as_str(), found.samples), (FloatComparison::TRACT, 8));
    assert_eq!(found.outputs[0].int8.as_ref().unwrap().top1_agreement, Some(1.0));
    assert_eq!((&found.first_float_loss, &found.first_int8_loss), (&None, &None));
    let said = said.into_inner();
    let parts: Vec<_> = said.iter().filter(|text| text.starts_with("Comparing: sample")).collect();
    assert_eq!((parts.len(), parts[0].as_str()), (9, "Comparing: sample 1 of 8"), "{said:?}");
}

#[test]
fn networks_of_the_zoo_are_held_against_our_interpreter() {
    let found = compared(&ModelSource::Zoo("ds-cnn".to_owned()), &[], &|_| {}).unwrap();
    assert_eq!(found.opinion, FloatComparison::INTERPRETER);
    assert!(found.layers.iter().all(|layer| layer.float.is_none() && layer.int8.is_some()));
}

#[test]
fn an_int8_file_has_no_float_model_and_the_words_are_the_command_lines() {
    let buffers = [file("models/golden/branches.tflite")];
    let trouble = compared(&from("branches.tflite"), &buffers, &|_| {}).unwrap_err();
    assert_eq!(trouble.kind, Blame::BadInput);
    assert!(trouble.what.contains("int8 already"), "{trouble:?}");
    assert!(trouble.what_to_do.contains("Give the float model"), "{trouble:?}");
}

#[test]
fn what_was_pruned_is_held_against_the_file_as_it_is() {
    let buffers = files_of(&EXAMPLES[0]);
    let (source, calibrating) =
        (from("lenet5.onnx"), Calibrating { sparsity: 900, ..Calibrating::default() });
    let request = ImportRequest::Open(source.clone(), calibrating.clone());
    let (reply, int8) = Importer::default().answer(request, buffers.to_vec(), &|_| {}).unwrap();
    assert!(matches!(reply, ImportReply::Opened(_)));
    let request = FloatRequest { source, calibrating };
    let (found, _) = answer(&request, [&buffers[..], &int8].concat(), &|_| {}).unwrap();
    assert_eq!(found.first_float_loss, None, "the importer is not to blame");
    assert!(found.first_int8_loss.is_some());
}

#[test]
fn a_model_that_did_not_arrive_is_our_fault() {
    let request = FloatRequest { source: from("lenet5.onnx"), calibrating: Calibrating::default() };
    let trouble = answer(&request, Vec::new(), &|_| {}).unwrap_err();
    assert_eq!(trouble.kind, Blame::Ours, "{trouble:?}");
}

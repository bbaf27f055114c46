//! What a person says of a model as it is opened.

use super::{file, files_of, from};
use crate::message::{Calibrating, ImportReply, ImportRequest, ModelSource};
use crate::view_model::catalogue::EXAMPLES;
use crate::workers::import::Importer;

#[test]
fn a_file_beside_the_model_names_its_classes() {
    let example = EXAMPLES.iter().find(|example| example.id == "person-detect").unwrap();
    let opened = |text: &str| {
        let (name, data) = ("person-detect.tflite".to_owned(), vec!["labels.txt".to_owned()]);
        let source = ModelSource::File { name, data, dims: Vec::new() };
        let request = ImportRequest::Open(source, Calibrating::default());
        let buffers = vec![file(example.file), text.as_bytes().to_vec()];
        let (reply, _) = Importer::default().answer(request, buffers, &|_| {}).unwrap();
        let ImportReply::Opened(facts) = reply else { panic!("{reply:?}") };
        facts
    };
    assert_eq!(opened("0 empty\n1 someone\n").labels, ["empty", "someone"]);
    let facts = opened("one\ntwo\nthree");
    assert!(facts.note.contains("labels.txt has 3 class names"), "{}", facts.note);
}

#[test]
fn pixels_are_taken_in_the_range_that_is_chosen() {
    let opened = |pixels: &str| {
        let calibrating = Calibrating { pixels: pixels.to_owned(), ..Calibrating::default() };
        let request = ImportRequest::Open(from("model.onnx"), calibrating);
        Importer::default().answer(request, files_of(&EXAMPLES[0]), &|_| {})
    };
    for (pixels, zero) in [("", -128), ("-1..1", 0)] {
        let (reply, buffers) = opened(pixels).unwrap();
        let ImportReply::Opened(facts) = reply else { panic!("{reply:?}") };
        assert_eq!(facts.pixels.as_deref(), Some(if zero == 0 { pixels } else { "0..1" }));
        let model: tilewright_model::Model = postcard::from_bytes(&buffers[0]).unwrap();
        let quantisation = model.tensor(model.inputs[0]).quantisation.as_ref().unwrap();
        assert!((quantisation.zero() - zero).abs() <= 1, "{quantisation:?}");
    }
    let error = opened("dark..light").unwrap_err();
    assert!(error.what.contains("'dark..light' is no range of pixels"), "{error:?}");
}

//! Detectors whose last operator chooses boxes. TensorFlow's exporter adds it to the network; a microcontroller's
//! program does it in the application, as whoever reads the outputs here does. The model ends before it.

use super::importer::Importer;
use super::verified_file::Place;

/// Reads codes of boxes, scores and anchors; gives the boxes that are left, their classes, scores and number.
const CHOOSES_BOXES: &str = "custom operator TFLite_Detection_PostProcess";

/// The tensors of the file that are outputs instead, if the operator chooses boxes and nothing else is an output.
pub(super) fn ends_before(
    importer: &mut Importer<'_, '_>,
    place: &Place<'_>,
) -> Option<Vec<usize>> {
    let [Some(boxes), Some(scores), ..] = place.inputs[..] else { return None };
    let is_last = importer.file.outputs.iter().all(|output| place.outputs.contains(output));
    if place.op != CHOOSES_BOXES || !is_last {
        return None;
    }
    let name = |index: usize| &importer.file.tensors[index].name;
    let note = format!(
        "The model ends before TFLite_Detection_PostProcess, which chooses boxes: its outputs are their codes '{}' \
         and scores '{}'.",
        name(boxes),
        name(scores)
    );
    importer.model.notes.push(note);
    Some(vec![boxes, scores])
}

//! Class names and the range of pixels, which exporters write in words of their own.

use tilewright_model::Model;

use crate::class_names::{in_list, name_classes};
use crate::input::Pixels;

/// The key that Ultralytics' exporter has for class names.
const NAMES: &str = "names";
/// The key of the metadata that ONNX itself describes for images.
const NOMINAL_RANGE: &str = "Image.NominalPixelRange";

/// Notes both as the rest of this project knows them.
pub(super) fn describe(model: &mut Model) {
    let names = model.metadata.get(NAMES).map(|list| in_list(list)).unwrap_or_default();
    name_classes(model, &names);
    let range = match model.metadata.get(NOMINAL_RANGE).map(String::as_str) {
        Some("Normalized_0_1") => "0..1",
        Some("Normalized_1_1") => "-1..1",
        Some("NominalRange_0_255") => "0..255",
        _ => return,
    };
    if let (None, Ok(pixels)) = (Pixels::of(model), range.parse::<Pixels>()) {
        pixels.set(model);
    }
}

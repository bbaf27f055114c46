//! Convolutions and pools over one dimension, as those over an image of one row.

use std::rc::Rc;

use super::Import;
use crate::FormatError;
use crate::onnx::attributes::Place;
use crate::onnx::constant::Constant;
use crate::onnx::importer::{Importer, Value, channels_last};
use crate::onnx::messages::{AttributeProto, NodeProto};

/// Imports a node that works on images, or on signals N×C×W.
pub(super) fn or_image(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    import: Import,
) -> Result<Value, FormatError> {
    let input = match importer.operand(place, 0)? {
        Value::Activated(input) if input.order.len() == 3 => input,
        _ => return import(importer, place),
    };
    let [batch, channels, width] = *importer.dims(&input) else { return import(importer, place) };
    let tensor = importer.in_order(&input, &channels_last(3));
    let shape = [batch, 1, width, channels];
    let image = importer.reshape(place, tensor, &shape, channels_last(4))?;
    let mut node = NodeProto { attribute: Vec::new(), ..place.node.clone() };
    node.attribute = place.node.attribute.iter().map(in_two_dimensions).collect();
    let named = |index: usize| format!("{}.operand{index} of an image", place.name());
    importer.define(named(0), Value::Activated(image));
    node.input[0] = named(0);
    if let Some(Value::Constant(weights)) = importer.optional(place, 1)? {
        let mut weights = Constant::clone(&weights);
        if weights.dims.len() == 3 {
            weights.dims.insert(2, 1);
        }
        importer.define(named(1), Value::Constant(Rc::new(weights)));
        node.input[1] = named(1);
    }
    let Value::Activated(result) = import(importer, Place { node: &node, ..place })? else {
        return Err(place.bad("its result is constant"));
    };
    let [batch, channels, _, width] = *importer.dims(&result) else {
        return Err(place.bad("its result is no image"));
    };
    let tensor = importer.in_order(&result, &channels_last(4));
    let signal = [batch, width, channels];
    importer.reshape(place, tensor, &signal, channels_last(3)).map(Value::Activated)
}

fn in_two_dimensions(attribute: &AttributeProto) -> AttributeProto {
    let mut longer = attribute.clone();
    match (attribute.name.as_str(), attribute.ints.as_slice()) {
        ("strides" | "dilations" | "kernel_shape" | "output_shape", [size]) => {
            longer.ints = vec![1, *size];
        }
        ("output_padding", [size]) => longer.ints = vec![0, *size],
        ("pads", [before, behind]) => longer.ints = vec![0, *before, 0, *behind],
        _ => {}
    }
    longer
}

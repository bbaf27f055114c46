//! ONNX. Shapes come from the graph IR's own inference as nodes are added, so that sizes are
//! checked before anything is allocated.

mod attributes;
mod constant;
mod export;
mod importer;
mod messages;
mod ops;
mod wire;

use prost::Message;
use tilewright_model::quantise::quantise_as_stated;
use tilewright_model::{Model, passes};

use messages::ModelProto;

pub use export::{ExportError, export};

use crate::{FormatError, Limits};

pub(crate) fn open(
    name: &str,
    bytes: &[u8],
    limits: &Limits,
    dims: &[(String, usize)],
) -> Result<Model, FormatError> {
    let proto = parse(bytes, limits)?;
    let mut model = importer::import(proto, limits, dims)?;
    crate::stem(name, ".onnx").clone_into(&mut model.name);
    let model = passes::optimise(model)?.0;
    // A model that states too little, or what has no int8 form, is left to the quantiser.
    match quantise_as_stated(&model) {
        Ok(Some(quantised)) => Ok(passes::optimise(quantised)?.0),
        _ => Ok(model),
    }
}

/// Decodes the file, after counting what decoding would make of it.
pub(crate) fn parse(bytes: &[u8], limits: &Limits) -> Result<ModelProto, FormatError> {
    wire::check(bytes, limits)?;
    let proto = ModelProto::decode(bytes)
        .map_err(|error| FormatError::Damaged { reason: error.to_string() })?;
    if proto.graph.is_none() {
        return Err(FormatError::NotAModel { reason: "it holds no graph".to_owned() });
    }
    // Versions of the format that matter have it, and writers put it behind the graph.
    if proto.opset_import.is_empty() {
        return Err(FormatError::Damaged {
            reason: "it does not say which operator set it uses".to_owned(),
        });
    }
    Ok(proto)
}

#[cfg(test)]
mod tests;

//! ONNX. Shapes come from the graph IR's own inference as nodes are added, so that sizes are
//! checked before anything is allocated.
//!
//! Messages are declared here (`messages.rs`), which keeps tract out of the importer; it is an independent opinion instead.

mod attributes;
mod constant;
mod described;
mod export;
mod external;
mod importer;
mod interface;
mod layout;
mod messages;
mod opaque;
mod ops;
mod order;
mod skeleton;
mod whole;
mod window;
mod wire;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use tilewright_model::quantise::quantise_as_stated;
use tilewright_model::{Model, Store};

use skeleton::Skeleton;
use window::Window;

pub use export::{ExportError, export};
pub use layout::FileInput;
pub(crate) use layout::inputs;

use crate::{FormatError, Limits, ModelFile};

pub(crate) fn open(
    file: &ModelFile<'_>,
    limits: &Limits,
    dims: &[(String, usize)],
) -> Result<Model, FormatError> {
    let skeleton = parse(file, limits)?;
    // Each file beside it is looked for once.
    let known: RefCell<BTreeMap<String, Arc<dyn Store>>> = RefCell::default();
    let beside = |path: &str| {
        if let Some(found) = known.borrow().get(path) {
            return Ok(Some(Arc::clone(found)));
        }
        let found = (file.beside)(path)?;
        if let Some(found) = &found {
            known.borrow_mut().insert(path.to_owned(), Arc::clone(found));
        }
        Ok(found)
    };
    let file = &ModelFile { name: file.name, bytes: Arc::clone(&file.bytes), beside: &beside };
    let mut model = importer::import(skeleton, file, limits, dims)?;
    crate::stem(file.name, ".onnx").clone_into(&mut model.name);
    let model = crate::optimised(model)?;
    // A model that states too little, or what has no int8 form, is left to the quantiser.
    match quantise_as_stated(&model) {
        Ok(Some(quantised)) => crate::optimised(quantised),
        _ => Ok(model),
    }
}

/// Decodes the file, after counting what decoding would make of it.
fn parse(file: &ModelFile<'_>, limits: &Limits) -> Result<Skeleton, FormatError> {
    wire::check(Window::new(&*file.bytes), limits)?;
    let skeleton = skeleton::read(Window::new(&*file.bytes))?;
    if skeleton.model.graph.is_none() {
        return Err(FormatError::NotAModel { reason: "it holds no graph".to_owned() });
    }
    // Versions of the format that matter have it, and writers put it behind the graph.
    if skeleton.model.opset_import.is_empty() {
        return Err(FormatError::Damaged {
            reason: "it does not say which operator set it uses".to_owned(),
        });
    }
    Ok(skeleton)
}

#[cfg(test)]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "the tests choose numbers that fit"
)]
mod tests;

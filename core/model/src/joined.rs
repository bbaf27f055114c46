//! Several models as one graph without a connection between them.

use std::collections::BTreeMap;

use crate::graph::{FileTypes, Model, Node, TensorId};

impl Model {
    /// The models side by side: nodes, tensors, inputs and outputs of the first before those of the next. States and
    /// what files say of themselves are left out.
    ///
    /// # Errors
    /// If their arithmetic differs, or one keeps states from run to run; says which one.
    pub fn joined(models: &[&Self]) -> Result<Self, String> {
        let names: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
        let mut all = Self {
            name: names.join(" + "),
            file_types: FileTypes::default(),
            short_products: models.first().is_some_and(|model| model.short_products),
            ..Self::default()
        };
        for model in models {
            if !model.states.is_empty() {
                return Err(format!("'{}' keeps states from run to run", model.name));
            }
            if model.short_products != all.short_products {
                return Err(format!("'{}' multiplies scales in another way", model.name));
            }
            let first = all.tensors.len();
            let moved = |ids: &[TensorId]| -> Vec<TensorId> {
                ids.iter().map(|id| TensorId(id.0 + first)).collect()
            };
            let (inputs, outputs) = (moved(&model.inputs), moved(&model.outputs));
            let nodes = model.nodes.iter().map(|node| Node {
                inputs: moved(&node.inputs),
                outputs: moved(&node.outputs),
                ..node.clone()
            });
            all.nodes.extend(nodes);
            all.inputs.extend(inputs);
            all.outputs.extend(outputs);
            let sparse = model.sparse.iter();
            let sparse: BTreeMap<_, _> =
                sparse.map(|(id, blocks)| (TensorId(id.0 + first), blocks.clone())).collect();
            all.sparse.extend(sparse);
            all.tensors.extend(model.tensors.iter().cloned());
        }
        Ok(all)
    }
}

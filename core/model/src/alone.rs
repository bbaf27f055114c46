//! One operator of a model as a model of its own: for benchmarks of operators.

use std::collections::BTreeMap;

use crate::graph::{Model, Node, NodeId, TensorId};

impl Model {
    /// A node alone, with its constants; what other nodes make becomes an input. A tensor that the node reads twice
    /// is one input. Nothing if the model has no such node.
    #[must_use]
    pub fn alone(&self, node: NodeId) -> Option<Self> {
        let node = self.nodes.get(node.0)?;
        let mut alone = Self {
            name: node.name.clone(),
            short_products: self.short_products,
            ..Self::default()
        };
        let mut ids: BTreeMap<TensorId, TensorId> = BTreeMap::new();
        for id in node.inputs.iter().chain(&node.outputs) {
            if !ids.contains_key(id) {
                ids.insert(*id, alone.add_tensor(self.tensor(*id).clone()));
            }
        }
        let of = |list: &[TensorId]| list.iter().map(|id| ids[id]).collect::<Vec<_>>();
        let is_given = |id: &TensorId| !alone.tensor(*id).is_constant();
        let mut inputs: Vec<TensorId> = of(&node.inputs).into_iter().filter(is_given).collect();
        inputs.sort_unstable();
        inputs.dedup();
        let outputs = of(&node.outputs);
        alone.nodes = vec![Node {
            name: node.name.clone(),
            op: node.op.clone(),
            inputs: of(&node.inputs),
            outputs: outputs.clone(),
        }];
        (alone.inputs, alone.outputs) = (inputs, outputs);
        Some(alone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::{Activation, Op};
    use crate::shape::Shape;
    use crate::tensor::{DType, Tensor};

    #[test]
    fn an_operator_alone_reads_what_others_made() {
        let mut model = Model::default();
        let mut tensor = |name: &str| {
            model.add_tensor(Tensor {
                name: name.to_owned(),
                shape: Shape::new([1, 2, 2, 3]),
                dtype: DType::F32,
                quantisation: None,
                source: None,
            })
        };
        let [x, y, z] = ["x", "y", "z"].map(&mut tensor);
        let node = |name: &str, inputs: [TensorId; 2], output| Node {
            name: name.to_owned(),
            op: Op::Add { activation: Activation::None },
            inputs: inputs.to_vec(),
            outputs: vec![output],
        };
        model.nodes = vec![node("first", [x, x], y), node("second", [y, x], z)];
        (model.inputs, model.outputs) = (vec![x], vec![z]);
        let names = |model: &Model, ids: &[TensorId]| {
            ids.iter().map(|id| model.tensor(*id).name.clone()).collect::<Vec<_>>().join(" ")
        };
        let twice = model.alone(NodeId(0)).unwrap();
        assert_eq!(names(&twice, &twice.inputs), "x");
        let second = model.alone(NodeId(1)).unwrap();
        assert!(second.verify().is_ok());
        assert_eq!(names(&second, &second.inputs), "y x");
        assert_eq!(names(&second, &second.outputs), "z");
        assert!(model.alone(NodeId(2)).is_none());
    }
}

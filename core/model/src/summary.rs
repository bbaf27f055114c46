//! What a model needs, summed up.

use crate::graph::{Model, Node};
use crate::op::Op;

/// A model in figures. Bytes are those of tensors that nodes use, each counted once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Multiply-accumulates, nominal; see [`Model::macs`].
    pub macs: u64,
    /// Elements of constants.
    pub parameters: u64,
    /// Bytes of weights and other constants, as the model has them.
    pub weight_bytes: u64,
    /// Bytes of inputs and results, as the model has them.
    pub activation_bytes: u64,
    /// Bytes of constants once quantised: one for each, four for those of a bias.
    pub int8_weight_bytes: u64,
    /// Bytes of inputs and results once quantised.
    pub int8_activation_bytes: u64,
    /// Operators by kind: those with most multiply-accumulates first, then the most frequent.
    pub kinds: Vec<OperatorKind>,
}

/// All operators of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatorKind {
    /// Name.
    pub op: String,
    /// How many there are.
    pub count: usize,
    /// Their multiply-accumulates.
    pub macs: u64,
    /// Their share of all, in percent to a hundredth.
    pub macs_percent: f64,
    /// Their parameters; what several nodes share counts for each.
    pub parameters: u64,
    /// Their share of all, in percent to a hundredth.
    pub parameters_percent: f64,
    /// Bytes of their results, as the model has them.
    pub activation_bytes: u64,
    /// Whether nothing here computes them.
    pub is_opaque: bool,
}

impl Model {
    /// The model in figures.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let kinds = self.operator_kinds();
        let mut summary = Summary {
            macs: kinds.iter().fold(0, |sum: u64, kind| sum.saturating_add(kind.macs)),
            parameters: self.parameters(),
            kinds,
            ..Summary::default()
        };
        let mut bias = vec![false; self.tensors.len()];
        let mut used = vec![false; self.tensors.len()];
        for node in &self.nodes {
            node.inputs.iter().chain(&node.outputs).for_each(|id| used[id.0] = true);
            if let (true, Some(id)) = (node.op.is_weighted(), node.inputs.get(2)) {
                bias[id.0] = true;
            }
        }
        for (index, tensor) in self.tensors.iter().enumerate().filter(|(index, _)| used[*index]) {
            let (bytes, elements) = (tensor.bytes(), tensor.shape.elements());
            let [bytes, elements] = [bytes, elements].map(|size| size.unwrap_or(0) as u64);
            if tensor.is_constant() {
                summary.weight_bytes += bytes;
                summary.int8_weight_bytes += elements * if bias[index] { 4 } else { 1 };
            } else {
                summary.activation_bytes += bytes;
                summary.int8_activation_bytes += elements;
            }
        }
        summary
    }

    /// Elements of the constants that a node takes.
    #[must_use]
    pub fn parameters_of(&self, node: &Node) -> u64 {
        let constants = node.inputs.iter().map(|id| self.tensor(*id));
        let constants = constants.filter(|tensor| tensor.is_constant());
        constants.map(|tensor| tensor.shape.elements().unwrap_or(0) as u64).sum()
    }

    fn operator_kinds(&self) -> Vec<OperatorKind> {
        let mut kinds: Vec<OperatorKind> = Vec::new();
        for node in &self.nodes {
            let op = node.op.name();
            let index = kinds.iter().position(|kind| kind.op == op).unwrap_or_else(|| {
                kinds.push(OperatorKind {
                    op: op.to_owned(),
                    count: 0,
                    macs: 0,
                    macs_percent: 0.0,
                    parameters: 0,
                    parameters_percent: 0.0,
                    activation_bytes: 0,
                    is_opaque: matches!(node.op, Op::Opaque { .. }),
                });
                kinds.len() - 1
            });
            let results = node.outputs.iter().map(|id| self.tensor(*id).bytes().unwrap_or(0));
            let kind = &mut kinds[index];
            kind.count += 1;
            kind.macs = kind.macs.saturating_add(self.macs(node));
            kind.parameters += self.parameters_of(node);
            kind.activation_bytes += results.sum::<usize>() as u64;
        }
        let macs = kinds.iter().fold(0, |sum: u64, kind| sum.saturating_add(kind.macs));
        let parameters: u64 = kinds.iter().map(|kind| kind.parameters).sum();
        for kind in &mut kinds {
            kind.macs_percent = percent(kind.macs, macs);
            kind.parameters_percent = percent(kind.parameters, parameters);
        }
        kinds.sort_by(|a, b| b.macs.cmp(&a.macs).then(b.count.cmp(&a.count)).then(a.op.cmp(&b.op)));
        kinds
    }
}

/// To a hundredth.
fn percent(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { libm::round(part as f64 / all as f64 * 10_000.0) / 100.0 }
}

#[cfg(test)]
mod tests {
    use crate::fixtures::{Build, noise};
    use crate::op::Window;

    #[test]
    fn tensors_count_once_and_kinds_by_their_share() {
        let mut build = Build::new(&[1, 4, 4, 3]);
        build.conv(Window::dense([1, 1]), &[4, 1, 1, 3], noise(12, 1), Some(noise(4, 2)), 1);
        build.conv(Window::dense([1, 1]), &[2, 1, 1, 4], noise(8, 3), None, 1);
        build.reshape(&[1, 32]);
        build.finish();
        let summary = build.model.summary();
        assert_eq!(summary.macs, 16 * (12 + 8));
        assert_eq!(summary.parameters, 24);
        assert_eq!(summary.weight_bytes, 24 * 4);
        assert_eq!(summary.int8_weight_bytes, 20 + 4 * 4);
        assert_eq!(summary.int8_activation_bytes, 48 + 64 + 32 + 32);
        assert_eq!(summary.activation_bytes, 4 * summary.int8_activation_bytes);
        let kinds: Vec<_> =
            summary.kinds.iter().map(|kind| (&*kind.op, kind.count, kind.macs_percent)).collect();
        assert_eq!(kinds, [("Conv2D", 2, 100.0), ("Reshape", 1, 0.0)]);
        assert_eq!(summary.kinds[0].activation_bytes, 4 * (64 + 32));
        assert_eq!(summary.kinds[0].parameters, 24);
    }
}

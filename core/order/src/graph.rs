//! The graph whose operators are put in order: plain values, checked once.

use thiserror::Error;

/// Largest sum of all tensors' bytes: sums and differences stay exact in 64 bits.
pub const LARGEST_SUM: u64 = 1 << 60;

/// A tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Name, for messages.
    pub name: String,
    /// Bytes that it takes while it lives.
    pub bytes: u64,
}

/// What an operator may do with memory beyond reading its inputs and writing its outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: its outputs never lie where its inputs lie.
    #[default]
    Plain,
    /// Element by element: its one output may take the place of an input of the same size that
    /// nothing needs afterwards.
    Elementwise,
    /// The same bytes under another shape: output and first input are one.
    Alias,
    /// Its inputs are parts of its output and may be written where the output will lie.
    Concat,
}

/// An operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operator {
    /// Name, for messages.
    pub name: String,
    /// What it may do with memory.
    pub effect: Effect,
    /// Tensors that it reads, as indices; constants may be among them.
    pub inputs: Vec<usize>,
    /// Tensors that it writes, as indices.
    pub outputs: Vec<usize>,
    /// Operators that must come before it though no tensor says so.
    pub after: Vec<usize>,
    /// Some of its inputs: if nothing needs them afterwards, its outputs may take their bytes
    /// while it runs.
    pub covered: Vec<usize>,
}

/// Operators and tensors. A tensor that no operator writes and that is neither input nor variable
/// is a constant and takes no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Tensors.
    pub tensors: Vec<Tensor>,
    /// Operators, in the order of the file.
    pub operators: Vec<Operator>,
    /// Tensors that are there before the first operator; one that nothing uses takes no memory.
    pub inputs: Vec<usize>,
    /// Tensors that are needed after the last operator.
    pub outputs: Vec<usize>,
    /// Tensors that live before, during and after.
    pub variables: Vec<usize>,
    /// Tensors that lie in others, with those: the other lives as soon and as long as any of them,
    /// and they take no bytes of their own.
    pub inside: Vec<[usize; 2]>,
}

/// Which effects of operators are made use of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// [`Effect::Elementwise`] and [`Effect::Alias`].
    pub in_place: bool,
    /// [`Effect::Concat`].
    pub concat: bool,
}

/// What is wrong with a graph.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GraphError {
    /// A tensor is named that does not exist.
    #[error("{place} names tensor {index}, but there are {count} tensors, counted from 0")]
    NoTensor {
        /// Who names it.
        place: String,
        /// The index.
        index: usize,
        /// Number of tensors.
        count: usize,
    },
    /// An operator is named that does not exist.
    #[error("operator {place} comes after operator {index}, but there are {count} operators")]
    NoOperator {
        /// Who names it.
        place: String,
        /// The index.
        index: usize,
        /// Number of operators.
        count: usize,
    },
    /// Two operators write one tensor.
    #[error("tensor {tensor} is written by operator {first} and by operator {second}")]
    TwoWriters {
        /// The tensor.
        tensor: String,
        /// The first that writes it.
        first: String,
        /// The second.
        second: String,
    },
    /// An operator writes an input of the graph.
    #[error("tensor {tensor} is an input of the graph, but operator {operator} writes it")]
    WrittenInput {
        /// The tensor.
        tensor: String,
        /// The operator.
        operator: String,
    },
    /// Nothing writes an output of the graph.
    #[error("tensor {tensor} is an output of the graph, but no operator writes it")]
    UnwrittenOutput {
        /// The tensor.
        tensor: String,
    },
    /// Operators wait for each other in a circle.
    #[error("operators wait for each other in a circle: {circle}")]
    Circle {
        /// Some of them, in the order in which they wait.
        circle: String,
    },
    /// The tensors are larger than can be counted.
    #[error(
        "tensor {tensor} of {bytes} bytes makes the sum of all tensors larger than {LARGEST_SUM} bytes"
    )]
    TooLarge {
        /// The first tensor that is too much.
        tensor: String,
        /// Its bytes.
        bytes: u64,
    },
}

/// What orders are checked and judged by: who comes before whom, who writes what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edges {
    /// For each tensor, the operator that writes it.
    pub writer: Vec<Option<usize>>,
    /// For each operator, those that must come before it, ascending, each once.
    pub before: Vec<Vec<u32>>,
}

impl Graph {
    fn tensor_name(&self, index: usize) -> String {
        format!("{index} ('{}')", self.tensors[index].name)
    }

    fn operator_name(&self, index: usize) -> String {
        format!("{index} ('{}')", self.operators[index].name)
    }

    /// Checks the graph and finds who comes before whom.
    pub(super) fn edges(&self) -> Result<Edges, GraphError> {
        let mut sum = 0u64;
        for (index, tensor) in self.tensors.iter().enumerate() {
            sum = sum.checked_add(tensor.bytes).filter(|sum| *sum <= LARGEST_SUM).ok_or_else(
                || GraphError::TooLarge { tensor: self.tensor_name(index), bytes: tensor.bytes },
            )?;
        }
        let known = |place: &dyn Fn() -> String, list: &[usize]| match list
            .iter()
            .find(|index| **index >= self.tensors.len())
        {
            Some(index) => Err(GraphError::NoTensor {
                place: place(),
                index: *index,
                count: self.tensors.len(),
            }),
            None => Ok(()),
        };
        known(&|| "the list of inputs".to_owned(), &self.inputs)?;
        known(&|| "the list of outputs".to_owned(), &self.outputs)?;
        known(&|| "the list of variables".to_owned(), &self.variables)?;
        let inside = self.inside.iter().flatten().copied().collect::<Vec<_>>();
        known(&|| "the list of tensors that lie in others".to_owned(), &inside)?;
        let mut writer: Vec<Option<usize>> = vec![None; self.tensors.len()];
        for (index, operator) in self.operators.iter().enumerate() {
            known(&|| format!("operator {}", self.operator_name(index)), &operator.inputs)?;
            known(&|| format!("operator {}", self.operator_name(index)), &operator.outputs)?;
            for output in &operator.outputs {
                match writer[*output].replace(index) {
                    Some(first) if first != index => {
                        return Err(GraphError::TwoWriters {
                            tensor: self.tensor_name(*output),
                            first: self.operator_name(first),
                            second: self.operator_name(index),
                        });
                    }
                    _ => {}
                }
            }
        }
        for input in &self.inputs {
            if let Some(operator) = writer[*input] {
                return Err(GraphError::WrittenInput {
                    tensor: self.tensor_name(*input),
                    operator: self.operator_name(operator),
                });
            }
        }
        let given = |tensor: &usize| {
            writer[*tensor].is_some()
                || self.inputs.contains(tensor)
                || self.variables.contains(tensor)
        };
        if let Some(tensor) = self.outputs.iter().find(|tensor| !given(tensor)) {
            return Err(GraphError::UnwrittenOutput { tensor: self.tensor_name(*tensor) });
        }
        let mut before = Vec::with_capacity(self.operators.len());
        for (index, operator) in self.operators.iter().enumerate() {
            if let Some(other) = operator.after.iter().find(|o| **o >= self.operators.len()) {
                return Err(GraphError::NoOperator {
                    place: self.operator_name(index),
                    index: *other,
                    count: self.operators.len(),
                });
            }
            let writers = operator.inputs.iter().filter_map(|input| writer[*input]);
            let mut list: Vec<u32> =
                writers.chain(operator.after.iter().copied()).map(|o| o as u32).collect();
            list.sort_unstable();
            list.dedup();
            before.push(list);
        }
        self.no_circle(&before)?;
        Ok(Edges { writer, before })
    }

    fn no_circle(&self, before: &[Vec<u32>]) -> Result<(), GraphError> {
        let mut waits: Vec<usize> = before.iter().map(Vec::len).collect();
        let mut after: Vec<Vec<u32>> = vec![Vec::new(); before.len()];
        for (index, list) in (0u32..).zip(before) {
            for other in list {
                after[*other as usize].push(index);
            }
        }
        let mut ready: Vec<usize> = (0..before.len()).filter(|o| waits[*o] == 0).collect();
        let mut done = 0;
        while let Some(operator) = ready.pop() {
            done += 1;
            for next in &after[operator] {
                waits[*next as usize] -= 1;
                if waits[*next as usize] == 0 {
                    ready.push(*next as usize);
                }
            }
        }
        if done == before.len() {
            return Ok(());
        }
        // Each operator left waits for another that is left: walking back runs into a circle.
        let mut walk = Vec::new();
        let mut seen = vec![false; before.len()];
        let mut at = (0..before.len()).find(|o| waits[*o] > 0).unwrap_or(0);
        while !seen[at] {
            seen[at] = true;
            walk.push(at);
            at = before[at].iter().map(|o| *o as usize).find(|o| waits[*o] > 0).unwrap_or(at);
        }
        let start = walk.iter().position(|o| *o == at).unwrap_or(0);
        let names: Vec<String> =
            walk[start..].iter().rev().take(8).map(|o| self.operator_name(*o)).collect();
        let more = if walk.len() - start > names.len() { " …" } else { "" };
        Err(GraphError::Circle { circle: names.join(" → ") + more })
    }
}

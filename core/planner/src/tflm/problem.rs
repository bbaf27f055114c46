//! The main graph of a file as a question of order.

use super::lives::{Lives, NEVER};
use super::{ALIGNMENT, TflmError};
use tilewright_model::file_graph::{FileGraph, FileSubgraph, Storage};
use tilewright_order::{Effect, Graph, Operator, Problem, Rules, Tensor};

/// Largest size or offset: the runtime counts in 32 bits.
pub const LARGEST: u64 = i32::MAX as u64 / ALIGNMENT * ALIGNMENT;

/// Bytes that a tensor takes in the arena.
pub fn aligned(bytes: u64) -> u64 {
    bytes.div_ceil(ALIGNMENT).saturating_mul(ALIGNMENT)
}

/// The problem, with `lives` of the file's own order. Tensors have the numbers that they have in
/// the file; what the graphs need that an operator calls comes after them.
pub fn problem(graph: &FileGraph, lives: &Lives) -> Result<Problem, TflmError> {
    let Some(main) = graph.main() else {
        return Err(TflmError::Mismatch("the file has no graph".to_owned()));
    };
    let in_arena = |tensor: usize| {
        main.tensors.get(tensor).is_some_and(|t| t.storage == Storage::Arena && t.bytes > 0)
    };
    let mut tensors = Vec::with_capacity(main.tensors.len());
    for (index, tensor) in main.tensors.iter().enumerate() {
        let bytes = if in_arena(index) { aligned(tensor.bytes) } else { 0 };
        if bytes > LARGEST {
            return Err(TflmError::TooLarge { tensor: tensor.name.clone(), bytes: tensor.bytes });
        }
        tensors.push(Tensor { name: tensor.name.clone(), bytes });
    }
    let called = Called::of(graph, lives);
    let mut operators = Vec::with_capacity(main.operators.len());
    for (index, operator) in main.operators.iter().enumerate() {
        let mut outputs = operator.outputs.clone();
        let called = called.most(lives.operators[index]);
        if called > 0 && !operator.calls.is_empty() {
            outputs.push(tensors.len());
            tensors.push(Tensor { name: format!("graphs of {}", operator.name), bytes: called });
        }
        operators.push(Operator {
            name: operator.name.clone(),
            effect: if operator.keeps_bytes { Effect::Alias } else { Effect::Plain },
            inputs: operator.inputs.clone(),
            outputs,
            after: operator.after.clone(),
            covered: Vec::new(),
        });
    }
    let written = written(main);
    let mut inputs: Vec<usize> =
        main.inputs.iter().copied().filter(|tensor| in_arena(*tensor)).collect();
    // What is read but never written has a place from the start.
    let read = main.operators.iter().flat_map(|operator| &operator.inputs).copied();
    inputs.extend(read.filter(|tensor| in_arena(*tensor) && !written[*tensor]));
    inputs.sort_unstable();
    inputs.dedup();
    let outputs = main.outputs.iter().copied().filter(|tensor| {
        in_arena(*tensor) && (written[*tensor] || inputs.binary_search(tensor).is_ok())
    });
    let outputs = outputs.collect();
    let graph = Graph { tensors, operators, inputs, outputs, ..Graph::default() };
    let rules = Rules { in_place: true, concat: false };
    Ok(Problem::new(graph, rules)?)
}

fn written(main: &FileSubgraph) -> Vec<bool> {
    let mut written = vec![false; main.tensors.len()];
    for tensor in main.operators.iter().flat_map(|operator| &operator.outputs) {
        if let Some(written) = written.get_mut(*tensor) {
            *written = true;
        }
    }
    written
}

/// Bytes that tensors of called graphs take, by scope.
struct Called {
    /// A scope, and the bytes from it on; ascending.
    sums: Vec<(i64, i64)>,
}

impl Called {
    fn of(graph: &FileGraph, lives: &Lives) -> Self {
        let own = graph.main().map_or(0, |main| main.tensors.len());
        let mut sums: Vec<(i64, i64)> = Vec::new();
        for (tensor, life) in graph.tensors().zip(&lives.tensors).skip(own) {
            if tensor.storage == Storage::Arena && life.first != NEVER {
                let bytes = i64::try_from(aligned(tensor.bytes)).unwrap_or(i64::MAX);
                sums.push((life.first, bytes));
                sums.push((life.last + 1, -bytes));
            }
        }
        sums.sort_unstable();
        let mut sum = 0i64;
        for entry in &mut sums {
            sum = sum.saturating_add(entry.1);
            entry.1 = sum;
        }
        Self { sums }
    }

    /// Most bytes at a time from one scope to another.
    fn most(&self, (from, to): (i64, i64)) -> u64 {
        let start = self.sums.partition_point(|(scope, _)| *scope <= from).saturating_sub(1);
        let end = self.sums.partition_point(|(scope, _)| *scope <= to);
        let sums = self.sums.get(start..end).into_iter().flatten().map(|(_, sum)| *sum);
        sums.max().unwrap_or(0).max(0).cast_unsigned()
    }
}

//! When tensors live, as the runtime's allocator counts it: a scope before the first operator, one
//! for each operator, and one for each graph that an operator calls.

use super::{DEEPEST, MOST_CALLED, TflmError};
use tilewright_model::file_graph::FileGraph;

/// First and last scope in which a tensor lives, both included; before all scopes if nothing names
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    pub first: i64,
    pub last: i64,
}

/// Stands for no scope.
pub const NEVER: i64 = -1;

/// The lives of all tensors.
#[derive(Clone, Debug)]
pub struct Lives {
    /// Of each tensor, those of one graph after those of the other.
    pub tensors: Vec<Life>,
    /// First and last scope of each operator of the main graph.
    pub operators: Vec<(i64, i64)>,
}

/// Lives when the operators of the main graph run in `order`.
///
/// # Errors
/// If graphs call each other without end, or an index is wrong.
pub fn lives(graph: &FileGraph, order: &[usize]) -> Result<Lives, TflmError> {
    let mut bases = Vec::with_capacity(graph.subgraphs.len());
    let mut count = 0;
    for subgraph in &graph.subgraphs {
        bases.push(count);
        count += subgraph.tensors.len();
    }
    let operators = graph.main().map_or(0, |main| main.operators.len());
    let mut marker = Marker {
        graph,
        bases,
        scope: 0,
        looked: 0,
        lives: Lives {
            tensors: vec![Life { first: NEVER, last: NEVER }; count],
            operators: vec![(NEVER, NEVER); operators],
        },
    };
    if !graph.subgraphs.is_empty() {
        marker.graph(0, Some(order), 0)?;
    }
    Ok(marker.lives)
}

struct Marker<'g> {
    graph: &'g FileGraph,
    /// Number of the first tensor of each graph.
    bases: Vec<usize>,
    scope: i64,
    looked: usize,
    lives: Lives,
}

impl Marker<'_> {
    fn life(&mut self, subgraph: usize, tensor: usize) -> Result<&mut Life, TflmError> {
        let known = tensor < self.graph.subgraphs[subgraph].tensors.len();
        let life = self.lives.tensors.get_mut(self.bases[subgraph] + tensor).filter(|_| known);
        life.ok_or_else(|| {
            TflmError::Mismatch(format!("graph {subgraph} has no tensor {tensor}, but names it"))
        })
    }

    fn begin(&mut self, subgraph: usize, tensor: usize) -> Result<(), TflmError> {
        let scope = self.scope;
        let life = self.life(subgraph, tensor)?;
        if life.first == NEVER {
            life.first = scope;
        }
        Ok(())
    }

    fn end(&mut self, subgraph: usize, tensor: usize) -> Result<(), TflmError> {
        let scope = self.scope;
        self.life(subgraph, tensor)?.last = scope;
        Ok(())
    }

    fn graph(
        &mut self,
        number: usize,
        order: Option<&[usize]>,
        depth: usize,
    ) -> Result<(), TflmError> {
        let graph = self.graph;
        let calls = || TflmError::Calls { subgraph: number };
        let subgraph = graph.subgraphs.get(number).ok_or_else(calls)?;
        let is_main = order.is_some();
        if depth > DEEPEST || (number == 0) != is_main {
            return Err(calls());
        }
        for tensor in &subgraph.inputs {
            self.begin(number, *tensor)?;
            self.end(number, *tensor)?;
        }
        for position in 0..subgraph.operators.len() {
            self.looked += 1;
            if self.looked > MOST_CALLED {
                return Err(calls());
            }
            let index = match order {
                Some(order) => order.get(position).copied().unwrap_or(usize::MAX),
                None => position,
            };
            let operator = subgraph.operators.get(index).ok_or_else(|| {
                let count = subgraph.operators.len();
                TflmError::Mismatch(format!("the order is not one of {count} operators"))
            })?;
            self.scope += 1;
            let from = self.scope;
            for tensor in &operator.outputs {
                self.begin(number, *tensor)?;
            }
            for called in &operator.calls {
                self.scope += 1;
                self.graph(*called, None, depth + 1)?;
            }
            for tensor in operator.inputs.iter().chain(&operator.outputs) {
                self.end(number, *tensor)?;
            }
            if is_main {
                self.lives.operators[index] = (from, self.scope);
            }
        }
        for tensor in &subgraph.outputs {
            self.begin(number, *tensor)?;
            self.end(number, *tensor)?;
        }
        Ok(())
    }
}

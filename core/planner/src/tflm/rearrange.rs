//! The order and the offsets with which the runtime's arena is smallest.

use std::sync::Arc;

use super::lives::{Life, Lives, NEVER, lives};
use super::problem::{LARGEST, aligned, problem};
use super::{ALIGNMENT, MOST_TENSORS, TflmError, arena};
use tilewright_allocate::{Goal, Search, Solution, validate};
use tilewright_model::file_graph::{FileGraph, NO_OFFSET, Storage};
use tilewright_order::{Budget, Joint, Placed, Problem};
use tilewright_plan::Bytes;

/// Units of work between two questions whether to go on.
const SLICE: u64 = 1_000_000;

/// How much memory the tensors of a file take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Operators of the main graph.
    pub operators: usize,
    /// Operators that stand elsewhere now.
    pub moved: usize,
    /// Arena that the runtime makes for the file as it is.
    pub before: Bytes,
    /// Arena with the offsets found for the file's own order.
    pub file_order: Bytes,
    /// Arena with the order and the offsets found.
    pub arena: Bytes,
    /// No order and no offsets need less.
    pub lower_bound: Bytes,
}

impl Report {
    /// Whether nothing needs less.
    #[must_use]
    pub fn is_proved(&self) -> bool {
        self.arena == self.lower_bound
    }
}

/// What to write into the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rearranged {
    /// Operators of the main graph in their new order, as indices into the old one. The old order
    /// if no other needs less.
    pub order: Vec<usize>,
    /// Offsets of the tensors of all graphs, one graph after the other: [`NO_OFFSET`] for those
    /// that the runtime places itself.
    pub offsets: Vec<i32>,
    /// The figures.
    pub report: Report,
}

/// Finds order and offsets; `budget` goes once to the offsets of the file's order, once to the
/// order and once to its offsets. It goes on as long as `go_on` says so.
///
/// # Errors
/// [`TflmError`] says why the file cannot be rearranged.
pub fn rearrange(
    graph: &FileGraph,
    budget: Budget,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Rearranged, TflmError> {
    let given: Vec<usize> = (0..graph.main().map_or(0, |main| main.operators.len())).collect();
    let counted = graph.tensors().filter(|t| t.storage == Storage::Arena && t.bytes > 0).count();
    if counted > MOST_TENSORS {
        return Err(TflmError::TooMany { tensors: counted });
    }
    let old = lives(graph, &given)?;
    let problem = Arc::new(problem(graph, &old)?);
    problem.measure(&given)?;
    let before = arena(graph, &given, graph.offsets.as_deref())?;

    let placed = problem.placed(&given)?;
    let solution = least(&placed, budget.work, go_on)?;
    let offsets = offsets(graph, &old, &problem, &placed, &solution)?;
    let file_order = checked(graph, &given, &offsets)?;

    let mut joint = Joint::new(Arc::clone(&problem), ALIGNMENT, budget);
    loop {
        if !go_on() {
            return Err(TflmError::Cancelled);
        }
        if joint.advance(SLICE)? {
            break;
        }
    }
    let mut best = (given, offsets, file_order);
    let mut lower_bound = floor(graph, &old);
    if let Some(arranged) = joint.best() {
        lower_bound = lower_bound.max(arranged.ordered.lower_bound);
        let order = arranged.ordered.order.clone();
        let new = lives(graph, &order)?;
        let offsets = self::offsets(graph, &new, &problem, &arranged.placed, &arranged.solution)?;
        let arena = checked(graph, &order, &offsets)?;
        if arena < best.2 {
            best = (order, offsets, arena);
        }
    }
    let (order, offsets, arena) = best;
    let moved = order.iter().enumerate().filter(|(position, index)| position != *index).count();
    let operators = order.len();
    let report = Report { operators, moved, before, file_order, arena, lower_bound };
    Ok(Rearranged { order, offsets, report })
}

/// Places buffers as low as `units` of work allow.
fn least(
    placed: &[Placed],
    mut units: u64,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Solution, TflmError> {
    let buffers = placed.iter().map(|p| p.buffer.clone().aligned(ALIGNMENT)).collect();
    let mut search = Search::new(buffers, Goal::Least)?;
    while units > 0 && search.advance(SLICE.min(units)) != tilewright_allocate::Progress::Done {
        units = units.saturating_sub(SLICE);
        if !go_on() {
            return Err(TflmError::Cancelled);
        }
    }
    Ok(search.best().ok_or(tilewright_allocate::ProblemError::NoRoom)?)
}

/// Bytes that are needed whatever the order: all inputs before the first operator, and the largest
/// tensor that nothing names.
fn floor(graph: &FileGraph, lives: &Lives) -> Bytes {
    let mut inputs = 0u64;
    let mut largest = 0;
    for (tensor, life) in graph.tensors().zip(&lives.tensors) {
        if tensor.storage == Storage::Arena {
            if life.first <= 0 && life.last >= 0 {
                inputs = inputs.saturating_add(aligned(tensor.bytes));
            }
            largest = largest.max(aligned(tensor.bytes));
        }
    }
    Bytes(inputs.max(largest))
}

/// The offsets to prescribe: those of the solution; 0 for what nothing names; none for what is no
/// part of the problem.
fn offsets(
    graph: &FileGraph,
    lives: &Lives,
    problem: &Problem,
    placed: &[Placed],
    solution: &Solution,
) -> Result<Vec<i32>, TflmError> {
    let main = graph.main().map_or(0, |main| main.tensors.len());
    let mut offsets = vec![NO_OFFSET; lives.tensors.len()];
    for (placed, offset) in placed.iter().zip(&solution.offsets) {
        let too_large = || {
            let tensor = placed.tensors.first().map(|tensor| &problem.graph().tensors[*tensor]);
            let tensor = tensor.map(|tensor| tensor.name.clone()).unwrap_or_default();
            TflmError::TooLarge { tensor, bytes: placed.buffer.bytes.0 }
        };
        if offset.saturating_add(placed.buffer.bytes.0) > LARGEST {
            return Err(too_large());
        }
        for tensor in placed.tensors.iter().filter(|tensor| **tensor < main) {
            if graph.subgraphs[0].tensors[*tensor].bytes > 0 {
                offsets[*tensor] = i32::try_from(*offset).map_err(|_| too_large())?;
            }
        }
    }
    let variables = graph.subgraphs.iter().skip(1).flat_map(|called| {
        let is_variable = |index: &usize| called.tensors[*index].storage == Storage::Variable;
        (0..called.tensors.len()).filter(is_variable)
    });
    let variables: std::collections::BTreeSet<usize> = variables.collect();
    for (index, tensor) in graph.subgraphs[0].tensors.iter().enumerate() {
        if tensor.storage != Storage::Arena || tensor.bytes == 0 {
            offsets[index] = NO_OFFSET;
        } else if lives.tensors[index].first == NEVER && lives.tensors[index].last == NEVER {
            offsets[index] = 0;
        }
        // For a variable of a called graph the runtime looks at the offset of the tensor with the
        // same number in the main graph, and gives it no memory if there is one.
        if variables.contains(&index) {
            offsets[index] = NO_OFFSET;
        }
    }
    Ok(offsets)
}

/// The runtime's arena with these offsets, after a proof that they keep tensors apart which live
/// together, but for those that a reshape makes one.
fn checked(graph: &FileGraph, order: &[usize], offsets: &[i32]) -> Result<Bytes, TflmError> {
    let lives = lives(graph, order)?.tensors;
    let main = graph.main().map_or(&[][..], |main| &main.operators);
    // A reshape's output lies with its input: their lives are one.
    let mut one: Vec<usize> = (0..lives.len()).collect();
    for index in order {
        let operator = &main[*index];
        if let (true, Some(input), [output]) =
            (operator.keeps_bytes, operator.inputs.first(), operator.outputs.as_slice())
            && offsets[*input] == offsets[*output]
            && graph.subgraphs[0].tensors[*input].bytes == graph.subgraphs[0].tensors[*output].bytes
        {
            one[*output] = one[*input];
        }
    }
    let mut merged: Vec<Option<Life>> = vec![None; lives.len()];
    for (tensor, life) in lives.iter().enumerate() {
        let whole = merged[one[tensor]].get_or_insert(*life);
        whole.first = whole.first.min(life.first);
        whole.last = whole.last.max(life.last);
    }
    let mut buffers = Vec::new();
    let mut places = Vec::new();
    for (index, tensor) in graph.tensors().enumerate() {
        let (Ok(offset), Some(life)) = (u64::try_from(offsets[index]), merged[index]) else {
            continue;
        };
        if life.first != NEVER || life.last != NEVER {
            let time = |scope: i64| (scope + 1).max(0).cast_unsigned();
            let (first, end) = (time(life.first), time(life.last) + 1);
            let buffer = tilewright_allocate::Buffer::new(first, end, Bytes(aligned(tensor.bytes)));
            buffers.push(buffer.aligned(ALIGNMENT));
            places.push(offset);
        }
    }
    let solution = Solution::of(&buffers, places);
    validate(&buffers, &solution, None).map_err(|fault| TflmError::Wrong(fault.to_string()))?;
    arena(graph, order, Some(offsets))
}

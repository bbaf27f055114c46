//! A smaller network that fails alike.

use std::collections::BTreeSet;
use std::ops::Range;

use tilewright_model::{Model, TensorId};

/// Most runs that shrinking takes.
const MOST_RUNS: usize = 60;

/// The fewest consecutive nodes of a model that still `fail`, as a model of their own: what they read and do not
/// make are its inputs, what others read of what they make are its outputs.
#[must_use]
pub fn shrunk(model: &Model, fails: &mut dyn FnMut(&Model) -> bool) -> Model {
    let mut range = 0..model.nodes.len();
    let mut runs = 0;
    let mut step = range.len().div_ceil(2);
    while step > 0 && runs < MOST_RUNS {
        let fewer = [range.start..range.end.saturating_sub(step), range.start + step..range.end];
        let smaller = fewer.into_iter().filter(|fewer| !fewer.is_empty()).find(|fewer| {
            runs += 1;
            part(model, fewer).is_some_and(|part| fails(&part))
        });
        match smaller {
            Some(smaller) => range = smaller,
            None => step /= 2,
        }
        step = step.min(range.len());
    }
    part(model, &range).filter(|_| range.len() < model.nodes.len()).unwrap_or_else(|| model.clone())
}

/// Consecutive nodes as a model; nothing if it is none.
fn part(model: &Model, range: &Range<usize>) -> Option<Model> {
    let nodes = model.nodes.get(range.clone())?.to_vec();
    let made: BTreeSet<TensorId> = nodes.iter().flat_map(|node| node.outputs.clone()).collect();
    let read: BTreeSet<TensorId> = nodes.iter().flat_map(|node| node.inputs.clone()).collect();
    let inputs = read.iter().filter(|id| !made.contains(id) && !model.tensor(**id).is_constant());
    let others = model.nodes.iter().enumerate().filter(|(index, _)| !range.contains(index));
    let wanted: BTreeSet<TensorId> = others.flat_map(|(_, node)| node.inputs.clone()).collect();
    let is_output =
        |id: &&TensorId| wanted.contains(id) || model.outputs.contains(id) || !read.contains(id);
    let mut part = Model {
        name: format!("{}-{}-{}", model.name, range.start, range.end),
        inputs: inputs.copied().collect(),
        outputs: made.iter().filter(is_output).copied().collect(),
        nodes,
        ..Model::default()
    };
    // Only the tensors that are left.
    let mut kept = Vec::new();
    let mut place = |id: &mut TensorId| {
        let at = kept.iter().position(|other| other == id).unwrap_or_else(|| {
            kept.push(*id);
            kept.len() - 1
        });
        *id = TensorId(at);
    };
    part.inputs.iter_mut().for_each(&mut place);
    for node in &mut part.nodes {
        node.inputs.iter_mut().chain(&mut node.outputs).for_each(&mut place);
    }
    part.outputs.iter_mut().for_each(&mut place);
    part.tensors = kept.iter().map(|id| model.tensor(*id).clone()).collect();
    part.short_products = model.short_products;
    part.verify().ok()?;
    part.is_int8().then_some(part)
}

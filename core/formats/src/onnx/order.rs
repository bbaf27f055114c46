//! The order of a graph's nodes. The standard wants each node behind those that make its operands;
//! some writers do not keep to it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::attributes::Place;
use super::messages::NodeProto;
use crate::FormatError;

/// Most names of nodes that a message about a cycle lists.
const NAMED: usize = 5;

/// Puts the nodes in an order in which they can be executed: of those whose operands are all made,
/// the first of the file is next, so that a file in order stays as it is. Gives for each node its
/// index in the file. Operands that no node makes are not looked at.
///
/// # Errors
/// Names a node that needs its own result.
pub(super) fn sort(nodes: &mut Vec<NodeProto>) -> Result<Vec<usize>, FormatError> {
    let order = order(nodes)?;
    if !order.is_sorted() {
        let mut unsorted: Vec<Option<NodeProto>> =
            std::mem::take(nodes).into_iter().map(Some).collect();
        nodes.extend(order.iter().filter_map(|index| unsorted[*index].take()));
    }
    Ok(order)
}

fn order(nodes: &[NodeProto]) -> Result<Vec<usize>, FormatError> {
    let mut makers: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        for name in node.output.iter().filter(|name| !name.is_empty()) {
            makers.entry(name).or_insert(index);
        }
    }
    // The nodes that a node waits for, one for each of its operands.
    let before = |index: usize| {
        nodes[index].input.iter().filter_map(|name| makers.get(name.as_str()).copied())
    };
    if (0..nodes.len()).all(|index| before(index).all(|maker| maker < index)) {
        return Ok((0..nodes.len()).collect());
    }
    let mut missing: Vec<usize> = (0..nodes.len()).map(|index| before(index).count()).collect();
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for index in 0..nodes.len() {
        for maker in before(index) {
            readers[maker].push(index);
        }
    }
    let is_ready = |index: &usize| missing[*index] == 0;
    let mut ready: BinaryHeap<Reverse<usize>> =
        (0..nodes.len()).filter(is_ready).map(Reverse).collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(Reverse(index)) = ready.pop() {
        order.push(index);
        for reader in &readers[index] {
            missing[*reader] -= 1;
            if missing[*reader] == 0 {
                ready.push(Reverse(*reader));
            }
        }
    }
    let Some(stuck) = missing.iter().position(|count| *count > 0) else { return Ok(order) };
    let waits = |index| before(index).find(|maker| missing[*maker] > 0);
    let waits: Vec<Option<usize>> = (0..nodes.len()).map(waits).collect();
    Err(cycle(nodes, stuck, &waits))
}

/// What to say of a node that waits for ever; `waits` gives for each such node one that it waits
/// for and that waits for ever too.
fn cycle(nodes: &[NodeProto], stuck: usize, waits: &[Option<usize>]) -> FormatError {
    let place = |index: usize| Place { node: &nodes[index], index, opset: 0 };
    // After as many steps as there are nodes the walk is on a cycle.
    let walk = |from: usize| std::iter::successors(Some(from), |index| waits[*index]);
    let start = walk(stuck).nth(nodes.len()).unwrap_or(stuck);
    let others: Vec<usize> = walk(start).skip(1).take_while(|index| *index != start).collect();
    let names: Vec<&str> = others.iter().take(NAMED).map(|index| place(*index).name()).collect();
    let by_way = match (names.as_slice(), others.len()) {
        ([], _) => String::new(),
        (names, count) if count > NAMED => {
            format!(" by way of '{}' and {} more", names.join("', '"), count - NAMED)
        }
        (names, _) => format!(" by way of '{}'", names.join("', '")),
    };
    place(start).bad(format!("it needs its own result{by_way}, so that no order of nodes can run"))
}

//! How large the fast buffers are.

use super::Overlaid;
use super::partition::Partition;
use crate::schedule::operator::Operator;
use crate::schedule::place::Slots;
use crate::strategy::external::LINE;
use tilewright_plan::Role;

/// Buffers from `base` on, up to the budget, for the tiles of a partition; B2 takes of the rest of
/// the budget what lets filters lie side by side.
pub fn buffers(
    operators: &[Operator<'_>],
    partition: &Partition,
    [base, budget]: [u64; 2],
    overlaid: Overlaid,
) -> Slots {
    let Partition { tiny, inputs, output, parameters, .. } = *partition;
    let fourth = if inputs > 2 { tiny } else { 0 };
    let rest = budget.saturating_sub(base + inputs * tiny + 2 * output + parameters) / LINE * LINE;
    let most = fourth + rest;
    let room = most + fourth;
    let taken = match (overlaid.filters, overlaid.parts) {
        (false, _) => 0,
        (true, true) => together(operators, room),
        (true, false) => together_of(operators, |bytes| if bytes > room { 0 } else { bytes }),
    };
    let third = taken.saturating_sub(fourth).clamp(fourth, most);
    Slots { base, tiny, third, fourth, parameters, output }
}

/// The most bytes of filters of two operators that follow each other, of each at most `room`.
pub fn together(operators: &[Operator<'_>], room: u64) -> u64 {
    together_of(operators, |bytes| bytes.min(room))
}

fn together_of(operators: &[Operator<'_>], taken: impl Fn(u64) -> u64) -> u64 {
    let filters = operators.iter().map(|operator| match operator.inputs().nth(1) {
        Some(_) => 0,
        None => taken(operator.bytes(Role::Weights)),
    });
    let filters: Vec<u64> = filters.collect();
    let largest = filters.iter().copied().max().unwrap_or(0);
    let pairs = filters.windows(2).map(|pair| pair.iter().sum());
    largest.max(pairs.max().unwrap_or(0))
}

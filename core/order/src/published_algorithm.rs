//! The published algorithm: Sudharsan et al., section 3.4, algorithm 1.
//!
//! A recursion over the sets of tensors that are still to be made, from the outputs back to the
//! inputs, each set solved once: O(|O| · 2^|O|), so it is bounded here. As printed it keeps the
//! tensor that it has just expanded, so that it never ends (line 16), and counts tensors twice
//! (line 26); this is the dynamic programme that it means.

use std::collections::BTreeMap;

use super::cursor::Cursor;
use super::problem::Problem;
use tilewright_plan::Bytes;

/// The best order and its peak; nothing if more than `most_sets` sets come up.
#[must_use]
pub fn published(problem: &Problem, most_sets: usize) -> Option<(Vec<usize>, Bytes)> {
    let net = problem.net.mirrored();
    let fresh = Cursor::new(&net);
    let mut cursor = fresh.clone();
    // For each number of operators taken back, the sets of them: the least peak so far, and the
    // operator taken back last.
    let mut layers: Vec<BTreeMap<Vec<u64>, (u64, u32)>> =
        vec![BTreeMap::from([(fresh.run.0.clone(), (fresh.memory.live, u32::MAX))])];
    let mut sets = 1;
    for _ in 0..net.len() {
        let mut next: BTreeMap<Vec<u64>, (u64, u32)> = BTreeMap::new();
        for (set, (peak, _)) in layers.last()? {
            cursor.jump(&net, &fresh, set);
            let ready: Vec<u32> = cursor.ready.iter().collect();
            for op in ready {
                let [first, second] = cursor.memory.after(&net, &net.halves[op as usize]);
                let reached = (*peak).max(first).max(second);
                let mut set = set.clone();
                set[op as usize / 64] |= 1 << (op % 64);
                let entry = next.entry(set).or_insert((u64::MAX, op));
                if reached < entry.0 {
                    *entry = (reached, op);
                }
            }
            if sets + next.len() > most_sets {
                return None;
            }
        }
        sets += next.len();
        layers.push(next);
    }
    let (mut set, (peak, _)) = layers.last()?.first_key_value().map(|(s, v)| (s.clone(), *v))?;
    let mut order = Vec::with_capacity(net.len());
    for layer in layers.iter().skip(1).rev() {
        let (_, op) = layer.get(&set)?;
        order.push(*op as usize);
        set[*op as usize / 64] &= !(1 << (op % 64));
    }
    Some((order, Bytes(peak)))
}

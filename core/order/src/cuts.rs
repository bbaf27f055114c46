//! States that some best order passes through.
//!
//! Let V be a state such that no state that holds V, but lacks one of its members' followers, has
//! fewer live bytes than V, and likewise downwards:
//!
//! * for each last member w of V: V is least among the states from V up that hold nothing that
//!   comes after w;
//! * for each first operator u outside of V: V is least among the states up to V that hold all
//!   that comes before u.
//!
//! Then for each state X of an order that is neither above nor below V, X ∪ V and X ∩ V have at
//! least the bytes of V, and as live bytes are submodular, neither has more than X. So the order
//! through all X ∩ V and then all X ∪ V has no higher peak, and it passes through V: what runs
//! before V and what runs after it are problems of their own.

use super::flow;
use super::net::Net;

/// Looks for cuts along an order.
pub struct Finder {
    /// Positions of the order still to look at, those with the fewest live bytes last.
    candidates: Vec<usize>,
    cuts: Vec<usize>,
}

impl Finder {
    /// A finder of cuts along `order`.
    pub fn new(net: &Net, order: &[u32]) -> Self {
        let (start, profile) = net.profile(order);
        let live = |count: usize| if count == 0 { start } else { profile[count - 1][1] };
        let mut candidates: Vec<usize> = (1..order.len())
            .filter(|c| live(*c) <= live(c - 1) && live(*c) <= live(c + 1))
            .collect();
        candidates.sort_by_key(|c| (std::cmp::Reverse(live(*c)), std::cmp::Reverse(*c)));
        Self { candidates, cuts: vec![0, order.len()] }
    }

    /// Looks at one more position, with at most `limit` units of work; whether there are more.
    pub fn advance(&mut self, net: &Net, order: &[u32], limit: u64, work: &mut u64) -> bool {
        if let Some(count) = self.candidates.pop()
            && is_cut(net, order, count, limit, work)
        {
            self.cuts.push(count);
        }
        !self.candidates.is_empty()
    }

    /// Positions of the cuts found, ascending, with beginning and end.
    pub fn into_cuts(mut self) -> Vec<usize> {
        self.cuts.sort_unstable();
        self.cuts.dedup();
        self.cuts
    }
}

/// Whether the first `count` operators of `order` are a cut; `false` if finding that out takes
/// more than `limit` units of work.
fn is_cut(net: &Net, order: &[u32], count: usize, limit: u64, work: &mut u64) -> bool {
    let start = *work;
    let mut inside = vec![false; net.len()];
    for op in &order[..count] {
        inside[*op as usize] = true;
    }
    let all: Vec<u32> = Vec::new();
    let live = net.part(&inside, None, &all).base;
    *work += net.len() as u64;
    let last = order[..count]
        .iter()
        .filter(|op| net.after[**op as usize].iter().all(|next| !inside[*next as usize]));
    for op in last {
        let followers = reach(&net.after, *op, work);
        let free: Vec<u32> =
            order[count..].iter().copied().filter(|other| !followers[*other as usize]).collect();
        *work += net.len() as u64;
        if *work - start > limit || !least(net, &inside, &free, live, limit, work) {
            return false;
        }
    }
    let first = order[count..]
        .iter()
        .filter(|op| net.before[**op as usize].iter().all(|other| inside[*other as usize]));
    for op in first {
        let needed = reach(&net.before, *op, work);
        let free: Vec<u32> =
            order[..count].iter().copied().filter(|other| !needed[*other as usize]).collect();
        let mut run = inside.clone();
        for other in &free {
            run[*other as usize] = false;
        }
        *work += net.len() as u64;
        if *work - start > limit || !least(net, &run, &free, live, limit, work) {
            return false;
        }
    }
    true
}

/// Whether no choice among `free`, in the state `run`, has fewer than `live` bytes.
fn least(net: &Net, run: &[bool], free: &[u32], live: u64, limit: u64, work: &mut u64) -> bool {
    if free.is_empty() {
        return true;
    }
    *work += net.work_of(free);
    let part = net.part(run, None, free);
    flow::fewest(&part, limit, work).is_some_and(|least| least >= live)
}

/// An operator and all that is reached from it over `edges`.
pub fn reach(edges: &[Vec<u32>], from: u32, work: &mut u64) -> Vec<bool> {
    let mut seen = vec![false; edges.len()];
    seen[from as usize] = true;
    let mut stack = vec![from];
    while let Some(op) = stack.pop() {
        *work += edges[op as usize].len() as u64 + 1;
        for next in &edges[op as usize] {
            if !seen[*next as usize] {
                seen[*next as usize] = true;
                stack.push(*next);
            }
        }
    }
    seen
}

/// Fewest bytes that can live while `op` runs, whatever the order; nothing if finding them takes
/// more than `limit` units of work.
pub fn needed(net: &Net, op: u32, limit: u64, work: &mut u64) -> Option<u64> {
    let mut run = reach(&net.before, op, work);
    let followers = reach(&net.after, op, work);
    run[op as usize] = false;
    let free: Vec<u32> = (0..net.len() as u32)
        .filter(|other| *other != op && !run[*other as usize] && !followers[*other as usize])
        .collect();
    *work += net.work_of(&free);
    flow::fewest(&net.part(&run, Some(op as usize), &free), limit, work)
}

//! Orders found by looking one operator ahead: the first answers, improved by the search.

use super::cursor::Cursor;
use super::net::Net;

/// What is chosen among the operators that can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// What leaves the fewest bytes, then what needs the fewest.
    Leaves,
    /// What needs the fewest bytes, then what leaves the fewest.
    Needs,
    /// What became possible last.
    Deep,
}

/// All rules.
pub const RULES: [Rule; 3] = [Rule::Leaves, Rule::Needs, Rule::Deep];

/// An order by `rule`, in which what costs nothing always runs first; nothing if it takes more
/// than `limit` units of work.
pub fn order(net: &Net, rule: Rule, limit: u64, work: &mut u64) -> Option<Vec<u32>> {
    let mut cursor = Cursor::new(net);
    let mut peak = cursor.memory.live;
    let mut order = Vec::with_capacity(net.len());
    // When each operator became possible: the position of the last of those before it.
    let mut since = vec![0usize; net.len()];
    let start = *work;
    loop {
        let begun = order.len();
        cursor.close(net, peak, &mut order, work);
        mark(net, &order, begun, &mut since);
        if order.len() == net.len() {
            return Some(order);
        }
        if *work - start > limit {
            return None;
        }
        let mut best: Option<([u64; 2], u32)> = None;
        for op in cursor.ready.iter() {
            *work += 1;
            let [first, second] = cursor.memory.after(net, &net.halves[op as usize]);
            let key = match rule {
                Rule::Leaves => [second, first],
                Rule::Needs => [first, second],
                Rule::Deep => [(net.len() - since[op as usize]) as u64, second],
            };
            if best.is_none_or(|best| (key, op) < best) {
                best = Some((key, op));
            }
        }
        let (_, op) = best?;
        peak = peak.max(cursor.memory.after(net, &net.halves[op as usize])[0]);
        cursor.run(net, op);
        order.push(op);
        let begun = order.len() - 1;
        mark(net, &order, begun, &mut since);
    }
}

fn mark(net: &Net, order: &[u32], from: usize, since: &mut [usize]) {
    for (position, op) in order.iter().enumerate().skip(from) {
        for next in &net.after[*op as usize] {
            since[*next as usize] = position + 1;
        }
    }
}

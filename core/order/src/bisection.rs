//! Bisection: orders of large graphs through states in which little lives.
//!
//! The piece of the order with the highest peak is bisected: of several orders of it, each of which
//! fixes what runs in its first and in its last part, a minimum cut takes the state in between that
//! has the fewest live bytes; what runs before that state and what runs after it are put in order
//! anew, each on its own. Nothing is proved by that, since a best order may pass around every such
//! state; but it is what looking ahead by one operator cannot see.

use super::flow;
use super::greedy::{self, RULES};
use super::net::Net;
use super::search::{Outcome, Search};

/// Operators up to which a piece is searched instead of bisected.
const SEARCHED: usize = 40;

/// Bytes of memory that the search of a piece may take.
const SEARCH_MEMORY: usize = 4 << 20;

/// Units of work that the search of a piece may take.
const SEARCH_WORK: u64 = 400_000;

/// A stretch of the order.
struct Piece {
    from: usize,
    to: usize,
    peak: u64,
    /// Other orders of its operators, the present one first.
    orders: Vec<Vec<u32>>,
}

/// Bisects an order again and again.
pub struct Bisection {
    pieces: Vec<Piece>,
    order: Vec<u32>,
}

impl Bisection {
    /// Puts what lies between two positions of `order` in order anew.
    pub fn new(net: &Net, order: &[u32], from: usize, to: usize, work: &mut u64) -> Self {
        let mut bisection = Self { pieces: Vec::new(), order: order.to_vec() };
        bisection.add(net, from, to, work);
        bisection
    }

    /// The order as it is.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Bisects or searches the piece with the highest peak; whether there is more to do. Peaks up to
    /// `floor` are low enough.
    pub fn advance(&mut self, net: &Net, floor: u64, limit: u64, work: &mut u64) -> bool {
        let worst = (0..self.pieces.len()).max_by_key(|p| self.pieces[*p].peak);
        let Some(worst) = worst.filter(|p| self.pieces[*p].peak > floor) else { return false };
        let Piece { from, to, peak, orders } = self.pieces.swap_remove(worst);
        if to - from <= SEARCHED {
            return self.searched(net, from, to, (floor, peak), work);
        }
        let part = net.part(&self.run(from), None, &self.order[from..to]);
        *work += net.work_of(&self.order[from..to]);
        let local = Local::new(net.len(), &self.order[from..to]);
        let mut best: Option<(u64, Vec<u32>, usize)> = None;
        for order in orders {
            let order = local.of(&order);
            let Some((bytes, halves, middle)) = bisected(&part, &order, limit, work) else {
                continue;
            };
            if best.as_ref().is_none_or(|(least, ..)| bytes < *least) {
                best = Some((bytes, halves, middle));
            }
        }
        let Some((_, halves, middle)) = best else { return false };
        let old = self.order[from..to].to_vec();
        for (place, op) in self.order[from..to].iter_mut().zip(halves) {
            *place = old[op as usize];
        }
        self.add(net, from, from + middle, work);
        self.add(net, from + middle, to, work);
        true
    }

    /// Which operators have run before a position.
    fn run(&self, position: usize) -> Vec<bool> {
        let mut run = vec![false; self.order.len()];
        for op in &self.order[..position] {
            run[*op as usize] = true;
        }
        run
    }

    /// Makes a piece of what lies between two positions, in the best of several orders.
    fn add(&mut self, net: &Net, from: usize, to: usize, work: &mut u64) {
        let ops = self.order[from..to].to_vec();
        let part = net.part(&self.run(from), None, &ops);
        *work += net.work_of(&ops);
        let limit = 400 * ops.len() as u64;
        let mut orders: Vec<Vec<u32>> = vec![(0..ops.len() as u32).collect()];
        let mirror = part.mirrored();
        for rule in RULES {
            orders.extend(greedy::order(&part, rule, limit, work));
            let backwards = greedy::order(&mirror, rule, limit, work);
            orders.extend(backwards.map(|order| order.into_iter().rev().collect()));
        }
        let peaks: Vec<u64> = orders.iter().map(|order| part.peak(order)).collect();
        *work += (orders.len() * ops.len()) as u64;
        let best = (0..orders.len()).min_by_key(|o| peaks[*o]).unwrap_or(0);
        orders.swap(0, best);
        for order in &mut orders {
            order.iter_mut().for_each(|op| *op = ops[*op as usize]);
        }
        self.order[from..to].copy_from_slice(&orders[0]);
        self.pieces.push(Piece { from, to, peak: peaks[best], orders });
    }

    /// Looks for a lower order of a small piece; whether there is one.
    fn searched(
        &mut self,
        net: &Net,
        from: usize,
        to: usize,
        (floor, peak): (u64, u64),
        work: &mut u64,
    ) -> bool {
        let ops = self.order[from..to].to_vec();
        let part = net.part(&self.run(from), None, &ops);
        *work += net.work_of(&ops);
        let mut search = Search::new(part, floor, peak, SEARCH_MEMORY);
        let mut units = SEARCH_WORK;
        let found = search.advance(&mut units);
        *work += SEARCH_WORK - units;
        let Some(Outcome::Best(order, peak)) = found else { return false };
        for (place, op) in self.order[from..to].iter_mut().zip(order) {
            *place = ops[op as usize];
        }
        self.pieces.push(Piece { from, to, peak, orders: Vec::new() });
        true
    }
}

/// Numbers of operators in a part.
struct Local(Vec<u32>);

impl Local {
    fn new(count: usize, ops: &[u32]) -> Self {
        let mut local = vec![u32::MAX; count];
        for (number, op) in (0u32..).zip(ops) {
            local[*op as usize] = number;
        }
        Self(local)
    }

    fn of(&self, order: &[u32]) -> Vec<u32> {
        order.iter().map(|op| self.0[*op as usize]).collect()
    }
}

/// An order through the state with the fewest live bytes that holds the first quarter of `order`
/// and nothing of its last; those bytes and the number of operators before that state.
fn bisected(
    net: &Net,
    order: &[u32],
    limit: u64,
    work: &mut u64,
) -> Option<(u64, Vec<u32>, usize)> {
    let (first, last) = (order.len() / 4, order.len() - order.len() / 4);
    let mut run = vec![false; order.len()];
    for op in &order[..first] {
        run[*op as usize] = true;
    }
    let free = &order[first..last];
    *work += net.work_of(free);
    let (bytes, state) = flow::least(&net.part(&run, None, free), limit, work)?;
    for (op, has_run) in free.iter().zip(state) {
        run[*op as usize] = has_run;
    }
    let (before, after): (Vec<u32>, Vec<u32>) = order.iter().partition(|op| run[**op as usize]);
    let middle = before.len();
    Some((bytes, before.into_iter().chain(after).collect(), middle))
}

//! The state with the fewest live bytes, by a minimum cut.
//!
//! Live bytes are submodular over states, so the least of them is a cut in a graph with a node for
//! each operator: on the source's side it has run. An `Alloc` pays when it has run, a `Release`
//! pays while it has not. Push-relabel, with a limit on its work.

use super::net::{Event, Net};

const INFINITE: u64 = u64::MAX / 4;

#[derive(Clone, Copy)]
struct Arc {
    to: u32,
    left: u64,
}

/// Push-relabel (Goldberg and Tarjan 1988), its first phase: what has come so far is pushed on from
/// the nodes that are farthest from the sink.
#[derive(Default)]
struct Cut {
    arcs: Vec<Arc>,
    out: Vec<Vec<u32>>,
    /// Steps to the sink at least; as many as there are nodes where no way leads there.
    height: Vec<u32>,
    /// Nodes of each height below that.
    count: Vec<u32>,
    excess: Vec<u64>,
    /// Nodes with an excess, by height, and the greatest such height.
    active: Vec<Vec<u32>>,
    highest: usize,
    next: Vec<u32>,
}

impl Cut {
    fn node(&mut self) -> u32 {
        self.out.push(Vec::new());
        self.out.len() as u32 - 1
    }

    fn arc(&mut self, from: u32, to: u32, capacity: u64) {
        for (node, to, left) in [(from, to, capacity), (to, from, 0)] {
            self.out[node as usize].push(self.arcs.len() as u32);
            self.arcs.push(Arc { to, left });
        }
    }

    /// Most that flows; nothing if finding it takes more than `limit` units of work. Afterwards
    /// the heights say which nodes the least cut has on the side of the sink.
    fn flow(&mut self, source: u32, sink: u32, limit: u64, work: &mut u64) -> Option<u64> {
        let nodes = self.out.len();
        self.excess = vec![0; nodes];
        for index in 0..self.out[source as usize].len() {
            let arc = self.out[source as usize][index] as usize;
            let amount = std::mem::take(&mut self.arcs[arc].left);
            self.arcs[arc ^ 1].left += amount;
            self.excess[self.arcs[arc].to as usize] += amount;
        }
        let start = *work;
        let mut measured = *work;
        self.measure(source, sink, work);
        while let Some(node) = self.farthest() {
            self.discharge(node, source, sink, work);
            if *work - start > limit {
                return None;
            }
            if *work - measured > 12 * nodes as u64 + self.arcs.len() as u64 {
                self.measure(source, sink, work);
                measured = *work;
            }
        }
        self.measure(source, sink, work);
        Some(self.excess[sink as usize])
    }

    /// The node with an excess that is farthest from the sink and has a way there.
    fn farthest(&mut self) -> Option<u32> {
        loop {
            if let Some(node) = self.active[self.highest].pop() {
                return Some(node);
            }
            self.highest = self.highest.checked_sub(1)?;
        }
    }

    /// Steps from every node to the sink.
    fn measure(&mut self, source: u32, sink: u32, work: &mut u64) {
        let nodes = self.out.len();
        self.height.clear();
        self.height.resize(nodes, nodes as u32);
        self.count.clear();
        self.count.resize(nodes + 1, 0);
        self.next.clear();
        self.next.resize(nodes, 0);
        self.active.iter_mut().for_each(Vec::clear);
        self.active.resize(nodes + 1, Vec::new());
        self.highest = 0;
        self.height[sink as usize] = 0;
        let mut queue = std::collections::VecDeque::from([sink]);
        while let Some(node) = queue.pop_front() {
            let height = self.height[node as usize];
            self.count[height as usize] += 1;
            if node != sink && self.excess[node as usize] > 0 {
                self.activate(node);
            }
            *work += self.out[node as usize].len() as u64 + 1;
            for arc in &self.out[node as usize] {
                let other = self.arcs[*arc as usize].to;
                let leads_here = self.arcs[*arc as usize ^ 1].left > 0 && other != source;
                if leads_here && self.height[other as usize] == nodes as u32 {
                    self.height[other as usize] = height + 1;
                    queue.push_back(other);
                }
            }
        }
    }

    fn activate(&mut self, node: u32) {
        let height = self.height[node as usize] as usize;
        self.active[height].push(node);
        self.highest = self.highest.max(height);
    }

    /// Pushes what has come to a node on, raising it until nothing is left or no way leads on.
    fn discharge(&mut self, node: u32, source: u32, sink: u32, work: &mut u64) {
        let (at, nodes) = (node as usize, self.out.len() as u32);
        while self.excess[at] > 0 && self.height[at] < nodes {
            *work += 1;
            let Some(arc) = self.out[at].get(self.next[at] as usize).map(|arc| *arc as usize)
            else {
                self.raise(node, work);
                continue;
            };
            let Arc { to, left } = self.arcs[arc];
            if left == 0 || to == source || self.height[to as usize] + 1 != self.height[at] {
                self.next[at] += 1;
                continue;
            }
            let amount = left.min(self.excess[at]);
            self.arcs[arc].left -= amount;
            self.arcs[arc ^ 1].left += amount;
            self.excess[at] -= amount;
            self.excess[to as usize] += amount;
            if to != sink && self.excess[to as usize] == amount {
                self.activate(to);
            }
        }
    }

    /// Raises a node to one step above the lowest that it leads to.
    fn raise(&mut self, node: u32, work: &mut u64) {
        let (at, nodes) = (node as usize, self.out.len() as u32);
        let old = self.height[at] as usize;
        let open = self.out[at].iter().map(|arc| &self.arcs[*arc as usize]).filter(|a| a.left > 0);
        let lowest = open.map(|arc| self.height[arc.to as usize]).min().unwrap_or(nodes);
        *work += self.out[at].len() as u64;
        self.next[at] = 0;
        self.count[old] -= 1;
        // Where a height is missing, nothing above it leads to the sink.
        let height = if self.count[old] == 0 { nodes } else { (lowest + 1).min(nodes) };
        self.height[at] = height;
        if height < nodes {
            self.count[height as usize] += 1;
        }
    }
}

/// Fewest bytes that live in any state of `net`; nothing if finding them takes more than `limit`
/// units of work. The work done is added to `work`.
pub fn fewest(net: &Net, limit: u64, work: &mut u64) -> Option<u64> {
    least(net, limit, work).map(|(bytes, _)| bytes)
}

/// As [`fewest`], with the largest state of so few bytes: whether each operator has run.
pub fn least(net: &Net, limit: u64, work: &mut u64) -> Option<(u64, Vec<bool>)> {
    let mut allocs: Vec<Vec<u32>> = vec![Vec::new(); net.buffers.len()];
    let mut releases: Vec<Vec<u32>> = vec![Vec::new(); net.buffers.len()];
    for (op, halves) in (0u32..).zip(&net.halves) {
        for event in halves.first.iter().chain(&halves.second) {
            match *event {
                Event::Alloc(b) => allocs[b as usize].push(op),
                Event::Release(b) => releases[b as usize].push(op),
            }
        }
    }
    let ops = net.len() as u32;
    let (source, sink) = (ops, ops + 1);
    let mut cut = Cut::default();
    cut.out.resize(net.len() + 2, Vec::new());
    // What an operator pays alone if it has run, and if it has not.
    let mut pays = vec![[0u64; 2]; net.len()];
    // Live bytes = `fixed` + what is paid − `paid_back`.
    let (mut fixed, mut paid_back) = (net.base, 0u64);
    for (buffer, (allocs, releases)) in net.buffers.iter().zip(allocs.iter().zip(&releases)) {
        if buffer.born {
            fixed += buffer.bytes;
        } else if let [op] = allocs.as_slice() {
            pays[*op as usize][0] += buffer.bytes;
        } else if !allocs.is_empty() {
            let node = cut.node();
            cut.arc(node, sink, buffer.bytes);
            for op in allocs {
                cut.arc(*op, node, INFINITE);
            }
        }
        if buffer.releases == 0 {
            continue;
        }
        paid_back += buffer.bytes;
        if let [op] = releases.as_slice() {
            pays[*op as usize][1] += buffer.bytes;
        } else {
            let node = cut.node();
            cut.arc(source, node, buffer.bytes);
            for op in releases {
                cut.arc(node, *op, INFINITE);
            }
        }
    }
    let mut paid = 0u64;
    for (op, [run, waiting]) in (0u32..).zip(&pays) {
        let both = *run.min(waiting);
        paid += both;
        if *run > both {
            cut.arc(op, sink, run - both);
        }
        if *waiting > both {
            cut.arc(source, op, waiting - both);
        }
    }
    for (op, list) in (0u32..).zip(&net.before) {
        for other in list {
            cut.arc(op, *other, INFINITE);
        }
    }
    // Making an arc takes longer than looking at it.
    *work += 4 * cut.arcs.len() as u64;
    paid += cut.flow(source, sink, limit, work)?;
    // What leads to the sink no more has run.
    let nodes = cut.out.len() as u32;
    let state = cut.height[..net.len()].iter().map(|height| *height == nodes).collect();
    Some((fixed + paid - paid_back, state))
}

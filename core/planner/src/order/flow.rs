//! The state with the fewest live bytes, by a minimum cut.
//!
//! Live bytes are submodular over states, so the least of them is a cut in a graph with a node for
//! each operator: on the source's side it has run. An `Alloc` pays when it has run, a `Release`
//! pays while it has not. Dinic's algorithm, with a limit on its work.

use super::net::{Event, Net};

const INFINITE: u64 = u64::MAX / 4;

struct Arc {
    to: u32,
    left: u64,
}

struct Cut {
    arcs: Vec<Arc>,
    out: Vec<Vec<u32>>,
    level: Vec<u32>,
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

    fn levels(&mut self, source: u32, sink: u32, work: &mut u64) -> bool {
        self.level.clear();
        self.level.resize(self.out.len(), u32::MAX);
        self.level[source as usize] = 0;
        let mut queue = std::collections::VecDeque::from([source]);
        while let Some(node) = queue.pop_front() {
            let level = self.level[node as usize];
            *work += self.out[node as usize].len() as u64 + 1;
            for arc in &self.out[node as usize] {
                let Arc { to, left } = self.arcs[*arc as usize];
                if left > 0 && self.level[to as usize] == u32::MAX {
                    self.level[to as usize] = level + 1;
                    queue.push_back(to);
                }
            }
        }
        self.level[sink as usize] != u32::MAX
    }

    /// Pushes flow along one path of rising levels; 0 if there is none any more.
    fn push(&mut self, source: u32, sink: u32, work: &mut u64) -> u64 {
        let mut path: Vec<u32> = Vec::new();
        let mut node = source;
        loop {
            if node == sink {
                let least = path.iter().map(|a| self.arcs[*a as usize].left).min().unwrap_or(0);
                for arc in path {
                    self.arcs[arc as usize].left -= least;
                    self.arcs[arc as usize ^ 1].left += least;
                }
                return least;
            }
            let index = self.next[node as usize] as usize;
            *work += 1;
            match self.out[node as usize].get(index) {
                Some(arc) => {
                    let Arc { to, left } = self.arcs[*arc as usize];
                    let rises = self.level[to as usize] == self.level[node as usize] + 1;
                    if left > 0 && self.level[to as usize] != u32::MAX && rises {
                        path.push(*arc);
                        node = to;
                    } else {
                        self.next[node as usize] += 1;
                    }
                }
                None => {
                    let Some(arc) = path.pop() else { return 0 };
                    node = self.arcs[arc as usize ^ 1].to;
                    self.next[node as usize] += 1;
                }
            }
        }
    }
}

/// Fewest bytes that live in any state of `net`; nothing if finding them takes more than `limit`
/// units of work. The work done is added to `work`.
pub fn fewest(net: &Net, limit: u64, work: &mut u64) -> Option<u64> {
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
    let mut cut = Cut { arcs: Vec::new(), out: Vec::new(), level: Vec::new(), next: Vec::new() };
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
    let start = *work;
    while cut.levels(source, sink, work) {
        cut.next.clear();
        cut.next.resize(cut.out.len(), 0);
        loop {
            if *work - start > limit {
                return None;
            }
            let pushed = cut.push(source, sink, work);
            if pushed == 0 {
                break;
            }
            paid += pushed;
        }
    }
    Some(fixed + paid - paid_back)
}

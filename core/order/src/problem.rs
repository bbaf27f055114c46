//! From a graph to what orders are measured by.

use thiserror::Error;

use super::graph::{Effect, Graph, GraphError, Rules};
use super::net::{Buffer, Event, Halves, Memory, Net};
use tilewright_plan::Bytes;

/// A checked graph, and which of its tensors share memory.
#[derive(Clone, Debug)]
pub struct Problem {
    graph: Graph,
    /// Buffer of each tensor; constants have none.
    buffer: Vec<Option<u32>>,
    pub(super) net: Net,
}

/// An order that is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OrderError {
    /// It does not hold each operator once.
    #[error("the order has {given} operators where the graph has {count}, or one of them twice")]
    NotAll {
        /// Length of the order.
        given: usize,
        /// Operators of the graph.
        count: usize,
    },
    /// An operator stands before one that it needs.
    #[error("operator '{operator}' stands before '{needed}', which must come first")]
    TooEarly {
        /// The operator.
        operator: String,
        /// What it needs.
        needed: String,
    },
}

/// How much memory an order takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Most bytes that live at one time.
    pub peak: Bytes,
    /// Position in the order of the first operator at which they do; nothing if it is before the
    /// first.
    pub position: Option<usize>,
    /// The tensors that live there, as indices into the graph's; of several that share a buffer,
    /// each.
    pub tensors: Vec<usize>,
}

/// A buffer with its place in time, and the tensors that lie in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// When it lives, in positions of the order, and its size.
    pub buffer: tilewright_allocate::Buffer,
    /// The tensors, as indices into the graph's.
    pub tensors: Vec<usize>,
}

impl Problem {
    /// Checks `graph`.
    ///
    /// # Errors
    /// [`GraphError`] says what is wrong with it.
    pub fn new(graph: Graph, rules: Rules) -> Result<Self, GraphError> {
        let edges = graph.edges()?;
        let groups = groups(&graph, &edges.writer, rules);
        let mut buffer = vec![None; graph.tensors.len()];
        let mut net = Net { before: edges.before, ..Net::default() };
        net.connect();
        let mut numbers: Vec<Option<u32>> = vec![None; graph.tensors.len()];
        let mut used = vec![false; graph.tensors.len()];
        for tensor in graph.operators.iter().flat_map(|o| &o.inputs).chain(&graph.outputs) {
            used[*tensor] = true;
        }
        let input = flags(graph.tensors.len(), &graph.inputs);
        let variable = flags(graph.tensors.len(), &graph.variables);
        let kept = flags(graph.tensors.len(), &graph.outputs);
        for tensor in 0..graph.tensors.len() {
            let lives =
                edges.writer[tensor].is_some() || variable[tensor] || input[tensor] && used[tensor];
            if lives {
                let root = groups[tensor];
                let number = *numbers[root].get_or_insert_with(|| {
                    net.buffers
                        .push(Buffer { bytes: graph.tensors[root].bytes, ..Buffer::default() });
                    net.buffers.len() as u32 - 1
                });
                buffer[tensor] = Some(number);
                net.buffers[number as usize].born |= input[tensor] || variable[tensor];
            }
        }
        // Buffers that never die have no release events.
        let mut immortal = vec![false; net.buffers.len()];
        let mut writers = vec![0usize; net.buffers.len()];
        for (tensor, number) in buffer.iter().enumerate() {
            if let Some(number) = number {
                immortal[*number as usize] |= variable[tensor] || kept[tensor];
                writers[*number as usize] += usize::from(edges.writer[tensor].is_some());
            }
        }
        let distinct = |list: &[usize]| {
            let mut numbers: Vec<u32> = list.iter().filter_map(|t| buffer[*t]).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        for operator in &graph.operators {
            let writes = distinct(&operator.outputs);
            let mut uses = distinct(&operator.inputs);
            let target = match (operator.effect, writes.as_slice(), operator.outputs.len()) {
                (Effect::Elementwise, [target], 1) if rules.in_place => Some(*target),
                _ => None,
            };
            let target = target.filter(|t| writers[*t as usize] == 1 && !uses.contains(t));
            let covered = distinct(&operator.covered);
            let mut halves = Halves::default();
            halves.first.extend(writes.iter().map(|b| Event::Alloc(*b)));
            uses.extend(writes.iter().copied());
            uses.sort_unstable();
            uses.dedup();
            for number in uses {
                if immortal[number as usize] {
                    continue;
                }
                net.buffers[number as usize].releases += 1;
                let replaced = target.is_some_and(|target| {
                    target != number
                        && net.buffers[target as usize].bytes == net.buffers[number as usize].bytes
                });
                let replaced = replaced || covered.contains(&number);
                let half = if replaced { &mut halves.first } else { &mut halves.second };
                half.push(Event::Release(number));
            }
            net.halves.push(halves);
        }
        Ok(Self { graph, buffer, net })
    }

    /// The graph.
    #[must_use]
    pub const fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The order of the graph's list, operators put off until what they need has run.
    #[must_use]
    pub fn default_order(&self) -> Vec<usize> {
        let mut waits: Vec<usize> = self.net.before.iter().map(Vec::len).collect();
        let mut ready: std::collections::BTreeSet<usize> =
            (0..waits.len()).filter(|o| waits[*o] == 0).collect();
        let mut order = Vec::with_capacity(waits.len());
        while let Some(operator) = ready.pop_first() {
            order.push(operator);
            for next in &self.net.after[operator] {
                let next = *next as usize;
                waits[next] -= 1;
                if waits[next] == 0 {
                    ready.insert(next);
                }
            }
        }
        order
    }

    fn checked(&self, order: &[usize]) -> Result<Vec<u32>, OrderError> {
        let count = self.net.len();
        let mut position = vec![usize::MAX; count];
        for (index, operator) in order.iter().enumerate() {
            if let Some(position) = position.get_mut(*operator) {
                *position = index;
            }
        }
        if order.len() != count || position.contains(&usize::MAX) {
            return Err(OrderError::NotAll { given: order.len(), count });
        }
        for (operator, list) in self.net.before.iter().enumerate() {
            if let Some(needed) = list.iter().find(|o| position[**o as usize] > position[operator])
            {
                return Err(OrderError::TooEarly {
                    operator: self.graph.operators[operator].name.clone(),
                    needed: self.graph.operators[*needed as usize].name.clone(),
                });
            }
        }
        Ok(order.iter().map(|o| *o as u32).collect())
    }

    /// The memory that `order` takes.
    ///
    /// # Errors
    /// [`OrderError`] if it is no order of this graph.
    pub fn measure(&self, order: &[usize]) -> Result<Measured, OrderError> {
        let order = self.checked(order)?;
        let (start, live) = self.net.profile(&order);
        let mut peak = (start, None);
        for (position, [first, second]) in live.into_iter().enumerate() {
            // What lives after an operator lives before the next, or it is the end.
            if first.max(second) > peak.0 {
                peak = (first.max(second), Some(position));
            }
        }
        let mut memory = Memory::new(&self.net);
        for operator in order.iter().take(peak.1.unwrap_or(0)) {
            memory.apply(&self.net, &self.net.halves[*operator as usize].first);
            memory.apply(&self.net, &self.net.halves[*operator as usize].second);
        }
        if let Some(position) = peak.1 {
            memory.apply(&self.net, &self.net.halves[order[position] as usize].first);
        }
        let lives = |number: u32| {
            let buffer = &self.net.buffers[number as usize];
            (buffer.born || memory.allocated[number as usize] > 0)
                && (buffer.releases == 0 || memory.releases[number as usize] > 0)
        };
        let tensors = (0..self.buffer.len()).filter(|t| self.buffer[*t].is_some_and(lives));
        Ok(Measured { peak: Bytes(peak.0), position: peak.1, tensors: tensors.collect() })
    }

    /// The buffers with their lives under `order`: what an allocator places. The largest sum of
    /// bytes that live together is the order's peak. A buffer that an operator overwrites in place
    /// and the one that takes its place are one; where they only overlap ([`Operator::covered`]),
    /// both count whole.
    ///
    /// # Errors
    /// [`OrderError`] if it is no order of this graph.
    pub fn placed(&self, order: &[usize]) -> Result<Vec<Placed>, OrderError> {
        let order = self.checked(order)?;
        let net = &self.net;
        let end = (order.len() as u32).max(1);
        let mut lives: Vec<Option<(u32, u32)>> =
            net.buffers.iter().map(|b| b.born.then_some((0, end))).collect();
        // Where each buffer lies: its own number, or that of the one whose place it took.
        let mut place: Vec<usize> = (0..net.buffers.len()).collect();
        let mut memory = Memory::new(net);
        for (position, operator) in (0u32..).zip(&order) {
            let halves = &net.halves[*operator as usize];
            memory.apply(net, &halves.first);
            memory.apply(net, &halves.second);
            let effect = self.graph.operators[*operator as usize].effect;
            let elementwise = effect == Effect::Elementwise;
            let mut overwritten = None;
            for event in halves.first.iter().chain(&halves.second) {
                match *event {
                    Event::Alloc(b) => {
                        let life = &mut lives[b as usize];
                        life.get_or_insert((position, end));
                    }
                    Event::Release(b) if memory.releases[b as usize] == 0 => {
                        if let Some(life) = &mut lives[b as usize] {
                            life.1 = position + 1;
                        }
                        if elementwise && halves.first.contains(event) {
                            overwritten.get_or_insert(b);
                        }
                    }
                    Event::Release(_) => {}
                }
            }
            if let (Some(old), Some(Event::Alloc(new))) = (overwritten, halves.first.first()) {
                place[*new as usize] = place[old as usize];
            }
        }
        let mut placed: Vec<Option<Placed>> = vec![None; net.buffers.len()];
        for (number, life) in lives.iter().enumerate() {
            let Some((first, end)) = *life else { continue };
            let bytes = Bytes(net.buffers[number].bytes);
            let (first, end) = (u64::from(first), u64::from(end));
            let slot = placed[place[number]].get_or_insert_with(|| Placed {
                buffer: tilewright_allocate::Buffer::new(first, end, bytes),
                tensors: Vec::new(),
            });
            slot.buffer.first = slot.buffer.first.min(first);
            slot.buffer.end = slot.buffer.end.max(end);
        }
        for (tensor, number) in self.buffer.iter().enumerate() {
            if let Some(slot) = number.and_then(|n| placed[place[n as usize]].as_mut()) {
                slot.tensors.push(tensor);
            }
        }
        Ok(placed.into_iter().flatten().collect())
    }
}

fn flags(count: usize, list: &[usize]) -> Vec<bool> {
    let mut flags = vec![false; count];
    for index in list {
        flags[*index] = true;
    }
    flags
}

/// For each tensor the one whose memory it lies in: itself, unless rules let it share.
fn groups(graph: &Graph, writer: &[Option<usize>], rules: Rules) -> Vec<usize> {
    fn root(parent: &[usize], mut tensor: usize) -> usize {
        while parent[tensor] != tensor {
            tensor = parent[tensor];
        }
        tensor
    }
    let mut parent: Vec<usize> = (0..graph.tensors.len()).collect();
    let fixed = |tensor: usize| {
        graph.inputs.contains(&tensor)
            || graph.variables.contains(&tensor)
            || graph.outputs.contains(&tensor)
    };
    let bytes = |tensor: usize| graph.tensors[tensor].bytes;
    for [inside, whole] in &graph.inside {
        let (from, to) = (root(&parent, *inside), root(&parent, *whole));
        parent[from] = to;
    }
    for operator in &graph.operators {
        let [output] = operator.outputs.as_slice() else { continue };
        match operator.effect {
            Effect::Alias if rules.in_place => {
                let Some(input) = operator.inputs.first() else { continue };
                let constant = writer[*input].is_none() && !fixed(*input);
                let (from, to) = (root(&parent, *output), root(&parent, *input));
                if !constant && from != to && bytes(*input) == bytes(*output) {
                    parent[from] = to;
                }
            }
            Effect::Concat if rules.concat => {
                let sum: u64 = operator.inputs.iter().map(|t| bytes(*t)).sum();
                if sum != bytes(*output) {
                    continue;
                }
                for (index, input) in operator.inputs.iter().enumerate() {
                    let from = root(&parent, *input);
                    let alone = from == *input && !operator.inputs[..index].contains(input);
                    if alone && writer[*input].is_some() && !fixed(*input) {
                        parent[from] = root(&parent, *output);
                    }
                }
            }
            _ => {}
        }
    }
    (0..graph.tensors.len()).map(|tensor| root(&parent, tensor)).collect()
}

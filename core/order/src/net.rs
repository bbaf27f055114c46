//! Memory as events: what each operator allocates and releases, forwards and backwards alike.
//!
//! A *state* is a set of executed operators that holds all that come before its members. The bytes
//! that live in a state are a submodular function of it: each buffer contributes
//! "some operator of these has run" minus "all operators of those have run". An operator runs in
//! two halves, and the states between the halves are the ones in which its operands live together.

/// What happens to a buffer when half of an operator runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The buffer lives from the first of its `Alloc` events on.
    Alloc(u32),
    /// The buffer dies at the last of its `Release` events.
    Release(u32),
}

/// A buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// Size.
    pub bytes: u64,
    /// Whether it lives before anything has run; then `Alloc` events do nothing.
    pub born: bool,
    /// `Release` events after which it dies; 0: it never does.
    pub releases: u32,
}

/// The events of an operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Halves {
    /// Events of the first half.
    pub first: Vec<Event>,
    /// Events of the second half.
    pub second: Vec<Event>,
}

/// Operators with their events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Net {
    /// For each operator, those that must run before it.
    pub before: Vec<Vec<u32>>,
    /// For each operator, those that must run after it.
    pub after: Vec<Vec<u32>>,
    /// For each operator, its events.
    pub halves: Vec<Halves>,
    /// The buffers.
    pub buffers: Vec<Buffer>,
    /// Bytes that live all the time and belong to no buffer.
    pub base: u64,
}

impl Net {
    /// Number of operators.
    pub fn len(&self) -> usize {
        self.before.len()
    }

    /// The lists of `after`, made from those of `before`.
    pub fn connect(&mut self) {
        self.after = vec![Vec::new(); self.before.len()];
        for (index, list) in (0u32..).zip(&self.before) {
            for other in list {
                self.after[*other as usize].push(index);
            }
        }
    }

    /// The same net run backwards: an order of one, reversed, is an order of the other, with the
    /// same bytes live at the same places.
    pub fn mirrored(&self) -> Self {
        let mut allocs = vec![0u32; self.buffers.len()];
        for event in self.halves.iter().flat_map(|h| h.first.iter().chain(&h.second)) {
            if let Event::Alloc(buffer) = event {
                allocs[*buffer as usize] += 1;
            }
        }
        let flip = |events: &[Event]| {
            let flipped = |event: &Event| match *event {
                Event::Alloc(b) if self.buffers[b as usize].born => None,
                Event::Alloc(b) => Some(Event::Release(b)),
                Event::Release(b) if self.buffers[b as usize].releases == 0 => None,
                Event::Release(b) => Some(Event::Alloc(b)),
            };
            events.iter().filter_map(flipped).collect()
        };
        Self {
            before: self.after.clone(),
            after: self.before.clone(),
            halves: self
                .halves
                .iter()
                .map(|h| Halves { first: flip(&h.second), second: flip(&h.first) })
                .collect(),
            buffers: self
                .buffers
                .iter()
                .zip(allocs)
                .map(|(b, allocs)| Buffer {
                    bytes: b.bytes,
                    born: b.releases == 0 && (b.born || allocs > 0),
                    releases: if b.born { 0 } else { allocs },
                })
                .collect(),
            base: self.base,
        }
    }

    /// The operators `ops` alone, in the state in which `run` says of each operator of the net
    /// whether it has run, and `half`, if given, has run its first half. All that come before a
    /// member of `ops` are members or have run.
    pub fn part(&self, run: &[bool], half: Option<usize>, ops: &[u32]) -> Self {
        let mut memory = Memory::new(self);
        for (index, _) in run.iter().enumerate().filter(|(_, run)| **run) {
            memory.apply(self, &self.halves[index].first);
            memory.apply(self, &self.halves[index].second);
        }
        if let Some(half) = half {
            memory.apply(self, &self.halves[half].first);
        }
        let mut local = vec![u32::MAX; self.len()];
        for (index, op) in (0u32..).zip(ops) {
            local[*op as usize] = index;
        }
        let mut part = Self { base: memory.live, ..Self::default() };
        let mut buffers = vec![u32::MAX; self.buffers.len()];
        let mut left: Vec<u32> = Vec::new();
        for op in ops {
            let op = *op as usize;
            let ids = |list: &[u32]| -> Vec<u32> {
                list.iter().map(|o| local[*o as usize]).filter(|o| *o != u32::MAX).collect()
            };
            part.before.push(ids(&self.before[op]));
            part.after.push(ids(&self.after[op]));
            let mut here = |events: &[Event]| -> Vec<Event> {
                let mut kept = Vec::with_capacity(events.len());
                for event in events {
                    let (Event::Alloc(b) | Event::Release(b)) = *event;
                    let whole = self.buffers[b as usize];
                    let born = whole.born || memory.allocated[b as usize] > 0;
                    if matches!(event, Event::Alloc(_)) && born {
                        continue;
                    }
                    let id = &mut buffers[b as usize];
                    if *id == u32::MAX {
                        *id = part.buffers.len() as u32;
                        part.buffers.push(Buffer { bytes: whole.bytes, born, releases: 0 });
                        left.push(memory.releases[b as usize]);
                        if born {
                            part.base -= whole.bytes;
                        }
                    }
                    match event {
                        Event::Alloc(_) => kept.push(Event::Alloc(*id)),
                        Event::Release(_) => {
                            part.buffers[*id as usize].releases += 1;
                            kept.push(Event::Release(*id));
                        }
                    }
                }
                kept
            };
            let halves = &self.halves[op];
            let halves = Halves { first: here(&halves.first), second: here(&halves.second) };
            part.halves.push(halves);
        }
        // A buffer that is also released outside of `ops` never dies here.
        for (buffer, left) in part.buffers.iter_mut().zip(&left) {
            if buffer.releases < *left {
                buffer.releases = 0;
            }
        }
        let buffers = &part.buffers;
        for halves in &mut part.halves {
            let kept = |event: &Event| match event {
                Event::Release(b) => buffers[*b as usize].releases > 0,
                Event::Alloc(_) => true,
            };
            halves.first.retain(kept);
            halves.second.retain(kept);
        }
        part
    }

    /// Units of work that taking a part of so many operators is.
    pub fn work_of(&self, ops: &[u32]) -> u64 {
        let edges = |op: &u32| self.before[*op as usize].len() + self.after[*op as usize].len();
        ops.iter().map(|op| edges(op) as u64 + 2).sum::<u64>() + 4 * self.len() as u64
    }

    /// The bytes that live during an order: before it, then after each half of each operator.
    pub fn profile(&self, order: &[u32]) -> (u64, Vec<[u64; 2]>) {
        let mut memory = Memory::new(self);
        let start = memory.live;
        let live = order
            .iter()
            .map(|op| {
                let halves = &self.halves[*op as usize];
                memory.apply(self, &halves.first);
                let first = memory.live;
                memory.apply(self, &halves.second);
                [first, memory.live]
            })
            .collect();
        (start, live)
    }

    /// Most bytes that live at one time during an order.
    pub fn peak(&self, order: &[u32]) -> u64 {
        let (start, live) = self.profile(order);
        live.iter().flatten().copied().fold(start, u64::max)
    }
}

/// Which buffers live in a state.
#[derive(Clone, Debug)]
pub struct Memory {
    /// `Alloc` events so far.
    pub allocated: Vec<u32>,
    /// `Release` events still to come.
    pub releases: Vec<u32>,
    /// Bytes that live.
    pub live: u64,
}

impl Memory {
    /// Memory before anything has run.
    pub fn new(net: &Net) -> Self {
        Self {
            allocated: vec![0; net.buffers.len()],
            releases: net.buffers.iter().map(|b| b.releases).collect(),
            live: net.base + net.buffers.iter().filter(|b| b.born).map(|b| b.bytes).sum::<u64>(),
        }
    }

    /// Runs half an operator.
    pub fn apply(&mut self, net: &Net, events: &[Event]) {
        // Sums wrap, so that a state can be made from its members in any order.
        for event in events {
            if let Event::Alloc(b) = event {
                let count = &mut self.allocated[*b as usize];
                *count += 1;
                let buffer = &net.buffers[*b as usize];
                if *count == 1 && !buffer.born {
                    self.live = self.live.wrapping_add(buffer.bytes);
                }
            }
        }
        for event in events {
            if let Event::Release(b) = event {
                let left = &mut self.releases[*b as usize];
                if *left > 0 {
                    *left -= 1;
                    if *left == 0 {
                        self.live = self.live.wrapping_sub(net.buffers[*b as usize].bytes);
                    }
                }
            }
        }
    }

    /// Takes half an operator back.
    pub fn undo(&mut self, net: &Net, events: &[Event]) {
        for event in events {
            if let Event::Release(b) = event {
                let buffer = &net.buffers[*b as usize];
                if buffer.releases > 0 {
                    let left = &mut self.releases[*b as usize];
                    if *left == 0 {
                        self.live = self.live.wrapping_add(buffer.bytes);
                    }
                    *left += 1;
                }
            }
        }
        for event in events {
            if let Event::Alloc(b) = event {
                let count = &mut self.allocated[*b as usize];
                *count -= 1;
                let buffer = &net.buffers[*b as usize];
                if *count == 0 && !buffer.born {
                    self.live = self.live.wrapping_sub(buffer.bytes);
                }
            }
        }
    }

    /// Bytes that live after the first and after the second half of an operator, if it ran now.
    pub fn after(&self, net: &Net, halves: &Halves) -> [u64; 2] {
        let first = self.change(net, &halves.first);
        let second = self.change(net, &halves.second);
        let first = self.live.wrapping_add_signed(first);
        [first, first.wrapping_add_signed(second)]
    }

    /// Each buffer has at most one event of each kind in an operator, and a buffer that dies in
    /// the second half was allocated in the first at the latest, so the halves can be looked at
    /// one by one.
    fn change(&self, net: &Net, events: &[Event]) -> i64 {
        let mut change = 0i64;
        for event in events {
            match event {
                Event::Alloc(b) => {
                    let buffer = &net.buffers[*b as usize];
                    if self.allocated[*b as usize] == 0 && !buffer.born {
                        change += buffer.bytes as i64;
                    }
                }
                Event::Release(b) => {
                    if self.releases[*b as usize] == 1 {
                        change -= net.buffers[*b as usize].bytes as i64;
                    }
                }
            }
        }
        change
    }
}

//! A state that operators can be run from and taken back in.

use super::net::{Memory, Net};

/// A set of small numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits(pub Vec<u64>);

impl Bits {
    /// An empty set for numbers below `count`.
    pub fn new(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64).max(1)])
    }

    /// Adds a number.
    pub fn insert(&mut self, number: u32) {
        self.0[number as usize / 64] |= 1 << (number % 64);
    }

    /// Takes a number out.
    pub fn remove(&mut self, number: u32) {
        self.0[number as usize / 64] &= !(1 << (number % 64));
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().flat_map(|(index, word)| members(index, *word))
    }
}

/// The members of one word of a set.
pub fn members(index: usize, mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros();
            word &= word - 1;
            index as u32 * 64 + bit
        })
    })
}

/// A state with what follows from it.
#[derive(Clone, Debug)]
pub struct Cursor {
    /// What lives.
    pub memory: Memory,
    /// What has run.
    pub run: Bits,
    /// What can run next.
    pub ready: Bits,
    /// How many of those that come before each operator have not run.
    waits: Vec<u32>,
}

impl Cursor {
    /// The state before anything has run.
    pub fn new(net: &Net) -> Self {
        let waits: Vec<u32> = net.before.iter().map(|list| list.len() as u32).collect();
        let mut ready = Bits::new(net.len());
        for (op, waits) in (0u32..).zip(&waits) {
            if *waits == 0 {
                ready.insert(op);
            }
        }
        Self { memory: Memory::new(net), run: Bits::new(net.len()), ready, waits }
    }

    /// The state in which `run` has run, whatever it was before; `fresh` is a new cursor.
    pub fn jump(&mut self, net: &Net, fresh: &Self, run: &[u64]) {
        self.clone_from(fresh);
        for (index, word) in run.iter().enumerate() {
            for op in members(index, *word) {
                self.run(net, op);
            }
        }
        // Members were run in another order than they can be, so readiness is made anew.
        for word in &mut self.ready.0 {
            *word = 0;
        }
        for (op, waits) in (0u32..).zip(&self.waits) {
            if *waits == 0 && self.run.0[op as usize / 64] >> (op % 64) & 1 == 0 {
                self.ready.insert(op);
            }
        }
    }

    /// Whether an operator can run next.
    pub fn is_ready(&self, op: u32) -> bool {
        self.ready.0[op as usize / 64] >> (op % 64) & 1 == 1
    }

    /// Runs a ready operator.
    pub fn run(&mut self, net: &Net, op: u32) {
        let halves = &net.halves[op as usize];
        self.memory.apply(net, &halves.first);
        self.memory.apply(net, &halves.second);
        self.run.insert(op);
        self.ready.remove(op);
        for next in &net.after[op as usize] {
            let waits = &mut self.waits[*next as usize];
            *waits -= 1;
            if *waits == 0 {
                self.ready.insert(*next);
            }
        }
    }

    /// Takes back the operator that ran last.
    pub fn undo(&mut self, net: &Net, op: u32) {
        for next in &net.after[op as usize] {
            let waits = &mut self.waits[*next as usize];
            if *waits == 0 {
                self.ready.remove(*next);
            }
            *waits += 1;
        }
        self.ready.insert(op);
        self.run.remove(op);
        let halves = &net.halves[op as usize];
        self.memory.undo(net, &halves.second);
        self.memory.undo(net, &halves.first);
    }

    /// Runs all that raises neither `peak` nor the bytes that live, and appends it to `trail`.
    /// Nothing is lost by that: such an operator, moved to the front of any order of what is
    /// left, raises no state of it, since live bytes are submodular.
    pub fn close(&mut self, net: &Net, peak: u64, trail: &mut Vec<u32>, work: &mut u64) {
        loop {
            let mut moved = false;
            for index in 0..self.ready.0.len() {
                for op in members(index, self.ready.0[index]) {
                    *work += 1;
                    let [first, second] = self.memory.after(net, &net.halves[op as usize]);
                    if first <= peak && second <= self.memory.live {
                        self.run(net, op);
                        trail.push(op);
                        moved = true;
                    }
                }
            }
            if !moved {
                return;
            }
        }
    }
}

//! Costs of translated blocks, by address.

use tilewright_cores::{BlockCost, Branches, Flags};

/// What is kept of a block. Twelve bytes: the table is looked into once a block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    /// Bytes of the block; 0: not seen yet.
    size: u16,
    instructions: u16,
    cycles: u16,
    pub flags: Flags,
    /// Whether `successor` was right the last time.
    confident: bool,
    /// Block that can follow at no cost: the one behind it, or on a core that predicts the last
    /// one that did follow, replaced when wrong twice in a row. That stands for the core's branch
    /// predictor and target cache.
    successor: u32,
}

/// The blocks of the memory that holds code which does not change.
pub struct Table {
    base: u32,
    entries: Vec<Entry>,
    /// Index of the block that ran last.
    previous: usize,
    branches: Branches,
}

impl Table {
    /// For code in `bytes` bytes from `base` on.
    pub fn new(base: u32, bytes: u32, branches: Branches) -> Self {
        // The last entry stands for anything that is not in the table.
        let elsewhere = (bytes / 2) as usize;
        let entries = vec![Entry::default(); elsewhere + 1];
        Self { base, entries, previous: elsewhere, branches }
    }

    /// Index of the block at an address; nothing if the table does not reach there.
    #[inline]
    pub fn index(&self, address: u32) -> Option<usize> {
        let index = (address.wrapping_sub(self.base) / 2) as usize;
        (index + 1 < self.entries.len()).then_some(index)
    }

    /// The flags of a block, if this very block was seen before.
    #[inline]
    pub fn seen(&self, index: usize, size: u32) -> Option<Flags> {
        let entry = self.entries.get(index)?;
        (u32::from(entry.size) == size).then_some(entry.flags)
    }

    /// Keeps the cost of a block. `address` and `size` are its own.
    pub fn insert(&mut self, index: usize, address: u32, size: u32, cost: BlockCost) {
        if let Some(entry) = self.entries.get_mut(index) {
            *entry = Entry {
                size: size as u16,
                instructions: cost.instructions,
                cycles: cost.cycles,
                flags: cost.flags,
                confident: false,
                successor: address.wrapping_add(size),
            };
        }
    }

    /// Instructions and cycles of a block that runs now, behind the one that ran before.
    #[inline]
    pub fn charge(&mut self, index: usize, address: u32) -> (u64, u64) {
        let late = self.follow(address);
        self.previous = index;
        let entry = &self.entries[index];
        (u64::from(entry.instructions), u64::from(entry.cycles) + u64::from(late))
    }

    #[inline]
    fn follow(&mut self, address: u32) -> u32 {
        let before = &mut self.entries[self.previous];
        if before.successor == address {
            before.confident = true;
            return 0;
        }
        match self.branches {
            Branches::Fetched(taken) => taken,
            Branches::Predicted(missed) => {
                if before.confident {
                    before.confident = false;
                } else {
                    before.successor = address;
                }
                missed
            }
        }
    }

    /// The next block is reached in another way than by a branch: its address.
    pub fn jump(&mut self, address: u32) {
        self.previous = self.entries.len() - 1;
        self.entries[self.previous].successor = address;
    }
}

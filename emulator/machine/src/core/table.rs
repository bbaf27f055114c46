//! Costs of translated blocks, by address.

use tilewright_cores::{Alignment, BlockCost, Branches, Flags};
use tilewright_cpu::{Charge, Turns, Visits};

use crate::board::flash::Fetch;

/// Index of what stands for all blocks that are not in the table.
const ELSEWHERE: usize = 0;

/// What is kept of a block. Few bytes: the table is looked into once a block. Translated code finds what changes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Entry {
    visits: Visits,
    /// Where it begins.
    address: u32,
    /// Bytes of the block.
    size: u16,
    instructions: u16,
    cycles: u16,
    flags: Flags,
    /// Cycles that it waited for flash since counting began.
    waits: u32,
    /// Which of [`Table::alignments`] it has, from 1 on, times two; 0 for none. One more if what holds at its
    /// start holds at its end.
    alignment: u32,
}

/// A block that ran while runs were counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Address of its first instruction.
    pub address: u32,
    /// Its bytes.
    pub size: u32,
    /// How often it ran.
    pub runs: u32,
    /// Cycles until the core went on elsewhere, all runs together.
    pub branch_cycles: u64,
    /// Cycles that it waited for flash, all runs together.
    pub flash_cycles: u64,
}

/// What a block takes now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charged {
    pub instructions: u64,
    /// Cycles of the core, waits left out.
    pub cycles: u64,
    /// Cycles that it waits for code.
    pub waits: u64,
}

/// The blocks of memories that hold code which does not change once it ran: flash, and memory coupled to
/// the core, which is filled at start.
pub struct Table {
    base: u32,
    /// Places for flash, from the first on: one for each address that a block may begin at.
    flash: usize,
    /// Address of the first byte of coupled memory, whose places follow.
    coupled: u32,
    /// By place, the index of the block there; 0: none was seen.
    places: Vec<u32>,
    /// Blocks in the order in which they were seen. The first stands for all that are not in the table.
    entries: Vec<Entry>,
    /// Index of the block that ran last.
    previous: usize,
    branches: Branches,
    fetch: Option<Fetch>,
    /// As in [`Fetch`]; 0 if code never waits.
    generation: u32,
    /// 1 while runs are counted, else 0.
    counting: u32,
    /// Indices of blocks that ran meanwhile.
    ran: Vec<usize>,
    /// What blocks ask of registers.
    alignments: Vec<Alignment>,
}

impl Table {
    /// For code in flash, which may wait for `fetch`, and in coupled memory: first address and bytes of both.
    pub fn new(
        (base, bytes): (u32, u32),
        (coupled, coupled_bytes): (u32, u32),
        branches: Branches,
        fetch: Option<Fetch>,
    ) -> Self {
        let flash = (bytes / 2) as usize;
        let places = vec![0; flash + (coupled_bytes / 2) as usize];
        let entries = vec![Entry { address: u32::MAX, ..Entry::default() }];
        let generation = fetch.as_ref().map_or(0, |fetch| fetch.generation);
        let (previous, ran) = (ELSEWHERE, Vec::new());
        Self {
            base,
            flash,
            coupled,
            places,
            entries,
            previous,
            branches,
            fetch,
            generation,
            counting: 0,
            ran,
            alignments: Vec::new(),
        }
    }

    /// Where the index of a block at an address stands; nothing if the table does not reach there.
    #[inline]
    fn place(&self, address: u32) -> Option<usize> {
        let place = (address.wrapping_sub(self.base) / 2) as usize;
        if place < self.flash {
            return Some(place);
        }
        let place = self.flash + (address.wrapping_sub(self.coupled) / 2) as usize;
        (place < self.places.len()).then_some(place)
    }

    /// Whether a block at an address is kept.
    pub fn reaches(&self, address: u32) -> bool {
        self.place(address).is_some()
    }

    /// Index of the block at an address, if one was seen there.
    #[inline]
    pub fn index(&self, address: u32) -> Option<usize> {
        match self.places[self.place(address)?] {
            0 => None,
            index => Some(index as usize),
        }
    }

    /// Whether the block of an index has this size.
    #[inline]
    pub fn is(&self, index: usize, size: u32) -> bool {
        self.entries.get(index).is_some_and(|entry| u32::from(entry.size) == size)
    }

    /// The flags of the block of an index.
    #[inline]
    pub fn flags(&self, index: usize) -> Flags {
        self.entries.get(index).map_or(Flags::MARKED, |entry| entry.flags)
    }

    /// The cost of a block, if this very block was seen before.
    pub fn kept(&self, index: usize, size: u32) -> Option<BlockCost> {
        let Entry { instructions, cycles, flags, .. } = *self.entries.get(index)?;
        self.is(index, size).then_some(BlockCost { instructions, cycles, flags })
    }

    /// Keeps the cost of a block, whose address and size are given; its index, unless the table does not reach there.
    pub fn insert(&mut self, address: u32, size: u32, cost: BlockCost) -> Option<usize> {
        let place = self.place(address)?;
        let index = match self.places[place] {
            0 => self.entries.len(),
            index => index as usize,
        };
        if index == self.entries.len() {
            self.entries.push(Entry::default());
            self.places[place] = index as u32;
        }
        let entry = self.entries.get_mut(index)?;
        *entry = Entry {
            address,
            size: size as u16,
            instructions: cost.instructions,
            cycles: cost.cycles,
            flags: cost.flags,
            alignment: 0,
            visits: Visits {
                successor: address.wrapping_add(size),
                confident: 0,
                resident: 0,
                ..entry.visits
            },
            ..*entry
        };
        Some(index)
    }

    /// Keeps what a block asks of registers.
    pub fn ask(&mut self, index: usize, alignment: Alignment) {
        let stays = u32::from(alignment.stays());
        self.alignments.push(alignment);
        if let Some(entry) = self.entries.get_mut(index) {
            entry.alignment = (self.alignments.len() as u32) << 1 | stays;
        }
    }

    /// What a block that is about to run asks of registers, unless it held a turn ago and so still does.
    #[inline]
    pub fn asks(&self, index: usize) -> Option<&Alignment> {
        let alignment = self.entries[index].alignment;
        if alignment == 0 || alignment & 1 != 0 && self.previous == index {
            return None;
        }
        self.alignments.get((alignment >> 1) as usize - 1)
    }

    /// A block is not looked at any more when it is entered.
    pub fn unmark(&mut self, index: usize) {
        if let Some(entry) = self.entries.get_mut(index) {
            entry.flags = Flags(entry.flags.0 & !Flags::MARKED.0);
        }
    }

    /// What a block takes that runs now, behind the one that ran before.
    #[inline]
    pub fn charge(&mut self, index: usize, address: u32) -> Charged {
        let late = self.follow(address);
        let before = std::mem::replace(&mut self.previous, index);
        let visits = &mut self.entries[index].visits;
        if visits.runs < self.counting {
            self.ran.push(index);
        }
        visits.runs = visits.runs.saturating_add(self.counting);
        let waits = if visits.resident == self.generation { 0 } else { self.fetch(index, before) };
        let Entry { instructions, cycles, .. } = self.entries[index];
        let cycles = u64::from(cycles) + u64::from(late);
        Charged { instructions: instructions.into(), cycles, waits: waits.into() }
    }

    /// Cycles that a block waits for code which may not be there.
    #[cold]
    fn fetch(&mut self, index: usize, before: usize) -> u32 {
        let before = &self.entries[before];
        let behind = before.address.wrapping_add(before.size.into());
        let entry = &mut self.entries[index];
        let in_flash = ((entry.address.wrapping_sub(self.base) / 2) as usize) < self.flash;
        let Some(fetch) = self.fetch.as_mut().filter(|_| in_flash) else { return 0 };
        let Entry { address, size, cycles, .. } = *entry;
        let waits = fetch.waits(address, size.into(), cycles.into(), behind == address);
        self.generation = fetch.generation;
        entry.visits.resident = fetch.generation;
        entry.waits = entry.waits.saturating_add(waits * self.counting);
        waits
    }

    /// The block that ran last waits for constants.
    pub fn waits_for_constants(&mut self, cycles: u64) {
        let entry = &mut self.entries[self.previous];
        entry.waits = entry.waits.saturating_add(cycles as u32 * self.counting);
    }

    #[inline]
    fn follow(&mut self, address: u32) -> u32 {
        let before = &mut self.entries[self.previous].visits;
        if before.successor == address {
            before.confident = 1;
            return 0;
        }
        if before.runs > 0 {
            before.turns = before.turns.saturating_add(self.counting);
        }
        match self.branches {
            Branches::Fetched(taken) => taken,
            Branches::Predicted(missed) => {
                if before.confident != 0 {
                    before.confident = 0;
                } else {
                    before.successor = address;
                }
                missed
            }
        }
    }

    /// What the block of an index takes each time; nothing for [`ELSEWHERE`] and for blocks with one
    /// of these flags.
    pub fn taken(&self, index: usize, flags: Flags) -> Option<Charge> {
        let entry = self.entries.get(index).filter(|_| index != ELSEWHERE)?;
        let charge =
            Charge { instructions: entry.instructions.into(), cycles: entry.cycles.into() };
        (!entry.flags.any(flags)).then_some(charge)
    }

    /// What it takes to go on elsewhere than behind a block.
    pub const fn turns(&self) -> Turns {
        match self.branches {
            Branches::Fetched(cycles) => Turns { cycles, learns: false },
            Branches::Predicted(cycles) => Turns { cycles, learns: true },
        }
    }

    /// Bytes from the visits of an index to those of the next.
    pub const STRIDE: u32 = size_of::<Entry>() as u32;

    /// Where the visits of the first index are on this computer.
    pub fn visits(&mut self) -> usize {
        self.entries.as_mut_ptr().expose_provenance()
    }

    /// Whether runs are counted (1 or 0), and the state in which blocks have no line to wait for.
    pub const fn state(&self) -> (u32, u32) {
        (self.counting, self.generation)
    }

    /// The block of an index ran last.
    pub const fn ran(&mut self, index: usize) {
        self.previous = index;
    }

    /// From now on, runs of blocks are counted or not.
    pub fn count(&mut self, on: bool) {
        self.counting = u32::from(on);
    }

    /// The blocks that ran while runs were counted; counts begin anew.
    pub fn take_counted(&mut self) -> Vec<Counted> {
        let cost = match self.branches {
            Branches::Fetched(cycles) | Branches::Predicted(cycles) => u64::from(cycles),
        };
        let ran = std::mem::take(&mut self.ran);
        let take = |index: usize| {
            let entry = &mut self.entries[index];
            let Visits { runs, turns, .. } = entry.visits;
            (entry.visits.runs, entry.visits.turns) = (0, 0);
            let waits = std::mem::take(&mut entry.waits);
            Counted {
                address: entry.address,
                size: entry.size.into(),
                runs,
                branch_cycles: cost * u64::from(turns),
                flash_cycles: waits.into(),
            }
        };
        ran.into_iter().map(take).collect()
    }

    /// The next block is reached in another way than by a branch: its address.
    pub fn jump(&mut self, address: u32) {
        self.previous = ELSEWHERE;
        self.entries[ELSEWHERE].visits.successor = address;
    }
}

//! What instructions and cycles were for.

use tilewright_plan::Cycles;
use tilewright_report::Counts;

/// What the core does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bucket {
    /// Inside a kernel.
    Compute,
    /// Between kernels, and everything outside of an invoke.
    Dispatch,
    /// In an exception handler.
    Interrupt,
    /// Asleep.
    Wait,
}

/// Running totals, and how they divide into buckets. Totals are charged at each block; they are
/// divided only when the bucket changes.
#[derive(Clone, Debug)]
pub struct Account {
    /// Executed instructions since reset.
    pub instructions: u64,
    /// Cycles since reset: virtual time.
    pub cycles: u64,
    bucket: Bucket,
    settled: (u64, u64),
    counts: Counts,
    /// Of the cycles, those that the core waited for flash.
    waits: FlashCycles,
    settled_waits: FlashCycles,
    /// Of the compute cycles, those that the core waited for flash.
    compute_waits: FlashCycles,
}

/// Cycles that the core waited for flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlashCycles {
    /// For code.
    pub code: u64,
    /// For constants.
    pub constants: u64,
}

impl FlashCycles {
    /// From an earlier time to this.
    pub const fn since(self, from: Self) -> Self {
        Self { code: self.code - from.code, constants: self.constants - from.constants }
    }
}

impl Default for Account {
    fn default() -> Self {
        Self {
            instructions: 0,
            cycles: 0,
            bucket: Bucket::Dispatch,
            settled: (0, 0),
            counts: Counts::default(),
            waits: FlashCycles::default(),
            settled_waits: FlashCycles::default(),
            compute_waits: FlashCycles::default(),
        }
    }
}

impl Account {
    /// From now on, the core does something else.
    pub fn switch(&mut self, bucket: Bucket) {
        self.settle();
        self.bucket = bucket;
    }

    /// Cycles asleep.
    pub fn wait(&mut self, cycles: u64) {
        let bucket = self.bucket;
        self.switch(Bucket::Wait);
        self.cycles += cycles;
        self.switch(bucket);
    }

    /// The core waits for code.
    #[inline]
    pub const fn wait_for_code(&mut self, cycles: u64) {
        self.cycles += cycles;
        self.waits.code += cycles;
    }

    /// The core waits for constants.
    #[inline]
    pub const fn wait_for_constants(&mut self, cycles: u64) {
        self.cycles += cycles;
        self.waits.constants += cycles;
    }

    /// What kernels waited for flash until now.
    pub fn compute_waits(&mut self) -> FlashCycles {
        self.settle();
        self.compute_waits
    }

    fn settle(&mut self) {
        let instructions = self.instructions - self.settled.0;
        let cycles = Cycles(self.cycles - self.settled.1);
        self.settled = (self.instructions, self.cycles);
        let waits = self.waits.since(self.settled_waits);
        self.settled_waits = self.waits;
        match self.bucket {
            Bucket::Compute => {
                self.counts.compute_instructions += instructions;
                self.counts.compute_cycles += cycles;
                self.compute_waits.code += waits.code;
                self.compute_waits.constants += waits.constants;
            }
            Bucket::Dispatch => {
                self.counts.dispatch_instructions += instructions;
                self.counts.dispatch_cycles += cycles;
            }
            Bucket::Interrupt => {
                self.counts.interrupt_instructions += instructions;
                self.counts.interrupt_cycles += cycles;
            }
            Bucket::Wait => self.counts.wait_cycles += cycles,
        }
    }

    /// The counts until now.
    pub fn counts(&mut self) -> Counts {
        self.settle();
        self.counts
    }
}

/// What was counted from one point to another.
pub fn between(from: &Counts, to: &Counts) -> Counts {
    Counts {
        compute_instructions: to.compute_instructions - from.compute_instructions,
        dispatch_instructions: to.dispatch_instructions - from.dispatch_instructions,
        interrupt_instructions: to.interrupt_instructions - from.interrupt_instructions,
        compute_cycles: to.compute_cycles - from.compute_cycles,
        dispatch_cycles: to.dispatch_cycles - from.dispatch_cycles,
        interrupt_cycles: to.interrupt_cycles - from.interrupt_cycles,
        wait_cycles: to.wait_cycles - from.wait_cycles,
    }
}

/// What was counted in two stretches together.
pub fn sum(a: &Counts, b: &Counts) -> Counts {
    Counts {
        compute_instructions: a.compute_instructions + b.compute_instructions,
        dispatch_instructions: a.dispatch_instructions + b.dispatch_instructions,
        interrupt_instructions: a.interrupt_instructions + b.interrupt_instructions,
        compute_cycles: a.compute_cycles + b.compute_cycles,
        dispatch_cycles: a.dispatch_cycles + b.dispatch_cycles,
        interrupt_cycles: a.interrupt_cycles + b.interrupt_cycles,
        wait_cycles: a.wait_cycles + b.wait_cycles,
    }
}

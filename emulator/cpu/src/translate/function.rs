//! A region of blocks as a function of WebAssembly.
//!
//! Registers and flags are its locals. A block that it goes on at is charged as the interpreter charges it; if that
//! cannot be done here, the function returns before that block. Its parameters are the address of the
//! [`Shared`](super::shared::Shared) words, what the host is known by, and the place of the first block in the region,
//! which was charged already. It returns how many operations of [`Slot::Block`] were not executed.

use alloc::vec;
use alloc::vec::Vec;
use core::mem::offset_of;

use wasm_encoder::{BlockType, BranchHint, Function, InstructionSink, MemArg, ValType};

use crate::blocks::{Block, Code};
use crate::execute::{Kind, ROWS};
use crate::operation::{Condition, End, Operation, R, REGISTERS};
use crate::translate::region::Region;
use crate::translate::shared::{Charge, HISTORY, Slot, Turns, Visits, register};
use crate::translate::spans::{Address, Spans};

/// Functions that a module imports, in this order, and its own.
pub mod call {
    pub const LOAD: u32 = 0;
    pub const STORE: u32 = 1;
    pub const EXECUTE: u32 = 2;
    pub const FIRST: u32 = 3;
}

/// Locals, parameters first.
pub mod local {
    use crate::operation::REGISTERS;
    pub const SHARED: u32 = 0;
    pub const HOST: u32 = 1;
    pub const PLACE: u32 = 2;
    pub const REGISTER: u32 = 3;
    pub const N: u32 = REGISTER + REGISTERS as u32;
    pub const Z: u32 = N + 1;
    pub const C: u32 = N + 2;
    pub const V: u32 = N + 3;
    pub const GE: u32 = N + 4;
    pub const WINDOWS: u32 = N + 5;
    /// Operations that were not executed.
    pub const LEFT: u32 = N + 6;
    /// Between instructions: the address of an access, its window and the offset there.
    pub const A: u32 = N + 7;
    pub const W: u32 = N + 8;
    pub const OFFSET: u32 = N + 9;
    /// Within an operation.
    pub const B: u32 = N + 10;
    pub const D: u32 = N + 11;
    /// For each register, where the first byte of its span is.
    pub const SPAN: u32 = N + 12;
    /// Those of 64 bits: Q is set if this is not 0.
    pub const Q: u32 = N + 12 + REGISTERS as u32;
    pub const LONG: u32 = Q + 1;
    /// How many of both kinds there are, parameters left out.
    pub const WORDS: u32 = Q - REGISTER;
    pub const LONGS: u32 = LONG + 1 - Q;
}

/// Flags.
const FLAGS: [(Slot, u32); 5] = [
    (Slot::N, local::N),
    (Slot::Z, local::Z),
    (Slot::C, local::C),
    (Slot::V, local::V),
    (Slot::Ge, local::GE),
];

/// An address in memory, in bytes from a base.
pub const fn at(offset: u64) -> MemArg {
    MemArg { offset, align: 0, memory_index: 0 }
}

/// How deeply a place of the code is nested: branches count from there.
#[derive(Clone, Copy)]
pub struct Level(u32);

/// Writes a function.
pub struct Writer<'a> {
    code: &'a Code,
    region: &'a Region,
    turns: Turns,
    /// Bytes from the visits of one tag to those of the next.
    stride: u32,
    function: Function,
    hints: Vec<BranchHint>,
    level: u32,
    exit: Level,
    dispatch: Level,
    /// Of the block that is written, if it goes on at itself.
    itself: Option<Level>,
    /// Operations from the one that is written to the end of its block.
    pub left: usize,
    /// Accesses of the block that are known to be plain.
    spans: Spans,
    /// The address of the operation that is written, and where its span begins, if it is one of them.
    pub plain: Option<(Address, i32)>,
}

/// What all functions of a core have in common.
#[derive(Clone, Copy)]
pub struct Around {
    pub turns: Turns,
    pub stride: u32,
}

/// The function of a region, and which way its branches go for the most part.
pub fn function(code: &Code, region: &Region, around: Around) -> (Function, Vec<BranchHint>) {
    let Around { turns, stride } = around;
    let outside = Level(0);
    let mut writer = Writer {
        code,
        region,
        turns,
        stride,
        function: Function::new([(local::WORDS, ValType::I32), (local::LONGS, ValType::I64)]),
        hints: Vec::new(),
        level: 0,
        exit: outside,
        dispatch: outside,
        itself: None,
        left: 0,
        spans: Spans::default(),
        plain: None,
    };
    writer.all();
    (writer.function, writer.hints)
}

impl Writer<'_> {
    /// Writes instructions.
    pub fn f(&mut self) -> InstructionSink<'_> {
        self.function.instructions()
    }

    /// The value of a register.
    pub fn get(&mut self, register: R) -> InstructionSink<'_> {
        let mut f = self.f();
        f.local_get(local::REGISTER + register as u32);
        f
    }

    /// Sets a register.
    pub fn set(&mut self, register: R) {
        self.f().local_set(local::REGISTER + register as u32);
    }

    fn open(&mut self) -> Level {
        self.level += 1;
        Level(self.level)
    }

    /// If the value is not 0: until [`Self::close`].
    pub fn open_if(&mut self, gives: BlockType) {
        self.f().if_(gives);
        self.open();
    }

    /// The same, and whether that is so for the most part.
    pub fn open_if_mostly(&mut self, likely: bool, gives: BlockType) {
        self.hint(likely);
        self.open_if(gives);
    }

    /// What is written next branches for the most part, or does not.
    fn hint(&mut self, likely: bool) {
        let branch_func_offset = self.function.byte_len() as u32;
        self.hints.push(BranchHint { branch_func_offset, branch_hint_value: likely.into() });
    }

    /// The end of what was opened last.
    pub fn close(&mut self) {
        self.f().end();
        self.level -= 1;
    }

    /// Branches to the end of what is at a level, or to its start if it is a loop.
    fn branch(&mut self, to: Level) {
        let depth = self.level - to.0;
        self.f().br(depth);
    }

    /// Leaves the function if the value is not 0, which it seldom is.
    fn leave_if(&mut self) {
        let depth = self.level - self.exit.0;
        self.hint(false);
        self.f().br_if(depth);
    }

    /// Leaves the function: the operation that is written, and those behind it, were not executed.
    fn fail(&mut self) {
        let left = self.left as i32;
        self.f().i32_const(left).local_set(local::LEFT);
        self.branch(self.exit);
    }

    /// The same if the value is not 0, which it seldom is.
    pub fn fail_if(&mut self) {
        self.open_if_mostly(false, BlockType::Empty);
        self.fail();
        self.close();
    }

    fn all(&mut self) {
        self.registers(true);
        let windows = at(Slot::Windows.offset());
        self.f().local_get(local::SHARED).i32_load(windows).local_set(local::WINDOWS);
        self.f().block(BlockType::Empty);
        self.exit = self.open();
        self.f().loop_(BlockType::Empty);
        self.dispatch = self.open();
        let count = self.region.blocks.len() as u32;
        for _ in 0..count {
            self.f().block(BlockType::Empty);
            self.open();
        }
        let others = 0..count.saturating_sub(1);
        self.f().local_get(local::PLACE).br_table(others.collect::<Vec<_>>(), count - 1);
        for place in 0..count as usize {
            self.close();
            self.block(place);
        }
        self.close();
        self.close();
        self.registers(false);
        self.f().local_get(local::LEFT).end();
    }

    /// Registers and flags: from the shared words, or to them.
    fn registers(&mut self, loads: bool) {
        let registers = (0..REGISTERS as u32)
            .filter(|number| *number != R::Sink as u32)
            .map(|number| (register(R::R0) + 4 * u64::from(number), local::REGISTER + number));
        let flags = FLAGS.map(|(slot, local)| (slot.offset(), local));
        for (offset, local) in registers.chain(flags) {
            let mut f = self.f();
            f.local_get(local::SHARED);
            if loads {
                f.i32_load(at(offset)).local_set(local);
            } else {
                f.local_get(local).i32_store(at(offset));
            }
        }
        let q = at(Slot::Q.offset());
        let mut f = self.f();
        f.local_get(local::SHARED);
        if loads {
            f.i64_load32_u(q).local_set(local::Q);
        } else {
            f.local_get(local::Q).i64_const(0).i64_ne().i32_store(q);
        }
    }

    /// A shared word.
    fn word(&mut self, slot: Slot) {
        self.f().local_get(local::SHARED).i32_load(at(slot.offset()));
    }

    /// Adds to a shared number of 64 bits.
    fn add(&mut self, slot: Slot, count: u32) {
        let place = at(slot.offset());
        let mut f = self.f();
        f.local_get(local::SHARED).local_get(local::SHARED).i64_load(place);
        f.i64_const(count.into()).i64_add().i64_store(place);
    }

    fn block(&mut self, place: usize) {
        let code = self.code;
        let Some((number, _)) = self.region.blocks.get(place) else { return };
        let Some(block) = code.blocks.get(*number as usize) else { return };
        let to_itself = self.targets_itself(block);
        if to_itself {
            self.f().loop_(BlockType::Empty);
            self.itself = Some(self.open());
        }
        let (operations, first) = (code.prepared(block), block.operations[0]);
        let spans = Spans::of(operations, block.plain);
        if spans.spans.is_empty() {
            self.operations(operations, first);
        } else {
            self.are_plain(&spans);
            self.open_if_mostly(true, BlockType::Empty);
            self.spans = spans;
            self.operations(operations, first);
            self.spans = Spans::default();
            self.f().else_();
            self.operations(operations, first);
            self.close();
        }
        let behind = block.address.wrapping_add(block.bytes);
        match block.end {
            End::Jump(target) => self.edge(place, block, target),
            End::If(condition, target) => {
                self.holds(condition);
                self.open_if(BlockType::Empty);
                self.edge(place, block, target);
                self.close();
                self.edge(place, block, behind);
            }
            End::Zero { register, not, target } => {
                let mut f = self.get(register);
                if !not {
                    f.i32_eqz();
                }
                self.open_if(BlockType::Empty);
                self.edge(place, block, target);
                self.close();
                self.edge(place, block, behind);
            }
            End::Indirect | End::Asks(..) => self.branch(self.exit),
        }
        if to_itself {
            self.itself = None;
            self.close();
        }
    }

    fn targets_itself(&self, block: &Block) -> bool {
        match block.end {
            End::Jump(target) | End::If(_, target) | End::Zero { target, .. } => {
                target == block.address
            }
            End::Indirect | End::Asks(..) => false,
        }
    }

    /// Goes on at an address: in this function, if the block there is part of it and can be charged here.
    fn edge(&mut self, from: usize, block: &Block, target: u32) {
        let Some(place) = self.region.place(target) else { return self.branch(self.exit) };
        let (number, charge) = self.region.blocks[place];
        self.enter(block, number, charge);
        if place > from {
            let count = self.region.blocks.len();
            self.branch(Level(self.dispatch.0 + (count - place) as u32));
        } else if let (true, Some(itself)) = (place == from, self.itself) {
            self.branch(itself);
        } else {
            self.f().i32_const(place as i32).local_set(local::PLACE);
            self.branch(self.dispatch);
        }
    }

    /// Charges the block of a number behind another, or leaves the function.
    fn enter(&mut self, before: &Block, number: u32, charge: Charge) {
        let Some(block) = self.code.blocks.get(number as usize) else { return };
        let (address, stride) = (block.address, self.stride);
        let of = |field: usize| at(u64::from(block.tag * stride) + field as u64);
        let runs = of(offset_of!(Visits, runs));
        let mut f = self.f();
        f.local_get(local::SHARED).i64_load(at(Slot::Cycles.offset()));
        f.local_get(local::SHARED).i64_load(at(Slot::Deadline.offset())).i64_ge_u();
        self.leave_if();
        self.word(Slot::Visits);
        self.f().local_tee(local::B).i32_load(of(offset_of!(Visits, resident)));
        self.word(Slot::Generation);
        self.f().i32_ne();
        self.leave_if();
        // The first run that is counted is noted elsewhere, and the count does not overflow.
        self.f().local_get(local::B).i32_load(runs).local_tee(local::A).i32_const(1).i32_add();
        self.f().i32_const(1).i32_le_u();
        self.word(Slot::Counting);
        self.f().local_tee(local::D).i32_and();
        self.leave_if();
        self.f().local_get(local::B).local_get(local::A).local_get(local::D).i32_add();
        self.f().i32_store(runs);
        self.follow(before, address);
        self.add(Slot::Cycles, charge.cycles);
        self.add(Slot::Instructions, charge.instructions);
        self.word(Slot::Entered);
        let mut f = self.f();
        f.local_tee(local::A).i32_const(HISTORY as i32 - 1).i32_and().i32_const(2).i32_shl();
        self.word(Slot::History);
        self.f().i32_add().i32_const(address as i32).i32_store(at(0));
        let mut f = self.f();
        f.local_get(local::SHARED).local_get(local::A).i32_const(1).i32_add();
        f.i32_store(at(Slot::Entered.offset()));
        f.local_get(local::SHARED).i32_const(number as i32).i32_store(at(Slot::Block.offset()));
        f.i32_const(address as i32);
        self.set(R::Pc);
    }

    /// What it costs to go on at an address behind a block. The visits are at [`local::B`], whether runs are counted is
    /// [`local::D`].
    fn follow(&mut self, before: &Block, address: u32) {
        let (stride, turns) = (self.stride, self.turns);
        let of = |field: usize| at(u64::from(before.tag * stride) + field as u64);
        let turned = of(offset_of!(Visits, turns));
        let ran = of(offset_of!(Visits, runs));
        let turn = |writer: &mut Self| {
            let mut f = writer.f();
            f.local_get(local::B).local_get(local::B).i32_load(turned);
            f.local_get(local::D).local_get(local::B).i32_load(ran);
            f.i32_const(0).i32_ne().i32_and().i32_add().i32_store(turned);
            writer.add(Slot::Cycles, turns.cycles);
        };
        if turns.learns {
            let successor = of(offset_of!(Visits, successor));
            let confident = of(offset_of!(Visits, confident));
            self.f().local_get(local::B).i32_load(successor).i32_const(address as i32).i32_eq();
            self.open_if(BlockType::Empty);
            self.f().local_get(local::B).i32_const(1).i32_store(confident).else_();
            turn(self);
            self.f().local_get(local::B).i32_load(confident);
            self.open_if(BlockType::Empty);
            self.f().local_get(local::B).i32_const(0).i32_store(confident).else_();
            self.f().local_get(local::B).i32_const(address as i32).i32_store(successor);
            self.close();
            self.close();
        } else if address != before.address.wrapping_add(before.bytes) {
            turn(self);
        }
    }

    /// The block's operations, of which the first has a number.
    fn operations(&mut self, operations: &[Operation], first: u32) {
        let mut open = vec![];
        for (place, operation) in operations.iter().enumerate() {
            while open.last() == Some(&place) {
                open.pop();
                self.close();
            }
            self.left = operations.len() - place;
            self.plain = self
                .spans
                .addresses
                .get(place)
                .copied()
                .flatten()
                .and_then(|address| Some((address, self.spans.span(address.base)?.low)));
            if operation.kind == Kind::Skip {
                self.holds(Condition::code(operation.immediate));
                self.open_if(BlockType::Empty);
                open.push(place + 1 + (operation.immediate >> 4) as usize);
                continue;
            }
            let single = single(operation);
            if !self.operation(&single) && !self.access(&single) {
                self.rarely(first + place as u32);
            }
        }
        for _ in open {
            self.close();
        }
    }

    /// The interpreter does it.
    fn rarely(&mut self, number: u32) {
        self.registers(false);
        let mut f = self.f();
        f.local_get(local::HOST).i32_const(number as i32).call(call::EXECUTE).local_set(local::A);
        self.registers(true);
        self.f().local_get(local::A);
        self.fail_if();
    }

    /// Whether a condition holds.
    fn holds(&mut self, condition: Condition) {
        use Condition::{Always, Cc, Cs, Eq, Ge, Gt, Hi, Le, Ls, Lt, Mi, Ne, Pl, Vc, Vs};
        let mut f = self.f();
        match condition {
            Eq | Ne => f.local_get(local::Z).i32_eqz(),
            Cs | Cc => f.local_get(local::C),
            Mi | Pl => f.local_get(local::N).i32_const(0).i32_lt_s(),
            Vs | Vc => f.local_get(local::V).i32_const(0).i32_lt_s(),
            Hi | Ls => f.local_get(local::C).local_get(local::Z).i32_const(0).i32_ne().i32_and(),
            Ge | Lt | Gt | Le => {
                f.local_get(local::N).local_get(local::V).i32_xor().i32_const(0).i32_lt_s()
            }
            Always => f.i32_const(1),
        };
        if matches!(condition, Gt | Le) {
            f.local_get(local::Z).i32_eqz().i32_or();
        }
        if matches!(condition, Ne | Cc | Pl | Vc | Ls | Ge | Gt) {
            f.i32_eqz();
        }
    }
}

/// An operation by itself, if it stands for a row that it begins.
pub fn single(operation: &Operation) -> Operation {
    let row = ROWS.iter().find(|(_, row)| *row == operation.kind);
    let kind = row.and_then(|(kinds, _)| kinds.first()).copied().unwrap_or(operation.kind);
    Operation { kind, ..*operation }
}

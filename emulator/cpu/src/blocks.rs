//! What was decoded: blocks by address, prepared once and linked to those that follow them.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use crate::decode::block;
pub use crate::decode::{Architecture, PAGE};
use crate::execute::{Kind, ROWS};
use crate::host::Host;
use crate::memory::Memory;
use crate::operation::{End, Operation, R};
use crate::translate::{HOT, Translated, Translator};

/// No block yet.
pub const UNKNOWN: u32 = u32::MAX;
/// Places of the table that is looked into first; a power of two.
const QUICK: usize = 1 << 12;
/// Operations that are kept: code that goes everywhere takes no more memory than these.
const MOST: usize = 1 << 21;

/// A block.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    pub address: u32,
    pub bytes: u32,
    /// The host's.
    pub tag: u32,
    /// Its operations: from, to.
    pub operations: [u32; 2],
    pub end: End,
    /// Blocks that follow: behind it or where it jumps to, and where it branches to.
    pub next: [u32; 2],
    /// How far its last instruction lies from its start.
    pub last: u32,
    /// How often it ran, until it was to be translated.
    pub heat: u32,
    /// Registers that pointed into plain memory when it was looked: a bit for each.
    pub plain: u16,
    /// Where it is translated, if it is.
    pub function: Option<Translated>,
}

/// All that was decoded.
#[derive(Debug)]
pub struct Code {
    architecture: Architecture,
    pub(crate) operations: Vec<Operation>,
    /// For each operation, how far its instruction lies from its block's start.
    places: Vec<u16>,
    pub(crate) blocks: Vec<Block>,
    /// By address, with the state of an IT block that they begin in.
    known: BTreeMap<(u32, u32), u32>,
    /// Some of them again: address and number.
    quick: Box<[(u32, u32)]>,
    translator: Option<Translator>,
}

impl Default for Code {
    fn default() -> Self {
        Self::new(Architecture::default())
    }
}

impl Code {
    /// Nothing yet, for a core of an architecture.
    #[must_use]
    pub fn new(architecture: Architecture) -> Self {
        Self {
            architecture,
            operations: Vec::new(),
            places: Vec::new(),
            blocks: Vec::new(),
            known: BTreeMap::new(),
            quick: vec![(UNKNOWN, UNKNOWN); QUICK].into_boxed_slice(),
            translator: None,
        }
    }

    /// Blocks that run often are translated from now on.
    pub fn translate(&mut self, translator: Translator) {
        self.translator = Some(translator);
    }

    /// Number of the block at an address; nothing if no code lies there.
    #[inline]
    pub(crate) fn find<H: Host>(&mut self, host: &mut H, address: u32, it: u32) -> Option<u32> {
        let place = (address >> 1) as usize & (QUICK - 1);
        if it == 0
            && let Some((known, number)) = self.quick.get(place)
            && *known == address
        {
            return Some(*number);
        }
        let number = match self.known.get(&(address, it)) {
            Some(number) => *number,
            None => self.decode(host, address, it)?,
        };
        if it == 0
            && let Some(quick) = self.quick.get_mut(place)
        {
            *quick = (address, number);
        }
        Some(number)
    }

    #[cold]
    fn decode<H: Host>(&mut self, host: &mut H, address: u32, it: u32) -> Option<u32> {
        let mut bytes = [0; PAGE as usize + 4];
        let (_, memory) = host.parts();
        let there = memory.code(address);
        let count = there.len().min(bytes.len());
        bytes[..count].copy_from_slice(&there[..count]);
        if count < 2 {
            return None;
        }
        let host_sees = |at: u32| host.watches(at);
        let mut found = block(self.architecture, address, it, &bytes[..count], host_sees);
        join_rows(&mut found.operations);
        host.parts().1.note_code(address, found.bytes);
        let from = self.operations.len() as u32;
        self.operations.append(&mut found.operations);
        self.places.append(&mut found.places);
        let number = self.blocks.len() as u32;
        self.blocks.push(Block {
            address,
            bytes: found.bytes,
            tag: 0,
            operations: [from, self.operations.len() as u32],
            end: found.end,
            next: [UNKNOWN; 2],
            last: found.last,
            heat: 0,
            plain: 0,
            function: None,
        });
        self.known.insert((address, it), number);
        Some(number)
    }

    /// Whether so much was decoded that it is to be forgotten.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.operations.len() > MOST
    }

    /// Forgets all: code was changed, or there is too much.
    #[cold]
    pub(crate) fn forget(&mut self) {
        let mut translator = self.translator.take();
        if let Some(translator) = &mut translator {
            translator.forget();
        }
        *self = Self { translator, ..Self::new(self.architecture) };
    }

    /// A block's operations.
    #[inline(always)]
    pub(crate) fn prepared(&self, block: &Block) -> &[Operation] {
        let [from, to] = block.operations;
        self.operations.get(from as usize..to as usize).unwrap_or(&[])
    }

    /// Number of the block that was decoded at an address, outside of an IT block.
    pub(crate) fn number(&self, address: u32) -> Option<u32> {
        self.known.get(&(address, 0)).copied()
    }

    /// A block that is about to run did so often: looks where its registers point, or translates it, if anything does.
    #[cold]
    pub(crate) fn heats<H: Host>(&mut self, host: &mut H, number: u32) {
        let Some(mut translator) = self.translator.take() else { return };
        let block = &mut self.blocks[number as usize];
        if block.heat < HOT {
            let (core, memory) = host.parts();
            let points = |number: &u32| memory.is_plain(core.register(R::number(*number)));
            block.plain = (0..15).filter(points).map(|number| 1 << number).sum();
            self.translator = Some(translator);
            return;
        }
        for (number, translated) in translator.translate(self, host, number) {
            if let Some(block) = self.blocks.get_mut(number as usize) {
                block.function = Some(translated);
            }
        }
        self.translator = Some(translator);
    }

    /// Runs translated code from a block on, which was entered: the block that ran last, and how many of its
    /// operations were not executed.
    pub(crate) fn run_translated<H: Host>(
        &mut self,
        host: &mut H,
        number: u32,
        translated: Translated,
    ) -> (u32, usize) {
        let Some(mut translator) = self.translator.take() else { return (number, 0) };
        let ran = translator.run(self, host, number, translated);
        self.translator = Some(translator);
        ran
    }

    /// The state of an IT block at an instruction of the block at an address, which began in a state.
    #[cold]
    pub(crate) fn it_at(&self, memory: &Memory, address: u32, it: u32, instruction: u32) -> u32 {
        let before = instruction.wrapping_sub(address) as usize;
        let bytes = memory.code(address).get(..before).unwrap_or(&[]);
        block(self.architecture, address, it, bytes, |_| false).it
    }

    /// Address of the instruction of a block's operation that has so many operations behind it, itself included.
    pub(crate) fn place(&self, block: &Block, left: usize) -> u32 {
        let at = (block.operations[1] as usize).saturating_sub(left);
        block.address.wrapping_add(self.places.get(at).copied().unwrap_or(0).into())
    }
}

/// Makes one of operations that often follow each other; none reaches into or out of what a condition passes over.
fn join_rows(operations: &mut [Operation]) {
    let (mut at, mut passed_to) = (0, 0);
    while at < operations.len() {
        if operations[at].kind == Kind::Skip {
            passed_to = at + 1 + (operations[at].immediate >> 4) as usize;
            at += 1;
            continue;
        }
        let end = if at < passed_to { passed_to } else { operations.len() };
        let begins = |kinds: &[Kind]| {
            let these = operations[at..end].iter().map(|operation| operation.kind);
            kinds.len() <= end - at && these.zip(kinds).all(|(this, kind)| this == *kind)
        };
        match ROWS.iter().find(|(kinds, _)| begins(kinds)) {
            Some((kinds, row)) => {
                operations[at].kind = *row;
                at += kinds.len();
            }
            None => at += 1,
        }
    }
}

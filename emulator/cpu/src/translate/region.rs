//! Which blocks become one function.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::blocks::{Block, Code};
use crate::execute::Kind;
use crate::host::Host;
use crate::operation::End;
use crate::translate::WARM;
use crate::translate::shared::Charge;

/// Most blocks of a function.
const MOST: usize = 96;
/// Most operations of a function.
const MOST_OPERATIONS: usize = 2048;

/// Blocks that reach each other without an indirect branch, by rising address.
pub struct Region {
    /// Numbers of the blocks, and what each costs.
    pub blocks: Vec<(u32, Charge)>,
    /// The place of a block in the list, by its address.
    by_address: BTreeMap<u32, usize>,
}

impl Region {
    /// Around a block: those that it reaches, and that were not translated.
    pub fn around<H: Host>(code: &Code, host: &H, number: u32) -> Self {
        let mut found = BTreeMap::new();
        let (mut operations, mut ahead) = (0, Vec::from([number]));
        while let Some(number) = ahead.pop() {
            let Some(block) = code.blocks.get(number as usize) else { continue };
            let length = (block.operations[1] - block.operations[0]) as usize;
            let has_room = found.len() < MOST && operations + length <= MOST_OPERATIONS;
            if !has_room || found.contains_key(&block.address) {
                continue;
            }
            let Some(charge) = charge(code, host, block) else { continue };
            found.insert(block.address, (number, charge));
            operations += length;
            ahead.extend(targets(block).into_iter().flatten().filter_map(|target| {
                let next = code.number(target)?;
                let block = code.blocks.get(next as usize)?;
                (block.function.is_none() && block.heat > WARM).then_some(next)
            }));
        }
        let places = found.keys().enumerate().map(|(place, address)| (*address, place));
        Self { by_address: places.collect(), blocks: found.into_values().collect() }
    }

    /// The place in the list of the block at an address.
    pub fn place(&self, address: u32) -> Option<usize> {
        self.by_address.get(&address).copied()
    }
}

/// What a block costs; nothing if it is not to be translated.
fn charge<H: Host>(code: &Code, host: &H, block: &Block) -> Option<Charge> {
    let is_plain = block.function.is_none()
        && code
            .prepared(block)
            .iter()
            .all(|operation| !matches!(operation.kind, Kind::SetIt | Kind::See));
    if is_plain { host.charge(block.tag) } else { None }
}

/// Addresses that a block may go on at without an indirect branch.
fn targets(block: &Block) -> [Option<u32>; 2] {
    let behind = block.address.wrapping_add(block.bytes);
    match block.end {
        End::Jump(target) => [Some(target), None],
        End::If(_, target) | End::Zero { target, .. } => [Some(behind), Some(target)],
        End::Indirect | End::Asks(..) => [None, None],
    }
}

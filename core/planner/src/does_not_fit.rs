//! Whether a plan fits, and what the bytes are if not.

use tilewright_board::Board;
use tilewright_plan::{Bytes, Constant, Plan, Space};
use tilewright_report::{
    DoesNotFit, EXTERNAL_FLASH, EXTERNAL_RAM, FLASH, MemoryMap, Part, PartRole, PlacedTensor,
    Ranges, SRAM, TensorUse,
};

/// Layers whose weights are named where flash is too small.
const NAMED_LAYERS: usize = 5;

/// What does not fit, if anything: SRAM first, then flash, of which it needs and had `flash`, then
/// external memories.
/// Remedies are not tried here.
pub fn does_not_fit(
    plan: &Plan,
    board: &Board,
    sram: Bytes,
    flash: [Bytes; 2],
    memory: &MemoryMap,
) -> Option<DoesNotFit> {
    let [flash_needed, flash_had] = flash;
    let (memory, operator, needed, available, parts) = if memory.arena_bytes > sram {
        let row = memory.rows.get(memory.peak_row).filter(|row| row.live_bytes > sram);
        let operator = row.map(|row| row.name.clone()).unwrap_or_default();
        (SRAM, operator, memory.arena_bytes, sram, parts_of_tensors(plan, memory))
    } else if flash_needed > flash_had {
        let (operator, parts) = parts_of_constants(plan, Space::Weights, flash_needed);
        (FLASH, operator, flash_needed, flash_had, parts)
    } else {
        let tiers = [(Space::ExternalRam, EXTERNAL_RAM), (Space::ExternalFlash, EXTERNAL_FLASH)];
        let had = board.tier_bytes();
        let lacks = |(space, _): &(Space, _)| plan.space(*space).0 > had[*space as usize];
        let (space, name) = tiers.into_iter().find(lacks)?;
        let needed = plan.space(space);
        let (operator, parts) = if space == Space::ExternalFlash {
            parts_of_constants(plan, space, needed)
        } else {
            (String::new(), parts_of_tensors(plan, &MemoryMap::of_space(plan, space)))
        };
        (name, operator, needed, Bytes(had[space as usize]), parts)
    };
    Some(DoesNotFit {
        memory: memory.to_owned(),
        operator,
        needed_bytes: needed.into(),
        available_bytes: available.into(),
        parts,
        remedies: Vec::new(),
        untried: 0,
    })
}

/// What fills the memory of a map at its peak. A byte that two tensors share counts for the first.
fn parts_of_tensors(plan: &Plan, memory: &MemoryMap) -> Vec<Part> {
    let Some(row) = memory.rows.get(memory.peak_row) else { return Vec::new() };
    let placed = PlacedTensor::of(plan);
    let mut tensors: Vec<(PartRole, &PlacedTensor)> = memory
        .live_at(memory.peak_row, &placed)
        .map(|(number, why)| {
            let role = match why {
                TensorUse::Input => PartRole::Input,
                TensorUse::Output => PartRole::Output,
                TensorUse::Other => PartRole::Later,
            };
            (role, &placed[number])
        })
        .collect();
    tensors.sort_by_key(|(role, tensor)| (*role, u64::MAX - tensor.bytes));
    let mut taken = Ranges::default();
    let mut before = 0;
    let mut parts: Vec<Part> = tensors
        .into_iter()
        .map(|(role, tensor)| {
            taken.add(tensor.offset, tensor.extent);
            let after = taken.total();
            let bytes = Bytes(after - std::mem::replace(&mut before, after));
            Part { name: tensor.name.clone(), role, bytes: bytes.into() }
        })
        .collect();
    let tensors = |role| -> Bytes {
        parts.iter().filter(|part| part.role == role).map(|part| *part.bytes).sum()
    };
    let [input, output, _, weights, scratch] = row.stack();
    // Tiles of tensors that lie elsewhere are no tensors of the arena.
    let rest = [
        (PartRole::Input, input - tensors(PartRole::Input)),
        (PartRole::Output, output - tensors(PartRole::Output)),
        (PartRole::Weights, weights),
        (PartRole::Scratch, scratch),
        (PartRole::Gap, memory.arena_bytes - row.live_bytes),
    ];
    let rest = rest.into_iter().filter(|(_, bytes)| bytes.0 > 0);
    parts.extend(rest.map(|(role, bytes)| Part { name: String::new(), role, bytes: bytes.into() }));
    parts
}

/// The layer with the largest constants in a memory, and what fills that: the layers with the largest
/// constants, and the rest. Of the plan image constants of all kinds are part.
fn parts_of_constants(plan: &Plan, space: Space, needed: Bytes) -> (String, Vec<Part>) {
    let is_there = |constant: &&Constant| {
        let is_in_image = |space| matches!(space, Space::Weights | Space::Constants);
        constant.space == space || is_in_image(space) && is_in_image(constant.space)
    };
    let mut layers: Vec<(Bytes, &str)> = plan
        .layers
        .iter()
        .map(|layer| {
            let own = plan.constants.iter().filter(is_there);
            let own = own.filter(|constant| layer.nodes.contains(&constant.node));
            (own.map(|constant| constant.bytes).sum(), layer.name.as_str())
        })
        .filter(|(bytes, _): &(Bytes, _)| bytes.0 > 0)
        .collect();
    layers.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    layers.truncate(NAMED_LAYERS);
    let named: Bytes = layers.iter().map(|(bytes, _)| *bytes).sum();
    let operator = layers.first().map(|(_, name)| (*name).to_owned()).unwrap_or_default();
    let part = |(bytes, name): &(Bytes, &str)| Part {
        name: (*name).to_owned(),
        role: PartRole::Weights,
        bytes: (*bytes).into(),
    };
    let mut parts: Vec<Part> = layers.iter().map(part).collect();
    let rest = needed - named;
    if rest.0 > 0 {
        parts.push(Part { name: String::new(), role: PartRole::Rest, bytes: rest.into() });
    }
    (operator, parts)
}

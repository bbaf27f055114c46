//! Which blocks ran how often in each layer's kernels, and what their cycles were for.

use std::collections::BTreeMap;

use tilewright_board::CoreKind;
use tilewright_cores::issues;
use tilewright_plan::Cycles;
use tilewright_protocol::{LayerCycles, Response};
use tilewright_report::{Cause, CauseCount, HotBlock, LayerProfile, ListedInstruction, MAX_LISTED};

use crate::core::table::Counted;
use crate::machine::Machine;
use crate::watch::cause::causes;

/// Blocks of a layer that are listed.
const BLOCKS: usize = 4;
/// A block is listed if it took one cycle of so many of its layer's.
const SHARE: u64 = 20;

/// Runs of a block in a layer.
#[derive(Clone, Copy, Debug, Default)]
struct Ran {
    size: u32,
    runs: u64,
    branch_cycles: u64,
    flash_cycles: u64,
}

/// Runs of blocks in steps of the last frame, by layer and address.
#[derive(Debug, Default)]
pub struct Profile {
    layers: BTreeMap<u16, BTreeMap<u32, Ran>>,
}

impl Profile {
    /// Adds what ran in a step of a layer.
    pub fn add(&mut self, layer: u16, counted: &[Counted]) {
        let blocks = self.layers.entry(layer).or_default();
        for counted in counted {
            let ran = blocks.entry(counted.address).or_default();
            ran.size = counted.size;
            ran.runs += u64::from(counted.runs);
            ran.branch_cycles += counted.branch_cycles;
            ran.flash_cycles += counted.flash_cycles;
        }
    }
}

/// Says where each layer's cycles went.
pub fn tell(machine: &mut Machine) {
    let Some(profile) = machine.profile.take() else { return };
    for (layer, blocks) in profile.layers {
        let profile = of_layer(machine, &blocks);
        machine.say(Response::Layer(LayerCycles { layer, profile }));
    }
}

fn of_layer(machine: &Machine, blocks: &BTreeMap<u32, Ran>) -> LayerProfile {
    let mut sums: BTreeMap<Cause, (u64, u64)> = BTreeMap::new();
    let mut hot = Vec::with_capacity(blocks.len());
    for (address, ran) in blocks {
        let mut bytes = vec![0; ran.size as usize];
        if !machine.memories.read(*address, &mut bytes) {
            continue;
        }
        let listing = listing(machine.core, &bytes);
        let mut cycles = ran.branch_cycles + ran.flash_cycles;
        for line in &listing {
            let of_line = u64::from(*line.cycles) * ran.runs;
            let stalled = u64::from(*line.stall_cycles) * ran.runs;
            let sum = sums.entry(line.cause).or_default();
            *sum = (sum.0 + ran.runs, sum.1 + of_line);
            sums.entry(Cause::Stall).or_default().1 += stalled;
            cycles += of_line + stalled;
        }
        sums.entry(Cause::Loop).or_default().1 += ran.branch_cycles;
        sums.entry(Cause::Flash).or_default().1 += ran.flash_cycles;
        hot.push((cycles, *address, *ran, listing));
    }
    let all: u64 = hot.iter().map(|(cycles, ..)| cycles).sum();
    hot.sort_by_key(|(cycles, address, ..)| (std::cmp::Reverse(*cycles), *address));
    hot.truncate(BLOCKS);
    hot.retain(|(cycles, ..)| *cycles > 0 && cycles.saturating_mul(SHARE) >= all);
    let block = |(cycles, address, ran, mut listing): (u64, u32, Ran, Vec<ListedInstruction>)| {
        listing.truncate(MAX_LISTED);
        HotBlock {
            address,
            function: machine.firmware.function(address),
            runs: ran.runs.into(),
            cycles: Cycles(cycles).into(),
            branch_cycles: Cycles(ran.branch_cycles).into(),
            flash_cycles: Cycles(ran.flash_cycles).into(),
            listing,
        }
    };
    let count = |(cause, (instructions, cycles)): (Cause, (u64, u64))| CauseCount {
        cause,
        instructions: instructions.into(),
        cycles: Cycles(cycles).into(),
    };
    let took = |count: &CauseCount| *count.instructions > 0 || count.cycles.0 > 0;
    LayerProfile {
        causes: sums.into_iter().map(count).filter(took).collect(),
        blocks: hot.into_iter().map(block).collect(),
    }
}

fn listing(core: CoreKind, bytes: &[u8]) -> Vec<ListedInstruction> {
    let issued = issues(core, bytes);
    let causes = causes(&issued, bytes);
    let mut place = 0;
    let lines = issued.iter().zip(causes).map(|(issued, cause)| {
        let text = tilewright_cores::disassemble(bytes.get(place..).unwrap_or(&[]));
        place += usize::from(issued.instruction.bytes);
        ListedInstruction {
            text,
            cause,
            cycles: issued.cycles.into(),
            stall_cycles: issued.stall.into(),
        }
    });
    lines.collect()
}

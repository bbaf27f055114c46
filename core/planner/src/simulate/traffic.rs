//! What layers move by memory and way, and what that takes.

use std::collections::BTreeMap;

use super::transfer::{Direction, Transfers};
use tilewright_board::{Board, Card, MemoryKind};
use tilewright_plan::{Cycles, Instruction, LaneKind, Plan, Program, Role, Space, Span};
use tilewright_report::{Slice, SliceKind, Tier, Timeline, Traffic, Way};

/// Bytes of the long read that a tier's rate is taken from: what engines move at once.
const LONG: u32 = 32_768;

/// What each layer of a plan moves during a timeline of its first program that is not a boot
/// program. A plan without one has a timeline of card and core alone.
#[must_use]
pub fn traffic(
    plan: &Plan,
    board: &Board,
    card: Option<&Card>,
    timeline: &Timeline,
    frames: u32,
) -> Traffic {
    let mut moved = Moved { tiers: BTreeMap::new(), layers: plan.layers.len() };
    let mut traffic = Traffic {
        tiers: Vec::new(),
        compute: vec![Cycles(0); plan.layers.len()],
        stalls: vec![Cycles(0); plan.layers.len()],
        frames,
    };
    let program = plan.main.as_ref();
    for slice in &timeline.slices {
        let (layer, cycles) = (usize::from(slice.layer), slice.end.since(slice.start));
        match slice.kind {
            SliceKind::Copy => {
                let space = outside(plan, program, slice).or_else(|| of_lane(timeline, slice));
                let Some(space) = space else { continue };
                moved.add((space, Way::Copied), layer, slice.bytes, cycles);
            }
            SliceKind::Compute | SliceKind::Stall if slice.lane == 0 => {
                let is_stall = slice.kind == SliceKind::Stall;
                let sums = if is_stall { &mut traffic.stalls } else { &mut traffic.compute };
                if let Some(sum) = sums.get_mut(layer) {
                    *sum += cycles;
                }
            }
            SliceKind::Compute | SliceKind::Stall | SliceKind::DriverOverhead => {}
        }
    }
    let core = program.and_then(|program| program.lanes.first());
    for step in core.iter().flat_map(|lane| &lane.steps) {
        let Instruction::Compute { op, first_view, .. } = step.instruction else { continue };
        let Some((op, views)) = plan.operands(op, first_view) else { continue };
        let roles = op.roles();
        for (role, view) in roles.iter().zip(views) {
            let space = match (view.space(), role) {
                // Both sections of flash are one memory.
                (Some(Space::Weights | Space::Constants), Role::Weights | Role::Constants) => {
                    Space::Weights
                }
                (Some(space @ (Space::ExternalRam | Space::ExternalFlash)), _) => space,
                _ => continue,
            };
            let bytes = view.elements() * u64::from(plan.runs(frames));
            moved.add((space, Way::Direct), usize::from(step.layer), bytes, Cycles(0));
        }
    }
    let transfers = Transfers::new(board, card);
    traffic.tiers = moved
        .tiers
        .into_iter()
        .map(|((space, way), (bytes, cycles))| {
            let bytes_per_second = rate(board, &transfers, space, way);
            Tier { space, way, bytes_per_second, bytes, cycles }
        })
        .collect();
    traffic
}

struct Moved {
    tiers: BTreeMap<(Space, Way), (Vec<u64>, Vec<Cycles>)>,
    layers: usize,
}

impl Moved {
    fn add(&mut self, tier: (Space, Way), layer: usize, bytes: u64, cycles: Cycles) {
        let none = || (vec![0; self.layers], vec![Cycles(0); self.layers]);
        let (moved, took) = self.tiers.entry(tier).or_insert_with(none);
        if let (Some(moved), Some(took)) = (moved.get_mut(layer), took.get_mut(layer)) {
            *moved += bytes;
            *took += cycles;
        }
    }
}

/// The end of a copy that does not lie in SRAM.
fn outside(plan: &Plan, program: Option<&Program>, slice: &Slice) -> Option<Space> {
    let lane = program?.lanes.get(usize::from(slice.lane))?;
    let step = lane.steps.get(slice.step as usize)?;
    let Instruction::Copy { source, destination, .. } = step.instruction else { return None };
    let spaces = [source, destination].map(|at| plan.spans.get(at as usize)?.space());
    let space = spaces.into_iter().flatten().find(|space| *space != Space::Arena)?;
    Some(if space == Space::Constants { Space::Weights } else { space })
}

fn of_lane(timeline: &Timeline, slice: &Slice) -> Option<Space> {
    let lane = timeline.lanes.get(usize::from(slice.lane))?;
    (*lane == LaneKind::Card).then_some(Space::Card)
}

/// Bytes a second of a long read; nothing if it is not known.
fn rate(board: &Board, transfers: &Transfers<'_>, space: Space, way: Way) -> Option<u64> {
    let per_second = |bytes: u64, cycles: Cycles| {
        u64::try_from(
            u128::from(bytes) * u128::from(board.core.clock.hertz.0) / u128::from(cycles.0.max(1)),
        )
        .ok()
    };
    let bytes = u64::from(LONG);
    match (way, space) {
        (Way::Copied, Space::Card) => per_second(bytes, transfers.command(bytes, Direction::Read)),
        (Way::Copied, space) => {
            let span = |space: Space| Span {
                offset: 0,
                rows: 1,
                row_bytes: LONG,
                pitch: LONG,
                space: space as u8,
                reserved: [0; 3],
            };
            board.external(space)?.timing.as_ref()?.dma_read?;
            let cycles = transfers.copy(LaneKind::Dma, &span(space), &span(Space::Arena));
            per_second(bytes, cycles)
        }
        (Way::Direct, space) => {
            let memory = match space {
                Space::Weights => board.memory.iter().find(|m| m.kind == MemoryKind::Flash),
                space => board.external(space),
            };
            let access = memory?.timing.as_ref()?.core_read;
            // Through a cache whole lines come, without one words.
            let unit = board.core.data_cache.as_ref().map_or(4, |cache| cache.line_bytes.max(1));
            let ps = u128::from(access.latency_ps)
                + u128::from(unit) * 1_000_000_000_000 / u128::from(access.bytes_per_second.max(1));
            u64::try_from(u128::from(unit) * 1_000_000_000_000 / ps.max(1)).ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_whole_reads() {
        let board = tilewright_board::find("stm32f746g-disco").unwrap();
        let card = tilewright_board::find_card("paper-swapnn").unwrap();
        let transfers = Transfers::new(&board, Some(&card));
        // 32 KiB at 5 MB/s after 0.58 ms.
        let rate_of = |space, way| rate(&board, &transfers, space, way).unwrap();
        let seconds = 0.00058 + 32_768.0 / 5e6;
        let card = rate_of(Space::Card, Way::Copied) as f64;
        assert!((card * seconds / 32_768.0 - 1.0).abs() < 1e-3, "{card}");
        // A line of 32 bytes: 99 ns, then 122 MB/s.
        let line = 32.0 / (99e-9 + 32.0 / 122e6);
        let direct = rate_of(Space::ExternalRam, Way::Direct) as f64;
        assert!((direct / line - 1.0).abs() < 1e-3, "{direct}");
        assert!(rate_of(Space::ExternalRam, Way::Copied) < 144_000_000);
        assert_eq!(rate(&board, &transfers, Space::Card, Way::Direct), None);
    }
}

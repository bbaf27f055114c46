//! From a swapped model to its plan and report.

use super::{NotSwapped, Pools, Swapped, layers::Depthwise};
use crate::costs::Remembering;
use crate::{Options, PlanError, Planned, report, simulate};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, InputResidency, LaneKind, Plan, Space};
use tilewright_report::{
    DoesNotFit, Kind, MemoryMap, Occupancy, Part, PartRole, PlanReport, SRAM, SliceKind, Timeline,
};

/// What tensors on the card begin at: a block.
const BLOCK: u64 = 512;

/// The plan with all that is said of it. It has no program: what is scheduled are the tasks of the
/// paper, not the project's kernels on tiles.
pub fn planned(
    mut plan: Plan,
    model: &Model,
    board: &Board,
    options: &Options,
) -> Result<Planned, PlanError> {
    let costs = Remembering::on(board);
    let mut timeline = Timeline {
        clock_hz: board.core.clock.hertz,
        instructions_kind: Kind::Modelled,
        cycles_kind: Kind::Modelled,
        lanes: vec![LaneKind::Core, LaneKind::Card],
        slices: Vec::new(),
    };
    let swapped = match super::of_plan(&plan, model, board, options, Depthwise::True) {
        Err(NotSwapped::Error(error)) => return Err(error),
        Err(NotSwapped::TooSmall(missing)) => {
            let sram = options.arena_on(board);
            // Larger buffers help: it is not SRAM that is missing.
            if missing.buffer.0.saturating_mul(Pools::FEWEST) <= sram.0 {
                return Err(PlanError::Buffer { layer: missing.layer, needed: missing.buffer });
            }
            Err(missing)
        }
        Ok(swapped) => Ok(swapped),
    };
    let resident = MemoryMap::of(&plan);
    let mut report =
        report::report(&plan, model, board, options, &costs, &resident, &timeline, None);
    let weights: u64 = report.layers.iter().map(|layer| layer.flash_bytes.0).sum();
    empty_onto_card(&mut plan);
    report.external_bytes = Bytes(plan.space(Space::Card).0 + weights);
    "external".clone_into(&mut report.input);
    report.runnable = false;
    report.flash_bytes = plan.image_bytes();
    for layer in &mut report.layers {
        layer.flash_bytes = Bytes(0);
    }
    let mut occupancy = Occupancy::default();
    let mut held = Vec::new();
    match swapped {
        Ok(mut swapped) => {
            timeline.slices = std::mem::take(&mut swapped.slices);
            occupancy = std::mem::take(&mut swapped.occupancy);
            held = std::mem::take(&mut swapped.held);
            plan.space_bytes[Space::Arena as usize] = swapped.pools.bytes();
            let is_timed = report.layers.iter().all(|layer| layer.no_kernel.is_none());
            tell(&mut report, &swapped, &timeline, is_timed);
        }
        Err(missing) => {
            let needed = Bytes(missing.buffer.0.saturating_mul(Pools::FEWEST));
            plan.space_bytes[Space::Arena as usize] = needed;
            does_not_fit(&mut report, missing.layer, missing.buffer);
        }
    }
    let memory = MemoryMap::of_buffers(&plan, &held);
    let (card, frames) = (options.card_in(board), options.frames.get());
    let traffic = simulate::traffic(&plan, board, card.as_ref(), &timeline, frames);
    Ok(Planned { plan, memory, timeline, occupancy, traffic, report })
}

/// Lays all tensors on the card, one after the other, and takes away what images are made of.
pub fn empty_onto_card(plan: &mut Plan) {
    plan.input = InputResidency::External;
    plan.ops.clear();
    plan.tiles.clear();
    plan.views.clear();
    plan.spans.clear();
    plan.constants.clear();
    plan.programs.clear();
    plan.space_bytes = [Bytes(0); 6];
    let mut end = Bytes(0);
    for tensor in &mut plan.tensors {
        (tensor.space, tensor.offset, tensor.pitch) = (Space::Card, end.0, None);
        end = (end + tensor.bytes).align_up(BLOCK);
    }
    plan.space_bytes[Space::Card as usize] = end;
}

/// The figures of all frames together.
fn tell(report: &mut PlanReport, swapped: &Swapped, timeline: &Timeline, is_timed: bool) {
    let clock = timeline.clock_hz;
    let frames = u64::from(swapped.frames);
    let all = |of_frame: Bytes| Bytes(of_frame.0.saturating_mul(frames));
    report.peak_sram_bytes = swapped.pools.bytes();
    // Proved of these pools alone: as a rule smaller ones do too, but are slower.
    report.lower_bound_bytes = swapped.least;
    report.proved = swapped.pools.bytes() == swapped.least;
    report.fits = true;
    report.does_not_fit = None;
    report.io_tasks = Some(swapped.io_tasks.saturating_mul(frames));
    report.buffer_bytes = Some(swapped.pools.buffer);
    report.pools = swapped.pools.each().to_vec();
    report.read_bytes = all(swapped.read);
    report.written_bytes = all(swapped.written);
    report.card_written_bytes = report.written_bytes;
    report.card_writes = swapped.writes.saturating_mul(frames);
    if is_timed {
        let busy = |lane: u8, kind: SliceKind| {
            let chosen = timeline.slices.iter().filter(|s| s.lane == lane && s.kind == kind);
            let cycles: tilewright_plan::Cycles = chosen.map(|s| s.end.since(s.start)).sum();
            Some(cycles.at(clock))
        };
        report.latency_us = Some(swapped.end.at(clock));
        report.compute_us = busy(0, SliceKind::Compute);
        report.transfer_us = busy(1, SliceKind::Copy);
        // The core waits for the last write too.
        let compute = swapped.compute.0.saturating_mul(frames);
        report.stall_us = Some(tilewright_plan::Cycles(swapped.end.0 - compute).at(clock));
        report.bound_us = Some(swapped.bound.at(clock));
    }
}

fn does_not_fit(report: &mut PlanReport, operator: String, buffer: Bytes) {
    let needed = Bytes(buffer.0.saturating_mul(Pools::FEWEST));
    let part = |role, count: u64| {
        let bytes = Bytes(buffer.0.saturating_mul(count));
        Part { name: operator.clone(), role, bytes }
    };
    let parts =
        vec![part(PartRole::Input, 1), part(PartRole::Weights, 2), part(PartRole::Output, 1)];
    report.fits = false;
    (report.latency_us, report.compute_us) = (None, None);
    (report.transfer_us, report.stall_us, report.bound_us) = (None, None, None);
    report.peak_sram_bytes = needed;
    report.lower_bound_bytes = needed;
    report.proved = true;
    report.does_not_fit = Some(DoesNotFit {
        memory: SRAM.to_owned(),
        operator: operator.clone(),
        needed_bytes: needed,
        available_bytes: report.sram_limit_bytes,
        parts,
        remedies: Vec::new(),
        untried: 0,
    });
}

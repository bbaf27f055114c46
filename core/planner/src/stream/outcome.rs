//! From a streamed model to its plan and report.

use super::{NotStreamed, Streamed};
use crate::costs::Remembering;
use crate::swap::outcome::empty_onto_card;
use crate::{Options, PlanError, Planned, Strategy, report, simulate};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, ConstantRole, Cycles, LaneKind, Space};
use tilewright_report::{
    DoesNotFit, FLASH, Kind, MemoryMap, Occupancy, Part, PartRole, PlanReport, SRAM, SliceKind,
    Timeline,
};

/// The plan with all that is said of it. It has no program: parts of layers by rows and filters at
/// once, and operands in rings, are not steps of the project's kernels yet.
pub fn planned(
    model: &Model,
    board: &Board,
    strategy: Strategy,
    options: &Options,
) -> Result<Planned, PlanError> {
    let mut plan = super::lowered(model)?;
    plan.board.clone_from(&board.id);
    strategy.name().clone_into(&mut plan.strategy);
    let streamed = match super::of_plan(&plan, model, board, options) {
        Err(NotStreamed::Error(error)) => return Err(error),
        Err(NotStreamed::TooSmall(layer, bytes)) => Err((layer, bytes)),
        Ok(streamed) => Ok(streamed),
    };
    let mut timeline = Timeline {
        clock_hz: board.core.clock.hertz,
        instructions_kind: Kind::Modelled,
        cycles_kind: Kind::Modelled,
        lanes: vec![LaneKind::Core, LaneKind::Card],
        slices: Vec::new(),
    };
    let (costs, memory) = (Remembering::on(board), MemoryMap::of(&plan));
    let mut report = report::report(&plan, model, board, options, &costs, &memory, &timeline, None);
    // Biases, multipliers and tables stay in flash.
    let stay = plan.constants.iter().filter(|constant| constant.role != ConstantRole::Weights);
    let stay: Bytes = stay.map(|constant| constant.bytes).sum();
    empty_onto_card(&mut plan);
    "external".clone_into(&mut report.input);
    report.runnable = false;
    report.flash_bytes = plan.image_bytes() + stay;
    for layer in &mut report.layers {
        layer.flash_bytes = Bytes(0);
    }
    // Of what does not fit nothing is known.
    let (mut occupancy, mut held) = (Occupancy::default(), Vec::new());
    match streamed {
        Ok(mut streamed) => {
            timeline.slices = std::mem::take(&mut streamed.slices);
            occupancy = std::mem::take(&mut streamed.occupancy);
            held = std::mem::take(&mut streamed.held);
            plan.space_bytes[Space::Arena as usize] = streamed.peak;
            tell(&mut report, &streamed, &timeline);
            // Of operators without kernels the transfers alone would count.
            if report.layers.iter().any(|layer| layer.no_kernel.is_some()) {
                untimed(&mut report);
            }
            if report.flash_bytes > report.flash_limit_bytes {
                let had = [report.flash_bytes, report.flash_limit_bytes];
                does_not_fit(&mut report, FLASH, String::new(), had);
            }
        }
        Err((operator, needed)) => {
            plan.space_bytes[Space::Arena as usize] = needed;
            (report.peak_sram_bytes, report.lower_bound_bytes) = (needed, needed);
            report.proved = false;
            let had = [needed, report.sram_limit_bytes];
            does_not_fit(&mut report, SRAM, operator, had);
        }
    }
    let memory = MemoryMap::of_buffers(&plan, &held);
    let (card, frames) = (options.card_in(board), options.frames.get());
    let traffic = simulate::traffic(&plan, board, card.as_ref(), &timeline, frames);
    Ok(Planned { plan, memory, timeline, occupancy, traffic, report })
}

/// The figures of all frames together.
fn tell(report: &mut PlanReport, streamed: &Streamed, timeline: &Timeline) {
    let clock = timeline.clock_hz;
    report.peak_sram_bytes = streamed.peak;
    report.lower_bound_bytes = streamed.least;
    report.proved = streamed.peak == streamed.least;
    report.fits = true;
    report.does_not_fit = None;
    report.external_bytes = streamed.card;
    report.io_tasks = Some(streamed.commands);
    report.read_bytes = streamed.read;
    report.written_bytes = streamed.written;
    report.card_written_bytes = streamed.written;
    report.card_writes = streamed.writes;
    let transfers = timeline.slices.iter().filter(|slice| slice.kind == SliceKind::Copy);
    let transfers: Cycles = transfers.map(|slice| slice.end.since(slice.start)).sum();
    report.latency_us = Some(streamed.end.at(clock));
    report.compute_us = Some(streamed.compute.at(clock));
    report.transfer_us = Some(transfers.at(clock));
    // The core waits for the last write too.
    report.stall_us = Some((streamed.end - streamed.compute).at(clock));
    report.bound_us = Some(streamed.bound.at(clock));
}

fn does_not_fit(
    report: &mut PlanReport,
    memory: &str,
    operator: String,
    [needed_bytes, available_bytes]: [Bytes; 2],
) {
    report.fits = false;
    untimed(report);
    let part = Part { name: operator.clone(), role: PartRole::Rest, bytes: needed_bytes };
    report.does_not_fit = Some(DoesNotFit {
        memory: memory.to_owned(),
        operator,
        needed_bytes,
        available_bytes,
        parts: vec![part],
        remedies: Vec::new(),
        untried: 0,
    });
}

fn untimed(report: &mut PlanReport) {
    (report.latency_us, report.compute_us) = (None, None);
    (report.transfer_us, report.stall_us, report.bound_us) = (None, None, None);
}

//! The figures of a plan.

use crate::costs::CostCache;
use crate::{Options, does_not_fit, lower, packing};
use tilewright_allocate::Buffer;
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, InputResidency, Instruction, Micros, Plan, Role, Space};
use tilewright_report::{
    LayerRow, MemoryMap, Modelled, PlanReport, SliceKind, Timeline, WeightPacking,
};

/// The report of a plan. `bound` is what no plan of this strategy goes below; nothing: the plan's
/// order is the only one, and no placement goes below the largest sum of bytes that live at once.
#[expect(clippy::too_many_arguments, reason = "each is a different stage's result")]
pub fn report(
    plan: &Plan,
    model: &Model,
    board: &Board,
    options: &Options,
    costs: &CostCache,
    memory: &MemoryMap,
    timeline: &Timeline,
    bound: Option<Bytes>,
) -> PlanReport {
    let sram = options.arena_on(board);
    let bound = bound.unwrap_or_else(|| {
        tilewright_allocate::lower_bound(
            &plan
                .tensors
                .iter()
                .filter(|tensor| tensor.space == Space::Arena)
                .map(Buffer::of_tensor)
                .collect::<Vec<_>>(),
        )
    });
    let flash = plan.image_bytes();
    let clock = board.core.clock.hertz;
    // Of stalls those of the core.
    let busy = |kind: SliceKind| {
        timeline
            .slices
            .iter()
            .filter(|slice| slice.kind == kind && (slice.lane == 0 || kind == SliceKind::Copy))
            .map(|slice| slice.end.since(slice.start))
            .sum::<tilewright_plan::Cycles>()
            .at(clock)
    };
    let latency = timeline.end().since(Default::default()).at(clock);
    let runnable = plan.layers.iter().all(|layer| layer.work.no_kernel().is_none());
    let time = |micros: Micros| runnable.then_some(Modelled::new(micros));
    let runs = plan.runs(options.frames.get());
    let read = moved(plan, timeline, |from, _| from != Space::Arena).1
        + direct(plan, runs, |role| role != Role::Output);
    let written = moved(plan, timeline, |_, to| to != Space::Arena).1
        + direct(plan, runs, |role| role == Role::Output);
    let to_card = written_to_card(plan, timeline);
    let does_not_fit =
        does_not_fit::does_not_fit(plan, board, sram, [flash, board.plan_bytes()], memory);
    let layers = layers(plan, model, board, costs);
    let wider = || layers.iter().filter_map(|layer| layer.packing.as_ref());
    PlanReport {
        packing_flash_bytes: wider().map(|packing| packing.more_flash_bytes).sum(),
        packing_saved_cycles: wider().map(|packing| packing.saved_cycles).sum(),
        model: plan.model.clone(),
        board: plan.board.clone(),
        strategy: plan.strategy.clone(),
        input: match plan.input {
            InputResidency::Resident => "resident",
            InputResidency::OnCard(_) | InputResidency::Streamed => "streamed",
            InputResidency::External => "external",
        }
        .to_owned(),
        elements: "int8".to_owned(),
        fits: does_not_fit.is_none(),
        does_not_fit,
        runnable,
        peak_sram_bytes: memory.arena_bytes.into(),
        sram_limit_bytes: sram.into(),
        lower_bound_bytes: bound.into(),
        proved: memory.arena_bytes == bound,
        stages: Vec::new(),
        alternatives: Vec::new(),
        exits: Vec::new(),
        flash_bytes: flash.into(),
        flash_limit_bytes: board.plan_bytes().into(),
        external_bytes: [Space::ExternalRam, Space::ExternalFlash, Space::Card]
            .into_iter()
            .map(|space| plan.space(space))
            .sum(),
        macs: plan.layers.iter().map(|layer| layer.macs).sum(),
        tiles: None,
        recomputed_macs: 0.into(),
        latency_us: time(latency),
        compute_us: time(busy(SliceKind::Compute)),
        transfer_us: time(busy(SliceKind::Copy)),
        stall_us: time(busy(SliceKind::Stall)),
        bound_us: time(busy(SliceKind::Compute)),
        read_bytes: read.into(),
        written_bytes: written.into(),
        frames: options.frames.get(),
        card_written_bytes: to_card.1.into(),
        card_writes: to_card.0.into(),
        energy_uj: None,
        layers,
    }
}

/// What the timeline's copies write to the card: how many commands, and their bytes.
pub fn written_to_card(plan: &Plan, timeline: &Timeline) -> (u64, Bytes) {
    moved(plan, timeline, |_, to| to == Space::Card)
}

/// The timeline's copies whose source and destination are `chosen`: how many, and their bytes.
fn moved(plan: &Plan, timeline: &Timeline, chosen: impl Fn(Space, Space) -> bool) -> (u64, Bytes) {
    let Some(program) = plan.main.as_ref() else {
        return (0, Bytes(0));
    };
    let is_chosen = |slice: &&tilewright_report::Slice| {
        let step = program.lanes.get(usize::from(slice.lane))?.steps.get(slice.step as usize)?;
        let Instruction::Copy { source, destination, .. } = step.instruction else { return None };
        let space = |at: u32| plan.spans.get(at as usize)?.space();
        Some(chosen(space(source)?, space(destination)?))
    };
    let copies = timeline.slices.iter().filter(|slice| slice.kind == SliceKind::Copy);
    let chosen = copies.filter(|slice| is_chosen(slice) == Some(true));
    chosen.fold((0, Bytes(0)), |(count, bytes), slice| (count + 1, bytes + Bytes(slice.bytes)))
}

/// Bytes of the operands outside of the chip whose role is `chosen` and that the core reads or writes
/// there in so many runs, each once a step.
fn direct(plan: &Plan, runs: u32, chosen: impl Fn(Role) -> bool) -> Bytes {
    let program = plan.main.as_ref();
    let core = program.and_then(|program| program.lanes.first());
    let operands = core.iter().flat_map(|lane| &lane.steps).filter_map(|step| {
        let Instruction::Compute { op, first_view, .. } = step.instruction else { return None };
        plan.operands(op, first_view)
    });
    let bytes = operands.flat_map(|(op, views)| {
        let roles = op.roles();
        roles.iter().zip(views).filter(|(role, view)| {
            let outside = matches!(view.space(), Some(Space::ExternalRam | Space::ExternalFlash));
            outside && chosen(**role)
        })
    });
    bytes.map(|(_, view)| Bytes(view.elements() * u64::from(runs))).sum()
}

fn layers(plan: &Plan, model: &Model, board: &Board, costs: &CostCache) -> Vec<LayerRow> {
    let mut rows: Vec<LayerRow> = plan
        .layers
        .iter()
        .map(|layer| {
            let shape = |index: &u32| plan.tensors.get(*index as usize).map(|t| t.shape);
            let nodes = layer.nodes.iter().filter_map(|node| model.nodes.get(*node as usize));
            let constants = plan.constants.iter().filter(|c| layer.nodes.contains(&c.node));
            let node = layer.nodes.first().and_then(|node| model.nodes.get(*node as usize));
            let parameters: u64 = nodes
                .flat_map(|node| &node.inputs)
                .map(|id| model.tensor(*id))
                .filter(|tensor| tensor.is_constant())
                .map(|tensor| tensor.shape.elements().unwrap_or(0) as u64)
                .sum();
            LayerRow {
                name: layer.name.clone(),
                op: layer.work.name().to_owned(),
                no_kernel: layer.work.no_kernel().map(str::to_owned),
                awaits_int8: layer.work.no_kernel().is_some()
                    && node.is_some_and(|node| lower::awaits_int8(model, node)),
                inputs: layer.reads.iter().filter_map(shape).collect(),
                output: layer.writes.first().and_then(shape).unwrap_or_default(),
                macs: layer.macs.into(),
                parameters: parameters.into(),
                flash_bytes: match (layer.work.no_kernel(), node) {
                    (Some(_), Some(node)) => Bytes(model.constant_bytes(node)).into(),
                    _ => constants.map(|c| c.bytes).sum(),
                },
                cycles: 0.into(),
                packing: None,
            }
        })
        .collect();
    for (row, change) in rows.iter_mut().zip(packing::changes(plan, &costs.costs)) {
        // Weights that tiles of a layer share are the first one's.
        let has_weights = row.flash_bytes.0 > 0;
        row.packing = change.map(|(name, change)| WeightPacking {
            name: name.to_owned(),
            more_flash_bytes: if has_weights { change.bytes } else { 0 }.into(),
            saved_cycles: change.cycles.into(),
        });
    }
    let program = plan.main.as_ref();
    for lane in program.iter().flat_map(|program| program.lanes.first()) {
        for (step, (cost, _)) in lane.steps.iter().zip(costs.lane(board, plan, lane)) {
            if let Some(row) = rows.get_mut(usize::from(step.layer)) {
                *row.cycles += cost.0;
            }
        }
    }
    let frames = u64::from(plan.frames());
    for row in &mut rows {
        *row.cycles /= frames;
    }
    rows
}

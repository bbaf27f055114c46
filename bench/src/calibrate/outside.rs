//! What kernels wait for operands outside of the chip on a core without a data cache, found operand by
//! operand: the same program with all operands in SRAM, with those of one role in SDRAM, and with all of
//! them there.

use tilewright_board::Board;
use tilewright_model::{Data, Model};
use tilewright_plan::{Instruction, Kernel, LaneKind, Plan, Role, Space, Step};
use tilewright_planner::costs::{self, Feature, OutsideCost, role_name};
use tilewright_planner::{Options, Strategy};
use tilewright_tests::emulated;

use super::{least_squares, table};

/// Roles whose operands are loaded.
pub const LOADED: [Role; 3] = [Role::Input, Role::Weights, Role::Constants];

/// One emulated compute step.
pub struct Sample {
    /// What it has to do.
    pub features: Vec<Feature>,
    /// Loads of operands of each role of [`LOADED`].
    pub loads: [u64; 3],
    /// Cycles that stores wait where nothing else lies outside.
    pub stores: u64,
    /// Cycles more that all wait where all lies outside.
    pub beside: u64,
    /// Cycles of the step with all operands outside.
    pub whole: u64,
}

/// Where operands of a role lie.
type Outside<'a> = &'a dyn Fn(Role) -> bool;

/// The step of a model that is one step, and one of the kernel; nothing of others, or where the board's core
/// has a cache or no external RAM.
///
/// # Errors
/// What went wrong on the way.
pub fn sample(kernel: Kernel, model: &Model, board: &Board) -> Result<Option<Sample>, String> {
    let Some([load, _]) = word_cycles(board) else { return Ok(None) };
    let options = Options::default();
    let planned = tilewright_planner::plan(model, board, Strategy::External, &options)
        .map_err(|e| e.to_string())?;
    let Some((op, tile, first_view)) = only_step(&planned.plan) else { return Ok(None) };
    let Some((op, views)) = planned.plan.operands(op, first_view) else { return Ok(None) };
    if op.kernel() != Some(kernel) || planned.plan.space(Space::ExternalRam) > board.arena() {
        return Ok(None);
    }
    // What `external` leaves in flash, tables of bytes, is not mirrored.
    if views.iter().any(|view| view.space() != Some(Space::ExternalRam)) {
        return Ok(None);
    }
    let tile = planned.plan.tiles.get(tile as usize).ok_or("a tile is missing")?;
    let features = costs::features(op, tile, views);
    let run = |outside: Outside<'_>| cycles(&planned.plan, model, board, &options, outside);
    let inside = run(&|_| false)?;
    let mut loads = [0; 3];
    for (loads, role) in loads.iter_mut().zip(LOADED) {
        if kernel.roles().contains(&role) {
            *loads = run(&|found| found == role)?.saturating_sub(inside) / load;
        }
    }
    let stores = run(&|found| found == Role::Output)?.saturating_sub(inside);
    let whole = run(&|_| true)?;
    let apart = inside + loads.iter().sum::<u64>() * load + stores;
    Ok(Some(Sample { features, loads, stores, beside: whole.saturating_sub(apart), whole }))
}

/// Cycles of a load from external RAM and of a store there, if the core has no cache.
pub fn word_cycles(board: &Board) -> Option<[u64; 2]> {
    let timing = board.external(Space::ExternalRam)?.timing.as_ref()?;
    let accesses = [timing.core_read, timing.core_write?];
    let seen = board.core.data_cache.is_none() && board.drives(LaneKind::Dma);
    seen.then(|| accesses.map(|access| costs::word_cycles(access, board)))
}

/// Op, tile and first view of a program's only compute step.
fn only_step(plan: &Plan) -> Option<(u32, u32, u32)> {
    let computes = plan.main.as_ref()?.lanes.first()?.steps.iter();
    let mut computes = computes.filter_map(|step| match step.instruction {
        Instruction::Compute { op, tile, first_view, .. } => Some((op, tile, first_view)),
        _ => None,
    });
    let first = computes.next();
    first.filter(|_| computes.next().is_none())
}

/// Cycles of the step of a plan whose operands are all outside, with those of some roles there and the
/// others at the same places of the arena.
fn cycles(
    plan: &Plan,
    model: &Model,
    board: &Board,
    options: &Options,
    outside: Outside<'_>,
) -> Result<u64, String> {
    let mut plan = plan.clone();
    mirror(&mut plan, outside).ok_or("a plan is not as `external` makes it")?;
    let mut rng = fastrand::Rng::with_seed(1);
    let elements = |id| model.tensor(id).shape.elements().unwrap_or(0);
    let inputs: Vec<Data> = model
        .inputs
        .iter()
        .map(|id| Data::I8((0..elements(*id)).map(|_| rng.i8(..)).collect()))
        .collect();
    let mut job = emulated::job_of(&plan, model, board, &inputs, options)?;
    job.frames = job.frames.iter().cycle().take(2 * job.frames.len()).cloned().collect();
    let outcome = emulated::run_job(job)?;
    if let Some(fault) = outcome.finish.fault {
        return Err(fault.message);
    }
    let step = outcome.steps.first().ok_or("no step ran")?;
    Ok(step.cycles - step.code_waits - step.constant_waits)
}

/// Moves operands to the arena, but for those of roles that stay outside; constants come to both.
fn mirror(plan: &mut Plan, outside: Outside<'_>) -> Option<()> {
    let place = |role| if outside(role) { Space::ExternalRam } else { Space::Arena };
    let (op, _, first_view) = only_step(plan)?;
    let roles = plan.ops.get(op as usize)?.kernel()?.roles();
    let first = first_view as usize;
    for (view, role) in plan.views.get_mut(first..first + roles.len())?.iter_mut().zip(roles) {
        view.space = place(*role) as u8;
    }
    let main = plan.main.as_ref()?;
    for (ios, role) in [(&main.inputs, Role::Input), (&main.outputs, Role::Output)] {
        for io in ios {
            plan.views.get_mut(io.view as usize)?.space = place(role) as u8;
            plan.tensors.get_mut(io.tensor as usize)?.space = place(role);
        }
    }
    for lane in plan.boot.iter_mut().flat_map(|boot| boot.lanes.iter_mut().skip(1)) {
        for step in lane.steps.clone() {
            let Instruction::Copy { source, destination, sum } = step.instruction else {
                return None;
            };
            let (from, mut to) =
                (*plan.spans.get(source as usize)?, *plan.spans.get(destination as usize)?);
            to.space = Space::Arena as u8;
            let source = plan.spans.len() as u32;
            plan.spans.extend([from, to]);
            let instruction = Instruction::Copy { source, destination: source + 1, sum };
            lane.steps.push(Step { instruction, ..step });
        }
    }
    plan.space_bytes[Space::Arena as usize] = plan.space(Space::ExternalRam);
    Some(())
}

/// What was found, fitted by features; a load took so many cycles. Nothing if there is nothing.
pub fn fitted(samples: &[Sample], load: u64) -> Option<OutsideCost> {
    if samples.is_empty() {
        return None;
    }
    let (names, features) = table(samples.iter().map(|sample| &sample.features));
    let wholes: Vec<u64> = samples.iter().map(|sample| sample.whole).collect();
    let fit = |value: &dyn Fn(&Sample) -> u64, by: u64| {
        let values: Vec<u64> = samples.iter().map(|sample| value(sample) * by).collect();
        let milli = least_squares::part_of(&features, &values, &wholes);
        let named = names.iter().zip(milli).map(|(name, milli)| ((*name).to_owned(), milli / by));
        named.filter(|(_, milli)| *milli > 0).collect()
    };
    let milli_loads = (0..LOADED.len())
        .filter(|index| samples.iter().any(|sample| sample.loads[*index] > 0))
        .map(|index| {
            let loads = fit(&|sample: &Sample| sample.loads[index], load);
            (role_name(LOADED[index]).to_owned(), loads)
        })
        .collect();
    let mut cost = OutsideCost {
        error_permille: 0,
        milli_loads,
        milli_store_waits: fit(&|sample| sample.stores, 1),
        milli_waits_between: fit(&|sample| sample.beside, 1),
    };
    let error = |sample: &Sample| {
        let found: u64 = LOADED
            .iter()
            .map(|role| cost.loads(*role, &sample.features).unwrap_or(0) * load)
            .chain(cost.store_waits(&sample.features))
            .sum();
        let waited = sample.loads.iter().sum::<u64>() * load + sample.stores + sample.beside;
        found.abs_diff(waited) * 1000 / sample.whole.max(1)
    };
    cost.error_permille = samples.iter().map(error).max().unwrap_or(0);
    Some(cost)
}

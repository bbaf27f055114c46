//! Plans of several models as one, whose programs run one at a time in one arena.
//!
//! Tables, weights and memories outside of the chip of one model follow those of the one before; the arena is the
//! largest. The program of the first model is the main one, those of the others may be chosen instead. Nothing is
//! planned anew: each model is as fast as alone, and what it keeps from run to run has no place here.

use thiserror::Error;
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::copy_checksums::stored_weights;
use tilewright_plan::image::STORE_ALIGNMENT;
use tilewright_plan::{
    Bytes, InputResidency, Instruction, Io, Plan, Program, Reader, Space, Step, Subnetwork,
};

use crate::exits::Exits;
use crate::narrow::narrow;
use crate::planning::described;
use crate::recipe::Made;
use crate::{Options, PlanError, Planned};

/// Weights and what stands outside of the chip begin at multiples of so many bytes.
const ALIGNMENT: u64 = 32;

/// Why plans cannot be one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum JoinError {
    /// There are not two.
    #[error("one image of several models needs two at least")]
    TooFew,
    /// Models that are no one graph.
    #[error("the model {0}, so that it cannot be one of several in an image")]
    Model(String),
    /// Nobody waits any more.
    #[error("{0}")]
    Plan(PlanError),
    /// A plan without a program.
    #[error("'{0}' has no program")]
    NoProgram(String),
    /// A plan of another board.
    #[error("'{0}' is planned for another board")]
    Board(String),
    /// Something that the programs of others would write over, or that an image has once.
    #[error("'{model}' {what}, which an image of several models cannot hold")]
    Unshared {
        /// The model.
        model: String,
        /// What.
        what: &'static str,
    },
}

/// Where the parts of a plan go in the joined one.
struct Shift {
    tensors: u32,
    tables: Tables,
    /// Bytes of each space, by its number, that stand before.
    spaces: [u64; 6],
    /// Of a card, the end of the plan's own weights, and where what follows them goes.
    card: (u64, u64),
    inputs: u16,
    outputs: u16,
}

/// Records of each table that stand before.
struct Tables {
    layers: u16,
    ops: u32,
    tiles: u32,
    views: u32,
    spans: u32,
    nodes: u32,
    model_tensors: u32,
}

/// The model of all, and their plans as one, with what is said of it; figures of time are those of the first model.
///
/// # Errors
/// [`JoinError`] says which model cannot be there.
pub fn joined(
    parts: &[(&Model, &Planned)],
    board: &Board,
    options: &Options,
) -> Result<(Model, Planned), JoinError> {
    let models: Vec<&Model> = parts.iter().map(|(model, planned)| planned.model(model)).collect();
    let model = Model::joined(&models).map_err(JoinError::Model)?;
    let plans = parts.iter().map(|(_, planned)| &planned.plan).zip(&models);
    let plans: Vec<_> =
        plans.map(|(plan, model)| (plan, model.nodes.len(), model.tensors.len())).collect();
    let plan = one_plan(&plans)?;
    let recipe = parts.first().map(|(_, planned)| planned.recipe.clone());
    let made = Made { recipe: recipe.ok_or(JoinError::TooFew)?, plan };
    let options = Options { exits: Exits::default(), ..options.clone() };
    let planned = described(made, &model, board, &options, Some(Bytes(0)));
    Ok((model, planned.map_err(JoinError::Plan)?))
}

/// The plans as one; `parts` says of each how many nodes and tensors its model has.
fn one_plan(parts: &[(&Plan, usize, usize)]) -> Result<Plan, JoinError> {
    let [(first, ..), _, ..] = parts else { return Err(JoinError::TooFew) };
    for (plan, ..) in parts {
        is_alone(plan, first)?;
    }
    let mut all = Plan {
        model: parts.iter().map(|part| part.0.model.as_str()).collect::<Vec<_>>().join(" + "),
        layers: Vec::new(),
        tensors: Vec::new(),
        ops: Vec::new(),
        tiles: Vec::new(),
        views: Vec::new(),
        spans: Vec::new(),
        constants: Vec::new(),
        boot: None,
        main: None,
        subnetworks: Vec::new(),
        space_bytes: [Bytes(0); 6],
        ..(*first).clone()
    };
    // What programs write to a card stands behind the weights of all.
    let header = STORE_ALIGNMENT as u64;
    let on_card: u64 = parts.iter().map(|part| stored_weights(part.0)).sum();
    let mut written = header + on_card;
    let (mut nodes, mut model_tensors, mut inputs, mut outputs) = (0, 0, 0u16, 0u16);
    let mut card_weights = 0;
    for (plan, node_count, tensor_count) in parts {
        let own_weights = stored_weights(plan);
        let own_end = header + own_weights;
        let mut spaces = [0; 6];
        for space in Space::ALL {
            spaces[space as usize] = match space {
                Space::Arena => 0,
                Space::Card => card_weights,
                // The header is there once.
                Space::ExternalFlash => all.space(space).0.saturating_sub(header),
                _ => all.space(space).0,
            };
        }
        let shift = Shift {
            tensors: narrow(all.tensors.len()),
            tables: Tables {
                layers: narrow(all.layers.len()),
                ops: narrow(all.ops.len()),
                tiles: narrow(all.tiles.len()),
                views: narrow(all.views.len()),
                spans: narrow(all.spans.len()),
                nodes: narrow(nodes),
                model_tensors: narrow(model_tensors),
            },
            spaces,
            card: (own_end, written),
            inputs,
            outputs,
        };
        take(&mut all, plan, &shift);
        let beyond = plan.space(Space::Card).0.saturating_sub(own_end);
        written = (written + beyond).next_multiple_of(header);
        card_weights += own_weights;
        for space in Space::ALL {
            let used = plan.space(space).0;
            let end = match space {
                Space::Arena => used.max(all.space(space).0),
                Space::Card if used == 0 => all.space(space).0,
                Space::Card => written,
                _ if used == 0 => all.space(space).0,
                _ => (shift.spaces[space as usize] + used).next_multiple_of(ALIGNMENT),
            };
            all.space_bytes[space as usize] = Bytes(end);
        }
        nodes += node_count;
        model_tensors += tensor_count;
        if let Some(main) = &plan.main {
            inputs += main.inputs_of_frame();
            outputs += main.outputs_of_frame();
        }
    }
    Ok(all)
}

/// Whether a plan keeps nothing that the programs of others would write over.
fn is_alone(plan: &Plan, first: &Plan) -> Result<(), JoinError> {
    let wrong = |what| Err(JoinError::Unshared { model: plan.model.clone(), what });
    if plan.main.is_none() {
        return Err(JoinError::NoProgram(plan.model.clone()));
    }
    if plan.board != first.board {
        return Err(JoinError::Board(plan.model.clone()));
    }
    if plan.frames() > 1 {
        return wrong("works on several frames at once");
    }
    if plan.sector_checksums.is_some() {
        return wrong("keeps checksums of a card's sectors");
    }
    if matches!(plan.input, InputResidency::OnCard(_) | InputResidency::Streamed) {
        return wrong("takes its input in parts");
    }
    if !plan.subnetworks.is_empty() {
        return wrong("has sub-networks of its own");
    }
    let boot = plan.boot.iter().flat_map(|boot| &boot.lanes).flat_map(|lane| &lane.steps);
    let mut brought = boot.filter_map(|step| match step.instruction {
        Instruction::Copy { destination, .. } => plan.spans.get(destination as usize)?.space(),
        _ => None,
    });
    if brought.any(|space| space == Space::Arena) {
        return wrong("keeps weights in SRAM");
    }
    Ok(())
}

/// Adds a plan's parts behind those that are there.
fn take(all: &mut Plan, plan: &Plan, shift: &Shift) {
    let Shift { tables, .. } = shift;
    let moved = |list: &[u32]| list.iter().map(|index| index + shift.tensors).collect();
    let name = |own: &str| format!("{}/{own}", plan.model);
    all.tensors.extend(plan.tensors.iter().map(|tensor| {
        let mut tensor = tensor.clone();
        tensor.tensor += tables.model_tensors;
        tensor.offset = shift.place(tensor.space, tensor.offset);
        tensor.first += u32::from(tables.layers);
        tensor.end += u32::from(tables.layers);
        tensor
    }));
    all.layers.extend(plan.layers.iter().map(|layer| {
        let mut layer = layer.clone();
        layer.name = name(&layer.name);
        layer.nodes.iter_mut().for_each(|node| *node += tables.nodes);
        (layer.reads, layer.writes) = (moved(&layer.reads), moved(&layer.writes));
        layer
    }));
    all.ops.extend(&plan.ops);
    all.tiles.extend(&plan.tiles);
    all.views.extend(plan.views.iter().map(|view| {
        let place = |space| shift.place(space, view.offset.into());
        let offset = view.space().map_or(view.offset, |space| narrow(place(space)));
        tilewright_plan::View { offset, ..*view }
    }));
    all.spans.extend(plan.spans.iter().map(|span| {
        let place = |space| shift.place(space, span.offset.into());
        let offset = span.space().map_or(span.offset, |space| narrow(place(space)));
        tilewright_plan::Span { offset, ..*span }
    }));
    all.constants.extend(plan.constants.iter().map(|block| {
        let mut block = block.clone();
        block.node += tables.nodes;
        block.op += tables.ops;
        for Reader { node, op } in &mut block.copies {
            *node += tables.nodes;
            *op += tables.ops;
        }
        block.offset = shift.place(block.space, block.offset);
        block
    }));
    if let Some(boot) = &plan.boot {
        let boot = shift.program(boot);
        all.boot = Some(match all.boot.take() {
            Some(before) => behind(before, boot),
            None => boot,
        });
    }
    if let Some(main) = &plan.main {
        let program = Program { name: plan.model.clone(), ..shift.program(main) };
        let inputs = shift.inputs..shift.inputs + program.inputs_of_frame();
        let outputs = shift.outputs..shift.outputs + program.outputs_of_frame();
        match all.main {
            None => all.main = Some(program),
            Some(_) => {
                all.subnetworks.push(Subnetwork { inputs, outputs, latency: None, program });
            }
        }
    }
}

impl Shift {
    /// Where a byte of a space goes.
    fn place(&self, space: Space, offset: u64) -> u64 {
        let (own_end, written) = self.card;
        match space {
            Space::Card if offset >= own_end => offset - own_end + written,
            _ => offset + self.spaces[space as usize],
        }
    }

    fn program(&self, program: &Program) -> Program {
        let mut program = program.clone();
        for step in program.lanes.iter_mut().flat_map(|lane| &mut lane.steps) {
            self.step(step);
        }
        for Io { tensor, view, .. } in program.inputs.iter_mut().chain(&mut program.outputs) {
            *tensor += self.tensors;
            *view += self.tables.views;
        }
        program
    }

    fn step(&self, step: &mut Step) {
        let Tables { layers, ops, tiles, views, spans, .. } = self.tables;
        step.layer += layers;
        match &mut step.instruction {
            Instruction::Compute { op, tile, first_view, .. } => {
                *op += ops;
                *tile += tiles;
                *first_view += views;
            }
            Instruction::Copy { source, destination, .. } => {
                *source += spans;
                *destination += spans;
            }
            Instruction::Arrive { view } => *view += views,
            Instruction::Exit { .. } => {}
        }
    }
}

/// One program that boots behind another: each of its steps waits for all of the lane that does the same, since lanes
/// keep their order, and for what it waited for.
fn behind(mut before: Program, boot: Program) -> Program {
    let mut number = Vec::new();
    for lane in &boot.lanes {
        let found = before.lanes.iter().position(|own| own.kind == lane.kind);
        number.push(found.unwrap_or_else(|| {
            before.lanes.push(tilewright_plan::Lane { kind: lane.kind, steps: Vec::new() });
            before.lanes.len() - 1
        }));
    }
    let had: Vec<u32> = before.lanes.iter().map(|lane| narrow(lane.steps.len())).collect();
    for (lane, own) in boot.lanes.into_iter().zip(&number) {
        for mut step in lane.steps {
            for after in step.after.iter_mut().flatten() {
                let to = number.get(usize::from(after.lane)).copied().unwrap_or_default();
                (after.lane, after.step) = (narrow(to), after.step + had[to]);
            }
            before.lanes[*own].steps.push(step);
        }
    }
    before
}

//! The validator of plans. It shares no code with the planner, and cannot: it does not depend on
//! it.
//!
//! [`check`] proves of a plan with one core lane:
//! * it fits the board, and constant blocks are whole, disjoint and those that the steps use;
//! * every step is inside its kernel's domain and does what its node says, with the node's
//!   geometry and quantisation;
//! * every byte that a step reads holds the element of the tensor version that is meant;
//! * output and inputs of a step do not overlap, unless it works in place; a step in rows is
//!   followed row by row, each as a step of its own;
//! * operands of concats that are not copied are made where the output lies;
//! * at the end the model's outputs are complete.
//!
//! [`check_memory`] proves of a plan without program, some layer of which has no kernel, that each
//! tensor has bytes of its own for as long as it is needed.
//!
//! [`reference`] says where a run's layer outputs lie and compares them with the reference
//! interpreter.

mod constants;
mod contents;
mod fused;
mod geometry;
mod memory;
mod moves;
mod node;
mod parts;
pub mod reference;
mod shapes;

use contents::Contents;
pub use memory::{MemoryProof, check_memory};
use parts::Place;
use std::ops::Range;
use thiserror::Error;
use tilewright_board::Board;
use tilewright_model::{Model, NodeId, TensorId};
use tilewright_plan::rows::{self, Row};
use tilewright_plan::{
    Instruction, Kernel, LaneKind, Op, Plan, PlannedLayer, Program, Role, RowOrder, Space, Step,
    Tile, View, domain,
};

/// Why a plan is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CheckError {
    /// The plan names the wrong board.
    #[error("the plan is for board '{plan}', not '{board}'")]
    Board {
        /// Of the plan.
        plan: String,
        /// The board checked against.
        board: String,
    },
    /// The plan needs more of a space than the board has.
    #[error("the plan needs {needed} bytes in space {space:?}, the board has {had}")]
    DoesNotFit {
        /// The space.
        space: Space,
        /// Bytes needed.
        needed: u64,
        /// Bytes had.
        had: u64,
    },
    /// Something about the plan as a whole.
    #[error("plan: {0}")]
    Plan(String),
    /// A constant block is wrong.
    #[error("constant block {index}: {reason}")]
    Constant {
        /// Index of the block.
        index: usize,
        /// What is wrong.
        reason: String,
    },
    /// A step is wrong.
    #[error("program '{program}', step {step} (layer '{layer}'): {reason}")]
    Step {
        /// Program.
        program: String,
        /// Step of the core lane.
        step: usize,
        /// Layer.
        layer: String,
        /// What is wrong.
        reason: String,
    },
    /// An output of the model is not there at the end.
    #[error("output '{tensor}': {reason}")]
    Output {
        /// The tensor.
        tensor: String,
        /// What is wrong.
        reason: String,
    },
}

/// What a check has proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// Compute steps checked.
    pub steps: usize,
    /// Bytes of operands whose content was followed.
    pub bytes: u64,
}

/// Proves that `plan` computes `model` on `board`.
///
/// # Errors
/// The first fault found.
pub fn check(plan: &Plan, model: &Model, board: &Board) -> Result<Proof, CheckError> {
    check_board(plan, board)?;
    check_structure(plan, model)?;
    if let Some(layer) = plan.layers.iter().find(|layer| layer.work.no_kernel().is_some()) {
        return Err(CheckError::Plan(format!("layer '{}' has no kernel", layer.name)));
    }
    if !plan.programs.iter().any(|program| !program.boot) {
        return Err(CheckError::Plan("it has no program".to_owned()));
    }
    constants::check(plan, model)?;
    let mut proof = Proof { steps: 0, bytes: 0 };
    for program in &plan.programs {
        Follow::new(plan, model, program)?.run(&mut proof)?;
    }
    Ok(proof)
}

/// The plan is for this board and fits it.
fn check_board(plan: &Plan, board: &Board) -> Result<(), CheckError> {
    if plan.board != board.id {
        return Err(CheckError::Board { plan: plan.board.clone(), board: board.id.clone() });
    }
    for (space, had) in Space::ALL.into_iter().zip(board.space_bytes()) {
        let needed = plan.space(space).0;
        if needed > had {
            return Err(CheckError::DoesNotFit { space, needed, had });
        }
    }
    if plan.image_bytes() > board.plan_bytes() {
        let (needed, had) = (plan.image_bytes().0, board.plan_bytes().0);
        return Err(CheckError::DoesNotFit { space: Space::Weights, needed, had });
    }
    Ok(())
}

/// Every node of the model that executes is part of a layer, once; tensors are inside their space.
fn check_structure(plan: &Plan, model: &Model) -> Result<(), CheckError> {
    let wrong = |reason: String| Err(CheckError::Plan(reason));
    let mut seen = vec![false; model.nodes.len()];
    for layer in &plan.layers {
        if layer.nodes.is_empty() {
            return wrong(format!("layer '{}' has no node", layer.name));
        }
        for node in &layer.nodes {
            match seen.get_mut(*node as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => return wrong(format!("layer '{}' is unknown or twice there", layer.name)),
            }
        }
    }
    for (node, seen) in model.nodes.iter().zip(seen) {
        let executes = !matches!(node.op, tilewright_model::Op::Reshape);
        if executes != seen {
            return wrong(format!("node '{}' is missing or should not execute", node.name));
        }
    }
    for tensor in &plan.tensors {
        if tensor.offset.saturating_add(tensor.bytes.0) > plan.space(tensor.space).0 {
            return wrong(format!("tensor '{}' lies outside its space", tensor.name));
        }
    }
    Ok(())
}

/// Follows a program step by step with what every byte holds.
struct Follow<'a> {
    plan: &'a Plan,
    model: &'a Model,
    program: &'a Program,
    /// For each tensor of the model, the one whose elements its bytes are.
    places: Vec<Place>,
    arena: Contents,
    /// Constant operands among the weights.
    weights: Contents,
}

impl<'a> Follow<'a> {
    fn new(plan: &'a Plan, model: &'a Model, program: &'a Program) -> Result<Self, CheckError> {
        let [lane] = program.lanes.as_slice() else {
            return Err(CheckError::Plan(format!(
                "program '{}' has {} lanes; one core lane can be checked",
                program.name,
                program.lanes.len()
            )));
        };
        if lane.kind != LaneKind::Core || program.stages != 1 || program.boot {
            return Err(CheckError::Plan(format!(
                "program '{}' is no single-frame program of the core",
                program.name
            )));
        }
        let mut this = Self {
            plan,
            model,
            program,
            places: parts::places(plan, model)?,
            arena: Contents::default(),
            weights: constants::operands(plan, model, Space::Weights),
        };
        if program.inputs.len() != model.inputs.len() {
            return Err(CheckError::Plan("number of inputs differs from the model's".to_owned()));
        }
        for (io, id) in program.inputs.iter().zip(&model.inputs) {
            let view = plan.views.get(io.view as usize).copied().unwrap_or_default();
            let elements = shapes::bytes(model, *id);
            node::check_io(io, model, *id).map_err(CheckError::Plan)?;
            if view.space() != Some(Space::Arena)
                || !view.is_contiguous()
                || view.elements() != elements
                || domain::check_view(&view, plan.space(Space::Arena).0).is_err()
            {
                return Err(CheckError::Plan(format!(
                    "input '{}' is not a whole tensor in the arena",
                    model.tensor(*id).name
                )));
            }
            let address = u64::from(view.offset);
            let place = this.places[id.0];
            let written = place.pieces(0, elements, |before, bytes, element| {
                this.arena.write(address + before, bytes, place.root, element);
                Ok(())
            });
            written.map_err(CheckError::Plan)?;
        }
        Ok(this)
    }

    fn run(&mut self, proof: &mut Proof) -> Result<(), CheckError> {
        let steps = self.program.lanes.first().map_or(&[][..], |lane| &lane.steps);
        for (number, step) in steps.iter().enumerate() {
            let bytes = self.step(step, number).map_err(|reason| CheckError::Step {
                program: self.program.name.clone(),
                step: number,
                layer: self
                    .plan
                    .layers
                    .get(usize::from(step.layer))
                    .map(|layer| layer.name.clone())
                    .unwrap_or_default(),
                reason,
            })?;
            proof.steps += 1;
            proof.bytes += bytes;
        }
        self.outputs()
    }

    fn step(&mut self, step: &Step, number: usize) -> Result<u64, String> {
        if step.after.iter().flatten().any(|a| a.lane != 0 || a.step as usize >= number) {
            return Err("waits for itself, a later step or another lane".to_owned());
        }
        let Instruction::Compute { op, tile, first_view, order } = step.instruction else {
            return Err("only compute steps can be checked".to_owned());
        };
        let layer = self.plan.layers.get(usize::from(step.layer)).ok_or("unknown layer")?;
        let (record, views) = self.plan.operands(op, first_view).ok_or("unknown operands")?;
        let tile = self.plan.tiles.get(tile as usize).ok_or("unknown tile")?;
        domain::check_op(record)?;
        domain::check_order(record, order)?;
        domain::check_compute(record, tile, views)?;
        for view in views {
            let space = view.space().ok_or("unknown space")?;
            domain::check_view(view, self.plan.space(space).0)?;
        }
        if order == RowOrder::Whole {
            return self.compute(layer, op, record, tile, views);
        }
        let mut bytes = 0;
        let mut made: Vec<Row> = Vec::new();
        for y in rows::sequence(tile, order) {
            let row = Row::of(record, tile, views, y).ok_or("a row is none of its tile's")?;
            domain::check_compute(record, &row.tile, row.operands())?;
            let read = self.compute(layer, op, record, &row.tile, row.operands());
            bytes += read.map_err(|reason| overwritten(record, &made, &row).unwrap_or(reason))?;
            made.push(row);
        }
        Ok(bytes)
    }

    /// Follows a step, or one row of a step in rows.
    fn compute(
        &mut self,
        layer: &PlannedLayer,
        op: u32,
        record: &Op,
        tile: &Tile,
        views: &[View],
    ) -> Result<u64, String> {
        let (first, meaning) = match layer.nodes.as_slice() {
            [node] => (*node, node::meaning(self.model, NodeId(*node as usize), record, tile)?),
            [conv, pool] => {
                let nodes = [*conv, *pool].map(|node| NodeId(node as usize));
                (*conv, fused::meaning(self.model, nodes, record, tile)?)
            }
            _ => return Err("no kernel computes as many nodes".to_owned()),
        };
        let node = &self.model.nodes[first as usize];
        let kernel = record.kernel().ok_or("unknown kernel")?;
        let mut bytes = 0;
        let mut inputs = meaning.inputs.iter();
        let mut output = None;
        for (role, view) in kernel.roles().iter().zip(views) {
            match role {
                Role::Input => {
                    let meant = *inputs.next().ok_or("more inputs than the node has")?;
                    let contents = match (view.space(), self.model.tensor(meant).is_constant()) {
                        (Some(Space::Arena), false) => &self.arena,
                        (Some(Space::Weights), true) => &self.weights,
                        _ => return Err("an operand is read from another memory".to_owned()),
                    };
                    let shape = shapes::seen(self.model, kernel, meant, view)?;
                    bytes += contents.read(view, shape, &self.places[meant.0])?;
                }
                Role::Output => output = Some(view),
                Role::Constants if kernel == Kernel::Gather => {
                    let gather = constants::gather(self.plan, first, op, view)?;
                    let input = views.first().ok_or("no input")?;
                    domain::check_gather(&gather, tile, input)?;
                    moves::check(self.model, node, &gather, input)?;
                }
                Role::Weights | Role::Constants => {
                    let role = (*role, kernel);
                    constants::check_use(self.plan, first, op, role, view, &meaning)?;
                }
            }
        }
        let output = output.ok_or("no output")?;
        if output.space() != Some(Space::Arena) {
            return Err("an activation is written outside of the arena".to_owned());
        }
        node::check_boxes(self.model, node, &meaning, kernel, views, output)?;
        let written = touched(output);
        let shared = domain::in_place(kernel, views);
        for (index, (role, view)) in kernel.roles().iter().zip(views).enumerate() {
            let apart = !meets(&touched(view), &written);
            if *role != Role::Output && view.space == output.space && !apart {
                if shared == Some(index) {
                    continue;
                }
                return Err("output overlaps an input".to_owned());
            }
        }
        let shape = match kernel {
            Kernel::Gather | Kernel::Lut | Kernel::FullyConnected => {
                shapes::seen(self.model, kernel, meaning.output, output)?
            }
            _ => node::output_shape(self.model, node, meaning.output)?,
        };
        let start = [
            u64::from(tile.output_start[0]),
            u64::from(tile.output_start[1]),
            u64::from(tile.channel_start),
        ];
        let place = &self.places[meaning.output.0];
        bytes += self.arena.write_view(output, tile, shape, place, start)?;
        Ok(bytes)
    }

    fn outputs(&self) -> Result<(), CheckError> {
        let fault = |id: TensorId, reason: &str| CheckError::Output {
            tensor: self.model.tensor(id).name.clone(),
            reason: reason.to_owned(),
        };
        if self.program.outputs.len() != self.model.outputs.len() {
            return Err(CheckError::Plan("number of outputs differs from the model's".to_owned()));
        }
        for (io, id) in self.program.outputs.iter().zip(&self.model.outputs) {
            let view = self.plan.views.get(io.view as usize);
            let view = view.ok_or_else(|| fault(*id, "unknown view"))?;
            node::check_io(io, self.model, *id).map_err(|reason| fault(*id, &reason))?;
            domain::check_view(view, self.plan.space(Space::Arena).0)
                .map_err(|reason| fault(*id, reason))?;
            if view.space() != Some(Space::Arena) || !view.is_contiguous() {
                return Err(fault(*id, "it is not a whole tensor in the arena"));
            }
            if view.elements() != shapes::bytes(self.model, *id) {
                return Err(fault(*id, "its view has another size"));
            }
            let shape = [u64::from(view.h), u64::from(view.w), u64::from(view.c)];
            let place = &self.places[id.0];
            self.arena.read(view, shape, place).map_err(|reason| fault(*id, &reason))?;
        }
        Ok(())
    }
}

/// Bytes of its space that a view can touch.
fn touched(view: &View) -> Range<u64> {
    u64::from(view.offset)..u64::from(view.offset) + view.extent()
}

const fn meets(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Why a row cannot be made, if that is because an earlier row of its step lies where it reads.
fn overwritten(op: &Op, made: &[Row], row: &Row) -> Option<String> {
    let roles = op.kernel()?.roles();
    let is_input = |(role, _): &(&Role, &View)| **role == Role::Input;
    for input in roles.iter().zip(row.operands()).filter(is_input).map(|(_, view)| view) {
        for earlier in made {
            let at = roles.iter().position(|role| *role == Role::Output)?;
            let output = earlier.operands().get(at)?;
            let lines = 0..u64::from(input.h);
            let line = lines.into_iter().find(|line| {
                let ring = u64::from(input.ring_rows);
                let place = (line + u64::from(input.first_row)) % ring;
                let start = u64::from(input.offset) + place * u64::from(input.row_pitch);
                let pixels = (u64::from(input.w) - 1) * u64::from(input.column_pitch);
                let bytes = start..start + pixels + u64::from(input.c);
                input.space == output.space && meets(&bytes, &touched(output))
            });
            if let Some(line) = line {
                return Some(format!(
                    "row {} overwrites input row {} that row {} still reads",
                    earlier.tile.output_start[0],
                    i64::from(input.y0) + line as i64,
                    row.tile.output_start[0]
                ));
            }
        }
    }
    None
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what} is {found:?}, but the node says {expected:?}"))
}

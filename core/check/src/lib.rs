//! The validator of plans. It shares no code with the planner, and cannot: it does not depend on
//! it.
//!
//! [`check`] proves of a plan, for all frames that a run of its programs works on:
//! * it fits the memories of the board, whether or not firmware serves them yet, and constant blocks are whole, disjoint and those that the steps use;
//! * no steps wait for each other in a circle, and steps that may run at once never touch the same
//!   bytes if one of them writes, those of copies counted as whole cache lines: so that one
//!   sequence of all steps stands for every other;
//! * every step is inside its kernel's domain and does what its node says, with the node's
//!   geometry and quantisation; copies are such as their engine can make;
//! * every byte that a step reads holds the element of its own frame's tensor, or the constant, that is
//!   meant; what a boot program has loaded is never overwritten;
//! * output and inputs of a step do not overlap, unless it works in place; a step in rows is
//!   followed row by row, each as a step of its own;
//! * operands of concats that are not copied are made where the output lies, slices that are not
//!   copied are read where their operand lies;
//! * inputs that go to a card while they arrive lie there from sectors on, and go through bytes that nothing else has then;
//! * an input that arrives in rows does so once, whole and in order, before what reads it;
//! * checksums that the firmware keeps of the card's sectors lie apart from everything else;
//! * at the end the model's outputs are complete, of a sub-network the one that it makes, at an exit the one that it looks at.
//!
//! [`check_memory`] proves of a plan without program, some layer of which has no kernel, that each
//! tensor has bytes of its own for as long as it is needed.
//!
//! [`reference`] says where a run's layer outputs lie and compares them with the reference
//! interpreter.
//!
//! # What it assumes of kernels
//!
//! `check` never runs a kernel. It takes from each step the operands that the step names, and assumes of the kernel:
//!
//! 1. It reads no byte of the arena but elements of its input views; of inputs under a window only rows and columns that
//!    exist for its tile (`Tile::valid_start`, `valid_size`).
//! 2. It writes no byte but its tile's elements of the output view.
//! 3. An elementwise kernel may write the very view that it reads (`domain::in_place`). No other operand shares a byte with
//!    the output.
//! 4. Its output depends on nothing else: neither on what the output held nor on bytes beside its operands.
//! 5. It refuses nothing that `domain.rs` lets through.
//!
//! `tests/tests/footprints.rs` holds kernels to 1 to 4: steps of random plans run twice with all other bytes poisoned.
//! `random_models.rs`, `emulated_kernels.rs` and the campaign hold them to 5, on the host and on each core.

mod arrivals;
mod constants;
mod contents;
mod follow;
mod fused;
mod geometry;
mod memory;
mod moves;
mod node;
mod order;
mod parts;
mod races;
pub mod reference;
mod sector_checksums;
mod shapes;
mod streamed;
mod transfers;

use std::ops::Range;

use follow::Follow;
pub use memory::{MemoryProof, check_memory};
use thiserror::Error;
use tilewright_board::Board;
use tilewright_model::{Model, TensorId};
use tilewright_plan::{Plan, Space, Subnetwork};

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
    #[error("program '{program}', step {step} of lane {lane} (layer '{layer}'): {reason}")]
    Step {
        /// Program.
        program: String,
        /// Lane.
        lane: usize,
        /// Step of that lane.
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
    /// Steps checked.
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
    let Some(main) = &plan.main else {
        return Err(CheckError::Plan("it has no program".to_owned()));
    };
    constants::check(plan, model)?;
    sector_checksums::check(plan).map_err(CheckError::Plan)?;
    let mut proof = Proof { steps: 0, bytes: 0 };
    let mut follow = Follow::new(plan, model, board)?;
    if let Some(boot) = &plan.boot {
        follow.boot(boot, &mut proof)?;
    }
    let started = follow.clone();
    // Of several models the first has the main program.
    let own = [main.inputs_of_frame(), main.outputs_of_frame()].map(usize::from);
    let mut is_made: Vec<bool> = (0..model.outputs.len()).map(|output| output < own[1]).collect();
    let (inputs, outputs) = (part(&model.inputs, 0..own[0])?, part(&model.outputs, 0..own[1])?);
    follow.run(main, [inputs, outputs], &mut proof)?;
    for Subnetwork { inputs, outputs, program, .. } in &plan.subnetworks {
        let [inputs, made] =
            [inputs, outputs].map(|range| usize::from(range.start)..usize::from(range.end));
        let ids = [part(&model.inputs, inputs)?, part(&model.outputs, made.clone())?];
        started.clone().run(program, ids, &mut proof)?;
        is_made[made].fill(true);
    }
    match is_made.iter().position(|made| !made) {
        None => Ok(proof),
        Some(output) => {
            let tensor = model.tensor(model.outputs[output]).name.clone();
            Err(CheckError::Output { tensor, reason: "no program makes it".to_owned() })
        }
    }
}

/// Some of the model's inputs or outputs.
fn part(ids: &[TensorId], range: Range<usize>) -> Result<&[TensorId], CheckError> {
    let known = ids.get(range).filter(|ids| !ids.is_empty());
    known
        .ok_or_else(|| CheckError::Plan("a program has inputs or outputs that are none".to_owned()))
}

/// The plan is for this board and fits it.
fn check_board(plan: &Plan, board: &Board) -> Result<(), CheckError> {
    if plan.board != board.id {
        return Err(CheckError::Board { plan: plan.board.clone(), board: board.id.clone() });
    }
    for (space, had) in Space::ALL.into_iter().zip(board.tier_bytes()) {
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
        if tensor.offset.saturating_add(tensor.extent()) > plan.space(tensor.space).0 {
            return wrong(format!("tensor '{}' lies outside its space", tensor.name));
        }
    }
    Ok(())
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what} is {found:?}, but the node says {expected:?}"))
}

//! Layers cut into tasks of the core, and what of SRAM they need meanwhile: nothing has a place there yet.

use super::operator::{Operator, Tiny};
use super::sequence::{self, LaneId, Place, Rows};
use crate::narrow::narrow;
use tilewright_plan::{Role, RowOrder, Space, View};

/// A network that was cut, or several frames of it.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// What the core does, in order. A task's number is the time of everything else.
    pub tasks: Vec<Task>,
    /// What lies in SRAM beside activations that stay there, in the order of first use.
    pub residences: Vec<Residence>,
    /// Copies of activations that have their places, in order.
    pub moves: Vec<Move>,
    /// Rows of the input that arrive, in order.
    pub arrivals: Vec<Arrival>,
}

/// A step of the core.
#[derive(Clone, Debug)]
pub struct Task {
    /// Index of its op.
    pub op: u32,
    /// Its layer.
    pub layer: u16,
    /// The frame that it works on.
    pub frame: u8,
    /// The layer with which activations live: of a depth-first group the first.
    pub lives: u32,
    /// The number of its tile, of which other tasks make other channels.
    pub tile: u32,
    /// The order of its rows.
    pub order: RowOrder,
    /// What its operands are.
    pub roles: &'static [Role],
    /// What it makes; operands where they lie between layers.
    pub tiny: Tiny,
    /// Operands that lie in residences instead.
    pub operands: Vec<Operand>,
}

/// An operand that lies in a residence.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Its place among the task's operands.
    pub index: usize,
    /// The residence's number.
    pub residence: usize,
}

/// Bytes in SRAM that are a copy of others, for as long as tasks need them.
#[derive(Clone, Debug)]
pub struct Residence {
    /// Where the others lie.
    pub home: Place,
    /// How many, in SRAM one row behind the other.
    pub bytes: u64,
    /// In how many rows the others lie.
    pub rows: Rows,
    /// What they are for.
    pub class: Class,
    /// Whether they come or go.
    pub flow: Flow,
    /// First and last task that uses them.
    pub uses: [u32; 2],
    /// The layer that needs them.
    pub layer: u16,
    /// The frame that they are of; of several the first.
    pub frame: u8,
}

/// What a residence is for: layouts may have places for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Tiles of inputs.
    Input,
    /// Tiles of second inputs.
    Second,
    /// Weights.
    Weights,
    /// Biases and quantisation parameters.
    Parameters,
    /// Tiles of outputs.
    Output,
}

/// Whether bytes come to SRAM or leave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// They come before the first task, behind this residence's bytes, which go to where these come from.
    Comes {
        /// The residence.
        behind: Option<usize>,
    },
    /// They go after the last task.
    Goes {
        /// Whether they do before anything comes for the next task.
        first: bool,
    },
}

/// A copy of bytes that have their places.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    /// The task before which it is made, once those before have ended that touch the same bytes.
    pub before: u32,
    /// The copy.
    pub copy: sequence::Move,
}

/// Rows of the input that arrive where they are used.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The task before which they do, the first one that reads one of them.
    pub before: u32,
    /// Where they are put.
    pub rows: sequence::Arrival,
}

impl Work {
    /// The most bytes of residences that a task needs.
    pub fn most_at_once(&self) -> u64 {
        let of = |task: &Task| -> u64 {
            task.operands.iter().map(|operand| self.residences[operand.residence].bytes).sum()
        };
        self.tasks.iter().map(of).max().unwrap_or(0)
    }

    /// Checks that each operand lies in its residence while that is there, and that tasks make all of each
    /// layer once; says what is wrong.
    #[cfg(any(test, debug_assertions))]
    pub fn verify(&self, operators: &[Operator<'_>]) -> Result<(), String> {
        use std::collections::{BTreeMap, BTreeSet};
        let mut made: BTreeMap<u16, u64> = BTreeMap::new();
        let mut tiles = BTreeSet::new();
        for (number, task) in (0u32..).zip(&self.tasks) {
            for Operand { index, residence } in &task.operands {
                let (view, residence) = (&task.tiny.views[*index], &self.residences[*residence]);
                let start = u64::from(view.offset);
                let Place { space, offset } = residence.home;
                let Rows { count, pitch } = residence.rows;
                let row = residence.bytes / u64::from(count);
                let last = View { h: 1, ring_rows: 1, ..*view }.extent();
                let is_there = match residence.rows {
                    Rows::ONE => start + view.extent() <= offset + residence.bytes,
                    _ => {
                        start + last <= offset + row
                            && u32::from(view.h) <= count
                            && view.row_pitch == pitch
                    }
                };
                let is_inside = view.space() == Some(space) && offset <= start && is_there;
                let [first, last] = residence.uses;
                if !is_inside || number < first || last < number {
                    return Err(format!(
                        "operand {index} of task {number} is not in {residence:?}"
                    ));
                }
            }
            *made.entry(task.layer).or_default() += elements(&task.tiny.tile);
            let output = task.output().map(|(_, view)| (view.space, view.offset, view.y0));
            let tile = &task.tiny.tile;
            if !tiles.insert((task.layer, tile.output_start, tile.channel_start, output)) {
                return Err(format!("task {number} makes what another has made"));
            }
        }
        for operator in operators {
            let own = made.entry(operator.step.layer).or_default();
            *own = own.wrapping_sub(elements(&operator.tile()));
        }
        match made.into_iter().find(|(_, elements)| *elements != 0) {
            Some((layer, _)) => Err(format!("layer {layer} is not made once")),
            None => Ok(()),
        }
    }
}

/// What a tile makes.
#[cfg(any(test, debug_assertions))]
fn elements(tile: &tilewright_plan::Tile) -> u64 {
    let [rows, columns] = tile.output_size.map(u64::from);
    rows * columns * u64::from(tile.channels)
}

impl Task {
    /// A task of an operator that makes so much of it.
    pub fn of(operator: &Operator<'_>, tiny: Tiny, operands: Vec<Operand>) -> Self {
        let (op, layer, order) = (operator.op, operator.step.layer, operator.order);
        let (lives, roles) = (layer.into(), operator.roles());
        Self { op, layer, frame: 0, lives, tile: 0, order, roles, tiny, operands }
    }

    /// The operand that it makes, and which one it is.
    pub fn output(&self) -> Option<(usize, View)> {
        let index = self.roles.iter().position(|role| *role == Role::Output)?;
        Some((index, *self.tiny.views.get(index)?))
    }

    /// The task with all operands at addresses, of residences that lie at these offsets of the arena.
    pub fn placed(&self, residences: &[Residence], offsets: &[u64]) -> sequence::Task {
        let mut views = self.tiny.views.clone();
        for Operand { index, residence } in &self.operands {
            let view = &mut views[*index];
            let Residence { home, bytes, rows, .. } = &residences[*residence];
            let offset = narrow(offsets[*residence] + u64::from(view.offset) - home.offset);
            let row_pitch = match *rows {
                Rows::ONE => view.row_pitch,
                Rows { count, .. } => narrow(bytes / u64::from(count)),
            };
            *view = View { space: Space::Arena as u8, offset, row_pitch, ..*view };
        }
        let Self { op, layer, frame, order, .. } = *self;
        sequence::Task { op, layer, frame, order, tile: self.tiny.tile, views }
    }
}

impl Residence {
    /// Whether its bytes leave SRAM.
    pub const fn goes(&self) -> bool {
        matches!(self.flow, Flow::Goes { .. })
    }

    /// The copy that brings its bytes to this offset of the arena, or takes them from there.
    pub fn placed(&self, offset: u64) -> sequence::Move {
        let inside = Place { space: Space::Arena, offset };
        let (from, to) = match self.flow {
            Flow::Comes { .. } => (self.home, inside),
            Flow::Goes { .. } => (inside, self.home),
        };
        let Self { bytes, rows, layer, frame, .. } = *self;
        let lane = LaneId::of(self.home.space);
        sequence::Move { lane, from, to, bytes, rows, layer, frame }
    }
}

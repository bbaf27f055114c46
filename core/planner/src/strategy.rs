//! The strategies.

pub mod reordered;
pub mod resident;

use std::fmt;
use std::str::FromStr;

use crate::PlanError;
use crate::lower::{self, Layer};
use serde::{Deserialize, Serialize};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, InputResidency, Plan, PlannedTensor, Space};

/// A way to plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Order as given, all activations in SRAM, weights in flash.
    Resident,
    /// The order that needs the smallest arena, all activations in SRAM, weights in flash.
    Reordered,
}

impl Strategy {
    /// All strategies.
    pub const ALL: [Self; 2] = [Self::Resident, Self::Reordered];

    /// The name that the command line and reports use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Resident => "resident",
            Self::Reordered => "reordered",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Strategy {
    type Err = PlanError;

    fn from_str(name: &str) -> Result<Self, PlanError> {
        Self::ALL.into_iter().find(|s| s.name() == name).ok_or_else(|| PlanError::UnknownStrategy {
            name: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}

/// The plan of `layers` in their order, with `tensors` where they lie in an arena of `height`.
fn in_arena(
    model: &Model,
    board: &Board,
    strategy: Strategy,
    layers: &[Layer],
    tensors: Vec<PlannedTensor>,
    height: Bytes,
) -> Result<Plan, PlanError> {
    let mut plan = Plan {
        model: model.name.clone(),
        board: board.id.clone(),
        strategy: strategy.name().to_owned(),
        input: InputResidency::Resident,
        layers: Vec::new(),
        tensors,
        ops: Vec::new(),
        tiles: Vec::new(),
        views: Vec::new(),
        spans: Vec::new(),
        constants: Vec::new(),
        programs: Vec::new(),
        space_bytes: [Bytes(0); 6],
    };
    plan.space_bytes[Space::Arena as usize] = height;
    lower::program(model, layers, &mut plan)?;
    Ok(plan)
}

//! What stays where it is: layers in their order, the places of activations, and where weights lie. A
//! [`Schedule`](crate::schedule::Schedule) brings and takes the rest.

use crate::PlanError;
use crate::aliasing::{Arranged, Parts};
use crate::lower::{self, InImage, Layer, Stored};
use crate::schedule::boot::{self, Load};
use crate::schedule::operator::SECTOR;
use crate::strategy::external::LINE;
use serde::{Deserialize, Serialize};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, InputResidency, Plan, PlannedTensor, SectorChecksums, Space, Window};

/// All that stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticLayout {
    /// The layers, in order.
    pub layers: Vec<Layer>,
    /// Activations, each with its place.
    pub tensors: Vec<PlannedTensor>,
    /// Which of them lie in others.
    pub parts: Parts,
    /// Bytes that they take.
    pub heights: Heights,
    /// Where weights lie.
    pub stored: Stored,
    /// Of layers, by their positions, what lies in the plan image wherever other weights do.
    pub in_image: Vec<InImage>,
    /// Of layers whether they belong to a depth-first group; missing ones do not.
    pub depth_first: Vec<bool>,
    /// Checksums or tags of what lies on a card.
    pub sector_checksums: Option<SectorChecksums>,
    /// Bytes of SRAM through which inputs go to a card, if they lie there.
    pub window: Option<Window>,
    /// What comes at start and stays.
    pub boot: Vec<Load>,
}

/// Bytes that activations take, with checksums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heights {
    /// Of SRAM.
    pub sram: Bytes,
    /// Of external RAM.
    pub external_ram: Bytes,
    /// Of a card, with the weights below them.
    pub card: Bytes,
}

impl StaticLayout {
    /// Layers whose activations lie in SRAM, and their weights in the plan image.
    pub fn inside(layers: Vec<Layer>, arranged: Arranged) -> Self {
        let Arranged { tensors, parts, height } = arranged;
        Self {
            layers,
            tensors,
            parts,
            heights: Heights { sram: height, ..Heights::default() },
            stored: Stored::IMAGE,
            in_image: Vec::new(),
            depth_first: Vec::new(),
            sector_checksums: None,
            window: None,
            boot: Vec::new(),
        }
    }

    /// The plan with one step for each layer, or for each part of it whose weights lie elsewhere: operands are used
    /// where they lie.
    ///
    /// # Errors
    /// [`PlanError`] names the node that no kernel runs as it is, or whose output lies over its input.
    pub fn lowered(&self, model: &Model, board: &Board) -> Result<Plan, PlanError> {
        let stored = (self.stored, self.in_image.as_slice());
        let tensors = self.tensors.clone();
        let mut plan = lower::draft_stored(model, &self.layers, &self.parts, tensors, stored)?;
        let Heights { sram, external_ram, card } = self.heights;
        plan.space_bytes[Space::Arena as usize] = sram;
        plan.space_bytes[Space::ExternalRam as usize] = external_ram;
        for (space, unit, least) in
            [(Space::ExternalFlash, LINE, Bytes(0)), (Space::Card, SECTOR, card)]
        {
            let is_used = plan.constants.iter().any(|block| block.space == space);
            let stored = if is_used { plan.space(space).align_up(unit) } else { Bytes(0) };
            let lies_there = self.tensors.iter().any(|tensor| tensor.space == space);
            let least = if lies_there { least } else { Bytes(0) };
            plan.space_bytes[space as usize] = stored.max(least);
        }
        let is_alone = |layer: u16| self.depth_first.get(usize::from(layer)) != Some(&true);
        lower::order_rows(model, &mut plan, &is_alone)?;
        plan.sector_checksums = self.sector_checksums;
        let is_given = |tensor: &&PlannedTensor| {
            model.inputs.iter().any(|input| input.0 == tensor.tensor as usize)
        };
        let inputs = || self.tensors.iter().filter(is_given);
        if inputs().any(|tensor| tensor.space == Space::ExternalRam) {
            plan.input = InputResidency::External;
        }
        if inputs().any(|tensor| tensor.ring.is_some()) {
            plan.input = InputResidency::Streamed;
        }
        if let Some(window) = self.window {
            plan.input = InputResidency::OnCard(window);
        }
        boot::bring(&mut plan, &self.boot, board);
        Ok(plan)
    }
}

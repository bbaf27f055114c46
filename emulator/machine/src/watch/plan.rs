//! The plan image in the ELF, as far as reports and sampled runs need it.

use std::collections::BTreeMap;

use tilewright_board::Board;
use tilewright_plan::image::{ALIGNMENT, Expected, LaneRecord};
use tilewright_plan::{Instruction, LaneKind, PlanImage, Step, StepEquivalence};

use crate::elf::Firmware;
use crate::watch::marks::Lane;

/// The steps of a program; none if there is no valid plan, which is for the firmware to say.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// Its lanes, the core's first.
    pub lanes: Vec<Lane>,
    /// For each step of the core, the number of its kind: steps of one kind run alike. Nothing for
    /// steps that compute nothing.
    pub kinds: Vec<Option<u32>>,
}

/// The programs of an image.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    /// The steps of each entry's.
    of_entries: Vec<Steps>,
    /// The entry that runs unless another is chosen.
    first: usize,
}

impl Programs {
    /// Of the plan that the firmware holds for a board.
    pub fn of(board: &Board, firmware: &Firmware) -> Self {
        let Some(bytes) = board.plan_address().and_then(|address| firmware.bytes_at(address))
        else {
            return Self::default();
        };
        // The image is read in place, so it must be aligned here as it is on the board.
        let mut copy = vec![0u8; bytes.len() + ALIGNMENT];
        let start = copy.as_ptr().align_offset(ALIGNMENT);
        let Some(aligned) = copy.get_mut(start..start.saturating_add(bytes.len())) else {
            return Self::default();
        };
        aligned.copy_from_slice(bytes);
        let expected = Expected { board: &board.id, space_bytes: board.space_bytes() };
        let Ok(image) = PlanImage::read(aligned, &expected) else {
            return Self::default();
        };
        let entries = image.entries();
        let of_entries = entries.iter().map(|entry| steps(&image, image.entry_lanes(entry)));
        let first = entries.iter().position(|entry| entry.kind == 0).unwrap_or(0);
        Self { of_entries: of_entries.collect(), first }
    }

    /// The steps of the program that runs unless another is chosen.
    pub fn first(&self) -> Steps {
        self.entry(self.first)
    }

    /// The steps of an entry's program.
    pub fn entry(&self, entry: usize) -> Steps {
        self.of_entries.get(entry).cloned().unwrap_or_default()
    }
}

fn steps(image: &PlanImage<'_>, lanes: &[LaneRecord]) -> Steps {
    let lane = |lane: &LaneRecord| Lane {
        kind: LaneKind::from_number(lane.kind).unwrap_or(LaneKind::Core),
        layers: image.lane_steps(lane).map(|step| step.layer).collect(),
    };
    Steps {
        lanes: lanes.iter().map(lane).collect(),
        kinds: lanes.first().map_or_else(Vec::new, |core| kinds(image, core)),
    }
}

fn kinds(image: &PlanImage<'_>, core: &LaneRecord) -> Vec<Option<u32>> {
    let mut known = BTreeMap::new();
    let equivalence = |step: &Step| {
        let Instruction::Compute { op, tile, first_view, order } = step.instruction else {
            return None;
        };
        let op = image.op(op)?;
        let operands = image.operands(op, first_view)?;
        let tile = image.tile(tile)?;
        // What products there are depends on sparse weights: those of a layer's channels.
        let weights = op.is_sparse().then_some((step.layer, tile.channel_start));
        Some((StepEquivalence::of(op, &tile, &operands, order)?, weights))
    };
    image
        .lane_steps(core)
        .map(|record| {
            let equivalence = equivalence(&Step::from_record(&record)?)?;
            let next = known.len() as u32;
            Some(*known.entry(equivalence).or_insert(next))
        })
        .collect()
}

//! Where tensors lie: program inputs and outputs in memories of the core, all others on the card.

use std::ops::Range;

use crate::aliasing::{Arranged, Parts};
use crate::lower::{self, Layer, Stored};
use crate::schedule::operator::SECTOR;
use crate::static_layout::{Heights, StaticLayout};
use crate::strategy::aliasing_search::Candidate;
use crate::strategy::external::LINE;
use crate::{Integrity, PlanError};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{
    Bytes, Instruction, Kernel, LaneKind, Plan, PlannedTensor, SectorChecksums, Space, View,
};

/// Weights begin at sectors behind the store's header. Of a convolution in groups a buffer need not
/// hold all.
const STORED: Stored = Stored { weights: Space::Card, alignment: SECTOR, ..Stored::IMAGE };

/// Bytes between rows and between pixels of a tensor; nothing if it lies without gaps.
pub type Pitch = Option<[u32; 2]>;

/// A lowered plan whose tensors have their places.
pub struct Laid {
    /// What stays.
    pub static_layout: StaticLayout,
    /// The plan: one step for a layer, operands where they lie between layers.
    pub plan: Plan,
    /// Bytes of SRAM that program inputs and outputs take, and checksums behind them.
    pub resident: u64,
}

/// What is the same however tensors lie.
pub struct Laying<'m> {
    model: &'m Model,
    board: &'m Board,
    layers: Vec<Layer>,
    tensors: Vec<PlannedTensor>,
    /// Tensors that programs get and give.
    resident: Vec<u32>,
    /// First byte of the card behind the weights.
    first: Bytes,
    /// Bytes from which on a program's tensor lies in external RAM.
    most: Bytes,
    integrity: Integrity,
}

impl<'m> Laying<'m> {
    /// The layers of a model on a board with so much SRAM.
    ///
    /// # Errors
    /// [`PlanError`] names the node that no kernel runs as it is.
    pub fn of(
        model: &'m Model,
        board: &'m Board,
        budget: Bytes,
        found: Candidate,
        integrity: Integrity,
    ) -> Result<Self, PlanError> {
        let Candidate { layers, arranged } = found;
        let tensors = arranged.tensors;
        // Where the weights end is known once there are some.
        let draft =
            lower::draft_stored(model, &layers, &Parts::none(), tensors.clone(), (STORED, &[]))?;
        let first = draft.space(Space::Card).align_up(SECTOR);
        let ios = draft.programs().flat_map(|program| {
            let ios = program.inputs.iter().chain(&program.outputs);
            ios.map(|io| io.tensor)
        });
        let resident = ios.collect();
        let has_ram =
            board.external(Space::ExternalRam).is_some() && board.serves(Space::ExternalRam);
        let most = if has_ram { Bytes(budget.0 / 4) } else { Bytes(u64::MAX) };
        Ok(Self { model, board, layers, tensors, resident, first, most, integrity })
    }

    /// The plan with these pitches of its tensors; those behind them lie without gaps. With `reuse`
    /// tensors lie over others whose life is over.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn laid(&self, pitches: &[Pitch], reuse: bool) -> Result<Laid, PlanError> {
        let mut tensors = self.tensors.clone();
        let (mut arena, mut external, mut card) = (Bytes(0), Bytes(0), self.first);
        let mut reused = Reused::default();
        for (index, tensor) in (0u32..).zip(&mut tensors) {
            tensor.pitch = pitches.get(index as usize).copied().flatten();
            let bytes = Bytes(tensor.extent());
            let (space, end, alignment) = match self.resident.contains(&index) {
                true if tensor.bytes > self.most => (Space::ExternalRam, &mut external, LINE),
                true => (Space::Arena, &mut arena, LINE),
                false => (Space::Card, &mut card, SECTOR),
            };
            let is_reused = space == Space::Card && reuse;
            let life = tensor.first..tensor.end;
            let offset = match is_reused {
                true => reused.place(self.first, bytes.align_up(SECTOR), life),
                false => *end,
            };
            (tensor.space, tensor.offset) = (space, offset.0);
            *end = (*end).max((offset + bytes).align_up(alignment));
        }
        let inside = Arranged { tensors, parts: Parts::none(), height: arena };
        let sector_checksums = self.sector_checksums(arena, card);
        let heights = Heights { sram: arena, external_ram: external, card };
        let static_layout = StaticLayout {
            heights,
            stored: STORED,
            sector_checksums,
            ..StaticLayout::inside(self.layers.clone(), inside)
        };
        let plan = static_layout.lowered(self.model, self.board)?;
        Ok(Laid {
            static_layout,
            plan,
            resident: arena.0 + sector_checksums.map_or(0, |checksums| checksums.bytes()),
        })
    }

    /// Checksums or tags of the card's sectors between the weights and `end`, from `place` in the arena on.
    fn sector_checksums(&self, place: Bytes, end: Bytes) -> Option<SectorChecksums> {
        let sectors = [self.first, end].map(|bytes| u32::try_from(bytes.0 / SECTOR));
        let [Ok(first), Ok(end)] = sectors else { return None };
        let offset = u32::try_from(place.0).ok()?;
        let sealed = self.integrity == Integrity::Sealed;
        let checksums = SectorChecksums { offset, first, sectors: end - first, sealed };
        // What is sealed says so, though programs write nothing.
        (self.integrity.keeps() && (sealed || end > first)).then_some(checksums)
    }
}

/// Tensors on the card that lie over others whose life is over. Their reads come before the writes of
/// whatever lies there later, in the order of the card's lane.
#[derive(Default)]
struct Reused {
    /// Places and lives, by places.
    placed: Vec<(Range<Bytes>, Range<u32>)>,
}

impl Reused {
    /// The lowest place from `first` on for a tensor with this life.
    fn place(&mut self, first: Bytes, bytes: Bytes, life: Range<u32>) -> Bytes {
        let mut start = first;
        for (place, other) in &self.placed {
            let both_live = other.start < life.end && life.start < other.end;
            if both_live && place.start < start + bytes && start < place.end {
                start = place.end;
            }
        }
        let at = self.placed.partition_point(|(place, _)| place.start <= start);
        self.placed.insert(at, (start..start + bytes, life));
        start
    }
}

/// Pitches with which rows on the card begin at sectors: of tensors whose rows do not, if that makes
/// them a quarter longer at most, and if all steps take them by rows.
pub fn rows_at_sectors(plan: &Plan) -> Vec<Pitch> {
    let steps = || {
        let lanes = plan.programs().flat_map(|program| &program.lanes);
        let lanes = lanes.filter(|lane| lane.kind == LaneKind::Core);
        lanes.flat_map(|lane| &lane.steps).filter_map(|step| match step.instruction {
            Instruction::Compute { op, first_view, .. } => plan.operands(op, first_view),
            _ => None,
        })
    };
    let pitch = |tensor: &PlannedTensor| {
        let [rows, columns, channels] = tensor.shape.map(u64::from);
        let row = columns * channels;
        let wide = row.next_multiple_of(SECTOR);
        let is_worth_it = rows > 1 && rows * row == tensor.bytes.0 && wide * 4 <= row * 5;
        if tensor.space != Space::Card || wide == row || !is_worth_it {
            return None;
        }
        let range = tensor.offset..tensor.offset + tensor.bytes.0;
        let is_of = |view: &View| {
            view.space() == Some(Space::Card) && range.contains(&u64::from(view.offset))
        };
        let by_rows = steps().all(|(op, views)| {
            let makes_rows = op.kernel().is_some_and(Kernel::makes_rows);
            views.iter().filter(|view| is_of(view)).all(|view| {
                let pitches = [view.row_pitch, view.column_pitch].map(u64::from);
                makes_rows && pitches == [row, channels]
            })
        });
        let wide = u32::try_from(wide).ok().filter(|_| by_rows)?;
        Some([wide, u32::try_from(channels).ok()?])
    };
    plan.tensors.iter().map(pitch).collect()
}

//! Activations in SRAM, with as little aliasing as a limit allows.

use crate::aliasing::{self, Aliasing, Given, Parts, Savings};
use crate::lower::{self, InImage, Layer, Stored};
use crate::narrow::narrow;
use crate::schedule::operator::Operator;
use crate::schedule::operator::SECTOR;
use crate::static_layout::{Heights, StaticLayout};
use crate::strategy::external::LINE;
use crate::{Integrity, PlanError};
use tilewright_allocate::PLANNING_BUDGET;
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{
    Bytes, InputResidency, Kernel, Plan, PlannedTensor, SectorChecksums, Space, Window, Work,
};

use crate::schedule::depth_first::{Block, DepthFirstGroup, LineBuffer, Network};

/// The aliasing that is made use of.
const ALIASING: Aliasing =
    Aliasing { parts: false, slices: false, in_place: true, rows: true, copied: Vec::new() };

/// Placements that are tried, each of less, until one fits.
const TRIES: usize = 4;

/// Most bytes through which inputs go to the card: half of them arrive in more time than a card is ever busy.
const LARGEST_WINDOW: u32 = 16 << 10;

/// Where tensors lie that SRAM does not hold: in external RAM, if the board has some, else on the card.
fn outside(board: &Board) -> Space {
    let has_ram = board.external(Space::ExternalRam).is_some() && board.serves(Space::ExternalRam);
    if has_ram { Space::ExternalRam } else { Space::Card }
}

/// A network's layers with what they need in SRAM.
#[derive(Clone)]
pub struct Arranging<'m> {
    model: &'m Model,
    board: &'m Board,
    layers: Vec<Layer>,
    /// Of each layer the bytes that its output and what it reads can have in common.
    saved: Vec<Savings>,
    /// Of each layer the bytes of all activations that live with it.
    live: Vec<u64>,
    /// Of each layer the bytes of its weights on the card.
    weights: Vec<u64>,
    /// What of each layer's constants lies in the plan image.
    in_image: Vec<InImage>,
    /// What is done about wrong bytes from the card.
    integrity: Integrity,
    /// The depth-first groups.
    depth_first: Vec<DepthFirstGroup>,
    /// The longest filter of a fully connected layer that lies in a pair.
    longest_pair: Option<u64>,
    /// The memory of tensors outside of SRAM.
    outside: Space,
    /// Whether the frame arrives in rows while it is used.
    arrives: bool,
}

impl<'m> Arranging<'m> {
    /// These layers of a model, with the weights of the smallest that take at most `flash` bytes in the
    /// plan image; what comes from the card may be encrypted.
    ///
    /// # Errors
    /// [`PlanError`] names the tensor that cannot be planned.
    pub fn new(
        model: &'m Model,
        board: &'m Board,
        layers: Vec<Layer>,
        flash: u64,
        integrity: Integrity,
    ) -> Result<Self, PlanError> {
        let mut saved = aliasing::savings(model, &layers, &Parts::none())?;
        let tensors = lower::tensors(model, &layers)?;
        let mut live = vec![0u64; layers.len()];
        for tensor in &tensors {
            let end = (tensor.end as usize).min(layers.len());
            for bytes in &mut live[(tensor.first as usize).min(end)..end] {
                *bytes = bytes.saturating_add(tensor.bytes.0);
            }
        }
        let mut weights: Vec<u64> =
            layers.iter().map(|layer| model.constant_bytes(&model.nodes[layer.node.0])).collect();
        let mut order: Vec<usize> = (0..layers.len()).collect();
        order.sort_by_key(|layer| (weights[*layer], *layer));
        let (mut in_image, mut left) = (vec![InImage::Nothing; layers.len()], flash);
        for layer in order {
            let Some(rest) = left.checked_sub(weights[layer]) else { break };
            (left, weights[layer]) = (rest, 0);
            if flash > 0 {
                in_image[layer] = InImage::All;
            }
        }
        let (depth_first, given) = (Vec::new(), Vec::new());
        let outside = outside(board);
        let mut this = Self {
            model,
            board,
            layers,
            saved: given,
            live,
            weights,
            in_image,
            integrity,
            depth_first,
            longest_pair: None,
            outside,
            arrives: false,
        };
        // The steps of a convolution's groups read one after the other what all of them share.
        let draft = this.drafted(tensors)?;
        let mut steps = vec![0u32; this.layers.len()];
        let lanes = draft.programs().flat_map(|program| &program.lanes);
        for step in lanes.flat_map(|lane| &lane.steps) {
            steps[usize::from(step.layer)] += 1;
        }
        for ((layer, saved), steps) in this.layers.iter().zip(&mut saved).zip(steps) {
            if layer.work == Work::Kernel(Kernel::Conv) && steps > 1 {
                *saved = Savings::default();
            }
        }
        this.saved = saved;
        Ok(this)
    }

    /// The plan before tensors have places, from which depth-first groups are chosen.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn draft(&self) -> Result<Plan, PlanError> {
        self.drafted(lower::tensors(self.model, &self.layers)?)
    }

    /// What can be made in rows.
    pub fn network<'p>(&self, draft: &'p Plan, operators: &'p [Operator<'p>]) -> Network<'p> {
        Network::new(self.model, &self.layers, draft, operators, self.outside)
            .arriving(self.arrives)
    }

    /// The same with depth-first groups.
    #[must_use]
    pub fn with(mut self, groups: Vec<DepthFirstGroup>) -> Self {
        for group in &groups {
            for layer in group.layers.clone() {
                (self.saved[layer], self.weights[layer]) = (Savings::default(), 0);
            }
            let bytes = group.held.iter().map(|held| held.bytes.0).sum();
            self.live[group.layers.clone()].fill(bytes);
        }
        self.depth_first = groups;
        self
    }

    /// The same where filters of fully connected layers come one by one that have no room in pairs: beside an input that is
    /// as long as they.
    #[must_use]
    pub fn in_little(mut self, budget: u64) -> Self {
        self.longest_pair = Some(budget / 3);
        self
    }

    /// The same with a frame that may arrive in rows while it is used.
    #[must_use]
    pub const fn arriving(mut self, arrives: bool) -> Self {
        self.arrives = arrives;
        self
    }

    /// The same where no layer by itself is made in rows, each of which begins its kernel anew.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.saved.iter_mut().for_each(|saved| saved.in_rows = 0);
        self
    }

    /// The depth-first groups.
    pub fn depth_first(&self) -> &[DepthFirstGroup] {
        &self.depth_first
    }

    /// Bytes that each layer's activations need at least without depth-first groups.
    pub fn needed(&self) -> impl Iterator<Item = u64> {
        self.needed_beside(u64::MAX)
    }

    /// The same of layers whose weights come in parts where they take more than `most` bytes, so that such layers are not
    /// made in rows.
    pub fn needed_beside(&self, most: u64) -> impl Iterator<Item = u64> {
        let saved = self.saved.iter().zip(&self.weights).map(move |(saved, weights)| {
            if *weights > most { saved.in_place } else { saved.in_place.max(saved.in_rows) }
        });
        self.live.iter().zip(saved).map(|(live, saved)| live.saturating_sub(saved))
    }

    /// The plan, one step a layer or group, whose activations take at most `room` bytes of the budget;
    /// nothing if none was found. Layers whose weights fill more than half of the rest are not made in
    /// rows, so that they can come in parts; nor are depthwise ones, which prepare filters for each row,
    /// unless nothing else helps.
    ///
    /// # Errors
    /// [`PlanError`] names the node that no kernel runs as it is.
    pub fn within(
        &self,
        room: u64,
        budget: u64,
    ) -> Result<Option<(StaticLayout, Plan)>, PlanError> {
        let most = budget.saturating_sub(room) / 2;
        // What shared in vain, with the arena that it took.
        let mut tried: Vec<(Vec<bool>, u64)> = Vec::new();
        for depthwise in [false, true] {
            let mut wanted = room;
            for _ in 0..TRIES {
                let may_be_in_rows = |layer: usize| {
                    let prepares = self.layers[layer].work.prepares_filters();
                    self.weights[layer] <= most && (depthwise || !prepares)
                };
                let shares = |layer: usize| {
                    let Savings { in_place, in_rows } = self.saved[layer];
                    in_place > 0
                        || in_rows > 0 && self.live[layer] > wanted && may_be_in_rows(layer)
                };
                let aliased: Vec<bool> = (0..self.layers.len()).map(shares).collect();
                let known = tried.iter().find(|(known, _)| *known == aliased);
                let height = match known {
                    Some((_, height)) => *height,
                    None => {
                        let found = self.arranged(&|layer| aliased[layer])?;
                        let height = found.1.space(Space::Arena).0;
                        if height <= room {
                            return Ok(Some(found));
                        }
                        tried.push((aliased, height));
                        height
                    }
                };
                wanted = wanted.saturating_sub(height - room);
            }
        }
        Ok(None)
    }

    /// The plan whose layers share all that they can.
    ///
    /// # Errors
    /// As [`Self::within`].
    pub fn least(&self) -> Result<(StaticLayout, Plan), PlanError> {
        self.arranged(&|layer| self.saved[layer] != Savings::default())
    }

    fn arranged(&self, shares: &dyn Fn(usize) -> bool) -> Result<(StaticLayout, Plan), PlanError> {
        let work = PLANNING_BUDGET / 8;
        let held: Vec<_> = self.depth_first.iter().flat_map(|group| &group.held).copied().collect();
        let overlaps: Vec<_> =
            self.depth_first.iter().flat_map(|group| &group.overlaps).copied().collect();
        let is_outside =
            |tensor: usize| self.depth_first.iter().any(|group| group.outside.contains(&tensor));
        let given = Given { held: &held, overlaps: &overlaps, is_elsewhere: &is_outside };
        let found =
            aliasing::arrange_given(self.model, &self.layers, &ALIASING, (shares, given), work)?;
        let mut tensors = found.tensors;
        for LineBuffer { tensor, rows } in
            self.depth_first.iter().flat_map(|group| &group.line_buffers)
        {
            tensors[*tensor].ring = Some(*rows);
        }
        for Block { tensor, channels } in self.depth_first.iter().flat_map(|group| &group.blocks) {
            tensors[*tensor].block = Some(*channels);
        }
        // Each by itself: what lies there is read and written once.
        let mut outside = tensors.iter_mut().enumerate().filter(|(tensor, _)| is_outside(*tensor));
        let mut heights = Heights { sram: found.height, ..Heights::default() };
        let mut weights_end = None;
        if self.outside == Space::ExternalRam {
            for (_, tensor) in outside {
                (tensor.space, tensor.offset) = (Space::ExternalRam, heights.external_ram.0);
                heights.external_ram = (heights.external_ram + tensor.bytes).align_up(LINE);
            }
        } else if let Some((_, first)) = outside.next() {
            // Behind the weights; rows begin at sectors.
            heights.card = self.draft()?.space(Space::Card).align_up(SECTOR);
            weights_end = Some(heights.card);
            for tensor in std::iter::once(first).chain(outside.map(|(_, tensor)| tensor)) {
                (tensor.space, tensor.offset) = (Space::Card, heights.card.0);
                let [rows, columns, channels] = tensor.shape;
                let row = (columns * channels).next_multiple_of(narrow(SECTOR));
                tensor.pitch = (rows > 1 && row > columns * channels).then_some([row, channels]);
                heights.card = (heights.card + Bytes(tensor.extent())).align_up(SECTOR);
            }
        }
        let is_depth_first =
            |layer| self.depth_first.iter().any(|group| group.layers.contains(&layer));
        let mut static_layout = StaticLayout {
            layers: self.layers.clone(),
            tensors,
            parts: Parts::none(),
            heights,
            stored: self.stored(),
            in_image: self.in_image.clone(),
            depth_first: (0..self.layers.len()).map(is_depth_first).collect(),
            sector_checksums: None,
            window: None,
            boot: Vec::new(),
        };
        let mut plan = static_layout.lowered(self.model, self.board)?;
        let card = plan.space(Space::Card);
        if self.integrity.keeps() && card > Bytes(0) {
            let place = static_layout.heights.sram.align_up(SectorChecksums::ALIGNMENT.into());
            static_layout.sector_checksums =
                self.sector_checksums(place, [weights_end.unwrap_or(card), card]);
            if let Some(checksums) =
                static_layout.sector_checksums.filter(|checksums| checksums.sectors > 0)
            {
                static_layout.heights.sram = Bytes(checksums.end());
            }
            (plan.sector_checksums, plan.space_bytes[Space::Arena as usize]) =
                (static_layout.sector_checksums, static_layout.heights.sram);
        }
        if let Some(window) = self.window(&static_layout) {
            static_layout.window = Some(window);
            static_layout.heights.sram = static_layout.heights.sram.max(Bytes(window.end()));
            plan.input = InputResidency::OnCard(window);
            plan.space_bytes[Space::Arena as usize] = static_layout.heights.sram;
        }
        Ok((static_layout, plan))
    }

    /// The bytes through which inputs go to the card, if some lie there: before or behind checksums, no more than rows
    /// of a step take.
    fn window(&self, static_layout: &StaticLayout) -> Option<Window> {
        let is_taken = |tensor: &PlannedTensor| {
            let mut inputs = self.model.inputs.iter();
            tensor.space == Space::Card && inputs.any(|input| input.0 == tensor.tensor as usize)
        };
        static_layout.tensors.iter().find(|tensor| is_taken(tensor))?;
        let unit = Window::UNIT;
        let most = self.depth_first.iter().map(|group| group.staged).max().unwrap_or(0);
        let bytes = u32::try_from(most).unwrap_or(u32::MAX).min(LARGEST_WINDOW);
        let bytes = (bytes / unit * unit).max(unit);
        let checksums = static_layout.sector_checksums.filter(|checksums| checksums.sectors > 0);
        let is_over = |checksums: &SectorChecksums| checksums.offset < bytes;
        let offset = checksums.filter(is_over).map_or(0, |checksums| checksums.end());
        Some(Window { offset: u32::try_from(offset).ok()?, bytes })
    }

    /// Checksums or tags, from a place in the arena on, of the sectors between two bytes of the card. What is sealed
    /// says so, though programs write nothing.
    fn sector_checksums(&self, place: Bytes, bytes: [Bytes; 2]) -> Option<SectorChecksums> {
        let [first, end] = bytes.map(|bytes| u32::try_from(bytes.0 / SECTOR).ok());
        let (first, end, offset) = (first?, end?, u32::try_from(place.0).ok()?);
        let sealed = self.integrity == Integrity::Sealed;
        let offset = if end > first { offset } else { 0 };
        (sealed || end > first).then_some(SectorChecksums {
            offset,
            first,
            sectors: end - first,
            sealed,
        })
    }

    fn drafted(&self, tensors: Vec<PlannedTensor>) -> Result<Plan, PlanError> {
        let stored = (self.stored(), self.in_image.as_slice());
        lower::draft_stored(self.model, &self.layers, &Parts::none(), tensors, stored)
    }

    /// Weights lie on the card.
    const fn stored(&self) -> Stored {
        Stored {
            weights: Space::Card,
            alignment: SECTOR,
            // Groups' filters lie in common sectors, and what is encrypted comes in parts that share none.
            groups_apart: !matches!(self.integrity, Integrity::Sealed),
            longest_pair: self.longest_pair,
            ..Stored::IMAGE
        }
    }
}

//! Several frames in one program: where layers behind begin, how many frames a batch has, and in which parts the weights
//! of the layers behind come.

use super::cut::{Ways, gap, groups};
use super::{Found, Search};
use crate::narrow::narrow;
use crate::recipe::Made;
use crate::schedule::depth_first::DepthFirstGroup;
use crate::schedule::frames::{Frames, MOST_FRAMES};
use crate::schedule::operator::Operator;
use crate::schedule::{Layout, Schedule};
use crate::{Options, PlanError};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{CyclePoint, LaneKind, Plan, Space};

/// Parts of the bytes beside activations that weights of the layers behind come in.
const SHARES: [u64; 3] = [2, 3, 4];
/// Frames that tell which way is the fastest.
const FEW: u32 = 3;

/// A network with one step a layer, whose weights come in these ways.
pub type Lowered<'l> = (&'l Plan, &'l [DepthFirstGroup], Ways);

/// The fastest program of several frames, of a model whose layers' weights lie on the card; nothing if one frame
/// is asked for, the board has no external RAM that holds them, or nothing fits. When
/// one run of it ends is said too: the next begins then.
///
/// # Errors
/// [`PlanError`] names the node that no kernel runs as it is.
pub fn plan(
    model: &Model,
    board: &Board,
    options: &Options,
) -> Result<Option<(CyclePoint, Made)>, PlanError> {
    let asked = options.frames.get();
    let divisors = |frames: u32| {
        (1..=frames.min(MOST_FRAMES)).rev().filter(move |d| frames.is_multiple_of(*d))
    };
    let frames = divisors(asked).next().unwrap_or(1);
    let mut search = Search::new(board, options);
    if board.engine(LaneKind::Dma).is_none() || frames == 1 || search.external() == 0 {
        return Ok(None);
    }
    search.line = Some(frames.min(FEW));
    if search.all_ways(model)?.is_some() {
        return Ok(None);
    }
    let Some(found) = search.fastest.take().filter(|found| !found.is_large()) else {
        return Ok(None);
    };
    let mut best: Option<(CyclePoint, Schedule, Plan)> = None;
    let Found { made, lowered, depth_first, ways, .. } = found;
    // More frames in a program are faster, if it is not too large.
    for frames in divisors(asked).filter(|frames| *frames > 1) {
        for (batch, share) in divisors(frames).flat_map(|t| SHARES.map(|share| (t, share))) {
            let several = search.several((&lowered, &depth_first, ways), [frames, batch], share)?;
            let Some((schedule, plan)) = several else { continue };
            let fits = plan.image_bytes() <= board.plan_bytes()
                && plan.space(Space::ExternalRam).0 <= search.external();
            let end = search.run(&plan, frames)?.end();
            if fits && best.as_ref().is_none_or(|(known, ..)| end < *known) {
                best = Some((end, schedule, plan));
            }
        }
        if best.is_some() {
            break;
        }
    }
    Ok(best.map(|(end, schedule, plan)| {
        (end, Made::scheduled(made.recipe.static_layout, schedule, plan))
    }))
}

impl Search<'_> {
    /// So many frames in batches of so many, where weights of the layers behind take such a part of the bytes beside
    /// activations.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] if nobody waits any more.
    pub fn several(
        &self,
        (lowered, depth_first, ways): Lowered<'_>,
        [count, batch]: [u32; 2],
        share: u64,
    ) -> Result<Option<(Schedule, Plan)>, PlanError> {
        let Some((frames, height)) = self.divided((lowered, depth_first), [count, batch]) else {
            return Ok(None);
        };
        let operators = Operator::of(lowered);
        let gap = |operator: &Operator<'_>| gap(lowered, operator.step.layer, self.budget);
        let part = |operator: &Operator<'_>| {
            if u32::from(operator.step.layer) >= frames.behind {
                return self.budget.saturating_sub(height) / share;
            }
            let is_pixel = operator.tile().output_size == [1, 1];
            gap(operator) / ways.shares[usize::from(is_pixel)]
        };
        let kept = |operator: &Operator<'_>| gap(operator) / 8 * ways.kept;
        let groups = groups(&operators, depth_first, self.is_sealed(), [&part, &kept]);
        let layout = Layout::Gaps { sram: self.budget, ahead: u32::MAX };
        let schedule = Schedule { groups, layout, frames: Some(frames) };
        let work = schedule.work(lowered, &operators);
        let plan = schedule.plan(lowered, &work, self.board, &self.options.stop)?;
        Ok(plan.map(|plan| (schedule, plan)))
    }

    /// The layers behind are the last that make one pixel each, from where most weights come with
    /// what all frames hold in three quarters of SRAM; these bytes are said too.
    fn divided(
        &self,
        (plan, depth_first): (&Plan, &[DepthFirstGroup]),
        [count, batch]: [u32; 2],
    ) -> Option<(Frames, u64)> {
        let layers = narrow(plan.layers.len());
        let pixel = |layer: &u32| {
            let written = plan.layers[*layer as usize].writes.iter();
            let mut written = written.filter_map(|tensor| plan.tensors.get(*tensor as usize));
            let is_alone =
                !depth_first.iter().any(|group| group.layers.contains(&(*layer as usize)));
            is_alone && written.all(|tensor| tensor.shape[..2] == [1, 1])
        };
        let starts = (1..layers).rev().take_while(pixel).chain([layers]);
        let mut best: Option<(u64, Frames, u64)> = None;
        for behind in starts {
            let frames = Frames { count, batch, behind };
            let height = frames.height(plan).filter(|height| *height <= self.budget / 4 * 3);
            let Some(height) = height else { continue };
            let on_card = plan.constants.iter().filter(|block| block.space == Space::Card);
            let nodes = |layer: u32| plan.layers[layer as usize].nodes.iter();
            let of = |node: u32| (behind..layers).any(|layer| nodes(layer).any(|own| *own == node));
            let weights: u64 = on_card.filter(|block| of(block.node)).map(|b| b.bytes.0).sum();
            let is_better = |(most, _, known): &(u64, Frames, u64)| {
                weights > *most || weights == *most && height < *known
            };
            if best.as_ref().is_none_or(is_better) {
                best = Some((weights, frames, height));
            }
        }
        best.map(|(_, frames, height)| (frames, height))
    }
}

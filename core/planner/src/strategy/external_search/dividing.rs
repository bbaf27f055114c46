//! Divisions of SRAM one after the other: of each size those that are tried first, then those near the fastest.

use super::contest::{Contest, too_small};
use super::division::Division;
use crate::recipe::Made;
use crate::strategy::Asked;
use crate::strategy::merit::Judged;
use crate::strategy::overlay;
use crate::strategy::overlay::partition::TileSizes;
use crate::strategy::spill::{Spill, Spiller};
use crate::{PlanError, Planned};
use tilewright_plan::{Bytes, CyclePoint, Space};

/// What of the chip's flash, as a part of it, is not given to weights, since steps of other tiles may
/// take more.
const SPARE: u64 = 64;
/// Most divisions that are tried near the fastest of a size.
const MOST_NEAR: usize = 40;

/// Divisions of one size.
pub struct Dividing {
    /// Those that are yet to be tried, the next one last.
    first: Vec<Division>,
    /// The fastest.
    fastest: Option<Fastest>,
    /// Those near such ones that were tried.
    near: Vec<Division>,
}

/// The fastest division of a size.
pub struct Fastest {
    /// The plan.
    pub made: Made,
    /// When it ends.
    pub end: CyclePoint,
    division: Division,
    /// How many of its operators take or give something outside of the chip.
    moving: usize,
}

/// What divisions of all sizes have in common.
#[derive(Default)]
pub struct Divider {
    /// What leaves SRAM, and what was planned last of that.
    spiller: Option<Spiller>,
    last: Option<(Spill, Option<Made>)>,
    tiles: TileSizes,
    /// Whether weights are more than the chip's flash and the external memories hold together.
    is_too_much: bool,
    /// Bytes of weights that the chip's flash holds, if not all.
    flash: Option<Bytes>,
    /// How much slower than the best, as a part of it, divisions may be near which others are tried.
    close: u64,
}

impl Dividing {
    /// Those of a size.
    pub fn of(sram: Bytes, divider: &Divider) -> Self {
        let mut first: Vec<Division> = Division::first(sram, divider.flash.is_some()).collect();
        first.reverse();
        Self { first, fastest: None, near: Vec::new() }
    }

    /// The fastest so far.
    pub const fn fastest(&self) -> Option<&Fastest> {
        self.fastest.as_ref()
    }

    /// The next one; nothing if no other can be the fastest.
    pub fn next(&mut self, divider: &Divider, contest: &Contest) -> Option<Division> {
        if divider.is_too_much {
            return None;
        }
        if let Some(first) = self.first.pop() {
            return Some(first);
        }
        let Fastest { end, division, moving, .. } = self.fastest.as_ref()?;
        let best = contest.best().map_or(*end, |best| best.judged.end);
        if self.near.len() >= MOST_NEAR || !divider.is_close(*end, best) {
            return None;
        }
        let near = division.near(divider.flash.is_some(), *moving);
        let next = near.into_iter().find(|way| !self.near.contains(way))?;
        self.near.push(next);
        Some(next)
    }
}

impl Divider {
    /// For a model whose plan in SRAM is known: what its constants, tables and steps leave of flash, so far as that is
    /// known, holds weights.
    pub fn new(inside: &Planned, close: u64) -> Self {
        let report = &inside.report;
        let flash = (report.flash_bytes > report.flash_limit_bytes).then(|| {
            let others = *report.flash_bytes - inside.plan.space(Space::Weights);
            *report.flash_limit_bytes - others - Bytes(report.flash_limit_bytes.0 / 8)
        });
        Self { flash, close, ..Self::default() }
    }

    /// Whether one end is not much later than another.
    pub const fn is_close(&self, end: CyclePoint, best: CyclePoint) -> bool {
        end.0.saturating_sub(best.0) <= best.0 / self.close
    }

    /// Plans a division.
    ///
    /// # Errors
    /// [`PlanError`] if a tensor cannot be planned.
    pub fn divide(
        &mut self,
        division: Division,
        dividing: &mut Dividing,
        contest: &mut Contest,
        asked: &Asked<'_>,
    ) -> Result<(), PlanError> {
        let Asked { board, options, .. } = *asked;
        let Division { sram, back, first, beside, what, .. } = division;
        let limit = board.plan_bytes();
        let mut flash = self.flash.unwrap_or(Bytes(u64::MAX));
        // What tables and steps take is known once there is a plan.
        for _ in 0..2 {
            let spill = Spill { room: division.room(), sram, flash, first, back };
            let Some(made) = self.spilled(spill, asked)? else { break };
            // Not even if no weights of the chip's flash lay there.
            if let Some(space) = too_small(&made.plan, board, limit) {
                self.is_too_much = space == Space::ExternalFlash;
                break;
            }
            let moving = overlay::moving(&made.plan);
            let (how, stop) = ((beside, what), &options.stop);
            let made = overlay::overlay_beside(made, board, sram, how, &mut self.tiles, stop)?;
            let Some(judged) = contest.judged(&made.plan, asked)? else { break };
            let Judged { end, .. } = judged;
            let fastest = dividing.fastest.as_ref().map_or(CyclePoint(u64::MAX), |f| f.end);
            if !self.is_close(end, fastest) {
                break;
            }
            let fits = contest.consider(&made, judged, asked)?;
            let taken = self.flash.map(|_| made.plan.image_bytes().0 + limit.0 / SPARE);
            if fits && end < fastest {
                dividing.fastest = Some(Fastest { made, end, division, moving });
            }
            let Some(left) = taken.and_then(|taken| limit.0.checked_sub(taken)) else { break };
            flash = Bytes(flash.0.saturating_add(left));
        }
        Ok(())
    }

    /// The plan with what of activations SRAM holds; the same again is not made anew.
    fn spilled(&mut self, spill: Spill, asked: &Asked<'_>) -> Result<Option<Made>, PlanError> {
        if let Some((_, plan)) = self.last.as_ref().filter(|(known, _)| *known == spill) {
            return Ok(plan.clone());
        }
        let Asked { model, board, options } = *asked;
        let spiller = match self.spiller.take() {
            Some(spiller) => spiller,
            None => Spiller::new(model)?,
        };
        let plan = spiller.plan(model, board, &spill, &options.stop)?;
        self.spiller = Some(spiller);
        self.last = Some((spill, plan.clone()));
        Ok(plan)
    }
}

//! The best plan so far, and what others are compared by.

use crate::costs::CostCache;
use crate::recipe::Made;
use crate::strategy::alternatives::Alternatives;
use crate::strategy::merit::Judged;
use crate::strategy::stream::Keep;
use crate::strategy::weights_in_sram::load_weights;
use crate::strategy::{Asked, Strategy, sizes};
use crate::{Objective, PlanError};
use tilewright_board::Board;
use tilewright_plan::{Bytes, CyclePoint, Plan, Space};
use tilewright_report::Alternative;

/// Plans that are compared.
pub struct Contest {
    best: Option<Best>,
    /// The technique of the plans that are tried.
    technique: String,
    alternatives: Alternatives,
    costs: CostCache,
}

/// The best plan so far.
#[derive(Clone)]
pub struct Best {
    /// Its technique.
    pub technique: String,
    /// The plan.
    pub made: Made,
    /// When it ends, and what it is compared by.
    pub judged: Judged,
    /// The frames that it is the best for.
    pub frames: u32,
}

impl Contest {
    /// Begins with a plan, if there is one that fits and runs.
    pub fn new(board: &Board, best: Option<Best>, alternatives: Alternatives) -> Self {
        let costs = CostCache::on(board);
        Self { best, technique: String::new(), alternatives, costs }
    }

    /// What is tried next is of this technique.
    pub fn try_technique(&mut self, technique: &str) {
        technique.clone_into(&mut self.technique);
    }

    /// The best, if there is one, and all that was compared. Without a best, what the search began with is the chosen one.
    pub fn ended(self, began: (&str, &Made)) -> (Option<Best>, Vec<Alternative>) {
        let Self { best, alternatives, .. } = self;
        let (technique, made) = best.as_ref().map_or(began, |best| (&best.technique, &best.made));
        let alternatives = alternatives.told(technique, made);
        (best, alternatives)
    }

    /// The best so far.
    pub const fn best(&self) -> Option<&Best> {
        self.best.as_ref()
    }

    /// What ends then or later is not the best; nothing if that is not decided by time.
    pub fn limit(&self, asked: &Asked<'_>) -> Option<CyclePoint> {
        let Asked { board, options, .. } = *asked;
        let best = self.best.as_ref().filter(|best| best.frames == options.frames.get())?;
        best.judged.limit(options.objective, board)
    }

    /// The run of a plan, if SRAM and external memories hold it.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] if nobody waits any more.
    pub fn judged(&self, plan: &Plan, asked: &Asked<'_>) -> Result<Option<Judged>, PlanError> {
        let Asked { board, options, .. } = *asked;
        let fits = plan.space(Space::Arena) <= options.arena_on(board)
            && too_small(plan, board, Bytes(0)).is_none();
        if !fits {
            return Ok(None);
        }
        Judged::predicted(plan, true, &self.costs, (board, options)).map(Some)
    }

    /// Keeps a plan if it fits and is the best; whether it fits.
    ///
    /// # Errors
    /// As [`Self::judged`].
    pub fn tried(&mut self, made: &Made, asked: &Asked<'_>) -> Result<bool, PlanError> {
        let Some(judged) = self.judged(&made.plan, asked)? else { return Ok(false) };
        self.consider(made, judged, asked)
    }

    /// Keeps a plan of such a run, if flash holds it and it is the best; whether flash does.
    ///
    /// # Errors
    /// As [`Self::judged`].
    pub fn consider(
        &mut self,
        made: &Made,
        judged: Judged,
        asked: &Asked<'_>,
    ) -> Result<bool, PlanError> {
        let Asked { board, options, .. } = *asked;
        if !made.plan.image_fits(board.plan_bytes()) {
            return Ok(false);
        }
        let frames = options.frames.get();
        let known = match &self.best {
            Some(best) if best.frames == frames => Some(best.judged),
            Some(best) => self.judged(&best.made.plan, asked)?,
            None => None,
        };
        let Judged { merit, .. } = &judged;
        self.alternatives.note(&self.technique, &made.recipe, merit);
        if known.is_none_or(|known| merit.is_better(&known.merit, options.objective)) {
            let made = of_auto(made.clone(), board);
            let technique = self.technique.clone();
            self.best = Some(Best { technique, made, judged, frames });
        }
        Ok(true)
    }

    /// Keeps a plan with weights in what it leaves of SRAM, if that is the best: beside copies from a card, of the largest
    /// of the [sizes] that the budget holds, since what a little more holds may take longer.
    ///
    /// # Errors
    /// As [`Self::judged`].
    pub fn fill(&mut self, made: &Made, asked: &Asked<'_>) -> Result<(), PlanError> {
        let Asked { board, options, .. } = *asked;
        let budget = options.arena_on(board);
        let size = match made.plan.space(Space::Card) {
            Bytes(0) => Some(budget),
            _ => sizes::within(budget, board).next(),
        };
        if let Some(size) = size.filter(|_| options.objective != Objective::Memory)
            && let Some(kept) = load_weights(made, board, &self.costs, size)
        {
            self.tried(&kept, asked)?;
        }
        Ok(())
    }

    /// What is planned takes part in the contest.
    pub const fn keeping<'c, 'a>(&'c mut self, asked: &'c Asked<'a>) -> Keeping<'c, 'a> {
        Keeping { contest: self, asked }
    }
}

/// A contest that keeps what is planned for it.
pub struct Keeping<'c, 'a> {
    contest: &'c mut Contest,
    asked: &'c Asked<'a>,
}

impl Keep for Keeping<'_, '_> {
    fn keep(&mut self, made: &Made) -> Result<(), PlanError> {
        if self.contest.tried(made, self.asked)? {
            self.contest.fill(made, self.asked)?;
        }
        Ok(())
    }

    fn limit(&self) -> Option<CyclePoint> {
        self.contest.limit(self.asked)
    }

    fn most(&self) -> Option<Bytes> {
        let is_memory = self.asked.options.objective == Objective::Memory;
        let best = self.contest.best.as_ref().filter(|_| is_memory)?;
        Some(best.made.plan.space(Space::Arena))
    }
}

/// What another strategy made as a plan of `auto`.
pub fn of_auto(Made { recipe, plan }: Made, board: &Board) -> Made {
    let (board, strategy) = (board.id.clone(), Strategy::Auto.name().to_owned());
    Made { recipe, plan: Plan { board, strategy, ..plan } }
}

/// The external memory that a plan takes more of than the board has, of flash by more than `spare`; RAM first.
pub fn too_small(plan: &Plan, board: &Board, spare: Bytes) -> Option<Space> {
    let had = board.tier_bytes();
    [(Space::ExternalRam, 0), (Space::ExternalFlash, spare.0)]
        .into_iter()
        .find(|(space, spare)| plan.space(*space).0 > had[*space as usize].saturating_add(*spare))
        .map(|(space, _)| space)
}

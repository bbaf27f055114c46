//! Planning in slices: a state machine whose state depends on the work done only, so that a host
//! can show progress, answer others in between, and give up.

use crate::costs::Costs;
use crate::strategy::beyond::Beyond;
use crate::strategy::overlay::Overlaid;
use crate::strategy::trading::Trading;
use crate::strategy::{self, Search};
use crate::{Objective, Options, PlanError, Planned, Strategy, report, simulate, stream, swap};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, Plan};
use tilewright_report::{Energy, MemoryMap};

/// How far planning is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The smallest arena found so far.
    pub arena: Option<Bytes>,
    /// No arena of this strategy is smaller, as far as is known.
    pub bound: Bytes,
    /// Of the ways to plan beyond SRAM those that were tried, and all; nothing unless they are
    /// being tried.
    pub ways: Option<[usize; 2]>,
}

/// Planning under way.
pub struct Planning {
    board: Board,
    strategy: Strategy,
    options: Options,
    overlaid: Option<Overlaid>,
    search: Box<dyn Search>,
    /// What follows the search of `auto`.
    then: Option<Then>,
}

/// What follows the search of `auto` for the least arena.
enum Then {
    /// SRAM is large enough, and time matters: faster plans.
    Trading(Trading),
    /// SRAM may be too small: external memories.
    Beyond(Beyond),
}

impl Planning {
    /// Begins to plan `model` on `board` with `strategy`.
    ///
    /// # Errors
    /// [`PlanError`] if no plan exists whatever the memory.
    pub fn new(
        model: &Model,
        board: &Board,
        strategy: Strategy,
        options: &Options,
    ) -> Result<Self, PlanError> {
        let search: Box<dyn Search> = match strategy {
            Strategy::Resident => Box::new(strategy::resident::Placing::default()),
            Strategy::Reordered => Box::new(strategy::reordered::Reordering::new(model)?),
            Strategy::PingPong => Box::new(strategy::ping_pong::Placing::new(model)?),
            Strategy::External | Strategy::Overlay | Strategy::OverlayStaged => {
                Box::new(strategy::external::Placing::new(model)?)
            }
            Strategy::Swap | Strategy::SwapRows | Strategy::Stream | Strategy::StreamWeights => {
                Box::new(strategy::swap::Placing)
            }
            Strategy::Auto => Box::new(strategy::auto::Combining::new(model)?),
        };
        let (board, options) = (board.clone(), options.clone());
        Ok(Self { board, strategy, options, overlaid: None, search, then: None })
    }

    /// The same with other things overlaid than the strategy's own.
    #[must_use]
    pub fn overlaying(self, overlaid: Overlaid) -> Self {
        Self { overlaid: Some(overlaid), ..self }
    }

    /// Works for about `units` on `model`, with which planning began; whether it is done. One is
    /// some ten nanoseconds. One way beyond SRAM, or to a faster plan, is planned at once, whatever
    /// the units.
    ///
    /// # Errors
    /// [`PlanError`] if no plan exists whatever the memory.
    pub fn advance(&mut self, model: &Model, units: u64) -> Result<bool, PlanError> {
        match &mut self.then {
            Some(Then::Trading(trading)) => {
                if !trading.advance(model, &self.board, &self.options)? {
                    return Ok(false);
                }
                if !trading.is_slowed() {
                    return Ok(true);
                }
                let inside = trading.best(model, &self.board, &self.options);
                self.then = Some(Then::Beyond(Beyond::faster_than(inside)));
                return Ok(false);
            }
            Some(Then::Beyond(beyond)) => {
                return beyond.advance(model, &self.board, &self.options);
            }
            None => {}
        }
        if !self.search.advance(model, units)? {
            return Ok(false);
        }
        if self.strategy != Strategy::Auto {
            return Ok(true);
        }
        let inside = self.inside(model)?;
        let is_enough = inside.report.fits && inside.report.runnable;
        if is_enough && self.options.objective == Objective::Latency {
            let trading = Trading::new(inside, self.search.as_ref());
            self.then = Some(Then::Trading(trading));
            return Ok(false);
        }
        let beyond = Beyond::new(inside);
        let is_done = beyond.is_done(&self.board);
        self.then = Some(Then::Beyond(beyond));
        Ok(is_done)
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let ways = match &self.then {
            Some(Then::Beyond(beyond)) => Some(beyond.ways(&self.board)),
            Some(Then::Trading(_)) | None => None,
        };
        Progress { ways, ..self.search.progress() }
    }

    /// The plan of the model that planning began with; before planning is done the best that has
    /// been found.
    ///
    /// # Errors
    /// [`PlanError`] if there is none.
    pub fn finish(mut self, model: &Model) -> Result<Planned, PlanError> {
        let mut planned = match self.then.take() {
            Some(Then::Beyond(beyond)) => beyond.best(),
            Some(Then::Trading(mut trading)) => trading.best(model, &self.board, &self.options),
            None => self.inside(model)?,
        };
        add_energy(&mut planned, &self.board, &self.options);
        Ok(planned)
    }

    /// The plan of what the search has found.
    fn inside(&self, model: &Model) -> Result<Planned, PlanError> {
        let Self { board, strategy, options, overlaid, search, .. } = self;
        let (found, bound) = search.found(model)?;
        let plan = strategy::plan_of(model, board, *strategy, *overlaid, options, found)?;
        match strategy {
            Strategy::Swap => return swap::planned(plan, model, board, options),
            Strategy::Stream => return stream::planned(model, board, *strategy, options),
            _ => {}
        }
        // Of tensors that are held in part, or share bytes, the largest sum of those that live is no bound.
        let bound = match strategy {
            Strategy::StreamWeights => Some(Bytes(0)),
            _ => bound,
        };
        let mut planned = described(plan, model, board, options, bound);
        planned.report.stages = search.stages();
        if *strategy == Strategy::StreamWeights {
            strategy::stream_weights::tell_bound(&mut planned, model, board, options);
        }
        Ok(planned)
    }
}

/// Adds the energy of a frame, where the run has a time.
fn add_energy(planned: &mut Planned, board: &Board, options: &Options) {
    let (card, frames) = (options.card_in(board), options.frames.get());
    let Planned { timeline, traffic, report, .. } = planned;
    if report.latency_us.is_some() {
        let energy = Energy::of(timeline, traffic, board, card.as_ref(), frames);
        report.energy_uj = energy.ok().map(|energy| energy.middle_uj());
    }
}

/// A plan with its predicted run, its memory map and its report; `bound` is what no plan of the
/// strategy goes below, if that is known.
pub fn described(
    plan: Plan,
    model: &Model,
    board: &Board,
    options: &Options,
    bound: Option<Bytes>,
) -> Planned {
    let costs = Costs::on(board);
    let (card, frames) = (options.card_in(board), options.frames.get());
    let run = options.integrity.in_run(&plan);
    let timeline = simulate::predict(&run, board, &costs, card.as_ref(), frames);
    let memory = MemoryMap::of(&plan);
    let report = report::report(&plan, model, board, options, &costs, &memory, &timeline, bound);
    let occupancy = simulate::occupancy(&plan, &timeline);
    let traffic = simulate::traffic(&plan, board, card.as_ref(), &timeline, frames);
    Planned { plan, memory, timeline, occupancy, traffic, report }
}

//! Planning in slices: a state machine whose state depends on the work done only, so that a host
//! can show progress, answer others in between, and give up.
//!
//! Searches are interrupted at places of their own, whatever the host's slices, so page and command line make the same plan. Ctrl-C
//! ends a search with its best so far.

use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;

use crate::costs::CostCache;
use crate::planned_model::PlannedModel;
use crate::recipe::{Made, Recipe, RecipeError};
use crate::strategy::external_search::ExternalSearch;
use crate::strategy::trade_off::TradeOff;
use crate::strategy::{Asked, Search, in_tiles, resident};
use crate::tiles::Tiles;
use crate::{Integrity, Objective, Options, PlanError, Planned, Strategy, exits, report, simulate};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_model::tiling::Tiled;
use tilewright_plan::{Bytes, Plan, Space};
use tilewright_report::{Accesses, Energy, MemoryMap, Occupancy, Unsupported};

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
    /// The model that is planned.
    planned_model: PlannedModel,
    /// The options that ways of `auto` are compared with.
    few: Options,
    search: Searching,
    /// What follows the search of `auto`.
    then: Option<Then>,
    /// Units of work so far.
    spent: u64,
}

/// The search of a strategy, which no board and no budget matters to.
enum Searching {
    UnderWay(Box<dyn Search>),
    Done(Rc<dyn Search>),
}

impl Searching {
    fn get(&self) -> &dyn Search {
        match self {
            Self::UnderWay(search) => search.as_ref(),
            Self::Done(search) => search.as_ref(),
        }
    }
}

/// Steps of all frames that are simulated in a moment.
const QUICK_STEPS: u64 = 100_000;

/// Steps of so many frames.
fn steps(plan: &Plan, frames: u32) -> u64 {
    let lanes = plan.main.iter().flat_map(|program| &program.lanes);
    lanes.map(|lane| lane.steps.len() as u64).sum::<u64>() * u64::from(plan.runs(frames))
}

/// What follows the search of `auto` for the least arena.
enum Then {
    /// SRAM is large enough, and time matters: faster plans.
    TradeOff(TradeOff),
    /// SRAM may be too small: external memories.
    External(ExternalSearch),
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
        let technique = strategy.technique();
        let options = &technique.options(options);
        refused(board, strategy, options)?;
        let planned_model = PlannedModel::new(model, board, options, technique.brings_weights)?;
        let search = (technique.search)(planned_model.model(model))?;
        Ok(Self::searching(board, strategy, options, (planned_model, Searching::UnderWay(search))))
    }

    fn searching(
        board: &Board,
        strategy: Strategy,
        options: &Options,
        (planned_model, search): (PlannedModel, Searching),
    ) -> Self {
        let (board, options, few) = (board.clone(), options.clone(), options.of_few_frames());
        Self { board, strategy, options, planned_model, few, search, then: None, spent: 0 }
    }

    /// Planning of the same model with the same strategy anew for another board or other options; what was
    /// searched already, which depends on neither, is not searched again.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn again(
        &self,
        model: &Model,
        board: &Board,
        options: &Options,
    ) -> Result<Self, PlanError> {
        let technique = self.strategy.technique();
        let asked = technique.options(options);
        let options = &asked;
        refused(board, self.strategy, options)?;
        match &self.search {
            Searching::Done(search)
                if options.tiling == self.options.tiling
                    && self.planned_model.serves(
                        model,
                        board,
                        options,
                        technique.brings_weights,
                    ) =>
            {
                let found = (self.planned_model.clone(), Searching::Done(Rc::clone(search)));
                Ok(Self::searching(board, self.strategy, options, found))
            }
            _ => Self::new(model, board, self.strategy, options),
        }
    }

    /// Units of work so far, of those of [`Self::advance`]: of a search what it was given, of ways what
    /// as many layers take as a rule.
    #[must_use]
    pub const fn spent(&self) -> u64 {
        self.spent
    }

    /// Works for about `units` on `model`, with which planning began; whether it is done. One is
    /// some ten nanoseconds. One way beyond SRAM, or to a faster plan, is planned at once, whatever
    /// the units.
    ///
    /// # Errors
    /// [`PlanError`] if no plan exists whatever the memory.
    pub fn advance(&mut self, model: &Model, units: u64) -> Result<bool, PlanError> {
        let planned_model = self.planned_model.clone();
        let model = planned_model.model(model);
        let Self { board, options, few, then, .. } = self;
        let layers = model.nodes.len() as u64;
        if then.is_some() {
            self.spent = self.spent.saturating_add(self.strategy.technique().work * layers);
        }
        match then {
            Some(Then::TradeOff(trade_off)) => {
                if !trade_off.advance(model, board, few)? {
                    return Ok(false);
                }
                if trade_off.is_best(few.objective, board) {
                    return Ok(true);
                }
                let is_slowed = trade_off.is_slowed();
                if let Some(Then::TradeOff(trade_off)) = then.take() {
                    let inside = trade_off.best(model, board, few)?;
                    let external = ExternalSearch::faster_than(inside, is_slowed, board, few);
                    *then = Some(Then::External(external));
                }
                return Ok(false);
            }
            Some(Then::External(external)) => {
                return external.advance(model, board, [options, few]);
            }
            None => {}
        }
        if !self.searched(model, units)? {
            return Ok(false);
        }
        let technique = self.strategy.technique();
        if !technique.goes_on {
            self.spent = self.spent.saturating_add(layers * technique.work);
            return Ok(true);
        }
        let inside = self.inside(model, &self.few)?;
        let is_enough = inside.report.fits && inside.report.runnable;
        if is_enough && self.options.objective != Objective::Memory {
            let trade_off = TradeOff::new(inside, self.search.get(), &self.board, &self.few);
            self.then = Some(Then::TradeOff(trade_off));
            return Ok(false);
        }
        let (board, few) = (&self.board, &self.few);
        let external = match is_enough {
            true => ExternalSearch::smaller_than(inside, board, few),
            false => ExternalSearch::new(inside, board, few),
        };
        let is_done = external.is_done();
        self.then = Some(Then::External(external));
        Ok(is_done)
    }

    /// Searches on; whether that is done.
    fn searched(&mut self, model: &Model, units: u64) -> Result<bool, PlanError> {
        let Searching::UnderWay(search) = &mut self.search else { return Ok(true) };
        let is_done = search.advance(model, units)?;
        self.spent = self.spent.saturating_add(units);
        if is_done {
            let none = Searching::UnderWay(Box::new(resident::Placing::default()));
            if let Searching::UnderWay(search) = std::mem::replace(&mut self.search, none) {
                self.search = Searching::Done(Rc::from(search));
            }
        }
        Ok(is_done)
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let ways = match &self.then {
            Some(Then::External(external)) => Some(external.ways()),
            Some(Then::TradeOff(_)) | None => None,
        };
        Progress { ways, ..self.search.get().progress() }
    }

    /// The plan of the model that planning began with; before planning is done the best that has
    /// been found.
    ///
    /// # Errors
    /// [`PlanError`] if there is none.
    pub fn finish(self, model: &Model) -> Result<Planned, PlanError> {
        let (board, strategy, options) = (self.board.clone(), self.strategy, self.options.clone());
        let planned = self.found(model)?;
        if is_of_energy(strategy, &options) && planned.report.fits {
            known_energy(&planned, &board, &options)?;
        }
        if options.exits.is_none() || planned.report.fits || !strategy.technique().goes_on {
            return Ok(planned);
        }
        with_room_for_exits(planned, model, &board, strategy, &options)
    }

    fn found(mut self, model: &Model) -> Result<Planned, PlanError> {
        let (given, planned_model) = (model, self.planned_model.clone());
        let model = planned_model.model(model);
        let is_beyond =
            matches!(&self.then, Some(Then::External(found)) if found.is_beyond(&self.few));
        let mut planned = match self.then.take() {
            Some(Then::External(external)) => external.best(model, &self.board, &self.few)?,
            Some(Then::TradeOff(trade_off)) => trade_off.best(model, &self.board, &self.few)?,
            None if self.strategy.technique().joins_frames => self.inside(model, &self.options)?,
            None => self.inside(model, &self.few)?,
        };
        // What does not fit is told of few frames, unless all are as quickly told.
        let frames = self.options.frames.get();
        let is_told = planned.report.fits || steps(&planned.plan, frames) <= QUICK_STEPS;
        let lacks_exits = !self.options.exits.is_none() && planned.report.exits.is_empty();
        if planned.report.frames < frames && is_told || lacks_exits {
            let made = planned.made();
            let Planned { report, .. } = planned;
            let bound = Some(*report.lower_bound_bytes);
            planned = self.described(made, model, &self.options, bound)?;
            planned.report.stages = report.stages;
            planned.report.alternatives = report.alternatives;
        }
        // Of the frames that it is told of.
        let told = NonZeroU32::new(planned.report.frames).unwrap_or(NonZeroU32::MIN);
        let options = Options { frames: told, ..self.options };
        add_energy(&mut planned, &self.board, &options);
        planned.in_tiles(planned_model.tiled);
        if is_beyond && planned.tiled.is_none() {
            return in_tiles::better(planned, given, &self.board, &options);
        }
        Ok(planned)
    }

    /// The plan of what the search has found.
    fn inside(&self, model: &Model, options: &Options) -> Result<Planned, PlanError> {
        let search = self.search.get();
        let (found, bound) = search.found(model)?;
        let made = self.strategy.made(&Asked { model, board: &self.board, options }, found)?;
        // Of tensors that are held in part, or share bytes, the largest sum of those that live is no bound.
        let bound = if self.strategy.technique().joins_frames { Some(Bytes(0)) } else { bound };
        let mut planned = self.described(made, model, options, bound)?;
        planned.report.stages = search.stages();
        Ok(planned)
    }

    fn described(
        &self,
        made: Made,
        model: &Model,
        options: &Options,
        bound: Option<Bytes>,
    ) -> Result<Planned, PlanError> {
        let mut planned = described(made, model, &self.board, options, bound)?;
        (self.strategy.technique().tell)(
            &mut planned,
            &Asked { model, board: &self.board, options },
        );
        Ok(planned)
    }
}

impl Recipe {
    /// The plan that this recipe makes, with all that is said of it.
    ///
    /// # Errors
    /// [`RecipeError`] says that there is no room for it, or what of it cannot be planned.
    pub fn planned(
        &self,
        model: &Model,
        board: &Board,
        options: &Options,
    ) -> Result<Planned, RecipeError> {
        let kept = self.static_layout.sector_checksums.map(|checksums| match checksums.sealed {
            true => Integrity::Sealed,
            false => Integrity::Checked,
        });
        if kept.is_some_and(|kept| kept != options.integrity) {
            return Err(RecipeError::Integrity);
        }
        let tiled = match self.tiles {
            Some(tiles) => Some(Arc::new(tiles.tiled(model)?)),
            None => None,
        };
        let model = Tiled::model_or(tiled.as_deref(), model);
        let plan = self.plan(model, board, &options.stop)?;
        let (board_id, strategy) = (board.id.clone(), Self::STRATEGY.to_owned());
        let plan = Plan { board: board_id, strategy, ..plan };
        let made = Made { recipe: self.clone(), plan };
        let mut planned = described(made, model, board, options, Some(Bytes(0)))?;
        add_energy(&mut planned, board, options);
        planned.in_tiles(tiled);
        Ok(planned)
    }
}

impl Planned {
    /// The plan is of a model in tiles, if it is.
    fn in_tiles(&mut self, tiled: Option<Arc<Tiled>>) {
        if let Some(tiled) = &tiled {
            self.recipe.tiles = Some(Tiles::of(tiled));
            self.report.recomputed_macs = tiled.recomputed_macs.into();
            self.report.tiles = Some(tiled.grid.to_string());
        }
        self.tiled = tiled;
    }
}

/// Most plans that are tried so that exits have room in flash.
const MOST_TRIED: usize = 3;

/// A search knows nothing of what exits take of flash. If a plan has no room for them, the best of another that leaves as
/// much as was missing.
///
/// # Errors
/// [`PlanError::Stopped`] if nobody waits any more.
fn with_room_for_exits(
    planned: Planned,
    model: &Model,
    board: &Board,
    strategy: Strategy,
    options: &Options,
) -> Result<Planned, PlanError> {
    let without = Options { exits: exits::Exits::default(), ..options.clone() };
    let (mut best, mut smaller) = (planned, board.clone());
    for _ in 0..MOST_TRIED {
        let missing = best.report.flash_bytes.0.saturating_sub(best.report.flash_limit_bytes.0);
        let Some(firmware) = smaller.firmware.as_mut().filter(|_| missing > 0) else { break };
        firmware.flash_bytes += Bytes(missing);
        if board.flash() <= firmware.flash_bytes {
            break;
        }
        let alone = crate::plan(model, &smaller, strategy, &without)?;
        if !alone.report.fits {
            break;
        }
        let (made, tiled) = (alone.made(), alone.tiled);
        let bound = Some(*alone.report.lower_bound_bytes);
        let own = Tiled::model_or(tiled.as_deref(), model);
        best = described(made, own, board, options, bound)?;
        best.report.stages = alone.report.stages;
        best.report.alternatives = alone.report.alternatives;
        add_energy(&mut best, board, options);
        best.in_tiles(tiled);
        if best.report.fits {
            break;
        }
    }
    Ok(best)
}

/// Whether energy is compared.
fn is_of_energy(strategy: Strategy, options: &Options) -> bool {
    strategy.technique().goes_on && options.objective == Objective::Energy
}

/// What to do where no energy is known.
const NO_ENERGY: &str = "Choose another objective, such as latency, or a board whose file tells its power, such as \
                         stm32f746g-disco.";

/// Refuses to compare energies where no source tells the board's power.
///
/// # Errors
/// [`PlanError::Unsupported`] names the board.
fn refused(board: &Board, strategy: Strategy, options: &Options) -> Result<(), PlanError> {
    if board.power.is_some() || !is_of_energy(strategy, options) {
        return Ok(());
    }
    let what = format!("objective energy: no source says what {} draws", board.name);
    Err(Unsupported::new(what, format!("board '{}'", board.id), NO_ENERGY).into())
}

/// Refuses a plan as that of least energy if its own is not known.
///
/// # Errors
/// [`PlanError::Unsupported`] names what draws an unknown power.
fn known_energy(planned: &Planned, board: &Board, options: &Options) -> Result<(), PlanError> {
    let Planned { timeline, traffic, report, .. } = planned;
    let card = options.card_in(board);
    let energy = Energy::of(timeline, traffic, board, card.as_ref(), report.frames);
    let Err(why) = energy.map(drop) else { return Ok(()) };
    let place = format!("board '{}'", board.id);
    Err(Unsupported::new(format!("objective energy: {why}"), place, NO_ENERGY).into())
}

/// Adds the energy of a frame, where the run has a time.
fn add_energy(planned: &mut Planned, board: &Board, options: &Options) {
    let (card, frames) = (options.card_in(board), options.frames.get());
    let Planned { timeline, traffic, report, .. } = planned;
    if report.latency_us.is_some() {
        let energy = Energy::of(timeline, traffic, board, card.as_ref(), frames);
        report.energy_uj = energy.ok().map(|energy| energy.middle_uj().into());
    }
}

/// A plan with its predicted run, its memory map and its report; `bound` is what no plan of the
/// strategy goes below, if that is known.
///
/// # Errors
/// [`PlanError::Stopped`] if nobody waits any more.
pub fn described(
    made: Made,
    model: &Model,
    board: &Board,
    options: &Options,
    bound: Option<Bytes>,
) -> Result<Planned, PlanError> {
    let Made { recipe, mut plan } = made;
    let costs = CostCache::on(board);
    exits::add(&mut plan, model, board, &costs, options)?;
    let (card, frames) = (options.card_in(board), options.frames.get());
    let timeline = simulate::predict(&plan, board, &costs, options)?;
    let memory = MemoryMap::of(&plan);
    let mut report =
        report::report(&plan, model, board, options, &costs, &memory, &timeline, bound);
    report.exits = exits::rows(&plan, &timeline);
    let occupancy = Occupancy::over_time(&Accesses::of(&plan), &timeline, Space::Arena);
    let traffic = simulate::traffic(&plan, board, card.as_ref(), &timeline, frames);
    Ok(Planned { plan, recipe, tiled: None, memory, timeline, occupancy, traffic, report })
}

//! `auto` where SRAM does not hold all activations, or flash not all weights, or where holding them costs
//! time: the fastest of what the external memories allow, else from the card.
//!
//! Memory has [sizes](sizes) that do not depend on the budget. How SRAM is [divided](division) is searched for each
//! size below the budget by itself, so that a plan which fits less is found with more, too.

mod division;
mod sizes;

use super::external::{self, Placing};
use super::kept_weights::keep;
use super::overlay::partition::TileSizes;
use super::overlay::{self, Overlaid};
use super::spilled::{First, Spilling};
use super::{Search, Strategy, stream, swap};
use crate::costs::Remembering;
use crate::planning::described;
use crate::recipe::Made;
use crate::{Objective, Options, PlanError, Planned, Stop, simulate};
use division::Division;
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, CyclePoint, LaneKind, Plan, Space};

/// What of all operands outside may be overlaid.
const OVERLAID: [Overlaid; 4] =
    [Overlaid::THESIS, Overlaid::ALL, Overlaid::IN_PARTS, Overlaid::ALL_IN_PARTS];

/// What of the chip's flash, as a part of it, is not given to weights, since steps of other tiles may
/// take more.
const SPARE: u64 = 64;

/// Most divisions that are tried near the fastest of a size.
const MOST_NEAR: usize = 40;
/// Near those of a size that are slower than the fastest of all by more than this part of it none are tried; of
/// networks with few layers, which take little time, and of others.
const CLOSE: [u64; 2] = [8, 32];
const FEW_LAYERS: usize = 40;
const FEW_MACS: u64 = 50_000_000;

/// Behind so many sizes in a row of which that is so no smaller ones are tried.
const MOST_FAR: [usize; 2] = [4, 2];
/// Sizes that are divided.
const SIZES: [usize; 2] = [16, 4];

/// Most sizes that are tried for the least.
const MOST_SIZES: usize = 64;

/// The search, one way after the other: all operands in external memory, what may be overlaid, and
/// last what comes from a card.
pub struct Beyond {
    /// The best in SRAM.
    inside: Planned,
    /// Whether other memories may help.
    is_open: bool,
    /// Whether no memory outside of the chip is used.
    is_inside: bool,
    /// Whether only what other strategies would plan is tried: SRAM has room for all.
    is_roomy: bool,
    /// The ways that are yet to be tried, the next one last.
    ways: Vec<Way>,
    /// Ways that were tried.
    count: usize,
    /// The best that fits and runs.
    best: Option<Best>,
    /// The plan that is overlaid.
    external: Option<Made>,
    /// What leaves SRAM, and what was planned last with the rest in so many bytes of it.
    spilling: Option<Spilling>,
    spilled: Option<(Asked, Option<Made>)>,
    /// Sizes in a row whose fastest division is much slower than the best, or that have none.
    far: usize,
    /// Whether weights are more than the chip's flash and the external memories hold together.
    is_too_much: bool,
    tiles: TileSizes,
    costs: Option<Remembering>,
}

/// The best plan so far.
struct Best {
    made: Made,
    end: CyclePoint,
    /// The frames that it is the best for.
    frames: u32,
}

/// Room for activations and all of it, bytes of flash, whose weights lie there, and whether what can comes
/// back.
type Asked = ([Bytes; 2], (Bytes, First, bool));

/// A way to plan.
enum Way {
    External,
    Divided(Dividing),
    Sized(Sized),
    Filled,
}

/// What is planned for a size, and for the next smaller ones as long as that is about as fast, or fits at all.
#[derive(Clone, Copy)]
struct Sized {
    technique: Technique,
    sram: Bytes,
    /// How many smaller sizes are left.
    left: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Technique {
    /// All operands outside, with what of them is overlaid.
    Overlaid(Overlaid),
    /// Layers go through their rows together, weights in the chip's flash.
    Together,
    /// Weights come from a card.
    Weights,
    /// All comes from a card.
    Swapped,
}

/// Divisions of one size.
struct Dividing {
    /// The size.
    sram: Bytes,
    /// Those that are yet to be tried, the next one last.
    first: Vec<Division>,
    /// The fastest, and how many of its operators take or give something outside of the chip.
    fastest: Option<(CyclePoint, Division, usize)>,
    /// Its plan.
    made: Option<Made>,
    /// Those near such ones that were tried.
    near: Vec<Division>,
}

impl Dividing {
    fn of(sram: Bytes, mut first: Vec<Division>) -> Self {
        first.reverse();
        Self { sram, first, fastest: None, made: None, near: Vec::new() }
    }
}

impl Beyond {
    /// Begins with the best in SRAM, if that does not fit.
    pub fn new(inside: Planned, board: &Board, options: &Options) -> Self {
        let is_open = !inside.report.fits && inside.report.runnable;
        Self::with(inside, None, [is_open, false], (board, options))
    }

    /// Begins with a plan in SRAM that fits, but whose layers wait for flash, or are slowed for want of room.
    pub fn faster_than(inside: Planned, is_slowed: bool, board: &Board, options: &Options) -> Self {
        let end = inside.timeline.end();
        let best = Best { made: inside.made(), end, frames: inside.report.frames };
        Self::with(inside, Some(best), [true, !is_slowed], (board, options))
    }

    /// Begins with a plan in SRAM that fits, to find one there that takes less.
    pub fn smaller_than(inside: Planned, board: &Board, options: &Options) -> Self {
        let is_inside = &Options { is_inside: true, ..options.clone() };
        Self::faster_than(inside, true, board, is_inside)
    }

    fn with(
        inside: Planned,
        best: Option<Best>,
        [is_open, is_roomy]: [bool; 2],
        (board, options): (&Board, &Options),
    ) -> Self {
        let mut beyond = Self {
            inside,
            is_open,
            is_inside: options.is_inside,
            is_roomy,
            ways: Vec::new(),
            count: 0,
            best,
            external: None,
            spilling: None,
            spilled: None,
            far: 0,
            is_too_much: false,
            tiles: TileSizes::default(),
            costs: None,
        };
        beyond.ways = beyond.all(board, options);
        beyond.ways.reverse();
        beyond
    }

    /// The ways that a board allows, where there is need of them.
    fn all(&self, board: &Board, options: &Options) -> Vec<Way> {
        let mut ways = Vec::new();
        if !self.is_open {
            return ways;
        }
        let is_least = options.objective == Objective::Memory;
        let sram = match &self.best {
            Some(best) if is_least => Bytes(best.made.plan.space(Space::Arena).0.saturating_sub(1)),
            _ => options.arena_on(board),
        };
        let sized = |technique, left| {
            let left = if is_least { MOST_SIZES } else { left * (1 - self.large()) };
            Way::Sized(Sized { technique, sram, left })
        };
        let report = &self.inside.report;
        if report.flash_bytes <= report.flash_limit_bytes && !self.is_roomy {
            ways.push(sized(Technique::Together, 8));
        }
        if self.is_inside {
            ways.push(Way::Filled);
            return ways;
        }
        if external::obstacle(board).is_none() {
            ways.push(Way::External);
            // What lies outside takes nothing of SRAM.
            if overlay::obstacle(board).is_none() && !is_least {
                let overlaid = OVERLAID.iter().take(if self.is_roomy { 2 } else { OVERLAID.len() });
                ways.extend(overlaid.map(|what| sized(Technique::Overlaid(*what), 8)));
                if !self.is_roomy {
                    let sizes =
                        std::iter::once(sram).chain(sizes::below(Bytes(sram.0.saturating_sub(1))));
                    let sizes = sizes.take(SIZES[self.large()]);
                    ways.extend(sizes.map(|sram| {
                        let first = Division::first(sram, self.lacks_flash());
                        Way::Divided(Dividing::of(sram, first.collect()))
                    }));
                }
            }
        }
        if swap::obstacle(board).is_none() && board.drives(LaneKind::Card) {
            ways.extend([sized(Technique::Weights, 8), sized(Technique::Swapped, 0)]);
        }
        ways.push(Way::Filled);
        ways
    }

    /// Ways that were tried, and all.
    pub fn ways(&self) -> [usize; 2] {
        [self.count, self.count + self.ways.len()]
    }

    /// Whether all ways were tried.
    pub const fn is_done(&self) -> bool {
        self.ways.is_empty()
    }

    /// Tries the next way; whether it was the last. Ways are compared by the second options, of few frames;
    /// what only a schedule of all frames tells is planned with the first.
    ///
    /// # Errors
    /// [`PlanError`] if a tensor cannot be planned.
    pub fn advance(
        &mut self,
        model: &Model,
        board: &Board,
        [all, options]: [&Options; 2],
    ) -> Result<bool, PlanError> {
        let Some(way) = self.ways.pop() else { return Ok(true) };
        match way {
            Way::External => {
                let (found, _) = Placing::new(model)?.found(model)?;
                let external = external::plan(model, board, found)?;
                // Overlaying takes nothing from external memories.
                if lacks(&external.plan, board, Bytes(0)).is_none() {
                    self.tried(&external, board, options)?;
                    self.fill(&external, board, options)?;
                    self.external = Some(external);
                }
            }
            Way::Divided(mut dividing) => {
                if let Some(division) = self.next(&mut dividing) {
                    self.divide(division, &mut dividing, model, board, options)?;
                    self.ways.push(Way::Divided(dividing));
                    return Ok(false);
                }
                if let Some(made) = &dividing.made {
                    self.fill(made, board, options)?;
                }
                let best = self.best.as_ref().map(|best| best.end);
                let fastest = dividing.fastest.map(|(fastest, ..)| fastest);
                let is_far = best.zip(fastest).is_none_or(|(best, end)| !self.is_close(end, best));
                self.far = if is_far { self.far + 1 } else { 0 };
                if self.far == MOST_FAR[self.large()] {
                    self.ways.retain(|way| !matches!(way, Way::Divided(_)));
                }
            }
            Way::Sized(sized) => {
                if let Some(next) = self.sized(sized, model, board, [all, options])? {
                    self.ways.push(Way::Sized(next));
                    return Ok(false);
                }
            }
            Way::Filled => {
                if let Some(best) = &self.best {
                    let made = best.made.clone();
                    self.fill(&made, board, options)?;
                }
            }
        }
        self.count += 1;
        Ok(self.is_done())
    }

    /// Plans for a size; gives the next smaller one if that may be worth it.
    ///
    /// # Errors
    /// [`PlanError`] if a tensor cannot be planned.
    fn sized(
        &mut self,
        Sized { technique, sram, left }: Sized,
        model: &Model,
        board: &Board,
        [all, options]: [&Options; 2],
    ) -> Result<Option<Sized>, PlanError> {
        let [mut all, mut options] = [all, options].map(Options::clone);
        (all.sram, options.sram, options.buffer) = (Some(sram), Some(sram), None);
        options.is_inside |= self.is_inside;
        let made = match technique {
            Technique::Overlaid(what) => match self.external.clone() {
                Some(external) => {
                    let sizes = [sram.min(board.arena()); 2];
                    Some(overlay::overlay_within(external, board, sizes, what, &options.stop)?)
                }
                None => None,
            },
            Technique::Together => stream::in_image(model, board, &options)?,
            Technique::Weights => Some(stream::plan(model, board, &all)?),
            Technique::Swapped => {
                let (found, _) = swap::Placing.found(model)?;
                Some(swap::plan(model, board, &options, found)?)
            }
        };
        // Frames that are scheduled together are compared together.
        let is_of_all = made.as_ref().is_some_and(|made| made.plan.frames() > 1);
        let compared = if is_of_all || self.best.is_none() { &all } else { &options };
        let end = match &made {
            Some(made) => self.tried(made, board, compared)?,
            None => None,
        };
        let is_weights = technique == Technique::Weights;
        if let Some(made) = made.as_ref().filter(|_| end.is_some() && !is_weights) {
            self.fill(made, board, &options)?;
        }
        let is_worth = match (end, &self.best) {
            // Down to the least that fits.
            (end, _) if options.objective == Objective::Memory => end.is_some(),
            (Some(end), Some(best)) => self.is_close(end, best.end),
            (None, None) => made.is_some() || self.large() == 0,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let taken = made.map_or(sram, |made| made.plan.space(Space::Arena).min(sram));
        let less = if options.objective == Objective::Memory { taken } else { sram };
        let next = sizes::below(Bytes(less.0.saturating_sub(1))).next();
        let left = left.checked_sub(1).filter(|_| is_worth);
        Ok(next.zip(left).map(|(sram, left)| Sized { technique, sram, left }))
    }

    /// The next division of a size; nothing if no other can be the fastest.
    fn next(&self, dividing: &mut Dividing) -> Option<Division> {
        if self.is_too_much {
            return None;
        }
        if let Some(first) = dividing.first.pop() {
            return Some(first);
        }
        let (end, fastest, moving) = dividing.fastest?;
        let best = self.best.as_ref().map_or(end, |best| best.end);
        if dividing.near.len() >= MOST_NEAR || !self.is_close(end, best) {
            return None;
        }
        let near = fastest.near(self.lacks_flash(), moving);
        let next = near.into_iter().find(|way| !dividing.near.contains(way))?;
        dividing.near.push(next);
        Some(next)
    }

    /// Plans a division.
    ///
    /// # Errors
    /// [`PlanError`] if a tensor cannot be planned.
    fn divide(
        &mut self,
        division: Division,
        dividing: &mut Dividing,
        model: &Model,
        board: &Board,
        options: &Options,
    ) -> Result<(), PlanError> {
        let Division { back, first, beside, what, .. } = division;
        let (sram, room) = (dividing.sram, division.room());
        let limit = board.plan_bytes();
        let mut flash = self.flash();
        // What tables and steps take is known once there is a plan.
        for _ in 0..2 {
            let asked = ([room, sram], (flash, first, back));
            let plan = self.spilled(model, board, asked, &options.stop)?;
            let Some(made) = plan else { break };
            // Not even if no weights of the chip's flash lay there.
            if let Some(lacking) = lacks(&made.plan, board, limit) {
                self.is_too_much = lacking == Space::ExternalFlash;
                break;
            }
            let moving = overlay::moving(&made.plan);
            let (how, stop) = ((beside, what), &options.stop);
            let made = overlay::overlay_beside(made, board, sram, how, &mut self.tiles, stop)?;
            let Some(end) = self.end(&made.plan, board, options)? else { break };
            let fastest = dividing.fastest.map_or(CyclePoint(u64::MAX), |(fastest, ..)| fastest);
            if !self.is_close(end, fastest) {
                break;
            }
            if self.consider(&made, end, board, options)? && end < fastest {
                dividing.fastest = Some((end, division, moving));
                dividing.made = Some(made.clone());
            }
            if flash.0 == u64::MAX {
                break;
            }
            let taken = made.plan.image_bytes().0 + limit.0 / SPARE;
            let Some(left) = limit.0.checked_sub(taken) else { break };
            flash = Bytes(flash.0.saturating_add(left));
        }
        Ok(())
    }

    /// Lays weights in what a plan leaves of SRAM.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] if nobody waits any more.
    fn fill(&mut self, made: &Made, board: &Board, options: &Options) -> Result<(), PlanError> {
        if options.objective == Objective::Memory {
            return Ok(());
        }
        let costs = self.costs.get_or_insert_with(|| Remembering::on(board));
        if let Some(kept) = keep(made, board, costs, options.arena_on(board)) {
            self.tried(&kept, board, options)?;
        }
        Ok(())
    }

    /// Which of the constants for networks with few layers and others.
    const fn large(&self) -> usize {
        let report = &self.inside.report;
        (report.layers.len() > FEW_LAYERS || report.macs > FEW_MACS) as usize
    }

    /// Whether one end is not much later than another.
    fn is_close(&self, end: CyclePoint, best: CyclePoint) -> bool {
        end.0.saturating_sub(best.0) <= best.0 / CLOSE[self.large()]
    }

    /// Whether the chip's flash does not hold all weights.
    fn lacks_flash(&self) -> bool {
        self.flash().0 < u64::MAX
    }

    /// Bytes of weights that the chip's flash holds: all if they fit, else what constants, tables and
    /// steps of a plan in tiles leave, so far as that is known.
    fn flash(&self) -> Bytes {
        let report = &self.inside.report;
        if report.flash_bytes <= report.flash_limit_bytes {
            return Bytes(u64::MAX);
        }
        let weights = self.inside.plan.space(Space::Weights);
        let others = report.flash_bytes - weights;
        report.flash_limit_bytes - others - Bytes(report.flash_limit_bytes.0 / 8)
    }

    /// The plan with activations in `room` bytes of a size; the same again is not made anew.
    fn spilled(
        &mut self,
        model: &Model,
        board: &Board,
        asked: Asked,
        stop: &Stop,
    ) -> Result<Option<Made>, PlanError> {
        if let Some((_, plan)) = self.spilled.as_ref().filter(|(known, _)| *known == asked) {
            return Ok(plan.clone());
        }
        let spilling = match self.spilling.take() {
            Some(spilling) => spilling,
            None => Spilling::new(model)?,
        };
        let plan = spilling.plan(model, board, asked.0, asked.1, stop)?;
        self.spilling = Some(spilling);
        self.spilled = Some((asked, plan.clone()));
        Ok(plan)
    }

    /// When a plan ends, if SRAM and external memories hold it.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] if nobody waits any more.
    fn end(
        &mut self,
        plan: &Plan,
        board: &Board,
        options: &Options,
    ) -> Result<Option<CyclePoint>, PlanError> {
        let fits = plan.space(Space::Arena) <= options.arena_on(board)
            && lacks(plan, board, Bytes(0)).is_none();
        if !fits {
            return Ok(None);
        }
        let costs = self.costs.get_or_insert_with(|| Remembering::on(board));
        Ok(Some(simulate::predict(plan, board, costs, options)?.end()))
    }

    /// Keeps a plan if it fits and is the best; when it ends, if it fits.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] if nobody waits any more.
    fn tried(
        &mut self,
        made: &Made,
        board: &Board,
        options: &Options,
    ) -> Result<Option<CyclePoint>, PlanError> {
        let Some(end) = self.end(&made.plan, board, options)? else { return Ok(None) };
        Ok(self.consider(made, end, board, options)?.then_some(end))
    }

    /// Keeps a plan that ends then, if flash holds it and it is the best; whether flash does.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] if nobody waits any more.
    fn consider(
        &mut self,
        made: &Made,
        end: CyclePoint,
        board: &Board,
        options: &Options,
    ) -> Result<bool, PlanError> {
        let frames = options.frames.get();
        let sram = |plan: &Plan| match options.objective {
            Objective::Latency => Bytes(0),
            Objective::Memory => plan.space(Space::Arena),
        };
        let known = match self.best.take() {
            Some(best) => {
                let is_of_these = best.frames == frames;
                let end = match is_of_these {
                    true => Some(best.end),
                    false => self.end(&best.made.plan, board, options)?,
                };
                let sram = sram(&best.made.plan);
                self.best = Some(best);
                end.map(|end| (sram, end))
            }
            None => None,
        };
        let fits = made.plan.image_fits(board.plan_bytes());
        if fits && known.is_none_or(|known| (sram(&made.plan), end) < known) {
            let (board, strategy) = (board.id.clone(), Strategy::Auto.name().to_owned());
            let plan = Plan { board, strategy, ..made.plan.clone() };
            let made = Made { recipe: made.recipe.clone(), plan };
            self.best = Some(Best { made, end, frames });
        }
        Ok(fits)
    }

    /// The fastest plan that fits and runs, of those from external memory; else what comes
    /// from the card; else the best in SRAM, which may not fit.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] if nobody waits any more.
    pub fn best(
        self,
        model: &Model,
        board: &Board,
        options: &Options,
    ) -> Result<Planned, PlanError> {
        let Some(Best { made, frames, .. }) = self.best else { return Ok(self.inside) };
        if made.plan == self.inside.plan {
            return Ok(self.inside);
        }
        let frames = frames.try_into().unwrap_or(options.frames);
        let options = &Options { frames, ..options.clone() };
        let comes = made.plan.space(Space::Card).0 > 0;
        let mut planned = described(made, model, board, options, Some(Bytes(0)))?;
        if comes {
            stream::tell_bound(&mut planned, model, board, options);
        }
        Ok(planned)
    }
}

/// The external memory that a plan takes more of than the board has, of flash by more than `spare`; RAM first.
fn lacks(plan: &Plan, board: &Board, spare: Bytes) -> Option<Space> {
    let had = board.tier_bytes();
    [(Space::ExternalRam, 0), (Space::ExternalFlash, spare.0)]
        .into_iter()
        .find(|(space, spare)| plan.space(*space).0 > had[*space as usize].saturating_add(*spare))
        .map(|(space, _)| space)
}

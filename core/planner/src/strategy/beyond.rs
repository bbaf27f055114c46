//! `auto` where SRAM does not hold all activations, or flash not all weights, or where holding them costs
//! time: the fastest of what the external memories allow, else from the card.

use super::external::{self, Placing};
use super::kept_weights::keep;
use super::overlay::{self, Beside, MOST_TURNED, Outputs, Overlaid};
use super::spilled::{First, Spilling};
use super::{Search, Strategy, stream, swap};
use crate::costs::Remembering;
use crate::planning::described;
use crate::recipe::Made;
use crate::{Objective, Options, PlanError, Planned, Stop, simulate};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, LaneKind, Plan, Space};

/// What may be overlaid, and in which part of the budget, in eighths, tiles of inputs and outputs lie.
const OVERLAID: [(Overlaid, u64); 8] = [
    (Overlaid::THESIS, 8),
    (Overlaid::ALL, 8),
    (Overlaid::IN_PARTS, 8),
    (Overlaid::IN_PARTS, 6),
    (Overlaid::IN_PARTS, 4),
    (Overlaid::ALL_IN_PARTS, 8),
    (Overlaid::ALL_IN_PARTS, 6),
    (Overlaid::ALL_IN_PARTS, 4),
];

/// Where activations lie in SRAM as far as they fit: in which part of the budget, in sixteenths, how the
/// rest is divided, and what is overlaid.
const SPILLED: [(u64, Beside, Overlaid); 20] = {
    const ONE: Beside = Beside { filters: 4, apart: 8, early: false, turned: 0 };
    const PHASES: Beside = Beside { filters: 4, apart: 2, early: false, turned: 0 };
    const FILTERS: Beside = Beside { filters: 6, apart: 2, early: false, turned: 0 };
    [
        (14, ONE, Overlaid::ALL_IN_PARTS),
        (14, PHASES, Overlaid::IN_PARTS),
        (14, PHASES, Overlaid::ALL_IN_PARTS),
        (12, ONE, Overlaid::IN_PARTS),
        (12, ONE, Overlaid::ALL_IN_PARTS),
        (12, PHASES, Overlaid::IN_PARTS),
        (12, PHASES, Overlaid::ALL_IN_PARTS),
        (12, FILTERS, Overlaid::ALL_IN_PARTS),
        (10, ONE, Overlaid::IN_PARTS),
        (10, ONE, Overlaid::ALL_IN_PARTS),
        (10, PHASES, Overlaid::IN_PARTS),
        (10, PHASES, Overlaid::ALL_IN_PARTS),
        (10, FILTERS, Overlaid::ALL_IN_PARTS),
        (8, ONE, Overlaid::ALL_IN_PARTS),
        (8, PHASES, Overlaid::IN_PARTS),
        (8, PHASES, Overlaid::ALL_IN_PARTS),
        (8, FILTERS, Overlaid::ALL_IN_PARTS),
        (6, PHASES, Overlaid::ALL_IN_PARTS),
        (6, FILTERS, Overlaid::ALL_IN_PARTS),
        (4, FILTERS, Overlaid::ALL_IN_PARTS),
    ]
};

/// What of the chip's flash, as a part of it, is not given to weights, since steps of other tiles may
/// take more.
const SPARE: u64 = 64;

/// The search, one way after the other: all operands in external memory, what may be overlaid, and
/// last what comes from a card.
pub struct Beyond {
    /// The best in SRAM.
    inside: Planned,
    /// Whether other memories may help.
    is_open: bool,
    /// Whether only what other strategies would plan is tried: SRAM has room for all.
    is_roomy: bool,
    /// Whether weights were laid in what the fastest leaves of SRAM.
    is_filled: bool,
    /// The fastest that fits and runs.
    best: Option<Planned>,
    /// The plan that is overlaid.
    external: Option<Made>,
    /// What leaves SRAM, and what was planned last with the rest in so many bytes of it.
    spilling: Option<Spilling>,
    spilled: Option<(Asked, Option<Made>)>,
    /// Whether weights are more than the chip's flash and the external memories hold together.
    is_too_much: bool,
    costs: Option<Remembering>,
    tried: usize,
    /// The fastest way with activations in SRAM, and those near such ways that were tried.
    fastest: Option<Spilled>,
    near: Vec<Spilled>,
    /// Operators of the fastest that take or give something outside of the chip.
    moving: usize,
}

/// Room for activations and the budget, bytes of flash, whose weights lie there, and whether what can comes
/// back.
type Asked = ([Bytes; 2], (Bytes, First, bool));

/// A way with activations in SRAM as far as they fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spilled {
    first: First,
    /// How much of the budget is used, in parts of [`FINE`].
    used: u64,
    /// How much of that activations take, in such parts.
    room: u64,
    /// Whether activations have all of the budget where nothing is brought.
    back: bool,
    beside: Beside,
    what: Overlaid,
}

/// Parts of the budget that are told apart.
const FINE: u64 = 64;
/// Most ways that are tried near the fastest.
const MOST_NEAR: usize = 120;

impl Spilled {
    /// Ways that differ in one thing; without `weights` outside of the chip not in what is done with them.
    fn near(self, weights: bool, moving: usize) -> Vec<Self> {
        let mut near = Vec::new();
        let [finer, coarser] = [1, 4].map(|step| {
            let moved = [self.room + step, self.room.saturating_sub(step)];
            moved.map(|room| Self { room, ..self })
        });
        near.extend(finer.into_iter().chain(coarser));
        let apart = [0, 1, 2, 4, 8];
        near.extend(apart.map(|apart| Self { beside: Beside { apart, ..self.beside }, ..self }));
        let early = !self.beside.early;
        near.push(Self { beside: Beside { early, ..self.beside }, ..self });
        let outputs = [Outputs::Direct, Outputs::Staged];
        near.extend(
            outputs.map(|outputs| Self { what: Overlaid { outputs, ..self.what }, ..self }),
        );
        if weights {
            let filters = [2, 4, 6];
            near.extend(
                filters.map(|filters| Self { beside: Beside { filters, ..self.beside }, ..self }),
            );
            let parts = [false, true];
            near.extend(parts.map(|parts| Self { what: Overlaid { parts, ..self.what }, ..self }));
        }
        // What a smaller budget would give may be faster.
        let used = [self.used + 2, self.used.saturating_sub(2), self.used.saturating_sub(8)];
        near.extend(used.map(|used| Self { used, ..self }));
        let used = [self.used + 1, self.used.saturating_sub(1), self.used.saturating_sub(4)];
        near.extend(used.map(|used| Self { used, ..self }));
        let room = [self.room + 2, self.room.saturating_sub(2), self.room + 8];
        near.extend(room.map(|room| Self { room, ..self }));
        let turned = (0..moving.min(MOST_TURNED)).map(|bit| self.beside.turned ^ 1 << bit);
        near.extend(turned.map(|turned| Self { beside: Beside { turned, ..self.beside }, ..self }));
        near.push(Self { back: !self.back, ..self });
        let is_one = |way: &Self| (1..FINE).contains(&way.room) && (8..=FINE).contains(&way.used);
        near.retain(is_one);
        near
    }
}

/// A way to plan.
enum Way {
    Together,
    External,
    Overlaid(Overlaid, u64),
    Spilled(Spilled),
    Weights,
    Swapped,
}

impl Beyond {
    /// Begins with the best in SRAM, if that does not fit.
    pub const fn new(inside: Planned) -> Self {
        let is_open = !inside.report.fits && inside.report.runnable;
        Self {
            inside,
            is_open,
            is_roomy: false,
            is_filled: !is_open,
            best: None,
            external: None,
            spilling: None,
            spilled: None,
            is_too_much: false,
            costs: None,
            tried: 0,
            fastest: None,
            near: Vec::new(),
            moving: 0,
        }
    }

    /// Begins with a plan in SRAM that fits, but whose layers wait for flash, or are slowed for want of room.
    pub fn faster_than(inside: Planned, is_slowed: bool) -> Self {
        let best = Some(inside.clone());
        Self { best, is_open: true, is_roomy: !is_slowed, is_filled: false, ..Self::new(inside) }
    }

    /// The ways that a board allows, where there is need of them.
    fn all(&self, board: &Board) -> Vec<Way> {
        let mut ways = Vec::new();
        if !self.is_open {
            return ways;
        }
        let report = &self.inside.report;
        if report.flash_bytes <= report.flash_limit_bytes && !self.is_roomy {
            ways.push(Way::Together);
        }
        if external::obstacle(board).is_none() {
            ways.push(Way::External);
            if overlay::obstacle(board).is_none() {
                let overlaid = OVERLAID.iter().take(if self.is_roomy { 2 } else { OVERLAID.len() });
                ways.extend(overlaid.map(|(what, eighths)| Way::Overlaid(*what, *eighths)));
                let spilled = |first| {
                    SPILLED.map(|(room, beside, what)| {
                        let room = room * (FINE / 16);
                        Way::Spilled(Spilled { first, used: FINE, room, back: false, beside, what })
                    })
                };
                if !self.is_roomy {
                    ways.extend(spilled(First::Smallest));
                }
                if !self.is_roomy && self.flash().0 < u64::MAX {
                    ways.extend(spilled(First::Idlest));
                }
            }
        }
        if swap::obstacle(board).is_none() && board.drives(LaneKind::Card) {
            ways.extend([Way::Weights, Way::Swapped]);
        }
        ways
    }

    /// Ways that were tried, and all.
    pub fn ways(&self, board: &Board) -> [usize; 2] {
        let (near, all) = (self.near.len(), self.all(board).len());
        let [filled, next] = [self.is_filled, self.next_near().is_some()].map(usize::from);
        [self.tried + near + filled, all + near + next + usize::from(self.is_open)]
    }

    /// Whether all ways were tried.
    pub fn is_done(&self, board: &Board) -> bool {
        self.is_filled && self.tried >= self.all(board).len() && self.next_near().is_none()
    }

    /// A way near the fastest that was not tried.
    fn next_near(&self) -> Option<Spilled> {
        let fastest = self.fastest.filter(|_| self.near.len() < MOST_NEAR)?;
        let near = fastest.near(self.flash().0 < u64::MAX, self.moving);
        near.into_iter().find(|way| *way != fastest && !self.near.contains(way))
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
        let way = self.all(board).into_iter().nth(self.tried);
        let near = self.next_near().filter(|_| way.is_none());
        match near {
            Some(way) => self.near.push(way),
            None if way.is_some() => self.tried += 1,
            None => self.is_filled = true,
        }
        let budget = options.arena_on(board);
        match way.or_else(|| near.map(Way::Spilled)) {
            None => self.fill(model, board, options)?,
            Some(Way::Together) => {
                if let Some(plan) = stream::in_image(model, board, options)? {
                    self.consider(plan, model, board, options)?;
                }
            }
            Some(Way::External) => {
                let (found, _) = Placing::new(model)?.found(model)?;
                let external = external::plan(model, board, found)?;
                // Overlaying takes nothing from external memories.
                if lacks(&external.plan, board, Bytes(0)).is_none() {
                    self.external = Some(external.clone());
                    self.consider(external, model, board, options)?;
                }
            }
            Some(Way::Overlaid(what, eighths)) => {
                if let Some(external) = self.external.clone() {
                    let of_tiles = Bytes(budget.0 / 8 * eighths);
                    let (sizes, stop) = ([budget, of_tiles], &options.stop);
                    let plan = overlay::overlay_within(external, board, sizes, what, stop)?;
                    self.consider(plan, model, board, options)?;
                }
            }
            Some(Way::Spilled(..)) if self.is_too_much => {}
            Some(Way::Spilled(way)) => {
                let Spilled { first, used, room, back, beside, what } = way;
                let budget = Bytes(budget.0 / FINE * used);
                let budget = if used == FINE { options.arena_on(board) } else { budget };
                let room = Bytes(budget.0 / FINE * room);
                let mut flash = self.flash();
                // What tables and steps take is known once there is a plan.
                for _ in 0..2 {
                    let asked = ([room, budget], (flash, first, back));
                    let plan = self.spilled(model, board, asked, &options.stop)?;
                    let Some(made) = plan else { break };
                    // Not even if no weights of the chip's flash lay there.
                    if let Some(lacking) = lacks(&made.plan, board, board.plan_bytes()) {
                        self.is_too_much = lacking == Space::ExternalFlash;
                        break;
                    }
                    let moving = overlay::moving(&made.plan);
                    let (how, stop) = ((beside, what), &options.stop);
                    let made = overlay::overlay_beside(made, board, budget, how, stop)?;
                    let limit = board.plan_bytes();
                    let left = limit.0.checked_sub(made.plan.image_bytes().0 + limit.0 / SPARE);
                    if self.consider(made, model, board, options)? {
                        (self.fastest, self.moving) = (Some(way), moving);
                    }
                    let Some(left) = left.filter(|_| flash.0 < u64::MAX) else { break };
                    flash = Bytes(flash.0.saturating_add(left));
                }
            }
            Some(Way::Weights) => {
                let plan = stream::plan(model, board, all)?;
                // Frames that are scheduled together are compared together.
                let is_known = self.best.is_some() && plan.plan.frames() == 1;
                let options = if is_known { options } else { all };
                if self.consider(plan, model, board, options)?
                    && let Some(best) = self.best.as_mut()
                {
                    stream::tell_bound(best, model, board, options);
                }
            }
            Some(Way::Swapped) => {
                let (found, _) = swap::Placing.found(model)?;
                let options = &Options { buffer: None, ..options.clone() };
                let plan = swap::plan(model, board, options, found)?;
                self.consider(plan, model, board, options)?;
            }
        }
        Ok(self.is_done(board))
    }

    /// Lays weights in what the fastest plan leaves of SRAM.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] if nobody waits any more.
    fn fill(&mut self, model: &Model, board: &Board, options: &Options) -> Result<(), PlanError> {
        let Some(best) = self.best.as_ref().filter(|_| options.objective == Objective::Latency)
        else {
            return Ok(());
        };
        let costs = self.costs.get_or_insert_with(|| Remembering::on(board));
        if let Some(kept) = keep(&best.made(), board, costs, options.arena_on(board)) {
            self.consider(kept, model, board, options)?;
        }
        Ok(())
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

    /// The plan with activations in `room` bytes of the budget; the same again is not made anew.
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

    /// Keeps a plan if it fits and is the fastest; whether it is.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] if nobody waits any more.
    fn consider(
        &mut self,
        mut made: Made,
        model: &Model,
        board: &Board,
        options: &Options,
    ) -> Result<bool, PlanError> {
        let plan = &mut made.plan;
        plan.board.clone_from(&board.id);
        Strategy::Auto.name().clone_into(&mut plan.strategy);
        if plan.space(Space::Arena) > options.arena_on(board)
            || lacks(plan, board, Bytes(0)).is_some()
        {
            return Ok(false);
        }
        // Most plans are no faster, so that nothing else need be known of them.
        if let Some(best) = &self.best {
            let costs = self.costs.get_or_insert_with(|| Remembering::on(board));
            let end = |plan: &Plan| {
                Ok::<_, PlanError>(simulate::predict(plan, board, costs, options)?.end())
            };
            let is_of_these = best.report.frames == options.frames.get();
            let known = if is_of_these { best.timeline.end() } else { end(&best.plan)? };
            if end(plan)? >= known {
                return Ok(false);
            }
        }
        let planned = described(made, model, board, options, Some(Bytes(0)))?;
        let fits = planned.report.fits;
        if fits {
            self.best = Some(planned);
        }
        Ok(fits)
    }

    /// The fastest plan that fits and runs, of those from external memory; else what comes
    /// from the card; else the best in SRAM, which may not fit.
    pub fn best(self) -> Planned {
        self.best.unwrap_or(self.inside)
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

/// One of the ways of `auto` beyond SRAM: activations in `room` of the SRAM as far as they fit there,
/// weights in so many bytes of the chip's flash, the others where the board has memory for them; nothing
/// if no placement was found.
///
/// # Errors
/// [`PlanError`] if a tensor cannot be planned, or a node has no kernel.
pub fn spilled(
    model: &Model,
    board: &Board,
    options: &Options,
    (room, flash, first): (Bytes, Bytes, First),
    (beside, overlaid): (Beside, Overlaid),
) -> Result<Option<Planned>, PlanError> {
    let budget = options.arena_on(board);
    let rooms = [room.min(budget), budget];
    let plan =
        Spilling::new(model)?.plan(model, board, rooms, (flash, first, false), &options.stop)?;
    let Some(made) = plan else { return Ok(None) };
    let mut made = overlay::overlay_beside(made, board, budget, (beside, overlaid), &options.stop)?;
    made.plan.board.clone_from(&board.id);
    Strategy::Auto.name().clone_into(&mut made.plan.strategy);
    described(made, model, board, options, Some(Bytes(0))).map(Some)
}

//! `stream`: activations in SRAM, weights from a card, for networks whose activations SRAM holds; of several frames as one program where
//! external RAM holds them ([`frames`]).
//!
//! * Weights are read once, in the order of their use. Filters larger than a share of what the
//!   activations leave come in parts, some output channels each, which end at sectors where they can.
//! * Each part lies where there is room for it earliest, and its copy begins when the last step is over
//!   that used these bytes: so weights come as far ahead as SRAM has room, across the borders of layers.
//! * Layers share bytes with what they read, and convolutions are computed with the pools behind them,
//!   only where activations would not fit. What is made in rows has its weights at once.
//! * Where that does not help, layers form depth-first groups ([`depth_first`](crate::schedule::depth_first)): a line
//!   buffer holds some rows of what lies between them. Their weights stay meanwhile, or come again with each step.
//!   Where SRAM does not even hold those, several groups follow each other. What lies at their borders lies in external RAM, if
//!   there is any, else on the card; and so does the frame, if nothing fits otherwise.
//! * The frame arrives on the console. Biases, multipliers and tables stay in the plan image, and the
//!   weights of the smallest layers too, if it has no room for all and that is faster or nothing else fits.
//!
//! How much activations may take, and how large parts are, is what is predicted to be fastest.

mod arrange;
pub mod bound;
mod cut;
mod frames;
mod groups;
mod in_image;

pub use in_image::{Keep, in_image};

use std::num::NonZeroU32;

use crate::costs::CostCache;
use crate::lower::{self, Layer};
use crate::recipe::Made;
use crate::schedule::work::{Flow, Work};
use crate::schedule::{Layout, Schedule};
use crate::simulate::{Direction, Transfers};
use crate::strategy::{Brings, Technique, merit, sizes, swap};
use crate::{Integrity, Objective, Options, PlanError, simulate};
use arrange::Arranging;
use tilewright_board::Board;
use tilewright_model::{Model, Node, Op, Tensor, Window};
use tilewright_plan::{Bytes, CyclePoint, Cycles, Plan, Space};
use tilewright_report::Timeline;

use crate::schedule::depth_first::DepthFirstGroup;
use crate::schedule::operator::Operator;
use crate::schedule::operator::SECTOR;
use crate::static_layout::StaticLayout;
use cut::{Ways, groups, groups_in};
use frames::Lowered;
use groups::{Choice, Times};

/// The strategy.
pub const TECHNIQUE: Technique = Technique {
    brings_weights: Brings::From(Space::Card),
    name: "stream",
    write: |asked, _| {
        let options = Options { objective: Objective::Latency, ..asked.options.clone() };
        at_a_size(asked.model, asked.board, &options)
    },
    tell: |planned, asked| bound::tell(planned, asked.model, asked.board, asked.options),
    joins_frames: true,
    ..swap::TECHNIQUE
};

/// Parts of the budget, in sixteenths, that activations may take.
const ROOMS: [u64; 5] = [16, 14, 12, 10, 8];
/// Into how many parts what activations leave is divided: weights come in such parts. Of layers that compute
/// longer than their weights take, and of those that make one pixel and wait for the card, whose parts
/// had better be few.
const SHARES: [[u64; 2]; 7] = [[2, 2], [3, 2], [4, 2], [6, 2], [8, 2], [4, 3], [6, 4]];
/// The same with depth-first groups.
const FEW_SHARES: [[u64; 2]; 2] = [[2, 2], [4, 2]];
/// Eighths of what activations leave that weights of such layers may take which stay.
const KEPT: [u64; 3] = [8, 4, 0];
/// More steps than this of such layers take long to simulate: then only the first shares are tried, and
/// not that nothing stays.
const MANY_TASKS: usize = 1500;
/// Most bytes of activations on the card: addresses have 32 bits, and weights lie there too.
const MOST_ON_CARD: u64 = 1 << 30;
/// Of the ways for layers to be fused whether any are.
const FUSED: [bool; 3] = [false, true, true];
/// Most copies of a plan: more would take long to place.
const MOST_LOADS: usize = 10_000;
/// The same where nothing else fits: of networks of which SRAM holds few rows, weights come with each of these.
const MOST_LOADS_AT_LAST: usize = 100_000;

/// How many tasks ahead copies come where little room is left, which those that come early may divide.
const AHEAD: [u32; 4] = [u32::MAX, 16, 1, 0];

/// Of the plan that takes least SRAM, which tells how much would do, more copies than this come few tasks
/// ahead: each place is looked for among all that are taken.
const MANY_LOADS: usize = 1_000;
/// Most bytes of all activations of networks for which the least SRAM with borders on the card is looked for.
const SMALL: usize = 4 << 20;
const FEW_AHEAD: u32 = 16;

/// The plan in the largest of the [sizes] that a budget holds, so that `auto` finds it with every larger budget; if it does
/// not fit that, in all of the budget.
fn at_a_size(model: &Model, board: &Board, options: &Options) -> Result<Made, PlanError> {
    let budget = options.arena_on(board);
    let size = sizes::within(budget, board).next();
    if let Some(size) = size.filter(|size| *size < budget) {
        let made = plan(model, board, &Options { sram: Some(size), ..options.clone() })?;
        if made.plan.space(Space::Arena) <= size {
            return Ok(made);
        }
    }
    plan(model, board, options)
}

/// The plan of a model whose layers' weights lie on the card.
///
/// # Errors
/// [`PlanError`] names the node that no kernel runs as it is.
pub fn plan(model: &Model, board: &Board, options: &Options) -> Result<Made, PlanError> {
    let found = faster(model, board, options, None)?;
    found.ok_or_else(|| PlanError::Order("the model has no layers".to_owned()))
}

/// The same if it is worth making: nothing of which its lanes tell that it does not end before `limit`.
///
/// # Errors
/// As [`plan`].
pub fn faster(
    model: &Model,
    board: &Board,
    options: &Options,
    limit: Option<CyclePoint>,
) -> Result<Option<Made>, PlanError> {
    let several = frames::plan(model, board, options)?;
    let mut search = Search { limit, ..Search::new(board, options) };
    if let Some(made) = search.all_ways(model)? {
        return Ok(Some(made));
    }
    if let Some((end, made)) = several {
        let alone = search.fastest.as_ref().filter(|found| !found.is_large());
        let frames = options.frames.get();
        let all = end.0.saturating_mul(made.plan.runs(frames).into());
        let each = match alone {
            Some(found) => search.run(&found.made.plan, 1)?.end().0,
            None => u64::MAX,
        };
        if all < each.saturating_mul(frames.into()) {
            return Ok(Some(made));
        }
    }
    // What does not fit says how much would.
    if search.fastest.is_none() && limit.is_none() {
        let outside = search.outside();
        search.less_depth_first(model, outside)?;
    }
    Ok(search.fastest.map(|found| found.made).or(search.least))
}

/// What lies outside of SRAM where several depth-first groups follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outside {
    /// Nothing more than with one group.
    Nothing,
    /// What lies at the borders of groups.
    Between,
    /// The frame too.
    Frame,
}

/// Whether a plan is too large for flash; what it writes to the card, where wear is the objective; and when it ends.
type Key = (bool, Bytes, CyclePoint);

/// A plan, and how it was made.
struct Found {
    /// What is made least.
    key: Key,
    made: Made,
    /// The plan with one step a layer.
    lowered: Plan,
    depth_first: Vec<DepthFirstGroup>,
    ways: Ways,
}

impl Found {
    const fn is_large(&self) -> bool {
        self.key.0
    }

    /// Whether activations at borders of groups lie on a card.
    fn has_borders(&self) -> bool {
        self.depth_first.iter().any(|group| group.staged > 0)
    }
}

/// What was found so far.
struct Search<'b> {
    board: &'b Board,
    options: &'b Options,
    costs: CostCache,
    budget: u64,
    /// Of what fits SRAM the fastest, or for least wear that which writes least, if it can be what fits flash.
    fastest: Option<Found>,
    /// Whether something fits without depth-first groups.
    fits_alone: bool,
    /// What needs least SRAM.
    least: Option<Made>,
    /// Whether any plan that fits will do.
    is_any_enough: bool,
    /// Whether nothing else fits than what is tried now.
    is_last: bool,
    /// Frames that are planned as one program, of few by which ways are compared.
    line: Option<u32>,
    /// What does not end before that is not worth planning.
    limit: Option<CyclePoint>,
    /// Whether something was not for that reason.
    is_limited: bool,
}

impl<'b> Search<'b> {
    fn new(board: &'b Board, options: &'b Options) -> Self {
        Self {
            board,
            options,
            costs: CostCache::on(board),
            budget: options.arena_on(board).0,
            fastest: None,
            fits_alone: false,
            least: None,
            is_any_enough: false,
            is_last: false,
            line: None,
            limit: None,
            is_limited: false,
        }
    }

    /// Bytes of external RAM that tensors may lie in.
    fn external(&self) -> u64 {
        let Self { board, .. } = self;
        let is_allowed = board.serves(Space::ExternalRam) && !self.options.is_inside;
        let served = board.external(Space::ExternalRam).filter(|_| is_allowed);
        served.map_or(0, |memory| memory.bytes.0)
    }

    /// Bytes outside of SRAM that tensors may lie in: of external RAM, else of the card.
    fn outside(&self) -> u64 {
        match self.external() {
            0 => MOST_ON_CARD,
            external => external,
        }
    }

    /// Tries all ways of a model, where nothing fits with borders outside of SRAM too, and with the frame outside of SRAM; a plan without
    /// program if some layer has no kernel.
    fn all_ways(&mut self, model: &Model) -> Result<Option<Made>, PlanError> {
        for how in [Outside::Nothing, Outside::Between, Outside::Frame] {
            self.is_last = how == Outside::Frame;
            let made = self.ways_of(model, how)?;
            let found = self.fastest.as_ref().filter(|found| !found.is_large());
            // Borders on a card may be chosen by time too.
            let is_done = |found: &Found| how != Outside::Nothing || !found.has_borders();
            if made.is_some() || found.is_some_and(is_done) || self.is_limited {
                return Ok(made);
            }
        }
        Ok(None)
    }

    fn ways_of(&mut self, model: &Model, how: Outside) -> Result<Option<Made>, PlanError> {
        let sizes = [self.budget, self.outside()];
        for (layers, is_fused) in ways(model, self.budget)?.into_iter().zip(FUSED) {
            // What tables and constants take besides is known once there is a plan.
            let mut flash = Some(0);
            while let Some(bytes) = flash.take() {
                let integrity = self.options.integrity;
                let mut arranging =
                    Arranging::new(model, self.board, layers.clone(), bytes, integrity)?;
                if self.is_last {
                    arranging = arranging.in_little(self.budget);
                }
                let shares = if how == Outside::Nothing { &SHARES[..] } else { &[] };
                self.way(&arranging, shares)?;
                let (static_layout, lowered) = arranging.least()?;
                if self.fastest.is_none() && self.limit.is_none() {
                    let made = self.smallest(&static_layout, &lowered)?;
                    let arena = |made: &Made| made.plan.space(Space::Arena);
                    if self.least.as_ref().is_none_or(|least| arena(&made) < arena(least)) {
                        self.least = Some(made);
                    }
                }
                if lowered.main.is_none() {
                    return Ok(Some(Made::whole(static_layout, lowered)));
                }
                let is_tried = is_fused && self.fastest.is_some();
                if !self.fits_alone && !is_tried {
                    let ways = match how {
                        Outside::Nothing => {
                            let (limit, mut is_limited) = (self.limit(), false);
                            let costs = (self.board, &self.costs);
                            let mut is_worth = |least: Cycles| {
                                let is = limit.is_none_or(|limit| least < limit);
                                is_limited |= !is;
                                is
                            };
                            let ways = groups::ways(&arranging, sizes, costs, &mut is_worth)?;
                            self.is_limited |= is_limited;
                            ways
                        }
                        Outside::Between => self.bordered(&arranging, sizes, false)?,
                        Outside::Frame => self.bordered(&arranging, sizes, true)?,
                    };
                    for depth_first in ways {
                        self.way(&arranging.clone().with(depth_first), &FEW_SHARES)?;
                    }
                }
                // Steps of several frames take the room of weights.
                let eighths = if self.line.is_none() { 7 } else { 4 };
                if bytes == 0 && (self.line.is_none() || self.fastest.is_none()) {
                    let left = (self.board.plan_bytes() - lowered.image_bytes()).0 / 8 * eighths;
                    flash =
                        Some(left).filter(|left| (1..lowered.space(Space::Card).0).contains(left));
                }
            }
        }
        Ok(None)
    }

    /// The ways to choose depth-first groups with borders outside of SRAM: of few copies, and on a card of little time.
    fn bordered(
        &self,
        arranging: &Arranging<'_>,
        sizes: [u64; 2],
        takes: bool,
    ) -> Result<Vec<Vec<DepthFirstGroup>>, PlanError> {
        if takes && self.external() > 0 {
            return Ok(Vec::new());
        }
        let mut ways = Vec::new();
        if !takes {
            let counted = Choice { takes, times: None };
            ways = groups::bordered(arranging, sizes, counted)?;
        }
        let card = self.options.card_in(self.board);
        if let Some(card) = card.filter(|_| self.external() == 0) {
            let Self { board, costs, .. } = self;
            let transfers = Transfers::new(board, Some(&card));
            let times = Times { board, costs, transfers };
            let timed = Choice { takes, times: Some(&times) };
            ways.extend(groups::bordered(arranging, sizes, timed)?);
        }
        Ok(ways)
    }

    /// Tries ways to lay out activations and to cut weights.
    fn way(&mut self, arranging: &Arranging<'_>, shares: &[[u64; 2]]) -> Result<(), PlanError> {
        let budget = self.budget;
        let depth_first = arranging.depth_first();
        let kept = if depth_first.is_empty() { &KEPT[..1] } else { &KEPT };
        let mut height = None;
        for room in ROOMS.map(|sixteenths| budget / 16 * sixteenths) {
            // With less room the same would be found.
            if height.is_some_and(|height| height <= room) {
                continue;
            }
            let Some((static_layout, lowered)) = arranging.within(room, budget)? else { break };
            // Where nothing comes, what is left is of no use.
            let comes = lowered.space(Space::Card).0 > 0;
            height = Some(if comes { lowered.space(Space::Arena).0 } else { 0 });
            let kept = if comes { kept } else { &KEPT[..1] };
            let operators = Operator::of(&lowered);
            for (shares, kept) in shares.iter().flat_map(|s| kept.iter().map(move |k| (*s, *k))) {
                let ways = Ways { budget, shares, kept };
                let groups = groups_in(&lowered, &operators, depth_first, ways, self.is_sealed());
                let layout = Layout::Gaps { sram: budget, ahead: u32::MAX };
                let mut schedule = Schedule { groups, layout, frames: None };
                let work = schedule.work(&lowered, &operators);
                let is_tried = is_first((shares, kept), self.is_last);
                if !depth_first.is_empty() && work.tasks.len() > MANY_TASKS && !is_tried {
                    continue;
                }
                if self.is_too_slow(&lowered, &work) {
                    continue;
                }
                let most = if self.is_last { MOST_LOADS_AT_LAST } else { MOST_LOADS };
                let few = work.residences.len() <= most;
                let (board, stop) = (self.board, &self.options.stop);
                let mut plan = None;
                let aheads = if self.is_last { &AHEAD[..] } else { &AHEAD[..1] };
                for ahead in aheads.iter().filter(|_| few) {
                    schedule.layout = Layout::Gaps { sram: budget, ahead: *ahead };
                    plan = schedule.plan(&lowered, &work, board, stop)?;
                    if plan.is_some() {
                        break;
                    }
                }
                if let Some(plan) = plan {
                    let fits = self.consider(
                        &static_layout,
                        (schedule, plan),
                        (&lowered, depth_first, ways),
                    )?;
                    self.fits_alone |= depth_first.is_empty() && fits;
                }
                if self.is_enough() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Looks for a budget below what is needed otherwise that is enough with depth-first groups; the plan is said to
    /// take all of it.
    fn less_depth_first(&mut self, model: &Model, outside: u64) -> Result<(), PlanError> {
        let arranging =
            Arranging::new(model, self.board, lower::layers(model), 0, self.options.integrity)?;
        let most = self.least.as_ref().map_or(0, |least| least.plan.space(Space::Arena).0);
        let activations = model.tensors.iter().filter(|tensor| !tensor.is_constant());
        let bytes: usize = activations.filter_map(Tensor::bytes).sum();
        let is_small = bytes <= SMALL;
        let (mut short, mut enough) = (self.budget, most);
        while enough > short + SECTOR.max(enough / 32) {
            let budget = (short + (enough - short) / 2).next_multiple_of(SECTOR);
            if budget >= enough {
                break;
            }
            let new = Search::new(self.board, self.options);
            let mut search = Search { budget, is_any_enough: true, ..new };
            let sizes = [budget, outside];
            let costs = (self.board, &self.costs);
            let whole = groups::ways(&arranging, sizes, costs, &mut |_| true)?;
            let little = arranging.clone().in_little(budget);
            let (between, frame) = match is_small {
                true => {
                    let between = search.bordered(&arranging, sizes, false)?;
                    (between, search.bordered(&little, sizes, true)?)
                }
                // Borders on the card take long to choose for each budget.
                false => (Vec::new(), Vec::new()),
            };
            let first = whole.len() + between.len();
            let ways = whole.into_iter().chain(between).chain(frame);
            for (number, depth_first) in ways.enumerate() {
                search.is_last = number >= first;
                let arranging = if search.is_last { &little } else { &arranging };
                search.way(&arranging.clone().with(depth_first), &FEW_SHARES)?;
                if search.is_enough() {
                    break;
                }
            }
            match search.fastest.filter(|found| !found.is_large()) {
                Some(Found { mut made, .. }) => {
                    made.plan.space_bytes[Space::Arena as usize] = Bytes(budget);
                    self.least = Some(made);
                    enough = budget;
                }
                None => short = budget,
            }
        }
        Ok(())
    }

    /// Whether no more need be tried.
    fn is_enough(&self) -> bool {
        self.is_any_enough && self.fastest.as_ref().is_some_and(|found| !found.is_large())
    }

    /// Whether parts are encrypted, each by itself.
    fn is_sealed(&self) -> bool {
        self.options.integrity == Integrity::Sealed
    }

    /// Whether what the core computes alone, or the card reads, takes as long as the fastest plan, wherever loads lie.
    fn is_too_slow(&mut self, lowered: &Plan, work: &Work) -> bool {
        if self.line.is_some() || self.fastest.is_none() && self.limit.is_none() {
            return false;
        }
        let steps = work.tasks.iter().filter_map(|task| {
            let op = lowered.ops.get(task.op as usize)?;
            Some(((op, &task.tiny.tile, task.tiny.views.as_slice()), task.order))
        });
        let core = self.costs.least(self.board, steps);
        let card = self.options.card_in(self.board);
        let transfers = Transfers::new(self.board, card.as_ref());
        let come = work.residences.iter().filter(|residence| {
            residence.home.space == Space::Card && matches!(residence.flow, Flow::Comes { .. })
        });
        let read = |bytes: u64| transfers.command(bytes, Direction::Read).0;
        let reads = match transfers.open_reads() {
            true => read(come.map(|residence| residence.bytes).sum()),
            false => come.map(|residence| read(residence.bytes)).sum(),
        };
        let end = CyclePoint::default() + core.max(Cycles(reads));
        let is_limited = self.limit.is_some_and(|limit| limit <= end);
        self.is_limited |= is_limited;
        is_limited || self.fastest.as_ref().is_some_and(|best| best.key <= (false, Bytes(0), end))
    }

    /// What the core computes in plans that are not worth planning.
    fn limit(&self) -> Option<Cycles> {
        let limit = self.limit.filter(|_| self.line.is_none())?;
        Some(limit.since(CyclePoint::default()))
    }

    /// The run of so many frames of a plan.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] if nobody waits any more.
    fn run(&self, plan: &Plan, frames: u32) -> Result<Timeline, PlanError> {
        let Self { board, costs, .. } = self;
        let frames = NonZeroU32::new(frames).unwrap_or(NonZeroU32::MIN);
        let options = Options { frames, ..self.options.clone() };
        simulate::predict(plan, board, costs, &options)
    }

    /// Keeps a plan if it is the fastest; whether it is known to fit flash, which is not looked at where
    /// others are that are faster.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] if nobody waits any more.
    fn consider(
        &mut self,
        static_layout: &StaticLayout,
        (schedule, plan): (Schedule, Plan),
        (lowered, depth_first, ways): Lowered<'_>,
    ) -> Result<bool, PlanError> {
        let board = self.board;
        let several = match self.line {
            None => None,
            Some(frames) => {
                let all = (lowered, depth_first, ways);
                let several = self.several(all, [frames; 2], ways.shares[0])?;
                let Some((_, plan)) = several else { return Ok(false) };
                Some((plan, frames))
            }
        };
        let (timed, frames) = several.as_ref().map_or((&plan, 1), |(plan, frames)| (plan, *frames));
        let run = self.run(timed, frames)?;
        let written = merit::written(timed, &run, self.options.objective).unwrap_or_default();
        let best = self.fastest.as_ref().map(|best| best.key);
        if best.is_some_and(|best| best <= (false, written, run.end())) {
            return Ok(false);
        }
        let is_large = timed.image_bytes() > board.plan_bytes();
        let key = (is_large, written, run.end());
        if best.is_none_or(|best| key < best) {
            let made = Made::scheduled(static_layout.clone(), schedule, plan);
            let (lowered, depth_first) = (lowered.clone(), depth_first.to_vec());
            self.fastest = Some(Found { key, made, lowered, depth_first, ways });
        }
        Ok(!is_large)
    }

    /// The plan that takes least SRAM, one part after the other.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] if nobody waits any more.
    fn smallest(&self, static_layout: &StaticLayout, lowered: &Plan) -> Result<Made, PlanError> {
        let Self { budget, board, options, .. } = *self;
        let height = lowered.space(Space::Arena).0;
        let operators = Operator::of(lowered);
        let part = |_: &Operator<'_>| (budget / 16).max(SECTOR);
        let groups = groups(&operators, &[], self.is_sealed(), [&part, &|_| 0]);
        let layout = Layout::Gaps { sram: 0, ahead: u32::MAX };
        let mut schedule = Schedule { groups, layout, frames: None };
        let work = schedule.work(lowered, &operators);
        let sram = height.next_multiple_of(SECTOR) + work.most_at_once();
        let ahead = if work.residences.len() > MANY_LOADS { FEW_AHEAD } else { u32::MAX };
        schedule.layout = Layout::Gaps { sram, ahead };
        Ok(match schedule.plan(lowered, &work, board, &options.stop)? {
            Some(plan) => Made::scheduled(static_layout.clone(), schedule, plan),
            None => Made::whole(static_layout.clone(), lowered.clone()),
        })
    }
}

/// Whether weights of many steps are tried to come so: that none stay only where nothing else fits.
fn is_first((shares, kept): ([u64; 2], u64), is_last: bool) -> bool {
    shares == FEW_SHARES[0] && (kept > 0 || is_last)
}

/// The layers of a model: as they are; with those convolutions computed with their pools whose operands do
/// not fit SRAM otherwise; and with all of them.
fn ways(model: &Model, budget: u64) -> Result<Vec<Vec<Layer>>, PlanError> {
    let is_one = |node: &Node| matches!(node.op, Op::Conv { groups: 1, .. });
    let bytes = |node: &Node| -> u64 {
        let constant = |id: &&tilewright_model::TensorId| !model.tensor(**id).is_constant();
        let ids = node.inputs.iter().filter(constant).chain(&node.outputs);
        ids.map(|id| model.tensor(*id).shape.elements().unwrap_or(usize::MAX) as u64).sum()
    };
    let is_large = |node: &Node, _: &Window| is_one(node) && bytes(node) > budget / 8 * 7;
    let given = lower::layers(model);
    let mut ways = vec![given.clone()];
    for fused in [
        lower::fuse_pools_where(model, given.clone(), is_large),
        lower::fuse_pools_where(model, given, |node, _| is_one(node)),
    ] {
        if ways.iter().all(|way| way.len() != fused.len()) {
            ways.push(fused);
        }
    }
    Ok(ways)
}

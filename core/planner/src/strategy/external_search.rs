//! The search over plans with external memory: `auto` where SRAM does not hold all activations, or flash not all
//! weights, or where holding them costs time. It takes the fastest of what the
//! external memories allow, else from the card.
//!
//! Memory has [sizes] that do not depend on the budget. How SRAM is [divided](division) is searched for each
//! size below the budget by itself, so that a plan which fits less is found with more, too.
//!
//! Sizes are sixteen an octave. Bounds of core and card refuse what cannot be the fastest; weights stay in what the fastest leaves.

mod contest;
mod dividing;
mod division;

use super::alternatives::Alternatives;
use super::auto::LEAST;
use super::external::{self, Placing};
use super::merit::Judged;
use super::overlay::{self, Overlaid};
use super::{Asked, Search, sizes, stream, swap};
use crate::costs::CostCache;
use crate::planning::described;
use crate::recipe::Made;
use crate::{Objective, Options, PlanError, Planned};
use contest::{Best, Contest, of_auto, too_small};
use dividing::{Divider, Dividing};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, CyclePoint, LaneKind, Space};

/// What of all operands outside may be overlaid.
const OVERLAID: [Overlaid; 4] =
    [Overlaid::THESIS, Overlaid::ALL, Overlaid::IN_PARTS, Overlaid::ALL_IN_PARTS];

/// How much is tried.
struct Effort {
    /// Sizes that are divided.
    sizes: usize,
    /// Behind so many sizes in a row that are far from the best no smaller ones are divided.
    far: usize,
    /// How much slower than the best, as a part of it, what is not far may be.
    close: u64,
    /// Whether smaller sizes are planned than those that fit, and the least memory is looked for among all, not by
    /// halving what lies between a size that does not do and one that does.
    is_fine: bool,
}

/// For networks whose plans take little time, and for others.
const THOROUGH: Effort = Effort { sizes: 32, far: 8, close: 8, is_fine: true };
const QUICK: Effort = Effort { sizes: 4, far: 2, close: 32, is_fine: false };
/// Most layers and MACs of the former.
const FEW_LAYERS: usize = 40;
const FEW_MACS: u64 = 50_000_000;
/// Smaller sizes that are tried of one method behind the last that was better, of networks with few MACs: half of them of
/// those with many layers where external RAM is tried too. And for the least memory.
const SMALLER: usize = 4;
const MOST_SIZES: usize = 64;

/// The search, one way after the other: all operands in external memory, what may be overlaid, and
/// last what comes from a card.
pub struct ExternalSearch {
    /// The best in SRAM.
    inside: Planned,
    /// Whether no memory outside of the chip is used.
    is_inside: bool,
    effort: Effort,
    /// Smaller sizes that are tried of one method behind the last that was better.
    smaller: usize,
    /// The ways that are yet to be tried, the next one last.
    ways: Vec<Way>,
    /// Ways that were tried.
    tried: usize,
    contest: Contest,
    /// The plan that is overlaid.
    external: Option<Made>,
    divider: Divider,
    /// What plans with weights from the card do not go below, once it is asked for.
    streamed: Option<stream::bound::Bound>,
    /// Where nothing fits, what needs less than the best in SRAM.
    least: Option<Made>,
    /// Sizes in a row whose fastest division is far from the best, or that have none.
    far: usize,
}

/// A way to plan.
enum Way {
    /// Depth-first groups, weights in the chip's flash, of all sizes.
    DepthFirst,
    External,
    Divided(Dividing),
    AtSize(AtSize),
    Filled,
    /// Where nothing fits: what needs least.
    Least,
}

impl Way {
    /// The technique of its plans; nothing: that of the best.
    const fn technique(&self) -> Option<&'static str> {
        Some(match self {
            Self::DepthFirst => "depth-first groups, weights in flash",
            Self::External => "operands used in external memories",
            Self::Divided(_) => "activations in SRAM and outside, tiles brought to SRAM",
            Self::AtSize(AtSize { method, .. }) => match method {
                Method::Overlaid(_) => "all outside, tiles brought to SRAM",
                Method::Streamed => "weights from the card",
                Method::Swapped => "all from the card",
            },
            Self::Filled | Self::Least => return None,
        })
    }
}

/// What is planned for a size, and for the next smaller ones as long as that is about as fast, or fits at all.
#[derive(Clone, Copy)]
struct AtSize {
    method: Method,
    sram: Bytes,
    /// How many smaller sizes are left.
    left: usize,
    /// Where the least memory of a large network is looked for: between a size that did not do and one that did.
    between: Option<[Bytes; 2]>,
}

impl AtSize {
    /// The size in the middle between one that does not do and one that does; nothing if they are close.
    fn halved(self, [fails, does]: [Bytes; 2]) -> Option<Self> {
        let left = self.left.checked_sub(1)?;
        let apart = does.0.saturating_sub(fails.0);
        let between = Some([fails, does]);
        let sram = Bytes(fails.0 + apart / 2);
        (apart > does.0 / 8).then_some(Self { sram, left, between, ..self })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    /// All operands outside, with what of them is overlaid.
    Overlaid(Overlaid),
    /// Weights come from a card.
    Streamed,
    /// All comes from a card.
    Swapped,
}

/// The plan of the least arena of those that are planned, whether or not they fit.
struct Least {
    most: Bytes,
    made: Option<Made>,
}

impl stream::Keep for Least {
    fn keep(&mut self, made: &Made) -> Result<(), PlanError> {
        let arena = made.plan.space(Space::Arena);
        if arena < self.most {
            (self.most, self.made) = (arena, Some(made.clone()));
        }
        Ok(())
    }

    fn limit(&self) -> Option<CyclePoint> {
        None
    }

    fn most(&self) -> Option<Bytes> {
        Some(self.most)
    }
}

/// What there is need of beyond SRAM.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    /// Nothing: the plan in SRAM is as good as any, or nothing would run.
    Nothing,
    /// What other strategies would plan: SRAM has room for all.
    Others,
    /// All ways.
    All,
}

impl ExternalSearch {
    /// Begins with the best in SRAM, if that does not fit.
    pub fn new(inside: Planned, board: &Board, options: &Options) -> Self {
        let is_needed = !inside.report.fits && inside.report.runnable;
        let need = if is_needed { Need::All } else { Need::Nothing };
        Self::with(inside, None, need, (board, options))
    }

    /// Begins with a plan in SRAM that fits, but whose layers wait for flash, or are slowed for want of room.
    pub fn faster_than(inside: Planned, is_slowed: bool, board: &Board, options: &Options) -> Self {
        let judged = Judged::told(&inside, board, options);
        let first = inside.report.alternatives.first();
        let technique = first.map_or(LEAST, |chosen| &chosen.technique).to_owned();
        let best = Best { technique, made: inside.made(), judged, frames: inside.report.frames };
        let need = if is_slowed { Need::All } else { Need::Others };
        Self::with(inside, Some(best), need, (board, options))
    }

    /// Begins with a plan in SRAM that fits, to find one there that takes less.
    pub fn smaller_than(inside: Planned, board: &Board, options: &Options) -> Self {
        let is_inside = &Options { is_inside: true, ..options.clone() };
        Self::faster_than(inside, true, board, is_inside)
    }

    fn with(
        inside: Planned,
        best: Option<Best>,
        need: Need,
        (board, options): (&Board, &Options),
    ) -> Self {
        let report = &inside.report;
        let is_large = report.layers.len() > FEW_LAYERS || report.macs > FEW_MACS.into();
        let effort = if is_large { QUICK } else { THOROUGH };
        let alternatives = Alternatives::of(&inside, LEAST, board, options);
        let smaller = match options.objective {
            Objective::Memory => MOST_SIZES,
            _ if report.macs > FEW_MACS.into() => 0,
            _ if is_large && external::missing(board).is_none() => SMALLER / 2,
            _ => SMALLER,
        };
        let mut search = Self {
            smaller,
            is_inside: options.is_inside,
            ways: Vec::new(),
            tried: 0,
            contest: Contest::new(board, best, alternatives),
            external: None,
            divider: Divider::new(&inside, effort.close),
            streamed: None,
            least: None,
            far: 0,
            effort,
            inside,
        };
        if need != Need::Nothing {
            search.ways = search.all(need, board, options);
            search.ways.reverse();
        }
        search
    }

    /// The ways that a board allows.
    fn all(&self, need: Need, board: &Board, options: &Options) -> Vec<Way> {
        let mut ways = Vec::new();
        let is_least = options.objective == Objective::Memory;
        let sram = match self.contest.best() {
            Some(best) if is_least => Bytes(best.made.plan.space(Space::Arena).0.saturating_sub(1)),
            _ => options.arena_on(board),
        };
        let smaller = self.smaller;
        let at_size = |method| Way::AtSize(AtSize { method, sram, left: smaller, between: None });
        let report = &self.inside.report;
        if report.flash_bytes <= report.flash_limit_bytes && need == Need::All {
            ways.push(Way::DepthFirst);
        }
        if !self.is_inside {
            if external::missing(board).is_none() {
                ways.push(Way::External);
            }
            // What lies outside takes nothing of SRAM.
            if overlay::missing(board).is_none() && !is_least {
                let published = if need == Need::All { OVERLAID.len() } else { 2 };
                let overlaid = OVERLAID.into_iter().take(published);
                ways.extend(overlaid.map(|what| at_size(Method::Overlaid(what))));
                let sizes = sizes::within(sram, board);
                let divided = if need == Need::All { self.effort.sizes } else { 0 };
                let sizes = sizes.take(divided);
                ways.extend(sizes.map(|sram| Way::Divided(Dividing::of(sram, &self.divider))));
            }
            if swap::missing(board).is_none() && board.drives(LaneKind::Card) {
                let sram = match is_least {
                    true => sram,
                    false => sizes::within(sram, board).next().unwrap_or(sram),
                };
                let (method, between) = (Method::Streamed, None);
                ways.push(Way::AtSize(AtSize { method, sram, left: smaller, between }));
                let left = if is_least { MOST_SIZES } else { 0 };
                let (method, between) = (Method::Swapped, None);
                ways.push(Way::AtSize(AtSize { method, sram, left, between }));
            }
        }
        ways.push(Way::Filled);
        if need == Need::All {
            ways.push(Way::Least);
        }
        ways
    }

    /// Ways that were tried, and all.
    pub fn ways(&self) -> [usize; 2] {
        [self.tried, self.tried + self.ways.len()]
    }

    /// Whether what computes more may be worth it: SRAM does not hold the plan that all began with, or time is what
    /// matters.
    pub fn is_beyond(&self, options: &Options) -> bool {
        let is_wanted = options.objective != Objective::Memory || !self.inside.report.fits;
        self.tried > 0 && is_wanted
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
        let asked = &Asked { model, board, options };
        if let Some(technique) = way.technique() {
            self.contest.try_technique(technique);
        }
        match way {
            Way::DepthFirst => {
                let budget = options.arena_on(board);
                let sizes = sizes::around(budget, board);
                let is_inside = options.is_inside || self.is_inside;
                let options = &Options { is_inside, ..options.clone() };
                let asked = &Asked { options, ..*asked };
                stream::in_image(asked, sizes, &mut self.contest.keeping(asked))?;
            }
            Way::External => {
                let (found, _) = Placing::new(model)?.found(model)?;
                let external = external::plan(model, board, found)?;
                // Overlaying takes nothing from external memories.
                if too_small(&external.plan, board, Bytes(0)).is_none() {
                    self.contest.tried(&external, asked)?;
                    self.contest.fill(&external, asked)?;
                    self.external = Some(external);
                }
            }
            Way::Divided(mut dividing) => {
                if let Some(division) = dividing.next(&self.divider, &self.contest) {
                    self.divider.divide(division, &mut dividing, &mut self.contest, asked)?;
                    self.ways.push(Way::Divided(dividing));
                    return Ok(false);
                }
                self.divided(&dividing, asked)?;
            }
            Way::AtSize(at_size) => {
                if let Some(next) = self.at_size(at_size, all, asked)? {
                    self.ways.push(Way::AtSize(next));
                    return Ok(false);
                }
            }
            Way::Filled => {
                if let Some(best) = self.contest.best().cloned() {
                    self.contest.try_technique(&best.technique);
                    self.contest.fill(&best.made, asked)?;
                }
            }
            Way::Least if self.contest.best().is_none() => {
                let mut least = Least { most: *self.inside.report.peak_sram_bytes, made: None };
                let budget = options.arena_on(board);
                let sizes = sizes::below(least.most).take_while(|size| *size > budget);
                if self.inside.report.flash_bytes <= self.inside.report.flash_limit_bytes {
                    stream::in_image(asked, sizes, &mut least)?;
                }
                self.least = least.made;
            }
            Way::Least => {}
        }
        self.tried += 1;
        Ok(self.is_done())
    }

    /// All divisions of a size were tried: smaller sizes are not, if these are far from the best.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] if nobody waits any more.
    fn divided(&mut self, dividing: &Dividing, asked: &Asked<'_>) -> Result<(), PlanError> {
        if let Some(fastest) = dividing.fastest() {
            self.contest.fill(&fastest.made, asked)?;
        }
        let end = dividing.fastest().map(|fastest| fastest.end);
        self.far = if self.is_far(end) { self.far + 1 } else { 0 };
        if self.far == self.effort.far {
            self.ways.retain(|way| !matches!(way, Way::Divided(_)));
        }
        Ok(())
    }

    /// Whether a plan that ends then is far from the best, or there is none.
    fn is_far(&self, end: Option<CyclePoint>) -> bool {
        let best = self.contest.best().map(|best| best.judged.end);
        best.zip(end).is_none_or(|(best, end)| !self.divider.is_close(end, best))
    }

    /// Plans for a size; gives the next smaller one if that may be worth it.
    ///
    /// # Errors
    /// [`PlanError`] if a tensor cannot be planned.
    fn at_size(
        &mut self,
        at_size: AtSize,
        all: &Options,
        asked: &Asked<'_>,
    ) -> Result<Option<AtSize>, PlanError> {
        let AtSize { method, sram, left, between } = at_size;
        let Asked { model, board, options } = *asked;
        let is_inside = options.is_inside || self.is_inside;
        let [all, few] = [all, options].map(|options| Options {
            sram: Some(sram),
            buffer: None,
            is_inside,
            ..options.clone()
        });
        // What takes several frames together is compared by all of them.
        let limit = self.contest.limit(asked).filter(|_| all.frames == few.frames);
        if let (Method::Streamed, Some(limit)) = (method, limit) {
            let bound = match self.streamed.take() {
                Some(bound) => bound,
                None => stream::bound::Bound::of(model, board, &CostCache::on(board))?,
            };
            let least = bound.at(sram, board, options);
            self.streamed = Some(bound);
            // Less takes no less time.
            if limit.since(CyclePoint::default()) <= least {
                return Ok(None);
            }
        }
        let before = self.contest.best().map(|best| best.judged.merit);
        let made = match method {
            Method::Overlaid(what) => match self.external.clone() {
                Some(external) => {
                    Some(overlay::overlay_within(external, board, sram, what, &few.stop)?)
                }
                None => None,
            },
            Method::Streamed => stream::faster(model, board, &all, limit)?,
            Method::Swapped => {
                let (found, _) = swap::Placing.found(model)?;
                Some(swap::plan(model, board, &few, found)?)
            }
        };
        let is_least = options.objective == Objective::Memory;
        let halves = is_least && !self.effort.is_fine;
        let Some(made) = made else {
            if method == Method::Streamed {
                let left = self.left(left, sram, asked);
                let next = sizes::below(sram).next().zip(left);
                return Ok(next.map(|(sram, left)| AtSize { sram, left, ..at_size }));
            }
            return Ok(between.and_then(|[_, does]| at_size.halved([sram, does])));
        };
        // Frames that are scheduled together are compared together.
        let is_first = method == Method::Streamed && self.contest.best().is_none();
        let is_joined = made.plan.frames() > 1;
        let compared = if is_joined || is_first { &all } else { &few };
        let fits = self.contest.tried(&made, &Asked { options: compared, ..*asked })?;
        // Weights that come from a card may lie anywhere.
        if fits && method != Method::Streamed {
            self.contest.fill(&made, asked)?;
        }
        if halves {
            let does = made.plan.space(Space::Arena).min(sram);
            let between = match between {
                known if fits => Some([known.map_or(Bytes(0), |[fails, _]| fails), does]),
                known => known.map(|[_, does]| [sram, does]),
            };
            return Ok(between.and_then(|between| at_size.halved(between)));
        }
        let is_better = self.contest.best().map(|best| best.judged.merit) != before;
        let is_worth = match is_least {
            true => fits,
            false => !is_joined,
        };
        let less = if is_least { made.plan.space(Space::Arena).min(sram) } else { sram };
        let left = if is_better && !is_least { self.smaller } else { left };
        let left = self.left(left, sram, asked).filter(|_| is_worth);
        let next = sizes::below(less).next().zip(left);
        Ok(next.map(|(sram, left)| AtSize { sram, left, ..at_size }))
    }

    /// How many smaller sizes are left behind one; nothing if there are none. Where nothing fits in a size, less may: within
    /// an octave all are tried.
    fn left(
        &self,
        left: usize,
        sram: Bytes,
        Asked { board, options, .. }: &Asked<'_>,
    ) -> Option<usize> {
        let is_least = options.objective == Objective::Memory;
        let is_near = sram.0 * 2 >= options.arena_on(board).0;
        if !is_least && self.contest.best().is_none() && is_near && self.smaller > 0 {
            return Some(left);
        }
        left.checked_sub(1)
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
        let mut inside = self.inside;
        if let Some(made) = self.least {
            let technique = Way::DepthFirst.technique().unwrap_or_default();
            let (_, alternatives) = self.contest.ended((technique, &made));
            let mut planned =
                described(of_auto(made, board), model, board, options, Some(Bytes(0)))?;
            planned.report.alternatives = alternatives;
            return Ok(planned);
        }
        let (best, alternatives) = self.contest.ended((LEAST, &inside.made()));
        let best = best.filter(|best| best.made.plan != inside.plan);
        let Some(Best { made, frames, .. }) = best else {
            inside.report.alternatives = alternatives;
            return Ok(inside);
        };
        let frames = frames.try_into().unwrap_or(options.frames);
        let options = &Options { frames, ..options.clone() };
        let comes = made.plan.space(Space::Card).0 > 0;
        let mut planned = described(made, model, board, options, Some(Bytes(0)))?;
        if comes {
            stream::bound::tell(&mut planned, model, board, options);
        }
        planned.report.alternatives = alternatives;
        Ok(planned)
    }
}

//! What would make a plan fit, by really planning it.

use tilewright_board::{Board, Support};
use tilewright_model::Model;
use tilewright_planner::{Options, Planned, Planning, Strategy};
use tilewright_report::{Change, PlanReport, Remedy, changes};

use crate::bounds::Bounds;
use crate::host::Host;
use crate::planning::{is_unsuited, no_plan, planned_for, proved, stopped_by};
use crate::quantise::Prepared;
use crate::zoo::{self, Network};
use tilewright_report::Diagnostic;

/// Units of work for all changes of all plans, of some ten nanoseconds each. No change takes more than half
/// of what is left, so that one that takes long leaves others some, unless it is planned all at once; half of all
/// is there for smaller networks, whatever the others took.
const WORK: u64 = 150_000_000;
/// The work that all changes of a plan that does not fit may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemedyWork {
    left: u64,
}

impl Default for RemedyWork {
    fn default() -> Self {
        Self { left: WORK }
    }
}

impl RemedyWork {
    /// Units of work that the next change may take, planned with `strategy`.
    #[must_use]
    pub const fn of_next(&self, strategy: Strategy) -> u64 {
        if is_all_at_once(strategy) { self.left } else { self.left / 2 }
    }

    /// A change has taken so many units.
    pub const fn spend(&mut self, units: u64) {
        self.left = self.left.saturating_sub(units);
    }

    /// At least half of all is there again.
    fn refill(&mut self) {
        self.left = self.left.max(WORK / 2);
    }
}

/// Whether a strategy does not plan in slices.
const fn is_all_at_once(strategy: Strategy) -> bool {
    matches!(strategy, Strategy::Swap | Strategy::Stream)
}

/// What a smaller network takes to be made, for each byte of constants of the one that does not fit.
const MADE_OF_A_BYTE: u64 = 2;

/// What was planned: where remedies start from.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The model, int8.
    pub model: &'a Model,
    /// The network that it is, if it is one of the zoo with analytic scales.
    pub network: Option<&'a Network>,
    /// The board.
    pub board: &'a Board,
    /// The choices.
    pub options: &'a Options,
}

/// Tries what would help those of `plans` that do not fit, and notes it in their reports. Smaller
/// networks of the zoo are tried only for the plan that lacks least, and only if nothing else
/// makes it fit. All of it takes [`WORK`]: changes that take little are tried first, and reports say how
/// many were not tried to the end. Of several frames few are planned, as of what does not fit.
///
/// # Errors
/// If somebody wants an end, or a plan is found wrong.
pub fn find_remedies(
    asked: &Asked<'_>,
    plans: &mut [&mut Planned],
    host: &dyn Host,
) -> Result<(), Diagnostic> {
    let failing = |plan: &Planned| plan.report.does_not_fit.is_some();
    if !plans.iter().any(|plan| failing(plan)) {
        return Ok(());
    }
    // A board that no one can buy helps no one.
    let mut boards = tilewright_board::all();
    boards.retain(|board| board.support != Support::Virtual);
    let mut strategies: Vec<PlanReport> = plans.iter().map(|plan| plan.report.clone()).collect();
    let mut attempt = Attempt {
        asked,
        options: stopped_by(host, asked.options.of_few_frames()),
        host,
        work: RemedyWork::default(),
        untried: 0,
        searched: Vec::new(),
    };
    for plan in plans.iter_mut().filter(|plan| failing(plan)) {
        let changes = changes(
            &plan.report,
            asked.options.sram.is_some_and(|sram| sram < asked.board.arena()),
            Strategy::ALL.iter().map(|strategy| strategy.name()),
            boards.iter().map(|board| board.id.as_str()),
        );
        attempt.untried = 0;
        let mut remedies = Vec::new();
        for change in changes {
            let known = match &change {
                Change::Strategy(name) => strategies.iter().find(|known| known.strategy == *name),
                _ => None,
            };
            let tried = match known {
                Some(known) => Some(known.clone()),
                None => attempt.change(&plan.report, &change, &boards)?,
            };
            if let (Change::Strategy(_), None, Some(tried)) = (&change, known, &tried) {
                strategies.push(tried.clone());
            }
            remedies.extend(tried.and_then(|tried| Remedy::of(change, &plan.report, &tried)));
        }
        note(plan, remedies, attempt.untried);
    }
    let missing = |plan: &&mut &mut Planned| {
        let reason = plan.report.does_not_fit.as_ref();
        reason.map_or(u64::MAX, |reason| (*reason.needed_bytes - *reason.available_bytes).0)
    };
    let nearest = plans.iter_mut().filter(|plan| failing(plan)).min_by_key(missing);
    if let (Some(network), Some(nearest)) = (asked.network, nearest) {
        let known = nearest.report.does_not_fit.as_ref().map_or(&[][..], |why| &why.remedies);
        if !known.iter().any(|remedy| remedy.fits) {
            attempt.untried = 0;
            attempt.work.refill();
            let smaller = attempt.smaller(&nearest.report, network)?;
            note(nearest, smaller, attempt.untried);
        }
    }
    Ok(())
}

fn note(plan: &mut Planned, remedies: Vec<Remedy>, untried: u32) {
    if let Some(reason) = &mut plan.report.does_not_fit {
        reason.untried += untried;
        reason.remedies.extend(remedies);
        Remedy::sort(&mut reason.remedies);
    }
}

struct Attempt<'a, 'p> {
    asked: &'a Asked<'a>,
    options: Options,
    host: &'p dyn Host,
    work: RemedyWork,
    /// Changes that were not tried to the end and do not fit so far.
    untried: u32,
    /// What was searched of the model already.
    searched: Vec<(Strategy, Planning)>,
}

impl Attempt<'_, '_> {
    /// The report with a change; nothing if there is no such plan.
    fn change(
        &mut self,
        failed: &PlanReport,
        change: &Change,
        boards: &[Board],
    ) -> Result<Option<PlanReport>, Diagnostic> {
        let Asked { model, board, .. } = *self.asked;
        let (mut board, mut options) = (board, self.options.clone());
        let mut strategy = failed.strategy.as_str();
        match change {
            Change::WholeArena => options.sram = None,
            Change::Strategy(name) => strategy = name,
            Change::Board(id) => {
                let Some(other) = boards.iter().find(|other| other.id == *id) else {
                    return Ok(None);
                };
                (board, options.sram) = (other, None);
            }
            Change::Network(_) => return Ok(None),
        }
        let Ok(strategy) = strategy.parse() else { return Ok(None) };
        let known = self.searched.iter().find(|(known, _)| *known == strategy);
        let planning = match known {
            Some((_, searched)) => searched.again(model, board, &options),
            None => Planning::new(model, board, strategy, &options),
        };
        self.plan(planning.map_err(no_plan), model, board, (strategy, &options))
    }

    /// The report of what is planned within the work that is left; nothing if the strategy does not suit the
    /// model, or if that was not enough for a plan that fits.
    fn plan(
        &mut self,
        planning: Result<Planning, Diagnostic>,
        model: &Model,
        board: &Board,
        (strategy, options): (Strategy, &Options),
    ) -> Result<Option<PlanReport>, Diagnostic> {
        let is_all_at_once = is_all_at_once(strategy);
        let units = self.work.of_next(strategy);
        let planned = || -> Result<(bool, Option<PlanReport>), Diagnostic> {
            let mut planning = planning?;
            let is_done = planned_for(&mut planning, model, units, self.host)?;
            self.work.spend(planning.spent());
            let is_whole = is_done && planning.spent() <= units;
            if is_done && std::ptr::eq(model, self.asked.model) {
                let known = self.searched.iter().any(|(known, _)| *known == strategy);
                let kept = planning.again(model, board, options).map_err(no_plan)?;
                self.searched.extend((!known).then_some((strategy, kept)));
            }
            if is_all_at_once && !is_whole {
                return Ok((is_whole, None));
            }
            let planned = proved(planning, model, board, self.host)?;
            Ok((is_whole, Some(planned.report)))
        };
        let planned = planned();
        match planned {
            Ok((is_whole, tried)) => {
                let tried = tried.filter(|tried| is_whole || tried.fits);
                self.untried += u32::from(tried.is_none());
                Ok(tried)
            }
            // A strategy need not suit every model.
            Err(problem) if is_unsuited(&problem) => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// The largest narrower network that fits, and the largest of lower resolution.
    fn smaller(
        &mut self,
        failed: &PlanReport,
        network: &Network,
    ) -> Result<Vec<Remedy>, Diagnostic> {
        let mut remedies = Vec::new();
        for names in smaller_sizes(network) {
            // A smaller network needs less: all names up to some one fit.
            let (mut least, mut most) = (0, names.len());
            let mut best = None;
            while least < most {
                let middle = usize::midpoint(least, most);
                let tried = self.network(failed, &names[middle])?;
                match tried.filter(|tried| tried.fits) {
                    Some(tried) => {
                        let change = Change::Network(tried.model.clone());
                        best = Remedy::of(change, failed, &tried);
                        least = middle + 1;
                    }
                    None => most = middle,
                }
            }
            remedies.extend(best);
        }
        Ok(remedies)
    }

    fn network(
        &mut self,
        failed: &PlanReport,
        name: &str,
    ) -> Result<Option<PlanReport>, Diagnostic> {
        let Asked { model, .. } = *self.asked;
        let bytes: u64 = model.nodes.iter().map(|node| model.constant_bytes(node)).sum();
        let made = bytes.saturating_mul(MADE_OF_A_BYTE);
        if self.work.left / 2 < made {
            self.untried += 1;
            return Ok(None);
        }
        self.work.spend(made);
        // Not every size can be built.
        let Ok(network) = zoo::network(name) else { return Ok(None) };
        let prepared: Prepared = zoo::analytic(&network, &Bounds::default(), self.host)?;
        let (board, options) = (self.asked.board, self.options.clone());
        let Ok(strategy) = failed.strategy.parse() else { return Ok(None) };
        let planning = Planning::new(&prepared.model, board, strategy, &options).map_err(no_plan);
        self.plan(planning, &prepared.model, board, (strategy, &options))
    }
}

/// Names of the network's smaller sizes, the smallest first: by width, by resolution.
fn smaller_sizes(network: &Network) -> [Vec<String>; 2] {
    let (entry, now) = (network.entry, &network.parameters);
    // Widths are steps of hundredths; sums of floats would not stay so.
    let hundredths = |width: f64| (width * 100.0).round() as usize;
    let widths = entry.width.map_or_else(Vec::new, |span| {
        let steps = hundredths(span.least)..hundredths(now.width);
        let step = hundredths(span.step).max(1);
        steps
            .step_by(step)
            .map(|width| network.name_in(width as f64 / 100.0, now.resolution))
            .collect()
    });
    let resolutions = entry.resolution.map_or_else(Vec::new, |span| {
        let steps = (span.least..now.resolution).step_by(span.step.max(1));
        steps.map(|resolution| network.name_in(now.width, resolution)).collect()
    });
    [widths, resolutions]
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::host::{Cancel, Silent};
    use crate::planning::checked_plan;
    use crate::progress::Progress;

    /// A host that notes what it is told of planning, and wants an end at some way beyond SRAM.
    #[derive(Default)]
    struct Listening {
        told: RefCell<Vec<Progress>>,
        cancel: Cancel,
        stops_at: Option<usize>,
    }

    impl Listening {
        fn ways(&self) -> Vec<[usize; 2]> {
            let told = self.told.borrow();
            let ways = |news: &Progress| match news {
                Progress::Planning { ways, .. } => *ways,
                _ => None,
            };
            told.iter().filter_map(ways).collect()
        }
    }

    impl Host for Listening {
        fn tell(&self, news: Progress) {
            if let Progress::Planning { ways, .. } = news {
                if self.stops_at.is_some() && ways.map(|ways| ways[0]) == self.stops_at {
                    self.cancel.cancel();
                }
                self.told.borrow_mut().push(news);
            }
        }

        fn cancel(&self) -> &Cancel {
            &self.cancel
        }
    }

    #[test]
    fn ways_beyond_sram_are_told_and_can_be_cancelled() {
        let network = zoo::network("lenet5").unwrap();
        let prepared = zoo::analytic(&network, &Bounds::default(), &Silent::default()).unwrap();
        let (model, board) = (&prepared.model, tilewright_board::find("stm32f746g-disco").unwrap());
        let sram = Some(tilewright_plan::Bytes(1_000));
        let options = &Options { sram, ..Options::default() };
        let small = || checked_plan(model, &board, Strategy::Resident, options, &Silent::default());
        let asked = Asked { model, network: None, board: &board, options };
        let host = Listening::default();
        let mut plan = small().unwrap();
        find_remedies(&asked, &mut [&mut plan], &host).unwrap();
        let mut told = host.ways();
        // A way is told as often as it is planned: for one size of memory after the other. What cannot be better ends at
        // once, and several such ways are told as one.
        told.dedup();
        let all = told[0][1];
        let goes_on = told.is_sorted_by(|before, next| before[0] < next[0] && next[0] < all);
        assert!(told.len() > 5 && goes_on && told.iter().all(|ways| ways[1] == all), "{told:?}");
        // Asked for an end between two ways, it ends there.
        let host = Listening { stops_at: Some(2), ..Listening::default() };
        let mut plan = small().unwrap();
        let stopped = find_remedies(&asked, &mut [&mut plan], &host);
        assert!(stopped.is_err_and(|problem| problem.kind == crate::Blame::Cancelled));
        assert_eq!(host.ways().last().map(|ways| ways[0]), Some(2));
    }

    #[test]
    fn refusing_takes_no_more_work_than_is_allowed_and_tells_what_was_left() {
        let refused = |name: &str, strategy, sram, frames: u32| {
            let network = zoo::network(name).unwrap();
            let prepared = zoo::analytic(&network, &Bounds::default(), &Silent::default()).unwrap();
            let board = tilewright_board::find("stm32f746g-disco").unwrap();
            let sram = Some(tilewright_plan::Bytes(sram));
            let frames = frames.try_into().unwrap();
            let options = &Options { sram, frames, ..Options::default() };
            let model = &prepared.model;
            let host = Listening::default();
            let mut plan =
                checked_plan(model, &board, strategy, options, &Silent::default()).unwrap();
            let asked = Asked { model, network: Some(&network), board: &board, options };
            find_remedies(&asked, &mut [&mut plan], &host).unwrap();
            let slices = host.told.borrow().len() as u64;
            (plan.report.does_not_fit.unwrap(), slices, model.nodes.len() as u64)
        };
        let (reason, slices, _) = refused("lenet5", Strategy::Resident, 1_000, 1_000);
        assert!(reason.untried == 0 && slices > 0 && reason.remedies[0].fits, "{reason:?}");
        // What one slice counts at least.
        let most = |layers: u64| WORK / (10_000 * layers).min(2_000_000) + 100;
        for (name, strategy) in [
            ("nasnet-mobile", Strategy::Resident),
            ("mobilenet-v2-w0.35-r224", Strategy::Stream),
            ("squeezenet-1.1", Strategy::Reordered),
        ] {
            let (reason, slices, layers) = refused(name, strategy, 1, 1);
            assert!(slices <= most(layers), "{name}: {slices} slices for {layers} layers");
            assert!(reason.untried > 0 || reason.remedies.iter().any(|r| r.fits), "{reason:?}");
        }
    }

    #[test]
    fn sizes_grow_and_end_below_the_present_one() {
        let network = zoo::network("mobilenet-v2-w0.35-r96").unwrap();
        let [widths, resolutions] = smaller_sizes(&network);
        assert!(widths.last().is_some_and(|name| name == "mobilenet-v2-w0.3-r96"), "{widths:?}");
        assert!(resolutions.last().is_some_and(|name| name == "mobilenet-v2-w0.35-r80"));
        assert!(widths.iter().chain(&resolutions).all(|name| zoo::network(name).is_ok()));
        let [widths, resolutions] = smaller_sizes(&zoo::network("darts-cells-n8-c8").unwrap());
        assert!(widths.is_empty());
        assert!(resolutions.last().is_some_and(|name| name == "darts-cells-r24-c8-n8"));
        let fixed = smaller_sizes(&zoo::network("lenet5").unwrap());
        assert!(fixed.iter().all(Vec::is_empty));
    }
}

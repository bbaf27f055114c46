//! What would make a plan fit, by really planning it.

use tilewright_board::{Board, Support};
use tilewright_model::Model;
use tilewright_planner::{Options, Planned, Strategy};
use tilewright_report::{Change, PlanReport, Remedy, changes};

use super::planning::{checked_plan, is_unsuited};
use super::zoo::{self, Network};
use super::{Bounds, Prepared};
use crate::execute::Cancel;
use crate::problem::Problem;
use crate::progress::Progress;

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
/// makes it fit.
///
/// # Errors
/// If `cancel` is asked, or a plan is found wrong.
pub fn find_remedies(
    asked: &Asked<'_>,
    plans: &mut [&mut Planned],
    progress: &mut dyn FnMut(Progress),
    cancel: &Cancel,
) -> Result<(), Problem> {
    let failing = |plan: &Planned| plan.report.does_not_fit.is_some();
    if !plans.iter().any(|plan| failing(plan)) {
        return Ok(());
    }
    // A board that no one can buy helps no one.
    let mut boards = tilewright_board::all();
    boards.retain(|board| board.support != Support::Virtual);
    let mut strategies: Vec<PlanReport> = plans.iter().map(|plan| plan.report.clone()).collect();
    let mut attempt = Attempt { asked, progress, cancel };
    for plan in plans.iter_mut().filter(|plan| failing(plan)) {
        let changes = changes(
            &plan.report,
            asked.options.sram.is_some_and(|sram| sram < asked.board.arena()),
            Strategy::ALL.iter().map(|strategy| strategy.name()),
            boards.iter().map(|board| board.id.as_str()),
        );
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
        note(plan, remedies);
    }
    let missing = |plan: &&mut &mut Planned| {
        let reason = plan.report.does_not_fit.as_ref();
        reason.map_or(u64::MAX, |reason| (reason.needed_bytes - reason.available_bytes).0)
    };
    let nearest = plans.iter_mut().filter(|plan| failing(plan)).min_by_key(missing);
    if let (Some(network), Some(nearest)) = (asked.network, nearest) {
        let known = nearest.report.does_not_fit.as_ref().map_or(&[][..], |why| &why.remedies);
        if !known.iter().any(|remedy| remedy.fits) {
            let smaller = attempt.smaller(&nearest.report, network)?;
            note(nearest, smaller);
        }
    }
    Ok(())
}

fn note(plan: &mut Planned, remedies: Vec<Remedy>) {
    if let Some(reason) = &mut plan.report.does_not_fit {
        reason.remedies.extend(remedies);
        Remedy::sort(&mut reason.remedies);
    }
}

struct Attempt<'a, 'p> {
    asked: &'a Asked<'a>,
    progress: &'p mut dyn FnMut(Progress),
    cancel: &'p Cancel,
}

impl Attempt<'_, '_> {
    /// The report with a change; nothing if there is no such plan.
    fn change(
        &mut self,
        failed: &PlanReport,
        change: &Change,
        boards: &[Board],
    ) -> Result<Option<PlanReport>, Problem> {
        let Asked { model, board, options, .. } = *self.asked;
        let (mut board, mut options) = (board, options.clone());
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
        self.plan(model, board, strategy, &options)
    }

    fn plan(
        &mut self,
        model: &Model,
        board: &Board,
        strategy: &str,
        options: &Options,
    ) -> Result<Option<PlanReport>, Problem> {
        let Ok(strategy) = strategy.parse() else { return Ok(None) };
        match checked_plan(model, board, strategy, options, self.progress, self.cancel) {
            Ok(planned) => Ok(Some(planned.report)),
            // A strategy need not suit every model.
            Err(problem) if is_unsuited(&problem) => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// The largest narrower network that fits, and the largest of lower resolution.
    fn smaller(&mut self, failed: &PlanReport, network: &Network) -> Result<Vec<Remedy>, Problem> {
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

    fn network(&mut self, failed: &PlanReport, name: &str) -> Result<Option<PlanReport>, Problem> {
        // Not every size can be built.
        let Ok(network) = zoo::network(name) else { return Ok(None) };
        let prepared: Prepared =
            zoo::analytic(&network, &Bounds::default(), self.progress, self.cancel)?;
        let Asked { board, options, .. } = *self.asked;
        self.plan(&prepared.model, board, &failed.strategy, options)
    }
}

/// Names of the network's smaller sizes, the smallest first: by width, by resolution.
fn smaller_sizes(network: &Network) -> [Vec<String>; 2] {
    let (entry, now) = (network.entry, &network.parameters);
    let named = |width: f64, resolution: usize| {
        let mut name = entry.name.to_owned();
        if entry.width.is_some() {
            name.push_str(&format!("-w{width}"));
        }
        if entry.resolution.is_some() {
            name.push_str(&format!("-r{resolution}"));
        }
        name
    };
    // Widths are steps of hundredths; sums of floats would not stay so.
    let hundredths = |width: f64| (width * 100.0).round() as usize;
    let widths = entry.width.map_or_else(Vec::new, |span| {
        let steps = hundredths(span.least)..hundredths(now.width);
        let step = hundredths(span.step).max(1);
        steps.step_by(step).map(|width| named(width as f64 / 100.0, now.resolution)).collect()
    });
    let resolutions = entry.resolution.map_or_else(Vec::new, |span| {
        let steps = (span.least..now.resolution).step_by(span.step.max(1));
        steps.map(|resolution| named(now.width, resolution)).collect()
    });
    [widths, resolutions]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_beyond_sram_are_told_and_can_be_cancelled() {
        let network = zoo::network("lenet5").unwrap();
        let prepared =
            zoo::analytic(&network, &Bounds::default(), &mut |_| {}, &Cancel::default()).unwrap();
        let (model, board) = (&prepared.model, tilewright_board::find("stm32f746g-disco").unwrap());
        let sram = Some(tilewright_plan::Bytes(1_000));
        let options = &Options { sram, ..Options::default() };
        let small = || {
            checked_plan(
                model,
                &board,
                Strategy::Resident,
                options,
                &mut |_| {},
                &Cancel::default(),
            )
        };
        let asked = Asked { model, network: None, board: &board, options };
        let (mut told, cancel) = (Vec::new(), Cancel::default());
        let mut plan = small().unwrap();
        let mut tell = |progress| {
            if let Progress::Planning { ways: Some(ways), .. } = progress {
                told.push(ways);
            }
        };
        find_remedies(&asked, &mut [&mut plan], &mut tell, &cancel).unwrap();
        // Ways near the fastest come to those that were known at first.
        let all = told[told.len() - 1][1];
        let tried = told.iter().map(|[tried, _]| *tried);
        assert!(all > 5 && tried.eq(0..all) && told.is_sorted_by_key(|ways| ways[1]), "{told:?}");
        // Asked for an end between two ways, it ends there.
        let mut seen = 0;
        let mut stop = |progress| {
            if let Progress::Planning { ways: Some([tried, _]), .. } = progress {
                seen = tried;
                if tried == 2 {
                    cancel.cancel();
                }
            }
        };
        let mut plan = small().unwrap();
        let stopped = find_remedies(&asked, &mut [&mut plan], &mut stop, &cancel);
        assert!(stopped.is_err_and(|problem| problem.kind == crate::Blame::Cancelled));
        assert_eq!(seen, 2);
    }

    #[test]
    fn sizes_grow_and_end_below_the_present_one() {
        let network = zoo::network("mobilenet-v2-w0.35-r96").unwrap();
        let [widths, resolutions] = smaller_sizes(&network);
        assert!(widths.last().is_some_and(|name| name == "mobilenet-v2-w0.3-r96"), "{widths:?}");
        assert!(resolutions.last().is_some_and(|name| name == "mobilenet-v2-w0.35-r80"));
        assert!(widths.iter().chain(&resolutions).all(|name| zoo::network(name).is_ok()));
        let fixed = smaller_sizes(&zoo::network("lenet5").unwrap());
        assert!(fixed.iter().all(Vec::is_empty));
    }
}

//! The experiment on what fits a small board.

use std::rc::Rc;

use super::{Effect, Job, Place, State};
use tilewright_report::FitReport;

/// The experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fit {
    /// Whether it is shown.
    pub is_open: bool,
    /// What was found, once it ended.
    pub report: Option<Rc<FitReport>>,
}

impl State {
    pub(super) fn show_fit(&mut self, is_open: bool, effects: &mut Vec<Effect>) {
        self.fit.is_open = is_open;
        if is_open && self.fit.report.is_none() && self.task(Job::Fit).is_none() {
            self.clear(Place::Fit);
            let request = self.begin(Job::Fit, "Planning twelve networks");
            effects.push(Effect::ExploreFit(request));
        }
    }

    pub(super) fn fitted(&mut self, report: FitReport, took: f64) {
        self.took_ms = Some(took);
        self.said = format!("{} plans", report.cells.len());
        self.fit.report = Some(Rc::new(report));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{request_of, started};
    use super::super::{Doer, Event};
    use super::*;
    use crate::message::ImportReply;

    #[test]
    fn the_experiment_runs_once_and_again_after_it_was_stopped() {
        let (mut state, _) = started("");
        let effects = state.update(Event::ShowFit(true));
        assert_eq!(effects, [Effect::ExploreFit(request_of(&effects))]);
        assert!(state.update(Event::ShowFit(true)).is_empty(), "it is under way");
        state.update(Event::Stop(Doer::Importer));
        let effects = state.update(Event::ShowFit(true));
        let reply = Ok(ImportReply::Fit(Box::default()));
        state.update(Event::Imported(request_of(&effects), reply));
        state.update(Event::ShowFit(false));
        assert!(state.update(Event::ShowFit(true)).is_empty(), "it is known");
        assert!(state.fit.is_open);
    }
}

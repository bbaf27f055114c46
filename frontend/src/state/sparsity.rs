//! How many weights of the open model are zero. It is pruned before it is quantised, and so opened again.

use super::{Effect, Event, Input, Job, Origin, Quantising, State};
use crate::view_model::fragment::MOST_SPARSITY;

impl State {
    /// Prunes the open model; `is_passing`: whether a drag goes on. What a drag has passed is opened and planned
    /// first, then the newest place, so that something is seen while it goes on.
    pub(super) fn prune(&mut self, sparsity: u16, is_passing: bool, effects: &mut Vec<Effect>) {
        let Some(model) = self.model.clone() else { return };
        let was_passing = std::mem::replace(&mut self.is_pruning_passing, is_passing);
        let sparsity = sparsity.min(MOST_SPARSITY);
        if self.quantising.sparsity != sparsity {
            self.quantising = Quantising { sparsity, ..self.quantising.clone() };
            self.write_fragment(effects);
        }
        if self.is_requantising() {
            return;
        }
        if model.quantising != self.quantising {
            if !(is_passing && was_passing && self.has_young_plan()) {
                self.begin_opening(model.origin.clone(), effects);
            }
        } else if was_passing && !is_passing {
            self.rest(effects);
        }
    }

    /// Whether what is shown is of a place that a drag passes.
    #[must_use]
    pub(super) const fn is_passing(&self) -> bool {
        self.settings.is_dragging() || self.is_pruning_passing
    }

    /// Opens the newest choice, if it is another than that of the open model.
    pub(super) fn follow_pruning(&mut self, effects: &mut Vec<Effect>) -> bool {
        let Some(model) = &self.model else { return false };
        let is_behind = !self.is_opening() && model.quantising != self.quantising;
        if is_behind {
            self.begin_opening(model.origin.clone(), effects);
        }
        is_behind
    }

    /// What nobody sees while a drag goes on: the graph, and the reference's answer to the input.
    pub(super) fn rest(&mut self, effects: &mut Vec<Effect>) {
        let first = match self.model.as_ref().map(|model| &model.origin) {
            Some(Origin::Example(example)) if !example.samples.is_empty() => Some(0),
            _ => None,
        };
        let sample = self.input.sample.or(first);
        self.input = Input { sample, ..Input::default() };
        if let Some(index) = sample {
            self.apply(Event::Sample(index), effects);
        }
        self.draw_graph(effects);
        if self.task(Job::Plan).is_none() {
            self.package_at_once(effects);
            self.compare_next(effects);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{facts, plans, ready, request_of};
    use super::super::{Doer, Place};
    use super::*;
    use crate::message::{ImportReply, PlanReply, trouble};
    use crate::view_model::fixture;

    fn opened(state: &mut State, effects: &[Effect]) -> Vec<Effect> {
        let reply = Ok(ImportReply::Opened(facts()));
        state.update(Event::Imported(request_of(effects), reply))
    }

    fn planned(state: &mut State, effects: &[Effect]) -> Vec<Effect> {
        let reply = PlanReply::Planned(Box::new(fixture::plan()));
        state.update(Event::Planned(plans(effects)[0], Ok(reply)))
    }

    fn opens(effects: &[Effect]) -> Option<u16> {
        effects.iter().find_map(|effect| match effect {
            Effect::Open(_, _, quantising) => Some(quantising.sparsity),
            _ => None,
        })
    }

    fn draws(effects: &[Effect]) -> bool {
        effects.iter().any(|effect| matches!(effect, Effect::DrawGraph(..)))
    }

    #[test]
    fn of_a_drag_what_it_passed_is_planned_then_the_newest() {
        let mut state = ready();
        let effects = state.update(Event::Prune(100, true));
        assert_eq!(opens(&effects), Some(100));
        assert!(state.fragment().text().contains("sparsity=100"));
        for sparsity in [200, 300] {
            assert_eq!(opens(&state.update(Event::Prune(sparsity, true))), None, "one at a time");
        }
        let effects = opened(&mut state, &effects);
        assert_eq!(state.model.as_ref().unwrap().quantising.sparsity, 100);
        assert!(!draws(&effects) && opens(&effects).is_none(), "its plan is seen first");
        assert!(opens(&state.update(Event::Prune(400, true))).is_none());
        let effects = planned(&mut state, &effects);
        assert_eq!(opens(&effects), Some(400));
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Package { .. })));
        // The end of the drag: what waited for it begins, and nothing else is opened.
        assert_eq!(opens(&state.update(Event::Prune(400, false))), None);
        let effects = opened(&mut state, &effects);
        assert!(draws(&effects) && opens(&effects).is_none());
        assert!(effects.iter().any(|effect| matches!(effect, Effect::PrepareSample(..))));
        let effects = planned(&mut state, &effects);
        assert!(effects.iter().any(|effect| matches!(effect, Effect::Package { .. })));
        assert!(!state.is_plan_stale());
    }

    #[test]
    fn a_drag_that_ends_where_it_was_shown_opens_nothing_again() {
        let mut state = ready();
        let effects = state.update(Event::Prune(500, true));
        let effects = opened(&mut state, &effects);
        assert!(!state.can_run());
        planned(&mut state, &effects);
        let effects = state.update(Event::Prune(500, false));
        assert!(draws(&effects) && opens(&effects).is_none());
        assert!(effects.iter().any(|effect| matches!(effect, Effect::Package { .. })));
    }

    #[test]
    fn what_cannot_be_pruned_or_is_stopped_stays_as_it_was() {
        let mut state = ready();
        let effects = state.update(Event::Prune(500, false));
        let trouble = trouble("cannot be pruned", "", "");
        state.update(Event::Imported(request_of(&effects), Err(trouble)));
        assert_eq!(state.quantising.sparsity, 0);
        assert!(state.trouble(Place::Model).is_some() && !state.is_plan_stale());
        state.update(Event::Prune(500, false));
        state.update(Event::Stop(Doer::Importer));
        assert_eq!(state.quantising.sparsity, 0);
        state.update(Event::Prune(2_000, false));
        assert_eq!(state.quantising.sparsity, MOST_SPARSITY);
    }
}

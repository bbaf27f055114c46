//! How the open model becomes int8: the choice, and what it does.

use std::rc::Rc;

use tilewright_report::{Diagnostic, FloatComparison};

use super::{Effect, Job, Origin, Place, State};
use crate::message::{Calibrating, QuantisationFacts};
use crate::view_model::float;

/// How a float model becomes int8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quantising {
    /// How ranges follow from values: `minmax`, `percentile=99.9`, `mse`; empty for the usual.
    pub rule: String,
    /// From which values.
    pub samples: Samples,
    /// The range in which the network takes pixels: `-1..1`, `imagenet`; empty for what its file says.
    pub pixels: String,
    /// Groups of weights that become zero before, in thousandths of all.
    pub sparsity: u16,
}

/// Samples to calibrate on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Samples {
    /// Those that came with the model; for one of the zoo its analytic scales; if there are none,
    /// made-up ones.
    #[default]
    Given,
    /// Made-up ones.
    Random,
    /// Files that the person gave: tokens and names.
    Files(Vec<(u32, String)>),
}

impl Quantising {
    /// As the importer takes it.
    #[must_use]
    pub fn calibrating(&self) -> Calibrating {
        Calibrating {
            rule: self.rule.clone(),
            pixels: self.pixels.clone(),
            is_random: self.samples == Samples::Random,
            sparsity: self.sparsity,
        }
    }

    /// Tokens of files that it needs.
    pub fn tokens(&self) -> impl Iterator<Item = u32> {
        let files = match &self.samples {
            Samples::Files(files) => files.as_slice(),
            Samples::Given | Samples::Random => &[],
        };
        files.iter().map(|(token, _)| *token)
    }
}

/// What is known of quantising the open model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quantisation {
    /// What it does, once that was examined.
    pub facts: Option<Rc<QuantisationFacts>>,
    /// How it compares with the float model, once that was asked for.
    pub float: Option<Rc<FloatComparison>>,
    /// Order of the table.
    pub sort: crate::view_model::quantisation::Sort,
}

impl State {
    /// Quantises the open model in another way.
    pub(super) fn quantise(&mut self, quantising: Quantising, effects: &mut Vec<Effect>) {
        let Some(model) = &self.model else { return };
        if model.quantising == quantising && !self.is_opening() {
            return;
        }
        let origin = model.origin.clone();
        self.quantising = quantising;
        self.begin_opening(origin, effects);
        self.write_fragment(effects);
    }

    /// Quantises the open model with samples from files: `.npy` with many each, pictures with one.
    pub(super) fn quantise_with(&mut self, files: Vec<(u32, String)>, effects: &mut Vec<Effect>) {
        let samples = Samples::Files(files);
        self.quantise(Quantising { samples, ..self.quantising.clone() }, effects);
    }

    /// Has examined what quantising does to the open model.
    pub(super) fn examine(&mut self, effects: &mut Vec<Effect>) {
        let Some(model) = self.model.clone().filter(|_| !self.is_opening()) else { return };
        self.clear(Place::Quantisation);
        let request = self.begin(Job::Examine, "Examining the quantisation");
        effects.push(Effect::Examine(request, model.origin.clone(), model.quantising.clone()));
    }

    pub(super) fn examined(&mut self, facts: QuantisationFacts, took: f64) {
        self.took_ms = Some(took);
        self.said = format!("Quantisation examined: {} tensors", facts.tensors.len());
        self.quantisation.facts = Some(Rc::new(facts));
    }

    /// Has the open model compared with the float model.
    pub(super) fn compare_float(&mut self, effects: &mut Vec<Effect>) {
        let Some(model) = self.model.clone().filter(|_| !self.is_opening()) else { return };
        self.clear(Place::Quantisation);
        let request = self.begin(Job::CompareFloat, &float::loading());
        effects.push(Effect::CompareFloat(request, model.origin.clone(), model.quantising.clone()));
    }

    /// The worker is done, and gives its memory back.
    pub(super) fn float_compared(
        &mut self,
        request: u32,
        reply: Result<FloatComparison, Diagnostic>,
        effects: &mut Vec<Effect>,
    ) {
        if !self.is_awaited(Job::CompareFloat, request) {
            return;
        }
        let took = self.end(request);
        effects.push(Effect::EndFloat);
        match reply {
            Ok(found) => {
                self.said = format!("Compared with the float model: {} layers", found.layers.len());
                self.took_ms = took;
                self.quantisation.float = Some(Rc::new(found));
            }
            Err(trouble) => self.fail(Place::Quantisation, trouble),
        }
    }

    /// Whether what is opened is the open model, quantised in another way.
    #[must_use]
    pub fn is_requantising(&self) -> bool {
        let open = self.model.as_ref().map(|model| &model.origin);
        let both = open.zip(self.opening.as_ref());
        self.is_opening() && both.is_some_and(|(open, opening)| Self::same_origin(open, opening))
    }

    /// Whether both are the same network, whatever it is quantised on.
    pub(super) fn same_origin(origin: &Origin, other: &Origin) -> bool {
        match (origin, other) {
            (Origin::Example(a), Origin::Example(b)) => a.id == b.id,
            (Origin::Zoo(a), Origin::Zoo(b)) => a == b,
            (Origin::File(a), Origin::File(b)) => a.token == b.token && a.dims == b.dims,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{facts, plans, ready, request_of};
    use super::super::{Doer, Event};
    use super::*;
    use crate::message::{ImportReply, PlanReply, trouble};
    use crate::view_model::fixture;

    fn mse() -> Quantising {
        Quantising { rule: "mse".to_owned(), ..Quantising::default() }
    }

    #[test]
    fn another_calibration_opens_the_model_again_and_keeps_what_is_shown() {
        let mut state = ready();
        let effects = state.update(Event::Quantise(mse()));
        assert!(matches!(&effects[0], Effect::Open(_, Origin::Example(_), q) if *q == mse()));
        assert!(state.is_requantising() && state.plan.is_some() && state.graph.is_some());
        assert!(state.fragment().text().contains("calibration=mse"));
        let opened = Ok(ImportReply::Opened(facts()));
        let effects = state.update(Event::Imported(request_of(&effects), opened));
        assert!(state.plan.is_some() && state.is_plan_stale(), "the old plan is not of this model");
        assert!(!state.can_run());
        let reply = PlanReply::Planned(Box::new(fixture::plan()));
        state.update(Event::Planned(plans(&effects)[0], Ok(reply)));
        assert!(!state.is_plan_stale());
        assert!(state.update(Event::Quantise(mse())).is_empty(), "it is so already");
    }

    #[test]
    fn what_fails_or_is_stopped_leaves_the_choice_as_it_was() {
        let mut state = ready();
        let effects = state.update(Event::Quantise(mse()));
        let trouble = trouble("cannot be quantised", "", "");
        state.update(Event::Imported(request_of(&effects), Err(trouble)));
        assert_eq!(state.quantising, Quantising::default());
        assert!(state.trouble(Place::Model).is_some() && !state.is_plan_stale());
        state.update(Event::Quantise(mse()));
        state.update(Event::Stop(Doer::Importer));
        assert_eq!(state.quantising, Quantising::default());
        assert!(!state.is_requantising() && !state.fragment().text().contains("mse"));
    }

    fn comparison() -> FloatComparison {
        FloatComparison {
            model: "small".to_owned(),
            opinion: FloatComparison::TRACT.to_owned(),
            samples: 8,
            outputs: Vec::new(),
            layers: Vec::new(),
            not_compared: Vec::new(),
            first_float_loss: None,
            first_int8_loss: None,
        }
    }

    #[test]
    fn a_float_comparison_ends_its_worker_and_belongs_to_one_int8_model() {
        let mut state = ready();
        let effects = state.update(Event::CompareFloat);
        assert!(matches!(&effects[..], [Effect::CompareFloat(_, Origin::Example(_), _)]));
        let reply = Event::FloatCompared(request_of(&effects), Ok(comparison()));
        assert_eq!(state.update(reply), [Effect::EndFloat]);
        assert!(state.quantisation.float.is_some() && state.tasks.is_empty());
        let effects = state.update(Event::Quantise(mse()));
        assert!(state.quantisation.float.is_some(), "the last good view");
        state.update(Event::Imported(request_of(&effects), Ok(ImportReply::Opened(facts()))));
        assert!(state.quantisation.float.is_none());
    }

    #[test]
    fn a_float_comparison_is_stopped_by_hand_and_by_another_model() {
        let mut state = ready();
        let first = request_of(&state.update(Event::CompareFloat));
        assert_eq!(state.update(Event::Stop(Doer::Float)), [Effect::EndFloat]);
        assert!(state.update(Event::FloatCompared(first, Ok(comparison()))).is_empty());
        assert!(state.quantisation.float.is_none());
        state.update(Event::CompareFloat);
        let effects = state.update(Event::Quantise(mse()));
        let opened = Ok(ImportReply::Opened(facts()));
        let effects = state.update(Event::Imported(request_of(&effects), opened));
        assert!(effects.contains(&Effect::EndFloat) && state.task(Job::CompareFloat).is_none());
        let failed = request_of(&state.update(Event::CompareFloat));
        state.update(Event::FloatCompared(failed, Err(trouble("tract does not run it", "", ""))));
        assert!(state.trouble(Place::Quantisation).is_some());
    }

    #[test]
    fn sample_files_stay_as_long_as_the_model_needs_them() {
        let mut state = ready();
        let files = vec![(5, "a.npy".to_owned()), (6, "b.png".to_owned())];
        let effects = state.update(Event::QuantiseWith(files));
        assert!(state.names_file(5) && state.names_file(6));
        state.update(Event::Imported(request_of(&effects), Ok(ImportReply::Opened(facts()))));
        assert!(state.names_file(5));
        let effects = state.update(Event::Quantise(Quantising::default()));
        assert!(state.names_file(5), "until the other choice has come");
        state.update(Event::Imported(request_of(&effects), Ok(ImportReply::Opened(facts()))));
        assert!(!state.names_file(5));
    }

    #[test]
    fn a_report_belongs_to_the_choice_that_it_was_made_for() {
        let mut state = ready();
        let effects = state.update(Event::Examine);
        let reply = Ok(ImportReply::Examined(Box::default()));
        state.update(Event::Imported(request_of(&effects), reply));
        assert!(state.quantisation.facts.is_some());
        let effects = state.update(Event::Quantise(mse()));
        assert!(state.quantisation.facts.is_some(), "the last good view");
        state.update(Event::Imported(request_of(&effects), Ok(ImportReply::Opened(facts()))));
        assert!(state.quantisation.facts.is_none());
    }
}

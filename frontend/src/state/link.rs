//! The present state as a link.

use super::{Effect, Event, Origin, Samples, State, View, ZOO};
use crate::view_model::fragment::{Fragment, NamedFile, is_address};

impl State {
    /// Writes the address: as a step that Back leads before, if what a person did begins one.
    pub(crate) fn write_fragment(&mut self, effects: &mut Vec<Effect>) {
        let is_step = std::mem::take(&mut self.is_step) && !self.is_embedded;
        effects.push(Effect::WriteFragment { text: self.fragment().text(), is_step });
    }

    /// Whether Back leads to before what happens. The moves of a drag are one step.
    pub(super) fn begins_step(&self, event: &Event) -> bool {
        match event {
            Event::Settings(..) | Event::Prune(..) => !self.settings.is_dragging(),
            Event::Show(view) => *view != self.view,
            Event::Follow(_)
            | Event::Lesson(_)
            | Event::OpenExample(_)
            | Event::OpenNetwork(_)
            | Event::Undo
            | Event::Redo => true,
            _ => false,
        }
    }

    /// What a link to the present state says.
    #[must_use]
    pub fn fragment(&self) -> Fragment {
        let named = |origin: &Origin| match origin {
            Origin::Example(example) => Some(example.id.to_owned()),
            Origin::Zoo(name) => Some(format!("{ZOO}{name}")),
            Origin::File(file) => file.address.clone(),
        };
        let model = match (&self.model, self.opening.as_ref().and_then(named)) {
            (_, Some(opening)) => Some(opening),
            (Some(model), None) => {
                named(&model.origin).or_else(|| Some(sha256_link(&model.facts.sha256)))
            }
            (None, None) => self.wanted.as_ref().map(|wanted| wanted.model.clone()),
        };
        let (settings, view) = (self.settings.now().clone(), self.view);
        let is_random = self.quantising.samples == Samples::Random;
        let (calibration, period_ms) = (self.quantising.rule.clone(), self.period_ms);
        let sparsity = self.quantising.sparsity;
        let explore = self.explore.spec.as_ref().filter(|_| view == View::Explore);
        let explore = explore.map(|spec| (**spec).clone());
        let file = match (&model, self.model.as_ref().map(|model| (&model.origin, &model.facts))) {
            (Some(model), Some((Origin::File(file), facts))) if !is_address(model) => {
                Some(NamedFile { name: file.name.clone(), bytes: facts.file_bytes })
            }
            (_, Some(_)) => None,
            (_, None) => self.wanted.as_ref().and_then(|wanted| wanted.file.clone()),
        };
        Fragment {
            model,
            file,
            settings,
            view,
            is_embedded: self.is_embedded,
            calibration,
            pixels: self.quantising.pixels.clone(),
            is_random,
            sparsity,
            period_ms,
            lesson: self.lesson,
            explore,
        }
    }
}

/// How a link names a model that only the person has.
pub(crate) fn sha256_link(digits: &str) -> String {
    format!("sha256:{digits}")
}

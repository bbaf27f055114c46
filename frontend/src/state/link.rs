//! The present state as a link.

use super::{Effect, Origin, Samples, State, View, ZOO};
use crate::view_model::fragment::Fragment;

impl State {
    pub(crate) fn write_fragment(&self, effects: &mut Vec<Effect>) {
        effects.push(Effect::WriteFragment(self.fragment().text()));
    }

    /// What a link to the present state says.
    #[must_use]
    pub fn fragment(&self) -> Fragment {
        let named = |origin: &Origin| match origin {
            Origin::Example(example) => Some(example.id.to_owned()),
            Origin::Zoo(name) => Some(format!("{ZOO}{name}")),
            Origin::File(_) => None,
        };
        let model = match (&self.model, self.opening.as_ref().and_then(named)) {
            (_, Some(opening)) => Some(opening),
            (Some(model), None) => {
                named(&model.origin).or_else(|| Some(sha256_link(&model.facts.sha256)))
            }
            (None, None) => self.wanted.clone(),
        };
        let (settings, view) = (self.settings.now().clone(), self.view);
        let is_random = self.quantising.samples == Samples::Random;
        let (calibration, period_ms) = (self.quantising.rule.clone(), self.period_ms);
        let sparsity = self.quantising.sparsity;
        let explore = self.explore.spec.as_ref().filter(|_| view == View::Explore);
        let explore = explore.map(|spec| (**spec).clone());
        Fragment {
            model,
            settings,
            view,
            is_embedded: self.is_embedded,
            calibration,
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

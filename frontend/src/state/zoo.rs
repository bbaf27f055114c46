//! Choosing a network of the zoo.

use std::rc::Rc;

use super::{Effect, Job, Origin, Place, State};
use crate::message::{ZooSize, ZooView};
use tilewright_report::Diagnostic;

/// How a link names a network of the zoo.
pub const PREFIX: &str = "zoo:";

/// The choice among networks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Zoo {
    /// Whether the choice is shown.
    pub is_open: bool,
    /// All networks, once they are known.
    pub entries: Option<Rc<Vec<ZooView>>>,
    /// The chosen network with width and resolution; empty if none is.
    pub choice: String,
    /// What it needs, as far as that is known; may be of an earlier choice.
    pub size: Option<Rc<ZooSize>>,
    /// A choice that waits for the answer to an earlier one.
    next: Option<String>,
}

impl State {
    pub(super) fn show_zoo(&mut self, is_open: bool, effects: &mut Vec<Effect>) {
        self.zoo.is_open = is_open;
        if is_open {
            self.cells.is_open = false;
        }
        if is_open {
            self.list_zoo(effects);
        }
    }

    /// Has the networks listed, unless they are known.
    pub(super) fn list_zoo(&mut self, effects: &mut Vec<Effect>) {
        if self.zoo.entries.is_none() && self.task(Job::Zoo).is_none() {
            self.clear(Place::Zoo);
            let request = self.begin(Job::Zoo, "Building the networks of the zoo");
            effects.push(Effect::ListZoo(request));
        }
    }

    pub(super) fn choose_network(&mut self, name: String, effects: &mut Vec<Effect>) {
        self.zoo.choice.clone_from(&name);
        self.clear(Place::Zoo);
        if self.task(Job::ZooSize).is_some() {
            self.zoo.next = Some(name);
            return;
        }
        let request = self.begin(Job::ZooSize, &format!("Building {name}"));
        effects.push(Effect::SizeZoo(request, name));
    }

    pub(super) fn zoo_listed(&mut self, entries: Vec<ZooView>, took: f64) {
        self.took_ms = Some(took);
        self.said = format!("{} networks", entries.len());
        self.zoo.entries = Some(Rc::new(entries));
    }

    pub(super) fn zoo_sized(
        &mut self,
        size: Result<ZooSize, Diagnostic>,
        effects: &mut Vec<Effect>,
    ) {
        match size {
            Ok(size) => self.zoo.size = Some(Rc::new(size)),
            Err(trouble) => self.fail(Place::Zoo, trouble),
        }
        if let Some(name) = self.zoo.next.take() {
            self.choose_network(name, effects);
        }
    }

    /// Opens a network by its name with width and resolution.
    pub(super) fn open_network(&mut self, name: String, effects: &mut Vec<Effect>) {
        self.zoo.is_open = false;
        self.zoo.next = None;
        self.open(Origin::Zoo(name), effects);
        self.write_fragment(effects);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{facts, ready, request_of, started};
    use super::super::{Event, State};
    use super::*;
    use crate::message::{ImportReply, ModelFacts};

    fn size(name: &str) -> ImportReply {
        ImportReply::ZooSize(ZooSize { name: name.to_owned(), ..ZooSize::default() })
    }

    #[test]
    fn the_list_is_asked_for_once_and_again_after_it_was_stopped() {
        let (mut state, _) = started("");
        let effects = state.update(Event::ShowZoo(true));
        assert_eq!(effects, [Effect::ListZoo(request_of(&effects))]);
        assert!(state.update(Event::ShowZoo(true)).is_empty(), "it is on its way");
        state.update(Event::Stop(super::super::Doer::Importer));
        let effects = state.update(Event::ShowZoo(true));
        let reply = Ok(ImportReply::Zoo(vec![ZooView::default()]));
        state.update(Event::Imported(request_of(&effects), reply));
        state.update(Event::ShowZoo(false));
        assert!(state.update(Event::ShowZoo(true)).is_empty(), "it is known");
    }

    #[test]
    fn while_one_size_is_built_only_the_newest_waits() {
        let (mut state, _) = started("");
        let first = state.update(Event::ChooseNetwork("a-r32".to_owned()));
        for name in ["a-r48", "a-r64"] {
            assert!(state.update(Event::ChooseNetwork(name.to_owned())).is_empty());
        }
        assert_eq!(state.zoo.choice, "a-r64");
        let next = state.update(Event::Imported(request_of(&first), Ok(size("a-r32"))));
        let Effect::SizeZoo(request, name) = &next[0] else { panic!("{next:?}") };
        assert_eq!(name, "a-r64");
        assert!(state.update(Event::Imported(*request, Ok(size("a-r64")))).is_empty());
        assert_eq!(state.zoo.size.as_ref().unwrap().name, "a-r64");
    }

    #[test]
    fn a_link_keeps_the_network_and_a_reload_opens_it() {
        let mut state: State = ready();
        let effects = state.update(Event::OpenNetwork("mobilenet-v2-w0.35-r96".to_owned()));
        let request = request_of(&effects);
        assert!(!state.zoo.is_open);
        let text = state.fragment().text();
        assert!(text.contains("model=zoo:mobilenet-v2-w0.35-r96"), "{text}");
        let opened = ModelFacts { sha256: String::new(), ..facts() };
        state.update(Event::Imported(request, Ok(ImportReply::Opened(opened))));
        assert!(state.fragment().text().contains("zoo:mobilenet-v2-w0.35-r96"));
        let (_, effects) = started(&format!("#{text}"));
        let is_network = |effect: &Effect| matches!(effect, Effect::Open(_, Origin::Zoo(name), _) if name == "mobilenet-v2-w0.35-r96");
        assert!(effects.iter().any(is_network), "{effects:?}");
    }
}

//! Keeping the person's own model in the browser's storage, if the person allows it. There is room
//! for one: the last that was opened.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::link::sha256_link;
use super::{Effect, FileKind, Origin, State};
use crate::message::trouble;
use tilewright_report::Diagnostic;

/// A model in the browser's storage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// Name of the file.
    pub name: String,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// Length of the file.
    pub bytes: u64,
    /// What stands for dimensions that the file leaves open.
    pub dims: Vec<(String, u64)>,
}

/// What the page knows of the browser's storage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keep {
    /// Whether the person allows it.
    pub is_allowed: bool,
    /// Whether something is being stored.
    pub is_storing: bool,
    /// What is there.
    pub stored: Option<Rc<Stored>>,
    /// Why the open model could not be stored.
    pub problem: Option<Diagnostic>,
}

impl Keep {
    /// Whether it holds the model that a link names so.
    #[must_use]
    pub fn holds(&self, link: &str) -> bool {
        self.stored.as_ref().is_some_and(|stored| sha256_link(&stored.sha256) == link)
    }
}

impl State {
    pub(super) fn allow_keeping(&mut self, is_allowed: bool, effects: &mut Vec<Effect>) {
        self.keep.is_allowed = is_allowed;
        self.keep.problem = None;
        effects.push(Effect::RememberKeeping(is_allowed));
        if is_allowed {
            self.keep_model(effects);
        } else {
            self.keep.is_storing = false;
            effects.push(Effect::Forget);
        }
    }

    /// Stores the open model, if it is the person's own, may be kept, and is not there already.
    pub(super) fn keep_model(&mut self, effects: &mut Vec<Effect>) {
        let Some(model) = self.model.as_ref().filter(|_| self.keep.is_allowed) else { return };
        let Origin::File(file) = &model.origin else { return };
        if file.is_stored && self.keep.holds(&sha256_link(&model.facts.sha256)) {
            return;
        }
        // Class names are few words to give again.
        if file.data.iter().any(|(name, _)| FileKind::of(name) == FileKind::Data) {
            self.keep.problem = Some(trouble(
                format!("The browser does not keep {}", file.name),
                "Its weights are in other files.",
                "The model stays open here; after a reload, drop all its files again.",
            ));
            return;
        }
        let stored = Stored {
            name: file.name.clone(),
            sha256: model.facts.sha256.clone(),
            bytes: model.facts.file_bytes,
            dims: file.dims.clone(),
        };
        self.keep.is_storing = true;
        self.keep.problem = None;
        effects.push(Effect::Store(file.clone(), stored));
    }

    /// The storage says what it holds; a link that waits for that is followed.
    pub(super) fn stored(
        &mut self,
        stored: Result<Option<Stored>, Diagnostic>,
        effects: &mut Vec<Effect>,
    ) {
        self.keep.is_storing = false;
        match stored {
            Ok(stored) => {
                // That it is kept, the overview says: here the verdict stays.
                if stored.is_none() && !self.keep.is_allowed {
                    self.say("This browser keeps no model any more");
                }
                self.keep.stored = stored.map(Rc::new);
                let is_wanted =
                    self.wanted.as_ref().is_some_and(|wanted| self.keep.holds(&wanted.model));
                if is_wanted && self.model.is_none() && !self.is_opening() {
                    self.open_stored(effects);
                }
            }
            Err(trouble) => {
                self.say(&trouble.what);
                self.keep.problem = Some(trouble);
            }
        }
    }
}

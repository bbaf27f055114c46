//! Making cells.

use std::rc::Rc;

use super::{CellSearch, Effect, Job, Place, State};
use crate::message::{CellChoices, CellDraft, CellFacts};
use tilewright_report::Diagnostic;

/// The editor of cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cells {
    /// Whether it is shown.
    pub is_open: bool,
    /// What cells are made from, once that is known.
    pub choices: Option<Rc<CellChoices>>,
    /// The cells as they are now.
    pub draft: Rc<CellDraft>,
    /// What is known of a draft, perhaps of an earlier one.
    pub facts: Option<Rc<CellFacts>>,
    /// Searches for cells.
    pub search: CellSearch,
}

impl Cells {
    /// What is known of the draft as it is now.
    #[must_use]
    pub fn present(&self) -> Option<&Rc<CellFacts>> {
        self.facts.as_ref().filter(|facts| facts.draft == *self.draft)
    }
}

impl State {
    pub(super) fn show_cells(&mut self, is_open: bool, effects: &mut Vec<Effect>) {
        self.cells.is_open = is_open;
        if !is_open {
            return;
        }
        self.zoo.is_open = false;
        if self.cells.choices.is_none() && self.task(Job::CellChoices).is_none() {
            self.clear(Place::Cells);
            let request = self.begin(Job::CellChoices, "Looking up published cells");
            effects.push(Effect::ListCellChoices(request));
        } else if self.cells.choices.is_some() {
            self.ask_cells(effects);
        }
    }

    pub(super) fn cell_choices(&mut self, choices: CellChoices, effects: &mut Vec<Effect>) {
        if let Some(first) = choices.published.first() {
            self.cells.draft = Rc::new(first.draft.clone());
        }
        self.cells.choices = Some(Rc::new(choices));
        self.ask_cells(effects);
    }

    pub(super) fn edit_cells(&mut self, draft: CellDraft, effects: &mut Vec<Effect>) {
        self.cells.draft = Rc::new(draft);
        self.clear(Place::Cells);
        self.ask_cells(effects);
    }

    /// Asks for what is not known of the draft. While one is looked at, only the newest waits.
    fn ask_cells(&mut self, effects: &mut Vec<Effect>) {
        if self.task(Job::Cells).is_some() || self.cells.present().is_some() {
            return;
        }
        let request = self.begin(Job::Cells, "Building the stack of cells");
        effects.push(Effect::SizeCells(request, Rc::clone(&self.cells.draft)));
    }

    pub(super) fn cells_sized(
        &mut self,
        facts: Result<CellFacts, Diagnostic>,
        effects: &mut Vec<Effect>,
    ) {
        match facts {
            Ok(facts) => {
                self.cells.facts = Some(Rc::new(facts));
                self.ask_cells(effects);
            }
            Err(trouble) => self.fail(Place::Cells, trouble),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{request_of, started};
    use super::super::{Event, FileKind};
    use super::*;
    use crate::message::{ImportReply, PublishedCells};
    use tilewright_report::ZooSize;

    fn draft(cells: u32) -> CellDraft {
        CellDraft { cells, ..CellDraft::default() }
    }

    fn facts(cells: u32) -> ImportReply {
        let size = Ok(ZooSize::default());
        ImportReply::Cells(Box::new(CellFacts { draft: draft(cells), text: String::new(), size }))
    }

    #[test]
    fn the_editor_begins_with_published_cells_and_follows_the_newest_draft() {
        let (mut state, _) = started("");
        state.update(Event::ShowZoo(true));
        let effects = state.update(Event::ShowCells(true));
        assert!(state.cells.is_open && !state.zoo.is_open);
        let request = request_of(&effects);
        let name = "DARTS".to_owned();
        let published = PublishedCells { name, is_inferred: false, draft: draft(8) };
        let choices = CellChoices { published: vec![published], ..CellChoices::default() };
        let reply = Ok(ImportReply::CellChoices(choices));
        let effects = state.update(Event::Imported(request, reply));
        let first = request_of(&effects);
        for cells in [9, 10] {
            assert!(state.update(Event::EditCells(draft(cells))).is_empty());
        }
        let effects = state.update(Event::Imported(first, Ok(facts(8))));
        assert!(state.cells.present().is_none());
        let Effect::SizeCells(request, asked) = &effects[0] else { panic!("{effects:?}") };
        assert_eq!(asked.cells, 10);
        assert!(state.update(Event::Imported(*request, Ok(facts(10)))).is_empty());
        assert!(state.cells.present().is_some());
        state.update(Event::ShowCells(false));
        assert!(state.update(Event::ShowCells(true)).is_empty(), "all of it is known");
    }

    #[test]
    fn a_text_of_cells_is_a_model() {
        assert_eq!(FileKind::of("cells.TXT"), FileKind::Model);
    }
}

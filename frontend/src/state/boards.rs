//! Choosing a board: all that there are, what the open model would come to on each, and boards of a person's own.

use std::rc::Rc;

use super::{AUTO, Effect, ExploreSpec, Job, OPEN, Place, State, explore::Shows};
use crate::message::trouble;
use tilewright_board::{Board, OWN, OwnBoard, SMALL, Support};
use tilewright_report::SweepRow;

/// The choice among boards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Boards {
    /// Whether it is shown.
    pub is_open: bool,
    /// Whether plans of view Explore were made when it was opened.
    pub interrupts: bool,
    /// The open model's best plan on each board, as far as it is known.
    pub rows: Rc<Vec<Rc<SweepRow>>>,
}

impl State {
    pub(super) fn show_boards(&mut self, is_open: bool, effects: &mut Vec<Effect>) {
        if self.board_choice.is_open == is_open {
            return;
        }
        // Two choices share those who plan rows.
        let was_exploring = self.task(Job::Explore).is_some();
        self.stop_exploring(effects);
        self.board_choice.is_open = is_open;
        if is_open {
            self.board_choice.interrupts = was_exploring;
            return self.look_around(effects);
        }
        self.follow_choice();
        self.look_around(effects);
        if std::mem::take(&mut self.board_choice.interrupts) {
            self.begin_exploring(effects);
        }
    }

    /// The best plan of the open model on each board that somebody can have.
    pub(super) fn on_each_board(&self) -> ExploreSpec {
        let boards = self
            .boards
            .iter()
            .filter(|board| board.support != Support::Virtual && !board.id.ends_with(SMALL));
        ExploreSpec {
            models: vec![OPEN.to_owned()],
            boards: boards.map(|board| board.id.clone()).collect(),
            strategies: vec![AUTO.to_owned()],
            shows: Shows::Columns,
            ..ExploreSpec::default()
        }
    }

    /// Makes the board that the settings name one of those that there are, if its id says what it is.
    pub(super) fn know_own_board(&mut self) {
        let id = &self.settings.now().board;
        let is_known = self.boards.iter().any(|board| board.id == *id);
        if is_known || self.boards.is_empty() || !id.starts_with(OWN) {
            return;
        }
        let made = id.parse().map_err(|error| format!("{error}")).and_then(|own: OwnBoard| {
            let base = self.boards.iter().find(|board| board.id == own.base);
            let base = base.ok_or_else(|| format!("there is no board '{}'", own.base))?;
            own.of(base).map_err(|error| error.to_string())
        });
        match made {
            Ok(board) => {
                // A link may say the same in another order.
                let id = board.id.clone();
                self.settings.complete(|settings| settings.board.clone_from(&id));
                if !self.boards.iter().any(|known| known.id == id) {
                    self.add_board(board);
                }
            }
            Err(why) => {
                let what = "The board of your own cannot be.".to_owned();
                let why = tilewright_report::sentence(&why);
                let what_to_do = "Choose another board, or change it in the list of boards.";
                self.fail(Place::Plan, trouble(what, why, what_to_do));
            }
        }
    }

    fn add_board(&mut self, board: Board) {
        let boards = Rc::make_mut(&mut self.boards);
        boards.extend(board.small());
        boards.push(board);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ready, started};
    use super::super::{Event, ExploreEvent, View};
    use super::*;

    fn asked(effects: &[Effect]) -> usize {
        effects.iter().filter(|effect| matches!(effect, Effect::Sweep { .. })).count()
    }

    #[test]
    fn boards_are_planned_for_while_they_are_shown() {
        let (mut state, _) = started("");
        assert_eq!(asked(&state.update(Event::ShowBoards(true))), 0, "no model is open");
        state.update(Event::ShowBoards(false));
        let mut state = ready();
        let effects = state.update(Event::ShowBoards(true));
        assert!(asked(&effects) > 0 && state.task(Job::Explore).is_some());
        assert!(state.explore.rows.is_empty() && state.explore.spec.is_none());
        state.update(Event::ShowBoards(false));
        assert!(state.task(Job::Explore).is_none());
    }

    #[test]
    fn closing_goes_on_with_what_was_explored() {
        let mut state = ready();
        state.update(Event::Show(View::Explore));
        let spec = state.explore.spec.clone().unwrap();
        state.update(Event::ShowBoards(true));
        let effects = state.update(Event::ShowBoards(false));
        assert!(asked(&effects) > 0 && state.explore.spec == Some(spec));
        let effects = state.update(Event::Explore(ExploreEvent::Begin));
        assert_eq!(asked(&effects), 0, "it goes on already");
    }

    #[test]
    fn a_link_brings_a_board_of_ones_own() {
        let id = "own:stm32f746g-disco:sram=96";
        let (state, _) = started(&format!("#board={id}"));
        assert_eq!(state.board().unwrap().arena().0, 96 << 10);
        assert!(state.trouble(Place::Plan).is_none());
        let (state, _) = started("#board=own:stm32f746g-disco:ram=0:sram=96");
        assert_eq!(state.settings.now().board, "own:stm32f746g-disco:sram=96:ram=0");
        assert!(state.board().is_some() && state.trouble(Place::Plan).is_none());
        let (state, _) = started("#board=own:stm32f746g-disco:sram=0");
        assert!(state.trouble(Place::Plan).is_some_and(|trouble| trouble.place.contains("SRAM")));
        assert!(!state.settings.now().board.starts_with(OWN));
        let mut state = ready();
        state.update(Event::Settings(state.settings.now().on_board(id), false));
        assert!(state.board().is_some_and(|board| board.support == Support::Planning));
    }
}

//! Searching cells.

use std::rc::Rc;

use super::{Effect, Job, Place, State};
use crate::message::{SearchLog, SearchNews, SearchSettings};
use tilewright_report::Diagnostic;

/// Searches for cells: one of those that were logged, and one here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellSearch {
    /// Whether it is shown in place of the editor.
    pub is_shown: bool,
    /// Which of the logged ones is shown.
    pub chosen: usize,
    /// How the next one is done.
    pub settings: SearchSettings,
    /// The search that was begun last.
    pub begun: Option<Begun>,
}

/// A search that was begun.
#[derive(Clone, Debug, PartialEq)]
pub struct Begun {
    /// How it is done.
    pub settings: SearchSettings,
    /// What its images are called, and how many there are.
    pub images: (String, u32),
    /// How it went so far.
    pub log: Rc<SearchLog>,
    /// Why it can learn no more.
    pub diverged: Option<String>,
}

impl Begun {
    /// Steps that are done.
    #[must_use]
    pub fn done(&self) -> u32 {
        u32::try_from(self.log.steps.len()).unwrap_or(u32::MAX)
    }

    /// Whether there is a step to come.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.diverged.is_none() && self.done() < self.settings.steps
    }
}

/// What happens to searches.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchEvent {
    /// Searches are to be shown in place of the editor, or no more.
    Show(bool),
    /// Another logged one is to be shown.
    Choose(usize),
    /// The next one is to be done so.
    Set(SearchSettings),
    /// Begin one in place of the one before.
    Begin,
    /// Go on with the one that was stopped.
    GoOn,
    /// The worker answers.
    Answered(u32, Result<SearchNews, Diagnostic>),
}

impl State {
    pub(super) fn search_event(&mut self, event: SearchEvent, effects: &mut Vec<Effect>) {
        let search = &mut self.cells.search;
        match event {
            SearchEvent::Show(is_shown) => search.is_shown = is_shown,
            SearchEvent::Choose(index) => search.chosen = index,
            SearchEvent::Set(settings) => search.settings = settings,
            SearchEvent::Begin => self.begin_search(effects),
            SearchEvent::GoOn => {
                let Some(begun) = search.begun.as_ref().filter(|begun| begun.goes_on()) else {
                    return;
                };
                let (done, text) = (begun.done(), under_way(begun));
                self.clear(Place::Search);
                let request = self.begin(Job::Search, &text);
                effects.push(Effect::GoOnSearching(request, done));
            }
            SearchEvent::Answered(request, answer) => self.searched(request, answer, effects),
        }
    }

    fn begin_search(&mut self, effects: &mut Vec<Effect>) {
        let (settings, images) = (self.cells.search.settings, self.images.clone());
        let log = SearchLog { trade_off: settings.trade_off, ..SearchLog::default() };
        let begun =
            Begun { settings, images: (images.name(), 0), log: Rc::new(log), diverged: None };
        self.cells.search.begun = Some(begun);
        self.clear(Place::Search);
        let request = self.begin(Job::Search, "Starting the search for cells");
        effects.push(Effect::BeginSearch(request, settings, images));
    }

    /// A step is done: asks for the next one.
    fn searched(
        &mut self,
        request: u32,
        answer: Result<SearchNews, Diagnostic>,
        effects: &mut Vec<Effect>,
    ) {
        if !self.is_awaited(Job::Search, request) {
            return;
        }
        let Some(begun) = self.cells.search.begun.as_mut() else { return };
        let news = match answer {
            Ok(news) => news,
            Err(trouble) => {
                if begun.done() == 0 {
                    self.cells.search.begun = None;
                }
                self.end(request);
                return self.fail(Place::Search, trouble);
            }
        };
        begun.images.1 = news.images;
        let log = Rc::make_mut(&mut begun.log);
        log.steps.extend(news.steps);
        log.found = news.found;
        begun.diverged = news.diverged;
        if begun.goes_on() {
            let (done, text) = (begun.done(), under_way(begun));
            let next = self.next_request();
            // It is one task to a person, and its time goes on.
            if let Some(task) = self.tasks.iter_mut().find(|task| task.job == Job::Search) {
                (task.request, task.text) = (next, text);
            }
            effects.push(Effect::GoOnSearching(next, done));
            return;
        }
        self.said = match &begun.diverged {
            Some(how) => tilewright_report::sentence(how),
            None => format!("Cells found in {} steps", begun.done()),
        };
        self.took_ms = self.end(request);
        // Nothing can be gone on with: it gives its memory back.
        effects.push(Effect::EndSearch);
    }
}

fn under_way(begun: &Begun) -> String {
    format!("Searching cells: step {} of {}", begun.done() + 1, begun.settings.steps)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{request_of, started};
    use super::super::{Doer, Event, check_images};
    use super::*;
    use crate::message::{SearchStep, trouble};

    fn news(steps: std::ops::Range<u32>) -> SearchNews {
        let step = |step| SearchStep { step, loss: 2.0, accuracy: 0.5, cost: 9.0, cells: [4, 5] };
        let steps = steps.map(step).collect();
        SearchNews { images: 128, steps, found: Default::default(), diverged: None }
    }

    fn begun(steps: u32) -> (State, u32) {
        let (mut state, _) = started("");
        let settings = SearchSettings { steps, ..SearchSettings::default() };
        state.update(Event::Search(SearchEvent::Set(settings)));
        let effects = state.update(Event::Search(SearchEvent::Begin));
        assert!(matches!(&effects[..], [Effect::BeginSearch(_, asked, _)] if *asked == settings));
        let request = request_of(&effects);
        (state, request)
    }

    fn answer(state: &mut State, request: u32, news: SearchNews) -> Vec<Effect> {
        state.update(Event::Search(SearchEvent::Answered(request, Ok(news))))
    }

    #[test]
    fn steps_are_asked_for_one_after_the_other_until_all_are_done() {
        let (mut state, request) = begun(2);
        let effects = answer(&mut state, request, news(1..1));
        assert!(matches!(&effects[..], [Effect::GoOnSearching(_, 0)]), "{effects:?}");
        let second = request_of(&effects);
        let effects = answer(&mut state, second, news(1..2));
        assert!(state.task(Job::Search).unwrap().text.contains("step 2 of 2"));
        let third = request_of(&effects);
        assert_eq!(answer(&mut state, third, news(2..3)), [Effect::EndSearch]);
        assert!(state.task(Job::Search).is_none() && state.said.contains("2 steps"));
    }

    #[test]
    fn what_was_found_before_a_stop_is_kept_and_gone_on_with() {
        let (mut state, request) = begun(9);
        let effects = answer(&mut state, request, news(1..4));
        let waiting = request_of(&effects);
        assert!(state.update(Event::Stop(Doer::Search)).is_empty(), "its worker keeps the search");
        assert!(answer(&mut state, waiting, news(4..5)).is_empty(), "too late");
        assert_eq!(state.cells.search.begun.as_ref().unwrap().done(), 3);
        let effects = state.update(Event::Search(SearchEvent::GoOn));
        assert!(matches!(&effects[..], [Effect::GoOnSearching(_, 3)]), "{effects:?}");
        let request = request_of(&effects);
        answer(&mut state, request, news(4..6));
        assert_eq!(state.cells.search.begun.as_ref().unwrap().done(), 5);
    }

    #[test]
    fn a_search_that_diverges_says_so_and_keeps_its_cells() {
        let (mut state, request) = begun(9);
        let effects = answer(&mut state, request, news(1..3));
        let words = "the search diverged in step 3".to_owned();
        let last = SearchNews { diverged: Some(words), ..news(3..3) };
        let request = request_of(&effects);
        assert_eq!(answer(&mut state, request, last), [Effect::EndSearch]);
        let begun = state.cells.search.begun.as_ref().unwrap();
        assert!(begun.done() == 2 && !begun.goes_on());
        assert!(state.said.contains("diverged in step 3"), "{}", state.said);
    }

    #[test]
    fn files_that_hold_no_images_are_refused_beside_the_choice() {
        let (mut state, request) = begun(9);
        let refusal = Err(trouble("no images", "", ""));
        state.update(Event::Search(SearchEvent::Answered(request, refusal)));
        assert!(state.trouble(Place::Search).is_some() && state.cells.search.begun.is_none());
        let files = |count: usize, bytes| vec![("images.gz".to_owned(), bytes); count];
        assert!(check_images(&files(2, 1 << 20)).is_ok());
        assert!(check_images(&files(3, 1)).is_err() && check_images(&files(1, u64::MAX)).is_err());
        state.update(Event::Images(vec![(7, "a".to_owned())]));
        assert!(state.names_file(7) && state.trouble(Place::Search).is_none());
    }
}

//! Many plans at once: models, boards, strategies and budgets, each with each.

mod spec;

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Effect, Job, Origin, Place, State, View, ZOO};
use crate::message::SentRow;
use tilewright_report::{Diagnostic, SweepBy, SweepKey, SweepRow};

pub use spec::{BUDGETS, ExploreSpec, MOST_PLANS, OPEN, Shows};

/// Milliseconds between two answers: often enough to see it grow, seldom enough to scroll meanwhile.
const BETWEEN_ANSWERS_MS: f64 = 200.0;

/// Workers that plan rows.
pub const SWEEPERS: usize = 2;

/// Most rows that are asked for at once.
const MOST_AT_ONCE: usize = 128;

/// Plans, and which of them are looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explore {
    /// What is combined; nothing until somebody looks.
    pub spec: Option<Rc<ExploreSpec>>,
    /// Rows of the choice that are known.
    pub rows: Rc<Vec<Rc<SweepRow>>>,
    /// The row that is looked at.
    pub picked: Option<Rc<SweepRow>>,
    /// Rows that are compared.
    pub pinned: Vec<Rc<SweepRow>>,
}

/// How far the plans are; too much to be drawn from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exploring {
    /// All rows of the choice.
    keys: Vec<SweepKey>,
    /// Rows that are known, those of earlier choices too.
    known: BTreeMap<SweepKey, Rc<SweepRow>>,
    /// The name of the open model that rows were planned of.
    open: Option<String>,
    /// What workers are asked for.
    asked: Vec<Asked>,
}

/// Rows that a worker plans.
#[derive(Clone, Debug, PartialEq)]
struct Asked {
    request: u32,
    worker: usize,
    keys: Vec<SweepKey>,
    since_ms: f64,
}

impl Explore {
    /// Whether a row is looked at or compared.
    #[must_use]
    pub fn is_marked(&self, key: &SweepKey) -> bool {
        self.picked.iter().chain(&self.pinned).any(|row| row.key == *key)
    }

    /// Rows that were pinned, and the one that was picked.
    #[must_use]
    pub fn looked_at(&self) -> Vec<Rc<SweepRow>> {
        let picked = self.picked.iter().filter(|picked| !self.pinned.contains(picked));
        self.pinned.iter().chain(picked).cloned().collect()
    }
}

impl Exploring {
    /// Whether rows were asked for with this request.
    pub(super) fn is_asked(&self, request: u32) -> bool {
        self.asked.iter().any(|asked| asked.request == request)
    }

    fn take(&mut self, rows: Vec<SentRow>) {
        let rows = rows.into_iter().map(SweepRow::from);
        let pairs = rows.map(|row| (row.key.clone(), Rc::new(row)));
        self.known.extend(pairs);
    }
}

/// What happens while plans are explored.
#[derive(Clone, Debug, PartialEq)]
pub enum ExploreEvent {
    /// Other things are to be combined, or drawn otherwise.
    Set(Box<ExploreSpec>),
    /// The shown plan is to be looked at beside others of this.
    Around(SweepBy),
    /// What is not known yet is to be planned.
    Begin,
    /// A row is to be looked at.
    Pick(SweepKey),
    /// A row is to be compared, or no more.
    Pin(SweepKey),
}

impl State {
    /// What rows call the open model.
    #[must_use]
    pub fn open_name(&self) -> Option<String> {
        self.model.as_ref().map(|model| match &model.origin {
            Origin::Zoo(name) => name.strip_prefix(ZOO).unwrap_or(name).to_owned(),
            Origin::Example(_) | Origin::File(_) => model.facts.file.clone(),
        })
    }

    pub(super) fn explore_event(&mut self, event: ExploreEvent, effects: &mut Vec<Effect>) {
        match event {
            ExploreEvent::Set(spec) => {
                self.explore.spec = Some(Rc::new(*spec));
                self.follow_choice();
                self.write_fragment(effects);
            }
            ExploreEvent::Around(beside) => {
                let spec = ExploreSpec::around(self.settings.now(), beside, &self.boards);
                self.explore.spec = Some(Rc::new(spec));
                self.view = View::Explore;
                self.follow_choice();
                self.begin_exploring(effects);
                self.write_fragment(effects);
            }
            ExploreEvent::Begin => self.begin_exploring(effects),
            ExploreEvent::Pick(key) => {
                self.explore.picked = self.exploring.known.get(&key).cloned()
            }
            ExploreEvent::Pin(key) => {
                let before = self.explore.pinned.len();
                self.explore.pinned.retain(|pinned| pinned.key != key);
                if self.explore.pinned.len() == before {
                    self.explore.pinned.extend(self.exploring.known.get(&key).cloned());
                }
            }
        }
    }

    /// If the view is shown, there is something to look at from the beginning.
    pub(super) fn look_around(&mut self, effects: &mut Vec<Effect>) {
        if self.board_choice.is_open {
            self.follow_choice();
            if self.model.is_some() && !self.is_opening() {
                self.begin_exploring(effects);
            }
            return;
        }
        if self.view != View::Explore || self.boards.is_empty() {
            return;
        }
        if self.explore.spec.is_none() {
            let spec = ExploreSpec::first(self.model.is_some(), &self.boards);
            self.explore.spec = Some(Rc::new(spec));
        }
        self.list_zoo(effects);
        self.follow_choice();
        if self.explore.rows.is_empty() && self.task(Job::Explore).is_none() && !self.is_opening() {
            self.begin_exploring(effects);
        }
    }

    /// A model is open that was not: what was planned of the one before has its name.
    pub(super) fn forget_explored(&mut self, effects: &mut Vec<Effect>) {
        if let Some(name) = self.exploring.open.take() {
            self.exploring.known.retain(|key, _| key.network != name);
            self.explore.pinned.retain(|row| row.key.network != name);
            self.explore.picked = None;
        }
        if self.task(Job::Explore).is_some() {
            self.stop_exploring(effects);
        }
        self.follow_choice();
    }

    /// The choice, or the model that it means, is another one.
    pub(super) fn follow_choice(&mut self) {
        let of_boards = || Some(Rc::new(self.on_each_board()));
        let spec = if self.board_choice.is_open { of_boards() } else { self.explore.spec.clone() };
        let Some(spec) = spec else { return };
        self.exploring.keys = spec.keys(self.open_name().as_deref());
        self.draw_explored();
    }

    fn draw_explored(&mut self) {
        let Exploring { keys, known, .. } = &self.exploring;
        let rows = Rc::new(keys.iter().filter_map(|key| known.get(key)).cloned().collect());
        match self.board_choice.is_open {
            true => self.board_choice.rows = rows,
            false => self.explore.rows = rows,
        }
    }

    /// Rows that are neither known nor asked for.
    fn unexplored(&self, most: usize) -> Vec<SweepKey> {
        let Exploring { keys, known, asked, .. } = &self.exploring;
        let is_asked = |key: &SweepKey| asked.iter().any(|asked| asked.keys.contains(key));
        let keys = keys.iter().filter(|key| !known.contains_key(key) && !is_asked(key));
        keys.take(most).cloned().collect()
    }

    pub(super) fn begin_exploring(&mut self, effects: &mut Vec<Effect>) {
        self.clear(Place::Explore);
        if self.unexplored(1).is_empty() || self.task(Job::Explore).is_some() {
            return;
        }
        self.begin(Job::Explore, "Planning");
        for worker in 0..SWEEPERS {
            // The first point comes at once.
            self.ask_rows(worker, 1, effects);
        }
    }

    /// Asks a worker for as many rows, if there are some left.
    fn ask_rows(&mut self, worker: usize, count: usize, effects: &mut Vec<Effect>) {
        let keys = self.unexplored(count);
        if keys.is_empty() {
            return;
        }
        let (request, since_ms) = (self.next_request(), self.now_ms);
        self.exploring.open = self.open_name();
        let open = self.exploring.open.clone().unwrap_or_default();
        effects.push(Effect::Sweep { request, worker, keys: keys.clone(), open });
        self.exploring.asked.push(Asked { request, worker, keys, since_ms });
    }

    /// Rows that were asked for are there, or why not; nothing was asked for with other requests.
    pub(super) fn swept(
        &mut self,
        request: u32,
        reply: Result<Vec<SentRow>, Diagnostic>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(place) = self.exploring.asked.iter().position(|asked| asked.request == request)
        else {
            return;
        };
        let asked = self.exploring.asked.remove(place);
        let rows = match reply {
            Ok(rows) => rows,
            Err(trouble) => {
                self.stop_exploring(effects);
                return self.fail(Place::Explore, trouble);
            }
        };
        let count = rows.len().max(1);
        let took = (self.now_ms - asked.since_ms).max(1.0);
        let next = (count as f64 * BETWEEN_ANSWERS_MS / took) as usize;
        self.exploring.take(rows);
        self.draw_explored();
        self.ask_rows(asked.worker, next.clamp(1, MOST_AT_ONCE.min(4 * count)), effects);
        let Exploring { keys, known, asked, .. } = &self.exploring;
        let (of, done) = (keys.len(), asked.is_empty());
        let known = keys.iter().filter(|key| known.contains_key(key)).count();
        let Some(task) = self.tasks.iter_mut().find(|task| task.job == Job::Explore) else {
            return;
        };
        task.text = format!("Planning: {known} of {of}");
        if done {
            let request = task.request;
            self.took_ms = self.end(request);
            self.said = format!("{known} plans");
        }
    }

    /// Nothing more is asked for; what is known stays.
    pub(super) fn stop_exploring(&mut self, effects: &mut Vec<Effect>) {
        self.exploring.asked.clear();
        self.tasks.retain(|task| task.job != Job::Explore);
        effects.push(Effect::EndSweepers);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::started;
    use super::super::{Doer, Event};
    use super::*;
    use crate::message::ImportReply;

    fn row(key: &SweepKey) -> SweepRow {
        SweepRow { key: key.clone(), macs: None, parameters: None, plan: None, problem: None }
    }

    fn asked(effects: &[Effect]) -> Vec<(u32, Vec<SweepKey>)> {
        let sweep = |effect: &Effect| match effect {
            Effect::Sweep { request, keys, .. } => Some((*request, keys.clone())),
            _ => None,
        };
        effects.iter().filter_map(sweep).collect()
    }

    fn answer(state: &mut State, request: u32, keys: &[SweepKey]) -> Vec<Effect> {
        let rows = keys.iter().map(row).map(SentRow::from).collect();
        state.update(Event::Imported(request, Ok(ImportReply::Swept(rows))))
    }

    fn shown(text: &str) -> (State, Vec<Effect>) {
        let (mut state, _) = started("");
        let effects = state.update(Event::Show(View::Explore));
        assert_eq!(asked(&effects).len(), SWEEPERS, "it begins by itself");
        state.update(Event::Stop(Doer::Sweeper));
        let spec = Box::new(ExploreSpec::parse(text));
        state.update(Event::Explore(ExploreEvent::Set(spec)));
        let effects = state.update(Event::Explore(ExploreEvent::Begin));
        (state, effects)
    }

    #[test]
    fn rows_come_one_at_first_and_then_as_many_as_there_is_time_for() {
        let (mut state, effects) = shown("m:vww;b:a,b,c,d;s:auto,swap");
        let both = asked(&effects);
        assert_eq!(both.iter().map(|(_, keys)| keys.len()).collect::<Vec<_>>(), [1, 1]);
        state.now_ms += 10.0;
        let [(request, keys)] = &asked(&answer(&mut state, both[0].0, &both[0].1))[..] else {
            panic!()
        };
        assert_eq!(keys.len(), 4, "it was quick");
        assert!(state.task(Job::Explore).unwrap().text.contains("1 of 8"));
        state.now_ms += 5_000.0;
        let [(last, few)] = &asked(&answer(&mut state, *request, keys))[..] else { panic!() };
        assert_eq!(few.len(), 1, "it was slow");
        let [(rest, one)] = &asked(&answer(&mut state, both[1].0, &both[1].1))[..] else {
            panic!()
        };
        assert!(answer(&mut state, *last, few).is_empty());
        assert!(state.task(Job::Explore).is_some(), "the other worker has one left");
        assert!(answer(&mut state, *rest, one).is_empty());
        assert!(state.task(Job::Explore).is_none() && state.explore.rows.len() == 8);
        assert!(answer(&mut state, *rest, one).is_empty(), "an answer that nobody waits for");
    }

    #[test]
    fn what_is_known_is_not_planned_again() {
        let (mut state, effects) = shown("m:vww;b:a;s:auto");
        let [(request, keys)] = &asked(&effects)[..] else { panic!("one row, one worker") };
        answer(&mut state, *request, keys);
        let more = Box::new(ExploreSpec::parse("m:vww;b:a;s:auto,swap"));
        state.update(Event::Explore(ExploreEvent::Set(more)));
        assert_eq!(state.explore.rows.len(), 1);
        let effects = state.update(Event::Explore(ExploreEvent::Begin));
        let [(request, keys)] = &asked(&effects)[..] else { panic!("{effects:?}") };
        assert_eq!(keys[0].strategy, "swap");
        let trouble = crate::message::trouble("no", "", "");
        let effects = state.update(Event::Imported(*request, Err(trouble)));
        assert_eq!(effects, [Effect::EndSweepers]);
        assert!(state.trouble(Place::Explore).is_some() && state.task(Job::Explore).is_none());
        assert_eq!(state.explore.rows.len(), 1, "what was known stays");
    }

    #[test]
    fn pins_and_links_stay() {
        let (mut state, effects) = shown("m:vww;b:a;s:auto");
        let [(request, keys)] = &asked(&effects)[..] else { panic!("{effects:?}") };
        answer(&mut state, *request, keys);
        let pin = || Event::Explore(ExploreEvent::Pin(keys[0].clone()));
        state.update(pin());
        assert!(state.explore.is_marked(&keys[0]) && state.explore.pinned.len() == 1);
        state.update(pin());
        assert!(state.explore.pinned.is_empty());
        assert!(state.fragment().text().contains("explore=m:vww;b:a;s:auto"));
    }
}

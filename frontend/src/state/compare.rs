//! Plans beside the shown one: those of all strategies, and those that may be a remedy.
//!
//! They are made one by one while nothing else is planned, and kept for the open model as long as
//! the settings need them.

use std::rc::Rc;

use tilewright_board::Support;
use tilewright_report::{Change, changes};

use super::{Effect, Job, State};
use crate::message::{PlanFacts, PlanReply, PlanSettings};
use tilewright_report::Diagnostic;

/// A plan that was made to be compared, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// What was asked for.
    pub settings: PlanSettings,
    /// What came of it.
    pub plan: Result<Rc<PlanFacts>, Diagnostic>,
}

/// Why a plan is made beside the shown one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// It is that of another strategy, to be compared.
    Strategy,
    /// It may be a remedy: of these there are many, so that none may take long.
    Remedy,
}

/// Plans beside the shown one.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Compare {
    /// Those that were made.
    pub tried: Rc<Vec<Tried>>,
    /// What is being planned.
    under_way: Option<PlanSettings>,
    /// Whether the person has stopped it; until the next plan nothing is compared.
    is_stopped: bool,
}

/// All plans that there are of the open model. Two of these are equal if they are the same: their
/// contents are too large to be looked through for each drawing.
#[derive(Clone, Debug, Default)]
pub struct Plans {
    shown: Option<Rc<PlanFacts>>,
    tried: Rc<Vec<Tried>>,
}

impl PartialEq for Plans {
    fn eq(&self, other: &Self) -> bool {
        let place = |plans: &Self| plans.shown.as_ref().map(Rc::as_ptr);
        place(self) == place(other) && Rc::ptr_eq(&self.tried, &other.tried)
    }
}

impl Plans {
    /// The plan that settings ask for: the shown one, or one that was made to be compared. Nothing
    /// if there is none yet.
    #[must_use]
    pub fn with(&self, settings: &PlanSettings) -> Option<Result<&Rc<PlanFacts>, &Diagnostic>> {
        if let Some(plan) = self.shown.as_ref().filter(|plan| plan.settings == *settings) {
            return Some(Ok(plan));
        }
        let tried = self.tried.iter().find(|tried| tried.settings == *settings);
        tried.map(|tried| tried.plan.as_ref())
    }

    /// A plan of the same board and strategy within another budget: what to show until the plan
    /// that settings ask for is there.
    #[must_use]
    pub fn like(&self, settings: &PlanSettings) -> Option<&Rc<PlanFacts>> {
        let mut all = self.tried.iter().filter_map(|tried| tried.plan.as_ref().ok());
        all.find(|plan| {
            plan.settings.board_id() == settings.board_id()
                && plan.settings.strategy == settings.strategy
        })
    }
}

impl State {
    /// All plans that there are.
    #[must_use]
    pub fn plans(&self) -> Plans {
        Plans { shown: self.plan.clone(), tried: Rc::clone(&self.compare.tried) }
    }

    /// What is worth planning beside the shown plan.
    fn wanted(&self) -> Vec<(PlanSettings, Beside)> {
        let Some(plan) = self.plan.as_ref().filter(|_| !self.is_plan_stale()) else {
            return Vec::new();
        };
        let of_strategy = |name: &String| {
            let settings = PlanSettings { strategy: name.clone(), ..plan.settings.clone() };
            (settings, Beside::Strategy)
        };
        let mut wanted: Vec<_> = self.strategies.iter().map(of_strategy).collect();
        let changes = self.changes().into_iter();
        wanted.extend(changes.map(|(_, settings)| (settings, Beside::Remedy)));
        wanted
    }

    /// What may make the shown plan fit, with the settings that it means.
    #[must_use]
    pub fn changes(&self) -> Vec<(Change, PlanSettings)> {
        let Some(plan) = &self.plan else { return Vec::new() };
        // A board that no one can buy helps no one.
        let boards = self.boards.iter().filter(|board| board.support != Support::Virtual);
        let changes = changes(
            &plan.report,
            plan.settings.sram_bytes.is_some(),
            self.strategies.iter().map(String::as_str),
            boards.map(|board| board.id.as_str()),
        );
        let settings = |change: &Change| {
            let now = plan.settings.clone();
            match change {
                Change::WholeArena => PlanSettings { sram_bytes: None, ..now },
                Change::Strategy(name) => PlanSettings { strategy: name.clone(), ..now },
                Change::Board(id) => now.on_board(id),
                // No change of settings makes another network of this one.
                Change::Network(_) => now,
            }
        };
        changes.into_iter().map(|change| (change.clone(), settings(&change))).collect()
    }

    /// Whether plans to compare are still to come.
    #[must_use]
    pub fn is_comparing(&self) -> bool {
        self.task(Job::Compare).is_some()
    }

    /// Asks for the next plan that is wanted, unless the planner has more urgent work.
    pub(super) fn compare_next(&mut self, effects: &mut Vec<Effect>) {
        let is_busy = self.task(Job::Plan).is_some() || self.is_comparing();
        if is_busy || self.is_passing() || self.compare.is_stopped {
            return;
        }
        let (wanted, plans) = (self.wanted(), self.plans());
        let Some((next, way)) = wanted.into_iter().find(|(next, _)| plans.with(next).is_none())
        else {
            return;
        };
        let text = format!("Comparing: {}", next.strategy);
        let request = self.begin(Job::Compare, &text);
        self.compare.under_way = Some(next.clone());
        effects.push(Effect::Compare(request, next, way));
    }

    /// A plan to compare is there, or cannot be made.
    pub(super) fn compared(
        &mut self,
        request: u32,
        reply: Result<PlanReply, Diagnostic>,
        effects: &mut Vec<Effect>,
    ) {
        self.end(request);
        if let Some(settings) = self.compare.under_way.take() {
            let plan = match reply {
                Ok(PlanReply::Planned(facts)) => Ok(Rc::new(*facts)),
                Ok(_) => return,
                Err(trouble) => Err(trouble),
            };
            let wanted = self.wanted();
            let mut tried = Vec::clone(&self.compare.tried);
            tried.retain(|old| wanted.iter().any(|(settings, _)| *settings == old.settings));
            tried.push(Tried { settings, plan });
            self.compare.tried = Rc::new(tried);
        }
        self.compare_next(effects);
    }

    /// A new plan is asked for: the planner gives up what it plans to compare.
    pub(super) fn make_way(&mut self) {
        self.compare.is_stopped = false;
        self.compare.under_way = None;
        self.tasks.retain(|task| task.job != Job::Compare);
    }

    /// The person has stopped the planner.
    pub(super) fn stop_comparing(&mut self) {
        self.compare.under_way = None;
        self.compare.is_stopped = true;
    }

    /// Another model is open: nothing that was planned counts.
    pub(super) fn restart_comparing(&mut self) {
        self.make_way();
        self.compare = Compare::default();
    }
}

#[cfg(test)]
mod tests;

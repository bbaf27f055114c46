//! Planning and packaging.

use std::rc::Rc;

use super::{Effect, Job, Kept, Origin, OwnFile, Place, State};
use crate::message::{PlanFacts, PlanReply, PlanSettings, ScheduleFile, trouble};
use tilewright_report::Diagnostic;

/// How long a plan may be under way, in milliseconds, while a drag goes on that began it: if each move
/// took its place, nothing would be seen until the drag ends. One that takes longer gives way.
const FOLLOWED_MS: f64 = 1_500.0;

/// The strategy that searches over all others.
pub(super) const AUTO: &str = "auto";

/// What a plan under way was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    settings: PlanSettings,
    /// Whether a drag passed there.
    is_passing: bool,
}

impl State {
    /// Whether a drag goes on and the plan under way is of a place that it passed a moment ago: that is
    /// shown first, then the newest place is planned.
    pub(super) fn waits_for_a_passing_plan(&self) -> bool {
        let is_passing = self.planning.as_ref().is_some_and(|asked| asked.is_passing);
        self.settings.is_dragging() && is_passing && self.has_young_plan()
    }

    /// Whether a plan is under way that began a moment ago.
    pub(super) fn has_young_plan(&self) -> bool {
        self.task(Job::Plan).is_some_and(|task| self.now_ms - task.since_ms < FOLLOWED_MS)
    }

    /// Whether the plan under way is of other settings than the present ones.
    pub(super) fn is_outrun(&self) -> bool {
        let is_other = |asked: &Asked| asked.settings != *self.settings.now();
        self.task(Job::Plan).is_some() && self.planning.as_ref().is_some_and(is_other)
    }

    /// Plans with the present settings, if there is a model; an older request is forgotten.
    pub(super) fn replan(&mut self, effects: &mut Vec<Effect>) {
        self.write_fragment(effects);
        if self.model.is_none() || self.settings.now().board.is_empty() {
            return;
        }
        self.clear(Place::Plan);
        self.make_way();
        let request = self.begin(Job::Plan, "Planning");
        let is_passing = self.settings.is_dragging();
        self.planning = Some(Asked { settings: self.settings.now().clone(), is_passing });
        effects.push(Effect::Plan(request, self.settings.now().clone()));
    }

    /// Puts the files together unless that takes long: store images are made when somebody asks.
    pub(super) fn package_at_once(&mut self, effects: &mut Vec<Effect>) {
        if self.plan.as_ref().is_some_and(|plan| plan.runs_alone()) {
            self.start_package(effects);
        }
    }

    pub(super) fn start_package(&mut self, effects: &mut Vec<Effect>) {
        let Some(plan) = self.plan.clone() else { return };
        if plan.image.is_none() || self.is_plan_stale() {
            return;
        }
        self.clear(Place::Firmware);
        let request = self.begin(Job::Package, "Putting the firmware together");
        let (settings, model) = (plan.settings.clone(), plan.report.model.clone());
        let has_stores = !plan.runs_alone();
        effects.push(Effect::Package { request, settings, model, has_stores });
    }

    /// Makes one archive of the C library and the shown plan.
    pub(super) fn save_library(&mut self, effects: &mut Vec<Effect>) {
        let Some(plan) = self.plan.clone() else { return };
        let board = self.boards.iter().find(|board| board.id == plan.settings.board_id());
        let Some(core) = board.map(|board| board.core.kind.id()) else { return };
        if plan.image.is_none() || self.is_plan_stale() {
            return;
        }
        self.clear(Place::Firmware);
        let request = self.begin(Job::Library, "Putting library and plan together");
        let (settings, model) = (plan.settings.clone(), plan.report.model.clone());
        let has_stores = !plan.runs_alone();
        effects.push(Effect::SaveLibrary { request, settings, model, has_stores, core });
    }

    /// Makes a file of the shown schedule, with the last run's beside it if it was of the same
    /// settings.
    pub(super) fn save_schedule(&mut self, file: ScheduleFile, effects: &mut Vec<Effect>) {
        let Some(plan) = self.plan.clone() else { return };
        self.clear(Place::Schedule);
        let run = self.run.outcome.clone().filter(|run| run.plan.settings == plan.settings);
        let request = self.begin(Job::Schedule, "Making the file");
        effects.push(Effect::SaveSchedule { request, file, plan, run });
    }

    /// Writes the recipe of the shown plan.
    pub(super) fn save_recipe(&mut self, effects: &mut Vec<Effect>) {
        let Some(plan) = self.plan.clone() else { return };
        self.clear(Place::Schedule);
        let request = self.begin(Job::Schedule, "Writing the recipe");
        effects.push(Effect::SaveRecipe(request, plan.settings.clone()));
    }

    /// The open model's file, if it is one whose operators can be put in another order.
    #[must_use]
    pub fn reorderable(&self) -> Option<&OwnFile> {
        let Origin::File(file) = &self.model.as_ref()?.origin else { return None };
        let ending = file.name.rsplit_once('.').map_or("", |(_, ending)| ending);
        ending.eq_ignore_ascii_case("tflite").then_some(file)
    }

    pub(super) fn start_reorder(&mut self, effects: &mut Vec<Effect>) {
        let Some(file) = self.reorderable().cloned() else { return };
        if self.task(Job::Reorder).is_some() {
            return;
        }
        self.clear(Place::Firmware);
        let request = self.begin(Job::Reorder, "Looking for the order of least memory");
        effects.push(Effect::Reorder(request, file));
    }

    pub(super) fn planned(
        &mut self,
        request: u32,
        reply: Result<PlanReply, Diagnostic>,
        effects: &mut Vec<Effect>,
    ) {
        if let Ok(PlanReply::Boards { boards, strategies }) = reply {
            self.boards = Rc::new(boards);
            self.look_around(effects);
            self.strategies = Rc::new(strategies);
            return self.complete_settings(effects);
        }
        if let Ok(PlanReply::Loaded { obstacles }) = reply {
            self.obstacles = Rc::new(obstacles);
            return;
        }
        if self.is_awaited(Job::Compare, request) {
            return self.compared(request, reply, effects);
        }
        let is_outrun = self.is_awaited(Job::Plan, request) && self.is_outrun();
        let Some(took) = self.end(request) else { return };
        match reply {
            Ok(PlanReply::Planned(facts)) => {
                self.said = match (facts.report.fits, facts.report.no_program()) {
                    (true, None) => "Planned: it fits",
                    (true, Some(_)) => "Planned: its memory fits, but the model cannot run",
                    (false, _) => "Planned: it does not fit",
                }
                .to_owned();
                self.took_ms = Some(took);
                self.package = None;
                self.cursor_us = None;
                if facts.tensors.len() <= self.selected.tensor.unwrap_or(0) {
                    self.selected.tensor = None;
                }
                if facts.report.layers.len() <= self.selected.layer.unwrap_or(0) {
                    self.selected.layer = None;
                }
                self.is_plan_of_before = false;
                self.plan = Some(Rc::new(*facts));
                if self.takes_advice() {
                    self.said = "It does not fit as it is: looking for a plan that does".to_owned();
                    return self.replan(effects);
                }
                effects.push(Effect::Keep(Kept::Image));
                // Plans that a drag passes are not put together.
                if !(self.is_passing() || self.is_requantising()) {
                    self.package_at_once(effects);
                }
                self.follow_tiles(effects);
            }
            Ok(_) => {}
            Err(trouble) => self.fail(Place::Plan, trouble),
        }
        if is_outrun {
            return self.replan(effects);
        }
        if !self.follow_pruning(effects) {
            self.compare_next(effects);
        }
    }

    /// Another plan is to be tried if the page chooses the strategy and the simplest one does not fit.
    fn takes_advice(&mut self) -> bool {
        let is_simplest = Some(&self.settings.now().strategy) == self.strategies.first();
        let is_offered = self.strategies.iter().any(|strategy| strategy == AUTO);
        let is_impossible = self.obstacles.iter().any(|(strategy, _)| strategy == AUTO);
        let can_run =
            |plan: &Rc<PlanFacts>| !plan.report.fits && plan.report.no_program().is_none();
        let is_wanted = self.is_advising && is_simplest && is_offered && !is_impossible;
        let takes = is_wanted && !self.is_outrun() && self.plan.as_ref().is_some_and(can_run);
        if takes {
            self.settings.complete(|settings| AUTO.clone_into(&mut settings.strategy));
        }
        takes
    }

    /// Whether the page looks for a plan that fits, since the simplest one does not.
    #[must_use]
    pub fn is_looking(&self) -> bool {
        let does_not_fit = self.plan.as_ref().is_some_and(|plan| !plan.report.fits);
        self.is_advising && does_not_fit && self.is_plan_stale() && self.task(Job::Plan).is_some()
    }

    /// Settings are chosen: the page goes on choosing the strategy as long as nothing but the board changes.
    pub(super) fn note_advice(&mut self, chosen: &PlanSettings) {
        let now = self.settings.now();
        let of_the_board = chosen.board != now.board;
        self.is_advising &= of_the_board || chosen == now;
    }

    /// The strategy to begin with, where the page chooses it.
    pub(super) fn begin_simply(&mut self) {
        let first = self.strategies.first().filter(|_| self.is_advising).cloned();
        if let Some(first) = first {
            self.settings.complete(|settings| settings.strategy = first);
        }
    }

    /// Fills in what the link left open or got wrong, now that it is known what there is.
    fn complete_settings(&mut self, effects: &mut Vec<Effect>) {
        self.know_own_board();
        let board = self.settings.now().board_id();
        let strategy = self.settings.now().strategy.clone();
        let before = self.settings.now().clone();
        if !self.boards.iter().any(|known| known.id == board) {
            if !self.settings.now().board.is_empty() && self.trouble(Place::Plan).is_none() {
                let known: Vec<_> = self.boards.iter().map(|board| board.id.as_str()).collect();
                let what = format!("There is no board '{board}'");
                let detail = format!("The link names it; known boards: {}.", known.join(", "));
                self.fail(Place::Plan, trouble(what, detail, "Choose a board above."));
            }
            let first = self.boards.first().map(|board| board.id.clone()).unwrap_or_default();
            self.settings.complete(|settings| settings.board = first);
        }
        if !self.strategies.contains(&strategy) {
            let first = self.strategies.first().cloned().unwrap_or_default();
            self.settings.complete(|settings| settings.strategy = first);
        }
        if *self.settings.now() != before && self.model.is_some() {
            self.replan(effects);
        }
    }
}

#[cfg(test)]
mod tests;

//! The events of a run, numbered, so that a client that lost its connection goes on where it was.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::json;
use tilewright_app::{Diagnostic, Progress};

/// Most events that are kept of a run; past it, steps and console are left out. The result has
/// them all.
const KEPT: usize = 8192;

/// Events that are given at a time.
const AT_ONCE: usize = 64;

/// Name of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Waits; data: `position`, 1 is next.
    Queued,
    /// Something that people want to know; data: `text`.
    Note,
    /// A part of the way begins; data: `stage`.
    Stage,
    /// Data: `instructions`, `step`.
    Progress,
    /// Data: `text`.
    Console,
    /// A step of the core lane ended; data: its counts.
    Step,
    /// The end: the result can be fetched. Data: a summary.
    Finished,
    /// The end: data is the problem.
    Failed,
    /// The end: data is the problem.
    Cancelled,
}

impl EventKind {
    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Note => "note",
            Self::Stage => "stage",
            Self::Progress => "progress",
            Self::Console => "console",
            Self::Step => "step",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether a newer event of this kind makes this one worthless.
    const fn is_superseded(self) -> bool {
        matches!(self, Self::Queued | Self::Progress)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEvent {
    /// Number, from 1 on; numbers of superseded events are missing.
    pub id: u64,
    /// Name.
    pub kind: EventKind,
    /// Data, as JSON.
    pub data: Arc<str>,
}

/// The events of a run so far.
#[derive(Debug, Default)]
pub struct EventLog {
    events: VecDeque<RunEvent>,
    last: u64,
}

impl EventLog {
    /// Adds an event.
    pub fn push(&mut self, kind: EventKind, data: String) {
        if self.events.back().is_some_and(|last| last.kind == kind && kind.is_superseded()) {
            self.events.pop_back();
        }
        let is_detail = matches!(kind, EventKind::Step | EventKind::Console);
        if is_detail && self.events.len() >= KEPT {
            return;
        }
        self.last += 1;
        self.events.push_back(RunEvent { id: self.last, kind, data: data.into() });
    }

    /// Adds news of the run.
    pub fn push_progress(&mut self, progress: &Progress) {
        match progress {
            Progress::Stage(stage) => {
                self.push(EventKind::Stage, json!({ "stage": stage }).to_string())
            }
            Progress::Running { instructions, step } => {
                let data = json!({ "instructions": instructions, "step": step });
                self.push(EventKind::Progress, data.to_string());
            }
            // Clients are told the stage alone.
            Progress::Sample { .. }
            | Progress::Layer { .. }
            | Progress::Compared { .. }
            | Progress::Planning { .. } => {}
            Progress::Console(text) => {
                self.push(EventKind::Console, json!({ "text": text }).to_string())
            }
            Progress::Step(step) => self.push(EventKind::Step, json!(step).to_string()),
        }
    }

    /// Adds an end without result.
    pub fn push_problem(&mut self, kind: EventKind, problem: &Diagnostic) {
        self.push(kind, json!(problem).to_string());
    }

    /// Number of events that are kept.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Number of the last event.
    pub const fn last(&self) -> u64 {
        self.last
    }

    /// The next events with numbers past `after`: not all of them, for many may listen.
    pub fn since(&self, after: u64) -> Vec<RunEvent> {
        let first = self.events.partition_point(|event| event.id <= after);
        self.events.range(first..).take(AT_ONCE).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(instructions: u64) -> Progress {
        Progress::Running { instructions, step: None }
    }

    #[test]
    fn only_the_newest_progress_is_kept_and_numbers_grow() {
        let mut log = EventLog::default();
        log.push_progress(&Progress::Console("a".into()));
        for instructions in 1..100 {
            log.push_progress(&running(instructions));
        }
        log.push_progress(&Progress::Console("b".into()));
        let all = log.since(0);
        let ids: Vec<u64> = all.iter().map(|event| event.id).collect();
        assert_eq!(ids, [1, 100, 101]);
        assert!(all[1].data.contains("\"instructions\":99"));
        assert_eq!(log.since(50).len(), 2);
        assert_eq!(log.since(101).len(), 0);
    }

    #[test]
    fn a_chatty_run_does_not_grow_without_bound() {
        let mut log = EventLog::default();
        for _ in 0..3 * KEPT {
            log.push_progress(&Progress::Console("x".into()));
        }
        log.push(EventKind::Cancelled, "null".to_owned());
        assert_eq!(log.len(), KEPT + 1);
        assert_eq!(log.since(0).len(), AT_ONCE);
        let last = log.since(KEPT as u64);
        assert_eq!(last.last().map(|event| event.kind), Some(EventKind::Cancelled));
    }
}

//! Settings with undo and redo.

use crate::message::PlanSettings;

/// How many steps back are kept.
const DEPTH: usize = 100;

/// The settings, those before and those undone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    now: PlanSettings,
    past: Vec<PlanSettings>,
    future: Vec<PlanSettings>,
    /// Whether the last change was a move of a drag: the next move belongs to the same step.
    dragging: bool,
}

impl History {
    /// A history that begins here.
    #[must_use]
    pub fn new(now: PlanSettings) -> Self {
        Self { now, ..Self::default() }
    }

    /// The settings.
    #[must_use]
    pub const fn now(&self) -> &PlanSettings {
        &self.now
    }

    /// Changes the settings; the moves of one drag are one step. Whether something changed.
    pub fn set(&mut self, settings: PlanSettings, dragging: bool) -> bool {
        let is_same_drag = self.dragging;
        self.dragging = dragging;
        if settings == self.now {
            return false;
        }
        let before = std::mem::replace(&mut self.now, settings);
        if !is_same_drag {
            self.past.push(before);
            if self.past.len() > DEPTH {
                self.past.remove(0);
            }
        }
        self.future.clear();
        true
    }

    /// Fills in what was left open, without a step back.
    pub fn complete(&mut self, complete: impl FnOnce(&mut PlanSettings)) {
        complete(&mut self.now);
    }

    /// One step back. Whether there was one.
    pub fn undo(&mut self) -> bool {
        self.dragging = false;
        let Some(before) = self.past.pop() else { return false };
        self.future.push(std::mem::replace(&mut self.now, before));
        true
    }

    /// One step forward again. Whether there was one.
    pub fn redo(&mut self) -> bool {
        self.dragging = false;
        let Some(after) = self.future.pop() else { return false };
        self.past.push(std::mem::replace(&mut self.now, after));
        true
    }

    /// Whether the last change was a move of a drag that has not ended.
    #[must_use]
    pub const fn is_dragging(&self) -> bool {
        self.dragging
    }

    /// Whether there is a step back.
    #[must_use]
    pub const fn can_undo(&self) -> bool {
        !self.past.is_empty()
    }

    /// Whether there is a step forward.
    #[must_use]
    pub const fn can_redo(&self) -> bool {
        !self.future.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sram(bytes: u64) -> PlanSettings {
        PlanSettings { sram_bytes: Some(bytes), ..PlanSettings::default() }
    }

    #[test]
    fn a_drag_is_one_step() {
        let mut history = History::new(sram(0));
        for bytes in 1..10 {
            assert!(history.set(sram(bytes), true));
        }
        assert!(!history.set(sram(9), false), "the drag's end changes nothing");
        assert!(history.set(sram(20), false));
        assert!(history.undo());
        assert_eq!(history.now(), &sram(9));
        assert!(history.undo());
        assert_eq!(history.now(), &sram(0));
        assert!(!history.undo());
        assert!(history.redo() && history.redo() && !history.redo());
        assert_eq!(history.now(), &sram(20));
    }

    #[test]
    fn a_change_forgets_what_was_undone() {
        let mut history = History::new(sram(0));
        history.set(sram(1), false);
        history.undo();
        history.set(sram(2), false);
        assert!(!history.can_redo());
    }
}

//! Memory of plans whose tensors lie outside: SRAM holds buffers, whose contents change over time.

use tilewright_plan::{CyclePoint, Space};

use crate::message::PlanFacts;
use crate::view_model::figures;
use crate::view_model::timeline::{HeldBytes, Window};

/// What buffers hold over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffers {
    /// What is held when.
    pub held: HeldBytes,
    /// All of the time.
    pub window: Window,
}

/// What buffers hold; nothing of plans whose tensors lie in SRAM, or of which nothing is known.
#[must_use]
pub fn buffers(plan: &PlanFacts) -> Option<Buffers> {
    if !is_buffered(plan) {
        return None;
    }
    let timeline = &plan.timeline;
    let held = HeldBytes::of(&plan.occupancy, timeline.clock_hz);
    let end = timeline.end().since(CyclePoint(0)).at(timeline.clock_hz);
    Some(Buffers { held, window: Window::all(end.0) })
}

/// Whether SRAM holds buffers instead of tensors.
pub fn is_buffered(plan: &PlanFacts) -> bool {
    let has_tensors = plan.tensors.iter().any(|tensor| tensor.space == Space::Arena);
    plan.memory.space == Space::Arena && !has_tensors && !plan.occupancy.stays().is_empty()
}

impl Buffers {
    /// What is held at a share of the time, in words.
    #[must_use]
    pub fn words(&self, share: f64) -> String {
        let at = self.window.from_us + share.clamp(0.0, 1.0) * self.window.length();
        format!("SRAM at {}: {}.", figures::duration(at), self.held.words(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;

    #[test]
    fn what_buffers_hold_is_told_where_no_tensor_lies_in_sram() {
        assert_eq!(buffers(&fixture::plan()), None);
        let mut plan = fixture::plan();
        for tensor in &mut plan.tensors {
            tensor.space = Space::Card;
        }
        let words = buffers(&plan).unwrap().words(0.9);
        assert!(words.contains("results 10 B"), "{words}");
    }
}

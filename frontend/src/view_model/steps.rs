//! Moving the selection with keys: from operator to operator along the axis that charts share, and
//! from tensor to tensor among those that are live at one.

use super::figures;
use super::memory;
use crate::message::PlanFacts;
use crate::state::Selection;
use tilewright_report::short_name;

/// A step of the selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the operator before.
    Back,
    /// To the operator behind.
    On,
    /// To the first operator.
    First,
    /// To the last operator.
    Last,
    /// To the live tensor above.
    Up,
    /// To the live tensor below.
    Down,
    /// Nothing is to be selected.
    Leave,
}

impl Step {
    /// What a key means, by its name in the browser.
    #[must_use]
    pub fn of_key(key: &str) -> Option<Self> {
        Some(match key {
            "ArrowLeft" => Self::Back,
            "ArrowRight" => Self::On,
            "Home" => Self::First,
            "End" => Self::Last,
            "ArrowUp" => Self::Up,
            "ArrowDown" => Self::Down,
            "Escape" => Self::Leave,
            _ => return None,
        })
    }

    /// Whether it goes from tensor to tensor.
    #[must_use]
    pub const fn is_among_tensors(self) -> bool {
        matches!(self, Self::Up | Self::Down)
    }
}

/// Where a step leads from a selection. At an end it leads nowhere else.
#[must_use]
pub fn stepped(plan: &PlanFacts, from: Selection, step: Step) -> Selection {
    let Some(last) = plan.report.layers.len().checked_sub(1) else { return Selection::NONE };
    let of_tensor = |tensor: usize| plan.tensors.get(tensor).map(|t| t.first as usize);
    let at = from.layer.or_else(|| from.tensor.and_then(of_tensor)).map(|layer| layer.min(last));
    match step {
        Step::Leave => Selection::NONE,
        Step::First => Selection::layer(0),
        Step::Last => Selection::layer(last),
        Step::Back => Selection::layer(at.map_or(last, |layer| layer.saturating_sub(1))),
        Step::On => Selection::layer(at.map_or(0, |layer| (layer + 1).min(last))),
        Step::Up | Step::Down => {
            let layer = at.unwrap_or_default();
            Selection { layer: Some(layer), tensor: neighbour(plan, layer, from.tensor, step) }
        }
    }
}

/// The next tensor in the arena among those that are live at a layer; the same at an end.
fn neighbour(plan: &PlanFacts, layer: usize, from: Option<usize>, step: Step) -> Option<usize> {
    let offset = |tensor: usize| plan.tensors.get(tensor).map(|tensor| tensor.offset);
    let live = || memory::tensors_of(plan, layer).into_iter().map(|(tensor, _)| tensor);
    let at = from.filter(|tensor| live().any(|live| live == *tensor)).and_then(offset);
    let next = match step {
        Step::Up => {
            live().filter(|t| at.is_none() || offset(*t) > at).min_by_key(|tensor| offset(*tensor))
        }
        _ => {
            live().filter(|t| at.is_none() || offset(*t) < at).max_by_key(|tensor| offset(*tensor))
        }
    };
    next.or(from.filter(|_| at.is_some()))
}

/// What is to be said of a selection.
#[must_use]
pub fn spoken(plan: &PlanFacts, selection: Selection, arena_address: Option<u32>) -> String {
    if let Some(tensor) = selection.tensor.and_then(|tensor| plan.tensors.get(tensor)) {
        return memory::describe(tensor, plan, arena_address);
    }
    let Some(layer) = selection.layer else { return "Nothing is selected".to_owned() };
    let (Some(row), Some(live)) = (plan.report.layers.get(layer), plan.memory.rows.get(layer))
    else {
        return String::new();
    };
    let time = tilewright_plan::Cycles(*row.cycles).at(plan.timeline.clock_hz).0;
    format!(
        "Operator {} of {}: {} ({}), {} live, {} predicted",
        layer + 1,
        plan.report.layers.len(),
        short_name(&row.name),
        super::layers::kernel_title(&row.op),
        figures::bytes(live.live_bytes.0),
        figures::duration(time),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;

    fn walk(from: Selection, keys: &[&str]) -> Selection {
        let plan = fixture::plan();
        keys.iter().fold(from, |at, key| stepped(&plan, at, Step::of_key(key).unwrap()))
    }

    #[test]
    fn arrows_go_from_operator_to_operator_and_stop_at_the_ends() {
        assert_eq!(walk(Selection::NONE, &["ArrowRight"]), Selection::layer(0));
        assert_eq!(walk(Selection::NONE, &["ArrowLeft"]), Selection::layer(2));
        assert_eq!(walk(Selection::layer(1), &["ArrowRight", "ArrowRight"]), Selection::layer(2));
        assert_eq!(walk(Selection::layer(1), &["Home", "ArrowLeft"]), Selection::layer(0));
        assert_eq!(walk(Selection::layer(0), &["End"]), Selection::layer(2));
        assert_eq!(walk(Selection::tensor(2), &["ArrowRight"]), Selection::layer(2));
        assert_eq!(walk(Selection::layer(1), &["Escape"]), Selection::NONE);
        assert_eq!(Step::of_key("Tab"), None);
    }

    #[test]
    fn up_and_down_go_among_what_is_live_at_the_operator() {
        let up = walk(Selection::layer(0), &["ArrowUp"]);
        assert_eq!(up, Selection { layer: Some(0), tensor: Some(0) });
        let higher = walk(up, &["ArrowUp", "ArrowUp"]);
        assert_eq!(higher, Selection { layer: Some(0), tensor: Some(1) });
        assert_eq!(walk(higher, &["ArrowDown"]), up);
        assert_eq!(walk(higher, &["ArrowRight"]), Selection::layer(1));
    }

    #[test]
    fn what_is_said_names_place_and_figures() {
        let plan = fixture::plan();
        let text = spoken(&plan, Selection::layer(1), None);
        assert!(text.contains("Operator 2 of 3: second"), "{text}");
        assert!(text.contains("42 B"), "{text}");
        let both = Selection { layer: Some(0), tensor: Some(1) };
        assert!(spoken(&plan, both, None).starts_with("t1"), "{both:?}");
    }

    #[test]
    fn a_plan_without_operators_selects_nothing() {
        let mut plan = fixture::plan();
        plan.report.layers.clear();
        assert_eq!(stepped(&plan, Selection::layer(2), Step::On), Selection::NONE);
    }
}

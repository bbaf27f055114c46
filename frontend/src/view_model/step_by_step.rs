//! Two plans side by side, operator by operator: what each reads, writes and frees, and which
//! operators stand elsewhere.

use std::collections::BTreeMap;
use std::rc::Rc;

use tilewright_report::short_name;

use super::figures;
use super::layers::kernel_title;
use super::memory::place_words;
use crate::message::PlanFacts;

/// What a tensor is at an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It does not exist yet.
    Future,
    /// It is read.
    Read,
    /// It is written.
    Written,
    /// A later operator needs it.
    Kept,
    /// It is gone.
    Past,
}

/// What happens at an operator. Tensors are indices into the plan's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepFacts {
    /// Name of the operator.
    pub name: String,
    /// Its kernel, for people.
    pub op: String,
    /// Tensors that it reads.
    pub reads: Vec<usize>,
    /// Tensors that it writes.
    pub writes: Vec<usize>,
    /// Tensors that nothing needs after it.
    pub frees: Vec<usize>,
    /// Bytes in use.
    pub live_bytes: u64,
}

/// What happens at the operator in this place; nothing if there is none.
#[must_use]
pub fn step(plan: &PlanFacts, at: usize) -> Option<StepFacts> {
    let row = plan.memory.rows.get(at)?;
    let indices = |tensors: &[u32]| tensors.iter().map(|tensor| *tensor as usize).collect();
    let next = at + 1;
    // The model's outputs live to the end: there nothing is freed.
    let is_last = next >= plan.memory.rows.len();
    // Wherever they lie.
    let tensors = plan.tensors.iter().enumerate();
    let ends = tensors.filter(|(_, tensor)| !is_last && tensor.end as usize == next);
    Some(StepFacts {
        name: row.name.clone(),
        op: kernel_title(&row.op),
        reads: indices(&row.reads),
        writes: indices(&row.writes),
        frees: ends.map(|(index, _)| index).collect(),
        live_bytes: row.live_bytes.0,
    })
}

impl StepFacts {
    /// What a tensor of the plan is now.
    #[must_use]
    pub fn phase(&self, plan: &PlanFacts, tensor: usize, at: usize) -> Phase {
        if self.writes.contains(&tensor) {
            return Phase::Written;
        }
        if self.reads.contains(&tensor) {
            return Phase::Read;
        }
        match plan.tensors.get(tensor) {
            Some(placed) if placed.first as usize > at => Phase::Future,
            Some(placed) if placed.end as usize > at => Phase::Kept,
            _ => Phase::Past,
        }
    }

    /// In a sentence.
    #[must_use]
    pub fn words(&self, plan: &PlanFacts) -> String {
        let named = |tensors: &[usize]| -> String {
            let names = tensors.iter().filter_map(|tensor| plan.tensors.get(*tensor));
            let names: Vec<_> = names.map(|tensor| short_name(&tensor.name)).collect();
            if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
        };
        format!(
            "{} ({}) reads {}; writes {}; frees {}. {} live {}.",
            short_name(&self.name),
            self.op,
            named(&self.reads),
            named(&self.writes),
            named(&self.frees),
            figures::bytes(self.live_bytes),
            place_words(plan.memory.space),
        )
    }
}

/// The tensors in the drawn memory, with their indices.
pub fn in_memory(
    plan: &PlanFacts,
) -> impl Iterator<Item = (usize, &tilewright_report::PlacedTensor)> {
    plan.tensors.iter().enumerate().filter(|(_, tensor)| tensor.space == plan.memory.space)
}

/// Whether the drawn memory holds parts of tensors that lie elsewhere, and none whole: no offsets are drawn.
#[must_use]
pub fn holds_parts_only(plan: &PlanFacts) -> bool {
    in_memory(plan).next().is_none()
}

/// An operator that both plans have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its place in the first plan.
    pub before: usize,
    /// Its place in the second.
    pub after: usize,
    /// Whether it stands elsewhere among the others: of all that could be said to have moved, the
    /// fewest are.
    pub is_moved: bool,
}

/// The operators that both plans have, in the order of the first. An operator that another plan
/// has fused into its neighbour has no line.
#[must_use]
pub fn lines(before: &PlanFacts, after: &PlanFacts) -> Vec<Line> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, row) in after.memory.rows.iter().enumerate().rev() {
        places.entry(row.name.as_str()).or_default().push(place);
    }
    let mut lines: Vec<Line> = Vec::new();
    for (place, row) in before.memory.rows.iter().enumerate() {
        if let Some(after) = places.get_mut(row.name.as_str()).and_then(Vec::pop) {
            lines.push(Line { before: place, after, is_moved: true });
        }
    }
    for index in longest_rise(&lines) {
        lines[index].is_moved = false;
    }
    lines
}

/// Indices of a longest run of lines whose ends rise too.
fn longest_rise(lines: &[Line]) -> Vec<usize> {
    // For each length, the line with the lowest end that a run of this length can end with.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = vec![None; lines.len()];
    for (index, line) in lines.iter().enumerate() {
        let length = ends.partition_point(|end| lines[*end].after < line.after);
        previous[index] = length.checked_sub(1).map(|shorter| ends[shorter]);
        if length == ends.len() {
            ends.push(index);
        } else {
            ends[length] = index;
        }
    }
    let mut run = Vec::new();
    let mut at = ends.last().copied();
    while let Some(index) = at {
        run.push(index);
        at = previous[index];
    }
    run
}

/// How long an operator is shown while all are played, in milliseconds: long enough to read where
/// there are few, half a minute for all where there are many.
#[must_use]
pub fn pace_ms(steps: usize) -> u32 {
    (30_000 / steps.max(1) as u32).clamp(60, 900)
}

/// One of the two. Equal is what is the same plan: its contents are too large to be looked through
/// for each drawing.
#[derive(Clone, Debug)]
pub struct Side {
    pub strategy: String,
    pub plan: Rc<PlanFacts>,
}

impl PartialEq for Side {
    fn eq(&self, other: &Self) -> bool {
        self.strategy == other.strategy && Rc::ptr_eq(&self.plan, &other.plan)
    }
}

/// Which two plans to set side by side, unless a person picked others: the first, as it is the
/// simplest, and the chosen one; if that is the first, the other that needs least, in SRAM alone where
/// one does. Nothing if there are not two.
#[must_use]
pub fn sides(planned: &[Side], chosen: &str, picked: &[Option<String>; 2]) -> Vec<Side> {
    let named = |name: &str| planned.iter().position(|side| side.strategy == name);
    // A plan whose tensors lie outside of SRAM has little to show in its arena.
    let least = (1..planned.len()).min_by_key(|index| {
        let plan = &planned[*index].plan;
        (plan.report.external_bytes.0 > 0, plan.memory.arena_bytes)
    });
    let Some(least) = least else { return Vec::new() };
    let after = named(chosen).filter(|place| *place > 0).unwrap_or(least);
    let places = [0, after].into_iter().zip(picked);
    places
        .map(|(place, picked)| picked.as_deref().and_then(named).unwrap_or(place))
        .map(|place| planned[place].clone())
        .collect()
}

/// Where the walk is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// The operator.
    pub at: usize,
    /// Whether it goes on by itself.
    pub is_playing: bool,
}

/// What moves the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// To an operator.
    To(usize),
    /// To the next one.
    Next,
    /// To the one before.
    Back,
    /// To the last.
    Last,
    /// Play, or stop playing; at the end, play from the beginning.
    Toggle,
    /// Time has come for the next one.
    Tick,
}

impl Move {
    /// What a key means, by its name in the browser.
    #[must_use]
    pub fn of_key(key: &str) -> Option<Self> {
        Some(match key {
            " " => Self::Toggle,
            "ArrowLeft" => Self::Back,
            "ArrowRight" => Self::Next,
            "Home" => Self::To(0),
            "End" => Self::Last,
            _ => return None,
        })
    }
}

impl Walk {
    /// After a move, with so many operators to walk through.
    #[must_use]
    pub fn moved(self, by: Move, operators: usize) -> Self {
        let last = operators.saturating_sub(1);
        let at = self.at.min(last);
        let stopped = |at: usize| Self { at: at.min(last), is_playing: false };
        match by {
            Move::To(place) => stopped(place),
            Move::Next => stopped(at + 1),
            Move::Back => stopped(at.saturating_sub(1)),
            Move::Last => stopped(last),
            Move::Toggle if self.is_playing => stopped(at),
            Move::Toggle => Self { at: if at == last { 0 } else { at }, is_playing: last > 0 },
            Move::Tick if !self.is_playing => self,
            Move::Tick => Self { at: (at + 1).min(last), is_playing: at + 1 < last },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;

    #[test]
    fn playing_goes_to_the_end_and_stops_there() {
        let mut walk = Walk::default().moved(Move::Toggle, 3);
        let mut seen = Vec::new();
        while walk.is_playing {
            walk = walk.moved(Move::Tick, 3);
            seen.push(walk.at);
        }
        assert_eq!(seen, [1, 2]);
        assert_eq!(walk.moved(Move::Tick, 3), walk, "a late tick does nothing");
        assert_eq!(walk.moved(Move::Toggle, 3), Walk { at: 0, is_playing: true }, "again");
        assert!(!Walk::default().moved(Move::Toggle, 1).is_playing, "there is nowhere to go");
        assert_eq!(Walk::default().moved(Move::Last, 0), Walk::default());
    }

    #[test]
    fn keys_move_and_stop_the_playing() {
        let keys = |start: Walk, keys: &[&str]| {
            keys.iter().fold(start, |walk, key| walk.moved(Move::of_key(key).unwrap(), 5))
        };
        assert_eq!(keys(Walk::default(), &["End", "ArrowRight", "ArrowLeft"]).at, 3);
        let playing = Walk { at: 2, is_playing: true };
        assert_eq!(keys(playing, &["ArrowRight"]), Walk { at: 3, is_playing: false });
        assert_eq!(keys(playing, &[" "]), Walk { at: 2, is_playing: false });
        assert_eq!(keys(playing, &["Home"]).at, 0);
        assert_eq!(Move::of_key("Tab"), None);
    }

    #[test]
    fn the_simplest_plan_stands_before_the_chosen_one() {
        let (plan, mut small) = (fixture::plan(), fixture::plan());
        small.memory.arena_bytes = tilewright_plan::Bytes(1);
        let side = |name: &str, plan: &PlanFacts| Side {
            strategy: name.to_owned(),
            plan: Rc::new(plan.clone()),
        };
        let mut outside = small.clone();
        outside.memory.arena_bytes = tilewright_plan::Bytes(0);
        outside.report.external_bytes = tilewright_plan::Bytes(1).into();
        let all = [
            side("resident", &plan),
            side("other", &plan),
            side("outside", &outside),
            side("small", &small),
        ];
        let names = |chosen: &str, picked: &[Option<String>; 2]| -> Vec<String> {
            sides(&all, chosen, picked).into_iter().map(|side| side.strategy).collect()
        };
        assert_eq!(names("other", &[None, None]), ["resident", "other"]);
        assert_eq!(names("resident", &[None, None]), ["resident", "small"]);
        assert_eq!(names("outside", &[None, None]), ["resident", "outside"]);
        let picked = [Some("other".to_owned()), Some("gone".to_owned())];
        assert_eq!(names("small", &picked), ["other", "small"]);
        assert!(sides(&all[..1], "resident", &[None, None]).is_empty());
    }

    #[test]
    fn a_step_says_what_is_read_written_and_freed() {
        let plan = fixture::plan();
        let first = step(&plan, 0).unwrap();
        assert_eq!(
            (&first.reads[..], &first.writes[..], &first.frees[..]),
            (&[0][..], &[1][..], &[0][..])
        );
        assert_eq!(first.phase(&plan, 2, 0), Phase::Future);
        let second = step(&plan, 1).unwrap();
        assert_eq!(second.phase(&plan, 0, 1), Phase::Past);
        assert!(second.words(&plan).starts_with("second (fully connected) reads t1; writes t2;"));
        let last = step(&plan, 2).unwrap();
        assert!(last.frees.is_empty() && last.words(&plan).contains("frees nothing"));
        assert_eq!(step(&plan, 3), None);
    }

    /// The plan's operators in another order.
    fn reordered(order: &[usize]) -> PlanFacts {
        let plan = fixture::plan();
        let mut other = plan.clone();
        other.memory.rows = order.iter().map(|place| plan.memory.rows[*place].clone()).collect();
        other
    }

    #[test]
    fn the_fewest_operators_count_as_moved() {
        let moved = |order: &[usize]| -> Vec<usize> {
            let lines = lines(&fixture::plan(), &reordered(order));
            lines.iter().filter(|line| line.is_moved).map(|line| line.before).collect()
        };
        assert!(moved(&[0, 1, 2]).is_empty());
        assert_eq!(moved(&[2, 0, 1]), [2], "one went to the front, two did not go back");
        assert_eq!(moved(&[2, 1, 0]).len(), 2);
    }

    #[test]
    fn what_is_fused_away_has_no_line_and_equal_names_pair_in_order() {
        assert_eq!(lines(&fixture::plan(), &reordered(&[0, 2])).len(), 2);
        let twice = lines(&reordered(&[0, 0, 1]), &reordered(&[0, 1, 0]));
        let pairs: Vec<_> = twice.iter().map(|line| (line.before, line.after)).collect();
        assert_eq!(pairs, [(0, 0), (1, 2), (2, 1)]);
    }

    #[test]
    fn few_operators_are_shown_long_and_many_short() {
        assert_eq!(pace_ms(0), 900);
        assert_eq!(pace_ms(10), 900);
        assert_eq!(pace_ms(100), 300);
        assert_eq!(pace_ms(10_000), 60);
    }
}

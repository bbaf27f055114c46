//! In which order tasks and moves happen, of work whose residences have their places.

use std::collections::BTreeMap;

use super::sequence::Event;
use super::work::{Class, Flow, Residence, Work};

/// All comes directly before the first task that needs it, copies of activations before what comes, rows of the input
/// last; what is made goes behind what comes for the next task, or before it.
pub fn at_first_use(work: &Work, offsets: &[u64]) -> Vec<Event> {
    let Work { tasks, residences, moves, arrivals } = work;
    let mut events = Vec::with_capacity(tasks.len() + residences.len() + moves.len());
    let at = |(index, residence): (usize, &Residence)| residence.placed(offsets[index]);
    let all = || residences.iter().enumerate();
    let mut coming = all().filter(|(_, residence)| !residence.goes()).peekable();
    let mut going = all().filter(|(_, residence)| residence.goes()).peekable();
    let (mut moves, mut arrivals) = (moves.iter().peekable(), arrivals.iter().peekable());
    for (number, task) in (0u32..).zip(tasks) {
        while let Some(due) = moves.next_if(|due| due.before <= number) {
            events.push(Event::Move(due.copy));
        }
        let is_made = |(_, residence): &(usize, &Residence)| residence.uses[1] < number;
        let comes = coming.clone().take_while(|(_, residence)| residence.uses[0] <= number);
        let is_over = |(index, residence): &(usize, &Residence)| {
            let [start, end] = [offsets[*index], offsets[*index] + residence.bytes];
            let mut comes = comes.clone();
            comes.any(|(index, other)| offsets[index] < end && start < offsets[index] + other.bytes)
        };
        let is_first =
            |due: &(usize, &Residence)| due.1.flow == Flow::Goes { first: true } || is_over(due);
        while let Some(due) = going.next_if(|due| is_made(due) && is_first(due)) {
            events.push(Event::Move(at(due)));
        }
        while let Some(due) = coming.next_if(|(_, residence)| residence.uses[0] <= number) {
            events.push(Event::Move(at(due)));
        }
        while let Some(due) = going.next_if(is_made) {
            events.push(Event::Move(at(due)));
        }
        while let Some(due) = arrivals.next_if(|due| due.before <= number) {
            events.push(Event::Arrival(due.rows));
        }
        events.push(Event::Task(task.placed(residences, offsets)));
    }
    // Rows that nothing reads belong to the frame too.
    events.extend(arrivals.map(|due| Event::Arrival(due.rows)));
    events.extend(going.map(|due| Event::Move(at(due))));
    events
}

/// What the next task needs comes first, then goes what was made, then comes what is needed later, as far as its
/// bytes are free: whoever shares them lies at the same offset.
pub fn demand_then_stores(work: &Work, offsets: &[u64]) -> Vec<Event> {
    let of = |goes: bool| -> Vec<usize> {
        let all = work.residences.iter().enumerate();
        let own = all.filter(|(_, residence)| residence.goes() == goes);
        own.map(|(index, _)| index).collect()
    };
    let (loads, stores) = (of(false), of(true));
    let freed_by = freed_by(work, offsets);
    let events = Vec::with_capacity(work.tasks.len() + offsets.len());
    let mut issue = Demand {
        work,
        offsets,
        loads,
        stores,
        freed_by,
        events,
        loaded: 0,
        stored: 0,
        made: 0,
        done: 0,
    };
    // The number of loads up to the last that each task needs.
    let mut wanted = vec![0; work.tasks.len()];
    for (wanted, task) in wanted.iter_mut().zip(&work.tasks) {
        let last = task.operands.iter().map(|operand| operand.residence);
        let last = last.filter(|index| !work.residences[*index].goes()).max();
        *wanted = last.map_or(0, |last| issue.loads.partition_point(|load| *load <= last));
    }
    for (number, task) in work.tasks.iter().enumerate() {
        issue.load_for(wanted[number]);
        issue.events.push(Event::Task(task.placed(&work.residences, offsets)));
        issue.done += 1;
        let is_made = |store: &usize| work.residences[*store].uses[1] < issue.done;
        issue.made = issue.stores.partition_point(is_made);
        if let Some(wanted) = wanted.get(number + 1) {
            issue.load_until(*wanted);
        }
        issue.store_until(issue.made);
        issue.load_until(issue.loads.len());
    }
    issue.events
}

/// For each residence the last task that uses what lay there before.
fn freed_by(work: &Work, offsets: &[u64]) -> Vec<Option<u32>> {
    let mut last: BTreeMap<u64, u32> = BTreeMap::new();
    let freed = work.residences.iter().zip(offsets).map(|(residence, offset)| {
        (residence.class != Class::Output)
            .then(|| last.insert(*offset, residence.uses[1]))
            .flatten()
    });
    freed.collect()
}

struct Demand<'w> {
    work: &'w Work,
    offsets: &'w [u64],
    /// The residences that come, and those that go.
    loads: Vec<usize>,
    stores: Vec<usize>,
    freed_by: Vec<Option<u32>>,
    events: Vec<Event>,
    /// Loads and stores that were issued.
    loaded: usize,
    stored: usize,
    /// Stores whose tiles were computed.
    made: usize,
    /// Tasks that were issued.
    done: u32,
}

impl Demand<'_> {
    /// What a task needs, whatever must come before.
    fn load_for(&mut self, wanted: usize) {
        while self.loaded < wanted {
            if let Some(behind) = self.behind() {
                self.store_until(behind + 1);
            }
            self.load();
        }
    }

    /// Loads as far as bytes are free and what is read is written, or could be.
    fn load_until(&mut self, wanted: usize) {
        while self.loaded < wanted {
            let is_free =
                self.freed_by[self.loads[self.loaded]].is_none_or(|task| task < self.done);
            let behind = self.behind();
            if !is_free || behind.is_some_and(|store| store >= self.made) {
                return;
            }
            if let Some(behind) = behind {
                self.store_until(behind + 1);
            }
            self.load();
        }
    }

    /// The number of the store that the next load must follow.
    fn behind(&self) -> Option<usize> {
        match self.work.residences[self.loads[self.loaded]].flow {
            Flow::Comes { behind } => {
                behind.map(|index| self.stores.partition_point(|store| *store < index))
            }
            Flow::Goes { .. } => None,
        }
    }

    fn store_until(&mut self, wanted: usize) {
        while self.stored < wanted {
            let index = self.stores[self.stored];
            self.stored += 1;
            self.moves(index);
        }
    }

    fn load(&mut self) {
        let index = self.loads[self.loaded];
        self.loaded += 1;
        self.moves(index);
    }

    fn moves(&mut self, index: usize) {
        let copy = self.work.residences[index].placed(self.offsets[index]);
        self.events.push(Event::Move(copy));
    }
}

//! Orders found by looking one operator ahead: the first answers, improved by the search.

use std::collections::BTreeSet;

use super::cursor::Cursor;
use super::net::{Event, Net};

/// What is chosen among the operators that can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// What leaves the fewest bytes, then what needs the fewest.
    Leaves,
    /// What needs the fewest bytes, then what leaves the fewest.
    Needs,
    /// What became possible last.
    Deep,
}

/// All rules.
pub const RULES: [Rule; 3] = [Rule::Leaves, Rule::Needs, Rule::Deep];

/// An operator that can run: how many bytes it adds in the end, how many while it runs, itself.
type Choice = (i64, i64, u32);

struct Choices<'n> {
    net: &'n Net,
    rule: Rule,
    /// For each buffer, the operators that release it.
    users: Vec<Vec<u32>>,
    /// For each operator that can run, its entries in the two sets.
    entries: Vec<Option<(Choice, Choice)>>,
    /// By what is left in the end.
    free: BTreeSet<Choice>,
    /// By the rule.
    ruled: BTreeSet<Choice>,
    /// When each operator became possible.
    since: Vec<i64>,
}

impl Choices<'_> {
    fn refresh(&mut self, cursor: &Cursor, op: u32) {
        self.remove(op);
        let live = cursor.memory.live as i64;
        let [first, second] = cursor.memory.after(self.net, &self.net.halves[op as usize]);
        let (needs, leaves) = (first as i64 - live, second as i64 - live);
        let free = (leaves, needs, op);
        let ruled = match self.rule {
            Rule::Leaves => free,
            Rule::Needs => (needs, leaves, op),
            Rule::Deep => (-self.since[op as usize], leaves, op),
        };
        self.free.insert(free);
        self.ruled.insert(ruled);
        self.entries[op as usize] = Some((free, ruled));
    }

    fn remove(&mut self, op: u32) {
        if let Some((free, ruled)) = self.entries[op as usize].take() {
            self.free.remove(&free);
            self.ruled.remove(&ruled);
        }
    }

    /// Runs an operator and looks anew at all whose effect that changes.
    fn run(&mut self, cursor: &mut Cursor, op: u32, position: usize, work: &mut u64) {
        self.remove(op);
        cursor.run(self.net, op);
        let net = self.net;
        for next in &net.after[op as usize] {
            self.since[*next as usize] = position as i64;
            if cursor.is_ready(*next) {
                self.refresh(cursor, *next);
                *work += 20;
            }
        }
        let halves = &net.halves[op as usize];
        for event in halves.first.iter().chain(&halves.second) {
            let (Event::Alloc(b) | Event::Release(b)) = *event;
            let b = b as usize;
            // Others see a difference when a buffer is first allocated, and when one is left.
            let several = matches!(event, Event::Alloc(_)) && cursor.memory.allocated[b] == 1;
            if several || cursor.memory.releases[b] == 1 {
                for index in 0..self.users[b].len() {
                    let user = self.users[b][index];
                    *work += 1;
                    if cursor.is_ready(user) {
                        self.refresh(cursor, user);
                        *work += 20;
                    }
                }
            }
        }
    }
}

/// An order by `rule`, in which what costs nothing always runs first; nothing if it takes more
/// than `limit` units of work.
pub fn order(net: &Net, rule: Rule, limit: u64, work: &mut u64) -> Option<Vec<u32>> {
    let mut cursor = Cursor::new(net);
    let mut peak = cursor.memory.live as i64;
    let mut order = Vec::with_capacity(net.len());
    let mut users = vec![Vec::new(); net.buffers.len()];
    for (op, halves) in (0u32..).zip(&net.halves) {
        for event in halves.first.iter().chain(&halves.second) {
            let (Event::Alloc(b) | Event::Release(b)) = *event;
            if users[b as usize].last() != Some(&op) {
                users[b as usize].push(op);
            }
        }
    }
    let mut choices = Choices {
        net,
        rule,
        users,
        entries: vec![None; net.len()],
        free: BTreeSet::new(),
        ruled: BTreeSet::new(),
        since: vec![0; net.len()],
    };
    let ready: Vec<u32> = cursor.ready.iter().collect();
    for op in ready {
        choices.refresh(&cursor, op);
    }
    let start = *work;
    while order.len() < net.len() {
        if *work - start > limit {
            return None;
        }
        let room = peak - cursor.memory.live as i64;
        let mut looked = 0;
        let costless = choices.free.iter().take_while(|(leaves, _, _)| *leaves <= 0).find(|c| {
            looked += 1;
            c.1 <= room
        });
        *work += looked + 20;
        let op = match costless {
            Some((_, _, op)) => *op,
            None => choices.ruled.first()?.2,
        };
        let [first, _] = cursor.memory.after(net, &net.halves[op as usize]);
        peak = peak.max(first as i64);
        order.push(op);
        choices.run(&mut cursor, op, order.len(), work);
    }
    Some(order)
}

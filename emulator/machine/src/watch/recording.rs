//! What a memory holds where steps end: the bytes that have changed since the border before.

use tilewright_cpu::Memory;
use tilewright_protocol::{Border, Change, MOST_RECORDED, Recorded, Response};

use crate::machine::Machine;

/// Bytes that are compared at most in a job: a second's work.
const MOST_COMPARED: u64 = 2 << 30;
/// Bytes that are alike between two changes without their becoming two: another change costs more.
const APART: usize = size_of::<Change>();

/// The recording of a job.
#[derive(Debug)]
pub struct Recording {
    address: u32,
    /// What was there at the border before.
    before: Vec<u8>,
    /// Bytes of borders that may still be said.
    left: u64,
    /// Bytes that may still be compared.
    to_compare: u64,
}

impl Recording {
    /// Of a memory that a job names; nothing if it names none, or one that is not there.
    pub fn of(recorded: Option<Recorded>, memories: &Memory) -> Option<Self> {
        let Recorded { address, bytes } = recorded?;
        memories.holds(address, bytes as usize).then(|| Self {
            address,
            before: vec![0; bytes as usize],
            left: MOST_RECORDED,
            to_compare: MOST_COMPARED,
        })
    }

    /// What has changed; nothing if that is too much to say.
    fn border(&mut self, step: Option<u32>, memories: &Memory) -> Option<Border> {
        if step.is_none() {
            self.before.fill(0);
        }
        let mut now = vec![0; self.before.len()];
        self.to_compare = self.to_compare.checked_sub(now.len() as u64)?;
        if !memories.read(self.address, &mut now) {
            return None;
        }
        let border = Border { step, changes: changes(&self.before, &now) };
        self.left = self.left.checked_sub(border.kept_bytes())?;
        self.before = now;
        Some(border)
    }
}

fn changes(before: &[u8], now: &[u8]) -> Vec<Change> {
    let mut changes: Vec<[usize; 2]> = Vec::new();
    let mut at = 0;
    while let Some(next) = first_difference(&before[at..], &now[at..]) {
        let start = at + next;
        let length = before[start..].iter().zip(&now[start..]).take_while(|(a, b)| a != b).count();
        at = start + length;
        match changes.last_mut() {
            Some([_, end]) if start - *end <= APART => *end = at,
            _ => changes.push([start, at]),
        }
    }
    let change =
        |[start, end]: [usize; 2]| Change { offset: start as u32, bytes: now[start..end].to_vec() };
    changes.into_iter().map(change).collect()
}

fn first_difference(before: &[u8], now: &[u8]) -> Option<usize> {
    const TOGETHER: usize = 64;
    let alike = before.chunks(TOGETHER).zip(now.chunks(TOGETHER)).take_while(|(a, b)| a == b);
    let start = (alike.count() * TOGETHER).min(before.len());
    let behind = before[start..].iter().zip(&now[start..]).position(|(a, b)| a != b);
    behind.map(|behind| start + behind)
}

/// A border of the last frame: says what the recorded memory holds there, if one is recorded.
pub fn border(machine: &mut Machine, step: Option<u32>) {
    let Machine { recording, memories, .. } = machine;
    let Some(this) = recording else { return };
    match this.border(step, memories) {
        Some(border) => machine.say(Response::Border(border)),
        None => machine.recording = None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tilewright_cpu::Reach;

    #[test]
    fn what_lies_close_together_is_one_change() {
        let (before, mut now) = (vec![0; 200], vec![0; 200]);
        assert!(changes(&before, &now).is_empty());
        for at in [0, APART + 1, 70, 71 + APART, 199] {
            now[at] = 1;
        }
        let seen: Vec<_> =
            changes(&before, &now).iter().map(|c| (c.offset, c.bytes.len())).collect();
        assert_eq!(seen, [(0, APART + 2), (70, APART + 2), (199, 1)]);
    }

    #[test]
    fn a_border_tells_what_changed_since_the_one_before() {
        let mut memory = Memory::default();
        memory.add(0x2000_0000, 0x100, Reach::Plain);
        let recorded = |address| Some(Recorded { address, bytes: 0x80 });
        assert!(
            Recording::of(recorded(0x2000_0081), &memory).is_none(),
            "it ends behind the memory"
        );
        let mut recording = Recording::of(recorded(0x2000_0080), &memory).unwrap();
        let mut told = |step, memory: &Memory| -> Option<Vec<(u32, Vec<u8>)>> {
            let changes = recording.border(step, memory)?.changes;
            Some(changes.into_iter().map(|change| (change.offset, change.bytes)).collect())
        };
        memory.write(0x2000_0084, &[7]);
        assert_eq!(told(None, &memory), Some(vec![(4, vec![7])]));
        assert_eq!(told(Some(0), &memory), Some(vec![]));
        memory.write(0x2000_0084, &[0]);
        assert_eq!(told(Some(1), &memory), Some(vec![(4, vec![0])]));
        memory.write(0x2000_00ff, &[1]);
        assert_eq!(told(None, &memory), Some(vec![(0x7f, vec![1])]), "from the beginning");
        recording.left = recording.border(Some(0), &memory).unwrap().kept_bytes();
        assert!(recording.border(Some(1), &memory).is_some());
        assert!(recording.border(Some(2), &memory).is_none(), "too much to say");
    }

    proptest! {
        #[test]
        fn changes_lead_from_one_to_the_other(
            pairs in proptest::collection::vec((0u8..3, 0u8..3), 0..300)
        ) {
            let (mut before, now): (Vec<u8>, Vec<u8>) = pairs.into_iter().unzip();
            for change in changes(&before.clone(), &now) {
                let start = change.offset as usize;
                before[start..start + change.bytes.len()].copy_from_slice(&change.bytes);
            }
            prop_assert_eq!(before, now);
        }
    }
}

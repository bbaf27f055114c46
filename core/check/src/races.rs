//! Whether steps that may run at once touch the same bytes of a memory while one of them writes.
//!
//! Steps that may run at once never touch the same bytes if one writes; copies count as whole cache lines. Every order that
//! the waits allow then gives the same result, so `follow` proves one order and with it all.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::order::Placed;

/// Lane and number of a step.
type At = (usize, usize);

/// What was last done to a run of bytes.
#[derive(Clone, Debug, Default)]
struct Last {
    end: u64,
    write: Option<At>,
    /// The last read of each lane since then.
    reads: Vec<At>,
}

/// The accesses to a memory so far, of steps in a sequence that keeps their order.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    /// Disjoint runs of bytes by their first.
    runs: BTreeMap<u64, Last>,
}

impl Accesses {
    /// A step reads `range`.
    ///
    /// # Errors
    /// Names the step that writes there and may run at the same time.
    pub fn read(&mut self, range: Range<u64>, step: &Placed) -> Result<(), String> {
        self.cut(&range);
        let mut free = range.start;
        let mut gaps = Vec::new();
        for (start, last) in self.runs.range_mut(range.clone()) {
            ordered(last.write, step, "reads bytes that another step may be writing")?;
            last.reads.retain(|(lane, _)| *lane != step.lane);
            last.reads.push((step.lane, step.step));
            gaps.push(free..*start);
            free = last.end;
        }
        gaps.push(free..range.end);
        for gap in gaps.into_iter().filter(|gap| gap.start < gap.end) {
            let reads = vec![(step.lane, step.step)];
            self.runs.insert(gap.start, Last { end: gap.end, write: None, reads });
        }
        Ok(())
    }

    /// A step writes `range`.
    ///
    /// # Errors
    /// Names the step that reads or writes there and may run at the same time.
    pub fn write(&mut self, range: Range<u64>, step: &Placed) -> Result<(), String> {
        if range.is_empty() {
            return Ok(());
        }
        self.cut(&range);
        let mut covered = Vec::new();
        for (start, last) in self.runs.range(range.clone()) {
            ordered(last.write, step, "writes bytes that another step may be writing")?;
            for read in &last.reads {
                ordered(Some(*read), step, "writes bytes that another step may be reading")?;
            }
            covered.push(*start);
        }
        for start in covered {
            self.runs.remove(&start);
        }
        let write = Some((step.lane, step.step));
        self.runs.insert(range.start, Last { end: range.end, write, reads: Vec::new() });
        Ok(())
    }

    /// Makes runs end where the range starts and ends.
    fn cut(&mut self, range: &Range<u64>) {
        for at in [range.start, range.end] {
            let Some((_, last)) = self.runs.range_mut(..at).next_back() else { continue };
            if last.end > at {
                let tail = last.clone();
                last.end = at;
                self.runs.insert(at, tail);
            }
        }
    }
}

fn ordered(other: Option<At>, step: &Placed, what: &str) -> Result<(), String> {
    match other {
        Some((lane, number)) if !step.follows(lane, number) => {
            Err(format!("{what}: step {number} of lane {lane}"))
        }
        _ => Ok(()),
    }
}

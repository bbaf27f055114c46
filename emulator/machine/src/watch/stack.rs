//! How deep the firmware's stack grows: it is painted at reset, and what was painted over is counted. The
//! pointer is looked at too, when a block runs for the first time and when a handler begins: what a frame has
//! room for need not be written.
//!
//! What handlers take is counted apart from what they interrupt: the stack below is kept for them, painted
//! anew, and put back behind them. So the sum of both tells how deep it would be had the longest of them come
//! at the worst moment, whenever they came in this run. Of a handler that came often already one run of many is
//! painted for; the others' bytes are kept as far as it went so far, and what they take beyond counts twice.

use std::collections::BTreeMap;

use tilewright_cpu::Memory;
use tilewright_plan::Bytes;
use tilewright_report::StackUse;

/// What the stack holds where nothing was written.
const PAINT: u8 = 0xc5;
/// Bytes below what is interrupted that are looked at for handlers; what they take beyond counts twice.
const WINDOW: u32 = 4096;
/// Runs of a handler that are painted for, each, and of those behind them one of so many.
const EACH: u32 = 256;
const ONE_OF: u32 = 64;
/// Bytes that are kept beyond what a handler took so far.
const SPARE: u32 = 64;

/// The stack of the main firmware.
#[derive(Debug)]
pub struct Stack {
    lowest: u32,
    /// Bytes from there to where it starts.
    bytes: u32,
    /// Most that handlers took, and others by their pointers.
    handlers: u32,
    pointed: u32,
    /// A handler's pointer before its frame, the bytes below that are kept, and whether they are painted.
    interrupted: Option<(u32, u32, bool)>,
    /// The handler's exception; how often each came, and what its handler took at most.
    exception: u32,
    known: BTreeMap<u32, [u32; 2]>,
    /// What lay there.
    kept: Vec<u8>,
    window: Vec<u8>,
}

impl Stack {
    /// Paints the stack that grows down from `start` to `lowest`; nothing if no memory holds it.
    pub fn paint(memories: &mut Memory, lowest: u32, start: u32) -> Option<Self> {
        let bytes = start.checked_sub(lowest).filter(|bytes| *bytes > 0)?;
        let stack = Self {
            lowest,
            bytes,
            handlers: 0,
            pointed: 0,
            interrupted: None,
            exception: 0,
            known: BTreeMap::new(),
            kept: Vec::new(),
            window: Vec::new(),
        };
        memories.write(lowest, &vec![PAINT; bytes as usize]).then_some(stack)
    }

    /// The stack pointer somewhere, in a handler or outside of any.
    pub fn seen(&mut self, pointer: u32) {
        if !(self.lowest..=self.lowest + self.bytes).contains(&pointer) {
            return;
        }
        match self.interrupted {
            Some((start, ..)) => self.handlers = self.handlers.max(start.saturating_sub(pointer)),
            None => self.pointed = self.pointed.max(self.lowest + self.bytes - pointer),
        }
    }

    /// The handler of an exception interrupts what runs outside of any, whose stack pointer is `pointer`;
    /// nothing of its frame is written yet.
    pub fn interrupted(&mut self, memories: &mut Memory, pointer: u32, exception: u32) {
        let Some(free) = pointer.checked_sub(self.lowest).filter(|free| *free <= self.bytes) else {
            return;
        };
        self.seen(pointer);
        let [came, most] = self.known.entry(exception).or_default();
        *came = came.saturating_add(1);
        let is_painted = *came <= EACH || came.is_multiple_of(ONE_OF);
        let bytes = free.min(if is_painted { WINDOW } else { *most + SPARE });
        self.exception = exception;
        self.kept.resize(bytes as usize, 0);
        let from = pointer - bytes;
        let mut done = memories.read(from, &mut self.kept);
        if is_painted {
            self.window.clear();
            self.window.resize(bytes as usize, PAINT);
            done &= memories.write(from, &self.window);
        }
        if done {
            self.interrupted = Some((pointer, bytes, is_painted));
        }
    }

    /// What was interrupted goes on.
    pub fn returned(&mut self, memories: &mut Memory) {
        let Some((pointer, bytes, is_painted)) = self.interrupted.take() else { return };
        let from = pointer - bytes;
        if is_painted && memories.read(from, &mut self.window) {
            let took = bytes - untouched(&self.window);
            self.handlers = self.handlers.max(took);
            let [_, most] = self.known.entry(self.exception).or_default();
            *most = took.max(*most);
        }
        memories.write(from, &self.kept);
    }

    /// What was taken until now.
    pub fn used(&mut self, memories: &mut Memory) -> StackUse {
        // A handler that never returned.
        self.returned(memories);
        let mut all = vec![0; self.bytes as usize];
        let _ = memories.read(self.lowest, &mut all);
        let thread = self.pointed.max(self.bytes - untouched(&all));
        let [thread, handlers, limit] =
            [thread, self.handlers, self.bytes].map(|bytes| Bytes(bytes.into()));
        StackUse::new(thread, handlers, limit)
    }
}

/// Painted bytes at the start of these.
fn untouched(bytes: &[u8]) -> u32 {
    bytes.iter().position(|byte| *byte != PAINT).unwrap_or(bytes.len()) as u32
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use tilewright_cpu::Reach;

    use super::*;

    const LOWEST: u32 = 0x1000;
    const START: u32 = LOWEST + 0x3000;

    fn painted() -> (Memory, Stack) {
        let mut memories = Memory::default();
        memories.add(LOWEST, 0x4000, Reach::Plain);
        let stack = Stack::paint(&mut memories, LOWEST, START).unwrap();
        (memories, stack)
    }

    #[test]
    fn handlers_are_counted_apart_from_what_they_interrupt() {
        let (mut memories, mut stack) = painted();
        memories.write(START - 100, &[1; 100]);
        // A handler whose frame and locals lie below what is used by now.
        stack.interrupted(&mut memories, START - 40, 16);
        assert!(memories.write(START - 240, &[2; 200]));
        stack.returned(&mut memories);
        let mut left = [0; 60];
        assert!(memories.read(START - 100, &mut left));
        assert_eq!(left, [1; 60]);
        // A shorter one, later and deeper.
        stack.seen(START - 20);
        stack.interrupted(&mut memories, START - 100, 16);
        memories.write(START - 150, &[2; 50]);
        let [thread, handlers, limit] = [100, 200, 0x3000].map(Bytes);
        let used = stack.used(&mut memories);
        assert_eq!((used.thread_bytes, used.handler_bytes), (thread, handlers));
        assert_eq!(used.limit_bytes, limit);
        assert_eq!(used.used_bytes, Bytes(300));
    }

    #[test]
    fn a_handler_that_comes_often_is_looked_at_now_and_then_and_leaves_nothing() {
        let (mut memories, mut stack) = painted();
        let mut run = |exception: u32, runs: u32, took: u32| {
            for _ in 0..runs {
                stack.interrupted(&mut memories, START, exception);
                memories.write(START - took, &vec![2; took as usize]);
                stack.returned(&mut memories);
            }
            let StackUse { thread_bytes, handler_bytes, .. } = stack.used(&mut memories);
            [thread_bytes.0, handler_bytes.0]
        };
        assert_eq!(run(16, EACH, 200), [0, 200]);
        // Those that are passed over leave nothing either, until one is looked at.
        assert_eq!(run(16, ONE_OF - 1, 220), [0, 200]);
        assert_eq!(run(16, 1, 220), [0, 220]);
        // Another exception's first is, and what is more than was kept counts for what was interrupted.
        assert_eq!(run(17, 1, 300), [0, 300]);
        assert_eq!(run(16, 1, 290), [290, 300]);
    }

    #[test]
    fn room_that_nothing_was_written_to_counts() {
        let (mut memories, mut stack) = painted();
        stack.seen(START - 500);
        stack.interrupted(&mut memories, START - 600, 16);
        stack.seen(START - 700);
        stack.returned(&mut memories);
        let used = stack.used(&mut memories);
        assert_eq!((used.thread_bytes, used.handler_bytes), (Bytes(600), Bytes(100)));
    }

    #[test]
    fn what_no_window_holds_counts_for_what_was_interrupted() {
        let (mut memories, mut stack) = painted();
        stack.interrupted(&mut memories, START, 16);
        memories.write(START - WINDOW - 8, &vec![2; WINDOW as usize + 8]);
        let used = stack.used(&mut memories);
        assert_eq!(used.handler_bytes, Bytes(WINDOW.into()));
        assert_eq!(used.thread_bytes, Bytes(u64::from(WINDOW) + 8));
    }

    #[test]
    fn a_pointer_outside_of_the_stack_is_nobodys() {
        let (mut memories, mut stack) = painted();
        stack.interrupted(&mut memories, LOWEST - 4, 16);
        stack.interrupted(&mut memories, START + 4, 16);
        assert_eq!(stack.used(&mut memories).used_bytes, Bytes(0));
        assert!(Stack::paint(&mut memories, START, LOWEST).is_none());
        assert!(Stack::paint(&mut memories, 0, START).is_none());
    }
}

//! DWT: the cycle counter. DDI 0403E, C1.8; PM0253 does not describe it.
//!
//! On the Cortex-M7 the registers are locked until 0xC5ACCE55 is written to LAR (DDI 0489F,
//! CoreSight software lock): firmware that forgets it counts on a debugger only. The Cortex-M4 has
//! no such lock (DDI 0439D, 9).

use crate::access::Time;

const UNLOCK: u32 = 0xc5ac_ce55;

/// The registers.
#[derive(Clone, Debug)]
pub struct Dwt {
    enabled: bool,
    trace: bool,
    /// Whether LAR can lock the registers.
    locks: bool,
    unlocked: bool,
    /// Value at `since`.
    count: u32,
    since: Time,
}

impl Dwt {
    /// After reset; `locks`: until its key is written to LAR, nothing else can be.
    pub const fn new(locks: bool) -> Self {
        let since = Time(0);
        Self { enabled: false, trace: false, locks, unlocked: !locks, count: 0, since }
    }

    fn runs(&self) -> bool {
        self.enabled && self.trace
    }

    fn count(&self, now: Time) -> u32 {
        // The counter has 32 bits and wraps.
        let passed = if self.runs() { now.since(self.since) as u32 } else { 0 };
        self.count.wrapping_add(passed)
    }

    fn settle(&mut self, now: Time) {
        self.count = self.count(now);
        self.since = now;
    }

    /// The core's clock stood for so many cycles: they are not counted.
    pub fn stood(&mut self, cycles: u64) {
        self.since = self.since.after(cycles);
    }

    /// DEMCR.TRCENA, which stands elsewhere.
    pub fn set_trace(&mut self, on: bool, now: Time) {
        self.settle(now);
        self.trace = on;
    }

    /// Reads a register.
    pub fn read(&mut self, offset: u32, now: Time) -> Option<u32> {
        Some(match offset {
            // Four comparators, cycle counter present.
            0x000 => 0x4000_0000 | u32::from(self.enabled),
            0x004 => self.count(now),
            // The other counters and comparators stand still.
            0x008..=0x05c => 0,
            0xfb0 => 0,
            0xfb4 => u32::from(self.locks) | u32::from(!self.unlocked) << 1,
            _ => return None,
        })
    }

    /// Writes a register.
    pub fn write(&mut self, offset: u32, value: u32, now: Time) -> bool {
        match offset {
            0xfb0 => self.unlocked = !self.locks || value == UNLOCK,
            0x000..=0x05c if !self.unlocked => {}
            0x000 => {
                self.settle(now);
                self.enabled = value & 1 != 0;
            }
            0x004 => {
                self.count = value;
                self.since = now;
            }
            0x008..=0x05c => {}
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_only_when_unlocked_traced_and_enabled() {
        let mut dwt = Dwt::new(true);
        dwt.set_trace(true, Time(0));
        dwt.write(0, 1, Time(0));
        assert_eq!(dwt.read(4, Time(100)), Some(0), "locked");
        dwt.write(0xfb0, UNLOCK, Time(100));
        dwt.write(0, 1, Time(100));
        assert_eq!(dwt.read(4, Time(142)), Some(42));
        dwt.stood(1);
        assert_eq!(dwt.read(4, Time(143)), Some(42));
        dwt.set_trace(false, Time(151));
        assert_eq!(dwt.read(4, Time(1000)), Some(50));
        dwt.set_trace(true, Time(1000));
        assert_eq!(dwt.read(4, Time(1000 + (1 << 32))), Some(50));
    }
}

//! A timer of nRF52 (nRF52840 PS, TIMER), as a timer: counting of events is left out.

use crate::access::{Device, Moment, Time, Write, earlier};
use crate::clocks::Clocks;

/// What the prescaler divides.
const CLOCK_HZ: u64 = 16_000_000;
const CHANNELS: usize = 6;

const START: u32 = 0x000;
const STOP: u32 = 0x004;
const CLEAR: u32 = 0x00c;
const SHUTDOWN: u32 = 0x010;
const CAPTURE_FIRST: u32 = 0x040;
const CAPTURE_LAST: u32 = 0x054;
const COMPARE_FIRST: u32 = 0x140;
const COMPARE_LAST: u32 = 0x154;
const SHORTS: u32 = 0x200;
const INTENSET: u32 = 0x304;
const INTENCLR: u32 = 0x308;
const MODE: u32 = 0x504;
const BITMODE: u32 = 0x508;
const PRESCALER: u32 = 0x510;
const CC_FIRST: u32 = 0x540;
const CC_LAST: u32 = 0x554;

/// The registers.
#[derive(Clone, Debug)]
pub struct NrfTimer {
    runs: bool,
    /// Count at `since`.
    count: u64,
    since: Time,
    /// Compare events, by channel.
    events: u32,
    /// Of them, those that interrupt.
    enabled: u32,
    shorts: u32,
    mode: u32,
    bit_mode: u32,
    prescaler: u32,
    compare: [u32; CHANNELS],
}

impl Default for NrfTimer {
    fn default() -> Self {
        Self {
            runs: false,
            count: 0,
            since: Time(0),
            events: 0,
            enabled: 0,
            shorts: 0,
            mode: 0,
            bit_mode: 0,
            prescaler: 4,
            compare: [0; CHANNELS],
        }
    }
}

impl NrfTimer {
    fn cycles_of(&self, ticks: u64, clocks: Clocks) -> u64 {
        clocks.cycles_of(ticks << self.prescaler.min(9), CLOCK_HZ)
    }

    /// Counts until it begins anew.
    fn top(&self) -> u64 {
        1 << match self.bit_mode & 3 {
            0 => 16,
            1 => 8,
            2 => 24,
            _ => 32,
        }
    }

    /// Ticks until a channel's event, at least one.
    fn ticks_until(&self, channel: usize) -> u64 {
        let (top, value) = (self.top(), u64::from(self.compare[channel]) % self.top());
        match (value + top - self.count % top) % top {
            0 => top,
            ticks => ticks,
        }
    }

    /// The next compare event: its channel, and ticks until then.
    fn next(&self) -> (usize, u64) {
        let ticks = (0..CHANNELS).map(|channel| (channel, self.ticks_until(channel)));
        ticks.min_by_key(|(_, ticks)| *ticks).unwrap_or((0, u64::MAX))
    }

    /// Moves count and time to `now` and raises the events passed on the way, one after the other, since each may clear
    /// the count or stop it.
    fn settle(&mut self, at: Moment) {
        while self.runs {
            let (_, ticks) = self.next();
            let then = self.since.after(self.cycles_of(ticks, at.clocks));
            if then > at.now {
                break;
            }
            let due: Vec<usize> =
                (0..CHANNELS).filter(|channel| self.ticks_until(*channel) == ticks).collect();
            self.count = (self.count + ticks) % self.top();
            self.since = then;
            for channel in due {
                self.events |= 1 << channel;
                if self.shorts >> channel & 1 != 0 {
                    self.count = 0;
                }
                if self.shorts >> (channel + 8) & 1 != 0 {
                    self.runs = false;
                }
            }
        }
        if !self.runs {
            self.since = at.now;
        }
    }

    /// The count now.
    fn now(&self, at: Moment) -> u64 {
        let tick = self.cycles_of(1, at.clocks).max(1);
        let passed = if self.runs { at.now.since(self.since) / tick } else { 0 };
        (self.count + passed) % self.top()
    }

    /// What time depends on is about to change: the count goes on from what it is now.
    fn hold_count(&mut self, at: Moment) {
        self.count = self.now(at);
        self.since = at.now;
    }
}

impl Device for NrfTimer {
    fn read(&mut self, offset: u32, at: Moment) -> Option<u32> {
        self.settle(at);
        Some(match offset {
            COMPARE_FIRST..=COMPARE_LAST => self.events >> ((offset - COMPARE_FIRST) / 4) & 1,
            SHORTS => self.shorts,
            INTENSET | INTENCLR => self.enabled << 16,
            MODE => self.mode,
            BITMODE => self.bit_mode,
            PRESCALER => self.prescaler,
            CC_FIRST..=CC_LAST => self.compare[((offset - CC_FIRST) / 4) as usize],
            _ => return None,
        })
    }

    fn write(&mut self, offset: u32, write: Write, at: Moment) -> bool {
        self.settle(at);
        let starts = write.value & 1 != 0;
        match offset {
            START if starts => self.runs = true,
            STOP | SHUTDOWN if starts => {
                self.hold_count(at);
                self.runs = false;
            }
            CLEAR if starts => {
                self.count = 0;
                self.since = at.now;
            }
            CAPTURE_FIRST..=CAPTURE_LAST if starts => {
                self.compare[((offset - CAPTURE_FIRST) / 4) as usize] = self.now(at) as u32;
            }
            START | STOP | SHUTDOWN | CLEAR | CAPTURE_FIRST..=CAPTURE_LAST => {}
            COMPARE_FIRST..=COMPARE_LAST => {
                let channel = (offset - COMPARE_FIRST) / 4;
                self.events = self.events & !(1 << channel) | u32::from(starts) << channel;
            }
            SHORTS => self.shorts = write.over(self.shorts),
            INTENSET => self.enabled |= write.value >> 16 & 0x3f,
            INTENCLR => self.enabled &= !(write.value >> 16),
            MODE => self.mode = write.over(self.mode) & 3,
            BITMODE => self.bit_mode = write.over(self.bit_mode) & 3,
            PRESCALER => {
                self.hold_count(at);
                self.prescaler = write.over(self.prescaler) & 15;
            }
            CC_FIRST..=CC_LAST => {
                let compare = &mut self.compare[((offset - CC_FIRST) / 4) as usize];
                *compare = write.over(*compare);
            }
            _ => return false,
        }
        true
    }

    fn advance(&mut self, at: Moment) {
        self.settle(at);
    }

    fn next_event(&self, clocks: Clocks) -> Option<Time> {
        let wanted = (0..CHANNELS)
            .filter(|channel| self.runs && self.enabled & !self.events & 1 << channel != 0)
            .map(|channel| self.since.after(self.cycles_of(self.ticks_until(channel), clocks)));
        wanted.fold(None, |first, next| earlier(first, Some(next)))
    }

    fn lines(&self) -> [bool; 2] {
        [self.events & self.enabled != 0, false]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(cycles: u64) -> Moment {
        Moment { now: Time(cycles), clocks: Clocks::of(64_000_000, 1, [1; 2], 0) }
    }

    fn word(value: u32) -> Write {
        Write { value, mask: u32::MAX }
    }

    #[test]
    fn it_strikes_each_period_from_when_it_was_cleared() {
        let mut timer = NrfTimer::default();
        // 1 MHz: 64 cycles of the core a tick.
        timer.write(BITMODE, word(3), at(0));
        timer.write(CC_FIRST, word(1000), at(0));
        timer.write(SHORTS, word(1), at(0));
        timer.write(INTENSET, word(1 << 16), at(0));
        assert_eq!(timer.next_event(at(0).clocks), None);
        timer.write(START, word(1), at(100));
        assert_eq!(timer.next_event(at(100).clocks), Some(Time(64_100)));
        assert_eq!(timer.read(COMPARE_FIRST, at(64_099)), Some(0));
        assert_eq!(timer.read(COMPARE_FIRST, at(64_100)), Some(1));
        assert!(timer.lines()[0]);
        timer.write(COMPARE_FIRST, word(0), at(64_200));
        timer.write(CLEAR, word(1), at(96_100));
        assert_eq!(timer.next_event(at(96_100).clocks), Some(Time(160_100)));
        timer.write(STOP, word(1), at(100_000));
        assert_eq!(timer.next_event(at(100_000).clocks), None);
        timer.advance(at(1_000_000));
        assert!(!timer.lines()[0]);
    }

    #[test]
    fn what_is_captured_is_the_count() {
        let mut timer = NrfTimer::default();
        timer.write(START, word(1), at(0));
        timer.write(CAPTURE_FIRST + 4, word(1), at(640));
        assert_eq!(timer.read(CC_FIRST + 4, at(640)), Some(10));
    }
}

//! A general-purpose or basic timer counting up: RM0385, 23.4 (TIM2 to TIM5) and 25.4.
//! Compare channels raise events; pins, captures, slave modes and preload of ARR are left out.

use crate::access::{Device, Moment, Time, Write, earlier};
use crate::clocks::Clocks;

/// Events are looked for this many counter ticks ahead at most: longer than any period.
const UPDATE: u32 = 1;

/// The registers.
#[derive(Clone, Debug)]
pub struct Timer {
    /// 0: on APB1, 1: on APB2.
    apb: usize,
    /// Largest count: 16 or 32 bits.
    top: u32,
    cr: [u32; 2],
    smcr: u32,
    dier: u32,
    sr: u32,
    ccmr: [u32; 2],
    ccer: u32,
    prescaler: u32,
    /// The prescaler in use: the register takes effect at an update.
    divides: u64,
    arr: u32,
    ccr: [u32; 4],
    /// Count at `since`.
    count: u32,
    since: Time,
}

impl Timer {
    /// After reset; `wide` for a counter of 32 bits.
    pub fn new(apb: usize, wide: bool) -> Self {
        let top = if wide { u32::MAX } else { 0xffff };
        Self {
            apb,
            top,
            cr: [0; 2],
            smcr: 0,
            dier: 0,
            sr: 0,
            ccmr: [0; 2],
            ccer: 0,
            prescaler: 0,
            divides: 1,
            arr: top,
            ccr: [0; 4],
            count: 0,
            since: Time(0),
        }
    }

    fn runs(&self) -> bool {
        self.cr[0] & 1 != 0
    }

    fn tick(&self, clocks: Clocks) -> u64 {
        (clocks.timer_tick(self.apb) * self.divides).max(1)
    }

    fn period(&self) -> u64 {
        u64::from(self.arr) + 1
    }

    /// Ticks from the current count until the counter next holds `value`; nothing if it never
    /// does.
    fn ticks_until(&self, value: u32) -> Option<u64> {
        if value > self.arr {
            return None;
        }
        let (count, value) = (u64::from(self.count), u64::from(value));
        // A count above the period runs on to the top first.
        let period =
            if count > u64::from(self.arr) { u64::from(self.top) + 1 } else { self.period() };
        Some(if value > count { value - count } else { period - count + value })
    }

    /// Moves count and time to `now` and raises the flags passed on the way.
    fn settle(&mut self, at: Moment) {
        if !self.runs() {
            self.since = at.now;
            return;
        }
        let tick = self.tick(at.clocks);
        let ticks = at.now.since(self.since) / tick;
        if ticks == 0 {
            return;
        }
        if self.ticks_until(0).is_some_and(|until| until <= ticks) && self.cr[0] & 2 == 0 {
            self.sr |= UPDATE;
        }
        for channel in 0..4 {
            if self.ticks_until(self.ccr[channel]).is_some_and(|until| until <= ticks) {
                self.sr |= 2 << channel;
            }
        }
        let stops = self.cr[0] & 8 != 0 && self.ticks_until(0).is_some_and(|u| u <= ticks);
        self.count = ((u64::from(self.count) + ticks) % self.period()) as u32;
        self.since = self.since.after(ticks * tick);
        if stops {
            self.cr[0] &= !1;
            self.count = 0;
        }
    }

    fn generate(&mut self, value: u32, at: Moment) {
        if value & 1 != 0 {
            self.count = 0;
            self.since = at.now;
            self.divides = u64::from(self.prescaler) + 1;
            // URS and UDIS keep a software update from setting the flag.
            if self.cr[0] & 6 == 0 {
                self.sr |= UPDATE;
            }
        }
        self.sr |= value & 0x1e;
    }
}

impl Device for Timer {
    fn read(&mut self, offset: u32, at: Moment) -> Option<u32> {
        self.settle(at);
        Some(match offset {
            0x00 | 0x04 => self.cr[(offset / 4) as usize],
            0x08 => self.smcr,
            0x0c => self.dier,
            0x10 => self.sr,
            0x14 => 0,
            0x18 | 0x1c => self.ccmr[((offset / 4) & 1) as usize],
            0x20 => self.ccer,
            0x24 => self.count,
            0x28 => self.prescaler,
            0x2c => self.arr,
            0x34..=0x40 => self.ccr[(offset / 4 - 13) as usize],
            _ => return None,
        })
    }

    fn write(&mut self, offset: u32, write: Write, at: Moment) -> bool {
        self.settle(at);
        match offset {
            0x00 => {
                if !self.runs() {
                    self.since = at.now;
                }
                self.cr[0] = write.over(self.cr[0]);
            }
            0x04 => self.cr[1] = write.over(self.cr[1]),
            0x08 => self.smcr = write.over(self.smcr),
            0x0c => self.dier = write.over(self.dier),
            // Flags are cleared by writing 0.
            0x10 => self.sr &= write.value | !write.mask,
            0x14 => self.generate(write.value, at),
            0x18 | 0x1c => {
                let register = &mut self.ccmr[((offset / 4) & 1) as usize];
                *register = write.over(*register);
            }
            0x20 => self.ccer = write.over(self.ccer),
            0x24 => {
                self.count = write.over(self.count) & self.top;
                self.since = at.now;
            }
            0x28 => self.prescaler = write.over(self.prescaler) & 0xffff,
            0x2c => self.arr = write.over(self.arr) & self.top,
            0x34..=0x40 => {
                let register = &mut self.ccr[(offset / 4 - 13) as usize];
                *register = write.over(*register) & self.top;
            }
            _ => return false,
        }
        true
    }

    fn advance(&mut self, at: Moment) {
        self.settle(at);
    }

    fn next_event(&self, clocks: Clocks) -> Option<Time> {
        if !self.runs() {
            return None;
        }
        let enabled = |bit: u32| self.dier >> bit & 1 != 0 && self.sr >> bit & 1 == 0;
        let at = |ticks: u64| self.since.after(ticks.saturating_mul(self.tick(clocks)));
        let update = self.ticks_until(0).filter(|_| enabled(0)).map(at);
        (0..4)
            .filter(|channel| enabled(channel + 1))
            .filter_map(|channel| self.ticks_until(self.ccr[channel as usize]).map(at))
            .fold(update, |first, next| earlier(first, Some(next)))
    }

    fn lines(&self) -> [bool; 2] {
        [self.sr & self.dier & 0x5f != 0, false]
    }
}

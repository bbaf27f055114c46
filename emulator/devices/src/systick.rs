//! SysTick: DDI 0403E, B3.3.

use crate::access::Time;

/// The registers.
#[derive(Clone, Debug, Default)]
pub struct SysTick {
    control: u32,
    reload: u32,
    /// When the counter was last loaded.
    loaded: Time,
    /// Value loaded then; the first count after a write to CVR starts from 0.
    from: u32,
    flag: bool,
    pending: bool,
}

impl SysTick {
    fn runs(&self) -> bool {
        self.control & 1 != 0
    }

    /// Core cycles of a tick: the core's clock, or an eighth (STM32F7: PM0253, 4.4).
    fn tick(&self) -> u64 {
        if self.control & 4 != 0 { 1 } else { 8 }
    }

    /// When the counter next reaches 0.
    fn zero(&self) -> Option<Time> {
        (self.runs() && self.reload != 0).then(|| {
            let ticks =
                if self.from == 0 { u64::from(self.reload) + 1 } else { u64::from(self.from) };
            self.loaded.after(ticks * self.tick())
        })
    }

    fn value(&self, now: Time) -> u32 {
        let ticks = if self.runs() { now.since(self.loaded) / self.tick() } else { 0 };
        let from = u64::from(self.from);
        if from >= ticks {
            (from - ticks) as u32
        } else {
            let period = u64::from(self.reload) + 1;
            (period - 1 - (ticks - from - 1) % period) as u32
        }
    }

    /// Does what was due until now.
    pub fn advance(&mut self, now: Time) {
        let Some(zero) = self.zero() else { return };
        if zero > now {
            return;
        }
        self.flag = true;
        self.pending |= self.control & 2 != 0;
        let period = (u64::from(self.reload) + 1) * self.tick();
        self.loaded = zero.after(now.since(zero) / period * period);
        self.from = 0;
    }

    /// When the exception will next be raised.
    pub fn next_event(&self) -> Option<Time> {
        if self.control & 2 != 0 { self.zero() } else { None }
    }

    /// Whether the exception was raised since the last call.
    pub fn take_pending(&mut self) -> bool {
        std::mem::take(&mut self.pending)
    }

    /// Reads a register: CSR, RVR, CVR, CALIB.
    pub fn read(&mut self, offset: u32, now: Time) -> Option<u32> {
        self.advance(now);
        Some(match offset {
            0x0 => self.control | u32::from(std::mem::take(&mut self.flag)) << 16,
            0x4 => self.reload,
            0x8 => self.value(now),
            0xc => 0xc000_0000,
            _ => return None,
        })
    }

    /// Writes a register.
    pub fn write(&mut self, offset: u32, value: u32, now: Time) -> bool {
        self.advance(now);
        match offset {
            0x0 => {
                self.from = self.value(now);
                self.loaded = now;
                self.control = value & 7;
            }
            0x4 => self.reload = value & 0x00ff_ffff,
            0x8 => {
                self.from = 0;
                self.loaded = now;
                self.flag = false;
            }
            0xc => {}
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_down_and_raises_every_period() {
        let mut timer = SysTick::default();
        timer.write(4, 99, Time(0));
        timer.write(8, 0, Time(0));
        timer.write(0, 7, Time(0));
        assert_eq!(timer.read(8, Time(1)), Some(99));
        assert_eq!(timer.read(8, Time(100)), Some(0));
        assert_eq!(timer.next_event(), Some(Time(200)));
        assert!(timer.take_pending());
        assert!(!timer.take_pending());
        timer.advance(Time(205));
        assert!(timer.take_pending());
        assert_eq!(timer.read(8, Time(205)), Some(95));
        assert_eq!(timer.read(0, Time(205)), Some(0x1_0007));
        assert_eq!(timer.read(0, Time(205)), Some(7), "reading clears the flag");
    }
}

//! NVIC: which exceptions are enabled, pending and active, and which is next.
//! DDI 0403E, B1.5.4 (priorities) and B3.4 (registers).

use crate::access::Write;

/// Exceptions that the model has room for: 16 of the core's and 112 interrupts.
pub const EXCEPTIONS: u32 = 128;
/// The STM32F7 implements the upper four bits of a priority (PM0253, 2.4.5).
const PRIORITY_BITS: u8 = 0xf0;

/// The mask registers of the core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Masks {
    /// PRIMASK.
    pub primask: bool,
    /// FAULTMASK.
    pub faultmask: bool,
    /// BASEPRI.
    pub basepri: u8,
}

/// Exceptions by number: 11 SVCall, 14 PendSV, 15 SysTick, 16 and up interrupts.
#[derive(Clone, Debug)]
pub struct Nvic {
    enabled: u128,
    pending: u128,
    active: u128,
    lines: u128,
    priorities: [u8; EXCEPTIONS as usize],
    /// AIRCR.PRIGROUP.
    group: u32,
}

const INTERRUPTS: u128 = !0xffff;

const fn bit(exception: u32) -> u128 {
    if exception < EXCEPTIONS { 1 << exception } else { 0 }
}

impl Default for Nvic {
    fn default() -> Self {
        // The core's own exceptions cannot be switched off; faults end the emulation instead.
        let enabled = bit(2) | bit(3) | bit(11) | bit(14) | bit(15);
        let priorities = [0; EXCEPTIONS as usize];
        Self { enabled, pending: 0, active: 0, lines: 0, priorities, group: 0 }
    }
}

impl Nvic {
    /// Sets PRIGROUP.
    pub fn set_group(&mut self, group: u32) {
        self.group = group & 7;
    }

    fn priority(&self, exception: u32) -> i32 {
        match exception {
            0..=3 => exception as i32 - 4,
            _ => i32::from(self.priorities.get(exception as usize).copied().unwrap_or(0)),
        }
    }

    /// The part of a priority that decides preemption.
    fn level(&self, priority: i32) -> i32 {
        if priority < 0 { priority } else { priority & !((2 << self.group) - 1) }
    }

    /// The priority that the core executes at: 256 in thread mode without masks.
    fn execution(&self, masks: Masks) -> i32 {
        let mut priority = 256;
        let mut active = self.active;
        while active != 0 {
            priority = priority.min(self.level(self.priority(active.trailing_zeros())));
            active &= active - 1;
        }
        let basepri = masks.basepri & PRIORITY_BITS;
        if basepri != 0 {
            priority = priority.min(self.level(i32::from(basepri)));
        }
        if masks.primask {
            priority = priority.min(0);
        }
        if masks.faultmask {
            priority = priority.min(-1);
        }
        priority
    }

    /// Pending and enabled exceptions.
    #[must_use]
    pub const fn any_pending(&self) -> bool {
        self.pending & self.enabled != 0
    }

    fn best(&self) -> Option<u32> {
        let mut left = self.pending & self.enabled;
        let mut best: Option<u32> = None;
        while left != 0 {
            let exception = left.trailing_zeros();
            if best.is_none_or(|b| self.priority(exception) < self.priority(b)) {
                best = Some(exception);
            }
            left &= left - 1;
        }
        best
    }

    /// The exception that the core takes now.
    #[must_use]
    pub fn next(&self, masks: Masks) -> Option<u32> {
        self.best().filter(|best| self.level(self.priority(*best)) < self.execution(masks))
    }

    /// Whether WFI ends: as [`Nvic::next`], PRIMASK left out (DDI 0403E, B1.5.19).
    #[must_use]
    pub fn wakes(&self, masks: Masks) -> bool {
        self.next(Masks { primask: false, ..masks }).is_some()
    }

    /// Makes an exception pending.
    pub fn pend(&mut self, exception: u32) {
        self.pending |= bit(exception);
    }

    /// Takes the pending state back.
    pub fn unpend(&mut self, exception: u32) {
        self.pending &= !bit(exception);
    }

    /// Whether an exception is pending.
    #[must_use]
    pub const fn is_pending(&self, exception: u32) -> bool {
        self.pending & bit(exception) != 0
    }

    /// The most urgent pending exception, for ICSR.VECTPENDING; 0 if there is none.
    #[must_use]
    pub fn pending_number(&self) -> u32 {
        self.best().unwrap_or(0)
    }

    /// Whether an interrupt, not another exception, is pending.
    #[must_use]
    pub const fn interrupt_pending(&self) -> bool {
        self.pending & self.enabled & INTERRUPTS != 0
    }

    /// Whether no more than one exception is active.
    #[must_use]
    pub const fn at_base(&self) -> bool {
        self.active.count_ones() <= 1
    }

    /// The core enters the handler.
    pub fn enter(&mut self, exception: u32) {
        self.pending &= !bit(exception);
        self.active |= bit(exception);
    }

    /// The core leaves the handler; a line that is still high makes the interrupt pending again.
    pub fn leave(&mut self, exception: u32) {
        self.active &= !bit(exception);
        self.pending |= self.lines & bit(exception);
    }

    /// Level of the line of an interrupt (its number, without the core's 16 exceptions).
    pub fn set_line(&mut self, interrupt: u32, high: bool) {
        let bit = bit(interrupt.saturating_add(16));
        if !high {
            self.lines &= !bit;
        } else if self.lines & bit == 0 {
            self.lines |= bit;
            self.pending |= bit;
        }
    }

    /// Priority bytes of four exceptions from `first` on, as a word.
    pub fn priorities(&self, first: u32) -> u32 {
        (0..4).fold(0, |word, n| {
            let priority = self.priorities.get((first + n) as usize).copied().unwrap_or(0);
            word | u32::from(priority) << (n * 8)
        })
    }

    /// Writes priority bytes of four exceptions from `first` on.
    pub fn set_priorities(&mut self, first: u32, write: Write) {
        let word = write.over(self.priorities(first));
        for n in 0..4 {
            if let Some(priority) = self.priorities.get_mut((first + n) as usize) {
                *priority = (word >> (n * 8)) as u8 & PRIORITY_BITS;
            }
        }
    }

    /// Reads a register; the offset counts from 0xE000E100.
    pub fn read(&self, offset: u32) -> Option<u32> {
        let word = |bits: u128| (bits >> 16 >> ((offset & 0x1f) * 8).min(127)) as u32;
        Some(match offset {
            0x000..=0x01c | 0x080..=0x09c => word(self.enabled),
            0x100..=0x11c | 0x180..=0x19c => word(self.pending),
            0x200..=0x21c => word(self.active),
            0x300..=0x3ef => self.priorities(16 + (offset - 0x300)),
            _ => return None,
        })
    }

    /// Writes a register; the offset counts from 0xE000E100.
    pub fn write(&mut self, offset: u32, write: Write) -> bool {
        let shift = (offset & 0x1f) * 8;
        let bits = if shift < 112 { u128::from(write.value) << shift << 16 } else { 0 };
        match offset {
            0x000..=0x01c => self.enabled |= bits,
            0x080..=0x09c => self.enabled &= !bits,
            0x100..=0x11c => self.pending |= bits,
            0x180..=0x19c => {
                self.pending &= !bits;
                self.pending |= self.lines & !self.active;
            }
            0x200..=0x21c => {}
            0x300..=0x3ef => self.set_priorities(16 + (offset - 0x300), write),
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(value: u32) -> Write {
        Write { value, mask: u32::MAX }
    }

    #[test]
    fn the_most_urgent_exception_comes_first_and_preempts_less_urgent_ones() {
        let mut nvic = Nvic::default();
        let masks = Masks::default();
        nvic.write(0x000, word(0b11));
        nvic.set_priorities(16, word(0x4080));
        nvic.pend(16);
        assert_eq!(nvic.next(masks), Some(16));
        nvic.enter(16);
        nvic.pend(16);
        assert_eq!(nvic.next(masks), None, "an equal priority does not preempt");
        nvic.pend(17);
        assert_eq!(nvic.next(masks), Some(17));
        nvic.enter(17);
        nvic.leave(17);
        nvic.leave(16);
        assert_eq!(nvic.next(masks), Some(16));
    }

    #[test]
    fn masks_hold_exceptions_back_and_wfi_still_wakes() {
        let mut nvic = Nvic::default();
        nvic.write(0x004, word(1 << 5));
        nvic.set_line(37, true);
        let masks = Masks { primask: true, ..Masks::default() };
        assert_eq!(nvic.next(masks), None);
        assert!(nvic.wakes(masks));
        nvic.set_priorities(16 + 36, word(0x8000));
        assert_eq!(nvic.next(Masks { basepri: 0x80, ..Masks::default() }), None);
        assert_eq!(nvic.next(Masks { basepri: 0x90, ..Masks::default() }), Some(53));
    }

    #[test]
    fn a_line_that_stays_high_interrupts_again() {
        let mut nvic = Nvic::default();
        nvic.write(0x000, word(1));
        nvic.set_line(0, true);
        nvic.enter(16);
        nvic.leave(16);
        assert!(nvic.is_pending(16));
        nvic.enter(16);
        nvic.set_line(0, false);
        nvic.leave(16);
        assert!(!nvic.is_pending(16));
    }

    #[test]
    fn registers_of_absent_interrupts_do_nothing() {
        let mut nvic = Nvic::default();
        for offset in (0..0x400).step_by(4) {
            nvic.write(offset, word(u32::MAX));
            nvic.read(offset);
        }
        assert_eq!(nvic.read(0x01c), Some(0));
    }
}

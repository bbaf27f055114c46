//! The core's registers and flags.

use core::ops::{Index, IndexMut};

use crate::operation::{Condition, R, REGISTERS};

/// xPSR.T.
const THUMB: u32 = 1 << 24;
/// CONTROL.SPSEL.
const PROCESS_STACK: u32 = 2;
/// CONTROL.nPRIV.
const UNPRIVILEGED: u32 = 1;

/// The register file.
#[derive(Clone, Debug, Default)]
pub struct Registers(pub(crate) [u32; REGISTERS]);

impl Index<R> for Registers {
    type Output = u32;
    #[inline(always)]
    fn index(&self, register: R) -> &u32 {
        &self.0[register as usize]
    }
}

impl IndexMut<R> for Registers {
    #[inline(always)]
    fn index_mut(&mut self, register: R) -> &mut u32 {
        &mut self.0[register as usize]
    }
}

/// An address that was loaded from exclusively, and the value that was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exclusive {
    pub(crate) address: u32,
    pub(crate) value: u32,
}

/// The core's state. PC is right at the border of blocks.
#[derive(Clone, Debug, Default)]
pub struct Core {
    pub(crate) r: Registers,
    /// N is its top bit.
    pub(crate) n: u32,
    /// Z is set if it is 0.
    pub(crate) z: u32,
    /// 0 or 1.
    pub(crate) c: u32,
    /// V is its top bit.
    pub(crate) v: u32,
    /// The saturation flag Q.
    pub(crate) q: bool,
    /// GE: a byte of ones or zeros for each.
    pub(crate) ge: u32,
    /// State of the IT block that goes on behind the border (DDI 0403E, B1.4.2).
    pub(crate) it: u32,
    /// IPSR: the number of the exception being handled.
    pub(crate) exception: u32,
    /// The stack pointer that is not in use.
    other_stack: u32,
    control: u32,
    pub(crate) primask: bool,
    pub(crate) faultmask: bool,
    pub(crate) basepri: u32,
    /// MSPLIM and PSPLIM of Armv8-M. Nothing looks at them.
    pub(crate) limits: [u32; 2],
    pub(crate) exclusive: Option<Exclusive>,
    pub(crate) floats: Floats,
}

/// Registers of the floating-point unit.
#[derive(Clone, Debug, Default)]
pub struct Floats {
    /// s0 to s31; d0 is s0 and s1.
    pub(crate) singles: [u32; 32],
    pub(crate) status: u32,
}

impl Core {
    /// A register's value; the program counter's lowest bit is clear.
    #[inline(always)]
    #[must_use]
    pub fn register(&self, register: R) -> u32 {
        self.r[register]
    }

    /// Sets a register.
    #[inline(always)]
    pub fn set_register(&mut self, register: R, value: u32) {
        self.r[register] = match register {
            R::Sp => value & !3,
            R::Pc => value & !1,
            _ => value,
        };
    }

    /// Whether a condition holds.
    #[inline(always)]
    pub(crate) fn holds(&self, condition: Condition) -> bool {
        let less = ((self.n ^ self.v) as i32) < 0;
        match condition {
            Condition::Eq => self.z == 0,
            Condition::Ne => self.z != 0,
            Condition::Cs => self.c != 0,
            Condition::Cc => self.c == 0,
            Condition::Mi => (self.n as i32) < 0,
            Condition::Pl => self.n as i32 >= 0,
            Condition::Vs => (self.v as i32) < 0,
            Condition::Vc => self.v as i32 >= 0,
            Condition::Hi => self.c != 0 && self.z != 0,
            Condition::Ls => self.c == 0 || self.z == 0,
            Condition::Ge => !less,
            Condition::Lt => less,
            Condition::Gt => !less && self.z != 0,
            Condition::Le => less || self.z == 0,
            Condition::Always => true,
        }
    }

    /// N, Z, C and V as the top bits of a word.
    pub(crate) const fn condition_flags(&self) -> u32 {
        (self.n >> 31) << 31 | ((self.z == 0) as u32) << 30 | self.c << 29 | (self.v >> 31) << 28
    }

    pub(crate) const fn set_condition_flags(&mut self, word: u32) {
        self.n = word;
        self.z = !word & 1 << 30;
        self.c = word >> 29 & 1;
        self.v = word << 3;
    }

    pub(crate) fn ge_bits(&self) -> u32 {
        (0..4).map(|byte| (self.ge >> (8 * byte) & 1) << byte).sum()
    }

    pub(crate) fn set_ge_bits(&mut self, bits: u32) {
        self.ge = (0..4).map(|byte| ((bits >> byte & 1) * 0xff) << (8 * byte)).sum();
    }

    /// APSR: the flags that programs see.
    #[must_use]
    pub fn apsr(&self) -> u32 {
        self.condition_flags() | u32::from(self.q) << 27 | self.ge_bits() << 16
    }

    /// The program status registers together (DDI 0403E, B1.4.2).
    #[must_use]
    pub fn xpsr(&self) -> u32 {
        let it = (self.it & 3) << 25 | (self.it >> 2) << 10;
        self.apsr() | it | THUMB | self.exception
    }

    /// Sets them; the exception's number chooses the stack. The Thumb bit stays set.
    pub fn set_xpsr(&mut self, word: u32) {
        self.set_condition_flags(word);
        self.q = word >> 27 & 1 != 0;
        self.set_ge_bits(word >> 16 & 15);
        self.it = word >> 25 & 3 | (word >> 10 & 0x3f) << 2;
        let before = self.on_process_stack();
        self.exception = word & 0x1ff;
        self.change_stack(before);
    }

    /// Whether SP is PSP.
    const fn on_process_stack(&self) -> bool {
        self.exception == 0 && self.control & PROCESS_STACK != 0
    }

    fn change_stack(&mut self, before: bool) {
        if before != self.on_process_stack() {
            core::mem::swap(&mut self.other_stack, &mut self.r[R::Sp]);
        }
    }

    /// The main stack pointer, or the process stack's.
    #[must_use]
    pub fn stack(&self, process: bool) -> u32 {
        if process == self.on_process_stack() { self.r[R::Sp] } else { self.other_stack }
    }

    /// Sets the main stack pointer, or the process stack's.
    pub fn set_stack(&mut self, process: bool, value: u32) {
        let value = value & !3;
        if process == self.on_process_stack() {
            self.r[R::Sp] = value;
        } else {
            self.other_stack = value;
        }
    }

    /// CONTROL.
    #[must_use]
    pub const fn control(&self) -> u32 {
        self.control
    }

    /// Sets CONTROL, and with it the stack in thread mode.
    pub fn set_control(&mut self, value: u32) {
        let before = self.on_process_stack();
        self.control = value & 15;
        self.change_stack(before);
    }

    /// Whether the core may do what changes the system.
    pub(crate) const fn is_privileged(&self) -> bool {
        self.exception != 0 || self.control & UNPRIVILEGED == 0
    }

    /// PRIMASK.
    #[must_use]
    pub const fn primask(&self) -> bool {
        self.primask
    }

    /// Sets PRIMASK.
    pub const fn set_primask(&mut self, on: bool) {
        self.primask = on;
    }

    /// FAULTMASK.
    #[must_use]
    pub const fn faultmask(&self) -> bool {
        self.faultmask
    }

    /// Sets FAULTMASK.
    pub const fn set_faultmask(&mut self, on: bool) {
        self.faultmask = on;
    }

    /// BASEPRI.
    #[must_use]
    pub const fn basepri(&self) -> u32 {
        self.basepri
    }

    /// Sets BASEPRI.
    pub const fn set_basepri(&mut self, value: u32) {
        self.basepri = value & 0xff;
    }

    /// Floating-point register s0 to s31, by its number modulo 32.
    #[must_use]
    pub const fn single(&self, number: u8) -> u32 {
        self.floats.singles[(number & 31) as usize]
    }

    /// Sets a floating-point register.
    pub const fn set_single(&mut self, number: u8, value: u32) {
        self.floats.singles[(number & 31) as usize] = value;
    }

    /// FPSCR.
    #[must_use]
    pub const fn fpscr(&self) -> u32 {
        self.floats.status
    }

    /// Sets FPSCR.
    pub const fn set_fpscr(&mut self, value: u32) {
        self.floats.status = value & crate::float::ALL;
    }

    /// Reads a special register by its number in MRS (DDI 0403E, B5.2.2; DDI 0553B, MRS).
    pub(crate) fn special(&self, number: u32) -> u32 {
        match number {
            0..=3 | 5..=7 => {
                // Bit 0 adds IPSR, bit 2 leaves APSR out; EPSR reads as zero.
                let apsr = if number & 4 == 0 { self.apsr() } else { 0 };
                apsr | if number & 1 != 0 { self.exception } else { 0 }
            }
            8 if self.is_privileged() => self.stack(false),
            9 if self.is_privileged() => self.stack(true),
            10 if self.is_privileged() => self.limits[0],
            11 if self.is_privileged() => self.limits[1],
            16 if self.is_privileged() => self.primask.into(),
            17 | 18 if self.is_privileged() => self.basepri,
            19 if self.is_privileged() => self.faultmask.into(),
            20 => self.control,
            _ => 0,
        }
    }

    /// Writes a special register by its number in MSR; `mask`: which flags (DDI 0403E, B5.2.3).
    pub(crate) fn set_special(&mut self, number: u32, mask: u32, value: u32) {
        match number {
            0..=3 => {
                if mask & 2 != 0 {
                    self.set_condition_flags(value);
                    self.q = value >> 27 & 1 != 0;
                }
                if mask & 1 != 0 {
                    self.set_ge_bits(value >> 16 & 15);
                }
            }
            _ if !self.is_privileged() => {}
            8 => self.set_stack(false, value),
            9 => self.set_stack(true, value),
            10 => self.limits[0] = value & !7,
            11 => self.limits[1] = value & !7,
            16 => self.primask = value & 1 != 0,
            17 => self.basepri = value & 0xff,
            18 => {
                // BASEPRI_MAX only ever raises.
                let value = value & 0xff;
                if value != 0 && (value < self.basepri || self.basepri == 0) {
                    self.basepri = value;
                }
            }
            19 => self.faultmask = value & 1 != 0,
            20 => {
                let before = self.on_process_stack();
                // SPSEL can only be written in thread mode.
                let keep = if self.exception == 0 { 0 } else { PROCESS_STACK };
                self.control = self.control & keep | value & 15 & !keep;
                self.change_stack(before);
            }
            _ => {}
        }
    }
}

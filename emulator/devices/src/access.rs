//! What devices and bus share: time, accesses, the device trait.

use thiserror::Error;

use crate::clocks::{ClockError, Clocks};

/// A point in virtual time: core cycles since reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub u64);

impl Time {
    /// This point and so many cycles.
    #[must_use]
    pub const fn after(self, cycles: u64) -> Self {
        Self(self.0.saturating_add(cycles))
    }

    /// Cycles from `earlier` to here; 0 if it is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// The earlier of two points that may not come.
pub const fn earlier(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    match (a, b) {
        (Some(x), Some(y)) => Some(if x.0 < y.0 { x } else { y }),
        (Some(x), None) => Some(x),
        (None, other) => other,
    }
}

/// Width of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// 8 bits.
    Byte,
    /// 16 bits.
    Half,
    /// 32 bits.
    Word,
}

impl Size {
    /// The width of so many bytes; nothing for other numbers than 1, 2 and 4.
    #[must_use]
    pub const fn from_bytes(bytes: usize) -> Option<Self> {
        match bytes {
            1 => Some(Self::Byte),
            2 => Some(Self::Half),
            4 => Some(Self::Word),
            _ => None,
        }
    }

    /// Number of bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Byte => 1,
            Self::Half => 2,
            Self::Word => 4,
        }
    }

    /// A mask of the width, in the low bits.
    #[must_use]
    pub const fn mask(self) -> u32 {
        match self {
            Self::Byte => 0xff,
            Self::Half => 0xffff,
            Self::Word => u32::MAX,
        }
    }
}

/// Why an access has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AccessError {
    /// The manual's memory map has nothing there: the hardware raises a bus fault.
    #[error("no peripheral at 0x{0:08x}")]
    Reserved(u32),
    /// The peripheral's clock is off.
    #[error(
        "access to 0x{0:08x} of {1}, whose clock is off: a board loses what is written and reads 0; set its bit in \
         RCC's enable registers before (RM0385, 5.3.10; RM0386, 6.3.10)"
    )]
    Unclocked(u32, &'static str),
    /// A register that is not modelled, if it is one.
    #[error(
        "access to 0x{0:08x} of {1}, where no register is modelled: what a board does is not known here; leave it \
         alone or model it"
    )]
    Unmodelled(u32, &'static str),
    /// An access across a word in device memory: the hardware raises a usage fault.
    #[error("unaligned access to the register at 0x{0:08x}")]
    Unaligned(u32),
    /// An access so soon behind the enabling of its clock that the hardware may lose it, silently (erratum
    /// "Delay after an RCC peripheral clock enabling" of STM32F4; STM32F7 are held to it too).
    #[error(
        "access to 0x{address:08x} {cycles} cycles after its clock was enabled, where {needed} are needed: \
         a board may lose it; read the enable register back and wait for that (DSB)"
    )]
    Early {
        /// Where.
        address: u32,
        /// Core cycles since its clock was enabled, as far as blocks tell.
        cycles: u64,
        /// Core cycles until it runs.
        needed: u64,
    },
    /// Clocks that a microcontroller does not stand.
    #[error("the register at 0x{address:08x}: {error}")]
    Clock {
        /// The register's that was written.
        address: u32,
        /// The rule that does not hold.
        error: ClockError,
    },
    /// A peripheral is used whose pins are not what the board wires.
    #[error(
        "{peripheral} is used, but {pin}, which the board wires as {signal}, has mode {}, function {} and speed {}, where \
         mode 2, function {function} and speed {speed} or more are needed (GPIO registers MODER, AFR, OSPEEDR; data \
         sheet, alternate functions): a board's line stays dead, or is too slow", .found[0], .found[1], .found[2]
    )]
    Pin {
        /// Its name.
        peripheral: &'static str,
        /// The pin.
        pin: &'static str,
        /// What the board wires to it.
        signal: &'static str,
        /// The number of the alternate function for that.
        function: u32,
        /// The speed that is needed.
        speed: u32,
        /// Mode, function and speed as they are.
        found: [u32; 3],
    },
    /// A value that the manual calls wrong.
    #[error("the register at 0x{address:08x} is set to what its manual forbids: {what}")]
    Wrong {
        /// The register's.
        address: u32,
        /// What is wrong, and where the manual says so.
        what: &'static str,
    },
}

/// A write to a register of 32 bits, of which it may reach a part.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    /// The value in its place; bits outside the mask are 0.
    pub value: u32,
    /// The bits that are written.
    pub mask: u32,
}

impl Write {
    /// The register's new value if it keeps what is written.
    pub const fn over(self, old: u32) -> u32 {
        old & !self.mask | self.value
    }
}

/// When an access happens and what clocks run then.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Virtual time.
    pub now: Time,
    /// Clocks.
    pub clocks: Clocks,
}

/// A device behind registers of 32 bits.
pub trait Device {
    /// Reads the register at an offset that is a multiple of 4; nothing if there is none.
    fn read(&mut self, offset: u32, at: Moment) -> Option<u32>;

    /// Writes to the register at an offset that is a multiple of 4; false if there is none.
    fn write(&mut self, offset: u32, write: Write, at: Moment) -> bool;

    /// What the last write broke of the manual's rules, once.
    fn take_broken(&mut self) -> Option<&'static str> {
        None
    }

    /// Does what was due until now.
    fn advance(&mut self, _at: Moment) {}

    /// When something will happen by itself that firmware could be woken by.
    fn next_event(&self, _clocks: Clocks) -> Option<Time> {
        None
    }

    /// Levels of its interrupt lines, by their index in the device's row of the table.
    fn lines(&self) -> [bool; 2] {
        [false; 2]
    }
}

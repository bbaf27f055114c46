//! Maintenance of the data cache, as firmware asks for it (DDI 0403E, B2.2.7; registers of the
//! Cortex-M7: DDI 0489, 4.3).

/// What is to be done with lines of the data cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Forget what they hold.
    Invalidate,
    /// Write what they hold to memory.
    Clean,
    /// Both: first write, then forget.
    CleanAndInvalidate,
}

/// Which line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// The one that holds an address.
    Of(u32),
    /// By set and way, as the register takes them.
    SetAndWay(u32),
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maintenance {
    /// What is to be done.
    pub operation: Operation,
    /// With which line.
    pub line: Line,
}

impl Maintenance {
    /// What a write to the register at an offset from 0xE000E000 asks for; nothing if it is about
    /// instructions or branches.
    pub const fn of(offset: u32, value: u32) -> Option<Self> {
        let (operation, line) = match offset {
            0xf5c => (Operation::Invalidate, Line::Of(value)),
            0xf60 => (Operation::Invalidate, Line::SetAndWay(value)),
            0xf64 | 0xf68 => (Operation::Clean, Line::Of(value)),
            0xf6c => (Operation::Clean, Line::SetAndWay(value)),
            0xf70 => (Operation::CleanAndInvalidate, Line::Of(value)),
            0xf74 => (Operation::CleanAndInvalidate, Line::SetAndWay(value)),
            _ => return None,
        };
        Some(Self { operation, line })
    }
}

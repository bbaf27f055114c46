//! A GPIO port: RM0385, 6.4. Inputs read their pull resistors, whatever is wired to the pins.

use crate::access::{Device, Moment, Write};

const BRR: u32 = 0x28;

/// The registers.
#[derive(Clone, Debug)]
pub struct Gpio {
    /// 0 is A.
    index: u32,
    /// MODER, OTYPER, OSPEEDR, PUPDR; ODR stands apart.
    modes: [u32; 4],
    odr: u32,
    lock: u32,
    alternate: [u32; 2],
    /// Whether it has a register that resets outputs.
    resets: bool,
}

impl Gpio {
    /// Port `index` (0 is A) after reset: the debug pins of A and B differ from the rest.
    pub fn new(index: u32) -> Self {
        let modes = match index {
            0 => [0xa800_0000, 0, 0x0c00_0000, 0x6400_0000],
            1 => [0x0000_0280, 0, 0x0000_00c0, 0x0000_0100],
            _ => [0; 4],
        };
        Self { index, modes, odr: 0, lock: 0, alternate: [0; 2], resets: false }
    }

    /// Whether it is a port, 0 is A.
    pub const fn is_port(&self, index: u32) -> bool {
        self.index == index
    }

    /// Mode, number of the alternate function and speed of a pin.
    pub fn settings(&self, pin: u32) -> [u32; 3] {
        let of_pair = |word: u32| (word >> (2 * pin)) & 3;
        let function = self.alternate[usize::from(pin >= 8)] >> (pin % 8 * 4);
        [of_pair(self.modes[0]), function & 15, of_pair(self.modes[2])]
    }

    /// The same, where all pins but those of the debugger are analog, and BRR resets outputs (RM0432, GPIO registers).
    pub fn analog(index: u32) -> Self {
        let modes = match index {
            0 => [0xabff_ffff, 0, 0x0c00_0000, 0x6400_0000],
            1 => [0xffff_febf, 0, 0, 0x0000_0100],
            _ => [0xffff_ffff, 0, 0, 0],
        };
        Self { modes, resets: true, ..Self::new(index) }
    }

    fn inputs(&self) -> u32 {
        (0..16).fold(0, |levels, pin| {
            let output = self.modes[0] >> (pin * 2) & 3 == 1;
            let pulled_up = self.modes[3] >> (pin * 2) & 3 == 1;
            let level = if output { self.odr >> pin & 1 } else { u32::from(pulled_up) };
            levels | level << pin
        })
    }
}

impl Device for Gpio {
    fn read(&mut self, offset: u32, _: Moment) -> Option<u32> {
        Some(match offset {
            0x00..=0x0c => self.modes[(offset / 4) as usize],
            0x10 => self.inputs(),
            0x14 => self.odr,
            0x18 => 0,
            0x1c => self.lock,
            0x20 | 0x24 => self.alternate[((offset / 4) & 1) as usize],
            BRR if self.resets => 0,
            _ => return None,
        })
    }

    fn write(&mut self, offset: u32, write: Write, _: Moment) -> bool {
        match offset {
            0x00..=0x0c => {
                let register = &mut self.modes[(offset / 4) as usize];
                *register = write.over(*register);
            }
            0x10 => {}
            0x14 => self.odr = write.over(self.odr) & 0xffff,
            // Setting wins over resetting.
            0x18 => self.odr = self.odr & !(write.value >> 16) | write.value & 0xffff,
            0x1c => self.lock = write.over(self.lock),
            0x20 | 0x24 => {
                let register = &mut self.alternate[((offset / 4) & 1) as usize];
                *register = write.over(*register);
            }
            BRR if self.resets => self.odr &= !write.value,
            _ => return false,
        }
        true
    }
}

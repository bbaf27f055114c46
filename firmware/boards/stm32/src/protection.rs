//! The memory protection unit: which external memory is there, and how it is cached. A Cortex-M4 caches
//! nothing, but it too faults on unaligned accesses to Device memory, which SDRAM is by default.

use cortex_m::asm;
use cortex_m::peripheral::MPU;

use crate::memory::{Place, Places};

/// Fields of RASR (DDI 0403E, B3.5.9).
const ENABLE: u32 = 1;
const NEVER_EXECUTE: u32 = 1 << 28;
const NO_ACCESS: u32 = 0;
const READ_AND_WRITE: u32 = 3 << 24;
const READ_ONLY: u32 = 6 << 24;
/// Normal memory, write-through: what is only read.
const WRITE_THROUGH: u32 = 1 << 17;
/// Normal memory, write-back, reads and writes allocate: kernels write an output in pieces and read
/// it soon after.
const WRITE_BACK: u32 = 1 << 19 | 1 << 17 | 1 << 16;

/// Addresses of the FMC's bank 1, which is on at reset (RM0385, FMC_BCR1), and of its bank 3: no board has anything
/// there.
const UNUSED_BANK: Place = Place { address: 0x6000_0000, bytes: 512 << 20 };
const UNUSED_THIRD: Place = Place { address: 0x8000_0000, bytes: 256 << 20 };

/// Bytes from the serial flash's address on that its controller answers.
const FLASH_WINDOW: usize = 256 << 20;

impl Places {
    /// Whether the unit can tell external memories: they lie at multiples of their sizes.
    #[must_use]
    pub const fn can_be_told(&self) -> bool {
        let ram_can = match self.external_ram {
            Some(ram) => ram.bytes.is_power_of_two() && ram.address.is_multiple_of(ram.bytes),
            None => true,
        };
        let flash_can = match self.external_flash {
            Some(flash) => {
                flash.bytes.is_power_of_two() && flash.address.is_multiple_of(FLASH_WINDOW)
            }
            None => true,
        };
        ram_can && flash_can
    }

    /// Regions by number; the last that holds an address counts.
    fn regions(&self) -> impl Iterator<Item = (Place, u32)> {
        let Self { external_ram: ram, external_flash: flash, .. } = *self;
        let window = flash.map(|flash| Place { bytes: FLASH_WINDOW, ..flash });
        let regions = [
            // Nothing is there, and speculative reads of Normal memory would make a controller wait (AN4861, 4.4).
            (Some(UNUSED_BANK), NO_ACCESS),
            (Some(UNUSED_THIRD), NO_ACCESS),
            // Likewise past the serial flash's end.
            (window, NO_ACCESS),
            (flash, READ_ONLY | WRITE_THROUGH),
            (ram, READ_AND_WRITE | WRITE_BACK),
        ];
        regions.into_iter().filter_map(|(place, settings)| Some((place?, settings)))
    }

    /// Switches the unit on, before any controller answers these addresses; everything else stays as in the default
    /// map. No slice of external memory exists yet.
    pub fn protect(&self, mpu: &mut MPU) {
        asm::dmb();
        for (number, (place, settings)) in (0u32..).zip(self.regions()) {
            // RASR.SIZE of a power of two.
            let size = (place.bytes.ilog2() - 1) << 1;
            // SAFETY: no code runs from these addresses, and no slice of them exists yet.
            #[expect(unsafe_code, reason = "how memory behaves can break what was proved of it")]
            unsafe {
                mpu.rnr.write(number);
                mpu.rbar.write(place.address as u32);
                mpu.rasr.write(ENABLE | NEVER_EXECUTE | settings | size);
            }
        }
        // PRIVDEFENA and ENABLE.
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "how memory behaves can break what was proved of it")]
        unsafe {
            mpu.ctrl.write(5);
        }
        asm::dsb();
        asm::isb();
    }
}

//! The memory protection unit: which external memory is there, and how it is cached.

use cortex_m::asm;
use cortex_m::peripheral::MPU;

use crate::board;

/// Fields of RASR (DDI 0403E, B3.5.9).
const ENABLE: u32 = 1;
const NEVER_EXECUTE: u32 = 1 << 28;
const NO_ACCESS: u32 = 0;
const READ_AND_WRITE: u32 = 3 << 24;
const READ_ONLY: u32 = 6 << 24;
/// Normal memory, write-through: what is only read.
const WRITE_THROUGH: u32 = 1 << 17;
/// Normal memory, write-back, reads and writes allocate: kernels write an output in pieces and read
/// it soon after. Device memory, which it is by default, faults on unaligned accesses.
const WRITE_BACK: u32 = 1 << 19 | 1 << 17 | 1 << 16;

/// RASR.SIZE of a region of so many bytes, a power of two.
const fn size(bytes: u64) -> u32 {
    (bytes.ilog2() - 1) << 1
}

/// Regions by number; the last that holds an address counts.
const REGIONS: [(usize, u32); 3] = [
    // Speculative reads past the serial flash's end would wait for ever (AN4861, 4.4).
    (board::EXTERNAL_FLASH_ADDRESS, NO_ACCESS | size(256 << 20)),
    (
        board::EXTERNAL_FLASH_ADDRESS,
        READ_ONLY | WRITE_THROUGH | size(board::EXTERNAL_FLASH_BYTES as u64),
    ),
    (
        board::EXTERNAL_RAM_ADDRESS,
        READ_AND_WRITE | WRITE_BACK | size(board::EXTERNAL_RAM_BYTES as u64),
    ),
];

const _: () = assert!(
    board::EXTERNAL_FLASH_ADDRESS.is_multiple_of(256 << 20)
        && board::EXTERNAL_RAM_ADDRESS.is_multiple_of(board::EXTERNAL_RAM_BYTES)
        && board::EXTERNAL_RAM_BYTES.is_power_of_two()
        && board::EXTERNAL_FLASH_BYTES.is_power_of_two()
);

/// Switches the unit on; everything else stays as in the default map.
pub fn start(mpu: &mut MPU) {
    asm::dmb();
    for (number, (address, settings)) in (0u32..).zip(REGIONS) {
        // SAFETY: no code runs from these addresses, and no slice of them exists yet.
        #[expect(unsafe_code, reason = "how memory behaves can break what was proved of it")]
        unsafe {
            mpu.rnr.write(number);
            mpu.rbar.write(address as u32);
            mpu.rasr.write(ENABLE | NEVER_EXECUTE | settings);
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

//! STM32F767: what it has besides the peripherals of the STM32F746, and what differs.
//! RM0410: table 1 (addresses), 5.3 (clock enables), table 46 (interrupts).

use crate::chip::enable::{AHB2, APB1, APB2};
use crate::chip::{Caches, Chip, CoreIdentity, Model, Peripheral, merged, other, p, small};
use crate::plain::Rule;
use crate::stm32f746;

/// FLASH, RM0410, 3.7: never busy, locked, one bank.
const FLASH: Model = Model::Plain(
    0x1c,
    &[
        (0x0c, Rule::Fixed(0)),
        (0x10, Rule::Reset(0x8000_0000)),
        (0x14, Rule::Reset(0xffff_aafd)),
        (0x18, Rule::Reset(0x0040_0080)),
    ],
);

/// Factory bytes: unique id and flash size in KB (RM0410, 45.1, 45.2).
const FACTORY: Model = Model::Plain(
    0x400,
    &[
        (0x20, Rule::Fixed(0x0000_0001)),
        (0x24, Rule::Fixed(0x0000_0002)),
        (0x28, Rule::Fixed(0x0000_0003)),
        (0x40, Rule::Fixed(0x0800_0000)),
    ],
);

/// What stands at an address of the STM32F746's is instead of that.
const OWN: &[Peripheral] = &[
    p("factory bytes", 0x1ff0_f400, None, None, FACTORY),
    small("CAN3", 0x4000_3400, (APB1, 13)),
    small("SDMMC2", 0x4001_1c00, (APB2, 7)),
    small("DFSDM1", 0x4001_7400, (APB2, 29)),
    small("MDIOS", 0x4001_7800, (APB2, 30)),
    p("FLASH", 0x4002_3c00, None, None, FLASH),
    other("JPEG", 0x5005_1000, 0x5005_1fff, (AHB2, 1)),
];

const PERIPHERALS: [Peripheral; stm32f746::PERIPHERALS.len() + OWN.len() - 2] =
    merged(stm32f746::PERIPHERALS, OWN);

/// Of RCC, what firmware reads before it writes (RM0410, 5.3).
const RCC_RESET: &[(u32, u32)] = &[
    (0x00, 0x0000_0083),
    (0x04, 0x2400_3010),
    (0x30, 0x0010_0000),
    (0x74, 0x0e00_0000),
    (0x84, 0x2400_3000),
    (0x88, 0x2400_3000),
];

/// Identification registers of the Cortex-M7 r1p0 with floats of double precision (PM0253, 4.3, 4.5 and 4.6;
/// Cortex-M7 TRM, system control and FPU).
const FIXED: &[(u32, u32)] = &[
    (0x004, 3),
    (0xd00, 0x411f_c270),
    (0xd40, 0x0000_0030),
    (0xd44, 0x0000_0200),
    (0xd48, 0x0010_0000),
    (0xd50, 0x0010_0030),
    (0xd58, 0x0100_0000),
    (0xd60, 0x0110_1110),
    (0xd64, 0x0211_2000),
    (0xd68, 0x2023_2231),
    (0xd6c, 0x0111_1131),
    (0xd70, 0x0131_0132),
    (0xd78, 0x0900_0003),
    (0xd7c, 0x8303_c003),
    (0xdf0, 0),
    (0xf40, 0x1011_0221),
    (0xf44, 0x1200_0011),
    (0xf48, 0x0000_0040),
];

/// The microcontroller. DEV_ID 0x451, REV_ID 0x1001 (RM0410, 44.6.1).
pub const CHIP: Chip = Chip {
    peripherals: &PERIPHERALS,
    rcc_reset: RCC_RESET,
    rcc_last: 0x90,
    card_clock: 0x90,
    core: CoreIdentity {
        fixed: FIXED,
        ccr: 0x0004_0200,
        // 16 KB: data 4 ways of 128 sets, instructions 2 ways of 256 sets, lines of 32 bytes.
        caches: Some(Caches { data: 0xf00f_e019, instructions: 0xf01f_e009 }),
        locked_counter: true,
        idcode: 0x1001_6451,
    },
};

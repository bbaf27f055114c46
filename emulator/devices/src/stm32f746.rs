//! STM32F746: which peripheral is where, what clocks it and which interrupt it raises.
//! RM0385: table 1 (addresses), 5.3 (clock enables), table 46 (interrupts).

use crate::chip::enable::{AHB1, AHB2, APB1, APB2};
use crate::chip::{
    Caches, Chip, CoreIdentity, Model, Peripheral, external, gpio, other, p, small, timer, usart,
};
use crate::plain::Rule;

/// PWR, RM0385, 4.4: the regulator and the over-drive are ready at once.
const PWR: Model = Model::Plain(
    0x10,
    &[
        (0x00, Rule::Reset(0x0000_c000)),
        (0x04, Rule::Reset(0x0000_4000)),
        (0x04, Rule::Follows(0x00, &[(16, 16), (17, 17)])),
        (0x04, Rule::Follows(0x04, &[(9, 3)])),
    ],
);

/// FLASH, RM0385, 3.7: never busy, locked.
const FLASH: Model = Model::Plain(
    0x1c,
    &[
        (0x0c, Rule::Fixed(0)),
        (0x10, Rule::Reset(0x8000_0000)),
        (0x14, Rule::Reset(0xc0ff_aafd)),
        (0x18, Rule::Reset(0x0040_0080)),
    ],
);

/// SYSCFG, RM0385, 7.2: the compensation cell is ready when it is on.
const SYSCFG: Model = Model::Plain(0x24, &[(0x20, Rule::Follows(0x20, &[(0, 8)]))]);

/// Factory bytes: unique id and flash size in KB (RM0385, 41.1, 41.2).
const FACTORY: Model = Model::Plain(
    0x400,
    &[
        (0x20, Rule::Fixed(0x0000_0001)),
        (0x24, Rule::Fixed(0x0000_0002)),
        (0x28, Rule::Fixed(0x0000_0003)),
        (0x40, Rule::Fixed(0x0400_0000)),
    ],
);

/// Its peripherals by address.
pub const PERIPHERALS: &[Peripheral] = &[
    p("factory bytes", 0x1ff0_f400, None, None, FACTORY),
    timer("TIM2", 0x4000_0000, (APB1, 0), 28, true),
    timer("TIM3", 0x4000_0400, (APB1, 1), 29, false),
    timer("TIM4", 0x4000_0800, (APB1, 2), 30, false),
    timer("TIM5", 0x4000_0c00, (APB1, 3), 50, true),
    timer("TIM6", 0x4000_1000, (APB1, 4), 54, false),
    timer("TIM7", 0x4000_1400, (APB1, 5), 55, false),
    timer("TIM12", 0x4000_1800, (APB1, 6), 43, false),
    timer("TIM13", 0x4000_1c00, (APB1, 7), 44, false),
    timer("TIM14", 0x4000_2000, (APB1, 8), 45, false),
    small("LPTIM1", 0x4000_2400, (APB1, 9)),
    p("RTC", 0x4000_2800, None, None, Model::Unmodelled),
    small("WWDG", 0x4000_2c00, (APB1, 11)),
    p("IWDG", 0x4000_3000, None, None, Model::Unmodelled),
    small("SPI2", 0x4000_3800, (APB1, 14)),
    small("SPI3", 0x4000_3c00, (APB1, 15)),
    small("SPDIFRX", 0x4000_4000, (APB1, 16)),
    usart("USART2", 0x4000_4400, (APB1, 17), 38, Model::Usart(2)),
    usart("USART3", 0x4000_4800, (APB1, 18), 39, Model::Usart(3)),
    usart("UART4", 0x4000_4c00, (APB1, 19), 52, Model::Usart(4)),
    usart("UART5", 0x4000_5000, (APB1, 20), 53, Model::Usart(5)),
    small("I2C1", 0x4000_5400, (APB1, 21)),
    small("I2C2", 0x4000_5800, (APB1, 22)),
    small("I2C3", 0x4000_5c00, (APB1, 23)),
    small("I2C4", 0x4000_6000, (APB1, 24)),
    small("CAN1", 0x4000_6400, (APB1, 25)),
    small("CAN2", 0x4000_6800, (APB1, 26)),
    small("HDMI-CEC", 0x4000_6c00, (APB1, 27)),
    p("PWR", 0x4000_7000, Some((APB1, 28)), None, PWR),
    small("DAC", 0x4000_7400, (APB1, 29)),
    usart("UART7", 0x4000_7800, (APB1, 30), 82, Model::Usart(7)),
    usart("UART8", 0x4000_7c00, (APB1, 31), 83, Model::Usart(8)),
    timer("TIM1", 0x4001_0000, (APB2, 0), 27, false),
    timer("TIM8", 0x4001_0400, (APB2, 1), 46, false),
    usart("USART1", 0x4001_1000, (APB2, 4), 37, Model::Usart(1)),
    usart("USART6", 0x4001_1400, (APB2, 5), 71, Model::Usart(6)),
    small("ADC1 - ADC3", 0x4001_2000, (APB2, 8)),
    p("SDMMC1", 0x4001_2c00, Some((APB2, 11)), Some(49), Model::Sdmmc),
    small("SPI1", 0x4001_3000, (APB2, 12)),
    small("SPI4", 0x4001_3400, (APB2, 13)),
    p("SYSCFG", 0x4001_3800, Some((APB2, 14)), None, SYSCFG),
    p("EXTI", 0x4001_3c00, None, None, Model::Exti),
    timer("TIM9", 0x4001_4000, (APB2, 16), 24, false),
    timer("TIM10", 0x4001_4400, (APB2, 17), 25, false),
    timer("TIM11", 0x4001_4800, (APB2, 18), 26, false),
    small("SPI5", 0x4001_5000, (APB2, 20)),
    small("SPI6", 0x4001_5400, (APB2, 21)),
    small("SAI1", 0x4001_5800, (APB2, 22)),
    small("SAI2", 0x4001_5c00, (APB2, 23)),
    small("LCD-TFT", 0x4001_6800, (APB2, 26)),
    gpio("GPIOA", 0),
    gpio("GPIOB", 1),
    gpio("GPIOC", 2),
    gpio("GPIOD", 3),
    gpio("GPIOE", 4),
    gpio("GPIOF", 5),
    gpio("GPIOG", 6),
    gpio("GPIOH", 7),
    gpio("GPIOI", 8),
    gpio("GPIOJ", 9),
    gpio("GPIOK", 10),
    p("CRC", 0x4002_3000, Some((AHB1, 12)), None, Model::Crc),
    p("RCC", 0x4002_3800, None, None, Model::Rcc),
    p("FLASH", 0x4002_3c00, None, None, FLASH),
    other("BKPSRAM", 0x4002_4000, 0x4002_4fff, (AHB1, 18)),
    p("DMA1", 0x4002_6000, Some((AHB1, 21)), None, Model::Dma(false)),
    p("DMA2", 0x4002_6400, Some((AHB1, 22)), None, Model::Dma(true)),
    other("ETHERNET MAC", 0x4002_8000, 0x4002_93ff, (AHB1, 25)),
    other("DMA2D", 0x4002_b000, 0x4002_bbff, (AHB1, 23)),
    other("USB OTG HS", 0x4004_0000, 0x4007_ffff, (AHB1, 29)),
    other("USB OTG FS", 0x5000_0000, 0x5003_ffff, (AHB2, 7)),
    small("DCMI", 0x5005_0000, (AHB2, 0)),
    p("RNG", 0x5006_0800, Some((AHB2, 6)), None, Model::Rng),
    external("FMC", 0xa000_0000, 0, 48, Model::Fmc),
    external("QUADSPI", 0xa000_1000, 1, 92, Model::QuadSpi),
];

/// Reset values that are not 0 (RM0385, 5.3.27).
const RCC_RESET: &[(u32, u32)] = &[
    (0x00, 0x0000_0083),
    (0x04, 0x2400_3010),
    (0x30, 0x0010_0000),
    (0x50, 0x7ef7_b7ff),
    (0x54, 0x0000_00f1),
    (0x58, 0x0000_0003),
    (0x60, 0xffff_cbff),
    (0x64, 0x04f7_7f33),
    (0x74, 0x0e00_0000),
    (0x84, 0x2400_3000),
    (0x88, 0x2400_3000),
    (0x8c, 0x2000_0000),
];

/// Identification registers of the Cortex-M7 r0p1 with 4 KB caches (PM0253, 4.3 and 4.5).
const FIXED: &[(u32, u32)] = &[
    (0x004, 3),
    (0xd00, 0x410f_c271),
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
    (0xf40, 0x1011_0021),
    (0xf44, 0x1100_0011),
    (0xf48, 0x0000_0040),
];

/// The microcontroller. DEV_ID 0x449, REV_ID 0x1001 (RM0385, 40.6.1).
pub const CHIP: Chip = Chip {
    peripherals: PERIPHERALS,
    rcc_reset: RCC_RESET,
    rcc_last: 0x90,
    card_clock: 0x90,
    core: CoreIdentity {
        fixed: FIXED,
        ccr: 0x0004_0200,
        // 4 KB: data 4 ways of 32 sets, instructions 2 ways of 64 sets, lines of 32 bytes.
        caches: Some(Caches { data: 0xf003_e019, instructions: 0xf007_e009 }),
        locked_counter: true,
        idcode: 0x1001_6449,
    },
};

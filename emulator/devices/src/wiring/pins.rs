//! Pins: which signal each can have, by microcontroller, and what boards wire to them. Pins that no board wires are
//! left out.

use super::hardware;

/// A signal that a pin can have: the pin, its alternate function's number, the signal.
pub type Alternate = (&'static str, u32, &'static str);

/// SDRAM, on the STM32F746 and the STM32F469 alike (DS10916, table 12; DS11189, table 12).
const FMC: &[Alternate] = &[
    ("PC0", 12, "FMC_SDNWE"),
    ("PC3", 12, "FMC_SDCKE0"),
    ("PD0", 12, "FMC_D2"),
    ("PD1", 12, "FMC_D3"),
    ("PD8", 12, "FMC_D13"),
    ("PD9", 12, "FMC_D14"),
    ("PD10", 12, "FMC_D15"),
    ("PD14", 12, "FMC_D0"),
    ("PD15", 12, "FMC_D1"),
    ("PE0", 12, "FMC_NBL0"),
    ("PE1", 12, "FMC_NBL1"),
    ("PE7", 12, "FMC_D4"),
    ("PE8", 12, "FMC_D5"),
    ("PE9", 12, "FMC_D6"),
    ("PE10", 12, "FMC_D7"),
    ("PE11", 12, "FMC_D8"),
    ("PE12", 12, "FMC_D9"),
    ("PE13", 12, "FMC_D10"),
    ("PE14", 12, "FMC_D11"),
    ("PE15", 12, "FMC_D12"),
    ("PF0", 12, "FMC_A0"),
    ("PF1", 12, "FMC_A1"),
    ("PF2", 12, "FMC_A2"),
    ("PF3", 12, "FMC_A3"),
    ("PF4", 12, "FMC_A4"),
    ("PF5", 12, "FMC_A5"),
    ("PF11", 12, "FMC_SDNRAS"),
    ("PF12", 12, "FMC_A6"),
    ("PF13", 12, "FMC_A7"),
    ("PF14", 12, "FMC_A8"),
    ("PF15", 12, "FMC_A9"),
    ("PG0", 12, "FMC_A10"),
    ("PG1", 12, "FMC_A11"),
    ("PG4", 12, "FMC_BA0"),
    ("PG5", 12, "FMC_BA1"),
    ("PG8", 12, "FMC_SDCLK"),
    ("PG15", 12, "FMC_SDNCAS"),
    ("PH2", 12, "FMC_SDCKE0"),
    ("PH3", 12, "FMC_SDNE0"),
    ("PH5", 12, "FMC_SDNWE"),
    ("PH8", 12, "FMC_D16"),
    ("PH9", 12, "FMC_D17"),
    ("PH10", 12, "FMC_D18"),
    ("PH11", 12, "FMC_D19"),
    ("PH12", 12, "FMC_D20"),
    ("PH13", 12, "FMC_D21"),
    ("PH14", 12, "FMC_D22"),
    ("PH15", 12, "FMC_D23"),
    ("PI0", 12, "FMC_D24"),
    ("PI1", 12, "FMC_D25"),
    ("PI2", 12, "FMC_D26"),
    ("PI3", 12, "FMC_D27"),
    ("PI4", 12, "FMC_NBL2"),
    ("PI5", 12, "FMC_NBL3"),
    ("PI6", 12, "FMC_D28"),
    ("PI7", 12, "FMC_D29"),
    ("PI9", 12, "FMC_D30"),
    ("PI10", 12, "FMC_D31"),
];

/// Serial flash on the STM32F746 (DS10916, table 12).
const QUADSPI_F746: &[Alternate] = &[
    ("PB2", 9, "QUADSPI_CLK"),
    ("PB6", 10, "QUADSPI_BK1_NCS"),
    ("PD11", 9, "QUADSPI_BK1_IO0"),
    ("PD12", 9, "QUADSPI_BK1_IO1"),
    ("PD13", 9, "QUADSPI_BK1_IO3"),
    ("PE2", 9, "QUADSPI_BK1_IO2"),
];

/// The same on the STM32F469 (DS11189, table 12).
const QUADSPI_F469: &[Alternate] = &[
    ("PB6", 10, "QUADSPI_BK1_NCS"),
    ("PF6", 9, "QUADSPI_BK1_IO3"),
    ("PF7", 9, "QUADSPI_BK1_IO2"),
    ("PF8", 10, "QUADSPI_BK1_IO0"),
    ("PF9", 10, "QUADSPI_BK1_IO1"),
    ("PF10", 9, "QUADSPI_CLK"),
];

/// The card on all of them: SDMMC1, which is SDIO on the STM32F469 (DS10916, table 12; DS11532, table 13; DS11189,
/// table 12).
const CARD: &[Alternate] = &[
    ("PC8", 12, "SDMMC1_D0"),
    ("PC9", 12, "SDMMC1_D1"),
    ("PC10", 12, "SDMMC1_D2"),
    ("PC11", 12, "SDMMC1_D3"),
    ("PC12", 12, "SDMMC1_CK"),
    ("PD2", 12, "SDMMC1_CMD"),
];

/// Serial ports (the same tables).
const USART1: &[Alternate] = &[("PA9", 7, "USART1_TX"), ("PB7", 7, "USART1_RX")];
const USART3: &[Alternate] = &[
    ("PB10", 7, "USART3_TX"),
    ("PB11", 7, "USART3_RX"),
    ("PD8", 7, "USART3_TX"),
    ("PD9", 7, "USART3_RX"),
];

/// What a board wires to a peripheral.
#[derive(Clone, Copy, Debug)]
pub struct Wires {
    board: &'static str,
    peripheral: &'static str,
    /// OSPEEDR that its signals need at least (DS10916, I/O AC characteristics): 3 for some 50 MHz and more.
    pub speed: u32,
    alternates: &'static [Alternate],
    pins: &'static str,
}

const VERY_HIGH: u32 = 3;

const WIRES: &[Wires] = &[
    Wires {
        // UM1907, 6.20 and table 16: 16 lines of data.
        board: "stm32f746g-disco",
        peripheral: "FMC",
        speed: VERY_HIGH,
        alternates: FMC,
        pins: "PC3 PD0 PD1 PD8 PD9 PD10 PD14 PD15 PE0 PE1 PE7 PE8 PE9 PE10 PE11 PE12 PE13 PE14 PE15 PF0 PF1 PF2 PF3 \
               PF4 PF5 PF11 PF12 PF13 PF14 PF15 PG0 PG1 PG4 PG5 PG8 PG15 PH3 PH5",
    },
    Wires {
        // UM1907, Quad-SPI NOR flash memory.
        board: "stm32f746g-disco",
        peripheral: "QUADSPI",
        speed: VERY_HIGH,
        alternates: QUADSPI_F746,
        pins: "PB2 PB6 PD11 PD12 PD13 PE2",
    },
    Wires {
        // UM1907, table 6.
        board: "stm32f746g-disco",
        peripheral: "SDMMC1",
        speed: VERY_HIGH,
        alternates: CARD,
        pins: "PC8 PC9 PC10 PC11 PC12 PD2",
    },
    Wires {
        // UM1907, table 5.
        board: "stm32f746g-disco",
        peripheral: "USART1",
        speed: 0,
        alternates: USART1,
        pins: "PA9 PB7",
    },
    Wires {
        // UM1974, connector CN8.
        board: "nucleo-f767zi",
        peripheral: "SDMMC1",
        speed: VERY_HIGH,
        alternates: CARD,
        pins: "PC8 PC9 PC10 PC11 PC12 PD2",
    },
    Wires {
        // UM1974, USART communication.
        board: "nucleo-f767zi",
        peripheral: "USART3",
        speed: 0,
        alternates: USART3,
        pins: "PD8 PD9",
    },
    Wires {
        // UM1932, SDRAM memory: 32 lines of data.
        board: "stm32f469i-disco",
        peripheral: "FMC",
        speed: VERY_HIGH,
        alternates: FMC,
        pins: "PC0 PD0 PD1 PD8 PD9 PD10 PD14 PD15 PE0 PE1 PE7 PE8 PE9 PE10 PE11 PE12 PE13 PE14 PE15 PF0 PF1 PF2 PF3 \
               PF4 PF5 PF11 PF12 PF13 PF14 PF15 PG0 PG1 PG4 PG5 PG8 PG15 PH2 PH3 PH8 PH9 PH10 PH11 PH12 PH13 PH14 PH15 \
               PI0 PI1 PI2 PI3 PI4 PI5 PI6 PI7 PI9 PI10",
    },
    Wires {
        // UM1932, Quad-SPI NOR flash memory.
        board: "stm32f469i-disco",
        peripheral: "QUADSPI",
        speed: VERY_HIGH,
        alternates: QUADSPI_F469,
        pins: "PB6 PF6 PF7 PF8 PF9 PF10",
    },
    Wires {
        // UM1932, microSD card.
        board: "stm32f469i-disco",
        peripheral: "SDIO",
        speed: VERY_HIGH,
        alternates: CARD,
        pins: "PC8 PC9 PC10 PC11 PC12 PD2",
    },
    Wires {
        // UM1932, ST-LINK/V2-1.
        board: "stm32f469i-disco",
        peripheral: "USART3",
        speed: 0,
        alternates: USART3,
        pins: "PB10 PB11",
    },
];

/// What a board wires, by peripheral.
pub fn wires(board: &str) -> Vec<&'static Wires> {
    WIRES.iter().filter(|wires| wires.board == hardware(board)).collect()
}

impl Wires {
    /// Whether they are those of a peripheral.
    pub fn are_of(&self, peripheral: &str) -> bool {
        self.peripheral == peripheral
    }

    /// The pins, as microcontroller and board have them.
    pub fn pins(&self) -> impl Iterator<Item = Pin> {
        self.pins.split_whitespace().filter_map(|name| {
            let alternate = self.alternates.iter().find(|(pin, ..)| *pin == name)?;
            let (name, function, signal) = *alternate;
            let port = u32::from(name.as_bytes().get(1)?.checked_sub(b'A')?);
            let number = name.get(2..)?.parse().ok()?;
            Some(Pin { name, port, number, function, signal })
        })
    }
}

/// A pin with the signal that a board wires to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Its name.
    pub name: &'static str,
    /// Its port, 0 is A, and its number there.
    pub port: u32,
    /// Number in the port.
    pub number: u32,
    /// Number of its alternate function.
    pub function: u32,
    /// The signal.
    pub signal: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wired_pin_is_known_to_its_microcontroller() {
        for wires in WIRES {
            let pins: Vec<Pin> = wires.pins().collect();
            assert_eq!(pins.len(), wires.pins.split_whitespace().count(), "{wires:?}");
            assert!(pins.iter().all(|pin| pin.port <= 8 && pin.number < 16), "{wires:?}");
        }
    }

    #[test]
    fn no_signal_of_a_board_is_on_two_pins() {
        for wires in WIRES {
            let mut signals: Vec<_> = wires.pins().map(|pin| pin.signal).collect();
            signals.sort_unstable();
            assert!(signals.windows(2).all(|pair| pair[0] != pair[1]), "{signals:?}");
        }
        let count = |board, peripheral| {
            let wires = wires(board);
            wires.iter().find(|it| it.are_of(peripheral)).map(|it| it.pins().count())
        };
        // 12 of addresses, 2 of banks, 6 of commands, data and their masks.
        assert_eq!(count("stm32f746g-disco", "FMC"), Some(20 + 16 + 2));
        assert_eq!(count("stm32f469i-disco-small", "FMC"), Some(20 + 32 + 4));
    }
}

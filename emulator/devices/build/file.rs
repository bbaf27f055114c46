//! What a file of a chip holds.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A microcontroller, as `chips/*.toml` have it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChipFile {
    /// Name as the vendor writes it.
    #[serde(rename = "name")]
    pub _name: String,
    /// The chip whose peripherals it has too, but for those at whose address it has another.
    pub like: Option<String>,
    /// Its core.
    pub core: Core,
    /// What switches clocks of peripherals; nothing if no peripheral of those that firmware uses needs that.
    pub clock_control: Option<ClockControl>,
    /// Its peripherals.
    pub peripherals: Peripherals,
    /// What its pins can be, as far as boards use them.
    #[serde(default)]
    pub pins: Pins,
    /// What the times of its memories hold with; nothing: that of the chip that it is like.
    pub presumed: Option<Presumed>,
    /// How fast its clocks may be; nothing if they are not modelled.
    pub limits: Option<Limits>,
    /// What holds for every board with it, in the words of board files, where it counts.
    #[serde(default, rename = "board")]
    pub _board: toml::Table,
    /// Blocks of registers that keep what is written, by the names that peripherals refer to.
    #[serde(default)]
    pub registers: BTreeMap<String, Registers>,
}

/// What of the core differs between microcontrollers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// The register that names the chip to debuggers (DBGMCU_IDCODE); 0 if there is none.
    pub idcode: u32,
    /// CCR at reset.
    pub ccr: u32,
    /// Whether the cycle counter's registers are locked after reset.
    pub locked_counter: bool,
    /// The register that describes the selected cache (CCSIDR), for each cache.
    pub caches: Option<Caches>,
    /// Registers of the system control space that never change: offset from 0xE000E000, value.
    pub fixed: Vec<[u32; 2]>,
    /// Where this stands.
    #[serde(rename = "source")]
    pub _source: String,
}

/// Registers of caches.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caches {
    /// Of data.
    pub data: u32,
    /// Of instructions.
    pub instructions: u32,
}

/// Pins.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pins {
    /// The chip whose pins can be all that they are there.
    pub like: Option<String>,
    /// Peripherals whose signals need the highest speed.
    #[serde(default)]
    pub fast: Vec<String>,
    /// What each can be.
    #[serde(default)]
    pub list: Vec<PinFunction>,
    /// Where this stands.
    #[serde(default, rename = "source")]
    pub _source: String,
}

/// What a pin can be.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinFunction {
    /// The pin.
    pub pin: String,
    /// Number of the alternate function.
    pub function: u32,
    /// Its signal.
    pub signal: String,
}

/// Bits that must be set for memories to be as fast as boards' files say.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Presumed {
    /// Registers.
    pub list: Vec<PresumedBits>,
    /// Where this stands.
    #[serde(rename = "source")]
    pub _source: String,
}

/// Bits of a register.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresumedBits {
    /// Its name in the manual.
    pub register: String,
    /// Its address.
    pub address: u32,
    /// The bits.
    pub bits: u32,
}

/// Limits of clocks, in hertz.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Of the AHB in voltage scales 3, 2 and 1 of the regulator.
    pub scales: [Scale; 3],
    /// Of APB1 and APB2.
    pub apb: [u64; 2],
    /// Of SDRAM.
    pub sdram: u64,
    /// What a wait state of flash suffices for.
    pub wait_state: u64,
    /// Where this stands.
    #[serde(rename = "source")]
    pub _source: String,
}

/// Limits in a voltage scale.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// Without over-drive.
    pub plain: u64,
    /// With it.
    pub over_drive: u64,
}

/// Families of clock controls.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// RCC of STM32F4 and STM32F7.
    Stm32f4,
    /// RCC of STM32L4+.
    Stm32l4,
    /// RESETS of the RP2350: a bit that is 0 enables.
    Rp2350,
}

/// What switches clocks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockControl {
    /// Which registers it has.
    pub layout: Layout,
    /// Offset of its last register.
    pub last: u32,
    /// Offsets of the enable registers that peripherals name.
    pub enables: BTreeMap<String, u32>,
    /// Offset of the register that selects the clock of the card's controller; 0 if there is none.
    #[serde(default)]
    pub card_clock: u32,
    /// Registers that are not 0 at reset: offset, value.
    pub reset: Vec<[u32; 2]>,
    /// Where this stands.
    #[serde(rename = "source")]
    pub _source: String,
}

/// Peripherals.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peripherals {
    /// Bytes of one of which nothing else is said.
    #[serde(default = "usual_bytes")]
    pub bytes: u32,
    /// In the order of addresses.
    pub list: Vec<Peripheral>,
    /// Where this stands.
    #[serde(rename = "source")]
    pub _source: String,
}

/// 1 KB.
const fn usual_bytes() -> u32 {
    0x400
}

/// A peripheral.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peripheral {
    /// Name in the manual.
    pub name: String,
    /// First address.
    pub first: u32,
    /// Last address; nothing: it has as many bytes as most.
    pub last: Option<u32>,
    /// Enable register and bit; nothing if it is always clocked.
    pub clock: Option<(String, u32)>,
    /// Its interrupt.
    pub interrupt: Option<u32>,
    /// What it is; nothing if it is not modelled.
    pub model: Option<Model>,
}

/// What a peripheral is.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Clock control.
    Rcc,
    /// GPIO port, 0 is A.
    Gpio(u32),
    /// The same, whose pins are analog at reset.
    AnalogGpio(u32),
    /// USART or UART with its number.
    Usart(u32),
    /// The same in the older layout.
    CombinedUsart(u32),
    /// UART whose divider counts in 256ths of its clock.
    Lpuart,
    /// PL011, clocked as the core is.
    Pl011,
    /// UART of nRF52 without DMA.
    NrfUart,
    /// Timer of nRF52.
    NrfTimer,
    /// Timer with a counter of so many bits.
    Timer(u32),
    /// External interrupts.
    Exti,
    /// DMA controller, 1 or 2.
    Dma(u32),
    /// Flexible memory controller.
    Fmc,
    /// Serial flash controller.
    Quadspi,
    /// Card controller.
    Sdmmc,
    /// CRC unit.
    Crc,
    /// Random number generator.
    Rng,
    /// Registers that keep what is written: their name.
    Registers(String),
}

/// Registers that keep what is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registers {
    /// Offset behind the last.
    pub end: u32,
    /// How some differ from plain storage.
    pub rules: Vec<Rule>,
    /// Where this stands.
    #[serde(rename = "source")]
    pub _source: String,
}

/// How a register differs from plain storage.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Rule {
    /// A value at reset.
    Reset {
        /// Its offset.
        at: u32,
        /// The value.
        reset: u32,
    },
    /// A value, whatever is written.
    Fixed {
        /// Its offset.
        at: u32,
        /// The value.
        fixed: u32,
    },
    /// Bits that are 1 whenever bits of another register are.
    Follows {
        /// Its offset.
        at: u32,
        /// The other's offset.
        follows: u32,
        /// Pairs of bits: the other's, its own.
        bits: Vec<[u32; 2]>,
    },
    /// Bits that are 1 whenever bits of another register are 0.
    Opposes {
        /// Its offset.
        at: u32,
        /// The other's offset.
        opposes: u32,
        /// Pairs of bits: the other's, its own.
        bits: Vec<[u32; 2]>,
    },
}

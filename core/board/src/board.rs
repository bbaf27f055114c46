//! What is known about a board. Build scripts and the library share this file.

use serde::{Deserialize, Serialize};
use tilewright_plan::{Bytes, Hertz, LaneKind, Space};

use crate::desk::Desk;
use crate::engine::{Between, Engine, Slot};
use crate::power::Power;
use crate::timing::{DataCache, FlashLines, FlashWaits, Timing};
use crate::wiring::{Oscillator, Wires};

/// Processor core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoreKind {
    /// Arm Cortex-M4 with FPU.
    CortexM4,
    /// Arm Cortex-M7.
    CortexM7,
    /// Arm Cortex-M33.
    CortexM33,
}

impl CoreKind {
    /// Name of the core's file in `costs/`, without its ending.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::CortexM4 => "cortex-m4",
            Self::CortexM7 => "cortex-m7",
            Self::CortexM33 => "cortex-m33",
        }
    }
}

/// How far the project carries a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Support {
    /// Firmware and emulated devices: plans run.
    Firmware,
    /// Planned and simulated only.
    Planning,
    /// A reference profile that no one can buy: planned and simulated; run in the emulator if it has
    /// firmware.
    Virtual,
}

/// The core and its clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// Which core.
    pub kind: CoreKind,
    /// Clock that the firmware sets.
    pub clock: Clock,
    /// Cache between the core and memories outside of it; nothing if there is none.
    #[serde(default)]
    pub data_cache: Option<DataCache>,
    /// Name of the file in `costs/` that says what kernels cost; nothing: the project's own kernels
    /// on this core.
    #[serde(default)]
    pub costs: Option<String>,
}

/// A clock frequency with its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// Frequency.
    pub hertz: Hertz,
    /// Where the number comes from.
    pub source: String,
}

/// What a memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryKind {
    /// Tightly coupled data memory: no wait states.
    Dtcm,
    /// Tightly coupled memory for code: no wait states, and no cache in between.
    Itcm,
    /// Internal SRAM behind the bus.
    Sram,
    /// Internal flash.
    Flash,
    /// External SDRAM.
    Sdram,
    /// External static RAM on a parallel bus.
    FmcSram,
    /// External RAM on a serial bus of eight lines, memory-mapped.
    OctalRam,
    /// External serial flash, memory-mapped.
    QspiFlash,
    /// SD card.
    Card,
}

impl MemoryKind {
    /// The space of a plan that memories of this kind serve, if the firmware lets them; nothing for
    /// internal memories, which the firmware divides.
    #[must_use]
    pub const fn external_space(self) -> Option<Space> {
        match self {
            Self::Dtcm | Self::Itcm | Self::Sram | Self::Flash => None,
            Self::Sdram | Self::FmcSram | Self::OctalRam => Some(Space::ExternalRam),
            Self::QspiFlash => Some(Space::ExternalFlash),
            Self::Card => Some(Space::Card),
        }
    }
}

/// A memory of the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Name as in the vendor's manual.
    pub name: String,
    /// What it is.
    pub kind: MemoryKind,
    /// Address of its first byte; nothing if the core cannot address it.
    pub address: Option<u32>,
    /// Size.
    pub bytes: Bytes,
    /// The space of a plan that it serves, if not that of its kind: a RAM that is filled at start
    /// may stand for the external flash of other boards.
    #[serde(default)]
    pub space: Option<Space>,
    /// What accesses take; nothing if that is not known, or a card's, which depends on the card.
    #[serde(default)]
    pub timing: Option<Timing>,
    /// What the core waits for flash; nothing for other memories, and if that is not known.
    #[serde(default)]
    pub waits: Option<FlashWaits>,
    /// Where the numbers come from.
    pub source: String,
}

/// Where firmware, plan and arena lie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Firmware {
    /// Address at which the firmware is linked.
    pub flash_address: u32,
    /// Bytes kept for the firmware: the plan image starts behind them.
    pub flash_bytes: Bytes,
    /// Bytes kept for the firmware with small kernels; nothing if there is no such build.
    #[serde(default)]
    pub small_flash_bytes: Option<Bytes>,
    /// Address of SRAM kept for the firmware's stack and variables.
    pub sram_address: u32,
    /// Bytes of SRAM kept for the firmware.
    pub sram_bytes: Bytes,
    /// Address of the tensor arena.
    pub arena_address: u32,
    /// Largest tensor arena.
    pub arena_bytes: Bytes,
    /// External spaces that the firmware sets up, so that plans may use them.
    #[serde(default)]
    pub serves: Vec<Space>,
    /// Lanes of transfer engines that the firmware drives, so that programs may have them.
    #[serde(default)]
    pub drives: Vec<LaneKind>,
    /// What it takes between steps; nothing if that is not known.
    #[serde(default)]
    pub between: Option<Between>,
    /// Serial port that the console is wired to, by its name in the manual.
    pub console: String,
    /// Baud rate of the console.
    pub console_baud: u32,
    /// The microcontroller's family in UF2 files, if the board takes such.
    #[serde(default)]
    pub uf2_family: Option<u32>,
    /// How the image is brought onto the board, for people.
    pub how_to_flash: String,
}

/// A board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// Id: the file's name without ending.
    pub id: String,
    /// Name as the vendor writes it.
    pub name: String,
    /// How far the project carries it.
    pub support: Support,
    /// Name of the file in `chips/` that has its microcontroller, for the emulator; missing for boards
    /// without firmware.
    #[serde(default)]
    pub chip: Option<String>,
    /// Core and clock.
    pub core: Core,
    /// Memories.
    pub memory: Vec<Memory>,
    /// What moves bytes beside the core.
    #[serde(default)]
    pub engine: Vec<Engine>,
    /// What gives it its clock; nothing if the microcontroller's own does.
    #[serde(default)]
    pub oscillator: Option<Oscillator>,
    /// What it wires to pins.
    #[serde(default)]
    pub wires: Vec<Wires>,
    /// Where a card goes; nothing if there is no such place.
    #[serde(default)]
    pub slot: Option<Slot>,
    /// Where things lie; missing for boards without firmware.
    pub firmware: Option<Firmware>,
    /// What it draws; nothing if no source says.
    #[serde(default)]
    pub power: Option<Power>,
    /// What a computer sees of it; nothing if nobody has it on a desk.
    #[serde(default)]
    pub desk: Option<Desk>,
}

/// What the id of a board ends with whose firmware has small kernels.
pub const SMALL: &str = "-small";

impl Board {
    /// The same board with the firmware whose kernels are as little code as there can be: more flash is
    /// left, and kernels take longer. They read the same weights. A board of its own, by an id that ends with
    /// [`SMALL`], so that neither firmware takes the other's plans. Nothing if there is no such firmware.
    #[must_use]
    pub fn small(&self) -> Option<Self> {
        let firmware = self.firmware.as_ref()?;
        let flash_bytes = firmware.small_flash_bytes?;
        let firmware = Firmware { flash_bytes, small_flash_bytes: None, ..firmware.clone() };
        let costs = Some(format!("{}{SMALL}", self.core.kind.id()));
        Some(Self {
            id: format!("{}{SMALL}", self.id),
            name: format!("{}, small kernels", self.name),
            core: Core { costs, ..self.core.clone() },
            firmware: Some(firmware),
            ..self.clone()
        })
    }

    /// The same board with its core's data cache switched off; nothing if it has none. Accesses outside of the chip
    /// and constants in flash wait one by one then, by the same wait states. Memories on the chip have none, so that
    /// the cache makes no difference there. Firmware switches the cache on where there is one: of this board there are
    /// predictions and emulated runs alone.
    #[must_use]
    pub fn without_data_cache(&self) -> Option<Self> {
        self.core.data_cache.as_ref()?;
        let mut board = self.clone();
        board.core.data_cache = None;
        for waits in board.memory.iter_mut().filter_map(|memory| memory.waits.as_mut()) {
            waits.constants = FlashLines::NOT_KEPT;
        }
        Some(board)
    }

    /// Whether its programs run: there is firmware for it, and the emulator has it.
    #[must_use]
    pub fn runs(&self) -> bool {
        self.firmware.is_some() && self.support != Support::Planning
    }

    /// What it wires to a peripheral.
    #[must_use]
    pub fn wires_of(&self, peripheral: &str) -> Option<&Wires> {
        self.wires.iter().find(|wires| wires.peripheral == peripheral)
    }

    /// Whether memories of one sort, end to end, cover `bytes` from `address` on.
    #[must_use]
    pub fn holds(&self, address: u64, bytes: u64, sort: impl Fn(MemoryKind) -> bool) -> bool {
        let mut ranges: Vec<(u64, u64)> = self
            .memory
            .iter()
            .filter(|m| sort(m.kind))
            .filter_map(|m| m.address.map(|a| (u64::from(a), u64::from(a) + m.bytes.0)))
            .collect();
        ranges.sort_unstable();
        let mut reached = address;
        for (start, end) in ranges {
            if start <= reached && end > reached {
                reached = end;
            }
        }
        reached >= address + bytes
    }

    /// The largest run of internal SRAM without a gap.
    #[must_use]
    pub fn longest_sram(&self) -> Bytes {
        let is_sram = |kind| matches!(kind, MemoryKind::Dtcm | MemoryKind::Sram);
        let mut ranges: Vec<(u64, u64)> = self
            .memory
            .iter()
            .filter(|memory| is_sram(memory.kind))
            .filter_map(|memory| Some((u64::from(memory.address?), memory.bytes.0)))
            .collect();
        ranges.sort_unstable();
        let (mut longest, mut start, mut end) = (0, 0, 0);
        for (address, bytes) in ranges {
            if address != end {
                start = address;
            }
            end = address + bytes;
            longest = longest.max(end - start);
        }
        Bytes(longest)
    }

    /// The memory that serves an external space: of several the largest.
    #[must_use]
    pub fn external(&self, space: Space) -> Option<&Memory> {
        let serves =
            |memory: &&Memory| memory.space.or(memory.kind.external_space()) == Some(space);
        self.memory.iter().filter(serves).max_by_key(|memory| memory.bytes)
    }

    /// What the core waits for internal flash, if that is known.
    #[must_use]
    pub fn flash_waits(&self) -> Option<&FlashWaits> {
        let flash = self.memory.iter().find(|memory| memory.kind == MemoryKind::Flash)?;
        flash.waits.as_ref()
    }

    /// The engine that runs a lane of this kind.
    #[must_use]
    pub fn engine(&self, lane: LaneKind) -> Option<&Engine> {
        self.engine.iter().find(|engine| engine.lane == lane)
    }

    /// Total bytes of the memories of one sort.
    #[must_use]
    pub fn total(&self, sort: impl Fn(MemoryKind) -> bool) -> Bytes {
        self.memory.iter().filter(|m| sort(m.kind)).map(|m| m.bytes).sum()
    }

    /// Internal SRAM, all of it.
    #[must_use]
    pub fn sram(&self) -> Bytes {
        self.total(|k| matches!(k, MemoryKind::Dtcm | MemoryKind::Sram))
    }

    /// Internal flash, all of it.
    #[must_use]
    pub fn flash(&self) -> Bytes {
        self.total(|k| k == MemoryKind::Flash)
    }

    /// Largest tensor arena: what the firmware leaves of SRAM; without firmware the longest run of
    /// it.
    #[must_use]
    pub fn arena(&self) -> Bytes {
        self.firmware.as_ref().map_or_else(|| self.longest_sram(), |f| f.arena_bytes)
    }

    /// Address at which the plan image starts, behind the firmware.
    #[must_use]
    pub fn plan_address(&self) -> Option<u32> {
        let firmware = self.firmware.as_ref()?;
        u32::try_from(u64::from(firmware.flash_address) + firmware.flash_bytes.0).ok()
    }

    /// Largest plan image: what the firmware leaves of flash.
    #[must_use]
    pub fn plan_bytes(&self) -> Bytes {
        self.firmware.as_ref().map_or_else(|| self.flash(), |f| self.flash() - f.flash_bytes)
    }

    /// Bytes that a plan can use in each space, by the space's number: what the board's firmware
    /// sets up, or all memories of a board without firmware. Flash sections share what the
    /// firmware leaves.
    #[must_use]
    pub fn space_bytes(&self) -> [u64; 6] {
        let mut bytes = self.tier_bytes();
        for space in [Space::ExternalRam, Space::ExternalFlash, Space::Card] {
            if !self.serves(space) {
                bytes[space as usize] = 0;
            }
        }
        bytes
    }

    /// Bytes that the board has in each space, by the space's number, whether or not its firmware
    /// sets up external ones; of a larger one as many as the 32 bits of a plan image address.
    #[must_use]
    pub fn tier_bytes(&self) -> [u64; 6] {
        let mut bytes = [0; 6];
        bytes[Space::Arena as usize] = self.arena().0;
        bytes[Space::Weights as usize] = self.plan_bytes().0;
        bytes[Space::Constants as usize] = self.plan_bytes().0;
        for space in [Space::ExternalRam, Space::ExternalFlash, Space::Card] {
            let bytes_of = |memory: &Memory| memory.bytes.0.min(u32::MAX.into());
            bytes[space as usize] = self.external(space).map_or(0, bytes_of);
        }
        bytes
    }

    /// Whether programs can have a lane of this kind: of engines, whether the board has one and the
    /// firmware, if there is one, drives it.
    #[must_use]
    pub fn drives(&self, lane: LaneKind) -> bool {
        let driven = self.firmware.as_ref().is_none_or(|firmware| firmware.drives.contains(&lane));
        lane == LaneKind::Core || (driven && self.engine(lane).is_some())
    }

    /// Whether programs can use a space: of external ones, whether the firmware, if there is one,
    /// sets it up.
    #[must_use]
    pub fn serves(&self, space: Space) -> bool {
        let internal = matches!(space, Space::Arena | Space::Weights | Space::Constants);
        internal || self.firmware.as_ref().is_none_or(|firmware| firmware.serves.contains(&space))
    }
}

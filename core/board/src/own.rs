//! Boards of a person's own: what differs from a board that is known.
//!
//! Such a board has no file here. Its id says all that it is, `own:stm32f746g-disco:sram=256:ram=0`, so that links, commands
//! and queued work carry it whole. Times of its core, buses and engines are those of the board that it begins with. It is
//! planned and simulated only: nobody has written firmware for it.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use tilewright_plan::{Bytes, Hertz, LaneKind, Space};

use crate::board::{Board, Memory, MemoryKind, Support};

/// What ids of such boards begin with.
pub const OWN: &str = "own:";

/// Most megahertz and KiB: what the 32 bits of addresses hold.
const MOST_MHZ: u32 = 2_000;
const MOST_KIB: u32 = 4 * 1024 * 1024 - 1;
const KIB: u64 = 1024;

/// A board by what differs from another; what is not given is as there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnBoard {
    /// Id of the board that it begins with.
    pub base: String,
    /// Clock of the core in megahertz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_mhz: Option<u32>,
    /// SRAM for tensors in KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sram_kib: Option<u32>,
    /// Flash for the plan in KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash_kib: Option<u32>,
    /// RAM outside of the chip in KiB; 0 if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_ram_kib: Option<u32>,
    /// Flash outside of the chip in KiB; 0 if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_flash_kib: Option<u32>,
    /// Whether there is a place for a card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<bool>,
}

/// Why a board of a person's own cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OwnBoardError {
    /// A part of its id says nothing.
    #[error(
        "'{0}' says nothing of a board: an id is such as own:stm32f746g-disco:clock=200:sram=256:flash=512:ram=4096:store=0:\
         card=no"
    )]
    Part(String),
    /// A number is outside of what can be.
    #[error("{what} must be from {least} to {most}, not {value}")]
    Range {
        /// Which number.
        what: &'static str,
        /// What is given.
        value: u32,
        /// The least that can be.
        least: u32,
        /// The most that can be.
        most: u32,
    },
    /// The board that it begins with has nothing whose times could be taken.
    #[error("{base} has no {what} whose times could be taken: begin with a board that has it")]
    NotThere {
        /// Name of the board that it begins with.
        base: String,
        /// What it lacks.
        what: &'static str,
    },
}

impl Display for OwnBoard {
    /// The id.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{OWN}{}", self.base)?;
        let numbers = [
            ("clock", self.clock_mhz),
            ("sram", self.sram_kib),
            ("flash", self.flash_kib),
            ("ram", self.external_ram_kib),
            ("store", self.external_flash_kib),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                write!(f, ":{name}={number}")?;
            }
        }
        match self.card {
            Some(true) => f.write_str(":card=yes"),
            Some(false) => f.write_str(":card=no"),
            None => Ok(()),
        }
    }
}

impl FromStr for OwnBoard {
    type Err = OwnBoardError;

    /// Reads an id.
    fn from_str(id: &str) -> Result<Self, Self::Err> {
        let wrong = |part: &str| OwnBoardError::Part(part.to_owned());
        let mut parts = id.strip_prefix(OWN).ok_or_else(|| wrong(id))?.split(':');
        let mut own = Self { base: parts.next().unwrap_or_default().to_owned(), ..Self::default() };
        for part in parts {
            let (name, value) = part.split_once('=').ok_or_else(|| wrong(part))?;
            let number = || value.parse::<u32>().map(Some).map_err(|_| wrong(part));
            match (name, value) {
                ("clock", _) => own.clock_mhz = number()?,
                ("sram", _) => own.sram_kib = number()?,
                ("flash", _) => own.flash_kib = number()?,
                ("ram", _) => own.external_ram_kib = number()?,
                ("store", _) => own.external_flash_kib = number()?,
                ("card", "yes") => own.card = Some(true),
                ("card", "no") => own.card = Some(false),
                _ => return Err(wrong(part)),
            }
        }
        Ok(own)
    }
}

impl OwnBoard {
    /// The file's text, as `--board FILE.toml` takes it.
    #[must_use]
    pub fn toml(&self) -> String {
        let mut text = format!(
            "# A board of your own for Tilewright: what differs from a board that it knows.\n\
             # Clocks are in MHz, sizes in KiB; 0 means that there is none.\nbase = \"{}\"\n",
            self.base
        );
        let numbers = [
            ("clock_mhz", self.clock_mhz),
            ("sram_kib", self.sram_kib),
            ("flash_kib", self.flash_kib),
            ("external_ram_kib", self.external_ram_kib),
            ("external_flash_kib", self.external_flash_kib),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                text += &format!("{name} = {number}\n");
            }
        }
        if let Some(card) = self.card {
            text += &format!("card = {card}\n");
        }
        text
    }

    /// The board, made of the one that it begins with.
    ///
    /// # Errors
    /// A size or clock that cannot be, or a memory that `base` lacks.
    pub fn of(&self, base: &Board) -> Result<Board, OwnBoardError> {
        let mut board = Board {
            id: self.to_string(),
            name: format!("Own, after {}", base.name),
            support: Support::Planning,
            chip: None,
            desk: None,
            ..base.clone()
        };
        if let Some(mhz) = within("a clock in MHz", self.clock_mhz, 1, MOST_MHZ)? {
            board.core.clock.hertz = Hertz(u64::from(mhz) * 1_000_000);
        }
        if let Some(kib) = within("SRAM in KiB", self.sram_kib, 1, MOST_KIB)? {
            set_sram(&mut board, Bytes(u64::from(kib) * KIB));
        }
        if let Some(kib) = within("flash in KiB", self.flash_kib, 1, MOST_KIB)? {
            let kept = board.firmware.as_ref().map_or(0, |firmware| firmware.flash_bytes.0);
            set_largest(&mut board, MemoryKind::Flash, Bytes(kept + u64::from(kib) * KIB));
        }
        for (space, what, kib) in [
            (Space::ExternalRam, "RAM outside of the chip", self.external_ram_kib),
            (Space::ExternalFlash, "flash outside of the chip", self.external_flash_kib),
        ] {
            if let Some(kib) = within(what, kib, 0, MOST_KIB)? {
                set_external(&mut board, space, Bytes(u64::from(kib) * KIB), base, what)?;
            }
        }
        match self.card {
            Some(false) => {
                board.slot = None;
                board.memory.retain(|memory| memory.kind != MemoryKind::Card);
                board.engine.retain(|engine| engine.lane != LaneKind::Card);
            }
            Some(true) if base.slot.is_none() || !base.serves(Space::Card) => {
                let what = "place for a card";
                return Err(OwnBoardError::NotThere { base: base.name.clone(), what });
            }
            _ => {}
        }
        Ok(board)
    }
}

fn within(
    what: &'static str,
    value: Option<u32>,
    least: u32,
    most: u32,
) -> Result<Option<u32>, OwnBoardError> {
    match value {
        Some(value) if !(least..=most).contains(&value) => {
            Err(OwnBoardError::Range { what, value, least, most })
        }
        _ => Ok(value),
    }
}

/// One memory in place of all internal SRAM, with the times of the largest.
fn set_sram(board: &mut Board, bytes: Bytes) {
    let is_sram = |memory: &Memory| matches!(memory.kind, MemoryKind::Dtcm | MemoryKind::Sram);
    let largest = board.memory.iter().filter(|memory| is_sram(memory)).max_by_key(|m| m.bytes);
    let Some(largest) = largest.cloned() else { return };
    board.memory.retain(|memory| !is_sram(memory));
    let arena = board.firmware.as_ref().map(|firmware| firmware.arena_address);
    board.memory.push(Memory { address: arena.or(largest.address), bytes, ..largest });
    if let Some(firmware) = &mut board.firmware {
        firmware.arena_bytes = bytes;
    }
}

fn set_largest(board: &mut Board, kind: MemoryKind, bytes: Bytes) {
    let of_kind = board.memory.iter_mut().filter(|memory| memory.kind == kind);
    let mut largest: Vec<_> = of_kind.collect();
    largest.sort_by_key(|memory| std::cmp::Reverse(memory.bytes));
    for (index, memory) in largest.into_iter().enumerate() {
        memory.bytes = if index == 0 { bytes } else { Bytes(0) };
    }
}

fn set_external(
    board: &mut Board,
    space: Space,
    bytes: Bytes,
    base: &Board,
    what: &'static str,
) -> Result<(), OwnBoardError> {
    let serves = |memory: &Memory| memory.space.or(memory.kind.external_space()) == Some(space);
    if bytes.0 == 0 {
        board.memory.retain(|memory| !serves(memory));
        return Ok(());
    }
    if base.external(space).is_none() || !base.serves(space) {
        return Err(OwnBoardError::NotThere { base: base.name.clone(), what });
    }
    let largest = board.memory.iter_mut().filter(|memory| serves(memory)).max_by_key(|m| m.bytes);
    if let Some(memory) = largest {
        memory.bytes = bytes;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SMALL, all, find};

    fn full() -> OwnBoard {
        OwnBoard {
            base: "stm32f746g-disco".to_owned(),
            clock_mhz: Some(180),
            sram_kib: Some(1000),
            flash_kib: Some(700),
            external_ram_kib: Some(2048),
            external_flash_kib: Some(0),
            card: Some(false),
        }
    }

    #[test]
    fn an_id_and_a_file_say_all() {
        for own in [full(), OwnBoard { base: "weact-h743".to_owned(), ..OwnBoard::default() }] {
            assert_eq!(own.to_string().parse(), Ok(own.clone()));
            assert_eq!(toml::from_str::<OwnBoard>(&own.toml()), Ok(own));
        }
        assert!(toml::from_str::<OwnBoard>("base = \"x\"\nsrma_kib = 1").is_err());
        assert!(toml::from_str::<OwnBoard>("sram_kib = 1").is_err());
    }

    #[test]
    fn what_is_given_is_what_plans_have() {
        let board = find(&full().to_string()).unwrap();
        assert_eq!((board.arena().0, board.plan_bytes().0), (1000 * KIB, 700 * KIB));
        assert_eq!((board.core.clock.hertz.0, board.support), (180_000_000, Support::Planning));
        let spaces = [Space::ExternalRam, Space::ExternalFlash, Space::Card];
        assert_eq!(spaces.map(|space| board.space_bytes()[space as usize]), [2048 * KIB, 0, 0]);
        assert!(!board.drives(LaneKind::Card) && board.drives(LaneKind::Dma));
        let small = find(&format!("{}{SMALL}", full())).unwrap();
        assert!(small.plan_bytes() > board.plan_bytes());
    }

    #[test]
    fn without_changes_it_is_as_the_board_that_it_begins_with() {
        for base in all() {
            let own = OwnBoard { base: base.id.clone(), ..OwnBoard::default() };
            let board = find(&own.to_string()).unwrap();
            assert_eq!(board.space_bytes(), base.space_bytes());
            let sizes = OwnBoard {
                sram_kib: u32::try_from(base.arena().0 / KIB).ok(),
                flash_kib: u32::try_from(base.plan_bytes().0 / KIB).ok(),
                ..own
            };
            let board = find(&sizes.to_string()).unwrap();
            assert_eq!(board.arena().0, base.arena().0 / KIB * KIB);
            assert_eq!(board.plan_bytes().0, base.plan_bytes().0 / KIB * KIB);
        }
    }

    #[test]
    fn nonsense_is_told() {
        for (id, told) in [
            ("own:", "no board ''"),
            ("own:pdp-11", "no board 'pdp-11'"),
            ("own:own:stm32f746g-disco", "says nothing"),
            ("own:stm32f746g-disco:sram", "'sram' says nothing"),
            ("own:stm32f746g-disco:sram=-1", "'sram=-1' says nothing"),
            ("own:stm32f746g-disco:sram=0", "SRAM in KiB must be from 1 to 4194303, not 0"),
            (
                "own:stm32f746g-disco:clock=99999",
                "a clock in MHz must be from 1 to 2000, not 99999",
            ),
            ("own:stm32f746g-disco:ram=4294967295", "RAM outside of the chip must be from 0"),
            ("own:nrf52840-dk:ram=8", "has no RAM outside of the chip"),
            ("own:stm32l552e-ev:card=maybe", "'card=maybe' says nothing"),
        ] {
            let error = find(id).unwrap_err().to_string();
            assert!(error.contains(told), "{id}: {error}");
        }
    }
}

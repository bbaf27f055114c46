//! The boards and the classes of cards that there are.

use thiserror::Error;

use crate::board::{Board, SMALL};
use crate::card::Card;
use crate::own::{OWN, OwnBoard, OwnBoardError};

/// The boards, as the build script encoded them.
const BOARDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/boards.postcard"));

/// The classes of cards, as the build script encoded them.
const CARDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/cards.postcard"));

/// Why a board cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BoardError {
    /// No board has this id.
    #[error("no board '{id}'; known boards: {known}")]
    Unknown {
        /// The id asked for.
        id: String,
        /// All ids, separated by commas.
        known: String,
    },
    /// An id says of a board what cannot be.
    #[error(transparent)]
    Own(#[from] OwnBoardError),
}

/// Why a card cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CardError {
    /// No class of cards has this id.
    #[error("no card '{id}'; known cards: {known}")]
    Unknown {
        /// The id asked for.
        id: String,
        /// All ids, separated by commas.
        known: String,
    },
}

/// All boards, each with the firmware that is fast.
#[must_use]
pub fn all() -> Vec<Board> {
    postcard::from_bytes(BOARDS).expect("the build script encoded these very types")
}

/// The board with this id; one that ends with [`SMALL`] is of a board's firmware with small kernels, and one that begins
/// with [`OWN`] says itself what differs from another.
///
/// # Errors
/// [`BoardError::Unknown`] lists the boards that exist; [`BoardError::Own`] says what of an own board cannot be.
pub fn find(id: &str) -> Result<Board, BoardError> {
    if id.starts_with(OWN) {
        return find_own(id);
    }
    let boards = all();
    let known = || boards.iter().map(|board| board.id.as_str()).collect::<Vec<_>>().join(", ");
    let unknown = BoardError::Unknown { id: id.to_owned(), known: known() };
    let found = boards.into_iter().find_map(|board| {
        if board.id == id {
            return Some(board);
        }
        let is_small = id.strip_suffix(SMALL) == Some(board.id.as_str());
        board.small().filter(|_| is_small)
    });
    found.ok_or(unknown)
}

fn find_own(id: &str) -> Result<Board, BoardError> {
    let own: OwnBoard = id.strip_suffix(SMALL).unwrap_or(id).parse()?;
    let board = own.of(&find(&own.base)?)?;
    if !id.ends_with(SMALL) {
        return Ok(board);
    }
    let known = format!("{}, which has no firmware with small kernels", board.id);
    board.small().ok_or(BoardError::Unknown { id: id.to_owned(), known })
}

/// All classes of cards.
#[must_use]
pub fn cards() -> Vec<Card> {
    postcard::from_bytes(CARDS).expect("the build script encoded these very types")
}

/// The class of cards with this id.
///
/// # Errors
/// [`CardError::Unknown`] lists the classes that exist.
pub fn find_card(id: &str) -> Result<Card, CardError> {
    let cards = cards();
    let known = || cards.iter().map(|card| card.id.as_str()).collect::<Vec<_>>().join(", ");
    let unknown = CardError::Unknown { id: id.to_owned(), known: known() };
    cards.into_iter().find(|card| card.id == id).ok_or(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_board_is_found_by_its_id() {
        for board in all() {
            assert_eq!(find(&board.id), Ok(board.clone()));
        }
    }

    #[test]
    fn no_more_of_a_memory_is_used_than_plans_address() {
        let most = u64::from(u32::MAX);
        assert!(all().iter().all(|board| board.tier_bytes().iter().all(|bytes| *bytes <= most)));
        let is_larger = |board: &Board| board.memory.iter().any(|m| m.bytes.0 > most);
        assert!(all().iter().any(is_larger), "cards have 32 GB");
    }

    #[test]
    fn small_firmware_makes_another_board_with_more_flash_for_plans() {
        let mut count = 0;
        for board in all() {
            let Some(small) = board.small() else { continue };
            assert_eq!(find(&small.id), Ok(small.clone()));
            assert!(small.id.len() <= 24 && small.id != board.id);
            assert!(small.plan_bytes() > board.plan_bytes());
            assert_eq!(small.small(), None);
            count += 1;
        }
        assert!(count >= 2);
        assert!(find("stm32l552e-ev-small").is_err());
    }

    #[test]
    fn an_unknown_board_names_those_that_exist() {
        let error = find("pdp-11").unwrap_err();
        assert!(error.to_string().contains("stm32f746g-disco"), "{error}");
    }

    #[test]
    fn every_slot_names_a_card_that_exists() {
        for slot in all().iter().filter_map(|board| board.slot.as_ref()) {
            assert!(find_card(&slot.card).is_ok(), "{}", slot.card);
        }
        let error = find_card("floppy").unwrap_err();
        assert!(error.to_string().contains("sd-class10"), "{error}");
    }

    #[test]
    fn a_board_without_firmware_has_one_run_of_sram_and_all_its_memories() {
        use tilewright_plan::Space;
        let board = find("stm32l552e-ev").unwrap();
        assert_eq!(board.arena().0, 256 << 10);
        let bytes = board.space_bytes();
        assert_eq!(bytes[Space::ExternalRam as usize], 2 << 20);
        assert_eq!(bytes[Space::ExternalFlash as usize], 8 << 20);
        // The parts of the H743's SRAM do not touch.
        assert_eq!(find("weact-h743").unwrap().arena().0, 512 << 10);
    }

    #[test]
    fn firmware_opens_the_external_spaces_that_it_serves() {
        use tilewright_plan::Space;
        let mut board = find("stm32f746g-disco").unwrap();
        let firmware = board.firmware.as_mut().unwrap();
        firmware.serves = vec![Space::ExternalRam];
        let bytes = board.space_bytes();
        assert_eq!(bytes[Space::ExternalRam as usize], 8 << 20);
        assert_eq!(bytes[Space::Card as usize], 0);
    }
}

//! The boards that there are.

use thiserror::Error;

use crate::board::Board;

/// The boards, as the build script encoded them.
const BOARDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/boards.postcard"));

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
}

/// All boards.
#[must_use]
pub fn all() -> Vec<Board> {
    postcard::from_bytes(BOARDS).expect("the build script encoded these very types")
}

/// The board with this id.
///
/// # Errors
/// [`BoardError::Unknown`] lists the boards that exist.
pub fn find(id: &str) -> Result<Board, BoardError> {
    let boards = all();
    let known = || boards.iter().map(|board| board.id.as_str()).collect::<Vec<_>>().join(", ");
    let unknown = BoardError::Unknown { id: id.to_owned(), known: known() };
    boards.into_iter().find(|board| board.id == id).ok_or(unknown)
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
    fn an_unknown_board_names_those_that_exist() {
        let error = find("pdp-11").unwrap_err();
        assert!(error.to_string().contains("stm32f746g-disco"), "{error}");
    }
}

//! What is done about wrong bytes from a card, in the page's words.

use tilewright_board::Board;
use tilewright_image::Checks;
use tilewright_planner::simulate::checking;

use crate::message::CheckFacts;

/// What checking takes, for people.
pub fn facts(checks: &Checks, board: &Board) -> CheckFacts {
    let cycles = checking(board, checks.checked_bytes.0, checks.tags);
    CheckFacts {
        stored: checks.copy_checksums,
        kept: checks.sector_checksums,
        bytes: checks.checked_bytes.0,
        core_us: cycles.at(board.core.clock.hertz).0,
    }
}

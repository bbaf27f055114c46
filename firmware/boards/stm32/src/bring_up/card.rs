//! The card: at its default clock, at the highest that the way to it carries, and with its command open.

use core::fmt::Write;

use cortex_m::asm;
use tilewright_runtime::card::{CardError, SECTOR};

use super::{Checked, Failure, Line, failure, holds};
use crate::Board;
use crate::card::{Card, Transfer};
use crate::{crc, sdmmc};

/// Sectors that are read at once.
const SECTORS: u32 = 32;
/// How often a transfer is asked whether it is complete: some seconds.
const ASKED: u32 = 4_000_000;

/// Reads the same sectors in several ways.
pub fn check(line: &mut Line, board: &Board, arena: &mut [u8]) -> Checked {
    if board.card_hertz == 0 {
        let _ = write!(line, " none on this board");
        return Ok(());
    }
    let fastest = board.card_hertz.min(sdmmc::HIGH_HERTZ);
    let slow = reads(line, board, arena, sdmmc::DEFAULT_HERTZ)?;
    if fastest > sdmmc::DEFAULT_HERTZ {
        let fast = reads(line, board, arena, fastest)?;
        holds(fast == slow, format_args!("{fast:08x} there, {slow:08x} before"))?;
    }
    if board.open_reads {
        let _ = write!(line, " open");
        paused(board, arena, slow)?;
    }
    Ok(())
}

/// Identifies the card with a clock of at most so many hertz and reads twice; the checksum.
fn reads(line: &mut Line, board: &Board, arena: &mut [u8], hertz: u32) -> Result<u32, Failure> {
    let _ = write!(line, " {} MHz", hertz / 1_000_000);
    let mut card = identified(board, arena, hertz, false)?;
    if hertz > sdmmc::DEFAULT_HERTZ && !card.is_fast() {
        let _ = write!(line, " not by this card");
    }
    let _ = write!(line, " {} sectors,", card.sectors);
    let first = read(&mut card, arena, 0).map_err(told)?;
    let second = read(&mut card, arena, 0).map_err(told)?;
    holds(first == second, format_args!("{first:08x}, then {second:08x}"))?;
    Ok(first)
}

/// Reads, leaves the command open for a second, and goes on.
fn paused(board: &Board, arena: &mut [u8], right: u32) -> Checked {
    let mut card = identified(board, arena, sdmmc::DEFAULT_HERTZ, true)?;
    let at = |read: &'static str| move |error: CardError| failure(format_args!("{read}: {error}"));
    let behind = read(&mut card, arena, SECTORS).map_err(at("a piece"))?;
    let first = read(&mut card, arena, 0).map_err(at("a piece from elsewhere"))?;
    asm::delay(board.clock_hertz);
    let second = read(&mut card, arena, SECTORS).map_err(at("the next piece, a second later"))?;
    holds(
        first == right && second == behind,
        format_args!("{first:08x} and {second:08x}, not {right:08x} and {behind:08x}"),
    )
}

fn identified(
    board: &Board,
    arena: &mut [u8],
    card_hertz: u32,
    open_reads: bool,
) -> Result<Card, Failure> {
    let spaces = crate::engines::Spaces { card_hertz, open_reads, ..board.spaces() };
    let memory = arena.as_ptr().addr() as u32;
    let mut card = Card::identify(memory, &spaces).map_err(told)?;
    // As the firmware does. It also forgets the CMD23 of identification, which counts for a CMD18 right behind it.
    card.read(0, memory).map_err(told)?;
    Ok(card)
}

/// Reads sectors to the arena; their checksum.
fn read(card: &mut Card, arena: &mut [u8], sector: u32) -> Result<u32, CardError> {
    let memory = arena.as_ptr().addr() as u32;
    let bytes = arena.get_mut(..(SECTORS * SECTOR) as usize).ok_or(CardError::Transfer)?;
    bytes.fill(0);
    super::cache::forget_all(memory, SECTORS * SECTOR);
    card.begin(Transfer { write: false, sector, memory, count: SECTORS });
    for _ in 0..ASKED {
        if card.interrupted()? {
            super::cache::forget_all(memory, SECTORS * SECTOR);
            return Ok(crc::of(bytes));
        }
    }
    let _ = card.recover(CardError::NoData);
    Err(CardError::NoData)
}

fn told(error: CardError) -> Failure {
    failure(format_args!("{error}"))
}

//! What copies take on a board: set-up of the engine, then bursts that are read at one end and
//! written at the other, or a command of the card.

use tilewright_board::{Access, Board, Card, Curve, Engine, Memory, MemoryKind};
use tilewright_plan::{Cycles, Hertz, LaneKind, Space, Span};

/// What a card's controller holds of a read that waits (RM0385, 35.3.2).
const FIFO_BYTES: u128 = 128;
/// Picoseconds of a second.
const SECOND_PS: u128 = 1_000_000_000_000;

/// What copies take on a board with a card.
#[derive(Clone, Debug)]
pub struct Transfers<'b> {
    board: &'b Board,
    card: Option<&'b Card>,
}

impl<'b> Transfers<'b> {
    /// Copies on `board`, with this card in its slot.
    #[must_use]
    pub const fn new(board: &'b Board, card: Option<&'b Card>) -> Self {
        Self { board, card }
    }

    /// What a copy takes on a lane of this kind; without an engine, or without what is known of the
    /// memories, the parts that are known.
    #[must_use]
    pub fn copy(&self, lane: LaneKind, source: &Span, destination: &Span) -> Cycles {
        let (items, moved) = self.parts(lane, source, destination, false);
        Cycles(items * self.set_up(lane)) + moved
    }

    /// The same without what sets the engine up.
    #[must_use]
    pub fn moved(&self, lane: LaneKind, source: &Span, destination: &Span) -> Cycles {
        self.parts(lane, source, destination, false).1
    }

    /// What a read takes that goes on with the command of the one before it: to set it up, and to move it.
    #[must_use]
    pub fn goes_on(&self, source: &Span, destination: &Span) -> (Cycles, Cycles) {
        let (items, moved) = self.parts(LaneKind::Card, source, destination, true);
        (Cycles(items * self.set_up(LaneKind::Card)), moved)
    }

    /// Whether reads of the card may wait with their commands open.
    #[must_use]
    pub fn open_reads(&self) -> bool {
        self.board.engine(LaneKind::Card).is_some_and(|engine| engine.open_reads)
    }

    /// What sets an engine up for an item.
    fn set_up(&self, lane: LaneKind) -> u64 {
        self.board.engine(lane).map_or(0, |engine| engine.set_up_cycles)
    }

    /// Cycles of a burst that DMA reads from a space, rounded down; 0 if they are not known.
    #[must_use]
    pub fn burst(&self, space: Space) -> u64 {
        let access = self.memory(Some(space)).and_then(|memory| memory.timing.as_ref()?.dma_read);
        let (Some(access), Some(engine)) = (access, self.board.engine(LaneKind::Dma)) else {
            return 0;
        };
        let ps = bursts(&access, burst(engine), burst(engine));
        let cycles = ps * u128::from(self.board.core.clock.hertz.0) / SECOND_PS;
        u64::try_from(cycles).unwrap_or(u64::MAX)
    }

    /// How many items a copy is for its engine, and what it takes to move them.
    fn parts(
        &self,
        lane: LaneKind,
        source: &Span,
        destination: &Span,
        goes_on: bool,
    ) -> (u64, Cycles) {
        let engine = self.board.engine(lane);
        let runs = if source.rows == destination.rows && is_one(source) && is_one(destination) {
            1
        } else {
            u64::from(source.rows.max(destination.rows)).max(1)
        };
        let bytes = source.bytes();
        let run = bytes.div_ceil(runs);
        let clock = self.board.core.clock.hertz;
        let commands = |direction| {
            let (commands, moved) = self.commands(run, direction);
            (runs * commands, Cycles(runs * moved.0))
        };
        match (source.space(), destination.space()) {
            (Some(Space::Card), _) if self.open_reads() => {
                let opened = if is_one(source) { 1 } else { u64::from(source.rows) };
                let opened = opened.saturating_sub(goes_on.into());
                let items = runs * self.items(run);
                (items, Cycles(self.read(bytes, opened)))
            }
            (Some(Space::Card), _) => commands(Direction::Read),
            (_, Some(Space::Card)) => commands(Direction::Write),
            (from, to) => {
                let item = engine.map_or(u64::MAX, |engine| engine.largest_bytes.0.max(1));
                let burst = engine.map_or(16, burst);
                let ends = [
                    self.memory(from).and_then(|memory| memory.timing.as_ref()?.dma_read),
                    self.memory(to).and_then(|memory| memory.timing.as_ref()?.dma_write),
                ];
                let moved = ends.iter().flatten().map(|access| bursts(access, run, burst)).sum();
                let moved = cycles(moved, clock).0;
                (runs * run.div_ceil(item).max(1), Cycles(runs * moved))
            }
        }
    }

    /// What one command takes that reads or writes `bytes` that follow each other on the card;
    /// nothing without a card, but for the set-up.
    #[must_use]
    pub fn command(&self, bytes: u64, direction: Direction) -> Cycles {
        let (commands, moved) = self.commands(bytes, direction);
        Cycles(commands * self.set_up(LaneKind::Card)) + moved
    }

    /// How many commands that are, and what they take without what sets the engine up.
    fn commands(&self, bytes: u64, direction: Direction) -> (u64, Cycles) {
        let commands = self.items(bytes);
        let Some(card) = self.card else { return (commands, Cycles(0)) };
        let Curve { fixed_ns, bytes_per_second, .. } = match direction {
            Direction::Read => &card.read,
            Direction::Write => &card.write,
        };
        let slot = self.board.slot.as_ref().map_or(u64::MAX, |slot| slot.bytes_per_second);
        let rate = u128::from((*bytes_per_second).min(slot).max(1));
        let fixed = u128::from(commands) * u128::from(*fixed_ns) * 1000;
        let ps = fixed + u128::from(bytes) * SECOND_PS / rate;
        (commands, cycles(ps, self.board.core.clock.hertz))
    }

    /// How many goes of the engine so many bytes are that follow each other.
    fn items(&self, bytes: u64) -> u64 {
        let engine = self.board.engine(LaneKind::Card);
        bytes.div_ceil(engine.map_or(u64::MAX, |engine| engine.largest_bytes.0.max(1))).max(1)
    }

    /// Cycles of reading so many bytes with so many commands that stay open. That they have come shows when the
    /// bytes behind them fill the controller's FIFO.
    fn read(&self, bytes: u64, opened: u64) -> u64 {
        let Some(card) = self.card else { return 0 };
        let slot = self.board.slot.as_ref().map_or(u64::MAX, |slot| slot.bytes_per_second);
        let rate = u128::from(card.read.bytes_per_second.min(slot).max(1));
        let ahead = u128::from(opened) * FIFO_BYTES;
        let fixed = u128::from(opened) * u128::from(card.read.fixed_ns) * 1000;
        let ps = fixed + (u128::from(bytes) + ahead) * SECOND_PS / rate;
        cycles(ps, self.board.core.clock.hertz).0
    }

    /// What it takes to go on with an open command by `bytes` more.
    #[must_use]
    pub fn more(&self, bytes: u64, direction: Direction) -> Cycles {
        let Some(card) = self.card else { return self.command(bytes, direction) };
        let fixed = match direction {
            Direction::Read => card.read.fixed_ns,
            Direction::Write => card.write.fixed_ns,
        };
        let fixed = cycles(u128::from(fixed) * 1000, self.board.core.clock.hertz);
        // `-` stops at zero.
        self.command(bytes, direction) - fixed
    }

    /// The memory that a space lies in.
    fn memory(&self, space: Option<Space>) -> Option<&Memory> {
        let first = |kind| self.board.memory.iter().find(|memory| memory.kind == kind);
        match space? {
            Space::Arena => first(MemoryKind::Sram).or_else(|| first(MemoryKind::Dtcm)),
            Space::Weights | Space::Constants => first(MemoryKind::Flash),
            space => self.board.external(space),
        }
    }
}

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the card.
    Read,
    /// To the card.
    Write,
}

const fn burst(engine: &Engine) -> u64 {
    if engine.burst_bytes == 0 { 1 } else { engine.burst_bytes as u64 }
}

/// Whether a span is one run of bytes.
const fn is_one(span: &Span) -> bool {
    span.rows <= 1 || span.pitch == span.row_bytes
}

/// Picoseconds of moving `bytes` in bursts.
fn bursts(access: &Access, bytes: u64, burst: u64) -> u128 {
    let count = u128::from(bytes.div_ceil(burst));
    let rate = u128::from(access.bytes_per_second.max(1));
    count * u128::from(access.latency_ps) + u128::from(bytes) * SECOND_PS / rate
}

/// Whole cycles that so many picoseconds take.
fn cycles(ps: u128, clock: Hertz) -> Cycles {
    let cycles = (ps * u128::from(clock.0)).div_ceil(SECOND_PS);
    Cycles(u64::try_from(cycles).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn span(space: Space, rows: u32, row_bytes: u32, pitch: u32) -> Span {
        Span { offset: 0, rows, row_bytes, pitch, space: space as u8, reserved: [0; 3] }
    }

    #[test]
    fn a_command_of_the_paper_card_takes_its_fixed_time_and_its_rate() {
        let board = tilewright_board::find("paper-swapnn-512k").unwrap();
        let card = tilewright_board::find_card("paper-swapnn").unwrap();
        let transfers = Transfers::new(&board, Some(&card));
        // 0.58 ms and 128,000 B at 5.0 MB/s, at 216 MHz.
        assert_eq!(transfers.command(128_000, Direction::Read), Cycles(125_280 + 5_529_600));
        assert_eq!(transfers.command(1, Direction::Write), Cycles(125_280 + 44));
    }

    #[test]
    fn bursts_are_read_and_then_written() {
        let board = tilewright_board::find("stm32f746g-disco").unwrap();
        let transfers = Transfers::new(&board, None);
        let (from, to) =
            (span(Space::ExternalRam, 1, 1600, 1600), span(Space::Arena, 1, 1600, 1600));
        // 100 bursts: 99 ns and 16 B at 144 MB/s, then 9.3 ns and 16 B at 864 MB/s.
        let moved = 100.0 * (99.0 + 16e3 / 144.0 + 9.3 + 16e3 / 864.0) * 0.216_f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "some thousands"
        )]
        let moved = moved.ceil() as u64;
        assert_eq!(transfers.copy(LaneKind::Dma, &from, &to), Cycles(160 + moved));
        // Rows that lie apart are items of their own.
        let apart = span(Space::ExternalRam, 10, 160, 1000);
        let apart = transfers.copy(LaneKind::Dma, &apart, &to).0;
        assert!(apart >= 1600 + moved && apart <= 1600 + moved + 10, "{apart}");
    }
}

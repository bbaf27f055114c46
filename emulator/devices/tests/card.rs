//! The card's controller as a driver sees it: answers, data, flags and their times.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use tilewright_devices::{
    AccessError, Bus, CardBytes, CardEvent, CardFault, CardMove, CardQuirks, CardTrouble, Paced,
    SdCard, Size, Time,
};

const RCC: u32 = 0x4002_3800;
const SDMMC: u32 = 0x4001_2c00;
const DMA2: u32 = 0x4002_6400;
const STA: u32 = 0x34;
const BYTES: u64 = 32_000_000_000;
/// 1 ms and 10 MB/s, of reads and of writes.
const CURVE: (u64, u64) = (1_000_000, 10_000_000);
const CTIMEOUT: u32 = 1 << 2;
const CMDREND: u32 = 1 << 6;
const DATAEND: u32 = 1 << 8;
const DBCKEND: u32 = 1 << 10;
const FIFO_FULL: u32 = 1 << 17;
const FLOW_CONTROL: u32 = 1 << 14;

struct Board {
    bus: Bus,
    now: Time,
}

impl Board {
    /// The core at 216 MHz, the controller at 48 MHz, with this card.
    fn new(card: Option<SdCard>) -> Self {
        let common::Board { bus, now } = common::Board::clocked("stm32f746g-disco");
        let mut this = Self { bus, now };
        if let Some(card) = card {
            assert!(this.bus.insert_card(card));
        }
        this.write(RCC + 0x30, 1 << 22);
        this.write(RCC + 0x44, 1 << 11);
        this.bus.settle();
        this.write(SDMMC, 3);
        this
    }

    fn read(&mut self, address: u32) -> u32 {
        self.bus.read(address, Size::Word, self.now, 0).unwrap()
    }

    /// Writes; a board's code takes as long for it.
    fn write(&mut self, address: u32, value: u32) {
        self.bus.write(address, Size::Word, value, self.now).unwrap();
        self.now = self.now.after(20);
    }

    /// What a write breaks.
    fn broken(&mut self, address: u32, value: u32) -> &'static str {
        match self.bus.write(address, Size::Word, value, self.now) {
            Err(AccessError::Wrong { what, .. }) => what,
            other => panic!("{other:?}"),
        }
    }

    /// Lets time pass until something happens; gives the flags.
    fn flags(&mut self) -> u32 {
        self.now = self.bus.next_event().unwrap();
        self.bus.advance(self.now);
        let flags = self.read(SDMMC + STA) & 0x5ff;
        self.write(SDMMC + 0x38, flags);
        flags
    }

    fn send(&mut self, index: u32, argument: u32, answer: u32) {
        self.write(SDMMC + 0x08, argument);
        self.write(SDMMC + 0x0c, 1 << 10 | answer << 6 | index);
    }

    fn command(&mut self, index: u32, argument: u32) -> (u32, u32) {
        self.send(index, argument, 1);
        (self.flags(), self.read(SDMMC + 0x14))
    }

    /// As far as a card goes before its first transfer.
    fn identified(card: SdCard) -> Self {
        let mut board = Self::new(Some(card));
        board.write(SDMMC + 0x04, 1 << 8 | 118);
        // 74 clocks.
        board.now = board.now.after(40_000);
        board.send(0, 0, 0);
        assert_eq!(board.flags(), 1 << 7);
        assert_eq!(board.command(8, 0x1aa), (CMDREND, 0x1aa));
        let powered = (0..10).any(|_| {
            board.command(55, 0);
            let (flags, operating) = board.command(41, 0x40ff_8000);
            assert_eq!(flags, 1, "an answer without a checksum");
            operating >> 30 == 3
        });
        assert!(powered);
        board.send(2, 0, 3);
        assert_eq!(board.flags(), CMDREND);
        let address = board.command(3, 0).1 >> 16 << 16;
        board.send(9, address, 3);
        assert_eq!(board.flags(), CMDREND);
        let size = (board.read(SDMMC + 0x18) & 0x3f) << 16 | board.read(SDMMC + 0x1c) >> 16;
        assert_eq!((u64::from(size) + 1) * 524_288, BYTES / 524_288 * 524_288);
        assert_eq!(board.command(7, address).0, CMDREND);
        board.command(55, address);
        assert_eq!(board.command(6, 2).0, CMDREND);
        board.write(SDMMC + 0x04, 1 << 11 | 1 << 8);
        board
    }

    fn stream(&mut self, write: bool) {
        self.enable(write, 1 << 5);
    }

    /// A stream that ends by itself after so many bytes.
    fn counted_stream(&mut self, bytes: u32) {
        self.write(DMA2 + 0x10 + 3 * 0x18 + 4, bytes / 4);
        self.enable(false, 0);
    }

    fn enable(&mut self, write: bool, flow_control: u32) {
        self.write(DMA2 + 0x08, 0x3d << 22);
        self.write(DMA2 + 0x10 + 3 * 0x18 + 8, SDMMC + 0x80);
        self.write(DMA2 + 0x10 + 3 * 0x18 + 12, 0x2000_8000);
        self.write(DMA2 + 0x10 + 3 * 0x18 + 20, 7);
        let direction = u32::from(write) << 6;
        let bursts = 1 << 23 | 1 << 21;
        let control = 4 << 25 | bursts | 2 << 13 | 2 << 11 | 1 << 10 | direction | flow_control | 1;
        self.write(DMA2 + 0x10 + 3 * 0x18, control);
    }

    fn data(&mut self, write: bool, bytes: u32) {
        self.write(SDMMC + 0x24, 12_000_000);
        self.write(SDMMC + 0x28, bytes);
        self.write(SDMMC + 0x2c, 9 << 4 | 1 << 3 | u32::from(!write) << 1 | 1);
    }
}

fn card(faults: &[CardFault]) -> SdCard {
    SdCard::new(BYTES, CURVE, CURVE, faults.to_vec())
}

fn milliseconds(cycles: u64) -> f64 {
    cycles as f64 / 216e3
}

#[test]
fn an_empty_slot_is_silent() {
    let mut empty = Board::new(None);
    empty.write(SDMMC + 0x04, 1 << 8 | 118);
    assert_eq!(empty.command(8, 0x1aa).0, CTIMEOUT);
}

#[test]
fn a_card_hears_no_command_that_is_too_fast_or_too_early() {
    let send = |index: u32| 1 << 10 | 1 << 6 | index;
    let mut board = Board::new(Some(card(&[])));
    board.write(SDMMC + 0x04, 1 << 8 | 118);
    assert!(board.broken(SDMMC + 0x0c, 1 << 10).contains("74 clocks"));
    board.now = board.now.after(39_960);
    board.write(SDMMC + 0x0c, 1 << 10);
    // 401 kHz and more, until it has an address.
    board.write(SDMMC + 0x04, 1 << 8 | 117);
    assert!(board.broken(SDMMC + 0x0c, send(8)).contains("400 kHz before CMD3"));
    let mut board = Board::identified(card(&[]));
    board.command(13, 0x1234 << 16);
    board.write(SDMMC + 0x04, 1 << 11 | 1 << 10 | 1 << 8);
    assert!(board.broken(SDMMC + 0x0c, send(13)).contains("25 MHz before CMD6"));
}

#[test]
fn registers_of_the_controller_are_not_written_in_a_row() {
    // 3 clocks of 48 MHz and 2 of 108 MHz are 17 cycles.
    for (offset, value) in [(0x00, 3), (0x04, 1 << 11 | 1 << 8), (0x0c, 0), (0x2c, 0)] {
        for (cycles, is_right) in [(16, false), (17, true)] {
            let mut board = Board::identified(card(&[]));
            board.write(SDMMC + offset, value);
            board.now = Time(board.now.0 - 20 + cycles);
            if is_right {
                board.write(SDMMC + offset, value);
            } else {
                let what = board.broken(SDMMC + offset, value);
                assert!(what.contains("a board loses the second value"), "{what}");
            }
        }
    }
}

#[test]
fn the_controllers_bus_keeps_up_with_the_card() {
    // Four lines of 48 MHz need 18 MHz: 216 MHz divided by 8, and by 16.
    for (divider, is_right) in [(6, true), (7, false)] {
        let mut board = Board::identified(card(&[]));
        board.command(6, 0x80ff_fff1);
        board.write(SDMMC + 0x04, 1 << 11 | 1 << 10 | 1 << 8);
        board.write(common::CFGR, divider << 13 | 5 << 10 | 2);
        let command = 1 << 10 | 1 << 6 | 13;
        if is_right {
            board.write(SDMMC + 0x0c, command);
        } else {
            assert!(board.broken(SDMMC + 0x0c, command).contains("3/32"));
        }
    }
}

/// Flags of a read of a sector at 24 MHz.
fn read_with(quirks: CardQuirks, control: u32) -> u32 {
    let mut board = Board::identified(card(&[]));
    board.bus.spoil_card(quirks);
    board.write(SDMMC + 0x04, control | 1 << 11 | 1 << 8);
    board.stream(false);
    board.data(false, 512);
    assert_eq!(board.command(17, 0).0, CMDREND);
    board.flags()
}

#[test]
fn a_board_may_carry_data_up_to_a_clock_alone() {
    let quirks = |hertz| CardQuirks { fastest_hertz: Some(hertz), ..CardQuirks::default() };
    assert_eq!(read_with(quirks(24_000_000), 0), DATAEND | DBCKEND);
    assert_eq!(read_with(quirks(23_999_999), 0), 1 << 1);
}

#[test]
fn flow_control_may_spoil_data() {
    let quirks = CardQuirks { flow_control_fails: true, ..CardQuirks::default() };
    assert_eq!(read_with(quirks, 0), DATAEND | DBCKEND);
    assert_eq!(read_with(quirks, FLOW_CONTROL), 1 << 1);
    assert_eq!(read_with(CardQuirks::default(), FLOW_CONTROL), DATAEND | DBCKEND);
}

#[test]
fn a_controller_may_never_say_that_its_fifo_is_full() {
    let mut board = Board::identified(card(&[]));
    board.bus.spoil_card(CardQuirks { full_flag_missing: true, ..CardQuirks::default() });
    board.write(SDMMC + 0x04, FLOW_CONTROL | 1 << 11 | 1 << 8);
    board.counted_stream(1024);
    board.data(false, 4 * 512);
    assert_eq!(board.command(18, 7).0, CMDREND);
    piece(&mut board, 7, 0, 2048, 1024);
    board.flags();
    let half = board.read(SDMMC + STA) & (FIFO_FULL | 1 << 15);
    assert_eq!(half, 1 << 15, "half full, and no more is said");
}

#[test]
fn sectors_are_read_after_the_cards_time() {
    let mut board = Board::identified(card(&[]));
    board.stream(false);
    board.data(false, 2 * 512);
    assert_eq!(board.command(23, 2).0, CMDREND);
    assert_eq!(board.command(18, 7).0, CMDREND);
    let this = CardMove { write: false, what: CardBytes::Sectors(7, 0), bytes: 1024 };
    assert_eq!(board.bus.take_card(), [CardEvent::Begins(this.clone())]);
    let paced = Paced { stream: 3, memory: 0x2000_8000, limit: None };
    assert_eq!(board.bus.card_stream(false, 1024), Some(paced));
    assert_eq!(board.bus.card_stream(true, 1024), None, "the stream goes the other way");
    let began = board.now;
    assert_eq!(board.flags(), DATAEND | DBCKEND);
    assert_eq!(board.bus.take_card(), [CardEvent::Ends(this)]);
    let passed = milliseconds(board.now.since(began));
    assert!((1.1..1.104).contains(&passed), "1 ms and 1024 bytes at 10 MB/s: {passed}");
}

/// What whoever moves the bytes does: says when the stream ends, and ends it.
fn piece(board: &mut Board, sector: u32, number: u64, left: u32, bytes: u32) {
    let what = CardBytes::Sectors(sector, number);
    let begun = CardMove { write: false, what: what.clone(), bytes: left };
    assert_eq!(board.bus.take_card(), [CardEvent::Begins(begun)]);
    let paced = Paced { stream: 3, memory: 0x2000_8000, limit: Some(bytes) };
    assert_eq!(board.bus.card_stream(false, left), Some(paced));
    board.bus.card_takes(bytes);
    assert_eq!(board.flags(), 0, "a piece ends without a flag");
    let moved = CardMove { write: false, what, bytes };
    assert_eq!(board.bus.take_card(), [CardEvent::Ends(moved)]);
    board.bus.card_moved(3, Some(bytes));
}

#[test]
fn a_read_waits_between_pieces_with_its_command_open() {
    let mut board = Board::identified(card(&[]));
    board.write(SDMMC + 0x04, FLOW_CONTROL | 1 << 11 | 1 << 8);
    board.counted_stream(1024);
    board.data(false, 4 * 512);
    assert_eq!(board.command(18, 7).0, CMDREND);
    let began = board.now;
    piece(&mut board, 7, 0, 2048, 1024);
    assert_eq!(board.read(SDMMC + STA) & FIFO_FULL, 0);
    let ended = board.now;
    board.flags();
    assert_ne!(board.read(SDMMC + STA) & FIFO_FULL, 0, "128 bytes later");
    let filled = milliseconds(board.now.since(ended));
    assert!((0.0127..0.013).contains(&filled), "{filled}");
    // Nothing comes while nobody takes it.
    board.now = board.now.after(100_000_000);
    board.bus.advance(board.now);
    let waited = board.now;
    board.counted_stream(512);
    assert_eq!(board.read(SDMMC + STA) & FIFO_FULL, 0);
    piece(&mut board, 9, 1, 1024, 512);
    let passed = milliseconds(board.now.since(waited));
    assert!((0.038..0.039).contains(&passed), "of 512 bytes 128 had come: {passed}");
    board.counted_stream(512);
    let what = CardBytes::Sectors(10, 2);
    let last = CardMove { write: false, what, bytes: 512 };
    assert_eq!(board.bus.take_card(), [CardEvent::Begins(last)]);
    assert_eq!(board.flags(), DATAEND | DBCKEND);
    // 1 ms once, 2048 bytes at 10 MB/s.
    let moved = milliseconds(board.now.since(began)) - milliseconds(100_000_000) - filled;
    assert!((1.19..1.21).contains(&moved), "{moved}");
    // Without CMD23 it sends until it is told to stop.
    assert_eq!(board.command(13, 0x1234 << 16).1 >> 9 & 15, 5);
    assert_eq!(board.command(12, 0).0, CMDREND);
    assert_eq!(board.command(13, 0x1234 << 16).1 >> 9 & 15, 4);
}

#[test]
fn a_piece_that_fails_has_its_flag() {
    for (trouble, flag) in [
        (CardTrouble::Checksum, 1 << 1),
        (CardTrouble::Silent, 1 << 3),
        (CardTrouble::Removed, 1 << 3),
    ] {
        let fault = CardFault { transfer: 1, every: 0, trouble };
        let mut board = Board::identified(card(&[fault]));
        board.write(SDMMC + 0x04, FLOW_CONTROL | 1 << 11 | 1 << 8);
        board.counted_stream(1024);
        board.data(false, 4 * 512);
        assert_eq!(board.command(18, 7).0, CMDREND);
        piece(&mut board, 7, 0, 2048, 1024);
        board.counted_stream(1024);
        board.bus.take_card();
        assert_eq!(board.flags(), flag, "{trouble:?}");
    }
}

#[test]
fn without_flow_control_a_read_that_waits_runs_over() {
    let mut board = Board::identified(card(&[]));
    board.counted_stream(1024);
    board.data(false, 4 * 512);
    assert_eq!(board.command(18, 7).0, CMDREND);
    piece(&mut board, 7, 0, 2048, 1024);
    assert_eq!(board.flags(), 1 << 5);
    // A stream that would take more than there is serves nothing.
    board.counted_stream(4096);
    assert_eq!(board.bus.card_stream(false, 2048), None);
}

#[test]
fn a_write_ends_when_the_card_is_no_longer_busy() {
    let mut board = Board::identified(card(&[]));
    board.stream(true);
    assert_eq!(board.command(24, 9).0, CMDREND);
    assert_eq!(board.bus.take_card(), []);
    board.data(true, 512);
    let began = board.now;
    assert_eq!(board.flags(), DATAEND | DBCKEND);
    let passed = milliseconds(board.now.since(began));
    assert!((1.05..1.054).contains(&passed), "512 bytes at 10 MB/s and 1 ms: {passed}");
    assert_eq!(board.command(13, 0x1234 << 16), (CMDREND, 4 << 9 | 1 << 8));
}

#[test]
fn each_trouble_has_its_flag() {
    let hit = |trouble, write: bool, after: u32| {
        let fault = CardFault { transfer: 0, every: 0, trouble };
        let mut board = Board::identified(card(&[fault]));
        board.stream(write);
        if !write {
            board.data(false, 512);
        }
        let answer = board.command(if write { 24 } else { 17 }, 1).0;
        if answer != CMDREND {
            return answer;
        }
        if write {
            board.data(true, 512);
        }
        assert_eq!(board.flags(), after);
        answer
    };
    assert_eq!(hit(CardTrouble::Removed, false, 0), CTIMEOUT);
    hit(CardTrouble::Checksum, false, 1 << 1);
    hit(CardTrouble::Silent, false, 1 << 3);
    hit(CardTrouble::Busy(u64::MAX), true, 1 << 3);
}

#[test]
fn a_fifo_that_nobody_serves_runs_over() {
    let mut board = Board::identified(card(&[]));
    board.write(SDMMC + 0x24, 12_000_000);
    board.write(SDMMC + 0x28, 512);
    board.write(SDMMC + 0x2c, 9 << 4 | 1 << 1 | 1);
    board.send(17, 0, 1);
    assert_eq!(board.flags(), CMDREND | 1 << 5);
}

#[test]
fn what_lies_behind_the_card_is_refused() {
    let mut board = Board::identified(card(&[]));
    let sectors = (BYTES / 512) as u32;
    assert_eq!(board.command(17, sectors - 1).0, CMDREND);
    let mut board = Board::identified(card(&[]));
    let (flags, status) = board.command(17, sectors);
    assert_eq!((flags, status >> 31), (CMDREND, 1));
}

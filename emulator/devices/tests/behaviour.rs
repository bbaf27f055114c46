//! What firmware relies on: clocks, the console's timing, timers, interrupts.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{PWR, RCC};
use tilewright_board::MemoryKind;
use tilewright_devices::{AccessError, Bus, DmaEvent, Masks, Move, Noise, SerialFlash, Size, Time};

const USART1: u32 = 0x4001_1000;
const TIM2: u32 = 0x4000_0000;
const USART1_EXCEPTION: u32 = 16 + 37;
const TIM2_EXCEPTION: u32 = 16 + 28;

const L4_RCC: u32 = 0x4002_1000;
const LPUART1: u32 = 0x4000_8000;

struct Board {
    bus: Bus,
    now: Time,
}

impl Board {
    fn new() -> Self {
        Self::of("stm32f746g-disco")
    }

    fn of(id: &str) -> Self {
        let board = tilewright_board::find(id).unwrap();
        Self { bus: Bus::new(&board).unwrap(), now: Time(0) }
    }

    fn clocked(id: &str) -> Self {
        let common::Board { bus, now } = common::Board::clocked(id);
        Self { bus, now }
    }

    fn read(&mut self, address: u32) -> u32 {
        self.bus.read(address, Size::Word, self.now, 0).unwrap()
    }

    fn write(&mut self, address: u32, value: u32) {
        self.bus.write(address, Size::Word, value, self.now).unwrap();
        if (RCC + 0x30..=RCC + 0x44).contains(&address) {
            // As DSB does.
            self.bus.settle();
        }
    }

    fn pass(&mut self, cycles: u64) {
        self.now = self.now.after(cycles);
        self.bus.advance(self.now);
    }

    /// USART1 on, `divider` clocks a bit, with these interrupts enabled; a byte is 10 bits.
    fn with_console(divider: u32, interrupts: u32) -> Self {
        let mut board = Self::new();
        board.write(RCC + 0x44, 1 << 4);
        board.write(USART1 + 0x0c, divider);
        board.write(USART1, 0xd | interrupts);
        // NVIC_ISER1: interrupt 37.
        board.write(0xe000_e104, 1 << 5);
        board
    }

    fn next(&self) -> Option<u32> {
        self.bus.nvic().next(Masks::default())
    }
}

#[test]
fn oscillators_and_regulators_answer() {
    let mut board = Board::new();
    board.write(RCC, 0x0101_0001);
    assert_eq!(board.read(RCC), 0x0303_0003);
    board.write(RCC + 0x08, 0x1);
    assert_eq!(board.read(RCC + 0x08), 0x5);
    board.write(RCC + 0x40, 1 << 28);
    board.write(PWR, 0x0001_c000);
    assert_eq!(board.read(PWR + 4), 0x0001_4000);
}

#[test]
fn a_peripheral_without_clock_is_dead_and_recorded() {
    let mut board = Board::new();
    board.write(USART1 + 0x0c, 16);
    assert_eq!(board.read(USART1 + 0x0c), 0);
    assert_eq!(board.bus.unknown(), [(USART1 + 0x0c, 2)]);
    board.write(RCC + 0x44, 1 << 4);
    board.write(USART1 + 0x0c, 16);
    assert_eq!(board.read(USART1 + 0x0c), 16);
}

#[test]
fn strict_devices_let_no_access_pass_that_nothing_answers() {
    let mut board = Board::new();
    board.bus.be_strict();
    let told = |error: Result<u32, AccessError>| error.unwrap_err().to_string();
    let off = board.bus.read(USART1, Size::Word, board.now, 0);
    assert_eq!(off, Err(AccessError::Unclocked(USART1, "USART1")));
    assert!(told(off).contains("a board loses what is written and reads 0"));
    let off = board.bus.write(USART1 + 0x0c, Size::Word, 16, board.now);
    assert_eq!(off, Err(AccessError::Unclocked(USART1 + 0x0c, "USART1")));
    board.write(RCC + 0x30, 1 << 12);
    let nothing = board.bus.read(0x4002_3010, Size::Word, board.now, 0);
    assert_eq!(nothing, Err(AccessError::Unmodelled(0x4002_3010, "CRC")));
    assert!(told(nothing).contains("no register is modelled"));
    let nothing = board.bus.write(0xe000_0a00, Size::Word, 0, board.now);
    assert!(nothing.unwrap_err().to_string().contains("the core's registers"));
}

#[test]
fn a_clock_runs_some_cycles_after_it_was_enabled() {
    // CRC on AHB1; TIM2 on APB1, which divides by four.
    for (offset, bit, register, needed) in [(0x30, 12, 0x4002_3000, 2), (0x40, 0, TIM2, 5)] {
        for cycles in [0, needed - 1, needed] {
            let mut board = Board::new();
            board.write(RCC + 8, 5 << 10);
            board.bus.write(RCC + offset, Size::Word, 1 << bit, board.now).unwrap();
            board.pass(cycles);
            let early = AccessError::Early { address: register, cycles, needed };
            let expected = if cycles < needed { Err(early) } else { Ok(()) };
            assert_eq!(board.bus.write(register, Size::Word, 0, board.now), expected);
        }
    }
    // Another clock in the same register leaves those that run as they are.
    let mut board = Board::new();
    board.write(RCC + 0x40, 1);
    board.bus.write(RCC + 0x40, Size::Word, 3, board.now).unwrap();
    assert_eq!(board.bus.write(TIM2, Size::Word, 0, board.now), Ok(()));
    assert!(board.bus.write(TIM2 + 0x400, Size::Word, 0, board.now).is_err());
}

#[test]
fn what_is_not_modelled_keeps_its_value_and_is_recorded() {
    let mut board = Board::new();
    board.write(RCC + 0x30, 1 << 12);
    let crc = 0x4002_3010;
    board.bus.write(crc + 1, Size::Byte, 0xab, board.now).unwrap();
    assert_eq!(board.read(crc), 0xab00);
    assert_eq!(board.bus.unknown(), [(crc, 2)]);
    let reserved = board.bus.read(0x4001_f000, Size::Word, board.now, 0);
    assert_eq!(reserved, Err(AccessError::Reserved(0x4001_f000)));
    let unaligned = board.bus.read(crc + 2, Size::Word, board.now, 0);
    assert_eq!(unaligned, Err(AccessError::Unaligned(crc + 2)));
}

#[test]
fn bytes_leave_at_the_baud_rate() {
    let mut board = Board::with_console(1875, 0);
    board.write(USART1 + 0x28, u32::from(b'a'));
    assert_eq!(board.read(USART1 + 0x1c) & 0xc0, 0x80, "TXE, not TC");
    board.write(USART1 + 0x28, u32::from(b'b'));
    assert_eq!(board.read(USART1 + 0x1c) & 0xc0, 0, "one byte shifts, one waits");
    assert_eq!(board.bus.polls_until(USART1 + 0x1c), Some(Time(18_750)));
    board.pass(18_750);
    assert_eq!(board.bus.take_console(), b"a");
    assert_eq!(board.bus.next_event(), Some(Time(37_500)));
    board.pass(18_750);
    assert_eq!(board.bus.take_console(), b"b");
    assert_eq!(board.read(USART1 + 0x1c) & 0xc0, 0xc0);
}

#[test]
fn a_divided_bus_makes_slower_bytes() {
    let mut board = Board::with_console(100, 0);
    // APB2 at a quarter of the core's clock.
    board.write(RCC + 0x08, 0b101 << 13);
    board.write(USART1 + 0x28, u32::from(b'a'));
    assert_eq!(board.bus.next_event(), Some(Time(4000)));
}

#[test]
fn received_bytes_interrupt_and_are_lost_if_not_fetched() {
    let mut board = Board::with_console(10, 1 << 5);
    board.bus.feed_console(&[7, 8, 9], board.now);
    assert_eq!(board.next(), None);
    board.pass(100);
    assert_eq!(board.next(), Some(USART1_EXCEPTION));
    board.bus.nvic_mut().enter(USART1_EXCEPTION);
    assert_eq!(board.read(USART1 + 0x24), 7);
    board.bus.nvic_mut().leave(USART1_EXCEPTION);
    assert_eq!(board.next(), None, "reading the byte lowers the line");
    board.pass(250);
    assert_ne!(board.read(USART1 + 0x1c) & 8, 0, "ORE");
    assert_eq!(board.read(USART1 + 0x24), 8, "the older byte stays");
    assert_eq!(board.bus.lost_console_bytes(), 1);
    board.pass(50);
    assert_ne!(board.read(USART1 + 0x1c) & 0x10, 0, "IDLE a frame after the last byte");
    board.write(USART1 + 0x20, 0x18);
    assert_eq!(board.read(USART1 + 0x1c) & 0x18, 0);
}

#[test]
fn noise_on_the_line_has_its_flags() {
    for (noise, flag) in [(Noise::new(1, 1, 0), 1 << 2), (Noise::new(1, 0, 1), 1 << 1)] {
        let mut board = Board::with_console(10, 0);
        board.bus.disturb_console(noise);
        // CR3.EIE.
        board.write(USART1 + 0x08, 1);
        board.bus.feed_console(&[7], board.now);
        board.pass(100);
        assert_eq!(board.read(USART1 + 0x1c) & 0xf, flag);
        assert_eq!(board.next(), Some(USART1_EXCEPTION));
        board.bus.nvic_mut().enter(USART1_EXCEPTION);
        assert_eq!(board.read(USART1 + 0x24) == 7, flag == 1 << 2);
        board.write(USART1 + 0x20, flag);
        board.bus.nvic_mut().leave(USART1_EXCEPTION);
        assert_eq!((board.read(USART1 + 0x1c) & 0xf, board.next()), (0, None));
    }
}

#[test]
fn a_silent_line_times_out_once_behind_a_byte() {
    const RTOF: u32 = 1 << 11;
    let mut board = Board::with_console(10, 1 << 26);
    board.write(USART1 + 0x14, 500);
    board.write(USART1 + 0x04, 1 << 23);
    assert_eq!(board.bus.next_event(), None, "nothing came yet");
    board.bus.feed_console(&[7, 8], board.now);
    board.pass(200 + 4999);
    assert_eq!(board.read(USART1 + 0x1c) & RTOF, 0);
    assert_eq!(board.bus.next_event(), Some(Time(5200)));
    board.pass(1);
    assert_ne!(board.read(USART1 + 0x1c) & RTOF, 0);
    assert_eq!(board.next(), Some(USART1_EXCEPTION));
    board.bus.nvic_mut().enter(USART1_EXCEPTION);
    board.write(USART1 + 0x20, RTOF);
    board.bus.nvic_mut().leave(USART1_EXCEPTION);
    assert_eq!((board.next(), board.bus.next_event()), (None, None));
    // A byte that starts in time stops the count; the count starts again behind it.
    board.bus.feed_console(&[9], board.now);
    board.pass(100 + 4900);
    board.bus.feed_console(&[9], board.now);
    board.pass(200);
    assert_eq!(board.read(USART1 + 0x1c) & RTOF, 0);
    assert_eq!(board.bus.next_event(), Some(Time(5200 + 5000 + 100 + 5000)));
}

#[test]
fn a_timer_counts_compares_and_wraps() {
    let mut board = Board::new();
    board.write(RCC + 0x40, 1);
    board.write(TIM2 + 0x28, 9); // ten core cycles a tick
    board.write(TIM2 + 0x2c, 99); // period 100
    board.write(TIM2 + 0x14, 1); // take the prescaler over
    board.write(TIM2 + 0x10, 0);
    board.write(TIM2 + 0x34, 40); // compare 1
    board.write(TIM2 + 0x0c, 0b11); // update and compare interrupt
    board.write(0xe000_e100, 1 << 28);
    board.write(TIM2, 1);
    assert_eq!(board.bus.next_event(), Some(Time(400)));
    board.pass(399);
    assert_eq!((board.read(TIM2 + 0x24), board.next()), (39, None));
    board.pass(1);
    assert_eq!(board.read(TIM2 + 0x10), 0b10);
    assert_eq!(board.next(), Some(TIM2_EXCEPTION));
    board.write(TIM2 + 0x10, !0b10);
    assert_eq!(board.bus.next_event(), Some(Time(1000)));
    board.pass(605);
    // The other channels compare with 0, which the wrap passes too.
    assert_eq!((board.read(TIM2 + 0x10), board.read(TIM2 + 0x24)), (0b1_1101, 0));
}

#[test]
fn the_cycle_counter_stands_in_sleep_unless_the_debugger_keeps_the_clock() {
    const DBGMCU: u32 = 0xe004_2004;
    for id in &common::stm32f() {
        for (debug, counted) in [(0, 100), (1, 1100)] {
            let mut board = Board::of(id);
            board.write(0xe000_edfc, 1 << 24);
            board.write(0xe000_1fb0, 0xc5ac_ce55);
            board.write(0xe000_1000, 1);
            board.write(DBGMCU, debug);
            board.pass(60);
            // Sleep counts when it is over.
            board.pass(1000);
            board.bus.slept(1000);
            board.pass(40);
            assert_eq!(board.read(0xe000_1004), counted, "{id}");
        }
    }
}

#[test]
fn pins_read_their_outputs_and_pulls() {
    let mut board = Board::new();
    let gpio_i = 0x4002_2000;
    board.write(RCC + 0x30, 1 << 8);
    board.write(gpio_i, 1 << 2); // pin 1 output
    board.write(gpio_i + 0x0c, 1 << 4); // pin 2 pulled up
    board.write(gpio_i + 0x18, 0x2);
    assert_eq!(board.read(gpio_i + 0x10), 0b110);
    board.write(gpio_i + 0x18, 0x2_0000);
    assert_eq!(board.read(gpio_i + 0x10), 0b100);
}

/// Registers of the STM32L4+ that other firmware uses, though this project's does not.
#[test]
fn pins_of_the_l4_are_reset_by_a_register_of_their_own() {
    let mut board = Board::of("nucleo-l4r5zi");
    let gpio_g = 0x4800_1800;
    board.write(L4_RCC + 0x4c, 1 << 6);
    board.bus.settle();
    board.write(gpio_g + 0x18, 0b110);
    board.write(gpio_g + 0x28, 0b010);
    assert_eq!(board.read(gpio_g + 0x14), 0b100);
    assert_eq!(board.read(gpio_g + 0x28), 0);
}

#[test]
fn the_low_power_uart_divides_its_clock() {
    for (prescaler, divides) in [(0, 1), (1, 2), (3, 6), (7, 16), (11, 256)] {
        let mut board = Board::of("nucleo-l4r5zi");
        board.write(L4_RCC + 0x5c, 1);
        board.bus.settle();
        board.write(LPUART1 + 0x2c, prescaler);
        board.write(LPUART1 + 0x0c, 0x300);
        board.write(LPUART1, 0x9);
        board.write(LPUART1 + 0x28, 0x55);
        // Ten bits of three ticks.
        board.pass(30 * divides - 1);
        assert_eq!(board.read(LPUART1 + 0x1c) >> 6 & 1, 0, "{prescaler}");
        board.pass(1);
        assert_eq!(board.read(LPUART1 + 0x1c) >> 6 & 1, 1, "{prescaler}");
        assert_eq!(board.read(LPUART1 + 0x2c), prescaler);
    }
}

/// A handler reads the status that was polled before it: time does not run on to the next byte.
#[test]
fn a_byte_that_is_there_is_not_polled_for() {
    let mut board = Board::with_console(100, 0);
    board.bus.feed_console(b"ab", board.now);
    board.read(USART1 + 0x1c);
    assert_eq!(board.bus.polls_until(USART1 + 0x1c), Some(Time(1000)));
    board.pass(1000);
    assert_eq!(board.bus.polls_until(USART1 + 0x1c), None);
    assert_eq!(board.read(USART1 + 0x24), u32::from(b'a'));
    board.read(USART1 + 0x1c);
    assert_eq!(board.bus.polls_until(USART1 + 0x1c), Some(Time(2000)));
}

const FMC: u32 = 0xa000_0000;
/// SDTR1 as the grade -6A of the memory wants it at up to 90 MHz: TRCD 2, TRP 2, TWR 2, TRC 6, TRAS 4, TXSR 7, TMRD 2.
const TIMES: u32 = 1 << 24 | 1 << 20 | 1 << 16 | 5 << 12 | 3 << 8 | 6 << 4 | 1;
/// Refreshes in time at 72 MHz and more.
const REFRESH: u32 = 1104;

/// FMC with this SDCR1, and its commands with so many cycles behind the first; bytes that answer.
fn sdram(id: &str, settings: u32, waits: u64, commands: &[u32]) -> u64 {
    let mut board = Board::clocked(id);
    board.write(RCC + 0x38, 1);
    board.write(FMC + 0x140, settings);
    board.write(FMC + 0x148, TIMES);
    board.write(FMC + 0x150, 0x11);
    board.pass(waits);
    for value in commands {
        board.write(FMC + 0x150, *value);
    }
    board.write(FMC + 0x154, REFRESH << 1);
    board.bus.addressable(MemoryKind::Sdram, 64 << 20)
}

/// 8 bits of columns, 12 of rows, 4 banks, latency 3, half the clock, reads in bursts.
const SDRAM: u32 = 1 << 12 | 2 << 10 | 3 << 7 | 1 << 6 | 1 << 2;
const WIDE: u32 = SDRAM | 2 << 4;
const NARROW: u32 = SDRAM | 1 << 4;
/// With a third of the clock.
const SLOWER: u32 = WIDE | 3 << 10;
const COMMANDS: [u32; 3] = [0x12, 0x13 | 7 << 5, 0x14 | 0x230 << 9];

#[test]
fn sdram_answers_behind_its_start_up_sequence() {
    for (id, settings, cycles) in
        [("stm32f746g-disco", SLOWER, 21_600), ("stm32f469i-disco", WIDE, 18_000)]
    {
        assert_eq!(sdram(id, settings, cycles, &COMMANDS), 16 << 20);
        assert_eq!(sdram(id, settings, cycles - 1, &COMMANDS), 0, "100 microseconds were not over");
        assert_eq!(sdram(id, settings, cycles, &COMMANDS[2..]), 0);
    }
}

/// What loading the mode answers with this divider of HCLK and these times, and setting this count.
fn sdram_told(id: &str, divider: u32, times: u32, count: u32) -> Option<&'static str> {
    let mut board = Board::clocked(id);
    board.write(RCC + 0x38, 1);
    board.write(FMC + 0x140, WIDE & !(3 << 10) | divider << 10);
    board.write(FMC + 0x148, times);
    [(0x150, COMMANDS[2]), (0x154, count << 1)].into_iter().find_map(|(offset, value)| match board
        .bus
        .write(FMC + offset, Size::Word, value, board.now)
    {
        Err(AccessError::Wrong { what, .. }) => Some(what),
        other => {
            other.unwrap();
            None
        }
    })
}

#[test]
fn sdram_has_its_times() {
    let (f746, f469) = ("stm32f746g-disco", "stm32f469i-disco");
    for (id, divider) in [(f746, 3), (f469, 2), (f469, 3)] {
        assert_eq!(sdram_told(id, divider, TIMES, 900), None, "{id}, {divider}");
    }
    let fast = sdram_told(f746, 2, TIMES, REFRESH).unwrap();
    assert!(fast.contains("100 MHz on the STM32F746"), "{fast}");
    // At 90 MHz each field is as short as it may be; 16.67 MHz less and some have a clock to spare.
    for (shift, name) in
        [(0, "TMRD"), (4, "TXSR"), (8, "TRAS"), (12, "TRC"), (16, "TWR"), (20, "TRP"), (24, "TRCD")]
    {
        let short = sdram_told(f469, 2, TIMES - (1 << shift), REFRESH).unwrap();
        assert!(short.contains(name), "{name}: {short}");
    }
    assert_eq!(sdram_told(f469, 3, TIMES - (1 << 8), 900), None, "3 clocks of 60 MHz are 50 ns");
    // 15.625 us are 1406 clocks of 90 MHz.
    assert_eq!(sdram_told(f469, 2, TIMES, 1405), None);
    assert!(sdram_told(f469, 2, TIMES, 1406).unwrap().contains("15.625 us"));
    assert!(sdram_told(f469, 2, TIMES, 40).unwrap().contains("less than 41"));
}

#[test]
fn sdram_has_as_many_bytes_as_its_controller_is_told() {
    let bytes = |settings| sdram("stm32f469i-disco", settings, 18_000, &COMMANDS);
    assert_eq!(bytes(NARROW), 8 << 20, "half of the lines");
    assert_eq!(bytes(WIDE ^ 1 << 2), 8 << 20, "11 bits of rows");
    assert_eq!(bytes(WIDE | 1 << 9), 0, "protected");
    assert_eq!(bytes(WIDE ^ 1 << 7), 0, "the memory answers later than it is read");
    assert_eq!(bytes(WIDE & !(3 << 10)), 0, "no clock");
}

#[test]
fn serial_flash_says_what_it_is_and_is_mapped_by_the_command_that_it_knows() {
    for id in ["stm32f746g-disco", "stm32f469i-disco"] {
        let mut board = Board::of(id);
        assert_eq!(identification(&mut board), [0x20, 0xba, 0x18]);
        assert_eq!(mapped(&mut board, TEN, 0), Ok(16 << 20));
        assert!(mapped(&mut board, TEN ^ 2 << 18, 0).is_err(), "8 clocks are too few");
        assert!(mapped(&mut board, FOUR_WITH_MODE, 0xff).is_err(), "it knows no mode");
        assert!(mapped(&mut board, TEN & !(3 << 26), 0).is_err());
    }
}

const QUADSPI: u32 = 0xa000_1000;
/// QUAD READ, memory-mapped, with 10 dummy clocks; with a byte of mode and 4.
const TEN: u32 = 3 << 26 | 3 << 24 | 10 << 18 | 2 << 12 | 3 << 10 | 1 << 8 | 0xeb;
const FOUR_WITH_MODE: u32 = TEN ^ (10 ^ 4) << 18 | 3 << 14;

fn identification(board: &mut Board) -> [u32; 3] {
    board.write(RCC + 0x38, 2);
    board.write(QUADSPI, 0x0100_0001);
    board.write(QUADSPI + 0x04, 23 << 16);
    board.write(QUADSPI + 0x10, 2);
    board.write(QUADSPI + 0x14, 1 << 26 | 1 << 24 | 1 << 8 | 0x9f);
    assert_eq!(board.read(QUADSPI + 0x08) & 2, 2, "the command is complete");
    [0; 3].map(|_| board.read(QUADSPI + 0x20))
}

fn mapped(board: &mut Board, command: u32, mode: u32) -> Result<u64, &'static str> {
    board.write(QUADSPI, 0x0100_0003);
    assert_eq!(board.read(QUADSPI), 0x0100_0001, "what is aborted is so at once");
    board.write(QUADSPI + 0x14, 0);
    board.write(QUADSPI + 0x1c, mode);
    board.write(QUADSPI + 0x14, command);
    board.bus.mapped_flash()
}

#[test]
fn another_serial_flash_wants_its_mode_and_to_be_told_of_four_lines() {
    let mut board = Board::new();
    board.bus.solder_flash(SerialFlash::W25Q128JV_IQ);
    assert_eq!(identification(&mut board), [0xef, 0x40, 0x18]);
    assert!(mapped(&mut board, TEN, 0).is_err(), "data came four clocks late");
    assert_eq!(mapped(&mut board, FOUR_WITH_MODE, 0xff), Ok(16 << 20));
    assert!(mapped(&mut board, FOUR_WITH_MODE, 0xa0).is_err(), "the next read had no instruction");
    board.bus.solder_flash(SerialFlash::W25Q128JV_IM);
    assert_eq!(identification(&mut board), [0xef, 0x70, 0x18]);
    assert!(mapped(&mut board, FOUR_WITH_MODE, 0xff).unwrap_err().contains("QE"));
    // WRITE ENABLE FOR VOLATILE STATUS REGISTER; WRITE STATUS REGISTER-2 with a byte.
    board.write(QUADSPI + 0x14, 1 << 8 | 0x50);
    board.write(QUADSPI + 0x10, 0);
    board.write(QUADSPI + 0x14, 1 << 24 | 1 << 8 | 0x31);
    assert_eq!(board.read(QUADSPI + 0x08) & 4, 4, "there is room for the byte");
    board.bus.write(QUADSPI + 0x20, Size::Byte, 2, board.now).unwrap();
    assert_eq!(mapped(&mut board, FOUR_WITH_MODE, 0xff), Ok(16 << 20));
}

#[test]
fn serial_flash_is_mapped_with_a_whole_word_in_the_address_register() {
    let mut board = Board::new();
    identification(&mut board);
    board.write(QUADSPI + 0x18, 2);
    assert!(mapped(&mut board, TEN, 0).unwrap_err().contains("AR"));
    board.write(QUADSPI + 0x14, 0);
    board.write(QUADSPI + 0x18, 4);
    assert_eq!(mapped(&mut board, TEN, 0), Ok(16 << 20));
}

#[test]
fn a_stream_moves_from_memory_to_memory_and_refuses_what_it_cannot() {
    const DMA2: u32 = 0x4002_6400;
    const FROM_MEMORY: u32 = 2 << 6 | 1 << 9 | 1 << 10;
    const WORDS: u32 = 2 << 11 | 2 << 13;
    const BURSTS: u32 = 1 << 21 | 1 << 23;
    let start = |controller: u32, source: u32, control: u32, fifo: u32| {
        let mut board = Board::new();
        board.write(RCC + 0x30, 3 << 21);
        board.write(0xe000_e104, 1 << 24);
        board.write(controller + 0x14, 64);
        board.write(controller + 0x18, source);
        board.write(controller + 0x1c, 0x2000_8000);
        board.write(controller + 0x24, fifo);
        board.write(controller + 0x10, FROM_MEMORY | control | 1 << 4 | 1);
        board
    };
    let mut board = start(DMA2, 0x2000_4000, WORDS | BURSTS, 7);
    let this = Move {
        stream: 0,
        source: 0x2000_4000,
        destination: 0x2000_8000,
        bytes: 256,
        burst: [16, 16],
    };
    assert_eq!(board.bus.take_dma(), [DmaEvent::Begins(this)]);
    board.bus.dma_takes(0, Some(Time(500)));
    assert_eq!(board.bus.next_event(), Some(Time(500)));
    board.pass(499);
    assert_eq!((board.read(DMA2), board.next()), (0, None));
    board.pass(1);
    assert_eq!((board.read(DMA2), board.next()), (1 << 5, Some(16 + 56)));
    assert_eq!(board.bus.take_dma(), [DmaEvent::Ends(this)]);
    assert_eq!(board.read(DMA2 + 0x10) & 1, 0, "the stream is off");
    board.write(DMA2 + 0x08, 0x3d);
    assert_eq!(board.read(DMA2), 0);
    // Its flags are to be cleared before it is enabled again; 66 words are no whole bursts of four.
    let mut board = start(DMA2, 0x2000_4000, WORDS | BURSTS, 7);
    board.bus.dma_takes(0, Some(Time(500)));
    board.pass(500);
    let control = board.read(DMA2 + 0x10);
    let told = |told: Result<(), AccessError>| told.unwrap_err().to_string();
    board.write(DMA2 + 0x14, 64);
    let again = board.bus.write(DMA2 + 0x10, Size::Word, control | 1, board.now);
    assert!(told(again).contains("flags of its last transfer stand"));
    assert_eq!(board.read(DMA2 + 0x10) & 1, 0, "it does not start");
    board.write(DMA2 + 0x08, 0x3d);
    board.write(DMA2 + 0x14, 66);
    let odd = board.bus.write(DMA2 + 0x10, Size::Word, control | 1, board.now);
    assert!(told(odd).contains("NDTR is no multiple of a burst"));
    // DMA1 cannot; direct mode cannot; bursts are aligned, and fit into the FIFO.
    let refused = |controller, source, control, fifo| {
        start(controller, source, control, fifo).read(controller)
    };
    assert_eq!(refused(DMA2 - 0x400, 0x2000_4000, WORDS, 7), 1 << 3);
    assert_eq!(refused(DMA2, 0x2000_4000, WORDS, 3), 1 << 3);
    assert_eq!(refused(DMA2, 0x2000_4004, WORDS | BURSTS, 7), 1);
    assert_eq!(refused(DMA2, 0x2000_4000, WORDS | BURSTS, 5), 1);
}

#[test]
fn memories_are_as_fast_as_is_modelled_with_their_caches_on() {
    for (id, register, bits) in [
        ("stm32f746g-disco", 0xe000_ed14, 0x3_0000),
        ("nucleo-f767zi", 0xe000_ed14, 0x3_0000),
        ("stm32f469i-disco", 0x4002_3c00, 0x700),
        ("nucleo-l4r5zi", 0x4002_2000, 0x700),
        ("nrf52840-dk", 0x4001_e540, 1),
    ] {
        let mut board = Board::of(id);
        if id == "nucleo-l4r5zi" {
            board.write(L4_RCC + 0x48, 1 << 8);
            board.bus.settle();
        }
        assert_eq!(board.bus.slower_than_modelled(), None, "{id}: only strict devices look");
        board.bus.be_strict();
        let value = board.read(register);
        board.write(register, value | bits);
        assert_eq!(board.bus.slower_than_modelled(), None, "{id}");
        let one = bits & bits.wrapping_neg();
        board.write(register, (value | bits) & !one);
        let told = board.bus.slower_than_modelled();
        assert!(told.is_some_and(|told| told.contains("a board takes longer")), "{id}");
    }
}

//! What a new board is tested with before a network: each part that plans rely on, a line each, which ends with
//! `ok` or with `FAIL` and the cause. Nothing here needs an interrupt, so that what is broken cannot keep it from
//! being said.

mod cache;
mod card;
mod clocks;
mod copies;
mod counter;
mod flash;
mod numbers;
mod ram;

use core::fmt::{self, Write};

use cortex_m::Peripherals as CorePeripherals;
use heapless::{String, Vec};
use tilewright_board_support::{say, sleep};
pub use tilewright_plan::Space;

use crate::memory::Memories;
use crate::{BOARD, Oscillator, start};

/// A memory that DMA reaches, by the board's file.
#[derive(Clone, Copy)]
pub struct Reached {
    /// Its name there.
    pub name: &'static str,
    /// Its last bytes, which nothing uses: so many as are copied.
    pub address: u32,
    /// Whether DMA writes it too.
    pub is_written: bool,
    /// The space that it is outside of the microcontroller; none if it is inside.
    pub outside: Option<Space>,
}

/// Bytes of [`Reached::address`].
pub const COPIED: u32 = 256;

/// What the board's file says beside what firmware needs; made by the build script.
mod named {
    include!(concat!(env!("OUT_DIR"), "/bring_up.rs"));
}

/// Why a check failed.
type Failure = String<112>;

/// A check's result.
type Checked = Result<(), Failure>;

fn failure(text: fmt::Arguments<'_>) -> Failure {
    let mut failure = Failure::new();
    // What does not fit is left out.
    let _ = failure.write_fmt(text);
    failure
}

/// Fails with a text unless something holds.
fn holds(it_does: bool, text: fmt::Arguments<'_>) -> Checked {
    if it_does { Ok(()) } else { Err(failure(text)) }
}

/// A line that is being said.
struct Line;

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        say(text.as_bytes());
        Ok(())
    }
}

/// Counts what failed.
struct Report {
    failed: u32,
}

impl Report {
    fn check(&mut self, name: &str, check: impl FnOnce(&mut Line) -> Checked) {
        // A line never fails.
        let _ = write!(Line, "{name}:");
        match check(&mut Line) {
            Ok(()) => say(b" ok\r\n"),
            Err(cause) => {
                self.failed += 1;
                let _ = write!(Line, " FAIL {cause}\r\n");
            }
        }
    }
}

/// Runs all checks, says them, and sleeps. The board's oscillator may be `missing`.
pub fn run(mut core: CorePeripherals, missing: Option<Oscillator>, memories: Memories) -> ! {
    let _ = write!(Line, "\r\nbring-up {} {}\r\n", BOARD.id, clocks::Identity::read());
    let mut report = Report { failed: 0 };
    report.check("clock", |line| clocks::check(line, &BOARD, missing));
    // Everything else counts on its frequency.
    if missing.is_none() {
        parts(&mut report, &mut core, memories);
    }
    let _ = write!(Line, "done, {} failed\r\n", report.failed);
    start::stop_without(missing);
    sleep::for_ever()
}

/// Checks what the clock drives.
fn parts(report: &mut Report, core: &mut CorePeripherals, memories: Memories) {
    report.check("cycle counter", |line| counter::check(line, core, BOARD.clock_hertz));
    report.check("checksum unit", |_| numbers::checksums());
    report.check("random numbers", |_| numbers::random());
    let answers = |memory: &&Reached| match memory.outside {
        Some(Space::ExternalRam) => !memories.external_ram.is_empty(),
        Some(Space::ExternalFlash) => !memories.external_flash.is_empty(),
        _ => true,
    };
    let reached: Vec<Reached, 8> = named::REACHED.iter().filter(answers).copied().collect();
    report.check("DMA", |line| copies::check(line, &reached));
    #[cfg(feature = "stm32f7")]
    report.check("data cache", |_| cache::check(&mut core.CBP, &reached));
    report.check("border of memories", |_| cache::border(named::BORDER));
    if BOARD.places.external_ram.is_some() {
        report.check("SDRAM", |line| ram::check(line, memories.external_ram, memories.ram_fault));
    }
    if let Some(answer) = memories.serial_flash {
        report.check("serial flash", |line| flash::check(line, answer, memories.external_flash));
    }
    report.check("card", |line| card::check(line, &BOARD, memories.arena));
}
